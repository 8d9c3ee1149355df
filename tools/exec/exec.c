/* exec.c: rdna3 exec: run a program with the mock GPU visible to it.
 *
 * Builds the state folder (device files, sysfs tree, shared counters), preloads the
 * driver library into the program, and removes the folder when the program has ended.
 * Must not know ioctls or queues. The exit status is the program's.
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
#include "replay.h"
#include "config.h"
#include "isa.h"
#include "shared.h"
#include "state.h"
#include "timeline.h"
#include "viz.h"

static const char help[] =
    "usage: rdna3 exec [OPTION...] -- COMMAND [ARG...]\n"
    "       rdna3 exec --replay FILE\n"
    "\n"
    "Runs an unmodified program with the mock gfx1100 visible as /dev/kfd,\n"
    "/dev/dri/renderD128 and their files in /sys. The exit status is the program's.\n"
    "\n"
    "  --log FILE     append one line per ioctl\n"
    "  --replay FILE  no COMMAND: issue the ioctls of a log again and compare\n"
    "  --stats        print counters per process at exit\n"
    "  --opcodes      print which instructions ran, most frequent first, and which of\n"
    "                 them native code left to functions (slower)\n"
    "  --engine auto|interp|jit  native code for what is hot, or the interpreter "
    "alone\n"
    "  --perf-map     name native code in /tmp/perf-PID.map, for perf report\n"
    "  --no-execute   complete every dispatch without running it\n"
    "  --timing       run kernels under the timing model (slow); the device's clock "
    "and\n"
    "                 all timestamps then show model time\n"
    "    --timing-trace FILE  record a timeline of the dispatches (see rdna3 viz)\n"
    "    --sclk-mhz F   shader clock (default 2482, the board's)\n"
    "  --viz          --timing, and show the dispatches in a window while they run\n"
    "  --vram SIZE    bytes of video memory (suffix K, M, G)\n"
    "  --emu-mode N   amdgpu's parameter of that name (default 1, an emulated chip:\n"
    "                 ROCm's own tests then leave out what takes long; 0: a board)\n"
    "  --root DIR     run inside DIR as root directory\n"
    "  --no-namespace mount nothing: only the preloaded library shows the files\n"
    "  --preload LIB  the driver library (default: beside this program)\n"
    "  --keep         keep the state folder and print its name\n";

struct options {
    const char *log, *root, *preload, *replay;
    const char *timeline; /* --timing-trace */
    bool stats, opcodes, perf_map, no_execute, no_namespace, keep, timing, viz;
    unsigned engine; /* enum emu_engine */
    uint64_t vram;
    const char *emu_mode;  /* NULL: as the board says */
    double sclk_mhz;       /* 0: not given */
    struct checked *check; /* of rdna3 check, else NULL */
};

enum {
    OPT_LOG = 256,
    OPT_REPLAY,
    OPT_STATS,
    OPT_OPCODES,
    OPT_ENGINE,
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
    OPT_HELP,
    OPT_NO_NS
};

