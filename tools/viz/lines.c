/* lines.c: the source pane: lines of the kernel with what their instructions cost.
 *
 * Must not know DWARF. Made again only when the dispatch or its instructions change.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "hotlines.h"

struct pane {
    struct hotlines lines;
    struct tl_error why; /* there are none */
    bool made;
    /* what they are of */
    size_t dispatch;
    uint32_t n_insts;
    struct tl_account *row; /* by row, of the accounts that the listing shows */
    unsigned *here;
    uint64_t most;
};

/* Columns, in widths of a digit. */
enum { COL_LINE_NO = 5, COL_SHARE = 11, COL_BAR = 18, BAR = 5, COL_SOURCE = 24 };

void lines_free(struct app *a)
{
    if (!a->pane)
        return;
    hotlines_free(&a->pane->lines);
    free(a->pane->row);
    free(a->pane->here);
    free(a->pane);
    a->pane = NULL;
}

static bool make(struct app *a, struct pane *p, size_t dispatch)
{
    const struct tl_dispatch *d = &a->tl->dispatch[dispatch];
    hotlines_free(&p->lines);
    free(p->row);
    free(p->here);
    p->row = NULL;
    p->here = NULL;
    p->dispatch = dispatch;
    p->n_insts = d->n_insts;
    p->made =
        hotlines_make(a->code, a->code_bytes, a->tl, dispatch, &p->lines, &p->why);
    a->source_auto = true;
    a->source_scroll = 0;
    if (!p->made)
        return true;
    p->row = malloc((p->lines.n_rows + 1u) * sizeof *p->row);
    p->here = malloc((p->lines.n_rows + 1u) * sizeof *p->here);
    return p->row && p->here;
}

/* Add up what the listing has by instruction. */
static void add_up(struct app *a, struct pane *p)
{
    uint32_t n;
    const unsigned *here;
    const struct tl_account *account = listing_accounts(a, &here, &n);
    memset(p->row, 0, p->lines.n_rows * sizeof *p->row);
    memset(p->here, 0, p->lines.n_rows * sizeof *p->here);
    p->most = 1;
    for (uint32_t i = 0; i < n && i < p->lines.n_insts; i++) {
        if (p->lines.of[i] == HOT_NONE)
            continue;
        struct tl_account *to = &p->row[p->lines.of[i]];
        to->times += account[i].times;
        to->cycles += account[i].cycles;
        for (unsigned s = 0; s < TM_STALLS; s++)
            to->stall[s] += account[i].stall[s];
        p->here[p->lines.of[i]] += here[i];
        p->most = to->cycles > p->most ? to->cycles : p->most;
    }
}

bool lines_update(struct app *a, size_t dispatch)
{
    a->looked = UINT32_MAX;
    if (!a->code || a->source_off)
        return false;
    if (!a->pane && !(a->pane = calloc(1, sizeof *a->pane)))
        return false;
    struct pane *p = a->pane;
    const struct tl_dispatch *d = &a->tl->dispatch[dispatch];
    bool same = p->n_insts == d->n_insts && p->dispatch == dispatch && p->n_insts;
    if (!same && !make(a, p, dispatch))
        return false;
    if (p->made)
        add_up(a, p);
    return true;
}

uint32_t lines_row(const struct app *a, uint32_t id)
{
    const struct pane *p = a->source_off ? NULL : a->pane;
    return p && p->made && id < p->lines.n_insts ? p->lines.of[id] : HOT_NONE;
}

/* The row of the instruction looked at, else of the wave's. */
static uint32_t looked_at(const struct app *a, uint32_t now)
{
    const struct tl_dispatch *d = &a->tl->dispatch[a->pane->dispatch];
    uint32_t id = 0;
    if (now != TL_NONE && a->pc == TL_NONE)
        return lines_row(a, now);
    while (id < d->n_insts && !(d->inst[id].text && d->inst[id].offset == a->pc))
        id++;
    return lines_row(a, id);
}

static uint32_t hottest(const struct pane *p)
{
    for (uint32_t i = 0; i < p->lines.n_rows; i++)
        if (p->row[i].cycles == p->most)
            return i;
    return 0;
}

