/* isa.h: the gfx1100 instruction set as data: rows, decode, print.
 *
 * The tables behind this header are generated from AMD's XML (isa/gen). A row is one
 * (instruction, base encoding) pair; literal, DPP and NSA forms of a row are variants,
 * not rows of their own. Nothing here allocates, locks or keeps state.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ISA_H
#define RD_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"
#include "isa_ops.h" /* generated: enum isa_op { ISA_OP_NONE, ISA_S_ADD_U32, ... } */

/* Longest encoding: MIMG with NSA, VOP3 with literal or DPP are 12 bytes. */
#define ISA_MAX_BYTES 12
/* Longest canonical text with its terminating zero. */
#define ISA_MAX_TEXT 256
/* Explicit and implicit operands of one instruction; both halves of a VOPD. */
#define ISA_MAX_OPNDS 12

enum isa_enc {
    ISA_ENC_NONE,
    ISA_ENC_SOP1,
    ISA_ENC_SOP2,
    ISA_ENC_SOPK,
    ISA_ENC_SOPC,
    ISA_ENC_SOPP,
    ISA_ENC_SMEM,
    ISA_ENC_VOP1,
    ISA_ENC_VOP2,
    ISA_ENC_VOPC,
    ISA_ENC_VOP3,
    ISA_ENC_VOP3SD,
    ISA_ENC_VOP3P,
    ISA_ENC_VOPD,
    ISA_ENC_VINTERP,
    ISA_ENC_LDSDIR,
    ISA_ENC_DS,
    ISA_ENC_FLAT,
    ISA_ENC_GLOBAL,
    ISA_ENC_SCRATCH,
    ISA_ENC_MUBUF,
    ISA_ENC_MTBUF,
    ISA_ENC_MIMG,
    ISA_ENC_EXP,
    ISA_ENC_COUNT
};

/* What follows the base encoding. */
enum isa_variant {
    ISA_VAR_NONE,
    ISA_VAR_LITERAL,
    ISA_VAR_DPP16,
    ISA_VAR_DPP8,
    ISA_VAR_NSA,
};

/* Operand data formats, from the XML's DataFormats (FMT_NUM_ prefix dropped). */
enum isa_fmt {
    ISA_FMT_ANY,
    ISA_FMT_B1,
    ISA_FMT_B8,
    ISA_FMT_B16,
    ISA_FMT_B32,
    ISA_FMT_B64,
    ISA_FMT_B96,
    ISA_FMT_B128,
    ISA_FMT_B256,
    ISA_FMT_B512,
    ISA_FMT_U16,
    ISA_FMT_U24,
    ISA_FMT_U32,
    ISA_FMT_U64,
    ISA_FMT_I16,
    ISA_FMT_I24,
    ISA_FMT_I32,
    ISA_FMT_I64,
    ISA_FMT_F16,
    ISA_FMT_BF16,
    ISA_FMT_F32,
    ISA_FMT_F64,
    ISA_FMT_M64, /* one bit per lane: one SGPR in wave32, a pair in wave64 */
    ISA_FMT_PK2_F16,
    ISA_FMT_PK2_BF16,
    ISA_FMT_PK2_U16,
    ISA_FMT_PK2_I16,
    ISA_FMT_PK4_U8,
    ISA_FMT_PK4_IU8,
    ISA_FMT_PK8_U4,
    ISA_FMT_PK8_IU4,
    ISA_FMT_PK2_OTHER,
    ISA_FMT_WMMA_F32,
    ISA_FMT_WMMA_I32,
    ISA_FMT_WMMA_F16,
    ISA_FMT_WMMA_BF16,
    ISA_FMT_WMMA_IU8,
    ISA_FMT_WMMA_IU4,
    ISA_FMT_DESCRIPTOR, /* buffer, image, sampler resources */
};

