/* dis_elf.h: a code object as a source file.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DIS_ELF_H
#define RD_DIS_ELF_H

#include <stddef.h>

struct dis_wish;

/* Write an ELF file or the one in an offload bundle to stdout, so that it assembles to
 * the same file again, or its code as JSON.
 *
 * path  for messages
 * Returns the exit status.
 */
int dis_elf(const char *path, const void *data, size_t bytes,
            const struct dis_wish *wish);

#endif
