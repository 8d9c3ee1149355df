/* value.c: floats that go wrong where they do: NaNs and infinities from operands that
 * are none, division by zero, f16 overflow, denormals taken as zero.
 *
 * An operand's class is looked at, never what an instruction should give. With DPP and
 * matrix products a result's lane has operands of other lanes: there those of all lanes
 * count. SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "facts.h"
#include "internal.h"

enum number { ORDINARY, ZERO, DENORMAL, INFINITE, NOT_A_NUMBER };
#define HAS(number) (1u << (unsigned)(number))

/* A float format: where its fields are. bits 0: no float. */
struct format {
    uint8_t bits, mantissa, pair; /* pair: two in a dword */
};

static struct format format_of(unsigned fmt)
{
    switch (fmt) {
    case ISA_FMT_F16:
        return (struct format){16, 10, 0};
    case ISA_FMT_BF16:
        return (struct format){16, 7, 0};
    case ISA_FMT_PK2_F16:
    case ISA_FMT_WMMA_F16:
        return (struct format){16, 10, 1};
    case ISA_FMT_PK2_BF16:
    case ISA_FMT_WMMA_BF16:
        return (struct format){16, 7, 1};
    case ISA_FMT_F32:
    case ISA_FMT_WMMA_F32:
        return (struct format){32, 23, 0};
    case ISA_FMT_F64:
        return (struct format){64, 52, 0};
    default:
        return (struct format){0};
    }
}

/* The exponent field of infinities and NaNs. */
static unsigned most_of(struct format f)
{
    return f.bits == 16 && f.mantissa == 10 ? 0x1f : f.bits == 64 ? 0x7ff : 0xff;
}

static enum number number_of(struct format f, uint64_t v)
{
    uint64_t mantissa = v & ((UINT64_C(1) << f.mantissa) - 1);
    unsigned most = most_of(f), field = (unsigned)(v >> f.mantissa) & most;
    if (field == most)
        return mantissa ? NOT_A_NUMBER : INFINITE;
    if (field)
        return ORDINARY;
    return mantissa ? DENORMAL : ZERO;
}

static double value_of(struct format f, uint64_t v)
{
    double m = (double)(v & ((UINT64_C(1) << f.mantissa) - 1));
    int most = (int)most_of(f), field = (int)(v >> f.mantissa) & most;
    bool negative = f.bits && v >> (f.bits - 1u) & 1;
    switch (number_of(f, v)) {
    case NOT_A_NUMBER:
        return NAN;
    case INFINITE:
        return negative ? -INFINITY : INFINITY;
    default:
        m = ldexp(field ? m + ldexp(1, f.mantissa) : m,
                  (field ? field : 1) - most / 2 - f.mantissa);
        return negative ? -m : m;
    }
}

/* ---- operands ---- */

/* One float operand of the instruction at hand: of its Y half, if it is a VOPD's. */
struct operand {
    struct format format;
    const uint32_t *rows; /* NULL: the same in all lanes, constant */
    uint64_t constant;
    unsigned lanes;  /* values of a row; 1: the same in all */
    unsigned dwords; /* rows */
    unsigned half;   /* of 16 bits: ck_operand_half */
};

#define OPERANDS 8u

struct operands {
    struct operand in[OPERANDS], out;
    unsigned n, op;
};

/* The event's values of an operand's register. */
static const uint32_t *values_of(const struct emu_event *e, const struct isa_opnd *o,
                                 unsigned wanted)
{
    const uint32_t *v = wanted == ISA_OF_IN ? e->in : e->out;
    for (unsigned i = 0; i < e->inst->n_regs && v; i++) {
        const struct emu_reg *r = &e->inst->reg[i];
        if (!(r->flags & wanted))
            continue;
        if (r->sel == o->sel && r->dwords >= o->dwords)
            return v;
        v += emu_reg_values(r, e->wave->lanes);
    }
    return NULL;
}

static bool take(const struct emu_event *e, const struct isa_opnd *o, unsigned wanted,
                 unsigned number, struct operand *to)
{
    const struct isa_inst *inst = &e->inst->isa;
    *to = (struct operand){.format = format_of(o->fmt), .lanes = 1, .dwords = 1};
    if (!to->format.bits)
        return false;
    if (o->kind == ISA_OPND_LITERAL) {
        to->constant =
            to->format.bits == 64 ? (uint64_t)inst->literal << 32 : inst->literal;
        to->half = 1;
        return true;
    }
    if (o->kind == ISA_OPND_REG && o->sel == ISA_SEL_INT_0)
        return true;
    if (o->kind != ISA_OPND_REG || !o->dwords)
        return false; /* other inline constants are ordinary */
    to->rows = values_of(e, o, wanted);
    to->lanes = o->sel >= ISA_SEL_VGPR0 ? e->wave->lanes : 1;
    to->dwords = o->dwords;
    to->half = to->format.pair ? 3 : ck_operand_half(inst, o, number);
    return to->rows != NULL;
}

