/* describe.c: what can be said about an instruction before it runs: its kind, and the
 * registers that the tables say it reads and writes.
 *
 * Knows the tables and a few opcodes by name, not waves. The tables name the registers
 * that M0 counts from (v_movrel, s_movrel); inst_resolve adds M0.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "event.h"
#include "relative.h"

static enum emu_inst_kind sopp_kind(unsigned op)
{
    switch (op) {
    case ISA_S_ENDPGM:
    case ISA_S_ENDPGM_SAVED:
    case ISA_S_ENDPGM_ORDERED_PS_DONE:
        return EMU_KIND_END;
    case ISA_S_TRAP:
        return EMU_KIND_BRANCH;
    case ISA_S_BARRIER:
        return EMU_KIND_BARRIER;
    case ISA_S_SLEEP:
        return EMU_KIND_SLEEP;
    case ISA_S_SENDMSG:
    case ISA_S_SENDMSGHALT:
        return EMU_KIND_MESSAGE;
    case ISA_S_WAITCNT:
    case ISA_S_WAITCNT_DEPCTR:
    case ISA_S_WAIT_IDLE:
    case ISA_S_WAIT_EVENT:
        return EMU_KIND_WAIT;
    default:
        return EMU_KIND_HINT;
    }
}

static enum emu_inst_kind sop_kind(unsigned op)
{
    switch (op) {
    case ISA_S_WAITCNT_VSCNT:
    case ISA_S_WAITCNT_VMCNT:
    case ISA_S_WAITCNT_EXPCNT:
    case ISA_S_WAITCNT_LGKMCNT:
        return EMU_KIND_WAIT;
    case ISA_S_SENDMSG_RTN_B32:
    case ISA_S_SENDMSG_RTN_B64:
        return EMU_KIND_MESSAGE;
    case ISA_S_VERSION:
    case ISA_V_NOP:
    case ISA_V_PIPEFLUSH:
        return EMU_KIND_HINT;
    default:
        return EMU_KIND_COMPUTE;
    }
}

static enum emu_inst_kind kind_of(const struct isa_inst *inst)
{
    unsigned branch = ISA_RF_BRANCH | ISA_RF_COND_BRANCH | ISA_RF_INDIRECT;
    enum emu_inst_kind kind;
    switch (inst->enc) {
    case ISA_ENC_SMEM:
    case ISA_ENC_DS:
    case ISA_ENC_FLAT:
    case ISA_ENC_GLOBAL:
    case ISA_ENC_SCRATCH:
    case ISA_ENC_MUBUF:
    case ISA_ENC_MTBUF:
    case ISA_ENC_MIMG:
    case ISA_ENC_LDSDIR:
        return EMU_KIND_MEMORY;
    case ISA_ENC_EXP:
        return EMU_KIND_EXPORT;
    case ISA_ENC_SOPP:
        kind = sopp_kind(inst->op);
        break;
    default:
        kind = sop_kind(inst->op);
        break;
    }
    if ((kind == EMU_KIND_HINT || kind == EMU_KIND_COMPUTE) &&
        (isa_row(inst->row)->flags & branch))
        return EMU_KIND_BRANCH;
    return kind;
}

static void add_reg(struct emu_inst *out, unsigned sel, unsigned dwords, unsigned flags)
{
    flags &= ISA_OF_IN | ISA_OF_OUT | ISA_OF_IMPLICIT | ISA_OF_Y;
    if (out->n_regs == EMU_MAX_REGS || !dwords)
        return;
    if (sel >= ISA_SEL_VGPR0 && sel - ISA_SEL_VGPR0 + dwords > 256)
        return; /* faults when it runs */
    out->reg[out->n_regs++] =
        (struct emu_reg){(uint16_t)sel, (uint8_t)dwords, (uint8_t)flags};
}

