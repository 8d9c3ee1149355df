/* branch.h: a process that works on a copy of all memory, and answers.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_RUN_BRANCH_H
#define RD_RUN_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns 0 in it, with out to write to; else its id, with in to read from; -1: there
 * is none. It ends with this one. */
pid_t run_branch_off(int *in, int *out);

/* What it answers; it is ended if this one is told to end (*control is
 * EMU_CONTROL_CANCEL), and then answers nothing. false: it has not answered. */
bool run_branch_read(pid_t child, int fd, const volatile int *control, void *data,
                     size_t bytes);

/* Wait for its end. Returns what waitpid tells of it. */
int run_branch_reap(pid_t child, int fd);

#endif