static void take_all(const struct emu_event *e, bool y, struct operands *all)
{
    const struct isa_inst *inst = &e->inst->isa;
    unsigned number = 0;
    memset(all, 0, sizeof *all);
    all->op = y ? inst->op_y : inst->op;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        unsigned source = number;
        if (!(o->flags & ISA_OF_Y) == y)
            continue;
        number += o->flags & ISA_OF_IN && !(o->flags & ISA_OF_OUT);
        if (o->flags & ISA_OF_OUT && !(o->flags & ISA_OF_IMPLICIT) &&
            !all->out.format.bits && !take(e, o, ISA_OF_OUT, source, &all->out))
            all->out.format.bits = 0;
        if (o->flags & ISA_OF_IN && all->n < OPERANDS &&
            take(e, o, ISA_OF_IN, source, &all->in[all->n]))
            all->n++;
    }
}

/* Element k of an operand in a lane: a dword, or a half of one. */
static uint64_t element(const struct operand *o, unsigned lane, unsigned k)
{
    unsigned at = o->lanes == 1 ? 0 : lane;
    if (!o->rows)
        return o->constant;
    if (o->format.bits == 64)
        return o->rows[at] | (uint64_t)o->rows[o->lanes + at] << 32;
    if (o->format.bits == 32)
        return o->rows[k * o->lanes + at];
    unsigned row = o->format.pair ? k / 2 : 0;
    bool high = o->format.pair ? k & 1 : o->half == 2;
    return o->rows[row * o->lanes + at] >> (high ? 16 : 0) & 0xffffu;
}

static unsigned elements(const struct operand *o)
{
    if (!o->rows || o->format.bits == 64)
        return 1;
    return o->format.pair ? 2 * o->dwords : o->format.bits == 32 ? o->dwords : 1;
}

/* HAS bits of an operand in a lane. */
static unsigned numbers_in(const struct operand *o, unsigned lane)
{
    unsigned has = 0;
    for (unsigned k = 0; k < elements(o); k++)
        has |= HAS(number_of(o->format, element(o, lane, k)));
    return has;
}

/* ... of all sources, in a lane or (DPP, matrices) in all that there are. */
static unsigned sources_in(const struct operands *all, unsigned lane, unsigned lanes)
{
    unsigned has = 0;
    for (unsigned i = 0; i < all->n; i++)
        for (unsigned l = lanes ? 0 : lane; l < (lanes ? lanes : lane + 1); l++)
            has |= numbers_in(&all->in[i], l);
    return has;
}

/* ---- findings ---- */

static void tell(struct ck *ck, const struct emu_event *e, const struct operands *all,
                 const char *kind, const char *what, uint64_t lanes)
{
    struct ck_finding f;
    unsigned lane = (unsigned)__builtin_ctzll(lanes), n = 0;
    char from[128] = "";
    for (unsigned i = 0; i < all->n && n < sizeof from; i++) {
        double v = value_of(all->in[i].format, element(&all->in[i], lane, 0));
        int k = snprintf(from + n, sizeof from - n, "%s%g", i ? ", " : "", v);
        n += k > 0 ? (unsigned)k : 0;
    }
    ck_finding_at(ck, CK_VALUE, kind, e, lanes, &f);
    (void)snprintf(f.text, sizeof f.text, "%s, from %s in lane %u", what, from, lane);
    ck_report(ck, &f);
}

static bool is_div_scale(unsigned op)
{
    return op == ISA_V_DIV_SCALE_F32 || op == ISA_V_DIV_SCALE_F64;
}

static bool is_reciprocal(unsigned op)
{
    return op == ISA_V_RCP_F32 || op == ISA_V_RCP_F64 || op == ISA_V_RCP_F16;
}

enum { NAN_BORN, INFINITY_BORN, F16_OVERFLOW, DIVISION, INTEGER_DIVISION, KINDS };
static const struct {
    const char *kind, *what;
} kinds[KINDS] = {
    {"nan-born", "a NaN from operands that are none"},
    {"infinity-born", "an infinity from finite operands"},
    {"f16-overflow", "more than an f16 can hold"},
    {"division-by-zero", "division by zero"},
    {"integer-division-by-zero", "integer division by zero"},
};

