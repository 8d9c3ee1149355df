/* cp.h: command processors: what a queue's worker and the packet code share.
 *
 * Every queue has a worker thread that calls its processor's step function; a step
 * handles one packet to its end. Memory is reached through the checked accessors.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CP_H
#define RD_CP_H

#include "context.h"
#include "corefile.h"
#include "internal.h"

enum cp_result {
    CP_PROGRESS, /* a packet was processed */
    CP_IDLE,     /* nothing to do until the doorbell rings */
    CP_STALL,    /* the next packet is not ready; look again soon */
    CP_HALT,     /* the queue has failed and processes nothing more */
};

/* cores.c: the waves of the dispatch that runs, as far as they have been shown. */
struct cp_shown {
    pthread_mutex_t lock; /* taken last but gpu.vm's */
    struct emu_inspector inspector;
    struct capture capture;
    struct emu *emu; /* NULL: nothing runs */
    struct emu_dispatch dispatch;
    unsigned waves;
};

/* ordered.c: sets of dispatches, in the lock there. */
struct cp_order {
    uint32_t number; /* of the queue, from 1; 0: not asked for yet */
    uint64_t behind; /* what the next packet is certainly behind of */
    uint64_t done;   /* ... if it has a barrier bit */
    uint64_t own;    /* the dispatch that this packet was */
    unsigned slot;
    uint64_t began; /* ns */
};

/* save.c: waves that were saved; the queue's lock, while some are being saved. */
struct cp_save {
    struct gpu_save_area area;
    uint64_t next;   /* where the next one goes */
    uint32_t *words; /* of the control stack */
    uint32_t n, room, state;
};

/* pmc.c: what performance counters are to count of the dispatch that runs; worker only.
 */
struct cp_pmc {
    struct pmc_facts *facts; /* NULL: nothing */
    uint64_t *executed;      /* by opcode; NULL: no counter shows instructions */
    uint64_t began;          /* clock */
    bool timed;              /* the timing model has filled in the facts: */
    uint64_t cycles;         /* how long it ran */
};

enum { CP_CODE_PAGES = 8 }; /* whose translations a queue's kernels find */

enum { CP_LONG_COPY = 1 << 16 }; /* bytes */

/* How others see a queue that has been rung (queue.c). */
enum cp_pace {
    CP_RESTING,  /* it had nothing to do */
    CP_STARTING, /* in its first packets since, before anything that takes a while */
    CP_GOING,
};

/* Dispatches of a queue that run at once under the timing model: worker's functions. */
#define CP_BESIDE 64u
/* Is the worker's dispatch in the timing model's hands? LOOKS: it offers more as it is
 * rung for them. */
enum cp_offered { CP_AT_WORK, CP_OFFERED, CP_OFFERED_LOOKS };
struct cp_beside {
    /* The next packet, if it may begin before those under way have ended. */
    bool (*next)(struct gpu_queue *q, struct emu_dispatch *d);
    /* Of those the one with that number, from 0, has ended. False: page fault. */
    bool (*ended)(struct gpu_queue *q, unsigned number, uint64_t start, uint64_t end);
};

