/* flash_attention.cl: softmax(Q K^T / sqrt(d)) V, f16 in, f32 out, (heads, 256, 64): the
 * tiles of compiler/examples/flash_attention.c, a workgroup of four waves for 64 rows.
 * SPDX-License-Identifier: MIT
 */
#include "lanes.h"

#define N    256
#define D    64
#define TILE 64
#define PAD  8

typedef half half8v __attribute__((ext_vector_type(8)));

static inline fragment take(__local const half *at)
{
    half8v lo = *(__local const half8v *)at, hi = *(__local const half8v *)(at + 8);
    return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                   14, 15);
}

__kernel BLOCK(128) void flash_attention(__global float *restrict out,
                                         __global const half *restrict q,
                                         __global const half *restrict k,
                                         __global const half *restrict v)
{
    __local half q_lds[TILE * (D + PAD)] __attribute__((aligned(16)));
    __local half k_lds[TILE * (D + PAD)] __attribute__((aligned(16)));
    __local half v_lds[D * (TILE + PAD)] __attribute__((aligned(16)));
    __local half p_lds[TILE * (TILE + PAD)] __attribute__((aligned(16)));
    uint thread = LANE, lane = LANE & 31, wave = LANE >> 5;
    uint head = GROUP / (N / TILE), block = GROUP % (N / TILE);
    uint low = lane % 16, high = lane / 16;
    tile acc[D / 16] = {0};
    float top[8], sum[8];
    for (uint i = 0; i < 8; i++) {
        top[i] = -INFINITY;
        sum[i] = 0;
    }
    q += (head * N + block * TILE) * D;
    out += (head * N + block * TILE) * D;
    k += head * N * D;
    v += head * N * D;
    for (uint i = 0; i < TILE * D / 1024; i++) {
        uint e = i * 1024 + thread * 8;
        *(__local half8v *)(q_lds + e / D * (D + PAD) + e % D) =
            *(__global const half8v *)(q + e);
    }
    for (uint n = 0; n < N; n += TILE) {
        barrier_lds();
        for (uint i = 0; i < TILE * D / 1024; i++) {
            uint e = i * 1024 + thread * 8;
            *(__local half8v *)(k_lds + e / D * (D + PAD) + e % D) =
                *(__global const half8v *)(k + n * D + e);
            half8v x = *(__global const half8v *)(v + n * D + e);
            for (uint j = 0; j < 8; j++)
                v_lds[(e % D + j) * (TILE + PAD) + e / D] = x[j];
        }
        barrier_lds();
        tile s[TILE / 16] = {0};
        for (uint x = 0; x < D / 16; x++) {
            fragment a = take(q_lds + (wave * 16 + low) * (D + PAD) + x * 16);
            for (uint j = 0; j < TILE / 16; j++)
                s[j] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(
                    a, take(k_lds + (j * 16 + low) * (D + PAD) + x * 16), s[j]);
        }
        for (uint i = 0; i < 8; i++) {
            float most = -INFINITY, part = 0;
            for (uint j = 0; j < TILE / 16; j++) {
                s[j][i] *= 1.4426950408889634F / 8; /* sqrt(D) */
                most = __builtin_fmaxf(most, s[j][i]);
            }
            for (uint step = 8; step > 0; step /= 2)
                most = __builtin_fmaxf(most, other_lane(most, step));
            most = __builtin_fmaxf(most, top[i]);
            float scale = __builtin_amdgcn_exp2f(top[i] - most);
            top[i] = most;
            for (uint j = 0; j < TILE / 16; j++) {
                s[j][i] = __builtin_amdgcn_exp2f(s[j][i] - most);
                part += s[j][i];
                p_lds[(wave * 16 + 2 * i + high) * (TILE + PAD) + j * 16 + low] =
                    (half)s[j][i];
            }
            for (uint step = 8; step > 0; step /= 2)
                part += other_lane(part, step);
            sum[i] = sum[i] * scale + part;
            for (uint j = 0; j < D / 16; j++)
                acc[j][i] *= scale;
        }
        barrier_lds();
        for (uint x = 0; x < TILE / 16; x++) {
            fragment a = take(p_lds + (wave * 16 + low) * (TILE + PAD) + x * 16);
            for (uint j = 0; j < D / 16; j++)
                acc[j] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(
                    a, take(v_lds + (j * 16 + low) * (TILE + PAD) + x * 16), acc[j]);
        }
    }
    for (uint i = 0; i < 8; i++) {
        float scale = 1 / sum[i];
        for (uint j = 0; j < D / 16; j++)
            out[(wave * 16 + 2 * i + high) * D + j * 16 + low] = acc[j][i] * scale;
    }
}
