/* session.c: runs a dispatch forwards and backwards.
 *
 * Must not know how anything is shown. Invariant: s->now and the machine's state belong
 * together; the state at a step is the same each time that it is reached.
 * SPDX-License-Identifier: MIT
 */
#include "codeobj.h"
#include "objects.h"
#include "remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- begin and end ---- */

static int prepare(struct session *s)
{
    struct emu_fault fault;
    char text[1024];
    rd_status st = emu_stepper_create(la_emu(s->la), &s->dispatch, &s->stepper, &fault);
    if (st == RD_E_FAULT) {
        emu_fault_text(&fault, text, sizeof text);
        return cli_error(CLI_FAILED, "%s", text);
    }
    if (st == RD_OK)
        st = memory_begin(s);
    if (st == RD_OK) {
        const struct emu_launch *launch = emu_stepper_launch(s->stepper);
        s->place_base = launch->code_base;
        s->place_bytes = launch->code_bytes;
        s->place_bits = calloc(s->place_bytes / 32 + 1, 1);
        st = s->place_bits ? RD_OK : RD_E_NOMEM;
    }
    struct emu_wave *first; /* so that its registers can be looked at */
    if (st == RD_OK)
        st = emu_order_next(s->stepper, &first);
    if (st == RD_OK)
        st = memory_before(s);
    return st == RD_OK ? CLI_OK
                       : cli_error(CLI_FAILED, "cannot begin the dispatch: %s",
                                   rd_status_text(st));
}

