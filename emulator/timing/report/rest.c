/* rest.c: the end of a launch that was cut (TM_CUT_STEADY): who ends when.
 *
 * How long each workgroup is, in instructions, was counted; how far those have come
 * that are there, and how fast all of them are together, was seen. So they go on, those
 * of a CU share its part of the pace, and as one ends the next of its shader engine
 * begins there; once none is left to begin the CU drains.
 *
 * Must not know instructions, nor why the pace is what it is. Invariant: an instruction
 * is an instruction; of workgroups whose instructions are dearer than others' this
 * knows nothing. SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "sample.h"

/* A CU, or the SIMD of workgroups of one wave, with the workgroups there: what a
 * workgroup at the place's mean has executed when each ends; the next to end is first.
 */
struct place {
    unsigned se, id;
    double *end;
    size_t n, cap;
    double full, each; /* workgroups at first; instructions a cycle of each then */
    double clock, done;
};

struct rest {
    struct place *place;
    size_t n;
    double law;
    bool failed; /* out of memory */
};

static void put(struct rest *r, struct place *p, double end)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 16;
        double *more = realloc(p->end, cap * sizeof *more);
        if (!more) {
            r->failed = true;
            return;
        }
        p->end = more;
        p->cap = cap;
    }
    size_t at = p->n++;
    for (; at && p->end[(at - 1) / 2] > end; at = (at - 1) / 2)
        p->end[at] = p->end[(at - 1) / 2];
    p->end[at] = end;
}

static double take(struct place *p)
{
    double first = p->end[0], last = p->end[--p->n];
    size_t at = 0;
    for (size_t next = 1; next < p->n; next = 2 * at + 1) {
        if (next + 1 < p->n && p->end[next + 1] < p->end[next])
            next++;
        if (p->end[next] >= last)
            break;
        p->end[at] = p->end[next];
        at = next;
    }
    p->end[at] = last;
    return first;
}

static struct place *find(struct rest *r, unsigned se, unsigned id)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->place[i].id == id)
            return &r->place[i];
    r->place[r->n] = (struct place){.se = se, .id = id};
    return &r->place[r->n++];
}

bool tm_rest_all_there(const struct tm_engine *t)
{
    return t->pace.groups == t->pace.n_begun && t->pace.groups == t->launch.n_groups;
}

/* The workgroups that are there, and which part of the pace each place has: that of
 * its workgroups, or if none will come what they have shown. */
static void begin(const struct tm_engine *t, struct rest *r)
{
    const struct tm_pace *p = &t->pace;
    double all = 0;
    for (size_t i = 0; i < p->n_begun; i++) {
        const struct tm_begun *b = &p->begun[i];
        struct place *at = find(r, b->se, b->place);
        double part = tm_rest_all_there(t) ? (double)b->done : 1;
        put(r, at, fmax((double)p->length[b->number] - (double)b->done, 0));
        at->full++;
        at->each += part;
        all += part;
    }
    for (size_t i = 0; i < r->n; i++)
        r->place[i].each *= p->rate / fmax(all, 1) / r->place[i].full;
}

/* When the next workgroup of a place ends. */
static double next_end(const struct rest *r, const struct place *p)
{
    double pace = p->each / fmax((double)p->n / p->full, r->law);
    return p->clock + (p->end[0] - p->done) / fmax(pace, 1e-9);
}

/* Until all have ended; next: of each shader engine, the workgroup that follows. */
static double go(const struct tm_engine *t, struct rest *r, uint64_t *next)
{
    double last = 0;
    while (!r->failed) {
        struct place *p = NULL;
        double at = INFINITY;
        for (size_t i = 0; i < r->n; i++) {
            double end = r->place[i].n ? next_end(r, &r->place[i]) : INFINITY;
            if (end < at) {
                at = end;
                p = &r->place[i];
            }
        }
        if (!p)
            break;
        p->done = take(p);
        p->clock = last = at;
        if (next[p->se] >= t->end_group)
            continue;
        put(r, p, p->done + t->pace.length[next[p->se]]);
        next[p->se] += t->group_step;
    }
    return last;
}

/* What a run of nothing but those left over takes, as it places them: a workgroup for
 * each CU, then a second one. */
static void only_left_over(const struct tm_engine *t, struct rest *r, uint64_t *next)
{
    for (size_t i = 0; i < r->n; i++)
        r->place[i].n = 0;
    for (uint64_t i = 0; i < t->pace.left_over; i++)
        put(r, &r->place[i % r->n], t->pace.length[i]);
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        next[s] = t->end_group;
}

double tm_rest_cycles(const struct tm_engine *t, double law, bool left_over)
{
    struct rest r = {.law = law};
    uint64_t next[TM_MAX_SES];
    r.place = calloc(t->pace.n_begun + 1, sizeof *r.place);
    if (!r.place)
        return 0;
    begin(t, &r);
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        next[s] = t->dispatcher[s].next_number;
    if (left_over)
        only_left_over(t, &r, next);
    double cycles = go(t, &r, next);
    for (size_t i = 0; i < r.n; i++)
        free(r.place[i].end);
    free(r.place);
    return cycles;
}
