/* vector.c: vector instructions by recipe: operands, modifiers, EXEC, results.
 *
 * Sources come from host registers, from the rows in memory, or are broadcast from
 * SGPRs and constants. With lanes off (emit.masked) the last step writes under EXEC:
 * by k1 and k2 with AVX-512, by a blend with AVX2.
 * SPDX-License-Identifier: MIT
 */
#include "emit.h"

/* Where a source is, for one instruction. */
struct source {
    enum { AT_ROW, AT_WAVE, AT_CONST, AT_TEMP } at;
    unsigned entry; /* AT_ROW: or NO_ENTRY, then row is in memory */
    unsigned row;
    int32_t disp;  /* AT_WAVE, AT_CONST: of the dword to broadcast */
    unsigned mods; /* SM_ABS, SM_NEG that every use has to apply */
};

struct job {
    const struct uop *u;
    const struct recipe *r;
    struct source s[3], high; /* high: the upper row of a pair */
    unsigned d, dh;           /* entries of the result */
    bool has_d;
    const struct udpp *dpp; /* NULL: none */
    struct source from;     /* the source that it permutes */
    uint32_t write;         /* lanes that DPP lets it write */
    struct far *slow;
};

#define K_MASK  3u /* k3: M of part 0; k4: of part 1 */
#define K_WRITE 5u /* k5, k6: lanes that DPP writes */
#define K_MORE  7u
#define K_VALID 7u /* lanes for which DPP has a source, the same in each row of 16 */

static const struct recipe *recipe_for(const struct emit *e, unsigned op)
{
    unsigned i = e->recipe_of[op];
    if (!i)
        return NULL;
    const struct recipe *r = &recipes[i - 1];
    if (r->flags & RECIPE_DENORM && !(e->mode & NATIVE_DENORM))
        return NULL;
    return r;
}

/* Is source i of the recipe a pair? */
static bool is_wide(const struct recipe *r, unsigned i)
{
    return (i == 1 && r->flags & RECIPE_WIDE1) || (i == 2 && r->flags & RECIPE_WIDE2);
}

/* Does the recipe do all that the micro-op asks for? */
static bool suits(const struct recipe *r, const struct uop *u)
{
    const uint32_t known = UF_PREP | UF_MASK_OUT | UF_NO_VALUE | UF_DIRECT | UF_PAIR |
                           UF_ROWS | UF_ENDS | UF_DPP_ROW | UF_DPP8 |
                           (r->kind == RECIPE_PAIR ? UF_DST64 : 0);
    if (r->kind == RECIPE_PAIR && u->flags & UF_MASK_OUT && u->d2 != SGPR_DUMMY)
        return false;
    if ((u->flags & ~known) || u->omod || u->n_src != r->n_src || u->excp)
        return false;
    for (unsigned i = 0; i < u->n_src; i++) {
        const struct usrc *s = &u->s[i];
        bool mask = i == 2 && r->kind >= RECIPE_SELECT;
        bool wide = is_wide(r, i);
        unsigned mods = wide ? 0 : SM_ABS | SM_NEG | (i == 0 ? SM_SWIZ : 0);
        if (s->dwords != 1 + wide || s->mods & ~mods || s->prep == PREP_SPECIAL ||
            mask != (s->prep == PREP_MASK))
            return false;
    }
    return true;
}

/* ---- operands -------------------------------------------------------------------- */

/* AND or XOR with the sign, into the temporary of source i. */
static void apply_mods(struct emit *e, unsigned i, unsigned mods, struct x86_rm from)
{
    unsigned t = temp_reg(e, TEMP_S0 + i);
    if (from.kind != RM_REG) {
        x86_vec(e->x, from.kind == RM_BCAST ? X86_BROADCASTSS : X86_MOVUPS, t, 0,
                from.kind == RM_BCAST ? rm_mem(from.mem.base, from.mem.disp) : from, 0,
                0);
        from = rm_reg(t);
    }
    if (mods & SM_ABS) {
        x86_vec(e->x, X86_PAND, t, from.reg, const_rm(C_NOT_SIGN), 0, 0);
        from = rm_reg(t);
    }
    if (mods & SM_NEG)
        x86_vec(e->x, X86_PXOR, t, from.reg, const_rm(C_SIGN), 0, 0);
}

