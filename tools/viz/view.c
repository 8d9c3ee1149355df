/* view.c: the view: rows, time seen, selection, layout.
 *
 * Must not draw. Invariant: t0 < t1, both within reach of the timeline; rows are those
 * of units that had a wave, in the order of the hardware's hierarchy.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

const char *const level_name[LEVELS] = {"SE", "SA", "WGP", "CU", "SIMD", "slot"};

static const unsigned level_units[LEVELS] = {8, 16, 128, 256, 512, UNITS};
/* Children of a unit, and their distance in the numbering. */
static const unsigned level_kids[LEVELS] = {2, 8, 2, 2, 32, 0};

uint32_t unit_of(const struct tl_wave *w, enum level level)
{
    uint32_t sa = w->se * 2u + w->sa, wgp = sa * 8u + w->wgp;
    uint32_t cu = wgp * 2u + w->simd % 2u, simd = cu * 2u + w->simd / 2u;
    switch (level) {
    case L_SE:
        return w->se;
    case L_SA:
        return sa;
    case L_WGP:
        return wgp;
    case L_CU:
        return cu;
    case L_SIMD:
        return simd;
    default:
        return simd * 32u + w->slot;
    }
}

bool view_init(struct app *a)
{
    for (unsigned l = 0; l < LEVELS; l++) {
        a->used[l] = calloc(level_units[l], sizeof *a->used[l]);
        a->open[l] = calloc(level_units[l], sizeof *a->open[l]);
        if (!a->used[l] || !a->open[l])
            return false;
    }
    a->wave = NO_WAVE;
    a->pc = TL_NONE;
    a->t1 = 1000;
    a->list_auto = true;
    a->row_height = 18;
    return true;
}

void view_free(struct app *a)
{
    for (unsigned l = 0; l < LEVELS; l++) {
        free(a->used[l]);
        free(a->open[l]);
    }
    free(a->rows);
}

/* ---- rows ------------------------------------------------------------------------ */

static void add_row(struct app *a, enum level level, uint32_t unit)
{
    static const unsigned simds[LEVELS] = {0, 0, 4, 2, 1, 0};
    if (a->n_rows == a->cap_rows) {
        size_t cap = a->cap_rows ? 2 * a->cap_rows : 256;
        struct row *bigger = realloc(a->rows, cap * sizeof *bigger);
        if (!bigger)
            return;
        a->rows = bigger;
        a->cap_rows = cap;
    }
    unsigned slots = 16, wgps = 4;
    if (a->tl->n_dispatches) {
        slots = a->tl->dispatch[0].machine.slots;
        wgps = a->tl->dispatch[0].machine.wgps;
    }
    unsigned capacity = level == L_SLOT ? 1
                        : level == L_SE ? 2 * wgps * 4 * slots
                        : level == L_SA ? wgps * 4 * slots
                                        : simds[level] * slots;
    a->rows[a->n_rows++] = (struct row){.level = (uint8_t)level,
                                        .kids = level < L_SLOT,
                                        .open = a->open[level][unit],
                                        .unit = unit,
                                        .capacity = capacity};
}

static void add_tree(struct app *a, enum level level, uint32_t unit)
{
    if (!a->used[level][unit])
        return;
    add_row(a, level, unit);
    if (level == L_SLOT || !a->open[level][unit])
        return;
    for (uint32_t k = 0; k < level_kids[level]; k++)
        add_tree(a, level + 1, unit * level_kids[level] + k);
}

void view_rows(struct app *a)
{
    for (; a->waves_known < a->tl->n_waves; a->waves_known++) {
        const struct tl_wave *w = &a->tl->wave[a->waves_known];
        for (unsigned l = 0; l < LEVELS; l++)
            a->used[l][unit_of(w, l)] = true;
    }
    a->n_rows = 0;
    for (uint32_t se = 0; se < 8; se++)
        add_tree(a, L_SE, se);
    a->opened++;
}

/* Open everything above a level, close the rest. */
void view_open(struct app *a, enum level deepest)
{
    for (unsigned l = 0; l < LEVELS; l++)
        memset(a->open[l], l < deepest, level_units[l] * sizeof *a->open[l]);
    view_rows(a);
}

static size_t count_used(const struct app *a, enum level level)
{
    size_t n = 0;
    for (unsigned i = 0; i < level_units[level]; i++)
        n += a->used[level][i];
    return n;
}

/* As deep as the window has room for. */
void view_open_auto(struct app *a)
{
    view_rows(a);
    size_t room = (size_t)(a->lanes.h > 0 ? a->lanes.h / 10 : 40), rows = 0;
    enum level deepest = L_SE;
    for (unsigned l = 0; l < LEVELS; l++) {
        rows += count_used(a, l);
        if (rows > room && l > 0)
            break;
        deepest = l;
    }
    view_open(a, deepest);
    int fit = a->n_rows ? a->lanes.h / (int)a->n_rows : 18;
    a->row_height = fit < 10 ? 10 : fit > 30 ? 30 : fit;
    a->scroll = 0;
}

