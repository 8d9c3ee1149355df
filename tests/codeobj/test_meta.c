/* test_meta.c: metadata documents, good and bad, in the note of a made file.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "codeobj.h"
#include "make_elf.h"
#include "walk.h"

/* ---- writing MessagePack ----------------------------------------------------- */

struct doc {
    uint8_t data[4096];
    size_t size;
};

static void put(struct doc *d, unsigned byte)
{
    ck_assert_uint_lt(d->size, sizeof d->data);
    d->data[d->size++] = (uint8_t)byte;
}

static void put_map(struct doc *d, unsigned pairs)
{
    put(d, 0xde);
    put(d, pairs >> 8);
    put(d, pairs & 255);
}

static void put_array(struct doc *d, unsigned count)
{
    put(d, 0xdc);
    put(d, count >> 8);
    put(d, count & 255);
}

static void put_str(struct doc *d, const char *text)
{
    put(d, 0xd9);
    put(d, (unsigned)strlen(text));
    while (*text)
        put(d, (uint8_t)*text++);
}

static void put_uint(struct doc *d, uint32_t value)
{
    put(d, 0xce);
    for (int shift = 24; shift >= 0; shift -= 8)
        put(d, value >> shift & 255);
}

static void put_pair(struct doc *d, const char *key, uint32_t value)
{
    put_str(d, key);
    put_uint(d, value);
}

static void put_text(struct doc *d, const char *key, const char *text)
{
    put_str(d, key);
    put_str(d, text);
}

/* A document up to and with the kernel's map head and what is required of a kernel. */
static void begin(struct doc *d, unsigned more_pairs)
{
    d->size = 0;
    put_map(d, 2);
    put_str(d, "amdhsa.version");
    put_array(d, 2);
    put_uint(d, 1);
    put_uint(d, 2);
    put_str(d, "amdhsa.kernels");
    put_array(d, 1);
    put_map(d, 3 + more_pairs);
    put_text(d, ".name", "k");
    put_text(d, ".symbol", "k.kd");
    put_pair(d, ".kernarg_segment_size", 16);
}

static void begin_arg(struct doc *d, unsigned more_pairs, uint32_t offset,
                      uint32_t size, const char *kind)
{
    put_map(d, 3 + more_pairs);
    put_pair(d, ".offset", offset);
    put_pair(d, ".size", size);
    put_text(d, ".value_kind", kind);
}

static rd_status open_doc(const struct doc *d, struct made_elf *elf,
                          struct co_object **obj, struct co_error *err)
{
    make_elf(elf, d->data, d->size);
    return co_open(elf->data, elf->size, obj, err);
}

static const struct co_kernel_meta *open_good(const struct doc *d, struct made_elf *elf,
                                              struct co_object **obj)
{
    struct co_error err = {""};
    rd_status st = open_doc(d, elf, obj, &err);
    ck_assert_msg(st == RD_OK, "%s", err.text);
    const struct co_kernel *k = co_kernel_at(*obj, 0);
    ck_assert_ptr_nonnull(k->meta);
    walk_object(*obj);
    return k->meta;
}

static void expect_error(const struct doc *d, rd_status want, const char *text)
{
    struct made_elf elf;
    struct co_object *obj;
    struct co_error err = {""};
    rd_status st = open_doc(d, &elf, &obj, &err);
    ck_assert_msg(st == want, "status %d, wanted %d: %s", st, want, err.text);
    ck_assert_msg(strstr(err.text, text) != NULL, "'%s' not in '%s'", text, err.text);
}

/* ---- tests ------------------------------------------------------------------- */

START_TEST(smallest)
{
    struct doc d;
    struct made_elf elf;
    struct co_object *obj;
    begin(&d, 0);
    const struct co_kernel_meta *m = open_good(&d, &elf, &obj);
    ck_assert_str_eq(m->name, "k");
    ck_assert_str_eq(m->symbol, "k.kd");
    ck_assert_uint_eq(m->kernarg_bytes, 16);
    ck_assert_uint_eq(m->n_args, 0);
    ck_assert_ptr_null(m->language);
    ck_assert_int_eq(co_kernel_check(obj, co_kernel_at(obj, 0), NULL), RD_OK);
    co_close(obj);
}
END_TEST

