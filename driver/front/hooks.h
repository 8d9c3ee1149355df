/* hooks.h: the functions that the preloaded library replaces, by name.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_HOOKS_H
#define RD_HOOKS_H

/* Our definition of a libc function, or NULL. */
void *shim_hook(const char *name);

/* libc's dlsym. */
void *(*shim_dlsym(void))(void *handle, const char *name);

#endif
