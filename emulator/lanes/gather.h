/* gather.h: dwords between a row and memory at 32-bit offsets, compiled per SIMD level.
 *
 * Sixteen lanes at a time: active lanes that read one dword (broadcast) or consecutive
 * dwords (one vector move) are told from the rest, for which the host has gathers.
 * Stores that collide keep the order of lanes: the highest wins.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GATHER_H
#define RD_GATHER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <emmintrin.h>
#ifdef __AVX2__
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
    for (unsigned l = 0; exec == ~0u && l < 32; l++) {
        least = a[l] < least ? a[l] : least;
        most = a[l] > most ? a[l] : most;
    }
    for (unsigned l = 0; exec != ~0u && l < 32; l++) {
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

#if defined(__AVX2__) && !defined(__AVX512F__)
/* All ones in the lanes of the low eight bits of mask. */
static inline __m256i lanes_of_mask(uint32_t mask)
{
    __m256i bit = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)mask), bit), bit);
}
#endif

enum gather_shape { GATHER_UNIFORM, GATHER_CONTIGUOUS, GATHER_SCATTERED };

/* Of the lanes in mask, which is not 0. */
static inline __attribute__((always_inline)) enum gather_shape
gather_shape(const uint32_t *a, const uint32_t mask)
{
    const unsigned first = (unsigned)__builtin_ctz(mask);
#ifdef __AVX512F__
    __m512i v = _mm512_loadu_si512(a), at = _mm512_set1_epi32((int)a[first]);
    __m512i lane =
        _mm512_set_epi32(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0);
    if (!_mm512_mask_cmpneq_epi32_mask((__mmask16)mask, v, at))
        return GATHER_UNIFORM;
    at = _mm512_sub_epi32(at, _mm512_set1_epi32((int)(4 * first)));
    at = _mm512_add_epi32(at, lane);
    return _mm512_mask_cmpneq_epi32_mask((__mmask16)mask, v, at) ? GATHER_SCATTERED
                                                                 : GATHER_CONTIGUOUS;
#elif defined(__AVX2__)
    __m256i at = _mm256_set1_epi32((int)a[first]), same = _mm256_setzero_si256();
    __m256i next = same, lane = _mm256_set_epi32(28, 24, 20, 16, 12, 8, 4, 0);
    __m256i from = _mm256_sub_epi32(at, _mm256_set1_epi32((int)(4 * first)));
    for (unsigned i = 0; i < 2; i++) {
        __m256i on = lanes_of_mask(mask >> 8 * i), step = _mm256_set1_epi32(32);
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(a + 8 * i));
        __m256i line = _mm256_add_epi32(from, lane);
        same = _mm256_or_si256(same, _mm256_and_si256(_mm256_xor_si256(v, at), on));
        next = _mm256_or_si256(next, _mm256_and_si256(_mm256_xor_si256(v, line), on));
        lane = _mm256_add_epi32(lane, step);
    }
    return _mm256_testz_si256(same, same)   ? GATHER_UNIFORM
           : _mm256_testz_si256(next, next) ? GATHER_CONTIGUOUS
                                            : GATHER_SCATTERED;
#else
    uint32_t same = 0, next = 0, from = a[first] - 4 * first;
    for (uint32_t l = 0; l < 16; l++) {
        uint32_t on = 0u - (mask >> l & 1u);
        same |= (a[l] ^ a[first]) & on;
        next |= (a[l] ^ (from + 4 * l)) & on;
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

/* The same for 16 bytes, of which C has no atomic accesses: the host moves them whole.
 */
#ifdef __SANITIZE_THREAD__
#define GUESTS_BUSINESS __attribute__((noinline, unused, no_sanitize("thread")))
#else
#define GUESTS_BUSINESS inline
#endif
typedef uint32_t four_dwords __attribute__((vector_size(16), aligned(1), may_alias));

static GUESTS_BUSINESS four_dwords load128(const uint8_t *p)
{
    return *(const four_dwords *)(const void *)p;
}

static GUESTS_BUSINESS void store128(uint8_t *p, four_dwords v)
{
    *(four_dwords *)(void *)p = v;
}

/* One lane's 2 or 4 dwords at once, as on the chip: kernels keep a flag and its value
 * in one such element and look at it from other workgroups, which are other threads. */
static inline void load_lane(uint32_t v[4], const uint8_t *p, unsigned dwords)
{
    uint64_t both;
    if (dwords == 4) {
        four_dwords all = load128(p);
        memcpy(v, &all, sizeof all);
        return;
    }
    if (((uintptr_t)p & 7) == 0)
        both = __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_RELAXED);
    else
        memcpy(&both, p, sizeof both);
    v[0] = (uint32_t)both;
    v[1] = (uint32_t)(both >> 32);
}

