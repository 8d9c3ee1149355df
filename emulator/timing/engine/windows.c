/* windows.c: a run window by window, one WGP after the other.
 *
 * Between two times at which memory is asked a WGP does by itself what is its own: its
 * waves lie in the host's caches meanwhile. It stops in front of a turn that may touch
 * what others share (tm_takes_all), and where its shader engine may give it a
 * workgroup or take one away: those are taken one at a time, in the order of (time,
 * key) over all WGPs, and so in the order of a run that has one queue. A WGP that is
 * full goes on behind that time, up to a wave that looks for what memory has not been
 * asked for yet (tm_awaits). Must not know what a turn is for. Invariant: cycles are
 * those of that run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "windows.h"

#include "ahead.h"
#include "several.h"

#include <stdlib.h>

/* Of WGPs that have gone on behind what they had stopped at, so many are worth it to
 * have all SEs advance at the same time again. */
#define WORTH 4

/* How far a WGP goes ahead of the others at most: what it keeps is little. Of several
 * threads each is to have as much to do in a window as the others. */
#define AHEAD  (16 * TM_WINDOW)
#define NEARER (2 * TM_WINDOW)

#define FETCHED 9 /* lines of a wave: tm_wave with what is first in regs */

/* What comes first of all. */
struct first {
    int64_t t;
    uint64_t key;
    unsigned number; /* of the WGP; from the number of WGPs on: own events */
};

/* ---- when a WGP's shader engine may change it ---- */

/* The soonest end of a workgroup whose place another one may take. */
static int64_t next_release(const struct tm_engine *t, unsigned se)
{
    int64_t soonest = INT64_MAX, reuse = PARAM(&t->chip.b, slot_reuse_cycles);
    for (unsigned a = 0; a < TM_MAX_ARRAYS; a++)
        if (t->own[tm_own_ends(se, a)] != INT64_MAX)
            soonest = tm_min(soonest, t->own[tm_own_ends(se, a)] + reuse);
    for (unsigned g = 0; g < t->chip.wgps_per_se; g++) {
        const struct tm_turns *q = &t->turns[se * t->chip.wgps_per_se + g];
        for (uint64_t rest = q->ended; rest; rest &= rest - 1) {
            const struct tm_wave *w = q->wave[__builtin_ctzll(rest)];
            if (w->left) /* else it is to leave first, or listed as such */
                soonest = tm_min(soonest, w->due);
            else
                soonest = tm_min(soonest, tm_max(w->due, q->begin) + reuse);
        }
    }
    return soonest;
}

/* Does nobody come to it before a turn of its own has made room? */
static bool keeps_others_out(const struct tm_engine *t, unsigned number)
{
    return !t->several && tm_is_full(t, &t->chip.wgps[number]);
}

/* Up to when its shader engine leaves a WGP alone. Waves that have not ended yet take
 * longer than a window until somebody has their place (tm_windows_can). */
static int64_t left_alone(const struct tm_engine *t, unsigned number)
{
    unsigned se = number / t->chip.wgps_per_se;
    const struct tm_simd *s = &t->chip.wgps[number].cu[0].simd[0];
    const struct tm_dispatcher *d = &t->dispatcher[se];
    int64_t until = INT64_MAX;
    if (d->used && tm_is_left(t, se))
        until = tm_min(t->own[se], next_release(t, se));
    if (until < t->turns[number].end && keeps_others_out(t, number))
        until = INT64_MAX;
    if (d->ending[s->sa][s->wgp])
        until = tm_min(until, t->own[tm_own_ends(se, s->sa)]);
    return until;
}

/* Does it, whatever happens to the others? Nothing of it ends unless it has come to
 * that in its turn. */
static bool is_closed(const struct tm_engine *t, unsigned number)
{
    unsigned se = number / t->chip.wgps_per_se;
    const struct tm_dispatcher *d = &t->dispatcher[se];
    const struct tm_simd *s = &t->chip.wgps[number].cu[0].simd[0];
    if (d->ending[s->sa][s->wgp] || t->turns[number].ended)
        return false;
    if (t->several)
        return t->several->to_come == 0 && !tm_is_left(t, se);
    return d->next_number >= t->end_group || tm_is_full(t, &t->chip.wgps[number]);
}

