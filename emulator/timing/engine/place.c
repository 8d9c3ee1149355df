/* place.c: the machine, the dispatcher, launch and end of waves, occupancy.
 *
 * Workgroups go round-robin over the shader engines, within one over its CUs. Must not
 * know instructions. Invariant: what a wave takes (slot, VGPRs, LDS, its place in the
 * workgroup count) is given back exactly once, at its end.
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <string.h>

#include "engine.h"

static rd_status create_wgp(struct tm_engine *t, struct tm_wgp *g, unsigned se,
                            unsigned w)
{
    const struct tm_params *p = &t->p;
    unsigned per_array = (unsigned)p->wgps_per_array, sa = w / per_array;
    uint32_t mask = t->config.have_cu_mask ? t->config.cu_mask[se] : UINT32_MAX;
    g->enabled = mask >> (16 * sa + 2 * (w % per_array)) & 3u;
    if (g->enabled)
        t->se[se].used = true;
    for (unsigned c = 0; c < 2; c++) {
        struct tm_cu *cu = &g->cu[c];
        for (unsigned s = 0; s < 2; s++) {
            struct tm_simd *simd = &cu->simd[s];
            simd->se = se;
            simd->sa = sa;
            simd->wgp = w % per_array;
            simd->index = c + 2 * s;
            simd->cu = cu;
            simd->in = g;
            for (unsigned k = 0; k < TM_CLASSES; k++)
                simd->port[k] = -1;
        }
        if (g->enabled & 1u << c) {
            rd_status st = tm_cache_create(&cu->l0, (uint64_t)p->l0_bytes / 128,
                                           (uint32_t)p->l0_ways);
            if (st != RD_OK)
                return st;
        }
    }
    if (!g->enabled)
        return RD_OK;
    rd_status st = tm_cache_create(&g->icache, (uint64_t)p->icache_bytes / 128,
                                   (uint32_t)p->icache_ways);
    if (st == RD_OK)
        st = tm_cache_create(&g->scache, (uint64_t)p->scache_bytes / 64,
                             (uint32_t)p->scache_ways);
    return st;
}

/* Registers and LDS of a workgroup, in the units they are given out in. */
static void measure_group(struct tm_engine *t, const struct emu_dispatch *d)
{
    unsigned granule = d->wave64 ? 12 : 24, n = t->launch.vgprs ? t->launch.vgprs : 1;
    unsigned lds = (unsigned)t->p.lds_granule;
    t->vgprs_alloc = (n + granule - 1) / granule * granule * (d->wave64 ? 2 : 1);
    t->lds_alloc = (d->lds_bytes + lds - 1) / lds * lds;
    t->user_sgprs = d->rsrc2 >> 1 & 31u;
    t->wgp_mode = d->rsrc1 >> 29 & 1u;
    t->waves_per_group = t->launch.waves_per_group;
}

rd_status tm_machine_create(struct tm_engine *t)
{
    const struct tm_params *p = &t->p;
    t->n_ses = (unsigned)p->shader_engines;
    t->wgps_per_se = (unsigned)(p->arrays_per_se * p->wgps_per_array);
    t->wgps = calloc((size_t)t->n_ses * t->wgps_per_se, sizeof *t->wgps);
    if (!t->wgps)
        return RD_E_NOMEM;
    rd_status st =
        tm_cache_create(&t->gl2, (uint64_t)p->gl2_bytes / 128, (uint32_t)p->gl2_ways);
    if (st == RD_OK)
        st = tm_cache_create(&t->mall, (uint64_t)p->mall_bytes / 128,
                             (uint32_t)p->mall_ways);
    for (unsigned s = 0; s < t->n_ses && st == RD_OK; s++) {
        struct tm_se *se = &t->se[s];
        se->wgps = t->wgps + (size_t)s * t->wgps_per_se;
        se->first_start = -1;
        for (unsigned a = 0; a < (unsigned)p->arrays_per_se && st == RD_OK; a++)
            st = tm_cache_create(&se->gl1[a], (uint64_t)p->gl1_bytes / 128,
                                 (uint32_t)p->gl1_ways);
        for (unsigned w = 0; w < t->wgps_per_se && st == RD_OK; w++)
            st = create_wgp(t, &se->wgps[w], s, w);
    }
    return st;
}

