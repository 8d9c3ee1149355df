/* lanes.c: init: instructions in which lanes read what others have: DPP, lane reads and
 * writes, permutes, relative registers, matrices.
 *
 * Which lane reads which is said here a second time, for single lanes; the emulator has
 * it for rows. SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "init.h"

/* ---- DPP ---- */

/* Lane of its row that DPP16 control ctrl makes lane i read; -1 if out of range
 * (manual, DPP_CTRL). */
static int dpp16(unsigned ctrl, unsigned i)
{
    unsigned n = ctrl & 15u;
    switch (ctrl >> 4) {
    case 0x10: /* row_shl */
        return i + n < 16 ? (int)(i + n) : -1;
    case 0x11: /* row_shr */
        return i >= n ? (int)(i - n) : -1;
    case 0x12: /* row_ror */
        return (int)((i - n) & 15u);
    case 0x14: /* row_mirror, row_half_mirror */
        return (int)(i ^ (n ? 7u : 15u));
    case 0x15: /* row_share */
        return (int)n;
    case 0x16: /* row_xmask */
        return (int)(i ^ n);
    default: /* quad_perm */
        return (int)((i & ~3u) | (ctrl >> 2 * (i & 3u) & 3u));
    }
}

int init_dpp_lane(const struct emu_event *e, unsigned lane)
{
    const struct isa_inst *inst = &e->inst->isa;
    bool dpp8 = inst->variant == ISA_VAR_DPP8;
    unsigned i = lane % 16, row = lane / 16;
    int from = dpp8 ? (int)((i & 8u) | (inst->dpp8 >> 3 * (i & 7u) & 7u))
                    : dpp16(inst->dpp_ctrl, i);
    if (!dpp8 && !(inst->row_mask >> row & 1 && inst->bank_mask >> i / 4 & 1))
        return -2;
    if (from >= 0)
        from += (int)(16 * row);
    if (from >= 0 && (inst->flags & ISA_M_FI || e->exec >> from & 1))
        return from;
    return dpp8 || inst->flags & ISA_M_BOUND_CTRL ? -1 : -2;
}

/* ---- the registers of an instruction ---- */

/* What is read or written, without what nobody writes down; NULL: there is none. */
static const struct emu_reg *reg_of(const struct emu_inst *inst, unsigned flag,
                                    unsigned number)
{
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct emu_reg *g = &inst->reg[i];
        if (g->flags & flag && !(g->flags & ISA_OF_IMPLICIT) && !number--)
            return g;
    }
    return NULL;
}

/* A lane's undefined bits of a register, with an origin. */
static struct init_bits bits_at(struct ck *ck, const struct init_wave *r,
                                const struct emu_event *e, unsigned sel, unsigned lane)
{
    struct init_bits b = {0, 0};
    if (sel >= ISA_SEL_VGPR0)
        b = init_vgpr(r, sel - ISA_SEL_VGPR0, lane);
    else if (sel < INIT_SGPRS)
        b = (struct init_bits){r->sgpr[sel], r->sgpr_from[sel]};
    else if (sel == ISA_SEL_SCC)
        b = (struct init_bits){r->scc, r->scc_from};
    if (b.u)
        b.from = init_from(ck->init, e, sel, b.from);
    return b;
}

static uint32_t value_at(const struct emu_event *e, unsigned sel, unsigned lane)
{
    return sel >= ISA_SEL_VGPR0 ? emu_wave_vgpr(e->wave, sel - ISA_SEL_VGPR0, lane)
                                : emu_wave_special(e->wave, sel);
}

/* ---- reads and writes of a lane ---- */

