/* run.h: what the files of `rdna3 run` share: options and arguments.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_RUN_H
#define RD_RUN_H

#include <sys/types.h>

#include "checks.h"
#include "cli.h"
#include "kernel.h"
#include "postmortem.h"
#include "timing.h"

/* --out N=PATH or --print N:TYPE[:COUNT] */
struct run_output {
    unsigned arg;
    const char *path;             /* --out */
    const struct elem_type *type; /* --print */
    uint64_t count;               /* --print; UINT64_MAX: all */
};

/* --timing and what belongs to it (timing.c). */
#define RUN_TIMING_SETS 64

struct run_timing_set {
    char name[40];
    double value;
};

struct run_timing {
    bool on, listing, viz;
    const char *used; /* the last option that was given besides --timing and --viz */
    const char *json_path, *trace_path;
    bool advice;
    const char *report_path, *baseline_path; /* of pages */
    const char *kernel;                      /* its name, when known */
    bool sample_auto;                        /* --timing-sample auto */
    uint64_t most;                           /* instructions of that; 0: as usual */
    uint64_t part, parts;                    /* --timing-part; parts 0: none */
    bool all_parts;
    struct tm_config config;
    struct run_timing_set set[RUN_TIMING_SETS];
    unsigned n_set;
};

enum {
    RUN_OPT_TIMING = 400,
    RUN_OPT_SCLK,
    RUN_OPT_TIMING_JSON,
    RUN_OPT_TIMING_INSTS,
    RUN_OPT_TIMING_SAMPLE,
    RUN_OPT_TIMING_PART,
    RUN_OPT_TIMING_SET,
    RUN_OPT_TIMING_LISTING,
    RUN_OPT_TIMING_TRACE,
    RUN_OPT_VIZ,
    RUN_OPT_CU_MASK,
    RUN_OPT_FIRST_SE,
    RUN_OPT_WARM,
    RUN_OPT_FABRIC,
    RUN_OPT_ADVICE,
    RUN_OPT_REPORT,
    RUN_OPT_BASELINE,
    RUN_OPT_TIMING_LAST = RUN_OPT_BASELINE
};

/* --check and what belongs to it (check.c). */
struct run_checks {
    struct checks_options options;
    struct checks_suppressions *suppressions;
    struct ck_table *table; /* while the kernel runs, like the next two */
    struct ck *ck;
    struct checks_object object;
};

#define RUN_INTERRUPTED 130 /* exit status, as shells have it of SIGINT */
#define RUN_TIMED_OUT   124 /* exit status, as timeout(1) has it */

/* What is told of a kernel that does not end well (ending.c). */
struct run_ending {
    const char *core_path; /* --core; NULL: none */
    struct capture capture;
    double timeout;                 /* --timeout, seconds; 0: none */
    uint64_t max_insts;             /* --max-insts; 0: none */
    volatile int too_many;          /* it was those */
    const struct tm_engine *engine; /* of a timed run, once it is there */
    double began;                   /* when the timed run did */
    bool warned;                    /* that it takes long */
    volatile int control;   /* enum emu_control: SIGINT and the timeout cancel */
    volatile int timed_out; /* it was the timeout */
    uint64_t cycles;        /* of a timed run, so far */
    double shown;           /* when a terminal was last told of them; 0: never */
    bool line;              /* something was told */
};

struct run_options {
    struct kernel_options k;
    struct run_options *next; /* after --and; NULL: none. Of it only what is here, */
    unsigned queue;           /* and outs, prints */
    bool barrier;
    struct emu_dispatch dispatch; /* of one after --and, once it is loaded */
    bool stats;
    bool json;              /* the statistics as JSON */
    bool device_kfd;        /* --device kfd */
    const char *trace_path; /* NULL: none */
    bool trace_operands;
    struct trace_writer *trace; /* while the kernel runs */
    struct run_timing timing;
    struct run_checks checks;
    struct run_ending ending;
    struct run_output *outs;
    struct run_output *prints;
    unsigned n_outs, n_prints;
};

/* --and and what belongs to it (several.c): add begins the options of another dispatch,
 * last has those that are given now, check judges all together, load makes the
 * dispatches but the first. Print errors; return an exit status. */
int run_several_add(struct run_options *o, int argc);
struct run_options *run_several_last(struct run_options *o);
int run_several_queue(struct run_options *o, const char *text);
int run_several_same(struct run_options *o, const char *text); /* --arg same:D.N */
int run_several_check(struct run_options *o);
int run_several_load(struct run_options *o, struct la *la,
                     const struct la_kernel *first);
void run_several_tell(const struct run_options *o, const struct tm_engine *t);
void run_several_free(struct run_options *o);
/* All dispatches, the first of which is given. Owner: free. NULL: out of memory. */
struct tm_launch *run_several_list(const struct run_options *o,
                                   const struct emu_dispatch *first, unsigned *n);

/* Parse --out and --print. They may precede the --arg they name: run_check_outputs
 * judges the number when all are known. */
