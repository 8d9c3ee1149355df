/* sample.c: --timing-sample auto: as much of a launch in time as tells the rest.
 *
 * How many instructions of each opcode the launch executes is counted by a run without
 * time, and how fast those workgroups are that are left over once the others have
 * filled the chip is seen by a run of these alone. Both go on in processes of their
 * own, whose memory is a copy: what they compute is gone with them. Must not know how a
 * pace is known (emulator/timing/engine/pace.c). Invariant: a launch that is not told
 * by its sample gives no number, but the reason. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "branch.h"
#include "run.h"
#include "step.h"
#include "whole.h"

/* Wave-instructions: what is simulated at most, and what is simulated wholly. */
#define MOST  UINT64_C(300000000)
#define WHOLE 10u

/* An interval beyond this share of the estimate to both sides is none. */
#define WIDE 0.3

/* Workgroups whose lengths are counted, too. */
#define GROUPS (UINT64_C(1) << 18)

struct counts {
    rd_status st;
    uint64_t of_op[ISA_OP_COUNT];
    uint32_t *of_group; /* shared with the process that counts; NULL: there is none */
    size_t group_bytes;
};

static void note_count(void *ctx, unsigned op, uint64_t count)
{
    ((struct counts *)ctx)->of_op[op] = count;
}

/* Memory that the process that counts writes to, and zero. */
static void share_lengths(const struct emu_dispatch *d, struct counts *c)
{
    uint64_t n = (uint64_t)d->groups[0] * d->groups[1];
    if (n > GROUPS || n * d->groups[2] > GROUPS)
        return;
    n *= d->groups[2];
    c->group_bytes = (size_t)n * sizeof *c->of_group;
    c->of_group = mmap(NULL, c->group_bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->of_group == MAP_FAILED)
        c->of_group = NULL;
}

/* Opcodes of the whole launch, and the lengths of its workgroups, by a run without
 * time.
 */
static int count(const struct run_options *o, struct emu *emu,
                 const struct emu_dispatch *dispatch, struct counts *c)
{
    int in, out;
    share_lengths(dispatch, c);
    pid_t child = run_branch_off(&in, &out);
    if (child < 0)
        return cli_error(CLI_FAILED, "cannot start a process: %s", strerror(errno));
    if (child == 0) {
        struct emu_dispatch d = *dispatch;
        d.control = &o->ending.control;
        c->st = emu_run_lengths(emu, &d, c->of_group, NULL, NULL);
        emu_count_each(emu, note_count, c);
        _exit(whole_write(out, c, sizeof *c) ? 0 : 1);
    }
    bool ok = run_branch_read(child, in, &o->ending.control, c, sizeof *c);
    (void)run_branch_reap(child, in);
    if (o->ending.control == EMU_CONTROL_CANCEL)
        return CLI_FAILED; /* conclude says why */
    if (!ok || c->st != RD_OK)
        return cli_error(CLI_FAILED,
                         "--timing-sample auto: the launch does not run to its end "
                         "without time: %s",
                         ok ? rd_status_text(c->st) : "no answer");
    return CLI_OK;
}

/* What the workgroups that are left over take: cycles, half of the interval. */
struct left_over {
    bool known;
    double cycles, error;
};

static void time_left_over(struct tm_engine *t, struct emu *emu,
                           const struct emu_dispatch *dispatch, struct left_over *l)
{
    struct tm_pace_seen seen;
    struct emu_fault fault;
    *l = (struct left_over){.known = false};
    if (tm_run(t, emu, dispatch, &fault, NULL) != RD_OK)
        return;
    tm_pace_seen(t, &seen);
    l->known = true;
    l->cycles = (double)tm_span_cycles(t); /* if it came to its end */
    if (seen.cut == TM_CUT_STEADY) {
        l->cycles = seen.few_cycles;
        l->error = l->cycles * seen.error / seen.rate;
    }
    l->known = seen.cut == TM_CUT_NONE || seen.cut == TM_CUT_STEADY;
}

