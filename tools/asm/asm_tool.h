/* asm_tool.h: what the files of `rdna3 asm` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ASM_TOOL_H
#define RD_ASM_TOOL_H

#include <stdbool.h>
#include <stdint.h>

struct asm_tool {
    unsigned wave; /* 32 or 64 */
    bool wave_given;
    bool reject;       /* --check: every statement must be refused */
    const char *junit; /* --check: a report for machines; NULL: none */
    uint64_t pairs, seed;
};

/* check.c: statements with the bytes they must have. */
int asm_check(const struct asm_tool *o, const char *path);

/* fuzz.c: random statements with their bytes, for every row of the table. */
int asm_fuzz_pairs(const struct asm_tool *o);

#endif
