/* rest.c: the end of a launch that was cut (TM_CUT_STEADY): who ends when.
 *
 * How long each workgroup is, in instructions, was counted; how far those have come
 * that are there, and how fast all of them are together, was seen. So they go on: a CU
 * has its part of the pace, of which its workgroups get what those of their age have
 * got so far (the oldest most, where waves are in one another's way), and as one ends
 * the next of its shader engine begins there; once none is left to begin the CU drains.
 *
 * Must not know instructions, nor why the pace is what it is. Invariant: an instruction
 * is an instruction; of workgroups whose instructions are dearer than others' this
 * knows nothing. SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "sample.h"

/* Workgroups of a place, at most: each has a wave at least. */
#define AGES 64u

/* A CU, or the SIMD of workgroups of one wave, with the workgroups there, the oldest
 * first. */
struct place {
    unsigned se, id, n;
    double full, each; /* workgroups at first; instructions a cycle of each then */
    double clock;      /* until then left is what each has to execute */
    double next;       /* when the next one ends, */
    unsigned which;    /* and which it is */
    double left[AGES];
    uint64_t number[AGES];
};

struct rest {
    struct place *place;
    size_t n;
    double law;
    double share[AGES]; /* of the pace, by age */
};

/* Numbers grow with time. */
static void put(struct place *p, uint64_t number, double left)
{
    unsigned at = p->n;
    if (at == AGES)
        return;
    for (; at && p->number[at - 1] > number; at--) {
        p->number[at] = p->number[at - 1];
        p->left[at] = p->left[at - 1];
    }
    p->number[at] = number;
    p->left[at] = left;
    p->n++;
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

static unsigned age(const struct place *p, uint64_t number)
{
    unsigned at = 0;
    while (at + 1 < p->n && p->number[at] != number)
        at++;
    return at;
}

/* What those of each age have executed in a cycle, on average. */
static void see_shares(const struct tm_pace *p, struct rest *r)
{
    double cycles[AGES] = {0};
    for (size_t i = 0; i < p->n_begun; i++) {
        const struct tm_begun *b = &p->begun[i];
        unsigned at = age(find(r, b->se, b->place), b->number);
        r->share[at] += (double)b->done;
        cycles[at] += (double)b->cycles;
    }
    for (unsigned k = 0; k < AGES; k++)
        r->share[k] = cycles[k] > 0 ? fmax(r->share[k] / cycles[k], 1e-9) : 1e-9;
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
        put(at, b->number, fmax((double)p->length[b->number] - (double)b->done, 0));
        at->full++;
        at->each += part;
        all += part;
    }
    for (size_t i = 0; i < r->n; i++)
        r->place[i].each *= p->rate / fmax(all, 1) / r->place[i].full;
    see_shares(p, r);
}

/* Instructions a cycle of all workgroups of a place for each of their shares. */
static double pace(const struct rest *r, const struct place *p)
{
    double shares = 0;
    for (unsigned k = 0; k < p->n; k++)
        shares += r->share[k];
    return (double)p->n * p->each / fmax((double)p->n / p->full, r->law) / shares;
}

/* When the next workgroup of a place ends. */
static void look(const struct rest *r, struct place *p)
{
    double first = INFINITY;
    for (unsigned k = 0; k < p->n; k++)
        if (p->left[k] / r->share[k] < first) {
            first = p->left[k] / r->share[k];
            p->which = k;
        }
    p->next = p->n ? p->clock + first / fmax(pace(r, p), 1e-9) : INFINITY;
}

/* It goes on until then. */
static void end_next(const struct rest *r, struct place *p)
{
    double each = pace(r, p) * (p->next - p->clock);
    unsigned to = 0;
    for (unsigned k = 0; k < p->n; k++) {
        if (k == p->which)
            continue;
        p->number[to] = p->number[k];
        p->left[to++] = fmax(p->left[k] - each * r->share[k], 0);
    }
    p->n = to;
    p->clock = p->next;
}

/* Until all have ended; next: of each shader engine, the workgroup that follows. */
static double go(const struct tm_engine *t, struct rest *r, uint64_t *next)
{
    double last = 0;
    for (size_t i = 0; i < r->n; i++)
        look(r, &r->place[i]);
    while (true) {
        struct place *p = &r->place[0];
        for (size_t i = 1; i < r->n; i++)
            if (r->place[i].next < p->next)
                p = &r->place[i];
        if (r->n == 0 || !p->n)
            break;
        end_next(r, p);
        last = p->clock;
        if (next[p->se] < t->end_group) {
            put(p, next[p->se], t->pace.length[next[p->se]]);
            next[p->se] += t->group_step;
        }
        look(r, p);
    }
    return last;
}

/* What a run of nothing but a few takes, as it places them: a workgroup for each CU,
 * then a second one. */
static void only_few(const struct tm_engine *t, struct rest *r, uint64_t *next)
{
    for (size_t i = 0; i < r->n; i++)
        r->place[i].n = 0;
    for (uint64_t i = 0; r->n && i < t->pace.few; i++)
        put(&r->place[i % r->n], i, t->pace.length[i]);
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        next[s] = t->end_group;
}

double tm_rest_cycles(const struct tm_engine *t, double law, bool few)
{
    struct rest r = {.law = law};
    uint64_t next[TM_MAX_SES];
    r.place = calloc(t->pace.n_begun + 1, sizeof *r.place);
    if (!r.place)
        return 0;
    begin(t, &r);
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        next[s] = t->dispatcher[s].next_number;
    if (few)
        only_few(t, &r, next);
    double cycles = go(t, &r, next);
    free(r.place);
    return cycles;
}
