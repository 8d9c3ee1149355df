/* dev.h: inside of the device model, shared by its files only.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEV_H
#define RD_DEV_H

#include <pthread.h>
#include <stdatomic.h>

#include "emu.h"
#include "gdev.h"
#include "board.h"
#include "shared.h"

#define DEV_MAX_QUEUES (BOARD_DOORBELL_BYTES / 8)

/* A piece of the GPU address space; refs counts overlapping gdev_vm_add calls. */
struct vm_seg {
    uint64_t start, end;
    unsigned perm;
    uint32_t refs;
    char name[24];
};

/* A region as the emulator knows it: perhaps several segments. */
struct vm_region {
    uint64_t start, end;
    unsigned perm;
    uint64_t number; /* in order of creation */
    char name[24];
};

struct vm {
    pthread_rwlock_t lock;
    struct vm_seg *segs; /* sorted, disjoint */
    size_t n_segs, cap_segs;
    struct vm_region *regions; /* sorted, disjoint */
    size_t n_regions, cap_regions;
    uint64_t next_region;
    struct emu *emu; /* created by the first queue */
};

struct svm_range {
    uint64_t start, end;
    struct gdev_svm attr;
    bool mapped;
};

struct svm {
    pthread_mutex_t lock;
    struct svm_range *ranges; /* sorted, disjoint */
    size_t count, cap;
};

struct gdev_bo {
    struct gdev_bo_info info;
    bool used, mapped, imported;
    uint64_t kernel_va; /* gdev_bo_kernel_map; 0: none */
};

struct event; /* event.c */

struct event_table {
    pthread_mutex_t lock;
    struct event **slots; /* index: id */
    uint32_t count;       /* entries of slots */
    uint64_t page_va;
    uint32_t page_slots;
};

/* clock.c */
struct dev_clock {
    bool simulated;
    pthread_mutex_t lock;
    unsigned busy;   /* queues at work */
    uint64_t now;    /* while busy */
    int64_t skew;    /* to the host's clock, while not */
    int64_t boot_ns; /* of the boot clock to the monotonic one */
};

/* priority.c */
struct dev_priority {
    pthread_mutex_t lock;     /* taken last */
    struct gdev_queue *first; /* queues with dispatches to run */
};

/* submit.c */
struct dev_ring {
    uint64_t memory; /* ring, then a page of indices and the fence */
    uint32_t id;
    struct gdev_queue *queue; /* NULL: to be created */
    uint64_t put;             /* dwords */
    uint64_t last;            /* number of the last submission */
    uint32_t resets;
};

/* smi.c: our end of a socket that a client reads */
struct dev_smi {
    int fd;
    uint64_t mask;
};

struct gdev {
    int render_fd, kfd_fd, shared_fd;
    bool no_execute;
    double sclk_mhz; /* 0: no timing model */
    struct dev_clock clock;
    struct gshared *shared;
    struct gshared_proc *proc;

    pthread_mutex_t bo_lock;
    struct gdev_bo *bos;
    uint32_t n_bos;

    struct vm vm;
    struct svm svm;
    struct event_table events;

    pthread_mutex_t queue_lock; /* table and poller; never held while a packet runs */
    struct gdev_queue *queues[DEV_MAX_QUEUES];
    unsigned n_queues;
    uint32_t gws_owner; /* queue id + 1 */
    uint64_t doorbell_offset;
    volatile uint64_t *doorbells;
    uint64_t mmio_offset;
    pthread_t poller;
    bool poller_runs;
    _Atomic uint32_t kicks;

    struct dev_priority priority;

    pthread_mutex_t ring_lock; /* taken before queue_lock */
    struct dev_ring rings[GDEV_ENGINES];

    pthread_mutex_t smi_lock;
    struct dev_smi *smi;
    unsigned n_smi;

    bool debug_on; /* queue_lock */
    int debug_fd;
    _Atomic uint64_t debug_mask; /* exceptions that go to the debugger */

    _Atomic uint64_t tba, tma;
    _Atomic bool runtime_enabled;
};

/* bo.c */
void dev_bo_init(struct gdev *dev);
RD_CHECKED rd_status dev_doorbells(struct gdev *dev); /* reserve and map the page */

/* vm.c */
void dev_vm_init(struct vm *vm);
/* The emulator, created on first use. */
RD_CHECKED rd_status dev_vm_emu(struct vm *vm, struct emu **out);
/* What the GPU sees, in order of mapping; NULL if out of memory. Caller frees. */
struct tm_range *dev_vm_ranges(struct vm *vm, size_t *count);
/* Name of the mapping nearest to an address, for messages. */
/* The name of the kernel whose code begins at an address, from the code object around
 * it (symbols.c); false: it is not known. */
bool dev_kernel_name(struct gdev *dev, uint64_t entry, char *name, size_t size);
void dev_vm_nearest(struct vm *vm, uint64_t va, char *text, size_t size);

/* hostmap.c: may a buffer be mapped over what is there? */
bool dev_host_replaceable(uint64_t va, uint64_t bytes, int backing_fd);

/* queue.c: as gdev_queue_destroy, for queues of the device itself */
void dev_queue_remove(struct gdev *dev, uint32_t id, bool internal);

/* queue.c: let the worker see a change of wanted or suspended. Queue lock held. */
void dev_queue_apply(struct gdev_queue *q);

/* priority.c: active, stop or config.priority of the queue have changed. Queue lock
 * held, or the queue is in nobody's reach any more. */
void dev_priority_apply(struct gdev_queue *q);

/* svm.c, event.c */
void dev_svm_init(struct svm *svm);
void dev_events_init(struct event_table *table);

/* hostfault.c: from now on, memory that vanishes under the GPU is a page fault. */
void dev_hostfault_init(struct gdev *dev);
void dev_hostfault_name(uint32_t queue, char name[16]); /* of a queue's threads */

/* clock.c, for the simulated clock: a queue starts to work (its time is the result),
 * has stopped, has got so far. */
void dev_clock_init(struct dev_clock *clock, bool simulated);
uint64_t dev_clock_enter(struct dev_clock *clock);
void dev_clock_leave(struct dev_clock *clock);
void dev_clock_reach(struct dev_clock *clock, uint64_t ticks);

/* A thread that takes no signals of the program but those of its own faults. */
RD_CHECKED rd_status dev_thread(pthread_t *thread, void *(*main)(void *), void *arg,
                                const char *name);

#endif
