/* gather.h: dwords between a row and memory at 32-bit offsets, compiled per SIMD level.
 *
 * Sixteen lanes at a time: lanes that read one dword (broadcast) or consecutive dwords
 * (one vector load) are told from the rest, which go lane by lane; that beats the
 * host's gather instructions where it was measured.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GATHER_H
#define RD_GATHER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define FOR_LANES(l, mask)                                                             \
    for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true);       \
         m_ &= m_ - 1)

/* Least and greatest offset of the active lanes; exec is not 0. */
static inline void row_range(const uint32_t *a, uint32_t exec, uint32_t *lo,
                             uint32_t *hi)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (unsigned l = 0; l < 32; l++) {
        uint32_t off = (exec >> l & 1u) - 1u; /* ~0 for inactive lanes */
        uint32_t low = a[l] | off, high = a[l] & ~off;
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    *lo = least;
    *hi = most;
}

/* Do all active lanes hold the same value? */
static inline bool row_uniform(const uint32_t *a, uint32_t exec, uint32_t value)
{
    uint32_t differ = 0;
    for (unsigned l = 0; l < 32; l++)
        differ |= (a[l] ^ value) & (0u - (exec >> l & 1u));
    return differ == 0;
}

enum gather_shape { GATHER_UNIFORM, GATHER_CONTIGUOUS, GATHER_SCATTERED };

static inline enum gather_shape gather_shape(const uint32_t *a)
{
#ifdef __AVX512F__
    __m512i v = _mm512_loadu_si512(a), first = _mm512_set1_epi32((int)a[0]);
    __m512i lane =
        _mm512_set_epi32(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0);
    if (!_mm512_cmpneq_epi32_mask(v, first))
        return GATHER_UNIFORM;
    return _mm512_cmpneq_epi32_mask(v, _mm512_add_epi32(first, lane))
               ? GATHER_SCATTERED
               : GATHER_CONTIGUOUS;
#else
    uint32_t same = 0, next = 0;
    for (unsigned l = 0; l < 16; l++) {
        same |= a[l] ^ a[0];
        next |= a[l] ^ (a[0] + 4 * l);
    }
    return !same ? GATHER_UNIFORM : !next ? GATHER_CONTIGUOUS : GATHER_SCATTERED;
#endif
}

/* Loads that race with other waves are the guest's business, not undefined here. */
static inline uint32_t load32(const uint8_t *p)
{
    if (((uintptr_t)p & 3) == 0)
        return __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_RELAXED);
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store32(uint8_t *p, uint32_t v)
{
    if (((uintptr_t)p & 3) == 0)
        __atomic_store_n((uint32_t *)(void *)p, v, __ATOMIC_RELAXED);
    else
        memcpy(p, &v, sizeof v);
}

/* Do the offsets grow by one step from lane to lane, without wrapping? */
static inline bool row_steps(const uint32_t *a, uint32_t *step)
{
    uint32_t by = a[1] - a[0];
    *step = by;
    if (by > 1024 || a[31] < a[0])
        return false;
#ifdef __AVX512F__
    __m512i lane =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __m512i lo = _mm512_add_epi32(_mm512_set1_epi32((int)a[0]),
                                  _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)by)));
    __m512i hi = _mm512_add_epi32(lo, _mm512_set1_epi32((int)(16 * by)));
    return !(_mm512_cmpneq_epi32_mask(lo, _mm512_loadu_si512(a)) |
             _mm512_cmpneq_epi32_mask(hi, _mm512_loadu_si512(a + 16)));
#else
    uint32_t differ = 0;
    for (uint32_t l = 0; l < 32; l++)
        differ |= a[l] ^ (a[0] + by * l);
    return !differ;
#endif
}

/* Lane l's dwords are at p + l * 4 * dwords; row k gets dword k of each. */
static inline void rows_apart(uint32_t *restrict d, const uint8_t *restrict p,
                              const unsigned dwords)
{
    uint32_t v[32 * 4];
    memcpy(v, p, 128ul * dwords);
    for (unsigned k = 0; k < dwords; k++)
        for (unsigned l = 0; l < 32; l++)
            d[32 * k + l] = v[dwords * l + k];
}

