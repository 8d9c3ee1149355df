/* input.c: keys, pointer, actions by name, playing.
 *
 * The only file that changes what is looked at. Every key is an action with a name, so
 * that screenshots and tests reach all of them.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "cli.h"

static void say(struct app *a, const char *text)
{
    snprintf(a->note, sizeof a->note, "%s", text);
    a->note_until = cli_now() + 1.5;
}

static void move_cursor(struct app *a, double t)
{
    double end = (double)a->tl->end;
    a->cursor = t < 0 ? 0 : t > end ? end : t;
    a->tail = false;
    if (a->follow || a->playing)
        view_show(a, a->cursor);
    a->list_auto = true;
}

/* To where the selected wave's next (or last) stretch begins, else by pixels. */
static void step(struct app *a, int direction)
{
    const struct tl_wave *w = selected(a);
    a->playing = false;
    if (!w || !w->n_segs) {
        double by = (a->t1 - a->t0) / (a->lanes.w > 0 ? a->lanes.w : 1000);
        move_cursor(a, a->cursor + direction * (by < 1 ? 1 : by));
        view_show(a, a->cursor);
        return;
    }
    double t = floor(a->cursor);
    const struct tl_seg *s = tl_at(w, (int64_t)t);
    if (!s)
        t = t < (double)w->start ? (double)w->start : (double)w->end - 1;
    else if (direction > 0)
        t = (double)(w->start + tl_seg_end(w, s));
    else if (t > (double)(w->start + s->at) || s == w->seg)
        t = (double)(w->start + s->at);
    else {
        while (--s > w->seg && s->flags & TM_STEP_FREE)
            ;
        t = (double)(w->start + s->at);
    }
    if (t >= (double)w->end)
        t = (double)w->end - 1;
    move_cursor(a, t);
    view_show(a, a->cursor);
}

/* Another wave of the same slot; without one, the first at the cursor. */
static void select_next(struct app *a, int direction)
{
    const struct tl_wave *w = selected(a);
    size_t best = NO_WAVE;
    for (size_t i = 0; i < a->tl->n_waves; i++) {
        const struct tl_wave *v = &a->tl->wave[i];
        if (!w) {
            if ((double)v->start <= a->cursor && a->cursor < (double)v->end) {
                best = i;
                break;
            }
            continue;
        }
        if (unit_of(v, L_SLOT) != unit_of(w, L_SLOT) || v == w)
            continue;
        if (direction > 0 ? v->start < w->end : v->start >= w->start)
            continue;
        if (best == NO_WAVE || (direction > 0 ? v->start < a->tl->wave[best].start
                                              : v->start > a->tl->wave[best].start))
            best = i;
    }
    if (best == NO_WAVE) {
        say(a, w ? "no other wave in this slot" : "no wave at the cursor");
        return;
    }
    view_select(a, best);
    w = selected(a);
    if (a->cursor < (double)w->start || a->cursor >= (double)w->end)
        move_cursor(a, (double)w->start);
    view_show(a, a->cursor);
    view_reveal(a);
}

static void zoom_to_wave(struct app *a)
{
    const struct tl_wave *w = selected(a);
    if (!w) {
        say(a, "no wave is looked at");
        return;
    }
    double span = (double)(w->end - w->start) * 0.05 + 4;
    a->t0 = (double)w->start - span;
    a->t1 = (double)w->end + span;
    view_reveal(a);
}

static void save(struct app *a)
{
    char path[64];
    for (unsigned i = 1; i < 1000; i++) {
        snprintf(path, sizeof path, "rdna3-viz-%u.png", i);
        FILE *f = fopen(path, "rb");
        if (!f)
            break;
        (void)fclose(f);
    }
    char text[96];
    snprintf(text, sizeof text, "%s %s",
             gfx_save(&a->g, a->width, a->height, path) ? "saved" : "cannot save",
             path);
    say(a, text);
}

/* ---- actions --------------------------------------------------------------------- */

