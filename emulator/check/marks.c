/* marks.c: init: which runs of instructions need not be seen (emu_glance.marks).
 *
 * Registers of which any bit may be undefined are marked, and so are LDS and pages of
 * memory. A run that reads none, in the lanes that are on, has no findings, and gives
 * what it writes values: it counts as done when it begins. What is seen in the midst of
 * it finds registers so. Must not know the rules of opcodes. Invariant: a register
 * without a mark has no undefined bit.
 * SPDX-License-Identifier: MIT
 */
#include "facts.h"
#include "init.h"

static struct ck_wave *wave_of(const struct ck *ck, const struct emu_wave_info *info)
{
    return ck->stopped ? NULL : ck->slots[info->slot];
}

const struct emu_marks *ck_init_marks(void *ctx, const struct emu_wave_info *info)
{
    static const uint32_t clean;
    static const struct emu_marks none = {.lds = &clean};
    const struct ck_wave *w = wave_of(ctx, info);
    return w && w->init ? &w->init->marks : &none;
}

bool ck_init_settle(void *ctx, const struct emu_event *e)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, e->wave);
    return w && w->init && !init_lds_settle(ck, w, e);
}

bool ck_init_rest(void *ctx, const struct emu_wave_info *info)
{
    const struct ck_wave *w = wave_of(ctx, info);
    return w && w->init && w->init->rest;
}

bool ck_init_clip(void *ctx, uint64_t address, uint64_t *base, uint64_t *end)
{
    const struct ck *ck = ctx;
    return init_memory_clip(ck->init->memory, address, base, end);
}

/* ---- what a run does ---- */

static void note_read(struct emu_run *run, const struct emu_reg *g, bool all)
{
    for (unsigned i = 0; i < g->dwords; i++) {
        int mark = emu_mark_of(g->sel + i);
        if (mark < 0)
            continue;
        if (!emu_mark_get(run->writes, (unsigned)mark))
            emu_mark_set(run->reads, (unsigned)mark);
        if (all)
            emu_mark_set(run->reads_all, (unsigned)mark);
    }
}

static void note_write(struct emu_run *run, const struct emu_reg *g)
{
    for (unsigned i = 0; i < g->dwords; i++) {
        int mark = emu_mark_of(g->sel + i);
        if (mark >= 0)
            emu_mark_set(run->writes, (unsigned)mark);
    }
}

static bool is_atomic(const struct isa_facts *facts)
{
    return facts->access == ISA_ACCESS_ATOMIC || facts->access == ISA_ACCESS_UPDATE;
}

/* Has it a result, or may what it reads be told of? Messages have not. */
static bool has_effect(const struct emu_inst *inst)
{
    bool effect = inst->kind == EMU_KIND_BRANCH || inst->kind == EMU_KIND_MEMORY ||
                  inst->isa.op == ISA_S_SETREG_B32;
    for (unsigned i = 0; i < inst->n_regs && !effect; i++)
        effect = inst->reg[i].flags & ISA_OF_OUT;
    return effect && (inst->kind == EMU_KIND_BRANCH || inst->kind == EMU_KIND_MEMORY ||
                      inst->kind == EMU_KIND_COMPUTE || inst->kind == EMU_KIND_MESSAGE);
}

void ck_init_note(void *ctx, const struct emu_inst *inst, struct emu_run *run)
{
    const struct isa_facts *facts = isa_facts(inst->isa.op);
    unsigned rule = rule_of(inst->isa.op).rule;
    bool first = rule == RULE_READFIRST, crosses = init_crosses(inst) && !first;
    bool memory = inst->kind == EMU_KIND_MEMORY && !rule_crosses(rule);
    (void)ctx;
    if (!has_effect(inst))
        return;
    run->reads_lane |= first;
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct emu_reg *g = &inst->reg[i];
        bool partial = inst->kind != EMU_KIND_BRANCH && g->flags & ISA_OF_OUT &&
                       g->sel >= ISA_SEL_VGPR0 && init_is_partial(inst, g);
        if (g->flags & ISA_OF_IN || partial)
            note_read(run, g, crosses && g->flags & ISA_OF_IN);
    }
    if (memory && is_atomic(facts) && !init_returns(&inst->isa))
        return;
    for (unsigned i = 0; i < inst->n_regs; i++)
        if (inst->reg[i].flags & ISA_OF_OUT)
            note_write(run, &inst->reg[i]);
}

