/* test_asm_object.c: what the assembler writes as the project's own loader sees it:
 * kernels, descriptors, metadata, relocations of loadable and relocatable files.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "codeobj.h"
#include "harness.h"

#define METADATA(body)                                                                 \
    ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n" body            \
    "...\n.end_amdgpu_metadata\n"
#define KERNEL_KEYS                                                                    \
    "    .symbol: k.kd\n    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n" \
    "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n"           \
    "    .wavefront_size: 32\n    .sgpr_count: 8\n    .vgpr_count: 8\n"                \
    "    .max_flat_workgroup_size: 64\n"

static const char kernel[] =
    ".text\n.globl k\n.p2align 8\n.type k,@function\nk: s_endpgm\n.size k, .-k\n"
    ".data\n.globl var\n.type var,@object\nvar: .quad k, var+4\n.bss\n.zero 100\n"
    ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 17\n"
    ".amdhsa_next_free_sgpr 8\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
    ".amdhsa_kernarg_size 8\n.end_amdhsa_kernel\n" METADATA(
        "  - .name: k\n" KERNEL_KEYS "    .args:\n      - {.size: 8, .offset: 0, "
        ".value_kind: global_buffer, .address_space: global, .name: n}\n");

static void check_object(struct outcome *out)
{
    struct co_object *obj;
    struct co_error err;
    const struct co_kernel *k;
    ck_assert_msg(out->status == RD_OK, "%s", out->shown);
    rd_status st = co_open(out->result.data, out->result.bytes, &obj, &err);
    ck_assert_msg(st == RD_OK, "%s", err.text);
    ck_assert_msg(co_kernel_find(obj, NULL, &k, &err) == RD_OK, "%s", err.text);
    ck_assert_str_eq(k->name, "k");
    ck_assert_msg(co_kernel_check(obj, k, &err) == RD_OK, "%s", err.text);
    ck_assert_uint_eq(k->desc.vgprs, 24);
    ck_assert_uint_eq(k->desc.kernarg_bytes, 8);
    ck_assert_uint_eq(k->entry_offset % 256, 0);
    ck_assert_ptr_nonnull(k->meta);

    uint64_t bytes, align;
    co_image_size(obj, &bytes, &align);
    uint8_t *image = calloc(1, bytes);
    ck_assert_ptr_nonnull(image);
    uint64_t base = 0x7000000000;
    ck_assert_msg(co_load(obj, image, bytes, base, &err) == RD_OK, "%s", err.text);
    const struct co_symbol *var = co_symbol_find(obj, "var");
    ck_assert_ptr_nonnull(var);
    uint64_t words[2];
    memcpy(words, image + var->value, sizeof words);
    ck_assert_uint_eq(words[0], base + k->entry_offset);
    ck_assert_uint_eq(words[1], base + var->value + 4);
    free(image);
    co_close(obj);
    outcome_free(out);
}

START_TEST(loads)
{
    struct outcome out;
    assemble_dyn(kernel, &out);
    check_object(&out);
    assemble(kernel, &out);
    check_object(&out);
}
END_TEST

START_TEST(versions)
{
    char text[sizeof kernel + 64];
    for (unsigned v = 4; v <= 6; v++) {
        struct outcome out;
        struct co_object *obj;
        struct co_error err;
        sprintf(text, ".amdhsa_code_object_version %u\n%s", v, kernel);
        assemble_dyn(text, &out);
        ck_assert_int_eq(co_open(out.result.data, out.result.bytes, &obj, &err), RD_OK);
        ck_assert_uint_eq(co_info(obj)->version, v);
        co_close(obj);
        outcome_free(&out);
    }
    expect_error(".amdhsa_code_object_version 3\n", 1,
                 "1:29: code object versions are");
    expect_error(".amdgcn_target \"amdgcn-amd-amdhsa--gfx1030\"\n", 1,
                 "1:16: this assembler's target is");
}
END_TEST

/* A kernel with one more directive, or the wrong ones. */
static void kernel_error(const char *lines, const char *first)
{
    char text[512];
    sprintf(text, ".amdhsa_kernel k\n%s\n.end_amdhsa_kernel\n", lines);
    expect_error(text, 1, first);
}

#define REQUIRED ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n"

