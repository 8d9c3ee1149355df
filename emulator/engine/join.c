/* join.c: which semantics function belongs to which opcode.
 *
 * The fact sheet names the function of each opcode; gen/semscan.c has found where that
 * is, and refuses names without functions and functions without names. Opcodes that the
 * sheet calls unsupported have none.
 * SPDX-License-Identifier: MIT
 */
#include "join.h"

/* File and entry in level_ops.entries, of opcodes that have a function. */
static const struct {
    uint16_t op, file, entry;
} joins[] = {
#define JOIN(op, file, entry) {ISA_##op, file, entry},
#include "sem_join.inc"
#undef JOIN
};

void join_semantics(const struct level_ops *level,
                    const struct sem_entry *sem[ISA_OP_COUNT])
{
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
        sem[joins[i].op] = &level->entries[joins[i].file][joins[i].entry];
}