static void find_row(struct emit *e, const struct usrc *s, struct source *to)
{
    *to = (struct source){.row = s->row, .mods = s->mods, .entry = NO_ENTRY};
    if (s->prep == PREP_MASK)
        return;
    if (s->base == SRC_VGPR) {
        /* what finds no place is read from memory, rather than drive out another row */
        bool load = (e->x->evex || e->run.on) && rows_room(e);
        to->entry = load ? rows_load(e, s->row) : rows_find(e, s->row);
        return;
    }
    to->at = s->prep == PREP_SGPR ? AT_WAVE : AT_CONST;
    to->disp = to->at == AT_WAVE ? sgpr_mem(s->sel).disp : s->row * ROW_BYTES;
}

static void find_source(struct emit *e, struct job *j, unsigned i)
{
    find_row(e, &j->u->s[i], &j->s[i]);
    if (is_wide(j->r, i)) {
        struct usrc high = j->u->s[i];
        high.row++;
        high.sel++;
        find_row(e, &high, &j->high);
    }
}

/* Forms that broadcast no dword from memory: shifts by a constant, and those whose
 * elements are of 64 bits. */
static bool takes_no_broadcast(unsigned form)
{
    return (form >= X86_PSLLD_I && form <= X86_PSRLQ_I) || form == X86_PMULUDQ ||
           form == X86_PMULDQ;
}

/* Has the source to be in a register: as the first operand of a step, or where nothing
 * can be broadcast? */
static bool wants_register(const struct recipe *r, unsigned i)
{
    for (unsigned k = 0; k < r->n; k++) {
        const struct step *s = &r->step[k];
        if (s->a == OP_S0 + i || (s->form == STEP_FMA && i == 2) ||
            (s->b == OP_S0 + i && takes_no_broadcast(s->form)))
            return true;
    }
    return false;
}

/* Sources that are the same in all lanes and cannot stay in memory are broadcast once.
 */
static void spread_source(struct emit *e, struct job *j, unsigned i)
{
    struct source *s = &j->s[i];
    if (s->at != AT_WAVE && s->at != AT_CONST)
        return;
    if (e->x->evex && !s->mods && !wants_register(j->r, i))
        return;
    unsigned t = temp_reg(e, TEMP_S0 + i), base = s->at == AT_WAVE ? W : CONSTS;
    x86_vec(e->x, X86_BROADCASTSS, t, 0, rm_mem(base, s->disp), 0, 0);
    if (s->mods)
        apply_mods(e, i, s->mods, rm_reg(t));
    s->at = AT_TEMP;
    s->mods = 0;
}

/* With AVX2, in the third source's temporary, which recipes with pairs leave free. */
static void spread_high(struct emit *e, struct source *s)
{
    if (e->x->evex || (s->at != AT_WAVE && s->at != AT_CONST))
        return;
    x86_vec(e->x, X86_BROADCASTSS, temp_reg(e, TEMP_S2), 0,
            rm_mem(s->at == AT_WAVE ? W : CONSTS, s->disp), 0, 0);
    s->at = AT_TEMP;
}

static struct x86_rm high_rm(const struct emit *e, const struct source *s,
                             unsigned part)
{
    if (s->at == AT_TEMP)
        return rm_reg(temp_reg(e, TEMP_S2));
    if (s->at == AT_ROW)
        return s->entry == NO_ENTRY ? row_mem(e, s->row, part)
                                    : rm_reg(row_reg(e, s->entry, part));
    return (struct x86_rm){.kind = RM_BCAST,
                           .mem = mem_at(s->at == AT_WAVE ? W : CONSTS, s->disp)};
}

/* Source i of one part as a last operand. */
static struct x86_rm source_rm(struct emit *e, struct job *j, unsigned i, unsigned part)
{
    struct source *s = &j->s[i];
    struct x86_rm rm = {.kind = RM_BCAST};
    if (s->at == AT_TEMP)
        return rm_reg(temp_reg(e, TEMP_S0 + i));
    if (s->at == AT_ROW)
        rm = s->entry == NO_ENTRY ? row_mem(e, s->row, part)
                                  : rm_reg(row_reg(e, s->entry, part));
    else
        rm.mem = mem_at(s->at == AT_WAVE ? W : CONSTS, s->disp);
    if (!s->mods)
        return rm;
    apply_mods(e, i, s->mods, rm);
    return rm_reg(temp_reg(e, TEMP_S0 + i));
}

