/* run.c: `rdna3 run`: options, and the order of things from files to results.
 *
 * Must not know argument syntax (args.c) nor how a dispatch is put together
 * (launch/). Invariant: nothing is written unless the kernel ran to its end.
 * SPDX-License-Identifier: MIT
 */
#include "run.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

static const char help[] =
    "usage: rdna3 run CODE.elf [--kernel NAME] OPTION...\n"
    "       rdna3 run --raw TEXT.bin [--kd KD.bin] [--entry-offset N] OPTION...\n"
    "\n"
    "Run one kernel on the emulated gfx1100.\n"
    "\n" KERNEL_HELP
    "  --out N=PATH         write the buffer of argument N (from 0) afterwards\n"
    "  --print N:TYPE[:COUNT]  print elements of argument N; TYPE is i8..i64, "
    "u8..u64,\n"
    "                       f16, f32 or f64; default all\n"
    "  --device emu|kfd     run inside this program (default), or through /dev/kfd: "
    "on\n"
    "                       a real board, or on the mock of rdna3 exec\n"
    "  --threads N          host threads (default: one per CPU; with --timing one)\n"
    "  --engine auto|interp|jit  native code for what is hot (auto: where the host "
    "has\n"
    "                       AVX2), or the interpreter alone\n"
    "  --perf-map           name native code in /tmp/perf-PID.map, for perf "
    "report\n" KERNEL_HELP_HOW
    "  --trace FILE         record every instruction (see rdna3 trace --help)\n"
    "  --trace-operands     and the operands, before and after: far bigger\n"
    "  --timeout SECONDS    give up after that time, as SIGINT does: exit status 124\n"
    "  --core FILE          if it faults, or SIGINT ends it: write its waves and "
    "memory "
    "for\n"
    "                       rdna3 debug --core FILE\n"
    "  --check LIST         look for mistakes while it runs: all, or some of mem, "
    "init,\n"
    "                       race, sync, wait with commas, or value, which is not "
    "among\n"
    "                       all; buffers of --arg without contents (not even zero) "
    "then\n"
    "                       count as not initialised; findings go to stderr. With it:\n"
    "    --keep-going       do not end the run at the first\n"
    "    --race-lanes       work-items of one wave race, too: as languages have it\n"
    "    --error-exitcode N exit status if something is found (default 1)\n"
    "    --check-json FILE, --check-xml FILE, --check-sarif FILE   findings as JSON,\n"
    "                       JUnit's XML, SARIF (-: stdout)\n"
    "    --suppressions FILE  findings not to tell; --gen-suppressions FILE writes "
    "one\n"
    "    --hazard SEED      with wait: what loads bring arrives when it is waited "
    "for,\n"
    "                       but for some of it; until then registers keep what they "
    "had\n"
    "    --watchdog N       instructions of a wave without a barrier that are a hang\n"
    "                       (default 134217728)\n"
    "  --timing             simulate cycles, print a summary. With it:\n"
    "    --sclk-mhz F       shader clock (default 2500)\n"
    "    --timing-json FILE waves, counters and times\n"
    "    --timing-insts all|none|se=I,sa=I,wgp=I,simd=I  issue times in the file\n"
    "    --timing-listing   what each instruction waited for\n"
    "    --advice           rates against what the chip could do, bottlenecks with "
    "what\n"
    "                       to try, memory instructions\n"
    "    --report FILE.html the same as a page that needs nothing else, with every\n"
    "                       instruction\n"
    "    --baseline OLD.html  compare with the run of an earlier report\n"
    "    --max-insts N      give up soon after N instructions: exit status 124\n"
    "    --timing-trace FILE  record a timeline (see rdna3 viz, rdna3 trace)\n"
    "    --viz              show it in a window while it runs; implies --timing\n"
    "    --timing-sample N|P%  simulate the first N workgroups or P percent of them "
    "(at\n"
    "                     least what the chip holds at once), estimate the rest\n"
    "    --timing-sample auto[:N]  as many instructions (300 million, or N, at most)\n"
    "                     as tell the pace, the rest by that; refuses what it cannot\n"
    "                     tell\n"
    "    --timing-part I/N  only the I-th (from 0) of N ranges of the workgroups, on a "
    "chip\n"
    "                     of its own, and what it adds to the cycles of the launch; "
    "the\n"
    "                     sum over all is the launch's (see rdna3 sweep --sum)\n"
    "    --timing-part all/N  all of them, one after the other, and the sum\n"
    "    --timing-set P=V   change a parameter (see rdna3 info --timing)\n"
    "    --cu-mask H,H,H,H,H,H  enabled CUs of each shader engine\n"
    "    --first-se N       engine that gets workgroup 0\n"
    "    --warm LIST        what is there: translations (code-tlb, kernarg-tlb,\n"
    "                       data-tlb), buffers in the Infinity Cache (mall; with\n"
    "                       kernarg-tlb, too, unless they are in vram)\n"
    "    --fabric low|high  is the fabric to memory saving power? (default high)\n"
    "    --and              what follows is about another dispatch that shares the "
    "chip:\n"
    "                       --kernel, --grid, --block, --dynamic-lds, --stack, --arg,\n"
    "                       --out, --print. Its --arg same:D.N is the buffer of\n"
    "                       argument N of dispatch D (from 0). Of each dispatch:\n"
    "    --queue N          where it comes from (default 0). Those of a queue begin "
    "one\n"
    "                       after the other, when all workgroups of the one before it\n"
    "                       have begun, those of several queues independently\n"
    "    --barrier          not before all those before it on its queue have ended\n"
    "  --stats              print counts of workgroups, waves, instructions, opcodes\n"
    "  --json               with --stats: as JSON, with all opcodes\n"
    "\n"
    "What OpenCL kernels print, and those of HIP with -mprintf-kind=buffered, comes "
    "out\n"
    "when they end; HIP's printf and assert without it call the host while the kernel "
    "runs\n"
    "(cycles that it waits for that depend on the host).\n"
    "A number is decimal or 0x hexadecimal. Faults end the run with exit status 1.\n";

