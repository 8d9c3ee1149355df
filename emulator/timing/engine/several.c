/* several.c: launches that share the chip: which begins when, whose workgroups are
 * next.
 *
 * Queues are independent of one another. A queue's launches begin one after the other,
 * each when all workgroups of the one before it have begun, with the barrier bit once
 * all before it have ended. Then the shader engines take workgroups of those that have
 * any left in turn, as there is room. Must not know where a workgroup goes (place.c).
 * Invariant: in a turn of a wave its launch is the one at hand.
 *
 * SPDX-License-Identifier: MIT
 */
#include "several.h"
#include "windows.h"

#include <stdlib.h>
#include <string.h>

/* ---- beginning and end of a run ---- */

static rd_status open_one(struct tm_engine *t, struct emu *emu,
                          const struct tm_launch *is, struct tm_one *o,
                          struct emu_fault *fault)
{
    o->is = *is;
    o->first = -1;
    rd_status st = emu_stepper_create(emu, is->dispatch, &o->stepper, fault);
    if (st != RD_OK)
        return st;
    emu_stepper_sclk(o->stepper, t->config.sclk_mhz);
    o->launch = *emu_stepper_launch(o->stepper);
    o->lanes = o->launch.lanes;
    o->wgp_mode = is->dispatch->rsrc1 >> 29 & 1u;
    if (t->config.tolerate)
        emu_stepper_tolerate(o->stepper);
    if (o->launch.vgprs > t->pools.vgprs) /* not once there are waves */
        t->pools.vgprs = o->launch.vgprs > TM_VGPRS ? TM_VGPRS : o->launch.vgprs;
    return emu_stepper_want(o->stepper, EMU_WANT_ACCESS | EMU_WANT_ROWS);
}

rd_status tm_several_create(struct tm_engine *t, struct emu *emu,
                            const struct tm_launch *launches, unsigned n,
                            struct emu_fault *fault)
{
    const struct tm_config *c = &t->config;
    const struct tm_observer *o = &t->observer;
    if (c->sample || c->sample_percent > 0 || c->part_groups || c->whole || o->begin)
        return RD_E_UNSUPPORTED;
    struct tm_several *s = calloc(1, sizeof *s);
    struct tm_one *one = calloc(n, sizeof *one);
    if (!s || !one) {
        free(s);
        free(one);
        return RD_E_NOMEM;
    }
    rd_status st = RD_OK;
    t->several = s;
    s->one = one;
    s->cap = n;
    s->looks = 0;
    s->to_come = n;
    t->pools.vgprs = t->config.tolerate ? TM_VGPRS : 0;
    for (; s->n < n && st == RD_OK; s->n++) {
        s->one[s->n].turn = s->turns++;
        st = open_one(t, emu, &launches[s->n], &s->one[s->n], fault);
    }
    s->at = n;                                         /* none */
    tm_several_turn_to(t, st == RD_OK ? 0 : s->n - 1); /* that which cannot begin */
    return st;
}

void tm_several_destroy(struct tm_engine *t, struct emu_stats *stats)
{
    struct tm_several *s = t->several;
    s->last = s->at;
    for (unsigned k = 0; k < s->n; k++) {
        if (s->one[k].stepper)
            emu_stepper_destroy(s->one[k].stepper, stats);
        s->one[k].stepper = NULL;
    }
    for (unsigned k = 0; k < s->n_done; k++)
        emu_stepper_destroy(s->done[k], NULL);
    s->n_done = 0;
    tm_several_turn_to(t, 0); /* for reports */
    t->stepper = NULL;
}

void tm_several_turn_to(struct tm_engine *t, unsigned number)
{
    struct tm_several *s = t->several;
    struct tm_memory *m = t->chip.mem;
    if (s->at < s->n) {
        s->one[s->at].kernarg_page = m->kernarg_page;
        s->one[s->at].kernarg_done = m->kernarg_done;
    }
    const struct tm_one *o = &s->one[number];
    s->at = number;
    t->stepper = o->stepper;
    t->launch = o->launch;
    t->need = o->need;
    t->end_group = o->launch.n_groups;
    t->chip.b.lanes = o->lanes;
    t->chip.b.wgp_mode = o->wgp_mode;
    t->chip.code.early = o->early;
    t->chip.code.arrays = o->arrays;
    t->chip.code.warm = o->warm_code;
    m->kernarg_page = o->kernarg_page;
    m->kernarg_done = o->kernarg_done;
    m->warm_kernarg = o->warm_kernarg;
}

