/* internal.h: inside of the kernel driver's job, shared by its files only.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_KMD_INTERNAL_H
#define RD_KMD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "gpu.h"
#include "kmd.h"
#include "shared.h"

/* An exception code of the kernel's interface as a bit; the ones of a queue that no
 * debugger has seen yet, of page faults, of a runtime that begins or ends. */
#define KMD_QUEUE_NEW        31
#define KMD_MEMORY_VIOLATION 33
#define KMD_PROCESS_RUNTIME  48
#define KMD_EXCEPTION(code)  (1ull << ((code) - 1))

struct kmd_bo {
    struct kmd_bo_info info;
    bool used, mapped, exported;
    int hold; /* of an import: its copy of the descriptor; 0: the owner; -1: the parent
               * process has the owner's handle */
    uint64_t kernel_va; /* kmd_bo_kernel_map; 0: none */
    uint64_t shared_at; /* userptr: where in the render node's file; 0: nowhere */
};

/* va.c: a piece of a buffer at a GPU address */
struct kmd_va {
    uint64_t va, bytes, offset;
    uint32_t handle;
    unsigned perm;
    bool placed; /* the host has such an address */
};

struct svm_range {
    uint64_t start, end;
    struct kmd_svm attr;
    bool mapped;
};

struct svm {
    pthread_mutex_t lock;
    struct svm_range *ranges; /* sorted, disjoint */
    size_t count, cap;
    _Atomic uint64_t pages_in, pages_out; /* moved to the board's memory and back */
};

struct event; /* event.c */

struct event_table {
    pthread_mutex_t lock;
    struct event **slots; /* index: id */
    uint32_t count;       /* entries of slots */
    uint64_t page_va;
    uint32_t page_slots;
};

/* queue.c: a queue by its number */
struct kmd_queue {
    struct kmd *kmd;
    struct gpu_queue *gpu;
    uint32_t id;
    struct kmd_queue_config config;
    bool leaving; /* queue_lock; being destroyed, its number is not free yet */
    bool wanted, suspended; /* queue_lock; it runs if wanted and not suspended */
    _Atomic bool active;
    _Atomic uint64_t exceptions; /* raised without a session, and not cleared */
    _Atomic uint64_t reported;   /* number of the dispatch whose exception was */
};

/* submit.c */
#define KMD_FAILED 1024u
struct kmd_job;
struct kmd_ring {
    uint8_t *memory; /* ring, then a page of indices and the fence; NULL: none yet */
    struct kmd_queue *queue; /* NULL: to be created */
    uint64_t put;            /* dwords */
    uint64_t last;           /* number of the last submission */
    uint32_t resets;
    struct kmd_job *jobs;        /* not known to have ended, in order */
    uint64_t failed[KMD_FAILED]; /* the last numbers that ended with an error */
    unsigned n_failed;
    uint64_t watched,
        watched_ms; /* the number that runs, and since when at the least */
};

/* smi.c: our end of a socket that a client reads */
struct kmd_smi {
    int fd;
    uint64_t mask;
    bool super; /* may have what other processes do */
};

struct kmd {
    struct gpu *gpu;
    struct kmd_config config;
    int render_fd, kfd_fd, shared_fd, card_fd; /* card_fd: -1 until it is needed */
    struct gshared *shared;
    _Atomic uint32_t departures; /* of the shared ones: known here */
    struct gshared_proc *proc;

    pthread_mutex_t bo_lock; /* taken before queue_lock */
    struct kmd_bo *bos;
    uint32_t n_bos;
    struct kmd_va *vas; /* bo_lock */
    unsigned n_vas, cap_vas;
    uint64_t doorbell_offset;
    volatile uint64_t *doorbells;
    uint64_t mmio_offset;

    struct svm svm;
    struct event_table events;

    pthread_mutex_t queue_lock;
    struct kmd_queue *queues[GPU_MAX_QUEUES];
    uint32_t gws_owner; /* queue id + 1 */
    _Atomic uint32_t queue_changes;

    pthread_mutex_t fault_lock;
    struct kmd_memory_fault fault; /* the last one; fault_lock */
    bool faulted, fault_write;