static inline void store_lane(uint8_t *p, const uint32_t v[4], unsigned dwords)
{
    uint64_t both = v[0] | (uint64_t)v[1] << 32;
    four_dwords all;
    memcpy(&all, v, sizeof all);
    if (dwords == 4)
        store128(p, all);
    else if (((uintptr_t)p & 7) == 0)
        __atomic_store_n((uint64_t *)(void *)p, both, __ATOMIC_RELAXED);
    else
        memcpy(p, &both, sizeof both);
}

/* Are they moved so? */
static inline bool by_lane(unsigned dwords)
{
    return dwords == 2 || dwords == 4;
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
        uint32_t v[4] = {0};
        if (by_lane(dwords))
            load_lane(v, p, dwords);
        for (unsigned k = 0; k < dwords; k++) {
            uint32_t one = by_lane(dwords) ? v[k] : load32(p + 4ul * k);
            for (unsigned l = 0; l < 32; l++)
                d[32 * k + l] = one;
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

/* The lanes in mask of 16 get consecutive dwords: lane l the one at p + 4 * l. Nothing
 * else is read. */
static inline void load_line(uint32_t *d, const uint8_t *p, uint32_t mask)
{
    if (mask == 0xffffu) {
        memcpy(d, p, 64);
        return;
    }
#ifdef __AVX512F__
    _mm512_storeu_si512(
        d, _mm512_mask_loadu_epi32(_mm512_loadu_si512(d), (__mmask16)mask, p));
#elif defined(__AVX2__)
    for (unsigned i = 0; i < 2; i++, mask >>= 8) {
        __m256i on = lanes_of_mask(mask), *to = (__m256i *)(void *)(d + 8 * i);
        __m256i v = _mm256_maskload_epi32((const int *)(const void *)(p + 32 * i), on);
        _mm256_storeu_si256(to, _mm256_blendv_epi8(_mm256_loadu_si256(to), v, on));
    }
#else
    FOR_LANES(l, mask)
    d[l] = load32(p + 4 * l);
#endif
}

/* The lanes in mask of 16 get v. */
static inline void fill_line(uint32_t *d, uint32_t v, uint32_t mask)
{
#ifdef __AVX512F__
    _mm512_mask_storeu_epi32(d, (__mmask16)mask, _mm512_set1_epi32((int)v));
#elif defined(__AVX2__)
    __m256i all = _mm256_set1_epi32((int)v);
    for (unsigned i = 0; i < 2; i++, mask >>= 8) {
        __m256i *to = (__m256i *)(void *)(d + 8 * i);
        __m256i old = _mm256_loadu_si256(to);
        _mm256_storeu_si256(to, _mm256_blendv_epi8(old, all, lanes_of_mask(mask)));
    }
#else
    FOR_LANES(l, mask)
    d[l] = v;
#endif
}

static inline void store_line(const uint32_t *s, uint8_t *p, uint32_t mask)
{
    if (mask == 0xffffu) {
        memcpy(p, s, 64);
        return;
    }
#ifdef __AVX512F__
    _mm512_mask_storeu_epi32(p, (__mmask16)mask, _mm512_loadu_si512(s));
#elif defined(__AVX2__)
    for (unsigned i = 0; i < 2; i++, mask >>= 8) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(s + 8 * i));
        _mm256_maskstore_epi32((int *)(void *)(p + 32 * i), lanes_of_mask(mask), v);
    }
#else
    FOR_LANES(l, mask)
    store32(p + 4 * l, s[l]);
#endif
}

