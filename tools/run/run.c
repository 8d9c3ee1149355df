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
    "\n"
    "  --kernel NAME        kernel of the code object; not needed if it has only one\n"
    "  --raw TEXT.bin       bare code instead of a code object\n"
    "  --kd KD.bin          its 64-byte kernel descriptor. Without: kernarg pointer "
    "in\n"
    "                       s[0:1], workgroup id in s[2:4], packed work-item id in "
    "v0,\n"
    "                       256 VGPRs, no scratch, denormals kept\n"
    "  --entry-offset N     first instruction of bare code (default 0)\n"
    "  --wave 32|64         wave size of bare code without descriptor (default 32);\n"
    "                       elsewhere it must agree with the descriptor\n"
    "  --grid GX[,GY[,GZ]]  workgroups (default 1)\n"
    "  --block BX[,BY[,BZ]] work-items of a workgroup (default: what the kernel\n"
    "                       requires, or 1)\n"
    "  --dynamic-lds BYTES  LDS besides what the kernel declares\n"
    "  --arg KIND:VALUE     kernel arguments in order:\n"
    "      buf:SIZE[:zero | :file=PATH | :fill=BYTE | :iota=TYPE | :rand=TYPE,SEED]\n"
    "                       a buffer; SIZE takes K, M, G; default zero\n"
    "      file:PATH        a buffer with the size and contents of the file\n"
    "      i8..i64:V u8..u64:V f16:V f32:V f64:V   a number\n"
    "      bytes:HEX        bytes as they are; without metadata at the alignment of "
    "the\n"
    "                       largest power of two that divides their number, at most 8\n"
    "  --out N=PATH         write the buffer of argument N (from 0) afterwards\n"
    "  --print N:TYPE[:COUNT]  print elements of argument N; TYPE is i8..i64, "
    "u8..u64,\n"
    "                       f16, f32 or f64; default all\n"
    "  --device emu|kfd     run inside this program (default), or through /dev/kfd: "
    "on\n"
    "                       a real board, or on the mock of rdna3 exec\n"
    "  --threads N          host threads (default: one per CPU)\n"
    "  --seed N             order in which waves take turns\n"
    "  --engine auto|interp|jit  native code for what is hot (auto: where the host "
    "has\n"
    "                       AVX2), or the interpreter alone\n"
    "  --perf-map           name native code in /tmp/perf-PID.map, for perf report\n"
    "  --simd auto|generic|avx2|avx512   host vector instructions to use\n"
    "  --dots silicon|exact sums of float dot products and WMMA: as measured on\n"
    "                       silicon (default), where operands of opposite sign lose "
    "one\n"
    "                       unit of the summation grid, or with exact subtraction\n"
    "  --trace FILE         record every instruction (see rdna3 trace --help)\n"
    "  --trace-operands     and the operands, before and after: far bigger\n"
    "  --check LIST         look for mistakes while it runs: all, or some of mem, "
    "race,\n"
    "                       sync, wait with commas; findings go to stderr. With it:\n"
    "    --keep-going       do not end the run at the first\n"
    "    --race-lanes       work-items of one wave race, too: as languages have it\n"
    "    --error-exitcode N exit status if something is found (default 1)\n"
    "    --check-json FILE, --check-xml FILE, --check-sarif FILE   findings as JSON,\n"
    "                       JUnit's XML, SARIF (-: stdout)\n"
    "    --suppressions FILE  findings not to tell; --gen-suppressions FILE writes "
    "one\n"
    "    --watchdog N       instructions of a wave without a barrier that are a hang\n"
    "                       (default 134217728)\n"
    "  --timing             simulate cycles, print a summary. With it:\n"
    "    --sclk-mhz F       shader clock (default 2500)\n"
    "    --timing-json FILE waves, counters and times\n"
    "    --timing-insts all|none|se=I,sa=I,wgp=I,simd=I  issue times in the file\n"
    "    --timing-listing   what each instruction waited for\n"
    "    --timing-trace FILE  record a timeline (see rdna3 viz, rdna3 trace)\n"
    "    --viz              show it in a window while it runs; implies --timing\n"
    "    --timing-sample N|P%  simulate the first N workgroups or P percent of them "
    "(at\n"
    "                     least what the chip holds at once), estimate the rest\n"
    "    --timing-set P=V   change a parameter (see rdna3 info --timing)\n"
    "    --cu-mask H,H,H,H,H,H  enabled CUs of each shader engine\n"
    "    --first-se N       engine that gets workgroup 0\n"
    "    --warm LIST        what is there: translations (code-tlb, kernarg-tlb,\n"
    "                       data-tlb), buffers in the Infinity Cache (mall)\n"
    "    --fabric low|high  is the fabric to memory saving power? (default high)\n"
    "  --stats              print counts of workgroups, waves, instructions, opcodes\n"
    "  --json               with --stats: as JSON, with all opcodes\n"
    "\n"
    "A number is decimal or 0x hexadecimal. Faults end the run with exit status 1.\n";

