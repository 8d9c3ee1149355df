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
    bool illegal;      /* the error is the encoding's, not ours */
    bool beyond;       /* names a VGPR that waves of this program do not have */
};

static inline bool is_vgpr(const struct isa_opnd *o)
{
    return o->kind == ISA_OPND_REG && o->sel >= ISA_SEL_VGPR0;
}

static inline void note_vgprs(struct ctx *c, const struct isa_opnd *o)
{
    unsigned last = o->sel - ISA_SEL_VGPR0 + (o->dwords ? o->dwords - 1u : 0);
    if (last >= WAVE_VGPRS) {
        c->error = "VGPR index out of range";
        c->illegal = true;
    }
    c->beyond |= last >= c->p->n_vgprs;
}

/* operand.c */

bool type_is_16(unsigned type); /* enum sem_type */
bool type_is_64(unsigned type);
bool fmt_is_float16(unsigned fmt); /* enum isa_fmt; packed ones too */

/* The value of a constant operand, as a source of the given enum sem_type gets it;
 * false if it is a register. */
bool constant_value(struct ctx *c, const struct isa_opnd *o, unsigned type,
                    uint64_t *value);

/* The operands of one half: explicit inputs in order, then an in-out destination. */
unsigned collect_sources(const struct isa_inst *inst, unsigned y,
                         const struct isa_opnd *src[4]);

/* The destinations: the value and, for carries and compares, the mask. */
void find_outputs(const struct isa_inst *inst, unsigned y,
                  const struct isa_opnd **value, const struct isa_opnd **mask);

/* Slot of a scalar destination; null is SGPR_DUMMY, and so is what can only be read
 * (SRC_SCC, apertures), for which eight-bit fields have room: such writes go nowhere.
 */
uint16_t sgpr_slot(const struct isa_opnd *o);

/* Where a source of the given enum sem_type comes from. */
void set_source(struct ctx *c, struct usrc *s, const struct isa_opnd *o, unsigned type);

/* predecode_vector.c: a LANE_OP, a MATRIX_OP. */
void predecode_lane(struct ctx *c, struct uop *u, const struct sem_entry *e);
void predecode_matrix(struct ctx *c, struct uop *u, const struct sem_entry *e);

/* predecode_mem.c */
void predecode_memory(struct ctx *c, struct uop *u, const struct sem_entry *e);

/* The operands of a WAVE_OP of a memory encoding; false if it is of another one. */
bool predecode_wave_memory(struct ctx *c, struct uop *u, const struct sem_entry *e);

#endif
