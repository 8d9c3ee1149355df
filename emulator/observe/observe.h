/* observe.h: a watched dispatch, for the emulator's own files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_OBSERVE_H
#define RD_OBSERVE_H

#include "control.h"
#include "glance.h"
#include "relative.h"

#define OBSERVE_ACCESSES 255 /* of one instruction; more are not reported */

/* One dispatch that somebody watches. */
struct observation {
    struct emu *emu;
    struct emu_launch launch;
    struct emu_observer observer[EMU_MAX_OBSERVERS]; /* copies, from the start */
    unsigned n_observers;
    unsigned want;         /* EMU_WANT_*: of the observers and the stepper */
    unsigned n_accesses;   /* of the running instruction */
    bool noted;            /* by its handler, not from the operands */
    bool admits;           /* some observer has a say before memory instructions */
    bool forgives;         /* some observer lets waves go on behind faults */
    bool prepares;         /* some observer looks at instructions before they run */
    bool trapped;          /* it faulted, and the trap handler goes on */
    bool unknown;          /* native code has met a run that must be seen */
    bool rest;             /* ... or an event has made it so, in the midst of one */
    bool all;              /* of the turn all must be seen */
    unsigned followed;     /* EMU_EV_FOLLOWED, or 0 */
    struct glance *glance; /* NULL: everything is seen (glance.c) */
    struct unseen *unseen; /* by emu_wave_info.slot, with glance (glance.c) */
    size_t n_unseen;
    unsigned host_csr; /* the host's float mode, where native code runs */
    struct emu_event event;
    struct emu_fault passed_over; /* what a forgiven instruction would have been */
    struct emu_inst resolved;     /* the running instruction, if M0 selects registers */
    uint32_t *in, *out;           /* VALUE_DWORDS each, or NULL until they are wanted */
    uint32_t row[2 * ROW_DWORDS]; /* emu_event.row */
    struct emu_access access[OBSERVE_ACCESSES];
};

/* Begin and end a watched dispatch (launch: all but its number); begin does nothing
 * (*out = NULL) if nobody wants to watch and stepper is false. */
RD_CHECKED rd_status observation_begin(struct emu *emu, const struct emu_launch *launch,
                                       bool stepper, struct observation **out);
void observation_end(struct observation *ob, rd_status status);
/* Has an observer ended the dispatch? */
bool observation_cancelled(const struct observation *ob);
RD_CHECKED rd_status observation_want(struct observation *ob, unsigned want);

/* A workgroup was launched (place: per wave, or NULL); it has gone, whether its waves
 * have ended or not. */
RD_CHECKED rd_status observe_group_new(struct observation *ob, struct workgroup *g,
                                       const uint32_t *place);
void observe_group_gone(struct workgroup *g);

/* Who the wave is, for one that nobody watches. */
void observe_identify(struct wave *w);

/* The block at u, step by step; *stay is false if the slice ends behind it: the wave
 * has stopped, or a fault has led into its trap handler. */
const struct uop *observe_block(struct wave *w, const struct uop *u, bool *stay);

/* glance.c: what the emulator's observers need not see, or NULL if they need all;
 * forget it, because there are others. */
struct glance *glance_of(struct emu *emu);
void glance_forget(struct emu *emu);
/* What an observer says that it need not see, or NULL. */
const struct emu_glance *glance_by(const struct emu_observer *o);
/* A wave begins. */
RD_CHECKED rd_status glance_begin(struct observation *ob, const struct wave *w);
/* The wave's turn, and those that native code begins (turns.c): returns where
 * group->running goes on, or NULL. */
const struct uop *glance_run(struct wave *w);
/* Called by native code, between two waves: false: of the turn all must be seen. */
void glance_turn_ends(struct wave *w);
bool glance_turn_begins(struct wave *w);
/* Must all of the wave's turn, which begins, be seen? */
bool observe_turn(const struct observation *ob, const struct wave *w);

/* The watched form of the scheduler's loop over a wave's instructions. Afterwards
 * another wave may be running. */
void observe_run(struct wave *w);

/* Execute one instruction and report it.
 *
 * Lock held, unless the stepper watches alone.
 * info   of the instruction at u
 * index  of the wave's instructions
 * Returns as a handler does. *event is NULL if the instruction must be run again.
 */
const struct uop *observe_step(struct wave *w, const struct uop *u,
                               const struct inst_info *info, uint64_t index,
                               const struct emu_event **event);

/* What is left to do when the handler of the instruction at `at` has returned u. */
const struct uop *observe_finish(struct wave *w, const struct uop *at,
                                 const struct uop *u, const struct inst_info *info,
                                 const struct emu_event **event);
/* Handlers note elements dword by dword: make one access of neighbours. */
void observe_join(struct observation *ob);
/* Will the wave's stop open the workgroup's barrier? Asked before sched.c counts it. */
bool observe_opens_barrier(const struct wave *w);

/* alone.c: does the stepper alone watch, and nothing but accesses? */
bool observation_alone(const struct observation *ob);
/* Another one, for waves that another thread steps: malloc'd memory, alone ones only.
 */
struct observation *observation_copy(const struct observation *ob);
/* observe_step where it does; no lock is needed. */
/* So many that neither stop nor touch memory, from here on; what follows them. */
const struct uop *observe_many(struct wave *w, const struct uop *u, unsigned n);
const struct uop *observe_alone(struct wave *w, const struct uop *u, uint64_t index,
                                const struct emu_event **event);

#endif
