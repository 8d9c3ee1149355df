/* groups.cl: work-items together: local memory, barriers, atomics, sub-groups.
 * SPDX-License-Identifier: MIT
 */
#include "port.h"

typedef __global atomic_uint *global_atomic;
typedef LOCAL_PTR atomic_uint *local_atomic;
#define RELAXED     memory_order_relaxed, memory_scope_device
#define ADD(at, v)  __opencl_atomic_fetch_add(at, v, RELAXED)
#define GLOBAL(i)   ((global_atomic)(out + (i)))
#define SHARED(a)   ((local_atomic)(a))

KERNEL lds_reduce(ARGS)
{
    LOCAL uint t[BLOCK];
    MINE_IN;
    t[ITEM] = x[0] + x[1] * 3u;
    barrier_lds();
    for (uint n = BLOCK / 2; n; n >>= 1) {
        if (ITEM < n)
            t[ITEM] += t[ITEM + n] ^ n;
        barrier_lds();
    }
    out[ID * WORDS] = t[0];
}

KERNEL lds_scan(ARGS)
{
    LOCAL uint t[2][BLOCK];
    MINE_IN;
    uint from = 0;
    t[0][ITEM] = x[0] & 0xffff;
    barrier_lds();
    for (uint n = 1; n < BLOCK; n <<= 1) {
        t[1 - from][ITEM] = t[from][ITEM] + (ITEM >= n ? t[from][ITEM - n] : 0u);
        from = 1 - from;
        barrier_lds();
    }
    out[ID * WORDS] = t[from][ITEM];
}

KERNEL lds_transpose(ARGS)
{
    LOCAL ulong tile[16][BLOCK / 16 + 1];
    MINE_IN;
    tile[ITEM % 16][ITEM / 16] = get64(x);
    barrier_lds();
    put64(out + ID * WORDS, tile[ITEM / 8][ITEM % 8]);
}

KERNEL lds_matmul(ARGS)
{
    LOCAL float a[8][16], b[16][8];
    MINE_IN;
    float acc = 0;
    uint row = ITEM / 8 % 8, col = ITEM % 8;
    for (uint k = 0; k < 4; k++) {
        a[ITEM / 16][ITEM % 16] = tame(x[k]);
        b[ITEM / 8][ITEM % 8] = tame(x[4 + k]);
        barrier_lds();
        for (uint i = 0; i < 16; i++)
            acc = __builtin_fmaf(a[row][i], b[i][col], acc);
        barrier_lds();
    }
    out[ID * WORDS] = f32_bits(acc);
}

KERNEL lds_bitonic(ARGS)
{
    LOCAL uint t[BLOCK];
    MINE_IN;
    t[ITEM] = x[0];
    for (uint k = 2; k <= BLOCK; k <<= 1)
        for (uint j = k >> 1; j; j >>= 1) {
            barrier_lds();
            uint other = ITEM ^ j;
            uint mine = t[ITEM], theirs = t[other];
            bool up = !(ITEM & k), low = ITEM < other;
            barrier_lds();
            t[ITEM] = up == low ? (mine < theirs ? mine : theirs)
                                : (mine > theirs ? mine : theirs);
        }
    barrier_lds();
    out[ID * WORDS] = t[ITEM];
}

KERNEL lds_stencil(ARGS)
{
    LOCAL float t[BLOCK + 2];
    MINE_IN;
    t[ITEM + 1] = tame(x[0]);
    if (ITEM == 0)
        t[0] = 0.0f, t[BLOCK + 1] = 1.0f;
    barrier_lds();
    float v = t[ITEM + 1];
    for (uint i = 0; i < 5; i++) {
        v = 0.25f * t[ITEM] + 0.5f * v + 0.25f * t[ITEM + 2];
        barrier_lds();
        t[ITEM + 1] = v;
        barrier_lds();
    }
    out[ID * WORDS] = f32_bits(v);
}

KERNEL lds_narrow(ARGS)
{
    LOCAL uchar bytes[BLOCK * 4];
    LOCAL ushort shorts[BLOCK * 2];
    LOCAL ulong longs[BLOCK];
    MINE_IN;
    MINE_OUT;
    for (uint i = 0; i < 4; i++)
        bytes[ITEM * 4 + (3 - i)] = (uchar)(x[0] >> 8 * i);
    shorts[ITEM] = (ushort)x[1], shorts[BLOCK + ITEM] = (ushort)(x[1] >> 16);
    longs[ITEM] = get64(x + 2);
    barrier_lds();
    uint o = (ITEM * 37 + 5) % BLOCK;
    y[0] = bytes[o * 4] + bytes[o * 4 + 1] * 256u + (uint)(int)(char)bytes[o * 4 + 2];
    y[1] = shorts[o] + (uint)(int)(short)shorts[BLOCK + o];
    put64(y + 2, longs[o] + longs[(o + 1) % BLOCK]);
}

KERNEL atomic_histogram(ARGS)
{
    LOCAL uint bins[32];
    MINE_IN;
    if (ITEM < 32)
        bins[ITEM] = 0;
    barrier_lds();
    for (uint i = 0; i < 8; i++)
        ADD(SHARED(&bins[x[i] % 32]), 1u + (x[i] & 3));
    barrier_lds();
    if (ITEM < 32)
        ADD(GLOBAL(ITEM), bins[ITEM]);
}

