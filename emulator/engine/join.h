/* join.h: opcode -> semantics function.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_JOIN_H
#define RD_JOIN_H

#include "level.h"

/* Fill sem with the level's functions. Opcodes without semantics stay NULL. */
void join_semantics(const struct level_ops *level,
                    const struct sem_entry *sem[ISA_OP_COUNT]);

#endif