/* Are all offsets of the lanes in mask below 2^31, as the host's gathers want? */
static inline bool offsets_small(const uint32_t *a, uint32_t mask)
{
#ifdef __AVX512DQ__
    return !(_mm512_movepi32_mask(_mm512_loadu_si512(a)) & mask);
#elif defined(__AVX2__)
    int low = _mm256_movemask_ps(_mm256_loadu_ps((const float *)(const void *)a));
    int high =
        _mm256_movemask_ps(_mm256_loadu_ps((const float *)(const void *)(a + 8)));
    return !(((unsigned)low | (unsigned)high << 8) & mask);
#else
    uint32_t all = 0;
    for (unsigned l = 0; l < 16; l++)
        all |= a[l] & (0u - (mask >> l & 1u));
    return !(all >> 31);
#endif
}

/* The lanes in mask of 16 get the dwords at base + a[l]. */
static inline void load_scattered(uint32_t *d, const uint8_t *base, const uint32_t *a,
                                  uint32_t mask)
{
#ifdef __AVX512F__
    if (offsets_small(a, mask)) {
        __m512i old = _mm512_loadu_si512(d), at = _mm512_loadu_si512(a);
        _mm512_storeu_si512(
            d, _mm512_mask_i32gather_epi32(old, (__mmask16)mask, at, base, 1));
        return;
    }
#elif defined(__AVX2__)
    if (offsets_small(a, mask)) {
        for (unsigned i = 0; i < 2; i++, mask >>= 8) {
            __m256i *to = (__m256i *)(void *)(d + 8 * i);
            __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(a + 8 * i));
            _mm256_storeu_si256(
                to, _mm256_mask_i32gather_epi32(_mm256_loadu_si256(to),
                                                (const int *)(const void *)base, at,
                                                lanes_of_mask(mask), 1));
        }
        return;
    }
#endif
    FOR_LANES(l, mask)
    d[l] = load32(base + a[l]);
}

/* Compiled once for each constant argument: all lanes are the usual case. */
#define GATHER_INLINE static inline __attribute__((always_inline))

/* Sixteen lanes' 2 or 4 dwords from anywhere, four lanes at a time: rows are columns of
 * what they read. */
GATHER_INLINE void gather_lanes(uint32_t *d, const uint8_t *base, const uint32_t *a,
                                unsigned dwords)
{
    for (unsigned l = 0; l < 16; l += 4, a += 4, d += 4) {
        uint32_t v[4][4];
        for (unsigned n = 0; n < 4; n++)
            load_lane(v[n], base + a[n], dwords);
        if (dwords == 2) { /* v[n]: two dwords of lane n */
            __m128 low = _mm_castsi128_ps(
                _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(void *)v[0]),
                                   _mm_loadl_epi64((const __m128i *)(void *)v[1])));
            __m128 high = _mm_castsi128_ps(
                _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(void *)v[2]),
                                   _mm_loadl_epi64((const __m128i *)(void *)v[3])));
            _mm_storeu_ps((float *)(void *)d, _mm_shuffle_ps(low, high, 0x88));
            _mm_storeu_ps((float *)(void *)(d + 32), _mm_shuffle_ps(low, high, 0xdd));
            continue;
        }
        __m128i row[4], low[2], high[2];
        for (unsigned n = 0; n < 4; n++)
            row[n] = _mm_loadu_si128((const __m128i *)(void *)v[n]);
        for (unsigned n = 0; n < 2; n++) {
            low[n] = _mm_unpacklo_epi32(row[2 * n], row[2 * n + 1]);
            high[n] = _mm_unpackhi_epi32(row[2 * n], row[2 * n + 1]);
        }
        row[0] = _mm_unpacklo_epi64(low[0], low[1]);
        row[1] = _mm_unpackhi_epi64(low[0], low[1]);
        row[2] = _mm_unpacklo_epi64(high[0], high[1]);
        row[3] = _mm_unpackhi_epi64(high[0], high[1]);
        for (unsigned n = 0; n < 4; n++)
            _mm_storeu_si128((__m128i *)(void *)(d + 32 * n), row[n]);
    }
}

