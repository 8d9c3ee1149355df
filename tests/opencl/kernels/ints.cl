/* ints.cl: integers: all widths, division, bits, control flow, private arrays, structs.
 * SPDX-License-Identifier: MIT
 */
#include "port.h"

KERNEL int_arith(ARGS)
{
    MINE_IN;
    MINE_OUT;
    int a = (int)x[0], b = (int)x[1];
    uint c = x[2], d = x[3];
    y[0] = (uint)a + (uint)b * c - d;
    y[1] = b == 0 || (a == (-2147483647 - 1) && b == -1) ? 7u : (uint)(a / b);
    y[2] = b == 0 || (a == (-2147483647 - 1) && b == -1) ? 8u : (uint)(a % b);
    y[3] = d == 0 ? 9u : c / d;
    y[4] = d == 0 ? 10u : c % d;
    y[5] = (uint)(a / 7) + (uint)(a % 10) * 3u + c / 641u;
    y[6] = (uint)(((long)a * b) >> 32);
    y[7] = (uint)(((ulong)c * d) >> 32);
    y[8] = (uint)(a < b) | (uint)(c < d) << 1 | (uint)(a <= (int)c) << 2;
    y[9] = (uint)((a << 8 >> 8) * (b << 8 >> 8)) + (c & 0xffffffu) * (d & 0xffffffu);
    y[10] = (uint)(a > b ? a : b) - (uint)(a < (int)d ? a : (int)d);
}

KERNEL int_div64(ARGS)
{
    MINE_IN;
    MINE_OUT;
    ulong a = get64(x), b = get64(x + 2) >> (x[4] & 63);
    long c = (long)a, d = (long)get64(x + 6) >> (x[5] & 63);
    put64(y, b ? a / b : 1);
    put64(y + 2, b ? a % b : 2);
    bool bad = d == 0 || d == -1;
    put64(y + 4, bad ? 3 : (ulong)(c / d));
    put64(y + 6, bad ? 4 : (ulong)(c % d));
    put64(y + 8, a / 1000000007u + a % 10);
    put64(y + 10, (ulong)(c / -3));
}

KERNEL int_shift64(ARGS)
{
    MINE_IN;
    MINE_OUT;
    ulong a = get64(x), b = get64(x + 2);
    uint n = x[4] & 63;
    put64(y, a << n);
    put64(y + 2, a >> n);
    put64(y + 4, (ulong)((long)a >> n));
    put64(y + 6, n ? a << n | a >> (64 - n) : a);
    put64(y + 8, a * b);
    put64(y + 10, a - b + (a < b));
    put64(y + 12, ((a & b) ^ (a | ~b)) + (b << 17));
    y[14] = (uint)(a == b) | (uint)((long)a < (long)b) << 1 | (uint)(a >= b) << 2;
}

static inline ulong mul_high(ulong a, ulong b)
{
    ulong al = (uint)a, ah = a >> 32, bl = (uint)b, bh = b >> 32;
    ulong mid = ah * bl + (al * bl >> 32), mid2 = al * bh + (uint)mid;
    return ah * bh + (mid >> 32) + (mid2 >> 32);
}

KERNEL int_bignum(ARGS)
{
    MINE_IN;
    MINE_OUT;
    uint r[8] = {0};
    put64(y, mul_high(get64(x), get64(x + 2)));
    for (uint i = 0; i < 4; i++) {
        ulong carry = 0;
        for (uint j = 0; j < 4; j++) {
            ulong t = (ulong)x[i] * x[4 + j] + r[i + j] + carry;
            r[i + j] = (uint)t;
            carry = t >> 32;
        }
        r[i + 4] = (uint)carry;
    }
    for (uint i = 0; i < 8; i++)
        y[2 + i] = r[i];
}

