/* bench_kernels.h: code of the benchmark kernels and of the trivial one, assembled.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_BENCH_KERNELS_H
#define RD_BENCH_KERNELS_H

#include <stddef.h>
#include <stdint.h>

struct bench_kernel {
    const uint32_t *code;
    size_t code_bytes;
    const uint32_t *desc; /* kernel descriptor, 64 bytes */
};

extern const struct bench_kernel bench_trivial;
extern const struct bench_kernel bench_valu;
extern const struct bench_kernel bench_stream;
extern const struct bench_kernel bench_lds;
extern const struct bench_kernel bench_wmma;
extern const struct bench_kernel bench_mixed;
extern const struct bench_kernel bench_matmul;
extern const struct bench_kernel bench_wmma_gemm;
extern const struct bench_kernel bench_mul_mat;

#endif