enum {
    OPT_HELP = 256,
    OPT_OUT,
    OPT_PRINT,
    OPT_ENGINE,
    OPT_PERF_MAP,
    OPT_THREADS,
    OPT_STATS,
    OPT_JSON,
    OPT_TRACE,
    OPT_CORE,
    OPT_TIMEOUT,
    OPT_MAX_INSTS,
    OPT_TRACE_OPERANDS,
    OPT_DEVICE,
    OPT_AND,
    OPT_QUEUE,
    OPT_BARRIER
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    KERNEL_LONG_OPTIONS,
    {"out", required_argument, NULL, OPT_OUT},
    {"print", required_argument, NULL, OPT_PRINT},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"perf-map", no_argument, NULL, OPT_PERF_MAP},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"stats", no_argument, NULL, OPT_STATS},
    {"json", no_argument, NULL, OPT_JSON},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"core", required_argument, NULL, OPT_CORE},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"max-insts", required_argument, NULL, OPT_MAX_INSTS},
    {"trace-operands", no_argument, NULL, OPT_TRACE_OPERANDS},
    {"check", required_argument, NULL, CHECKS_OPT_LIST},
    {"keep-going", no_argument, NULL, CHECKS_OPT_KEEP_GOING},
    {"race-lanes", no_argument, NULL, CHECKS_OPT_LANES},
    {"error-exitcode", required_argument, NULL, CHECKS_OPT_ERROR_EXIT},
    {"watchdog", required_argument, NULL, CHECKS_OPT_WATCHDOG},
    {"hazard", required_argument, NULL, CHECKS_OPT_HAZARD},
    {"check-json", required_argument, NULL, CHECKS_OPT_JSON},
    {"check-xml", required_argument, NULL, CHECKS_OPT_XML},
    {"check-sarif", required_argument, NULL, CHECKS_OPT_SARIF},
    {"suppressions", required_argument, NULL, CHECKS_OPT_SUPPRESSIONS},
    {"gen-suppressions", required_argument, NULL, CHECKS_OPT_GEN_SUPPRESSIONS},
    {"timing", no_argument, NULL, RUN_OPT_TIMING},
    {"sclk-mhz", required_argument, NULL, RUN_OPT_SCLK},
    {"timing-json", required_argument, NULL, RUN_OPT_TIMING_JSON},
    {"timing-insts", required_argument, NULL, RUN_OPT_TIMING_INSTS},
    {"timing-sample", required_argument, NULL, RUN_OPT_TIMING_SAMPLE},
    {"timing-part", required_argument, NULL, RUN_OPT_TIMING_PART},
    {"timing-set", required_argument, NULL, RUN_OPT_TIMING_SET},
    {"timing-listing", no_argument, NULL, RUN_OPT_TIMING_LISTING},
    {"timing-trace", required_argument, NULL, RUN_OPT_TIMING_TRACE},
    {"advice", no_argument, NULL, RUN_OPT_ADVICE},
    {"report", required_argument, NULL, RUN_OPT_REPORT},
    {"baseline", required_argument, NULL, RUN_OPT_BASELINE},
    {"viz", no_argument, NULL, RUN_OPT_VIZ},
    {"cu-mask", required_argument, NULL, RUN_OPT_CU_MASK},
    {"first-se", required_argument, NULL, RUN_OPT_FIRST_SE},
    {"warm", required_argument, NULL, RUN_OPT_WARM},
    {"fabric", required_argument, NULL, RUN_OPT_FABRIC},
    {"and", no_argument, NULL, OPT_AND},
    {"queue", required_argument, NULL, OPT_QUEUE},
    {"barrier", no_argument, NULL, OPT_BARRIER},
    {NULL, 0, NULL, 0},
};

