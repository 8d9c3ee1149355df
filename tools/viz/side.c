/* side.c: what is looked at: the kernel or a wave, where its cycles went, and the
 * annotated listing with the waves that are at each instruction now.
 *
 * Accounts are added up again only when what they are of changes.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

struct listing {
    struct tl_account *account; /* by instruction id */
    unsigned *here;             /* waves at it, at the cursor */
    uint32_t n;                 /* ids */
    /* what they are of */
    size_t dispatch, wave, n_waves;
    uint64_t n_steps;
    double t0, t1;
    bool one, in_view;
    struct tl_account all;
    uint64_t most; /* cycles of one instruction */
};

void listing_free(struct app *a)
{
    if (!a->list)
        return;
    free(a->list->account);
    free(a->list->here);
    free(a->list);
}

static bool same(const struct app *a, const struct listing *l, size_t dispatch)
{
    bool view = !a->in_view || (l->t0 == a->t0 && l->t1 == a->t1);
    return l->account && l->dispatch == dispatch && l->wave == a->wave && view &&
           l->n_steps == a->tl->n_steps && l->n_waves == a->tl->n_waves &&
           l->one == a->one && l->in_view == a->in_view;
}

/* Add up; false: out of memory. */
static bool update(struct app *a, size_t dispatch)
{
    if (!a->list)
        a->list = calloc(1, sizeof *a->list);
    struct listing *l = a->list;
    struct tl_dispatch *d = &a->tl->dispatch[dispatch];
    if (!l)
        return false;
    if (same(a, l, dispatch))
        return true;
    free(l->account);
    free(l->here);
    l->n = d->n_insts;
    l->account = calloc(l->n + 1u, sizeof *l->account);
    l->here = calloc(l->n + 1u, sizeof *l->here);
    if (!l->account || !l->here || tl_sort(d) != RD_OK)
        return false;
    int64_t from = a->in_view ? (int64_t)a->t0 : INT64_MIN;
    int64_t to = a->in_view ? (int64_t)a->t1 : INT64_MAX;
    for (size_t i = 0; i < d->n_waves; i++)
        if (!a->one || d->first_wave + i == a->wave)
            tl_account(a->tl, &a->tl->wave[d->first_wave + i], from, to, l->account);
    memset(&l->all, 0, sizeof l->all);
    l->most = 1;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct tl_account *x = &l->account[i];
        l->all.times += x->times;
        l->all.cycles += x->cycles;
        for (unsigned s = 0; s < TM_STALLS; s++)
            l->all.stall[s] += x->stall[s];
        l->most = x->cycles > l->most ? x->cycles : l->most;
    }
    l->dispatch = dispatch;
    l->wave = a->wave;
    l->n_waves = a->tl->n_waves;
    l->n_steps = a->tl->n_steps;
    l->t0 = a->t0;
    l->t1 = a->t1;
    l->one = a->one;
    l->in_view = a->in_view;
    return true;
}

/* Waves at each instruction at the cursor. */
static void count_here(struct app *a, const struct tl_dispatch *d)
{
    struct listing *l = a->list;
    int64_t t = (int64_t)a->cursor;
    memset(l->here, 0, l->n * sizeof *l->here);
    for (size_t i = 0; i < d->n_waves; i++) {
        const struct tl_wave *w = &a->tl->wave[d->first_wave + i];
        const struct tl_seg *s = t < w->start || t >= w->end ? NULL : tl_at(w, t);
        if (s && tl_seg_inst(s) < l->n)
            l->here[tl_seg_inst(s)]++;
    }
}

/* Cycles by category, in one bar. */
void side_stack(struct app *a, SDL_Rect r, const uint64_t *stall, uint64_t full)
{
    enum mode mode = a->mode == MODE_RESOURCE ? MODE_RESOURCE : MODE_STATE;
    const struct category *cat = categories(mode);
    uint64_t by[CATS] = {0}, level = 0;
    for (unsigned s = 0; s < TM_STALLS; s++)
        by[category_of(mode, NULL, s)] += stall[s];
    int x = r.x;
    for (unsigned c = 0; c < CATS && full; c++) {
        level += by[c];
        int to = r.x + (int)((double)level / (double)full * r.w + 0.5);
        if (to > x)
            gfx_fill(&a->g, rect(x, r.y, to - x, r.h), cat[c].color);
        x = to > x ? to : x;
    }
}

