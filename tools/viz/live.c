/* live.c: a window beside a run: a process of its own that reads what the run writes.
 *
 * The run goes on whatever becomes of the window. Must not draw. Invariant: a file made
 * for the window alone has no name. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "viz.h"

/* An empty file for the window alone. It has no name, so that nothing is left however
 * this program ends; who inherits the descriptor opens it through /proc. */
static int make_nameless(char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");
    int n = snprintf(path, size, "%s/rdna3-viz-XXXXXX",
                     folder && *folder ? folder : "/tmp");
    int fd = n < 0 || (size_t)n >= size ? -1 : mkstemp(path);
    if (fd < 0)
        return -1;
    (void)unlink(path);
    (void)snprintf(path, size, "/proc/self/fd/%d", fd);
    return fd;
}

/* The file to write, empty; own: with its descriptor open. */
static bool make_file(struct viz_live *live, const char *path)
{
    int fd;
    live->own = path ? -1 : 0;
    if (path) {
        int n = snprintf(live->path, sizeof live->path, "%s", path);
        fd = n < 0 || (size_t)n >= sizeof live->path
                 ? -1
                 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    } else {
        fd = make_nameless(live->path, sizeof live->path);
    }
    if (fd < 0) {
        cli_error(CLI_FAILED, "cannot write '%s' for --viz: %s", live->path,
                  strerror(errno));
        return false;
    }
    if (path)
        (void)close(fd);
    else
        live->own = fd;
    return true;
}

bool viz_live_start(struct viz_live *live, const char *path, const char *code)
{
    char program[4096];
    if (viz_find(program, sizeof program) != CLI_OK || !make_file(live, path))
        return false;
    (void)fflush(NULL);
    live->child = fork();
    if (live->child == 0) {
        char *shot =
            getenv("RDNA3_VIZ_SCREENSHOT"); /* of the run's end; then it closes */
        char *argv[9] = {"viz", "--follow", live->path};
        int n = 3;
        if (code) {
            argv[n++] = "--code-object";
            argv[n++] = (char *)code;
        }
        if (shot) { /* a run that is killed has no end */
            (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
            argv[n++] = "--screenshot";
            argv[n++] = shot;
            argv[n++] = "--window";
        }
        _exit(cmd_viz(n, argv));
    }
    if (live->child < 0) {
        cli_error(CLI_FAILED, "cannot start the window: %s", strerror(errno));
        if (live->own >= 0)
            (void)close(live->own);
        return false;
    }
    return true;
}

int viz_live_finish(struct viz_live *live)
{
    int status = 0;
    while (waitpid(live->child, &status, 0) < 0 && errno == EINTR)
        ;
    if (live->own >= 0)
        (void)close(live->own);
    return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
}
