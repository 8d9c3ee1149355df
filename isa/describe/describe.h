/* describe.h: one line on what an opcode does.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ISA_DESCRIBE_H
#define RD_ISA_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

enum { ISA_DESCRIBE_BYTES = 256 };

/* Write a line of English on what the opcode does: S0, S1, S2 are its sources in the
 * order of the text, D is what it writes. For readers only: semantics are those of the
 * function that the fact sheet names. False: a part of its name is not known. */
bool isa_describe(unsigned op, char text[static ISA_DESCRIBE_BYTES]);

#endif
