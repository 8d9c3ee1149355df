/* trace.c: the --trace of `rdna3 run`.
 *
 * Must not know the format of traces. Invariant: the file is finished whatever became
 * of the kernel, so that a fault can be looked at. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>

#include "run.h"
#include "trace.h"

int run_trace_begin(struct run_options *o, struct emu *emu)
{
    struct trace_options options = {.values = o->trace_operands};
    struct trace_error err;
    if (!o->trace_path)
        return CLI_OK;
    if (trace_create(o->trace_path, &options, &o->trace, &err) != RD_OK)
        return cli_error(CLI_FAILED, "cannot write %s", err.text);
    struct emu_observer observer = trace_observer(o->trace);
    if (emu_add_observer(emu, &observer) == RD_OK)
        return CLI_OK;
    rd_status st = trace_close(o->trace, &err);
    o->trace = NULL;
    return cli_error(CLI_FAILED, "cannot trace%s%s", st == RD_OK ? "" : ": ",
                     st == RD_OK ? "" : err.text);
}

int run_trace_end(struct run_options *o, struct emu *emu)
{
    struct trace_error err;
    if (!o->trace)
        return CLI_OK;
    emu_remove_observer(emu, o->trace);
    uint64_t events = trace_events_written(o->trace);
    if (trace_close(o->trace, &err) != RD_OK)
        return cli_error(CLI_FAILED, "cannot write %s", err.text);
    o->trace = NULL;
    if (o->stats && !o->json)
        printf("trace          %14" PRIu64 "  events in %s\n", events, o->trace_path);
    return CLI_OK;
}
