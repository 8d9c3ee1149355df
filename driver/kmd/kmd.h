/* kmd.h: the kernel driver's job, for one process that has the mock GPU.
 *
 * Buffers, shared virtual memory, events, queues by number, debugging, the kernel's own
 * rings: what amdgpu.ko and its KFD do on top of the hardware. It knows no ioctl struct
 * and no client. A GPU virtual address is the host pointer of the same value.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_KMD_H
#define RD_KMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct kmd; /* opaque */
struct gshared_proc;

/* Read once, by whoever stands in front; strings are kept. */
struct kmd_config {
    const char *state_dir; /* see shared.h */
    bool no_execute;       /* complete dispatches without running them */
    double sclk_mhz;       /* above 0: the timing model at this shader clock */
    const char *timeline;  /* file to append dispatches to, or NULL */
    const char *check;     /* file with a table of findings, or NULL */
    struct ck_heap *heap;  /* of a checked program: its allocations, or NULL */
    const char *cores;     /* folder for core files, or NULL */
    bool whole_cores;      /* with all memory */
    const char *debugger;  /* folder with a debugger's socket, or NULL */
    bool opcodes;          /* count instructions by opcode */
    bool perf_map;         /* name native code in /tmp/perf-PID.map */
    unsigned engine;       /* enum emu_engine */
    unsigned lockup_ms;    /* patience with a submission that waits; 0: the kernel's */
    unsigned simd;         /* enum emu_simd */
    unsigned host_threads; /* for workgroups; 0: one per CPU */
    /* A line for people; NULL: standard error. */
    void (*log)(const char *text);
    /* Something for the transcript; NULL: there is none. */
    void (*note)(const char *text);
    /* Threads are about to begin that touch the client's memory; NULL: as they are. */
    void (*threads)(void);
};

/* Open the device for this process: maps the shared state, starts no thread. */
RD_CHECKED rd_status kmd_open(const struct kmd_config *config, struct kmd **out);
/* In a child of fork: take over what a DRM file has, from the parent's device. */
void kmd_inherit(struct kmd *kmd, const struct kmd *from);

/* Counters of this process. Never NULL. */
struct gshared_proc *kmd_proc(struct kmd *kmd);

/* ---- memory that goes away under the GPU: as in gpu.h ---- */

bool kmd_thread_is_ours(void);
void kmd_access_failed(uint64_t va, bool write);

/* ---- where waves are: as in gpu.h ---- */

uint32_t kmd_look(void);
bool kmd_looked(uint32_t ticket);

/* A register by its dword offset. */
uint32_t kmd_register(struct kmd *kmd, uint32_t reg);
/* Does any process' kernel run? */
bool kmd_busy(struct kmd *kmd);

/* ---- time: as in gpu.h ---- */

uint64_t kmd_clock(struct kmd *kmd);

/* The counter and the host's clocks at one moment, as the kernel reads them together.
 */
struct kmd_clocks {
    uint64_t gpu;               /* 100 MHz */
    uint64_t cpu_ns, system_ns; /* CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME */
};
void kmd_clocks(struct kmd *kmd, struct kmd_clocks *out);

/* ---- buffers (bo.c) ---- */

enum kmd_bo_kind {
    KMD_VRAM,
    KMD_GTT,
    KMD_USERPTR,
    KMD_DOORBELL,
    KMD_MMIO,
    KMD_ONCHIP, /* GDS and the like: a name only */
};

#define KMD_BO_WRITE    1u
#define KMD_BO_EXEC     2u
#define KMD_BO_PUBLIC   4u
#define KMD_BO_TWICE    8u  /* mapped twice in a row (AQL ring) */
#define KMD_BO_GRAPHICS 16u /* may be moved out of the VRAM (limits.c) */
#define KMD_BO_GEM      32u /* the handle is one of the render node */

