/* fifo.c: wait counters that count more than their first room holds.
 *
 * Few waves have more than some operations of a kind under way, so that most need no
 * memory but the wave's. Must not know what is counted. Invariant: an operation keeps
 * its number, wherever it lies.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "queue.h"

void fifo_begin(struct tm_fifo *f, struct tm_counted *op, uint32_t room)
{
    f->first = f->n = 0;
    f->lost = false;
    if (f->grown)
        return;
    f->op = op;
    f->room = room;
}

void fifo_grow(struct tm_fifo *f)
{
    uint32_t room = 2 * f->room;
    struct tm_counted *bigger = malloc(room * sizeof *bigger);
    if (!bigger) {
        f->lost = true;
        return;
    }
    for (uint32_t k = 0; k < f->n; k++)
        bigger[(f->first + k) & (room - 1)] = *fifo_at(f, f->first + k);
    free(f->grown);
    f->op = f->grown = bigger;
    f->room = room;
}

void fifo_free(struct tm_fifo *f)
{
    free(f->grown);
    f->op = f->grown = NULL;
}
