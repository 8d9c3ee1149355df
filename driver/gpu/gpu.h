/* gpu.h: the GPU: address spaces, queues with their packet processors, the clock.
 *
 * What the chip and its firmware do. It knows no ioctl, no process, no file and nobody
 * who asks: work comes in by queues and doorbells, news go out through the table of
 * functions in its configuration. A kernel driver sits on top of it: the project's own
 * (kmd/) behind the ioctl mock, a guest's behind the registers of a board (pci/).
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GPU_H
#define RD_GPU_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board.h"
#include "counters.h"
#include "status.h"
#include "watches.h"

struct gpu; /* opaque */
struct gpu_queue;

/* Why a queue has stopped, as its firmware sees it. */
enum gpu_error {
    GPU_ERR_DIM,
    GPU_ERR_GROUP_SIZE,
    GPU_ERR_CODE,
    GPU_ERR_FORMAT,
    GPU_ERR_UNSUPPORTED,
    GPU_ERR_WG_SIZE,
    GPU_ERR_REGISTERS,
    GPU_ERR_VENDOR,
    GPU_ERR_ILLEGAL_INST,
    GPU_ERR_TRAP,
    GPU_ERR_APERTURE,
    GPU_ERR_PREEMPTION,
    GPU_ERRORS
};

struct gpu_page_fault {
    uint64_t va;
    bool present; /* mapped, but not for this access */
    bool write, exec;
    unsigned space; /* told to the host: where */
};

/* Guest memory where the host has it. */
struct vm_span {
    uint8_t *host;
    uint64_t bytes; /* that lie together, of those asked for; at least 1 */
};

/* A page, or several that lie together. */
struct gpu_page {
    uint64_t start, end;
    uint8_t *host; /* of start */
    unsigned perm; /* GPU_* */
};

/* Memory that a file has, from an address on. */
struct gpu_file {
    uint64_t bytes;
    int fd;
    uint64_t offset;
};

/* What has raised an interrupt. */
enum gpu_irq { GPU_IRQ_EOP, GPU_IRQ_DMA, GPU_IRQ_WAVE };

/* The trap handler of a wave has sent an interrupt. */
struct gpu_message {
    uint32_t data;     /* as sent */
    uint64_t dispatch; /* number of the dispatch, of its queue */
    const char *text;  /* why the wave is in its handler */
};

/* News for whoever drives the GPU. ctx is the configuration's, owner the queue's.
 * Called in the thread of the queue or of a wave; never under a lock of the GPU. */
struct gpu_host {
    void *ctx;
    /* An end-of-pipe, SDMA or wave interrupt with what the packet or wave gave. */
    void (*interrupt)(void *ctx, uint32_t data);
    /* A queue has stopped. Unless somebody listens, gpu_queue_inactive is to follow. */
    void (*error)(void *ctx, void *owner, enum gpu_error error);
    void (*page_fault)(void *ctx, void *owner, const struct gpu_page_fault *fault);
    /* True: the message was about an exception, so the dispatch will have failed. */
    bool (*message)(void *ctx, void *owner, const struct gpu_message *message);
    /* The first use of its kind of a register that nobody models; NULL: never mind. */
    void (*unmodelled)(void *ctx, uint32_t reg, enum gpu_reg_use use);
    /* A line for people. */
    void (*log)(void *ctx, const char *text);
    /* Threads that touch guest memory are about to begin. */
    void (*threads)(void *ctx);
    /* The file of the buffer at an address of the host, whose holes read as zeros; in
     * threads that run waves, which it must not wait for. False: none, or not known
     * just now; NULL: never. */
    bool (*file)(void *ctx, uint64_t host, struct gpu_file *out);
    /* What is watched now; NULL, or a function that says NULL: nothing. */
    const struct gpu_watches *(*watches)(void *ctx);
    const struct gpu_board *board; /* NULL: the address space is the process's own */
};

/* Where waves of a queue trap to. */
struct gpu_traps {
    uint64_t tba, tma;                 /* tba 0: nowhere */
    uint32_t doorbell;                 /* the queue's number, as waves are told */
    const struct gpu_watches *watches; /* NULL: nothing */
};

