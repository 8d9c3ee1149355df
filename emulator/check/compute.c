/* compute.c: init: instructions that work on registers, lane by lane.
 *
 * Most find nothing undefined and write what is defined: that is looked at first. The
 * rest gathers each lane's operands with their undefined bits, asks the rule of the
 * opcode, and writes what it says behind all lanes. Must not know what is a mistake,
 * but that EXEC and hardware registers are not to be set to something undefined.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "init.h"

enum { HALF_LOW = 1, HALF_HIGH = 2, BOTH = 3 };

/* An operand; sel 0 with vector false may be a constant, whose bits are then fixed. */
struct source {
    const struct isa_opnd *o; /* NULL: there is none */
    struct bits fixed;        /* of a scalar or a constant: of all lanes */
    uint64_t mask;            /* M64: undefined bits; fixed.v has the values */
    uint16_t from;            /* of a scalar's; of a VGPR's that nobody has written */
    bool vector, is_mask, rest;
    uint8_t half;
};

struct operands {
    struct source s[RULE_SOURCES], c, old;
    unsigned n;
    const struct isa_opnd *d, *flag; /* NULL: none */
    bool scalar;  /* of the scalar ALU: one lane, whatever EXEC says */
    bool inexact; /* a constant of unknown value, a modifier: the rule is not so */
};

/* ---- operands ---- */

static const uint32_t floats[] = {0x3f000000, 0xbf000000, 0x3f800000,
                                  0xbf800000, 0x40000000, 0xc0000000,
                                  0x40800000, 0xc0800000, 0x3e22f983};

struct bits init_constant(const struct isa_opnd *o, unsigned half, bool *inexact)
{
    if (o->sel >= ISA_SEL_INT_0 && o->sel <= ISA_SEL_INT_POS_LAST)
        return bits_of(o->sel - ISA_SEL_INT_0);
    if (o->sel > ISA_SEL_INT_POS_LAST && o->sel <= ISA_SEL_INT_NEG_LAST)
        return bits_of(0 - (uint64_t)(o->sel - ISA_SEL_INT_POS_LAST));
    if (o->sel < ISA_SEL_FLOAT_FIRST || o->sel > ISA_SEL_FLOAT_LAST || o->dwords > 1 ||
        half != BOTH)
        *inexact = true;
    else
        return bits_of(floats[o->sel - ISA_SEL_FLOAT_FIRST]);
    return bits_of(0);
}

/* Undefined bits and value of an SGPR or SCC, which count as one run. */
static void take_scalar(const struct ck *ck, const struct init_wave *r,
                        const struct emu_event *e, unsigned dwords, struct source *s)
{
    unsigned sel = s->o->kind == ISA_OPND_SCC ? ISA_SEL_SCC : s->o->sel;
    if (sel == ISA_SEL_SCC) {
        s->fixed = (struct bits){emu_wave_special(e->wave, sel), r->scc};
        s->from = r->scc ? init_from(ck->init, e, sel, r->scc_from) : 0;
        return;
    }
    for (unsigned i = 0; i < dwords && sel + i < INIT_SGPRS; i++) {
        uint32_t u = r->sgpr[sel + i];
        if (u && !s->from)
            s->from = init_from(ck->init, e, sel + i, r->sgpr_from[sel + i]);
        s->rest |= i > 1 && u;
        if (i > 1)
            continue;
        s->fixed.v |= (uint64_t)emu_wave_special(e->wave, sel + i) << 32 * i;
        s->fixed.u |= (uint64_t)u << 32 * i;
    }
}

static struct bits cut_half(struct bits b, unsigned half)
{
    if (half == BOTH)
        return b;
    unsigned at = half == HALF_HIGH ? 16 : 0;
    return bits_cut((struct bits){b.v >> at, b.u >> at}, 16);
}

/* A mask has a bit per lane; EXEC is as long as what is combined with it. */
static unsigned dwords_of(const struct emu_event *e, const struct isa_opnd *o,
                          bool is_mask)
{
    if (is_mask)
        return e->wave->lanes / 32;
    if (o->sel == ISA_SEL_EXEC_LO && o->flags & ISA_OF_IMPLICIT)
        return e->inst->isa.opnd[0].dwords;
    return o->dwords ? o->dwords : 1;
}

