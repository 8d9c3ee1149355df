/* viz.c: `rdna3 viz`: options, the window or the picture, the loop.
 *
 * Must not know panels. Invariant: a screenshot needs no display: it is drawn by the
 * software renderer into memory. SPDX-License-Identifier: MIT
 */
#include "viz.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "cli.h"

static const char help[] =
    "usage: rdna3 viz TIMELINE [OPTION...]\n"
    "\n"
    "Shows a timed run: the chip at a moment, every unit over time, what each wave "
    "waits\n"
    "for at which instruction. rdna3 run --timing --timing-trace FILE records one; "
    "rdna3\n"
    "run --timing --viz shows one while it is computed. Press ? in the window for its "
    "keys.\n"
    "\n"
    "  --screenshot OUT.png  write a picture and end; needs no display\n"
    "    --window            ... of a real window\n"
    "  --size WxH            of the window or picture (default 1600x1000)\n"
    "  --text PIXELS         size of text (default 13)\n"
    "  --at CYCLE            the cursor\n"
    "  --view FROM:TO        the cycles to show\n"
    "  --wave X[,Y[,Z]]:N    look at wave N of a workgroup (the first dispatch's)\n"
    "  --color MODE          state, resource, kernel or workgroup\n"
    "  --open LEVEL          show rows down to SE, SA, WGP, CU, SIMD or slot\n"
    "  --do ACTION,...       then do what keys do, by name (--actions lists them)\n"
    "  --code-object FILE    the kernel's, for source lines above the listing (-g)\n"
    "  --baseline OLD        an earlier run, to compare with: what has changed, and "
    "the\n"
    "                        waves that there were\n"
    "  --follow              the file is still being written\n"
    "  --actions             list the names of actions\n";

struct options {
    const char *path, *screenshot, *actions, *code, *baseline;
    int width, height, text;
    bool window, follow, listed, helped;
    double at, from, to;
    bool have_at, have_view, have_wave;
    uint32_t wg[3];
    unsigned wave;
    int mode, level; /* -1: as it is */
};

enum {
    OPT_HELP = 256,
    OPT_SHOT,
    OPT_WINDOW,
    OPT_SIZE,
    OPT_TEXT,
    OPT_AT,
    OPT_VIEW,
    OPT_WAVE,
    OPT_COLOR,
    OPT_OPEN,
    OPT_DO,
    OPT_CODE,
    OPT_BASELINE,
    OPT_FOLLOW,
    OPT_ACTIONS
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"screenshot", required_argument, NULL, OPT_SHOT},
    {"window", no_argument, NULL, OPT_WINDOW},
    {"size", required_argument, NULL, OPT_SIZE},
    {"text", required_argument, NULL, OPT_TEXT},
    {"at", required_argument, NULL, OPT_AT},
    {"view", required_argument, NULL, OPT_VIEW},
    {"wave", required_argument, NULL, OPT_WAVE},
    {"color", required_argument, NULL, OPT_COLOR},
    {"open", required_argument, NULL, OPT_OPEN},
    {"do", required_argument, NULL, OPT_DO},
    {"code-object", required_argument, NULL, OPT_CODE},
    {"baseline", required_argument, NULL, OPT_BASELINE},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"actions", no_argument, NULL, OPT_ACTIONS},
    {NULL, 0, NULL, 0},
};

/* ---- options --------------------------------------------------------------------- */

static int named(const char *option, const char *text, const char *const *names,
                 unsigned n, int *out)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(names[i], text) == 0) {
            *out = (int)i;
            return CLI_OK;
        }
    return cli_error(CLI_USAGE, "--%s '%s': unknown (see rdna3 viz --help)", option,
                     text);
}

static int parse_wave(const char *text, struct options *o)
{
    char rest;
    o->have_wave = true;
    if (sscanf(text, "%u,%u,%u:%u%c", &o->wg[0], &o->wg[1], &o->wg[2], &o->wave,
               &rest) == 4 ||
        (o->wg[2] = 0,
         sscanf(text, "%u,%u:%u%c", &o->wg[0], &o->wg[1], &o->wave, &rest) == 3) ||
        (o->wg[1] = 0, sscanf(text, "%u:%u%c", &o->wg[0], &o->wave, &rest) == 2))
        return CLI_OK;
    return cli_error(CLI_USAGE, "--wave '%s': not X[,Y[,Z]]:N", text);
}

