/* app.h: what the files of `rdna3 viz` share: the view of a timeline, its panels.
 *
 * Rules for whoever edits them:
 *  1. Panels draw from struct app and change nothing; input.c changes it.
 *  2. What is expensive (bins, accounts) is kept until what it depends on changes
 *     (app.dirty); a frame without change costs drawing only.
 *  3. Time is in cycles of the timeline; x = lanes.x + (t - t0) / (t1 - t0) * lanes.w.
 * SPDX-License-Identifier: MIT
 */
#ifndef VIZ_APP_H
#define VIZ_APP_H

#include "gfx.h"
#include "timeline.h"

#define NO_WAVE SIZE_MAX

/* ---- colours --------------------------------------------------------------------- */

enum mode { MODE_STATE, MODE_RESOURCE, MODE_KERNEL, MODE_GROUP, MODES };
enum { CATS = 16 }; /* categories of a mode, at most */

extern const char *const mode_name[MODES];

struct category {
    const char *name; /* NULL: none, in modes of numbers */
    color color;
};

const struct category *categories(enum mode mode);
/* Which one a stretch of a wave belongs to. */
unsigned category_of(enum mode mode, const struct tl_wave *w, unsigned why);

#define COL_BACK   0x11151c
#define COL_PANEL  0x181e27
#define COL_LINE   0x2c3542
#define COL_IDLE   0x222a35
#define COL_TEXT   0xd7dee8
#define COL_DIM    0x8a97a8
#define COL_BRIGHT 0xffffff
#define COL_CURSOR 0xffe082

/* ---- rows ------------------------------------------------------------------------ */

enum level { L_SE, L_SA, L_WGP, L_CU, L_SIMD, L_SLOT, LEVELS };
enum { UNITS = 8 * 2 * 8 * 4 * 32 }; /* numbers of slots */

extern const char *const level_name[LEVELS];

struct row {
    uint8_t level;
    bool kids, open;
    uint32_t unit;
    unsigned capacity; /* wave slots */
};

/* The number of a wave's unit on a level. */
uint32_t unit_of(const struct tl_wave *w, enum level level);

/* ---- the view -------------------------------------------------------------------- */

struct app {
    struct timeline *tl;
    struct gfx g;
    SDL_Window *window; /* NULL: none, only a screenshot */
    int width, height;
    bool live; /* the file still grows */
    bool tail; /* the view follows its end */
    bool quit, help;
    char note[128]; /* shown for a moment */
    double note_until;

    /* time */
    double t0, t1; /* seen */
    double cursor;
    bool playing;
    double speed; /* cycles a second */

    /* what is shown how */
    enum mode mode;
    size_t wave;  /* selected, or NO_WAVE */
    bool follow;  /* the listing and the view stay with it */
    bool one;     /* the listing is of that wave alone */
    bool in_view; /* the listing is of the time seen */
    uint32_t pc;  /* instruction looked at, or TL_NONE */

    /* rows */
    bool *used[LEVELS], *open[LEVELS];
    struct row *rows;
    size_t n_rows, cap_rows;
    int row_height, scroll;
    bool of_slots; /* rows are as high as all wave slots, not as the fullest unit */
    size_t waves_known; /* rows are of so many waves */
    uint64_t opened;    /* changes with .open */

    /* places, of the last layout */
    SDL_Rect top, chip, labels, lanes, ruler, curves, side, listing, legend;
    int mouse_x, mouse_y;
    int drag, drag_x, drag_y; /* enum drag */
    double drag_t0;
    int drag_scroll, list_scroll, list_lines;
    bool list_auto; /* it scrolls to the current instruction */

    struct bins *bins;
    struct listing *list;

    /* the code object, for source lines */
    void *code; /* NULL: none was given */
    size_t code_bytes;
    struct pane *pane;
    bool source_off, source_auto; /* auto: it scrolls to what is looked at */
    int source_scroll;
    uint32_t looked; /* row of the line looked at; UINT32_MAX: none */
    SDL_Rect source;

    /* an earlier run to compare with */
    struct timeline *before; /* NULL: none was given */
    const char *before_path;
    bool before_off;
    struct beside *beside;
};

enum drag { DRAG_NONE, DRAG_CURSOR, DRAG_PAN, DRAG_SPLIT };