unsigned side_biggest(const uint64_t *stall)
{
    unsigned best = 0;
    for (unsigned s = 1; s < TM_STALLS; s++)
        if (stall[s] > (best ? stall[best] : 0))
            best = s;
    return best;
}

/* ---- what it is ------------------------------------------------------------------ */

static int line_of(struct app *a, int *y, color c, enum gfx_font f, const char *text)
{
    gfx_text_to(&a->g, f, a->side.x + 10, *y, a->width - 4, c, text);
    *y += gfx_height(&a->g, f) + 2;
    return *y;
}

static void describe_dispatch(struct app *a, const struct tl_dispatch *d, int *y)
{
    const struct tm_machine *m = &d->machine;
    char text[256];
    double us = (double)(d->end - d->base) / m->sclk_mhz;
    const struct tl_sample *s =
        d->n_samples ? &a->tl->sample[d->first_sample + d->n_samples - 1] : NULL;
    line_of(a, y, COL_BRIGHT, FONT_BOLD, d->name);
    snprintf(text, sizeof text,
             "%u x %u x %u workgroups of %u x %u x %u, wave%u%s, %.0f MHz",
             m->groups[0], m->groups[1], m->groups[2], m->block[0], m->block[1],
             m->block[2], m->lanes, m->wgp_mode ? ", WGP mode" : "", m->sclk_mhz);
    line_of(a, y, COL_TEXT, FONT_SANS, text);
    snprintf(text, sizeof text, "%lld cycles = %.2f us, %zu waves%s",
             (long long)(d->end - d->base), us, d->n_waves,
             d->finished ? "" : ", running");
    line_of(a, y, COL_TEXT, FONT_SANS, text);
    snprintf(text, sizeof text,
             "%u of %u waves fit a SIMD: %s (%u VGPRs, %u B LDS a group)", m->occupancy,
             m->slots, tm_limit_name[m->limit], m->vgprs, m->lds_bytes);
    line_of(a, y, COL_TEXT, FONT_SANS, text);
    if (s && us > 0) {
        double bytes = (double)(s->count[TM_K_READ] + s->count[TM_K_WRITTEN]);
        snprintf(text, sizeof text, "%.1f GFLOP/s, %.1f GB/s asked for, VRAM %.1f GB/s",
                 (double)s->count[TM_K_FLOPS] / us / 1000, bytes / us / 1000,
                 (double)s->count[TM_K_MALL_MISS] * 128 / us / 1000);
        line_of(a, y, COL_TEXT, FONT_SANS, text);
    }
}

static void describe_now(struct app *a, const struct tl_wave *w, int *y)
{
    char text[256];
    int64_t t = (int64_t)a->cursor;
    const struct tl_seg *s = tl_at(w, t);
    if (!s) {
        snprintf(text, sizeof text, "not resident at %lld", (long long)t);
        line_of(a, y, COL_DIM, FONT_SANS, text);
        return;
    }
    color c = categories(MODE_STATE)[tm_stall_state[s->why]].color;
    const struct tl_inst *from = tl_inst(a->tl, w, s->from);
    int64_t into = t - w->start - s->at + 1, all = tl_seg_end(w, s) - s->at;
    if (s->inst == TL_NONE)
        snprintf(text, sizeof text, "now: waits; for what is told when it goes on");
    else if (s->why == TM_S_NONE)
        snprintf(text, sizeof text, "now: issues%s",
                 s->flags & TM_STEP_SKIPPED ? " (skipped, EXEC is zero)" : "");
    else
        snprintf(text, sizeof text, "now: %s, cycle %lld of %lld%s%s",
                 tm_stall_name[s->why], (long long)into, (long long)all,
                 from ? ", for " : "", from ? from->text : "");
    line_of(a, y, c, FONT_BOLD, text);
    line_of(a, y, COL_DIM, FONT_SANS,
            s->why == TM_S_NONE || s->inst == TL_NONE ? "" : tm_stall_about[s->why]);
}

