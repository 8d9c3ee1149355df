/* test_int.c: integer vector operations against plain formulations in wide integers,
 * on special and random operands.
 * SPDX-License-Identifier: MIT
 */
#include "valu.h"

typedef __int128 wide;

/* Both results of one operation: the exact value and how many bits it is kept in. */
struct want {
    wide exact;
    unsigned bits;
    bool is_signed;
};

static wide s64(uint64_t v, unsigned bits)
{
    return (wide)((int64_t)(v << (64 - bits)) >> (64 - bits));
}
static wide u64(uint64_t v, unsigned bits)
{
    return (wide)(v << (64 - bits) >> (64 - bits));
}

static wide byte_sad(uint64_t a, uint64_t b, bool masked)
{
    wide sum = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        int x = (int)(a >> i & 255), y = (int)(b >> i & 255);
        sum += masked && !y ? 0 : x > y ? x - y : y - x;
    }
    return sum;
}

/* clang-format off */
#define SATURATING(X)                                                                  \
    X(v_add_nc_u32, 32, false, u64(a, 32) + u64(b, 32))                                \
    X(v_sub_nc_u32, 32, false, u64(a, 32) - u64(b, 32))                                \
    X(v_subrev_nc_u32, 32, false, u64(b, 32) - u64(a, 32))                             \
    X(v_add_nc_i32, 32, true, s64(a, 32) + s64(b, 32))                                 \
    X(v_sub_nc_i32, 32, true, s64(a, 32) - s64(b, 32))                                 \
    X(v_add_nc_u16, 16, false, u64(a, 16) + u64(b, 16))                                \
    X(v_sub_nc_u16, 16, false, u64(a, 16) - u64(b, 16))                                \
    X(v_add_nc_i16, 16, true, s64(a, 16) + s64(b, 16))                                 \
    X(v_sub_nc_i16, 16, true, s64(a, 16) - s64(b, 16))                                 \
    X(v_mul_lo_u16, 16, false, u64(a, 16) * u64(b, 16))                                \
    X(v_mad_u16, 16, false, u64(a, 16) * u64(b, 16) + u64(c, 16))                      \
    X(v_mad_i16, 16, true, s64(a, 16) * s64(b, 16) + s64(c, 16))                       \
    X(v_mad_u32_u16, 32, false, u64(a, 16) * u64(b, 16) + u64(c, 32))                  \
    X(v_mad_i32_i16, 32, true, s64(a, 16) * s64(b, 16) + s64(c, 32))                   \
    X(v_mul_u32_u24, 32, false, u64(a, 24) * u64(b, 24))                               \
    X(v_mul_i32_i24, 32, true, s64(a, 24) * s64(b, 24))                                \
    X(v_mad_u32_u24, 32, false, u64(a, 24) * u64(b, 24) + u64(c, 32))                  \
    X(v_mad_i32_i24, 32, true, s64(a, 24) * s64(b, 24) + s64(c, 32))                   \
    X(v_mad_u64_u32, 64, false, u64(a, 32) * u64(b, 32) + u64(c, 64))                  \
    X(v_mad_i64_i32, 64, true, s64(a, 32) * s64(b, 32) + s64(c, 64))                   \
    X(v_sad_u8, 32, false, byte_sad(a, b, false) + u64(c, 32))                         \
    X(v_sad_hi_u8, 32, false, (byte_sad(a, b, false) << 16) + u64(c, 32))              \
    X(v_msad_u8, 32, false, byte_sad(a, b, true) + u64(c, 32))                         \
    X(v_sad_u32, 32, false, (a > b ? a - b : b - a) + u64(c, 32))
