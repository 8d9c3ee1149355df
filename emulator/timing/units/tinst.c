/* tinst.c: classes and registers of instructions, from facts and operands.
 *
 * The only place of the model that looks at opcodes; must not know times. Invariant:
 * every instruction has a class, also bytes that are no instruction (hardware issues
 * undefined scalar opcodes as ordinary ones).
 * SPDX-License-Identifier: MIT
 */
#include "tinst.h"

#include <string.h>

#include "facts.h"

/* The vector classes of the fact sheet. */
static uint8_t pipe_of(const struct isa_facts *facts)
{
    static const uint8_t pipes[ISA_PIPE_COUNT] = {
        [ISA_PIPE_VALU] = TM_PIPE_PLAIN,      [ISA_PIPE_HALF] = TM_PIPE_HALF,
        [ISA_PIPE_QUARTER] = TM_PIPE_QUARTER, [ISA_PIPE_TRANS] = TM_PIPE_TRANS,
        [ISA_PIPE_DOUBLE] = TM_PIPE_DOUBLE,   [ISA_PIPE_WMMA] = TM_PIPE_WMMA,
        [ISA_PIPE_WMMA4] = TM_PIPE_WMMA4,     [ISA_PIPE_VNONE] = TM_PIPE_NONE,
    };
    return pipes[facts->pipe];
}

static void add(struct tm_run *runs, uint8_t *n, unsigned max, unsigned first,
                unsigned dwords)
{
    if (*n < max)
        runs[(*n)++] = (struct tm_run){(uint16_t)first, (uint8_t)dwords};
}

static void add_sgpr(struct tm_inst *out, unsigned sel, unsigned dwords, unsigned flags)
{
    if (sel == ISA_SEL_SCC)
        sel = TM_SCC;
    if (sel >= TM_SGPRS || sel == ISA_SEL_NULL)
        return;
    bool vcc = sel == ISA_SEL_VCC_LO || sel == ISA_SEL_VCC_HI;
    if (flags & ISA_OF_OUT && !vcc && sel < ISA_SEL_EXEC_LO)
        out->writes_sgpr = true;
    if (flags & ISA_OF_IN)
        add(out->ssrc, &out->n_ssrc, 8, sel, dwords);
    if (flags & ISA_OF_OUT)
        add(out->sdst, &out->n_sdst, 4, sel, dwords);
    if (sel == TM_SCC)
        return;
    if (flags & ISA_OF_IN && !(flags & ISA_OF_IMPLICIT && sel == ISA_SEL_EXEC_LO)) {
        out->sgpr_operands++;
        out->reads_sgpr = true;
    }
    if (flags & ISA_OF_OUT && sel >= ISA_SEL_EXEC_LO)
        out->writes_exec = true;
    else if (flags & ISA_OF_OUT)
        out->writes_sdst = true;
}

/* What a VALU instruction leaves of the register that it writes stays where it is: it
 * is neither read nor waited for (A1: v_fma_mixhi, v_fma_mixlo one after the other). Of
 * these the tables say that they read it; of others that write 16 bits (op_sel, .h)
 * that they write alone. */
static bool keeps_rest(unsigned op)
{
    return op == ISA_V_FMA_MIXLO_F16 || op == ISA_V_FMA_MIXHI_F16 ||
           op == ISA_V_WRITELANE_B32;
}

static void add_registers(const struct emu_inst *inst, struct tm_inst *out)
{
    bool keeps = keeps_rest(inst->isa.op);
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct emu_reg *r = &inst->reg[i];
        if (!emu_reg_is_vgpr(r)) {
            add_sgpr(out, r->sel, r->dwords, r->flags);
            continue;
        }
        unsigned first = r->sel - ISA_SEL_VGPR0;
        if (r->flags & ISA_OF_IN && !(keeps && r->flags & ISA_OF_OUT)) {
            add(out->vsrc, &out->n_vsrc, 8, first, r->dwords);
            out->vgpr_fields++;
            out->send_regs = (uint8_t)(out->send_regs + r->dwords);
            out->bank_reads[first % 2]++;
        }
        if (r->flags & ISA_OF_OUT) {
            add(out->vdst, &out->n_vdst, 4, first, r->dwords);
            if (out->dst_dwords < r->dwords)
                out->dst_dwords = r->dwords;
        }
    }
}

