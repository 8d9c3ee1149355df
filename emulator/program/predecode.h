/* predecode.h: what the files of the predecoder share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PREDECODE_H
#define RD_PREDECODE_H

#include "constants.h"
#include "facts.h"
#include "program.h"

/* Fill the micro-op of one decoded instruction.
 *
 * u  out, the slot of its first dword; the following slots of the instruction are used
 *    for more operands
 * What cannot run gets a handler that faults by name.
 */
void predecode(const struct program_env *env, struct program *p,
               const struct isa_inst *inst, struct uop *u);

/* One instruction being predecoded. */
struct ctx {
    const struct program_env *env;
    struct program *p;
    const struct isa_inst *inst;
    const char *error; /* first thing that cannot be done */
    bool beyond;       /* names a VGPR that waves of this program do not have */
};

static inline bool is_vgpr(const struct isa_opnd *o)
{
    return o->kind == ISA_OPND_REG && o->sel >= ISA_SEL_VGPR0;
}

static inline void note_vgprs(struct ctx *c, const struct isa_opnd *o)
{
    unsigned last = o->sel - ISA_SEL_VGPR0 + (o->dwords ? o->dwords - 1u : 0);
    if (last >= WAVE_VGPRS)
        c->error = "VGPR index out of range";
    c->beyond |= last >= c->p->n_vgprs;
}

/* Where a source of the given enum sem_type comes from. */
void set_source(struct ctx *c, struct usrc *s, const struct isa_opnd *o, unsigned type);

/* Note what a global atomic says about the order of workgroups. op: whose operation it
 * is; an image atomic's is that of a buffer atomic. */
void note_order(struct ctx *c, unsigned op);

/* predecode_mem.c */
void predecode_memory(struct ctx *c, struct uop *u, const struct sem_entry *e);

/* The operands of a WAVE_OP of a memory encoding; false if it is of another one. */
bool predecode_wave_memory(struct ctx *c, struct uop *u, const struct sem_entry *e);

#endif
