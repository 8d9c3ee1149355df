/* counts.h: executions per opcode, counted by block.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_COUNTS_H
#define RD_COUNTS_H

#include "uop.h"

#define COUNT_BLOCKS 256u
#define COUNT_PATHS  4096u

/* Of one thread. Programs must outlive the counts of their blocks: see counts_flush. */
struct op_counts {
    uint64_t op[ISA_OP_COUNT];
    struct {
        const struct uop *leader;
        uint64_t n;
    } block[COUNT_BLOCKS];       /* not yet in op[] */
    uint64_t path[COUNT_PATHS];  /* executions of native code, by way (engine) */
    uint64_t slow[ISA_OP_COUNT]; /* of those, ones where a recipe gave up */
};

/* Count the first n instructions from u on, all of one block. */
void counts_add(struct op_counts *c, const struct uop *u, unsigned n, uint64_t times);

/* Bring op[] up to date. */
void counts_flush(struct op_counts *c);

/* Count one execution of the whole block. */
static inline void counts_block(struct op_counts *c, const struct uop *leader)
{
    size_t i = ((uintptr_t)leader / sizeof *leader) % COUNT_BLOCKS;
    if (c->block[i].leader != leader) {
        if (c->block[i].n)
            counts_add(c, c->block[i].leader, c->block[i].leader->run, c->block[i].n);
        c->block[i].leader = leader;
        c->block[i].n = 0;
    }
    c->block[i].n++;
}

#endif