/* ---- a WGP ---- */

static bool is_before(int64_t t, uint64_t key, const struct tm_failure *f)
{
    return f->status == RD_OK || t < f->t || (t == f->t && key < f->key);
}

/* It goes no further; others, which may fail before it, do. */
static void fail(struct tm_windows *s, unsigned number, rd_status st,
                 const struct tm_wave *w)
{
    struct tm_turns *q = &s->all->turns[number];
    unsigned se = number / s->all->chip.wgps_per_se;
    int64_t now = tm_now(s->of[se]);
    q->busy = q->later = 0;
    q->soonest = INT64_MAX;
    if (is_before(now, tm_key(w), &s->failed[se]))
        s->failed[se] = (struct tm_failure){st, now, tm_key(w), w};
}

/* Who has a turn in the window: what every turn looks at may have left the host's
 * nearer caches since the last window. */
static uint64_t to_fetch(const struct tm_turns *q)
{
    uint64_t who = 0;
    for (uint64_t rest = q->busy; rest; rest &= rest - 1)
        who |= q->at[__builtin_ctzll(rest)];
    return who;
}

static void fetch_early(const struct tm_turns *q, uint64_t *who)
{
    const struct tm_wave *w = q->wave[__builtin_ctzll(*who)];
    const char *line = (const char *)w;
    *who &= *who - 1;
    for (unsigned k = 0; k < FETCHED; k++)
        __builtin_prefetch(line + 64 * k, 0, 2);
    for (unsigned k = 0; k < 4; k++)
        __builtin_prefetch((const char *)&w->account + 64 * k, 0, 2);
    for (unsigned k = 0; k < 3; k++)
        __builtin_prefetch((const char *)w->counted + 64 * k, 0, 2);
    for (unsigned k = 0; k < 2; k++)
        __builtin_prefetch((const char *)(w + 1) + 64 * k, 0, 2);
}

/* The next of those of the WGP that comes after: then what executing it needs, once all
 * are there. */
__attribute__((noinline)) static void fetch_after(const struct tm_turns *after,
                                                  uint64_t *early, uint64_t *then)
{
    if (*early) {
        fetch_early(after, early);
        return;
    }
    tm_fetch_executed(after->wave[__builtin_ctzll(*then)]);
    *then &= *then - 1;
}

/* Its window is over: has it a turn in one that it may go ahead to? */
static bool goes_ahead(struct tm_windows *s, unsigned number)
{
    struct tm_turns *q = &s->all->turns[number];
    int64_t begin = q->soonest / TM_WINDOW * TM_WINDOW;
    int64_t most = s->end + (s->several ? NEARER : AHEAD);
    if (q->busy || atomic_load_explicit(&s->waited_for, memory_order_relaxed) ||
        begin >= tm_min(most, s->all->pace.next) || !is_closed(s->all, number))
        return false;
    tm_gather_wgp(s->all, &s->all->chip.wgps[number], begin);
    tm_turns_window(q, begin);
    return true;
}

/* Do what is a WGP's own up to the end of its window. first: its next turn comes before
 * all others', and may be any. after: the WGP that comes next, or NULL */
static void advance_window(struct tm_windows *s, unsigned number, bool first,
                           const struct tm_turns *after)
{
    uint64_t early = after ? to_fetch(after) : 0, then = early;
    struct tm_turns *q = &s->all->turns[number];
    struct tm_engine *t = s->of[number / s->all->chip.wgps_per_se];
    struct tm_wgp *g = &s->all->chip.wgps[number];
    bool ahead = q->begin >= s->end;
    int64_t until = ahead ? INT64_MAX : q->busy ? left_alone(s->all, number) : 0;
    q->until = until;
    int64_t stop = first ? INT64_MAX : until;
    for (; q->busy; first = false, stop = until) {
        if (g->put_off)
            tm_let_put_off(g, q);
        unsigned cycle = (unsigned)__builtin_ctzll(q->busy);
        int64_t now = q->begin + cycle;
        if (now >= stop)
            break;
        unsigned rank = tm_turns_first(q, q->at[cycle]);
        struct tm_wave *w = q->wave[rank];
        bool near =
            w->next && (tm_fetch_has_all(&w->fetch, w->next) ||
                        tm_fetch_is_kept(&w->simd->in->fetch, &w->fetch, w->next));
        bool all = !near && tm_takes_all(t, w);
        if ((all && !first) || (ahead && w->open && tm_awaits(t, w)))
            break;
        tm_turns_take(q, cycle, rank);
        if (then)
            fetch_after(after, &early, &then);
        t->chip.b.now = now;
        t->alone = all;
        tm_at_hand(t, w->group->launch);
        rd_status st = tm_turn_of_wave(t, w);
        t->alone = false;
        if (st == RD_E_FAULT)
            st = tm_join_failed(t, w);
        if (st != RD_OK)
            fail(s, number, st, w);
        if (all)
            break;
    }
}