struct gpu_queue {
    struct gpu *gpu;
    uint32_t id;
    unsigned space; /* worker only: where its packets find memory */
    struct gpu_queue_config config;
    enum cp_result (*step)(struct gpu_queue *q);
    volatile uint64_t *doorbell;
    uint64_t rptr;     /* PM4: dwords modulo the ring; SDMA: bytes, monotonic */
    uint64_t behind;   /* the same, behind the packet that the worker is in */
    uint64_t skip;     /* dwords behind it that a condition leaves out */
    struct vm_tlb tlb; /* worker only, of its space */
    uint32_t cu_mask[(BOARD_CUS + 31) / 32];
    _Atomic uint32_t cu_mask_bits;  /* of cu_mask that count; 0: all CUs */
    uint32_t engine_mask[BOARD_SE]; /* a board's, */
    bool engines_masked;            /* if it leaves out some CU */
    struct reg_page *sh;            /* PM4 only: compute state */
    uint32_t *wrap;                 /* PM4 only: a packet that wraps around the ring */

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    bool poked;           /* lock */
    bool busy;            /* lock; worker is inside a step */
    _Atomic bool waiting; /* worker waits for a poke */
    _Atomic bool stop, active, halted;
    _Atomic bool
        left_alone;         /* by the worker, or by who destroys it: the second frees */
    volatile int control;   /* enum emu_control of the dispatch that runs: cp_control */
    struct emu_watch watch; /* of that dispatch */
    _Atomic bool in_dispatch; /* the emulator or the timing model runs it */
    _Atomic unsigned
        waves_in;           /* address space of its waves; GPU_SPACES: there are none */
    _Atomic bool killed;    /* they have been ordered to end; priority.lock */
    _Atomic bool standing;  /* worker stands still inside a packet, being suspended */
    _Atomic bool showing;   /* told to show its waves */
    _Atomic bool saving;    /* ... to save them before it stands still */
    _Atomic bool savable;   /* they have a handler that can */
    _Atomic bool excepted;  /* the trap handler has reported an exception */
    struct gpu_traps traps; /* worker only: of the dispatch that runs */
    struct emu_context context; /* the same */
    struct cp_save save;
    _Atomic uint64_t lds_pc; /* of the access beyond the LDS that was told last */
    uint64_t dispatches;     /* worker only: number of the one that runs, from 1 */
    uint32_t saved_waves;    /* inside the kernel when it was suspended */
    uint32_t priority;       /* priority.lock; of config */
    struct gpu_queue *next_competing; /* priority.lock */
    uint64_t packet; /* worker only: index of the packet, for the dispatch */
    bool competes;   /* worker writes, with priority.lock */
    bool at_work;    /* worker only: the simulated clock waits for this queue */
    bool moved;      /* worker only: it has done something since it rested (rest.c) */
    _Atomic enum cp_offered offered;
    uint64_t time;           /* worker only: simulated time of this queue */
    _Atomic uint64_t looked; /* gpu_chip.steps when it found nothing to do; 0: it did */
    _Atomic uint64_t glanced; /* doorbell's value when it looked for more to offer */
    /* Worker only: packets that may run beside the one that does; NULL: none. */
    const struct cp_beside *beside;
    struct cp_packets {
        unsigned n, retired; /* with the first; that have left the ring */
        uint64_t ended;      /* bit each, as of q->packet */
    } packets;
    /* Worker only: + 1, that it has run, newest first. */
    uint64_t code_page[CP_CODE_PAGES];
    _Atomic uint64_t seen;  /* doorbell's value when the worker last looked, or woke */
    _Atomic uint64_t taken; /* ... when it last began a packet, or looked for one */
    _Atomic enum cp_pace pace; /* worker writes */
    unsigned first_packets;    /* worker only: it has run since it rested */
    uint64_t first_turn;       /* queue_lock: of those first packets */
    uint64_t turn, turn_bell;  /* queue_lock: when that doorbell's value was seen */
    /* An access to memory that the program had unmapped: its address and
     * CP_HOST_FAULT_WRITE; 0: none. Set by the signal handler. */
    _Atomic uint64_t host_fault;
    struct cp_shown shown;
    struct cp_order order;
    struct cp_pmc pmc;
};

/* The doorbell, which the program or a board's driver rings at any time. */
static inline uint64_t cp_bell(const struct gpu_queue *q)
{
    return __atomic_load_n(q->doorbell, __ATOMIC_ACQUIRE);
}

/* By the worker, before what may take a while: others need not wait for its packets. */
static inline void cp_going(struct gpu_queue *q)
{
    if (atomic_load_explicit(&q->pace, memory_order_relaxed) != CP_GOING)
        atomic_store(&q->pace, CP_GOING);
}

/* The same, if so many bytes to copy take a while. */
static inline void cp_going_copy(struct gpu_queue *q, uint64_t bytes)
{
    if (bytes > CP_LONG_COPY)
        cp_going(q);
}