KERNEL int_bits(ARGS)
{
    MINE_IN;
    MINE_OUT;
    uint a = x[0], n = x[1] & 31;
    ulong b = get64(x + 2);
    y[0] = (uint)__builtin_popcount(a) + (uint)__builtin_popcountll(b) * 64u;
    y[1] = a ? (uint)__builtin_clz(a) : 32u;
    y[2] = a ? (uint)__builtin_ctz(a) : 32u;
    y[3] = b ? (uint)__builtin_clzll(b) + 100u * (uint)__builtin_ctzll(b) : 64u;
    y[4] = __builtin_bitreverse32(a);
    put64(y + 5, __builtin_bitreverse64(b));
    y[7] = __builtin_bswap32(a);
    put64(y + 8, __builtin_bswap64(b));
    y[10] = __builtin_rotateleft32(a, n);
    y[11] = a >> n & ((1u << (x[4] & 15)) - 1u);
    y[12] = (uint)((int)(a << 11) >> 23);
    y[13] = (a & x[5]) | (~a & x[6]);
    y[14] = a ^ a >> 16 ^ (a & (0u - a)) ^ (a & (a - 1));
}

KERNEL int_narrow(ARGS)
{
    MINE_IN;
    MINE_OUT;
    char a = (char)x[0], b = (char)(x[0] >> 8);
    uchar c = (uchar)x[1], d = (uchar)(x[1] >> 8);
    short e = (short)x[2], f = (short)(x[2] >> 16);
    ushort g = (ushort)x[3], h = (ushort)(x[3] >> 16);
    y[0] = (uint)(int)(char)(a + b) ^ (uint)(uchar)(c * d);
    y[1] = (uint)(int)(short)(e * f) + (ushort)(g + h);
    y[2] = (uint)(b ? a / b : 0) + (d ? c % d : 0u);
    y[3] = (uint)(int)(f ? (short)(e / f) : e) ^ (h ? (uint)(ushort)(g % h) : 1u);
    y[4] = (uint)(a < b) + 2u * (c < d) + 4u * (e < f) + 8u * (g < h);
    int s = a + b, t = e - f; /* saturated */
    y[5] = (uint)(s > 127 ? 127 : s < -128 ? -128 : s);
    y[6] = (uint)(t > 32767 ? 32767 : t < -32768 ? -32768 : t);
    y[7] = (uint)(ushort)(g << (x[4] & 15)) | (uint)(short)(e >> (x[4] & 15)) << 16;
}

KERNEL int_vectors(ARGS)
{
    MINE_IN;
    MINE_OUT;
    uint4 a = (uint4)(x[0], x[1], x[2], x[3]), b = (uint4)(x[4], x[5], x[6], x[7]);
    int4 m = (int4)(a > b);
    uint4 c = a * b.wzyx + a.yxwz;
    uchar4 q = as_uchar4(x[8]), r = as_uchar4(x[9]);
    short2 s = as_short2(x[10]) * as_short2(x[11]) + (short2)(3, -5);
    uint4 sel = m ? a : b;
    c.xz ^= sel.wy;
    y[0] = c.x, y[1] = c.y, y[2] = c.z, y[3] = c.w;
    y[4] = as_uint(q + r), y[5] = as_uint(q * r), y[6] = as_uint(s);
    y[7] = as_uint((short2)(as_short2(x[12]) >> (short2)(3, 7)));
    y[8] = sel.x + sel.y * 3u + sel.z * 5u + sel.w * 7u;
    uint3 t = a.zxy;
    t += 1u;
    y[9] = t.x, y[10] = t.y, y[11] = t.z;
}

KERNEL int_switch(ARGS)
{
    MINE_IN;
    MINE_OUT;
    uint acc = p.n, steps = 0;
    for (uint i = 0; i < 24; i++) {
        uint v = x[i % WORDS] >> (i / 2);
        switch (v % 13) {
        case 0:
            acc += v;
            break;
        case 1:
            acc ^= v << 3;
            /* falls through */
        case 2:
            acc = acc * 3 + 1;
            break;
        case 5:
            continue;
        case 7:
            acc -= i;
            if (acc & 1)
                break;
            acc >>= 2;
            break;
        case 9:
            while (acc > 0xffffff)
                acc >>= 3, steps++;
            break;
        case 12:
            if (i > 17)
                goto done;
            break;
        default:
            acc = (acc << 1 | acc >> 31) + 11;
        }
        steps++;
    }
done:
    y[0] = acc;
    y[1] = steps;
}

