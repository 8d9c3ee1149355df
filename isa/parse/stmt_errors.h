/* stmt_errors.h: what can be wrong with a statement. %s is a piece of it.
 * SPDX-License-Identifier: MIT
 */
#ifndef ISA_STMT_ERRORS_H
#define ISA_STMT_ERRORS_H

/* code, text */
#define ST_ERROR_LIST(X)                                                               \
    X(ST_E_FOREIGN, "")                                                                \
    X(ST_E_MNEMONIC, "unknown instruction '%s'")                                       \
    X(ST_E_NO_MNEMONIC, "expected an instruction")                                     \
    X(ST_E_GONE, "gfx1100 does not support '%s'")                                      \
    X(ST_E_NO_E32, "'%s' has no 32-bit encoding (_e32)")                               \
    X(ST_E_NO_E64, "'%s' has no VOP3 encoding (_e64)")                                 \
    X(ST_E_NO_DPP, "'%s' has no DPP form")                                             \
    X(ST_E_NO_SDWA, "gfx1100 has no SDWA forms")                                       \
    X(ST_E_OPERAND, "expected a register, a number or an expression")                  \
    X(ST_E_REGISTER, "expected a register")                                            \
    X(ST_E_TOO_FEW, "too few operands")                                                \
    X(ST_E_TOO_MANY, "too many operands")                                              \
    X(ST_E_AFTER_MODS, "operands must come before modifiers")                          \
    X(ST_E_EXPR, "%s")                                                                 \
    X(ST_E_NUMBER, "malformed number")                                                 \
    X(ST_E_PAREN, "expected ')'")                                                      \
    X(ST_E_OPEN_PAREN, "expected '('")                                                 \
    X(ST_E_BRACKET, "expected ']'")                                                    \
    X(ST_E_OPEN_BRACKET, "expected '['")                                               \
    X(ST_E_BAR, "expected '|' after the absolute value")                               \
    X(ST_E_COMMA, "expected ','")                                                      \
    X(ST_E_COLON, "expected ':'")                                                      \
    X(ST_E_SYMBOL, "a symbol cannot be used here: the value must be known")            \
    X(ST_E_LABEL, "expected a number or a label")                                      \
    X(ST_E_MINUS_MINUS, "write neg(...) for a doubled minus sign")                     \
    X(ST_E_NO_AGPR, "gfx1100 has no accumulation registers (AGPRs)")                   \
    X(ST_E_NO_REG, "register '%s' does not exist on gfx1100")                          \
    X(ST_E_NO_SPECIAL, "'%s' is no operand on gfx1100")                                \
    X(ST_E_ZERO_FLAG, "vccz and execz are no operands on gfx1100")                     \
    X(ST_E_REG_INDEX, "register index is out of range")                                \
    X(ST_E_REG_ORDER, "first register index must not exceed the second")               \
    X(ST_E_REG_SIZE, "no operand has this many registers")                             \
    X(ST_E_REG_ALIGN,                                                                  \
      "register alignment: scalar pairs start even, larger groups at multiples of 4")  \
    X(ST_E_LIST_MIXED, "registers in a list must be of one kind")                      \
    X(ST_E_LIST_GAP, "registers in a list must be consecutive")                        \
    X(ST_E_LIST_WIDE, "a list holds single 32-bit registers")                          \
    X(ST_E_MOD_ORDER, "modifier '%s' is out of order")                                 \
    X(ST_E_MOD_TWICE, "modifier '%s' is given twice")                                  \
    X(ST_E_MOD_VALUE, "invalid value for '%s'")                                        \
    X(ST_E_MOD_ROW, "modifier '%s' does not belong to this form of the instruction")   \
    X(ST_E_VGPR, "operand must be a vector register")                                  \
    X(ST_E_LOW_VGPR, "16-bit operands of this encoding are v0 to v127")                \
    X(ST_E_SGPR, "operand must be a scalar register")                                  \
    X(ST_E_WIDTH, "operand has the wrong number of registers")                         \
    X(ST_E_WAVE_MASK, "lane mask must be one register in wave32, a pair in wave64")    \
    X(ST_E_CLASS, "this register is not allowed here")                                 \
    X(ST_E_NOT_IMM, "a number is not allowed here")                                    \
    X(ST_E_NOT_LITERAL, "only an inline constant is allowed here, not a literal")      \
    X(ST_E_DPP_LITERAL, "DPP leaves no room for a literal")                            \
    X(ST_E_DPP_SOURCE, "with DPP this source must be a vector register")               \
    X(ST_E_LITERAL_SIZE, "number does not fit the operand")                            \
    X(ST_E_FLOAT_INT64, "a 64-bit integer operand takes no float literal")             \
    X(ST_E_FLOAT_RANGE, "float does not fit the operand")                              \
    X(ST_E_TWO_LITERALS, "only one unique literal is allowed")                         \
    X(ST_E_BUS,                                                                        \
      "constant bus limit: too many different scalar registers and literals")          \
    X(ST_E_SIGN_MOD, "operand takes no |x|, -x or sext(x)")                            \
    X(ST_E_HALF, "operand has no .l or .h")                                            \
    X(ST_E_IMM, "expected a number")                                                   \
    X(ST_E_RANGE, "value is out of range")                                             \
    X(ST_E_RANGE16, "value does not fit in 16 bits")                                   \
    X(ST_E_JUMP, "jump distance must fit in 16 bits")                                  \
    X(ST_E_OFFSET, "offset is out of range: %s")                                       \
    X(ST_E_NO_OFFSET, "this form takes no offset")                                     \
    X(ST_E_NAME, "unknown name '%s'")                                                  \
    X(ST_E_NAME_HERE, "'%s' is not on gfx1100")                                        \
    X(ST_E_DUPLICATE, "'%s' is given twice")                                           \
    X(ST_E_SYNTAX, "unexpected text")                                                  \
    X(ST_E_MSG_OP, "message takes no operation, or lacks one")                         \
    X(ST_E_MSG_STREAM, "message operation takes no stream")                            \
    X(ST_E_TARGET, "unknown export target")                                            \
    X(ST_E_ATTR, "expected attrN.x, .y, .z or .w with N from 0 to 32")                 \
    X(ST_E_FORMAT, "unknown buffer format")                                            \
    X(ST_E_SWIZZLE, "malformed swizzle")                                               \
    X(ST_E_MUST_GLC, "an atomic that returns the old value must use glc")              \
    X(ST_E_NOT_GLC, "an atomic without destination must not use glc")                  \
    X(ST_E_DATA_SIZE, "image data size does not match dmask, d16 and tfe")             \
    X(ST_E_ADDR_SIZE, "image address size does not match dim and a16")                 \
    X(ST_E_GATHER_DMASK, "gather dmask must name one channel")                         \
    X(ST_E_ATOMIC_DMASK, "atomic dmask must be 0x1, 0x3 or 0xf for the data")          \
    X(ST_E_MSAA_DIM, "dim must be an MSAA type")                                       \
    X(ST_E_NEED_DIM, "image instruction needs dim:")                                   \
    X(ST_E_NEED_GDS, "this instruction needs gds")                                     \
    X(ST_E_NO_GDS, "this instruction takes no gds")                                    \
    X(ST_E_VADDR, "address registers do not match idxen and offen")                    \
    X(ST_E_OFF, "'off' is not allowed here")                                           \
    X(ST_E_WAVE32, "dual issue (VOPD) exists only in wave32")                          \
    X(ST_E_DUAL, "expected '::' and a second v_dual_ instruction")                     \
    X(ST_E_DUAL_X, "'%s' cannot be the first half of a VOPD")                          \
    X(ST_E_DUAL_Y, "'%s' cannot be the second half of a VOPD")                         \
    X(ST_E_VOPD_DST, "VOPD: one destination must be even, the other odd")              \
    X(ST_E_VOPD_BANK0,                                                                 \
      "VOPD bank: the first sources need different banks (number modulo 4)")           \
    X(ST_E_VOPD_BANK1,                                                                 \
      "VOPD bank: the second sources need different banks (number modulo 4)")          \
    X(ST_E_VOPD_BANK2, "VOPD bank: the third sources must be one even, one odd")       \
    X(ST_E_NULL, "the destination must be null")                                       \
    X(ST_E_OP_SEL, "op_sel bit is not allowed for this instruction")                   \
    X(ST_E_NEG_BIT, "neg_lo or neg_hi bit is not allowed for this instruction")        \
    X(ST_E_SCALAR_MEM, "invalid cache policy for scalar memory")                       \
    X(ST_E_TFE_STORE, "tfe has no meaning here")                                       \
    X(ST_E_ENCODE, "no such encoding")

enum st_error {
    ST_E_NONE,
#define X(code, text) code,
    ST_ERROR_LIST(X)
#undef X
};

#endif
