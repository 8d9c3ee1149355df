/* cc_gpu.h: tensors on a gfx1100: device memory, kernels compiled and dispatched.
 *
 * Works through the kernel driver alone, so the same program runs on a real board and
 * on the mock of `rdna3 exec`.
 *
 *     struct cc_gpu *gpu;
 *     struct cc_context *c;
 *     char error[CC_GPU_ERROR_BYTES];
 *     if (cc_gpu_open(NULL, &gpu, error) == RD_OK &&
 *         cc_context_create_on(cc_gpu_device(gpu), &c) == RD_OK) ...
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_GPU_H
#define RD_CC_GPU_H

#include "cc_tensor.h"
#include "rt.h"

#define CC_GPU_ERROR_BYTES 256

struct cc_gpu; /* opaque: a board, a queue, what was compiled for it */

/* Open a board. config  NULL: the first. error: CC_GPU_ERROR_BYTES
 * Owner: caller closes with cc_gpu_close, after the contexts on it. */
RD_CHECKED rd_status cc_gpu_open(const struct rt_config *config, struct cc_gpu **out,
                                 char *error);
void cc_gpu_close(struct cc_gpu *gpu);
const struct cc_device *cc_gpu_device(struct cc_gpu *gpu);
const struct rt_info *cc_gpu_info(const struct cc_gpu *gpu);

/* One kernel that has run, by the clock of the device. */
struct cc_gpu_event {
    char name[64];
    uint32_t groups, block; /* workgroups, work-items of each */
    double start, seconds;  /* since the counter's zero; how long */
};

/* What has run since the start or the last cc_gpu_forget, in order; valid until the
 * next kernel runs. */
size_t cc_gpu_events(const struct cc_gpu *gpu, const struct cc_gpu_event **events);
/* The sum of their times. */
double cc_gpu_seconds(const struct cc_gpu *gpu);
void cc_gpu_forget(struct cc_gpu *gpu);

/* Kernels compiled so far: an equal program is compiled once. */
size_t cc_gpu_compiled(const struct cc_gpu *gpu);

#endif