/* SOP1, SOP2, SOPC fields of an opcode that does not exist. */
static void describe_illegal(struct tm_inst *out)
{
    uint32_t word;
    memcpy(&word, out->inst->host, sizeof word);
    if (word >> 30 != 2) {
        out->cls = TM_VALU;
        out->exec_matters = true;
        out->pipe = out->bytes == 4 ? TM_PIPE_HALF : TM_PIPE_PLAIN; /* v_swap_b16 */
        return;
    }
    unsigned top = word >> 23;
    out->cls = TM_SALU;
    unsigned src0 = word & 255u, src1 = word >> 8 & 255u, dst = word >> 16 & 127u;
    bool sop1 = top == 0x17d, sopc = top == 0x17e;
    if (src0 < 128)
        add_sgpr(out, src0, 1, ISA_OF_IN);
    if (!sop1 && src1 < 128)
        add_sgpr(out, src1, 1, ISA_OF_IN);
    if (sopc)
        add_sgpr(out, ISA_SEL_SCC, 1, ISA_OF_OUT);
    else
        add_sgpr(out, dst, 1, ISA_OF_OUT);
}

/* Does the second ALU of a SIMD, that of pairs, have it, too? */
static bool is_dual(unsigned op)
{
    switch (op) {
    case ISA_V_ADD_F32:
    case ISA_V_SUB_F32:
    case ISA_V_SUBREV_F32:
    case ISA_V_MUL_F32:
    case ISA_V_MUL_DX9_ZERO_F32:
    case ISA_V_FMA_F32:
    case ISA_V_FMAC_F32:
    case ISA_V_FMAAK_F32:
    case ISA_V_FMAMK_F32:
    case ISA_V_MAX_F32:
    case ISA_V_MIN_F32:
    case ISA_V_MOV_B32:
    case ISA_V_CNDMASK_B32:
    case ISA_V_DOT2ACC_F32_F16:
        return true;
    default:
        return false;
    }
}

static int immediate(const struct isa_inst *isa)
{
    for (unsigned i = 0; i < isa->n_opnds; i++)
        if (isa->opnd[i].kind == ISA_OPND_IMM)
            return isa->opnd[i].imm;
    return 0;
}

/* A limit of six bits; as many as a counter counts is none. */
static uint8_t limit_of(unsigned field)
{
    return (field & 63u) == 63u ? TM_NO_WAIT : (uint8_t)(field & 63u);
}

static void describe_wait(const struct isa_inst *isa, struct tm_inst *out)
{
    unsigned imm = (unsigned)immediate(isa) & 0xffffu;
    switch (isa->op) {
    case ISA_S_WAITCNT:
        out->special = TM_WAITCNT;
        out->wait[0] = limit_of(imm >> 10);
        out->wait[2] = limit_of(imm >> 4);
        out->wait[3] = (uint8_t)(imm & 7u);
        return;
    case ISA_S_WAITCNT_VMCNT:
        out->wait[0] = limit_of(imm);
        break;
    case ISA_S_WAITCNT_VSCNT:
        out->wait[1] = limit_of(imm);
        break;
    case ISA_S_WAITCNT_LGKMCNT:
        out->wait[2] = limit_of(imm);
        break;
    case ISA_S_WAITCNT_EXPCNT:
        out->wait[3] = (uint8_t)(imm & 7u);
        break;
    default:
        return;
    }
    out->cls = TM_SALU;
    out->special = TM_WAIT_SALU;
}

