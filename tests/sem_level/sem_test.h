/* sem_test.h: what tests of semantics share: SIMD levels, MODE, random bits, tables of
 * entries. SPDX-License-Identifier: MIT
 */
#ifndef SEM_TEST_H
#define SEM_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sem.h"

enum level { LEVEL_GENERIC, LEVEL_AVX2, LEVEL_AVX512, LEVEL_COUNT };

/* Can this host run the level? */
bool level_runs(enum level level);
const char *level_name(enum level level);

/* Default MODE of a test: nearest even, all denormals kept, IEEE, DX10_CLAMP. */
struct lane_mode level_mode(void);

/* Deterministic random bits. */
uint64_t random_bits(uint64_t *state);

/* LEVEL_DECLARE(FILES) and LEVEL_TABLE(NAME, FILES), where FILES(X, LEVEL) is X(file,
 * LEVEL) for each file of semantics: NAME[level] is a list of their entries that ends
 * with NULL. */
#define LEVEL_EXTERN(file, level)                                                      \
    extern const struct sem_entry sem_entries_##file##_##level[];
#define LEVEL_ENTRY(file, level) sem_entries_##file##_##level,
#define LEVEL_DECLARE(FILES)                                                           \
    FILES(LEVEL_EXTERN, generic) FILES(LEVEL_EXTERN, avx2) FILES(LEVEL_EXTERN, avx512)
#define LEVEL_TABLE(name, FILES)                                                       \
    static const struct sem_entry *const name[LEVEL_COUNT][16] = {                     \
        {FILES(LEVEL_ENTRY, generic) NULL},                                            \
        {FILES(LEVEL_ENTRY, avx2) NULL},                                               \
        {FILES(LEVEL_ENTRY, avx512) NULL},                                             \
    }

#endif
