/* levels.h: semantics entries by name and SIMD level, for tests.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_LEVELS_H
#define TEST_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sem.h"

enum level { LEVEL_GENERIC, LEVEL_AVX2, LEVEL_AVX512, LEVEL_COUNT };

/* Can this host run the level? */
bool level_runs(enum level level);
const char *level_name(enum level level);

/* The entry of a mnemonic's function; fails the test if there is none. */
const struct sem_entry *level_entry(enum level level, const char *name);

/* Number of functions of a kind in this folder's files. */
unsigned level_count(enum sem_kind kind);

/* Default MODE of a test: nearest even, all denormals kept, IEEE, DX10_CLAMP. */
struct lane_mode level_mode(void);

/* Deterministic random bits. */
uint64_t random_bits(uint64_t *state);

/* A 16-bit float that is special or of a moderate exponent more often than not. */
uint16_t random_half(uint64_t *state, bool bf16, bool finite);
uint32_t random_single(uint64_t *state, bool finite);

#endif
