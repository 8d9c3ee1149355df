/* progress.c: how far a sweep is, and how it ends. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli.h"
#include "sweep.h"

#define EVERY 0.25 /* seconds */

volatile int sweep_interrupted;

static struct {
    double began, shown;
    uint64_t before; /* done when it began */
    bool line;
} told;

static void on_interrupt(int signal)
{
    (void)signal;
    sweep_interrupted = 1;
}

void sweep_progress_begin(void)
{
    /* the second time it ends the program */
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    told.began = cli_now();
    told.before = SWEEP_NONE;
}

void sweep_progress(const struct sweep_store *store, const struct sweep *s, bool last)
{
    uint64_t done, failed;
    double now = cli_now();
    sweep_store_count(store, &done, &failed);
    if (told.before == SWEEP_NONE)
        told.before = done;
    if (!isatty(STDERR_FILENO) || (!last && now - told.shown < EVERY))
        return;
    told.shown = now;
    if (last) {
        fputs(told.line ? "\r\x1b[K" : "", stderr);
        return;
    }
    told.line = true;
    char text[160], fails[40] = "", left[40] = "";
    if (failed)
        (void)snprintf(fails, sizeof fails, ", %" PRIu64 " failed", failed);
    if (done > told.before)
        (void)snprintf(left, sizeof left, ", about %.0f s left",
                       (now - told.began) / (double)(done - told.before) *
                           (double)(s->n_items - done));
    (void)snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " items%s%s ", done,
                   s->n_items, fails, left);
    cli_status_line(text);
}

int sweep_conclude(const struct sweep_store *store, const struct sweep *s,
                   const char *path, int status)
{
    uint64_t done, failed;
    sweep_progress(store, s, true);
    sweep_store_count(store, &done, &failed);
    printf("%" PRIu64 " of %" PRIu64 " items are done, %" PRIu64
           " of them failed: %s\n",
           done, s->n_items, failed, path);
    if (sweep_interrupted) {
        (void)cli_error(0, "interrupted: the same command goes on from here");
        return 130;
    }
    if (status == CLI_OK && failed)
        status =
            cli_error(CLI_FAILED,
                      "%" PRIu64 " items failed: rdna3 sweep --db %s --table tells "
                      "which, --retry does them again",
                      failed, path);
    return status;
}

int sweep_lock(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC); /* until the process ends */
    if (fd < 0)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return cli_error(CLI_FAILED, "'%s': another rdna3 sweep is at work on it",
                         path);
    return CLI_OK;
}

char *sweep_default_store(const char *path)
{
    char *name = NULL;
    return asprintf(&name, "%s.db", path) < 0 ? NULL : name;
}
