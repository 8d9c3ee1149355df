/* place.c: the machine, the dispatcher, launch and end of waves, occupancy.
 *
 * Workgroups go round-robin over the shader engines, within one over its CUs. Must not
 * know instructions. Invariant: what a wave takes (slot, VGPRs, LDS, its place in the
 * workgroup count) is given back exactly once, at its end.
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "several.h"

static rd_status create_cu(struct tm_engine *t, struct tm_cu *cu, struct tm_wgp *g,
                           struct tm_simd at)
{
    const struct tm_params *p = &t->chip.b.p;
    cu->vmem.gl1 = &t->chip.se[at.se].gl1[at.sa];
    cu->send.to = &cu->vmem;
    cu->send.mem = t->chip.mem;
    cu->send.sent = &t->chip.se[at.se].sent;
    cu->send.number = (unsigned)(g - t->chip.wgps) * 2 + at.index;
    for (unsigned s = 0; s < 2; s++) {
        struct tm_simd *simd = &cu->simd[s];
        simd->se = at.se;
        simd->sa = at.sa;
        simd->wgp = at.wgp;
        simd->index = at.index + 2 * s;
        simd->cu = cu;
        simd->in = g;
        for (unsigned k = 0; k < TM_CLASSES; k++)
            simd->port.last[k] = -1;
    }
    if (!(g->room.enabled & 1u << at.index))
        return RD_OK;
    return tm_cache_create(&cu->vmem.l0, (uint64_t)p->l0_bytes / 128,
                           (uint32_t)p->l0_ways);
}

static rd_status create_wgp(struct tm_engine *t, struct tm_wgp *g, unsigned se,
                            unsigned w)
{
    const struct tm_params *p = &t->chip.b.p;
    unsigned per_array = (unsigned)p->wgps_per_array, sa = w / per_array;
    uint32_t mask = t->config.have_cu_mask ? t->config.cu_mask[se] : UINT32_MAX;
    g->room.enabled = mask >> (16 * sa + 2 * (w % per_array)) & 3u;
    g->fetch.wgp = w % per_array;
    g->fetch.port = &t->chip.se[se].port[sa];
    g->fetch.code = &t->chip.code;
    g->fetch.mem = t->chip.mem;
    rd_status st = RD_OK;
    for (unsigned c = 0; c < 2 && st == RD_OK; c++)
        st = create_cu(
            t, &g->cu[c], g,
            (struct tm_simd){.se = se, .sa = sa, .wgp = w % per_array, .index = c});
    if (!g->room.enabled || st != RD_OK)
        return st;
    t->all->dispatcher[se].used = true;
    st = tm_cache_create(&g->fetch.icache, (uint64_t)p->icache_bytes / 128,
                         (uint32_t)p->icache_ways);
    tm_fetch_prepare(&g->fetch);
    if (st == RD_OK)
        st = tm_cache_create(&g->smem.cache, (uint64_t)p->scache_bytes / 64,
                             (uint32_t)p->scache_ways);
    return st;
}

/* Registers and LDS of a workgroup, in the units they are given out in. */
static void measure_group(struct tm_engine *t, const struct emu_dispatch *d)
{
    unsigned granule = d->wave64 ? 12 : 24, n = t->launch.vgprs ? t->launch.vgprs : 1;
    unsigned lds = (unsigned)PARAM(&t->chip.b, lds_granule);
    t->need.vgprs_alloc = (n + granule - 1) / granule * granule * (d->wave64 ? 2 : 1);
    t->need.lds_alloc = (d->lds_bytes + lds - 1) / lds * lds;
    t->need.user_sgprs = d->rsrc2 >> 1 & 31u;
    t->chip.code.early = d->rsrc3 >> 4 & 63u;
    t->need.waves_per_group = t->launch.waves_per_group;
}