/* Sixteen lanes, of which those in mask (not 0), from base + a[l] into d, d + 32, ...
 */
GATHER_INLINE void gather_half(uint32_t *d, const uint8_t *base, const uint32_t *a,
                               const uint32_t mask, unsigned dwords)
{
    const unsigned first = (unsigned)__builtin_ctz(mask);
    const enum gather_shape shape = gather_shape(a, mask);
    uint32_t v[4] = {0};
    if (by_lane(dwords) && shape == GATHER_UNIFORM) {
        load_lane(v, base + a[first], dwords);
        for (unsigned k = 0; k < dwords; k++)
            fill_line(d + 32 * k, v[k], mask);
        return;
    }
    if (by_lane(dwords) && mask == 0xffffu) {
        gather_lanes(d, base, a, dwords);
        return;
    }
    if (by_lane(dwords)) {
        FOR_LANES(l, mask)
        {
            load_lane(v, base + a[l], dwords);
            for (unsigned k = 0; k < dwords; k++)
                d[32 * k + l] = v[k];
        }
        return;
    }
    for (unsigned k = 0; k < dwords; k++, base += 4, d += 32) {
        if (shape == GATHER_CONTIGUOUS)
            load_line(d, base + a[first] - (size_t)4 * first, mask);
        else if (shape == GATHER_SCATTERED)
            load_scattered(d, base, a, mask);
        else
            fill_line(d, load32(base + a[first]), mask);
    }
}

/* Dwords dwords per lane from base + a[l] into rows d, d + 32, ...; a is not in d. */
static inline void gather_rows(uint32_t *d, const uint8_t *base, const uint32_t *a,
                               uint32_t exec, unsigned dwords)
{
    uint32_t step = 0;
    if (exec == ~0u) {
        if (dwords > 1 && row_steps(a, &step) &&
            load_steps(d, base + a[0], step, dwords))
            return;
        gather_half(d, base, a, 0xffffu, dwords);
        gather_half(d + 16, base, a + 16, 0xffffu, dwords);
        return;
    }
    for (unsigned g = 0; g < 32; g += 16)
        if (exec >> g & 0xffffu)
            gather_half(d + g, base, a + g, exec >> g & 0xffffu, dwords);
}

GATHER_INLINE void scatter_half(const uint32_t *s, uint8_t *base, const uint32_t *a,
                                const uint32_t mask)
{
    const unsigned first = (unsigned)__builtin_ctz(mask);
    const unsigned last = 31u - (unsigned)__builtin_clz(mask);
    const enum gather_shape shape = gather_shape(a, mask);
    if (shape == GATHER_CONTIGUOUS)
        store_line(s, base + a[first] - (size_t)4 * first, mask);
    else if (shape == GATHER_UNIFORM)
        store32(base + a[first], s[last]);
    else
        FOR_LANES(l, mask)
    store32(base + a[l], s[l]);
}

