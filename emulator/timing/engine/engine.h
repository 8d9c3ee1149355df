/* engine.h: a run: the chip (units/chip.h), who is on it, what comes next, what it
 * cost. Private to emulator/timing. SPDX-License-Identifier: MIT
 */
#ifndef TM_ENGINE_H
#define TM_ENGINE_H

#include "chip.h"
#include "events.h"
#include "numbers.h"
#include "timing.h"
#include "turns.h"

/* A wave's record in the timing file; lives as long as the engine. */
struct tm_record {
    uint32_t wg[3];
    uint32_t wave;
    uint8_t se, sa, wgp, simd, slot;
    uint16_t launch;
    int64_t start, end;
    struct tm_list *list; /* NULL: its instructions are not asked for */
};

/* The dispatcher of a shader engine: place.c. */
enum { TM_FREED = 512 };
struct tm_dispatcher {
    bool used, scheduled;
    uint64_t next_number;   /* its next workgroup */
    unsigned next_cu, pair; /* pair: of SIMDs, for its next wave */
    int64_t next_launch;
    bool waits; /* the next workgroup has found no room */
    unsigned first_freed, n_freed;
    uint16_t freed[TM_FREED]; /* CUs that workgroups have left since, oldest first */
    /* Ends of waves that the SE has not taken note of, per array and WGP. */
    struct tm_wave *ending[TM_MAX_ARRAYS][TM_MAX_WGPS];
    struct tm_wave **ending_last[TM_MAX_ARRAYS][TM_MAX_WGPS];
    unsigned n_ending[TM_MAX_ARRAYS];
    int64_t end_next[TM_MAX_ARRAYS]; /* when the array may report the next */
    int64_t ends_taken; /* when the SE will have dealt with those reported */
    int64_t first_start, last_end;
};

/* What a workgroup of the kernel needs. */
struct tm_need {
    unsigned vgprs_alloc, waves_per_group, user_sgprs;
    uint32_t lds_alloc;
};

/* Instructions issued, branches of them, workgroups started and lines loaded for the
 * first time up to multiples of step; when the chip was full; when workgroups started:
 * pace.c. */
enum { TM_PACES = 256 };
struct tm_tick {
    uint64_t insts, branches, groups, first_loads;
};
/* A workgroup that is there when a run is cut; done: instructions executed; cycles:
 * since it began. */
struct tm_begun {
    uint64_t number, done;
    int64_t cycles;
    unsigned se, place; /* place: the SIMD of a single wave, or the CU, of the chip */
};
struct tm_pace {
    uint64_t capacity; /* workgroups that fit at once */
    uint64_t full;     /* of these: as many as there are */
    int64_t step, next, full_from, full_until;
    uint64_t groups;
    struct tm_tick tick[TM_PACES];
    unsigned n;
    int64_t *start; /* of a sample only */
    /* With tm_executed: how it ended and with how many instructions, what is known
     * then. */
    enum tm_cut cut;
    double rate, error, other, cold;
    double first_loads; /* of lines, for each instruction */
    uint64_t insts;
    /* Workgroups that are left over, and of the run that tells how a CU drains: these,
     * or if none are half a filling. */
    uint64_t left_over, few;
    bool only_left_over, told;
    double told_cycles, told_error; /* of those left over */
    struct tm_begun *begun;
    size_t n_begun;
    uint32_t *length; /* of all workgroups, as tm_executed has it; NULL: not known */
};

/* Waves and workgroups that can serve again: pool.c. */
struct tm_pools {
    unsigned vgprs;   /* of a wave */
    struct tm_block { /* of waves */
        char *memory;
        size_t used, bytes;
        struct tm_block *next;
    } *blocks; /* the newest first: others are used up */
    struct tm_wave *free_waves;
    struct tm_wave **wave; /* by their index; none has 0 */
    size_t n_waves, cap_waves;
    struct tm_group *free_groups, *made_groups;
};

