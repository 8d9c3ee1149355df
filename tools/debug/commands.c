/* commands.c: the commands of the text front end.
 *
 * Must not know how time goes on or how values look. Invariant: a command that is wrong
 * changes nothing, and says which rule it breaks. SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "inferior.h"
#include "ui.h"

#define WHY 200

struct command {
    const char *name, *alias;
    bool live; /* takes a dispatch that runs: not a core file */
    bool (*run)(struct ui *u, const char *args);
    const char *help;
};

bool ui_error(struct ui *u, const char *fmt, ...)
{
    FILE *to = u->err ? u->err : stderr;
    va_list ap;
    (void)fflush(u->out);
    fputs("error: ", to);
    if (u->script)
        (void)fprintf(to, "%s:%u: ", u->script, u->script_line);
    va_start(ap, fmt);
    (void)vfprintf(to, fmt, ap);
    va_end(ap);
    fputc('\n', to);
    return false;
}

bool ui_context(struct ui *u, struct context *c)
{
    if (u->session)
        return session_context(u->session, c);
    return context_of(c, u->target, u->program, u->group, u->wave, u->lane);
}

/* A number that a command takes; empty: what is usual. */
static bool count_of(struct ui *u, const char *args, uint64_t usual, uint64_t *out)
{
    *out = usual;
    if (!*args)
        return true;
    if (cli_parse_u64(args, out) == RD_OK && *out)
        return true;
    return ui_error(u, "'%.60s': a number of at least 1 is expected", args);
}

static bool no_args(struct ui *u, const char *args)
{
    return !*args || ui_error(u, "'%.60s': this command takes nothing", args);
}

/* ---- running ---- */

static bool told(struct ui *u)
{
    show_stop(u);
    return u->session->stop.kind != STOPPED_ERROR;
}

/* Until a kernel of the program stops. */
static bool inferior_goes_on(struct ui *u)
{
    (void)fflush(u->out);
    switch (inferior_continue(u->inferior, u->session)) {
    case INFERIOR_STOPPED:
        return told(u);
    case INFERIOR_ENDED:
        fprintf(u->out, "the program has ended, exit status %d\n", u->inferior->status);
        return true;
    case INFERIOR_INTERRUPTED:
        fprintf(u->out, "interrupted; the program runs, and no kernel of it is here\n");
        return true;
    case INFERIOR_FAILED:
        break;
    }
    return false;
}

static bool do_run(struct ui *u, const char *args)
{
    if (!no_args(u, args))
        return false;
    if (u->session->idle)
        return u->inferior->started
                   ? ui_error(u, "run: the program runs already; continue waits for it")
                   : inferior_goes_on(u);
    session_goto(u->session, 0);
    session_continue(u->session);
    /* a breakpoint at the very first instruction is met by going nowhere */
    return told(u);
}

static bool do_continue(struct ui *u, const char *args)
{
    uint64_t n;
    if (!count_of(u, args, 1, &n))
        return false;
    if (u->inferior) {
        bool ok = true;
        while (ok && n-- && (ok = inferior_goes_on(u)) && !u->session->idle)
            ;
        return ok;
    }
    do
        session_continue(u->session);
    while (--n && (u->session->stop.kind == STOPPED_POINT ||
                   u->session->stop.kind == STOPPED_WATCH));
    return told(u);
}

static bool do_back(struct ui *u, const char *args)
{
    if (!no_args(u, args))
        return false;
    session_back(u->session);
    return told(u);
}

static bool do_stepi(struct ui *u, const char *args)
{
    uint64_t n;
    if (!count_of(u, args, 1, &n))
        return false;
    session_step(u->session, n);
    return told(u);
}

static bool do_stepi_back(struct ui *u, const char *args)
{
    uint64_t n;
    if (!count_of(u, args, 1, &n))
        return false;
    session_step_back(u->session, n);
    return told(u);
}

static bool lines(struct ui *u, const char *args, bool over, bool back)
{
    uint64_t n;
    if (!count_of(u, args, 1, &n))
        return false;
    do {
        if (back)
            session_line_back(u->session, over);
        else
            session_line(u->session, over);
    } while (--n && u->session->stop.kind == STOPPED_STEP);
    return told(u);
}

static bool do_step(struct ui *u, const char *args)
{
    return lines(u, args, false, false);
}

