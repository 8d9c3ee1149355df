/* observe.h: a watched dispatch, for the emulator's own files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_OBSERVE_H
#define RD_OBSERVE_H

#include "dispatch.h"
#include "event.h"
#include "relative.h"

#define OBSERVE_ACCESSES 255 /* of one instruction; more are not reported */

/* How a memory instruction forms its addresses, settled when it is decoded. */
enum plan_form {
    PLAN_NONE,    /* no memory, or the handler notes its accesses (wave_note) */
    PLAN_SCALAR,  /* one address from SGPRs */
    PLAN_LANES,   /* 64-bit addresses per lane */
    PLAN_FLAT,    /* the same, and the apertures choose the space */
    PLAN_SCRATCH, /* 32-bit offsets per lane */
    PLAN_DS,
};

struct access_plan {
    uint8_t form;  /* enum plan_form */
    uint8_t space; /* enum emu_space */
    uint8_t elems; /* 2 for the 2ADDR forms of DS */
    bool read, write;
    bool pair;            /* the address register is a pair */
    uint16_t bytes;       /* per element and lane */
    uint16_t addr, saddr; /* VGPR row, SGPR; NO_ROW */
    uint16_t soffset;     /* SGPR; NO_ROW */
    int32_t offset[2];    /* per element */
};

/* The side table's entry for one instruction. */
struct inst_info {
    struct emu_inst inst; /* must be first */
    struct access_plan plan;
    bool relative;          /* M0 selects registers */
    struct inst_info *next; /* of the program's, to free them */
};

/* observe_mem.c */
void plan_accesses(const struct emu *emu, const struct isa_inst *inst,
                   struct access_plan *plan);
unsigned form_accesses(const struct wave *w, const struct access_plan *plan,
                       struct emu_access *access);

/* One dispatch that somebody watches. */
struct observation {
    struct emu *emu;
    struct emu_launch launch;
    struct emu_observer observer[EMU_MAX_OBSERVERS]; /* copies, from the start */
    unsigned n_observers;
    unsigned want;       /* EMU_WANT_*: of the observers and the stepper */
    unsigned n_accesses; /* of the running instruction */
    bool noted;          /* by its handler, not from the operands */
    struct emu_event event;
    struct emu_inst resolved; /* the running instruction, if M0 selects registers */
    uint32_t *in, *out;       /* VALUE_DWORDS each, or NULL until they are wanted */
    struct emu_access access[OBSERVE_ACCESSES];
};

/* Begin and end a watched dispatch; begin does nothing (*out = NULL) if nobody wants
 * to watch and stepper is false. */
RD_CHECKED rd_status observation_begin(struct dispatch *dp, bool stepper,
                                       struct observation **out);
void observation_end(struct observation *ob, rd_status status);
RD_CHECKED rd_status observation_want(struct observation *ob, unsigned want);

/* A workgroup was launched (place: per wave, or NULL); it has gone, whether its waves
 * have ended or not. */
RD_CHECKED rd_status observe_group_new(struct observation *ob, struct resident *r,
                                       const uint32_t *place);
void observe_group_gone(struct resident *r);

/* Execute one instruction and report it.
 *
 * index  of the wave's instructions
 * Returns as a handler does. *event is NULL if the instruction must be run again.
 */
const struct uop *observe_step(struct wave *w, const struct uop *u, uint64_t index,
                               const struct emu_event **event);

#endif
