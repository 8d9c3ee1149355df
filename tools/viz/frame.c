/* frame.c: what surrounds the panels: title, legend, help, the text beside the pointer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "app.h"

static void draw_top(struct app *a)
{
    const struct tl_dispatch *d = shown_dispatch(a);
    int y = a->top.y + (a->top.h - gfx_height(&a->g, FONT_SANS)) / 2, x = 10;
    gfx_fill(&a->g, a->top, COL_PANEL);
    gfx_line(&a->g, 0, a->top.h - 1, a->width, a->top.h - 1, COL_LINE);
    x = gfx_text(&a->g, FONT_BOLD, x, y, COL_BRIGHT, "rdna3 viz") + 16;
    if (!d) {
        gfx_text_to(&a->g, FONT_SANS, x, y, a->width, COL_DIM,
                    a->live ? "waiting for the first dispatch"
                            : "no dispatch was recorded");
        return;
    }
    char which[64] = "";
    if (a->tl->n_dispatches > 1)
        snprintf(which, sizeof which, "dispatch %zu of %zu",
                 (size_t)(d - a->tl->dispatch) + 1, a->tl->n_dispatches);
    int right = a->side.x - gfx_width(&a->g, FONT_SANS, which) - 10;
    x = gfx_text_to(&a->g, FONT_SANS, x, y, right, COL_TEXT, d->name) + 10;
    gfx_text_to(&a->g, FONT_SANS, x, y, a->side.x, COL_DIM, which);
    double in = a->cursor - (double)d->base;
    char time[160];
    if (a->live && a->tail) /* the run sets the pace */
        snprintf(time, sizeof time, "LIVE  cycle %.0f   %.3f us", a->cursor,
                 in / d->machine.sclk_mhz);
    else
        snprintf(time, sizeof time, "%s  cycle %.0f   %.3f us   %.4g cycles/s%s",
                 a->playing ? "playing" : "paused", a->cursor, in / d->machine.sclk_mhz,
                 a->speed, a->live ? "   live (L: follow)" : "");
    const char *hint = "? help";
    int at = a->width - 10 - gfx_width(&a->g, FONT_SANS, hint);
    gfx_text_to(&a->g, FONT_SANS, a->side.x + 10, y, at - 8, COL_CURSOR, time);
    gfx_text(&a->g, FONT_SANS, at, y, COL_DIM, "%s", hint);
}

static const char *kernel_name(const struct app *a, unsigned kernel)
{
    for (size_t i = 0; i < a->tl->n_dispatches; i++)
        if (a->tl->dispatch[i].kernel == kernel)
            return a->tl->dispatch[i].name;
    return NULL;
}

/* One entry of the legend: where it is drawn, and where the next one is. A line that is
 * full goes on below. */
static void entry(struct app *a, int *x, int *y, const char *name, color c, bool draw)
{
    int h = gfx_height(&a->g, FONT_SANS);
    int w = h + 2 + gfx_width(&a->g, FONT_SANS, name);
    if (*x + w > a->width && *x > 10) {
        *x = 10;
        *y += h + 2;
    }
    if (draw) {
        gfx_fill(&a->g, rect(*x, *y + 2, h - 4, h - 4), c);
        gfx_frame(&a->g, rect(*x, *y + 2, h - 4, h - 4), mix(c, COL_LINE, 128));
        gfx_text_to(&a->g, FONT_SANS, *x + h + 2, *y, a->width, COL_TEXT, name);
    }
    *x += w + 14;
}

/* Returns the height that it takes, but for the space around it. */
static int legend(struct app *a, bool draw)
{
    const struct category *cat = categories(a->mode);
    int h = gfx_height(&a->g, FONT_SANS), top = a->legend.y + h / 4, y = top, x = 10;
    char title[64];
    snprintf(title, sizeof title, "colour by %s (C):", mode_name[a->mode]);
    if (draw)
        gfx_text(&a->g, FONT_SANS, x, y, COL_DIM, "%s", title);
    x += gfx_width(&a->g, FONT_SANS, title) + 12;
    for (unsigned c = 0; c < CATS; c++) {
        const char *name = cat[c].name;
        if (a->mode == MODE_KERNEL)
            name = kernel_name(a, c);
        if (a->mode == MODE_GROUP)
            name = c == 0 ? "neighbouring workgroups differ" : NULL;
        if (name)
            entry(a, &x, &y, name, cat[c].color, draw);
    }
    if (a->mode <= MODE_RESOURCE)
        entry(a, &x, &y, "free slot", COL_IDLE, draw);
    return y - top + h;
}