static void describe_wave(struct app *a, const struct tl_wave *w, int *y)
{
    char text[256];
    snprintf(text, sizeof text, "Wave %u of workgroup %u,%u,%u", w->wave, w->wg[0],
             w->wg[1], w->wg[2]);
    line_of(a, y, COL_BRIGHT, FONT_BOLD, text);
    snprintf(text, sizeof text, "%s, on SE %u SA %u WGP %u CU %u SIMD %u slot %u",
             a->tl->dispatch[w->dispatch].name, w->se, w->sa, w->wgp, w->simd % 2u,
             w->simd, w->slot);
    line_of(a, y, COL_TEXT, FONT_SANS, text);
    snprintf(text, sizeof text, "cycles %lld to %lld: %lld = %.2f us%s",
             (long long)w->start, (long long)w->end, (long long)(w->end - w->start),
             (double)(w->end - w->start) /
                 a->tl->dispatch[w->dispatch].machine.sclk_mhz,
             w->ended ? "" : ", running");
    line_of(a, y, COL_TEXT, FONT_SANS, text);
    describe_now(a, w, y);
}

/* The stack of all cycles, and its largest parts by name. */
static void draw_stack(struct app *a, int *y)
{
    const struct listing *l = a->list;
    int text = gfx_height(&a->g, FONT_SANS), x = a->side.x + 10;
    bool shown[TM_STALLS] = {false};
    *y += 4;
    side_stack(a, rect(x, *y, a->side.w - 20, text), l->all.stall, l->all.cycles);
    *y += text + 4;
    for (unsigned n = 0; n < 8; n++) {
        unsigned best = TM_STALLS;
        for (unsigned s = 0; s < TM_STALLS; s++)
            if (!shown[s] && l->all.stall[s] &&
                (best == TM_STALLS || l->all.stall[s] > l->all.stall[best]))
                best = s;
        if (best == TM_STALLS)
            break;
        shown[best] = true;
        char part[64];
        snprintf(part, sizeof part, "%s %.1f%%", tm_stall_name[best],
                 100.0 * (double)l->all.stall[best] / (double)l->all.cycles);
        int w = gfx_width(&a->g, FONT_SANS, part) + 14;
        if (x + w > a->side.x + a->side.w) {
            x = a->side.x + 10;
            *y += text;
        }
        gfx_text(&a->g, FONT_SANS, x, *y,
                 categories(MODE_STATE)[tm_stall_state[best]].color, "%s", part);
        x += w;
    }
    *y += text + 4;
}

/* ---- the listing ----------------------------------------------------------------- */

static uint32_t current_inst(const struct app *a)
{
    const struct tl_wave *w = selected(a);
    const struct tl_seg *s = w ? tl_at(w, (int64_t)a->cursor) : NULL;
    return s ? tl_seg_inst(s) : TL_NONE;
}

static void scroll_to(struct app *a, const struct tl_dispatch *d, uint32_t id)
{
    int lines = a->listing.h / gfx_height(&a->g, FONT_MONO);
    for (uint32_t i = 0; i < d->n_order; i++)
        if (d->order[i] == id) {
            if ((int)i < a->list_scroll + 2 || (int)i > a->list_scroll + lines - 3)
                a->list_scroll = (int)i - lines / 2;
            break;
        }
}

/* Columns of the listing, in widths of a digit; the bars go first where there is little
 * room. */
enum { COL_PC = 5, COL_CYCLES = 10, COL_BAR = 18, COL_WAS = 8, ISA_TEXT = 256 };

/* Where bars begin: behind the cycles, and those of an earlier run. */
static int bar_column(const struct app *a)
{
    return COL_BAR + (beside_shown(a) ? COL_WAS : 0);
}

static int bar_width(const struct app *a)
{
    int em = a->g.font[FONT_MONO].advance['0' - 32], room = a->side.w / em;
    if (beside_shown(a))
        room -= COL_WAS;
    return room > 78 ? 10 * em : room > 64 ? 6 * em : room > 44 ? 3 * em : 0;
}

