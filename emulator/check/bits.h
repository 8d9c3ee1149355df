/* bits.h: values some of whose bits are undefined, and what operations make of them.
 *
 * Every function gives the value as the chip computes it and, as undefined, at least
 * each bit that another choice of the undefined bits of its operands would change. All
 * but multiplication and shifts by undefined amounts give no more than that, as long as
 * an operand's undefined bits have nothing to do with each other. Values are 64 bits;
 * those of fewer have zeros above.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_BITS_H
#define RD_CHECK_BITS_H

#include <stdbool.h>
#include <stdint.h>

struct bits {
    uint64_t v; /* value */
    uint64_t u; /* undefined bits */
};

static inline uint64_t bits_mask(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

static inline struct bits bits_of(uint64_t v)
{
    return (struct bits){v, 0};
}

static inline struct bits bits_cut(struct bits a, unsigned n)
{
    return (struct bits){a.v & bits_mask(n), a.u & bits_mask(n)};
}

/* The least and the greatest that it may be, as an unsigned number. */
static inline uint64_t bits_min(struct bits a)
{
    return a.v & ~a.u;
}

static inline uint64_t bits_max(struct bits a)
{
    return a.v | a.u;
}

/* v, all of it undefined if anything of it is. */
static inline struct bits bits_all(uint64_t v, bool undefined, unsigned n)
{
    return (struct bits){v & bits_mask(n), undefined ? bits_mask(n) : 0};
}

/* ---- logic ---- */

static inline struct bits bits_not(struct bits a, unsigned n)
{
    return (struct bits){~a.v & bits_mask(n), a.u};
}

static inline struct bits bits_and(struct bits a, struct bits b)
{
    return (struct bits){a.v & b.v, (a.u | b.u) & bits_max(a) & bits_max(b)};
}

static inline struct bits bits_or(struct bits a, struct bits b)
{
    return (struct bits){a.v | b.v, (a.u | b.u) & ~bits_min(a) & ~bits_min(b)};
}

static inline struct bits bits_xor(struct bits a, struct bits b)
{
    return (struct bits){a.v ^ b.v, a.u | b.u};
}

/* One bit: is it not zero? */
static inline struct bits bits_any(struct bits a)
{
    return (struct bits){a.v != 0, a.u && !bits_min(a)};
}

/* c, one bit, chooses. */
static inline struct bits bits_select(struct bits c, struct bits a, struct bits b)
{
    struct bits chosen = c.v ? a : b;
    if (c.u)
        chosen.u = a.u | b.u | (a.v ^ b.v);
    return chosen;
}

/* Bit by bit: where m is 1 those of a, else those of b. */
static inline struct bits bits_blend(struct bits m, struct bits a, struct bits b)
{
    uint64_t v = (a.v & m.v) | (b.v & ~m.v);
    uint64_t either = a.u | b.u | (a.v ^ b.v);
    return (struct bits){v, (m.u & either) | (~m.u & ((a.u & m.v) | (b.u & ~m.v)))};
}

/* ---- numbers ---- */

/* a + b + c, c one bit; out of the n bits: the carry, if it is asked for. The bits that
 * differ between the least and the greatest sum are those that carries may reach. */
static inline struct bits bits_add(struct bits a, struct bits b, struct bits c,
                                   unsigned n, struct bits *carry)
{
    __extension__ typedef unsigned __int128 wide;
    wide sum = (wide)a.v + b.v + c.v;
    wide least = (wide)bits_min(a) + bits_min(b) + bits_min(c);
    wide most = (wide)bits_max(a) + bits_max(b) + bits_max(c);
    if (carry)
        *carry = (struct bits){(uint64_t)(sum >> n) & 1u,
                               (uint64_t)((least ^ most) >> n) & 1u};
    return bits_cut((struct bits){(uint64_t)sum, a.u | b.u | (uint64_t)(least ^ most)},
                    n);
}

/* a - b - c; out of the n bits: the borrow. */
static inline struct bits bits_sub(struct bits a, struct bits b, struct bits c,
                                   unsigned n, struct bits *borrow)
{
    struct bits carry, d = bits_add(a, bits_not(b, n), bits_not(c, 1), n, &carry);
    if (borrow)
        *borrow = bits_not(carry, 1);
    return d;
}

/* All bits from the lowest undefined one on. */
static inline uint64_t bits_left(uint64_t u)
{
    return u | (0 - u);
}

static inline struct bits bits_mul(struct bits a, struct bits b, unsigned n)
{
    if (!bits_max(a) || !bits_max(b))
        return bits_of(0);
    return bits_cut((struct bits){a.v * b.v, bits_left(a.u | b.u)}, n);
}

/* Copies of bit n - 1 above it, up to bit 63. */
static inline uint64_t bits_extend(uint64_t v, unsigned n)
{
    uint64_t sign = UINT64_C(1) << (n - 1);
    return ((v & bits_mask(n)) ^ sign) - sign;
}

static inline struct bits bits_signed(struct bits a, unsigned n)
{
    return (struct bits){bits_extend(a.v, n), bits_extend(a.u, n)};
}

/* As unsigned numbers in the order of signed ones. */
static inline struct bits bits_biased(struct bits a, bool is_signed, unsigned n)
{
    if (is_signed)
        a.v ^= UINT64_C(1) << (n - 1);
    return a;
}

static inline struct bits bits_less(struct bits a, struct bits b, bool is_signed,
                                    unsigned n)
{
    a = bits_biased(a, is_signed, n);
    b = bits_biased(b, is_signed, n);
    bool surely = bits_max(a) < bits_min(b), never = bits_min(a) >= bits_max(b);
    return (struct bits){a.v < b.v, !surely && !never};
}

static inline struct bits bits_equal(struct bits a, struct bits b)
{
    uint64_t u = a.u | b.u, differ = (a.v ^ b.v) & ~u;
    return (struct bits){a.v == b.v, u && !differ};
}

static inline struct bits bits_min2(struct bits a, struct bits b, bool is_signed,
                                    unsigned n)
{
    return bits_select(bits_less(b, a, is_signed, n), b, a);
}

static inline struct bits bits_max2(struct bits a, struct bits b, bool is_signed,
                                    unsigned n)
{
    return bits_select(bits_less(a, b, is_signed, n), b, a);
}

/* ---- places ---- */

enum bits_shift { BITS_LEFT, BITS_RIGHT, BITS_SIGNED };

/* By the lower bits of an amount, as many as n of them need. */
static inline struct bits bits_shift(struct bits a, struct bits by, enum bits_shift how,
                                     unsigned n)
{
    unsigned s = (unsigned)by.v & (n - 1u);
    struct bits r = a;
    if (how == BITS_LEFT)
        r = (struct bits){a.v << s, a.u << s};
    else if (how == BITS_RIGHT)
        r = (struct bits){a.v >> s, a.u >> s};
    else
        r = (struct bits){(uint64_t)((int64_t)bits_extend(a.v, n) >> s),
                          (uint64_t)((int64_t)bits_extend(a.u, n) >> s)};
    if (by.u & (n - 1u) && bits_max(a))
        r.u = ~UINT64_C(0);
    return bits_cut(r, n);
}

/* width bits (n or more: all) from bit offset on. */
static inline struct bits bits_field(struct bits a, unsigned offset, unsigned width,
                                     bool is_signed, unsigned n)
{
    struct bits r =
        bits_shift(a, bits_of(offset), is_signed ? BITS_SIGNED : BITS_RIGHT, n);
    if (!width)
        return bits_of(0);
    if (width >= n)
        return r;
    r = bits_cut(r, width);
    return is_signed ? bits_cut(bits_signed(r, width), n) : r;
}

static inline uint64_t bits_reversed(uint64_t v, unsigned n)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < n; i++)
        r |= (v >> i & 1) << (n - 1 - i);
    return r;
}

#endif