void tm_machine_destroy(struct tm_engine *t)
{
    for (size_t i = 0; t->wgps && i < (size_t)t->n_ses * t->wgps_per_se; i++) {
        tm_cache_destroy(&t->wgps[i].icache);
        tm_cache_destroy(&t->wgps[i].scache);
        for (unsigned c = 0; c < 2; c++)
            tm_cache_destroy(&t->wgps[i].cu[c].l0);
    }
    for (unsigned s = 0; s < TM_MAX_SES; s++)
        for (unsigned a = 0; a < 4; a++)
            tm_cache_destroy(&t->se[s].gl1[a]);
    tm_cache_destroy(&t->gl2);
    tm_cache_destroy(&t->mall);
    free(t->wgps);
}

/* Give each engine its first workgroup number; the step is the number of engines. */
void tm_dispatch_begin(struct tm_engine *t, const struct emu_dispatch *d)
{
    unsigned turn = 0;
    measure_group(t, d);
    for (unsigned s = 0; s < t->n_ses; s++)
        t->group_step += t->se[s].used;
    for (unsigned i = 0; i < t->n_ses; i++) {
        struct tm_se *se = &t->se[(t->config.first_se + i) % t->n_ses];
        if (se->used)
            se->next_number = turn++;
    }
    /* One after the other, a WGP each, those of the first array first. */
    uint64_t round = t->group_step * (uint64_t)t->p.wgps_per_array, left = round;
    t->code_arrays = 0;
    for (unsigned a = 0; a < (unsigned)t->p.arrays_per_se; a++, left += round)
        if (left - round < t->launch.n_groups)
            t->code_arrays += (unsigned)t->group_step;
    if (t->launch.n_groups < t->code_arrays)
        t->code_arrays = (unsigned)t->launch.n_groups;
}

/* ---- room ---- */

static unsigned free_slots(const struct tm_engine *t, const struct tm_simd *s)
{
    unsigned by_slot = (unsigned)t->p.slots_per_simd - s->waves;
    unsigned by_vgpr = ((unsigned)t->p.vgprs_per_simd - s->vgprs_used) / t->vgprs_alloc;
    return by_slot < by_vgpr ? by_slot : by_vgpr;
}

/* The SIMDs that the waves of a workgroup alternate between, emptiest first. */
static unsigned list_simds(struct tm_wgp *g, unsigned cu, bool wgp_mode,
                           struct tm_simd *list[4])
{
    unsigned n = 0;
    for (unsigned s = 0; s < 2; s++)
        for (unsigned c = 0; c < 2; c++)
            if (wgp_mode ? (g->enabled & 1u << c) != 0 : c == cu)
                list[n++] = &g->cu[c].simd[s];
    for (unsigned i = 1; i < n; i++) /* rotate the emptiest to the front */
        if (list[i]->waves < list[0]->waves) {
            struct tm_simd *first = list[i];
            memmove(list + 1, list, i * sizeof *list);
            list[0] = first;
        }
    return n;
}

static bool has_room(const struct tm_engine *t, struct tm_wgp *g, unsigned cu,
                     unsigned waves)
{
    struct tm_simd *list[4];
    unsigned n = list_simds(g, cu, t->wgp_mode, list);
    uint32_t lds =
        t->wgp_mode ? g->cu[0].lds_used + g->cu[1].lds_used : g->cu[cu].lds_used;
    uint32_t limit = (uint32_t)t->p.lds_per_cu *
                     (t->wgp_mode ? (unsigned)__builtin_popcount(g->enabled) : 1);
    if (n == 0 || lds + t->lds_alloc > limit ||
        (waves > 1 && g->groups >= (unsigned)t->p.groups_per_wgp))
        return false;
    for (unsigned i = 0; i < n; i++) {
        unsigned share = waves / n + (i < waves % n);
        if (free_slots(t, list[i]) < share)
            return false;
    }
    return true;
}

/* ---- start ---- */

static struct tm_wave *new_wave(struct tm_engine *t)
{
    struct tm_wave *w = t->free_waves, *made = w ? w->next_made : t->made_waves;
    if (w)
        t->free_waves = w->next_free;
    else
        w = t->made_waves = malloc(sizeof *w);
    if (!w) {
        t->made_waves = made;
        return NULL;
    }
    memset(w, 0, sizeof *w);
    w->next_made = made;
    return w;
}

