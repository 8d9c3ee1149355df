/* constant.h: what a constant means under each operand format, for those who print it
 * and those who read it.
 * SPDX-License-Identifier: MIT
 */
#ifndef ISA_CONSTANT_H
#define ISA_CONSTANT_H

#include <stdint.h>

/* How constants of an operand look: the operand's format decides. */
enum constant_class {
    CONST_32,
    CONST_F16,
    CONST_I16,
    CONST_BF16,
    CONST_PK_F16,
    CONST_PK_BF16,
    CONST_I64,
    CONST_F64,
};

unsigned constant_class(unsigned fmt);

/* Bits of the inline constants ISA_SEL_FLOAT_FIRST and on, as each format has them. */
extern const uint16_t inline_half_bits[9];
extern const uint16_t inline_bfloat_bits[9];
extern const uint32_t inline_float_bits[9];

#endif
