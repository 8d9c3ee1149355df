/* gdev.h: the mocked GPU as one process sees it.
 *
 * A device model: buffers, address space, events, queues. It knows no ioctl and no
 * client. A GPU virtual address is the host pointer of the same value.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GDEV_H
#define RD_GDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct gdev; /* opaque */
struct gdev_bo;
struct gdev_queue;
struct gshared_proc;

struct gdev_config {
    const char *state_dir; /* see shared.h */
    bool no_execute;       /* complete dispatches without running them */
    double sclk_mhz;       /* above 0: the timing model at this shader clock */
};

/* Open the device for this process: maps the shared state, starts no thread. */
RD_CHECKED rd_status gdev_open(const struct gdev_config *config, struct gdev **out);

/* Counters of this process. Never NULL. */
struct gshared_proc *gdev_proc(struct gdev *dev);

/* The 100 MHz counter of the device (clock.c): the host's monotonic clock, or simulated
 * time under the timing model. */
uint64_t gdev_clock(struct gdev *dev);

/* The counter and the host's clocks at one moment, as the kernel reads them together.
 */
struct gdev_clocks {
    uint64_t gpu;               /* 100 MHz */
    uint64_t cpu_ns, system_ns; /* CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME */
};
void gdev_clocks(struct gdev *dev, struct gdev_clocks *out);

struct sigaction;
/* The program's handler of a signal whose handler the device has taken (hostfault.c).
 * act   what to call from now on, or NULL
 * old   out, what was called so far (may be NULL)
 * Returns false for any other signal, and before the first queue. */
bool gdev_signal_action(int number, const struct sigaction *act, struct sigaction *old);

/* ---- buffers (bo.c) ---- */

enum gdev_bo_kind { GDEV_VRAM, GDEV_GTT, GDEV_USERPTR, GDEV_DOORBELL, GDEV_MMIO };

#define GDEV_BO_WRITE  1u
#define GDEV_BO_EXEC   2u
#define GDEV_BO_PUBLIC 4u
#define GDEV_BO_TWICE  8u /* mapped twice in a row (AQL ring) */

struct gdev_bo_info {
    enum gdev_bo_kind kind;
    uint32_t flags;     /* GDEV_BO_* */
    uint32_t abi_flags; /* as the client gave them; kept for queries */
    uint64_t va;        /* GPU virtual address; 0: none yet */
    uint64_t bytes;
    uint64_t offset; /* in the render or kfd file; userptr: the host address */
};

/* Allocate a buffer; info->offset is in (userptr) or out.
 * Returns RD_E_NOMEM beyond the VRAM, RD_E_INVALID for size 0. */
RD_CHECKED rd_status gdev_bo_create(struct gdev *dev, struct gdev_bo_info *info,
                                    uint32_t *handle);
/* Second handle for the memory at an offset (dmabuf import); does not own it. */
RD_CHECKED rd_status gdev_bo_import(struct gdev *dev, const struct gdev_bo_info *info,
                                    uint32_t *handle);
RD_CHECKED rd_status gdev_bo_info(struct gdev *dev, uint32_t handle,
                                  struct gdev_bo_info *out);
/* What clients attached to the memory at a buffer's offset, which every process sees
 * that imports it; zeros at first. data: GDEV_METADATA_BYTES, in (set) or out. */
#define GDEV_METADATA_BYTES 280
RD_CHECKED rd_status gdev_bo_metadata(struct gdev *dev, const struct gdev_bo_info *info,
                                      void *data, bool set);
/* Returns RD_E_BUSY if it is still mapped. */
RD_CHECKED rd_status gdev_bo_free(struct gdev *dev, uint32_t handle);
RD_CHECKED rd_status gdev_bo_map(struct gdev *dev, uint32_t handle);
RD_CHECKED rd_status gdev_bo_unmap(struct gdev *dev, uint32_t handle);
/* Map a part of a buffer at an address of the caller's choice (virtual memory API). */
RD_CHECKED rd_status gdev_bo_map_at(struct gdev *dev, uint32_t handle, uint64_t va,
                                    uint64_t offset, uint64_t bytes, bool write);
RD_CHECKED rd_status gdev_bo_unmap_at(struct gdev *dev, uint64_t va, uint64_t bytes);
uint64_t gdev_vram_size(struct gdev *dev);
uint64_t gdev_vram_available(struct gdev *dev);
/* A descriptor of the file that backs the kind; owned by the device. */
int gdev_backing_fd(struct gdev *dev, enum gdev_bo_kind kind);

/* ---- address space (vm.c) ---- */

