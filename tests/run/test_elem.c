/* test_elem.c: numbers of the command line and element types.
 *
 * binary16 is checked against its definition for all 65,536 values and at the midpoints
 * between neighbours, where rounding decides.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "cli.h"
#include "elem.h"

static rd_status parse(const char *type, const char *text, uint64_t *out)
{
    const struct elem_type *t = elem_find(type, strlen(type));
    ck_assert_ptr_nonnull(t);
    return elem_parse(t, text, out);
}

START_TEST(numbers_whole_or_refused)
{
    uint64_t u = 77;
    int64_t i = 77;
    ck_assert_int_eq(cli_parse_u64("0", &u), RD_OK);
    ck_assert_uint_eq(u, 0);
    ck_assert_int_eq(cli_parse_u64("18446744073709551615", &u), RD_OK);
    ck_assert_uint_eq(u, UINT64_MAX);
    ck_assert_int_eq(cli_parse_u64("0xFFFFFFFFFFFFFFFF", &u), RD_OK);
    ck_assert_int_eq(cli_parse_u64("18446744073709551616", &u), RD_E_RANGE);
    ck_assert_int_eq(cli_parse_u64("0x10000000000000000", &u), RD_E_RANGE);
    ck_assert_int_eq(cli_parse_u64("", &u), RD_E_FORMAT);
    ck_assert_int_eq(cli_parse_u64("0x", &u), RD_E_FORMAT);
    ck_assert_int_eq(cli_parse_u64(" 1", &u), RD_E_FORMAT);
    ck_assert_int_eq(cli_parse_u64("1 ", &u), RD_E_FORMAT);
    ck_assert_int_eq(cli_parse_u64("-1", &u), RD_E_FORMAT);
    ck_assert_int_eq(cli_parse_i64("-9223372036854775808", &i), RD_OK);
    ck_assert_int_eq(i, INT64_MIN);
    ck_assert_int_eq(cli_parse_i64("-9223372036854775809", &i), RD_E_RANGE);
    ck_assert_int_eq(cli_parse_i64("9223372036854775808", &i), RD_E_RANGE);
}
END_TEST

START_TEST(sizes_take_suffixes)
{
    uint64_t u = 0;
    ck_assert_int_eq(cli_parse_size("3K", &u), RD_OK);
    ck_assert_uint_eq(u, 3072);
    ck_assert_int_eq(cli_parse_size("1G", &u), RD_OK);
    ck_assert_uint_eq(u, 1u << 30);
    ck_assert_int_eq(cli_parse_size("17179869184G", &u), RD_E_RANGE);
    ck_assert_int_eq(cli_parse_size("1KK", &u), RD_E_FORMAT);
    ck_assert_int_eq(cli_parse_size("K", &u), RD_E_FORMAT);
}
END_TEST

START_TEST(dims_default_to_one)
{
    uint32_t d[3] = {9, 9, 9};
    ck_assert_int_eq(cli_parse_dims("5,6", d), RD_OK);
    ck_assert(d[0] == 5 && d[1] == 6 && d[2] == 1);
    ck_assert_int_eq(cli_parse_dims("0", d), RD_E_RANGE);
    ck_assert_int_eq(cli_parse_dims("4294967296", d), RD_E_RANGE);
    ck_assert_int_eq(cli_parse_dims("1,2,3,4", d), RD_E_FORMAT);
    ck_assert_int_eq(cli_parse_dims("1,", d), RD_E_FORMAT);
    ck_assert_int_eq(cli_parse_dims("1;2", d), RD_E_FORMAT);
    ck_assert(d[0] == 5 && d[1] == 6 && d[2] == 1);
}
END_TEST

START_TEST(integers_must_fit)
{
    uint64_t u = 0;
    ck_assert_int_eq(parse("i8", "-128", &u), RD_OK);
    ck_assert_uint_eq(u, 0x80);
    ck_assert_int_eq(parse("i8", "128", &u), RD_E_RANGE);
    ck_assert_int_eq(parse("i8", "0xff", &u), RD_OK);
    ck_assert_uint_eq(u, 0xff);
    ck_assert_int_eq(parse("i8", "0x100", &u), RD_E_RANGE);
    ck_assert_int_eq(parse("u16", "65535", &u), RD_OK);
    ck_assert_int_eq(parse("u16", "65536", &u), RD_E_RANGE);
    ck_assert_int_eq(parse("u16", "-1", &u), RD_E_RANGE);
    ck_assert_int_eq(parse("i64", "-9223372036854775808", &u), RD_OK);
    ck_assert_uint_eq(u, 1ull << 63);
    ck_assert_int_eq(parse("u64", "18446744073709551615", &u), RD_OK);
    ck_assert_int_eq(parse("i32", "1.5", &u), RD_E_FORMAT);
}
END_TEST

START_TEST(floats_round_once)
{
    uint64_t u = 0;
    ck_assert_int_eq(parse("f32", "0.1", &u), RD_OK);
    ck_assert_uint_eq(u, 0x3dcccccd);
    ck_assert_int_eq(parse("f32", "-inf", &u), RD_OK);
    ck_assert_uint_eq(u, 0xff800000);
    ck_assert_int_eq(parse("f32", "1e39", &u), RD_E_RANGE);
    ck_assert_int_eq(parse("f32", "0x1.8p3", &u), RD_OK);
    ck_assert_uint_eq(u, 0x41400000);
    ck_assert_int_eq(parse("f32", " 1", &u), RD_E_FORMAT);
    ck_assert_int_eq(parse("f32", "1x", &u), RD_E_FORMAT);
    ck_assert_int_eq(parse("f16", "-0.25", &u), RD_OK);
    ck_assert_uint_eq(u, 0xb400);
    ck_assert_int_eq(parse("f16", "65519", &u), RD_OK);
    ck_assert_uint_eq(u, 0x7bff);
    ck_assert_int_eq(parse("f16", "65520", &u), RD_E_RANGE);
    ck_assert_int_eq(parse("f64", "1e400", &u), RD_E_RANGE);
}
END_TEST

START_TEST(f16_all_values)
{
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        double value = elem_from_f16((uint16_t)bits);
        if ((bits & 0x7fff) > 0x7c00)
            ck_assert(isnan(value));
        else
            ck_assert_uint_eq(elem_to_f16(value), bits);
    }
    for (unsigned bits = 0; bits < 0x7bff; bits++) {
        double low = elem_from_f16((uint16_t)bits);
        double high = elem_from_f16((uint16_t)(bits + 1));
        double middle = low + (high - low) / 2; /* exact */
        ck_assert_uint_eq(elem_to_f16(middle), bits + (bits & 1));
        ck_assert_uint_eq(elem_to_f16(nextafter(middle, 0)), bits);
        ck_assert_uint_eq(elem_to_f16(nextafter(middle, INFINITY)), bits + 1);
    }
}
END_TEST