static void draw_line(struct app *a, const struct tl_inst *inst, uint32_t id, int y,
                      bool current)
{
    const struct listing *l = a->list;
    const struct tl_account *x = &l->account[id];
    int h = gfx_height(&a->g, FONT_MONO), em = a->g.font[FONT_MONO].advance['0' - 32];
    int left = a->listing.x + 6;
    SDL_Rect whole = rect(a->listing.x, y, a->listing.w, h);
    if (current)
        gfx_fill(&a->g, whole, 0x3a3a22);
    else if (inst->offset == a->pc)
        gfx_fill(&a->g, whole, COL_LINE);
    if (a->looked != UINT32_MAX && lines_row(a, id) == a->looked) /* of one line */
        gfx_fill(&a->g, rect(whole.x, y, 3, h), COL_CURSOR);
    if (l->here[id])
        gfx_text(&a->g, FONT_MONO, left, y, COL_CURSOR, "%4u", l->here[id]);
    gfx_text(&a->g, FONT_MONO, left + COL_PC * em, y, COL_DIM, "%5x", inst->offset);
    double each = x->times ? (double)x->cycles / (double)x->times : 0;
    if (x->cycles)
        gfx_text(&a->g, FONT_MONO, left + COL_CYCLES * em, y, COL_TEXT, "%7.*f",
                 each < 1000 ? 1 : 0, each);
    const struct tl_account *was = beside_inst(a, id);
    if (was && was->cycles) {
        double old = (double)was->cycles / (double)(was->times ? was->times : 1);
        gfx_text(&a->g, FONT_MONO, left + COL_BAR * em, y, beside_color(old, each),
                 "%7.*f", old < 1000 ? 1 : 0, old);
    }
    int bar = left + bar_column(a) * em, width = bar_width(a);
    side_stack(
        a, rect(bar, y + 2, (int)((double)x->cycles / (double)l->most * width), h - 4),
        x->stall, x->cycles);
    color c = current ? COL_BRIGHT : x->cycles ? COL_TEXT : COL_DIM;
    unsigned why = side_biggest(x->stall);
    int right = a->listing.x + a->listing.w - em;
    if (why && x->stall[why] >= x->times) {
        right -= gfx_width(&a->g, FONT_MONO, tm_stall_name[why]);
        gfx_text(&a->g, FONT_MONO, right, y,
                 categories(MODE_STATE)[tm_stall_state[why]].color, "%s",
                 tm_stall_name[why]);
        right -= em / 2;
    }
    char text[ISA_TEXT];
    uint32_t target;
    snprintf(text, sizeof text, "%s", inst->text);
    if (tl_branch_target(inst, &target))
        snprintf(text, sizeof text, "%s to %x", inst->text, target);
    gfx_text_to(&a->g, FONT_MONO, bar + width + em / 2, y, right, c, text);
}

static void draw_head(struct app *a, int *y)
{
    int em = a->g.font[FONT_MONO].advance['0' - 32], x = a->side.x + 6;
    gfx_fill(&a->g,
             rect(a->side.x + 1, *y, a->side.w, gfx_height(&a->g, FONT_SANS) + 2),
             COL_LINE);
    gfx_text(&a->g, FONT_SANS, x, *y, COL_DIM, "here");
    gfx_text(&a->g, FONT_SANS, x + (COL_PC + 2) * em, *y, COL_DIM, "pc");
    int cycles = x + (COL_CYCLES + 1) * em;
    int next = x + bar_column(a) * em + bar_width(a) + 3 * em;
    bool fits = cycles + gfx_width(&a->g, FONT_SANS, "cycles each") + em <= next;
    gfx_text(&a->g, FONT_SANS, cycles, *y, COL_DIM, fits ? "cycles each" : "cycles");
    if (beside_shown(a))
        gfx_text(&a->g, FONT_SANS, x + (COL_BAR + 5) * em, *y, COL_DIM, "was");
    char what[64];
    snprintf(what, sizeof what, "%s, %s", a->one ? "this wave (A)" : "all waves (A)",
             a->in_view ? "time in view (V)" : "all time (V)");
    gfx_text_to(&a->g, FONT_SANS, next, *y, a->width - 4, COL_DIM, what);
    *y += gfx_height(&a->g, FONT_SANS) + 2;
}