enum {
    OPT_HELP = 256,
    OPT_KERNEL,
    OPT_RAW,
    OPT_KD,
    OPT_ENTRY,
    OPT_GRID,
    OPT_BLOCK,
    OPT_WAVE,
    OPT_DYNAMIC_LDS,
    OPT_ARG,
    OPT_OUT,
    OPT_PRINT,
    OPT_ENGINE,
    OPT_PERF_MAP,
    OPT_SIMD,
    OPT_THREADS,
    OPT_SEED,
    OPT_DOTS,
    OPT_STATS,
    OPT_JSON,
    OPT_TRACE,
    OPT_TRACE_OPERANDS,
    OPT_DEVICE
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"kernel", required_argument, NULL, OPT_KERNEL},
    {"raw", required_argument, NULL, OPT_RAW},
    {"kd", required_argument, NULL, OPT_KD},
    {"entry-offset", required_argument, NULL, OPT_ENTRY},
    {"grid", required_argument, NULL, OPT_GRID},
    {"block", required_argument, NULL, OPT_BLOCK},
    {"wave", required_argument, NULL, OPT_WAVE},
    {"dynamic-lds", required_argument, NULL, OPT_DYNAMIC_LDS},
    {"arg", required_argument, NULL, OPT_ARG},
    {"out", required_argument, NULL, OPT_OUT},
    {"print", required_argument, NULL, OPT_PRINT},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"perf-map", no_argument, NULL, OPT_PERF_MAP},
    {"simd", required_argument, NULL, OPT_SIMD},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"seed", required_argument, NULL, OPT_SEED},
    {"dots", required_argument, NULL, OPT_DOTS},
    {"stats", no_argument, NULL, OPT_STATS},
    {"json", no_argument, NULL, OPT_JSON},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"trace-operands", no_argument, NULL, OPT_TRACE_OPERANDS},
    {"check", required_argument, NULL, CHECKS_OPT_LIST},
    {"keep-going", no_argument, NULL, CHECKS_OPT_KEEP_GOING},
    {"race-lanes", no_argument, NULL, CHECKS_OPT_LANES},
    {"error-exitcode", required_argument, NULL, CHECKS_OPT_ERROR_EXIT},
    {"watchdog", required_argument, NULL, CHECKS_OPT_WATCHDOG},
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
    {"timing-set", required_argument, NULL, RUN_OPT_TIMING_SET},
    {"timing-listing", no_argument, NULL, RUN_OPT_TIMING_LISTING},
    {"timing-trace", required_argument, NULL, RUN_OPT_TIMING_TRACE},
    {"viz", no_argument, NULL, RUN_OPT_VIZ},
    {"cu-mask", required_argument, NULL, RUN_OPT_CU_MASK},
    {"first-se", required_argument, NULL, RUN_OPT_FIRST_SE},
    {"warm", required_argument, NULL, RUN_OPT_WARM},
    {"fabric", required_argument, NULL, RUN_OPT_FABRIC},
    {NULL, 0, NULL, 0},
};

static int bad_value(const char *name, rd_status st)
{
    return cli_error(CLI_USAGE, "--%s '%s': %s", name, optarg,
                     st == RD_E_RANGE ? "out of range" : "not a number");
}

static int parse_bounded(const char *name, uint64_t max, uint64_t *out)
{
    rd_status st = cli_parse_u64(optarg, out);
    if (st == RD_OK && *out > max)
        st = RD_E_RANGE;
    return st == RD_OK ? CLI_OK : bad_value(name, st);
}