/* ---- the order of launches ---- */

/* The launch before it on its queue; NULL: there is none, or its place is another's. */
static const struct tm_one *before(const struct tm_several *s, const struct tm_one *o)
{
    const struct tm_one *last = NULL;
    for (unsigned k = 0; k < s->n; k++) {
        const struct tm_one *p = &s->one[k];
        if (p->is.queue == o->is.queue && p->turn < o->turn &&
            (!last || p->turn > last->turn))
            last = p;
    }
    return last;
}

/* When a launch to come begins; INT64_MAX: something has to happen first. */
static int64_t begins(const struct tm_engine *t, const struct tm_one *o)
{
    const struct tm_several *s = t->several;
    const struct tm_one *last = before(s, o);
    int64_t takes = tm_lat(&t->chip.b, 0, t->chip.b.p.queue_dispatch_ns), ended = 0;
    if (!last)
        return o->is.from;
    if (last->stage < TM_PLACED)
        return INT64_MAX;
    for (const struct tm_one *p = last; p && o->is.barrier; p = before(s, p)) {
        if (p->stage != TM_ENDED)
            return INT64_MAX;
        ended = tm_max(ended, p->end);
    }
    int64_t may =
        o->is.barrier ? ended + takes : tm_max(last->placed, last->begun + takes);
    return tm_max(o->is.from, may);
}

rd_status tm_several_push(struct tm_engine *t)
{
    if (tm_several_looks(t) == INT64_MAX || t->turns)
        return RD_OK;
    return tm_events_push(&t->events, tm_now(t), t->several->looks,
                          (uint64_t)TM_OWN << TM_INDEX_BITS);
}

/* How far WGPs are; while a launch is to come they go no further ahead. */
static int64_t farthest(const struct tm_engine *t)
{
    int64_t end = 0;
    for (size_t k = 0; t->turns && k < (size_t)t->chip.n_ses * t->chip.wgps_per_se; k++)
        end = tm_max(end, t->turns[k].end);
    return end;
}

/* Look again when the next one may begin, as far as is known: at the end of a window,
 * when all WGPs are there. */
static rd_status look_later(struct tm_engine *t)
{
    struct tm_several *s = t->several;
    int64_t soonest = INT64_MAX, window = tm_now(t) / TM_WINDOW + 1;
    for (unsigned k = 0; k < s->n; k++)
        if (s->one[k].stage == TM_TO_COME)
            soonest = tm_min(soonest, begins(t, &s->one[k]));
    if (soonest == INT64_MAX)
        return RD_OK;
    if (t->config.ended) /* it has come when some WGPs were ahead */
        soonest = tm_max(soonest, farthest(t));
    window = tm_max(window, (soonest + TM_WINDOW - 1) / TM_WINDOW);
    if (window * TM_WINDOW >= s->looks)
        return RD_OK;
    s->looks = window * TM_WINDOW;
    return tm_several_push(t);
}

/* What a launch begins with: L0, GL1 and scalar caches are emptied, for all. */
static void acquire(struct tm_engine *t)
{
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        for (unsigned a = 0; a < (unsigned)PARAM(&t->chip.b, arrays_per_se); a++)
            tm_cache_clear(&t->chip.se[s].gl1[a]);
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++) {
        struct tm_wgp *g = &t->chip.wgps[i];
        if (!g->room.enabled)
            continue;
        tm_cache_clear(&g->smem.cache);
        for (unsigned c = 0; c < 2; c++)
            if (g->room.enabled >> c & 1u)
                tm_cache_clear(&g->cu[c].vmem.l0);
    }
}

/* Shader engines place its workgroups. first: none has yet */
static rd_status call(struct tm_engine *t, const struct tm_one *o, bool first)
{
    rd_status st = RD_OK;
    for (unsigned k = 0; k < t->chip.n_ses && st == RD_OK; k++) {
        struct tm_dispatcher *se = &t->dispatcher[k];
        if (!se->used || se->scheduled ||
            o->cursor[k].next_number >= o->launch.n_groups)
            continue;
        se->scheduled = true;
        int64_t late = first ? tm_first_launch(t, o->cursor[k].next_number) : 0;
        st = tm_push_own(t, tm_now(t) + late, k);
    }
    return st;
}

