/* hostfault.h: signals of the process that mean the GPU.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_HOSTFAULT_H
#define RD_HOSTFAULT_H

#include <stdbool.h>

struct sigaction;

/* From now on, memory that vanishes under the GPU is a page fault of the GPU. */
void hostfault_install(void);

/* The program's handler of a signal whose handler we have taken.
 * act   what to call from now on, or NULL
 * old   out, what was called so far (may be NULL)
 * Returns false for any other signal, and before hostfault_install. */
bool hostfault_action(int number, const struct sigaction *act, struct sigaction *old);

#endif
