/* check_internal.h: what the layouts of `rdna3 asm --check` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ASM_CHECK_INTERNAL_H
#define RD_ASM_CHECK_INTERNAL_H

#include <stdint.h>
#include <stdio.h>

#include "asm.h"
#include "asm_tool.h"

#define CHECK_MAX_CODE 20

struct expected {
    unsigned bytes;
    uint8_t code[CHECK_MAX_CODE];
    bool open[CHECK_MAX_CODE]; /* a symbol decides */
};

struct check {
    const struct asm_tool *o;
    const char *path;
    struct asm_line *wave32, *wave64;
    unsigned long line, statements, malformed, wrong;
    bool reject; /* the statement must be refused */
    bool told;   /* cli_mistake */
    /* The report: its cases, until their number is known. NULL: none. */
    FILE *cases;
    char *text;
    size_t bytes;
};

/* Bytes as digits, with 0x, commas, blanks and brackets between them; A: open. */
bool check_parse_bytes(const char *p, const char *end, struct expected *out);

/* Assemble one statement, compare, report. */
void check_one(struct check *c, unsigned wave, const char *text, size_t len,
               const struct expected *e);

/* A line that cannot be understood. */
void check_malformed(struct check *c, const char *text, size_t len, const char *what);

/* Check a whole file if it is one of LLVM's lit tests: it has a RUN line of llvm-mc.
 *
 * Returns false if it is not; nothing is done then. */
bool check_lit(struct check *c, const char *text, size_t bytes);

#endif
