/* account.c: where the cycles of waves go: per instruction, and to the observer.
 *
 * Must not decide anything about time: it writes down what engine.c found. Invariant: a
 * wave's cycles are told once each and in order: when an instruction issues at t,
 * everything before t has been told, and told becomes t + 1.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "engine.h"

#include <stdlib.h>

void tm_observe(struct tm_engine *t, const struct tm_observer *observer)
{
    t->observer = *observer;
}

/* ---- occupancy ---- */

unsigned tm_occupancy(const struct tm_engine *t, enum tm_limit *limit)
{
    const struct tm_params *p = &t->chip.b.p;
    unsigned simds = t->chip.b.wgp_mode ? 4 : 2, per = t->need.waves_per_group;
    unsigned most = (unsigned)p->slots_per_simd;
    unsigned by_vgpr =
        t->need.vgprs_alloc ? (unsigned)p->vgprs_per_simd / t->need.vgprs_alloc : most;
    *limit = TM_LIMIT_SLOTS;
    if (by_vgpr < most) {
        most = by_vgpr;
        *limit = TM_LIMIT_VGPRS;
    }
    unsigned lds = (unsigned)p->lds_per_cu * (t->chip.b.wgp_mode ? 2 : 1);
    unsigned groups = t->need.lds_alloc ? lds / t->need.lds_alloc : UINT16_MAX;
    if ((groups * per + simds - 1) / simds < most) {
        most = (groups * per + simds - 1) / simds;
        *limit = TM_LIMIT_LDS;
    }
    groups = (unsigned)p->groups_per_wgp;
    if (per > 1 && (groups * per + 3) / 4 < most) {
        most = (groups * per + 3) / 4;
        *limit = TM_LIMIT_GROUPS;
    }
    return most;
}

/* ---- the run ---- */

static void describe_machine(const struct tm_engine *t, struct tm_machine *m)
{
    const struct tm_params *p = &t->chip.b.p;
    const struct emu_dispatch *d = t->launch.dispatch;
    *m = (struct tm_machine){.sclk_mhz = t->config.sclk_mhz,
                             .ses = t->chip.n_ses,
                             .arrays = (unsigned)p->arrays_per_se,
                             .wgps = (unsigned)p->wgps_per_array,
                             .slots = (unsigned)p->slots_per_simd,
                             .vgprs_per_simd = (unsigned)p->vgprs_per_simd,
                             .lds_per_cu = (unsigned)p->lds_per_cu,
                             .vgprs = t->need.vgprs_alloc,
                             .lds_bytes = t->need.lds_alloc,
                             .waves_per_group = t->need.waves_per_group,
                             .lanes = t->launch.lanes,
                             .wgp_mode = t->chip.b.wgp_mode,
                             .n_groups = t->launch.n_groups,
                             .n_simulated = t->all->end_group,
                             .code_base = t->launch.code_base};
    m->occupancy = tm_occupancy(t, &m->limit);
    memcpy(m->groups, d->groups, sizeof m->groups);
    memcpy(m->block, d->block, sizeof m->block);
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        m->enabled[s] = t->config.have_cu_mask ? t->config.cu_mask[s] : UINT32_MAX;
}

void tm_account_begin(struct tm_engine *t)
{
    t->sample_at = INT64_MAX;
    describe_machine(t, &t->machine);
    if (t->observer.begin)
        t->observer.begin(t->observer.ctx, &t->machine);
    if (t->observer.sample && t->observer.sample_cycles > 0)
        t->sample_at = 0;
}

uint64_t tm_flops(const struct tm_engine *t)
{
    uint64_t sum = t->totals.flops_more;
    for (size_t i = 0; i < t->insts.cap; i++)
        if (t->insts.inst[i])
            sum += tm_inst_flops(t->insts.inst[i]);
    return sum;
}

static void tell_sample(struct tm_engine *t, int64_t now)
{
    struct tm_sample sample = {.t = now};
    tm_account_count(t, sample.count);
    t->observer.sample(t->observer.ctx, &sample);
}

/* The run ends with its last wave, not with what the engine looked at after it. */
void tm_account_finish(struct tm_engine *t, rd_status status)
{
    int64_t end = t->all->totals.resident ? tm_now(t) : 0;
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        end = tm_max(end, t->all->dispatcher[s].last_end);
    if (t->sample_at != INT64_MAX)
        tell_sample(t, end);
    if (t->observer.end)
        t->observer.end(t->observer.ctx, end, status);
}