static void take(const struct ck *ck, const struct init_wave *r,
                 const struct emu_event *e, const struct isa_opnd *o, unsigned number,
                 struct operands *all, struct source *s)
{
    *s = (struct source){.o = o, .half = BOTH};
    if (!all->scalar)
        s->half = (uint8_t)ck_operand_half(&e->inst->isa, o, number);
    s->is_mask = !all->scalar && o->fmt == ISA_FMT_M64;
    if (o->kind == ISA_OPND_LITERAL) {
        s->fixed = bits_of(e->inst->isa.literal);
        all->inexact |= o->dwords > 1;
    } else if (o->kind == ISA_OPND_IMM) {
        s->fixed = bits_of((uint32_t)o->imm &
                           (e->inst->isa.opnd[0].fmt == ISA_FMT_U32 ? 0xffffu : ~0u));
    } else if (o->kind == ISA_OPND_REG && o->sel >= ISA_SEL_VGPR0) {
        s->vector = true;
        return;
    } else if (o->kind == ISA_OPND_REG && o->sel == ISA_SEL_NULL) {
        return;
    } else if (o->kind == ISA_OPND_REG && o->sel == ISA_SEL_VCCZ) {
        all->inexact = true;
        s->rest = r->sgpr[ISA_SEL_VCC_LO] || r->sgpr[ISA_SEL_VCC_HI];
        s->from = init_from(ck->init, e, ISA_SEL_VCC_LO, r->sgpr_from[ISA_SEL_VCC_LO]);
    } else if (o->kind == ISA_OPND_SCC ||
               (o->kind == ISA_OPND_REG &&
                (o->sel < INIT_SGPRS || o->sel == ISA_SEL_SCC))) {
        take_scalar(ck, r, e, dwords_of(e, o, s->is_mask), s);
    } else if (o->kind == ISA_OPND_REG) {
        s->fixed = init_constant(o, s->half, &all->inexact);
        if (!s->is_mask)
            s->fixed = bits_cut(s->fixed, o->dwords > 1 ? 64 : 32);
    }
    s->mask = s->is_mask ? s->fixed.u : 0;
    if (s->is_mask && o->sel == ISA_SEL_SCC) { /* which lanes it is for is not said */
        s->mask = s->fixed.u ? ~UINT64_C(0) : 0;
        all->inexact = true;
    }
    s->fixed = cut_half(s->fixed, s->half);
}

static bool is_value(const struct isa_opnd *o)
{
    return o->kind == ISA_OPND_REG || o->kind == ISA_OPND_LITERAL ||
           o->kind == ISA_OPND_IMM || o->kind == ISA_OPND_SCC;
}

/* Where an operand that is read belongs. */
static struct source *place_in(struct operands *all, const struct isa_opnd *o,
                               unsigned rule)
{
    bool mask = !all->scalar && o->fmt == ISA_FMT_M64;
    bool exec = all->scalar && o->sel == ISA_SEL_EXEC_LO && o->flags & ISA_OF_IMPLICIT;
    if (o->flags & ISA_OF_OUT || (exec && rule_of_exec(rule)))
        return &all->old;
    if (o->kind == ISA_OPND_SCC || mask)
        return &all->c;
    if (o->flags & ISA_OF_IMPLICIT || all->n == RULE_SOURCES)
        return NULL;
    return &all->s[all->n++];
}

static void place_out(struct operands *all, const struct isa_opnd *o)
{
    bool flag = o->kind == ISA_OPND_SCC || (!all->scalar && o->fmt == ISA_FMT_M64);
    const struct isa_opnd **to = flag ? &all->flag : &all->d;
    if (!*to && (flag || !(o->flags & ISA_OF_IMPLICIT)))
        *to = o;
}