static void do_play(struct app *a)
{
    a->playing = !a->playing;
    a->tail = false;
    if (a->playing && a->cursor >= (double)a->tl->end && !a->live)
        a->cursor = 0;
}
static void do_forward(struct app *a)
{
    step(a, 1);
}
static void do_back(struct app *a)
{
    step(a, -1);
}
static void do_cycle_forward(struct app *a)
{
    move_cursor(a, floor(a->cursor) + 1);
    view_show(a, a->cursor);
}
static void do_cycle_back(struct app *a)
{
    move_cursor(a, ceil(a->cursor) - 1);
    view_show(a, a->cursor);
}
static void do_slower(struct app *a)
{
    a->speed = a->speed > 2 ? a->speed / 2 : 1;
}
static void do_faster(struct app *a)
{
    a->speed = a->speed < 1e12 ? a->speed * 2 : a->speed;
}
static void do_home(struct app *a)
{
    move_cursor(a, 0);
    view_show(a, 0);
}
static void do_end(struct app *a)
{
    move_cursor(a, (double)a->tl->end - 1); /* where the last waves are */
    view_show(a, a->cursor);
}
static void do_zoom_in(struct app *a)
{
    view_zoom(
        a, a->cursor >= a->t0 && a->cursor <= a->t1 ? a->cursor : (a->t0 + a->t1) / 2,
        0.5);
}
static void do_zoom_out(struct app *a)
{
    view_zoom(
        a, a->cursor >= a->t0 && a->cursor <= a->t1 ? a->cursor : (a->t0 + a->t1) / 2,
        2);
}
static void do_select_next(struct app *a)
{
    select_next(a, 1);
}
static void do_select_before(struct app *a)
{
    select_next(a, -1);
}
static void do_follow(struct app *a)
{
    a->follow = selected(a) && !a->follow;
    if (a->follow) {
        view_reveal(a);
        view_show(a, a->cursor);
    }
    say(a, a->follow ? "following the wave" : "not following");
}
static void do_release(struct app *a)
{
    if (a->help)
        a->help = false;
    else
        view_select(a, NO_WAVE);
    a->follow = false;
}
static void do_color(struct app *a)
{
    a->mode = (a->mode + 1) % MODES;
}
static void do_one(struct app *a)
{
    a->one = !a->one && selected(a);
}
static void do_in_view(struct app *a)
{
    a->in_view = !a->in_view;
}
static void do_source(struct app *a)
{
    a->source_off = !a->source_off;
    if (!a->code)
        say(a, "source lines come with --code-object FILE");
}
static void do_beside(struct app *a)
{
    a->before_off = !a->before_off;
    if (!a->before)
        say(a, "an earlier run comes with --baseline FILE");
}
static void do_scale(struct app *a)
{
    a->of_slots = !a->of_slots;
    say(a, a->of_slots ? "rows are as high as all wave slots"
                       : "rows are as high as the fullest unit");
}
static void do_up(struct app *a)
{
    a->scroll -= 3 * a->row_height;
}
static void do_down(struct app *a)
{
    a->scroll += 3 * a->row_height;
}
static void do_list_up(struct app *a)
{
    a->list_scroll -= 20;
    a->list_auto = false;
}
static void do_list_down(struct app *a)
{
    a->list_scroll += 20;
    a->list_auto = false;
}
static void do_live(struct app *a)
{
    a->tail = a->live && !a->tail;
    if (a->tail)
        view_fit(a);
}
static void do_larger(struct app *a)
{
    if (a->g.size < 32 && !gfx_fonts(&a->g, a->g.size + 1))
        a->quit = true;
}
static void do_smaller(struct app *a)
{
    if (a->g.size > 8 && !gfx_fonts(&a->g, a->g.size - 1))
        a->quit = true;
}
static void do_help(struct app *a)
{
    a->help = !a->help;
}
static void do_quit(struct app *a)
{
    a->quit = true;
}
static void do_taller(struct app *a)
{
    a->row_height += a->row_height < 60 ? 2 : 0;
}
static void do_lower(struct app *a)
{
    a->row_height -= a->row_height > 4 ? 2 : 0;
}

struct action {
    const char *name;
    SDL_Keycode key;
    bool shift;
    void (*run)(struct app *a);
};