/* Instructions by their numbers, in the order of first use. */
struct tm_inst_table {
    struct numbers numbers;
    struct tm_inst **inst;
    size_t cap, n_met;
    /* By their offsets: a power of two of places, at least twice as many. */
    struct tm_met_at {
        struct tm_inst *inst;
        uint32_t number;
    } *at;
    size_t places;
};

struct tm_records {
    struct tm_record *record;
    size_t n, cap;
};

/* The engine's own events have numbers: that of an SE whose dispatcher looks for room,
 * behind them those of arrays whose ends are due; TM_OWN: somebody is to look
 * (several.h). */
enum { TM_OWN = TM_MAX_SES * (1 + TM_MAX_ARRAYS) };
static inline unsigned tm_own_ends(unsigned se, unsigned array)
{
    return TM_MAX_SES + TM_MAX_ARRAYS * se + array;
}
static inline unsigned tm_own_se(unsigned own)
{
    return own < TM_MAX_SES ? own : (own - TM_MAX_SES) / TM_MAX_ARRAYS;
}

/* Sums that belong to no unit. */
struct tm_totals {
    double wave_cycles; /* sum of the waves' durations */
    uint64_t waves, resident, peak_waves;
    uint64_t flops_more; /* than if all 32 lanes had been in each execution */
};

/* A run, or the part of it that is some shader engines' (parts.c): what the others have
 * no business with is its own, the rest, below, is of all. In a part chip.se[] are
 * dead copies, good only for where WGPs are: GL1s and what is sent are those of all. */
struct tm_engine {
    struct tm_engine *all; /* the run: itself, if it is not divided */
    unsigned number;       /* of the part */
    bool alone;            /* no other part runs beside what it does now */
    struct tm_config config;
    struct tm_executed executed; /* where config.whole points to */
    struct tm_chip chip;         /* clock, counts; of all: engines */
    struct emu_stepper *stepper;
    struct emu_event plain; /* of what is executed later */
    struct emu_event load;  /* of a load from LDS that is */
    struct emu_launch launch;
    struct tm_need need;
    struct tm_events events;
    struct tm_inst_table insts; /* but their numbers */
    struct tm_totals totals;    /* .flops_more */
    /* Of all: */
    struct tm_memory memory;
    struct tm_dispatcher dispatcher[TM_MAX_SES];
    uint64_t end_group, live_groups, next_age, group_step;
    struct tm_pools pools;
    struct tm_pace pace;
    struct tm_records records;
    struct tm_engine *part[TM_MAX_SES]; /* until they are joined, or NULL */
    bool talks; /* waves may talk to one another through memory: one at a time */
    struct tm_observer observer;
    struct tm_machine machine; /* and the dispatch, once it has begun */
    int64_t sample_at;
    bool began, over;           /* the run */
    struct tm_launch first;     /* with which it begins */
    struct tm_several *several; /* launches that share the chip (several.h); or NULL */
    int64_t asked;              /* end of the last window: when memory was asked */
    /* A run by WGPs (windows.c): their waves' turns, or NULL; when the engine's own
     * events come, INT64_MAX: never. */
    struct tm_turns *turns;
    int64_t own[TM_OWN];
};

static inline int64_t tm_now(const struct tm_engine *t)
{
    return t->chip.b.now;
}

/* How much later than the first WGP of its SE a SIMD's WGP hears of a wave. */
static inline int64_t tm_hops(const struct tm_engine *t, const struct tm_simd *s)
{
    return (int64_t)(s->wgp + s->sa) * PARAM(&t->chip.b, launch_hop_cycles);
}

/* ---- show.c ---- */
/* tm_show of a launch, TM_ALL: of all; fault: of the workgroup that it has stopped,
 * NULL: none. */
enum { TM_ALL = UINT32_MAX };
unsigned tm_show_fault(struct tm_engine *t, const struct emu_inspector *to,
                       unsigned launch, const struct emu_fault *fault);