static int take(struct options *o, int option)
{
    char rest;
    switch (option) {
    case OPT_SHOT:
        o->screenshot = optarg;
        return CLI_OK;
    case OPT_WINDOW:
        o->window = true;
        return CLI_OK;
    case OPT_FOLLOW:
        o->follow = true;
        return CLI_OK;
    case OPT_ACTIONS:
        o->listed = true;
        return CLI_OK;
    case OPT_DO:
        o->actions = optarg;
        return CLI_OK;
    case OPT_CODE:
        o->code = optarg;
        return CLI_OK;
    case OPT_BASELINE:
        o->baseline = optarg;
        return CLI_OK;
    case OPT_SIZE:
        if (sscanf(optarg, "%dx%d%c", &o->width, &o->height, &rest) != 2 ||
            o->width < 320 || o->height < 240 || o->width > 16384 || o->height > 16384)
            return cli_error(CLI_USAGE, "--size '%s': 320x240 to 16384x16384", optarg);
        return CLI_OK;
    case OPT_TEXT:
        if (sscanf(optarg, "%d%c", &o->text, &rest) != 1 || o->text < 8 || o->text > 32)
            return cli_error(CLI_USAGE, "--text '%s': 8 to 32", optarg);
        return CLI_OK;
    case OPT_AT:
        o->have_at = true;
        if (sscanf(optarg, "%lf%c", &o->at, &rest) != 1)
            return cli_error(CLI_USAGE, "--at '%s': not a cycle", optarg);
        return CLI_OK;
    case OPT_VIEW:
        o->have_view = true;
        if (sscanf(optarg, "%lf:%lf%c", &o->from, &o->to, &rest) != 2 ||
            !(o->from < o->to))
            return cli_error(CLI_USAGE, "--view '%s': not FROM:TO", optarg);
        return CLI_OK;
    case OPT_WAVE:
        return parse_wave(optarg, o);
    case OPT_COLOR:
        return named("color", optarg, mode_name, MODES, &o->mode);
    default:
        return named("open", optarg, level_name, LEVELS, &o->level);
    }
}

static int parse(struct options *o, int argc, char **argv)
{
    int option;
    opterr = 0;
    optind = 0; /* another command may have parsed in another order */
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == OPT_HELP || option == 'h') {
            o->helped = true;
            return CLI_OK;
        }
        if (option == '?' || option == ':')
            return cli_option_error(argc, argv, option, long_options);
        int status = take(o, option);
        if (status != CLI_OK)
            return status;
    }
    if (o->listed)
        return CLI_OK;
    if (optind >= argc)
        return cli_error(CLI_USAGE, "no timeline given (see rdna3 viz --help)");
    o->path = argv[optind];
    if (optind + 1 < argc)
        return cli_error(CLI_USAGE, "unexpected '%s'", argv[optind + 1]);
    return CLI_OK;
}

/* ---- what to show first ---------------------------------------------------------- */

static int apply(struct app *a, const struct options *o)
{
    view_layout(a);
    if (o->level >= 0)
        view_open(a, (enum level)o->level);
    else
        view_open_auto(a);
    view_fit(a);
    a->cursor = o->have_at ? o->at : (double)(a->tl->end / 2);
    a->speed = (double)a->tl->end / 20 + 1;
    if (o->mode >= 0)
        a->mode = (enum mode)o->mode;
    if (o->have_view) {
        a->t0 = o->from;
        a->t1 = o->to;
        view_zoom(a, o->from, 1);
    }
    if (!o->have_wave)
        return CLI_OK;
    for (size_t i = 0; i < a->tl->n_waves; i++) {
        const struct tl_wave *w = &a->tl->wave[i];
        if (memcmp(w->wg, o->wg, sizeof w->wg) == 0 && w->wave == o->wave) {
            view_select(a, i);
            if (!o->have_at)
                a->cursor = (double)(w->start + w->end) / 2;
            view_reveal(a);
            return CLI_OK;
        }
    }
    return cli_error(CLI_USAGE, "--wave: no wave %u of workgroup %u,%u,%u", o->wave,
                     o->wg[0], o->wg[1], o->wg[2]);
}

static void point(struct app *a, Uint32 type, int x, int y)
{
    SDL_Event e = {.type = type};
    if (type == SDL_MOUSEMOTION) {
        e.motion.x = x;
        e.motion.y = y;
    } else {
        e.button.x = x;
        e.button.y = y;
        e.button.clicks = 1;
        e.button.button = SDL_BUTTON_LEFT;
    }
    input_event(a, &e);
}