KERNEL int_collatz(ARGS)
{
    MINE_IN;
    MINE_OUT;
    for (uint k = 0; k < 4; k++) {
        ulong v = (x[k] & 0xffff) + 1;
        uint n = 0;
        while (v != 1 && n < 200) {
            v = v & 1 ? 3 * v + 1 : v / 2;
            n++;
        }
        y[k] = n ^ (uint)v;
    }
}

struct pair {
    uint key;
    ushort weight;
    uchar tag[3];
};

__attribute__((noinline)) static struct pair combine(struct pair a, struct pair b, uint how)
{
    struct pair r = how & 1 ? a : b;
    r.key += b.key * 31u;
    r.weight = (ushort)(a.weight - b.weight);
    r.tag[how % 3] ^= a.tag[(how + 1) % 3];
    return r;
}

__attribute__((noinline)) static uint depth3(uint v) { return v * 2654435761u ^ v >> 15; }
__attribute__((noinline)) static uint depth2(uint v) { return depth3(v + 1) + depth3(v ^ 5); }
__attribute__((noinline)) static uint depth1(uint v, uint n)
{
    uint s = 0;
    for (uint i = 0; i < n; i++)
        s += depth2(v + i);
    return s;
}

KERNEL int_calls(ARGS)
{
    MINE_IN;
    MINE_OUT;
    struct pair a = {x[0], (ushort)x[1], {1, 2, 3}}, b = {x[2], (ushort)x[3], {4, 5, 6}};
    for (uint i = 0; i < 5; i++) {
        struct pair c = combine(a, b, x[4 + i]);
        b = a;
        a = c;
    }
    y[0] = a.key, y[1] = a.weight, y[2] = a.tag[0] | (uint)a.tag[1] << 8 | (uint)a.tag[2] << 16;
    y[3] = depth1(x[9], x[10] % 5 + (uint)p.s % 3);
}

KERNEL int_scratch(ARGS)
{
    MINE_IN;
    MINE_OUT;
    uint v[WORDS];
    uchar order[64];
    for (uint i = 0; i < WORDS; i++)
        v[i] = x[i];
    for (uint i = 0; i < 64; i++)
        order[i] = (uchar)(i * 5 + x[i % 7]);
    for (uint i = 1; i < WORDS; i++) { /* insertion sort */
        uint k = v[i], j = i;
        for (; j > 0 && v[j - 1] > k; j--)
            v[j] = v[j - 1];
        v[j] = k;
    }
    for (uint i = 0; i < WORDS; i++)
        y[i] = v[i] + order[order[v[i] & 63] & 63];
}

__constant uint table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                             0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                             0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                             0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

KERNEL int_crc(ARGS)
{
    MINE_OUT;
    __global const uchar *bytes = (__global const uchar *)(in + ID * WORDS);
    uint crc = ~0u;
    for (uint i = 0; i < 4 * WORDS; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    y[0] = ~crc;
}

KERNEL int_struct_args(ARGS)
{
    MINE_IN;
    MINE_OUT;
    put64(y, p.l * x[0] + (ulong)p.a);
    y[2] = (uint)(p.s * (int)x[1]) + p.b;
    y[3] = p.n + (p.b & 1 ? (uint)p.a : (uint)p.s);
    y[4] = f32_bits(p.f * tame(x[2]));
}

/* Bytes at odd addresses, gathered through an index. */
KERNEL int_gather(ARGS)
{
    MINE_IN;
    MINE_OUT;
    __global const uchar *bytes = (__global const uchar *)in;
    __global uchar *to = (__global uchar *)y;
    uint limit = p.n * WORDS * 4;
    for (uint i = 0; i < 20; i++)
        to[i] = bytes[(x[i % WORDS] * 7 + i) % limit];
    for (uint i = 0; i < 8; i++) {
        uint at = (x[i] % (limit - 8));
        uint v = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 |
                 (uint)bytes[at + 3] << 24;
        y[6 + i] = v + in[x[i] % (p.n * WORDS)];
    }
}
