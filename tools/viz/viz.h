/* viz.h: `rdna3 viz`, also for commands that start it beside a run.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_VIZ_H
#define RD_VIZ_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The subcommand; returns an exit status. */
int cmd_viz(int argc, char **argv);

/* The path of the window's program; CLI_FAILED, with the error printed, if this build
 * has none. */
int viz_find(char *path, size_t size);

/* A window beside a run, on a file that grows. */
struct viz_live {
    char path[512]; /* where to write the timeline */
    int own;        /* descriptor of a file that is only for the window; -1: none */
    pid_t child;
};

/* Start it.
 *
 * path  the file; NULL: one of its own, without a name
 * code  the code object, for source lines; NULL: unknown, or many
 * Prints the error; false: no window. One that fails to open says so by itself, and
 * viz_live_finish returns that.
 */
bool viz_live_start(struct viz_live *live, const char *path, const char *code);

/* Wait until the user closes it. Returns its exit status. */
int viz_live_finish(struct viz_live *live);

#endif
