/* model.c: what a trace tells of a dispatch, given to the timing model.
 *
 * Must not know metrics. A capture does not say all: what is inferred stands beside its
 * function, and each of it can be given on the command line instead.
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

#define MAX_LDS 65536u
/* LDS_SIZE of COMPUTE_PGM_RSRC2. */
#define LDS_SIZE_AT    15u
#define LDS_SIZE_MASK  511u
#define LDS_SIZE_BYTES 512u

/* ---- the waves of the model ---- */

struct watcher {
    struct truth *out;
    uint32_t lead; /* of the code in front of .text */
    size_t *of;    /* the dispatch's waves: their index in out */
    size_t cap;
    bool failed;
};

static void on_start(void *ctx, const struct tm_wave_place *p)
{
    struct watcher *w = ctx;
    struct truth *t = w->out;
    if (t->n_waves == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        struct truth_wave *more = realloc(t->wave, cap * sizeof *more);
        w->failed |= !more;
        if (!more)
            return;
        t->wave = more;
        t->cap = cap;
    }
    if (p->number >= t->cap || p->number != t->n_waves) {
        w->failed = true; /* they come in the order of their numbers */
        return;
    }
    t->wave[t->n_waves++] = (struct truth_wave){.se = p->se,
                                                .sa = p->sa,
                                                .wgp = p->wgp,
                                                .simd = p->simd,
                                                .slot = p->slot,
                                                .start = p->start,
                                                .end = -1,
                                                .traced = true};
}

/* s_endpgm and s_code_end leave no packet. */
static bool leaves_none(const struct tm_step *s)
{
    uint32_t word;
    memcpy(&word, s->inst->host, sizeof word);
    return s->flags & TM_STEP_FREE || word >> 16 == 0xbfb0 || word >> 16 == 0xbf9f;
}

static void on_step(void *ctx, const struct tm_step *s)
{
    struct watcher *w = ctx;
    if (s->wave >= w->out->n_waves || leaves_none(s))
        return;
    struct truth_wave *v = &w->out->wave[s->wave];
    if (v->n_insts == v->cap) {
        size_t cap = v->cap ? 2 * v->cap : 256;
        struct truth_inst *more = realloc(v->inst, cap * sizeof *more);
        w->failed |= !more;
        if (!more)
            return;
        v->inst = more;
        v->cap = cap;
    }
    v->inst[v->n_insts++] = (struct truth_inst){.pc = s->offset - w->lead, .t = s->t};
}

static void on_end(void *ctx, uint64_t wave, int64_t end, const struct tm_wait *last,
                   unsigned n_waits)
{
    struct watcher *w = ctx;
    (void)last;
    (void)n_waits;
    if (wave < w->out->n_waves)
        w->out->wave[wave].end = end;
}

/* ---- the launch ---- */

static unsigned waves_per_group(const struct truth *t)
{
    unsigned lanes = t->kd[57] & 4u ? 32 : 64;
    unsigned items = t->block[0] * t->block[1] * t->block[2];
    return items ? (items + lanes - 1) / lanes : 1;
}

/* Workgroups: the trace has all waves. Their shape is what the driver has written into
 * it, else a row, unless the kernel asks for more numbers than one. */
static int take_grid(const struct model_options *o, const struct truth *t,
                     struct la_shape *shape)
{
    unsigned per = waves_per_group(t);
    uint64_t groups = t->n_waves / per;
    for (unsigned s = 0; s < CAPTURE_SES; s++)
        if (t->cu_mask[s] && !(t->engines >> s & 1u))
            return cli_error(CLI_FAILED,
                             "there is no trace of shader engine %u, which the launch "
                             "had: capture all engines",
                             s);
    memcpy(shape->block, t->block, sizeof shape->block);
    if (o->have_grid) {
        memcpy(shape->groups, o->run.k.shape.groups, sizeof shape->groups);
        uint64_t all = (uint64_t)shape->groups[0] * shape->groups[1] * shape->groups[2];
        if (all * per != t->n_waves)
            return cli_error(
                CLI_USAGE,
                "--grid has %llu workgroups of %u waves, the trace has %zu "
                "waves",
                (unsigned long long)all, per, t->n_waves);
        return CLI_OK;
    }
    if (t->n_waves % per)
        return cli_error(CLI_FAILED,
                         "the trace has %zu waves, a workgroup %u: some engine's trace "
                         "is missing or was cut off",
                         t->n_waves, per);
    const uint32_t *told = marks_grid(&t->marks, groups);
    if (told) {
        memcpy(shape->groups, told, sizeof shape->groups);
        return CLI_OK;
    }
    if (t->rsrc2 >> 8 & 3u && groups > 1)
        return cli_error(CLI_FAILED,
                         "the kernel wants workgroup numbers in more than one "
                         "dimension, and the trace does not say how many there are: "
                         "--grid X,Y,Z of %llu workgroups",
                         (unsigned long long)groups);
    shape->groups[0] = (uint32_t)groups;
    shape->groups[1] = shape->groups[2] = 1;
    return CLI_OK;
}

