/* valu.h: calls vector ALU semantics by name, SIMD level and MODE, for tests.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_VALU_H
#define TEST_VALU_H

#include <check.h>

#include "../sem_level/sem_test.h"

/* Entry number i of a level over all files, or NULL. */
const struct sem_entry *valu_entry(enum level level, size_t i);
const struct sem_entry *valu_find(enum level level, const char *name);

/* Operands of the 32 lanes; a result per lane in value and mask. */
struct lanes {
    uint64_t s[4][32]; /* [3]: the mask of a four-argument function */
    uint64_t value[32];
    uint32_t mask[32];
};

/* Run under the host float mode that MODE asks for, as valu.c of the emulator does. */
void valu_run(const struct sem_entry *e, const struct lane_mode *m, struct lanes *l);

/* One lane of the generic level. */
uint64_t valu1(const char *name, const struct lane_mode *m, uint64_t a, uint64_t b,
               uint64_t c);
/* The mask result of one lane. */
bool valu1_mask(const char *name, const struct lane_mode *m, uint64_t a, uint64_t b,
                uint64_t c);

/* Random bits of a type: special values often. */
uint64_t random_value(uint64_t *state, unsigned type);

int valu_main(const char *name, void (*add)(TCase *tc));

#endif
