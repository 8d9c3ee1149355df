/* curves.c: occupancy, utilisation, bandwidth and hit rates below the lanes.
 *
 * Counters are sums at sampled times; a column's value is the difference between its
 * edges, read off linearly between samples. SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>

#include "app.h"

/* One curve: (sum of counts * weight) / (cycles * per or sum of others). */
struct curve {
    const char *name;
    color color;
    unsigned k[2];  /* counters added up */
    unsigned of[2]; /* and divided by these besides; TM_COUNTS: by cycles */
    double weight;
};

static double count_at(const struct tl_dispatch *d, const struct tl_sample *s,
                       unsigned k, double t)
{
    size_t low = 0, high = d->n_samples - 1;
    if (t <= (double)s[0].t)
        return (double)s[0].count[k];
    if (t >= (double)s[high].t)
        return (double)s[high].count[k];
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if ((double)s[middle].t <= t)
            low = middle;
        else
            high = middle;
    }
    double span = (double)(s[high].t - s[low].t);
    double share = span > 0 ? (t - (double)s[low].t) / span : 0;
    return (double)s[low].count[k] +
           share * (double)(s[high].count[k] - s[low].count[k]);
}

static double more(const struct app *a, const struct tl_dispatch *d, unsigned k,
                   double from, double to)
{
    const struct tl_sample *s = &a->tl->sample[d->first_sample];
    if (k >= TM_COUNTS || d->n_samples < 2)
        return 0;
    return count_at(d, s, k, to) - count_at(d, s, k, from);
}

/* Between two times; negative: nothing to show. */
static double value(const struct app *a, const struct curve *c, double from, double to)
{
    const struct tl_dispatch *d = dispatch_at(a, (from + to) / 2);
    if (!d || d->n_samples < 2 || to < (double)d->base || from > (double)d->end)
        return -1;
    double n = more(a, d, c->k[0], from, to) + more(a, d, c->k[1], from, to);
    double by = to - from;
    if (c->of[0] < TM_COUNTS)
        by = more(a, d, c->of[0], from, to) + more(a, d, c->of[1], from, to);
    return by > 0 ? n / by * c->weight : -1;
}

/* ---- the machine's share that has anything to do --------------------------------- */

static unsigned used_units(const struct app *a, enum level level, unsigned n)
{
    unsigned used = 0;
    for (unsigned i = 0; i < n; i++)
        used += a->used[level][i];
    return used ? used : 1;
}

/* ---- drawing --------------------------------------------------------------------- */

static void draw_axis(struct app *a, SDL_Rect r, const char *title, const char *top)
{
    gfx_fill(&a->g, r, COL_PANEL);
    gfx_line(&a->g, 0, r.y - 1, r.x + r.w, r.y - 1, COL_LINE);
    gfx_text(&a->g, FONT_BOLD, 8, r.y + 1, COL_TEXT, "%s", title);
    gfx_text(&a->g, FONT_SANS, r.x - 4 - gfx_width(&a->g, FONT_SANS, top), r.y + 1,
             COL_DIM, "%s", top);
}

/* The width over which a curve is averaged: never less than a sample's distance. */
static double window(const struct app *a)
{
    double column = bins_column_cycles(a);
    return column < 256 ? 256 : column;
}