/* The engine that got workgroup 0: the next ones have as many workgroups or one less.
 * If that says nothing: 1 for the first kernel of a process when all CUs are enabled,
 * as captures show, else 0. */
static unsigned first_engine(const struct truth *t, size_t index, bool all_cus)
{
    unsigned count[CAPTURE_SES] = {0}, usual = index == 0 && all_cus, used = 0;
    unsigned per = waves_per_group(t), groups = (unsigned)(t->n_waves / per);
    unsigned match = CAPTURE_SES;
    for (size_t i = 0; i < t->n_waves; i++)
        count[t->wave[i].se]++;
    for (unsigned s = 0; s < CAPTURE_SES; s++)
        used += t->cu_mask[s] != 0;
    for (unsigned k = 0; k < CAPTURE_SES && used; k++) {
        unsigned first = (usual + k) % CAPTURE_SES, turn = 0;
        bool ok = t->cu_mask[first] != 0;
        for (unsigned i = 0; i < CAPTURE_SES && ok; i++) {
            unsigned s = (first + i) % CAPTURE_SES;
            if (!t->cu_mask[s])
                continue;
            ok = count[s] == (groups + used - 1 - turn) / used * per;
            turn++;
        }
        if (ok && match == CAPTURE_SES)
            match = first;
    }
    return match == CAPTURE_SES ? usual : match;
}

/* What earlier work has left behind. The code object of a process's first kernel lies
 * beside what the driver has just written; later kernels find the page of the kernel
 * arguments in the TLB: so captures show it. */
static void take_state(const struct model_options *o, const struct truth *t,
                       size_t index, struct tm_config *c)
{
    bool all_cus = true, any = false;
    for (unsigned s = 0; s < CAPTURE_SES; s++) {
        all_cus &= t->cu_mask[s] == UINT32_MAX;
        any |= t->cu_mask[s] != 0;
    }
    if (!o->have_mask && !all_cus && any) {
        memcpy(c->cu_mask, t->cu_mask, sizeof c->cu_mask);
        c->have_cu_mask = true;
    }
    if (!o->have_first)
        c->first_se = first_engine(t, index, all_cus);
    if (!o->have_warm) {
        c->warm_code = index == 0;
        c->warm_kernarg = c->warm_mall = index > 0;
    }
    if (c->sclk_mhz <= 0)
        c->sclk_mhz = t->sclk_mhz;
}

/* The kernel, and .text of it as the trace has it: without a header all there is. */
static int load(struct truth *t, struct la *la, struct la_kernel *kernel)
{
    struct la_error err;
    uint32_t lds;
    memcpy(&lds, t->kd, sizeof lds); /* more than there is: as much as there is */
    lds = lds > MAX_LDS ? MAX_LDS : lds;
    memcpy(t->kd, &lds, sizeof lds);
    rd_status st =
        t->object
            ? la_load_object(la, t->object, t->object_bytes, t->kernel, kernel, &err)
            : la_load_raw(la, t->text, t->text_bytes, t->kd, 0, t->entry, kernel, &err);
    return st == RD_OK ? CLI_OK : cli_error(CLI_FAILED, "%s", err.text);
}

/* What LDS the dispatch had besides the kernel's own. */
static uint32_t dynamic_lds(const struct truth *t)
{
    uint32_t own, had = (t->rsrc2 >> LDS_SIZE_AT & LDS_SIZE_MASK) * LDS_SIZE_BYTES;
    memcpy(&own, t->kd, sizeof own);
    own = (own + LDS_SIZE_BYTES - 1) / LDS_SIZE_BYTES * LDS_SIZE_BYTES;
    return had > own && had <= MAX_LDS ? had - own : 0;
}

