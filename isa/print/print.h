/* print.h: what the printer's files share.
 * SPDX-License-Identifier: MIT
 */
#ifndef ISA_PRINT_H
#define ISA_PRINT_H

#include "constant.h"
#include "tables.h"
#include "text.h"

struct printer {
    struct text out;
    const struct isa_inst *inst;
    const struct isa_row *row;
    unsigned wave;
    unsigned flags; /* ISA_PRINT_* */
};

/* A register or constant of the nine-bit space; fmt says how constants look. */
bool print_sel(struct text *t, unsigned sel, unsigned dwords, unsigned constant_class);

void print_literal(struct text *t, uint32_t literal, unsigned constant_class);

/* Immediates with a syntax of their own. */
void print_waitcnt(struct text *t, uint32_t imm);
void print_depctr(struct text *t, uint32_t imm);
void print_delay_alu(struct text *t, uint32_t imm);
void print_hwreg(struct text *t, uint32_t imm);
void print_sendmsg(struct text *t, uint32_t imm);
void print_version(struct text *t, uint32_t imm);
void print_target(struct text *t, uint32_t imm);
void print_swizzle(struct text *t, uint32_t offset);
void print_dpp_ctrl(struct text *t, uint32_t ctrl);

#endif
