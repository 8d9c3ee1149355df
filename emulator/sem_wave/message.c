/* message.c: messages to the hardware around the wave, halts and traps (manual 3.4.9,
 * 5.1, 5.3).
 *
 * No debugger and no trap handler are attached: what would need one is a fault.
 * SPDX-License-Identifier: MIT
 */
#include "sem_wrap.h"
#include "wave.h"

static const struct uop *next(const struct uop *u)
{
    return u + u->dwords;
}

/* ---- messages ----------------------------------------------------------------------
 */

/* Interrupts to the host and VGPR deallocation have no effect on the wave. */
WAVE_OP(s_sendmsg)
{
    (void)w;
    return next(u);
}

static const struct uop *halted(struct wave *w, const struct uop *u)
{
    return wave_fault(w, u, EMU_FAULT_HANG,
                      "the wave halts, and nobody is attached to resume it");
}

WAVE_OP(s_sendmsghalt)
{
    return halted(w, u);
}

enum rtn_message {
    RTN_GET_DOORBELL = 0x80,
    RTN_GET_DDID = 0x81,
    RTN_GET_TMA = 0x82,
    RTN_GET_REALTIME = 0x83,
    RTN_SAVE_WAVE = 0x84,
    RTN_GET_TBA = 0x85,
};

#define NO_DOORBELL 0xbadu

/* Instructions per tick of the 100 MHz clock: one instruction a cycle at 2.5 GHz. */
#define INSTS_PER_TICK 25u

/* The answer to a message; false if the code is reserved. */
static bool answer(const struct wave *w, unsigned message, uint64_t *value)
{
    *value = 0;
    switch (message) {
    case RTN_GET_DOORBELL: /* a dispatch does not know its queue */
        *value = NO_DOORBELL;
        return true;
    case RTN_GET_REALTIME:
        *value = w->n_insts / INSTS_PER_TICK;
        return true;
    case RTN_GET_DDID:
    case RTN_GET_TMA: /* no trap handler */
    case RTN_GET_TBA:
    case RTN_SAVE_WAVE: /* not privileged: answered like an illegal message */
        return true;
    default:
        return false;
    }
}

WAVE_OP(s_sendmsg_rtn_b32)
{
    uint64_t value;
    if (!answer(w, (unsigned)u->imm & 0xffu, &value))
        return wave_fault(w, u, EMU_FAULT_ILLEGAL, "reserved message");
    w->sgpr[u->d] = (uint32_t)value;
    return next(u);
}

WAVE_OP(s_sendmsg_rtn_b64)
{
    uint64_t value;
    if (!answer(w, (unsigned)u->imm & 0xffu, &value))
        return wave_fault(w, u, EMU_FAULT_ILLEGAL, "reserved message");
    set_sgpr64(w, u->d, value);
    return next(u);
}

/* ---- halts --------------------------------------------------------------------------
 */

/* SIMM16[0]: halt or go on; SIMM16[2] chooses HALT or FATAL_HALT. */
WAVE_OP(s_sethalt)
{
    return u->imm & 1 ? halted(w, u) : next(u);
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
    return wave_fault(w, u, EMU_FAULT_TRAP, "s_trap, and no trap handler is installed");
}

WAVE_OP(s_rfe_b64)
{
    return wave_fault(w, u, EMU_FAULT_ILLEGAL, "outside of a trap handler");
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
