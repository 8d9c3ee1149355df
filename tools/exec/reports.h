/* reports.h: what is told of kernels that fault or are interrupted, while the program
 * runs: source lines, where waves are, a core file.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_EXEC_REPORTS_H
#define RD_TOOL_EXEC_REPORTS_H

#include <pthread.h>

#include "objects.h"

struct reports {
    const char *core; /* --core, or NULL */
    struct objects objects;
    const char *state; /* the state folder */
    int pipe;
    pthread_t thread;
    bool runs, written, failed;
};

/* Listen in the state folder. Prints errors. */
bool reports_begin(struct reports *r, const char *state);
/* Tell what has come so far, and no more. Returns an exit status: that of writing the
 * core file. */
int reports_end(struct reports *r);
void reports_free(struct reports *r);

#endif