rd_status tm_machine_create(struct tm_engine *t)
{
    struct tm_chip *c = &t->chip;
    const struct tm_params *p = &c->b.p;
    c->n_ses = (unsigned)p->shader_engines;
    c->wgps_per_se =
        (unsigned)(PARAM(&c->b, arrays_per_se) * PARAM(&c->b, wgps_per_array));
    c->code.warm = t->config.warm_code;
    c->wgps = calloc((size_t)c->n_ses * c->wgps_per_se, sizeof *c->wgps);
    if (!c->wgps)
        return RD_E_NOMEM;
    rd_status st = tm_memory_create(c->mem, &c->b, &t->config, &t->launch);
    for (unsigned s = 0; s < c->n_ses && st == RD_OK; s++) {
        struct tm_se *se = &c->se[s];
        se->wgps = c->wgps + (size_t)s * c->wgps_per_se;
        t->all->dispatcher[s].first_start = -1;
        for (unsigned a = 0; a < (unsigned)p->arrays_per_se && st == RD_OK; a++)
            st = tm_cache_create(&se->gl1[a], (uint64_t)p->gl1_bytes / 128,
                                 (uint32_t)p->gl1_ways);
        for (unsigned w = 0; w < c->wgps_per_se && st == RD_OK; w++)
            st = create_wgp(t, &se->wgps[w], s, w);
    }
    return st;
}

void tm_machine_destroy(struct tm_engine *t)
{
    struct tm_chip *c = &t->chip;
    for (size_t i = 0; c->wgps && i < (size_t)c->n_ses * c->wgps_per_se; i++) {
        tm_cache_destroy(&c->wgps[i].fetch.icache);
        tm_cache_destroy(&c->wgps[i].smem.cache);
        for (unsigned k = 0; k < 2; k++)
            tm_cache_destroy(&c->wgps[i].cu[k].vmem.l0);
    }
    for (unsigned s = 0; s < TM_MAX_SES; s++) {
        for (unsigned a = 0; a < TM_MAX_ARRAYS; a++)
            tm_cache_destroy(&c->se[s].gl1[a]);
        tm_sent_free(&c->se[s].sent);
    }
    tm_memory_destroy(c->mem);
    free(c->wgps);
}

/* Give each engine its first workgroup number; the step is the number of engines. */
void tm_dispatch_begin(struct tm_engine *t, const struct emu_dispatch *d,
                       uint64_t behind)
{
    uint64_t step = 0;
    measure_group(t, d);
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        step += t->all->dispatcher[s].used;
    t->all->group_step = step;
    uint64_t turn = step ? step - behind % step : 0;
    for (unsigned i = 0; i < t->chip.n_ses; i++) {
        struct tm_dispatcher *se =
            &t->all->dispatcher[(t->config.first_se + i) % t->chip.n_ses];
        if (se->used && step)
            se->next_number = turn++ % step;
    }
    /* One after the other, a WGP each, those of the first array first. */
    uint64_t round = t->all->group_step * (uint64_t)PARAM(&t->chip.b, wgps_per_array),
             left = round;
    t->chip.code.arrays = 0;
    for (unsigned a = 0; a < (unsigned)PARAM(&t->chip.b, arrays_per_se);
         a++, left += round)
        if (left - round < t->launch.n_groups)
            t->chip.code.arrays += (unsigned)t->all->group_step;
    if (t->launch.n_groups < t->chip.code.arrays)
        t->chip.code.arrays = (unsigned)t->launch.n_groups;
}

int64_t tm_first_launch(const struct tm_engine *t, uint64_t number)
{
    int64_t engines = (int64_t)t->all->group_step;
    int64_t round = PARAM(&t->chip.b, group_launch_cycles);
    if (!engines)
        return 0;
    return ((int64_t)(number % t->all->group_step) * round + engines / 2) / engines;
}

/* ---- room ---- */

static unsigned free_slots(const struct tm_engine *t, const struct tm_simd *s)
{
    unsigned by_slot = (unsigned)PARAM(&t->chip.b, slots_per_simd) - s->room.waves;
    unsigned by_vgpr =
        ((unsigned)PARAM(&t->chip.b, vgprs_per_simd) - s->room.vgprs_used) /
        t->need.vgprs_alloc;
    return by_slot < by_vgpr ? by_slot : by_vgpr;
}

/* The SIMDs that the waves of a workgroup alternate between, emptiest first; of equal
 * ones that of the pair which did not get the engine's last wave. */
static unsigned list_simds(struct tm_wgp *g, unsigned cu, bool wgp_mode, unsigned pair,
                           struct tm_simd *list[4])
{
    unsigned n = 0;
    for (unsigned s = 0; s < 2; s++)
        for (unsigned c = 0; c < 2; c++)
            if (wgp_mode ? (g->room.enabled & 1u << c) != 0 : c == cu)
                list[n++] = &g->cu[c].simd[s ^ pair];
    for (unsigned i = 1; i < n; i++) { /* few */
        struct tm_simd *one = list[i];
        unsigned at = i;
        for (; at > 0 && one->room.waves < list[at - 1]->room.waves; at--)
            list[at] = list[at - 1];
        list[at] = one;
    }
    return n;
}

