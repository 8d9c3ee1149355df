/* isa_random.h: random encodings of a given row, for tests of assemblers and decoders.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ISA_RANDOM_H
#define RD_ISA_RANDOM_H

#include "isa.h"

/* The next pseudo-random number; state must not be 0. */
uint32_t isa_random_next(uint64_t *state);

/* Fill an encoding of the row with random fields, edges of their ranges more often than
 * the middle.
 *
 * variant  enum isa_variant to aim at
 * state    of isa_random_next
 * code     out, ISA_MAX_BYTES
 *
 * The result need not be an instruction: isa_decode tells, and which variant it is.
 */
void isa_random(unsigned row, unsigned variant, uint64_t *state, uint8_t *code);

#endif
