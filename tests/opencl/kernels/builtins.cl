/* builtins.cl: what compilers make of builtins: dot products, byte moves, 24-bit
 * products, medians, packing, matrix products; the host computes the definitions.
 * SPDX-License-Identifier: MIT
 */
#include "port.h"

typedef int v4i __attribute__((ext_vector_type(4)));
typedef int v8i __attribute__((ext_vector_type(8)));
typedef float v8f __attribute__((ext_vector_type(8)));
typedef half v16h __attribute__((ext_vector_type(16)));

#ifndef __AMDGCN__
static inline int part(uint v, uint i, uint bits, bool sign)
{
    int x = (int)(v << (32 - bits * (i + 1)));
    return sign ? x >> (32 - bits) : (int)((uint)x >> (32 - bits));
}
static inline int dot(uint a, bool sa, uint b, bool sb, uint c, uint bits, int how)
{
    long r = how == 2 ? (long)c : (long)(int)c; /* 0: wraps, 1: saturates, 2: unsigned */
    for (uint i = 0; i < 32 / bits; i++)
        r += (long)part(a, i, bits, sa) * part(b, i, bits, sb);
    if (how == 1)
        r = r > 0x7fffffff ? 0x7fffffff : r < -0x7fffffffl - 1 ? -0x7fffffffl - 1 : r;
    if (how == 2)
        r = r > 0xffffffffl ? 0xffffffffl : r;
    return (int)r;
}
#endif

KERNEL isa_dots(ARGS)
{
    MINE_IN;
    MINE_OUT;
    uint a = x[0], b = x[1], c = x[2];
#ifdef __AMDGCN__
    y[0] = (uint)__builtin_amdgcn_sudot4(true, (int)a, true, (int)b, (int)c, false);
    y[1] = (uint)__builtin_amdgcn_sudot4(false, (int)a, true, (int)b, (int)c, true);
    y[2] = (uint)__builtin_amdgcn_sudot8(true, (int)a, false, (int)b, (int)c, false);
    y[3] = (uint)__builtin_amdgcn_sudot8(true, (int)a, true, (int)b, (int)c, true);
    y[4] = __builtin_amdgcn_udot4(a, b, c, true);
    y[5] = __builtin_amdgcn_udot8(a, b, c, true);
#else
    y[0] = (uint)dot(a, true, b, true, c, 8, 0);
    y[1] = (uint)dot(a, false, b, true, c, 8, 1);
    y[2] = (uint)dot(a, true, b, false, c, 4, 0);
    y[3] = (uint)dot(a, true, b, true, c, 4, 1);
    y[4] = (uint)dot(a, false, b, false, c, 8, 2);
    y[5] = (uint)dot(a, false, b, false, c, 4, 2);
#endif
}

KERNEL isa_bytes(ARGS)
{
    MINE_IN;
    MINE_OUT;
    uint a = x[0], b = x[1], c = x[2];
#ifdef __AMDGCN__
    y[0] = __builtin_amdgcn_perm(a, b, c & 0x07070707u);
    y[1] = __builtin_amdgcn_alignbit(a, b, c);
    y[2] = __builtin_amdgcn_alignbyte(a, b, c);
    y[3] = __builtin_amdgcn_ubfe(a, b & 31, c & 31);
    y[4] = (uint)__builtin_amdgcn_sbfe((int)a, b & 15, (c & 15) + 1);
    y[5] = __builtin_amdgcn_sad_u8(a, b, c);
    y[6] = __builtin_amdgcn_sad_u16(a, b, c);
    y[7] = __builtin_amdgcn_lerp(a, b, c);
#else
    ulong both = (ulong)a << 32 | b;
    y[0] = y[5] = y[7] = 0;
    for (uint i = 0; i < 32; i += 8) {
        uint p = a >> i & 255, q = b >> i & 255;
        y[0] |= (uint)(both >> 8 * (c >> i & 7) & 255) << i;
        y[5] += p > q ? p - q : q - p;
        y[7] |= (p + q + (c >> i & 1)) >> 1 << i;
    }
    y[5] += c;
    y[1] = (uint)(both >> (c & 31));
    y[2] = (uint)(both >> 8 * (c & 3));
    y[3] = a >> (b & 31) & ((1u << (c & 31)) - 1u);
    uint n = (c & 15) + 1;
    y[4] = (uint)((int)(a >> (b & 15) << (32 - n)) >> (32 - n));
    uint lo = a & 0xffff, hi = a >> 16, lo2 = b & 0xffff, hi2 = b >> 16;
    y[6] = c + (lo > lo2 ? lo - lo2 : lo2 - lo) + (hi > hi2 ? hi - hi2 : hi2 - hi);
#endif
}