/* The inverse of gather_rows; the highest lane wins where lanes collide. */
static inline void scatter_rows(const uint32_t *s, uint8_t *base, const uint32_t *a,
                                uint32_t exec, unsigned dwords)
{
    uint32_t step = 0, v[32 * 4];
    if (dwords == 1 && exec == ~0u) {
        scatter_half(s, base, a, 0xffffu);
        scatter_half(s + 16, base, a + 16, 0xffffu);
        return;
    }
    if (dwords == 1) {
        for (unsigned g = 0; g < 32; g += 16)
            if (exec >> g & 0xffffu)
                scatter_half(s + g, base, a + g, exec >> g & 0xffffu);
        return;
    }
    if (exec == ~0u && row_steps(a, &step) && store_steps(s, base + a[0], step, dwords))
        return;
    if (by_lane(dwords)) {
        if (dwords == 2)
            rows_together((uint8_t *)v, s, 2);
        else
            rows_together((uint8_t *)v, s, 4);
        FOR_LANES(l, exec)
        store_lane(base + a[l], v + (size_t)dwords * l, dwords);
    } else {
        FOR_LANES(l, exec)
        for (unsigned k = 0; k < dwords; k++)
            store32(base + a[l] + (size_t)4 * k, s[k * 32 + l]);
    }
}

/* ---- bytes and 16-bit words */

/* Zero-extended elements of 1 or 2 bytes; lanes outside of exec get anything. */
static inline void gather_small(uint32_t *d, const uint8_t *base, const uint32_t *a,
                                uint32_t exec, unsigned bytes)
{
    uint32_t step = 0;
    uint8_t b[32];
    uint16_t h[32];
    if (exec == ~0u && row_steps(a, &step) && step == bytes) {
        memcpy(bytes == 1 ? (void *)b : (void *)h, base + a[0], (size_t)32 * bytes);
        if (bytes == 1)
            for (unsigned l = 0; l < 32; l++)
                d[l] = b[l];
        else
            for (unsigned l = 0; l < 32; l++)
                d[l] = h[l];
        return;
    }
    memset(d, 0, 128);
    if (bytes == 1)
        FOR_LANES(l, exec)
    d[l] = __atomic_load_n(base + a[l], __ATOMIC_RELAXED);
    else FOR_LANES(l, exec)
    {
        uint16_t one;
        memcpy(&one, base + a[l], sizeof one);
        d[l] = one;
    }
}

/* The low bytes of s; the highest lane wins where lanes collide. */
static inline void scatter_small(const uint32_t *s, uint8_t *base, const uint32_t *a,
                                 uint32_t exec, unsigned bytes)
{
    uint32_t step = 0;
    uint8_t b[32];
    uint16_t h[32];
    for (unsigned l = 0; l < 32; l++)
        b[l] = (uint8_t)s[l], h[l] = (uint16_t)s[l];
    if (exec == ~0u && row_steps(a, &step) && step == bytes)
        memcpy(base + a[0], bytes == 1 ? (void *)b : (void *)h, (size_t)32 * bytes);
    else if (bytes == 1)
        FOR_LANES(l, exec)
    __atomic_store_n(base + a[l], b[l], __ATOMIC_RELAXED);
    else FOR_LANES(l, exec) memcpy(base + a[l], &h[l], sizeof h[l]);
}

/* ---- lanes that collide */

/* Do the lanes in mask of 16 have different dwords? A false no costs time only. */
static inline bool lanes_apart(const uint32_t *a, uint32_t mask)
{
#ifdef __AVX512CD__
    __m512i same = _mm512_conflict_epi32(_mm512_loadu_si512(a));
    return !_mm512_mask_test_epi32_mask((__mmask16)mask, same,
                                        _mm512_set1_epi32((int)mask));
#else
    uint8_t owner[256];
    bool apart = true;
    FOR_LANES(l, mask)
    owner[a[l] >> 2 & 255u] = (uint8_t)l;
    FOR_LANES(l, mask)
    apart &= owner[a[l] >> 2 & 255u] == l;
    return apart;
#endif
}

/* Dwords of different addresses: in any order. */
static inline void store_apart(const uint32_t *s, uint8_t *base, const uint32_t *a,
                               uint32_t mask)
{
#ifdef __AVX512F__
    if (offsets_small(a, mask)) {
        _mm512_mask_i32scatter_epi32(base, (__mmask16)mask, _mm512_loadu_si512(a),
                                     _mm512_loadu_si512(s), 1);
        return;
    }
#endif
    FOR_LANES(l, mask)
    store32(base + a[l], s[l]);
}

#endif