/* ---- meet.c ---- */
/* What the part knows of an instruction; NULL: it has not met it. */
struct tm_inst *tm_met(const struct tm_engine *t, const struct emu_inst *inst);
/* The same of what the wave is at, which is met if need be. before: the one that it met
 * before it, or NULL. Returns NULL: out of memory. */
struct tm_inst *tm_come_across(struct tm_engine *t, const struct tm_wave *w,
                               const struct emu_inst *inst, struct tm_inst *before);
/* May a turn (NULL: an event of the engine's own) touch what others share? */
bool tm_takes_all(struct tm_engine *t, const struct tm_wave *w);
/* Memory has not been asked for some windows: will the wave, which has operations open,
 * look in its turn for what it would know by now? */
bool tm_awaits_some(const struct tm_engine *t, const struct tm_wave *w);
static inline bool tm_awaits(const struct tm_engine *t, const struct tm_wave *w)
{
    const struct tm_inst *i = w->next;
    bool none = i && !i->looks && i->follows && !i->follows->looks;
    return !none && tm_awaits_some(t, w);
}

/* ---- turn.c ---- */
/* It issues, or waits. */
RD_CHECKED rd_status tm_turn_of_wave(struct tm_engine *t, struct tm_wave *w);
/* Waves of the WGP that wait for the VALU, and have been put off, have turns again. */
void tm_let_put_off(struct tm_wgp *g, struct tm_turns *q);

/* ---- engine.c ---- */
/* What an event asks for, at its time. */
RD_CHECKED rd_status tm_turn_of(struct tm_engine *t, const struct tm_event *e);
RD_CHECKED rd_status tm_turn_of_own(struct tm_engine *t, unsigned number);
RD_CHECKED rd_status tm_begin_dispatch(struct tm_engine *t, unsigned se);
/* Before anything happens at the end of a window (INT64_MAX: of the run) what CUs have
 * accepted is gathered, then memory is asked for it, in the steps of send.h: of an SE,
 * of all, of an SE. any: was there something? Else nothing returns. */
void tm_gather_wgp(struct tm_engine *t, struct tm_wgp *g, int64_t end);
void tm_look_up(struct tm_engine *t, unsigned se, int64_t end);
RD_CHECKED rd_status tm_ask(struct tm_engine *t, int64_t end, bool *any);
void tm_return(struct tm_engine *t, unsigned se);
RD_CHECKED rd_status tm_gather_and_ask(struct tm_engine *t, int64_t end);

/* ---- windows.c ---- */
/* Run by WGPs until nothing is left to come, or until waves begin to talk: then what is
 * left is in the one queue. Returns RD_E_BUSY, and has done nothing, if that cannot be.
 */
RD_CHECKED rd_status tm_run_windows(struct tm_engine *t);

/* ---- parts.c ---- */
/* As tm_run_windows, in parts, by so many threads. RD_E_BUSY, too, if only a part of
 * the grid is run. */
RD_CHECKED rd_status tm_run_parts(struct tm_engine *t, unsigned threads);
/* What they have counted, once nothing runs any more. */
RD_CHECKED rd_status tm_join_parts(struct tm_engine *t);

/* ---- events ---- */
/* Keys of events: (turn, wave), or what the engine is to do, which comes first. Of a
 * turn (tm_turn) there are the two bits of the priority and the age, of the wave its
 * index. */
enum { TM_INDEX_BITS = 20, TM_TURN_BITS = 60 };

static inline struct tm_wave *tm_wave_of(const struct tm_engine *t, uint64_t key)
{
    size_t index = key & ((1u << TM_INDEX_BITS) - 1);
    return index ? t->all->pools.wave[index] : NULL;
}

static inline uint64_t tm_key(const struct tm_wave *w)
{
    uint64_t turn = tm_turn(w);
    return turn >> TM_TURN_BITS << 62 | (turn << TM_INDEX_BITS & UINT64_MAX >> 2) |
           w->index;
}