struct kmd_bo_info {
    enum kmd_bo_kind kind;
    uint32_t flags;     /* KMD_BO_* */
    uint32_t abi_flags; /* as the client gave them; kept for queries */
    uint64_t va;        /* GPU virtual address; 0: none yet */
    uint64_t bytes;
    uint64_t offset; /* in the render or kfd file; userptr: the host address */
};

/* Allocate a buffer; info->offset is in (userptr) or out.
 * Returns RD_E_NOMEM beyond what there is (limits.c), RD_E_INVALID for size 0. */
RD_CHECKED rd_status kmd_bo_create(struct kmd *kmd, struct kmd_bo_info *info,
                                   uint32_t *handle);
/* A descriptor that any process can import (export.c), and a second handle for what a
 * descriptor names; the memory lives as long as any of them. Owner of fd: the client.
 * RD_E_INVALID: nothing that can be shared. */
RD_CHECKED rd_status kmd_bo_export(struct kmd *kmd, uint32_t handle, bool cloexec,
                                   int *fd);
RD_CHECKED rd_status kmd_bo_import(struct kmd *kmd, int fd, uint64_t va,
                                   uint32_t *handle);
/* The render node's handle for it, which is the one there is if there is one. */
RD_CHECKED rd_status kmd_bo_import_gem(struct kmd *kmd, int fd, uint32_t *handle);
/* A key that nobody guesses, the same at each call, by which any process can get a
 * handle of its own until the buffer's owner frees it (RD_E_INVALID: no such buffer).
 */
struct kmd_share {
    uint32_t key[4];
    uint32_t note; /* of the first who shared it, for those who import it */
};
RD_CHECKED rd_status kmd_bo_share(struct kmd *kmd, uint32_t handle,
                                  struct kmd_share *share);
RD_CHECKED rd_status kmd_bo_shared(struct kmd *kmd, struct kmd_share *share,
                                   uint64_t va, struct kmd_bo_info *info,
                                   uint32_t *handle);
/* A name by which any process can get a handle of its own. */
RD_CHECKED rd_status kmd_bo_name(struct kmd *kmd, uint32_t handle, uint32_t *name);
RD_CHECKED rd_status kmd_bo_open(struct kmd *kmd, uint32_t name, uint32_t *handle,
                                 uint64_t *bytes);
RD_CHECKED rd_status kmd_export_info(int fd, struct kmd_bo_info *info);
RD_CHECKED rd_status kmd_bo_info(struct kmd *kmd, uint32_t handle,
                                 struct kmd_bo_info *out);
/* What clients attached to the memory at a buffer's offset, which every process sees
 * that imports it; zeros at first. data: KMD_METADATA_BYTES, in (set) or out. */
#define KMD_METADATA_BYTES 280
RD_CHECKED rd_status kmd_bo_metadata(struct kmd *kmd, const struct kmd_bo_info *info,
                                     void *data, bool set);
/* May a process map so much of the render node's file? Not beyond a buffer's end. */
bool kmd_mapping_fits(struct kmd *kmd, uint64_t offset, uint64_t bytes);
/* Returns RD_E_BUSY if it is still mapped. A mapping that a client's queue lives in is
 * RD_E_BUSY to remove, by either of these two. */
RD_CHECKED rd_status kmd_bo_free(struct kmd *kmd, uint32_t handle);
RD_CHECKED rd_status kmd_bo_map(struct kmd *kmd, uint32_t handle);
RD_CHECKED rd_status kmd_bo_unmap(struct kmd *kmd, uint32_t handle);
/* Map a part of a buffer at a GPU address of the caller's choice (va.c), instead of
 * what is there or RD_E_INVALID; unmap what begins there, RD_E_NOT_FOUND: nothing; cut
 * whatever is in a range. */
RD_CHECKED rd_status kmd_bo_map_at(struct kmd *kmd, uint32_t handle, uint64_t va,
                                   uint64_t offset, uint64_t bytes, bool write,
                                   bool replace);