/* A workgroup in WGP mode gets the lowest free places of the WGP's LDS, one after the
 * other. Those of one kernel are equally large: a place each. */
static unsigned place_bytes(const struct tm_engine *t)
{
    return t->several ? TM_LDS_PLACE : t->need.lds_alloc;
}

static unsigned count_places(const struct tm_engine *t)
{
    unsigned bytes = place_bytes(t), lds = t->need.lds_alloc;
    return t->chip.b.wgp_mode && lds ? (lds + bytes - 1) / bytes : 0;
}

static bool is_taken(const struct tm_wgp *g, unsigned place)
{
    return g->room.lds_taken[place / 64] >> place % 64 & 1u;
}

/* So many that are free: the first; beyond the last one if there are none. */
static unsigned find_places(const struct tm_wgp *g, unsigned n)
{
    unsigned first = 0, end = 0;
    while (end < 64 * TM_LDS_PLACES && end - first < n)
        if (is_taken(g, end++))
            first = end;
    return end - first < n ? 64 * TM_LDS_PLACES : first;
}

static void set_places(struct tm_wgp *g, unsigned first, unsigned n, bool taken)
{
    for (unsigned place = first; place < first + n && place < 64 * TM_LDS_PLACES;
         place++) {
        uint64_t bit = UINT64_C(1) << place % 64;
        uint64_t *at = &g->room.lds_taken[place / 64];
        *at = taken ? *at | bit : *at & ~bit;
    }
}

void tm_place_again(struct tm_group *g)
{
    unsigned end = g->lds.base + g->lds.bytes;
    g->lds_place = g->lds.base / TM_LDS_PLACE;
    g->n_places = (end + TM_LDS_PLACE - 1) / TM_LDS_PLACE - g->lds_place;
    set_places(g->wgp, g->lds_place, g->n_places, true);
}

static bool has_room(const struct tm_engine *t, struct tm_wgp *g, unsigned cu,
                     unsigned waves)
{
    struct tm_simd *list[4];
    unsigned n = list_simds(g, cu, t->chip.b.wgp_mode, 0, list);
    uint32_t lds = t->chip.b.wgp_mode ? g->cu[0].room.lds_used + g->cu[1].room.lds_used
                                      : g->cu[cu].room.lds_used;
    uint32_t limit =
        (uint32_t)PARAM(&t->chip.b, lds_per_cu) *
        (t->chip.b.wgp_mode ? (unsigned)__builtin_popcount(g->room.enabled) : 1);
    if (n == 0 || lds + t->need.lds_alloc > limit ||
        (waves > 1 && g->room.groups >= (unsigned)PARAM(&t->chip.b, groups_per_wgp)))
        return false;
    if (t->several && g->room.groups && g->room.wgp_mode != t->chip.b.wgp_mode)
        return false; /* all of a WGP divide it alike */
    if (t->several &&
        find_places(g, count_places(t)) * TM_LDS_PLACE + t->need.lds_alloc > limit)
        return false;
    for (unsigned i = 0; i < n; i++) {
        unsigned share = waves / n + (i < waves % n);
        if (free_slots(t, list[i]) < share)
            return false;
    }
    return true;
}

/* Are there workgroups with fewer items than the others? */
static bool are_equal(const struct emu_dispatch *d)
{
    for (unsigned i = 0; i < 3; i++)
        if (d->items[i] && d->items[i] != (uint64_t)d->groups[i] * d->block[i])
            return false;
    return true;
}

bool tm_is_full(const struct tm_engine *t, struct tm_wgp *g)
{
    if (!are_equal(t->launch.dispatch))
        return false;
    for (unsigned cu = 0; cu < 2; cu++)
        if (g->room.enabled & 1u << cu && has_room(t, g, cu, t->need.waves_per_group))
            return false;
    return true;
}

bool tm_is_left(const struct tm_engine *t, unsigned se)
{
    return t->several ? tm_several_is_left(t, se)
                      : t->all->dispatcher[se].next_number < t->all->end_group;
}

/* ---- start ---- */