static struct x86_rm operand_rm(struct emit *e, struct job *j, unsigned o,
                                unsigned part)
{
    switch (o) {
    case OP_S0:
    case OP_S1:
    case OP_S2:
        return source_rm(e, j, o - OP_S0, part);
    case OP_H:
        return high_rm(e, &j->high, part);
    case OP_T2:
        return rm_reg(temp_reg(e, TEMP_X));
    case OP_T0:
        return rm_reg(temp_reg(e, TEMP_A));
    case OP_T1:
        return rm_reg(temp_reg(e, TEMP_B));
    case OP_D:
        return rm_reg(row_reg(e, j->d, part));
    default:
        return const_rm(o - OP_CONST);
    }
}

/* ... as a register. */
static unsigned operand_reg(struct emit *e, struct job *j, unsigned o, unsigned part)
{
    struct x86_rm rm = operand_rm(e, j, o, part);
    if (rm.kind == RM_REG)
        return rm.reg;
    unsigned t = temp_reg(e, TEMP_X);
    if (o == OP_H)
        t = temp_reg(e, TEMP_S2);
    else if (o >= OP_S0 && o <= OP_S2)
        t = temp_reg(e, TEMP_S0 + (o - OP_S0));
    if (rm.kind == RM_BCAST)
        x86_vec(e->x, X86_BROADCASTSS, t, 0, rm_mem(rm.mem.base, rm.mem.disp), 0, 0);
    else
        x86_vec(e->x, X86_MOVUPS, t, 0, rm, 0, 0);
    return t;
}

/* ---- EXEC ------------------------------------------------------------------------ */

void emit_spread_mask(struct emit *e, unsigned reg, unsigned sgpr, unsigned part)
{
    x86_vec(e->x, X86_BROADCASTSS, reg, 0, rm_mem(W, sgpr_mem(sgpr).disp), 0, 0);
    x86_vec(e->x, X86_PSLLVD, reg, reg, const_rm(C_LANES0 + part + e->run.quarter), 0,
            0);
}

/* Are some lanes of the result kept? */
static bool keeps_lanes(const struct emit *e, const struct job *j)
{
    return e->masked || j->write != ~0u;
}

static unsigned exec_k(const struct emit *e, const struct job *j, unsigned part)
{
    if (!e->x->evex || !keeps_lanes(e, j))
        return 0;
    return (j->write != ~0u ? K_WRITE : 1) + part;
}

/* DPP: the lanes it reads from and those it writes to. */
static void load_dpp(struct emit *e, struct job *j)
{
    struct x86 *x = e->x;
    j->from = j->s[0];
    if (!x->evex) { /* both halves of a row of 16 are read after one may be written */
        if (j->from.entry != NO_ENTRY)
            rows_store(e, j->from.entry);
        return;
    }
    if (j->dpp->valid != 0xffff) {
        x86_mov_imm(x, RAX, j->dpp->valid);
        x86_k_from_gpr(x, K_VALID, RAX);
    }
    for (unsigned p = 0; p < 2 && j->write != ~0u; p++) {
        x86_mov_imm(x, RAX, j->write >> 16 * p & 0xffffu);
        x86_k_from_gpr(x, K_WRITE + p, RAX);
        if (e->masked)
            x86_kop(x, KOP_AND, K_WRITE + p, K_WRITE + p, 1 + p);
    }
}

/* AVX2: lanes of a row of 16 out of its two halves, which are in memory. */
static void permute_halves(struct emit *e, const struct job *j, unsigned part)
{
    unsigned t = temp_reg(e, TEMP_S0), from = temp_reg(e, TEMP_S2),
             x = temp_reg(e, TEMP_X), row = j->from.row, odd = part & 1u;
    x86_vec(e->x, X86_PMOVZXBD, from, 0, rm_mem(RAX, 8 * (int32_t)odd), 0, 0);
    x86_vec(e->x, X86_PERMD, t, from, row_mem(e, row, part - odd), 0, 0);
    x86_vec(e->x, X86_PERMD, x, from, row_mem(e, row, part - odd + 1), 0, 0);
    x86_vec(e->x, X86_PSLLD_I, from, 0, rm_reg(from), 0, 28); /* from 8 on */
    x86_vec(e->x, X86_BLENDVPS, t, t, rm_reg(x), 0, from << 4);
    if (j->dpp->valid == 0xffff)
        return;
    x86_vec(e->x, X86_BROADCASTSS, x, 0,
            rm_mem(RAX, (int32_t)offsetof(struct udpp, valid)), 0, 0);
    x86_vec(e->x, X86_PSLLVD, x, x, const_rm(C_LANES0 + odd), 0, 0);
    x86_vec(e->x, X86_PSRAD_I, x, 0, rm_reg(x), 0, 31);
    x86_vec(e->x, X86_PAND, t, t, rm_reg(x), 0, 0);
}

