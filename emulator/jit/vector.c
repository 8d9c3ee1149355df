/* vector.c: vector instructions by recipe: operands, modifiers, EXEC, results.
 *
 * Sources come from host registers, from the rows in memory, or are broadcast from
 * SGPRs and constants. With lanes off (emit.masked) the last step writes under EXEC:
 * by k1 and k2 with AVX-512, by a blend with AVX2.
 * SPDX-License-Identifier: MIT
 */
#include "vector.h"

static const struct recipe *recipe_for(const struct emit *e, unsigned op)
{
    unsigned i = e->recipe_of[op];
    if (!i)
        return NULL;
    const struct recipe *r = &recipes[i - 1];
    unsigned wants = (r->flags & RECIPE_DENORM ? NATIVE_DENORM : 0) |
                     (r->flags & RECIPE_HALF ? NATIVE_HALF : 0) |
                     (r->flags & RECIPE_IEEE ? NATIVE_IEEE : 0);
    if (wants & ~e->mode)
        return NULL;
    return r;
}

/* Does the recipe do all that the micro-op asks for? */
static bool suits(const struct recipe *r, const struct uop *u)
{
    const uint32_t known = UF_PREP | UF_MASK_OUT | UF_NO_VALUE | UF_DIRECT | UF_PAIR |
                           UF_ROWS | UF_ENDS | UF_DPP_ROW | UF_DPP8 | UF_DST16 |
                           UF_DSTHI | UF_F16RES | UF_PKRES | UF_MODS |
                           (r->op == ISA_V_DIV_FMAS_F32 ? UF_VCC_IN : 0) |
                           (r->flags & (RECIPE_HALF | RECIPE_FLOAT) ? UF_DP : 0) |
                           (r->flags & RECIPE_FLOAT ? UF_F64RES : 0) |
                           (r->kind == RECIPE_PAIR ? UF_DST64 : 0);
    if (r->kind == RECIPE_PAIR && u->flags & UF_MASK_OUT && u->d2 != SGPR_DUMMY)
        return false;
    if ((u->flags & ~known) || u->omod || u->n_src != r->n_src || u->excp ||
        u->pk.clamp)
        return false;
    for (unsigned i = 0; i < u->n_src; i++) {
        const struct usrc *s = &u->s[i];
        bool mask = i == 2 && r->kind >= RECIPE_SELECT;
        bool wide = recipe_wide(r, i);
        unsigned pair = r->flags & RECIPE_FLOAT ? SM_ABS | SM_NEG | SM_F64 : 0;
        unsigned mods = wide ? pair : 0xffu & ~SM_F64 & ~(i ? SM_SWIZ : 0);
        if (s->dwords != 1 + wide || s->mods & ~mods || s->prep == PREP_SPECIAL ||
            mask != (s->prep == PREP_MASK))
            return false;
    }
    return true;
}

/* ---- masks ----------------------------------------------------------------------- */

void emit_spread_mask(struct emit *e, unsigned reg, unsigned sgpr, unsigned part)
{
    unsigned base = e->run.on && e->wave64 ? RUN_SGPRS : W;
    x86_vec(e->x, X86_BROADCASTSS, reg, 0, rm_mem(base, sgpr_mem(sgpr).disp), 0, 0);
    x86_vec(e->x, X86_PSLLVD, reg, reg, const_rm(C_LANES0 + part + e->run.quarter), 0,
            0);
}

/* M of source 2, which is a mask in SGPRs. */
static void load_mask(struct emit *e, const struct usrc *s, unsigned part)
{
    if (e->x->evex)
        x86_k_load(e->x, K_MASK + part,
                   mem_at(W, sgpr_mem(s->sel).disp + (int32_t)(2 * part)));
    else if (!e->run.on || e->run.m_sgpr != s->sel)
        emit_spread_mask(e, temp_reg(e, TEMP_M), s->sel, part);
    e->run.m_sgpr = s->sel;
}