/* ---- may it be done unseen? ---- */

static unsigned sel_of(unsigned mark)
{
    return mark < 32 * EMU_MARK_SCALARS ? ISA_SEL_VGPR0 + mark
           : mark < 32 * EMU_MARK_SCC   ? mark - 32 * EMU_MARK_SCALARS
                                        : ISA_SEL_SCC;
}

static uint64_t undefined(const struct init_wave *r, unsigned sel)
{
    return sel >= ISA_SEL_VGPR0 ? r->lanes[sel - ISA_SEL_VGPR0]
           : sel == ISA_SEL_SCC ? r->scc
                                : r->sgpr[sel];
}

/* Is what the run reads of a marked register undefined? */
static bool matters(const struct init_wave *r, const struct emu_run *run, unsigned mark,
                    uint64_t exec)
{
    unsigned sel = sel_of(mark);
    uint64_t bad = undefined(r, sel);
    bool reads = emu_mark_get(run->reads, mark);
    if (sel < ISA_SEL_VGPR0)
        return bad && reads;
    return (reads && bad & exec) || (emu_mark_get(run->reads_all, mark) && bad & ~exec);
}

/* The run gives a marked register a value. */
static void define(struct init_wave *r, unsigned mark, uint64_t exec)
{
    unsigned sel = sel_of(mark);
    const struct emu_reg g = {.sel = (uint16_t)sel, .dwords = 1};
    uint64_t bad = undefined(r, sel) & (sel >= ISA_SEL_VGPR0 ? exec : UINT32_MAX);
    if (bad)
        r->kept[r->n_kept++] = (struct init_kept){
            (uint16_t)sel, bad,
            sel >= ISA_SEL_VGPR0 ? r->never[sel - ISA_SEL_VGPR0] & exec : 0};
    init_clean(r, &g, exec);
}

bool ck_init_touch(void *ctx, const struct emu_wave_info *info,
                   const struct emu_run *run, uint64_t exec, uint64_t index)
{
    const struct ck_wave *w = wave_of(ctx, info);
    struct init_wave *r = w ? w->init : NULL;
    if (!r)
        return true;
    if (run->reads_lane && !exec)
        return false;
    for (unsigned k = 0; k < EMU_MARK_WORDS; k++)
        for (uint32_t m = r->marks.reg[k] & (run->reads[k] | run->reads_all[k]); m;
             m &= m - 1)
            if (matters(r, run, 32 * k + (unsigned)__builtin_ctz(m), exec))
                return false;
    r->n_kept = 0;
    r->kept_from = index;
    r->kept_to = index + run->n;
    for (unsigned k = 0; k < EMU_MARK_WORDS; k++) {
        uint32_t touched = run->reads[k] | run->reads_all[k] | run->writes[k];
        for (uint32_t m = r->marks.reg[k] & touched; m; m &= m - 1) {
            unsigned mark = 32 * k + (unsigned)__builtin_ctz(m);
            if (emu_mark_get(run->writes, mark))
                define(r, mark, exec);
            if (!undefined(r, sel_of(mark)))
                emu_mark_clear(r->marks.reg, mark);
        }
    }
    return true;
}

/* ---- what was not done after all ---- */

static void give_back(struct init_wave *r, const struct init_kept *k)
{
    if (k->sel >= ISA_SEL_VGPR0) {
        r->lanes[k->sel - ISA_SEL_VGPR0] |= k->lanes;
        r->never[k->sel - ISA_SEL_VGPR0] |= k->never;
        init_mark(r, k->sel);
    } else {
        init_set_sgpr(r, k->sel, (uint32_t)k->lanes,
                      k->sel == ISA_SEL_SCC ? r->scc_from : r->sgpr_from[k->sel]);
    }
}

void init_undo(struct init_wave *r, const struct emu_event *e)
{
    if (!(e->flags & EMU_EV_FOLLOWED) || e->index < r->kept_from ||
        e->index >= r->kept_to)
        return;
    for (unsigned i = 0; i < e->inst->n_regs; i++) {
        const struct emu_reg *g = &e->inst->reg[i];
        for (unsigned k = 0; g->flags & ISA_OF_OUT && k < r->n_kept; k++)
            if (r->kept[k].sel >= g->sel && r->kept[k].sel < g->sel + g->dwords)
                give_back(r, &r->kept[k]);
    }
}
