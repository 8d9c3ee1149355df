/* control.h: what happens to a wave besides its instructions: faults, traps, jumps to
 * other programs, hardware registers.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CONTROL_H
#define RD_CONTROL_H

#include "wave.h"

/* fault.c: record the wave's first fault and stop it. All return NULL. */
const struct uop *wave_fault(struct wave *w, const struct uop *u,
                             enum emu_fault_kind kind, const char *detail);
const struct uop *wave_fault_at(struct wave *w, const struct uop *u,
                                enum emu_fault_kind kind, int lane, uint64_t address,
                                unsigned bytes, bool write);

/* The same of an access that the chip lets pass in silence: tell, and go on. */
void wave_unreported(struct wave *w, const struct uop *u, enum emu_fault_kind kind,
                     int lane, uint64_t address, unsigned bytes, bool write);

/* jump.c: where the wave goes on at a GPU address, in another program if need be; NULL
 * if it is not in executable memory. */
const struct uop *wave_goto(struct wave *w, uint64_t pc);

/* trap.c: traps, exceptions and halts. */

static inline bool wave_privileged(const struct wave *w)
{
    return w->status_bits & STATUS_PRIV;
}

static inline bool wave_has_handler(const struct wave *w)
{
    return (w->status_bits & (STATUS_TRAP_EN | STATUS_PRIV)) == STATUS_TRAP_EN;
}

/* Into the handler with pc saved. Returns as a handler does. */
const struct uop *trap_enter(struct wave *w, const struct uop *u, uint64_t pc,
                             unsigned id);
const struct uop *trap_return(struct wave *w, const struct uop *u, uint64_t pc);
/* s_trap. */
const struct uop *trap_take(struct wave *w, const struct uop *u, unsigned id);
/* The wave has stopped with a fault: where it goes on in its handler, or NULL. */
const struct uop *trap_fault(struct wave *w);
/* Set or clear STATUS.HALT or FATAL_HALT, then go on at next. */
const struct uop *trap_halt(struct wave *w, const struct uop *u, const struct uop *next,
                            uint32_t bit, bool set);
/* Tell the host; M0 has the data. */
void trap_interrupt(struct wave *w);
/* TTMPs and STATUS of a new wave. */
void trap_init(struct wave *w);
/* Where the wave is to be saved (context.h), as MSG_RTN_SAVE_WAVE answers; false: there
 * is no room. */
bool trap_place(struct wave *w, uint64_t *where);
/* Every wave of the group that could run is halted: the fault of the group. */
void trap_report_halt(struct workgroup *g);

/* The instruction at u, as a fault record tells it. */
void wave_describe(const struct wave *w, const struct uop *u, enum emu_fault_kind kind,
                   struct emu_fault *f);

/* hwreg.c: STATUS with all its bits. */
uint32_t wave_status(const struct wave *w);

/* hwreg.c: MODE register image <-> lane_mode and MXCSR. */
void wave_set_mode(struct wave *w, uint32_t mode_bits);
/* The same but for the host's float control: for a wave that does not run yet. */
void wave_mode_image(struct wave *w, uint32_t mode_bits);
uint32_t wave_getreg(struct wave *w, unsigned id);
void wave_setreg(struct wave *w, unsigned id, uint32_t mask, uint32_t value);

/* fault.c: handlers of what cannot run. */
sem_wave_fn x_fetch, x_illegal, x_unsupported, x_beyond, x_endless;

#endif
