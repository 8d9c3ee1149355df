/* counts.c: executions of blocks as executions of opcodes.
 * SPDX-License-Identifier: MIT
 */
#include "counts.h"

void counts_add(struct op_counts *c, const struct uop *u, unsigned n, uint64_t times)
{
    for (; n; n--, u = uop_next(u))
        c->op[u->isa_op] += times;
}

void counts_flush(struct op_counts *c)
{
    for (size_t i = 0; i < COUNT_BLOCKS; i++) {
        const struct uop *leader = c->block[i].leader;
        if (leader)
            counts_add(c, leader, leader->run, c->block[i].n);
        c->block[i].n = 0;
    }
}