/* What a board at register level does for its GPU; ctx is the host's. */
struct gpu_board {
    /* The page of an address space that holds va; false: why not in fault. */
    bool (*page)(void *ctx, unsigned space, uint64_t va, unsigned access,
                 struct gpu_page *page, struct gpu_page_fault *fault);
    /* A write to what is no memory but on the bus all the same. False: it is not. */
    bool (*bus_write)(void *ctx, unsigned space, uint64_t va, const void *from,
                      uint64_t bytes);
    /* A kernel of this address space is about to run: bring up to date what it sees
     * (gpu_space_place). Thread: any. */
    void (*mirror)(void *ctx, unsigned space);
    /* One that runs finds nothing at va, or what it may not access: likewise, if that
     * is no more what page tables say. Thread: any. */
    void (*mirror_page)(void *ctx, unsigned space, uint64_t va);
    /* Instead of host.interrupt. */
    void (*interrupt)(void *ctx, void *owner, enum gpu_irq what, uint32_t data);
    /* All registers but a queue's own compute state. */
    uint32_t (*reg_read)(void *ctx, uint32_t reg);
    void (*reg_write)(void *ctx, uint32_t reg, uint32_t value);
    /* A frame of a GPU_QUEUE_FRAMES, or a packet of a kernel queue that the processor
     * does not know (op: its opcode, dw behind its header). False: nor does anybody. */
    bool (*frame)(void *ctx, void *owner, const uint32_t *dw, uint32_t n);
    bool (*packet)(void *ctx, void *owner, unsigned op, const uint32_t *dw, uint32_t n);
    /* The kernel driver's handler for a queue whose waves trap. */
    void (*traps)(void *ctx, void *owner, struct gpu_traps *traps);
};

struct gpu_config {
    bool no_execute;      /* complete dispatches without running them */
    double sclk_mhz;      /* above 0: the timing model at this shader clock */
    const char *timeline; /* file to append dispatches to, or NULL; kept */
    struct gpu_counters *counters;
    /* Executed instructions are added here by opcode; NULL: they are not counted one by
     * one. Kept. */
    struct gpu_opcodes *opcodes;
    /* Gets their model time; NULL: it is not wanted. Kept. */
    struct gpu_kernels *kernels;
    const char *check;     /* file with a table of findings, or NULL; kept */
    struct ck_heap *heap;  /* of a checked program: its allocations, or NULL */
    const char *cores;     /* folder for core files (kept.h), or NULL; kept */
    bool whole_cores;      /* with all memory */
    const char *debugger;  /* folder with a debugger's socket, or NULL; kept */
    unsigned engine;       /* enum emu_engine */
    unsigned simd;         /* enum emu_simd */
    unsigned host_threads; /* for workgroups; 0: one per CPU */
    bool perf_map;         /* name native code in /tmp/perf-PID.map */
    struct gpu_host host;
};

/* Create a GPU: no queue, no memory, no thread. There is no way back but the end of the
 * process: its threads may be inside kernels that never end. */
RD_CHECKED rd_status gpu_create(const struct gpu_config *config, struct gpu **out);
/* ... but for a board's, while it has no queues. */
void gpu_destroy(struct gpu *gpu);

/* ---- time (clock.c) ---- */

/* The 100 MHz counter: the host's monotonic clock, or simulated time under the timing
 * model. */
uint64_t gpu_clock(struct gpu *gpu);

/* The counter and the host's clocks at one moment, as the kernel reads them together.
 */
struct gpu_clocks {
    uint64_t gpu;               /* 100 MHz */
    uint64_t cpu_ns, system_ns; /* CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME */
};
void gpu_clocks(struct gpu *gpu, struct gpu_clocks *out);

/* ---- address space (vm.c) ---- */

#define GPU_READ  1u
#define GPU_WRITE 2u
#define GPU_EXEC  4u
#define GPU_LOCAL 8u /* not a permission: the board's own memory */