static void describe_sopp(const struct emu_inst *inst, struct tm_inst *out)
{
    unsigned imm = (unsigned)immediate(&inst->isa) & 0xffffu;
    out->cls = TM_IMM;
    switch (inst->kind) {
    case EMU_KIND_BRANCH:
        out->cls = TM_BRANCH;
        out->target = out->offset + 4 + 4u * (uint32_t)(int16_t)imm;
        break;
    case EMU_KIND_BARRIER:
        out->special = TM_BARRIER;
        break;
    case EMU_KIND_SLEEP:
        out->special = TM_SLEEP;
        out->sleep_units = (uint16_t)(imm & 127u);
        break;
    case EMU_KIND_WAIT:
        describe_wait(&inst->isa, out);
        if (inst->isa.op == ISA_S_WAITCNT_DEPCTR) {
            out->special = TM_DEPCTR;
            out->delay = (uint16_t)imm;
        }
        break;
    case EMU_KIND_MESSAGE:
        out->special = TM_MESSAGE;
        break;
    case EMU_KIND_END:
        out->special = TM_END;
        break;
    default:
        if (inst->isa.op == ISA_S_DELAY_ALU) {
            out->special = TM_DELAY;
            out->delay = (uint16_t)imm;
        } else if (inst->isa.op == ISA_S_NOP) {
            out->special = TM_NOP;
            out->delay = (uint16_t)(imm & 15u);
        } else if (inst->isa.op == ISA_S_CLAUSE) {
            out->special = TM_CLAUSE;
            out->clause = (uint8_t)((imm & 63u) + 1);
        } else if (inst->isa.op == ISA_S_SETPRIO) {
            out->special = TM_PRIORITY;
            out->priority = (uint8_t)(imm & 3u);
        } else if (inst->isa.op == ISA_S_SET_INST_PREFETCH_DISTANCE && (imm & 3u)) {
            out->special = TM_PREFETCH; /* 0 is reserved */
            out->ahead = (uint16_t)((imm & 3u) * TM_CODE_PIECE);
        }
    }
}

static void describe_salu(const struct emu_inst *inst, const struct isa_facts *facts,
                          struct tm_inst *out)
{
    out->cls = TM_SALU;
    out->mul = facts->pipe == ISA_PIPE_SMUL;
    if (inst->kind == EMU_KIND_WAIT)
        describe_wait(&inst->isa, out);
    else if (inst->kind == EMU_KIND_BRANCH)
        out->special = TM_CALL;
    else if (inst->kind == EMU_KIND_HINT)
        out->cls = TM_IMM; /* s_version */
    else if (inst->isa.op == ISA_S_GETREG_B32)
        out->special = TM_GETREG;
    else if (inst->isa.op == ISA_S_SETREG_B32)
        out->special = TM_SETREG;
    else if (inst->isa.op == ISA_S_SETREG_IMM32_B32)
        out->special = TM_SETREG_IMM;
}

static void describe_memory(const struct emu_inst *inst, const struct isa_facts *facts,
                            struct tm_inst *out)
{
    const struct isa_inst *isa = &inst->isa;
    out->returns = out->n_vdst > 0;
    out->mem_ops = facts->stride ? 2 : 1;
    if (isa->enc == ISA_ENC_SMEM) {
        out->cls = TM_SMEM;
        for (unsigned i = 0; i < out->n_sdst; i++)
            if (out->dst_dwords < out->sdst[i].n)
                out->dst_dwords = out->sdst[i].n;
        return;
    }
    if (isa->enc == ISA_ENC_DS || isa->enc == ISA_ENC_LDSDIR) {
        out->cls = TM_LDS;
        out->stores_lds = facts->access != ISA_ACCESS_LOAD;
        out->lds_vgpr = (uint8_t)(out->n_vsrc ? out->vsrc[0].first : 0);
        out->lds_float = facts->pipe == ISA_PIPE_LDS_FADD;
        if (facts->pipe == ISA_PIPE_LDS && facts->access == ISA_ACCESS_LOAD)
            out->send_regs = 1; /* the old value of a half register stays where it is */
        out->lds_more = facts->pipe == ISA_PIPE_BVH_STACK ? 6 : 0;
        out->permute = facts->pipe == ISA_PIPE_PERMUTE;
        return;
    }
    out->cls = TM_VMEM;
    out->stores_lds = isa->enc == ISA_ENC_FLAT;
    out->store = !out->returns;
    out->load = out->returns;
    out->addr64 = out->n_vsrc && out->vsrc[0].n == 2 && isa->enc != ISA_ENC_MIMG;
    out->device = out->returns && isa->flags & ISA_M_GLC; /* manual 4.1.1 */
    out->drops_l0 = isa->op == ISA_BUFFER_GL0_INV;
    out->drops_gl1 = isa->op == ISA_BUFFER_GL1_INV;
}

/* What waves of one shader engine do must not be seen by those of another at a time
 * that is left to chance. */