/* An order to the dispatch that runs, from other threads and a signal handler. */
static inline int cp_control(const struct gpu_queue *q)
{
    return __atomic_load_n(&q->control, __ATOMIC_RELAXED);
}

static inline void cp_set_control(struct gpu_queue *q, int order)
{
    __atomic_store_n(&q->control, order, __ATOMIC_RELAXED);
}

/* By the worker; whoever keeps a queue's state reads it. */
static inline void cp_set_rptr(struct gpu_queue *q, uint64_t rptr)
{
    __atomic_store_n(&q->rptr, rptr, __ATOMIC_RELAXED);
}

/* queue.c: wake workers that sleep and whose doorbell has been rung, as the poller does
 * more rarely. By workers that do not sleep. */
void cp_look_at_bells(struct gpu_queue *q);

enum cp_result cp_aql_step(struct gpu_queue *q);
enum cp_result cp_pm4_step(struct gpu_queue *q);
enum cp_result cp_sdma_step(struct gpu_queue *q);
enum cp_result cp_frame_step(struct gpu_queue *q);

/* Run PM4 dwords that lie in GPU memory. False: the queue has halted. */
RD_CHECKED bool cp_pm4_run(struct gpu_queue *q, uint64_t va, uint64_t dwords);

/* ---- memory (cp_mem.c): NULL or false after reporting a page fault and halting ----
 */

/* An object that does not cross a page, for use before the next look at anything else.
 */
void *cp_at(struct gpu_queue *q, uint64_t va, uint64_t bytes, unsigned perm);
RD_CHECKED bool cp_read(struct gpu_queue *q, uint64_t va, void *to, uint64_t bytes);
RD_CHECKED bool cp_write(struct gpu_queue *q, uint64_t va, const void *from,
                         uint64_t bytes);
RD_CHECKED bool cp_copy(struct gpu_queue *q, uint64_t dst, uint64_t src,
                        uint64_t bytes);
/* A pattern of 1, 2 or 4 bytes over and over; bytes: a multiple of its size. */
RD_CHECKED bool cp_fill(struct gpu_queue *q, uint64_t dst, const void *pattern,
                        unsigned size, uint64_t bytes);
/* The value of 4 or 8 bytes. */
RD_CHECKED bool cp_load(struct gpu_queue *q, uint64_t va, bool wide, uint64_t *value);
/* An atomic operation of packets; false also for an operation unknown. */
RD_CHECKED bool cp_atomic(struct gpu_queue *q, unsigned op, uint64_t va, uint64_t value,
                          uint64_t compare);

/* Packets find their memory in another address space from here on; the last one. */
unsigned cp_enter_space(struct gpu_queue *q, unsigned space);

/* Dwords of a ring, or of a buffer that does not wrap. */
struct cp_stream {
    uint64_t va;
    uint64_t wrap;    /* dwords, after which it begins again */
    uint64_t at, end; /* dwords; may lie beyond the first lap */
};
/* count dwords from offset dwords behind the place, where they lie together, else
 * gathered. */
const uint32_t *cp_dwords(struct gpu_queue *q, const struct cp_stream *s,
                          uint64_t offset, uint64_t count, uint32_t *gather);

/* Raise a packet's interrupt; who waits for it finds the packet read already. */
RD_CHECKED bool cp_interrupt(struct gpu_queue *q, uint32_t event_id);

/* Compare as WAIT_REG_MEM and POLL_REGMEM do; function codes 0 (always) to 6 (>). */
bool cp_compare(unsigned function, uint64_t value, uint64_t ref);

/* Poll until ready(ctx) or the queue is stopped or has failed; false if so. */
RD_CHECKED bool cp_wait(struct gpu_queue *q, bool (*ready)(void *ctx), void *ctx);

/* ---- registers (cp_reg.c) ---- */

uint32_t cp_reg_read(struct gpu_queue *q, uint32_t reg);
void cp_reg_write(struct gpu_queue *q, uint32_t reg, uint32_t value);
/* Wait for compare(register & mask, ref). One that does not come true for long is a
 * hang of the queue: false after reporting it. */