/* ---- time ------------------------------------------------------------------------ */

static void keep_in_reach(struct app *a)
{
    double end = (double)a->tl->end + 1, span = a->t1 - a->t0;
    if (span < 16)
        span = 16;
    if (span > end * 1.1 + 16)
        span = end * 1.1 + 16;
    if (a->t0 < -span * 0.1)
        a->t0 = -span * 0.1;
    if (a->t0 > end - span * 0.1)
        a->t0 = end - span * 0.1;
    a->t1 = a->t0 + span;
}

void view_fit(struct app *a)
{
    double end = (double)a->tl->end + 1;
    a->t0 = -end * 0.01;
    a->t1 = end * 1.01;
    keep_in_reach(a);
}

void view_zoom(struct app *a, double at, double factor)
{
    a->t0 = at - (at - a->t0) * factor;
    a->t1 = at + (a->t1 - at) * factor;
    if (a->t1 - a->t0 < 16) {
        a->t0 = at - 8;
        a->t1 = at + 8;
    }
    keep_in_reach(a);
}

void view_pan(struct app *a, double cycles)
{
    a->t0 += cycles;
    a->t1 += cycles;
    keep_in_reach(a);
}

void view_show(struct app *a, double t)
{
    double span = a->t1 - a->t0;
    if (t < a->t0 || t > a->t1)
        view_pan(a, t - a->t0 - span * 0.3);
}

const struct tl_dispatch *dispatch_at(const struct app *a, double t)
{
    for (size_t i = a->tl->n_dispatches; i-- > 0;)
        if ((double)a->tl->dispatch[i].base <= t || i == 0)
            return &a->tl->dispatch[i];
    return NULL;
}

const struct tl_dispatch *shown_dispatch(const struct app *a)
{
    const struct tl_wave *w = selected(a);
    return w ? &a->tl->dispatch[w->dispatch] : dispatch_at(a, a->cursor);
}

/* ---- selection ------------------------------------------------------------------- */

void view_select(struct app *a, size_t wave)
{
    a->wave = wave;
    a->list_auto = true;
    a->one = wave != NO_WAVE;
}

void view_reveal(struct app *a)
{
    const struct tl_wave *w = selected(a);
    if (!w)
        return;
    for (unsigned l = 0; l < L_SLOT; l++)
        a->open[l][unit_of(w, l)] = true;
    if (a->row_height < gfx_height(&a->g, FONT_SANS)) /* its label is readable */
        a->row_height = gfx_height(&a->g, FONT_SANS);
    view_rows(a);
    uint32_t unit = unit_of(w, L_SLOT);
    for (size_t i = 0; i < a->n_rows; i++) {
        if (a->rows[i].level != L_SLOT || a->rows[i].unit != unit)
            continue;
        int y = (int)i * a->row_height;
        if (y < a->scroll || y + a->row_height > a->scroll + a->lanes.h)
            a->scroll = y - a->lanes.h / 2;
    }
}

size_t view_wave_at(const struct app *a, const struct row *row, double t)
{
    for (size_t i = 0; i < a->tl->n_waves; i++) {
        const struct tl_wave *w = &a->tl->wave[i];
        if ((double)w->start <= t && t < (double)w->end &&
            unit_of(w, row->level) == row->unit)
            return i;
    }
    return NO_WAVE;
}

/* ---- layout ---------------------------------------------------------------------- */

void view_layout(struct app *a)
{
    int text = gfx_height(&a->g, FONT_SANS), pad = text / 2;
    int top = text + pad + 6, legend = legend_height(a) + pad;
    int side = a->width * (a->width < 80 * text ? 40 : 36) / 100,
        left = a->width - side;
    int label = text * 10, curves = 4 * (text * 3 + 4);
    if (a->height < 44 * text)
        curves = a->height * curves / (44 * text);
    int chip = a->height * 36 / 100;
    a->top = rect(0, 0, a->width, top);
    a->legend = rect(0, a->height - legend, a->width, legend);
    a->chip = rect(0, top, left, chip);
    a->ruler = rect(label, top + chip, left - label - 8, text + 6);
    int lanes = a->height - legend - curves - (a->ruler.y + a->ruler.h);
    a->lanes = rect(label, a->ruler.y + a->ruler.h, left - label - 8, lanes);
    a->labels = rect(0, a->lanes.y, label, lanes);
    a->curves = rect(0, a->lanes.y + lanes, left, curves);
    a->side = rect(left, top, side, a->height - legend - top);
    int most = (int)a->n_rows * a->row_height - a->lanes.h;
    if (a->scroll > most)
        a->scroll = most;
    if (a->scroll < 0)
        a->scroll = 0;
}
