/* driver.c: the driver's measurements: dispatches, copies, start-up of a client.
 *
 * They need a board behind /dev/kfd. Without one this program runs itself under
 * `rdna3 exec` and takes over the value, so the mock is measured as clients see it.
 * Must not know the emulator. Source of the goals: the driver's contract.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"
#include "bench_kernels.h"
#include "rt.h"
#include "config.h"

#define LATENCY_COUNT 10000u
#define RATE_COUNT    20000u
#define COPY_BYTES    (64ull << 20)
#define ROUNDS        5u
#define WAIT_NS       60000000000ull

/* ---- on the board ---- */

struct board {
    struct rt_device *dev;
    struct rt_queue *queue;
    struct rt_signal *signal;
    struct rt_code *code;
    struct rt_kernel kernel;
};

static rd_status open_board(struct board *b)
{
    const struct bench_kernel *k = &bench_trivial;
    rd_status st = rt_open(NULL, &b->dev, NULL);
    if (st == RD_OK)
        st = rt_queue_create(b->dev, 4096, &b->queue, NULL);
    if (st == RD_OK)
        st = rt_signal_create(b->dev, 0, &b->signal, NULL);
    if (st == RD_OK)
        st = rt_load_raw(b->dev, k->code, k->code_bytes, k->desc, 0, &b->code, NULL);
    if (st == RD_OK)
        st = rt_kernel_find(b->code, NULL, &b->kernel, NULL);
    return st;
}