#define WRAPPING(X)                                                                    \
    X(v_mul_hi_u32_u24, 32, false, u64(a, 24) * u64(b, 24) >> 32)                      \
    X(v_mul_hi_i32_i24, 32, true, s64(a, 24) * s64(b, 24) >> 32)                       \
    X(v_mul_lo_u32, 32, false, u64(a, 32) * u64(b, 32))                                \
    X(v_mul_hi_u32, 32, false, u64(a, 32) * u64(b, 32) >> 32)                          \
    X(v_mul_hi_i32, 32, true, s64(a, 32) * s64(b, 32) >> 32)                           \
    X(v_add3_u32, 32, false, u64(a, 32) + u64(b, 32) + u64(c, 32))                     \
    X(v_lshl_add_u32, 32, false, (u64(a, 32) << (b & 31)) + u64(c, 32))                \
    X(v_add_lshl_u32, 32, false, (u64(a, 32) + u64(b, 32)) << (c & 31))                \
    X(v_xad_u32, 32, false, u64(a ^ b, 32) + u64(c, 32))                               \
    X(v_bfe_u32, 32, false, u64(a, 32) >> (b & 31) & (((wide)1 << (c & 31)) - 1))      \
    X(v_bfe_i32, 32, true, (c & 31) ? s64((uint64_t)(s64(a, 32) >> (b & 31)),          \
                                         c & 31) : 0)                                  \
    X(v_bfi_b32, 32, false, (a & b) | (~a & c))                                        \
    X(v_bfm_b32, 32, false, (((wide)1 << (a & 31)) - 1) << (b & 31))                   \
    X(v_bcnt_u32_b32, 32, false, __builtin_popcountll(a) + u64(b, 32))                 \
    X(v_alignbit_b32, 32, false, ((wide)a << 32 | b) >> (c & 31))                      \
    X(v_alignbyte_b32, 32, false, ((wide)a << 32 | b) >> 8 * (c & 3))                  \
    X(v_lshlrev_b32, 32, false, (wide)b << (a & 31))                                   \
    X(v_lshrrev_b32, 32, false, b >> (a & 31))                                         \
    X(v_ashrrev_i32, 32, true, s64(b, 32) >> (a & 31))                                 \
    X(v_lshlrev_b16, 16, false, (wide)b << (a & 15))                                   \
    X(v_lshrrev_b16, 16, false, b >> (a & 15))                                         \
    X(v_ashrrev_i16, 16, true, s64(b, 16) >> (a & 15))                                 \
    X(v_lshlrev_b64, 64, false, (wide)b << (a & 63))                                   \
    X(v_lshrrev_b64, 64, false, b >> (a & 63))                                         \
    X(v_ashrrev_i64, 64, true, s64(b, 64) >> (a & 63))                                 \
    X(v_xnor_b32, 32, false, ~(a ^ b))                                                 \
    X(v_xor3_b32, 32, false, a ^ b ^ c)                                                \
    X(v_and_or_b32, 32, false, (a & b) | c)                                            \
    X(v_lshl_or_b32, 32, false, (wide)a << (b & 31) | c)                               \
    X(v_or3_b32, 32, false, a | b | c)
/* clang-format on */

#define WANT(name, bits, is_signed, exact)                                             \
    static struct want want_##name(uint64_t a, uint64_t b, uint64_t c)                 \
    {                                                                                  \
        (void)a, (void)b, (void)c;                                                     \
        return (struct want){(wide)(exact), bits, is_signed};                          \
    }
SATURATING(WANT)
WRAPPING(WANT)

static const struct {
    const char *name;
    struct want (*want)(uint64_t a, uint64_t b, uint64_t c);
    bool saturates;
} ops[] = {
#define ROW_SAT(name, ...)  {#name, want_##name, true},
#define ROW_WRAP(name, ...) {#name, want_##name, false},
    SATURATING(ROW_SAT) WRAPPING(ROW_WRAP)};

static uint64_t kept(struct want w, bool clamp)
{
    wide low = w.is_signed ? -((wide)1 << (w.bits - 1)) : 0;
    wide high = ((wide)1 << (w.bits - (w.is_signed ? 1 : 0))) - 1, v = w.exact;
    if (clamp)
        v = v < low ? low : v > high ? high : v;
    return (uint64_t)v << (64 - w.bits) >> (64 - w.bits);
}

static void check_op(size_t n, bool clamp)
{
    const struct sem_entry *e = valu_find(LEVEL_GENERIC, ops[n].name);
    struct lane_mode m = level_mode();
    uint64_t state = n;
    m.clamp = clamp;
    for (unsigned round = 0; round < 50; round++) {
        struct lanes l = {0};
        for (unsigned i = 0; i < 32 * e->n_args; i++)
            l.s[i / 32][i % 32] = random_value(&state, e->args[i / 32]);
        valu_run(e, &m, &l);
        for (unsigned i = 0; i < 32; i++) {
            struct want w = ops[n].want(l.s[0][i], l.s[1][i], l.s[2][i]);
            if (l.value[i] << (64 - w.bits) >> (64 - w.bits) !=
                kept(w, clamp && ops[n].saturates))
                ck_abort_msg(
                    "%s(%llx, %llx, %llx) = %llx", e->name,
                    (unsigned long long)l.s[0][i], (unsigned long long)l.s[1][i],
                    (unsigned long long)l.s[2][i], (unsigned long long)l.value[i]);
        }
    }
}

START_TEST(exact_then_wrapped)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        check_op(i, false);
}
END_TEST

START_TEST(exact_then_saturated)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        check_op(i, true);
}
END_TEST

START_TEST(carries)
{
    static const char *const names[] = {"v_add_co_ci_u32", "v_sub_co_ci_u32",
                                        "v_subrev_co_ci_u32"};
    struct lane_mode m = level_mode();
    uint64_t state = 7;
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t a = random_value(&state, SEM_T_U32),
                 b = random_value(&state, SEM_T_U32);
        uint64_t cin = random_bits(&state) & 1;
        const char *name = names[i % 3];
        wide x = (wide)(i % 3 == 2 ? b : a), y = (wide)(i % 3 == 2 ? a : b);
        wide exact = i % 3 ? x - y - (wide)cin : x + y + (wide)cin;
        ck_assert_uint_eq(valu1(name, &m, a, b, cin), (uint32_t)exact);
        ck_assert_int_eq(valu1_mask(name, &m, a, b, cin), exact < 0 || exact >> 32);
    }
    /* bit 64 of the sums */
    ck_assert(valu1_mask("v_mad_u64_u32", &m, 1, 1, UINT64_MAX));
    ck_assert(!valu1_mask("v_mad_u64_u32", &m, 1, 1, UINT64_MAX - 1));
    ck_assert(valu1_mask("v_mad_i64_i32", &m, 1, 0xffffffff, 0));
    ck_assert(!valu1_mask("v_mad_i64_i32", &m, 1, 1, INT64_MAX));
}
END_TEST