enum isa_opnd_kind {
    ISA_OPND_NONE,
    ISA_OPND_REG,     /* a register or constant of the 9-bit source space: .sel */
    ISA_OPND_LITERAL, /* inst->literal */
    ISA_OPND_IMM,     /* .imm: simm16, branch offset, waitcnt, attribute, target ... */
    ISA_OPND_OFF,     /* printed "off": unused address, saddr or export source */
    ISA_OPND_SCC,     /* implicit */
    ISA_OPND_PC,      /* implicit */
    ISA_OPND_LDS,     /* implicit: LDS contents */
    ISA_OPND_SCRATCH, /* implicit: FLAT_SCRATCH */
};

/* The 9-bit source operand space (manual, table "Scalar Operands"). A value of 256 + n
 * is VGPR n, whatever the width of the field it came from. */
enum isa_sel {
    ISA_SEL_SGPR0 = 0,
    ISA_SEL_SGPR_LAST = 105,
    ISA_SEL_VCC_LO = 106,
    ISA_SEL_VCC_HI = 107,
    ISA_SEL_TTMP0 = 108,
    ISA_SEL_NULL = 124,
    ISA_SEL_M0 = 125,
    ISA_SEL_EXEC_LO = 126,
    ISA_SEL_EXEC_HI = 127,
    ISA_SEL_INT_0 = 128, /* 128..192: 0..64 */
    ISA_SEL_INT_POS_LAST = 192,
    ISA_SEL_INT_NEG_LAST = 208, /* 193..208: -1..-16 */
    ISA_SEL_DPP8 = 233,
    ISA_SEL_DPP8_FI = 234,
    ISA_SEL_SHARED_BASE = 235,
    ISA_SEL_SHARED_LIMIT = 236,
    ISA_SEL_PRIVATE_BASE = 237,
    ISA_SEL_PRIVATE_LIMIT = 238,
    ISA_SEL_POPS_EXITING_WAVE_ID = 239,
    ISA_SEL_FLOAT_FIRST = 240, /* 0.5 -0.5 1 -1 2 -2 4 -4 1/(2 pi) */
    ISA_SEL_FLOAT_LAST = 248,
    ISA_SEL_DPP16 = 250,
    ISA_SEL_VCCZ = 251,
    ISA_SEL_EXECZ = 252,
    ISA_SEL_SCC = 253,
    ISA_SEL_LDS_DIRECT = 254,
    ISA_SEL_LITERAL = 255,
    ISA_SEL_VGPR0 = 256,
    ISA_SEL_COUNT = 512
};

/* enum isa_opnd_flag bits */
#define ISA_OF_IN       0x01u
#define ISA_OF_OUT      0x02u
#define ISA_OF_IMPLICIT 0x04u /* not in the text, not in a field */
#define ISA_OF_NO_FIELD 0x08u /* in the text but not in a field: vcc of v_addc_e32 */
#define ISA_OF_Y        0x10u /* belongs to the Y half of a VOPD */
#define ISA_OF_HI16     0x20u /* decoded: upper half of the VGPR (e32 16-bit forms) */

/* One decoded operand. */
struct isa_opnd {
    uint8_t kind;   /* enum isa_opnd_kind */
    uint8_t flags;  /* ISA_OF_* */
    uint8_t fmt;    /* enum isa_fmt */
    uint8_t dwords; /* registers covered; 1 for 16-bit formats, 0 if not a register */
    uint16_t sel;   /* enum isa_sel, first register */
    uint8_t field;  /* enum isa_field it came from */
    uint8_t spare;
    int32_t
        imm; /* ISA_OPND_IMM: value as the field holds it, sign-extended if signed */
};

