/* dis.h: what the files of `rdna3 dis` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DIS_H
#define RD_DIS_H

#include <stddef.h>
#include <stdint.h>

/* One stretch of code to list. Labels and branch targets are addresses. */
struct dis_region {
    const uint8_t *code;
    size_t bytes;
    uint64_t address;
    unsigned wave;  /* 32 or 64 */
    unsigned print; /* ISA_PRINT_* */
};

/* Called before each address of the region, in order: prints symbols that lie there. */
typedef void dis_symbols_fn(void *user, uint64_t address);

/* List a region: labels, text, and address and bytes as a comment. What is no
 * instruction is listed as data.
 *
 * symbols  may be NULL
 * Returns the number of dwords that are no instruction, or -1 if out of memory.
 */
long dis_list(const struct dis_region *region, dis_symbols_fn *symbols, void *user);

#endif
