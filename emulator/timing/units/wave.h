/* wave.h: a wave, made of what each unit keeps of it. SPDX-License-Identifier: MIT
 */
#ifndef TM_WAVE_H
#define TM_WAVE_H

#include "fetch.h"
#include "lds.h"
#include "step.h"
#include "valu.h"

enum { TM_COUNTERS = 4, TM_WAITED = 12, TM_COUNTED = 4 + 2 + 8 + 1 };
enum { TM_VM, TM_VS, TM_LGKM, TM_EXP };

/* s_delay_alu: what holds the next instruction and one after it. s_clause. */
struct tm_hints {
    uint8_t delay_id[2], delay_skip;
    uint8_t clause_left, clause_size;
    bool clause_more; /* this instruction is not its first */
    bool delay_on[2];
};

/* Memory operations of a wave. */
struct tm_mem_wave {
    int64_t lds_accept;  /* of the last LDS instruction */
    int64_t vmem_accept; /* of the last vector memory instruction */
    int64_t sent;        /* when all that they read has been sent */
    int64_t vm_last, lds_last, vs_last;
};

/* What a wave waited for, and whose result that is. */
struct tm_waited {
    uint8_t why;
    uint32_t cycles;
    const struct tm_inst *from; /* NULL: nobody's */
};

/* What its cycles since the last issue went to; all before told (engine/account.c). */
struct tm_account {
    int64_t told;
    unsigned n_waited;
    struct tm_waited waited[TM_WAITED];
    uint64_t number;
};

/* Issues of a wave whose instructions are asked for, for the timing file; lives as long
 * as the engine. */
struct tm_list {
    struct tm_timed {
        uint32_t offset;
        uint32_t exec; /* cycles from it to its execution (tm_step.exec); 0: unknown */
        int64_t t;
    } *inst;
    size_t n, room;
};

struct tm_group;
struct tm_simd;
struct tm_turns;

/* What every turn looks at lies together in as few lines of the host's caches as it
 * fits in: those up to regs, of which the first are fetched ahead (engine/windows.c),
 * and the one that account begins. */
struct tm_wave {
    _Alignas(64) struct emu_wave *wave;
    struct tm_simd *simd;
    struct tm_inst *next; /* NULL: not looked at yet */
    const char *rows;     /* where its VGPRs lie, to fetch them ahead */
    const uint32_t *exec; /* where the lower half of EXEC lies */
    uint64_t age;
    int64_t start, last_issue, earliest, due; /* due: its next turn */
    bool last_imm, began, ended, at_barrier, skip, sleeps, slept;
    uint8_t earliest_why, priority;
    bool unmet;      /* what comes next has to be looked at alone */
    bool taken;      /* it is behind a taken branch */
    uint8_t rank;    /* engine/turns.h */
    uint8_t owed;    /* issued and not executed yet: tm_inst.postponed */
    uint8_t open;    /* operations that vector memory has not been asked for yet */
    bool loads;      /* of these some load from LDS: engine/later.h */
    bool put_off;    /* what it sends goes later than was said (tm_wgp.put_off) */
    uint64_t writes; /* of what is owed: tm_inst.writes */
    struct tm_turns *turns; /* of its WGP; NULL: it is one queue for all */
    struct tm_hints hints;
    struct tm_fetch_wave fetch;
    struct tm_valu_wave valu;
    struct tm_salu_wave salu;
    struct tm_mem_wave mem;
    struct tm_fifo counter[TM_COUNTERS];
    struct tm_vregs regs;
    _Alignas(64) struct tm_account account;
    struct tm_group *group;
    struct tm_list *list; /* NULL: nobody asks */
    size_t record;        /* engine.h */
    uint32_t index;       /* in the pool */
    uint8_t slot;
    bool left;
    bool behind;               /* .last: it has not looked at what follows that */
    uint8_t idle;              /* of .owed such as do nothing: tm_inst.idle */
    struct tm_inst *last;      /* s_barrier that it waited at, or s_endpgm */
    struct tm_wave *next_free; /* in the pool, or in a list of ending waves */
    struct tm_trans_wave trans;
    struct tm_counted counted[TM_COUNTED]; /* what the counters begin in */
    struct tm_sregs sregs;
    /* Behind it: regs.v, one for each of its VGPRs. */
};

_Static_assert(sizeof(struct tm_wave) <= 3072, "thousands of waves are resident");

/* A wave as it begins, in memory that has been one before, or is zero. */
void tm_wave_clear(struct tm_wave *w, unsigned vgprs);

/* Its place in the list, of what issues now. */
static inline size_t tm_listed(const struct tm_wave *w)
{
    return w->list ? w->list->n : 0;
}

/* What was listed there is accepted at another time than was said; what issues now is
 * not there yet. */
static inline void tm_list_accept(struct tm_list *list, size_t place, int64_t accept)
{
    if (list && place < list->n)
        list->inst[place].exec = (uint32_t)(accept - list->inst[place].t);
}

/* Whose turn it is among waves at the same time: high priority first, then age. */
static inline uint64_t tm_turn(const struct tm_wave *w)
{
    return w->age + ((uint64_t)(3u - w->priority) << 60);
}

#endif