static void draw_listing(struct app *a, const struct tl_dispatch *d, int y)
{
    int h = gfx_height(&a->g, FONT_MONO);
    draw_head(a, &y);
    a->listing = rect(a->side.x + 1, y, a->side.w - 1, a->side.y + a->side.h - y);
    a->list_lines = (int)d->n_order;
    uint32_t now = current_inst(a);
    if (a->list_auto && now != TL_NONE)
        scroll_to(a, d, now);
    int lines = a->listing.h / h;
    if (a->list_scroll > a->list_lines - lines)
        a->list_scroll = a->list_lines - lines;
    if (a->list_scroll < 0)
        a->list_scroll = 0;
    gfx_clip(&a->g, &a->listing);
    for (int i = 0; i <= lines && a->list_scroll + i < a->list_lines; i++) {
        uint32_t id = d->order[a->list_scroll + i];
        draw_line(a, &d->inst[id], id, y + i * h, id == now);
    }
    gfx_clip(&a->g, NULL);
}

uint32_t listing_at(const struct app *a, int x, int y)
{
    const struct tl_dispatch *d = shown_dispatch(a);
    int line = (y - a->listing.y) / gfx_height(&a->g, FONT_MONO) + a->list_scroll;
    if (!d || !d->order || !inside(a->listing, x, y) || line < 0 ||
        line >= (int)d->n_order)
        return TL_NONE;
    return d->inst[d->order[line]].offset;
}

const struct tl_account *listing_accounts(const struct app *a, const unsigned **here,
                                          uint32_t *n)
{
    *here = a->list->here;
    *n = a->list->n;
    return a->list->account;
}

uint64_t listing_cycles(const struct app *a)
{
    return a->list->all.cycles;
}

void draw_side(struct app *a)
{
    const struct tl_dispatch *d = shown_dispatch(a);
    gfx_fill(&a->g, a->side, COL_PANEL);
    gfx_line(&a->g, a->side.x, a->side.y, a->side.x, a->side.y + a->side.h, COL_LINE);
    if (!d || !update(a, (size_t)(d - a->tl->dispatch)))
        return;
    int y = a->side.y + 6;
    gfx_clip(&a->g, &a->side);
    const struct tl_wave *w = selected(a);
    if (w)
        describe_wave(a, w, &y);
    else
        describe_dispatch(a, d, &y);
    draw_stack(a, &y);
    if (beside_update(a, (size_t)(d - a->tl->dispatch)))
        beside_draw(a, &y);
    gfx_clip(&a->g, NULL);
    count_here(a, d);
    a->source = rect(0, 0, 0, 0);
    if (lines_update(a, (size_t)(d - a->tl->dispatch)))
        y = lines_draw(a, y, current_inst(a));
    draw_listing(a, d, y);
}

/* What the instruction on that line of the listing waited for, as text. */
unsigned listing_tip(const struct app *a, int x, int y, char (*line)[200],
                     unsigned most)
{
    const struct tl_dispatch *d = shown_dispatch(a);
    uint32_t offset = listing_at(a, x, y), id = 0;
    if (offset == TL_NONE || !a->list || most < 2)
        return 0;
    while (id < d->n_insts && !(d->inst[id].text && d->inst[id].offset == offset))
        id++;
    if (id >= a->list->n || id >= d->n_insts)
        return 0;
    const struct tl_account *t = &a->list->account[id];
    double times = t->times ? (double)t->times : 1;
    bool shown[TM_STALLS] = {false};
    unsigned n = 0;
    snprintf(line[n++], 200, "%x  %s", offset, d->inst[id].text);
    snprintf(line[n++], 200, "%llu times, %.1f cycles each, %.2f %% of all",
             (unsigned long long)t->times, (double)t->cycles / times,
             a->list->all.cycles ? 100 * (double)t->cycles / (double)a->list->all.cycles
                                 : 0);
    while (n < most) {
        unsigned best = 0;
        for (unsigned s = 1; s < TM_STALLS; s++)
            if (!shown[s] && t->stall[s] > (best ? t->stall[best] : 0))
                best = s;
        if (!best)
            break;
        shown[best] = true;
        snprintf(line[n++], 200, "%.1f  %s: %s", (double)t->stall[best] / times,
                 tm_stall_name[best], tm_stall_about[best]);
    }
    return n;
}