/* Source 0 of one part with its lanes where DPP wants them. */
static void permute_source(struct emit *e, struct job *j, unsigned part)
{
    const struct source *s = &j->from;
    unsigned t = temp_reg(e, TEMP_S0), mods = s->mods & (SM_ABS | SM_NEG);
    x86_mov_imm(e->x, RAX, (uintptr_t)j->dpp);
    if (e->x->evex) {
        unsigned k = j->dpp->valid == 0xffff ? 0 : K_VALID | X86_ZERO;
        struct x86_rm rm = s->entry == NO_ENTRY ? row_mem(e, s->row, part)
                                                : rm_reg(row_reg(e, s->entry, part));
        x86_vec(e->x, X86_PMOVZXBD, temp_reg(e, TEMP_S2), 0, rm_mem(RAX, 0), 0, 0);
        x86_vec(e->x, X86_PERMD, t, temp_reg(e, TEMP_S2), rm, k, 0);
    } else {
        permute_halves(e, j, part);
    }
    if (mods)
        apply_mods(e, 0, mods, rm_reg(t));
    j->s[0] = (struct source){.at = AT_TEMP};
}

/* Where the last step writes its result, which finish_d then moves under EXEC. */
static unsigned result_reg(const struct emit *e, const struct job *j, unsigned part)
{
    bool aside = keeps_lanes(e, j) && !e->x->evex;
    return aside ? temp_reg(e, TEMP_X) : row_reg(e, j->d, part);
}

/* AVX2: the lanes that are written, as signs. */
static void spread_written(struct emit *e, const struct job *j, unsigned t,
                           unsigned part)
{
    if (j->write == ~0u) {
        emit_spread_mask(e, t, ISA_SEL_EXEC_LO, part);
        return;
    }
    x86_mov_imm(e->x, RAX, j->write);
    if (e->masked)
        x86_alu_load(e->x, ALU_AND, false, RAX, sgpr_mem(ISA_SEL_EXEC_LO));
    x86_vmovd_from(e->x, t, RAX);
    x86_vec(e->x, X86_PBROADCASTD, t, 0, rm_reg(t), 0, 0);
    x86_vec(e->x, X86_PSLLVD, t, t, const_rm(C_LANES0 + part), 0, 0);
}

static void finish_d(struct emit *e, const struct job *j, unsigned from, unsigned part)
{
    unsigned d = row_reg(e, j->d, part);
    if (keeps_lanes(e, j) && !e->x->evex) {
        unsigned lanes = e->run.on ? RUN_EXEC : temp_reg(e, TEMP_E);
        if (!e->run.on)
            spread_written(e, j, lanes, part);
        x86_vec(e->x, X86_BLENDVPS, d, d, rm_reg(from), 0, lanes << 4);
    } else if (from != d) {
        x86_vec(e->x, X86_MOVUPS, d, 0, rm_reg(from), exec_k(e, j, part), 0);
    }
}

/* ---- steps ----------------------------------------------------------------------- */

static void step_fma(struct emit *e, struct job *j, unsigned part)
{
    unsigned c = operand_reg(e, j, OP_S2, part), d = row_reg(e, j->d, part);
    unsigned a = operand_reg(e, j, OP_S0, part);
    struct x86_rm b = operand_rm(e, j, OP_S1, part);
    if (c == d && (e->x->evex || !keeps_lanes(e, j))) {
        x86_vec(e->x, X86_FMADD231PS, d, a, b, exec_k(e, j, part), 0);
        return;
    }
    bool all = !keeps_lanes(e, j), in_place = a == d && all;
    bool clash = (b.kind == RM_REG && b.reg == d) || c == d;
    unsigned t = in_place || (all && !clash) ? d : temp_reg(e, TEMP_X);
    if (t != a)
        x86_vec(e->x, X86_MOVUPS, t, 0, rm_reg(a), 0, 0);
    x86_vec(e->x, X86_FMADD132PS, t, c, b, 0, 0);
    if (t != d)
        finish_d(e, j, t, part);
}