static void draw_row(struct app *a, const struct pane *p, uint32_t i, int y, color back)
{
    const struct hot_row *r = &p->lines.row[i];
    const struct tl_account *x = &p->row[i];
    int h = gfx_height(&a->g, FONT_MONO), em = a->g.font[FONT_MONO].advance['0' - 32];
    int left = a->source.x + 6, right = a->source.x + a->source.w - em;
    uint64_t all = listing_cycles(a);
    if (back)
        gfx_fill(&a->g, rect(a->source.x, y, a->source.w, h), back);
    if (!r->line) {
        gfx_text_to(&a->g, FONT_MONO, left, y, right, COL_CURSOR, r->file);
        return;
    }
    if (p->here[i])
        gfx_text(&a->g, FONT_MONO, left, y, COL_CURSOR, "%4u", p->here[i]);
    gfx_text(&a->g, FONT_MONO, left + COL_LINE_NO * em, y, COL_DIM, "%5u", r->line);
    if (x->cycles && all)
        gfx_text(&a->g, FONT_MONO, left + COL_SHARE * em, y, COL_TEXT, "%5.1f%%",
                 100 * (double)x->cycles / (double)all);
    side_stack(a,
               rect(left + COL_BAR * em, y + 2,
                    (int)((double)x->cycles / (double)p->most * (BAR * em)), h - 4),
               x->stall, x->cycles);
    unsigned why = side_biggest(x->stall);
    if (why && x->stall[why] >= x->times) {
        right -= gfx_width(&a->g, FONT_MONO, tm_stall_name[why]);
        gfx_text(&a->g, FONT_MONO, right, y,
                 categories(MODE_STATE)[tm_stall_state[why]].color, "%s",
                 tm_stall_name[why]);
        right -= em / 2;
    }
    gfx_text_to(&a->g, FONT_MONO, left + COL_SOURCE * em, y, right,
                x->cycles ? COL_TEXT : COL_DIM, r->text ? r->text : "");
}

static void draw_title(struct app *a, int y)
{
    int em = a->g.font[FONT_MONO].advance['0' - 32], x = a->side.x + 6;
    gfx_fill(&a->g, rect(a->side.x + 1, y, a->side.w, gfx_height(&a->g, FONT_SANS) + 2),
             COL_LINE);
    gfx_text(&a->g, FONT_SANS, x, y, COL_DIM, "here");
    gfx_text(&a->g, FONT_SANS, x + (COL_LINE_NO + 1) * em, y, COL_DIM, "line");
    gfx_text(&a->g, FONT_SANS, x + (COL_SHARE + 1) * em, y, COL_DIM, "cycles");
    gfx_text_to(&a->g, FONT_SANS, x + COL_SOURCE * em, y, a->width - 4, COL_DIM,
                "source (W)");
}

int lines_draw(struct app *a, int y, uint32_t now)
{
    struct pane *p = a->pane;
    int title = gfx_height(&a->g, FONT_SANS) + 2, h = gfx_height(&a->g, FONT_MONO);
    int room = (a->side.y + a->side.h - y) / 2;
    if (!p->made) {
        char text[sizeof p->why.text + 32];
        snprintf(text, sizeof text, "no source lines: %s", p->why.text);
        a->source = rect(0, 0, 0, 0);
        gfx_text_to(&a->g, FONT_SANS, a->side.x + 10, y, a->width - 4, COL_DIM, text);
        return y + title;
    }
    draw_title(a, y);
    if (room > title + (int)p->lines.n_rows * h + h / 2)
        room = title + (int)p->lines.n_rows * h + h / 2;
    a->source = rect(a->side.x + 1, y + title, a->side.w - 1, room - title);
    uint32_t row = a->looked = looked_at(a, now);
    int lines = a->source.h / h, most = (int)p->lines.n_rows - lines;
    int to = (int)(row == HOT_NONE ? hottest(p) : row);
    if (a->source_auto &&
        (to < a->source_scroll + 1 || to > a->source_scroll + lines - 2))
        a->source_scroll = to - lines / 2;
    if (a->source_scroll > most)
        a->source_scroll = most;
    if (a->source_scroll < 0)
        a->source_scroll = 0;
    gfx_clip(&a->g, &a->source);
    for (int i = 0; i <= lines && a->source_scroll + i < (int)p->lines.n_rows; i++) {
        uint32_t at = (uint32_t)(a->source_scroll + i);
        draw_row(a, p, at, a->source.y + i * h, at == row ? 0x3a3a22 : 0);
    }
    gfx_clip(&a->g, NULL);
    return y + room;
}

/* The first instruction of the line at a place; TL_NONE: none. */
uint32_t lines_at(const struct app *a, int x, int y)
{
    const struct pane *p = a->pane;
    if (!p || !p->made || !inside(a->source, x, y))
        return TL_NONE;
    const struct tl_dispatch *d = &a->tl->dispatch[p->dispatch];
    uint32_t row =
        (uint32_t)((y - a->source.y) / gfx_height(&a->g, FONT_MONO) + a->source_scroll);
    uint32_t best = TL_NONE;
    for (uint32_t i = 0; i < p->lines.n_insts && i < d->n_insts; i++)
        if (p->lines.of[i] == row && d->inst[i].text && d->inst[i].offset < best)
            best = d->inst[i].offset;
    return best;
}