int legend_height(struct app *a)
{
    return legend(a, false);
}

static void draw_legend(struct app *a)
{
    gfx_fill(&a->g, a->legend, COL_PANEL);
    gfx_line(&a->g, 0, a->legend.y, a->width, a->legend.y, COL_LINE);
    legend(a, true);
}

/* ---- beside the pointer ---------------------------------------------------------- */

static size_t pointed_wave(const struct app *a)
{
    if (inside(a->chip, a->mouse_x, a->mouse_y))
        return chip_wave_at(a, a->mouse_x, a->mouse_y);
    if (!inside(a->lanes, a->mouse_x, a->mouse_y))
        return NO_WAVE;
    size_t row = (size_t)((a->mouse_y - a->lanes.y + a->scroll) / a->row_height);
    if (row >= a->n_rows || a->rows[row].level != L_SLOT)
        return NO_WAVE;
    return view_wave_at(a, &a->rows[row], t_of(a, a->mouse_x));
}

/* The wave that is pointed at; returns the number of lines. */
static unsigned wave_tip(struct app *a, char (*line)[200], color *c)
{
    size_t i = pointed_wave(a);
    if (i == NO_WAVE)
        return 0;
    const struct tl_wave *w = &a->tl->wave[i];
    double t =
        inside(a->lanes, a->mouse_x, a->mouse_y) ? t_of(a, a->mouse_x) : a->cursor;
    const struct tl_seg *s = tl_at(w, (int64_t)t);
    const struct tl_inst *inst = s ? tl_inst(a->tl, w, s->inst) : NULL;
    const struct tl_inst *from = s ? tl_inst(a->tl, w, s->from) : NULL;
    snprintf(line[1], 200,
             "workgroup %u,%u,%u wave %u   SE%u SA%u WGP%u SIMD%u slot %u", w->wg[0],
             w->wg[1], w->wg[2], w->wave, w->se, w->sa, w->wgp, w->simd, w->slot);
    snprintf(line[0], 200, "%s", a->tl->dispatch[w->dispatch].name);
    if (!s)
        return 2;
    *c = categories(MODE_STATE)[tm_stall_state[s->why]].color;
    if (inst)
        snprintf(line[0], 200, "%x  %s", inst->offset, inst->text);
    if (s->inst == TL_NONE)
        snprintf(line[2], 200,
                 "has waited %lld cycles; for what is told when it goes on",
                 (long long)(tl_seg_end(w, s) - s->at));
    else if (s->why != TM_S_NONE)
        snprintf(line[2], 200, "waits %lld cycles: %s%s%s",
                 (long long)(tl_seg_end(w, s) - s->at), tm_stall_name[s->why],
                 from ? " for " : "", from ? from->text : "");
    else
        snprintf(line[2], 200, "issues");
    return 3;
}

static void draw_tip(struct app *a)
{
    enum { LINES = 9 };
    char line[LINES][200];
    color c = COL_TEXT;
    if (a->drag || a->help)
        return;
    bool list = inside(a->listing, a->mouse_x, a->mouse_y);
    unsigned n = list ? listing_tip(a, a->mouse_x, a->mouse_y, line, LINES)
                      : wave_tip(a, line, &c);
    if (!n)
        return;
    int width = 0, h = gfx_height(&a->g, FONT_SANS);
    for (unsigned k = 0; k < n; k++) {
        int wide = gfx_width(&a->g, k == 0 ? FONT_MONO : FONT_SANS, line[k]);
        width = wide > width ? wide : width;
    }
    SDL_Rect r = rect(a->mouse_x + 14, a->mouse_y + 14, width + 16, (int)n * h + 10);
    if (r.x + r.w > a->width)
        r.x = a->width - r.w;
    if (r.x < 0)
        r.x = 0;
    if (r.y + r.h > a->height)
        r.y = a->mouse_y - r.h - 8;
    gfx_blend(&a->g, r, 0x0b0e13, 240);
    gfx_frame(&a->g, r, COL_DIM);
    for (unsigned k = 0; k < n; k++)
        gfx_text_to(&a->g, k == 0 ? FONT_MONO : FONT_SANS, r.x + 8,
                    r.y + 5 + (int)k * h, a->width - 4,
                    k == 0   ? COL_BRIGHT
                    : k == 2 ? c
                             : COL_TEXT,
                    line[k]);
}

/* ---- help ------------------------------------------------------------------------ */

