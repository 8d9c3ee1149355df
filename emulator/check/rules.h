/* rules.h: what an instruction makes of undefined bits, one lane at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_RULES_H
#define RD_CHECK_RULES_H

#include "bits.h"

/* The three parts: rules that look at one lane alone and give it a value; those that
 * combine EXEC with a mask; those of lanes.c, which look at others. */
/* clang-format off */
#define RULES_OF_LANES_ALONE(X) \
    X(ANY) X(MOVE) X(CMOV) X(NOT) X(AND) X(OR) X(XOR) X(NAND) X(NOR) X(XNOR) \
    X(AND_NOT1) X(OR_NOT1) X(SHL) X(SHR) X(SAR) X(SHLREV) X(SHRREV) X(SARREV) \
    X(REVERSE) X(CTZ) X(CLZ) X(BITSET0) X(BITSET1) X(BITCMP0) X(BITCMP1) \
    X(COUNT0) X(COUNT1) X(REPLICATE) X(SEXT) X(ABS) X(ABSDIFF) X(ADD) X(SUB) \
    X(SUBREV) X(ADDC) X(SUBB) X(SUBBREV) X(ADD_SIGNED) X(SUB_SIGNED) X(SHL1_ADD) \
    X(SHL2_ADD) X(SHL3_ADD) X(SHL4_ADD) X(MUL) X(MULHI_U) X(MULHI_I) X(MUL_U24) \
    X(MUL_I24) X(MAD) X(MAD_U16) X(MAD_I16) X(MAD_U24) X(MAD_I24) X(MAD_U64) \
    X(MAD_I64) X(MIN_U) X(MIN_I) X(MAX_U) X(MAX_I) X(MIN3_U) X(MIN3_I) X(MAX3_U) \
    X(MAX3_I) X(MED3_U) X(MED3_I) X(MAXMIN_U) X(MAXMIN_I) X(MINMAX_U) \
    X(MINMAX_I) X(SELECT_SCC) X(SELECT_MASK) X(PACK_LL) X(PACK_LH) X(PACK_HH) \
    X(PACK_HL) X(HALVES) X(BYTE0) X(BYTE1) X(BYTE2) X(BYTE3) X(SBFE_U) X(SBFE_I) \
    X(BFE_U) X(BFE_I) X(BFI) X(BFM) X(ALIGNBIT) X(ALIGNBYTE) X(PERM) X(XOR3) \
    X(OR3) X(AND_OR) X(XAD) X(SHL_ADD) X(ADD_SHL) X(ADD3) X(SHL_OR) X(BCNT_ADD) \
    X(MBCNT_LO) X(MBCNT_HI) X(EQ) X(NE) X(LT_U) X(LT_I) X(LE_U) X(LE_I) X(GT_U) \
    X(GT_I) X(GE_U) X(GE_I) X(CONSTANT)
#define RULES_OF_EXEC(X) \
    X(AND_EXEC) X(OR_EXEC) X(XOR_EXEC) X(NAND_EXEC) X(NOR_EXEC) X(XNOR_EXEC) \
    X(AND_NOT0_EXEC) X(OR_NOT0_EXEC) X(AND_NOT1_EXEC) X(OR_NOT1_EXEC)
#define RULES_OF_LANES_TOGETHER(X) \
    X(READFIRST) X(READLANE) X(WRITELANE) X(PERMLANE16) X(PERMLANEX16) \
    X(PERMLANE64) X(SWAP) X(SWAP16) X(PERMUTE) X(BPERMUTE) X(SWIZZLE) \
    X(MOVE_RELATIVE) X(WMMA) X(ALL_LANES)
/* clang-format on */

#define X(name) RULE_##name,
enum rule {
    RULES_OF_LANES_ALONE(X) RULES_OF_EXEC(X) RULES_OF_LANES_TOGETHER(X) RULE_COUNT
};
#undef X

static inline bool rule_of_exec(unsigned rule)
{
    return rule >= RULE_AND_EXEC && rule < RULE_READFIRST;
}

/* Does it look at other lanes? */
static inline bool rule_crosses(unsigned rule)
{
    return rule >= RULE_READFIRST;
}

struct rule_entry {
    uint8_t rule; /* enum rule */
    uint8_t bits; /* of its numbers */
};

/* Of an opcode. */
struct rule_entry rule_of(unsigned op);

#define RULE_SOURCES 4u

/* What a lane gives it. */
struct rule_in {
    struct bits s[RULE_SOURCES]; /* explicit sources, values of at most 64 bits */
    unsigned n;
    struct bits c;   /* SCC, or the lane's bit of a mask */
    struct bits old; /* of the destination, if it is a source, too */
    unsigned lane;
    bool rest; /* something beyond these is undefined */
};

struct rule_out {
    struct bits d;    /* the result */
    struct bits flag; /* SCC, or the lane's bit of a mask */
};

/* bits: of the entry, or 16 for halves of packed numbers. rule: not one of those that
 * cross lanes. */
void rule_apply(unsigned rule, unsigned bits, const struct rule_in *in,
                struct rule_out *out);

/* Operands with neg or abs, or a result with clamp: is the rule not as written? */
static inline bool rule_is_modified(unsigned rule)
{
    return rule != RULE_ANY && rule != RULE_HALVES && !rule_crosses(rule);
}

#endif