/* point:X:Y, click:X:Y, drag:X:Y:X:Y, wheel:X:Y:NOTCHES, key:NAME; false: none. */
static bool gesture(struct app *a, const char *name)
{
    int x, y, to_x, to_y, n;
    char key[32], rest;
    if (sscanf(name, "point:%d:%d%c", &x, &y, &rest) == 2) {
        point(a, SDL_MOUSEMOTION, x, y);
        return true;
    }
    if (sscanf(name, "click:%d:%d%c", &x, &y, &rest) == 2) {
        to_x = x;
        to_y = y;
    } else if (sscanf(name, "drag:%d:%d:%d:%d%c", &x, &y, &to_x, &to_y, &rest) != 4) {
        SDL_Event e = {.type = 0};
        if (sscanf(name, "wheel:%d:%d:%d%c", &x, &y, &n, &rest) == 3) {
            point(a, SDL_MOUSEMOTION, x, y);
            e.type = SDL_MOUSEWHEEL;
            e.wheel.y = n;
        } else if (sscanf(name, "key:%31[^:]%c", key, &rest) == 1 &&
                   SDL_GetKeyFromName(key) != SDLK_UNKNOWN) {
            e.type = SDL_KEYDOWN;
            e.key.keysym.sym = SDL_GetKeyFromName(key);
        }
        if (e.type)
            input_event(a, &e);
        return e.type != 0;
    }
    point(a, SDL_MOUSEMOTION, x, y);
    point(a, SDL_MOUSEBUTTONDOWN, x, y);
    point(a, SDL_MOUSEMOTION, to_x, to_y);
    point(a, SDL_MOUSEBUTTONUP, to_x, to_y);
    return true;
}

/* Names separated by commas; play:N plays N frames of a sixtieth of a second. */
static int act(struct app *a, const char *list)
{
    char name[64];
    if (list)
        all_draw(a); /* gestures need to know what is where */
    while (list && *list) {
        size_t n = strcspn(list, ",");
        unsigned frames = 1;
        char rest;
        snprintf(name, sizeof name, "%.*s", (int)n, list);
        if (sscanf(name, "play:%u%c", &frames, &rest) == 1) {
            a->playing = true;
            while (frames--)
                input_tick(a, 1.0 / 60);
            a->playing = false;
        } else if (!input_action(a, name) && !gesture(a, name)) {
            return cli_error(CLI_USAGE, "--do '%s': no such action (see --actions)",
                             name);
        }
        all_draw(a); /* places for what comes next */
        list += n + (list[n] == ',');
    }
    return CLI_OK;
}

/* ---- the file -------------------------------------------------------------------- */

/* Waves that have issued nothing since are still there. */
static int wait_on(struct app *a)
{
    rd_status st = tl_wait(a->tl);
    return st == RD_OK ? CLI_OK : cli_error(CLI_FAILED, "%s", rd_status_text(st));
}

/* Take in what is there, for so many seconds at most. Returns an exit status. */
static int load(struct app *a, double seconds, bool *news)
{
    struct tl_error err;
    bool more = true;
    double until = cli_now() + seconds;
    *news = false;
    while (more && cli_now() < until) {
        if (tl_poll(a->tl, &more, &err) != RD_OK)
            return cli_error(CLI_FAILED, "%s", err.text);
        *news |= more;
    }
    if (a->tl->closed)
        a->live = false;
    return *news ? wait_on(a) : CLI_OK;
}