void draw_help(struct app *a)
{
    static const char *const text[][2] = {
        {"What you see", NULL},
        {"", "Top: the chip at the time of the yellow cursor, a square per wave slot."},
        {"", "Middle: the same over time. A row is a unit; its height is shared by its "
             "waves,"},
        {"", "coloured by what they do. Open a row to see the units in it."},
        {"", "Bottom: resident waves, how busy pipes are, data rates, hit rates."},
        {"", "Right: the kernel or wave, where its cycles went, its instructions."},
        {"Time", NULL},
        {"Space", "play, pause"},
        {"Left, Right",
         "step: to the next change of the wave looked at, else by a pixel"},
        {", .", "one cycle back, forward"},
        {"[ ]", "play slower, faster"},
        {"Home, End", "to the beginning, the end"},
        {"wheel", "zoom at the pointer;  Shift: move;  Ctrl: height of rows"},
        {"drag", "ruler or curves: move the cursor;  rows: move the view"},
        {"Z, F", "zoom to the wave, show everything"},
        {"What", NULL},
        {"click",
         "a wave on the chip or in a slot's row: look at it;  a label: open, close"},
        {"Tab", "next wave in this slot;  Shift: the one before"},
        {"Enter", "follow the wave: view and listing stay with it;  Esc: let go"},
        {"N", "height of rows: the fullest unit, or all wave slots"},
        {"C", "colour by state, limiting resource, kernel, workgroup"},
        {"1 ... 6", "open rows down to SE, SA, WGP, CU, SIMD, slots;  0: as fits"},
        {"A, V", "listing of this wave or of all;  of the time in view or of all"},
        {"W",
         "source lines above the listing, with --code-object FILE;  click: its code"},
        {"B", "what has changed since an earlier run, with --baseline FILE"},
        {"Up, Down", "scroll rows;  Page keys: the listing"},
        {"L", "live: stay at the end of a run that goes on"},
        {"+ -", "text larger, smaller;   S: save a picture;   Q: quit"},
    };
    const unsigned all = sizeof text / sizeof text[0];
    int h = gfx_height(&a->g, FONT_SANS) + 3, width = 46 * h, left = 7 * h;
    /* A window with no room for all has the keys. */
    unsigned first = (int)(all + 2) * h <= a->height ? 0 : 6, n = all - first;
    if (first && (int)(n + 2) * h > a->height)
        h = gfx_height(&a->g, FONT_SANS);
    if (width > a->width - 20)
        width = a->width - 20;
    int height = (int)(n + 2) * h, above = (a->height - height) / 2;
    SDL_Rect r = rect((a->width - width) / 2, above > 0 ? above : 0, width, height);
    gfx_blend(&a->g, rect(0, 0, a->width, a->height), 0x000000, 130);
    gfx_fill(&a->g, r, COL_BACK);
    gfx_frame(&a->g, r, COL_DIM);
    gfx_clip(&a->g, &r);
    for (unsigned i = first; i < all; i++) {
        int y = r.y + h / 2 + (int)(i - first) * h;
        if (!text[i][1]) {
            gfx_text(&a->g, FONT_BOLD, r.x + 14, y, COL_CURSOR, "%s", text[i][0]);
            continue;
        }
        gfx_text(&a->g, FONT_BOLD, r.x + 24, y, COL_BRIGHT, "%s", text[i][0]);
        gfx_text(&a->g, FONT_SANS, r.x + (*text[i][0] ? left : 24), y, COL_TEXT, "%s",
                 text[i][1]);
    }
    gfx_clip(&a->g, NULL);
}

static void draw_note(struct app *a)
{
    if (!a->note[0])
        return;
    int w = gfx_width(&a->g, FONT_SANS, a->note) + 20, h = a->legend.h;
    SDL_Rect r = rect((a->width - w) / 2, a->legend.y - h - 8, w, h);
    gfx_blend(&a->g, r, 0x0b0e13, 230);
    gfx_frame(&a->g, r, COL_CURSOR);
    gfx_text(&a->g, FONT_SANS, r.x + 10, r.y + (h - gfx_height(&a->g, FONT_SANS)) / 2,
             COL_TEXT, "%s", a->note);
}

void draw_frame(struct app *a)
{
    draw_top(a);
    draw_legend(a);
    draw_tip(a);
    draw_note(a);
    if (a->help)
        draw_help(a);
}

void all_draw(struct app *a)
{
    view_layout(a);
    gfx_fill(&a->g, rect(0, 0, a->width, a->height), COL_BACK);
    draw_chip(a);
    draw_lanes(a);
    draw_curves(a);
    draw_side(a);
    draw_frame(a);
}
