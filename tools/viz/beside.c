/* beside.c: the run beside an earlier one: what has changed, above the listing and in
 * it, and the earlier run's waves behind those of this one.
 *
 * Made again only when the dispatch or what is known of it changes.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

enum { COLUMNS = 2048 }; /* of the earlier run's waves over time */

struct beside {
    struct tl_comparison c;
    rd_status status;
    /* what it is of */
    size_t dispatch, n_waves;
    uint64_t n_steps;
    float resident[COLUMNS]; /* waves, on average, over the earlier run's time */
};

#define COL_LESS 0x43d17a
#define COL_MORE 0xff6b5e

void beside_free(struct app *a)
{
    if (!a->beside)
        return;
    tl_compare_free(&a->beside->c);
    free(a->beside);
    a->beside = NULL;
}

static const struct tl_dispatch *old_dispatch(const struct app *a)
{
    return &a->before->dispatch[a->beside->c.old];
}

static int64_t length(const struct tl_dispatch *d)
{
    return d->end > d->base ? d->end - d->base : 1;
}

static void count_resident(const struct app *a, struct beside *b)
{
    const struct tl_dispatch *d = old_dispatch(a);
    double column = (double)length(d) / COLUMNS;
    memset(b->resident, 0, sizeof b->resident);
    for (size_t i = 0; i < d->n_waves; i++) {
        const struct tl_wave *w = &a->before->wave[d->first_wave + i];
        double from = (double)(w->start - d->base) / column;
        double to = (double)(w->end - d->base) / column;
        for (int x = (int)from; x < COLUMNS && x < to; x++) {
            double begin = from > x ? from : x, end = to < x + 1 ? to : x + 1;
            b->resident[x] += (float)(end - begin);
        }
    }
}

bool beside_update(struct app *a, size_t dispatch)
{
    if (!a->before || a->before_off)
        return false;
    if (!a->beside) {
        a->beside = calloc(1, sizeof *a->beside);
        if (!a->beside)
            return false;
        a->beside->dispatch = SIZE_MAX;
    }
    struct beside *b = a->beside;
    if (b->dispatch != dispatch || b->n_waves != a->tl->n_waves ||
        b->n_steps != a->tl->n_steps) {
        tl_compare_free(&b->c);
        b->dispatch = dispatch;
        b->n_waves = a->tl->n_waves;
        b->n_steps = a->tl->n_steps;
        b->status = tl_compare(a->tl, dispatch, a->before, &b->c);
        if (b->status == RD_OK)
            count_resident(a, b);
    }
    return true;
}

static const struct beside *shown(const struct app *a)
{
    const struct beside *b = a->before_off ? NULL : a->beside;
    return b && b->status == RD_OK ? b : NULL;
}

/* ---- the listing's column ---------------------------------------------------------
 */

const struct tl_account *beside_inst(const struct app *a, uint32_t id)
{
    const struct beside *b = shown(a);
    if (!b || id >= a->tl->dispatch[b->dispatch].n_insts || b->c.match[id] == TL_NONE)
        return NULL;
    return &b->c.was[b->c.match[id]];
}

bool beside_shown(const struct app *a)
{
    return shown(a) != NULL;
}

/* What changes by less than a twentieth may be chance. */
color beside_color(double was, double now)
{
    return now < was * 0.95 ? COL_LESS : now > was * 1.05 ? COL_MORE : COL_DIM;
}

/* ---- the waves --------------------------------------------------------------------
 */

double beside_resident(const struct app *a, double t)
{
    const struct beside *b = shown(a);
    if (!b)
        return -1;
    double at = t - (double)a->tl->dispatch[b->dispatch].base;
    double x = at / (double)length(old_dispatch(a)) * COLUMNS;
    return x < 0 || x >= COLUMNS ? -1 : (double)b->resident[(int)x];
}

bool beside_end(const struct app *a, double *t)
{
    const struct beside *b = shown(a);
    if (b)
        *t = (double)(a->tl->dispatch[b->dispatch].base + length(old_dispatch(a)));
    return b != NULL;
}

/* ---- the table --------------------------------------------------------------------
 */

/* Columns, in widths of a digit: right ends, but the first. */
enum { COL_BEFORE = 26, COL_NOW = 39, COL_CHANGE = 50 };

static void right_text(struct app *a, int right, int y, color c, const char *text)
{
    gfx_text(&a->g, FONT_MONO, right - gfx_width(&a->g, FONT_MONO, text), y, c, "%s",
             text);
}