static int parse_threads(struct run_options *o)
{
    uint64_t value;
    rd_status st = cli_parse_u64(optarg, &value);
    if (st != RD_OK || value > 1024)
        return cli_error(CLI_USAGE, "--threads '%s': %s", optarg,
                         st == RD_E_FORMAT ? "not a number" : "out of range");
    o->k.config.threads = (unsigned)value;
    return CLI_OK;
}

static int parse_engine(struct run_options *o)
{
    static const char *const names[] = {"auto", "interp", "jit"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(optarg, names[i]) == 0) {
            o->k.config.engine = (enum emu_engine)i;
            return CLI_OK;
        }
    }
    return cli_error(CLI_USAGE, "--engine '%s': auto, interp or jit", optarg);
}

static int parse_device(struct run_options *o)
{
    o->device_kfd = strcmp(optarg, "kfd") == 0;
    if (!o->device_kfd && strcmp(optarg, "emu") != 0)
        return cli_error(CLI_USAGE, "--device '%s': emu or kfd", optarg);
#ifndef RDNA3_HAVE_RUNTIME
    if (o->device_kfd)
        return cli_error(CLI_USAGE, "--device kfd: built without the driver");
#endif
    return CLI_OK;
}

/* Options of one of several dispatches. taken: is it one? */
static int take_own(struct run_options *first, int option, const char *name,
                    bool *taken)
{
    struct run_options *o = run_several_last(first);
    *taken = true;
    switch (option) {
    case OPT_OUT:
        return run_parse_out(optarg, &o->outs[o->n_outs++]);
    case OPT_PRINT:
        return run_parse_print(optarg, &o->prints[o->n_prints++]);
    case OPT_QUEUE:
        return run_several_queue(o, optarg);
    case OPT_BARRIER:
        o->barrier = true;
        return CLI_OK;
    case KERNEL_OPT_KERNEL:
    case KERNEL_OPT_GRID:
    case KERNEL_OPT_BLOCK:
    case KERNEL_OPT_DYNAMIC_LDS:
    case KERNEL_OPT_STACK:
    case KERNEL_OPT_ARG:
        return o != first && option == KERNEL_OPT_ARG && !strncmp(optarg, "same:", 5)
                   ? run_several_same(first, optarg)
                   : kernel_option(&o->k, option, name);
    default:
        *taken = false;
        return CLI_OK;
    }
}

