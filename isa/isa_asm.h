/* isa_asm.h: assemble one statement over the same tables as the disassembler.
 *
 * Knows instructions, operands and modifiers; not sections, labels or directives: those
 * are the caller's, who gives expressions a meaning through a callback. Allocates
 * nothing, keeps no state.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ISA_ASM_H
#define RD_ISA_ASM_H

#include "isa.h"

/* What an expression evaluates to. */
struct isa_value {
    bool known;      /* value is final; else it is resolved later through a fixup */
    int64_t value;   /* if known */
    uint32_t handle; /* if not known: the caller's name for the expression */
};

/* How the bytes of an unresolved expression are patched in later. */
enum isa_fixup_kind {
    ISA_FIXUP_NONE,
    ISA_FIXUP_ABS32,  /* a literal dword */
    ISA_FIXUP_BRANCH, /* simm16, dwords from the end of the instruction */
    ISA_FIXUP_SIMM16, /* simm16 as it is */
};

struct isa_fixup {
    uint8_t kind;   /* enum isa_fixup_kind */
    uint8_t offset; /* of the patched bytes in the encoding */
    uint32_t handle;
};

struct isa_asm_error {
    unsigned column; /* counted from 1, where the mistake is */
    char text[160];  /* what is wrong and the rule it breaks */
};

/* Expression syntax that is not a register, number or modifier is handed to the caller.
 *
 * text, len  the statement from the expression on
 * used       out, characters consumed
 * Returns RD_OK, RD_E_NOT_FOUND if no expression starts here, else an error whose text
 * is in err (column counted from text).
 */
typedef rd_status isa_expr_fn(void *ctx, const char *text, size_t len, size_t *used,
                              struct isa_value *out, struct isa_asm_error *err);

struct isa_asm_options {
    unsigned wave;     /* 32 or 64 */
    isa_expr_fn *expr; /* NULL: plain numbers only */
    void *ctx;
};

/* Assemble one statement (no label, no comment).
 *
 * The language is LLVM 19's for gfx1100, true16 spellings (v1.l) included, with its
 * choice of encoding: the 32-bit form, then VOP3, then either with DPP. What LLVM
 * accepts but drops in silence (bits above a field, |x| without a bit for it) is
 * refused.
 *
 * code    out, the encoding in memory order, at least 20 bytes
 * bytes   out, its length
 * fixup   out, kind NONE if everything was known
 * err     out on failure
 * Returns RD_OK, RD_E_ENCODING (not an instruction, or a rule is broken).
 */
RD_CHECKED rd_status isa_assemble(const char *text, size_t len,
                                  const struct isa_asm_options *options, uint8_t *code,
                                  unsigned *bytes, struct isa_fixup *fixup,
                                  struct isa_asm_error *err);

/* Encode a decoded (or hand-built) instruction: the inverse of isa_decode.
 *
 * Returns RD_OK, RD_E_ENCODING if a field cannot hold its value.
 */
RD_CHECKED rd_status isa_encode(const struct isa_inst *inst, unsigned wave,
                                uint8_t *code, unsigned *bytes);

#endif