static rd_status begin(struct tm_engine *t, struct tm_one *o)
{
    if (tm_now(t) > 0)
        acquire(t);
    o->stage = TM_PLACING;
    t->several->to_come--;
    o->begun = tm_now(t);
    o->warm_kernarg |= tm_now(t) > 0;
    return call(t, o, true);
}

rd_status tm_several_look(struct tm_engine *t)
{
    struct tm_several *s = t->several;
    rd_status st = RD_OK;
    s->looks = INT64_MAX;
    for (unsigned k = 0; k < s->n && st == RD_OK; k++)
        if (s->one[k].stage == TM_TO_COME && begins(t, &s->one[k]) <= tm_now(t))
            st = begin(t, &s->one[k]);
        else if (s->one[k].stage == TM_PLACING && s->resumed)
            st = call(t, &s->one[k], false);
    s->resumed = false;
    return st == RD_OK ? look_later(t) : st;
}

/* Its workgroups' places, behind those of all before it. It is at hand then. */
static rd_status prepare(struct tm_engine *t, unsigned number)
{
    struct tm_several *s = t->several;
    struct tm_one *o = &s->one[number];
    tm_several_turn_to(t, number);
    o->warm_kernarg = t->config.warm_kernarg || o->is.warm_kernarg;
    o->warm_code = t->config.warm_code || o->is.warm_code;
    tm_dispatch_begin(t, o->is.dispatch, s->behind);
    for (unsigned i = 0; i < t->chip.n_ses; i++)
        o->cursor[i].next_number = t->dispatcher[i].next_number;
    o->need = t->need;
    o->early = t->chip.code.early;
    o->arrays = t->chip.code.arrays;
    s->behind += o->launch.n_groups;
    return tm_fits(t) ? RD_OK : RD_E_NO_ROOM;
}

rd_status tm_several_begin(struct tm_engine *t)
{
    rd_status st = RD_OK;
    t->pace.next = INT64_MAX;
    for (unsigned k = 0; k < t->several->n && st == RD_OK; k++)
        st = prepare(t, k);
    if (st == RD_OK)
        tm_several_turn_to(t, 0);
    return st;
}

/* ---- open runs ---- */

/* What the only launch so far is, as one of several. */
static struct tm_one only(const struct tm_engine *t)
{
    struct tm_one o = {.is = {.dispatch = t->launch.dispatch,
                              .queue = t->first.queue,
                              .barrier = t->first.barrier},
                       .stepper = t->stepper,
                       .launch = t->launch,
                       .need = t->need,
                       .lanes = t->chip.b.lanes,
                       .early = t->chip.code.early,
                       .arrays = t->chip.code.arrays,
                       .wgp_mode = t->chip.b.wgp_mode,
                       .warm_code = t->chip.code.warm,
                       .kernarg_page = t->chip.mem->kernarg_page,
                       .kernarg_done = t->chip.mem->kernarg_done,
                       .warm_kernarg = t->chip.mem->warm_kernarg,
                       .started = t->pace.groups,
                       .live = t->live_groups,
                       .first = -1};
    for (unsigned i = 0; i < t->chip.n_ses; i++) {
        const struct tm_dispatcher *se = &t->dispatcher[i];
        o.cursor[i] = (struct tm_cursor){se->next_number, se->next_cu, t->began};
        if (se->first_start >= 0 && (o.first < 0 || se->first_start < o.first))
            o.first = se->first_start;
    }
    if (t->began)
        o.stage = o.started < o.launch.n_groups ? TM_PLACING : TM_PLACED;
    for (const struct tm_group *g = t->pools.made_groups; g; g = g->next_made)
        o.held += g->n_held != 0;
    return o;
}

/* Places in the LDS of a WGP have the workgroup's size while there is one launch. */
static void mark_places(struct tm_engine *t)
{
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++)
        memset(t->chip.wgps[i].room.lds_taken, 0,
               sizeof t->chip.wgps[i].room.lds_taken);
    for (struct tm_group *g = t->pools.made_groups; g; g = g->next_made)
        if (g->n_held && g->n_places)
            tm_place_again(g);
}

