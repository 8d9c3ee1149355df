/* harness.h: assemble a text and look at what came out.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TEST_ASM_HARNESS_H
#define RD_TEST_ASM_HARNESS_H

#include "asm.h"

struct outcome {
    rd_status status;
    struct asm_result result;
    unsigned messages; /* reported: errors and warnings */
    char first[256];   /* "line:column: text" of the first */
    char shown[ASM_FORMAT_BYTES];
};

/* Assemble to ET_REL (or ET_DYN). Owner: caller frees with outcome_free. */
void assemble(const char *text, struct outcome *out);
void assemble_dyn(const char *text, struct outcome *out);
void assemble_n(const char *text, size_t len, bool relocatable, struct outcome *out);
void outcome_free(struct outcome *out);

/* Contents of a section in the file; NULL if there is none. */
const uint8_t *section(const struct outcome *out, const char *name, size_t *bytes);

/* Assemble the text and compare the section's bytes with hex (blanks allowed). */
void expect_bytes(const char *text, const char *name, const char *hex);

/* The text has exactly these errors: count, and place and words of the first. */
void expect_error(const char *text, unsigned errors, const char *first);

#endif
