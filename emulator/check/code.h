/* code.h: code as it lies in memory, for checkers that look at what is not executed.
 * SPDX-License-Identifier: MIT
 */
#ifndef CK_CODE_H
#define CK_CODE_H

#include "internal.h"

/* The memory that some code lies in. */
struct ck_code {
    uint64_t begin, end;
    unsigned lanes; /* of its waves */
};

/* False: pc lies in no memory. */
bool ck_code_find(const struct ck *ck, uint64_t pc, struct ck_code *out);

/* False: it lies outside, or is no instruction. */
bool ck_code_at(const struct ck_code *c, uint64_t at, struct isa_inst *out);

/* Where the branch at at goes, if it is one and says so; else 0. */
uint64_t ck_code_target(const struct isa_inst *inst, uint64_t at);

/* Is it a load past the caches, as atomic ones are? */
bool ck_code_passes_caches(const struct isa_inst *inst);

#endif
