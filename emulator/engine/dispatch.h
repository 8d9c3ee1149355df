/* dispatch.h: one dispatch in progress: its workgroups, and the memory they run in.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DISPATCH_H
#define RD_DISPATCH_H

#include "control.h"
#include "workers.h"

/* Instructions of a workgroup's turn, and how many it may take before another one is
 * started beside it; of one whose waves sleep so often in a turn is taken that it waits
 * for those that have not begun. */
#define GROUP_BUDGET   (1u << 16)
#define GROUP_PATIENCE (1u << 20)
#define GROUP_NAPS     64u
/* Instructions of a turn where workgroups are mixed, at least and at most, and as which
 * each counts; those of one before it is known whether they are; how many of those run,
 * if none of them wants others. */
#define MIXED_SHORTEST 1
#define MIXED_LONGEST  256
#define MIXED_COUNT    32u
#define MIXED_BUDGET   256u
#define MIXED_GROUPS   8u

/* A number whose bits depend on all those of n. */
static inline uint64_t mix(uint64_t n)
{
    n = (n + 1) * 0x9e3779b97f4a7c15ull;
    n = (n ^ n >> 29) * 0x94d049bb133111ebull;
    return n >> 32;
}

/* Shortest, or twice that, four times ... to longest, each half as often as the one
 * before, so that all take as much of the time. */
static inline int mixed_length(uint64_t n, int shortest, int longest)
{
    int length = shortest;
    for (uint64_t bits = mix(n); length < longest && bits & 1; bits >>= 1)
        length *= 2;
    return length;
}

struct dispatch {
    struct emu *emu;
    const struct emu_dispatch *d;
    struct program_set programs;
    const struct uop *entry;
    struct wave first; /* every wave as it begins, up to its windows (launch.c) */
    uint64_t n_groups;
    unsigned waves_per_group;
    unsigned n_vgprs;      /* allocated per wave */
    unsigned max_resident; /* workgroups that one thread keeps in flight */

    uint64_t portion;          /* workgroups that a thread takes at once */
    atomic_ullong next;        /* the first workgroup that no thread has taken */
    atomic_ullong fault_limit; /* workgroups above it need not run any more */
    pthread_mutex_t lock;      /* the next three */
    struct emu_fault fault;
    struct emu_stats stats;
    rd_status status;                /* of the first thread that failed */
    struct crew crew;                /* further threads, */
    unsigned n_helpers;              /* so many if they are worth it */
    struct observation *observation; /* NULL: nobody watches */
    atomic_ullong resident_waves, peak_waves;
    struct native_table *native; /* of waves that begin; NULL: they look for it */
    uint32_t *lengths;           /* of workgroups, in instructions, or NULL */
    double sclk_mhz;             /* of timed waves; 0: 2500 */
    bool puts_off;               /* its waves may put zeros off (mem/zeros.h) */
    bool may_mix;                /* EMU_WANT_MIX */
    bool mixes;                  /* ... and the order matters */
    bool turns_mix; /* likewise of waves, or LDS has atomics, or code sleeps */
};

/* A resident workgroup: registers, LDS and scratch of all its waves in one block. */
struct resident {
    struct workgroup group;
    uint64_t number;           /* linear workgroup index */
    uint32_t block[3];         /* work-items of this one, which may be partial */
    uint64_t spent;            /* instructions in turns that did not finish it */
    uint64_t scalars, vectors; /* numbers for its registers after the last turn, if its
                                  waves slept often in it (asleep.c); else 0 */
    uint32_t *ids; /* of all work-items of a whole workgroup, as v0 has them */
    struct resident *next;
    struct wave waves[];
};

/* A turn of budget instructions of a workgroup that goes on is over. Is GROUP_BUDGET
 * spent, in one turn or some, so that what it did in them may be judged? */
static inline bool resident_judged(struct resident *r, uint64_t budget)
{
    r->spent += budget;
    return r->spent % GROUP_BUDGET == 0;
}

/* When it is judged: is another workgroup to be started beside it? */
static inline bool resident_wants_others(struct resident *r)
{
    bool naps = r->group.naps >= GROUP_NAPS;
    r->group.naps = 0;
    return naps || r->spent % GROUP_PATIENCE == 0;
}

/* Likewise, but before (asleep.c): does it but wait for memory that somebody
 * else is to write? Whether it does shows after two turns. */
bool resident_sleeps(struct resident *r);

/* Fill in what all waves of the dispatch begin with. */
void launch_prepare(struct dispatch *dp);
RD_CHECKED rd_status resident_create(struct dispatch *dp, struct resident **out);
void resident_destroy(struct dispatch *dp, struct resident *r);

/* Put workgroup number into r with registers as the hardware initialises them: VGPRs
 * only when wave_fill is called for a wave that is fresh, just before it begins, so
 * that the host finds them in its caches. */
void resident_launch(struct dispatch *dp, struct resident *r, uint64_t number);
void wave_fill(struct wave *w);
/* Waves (bits) of a workgroup begin once more, in their trap handler at pc, with the
 * places where they were saved. */
void resident_restore(struct dispatch *dp, struct resident *r, uint32_t waves,
                      uint64_t pc);

/* context.c: save and restore these workgroups, as context.h says. */
void contexts_save(struct resident *first);
void contexts_restore(struct resident *first);
/* Where a wave that is saved goes on. */
uint64_t context_pc(const struct wave *w);
/* stored.c: the same of a workgroup whose contexts the host stores. */
void context_store(struct workgroup *g);
void context_load(struct workgroup *g);

/* sched.c: check the shape, find the program, fill in what follows from dp->emu and
 * dp->d. After RD_OK dispatch_finish is due. dp->fault is filled if RD_E_FAULT. */
RD_CHECKED rd_status dispatch_prepare(struct dispatch *dp);
void dispatch_finish(struct dispatch *dp);
/* Workgroups that each of so many threads keeps in flight. */
unsigned dispatch_resident_limit(const struct dispatch *dp, unsigned threads);
/* Begin to watch it, if there are observers or a stepper. */
RD_CHECKED rd_status dispatch_observe(struct dispatch *dp, bool stepper);
/* Are instructions of the dispatch counted by opcode? */
static inline bool dispatch_counts(const struct dispatch *dp)
{
    return dp->emu->config.count || dp->d->executed;
}
/* Add counts (may be NULL) to the emulator's and the dispatch's, and free them. */
void dispatch_count(struct dispatch *dp, struct op_counts *counts);
void dispatch_add_stats(const struct dispatch *dp, struct emu_stats *stats);

/* turns.c. The next wave of the workgroup that neither waits nor stands: there is one.
 */
struct wave *turn_find(struct workgroup *g);

/* Count a wave's stop at a barrier or its end, and open the barrier if it was the last.
 */
void wave_stopped(struct workgroup *g, struct wave *w);
/* Is every wave that has not ended halted, or waiting for one that is? */
bool group_stands(const struct workgroup *g);

/* Its waves put zeros off (mem/zeros.h) no more. */
void group_write_zeros(struct workgroup *g);

/* For native code (native_turn_fn). */
const void *turns_native(struct wave *w);

enum group_state {
    GROUP_RUNNING,
    GROUP_DONE,
    GROUP_FAULT,
    GROUP_STANDS, /* halted waves are to stay, and no other can go on */
};

/* Step the waves of a workgroup in turn for about budget instructions. */
enum group_state group_run(struct resident *r, uint64_t budget);

#endif