#define GDEV_READ  1u
#define GDEV_WRITE 2u
#define GDEV_EXEC  4u
#define GDEV_LOCAL 8u /* not a permission: the board's own memory */

/* Make [va, va+bytes) visible to the GPU; nested and overlapping calls are counted. */
RD_CHECKED rd_status gdev_vm_add(struct gdev *dev, uint64_t va, uint64_t bytes,
                                 unsigned perm, const char *name);
/* Undo one gdev_vm_add of the range. Parts not mapped are ignored. */
void gdev_vm_remove(struct gdev *dev, uint64_t va, uint64_t bytes);
/* Is the whole range visible with these permissions? */
bool gdev_vm_check(struct gdev *dev, uint64_t va, uint64_t bytes, unsigned perm);

/* Has the process readable (writable) memory at the whole range? */
bool gdev_host_mapped(uint64_t va, uint64_t bytes, bool write);

/* ---- shared virtual memory ranges (svm.c) ---- */

struct gdev_svm {
    uint32_t preferred_loc, prefetch_loc, granularity, flags;
    bool access, access_in_place;
};

/* Attributes of host memory; pages with access become visible to the GPU. */
RD_CHECKED rd_status gdev_svm_set(struct gdev *dev, uint64_t va, uint64_t bytes,
                                  const struct gdev_svm *attr, bool map);
/* Attributes common to the range; false if part of it has none. */
bool gdev_svm_get(struct gdev *dev, uint64_t va, uint64_t bytes, struct gdev_svm *out);

/* ---- events (event.c) ---- */

enum gdev_event_kind {
    GDEV_EVENT_SIGNAL,
    GDEV_EVENT_OTHER,
    GDEV_EVENT_MEMORY,
    GDEV_EVENT_HW
};

#define GDEV_EVENT_SIGNALS 4096u /* ids below are signal events with a mailbox slot */

struct gdev_memory_fault {
    uint64_t va;
    bool not_present, read_only, no_execute, imprecise;
};

/* One entry of a wait. */
struct gdev_wait {
    uint32_t id;
    uint64_t age;                   /* in/out, signal events: last age seen, 0: none */
    enum gdev_event_kind kind;      /* out */
    bool activated;                 /* out */
    struct gdev_memory_fault fault; /* out, memory events */
    uint32_t reset_cause;           /* out, hardware exceptions */
};

enum gdev_wait_result { GDEV_WAIT_DONE, GDEV_WAIT_TIMEOUT, GDEV_WAIT_DESTROYED };

RD_CHECKED rd_status gdev_event_create(struct gdev *dev, enum gdev_event_kind kind,
                                       bool auto_reset, uint32_t *id);
RD_CHECKED rd_status gdev_event_destroy(struct gdev *dev, uint32_t id);
RD_CHECKED rd_status gdev_event_set(struct gdev *dev, uint32_t id);
RD_CHECKED rd_status gdev_event_reset(struct gdev *dev, uint32_t id);
/* The page of mailboxes, from a mapped buffer. RD_E_EXISTS if there is one. */
RD_CHECKED rd_status gdev_event_page(struct gdev *dev, uint64_t va, uint64_t bytes);
/* Block until any or all are signaled. timeout_ms ~0: forever. */
RD_CHECKED rd_status gdev_event_wait(struct gdev *dev, struct gdev_wait *waits,
                                     unsigned count, bool all, uint32_t timeout_ms,
                                     enum gdev_wait_result *result);
/* An interrupt with a context id: signal the event, free its mailbox. */
void gdev_interrupt(struct gdev *dev, uint32_t id);
/* Signal every memory event of the process. */
void gdev_event_memory_fault(struct gdev *dev, const struct gdev_memory_fault *fault);

/* ---- queues (queue.c) ---- */

enum gdev_queue_kind { GDEV_QUEUE_PM4, GDEV_QUEUE_AQL, GDEV_QUEUE_SDMA };

struct gdev_queue_config {
    enum gdev_queue_kind kind;
    bool internal; /* not a client's: its number is none that calls accept */
    uint64_t ring, ring_bytes;
    uint64_t rptr, wptr; /* addresses of the 64-bit indices */
    uint64_t cwsr, cwsr_bytes;
    uint32_t percentage, priority;
};

/* Create a queue and its worker. doorbell is its offset in /dev/kfd's file. */
RD_CHECKED rd_status gdev_queue_create(struct gdev *dev,
                                       const struct gdev_queue_config *config,
                                       uint32_t *id, uint64_t *doorbell);
