/* score.c: pairs of waves, gaps, durations, spans.
 *
 * A trace names where a wave ran, not which workgroup it belongs to: the waves of an
 * engine are paired in order of start, SIMD by SIMD where the model put as many on
 * each, else over the engine. Must not know where times come from.
 * SPDX-License-Identifier: MIT
 */
#include "score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLACES (CAPTURE_SES * 2 * 8 * 4)

static unsigned place_of(const struct truth_wave *w)
{
    return ((w->se % CAPTURE_SES * 2 + w->sa) * 8 + w->wgp) * 4 + w->simd;
}

static int by_start(const void *a, const void *b)
{
    const struct truth_wave *x = a, *y = b;
    if (x->se != y->se)
        return x->se < y->se ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return place_of(x) < place_of(y) ? -1 : place_of(x) > place_of(y);
}

static int by_place(const void *a, const void *b)
{
    const struct truth_wave *x = a, *y = b;
    if (place_of(x) != place_of(y))
        return place_of(x) < place_of(y) ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* As many waves on each SIMD? */
static bool same_places(const struct truth *a, const struct truth *b)
{
    int64_t n[PLACES] = {0};
    for (size_t i = 0; i < a->n_waves; i++)
        n[place_of(&a->wave[i])]++;
    for (size_t i = 0; i < b->n_waves; i++)
        n[place_of(&b->wave[i])]--;
    for (unsigned p = 0; p < PLACES; p++)
        if (n[p])
            return false;
    return true;
}

/* From the first start of an engine to the last end of a wave of it, the longest. */
static int64_t span_of(const struct truth *t)
{
    int64_t span = 0;
    for (unsigned se = 0; se < CAPTURE_SES; se++) {
        int64_t first = INT64_MAX, last = 0;
        for (size_t i = 0; i < t->n_waves; i++)
            if (t->wave[i].se == se && t->wave[i].end >= 0) {
                first = t->wave[i].start < first ? t->wave[i].start : first;
                last = t->wave[i].end > last ? t->wave[i].end : last;
            }
        if (first != INT64_MAX && last - first > span)
            span = last - first;
    }
    return span;
}

static bool same_path(const struct truth_wave *a, const struct truth_wave *b)
{
    if (a->n_insts != b->n_insts)
        return false;
    for (size_t i = 0; i < a->n_insts; i++)
        if (a->inst[i].pc != b->inst[i].pc)
            return false;
    return true;
}

/* The model's wave with the same instructions: its partner, or one of the same engine
 * that has none yet. */
static size_t partner(const struct truth_wave *w, const struct truth *model,
                      size_t paired, const bool *used)
{
    if (paired < model->n_waves && !used[paired] && same_path(w, &model->wave[paired]))
        return paired;
    for (size_t i = 0; i < model->n_waves; i++)
        if (model->wave[i].se == w->se && !used[i] && same_path(w, &model->wave[i]))
            return i;
    return SIZE_MAX;
}

struct sums {
    double g, t, w;
    size_t gaps, traced, waves;
};

/* m: NULL: the model has no wave with these instructions */
static void add_insts(struct sums *s, const struct truth_wave *h,
                      const struct truth_wave *m)
{
    double off = 0;
    for (size_t i = 0; i < h->n_insts; i++) {
        if (m)
            off += fabs((double)(m->inst[i].t - m->start - (h->inst[i].t - h->start)));
        if (h->inst[i].cls != TRUTH_EXACT || i == 0)
            continue;
        s->gaps++;
        s->g += m && m->inst[i].t - m->inst[i - 1].t == h->inst[i].t - h->inst[i - 1].t;
    }
    if (h->end > h->start) {
        s->t += m ? 100 * off / (double)h->n_insts / (double)(h->end - h->start) : 100;
        s->traced++;
    }
}

bool score_compare(struct truth *board, struct truth *model, struct score *out)
{
    struct sums s = {0};
    bool *used = calloc(model->n_waves + 1, sizeof *used);
    if (!used)
        return false;
    bool places = same_places(board, model);
    qsort(board->wave, board->n_waves, sizeof *board->wave,
          places ? by_place : by_start);
    qsort(model->wave, model->n_waves, sizeof *model->wave,
          places ? by_place : by_start);
    for (size_t i = 0; i < board->n_waves; i++) {
        const struct truth_wave *h = &board->wave[i];
        const struct truth_wave *m = i < model->n_waves ? &model->wave[i] : NULL;
        if (h->end > h->start && m && m->end >= 0) {
            double is = (double)(h->end - h->start);
            s.w += 100 * fabs((double)(m->end - m->start) - is) / is;
            s.waves++;
        }
        if (!h->n_insts)
            continue;
        size_t p = partner(h, model, i, used);
        if (p != SIZE_MAX)
            used[p] = true;
        add_insts(&s, h, p != SIZE_MAX ? &model->wave[p] : NULL);
    }
    free(used);
    *out = (struct score){.span = span_of(board),
                          .model_span = span_of(model),
                          .waves = board->n_waves,
                          .model_waves = model->n_waves,
                          .gaps = s.gaps};
    out->g = s.gaps ? 100 * s.g / (double)s.gaps : -1;
    out->t = s.traced ? s.t / (double)s.traced : -1;
    out->w = s.waves ? s.w / (double)s.waves : -1;
    out->k = out->span
                 ? 100 * fabs((double)(out->model_span - out->span)) / (double)out->span
                 : -1;
    return true;
}
