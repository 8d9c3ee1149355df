/* block.h: a block of instructions as those see it who look further than one micro-op:
 * observers, checkers, native code.
 *
 * The interpreter needs no more than uop.run, which the predecoder sets for all code;
 * the record here takes some hundred bytes an instruction and is made when somebody
 * first asks for it, once for all who do. SPDX-License-Identifier: MIT
 */
#ifndef RD_BLOCK_H
#define RD_BLOCK_H

#include "program.h"

/* Registers: VGPRs by number; SGPRs, VCC, M0, EXEC, ... by isa_sel, SCC as the last. */
#define BLOCK_SCC 128u
struct reg_set {
    uint64_t vgpr[4], sgpr[3];
};

#define BLOCK_MAY_FAULT 1u  /* an address or a register number may be wrong */
#define BLOCK_BRANCHES  2u  /* its end may go elsewhere than to the next instruction */
#define BLOCK_STOPS     4u  /* at its end the wave may stop: barriers, sleep, the end */
#define BLOCK_MODE      8u  /* its end changes MODE */
#define BLOCK_RELATIVE  16u /* M0 selects registers: in and out lack those */

struct block {
    const struct uop *first;
    unsigned n_insts;
    unsigned flags; /* BLOCK_* */
    /* in: read, and not written before by the whole block's lanes or a scalar write;
     * out: written. A vector write under EXEC leaves the other lanes' values, so it
     * does not keep a register out of in. */
    struct reg_set in, out;
    const struct inst_info *inst[]; /* def/use and kind of each; u->mem is the plan */
};

/* The block that begins at leader; NULL if out of memory. Valid as long as the program.
 * Thread: any. */
const struct block *program_block(struct program *p, const struct uop *leader);

#endif
