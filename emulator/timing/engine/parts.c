/* parts.c: a run in parts, one for each shader engine, by several threads.
 *
 * A part does by itself what is its shader engine's business. It stops in front of an
 * event that may touch what all share (tm_takes_all): those are taken one at a time, in
 * the order of (time, key) over all parts, and so in the order of a run that is not
 * divided. Memory is asked between windows. Must not know what an event means.
 * Invariant: cycles are those of a run in one part, whatever the number of threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

struct part {
    struct tm_engine *t; /* NULL: the shader engine gets no workgroups */
    struct tm_event next;
    bool held; /* next has been taken from the queue and not been done */
    rd_status status;
};

struct parts {
    struct tm_engine *all;
    struct part part[TM_MAX_SES];
    unsigned n;
    int64_t end; /* of the window */
    /* Who works: helpers wait for a new round, the caller for the last of them. */
    pthread_mutex_t lock;
    pthread_cond_t begins, over;
    pthread_t helper[TM_MAX_SES];
    unsigned helpers, busy;
    uint64_t round;
    bool quit;
    atomic_uint taken; /* parts of this round */
};

/* ---- one part ---- */

static bool is_before(const struct part *a, const struct part *b)
{
    return a->next.t != b->next.t ? a->next.t < b->next.t : a->next.key < b->next.key;
}

/* Do what is the part's own, up to a time. */
static void advance(struct part *p, int64_t end)
{
    struct tm_engine *t = p->t;
    while (p->status == RD_OK) {
        if (!p->held && !t->events.n)
            return;
        if (!p->held)
            p->status = tm_events_pop(&t->events, tm_now(t), &p->next);
        p->held = p->status == RD_OK;
        if (!p->held || p->next.t >= end || tm_takes_all(t, p->next.key))
            return;
        p->held = false;
        p->status = tm_turn_of(t, &p->next);
    }
}

/* ---- threads ---- */

static void take_parts(struct parts *s)
{
    for (unsigned i; (i = atomic_fetch_add(&s->taken, 1)) < s->n;)
        if (s->part[i].t)
            advance(&s->part[i], s->end);
}

static void *help(void *context)
{
    struct parts *s = context;
    uint64_t seen = 0;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->round == seen && !s->quit)
            pthread_cond_wait(&s->begins, &s->lock);
        if (s->quit)
            break;
        seen = s->round;
        pthread_mutex_unlock(&s->lock);
        take_parts(s);
        pthread_mutex_lock(&s->lock);
        if (--s->busy == 0)
            pthread_cond_signal(&s->over);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* All parts, up to the end of the window or to what they stop at. */
static void advance_all(struct parts *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->taken, 0);
    s->busy = s->helpers;
    s->round++;
    pthread_cond_broadcast(&s->begins);
    pthread_mutex_unlock(&s->lock);
    take_parts(s);
    pthread_mutex_lock(&s->lock);
    while (s->busy)
        pthread_cond_wait(&s->over, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void begin_threads(struct parts *s, unsigned threads)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->begins, NULL);
    pthread_cond_init(&s->over, NULL);
    while (s->helpers + 1 < threads && s->helpers + 1 < s->n &&
           pthread_create(&s->helper[s->helpers], NULL, help, s) == 0)
        s->helpers++; /* with fewer it takes longer */
}

static void end_threads(struct parts *s)
{
    pthread_mutex_lock(&s->lock);
    s->quit = true;
    pthread_cond_broadcast(&s->begins);
    pthread_mutex_unlock(&s->lock);
    for (unsigned i = 0; i < s->helpers; i++)
        pthread_join(s->helper[i], NULL);
    pthread_cond_destroy(&s->over);
    pthread_cond_destroy(&s->begins);
    pthread_mutex_destroy(&s->lock);
}

/* ---- windows ---- */

/* The part that comes first of those that have an event before a time, or have failed
 * at one; NULL: none. */
static struct part *first_of(struct parts *s, int64_t end)
{
    struct part *first = NULL;
    for (unsigned i = 0; i < s->n; i++) {
        struct part *p = &s->part[i];
        if (p->t && (p->status != RD_OK || (p->held && p->next.t < end)) &&
            (!first || is_before(p, first)))
            first = p;
    }
    return first;
}

/* It has failed: of all, the first. */
static rd_status fail(const struct part *p)
{
    const struct tm_wave *w = tm_wave_of(p->t, p->next.key);
    if (p->status == RD_E_FAULT && w)
        emu_stepper_blame(p->t->stepper, w->wave);
    return p->status;
}

/* What the parts have stopped at, one after the other, until what comes first is a
 * part's own. *over: nothing is left of the window. */
static rd_status take_stops(struct parts *s, bool *over)
{
    for (;;) {
        struct part *p = first_of(s, s->end);
        *over = !p;
        if (!p)
            return RD_OK;
        if (p->status != RD_OK)
            return fail(p);
        if (!tm_takes_all(p->t, p->next.key))
            return RD_OK;
        p->held = false;
        p->t->alone = true;
        p->status = tm_turn_of(p->t, &p->next);
        p->t->alone = false;
        advance(p, INT64_MIN); /* sees what comes */
    }
}

/* What CUs have accepted in all parts is asked for in one order. */
static rd_status ask(struct parts *s, int64_t end)
{
    struct tm_engine *all = s->all;
    rd_status st = RD_OK;
    tm_gather(all, end);
    for (unsigned i = 0; i < s->n && st == RD_OK; i++)
        if (s->part[i].t)
            st = tm_sent_move(&all->chip.sent, &s->part[i].t->chip.sent);
    return st == RD_OK ? tm_ask(all, end) : st;
}

