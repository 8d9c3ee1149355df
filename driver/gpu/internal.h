/* internal.h: inside of the GPU, shared by its files only.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GPU_INTERNAL_H
#define RD_GPU_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "emu.h"
#include "gpu.h"
#include "pmc.h"
#include "regs.h"

/* A piece of the GPU address space; refs counts overlapping gpu_vm_add calls. */
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

/* An emulator that runs beside vm.emu for a while. */
struct vm_beside {
    struct emu *emu;
    struct vm_beside *next;
};

struct vm {
    pthread_rwlock_t lock;
    struct vm_seg *segs; /* sorted, disjoint */
    size_t n_segs, cap_segs;
    struct vm_region *regions; /* sorted, disjoint */
    size_t n_regions, cap_regions;
    uint64_t next_region;
    struct emu *emu;                /* created by the first queue */
    struct emu_native_stats native; /* of it, as the counters have them: opcode_lock */
    struct vm_beside *beside;
    bool count; /* instructions by opcode */
    enum emu_engine engine;
    enum emu_simd simd;
    unsigned host_threads;       /* for workgroups; 0: one per CPU */
    uint64_t seed;               /* emu_config.seed */
    const struct gpu_host *host; /* whose buffers have files; NULL: nobody's */
    bool perf_map;               /* names for perf */
    emu_symbol_fn *symbol;       /* for it */
    void *symbol_ctx;
    struct gpu *board; /* whose space this is; NULL: of no board */
    unsigned space;
    _Atomic uint64_t
        generation; /* of the segments: 1 at first, grows with each change */
};

/* Translations that a thread has found, while nothing changes. Zero: empty. */
#define VM_TLB_ENTRIES 8u
struct vm_tlb {
    uint64_t generation;
    struct {
        uint64_t start, end; /* visible without a gap ... */
        uint64_t delta;      /* from an address to the host's */
        unsigned perm;       /* ... with these permissions at least */
    } entry[VM_TLB_ENTRIES];
    unsigned next; /* to be replaced */
};

/* clock.c */
struct gpu_clock_state {
    bool simulated;
    pthread_mutex_t lock;
    unsigned busy;   /* queues at work */
    uint64_t now;    /* while busy */
    int64_t skew;    /* to the host's clock, while not */
    int64_t boot_ns; /* of the boot clock to the monotonic one */
};

/* priority.c */
struct gpu_priority {
    pthread_mutex_t lock;    /* taken last */
    struct gpu_queue *first; /* queues with dispatches to run */
};

/* spinners.c */
#define SPINNERS_MAX 64u
struct spinner {
    pid_t tid;
    int policy;     /* its own, while lowered */
    unsigned awake; /* looks in a row */
    bool lowered, known;
};
struct spinners {
    pthread_mutex_t lock; /* taken last; poller and v */
    enum { SPINNERS_UNTRIED, SPINNERS_ABLE, SPINNERS_UNABLE } able;
    uint64_t looked_ns, listed_ns; /* poller only */
    struct spinner v[SPINNERS_MAX];
    unsigned n;
    _Atomic unsigned lowered; /* of v, about */
};

struct ck;
struct ck_heap;
struct orders;

/* checked.c */
struct gpu_checks {
    const char *path;     /* of the table of findings; NULL: nothing is checked */
    pthread_mutex_t lock; /* taken before everything else; a checked dispatch runs */
    struct ck *ck;        /* from the first dispatch on */
    _Atomic(struct ck *) running; /* the same while a dispatch runs */
    struct ck_heap *heap;         /* what the program has allocated, or NULL */
    struct orders *orders;        /* ordered.c; NULL: nobody asks */
    _Atomic uint64_t mailboxes, mailbox_bytes; /* gpu_mailboxes */
};

