/* glance.c: what checkers need not see, so that checked kernels are native code: the
 * checkers' side of emu_glance.
 *
 * Bounds that native code checks are as exact as those of mem: what is in them needs no
 * event. race judges accesses by rows when it is asked. What wait knows of a wave is a
 * numbered state, what init does are marks. Must not know how either comes about.
 * Invariant: findings, counts and their order are those of checkers that see all.
 * SPDX-License-Identifier: MIT
 */
#include "facts.h"
#include "glance.h"
#include "heap.h"
#include "internal.h"
#include "states.h"

static bool may_glance(const struct ck_config *c)
{
    unsigned known = CK_BIT(CK_MEM) | CK_BIT(CK_SYNC) | CK_BIT(CK_WAIT) |
                     CK_BIT(CK_RACE) | CK_BIT(CK_INIT);
    return !(c->classes & ~known) && !c->hazard;
}

/* Does a checker look at the accesses of the instruction one by one? race at all to
 * memory and LDS, mem where the heap knows more than the emulator's map. */
static bool looks_at(const struct ck *ck, const struct isa_facts *facts)
{
    bool lds = facts->space == ISA_SPACE_LDS,
         private = facts->space == ISA_SPACE_SCRATCH;
    if (facts->access == ISA_ACCESS_NONE && facts->space == ISA_SPACE_NONE)
        return false;
    return (ck->race && !private) || (ck->config.heap && !lds && !private);
}

/* Accesses that race does not judge by rows: they order what others do. */
static bool is_atomic(const struct ck *ck, const struct emu_inst *inst,
                      const struct isa_facts *facts)
{
    bool passes = facts->space != ISA_SPACE_LDS && facts->pipe != ISA_PIPE_SMEM &&
                  inst->isa.flags & (ISA_M_GLC | ISA_M_DLC) &&
                  !(inst->isa.flags & ISA_M_SLC);
    return ck->race && (facts->access == ISA_ACCESS_ATOMIC ||
                        facts->access == ISA_ACCESS_UPDATE || passes);
}

/* What orders a wave's accesses for race, beside accesses. */
static bool orders(const struct ck *ck, unsigned op)
{
    return ck->race && (op == ISA_BUFFER_GL0_INV || op == ISA_BUFFER_GL1_INV ||
                        op == ISA_S_WAITCNT_VSCNT);
}

static unsigned sees(void *ctx, const struct emu_inst *inst)
{
    const struct ck *ck = ctx;
    const struct isa_facts *facts = isa_facts(inst->isa.op);
    bool barriers = ck_wants(ck, CK_SYNC) || ck->race;
    bool always = (inst->kind == EMU_KIND_BARRIER && barriers) ||
                  (ck->init && facts->space == ISA_SPACE_SCRATCH) ||
                  (inst->isa.enc == ISA_ENC_MIMG && ck_wants(ck, CK_MEM)) ||
                  inst->kind == EMU_KIND_END ||
                  (looks_at(ck, facts) && is_atomic(ck, inst, facts));
    bool asks = looks_at(ck, facts) || orders(ck, inst->isa.op);
    bool later =
        ck->race && facts->space == ISA_SPACE_LDS && facts->access == ISA_ACCESS_LOAD;
    bool apart = ck_wants(ck, CK_WAIT) && facts->space == ISA_SPACE_FLAT;
    return (always ? EMU_SEE_ALWAYS
            : asks ? EMU_SEE_ASK
                   : 0) |
           (asks ? EMU_SEE_ROW : 0) | (later ? EMU_SEE_LATER : 0) |
           (apart ? EMU_SEE_APART : 0);
}

static struct ck_wave *wave_of(const struct ck *ck, const struct emu_wave_info *info)
{
    return ck->stopped ? NULL : ck->slots[info->slot];
}

static void skipped(void *ctx, const struct emu_wave_info *info, uint64_t insts,
                    uint64_t accesses)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, info);
    if (!w)
        return;
    ck->instructions += insts;
    ck->accesses += accesses;
    w->insts += insts;
}

static bool ask(void *ctx, const struct emu_event *e)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, e->wave);
    if (!w)
        return false;
    if (ck->config.heap && ck_wants(ck, CK_MEM) && ck_mem_ask(ck, e))
        return true;
    return ck->race && ck_race_ask(ck, w, e);
}

