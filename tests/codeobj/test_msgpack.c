/* test_msgpack.c: every encoding of MessagePack, whole, cut off and hostile.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "msgpack.h"

#define BYTES(...)                                                                     \
    (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[])                            \
    {                                                                                  \
        __VA_ARGS__                                                                    \
    }

static struct mp_value read_one(const uint8_t *data, size_t size)
{
    struct mp_reader r = {.data = data, .size = size};
    struct mp_value v;
    ck_assert_int_eq(mp_read(&r, &v), RD_OK);
    ck_assert_uint_eq(r.pos, size);
    return v;
}

/* Each prefix is an error that moves nothing. */
static void check_prefixes(const uint8_t *data, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        uint8_t *copy = malloc(n ? n : 1);
        memcpy(copy, data, n);
        struct mp_reader r = {.data = copy, .size = n};
        struct mp_value v;
        ck_assert_int_eq(mp_read(&r, &v), RD_E_TRUNCATED);
        ck_assert_uint_eq(r.pos, 0);
        free(copy);
    }
}

static void check_uint(const uint8_t *data, size_t size, uint64_t want)
{
    struct mp_value v = read_one(data, size);
    ck_assert_int_eq(v.type, MP_UINT);
    ck_assert_uint_eq(v.u, want);
    check_prefixes(data, size);
}

static void check_int(const uint8_t *data, size_t size, int64_t want)
{
    struct mp_value v = read_one(data, size);
    ck_assert_int_eq(v.type, MP_INT);
    ck_assert_int_eq((int64_t)v.u, want);
    check_prefixes(data, size);
}

START_TEST(integers)
{
    check_uint(BYTES(0x00), 0);
    check_uint(BYTES(0x7f), 127);
    check_uint(BYTES(0xcc, 0xff), 255);
    check_uint(BYTES(0xcd, 0x12, 0x34), 0x1234);
    check_uint(BYTES(0xce, 0xff, 0, 0, 1), 0xff000001);
    check_uint(BYTES(0xcf, 0xff, 0, 0, 0, 0, 0, 0, 1), 0xff00000000000001);
    check_uint(BYTES(0xd0, 0x7f), 127); /* signed encodings of positive numbers */
    check_uint(BYTES(0xd1, 0x7f, 0xff), 0x7fff);
    check_uint(BYTES(0xd3, 0x7f, 0, 0, 0, 0, 0, 0, 1), 0x7f00000000000001);
    check_int(BYTES(0xff), -1);
    check_int(BYTES(0xe0), -32);
    check_int(BYTES(0xd0, 0x80), -128);
    check_int(BYTES(0xd1, 0x80, 0x00), -32768);
    check_int(BYTES(0xd2, 0x80, 0, 0, 0), INT32_MIN);
    check_int(BYTES(0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0), INT64_MIN);
}
END_TEST

START_TEST(simple_values)
{
    ck_assert_int_eq(read_one(BYTES(0xc0)).type, MP_NIL);
    struct mp_value v = read_one(BYTES(0xc2));
    ck_assert(v.type == MP_BOOL && v.u == 0);
    v = read_one(BYTES(0xc3));
    ck_assert(v.type == MP_BOOL && v.u == 1);
    v = read_one(BYTES(0xca, 0x3f, 0xc0, 0, 0));
    ck_assert(v.type == MP_FLOAT && v.f == 1.5);
    v = read_one(BYTES(0xcb, 0xc0, 0x04, 0, 0, 0, 0, 0, 0));
    ck_assert(v.type == MP_FLOAT && v.f == -2.5);
    check_prefixes(BYTES(0xcb, 0xc0, 0x04, 0, 0, 0, 0, 0, 0));
}
END_TEST

static void check_bytes(const uint8_t *data, size_t size, enum mp_type type,
                        const char *want)
{
    struct mp_value v = read_one(data, size);
    ck_assert_int_eq(v.type, type);
    ck_assert_uint_eq(v.count, strlen(want));
    ck_assert_mem_eq(v.bytes, want, v.count);
    check_prefixes(data, size);
}

