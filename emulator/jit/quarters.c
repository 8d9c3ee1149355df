/* quarters.c: AVX2: runs of vector instructions, done for a quarter of the lanes after
 * another.
 *
 * A row is four registers of AVX2, of which there are sixteen; a quarter of it is one,
 * so that a run keeps all its rows in registers. Lanes do not depend on one another in
 * it. Masks that it writes are collected in general registers until its end; within it
 * they are read where TEMP_M still has them. Scalar instructions in between go first if
 * that changes nothing. Waves of 64 lanes go through the code twice, once for each
 * half. SPDX-License-Identifier: MIT
 */
#include "emit.h"

#define LEAST    2u /* vector instructions */
#define RUN_ROWS 8u

/* What the instructions of a run so far read and write of the SGPRs. */
struct scan {
    unsigned mask_dwords;
    bool read[SGPR_SLOTS];
    bool mask[SGPR_SLOTS]; /* written as a mask */
    unsigned n_masks;
    unsigned m_sgpr;
    uint8_t masks[RUN_MASKS];
    unsigned n_vectors;
};

static bool compares(const struct recipe *r)
{
    for (unsigned k = 0; k < r->n; k++)
        if (r->step[k].form >= STEP_CMPF && r->step[k].form <= STEP_CMPU)
            return true;
    return false;
}

/* A mask at that SGPR is written. False: there is no room, or another one is in part
 * there. */
static bool add_mask(struct scan *s, unsigned sgpr)
{
    bool any = false;
    for (unsigned i = 0; i < s->n_masks; i++)
        if (s->masks[i] == sgpr)
            return true;
    for (unsigned k = 0; k < s->mask_dwords; k++)
        any |= s->mask[sgpr + k];
    if (any || s->n_masks == RUN_MASKS)
        return false;
    for (unsigned k = 0; k < s->mask_dwords; k++)
        s->mask[sgpr + k] = true;
    s->masks[s->n_masks++] = (uint8_t)sgpr;
    return true;
}

static bool add_vector(struct scan *s, const struct uop *u, const struct recipe *r)
{
    for (unsigned i = 0; i < u->n_src; i++) {
        const struct usrc *src = &u->s[i];
        unsigned dwords = src->prep == PREP_MASK ? s->mask_dwords : src->dwords;
        if (src->prep == PREP_NONE)
            continue;
        for (unsigned k = 0; k < dwords; k++) {
            if (s->mask[src->sel + k] &&
                (src->prep != PREP_MASK || s->m_sgpr != src->sel))
                return false;
            s->read[src->sel + k] = true;
        }
        if (src->prep == PREP_MASK)
            s->m_sgpr = src->sel;
    }
    if (compares(r))
        s->m_sgpr = NO_SGPR;
    s->n_vectors++;
    if (!(u->flags & UF_MASK_OUT))
        return true;
    s->m_sgpr = u->d2;
    return add_mask(s, u->d2);
}

static bool add_vectors(struct scan *s, const struct uop *u,
                        const struct recipe *const r[2])
{
    struct scan before = *s;
    if (add_vector(s, u, r[0]) && (!r[1] || add_vector(s, u + 1, r[1])))
        return true;
    *s = before;
    return false;
}

/* May the scalar instruction be done before those of the run? */
static bool may_go_first(const struct scan *s, const struct uop *u)
{
    unsigned dwords;
    if (!emit_known_scalar(u->isa_op) || !emit_scalar_fits(u, &dwords))
        return false;
    for (unsigned i = 0; i < u->n_src; i++)
        for (unsigned k = 0; u->s[i].prep == PREP_SGPR && k < u->s[i].dwords; k++)
            if (s->mask[u->s[i].sel + k])
                return false;
    for (unsigned k = 0; k < dwords; k++)
        if (s->read[u->d + k] || s->mask[u->d + k])
            return false;
    return true;
}

