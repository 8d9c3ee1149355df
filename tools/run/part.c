/* part.c: --timing-part: a launch by ranges of its workgroups, each by itself.
 *
 * Every range begins with the memory that the launch begins with, on a chip of its own,
 * so it does not matter in which process, or on which machine, it is simulated: the
 * same whole numbers are added up. Must not know what a range adds
 * (emulator/timing/report/sample.c). SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "branch.h"
#include "run.h"

int run_part_check(const struct run_options *o)
{
    const struct run_timing *rt = &o->timing;
    if (!rt->parts)
        return CLI_OK;
    if (rt->sample_auto)
        return cli_error(CLI_USAGE,
                         "--timing-part and --timing-sample auto exclude each other: "
                         "give a number of workgroups, or a share of the part");
    if (rt->all_parts &&
        (rt->viz || rt->trace_path || rt->json_path || rt->listing || rt->advice ||
         rt->report_path || o->n_prints || o->n_outs || o->stats || o->trace_path))
        return cli_error(CLI_USAGE, "--timing-part all/N only tells cycles: no prints, "
                                    "files, listings or windows go with it");
    return CLI_OK;
}

static uint64_t begin_of(const struct run_timing *rt, uint64_t groups, uint64_t part)
{
    return (uint64_t)((unsigned __int128)groups * part / rt->parts);
}

void run_part_choose(struct run_timing *rt, const struct emu_dispatch *d)
{
    uint64_t groups = (uint64_t)d->groups[0] * d->groups[1] * d->groups[2];
    rt->config.part_first = begin_of(rt, groups, rt->part);
    rt->config.part_groups = begin_of(rt, groups, rt->part + 1) - rt->config.part_first;
}

int run_part_refused(const struct run_options *o, const struct tm_engine *t)
{
    struct tm_progress p;
    tm_progress(t, &p);
    return cli_error(CLI_FAILED,
                     "--timing-part: %" PRIu64 " parts of %" PRIu64
                     " workgroups, and the chip holds %" PRIu64
                     " at once: fewer parts, or the whole launch",
                     o->timing.parts, p.all, p.capacity);
}

struct adds {
    uint64_t cycles, error;
};

static struct adds find_adds(const struct tm_engine *t)
{
    double cycles, error;
    tm_part_adds(t, &cycles, &error);
    return (struct adds){(uint64_t)llround(cycles), (uint64_t)llround(error)};
}

static void print_adds(const struct run_timing *rt, struct adds a)
{
    uint64_t first = rt->config.part_first;
    printf("part               %" PRIu64 " of %" PRIu64 ", workgroups %" PRIu64
           " to %" PRIu64 ": adds %" PRIu64 " +- %" PRIu64 " cycles\n",
           rt->part, rt->parts, first, first + rt->config.part_groups - 1, a.cycles,
           a.error);
}

void run_part_tell(const struct run_timing *rt, const struct tm_engine *t)
{
    print_adds(rt, find_adds(t));
}

/* One part, in a process of its own. Returns an exit status. */
static int run_one(struct run_options *o, struct emu *emu,
                   const struct emu_dispatch *dispatch, int out)
{
    struct emu_fault fault = {0};
    struct emu_stats stats = {0};
    struct tm_engine *t = NULL;
    rd_status st = RD_OK;
    char text[1024];
    int window;
    int status = run_timing(o, emu, dispatch, &fault, &stats, &t, &st, &window);
    if (status != CLI_OK)
        return status;
    if (st == RD_E_FAULT) {
        emu_fault_text(&fault, text, sizeof text);
        return cli_error(CLI_FAILED, "%s", text);
    }
    if (st == RD_E_TIMEOUT) /* told by who asked for it, but for --max-insts */
        return o->ending.too_many
                   ? (cli_error(CLI_FAILED, "%s", run_ending_why(&o->ending)),
                      RUN_TIMED_OUT)
                   : CLI_FAILED;
    if (st == RD_E_RANGE)
        return run_part_refused(o, t);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "cannot run the kernel: %s", rd_status_text(st));
    struct adds a = find_adds(t);
    return write(out, &a, sizeof a) == sizeof a ? CLI_OK : CLI_FAILED;
}

static int branch(struct run_options *o, struct emu *emu,
                  const struct emu_dispatch *dispatch, struct adds *a)
{
    int in, out;
    pid_t child = run_branch_off(&in, &out);
    if (child < 0)
        return cli_error(CLI_FAILED, "cannot start a process: %s", strerror(errno));
    if (child == 0) {
        int status = run_one(o, emu, dispatch, out);
        fflush(NULL);
        _exit(status);
    }
    bool answered = run_branch_read(child, in, &o->ending.control, a, sizeof *a);
    int how = run_branch_reap(child, in);
    if (o->ending.control == EMU_CONTROL_CANCEL) {
        (void)cli_error(CLI_FAILED, "%s", run_ending_why(&o->ending));
        return run_ending_status(&o->ending);
    }
    if (WIFSIGNALED(how))
        return cli_error(CLI_FAILED, "part %" PRIu64 " ended by signal %d",
                         o->timing.part, WTERMSIG(how));
    return WEXITSTATUS(how) ? WEXITSTATUS(how) : answered ? CLI_OK : CLI_FAILED;
}

/* Every part, until one fails. */
static int each_part(struct run_options *o, struct emu *emu,
                     const struct emu_dispatch *dispatch, struct adds *sum)
{
    struct run_timing *rt = &o->timing;
    for (rt->part = 0; rt->part < rt->parts; rt->part++) {
        struct adds a = {0, 0};
        int status = branch(o, emu, dispatch, &a);
        if (status != CLI_OK)
            return status;
        run_part_choose(rt, dispatch); /* that was in the other process */
        print_adds(rt, a);
        sum->cycles += a.cycles;
        sum->error += a.error;
    }
    return CLI_OK;
}

int run_part_all(struct run_options *o, struct emu *emu, struct emu_dispatch *dispatch)
{
    struct adds sum = {0, 0};
    run_ending_timed(o, dispatch); /* the processes take it over */
    int status = each_part(o, emu, dispatch, &sum);
    run_ending_timed_over(o);
    if (status != CLI_OK)
        return status;
    printf("launch             %" PRIu64 " +- %" PRIu64 " cycles\n", sum.cycles,
           sum.error);
    return cli_finish(CLI_OK);
}

int run_part_fits(const struct run_timing *rt, const struct emu_dispatch *d)
{
    uint64_t groups = (uint64_t)d->groups[0] * d->groups[1] * d->groups[2];
    return rt->parts <= groups
               ? CLI_OK
               : cli_error(CLI_FAILED,
                           "--timing-part: %" PRIu64 " parts of %" PRIu64 " workgroups",
                           rt->parts, groups);
}
