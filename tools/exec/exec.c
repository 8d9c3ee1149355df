/* exec.c: rdna3 exec: run a program with the mock GPU visible to it.
 *
 * Options, and what is told when the program has ended. Must not know ioctls or queues.
 * The exit status is the program's.
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "cmd.h"
#include "board.h"
#include "checked.h"
#include "execute.h"
#include "postmortem.h"
#include "reports.h"
#include "stats_json.h"
#include "replay.h"
#include "config.h"
#include "emu.h"
#include "isa.h"
#include "kernels.h"
#include "shared.h"
#include "state.h"
#include "timeline.h"
#include "viz.h"

static const char help[] =
    "usage: rdna3 exec [OPTION...] -- COMMAND [ARG...]\n"
    "       rdna3 exec --replay FILE\n"
    "\n"
    "Runs an unmodified program with the mock gfx1100 visible as /dev/kfd,\n"
    "/dev/dri/renderD128 and their files in /sys. The exit status is the program's. "
    "Of\n"
    "kernels that fault, and at SIGINT of those that run, it tells source lines and\n"
    "inlined calls, where they were compiled with -g.\n"
    "\n"
    "  --log FILE     append one line per ioctl\n"
    "  --replay FILE  no COMMAND: issue the ioctls of a log again and compare\n"
    "  --stats        print counters per process at exit\n"
    "  --json FILE    write the same counters to FILE as JSON\n"
    "  --opcodes      print which instructions ran, most frequent first, and which of\n"
    "                 them native code left to functions (slower)\n"
    "  --engine auto|interp|jit  native code for what is hot, or the interpreter "
    "alone\n"
    "  --simd auto|generic|avx2|avx512   host vector instructions to use\n"
    "  --threads N    host threads for workgroups (default: one per CPU)\n"
    "  --perf-map     name native code in /tmp/perf-PID.map, for perf report\n"
    "  --no-execute   complete every dispatch without running it\n"
    "  --timing       run kernels under the timing model (slow); the device's clock "
    "and\n"
    "                 all timestamps then show model time; at exit a table "
    "of\n"
    "                 the kernels and their time\n"
    "    --timing-trace FILE  record a timeline of the dispatches (see rdna3 viz)\n"
    "    --sclk-mhz F   shader clock (default 2482, the board's)\n"
    "  --viz          --timing, and show the dispatches in a window while they run\n"
    "  --vram SIZE    bytes of video memory (suffix K, M, G)\n"
    "  --emu-mode N   amdgpu's parameter of that name (default 1, an emulated chip:\n"
    "                 ROCm's own tests then leave out what takes long; 0: a board)\n"
    "  --core FILE    if a kernel faults, or SIGINT comes while one runs, write what "
    "its\n"
    "                 waves stood at, and memory (see rdna3 debug --core)\n"
    "  --code FILE    a code object that the program loads, for source lines of "
    "faults\n"
    "                 (what it gives to ROCr, as HIP and OpenCL do, is known)\n"
    "  --root DIR     run inside DIR as root directory\n"
    "  --no-namespace mount nothing: only the preloaded library shows the files\n"
    "  --preload LIB  the driver library (default: beside this program)\n"
    "  --keep         keep the state folder and print its name\n";

struct options {
    struct exec_options how;
    struct reports reports;
    const char *replay;
    const char *timeline; /* --timing-trace */
    const char *json;     /* of the counters */
    bool stats, opcodes, keep, timing, viz;
    struct checked *check; /* of rdna3 check, else NULL */
};

enum {
    OPT_LOG = 256,
    OPT_REPLAY,
    OPT_STATS,
    OPT_JSON,
    OPT_OPCODES,
    OPT_ENGINE,
    OPT_SIMD,
    OPT_THREADS,
    OPT_PERF_MAP,
    OPT_NO_EXEC,
    OPT_VRAM,
    OPT_EMU_MODE,
    OPT_ROOT,
    OPT_PRELOAD,
    OPT_KEEP,
    OPT_TIMING,
    OPT_TIMELINE,
    OPT_VIZ,
    OPT_SCLK,
    OPT_CORE,
    OPT_CODE,
    OPT_HELP,
    OPT_NO_NS
};