RD_CHECKED bool cp_reg_wait(struct gpu_queue *q, uint32_t reg, unsigned function,
                            uint32_t mask, uint32_t ref);

/* ---- time ---- */

/* The queue's time now, and its passing by some simulated work; by what nobody sees,
 * so that others which begin now do not begin behind it. */
uint64_t cp_clock(struct gpu_queue *q);
void cp_spend(struct gpu_queue *q, uint64_t ticks);
void cp_spend_unseen(struct gpu_queue *q, uint64_t ticks);
/* From here on the simulated clock waits for the queue's work; no longer. */
void cp_clock_enter(struct gpu_queue *q);
void cp_clock_leave(struct gpu_queue *q);

/* The queue has dispatches to run, before which those of lower priority make way; it
 * has none, or waits for something. Worker only. */
void cp_compete(struct gpu_queue *q);
void cp_give_way(struct gpu_queue *q);
/* Around a dispatch, and what stands there after a fault: its waves can be killed.
 * True: they have been. */
void cp_waves_begin(struct gpu_queue *q);
RD_CHECKED bool cp_waves_end(struct gpu_queue *q);

/* Stand still while the queue is suspended. */
void cp_hold(struct gpu_queue *q);

/* ---- errors ---- */

/* Report an error of the queue and halt it. detail is for the message. */
enum cp_result cp_fail(struct gpu_queue *q, enum gpu_error error, const char *detail);
void cp_page_fault(struct gpu_queue *q, const struct gpu_page_fault *fault);

#define CP_HOST_FAULT_WRITE (1ull << 63)
/* Report what hostfault.c has noted, if anything; true: the queue has halted. */
RD_CHECKED bool cp_host_fault(struct gpu_queue *q);

/* ---- dispatch.c ---- */

/* Run a dispatch on the emulator, or skip it under --no-execute; counts it.
 * Returns CP_PROGRESS, or CP_HALT after reporting the fault. */
enum cp_result cp_dispatch(struct gpu_queue *q, const struct emu_dispatch *what);
struct tm_engine;

/* recorder.c: record the run that follows, if the program is to be recorded and no
 * other queue's dispatch is; true: cp_record_end must come after it. t NULL: somebody
 * else observes it, so it is not. */
bool cp_record_begin(struct gpu_queue *q, const struct emu_dispatch *d,
                     struct tm_engine *t);
void cp_record_end(void);

/* trace.c: take a thread trace of the run that follows, if the program wants one; true:
 * cp_trace_end must come after it.
 *
 * d        whose registers are told; must stay until then
 * cu_mask  enabled CUs of each engine; NULL: all
 */
struct cp_trace {
    struct tl_writer *writer;
    const struct emu_dispatch *dispatch;
    uint32_t cu_mask[BOARD_SE];
    int fd;
    char path[32];
};
bool cp_trace_wanted(struct gpu_queue *q);
bool cp_trace_begin(struct gpu_queue *q, const struct emu_dispatch *d,
                    const uint32_t *cu_mask, struct tm_engine *t, struct cp_trace *out);
void cp_trace_end(struct gpu_queue *q, struct cp_trace *t);

/* pmc.c: before a dispatch runs, and behind it, with what ran of it. timed: what the
 * timing model knows, before that is gone. */
void cp_pmc_begin(struct gpu_queue *q, struct emu_dispatch *d);
void cp_pmc_timed(struct gpu_queue *q, const struct emu_dispatch *d,
                  const struct tm_engine *t);
void cp_pmc_end(struct gpu_queue *q, const struct emu_dispatch *d,
                const struct emu_stats *stats);

/* cores.c: before a dispatch runs, and behind it: what waves stand at if it fails. */
void cp_cores_begin(struct gpu_queue *q, struct emu *emu, struct emu_dispatch *d);
void cp_cores_end(struct gpu_queue *q, rd_status st, const struct emu_fault *fault);

/* checked.c: the order of waves that the table of findings at path asks for; 0: the
 * usual one. Run a dispatch with checkers attached. */