static const struct option long_options[] = {
    {"log", required_argument, NULL, OPT_LOG},
    {"replay", required_argument, NULL, OPT_REPLAY},
    {"stats", no_argument, NULL, OPT_STATS},
    {"opcodes", no_argument, NULL, OPT_OPCODES},
    {"engine", required_argument, NULL, OPT_ENGINE},
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

/* Which options go together. -1 to go on, else an exit status. */
static int check_options(const struct options *o, bool command)
{
    if (o->timeline && !o->timing)
        return cli_error(CLI_USAGE, "--timing-trace goes with --timing");
    if (o->sclk_mhz > 0 && !o->timing)
        return cli_error(CLI_USAGE, "--sclk-mhz goes with --timing");
    if (o->replay && command)
        return cli_error(CLI_USAGE, "--replay runs no command");
    if (o->replay)
        return replay_run(o->replay);
    if (!command)
        return cli_error(CLI_USAGE, "exec: no command given");
    return -1;
}

/* -1 to go on, else an exit status. */
static int parse(int argc, char **argv, struct options *o)
{
    *o = (struct options){.vram = BOARD_VRAM_BYTES};
    opterr = 0;
    optind = 1;
    int c;
    while ((c = getopt_long(argc, argv, "+:h", long_options, NULL)) != -1) {
        switch (c) {
        case OPT_LOG:
            o->log = optarg;
            break;
        case OPT_REPLAY:
            o->replay = optarg;
            break;
        case OPT_STATS:
            o->stats = true;
            break;
        case OPT_OPCODES:
            o->opcodes = true;
            break;
        case OPT_PERF_MAP:
            o->perf_map = true;
            break;
        case OPT_ENGINE:
            if (!parse_engine(optarg, &o->engine))
                return cli_error(CLI_USAGE, "--engine '%s': auto, interp or jit",
                                 optarg);
            break;
        case OPT_NO_EXEC:
            o->no_execute = true;
            break;
        case OPT_TIMING:
            o->timing = true;
            break;
        case OPT_TIMELINE:
            o->timeline = optarg;
            break;
        case OPT_VIZ:
            o->viz = o->timing = true;
            break;
        case OPT_SCLK:
            if (!parse_clock(optarg, &o->sclk_mhz))
                return cli_error(CLI_USAGE, "--sclk-mhz '%s': not a clock", optarg);
            break;
        case OPT_VRAM:
            if (cli_parse_size(optarg, &o->vram) != RD_OK || o->vram < 16u << 20)
                return cli_error(CLI_USAGE, "--vram: '%s' is no size of at least 16M",
                                 optarg);
            break;
        case OPT_EMU_MODE:
            if (strcmp(optarg, "0") != 0 && strcmp(optarg, "1") != 0)
                return cli_error(CLI_USAGE, "--emu-mode '%s': 0 or 1", optarg);
            o->emu_mode = optarg;
            break;
        case OPT_ROOT:
            o->root = optarg;
            break;
        case OPT_PRELOAD:
            o->preload = optarg;
            break;
        case OPT_KEEP:
            o->keep = true;
            break;
        case OPT_NO_NS:
            o->no_namespace = true;
            break;
        case OPT_HELP:
        case 'h':
            fputs(help, stdout);
            return cli_finish(CLI_OK);
        default:
            return cli_option_error(argc, argv, c);
        }
    }
    return check_options(o, optind < argc);
}

/* The driver library: as given, or beside this program. */
static bool find_preload(const struct options *o, char out[PATH_MAX])
{
    static const char *const places[] = {"lib", "../lib", ".", RDNA3_LIBRARY_PLACE};
    if (o->preload)
        return realpath(o->preload, out) != NULL;
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0)
        return false;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s/librdna3_preload.so", self, places[i]);
        if (realpath(path, out))
            return true;
    }
    return false;
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
        print_registers(atomic_load(&p->pid), &p->gpu);
        uint64_t beyond = atomic_load(&p->gpu.lds_beyond);
        if (beyond)
            fprintf(stderr,
                    "rdna3: pid %" PRId32 ": %" PRIu64
                    " workgroups read or wrote beyond their LDS\n",
                    atomic_load(&p->pid), beyond);
        if (o->timing)
            fprintf(stderr, "rdna3: pid %" PRId32 ": %.2f us in kernels by the model\n",
                    atomic_load(&p->pid),
                    (double)atomic_load(&p->gpu.model_ticks) * 1e6 / BOARD_CLOCK_HZ);
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
                "rdna3: %" PRIu64 " dispatches that ran beside a recorded one are not "
                "in the timeline\n",
                n);
}

/* Environment of the program: the library first, whatever else is preloaded after it.
 */