/* Registers, and what stands for one: VCCZ reads VCC. */
static void add_operand(struct emu_inst *out, const struct isa_opnd *o, unsigned wave)
{
    unsigned mask_dwords = wave / 32;
    if (o->kind == ISA_OPND_SCC) {
        add_reg(out, ISA_SEL_SCC, 1, o->flags);
        return;
    }
    if (o->kind != ISA_OPND_REG || o->sel == ISA_SEL_NULL)
        return;
    if (o->sel == ISA_SEL_VCCZ)
        add_reg(out, ISA_SEL_VCC_LO, mask_dwords, o->flags);
    else if (o->sel == ISA_SEL_EXECZ)
        add_reg(out, ISA_SEL_EXEC_LO, mask_dwords, o->flags);
    else if (o->sel == ISA_SEL_SCC)
        add_reg(out, ISA_SEL_SCC, 1, o->flags);
    else if (o->sel < ISA_SEL_INT_0 || o->sel >= ISA_SEL_VGPR0)
        add_reg(out, o->sel, o->dwords ? o->dwords : 1, o->flags);
}

void emu_inst_describe(const void *code, size_t bytes, uint64_t pc, unsigned wave,
                       struct emu_inst *out)
{
    memset(out, 0, sizeof *out);
    out->pc = pc;
    out->bytes = 4;
    out->kind = EMU_KIND_ILLEGAL;
    if (isa_decode_hw(code, bytes, wave, &out->isa) != RD_OK) {
        memset(&out->isa, 0, sizeof out->isa);
        /* encodings that begin with two ones have two dwords at least */
        if (bytes >= 8 && ((const uint8_t *)code)[3] >= 0xc0)
            out->bytes = 8;
        return;
    }
    out->bytes = out->isa.bytes;
    out->kind = (uint8_t)kind_of(&out->isa);
    for (unsigned i = 0; i < out->isa.n_opnds; i++)
        add_operand(out, &out->isa.opnd[i], wave);
}

/* ---- registers that M0 selects -----------------------------------------------------
 */

/* What M0 adds to the index of the destination and of the source. */
static bool m0_offsets(unsigned op, uint32_t m0, uint32_t *to, uint32_t *from)
{
    *to = *from = 0;
    switch (op) {
    case ISA_V_MOVRELD_B32:
    case ISA_S_MOVRELD_B32:
    case ISA_S_MOVRELD_B64:
        *to = m0;
        return true;
    case ISA_V_MOVRELS_B32:
    case ISA_S_MOVRELS_B32:
    case ISA_S_MOVRELS_B64:
        *from = m0;
        return true;
    case ISA_V_MOVRELSD_B32:
        *to = *from = m0;
        return true;
    case ISA_V_MOVRELSD_2_B32:
    case ISA_S_MOVRELSD_2_B32:
    case ISA_V_SWAPREL_B32:
        *from = m0 & 0x3ffu;
        *to = m0 >> 16 & 0x3ffu;
        return true;
    default:
        return false;
    }
}

bool inst_is_relative(const struct isa_inst *inst)
{
    uint32_t to, from;
    return m0_offsets(inst->op, 0, &to, &from);
}

void inst_resolve(const struct emu_inst *inst, uint32_t m0, struct emu_inst *out)
{
    uint32_t to, from;
    *out = *inst;
    if (!m0_offsets(inst->isa.op, m0, &to, &from))
        return;
    bool first = true; /* the destination comes first */
    for (unsigned i = 0; i < out->n_regs; i++) {
        struct emu_reg *r = &out->reg[i];
        if (r->flags & ISA_OF_IMPLICIT)
            continue;
        uint32_t n = first ? to : from, sel = r->sel;
        bool vgpr = emu_reg_is_vgpr(r);
        uint32_t last = vgpr ? ISA_SEL_VGPR0 + 255u : ISA_SEL_TTMP0 - 1u;
        first = false;
        if ((vgpr || sel < ISA_SEL_TTMP0) && n <= last &&
            sel + n + r->dwords - 1 <= last)
            r->sel = (uint16_t)(sel + n); /* beyond, the instruction faults */
    }
}