START_TEST(descriptors)
{
    kernel_error(".amdhsa_next_free_sgpr 8",
                 "3:1: .amdhsa_next_free_vgpr directive is");
    kernel_error(REQUIRED ".amdhsa_bogus 1", "4:1: unknown .amdhsa_kernel directive");
    kernel_error(REQUIRED ".amdhsa_ieee_mode 2", "4:19: value out of range");
    kernel_error(REQUIRED ".amdhsa_ieee_mode 1\n.amdhsa_ieee_mode 1",
                 "5:1: .amdhsa_ directives cannot be repeated");
    kernel_error(REQUIRED ".amdhsa_ieee_mode what",
                 "4:19: the value of .amdhsa_ieee_mode");
    kernel_error(REQUIRED "s_nop 0", "4:1: unknown .amdhsa_kernel directive 's_nop'");
    kernel_error(REQUIRED ".amdhsa_tg_split 1",
                 "4:1: .amdhsa_tg_split: this directive");
    kernel_error(REQUIRED ".amdhsa_user_sgpr_count 32", "4:25: too many user SGPRs");
    expect_error(".amdhsa_kernel k\n" REQUIRED, 1,
                 "1:16: .end_amdhsa_kernel is missing");
    expect_error(".end_amdhsa_kernel\n", 1, "1:19: this directive ends a block");
    /* values may come later */
    expect_bytes("k: s_endpgm\n.data\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr n\n"
                 ".amdhsa_next_free_sgpr 8\n.end_amdhsa_kernel\n.set n, 9",
                 ".data",
                 "0000000000000000000000000000000000000000000000000000000000000000"
                 "000000000000000000000000000000000100ac60800000000004000000000000");
    expect_bytes("k: s_endpgm\n.fill 40,4,0\ne:\n.data\n.amdhsa_kernel k\n" REQUIRED
                 ".amdhsa_inst_pref_size instprefsize(e-k)\n.end_amdhsa_kernel\n",
                 ".data",
                 "0000000000000000000000000000000000000000000000000000000000000000"
                 "000000000000000000000000200000000000ac60800000000004000000000000");
    kernel_error(REQUIRED ".amdhsa_inst_pref_size 64", "4:24: value out of range");
    /* registers are counted where they are used */
    expect_bytes("k: v_mov_b32 v3, v[0]\ns_mov_b64 s[6:7], 0\n.data\n"
                 ".byte .amdgcn.next_free_vgpr, .amdgcn.next_free_sgpr\n"
                 ".set .amdgcn.next_free_vgpr, 0\n.text\nv_mov_b32 v1, v0\n.data\n"
                 ".byte .amdgcn.next_free_vgpr, .amdgcn.gfx_generation_number\n",
                 ".data", "0408 020b");
}
END_TEST