static void set_environment(const struct options *o, const char *library,
                            const struct state *state, const char *log)
{
    const char *old = getenv("LD_PRELOAD");
    char preload[3 * PATH_MAX];
    snprintf(preload, sizeof(preload), "%s%s%s", library, old && *old ? ":" : "",
             old ? old : "");
    setenv("LD_PRELOAD", preload, 1);
    setenv(FRONT_ENV_STATE, state->dir, 1);
    if (log)
        setenv(FRONT_ENV_LOG, log, 1);
    else
        unsetenv(FRONT_ENV_LOG);
    setenv(FRONT_ENV_NO_EXEC, o->no_execute ? "1" : "0", 1);
    char clock[32];
    snprintf(clock, sizeof(clock), "%g",
             o->sclk_mhz > 0 ? o->sclk_mhz : (double)BOARD_SCLK_MHZ);
    if (o->timing)
        setenv(FRONT_ENV_TIMING, clock, 1);
    else
        unsetenv(FRONT_ENV_TIMING);
    if (o->viz || o->timeline)
        setenv(FRONT_ENV_TIMELINE, "1", 1);
    else
        unsetenv(FRONT_ENV_TIMELINE);
    snprintf(clock, sizeof(clock), "%u", o->engine);
    setenv(FRONT_ENV_ENGINE, clock, 1);
    if (o->perf_map)
        setenv(FRONT_ENV_PERF_MAP, "1", 1);
    else
        unsetenv(FRONT_ENV_PERF_MAP);
    if (o->check)
        setenv(FRONT_ENV_CHECK, "1", 1);
    else
        unsetenv(FRONT_ENV_CHECK);
    if (o->opcodes)
        setenv(FRONT_ENV_OPCODES, "1", 1);
    else
        unsetenv(FRONT_ENV_OPCODES);
}

/* The program has not begun: say so by the pipe that its beginning would close. */
_Noreturn static void give_up(int notice, int status)
{
    (void)!write(notice, "x", 1);
    _exit(status);
}

/* Whether a child wrote to the pipe. */
static bool gave_up(int notice)
{
    char byte;
    return read(notice, &byte, 1) == 1;
}

_Noreturn static void run_child(const struct options *o, char **argv,
                                const char *library, const struct state *state,
                                const char *log, int notice)
{
    const char *problem = NULL;
    bool mounts = o->root || !o->no_namespace;
    if (mounts)
        problem = mounts_begin();
    if (!problem && o->root)
        problem = mounts_enter_root(o->root, state);
    if (problem && o->root) {
        cli_error(0, "exec: --root %s: %s: %s", o->root, problem, strerror(errno));
        give_up(notice, 125);
    }
    if (mounts && !problem && !o->no_namespace)
        (void)mounts_show(state);
    /* The loader would go on without it. */
    if (!dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
        cli_error(0, "exec: the program would not see the mock: %s", dlerror());
        give_up(notice, CLI_FAILED);
    }
    set_environment(o, library, state, log);
    execvp(argv[0], argv);
    int err = errno;
    unsetenv("LD_PRELOAD");
    cli_error(0, "exec: %s: %s", argv[0], strerror(err));
    give_up(notice, err == ENOENT ? 127 : 126);
}

/* Terminal signals reach the program by itself; this process only waits for it. */
static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return CLI_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static volatile sig_atomic_t child_pid;

static void pass_on(int number)
{
    if (child_pid > 0)
        kill((pid_t)child_pid, number);
}

static bool append_file(const char *path, const char *from)
{
    void *data;
    size_t bytes;
    if (cli_read_file(from, &data, &bytes) != RD_OK)
        return errno == ENOENT; /* nothing was logged */
    FILE *f = fopen(path, "ae");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;
    if (f && fclose(f) != 0)
        ok = false;
    free(data);
    return ok;
}

