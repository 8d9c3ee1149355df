/* hazards.c: results of the VALU that are read too soon: what software has to keep
 * apart on this chip, by s_waitcnt_depctr or an instruction between.
 *
 * The manual is silent on them; which they are, and how far apart is enough, is what
 * LLVM's hazard recognizer does for gfx11. Positions are counts of VALU instructions. A
 * memory access or an s_waitcnt_depctr va_vdst(0) lets all of them end first. Must not
 * know of counters of memory. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "internal.h"
#include "states.h"

enum {
    BEGIN = 64,       /* the first position: nothing is near it */
    TRANS_VALUS = 5,  /* between a transcendental and its use: so many are too few, */
    TRANS_TRANS = 1,  /* if no more of them are transcendental */
    PARTIAL_POST = 4, /* between the younger operand and its use */
    PARTIAL_EXEC = 2, /* between both operands, beside the change of EXEC */
    NEAR = 12,        /* positions behind which nothing matters any more */
    MASK_NEAR = 16,   /* instructions between the VALU's reading a mask and the rest */
    EXECS = 4,
};

/* The last write of a VGPR. */
struct def {
    uint64_t pc;
    uint32_t at, trans; /* positions */
    bool is_trans;
};

struct ck_hazards {
    struct def def[256];
    uint32_t valus, trans; /* issued */
    uint32_t settled;      /* all before this position have ended */
    uint32_t exec[EXECS];  /* positions of the last changes of EXEC by the SALU */
    unsigned n_execs;
    uint64_t matrix_pc; /* of the VALU instruction before, if it was a WMMA; else 0 */
    struct emu_reg matrix;
    struct emu_reg mask; /* the last that a VALU instruction has read */
    uint64_t mask_pc;    /* 0: none, or enough has happened since */
    uint64_t mask_written_pc;
    uint64_t mask_index; /* of the instruction that has read it */
    uint64_t index;      /* of the running one, of those seen */
    uint64_t behind;     /* the PC behind a branch: elsewhere masks do not matter */
    struct ck_clause clause;
};

static bool is_valu(const struct isa_inst *inst)
{
    return inst->enc >= ISA_ENC_VOP1 && inst->enc <= ISA_ENC_VINTERP;
}

static bool is_salu(const struct isa_inst *inst)
{
    return inst->enc >= ISA_ENC_SOP1 && inst->enc <= ISA_ENC_SOPP;
}

static bool overlap(const struct emu_reg *a, const struct emu_reg *b)
{
    return a->sel < b->sel + b->dwords && b->sel < a->sel + a->dwords;
}

static void tell(struct ck *ck, const struct ck_wave *w, const struct emu_event *e,
                 const char *kind, uint64_t pc, const char *text)
{
    struct ck_finding f;
    ck_finding_at(ck, CK_WAIT, kind, e, 0, &f);
    ck_actor_at(ck, w, pc, 0, &f.other);
    (void)snprintf(f.text, sizeof f.text, "%s", text);
    ck_report(ck, &f);
}

/* ---- registers that the VALU has written ---- */

static void check_trans(struct ck *ck, const struct ck_wave *w,
                        const struct emu_event *e, unsigned reg)
{
    const struct ck_hazards *h = w->hazards;
    const struct def *d = &h->def[reg];
    char text[128];
    if (!d->is_trans || d->at < h->settled || h->valus - d->at - 1 > TRANS_VALUS ||
        h->trans - d->trans - 1 > TRANS_TRANS)
        return;
    (void)snprintf(
        text, sizeof text,
        "v%u is read %u VALU instructions behind the transcendental one that "
        "writes it, without s_waitcnt_depctr",
        reg, h->valus - d->at);
    tell(ck, w, e, "trans-use", d->pc, text);
}

/* What an instruction of a wave64 reads of either side of a change of EXEC. */
struct sides {
    const struct def *before, *after; /* the youngest; NULL: none */
};

static void take_side(struct sides *s, const struct def *d, uint32_t exec)
{
    const struct def **to = d->at < exec ? &s->before : &s->after;
    if (!*to || d->at > (*to)->at)
        *to = d;
}