RD_CHECKED rd_status kmd_bo_unmap_at(struct kmd *kmd, uint32_t handle, uint64_t va);
RD_CHECKED rd_status kmd_va_clear(struct kmd *kmd, uint64_t va, uint64_t bytes);
/* A descriptor of the file that backs the kind; owned by the device. */
int kmd_backing_fd(struct kmd *kmd, enum kmd_bo_kind kind);

/* Was the device taken away, or its driver? Then no call finds it. */
bool kmd_absent(struct kmd *kmd);

/* ---- memory in all (limits.c) ---- */

struct kmd_memory {
    uint64_t vram_bytes, vram_reserved, vram_used;
    uint64_t gtt_bytes, gtt_used;
};
void kmd_memory(struct kmd *kmd, struct kmd_memory *out);
uint64_t kmd_vram_size(struct kmd *kmd);
/* Of compute buffers of this process alone. */
uint64_t kmd_process_vram(struct kmd *kmd);
/* What compute buffers can still get. */
uint64_t kmd_vram_available(struct kmd *kmd);

/* Can the GPU read the whole range? */
bool kmd_mapped(struct kmd *kmd, uint64_t va, uint64_t bytes);

/* Has the process readable (writable) memory at the whole range? */
bool kmd_host_mapped(uint64_t va, uint64_t bytes, bool write);

/* ---- shared virtual memory ranges (svm.c) ---- */

struct kmd_svm {
    uint32_t preferred_loc, prefetch_loc, granularity, flags;
    bool access, access_in_place;
};

/* Attributes of host memory; pages with access become visible to the GPU. prefetch:
 * they are to go to attr's prefetch_loc now, of which listeners are told. */
RD_CHECKED rd_status kmd_svm_set(struct kmd *kmd, uint64_t va, uint64_t bytes,
                                 const struct kmd_svm *attr, bool map, bool prefetch);
/* The memory goes, and what was said of it. Thread: any. */
void kmd_svm_unmapped(struct kmd *kmd, uint64_t va, uint64_t bytes);
/* The same of memory that buffers show. Thread: any. */
void kmd_bo_unmapped(struct kmd *kmd, uint64_t va, uint64_t bytes);
/* Attributes common to the range; false if part of it has none. */
bool kmd_svm_get(struct kmd *kmd, uint64_t va, uint64_t bytes, struct kmd_svm *out);
/* Pages that have moved to the board's memory and back. */
void kmd_svm_moved(struct kmd *kmd, uint64_t *in, uint64_t *out);

/* ---- events (event.c) ---- */

enum kmd_event_kind {
    KMD_EVENT_SIGNAL,
    KMD_EVENT_OTHER,
    KMD_EVENT_MEMORY,
    KMD_EVENT_HW
};

#define KMD_EVENT_SIGNALS 4096u /* ids below are signal events with a mailbox slot */

struct kmd_memory_fault {
    uint64_t va;
    bool not_present, read_only, no_execute, imprecise;
};

/* Why the GPU was reset; numbers of the kernel's interface. */
enum { KMD_RESET_HANG = 0 };

/* One entry of a wait. */
struct kmd_wait {
    uint32_t id;
    uint64_t age;                  /* in/out, signal events: last age seen, 0: none */
    enum kmd_event_kind kind;      /* out */
    bool activated;                /* out */
    struct kmd_memory_fault fault; /* out, memory events */
    uint32_t reset_cause;          /* out, hardware exceptions */
};

enum kmd_wait_result { KMD_WAIT_DONE, KMD_WAIT_TIMEOUT, KMD_WAIT_DESTROYED };

RD_CHECKED rd_status kmd_event_create(struct kmd *kmd, enum kmd_event_kind kind,
                                      bool auto_reset, uint32_t *id);
RD_CHECKED rd_status kmd_event_destroy(struct kmd *kmd, uint32_t id);
RD_CHECKED rd_status kmd_event_set(struct kmd *kmd, uint32_t id);
RD_CHECKED rd_status kmd_event_reset(struct kmd *kmd, uint32_t id);
/* The page of mailboxes, from a mapped buffer. RD_E_EXISTS if there is one. */
RD_CHECKED rd_status kmd_event_page(struct kmd *kmd, uint64_t va, uint64_t bytes);
/* Block until any or all are signaled. timeout_ms ~0: forever. */
RD_CHECKED rd_status kmd_event_wait(struct kmd *kmd, struct kmd_wait *waits,
                                    unsigned count, bool all, uint32_t timeout_ms,
                                    enum kmd_wait_result *result);