static int take_option(struct run_options *o, int option, const char *name)
{
    bool taken;
    int status = take_own(o, option, name, &taken);
    if (taken)
        return status;
    switch (option) {
    case OPT_ENGINE:
        return parse_engine(o);
    case OPT_PERF_MAP:
        o->k.config.perf_map = true;
        return CLI_OK;
    case OPT_THREADS:
        return parse_threads(o);
    case OPT_DEVICE:
        return parse_device(o);
    case OPT_STATS:
        o->stats = o->k.config.count = true;
        return CLI_OK;
    case OPT_JSON:
        o->json = true;
        return CLI_OK;
    case OPT_TRACE:
        o->trace_path = optarg;
        return CLI_OK;
    case OPT_CORE:
        o->ending.core_path = optarg;
        return CLI_OK;
    case OPT_TIMEOUT:
        return run_ending_timeout(&o->ending, optarg);
    case OPT_MAX_INSTS:
        if (cli_parse_u64(optarg, &o->ending.max_insts) != RD_OK ||
            !o->ending.max_insts)
            return cli_error(CLI_USAGE, "--max-insts '%s': a number of instructions",
                             optarg);
        return CLI_OK;
    case OPT_TRACE_OPERANDS:
        o->trace_operands = true;
        return CLI_OK;
    default:
        if (option >= RUN_OPT_TIMING && option <= RUN_OPT_TIMING_LAST)
            return run_timing_option(&o->timing, option, name, optarg);
        if (option >= CHECKS_OPT_LIST && option <= CHECKS_OPT_LAST)
            return checks_option(&o->checks.options, option, name, optarg);
        return kernel_option(&o->k, option, name);
    }
}

static int check_options(struct run_options *o, int argc, char **argv)
{
    int status = kernel_take_object(&o->k, argc, argv);
    if (status != CLI_OK)
        return status;
    if (o->trace_operands && !o->trace_path)
        return cli_error(CLI_USAGE, "--trace-operands goes with --trace FILE");
    if (o->json && (!o->stats || o->n_prints || o->timing.on || o->device_kfd))
        return cli_error(CLI_USAGE, "--json goes with --stats, and without --print, "
                                    "--timing (see --timing-json) and --device kfd");
    if (o->device_kfd && (o->trace_path || o->timing.on || o->timing.used))
        return cli_error(CLI_USAGE, "--%s goes with --device emu only",
                         o->trace_path ? "trace" : "timing");
    if (o->device_kfd && o->k.raw_path && !o->k.kd_path)
        return cli_error(CLI_USAGE, "--device kfd needs --kd with --raw");
    status = run_timing_check(&o->timing);
    if (status == CLI_OK)
        status = run_part_check(o);
    o->k.config.count |= o->timing.sample_auto;
    if (status == CLI_OK)
        status = run_check_options(o);
    if (status == CLI_OK)
        status = run_ending_options(o);
    if (status == CLI_OK)
        status = run_several_check(o);
    return status == CLI_OK ? run_check_outputs(o) : status;
}

/* help is set if that is all that was wanted. */
static int parse_options(struct run_options *o, int argc, char **argv, bool *helped)
{
    int option;
    int index = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, &index)) != -1) {
        if (option == OPT_HELP || option == 'h') {
            fputs(help, stdout);
            *helped = true;
            return CLI_OK;
        }
        if (option == '?' || option == ':')
            return cli_option_error(argc, argv, option, long_options);
        int status = option == OPT_AND
                         ? run_several_add(o, argc)
                         : take_option(o, option, long_options[index].name);
        if (status != CLI_OK)
            return status;
    }
    return check_options(o, argc, argv);
}

static int write_results(const struct run_options *o)
{
    int status = run_write_outputs(o);
    return status == CLI_OK ? run_print_elements(o) : status;
}