/* The write of an operand that is the last; NULL: it is no VGPR that is read. */
static const struct def *def_of(const struct ck_hazards *h, const struct emu_reg *g)
{
    const struct def *found = NULL;
    if (!(g->flags & ISA_OF_IN) || g->sel < ISA_SEL_VGPR0)
        return NULL;
    for (unsigned k = 0; k < g->dwords; k++) {
        const struct def *d = &h->def[g->sel - ISA_SEL_VGPR0 + k];
        if (!found || d->at > found->at)
            found = d;
    }
    return found;
}

/* The youngest operand. */
static const struct def *youngest(const struct ck_hazards *h,
                                  const struct emu_inst *inst)
{
    const struct def *found = NULL;
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct def *d = def_of(h, &inst->reg[i]);
        if (d && (!found || d->at > found->at))
            found = d;
    }
    return found;
}

static void check_partial(struct ck *ck, const struct ck_wave *w,
                          const struct emu_event *e)
{
    const struct ck_hazards *h = w->hazards;
    const struct def *last = youngest(h, e->inst);
    struct sides s = {NULL, NULL};
    unsigned i = h->n_execs;
    while (last && i > 0 && h->exec[(i - 1) % EXECS] > last->at &&
           h->n_execs - i < EXECS)
        i--;
    if (!last || !i || h->n_execs - i >= EXECS || last->at < h->settled)
        return;
    uint32_t exec = h->exec[(i - 1) % EXECS];
    for (unsigned k = 0; k < e->inst->n_regs; k++) {
        const struct def *d = def_of(h, &e->inst->reg[k]);
        if (d)
            take_side(&s, d, exec);
    }
    if (!s.before || !s.after || s.before->at < h->settled ||
        h->valus - s.after->at - 1 > PARTIAL_POST ||
        (exec - s.before->at - 1) + (s.after->at - exec) > PARTIAL_EXEC)
        return;
    tell(ck, w, e, "partial-forwarding", s.before->pc,
         "operands come from VALU instructions right before and right behind a change "
         "of "
         "EXEC, without s_waitcnt_depctr");
}

static void check_matrix(struct ck *ck, const struct ck_wave *w,
                         const struct emu_event *e)
{
    const struct ck_hazards *h = w->hazards;
    unsigned number = 0; /* of the source: A, B, C */
    for (unsigned i = 0; i < e->inst->isa.n_opnds && h->matrix_pc; i++) {
        const struct isa_opnd *o = &e->inst->isa.opnd[i];
        const struct emu_reg g = {.sel = o->sel, .dwords = o->dwords};
        if (o->flags & ISA_OF_OUT)
            continue;
        if (number++ < 2 && o->kind == ISA_OPND_REG && overlap(&g, &h->matrix)) {
            tell(ck, w, e, "matrix-forwarding", h->matrix_pc,
                 "a matrix is read that the instruction before writes, without v_nop");
            return;
        }
    }
}

/* ---- masks that the VALU reads and the SALU writes (wave64) ---- */

static void follow_mask(struct ck_hazards *h, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        bool scalar = o->kind == ISA_OPND_REG && o->sel < ISA_SEL_EXEC_LO &&
                      o->sel != ISA_SEL_NULL;
        if (!(o->flags & ISA_OF_IN) || (o->kind != ISA_OPND_LITERAL && !scalar))
            continue;
        bool mask = scalar && o->fmt == ISA_FMT_M64 && o->sel != ISA_SEL_M0;
        h->mask_pc = mask ? e->inst->pc : 0;
        h->mask_written_pc = 0;
        h->mask_index = h->index;
        h->mask = (struct emu_reg){.sel = o->sel, .dwords = 2};
    }
}

static void check_mask(struct ck *ck, const struct ck_wave *w,
                       const struct emu_event *e)
{
    struct ck_hazards *h = w->hazards;
    if (h->index - h->mask_index > MASK_NEAR) /* far enough, surely */
        h->mask_pc = 0;
    for (unsigned i = 0; i < e->inst->n_regs && h->mask_pc; i++) {
        const struct emu_reg *g = &e->inst->reg[i];
        if (!(g->flags & ISA_OF_IN) || !h->mask_written_pc || !overlap(g, &h->mask))
            continue;
        tell(ck, w, e, "mask-write", h->mask_written_pc,
             "the SALU reads what it has written over a mask that the VALU has read, "
             "without s_waitcnt_depctr");
        h->mask_pc = h->mask_written_pc = 0;
        return;
    }
    for (unsigned i = 0; i < e->inst->n_regs && h->mask_pc; i++)
        if (e->inst->reg[i].flags & ISA_OF_OUT && overlap(&e->inst->reg[i], &h->mask))
            h->mask_written_pc = e->inst->pc;
}

