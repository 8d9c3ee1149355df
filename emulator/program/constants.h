/* constants.h: a program's constants as rows of 32 dwords, ready to be vector sources.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CONSTANTS_H
#define RD_CONSTANTS_H

#include <stdint.h>

struct constants;

/* NULL if out of memory. */
struct constants *constants_create(void);
void constants_destroy(struct constants *k);

/* The rows; they never move. */
const uint32_t *constants_rows(const struct constants *k);

/* A constant of one or two dwords as broadcast rows; copies: consecutive registers that
 * hold it (WMMA's C). Returns the first row, or -1 if the pool is full. */
int constants_row(struct constants *k, uint64_t value, unsigned dwords,
                  unsigned copies);

#endif
