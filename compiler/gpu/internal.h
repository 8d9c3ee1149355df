/* internal.h: between the files of compiler/gpu.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_GPU_INTERNAL_H
#define RD_CC_GPU_INTERNAL_H

#include "cc_gpu.h"

/* A kernel in VRAM and what it was made from. */
struct gpu_kernel {
    struct gpu_kernel *next;
    uint64_t hash;
    void *key; /* text of the program, or code object */
    size_t key_bytes;
    void *elf; /* what rt_code reads; NULL: key is it */
    struct rt_code *code;
    struct rt_kernel kernel;
};

struct cc_gpu {
    struct cc_device device;
    struct rt_device *dev;
    struct rt_queue *queue;
    struct rt_signal *signal;
    struct rt_buffer *kernargs, *staging;
    struct gpu_kernel *kernels;
    size_t n_kernels;
    struct cc_gpu_event *events;
    size_t n_events, cap_events;
};

/* Say what went wrong in error. */
rd_status gpu_fail(char *error, rd_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The program's kernel, compiled now if it is new. */
RD_CHECKED rd_status gpu_compile(struct cc_gpu *gpu, const struct cc_prog *p,
                                 struct gpu_kernel **out, char *error);
/* A code object's kernel, loaded now if it is new. */
RD_CHECKED rd_status gpu_load(struct cc_gpu *gpu, const struct cc_machine *code,
                              struct gpu_kernel **out, char *error);
void gpu_unload_all(struct cc_gpu *gpu);

#endif
