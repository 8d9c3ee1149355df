/* timing.c: the --timing of `rdna3 run`: options, the run, its reports.
 *
 * Must not know how anything is modelled (emulator/timing). Invariant: options of
 * timing without --timing are an error, so that nobody believes a run was timed.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "timeline.h"
#include "viz.h"

/* A number with nothing after it but stop. */
static bool parse_number(const char *text, char stop, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == stop && isfinite(*out);
}

static int parse_mask(const char *text, struct tm_config *c)
{
    for (unsigned i = 0; i < TM_MAX_SES; i++) {
        char *end;
        unsigned long v = strtoul(text, &end, 16);
        bool last = i == TM_MAX_SES - 1;
        if (end == text || v > UINT32_MAX || *text == '-' ||
            *end != (last ? '\0' : ','))
            return cli_error(CLI_USAGE,
                             "--cu-mask: %d hexadecimal masks, one for each "
                             "shader engine",
                             TM_MAX_SES);
        c->cu_mask[i] = (uint32_t)v;
        text = end + 1;
    }
    c->have_cu_mask = true;
    return CLI_OK;
}

/* Who has run a kernel has made its buffers, too: unless the list says that they lie in
 * VRAM, the Infinity Cache has them. */
static int parse_warm(const char *text, struct tm_config *c)
{
    bool vram = false;
    const struct {
        const char *name;
        bool *on;
    } known[] = {{"code-tlb", &c->warm_code},
                 {"kernarg-tlb", &c->warm_kernarg},
                 {"data-tlb", &c->warm_data},
                 {"mall", &c->warm_mall},
                 {"vram", &vram}};
    while (*text) {
        size_t n = strcspn(text, ","), i = 0, all = sizeof known / sizeof *known;
        while (i < all &&
               (strlen(known[i].name) != n || strncmp(text, known[i].name, n) != 0))
            i++;
        if (i == all)
            return cli_error(CLI_USAGE,
                             "--warm '%.*s': code-tlb, kernarg-tlb, data-tlb, mall or "
                             "vram",
                             (int)n, text);
        *known[i].on = true;
        text += n + (text[n] == ',');
    }
    if (vram && c->warm_mall)
        return cli_error(CLI_USAGE,
                         "--warm: the buffers are in mall or vram, not both");
    c->warm_mall |= c->warm_kernarg && !vram;
    return CLI_OK;
}

static int parse_fabric(const char *text, struct tm_config *c)
{
    c->fabric_low = strcmp(text, "low") == 0;
    if (!c->fabric_low && strcmp(text, "high") != 0)
        return cli_error(CLI_USAGE, "--fabric '%s': low or high", text);
    return CLI_OK;
}

static int parse_insts(const char *text, struct tm_config *c)
{
    char rest;
    if (strcmp(text, "all") == 0)
        c->insts = TM_INSTS_ALL;
    else if (strcmp(text, "none") == 0)
        c->insts = TM_INSTS_NONE;
    else if (sscanf(text, "se=%u,sa=%u,wgp=%u,simd=%u%c", &c->se, &c->sa, &c->wgp,
                    &c->simd, &rest) == 4 &&
             c->se < 6 && c->sa < 2 && c->wgp < 8 && c->simd < 4)
        c->insts = TM_INSTS_SIMD;
    else
        return cli_error(CLI_USAGE,
                         "--timing-insts '%s': all, none or se=I,sa=I,wgp=I,simd=I",
                         text);
    return CLI_OK;
}

static int parse_set(const char *text, struct run_timing *rt)
{
    const char *equals = strchr(text, '=');
    struct run_timing_set *s = &rt->set[rt->n_set];
    if (rt->n_set == RUN_TIMING_SETS)
        return cli_error(CLI_USAGE, "--timing-set: at most %d", RUN_TIMING_SETS);
    if (!equals || (size_t)(equals - text) >= sizeof s->name ||
        !parse_number(equals + 1, '\0', &s->value))
        return cli_error(CLI_USAGE, "--timing-set '%s': not NAME=NUMBER", text);
    memcpy(s->name, text, (size_t)(equals - text));
    s->name[equals - text] = '\0';
    rt->n_set++;
    return CLI_OK;
}

/* What follows auto: nothing, or the most instructions to simulate. */
static int parse_auto(const char *text, struct run_timing *rt)
{
    if (*text &&
        (*text != ':' || cli_parse_u64(text + 1, &rt->most) != RD_OK || rt->most == 0))
        return cli_error(CLI_USAGE,
                         "--timing-sample 'auto%s': auto, or auto:N with a number of "
                         "instructions",
                         text);
    rt->sample_auto = true;
    return CLI_OK;
}