START_TEST(arguments)
{
    struct doc d;
    struct made_elf elf;
    struct co_object *obj;
    begin(&d, 2);
    put_str(&d, ".reqd_workgroup_size");
    put_array(&d, 3);
    for (unsigned i = 1; i <= 3; i++)
        put_uint(&d, i);
    put_str(&d, ".args");
    put_array(&d, 3);
    begin_arg(&d, 6, 0, 8, "global_buffer");
    put_text(&d, ".name", "out");
    put_text(&d, ".type_name", "float*");
    put_text(&d, ".address_space", "global");
    put_text(&d, ".access", "read_write");
    put_text(&d, ".actual_access", "write_only");
    put_str(&d, ".is_restrict");
    put(&d, 0xc3);
    begin_arg(&d, 1, 8, 4, "by_value");
    put_str(&d,
            ".later_invention"); /* unknown keys are passed over, whatever they hold */
    put_array(&d, 2);
    put_map(&d, 1);
    put_uint(&d, 1);
    put_array(&d, 0);
    put_str(&d, "x");
    begin_arg(&d, 0, 12, 4, "hidden_block_count_x");
    const struct co_kernel_meta *m = open_good(&d, &elf, &obj);
    ck_assert_uint_eq(m->n_args, 3);
    ck_assert_uint_eq(m->n_explicit_args, 2);
    ck_assert_uint_eq(m->reqd_workgroup_size[2], 3);
    ck_assert_str_eq(m->args[0].name, "out");
    ck_assert_str_eq(m->args[0].type_name, "float*");
    ck_assert_uint_eq(m->args[0].kind, CO_VALUE_GLOBAL_BUFFER);
    ck_assert_uint_eq(m->args[0].addr_space, CO_AS_GLOBAL);
    ck_assert_uint_eq(m->args[0].access, CO_ACCESS_READ_WRITE);
    ck_assert_uint_eq(m->args[0].actual_access, CO_ACCESS_WRITE_ONLY);
    ck_assert(m->args[0].is_restrict && !m->args[0].is_const);
    ck_assert_ptr_null(m->args[1].name);
    ck_assert_uint_eq(m->args[1].offset, 8);
    ck_assert_uint_eq(m->args[2].kind, CO_VALUE_HIDDEN_BLOCK_COUNT_X);
    co_close(obj);
}
END_TEST

START_TEST(value_kinds)
{
    for (int kind = CO_VALUE_BY_VALUE; kind < CO_VALUE_COUNT; kind++) {
        struct doc d;
        struct made_elf elf;
        struct co_object *obj;
        const char *text = co_value_text((enum co_value_kind)kind);
        begin(&d, 1);
        put_str(&d, ".args");
        put_array(&d, 1);
        begin_arg(&d, 0, 0, 8, text);
        const struct co_kernel_meta *m = open_good(&d, &elf, &obj);
        bool hidden = strncmp(text, "hidden_", 7) == 0;
        ck_assert_int_eq(m->args[0].kind, kind);
        ck_assert(co_value_is_hidden((enum co_value_kind)kind) == hidden);
        ck_assert_uint_eq(m->n_explicit_args, !hidden);
        co_close(obj);
    }
}
END_TEST

START_TEST(unknown_value_kinds)
{
    struct doc d;
    struct made_elf elf;
    struct co_object *obj;
    begin(&d, 1);
    put_str(&d, ".args");
    put_array(&d, 2);
    begin_arg(&d, 0, 0, 8, "telepathy");
    begin_arg(&d, 0, 8, 8, "hidden_telepathy");
    const struct co_kernel_meta *m = open_good(&d, &elf, &obj);
    ck_assert_uint_eq(m->args[0].kind, CO_VALUE_UNKNOWN);
    ck_assert_uint_eq(m->args[1].kind, CO_VALUE_HIDDEN_UNKNOWN);
    ck_assert_str_eq(m->args[1].kind_text, "hidden_telepathy");
    ck_assert_uint_eq(m->n_explicit_args, 1);
    co_close(obj);
}
END_TEST

