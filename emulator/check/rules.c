/* rules.c: what an instruction makes of undefined bits, one lane at a time: a rule for
 * each opcode (rules.def), and what the rules are.
 *
 * Sources are in the order of the encoding; what is read and written is the last.
 * Must not know where operands come from. SPDX-License-Identifier: MIT
 */
#include "rules.h"

#include <stddef.h>
#include <string.h>

#include "isa.h"

static const struct rule_entry entries[] = {
#define X(op, rule, bits) [ISA_##op] = {RULE_##rule, bits},
#include "rules.def"
#undef X
};

struct rule_entry rule_of(unsigned op)
{
    struct rule_entry any = {RULE_ANY, 32};
    return op < sizeof entries / sizeof *entries && entries[op].bits ? entries[op]
                                                                     : any;
}

static const struct bits zero;

/* Nothing is known but whether it is defined at all. */
static struct bits whole(bool undefined, unsigned n)
{
    return bits_all(0, undefined, n);
}

static bool any_undefined(const struct rule_in *in)
{
    uint64_t u = in->c.u | in->old.u | in->rest;
    for (unsigned i = 0; i < in->n; i++)
        u |= in->s[i].u;
    return u != 0;
}

/* ---- groups of rules; each returns false if the rule is none of its own ---- */

static bool logic(unsigned rule, unsigned n, const struct bits *s, struct bits *d)
{
    switch (rule) {
    case RULE_AND:
        *d = bits_and(s[0], s[1]);
        return true;
    case RULE_OR:
        *d = bits_or(s[0], s[1]);
        return true;
    case RULE_XOR:
        *d = bits_xor(s[0], s[1]);
        return true;
    case RULE_NAND:
        *d = bits_not(bits_and(s[0], s[1]), n);
        return true;
    case RULE_NOR:
        *d = bits_not(bits_or(s[0], s[1]), n);
        return true;
    case RULE_XNOR:
        *d = bits_not(bits_xor(s[0], s[1]), n);
        return true;
    case RULE_AND_NOT1:
        *d = bits_and(s[0], bits_not(s[1], n));
        return true;
    case RULE_OR_NOT1:
        *d = bits_or(s[0], bits_not(s[1], n));
        return true;
    case RULE_NOT:
        *d = bits_not(s[0], n);
        return true;
    case RULE_XOR3:
        *d = bits_xor(bits_xor(s[0], s[1]), s[2]);
        return true;
    case RULE_OR3:
        *d = bits_or(bits_or(s[0], s[1]), s[2]);
        return true;
    case RULE_AND_OR:
        *d = bits_or(bits_and(s[0], s[1]), s[2]);
        return true;
    case RULE_BFI:
        *d = bits_blend(s[0], s[1], s[2]);
        return true;
    default:
        return false;
    }
}

static bool shifts(unsigned rule, unsigned n, const struct bits *s, struct bits *d)
{
    bool reversed = rule == RULE_SHLREV || rule == RULE_SHRREV || rule == RULE_SARREV;
    struct bits a = s[reversed], by = s[!reversed];
    switch (rule) {
    case RULE_SHL:
    case RULE_SHLREV:
        *d = bits_shift(a, by, BITS_LEFT, n);
        return true;
    case RULE_SHR:
    case RULE_SHRREV:
        *d = bits_shift(a, by, BITS_RIGHT, n);
        return true;
    case RULE_SAR:
    case RULE_SARREV:
        *d = bits_shift(a, by, BITS_SIGNED, n);
        return true;
    case RULE_SHL_OR:
        *d = bits_or(bits_shift(a, by, BITS_LEFT, n), s[2]);
        return true;
    case RULE_SHL_ADD:
        *d = bits_add(bits_shift(a, by, BITS_LEFT, n), s[2], zero, n, NULL);
        return true;
    case RULE_ADD_SHL:
        *d = bits_shift(bits_add(a, by, zero, n, NULL), s[2], BITS_LEFT, n);
        return true;
    default:
        return false;
    }
}

/* Bits of S0 and S1 side by side, from a place on. */
static struct bits aligned(const struct bits *s, unsigned by, bool undefined)
{
    uint64_t v = s[0].v << 32 | s[1].v, u = s[0].u << 32 | s[1].u;
    if (undefined)
        return whole(v | u, 32);
    return bits_cut((struct bits){v >> by, u >> by}, 32);
}