static void step_compare_evex(struct emit *e, const struct step *s, unsigned a,
                              struct x86_rm b, unsigned part)
{
    enum x86_form form = s->form == STEP_CMPF   ? X86_CMPPS
                         : s->form == STEP_CMPS ? X86_PCMPD
                                                : X86_PCMPUD;
    bool more = s->form != STEP_CMPF && s->imm & CMP_MORE;
    unsigned k = more ? K_MORE : K_MASK + part;
    x86_vec(e->x, form, k, a, b, 0, s->imm & 0x1fu);
    if (more)
        x86_kop(e->x, KOP_OR, K_MASK + part, K_MASK + part, k);
}

/* AVX2 compares integers for equality and signed greater only. */
static void step_compare_vex(struct emit *e, const struct step *s, unsigned a,
                             struct x86_rm b)
{
    unsigned m = temp_reg(e, TEMP_M), more = temp_reg(e, TEMP_E),
             x = temp_reg(e, TEMP_X), cmp = s->imm & 7u;
    if (s->form == STEP_CMPF) {
        x86_vec(e->x, X86_CMPPS, m, a, b, 0, s->imm);
        return;
    }
    unsigned t = s->imm & CMP_MORE ? more : m;
    bool negate = cmp == CMP_NE || cmp == CMP_GE || cmp == CMP_LE;
    if (cmp == CMP_EQ || cmp == CMP_NE) {
        x86_vec(e->x, X86_PCMPEQD, t, a, b, 0, 0);
    } else if (s->form == STEP_CMPS) {
        x86_vec(e->x, X86_MOVUPS, x, 0, b, 0, 0);
        bool swap = cmp == CMP_LT || cmp == CMP_GE; /* a < b is b > a */
        x86_vec(e->x, X86_PCMPGTD, t, swap ? x : a, rm_reg(swap ? a : x), 0, 0);
    } else { /* unsigned: a >= b if the greater of them is a */
        bool below = cmp == CMP_LT || cmp == CMP_GE;
        x86_vec(e->x, below ? X86_PMAXUD : X86_PMINUD, x, a, b, 0, 0);
        x86_vec(e->x, X86_PCMPEQD, t, x, rm_reg(a), 0, 0);
        negate = cmp == CMP_LT || cmp == CMP_GT;
    }
    if (negate)
        x86_vec(e->x, X86_PXOR, t, t, const_rm(C_ONES), 0, 0);
    if (t != m)
        x86_vec(e->x, X86_POR, m, m, rm_reg(t), 0, 0);
}

static void step_select(struct emit *e, struct job *j, const struct step *s,
                        unsigned part)
{
    unsigned a = operand_reg(e, j, s->a, part);
    struct x86_rm b = operand_rm(e, j, s->b, part);
    bool last = s->d == OP_D;
    unsigned d = last ? result_reg(e, j, part) : operand_rm(e, j, s->d, part).reg;
    if (!e->x->evex) {
        x86_vec(e->x, X86_BLENDVPS, d, a, b, 0, temp_reg(e, TEMP_M) << 4);
    } else {
        d = last && keeps_lanes(e, j) ? temp_reg(e, TEMP_X) : d;
        x86_vec(e->x, X86_PBLENDMD, d, a, b, K_MASK + part, 0);
    }
    if (last)
        finish_d(e, j, d, part);
}

