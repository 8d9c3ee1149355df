/* message.c: messages to the hardware around the wave, halts and traps (manual 3.4.9,
 * 5.1, 5.3).
 *
 * Traps and halts themselves are in trap.c; without a trap handler what would need one
 * is a fault.
 * SPDX-License-Identifier: MIT
 */
#include "sem_wrap.h"
#include "wave.h"

static const struct uop *next(const struct uop *u)
{
    return uop_next(u);
}

/* ---- messages ----------------------------------------------------------------------
 */

#define MESSAGE_INTERRUPT 1u

/* Deallocating VGPRs and the messages of graphics stages have no effect on the wave. */
WAVE_OP(s_sendmsg)
{
    if (((unsigned)u->imm & 0xffu) == MESSAGE_INTERRUPT)
        trap_interrupt(w);
    return next(u);
}

WAVE_OP(s_sendmsghalt)
{
    if (((unsigned)u->imm & 0xffu) == MESSAGE_INTERRUPT)
        trap_interrupt(w);
    return trap_halt(w, u, next(u), STATUS_HALT, true);
}

#define NO_DOORBELL 0xbadu
#define TBA_PRESENT (UINT64_C(1) << 63)

/* The 100 MHz clock of who has no other: of so many shader clocks a tick. */
static uint64_t by_own_clock(const struct wave *w)
{
    double per_tick = w->group->clocks_per_tick;
    return (uint64_t)((double)wave_clock(w) / per_tick);
}

/* The answer to a message; false if there is none. TBA and TMA are registers
 * that hold address bits 47:8. */
static bool answer(struct wave *w, unsigned message, uint64_t *value)
{
    const struct emu_queue *q = w->group->queue;
    *value = 0;
    switch (message) {
    case RTN_GET_DOORBELL:
        *value = q->knows_doorbell ? q->doorbell : NO_DOORBELL;
        return true;
    case RTN_GET_REALTIME:
        *value = q->clock ? q->clock(q->ctx) : q->realtime + by_own_clock(w);
        return true;
    case RTN_GET_DDID:
        *value = q->packet;
        return true;
    case RTN_GET_TMA:
        *value = q->tma >> 8;
        return true;
    case RTN_GET_TBA:
        *value = q->tba ? q->tba >> 8 | TBA_PRESENT : 0;
        return true;
    case RTN_SAVE_WAVE: /* not privileged: an illegal message, answered all the same */
        return !wave_privileged(w) || trap_place(w, value);
    default:
        return false;
    }
}

WAVE_OP(s_sendmsg_rtn_b32)
{
    uint64_t value;
    unsigned message = (unsigned)u->imm & 0xffu;
    if (!answer(w, message, &value))
        return wave_fault(w, u, EMU_FAULT_ILLEGAL, "a message without an answer");
    w->sgpr[u->d] = (uint32_t)value;
    return next(u);
}

WAVE_OP(s_sendmsg_rtn_b64)
{
    uint64_t value;
    unsigned message = (unsigned)u->imm & 0xffu;
    if (!answer(w, message, &value))
        return wave_fault(w, u, EMU_FAULT_ILLEGAL, "a message without an answer");
    set_sgpr64(w, u->d, value);
    return next(u);
}

/* ---- halts --------------------------------------------------------------------------
 */

/* SIMM16[0]: halt or go on; SIMM16[2] chooses HALT or FATAL_HALT. */
WAVE_OP(s_sethalt)
{
    return trap_halt(w, u, next(u), u->imm & 4 ? STATUS_FATAL_HALT : STATUS_HALT,
                     u->imm & 1);
}

WAVE_OP(s_setkill)
{
    return u->imm & 1 ? wave_stop(w, STOP_END, u) : next(u);
}

/* ---- traps --------------------------------------------------------------------------
 */

/* Hardware without a handler runs on; that hides llvm.trap, so it is a fault here. */
WAVE_OP(s_trap)
{
    if (!(w->status_bits & STATUS_TRAP_EN))
        return wave_fault(w, u, EMU_FAULT_TRAP,
                          "s_trap, and no trap handler is installed");
    return trap_take(w, u, (unsigned)u->imm & 0xffu);
}

WAVE_OP(s_rfe_b64)
{
    if (!wave_privileged(w))
        return wave_fault(w, u, EMU_FAULT_ILLEGAL, "outside of a trap handler");
    return trap_return(w, u, scalar_value(w, &u->s[0]));
}

/* A compute wave has no export buffer: the values go nowhere. Observers see the export
 * and its registers. */
WAVE_OP(export_values)
{
    (void)w;
    return next(u);
}

/* Pads the space behind a program. */
WAVE_OP(s_code_end)
{
    return wave_fault(w, u, EMU_FAULT_ILLEGAL, "the end of the code");
}

WAVE_OP(v_illegal)
{
    return wave_fault(w, u, EMU_FAULT_ILLEGAL, NULL);
}

#include "message.inc"
