/* checked.h: what `rdna3 check` wants of a program's run.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_EXEC_CHECKED_H
#define RD_TOOL_EXEC_CHECKED_H

#include "checks.h"

#define CHECKED_OBJECTS 16u /* by --code */
#define CHECKED_LOADED  64u /* of the program's */

struct checked {
    struct checks_options options;
    struct checks_suppressions *suppressions;
    struct checks_object
        object[CHECKED_OBJECTS + CHECKED_LOADED]; /* --code, the program's */
    unsigned n_objects;
    const char *root;     /* --root, or NULL */
    const char *emu_mode; /* --emu-mode, or NULL */
    uint64_t vram;        /* --vram, or 0 */
    int fd;               /* of the table while the program runs */
};

/* Make the table of findings, an empty file with the options; prints errors. */
int checked_begin(struct checked *c, const char *path);
/* Tell what is in the table, unless the program has not even begun; state: the folder,
 * status: the program's. Returns the exit status. */
int checked_end(struct checked *c, const char *state, int status, bool began);

/* exec.c: options of `exec` and `check`; they print errors. */
int exec_vram(const char *text, uint64_t *bytes);
int exec_emu_mode(const char *text, const char **mode);
/* exec.c: run a program under the mock with its kernels checked. */
int exec_checked(struct checked *c, char **argv);

#endif
