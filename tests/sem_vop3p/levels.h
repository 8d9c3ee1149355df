/* levels.h: semantics entries by name and SIMD level, for tests.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_LEVELS_H
#define TEST_LEVELS_H

#include "../sem_level/sem_test.h"

/* The entry of a mnemonic's function; fails the test if there is none. */
const struct sem_entry *level_entry(enum level level, const char *name);

/* Number of functions of a kind in this folder's files. */
unsigned level_count(enum sem_kind kind);

/* A 16-bit float that is special or of a moderate exponent more often than not. */
uint16_t random_half(uint64_t *state, bool bf16, bool finite);
uint32_t random_single(uint64_t *state, bool finite);

#endif
