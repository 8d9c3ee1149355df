/* dis.h: listing of one stretch of code.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DIS_H
#define RD_DIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa.h"

/* Room for the text of an item without the expression in it. */
#define DIS_TEXT_BYTES 512

/* One line of a listing. */
struct dis_item {
    uint64_t offset; /* in the region */
    uint64_t address;
    const uint8_t *code;
    unsigned bytes;
    unsigned wave;
    bool known;        /* an instruction; else data */
    bool lost;         /* a relocation lies here that no statement makes */
    const char *text;  /* a statement that assembles to these bytes */
    const char *note;  /* what the bytes mean, if they can only be written as data */
    const char *label; /* a branch leads here: its name; else NULL */
};

/* What surrounds the code. Functions may be NULL. Offsets are the region's. */
struct dis_context {
    void *user;
    size_t expression_bytes; /* room that an expression takes at most */
    /* The wave size at an offset. */
    unsigned (*wave)(void *user, uint64_t offset);
    /* The first offset behind this one at which an item has to begin. */
    uint64_t (*stop)(void *user, uint64_t offset);
    /* The expression that a relocation puts into a field at [offset, offset + bytes);
     * NULL if none does, or if it cannot stand there.
     *
     * data  for .long or .quad; else for an operand
     * at    out: offset of the bytes that it sets; size out: their number, 0 if there
     * is no relocation */
    const char *(*expression)(void *user, uint64_t offset, unsigned bytes, bool data,
                              uint64_t *at, unsigned *size);
    /* Called for each item in order. */
    void (*item)(void *user, const struct dis_item *item);
};

/* One stretch of code to list. Labels and branch targets are addresses. */
struct dis_region {
    const uint8_t *code;
    size_t bytes;
    uint64_t address;
    unsigned wave;  /* 32 or 64, where the context does not say */
    unsigned print; /* ISA_PRINT_* */
};

/* List a region: every byte once, as statements that assemble to the same bytes. What
 * is no instruction, or has no text that assembles to the same encoding, is data.
 *
 * context  NULL: the listing is printed to stdout
 * Returns the number of items that are data, or -1 if out of memory.
 */
long dis_list(const struct dis_region *region, const struct dis_context *context);

/* Print an item: its label, the text, address and bytes as a comment. */
void dis_print_item(const struct dis_item *item);

#endif