static void count_caches(const struct tm_engine *t, uint64_t *k)
{
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++) {
        const struct tm_wgp *g = &t->chip.wgps[i];
        k[TM_K_CODE_HIT] += g->fetch.icache.hits;
        k[TM_K_CODE_MISS] += g->fetch.icache.misses;
        k[TM_K_SC_HIT] += g->smem.cache.hits;
        k[TM_K_SC_MISS] += g->smem.cache.misses;
        for (unsigned c = 0; c < 2; c++) {
            const struct tm_cu *cu = &g->cu[c];
            k[TM_K_L0_HIT] += cu->vmem.l0_hits;
            k[TM_K_L0_MISS] += cu->vmem.l0_misses;
            k[TM_K_LDS_BUSY] += cu->lds.cycles;
            k[TM_K_VALU_BUSY] += cu->simd[0].valu.cycles + cu->simd[1].valu.cycles;
        }
    }
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        for (unsigned a = 0; a < TM_MAX_ARRAYS; a++) {
            k[TM_K_GL1_HIT] += t->chip.se[s].gl1[a].hits;
            k[TM_K_GL1_MISS] += t->chip.se[s].gl1[a].misses;
        }
}

void tm_account_count(const struct tm_engine *t, uint64_t *k)
{
    memset(k, 0, TM_COUNTS * sizeof *k);
    for (unsigned c = 0; c < TM_CLASSES; c++)
        k[TM_K_VALU + c] = t->chip.issues.of_class[c];
    count_caches(t, k);
    k[TM_K_LDS_BANK] = t->chip.lds.conflict;
    k[TM_K_GL2_HIT] = t->chip.mem->gl2_hit;
    k[TM_K_GL2_MISS] = t->chip.mem->gl2_miss;
    k[TM_K_MALL_HIT] = t->chip.mem->mall.hits;
    k[TM_K_MALL_MISS] = t->chip.mem->mall.misses;
    struct tm_traffic traffic = tm_traffic_of(&t->chip);
    k[TM_K_READ] = traffic.read_bytes + t->chip.mem->smem_bytes;
    k[TM_K_WRITTEN] = traffic.write_bytes;
    k[TM_K_FLOPS] = tm_flops(t);
}

void tm_account_sample(struct tm_engine *t, int64_t now)
{
    if (t->all->totals.resident || t->all->totals.waves == 0) /* else nothing happens */
        tell_sample(t, now);
    t->sample_at = (now / t->observer.sample_cycles + 1) * t->observer.sample_cycles;
}

/* ---- waves ---- */

void tm_account_start(struct tm_engine *t, struct tm_wave *w)
{
    w->account.told = w->start;
    w->account.n_waited = 0;
    w->account.number = t->all->totals.waves++;
    if (!t->observer.wave_start)
        return;
    const struct emu_wave_info *info = emu_wave_info(w->wave);
    const struct tm_simd *s = w->simd;
    struct tm_wave_place place = {
        .number = w->account.number,
        .wg = {info->workgroup[0], info->workgroup[1], info->workgroup[2]},
        .wave = info->wave,
        .se = s->se,
        .sa = s->sa,
        .wgp = s->wgp,
        .simd = s->index,
        .slot = w->slot,
        .start = w->start};
    t->observer.wave_start(t->observer.ctx, &place);
}

void tm_account_more(struct tm_wave *w, uint8_t why, const struct tm_inst *from,
                     int64_t until)
{
    uint32_t cycles = (uint32_t)(until - w->account.told);
    w->account.told = until;
    struct tm_waited *last =
        w->account.n_waited ? &w->account.waited[w->account.n_waited - 1] : NULL;
    if (last && ((last->why == why && last->from == from) ||
                 w->account.n_waited == TM_WAITED)) {
        last->cycles += cycles;
        return;
    }
    w->account.waited[w->account.n_waited++] = (struct tm_waited){why, cycles, from};
}

static bool is_sooner(const struct tm_blame *a, const struct tm_blame *b)
{
    return a->t != b->t ? a->t < b->t : a->turn < b->turn;
}

