/* source.h: source lines of code addresses, by DWARF.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_SOURCE_H
#define RD_TOOL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_FRAMES 8u

struct source_frame {
    char function[128];
    char file[256];
    unsigned line, column; /* 0: unknown */
};

struct source; /* the DWARF of one code object */

/* Returns NULL if there is none, or no library to read it.
 *
 * data  the ELF file; copied
 */
struct source *source_open(const void *data, size_t bytes);
void source_close(struct source *s);

/* Where a virtual address comes from: the line itself, then what it is inlined into.
 * Returns the number of frames, 0 if nothing is known. */
unsigned source_find(struct source *s, uint64_t va, struct source_frame *frames,
                     unsigned room);

/* Why there are no source lines; NULL if there can be. */
const char *source_missing(void);

#endif
