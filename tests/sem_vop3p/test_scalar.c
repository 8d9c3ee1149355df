/* test_scalar.c: scalar functions against bit-by-bit definitions, at every SIMD level.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "levels.h"

typedef __int128 wide;

/* What a definition returns: a value and, unless the instruction leaves it alone, SCC.
 */
struct result {
    uint64_t value;
    bool scc;
};

/* Operands as the instruction sees them; s2 is unused by most. */
struct operands {
    uint64_t s0, s1;
    bool scc;
};

typedef struct result definition(const struct operands *o, unsigned bits);

struct scalar_op {
    const char *name;
    definition *define;
    unsigned bits; /* operand width: 32 or 64 */
    bool keeps_scc, only_scc;
    uint8_t s1_bits; /* width of s1 where it differs */
};

static uint64_t mask_of(unsigned bits)
{
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static int64_t sign_extend(uint64_t v, unsigned bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);
    return (int64_t)(((v & mask_of(bits)) ^ sign) - sign);
}

static struct result nonzero(uint64_t v, unsigned bits)
{
    v &= mask_of(bits);
    return (struct result){v, v != 0};
}

static struct result plain(uint64_t v, unsigned bits)
{
    return (struct result){v & mask_of(bits), false};
}

static struct result only(bool scc)
{
    return (struct result){0, scc};
}

/* ---- logic, by truth table: bit (2 * a + b) of the table is the result */

static uint64_t logic(const struct operands *o, unsigned bits, unsigned table)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < bits; i++) {
        unsigned index = (unsigned)(2 * (o->s0 >> i & 1) + (o->s1 >> i & 1));
        r |= (uint64_t)(table >> index & 1) << i;
    }
    return r;
}

#define LOGIC(name, table)                                                             \
    static struct result name(const struct operands *o, unsigned bits)                 \
    {                                                                                  \
        return nonzero(logic(o, bits, table), bits);                                   \
    }
LOGIC(def_and, 0x8)
LOGIC(def_or, 0xe)
LOGIC(def_xor, 0x6)
LOGIC(def_nand, 0x7)
LOGIC(def_nor, 0x1)
LOGIC(def_xnor, 0x9)
LOGIC(def_and_not1, 0x4)
LOGIC(def_or_not1, 0xd)
LOGIC(def_not, 0x3)

/* ---- arithmetic, in 128 bits */

#define DEFINE(name, ...)                                                              \
    static struct result name(const struct operands *o, unsigned bits)                 \
    {                                                                                  \
        (void)bits, (void)o;                                                           \
        __VA_ARGS__                                                                    \
    }

static wide sx(uint64_t v)
{
    return (int32_t)v;
}

static struct result unsigned_range(wide v)
{
    return (struct result){(uint32_t)v, v < 0 || v > UINT32_MAX};
}

static struct result signed_range(wide v)
{
    return (struct result){(uint32_t)v, v < INT32_MIN || v > INT32_MAX};
}

DEFINE(def_add_u32, return unsigned_range((wide)o->s0 + o->s1);)
DEFINE(def_sub_u32, return unsigned_range((wide)o->s0 - o->s1);)
DEFINE(def_addc, return unsigned_range((wide)o->s0 + o->s1 + o->scc);)
DEFINE(def_subb, return unsigned_range((wide)o->s0 - o->s1 - o->scc);)
DEFINE(def_add_i32, return signed_range(sx(o->s0) + sx(o->s1));)
DEFINE(def_sub_i32, return signed_range(sx(o->s0) - sx(o->s1));)
DEFINE(def_lshl1, return unsigned_range((wide)o->s0 * 2 + o->s1);)
DEFINE(def_lshl2, return unsigned_range((wide)o->s0 * 4 + o->s1);)
DEFINE(def_lshl3, return unsigned_range((wide)o->s0 * 8 + o->s1);)
DEFINE(def_lshl4, return unsigned_range((wide)o->s0 * 16 + o->s1);)
DEFINE(def_mul, return plain((uint64_t)(sx(o->s0) * sx(o->s1)), 32);)
DEFINE(def_mul_hi_u, return plain((uint64_t)((wide)o->s0 * o->s1 >> 32), 32);)
DEFINE(def_mul_hi_i, return plain((uint64_t)(sx(o->s0) * sx(o->s1) >> 32), 32);)
DEFINE(def_absdiff, int32_t d = (int32_t)(uint32_t)(o->s0 - o->s1);
       return nonzero((uint64_t)(d < 0 ? -(int64_t)d : d), 32);)