/* ---- queues (queue.c) ---- */

enum kmd_queue_kind { KMD_QUEUE_PM4, KMD_QUEUE_AQL, KMD_QUEUE_SDMA };

struct kmd_queue_config {
    enum kmd_queue_kind kind;
    bool internal; /* not a client's: its number is none that calls accept */
    uint64_t ring, ring_bytes;
    uint64_t rptr, wptr; /* addresses of the 64-bit indices */
    uint64_t cwsr, cwsr_bytes;
    uint64_t eop, eop_bytes;
    uint32_t percentage, priority;
};

/* Create a queue and its worker. doorbell is its offset in /dev/kfd's file. */
RD_CHECKED rd_status kmd_queue_create(struct kmd *kmd,
                                      const struct kmd_queue_config *config,
                                      uint32_t *id, uint64_t *doorbell);
/* Preempts what runs, then removes the queue. */
RD_CHECKED rd_status kmd_queue_destroy(struct kmd *kmd, uint32_t id);
/* ring 0 or percentage 0 suspends the queue. */
RD_CHECKED rd_status kmd_queue_update(struct kmd *kmd, uint32_t id, uint64_t ring,
                                      uint64_t ring_bytes, uint32_t percentage,
                                      uint32_t priority);
RD_CHECKED rd_status kmd_queue_cu_mask(struct kmd *kmd, uint32_t id,
                                       const uint32_t *mask, unsigned bits);
/* Sizes of the saved context; RD_E_BUSY while the queue is active. */
RD_CHECKED rd_status kmd_queue_wave_state(struct kmd *kmd, uint32_t id,
                                          uint32_t *ctl_used, uint32_t *save_used);
RD_CHECKED rd_status kmd_queue_gws(struct kmd *kmd, uint32_t id, uint32_t count,
                                   uint32_t *first);
unsigned kmd_queue_count(struct kmd *kmd);
/* How often a client's queue has come, gone or got another ring. */
uint32_t kmd_queue_changes(struct kmd *kmd);
/* Look at the doorbells now instead of at the next poll. */
void kmd_kick(struct kmd *kmd);

/* ---- debugging (session.c, debug.c); exceptions are bits of the kernel's interface */

/* Who has raised an exception. */
enum kmd_source {
    KMD_SOURCE_NONE,
    KMD_SOURCE_QUEUE,
    KMD_SOURCE_DEVICE,
    KMD_SOURCE_PROCESS
};

/* Is the process debugged? mine: by this one. */
bool kmd_session(struct kmd *kmd, int32_t pid, bool *mine);
/* Debug a process, which may be this one and may be stopped: exceptions that are raised
 * from now on go to the debugger instead of to its runtime. A byte is written to fd for
 * each; the device owns it from now on, also on failure. RD_E_NOMEM: too many. */
RD_CHECKED rd_status kmd_session_begin(struct kmd *kmd, int32_t pid, int fd,
                                       uint64_t exceptions);
/* Let go of the process: it goes on if it is held, and its queues are resumed. */
void kmd_session_end(struct kmd *kmd, int32_t pid);
void kmd_session_mask(struct kmd *kmd, int32_t pid, uint64_t exceptions);
/* A source with exceptions that the debugger wants: all that it has raised, of which
 * those in clear are forgotten. */
enum kmd_source kmd_session_query(struct kmd *kmd, int32_t pid, uint64_t clear,
                                  uint64_t *exceptions, uint32_t *queue);
/* What a source has raised; forget those in clear. */
uint64_t kmd_session_clear(struct kmd *kmd, int32_t pid, enum kmd_source source,
                           uint32_t queue, uint64_t clear);