/* Results, once the kernel has run to its end. */
static int finish(struct run_options *o, struct la *la, struct tm_engine *timed,
                  const struct emu_stats *stats, double seconds)
{
    int status = write_results(o);
    for (const struct run_options *d = o->next; d && status == CLI_OK; d = d->next)
        status = write_results(d);
    if (status == CLI_OK && o->stats)
        run_print_stats(o->json, la_emu(la), stats, seconds);
    if (status == CLI_OK)
        status = run_timing_report(o, timed);
    return cli_finish(status);
}

/* A kernel that touches address 0: which of its arguments are null? One that leaves its
 * scratch: there may be more. */
static void explain(const struct run_options *o, const struct emu_fault *f, char *text,
                    size_t size)
{
    const char *head = "; null:";
    size_t length = strlen(text);
    if (f->kind == EMU_FAULT_SCRATCH_RANGE && f->address < KERNEL_MOST_STACK)
        (void)snprintf(text + length, size - length, "; --stack BYTES gives it more");
    if (f->kind != EMU_FAULT_UNMAPPED || f->address >= 0x10000)
        return;
    for (unsigned i = 0; i < o->k.n_args; i++) {
        const struct kernel_arg *a = &o->k.args[i];
        size_t used = strlen(text);
        if (a->is_buffer || a->bytes || a->n_bytes != 8 || a->value)
            continue;
        (void)snprintf(text + used, size - used, "%s argument %u", head, i);
        head = ",";
    }
}

/* The same; of several dispatches, say which has faulted. */
static void explain_all(const struct run_options *o, const struct tm_engine *timed,
                        const struct emu_fault *f, char *text, size_t size)
{
    unsigned number = timed ? tm_launch_last(timed) : 0;
    const struct run_options *faulty = o;
    for (unsigned k = number; k && faulty->next; k--)
        faulty = faulty->next;
    if (o->next) {
        size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "; dispatch %u, kernel %s", number,
                       faulty->k.name);
    }
    explain(faulty, f, text, size);
}

/* What became of the kernel, and its results. */
static int conclude(struct run_options *o, struct la *la, rd_status st,
                    const struct emu_fault *fault, struct tm_engine *timed,
                    const struct emu_stats *stats, double seconds)
{
    char text[1024];
    if (st != RD_OK && run_check_told(o))
        return CLI_FAILED;
    if (st == RD_E_FAULT) {
        emu_fault_text(fault, text, sizeof text);
        explain_all(o, timed, fault, text, sizeof text);
        return cli_error(CLI_FAILED, "%s", text);
    }
    if (st == RD_E_TIMEOUT)
        return cli_error(CLI_FAILED, "%s", run_ending_why(&o->ending));
    if (st == RD_E_RANGE && o->timing.parts && timed)
        return run_part_refused(o, timed);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "cannot run the kernel: %s", rd_status_text(st));
    return finish(o, la, timed, stats, seconds);
}

static FILE *print_to(const struct run_options *o)
{
    return o->json ? stderr : stdout;
}

/* What the kernel has printed, also if it did not come to its end. */
static void tell_printed(const struct run_options *o, struct la *la)
{
    uint32_t service;
    enum la_printed answered = la_answer_end(la, &service);
    enum la_printed printed = la_print(la, print_to(o));
    (void)fflush(print_to(o));
    if (printed != LA_PRINTED_ALL)
        fprintf(stderr, "warning: the buffer of printf %s: the rest is missing\n",
                printed == LA_PRINTED_FULL ? "is full" : "holds something else");
    if (answered != LA_PRINTED_ALL)
        fputs("warning: some of what the kernel printed is no message\n", stderr);
    if (service)
        fprintf(stderr,
                "warning: the kernel asked the host for service %u%s, which is there "
                "under rdna3 exec only\n",
                service,
                service == 1   ? " (a call of a function)"
                : service == 3 ? " (memory)"
                : service == 4 ? " (a sanitizer's report)"
                               : "");
}

