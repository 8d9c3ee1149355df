// C = alpha A B + beta C for square row-major fp32 matrices, 128 x 128 of C per workgroup.
//
// A wave owns WAVE_M x WAVE_N of C in patches of 16 x 32; of a patch every lane has 4 x 4.
// Slices of A (stored transposed) and B, DEPTH deep, pass through LDS.
//   WAVES     waves of a workgroup, each with WAVE_N columns
//   PAD       words between rows of A in LDS: with 4, its transposing stores do not collide
//   BUFFERED  the next slice is loaded into registers while this one is used
//   UNROLL    of the loop over the slice
// SPDX-License-Identifier: MIT
#ifndef EDGE
#define EDGE 128
#endif
#ifndef DEPTH
#define DEPTH 8
#endif
#define THREADS (32 * WAVES)
#define WAVE_M (EDGE * EDGE / WAVES / WAVE_N)
#define PATCHES_M (WAVE_M / 16)
#define PATCHES_N (WAVE_N / 32)
#define SHARE (EDGE * DEPTH / THREADS) // words of a slice that a work-item moves

#define SYNC() \
    (__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"), __builtin_amdgcn_s_barrier(), \
     __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"))

#ifdef OCCUPANCY
__attribute__((amdgpu_waves_per_eu(OCCUPANCY, OCCUPANCY)))
#endif
__attribute__((reqd_work_group_size(THREADS, 1, 1))) kernel void
gemm(global float *a, global float *b, global float *c, int n, float alpha, float beta)
{
    local float slice_a[DEPTH][EDGE + PAD] __attribute__((aligned(16)));
    local float slice_b[DEPTH][EDGE] __attribute__((aligned(16)));
    const int item = (int)__builtin_amdgcn_workitem_id_x();
    const int left = (int)__builtin_amdgcn_workgroup_id_x() * EDGE;
    const int top = (int)__builtin_amdgcn_workgroup_id_y() * EDGE;
    // which words of the slices this work-item moves
    const int a_k = item % DEPTH, a_row = item / DEPTH;
    const int b_col = item % EDGE, b_k = item / EDGE;
    // which words of C are its own
    const int wave = item / 32, lane = item % 32;
    const int my_col = wave % (EDGE / WAVE_N) * WAVE_N + lane % 8 * 4;
    const int my_row = wave / (EDGE / WAVE_N) * WAVE_M + lane / 8 * 4;
    float sum[PATCHES_M * 4][PATCHES_N * 4];
    float next_a[SHARE], next_b[SHARE];

    for (int i = 0; i < PATCHES_M * 4; i++)
        for (int j = 0; j < PATCHES_N * 4; j++)
            sum[i][j] = 0;

#define FETCH_B(i, k0) b[n * (b_k + i * (THREADS / EDGE) + (k0)) + left + b_col]
#define FETCH_A(i, k0) a[n * (top + a_row + i * (THREADS / DEPTH)) + a_k + (k0)]
#define PUT_B(i) slice_b[b_k + i * (THREADS / EDGE)][b_col]
#define PUT_A(i) slice_a[a_k][a_row + i * (THREADS / DEPTH)]
#if BUFFERED
    for (int i = 0; i < SHARE; i++)
        PUT_B(i) = FETCH_B(i, 0);
    for (int i = 0; i < SHARE; i++)
        PUT_A(i) = FETCH_A(i, 0);
    SYNC();
#endif
    for (int k0 = 0; k0 < n; k0 += DEPTH) {
#if BUFFERED
        if (k0 + DEPTH < n) {
            for (int i = 0; i < SHARE; i++)
                next_b[i] = FETCH_B(i, k0 + DEPTH);
            for (int i = 0; i < SHARE; i++)
                next_a[i] = FETCH_A(i, k0 + DEPTH);
        }
#else
        for (int i = 0; i < SHARE; i++)
            PUT_B(i) = FETCH_B(i, k0);
        for (int i = 0; i < SHARE; i++)
            PUT_A(i) = FETCH_A(i, k0);
        SYNC();
#endif
#pragma unroll UNROLL
        for (int k = 0; k < DEPTH; k++) {
            float x[PATCHES_N * 4], y[PATCHES_M * 4];
            for (int j = 0; j < PATCHES_N * 4; j++)
                x[j] = slice_b[k][my_col + j / 4 * 32 + j % 4];
            for (int i = 0; i < PATCHES_M * 4; i++)
                y[i] = slice_a[k][my_row + i / 4 * 16 + i % 4];
            for (int i = 0; i < PATCHES_M; i++)
                for (int j = 0; j < PATCHES_N; j++)
                    for (int r = 4 * i; r < 4 * i + 4; r++)
                        for (int q = 4 * j; q < 4 * j + 4; q++)
                            sum[r][q] += y[r] * x[q];
        }
        SYNC();
#if BUFFERED
        if (k0 + DEPTH < n) {
            for (int i = 0; i < SHARE; i++)
                PUT_B(i) = next_b[i];
            for (int i = 0; i < SHARE; i++)
                PUT_A(i) = next_a[i];
            SYNC();
        }
#endif
    }
    for (int i = 0; i < PATCHES_M * 4; i++)
        for (int j = 0; j < PATCHES_N * 4; j++) {
            int at = n * (top + my_row + i / 4 * 16 + i % 4) + left + my_col + j / 4 * 32 + j % 4;
            c[at] = beta * c[at] + alpha * sum[i][j];
        }
}