DEFINE(def_abs, return nonzero((uint64_t)(sx(o->s0) < 0 ? -sx(o->s0) : sx(o->s0)), 32);)
DEFINE(def_min_i, bool f = sx(o->s0) < sx(o->s1);
       return ((struct result){f ? o->s0 : o->s1, f});)
DEFINE(def_max_i, bool f = sx(o->s0) > sx(o->s1);
       return ((struct result){f ? o->s0 : o->s1, f});)
DEFINE(def_min_u, bool f = o->s0 < o->s1;
       return ((struct result){f ? o->s0 : o->s1, f});)
DEFINE(def_max_u, bool f = o->s0 > o->s1;
       return ((struct result){f ? o->s0 : o->s1, f});)

/* ---- shifts and fields */

DEFINE(def_lshl, uint64_t v = o->s0;
       for (uint64_t n = o->s1 % bits; n; n--) v = v * 2 & mask_of(bits);
       return nonzero(v, bits);)
DEFINE(def_lshr, uint64_t v = o->s0; for (uint64_t n = o->s1 % bits; n; n--) v /= 2;
       return nonzero(v, bits);)
DEFINE(def_ashr, uint64_t v = o->s0, top = v & (uint64_t)1 << (bits - 1);
       for (uint64_t n = o->s1 % bits; n; n--) v = v / 2 | top;
       return nonzero(v, bits);)

/* The field's bits one by one; what lies past the register is sign or zero. */
static uint64_t field(const struct operands *o, unsigned bits, bool is_signed)
{
    unsigned offset = (unsigned)(o->s1 % bits), size = o->s1 >> 16 & 127;
    uint64_t r = 0;
    bool bit = false;
    for (unsigned i = 0; i < bits; i++) {
        if (i < size && offset + i < bits)
            bit = o->s0 >> (offset + i) & 1;
        else if (!is_signed)
            bit = false;
        r |= (uint64_t)bit << i;
    }
    return size ? r : 0;
}

DEFINE(def_bfe_u, return nonzero(field(o, bits, false), bits);)
DEFINE(def_bfe_i, return nonzero(field(o, bits, true), bits);)
DEFINE(def_bfm, uint64_t r = 0; unsigned size = (unsigned)(o->s0 % bits);
       unsigned offset = (unsigned)(o->s1 % bits);
       for (unsigned i = 0; i < size && offset + i < bits; i++) r |= (uint64_t)1
                                                                     << (offset + i);
       return plain(r, bits);)
DEFINE(def_pack_ll, return plain((o->s0 & 0xffff) + (o->s1 & 0xffff) * 65536, 32);)
DEFINE(def_pack_lh, return plain((o->s0 & 0xffff) + (o->s1 >> 16) * 65536, 32);)
DEFINE(def_pack_hh, return plain((o->s0 >> 16) + (o->s1 >> 16) * 65536, 32);)
DEFINE(def_pack_hl, return plain((o->s0 >> 16) + (o->s1 & 0xffff) * 65536, 32);)
DEFINE(def_cselect, return plain(o->scc ? o->s0 : o->s1, bits);)

/* ---- one operand; s1 is the old destination where there is one */

DEFINE(def_mov, return plain(o->s0, bits);)
DEFINE(def_brev, uint64_t r = 0;
       for (unsigned i = 0; i < bits; i++) r = r * 2 + (o->s0 >> i & 1);
       return plain(r, bits);)

/* Steps from one end until the bit is not `skip`; -1 at the other end. */
static struct result count(uint64_t v, unsigned bits, bool from_top, bool skip)
{
    for (unsigned i = 0; i < bits; i++)
        if ((v >> (from_top ? bits - 1 - i : i) & 1) != skip)
            return plain(i, 32);
    return plain(UINT64_MAX, 32);
}