static const struct option long_options[] = {
    {"log", required_argument, NULL, OPT_LOG},
    {"replay", required_argument, NULL, OPT_REPLAY},
    {"stats", no_argument, NULL, OPT_STATS},
    {"json", required_argument, NULL, OPT_JSON},
    {"opcodes", no_argument, NULL, OPT_OPCODES},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"simd", required_argument, NULL, OPT_SIMD},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"perf-map", no_argument, NULL, OPT_PERF_MAP},
    {"no-execute", no_argument, NULL, OPT_NO_EXEC},
    {"timing", no_argument, NULL, OPT_TIMING},
    {"timing-trace", required_argument, NULL, OPT_TIMELINE},
    {"viz", no_argument, NULL, OPT_VIZ},
    {"sclk-mhz", required_argument, NULL, OPT_SCLK},
    {"vram", required_argument, NULL, OPT_VRAM},
    {"emu-mode", required_argument, NULL, OPT_EMU_MODE},
    {"root", required_argument, NULL, OPT_ROOT},
    {"preload", required_argument, NULL, OPT_PRELOAD},
    {"core", required_argument, NULL, OPT_CORE},
    {"code", required_argument, NULL, OPT_CODE},
    {"keep", no_argument, NULL, OPT_KEEP},
    {"no-namespace", no_argument, NULL, OPT_NO_NS},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static bool parse_clock(const char *text, double *mhz)
{
    char *end;
    *mhz = strtod(text, &end);
    return end != text && !*end && isfinite(*mhz) && *mhz >= 1 && *mhz <= 1e5;
}

static bool parse_engine(const char *text, unsigned *engine)
{
    static const char *const names[] = {"auto", "interp", "jit"};
    for (*engine = 0; *engine < 3; ++*engine)
        if (!strcmp(text, names[*engine]))
            return true;
    return false;
}

/* A level that this host has; prints the error. */
static int parse_simd(const char *text, unsigned *simd)
{
    static const char *const names[] = {"auto", "generic", "avx2", "avx512"};
    unsigned i = 0;
    while (i < 4 && strcmp(text, names[i]) != 0)
        i++;
    if (i == 4)
        return cli_error(CLI_USAGE, "--simd '%s': auto, generic, avx2 or avx512", text);
    struct emu_config config = {.threads = 1, .simd = (enum emu_simd)i};
    struct emu *emu;
    if (emu_create(&config, &emu) != RD_OK)
        return cli_error(CLI_FAILED, "--simd %s: this host has no such instructions",
                         text);
    emu_destroy(emu);
    *simd = i;
    return CLI_OK;
}

static int parse_threads(const char *text, unsigned *threads)
{
    uint64_t value;
    if (cli_parse_u64(text, &value) != RD_OK || value > 1024)
        return cli_error(CLI_USAGE, "--threads '%s': a number up to 1024", text);
    *threads = (unsigned)value;
    return CLI_OK;
}

int exec_vram(const char *text, uint64_t *bytes)
{
    uint64_t value;
    if (cli_parse_size(text, &value) != RD_OK || value < 16u << 20)
        return cli_error(CLI_USAGE, "--vram: '%s' is no size of at least 16M", text);
    *bytes = value;
    return CLI_OK;
}

int exec_emu_mode(const char *text, const char **mode)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return cli_error(CLI_USAGE, "--emu-mode '%s': 0 or 1", text);
    *mode = text;
    return CLI_OK;
}

/* Which options go together. -1 to go on, else an exit status. */
static int check_options(const struct options *o, bool command)
{
    if (o->timeline && !o->timing)
        return cli_error(CLI_USAGE, "--timing-trace goes with --timing");
    if (o->how.sclk_mhz > 0 && !o->timing)
        return cli_error(CLI_USAGE, "--sclk-mhz goes with --timing");
    if (o->replay && command)
        return cli_error(CLI_USAGE, "--replay runs no command");
    if (o->replay)
        return replay_run(o->replay);
    if (!command)
        return cli_error(CLI_USAGE, "exec: no command given");
    return -1;
}