/* The operands of the instruction, or of the Y half of a VOPD. */
static void take_all(const struct ck *ck, const struct init_wave *r,
                     const struct emu_event *e, bool y, unsigned rule,
                     struct operands *all)
{
    const struct isa_inst *inst = &e->inst->isa;
    unsigned number = 0;
    memset(all, 0, sizeof *all);
    all->scalar = inst->enc <= ISA_ENC_SOPP;
    all->inexact = inst->flags & ISA_M_CLAMP || inst->abs || inst->neg || inst->neg_hi;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        unsigned source = number;
        if (!(o->flags & ISA_OF_Y) == y || !is_value(o))
            continue;
        number += o->flags & ISA_OF_IN && !(o->flags & ISA_OF_OUT);
        if (o->flags & ISA_OF_OUT)
            place_out(all, o);
        struct source *to = o->flags & ISA_OF_IN ? place_in(all, o, rule) : NULL;
        if (to)
            take(ck, r, e, o, source, all, to);
    }
}

/* A lane's bits of a source. */
static struct bits of_lane(const struct init_wave *r, const struct emu_event *e,
                           const struct source *s, unsigned lane, bool *rest)
{
    struct bits b = s->fixed;
    *rest |= s->rest;
    if (s->is_mask && s->o)
        return (struct bits){s->fixed.v >> lane & 1, s->mask >> lane & 1};
    if (!s->vector || !s->o)
        return b;
    unsigned reg = s->o->sel - ISA_SEL_VGPR0;
    for (unsigned i = 0; i < s->o->dwords; i++) {
        uint32_t u = init_vgpr(r, reg + i, lane).u;
        *rest |= i > 1 && u;
        if (i > 1)
            continue;
        b.u |= (uint64_t)u << 32 * i;
        b.v |= (uint64_t)emu_wave_vgpr(e->wave, reg + i, lane) << 32 * i;
    }
    return cut_half(b, s->half);
}

/* Whence a lane's undefined bits of a source come; 0: it has none. */
static uint16_t whence(const struct ck *ck, const struct init_wave *r,
                       const struct emu_event *e, struct source *s, unsigned lane)
{
    if (!s->o)
        return 0;
    if (s->is_mask)
        return s->mask >> lane & 1 ? s->from : 0;
    if (!s->vector || !s->o)
        return s->fixed.u || s->rest ? s->from : 0;
    for (unsigned i = 0; i < s->o->dwords; i++) {
        struct init_bits b = init_vgpr(r, s->o->sel - ISA_SEL_VGPR0 + i, lane);
        if (!b.u || (b.from == 0 && s->from))
            continue;
        if (b.from)
            return b.from;
        s->from = init_from(ck->init, e, s->o->sel + i, 0);
        return s->from;
    }
    return s->from;
}

/* ---- results ---- */

struct results {
    uint64_t lanes; /* that are written */
    uint64_t flags; /* undefined ones */
    uint16_t flag_from;
    uint64_t u[INIT_LANES];
    bool rest[INIT_LANES];
    uint16_t from[INIT_LANES];
};

static bool is_packed(const struct isa_inst *inst, unsigned rule)
{
    return inst->enc == ISA_ENC_VOP3P && rule != RULE_WMMA && inst->n_opnds &&
           (inst->opnd[0].fmt == ISA_FMT_PK2_F16 ||
            inst->opnd[0].fmt == ISA_FMT_PK2_I16 ||
            inst->opnd[0].fmt == ISA_FMT_PK2_U16);
}

/* Packed numbers: each half by itself, of the halves that op_sel names. */
static void apply_packed(const struct isa_inst *inst, struct rule_entry rule,
                         const struct rule_in *in, struct rule_out *out)
{
    *out = (struct rule_out){{0, 0}, {0, 0}};
    for (unsigned h = 0; h < 2; h++) {
        struct rule_in half = *in;
        struct rule_out r;
        unsigned select = h ? inst->op_sel_hi : inst->op_sel;
        for (unsigned i = 0; i < in->n; i++)
            half.s[i] = cut_half(in->s[i], select >> i & 1 ? HALF_HIGH : HALF_LOW);
        rule_apply(rule.rule, 16, &half, &r);
        out->d.u |= (r.d.u & 0xffffu) << 16 * h;
    }
}

