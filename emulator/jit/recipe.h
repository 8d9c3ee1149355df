/* recipe.h: what an opcode is in vector instructions of the host.
 *
 * A recipe is a list of steps that is carried out for each part of a row (a vector
 * register of the host). It means what the semantics function of its opcode means, for
 * 32-bit lanes; modifiers, EXEC and where operands live are added by vector.c.
 * tests/jit compares every recipe with its function. SPDX-License-Identifier: MIT
 */
#ifndef RD_RECIPE_H
#define RD_RECIPE_H

#include "isa.h"
#include "x86.h"

/* Operands of steps. */
enum step_operand {
    OP_NONE,
    OP_S0, /* the sources, in the order of the function's arguments */
    OP_S1,
    OP_S2,
    OP_H,  /* the upper row of the first source that is a pair */
    OP_H1, /* ... of source 1 if source 0 is a pair too */
    OP_H2, /* ... of source 2 likewise */
    OP_D,  /* the result: written by the last step, which may read sources too */
    OP_DH, /* the upper row of the result: by the step behind that */
    OP_T0,
    OP_T1,
    OP_T2, /* not in a last step, nor with a constant as second operand or H as first */
    OP_CONST, /* + enum recipe_const */
};

enum recipe_const {
    C_ZERO,
    C_ONES,
    C_SIGN,
    C_NOT_SIGN,
    C_31,
    C_63,
    C_1,
    C_255,
    C_24BITS,
    C_32,
    C_LANES0, /* 31 - lane, four rows of eight lanes: a mask bit moved to the sign */
    C_LANES1,
    C_LANES2,
    C_LANES3,
    C_LANE1_0, /* lane, 2 * lane */
    C_LANE1_1,
    C_LANE2_0,
    C_LANE2_1,
    C_LANE4_0, /* 4 * lane, two rows of sixteen lanes */
    C_LANE4_1,
    C_LANE8_0, /* 8 * lane, 16 * lane */
    C_LANE8_1,
    C_LANE16_0,
    C_LANE16_1,
    C_UPPER, /* the upper halves of elements of 64 bits */
    C_EVEN,  /* indices of VPERMI2D: dword 0 and 1 of eight bytes, of two registers */
    C_ODD,
    C_QUAD0, /* dword 0 to 3 of sixteen bytes: 8 of them, twice */
    C_QUAD1,
    C_QUAD2,
    C_QUAD3,
    C_ZIP2_0, /* the inverse: lanes 0 to 7 and 8 to 15 of two registers */
    C_ZIP2_1,
    C_ZIP4_0, /* lanes 4n to 4n + 3, each twice */
    C_ZIP4_1,
    C_ZIP4_2,
    C_ZIP4_3,
    C_SIGN16, /* of the lower half, of both; the lower half */
    C_SIGNS16,
    C_LOW16,
    C_2_16F, /* 2^16, 2^31, 2^32 as f32 */
    C_2_31F,
    C_2_32F,
    C_QUIET, /* the bit of quiet NaNs */
    C_15,
    C_NOT_SIGN16,
    C_NOT_SIGNS16,
    C_HIGH16,
    C_INFS16, /* f16 infinities */
    C_NIBBLES,
    C_NIBBLE_BITS, /* PSHUFB: how many bits are set in a number below 16 */
    C_BYTES_1,
    C_WORDS_1,
    C_LOWS, /* PSHUFB: the lower halves of four dwords; the upper ones */
    C_HIGHS,
    C_LOW_LOW, /* a dword's lower half twice, its upper one, both exchanged */
    C_HIGH_HIGH,
    C_HIGH_LOW,
    C_BELOW_0, /* bits of the lanes below; two rows of sixteen lanes */
    C_BELOW_1,
    C_USUAL, /* enum range: the least magnitude, and what is from there on too much */
    C_USUAL_SPAN,
    C_NORMAL,
    C_NORMAL_SPAN,
    N_CONSTS,
};
#define K(name) (OP_CONST + (unsigned)C_##name)

/* One row of 16 dwords each. */
extern const uint32_t recipe_consts[N_CONSTS][16];

