/* test_elf.c: one malformed field at a time, and what the error says about it.
 *
 * Works on files made in memory: needs no compiler and no sample.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "codeobj.h"
#include "make_elf.h"
#include "walk.h"

static void open_made(const struct made_elf *elf, struct co_object **obj)
{
    struct co_error err = {""};
    rd_status st = co_open(elf->data, elf->size, obj, &err);
    ck_assert_msg(st == RD_OK, "%s", err.text);
}

START_TEST(good)
{
    struct made_elf elf;
    struct co_object *obj;
    const struct co_kernel *k;
    struct co_error err = {""};
    make_elf(&elf, NULL, 0);
    open_made(&elf, &obj);
    ck_assert_uint_eq(co_segment_count(obj), 2);
    ck_assert_uint_eq(co_section_count(obj), N_SECTIONS);
    ck_assert_str_eq(co_section_at(obj, 2)->name, ".text");
    ck_assert_uint_eq(co_section_at(obj, 2)->access, CO_READ | CO_EXEC);
    ck_assert_ptr_null(co_section_at(obj, N_SECTIONS));
    ck_assert_int_eq(co_kernel_find(obj, NULL, &k, &err), RD_OK);
    ck_assert_int_eq(co_kernel_find(obj, "k.kd", &k, &err), RD_OK);
    ck_assert_int_eq(co_kernel_find(obj, "k", &k, &err), RD_OK);
    ck_assert_str_eq(k->name, "k");
    ck_assert_uint_eq(k->desc_offset, AT_KD);
    ck_assert_uint_eq(k->entry_offset, AT_TEXT + TEXT_SHIFT);
    ck_assert_uint_eq(k->code_bytes, 8);
    ck_assert_uint_eq(k->desc.user_sgpr[CO_USER_KERNARG_PTR], 0);
    ck_assert_uint_eq(k->desc.system_sgpr[CO_SYS_WORKGROUP_ID_X], 2);
    ck_assert_ptr_null(k->meta);
    ck_assert_int_eq(co_kernel_check(obj, k, &err), RD_OK);
    co_close(obj);
}
END_TEST

START_TEST(symbols)
{
    struct made_elf elf;
    struct co_object *obj;
    uint64_t displacement;
    make_elf(&elf, NULL, 0);
    open_made(&elf, &obj);
    uint64_t text = AT_TEXT + TEXT_SHIFT;
    const struct co_symbol *s = co_symbol_near(obj, text + 4, &displacement);
    ck_assert_str_eq(s->name, "k"); /* not the label inside it */
    ck_assert_uint_eq(displacement, 4);
    s = co_symbol_near(obj, AT_KD + 63, &displacement);
    ck_assert_str_eq(s->name, "k.kd");
    ck_assert_ptr_null(co_symbol_near(obj, 0, &displacement));
    ck_assert_ptr_null(co_symbol_near(obj, AT_TEXT + 1, &displacement)); /* a gap */
    ck_assert_uint_eq(co_symbol_find(obj, "label")->value, text + 4);
    ck_assert_ptr_null(co_symbol_find(obj, "nobody"));
    co_close(obj);
}
END_TEST

/* A segment base that is not 0: image offsets count from it. */
START_TEST(based)
{
    struct made_elf elf;
    struct co_object *obj;
    make_elf(&elf, NULL, 0);
    const uint64_t base = 0x40000;
    poke(&elf, AT_PHDR + 16, 8, base);
    poke(&elf, AT_PHDR + 56 + 16, 8, base + AT_TEXT + TEXT_SHIFT);
    poke(&elf, AT_SYMTAB + 24 + 8, 8, base + AT_TEXT + TEXT_SHIFT);
    poke(&elf, AT_SYMTAB + 48 + 8, 8, base + AT_KD);
    open_made(&elf, &obj);
    ck_assert_uint_eq(co_info(obj)->base_addr, base);
    const struct co_kernel *k = co_kernel_at(obj, 0);
    ck_assert_uint_eq(k->desc_offset, AT_KD);
    ck_assert_uint_eq(k->entry_offset, AT_TEXT + TEXT_SHIFT);
    ck_assert_int_eq(co_kernel_check(obj, k, NULL), RD_OK);
    co_close(obj);
}
END_TEST