int session_begin(struct session *s, struct kernel_options *options)
{
    struct la_error err;
    memset(s, 0, sizeof *s);
    s->options = options;
    options->config.threads = 1;
    options->config.engine = EMU_ENGINE_INTERP;
    int status = kernel_read(options, &s->code, &s->code_bytes);
    if (status != CLI_OK)
        return status;
    if (la_create(&options->config, &s->la, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    status =
        kernel_load(options, s->la, s->code, s->code_bytes, &s->kernel, &s->dispatch);
    if (status != CLI_OK)
        return status;
    program_open(&s->program, options->object_path,
                 options->object_path ? s->code : NULL, s->code_bytes, options->name,
                 s->kernel.image_gpuva, s->dispatch.entry,
                 s->dispatch.wave64 ? 64 : 32);
    s->args = calloc(options->n_args + 1, sizeof *s->args);
    for (unsigned i = 0; s->args && i < options->n_args; i++)
        s->args[i] = options->args[i].value;
    s->program.args = s->args;
    s->program.n_args = s->args ? options->n_args : 0;
    s->target = (struct target){&live_ops, s};
    s->stop.kind = STOPPED_BEGIN;
    return prepare(s);
}

void session_end(struct session *s)
{
    points_delete_all(s, true);
    free(s->points);
    free(s->place_bits);
    free(s->args);
    memory_end(s);
    inputs_end(s);
    emu_stepper_destroy(s->stepper, NULL);
    program_close(&s->program);
    if (s->la)
        la_destroy(s->la);
    free(s->code);
}

void session_idle(struct session *s)
{
    memset(s, 0, sizeof *s);
    s->idle = true;
    s->target = (struct target){&live_ops, s};
}

/* Arguments as the kernel finds them, by its metadata. */
static void read_arguments(struct session *s, struct remote *r,
                           const struct co_kernel *kernel)
{
    uint64_t at = 0;
    unsigned sgpr = kernel ? kernel->desc.user_sgpr[CO_USER_KERNARG_PTR] : CO_NO_SGPR;
    if (sgpr == CO_NO_SGPR || sgpr > 30 || !kernel->meta)
        return;
    memcpy(&at, &s->dispatch.user_sgpr[sgpr], sizeof at);
    unsigned n = kernel->meta->n_explicit_args;
    s->args = calloc(n + 1ul, sizeof *s->args);
    for (unsigned i = 0; s->args && i < n; i++) {
        const struct co_arg *a = &kernel->meta->args[i];
        (void)remote_read(r, at + a->offset, &s->args[i], a->bytes < 8 ? a->bytes : 8);
    }
    s->program.args = s->args;
    s->program.n_args = s->args ? n : 0;
}

static int open_remote(struct session *s, struct remote *r, const struct object *object,
                       const struct co_kernel *kernel, char *why)
{
    const struct wire_dispatch *offer = remote_dispatch(r);
    const struct emu_config config = {
        .threads = 1, .engine = EMU_ENGINE_INTERP, .lds_unreported = true};
    struct la_error err;
    uint64_t entry = offer->dispatch.entry;
    const char *name = kernel ? kernel->name : offer->kernel;
    s->dispatch = offer->dispatch;
    s->dispatch.control = NULL;
    s->dispatch.inspector = NULL;
    s->dispatch.watch = NULL;
    s->dispatch.queue = remote_queue(r, s);
    if (la_create(&config, &s->la, &err) != RD_OK) {
        (void)snprintf(why, 200, "%.190s", err.text);
        return CLI_FAILED;
    }
    if (!remote_map(r, la_emu(s->la), why))
        return CLI_FAILED;
    program_open(&s->program, object ? object->path : NULL,
                 object ? object->data : NULL, object ? object->bytes : 0,
                 *name ? name : NULL, kernel ? entry - kernel->entry_offset : entry,
                 entry, s->dispatch.wave64 ? 64 : 32);
    s->program.root = s->root;
    read_arguments(s, r, kernel);
    return prepare(s);
}

bool session_attach(struct session *s, struct remote *r, const struct object *object,
                    const struct co_kernel *kernel, char *why)
{
    s->remote = r;
    s->now = s->frontier = 0;
    s->at_end = s->at_fault = false;
    s->group = s->wave = s->lane = 0;
    s->stop = (struct stop){.kind = STOPPED_BEGIN, .lane = -1};
    if (open_remote(s, r, object, kernel, why) != CLI_OK)
        return false;
    s->idle = false;
    return points_resolve(s);
}

void session_detach(struct session *s, bool decline)
{
    if (!decline) {
        remote_finish(s);
    } else {
        emu_stepper_destroy(s->stepper, NULL);
        remote_decline(s->remote);
    }
    s->stepper = NULL;
    s->remote = NULL;
    memory_end(s);
    inputs_end(s);
    program_close(&s->program);
    if (s->la)
        la_destroy(s->la);
    s->la = NULL;
    free(s->place_bits);
    s->place_bits = NULL;
    free(s->args);
    s->args = NULL;
    s->idle = true;
    for (unsigned i = 0; i < s->n_points; i++)
        s->points[i].n_pcs = 0;
}

bool session_context(struct session *s, struct context *c)
{
    return context_of(c, &s->target, &s->program, s->group, s->wave, s->lane);
}

bool session_next(struct session *s, uint64_t *group, unsigned *wave, uint64_t *pc)
{
    struct emu_wave *w;
    if (s->at_fault || emu_order_next(s->stepper, &w) != RD_OK || !w)
        return false;
    const struct emu_inst *inst = emu_wave_next(w);
    *group = emu_wave_info(w)->group;
    *wave = emu_wave_info(w)->wave;
    *pc = inst ? inst->pc : 0;
    return inst != NULL;
}

#define POLL 8192u

static void ask(struct session *s)
{
    if (s->poll && s->now % POLL == 0)
        s->poll(s->poll_ctx);
}

/* ---- one step ---- */

/* A way to go: what stops it besides points. */
struct plan {
    struct session *s;
    bool points;   /* stop at points, too */
    bool not_here; /* the position where it begins does not count */
    /* Before a wave's next instruction: here? */
    bool (*before)(struct plan *p, const struct emu_wave_info *wave,
                   const struct emu_inst *inst);
    /* Behind a step: STOPPED_BEGIN to go on. */
    enum stop_kind (*after)(struct plan *p, const struct emu_event *e);
    uint64_t group; /* the wave that it is about */
    unsigned wave;
    uint64_t count;
    /* source lines */
    const char *file;
    unsigned line, depth;
    bool over;
    uint64_t returns[64]; /* of calls that were made on the way */
    unsigned calls;
    bool returned; /* from the function where it began */
    uint64_t last_pc;
};

static bool is_mine(const struct plan *p, const struct emu_wave_info *wave)
{
    return wave->group == p->group && wave->wave == p->wave;
}

/* One instruction of whoever is next. */
static rd_status step_once(struct session *s, const struct emu_event **e)
{
    rd_status st = memory_before(s);
    *e = NULL;
    if (st != RD_OK)
        return st;
    st = emu_order_step(s->stepper, e);
    if (st == RD_E_NOT_FOUND) {
        s->at_end = true;
        return st;
    }
    s->now++;
    s->at_fault = st == RD_E_FAULT;
    memory_after(s, *e);
    if (s->now > s->frontier) {
        s->frontier = s->now;
        if (s->remote)
            remote_exchange(s);
    }
    inputs_apply(s);
    return st;
}

static void stopped(struct session *s, enum stop_kind kind)
{
    s->stop.kind = kind;
}

static void choose(struct session *s, uint64_t group, unsigned wave, int lane)
{
    s->group = group;
    s->wave = wave;
    if (lane >= 0)
        s->lane = (unsigned)lane;
    s->stop.group = group;
    s->stop.wave = wave;
    s->stop.lane = lane;
}

static void stopped_error(struct session *s, rd_status st)
{
    stopped(s, STOPPED_ERROR);
    (void)snprintf(s->stop.text, sizeof s->stop.text, "cannot go on: %s",
                   rd_status_text(st));
}

static void stopped_point(struct session *s, const struct point *p, uint64_t group,
                          unsigned wave, int lane)
{
    unsigned number = p->number;
    stopped(s, STOPPED_POINT);
    s->stop.point = number;
    choose(s, group, wave, lane);
    if (p->temporary)
        (void)point_delete(s, number);
}

/* May a step be done? Else s->stop says why not. */
static bool may_step(struct session *s, uint64_t steps, struct emu_wave **w)
{
    rd_status st = emu_order_next(s->stepper, w);
    ask(s);
    if (st != RD_OK) {
        stopped_error(s, st);
    } else if (s->at_fault) {
        const struct emu_fault *f = emu_stepper_fault(s->stepper);
        stopped(s, STOPPED_FAULT);
        choose(s, emu_wave_info(*w)->group, f->wave, f->lane);
    } else if (!*w) {
        s->at_end = true;
        stopped(s, STOPPED_END);
    } else if (s->interrupted) {
        s->interrupted = 0;
        stopped(s, STOPPED_INTERRUPT);
        choose(s, emu_wave_info(*w)->group, emu_wave_info(*w)->wave, -1);
    } else if (s->limit && steps >= s->limit) {
        stopped(s, STOPPED_LIMIT);
        choose(s, emu_wave_info(*w)->group, emu_wave_info(*w)->wave, -1);
    } else {
        return true;
    }
    return false;
}

/* Is the plan or a point met where we are? */
static bool here(struct session *s, struct plan *p, const struct emu_wave_info *wave,
                 const struct emu_inst *inst)
{
    int lane = -1;
    if (p->before && p->before(p, wave, inst)) {
        stopped(s, STOPPED_STEP);
        return true;
    }
    const struct point *point = p->points ? points_at(s, wave, inst, &lane) : NULL;
    if (!point)
        return false;
    stopped_point(s, point, wave->group, wave->wave, lane);
    return true;
}

static void forward(struct session *s, struct plan *p)
{
    struct emu_wave *w;
    const struct emu_event *e;
    p->s = s;
    s->stop = (struct stop){.lane = -1};
    if (p->points)
        points_refresh(s);
    for (uint64_t steps = 0; may_step(s, steps, &w); steps++) {
        const struct emu_wave_info *info = emu_wave_info(w);
        if ((steps || !p->not_here) && here(s, p, info, emu_wave_next(w)))
            return;
        if (p->points)
            points_before(s);
        rd_status st = step_once(s, &e);
        if (st == RD_E_FAULT)
            continue; /* may_step tells */
        if (st != RD_OK) {
            stopped_error(s, st);
            return;
        }
        const struct point *point = p->points ? points_after(s, e, &s->stop) : NULL;
        if (point) {
            choose(s, s->stop.group, s->stop.wave, s->stop.lane);
            if (point->temporary)
                (void)point_delete(s, point->number);
            return;
        }
        enum stop_kind kind = p->after && e ? p->after(p, e) : STOPPED_BEGIN;
        if (kind != STOPPED_BEGIN) {
            stopped(s, kind);
            choose(s, p->group, p->wave, -1);
            return;
        }
    }
}

/* ---- back ---- */

static void run_to(struct session *s, uint64_t step)
{
    const struct emu_event *e;
    while (s->now < step) {
        rd_status st = step_once(s, &e);
        if (st != RD_OK && st != RD_E_FAULT)
            return;
    }
}

static void go(struct session *s, uint64_t step)
{
    if (step < s->now)
        memory_restore(s, memory_snapshot_before(s, step + 1));
    run_to(s, step);
    struct emu_wave *next; /* so that the workgroup is there */
    if (emu_order_next(s->stepper, &next) == RD_OK && !next)
        s->at_end = true;
}

void session_goto(struct session *s, uint64_t step)
{
    s->stop = (struct stop){.lane = -1, .kind = step ? STOPPED_STEP : STOPPED_BEGIN};
    go(s, step);
    if (s->at_end)
        s->stop.kind = STOPPED_END;
    if (s->at_fault)
        s->stop.kind = STOPPED_FAULT;
    points_refresh(s);
}

/* What was met last before a step. */
struct met {
    bool found;
    uint64_t step;
    struct stop stop;
};

/* How often points were met is counted forwards alone. */
struct tally {
    uint64_t hits, ignore;
};

static struct tally *tally_of(const struct session *s)
{
    struct tally *t = calloc(s->n_points + 1ul, sizeof *t);
    for (unsigned i = 0; t && i < s->n_points; i++)
        t[i] = (struct tally){s->points[i].hits, s->points[i].ignore};
    for (unsigned i = 0; i < s->n_points; i++)
        s->points[i].ignore = 0;
    return t;
}

static void tally_back(struct session *s, struct tally *t)
{
    for (unsigned i = 0; t && i < s->n_points; i++) {
        s->points[i].hits = t[i].hits;
        s->points[i].ignore = t[i].ignore;
    }
    free(t);
}

/* From here to a step: remember the last that the plan or a point met. false: told to
 * give up. */
static bool scan(struct session *s, struct plan *p, uint64_t limit, struct met *met)
{
    struct emu_wave *w;
    const struct emu_event *e;
    points_refresh(s);
    while (s->now < limit) {
        uint64_t step = s->now;
        ask(s);
        if (s->interrupted || emu_order_next(s->stepper, &w) != RD_OK || !w)
            return false;
        const struct emu_wave_info *info = emu_wave_info(w);
        const struct emu_inst *inst = emu_wave_next(w);
        int lane = -1;
        const struct point *point = NULL;
        if (p->before && inst && p->before(p, info, inst))
            *met = (struct met){
                true,
                step,
                {.kind = STOPPED_STEP, .lane = -1, .group = p->group, .wave = p->wave}};
        else if (p->points && inst && (point = points_at(s, info, inst, &lane)))
            *met = (struct met){true,
                                step,
                                {.kind = STOPPED_POINT,
                                 .lane = lane,
                                 .point = point->number,
                                 .group = info->group,
                                 .wave = info->wave}};
        if (p->points)
            points_before(s);
        struct stop stop = {.lane = -1};
        rd_status st = step_once(s, &e);
        if (st != RD_OK && st != RD_E_FAULT)
            return false;
        if (p->points && points_after(s, e, &stop))
            *met = (struct met){true, step, stop};
    }
    return true;
}

static void backward(struct session *s, struct plan *p)
{
    uint64_t from = s->now;
    p->s = s;
    for (uint64_t limit = from; limit > 0;) {
        struct met met = {.found = false};
        uint64_t base = memory_snapshot_before(s, limit);
        memory_restore(s, base);
        p->last_pc = 0;
        struct tally *tally = tally_of(s);
        bool scanned = scan(s, p, limit, &met);
        tally_back(s, tally);
        if (!scanned) { /* interrupted: where it was */
            s->interrupted = 0;
            session_goto(s, from);
            stopped(s, STOPPED_INTERRUPT);
            return;
        }
        if (met.found) {
            go(s, met.step);
            points_refresh(s);
            s->stop = met.stop;
            choose(s, met.stop.group, met.stop.wave, met.stop.lane);
            return;
        }
        limit = base;
    }
    session_goto(s, 0);
}

/* ---- what users ask for ---- */

void session_continue(struct session *s)
{
    bool begins = s->now == 0 && s->stop.kind == STOPPED_BEGIN;
    struct plan p = {.points = true, .not_here = !begins};
    forward(s, &p);
}

void session_back(struct session *s)
{
    struct plan p = {.points = true};
    backward(s, &p);
}

static enum stop_kind count_mine(struct plan *p, const struct emu_event *e)
{
    if (!is_mine(p, e->wave))
        return STOPPED_BEGIN;
    if (e->flags & EMU_EV_ENDED)
        return STOPPED_WAVE_END;
    return --p->count ? STOPPED_BEGIN : STOPPED_STEP;
}

void session_step(struct session *s, uint64_t count)
{
    struct plan p = {.points = true,
                     .not_here = true,
                     .after = count_mine,
                     .group = s->group,
                     .wave = s->wave,
                     .count = count ? count : 1};
    forward(s, &p);
}

static bool mine_next(struct plan *p, const struct emu_wave_info *wave,
                      const struct emu_inst *inst)
{
    (void)inst;
    return is_mine(p, wave);
}

void session_step_back(struct session *s, uint64_t count)
{
    struct plan p = {.before = mine_next, .group = s->group, .wave = s->wave};
    do
        backward(s, &p);
    while (s->stop.kind == STOPPED_STEP && count && --count);
}

static unsigned depth_at(const struct session *s, uint64_t pc)
{
    struct source_frame *f = calloc(SOURCE_FRAMES, sizeof *f);
    unsigned n = f ? program_frames(&s->program, pc, f, SOURCE_FRAMES) : 0;
    free(f);
    return n;
}

/* Calls and returns: a branch to a function's beginning, and one back behind it. */
static void follow_calls(struct plan *p, const struct emu_event *e)
{
    const struct program *g = &p->s->program;
    uint64_t off;
    if (!(e->flags & EMU_EV_TAKEN) || !g->co)
        return;
    if (p->calls && p->returns[p->calls - 1] == e->next_pc) {
        p->calls--;
        return;
    }
    const struct co_symbol *to = co_symbol_near(g->co, e->next_pc - g->image, &off);
    uint64_t from_off;
    const struct co_symbol *from =
        co_symbol_near(g->co, e->inst->pc - g->image, &from_off);
    if (!to || to == from || to->kind != CO_SYM_FUNC)
        return;
    if (off == 0 && p->calls < sizeof p->returns / sizeof *p->returns)
        p->returns[p->calls++] = e->inst->pc + e->inst->bytes;
    else if (off && !p->calls)
        p->returned = true;
}

static enum stop_kind line_after(struct plan *p, const struct emu_event *e)
{
    if (!is_mine(p, e->wave))
        return STOPPED_BEGIN;
    if (e->flags & EMU_EV_ENDED)
        return STOPPED_WAVE_END;
    follow_calls(p, e);
    return STOPPED_BEGIN;
}

/* Does a line begin here that is another one than where it started? */
static bool line_before(struct plan *p, const struct emu_wave_info *wave,
                        const struct emu_inst *inst)
{
    if (!is_mine(p, wave))
        return false;
    const struct source_line *l = program_line(&p->s->program, inst->pc);
    if (!l || !l->statement || l->va + p->s->program.bias != inst->pc)
        return false;
    if ((p->over && p->calls) || program_in_prologue(&p->s->program, inst->pc))
        return false;
    if (!p->returned && l->line == p->line && strcmp(l->file, p->file) == 0)
        return false;
    return !p->over || p->returned || depth_at(p->s, inst->pc) <= p->depth;
}

static bool line_plan(struct session *s, struct plan *p)
{
    struct context c;
    *p = (struct plan){.points = true,
                       .not_here = true,
                       .group = s->group,
                       .wave = s->wave,
                       .file = ""};
    if (!s->program.source || !session_context(s, &c))
        return false;
    const struct source_line *l = program_line(&s->program, c.wave.view.pc);
    p->line = l ? l->line : 0;
    p->file = l ? l->file : "";
    p->depth = depth_at(s, c.wave.view.pc);
    return true;
}

void session_line(struct session *s, bool over)
{
    struct plan p;
    if (!line_plan(s, &p)) {
        session_step(s, 1);
        return;
    }
    p.over = over;
    p.before = line_before;
    p.after = line_after;
    forward(s, &p);
    if (s->stop.kind == STOPPED_STEP)
        choose(s, p.group, p.wave, -1);
}

/* Backwards: the wave comes to the first instruction of a line. */
static bool line_begins(struct plan *p, const struct emu_wave_info *wave,
                        const struct emu_inst *inst)
{
    if (!is_mine(p, wave))
        return false;
    const struct program *g = &p->s->program;
    const struct source_line *l = program_line(g, inst->pc);
    const struct source_line *before = p->last_pc ? program_line(g, p->last_pc) : NULL;
    p->last_pc = inst->pc;
    if (!l || !l->statement || l->va + g->bias != inst->pc)
        return false;
    if (before && before->line == l->line && strcmp(before->file, l->file) == 0)
        return false;
    return !p->over || depth_at(p->s, inst->pc) <= p->depth;
}

void session_line_back(struct session *s, bool over)
{
    struct plan p;
    if (!line_plan(s, &p)) {
        session_step_back(s, 1);
        return;
    }
    p.points = false;
    p.over = over;
    p.before = line_begins;
    backward(s, &p);
}

static bool left_function(struct plan *p, const struct emu_wave_info *wave,
                          const struct emu_inst *inst)
{
    if (!is_mine(p, wave) || p->calls)
        return false;
    return p->returned || (p->depth > 1 && depth_at(p->s, inst->pc) < p->depth);
}

void session_finish(struct session *s)
{
    struct plan p;
    if (!line_plan(s, &p)) {
        session_finish_wave(s);
        return;
    }
    p.before = left_function;
    p.after = line_after;
    forward(s, &p);
    if (s->stop.kind == STOPPED_STEP)
        choose(s, p.group, p.wave, -1);
}

static enum stop_kind wave_ends(struct plan *p, const struct emu_event *e)
{
    return is_mine(p, e->wave) && e->flags & EMU_EV_ENDED ? STOPPED_WAVE_END
                                                          : STOPPED_BEGIN;
}

void session_finish_wave(struct session *s)
{
    struct plan p = {.points = true,
                     .not_here = true,
                     .after = wave_ends,
                     .group = s->group,
                     .wave = s->wave};
    forward(s, &p);
}

void session_last_write(struct session *s, const struct watched *what,
                        const struct vtype *type)
{
    struct plan p = {.points = true};
    unsigned n = s->n_points;
    bool *enabled = calloc(n + 1, sizeof *enabled);
    char why[200];
    struct point *mine = enabled ? point_mnemonic(s, "s_nop", why) : NULL;
    if (!mine) {
        free(enabled);
        stopped_error(s, RD_E_NOMEM);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        enabled[i] = s->points[i].enabled;
        s->points[i].enabled = false;
    }
    unsigned number = mine->number;
    free(mine->ops);
    mine->ops = NULL;
    mine->kind = POINT_WATCH;
    mine->internal = true;
    mine->mode = WATCH_WRITE;
    mine->watched = *what;
    backward(s, &p);
    s->stop.type = type;
    (void)point_delete(s, number);
    s->next_point--;
    for (unsigned i = 0; i < n; i++)
        s->points[i].enabled = enabled[i];
    points_changed(s);
    free(enabled);
}
