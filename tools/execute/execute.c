/* execute.c: starts a program that sees the mock GPU.
 *
 * Builds the state folder (device files, sysfs tree, shared counters), preloads the
 * driver library into the program, and removes the folder when the program has ended.
 * Must not know ioctls, queues or what is told of the program.
 * SPDX-License-Identifier: MIT
 */
#include "execute.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "board.h"
#include "config.h"
#include "controls.h"

/* The driver library: as given, or beside this program. */
static bool find_preload(const struct exec_options *o, char out[PATH_MAX])
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

static bool set_emu_mode(const struct state *state, const char *value)
{
    char path[PATH_MAX], line[8];
    snprintf(path, sizeof(path), "%s/root/sys/module/amdgpu/parameters/emu_mode",
             state->dir);
    int n = snprintf(line, sizeof(line), "%s\n", value);
    return cli_write_file(path, line, (size_t)n) == RD_OK;
}

static void set_flag(const char *name, bool on)
{
    if (on)
        setenv(name, "1", 1);
    else
        unsetenv(name);
}

/* Environment of the program: the library first, whatever else is preloaded after it.
 */
static void set_environment(const struct exec_options *o, const char *library,
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
    set_flag(FRONT_ENV_TIMELINE, o->record);
    snprintf(clock, sizeof(clock), "%u", o->engine);
    setenv(FRONT_ENV_ENGINE, clock, 1);
    snprintf(clock, sizeof(clock), "%u", o->simd);
    setenv(FRONT_ENV_SIMD, clock, 1);
    snprintf(clock, sizeof(clock), "%u", o->threads);
    setenv(FRONT_ENV_THREADS, clock, 1);
    set_flag(FRONT_ENV_PERF_MAP, o->perf_map);
    set_flag(FRONT_ENV_CHECK, o->checked);
    set_flag(FRONT_ENV_OPCODES, o->opcodes);
    set_flag(FRONT_ENV_CORE, o->whole_core);
    set_flag(FRONT_ENV_DEBUG, o->debugged);
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

_Noreturn static void run_child(const struct exec_options *o, char **argv,
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

int exec_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static volatile sig_atomic_t child_pid;

static void pass_on(int number)
{
    if (child_pid > 0)
        kill((pid_t)child_pid, number);
}

/* The terminal's SIGINT reaches the program by itself. */
static void pass_on_sent(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0)
        pass_on(number);
}

static void take_signals(struct execution *l)
{
    struct sigaction forward = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    struct sigaction sent = {.sa_sigaction = pass_on_sent,
                             .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &forward, NULL);
    sigaction(SIGHUP, &forward, NULL);
    sigaction(SIGINT, &sent, &l->old_int);
    sigaction(SIGQUIT, &ignore, &l->old_quit);
}

static void stand_apart(const struct exec_options *o)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int layout = personality(0xffffffff);
    if (layout >= 0) /* the debugger's own */
        (void)personality((unsigned long)layout & ~(unsigned long)ADDR_COMPAT_LAYOUT);
    (void)setpgid(0, 0);
    if (null >= 0)
        (void)dup2(null, STDIN_FILENO);
    if (o->out > 0)
        (void)dup2(o->out, STDOUT_FILENO);
    if (o->err > 0)
        (void)dup2(o->err, STDERR_FILENO);
}

int exec_start(struct execution *l, const struct exec_options *o, char **argv)
{
    if (!o->apart)
        take_signals(l);
    l->child = pipe2(l->notice, O_CLOEXEC) == 0 ? fork() : -1;
    if (l->child == 0) {
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        if (o->apart) {
            signal(SIGINT, SIG_DFL);
            stand_apart(o);
        } else {
            sigaction(SIGINT, &l->old_int, NULL);
            sigaction(SIGQUIT, &l->old_quit, NULL);
        }
        run_child(o, argv, l->state.library, &l->state, l->log[0] ? l->log : NULL,
                  l->notice[1]);
    }
    if (l->child < 0) {
        l->child = 0;
        return cli_error(CLI_FAILED, "fork: %s", strerror(errno));
    }
    child_pid = l->child;
    close(l->notice[1]);
    if (controls_begin(&l->state) != RD_OK)
        cli_error(0, "the device cannot be removed or reset: %s", strerror(errno));
    return CLI_OK;
}

int exec_wait(struct execution *l, bool *began)
{
    int status;
    while (waitpid(l->child, &status, 0) < 0)
        if (errno != EINTR)
            return CLI_FAILED;
    child_pid = 0;
    *began = !gave_up(l->notice[0]);
    close(l->notice[0]);
    return exec_status(status);
}

int exec_prepare(struct execution *l, const struct exec_options *o)
{
    *l = (struct execution){.notice = {-1, -1}};
    if (!find_preload(o, l->library))
        return o->preload
                   ? cli_error(CLI_FAILED, "--preload %s: %s", o->preload,
                               strerror(errno))
                   : cli_error(CLI_FAILED,
                               "cannot find librdna3_preload.so (see --preload)");
    if (o->log) {
        int fd = open(o->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0 || !realpath(o->log, l->log))
            return cli_error(CLI_FAILED, "--log %s: %s", o->log, strerror(errno));
        close(fd);
    }
    if (state_create(o->vram, o->root, l->library, &l->state) != RD_OK)
        return cli_error(CLI_FAILED, "cannot create the state folder: %s",
                         l->state.problem);
    if (o->emu_mode && !set_emu_mode(&l->state, o->emu_mode)) {
        state_remove(&l->state);
        return cli_error(CLI_FAILED, "--emu-mode: %s", strerror(errno));
    }
    if (o->log && o->root) /* another root does not see the file itself */
        snprintf(l->log, sizeof(l->log), "%s/log", l->state.dir);
    return CLI_OK;
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

void exec_end(struct execution *l, const struct exec_options *o, bool keep)
{
    if (o->log && o->root && !append_file(o->log, l->log))
        cli_error(0, "--log %s: %s", o->log, strerror(errno));
    controls_end(&l->state);
    if (keep)
        fprintf(stderr, "rdna3: state folder %s\n", l->state.dir);
    else
        state_remove(&l->state);
}
