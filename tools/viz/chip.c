/* chip.c: the chip at the cursor's time: shader engines, arrays, WGPs, SIMDs, a square
 * per wave slot; caches and memory between the two rows of engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "app.h"

/* Sizes in pixels for the room there is. */
struct geometry {
    int cell_w, cell_h; /* distance of slots */
    int wgp_w, wgp_h, wgp_pad, sa_w, se_w, se_h, gap, strip;
    int x, y; /* of the first engine */
    unsigned columns, ses, arrays, wgps, slots;
    int title;
};

static bool measure(const struct app *a, struct geometry *g)
{
    if (!a->tl->n_dispatches)
        return false;
    const struct tm_machine *m = &a->tl->dispatch[0].machine;
    *g = (struct geometry){.ses = m->ses,
                           .arrays = m->arrays,
                           .wgps = m->wgps,
                           .slots = m->slots,
                           .columns = (m->ses + 1) / 2,
                           .title = a->g.font[FONT_SANS].height};
    bool tight = a->chip.h < 20 * g->title;
    g->gap = tight ? 3 : g->title / 2;
    g->strip = g->title * (tight ? 1 : 2) + 4;
    g->wgp_pad = tight ? 1 : 2;
    int room_w = a->chip.w - 2 * g->gap, room_h = a->chip.h - g->strip - 2 * g->gap;
    for (g->cell_h = 14;; g->cell_h--) {
        g->wgp_h = 4 * g->cell_h + 1 + 2 * g->wgp_pad;
        g->se_h = (int)g->wgps * (g->wgp_h + g->wgp_pad) + g->title + 4;
        if (2 * (g->se_h + g->gap) <= room_h || g->cell_h == 2)
            break;
    }
    for (g->cell_w = g->cell_h < 6 ? 14 : 2 * g->cell_h;; g->cell_w--) {
        g->wgp_w = (int)g->slots * g->cell_w + 4;
        g->sa_w = g->wgp_w + 4;
        g->se_w = (int)g->arrays * g->sa_w + g->gap;
        if ((int)g->columns * (g->se_w + g->gap) <= room_w || g->cell_w == 2)
            break;
    }
    int w = (int)g->columns * (g->se_w + g->gap) - g->gap;
    int h = 2 * g->se_h + g->strip + 2 * g->gap;
    g->x = a->chip.x + (a->chip.w - w) / 2;
    g->y = a->chip.y + (a->chip.h - h) / 2;
    return true;
}

static SDL_Rect se_rect(const struct geometry *g, unsigned se)
{
    unsigned row = se / g->columns;
    int y = g->y + (row ? g->se_h + g->strip + 2 * g->gap : 0);
    return rect(g->x + (int)(se % g->columns) * (g->se_w + g->gap), y, g->se_w,
                g->se_h);
}

static SDL_Rect wgp_rect(const struct geometry *g, unsigned se, unsigned sa,
                         unsigned wgp)
{
    SDL_Rect r = se_rect(g, se);
    return rect(r.x + g->gap / 2 + (int)sa * g->sa_w,
                r.y + g->title + 2 + (int)wgp * (g->wgp_h + g->wgp_pad), g->wgp_w,
                g->wgp_h);
}

/* Rows of a WGP: SIMD 0 and 2 of the first CU, 1 and 3 of the second. */
static SDL_Rect slot_rect(const struct geometry *g, const struct tl_wave *w)
{
    static const int row[4] = {0, 2, 1, 3};
    SDL_Rect r = wgp_rect(g, w->se, w->sa, w->wgp);
    int at = row[w->simd & 3u];
    return rect(r.x + 2 + (int)w->slot * g->cell_w,
                r.y + g->wgp_pad + at * g->cell_h + (at > 1), g->cell_w - 1,
                g->cell_h > 2 ? g->cell_h - 1 : g->cell_h);
}

static void draw_engine(struct app *a, const struct geometry *g, unsigned se)
{
    const struct tl_dispatch *d = dispatch_at(a, a->cursor);
    SDL_Rect r = se_rect(g, se);
    gfx_fill(&a->g, r, COL_PANEL);
    gfx_frame(&a->g, r, COL_LINE);
    gfx_text(&a->g, FONT_SANS, r.x + 4, r.y + 1, COL_DIM, "SE %u", se);
    for (unsigned sa = 0; sa < g->arrays; sa++)
        for (unsigned wgp = 0; wgp < g->wgps; wgp++) {
            SDL_Rect q = wgp_rect(g, se, sa, wgp);
            unsigned cus = d->machine.enabled[se] >> (16 * sa + 2 * wgp) & 3u;
            gfx_fill(&a->g, q, cus ? COL_IDLE : COL_BACK);
            if (!cus) {
                gfx_line(&a->g, q.x, q.y, q.x + q.w - 1, q.y + q.h - 1, COL_IDLE);
                gfx_line(&a->g, q.x, q.y + q.h - 1, q.x + q.w - 1, q.y, COL_IDLE);
                continue;
            }
            int middle = q.y + g->wgp_pad + 2 * g->cell_h;
            gfx_line(&a->g, q.x, middle, q.x + q.w - 1, middle, COL_PANEL);
        }
}

