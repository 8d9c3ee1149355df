/* rt.h: a user-mode runtime for gfx1100: memory, code, queues, signals, copies.
 *
 * Speaks to the kernel driver alone (/dev/kfd, the render node, sysfs), so the same
 * program runs on a real board and on the mock of `rdna3 exec`. A GPU virtual address
 * is the host pointer of the same value. Functions take an error of the caller's, which
 * may be NULL, and describe a failure in it. Objects of one device may be used by
 * several threads, one queue only by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_RT_H
#define RD_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codeobj.h"
#include "status.h"

struct rt_device; /* opaque */
struct rt_buffer;
struct rt_code;
struct rt_queue;
struct rt_signal;

/* One line, without "error: ". */
struct rt_error {
    char text[512];
};

/* ---- device ---- */

struct rt_config {
    unsigned index;   /* which of the gfx1100 boards, in the kernel's order */
    const char *kfd;  /* NULL: /dev/kfd */
    const char *root; /* before the paths of sysfs and of device files; NULL: none */
};

struct rt_info {
    char name[64];
    uint32_t gpu_id;
    uint32_t gfx_version; /* 110000: gfx1100 */
    uint32_t compute_units, shader_engines, waves_per_cu;
    uint64_t vram_bytes;
    uint64_t lds_base, scratch_base; /* flat apertures */
    uint64_t clock_hz;               /* of timestamps */
    uint32_t kfd_major, kfd_minor;
};

/* Open a board: finds it in sysfs, binds this process's address space to it.
 *
 * config  NULL: the first board
 * Returns RD_E_NOT_FOUND without driver or board, RD_E_IO if the kernel refuses.
 * Owner: caller closes with rt_close.
 */
RD_CHECKED rd_status rt_open(const struct rt_config *config, struct rt_device **out,
                             struct rt_error *err);

/* Destroys queues, frees buffers, code and signals that are left. NULL is fine. */
void rt_close(struct rt_device *dev);
const struct rt_info *rt_info(const struct rt_device *dev);

/* The GPU's counter, the host's monotonic raw clock and boot-time clock, read together.
 * clocks  out, {GPU ticks, ns, ns} */
RD_CHECKED rd_status rt_clocks(struct rt_device *dev, uint64_t clocks[3],
                               struct rt_error *err);

/* ---- memory ---- */

enum rt_memory {
    RT_VRAM, /* on the board; the host reaches it uncached */
    RT_GTT,  /* host memory, coherent */
    RT_USER  /* anonymous memory of this process, pinned for the GPU */
};

#define RT_EXEC     1u /* the GPU may execute it */
#define RT_READONLY 2u /* the GPU may not write it */

/* Allocate zeroed memory that GPU and host see at one address, between unmapped pages.
 *
 * bytes  rounded up to pages
 * flags  RT_EXEC, RT_READONLY
 * Returns RD_E_NOMEM if there is not so much, RD_E_INVALID for 0 bytes.
 * Owner: caller frees with rt_free, at the latest rt_close does.
 */
RD_CHECKED rd_status rt_alloc(struct rt_device *dev, uint64_t bytes,
                              enum rt_memory kind, unsigned flags,
                              struct rt_buffer **out, struct rt_error *err);

/* Show the GPU pages that the caller has already. va and bytes are page-aligned; they
 * stay the caller's after rt_free. */
RD_CHECKED rd_status rt_register(struct rt_device *dev, void *va, uint64_t bytes,
                                 struct rt_buffer **out, struct rt_error *err);
void rt_free(struct rt_buffer *buffer);
void *rt_host(const struct rt_buffer *buffer);
uint64_t rt_gpuva(const struct rt_buffer *buffer);
uint64_t rt_bytes(const struct rt_buffer *buffer);

/* ---- signals ---- */

/* A counter that packets decrement when they complete; waiting is for 0 or below.
 * Owner: caller, rt_signal_destroy; must outlive the packets that name it. */
RD_CHECKED rd_status rt_signal_create(struct rt_device *dev, int64_t value,
                                      struct rt_signal **out, struct rt_error *err);
void rt_signal_destroy(struct rt_signal *signal);
void rt_signal_set(struct rt_signal *signal, int64_t value);
int64_t rt_signal_value(const struct rt_signal *signal);

