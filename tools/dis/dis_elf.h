/* dis_elf.h: listing of a code object.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DIS_ELF_H
#define RD_DIS_ELF_H

#include <stddef.h>

/* List the code of an ELF file or offload bundle.
 *
 * path   for messages
 * wave   32 or 64, or 0: each kernel's own
 * Returns the exit status.
 */
int dis_elf(const char *path, const void *data, size_t bytes, unsigned wave,
            unsigned print);

#endif