/* A run: the bits of a quarter, in eax, to those of the quarters before, which are all
 * that stays of what was there. Waves of 64 lanes: in the upper half of the register.
 */
static void store_quarter(struct emit *e, unsigned sgpr)
{
    unsigned i = 0, shift = 8 * e->run.quarter + (e->wave64 ? 32 : 0);
    while (i + 1 < e->run.n_masks && e->run.mask[i] != sgpr)
        i++;
    unsigned reg = run_mask_reg[i];
    e->run.m_sgpr = sgpr;
    if (!shift) {
        x86_mov(e->x, false, reg, RAX);
        return;
    }
    if (shift < 32) {
        x86_alu_imm(e->x, ALU_AND, false, reg, (int32_t)((1u << shift) - 1));
    } else {
        x86_shift_imm(e->x, SHIFT_SHL, true, reg, 64 - shift);
        x86_shift_imm(e->x, SHIFT_SHR, true, reg, 64 - shift);
    }
    x86_shift_imm(e->x, SHIFT_SHL, e->wave64, RAX, shift);
    x86_alu(e->x, ALU_OR, e->wave64, reg, RAX);
}

void emit_store_mask(struct emit *e, const struct uop *u)
{
    if (e->run.on) {
        store_quarter(e, u->d2);
        return;
    }
    if (e->x->evex) {
        x86_kunpck(e->x, K_MASK, K_MASK + 1, K_MASK);
        x86_kmovd_to_gpr(e->x, RAX, K_MASK);
    }
    if (e->masked)
        x86_alu_load(e->x, ALU_AND, false, RAX, sgpr_mem(exec_sel(e)));
    x86_store(e->x, false, sgpr_mem(u->d2), RAX);
}

void emit_collect_mask(struct emit *e, unsigned part)
{
    x86_vec(e->x, X86_MOVMSKPS, part ? RCX : RAX, 0, rm_reg(temp_reg(e, TEMP_M)), 0, 0);
    if (part) {
        x86_shift_imm(e->x, SHIFT_SHL, false, RCX, 8 * part);
        x86_alu(e->x, ALU_OR, false, RAX, RCX);
    }
}

static bool gives_mask(const struct recipe *r)
{
    return r->kind == RECIPE_MASK || r->kind == RECIPE_CARRY ||
           r->kind == RECIPE_CARRY_IN;
}

static void run_checks(struct emit *e, struct job *j)
{
    for (unsigned k = 0; k < j->r->n; k++)
        if (step_is_check(&j->r->step[k]))
            step_check(e, j, &j->r->step[k]);
}

/* Sources where steps find them, once they have a place. */
static void spread_sources(struct emit *e, struct job *j)
{
    for (unsigned i = 0; i < j->r->n_src; i++)
        operand_spread(e, j, i);
    operand_spread_high(e, &j->high);
}

/* All of the instruction once its sources are found and its result has a place. */
static void run_recipe(struct emit *e, struct job *j)
{
    const struct recipe *r = j->r;
    if (j->dpp)
        dpp_load(e, j);
    spread_sources(e, j);
    if (j->slow)
        run_checks(e, j);
    for (unsigned part = 0; part < e->parts; part++) {
        if (r->kind >= RECIPE_SELECT)
            load_mask(e, &j->u->s[2], part);
        if (j->dpp)
            dpp_permute(e, j, part);
        for (unsigned k = 0; k < r->n; k++)
            step_run(e, j, &r->step[k], part);
        if (gives_mask(r) && !e->x->evex)
            emit_collect_mask(e, part);
    }
    if (gives_mask(r))
        emit_store_mask(e, j->u);
}

static bool reads_row(const struct uop *u, unsigned row)
{
    for (unsigned i = 0; i < u->n_src; i++)
        if (u->s[i].base == SRC_VGPR && row - u->s[i].row < u->s[i].dwords)
            return true;
    return false;
}