int run_sample_begin(struct run_options *o, struct emu *emu,
                     const struct emu_dispatch *dispatch, struct run_sample *s)
{
    struct counts *c = calloc(1, sizeof *c);
    *s = (struct run_sample){.in = -1, .control = &o->ending.control};
    if (!c)
        return cli_error(CLI_FAILED, "out of memory");
    int status = count(o, emu, dispatch, c);
    s->counted = c;
    s->whole = (struct tm_executed){
        .of_op = c->of_op, .of_group = c->of_group, .most = o->timing.most};
    if (!s->whole.most)
        s->whole.most = MOST;
    for (unsigned op = 0; op < ISA_OP_COUNT; op++)
        s->whole.insts += c->of_op[op];
    s->on = status == CLI_OK && s->whole.insts > s->whole.most / WHOLE;
    return status;
}

int run_sample_branch(struct run_sample *s, struct tm_engine *t, struct emu *emu,
                      const struct emu_dispatch *dispatch)
{
    int out;
    struct left_over l;
    if (!s->on)
        return CLI_OK;
    s->child = run_branch_off(&s->in, &out);
    if (s->child < 0)
        return cli_error(CLI_FAILED, "cannot start a process: %s", strerror(errno));
    if (s->child == 0) {
        tm_only_left_over(t);
        time_left_over(t, emu, dispatch, &l);
        _exit(whole_write(out, &l, sizeof l) ? 0 : 1);
    }
    return CLI_OK;
}

/* Why there is no number. */
static int refuse(const struct tm_pace_seen *seen, const struct run_sample *s)
{
    if (seen->cut == TM_CUT_PHASES)
        return cli_error(
            CLI_FAILED,
            "--timing-sample auto: refused: phases: %.0f %% of what is left "
            "after %" PRIu64 " instructions are other ones",
            100 * seen->other, s->whole.most);
    if (seen->cut == TM_CUT_COLD)
        return cli_error(
            CLI_FAILED,
            "--timing-sample auto: refused: cold caches: what is left after %" PRIu64
            " instructions may take %.0f %% less, as its data are in the caches by "
            "then",
            s->whole.most, 100 * seen->cold);
    return cli_error(CLI_FAILED,
                     "--timing-sample auto: refused: no steady pace within %" PRIu64
                     " instructions",
                     s->whole.most);
}

int run_sample_end(struct run_sample *s, struct tm_engine *t, rd_status st)
{
    struct left_over l = {.known = false};
    struct tm_pace_seen seen = {.cut = TM_CUT_NONE};
    if (t && st == RD_OK)
        tm_pace_seen(t, &seen);
    bool asked = seen.cut == TM_CUT_STEADY && seen.few;
    if (s->child > 0 && !asked)
        (void)kill(s->child, SIGKILL);
    bool lost = s->child > 0 && asked &&
                !run_branch_read(s->child, s->in, s->control, &l, sizeof l);
    if (l.known)
        tm_tell_left_over(t, l.cycles, l.error);
    if (s->child > 0)
        (void)run_branch_reap(s->child, s->in);
    if (lost && *s->control == EMU_CONTROL_CANCEL)
        return cli_error(CLI_FAILED, "ended while the workgroups that are left over "
                                     "were timed");
    if (lost)
        return cli_error(CLI_FAILED, "--timing-sample auto: the run of the workgroups "
                                     "that are left over gave no answer");
    if (seen.cut == TM_CUT_NONE)
        return CLI_OK;
    if (seen.cut != TM_CUT_STEADY)
        return refuse(&seen, s);
    double error = (double)tm_span_error(t);
    if (error > WIDE * (double)tm_span_cycles(t))
        return cli_error(CLI_FAILED,
                         "--timing-sample auto: refused: tails: how long the last "
                         "workgroups take leaves %.0f %% open",
                         100 * error / (double)tm_span_cycles(t));
    return CLI_OK;
}

void run_sample_free(struct run_sample *s)
{
    struct counts *c = s->counted;
    if (c && c->of_group)
        (void)munmap(c->of_group, c->group_bytes);
    free(c);
}