rd_status tm_several_share(struct tm_engine *t, unsigned *number)
{
    struct tm_several *s = t->several;
    if (!s) {
        s = calloc(1, sizeof *s);
        struct tm_one *one = s ? calloc(4, sizeof *one) : NULL;
        if (!one) {
            free(s);
            return RD_E_NOMEM;
        }
        s->one = one;
        s->cap = 4;
        s->one[s->n++] = only(t);
        s->turns = 1;
        s->to_come = !t->began;
        s->behind = t->launch.n_groups;
        s->looks = t->began ? INT64_MAX : 0;
        t->pace.next = INT64_MAX;
        mark_places(t);
        t->several = s;
        for (size_t i = 0; i < t->insts.numbers.n; i++) /* LDS of other sizes */
            t->insts.inst[i]->load_postponed = false;
    }
    for (unsigned k = 0; k < s->n; k++)
        if (s->one[k].told && !s->one[k].held) {
            *number = k;
            return RD_OK;
        }
    if (s->n == s->cap) {
        unsigned cap = s->cap ? 2 * s->cap : 4;
        struct tm_one *bigger = realloc(s->one, cap * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        s->one = bigger;
        s->cap = cap;
    }
    *number = s->n++;
    s->one[*number] = (struct tm_one){.told = true};
    return RD_OK;
}

/* Another one takes its place: instructions of its code stay as long as the run. */
static rd_status keep_stepper(struct tm_several *s, struct tm_one *o)
{
    if (s->n_done == s->cap_done) {
        unsigned cap = s->cap_done ? 2 * s->cap_done : 16;
        struct emu_stepper **bigger = realloc(s->done, cap * sizeof(*bigger));
        if (!bigger)
            return RD_E_NOMEM;
        s->done = bigger;
        s->cap_done = cap;
    }
    s->done[s->n_done++] = o->stepper;
    o->stepper = NULL;
    return RD_OK;
}

rd_status tm_several_add(struct tm_engine *t, struct emu *emu,
                         const struct tm_launch *launch, unsigned number,
                         struct emu_fault *fault)
{
    struct tm_several *s = t->several;
    struct tm_one *o = &s->one[number];
    unsigned at = s->at;
    if (o->stepper && keep_stepper(s, o) != RD_OK)
        return RD_E_NOMEM;
    if (at == number) /* it was at hand last: none is */
        s->at = s->n;
    *o = (struct tm_one){.turn = s->turns++};
    rd_status st = open_one(t, emu, launch, o, fault);
    if (st == RD_OK)
        st = prepare(t, number);
    if (st == RD_OK && !tm_windows_can(t))
        t->talks = true;
    tm_several_turn_to(t, at);
    if (st != RD_OK) {
        o->stage = TM_ENDED;
        o->told = true;
        return st;
    }
    s->to_come++;
    return t->began ? look_later(t) : RD_OK;
}

/* ---- workgroups ---- */

rd_status tm_several_started(struct tm_engine *t)
{
    struct tm_one *o = &t->several->one[t->several->at];
    o->live++;
    o->held++;
    if (o->first < 0)
        o->first = tm_now(t);
    if (++o->started < o->launch.n_groups)
        return RD_OK;
    o->stage = TM_PLACED;
    o->placed = tm_now(t);
    return look_later(t);
}

rd_status tm_several_ended(struct tm_engine *t)
{
    struct tm_one *o = &t->several->one[t->several->at];
    o->end = tm_now(t);
    if (--o->live || o->stage != TM_PLACED)
        return RD_OK;
    return tm_several_over(t, o);
}

rd_status tm_several_over(struct tm_engine *t, struct tm_one *o)
{
    o->stage = TM_ENDED;
    tm_join_tell(t, o);
    return look_later(t);
}

static bool has_left(const struct tm_one *o, unsigned se)
{
    return o->stage == TM_PLACING && !o->stands &&
           o->cursor[se].next_number < o->launch.n_groups;
}

bool tm_several_is_left(const struct tm_engine *t, unsigned se)
{
    for (unsigned k = 0; k < t->several->n; k++)
        if (has_left(&t->several->one[k], se))
            return true;
    return false;
}

bool tm_several_next(const struct tm_engine *t, unsigned se, unsigned *from,
                     unsigned *number)
{
    const struct tm_several *s = t->several;
    for (; *from < s->n; ++*from) {
        *number = (s->turn[se] + *from) % s->n;
        if (has_left(&s->one[*number], se))
            return true;
    }
    return false;
}