DEFINE(def_ctz, return count(o->s0, bits, false, false);)
DEFINE(def_clz, return count(o->s0, bits, true, false);)
DEFINE(def_cls, return count(o->s0, bits, true, o->s0 >> (bits - 1) & 1);)
DEFINE(def_sext8, return plain((uint64_t)sign_extend(o->s0, 8), 32);)
DEFINE(def_sext16, return plain((uint64_t)sign_extend(o->s0, 16), 32);)
DEFINE(def_bitset0, uint64_t bit = (uint64_t)1 << (o->s0 % bits);
       return plain(o->s1 & bit ? o->s1 - bit : o->s1, bits);)
DEFINE(def_bitset1, uint64_t bit = (uint64_t)1 << (o->s0 % bits);
       return plain(o->s1 & bit ? o->s1 : o->s1 + bit, bits);)
DEFINE(def_bitreplicate, uint64_t r = 0;
       for (unsigned i = 0; i < 32; i++) r |= (o->s0 >> i & 1) * ((uint64_t)3 << 2 * i);
       return plain(r, 64);)
DEFINE(def_bcnt1, unsigned n = 0;
       for (unsigned i = 0; i < bits; i++) n += (unsigned)(o->s0 >> i) & 1;
       return nonzero(n, 32);)
DEFINE(def_bcnt0, unsigned n = 0;
       for (unsigned i = 0; i < bits; i++) n += !(o->s0 >> i & 1);
       return nonzero(n, 32);)
DEFINE(def_quadmask, uint64_t r = 0; for (unsigned i = 0; i < bits / 4; i++) r |=
                                     (uint64_t)((o->s0 >> 4 * i & 15) != 0) << i;
       return nonzero(r, bits);)
DEFINE(def_wqm, uint64_t r = 0; for (unsigned i = 0; i < bits; i++) r |=
                                (uint64_t)((o->s0 >> (i & 60) & 15) != 0) << i;
       return nonzero(r, bits);)

/* ---- compares */

DEFINE(def_eq, return only(o->s0 == o->s1);)
DEFINE(def_lg, return only(o->s0 != o->s1);)
DEFINE(def_gt_i, return only(sx(o->s0) > sx(o->s1));)
DEFINE(def_ge_i, return only(sx(o->s0) >= sx(o->s1));)
DEFINE(def_lt_i, return only(sx(o->s0) < sx(o->s1));)
DEFINE(def_le_i, return only(sx(o->s0) <= sx(o->s1));)
DEFINE(def_gt_u, return only(o->s0 > o->s1);)
DEFINE(def_ge_u, return only(o->s0 >= o->s1);)
DEFINE(def_lt_u, return only(o->s0 < o->s1);)
DEFINE(def_le_u, return only(o->s0 <= o->s1);)
DEFINE(def_bitcmp0, return only(!(o->s0 >> o->s1 % bits & 1));)
DEFINE(def_bitcmp1, return only(o->s0 >> o->s1 % bits & 1);)

/* SOPK: s0 is the constant, s1 the old destination. */
DEFINE(def_addk, return signed_range(sx(o->s0) + sx(o->s1));)