/* What is wrong with a result, KINDS: nothing. Compilers divide integers by way of
 * v_rcp_iflag_f32 (manual, table of VOP1). */
static unsigned judge(unsigned op, const struct operand *out, unsigned result,
                      unsigned sources)
{
    bool zero = sources & HAS(ZERO);
    if (result & HAS(NOT_A_NUMBER) && !(sources & HAS(NOT_A_NUMBER)))
        return is_div_scale(op) && zero ? DIVISION : NAN_BORN;
    if (!(result & HAS(INFINITE)) || sources & (HAS(NOT_A_NUMBER) | HAS(INFINITE)))
        return KINDS;
    if (op == ISA_V_RCP_IFLAG_F32 && zero)
        return INTEGER_DIVISION;
    if (is_reciprocal(op) && zero)
        return DIVISION;
    bool small = out->format.bits == 16 && out->format.mantissa == 10;
    return small && isa_facts(op)->pipe != ISA_PIPE_TRANS ? F16_OVERFLOW
                                                          : INFINITY_BORN;
}

static void check_results(struct ck *ck, const struct emu_event *e,
                          const struct operands *all)
{
    const struct isa_inst *inst = &e->inst->isa;
    unsigned pipe = isa_facts(all->op)->pipe;
    bool mixed = inst->variant == ISA_VAR_DPP16 || inst->variant == ISA_VAR_DPP8 ||
                 pipe == ISA_PIPE_WMMA || pipe == ISA_PIPE_WMMA4;
    uint64_t wrong[KINDS + 1] = {0};
    for (uint64_t left = e->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        unsigned result = numbers_in(&all->out, lane);
        if (!(result & (HAS(NOT_A_NUMBER) | HAS(INFINITE))))
            continue;
        unsigned sources = sources_in(all, lane, mixed ? e->wave->lanes : 0);
        wrong[judge(all->op, &all->out, result, sources)] |= UINT64_C(1) << lane;
    }
    for (unsigned k = 0; k < KINDS; k++)
        if (wrong[k])
            tell(ck, e, all, kinds[k].kind, kinds[k].what, wrong[k]);
}

/* MODE's bits for denormals of the format: does it take them as zeros? */
static bool flushes(const struct ck_wave *w, struct format f)
{
    return !(w->denorm >> (f.bits == 32 ? 0 : 2) & 1);
}

static void check_denormals(struct ck *ck, const struct ck_wave *w,
                            const struct emu_event *e, const struct operands *all)
{
    uint64_t lanes = 0;
    for (unsigned i = 0; i < all->n; i++) {
        const struct operand *o = &all->in[i];
        if (o->format.mantissa == 7 || !flushes(w, o->format))
            continue;
        for (uint64_t left = e->exec; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            if (numbers_in(o, lane) & HAS(DENORMAL))
                lanes |= UINT64_C(1) << lane;
        }
    }
    if (lanes)
        tell(ck, e, all, "denormal-flushed", "a denormal that MODE takes as zero",
             lanes);
}

/* Instructions that give MODE a new value. */
static void follow_mode(struct ck_wave *w, const struct isa_inst *inst)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->op == ISA_S_DENORM_MODE && inst->opnd[i].kind == ISA_OPND_IMM)
            w->denorm = (uint8_t)((unsigned)inst->opnd[i].imm & 15u);
    if (inst->op == ISA_S_SETREG_B32 || inst->op == ISA_S_SETREG_IMM32_B32)
        w->denorm = 15; /* not followed: nothing is said of denormals any more */
}

/* The instruction, or one half of a VOPD. Moves of floats are none of its business. */
static void check_half(struct ck *ck, const struct ck_wave *w,
                       const struct emu_event *e, bool y)
{
    const struct isa_facts *facts = isa_facts(y ? e->inst->isa.op_y : e->inst->isa.op);
    struct operands all;
    if (facts->excp == ISA_EXCP_NONE && facts->pipe != ISA_PIPE_WMMA)
        return;
    take_all(e, y, &all);
    if (all.out.format.bits)
        check_results(ck, e, &all);
    if (facts->pipe != ISA_PIPE_WMMA) /* which does not look at MODE */
        check_denormals(ck, w, e, &all);
}

void ck_value_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    if (e->flags & EMU_EV_FAULT || e->inst->kind == EMU_KIND_ILLEGAL)
        return;
    follow_mode(w, inst);
    check_half(ck, w, e, false);
    if (inst->op_y != ISA_OP_NONE)
        check_half(ck, w, e, true);
}