/* Barriers that all reach, and what drops caches. */
static bool pass(void *ctx, const struct emu_wave_info *info,
                 const struct emu_inst *inst, uint64_t exec)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, info);
    bool barrier = inst->kind == EMU_KIND_BARRIER, sync = ck_wants(ck, CK_SYNC);
    if (!w || (!barrier && !orders(ck, inst->isa.op)) ||
        (sync &&
         (ck_hang_looks(ck, w) || (barrier && !ck_sync_fine(w, inst->pc, exec)))))
        return false;
    if (barrier && ck->race && !ck_race_quiet(ck->race))
        return false;
    w->pc = inst->pc;
    if (!barrier)
        ck_race_order(ck, w, inst);
    return true;
}

static void arrive(void *ctx, const struct emu_wave_info *info,
                   const struct emu_inst *inst, bool opens)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, info);
    struct ck_group *g = w->group;
    w->waits = true;
    w->barrier_pc = inst->pc;
    if (!opens)
        return;
    if (ck_wants(ck, CK_SYNC))
        ck_hang_opens(ck, g);
    ck_opens(ck, g);
}

static struct emu_log *log_of(void *ctx, const struct emu_wave_info *info)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, info);
    return w ? ck_race_log(ck, w->group) : NULL;
}

static void *mine(void *ctx, const struct emu_wave_info *info)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, info);
    bool mem = ck->config.heap && ck_wants(ck, CK_MEM);
    if (!w)
        return NULL;
    ck->line =
        (struct ck_line){.ck = ck,
                         .heap = mem ? ck_heap_generations(ck->config.heap) : NULL,
                         .races = ck->race,
                         .race = ck->race ? ck_race_mine(ck, w) : NULL};
    return &ck->line;
}

/* mem needs no more than the row says. */
static uint32_t form(void *ctx, const struct emu_row *row)
{
    struct ck *ck = ctx;
    return ck->race ? ck_race_form(ctx, row) : 1;
}

/* ---- numbered states ---- */

static void load(void *ctx, const struct emu_wave_info *info, uint32_t state)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, info);
    ck->reports_before = ck->n_reports;
    if (!w || state == STATE_NONE || state == w->state)
        return;
    size_t n;
    const uint8_t *bytes = states_get(ck->states, state, &n);
    ck_wait_load(w, bytes, n);
    w->state = state;
}

static uint32_t save(void *ctx, const struct emu_wave_info *info, bool *told)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, info);
    uint8_t bytes[STATE_BYTES];
    struct state_bytes to = {bytes, bytes + sizeof bytes};
    *told = ck->n_reports != ck->reports_before;
    if (!w)
        return STATE_NONE;
    ck_wait_save(w, &to);
    w->state = to.at > to.end ? STATE_NONE
                              : states_put(ck->states, bytes, (size_t)(to.at - bytes));
    return w->state;
}

static bool turn(void *ctx, const struct emu_wave_info *info)
{
    struct ck *ck = ctx;
    struct ck_wave *w = wave_of(ck, info);
    return w && ck_hang_turn(ck, w);
}

void ck_glance(struct ck *ck)
{
    struct emu_glance *g = &ck->seen;
    bool race = ck_wants(ck, CK_RACE),
         rows = race || (ck->config.heap && ck_wants(ck, CK_MEM));
    ck->glance = g;
    if (ck_wants(ck, CK_SYNC))
        g->turn = turn;
    if (!may_glance(&ck->config))
        return;
    g->sees = sees;
    g->skipped = skipped;
    g->pass = pass;
    g->arrive = arrive;
    if (race)
        g->log = log_of;
    if (rows) {
        g->ask = ask;
        g->mine = mine;
        g->form = form;
        g->row = ck_row;
    }
    if (ck_wants(ck, CK_WAIT)) {
        g->load = load;
        g->save = save;
    }
    if (ck_wants(ck, CK_INIT)) {
        g->marks = ck_init_marks;
        g->note = ck_init_note;
        g->touch = ck_init_touch;
        g->settle = ck_init_settle;
        g->rest = ck_init_rest;
        g->clip = ck_init_clip;
    }
}