/* What was in the places of the result's rows before. */
struct replaced {
    bool used[2], dirty[2];
};

static unsigned place_row(struct emit *e, struct job *j, unsigned i,
                          struct replaced *was)
{
    unsigned row = j->u->d + i, c = e->rows.entry_of[row];
    bool keep = keeps_lanes(e, j) || reads_row(j->u, row) || j->u->flags & UF_DST16;
    was->used[i] = c != NO_ENTRY || keep;
    was->dirty[i] = c != NO_ENTRY && e->rows.dirty[c];
    return rows_write(e, row, keep);
}

/* Give the result its place, before the sources theirs: AVX2 has few. */
static void place_result(struct emit *e, struct job *j, struct replaced *was)
{
    j->d = place_row(e, j, 0, was);
    if (j->r->kind == RECIPE_PAIR)
        j->dh = place_row(e, j, 1, was);
}

/* The slow path finds registers as they were before the result. */
static void begin_slow(struct emit *e, struct job *j, const struct replaced *was)
{
    unsigned n = j->r->kind == RECIPE_PAIR ? 2 : 1, c[] = {j->d, j->dh};
    for (unsigned i = 0; i < n; i++) {
        e->rows.dirty[c[i]] = was->dirty[i];
        e->rows.used[c[i]] = was->used[i];
    }
    j->slow = emit_far(e, FAR_SLOW, j->u);
    for (unsigned i = 0; i < n; i++)
        e->rows.dirty[c[i]] = e->rows.used[c[i]] = true;
}

/* checked: the slow path has been taken already where there is need. */
static void emit_one(struct emit *e, const struct uop *u, const struct recipe *r,
                     bool checked)
{
    struct recipe folded;
    r = recipe_folded(e, u, r, &folded);
    struct job j = {.u = u,
                    .r = r,
                    .has_d = r->kind != RECIPE_MASK,
                    .write = ~0u,
                    .dpp = dpp_of(e->whole ? e->whole : u)};
    unsigned slow = e->n_far;
    if (j.dpp)
        j.write = dpp_writes(j.dpp, e->half);
    struct replaced was = {{false}, {false}};
    if (j.has_d)
        place_result(e, &j, &was);
    for (unsigned i = 0; i < r->n_src; i++)
        operand_find(e, &j, i);
    bool needs_all = j.dpp && e->masked && !j.dpp->fi;
    bool may_be_slow = (recipe_may_be_slow(r) && !checked) || needs_all;
    if (may_be_slow)
        begin_slow(e, &j, &was);
    if (needs_all) { /* lanes that are off are no sources */
        x86_alu_mem_imm(e->x, ALU_CMP, false, sgpr_mem(ISA_SEL_EXEC_LO), -1);
        far_from(j.slow, x86_jcc(e->x, CC_NE));
    }
    run_recipe(e, &j);
    rows_unpin(e);
    if (may_be_slow)
        emit_back(e, far_at(e, slow));
    if (gives_mask(r) && u->d2 == exec_sel(e))
        emit_new_exec(e);
}

bool emit_vector(struct emit *e, const struct uop *u)
{
    const struct recipe *r = recipe_for(e, u->isa_op);
    if (!r || !suits(r, u) || !dpp_suits(r, u))
        return false;
    emit_one(e, u, r, false);
    return true;
}

/* Both halves read their sources before either writes: done one after the other if the
 * second reads nothing that the first writes. */
static bool has_order(const struct uop *u)
{
    return u->flags & UF_DIRECT || !reads_row(u, u[1].d);
}

/* Does it look at the bits of other lanes? */
static bool reads_below(const struct recipe *r)
{
    for (unsigned k = 0; k < r->n; k++)
        if (r->step[k].a == K(BELOW_0) || r->step[k].b == K(BELOW_0))
            return true;
    return r->op == ISA_V_MBCNT_HI_U32_B32;
}

