/* program.h: random programs of one wave that always end and never fault: vector and
 * scalar instructions of every kind, memory within the wave's block, LDS, branches,
 * bounded loops, EXEC masks, MODE changes.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_DIFF_PROGRAM_H
#define TEST_DIFF_PROGRAM_H

#include "arena.h"
#include "isa_random.h"

enum item_kind {
    ITEM_PLAIN,
    ITEM_SKIP, /* its last dword is a branch to item `target` */
    ITEM_LOOP, /* the same; must not be dropped */
    ITEM_KEEP, /* must not be dropped */
};

/* One instruction with what prepares its registers. */
struct item {
    uint8_t code[96];
    uint8_t bytes;
    uint8_t kind; /* enum item_kind */
    bool dropped;
    uint16_t target;
};

#define MAX_ITEMS 400u

struct program {
    struct item item[MAX_ITEMS];
    unsigned n, lanes;
    uint64_t random;
    uint8_t code[MAX_ITEMS * 96];
    size_t bytes; /* of code, after program_layout */
};

/* Can a generated program contain this row? If not, *why says what is in the way. */
bool program_takes(unsigned row, const char **why);

/* Append an instruction of a row and variant, if a random encoding can be had. */
bool program_add(struct program *p, unsigned row, unsigned variant);

void program_init(struct program *p, unsigned lanes, uint64_t seed);
void program_random(struct program *p, unsigned items);
void program_layout(struct program *p);
void program_print(const struct program *p, FILE *out);

/* Random registers, LDS (by code: LDS starts as zero) and data for a wave. */
void program_inputs(struct arena *a, const struct shape *shape, uint64_t *random);

#endif
