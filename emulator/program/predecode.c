/* predecode.c: from a decoded instruction to its micro-op.
 *
 * Everything that can be known before the instruction runs is settled here: which
 * handler, which rows, which modifiers. Mnemonics do not appear; what differs between
 * instructions comes from operand descriptors and from the argument types of the
 * semantics function.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "predecode.h"

/* ---- scalar and wave instructions ------------------------------------------------ */

static void predecode_scalar(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct isa_opnd *src[4] = {0}, *value, *mask;
    unsigned n = collect_sources(c->inst, 0, src);
    find_outputs(c->inst, 0, &value, &mask);
    if (!value)
        value = mask;
    if (n < e->n_args || e->n_args > 3) {
        c->error = "operand count";
        return;
    }
    u->op.scalar = e->fn.scalar;
    u->n_src = e->n_args;
    for (unsigned i = 0; i < e->n_args; i++)
        set_source(c, &u->s[i], src[i], e->args[i]);
    if (e->ret == SEM_T_BOOL)
        u->flags |= UF_NO_VALUE;
    else if (value && value->kind == ISA_OPND_REG)
        u->d = sgpr_slot(value);
    else
        c->error = "destination";
    if (type_is_64(e->ret) || e->ret == SEM_T_SCC64)
        u->flags |= UF_DST64;
    u->fn = e->handler;
}

/* A WAVE_OP finds its sources as 32- or 64-bit values by their width, its first
 * destination as a VGPR row or SGPR slot in d, the second one in d2. */
static void predecode_wave(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct isa_inst *inst = c->inst;
    unsigned n_src = 0, n_dst = 0;
    u->fn = e->fn.wave;
    u->op_sel = inst->op_sel;
    if (inst->enc == ISA_ENC_EXP) /* goes nowhere */
        return;
    if (inst->enc == ISA_ENC_VOP3)
        u->pk.clamp = !!(inst->flags & ISA_M_CLAMP);
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (o->flags & ISA_OF_IMPLICIT)
            continue;
        if (o->kind == ISA_OPND_IMM)
            u->imm = o->imm;
        if ((o->flags & ISA_OF_OUT) && o->kind == ISA_OPND_REG) {
            uint16_t d = is_vgpr(o) ? (uint16_t)(o->sel - ISA_SEL_VGPR0) : sgpr_slot(o);
            if (is_vgpr(o))
                note_vgprs(c, o);
            if (o->flags & ISA_OF_HI16)
                u->op_sel |= (uint8_t)(1u << n_dst);
            if (n_dst++)
                u->d2 = d;
            else
                u->d = d;
        } else if ((o->flags & ISA_OF_IN) && o->kind != ISA_OPND_IMM && n_src < 3) {
            set_source(c, &u->s[n_src++], o, o->dwords == 2 ? SEM_T_U64 : SEM_T_U32);
        }
    }
    u->n_src = (uint8_t)n_src;
}

/* Code that reads the exception flags, or enables exceptions. */
static void note_exceptions(struct ctx *c)
{
    unsigned op = c->inst->op, id = 0, imm = 0;
    if (op != ISA_S_GETREG_B32 && op != ISA_S_SETREG_B32 &&
        op != ISA_S_SETREG_IMM32_B32)
        return;
    for (unsigned i = 0; i < c->inst->n_opnds; i++)
        if (c->inst->opnd[i].kind == ISA_OPND_IMM)
            imm = (uint16_t)c->inst->opnd[i].imm;
    id = imm & 63;
    if (id == HWREG_TRAPSTS && op == ISA_S_GETREG_B32)
        c->p->looks |= (hwreg_mask(imm) & TRAPSTS_MATH) != 0;
    if (id == HWREG_MODE && op != ISA_S_GETREG_B32)
        c->p->looks |= (hwreg_mask(imm) & MODE_EXCP_EN_MASK) != 0;
}

/* ---- entry ----------------------------------------------------------------------- */

/* Outside of the trap handler TTMPs read as zero and swallow writes (manual 3.3.1.4):
 * NULL in their place, or zeros where an address is looked for. Returns what was
 * hidden: ISA_OF_IN, ISA_OF_OUT. */