static bool do_next(struct ui *u, const char *args)
{
    return lines(u, args, true, false);
}

static bool do_step_back(struct ui *u, const char *args)
{
    return lines(u, args, false, true);
}

static bool do_next_back(struct ui *u, const char *args)
{
    return lines(u, args, true, true);
}

static bool do_finish(struct ui *u, const char *args)
{
    if (*args && strcmp(args, "wave") != 0)
        return ui_error(u, "finish [wave]");
    if (*args)
        session_finish_wave(u->session);
    else
        session_finish(u->session);
    return told(u);
}

static bool do_goto(struct ui *u, const char *args)
{
    uint64_t step;
    if (cli_parse_u64(args, &step) != RD_OK)
        return ui_error(u, "goto STEP: '%.60s' is not a number of steps", args);
    session_goto(u->session, step);
    return told(u);
}

static bool do_last_write(struct ui *u, const char *args)
{
    struct watched w;
    const struct vtype *type;
    char why[WHY];
    if (!*args)
        return ui_error(u, "last-write EXPRESSION: an expression is missing");
    if (!watched_of(u->session, args, &w, &type, why))
        return ui_error(u, "%s", why);
    session_last_write(u->session, &w, type);
    if (u->session->stop.kind == STOPPED_BEGIN)
        fprintf(u->out, "nothing has written it\n");
    return told(u);
}

/* ---- points ---- */

/* Split "WHERE if CONDITION"; where: room for 256. */
static const char *split_condition(const char *args, char *where)
{
    const char *at = strncmp(args, "if ", 3) == 0 ? args : strstr(args, " if ");
    size_t n = at ? (size_t)(at - args) : strlen(args);
    n = n < 255 ? n : 255;
    memcpy(where, args, n);
    where[n] = '\0';
    while (n && isspace((unsigned char)where[n - 1]))
        where[--n] = '\0';
    at = at ? strstr(at, "if ") + 3 : "";
    return at + strspn(at, " \t");
}

static bool made(struct ui *u, struct point *p, const char *condition, const char *why)
{
    char reason[WHY];
    if (!p)
        return ui_error(u, "%s", why);
    unsigned number = p->number;
    if (!point_condition(u->session, p, condition, reason)) {
        (void)point_delete(u->session, number);
        return ui_error(u, "%s", reason);
    }
    fprintf(u->out, "%s %u: %s",
            p->kind == POINT_WATCH      ? "watchpoint"
            : p->kind == POINT_MNEMONIC ? "breakpoint at instructions"
                                        : "breakpoint",
            p->number, p->what);
    if (u->session->idle)
        fprintf(u->out, ", in kernels that have it");
    if (p->n_pcs) {
        char symbol[160];
        (void)program_symbol(u->program, p->pcs[0], symbol, sizeof symbol);
        fprintf(u->out, " at 0x%" PRIx64 " <%s>", p->pcs[0], symbol);
        if (p->n_pcs > 1)
            fprintf(u->out, " and %u more", p->n_pcs - 1);
    }
    fputc('\n', u->out);
    return true;
}

static bool break_at(struct ui *u, const char *args, bool temporary)
{
    char where[256], why[WHY];
    struct point *p;
    struct context c;
    const char *condition = split_condition(args, where);
    if (strncmp(where, "-m ", 3) == 0)
        p = point_mnemonic(u->session, where + 3 + strspn(where + 3, " "), why);
    else if (*where)
        p = point_place(u->session, where, why);
    else if (ui_context(u, &c))
        p = point_address(u->session, c.wave.view.pc, "here", why);
    else
        return ui_error(u, "break WHERE: the chosen wave is not there");
    if (p)
        p->temporary = temporary;
    return made(u, p, condition, why);
}

static bool do_break(struct ui *u, const char *args)
{
    return break_at(u, args, false);
}

static bool do_tbreak(struct ui *u, const char *args)
{
    return break_at(u, args, true);
}

/* To a place, in the chosen wave. */
static bool do_until(struct ui *u, const char *args)
{
    char why[WHY];
    struct session *s = u->session;
    struct point *p = *args ? point_place(s, args, why) : NULL;
    if (!*args)
        return do_next(u, "");
    if (!p)
        return ui_error(u, "%s", why);
    p->temporary = true;
    (void)snprintf(p->condition, sizeof p->condition,
                   "group == %" PRIu64 " && wave == %u", s->group, s->wave);
    return do_continue(u, "");
}

