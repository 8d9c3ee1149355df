/* ending.c: kernels that do not end well: SIGINT, source lines of faults, --core.
 *
 * Must not know how a core file looks. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "run.h"

#define PROGRESS_SECONDS 0.5
/* A timed run of more than an hour is worth a warning, once there is a guess. */
#define WARN_AFTER   2.0
#define WARN_SECONDS 3600.0

static struct run_ending *volatile to_cancel;

static void on_interrupt(int signal)
{
    if (!to_cancel)
        return;
    to_cancel->timed_out |= signal == SIGALRM;
    to_cancel->control = EMU_CONTROL_CANCEL;
}

int run_ending_timeout(struct run_ending *e, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !isfinite(seconds) || seconds < 1e-3 || seconds > 1e7)
        return cli_error(CLI_USAGE, "--timeout '%s': a number of seconds", text);
    e->timeout = seconds;
    return CLI_OK;
}

/* From now on SIGINT and the timeout cancel. */
static void arm(struct run_ending *e)
{
    double whole = floor(e->timeout);
    struct itimerval after = {
        .it_value = {.tv_sec = (time_t)whole,
                     .tv_usec = (suseconds_t)((e->timeout - whole) * 1e6)}};
    /* the second time it ends the program, whatever that does */
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)SA_RESETHAND};
    to_cancel = e;
    (void)sigaction(SIGINT, &action, NULL);
    action.sa_flags = (int)SA_RESTART;
    if (e->timeout > 0 && sigaction(SIGALRM, &action, NULL) == 0)
        (void)setitimer(ITIMER_REAL, &after, NULL);
}

static void disarm(struct run_ending *e)
{
    struct itimerval never = {.it_value = {0}};
    if (e->timeout > 0)
        (void)setitimer(ITIMER_REAL, &never, NULL);
    (void)signal(SIGINT, SIG_DFL);
    to_cancel = NULL;
}

int run_ending_status(const struct run_ending *e)
{
    return e->timed_out || e->too_many ? RUN_TIMED_OUT : RUN_INTERRUPTED;
}

const char *run_ending_why(const struct run_ending *e)
{
    if (e->too_many)
        return "the instructions of --max-insts have run";
    if (e->control != EMU_CONTROL_CANCEL)
        return "its waves wait for what will not come";
    return e->timed_out ? "the time of --timeout is over" : "interrupted";
}

/* Seconds that are left, judged by the workgroups that have ended; negative: nobody
 * knows, as the first to end say little about those that run beside them. */
static double seconds_left(const struct run_ending *e, const struct tm_progress *p,
                           double now)
{
    if (p->ended <= p->started - p->ended)
        return -1;
    return (now - e->began) / (double)p->ended * (double)(p->groups - p->ended);
}

/* Once, when it is clear that it takes hours. */
static void warn_of_hours(struct run_ending *e, const struct tm_progress *p, double now)
{
    double left = seconds_left(e, p, now);
    bool known = left >= 0;
    /* Else those that have started take as long as that at least. */
    double waves = p->started ? (double)p->groups / (double)p->started : 1;
    if (!known)
        left = (now - e->began) * waves;
    if (e->warned || now - e->began < WARN_AFTER || left < WARN_SECONDS)
        return;
    e->warned = true;
    fprintf(stderr,
            "%swarning: this will take %s%.1f hours (%" PRIu64 " of %" PRIu64
            " workgroups in %.0f s)",
            e->line ? "\r\x1b[K" : "", known ? "about " : "more than ", left / 3600,
            p->ended, p->groups, now - e->began);
    fputs("; --timing-sample auto estimates it in a minute or two\n", stderr);
}

static void show_progress(struct run_ending *e, const struct tm_progress *p, double now)
{
    double left = seconds_left(e, p, now);
    e->line |= e->shown > 0;
    e->shown = now;
    if (!e->line)
        return;
    char text[200], rest[40] = "";
    if (left >= 0)
        (void)snprintf(rest, sizeof rest, ", about %.0f s left", left);
    (void)snprintf(text, sizeof text,
                   "%" PRIu64 " cycles simulated, %" PRIu64 " of %" PRIu64
                   " workgroups%s ",
                   e->cycles, p->ended, p->groups, rest);
    cli_status_line(text);
}