/* Value and undefined bits of explicit source number n that names lanes. */
static struct bits selector(const struct init_wave *r, const struct emu_event *e,
                            unsigned number, uint16_t *from, struct ck *ck)
{
    const struct isa_inst *inst = &e->inst->isa;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (!(o->flags & ISA_OF_IN) || o->flags & (ISA_OF_OUT | ISA_OF_IMPLICIT))
            continue;
        if (number--)
            continue;
        if (o->kind == ISA_OPND_LITERAL)
            return bits_of(inst->literal);
        if (o->kind != ISA_OPND_REG)
            return bits_of(0);
        if (o->sel < INIT_SGPRS || o->sel == ISA_SEL_SCC) {
            struct init_bits b = bits_at(ck, r, e, o->sel, 0);
            *from = b.from;
            return (struct bits){emu_wave_special(e->wave, o->sel), b.u};
        }
        bool inexact = false;
        struct bits b = init_constant(o, 3, &inexact);
        if (inexact)
            b.u = ~0u;
        return bits_cut(b, 32);
    }
    return bits_of(0);
}

static void read_lane(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                      bool first)
{
    struct init_wave *r = w->init;
    const struct emu_reg *d = reg_of(e->inst, ISA_OF_OUT, 0),
                         *s = reg_of(e->inst, ISA_OF_IN, 0);
    uint16_t from = 0;
    struct bits lane = bits_of(e->exec ? (uint64_t)__builtin_ctzll(e->exec) : 0);
    if (!first)
        lane = selector(r, e, 1, &from, ck);
    if (!d)
        return;
    unsigned at = (unsigned)lane.v & (e->wave->lanes - 1);
    struct init_bits b = {0, 0};
    if (lane.u & (e->wave->lanes - 1))
        b = (struct init_bits){~0u, from};
    else if (s)
        b = bits_at(ck, r, e, s->sel, at);
    if (b.u && (d->sel == ISA_SEL_EXEC_LO || d->sel == ISA_SEL_EXEC_HI))
        init_tell(ck, w, e, INIT_EXEC, 0, b.from);
    init_set_sgpr(r, d->sel, b.u, b.from);
}

static void write_lane(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct init_wave *r = w->init;
    const struct emu_reg *d = reg_of(e->inst, ISA_OF_OUT, 0);
    uint16_t lane_from = 0, from = 0;
    struct bits v = selector(r, e, 0, &from, ck),
                lane = selector(r, e, 1, &lane_from, ck);
    uint32_t all = e->wave->lanes - 1;
    if (!d)
        return;
    if (!(lane.u & all)) {
        init_set_vgpr(r, d->sel - ISA_SEL_VGPR0, (unsigned)lane.v & all, (uint32_t)v.u,
                      ~0u, from);
        return;
    }
    for (unsigned l = 0; l <= all; l++)
        init_set_vgpr(r, d->sel - ISA_SEL_VGPR0, l, ~0u, ~0u, lane_from);
}

/* ---- moves between lanes ---- */

/* What lanes get: -1: zero, -2: they keep what they have, -3: nobody knows (from). */
struct move {
    int lane[INIT_LANES];
    uint16_t from[INIT_LANES];
};

static void do_move(struct ck *ck, struct init_wave *r, const struct emu_event *e,
                    const struct emu_reg *d, const struct emu_reg *s,
                    const struct move *m)
{
    struct init_bits b[INIT_LANES];
    for (unsigned l = 0; l < e->wave->lanes; l++) {
        b[l] = (struct init_bits){0, 0};
        if (m->lane[l] == -3)
            b[l] = (struct init_bits){~0u, m->from[l]};
        else if (m->lane[l] >= 0 && s)
            b[l] = bits_at(ck, r, e, s->sel, (unsigned)m->lane[l]);
    }
    for (unsigned l = 0; l < e->wave->lanes; l++)
        if (e->exec >> l & 1 && m->lane[l] != -2)
            init_set_vgpr(r, d->sel - ISA_SEL_VGPR0, l, b[l].u, ~0u, b[l].from);
}