    pthread_mutex_t ring_lock; /* taken before queue_lock */
    struct kmd_ring rings[KMD_ENGINES];
    uint64_t *guilty; /* owners of submissions that broke a ring; ring_lock */
    unsigned n_guilty;
    uint64_t lockup_ms;

    pthread_mutex_t sync_lock; /* syncobj.c; taken before ring_lock */
    struct kmd_syncobj **syncobjs, **published;
    uint32_t n_syncobjs, n_published;
    struct kmd_sync_file *sync_files;
    unsigned n_sync_files;

    pthread_mutex_t soft_lock; /* timeline.c; taken last */
    struct kmd_soft **softs;
    uint32_t n_softs;
    pthread_mutex_t timeline_lock; /* ... taken before soft_lock */

    pthread_mutex_t client_lock; /* clients.c */

    pthread_mutex_t smi_lock;
    struct kmd_smi *smi;
    uint64_t smi_next; /* event of other processes that the thread takes */
    unsigned n_smi;
    bool smi_listens;   /* there is such a thread */
    _Atomic bool began; /* process start has been told */
};

/* A line for people. */
void kmd_say(struct kmd *kmd, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* open.c: a file of the state folder, above the numbers that programs close by habit;
 * -1: it cannot be opened. */
int kmd_open_state(const char *dir, const char *file);

/* news.c: one more, and whoever waits looks; wait for less than a second while the word
 * is as it was seen. In shared memory between processes. */
void kmd_news(_Atomic uint32_t *word);
void kmd_news_wait(_Atomic uint32_t *word, uint32_t seen, long nanoseconds);
/* A thread that takes no signals and that nobody joins. */
bool kmd_thread(void *(*run)(void *), void *ctx);
/* Take a lock unless it is held for long: its holder may wait for a thread of the GPU.
 */
bool kmd_lock_soon(pthread_mutex_t *lock);

/* smi.c: is there, or was there half a minute ago, anybody to hear of events? */
bool kmd_smi_heard(struct kmd *kmd);
/* The queues would have been stopped and let go again, for this reason. */
void kmd_smi_evicted(struct kmd *kmd, enum kmd_eviction why);
void kmd_smi_restored(struct kmd *kmd);

/* bo.c */
void kmd_bo_init(struct kmd *kmd);
RD_CHECKED rd_status kmd_doorbells(struct kmd *kmd); /* reserve and map the page */

/* bo.c: the device has gone: so have the render node's handles and addresses. */
void kmd_bo_lose(struct kmd *kmd);

/* limits.c: count a VRAM or GTT buffer as used, if there is room; no longer. */
RD_CHECKED rd_status kmd_reserve(struct kmd *kmd, const struct kmd_bo_info *info);
void kmd_release(struct kmd *kmd, const struct kmd_bo_info *info);
/* The same of memory whose owner has freed it. */
/* A process has ended, or its record is used again. */
void kmd_use_clear(struct gshared_use *use);
void kmd_count_orphan(struct kmd *kmd, const struct kmd_bo_info *info, bool more);

/* bo.c: a buffer by its handle, lock held; a handle for memory that another one owns;
 * no pages for a buffer's memory any more. */
struct kmd_bo *kmd_bo_find(struct kmd *kmd, uint32_t handle);
RD_CHECKED rd_status kmd_bo_adopt(struct kmd *kmd, const struct kmd_bo_info *info,
                                  int hold, uint32_t *handle);
void kmd_punch(struct kmd *kmd, const struct kmd_bo_info *info);
/* The render node's file from the buffer's byte at a GPU address on (gpu_host.file). */
bool kmd_bo_file(struct kmd *kmd, uint64_t va, struct gpu_file *out);
/* Put bytes of a buffer's file at an address of the host. */
RD_CHECKED rd_status kmd_map_host(struct kmd *kmd, const struct kmd_bo_info *info,
                                  uint64_t va, uint64_t offset, uint64_t bytes);

/* va.c: a buffer's mappings go; memory of the client's own is private again. Lock held.
 */
void kmd_va_forget(struct kmd *kmd, uint32_t handle);
void kmd_unshare_pages(struct kmd *kmd, struct kmd_bo *bo);

/* export.c: a handle of a shared buffer is freed, the owner's or another's; and a look
 * for memory that nobody holds any more. */
void kmd_export_leave(struct kmd *kmd, const struct kmd_bo_info *info, bool owner);
void kmd_export_sweep(struct kmd *kmd);

/* hostmap.c: may a buffer be mapped over what is there? */
bool kmd_host_replaceable(uint64_t va, uint64_t bytes, int backing_fd);
/* Is the range one mapping of the file, from offset on? */
bool kmd_host_shows(uint64_t va, uint64_t bytes, int fd, uint64_t offset);

/* queue.c: as kmd_queue_create and kmd_queue_destroy, for the driver's own queues */
RD_CHECKED rd_status kmd_queue_make(struct kmd *kmd,
                                    const struct kmd_queue_config *config,
                                    struct kmd_queue **out);
void kmd_queue_remove(struct kmd_queue *q);
/* A client's queue by its number. Queue lock held. */
struct kmd_queue *kmd_queue_find(struct kmd *kmd, uint32_t id);
/* Does a client's queue use memory in the range? */
bool kmd_queue_lives_in(struct kmd *kmd, uint64_t va, uint64_t bytes);
/* wanted or suspended have changed. Queue lock held. */
void kmd_queue_apply(struct kmd_queue *q);

/* debug.c: note exceptions; true: a debugger wants them, and nobody else gets them. */
bool kmd_debugged(struct kmd_queue *q, uint64_t exceptions);
/* What queues have raised before there was a session. */
void kmd_queues_hand_over(struct kmd *kmd);

/* session.c: add to what this process has raised; true: of what is fresh the debugger
 * wants something. A page fault, likewise. */
bool kmd_session_raise(struct kmd *kmd, enum kmd_source source, uint32_t queue,
                       uint64_t exceptions, uint64_t fresh);
bool kmd_session_memory(struct kmd *kmd, const struct kmd_memory_fault *fault);
/* What the debugger of this process watches; NULL: there is none. kmd: struct kmd. */
const struct gpu_watches *kmd_session_watches(void *kmd);

/* timeline.c: both sets in one; a sleep that ends early if
 * any timeline has advanced since shared->advances was seen. */
uint32_t kmd_soft_merge(struct kmd *kmd, uint32_t a, uint32_t b);
void kmd_timelines_wait(struct kmd *kmd, uint32_t seen, long nanoseconds);

/* syncfile.c: what the client's end of a socket stands for; a word that becomes 1 when
 * fences have ended. */
bool kmd_fences_remember(struct kmd *kmd, int fd, const struct kmd_fences *fences);
RD_CHECKED rd_status kmd_fences_open(struct kmd *kmd, const struct kmd_fences *fences,
                                     uint64_t *gate);

/* fault.c: the functions that the GPU calls. */
struct gpu_host kmd_gpu_host(struct kmd *kmd);
/* To the runtime through the context save area; false: it is not there. */
bool kmd_tell_runtime(struct kmd_queue *q, uint64_t exceptions);

/* What a child of fork takes over: buffers of the render node and their addresses; how
 * far the rings are. */
void kmd_bo_inherit(struct kmd *kmd, const struct kmd *from);
void kmd_va_inherit(struct kmd *kmd, const struct kmd *from);
void kmd_rings_inherit(struct kmd *kmd, const struct kmd *from);

/* svm.c, event.c */
void kmd_svm_init(struct svm *svm);
void kmd_events_init(struct event_table *table);
/* An interrupt with a context id: signal the event, free its mailbox. */
void kmd_event_interrupt(struct kmd *kmd, uint32_t id);
/* Signal every hardware exception event: the GPU hung. */
void kmd_event_hang(struct kmd *kmd);
/* Signal every memory event of the process. */
void kmd_event_memory_fault(struct kmd *kmd, const struct kmd_memory_fault *fault);

#endif