/* Watch memory that waves of the process access, from its next dispatch on.
 * RD_E_NOMEM: all watch points are taken. */
struct kmd_watch {
    uint64_t address, mask; /* of the bits that are compared */
    uint32_t mode;          /* enum gpu_watch_mode, as the interface numbers them */
};
RD_CHECKED rd_status kmd_session_watch(struct kmd *kmd, int32_t pid,
                                       const struct kmd_watch *watch, uint32_t *id);
/* RD_E_NOT_FOUND: it is not set. */
RD_CHECKED rd_status kmd_session_unwatch(struct kmd *kmd, int32_t pid, uint32_t id);
/* Launch waves with these of the exceptions in which (bits of MODE.EXCP_EN) besides
 * those of their kernels, or instead of them. Returns what it was. */
uint32_t kmd_session_launch(struct kmd *kmd, int32_t pid, uint32_t exceptions,
                            uint32_t which, bool instead);
/* Launch waves halted, until a debugger changes their saved contexts; to trap behind
 * each instruction. */
void kmd_session_launch_mode(struct kmd *kmd, int32_t pid, bool halted, bool stepped);
/* The last page fault of this process, of whatever queue; false: there was none. */
bool kmd_last_fault(struct kmd *kmd, struct kmd_memory_fault *fault, bool *write);
/* The last page fault; false: there is no session. */
bool kmd_session_fault(struct kmd *kmd, int32_t pid, struct kmd_memory_fault *fault);
/* Tell the debugger of this process that its runtime has begun or ended, and wait until
 * kmd_session_release, unless the process debugs itself. */
void kmd_session_hold(struct kmd *kmd);
void kmd_session_release(struct kmd *kmd, int32_t pid);

/* What a process has said of its runtime (RUNTIME_ENABLE). */
struct kmd_runtime {
    bool enabled, ttmp_setup;
    uint64_t r_debug;
};
/* False: the process has not used the device. */
bool kmd_runtime_of(struct kmd *kmd, int32_t pid, struct kmd_runtime *out);
void kmd_runtime_set(struct kmd *kmd, const struct kmd_runtime *runtime);

/* Nobody is left to resume this process' queues. */
void kmd_queues_resume(struct kmd *kmd);
/* Suspend or resume a queue, inside a kernel too. RD_E_NOT_FOUND: there is none that is
 * not so already. */
RD_CHECKED rd_status kmd_queue_suspend(struct kmd *kmd, uint32_t id, bool suspend);

struct kmd_queue_state {
    uint32_t id;
    struct kmd_queue_config config;
    uint64_t exceptions;
};
/* Returns how many queues there are. */
unsigned kmd_queue_list(struct kmd *kmd, struct kmd_queue_state *out, unsigned room);
void kmd_queue_clear(struct kmd *kmd, uint32_t id, uint64_t exceptions);
/* Hand exceptions on to the runtime. */
void kmd_queue_tell(struct kmd *kmd, uint32_t id, uint64_t exceptions);

/* ---- the kernel's rings (submit.c) ---- */

/* A ring each; the first of its kind has the kind's name. */
enum kmd_engine {
    KMD_ENGINE_GFX,
    KMD_ENGINE_COMPUTE,
    KMD_ENGINE_COMPUTE_1,
    KMD_ENGINE_COMPUTE_2,
    KMD_ENGINE_COMPUTE_3,
    KMD_ENGINE_DMA,
    KMD_ENGINE_DMA_1,
    KMD_ENGINES
};
#define KMD_COMPUTE_RINGS 4u
#define KMD_DMA_RINGS     2u

/* An indirect buffer in GPU memory. */
struct kmd_ib {
    uint64_t va;
    uint32_t dwords;
};

struct kmd_after {
    enum kmd_engine engine;
    uint64_t number;
};

