/* elem.h: element types of buffers and scalar arguments (i8 ... u64, f16, f32, f64).
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ELEM_H
#define RD_ELEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "status.h"

enum elem_class { ELEM_SIGNED, ELEM_UNSIGNED, ELEM_FLOAT };

struct elem_type {
    const char *name;
    enum elem_class cls;
    unsigned bytes;
};

/* The type called by the len characters at name, or NULL. */
const struct elem_type *elem_find(const char *name, size_t len);

/* Parse one value of the type into its bytes (little-endian, in the low bytes of out).
 * Integers must fit; hexadecimal ones may use all bits of a signed type. Floating-point
 * values are rounded to nearest even; "inf" and "nan" are values too.
 * Returns RD_OK, RD_E_FORMAT or RD_E_RANGE. */
RD_CHECKED rd_status elem_parse(const struct elem_type *type, const char *text,
                                uint64_t *out);

/* Print one element so that it reads back to the same bits. */
void elem_print(const struct elem_type *type, const void *at, FILE *f);

/* Fill whole elements with 0, 1, 2 ... (integers wrap); a rest smaller than one element
 * stays as it is. */
void elem_iota(const struct elem_type *type, void *at, uint64_t bytes);

/* Fill with the numbers that seed gives, the same on every host: integers use all their
 * bits, floating-point numbers are uniform in [-1, 1). */
void elem_rand(const struct elem_type *type, uint64_t seed, void *at, uint64_t bytes);

/* binary16 to and from binary64, the latter rounding to nearest even. */
double elem_from_f16(uint16_t bits);
uint16_t elem_to_f16(double value);

#endif