/* NaNs among the operands: on to the handler. */
static void step_ordered(struct emit *e, struct job *j, const struct step *s)
{
    unsigned t = temp_reg(e, TEMP_X), m = temp_reg(e, TEMP_M);
    for (unsigned p = 0; p < e->parts; p++) {
        unsigned a = operand_reg(e, j, s->a, p);
        struct x86_rm b = operand_rm(e, j, s->b, p);
        if (e->x->evex) {
            x86_vec(e->x, X86_CMPPS, 5 + p, a, b, 0, 3);
            continue;
        }
        x86_vec(e->x, X86_CMPPS, p ? t : m, a, b, 0, 3);
        if (p)
            x86_vec(e->x, X86_POR, m, m, rm_reg(t), 0, 0);
    }
    if (e->x->evex) {
        x86_kortest(e->x, 5, 6);
    } else {
        x86_vec(e->x, X86_MOVMSKPS, RAX, 0, rm_reg(m), 0, 0);
        x86_test(e->x, false, RAX, RAX);
    }
    far_from(j->slow, x86_jcc(e->x, CC_NE));
}

/* NaNs among the operands: the lanes where there is one are put right elsewhere. */
static void step_pick(struct emit *e, struct job *j, const struct step *s,
                      unsigned part)
{
    unsigned a = operand_reg(e, j, s->a, part), x = temp_reg(e, TEMP_X);
    struct x86_rm b = operand_rm(e, j, s->b, part);
    x86_vec(e->x, X86_CMPPS, x, a, b, 0, 3);
    x86_vec(e->x, X86_MOVMSKPS, RAX, 0, rm_reg(x), 0, 0);
    x86_test(e->x, false, RAX, RAX);
    struct far *f = emit_far(e, FAR_PICK, j->u);
    far_from(f, x86_jcc(e->x, CC_NE));
    if (!f)
        return;
    f->a = rm_reg(a);
    f->b = b;
    f->d = operand_rm(e, j, s->d, part).reg;
    f->back = x86_here(e->x);
}

/* fp_pick32: the other operand if one is a NaN; in IEEE mode signalling NaNs, made
 * quiet, the first operand's before the second's. */
void emit_pick(struct emit *e, const struct far *f)
{
    const struct x86_rm operand[] = {f->a, f->b};
    unsigned x = temp_reg(e, TEMP_X), t = temp_reg(e, TEMP_B), m = temp_reg(e, TEMP_E);
    for (unsigned i = 0; i < 2; i++) {
        x86_vec(e->x, X86_MOVUPS, x, 0, operand[i], 0, 0);
        x86_vec(e->x, X86_CMPPS, x, x, rm_reg(x), 0, 3);
        x86_vec(e->x, X86_BLENDVPS, f->d, f->d, operand[!i], 0, x << 4);
    }
    for (unsigned i = 2; i-- > 0 && e->mode & NATIVE_IEEE;) {
        x86_vec(e->x, X86_MOVUPS, x, 0, operand[i], 0, 0);
        x86_vec(e->x, X86_CMPPS, m, x, rm_reg(x), 0, 3);
        x86_vec(e->x, X86_PAND, t, x, const_rm(C_QUIET), 0, 0);
        x86_vec(e->x, X86_PCMPEQD, t, t, const_rm(C_ZERO), 0, 0);
        x86_vec(e->x, X86_PAND, m, m, rm_reg(t), 0, 0);
        x86_vec(e->x, X86_POR, x, x, const_rm(C_QUIET), 0, 0);
        x86_vec(e->x, X86_BLENDVPS, f->d, f->d, rm_reg(x), 0, m << 4);
    }
}