static void permlane16(struct ck *ck, struct init_wave *r, const struct emu_event *e,
                       unsigned cross, struct move *m)
{
    uint16_t from[2] = {0, 0};
    struct bits s[2] = {selector(r, e, 1, &from[0], ck),
                        selector(r, e, 2, &from[1], ck)};
    bool fi = e->inst->isa.op_sel & 1, bound = e->inst->isa.op_sel & 2;
    for (unsigned l = 0; l < e->wave->lanes; l++) {
        unsigned high = l >> 3 & 1, at = 4 * (l & 7u);
        unsigned lane = ((l & ~15u) ^ cross) | (unsigned)(s[high].v >> at & 15u);
        m->lane[l] = (int)lane;
        if (s[high].u >> at & 15u) {
            m->lane[l] = -3;
            m->from[l] = from[high];
        } else if (!fi && !(e->exec >> lane & 1)) {
            m->lane[l] = bound ? -1 : -2;
        }
    }
}

/* The lane that the address operand means; false: it is not known. */
static bool lds_lane(struct ck *ck, const struct init_wave *r,
                     const struct emu_event *e, unsigned lane, unsigned *to,
                     uint16_t *from)
{
    const struct emu_reg *a = reg_of(e->inst, ISA_OF_IN, 0);
    uint32_t offset = (uint32_t)e->inst->isa.offset & 0xffffu;
    *from = 0;
    *to = 0;
    if (!a || a->sel < ISA_SEL_VGPR0)
        return true;
    struct init_bits b = bits_at(ck, r, e, a->sel, lane);
    *to = (lane & 32u) | ((value_at(e, a->sel, lane) + offset) / 4 & 31u);
    *from = b.from;
    /* Below bit 2 a carry may come only out of the offset. */
    return !(b.u & (offset & 3u ? 0x7fu : 0x7cu));
}

static void bpermute(struct ck *ck, struct init_wave *r, const struct emu_event *e,
                     struct move *m)
{
    for (unsigned l = 0; l < e->wave->lanes; l++) {
        unsigned from;
        bool known = lds_lane(ck, r, e, l, &from, &m->from[l]);
        m->lane[l] = !known ? -3 : e->exec >> from & 1 ? (int)from : -1;
    }
}

static void permute(struct ck *ck, struct init_wave *r, const struct emu_event *e,
                    struct move *m)
{
    for (unsigned l = 0; l < e->wave->lanes; l++)
        m->lane[l] = -1;
    for (uint64_t left = e->exec; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctzll(left), to;
        uint16_t from;
        if (lds_lane(ck, r, e, l, &to, &from)) {
            if (m->lane[to] != -3)
                m->lane[to] = (int)l;
            continue;
        }
        for (unsigned k = l & 32u; k < (l & 32u) + 32u; k++) { /* it may be any */
            m->lane[k] = -3;
            m->from[k] = from;
        }
    }
}

static unsigned swizzled(unsigned offset, unsigned l)
{
    unsigned mask = offset & 31u, or_bits = offset >> 5 & 31u,
             xor_bits = offset >> 10 & 31u;
    unsigned by = offset >> 10 & 1u ? 0u - or_bits : or_bits;
    if (offset >= 0xe000u)
        return (unsigned)bits_reversed(l, 5) >> __builtin_popcount(mask) | (l & mask);
    if (offset >= 0xc000u)
        return (l & mask) | ((l + by) & ~mask & 31u);
    if (offset & 0x8000u)
        return (l & ~3u) | (offset >> 2 * (l & 3u) & 3u);
    return ((l & mask) | or_bits) ^ xor_bits;
}

static void swizzle(const struct emu_event *e, struct move *m)
{
    unsigned offset = (unsigned)e->inst->isa.offset & 0xffffu;
    for (unsigned l = 0; l < e->wave->lanes; l++) {
        unsigned from = (l & 32u) | (swizzled(offset, l & 31u) & 31u);
        m->lane[l] = e->exec >> from & 1 ? (int)from : -1;
    }
}