/* As far as it goes, unless it is ahead already; ahead only while others do the same.
 */
static void advance(struct tm_windows *s, unsigned number, bool first,
                    const struct tm_turns *after)
{
    struct tm_turns *q = &s->all->turns[number];
    if (q->begin >= s->end)
        return;
    if (q->end < s->end)
        tm_turns_window(q, s->end - TM_WINDOW);
    advance_window(s, number, first, after && after->begin < s->end ? after : NULL);
    while (!(first && s->several) && goes_ahead(s, number))
        advance_window(s, number, false, NULL);
    s->next[number] = tm_turns_next(q);
}

/* The WGPs of an SE do what is their own, up to the end of the window. */
static void advance_se(struct tm_windows *s, unsigned se)
{
    unsigned per = s->all->chip.wgps_per_se;
    for (unsigned k = se * per; s->of[se] && k < (se + 1) * per; k++)
        advance(s, k, false, k + 1 < (se + 1) * per ? &s->all->turns[k + 1] : NULL);
}

static void all_do(struct tm_windows *s, tm_windows_job *job)
{
    for (unsigned se = 0; se < s->all->chip.n_ses; se++)
        job(s, se);
}

/* ---- all ---- */

static uint64_t first_key(const struct tm_turns *q)
{
    uint64_t who = q->at[__builtin_ctzll(q->busy)];
    return tm_key(q->wave[tm_turns_first(q, who)]);
}

/* .t is the end of the window: nothing comes in it. */
static struct first first_of(const struct tm_windows *s)
{
    const struct tm_engine *t = s->all;
    struct first f = {.t = s->end};
    for (unsigned k = 0; k < TM_OWN; k++)
        if (t->own[k] < f.t)
            f = (struct first){.t = t->own[k], .number = s->n + k};
    for (unsigned k = 0; k < s->n; k++) {
        if (s->next[k] > f.t || s->next[k] == s->end)
            continue;
        uint64_t key = first_key(&t->turns[k]);
        if (s->next[k] < f.t || key < f.key)
            f = (struct first){.t = s->next[k], .key = key, .number = k};
    }
    return f;
}

/* What has failed first, up to a time and a key. */
static rd_status failed_before(const struct tm_windows *s, int64_t t, uint64_t key)
{
    const struct tm_failure *f = &s->failed[0];
    for (unsigned k = 1; k < s->all->chip.n_ses; k++)
        if (s->failed[k].status != RD_OK &&
            is_before(s->failed[k].t, s->failed[k].key, f))
            f = &s->failed[k];
    if (f->status == RD_OK || is_before(t, key, f))
        return RD_OK;
    if (f->status == RD_E_FAULT) {
        tm_at_hand(s->all, f->wave->group->launch);
        emu_stepper_blame(s->all->stepper, f->wave->wave);
    }
    return f->status;
}

static rd_status take_own(struct tm_windows *s, unsigned own, int64_t now)
{
    unsigned se = tm_own_se(own), per = s->all->chip.wgps_per_se;
    struct tm_engine *t = s->of[se];
    s->all->own[own] = INT64_MAX;
    t->chip.b.now = now;
    t->alone = true;
    rd_status st = tm_turn_of_own(t, own);
    t->alone = false;
    for (unsigned g = se * per; g < (se + 1) * per; g++)
        s->next[g] = tm_turns_next(&s->all->turns[g]);
    return st;
}

