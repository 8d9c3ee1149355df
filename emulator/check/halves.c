/* halves.c: which 16-bit halves of a VGPR an instruction reads or writes.
 *
 * Compilers load the two halves of a register apart and use one while the other is
 * still under way. Two bits: 1 the lower half, 2 the upper one. What is not known to be
 * a half is both. SPDX-License-Identifier: MIT
 */
#include "facts.h"
#include "internal.h"

#define LOW  1u
#define HIGH 2u
#define BOTH 3u

static bool is_16(unsigned fmt)
{
    return fmt == ISA_FMT_B16 || fmt == ISA_FMT_U16 || fmt == ISA_FMT_I16 ||
           fmt == ISA_FMT_F16 || fmt == ISA_FMT_BF16;
}

/* Data of a load or store of up to 16 bits. What a load keeps it does not read. */
static unsigned of_memory(const struct isa_facts *facts, const struct isa_opnd *o,
                          bool read)
{
    bool data = o->flags & ISA_OF_OUT || o->field == ISA_FIELD_DATA ||
                o->field == ISA_FIELD_VDATA || o->field == ISA_FIELD_DATA0;
    bool small = facts->bytes && facts->bytes <= 2 && facts->elems == 1;
    unsigned half = facts->mem & ISA_MEM_HI ? HIGH : LOW;
    if (!data || !small)
        return BOTH;
    if (facts->access == ISA_ACCESS_STORE)
        return half;
    if (facts->access != ISA_ACCESS_LOAD || !(facts->mem & ISA_MEM_D16))
        return BOTH;
    return read ? 0 : half;
}

/* source: its number. v_fma_mix: OP_SEL_HI says that it is f16, OP_SEL which half. */
static unsigned of_vector(const struct isa_inst *inst, const struct isa_opnd *o,
                          unsigned source)
{
    bool out = o->flags & ISA_OF_OUT;
    bool mixes = inst->op == ISA_V_FMA_MIX_F32 || inst->op == ISA_V_FMA_MIXLO_F16 ||
                 inst->op == ISA_V_FMA_MIXHI_F16;
    unsigned bit = out ? 8u : 1u << source;
    if (mixes && out)
        return inst->op == ISA_V_FMA_MIX_F32     ? BOTH
               : inst->op == ISA_V_FMA_MIXHI_F16 ? HIGH
                                                 : LOW;
    if (mixes)
        return !(inst->op_sel_hi & bit) ? BOTH : inst->op_sel & bit ? HIGH : LOW;
    /* Two bytes, amounts of shifts: 16 bits, whatever their format says. */
    bool bytes = out && inst->op == ISA_V_SAT_PK_U8_I16;
    bool amount = source == 2 && !out &&
                  (inst->op == ISA_V_ALIGNBIT_B32 || inst->op == ISA_V_ALIGNBYTE_B32);
    if (!(is_16(o->fmt) || bytes || amount) || inst->enc == ISA_ENC_VOP3P)
        return BOTH;
    if (inst->enc == ISA_ENC_VOP3 || inst->enc == ISA_ENC_VINTERP)
        return inst->op_sel & bit ? HIGH : LOW;
    return o->flags & ISA_OF_HI16 ? HIGH : LOW;
}

unsigned ck_operand_half(const struct isa_inst *inst, const struct isa_opnd *o,
                         unsigned source)
{
    return of_vector(inst, o, source);
}

unsigned ck_halves(const struct isa_inst *inst, const struct emu_reg *r, bool read)
{
    const struct isa_facts *facts = isa_facts(inst->op);
    unsigned wanted = read ? ISA_OF_IN : ISA_OF_OUT, halves = 0, source = 0;
    bool found = false;
    if (r->sel < ISA_SEL_VGPR0 || r->dwords != 1 || inst->op_y != ISA_OP_NONE)
        return BOTH;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        unsigned number = source;
        source += o->flags & ISA_OF_IN && !(o->flags & ISA_OF_OUT);
        if (o->kind != ISA_OPND_REG || o->sel != r->sel || !(o->flags & wanted))
            continue;
        halves |= facts->access != ISA_ACCESS_NONE ? of_memory(facts, o, read)
                                                   : of_vector(inst, o, number);
        found = true;
    }
    return found ? halves : BOTH;
}