struct damage {
    size_t at;
    uint64_t value;
    const char *text; /* must occur in the message */
    unsigned bytes;
    rd_status status;
};

#define SH(section, field) (AT_SHDR + 64 * (section) + (field))
#define PH(segment, field) (AT_PHDR + 56 * (segment) + (field))
#define SYM(symbol, field) (AT_SYMTAB + 24 * (symbol) + (field))
#define HUGE_VALUE         UINT64_C(0xfffffffffffff000)

static const struct damage damages[] = {
    {0, 'X', "magic", 1, RD_E_FORMAT},
    {4, 1, "EI_CLASS (offset 4) is 1", 1, RD_E_UNSUPPORTED},
    {5, 2, "EI_DATA", 1, RD_E_UNSUPPORTED},
    {6, 0, "EI_VERSION", 1, RD_E_FORMAT},
    {7, 0, "EI_OSABI (offset 7) is 0", 1, RD_E_UNSUPPORTED},
    {8, 1, "EI_ABIVERSION (offset 8) is 1", 1, RD_E_UNSUPPORTED},
    {8, 5, "EI_ABIVERSION (offset 8) is 5", 1, RD_E_UNSUPPORTED},
    {16, 2, "e_type (offset 16) is 2", 2, RD_E_UNSUPPORTED},
    {18, 62, "e_machine (offset 18) is 62", 2, RD_E_UNSUPPORTED},
    {48, 0x36, "gfx1030", 4, RD_E_UNSUPPORTED},
    {48, 0x54, "gfx11-generic", 4, RD_E_UNSUPPORTED}, /* not in version 5 */
    {48, 0xff, "unknown processor", 4, RD_E_UNSUPPORTED},
    {54, 32, "program header entry size", 2, RD_E_FORMAT},
    {56, 0, "no PT_LOAD", 2, RD_E_FORMAT},
    {56, 5000, "program header table of 5000 entries", 2, RD_E_TRUNCATED},
    {56, 0xffff, "extended numbering", 2, RD_E_UNSUPPORTED},
    {32, HUGE_VALUE, "program header table", 8, RD_E_TRUNCATED},
    {40, HUGE_VALUE, "section header table", 8, RD_E_TRUNCATED},
    {58, 63, "section header entry size", 2, RD_E_FORMAT},
    {60, 0, "extended numbering", 2, RD_E_UNSUPPORTED},
    {62, N_SECTIONS, "e_shstrndx", 2, RD_E_FORMAT},
    {62, 2, "no string table", 2, RD_E_FORMAT},
    {PH(0, 8), HUGE_VALUE, "program header 0: p_offset", 8, RD_E_TRUNCATED},
    {PH(0, 32), HUGE_VALUE, "p_filesz", 8, RD_E_TRUNCATED},
    {PH(0, 40), 1, "p_memsz 1", 8, RD_E_FORMAT},
    {PH(0, 48), 3, "p_align is 3", 8, RD_E_FORMAT},
    {PH(0, 48), UINT64_C(1) << 40, "p_align", 8, RD_E_FORMAT},
    {PH(0, 16), 0x9000, "program header 1: p_vaddr", 8, RD_E_FORMAT},
    {PH(1, 16), 0x100, "overlaps", 8, RD_E_FORMAT},
    {PH(1, 16), HUGE_VALUE, "program header 1: p_vaddr", 8, RD_E_FORMAT},
    {PH(1, 40), HUGE_VALUE, "leave the address space", 8, RD_E_FORMAT},
    {PH(1, 40), UINT64_C(1) << 40, "make an image", 8, RD_E_FORMAT},
    {PH(2, 8), HUGE_VALUE, "program header 2", 8, RD_E_TRUNCATED},
    {SH(1, 0), 64, "sh_name 64", 4, RD_E_FORMAT},
    {SH(1, 24), HUGE_VALUE, "section header 1", 8, RD_E_TRUNCATED},
    {SH(4, 32), 95, "sh_size 95", 8, RD_E_FORMAT},
    {SH(4, 56), 16, "sh_entsize 16", 8, RD_E_FORMAT},
    {SH(4, 40), 99, "sh_link 99", 4, RD_E_FORMAT},
    {SH(4, 40), 2, "sh_link 2", 4, RD_E_FORMAT},
    {SH(5, 32), 2, "zero byte", 8, RD_E_FORMAT},
    {SH(5, 32), 0, "zero byte", 8, RD_E_FORMAT},
    {SYM(1, 0), 32, "symbol 1: st_name 32", 4, RD_E_FORMAT},
    {SYM(1, 6), 7, "st_shndx 7 of 7", 2, RD_E_FORMAT},
    {SYM(2, 16), 63, "symbol 2 'k.kd': st_size is 63", 8, RD_E_FORMAT},
    {SYM(2, 8), AT_KD + 4, "64-aligned", 8, RD_E_FORMAT},
    {SYM(2, 8), 0x1000, "loaded there", 8, RD_E_FORMAT},
};