/* WGPs and parts do not come in the order of time: keep those that were first in it. */
void tm_blame(struct tm_inst *i, const struct tm_blame *x)
{
    unsigned at = 0;
    while (at < i->n_blames &&
           (i->blame[at].from != x->from || i->blame[at].why != x->why))
        at++;
    if (at < i->n_blames ? !is_sooner(x, &i->blame[at])
                         : at == TM_BLAMES && !is_sooner(x, &i->blame[at - 1]))
        return;
    if (at == i->n_blames && at < TM_BLAMES)
        i->n_blames++;
    at = at < TM_BLAMES ? at : at - 1;
    for (; at > 0 && is_sooner(x, &i->blame[at - 1]); at--)
        i->blame[at] = i->blame[at - 1];
    i->blame[at] = *x;
}

void tm_account_from(const struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
                     const struct tm_waited *x)
{
    if (x->why == TM_S_BARRIER) {
        w->last->stall[TM_S_BARRIER] += x->cycles;
        return;
    }
    i->stall[x->why] += x->cycles;
    if (x->from)
        tm_blame(i, &(struct tm_blame){x->from->offset, x->why, tm_now(t), tm_turn(w)});
}

static unsigned export_waits(const struct tm_wave *w, struct tm_wait *out)
{
    for (unsigned n = 0; n < w->account.n_waited; n++) {
        const struct tm_waited *x = &w->account.waited[n];
        const struct tm_inst *from = x->why == TM_S_BARRIER ? w->last : x->from;
        out[n] = (struct tm_wait){x->why, x->cycles, from ? from->inst : NULL};
    }
    return w->account.n_waited;
}

/* When the unit has taken what just issued, or its result leaves the pipe. */
static int64_t execution(const struct tm_wave *w, const struct tm_inst *i)
{
    switch (i->cls) {
    case TM_VALU:
        return w->skip ? 0 : w->valu.exec;
    case TM_SALU:
        return w->salu.exec;
    case TM_LDS:
        return w->mem.lds_accept;
    case TM_VMEM:
        return w->mem.vmem_accept;
    default:
        return 0;
    }
}

rd_status tm_account_list(const struct tm_wave *w, const struct tm_inst *i, int64_t at)
{
    struct tm_list *l = w->list;
    if (!l)
        return RD_OK;
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        struct tm_timed *bigger = realloc(l->inst, room * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        l->inst = bigger;
        l->room = room;
    }
    int64_t exec = execution(w, i);
    l->inst[l->n++] = (struct tm_timed){
        i->offset, exec > at && exec - at < UINT32_MAX ? (uint32_t)(exec - at) : 0, at};
    return RD_OK;
}

void tm_account_tell(const struct tm_engine *t, const struct tm_wave *w,
                     const struct tm_inst *i, int64_t at, const struct emu_event *event)
{
    struct tm_wait wait[TM_WAITED];
    unsigned flags = (w->skip ? TM_STEP_SKIPPED : 0) |
                     (event->flags & EMU_EV_TAKEN ? TM_STEP_TAKEN : 0);
    struct tm_step step = {.wave = w->account.number,
                           .inst = i->inst,
                           .offset = i->offset,
                           .cls = i->cls,
                           .pipe = i->pipe,
                           .regs = i->send_regs,
                           .flags = (uint8_t)flags,
                           .t = at,
                           .exec = execution(w, i),
                           .wait = wait,
                           .n_waits = export_waits(w, wait)};
    t->observer.step(t->observer.ctx, &step);
}

/* s_delay_alu: gone through on the way to what follows, in no cycle of its own. */
void tm_account_free(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i)
{
    i->passed++;
    if (!t->observer.step)
        return;
    struct tm_step step = {.wave = w->account.number,
                           .inst = i->inst,
                           .offset = i->offset,
                           .cls = i->cls,
                           .pipe = i->pipe,
                           .flags = TM_STEP_FREE,
                           .t = w->account.told};
    t->observer.step(t->observer.ctx, &step);
}

void tm_account_end(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
                    int64_t end)
{
    tm_account_wait(w, TM_S_VSCNT, NULL, end);
    tm_account_waits(t, w, i);
    if (t->observer.wave_end) {
        struct tm_wait wait[TM_WAITED];
        unsigned n = export_waits(w, wait);
        t->observer.wave_end(t->observer.ctx, w->account.number, end, wait, n);
    }
    w->account.n_waited = 0;
}