static size_t new_record(struct tm_engine *t)
{
    if (t->config.forget_waves && t->all->records.n) /* one that all share */
        return 0;
    if (t->all->records.n == t->all->records.cap) {
        size_t cap = t->all->records.cap ? 2 * t->all->records.cap : 256;
        struct tm_record *bigger =
            realloc(t->all->records.record, cap * sizeof *bigger);
        if (!bigger)
            return SIZE_MAX;
        t->all->records.record = bigger;
        t->all->records.cap = cap;
    }
    memset(&t->all->records.record[t->all->records.n], 0,
           sizeof *t->all->records.record);
    return t->all->records.n++;
}

/* Are the instructions of its waves asked for? */
static bool is_listed(const struct tm_engine *t, const struct tm_simd *s)
{
    const struct tm_config *c = &t->config;
    return !c->forget_waves &&
           (c->insts == TM_INSTS_ALL ||
            (c->insts == TM_INSTS_SIMD && s->se == c->se && s->sa == c->sa &&
             s->wgp == c->wgp && s->index == c->simd));
}

static unsigned take_slot(const struct tm_engine *t, struct tm_simd *s)
{
    unsigned best = 0; /* the caller has seen that there is one */
    while (s->room.slots >> best & 1u)
        best++;
    for (unsigned i = best + 1; i < (unsigned)PARAM(&t->chip.b, slots_per_simd); i++)
        if (!(s->room.slots >> i & 1u) &&
            s->room.slot_free[i] < s->room.slot_free[best])
            best = i;
    s->room.slots |= 1u << best;
    return best;
}

static void occupy(struct tm_engine *t, struct tm_simd *s, int64_t start)
{
    s->room.waves++;
    if (s->room.live++ == 0)
        s->room.held_since = start;
    if (s->cu->room.waves++ == 0)
        s->cu->room.held_since = start;
    if (s->in->room.waves++ == 0)
        s->in->room.busy_since =
            start + tm_hops(t, s) + PARAM(&t->chip.b, clock_start_cycles);
    s->room.vgprs_used += t->need.vgprs_alloc;
    if (++t->all->totals.resident > t->all->totals.peak_waves)
        t->all->totals.peak_waves = t->all->totals.resident;
}

static rd_status start_wave(struct tm_engine *t, struct tm_group *g, unsigned index,
                            struct tm_simd *s, int64_t start)
{
    struct tm_wave *w = tm_pool_wave(&t->all->pools);
    if (!w)
        return RD_E_NOMEM;
    w->list = is_listed(t, s) ? calloc(1, sizeof *w->list) : NULL;
    size_t r = is_listed(t, s) && !w->list ? SIZE_MAX : new_record(t);
    if (r == SIZE_MAX) {
        free(w->list);
        tm_pool_give_wave(&t->all->pools, w);
        return RD_E_NOMEM;
    }
    g->waves[index] = w;
    w->wave = emu_group_wave(g->group, index);
    w->rows = emu_wave_rows(w->wave);
    w->exec = emu_wave_exec_low(w->wave);
    w->group = g;
    w->simd = s;
    w->record = r;
    w->age = ++t->all->next_age;
    w->slot = (uint8_t)take_slot(t, s);
    w->start = w->regs.start = start;
    w->last_issue = start - 1;
    w->earliest = start;
    const struct emu_wave_info *info = emu_wave_info(w->wave);
    t->all->records.record[r] = (struct tm_record){
        .wg = {info->workgroup[0], info->workgroup[1], info->workgroup[2]},
        .wave = info->wave,
        .se = (uint8_t)s->se,
        .sa = (uint8_t)s->sa,
        .wgp = (uint8_t)s->wgp,
        .simd = (uint8_t)s->index,
        .slot = w->slot,
        .launch = (uint16_t)g->launch,
        .start = start,
        .end = -1,
        .list = w->list};
    occupy(t, s, start);
    if (t->all->turns)
        tm_turns_enter(&t->all->turns[s->in - t->chip.wgps], w);
    tm_account_start(t, w);
    return tm_push(t, start, w);
}

/* The number of one of its workgroups in the launch. */
static uint64_t of_launch(const struct tm_engine *t, uint64_t number)
{
    return t->config.part_first + number;
}