START_TEST(damaged)
{
    const struct damage *d = &damages[_i];
    struct made_elf elf;
    struct co_object *obj = NULL;
    struct co_error err = {""};
    make_elf(&elf, NULL, 0);
    poke(&elf, d->at, d->bytes, d->value);
    rd_status st = co_open(elf.data, elf.size, &obj, &err);
    ck_assert_msg(st == d->status && !obj, "status %d, wanted %d (%s): %s", st,
                  d->status, d->text, err.text);
    ck_assert_msg(strstr(err.text, d->text) != NULL, "'%s' not in '%s'", d->text,
                  err.text);
    ck_assert_int_eq(co_open(elf.data, elf.size, &obj, NULL), d->status);
}
END_TEST

/* What opens, but cannot be dispatched. */
static const struct damage kernel_damages[] = {
    {AT_KD + 16, 4, "not in executable code", 8, RD_E_FORMAT},
    {AT_KD + 16, HUGE_VALUE, "KERNEL_CODE_ENTRY_BYTE_OFFSET -4096", 8, RD_E_FORMAT},
    {AT_KD + 16, AT_TEXT + TEXT_SHIFT - AT_KD + 4, "256-aligned", 8, RD_E_FORMAT},
    {AT_KD + 48, 63, "512 VGPRs", 1, RD_E_FORMAT},
    {AT_KD + 52, 0x82, "enables 2 user SGPRs", 1, RD_E_FORMAT},
    {AT_KD + 52, 0xbe, "31 user SGPRs", 1, RD_E_FORMAT},
    {AT_KD, 65537, "GROUP_SEGMENT_FIXED_SIZE", 4, RD_E_FORMAT},
    {PH(1, 4), 4, "not in executable code", 4, RD_E_FORMAT},
};

START_TEST(damaged_kernel)
{
    const struct damage *d = &kernel_damages[_i];
    struct made_elf elf;
    struct co_object *obj;
    struct co_error err = {""};
    make_elf(&elf, NULL, 0);
    poke(&elf, d->at, d->bytes, d->value);
    open_made(&elf, &obj);
    rd_status st = co_kernel_check(obj, co_kernel_at(obj, 0), &err);
    ck_assert_int_eq(st, d->status);
    ck_assert_msg(strstr(err.text, d->text) != NULL, "'%s' not in '%s'", d->text,
                  err.text);
    co_close(obj);
}
END_TEST

/* Every byte of the file with a few values: never a crash, always a text. */
START_TEST(every_byte)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct made_elf elf;
    uint64_t sum = 0;
    make_elf(&elf, NULL, 0);
    for (size_t at = 0; at < elf.size; at++) {
        uint8_t old = elf.data[at];
        for (size_t v = 0; v < sizeof values; v++) {
            elf.data[at] = values[v];
            rd_status st = walk_bytes(elf.data, elf.size, &sum);
            ck_assert_int_le(st, RD_OK);
        }
        elf.data[at] = old;
    }
}
END_TEST