/* Steps of the run from i on within its block, to the last vector instruction. */
static unsigned find_run(const struct emit *e, unsigned i, struct scan *s)
{
    const struct trace *t = e->t;
    struct scan now = {.mask_dwords = e->wave64 ? 2 : 1, .m_sgpr = NO_SGPR};
    unsigned n = 0;
    *s = now;
    for (unsigned k = i; k < t->n && t->step[k].kind == TRACE_INST; k++) {
        if ((k > i && t->step[k].leader) || (e->watch && watch_ends(e, k, k == i)))
            break;
        const struct uop *u = t->step[k].u;
        const struct recipe *r[2] = {NULL, NULL};
        if (emit_known_vector(e, u, r)) {
            if (!add_vectors(&now, u, r))
                break;
            n = k + 1 - i;
            *s = now;
        } else if (!emit_usual(e, u) || !may_go_first(&now, u)) {
            break;
        }
    }
    return n;
}

static void emit_quarter(struct emit *e, unsigned i, unsigned n)
{
    rows_init(&e->rows, e->masked ? RUN_EXEC : RUN_ROWS);
    e->run.m_sgpr = NO_SGPR;
    if (e->masked)
        emit_spread_mask(e, RUN_EXEC, ISA_SEL_EXEC_LO, 0);
    for (unsigned k = i; k < i + n; k++) {
        const struct uop *u = e->t->step[k].u;
        const struct recipe *r[2];
        e->at = k;
        if (emit_known_vector(e, u, r))
            (void)(u->flags & UF_PAIR ? emit_vopd(e, u) : emit_vector(e, u));
    }
    rows_flush(e, &e->rows);
}

/* Back to at for the upper half of 64 lanes; what masks have of the lower one moves to
 * the lower halves of their registers. */
static void repeat(struct emit *e, size_t at)
{
    const int32_t half = WAVE_VGPRS * ROW_BYTES;
    x86_alu(e->x, ALU_CMP, true, RUN_SGPRS, W);
    size_t both = x86_jcc(e->x, CC_NE);
    for (unsigned i = 0; i < e->run.n_masks; i++)
        x86_shift_imm(e->x, SHIFT_SHR, true, run_mask_reg[i], 32);
    x86_alu_imm(e->x, ALU_ADD, true, RUN_SGPRS, 4);
    x86_alu_imm(e->x, ALU_ADD, true, ROWS, half);
    x86_jmp_to(e->x, at);
    x86_land(e->x, both);
    x86_alu_imm(e->x, ALU_SUB, true, ROWS, half);
}

static void store_masks(struct emit *e)
{
    for (unsigned i = 0; i < e->run.n_masks; i++) {
        unsigned reg = run_mask_reg[i];
        if (e->masked)
            x86_alu_load(e->x, ALU_AND, e->wave64, reg, sgpr_mem(ISA_SEL_EXEC_LO));
        x86_store(e->x, e->wave64, sgpr_mem(e->run.mask[i]), reg);
    }
}

unsigned emit_quarters(struct emit *e, unsigned i)
{
    struct scan s;
    unsigned n = find_run(e, i, &s), parts = e->parts, rows = e->rows.n;
    if (s.n_vectors < LEAST)
        return 0;
    rows_flush(e, &e->rows);
    for (unsigned k = i; k < i + n; k++) {
        const struct uop *u = e->t->step[k].u;
        const struct recipe *r[2];
        e->at = k;
        if (!emit_known_vector(e, u, r))
            (void)emit_scalar(e, u);
    }
    e->run.on = true;
    e->run.n_masks = s.n_masks;
    for (unsigned k = 0; k < s.n_masks; k++)
        e->run.mask[k] = s.masks[k];
    e->parts = 1;
    if (e->wave64)
        x86_mov(e->x, true, RUN_SGPRS, W);
    size_t at = x86_here(e->x);
    for (e->run.quarter = 0; e->run.quarter < parts; e->run.quarter++)
        emit_quarter(e, i, n);
    if (e->wave64)
        repeat(e, at);
    store_masks(e);
    e->run = (struct run){.m_sgpr = NO_SGPR};
    e->parts = parts;
    rows_init(&e->rows, rows);
    return n;
}