/* Make [va, va+bytes) visible to the GPU; nested and overlapping calls are counted. */
RD_CHECKED rd_status gpu_vm_add(struct gpu *gpu, uint64_t va, uint64_t bytes,
                                unsigned perm, const char *name);
/* Undo one gpu_vm_add of the range. Parts not mapped are ignored. */
void gpu_vm_remove(struct gpu *gpu, uint64_t va, uint64_t bytes);
/* Is the whole range visible with these permissions? */
bool gpu_vm_check(struct gpu *gpu, uint64_t va, uint64_t bytes, unsigned perm);

/* Kernels send messages to whoever takes interrupts by stores to these bytes, which he
 * then clears: many waves may, unordered. */
void gpu_mailboxes(struct gpu *gpu, uint64_t va, uint64_t bytes);

/* Memory as the GPU sees it; false, and perhaps a part done, where it sees none. */
RD_CHECKED bool gpu_read(struct gpu *gpu, uint64_t va, void *to, uint64_t bytes);
RD_CHECKED bool gpu_write(struct gpu *gpu, uint64_t va, const void *from,
                          uint64_t bytes);

/* ---- address spaces of a board (space.c) ---- */

#define GPU_SPACES 80u

/* Let kernels of the space see host memory at va; nothing is there yet. */
RD_CHECKED rd_status gpu_space_place(struct gpu *gpu, unsigned space, uint64_t va,
                                     void *host, uint64_t bytes, unsigned perm,
                                     const char *name);
/* Take [from, to) out of what was placed at va; waves that use the rest go on. */
RD_CHECKED rd_status gpu_space_cut(struct gpu *gpu, unsigned space, uint64_t va,
                                   uint64_t bytes, uint64_t from, uint64_t to,
                                   unsigned perm);
/* Nobody uses the space any more: forget what it shows. */
void gpu_space_close(struct gpu *gpu, unsigned space);
/* Translations are forgotten. */
void gpu_flush(struct gpu *gpu);

/* ---- queues (queue.c) ---- */

#define GPU_MAX_QUEUES BOARD_QUEUES

enum gpu_queue_kind {
    GPU_QUEUE_PM4,
    GPU_QUEUE_AQL,
    GPU_QUEUE_SDMA,
    GPU_QUEUE_FRAMES, /* of GPU_FRAME_DWORDS, for gpu_board.frame */
};
#define GPU_FRAME_DWORDS 64u

struct gpu_queue_config {
    enum gpu_queue_kind kind;
    uint32_t id;                 /* below GPU_MAX_QUEUES, not in use; kernels see it */
    volatile uint64_t *doorbell; /* where it is rung */
    uint64_t ring, ring_bytes;
    uint64_t rptr, wptr; /* addresses of the 64-bit indices */
    uint32_t priority;
    bool active;
    void *owner; /* for the host's functions */
    /* Of a board: */
    unsigned space;
    bool kernel;                 /* names address spaces in its packets */
    bool resumed;                /* the indices are not those in memory but */
    uint64_t rptr_now, wptr_now; /* these, as in config.kind's ring */
    const uint32_t *compute;     /* COMPUTE_* registers as a queue left them; or NULL */
    const uint32_t *cu_mask;     /* as for gpu_queue_engine_mask; NULL: all CUs */
};

/* Of a dispatch: the registers that a queue's descriptor keeps while it is unmapped, of
 * these many from the first on. */
#define GPU_COMPUTE_FIRST 0x2e00u
#define GPU_COMPUTE_N     80u
bool gpu_compute_kept(uint32_t index);

/* Create a queue and its worker. */
RD_CHECKED rd_status gpu_queue_create(struct gpu *gpu,
                                      const struct gpu_queue_config *config,
                                      struct gpu_queue **out);
/* Preempts what runs, then removes the queue. False: a kernel that does not stop still
 * uses it and its owner, for ever. */
RD_CHECKED bool gpu_queue_destroy(struct gpu_queue *q);
/* ring 0: as it is. */
void gpu_queue_set(struct gpu_queue *q, uint64_t ring, uint64_t ring_bytes,
                   uint32_t priority);