bool emit_known_vector(const struct emit *e, const struct uop *u,
                       const struct recipe *r[2])
{
    unsigned n = u->flags & UF_PAIR ? 2 : 1;
    r[0] = r[1] = NULL;
    if (!emit_usual(e, u) || (n == 2 && (!has_order(u) || e->wave64)) || dpp_of(u))
        return false;
    for (unsigned i = 0; i < n; i++) {
        r[i] = recipe_for(e, u[i].isa_op);
        if (!r[i] || !suits(r[i], &u[i]) || recipe_may_be_slow(r[i]) ||
            (e->wave64 && reads_below(r[i])))
            return false;
    }
    return !emit_writes_exec(e, u);
}

/* The checks of both parts of an instruction before either writes: the handler does all
 * of it. */
static void check_part(struct emit *e, const struct uop *u, const struct recipe *r,
                       struct far *slow)
{
    const struct udpp *dpp = e->whole ? dpp_of(e->whole) : NULL;
    struct job j = {.u = u, .r = r, .write = ~0u, .slow = slow, .dpp = dpp};
    for (unsigned i = 0; i < r->n_src; i++)
        operand_find(e, &j, i);
    spread_sources(e, &j);
    run_checks(e, &j);
}

/* Sources are loaded before the state is kept that the handler shall find. */
static void check_both(struct emit *e, const struct uop *const part[2],
                       const struct recipe *const r[2], const struct uop *whole)
{
    for (unsigned h = 0; h < 2; h++)
        for (unsigned i = 0; i < r[h]->n_src; i++) {
            struct job j = {.u = part[h], .r = r[h]};
            operand_find(e, &j, i);
        }
    struct far *slow = emit_far(e, FAR_SLOW, whole);
    for (unsigned h = 0; h < 2; h++) {
        if (e->wave64) {
            e->half = h;
            emit_load_exec(e);
        }
        check_part(e, part[h], r[h], slow);
    }
    e->half = 0;
    rows_unpin(e);
}

bool emit_halves(struct emit *e, const struct uop *u, const struct uop half[2])
{
    const struct recipe *r = recipe_for(e, u->isa_op);
    const struct udpp *dpp = dpp_of(u);
    if (!r || !suits(r, u) || !dpp_suits(r, u) || reads_below(r) ||
        (dpp && e->masked && !dpp->fi))
        return false;
    unsigned slow = e->n_far;
    bool may_be_slow = recipe_may_be_slow(r);
    e->whole = u;
    if (may_be_slow)
        check_both(e, (const struct uop *[]){&half[0], &half[1]},
                   (const struct recipe *[]){r, r}, u);
    for (e->half = 0; e->half < 2; e->half++) {
        emit_load_exec(e);
        emit_one(e, &half[e->half], r, true);
    }
    e->half = 0;
    e->whole = NULL;
    if (may_be_slow)
        emit_back(e, far_at(e, slow));
    return true;
}

bool emit_vopd(struct emit *e, const struct uop *u)
{
    const struct uop *first = u, *second = u + 1;
    if (!(u->flags & UF_PAIR) || !has_order(u))
        return false;
    if (!(u->flags & UF_DIRECT)) {
        first = u + 1;
        second = u;
    }
    const struct recipe *r[2] = {recipe_for(e, first->isa_op),
                                 recipe_for(e, second->isa_op)};
    if (!r[0] || !r[1] || !suits(r[0], first) || !suits(r[1], second))
        return false;
    unsigned slow = e->n_far;
    bool may_be_slow = recipe_may_be_slow(r[0]) || recipe_may_be_slow(r[1]);
    if (may_be_slow)
        check_both(e, (const struct uop *[]){first, second}, r, u);
    emit_one(e, first, r[0], true);
    emit_one(e, second, r[1], true);
    if (may_be_slow)
        emit_back(e, far_at(e, slow));
    return true;
}
