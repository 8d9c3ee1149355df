/* images.cl: linear two-dimensional images through the instructions, against the same
 * texels read as memory. The descriptor is made by the kernel (manual 10.5, 10.6).
 * SPDX-License-Identifier: MIT
 */
#include "port.h"

#define WIDTH  64u /* rows of 256 bytes of RGBA8, of 1024 of float */
#define HEIGHT 16u

typedef uint v8u __attribute__((ext_vector_type(8)));

#ifdef __AMDGCN__
#define RGBA (4u | 5u << 3 | 6u << 6 | 7u << 9)
#define WAIT "\n\ts_waitcnt vmcnt(0)"
/* The descriptor and a sampler into s[16:23] and s[24:27]; all lanes have the same. */
#define DESCRIPTOR                                                                     \
    "v_readfirstlane_b32 s16, %[t0]\n\tv_readfirstlane_b32 s17, %[t1]\n\t"             \
    "v_readfirstlane_b32 s18, %[t2]\n\tv_readfirstlane_b32 s19, %[t3]\n\t"             \
    "s_mov_b64 s[20:21], 0\n\ts_mov_b64 s[22:23], 0\n\t"                               \
    "s_mov_b32 s24, 0x8092\n\ts_mov_b32 s25, 0xfff000\n\ts_mov_b64 s[26:27], 0\n\t"
#define FIELDS(t) [t0] "v"(t.s0), [t1] "v"(t.s1), [t2] "v"(t.s2), [t3] "v"(t.s3)
#define CLOBBERS                                                                       \
    "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26",       \
        "s27", "memory"
static inline v8u image(__global const uint *at, uint format)
{
    ulong a = (ulong)at >> 8;
    v8u t = {(uint)a,
             (uint)(a >> 32) | format << 20 | ((WIDTH - 1) & 3) << 30,
             (WIDTH - 1) >> 2 | (HEIGHT - 1) << 14,
             RGBA | 9u << 28,
             0,
             0,
             0,
             0};
    return t;
}
static inline float4 load(v8u t, int2 at, __global const uint *mem)
{
    float4 r;
    __asm__ volatile(DESCRIPTOR
                     "image_load %[r], %[at], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D" WAIT
                     : [r] "=&v"(r)
                     : [at] "v"(at), FIELDS(t)
                     : CLOBBERS);
    return r;
}
static inline void store(v8u t, int2 at, float4 v, __global uint *mem)
{
    __asm__ volatile(DESCRIPTOR
                     "image_store %[v], %[at], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D\n\t"
                     "s_waitcnt_vscnt null, 0x0" ::[v] "v"(v),
                     [at] "v"(at), FIELDS(t)
                     : CLOBBERS);
}
/* Nearest texel, unnormalised coordinates, clamped to the edge. */
static inline float4 nearest(v8u t, float2 at, __global const uint *mem)
{
    float4 r;
    __asm__ volatile(DESCRIPTOR "image_sample_lz %[r], %[at], s[16:23], s[24:27] "
                                "dmask:0xf dim:SQ_RSRC_IMG_2D" WAIT
                     : [r] "=&v"(r)
                     : [at] "v"(at), FIELDS(t)
                     : CLOBBERS);
    return r;
}
static inline uint add_texel(v8u t, int2 at, uint v, __global uint *mem)
{
    uint r = v;
    __asm__ volatile(DESCRIPTOR "image_atomic_add %[r], %[at], s[16:23] dmask:0x1 "
                                "dim:SQ_RSRC_IMG_2D glc" WAIT
                     : [r] "+&v"(r)
                     : [at] "v"(at), FIELDS(t)
                     : CLOBBERS);
    return r;
}
#else
static inline v8u image(__global const uint *at, uint format)
{
    v8u t = (v8u)(format);
    return t;
}
static inline float4 load(v8u t, int2 at, __global const uint *mem)
{
    if ((uint)at.x >= WIDTH || (uint)at.y >= HEIGHT)
        return (float4)(0.0f);
    uint i = (uint)at.y * WIDTH + (uint)at.x, v = mem[i];
    if (t.x == 42)
        return (float4)((float)(v & 255) / 255.0f, (float)(v >> 8 & 255) / 255.0f,
                        (float)(v >> 16 & 255) / 255.0f, (float)(v >> 24) / 255.0f);
    return (float4)(as_float(mem[4 * i]), as_float(mem[4 * i + 1]), as_float(mem[4 * i + 2]),
                    as_float(mem[4 * i + 3]));
}
static inline void store(v8u t, int2 at, float4 v, __global uint *mem)
{
    if ((uint)at.x >= WIDTH || (uint)at.y >= HEIGHT)
        return;
    for (uint i = 0; i < 4; i++)
        mem[4 * ((uint)at.y * WIDTH + (uint)at.x) + i] = as_uint(v[i]);
}
static inline float4 nearest(v8u t, float2 at, __global const uint *mem)
{
    int2 i = {(int)__builtin_floorf(at.x), (int)__builtin_floorf(at.y)};
    i.x = i.x < 0 ? 0 : i.x > (int)WIDTH - 1 ? (int)WIDTH - 1 : i.x;
    i.y = i.y < 0 ? 0 : i.y > (int)HEIGHT - 1 ? (int)HEIGHT - 1 : i.y;
    return load(t, i, mem);
}
static inline uint add_texel(v8u t, int2 at, uint v, __global uint *mem)
{
    uint i = (uint)at.y * WIDTH + (uint)at.x, old = mem[i];
    mem[i] += v;
    return old;
}
#endif

KERNEL image_load_rgba8(ARGS)
{
    MINE_IN;
    MINE_OUT;
    v8u t = image(in, 42);
    for (uint i = 0; i < 3; i++) {
        int2 at = {(int)(x[i] % (WIDTH + 8)) - 4, (int)(x[i + 3] % (HEIGHT + 4)) - 2};
        float4 v = load(t, at, in);
        for (uint c = 0; c < 4; c++)
            y[4 * i + c] = as_uint(v[c]);
    }
}

KERNEL image_sample_nearest(ARGS)
{
    MINE_IN;
    MINE_OUT;
    v8u t = image(in, 42);
    for (uint i = 0; i < 3; i++) {
        /* away from the edges of texels */
        float2 at = {(float)(int)(x[i] % 80) - 8.0f + 0.25f + 0.5f * (float)(x[i] >> 31),
                     (float)(int)(x[i + 3] % 24) - 4.0f + 0.375f};
        float4 v = nearest(t, at, in);
        for (uint c = 0; c < 4; c++)
            y[4 * i + c] = as_uint(v[c]);
    }
}

/* Each item has a texel of its own. */
KERNEL image_store_float(ARGS)
{
    MINE_IN;
    v8u t = image(out, 63);
    float4 v = {tame(x[0]), tame(x[1]), tame(x[2]), tame(x[3])};
    int2 at = {(int)(ID % WIDTH), (int)(ID / WIDTH)};
    store(t, at, v, out);
}

KERNEL image_atomic_texel(ARGS)
{
    MINE_IN;
    v8u t = image(out, 20);
    int2 at = {(int)(ID % WIDTH), (int)(ID / WIDTH)};
    uint old = add_texel(t, at, x[0], out);
    out[WIDTH * HEIGHT + ID] = old + add_texel(t, at, x[1], out);
}
