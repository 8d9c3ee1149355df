/* hotlines.h: the source lines that the instructions of a timeline come from.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_HOTLINES_H
#define RD_HOTLINES_H

#include "timeline.h"

#define HOT_NONE UINT32_MAX

/* Source files one after the other, each from a little before its first line with code
 * to a little behind its last. */
struct hot_row {
    const char *file;
    unsigned line; /* 0: this row is the file's name */
    bool code;     /* instructions come from it */
    char *text;    /* NULL: the file cannot be read */
};

struct hotlines {
    struct hot_row *row;
    uint32_t n_rows;
    uint32_t *of; /* by instruction id: its row, or HOT_NONE */
    uint32_t n_insts;
    char **file;
    uint32_t n_files;
};

/* The lines of a dispatch's instructions, by the DWARF of its code object.
 *
 * elf   the object's file
 * err   out, on failure: what is wrong with it
 * Returns false if the object has not got the kernel, or no source lines of it; out is
 * then empty. Owner: hotlines_free.
 */
bool hotlines_make(const void *elf, size_t bytes, const struct timeline *tl,
                   size_t dispatch, struct hotlines *out, struct tl_error *err);
void hotlines_free(struct hotlines *h);

/* Listing of a dispatch by source lines, as tl_print_listing by instructions. */
RD_CHECKED rd_status hotlines_print(const struct hotlines *h, const struct timeline *tl,
                                    size_t dispatch, FILE *f);

#endif
