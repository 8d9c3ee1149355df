/* row.h: whole-row helpers: 32 dwords at a time, compiled per SIMD level.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ROW_H
#define RD_ROW_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) || defined(__AVX2__)
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

/* Bit l of the result is bit from[l & 15] of mask's row of 16, 0 where valid has none.
 */
static inline uint32_t row_permute_mask(uint32_t mask, const uint8_t from[16],
                                        uint32_t valid)
{
    uint32_t lanes[32], t[32];
    row_from_mask(lanes, mask);
    row_permute(t, lanes, from, valid);
    return row_to_mask(t);
}

/* Lane l gets lane from[l] & 31 of s, or 0 if that lane is not in active. */
static inline void row_lookup(uint32_t *d, const uint32_t *s, const uint32_t *from,
                              uint32_t active)
{
#ifdef __AVX512F__
    __m512i lo = _mm512_maskz_loadu_epi32((__mmask16)active, s);
    __m512i hi = _mm512_maskz_loadu_epi32((__mmask16)(active >> 16), s + 16);
    __m512i first = _mm512_loadu_si512(from), last = _mm512_loadu_si512(from + 16);
    _mm512_storeu_si512(d, _mm512_permutex2var_epi32(lo, first, hi));
    _mm512_storeu_si512(d + 16, _mm512_permutex2var_epi32(lo, last, hi));
#elif defined(__AVX2__)
    uint32_t t[32];
    __m256i part[4];
    for (unsigned l = 0; l < 32; l++)
        t[l] = s[l] & (0u - (active >> l & 1u));
    for (unsigned i = 0; i < 4; i++)
        part[i] = _mm256_loadu_si256((const __m256i *)(const void *)(t + 8 * i));
    for (unsigned i = 0; i < 4; i++) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(from + 8 * i));
        __m256 v[4];
        for (unsigned g = 0; g < 4; g++)
            v[g] = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(part[g], at));
        __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28));
        __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(at, 27));
        __m256 r = _mm256_blendv_ps(_mm256_blendv_ps(v[0], v[1], odd),
                                    _mm256_blendv_ps(v[2], v[3], odd), upper);
        _mm256_storeu_ps((void *)(d + 8 * i), r);
    }
#else
    uint32_t t[32];
    for (unsigned l = 0; l < 32; l++)
        t[l] = s[l] & (0u - (active >> l & 1u));
    for (unsigned l = 0; l < 32; l++)
        d[l] = t[from[l] & 31u];
#endif
}

static inline void row_copy(uint32_t *d, const uint32_t *s, unsigned rows)
{
    memcpy(d, s, (size_t)rows * 32 * sizeof *d);
}

#endif
