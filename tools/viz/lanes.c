/* lanes.c: rows of units over time, each a stack of what its waves do; ruler, labels.
 *
 * Painted into a picture of pixels from bins, so that cost does not grow with waves.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

/* One column of a row, bottom up: categories as shares of the row's slots. */
static void paint_column(const struct app *a, uint32_t *pixel, int pitch, int height,
                         const float *bin, double full)
{
    const struct category *cat = categories(a->mode);
    double level = 0;
    int y = 0;
    for (unsigned c = 0; c < CATS && y < height; c++) {
        if (bin[c] <= 0)
            continue;
        level += bin[c] / full * height;
        int to = (int)(level + 0.5) > height ? height : (int)(level + 0.5);
        for (; y < to; y++)
            pixel[(height - 1 - y) * pitch] = 0xff000000u | cat[c].color;
    }
}

/* The cycles that fill a row's height, by level: of all slots, or of the fullest unit.
 */
static void find_scale(const struct app *a, double *full)
{
    double column = bins_column_cycles(a);
    for (unsigned l = 0; l < LEVELS; l++)
        full[l] = 0;
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct row *r = &a->rows[i];
        double most = a->of_slots || r->level == L_SLOT ? column * r->capacity : 0;
        for (int x = 0; x < a->lanes.w && most <= 0; x++) {
            const float *bin = bins_of(a, i, x);
            double sum = 0;
            for (unsigned c = 0; c < CATS; c++)
                sum += bin[c];
            full[r->level] = sum > full[r->level] ? sum : full[r->level];
        }
        full[r->level] = most > full[r->level] ? most : full[r->level];
    }
    for (unsigned l = 0; l < LEVELS; l++)
        full[l] = full[l] > 0 ? full[l] : 1;
}

static void paint_rows(struct app *a, uint32_t *pixels, int pitch)
{
    double full[LEVELS];
    find_scale(a, full);
    for (int y = 0; y < a->lanes.h; y++)
        for (int x = 0; x < a->lanes.w; x++)
            pixels[y * pitch + x] = 0xff000000u | COL_BACK;
    for (size_t i = 0; i < a->n_rows; i++) {
        int top = (int)i * a->row_height - a->scroll, height = a->row_height - 1;
        if (top + height <= 0 || top >= a->lanes.h)
            continue;
        int skip = top < 0 ? -top : 0;
        int bottom = top + height > a->lanes.h ? a->lanes.h : top + height;
        if (skip || bottom < top + height) { /* partly out: paint the part as a whole */
            top += skip;
            height = bottom - top;
        }
        for (int y = top; y < top + height; y++)
            for (int x = 0; x < a->lanes.w; x++)
                pixels[y * pitch + x] = 0xff000000u | COL_PANEL;
        for (int x = 0; x < a->lanes.w; x++)
            paint_column(a, pixels + top * pitch + x, pitch, height, bins_of(a, i, x),
                         full[a->rows[i].level]);
    }
}

static void paint(struct app *a)
{
    SDL_Surface *s = SDL_CreateRGBSurfaceWithFormat(0, a->lanes.w, a->lanes.h, 32,
                                                    SDL_PIXELFORMAT_ARGB8888);
    if (!s)
        return;
    paint_rows(a, s->pixels, s->pitch / 4);
    SDL_Texture *t = SDL_CreateTextureFromSurface(a->g.r, s);
    if (t)
        SDL_RenderCopy(a->g.r, t, NULL, &a->lanes);
    SDL_DestroyTexture(t);
    SDL_FreeSurface(s);
}

/* ---- ruler ----------------------------------------------------------------------- */

/* Cycles from one number to the next: 1, 2 or 5 times a power of ten, so many that the
 * numbers do not touch. */
static double ruler_step(struct app *a)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.0f", a->t1);
    double room = gfx_width(&a->g, FONT_SANS, text) + 12;
    double least = (a->t1 - a->t0) * room / (a->ruler.w > 0 ? a->ruler.w : 1);
    double step = pow(10, floor(log10(least > 1 ? least : 1)));
    return step >= least       ? step
           : 2 * step >= least ? 2 * step
           : 5 * step >= least ? 5 * step
                               : 10 * step;
}

static void draw_ruler(struct app *a)
{
    double step = ruler_step(a);
    gfx_fill(&a->g, rect(0, a->ruler.y, a->ruler.x + a->ruler.w + 8, a->ruler.h),
             COL_PANEL);
    gfx_text(&a->g, FONT_SANS, 8, a->ruler.y + 3, COL_DIM, "cycles");
    gfx_clip(&a->g, &a->ruler);
    for (double t = ceil(a->t0 / step) * step; t <= a->t1; t += step) {
        if (t < 0)
            continue;
        int x = x_of(a, t);
        gfx_line(&a->g, x, a->ruler.y + a->ruler.h - 5, x, a->ruler.y + a->ruler.h - 1,
                 COL_DIM);
        char text[32];
        (void)snprintf(text, sizeof text, "%.0f", t + 0.0);
        if (x + 3 + gfx_width(&a->g, FONT_SANS, text) <= a->ruler.x + a->ruler.w)
            gfx_text(&a->g, FONT_SANS, x + 3, a->ruler.y + 2, COL_DIM, "%s", text);
    }
    gfx_clip(&a->g, NULL);
}

