/* dot2_ref.c: the rules of emulator/sem/dot2.h written down once more, the slow way:
 * exact terms as integer times power of two, branches, 64-bit sums. It must not share
 * code with the emulator.
 * SPDX-License-Identifier: MIT
 */
#include "dot2_ref.h"

struct format {
    int exponent_bits, fraction_bits;
    bool keeps_subnormals;
};

static const struct format formats[] = {
    [REF_F32] = {8, 23, false},
    [REF_F16] = {5, 10, true},
    [REF_BF16] = {8, 7, false},
};

/* sign * magnitude * 2^exponent; align: exponent as rule 2 sees it */
struct number {
    bool negative, nan, inf;
    uint64_t magnitude;
    int exponent, align;
};

static struct number unpack(uint32_t bits, const struct format *f)
{
    int bias = (1 << (f->exponent_bits - 1)) - 1, width = f->fraction_bits;
    uint32_t fraction = bits & ((1u << width) - 1);
    int field = (int)(bits >> width & ((1u << f->exponent_bits) - 1));
    struct number n = {.negative = bits >> (width + f->exponent_bits) & 1};
    if (field == (1 << f->exponent_bits) - 1) {
        n.nan = fraction != 0;
        n.inf = fraction == 0;
        return n;
    }
    n.align = (field ? field : 1) - bias;
    n.exponent = n.align - width;
    n.magnitude = field ? fraction | 1u << width : f->keeps_subnormals ? fraction : 0;
    return n;
}

static int leading(const struct number *n)
{
    int e = n->exponent;
    for (uint64_t m = n->magnitude; m > 1; m >>= 1)
        e++;
    return e;
}

static struct number product(const struct number *a, const struct number *b)
{
    return (struct number){.negative = a->negative != b->negative,
                           .inf = a->inf || b->inf,
                           .magnitude = a->magnitude * b->magnitude,
                           .exponent = a->exponent + b->exponent,
                           .align = a->align + b->align};
}

static uint64_t round_even(uint64_t v, int shift)
{
    if (shift <= 0)
        return v << -shift;
    if (shift > 63)
        return 0;
    uint64_t q = v >> shift, rest = v - (q << shift), half = (uint64_t)1 << (shift - 1);
    return q + (rest > half || (rest == half && (q & 1)));
}

static uint32_t round_to(uint64_t v, int exponent, bool negative, enum ref_format out,
                         bool ovfl)
{
    int bits = out == REF_F16 ? 11 : 24, top = 0;
    while (v >> top > 1)
        top++;
    int e = exponent + top, drop = top - (bits - 1);
    uint32_t sign = negative ? out == REF_F32 ? 0x80000000u : 0x8000u : 0;
    if (out == REF_F16 && e < -14) {
        uint64_t q = round_even(v, -24 - exponent);
        return q ? sign | (uint32_t)q : 0;
    }
    uint64_t q = round_even(v, drop);
    if (q >> bits)
        q >>= 1, e++;
    if (out == REF_F16)
        return sign | (e > 15 ? ovfl ? 0x7bff : 0x7c00
                              : (uint32_t)(e + 15) << 10 | (uint32_t)(q & 0x3ff));
    if (e < -126)
        return 0;
    uint32_t f32 =
        e > 127 ? 0x7f800000 : (uint32_t)(e + 127) << 23 | (uint32_t)(q & 0x7fffff);
    return out == REF_BF16 ? sign | f32 >> 16 : sign | f32;
}

static uint32_t invalid(enum ref_format out)
{
    return out == REF_F32 ? 0xffc00000u : out == REF_F16 ? 0xfe00u : 0xffc0u;
}

static uint32_t infinity(enum ref_format out, bool negative)
{
    uint32_t inf = out == REF_F32 ? 0x7f800000u : out == REF_F16 ? 0x7c00u : 0x7f80u;
    return inf | (negative ? out == REF_F32 ? 0x80000000u : 0x8000u : 0);
}

/* Rule 6. Returns false if everything is finite. */
static bool non_finite(const struct number x[4], const struct number p[2],
                       const struct number *c, uint32_t c_bits, enum ref_format out,
                       uint32_t *r)
{
    for (int i = 0; i < 4; i++) {
        if (x[i].nan) {
            *r = out == REF_F32 ? 0xffc00a3du : out == REF_F16 ? 0xfe3du : 0xfffdu;
            return true;
        }
    }
    for (int i = 0; i < 4; i += 2) {
        if ((x[i].inf && !x[i + 1].inf && !x[i + 1].magnitude) ||
            (x[i + 1].inf && !x[i].inf && !x[i].magnitude)) {
            *r = invalid(out);
            return true;
        }
    }
    if (p[0].inf && p[1].inf && p[0].negative != p[1].negative) {
        *r = invalid(out);
        return true;
    }
    if (c->nan) {
        *r = c_bits | (out == REF_F32 ? 0x400000u : out == REF_F16 ? 0x200u : 0x40u);
        return true;
    }
    if (!p[0].inf && !p[1].inf && !c->inf)
        return false;
    const struct number *first = p[0].inf ? &p[0] : p[1].inf ? &p[1] : c;
    *r = c->inf && c->negative != first->negative ? invalid(out)
                                                  : infinity(out, first->negative);
    return true;
}

uint32_t ref_dot2(const uint16_t a[2], const uint16_t b[2], uint32_t c_bits, bool bf16,
                  enum ref_format out, bool ovfl)
{
    const struct format *factor = &formats[bf16 ? REF_BF16 : REF_F16];
    struct number c = unpack(c_bits, &formats[out]);
    struct number x[4] = {unpack(a[0], factor), unpack(b[0], factor),
                          unpack(a[1], factor), unpack(b[1], factor)};
    struct number p[2] = {product(&x[0], &x[1]), product(&x[2], &x[3])};
    uint32_t r;
    if (non_finite(x, p, &c, c_bits, out, &r))
        return r;
    if (!c.magnitude && !p[0].magnitude && !p[1].magnitude)
        return 0;

    int grid = -5000;
    const struct number *terms[] = {&c, &p[0], &p[1]};
    for (int i = 0; i < 3; i++) {
        if (!terms[i]->magnitude)
            continue;
        if (leading(terms[i]) - 26 > grid)
            grid = leading(terms[i]) - 26;
        if (i > 0 && terms[i]->align - 24 > grid)
            grid = terms[i]->align - 24;
    }
    if (out == REF_F16 && grid < -40)
        grid = -40;

    int64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        int shift = terms[i]->exponent - grid;
        uint64_t m = 0;
        if (terms[i]->magnitude && shift >= 0)
            m = terms[i]->magnitude << shift;
        else if (terms[i]->magnitude && shift > -64)
            m = terms[i]->magnitude >> -shift;
        sum += terms[i]->negative == c.negative ? (int64_t)m : -(int64_t)m - 1;
    }
    if (sum == 0)
        return 0;
    bool negative = (sum < 0) != c.negative;
    return round_to((uint64_t)(sum < 0 ? -sum : sum), grid, negative, out, ovfl);
}
