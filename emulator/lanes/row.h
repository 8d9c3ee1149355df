/* row.h: whole-row helpers: 32 dwords at a time, compiled per SIMD level.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ROW_H
#define RD_ROW_H

#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

static inline void row_fill(uint32_t *d, uint32_t value)
{
    for (unsigned l = 0; l < 32; l++)
        d[l] = value;
}

/* d = mask bit ? s : d */
static inline void row_merge(uint32_t *d, const uint32_t *s, uint32_t mask)
{
#ifdef __AVX512F__
    _mm512_mask_storeu_epi32(d, (__mmask16)mask, _mm512_loadu_si512(s));
    _mm512_mask_storeu_epi32(d + 16, (__mmask16)(mask >> 16),
                             _mm512_loadu_si512(s + 16));
#else
    for (unsigned l = 0; l < 32; l++) {
        uint32_t m = 0u - ((mask >> l) & 1u);
        d[l] = (d[l] & ~m) | (s[l] & m);
    }
#endif
}

/* Bit l of the result is row[l] != 0. */
static inline uint32_t row_to_mask(const uint32_t *row)
{
#ifdef __AVX512F__
    __m512i lo = _mm512_loadu_si512(row), hi = _mm512_loadu_si512(row + 16);
    return (uint32_t)_mm512_test_epi32_mask(lo, lo) |
           (uint32_t)_mm512_test_epi32_mask(hi, hi) << 16;
#else
    uint32_t mask = 0;
    for (unsigned l = 0; l < 32; l++)
        mask |= (uint32_t)(row[l] != 0) << l;
    return mask;
#endif
}

static inline void row_from_mask(uint32_t *d, uint32_t mask)
{
    for (unsigned l = 0; l < 32; l++)
        d[l] = (mask >> l) & 1u;
}

/* Lane l gets lane from[l & 15] of its row of 16, or 0 where valid has no bit. */
static inline void row_permute(uint32_t *d, const uint32_t *s, const uint8_t from[16],
                               uint32_t valid)
{
#ifdef __AVX512F__
    __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)from));
    __m512i lo =
        _mm512_maskz_permutexvar_epi32((__mmask16)valid, index, _mm512_loadu_si512(s));
    __m512i hi = _mm512_maskz_permutexvar_epi32((__mmask16)(valid >> 16), index,
                                                _mm512_loadu_si512(s + 16));
    _mm512_storeu_si512(d, lo);
    _mm512_storeu_si512(d + 16, hi);
#else
    for (unsigned l = 0; l < 16; l++) {
        uint32_t lo = s[from[l]], hi = s[16 + from[l]];
        d[l] = lo & (0u - (valid >> l & 1u));
        d[l + 16] = hi & (0u - (valid >> (l + 16) & 1u));
    }
#endif
}

static inline void row_copy(uint32_t *d, const uint32_t *s, unsigned rows)
{
    memcpy(d, s, (size_t)rows * 32 * sizeof *d);
}

#endif