START_TEST(metadata)
{
    static const char base[] = ".amdgpu_metadata\namdhsa.version: [1, 2]\n"
                               "amdhsa.kernels: []\n%s\n.end_amdgpu_metadata\n";
    static const struct {
        const char *line, *error;
    } rows[] = {
        {"a: [1", "5:1: invalid metadata: expected ','"},
        {"a: {b}", "4:6: invalid metadata: expected ':'"},
        {"a: 1\n b: 2", "5:2: invalid metadata: indentation"},
        {"a: 1\na: 2", "5:1: invalid metadata: the key occurs twice"},
        {"a: \"x", "4:4: invalid metadata: quoted text is not closed"},
        {"a: \"\\q\"", "4:6: invalid metadata: unknown escape sequence"},
        {"a: &b 1", "4:4: invalid metadata: anchors, aliases and tags"},
        {"\ta: 1", "4:1: invalid metadata: a tab cannot indent"},
        {"amdhsa.printf: 5",
         "4:16: invalid metadata: amdhsa.printf: expected a sequence"},
        {"[1]: 2", "4:1: invalid metadata: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, base, rows[i].line);
        expect_error(text, 1, rows[i].error);
    }
    expect_error(METADATA("  - .name: k\n"), 1,
                 "5:5: invalid metadata: .symbol: required key is missing");
    expect_error(
        METADATA("  - .name: k\n" KERNEL_KEYS "    .args:\n      - .size: x\n"), 1,
        "16:9: invalid metadata: .offset: required key is missing");
    expect_error(".amdgpu_metadata\n", 1, "1:17: .end_amdgpu_metadata is missing");
}
END_TEST

START_TEST(loadable_errors)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, f@rel32@lo+4",
         "2:19: undefined symbol 'f'"},
        {".amdgpu_lds l, 4\ns_mov_b32 s0, l@abs32@lo", "2:15: LDS variable 'l'"},
        {"a: s_mov_b32 s0, a@abs32@lo", "1:18: half of the address of 'a'"},
        {"a: .rodata\n.quad a",
         "2:7: the address of 'a' in a section that is not writ"},
        {".p2align 17", "0:0: section '.text' is aligned to 131072"},
        {".data\na: .long 0\n.reloc 0, R_AMDGPU_REL64, a",
         "3:8: the 8 bytes of R_AMDGPU_REL64 do not lie"},
        {".data\na: .long 0\n.reloc 2, R_AMDGPU_REL32, a", "3:8: the 4 bytes"},
        {".data\na: .long 0\n.reloc 4, R_AMDGPU_REL16, a", "3:8: the 2 bytes"},
        {".data\na:\n.section .debug_x,\"\",@progbits\n.byte 1\n"
         ".reloc 1, R_AMDGPU_REL64, a\n.section .debug_y,\"\",@progbits\n.quad 0",
         "5:8: the 8 bytes"},
        {".data\na: .long 0\n.bss\n.zero 0x40000000\n"
         ".reloc 0x30000000, R_AMDGPU_REL64, a",
         "5:8: a relocation in a section without contents"},
        {".data\na: .quad 7\n.reloc 0, R_AMDGPU_NONE, a",
         "3:8: R_AMDGPU_NONE sets nothing"},
        {".data\na: .quad 7\n.reloc 0, R_AMDGPU_RELATIVE64, a",
         "3:8: R_AMDGPU_RELATIVE64 sets nothing"},
        {".data\n.long 7\n.reloc 0, R_AMDGPU_ABS32, 5",
         "3:8: a relocation without a symbol"},
        {".data\n.long 7\n.reloc 0, R_AMDGPU_ABS32, k\n.set k, 9",
         "3:8: a relocation without a symbol"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct outcome out;
        assemble_dyn(rows[i].text, &out);
        ck_assert_msg(strncmp(out.first, rows[i].error, strlen(rows[i].error)) == 0,
                      "%s: %s", rows[i].text, out.first);
        outcome_free(&out);
    }
}
END_TEST

START_TEST(got)
{
    struct outcome out;
    struct co_object *obj;
    struct co_error err;
    assemble_dyn(".text\n.globl f\nf: s_getpc_b64 s[0:1]\n"
                 "s_add_u32 s0, s0, v@gotpcrel32@lo+4\n"
                 "s_addc_u32 s1, s1, v@gotpcrel32@hi+12\n"
                 "s_add_u32 s0, s0, v@gotpcrel32@lo+4\n.data\n.globl v\nv: .long 1\n",
                 &out);
    ck_assert_msg(out.status == RD_OK, "%s", out.shown);
    size_t bytes;
    ck_assert_ptr_nonnull(section(&out, ".got", &bytes));
    ck_assert_uint_eq(bytes, 8);
    ck_assert_int_eq(co_open(out.result.data, out.result.bytes, &obj, &err), RD_OK);
    uint64_t size, align;
    co_image_size(obj, &size, &align);
    uint8_t *image = calloc(1, size);
    ck_assert_ptr_nonnull(image);
    ck_assert_int_eq(co_load(obj, image, size, 0x10000000, &err), RD_OK);
    uint64_t f = co_symbol_find(obj, "f")->value;
    uint64_t v = co_symbol_find(obj, "v")->value;
    uint32_t low;
    uint64_t address;
    memcpy(&low, image + f + 8, 4);
    uint64_t entry = f + 4 + (uint64_t)(int64_t)(int32_t)low;
    memcpy(&address, image + entry, 8);
    ck_assert_uint_eq(address, 0x10000000 + v);
    free(image);
    co_close(obj);
    outcome_free(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("asm objects");
    TCase *tc = tcase_create("objects");
    tcase_add_test(tc, loads);
    tcase_add_test(tc, versions);
    tcase_add_test(tc, descriptors);
    tcase_add_test(tc, metadata);
    tcase_add_test(tc, loadable_errors);
    tcase_add_test(tc, got);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