/* When the packet that decremented the signal last ran, in ticks of clock_hz. */
void rt_signal_times(const struct rt_signal *signal, uint64_t *start, uint64_t *end);

/* Wait until the signal's value is 0 or below: spin a little, then sleep until the
 * interrupt.
 *
 * timeout_ns  UINT64_MAX: for ever
 * Returns RD_E_TIMEOUT; RD_E_FAULT if the GPU has reported a page fault or a queue has
 * failed, which stays so for the device, and the text says where and why.
 */
RD_CHECKED rd_status rt_wait(struct rt_signal *signal, uint64_t timeout_ns,
                             struct rt_error *err);

/* ---- code ---- */

struct rt_kernel {
    const char *name;
    struct co_kernel_desc desc;
    const struct co_kernel_meta *meta; /* NULL: unknown */
    uint64_t desc_gpuva;
};

/* Load a code object (ELF or offload bundle) into VRAM.
 *
 * data  must stay until rt_unload
 * Returns what co_open and co_load return, or RD_E_NOMEM.
 */
RD_CHECKED rd_status rt_load(struct rt_device *dev, const void *data, size_t bytes,
                             struct rt_code **out, struct rt_error *err);

/* Load bare code with its 64-byte kernel descriptor; entry is the byte offset of the
 * first instruction. The only kernel has no metadata. */
RD_CHECKED rd_status rt_load_raw(struct rt_device *dev, const void *code, size_t bytes,
                                 const void *kd, uint64_t entry, struct rt_code **out,
                                 struct rt_error *err);
void rt_unload(struct rt_code *code);

/* Find a kernel; name NULL: the only one. Valid until rt_unload. */
RD_CHECKED rd_status rt_kernel_find(const struct rt_code *code, const char *name,
                                    struct rt_kernel *out, struct rt_error *err);

/* ---- queues ---- */

/* Create an AQL queue. packets: a power of two from 64; 0: 1024. */
RD_CHECKED rd_status rt_queue_create(struct rt_device *dev, uint32_t packets,
                                     struct rt_queue **out, struct rt_error *err);
void rt_queue_destroy(struct rt_queue *queue);

/* Address of its amd_queue_t, which kernels may ask for. */
uint64_t rt_queue_gpuva(const struct rt_queue *queue);

struct rt_launch {
    uint32_t items[3], block[3]; /* 0: 1 */
    uint32_t dynamic_lds_bytes;
    uint32_t stack_bytes; /* scratch of a work-item, at least; a multiple of 4 */
    uint64_t kernarg_gpuva;
    struct rt_signal *signal; /* decremented at completion; NULL: none */
    bool overlap;             /* need not wait for the packets before it */
};

/* Queue a dispatch: acquires and releases memory at system scope.
 * Blocks while the queue is full, and to get more scratch memory.
 * Returns RD_E_INVALID for a shape that no board takes, RD_E_FAULT if the queue has
 * failed before. */
RD_CHECKED rd_status rt_launch(struct rt_queue *queue, const struct rt_kernel *kernel,
                               const struct rt_launch *launch, struct rt_error *err);

/* Queue a barrier that waits until all of up to five signals are 0. */
RD_CHECKED rd_status rt_barrier(struct rt_queue *queue, struct rt_signal *const *deps,
                                unsigned count, struct rt_signal *signal,
                                struct rt_error *err);

/* ---- copies ---- */

/* Copy by a DMA engine. Both ranges must lie in buffers of the device.
 *
 * after   start only when this signal is 0 or NULL
 * signal  decremented at completion; NULL: rt_copy returns when the copy is done
 */
RD_CHECKED rd_status rt_copy(struct rt_device *dev, uint64_t dst_gpuva,
                             uint64_t src_gpuva, uint64_t bytes,
                             struct rt_signal *after, struct rt_signal *signal,
                             struct rt_error *err);

/* Fill with a 32-bit value; bytes is a multiple of 4. As rt_copy otherwise. */
RD_CHECKED rd_status rt_fill(struct rt_device *dev, uint64_t dst_gpuva, uint32_t value,
                             uint64_t bytes, struct rt_signal *signal,
                             struct rt_error *err);

#endif