START_TEST(payloads)
{
    check_bytes(BYTES(0xa2, 'h', 'i'), MP_STR, "hi");
    check_bytes(BYTES(0xd9, 2, 'h', 'i'), MP_STR, "hi");
    check_bytes(BYTES(0xda, 0, 2, 'h', 'i'), MP_STR, "hi");
    check_bytes(BYTES(0xdb, 0, 0, 0, 2, 'h', 'i'), MP_STR, "hi");
    check_bytes(BYTES(0xc4, 1, 'x'), MP_BIN, "x");
    check_bytes(BYTES(0xc5, 0, 1, 'x'), MP_BIN, "x");
    check_bytes(BYTES(0xc6, 0, 0, 0, 1, 'x'), MP_BIN, "x");
    check_bytes(BYTES(0xd4, 9, 'x'), MP_EXT, "x"); /* 9: the extension's type */
    check_bytes(BYTES(0xd5, 9, 'x', 'y'), MP_EXT, "xy");
    check_bytes(BYTES(0xd6, 9, '1', '2', '3', '4'), MP_EXT, "1234");
    check_bytes(BYTES(0xc7, 1, 9, 'x'), MP_EXT, "x");
    check_bytes(BYTES(0xc8, 0, 1, 9, 'x'), MP_EXT, "x");
    check_bytes(BYTES(0xc9, 0, 0, 0, 1, 9, 'x'), MP_EXT, "x");

    struct mp_value v = read_one(BYTES(0xa2, 'h', 'i'));
    ck_assert(mp_is(&v, "hi") && !mp_is(&v, "h") && !mp_is(&v, "hi!"));
    v = read_one(BYTES(0xc4, 2, 'h', 'i'));
    ck_assert(!mp_is(&v, "hi")); /* a binary is no string */
}
END_TEST

static void check_container(const uint8_t *data, size_t size, enum mp_type type,
                            uint32_t count, size_t head)
{
    struct mp_reader r = {.data = data, .size = size};
    struct mp_value v;
    ck_assert_int_eq(mp_read(&r, &v), RD_OK);
    ck_assert(v.type == type && v.count == count && r.pos == head);
    r.pos = 0;
    ck_assert_int_eq(mp_skip(&r), RD_OK);
    ck_assert_uint_eq(r.pos, size);
}

START_TEST(containers)
{
    check_container(BYTES(0x90), MP_ARRAY, 0, 1);
    check_container(BYTES(0x92, 1, 2), MP_ARRAY, 2, 1);
    check_container(BYTES(0xdc, 0, 1, 1), MP_ARRAY, 1, 3);
    check_container(BYTES(0xdd, 0, 0, 0, 1, 1), MP_ARRAY, 1, 5);
    check_container(BYTES(0x80), MP_MAP, 0, 1);
    check_container(BYTES(0x81, 0xa1, 'k', 0x91, 0x80), MP_MAP, 1, 1);
    check_container(BYTES(0xde, 0, 1, 1, 2), MP_MAP, 1, 3);
    check_container(BYTES(0xdf, 0, 0, 0, 1, 1, 2), MP_MAP, 1, 5);
}
END_TEST

static rd_status skip_all(const uint8_t *data, size_t size)
{
    struct mp_reader r = {.data = data, .size = size};
    return mp_skip(&r);
}

START_TEST(hostile)
{
    struct mp_value v;
    struct mp_reader r = {.data = BYTES(0xc1)};
    r.size = 1;
    ck_assert_int_eq(mp_read(&r, &v), RD_E_FORMAT);

    /* counts that the document cannot hold */
    ck_assert_int_eq(skip_all(BYTES(0xdd, 0xff, 0xff, 0xff, 0xff, 0)), RD_E_TRUNCATED);
    ck_assert_int_eq(skip_all(BYTES(0xdf, 0x80, 0, 0, 0, 0, 0)), RD_E_TRUNCATED);
    ck_assert_int_eq(skip_all(BYTES(0x82, 1, 2, 3)), RD_E_TRUNCATED);
    ck_assert_int_eq(skip_all(BYTES(0xdb, 0xff, 0xff, 0xff, 0xff, 'x')),
                     RD_E_TRUNCATED);
    ck_assert_int_eq(skip_all(BYTES(0xc9, 0xff, 0xff, 0xff, 0xff, 1)), RD_E_TRUNCATED);

    /* nesting: the limit itself is fine, one more is not */
    uint8_t deep[MP_MAX_DEPTH + 1];
    memset(deep, 0x91, sizeof deep);
    deep[MP_MAX_DEPTH - 1] = 0;
    ck_assert_int_eq(skip_all(deep, MP_MAX_DEPTH), RD_OK);
    deep[MP_MAX_DEPTH - 1] = 0x91;
    deep[MP_MAX_DEPTH] = 0;
    ck_assert_int_eq(skip_all(deep, MP_MAX_DEPTH + 1), RD_E_FORMAT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("msgpack");
    TCase *tc = tcase_create("values");
    tcase_add_test(tc, integers);
    tcase_add_test(tc, simple_values);
    tcase_add_test(tc, payloads);
    tcase_add_test(tc, containers);
    tcase_add_test(tc, hostile);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
