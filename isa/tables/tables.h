/* tables.h: the generated tables, for the files of this library only.
 * SPDX-License-Identifier: MIT
 */
#ifndef ISA_TABLES_H
#define ISA_TABLES_H

#include "isa.h"

/* Encodings, then the extra dwords of variants as if they were encodings. */
enum isa_layout {
    ISA_LAYOUT_DPP16 = ISA_ENC_COUNT,
    ISA_LAYOUT_DPP8,
    ISA_LAYOUT_NSA,
    ISA_LAYOUT_COUNT
};

/* Where a field lies; width 0 if the layout has no such field. */
struct isa_pos {
    uint8_t shift, width;
    uint8_t pad; /* implicit low zero bits of the value */
};

/* An encoding fits a row only if (word & mask) == value. */
struct isa_fixed {
    uint64_t mask, value;
};

struct isa_encoding {
    uint32_t fixed; /* bits of the first dword that say which encoding it is */
    uint16_t index; /* first entry in isa_index */
    uint16_t index_y;
    uint8_t bytes;
    uint8_t op_shift, op_width;
    uint8_t y_shift, y_width; /* second opcode of a VOPD */
};

extern const struct isa_encoding isa_encodings[ISA_ENC_COUNT];
extern const struct isa_pos isa_positions[ISA_LAYOUT_COUNT][ISA_FIELD_COUNT];
extern const uint16_t isa_index[];                  /* row + 1, or 0 */
extern const uint16_t isa_op_rows[ISA_OP_COUNT][2]; /* rows + 1, or 0 */
extern const uint8_t isa_classes[512]; /* first dword >> 23 -> enum isa_enc */
extern const struct isa_row isa_rows[];
extern const struct isa_fixed isa_fixed[]; /* by isa_row.fixed */
extern const struct isa_opnd_desc isa_opnds[];

/* The mnemonic of a valid op, with its length. */
const char *isa_op_text(unsigned op, size_t *len);

/* A field's value out of the first 64 bits of an instruction (or out of a trailer). */
static inline uint32_t isa_get(uint64_t word, unsigned layout, unsigned field)
{
    const struct isa_pos *p = &isa_positions[layout][field];
    return (uint32_t)((word >> p->shift) & ((UINT64_C(1) << p->width) - 1));
}

static inline bool isa_has_field(unsigned layout, unsigned field)
{
    return isa_positions[layout][field].width != 0;
}

#endif