START_TEST(bad_kernels)
{
    struct doc d;
    begin(&d, 1);
    put_text(&d, ".wavefront_size", "32");
    expect_error(&d, RD_E_FORMAT, ".wavefront_size at file offset");
    begin(&d, 1);
    put_pair(&d, ".wavefront_size", 16);
    expect_error(&d, RD_E_FORMAT, "neither 32 nor 64");
    begin(&d, 1);
    put_pair(&d, ".kernarg_segment_align", 12);
    expect_error(&d, RD_E_FORMAT, "not a power of two");
    begin(&d, 1);
    put_pair(&d, ".reqd_workgroup_size", 12);
    expect_error(&d, RD_E_FORMAT, "expected an array");
    begin(&d, 1);
    put_str(&d, ".reqd_workgroup_size");
    put_array(&d, 2);
    put_uint(&d, 1);
    put_uint(&d, 1);
    expect_error(&d, RD_E_FORMAT, "expected three integers");
    begin(&d, 1);
    put_str(&d, ".language");
    put(&d, 0xa2);
    put(&d, 'a');
    put(&d, 0); /* a zero byte inside a name */
    expect_error(&d, RD_E_FORMAT, ".language");
    begin(&d, 1);
    expect_error(&d, RD_E_TRUNCATED, "kernel at file offset");
    begin(&d, 1);
    put_uint(&d, 1);
    put_uint(&d, 1);
    expect_error(&d, RD_E_FORMAT, "expected a string as key");
    begin(&d, 1);
    put_str(&d, ".sgpr_count");
    put(&d, 0xff); /* -1 */
    expect_error(&d, RD_E_FORMAT, ".sgpr_count");
    begin(&d, 1);
    put_str(&d, ".deep");
    for (int i = 0; i < 100; i++)
        put(&d, 0x91);
    put(&d, 0);
    expect_error(&d, RD_E_FORMAT, "nested too deeply");
}
END_TEST

START_TEST(bad_documents)
{
    struct doc d = {.size = 0};
    expect_error(&d, RD_E_TRUNCATED, "document");
    put_array(&d, 0);
    expect_error(&d, RD_E_FORMAT, "expected a map");

    d.size = 0;
    put_map(&d, 1);
    put_str(&d, "amdhsa.version");
    put_array(&d, 1);
    put_uint(&d, 2);
    expect_error(&d, RD_E_UNSUPPORTED, "major version");

    d.size = 0;
    put_map(&d, 1);
    put_str(&d, "amdhsa.kernels");
    put_array(&d, 1);
    put_map(&d, 2);
    put_text(&d, ".name", "k");
    put_text(&d, ".symbol", "k.kd");
    for (int i = 0; i < 40; i++) /* room, so that it is not cut off first */
        put(&d, 0);
    expect_error(&d, RD_E_FORMAT, ".kernarg_segment_size at file offset");

    d.size = 0;
    put_map(&d, 1);
    put_str(&d, "amdhsa.kernels");
    put(&d, 0xdd); /* 4 G of them */
    for (int i = 0; i < 4; i++)
        put(&d, 0xff);
    expect_error(&d, RD_E_TRUNCATED, "amdhsa.kernels");
}
END_TEST

START_TEST(bad_arguments)
{
    struct doc d;
    begin(&d, 1);
    put_str(&d, ".args");
    put_array(&d, 1);
    begin_arg(&d, 0, 12, 8, "by_value");
    expect_error(&d, RD_E_FORMAT, "argument 0: .offset 12 and .size 8 leave");
    begin(&d, 1);
    put_str(&d, ".args");
    put_array(&d, 1);
    begin_arg(&d, 0, 0xffffffff, 0xffffffff, "by_value");
    expect_error(&d, RD_E_FORMAT, "leave the kernarg segment");
    begin(&d, 1);
    put_str(&d, ".args");
    put_array(&d, 60000);
    expect_error(&d, RD_E_TRUNCATED, ".args");
    begin(&d, 1);
    put_str(&d, ".args");
    put_array(&d, 1);
    put_map(&d, 2);
    put_pair(&d, ".offset", 0);
    put_pair(&d, ".size", 4);
    put_text(&d, "padding", "padding");
    expect_error(&d, RD_E_FORMAT, ".value_kind at file offset");
    begin(&d, 1);
    put_str(&d, ".args");
    put_array(&d, 1);
    begin_arg(&d, 1, 0, 8, "by_value");
    put_text(&d, ".address_space", "outer");
    expect_error(&d, RD_E_FORMAT, "no such address space");
    begin(&d, 2);
    for (int i = 0; i < 2; i++) {
        put_str(&d, ".args");
        put_array(&d, 1);
        begin_arg(&d, 0, 0, 8, "by_value");
    }
    expect_error(&d, RD_E_FORMAT, "the key occurs twice");
}
END_TEST

START_TEST(contradictions)
{
    struct doc d;
    struct made_elf elf;
    struct co_object *obj;
    struct co_error err = {""};
    begin(&d, 1);
    put_pair(&d, ".wavefront_size", 64);
    open_good(&d, &elf, &obj);
    ck_assert_int_eq(co_kernel_check(obj, co_kernel_at(obj, 0), &err), RD_E_FORMAT);
    ck_assert_str_eq(err.text,
                     "kernel 'k': the metadata says wave64, the descriptor wave32");
    co_close(obj);

    begin(&d, 0);
    make_elf(&elf, d.data, d.size);
    poke(&elf, AT_KD + 8, 4, 24);
    ck_assert_int_eq(co_open(elf.data, elf.size, &obj, NULL), RD_OK);
    ck_assert_int_eq(co_kernel_check(obj, co_kernel_at(obj, 0), &err), RD_E_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "16 bytes of kernarg segment"));
    co_close(obj);
}
END_TEST