static void add_counts(struct tm_chip *to, const struct tm_chip *from)
{
    to->issues.all += from->issues.all;
    to->issues.valu += from->issues.valu;
    to->issues.salu += from->issues.salu;
    for (unsigned c = 0; c < TM_CLASSES; c++)
        to->issues.of_class[c] += from->issues.of_class[c];
    to->lds.active += from->lds.active;
    to->lds.conflict += from->lds.conflict;
}

/* How far they are, for who asks. */
static bool goes_on(struct parts *s)
{
    struct tm_engine *all = s->all;
    all->chip.issues.all = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (s->part[i].t)
            all->chip.issues.all += s->part[i].t->chip.issues.all;
    bool on = !all->config.poll ||
              all->config.poll(all->config.poll_ctx, (uint64_t)all->asked);
    all->chip.issues.all = 0;
    return on;
}

static rd_status run(struct parts *s)
{
    rd_status st = RD_OK;
    for (unsigned i = 0; i < s->n && st == RD_OK; i++)
        if (s->part[i].t)
            st = tm_begin_dispatch(s->part[i].t, i);
    while (st == RD_OK) {
        for (unsigned i = 0; i < s->n; i++) /* see what comes */
            if (s->part[i].t)
                advance(&s->part[i], INT64_MIN);
        const struct part *first = first_of(s, INT64_MAX);
        if (!first)
            break;
        int64_t begin = first->next.t / TM_WINDOW * TM_WINDOW;
        if (begin > s->all->asked)
            st = ask(s, begin);
        if (st == RD_OK && !goes_on(s))
            st = RD_E_TIMEOUT;
        if (st != RD_OK)
            break;
        s->end = begin + TM_WINDOW;
        for (bool over = false; !over && st == RD_OK;) {
            advance_all(s);
            st = take_stops(s, &over);
        }
    }
    return st == RD_OK ? ask(s, INT64_MAX) : st; /* what nobody waited for */
}

/* ---- beginning and end ---- */

static rd_status make_part(struct parts *s, unsigned number)
{
    struct tm_engine *all = s->all, *t = malloc(sizeof *t);
    if (!t)
        return RD_E_NOMEM;
    *t = *all;
    t->alone = false;
    t->number = number;
    s->part[number].t = t;
    const struct tm_se *se = &all->chip.se[number];
    for (unsigned w = 0; w < all->chip.wgps_per_se; w++)
        for (unsigned c = 0; c < 2; c++)
            se->wgps[w].cu[c].send.sent = &t->chip.sent;
    return RD_OK;
}

/* Accounts of an instruction. */
static void add_account(struct tm_inst *to, const struct tm_inst *from)
{
    to->executions += from->executions;
    to->cycles += from->cycles;
    to->conflicts += from->conflicts;
    for (unsigned k = 0; k < TM_STALLS; k++)
        to->stall[k] += from->stall[k];
    tm_asked_add(&to->asked, &from->asked, 1);
    for (unsigned n = 0; n < from->n_blames; n++)
        tm_blame(to, &from->blame[n]);
}

/* The part's instructions become those of all, or are added to them. */
static rd_status join_insts(struct tm_engine *all, struct tm_engine *t)
{
    if (all->insts.cap < all->insts.numbers.n) {
        all->insts.inst = calloc(all->insts.numbers.n, sizeof(*all->insts.inst));
        if (!all->insts.inst)
            return RD_E_NOMEM;
        all->insts.cap = all->insts.numbers.n;
    }
    for (size_t i = 0; i < t->insts.cap; i++) {
        if (t->insts.inst[i] && all->insts.inst[i]) {
            add_account(all->insts.inst[i], t->insts.inst[i]);
            free(t->insts.inst[i]);
        } else if (t->insts.inst[i]) {
            all->insts.inst[i] = t->insts.inst[i];
        }
    }
    return RD_OK;
}

static rd_status join_part(struct tm_engine *all, struct tm_engine *t)
{
    rd_status st = join_insts(all, t);
    add_counts(&all->chip, &t->chip);
    all->chip.b.now = tm_max(all->chip.b.now, t->chip.b.now);
    all->totals.flops += t->totals.flops;
    tm_traffic_add(&all->chip.sent.traffic, &t->chip.sent.traffic);
    tm_sent_free(&t->chip.sent);
    tm_events_destroy(&t->events);
    free(t->insts.inst);
    free(t);
    return st;
}

rd_status tm_run_parts(struct tm_engine *all, unsigned threads)
{
    const struct tm_observer *o = &all->observer;
    bool watched = o->begin || o->wave_start || o->step || o->wave_end || o->sample;
    if (threads < 2 || watched || all->pace.next != INT64_MAX || all->group_step < 2 ||
        (all->launch.dispatch->queue && all->launch.dispatch->queue->tba))
        return RD_E_BUSY;
    rd_status st = emu_stepper_divide(all->stepper, all->chip.n_ses);
    struct parts *s = st == RD_OK ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return st == RD_OK ? RD_E_NOMEM : st;
    s->all = all;
    s->n = all->chip.n_ses;
    for (unsigned i = 0; i < s->n && st == RD_OK; i++)
        if (all->dispatcher[i].used)
            st = make_part(s, i);
    if (st == RD_OK) {
        begin_threads(s, threads);
        st = run(s);
        end_threads(s);
    }
    for (unsigned i = 0; i < s->n; i++)
        if (s->part[i].t) {
            rd_status joined = join_part(all, s->part[i].t);
            st = st == RD_OK ? joined : st;
        }
    free(s);
    return st;
}