/* clang-format off */
static const struct scalar_op ops[] = {
    {"s_mov_b32", def_mov, 32, 1, 0, 0}, {"s_mov_b64", def_mov, 64, 1, 0, 0},
    {"s_cmov_b32", def_cselect, 32, 1, 0, 0}, {"s_cmov_b64", def_cselect, 64, 1, 0, 0},
    {"s_brev_b32", def_brev, 32, 1, 0, 0}, {"s_brev_b64", def_brev, 64, 1, 0, 0},
    {"s_ctz_i32_b32", def_ctz, 32, 1, 0, 0}, {"s_ctz_i32_b64", def_ctz, 64, 1, 0, 0},
    {"s_clz_i32_u32", def_clz, 32, 1, 0, 0}, {"s_clz_i32_u64", def_clz, 64, 1, 0, 0},
    {"s_cls_i32", def_cls, 32, 1, 0, 0}, {"s_cls_i32_i64", def_cls, 64, 1, 0, 0},
    {"s_sext_i32_i8", def_sext8, 32, 1, 0, 0}, {"s_sext_i32_i16", def_sext16, 32, 1, 0, 0},
    {"s_bitset0_b32", def_bitset0, 32, 1, 0, 0}, {"s_bitset0_b64", def_bitset0, 64, 1, 0, 0},
    {"s_bitset1_b32", def_bitset1, 32, 1, 0, 0}, {"s_bitset1_b64", def_bitset1, 64, 1, 0, 0},
    {"s_bitreplicate_b64_b32", def_bitreplicate, 32, 1, 0, 0},
    {"s_abs_i32", def_abs, 32, 0, 0, 0},
    {"s_bcnt0_i32_b32", def_bcnt0, 32, 0, 0, 0}, {"s_bcnt0_i32_b64", def_bcnt0, 64, 0, 0, 0},
    {"s_bcnt1_i32_b32", def_bcnt1, 32, 0, 0, 0}, {"s_bcnt1_i32_b64", def_bcnt1, 64, 0, 0, 0},
    {"s_quadmask_b32", def_quadmask, 32, 0, 0, 0}, {"s_quadmask_b64", def_quadmask, 64, 0, 0, 0},
    {"s_wqm_b32", def_wqm, 32, 0, 0, 0}, {"s_wqm_b64", def_wqm, 64, 0, 0, 0},
    {"s_not_b32", def_not, 32, 0, 0, 0}, {"s_not_b64", def_not, 64, 0, 0, 0},
    {"s_add_u32", def_add_u32, 32, 0, 0, 0}, {"s_sub_u32", def_sub_u32, 32, 0, 0, 0},
    {"s_add_i32", def_add_i32, 32, 0, 0, 0}, {"s_sub_i32", def_sub_i32, 32, 0, 0, 0},
    {"s_addc_u32", def_addc, 32, 0, 0, 0}, {"s_subb_u32", def_subb, 32, 0, 0, 0},
    {"s_absdiff_i32", def_absdiff, 32, 0, 0, 0},
    {"s_lshl_b32", def_lshl, 32, 0, 0, 0}, {"s_lshl_b64", def_lshl, 64, 0, 0, 32},
    {"s_lshr_b32", def_lshr, 32, 0, 0, 0}, {"s_lshr_b64", def_lshr, 64, 0, 0, 32},
    {"s_ashr_i32", def_ashr, 32, 0, 0, 0}, {"s_ashr_i64", def_ashr, 64, 0, 0, 32},
    {"s_lshl1_add_u32", def_lshl1, 32, 0, 0, 0}, {"s_lshl2_add_u32", def_lshl2, 32, 0, 0, 0},
    {"s_lshl3_add_u32", def_lshl3, 32, 0, 0, 0}, {"s_lshl4_add_u32", def_lshl4, 32, 0, 0, 0},
    {"s_min_i32", def_min_i, 32, 0, 0, 0}, {"s_min_u32", def_min_u, 32, 0, 0, 0},
    {"s_max_i32", def_max_i, 32, 0, 0, 0}, {"s_max_u32", def_max_u, 32, 0, 0, 0},
    {"s_and_b32", def_and, 32, 0, 0, 0}, {"s_and_b64", def_and, 64, 0, 0, 0},
    {"s_or_b32", def_or, 32, 0, 0, 0}, {"s_or_b64", def_or, 64, 0, 0, 0},
    {"s_xor_b32", def_xor, 32, 0, 0, 0}, {"s_xor_b64", def_xor, 64, 0, 0, 0},
    {"s_nand_b32", def_nand, 32, 0, 0, 0}, {"s_nand_b64", def_nand, 64, 0, 0, 0},
    {"s_nor_b32", def_nor, 32, 0, 0, 0}, {"s_nor_b64", def_nor, 64, 0, 0, 0},
    {"s_xnor_b32", def_xnor, 32, 0, 0, 0}, {"s_xnor_b64", def_xnor, 64, 0, 0, 0},
    {"s_and_not1_b32", def_and_not1, 32, 0, 0, 0}, {"s_and_not1_b64", def_and_not1, 64, 0, 0, 0},
    {"s_or_not1_b32", def_or_not1, 32, 0, 0, 0}, {"s_or_not1_b64", def_or_not1, 64, 0, 0, 0},
    {"s_bfe_u32", def_bfe_u, 32, 0, 0, 0}, {"s_bfe_i32", def_bfe_i, 32, 0, 0, 0},
    {"s_bfe_u64", def_bfe_u, 64, 0, 0, 32}, {"s_bfe_i64", def_bfe_i, 64, 0, 0, 32},
    {"s_bfm_b32", def_bfm, 32, 1, 0, 0}, {"s_bfm_b64", def_bfm, 64, 1, 0, 0},
    {"s_mul_i32", def_mul, 32, 1, 0, 0}, {"s_mul_hi_u32", def_mul_hi_u, 32, 1, 0, 0},
    {"s_mul_hi_i32", def_mul_hi_i, 32, 1, 0, 0},
    {"s_cselect_b32", def_cselect, 32, 1, 0, 0}, {"s_cselect_b64", def_cselect, 64, 1, 0, 0},
    {"s_pack_ll_b32_b16", def_pack_ll, 32, 1, 0, 0}, {"s_pack_lh_b32_b16", def_pack_lh, 32, 1, 0, 0},
    {"s_pack_hh_b32_b16", def_pack_hh, 32, 1, 0, 0}, {"s_pack_hl_b32_b16", def_pack_hl, 32, 1, 0, 0},
    {"s_cmp_eq_i32", def_eq, 32, 0, 1, 0}, {"s_cmp_lg_i32", def_lg, 32, 0, 1, 0},
    {"s_cmp_gt_i32", def_gt_i, 32, 0, 1, 0}, {"s_cmp_ge_i32", def_ge_i, 32, 0, 1, 0},
    {"s_cmp_lt_i32", def_lt_i, 32, 0, 1, 0}, {"s_cmp_le_i32", def_le_i, 32, 0, 1, 0},
    {"s_cmp_eq_u32", def_eq, 32, 0, 1, 0}, {"s_cmp_lg_u32", def_lg, 32, 0, 1, 0},
    {"s_cmp_gt_u32", def_gt_u, 32, 0, 1, 0}, {"s_cmp_ge_u32", def_ge_u, 32, 0, 1, 0},
    {"s_cmp_lt_u32", def_lt_u, 32, 0, 1, 0}, {"s_cmp_le_u32", def_le_u, 32, 0, 1, 0},
    {"s_cmp_eq_u64", def_eq, 64, 0, 1, 0}, {"s_cmp_lg_u64", def_lg, 64, 0, 1, 0},
    {"s_bitcmp0_b32", def_bitcmp0, 32, 0, 1, 0}, {"s_bitcmp1_b32", def_bitcmp1, 32, 0, 1, 0},
    {"s_bitcmp0_b64", def_bitcmp0, 64, 0, 1, 32}, {"s_bitcmp1_b64", def_bitcmp1, 64, 0, 1, 32},
    {"s_movk_i32", def_mov, 32, 1, 0, 0}, {"s_cmovk_i32", def_cselect, 32, 1, 0, 0},
    {"s_cmpk_eq_i32", def_eq, 32, 0, 1, 0}, {"s_cmpk_lg_i32", def_lg, 32, 0, 1, 0},
    {"s_cmpk_gt_i32", def_gt_i, 32, 0, 1, 0}, {"s_cmpk_ge_i32", def_ge_i, 32, 0, 1, 0},
    {"s_cmpk_lt_i32", def_lt_i, 32, 0, 1, 0}, {"s_cmpk_le_i32", def_le_i, 32, 0, 1, 0},
    {"s_cmpk_eq_u32", def_eq, 32, 0, 1, 0}, {"s_cmpk_lg_u32", def_lg, 32, 0, 1, 0},
    {"s_cmpk_gt_u32", def_gt_u, 32, 0, 1, 0}, {"s_cmpk_ge_u32", def_ge_u, 32, 0, 1, 0},
    {"s_cmpk_lt_u32", def_lt_u, 32, 0, 1, 0}, {"s_cmpk_le_u32", def_le_u, 32, 0, 1, 0},
    {"s_addk_i32", def_addk, 32, 0, 0, 0}, {"s_mulk_i32", def_mul, 32, 1, 0, 0},
};
/* clang-format on */

