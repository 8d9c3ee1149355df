/* postmortem.h: what to tell of a dispatch that did not end well: source lines, where
 * its waves are, a core file. SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_POSTMORTEM_H
#define RD_DEBUG_POSTMORTEM_H

#include <stdio.h>

#include "corefile.h"

/* The source line of an address of the object, and what it is inlined into, to stderr;
 * nothing if there is none. image: GPU address of the object's first byte. */
void postmortem_place(const void *object, size_t bytes, uint64_t image, uint64_t pc);

/* Where the waves are and what they wait for, to stderr. several: they may be of more
 * kernels than one. */
void postmortem_waves(const struct capture *c, const struct core_subject *about,
                      bool several);

struct core;

/* Of a core file: where the wave that faulted was; where all waves are. */
void postmortem_culprit(FILE *out, struct core *core);
void postmortem_show(FILE *out, struct core *core, bool several);

/* Can the core file be written (path NULL: none is wanted)? To be asked before the work
 * whose end it is for. Prints the error; returns an exit status. */
int postmortem_can_write(const char *path);

/* Write a core file. Prints the error; returns an exit status. */
int postmortem_core(const struct capture *c, const struct core_subject *about,
                    const char *path);

#endif