static void move(struct ck *ck, struct init_wave *r, const struct emu_event *e,
                 unsigned rule)
{
    struct move m;
    bool second = rule == RULE_BPERMUTE || rule == RULE_PERMUTE;
    const struct emu_reg *d = reg_of(e->inst, ISA_OF_OUT, 0),
                         *s = reg_of(e->inst, ISA_OF_IN, second);
    memset(&m, 0, sizeof m);
    if (rule == RULE_PERMLANE16 || rule == RULE_PERMLANEX16)
        permlane16(ck, r, e, rule == RULE_PERMLANEX16 ? 16 : 0, &m);
    else if (rule == RULE_BPERMUTE)
        bpermute(ck, r, e, &m);
    else if (rule == RULE_PERMUTE)
        permute(ck, r, e, &m);
    else if (rule == RULE_SWIZZLE)
        swizzle(e, &m);
    else
        for (unsigned l = 0; l < INIT_LANES; l++)
            m.lane[l] = e->wave->lanes == 64 ? (int)(l ^ 32u) : -2;
    if (d)
        do_move(ck, r, e, d, s, &m);
}

/* ---- both ways ---- */

static void swap(struct init_wave *r, const struct emu_event *e, bool half)
{
    const struct emu_reg *a = reg_of(e->inst, ISA_OF_OUT, 0),
                         *b = reg_of(e->inst, ISA_OF_OUT, 1);
    unsigned a_at = half && e->inst->isa.opnd[0].flags & ISA_OF_HI16 ? 16 : 0;
    unsigned b_at = half && e->inst->isa.opnd[1].flags & ISA_OF_HI16 ? 16 : 0;
    uint32_t mask = half ? 0xffffu : ~0u;
    if (!a || !b || a->sel < ISA_SEL_VGPR0 || b->sel < ISA_SEL_VGPR0)
        return;
    for (uint64_t m = e->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        struct init_bits x = init_vgpr(r, a->sel - ISA_SEL_VGPR0, l),
                         y = init_vgpr(r, b->sel - ISA_SEL_VGPR0, l);
        init_set_vgpr(r, a->sel - ISA_SEL_VGPR0, l, (y.u >> b_at & mask) << a_at,
                      mask << a_at, y.from);
        init_set_vgpr(r, b->sel - ISA_SEL_VGPR0, l, (x.u >> a_at & mask) << b_at,
                      mask << b_at, x.from);
    }
}

/* Registers are those that M0 has selected. */
static void move_relative(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct init_wave *r = w->init;
    const struct emu_reg *d = reg_of(e->inst, ISA_OF_OUT, 0),
                         *s = reg_of(e->inst, ISA_OF_IN, 0);
    bool vector = d && d->sel >= ISA_SEL_VGPR0;
    for (unsigned i = 0; d && i < d->dwords; i++)
        for (uint64_t m = vector ? e->exec : 1; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctzll(m);
            struct init_bits b = {0, 0};
            if (s && i < s->dwords)
                b = bits_at(ck, r, e, s->sel + i, l);
            if (vector)
                init_set_vgpr(r, d->sel - ISA_SEL_VGPR0 + i, l, b.u, ~0u, b.from);
            else
                init_set_sgpr(r, d->sel + i, b.u, b.from);
        }
}

static void check_index(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct emu_reg m0 = {.sel = ISA_SEL_M0, .dwords = 1};
    uint16_t from = 0;
    if (init_undefined(ck, w->init, e, &m0, 0, &from)) {
        init_tell(ck, w, e, INIT_INDEX, 0, from);
        init_clean(w->init, &m0, 0);
    }
}

/* ---- matrices: see wmma.c of the semantics for where elements lie ---- */

/* Of A or B: rows (columns) of which something is undefined. */
static uint32_t bad_vectors(struct ck *ck, const struct init_wave *r,
                            const struct emu_event *e, const struct emu_reg *g,
                            uint16_t *from)
{
    uint32_t bad = 0;
    for (unsigned l = 0; g && l < 16; l++)
        for (unsigned i = 0; i < g->dwords; i++) {
            struct init_bits b = bits_at(ck, r, e, g->sel + i, l);
            bad |= (uint32_t)(b.u != 0) << l;
            *from = b.u && !*from ? b.from : *from;
        }
    return bad;
}

#define MATRIX_DWORDS 8u /* of D and C, at most */