START_TEST(unprintable_names)
{
    struct made_elf elf;
    struct co_object *obj;
    struct co_error err = {""};
    make_elf(&elf, NULL, 0);
    poke(&elf, SYM(2, 16), 8, 63);
    memcpy(elf.data + AT_STRTAB + 3, "\033[\n", 3); /* "ESC [ LF d", not ".kd" */
    memcpy(elf.data + AT_STRTAB + 6, "d\0", 2);
    poke(&elf, SYM(2, 0), 4, 14);
    memcpy(elf.data + AT_STRTAB + 14, "\033[31m\n.kd", 10);
    ck_assert_int_eq(co_open(elf.data, elf.size, &obj, &err), RD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "'?[31m?.kd'"));
}
END_TEST

/* A relocatable file may have no contents; it opens, and cannot be loaded. */
START_TEST(header_alone)
{
    struct made_elf elf;
    struct co_object *obj;
    uint64_t sum = 0, bytes, align;
    uint8_t memory[1];
    struct co_error err = {""};
    make_elf(&elf, NULL, 0);
    poke(&elf, 16, 2, 1); /* e_type: relocatable */
    poke(&elf, 40, 8, 0); /* e_shoff */
    poke(&elf, 56, 2, 0); /* e_phnum */
    poke(&elf, 60, 4, 0); /* e_shnum, e_shstrndx */
    elf.size = AT_PHDR;
    ck_assert_int_eq(walk_bytes(elf.data, elf.size, &sum), RD_OK);
    open_made(&elf, &obj);
    co_image_size(obj, &bytes, &align);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_int_eq(co_load(obj, memory, sizeof memory, 0, &err), RD_E_FORMAT);
    ck_assert_str_eq(err.text, "load: none of the file's 0 sections is loaded");
    co_close(obj);
}
END_TEST

START_TEST(no_kernel)
{
    struct made_elf elf;
    struct co_object *obj;
    const struct co_kernel *k;
    struct co_error err = {""};
    make_elf(&elf, NULL, 0);
    open_made(&elf, &obj);
    ck_assert_int_eq(co_kernel_find(obj, "kk", &k, &err), RD_E_NOT_FOUND);
    ck_assert_str_eq(err.text, "no kernel 'kk'; there is: k");
    co_close(obj);

    poke(&elf, SYM(3, 0), 4, 3); /* a second one at the same place */
    poke(&elf, SYM(3, 4), 1, 0x11);
    poke(&elf, SYM(3, 8), 8, AT_KD);
    poke(&elf, SYM(3, 16), 8, 64);
    open_made(&elf, &obj);
    ck_assert_uint_eq(co_kernel_count(obj), 2);
    ck_assert_int_eq(co_kernel_find(obj, NULL, &k, &err), RD_E_NOT_FOUND);
    ck_assert_str_eq(err.text, "the code object has 2 kernels, name one of: k, k");
    co_close(obj);

    poke(&elf, 60, 2, 1); /* only the null section: no symbols */
    poke(&elf, 62, 2, 0);
    open_made(&elf, &obj);
    ck_assert_int_eq(co_kernel_find(obj, NULL, &k, &err), RD_E_NOT_FOUND);
    ck_assert_str_eq(err.text, "the code object has no kernel");
    co_close(obj);
}
END_TEST

/* ---- bundles ----------------------------------------------------------------- */

struct bundle {
    uint8_t data[16384];
    size_t size;
};

static size_t put_entry(struct bundle *b, size_t at, uint64_t offset, uint64_t bytes,
                        const char *id)
{
    uint64_t fields[3] = {offset, bytes, strlen(id)};
    for (int f = 0; f < 3; f++)
        for (int i = 0; i < 8; i++)
            b->data[at++] = (uint8_t)(fields[f] >> 8 * i);
    memcpy(b->data + at, id, strlen(id));
    return at + strlen(id);
}