static inline void rows_together(uint8_t *restrict p, const uint32_t *restrict s,
                                 const unsigned dwords)
{
    uint32_t v[32 * 4];
    for (unsigned l = 0; l < 32; l++)
        for (unsigned k = 0; k < dwords; k++)
            v[dwords * l + k] = s[32 * k + l];
    memcpy(p, v, 128ul * dwords);
}

/* All lanes, lane l at p + step * l: the shapes that vector moves do. */
static inline bool load_steps(uint32_t *d, const uint8_t *p, uint32_t step,
                              unsigned dwords)
{
    if (step == 0) {
        for (unsigned k = 0; k < dwords; k++) {
            uint32_t v = load32(p + 4ul * k);
            for (unsigned l = 0; l < 32; l++)
                d[32 * k + l] = v;
        }
        return true;
    }
    if (step != 4 * dwords || dwords == 3)
        return false;
    if (dwords == 1)
        memcpy(d, p, 128);
    else if (dwords == 2)
        rows_apart(d, p, 2);
    else
        rows_apart(d, p, 4);
    return true;
}

static inline bool store_steps(const uint32_t *s, uint8_t *p, uint32_t step,
                               unsigned dwords)
{
    if (step != 4 * dwords || dwords == 3)
        return false;
    if (dwords == 1)
        memcpy(p, s, 128);
    else if (dwords == 2)
        rows_together(p, s, 2);
    else
        rows_together(p, s, 4);
    return true;
}

/* Dwords dwords per lane from base + a[l] into rows d, d + 32, ...; a is not in d. */
static inline void gather_rows(uint32_t *d, const uint8_t *base, const uint32_t *a,
                               uint32_t exec, unsigned dwords)
{
    if (exec != ~0u) {
        for (unsigned k = 0; k < dwords; k++, d += 32, base += 4)
            FOR_LANES(l, exec)
        d[l] = load32(base + a[l]);
        return;
    }
    uint32_t step = 0;
    if (dwords > 1 && row_steps(a, &step) && load_steps(d, base + a[0], step, dwords))
        return;
    enum gather_shape shape[2] = {gather_shape(a), gather_shape(a + 16)};
    for (unsigned k = 0; k < dwords; k++, d += 32, base += 4) {
        for (unsigned g = 0; g < 32; g += 16) {
            if (shape[g / 16] == GATHER_UNIFORM) {
                uint32_t v = load32(base + a[g]);
                for (unsigned l = 0; l < 16; l++)
                    d[g + l] = v;
            } else if (shape[g / 16] == GATHER_CONTIGUOUS) {
                memcpy(d + g, base + a[g], 64);
            } else {
                for (unsigned l = g; l < g + 16; l++)
                    d[l] = load32(base + a[l]);
            }
        }
    }
}

/* The inverse; lanes in order, so that the highest lane wins where lanes collide. */
static inline void scatter_rows(const uint32_t *s, uint8_t *base, const uint32_t *a,
                                uint32_t exec, unsigned dwords)
{
    uint32_t step = 0;
    if (exec == ~0u && dwords > 1 && row_steps(a, &step) &&
        store_steps(s, base + a[0], step, dwords))
        return;
    if (exec == ~0u && dwords == 1) {
        for (unsigned g = 0; g < 32; g += 16) {
            if (gather_shape(a + g) == GATHER_CONTIGUOUS)
                memcpy(base + a[g], s + g, 64);
            else
                for (unsigned l = g; l < g + 16; l++)
                    store32(base + a[l], s[l]);
        }
        return;
    }
    FOR_LANES(l, exec)
    for (unsigned k = 0; k < dwords; k++)
        store32(base + a[l] + (size_t)4 * k, s[k * 32 + l]);
}

#endif