static rd_status start_group(struct tm_engine *t, struct tm_dispatcher *se,
                             struct tm_wgp *wgp, unsigned cu)
{
    struct tm_group *g = tm_pool_group(&t->all->pools);
    if (!g)
        return RD_E_NOMEM;
    g->number = se->next_number;
    g->start = tm_now(t);
    g->wgp = wgp;
    g->cu = cu;
    g->n_waves = g->n_live = g->n_held =
        emu_stepper_group_waves(t->stepper, of_launch(t, g->number));
    struct tm_simd *list[4];
    unsigned n = list_simds(wgp, cu, t->chip.b.wgp_mode, se->pair, list);
    uint32_t place[32];
    for (unsigned i = 0; i < g->n_waves; i++) { /* HW_ID1: where, slot left out */
        const struct tm_simd *s = list[i % n];
        place[i] = s->index << 8 | s->wgp << 10 | s->sa << 16 | s->se << 18;
    }
    rd_status st =
        emu_group_start(t->stepper, of_launch(t, g->number), place, &g->group);
    if (st != RD_OK) {
        tm_pool_give_group(&t->all->pools, g);
        return st;
    }
    if (t != t->all)
        emu_group_part(t->stepper, g->group, t->number);
    g->lds.bytes = t->need.lds_alloc;
    wgp->cu[t->chip.b.wgp_mode ? 0 : cu].room.lds_used += g->lds.bytes;
    g->launch = t->several ? t->several->at : 0;
    g->n_places = count_places(t);
    g->lds_place = find_places(wgp, g->n_places);
    set_places(wgp, g->lds_place, g->n_places, true);
    g->lds.base = g->n_places ? g->lds_place * place_bytes(t) : 0;
    wgp->room.groups++;
    wgp->room.wgp_mode = t->chip.b.wgp_mode;
    t->all->live_groups++;
    tm_sample_start(t);
    if (se->first_start < 0)
        se->first_start = tm_now(t);
    for (unsigned i = 0; i < g->n_waves && st == RD_OK; i++)
        st = start_wave(t, g, i, list[i % n],
                        tm_now(t) + (int64_t)i * PARAM(&t->chip.b, wave_launch_cycles));
    int64_t waves = (int64_t)g->n_waves * PARAM(&t->chip.b, wave_launch_cycles);
    se->next_launch = tm_now(t) + tm_max(waves, PARAM(&t->chip.b, group_launch_cycles));
    if (tm_now(t) == se->first_start)
        se->next_launch =
            tm_max(se->next_launch, tm_now(t) + PARAM(&t->chip.b, group_first_cycles));
    se->pair = list[(g->n_waves - 1) % n]->index < 2;
    wgp->cu[cu].room.next_group =
        tm_now(t) + tm_max(waves + 1, PARAM(&t->chip.b, group_same_cu_cycles));
    se->next_number += t->all->group_step;
    return st == RD_OK && t->several ? tm_several_started(t) : st;
}

/* The WGPs of a dispatcher's SE. */
static struct tm_wgp *wgps_of(const struct tm_engine *t, const struct tm_dispatcher *se)
{
    return t->chip.se[se - t->all->dispatcher].wgps;
}

/* Do workgroups go to the CU? In WGP mode to the first that is enabled, for both. */
static bool is_offered(const struct tm_engine *t, const struct tm_wgp *g, unsigned cu)
{
    return g->room.enabled >> cu & 1u &&
           !(t->chip.b.wgp_mode && cu && g->room.enabled & 1u);
}

/* Can a CU take the next workgroup? soonest: if so but not now, when at the earliest.
 */
static bool takes(const struct tm_engine *t, struct tm_dispatcher *se, unsigned at,
                  int64_t *soonest)
{
    unsigned cu = at / t->chip.wgps_per_se;
    struct tm_wgp *g = &wgps_of(t, se)[at % t->chip.wgps_per_se];
    if (!is_offered(t, g, cu) ||
        !has_room(t, g, cu,
                  emu_stepper_group_waves(t->stepper, of_launch(t, se->next_number))))
        return false;
    int64_t next = g->cu[cu].room.next_group;
    if (next > tm_now(t) && (!*soonest || next < *soonest))
        *soonest = next;
    return next <= tm_now(t);
}

/* The CU for the next workgroup; UINT_MAX: none now. Round-robin; once a workgroup had
 * to wait, in the order in which others have left. */
