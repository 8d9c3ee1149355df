/* test_elf.c: one malformed field at a time, and what the error says about it.
 *
 * Works on files made in memory: needs no compiler and no sample.
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

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
    unsigned bytes;
    uint64_t value;
    rd_status status;
    const char *text; /* must occur in the message */
};

#define SH(section, field) (AT_SHDR + 64 * (section) + (field))
#define PH(segment, field) (AT_PHDR + 56 * (segment) + (field))
#define SYM(symbol, field) (AT_SYMTAB + 24 * (symbol) + (field))
#define HUGE_VALUE         UINT64_C(0xfffffffffffff000)

static const struct damage damages[] = {
    {0, 1, 'X', RD_E_FORMAT, "magic"},
    {4, 1, 1, RD_E_UNSUPPORTED, "EI_CLASS (offset 4) is 1"},
    {5, 1, 2, RD_E_UNSUPPORTED, "EI_DATA"},
    {6, 1, 0, RD_E_FORMAT, "EI_VERSION"},
    {7, 1, 0, RD_E_UNSUPPORTED, "EI_OSABI (offset 7) is 0"},
    {8, 1, 1, RD_E_UNSUPPORTED, "EI_ABIVERSION (offset 8) is 1"},
    {8, 1, 5, RD_E_UNSUPPORTED, "EI_ABIVERSION (offset 8) is 5"},
    {16, 2, 2, RD_E_UNSUPPORTED, "e_type (offset 16) is 2"},
    {18, 2, 62, RD_E_UNSUPPORTED, "e_machine (offset 18) is 62"},
    {48, 4, 0x36, RD_E_UNSUPPORTED, "gfx1030"},
    {48, 4, 0x54, RD_E_UNSUPPORTED, "gfx11-generic"}, /* not in version 5 */
    {48, 4, 0xff, RD_E_UNSUPPORTED, "unknown processor"},
    {54, 2, 32, RD_E_FORMAT, "program header entry size"},
    {56, 2, 0, RD_E_FORMAT, "no PT_LOAD"},
    {56, 2, 5000, RD_E_TRUNCATED, "program header table of 5000 entries"},
    {56, 2, 0xffff, RD_E_UNSUPPORTED, "extended numbering"},
    {32, 8, HUGE_VALUE, RD_E_TRUNCATED, "program header table"},
    {40, 8, HUGE_VALUE, RD_E_TRUNCATED, "section header table"},
    {58, 2, 63, RD_E_FORMAT, "section header entry size"},
    {60, 2, 0, RD_E_UNSUPPORTED, "extended numbering"},
    {62, 2, N_SECTIONS, RD_E_FORMAT, "e_shstrndx"},
    {62, 2, 2, RD_E_FORMAT, "no string table"},
    {PH(0, 8), 8, HUGE_VALUE, RD_E_TRUNCATED, "program header 0: p_offset"},
    {PH(0, 32), 8, HUGE_VALUE, RD_E_TRUNCATED, "p_filesz"},
    {PH(0, 40), 8, 1, RD_E_FORMAT, "p_memsz 1"},
    {PH(0, 48), 8, 3, RD_E_FORMAT, "p_align is 3"},
    {PH(0, 48), 8, UINT64_C(1) << 40, RD_E_FORMAT, "p_align"},
    {PH(0, 16), 8, 0x9000, RD_E_FORMAT, "program header 1: p_vaddr"},
    {PH(1, 16), 8, 0x100, RD_E_FORMAT, "overlaps"},
    {PH(1, 16), 8, HUGE_VALUE, RD_E_FORMAT, "program header 1: p_vaddr"},
    {PH(1, 40), 8, HUGE_VALUE, RD_E_FORMAT, "leave the address space"},
    {PH(1, 40), 8, UINT64_C(1) << 40, RD_E_FORMAT, "make an image"},
    {PH(2, 8), 8, HUGE_VALUE, RD_E_TRUNCATED, "program header 2"},
    {SH(1, 0), 4, 64, RD_E_FORMAT, "sh_name 64"},
    {SH(1, 24), 8, HUGE_VALUE, RD_E_TRUNCATED, "section header 1"},
    {SH(4, 32), 8, 95, RD_E_FORMAT, "sh_size 95"},
    {SH(4, 56), 8, 16, RD_E_FORMAT, "sh_entsize 16"},
    {SH(4, 40), 4, 99, RD_E_FORMAT, "sh_link 99"},
    {SH(4, 40), 4, 2, RD_E_FORMAT, "sh_link 2"},
    {SH(5, 32), 8, 2, RD_E_FORMAT, "zero byte"},
    {SH(5, 32), 8, 0, RD_E_FORMAT, "zero byte"},
    {SYM(1, 0), 4, 32, RD_E_FORMAT, "symbol 1: st_name 32"},
    {SYM(1, 6), 2, 7, RD_E_FORMAT, "st_shndx 7 of 7"},
    {SYM(2, 16), 8, 63, RD_E_FORMAT, "symbol 2 'k.kd': st_size is 63"},
    {SYM(2, 8), 8, AT_KD + 4, RD_E_FORMAT, "64-aligned"},
    {SYM(2, 8), 8, 0x1000, RD_E_FORMAT, "loaded there"},
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
    {AT_KD + 16, 8, 4, RD_E_FORMAT, "not in executable code"},
    {AT_KD + 16, 8, HUGE_VALUE, RD_E_FORMAT, "KERNEL_CODE_ENTRY_BYTE_OFFSET -4096"},
    {AT_KD + 16, 8, AT_TEXT + TEXT_SHIFT - AT_KD + 4, RD_E_FORMAT, "256-aligned"},
    {AT_KD + 48, 1, 63, RD_E_FORMAT, "512 VGPRs"},
    {AT_KD + 52, 1, 0x82, RD_E_FORMAT, "enables 2 user SGPRs"},
    {AT_KD + 52, 1, 0xbe, RD_E_FORMAT, "31 user SGPRs"},
    {AT_KD, 4, 65537, RD_E_FORMAT, "GROUP_SEGMENT_FIXED_SIZE"},
    {PH(1, 4), 4, 4, RD_E_FORMAT, "not in executable code"},
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

static void make_bundle(struct bundle *b, const char *id)
{
    struct made_elf elf;
    make_elf(&elf, NULL, 0);
    memset(b, 0, sizeof *b);
    memcpy(b->data, "__CLANG_OFFLOAD_BUNDLE__", 24);
    b->data[24] = 3;
    size_t at = put_entry(b, 32, 4096, 0, "host-x86_64-unknown-linux-gnu-gfx1100");
    at = put_entry(b, at, 4096, 8, "hipv4-amdgcn-amd-amdhsa--gfx1101");
    put_entry(b, at, 4096, elf.size, id);
    memcpy(b->data + 4096, elf.data, elf.size);
    b->size = 4096 + elf.size;
}

START_TEST(bundle)
{
    static const char *const good_ids[] = {"hipv4-amdgcn-amd-amdhsa--gfx1100",
                                           "hip-amdgcn-amd-amdhsa-gfx1100",
                                           "openmp-amdgcn-amd-amdhsa--gfx1100:xnack-"};
    static const char *const bad_ids[] = {"hipv4-amdgcn-amd-amdhsa--gfx11000",
                                          "hipv4-amdgcn-amd-amdhsa--xgfx1100",
                                          "gfx1100", ""};
    struct bundle b;
    struct co_object *obj;
    struct co_error err = {""};
    for (size_t i = 0; i < sizeof good_ids / sizeof *good_ids; i++) {
        make_bundle(&b, good_ids[i]);
        ck_assert_msg(co_open(b.data, b.size, &obj, &err) == RD_OK, "%s", err.text);
        ck_assert_uint_eq(co_info(obj)->elf_offset, 4096);
        ck_assert_uint_eq(co_kernel_count(obj), 1);
        co_close(obj);
    }
    for (size_t i = 0; i < sizeof bad_ids / sizeof *bad_ids; i++) {
        make_bundle(&b, bad_ids[i]);
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
    make_bundle(&b, "hipv4-amdgcn-amd-amdhsa--gfx1100");
    uint64_t sum = 0;
    for (size_t size = 0; size < 4096 + 64; size++) {
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, b.data, size);
        ck_assert_int_ne(walk_bytes(copy, size, &sum), RD_OK);
        free(copy);
    }
    memset(b.data + 24, 0xff, 8); /* more entries than the file holds */
    ck_assert_int_eq(co_open(b.data, 300, &obj, &err), RD_E_TRUNCATED);
    make_bundle(&b, "hipv4-amdgcn-amd-amdhsa--gfx1100");
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
    tcase_add_test(tc, no_kernel);
    tcase_add_test(tc, bundle);
    tcase_add_test(tc, bad_bundle);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
