/* watch.h: native code of waves that somebody watches.
 *
 * Such code is compiled apart (NATIVE_WATCHED). It calls back where an instruction has
 * to be an event, or may have to be, and in front of each run of instructions of which
 * an observer follows what they do to a numbered state: as long as it has met the run
 * in that state before, nothing of the run need be seen. Must not know who watches.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_WATCH_H
#define RD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "glance.h"

struct emit;
struct far;
struct program;
struct uop;
struct wave;

/* Of an instruction. */
#define WATCH_EVENT 1u  /* whenever it runs */
#define WATCH_SLOW  2u  /* when its handler runs it */
#define WATCH_ASK   4u  /* when it may run only natively if watch.ask says so */
#define WATCH_PARTS 8u  /* behind it a new run of instructions begins */
#define WATCH_LATER 16u /* the log will do instead of watch.ask, if it is open */
#define WATCH_ALONE 32u /* it is a run by itself */

#define WATCH_ROW 64u /* watch.row is asked before watch.ask, if it can be */

#define WATCH_WAYS 2u

/* Of the wave that runs. */
struct watch_now {
    uint64_t accesses; /* of lanes, that nobody knows of yet */
    uint32_t state;
    struct emu_log *log;           /* never NULL */
    const struct emu_marks *marks; /* never NULL while native code runs */
    void *mine;                    /* for watch.row */
};

/* An entry of the log; rows of addresses follow, one for each half of the wave. */
struct watch_entry {
    const struct uop *u;
    struct program *program; /* of u; the wave may be elsewhere by now */
    struct wave *wave;
    uint64_t exec, tag;
};

#define WATCH_UNKNOWN UINT32_MAX /* no state has this number */

/* A place where a run begins, and which states lead to which there. */
struct watch_seen {
    uint32_t state[WATCH_WAYS], next[WATCH_WAYS];
    const struct uop *u;
    uint32_t turn;      /* the way to replace next */
    struct emu_run run; /* with marks */
};

/* Callbacks. done: instructions of the trace up to and with u that wave.n_insts does
 * not have yet. */
struct watch {
    void *ctx;
    unsigned (*flags)(void *ctx, struct program *p, const struct uop *u); /* WATCH_* */
    bool follows; /* there are numbered states */
    bool marks;   /* there are marks */
    struct watch_now *now;
    /* Run u as an event; returns as a handler does. */
    const struct uop *(*step)(struct wave *w, const struct uop *u, uint64_t done);
    /* u comes next in the run. */
    void (*note)(void *ctx, struct program *p, const struct uop *u,
                 struct emu_run *run);
    /* now->state is none of s->state, or the run may touch marks: may native code go
     * on, with the state put right? done: as below, before the run. */
    unsigned (*enter)(struct wave *w, struct watch_seen *s, uint64_t done);
    /* Must u be an event? row: to find out how its lanes lie, or NULL. */
    unsigned (*ask)(struct wave *w, const struct uop *u, uint64_t done,
                    struct emu_row *row);
    /* Likewise of u, which accesses LDS that is marked. */
    unsigned (*settle)(struct wave *w, const struct uop *u, uint64_t done);
    /* emu_glance.row; NULL: nobody has it. */
    unsigned (*row)(void *mine, uint64_t address, struct emu_row *row);
};

/* ---- while code is written (watch.c) ---- */

/* Look at the steps of the trace. */
void watch_begin(struct emit *e);
/* Is some step an event whenever it runs? */
bool watch_calls(const struct emit *e);
/* In front of step i: a run begins, if that is so. */
void watch_run(struct emit *e, unsigned i);
/* Must a run of vector instructions (quarters.c) end in front of step i, which would be
 * its first? */
bool watch_ends(const struct emit *e, unsigned i, bool first);
/* The function that does u, the n_insts-th instruction of the trace. */
uintptr_t watch_function(const struct emit *e, const struct uop *u, unsigned n_insts);
#define WATCH_FARS 2u

/* The instruction at hand: ask; f: where it is an event if it must, or NULL. Returns
 * true if it is one anyway. */
bool watch_inst(struct emit *e, const struct uop *u, struct far *f[WATCH_FARS]);
/* The out-of-the-way part of it where the log is closed: ask; behind it comes what does
 * the event. */
void watch_ask(struct emit *e, struct far *f);
/* Native code has done the accesses of u, a memory instruction, for active lanes. */
void watch_count(struct emit *e, const struct uop *u);
/* Of a wave64's instruction whose halves have been written: what is done the slow way,
 * from emit.far[first] on, is done whole and goes on here. */
void watch_once(struct emit *e, unsigned first);
/* The out-of-the-way part of watch_run: look the state up; returns the jump that is
 * taken if it is known, which watch_go_back lands. */
size_t watch_enter(struct emit *e, const struct far *f);
void watch_go_back(struct emit *e, const struct far *f, size_t known);

/* Memory for struct watch_seen and emu_row, of code that lives as long. */
struct watch_arena;
struct emu_row *watch_row(struct watch_arena **arena);
struct watch_seen *watch_place(struct watch_arena **arena, const struct uop *u);
void watch_forget(struct watch_arena **arena);

#endif