/* I/N or all/N. */
static int parse_part(const char *text, struct run_timing *rt)
{
    const char *slash = strchr(text, '/');
    char which[24];
    bool good = slash && (size_t)(slash - text) < sizeof which &&
                cli_parse_u64(slash + 1, &rt->parts) == RD_OK && rt->parts > 0;
    if (good) {
        memcpy(which, text, (size_t)(slash - text));
        which[slash - text] = '\0';
        rt->all_parts = strcmp(which, "all") == 0;
        good = rt->all_parts ||
               (cli_parse_u64(which, &rt->part) == RD_OK && rt->part < rt->parts);
    }
    return good ? CLI_OK
                : cli_error(CLI_USAGE,
                            "--timing-part '%s': I/N with I from 0 to N - 1, or all/N",
                            text);
}

int run_timing_option(struct run_timing *rt, int option, const char *name,
                      const char *text)
{
    double number = 0;
    uint64_t whole = 0;
    switch (option) {
    case RUN_OPT_TIMING:
        rt->on = true;
        return CLI_OK;
    case RUN_OPT_SCLK:
        if (!parse_number(text, '\0', &number) || number < 1 || number > 1e5)
            return cli_error(CLI_USAGE, "--sclk-mhz '%s': not a clock", text);
        rt->config.sclk_mhz = number;
        break;
    case RUN_OPT_TIMING_JSON:
        rt->json_path = text;
        break;
    case RUN_OPT_TIMING_TRACE:
        rt->trace_path = text;
        break;
    case RUN_OPT_ADVICE:
        rt->advice = true;
        break;
    case RUN_OPT_REPORT:
        rt->report_path = text;
        break;
    case RUN_OPT_BASELINE:
        rt->baseline_path = text;
        break;
    case RUN_OPT_VIZ:
        rt->viz = rt->on = true;
        return CLI_OK;
    case RUN_OPT_TIMING_LISTING:
        rt->listing = true;
        break;
    case RUN_OPT_TIMING_SAMPLE:
        rt->used = name;
        if (strncmp(text, "auto", 4) == 0)
            return parse_auto(text + 4, rt);
        if (parse_number(text, '%', &number) && number > 0 && number <= 100 &&
            strchr(text, '%')[1] == '\0')
            rt->config.sample_percent = number;
        else if (cli_parse_u64(text, &whole) != RD_OK || whole == 0)
            return cli_error(CLI_USAGE,
                             "--timing-sample '%s': auto, a number of workgroups, or a "
                             "share of the grid such as 10%%",
                             text);
        rt->config.sample = whole;
        break;
    case RUN_OPT_TIMING_PART:
        rt->used = name;
        return parse_part(text, rt);
    case RUN_OPT_FIRST_SE:
        if (cli_parse_u64(text, &whole) != RD_OK || whole >= TM_MAX_SES)
            return cli_error(CLI_USAGE, "--first-se '%s': 0 to %d", text,
                             TM_MAX_SES - 1);
        rt->config.first_se = (unsigned)whole;
        break;
    default:
        rt->used = name;
        return option == RUN_OPT_CU_MASK      ? parse_mask(text, &rt->config)
               : option == RUN_OPT_WARM       ? parse_warm(text, &rt->config)
               : option == RUN_OPT_FABRIC     ? parse_fabric(text, &rt->config)
               : option == RUN_OPT_TIMING_SET ? parse_set(text, rt)
                                              : parse_insts(text, &rt->config);
    }
    rt->used = name;
    return CLI_OK;
}

int run_timing_check(const struct run_timing *rt)
{
    if (rt->used && !rt->on)
        return cli_error(CLI_USAGE, "--%s goes with --timing", rt->used);
    if (rt->baseline_path && !rt->report_path && !rt->advice)
        return cli_error(CLI_USAGE, "--baseline goes with --report or --advice");
    return CLI_OK;
}

static int report(const struct run_options *o, const struct tm_engine *t)
{
    const struct run_timing *rt = &o->timing;
    if (rt->json_path) {
        struct cli_output file;
        FILE *f = cli_output_begin(&file, rt->json_path);
        if (f)
            tm_write_json(t, f);
        if (cli_output_end(&file, true) != RD_OK)
            return cli_error(CLI_FAILED, "cannot write '%s': %s", rt->json_path,
                             strerror(errno));
    }
    tm_print_summary(t, stdout);
    run_several_tell(o, t);
    if (rt->parts)
        run_part_tell(rt, t);
    if (rt->listing)
        tm_print_listing(t, stdout);
    return run_timing_advice(rt, t);
}

/* A parameter that exists. */
static const struct tm_param *find_param(const char *name)
{
    size_t i = 0;
    while (strcmp(tm_param(i)->name, name) != 0)
        i++;
    return tm_param(i);
}