/* Those that are a name of something. False: it is none of them. */
static bool take_name(struct options *o, int option, const char *text)
{
    const char **to = option == OPT_LOG        ? &o->how.log
                      : option == OPT_REPLAY   ? &o->replay
                      : option == OPT_TIMELINE ? &o->timeline
                      : option == OPT_ROOT     ? &o->how.root
                      : option == OPT_PRELOAD  ? &o->how.preload
                      : option == OPT_CORE     ? &o->reports.core
                      : option == OPT_JSON     ? &o->json
                                               : NULL;
    if (to)
        *to = text;
    return to != NULL;
}

/* -1 to go on, else an exit status. */
static int parse(int argc, char **argv, struct options *o)
{
    *o = (struct options){.how = {.vram = BOARD_VRAM_BYTES}};
    opterr = 0;
    optind = 1;
    int c;
    while ((c = getopt_long(argc, argv, "+:h", long_options, NULL)) != -1) {
        if (optarg == argv[optind - 1] && strcmp(optarg, "--") == 0) /* the command */
            return cli_error(CLI_USAGE, "option '%s' needs a value", argv[optind - 2]);
        if (take_name(o, c, optarg))
            continue;
        switch (c) {
        case OPT_STATS:
            o->stats = true;
            break;
        case OPT_OPCODES:
            o->opcodes = true;
            break;
        case OPT_PERF_MAP:
            o->how.perf_map = true;
            break;
        case OPT_SIMD:
        case OPT_THREADS: {
            int status = c == OPT_SIMD ? parse_simd(optarg, &o->how.simd)
                                       : parse_threads(optarg, &o->how.threads);
            if (status != CLI_OK)
                return status;
            break;
        }
        case OPT_ENGINE:
            if (!parse_engine(optarg, &o->how.engine))
                return cli_error(CLI_USAGE, "--engine '%s': auto, interp or jit",
                                 optarg);
            break;
        case OPT_NO_EXEC:
            o->how.no_execute = true;
            break;
        case OPT_TIMING:
            o->timing = true;
            break;
        case OPT_VIZ:
            o->viz = o->timing = true;
            break;
        case OPT_SCLK:
            if (!parse_clock(optarg, &o->how.sclk_mhz))
                return cli_error(CLI_USAGE, "--sclk-mhz '%s': not a clock", optarg);
            break;
        case OPT_VRAM:
            if (exec_vram(optarg, &o->how.vram) != CLI_OK)
                return CLI_USAGE;
            break;
        case OPT_EMU_MODE:
            if (exec_emu_mode(optarg, &o->how.emu_mode) != CLI_OK)
                return CLI_USAGE;
            break;
        case OPT_CODE:
            if (objects_add(&o->reports.objects, "--code", optarg) != CLI_OK)
                return CLI_FAILED;
            break;
        case OPT_KEEP:
            o->keep = true;
            break;
        case OPT_NO_NS:
            o->how.no_namespace = true;
            break;
        case OPT_HELP:
        case 'h':
            fputs(help, stdout);
            return cli_finish(CLI_OK);
        default:
            return cli_option_error(argc, argv, c, long_options);
        }
    }
    return check_options(o, optind < argc);
}

/* What the process did with registers that nobody models. */
static void print_registers(int32_t pid, const struct gpu_counters *c)
{
    for (unsigned i = 0; i < GPU_REG_COUNTS && atomic_load(&c->registers[i].key); i++) {
        const struct gpu_reg_count *r = &c->registers[i];
        char name[80];
        gpu_register_text(atomic_load(&r->key) - 1, name, sizeof(name));
        fprintf(stderr,
                "rdna3: pid %" PRId32 ": register %s, not modelled: %" PRIu32
                " reads, %" PRIu32 " writes, %" PRIu32 " waits\n",
                pid, name, atomic_load(&r->uses[GPU_REG_READ]),
                atomic_load(&r->uses[GPU_REG_WRITTEN]),
                atomic_load(&r->uses[GPU_REG_WAITED]));
    }
    if (atomic_load(&c->more_registers))
        fprintf(stderr, "rdna3: pid %" PRId32 ": %" PRIu64 " uses of further ones\n",
                pid, atomic_load(&c->more_registers));
}

static void print_native(int32_t pid, const struct gpu_counters *c)
{
    if (atomic_load(&c->native_blocks))
        fprintf(stderr,
                "rdna3: pid %" PRId32 ": native code: %" PRIu64 " bytes for %" PRIu64
                " instructions in %" PRIu64 " blocks, %.0f us to make\n",
                pid, atomic_load(&c->native_bytes),
                atomic_load(&c->native_instructions), atomic_load(&c->native_blocks),
                1e-3 * (double)atomic_load(&c->native_ns));
}