/* ---- */

static void valu(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct ck_hazards *h = w->hazards;
    const struct emu_inst *inst = e->inst;
    unsigned pipe = isa_facts(inst->isa.op)->pipe;
    bool matrix = pipe == ISA_PIPE_WMMA || pipe == ISA_PIPE_WMMA4;
    for (unsigned i = 0; i < inst->n_regs && e->exec; i++) {
        const struct emu_reg *g = &inst->reg[i];
        for (unsigned k = 0; k < g->dwords && g->sel >= ISA_SEL_VGPR0; k++)
            if (g->flags & ISA_OF_IN)
                check_trans(ck, w, e, g->sel - ISA_SEL_VGPR0 + k);
    }
    if (e->wave->lanes == 64 && e->exec && h->n_execs)
        check_partial(ck, w, e);
    if (e->wave->lanes == 64)
        follow_mask(h, e);
    if (matrix)
        check_matrix(ck, w, e);
    h->matrix_pc = 0;
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct emu_reg *g = &inst->reg[i];
        if (!(g->flags & ISA_OF_OUT) || g->sel < ISA_SEL_VGPR0)
            continue;
        for (unsigned k = 0; k < g->dwords; k++)
            h->def[g->sel - ISA_SEL_VGPR0 + k] =
                (struct def){inst->pc, h->valus, h->trans, pipe == ISA_PIPE_TRANS};
        if (matrix) {
            h->matrix_pc = inst->pc;
            h->matrix = *g;
        }
    }
    h->valus++;
    h->trans += pipe == ISA_PIPE_TRANS;
}

static void salu(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct ck_hazards *h = w->hazards;
    const struct isa_inst *inst = &e->inst->isa;
    if (inst->op == ISA_S_WAITCNT_DEPCTR) { /* fields that are 0 are waited for */
        unsigned imm = inst->n_opnds ? (unsigned)inst->opnd[0].imm : 0xffffu;
        if (!(imm >> 12 & 15u))
            h->settled = h->valus;
        if (!(imm & 1u))
            h->mask_pc = h->mask_written_pc = 0;
        return;
    }
    if (e->wave->lanes == 64 && h->mask_pc)
        check_mask(ck, w, e);
    for (unsigned i = 0; i < e->inst->n_regs; i++)
        if (e->inst->reg[i].flags & ISA_OF_OUT &&
            e->inst->reg[i].sel == ISA_SEL_EXEC_LO)
            h->exec[h->n_execs++ % EXECS] = h->valus;
}

static struct ck_hazards *hazards_new(struct ck_wave *w)
{
    w->hazards = calloc(1, sizeof *w->hazards);
    if (w->hazards)
        w->hazards->valus = w->hazards->trans = BEGIN + NEAR;
    return w->hazards;
}

void ck_hazard_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    struct ck_hazards *h = w->hazards ? w->hazards : hazards_new(w);
    if (!h)
        return;
    h->index++;
    ck_clause_step(ck, w, &h->clause, e);
    ck_dual_step(ck, w, e);
    if (h->behind && h->behind != e->inst->pc)
        h->mask_pc = 0; /* a branch that is taken takes time */
    h->behind = e->inst->kind == EMU_KIND_BRANCH && h->mask_pc
                    ? e->inst->pc + e->inst->bytes
                    : 0;
    if (is_valu(inst))
        valu(ck, w, e);
    else if (is_salu(inst))
        salu(ck, w, e);
    else if (inst->enc >= ISA_ENC_DS)
        h->settled = h->valus;
}

void ck_hazard_gone(struct ck_wave *w)
{
    free(w->hazards);
    w->hazards = NULL;
}

/* ---- as a state ---- */

