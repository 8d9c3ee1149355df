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

/* What this build lacked; nothing: it was switched off, or the program was not brought
 * along. */
static int no_program(const char *path)
{
    static const char instead[] = ". rdna3 trace TIMELINE lists and exports what the "
                                  "window would show";
    if (*VIZ_MISSING)
        return cli_error(CLI_FAILED,
                         "this build has no window: " VIZ_MISSING
                         " missing when it was configured; install, configure and "
                         "build again%s",
                         instead);
    return cli_error(CLI_FAILED,
                     "this build has no window: there is no %s; configure with "
                     "-DRDNA3_VIZ=ON and build it%s",
                     path, instead);
}

int viz_find(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - sizeof PROGRAM);
    if (n <= 0)
        return cli_error(CLI_FAILED, "cannot find this program: %s", strerror(errno));
    path[n] = 0;
    char *slash = strrchr(path, '/');
    memcpy(slash ? slash + 1 : path, PROGRAM, sizeof PROGRAM);
    return access(path, X_OK) == 0 ? CLI_OK : no_program(path);
}

int cmd_viz(int argc, char **argv)
{
    char path[4096];
    (void)argc;
    int status = viz_find(path, sizeof path);
    if (status != CLI_OK)
        return status;
    (void)fflush(NULL);
    execv(path, argv);
    return cli_error(CLI_FAILED, "cannot start %s: %s", path, strerror(errno));
}