static int parse_engine(struct run_options *o)
{
    static const char *const names[] = {"auto", "interp", "jit"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(optarg, names[i]) == 0) {
            o->config.engine = (enum emu_engine)i;
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

static int parse_dots(struct run_options *o)
{
    bool exact = strcmp(optarg, "exact") == 0;
    if (!exact && strcmp(optarg, "silicon") != 0)
        return cli_error(CLI_USAGE, "--dots '%s': silicon or exact", optarg);
    o->config.exact_dots = exact;
    return CLI_OK;
}

static int parse_simd(struct run_options *o)
{
    static const char *const names[] = {"auto", "generic", "avx2", "avx512"};
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(optarg, names[i]) == 0) {
            o->config.simd = (enum emu_simd)i;
            return CLI_OK;
        }
    }
    return cli_error(CLI_USAGE, "--simd '%s': auto, generic, avx2 or avx512", optarg);
}

/* Options with a numeric value. */
static int take_number(struct run_options *o, int option, const char *name)
{
    uint64_t value = 0;
    int status = CLI_OK;
    rd_status st = RD_OK;
    switch (option) {
    case OPT_GRID:
        st = cli_parse_dims(optarg, o->shape.groups);
        break;
    case OPT_BLOCK:
        o->have_block = true;
        st = cli_parse_dims(optarg, o->shape.block);
        break;
    case OPT_ENTRY:
        status = parse_bounded(name, UINT64_MAX, &o->entry);
        break;
    case OPT_WAVE:
        status = parse_bounded(name, 64, &value);
        if (status == CLI_OK && value != 32 && value != 64)
            status = cli_error(CLI_USAGE, "--wave '%s': 32 or 64", optarg);
        o->wave = (unsigned)value;
        break;
    case OPT_DYNAMIC_LDS:
        st = cli_parse_size(optarg, &value);
        st = st == RD_OK && value > 65536 ? RD_E_RANGE : st;
        o->shape.dynamic_lds_bytes = (uint32_t)value;
        break;
    case OPT_THREADS:
        status = parse_bounded(name, 1024, &value);
        o->config.threads = (unsigned)value;
        break;
    default: /* OPT_SEED */
        status = parse_bounded(name, UINT64_MAX, &o->config.seed);
        break;
    }
    return st != RD_OK ? bad_value(name, st) : status;
}

static int take_option(struct run_options *o, int option, const char *name)
{
    switch (option) {
    case OPT_KERNEL:
        o->kernel = optarg;
        return CLI_OK;
    case OPT_RAW:
        o->raw_path = optarg;
        return CLI_OK;
    case OPT_KD:
        o->kd_path = optarg;
        return CLI_OK;
    case OPT_ARG:
        return run_parse_arg(optarg, &o->args[o->n_args++]);
    case OPT_OUT:
        return run_parse_out(optarg, &o->outs[o->n_outs++]);
    case OPT_PRINT:
        return run_parse_print(optarg, &o->prints[o->n_prints++]);
    case OPT_ENGINE:
        return parse_engine(o);
    case OPT_PERF_MAP:
        o->config.perf_map = true;
        return CLI_OK;
    case OPT_SIMD:
        return parse_simd(o);
    case OPT_DOTS:
        return parse_dots(o);
    case OPT_DEVICE:
        return parse_device(o);
    case OPT_STATS:
        o->stats = o->config.count = true;
        return CLI_OK;
    case OPT_JSON:
        o->json = true;
        return CLI_OK;
    case OPT_TRACE:
        o->trace_path = optarg;
        return CLI_OK;
    case OPT_TRACE_OPERANDS:
        o->trace_operands = true;
        return CLI_OK;
    default:
        if (option >= RUN_OPT_TIMING && option <= RUN_OPT_TIMING_LAST)
            return run_timing_option(&o->timing, option, name, optarg);
        if (option >= CHECKS_OPT_LIST && option <= CHECKS_OPT_LAST)
            return checks_option(&o->checks.options, option, name, optarg);
        return take_number(o, option, name);
    }
}