/* What still matters; positions as distances. */
struct saved {
    uint64_t matrix_pc, mask_pc, mask_written_pc, behind;
    struct ck_clause clause;
    uint16_t matrix_sel, mask_sel;
    uint16_t n_defs;
    uint8_t matrix_dwords, mask_age, n_execs;
    uint8_t exec[EXECS];
    uint8_t none[1];
};

struct saved_def {
    uint64_t pc;
    uint8_t reg, at, trans, is_trans, none[4];
};

/* May anything still depend on the write? */
static bool matters(const struct ck_hazards *h, const struct def *d, bool wave64)
{
    unsigned age = h->valus - d->at;
    if (d->at < h->settled || !d->pc || age >= NEAR)
        return false;
    return wave64 || (d->is_trans && age - 1 <= TRANS_VALUS &&
                      h->trans - d->trans - 1 <= TRANS_TRANS);
}

static void save_masks(const struct ck_hazards *h, struct saved *s)
{
    if (h->matrix_pc) {
        s->matrix_pc = h->matrix_pc;
        s->matrix_sel = h->matrix.sel;
        s->matrix_dwords = h->matrix.dwords;
    }
    if (!h->mask_pc || h->index - h->mask_index > MASK_NEAR)
        return;
    s->mask_pc = h->mask_pc;
    s->mask_written_pc = h->mask_written_pc;
    s->mask_sel = h->mask.sel;
    s->mask_age = (uint8_t)(h->index - h->mask_index);
    s->behind = h->behind;
}

bool ck_hazard_save(const struct ck_wave *w, struct state_bytes *to)
{
    const struct ck_hazards *h = w->hazards;
    struct saved s = {0};
    struct saved_def def[256];
    bool wave64 = w->info->lanes == 64;
    if (!h)
        return false;
    for (unsigned i = 0; i < 256; i++)
        if (matters(h, &h->def[i], wave64))
            def[s.n_defs++] =
                (struct saved_def){.pc = h->def[i].pc,
                                   .reg = (uint8_t)i,
                                   .at = (uint8_t)(h->valus - h->def[i].at),
                                   .trans = (uint8_t)(h->trans - h->def[i].trans),
                                   .is_trans = h->def[i].is_trans};
    unsigned first = h->n_execs > EXECS ? h->n_execs - EXECS : 0;
    for (unsigned i = first; i < h->n_execs && wave64; i++)
        if (h->valus - h->exec[i % EXECS] < NEAR)
            s.exec[s.n_execs++] = (uint8_t)(h->valus - h->exec[i % EXECS]);
    save_masks(h, &s);
    s.clause = h->clause;
    if (!s.n_defs && !s.n_execs && !s.matrix_pc && !s.mask_pc && !s.clause.left)
        return false;
    state_put(to, &s, sizeof s);
    state_put(to, def, s.n_defs * sizeof *def);
    return true;
}

void ck_hazard_load(struct ck_wave *w, const uint8_t *from, size_t n)
{
    struct ck_hazards *h = w->hazards;
    struct saved s;
    if (h) {
        memset(h, 0, sizeof *h);
        h->valus = h->trans = BEGIN + NEAR;
    }
    if (!n || (!h && !(h = hazards_new(w))))
        return;
    state_take(&from, &s, sizeof s);
    for (unsigned i = 0; i < s.n_defs; i++) {
        struct saved_def d;
        state_take(&from, &d, sizeof d);
        h->def[d.reg] =
            (struct def){d.pc, h->valus - d.at, h->trans - d.trans, d.is_trans};
    }
    for (unsigned i = 0; i < s.n_execs; i++)
        h->exec[h->n_execs++] = h->valus - s.exec[i];
    h->matrix_pc = s.matrix_pc;
    h->matrix = (struct emu_reg){.sel = s.matrix_sel, .dwords = s.matrix_dwords};
    h->index = 2ul * MASK_NEAR;
    h->mask_index = h->index - s.mask_age;
    h->mask_pc = s.mask_pc;
    h->mask_written_pc = s.mask_written_pc;
    h->mask = (struct emu_reg){.sel = s.mask_sel, .dwords = 2};
    h->behind = s.behind;
    h->clause = s.clause;
}