static unsigned hide_ttmps(struct isa_inst *inst)
{
    unsigned hidden = 0;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        struct isa_opnd *o = &inst->opnd[i];
        if (o->kind != ISA_OPND_REG || o->sel < ISA_SEL_TTMP0 || o->sel >= ISA_SEL_NULL)
            continue;
        hidden |= o->flags & (ISA_OF_IN | ISA_OF_OUT);
        bool base = o->field == ISA_FIELD_SBASE || o->field == ISA_FIELD_SADDR ||
                    o->field == ISA_FIELD_SRSRC || o->field == ISA_FIELD_SSAMP;
        o->sel = base ? SGPR_ZERO : ISA_SEL_NULL;
    }
    return hidden;
}

static const struct uop *x_skip(struct wave *w, const struct uop *u)
{
    (void)w;
    return uop_next(u);
}

/* Does it read the clock? Then the count of instructions must be exact. */
static bool reads_clock(const struct isa_inst *inst)
{
    unsigned imm = 0;
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].kind == ISA_OPND_IMM)
            imm = (uint16_t)inst->opnd[i].imm;
    if (inst->op == ISA_S_GETREG_B32)
        return (imm & 63u) == HWREG_SHADER_CYCLES;
    return (inst->op == ISA_S_SENDMSG_RTN_B32 || inst->op == ISA_S_SENDMSG_RTN_B64) &&
           (imm & 0xffu) == RTN_GET_REALTIME;
}

/* Where blocks end. Float instructions of programs that raise exceptions may enter the
 * trap handler; a new MODE is for code that was made for it. */
static void set_block_flags(struct ctx *c, struct uop *u)
{
    const struct isa_facts *f = isa_facts(c->inst->op);
    bool traps = u->excp || (u->flags & UF_PAIR && u[1].excp);
    if (f->flow & (ISA_FLOW_BRANCH | ISA_FLOW_TRAP | ISA_FLOW_STOP | ISA_FLOW_END) ||
        f->state & ISA_STATE_MODE_OUT || traps)
        u->flags |= UF_ENDS;
    if (f->flow & ISA_FLOW_FAULT)
        u->flags |= UF_MAY_FAULT;
    if (reads_clock(c->inst))
        u->flags |= UF_ENDS | UF_ALONE;
    c->p->sleeps |= c->inst->op == ISA_S_SLEEP;
}

void predecode(const struct program_env *env, struct program *p,
               const struct isa_inst *inst, struct uop *u)
{
    struct ctx c = {.env = env, .p = p, .inst = inst};
    const struct sem_entry *e = env->sem[inst->op];
    struct isa_inst visible = *inst;
    unsigned hidden = p->privileged ? 0 : hide_ttmps(&visible);
    if (hidden)
        c.inst = &visible;
    *u = (struct uop){.isa_op = inst->op,
                      .dwords = inst->bytes / 4,
                      .flags = UF_MAY_FAULT,
                      .fn = env->handlers->unsupported};
    if (!e)
        return;
    u->flags = 0;
    switch (e->kind) {
    case SEM_LANE:
        predecode_lane(&c, u, e);
        break;
    case SEM_MATRIX:
        predecode_matrix(&c, u, e);
        break;
    case SEM_SCALAR:
        predecode_scalar(&c, u, e);
        if (hidden & ISA_OF_OUT) /* not even SCC is written */
            u->fn = x_skip;
        break;
    case SEM_WAVE:
        if (!predecode_wave_memory(&c, u, e))
            predecode_wave(&c, u, e);
        break;
    default:
        predecode_memory(&c, u, e);
        break;
    }
    note_exceptions(&c);
    set_block_flags(&c, u);
    if (c.beyond || c.error)
        u->flags |= UF_MAY_FAULT;
    if (c.beyond)
        u->fn = env->handlers->beyond;
    if (c.error)
        u->fn = c.illegal ? env->handlers->illegal : env->handlers->unsupported;
}