static int check_options(struct run_options *o, int argc, char **argv)
{
    if (optind < argc)
        o->object_path = argv[optind++];
    if (optind < argc)
        return cli_error(CLI_USAGE, "unexpected '%s'", argv[optind]);
    if (!o->object_path && !o->raw_path)
        return cli_error(CLI_USAGE, "no code object given (see rdna3 run --help)");
    if (o->object_path && o->raw_path)
        return cli_error(CLI_USAGE, "both a code object ('%s') and --raw given",
                         o->object_path);
    if (o->object_path && (o->kd_path || o->entry))
        return cli_error(CLI_USAGE, "--%s goes with --raw",
                         o->kd_path ? "kd" : "entry-offset");
    if (o->raw_path && o->kernel)
        return cli_error(CLI_USAGE, "--kernel goes with a code object, not with --raw");
    if (o->trace_operands && !o->trace_path)
        return cli_error(CLI_USAGE, "--trace-operands goes with --trace FILE");
    if (o->json && (!o->stats || o->n_prints || o->timing.on || o->device_kfd))
        return cli_error(CLI_USAGE, "--json goes with --stats, and without --print, "
                                    "--timing (see --timing-json) and --device kfd");
    if (o->device_kfd && (o->trace_path || o->timing.on || o->timing.used))
        return cli_error(CLI_USAGE, "--%s goes with --device emu only",
                         o->trace_path ? "trace" : "timing");
    if (o->device_kfd && o->raw_path && !o->kd_path)
        return cli_error(CLI_USAGE, "--device kfd needs --kd with --raw");
    int status = run_timing_check(&o->timing);
    if (status == CLI_OK)
        status = run_check_options(o);
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
            return cli_option_error(argc, argv, option);
        int status = take_option(o, option, long_options[index].name);
        if (status != CLI_OK)
            return status;
    }
    return check_options(o, argc, argv);
}

static int read_input(const char *path, void **data, size_t *bytes)
{
    rd_status st = cli_read_file(path, data, bytes);
    if (st == RD_OK)
        return CLI_OK;
    return cli_error(CLI_FAILED, "cannot read '%s': %s", path,
                     st == RD_E_IO ? strerror(errno) : rd_status_text(st));
}

static int load_raw(const struct run_options *o, struct la *la, const void *code,
                    size_t bytes, struct la_kernel *kernel)
{
    void *kd = NULL;
    size_t kd_bytes = 0;
    struct la_error err;
    if (o->kd_path) {
        int status = read_input(o->kd_path, &kd, &kd_bytes);
        if (status != CLI_OK)
            return status;
        if (kd_bytes != CO_KD_BYTES) {
            free(kd);
            return cli_error(CLI_FAILED,
                             "'%s': a kernel descriptor has %d bytes, this file %zu",
                             o->kd_path, CO_KD_BYTES, kd_bytes);
        }
    }
    rd_status st = la_load_raw(la, code, bytes, kd, o->wave, o->entry, kernel, &err);
    free(kd);
    return st == RD_OK ? CLI_OK
                       : cli_error(CLI_FAILED, "'%s': %s", o->raw_path, err.text);
}

static int load_code(const struct run_options *o, struct la *la, const void *code,
                     size_t bytes, struct la_kernel *kernel)
{
    struct la_error err;
    if (o->raw_path)
        return load_raw(o, la, code, bytes, kernel);
    if (la_load_object(la, code, bytes, o->kernel, kernel, &err) != RD_OK)
        return cli_error(CLI_FAILED, "'%s': %s", o->object_path, err.text);
    if (o->wave && o->wave != kernel->desc.wave)
        return cli_error(CLI_FAILED, "--wave %u: kernel %s is of wave%u", o->wave,
                         kernel->name, kernel->desc.wave);
    return CLI_OK;
}

/* Results, once the kernel has run to its end. */
static int finish(struct run_options *o, struct la *la, struct tm_engine *timed,
                  const struct emu_stats *stats, double seconds)
{
    int status = run_write_outputs(o);
    if (status == CLI_OK)
        status = run_print_elements(o);
    if (status == CLI_OK && o->stats)
        run_print_stats(o->json, la_emu(la), stats, seconds);
    if (status == CLI_OK)
        status = run_timing_report(o, timed);
    return cli_finish(status);
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
        return cli_error(CLI_FAILED, "%s", text);
    }
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "cannot run the kernel: %s", rd_status_text(st));
    return finish(o, la, timed, stats, seconds);
}