/* The registers of A, B and C; those that are constants have none. */
static void matrix(struct ck *ck, struct init_wave *r, const struct emu_event *e,
                   unsigned bits)
{
    const struct isa_inst *inst = &e->inst->isa;
    struct emu_reg g[3], *source[3] = {NULL, NULL, NULL};
    const struct emu_reg *d = reg_of(e->inst, ISA_OF_OUT, 0);
    unsigned n = 0, lanes = e->wave->lanes;
    uint16_t from = 0;
    for (unsigned i = 0; i < inst->n_opnds && n < 3; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (!(o->flags & ISA_OF_IN) || o->flags & ISA_OF_OUT)
            continue;
        g[n] = (struct emu_reg){.sel = o->sel, .dwords = o->dwords};
        source[n] = o->kind == ISA_OPND_REG && o->sel >= ISA_SEL_VGPR0 ? &g[n] : NULL;
        n++;
    }
    uint32_t rows = bad_vectors(ck, r, e, source[0], &from),
             columns = bad_vectors(ck, r, e, source[1], &from);
    unsigned at = bits == 16 && inst->op_sel & 4 ? 16 : 0;
    uint32_t mask = bits == 16 ? 0xffffu << at : ~0u;
    struct init_bits c[MATRIX_DWORDS][INIT_LANES];
    for (unsigned i = 0; i < MATRIX_DWORDS; i++)
        for (unsigned l = 0; l < lanes; l++)
            c[i][l] = source[2] && i < source[2]->dwords
                          ? bits_at(ck, r, e, source[2]->sel + i, l)
                          : (struct init_bits){0, 0};
    for (unsigned i = 0; d && i < d->dwords && i < MATRIX_DWORDS; i++)
        for (unsigned l = 0; l < lanes; l++) {
            bool bad = rows >> (i * lanes + l) / 16 & 1 || columns >> l % 16 & 1;
            bool worse = bad || c[i][l].u & mask;
            init_set_vgpr(r, d->sel - ISA_SEL_VGPR0 + i, l, worse ? ~0u : 0, mask,
                          bad ? from : c[i][l].from);
        }
}

/* Interpolation: quads read each other; of one lane is of all. */
static void all_lanes(struct ck *ck, struct init_wave *r, const struct emu_event *e)
{
    const struct emu_reg *d = reg_of(e->inst, ISA_OF_OUT, 0);
    uint16_t from = 0;
    bool bad = false;
    for (unsigned i = 0; i < e->inst->n_regs; i++)
        if (e->inst->reg[i].flags & ISA_OF_IN)
            bad |= init_undefined(ck, r, e, &e->inst->reg[i], ~UINT64_C(0), &from) != 0;
    uint32_t half = d ? ck_halves(&e->inst->isa, d, false) : 0;
    uint32_t mask = half == 3 ? ~0u : half == 2 ? 0xffff0000u : 0xffffu;
    for (uint64_t m = d ? e->exec : 0; m; m &= m - 1)
        init_set_vgpr(r, d->sel - ISA_SEL_VGPR0, (unsigned)__builtin_ctzll(m),
                      bad ? ~0u : 0, mask, from);
}

void init_cross(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                struct rule_entry rule)
{
    struct init_wave *r = w->init;
    switch (rule.rule) {
    case RULE_READFIRST:
    case RULE_READLANE:
        read_lane(ck, w, e, rule.rule == RULE_READFIRST);
        return;
    case RULE_WRITELANE:
        write_lane(ck, w, e);
        return;
    case RULE_SWAP:
        if (e->inst->isa.op == ISA_V_SWAPREL_B32)
            check_index(ck, w, e);
        swap(r, e, false);
        return;
    case RULE_SWAP16:
        swap(r, e, true);
        return;
    case RULE_MOVE_RELATIVE:
        check_index(ck, w, e);
        move_relative(ck, w, e);
        return;
    case RULE_WMMA:
        matrix(ck, r, e, rule.bits);
        return;
    case RULE_ALL_LANES:
        all_lanes(ck, r, e);
        return;
    default:
        move(ck, r, e, rule.rule);
        return;
    }
}