static uint64_t perm(uint64_t a, uint64_t b, uint64_t sel)
{
    uint64_t data = a << 32 | b, r = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        unsigned s = (unsigned)(sel >> i & 255), byte;
        if (s < 8)
            byte = (unsigned)(data >> 8 * s & 255);
        else if (s < 12)
            byte = data >> (16 * (s - 8) + 15) & 1 ? 255 : 0;
        else
            byte = s == 12 ? 0 : 255;
        r |= (uint64_t)byte << i;
    }
    return r;
}

START_TEST(bytes_and_bits)
{
    struct lane_mode m = level_mode();
    uint64_t state = 3;
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t a = random_bits(&state) >> 32, b = random_bits(&state) >> 32;
        uint64_t c = random_bits(&state) & 0x0f0f0f0f, lerp = 0, rev = 0;
        if (i & 1)
            c = random_bits(&state) >> 32;
        ck_assert_uint_eq(valu1("v_perm_b32", &m, a, b, c), perm(a, b, c));
        for (unsigned j = 0; j < 32; j += 8)
            lerp |= ((a >> j & 255) + (b >> j & 255) + (c >> j & 1)) >> 1 << j;
        ck_assert_uint_eq(valu1("v_lerp_u8", &m, a, b, c), lerp);
        for (unsigned j = 0; j < 32; j++)
            rev |= (a >> j & 1) << (31 - j);
        ck_assert_uint_eq(valu1("v_bfrev_b32", &m, a, 0, 0), rev);
        uint64_t d = random_bits(&state), s = random_bits(&state), q = 0, mq = 0;
        for (unsigned j = 0; j < 4; j++) {
            uint64_t acc = d >> 16 * j & 0xffff;
            q |= (uint64_t)(byte_sad(s >> 8 * j, b, false) + acc) % 65536 << 16 * j;
            mq |= (uint64_t)(byte_sad(s >> 8 * j, b, true) + acc) % 65536 << 16 * j;
        }
        ck_assert_uint_eq(valu1("v_qsad_pk_u16_u8", &m, s, b, d), q);
        ck_assert_uint_eq(valu1("v_mqsad_pk_u16_u8", &m, s, b, d), mq);
    }
}
END_TEST

START_TEST(orders)
{
    struct lane_mode m = level_mode();
    uint64_t state = 5;
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t v[3];
        for (unsigned j = 0; j < 3; j++)
            v[j] = (uint32_t)random_value(&state, SEM_T_U32);
        int32_t a = (int32_t)v[0], b = (int32_t)v[1], c = (int32_t)v[2];
        bool a_mid = (b <= a && a <= c) || (c <= a && a <= b);
        bool b_mid = (a <= b && b <= c) || (c <= b && b <= a);
        int32_t mid = a_mid ? a : b_mid ? b : c;
        ck_assert_uint_eq(valu1("v_med3_i32", &m, v[0], v[1], v[2]), (uint32_t)mid);
        bool ua = (v[1] <= v[0] && v[0] <= v[2]) || (v[2] <= v[0] && v[0] <= v[1]);
        bool ub = (v[0] <= v[1] && v[1] <= v[2]) || (v[2] <= v[1] && v[1] <= v[0]);
        ck_assert_uint_eq(valu1("v_med3_u32", &m, v[0], v[1], v[2]), ua   ? v[0]
                                                                     : ub ? v[1]
                                                                          : v[2]);
        int32_t hi = a > b ? a : b, lo = a > b ? b : a;
        ck_assert_uint_eq(valu1("v_maxmin_i32", &m, v[0], v[1], v[2]),
                          (uint32_t)(hi < c ? hi : c));
        ck_assert_uint_eq(valu1("v_minmax_i32", &m, v[0], v[1], v[2]),
                          (uint32_t)(lo > c ? lo : c));
        ck_assert(valu1_mask("v_cmp_lt_i32", &m, v[0], v[1], 0) == (a < b));
        ck_assert(valu1_mask("v_cmp_ge_u32", &m, v[0], v[1], 0) == (v[0] >= v[1]));
        ck_assert(valu1_mask("v_cmp_t_u32", &m, v[0], v[1], 0));
        ck_assert(!valu1_mask("v_cmp_f_i64", &m, v[0], v[1], 0));
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, exact_then_wrapped);
    tcase_add_test(tc, exact_then_saturated);
    tcase_add_test(tc, carries);
    tcase_add_test(tc, bytes_and_bits);
    tcase_add_test(tc, orders);
}

int main(void)
{
    return valu_main("valu_int", add);
}