static inline int x_of(const struct app *a, double t)
{
    double x = (t - a->t0) / (a->t1 - a->t0) * a->lanes.w;
    if (x < -30000)
        x = -30000;
    if (x > 30000)
        x = 30000;
    return a->lanes.x + (int)x;
}

static inline double t_of(const struct app *a, int x)
{
    return a->t0 + (double)(x - a->lanes.x) / a->lanes.w * (a->t1 - a->t0);
}

const struct tl_dispatch *dispatch_at(const struct app *a, double t);
/* Of the selected wave, else at the cursor; NULL: none. */
const struct tl_dispatch *shown_dispatch(const struct app *a);
static inline const struct tl_wave *selected(const struct app *a)
{
    return a->wave < a->tl->n_waves ? &a->tl->wave[a->wave] : NULL;
}

/* ---- view.c ---- */
bool view_init(struct app *a);
void view_free(struct app *a);
void view_rows(struct app *a); /* after waves came or rows were opened */
void view_open(struct app *a, enum level deepest);
void view_open_auto(struct app *a);
void view_fit(struct app *a);
void view_zoom(struct app *a, double at, double factor);
void view_pan(struct app *a, double cycles);
void view_show(struct app *a, double t); /* scroll so far that it is seen */
void view_select(struct app *a, size_t wave);
void view_reveal(struct app *a); /* open and scroll to the selected wave's row */
void view_layout(struct app *a);
/* The wave in a slot's row at a time; NO_WAVE: none. */
size_t view_wave_at(const struct app *a, const struct row *row, double t);

/* ---- bins.c: cycles by row, column and category ---- */
bool bins_update(struct app *a);
void bins_free(struct app *a);
/* [CATS], cycles; row n_rows: the whole chip */
const float *bins_of(const struct app *a, size_t row, int column);
double bins_column_cycles(const struct app *a);

/* ---- panels ---- */
void draw_chip(struct app *a);
void draw_lanes(struct app *a);
void draw_curves(struct app *a);
void draw_side(struct app *a);
void draw_frame(struct app *a);
void draw_help(struct app *a);
int legend_height(struct app *a);
size_t chip_wave_at(const struct app *a, int x, int y);
void listing_free(struct app *a);
/* What the listing shows, by instruction id, and how many waves are there. */
const struct tl_account *listing_accounts(const struct app *a, const unsigned **here,
                                          uint32_t *n);
uint64_t listing_cycles(const struct app *a);
/* Cycles by category, in one bar. */
void side_stack(struct app *a, SDL_Rect r, const uint64_t *stall, uint64_t full);
unsigned side_biggest(const uint64_t *stall); /* TM_S_NONE: none */

/* ---- lines.c: the source pane, above the listing ---- */
bool lines_update(struct app *a, size_t dispatch); /* false: not shown */
/* now: the instruction of the wave. Returns where the rest of the side goes on. */
int lines_draw(struct app *a, int y, uint32_t now);
uint32_t lines_row(const struct app *a, uint32_t id); /* UINT32_MAX: none */
uint32_t lines_at(const struct app *a, int x, int y);
void lines_free(struct app *a);

/* ---- beside.c: an earlier run beside this one ---- */
bool beside_update(struct app *a, size_t dispatch); /* false: not shown */
bool beside_shown(const struct app *a);
void beside_draw(struct app *a, int *y);
/* The account of the instruction that it was; NULL: there was none. */
const struct tl_account *beside_inst(const struct app *a, uint32_t id);
color beside_color(double was, double now);
double beside_resident(const struct app *a, double t); /* waves; negative: none known */
bool beside_end(const struct app *a, double *t);       /* when it ended */
void beside_free(struct app *a);

/* Offset of the instruction on that line of the listing; TL_NONE: none. */
uint32_t listing_at(const struct app *a, int x, int y);
/* Lines about it; returns their number. */
unsigned listing_tip(const struct app *a, int x, int y, char (*line)[200],
                     unsigned most);
void all_draw(struct app *a);

/* ---- input.c ---- */
void input_event(struct app *a, const SDL_Event *e);
/* One action by name ("play", "zoom-in", "select-next" ...); false: no such one. */
bool input_action(struct app *a, const char *name);
const char *input_actions(void);
void input_tick(struct app *a, double seconds);

#endif