/* An entry for another processor before that with the code. */
static void make_bundle(struct bundle *b, const char *other, const char *id)
{
    struct made_elf elf;
    make_elf(&elf, NULL, 0);
    memset(b, 0, sizeof *b);
    memcpy(b->data, "__CLANG_OFFLOAD_BUNDLE__", 24);
    b->data[24] = 3;
    size_t at = put_entry(b, 32, 4096, 0, "host-x86_64-unknown-linux-gnu-gfx1100");
    at = put_entry(b, at, 4096, 8, other);
    put_entry(b, at, 4096, elf.size, id);
    memcpy(b->data + 4096, elf.data, elf.size);
    b->size = 4096 + elf.size;
}

START_TEST(bundle)
{
    static const char *const good_ids[] = {
        "hipv4-amdgcn-amd-amdhsa--gfx1100", "hip-amdgcn-amd-amdhsa-gfx1100",
        "openmp-amdgcn-amd-amdhsa--gfx1100:xnack-", "hip-amdgcn-amd-amdhsa--gfx1102"};
    static const char *const bad_ids[] = {"hipv4-amdgcn-amd-amdhsa--gfx11000",
                                          "hipv4-amdgcn-amd-amdhsa--xgfx1100",
                                          "gfx1100", ""};
    struct bundle b;
    struct co_object *obj;
    struct co_error err = {""};
    for (size_t i = 0; i < sizeof good_ids / sizeof *good_ids; i++) {
        make_bundle(&b,
                    i < 3 ? "hipv4-amdgcn-amd-amdhsa--gfx1101"
                          : "hipv4-amdgcn-amd-amdhsa--gfx1200",
                    good_ids[i]);
        ck_assert_msg(co_open(b.data, b.size, &obj, &err) == RD_OK, "%s", err.text);
        ck_assert_uint_eq(co_info(obj)->elf_offset, 4096);
        ck_assert_uint_eq(co_kernel_count(obj), 1);
        co_close(obj);
    }
    for (size_t i = 0; i < sizeof bad_ids / sizeof *bad_ids; i++) {
        make_bundle(&b, "hipv4-amdgcn-amd-amdhsa--gfx1200", bad_ids[i]);
        ck_assert_int_eq(co_open(b.data, b.size, &obj, &err), RD_E_NOT_FOUND);
        ck_assert_ptr_nonnull(strstr(err.text, "none of its 3 entries"));
    }
}
END_TEST

START_TEST(bad_bundle)
{
    struct bundle b;
    struct co_object *obj;
    struct co_error err = {""};
    make_bundle(&b, "hipv4-amdgcn-amd-amdhsa--gfx1200",
                "hipv4-amdgcn-amd-amdhsa--gfx1100");
    uint64_t sum = 0;
    for (size_t size = 0; size < 4096 + 64; size++) {
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, b.data, size);
        ck_assert_int_ne(walk_bytes(copy, size, &sum), RD_OK);
        free(copy);
    }
    memset(b.data + 24, 0xff, 8); /* more entries than the file holds */
    ck_assert_int_eq(co_open(b.data, 300, &obj, &err), RD_E_TRUNCATED);
    make_bundle(&b, "hipv4-amdgcn-amd-amdhsa--gfx1200",
                "hipv4-amdgcn-amd-amdhsa--gfx1100");
    memset(b.data + 32, 0xff, 24); /* the first entry's fields */
    ck_assert_int_eq(co_open(b.data, b.size, &obj, &err), RD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(err.text, "entry 0"));
    ck_assert_int_eq(co_open("CCOB\2\0\0\0", 8, &obj, &err), RD_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "compressed"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("code object format");
    TCase *tc = tcase_create("elf");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, good);
    tcase_add_test(tc, symbols);
    tcase_add_test(tc, based);
    tcase_add_loop_test(tc, damaged, 0, (int)(sizeof damages / sizeof *damages));
    tcase_add_loop_test(tc, damaged_kernel, 0,
                        (int)(sizeof kernel_damages / sizeof *kernel_damages));
    tcase_add_test(tc, every_byte);
    tcase_add_test(tc, unprintable_names);
    tcase_add_test(tc, header_alone);
    tcase_add_test(tc, no_kernel);
    tcase_add_test(tc, bundle);
    tcase_add_test(tc, bad_bundle);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