static void lane_result(struct ck *ck, const struct init_wave *r,
                        const struct emu_event *e, struct rule_entry rule,
                        struct operands *all, unsigned lane, int from0,
                        struct results *to)
{
    struct rule_in in = {.n = all->n, .lane = lane};
    struct rule_out out;
    unsigned lane0 = from0 >= 0 ? (unsigned)from0 : lane;
    for (unsigned i = 0; i < all->n; i++)
        if (i || from0 >= 0)
            in.s[i] = of_lane(r, e, &all->s[i], i ? lane : lane0, &in.rest);
    in.c = of_lane(r, e, &all->c, lane, &in.rest);
    in.old = of_lane(r, e, &all->old, lane, &in.rest);
    if (is_packed(&e->inst->isa, rule.rule))
        apply_packed(&e->inst->isa, rule, &in, &out);
    else
        rule_apply(rule.rule, rule.bits, &in, &out);
    to->lanes |= UINT64_C(1) << lane;
    to->u[lane] = out.d.u;
    to->rest[lane] = in.rest;
    to->from[lane] = 0;
    if (!out.d.u && !out.flag.u)
        return;
    uint16_t from = 0;
    for (unsigned i = 0; i < all->n && !from; i++)
        if (i || from0 >= 0)
            from = whence(ck, r, e, &all->s[i], i ? lane : lane0);
    from = from ? from : whence(ck, r, e, &all->c, lane);
    to->from[lane] = from ? from : whence(ck, r, e, &all->old, lane);
    to->flags |= (uint64_t)(out.flag.u & 1) << lane;
    to->flag_from = out.flag.u && !to->flag_from ? to->from[lane] : to->flag_from;
}

static void find_results(struct ck *ck, const struct init_wave *r,
                         const struct emu_event *e, struct rule_entry rule,
                         struct operands *all, struct results *to)
{
    const struct isa_inst *inst = &e->inst->isa;
    bool dpp = inst->variant == ISA_VAR_DPP16 || inst->variant == ISA_VAR_DPP8;
    if (all->inexact && rule_is_modified(rule.rule))
        rule.rule = RULE_ANY;
    to->lanes = to->flags = 0;
    to->flag_from = 0;
    for (uint64_t m = all->scalar ? 1 : e->exec; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(m);
        int from0 = dpp ? init_dpp_lane(e, lane) : (int)lane;
        if (from0 != -2)
            lane_result(ck, r, e, rule, all, lane, from0, to);
    }
}

/* A scalar, or a mask of lanes. */
static void write_scalar(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                         unsigned sel, unsigned dwords, uint64_t u, uint16_t from)
{
    bool exec = sel == ISA_SEL_EXEC_LO || sel == ISA_SEL_EXEC_HI;
    uint64_t lanes = e->wave->lanes == 64     ? ~UINT64_C(0)
                     : sel == ISA_SEL_EXEC_LO ? UINT32_MAX
                                              : 0;
    if (exec && u & lanes)
        init_tell(ck, w, e, INIT_EXEC, 0, from);
    if (exec && e->wave->lanes == 32) { /* exec_hi is one as any other */
        w->init->sgpr[ISA_SEL_EXEC_HI] = (uint32_t)(sel == ISA_SEL_EXEC_HI ? u
                                                    : dwords > 1           ? u >> 32
                                                                           : 0);
        init_mark(w->init, ISA_SEL_EXEC_HI);
    }
    for (unsigned i = 0; i < dwords && sel != ISA_SEL_NULL; i++)
        init_set_sgpr(w->init, sel + i,
                      i < 2 ? (uint32_t)(u >> 32 * i)
                      : u   ? ~0u
                            : 0,
                      from);
}

static void write_vector(struct init_wave *r, const struct emu_event *e,
                         const struct isa_opnd *d, const struct results *from)
{
    unsigned half = ck_operand_half(&e->inst->isa, d, 0), reg = d->sel - ISA_SEL_VGPR0;
    uint32_t mask = half == BOTH ? ~0u : half == HALF_HIGH ? 0xffff0000u : 0xffffu;
    for (uint64_t m = from->lanes; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(m);
        uint64_t u = from->u[lane];
        for (unsigned i = 0; i < d->dwords; i++) {
            uint32_t part = i < 2 ? (uint32_t)(u >> 32 * i) : u ? ~0u : 0;
            init_set_vgpr(r, reg + i, lane, half == HALF_HIGH ? part << 16 : part, mask,
                          from->from[lane]);
        }
    }
}