static int dispatch(struct run_options *o, struct la *la,
                    const struct emu_dispatch *dispatch)
{
    struct emu_fault fault = {0};
    struct emu_stats stats = {0};
    struct tm_engine *timed = NULL;
    rd_status st = RD_OK;

    int status = run_check_begin(o, la_emu(la));
    if (status == CLI_OK)
        status = run_trace_begin(o, la_emu(la));
    if (status != CLI_OK)
        return status;
    int window = CLI_OK;
    double start = cli_now();
    if (o->timing.on)
        status =
            run_timing(o, la_emu(la), dispatch, &fault, &stats, &timed, &st, &window);
    else
        st = emu_run(la_emu(la), dispatch, &fault, &stats);
    double seconds = cli_now() - start;
    int traced = run_trace_end(o, la_emu(la));
    if (status == CLI_OK)
        status = traced;
    if (status == CLI_OK || st != RD_OK)
        status = conclude(o, la, st, &fault, timed, &stats, seconds);
    if (status == CLI_OK) /* a window that failed does not take the results along */
        status = window;
    tm_destroy(timed);
    return run_check_end(o, status);
}

static int alloc_in_la(void *ctx, uint64_t bytes, const char *name, void **out)
{
    struct la_error err;
    if (la_alloc(ctx, bytes, EMU_MEM_READ | EMU_MEM_WRITE, name, out, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    return CLI_OK;
}

/* The last part of a path. */
static const char *path_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static int launch(struct run_options *o, struct la *la, const void *code, size_t bytes)
{
    struct la_kernel kernel = {0};
    struct emu_dispatch d;
    struct la_error err;
    int status = load_code(o, la, code, bytes, &kernel);
    if (status != CLI_OK)
        return status;
    o->timing.kernel =
        o->raw_path || !kernel.name ? path_name(o->raw_path) : kernel.name;
    o->meta = kernel.meta;
    o->checks.object = (struct checks_object){.image = kernel.image_gpuva,
                                              .path = o->object_path,
                                              .data = code,
                                              .bytes = bytes};
    if (!o->have_block && kernel.meta && kernel.meta->reqd_workgroup_size[0])
        memcpy(o->shape.block, kernel.meta->reqd_workgroup_size, sizeof o->shape.block);

    struct la_arg *list = calloc(o->n_args + 1, sizeof *list);
    if (!list)
        return cli_error(CLI_FAILED, "out of memory");
    status = run_make_buffers(o, alloc_in_la, la, list);
    if (status == CLI_OK &&
        la_prepare(la, &kernel, &o->shape, list, o->n_args, &d, &err) != RD_OK)
        status = cli_error(CLI_FAILED, "%s", err.text);
    free(list);
    return status == CLI_OK ? dispatch(o, la, &d) : status;
}

static int run(struct run_options *o)
{
    void *code;
    size_t bytes;
    struct la *la;
    struct la_error err;
    const char *path = o->raw_path ? o->raw_path : o->object_path;
    int status = read_input(path, &code, &bytes);
    if (status != CLI_OK)
        return status;
#ifdef RDNA3_HAVE_RUNTIME
    if (o->device_kfd) {
        status = run_on_device(o, code, bytes);
        free(code);
        return status;
    }
#endif
    if (la_create(&o->config, &la, &err) != RD_OK) {
        free(code);
        return cli_error(CLI_FAILED, "%s", err.text);
    }
    status = launch(o, la, code, bytes);
    la_destroy(la);
    free(code);
    return status;
}

int cmd_run(int argc, char **argv)
{
    struct run_options o = {.shape = {.groups = {1, 1, 1}, .block = {1, 1, 1}},
                            .checks.options = CHECKS_DEFAULTS};
    size_t room = (size_t)argc;
    bool helped = false;
    int status = CLI_FAILED;

    /* No option can be given more often than there are words. */
    o.args = calloc(room, sizeof *o.args);
    o.outs = calloc(room, sizeof *o.outs);
    o.prints = calloc(room, sizeof *o.prints);
    if (!o.args || !o.outs || !o.prints)
        status = cli_error(CLI_FAILED, "out of memory");
    else
        status = parse_options(&o, argc, argv, &helped);
    if (status == CLI_OK)
        status = helped ? cli_finish(CLI_OK) : run(&o);
    if (o.args)
        run_free_args(&o);
    free(o.args);
    free(o.outs);
    free(o.prints);
    return status;
}
