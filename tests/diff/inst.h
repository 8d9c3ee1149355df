/* inst.h: random instructions for program.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_DIFF_INST_H
#define TEST_DIFF_INST_H

#include "program.h"

uint32_t below(uint64_t *state, uint32_t n); /* 0 to n - 1 */
bool chance(uint64_t *state, uint32_t n);    /* one in n */

/* Append an assembled line, or an instruction (false if it cannot be encoded). */
__attribute__((format(printf, 3, 4))) void item_line(struct item *it, unsigned lanes,
                                                     const char *fmt, ...);
bool item_append(struct item *it, unsigned lanes, const struct isa_inst *in);

/* Give a register operand a free register, or leave a constant. */
void move_operand(uint64_t *r, struct isa_inst *in, unsigned i);

/* An instruction of a row and variant with what it needs in front. */
bool inst_random(uint64_t *r, struct item *it, unsigned lanes, unsigned row,
                 unsigned variant);

/* inst_mem.c: the same for a decoded memory instruction. */
bool inst_memory(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in);

#endif