/* S_..._WREXEC: the result is EXEC as it becomes, of the others what it was. */
static bool writes_new_exec(unsigned op)
{
    return op == ISA_S_AND_NOT0_WREXEC_B32 || op == ISA_S_AND_NOT0_WREXEC_B64 ||
           op == ISA_S_AND_NOT1_WREXEC_B32 || op == ISA_S_AND_NOT1_WREXEC_B64;
}

static void write_results(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                          unsigned rule, const struct operands *all,
                          const struct results *from)
{
    unsigned mask_dwords = e->wave->lanes / 32;
    if (rule_of_exec(rule)) {
        write_scalar(ck, w, e, ISA_SEL_EXEC_LO, 2, from->u[0], from->from[0]);
        write_scalar(ck, w, e, all->d->sel, all->d->dwords,
                     writes_new_exec(e->inst->isa.op) ? from->u[0] : all->old.fixed.u,
                     from->from[0]);
    } else if (all->d && all->d->kind == ISA_OPND_REG && all->d->sel >= ISA_SEL_VGPR0) {
        write_vector(w->init, e, all->d, from);
    } else if (all->d && all->d->kind == ISA_OPND_REG) {
        write_scalar(ck, w, e, all->d->sel, all->d->dwords, from->u[0], from->from[0]);
    }
    if (!all->flag)
        return;
    if (all->scalar)
        init_set_sgpr(w->init, ISA_SEL_SCC, from->flags & 1, from->flag_from);
    else
        write_scalar(ck, w, e, all->flag->sel, mask_dwords, from->flags,
                     from->flag_from);
}

static void slow(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    bool dual = inst->op_y != ISA_OP_NONE;
    struct operands all[2] = {0};
    struct results results[2] = {0};
    if (inst->op == ISA_S_SETREG_B32) {
        uint16_t from = 0;
        for (unsigned i = 0; i < e->inst->n_regs; i++)
            if (init_undefined(ck, w->init, e, &e->inst->reg[i], 0, &from)) {
                init_tell(ck, w, e, INIT_MODE, 0, from);
                init_clean(w->init, &e->inst->reg[i], 0);
            }
        return;
    }
    for (unsigned y = 0; y <= dual; y++) {
        struct rule_entry rule = rule_of(y ? inst->op_y : inst->op);
        take_all(ck, w->init, e, y, rule.rule, &all[y]);
        find_results(ck, w->init, e, rule, &all[y], &results[y]);
    }
    for (unsigned y = 0; y <= dual; y++)
        write_results(ck, w, e, rule_of(y ? inst->op_y : inst->op).rule, &all[y],
                      &results[y]);
}

bool init_crosses(const struct emu_inst *inst)
{
    return rule_crosses(rule_of(inst->isa.op).rule) ||
           inst->isa.variant == ISA_VAR_DPP16 || inst->isa.variant == ISA_VAR_DPP8;
}

bool init_is_partial(const struct emu_inst *inst, const struct emu_reg *g)
{
    return init_crosses(inst) || ck_halves(&inst->isa, g, false) != BOTH;
}

void init_compute(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct emu_inst *inst = e->inst;
    struct init_wave *r = w->init;
    struct rule_entry rule = rule_of(inst->isa.op);
    uint64_t lanes = init_crosses(inst) ? ~UINT64_C(0) : e->exec;
    bool clean = true;
    for (unsigned i = 0; i < inst->n_regs && clean; i++) {
        const struct emu_reg *g = &inst->reg[i];
        if (g->flags & ISA_OF_IN)
            clean = init_is_clean(r, g, lanes);
        if (clean && g->flags & ISA_OF_OUT && g->sel >= ISA_SEL_VGPR0)
            clean = init_is_clean(r, g, e->exec) || !init_is_partial(inst, g);
    }
    if (!clean && rule_crosses(rule.rule)) {
        init_cross(ck, w, e, rule);
        return;
    }
    if (!clean) {
        slow(ck, w, e);
        return;
    }
    for (unsigned i = 0; i < inst->n_regs; i++)
        if (inst->reg[i].flags & ISA_OF_OUT)
            init_clean(r, &inst->reg[i], e->exec);
}
