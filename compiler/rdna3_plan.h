/* rdna3_plan.h: decisions about a program; see rdna3_plan.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_RDNA3_PLAN_H
#define RD_CC_RDNA3_PLAN_H

#include "rdna3.h"

void rdna3_plan(struct rdna3 *r);
/* LOAD or STORE of a register buffer? */
bool rdna3_is_reg(const struct cc_prog *p, const struct cc_inst *n);
bool rdna3_is_alias(const struct rdna3 *r, uint32_t at);

/* Where a LOAD or STORE goes: element index of memory, and bytes beyond. */
struct rdna3_place {
    uint32_t memory, index; /* operations; index UINT32_MAX: none */
    int64_t offset;
};
struct rdna3_place rdna3_place(const struct rdna3 *r, const struct cc_inst *n);
int64_t rdna3_divisor(const struct cc_uop *n);
unsigned rdna3_run(const struct rdna3 *r, uint32_t at, const bool *done, unsigned max,
                   uint32_t *list);

#endif