/* One byte of V_PERM_B32: see its semantics. */
static struct bits permuted_byte(const struct bits *s, unsigned i)
{
    uint64_t v = s[0].v << 32 | s[1].v, u = s[0].u << 32 | s[1].u;
    unsigned sel = (unsigned)(s[2].v >> 8 * i) & 255u;
    unsigned sign = 16 * (sel & 3) + 15, byte = 8 * (sel & 7);
    if (s[2].u >> 8 * i & 255u)
        return whole(true, 8);
    if (sel < 8)
        return bits_cut((struct bits){v >> byte, u >> byte}, 8);
    if (sel < 12)
        return (struct bits){v >> sign & 1 ? 255 : 0, u >> sign & 1 ? 255 : 0};
    return bits_of(sel == 12 ? 0 : 255);
}

static struct bits permuted(const struct bits *s)
{
    struct bits d = zero;
    for (unsigned i = 0; i < 4; i++) {
        struct bits b = permuted_byte(s, i);
        d.v |= b.v << 8 * i;
        d.u |= b.u << 8 * i;
    }
    return d;
}

static struct bits packed(struct bits low, unsigned low_at, struct bits high,
                          unsigned high_at)
{
    return (struct bits){
        (low.v >> low_at & 0xffffu) | (high.v >> high_at & 0xffffu) << 16,
        (low.u >> low_at & 0xffffu) | (high.u >> high_at & 0xffffu) << 16};
}

static struct bits replicated(struct bits a)
{
    struct bits d = zero;
    for (unsigned i = 0; i < 32; i++) {
        d.v |= (a.v >> i & 1) * UINT64_C(3) << 2 * i;
        d.u |= (a.u >> i & 1) * UINT64_C(3) << 2 * i;
    }
    return d;
}

static bool places(unsigned rule, unsigned n, const struct bits *s, struct bits *d)
{
    switch (rule) {
    case RULE_MOVE:
        *d = bits_cut(s[0], n);
        return true;
    case RULE_REVERSE:
        *d = (struct bits){bits_reversed(s[0].v, n), bits_reversed(s[0].u, n)};
        return true;
    case RULE_SEXT:
        *d = bits_cut(bits_signed(bits_cut(s[0], n), n), 32);
        return true;
    case RULE_REPLICATE:
        *d = replicated(s[0]);
        return true;
    case RULE_PACK_LL:
        *d = packed(s[0], 0, s[1], 0);
        return true;
    case RULE_PACK_LH:
        *d = packed(s[0], 0, s[1], 16);
        return true;
    case RULE_PACK_HH:
        *d = packed(s[0], 16, s[1], 16);
        return true;
    case RULE_PACK_HL:
        *d = packed(s[0], 16, s[1], 0);
        return true;
    case RULE_ALIGNBIT:
        *d = aligned(s, (unsigned)s[2].v & 31u, s[2].u & 31u);
        return true;
    case RULE_ALIGNBYTE:
        *d = aligned(s, 8 * ((unsigned)s[2].v & 3u), s[2].u & 3u);
        return true;
    case RULE_PERM:
        *d = permuted(s);
        return true;
    case RULE_HALVES: /* converted one by one */
        *d = (struct bits){0, (s[0].u ? 0xffffu : 0) | (s[1].u ? 0xffff0000u : 0)};
        return true;
    default:
        return false;
    }
}

/* offset, width: undefined if they are not known. */
static struct bits field(struct bits a, struct bits offset, struct bits width,
                         bool is_signed, unsigned n)
{
    if (!bits_max(a))
        return zero;
    if (offset.u || width.u)
        return whole(true, n);
    return bits_field(a, (unsigned)offset.v, (unsigned)width.v, is_signed, n);
}

static bool fields(unsigned rule, unsigned n, const struct bits *s, struct bits *d)
{
    bool is_signed = rule == RULE_SBFE_I || rule == RULE_BFE_I;
    unsigned low = n - 1;
    switch (rule) {
    case RULE_SBFE_U:
    case RULE_SBFE_I:
        *d =
            field(s[0], (struct bits){s[1].v & low, s[1].u & low},
                  bits_cut((struct bits){s[1].v >> 16, s[1].u >> 16}, 7), is_signed, n);
        return true;
    case RULE_BFE_U:
    case RULE_BFE_I:
        *d = field(s[0], bits_cut(s[1], 5), bits_cut(s[2], 5), is_signed, n);
        return true;
    case RULE_BFM:
        *d = whole((s[0].u | s[1].u) & low, n);
        d->v = ((UINT64_C(1) << (s[0].v & low)) - 1) << (s[1].v & low);
        *d = bits_cut(*d, n);
        return true;
    case RULE_BYTE0:
    case RULE_BYTE1:
    case RULE_BYTE2:
    case RULE_BYTE3:
        *d = whole(s[0].u >> 8 * (rule - RULE_BYTE0) & 255u, 32);
        return true;
    default:
        return false;
    }
}

