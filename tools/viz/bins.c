/* bins.c: cycles of waves by row, column of pixels and category: what lanes and the
 * occupancy curve are painted from.
 *
 * Must not draw. Invariant: a wave's cycles are in the bins of every row above it that
 * is shown, and of the whole chip (the last row).
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

struct bins {
    float *cycles; /* [row][column][CATS] */
    size_t room;
    /* what they are of */
    double t0, t1;
    int columns;
    size_t n_rows, n_waves;
    uint64_t n_steps, opened;
    int64_t end;
    enum mode mode;
    int32_t *row_of[LEVELS]; /* by unit; -1: not shown */
};

static bool same(const struct app *a, const struct bins *b)
{
    return b->cycles && b->t0 == a->t0 && b->t1 == a->t1 && b->columns == a->lanes.w &&
           b->n_waves == a->tl->n_waves && b->n_steps == a->tl->n_steps &&
           b->end == a->tl->end && b->opened == a->opened && b->mode == a->mode;
}

static bool make_room(struct app *a, struct bins *b)
{
    size_t need = (a->n_rows + 1) * (size_t)a->lanes.w * CATS;
    for (unsigned l = 0; l < LEVELS; l++) {
        if (!b->row_of[l])
            b->row_of[l] = malloc(UNITS * sizeof *b->row_of[l]);
        if (!b->row_of[l])
            return false;
        memset(b->row_of[l], 0xff, UNITS * sizeof *b->row_of[l]);
    }
    if (need > b->room) {
        free(b->cycles);
        b->cycles = malloc(need * sizeof *b->cycles);
        b->room = b->cycles ? need : 0;
        if (!b->cycles)
            return false;
    }
    memset(b->cycles, 0, need * sizeof *b->cycles);
    for (size_t i = 0; i < a->n_rows; i++)
        b->row_of[a->rows[i].level][a->rows[i].unit] = (int32_t)i;
    return true;
}

struct target {
    float *row[LEVELS + 1];
    unsigned n;
};

/* Add a stretch to the columns it covers. */
static void add(const struct app *a, const struct target *target, double from,
                double to, unsigned cat)
{
    double scale = a->lanes.w / (a->t1 - a->t0);
    double x0 = (from - a->t0) * scale, x1 = (to - a->t0) * scale;
    if (x0 < 0)
        x0 = 0;
    if (x1 > a->lanes.w)
        x1 = a->lanes.w;
    for (int c = (int)x0; c < a->lanes.w && c < x1; c++) {
        double begin = x0 > c ? x0 : c, end = x1 < c + 1 ? x1 : c + 1;
        float share = (float)((end - begin) / scale);
        for (unsigned r = 0; r < target->n; r++)
            target->row[r][(size_t)c * CATS + cat] += share;
    }
}

static void add_wave(const struct app *a, struct bins *b, const struct tl_wave *w)
{
    struct target target = {.n = 0};
    size_t pitch = (size_t)b->columns * CATS;
    for (unsigned l = 0; l < LEVELS; l++) {
        int32_t row = b->row_of[l][unit_of(w, l)];
        if (row >= 0)
            target.row[target.n++] = b->cycles + (size_t)row * pitch;
    }
    target.row[target.n++] = b->cycles + a->n_rows * pitch;
    double from = a->t0 > (double)w->start ? floor(a->t0) : (double)w->start;
    const struct tl_seg *s = tl_at(w, (int64_t)from);
    /* stretches of one category are added as one */
    double begin = 0;
    unsigned cat = CATS;
    for (; s && s < w->seg + w->n_segs; s++) {
        double at = (double)(w->start + s->at);
        unsigned c = category_of(a->mode, w, s->why);
        if (at >= a->t1)
            break;
        if (c == cat)
            continue;
        if (cat != CATS)
            add(a, &target, begin, at, cat);
        begin = at;
        cat = c;
    }
    if (cat != CATS) {
        double end =
            s < w->seg + w->n_segs ? (double)(w->start + s->at) : (double)w->end;
        add(a, &target, begin, end, cat);
    }
}

bool bins_update(struct app *a)
{
    if (!a->bins)
        a->bins = calloc(1, sizeof *a->bins);
    struct bins *b = a->bins;
    if (!b || a->lanes.w <= 0)
        return false;
    if (same(a, b))
        return true;
    if (!make_room(a, b))
        return false;
    b->t0 = a->t0;
    b->t1 = a->t1;
    b->columns = a->lanes.w;
    b->n_rows = a->n_rows;
    b->n_waves = a->tl->n_waves;
    b->n_steps = a->tl->n_steps;
    b->end = a->tl->end;
    b->opened = a->opened;
    b->mode = a->mode;
    for (size_t i = 0; i < a->tl->n_waves; i++) {
        const struct tl_wave *w = &a->tl->wave[i];
        if ((double)w->start < a->t1 && (double)w->end > a->t0)
            add_wave(a, b, w);
    }
    return true;
}

void bins_free(struct app *a)
{
    if (!a->bins)
        return;
    for (unsigned l = 0; l < LEVELS; l++)
        free(a->bins->row_of[l]);
    free(a->bins->cycles);
    free(a->bins);
}

const float *bins_of(const struct app *a, size_t row, int column)
{
    return a->bins->cycles + (row * (size_t)a->bins->columns + (size_t)column) * CATS;
}

double bins_column_cycles(const struct app *a)
{
    return (a->t1 - a->t0) / a->lanes.w;
}