static void draw_row(struct app *a, int *y, const char *name, color c, uint64_t was,
                     uint64_t now)
{
    char text[32];
    int em = a->g.font[FONT_MONO].advance['0' - 32], x = a->side.x + 10;
    gfx_text(&a->g, FONT_SANS, x, *y, c, "%s", name);
    snprintf(text, sizeof text, "%llu", (unsigned long long)was);
    right_text(a, x + COL_BEFORE * em, *y, COL_TEXT, text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)now);
    right_text(a, x + COL_NOW * em, *y, COL_TEXT, text);
    if (was) {
        double by = 100 * ((double)now - (double)was) / (double)was;
        snprintf(text, sizeof text, "%+.1f%%", by);
        right_text(a, x + COL_CHANGE * em, *y, beside_color((double)was, (double)now),
                   text);
    }
    int sans = gfx_height(&a->g, FONT_SANS), mono = gfx_height(&a->g, FONT_MONO);
    *y += sans > mono ? sans : mono;
}

static void draw_head(struct app *a, int *y, const struct beside *b)
{
    char text[300];
    int em = a->g.font[FONT_MONO].advance['0' - 32], x = a->side.x + 10;
    const char *name = strrchr(a->before_path, '/');
    name = name ? name + 1 : a->before_path;
    if (b->status == RD_OK)
        snprintf(text, sizeof text, "beside %s (B)", name);
    else
        snprintf(text, sizeof text, "%s: %s (B)", name,
                 b->status == RD_E_NOT_FOUND ? "has not got this kernel"
                                             : rd_status_text(b->status));
    *y += 2;
    gfx_fill(&a->g,
             rect(a->side.x + 1, *y, a->side.w, gfx_height(&a->g, FONT_SANS) + 2),
             COL_LINE);
    int right = x + (COL_BEFORE - 6) * em;
    gfx_text_to(&a->g, FONT_SANS, x, *y, b->status == RD_OK ? right : a->width - 4,
                COL_DIM, text);
    if (b->status == RD_OK) {
        right_text(a, x + COL_BEFORE * em, *y, COL_DIM, "before");
        right_text(a, x + COL_NOW * em, *y, COL_DIM, "now");
        right_text(a, x + COL_CHANGE * em, *y, COL_DIM, "change");
    }
    *y += gfx_height(&a->g, FONT_SANS) + 4;
}

/* Both accounts as bars of one scale. */
static void draw_bars(struct app *a, int *y, const struct tl_comparison *c)
{
    int h = gfx_height(&a->g, FONT_SANS) * 2 / 3, x = a->side.x + 10;
    int room = a->side.w - 20;
    *y += 4; /* rows are no higher than their text */
    uint64_t most =
        c->all_was.cycles > c->all_now.cycles ? c->all_was.cycles : c->all_now.cycles;
    for (unsigned i = 0; i < 2 && most; i++) {
        const struct tl_account *t = i ? &c->all_now : &c->all_was;
        int w = (int)((double)t->cycles / (double)most * room);
        side_stack(a, rect(x, *y, w, h), t->stall, t->cycles);
        *y += h + 2;
    }
    *y += 2;
}

void beside_draw(struct app *a, int *y)
{
    const struct beside *b = a->beside;
    draw_head(a, y, b);
    if (b->status != RD_OK)
        return;
    const struct tl_comparison *c = &b->c;
    const struct tl_dispatch *now = &a->tl->dispatch[b->dispatch];
    uint64_t new_state[TM_STATES] = {0}, old_state[TM_STATES] = {0};
    for (unsigned s = 0; s < TM_STALLS; s++) {
        new_state[tm_stall_state[s]] += c->all_now.stall[s];
        old_state[tm_stall_state[s]] += c->all_was.stall[s];
    }
    draw_row(a, y, "cycles", COL_BRIGHT, (uint64_t)length(old_dispatch(a)),
             (uint64_t)length(now));
    draw_row(a, y, "wave cycles", COL_TEXT, c->all_was.cycles, c->all_now.cycles);
    for (unsigned s = 0; s < TM_STATES; s++)
        if (new_state[s] || old_state[s])
            draw_row(a, y, tm_state_name[s], categories(MODE_STATE)[s].color,
                     old_state[s], new_state[s]);
    draw_bars(a, y, c);
}