/* Let it run, or stop it, inside a kernel too; returns when it has stopped. */
void gpu_queue_activate(struct gpu_queue *q, bool active);
/* Registers of a queue that stands between packets; those that are not kept: 0. */
void gpu_queue_compute(const struct gpu_queue *q, uint32_t out[GPU_COMPUTE_N]);
/* Memory of the queue's process for its waves: a control stack that ends at
 * stack_bytes, their contexts behind it. */
struct gpu_save_area {
    uint64_t base;
    uint32_t stack_bytes, bytes;
};
/* Stop it as gpu_queue_activate does, inside a kernel by way of the trap handler, which
 * stores its waves there; when it runs again they are restored from there. Without a
 * handler they stay in the emulator; but without a board contexts are stored for them
 * all the same, and waves take over what has been changed there. */
void gpu_queue_save(struct gpu_queue *q, const struct gpu_save_area *area);
bool gpu_queue_halted(const struct gpu_queue *q);
/* Ring its doorbell: nobody watches those of a board. */
void gpu_queue_ring(struct gpu_queue *q, uint64_t value);
/* Of a stopped queue: where it goes on reading; is it inside a dispatch? */
uint64_t gpu_queue_rptr(const struct gpu_queue *q);
bool gpu_queue_running(const struct gpu_queue *q);
void gpu_queue_cu_mask(struct gpu_queue *q, const uint32_t *mask, unsigned bits);
/* Of a stopped queue, as the hardware has it: BOARD_SE masks, one for each engine. */
void gpu_queue_engine_mask(struct gpu_queue *q, const uint32_t *mask);
/* What the context of a stopped queue would fill in its save area. */
void gpu_queue_saved(const struct gpu_queue *q, uint32_t *ctl_bytes,
                     uint32_t *wave_bytes);
/* The firmware's own report of an error, in the signal of an AQL queue. */
void gpu_queue_inactive(struct gpu_queue *q, enum gpu_error error);
/* Waves of an address space end where they are, those too that have halted at a fault;
 * their queues go on behind the dispatch. Returns when they have, or after some
 * milliseconds. */
void gpu_kill_waves(struct gpu *gpu, unsigned space);
/* Is a queue's worker at work, or about to look for some? */
bool gpu_awake(struct gpu *gpu);
/* Look at the doorbells now instead of at the next poll. */
void gpu_kick(struct gpu *gpu);

/* First and second level trap handler. */
void gpu_trap_handler(struct gpu *gpu, uint64_t tba, uint64_t tma);

/* Read a register (regs.def) as a driver does; counted if nobody models it. */
uint32_t gpu_register(struct gpu *gpu, uint32_t reg);
/* Is it one that the GPU has itself, on a board, too? Write one of these. */
bool gpu_owns(uint32_t reg);
void gpu_set_register(struct gpu *gpu, uint32_t reg, uint32_t value);
/* They are as at the beginning. */
void gpu_registers_reset(struct gpu *gpu);

/* ---- threads ---- */

/* The calling thread answers what a CPU waits for, and sleeps otherwise: where the host
 * lets it (CAP_SYS_NICE, RLIMIT_RTPRIO), it runs before all that wants its CPU, or
 * (false) no longer does. Threads that it makes do not. */
void gpu_thread_urgent(bool urgent);
/* While the caller, if it is urgent, waits for another thread, so is that one. */
void gpu_thread_lend(pthread_t to, bool urgent);

/* ---- memory that goes away under the GPU (hostfault.c) ---- */

/* For a handler of SIGSEGV and SIGBUS: is this thread at work for a queue? */
bool gpu_thread_is_ours(void);
/* Its access at va found no memory: give up the dispatch, and report a page fault once
 * the access has ended. Async-signal-safe. */
void gpu_access_failed(uint64_t va, bool write);

/* ---- where waves are (cores.c) ---- */

/* Order a core file of each dispatch that runs. Async-signal-safe. Returns 0 if nothing
 * runs, else what gpu_looked wants to know whether it has been obeyed. */
uint32_t gpu_look(void);
bool gpu_looked(uint32_t ticket);

#endif