struct kmd_submit {
    enum kmd_engine engine;
    uint64_t owner; /* whose fault it is if the ring breaks, not 0 */
    const struct kmd_ib *ibs;
    unsigned n_ibs;
    const struct kmd_after *after; /* submissions that must have finished */
    unsigned n_after;
    uint32_t soft;       /* points of software timelines, likewise, or 0 */
    uint64_t user_fence; /* GPU address that gets the number in the end, or 0 */
};

/* Queue a submission; its number on the engine, from 1. */
RD_CHECKED rd_status kmd_submit(struct kmd *kmd, const struct kmd_submit *s,
                                uint64_t *number);

enum kmd_fence {
    KMD_FENCE_BUSY,
    KMD_FENCE_DONE,
    KMD_FENCE_FAILED, /* ended by a reset of its ring */
    KMD_FENCE_UNKNOWN
};
enum kmd_fence kmd_fence_state(struct kmd *kmd, enum kmd_engine engine,
                               uint64_t number);
uint64_t kmd_fence_last(struct kmd *kmd, enum kmd_engine engine);
/* How often a ring was reset because what it ran had failed, or the board because
 * somebody asked for it. */
uint32_t kmd_ring_resets(struct kmd *kmd);
/* Somebody asks for it: nothing is lost here, but contexts are told. */
void kmd_recover(struct kmd *kmd);
/* Has a submission of this owner broken a ring? */
bool kmd_guilty(struct kmd *kmd, uint64_t owner);
/* GPU address of a page of a buffer that no client has mapped; 0: out of memory. */
uint64_t kmd_bo_kernel_map(struct kmd *kmd, uint32_t handle, uint64_t offset);

/* ---- synchronisation objects (syncobj.c, syncfile.c) ---- */

/* A number of each ring that must have ended; 0: none. */
struct kmd_fences {
    uint64_t number[KMD_ENGINES];
    uint32_t soft; /* points of software timelines that must have come; 0: none */
};
/* FAILED: all have ended, one with an error. */
enum kmd_fence kmd_fences_state(struct kmd *kmd, const struct kmd_fences *f);

/* To end when both have. */
void kmd_fences_merge(struct kmd *kmd, struct kmd_fences *to,
                      const struct kmd_fences *more);

/* fences NULL: empty. */
RD_CHECKED rd_status kmd_syncobj_create(struct kmd *kmd,
                                        const struct kmd_fences *fences,
                                        uint32_t *handle);
RD_CHECKED rd_status kmd_syncobj_destroy(struct kmd *kmd, uint32_t handle);
/* Another handle of it. */
RD_CHECKED rd_status kmd_syncobj_again(struct kmd *kmd, uint32_t handle,
                                       uint32_t *again);
/* Replace what is in it (NULL: nothing), or add a point to its timeline. */
RD_CHECKED rd_status kmd_syncobj_set(struct kmd *kmd, uint32_t handle,
                                     const struct kmd_fences *fences);
RD_CHECKED rd_status kmd_syncobj_add(struct kmd *kmd, uint32_t handle, uint64_t number,
                                     const struct kmd_fences *fences);
/* The fence of a point (0: of all). RD_E_INVALID: not there yet; RD_E_NOT_FOUND: no
 * such handle. */
RD_CHECKED rd_status kmd_syncobj_find(struct kmd *kmd, uint32_t handle, uint64_t number,
                                      struct kmd_fences *out);
/* The last point that was added, or that has ended. */
RD_CHECKED rd_status kmd_syncobj_query(struct kmd *kmd, uint32_t handle, bool submitted,
                                       uint64_t *number);
/* Descriptors of objects, and of fences; for this process. Owner: the client. */
RD_CHECKED rd_status kmd_syncobj_export(struct kmd *kmd, uint32_t handle, int *fd);
RD_CHECKED rd_status kmd_syncobj_import(struct kmd *kmd, int fd, uint32_t *handle);
RD_CHECKED rd_status kmd_fences_export(struct kmd *kmd, const struct kmd_fences *fences,
                                       int *fd);