/* trace.c */
#define GPU_TRACE_REGS  0xd9e8u /* SQ_THREAD_TRACE_BUF0_BASE, and those behind it */
#define GPU_TRACE_COUNT 16u
#define GPU_TRACE_USER  0xc340u
#define GPU_TRACE_USERS 8u
#define GPU_TRACE_WORDS 4096u
struct gpu_trace_se {
    uint32_t reg[GPU_TRACE_COUNT];
    uint64_t bytes; /* in the buffer */
};
struct gpu_trace {
    pthread_mutex_t lock; /* taken last but gpu.vm's */
    struct gpu_trace_se se[BOARD_SE];
    struct gpu_trace_word {
        uint16_t reg;
        uint32_t value;
    } word[GPU_TRACE_WORDS]; /* USERDATA that was written, the last ones */
    size_t n_words;
    uint32_t user[GPU_TRACE_USERS]; /* as they were written last */
    bool told;                      /* that traces are empty */
};

/* chip.c */
struct gpu_chip {
    pthread_mutex_t lock;
    pthread_cond_t ended;         /* some dispatch has */
    _Atomic uint64_t steps;       /* of queues; not 0 */
    unsigned groups;              /* of dispatches that a queue runs at once; lock */
    _Atomic uint64_t lingered_ns; /* that programs were waited for */
};
void gpu_chip_init(struct gpu_chip *chip);
void gpu_chip_destroy(struct gpu *gpu); /* waits for its threads */

/* cores.c */
struct gpu_cores {
    const char *folder; /* where core files go; NULL: nowhere */
    bool whole;         /* with all memory */
    int32_t pid;
    _Atomic uint32_t wanted, served; /* orders to show what runs */
};

struct gpu {
    bool no_execute;
    double sclk_mhz; /* 0: no timing model */
    const char *timeline;
    struct gpu_counters *counters;
    struct gpu_opcodes *opcodes; /* NULL: not wanted */
    struct gpu_kernels *kernels; /* NULL: not wanted */
    pthread_mutex_t opcode_lock; /* counted, and what VMs have of native code */
    struct gpu_opcodes counted;  /* what *opcodes has of the emulator's counts */
    struct gpu_host host;
    struct gpu_checks checks;
    struct gpu_cores cores;
    const char *debugger; /* folder where one listens, or NULL */
    struct gpu_clock_state clock;
    struct gpu_chip chip;
    struct vm vm;
    pthread_mutex_t space_lock;    /* the table */
    struct vm *spaces[GPU_SPACES]; /* of a board: their emulators, made when needed */
    struct gpu_regs regs;
    struct gpu_trace trace;
    struct gpu_pmc pmc;

    pthread_mutex_t queue_lock; /* table and poller; never held while a packet runs */
    _Atomic unsigned running;   /* dispatches */
    struct gpu_queue *queues[GPU_MAX_QUEUES];
    _Atomic unsigned n_queues;
    uint64_t turns;         /* queue_lock: of queues that were rung */
    _Atomic unsigned awake; /* workers that wait for no poke */
    pthread_t poller;
    _Atomic bool poller_runs;
    _Atomic uint32_t kicks;

    struct gpu_priority priority;
    struct spinners spinners;
    _Atomic uint64_t tba, tma;
};