static uint64_t random_scalar(uint64_t *seed, unsigned bits)
{
    static const uint64_t special[] = {0,
                                       1,
                                       31,
                                       32,
                                       33,
                                       63,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       0x00200000,
                                       0x0020001f,
                                       0x00400010,
                                       0x80000000ffffffffu,
                                       0x8000000000000000u,
                                       0x7fffffffffffffffu,
                                       0xffffffffffffffffu};
    uint64_t r = random_bits(seed), v = random_bits(seed);
    if (r & 1)
        v = special[r >> 1 & 15];
    else if (r & 2)
        v &= 0x007f003f; /* bit fields */
    return v & mask_of(bits);
}

static void check_scalar(const struct scalar_op *op, enum level level, uint64_t *seed)
{
    struct operands o = {random_scalar(seed, op->bits),
                         random_scalar(seed, op->s1_bits ? op->s1_bits : op->bits),
                         random_bits(seed) & 1};
    if (random_bits(seed) % 8 == 0)
        o.s1 = o.s0 & mask_of(op->s1_bits ? op->s1_bits : op->bits);
    const struct sem_entry *e = level_entry(level, op->name);
    struct result want = op->define(&o, op->bits);
    bool scc = o.scc;
    uint64_t got = e->fn.scalar(o.s0, o.s1, 0, &scc);
    bool want_scc = op->keeps_scc ? o.scc : want.scc;
    ck_assert_msg((op->only_scc || got == want.value) && scc == want_scc,
                  "%s(%#jx, %#jx, %d) = %#jx, %d, not %#jx, %d", op->name,
                  (uintmax_t)o.s0, (uintmax_t)o.s1, o.scc, (uintmax_t)got, scc,
                  (uintmax_t)want.value, want_scc);
}