static void describe_sharing(const struct isa_facts *facts, struct tm_inst *out)
{
    const struct isa_inst *isa = &out->inst->isa;
    bool memory = out->cls == TM_VMEM || out->cls == TM_LDS;
    bool global = out->cls == TM_VMEM || isa->flags & ISA_M_GDS;
    bool both =
        facts->access == ISA_ACCESS_ATOMIC || facts->access == ISA_ACCESS_UPDATE;
    out->talks =
        memory && global && (both || isa->flags & (ISA_M_GLC | ISA_M_DLC | ISA_M_GDS));
    out->alone = out->talks || out->cls == TM_SMEM || out->special == TM_END ||
                 out->special == TM_MESSAGE || out->special == TM_CALL ||
                 out->cls == TM_EXPORT || out->offset >= TM_OTHER_CODE ||
                 facts->flow & ISA_FLOW_TRAP ||
                 (facts->flow & (ISA_FLOW_BRANCH | ISA_FLOW_STOP) &&
                  out->cls != TM_BRANCH && out->special != TM_BARRIER);
}

static void describe_again(struct tm_inst *out)
{
    for (unsigned c = 0; c < sizeof out->wait; c++)
        if (out->wait[c] != TM_NO_WAIT)
            out->waits |= (uint8_t)(1u << c);
    out->looks = out->waits & 3u || out->cls == TM_VMEM || out->cls == TM_BRANCH ||
                 out->special == TM_DELAY;
    if (out->cls == TM_IMM)
        out->again = out->special == TM_WAITCNT   ? TM_AGAIN_COUNTERS
                     : out->special == TM_BARRIER ? TM_AGAIN_PORT
                     : out->special == TM_NOP || out->special == TM_DEPCTR
                         ? TM_AGAIN_ANY
                         : TM_AGAIN_NOTHING;
    else if (out->special == TM_WAIT_SALU)
        out->again = TM_AGAIN_ANY;
    else if (out->cls == TM_VALU)
        out->again = TM_AGAIN_VALU;
    else if (out->cls == TM_VMEM || out->cls == TM_LDS || out->cls == TM_EXPORT)
        out->again = TM_AGAIN_MEMORY;
    else
        out->again = TM_AGAIN_PORT;
}

static uint8_t one_by_one(const struct tm_run *run, unsigned n, uint8_t *out,
                          unsigned room)
{
    unsigned at = 0;
    for (unsigned r = 0; r < n; r++)
        for (unsigned k = 0; k < run[r].n && at < room; k++)
            out[at++] = (uint8_t)(run[r].first + k);
    return (uint8_t)at;
}

/* Those that are kept: what lies behind them is no SGPR. */
static uint8_t sgprs_of(const struct tm_run *run, unsigned n, uint8_t *out,
                        unsigned room)
{
    unsigned at = 0;
    for (unsigned r = 0; r < n; r++)
        for (unsigned k = 0; k < run[r].n && run[r].first + k < TM_SGPRS && at < room;
             k++)
            out[at++] = (uint8_t)(run[r].first + k);
    return (uint8_t)at;
}

