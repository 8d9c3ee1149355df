/* several.c: the --and of `rdna3 run`: several dispatches that share the chip.
 *
 * Must not know how that is modelled (emulator/timing). SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define MOST 1000 /* dispatches */

struct run_options *run_several_last(struct run_options *o)
{
    while (o->next)
        o = o->next;
    return o;
}

int run_several_add(struct run_options *o, int argc)
{
    struct run_options *last = run_several_last(o);
    struct run_options *more = calloc(1, sizeof *more);
    if (!more)
        return cli_error(CLI_FAILED, "out of memory");
    more->k = (struct kernel_options)KERNEL_DEFAULTS;
    last->next = more;
    more->outs = calloc((size_t)argc, sizeof *more->outs);
    more->prints = calloc((size_t)argc, sizeof *more->prints);
    if (!more->outs || !more->prints)
        return cli_error(CLI_FAILED, "out of memory");
    return kernel_options_begin(&more->k, argc);
}

void run_several_free(struct run_options *o)
{
    struct run_options *more = o->next;
    while (more) {
        struct run_options *next = more->next;
        kernel_options_end(&more->k);
        free(more->outs);
        free(more->prints);
        free(more);
        more = next;
    }
    o->next = NULL;
}

int run_several_queue(struct run_options *o, const char *text)
{
    uint64_t number;
    if (cli_parse_u64(text, &number) != RD_OK || number >= MOST)
        return cli_error(CLI_USAGE, "--queue '%s': 0 to %d", text, MOST - 1);
    o->queue = (unsigned)number;
    return CLI_OK;
}

int run_several_same(struct run_options *o, const char *text)
{
    struct run_options *last = run_several_last(o);
    unsigned dispatch, arg;
    char rest;
    if (strspn(text + 5, "0123456789.") != strlen(text + 5) ||
        sscanf(text, "same:%6u.%6u%c", &dispatch, &arg, &rest) != 2)
        return cli_error(CLI_USAGE,
                         "--arg '%s': same:D.N, the buffer of argument N of dispatch D",
                         text);
    for (; dispatch && o != last; dispatch--)
        o = o->next;
    if (o == last)
        return cli_error(CLI_USAGE, "--arg '%s': there is no such dispatch before this",
                         text);
    if (arg >= o->k.n_args || !o->k.args[arg].is_buffer)
        return cli_error(CLI_USAGE, "--arg '%s': that is not a buffer", text);
    struct kernel_arg *to = &last->k.args[last->k.n_args++];
    *to = o->k.args[arg];
    to->text = text;
    to->same = &o->k.args[arg];
    return CLI_OK;
}

/* What cannot be told of several; NULL: nothing. */
static const char *of_one(const struct run_options *o)
{
    const struct run_timing *rt = &o->timing;
    return o->k.raw_path               ? "raw"
           : o->trace_path             ? "trace"
           : o->ending.core_path       ? "core"
           : o->checks.options.classes ? "check"
           : rt->parts                 ? "timing-part"
           : rt->trace_path            ? "timing-trace"
           : rt->viz                   ? "viz"
           : rt->advice                ? "advice"
           : rt->report_path           ? "report"
           : rt->sample_auto || rt->config.sample || rt->config.sample_percent > 0
               ? "timing-sample"
               : NULL;
}

int run_several_check(struct run_options *o)
{
    if (!o->next && !o->queue && !o->barrier)
        return CLI_OK;
    if (!o->next)
        return cli_error(CLI_USAGE, "--%s goes with --and",
                         o->barrier ? "barrier" : "queue");
    if (!o->timing.on)
        return cli_error(CLI_USAGE, "--and goes with --timing");
    if (of_one(o))
        return cli_error(CLI_USAGE, "--and goes without --%s", of_one(o));
    unsigned n = 1;
    for (struct run_options *more = o->next; more; more = more->next, n++) {
        more->k.object_path = o->k.object_path;
        int status = run_check_outputs(more);
        if (status != CLI_OK)
            return status;
    }
    return n > MOST ? cli_error(CLI_USAGE, "at most %d dispatches", MOST) : CLI_OK;
}

/* What it prints or asks the host for has one place in memory. */
static int runs_alone(const struct la_kernel *kernel)
{
    const struct co_kernel_meta *meta = kernel->meta;
    for (uint32_t i = 0; meta && i < meta->n_args; i++)
        if (meta->args[i].kind == CO_VALUE_HIDDEN_PRINTF_BUFFER ||
            meta->args[i].kind == CO_VALUE_HIDDEN_HOSTCALL_BUFFER)
            return cli_error(CLI_FAILED,
                             "kernel %s may print or call the host: it goes without "
                             "--and",
                             kernel->name);
    return CLI_OK;
}

int run_several_load(struct run_options *o, struct la *la,
                     const struct la_kernel *first)
{
    int status = o->next ? runs_alone(first) : CLI_OK;
    for (struct run_options *more = o->next; more && status == CLI_OK;
         more = more->next) {
        struct la_kernel kernel;
        status = kernel_load_another(&more->k, la, first, &kernel, &more->dispatch);
        if (status == CLI_OK)
            status = runs_alone(&kernel);
    }
    return status;
}

struct tm_launch *run_several_list(const struct run_options *o,
                                   const struct emu_dispatch *first, unsigned *n)
{
    const struct run_options *more;
    *n = 1;
    for (more = o->next; more; more = more->next)
        ++*n;
    struct tm_launch *list = calloc(*n, sizeof *list), *at = list;
    for (more = o; at && more; more = more->next)
        *at++ = (struct tm_launch){.dispatch = more == o ? first : &more->dispatch,
                                   .queue = more->queue,
                                   .barrier = more->barrier};
    return list;
}

void run_several_tell(const struct run_options *o, const struct tm_engine *t)
{
    unsigned k = 0;
    for (const struct run_options *more = o->next ? o : NULL; more;
         more = more->next, k++) {
        struct tm_launch_seen s;
        tm_launch_seen(t, k, &s);
        printf("dispatch %-9u %s, queue %u: waves from %" PRId64 " to %" PRId64
               ", %" PRId64 " cycles\n",
               k, more->k.name, more->queue, s.first, s.end, s.end - s.first);
    }
}