static struct tm_group *new_group(struct tm_engine *t)
{
    struct tm_group *g = t->free_groups;
    if (g) {
        t->free_groups = g->next_free;
        return g;
    }
    g = calloc(1, sizeof *g);
    if (g) {
        g->next_made = t->made_groups;
        t->made_groups = g;
    }
    return g;
}

static size_t new_record(struct tm_engine *t)
{
    if (t->config.forget_waves && t->n_records) /* one that all share */
        return 0;
    if (t->n_records == t->cap_records) {
        size_t cap = t->cap_records ? 2 * t->cap_records : 256;
        struct tm_record *bigger = realloc(t->records, cap * sizeof *bigger);
        if (!bigger)
            return SIZE_MAX;
        t->records = bigger;
        t->cap_records = cap;
    }
    memset(&t->records[t->n_records], 0, sizeof *t->records);
    return t->n_records++;
}

static unsigned take_slot(const struct tm_engine *t, struct tm_simd *s)
{
    unsigned best = UINT32_MAX;
    for (unsigned i = 0; i < (unsigned)t->p.slots_per_simd; i++)
        if (!(s->slots >> i & 1u) &&
            (best == UINT32_MAX || s->slot_free[i] < s->slot_free[best]))
            best = i;
    s->slots |= 1u << best;
    return best;
}

static void occupy(struct tm_engine *t, struct tm_simd *s, int64_t start)
{
    s->waves++;
    if (s->live++ == 0)
        s->held_since = start;
    if (s->cu->waves++ == 0)
        s->cu->held_since = start;
    if (s->in->waves++ == 0)
        s->in->busy_since = start;
    s->vgprs_used += t->vgprs_alloc;
    if (++t->resident > t->peak_waves)
        t->peak_waves = t->resident;
}

/* A workgroup in WGP mode gets the lowest free place of the WGP's LDS: of one kernel,
 * all are equally large. */
static void take_lds(const struct tm_engine *t, struct tm_group *g)
{
    unsigned place = 0;
    while (g->wgp->lds_taken[place / 64] >> place % 64 & 1u &&
           place < 64 * TM_LDS_PLACES - 1)
        place++;
    g->wgp->lds_taken[place / 64] |= UINT64_C(1) << place % 64;
    g->lds_place = place;
    g->lds_base = t->wgp_mode ? place * g->lds_alloc : 0;
}

static rd_status start_wave(struct tm_engine *t, struct tm_group *g, unsigned index,
                            struct tm_simd *s, int64_t start)
{
    struct tm_wave *w = new_wave(t);
    if (!w)
        return RD_E_NOMEM;
    size_t r = new_record(t);
    if (r == SIZE_MAX) {
        w->next_free = t->free_waves;
        t->free_waves = w;
        return RD_E_NOMEM;
    }
    g->waves[index] = w;
    w->wave = emu_group_wave(g->group, index);
    w->group = g;
    w->simd = s;
    w->record = r;
    w->age = ++t->next_age;
    w->slot = take_slot(t, s);
    w->start = start;
    w->last_issue = start - 1;
    w->earliest = start;
    const struct emu_wave_info *info = emu_wave_info(w->wave);
    t->records[r] = (struct tm_record){
        .wg = {info->workgroup[0], info->workgroup[1], info->workgroup[2]},
        .wave = info->wave,
        .se = (uint8_t)s->se,
        .sa = (uint8_t)s->sa,
        .wgp = (uint8_t)s->wgp,
        .simd = (uint8_t)s->index,
        .slot = (uint8_t)w->slot,
        .start = start,
        .end = -1};
    occupy(t, s, start);
    tm_account_start(t, w);
    return tm_push(t, start, tm_turn(w), w);
}