/* So many have gone on since all SEs advanced: is what comes first a WGP's own, and
 * worth it to let them again? */
static bool is_worth(const struct tm_windows *s, unsigned number, unsigned gone)
{
    const struct tm_turns *q = &s->all->turns[number];
    uint64_t who = q->at[__builtin_ctzll(q->busy)];
    return s->several && gone >= WORTH &&
           !tm_takes_all(s->of[number / s->all->chip.wgps_per_se],
                         q->wave[tm_turns_first(q, who)]);
}

/* The window: what WGPs stop at is taken in order. */
static rd_status run_window(struct tm_windows *s)
{
    rd_status st = RD_OK;
    unsigned gone = 0;
    s->all_do(s, advance_se);
    while (st == RD_OK && !s->all->talks) {
        struct first f = first_of(s);
        /* before what comes next in the window, or in it at all */
        st = failed_before(s, f.t, f.t < s->end ? f.key : 0);
        if (st != RD_OK || f.t >= s->end)
            break;
        if (f.number >= s->n) {
            st = take_own(s, f.number - s->n, f.t);
        } else if (is_worth(s, f.number, gone)) {
            s->all_do(s, advance_se);
            gone = 0;
        } else {
            advance(s, f.number, true, NULL);
            gone++;
        }
    }
    return st;
}

static void look_up_se(struct tm_windows *s, unsigned se)
{
    tm_look_up(s->all, se, s->asked);
}

static void return_se(struct tm_windows *s, unsigned se)
{
    tm_return(s->all, se);
}

/* Memory is asked for what CUs have accepted. */
static rd_status ask(struct tm_windows *s, int64_t end)
{
    s->asked = end;
    s->all_do(s, look_up_se);
    bool any;
    rd_status st = tm_ask(s->all, end, &any);
    if (any)
        s->all_do(s, return_se);
    return st;
}

/* How far it is, for who asks. */
static bool goes_on(struct tm_windows *s, int64_t now)
{
    struct tm_engine *t = s->all;
    if (!t->config.poll)
        return true;
    uint64_t own = t->chip.issues.all;
    for (unsigned k = 0; k < TM_MAX_SES; k++)
        if (t->part[k])
            t->chip.issues.all += t->part[k]->chip.issues.all;
    bool on = t->config.poll(t->config.poll_ctx, (uint64_t)now);
    t->chip.issues.all = own;
    return on;
}

rd_status tm_windows_run(struct tm_windows *s)
{
    struct tm_engine *t = s->all;
    rd_status st = RD_OK;
    for (unsigned k = 0; !t->several && k < t->chip.n_ses && st == RD_OK; k++)
        if (s->of[k])
            st = tm_begin_dispatch(t, k);
    while (st == RD_OK && !t->talks) {
        int64_t first = tm_several_looks(t);
        for (unsigned k = 0; k < s->n; k++)
            first = tm_min(first, s->next[k]);
        for (unsigned k = 0; k < TM_OWN; k++)
            first = tm_min(first, t->own[k]);
        if (first == INT64_MAX)
            break;
        int64_t begin = first / TM_WINDOW * TM_WINDOW;
        if (begin > t->asked)
            st = ask(s, begin);
        if (st != RD_OK)
            return st;
        t->chip.b.now = first;
        if (first >= tm_several_looks(t))
            st = tm_several_look(t);
        if (st != RD_OK)
            return st;
        if (first >= t->pace.next) /* at a multiple of a window */
            tm_sample_tick(t);
        if (t->pace.cut)
            break;
        if (!goes_on(s, first))
            return RD_E_TIMEOUT;
        s->end = begin + TM_WINDOW;
        st = run_window(s);
    }
    return st == RD_OK && !t->pace.cut ? failed_before(s, INT64_MAX, 0) : st;
}

/* ---- beginning and end ---- */

bool tm_windows_can(const struct tm_engine *t)
{
    const struct tm_observer *o = &t->observer;
    bool watched = o->begin || o->wave_start || o->step || o->wave_end || o->sample;
    const struct emu_queue *queue = t->launch.dispatch->queue;
    return !watched && !(queue && queue->tba) && emu_stepper_is_alone(t->stepper) &&
           4 * PARAM(&t->chip.b, slots_per_simd) <= TM_RANKS &&
           PARAM(&t->chip.b, slot_reuse_cycles) + PARAM(&t->chip.b, end_cycles) >=
               TM_WINDOW;
}