static unsigned choose(const struct tm_engine *t, struct tm_dispatcher *se,
                       int64_t *soonest)
{
    unsigned cus = 2 * t->chip.wgps_per_se;
    for (; se->n_freed; se->n_freed--, se->first_freed++) {
        unsigned at = se->freed[se->first_freed % TM_FREED];
        if (takes(t, se, at, soonest))
            return at;
        if (*soonest)
            return UINT_MAX;
    }
    for (unsigned i = 0; i < cus; i++) {
        unsigned at = (se->next_cu + i) % cus;
        if (takes(t, se, at, soonest))
            return at;
        if (t->several && *soonest) /* else they would drive one another on */
            return UINT_MAX;
    }
    return UINT_MAX;
}

/* Start what has room on an SE now. again: when to look again, 0 if something ends
 * first or nothing is left. */
static rd_status place(struct tm_engine *t, struct tm_dispatcher *se, int64_t *again)
{
    *again = 0;
    if (!se->used || se->next_number >= t->all->end_group)
        return RD_OK;
    *again = se->next_launch;
    if (se->next_launch > tm_now(t))
        return RD_OK;
    int64_t soonest = 0;
    unsigned at = choose(t, se, &soonest);
    *again = soonest;
    se->waits = at == UINT_MAX && !soonest;
    if (at == UINT_MAX)
        return RD_OK;
    unsigned cus = 2 * t->chip.wgps_per_se;
    se->next_cu = (at + 1) % cus;
    rd_status st = start_group(t, se, &wgps_of(t, se)[at % t->chip.wgps_per_se],
                               at / t->chip.wgps_per_se);
    *again = se->next_launch;
    return st;
}

/* The same of one of the launches that share the chip. Each goes round the CUs by
 * itself, from behind the one where the last workgroup of all was when it began.
 *
 * began  out: has a workgroup?
 */
static rd_status place_one(struct tm_engine *t, unsigned number, unsigned launch,
                           int64_t *again, bool *began)
{
    struct tm_dispatcher *se = &t->dispatcher[number];
    struct tm_cursor *c = &t->several->one[launch].cursor[number];
    unsigned next_cu = se->next_cu;
    uint64_t before = c->next_number;
    tm_at_hand(t, launch);
    se->next_number = before;
    if (c->goes)
        se->next_cu = c->next_cu;
    rd_status st = place(t, se, again);
    *began = se->next_number != before;
    c->next_number = se->next_number;
    if (*began)
        c->next_cu = se->next_cu;
    else
        se->next_cu = next_cu;
    c->goes |= *began;
    return st;
}

/* The first in turn that has room. */
static rd_status place_several(struct tm_engine *t, unsigned number, int64_t *again)
{
    struct tm_several *s = t->several;
    struct tm_dispatcher *se = &t->dispatcher[number];
    unsigned from = 0, k;
    bool waits = false, began = false;
    rd_status st = RD_OK;
    *again = 0;
    for (; !began && st == RD_OK && tm_several_next(t, number, &from, &k); from++) {
        int64_t when;
        st = place_one(t, number, k, &when, &began);
        waits |= se->waits;
        if (when && (!*again || when < *again))
            *again = when;
        if (began)
            s->turn[number] = (k + 1) % s->n;
    }
    se->waits = waits;
    return st;
}

rd_status tm_dispatch(struct tm_engine *t, unsigned number)
{
    struct tm_dispatcher *se = &t->all->dispatcher[number];
    int64_t again;
    se->scheduled = false;
    rd_status st = t->several ? place_several(t, number, &again) : place(t, se, &again);
    if (st != RD_OK || !again)
        return st;
    se->scheduled = true;
    return tm_push_own(t, again, number);
}

/* ---- end ---- */

/* A wave's end goes the way of its WGP's arrivals at barriers: those still under way
 * take a cycle longer. */
static void delay_barriers(struct tm_engine *t, struct tm_wgp *g)
{
    for (unsigned k = 0; k < 4; k++) {
        struct tm_simd *s = &g->cu[k / 2].simd[k % 2];
        if (tm_now(t) < s->port.barrier_open)
            s->port.barrier_open++;
    }
}