static bool watch(struct ui *u, const char *args, unsigned mode)
{
    char what[256], why[WHY];
    const char *condition = split_condition(args, what);
    if (!*what)
        return ui_error(u, "watch EXPRESSION: an expression is missing");
    return made(u, point_watch(u->session, what, mode, why), condition, why);
}

static bool do_watch(struct ui *u, const char *args)
{
    return watch(u, args, WATCH_CHANGE);
}

static bool do_awatch(struct ui *u, const char *args)
{
    return watch(u, args, WATCH_READ | WATCH_WRITE);
}

static bool do_rwatch(struct ui *u, const char *args)
{
    return watch(u, args, WATCH_READ);
}

/* f for each number; all of them if there is none. */
static bool each_point(struct ui *u, const char *args, const char *what,
                       void (*f)(struct session *, unsigned))
{
    struct session *s = u->session;
    for (unsigned i = s->n_points; !*args && i-- > 0;)
        f(s, s->points[i].number);
    while (*args) {
        char *end;
        unsigned long n = strtoul(args, &end, 10);
        if (end == args || (*end && !isspace((unsigned char)*end)))
            return ui_error(u, "%s [NUMBER...]: '%.40s' is not a number", what, args);
        if (!point_find(s, (unsigned)n))
            return ui_error(u, "there is no breakpoint or watchpoint %lu", n);
        f(s, (unsigned)n);
        args = end + strspn(end, " \t");
    }
    points_changed(s);
    return true;
}

static void delete_one(struct session *s, unsigned number)
{
    (void)point_delete(s, number);
}

static void enable_one(struct session *s, unsigned number)
{
    point_find(s, number)->enabled = true;
}

static void disable_one(struct session *s, unsigned number)
{
    point_find(s, number)->enabled = false;
}

static bool do_delete(struct ui *u, const char *args)
{
    return each_point(u, args, "delete", delete_one);
}

static bool do_enable(struct ui *u, const char *args)
{
    return each_point(u, args, "enable", enable_one);
}

static bool do_disable(struct ui *u, const char *args)
{
    return each_point(u, args, "disable", disable_one);
}

static struct point *point_of(struct ui *u, const char **args)
{
    char *end;
    unsigned long n = strtoul(*args, &end, 10);
    struct point *p = end == *args ? NULL : point_find(u->session, (unsigned)n);
    if (!p)
        (void)ui_error(u, "'%.40s' is no number of a breakpoint", *args);
    *args = end + strspn(end, " \t");
    return p;
}

static bool do_condition(struct ui *u, const char *args)
{
    char why[WHY];
    struct point *p = point_of(u, &args);
    if (!p)
        return false;
    return point_condition(u->session, p, args, why) || ui_error(u, "%s", why);
}

static bool do_ignore(struct ui *u, const char *args)
{
    struct point *p = point_of(u, &args);
    uint64_t n;
    if (!p)
        return false;
    if (cli_parse_u64(args, &n) != RD_OK)
        return ui_error(u, "ignore NUMBER COUNT: '%.40s' is not a count", args);
    p->ignore = n;
    return true;
}

/* ---- choosing ---- */

static void choose(struct ui *u, uint64_t group, unsigned wave, unsigned lane)
{
    u->group = group;
    u->wave = wave;
    u->lane = lane;
    if (!u->session)
        return;
    u->session->group = group;
    u->session->wave = wave;
    u->session->lane = lane;
}

static unsigned lane_of(const struct ui *u)
{
    return u->session ? u->session->lane : u->lane;
}

static bool do_wave(struct ui *u, const char *args)
{
    char *end;
    struct context c;
    if (*args) {
        uint64_t group = u->session ? u->session->group : u->group;
        unsigned long long first = strtoull(args, &end, 10), wave = first;
        if (end != args && *end == '.') {
            group = first;
            const char *second = end + 1;
            wave = strtoull(second, &end, 10);
            end = end == second ? (char *)"?" : end;
        }
        if (end == args || *end || wave > UINT32_MAX)
            return ui_error(u, "wave [WORKGROUP.]WAVE: '%.40s' is none", args);
        if (tg_find(u->target, group, (unsigned)wave) == TG_NO_WAVE)
            return ui_error(u, "wave %llu.%llu is not there: it has ended or not begun",
                            (unsigned long long)group, wave);
        choose(u, group, (unsigned)wave, lane_of(u));
    }
    if (!ui_context(u, &c))
        return ui_error(u, "the chosen wave is not there (see info waves)");
    fprintf(u->out, "wave %" PRIu64 ".%u, workgroup (%u,%u,%u), lane %u\n",
            c.wave.group, c.wave.wave, c.wave.workgroup[0], c.wave.workgroup[1],
            c.wave.workgroup[2], c.lane);
    show_place(u, c.wave.view.pc);
    return true;
}