static int load_whole(struct app *a, const struct options *o)
{
    struct tl_error err;
    bool news;
    if (o->code && cli_read_file(o->code, &a->code, &a->code_bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", o->code, strerror(errno));
    if (o->baseline && tl_read(o->baseline, &a->before, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    a->before_path = o->baseline;
    if (!o->follow)
        return tl_read(o->path, &a->tl, &err) == RD_OK
                   ? wait_on(a)
                   : cli_error(CLI_FAILED, "%s", err.text);
    int status = CLI_OK;
    if (tl_open(o->path, &a->tl, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    a->live = a->tail = true;
    while (status == CLI_OK && o->screenshot && a->live) { /* a picture of the end */
        status = load(a, 1, &news);
        if (!news)
            SDL_Delay(10);
    }
    return status;
}

/* ---- window, picture ------------------------------------------------------------- */

static int make_window(struct app *a)
{
    if (SDL_Init(SDL_INIT_VIDEO) != 0)
        return cli_error(CLI_FAILED, "no window: %s (--screenshot needs none)",
                         SDL_GetError());
    const char *driver = SDL_GetCurrentVideoDriver();
    bool blind =
        driver && (strcmp(driver, "dummy") == 0 || strcmp(driver, "offscreen") == 0 ||
                   strcmp(driver, "evdev") == 0);
    if (blind && !getenv("SDL_VIDEODRIVER")) /* a window that nobody could close */
        return cli_error(CLI_FAILED,
                         "no display for a window (--screenshot needs none)");
    a->window =
        SDL_CreateWindow("rdna3 viz", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED,
                         a->width, a->height, SDL_WINDOW_RESIZABLE);
    if (a->window)
        a->g.r = SDL_CreateRenderer(a->window, -1, 0);
    if (a->window && !a->g.r)
        a->g.r = SDL_CreateRenderer(a->window, -1, SDL_RENDERER_SOFTWARE);
    if (!a->g.r)
        return cli_error(CLI_FAILED, "no window: %s", SDL_GetError());
    SDL_SetWindowMinimumSize(a->window, 640, 480);
    SDL_GetWindowSize(a->window, &a->width, &a->height);
    return CLI_OK;
}

/* One turn; what has happened decides whether to draw. */
static int turn(struct app *a, double *last, bool *first)
{
    SDL_Event e;
    bool news = false, draw = *first || a->playing || a->note[0];
    int wait = draw || a->live ? 15 : 200;
    for (int got = SDL_WaitEventTimeout(&e, wait); got; got = SDL_PollEvent(&e)) {
        input_event(a, &e);
        draw = true;
    }
    int status = a->live ? load(a, 0.03, &news) : CLI_OK;
    if (status != CLI_OK)
        return status;
    if (news) {
        bool begin = a->n_rows == 0;
        view_rows(a);
        if (begin && a->n_rows) {
            view_layout(a);
            view_open_auto(a);
        }
        a->speed = a->speed > 1 ? a->speed : (double)a->tl->end / 20 + 1;
        draw = true;
    }
    double now = cli_now();
    input_tick(a, now - *last);
    *last = now;
    if (draw || a->playing) {
        all_draw(a);
        SDL_RenderPresent(a->g.r);
    }
    *first = false;
    return CLI_OK;
}

static int run_window(struct app *a, const struct options *o)
{
    int status = make_window(a);
    if (status == CLI_OK && !gfx_fonts(&a->g, o->text))
        status = CLI_FAILED;
    if (status == CLI_OK)
        status = apply(a, o);
    if (status == CLI_OK)
        status = act(a, o->actions);
    double last = cli_now();
    bool first = true;
    while (status == CLI_OK && !a->quit) {
        status = turn(a, &last, &first);
        if (o->screenshot && status == CLI_OK) {
            all_draw(a);
            status = gfx_save(&a->g, a->width, a->height, o->screenshot) ? CLI_OK
                                                                         : CLI_FAILED;
            break;
        }
    }
    gfx_close(&a->g);
    if (a->g.r)
        SDL_DestroyRenderer(a->g.r);
    if (a->window)
        SDL_DestroyWindow(a->window);
    SDL_Quit();
    return status;
}

static int run_picture(struct app *a, const struct options *o)
{
    SDL_Surface *s = SDL_CreateRGBSurfaceWithFormat(0, a->width, a->height, 32,
                                                    SDL_PIXELFORMAT_ARGB8888);
    a->g.r = s ? SDL_CreateSoftwareRenderer(s) : NULL;
    int status =
        a->g.r ? CLI_OK : cli_error(CLI_FAILED, "no picture: %s", SDL_GetError());
    if (status == CLI_OK && !gfx_fonts(&a->g, o->text))
        status = CLI_FAILED;
    a->mouse_x = a->mouse_y = -1;
    if (status == CLI_OK)
        status = apply(a, o);
    if (status == CLI_OK)
        status = act(a, o->actions);
    if (status == CLI_OK) {
        a->note[0] = '\0';
        all_draw(a); /* places are known after the first time */
        all_draw(a);
        SDL_RenderPresent(a->g.r);
        if (!gfx_save(&a->g, a->width, a->height, o->screenshot))
            status = CLI_FAILED;
    }
    gfx_close(&a->g);
    if (a->g.r)
        SDL_DestroyRenderer(a->g.r);
    SDL_FreeSurface(s);
    return status;
}

int main(int argc, char **argv)
{
    struct options o = {
        .width = 1600, .height = 1000, .text = 13, .mode = -1, .level = -1};
    struct app *a = calloc(1, sizeof *a);
    int status = a ? parse(&o, argc, argv) : cli_error(CLI_FAILED, "out of memory");
    if (status != CLI_OK || o.helped || o.listed) {
        if (o.helped)
            fputs(help, stdout);
        else if (o.listed && status == CLI_OK)
            printf("%s SE SA WGP CU SIMD slot play:FRAMES "
                   "point:X:Y click:X:Y drag:X:Y:X:Y wheel:X:Y:NOTCHES key:NAME\n",
                   input_actions());
        free(a);
        return cli_finish(status);
    }
    a->width = o.width;
    a->height = o.height;
    if (!view_init(a))
        status = cli_error(CLI_FAILED, "out of memory");
    if (status == CLI_OK)
        status = load_whole(a, &o);
    if (status == CLI_OK)
        status = o.screenshot && !o.window ? run_picture(a, &o) : run_window(a, &o);
    bins_free(a);
    listing_free(a);
    lines_free(a);
    beside_free(a);
    view_free(a);
    tl_free(a->tl);
    tl_free(a->before);
    free(a->code);
    free(a);
    return cli_finish(status);
}
