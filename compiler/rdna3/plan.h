/* plan.h: decisions about a program; see plan.c, addr.c, mem.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_RDNA3_PLAN_H
#define RD_CC_RDNA3_PLAN_H

#include "rdna3.h"

void rdna3_plan(struct rdna3 *r);
/* LOAD or STORE of a register buffer? */
bool rdna3_is_reg(const struct cc_prog *p, const struct cc_inst *n);
bool rdna3_is_alias(const struct rdna3 *r, uint32_t at);

/* ---- addresses ---- */

#define RDNA3_TERMS 12

struct rdna3_term {
    uint32_t node; /* operation */
    int64_t by;
};

/* Where a LOAD or STORE goes: bytes from the beginning of memory. */
struct rdna3_place {
    uint32_t memory; /* operation */
    uint32_t n;
    bool gate;  /* not all lanes may go there */
    bool whole; /* the terms alone may be negative */
    int64_t offset;
    struct rdna3_term term[RDNA3_TERMS];
};

struct rdna3_address {
    struct mi_opnd vector; /* byte offset per lane */
    struct mi_opnd base;   /* SGPR pair; NONE for LDS */
    int64_t offset;
};

void rdna3_find_places(struct rdna3 *r);
bool rdna3_same_terms(const struct rdna3_place *a, const struct rdna3_place *b);
/* Bytes that are known to divide it. */
int64_t rdna3_alignment(const struct rdna3 *r, const struct rdna3_place *p);
bool rdna3_is_uniform(const struct rdna3 *r, const struct rdna3_place *p);
/* The terms' sum; there must be one. */
struct mi_opnd rdna3_sum(struct rdna3 *r, const struct rdna3_place *p, bool vector);
struct rdna3_address rdna3_address(struct rdna3 *r, const struct rdna3_place *p);
/* At the end of a loop's body, and after the loop; after an IF. */
void rdna3_emit_steps(struct rdna3 *r, uint32_t scope);
void rdna3_close_sums(struct rdna3 *r, uint32_t scope);
void rdna3_forget_sums(struct rdna3 *r, uint32_t scope, uint32_t if_depth);

/* ---- memory, mem.c ---- */

void rdna3_load(struct rdna3 *r, uint32_t at);
void rdna3_store(struct rdna3 *r, uint32_t at);
/* Only lanes of the mask go on; what EXEC was. */
struct mi_opnd rdna3_narrow(struct rdna3 *r, struct mi_opnd gate);
void rdna3_restore(struct rdna3 *r, struct mi_opnd saved);

/* ---- fragments, wmma.c ---- */

/* Which operands of a product are whole registers. */
extern const size_t rdna3_slot_bytes;
void rdna3_plan_products(struct rdna3 *r);
/* Where in a fragment a group of f16 LOADs goes; NONE if they are not all in one. */
struct mi_opnd rdna3_fragment(struct rdna3 *r, const uint32_t *list, unsigned count);
void rdna3_product(struct rdna3 *r, uint32_t at);

#endif