static bool do_lane(struct ui *u, const char *args)
{
    struct context c;
    uint64_t lane;
    if (!ui_context(u, &c))
        return ui_error(u, "the chosen wave is not there (see info waves)");
    if (*args) {
        if (cli_parse_u64(args, &lane) != RD_OK || lane >= c.wave.lanes)
            return ui_error(u, "lane LANE: 0 to %u", c.wave.lanes - 1);
        choose(u, c.wave.group, c.wave.wave, (unsigned)lane);
    }
    fprintf(u->out, "lane %u of wave %" PRIu64 ".%u, %s\n", lane_of(u), c.wave.group,
            c.wave.wave, c.wave.view.exec >> lane_of(u) & 1 ? "on" : "off");
    return true;
}

/* ---- looking ---- */

static bool do_backtrace(struct ui *u, const char *args)
{
    return no_args(u, args) && show_backtrace(u);
}

static bool do_why(struct ui *u, const char *args)
{
    return no_args(u, args) && show_why(u);
}

static bool do_info(struct ui *u, const char *args)
{
    char what[32] = "";
    const char *rest = args + strcspn(args, " \t");
    (void)snprintf(what, sizeof what, "%.*s",
                   (int)(rest - args < 31 ? rest - args : 31), args);
    rest += strspn(rest, " \t");
    if (strcmp(what, "program") == 0 && u->inferior)
        return show_program(u);
    if (u->session && u->session->idle && *what != 'b' &&
        strcmp(what, "watchpoints") != 0)
        return ui_error(u, "info %s: no kernel is stopped here", what);
    if (strcmp(what, "waves") == 0)
        return show_waves(u);
    if (strcmp(what, "locals") == 0 || strcmp(what, "args") == 0)
        return show_locals(u, false);
    if (strcmp(what, "globals") == 0)
        return show_locals(u, true);
    if (strcmp(what, "registers") == 0 || strcmp(what, "reg") == 0)
        return show_registers(u, rest);
    if (strcmp(what, "exec") == 0 || strcmp(what, "lanes") == 0)
        return show_exec(u);
    if (strcmp(what, "wave") == 0)
        return do_wave(u, "");
    if (strcmp(what, "lane") == 0)
        return do_lane(u, "");
    if (strcmp(what, "mem") == 0 || strcmp(what, "memory") == 0)
        return show_regions(u);
    if (strcmp(what, "kernel") == 0)
        return show_kernel(u);
    if (strcmp(what, "functions") == 0)
        return show_functions(u);
    if (strcmp(what, "line") == 0)
        return show_line(u, rest);
    if (strcmp(what, "fault") == 0) {
        char text[1024];
        fault_text(u, text, sizeof text);
        fprintf(u->out, "%s\n", *text ? text : "no fault");
        return true;
    }
    if ((strcmp(what, "breakpoints") == 0 || strcmp(what, "watchpoints") == 0 ||
         strcmp(what, "b") == 0) &&
        u->session)
        return show_points(u);
    return ui_error(u,
                    "info waves, wave, lane, registers [NAME|s|v], exec, locals, "
                    "globals, breakpoints, memory, kernel, functions, line [WHERE] "
                    "or fault; not "
                    "'%s'",
                    what);
}

/* ---- scripts ---- */

static bool do_assert(struct ui *u, const char *args)
{
    struct context c;
    struct expr_error err;
    bool yes;
    (void)ui_context(u, &c);
    if (!expr_true(&c, args, &yes, &err))
        return ui_error(u, "%s", err.text);
    return yes || ui_error(u, "not so: %s", args);
}

static bool do_echo(struct ui *u, const char *args)
{
    fprintf(u->out, "%s\n", args);
    return true;
}

