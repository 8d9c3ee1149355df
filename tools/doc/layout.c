/* layout.c: where the fields of a row lie, what its operands are called and may be.
 *
 * Must not know encodings: what an operand may be is what the decoder makes of each
 * value of its field. SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "doc.h"
#include "isa_random.h"

#define BASES 8    /* instructions of a row that a field's values are tried in */
#define TRIES 4096 /* random encodings to find them */

static const char *const kind_names[] = {
    [DOC_VGPR] = "VGPR",
    [DOC_SGPR] = "SGPR",
    [DOC_VCC] = "VCC",
    [DOC_TTMP] = "TTMP",
    [DOC_NULL] = "null",
    [DOC_M0] = "M0",
    [DOC_EXEC] = "EXEC",
    [DOC_INTEGER] = "inline integer",
    [DOC_FLOAT] = "inline float",
    [DOC_SPECIAL] = "special value",
    [DOC_SCC] = "SCC",
    [DOC_LDS_DIRECT] = "lds_direct",
    [DOC_LITERAL] = "literal",
    [DOC_OFF] = "off",
    [DOC_IMMEDIATE] = "immediate",
};

const char *doc_kind_name(unsigned kind)
{
    return kind < DOC_KINDS ? kind_names[kind] : "?";
}

static unsigned kind_of_sel(unsigned sel)
{
    static const struct {
        uint16_t last, kind;
    } spans[] = {
        {ISA_SEL_SGPR_LAST, DOC_SGPR},
        {ISA_SEL_VCC_HI, DOC_VCC},
        {ISA_SEL_NULL - 1, DOC_TTMP},
        {ISA_SEL_NULL, DOC_NULL},
        {ISA_SEL_M0, DOC_M0},
        {ISA_SEL_EXEC_HI, DOC_EXEC},
        {ISA_SEL_INT_NEG_LAST, DOC_INTEGER},
        {ISA_SEL_FLOAT_FIRST - 1, DOC_SPECIAL},
        {ISA_SEL_FLOAT_LAST, DOC_FLOAT},
        {ISA_SEL_EXECZ, DOC_SPECIAL},
        {ISA_SEL_SCC, DOC_SCC},
        {ISA_SEL_LDS_DIRECT, DOC_LDS_DIRECT},
        {ISA_SEL_LITERAL, DOC_LITERAL},
    };
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        if (sel <= spans[i].last)
            return spans[i].kind;
    return DOC_VGPR;
}

static unsigned kind_of(const struct isa_opnd *opnd)
{
    switch (opnd->kind) {
    case ISA_OPND_LITERAL:
        return DOC_LITERAL;
    case ISA_OPND_IMM:
        return DOC_IMMEDIATE;
    case ISA_OPND_OFF:
        return DOC_OFF;
    default:
        return kind_of_sel(opnd->sel);
    }
}

/* Some instructions of the row, as bytes. Returns how many were found. */
static unsigned find_bases(const struct isa_row *row, uint8_t code[][ISA_MAX_BYTES])
{
    uint64_t state = 1;
    unsigned n = 0, number = 0;
    struct isa_inst inst;
    while (isa_row(number) != row)
        number++;
    for (unsigned i = 0; i < TRIES && n < BASES; i++) {
        memset(code[n], 0, ISA_MAX_BYTES);
        isa_random(number, ISA_VAR_NONE, &state, code[n]);
        if (isa_decode(code[n], ISA_MAX_BYTES, ISA_WAVE32, &inst) != RD_OK)
            continue;
        if (inst.row == number || inst.row_y == number)
            n++;
    }
    return n;
}

static void put_bits(uint8_t *code, const struct isa_field_place *place, uint32_t value)
{
    for (unsigned b = 0; b < place->width; b++) {
        unsigned at = place->shift + b;
        uint8_t bit = (uint8_t)(1u << (at & 7));
        code[at / 8] = (uint8_t)((code[at / 8] & ~bit) | (value >> b & 1 ? bit : 0));
    }
}