static const struct action actions[] = {
    {"play", SDLK_SPACE, false, do_play},
    {"forward", SDLK_RIGHT, false, do_forward},
    {"back", SDLK_LEFT, false, do_back},
    {"cycle-forward", SDLK_PERIOD, false, do_cycle_forward},
    {"cycle-back", SDLK_COMMA, false, do_cycle_back},
    {"slower", SDLK_LEFTBRACKET, false, do_slower},
    {"faster", SDLK_RIGHTBRACKET, false, do_faster},
    {"home", SDLK_HOME, false, do_home},
    {"end", SDLK_END, false, do_end},
    {"zoom-in", SDLK_i, false, do_zoom_in},
    {"zoom-out", SDLK_o, false, do_zoom_out},
    {"zoom-wave", SDLK_z, false, zoom_to_wave},
    {"fit", SDLK_f, false, view_fit},
    {"select-next", SDLK_TAB, false, do_select_next},
    {"select-before", SDLK_TAB, true, do_select_before},
    {"follow", SDLK_RETURN, false, do_follow},
    {"release", SDLK_ESCAPE, false, do_release},
    {"color", SDLK_c, false, do_color},
    {"one-wave", SDLK_a, false, do_one},
    {"in-view", SDLK_v, false, do_in_view},
    {"source", SDLK_w, false, do_source},
    {"beside", SDLK_b, false, do_beside},
    {"scale", SDLK_n, false, do_scale},
    {"up", SDLK_UP, false, do_up},
    {"down", SDLK_DOWN, false, do_down},
    {"list-up", SDLK_PAGEUP, false, do_list_up},
    {"list-down", SDLK_PAGEDOWN, false, do_list_down},
    {"taller", SDLK_t, false, do_taller},
    {"lower", SDLK_t, true, do_lower},
    {"live", SDLK_l, false, do_live},
    {"larger", SDLK_EQUALS, false, do_larger},
    {"larger", SDLK_PLUS, false, do_larger},
    {"larger", SDLK_KP_PLUS, false, do_larger},
    {"smaller", SDLK_MINUS, false, do_smaller},
    {"smaller", SDLK_KP_MINUS, false, do_smaller},
    {"save", SDLK_s, false, save},
    {"help", SDLK_QUESTION, false, do_help},
    {"help", SDLK_h, false, do_help},
    {"help", SDLK_F1, false, do_help},
    {"quit", SDLK_q, false, do_quit},
    {"auto", SDLK_0, false, view_open_auto},
};

const char *input_actions(void)
{
    static char text[1024];
    text[0] = '\0';
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (i == 0 || strcmp(actions[i].name, actions[i - 1].name) != 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                     i ? " " : "", actions[i].name);
    return text;
}

bool input_action(struct app *a, const char *name)
{
    for (unsigned l = 0; l < LEVELS; l++)
        if (strcmp(name, level_name[l]) == 0) {
            view_open(a, l);
            return true;
        }
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(actions[i].name, name) == 0) {
            actions[i].run(a);
            return true;
        }
    return false;
}

static void on_key(struct app *a, const SDL_KeyboardEvent *e)
{
    bool shift = e->keysym.mod & KMOD_SHIFT;
    SDL_Keycode key = e->keysym.sym;
    if (key == SDLK_SLASH && shift)
        key = SDLK_QUESTION;
    if (key >= SDLK_1 && key <= SDLK_6) {
        view_open(a, (enum level)(key - SDLK_1));
        return;
    }
    const struct action *found = NULL;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (actions[i].key == key && (!found || actions[i].shift == shift))
            found = &actions[i];
    if (found)
        found->run(a);
}

/* ---- pointer --------------------------------------------------------------------- */

static void click_label(struct app *a, int y)
{
    size_t row = (size_t)((y - a->labels.y + a->scroll) / a->row_height);
    if (row >= a->n_rows || !a->rows[row].kids)
        return;
    bool *open = &a->open[a->rows[row].level][a->rows[row].unit];
    *open = !*open;
    view_rows(a);
}

static void click_lanes(struct app *a, int x, int y)
{
    size_t row = (size_t)((y - a->lanes.y + a->scroll) / a->row_height);
    move_cursor(a, floor(t_of(a, x)));
    if (row >= a->n_rows)
        return;
    if (a->rows[row].level == L_SLOT)
        view_select(a, view_wave_at(a, &a->rows[row], a->cursor));
}

/* Look at a PC: the cursor goes to where the selected wave meets it next. */
static void look_at(struct app *a, uint32_t pc)
{
    const struct tl_wave *w = selected(a);
    a->pc = pc;
    a->list_auto = false;
    if (!w || a->pc == TL_NONE)
        return;
    for (unsigned again = 0; again < 2; again++)
        for (uint32_t i = 0; i < w->n_segs; i++) {
            const struct tl_inst *inst = tl_inst(a->tl, w, w->seg[i].inst);
            double t = (double)(w->start + w->seg[i].at);
            if (!inst || inst->offset != a->pc || (!again && t <= a->cursor))
                continue;
            a->cursor = t;
            view_show(a, t);
            return;
        }
}

/* A source line: its first instruction. */
static void click_source(struct app *a, int x, int y)
{
    const struct tl_dispatch *d = shown_dispatch(a);
    uint32_t pc = lines_at(a, x, y);
    for (uint32_t i = 0; d && pc != TL_NONE && i < d->n_order; i++)
        if (d->inst[d->order[i]].offset == pc)
            a->list_scroll = (int)i - 2;
    a->source_auto = false;
    look_at(a, pc);
}