/* ISA_M_* bits of isa_inst.flags */
#define ISA_M_CLAMP      (1u << 0)
#define ISA_M_GLC        (1u << 1)
#define ISA_M_SLC        (1u << 2)
#define ISA_M_DLC        (1u << 3)
#define ISA_M_TFE        (1u << 4)
#define ISA_M_LWE        (1u << 5)
#define ISA_M_A16        (1u << 6)
#define ISA_M_D16        (1u << 7)
#define ISA_M_R128       (1u << 8)
#define ISA_M_UNORM      (1u << 9)
#define ISA_M_GDS        (1u << 10)
#define ISA_M_IDXEN      (1u << 11)
#define ISA_M_OFFEN      (1u << 12)
#define ISA_M_BOUND_CTRL (1u << 13)
#define ISA_M_FI         (1u << 14)
#define ISA_M_DONE       (1u << 15)
#define ISA_M_ROW_EN     (1u << 16)
#define ISA_M_SVE        (1u << 17)

/* One decoded instruction: every field, in the field's own units. */
struct isa_inst {
    uint16_t op;     /* enum isa_op; the X half of a VOPD */
    uint16_t op_y;   /* the Y half of a VOPD, else ISA_OP_NONE */
    uint16_t row;    /* for isa_row(); X half of a VOPD */
    uint16_t row_y;  /* Y half of a VOPD */
    uint8_t enc;     /* enum isa_enc */
    uint8_t variant; /* enum isa_variant */
    uint8_t bytes;   /* length: 4, 8, 12 */
    uint8_t n_opnds;
    uint32_t literal; /* valid if variant is LITERAL or the row demands one */
    uint32_t flags;   /* ISA_M_* */
    uint8_t abs;      /* bit i: source i; DPP abs/neg are folded in here */
    uint8_t neg;      /* VOP3P: neg_lo */
    uint8_t neg_hi;
    uint8_t op_sel; /* bit i: source i, bit 3: destination */
    uint8_t op_sel_hi;
    uint8_t omod;       /* 0, 1: *2, 2: *4, 3: /2 */
    uint8_t dim, dmask; /* dmask: also EXP's enabled channels */
    uint8_t format;     /* MTBUF */
    uint8_t chan;       /* LDSDIR attribute channel */
    uint8_t wait;       /* LDSDIR wait_vdst, VINTERP wait_exp */
    uint8_t row_mask, bank_mask;
    uint16_t dpp_ctrl; /* DPP16 */
    uint32_t dpp8;     /* 8 selectors of 3 bits, lane 0 lowest */
    int32_t offset;    /* memory offset, bytes; DS: offset0 | offset1 << 8 */
    struct isa_opnd opnd[ISA_MAX_OPNDS]; /* order of the XML: destinations first */
};

/* Facts of a row that no operand carries. ISA_RF_* bits */
#define ISA_RF_BRANCH      (1u << 0)
#define ISA_RF_COND_BRANCH (1u << 1)
#define ISA_RF_INDIRECT    (1u << 2)
#define ISA_RF_TERMINATOR  (1u << 3)
#define ISA_RF_LITERAL     (1u << 4) /* always followed by a literal dword */
#define ISA_RF_WAVE32      (1u << 5) /* only in wave32 (VOPD) */
#define ISA_RF_LLVM_ONLY   (1u << 6) /* from the supplement, not in AMD's XML */
#define ISA_RF_VOPD_Y      (1u << 7) /* the Y slot form */
#define ISA_RF_NO_TEXT     (1u << 8) /* LLVM does not know it: no canonical text */
#define ISA_RF_SUFFIX      (1u << 9) /* has a 32-bit and a VOP3 form: _e32, _e64 */

/* One operand of a row as the XML states it. */
struct isa_opnd_desc {
    uint8_t fmt;    /* enum isa_fmt */
    uint8_t flags;  /* ISA_OF_IN ... ISA_OF_Y */
    uint8_t bits;   /* size in bits, 0 if 256 or more: then see dwords */
    uint8_t dwords; /* maximum registers */
    uint8_t field;  /* enum isa_field */
    uint8_t type;   /* enum isa_opnd_type: the XML's OperandType */
};