static rd_status start_group(struct tm_engine *t, struct tm_se *se, struct tm_wgp *wgp,
                             unsigned cu)
{
    struct tm_group *g = new_group(t);
    if (!g)
        return RD_E_NOMEM;
    *g = (struct tm_group){
        .number = se->next_number, .wgp = wgp, .cu = cu, .next_made = g->next_made};
    g->n_waves = g->n_live = g->n_held = emu_stepper_group_waves(t->stepper, g->number);
    struct tm_simd *list[4];
    unsigned n = list_simds(wgp, cu, t->wgp_mode, list);
    uint32_t place[32];
    for (unsigned i = 0; i < g->n_waves; i++) { /* HW_ID1: where, slot left out */
        const struct tm_simd *s = list[i % n];
        place[i] = s->index << 8 | s->wgp << 10 | s->sa << 16 | s->se << 18;
    }
    rd_status st = emu_group_start(t->stepper, g->number, place, &g->group);
    if (st != RD_OK) {
        g->next_free = t->free_groups;
        t->free_groups = g;
        return st;
    }
    g->lds_alloc = t->lds_alloc;
    wgp->cu[t->wgp_mode ? 0 : cu].lds_used += g->lds_alloc;
    take_lds(t, g);
    wgp->groups++;
    t->live_groups++;
    tm_sample_start(t);
    if (se->first_start < 0)
        se->first_start = t->now;
    for (unsigned i = 0; i < g->n_waves && st == RD_OK; i++)
        st = start_wave(t, g, i, list[i % n],
                        t->now + (int64_t)i * PARAM(t, wave_launch_cycles));
    int64_t waves = (int64_t)g->n_waves * PARAM(t, wave_launch_cycles);
    se->next_launch = t->now + tm_max(waves, PARAM(t, group_launch_cycles));
    if (t->now == se->first_start)
        se->next_launch += PARAM(t, group_first_cycles);
    wgp->cu[cu].next_group = t->now + tm_max(waves + 1, PARAM(t, group_same_cu_cycles));
    se->next_number += t->group_step;
    return st;
}

/* Can a CU take the next workgroup? soonest: if so but not now, when at the earliest.
 */
static bool takes(const struct tm_engine *t, struct tm_se *se, unsigned at,
                  int64_t *soonest)
{
    unsigned cu = at / t->wgps_per_se;
    struct tm_wgp *g = &se->wgps[at % t->wgps_per_se];
    if (!(g->enabled & 1u << cu) || (t->wgp_mode && cu) ||
        !has_room(t, g, cu, emu_stepper_group_waves(t->stepper, se->next_number)))
        return false;
    int64_t next = g->cu[cu].next_group;
    if (next > t->now && (!*soonest || next < *soonest))
        *soonest = next;
    return next <= t->now;
}

/* The CU for the next workgroup; UINT_MAX: none now. Round-robin; once a workgroup had
 * to wait, in the order in which others have left. */
static unsigned choose(const struct tm_engine *t, struct tm_se *se, int64_t *soonest)
{
    unsigned cus = 2 * t->wgps_per_se;
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
    }
    return UINT_MAX;
}

/* Start what has room on an SE now. again: when to look again, 0 if something ends
 * first or nothing is left. */
static rd_status place(struct tm_engine *t, struct tm_se *se, int64_t *again)
{
    *again = 0;
    if (!se->used || se->next_number >= t->end_group)
        return RD_OK;
    *again = se->next_launch;
    if (se->next_launch > t->now)
        return RD_OK;
    int64_t soonest = 0;
    unsigned at = choose(t, se, &soonest);
    *again = soonest;
    se->waits = at == UINT_MAX && !soonest;
    if (at == UINT_MAX)
        return RD_OK;
    unsigned cus = 2 * t->wgps_per_se;
    se->next_cu = (at + 1) % cus;
    rd_status st =
        start_group(t, se, &se->wgps[at % t->wgps_per_se], at / t->wgps_per_se);
    *again = se->next_launch;
    return st;
}

rd_status tm_dispatch(struct tm_engine *t, unsigned number)
{
    struct tm_se *se = &t->se[number];
    int64_t again;
    se->scheduled = false;
    rd_status st = place(t, se, &again);
    if (st != RD_OK || !again)
        return st;
    se->scheduled = true;
    return tm_push(t, again, number, NULL);
}

/* ---- end ---- */

/* A wave's end goes the way of its WGP's arrivals at barriers: those still under way
 * take a cycle longer. */
static void delay_barriers(struct tm_engine *t, struct tm_wgp *g)
{
    for (unsigned k = 0; k < 4; k++) {
        struct tm_simd *s = &g->cu[k / 2].simd[k % 2];
        if (t->now < s->barrier_open)
            s->barrier_open++;
    }
}

