/* exprs_input.h: between the files that make expressions.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TEST_EXPRS_INPUT_H
#define RD_TEST_EXPRS_INPUT_H

#include "cc_tensor.h"

/* An input of quarter numbers in [-4, 4), or of integers in [-40, 40) or [0, 80), in
 * the context of the expression being built. */
cc_ref exprs_input(enum cc_dtype dtype, unsigned ndim, const int64_t *shape);

/* ---- exprs_matrix.c ---- */

unsigned matrix_count(void);
cc_ref matrix_build(struct cc_graph *g, unsigned i, char *name);

#endif
