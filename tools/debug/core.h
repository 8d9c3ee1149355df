/* core.h: core files of kernels: the waves, their memory and code as they were.
 *
 * An ELF file of type ET_CORE for EM_AMDGPU: a PT_LOAD for each region of memory, at
 * its GPU address, and a PT_NOTE with notes of the name "RDNA3" (README.md has their
 * layout). SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_CORE_H
#define RD_DEBUG_CORE_H

#include "dbg_program.h"
#include "objects.h"

struct core;

/* Open a core file. Prints the error; returns an exit status. */
int core_open(const char *path, struct core **out);
/* The same of bytes; text: out, why not. */
struct core *core_read(const void *data, size_t bytes, char *text, size_t size);
void core_close(struct core *c);

const struct target *core_target(const struct core *c);
struct program *core_program(struct core *c);
/* Why it was written: the fault's text. */
const char *core_reason(const struct core *c);
/* The wave that faulted; false: none. */
bool core_culprit(const struct core *c, uint64_t *group, unsigned *wave,
                  unsigned *lane);

/* Its kernel is of this object, which stays until core_close. */
void core_identify(struct core *c, const struct object *object,
                   const struct co_kernel *kernel);
/* Write it, with its object. Prints the error; returns an exit status. */
int core_write(const struct core *c, const char *path);

#endif