/* The wave has left: the account of who was busy, the workgroup's end. */
static void leave(struct tm_engine *t, struct tm_wave *w)
{
    struct tm_simd *s = w->simd;
    struct tm_se *se = &t->se[s->se];
    tm_account_wait(w, TM_S_END, NULL, t->now);
    tm_account_end(t, w, w->last, t->now);
    t->records[w->record].end = t->now;
    t->wave_cycles += (double)(t->now - w->start);
    se->last_end = tm_max(se->last_end, t->now);
    delay_barriers(t, s->in);
    if (--s->live == 0)
        s->held += t->now - s->held_since;
    if (s->cu->waves == 1) /* loads that nobody waited for */
        tm_send_settle(t, s->cu, INT64_MAX);
    if (--s->cu->waves == 0)
        s->cu->held += t->now - s->cu->held_since;
    if (--s->in->waves == 0)
        s->in->busy_cycles += t->now - s->in->busy_since;
    t->resident--;
    w->left = true;
    if (--w->group->n_live == 0) {
        t->live_groups--;
        emu_group_end(t->stepper, w->group->group);
    }
}

/* Its place is free again. */
static rd_status release(struct tm_engine *t, struct tm_wave *w)
{
    struct tm_simd *s = w->simd;
    struct tm_group *g = w->group;
    struct tm_se *se = &t->se[s->se];
    s->slots &= ~(1u << w->slot);
    s->slot_free[w->slot] = t->now;
    s->waves--;
    s->vgprs_used -= t->vgprs_alloc;
    w->next_free = t->free_waves;
    t->free_waves = w;
    if (--g->n_held == 0) {
        g->wgp->cu[t->wgp_mode ? 0 : g->cu].lds_used -= g->lds_alloc;
        g->wgp->lds_taken[g->lds_place / 64] &= ~(UINT64_C(1) << g->lds_place % 64);
        g->wgp->groups--;
        if ((se->waits || se->n_freed) && se->n_freed < TM_FREED)
            se->freed[(se->first_freed + se->n_freed++) % TM_FREED] =
                (uint16_t)((unsigned)(g->wgp - se->wgps) + g->cu * t->wgps_per_se);
        g->next_free = t->free_groups;
        t->free_groups = g;
        if (se->next_number >= t->end_group)
            tm_sample_hole(t);
    }
    if (se->scheduled || se->next_number >= t->end_group)
        return RD_OK;
    se->scheduled = true;
    return tm_push(t, t->now, s->se, NULL);
}

static rd_status ask_to_take(struct tm_engine *t, struct tm_se *se, unsigned array)
{
    int64_t when = tm_max(t->now, se->end_next[array % 2]);
    return tm_push(t, when, TM_MAX_SES + array, NULL);
}

rd_status tm_wave_end(struct tm_engine *t, struct tm_wave *w)
{
    if (w->left)
        return release(t, w);
    const struct tm_simd *s = w->simd;
    struct tm_se *se = &t->se[s->se];
    struct tm_wave **first = &se->ending[s->sa][s->wgp];
    w->next_free = NULL;
    *(*first ? se->ending_last[s->sa][s->wgp] : first) = w;
    se->ending_last[s->sa][s->wgp] = &w->next_free;
    return se->n_ending[s->sa]++ ? RD_OK : ask_to_take(t, se, 2 * s->se + s->sa);
}

rd_status tm_take_ends(struct tm_engine *t, unsigned array)
{
    struct tm_se *se = &t->se[array / 2];
    unsigned sa = array % 2, wgp = (unsigned)t->p.wgps_per_array;
    while (!se->ending[sa][--wgp]) /* the farthest first */
        ;
    struct tm_wave *w = se->ending[sa][wgp];
    se->ending[sa][wgp] = w->next_free;
    se->n_ending[sa]--;
    leave(t, w);
    se->ends_taken = tm_max(se->ends_taken, t->now) + PARAM(t, end_rate_cycles);
    se->end_next[sa] = tm_max(t->now + 1, se->ends_taken - PARAM(t, end_queue));
    rd_status st = tm_push(t, t->now + PARAM(t, slot_reuse_cycles), tm_turn(w), w);
    return st == RD_OK && se->n_ending[sa] ? ask_to_take(t, se, array) : st;
}