/* The wave's turn in a run that has one queue. */
RD_CHECKED rd_status tm_push_event(struct tm_engine *t, int64_t when,
                                   const struct tm_wave *w);
/* The wave's turn; when: now or later. */
RD_CHECKED TM_HOT rd_status tm_push(struct tm_engine *t, int64_t when,
                                    struct tm_wave *w)
{
    w->due = when;
    if (!w->turns)
        return tm_push_event(t, when, w);
    tm_turns_put(w->turns, w, when);
    return RD_OK;
}

/* One of the engine's own. */
RD_CHECKED static inline rd_status tm_push_own(struct tm_engine *t, int64_t when,
                                               unsigned number)
{
    if (t->all->turns) {
        t->all->own[number] = when;
        return RD_OK;
    }
    return tm_events_push(&t->events, tm_now(t), when,
                          (uint64_t)number << TM_INDEX_BITS);
}

/* ---- pool.c ---- */
/* One that is zero; NULL: out of memory. */
struct tm_wave *tm_pool_wave(struct tm_pools *p);
struct tm_group *tm_pool_group(struct tm_pools *p);
void tm_pool_give_wave(struct tm_pools *p, struct tm_wave *w);
void tm_pool_give_group(struct tm_pools *p, struct tm_group *g);
void tm_pool_free(struct tm_pools *p);

/* ---- place.c ---- */
RD_CHECKED rd_status tm_machine_create(struct tm_engine *t);
void tm_machine_destroy(struct tm_engine *t);
/* Which workgroups go to which SE; behind: so many of other launches are before it. */
void tm_dispatch_begin(struct tm_engine *t, const struct emu_dispatch *d,
                       uint64_t behind);
/* The engines get their first workgroups one after the other, in the time in which each
 * could get a second one: cycles behind the first engine. number: of the workgroup */
int64_t tm_first_launch(const struct tm_engine *t, uint64_t number);
/* Has a WGP no room for a workgroup, each being as large as the next? */
bool tm_is_full(const struct tm_engine *t, struct tm_wgp *g);
/* The workgroup, which has LDS of its WGP, has as many places there as it touches. */
void tm_place_again(struct tm_group *g);
/* Has an SE workgroups to start? */
bool tm_is_left(const struct tm_engine *t, unsigned se);
/* The dispatcher of an SE looks for room. */
RD_CHECKED rd_status tm_dispatch(struct tm_engine *t, unsigned se);
/* A wave has done everything: it waits for the SE to take note, then leaves, then its
 * place becomes free. */
RD_CHECKED rd_status tm_wave_end(struct tm_engine *t, struct tm_wave *w);
/* An SE takes note of the end of a wave of one of its arrays (2 * SE + array). */
RD_CHECKED rd_status tm_take_ends(struct tm_engine *t, unsigned array);

/* ---- account.c: where the cycles of a wave go ----
 *
 * tm_account_wait: until that time, for that reason (earlier: nothing to tell).
 */
unsigned tm_occupancy(const struct tm_engine *t, enum tm_limit *limit);
void tm_account_begin(struct tm_engine *t);
void tm_account_start(struct tm_engine *t, struct tm_wave *w);
void tm_account_more(struct tm_wave *w, uint8_t why, const struct tm_inst *from,
                     int64_t until);