static void run_step(struct emit *e, struct job *j, const struct step *s, unsigned part)
{
    if (s->d == OP_DH) {
        struct job high = *j;
        struct step step = *s;
        high.d = j->dh;
        step.d = OP_D;
        run_step(e, &high, &step, part);
        return;
    }
    if (s->form == STEP_FMA) {
        step_fma(e, j, part);
    } else if (s->form == STEP_SEL) {
        step_select(e, j, s, part);
    } else if (s->form == STEP_PICK) {
        step_pick(e, j, s, part);
    } else if (s->form >= STEP_CMPF && s->form <= STEP_CMPU) {
        unsigned a = operand_reg(e, j, s->a, part);
        struct x86_rm b = operand_rm(e, j, s->b, part);
        e->run.m_sgpr = NO_SGPR;
        if (e->x->evex)
            step_compare_evex(e, s, a, b, part);
        else
            step_compare_vex(e, s, a, b);
    } else if (s->form < X86_FORMS) {
        unsigned a = s->a == OP_NONE ? 0 : operand_reg(e, j, s->a, part);
        struct x86_rm b = operand_rm(e, j, s->b, part);
        bool last = s->d == OP_D;
        /* shifts by a constant take memory with AVX-512 alone */
        if (b.kind != RM_REG && (b.kind == RM_BCAST || !e->x->evex) &&
            s->form >= X86_PSLLD_I && s->form <= X86_PSRLQ_I)
            b = rm_reg(operand_reg(e, j, s->b, part));
        if (s->form == X86_MOVUPS && b.kind == RM_BCAST) { /* a move, the last step */
            x86_vec(e->x, X86_BROADCASTSS, row_reg(e, j->d, part), 0,
                    rm_mem(b.mem.base, b.mem.disp), exec_k(e, j, part), 0);
            return;
        }
        unsigned d = last ? result_reg(e, j, part) : operand_rm(e, j, s->d, part).reg;
        x86_vec(e->x, s->form, d, a, b, last ? exec_k(e, j, part) : 0, s->imm);
        if (last)
            finish_d(e, j, d, part);
    }
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

/* A run: the bits of a quarter, in eax, to those of the quarters before. */
static void store_quarter(struct emit *e, unsigned sgpr)
{
    unsigned i = 0, shift = 8 * e->run.quarter;
    while (i + 1 < e->run.n_masks && e->run.mask[i] != sgpr)
        i++;
    unsigned reg = run_mask_reg[i];
    e->run.m_sgpr = sgpr;
    if (!shift) {
        x86_mov(e->x, false, reg, RAX);
        return;
    }
    x86_alu_imm(e->x, ALU_AND, false, reg, (int32_t)((1u << shift) - 1));
    x86_shift_imm(e->x, SHIFT_SHL, false, RAX, shift);
    x86_alu(e->x, ALU_OR, false, reg, RAX);
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
        x86_alu_load(e->x, ALU_AND, false, RAX, sgpr_mem(ISA_SEL_EXEC_LO));
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

/* All of the instruction once its sources are found and its result has a place. */
static void run_recipe(struct emit *e, struct job *j)
{
    const struct recipe *r = j->r;
    if (j->dpp)
        load_dpp(e, j);
    for (unsigned i = 0; i < r->n_src; i++)
        spread_source(e, j, i);
    spread_high(e, &j->high);
    for (unsigned k = 0; k < r->n; k++)
        if (r->step[k].form == STEP_ORDERED)
            step_ordered(e, j, &r->step[k]);
    for (unsigned part = 0; part < e->parts; part++) {
        if (r->kind >= RECIPE_SELECT)
            load_mask(e, &j->u->s[2], part);
        if (j->dpp)
            permute_source(e, j, part);
        for (unsigned k = 0; k < r->n; k++)
            run_step(e, j, &r->step[k], part);
        if (gives_mask(r) && !e->x->evex)
            emit_collect_mask(e, part);
    }
    if (gives_mask(r))
        emit_store_mask(e, j->u);
}

static const struct udpp *dpp_of(const struct uop *u)
{
    return u->flags & (UF_DPP_ROW | UF_DPP8) ? &u[1].dpp : NULL;
}

/* The lanes that DPP lets an instruction write whose lanes are all on, or that reads
 * lanes which are off (FI). */
static uint32_t dpp_writes(const struct udpp *dpp)
{
    uint32_t lanes = 0;
    for (unsigned l = 0; l < 32; l++) {
        bool on = dpp->row_mask >> l / 16 & 1u && dpp->bank_mask >> l % 16 / 4 & 1u;
        bool valid = dpp->bound_ctrl || dpp->valid >> l % 16 & 1u;
        lanes |= (uint32_t)(on && valid) << l;
    }
    return lanes;
}

static bool may_be_slow(const struct recipe *r)
{
    for (unsigned k = 0; k < r->n; k++)
        if (r->step[k].form == STEP_ORDERED)
            return true;
    return false;
}

static bool reads_row(const struct uop *u, unsigned row)
{
    for (unsigned i = 0; i < u->n_src; i++)
        if (u->s[i].base == SRC_VGPR && row - u->s[i].row < u->s[i].dwords)
            return true;
    return false;
}

/* Give the result its place, before the sources theirs: AVX2 has few. */
static void place_result(struct emit *e, struct job *j, bool *was_used, bool *was_dirty)
{
    unsigned c = e->rows.entry_of[j->u->d];
    bool reads = reads_row(j->u, j->u->d);
    bool keep = keeps_lanes(e, j) || reads;
    *was_used = c != NO_ENTRY || keep;
    *was_dirty = c != NO_ENTRY && e->rows.dirty[c];
    j->d = rows_write(e, j->u->d, keep);
    if (j->r->kind == RECIPE_PAIR)
        j->dh = rows_write(e, j->u->d + 1,
                           keeps_lanes(e, j) || reads_row(j->u, j->u->d + 1u));
}

/* The slow path finds registers as they were before the result. */
static void begin_slow(struct emit *e, struct job *j, bool was_used, bool was_dirty)
{
    e->rows.dirty[j->d] = was_dirty;
    e->rows.used[j->d] = was_used;
    j->slow = emit_far(e, FAR_SLOW, j->u);
    e->rows.dirty[j->d] = e->rows.used[j->d] = true;
}

static void emit_one(struct emit *e, const struct uop *u, const struct recipe *r)
{
    struct job j = {.u = u,
                    .r = r,
                    .has_d = r->kind != RECIPE_MASK,
                    .write = ~0u,
                    .dpp = dpp_of(u)};
    if (j.dpp)
        j.write = dpp_writes(j.dpp);
    bool was_used = false, was_dirty = false;
    if (j.has_d)
        place_result(e, &j, &was_used, &was_dirty);
    for (unsigned i = 0; i < r->n_src; i++)
        find_source(e, &j, i);
    bool needs_all = j.dpp && e->masked && !j.dpp->fi;
    if (may_be_slow(r) || needs_all)
        begin_slow(e, &j, was_used, was_dirty);
    if (needs_all) { /* lanes that are off are no sources */
        x86_alu_mem_imm(e->x, ALU_CMP, false, sgpr_mem(ISA_SEL_EXEC_LO), -1);
        far_from(j.slow, x86_jcc(e->x, CC_NE));
    }
    run_recipe(e, &j);
    rows_unpin(e);
    if (j.slow)
        emit_back(e, j.slow);
    if (gives_mask(r) && u->d2 == ISA_SEL_EXEC_LO)
        emit_new_exec(e);
}

/* Can the recipe be done with u's DPP? The third temporary has the lanes
 * until a part's first step. */
static bool suits_dpp(const struct recipe *r, const struct uop *u)
{
    const struct udpp *dpp = dpp_of(u);
    if (!dpp)
        return true;
    if (r->kind != RECIPE_VALUE || may_be_slow(r))
        return false;
    return u->n_src < 3 || (u->s[2].base == SRC_VGPR && !u->s[2].mods);
}

bool emit_vector(struct emit *e, const struct uop *u)
{
    const struct recipe *r = recipe_for(e, u->isa_op);
    if (!r || !suits(r, u) || !suits_dpp(r, u))
        return false;
    emit_one(e, u, r);
    return true;
}

bool emit_known_vector(const struct emit *e, const struct uop *u,
                       const struct recipe *r[2])
{
    unsigned n = u->flags & UF_PAIR ? 2 : 1;
    r[0] = r[1] = NULL;
    if (!emit_usual(e, u) || (n == 2 && !(u->flags & UF_DIRECT)) || dpp_of(u))
        return false;
    for (unsigned i = 0; i < n; i++) {
        r[i] = recipe_for(e, u[i].isa_op);
        if (!r[i] || !suits(r[i], &u[i]) || may_be_slow(r[i]))
            return false;
    }
    return !(u->flags & UF_MASK_OUT) || u->d2 != ISA_SEL_EXEC_LO;
}

/* Both halves read their sources before either writes: done one after the other if Y
 * reads nothing that X writes. */
bool emit_vopd(struct emit *e, const struct uop *u)
{
    const struct uop *y = u + 1;
    if (!(u->flags & UF_PAIR) || !(u->flags & UF_DIRECT))
        return false;
    const struct recipe *rx = recipe_for(e, u->isa_op);
    const struct recipe *ry = recipe_for(e, y->isa_op);
    if (!rx || !ry || !suits(rx, u) || !suits(ry, y) || may_be_slow(rx) ||
        may_be_slow(ry))
        return false;
    emit_one(e, u, rx);
    emit_one(e, y, ry);
    return true;
}