KERNEL isa_floats(ARGS)
{
    MINE_IN;
    MINE_OUT;
    float a = tame(x[0]), b = tame(x[1]), c = tame(x[2]);
    half h = (half)a, k = (half)b;
    /* mixed precision: halves and floats in one product */
    y[0] = f32_bits(__builtin_fmaf((float)h, (float)k, c));
    y[1] = f32_bits(__builtin_fmaf((float)h, b, (float)k));
#ifdef __AMDGCN__
    y[2] = f32_bits(__builtin_amdgcn_fmed3f(a, b, c));
    y[3] = f32_bits(__builtin_amdgcn_frexp_mantf(a));
    y[4] = (uint)__builtin_amdgcn_frexp_expf(a);
    y[5] = __builtin_amdgcn_classf(as_float(x[3]), 0x207) ? 1u : 0u; /* NaN, infinity */
    y[6] = f32_bits(__builtin_amdgcn_fractf(b));
    y[7] = f32_bits(__builtin_amdgcn_cubema(a, b, c));
#else
    float low = a < b ? a : b, high = a < b ? b : a;
    y[2] = f32_bits(c < low ? low : c > high ? high : c);
    int e = (int)(as_uint(a) >> 23 & 255) - 126;
    y[3] = (as_uint(a) & 0x807fffffu) | 126u << 23;
    y[4] = (uint)e;
    y[5] = (x[3] & 0x7f800000u) == 0x7f800000u;
    y[6] = f32_bits(b - __builtin_floorf(b));
    float x1 = __builtin_fabsf(a), y1 = __builtin_fabsf(b), z1 = __builtin_fabsf(c);
    y[7] = f32_bits(2.0f * (z1 >= x1 && z1 >= y1 ? c : y1 >= x1 ? b : a));
#endif
}

/* Rows of A and columns of B are the words of the items of a sub-group; lanes 16 to 31
 * repeat lanes 0 to 15. */
#if WAVE == 32
#define TILE_REGS 8
#else
#define TILE_REGS 4
#endif
#define FIRST(lane) (in + (GROUP * BLOCK + ITEM / WAVE * WAVE + (lane)) * WORDS)
#define ROW(r)      ((r) * (WAVE / 16) + sub_lane() / 16)
#define COLUMN      (sub_lane() % 16)

KERNEL isa_matrix_bytes(ARGS)
{
    MINE_OUT;
    __global const uint *a = FIRST(sub_lane() % 16), *b = FIRST(sub_lane() % 16) + 4;
    int c = (int)in[GROUP];
#ifdef __AMDGCN__
    v4i va = {(int)a[0], (int)a[1], (int)a[2], (int)a[3]};
    v4i vb = {(int)b[0], (int)b[1], (int)b[2], (int)b[3]};
#if WAVE == 32
    v8i vc = {c, c, c, c, c, c, c, c};
    vc = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, va, false, vb, vc, false);
#else
    v4i vc = {c, c, c, c};
    vc = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w64(true, va, false, vb, vc, false);
#endif
    for (uint r = 0; r < TILE_REGS; r++)
        y[r] = (uint)vc[r];
#else
    for (uint r = 0; r < TILE_REGS; r++) {
        int sum = c;
        for (uint k = 0; k < 16; k++)
            sum += (int)(char)(FIRST(ROW(r))[k / 4] >> 8 * (k % 4)) *
                   (int)(uchar)(FIRST(COLUMN)[4 + k / 4] >> 8 * (k % 4));
        y[r] = (uint)sum;
    }
#endif
}

/* Small integers in f16: every sum is exact. */
#define SMALL(word, k) ((half)(int)((word)[(k) / 8] >> 4 * ((k) % 8) & 15) - (half)8.0f)

KERNEL isa_matrix_halves(ARGS)
{
    MINE_OUT;
#ifdef __AMDGCN__
    __global const uint *a = FIRST(sub_lane() % 16), *b = FIRST(sub_lane() % 16) + 4;
    v16h va, vb;
    for (uint k = 0; k < 16; k++)
        va[k] = SMALL(a, k), vb[k] = SMALL(b, k);
#if WAVE == 32
    v8f vc = {0, 1, 2, 3, 4, 5, 6, 7};
    vc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(va, vb, vc);
#else
    float4 vc = {0, 1, 2, 3};
    vc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w64(va, vb, vc);
#endif
    for (uint r = 0; r < TILE_REGS; r++)
        y[r] = f32_bits(vc[r]);
#else
    for (uint r = 0; r < TILE_REGS; r++) {
        float sum = (float)r;
        for (uint k = 0; k < 16; k++)
            sum += (float)SMALL(FIRST(ROW(r)), k) * (float)SMALL(FIRST(COLUMN) + 4, k);
        y[r] = f32_bits(sum);
    }
#endif
}

/* Float atomics whose sums are exact, and exchange that everybody sees once. */
KERNEL isa_float_atomics(ARGS)
{
    LOCAL float t[4];
    MINE_IN;
    float v = (float)(int)(x[0] & 1023);
    if (ITEM < 4)
        t[ITEM] = 0;
    barrier_lds();
#ifdef __AMDGCN__
    __builtin_amdgcn_ds_faddf((LOCAL_PTR float *)&t[x[1] % 4], v, 0, 0, false);
    __builtin_amdgcn_global_atomic_fadd_f32((__global float *)out + 4 + x[1] % 4, v);
#else
    t[x[1] % 4] += v;
    ((__global float *)out)[4 + x[1] % 4] += v;
#endif
    barrier_lds();
    if (ITEM < 4)
        out[16 + GROUP * 4 + ITEM] = f32_bits(t[ITEM]);
}