static inline void tm_account_wait(struct tm_wave *w, uint8_t why,
                                   const struct tm_inst *from, int64_t until)
{
    if (until > w->account.told)
        tm_account_more(w, why, from, until);
}
/* The same, for what it has most likely waited for before; nobody's result. */
static inline void tm_account_again(struct tm_wave *w, uint8_t why, int64_t until)
{
    struct tm_account *a = &w->account;
    struct tm_waited *last = &a->waited[(a->n_waited - 1u) % TM_WAITED];
    if (a->n_waited && last->why == why && !last->from && until > a->told) {
        last->cycles += (uint32_t)(until - a->told);
        a->told = until;
        return;
    }
    tm_account_wait(w, why, NULL, until);
}
/* It has been in a line. */
static inline void tm_account_line(const struct tm_line *line, struct tm_wave *w)
{
    for (unsigned k = 0; k < line->n_found; k++)
        tm_account_wait(w, line->found[k].why, NULL, line->found[k].until);
}
/* Those behind the first would have looked, and found that. */
static inline void tm_tell_line(const struct tm_turns *q, struct tm_line *line,
                                int64_t until, uint8_t why)
{
    if (line->n_found && line->found[line->n_found - 1].why == why) {
        line->found[line->n_found - 1].until = until;
        return;
    }
    if (line->n_found == TM_FOUND) {
        for (uint64_t rest = line->behind; rest; rest &= rest - 1)
            tm_account_line(line, q->wave[__builtin_ctzll(rest)]);
        line->n_found = 0;
    }
    line->found[line->n_found++] = (struct tm_found){until, why};
}
/* A wait becomes the instruction's, whose result it was is noted. One at a barrier is
 * the barrier's, which has issued before. */
void tm_account_from(const struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
                     const struct tm_waited *x);
/* The same for the list of waits. */
static inline void tm_account_waits(const struct tm_engine *t, struct tm_wave *w,
                                    struct tm_inst *i)
{
    const struct tm_waited *x = w->account.waited, *end = x + w->account.n_waited;
    for (; x < end; x++)
        if (x->from || x->why == TM_S_BARRIER)
            tm_account_from(t, w, i, x);
        else
            i->stall[x->why] += x->cycles;
}
/* Notes an issue in the wave's list, if it has one.
 *
 * at  when it was over
 * Returns RD_E_NOMEM. */
rd_status tm_account_list(const struct tm_wave *w, const struct tm_inst *i, int64_t at);
void tm_account_tell(const struct tm_engine *t, const struct tm_wave *w,
                     const struct tm_inst *i, int64_t at,
                     const struct emu_event *event);
/* It issues at a time. */
static inline void tm_account_issue(struct tm_engine *t, struct tm_wave *w,
                                    struct tm_inst *i, int64_t at,
                                    const struct emu_event *event)
{
    tm_account_waits(t, w, i);
    i->stall[TM_S_NONE]++;
    if (w->skip)
        t->totals.flops_more -= 32 * (uint64_t)i->flops;
    else if (event->exec != UINT32_MAX && i->flops < 256)
        t->totals.flops_more +=
            i->flops * ((uint64_t)__builtin_popcountll(event->exec) - 32);
    if (t->observer.step)
        tm_account_tell(t, w, i, at, event);
    w->account.told = at + 1;
    w->account.n_waited = 0;
}
void tm_blame(struct tm_inst *i, const struct tm_blame *seen);
void tm_account_free(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i);
void tm_account_end(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
                    int64_t end);
void tm_account_sample(struct tm_engine *t, int64_t now);
void tm_account_finish(struct tm_engine *t, rd_status status);
/* Floating point operations so far. */
uint64_t tm_flops(const struct tm_engine *t);
/* Sums over the machine, by enum tm_count. */
void tm_account_count(const struct tm_engine *t, uint64_t *count);

/* ---- pace.c ---- */
/* Has a CU, or WGP, room for a workgroup? */
bool tm_fits(const struct tm_engine *t);
RD_CHECKED rd_status tm_sample_begin(struct tm_engine *t);
/* Of the launch a part only: its workgroups have numbers from 0 in the engine. */
static inline bool tm_is_part(const struct tm_engine *t)
{
    return t->config.part_groups != 0;
}
void tm_sample_start(struct tm_engine *t); /* a workgroup starts now */
void tm_sample_hole(struct tm_engine *t);  /* one has left, and none follows it */
void tm_sample_tick(struct tm_engine *t);
void tm_sample_cut(struct tm_engine *t); /* the run ends before its waves */

#endif