/* ---- labels ---------------------------------------------------------------------- */

static unsigned number_of(const struct row *r)
{
    static const unsigned of[LEVELS] = {8, 2, 8, 2, 2, 32};
    unsigned n = r->unit % of[r->level];
    return r->level == L_SIMD ? n * 2 + r->unit / 2 % 2
                              : n; /* CU 0: 0, 2; CU 1: 1, 3 */
}

static void draw_label(struct app *a, const struct row *r, int y)
{
    int text = gfx_height(&a->g, FONT_SANS);
    int x = 6 + (int)r->level * text * 5 / 8, size = text / 2;
    if (r->kids)
        gfx_arrow(&a->g, x, y + (a->row_height - size) / 2, size, r->open, COL_DIM);
    gfx_text(&a->g, r->level == L_SE ? FONT_BOLD : FONT_SANS, x + size + 4,
             y + (a->row_height - text) / 2, r->level < L_SIMD ? COL_TEXT : COL_DIM,
             "%s %u", level_name[r->level], number_of(r));
}

/* Of rows too low for their text, the upper levels have theirs, the others as fits. */
static void draw_labels(struct app *a)
{
    enum { MOST = 4096 };
    static bool taken[MOST]; /* by row, those in sight */
    int text = gfx_height(&a->g, FONT_SANS);
    size_t first = (size_t)(a->scroll / a->row_height), n = a->n_rows - first;
    size_t apart = (size_t)((text - 3) / a->row_height);
    if (first >= a->n_rows)
        return;
    if (n > (size_t)(a->labels.h / a->row_height) + 2)
        n = (size_t)(a->labels.h / a->row_height) + 2;
    if (n > MOST)
        n = MOST;
    memset(taken, 0, sizeof taken);
    gfx_clip(&a->g, &a->labels);
    for (unsigned level = 0; level < LEVELS; level++)
        for (size_t i = 0; i < n; i++) {
            const struct row *r = &a->rows[first + i];
            bool room = r->level == level;
            for (size_t k = i > apart ? i - apart : 0; k <= i + apart && k < n; k++)
                room = room && !taken[k];
            if (!room)
                continue;
            taken[i] = true;
            draw_label(a, r,
                       a->labels.y + (int)(first + i) * a->row_height - a->scroll);
        }
    gfx_clip(&a->g, NULL);
}

/* ---- what lies over the lanes ---------------------------------------------------- */

/* Where dispatches begin. */
static void draw_dispatches(struct app *a)
{
    for (size_t i = 0; i < a->tl->n_dispatches; i++) {
        int x = x_of(a, (double)a->tl->dispatch[i].base);
        if (x < a->lanes.x || x > a->lanes.x + a->lanes.w)
            continue;
        gfx_line(&a->g, x, a->lanes.y, x, a->lanes.y + a->lanes.h, COL_DIM);
    }
}

/* A frame around the selected wave in its own row, or the row that holds it. */
static void draw_selected(struct app *a)
{
    const struct tl_wave *w = selected(a);
    if (!w)
        return;
    for (size_t i = a->n_rows; i-- > 0;) {
        const struct row *r = &a->rows[i];
        if (unit_of(w, r->level) != r->unit)
            continue;
        int x = x_of(a, (double)w->start), to = x_of(a, (double)w->end);
        int y = a->lanes.y + (int)i * a->row_height - a->scroll;
        gfx_frame(&a->g, rect(x - 1, y - 1, to - x + 2, a->row_height + 1), COL_BRIGHT);
        return;
    }
}

static void draw_cursor(struct app *a)
{
    int x = x_of(a, a->cursor);
    if (x < a->lanes.x || x > a->lanes.x + a->lanes.w)
        return;
    gfx_line(&a->g, x, a->ruler.y, x, a->curves.y + a->curves.h, COL_CURSOR);
    gfx_arrow(&a->g, x - 5, a->ruler.y + a->ruler.h - 9, 10, true, COL_CURSOR);
}

void draw_lanes(struct app *a)
{
    draw_ruler(a);
    if (a->lanes.w <= 0 || a->lanes.h <= 0 || !bins_update(a))
        return;
    paint(a);
    draw_labels(a);
    gfx_clip(&a->g, &a->lanes);
    draw_dispatches(a);
    draw_selected(a);
    gfx_clip(&a->g, NULL);
    int all = (int)a->n_rows * a->row_height;
    if (all > a->lanes.h) { /* how far it is scrolled */
        int h = a->lanes.h * a->lanes.h / all, y = a->scroll * a->lanes.h / all;
        gfx_fill(&a->g, rect(a->lanes.x + a->lanes.w + 2, a->lanes.y + y, 4, h),
                 COL_LINE);
    }
    draw_cursor(a);
}
