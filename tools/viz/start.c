/* start.c: `rdna3 viz`: hands over to the program rdna3-viz beside this one.
 *
 * The window's libraries would more than double the start-up time and memory of every
 * other command. Must not include SDL. Invariant: returns only if it cannot start it.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "viz.h"

#define PROGRAM "rdna3-viz"

int cmd_viz(int argc, char **argv)
{
    (void)argc;
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof PROGRAM);
    if (n <= 0)
        return cli_error(CLI_FAILED, "cannot find this program: %s", strerror(errno));
    path[n] = 0;
    char *slash = strrchr(path, '/');
    memcpy(slash ? slash + 1 : path, PROGRAM, sizeof PROGRAM);
    (void)fflush(NULL);
    execv(path, argv);
    if (errno != ENOENT)
        return cli_error(CLI_FAILED, "cannot start %s: %s", path, strerror(errno));
    return cli_error(
        CLI_FAILED,
        "this build has no window: install libsdl2-dev, libsdl2-ttf-dev and "
        "libpng-dev, configure and build again. rdna3 trace TIMELINE lists "
        "and exports what the window would show");
}