/* Steps that are no form of the host. */
enum {
    STEP_FMA = X86_FORMS, /* d = a * b + c, c is S2; imm 1: of halves (FP16) */
    STEP_CMPF,            /* the mask M = a compared with b, floats; imm as in CMPPS */
    STEP_CMPS,            /* ... signed; imm is enum int_cmp */
    STEP_CMPU,            /* ... unsigned */
    STEP_SEL,             /* d = M ? b : a */
    STEP_ORDERED,         /* NaNs in a or b: the handler does the whole row */
    STEP_WITHIN,  /* ... magnitudes of a outside of what imm, enum range, says */
    STEP_NO_VCC,  /* ... bits in VCC */
    STEP_ROUNDED, /* ... a float mode of f64 that is not that of f32 */
    STEP_DOUBLE,  /* D and DH = arithmetic on pairs, f64; imm: enum double_op */
    STEP_PICK,   /* AVX2: of a minimum or maximum d of a and b, lanes where one is a NaN
                  */
    STEP_WIDEN,  /* d = the lower halves of b, f16, as f32 */
    STEP_NARROW, /* the lower half of register d = b, f32, as f16; imm as in VCVTPS2PH
                  */
    STEP_HALVES, /* ... = arithmetic on f16 sources; imm: enum half_op, enum half_part
                  */
    STEP_JOIN,   /* d = the lower halves of registers a and b behind one another */
    STEP_BYTES,  /* d = bytes of the words of b as words; imm: enum byte_part */
};

/* imm of STEP_HALVES: what is done to sources 0, 1 and 2, with which of their halves:
 * the lower ones of dwords, or those in the lower or upper half of the register. */
enum half_op { HALF_ADD, HALF_SUB, HALF_MUL, HALF_FMA };
enum half_part { HALF_LOWS = 0, HALF_FIRST = 4, HALF_SECOND = 8 };

/* imm of STEP_DOUBLE: with sources 0, 1 and 2. */
enum double_op { DOUBLE_ADD, DOUBLE_MUL, DOUBLE_FMA };

/* imm of STEP_WITHIN: from 2^-63 up to 2^33; neither denormal, infinite nor NaN. */
enum range { RANGE_USUAL, RANGE_NORMAL };

/* imm of STEP_BYTES: the lower bytes or the upper ones; signed, or signed if NEG of the
 * source says so. */
enum byte_part { BYTES_LOW, BYTES_HIGH, BYTES_NEG = 2 };

/* Predicates of VPCMPD. */
enum int_cmp { CMP_EQ, CMP_LT, CMP_LE, CMP_FALSE, CMP_NE, CMP_GE, CMP_GT, CMP_TRUE };
#define CMP_MORE 0x80u /* M keeps the lanes that it has */

struct step {
    uint8_t form; /* enum x86_form, or STEP_* */
    uint8_t d, a, b;
    uint8_t imm;
};

#define RECIPE_STEPS 15

enum recipe_kind {
    RECIPE_VALUE,    /* D */
    RECIPE_PAIR,     /* D and DH; a mask that is null */
    RECIPE_MASK,     /* M: a bit per lane */
    RECIPE_CARRY,    /* D, and M */
    RECIPE_SELECT,   /* D; source 2 is a mask in SGPRs, which is M before the steps */
    RECIPE_CARRY_IN, /* both */
};

#define RECIPE_EVEX   1u /* only with AVX-512 */
#define RECIPE_VEX    2u /* only with AVX2 */
#define RECIPE_WIDE1  8u /* source 1 is a pair */
#define RECIPE_WIDE2  16u
#define RECIPE_DENORM 4u  /* only if f32 denormals are kept as inputs */
#define RECIPE_HALF   32u /* only if f16 is as usual (NATIVE_HALF) */
#define RECIPE_IEEE   64u /* only in IEEE mode */
#define RECIPE_AGAIN                                                                   \
    128u                   /* each use of a source prepares it: its temporary is free  \
                            */
#define RECIPE_WIDE0 256u  /* source 0 is a pair */
#define RECIPE_FP16  512u  /* only with AVX512-FP16; before the recipe of other hosts */
#define RECIPE_FLOAT 1024u /* pairs are f64, with modifiers */

struct recipe {
    uint16_t op; /* an opcode with that function */
    uint16_t flags;
    uint8_t kind, n_src;
    uint8_t n;
    struct step step[RECIPE_STEPS];
};

/* The recipes of a level (evex: AVX-512, else AVX2). n: how many. */
extern const struct recipe recipes[];
extern const unsigned n_recipes;

#endif