int run_timing_create(const struct run_options *o, const struct tm_range *ranges,
                      size_t n_ranges, struct tm_engine **out)
{
    struct tm_config config = o->timing.config;
    config.ranges = ranges;
    config.n_ranges = n_ranges;
    config.threads = o->k.config.threads;
    config.tolerate = o->k.raw_path != NULL;
    config.forget_waves = !o->timing.json_path;
    if (tm_create(&config, out) != RD_OK)
        return cli_error(CLI_USAGE, "--cu-mask enables no CU");
    for (unsigned i = 0; i < o->timing.n_set; i++) {
        const struct run_timing_set *s = &o->timing.set[i];
        rd_status st = tm_set(*out, s->name, s->value);
        if (st == RD_E_NOT_FOUND)
            return cli_error(CLI_USAGE,
                             "--timing-set '%s': no such parameter (see rdna3 info "
                             "--timing)",
                             s->name);
        if (st != RD_OK) {
            const struct tm_param *p = find_param(s->name);
            return cli_error(CLI_USAGE,
                             "--timing-set %s: %g is not possible (it is %.10g%s%s)",
                             s->name, s->value, p->value, *p->unit ? " " : "", p->unit);
        }
    }
    return CLI_OK;
}

/* Record the run as a timeline, if that was asked for. */
static int watch(const struct run_timing *rt, const char *path, struct tm_engine *t,
                 struct tl_writer **out)
{
    struct tl_options options = {.live = rt->viz};
    struct tl_error err;
    if (!path)
        return CLI_OK;
    if (tl_create(path, &options, out, &err) != RD_OK)
        return cli_error(CLI_FAILED, "cannot write %s", err.text);
    if (rt->kernel)
        tl_name(*out, rt->kernel);
    struct tm_observer observer = tl_observer(*out);
    tm_observe(t, &observer);
    return CLI_OK;
}

/* The file to record to: what was asked for, or the window's. */
static int open_window(const struct run_options *o, struct viz_live *live,
                       const char **path)
{
    const struct run_timing *rt = &o->timing;
    *path = rt->trace_path;
    if (!rt->viz)
        return CLI_OK;
    if (!viz_live_start(live, rt->trace_path, o->k.object_path))
        return CLI_FAILED;
    *path = live->path;
    return CLI_OK;
}

/* The buffers of all dispatches. Owner: free. */
static struct tm_range *list_ranges(const struct run_options *o, size_t *n)
{
    size_t room = 1;
    *n = 0;
    for (const struct run_options *d = o; d; d = d->next)
        room += d->k.n_args;
    struct tm_range *ranges = calloc(room, sizeof *ranges);
    for (const struct run_options *d = o; d && ranges; d = d->next)
        for (unsigned i = 0; i < d->k.n_args; i++)
            if (d->k.args[i].is_buffer && !d->k.args[i].same)
                ranges[(*n)++] = (struct tm_range){
                    (uint64_t)(uintptr_t)d->k.args[i].memory, d->k.args[i].size};
    return ranges;
}

int run_timing(struct run_options *o, struct emu *emu,
               const struct emu_dispatch *dispatch, struct emu_fault *fault,
               struct emu_stats *stats, struct tm_engine **out, rd_status *st,
               int *window)
{
    unsigned n_launches = 0;
    struct tm_launch *launches = run_several_list(o, dispatch, &n_launches);
    size_t n = 0;
    struct tm_range *ranges = list_ranges(o, &n);
    struct run_sample sample = {.on = false};
    struct tm_engine *t = NULL;
    int status = ranges && launches ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
    if (status == CLI_OK && o->timing.sample_auto)
        status = run_sample_begin(o, emu, dispatch, &sample);
    if (status != CLI_OK && o->ending.control == EMU_CONTROL_CANCEL)
        *st = RD_E_TIMEOUT; /* before anything was simulated */
    o->timing.config.whole = sample.on ? &sample.whole : NULL;
    if (o->timing.parts)
        run_part_choose(&o->timing, dispatch);
    if (status == CLI_OK)
        status = run_timing_create(o, ranges, n, &t);
    if (status == CLI_OK)
        status = run_sample_branch(&sample, t, emu, dispatch);
    struct tl_writer *writer = NULL;
    struct viz_live live = {.child = 0};
    const char *path = NULL;
    struct tl_error err;
    if (status == CLI_OK)
        status = open_window(o, &live, &path);
    if (status == CLI_OK)
        status = watch(&o->timing, path, t, &writer);
    if (status == CLI_OK)
        o->ending.engine = t;
    if (status == CLI_OK)
        *st = tm_run_several(t, emu, launches, n_launches, fault, stats);
    int sampled = run_sample_end(&sample, t, *st);
    if (status == CLI_OK)
        status = sampled;
    if (tl_close(writer, &err) != RD_OK)
        status = cli_error(CLI_FAILED, "cannot write %s", err.text);
    if (live.child > 0)
        *window = viz_live_finish(&live);
    run_sample_free(&sample); /* the engine looks at it no more */
    free(ranges);
    free(launches);
    *out = t;
    return status;
}

int run_timing_report(const struct run_options *o, struct tm_engine *t)
{
    return t ? report(o, t) : CLI_OK;
}