static int alloc(void *la, uint64_t bytes, const char *name, void **out)
{
    struct la_error err;
    if (la_alloc(la, bytes ? bytes : 1, EMU_MEM_READ | EMU_MEM_WRITE, name, out,
                 &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    return CLI_OK;
}

/* The arguments: those of the command line, or a buffer for each that the file knows.
 * args  out, room for CAPTURE_BUFFERS */
static int take_args(const struct model_options *o, const struct truth *t,
                     const struct capture_launch *l, struct kernel_arg *args,
                     unsigned *n)
{
    bool given = o->run.k.n_args > 0;
    if (!given && !l->have_buffers && t->kernarg_bytes)
        return cli_error(
            CLI_FAILED,
            "the file does not say what the arguments are: --arg for each, "
            "buf:SIZE or a number (%u bytes of arguments)",
            t->kernarg_bytes);
    *n = given ? o->run.k.n_args : l->n_buffers;
    for (unsigned i = 0; i < *n; i++)
        args[i] = given ? o->run.k.args[i]
                        : (struct kernel_arg){.text = "a buffer",
                                              .is_buffer = true,
                                              .size = l->buffer_bytes[i]};
    return CLI_OK;
}

/* Code and arguments in memory, the dispatch put together.
 * range  out, room for CAPTURE_BUFFERS: the buffers */
static int prepare(const struct model_options *o, struct truth *t,
                   const struct capture_launch *l, struct la *la,
                   struct emu_dispatch *dispatch, struct tm_range *range, unsigned *n)
{
    struct la_error err;
    struct la_kernel kernel;
    struct la_shape shape = {.dynamic_lds_bytes = dynamic_lds(t)};
    struct kernel_arg args[CAPTURE_BUFFERS] = {0};
    struct kernel_options k = {.args = args};
    struct la_arg list[CAPTURE_BUFFERS + 1];
    int status = load(t, la, &kernel);
    if (status == CLI_OK)
        status = take_grid(o, t, &shape);
    if (status == CLI_OK)
        status = take_args(o, t, l, args, &k.n_args);
    if (status == CLI_OK)
        status = kernel_make_buffers(&k, alloc, la, list);
    if (status == CLI_OK &&
        la_prepare(la, &kernel, &shape, list, k.n_args, dispatch, &err) != RD_OK)
        status = cli_error(CLI_FAILED, "%s", err.text);
    *n = 0;
    for (unsigned i = 0; status == CLI_OK && i < k.n_args; i++)
        if (args[i].is_buffer)
            range[(*n)++] =
                (struct tm_range){(uint64_t)(uintptr_t)args[i].memory, args[i].size};
    return status;
}

/* In time, watched. */
static int run_timed(const struct model_options *o, const struct truth *t, size_t index,
                     struct la *la, const struct emu_dispatch *dispatch,
                     const struct tm_range *range, unsigned n, struct truth *out)
{
    struct run_options run = o->run;
    struct tm_engine *engine = NULL;
    struct emu_fault fault = {0};
    struct watcher w = {.out = out, .lead = t->object ? t->lead : 0};
    char text[1024];
    take_state(o, t, index, &run.timing.config);
    run.k.raw_path = ""; /* captured, not written: run through what hardware does */
    int status = run_timing_create(&run, range, n, &engine);
    if (status != CLI_OK)
        return status;
    struct tm_observer observer = {
        .ctx = &w, .wave_start = on_start, .step = on_step, .wave_end = on_end};
    tm_observe(engine, &observer);
    rd_status st = tm_run(engine, la_emu(la), dispatch, &fault, NULL);
    tm_destroy(engine);
    if (st == RD_E_FAULT) {
        emu_fault_text(&fault, text, sizeof text);
        return cli_error(CLI_FAILED, "the model: %s", text);
    }
    if (st != RD_OK || w.failed)
        return cli_error(CLI_FAILED, "the model: %s",
                         rd_status_text(st != RD_OK ? st : RD_E_NOMEM));
    return CLI_OK;
}

int model_run(const struct model_options *o, const struct truth *t,
              const struct capture_launch *l, size_t index, struct truth *out)
{
    struct la *la;
    struct la_error err;
    struct emu_config config = {.threads = 1};
    struct emu_dispatch dispatch;
    struct tm_range range[CAPTURE_BUFFERS];
    struct truth code = *t; /* whose descriptor changes */
    unsigned n = 0;
    *out = (struct truth){.n_waves = 0};
    if (la_create(&config, &la, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    int status = prepare(o, &code, l, la, &dispatch, range, &n);
    if (status == CLI_OK)
        status = run_timed(o, t, index, la, &dispatch, range, n, out);
    la_destroy(la);
    return status;
}