/* A line for people. */
void gpu_log(struct gpu *gpu, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Interrupt the host, for a queue. */
struct gpu_queue;
void gpu_interrupt(struct gpu_queue *q, enum gpu_irq what, uint32_t data);

/* vm.c */
void vm_init(struct vm *vm);
/* EMU_MEM_* of GPU_*. */
unsigned vm_emu_perm(unsigned perm);

/* The address space that the ioctl mock's one process has. */
#define VM_PROCESS 8u

/* What holds an address space's emulator; NULL if out of memory (space.c). */
struct vm *vm_of(struct gpu *gpu, unsigned space);

/* Where guest memory is: the only way by which anything in the GPU reaches it. Behind
 * the ioctl mock the answer is the address itself, if the process has mapped it; a
 * board's is found by walking page tables.
 *
 * vmid    address space
 * access  GPU_* bits that the memory must have
 * tlb     what the calling thread has found so far, or NULL
 * span    out: the first byte, and how far from there
 * fault   out, for RD_E_FAULT: why the first byte is not to be had
 * A span is good until the mapping changes: to be used at once, and not kept.
 */
RD_CHECKED rd_status vm_translate(struct gpu *gpu, unsigned vmid, uint64_t va,
                                  uint64_t bytes, unsigned access, struct vm_tlb *tlb,
                                  struct vm_span *span, struct gpu_page_fault *fault);
/* Store as the GPU does: aligned words of 4 and 8 bytes at once. */
void vm_store(void *to, const void *from, uint64_t bytes);
/* The emulator, created on first use. */
RD_CHECKED rd_status vm_emu(struct vm *vm, struct emu **out);
/* One more of the same memory, that nobody observes, in *b until vm_emu_leave. */
RD_CHECKED rd_status vm_emu_beside(struct vm *vm, struct vm_beside *b);
void vm_emu_leave(struct vm *vm, struct vm_beside *b);
/* What the GPU sees, in order of mapping; NULL if out of memory. Caller frees. */
struct tm_range *vm_ranges(struct vm *vm, size_t *count);
/* gpu_read and gpu_write in an address space. */
RD_CHECKED bool vm_read(struct gpu *gpu, unsigned space, uint64_t va, void *to,
                        uint64_t bytes);
RD_CHECKED bool vm_write(struct gpu *gpu, unsigned space, uint64_t va, const void *from,
                         uint64_t bytes);
/* Name of the mapping nearest to an address, for messages. */
void vm_nearest(struct vm *vm, uint64_t va, char *text, size_t size);

/* The name of the kernel whose code begins at an address, from the code object around
 * it (symbols.c); false: it is not known. */
bool gpu_kernel_name(struct gpu *gpu, uint64_t entry, char *name, size_t size);

/* Where the code object that holds pc begins in memory; 0: it is not known. */
uint64_t gpu_image(struct gpu *gpu, uint64_t pc);

/* emu_symbol_fn of a struct gpu: the function that holds pc. */
bool gpu_symbol(void *gpu, uint64_t pc, char *name, size_t size, uint64_t *start);

/* queue.c: wake workers that sleep and whose doorbell has been rung. Nobody watches a
 * board's. */
void gpu_look_at_bells(struct gpu *gpu);

/* priority.c: active, stop or config.priority of the queue have changed. Calls for one
 * queue do not overlap. */
void gpu_priority_apply(struct gpu_queue *q);

/* spinners.c: a dispatch runs at this moment; the GPU has nothing to do. */
void gpu_spinners_look(struct gpu *gpu, uint64_t now_ns);
void gpu_spinners_release(struct gpu *gpu);
/* Does any thread of the program do something, or want to? */
bool gpu_program_runs(void);

/* cores.c: obey orders to show what runs. In the poller, without a lock. */
void gpu_look_serve(struct gpu *gpu);

/* hostfault.c: the GPU that the process's threads work for. */
void gpu_hostfault_init(struct gpu *gpu);
struct gpu *gpu_of_process(void);                    /* NULL: none has a queue yet */
void gpu_worker_name(uint32_t queue, char name[16]); /* of a queue's threads */

/* trace.c: registers of thread traces, which a board's GPU has, too. */
void gpu_trace_init(struct gpu_trace *trace);
void gpu_trace_reset(struct gpu_trace *trace);
uint32_t gpu_trace_read(struct gpu *gpu, uint32_t reg);
void gpu_trace_write(struct gpu *gpu, uint32_t reg, uint32_t value);
/* SQ_THREAD_TRACE_USERDATA: the value that was written, which a trace tells. */
uint32_t gpu_trace_told(struct gpu *gpu, uint32_t reg);
void gpu_trace_word(struct gpu *gpu, uint32_t reg, uint32_t value);

/* clock.c, for the simulated clock: a queue starts to work (its time is the result),
 * has stopped, has got so far. */
void gpu_clock_init(struct gpu_clock_state *clock, bool simulated);
uint64_t gpu_clock_enter(struct gpu_clock_state *clock);
void gpu_clock_leave(struct gpu_clock_state *clock);
void gpu_clock_reach(struct gpu_clock_state *clock, uint64_t ticks);

/* A thread that takes no signals of the program but those of its own faults. */
RD_CHECKED rd_status gpu_thread(pthread_t *thread, void *(*main)(void *), void *arg,
                                const char *name);

#endif