/* Is the place of the first one bit, counted from below, not known? */
static bool place_unknown(struct bits a)
{
    uint64_t first = bits_min(a) & (0 - bits_min(a)); /* that surely is one */
    return a.u & (first ? first - 1 : ~UINT64_C(0));
}

/* The number of ones below the lane in a mask's half. */
static struct bits mask_count(struct bits mask, unsigned lane, unsigned half)
{
    unsigned below = lane / 32 > half ? 32 : lane / 32 < half ? 0 : lane % 32;
    mask = bits_cut(mask, below);
    return bits_all((uint64_t)__builtin_popcountll(mask.v), mask.u, 32);
}

static bool counts(unsigned rule, unsigned n, const struct rule_in *in, struct bits *d)
{
    const struct bits *s = in->s;
    struct bits back = {bits_reversed(s[0].v, n), bits_reversed(s[0].u, n)};
    struct bits ones;
    switch (rule) {
    case RULE_CTZ:
        *d = whole(place_unknown(s[0]), 32);
        return true;
    case RULE_CLZ:
        *d = whole(place_unknown(back), 32);
        return true;
    case RULE_COUNT0:
    case RULE_COUNT1:
        *d = whole(s[0].u, 32);
        d->v = (uint64_t)__builtin_popcountll(
            rule == RULE_COUNT0 ? ~s[0].v & bits_mask(n) : s[0].v);
        return true;
    case RULE_BCNT_ADD:
        ones = bits_all((uint64_t)__builtin_popcountll(s[0].v), s[0].u, n);
        break;
    case RULE_MBCNT_LO:
    case RULE_MBCNT_HI:
        ones = mask_count(s[0], in->lane, rule == RULE_MBCNT_HI);
        break;
    default:
        return false;
    }
    *d = bits_add(ones, s[1], zero, n, NULL);
    return true;
}

static bool sums(unsigned rule, unsigned n, const struct bits *s, struct bits c,
                 struct rule_out *out)
{
    struct bits *d = &out->d, *carry = &out->flag;
    unsigned shift = rule - RULE_SHL1_ADD + 1u;
    switch (rule) {
    case RULE_ADD:
        *d = bits_add(s[0], s[1], zero, n, carry);
        return true;
    case RULE_SUB:
        *d = bits_sub(s[0], s[1], zero, n, carry);
        return true;
    case RULE_SUBREV:
        *d = bits_sub(s[1], s[0], zero, n, carry);
        return true;
    case RULE_ADDC:
        *d = bits_add(s[0], s[1], c, n, carry);
        return true;
    case RULE_SUBB:
        *d = bits_sub(s[0], s[1], c, n, carry);
        return true;
    case RULE_SUBBREV:
        *d = bits_sub(s[1], s[0], c, n, carry);
        return true;
    case RULE_ADD_SIGNED:
    case RULE_SUB_SIGNED:
        *d = rule == RULE_ADD_SIGNED ? bits_add(s[0], s[1], zero, n, NULL)
                                     : bits_sub(s[0], s[1], zero, n, NULL);
        *carry = whole(s[0].u | s[1].u, 1); /* overflow */
        return true;
    case RULE_SHL1_ADD:
    case RULE_SHL2_ADD:
    case RULE_SHL3_ADD:
    case RULE_SHL4_ADD:
        *d = bits_add(bits_shift(s[0], bits_of(shift), BITS_LEFT, n), s[1], zero, n,
                      NULL);
        *carry = whole(s[0].u | s[1].u, 1);
        return true;
    case RULE_ADD3:
        *d = bits_add(bits_add(s[0], s[1], zero, n, NULL), s[2], zero, n, NULL);
        return true;
    case RULE_XAD:
        *d = bits_add(bits_xor(s[0], s[1]), s[2], zero, n, NULL);
        return true;
    default:
        return false;
    }
}