struct isa_row {
    uint16_t op;
    uint8_t enc;
    uint8_t n_opnds;
    uint16_t opcode;
    uint16_t opnds;    /* first operand, index into the shared operand pool */
    uint16_t flags;    /* ISA_RF_* */
    uint16_t variants; /* bit per enum isa_variant that exists */
    uint32_t mods;     /* ISA_RM_*: which modifiers the row takes */
    uint16_t fixed;    /* which bits of the encoding have one value */
};

/* The modifiers a row takes, beyond what its encoding says for all rows. ISA_RM_* bits.
 * A modifier that is not listed must be zero in the encoding. */
#define ISA_RM_CLAMP       (1u << 0)
#define ISA_RM_OMOD        (1u << 1)
#define ISA_RM_ABS0        (1u << 2) /* |src0| */
#define ISA_RM_ABS1        (1u << 3)
#define ISA_RM_ABS2        (1u << 4)
#define ISA_RM_NEG0        (1u << 5) /* VOP3P: neg_lo and neg_hi */
#define ISA_RM_NEG1        (1u << 6)
#define ISA_RM_NEG2        (1u << 7)
#define ISA_RM_OPSEL0      (1u << 8) /* upper half of src0 */
#define ISA_RM_OPSEL1      (1u << 9)
#define ISA_RM_OPSEL2      (1u << 10)
#define ISA_RM_OPSELD      (1u << 11) /* upper half of the destination */
#define ISA_RM_ATOMIC      (1u << 12) /* MUBUF, MIMG: returns the old value with GLC */
#define ISA_RM_GATHER4     (1u << 13) /* MIMG: always four components */
#define ISA_RM_NOCOORD     (1u << 14) /* MIMG address: no coordinates */
#define ISA_RM_BIAS        (1u << 15) /* MIMG address: one more dword each */
#define ISA_RM_ZCMP        (1u << 16)
#define ISA_RM_OFFSET      (1u << 17)
#define ISA_RM_LOD         (1u << 18) /* MIMG address: one more component */
#define ISA_RM_GRAD        (1u << 19) /* MIMG address: gradients */
#define ISA_RM_G16         (1u << 20) /* MIMG address: gradients of 16 bits */
#define ISA_RM_BVH         (1u << 21) /* MIMG: ray, no dmask and no dim */
#define ISA_RM_TRUE16      (1u << 22) /* prints halves in true16 mode; v_mov_b16 always */
#define ISA_RM_MIX         (1u << 23) /* VOP3P: NEG_HI is |x|, literals have 16 bits */
#define ISA_RM_HEX         (1u << 24) /* SOPP immediate prints in hexadecimal */
#define ISA_RM_TWO_OFFSETS (1u << 26) /* DS: offset0 and offset1 */
#define ISA_RM_CMPSWAP     (1u << 27) /* MIMG: data and comparison */
#define ISA_RM_OPTIONAL    (1u << 25) /* SOPP immediate prints if not zero */

enum isa_wave { ISA_WAVE32 = 32, ISA_WAVE64 = 64 };

/* Decode one instruction.
 *
 * code   in, little-endian dwords; may end in the middle of an instruction
 * bytes  available at code
 * wave   32 or 64: mask operands are one SGPR or a pair
 * inst   out; operands from n_opnds on are left as they are
 * Returns RD_OK, RD_E_TRUNCATED, or RD_E_ENCODING if the bytes are no gfx1100
 * instruction (reserved opcode, variant the row lacks, VOPD in wave64 ...).
 */
RD_CHECKED rd_status isa_decode(const void *code, size_t bytes, unsigned wave,
                                struct isa_inst *inst);

/* The same, as the hardware reads it: bits that the instruction has no use for (a
 * destination it does not write, a modifier it does not take) may hold anything and
 * are read as if they held what the assembler writes; VINTERP sources may be scalar.
 */
RD_CHECKED rd_status isa_decode_hw(const void *code, size_t bytes, unsigned wave,
                                   struct isa_inst *inst);