/* Asked by the timing engine: go on? */
static bool poll_timed(void *ctx, uint64_t cycles)
{
    struct run_ending *e = ctx;
    struct tm_progress p;
    double now = cli_now();
    e->cycles = cycles;
    if (!e->engine) /* what a sample leaves over, in a process of its own: say nothing
                     */
        return e->control != EMU_CONTROL_CANCEL;
    tm_progress(e->engine, &p);
    warn_of_hours(e, &p, now);
    if (isatty(STDERR_FILENO) && now - e->shown >= PROGRESS_SECONDS)
        show_progress(e, &p, now);
    if (e->max_insts && p.insts > e->max_insts && e->control != EMU_CONTROL_CANCEL) {
        e->too_many = true;
        e->control = EMU_CONTROL_CANCEL;
    }
    return e->control != EMU_CONTROL_CANCEL;
}

void run_ending_timed(struct run_options *o, struct emu_dispatch *d)
{
    capture_begin(&o->ending.capture, o->ending.core_path != NULL);
    d->inspector = &o->ending.capture.inspector;
    o->timing.config.poll = poll_timed;
    o->timing.config.poll_ctx = &o->ending;
    o->ending.shown = 0;
    o->ending.began = cli_now();
    arm(&o->ending);
}

void run_ending_timed_over(struct run_options *o)
{
    disarm(&o->ending);
    if (o->ending.line)
        fputs("\r\x1b[K", stderr);
}

int run_ending_options(const struct run_options *o)
{
    if (o->ending.core_path && (o->timing.sample_auto || o->device_kfd))
        return cli_error(CLI_USAGE, "--core goes without --%s",
                         o->timing.sample_auto ? "timing-sample auto" : "device kfd");
    if (o->ending.timeout > 0 && o->device_kfd)
        return cli_error(CLI_USAGE, "--timeout goes without --device kfd");
    if (o->ending.max_insts && !o->timing.on)
        return cli_error(CLI_USAGE, "--max-insts goes with --timing (else: --timeout)");
    if (o->ending.max_insts && o->timing.sample_auto)
        return cli_error(CLI_USAGE, "--max-insts goes without --timing-sample auto, "
                                    "which has a number of its own: auto:N");
    return postmortem_can_write(o->ending.core_path);
}

void run_ending_begin(struct run_options *o, struct emu_dispatch *d)
{
    struct run_ending *e = &o->ending;
    capture_begin(&e->capture, e->core_path != NULL);
    d->inspector = &e->capture.inspector;
    d->control = &e->control;
    arm(e);
}

/* How far a timed run was. */
static void tell_cycles(const struct run_options *o)
{
    const char *line = o->timing.trace_path;
    if (!o->ending.cycles)
        fputs("no cycle was simulated yet\n", stderr);
    else
        fprintf(stderr, "%" PRIu64 " cycles were simulated%s%s\n", o->ending.cycles,
                line ? "; the timeline has them: " : "", line ? line : "");
}

int run_ending_end(struct run_options *o, struct emu *emu, const struct emu_dispatch *d,
                   rd_status st, const struct emu_fault *fault, int status)
{
    struct run_ending *e = &o->ending;
    const struct checks_object *object = &o->checks.object;
    bool interrupted = st == RD_E_TIMEOUT; /* or nothing will wake its waves */
    char text[1024];
    (void)snprintf(text, sizeof text, "%s", run_ending_why(e));
    disarm(e);
    if (st == RD_E_FAULT)
        emu_fault_text(fault, text, sizeof text);
    struct core_subject about = {.emu = emu,
                                 .dispatch = d,
                                 .image = object->image,
                                 .kernel = o->k.name,
                                 .path = object->path,
                                 .reason = text,
                                 .object = object->path ? object->data : NULL,
                                 .object_bytes = object->path ? object->bytes : 0};
    if (st == RD_E_FAULT && object->path && !run_check_told(o))
        postmortem_place(object->data, object->bytes, object->image, fault->pc);
    if (interrupted) {
        if (!o->timing.on || e->capture.n_waves)
            postmortem_waves(&e->capture, &about, o->next != NULL);
        if (o->timing.on)
            tell_cycles(o);
        status = e->control == EMU_CONTROL_CANCEL ? run_ending_status(e) : status;
    }
    about.memory = true;
    if (e->core_path && (interrupted || st == RD_E_FAULT)) {
        int written = postmortem_core(&e->capture, &about, e->core_path);
        status = status == CLI_OK ? written : status;
    }
    capture_end(&e->capture);
    return status;
}