/* Preempts what runs, then removes the queue. */
RD_CHECKED rd_status gdev_queue_destroy(struct gdev *dev, uint32_t id);
/* ring 0 or percentage 0 suspends the queue. */
RD_CHECKED rd_status gdev_queue_update(struct gdev *dev, uint32_t id, uint64_t ring,
                                       uint64_t ring_bytes, uint32_t percentage,
                                       uint32_t priority);
RD_CHECKED rd_status gdev_queue_cu_mask(struct gdev *dev, uint32_t id,
                                        const uint32_t *mask, unsigned bits);
/* Sizes of the saved context; RD_E_BUSY while the queue is active. */
RD_CHECKED rd_status gdev_queue_wave_state(struct gdev *dev, uint32_t id,
                                           uint32_t *ctl_used, uint32_t *save_used);
RD_CHECKED rd_status gdev_queue_gws(struct gdev *dev, uint32_t id, uint32_t count,
                                    uint32_t *first);
unsigned gdev_queue_count(struct gdev *dev);
/* Look at the doorbells now instead of at the next poll. */
void gdev_kick(struct gdev *dev);

/* ---- debugging (debug.c); exceptions are bits of the kernel's interface ---- */

/* Exceptions that a debugger takes instead of the runtime; it is told by a byte written
 * to fd, which the device owns from now on. fd -1: no debugger. */
void gdev_debug(struct gdev *dev, int fd, uint64_t exceptions);
void gdev_debug_mask(struct gdev *dev, uint64_t exceptions);
/* Suspend or resume a queue, inside a kernel too. RD_E_NOT_FOUND: there is none that is
 * not so already. */
RD_CHECKED rd_status gdev_queue_suspend(struct gdev *dev, uint32_t id, bool suspend);

struct gdev_queue_state {
    uint32_t id;
    struct gdev_queue_config config;
    uint64_t exceptions;
};
/* Returns how many queues there are. */
unsigned gdev_queue_list(struct gdev *dev, struct gdev_queue_state *out, unsigned room);
/* A queue with exceptions that the debugger takes. */
bool gdev_queue_raised(struct gdev *dev, struct gdev_queue_state *out);
void gdev_queue_clear(struct gdev *dev, uint32_t id, uint64_t exceptions);
/* Hand exceptions on to the runtime. */
void gdev_queue_tell(struct gdev *dev, uint32_t id, uint64_t exceptions);

/* ---- the kernel's rings (submit.c) ---- */

enum gdev_engine {
    GDEV_ENGINE_GFX,
    GDEV_ENGINE_COMPUTE,
    GDEV_ENGINE_DMA,
    GDEV_ENGINES
};

/* An indirect buffer in GPU memory. */
struct gdev_ib {
    uint64_t va;
    uint32_t dwords;
};

struct gdev_after {
    enum gdev_engine engine;
    uint64_t number;
};

struct gdev_submit {
    enum gdev_engine engine;
    const struct gdev_ib *ibs;
    unsigned n_ibs;
    const struct gdev_after *after; /* submissions that must have finished */
    unsigned n_after;
    uint64_t user_fence; /* GPU address that gets the number in the end, or 0 */
};

/* Queue a submission; its number on the engine, from 1. */
RD_CHECKED rd_status gdev_submit(struct gdev *dev, const struct gdev_submit *s,
                                 uint64_t *number);

enum gdev_fence { GDEV_FENCE_BUSY, GDEV_FENCE_DONE, GDEV_FENCE_UNKNOWN };
enum gdev_fence gdev_fence_state(struct gdev *dev, enum gdev_engine engine,
                                 uint64_t number);
uint64_t gdev_fence_last(struct gdev *dev, enum gdev_engine engine);
/* How often a ring was reset because what it ran had failed. */
uint32_t gdev_ring_resets(struct gdev *dev);
/* GPU address of a page of a buffer that no client has mapped; 0: out of memory. */
uint64_t gdev_bo_kernel_map(struct gdev *dev, uint32_t handle, uint64_t offset);

/* ---- system management events (smi.c) ---- */

/* Numbers of the kernel's interface. */
enum { GDEV_SMI_VMFAULT = 1, GDEV_SMI_PRE_RESET = 3, GDEV_SMI_POST_RESET = 4 };

/* A descriptor on which events can be read as text, once a mask was written to it.
 * Owner: the client. */
RD_CHECKED rd_status gdev_smi_open(struct gdev *dev, int *fd);
void gdev_smi_event(struct gdev *dev, unsigned event, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* First and second level trap handler. */
void gdev_trap_handler(struct gdev *dev, uint64_t tba, uint64_t tma);
/* Report queue errors through the context save area instead of the AQL queue. */
void gdev_runtime_enable(struct gdev *dev, bool enable);

#endif