static bool do_source(struct ui *u, const char *args)
{
    void *data;
    size_t bytes;
    bool ok = true;
    if (u->depth == 8)
        return ui_error(u, "source: scripts are nested too deeply");
    if (!*args)
        return ui_error(u, "source FILE: no file is named");
    if (cli_read_file(args, &data, &bytes) != RD_OK)
        return ui_error(u, "source: cannot read '%s': %s", args, strerror(errno));
    u->depth++;
    const char *outer = u->script;
    unsigned outer_line = u->script_line;
    u->script = args;
    u->script_line = 0;
    char *text = data;
    for (size_t at = 0; at < bytes && !u->quit;) {
        char line[1024];
        size_t n = 0;
        while (at + n < bytes && text[at + n] != '\n')
            n++;
        (void)snprintf(line, sizeof line, "%.*s", (int)(n < 1023 ? n : 1023),
                       text + at);
        u->script_line++;
        if (!ui_command(u, line)) {
            ok = false;
            break;
        }
        at += n + 1;
    }
    u->script = outer;
    u->script_line = outer_line;
    u->depth--;
    free(data);
    return ok;
}

static bool do_quit(struct ui *u, const char *args)
{
    u->quit = true;
    return no_args(u, args);
}

static bool do_help(struct ui *u, const char *args);

static bool do_disassemble(struct ui *u, const char *args)
{
    return show_disassembly(u, args);
}

static const struct command commands[] = {
    {"run", "r", true, do_run, "run from the beginning"},
    {"continue", "c", true, do_continue, "[N]  go on to the next (Nth) stop"},
    {"reverse-continue", "rc", true, do_back, "go back to the last stop before here"},
    {"stepi", "si", true, do_stepi, "[N]  instructions of this wave"},
    {"reverse-stepi", "rsi", true, do_stepi_back, "[N]  back"},
    {"step", "s", true, do_step, "[N]  source lines of this wave"},
    {"next", "n", true, do_next, "[N]  lines; calls and what is inlined are one step"},
    {"reverse-step", "rs", true, do_step_back, "[N]  back"},
    {"reverse-next", "rn", true, do_next_back, "[N]  back"},
    {"finish", "fin", true, do_finish,
     "leave the function; of the kernel, or with 'wave': to the wave's end"},
    {"until", "u", true, do_until, "[WHERE]  to a place (as of break), in this wave"},
    {"goto", NULL, true, do_goto,
     "STEP  to a point in time (steps since the beginning)"},
    {"last-write", "lw", true, do_last_write,
     "EXPRESSION  back to where a register or memory was written last"},
    {"break", "b", true, do_break,
     "WHERE [if CONDITION]  FUNCTION, LINE, FILE:LINE, *ADDRESS, *+OFFSET, -m MNEMONIC "
     "(with * and ?)"},
    {"tbreak", "tb", true, do_tbreak, "WHERE [if CONDITION]  once"},
    {"watch", "w", true, do_watch,
     "EXPRESSION [if CONDITION]  stop when it changes: v3, lds[16], global.f32[ADDR], "
     "a[i]"},
    {"awatch", NULL, true, do_awatch, "EXPRESSION  whoever reads or writes it"},
    {"rwatch", NULL, true, do_rwatch, "EXPRESSION  whoever reads it"},
    {"condition", NULL, true, do_condition, "NUMBER [CONDITION]"},
    {"ignore", NULL, true, do_ignore, "NUMBER COUNT  pass it so often"},
    {"delete", "d", true, do_delete, "[NUMBER...]  breakpoints and watchpoints"},
    {"enable", NULL, true, do_enable, "[NUMBER...]"},
    {"disable", NULL, true, do_disable, "[NUMBER...]"},
    {"set", NULL, true, ui_set,
     "EXPRESSION = VALUE  registers (v3, s5, exec, vcc), variables, memory, LDS; limit "
     "STEPS  how far one command runs (0: no limit); stop-at-end on|off  stay where a "
     "program's kernel has ended"},
    {"wave", NULL, false, do_wave, "[[WORKGROUP.]WAVE]  choose a wave"},
    {"lane", NULL, false, do_lane, "[LANE]  choose a lane"},
    {"info", "i", false, do_info,
     "waves, wave, lane, registers [NAME|s|v], exec, locals, globals, breakpoints, "
     "memory, kernel, functions, line [WHERE], fault"},
    {"print", "p", false, show_print,
     "[/FORMAT] [-a] EXPRESSION  FORMAT x d u f t c; -a: in all active lanes"},
    {"display", NULL, true, ui_display,
     "[/FORMAT] [-a] EXPRESSION  print it at every stop; without one: all of them now"},
    {"undisplay", NULL, true, ui_undisplay, "[NUMBER]  no longer; all of them"},
    {"x", NULL, false, show_memory,
     "[/COUNT FORMAT SIZE] [lds|scratch|global] ADDRESS  SIZE b h w g"},
    {"backtrace", "bt", false, do_backtrace, "functions that the wave is in"},
    {"list", "l", false, show_source, "[LINE|FILE:LINE|FUNCTION]  source"},
    {"disassemble", "dis", false, do_disassemble,
     "[PLACE][,COUNT]  instructions with their lines"},
    {"why", NULL, false, do_why, "what the wave waits for, or does next"},
    {"assert", NULL, false, do_assert, "EXPRESSION  fail unless it is true"},
    {"echo", NULL, false, do_echo, "TEXT"},
    {"source", NULL, false, do_source, "FILE  do the commands in it"},
    {"help", "h", false, do_help, "[COMMAND]"},
    {"quit", "q", false, do_quit, ""},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static bool do_help(struct ui *u, const char *args)
{
    bool found = false;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const struct command *c = &commands[i];
        if (*args && strcmp(args, c->name) != 0 &&
            (!c->alias || strcmp(args, c->alias) != 0))
            continue;
        found = true;
        fprintf(u->out, "%s%s%s%s  %s\n", c->name, c->alias ? " (" : "",
                c->alias ? c->alias : "", c->alias ? ")" : "", c->help);
    }
    return found || ui_error(u, "there is no command '%.60s'", args);
}

