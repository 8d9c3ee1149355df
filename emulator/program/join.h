/* join.h: opcode -> semantics function.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_JOIN_H
#define RD_JOIN_H

#include "wave.h"

/* Fill emu->sem for emu->level. Opcodes without semantics stay NULL. */
RD_CHECKED rd_status join_semantics(struct emu *emu);

/* Fill the micro-op of one decoded instruction.
 *
 * u  out, the slot of its first dword; the following slots of the instruction are used
 *    for more operands
 * What cannot run gets a handler that faults by name.
 */
void predecode(struct emu *emu, struct program *p, const struct isa_inst *inst,
               struct uop *u);

/* A constant of one or two dwords as broadcast rows; copies: consecutive registers that
 * hold it (WMMA's C). Returns the first row, or -1 if the pool is full. */
int program_const(struct program *p, uint64_t value, unsigned dwords, unsigned copies);

#endif
