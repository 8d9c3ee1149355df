/* examples.h: kernels written in UOps, to read, run and change.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_EXAMPLES_H
#define RD_CC_EXAMPLES_H

#include "cc.h"

/* Sum of n f32: a workgroup of 256 lanes on each of 32 compute units, one partial sum
 * from each. n must be a multiple of 8192. Arguments: out[32], in[n]. */
cc_ref example_sum(struct cc_graph *g, int64_t n);

/* softmax(Q K^T / sqrt(d)) V for every one of heads: f16 in, f32 out, (heads, n, d)
 * each; n a multiple of 64, d of 16 up to 128. Arguments: out, q, k, v. */
cc_ref example_flash_attention(struct cc_graph *g, int64_t heads, int64_t n, int64_t d);

#endif