/* The low part of a number of k bits, as one of more. */
static struct bits factor(struct bits a, unsigned k, bool is_signed)
{
    a = bits_cut(a, k);
    return is_signed ? bits_signed(a, k) : a;
}

static struct bits product(const struct bits *s, unsigned k, bool is_signed, unsigned n)
{
    return bits_mul(factor(s[0], k, is_signed), factor(s[1], k, is_signed), n);
}

static struct bits upper(struct bits a)
{
    return (struct bits){a.v >> 32, a.u >> 32};
}

static bool products(unsigned rule, unsigned n, const struct bits *s, struct bits *d,
                     struct bits *flag)
{
    switch (rule) {
    case RULE_MUL:
        *d = bits_mul(s[0], s[1], n);
        return true;
    case RULE_MULHI_U:
    case RULE_MULHI_I:
        *d = upper(product(s, 32, rule == RULE_MULHI_I, 64));
        return true;
    case RULE_MUL_U24:
    case RULE_MUL_I24:
        *d = product(s, 24, rule == RULE_MUL_I24, 32);
        return true;
    case RULE_MAD:
        *d = bits_add(bits_mul(s[0], s[1], n), s[2], zero, n, NULL);
        return true;
    case RULE_MAD_U16:
    case RULE_MAD_I16:
        *d = bits_add(product(s, 16, rule == RULE_MAD_I16, 32), s[2], zero, 32, NULL);
        return true;
    case RULE_MAD_U24:
    case RULE_MAD_I24:
        *d = bits_add(product(s, 24, rule == RULE_MAD_I24, 32), s[2], zero, 32, NULL);
        return true;
    case RULE_MAD_U64:
    case RULE_MAD_I64:
        *d = bits_add(product(s, 32, rule == RULE_MAD_I64, 64), s[2], zero, 64, NULL);
        *flag = whole(s[0].u | s[1].u | s[2].u, 1);
        return true;
    default:
        return false;
    }
}

static struct bits median(const struct bits *s, bool is_signed, unsigned n)
{
    struct bits low = bits_min2(s[0], s[1], is_signed, n),
                high = bits_max2(s[0], s[1], is_signed, n);
    return bits_max2(low, bits_min2(high, s[2], is_signed, n), is_signed, n);
}

static bool extremes(unsigned rule, unsigned n, const struct bits *s, struct bits *d,
                     struct bits *flag)
{
    bool i = (rule - RULE_MIN_U) & 1u; /* signed ones follow the unsigned */
    if (rule < RULE_MIN_U || rule > RULE_MINMAX_I)
        return false;
    struct bits low = bits_min2(s[0], s[1], i, n), high = bits_max2(s[0], s[1], i, n);
    flag->u = bits_less(s[0], s[1], i, n).u | bits_less(s[1], s[0], i, n).u;
    switch (rule - i) {
    case RULE_MIN_U:
        *d = low;
        return true;
    case RULE_MAX_U:
        *d = high;
        return true;
    case RULE_MIN3_U:
        *d = bits_min2(low, s[2], i, n);
        return true;
    case RULE_MAX3_U:
        *d = bits_max2(high, s[2], i, n);
        return true;
    case RULE_MED3_U:
        *d = median(s, i, n);
        return true;
    case RULE_MAXMIN_U:
        *d = bits_min2(high, s[2], i, n);
        return true;
    default:
        *d = bits_max2(low, s[2], i, n);
        return true;
    }
}

static bool comparisons(unsigned rule, unsigned n, const struct bits *s,
                        struct bits *flag)
{
    bool i = (rule - RULE_LT_U) & 1u;
    switch (rule) {
    case RULE_EQ:
    case RULE_NE:
        *flag = bits_equal(s[0], s[1]);
        return true;
    case RULE_LT_U:
    case RULE_LT_I:
    case RULE_GE_U:
    case RULE_GE_I:
        *flag = bits_less(s[0], s[1], i, n);
        return true;
    case RULE_GT_U:
    case RULE_GT_I:
    case RULE_LE_U:
    case RULE_LE_I:
        *flag = bits_less(s[1], s[0], i, n);
        return true;
    case RULE_BITCMP0:
    case RULE_BITCMP1:
        *flag = whole(s[1].u & (n - 1u) || s[0].u >> (s[1].v & (n - 1u)) & 1, 1);
        return true;
    case RULE_CONSTANT:
        *flag = zero;
        return true;
    default:
        return false;
    }
}

