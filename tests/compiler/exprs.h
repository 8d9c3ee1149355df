/* exprs.h: tensor expressions that every way of running them must agree on.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TEST_EXPRS_H
#define RD_TEST_EXPRS_H

#include "cc_tensor.h"

/* How many expressions there are: a fixed list, then random ones. */
unsigned exprs_count(void);
/* Build expression number i over fresh inputs of the context. name: 64 bytes */
cc_ref exprs_build(struct cc_context *c, unsigned i, char *name);
/* Realize it and compare with cc_evaluate; "" or what differs. tolerance: of floats,
 * relative to the largest element. text: 512 bytes */
void exprs_check(struct cc_context *c, cc_ref expr, double tolerance, char *text);

/* Check every step-th expression, or that number CC_EXPR of the environment, each in a
 * context that create makes. Names on stderr those that differ; how many do. tried:
 * out */
unsigned exprs_check_all(unsigned step, double tolerance,
                         rd_status (*create)(struct cc_context **c), unsigned *tried);

#endif