static void print_stats(const struct options *o, const struct gshared *shared)
{
    for (unsigned i = 0; i < GSHARED_PROCS && atomic_load(&shared->procs[i].pid); i++) {
        const struct gshared_proc *p = &shared->procs[i];
        fprintf(stderr,
                "rdna3: pid %" PRId32 " (%s): %" PRIu64 " dispatches (%" PRIu64
                " skipped), %" PRIu64 " workgroups, %" PRIu64 " waves, %" PRIu64
                " instructions, %" PRIu64 " faults, %" PRIu64 " copies (%" PRIu64
                " bytes), %" PRIu64 " ioctls (%" PRIu64 " refused)\n",
                atomic_load(&p->pid), p->comm, atomic_load(&p->gpu.dispatches),
                atomic_load(&p->gpu.skipped), atomic_load(&p->gpu.workgroups),
                atomic_load(&p->gpu.waves), atomic_load(&p->gpu.instructions),
                atomic_load(&p->gpu.faults), atomic_load(&p->gpu.copies),
                atomic_load(&p->gpu.copy_bytes), atomic_load(&p->ioctls),
                atomic_load(&p->refused));
        print_native(atomic_load(&p->pid), &p->gpu);
        print_registers(atomic_load(&p->pid), &p->gpu);
        if (o->timing)
            fprintf(stderr, "rdna3: pid %" PRId32 ": %.2f us in kernels by the model\n",
                    atomic_load(&p->pid),
                    (double)atomic_load(&p->gpu.model_ticks) * 1e6 / BOARD_CLOCK_HZ);
    }
}

/* What the chip hides: told at the end in any case, since results may be wrong. */
static void print_lds_beyond(const struct gshared *shared)
{
    for (unsigned i = 0; i < GSHARED_PROCS && atomic_load(&shared->procs[i].pid); i++) {
        const struct gshared_proc *p = &shared->procs[i];
        uint64_t beyond = atomic_load(&p->gpu.lds_beyond);
        if (beyond)
            fprintf(stderr,
                    "rdna3: pid %" PRId32 ": %" PRIu64
                    " workgroups read or wrote beyond their LDS (rdna3 check tells "
                    "where)\n",
                    atomic_load(&p->pid), beyond);
    }
}

struct opcode_count {
    uint64_t count;
    unsigned op;
};

/* Most frequent first; equal ones in table order. */
static int by_count(const void *a, const void *b)
{
    const struct opcode_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* The counts that are not 0, sorted; returns how many. */
static size_t sorted_counts(const _Atomic uint64_t counts[GPU_OPCODES],
                            struct opcode_count rows[GPU_OPCODES], double *total)
{
    size_t n = 0;
    *total = 0;
    for (unsigned op = 0; op < isa_op_count() && op < GPU_OPCODES; op++) {
        uint64_t count = atomic_load(&counts[op]);
        if (count)
            rows[n++] = (struct opcode_count){count, op};
        *total += (double)count;
    }
    qsort(rows, n, sizeof(*rows), by_count);
    return n;
}

/* What all processes have executed, and what of it native code left to functions. */
static void print_opcodes(const struct gshared *shared)
{
    static struct opcode_count rows[GPU_OPCODES];
    double total, handled;
    size_t n = sorted_counts(shared->opcodes.executed, rows, &total);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "rdna3: %-28s %14" PRIu64 " %6.2f%%\n", isa_op_name(rows[i].op),
                rows[i].count, 100.0 * (double)rows[i].count / total);
    n = sorted_counts(shared->opcodes.handled, rows, &handled);
    if (n)
        fprintf(stderr, "rdna3: native code left to handlers %.0f of them:\n", handled);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "rdna3:   %-28s %14" PRIu64 "\n", isa_op_name(rows[i].op),
                rows[i].count);
}

/* What the timeline does not show. */
static void print_unrecorded(const struct gshared *shared)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < GSHARED_PROCS && atomic_load(&shared->procs[i].pid); i++)
        n += atomic_load(&shared->procs[i].gpu.unrecorded);
    if (n)
        fprintf(stderr,
                "rdna3: %" PRIu64 " dispatches that ran beside a recorded one, or of "
                "which the program took a thread trace, are not in the timeline\n",
                n);
}