/* Waves by where they are; returns how many there are. */
static unsigned draw_waves(struct app *a, const struct geometry *g, unsigned *per_se)
{
    int64_t t = (int64_t)a->cursor;
    unsigned n = 0;
    for (size_t i = 0; i < a->tl->n_waves; i++) {
        const struct tl_wave *w = &a->tl->wave[i];
        if (t < w->start || t >= w->end)
            continue;
        const struct tl_seg *s = tl_at(w, t);
        unsigned why = s ? s->why : TM_S_OTHER;
        SDL_Rect r = slot_rect(g, w);
        gfx_fill(&a->g, r, categories(a->mode)[category_of(a->mode, w, why)].color);
        if (i == a->wave) {
            gfx_frame(&a->g, rect(r.x - 2, r.y - 2, r.w + 4, r.h + 4), COL_BRIGHT);
            gfx_frame(&a->g, rect(r.x - 1, r.y - 1, r.w + 2, r.h + 2), COL_BRIGHT);
        }
        per_se[w->se]++;
        n++;
    }
    return n;
}

/* Hits of all, and misses a cycle, around the cursor. */
static void cache_box(struct app *a, SDL_Rect r, const char *name, double hits,
                      double all, double gbs, color c, double full)
{
    double share = gbs / full > 1 ? 1 : gbs / full;
    gfx_fill(&a->g, r, COL_PANEL);
    gfx_fill(&a->g, rect(r.x, r.y, (int)(share * r.w), r.h), mix(COL_PANEL, c, 110));
    gfx_frame(&a->g, r, COL_LINE);
    int y = r.y + (r.h - gfx_height(&a->g, FONT_SANS)) / 2, right = r.x + r.w - 3;
    char text[48] = "";
    if (all > 0 && hits >= 0)
        snprintf(text, sizeof text, "%.0f%% hit  ", 100 * hits / all);
    size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, "%.0f GB/s", gbs);
    int x = gfx_text_to(&a->g, FONT_BOLD, r.x + 6, y, right, COL_TEXT, name) + 6;
    if (x + gfx_width(&a->g, FONT_SANS, text) > right)
        memmove(text, text + n, strlen(text + n) + 1); /* the rate alone */
    if (x + gfx_width(&a->g, FONT_SANS, text) <= right)
        gfx_text(&a->g, FONT_SANS, x, y, COL_DIM, "%s", text);
}

static void draw_memory(struct app *a, const struct geometry *g)
{
    const struct tl_dispatch *d = dispatch_at(a, a->cursor);
    const struct tl_sample *s = &a->tl->sample[d->first_sample];
    size_t i = 1;
    while (i + 1 < d->n_samples && (double)s[i].t <= a->cursor)
        i++;
    SDL_Rect r = rect(g->x, g->y + g->se_h + g->gap,
                      (int)g->columns * (g->se_w + g->gap) - g->gap, g->strip);
    if (i >= d->n_samples)
        return;
    double cycles = (double)(s[i].t - s[i - 1].t);
    if (cycles <= 0)
        return;
    double per = d->machine.sclk_mhz / 1000 / cycles; /* GB/s of a byte */
#define MORE(k) ((double)(s[i].count[k] - s[i - 1].count[k]))
    int w = (r.w - 3 * g->gap) / 4;
    double l2 = MORE(TM_K_GL2_HIT) + MORE(TM_K_GL2_MISS);
    double mall = MORE(TM_K_MALL_HIT) + MORE(TM_K_MALL_MISS);
    double l1 = MORE(TM_K_GL1_HIT) + MORE(TM_K_GL1_MISS);
    const char *infinity =
        gfx_width(&a->g, FONT_BOLD, "Infinity Cache 100% hit 999 GB/s") < w
            ? "Infinity Cache"
            : "MALL";
    color c = categories(MODE_RESOURCE)[6].color;
    cache_box(a, rect(r.x, r.y, w, r.h), "GL1", MORE(TM_K_GL1_HIT), l1, l1 * 128 * per,
              c, 5000);
    cache_box(a, rect(r.x + (w + g->gap), r.y, w, r.h), "GL2", MORE(TM_K_GL2_HIT), l2,
              l2 * 64 * per, categories(MODE_RESOURCE)[7].color, 5000);
    cache_box(a, rect(r.x + 2 * (w + g->gap), r.y, w, r.h), infinity,
              MORE(TM_K_MALL_HIT), mall, mall * 128 * per,
              categories(MODE_RESOURCE)[8].color, 3000);
    cache_box(a, rect(r.x + 3 * (w + g->gap), r.y, w, r.h), "VRAM", -1, 0,
              MORE(TM_K_MALL_MISS) * 128 * per, categories(MODE_RESOURCE)[9].color,
              960);
#undef MORE
}

void draw_chip(struct app *a)
{
    struct geometry g;
    unsigned per_se[8] = {0};
    if (!measure(a, &g))
        return;
    gfx_clip(&a->g, &a->chip);
    for (unsigned se = 0; se < g.ses; se++)
        draw_engine(a, &g, se);
    draw_waves(a, &g, per_se);
    for (unsigned se = 0; se < g.ses; se++) {
        SDL_Rect r = se_rect(&g, se);
        char text[32];
        snprintf(text, sizeof text, "%u waves", per_se[se]);
        if (gfx_width(&a->g, FONT_SANS, text) + 4 * g.title > r.w)
            snprintf(text, sizeof text, "%u", per_se[se]);
        gfx_text(&a->g, FONT_SANS, r.x + r.w - 4 - gfx_width(&a->g, FONT_SANS, text),
                 r.y + 1, COL_DIM, "%s", text);
    }
    draw_memory(a, &g);
    gfx_clip(&a->g, NULL);
}

size_t chip_wave_at(const struct app *a, int x, int y)
{
    struct geometry g;
    int64_t t = (int64_t)a->cursor;
    if (!measure(a, &g))
        return NO_WAVE;
    for (size_t i = 0; i < a->tl->n_waves; i++) {
        const struct tl_wave *w = &a->tl->wave[i];
        if (t >= w->start && t < w->end && inside(slot_rect(&g, w), x, y))
            return i;
    }
    return NO_WAVE;
}