RD_CHECKED rd_status kmd_fences_import(struct kmd *kmd, int fd, struct kmd_fences *out);
/* Let an eventfd count once when a point has ended, or (available) is there. */
RD_CHECKED rd_status kmd_syncobj_eventfd(struct kmd *kmd, uint32_t handle,
                                         uint64_t point, bool available, int fd);

/* ---- software timelines (timeline.c) ---- */

/* A descriptor of a new one; owner: the client. It ends with its last copy. */
RD_CHECKED rd_status kmd_timeline_create(struct kmd *kmd, int *fd);
bool kmd_timeline_is(struct kmd *kmd, int fd);
RD_CHECKED rd_status kmd_timeline_advance(struct kmd *kmd, int fd, uint32_t count);
/* A descriptor of a fence that ends when the timeline has come to the number. */
RD_CHECKED rd_status kmd_timeline_fence(struct kmd *kmd, int fd, uint32_t number,
                                        int *fence);
/* Have all points in fences.soft come? FAILED: a timeline was closed before. */
enum kmd_fence kmd_soft_state(struct kmd *kmd, uint32_t soft);
/* The state of each point in fences.soft. Returns how many there are. */
unsigned kmd_soft_list(struct kmd *kmd, uint32_t soft, enum kmd_fence *states,
                       unsigned room);

/* ---- open files of the primary node (clients.c) ---- */

/* Who asks, by a descriptor of /dev/dri/card0; a copy of it is the same client. */
struct kmd_client {
    int fd;
    bool privileged; /* may do what only the system's administrator may */
};
/* It was just opened: it becomes master if there is none. */
RD_CHECKED rd_status kmd_client_open(struct kmd *kmd, const struct kmd_client *who);
struct kmd_client_rights {
    bool authentic, master;
};
RD_CHECKED rd_status kmd_client_rights(struct kmd *kmd, const struct kmd_client *who,
                                       struct kmd_client_rights *out);
/* RD_E_FAULT: it may not; RD_E_BUSY: another is; RD_E_INVALID: it is none. */
RD_CHECKED rd_status kmd_client_set_master(struct kmd *kmd,
                                           const struct kmd_client *who);
RD_CHECKED rd_status kmd_client_drop_master(struct kmd *kmd,
                                            const struct kmd_client *who);
/* A number by which the master can admit a client, once. */
RD_CHECKED rd_status kmd_client_magic(struct kmd *kmd, const struct kmd_client *who,
                                      uint32_t *magic);
RD_CHECKED rd_status kmd_client_admit(struct kmd *kmd, const struct kmd_client *who,
                                      uint32_t magic);

/* ---- system management events (smi.c) ---- */

/* Numbers of the kernel's interface. Lines are as Linux 6.12 has them; a process's
 * begin and end are newer. */
enum {
    KMD_SMI_VMFAULT = 1,
    KMD_SMI_PRE_RESET = 3,
    KMD_SMI_POST_RESET = 4,
    KMD_SMI_MIGRATE_START = 5,
    KMD_SMI_MIGRATE_END = 6,
    KMD_SMI_EVICTION = 9, /* of queues */
    KMD_SMI_RESTORE = 10,
    KMD_SMI_UNMAP = 11, /* from the GPU */
    KMD_SMI_PROCESS_START = 12,
    KMD_SMI_PROCESS_END = 13,
};

/* Why queues stand a while. */
enum kmd_eviction {
    KMD_EVICTION_SVM = 0,     /* pages of theirs move */
    KMD_EVICTION_USERPTR = 1, /* the client has changed what a buffer shows */
};

/* A descriptor on which events can be read as text, once a mask was written to it.
 * Owner: the client. */
RD_CHECKED rd_status kmd_smi_open(struct kmd *kmd, int *fd);
void kmd_smi_event(struct kmd *kmd, unsigned event, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The process gets its address space on the GPU; it ends. Each is told once. */
void kmd_process_begins(struct kmd *kmd);
void kmd_process_ends(struct kmd *kmd);

/* First and second level trap handler. */
void kmd_trap_handler(struct kmd *kmd, uint64_t tba, uint64_t tma);

#endif