START_TEST(notes)
{
    struct doc d;
    struct made_elf elf;
    struct co_object *obj;
    struct co_error err = {""};
    begin(&d, 0);
    make_elf(&elf, d.data, d.size);
    poke(&elf, AT_NOTE + 4, 4, 0xfffffff0);
    ck_assert_int_eq(co_open(elf.data, elf.size, &obj, &err), RD_E_TRUNCATED);
    ck_assert_ptr_nonnull(strstr(err.text, "note at file offset 1408: n_namesz 7"));
    make_elf(&elf, d.data, d.size);
    poke(&elf, AT_NOTE, 4, 0xffffffff);
    ck_assert_int_eq(co_open(elf.data, elf.size, &obj, &err), RD_E_TRUNCATED);
    make_elf(&elf, d.data, d.size);
    poke(&elf, AT_NOTE + 8, 4, 33); /* another note: none of ours */
    ck_assert_int_eq(co_open(elf.data, elf.size, &obj, &err), RD_OK);
    ck_assert_ptr_null(co_kernel_at(obj, 0)->meta);
    co_close(obj);
}
END_TEST

/* What a linked object keeps of the objects that it was made from. */
START_TEST(several_notes)
{
    struct doc first, second;
    struct made_elf elf;
    struct co_object *obj;
    begin(&first, 1);
    put_text(&first, ".language", "OpenCL C");
    begin(&second, 1);
    put_text(&second, ".language", "Assembler");
    char *symbol = memmem(first.data, first.size, "k.kd", 4);
    ck_assert_ptr_nonnull(symbol);
    memcpy(symbol, "j.kd", 4);
    for (unsigned order = 0; order < 2; order++) {
        const struct doc *a = order ? &second : &first, *b = order ? &first : &second;
        struct doc both = *a;
        while (both.size % 4)
            put(&both, 0);
        const uint32_t header[3] = {7, (uint32_t)b->size, 32};
        memcpy(both.data + both.size, header, sizeof header);
        memcpy(both.data + both.size + 12, "AMDGPU\0", 8);
        memcpy(both.data + both.size + 20, b->data, b->size);
        both.size += 20 + b->size;
        make_elf(&elf, both.data, both.size);
        poke(&elf, AT_NOTE + 4, 4, a->size);
        ck_assert_int_eq(co_open(elf.data, elf.size, &obj, NULL), RD_OK);
        const struct co_kernel *k = co_kernel_at(obj, 0);
        ck_assert_ptr_nonnull(k->meta);
        ck_assert_str_eq(k->meta->language, "Assembler");
        walk_object(obj);
        co_close(obj);
    }
}
END_TEST

/* Every prefix and every damaged byte of a full document. */
START_TEST(hostile)
{
    struct doc d;
    struct made_elf elf;
    uint64_t sum = 0;
    begin(&d, 1);
    put_str(&d, ".args");
    put_array(&d, 2);
    begin_arg(&d, 1, 0, 8, "global_buffer");
    put_text(&d, ".address_space", "global");
    begin_arg(&d, 0, 8, 4, "by_value");
    for (size_t n = 0; n < d.size; n++) {
        make_elf(&elf, d.data, n);
        ck_assert_int_ne(walk_bytes(elf.data, elf.size, &sum), RD_OK);
    }
    make_elf(&elf, d.data, d.size);
    ck_assert_int_eq(walk_bytes(elf.data, elf.size, &sum), RD_OK);
    for (size_t at = AT_NOTE; at < elf.size; at++) {
        uint8_t old = elf.data[at];
        for (unsigned v = 0; v < 256; v++) {
            elf.data[at] = (uint8_t)v;
            ck_assert_int_le(walk_bytes(elf.data, elf.size, &sum), RD_OK);
        }
        elf.data[at] = old;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("code object metadata");
    TCase *tc = tcase_create("documents");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, smallest);
    tcase_add_test(tc, arguments);
    tcase_add_test(tc, value_kinds);
    tcase_add_test(tc, unknown_value_kinds);
    tcase_add_test(tc, bad_kernels);
    tcase_add_test(tc, bad_documents);
    tcase_add_test(tc, bad_arguments);
    tcase_add_test(tc, contradictions);
    tcase_add_test(tc, notes);
    tcase_add_test(tc, several_notes);
    tcase_add_test(tc, hostile);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
