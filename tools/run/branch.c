/* branch.c: processes that work on a copy of memory: what they compute is gone with
 * them, but for what they answer. SPDX-License-Identifier: MIT
 */
#include "branch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

#define LOOK_MS 50 /* how often is looked whether to end */

bool run_branch_read(pid_t child, int fd, const volatile int *control, void *data,
                     size_t bytes)
{
    char *at = data;
    while (bytes) {
        struct pollfd there = {.fd = fd, .events = POLLIN};
        if (*control == EMU_CONTROL_CANCEL)
            (void)kill(child, SIGKILL);
        if (poll(&there, 1, LOOK_MS) <= 0)
            continue;
        ssize_t n = read(fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

pid_t run_branch_off(int *in, int *out)
{
    int ends[2];
    pid_t here = getpid();
    if (pipe(ends) != 0)
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != here) /* it has ended meanwhile */
            _exit(1);
    }
    if (child != 0)
        close(ends[1]);
    else
        close(ends[0]);
    *in = ends[0];
    *out = ends[1];
    if (child < 0)
        close(ends[0]);
    return child;
}

int run_branch_reap(pid_t child, int fd)
{
    int how = 0;
    close(fd);
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        ;
    return how;
}