/* What a value of the field becomes in an instruction; DOC_KINDS if it is none. */
static unsigned try_value(const uint8_t *base, const struct isa_row *row,
                          const struct isa_field_place *place, uint32_t value)
{
    uint8_t code[ISA_MAX_BYTES];
    struct isa_inst inst;
    memcpy(code, base, sizeof code);
    put_bits(code, place, value);
    if (isa_decode(code, sizeof code, ISA_WAVE32, &inst) != RD_OK ||
        (isa_row(inst.row) != row && isa_row(inst.row_y) != row) ||
        (inst.variant != ISA_VAR_NONE && inst.variant != ISA_VAR_LITERAL))
        return DOC_KINDS;
    for (unsigned i = 0; i < inst.n_opnds; i++)
        if (inst.opnd[i].field == place->field)
            return kind_of(&inst.opnd[i]);
    return DOC_KINDS;
}

static uint32_t kinds_of_field(const struct isa_row *row,
                               const struct isa_field_place *place)
{
    uint8_t bases[BASES][ISA_MAX_BYTES];
    uint32_t kinds = 0, values = 1u << (place->width < 9 ? place->width : 9);
    unsigned n = find_bases(row, bases);
    for (unsigned b = 0; b < n; b++)
        for (uint32_t value = 0; value < values; value++) {
            unsigned kind = try_value(bases[b], row, place, value);
            kinds |= kind < DOC_KINDS ? 1u << kind : 0;
        }
    return kinds;
}

/* An operand that no field holds: the register or the state it is. */
static const char *fixed_name(const struct isa_row *row, unsigned index)
{
    uint8_t bases[BASES][ISA_MAX_BYTES];
    struct isa_inst inst;
    if (find_bases(row, bases) == 0 ||
        isa_decode(bases[0], ISA_MAX_BYTES, ISA_WAVE32, &inst) != RD_OK)
        return "";
    unsigned at = 0; /* a VOPD's other half has operands of its own */
    for (unsigned i = 0; i < inst.n_opnds; i++)
        if (inst.opnd[i].field == ISA_FIELD_NONE) {
            unsigned before = 0;
            for (unsigned k = 0; k < index; k++)
                before += isa_row_opnd(row, k)->field == ISA_FIELD_NONE;
            if (at++ != before)
                continue;
            switch (inst.opnd[i].kind) {
            case ISA_OPND_SCC:
                return "scc";
            case ISA_OPND_PC:
                return "pc";
            case ISA_OPND_LDS:
                return "lds";
            case ISA_OPND_SCRATCH:
                return "flat_scratch";
            default:
                return inst.opnd[i].sel == ISA_SEL_VCC_LO    ? "vcc"
                       : inst.opnd[i].sel == ISA_SEL_EXEC_LO ? "exec"
                       : inst.opnd[i].sel == ISA_SEL_M0      ? "m0"
                                                             : "";
            }
        }
    return "";
}

void doc_operand(const struct isa_row *row, unsigned index, struct doc_operand *out)
{
    const struct isa_opnd_desc *desc = isa_row_opnd(row, index);
    struct isa_field_place places[ISA_MAX_FIELDS];
    const char *name = isa_field_name(desc->field);
    size_t n = 0;
    *out = (struct doc_operand){0};
    if (!name)
        name = desc->field == ISA_FIELD_SIMM32 ? "simm32" : fixed_name(row, index);
    for (; name[n] && n + 1 < sizeof out->name; n++)
        out->name[n] = (char)tolower((unsigned char)name[n]);
    if (desc->field == ISA_FIELD_SIMM32)
        out->kinds = 1u << DOC_LITERAL;
    unsigned places_n = isa_enc_fields(row->enc, ISA_VAR_NONE, places);
    for (unsigned i = 0; i < places_n; i++)
        if (places[i].field == desc->field)
            out->kinds = kinds_of_field(row, &places[i]);
    out->parts = isa_imm_parts(desc->type, &out->n_parts);
}