int run_parse_out(char *text, struct run_output *out);
int run_parse_print(const char *text, struct run_output *out);
int run_check_outputs(const struct run_options *o);

/* Run the kernel on a board behind the kernel driver (device.c). */
int run_on_device(struct run_options *o, const void *code, size_t bytes);

/* Record what the emulator runs in between, if --trace was given. end also tells how
 * big the trace became if --stats was given. Print errors; return an exit status. */
int run_trace_begin(struct run_options *o, struct emu *emu);
int run_trace_end(struct run_options *o, struct emu *emu);

/* Check what the emulator runs in between, if --check was given. end prints what was
 * found; status is what became of the run. Print errors; return an exit status. */
int run_check_options(struct run_options *o);
int run_check_begin(struct run_options *o, struct la *la);
int run_check_end(struct run_options *o, int status);
/* Has a finding told about the fault that ended the run, or ended it itself? */
bool run_check_told(const struct run_options *o);

/* The engine that the options ask for, its parameters set; ranges: the buffers, which
 * must stay until tm_destroy. Prints the error; returns an exit status. */
int run_timing_create(const struct run_options *o, const struct tm_range *ranges,
                      size_t n_ranges, struct tm_engine **out);

/* --timing-part (part.c): check judges the options with it, choose says which of the
 * workgroups of a launch are the part, fits whether each has one, tell prints what it
 * adds, all runs every part. Print errors; return an exit status. */
int run_part_check(const struct run_options *o);
int run_part_fits(const struct run_timing *rt, const struct emu_dispatch *dispatch);
void run_part_choose(struct run_timing *rt, const struct emu_dispatch *dispatch);
int run_part_refused(const struct run_options *o, const struct tm_engine *t);
void run_part_tell(const struct run_timing *rt, const struct tm_engine *t);
int run_part_all(struct run_options *o, struct emu *emu, struct emu_dispatch *dispatch);

/* --timing-sample auto (sample.c): begin counts what the launch executes; branch starts
 * the run of the workgroups that are left over, with the engine that the launch gets,
 * before that runs; end gives the engine what it has come to, or says why there is no
 * number. Print errors; return an exit status. */
struct run_sample {
    bool on; /* else all is simulated */
    struct tm_executed whole;
    void *counted;
    pid_t child; /* that runs those left over, and where it writes to */
    int in;
    const volatile int *control; /* enum emu_control */
};
int run_sample_begin(struct run_options *o, struct emu *emu,
                     const struct emu_dispatch *dispatch, struct run_sample *s);
int run_sample_branch(struct run_sample *s, struct tm_engine *t, struct emu *emu,
                      const struct emu_dispatch *dispatch);
int run_sample_end(struct run_sample *s, struct tm_engine *t, rd_status st);
void run_sample_free(struct run_sample *s);

/* Gather what SIGINT, a fault and --core need, from a dispatch that emu_run will get.
 * end tells where the waves were if SIGINT has cancelled it (RD_E_TIMEOUT), the source
 * lines of a fault, and writes the core file; status is what became of the run. Print
 * errors; return an exit status. */
int run_ending_options(const struct run_options *o);
int run_ending_timeout(struct run_ending *e, const char *text);
void run_ending_begin(struct run_options *o, struct emu_dispatch *d);
int run_ending_end(struct run_options *o, struct emu *emu, const struct emu_dispatch *d,
                   rd_status st, const struct emu_fault *fault, int status);

/* The same around a timed run: SIGINT and the timeout end it, a terminal sees how far
 * it is. */
void run_ending_timed(struct run_options *o, struct emu_dispatch *d);
void run_ending_timed_over(struct run_options *o); /* before anything is printed */

/* Why a cancelled run was: a text for people. */
const char *run_ending_why(const struct run_ending *e);
int run_ending_status(const struct run_ending *e); /* of one that was cancelled */

/* Take one option of timing; judge them together. Print errors; return an exit status.
 */
int run_timing_option(struct run_timing *rt, int option, const char *name,
                      const char *text);
int run_timing_check(const struct run_timing *rt);

/* Run the dispatch through the timing engine. st is what tm_run said; the engine, to be
 * destroyed by the caller, holds the figures that run_timing_report prints and writes;
 * window is the exit status of the window beside it, if there was one. */
int run_timing(struct run_options *o, struct emu *emu,
               const struct emu_dispatch *dispatch, struct emu_fault *fault,
               struct emu_stats *stats, struct tm_engine **out, rd_status *st,
               int *window);
int run_timing_report(const struct run_options *o, struct tm_engine *t);
/* Can --baseline be read? Prints errors; returns an exit status. */
int run_timing_baseline(const struct run_timing *rt);
/* --advice and --report (report.c). Prints errors; returns an exit status. */
int run_timing_advice(const struct run_timing *rt, const struct tm_engine *t);

/* Write --out files, print --print elements. */
int run_write_outputs(const struct run_options *o);
int run_print_elements(const struct run_options *o);
/* json: as JSON, all opcodes. */
void run_print_stats(bool json, const struct emu *emu, const struct emu_stats *stats,
                     double seconds);

#endif