static void on_press(struct app *a, const SDL_MouseButtonEvent *e)
{
    a->drag_x = e->x;
    a->drag_y = e->y;
    a->drag_t0 = a->t0;
    a->drag_scroll = a->scroll;
    if (a->help) {
        a->help = false;
    } else if (inside(a->ruler, e->x, e->y) || inside(a->curves, e->x, e->y)) {
        a->drag = DRAG_CURSOR;
        a->tail = false;
        move_cursor(a, floor(t_of(a, e->x)));
    } else if (inside(a->lanes, e->x, e->y)) {
        a->drag = DRAG_PAN;
    } else if (inside(a->labels, e->x, e->y)) {
        click_label(a, e->y);
    } else if (inside(a->chip, e->x, e->y)) {
        size_t wave = chip_wave_at(a, e->x, e->y);
        view_select(a, wave);
        view_reveal(a);
    } else if (inside(a->listing, e->x, e->y)) {
        a->source_auto = true;
        look_at(a, listing_at(a, e->x, e->y));
    } else if (inside(a->source, e->x, e->y)) {
        click_source(a, e->x, e->y);
    } else if (inside(a->legend, e->x, e->y)) {
        do_color(a);
    }
}

static void on_release(struct app *a, const SDL_MouseButtonEvent *e)
{
    bool moved = abs(e->x - a->drag_x) + abs(e->y - a->drag_y) > 3;
    if (a->drag == DRAG_PAN && !moved)
        click_lanes(a, e->x, e->y);
    if (e->clicks == 2 && inside(a->lanes, e->x, e->y))
        zoom_to_wave(a);
    a->drag = DRAG_NONE;
}

static void on_move(struct app *a, int x, int y)
{
    a->mouse_x = x;
    a->mouse_y = y;
    if (a->drag == DRAG_CURSOR)
        move_cursor(a, floor(t_of(a, x)));
    if (a->drag == DRAG_PAN && abs(x - a->drag_x) + abs(y - a->drag_y) > 3) {
        double by = (double)(a->drag_x - x) / a->lanes.w * (a->t1 - a->t0);
        view_pan(a, a->drag_t0 + by - a->t0);
        a->scroll = a->drag_scroll + a->drag_y - y;
        a->tail = false;
    }
}

static void on_wheel(struct app *a, int amount)
{
    SDL_Keymod mod = SDL_GetModState();
    if (inside(a->source, a->mouse_x, a->mouse_y)) {
        a->source_scroll -= 3 * amount;
        a->source_auto = false;
    } else if (inside(a->side, a->mouse_x, a->mouse_y)) {
        a->list_scroll -= 3 * amount;
        a->list_auto = false;
    } else if (inside(a->labels, a->mouse_x, a->mouse_y)) {
        a->scroll -= 3 * amount * a->row_height;
    } else if (mod & KMOD_CTRL) {
        a->row_height += 2 * amount;
        a->row_height = a->row_height < 4 ? 4 : a->row_height > 60 ? 60 : a->row_height;
    } else if (mod & KMOD_SHIFT) {
        view_pan(a, -amount * (a->t1 - a->t0) * 0.1);
        a->tail = false;
    } else {
        view_zoom(a, t_of(a, a->mouse_x), amount > 0 ? 0.8 : 1.25);
        a->tail = false;
    }
}

void input_event(struct app *a, const SDL_Event *e)
{
    switch (e->type) {
    case SDL_QUIT:
        a->quit = true;
        break;
    case SDL_KEYDOWN:
        on_key(a, &e->key);
        break;
    case SDL_MOUSEBUTTONDOWN:
        on_press(a, &e->button);
        break;
    case SDL_MOUSEBUTTONUP:
        on_release(a, &e->button);
        break;
    case SDL_MOUSEMOTION:
        on_move(a, e->motion.x, e->motion.y);
        break;
    case SDL_MOUSEWHEEL:
        on_wheel(a, e->wheel.y);
        break;
    case SDL_WINDOWEVENT:
        if (e->window.event == SDL_WINDOWEVENT_SIZE_CHANGED) {
            a->width = e->window.data1;
            a->height = e->window.data2;
        }
        break;
    default:
        break;
    }
}

void input_tick(struct app *a, double seconds)
{
    if (a->note[0] && cli_now() > a->note_until)
        a->note[0] = '\0';
    if (a->tail) {
        a->cursor = a->tl->end > 0 ? (double)(a->tl->end - 1) : 0; /* the last waves */
        if (!a->playing)
            view_fit(a);
    }
    if (!a->playing || a->tail)
        return;
    double t = a->cursor + seconds * a->speed;
    if (t >= (double)a->tl->end && !a->live)
        a->playing = false;
    a->cursor = t > (double)a->tl->end ? (double)a->tl->end : t;
    view_show(a, a->cursor);
    if (selected(a))
        a->list_auto = true;
}