START_TEST(generators_fill_whole_elements)
{
    uint8_t bytes[7];
    float f[3];
    memset(bytes, 0xee, sizeof bytes);
    elem_iota(elem_find("u16", 3), bytes, sizeof bytes);
    ck_assert_int_eq(memcmp(bytes, "\0\0\1\0\2\0\xee", 7), 0);
    elem_iota(elem_find("f32", 3), f, sizeof f);
    ck_assert(f[0] == 0 && f[1] == 1 && f[2] == 2);
}
END_TEST

START_TEST(random_repeats_and_stays_in_range)
{
    static const char *const types[] = {"f16", "f32", "f64"};
    uint64_t a[64];
    uint64_t b[64];
    for (unsigned t = 0; t < 3; t++) {
        const struct elem_type *type = elem_find(types[t], 3);
        elem_rand(type, 5, a, sizeof a);
        elem_rand(type, 5, b, sizeof b);
        ck_assert_int_eq(memcmp(a, b, sizeof a), 0);
        elem_rand(type, 6, b, sizeof b);
        ck_assert_int_ne(memcmp(a, b, sizeof a), 0);
    }
    double d[64];
    memcpy(d, a, sizeof d);
    bool negative = false;
    for (unsigned i = 0; i < 64; i++) {
        ck_assert(d[i] >= -1 && d[i] < 1);
        negative |= d[i] < 0;
    }
    ck_assert(negative);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("elem");
    TCase *tcase = tcase_create("elem");
    tcase_add_test(tcase, numbers_whole_or_refused);
    tcase_add_test(tcase, sizes_take_suffixes);
    tcase_add_test(tcase, dims_default_to_one);
    tcase_add_test(tcase, integers_must_fit);
    tcase_add_test(tcase, floats_round_once);
    tcase_add_test(tcase, f16_all_values);
    tcase_add_test(tcase, generators_fill_whole_elements);
    tcase_add_test(tcase, random_repeats_and_stays_in_range);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
