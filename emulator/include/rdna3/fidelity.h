/* fidelity.h: how near each instruction is to the hardware.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_FIDELITY_H
#define RD_FIDELITY_H

#include "emu.h"

enum emu_fidelity_kind {
    EMU_FIDELITY_SPEC,        /* exact: the manual defines every bit */
    EMU_FIDELITY_HARDWARE,    /* exact: bits measured on gfx11 */
    EMU_FIDELITY_ULP,         /* within .ulp units of the last place of hardware */
    EMU_FIDELITY_APPROXIMATE, /* the meaning, not always the bits */
    EMU_FIDELITY_UNSUPPORTED, /* faults by name */
    EMU_FIDELITY_KINDS
};

struct emu_fidelity {
    enum emu_fidelity_kind kind;
    unsigned ulp;     /* EMU_FIDELITY_ULP */
    const char *note; /* where the claim comes from, or what differs; may be empty */
};

/* Fidelity of an isa_op (not ISA_OP_NONE) under the emulator's configuration. */
struct emu_fidelity emu_fidelity(const struct emu *emu, unsigned op);

/* "exact by specification", "exact by hardware data", "within ULPs", ... */
const char *emu_fidelity_name(enum emu_fidelity_kind kind);

#endif