const char *ui_complete(const char *begin, unsigned *state)
{
    while (*state < N_COMMANDS) {
        const char *name = commands[(*state)++].name;
        if (strncmp(name, begin, strlen(begin)) == 0)
            return name;
    }
    return NULL;
}

/* The command of a name: itself, an alias, or the only one that begins so. */
static const struct command *find(struct ui *u, const char *name, size_t n)
{
    const struct command *found = NULL;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const struct command *c = &commands[i];
        if ((strlen(c->name) == n && memcmp(c->name, name, n) == 0) ||
            (c->alias && strlen(c->alias) == n && memcmp(c->alias, name, n) == 0))
            return c;
    }
    unsigned many = 0;
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strncmp(commands[i].name, name, n) == 0) {
            found = &commands[i];
            many++;
        }
    if (many == 1)
        return found;
    (void)ui_error(u,
                   many ? "'%.*s' could be several commands (see help)"
                        : "there is no command '%.*s' (see help)",
                   (int)(n < 60 ? n : 60), name);
    return NULL;
}

/* Is it of use before a kernel of the program is there? */
static bool works_idle(const struct command *c)
{
    static const char *const names[] = {
        "run",    "continue",  "break",  "tbreak", "watch",   "awatch",   "rwatch",
        "delete", "condition", "ignore", "enable", "disable", "set",      "info",
        "echo",   "source",    "help",   "quit",   "display", "undisplay"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(c->name, names[i]) == 0)
            return true;
    return false;
}

bool ui_command(struct ui *u, const char *line)
{
    char copy[1024];
    line += strspn(line, " \t\r");
    if (!*line || *line == '#')
        return true;
    if (strlen(line) >= sizeof copy)
        return ui_error(u, "a command has at most %zu characters", sizeof copy - 1);
    (void)snprintf(copy, sizeof copy, "%s", line);
    size_t end = strlen(copy);
    while (end && isspace((unsigned char)copy[end - 1]))
        copy[--end] = '\0';
    size_t n = strcspn(copy, " \t/");
    const struct command *c = find(u, copy, n);
    if (!c)
        return false;
    if (c->live && !u->session)
        return ui_error(u, "%s: a core file does not run", c->name);
    if (u->session && u->session->idle && !works_idle(c))
        return ui_error(
            u, "%s: no kernel is stopped here (break, then run or continue)", c->name);
    return c->run(u, copy + n + strspn(copy + n, " \t"));
}