static void draw_strip(struct app *a, SDL_Rect r, const char *title, const char *unit,
                       double full, const struct curve *curve, unsigned n)
{
    char top[32];
    double half = window(a) / 2, most = full;
    int text = gfx_height(&a->g, FONT_SANS);
    for (unsigned i = 0; full <= 0 && i < n; i++)
        for (int x = 0; x < r.w; x += 2) {
            double t = t_of(a, r.x + x), v = value(a, &curve[i], t - half, t + half);
            most = v > most ? v : most;
        }
    if (most <= 0)
        most = 1;
    snprintf(top, sizeof top, "%.0f%s", most, unit);
    draw_axis(a, r, title, top);
    gfx_clip(&a->g, &r);
    for (unsigned i = 0; i < n; i++) {
        int last = -1;
        for (int x = 0; x < r.w; x++) {
            double t = t_of(a, r.x + x), v = value(a, &curve[i], t - half, t + half);
            if (v < 0) {
                last = -1;
                continue;
            }
            double share = v / most > 1 ? 1 : v / most;
            int y = r.y + r.h - 2 - (int)(share * (r.h - 4));
            gfx_line(&a->g, r.x + x - (last >= 0), last >= 0 ? last : y, r.x + x, y,
                     curve[i].color);
            last = y;
        }
    }
    gfx_clip(&a->g, NULL);
    int x = 8, y = r.y + text + 1; /* names and values at the cursor */
    for (unsigned i = 0; i < n; i++) {
        double v = value(a, &curve[i], a->cursor - half, a->cursor + half);
        if (full > 0 && v > full) /* work that began earlier is counted when it ends */
            v = full;
        if (i && i % 2 == 0) {
            x = 8;
            y += text;
        }
        if (y + text > r.y + r.h + 2)
            break;
        char text_of[32];
        if (v < 0) /* nothing asked for it */
            snprintf(text_of, sizeof text_of, "%s -", curve[i].name);
        else
            snprintf(text_of, sizeof text_of, "%s %.*f", curve[i].name,
                     v < 10 && full != 100 ? 1 : 0, v);
        x = gfx_text_to(&a->g, FONT_SANS, x, y, r.x, curve[i].color, text_of) + 8;
    }
}

/* At the cursor, exactly, as the chip shows them; a column's are an average. */
static size_t count_resident(const struct app *a)
{
    int64_t t = (int64_t)a->cursor;
    size_t n = 0;
    for (size_t i = 0; i < a->tl->n_waves; i++)
        n += t >= a->tl->wave[i].start && t < a->tl->wave[i].end;
    return n;
}

/* The waves of an earlier run as a line, and where it ended. */
static void draw_before(struct app *a, SDL_Rect r, double most)
{
    int last = -1;
    double end;
    for (int x = 0; x < r.w; x++) {
        double v = beside_resident(a, t_of(a, r.x + x));
        int y = v < 0 ? -1 : r.y + r.h - 1 - (int)(v / most * (r.h - 2));
        if (y >= 0)
            gfx_line(&a->g, r.x + x - (last >= 0), last >= 0 ? last : y, r.x + x, y,
                     COL_BRIGHT);
        last = y;
    }
    if (!beside_end(a, &end) || end < a->t0 || end > a->t1)
        return;
    int x = x_of(a, end);
    gfx_line(&a->g, x, r.y, x, r.y + r.h - 1, COL_BRIGHT);
    int wide = gfx_width(&a->g, FONT_SANS, "before") + 4;
    gfx_text(&a->g, FONT_SANS, x + 4 + wide > r.x + r.w ? x - wide : x + 4, r.y + 1,
             COL_BRIGHT, "before");
}

static double most_before(const struct app *a, SDL_Rect r)
{
    double most = 0;
    for (int x = 0; x < r.w; x++) {
        double v = beside_resident(a, t_of(a, r.x + x));
        most = v > most ? v : most;
    }
    return most;
}

/* Waves resident, stacked by category. */
static void draw_occupancy(struct app *a, SDL_Rect r)
{
    const struct category *cat = categories(a->mode);
    const struct tl_dispatch *d = shown_dispatch(a);
    double column = bins_column_cycles(a), most = 0;
    char top[32];
    for (int x = 0; x < r.w; x++) {
        const float *bin = bins_of(a, a->n_rows, x);
        double sum = 0;
        for (unsigned c = 0; c < CATS; c++)
            sum += bin[c];
        most = sum / column > most ? sum / column : most;
    }
    unsigned simds = used_units(a, L_SIMD, 512);
    double reach = d ? (double)d->machine.occupancy * simds : most;
    double before = most_before(a, r);
    most = before > most ? before : most;
    if (reach > most)
        most = reach;
    if (most <= 0)
        most = 1;
    snprintf(top, sizeof top, "%.0f", most);
    draw_axis(a, r, "Waves", top);
    int text = gfx_height(&a->g, FONT_SANS);
    for (int x = 0; x < r.w; x++) {
        const float *bin = bins_of(a, a->n_rows, x);
        double level = 0;
        int y = r.y + r.h - 1;
        for (unsigned c = 0; c < CATS; c++) {
            if (bin[c] <= 0)
                continue;
            level += bin[c] / column / most * (r.h - 2);
            int to = r.y + r.h - 1 - (int)(level + 0.5);
            if (to < y)
                gfx_fill(&a->g, rect(r.x + x, to, 1, y - to), cat[c].color);
            y = to < y ? to : y;
        }
    }
    draw_before(a, r, most);
    if (r.h >= 2 * text)
        gfx_text(&a->g, FONT_SANS, 8, r.y + text + 1, COL_TEXT, "%zu resident",
                 count_resident(a));
    if (d) { /* what registers, LDS and slots allow */
        int y = r.y + r.h - 1 - (int)(reach / most * (r.h - 2));
        for (int x = r.x; x < r.x + r.w; x += 6)
            gfx_line(&a->g, x, y, x + 2, y, COL_DIM);
        if (r.h >= 3 * text)
            gfx_text_to(&a->g, FONT_SANS, 8, r.y + 2 * text + 1, r.x, COL_DIM,
                        d->machine.limit == TM_LIMIT_SLOTS
                            ? "all slots"
                            : tm_limit_name[d->machine.limit]);
    }
}