KERNEL atomic_all(ARGS)
{
    MINE_IN;
    uint k = x[0] % 8;
    ADD(GLOBAL(k), x[1]);
    __opencl_atomic_fetch_sub(GLOBAL(8 + k), x[2], RELAXED);
    __opencl_atomic_fetch_and(GLOBAL(16 + k), x[3] | 0xff00ff00u, RELAXED);
    __opencl_atomic_fetch_or(GLOBAL(24 + k), x[4] & 0x11111111u, RELAXED);
    __opencl_atomic_fetch_xor(GLOBAL(32 + k), x[5], RELAXED);
    __opencl_atomic_fetch_max(GLOBAL(40 + k), x[6], RELAXED);
    __opencl_atomic_fetch_min(GLOBAL(48 + k), x[7], RELAXED);
    __opencl_atomic_fetch_max((__global atomic_int *)(out + 56 + k), (int)x[8], RELAXED);
    __opencl_atomic_fetch_add((__global atomic_ulong *)(out + 64 + 2 * k), get64(x + 9),
                              RELAXED);
    __opencl_atomic_fetch_max((__global atomic_ulong *)(out + 96 + 2 * k), get64(x + 11),
                              RELAXED);
}

/* A maximum by compare and swap, and a ticket that everybody draws once. */
KERNEL atomic_cas(ARGS)
{
    MINE_IN;
    uint k = x[0] % 8, v = x[1] & 0xffffff;
    uint old = __opencl_atomic_load(GLOBAL(k), RELAXED);
    while (old % 0x1000000 < v)
        if (__opencl_atomic_compare_exchange_strong(GLOBAL(k), &old, v,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed,
                                                    memory_scope_device))
            break;
    uint ticket = ADD(GLOBAL(8), 1u);
    ADD(GLOBAL(16 + ticket), ticket + 1u); /* one item each */
}

KERNEL atomic_lds_all(ARGS)
{
    LOCAL uint t[8];
    LOCAL ulong w[4];
    MINE_IN;
    if (ITEM < 8)
        t[ITEM] = ITEM == 3 ? ~0u : 0u;
    if (ITEM < 4)
        w[ITEM] = 0;
    barrier_lds();
    ADD(SHARED(&t[0]), x[0]);
    __opencl_atomic_fetch_xor(SHARED(&t[1]), x[1], RELAXED);
    __opencl_atomic_fetch_max(SHARED(&t[2]), x[2], RELAXED);
    __opencl_atomic_fetch_min(SHARED(&t[3]), x[3], RELAXED);
    __opencl_atomic_fetch_or(SHARED(&t[4]), x[4], RELAXED);
    __opencl_atomic_fetch_add((LOCAL_PTR atomic_ulong *)&w[x[5] % 4], get64(x + 6), RELAXED);
    barrier_lds();
    if (ITEM < 8)
        out[ID * WORDS] = t[ITEM];
    if (ITEM < 4)
        put64(out + ID * WORDS + 2, w[ITEM]);
}

KERNEL sub_reduce(ARGS)
{
    MINE_IN;
    MINE_OUT;
    uint v = x[0], m = x[1];
    for (uint n = 1; n < 32; n <<= 1) {
        v += sub_shuffle(v, (sub_lane() & 31) ^ n);
        uint o = sub_shuffle(m, (sub_lane() & 31) ^ n);
        m = o > m ? o : m;
    }
    y[0] = v, y[1] = m;
}

KERNEL sub_votes(ARGS)
{
    MINE_IN;
    MINE_OUT;
    ulong odd = sub_ballot(x[0] & 1), big = sub_ballot(x[1] > x[2]);
    put64(y, odd), put64(y + 2, big);
    y[4] = (uint)__builtin_popcountll(odd & ((1ul << sub_lane()) - 1ul));
    y[5] = (odd == 0) | (uint)(big != 0) << 1;
    y[6] = sub_first(x[3]) + sub_read(x[4], 7) + sub_read(x[5], WAVE - 1);
}

KERNEL sub_moves(ARGS)
{
    MINE_IN;
    MINE_OUT;
    y[0] = sub_row_ror5(x[0]), y[1] = sub_quad_reverse(x[1]);
    y[2] = sub_row_shr1(x[2]), y[3] = sub_row_swap(x[3]);
    uint s = x[4] & 0xffff; /* inclusive scan of rows */
    s += sub_row_shr1(s);
    y[4] = s + sub_row_ror5(sub_quad_reverse(s));
    y[5] = sub_shuffle(x[5], x[6] & 31);
}

/* Barriers inside of a loop whose length all items agree on. */
KERNEL group_rounds(ARGS)
{
    LOCAL uint t[BLOCK];
    uint v = in[ID * WORDS], rounds = 3 + in[GROUP] % 5;
    for (uint i = 0; i < rounds; i++) {
        t[ITEM] = v;
        barrier_lds();
        uint o = t[(ITEM + i * 17 + 1) % BLOCK];
        if (o & 1) {
            for (uint k = 0; k < (o & 7); k++)
                v = v * 5 + k;
        } else {
            v ^= o >> 3;
        }
        barrier_lds();
    }
    out[ID * WORDS] = v;
}