static int dispatch(struct run_options *o, struct la *la, struct emu_dispatch *dispatch)
{
    struct emu_fault fault = {0};
    struct emu_stats stats = {0};
    struct tm_engine *timed = NULL;
    rd_status st = RD_OK;

    int status = run_check_begin(o, la);
    if (status == CLI_OK)
        status = run_trace_begin(o, la_emu(la));
    if (status != CLI_OK)
        return status;
    int window = CLI_OK;
    double start = cli_now();
    if (o->timing.on) {
        run_ending_timed(o, dispatch);
        status =
            run_timing(o, la_emu(la), dispatch, &fault, &stats, &timed, &st, &window);
        run_ending_timed_over(o);
    } else {
        run_ending_begin(o, dispatch);
        st = emu_run(la_emu(la), dispatch, &fault, &stats);
    }
    double seconds = cli_now() - start;
    tell_printed(o, la);
    int traced = run_trace_end(o, la_emu(la));
    if (status == CLI_OK)
        status = traced;
    if (status == CLI_OK || st != RD_OK)
        status = conclude(o, la, st, &fault, timed, &stats, seconds);
    status = run_ending_end(o, la_emu(la), dispatch, st, &fault, status);
    if (status == CLI_OK) /* a window that failed does not take the results along */
        status = window;
    tm_destroy(timed);
    return run_check_end(o, status);
}

static int launch(struct run_options *o, struct la *la, const void *code, size_t bytes)
{
    struct la_kernel kernel = {0};
    struct emu_dispatch d;
    int status = kernel_load(&o->k, la, code, bytes, &kernel, &d);
    if (status == CLI_OK)
        status = run_several_load(o, la, &kernel);
    if (status != CLI_OK)
        return status;
    if (la_answer_begin(la) != RD_OK)
        return cli_error(CLI_FAILED, "cannot start a thread for the kernel's calls");
    if (la_answers(la) && o->timing.sample_auto) /* it runs in several processes */
        return cli_error(CLI_FAILED, "--timing-sample auto: the kernel calls the host, "
                                     "which can answer it once only");
    o->timing.kernel = o->k.name;
    o->checks.object = (struct checks_object){.image = kernel.image_gpuva,
                                              .path = o->k.object_path,
                                              .data = code,
                                              .bytes = bytes};
    int fits = run_part_fits(&o->timing, &d);
    if (fits != CLI_OK)
        return fits;
    return o->timing.all_parts ? run_part_all(o, la_emu(la), &d) : dispatch(o, la, &d);
}

static int run(struct run_options *o)
{
    void *code;
    size_t bytes;
    struct la *la;
    struct la_error err;
    int status = kernel_read(&o->k, &code, &bytes);
    if (status != CLI_OK)
        return status;
#ifdef RDNA3_HAVE_RUNTIME
    if (o->device_kfd) {
        status = run_on_device(o, code, bytes);
        free(code);
        return status;
    }
#endif
    if (la_create(&o->k.config, &la, &err) != RD_OK) {
        free(code);
        return cli_error(CLI_FAILED, "%s", err.text);
    }
    status = la_answer(la, print_to(o)) == RD_OK
                 ? launch(o, la, code, bytes)
                 : cli_error(CLI_FAILED, "out of memory");
    la_destroy(la);
    free(code);
    return status;
}

int cmd_run(int argc, char **argv)
{
    struct run_options o = {.k = KERNEL_DEFAULTS, .checks.options = CHECKS_DEFAULTS};
    size_t room = (size_t)argc;
    bool helped = false;
    int status = kernel_options_begin(&o.k, argc);

    /* No option can be given more often than there are words. */
    o.outs = calloc(room, sizeof *o.outs);
    o.prints = calloc(room, sizeof *o.prints);
    if (status == CLI_OK && (!o.outs || !o.prints))
        status = cli_error(CLI_FAILED, "out of memory");
    if (status == CLI_OK)
        status = parse_options(&o, argc, argv, &helped);
    if (status == CLI_OK)
        status = helped ? cli_finish(CLI_OK) : run(&o);
    kernel_options_end(&o.k);
    run_several_free(&o);
    free(o.outs);
    free(o.prints);
    return status;
}