/* The wave has left: the account of who was busy, the workgroup's end. */
static rd_status leave(struct tm_engine *t, struct tm_wave *w)
{
    struct tm_simd *s = w->simd;
    struct tm_dispatcher *se = &t->all->dispatcher[s->se];
    tm_account_wait(w, TM_S_END, NULL, tm_now(t));
    if (w->last) /* else it was ended before it came to anything (join.c) */
        tm_account_end(t, w, w->last, tm_now(t));
    t->all->records.record[w->record].end = tm_now(t);
    t->all->totals.wave_cycles += (double)(tm_now(t) - w->start);
    se->last_end = tm_max(se->last_end, tm_now(t));
    delay_barriers(t, s->in);
    if (--s->room.live == 0)
        s->room.held += tm_now(t) - s->room.held_since;
    if (--s->cu->room.waves == 0)
        s->cu->room.held += tm_now(t) - s->cu->room.held_since;
    if (--s->in->room.waves == 0)
        s->in->room.busy_cycles += tm_max(tm_now(t) - s->in->room.busy_since, 0);
    t->all->totals.resident--;
    w->left = true;
    if (--w->group->n_live > 0)
        return RD_OK;
    t->all->live_groups--;
    emu_group_end(t->stepper, w->group->group);
    return t->several ? tm_several_ended(t) : RD_OK;
}

/* Its place is free again. */
static rd_status release(struct tm_engine *t, struct tm_wave *w)
{
    struct tm_simd *s = w->simd;
    struct tm_group *g = w->group;
    struct tm_dispatcher *se = &t->all->dispatcher[s->se];
    s->room.slots &= ~(1u << w->slot);
    s->room.slot_free[w->slot] = tm_now(t);
    s->room.waves--;
    s->room.vgprs_used -= t->need.vgprs_alloc;
    if (w->turns)
        tm_turns_leave(w->turns, w);
    tm_pool_give_wave(&t->all->pools, w);
    if (--g->n_held == 0) {
        g->wgp->cu[t->chip.b.wgp_mode ? 0 : g->cu].room.lds_used -= g->lds.bytes;
        set_places(g->wgp, g->lds_place, g->n_places, false);
        g->wgp->room.groups--;
        if (t->several)
            t->several->one[g->launch].held--;
        if ((se->waits || se->n_freed) && se->n_freed < TM_FREED)
            se->freed[(se->first_freed + se->n_freed++) % TM_FREED] =
                (uint16_t)((unsigned)(g->wgp - wgps_of(t, se)) +
                           g->cu * t->chip.wgps_per_se);
        tm_pool_give_group(&t->all->pools, g);
        if (!tm_is_left(t, s->se))
            tm_sample_hole(t);
    }
    if (se->scheduled || !tm_is_left(t, s->se))
        return RD_OK;
    se->scheduled = true;
    return tm_push_own(t, tm_now(t), s->se);
}

static rd_status ask_to_take(struct tm_engine *t, struct tm_dispatcher *se,
                             unsigned array)
{
    int64_t when = tm_max(tm_now(t), se->end_next[array % 2]);
    return tm_push_own(t, when, TM_MAX_SES + array);
}

rd_status tm_wave_end(struct tm_engine *t, struct tm_wave *w)
{
    if (w->left)
        return release(t, w);
    const struct tm_simd *s = w->simd;
    struct tm_dispatcher *se = &t->all->dispatcher[s->se];
    struct tm_wave **first = &se->ending[s->sa][s->wgp];
    w->next_free = NULL;
    *(*first ? se->ending_last[s->sa][s->wgp] : first) = w;
    se->ending_last[s->sa][s->wgp] = &w->next_free;
    return se->n_ending[s->sa]++ ? RD_OK : ask_to_take(t, se, 2 * s->se + s->sa);
}

rd_status tm_take_ends(struct tm_engine *t, unsigned array)
{
    struct tm_dispatcher *se = &t->all->dispatcher[array / 2];
    unsigned sa = array % 2, wgp = (unsigned)PARAM(&t->chip.b, wgps_per_array);
    while (!se->ending[sa][--wgp]) /* the farthest first */
        ;
    struct tm_wave *w = se->ending[sa][wgp];
    se->ending[sa][wgp] = w->next_free;
    se->n_ending[sa]--;
    tm_at_hand(t, w->group->launch);
    rd_status st = leave(t, w);
    se->ends_taken =
        tm_max(se->ends_taken, tm_now(t)) + PARAM(&t->chip.b, end_rate_cycles);
    se->end_next[sa] =
        tm_max(tm_now(t) + 1, se->ends_taken - PARAM(&t->chip.b, end_queue));
    if (st == RD_OK)
        st = tm_push(t, tm_now(t) + PARAM(&t->chip.b, slot_reuse_cycles), w);
    return st == RD_OK && se->n_ending[sa] ? ask_to_take(t, se, array) : st;
}