START_TEST(scalars_match)
{
    for (enum level level = 0; level < LEVEL_COUNT; level++) {
        uint64_t seed = 9;
        for (unsigned i = 0; i < 2000 && level_runs(level); i++)
            check_scalar(&ops[_i], level, &seed);
    }
}
END_TEST

/* Every scalar function is in the table above. */
START_TEST(table_is_complete)
{
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
        ck_assert_int_eq(level_entry(LEVEL_GENERIC, ops[i].name)->kind, SEM_SCALAR);
    ck_assert_uint_eq(level_count(SEM_SCALAR), sizeof ops / sizeof *ops);
}
END_TEST

/* The manual's own examples. */
START_TEST(manual_examples)
{
    static const struct {
        const char *name;
        uint32_t s0, s1, want;
    } examples[] = {
        {"s_absdiff_i32", 0x00000002, 0x00000005, 0x00000003},
        {"s_absdiff_i32", 0xffffffff, 0x00000000, 0x00000001},
        {"s_absdiff_i32", 0x80000000, 0x00000000, 0x80000000},
        {"s_absdiff_i32", 0x80000000, 0x00000001, 0x7fffffff},
        {"s_absdiff_i32", 0x80000000, 0xffffffff, 0x7fffffff},
        {"s_absdiff_i32", 0x80000000, 0xfffffffe, 0x7ffffffe},
        {"s_ctz_i32_b32", 0xaaaaaaaa, 0, 1},
        {"s_ctz_i32_b32", 0x00000000, 0, 0xffffffff},
        {"s_clz_i32_u32", 0x0000cccc, 0, 16},
        {"s_cls_i32", 0x0000cccc, 0, 16},
        {"s_cls_i32", 0xffff3333, 0, 16},
        {"s_cls_i32", 0x7fffffff, 0, 1},
        {"s_cls_i32", 0xffffffff, 0, 0xffffffff},
        {"s_abs_i32", 0x80000000, 0, 0x80000000},
        {"s_abs_i32", 0x80000001, 0, 0x7fffffff},
        {"s_bcnt0_i32_b32", 0xcccccccc, 0, 16},
        {"s_bcnt1_i32_b32", 0xffffffff, 0, 32},
    };
    for (unsigned i = 0; i < sizeof examples / sizeof *examples; i++) {
        bool scc = false;
        uint64_t got = level_entry(LEVEL_GENERIC, examples[i].name)
                           ->fn.scalar(examples[i].s0, examples[i].s1, 0, &scc);
        ck_assert_uint_eq(got, examples[i].want);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scalar");
    TCase *tc = tcase_create("scalar");
    tcase_add_loop_test(tc, scalars_match, 0, sizeof ops / sizeof *ops);
    tcase_add_test(tc, table_is_complete);
    tcase_add_test(tc, manual_examples);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