uint64_t cp_checked_seed(const char *path);
RD_CHECKED rd_status cp_checked_run(struct gpu_queue *q, struct emu *emu,
                                    const struct emu_dispatch *d,
                                    struct emu_fault *fault, struct emu_stats *stats);

/* ordered.c, if races are looked for: a packet at this place of the ring comes next; it
 * has found what it waited for at an address; it is about to write there, for somebody
 * who waits. A dispatch is about to run; it has, but nobody knows yet. */
struct orders;
struct ck_before;
/* path: of the table of findings. NULL: nobody looks for races, or out of memory. */
struct orders *cp_orders_create(const char *path);
void cp_orders_destroy(struct orders *o); /* copies that nobody has judged are lost */
void cp_order_packet(struct gpu_queue *q, uint64_t at, bool barrier);
void cp_order_wait(struct gpu_queue *q, uint64_t va);
void cp_order_write(struct gpu_queue *q, uint64_t va, int64_t before, int64_t now);
/* An engine has copied, or filled (from 0). */
void cp_order_copy(struct gpu_queue *q, uint64_t to, uint64_t from, uint64_t bytes);
void cp_order_begin(struct gpu_queue *q, struct ck_before *out);
void cp_order_end(struct gpu_queue *q);

/* debugged.c: offer a dispatch to the debugger; run it if that declines. */
RD_CHECKED rd_status cp_debugged_run(struct gpu_queue *q, struct emu *emu,
                                     const struct emu_dispatch *d,
                                     struct emu_fault *fault, struct emu_stats *stats);

/* watched.c: what a debugger watches; NULL: nothing. Puts the exceptions that it wants
 * into the dispatch. Run one while it watches. */
const struct gpu_watches *cp_watches(struct gpu_queue *q, struct emu_dispatch *d);
RD_CHECKED rd_status cp_watched_run(struct gpu_queue *q, struct emu *emu,
                                    const struct emu_dispatch *d,
                                    const struct gpu_watches *watches,
                                    struct emu_fault *fault, struct emu_stats *stats);

/* save.c: where the waves of the next dispatch trap to. */
void cp_traps(struct gpu_queue *q, struct emu_queue *around);
/* What a stopped queue has in its save area; false: its waves stayed in the emulator.
 */
bool cp_saved(const struct gpu_queue *q, uint32_t *ctl_bytes, uint32_t *wave_bytes);

/* timed.c: run a dispatch under the timing model; ticks that an engine needs for a copy
 * (src 0: a fill). */
RD_CHECKED rd_status cp_timed_run(struct gpu_queue *q, struct emu *emu,
                                  const struct emu_dispatch *d, struct emu_fault *fault,
                                  struct emu_stats *stats);
/* Of the counter, for cycles of the shader clock. */
uint64_t cp_ticks(const struct gpu *gpu, uint64_t cycles);
uint64_t cp_copy_ticks(struct gpu_queue *q, uint64_t dst, uint64_t src, uint64_t bytes);
/* CUs that the queue may use, a mask for each shader engine; false: all of them. */
bool cp_cu_mask(const struct gpu_queue *q, uint32_t mask[BOARD_SE]);
/* The instruction caches were invalidated. */
void cp_code_changed(struct gpu_queue *q);

/* ---- AMD signals ---- */

/* Wait until compare(value, ref) is so for what is at an address. */
struct cp_condition {
    uint64_t va, mask, ref;
    unsigned function;
    bool wide;
};
RD_CHECKED bool cp_wait_memory(struct gpu_queue *q, const struct cp_condition *c);

/* Store a value and wake whoever sleeps on the signal. False: page fault. */
RD_CHECKED bool cp_signal_store(struct gpu_queue *q, uint64_t va, int64_t value);

/* Write the timestamps, decrement, notify. va 0: none. False: page fault. */
RD_CHECKED bool cp_signal_complete(struct gpu_queue *q, uint64_t va, uint64_t start,
                                   uint64_t end);

#endif