/* Where waves of its SIMDs wait for the VALU; q: NULL: no longer. */
static void set_lines(struct tm_wgp *g, struct tm_turns *q)
{
    for (unsigned k = 0; k < 4; k++) {
        struct tm_simd *s = &g->cu[k / 2].simd[k % 2];
        s->line = q ? &q->valu[s->index] : NULL;
    }
}

rd_status tm_windows_begin(struct tm_windows *s, struct tm_engine *all)
{
    *s = (struct tm_windows){
        .all = all, .n = all->chip.n_ses * all->chip.wgps_per_se, .all_do = all_do};
    for (unsigned k = 0; k < all->chip.n_ses; k++)
        s->of[k] = all;
    for (unsigned k = 0; k < TM_OWN; k++)
        all->own[k] = INT64_MAX;
    all->alone = false;
    s->next = calloc(s->n, sizeof *s->next);
    all->turns = calloc(s->n, sizeof *all->turns);
    if (!s->next || !all->turns)
        return RD_E_NOMEM;
    for (unsigned k = 0; k < s->n; k++) {
        tm_turns_begin(&all->turns[k]);
        set_lines(&all->chip.wgps[k], &all->turns[k]);
        s->next[k] = INT64_MAX;
    }
    return RD_OK;
}

/* The turns to come of a WGP. */
static rd_status push_all(struct tm_engine *t, struct tm_turns *q)
{
    rd_status st = RD_OK;
    uint64_t comes = q->later, behind = 0;
    for (unsigned s = 0; s < 8; s++) {
        struct tm_line *line = s < 4 ? &q->lds[s] : &q->valu[s - 4];
        while (line->behind) { /* as if they had looked each time */
            struct tm_wave *w = tm_turns_next_of(q, line);
            w->due = line->first ? line->first->due : tm_now(t);
            tm_account_line(line, w);
            behind |= UINT64_C(1) << w->rank;
        }
    }
    for (unsigned c = 0; c < TM_WINDOW; c++)
        comes |= q->at[c];
    for (uint64_t rest = q->taken; rest; rest &= rest - 1) {
        struct tm_wave *w = q->wave[__builtin_ctzll(rest)];
        w->turns = NULL;
        if (st == RD_OK && (comes | behind) >> w->rank & 1u)
            st = tm_push(t, tm_max(w->due, tm_now(t)), w);
    }
    return st;
}

rd_status tm_windows_end(struct tm_windows *s, rd_status st)
{
    struct tm_engine *t = s->all;
    struct tm_turns *turns = t->turns;
    bool go_on = st == RD_OK && t->talks && !t->pace.cut;
    int64_t first = tm_several_looks(t);
    for (unsigned k = 0; k < s->n && go_on; k++)
        first = tm_min(first, tm_turns_next(&turns[k]));
    for (unsigned k = 0; k < TM_OWN && go_on; k++)
        first = tm_min(first, t->own[k]);
    if (go_on && first != INT64_MAX)
        t->chip.b.now = first;
    t->turns = NULL;
    t->alone = true;
    for (unsigned k = 0; k < TM_OWN && go_on && st == RD_OK; k++)
        if (t->own[k] != INT64_MAX)
            st = tm_push_own(t, t->own[k], k);
    if (go_on && st == RD_OK)
        st = tm_several_push(t);
    for (unsigned k = 0; k < s->n && go_on && st == RD_OK; k++)
        st = push_all(t, &turns[k]);
    for (unsigned k = 0; turns && k < s->n; k++)
        set_lines(&t->chip.wgps[k], NULL);
    free(turns);
    free(s->next);
    return st;
}

rd_status tm_run_windows(struct tm_engine *t)
{
    struct tm_windows s;
    if (!tm_windows_can(t))
        return RD_E_BUSY;
    rd_status st = tm_windows_begin(&s, t);
    if (st == RD_OK)
        st = tm_windows_run(&s);
    return tm_windows_end(&s, st);
}