/* An empty timeline, and the window that shows it grow. */
static bool open_timeline(const struct options *o, const struct state *state,
                          struct viz_live *live, char *path)
{
    snprintf(path, PATH_MAX, "%s/" GSHARED_TIMELINE, state->dir);
    if (o->viz)
        return viz_live_start(live, path);
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
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/" GSHARED_FINDINGS, state->dir);
    return o->check ? checked_end(o->check, path, status, began) : status;
}

static bool set_emu_mode(const struct state *state, const char *value)
{
    char path[PATH_MAX], line[8];
    snprintf(path, sizeof(path), "%s/root/sys/module/amdgpu/parameters/emu_mode",
             state->dir);
    int n = snprintf(line, sizeof(line), "%s\n", value);
    return cli_write_file(path, line, (size_t)n) == RD_OK;
}

static int run(const struct options *o, char **argv, const char *library)
{
    struct state state;
    char log[PATH_MAX];
    if (o->log) {
        int fd = open(o->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0 || !realpath(o->log, log))
            return cli_error(CLI_FAILED, "--log %s: %s", o->log, strerror(errno));
        close(fd);
    }
    rd_status st = state_create(o->vram, o->root, library, &state);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "cannot create the state folder: %s",
                         state.problem);
    if (o->emu_mode && !set_emu_mode(&state, o->emu_mode)) {
        state_remove(&state);
        return cli_error(CLI_FAILED, "--emu-mode: %s", strerror(errno));
    }
    if (o->log && o->root) /* another root does not see the file itself */
        snprintf(log, sizeof(log), "%s/log", state.dir);
    struct viz_live live = {.child = 0};
    char timeline[PATH_MAX];
    if (!open_findings(o, &state) || !open_timeline(o, &state, &live, timeline)) {
        state_remove(&state);
        return CLI_FAILED;
    }
    struct sigaction forward = {.sa_handler = pass_on},
                     ignore = {.sa_handler = SIG_IGN};
    struct sigaction old_int, old_quit;
    sigaction(SIGTERM, &forward, NULL);
    sigaction(SIGHUP, &forward, NULL);
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    int notice[2] = {-1, -1};
    pid_t child = pipe2(notice, O_CLOEXEC) == 0 ? fork() : -1;
    if (child == 0) {
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        sigaction(SIGINT, &old_int, NULL);
        sigaction(SIGQUIT, &old_quit, NULL);
        run_child(o, argv, state.library, &state, o->log ? log : NULL, notice[1]);
    }
    child_pid = child;
    int status = child < 0 ? cli_error(CLI_FAILED, "fork: %s", strerror(errno))
                           : wait_for(child);
    close(notice[1]);
    bool began = child > 0 && !gave_up(notice[0]);
    close(notice[0]);
    int recorded = close_timeline(o, &live, timeline);
    if (status == CLI_OK)
        status = recorded;
    print_unrecorded(state.shared);
    if (o->stats)
        print_stats(o, state.shared);
    if (o->opcodes)
        print_opcodes(state.shared);
    if (o->log && o->root && !append_file(o->log, log))
        cli_error(0, "--log %s: %s", o->log, strerror(errno));
    status = close_findings(o, &state, status, began);
    if (o->keep)
        fprintf(stderr, "rdna3: state folder %s\n", state.dir);
    else
        state_remove(&state);
    return status;
}

int exec_checked(struct checked *c, char **argv)
{
    struct options o = {.vram = BOARD_VRAM_BYTES, .root = c->root, .check = c};
    char library[PATH_MAX];
    if (!find_preload(&o, library))
        return cli_error(CLI_FAILED, "cannot find librdna3_preload.so");
    return run(&o, argv, library);
}

int cmd_exec(int argc, char **argv)
{
    struct options o;
    char library[PATH_MAX];
    int early = parse(argc, argv, &o);
    if (early >= 0)
        return early;
    if (!find_preload(&o, library))
        return cli_error(CLI_FAILED, "cannot find librdna3_preload.so (see --preload)");
    return run(&o, argv + optind, library);
}