/* ISA_PRINT_* bits */
#define ISA_PRINT_TRUE16 1u /* v1.l, v1.h as LLVM's -mattr=+real-true16 */

/* Print LLVM 19's canonical text.
 *
 * text  out, at least ISA_MAX_TEXT bytes, zero-terminated
 * Returns the length.
 *
 * Instructions that have no canonical text print all the same, in the same style;
 * isa_has_text tells them: what LLVM 19 does not know, and upper halves of registers
 * where it has no syntax for them.
 */
size_t isa_print(const struct isa_inst *inst, unsigned wave, unsigned print_flags,
                 char *text);

bool isa_has_text(const struct isa_inst *inst, unsigned print_flags);

/* The row table, for tools that walk the whole ISA. */
unsigned isa_row_count(void);
const struct isa_row *isa_row(unsigned row);
const struct isa_opnd_desc *isa_row_opnd(const struct isa_row *row, unsigned i);

/* Lower-case mnemonic without suffix: "v_add_f32". Never NULL for a valid op. */
const char *isa_op_name(unsigned op);
unsigned isa_op_count(void);

/* The op called name (lower case, base mnemonic or XML alias), or ISA_OP_NONE. */
unsigned isa_op_find(const char *name, size_t len);

/* Immediates with names. */
enum isa_imm_kind {
    ISA_IMM_MTBUF_FORMAT,
    ISA_IMM_MIMG_DIM,
    ISA_IMM_HWREG,
    ISA_IMM_SENDMSG,
    ISA_IMM_EXP_TGT,
    ISA_IMM_DELAY_ID,
    ISA_IMM_DELAY_SKIP,
    ISA_IMM_UC_VERSION,
    ISA_IMM_COUNT
};

/* The name of an immediate's value ("HW_REG_MODE"), or NULL. */
const char *isa_imm_name(unsigned kind, unsigned value);

/* The value called name, or -1. */
int isa_imm_find(unsigned kind, const char *name, size_t len);

/* Upper-case short name of an encoding: "VOP3", "GLOBAL". */
const char *isa_enc_name(unsigned enc);

/* Upper-case name of a field of the encodings (enum isa_field), "VDST"; NULL if it lies
 * in none of them. */
const char *isa_field_name(unsigned field);

/* Where a field lies in its encoding, or in the dword of its variant. */
struct isa_field_place {
    uint8_t field;        /* enum isa_field */
    uint8_t shift, width; /* bits */
    uint8_t pad;          /* zero bits below the value that the field does not hold */
};

#define ISA_MAX_FIELDS 24

/* The fields of an encoding, the lowest bit first; what no field has is reserved.
 *
 * variant  ISA_VAR_NONE: of the base encoding; DPP16, DPP8, NSA: of the first dword
 *          behind it, whatever enc is
 * out      ISA_MAX_FIELDS of them
 * Returns how many there are.
 */
unsigned isa_enc_fields(unsigned enc, unsigned variant, struct isa_field_place *out);

/* A part of an immediate that has parts: a counter of s_waitcnt. */
struct isa_imm_part {
    char name[16];        /* as the assembler spells it, "vmcnt" */
    uint8_t shift, width; /* bits of the immediate */
    uint8_t kind;         /* enum isa_imm_kind of its values; ISA_IMM_COUNT: a number */
};

/* The parts of an immediate of this type (enum isa_opnd_type) in the order they are
 * printed; NULL and n = 0 if it has none. */
const struct isa_imm_part *isa_imm_parts(unsigned type, unsigned *n);

/* Name of a register or constant as LLVM prints it ("v3", "s[2:3]", "vcc_lo", "0.5").
 *
 * text  out, at least 32 bytes
 * Returns the length; 0 if there is no such operand.
 */
size_t isa_sel_name(unsigned sel, unsigned dwords, unsigned fmt, char *text);

#endif
