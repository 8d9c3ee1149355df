/* rdna3/isa.h: single instructions: bytes to text and operands, text to bytes.
 *
 * The language is LLVM 19's for gfx1100. Nothing here allocates or keeps state; all of
 * it may be called from any thread. SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_ISA_H
#define RDNA3_ISA_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum rdna3_operand_kind {
    RDNA3_OPERAND_REGISTER, /* or a constant such as 0.5: see name */
    RDNA3_OPERAND_LITERAL,  /* the dword behind the instruction */
    RDNA3_OPERAND_IMMEDIATE,
    RDNA3_OPERAND_OTHER /* "off", memory, PC: what has no value of its own */
};

#define RDNA3_OPERAND_IN       1u /* is read */
#define RDNA3_OPERAND_OUT      2u /* is written */
#define RDNA3_OPERAND_IMPLICIT 4u /* does not appear in the text */

/* One operand of an instruction. */
struct rdna3_operand {
    uint32_t kind;  /* enum rdna3_operand_kind */
    uint32_t flags; /* RDNA3_OPERAND_IN ... */
    uint32_t
        number; /* of a register: SGPRs 0 to 105, VGPR n is 256 + n, others between */
    uint32_t dwords; /* registers that it covers; 0 if it is none */
    int64_t value;   /* of a literal or an immediate */
    char name[32];   /* "v3", "s[2:3]", "vcc_lo", "0.5"; "" if it is no register */
};

#define RDNA3_MAX_OPERANDS 12
#define RDNA3_MAX_BYTES    12

/* A decoded instruction. */
struct rdna3_inst {
    uint32_t bytes;       /* length: 4, 8 or 12 */
    uint32_t n_operands;  /* destinations first; both halves of a v_dual_ */
    const char *mnemonic; /* base mnemonic, "v_add_f32"; stays valid */
    const char *encoding; /* "VOP3"; stays valid */
    char text[256];       /* canonical, as llvm-mc prints it */
    struct rdna3_operand operand[RDNA3_MAX_OPERANDS];
};

/* Decode one instruction.
 *
 * code   little-endian dwords, bytes of them; may end in the middle of an instruction
 * wave   32 or 64: masks are one SGPR or two
 * out    overwritten
 * Returns RDNA3_OK, RDNA3_E_TRUNCATED, or RDNA3_E_ENCODING: no gfx1100 instruction.
 */
RDNA3_CHECKED int rdna3_decode(const void *code, size_t bytes, unsigned wave,
                               struct rdna3_inst *out);

/* Encode one statement (no label, no comment).
 *
 * code    out, RDNA3_MAX_BYTES of room
 * bytes   out, its length
 * column  out on failure, where the mistake is, from 1; may be NULL
 * Returns RDNA3_OK, or RDNA3_E_ENCODING with the rule that is broken in err.
 */
RDNA3_CHECKED int rdna3_encode(const char *statement, unsigned wave, void *code,
                               unsigned *bytes, unsigned *column,
                               struct rdna3_error *err);

/* How many mnemonics there are, and their names; NULL beyond the last. */
RDNA3_API unsigned rdna3_mnemonic_count(void);
RDNA3_API const char *rdna3_mnemonic(unsigned index);

#ifdef __cplusplus
}
#endif

#endif
