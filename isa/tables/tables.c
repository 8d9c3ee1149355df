/* tables.c: gives the generated tables their C types, and looks rows and names up.
 *
 * The only file that includes the *.inc. Knows nothing of bit patterns or text
 * beyond the mnemonics. All data is constant.
 * SPDX-License-Identifier: MIT
 */
#include "tables.h"

#include <string.h>

#include "name_hash.h"

const struct isa_encoding isa_encodings[ISA_ENC_COUNT] = {
#define P(field, shift, width, pad)
#define TRAILER(layout, positions)
#define ENCODING(enc, bits, value, shift, width, first, positions)                     \
    [ISA_ENC_##enc].fixed = (value), [ISA_ENC_##enc].bytes = (bits) / 8,               \
    [ISA_ENC_##enc].op_shift = (shift), [ISA_ENC_##enc].op_width = (width),            \
    [ISA_ENC_##enc].index = (first),
#define SECOND(enc, shift, width, first)                                               \
    [ISA_ENC_##enc].y_shift = (shift), [ISA_ENC_##enc].y_width = (width),              \
    [ISA_ENC_##enc].index_y = (first),
#include "encodings.inc"
#undef P
#undef TRAILER
#undef ENCODING
#undef SECOND
};

const struct isa_pos isa_positions[ISA_LAYOUT_COUNT][ISA_FIELD_COUNT] = {
#define P(field, shift, width, pad) [ISA_FIELD_##field] = {shift, width, pad},
#define TRAILER(layout, positions)  [ISA_LAYOUT_##layout] = {positions},
#define ENCODING(enc, bits, value, op_shift, op_width, first, positions)               \
    [ISA_ENC_##enc] = {positions},
#define SECOND(enc, op_shift, op_width, first)
#include "encodings.inc"
#undef P
#undef TRAILER
#undef ENCODING
#undef SECOND
};

const uint16_t isa_index[] = {
#include "index.inc"
};

const uint16_t isa_op_rows[ISA_OP_COUNT][2] = {
#include "oprows.inc"
};

const uint8_t isa_classes[512] = {
#define C(enc) ISA_ENC_##enc
#include "classes.inc"
#undef C
};

const struct isa_opnd_desc isa_opnds[] = {
#define F(flag) | ISA_OF_##flag
#define O(field, type, fmt, bits, dwords, flags)                                       \
    {ISA_FMT_##fmt, flags, bits, dwords, ISA_FIELD_##field, ISA_OPR_##type}
#include "operands.inc"
#undef F
#undef O
};

const struct isa_row isa_rows[] = {
#define R(flag)    | ISA_RF_##flag
#define V(variant) | 1u << ISA_VAR_##variant
#define M(mod)     | ISA_RM_##mod
#define ROW(op, enc, opcode, n_opnds, first, facts, variants, mods, fixed)             \
    {ISA_##op, ISA_ENC_##enc, n_opnds, opcode, first, facts, variants, mods, fixed},
#include "rows.inc"
#undef R
#undef V
#undef M
#undef ROW
};

const struct isa_fixed isa_fixed[] = {
#define FIXED(mask, value) {UINT64_C(mask), UINT64_C(value)},
#include "fixed.inc"
#undef FIXED
};

/* All mnemonics in one block, found by the offset of their member. */
struct name_pool {
#define OP(id, name) char id[sizeof(name)];
#include "names.inc"
#undef OP
};

static const struct name_pool name_pool = {
#define OP(id, name) name,
#include "names.inc"
#undef OP
};

static const struct {
    uint16_t offset;
    uint8_t len;
} names[ISA_OP_COUNT] = {
#define OP(id, name) [ISA_##id] = {offsetof(struct name_pool, id), sizeof(name) - 1},
#include "names.inc"
#undef OP
};

static const struct {
    uint16_t op;
    char name[38];
} aliases[] = {
#define ALIAS(name, id) {ISA_##id, name},
#include "aliases.inc"
#undef ALIAS
};

static const uint16_t name_hash[] = {
#include "hash.inc"
};

#define HASH_SIZE (sizeof name_hash / sizeof name_hash[0])
_Static_assert(HASH_SIZE == 4096, "the generator's hash table has another size");

static const struct {
    uint8_t kind, value;
    char text[30];
} imms[] = {
#define IMM(kind, value, text) {ISA_IMM_##kind, value, text},
#include "imms.inc"
#undef IMM
};

#define IMM_COUNT (sizeof imms / sizeof imms[0])

/* First entry of each kind; they are in the order of enum isa_imm_kind. */
static size_t first_imm(unsigned kind)
{
    size_t low = 0, high = IMM_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (imms[middle].kind < kind)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *isa_imm_name(unsigned kind, unsigned value)
{
    size_t i = first_imm(kind);
    size_t guess = i + value; /* right where values run from 0 without a gap */
    if (guess < IMM_COUNT && imms[guess].kind == kind && imms[guess].value == value)
        return imms[guess].text;
    for (; i < IMM_COUNT && imms[i].kind == kind; i++)
        if (imms[i].value == value)
            return imms[i].text;
    return NULL;
}

int isa_imm_find(unsigned kind, const char *name, size_t len)
{
    for (size_t i = first_imm(kind); i < IMM_COUNT && imms[i].kind == kind; i++)
        if (len < sizeof imms[i].text && strncmp(imms[i].text, name, len) == 0 &&
            imms[i].text[len] == '\0')
            return imms[i].value;
    return -1;
}

/* Each encoding brings its fields; the first of a name is found. */
static const struct {
    uint8_t field;
    char name[12];
} field_names[] = {
#define P(field, shift, width, pad)                                      {ISA_FIELD_##field, #field},
#define TRAILER(layout, positions)                                       positions
#define ENCODING(enc, bits, value, op_shift, op_width, first, positions) positions
#define SECOND(enc, op_shift, op_width, first)
#include "encodings.inc"
#undef P
#undef TRAILER
#undef ENCODING
#undef SECOND
};

const char *isa_field_name(unsigned field)
{
    for (size_t i = 0; i < sizeof field_names / sizeof field_names[0]; i++)
        if (field_names[i].field == field)
            return field_names[i].name;
    return NULL;
}

unsigned isa_enc_fields(unsigned enc, unsigned variant, struct isa_field_place *out)
{
    unsigned layout = variant == ISA_VAR_DPP16  ? ISA_LAYOUT_DPP16
                      : variant == ISA_VAR_DPP8 ? ISA_LAYOUT_DPP8
                      : variant == ISA_VAR_NSA  ? ISA_LAYOUT_NSA
                                                : enc;
    unsigned n = 0;
    for (unsigned bit = 0; bit < 64 && layout < ISA_LAYOUT_COUNT; bit++)
        for (unsigned f = 0; f < ISA_FIELD_COUNT && n < ISA_MAX_FIELDS; f++) {
            const struct isa_pos *p = &isa_positions[layout][f];
            if (p->width && p->shift == bit)
                out[n++] =
                    (struct isa_field_place){(uint8_t)f, p->shift, p->width, p->pad};
        }
    return n;
}

const struct isa_imm_part *isa_imm_parts(unsigned type, unsigned *n)
{
    static const struct isa_imm_part wait[] = {
        {"vmcnt", 10, 6, ISA_IMM_COUNT},
        {"expcnt", 0, 3, ISA_IMM_COUNT},
        {"lgkmcnt", 4, 6, ISA_IMM_COUNT},
    };
    static const struct isa_imm_part depctr[] = {
        {"depctr_hold_cnt", 7, 1, ISA_IMM_COUNT},
        {"depctr_sa_sdst", 0, 1, ISA_IMM_COUNT},
        {"depctr_va_vdst", 12, 4, ISA_IMM_COUNT},
        {"depctr_va_sdst", 9, 3, ISA_IMM_COUNT},
        {"depctr_va_ssrc", 8, 1, ISA_IMM_COUNT},
        {"depctr_va_vcc", 1, 1, ISA_IMM_COUNT},
        {"depctr_vm_vsrc", 2, 3, ISA_IMM_COUNT},
    };
    static const struct isa_imm_part delay[] = {
        {"instid0", 0, 4, ISA_IMM_DELAY_ID},
        {"instskip", 4, 3, ISA_IMM_DELAY_SKIP},
        {"instid1", 7, 4, ISA_IMM_DELAY_ID},
    };
#define PARTS(list) (*n = sizeof(list) / sizeof(list)[0], list)
    switch (type) {
    case ISA_OPR_WAITCNT:
        return PARTS(wait);
    case ISA_OPR_WAITCNT_DEPCTR:
        return PARTS(depctr);
    case ISA_OPR_DELAY:
        return PARTS(delay);
    default:
        *n = 0;
        return NULL;
    }
#undef PARTS
}

unsigned isa_row_count(void)
{
    return sizeof isa_rows / sizeof isa_rows[0];
}

const struct isa_row *isa_row(unsigned row)
{
    return row < isa_row_count() ? &isa_rows[row] : NULL;
}

const struct isa_opnd_desc *isa_row_opnd(const struct isa_row *row, unsigned i)
{
    return i < row->n_opnds ? &isa_opnds[row->opnds + i] : NULL;
}

unsigned isa_op_count(void)
{
    return ISA_OP_COUNT;
}

const char *isa_op_text(unsigned op, size_t *len)
{
    *len = names[op].len;
    return (const char *)&name_pool + names[op].offset;
}

const char *isa_op_name(unsigned op)
{
    if (op == ISA_OP_NONE || op >= ISA_OP_COUNT)
        return NULL;
    return (const char *)&name_pool + names[op].offset;
}

unsigned isa_op_find(const char *name, size_t len)
{
    for (uint32_t at = isa_name_hash(name, len);; at++) {
        unsigned value = name_hash[at % HASH_SIZE];
        if (value == 0)
            return ISA_OP_NONE;
        if (value < ISA_OP_COUNT) {
            if (names[value].len == len && memcmp(isa_op_name(value), name, len) == 0)
                return value;
            continue;
        }
        const char *text = aliases[value - ISA_OP_COUNT].name;
        if (strncmp(text, name, len) == 0 && text[len] == '\0')
            return aliases[value - ISA_OP_COUNT].op;
    }
}

const char *isa_enc_name(unsigned enc)
{
    static const char all[ISA_ENC_COUNT][8] = {
        "NONE", "SOP1", "SOP2",   "SOPK",    "SOPC",  "SOPP",  "SMEM",    "VOP1",
        "VOP2", "VOPC", "VOP3",   "VOP3SD",  "VOP3P", "VOPD",  "VINTERP", "LDSDIR",
        "DS",   "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF", "MIMG",    "EXP",
    };
    return enc < ISA_ENC_COUNT ? all[enc] : "NONE";
}