static struct bits bit_set(const struct rule_in *in, bool one, unsigned n)
{
    unsigned at = (unsigned)in->s[0].v & (n - 1u);
    struct bits bit = {UINT64_C(1) << at, in->s[0].u & (n - 1u) ? bits_mask(n) : 0};
    return one ? bits_or(in->old, bit) : bits_and(in->old, bits_not(bit, n));
}

static struct bits absolute(struct bits a, unsigned n)
{
    uint64_t sign = UINT64_C(1) << (n - 1);
    struct bits negative = bits_sub(zero, a, zero, n, NULL);
    return bits_select((struct bits){(a.v & sign) != 0, (a.u & sign) != 0}, negative,
                       a);
}

static bool choices(unsigned rule, unsigned n, const struct rule_in *in, struct bits *d)
{
    switch (rule) {
    case RULE_CMOV:
        *d = bits_select(in->c, in->s[0], in->old);
        return true;
    case RULE_SELECT_SCC:
        *d = bits_select(in->c, in->s[0], in->s[1]);
        return true;
    case RULE_SELECT_MASK:
        *d = bits_select(in->c, in->s[1], in->s[0]);
        return true;
    case RULE_BITSET0:
    case RULE_BITSET1:
        *d = bit_set(in, rule == RULE_BITSET1, n);
        return true;
    case RULE_ABS:
        *d = absolute(in->s[0], n);
        return true;
    case RULE_ABSDIFF:
        *d = absolute(bits_sub(in->s[0], in->s[1], zero, n, NULL), n);
        return true;
    default:
        return false;
    }
}

/* S0 with EXEC, which is in->old. */
static struct bits with_exec(unsigned rule, unsigned n, const struct rule_in *in)
{
    static const uint8_t plain[] = {
        [0] = RULE_AND, /* RULE_AND_EXEC, the first of them */
        [RULE_OR_EXEC - RULE_AND_EXEC] = RULE_OR,
        [RULE_XOR_EXEC - RULE_AND_EXEC] = RULE_XOR,
        [RULE_NAND_EXEC - RULE_AND_EXEC] = RULE_NAND,
        [RULE_NOR_EXEC - RULE_AND_EXEC] = RULE_NOR,
        [RULE_XNOR_EXEC - RULE_AND_EXEC] = RULE_XNOR,
        [RULE_AND_NOT0_EXEC - RULE_AND_EXEC] = RULE_AND_NOT1,
        [RULE_OR_NOT0_EXEC - RULE_AND_EXEC] = RULE_OR_NOT1,
        [RULE_AND_NOT1_EXEC - RULE_AND_EXEC] = RULE_AND_NOT1,
        [RULE_OR_NOT1_EXEC - RULE_AND_EXEC] = RULE_OR_NOT1,
    };
    bool not0 = rule == RULE_AND_NOT0_EXEC || rule == RULE_OR_NOT0_EXEC;
    struct bits s[2] = {not0 ? in->old : in->s[0], not0 ? in->s[0] : in->old}, d;
    return logic(plain[rule - RULE_AND_EXEC], n, s, &d) ? d : zero;
}

void rule_apply(unsigned rule, unsigned n, const struct rule_in *in,
                struct rule_out *out)
{
    struct bits s[RULE_SOURCES];
    memcpy(s, in->s, sizeof s);
    if (in->n == 1) /* s_addk_i32, s_mulk_i32 */
        s[1] = in->old;
    *out = (struct rule_out){zero, zero};
    if (rule_of_exec(rule)) {
        out->d = with_exec(rule, n, in);
        out->flag = bits_any(out->d);
        return;
    }
    if (rule == RULE_ANY) {
        out->d = whole(any_undefined(in), 64);
        out->flag = whole(any_undefined(in), 1);
        return;
    }
    if (sums(rule, n, s, in->c, out) || products(rule, n, s, &out->d, &out->flag) ||
        extremes(rule, n, s, &out->d, &out->flag) ||
        comparisons(rule, n, s, &out->flag))
        return;
    if (logic(rule, n, s, &out->d) || shifts(rule, n, s, &out->d) ||
        places(rule, n, s, &out->d) || fields(rule, n, s, &out->d) ||
        counts(rule, n, in, &out->d) || choices(rule, n, in, &out->d))
        out->flag = bits_any(out->d);
}
