/* numbers.h: a number for each instruction that was met, whatever program it is of.
 *
 * emu_inst.id counts anew in each program, and a dispatch may run several: its own,
 * what it calls, the trap handler. These count on from 0 in the order of asking.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_NUMBERS_H
#define RD_NUMBERS_H

#include <stddef.h>

#include "event.h"

/* Zero is empty. */
struct numbers {
    uint32_t n;     /* given so far */
    uint32_t first; /* program that .code begins with */
    size_t n_codes;
    struct numbers_code {
        uint32_t *number; /* by emu_inst.id, + 1; 0: none yet */
        size_t room;
    } *code;
};

/* The instruction's number + 1; 0: it has none yet. */
static inline uint32_t numbers_find(const struct numbers *t,
                                    const struct emu_inst *inst)
{
    const struct numbers_code *c = t->code + (inst->code - t->first);
    return inst->code - t->first < t->n_codes && inst->id < c->room
               ? c->number[inst->id]
               : 0;
}

/* Give it the next number. Returns that + 1; 0: out of memory, nothing has changed. */
uint32_t numbers_give(struct numbers *t, const struct emu_inst *inst);

/* Forget all, or give the memory back, too. */
void numbers_clear(struct numbers *t);
void numbers_free(struct numbers *t);

#endif