/* A dispatch of one wave; waits for its end if it has a signal. */
static rd_status dispatch(struct board *b, bool last)
{
    struct rt_launch launch = {
        .items = {32, 1, 1}, .block = {32, 1, 1}, .signal = last ? b->signal : NULL};
    if (last)
        rt_signal_set(b->signal, 1);
    rd_status st = rt_launch(b->queue, &b->kernel, &launch, NULL);
    return st == RD_OK && last ? rt_wait(b->signal, WAIT_NS, NULL) : st;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median: a busy host that takes the CPU away now and then does not change it. */
static rd_status latency_here(double *value)
{
    struct board b = {0};
    double *times = calloc(LATENCY_COUNT, sizeof(*times));
    rd_status st = times ? open_board(&b) : RD_E_NOMEM;
    for (unsigned i = 0; i < LATENCY_COUNT && st == RD_OK; i++) {
        double t = cli_now();
        st = dispatch(&b, true);
        times[i] = cli_now() - t;
    }
    rt_close(b.dev);
    if (st == RD_OK) {
        qsort(times, LATENCY_COUNT, sizeof(*times), compare);
        *value = times[LATENCY_COUNT / 2];
    }
    free(times);
    return st;
}

/* The best of several rounds; one signal at the end of each. */
static rd_status rate_here(double *value)
{
    struct board b = {0};
    rd_status st = open_board(&b);
    double best = 1e30;
    for (unsigned r = 0; r < ROUNDS && st == RD_OK; r++) {
        double t = cli_now();
        for (unsigned i = 1; i <= RATE_COUNT && st == RD_OK; i++)
            st = dispatch(&b, i == RATE_COUNT);
        t = cli_now() - t;
        best = t < best ? t : best;
    }
    rt_close(b.dev);
    if (st == RD_OK)
        *value = RATE_COUNT / best;
    return st;
}

static rd_status copy_here(double *value)
{
    struct rt_device *dev = NULL;
    struct rt_buffer *host, *vram;
    double best = 1e30;
    rd_status st = rt_open(NULL, &dev, NULL);
    if (st == RD_OK)
        st = rt_alloc(dev, COPY_BYTES, RT_USER, 0, &host, NULL);
    if (st == RD_OK)
        st = rt_alloc(dev, COPY_BYTES, RT_VRAM, 0, &vram, NULL);
    if (st == RD_OK) {
        memset(rt_host(host), 1, COPY_BYTES);
        memset(rt_host(vram), 2, COPY_BYTES);
    }
    for (unsigned r = 0; r < ROUNDS && st == RD_OK; r++) {
        double t = cli_now();
        st = rt_copy(dev, rt_gpuva(vram), rt_gpuva(host), COPY_BYTES, NULL, NULL, NULL);
        t = cli_now() - t;
        best = t < best ? t : best;
    }
    rt_close(dev);
    if (st == RD_OK)
        *value = (double)COPY_BYTES / best;
    return st;
}

static rd_status memcpy_here(double *value)
{
    double best = 1e30;
    char *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
    rd_status st = from && to ? RD_OK : RD_E_NOMEM;
    if (st == RD_OK) {
        memset(from, 1, COPY_BYTES);
        memset(to, 2, COPY_BYTES);
    }
    for (unsigned r = 0; r < ROUNDS && st == RD_OK; r++) {
        double t = cli_now();
        memcpy(to, from, COPY_BYTES);
        __asm__ volatile("" : : "r"(to) : "memory");
        t = cli_now() - t;
        best = t < best ? t : best;
    }
    free(from);
    free(to);
    if (st == RD_OK)
        *value = (double)COPY_BYTES / best;
    return st;
}

/* ---- under the mock ---- */

static bool self_path(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    return true;
}

/* Run a program; text: what it printed, cut to size. */
static rd_status run_program(char *const argv[], char *text, size_t size)
{
    int pipes[2], status = 0;
    if (pipe(pipes) != 0)
        return RD_E_IO;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(pipes[1]);
    FILE *f = fdopen(pipes[0], "r");
    size_t n = f ? fread(text, 1, size - 1, f) : 0;
    text[n] = '\0';
    while (f && fgetc(f) != EOF)
        ;
    if (f)
        (void)fclose(f);
    if (pid < 0)
        return RD_E_IO;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return RD_E_IO;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return RD_E_UNSUPPORTED; /* not installed */
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? RD_OK : RD_E_IO;
}

/* Measure here if this process has the device, else in a process that has. */
static rd_status on_mock(const char *name, rd_status (*measure)(double *value),
                         double *value)
{
    char self[PATH_MAX], text[4096];
    if (getenv(FRONT_ENV_STATE))
        return measure(value);
    if (!self_path(self))
        return RD_E_IO;
    char *const argv[] = {self,    "exec",       "--",     self,
                          "bench", (char *)name, "--json", NULL};
    rd_status st = run_program(argv, text, sizeof(text));
    const char *at = st == RD_OK ? strstr(text, "\"value\":") : NULL;
    double v;
    if (!at || sscanf(at, "\"value\":%lf", &v) != 1)
        return st != RD_OK ? st : RD_E_FORMAT;
    *value = v;
    return RD_OK;
}

static rd_status latency(double *value)
{
    return on_mock("driver/dispatch_latency", latency_here, value);
}

static rd_status rate(double *value)
{
    return on_mock("driver/dispatch_rate", rate_here, value);
}

static rd_status copy(double *value)
{
    return on_mock("driver/copy", copy_here, value);
}

/* rocminfo of the host, or of a tree of unpacked clients (RDNA3_CLIENTS). */
static rd_status rocminfo(double *value)
{
    char self[PATH_MAX], text[256], root[PATH_MAX], tool[2 * PATH_MAX];
    const char *clients = getenv("RDNA3_CLIENTS");
    snprintf(root, sizeof(root), "%s/trixie/root", clients ? clients : "/tmp/clients");
    snprintf(tool, sizeof(tool), "%s/usr/bin/rocminfo", root);
    if (!self_path(self) || getenv(FRONT_ENV_STATE))
        return RD_E_UNSUPPORTED;
    char *const of_host[] = {self, "exec", "--", "rocminfo", NULL};
    char *const of_tree[] = {self, "exec", "--root", root, "--", "rocminfo", NULL};
    char *const *argv = access(tool, X_OK) == 0 ? of_tree : of_host;
    double best = 1e30;
    for (unsigned r = 0; r < 3; r++) {
        double t = cli_now();
        rd_status st = run_program(argv, text, sizeof(text));
        t = cli_now() - t;
        if (st != RD_OK)
            return RD_E_UNSUPPORTED;
        best = t < best ? t : best;
    }
    *value = best;
    return RD_OK;
}

const struct bench_entry bench_driver_entries[] = {
    {.name = "driver/dispatch_latency",
     .unit = "s",
     .what = "empty kernel, from packet to signal seen (median)",
     .measure = latency},
    {.name = "driver/dispatch_rate",
     .unit = "1/s",
     .higher_is_better = true,
     .what = "empty kernels queued back to back",
     .measure = rate},
    {.name = "driver/copy",
     .unit = "B/s",
     .higher_is_better = true,
     .what = "64 MiB from host memory to VRAM by a DMA engine",
     .measure = copy,
     .peer = "memcpy",
     .measure_peer = memcpy_here},
    {.name = "driver/rocminfo",
     .unit = "s",
     .what = "start to end of rocminfo under rdna3 exec, if there is one",
     .measure = rocminfo},
    {.name = NULL},
};