void draw_curves(struct app *a)
{
    if (!a->bins || !a->tl->n_dispatches || a->lanes.w <= 0)
        return;
    const struct tl_dispatch *d = shown_dispatch(a);
    (void)beside_update(a, (size_t)(d - a->tl->dispatch));
    double mhz = d->machine.sclk_mhz, gb = mhz / 1000;
    double simds = used_units(a, L_SIMD, 512), cus = used_units(a, L_CU, 256);
    const struct category *s = categories(MODE_STATE);
    const color l0 = 0xffd0bd, gl1 = 0xff9f6b, gl2 = 0x2bb3a3, mall = 0xd9b343,
                vram = 0xff5252, code = 0x8d99ae; /* further apart than in bars */
    const struct curve use[] = {
        {"VALU",
         s[TM_ST_ISSUE].color,
         {TM_K_VALU_BUSY, TM_COUNTS},
         {TM_COUNTS, 0},
         100 / simds},
        {"LDS",
         s[TM_ST_LDS].color,
         {TM_K_LDS_BUSY, TM_COUNTS},
         {TM_COUNTS, 0},
         100 / cus},
        {"SALU",
         s[TM_ST_SCALAR].color,
         {TM_K_SALU, TM_COUNTS},
         {TM_COUNTS, 0},
         100 / simds},
        {"VMEM",
         s[TM_ST_MEMORY].color,
         {TM_K_VMEM, TM_COUNTS},
         {TM_COUNTS, 0},
         100 / simds},
    };
    const struct curve rate[] = {
        {"L0", l0, {TM_K_L0_HIT, TM_K_L0_MISS}, {TM_COUNTS, 0}, 128 * gb},
        {"GL2", gl2, {TM_K_GL2_HIT, TM_K_GL2_MISS}, {TM_COUNTS, 0}, 64 * gb},
        {"MALL", mall, {TM_K_MALL_HIT, TM_K_MALL_MISS}, {TM_COUNTS, 0}, 128 * gb},
        {"VRAM", vram, {TM_K_MALL_MISS, TM_COUNTS}, {TM_COUNTS, 0}, 128 * gb},
    };
    const struct curve hits[] = {
        {"L0", l0, {TM_K_L0_HIT, TM_COUNTS}, {TM_K_L0_HIT, TM_K_L0_MISS}, 100},
        {"GL1", gl1, {TM_K_GL1_HIT, TM_COUNTS}, {TM_K_GL1_HIT, TM_K_GL1_MISS}, 100},
        {"GL2", gl2, {TM_K_GL2_HIT, TM_COUNTS}, {TM_K_GL2_HIT, TM_K_GL2_MISS}, 100},
        {"code",
         code,
         {TM_K_CODE_HIT, TM_COUNTS},
         {TM_K_CODE_HIT, TM_K_CODE_MISS},
         100},
    };
    int h = a->curves.h / 4;
    SDL_Rect strip = rect(a->lanes.x, a->curves.y, a->lanes.w, h - 2);
    gfx_fill(&a->g, a->curves, COL_BACK);
    draw_occupancy(a, strip);
    strip.y += h;
    draw_strip(a, strip, "Busy", " %", 100, use, 4);
    strip.y += h;
    draw_strip(a, strip, "GB/s", "", 0, rate, 4);
    strip.y += h;
    draw_strip(a, strip, "Hits", " %", 100, hits, 4);
}