/* An empty timeline, and the window that shows it grow. */
static bool open_timeline(const struct options *o, const struct state *state,
                          struct viz_live *live, char *path)
{
    snprintf(path, PATH_MAX, "%s/" GSHARED_TIMELINE, state->dir);
    if (o->viz)
        return viz_live_start(live, path, NULL);
    FILE *f = o->timeline ? fopen(path, "we") : NULL;
    if (o->timeline && (!f || fclose(f) != 0)) {
        cli_error(0, "--timing-trace: %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

/* What was recorded goes to the file; the window closes when the user wants. */
static int close_timeline(const struct options *o, struct viz_live *live,
                          const char *path)
{
    struct tl_error err;
    void *data;
    size_t bytes;
    int status = CLI_OK;
    if (!o->viz && !o->timeline)
        return CLI_OK;
    if (tl_finish(path, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    if (o->timeline && cli_read_file(path, &data, &bytes) == RD_OK) {
        if (cli_write_file(o->timeline, data, bytes) != RD_OK)
            status = cli_error(CLI_FAILED, "--timing-trace %s: %s", o->timeline,
                               strerror(errno));
        free(data);
    }
    if (live->child > 0 && viz_live_finish(live) != CLI_OK)
        status = CLI_FAILED;
    return status;
}

static bool open_findings(const struct options *o, const struct state *state)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/" GSHARED_FINDINGS, state->dir);
    return !o->check || checked_begin(o->check, path) == CLI_OK;
}

static int close_findings(const struct options *o, const struct state *state,
                          int status, bool began)
{
    return o->check ? checked_end(o->check, state->dir, status, began) : status;
}

/* Everything that is told of the program besides its own words. */
static int tell(const struct options *o, struct execution *l, int status)
{
    print_unrecorded(l->state.shared);
    if (!o->check)
        print_lds_beyond(l->state.shared);
    if (o->timing)
        kernels_print(stderr, &l->state.shared->kernels);
    if (o->stats)
        print_stats(o, l->state.shared);
    if (o->opcodes)
        print_opcodes(l->state.shared);
    int written = o->json ? stats_json(o->json, l->state.shared, o->timing) : CLI_OK;
    return status == CLI_OK ? written : status;
}

static int run(struct options *o, char **argv)
{
    struct execution l;
    struct viz_live live = {.child = 0};
    char timeline[PATH_MAX];
    o->how.opcodes = o->opcodes;
    o->how.timing = o->timing;
    o->how.record = o->viz || o->timeline;
    o->how.checked = o->check != NULL;
    o->how.whole_core = o->reports.core != NULL;
    int status = postmortem_can_write(o->reports.core);
    if (status == CLI_OK)
        status = exec_prepare(&l, &o->how);
    if (status != CLI_OK)
        return status;
    if (!open_findings(o, &l.state) || !open_timeline(o, &l.state, &live, timeline) ||
        !reports_begin(&o->reports, l.state.dir)) {
        state_remove(&l.state);
        return CLI_FAILED;
    }
    bool began = false;
    status = exec_start(&l, &o->how, argv);
    if (status == CLI_OK)
        status = exec_wait(&l, &began);
    int recorded = close_timeline(o, &live, timeline);
    int reported = reports_end(&o->reports);
    if (status == CLI_OK)
        status = recorded != CLI_OK ? recorded : reported;
    status = tell(o, &l, status);
    status = close_findings(o, &l.state, status, began);
    exec_end(&l, &o->how, o->keep);
    return status;
}

int exec_checked(struct checked *c, char **argv)
{
    struct options o = {.how = {.vram = c->vram ? c->vram : BOARD_VRAM_BYTES,
                                .root = c->root,
                                .emu_mode = c->emu_mode},
                        .check = c};
    int status = run(&o, argv);
    reports_free(&o.reports);
    return status;
}

int cmd_exec(int argc, char **argv)
{
    struct options o;
    int early = parse(argc, argv, &o);
    int status = early >= 0 ? early : run(&o, argv + optind);
    reports_free(&o.reports);
    return status;
}