void tm_inst_describe(const struct emu_inst *inst, uint32_t offset, bool wave64,
                      struct tm_inst *out)
{
    const struct isa_facts *facts = isa_facts(inst->isa.op);
    memset(out, 0, sizeof *out);
    memset(out->wait, (int)TM_NO_WAIT, sizeof out->wait);
    out->near_line = TM_NO_LINE;
    out->near_first = TM_KEPT_LINES;
    out->near_lines = 1;
    out->inst = inst;
    out->wave64 = wave64;
    out->offset = offset;
    out->bytes = inst->bytes;
    if (inst->kind == EMU_KIND_ILLEGAL) {
        describe_illegal(out);
        out->alone = true;
        describe_again(out);
        return;
    }
    add_registers(inst, out);
    switch (inst->isa.enc) {
    case ISA_ENC_SOPP:
        describe_sopp(inst, out);
        break;
    case ISA_ENC_SOP1:
    case ISA_ENC_SOP2:
    case ISA_ENC_SOPC:
    case ISA_ENC_SOPK:
        describe_salu(inst, facts, out);
        break;
    case ISA_ENC_EXP:
        out->cls = TM_EXPORT;
        break;
    default:
        if (inst->kind == EMU_KIND_MEMORY) {
            describe_memory(inst, facts, out);
            break;
        }
        out->cls = TM_VALU;
        out->pair = inst->isa.enc == ISA_ENC_VOPD;
        out->pipe = pipe_of(facts);
        out->reads_c = out->vgpr_fields > 2;
        for (unsigned k = 0; k < inst->isa.n_opnds; k++)
            if (inst->isa.opnd[k].kind == ISA_OPND_REG &&
                inst->isa.opnd[k].sel == ISA_SEL_NULL &&
                inst->isa.opnd[k].flags & ISA_OF_OUT)
                out->writes_sgpr = true;
        out->whole64 = wave64 && is_dual(inst->isa.op);
        out->trans64 = inst->isa.op == ISA_V_RCP_F64 || inst->isa.op == ISA_V_RSQ_F64 ||
                       inst->isa.op == ISA_V_SQRT_F64;
        out->flops = facts->flops;
        if (inst->isa.op_y)
            out->flops = (uint16_t)(out->flops + isa_facts(inst->isa.op_y)->flops);
        if (wave64 && inst->isa.op == ISA_V_PERMLANE64_B32)
            out->pipe = TM_PIPE_PLAIN;
        out->exec_matters = !out->writes_sdst && (facts->state & ISA_STATE_MASKED);
    }
    describe_sharing(facts, out);
    describe_again(out);
}

static void bound(struct tm_run *run, unsigned n, unsigned vgprs)
{
    for (unsigned k = 0; k < n; k++)
        if (run[k].first + run[k].n > vgprs)
            run[k].n = (uint8_t)(run[k].first < vgprs ? vgprs - run[k].first : 0);
}

void tm_inst_bound(struct tm_inst *i, unsigned vgprs)
{
    bound(i->vsrc, i->n_vsrc, vgprs);
    unsigned sent = 0; /* what stays where it is, such as half a result, is not */
    for (unsigned r = 0; r < i->n_vsrc; r++)
        for (unsigned k = 0; k < i->vsrc[r].n && sent < i->send_regs; k++, sent++)
            i->sends[(i->vsrc[r].first + k) % 2]++;
    bound(i->vdst, i->n_vdst, vgprs);
    i->n_src = one_by_one(i->vsrc, i->n_vsrc, i->src, TM_SOURCES);
    for (unsigned k = i->n_src; k % 4; k++)
        i->src[k] = i->src[0];
    i->n_dst = one_by_one(i->vdst, i->n_vdst, i->dst, TM_RESULTS);
    i->n_sread = sgprs_of(i->ssrc, i->n_ssrc, i->sread, TM_SREADS);
    i->n_swrite = sgprs_of(i->sdst, i->n_sdst, i->swrite, TM_SWRITES);
    for (unsigned r = 0; r < i->n_vdst; r++)
        for (unsigned k = 0; k < i->vdst[r].n; k++)
            i->writes |= UINT64_C(1) << (i->vdst[r].first + k) % 64;
}

void tm_inst_sort(struct tm_inst *i, unsigned lanes)
{
    bool scalars = i->n_ssrc || i->n_sdst || i->writes_sdst || i->writes_sgpr ||
                   i->writes_exec || i->reads_sgpr;
    if (i->cls == TM_VALU && i->pipe == TM_PIPE_PLAIN && i->issue_cycles == 1 &&
        i->pipe_cycles == 1 && i->postponed && !i->special && !scalars && lanes == 32)
        i->sort = TM_SORT_PLAIN;
    else if (i->cls == TM_VALU && i->pipe != TM_PIPE_NONE && i->postponed &&
             !i->special && lanes == 32)
        i->sort = TM_SORT_VALU;
    else if (i->cls == TM_LDS)
        i->sort = TM_SORT_LDS;
    else if (i->cls == TM_IMM && i->special == TM_WAITCNT && i->postponed)
        i->sort = TM_SORT_WAIT;
    else if (i->cls == TM_SALU && i->postponed && !i->special)
        i->sort = TM_SORT_SALU;
    else if (i->cls == TM_VMEM && !i->special)
        i->sort = TM_SORT_VMEM;
}
