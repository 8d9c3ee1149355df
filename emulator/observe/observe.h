/* observe.h: a watched dispatch, for the emulator's own files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_OBSERVE_H
#define RD_OBSERVE_H

#include "control.h"
#include "relative.h"

#define OBSERVE_ACCESSES 255 /* of one instruction; more are not reported */

/* One dispatch that somebody watches. */
struct observation {
    struct emu *emu;
    struct emu_launch launch;
    struct emu_observer observer[EMU_MAX_OBSERVERS]; /* copies, from the start */
    unsigned n_observers;
    unsigned want;       /* EMU_WANT_*: of the observers and the stepper */
    unsigned n_accesses; /* of the running instruction */
    bool noted;          /* by its handler, not from the operands */
    bool admits;         /* some observer has a say before memory instructions */
    bool forgives;       /* some observer lets waves go on behind faults */
    bool prepares;       /* some observer looks at instructions before they run */
    bool trapped;        /* it faulted, and the trap handler goes on */
    struct emu_event event;
    struct emu_fault passed_over; /* what a forgiven instruction would have been */
    struct emu_inst resolved;     /* the running instruction, if M0 selects registers */
    uint32_t *in, *out;           /* VALUE_DWORDS each, or NULL until they are wanted */
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

/* The watched form of the scheduler's loop over a wave's instructions. */
uint64_t observe_run(struct wave *w);

/* Execute one instruction and report it.
 *
 * info   of the instruction at u
 * index  of the wave's instructions
 * Returns as a handler does. *event is NULL if the instruction must be run again.
 */
const struct uop *observe_step(struct wave *w, const struct uop *u,
                               const struct inst_info *info, uint64_t index,
                               const struct emu_event **event);

#endif
