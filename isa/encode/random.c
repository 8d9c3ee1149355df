/* random.c: random encodings of a given row.
 *
 * Must not know text. Invariant: encoding, opcode and fixed bits are the row's; the
 * same state gives the same bits on every host. SPDX-License-Identifier: MIT
 */
#include "isa_random.h"

#include <string.h>

#include "tables.h"

uint32_t isa_random_next(uint64_t *state)
{
    /* splitmix64: any state will do, neighbours are unrelated */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

static uint64_t mask_of(const struct isa_pos *p)
{
    return ((UINT64_C(1) << p->width) - 1) << p->shift;
}

static uint64_t put(uint64_t word, const struct isa_pos *p, uint32_t value)
{
    uint64_t mask = mask_of(p);
    return (word & ~mask) | ((uint64_t)value << p->shift & mask);
}

/* A scalar register or constant, by kind first. */
static uint32_t scalar(uint64_t *state)
{
    static const uint8_t edges[] = {
        ISA_SEL_SGPR0,
        2,
        ISA_SEL_VCC_LO,
        ISA_SEL_VCC_HI,
        ISA_SEL_TTMP0,
        ISA_SEL_NULL,
        ISA_SEL_M0,
        ISA_SEL_EXEC_LO,
        ISA_SEL_INT_0,
        ISA_SEL_INT_POS_LAST,
        193,
        ISA_SEL_INT_NEG_LAST,
        235,
        ISA_SEL_FLOAT_FIRST,
        ISA_SEL_SCC,
        ISA_SEL_FLOAT_LAST,
    };
    uint32_t r = isa_random_next(state);
    if (r % 4 == 0)
        return edges[r / 4 % sizeof edges];
    if (r % 4 == 1)
        return ISA_SEL_INT_0 + r / 4 % 81;
    return r / 4 % 26 * (r & 64 ? 4 : 1); /* also aligned tuples */
}

/* A value of an operand's field. */
static uint32_t operand(unsigned field, unsigned width, uint64_t *state)
{
    uint32_t all = (uint32_t)((UINT64_C(1) << width) - 1);
    uint32_t r = isa_random_next(state);
    if (width == 9)
        return r % 2 ? ISA_SEL_VGPR0 + (r >> 8) % 256 : scalar(state);
    if (field == ISA_FIELD_SSRC0 || field == ISA_FIELD_SSRC1)
        return scalar(state);
    if (field == ISA_FIELD_SADDR || field == ISA_FIELD_SOFFSET)
        return r % 2 ? ISA_SEL_NULL : (r >> 8) % 100 & ~1u;
    switch (r % 4) {
    case 0:
        return 0;
    case 1:
        return (r >> 8) % 64 * 4 & all; /* fits what must be aligned */
    default:
        return r >> 4 & all;
    }
}

static bool is_operand(const struct isa_row *row, unsigned field)
{
    for (unsigned i = 0; i < row->n_opnds; i++)
        if (isa_opnds[row->opnds + i].field == field)
            return true;
    return false;
}

static uint64_t random_fields(const struct isa_row *row, uint64_t *state)
{
    uint64_t word = 0;
    for (unsigned f = ISA_FIELD_NONE + 1; f < ISA_FIELD_COUNT; f++) {
        const struct isa_pos *p = &isa_positions[row->enc][f];
        uint32_t r = isa_random_next(state);
        if (p->width == 0 || f == ISA_FIELD_ENCODING || f == ISA_FIELD_SEG)
            continue;
        if (is_operand(row, f) || row->enc == ISA_ENC_VOPD)
            word |= put(0, p, operand(f, p->width, state));
        else if (r % 4 == 0) /* modifiers are mostly absent */
            word |= put(0, p, r >> 4);
    }
    return word;
}

/* Selectors and bits that make a variant. */
static uint64_t aim(uint64_t word, const struct isa_row *row, unsigned variant,
                    uint64_t *state)
{
    static const uint8_t fields[] = {ISA_FIELD_SRC0,  ISA_FIELD_SSRC0, ISA_FIELD_SRC1,
                                     ISA_FIELD_SSRC1, ISA_FIELD_SRC2,  ISA_FIELD_SRCX0,
                                     ISA_FIELD_SRCY0};
    const struct isa_pos *at = isa_positions[row->enc];
    uint32_t r = isa_random_next(state);
    switch (variant) {
    case ISA_VAR_LITERAL:
        for (unsigned i = 0; i < sizeof fields; i++) {
            unsigned f = fields[(i + r) % sizeof fields];
            if (at[f].width != 0)
                return put(word, &at[f], ISA_SEL_LITERAL);
        }
        return word;
    case ISA_VAR_DPP16:
        return put(word, &at[ISA_FIELD_SRC0], ISA_SEL_DPP16);
    case ISA_VAR_DPP8:
        return put(word, &at[ISA_FIELD_SRC0], ISA_SEL_DPP8 + r % 2);
    case ISA_VAR_NSA:
        return put(word, &at[ISA_FIELD_NSA], 1);
    default:
        return at[ISA_FIELD_NSA].width ? put(word, &at[ISA_FIELD_NSA], 0) : word;
    }
}

/* The dword behind the base encoding: a literal, DPP controls, more addresses. */
static uint32_t trailer(unsigned variant, uint64_t *state)
{
    uint32_t r = isa_random_next(state);
    if (variant == ISA_VAR_DPP16) /* reserved bits clear, legal controls more often */
        return (r & 0xff0c00ff) | (r >> 4 & 0xf) << 8 | (r >> 5 & 1) << 16;
    if (variant == ISA_VAR_LITERAL && r % 4 == 0)
        return r >> 20; /* small ones have other inline forms */
    return r;
}

void isa_random(unsigned row, unsigned variant, uint64_t *state, uint8_t *code)
{
    const struct isa_row *d = isa_row(row);
    const struct isa_encoding *e = &isa_encodings[d->enc];
    bool y = (d->flags & ISA_RF_VOPD_Y) != 0;
    uint64_t word = aim(random_fields(d, state), d, variant, state);
    const struct isa_pos x_pos = {e->op_shift, e->op_width, 0};
    const struct isa_pos y_pos = {e->y_shift, e->y_width, 0};
    if (d->enc == ISA_ENC_VOPD)
        word = put(word, y ? &x_pos : &y_pos, isa_random_next(state));
    word = put(word, y ? &y_pos : &x_pos, d->opcode);
    if (!y)
        word = (word & ~isa_fixed[d->fixed].mask) | isa_fixed[d->fixed].value;
    word |= e->fixed;
    memset(code, 0, ISA_MAX_BYTES);
    for (unsigned i = 0; i < 8; i++)
        code[i] = (uint8_t)(word >> (8 * i));
    uint32_t extra[2] = {trailer(variant, state), trailer(variant, state)};
    for (unsigned i = e->bytes; i < ISA_MAX_BYTES; i++)
        code[i] = (uint8_t)(extra[(i - e->bytes) / 4] >> (8 * ((i - e->bytes) % 4)));
}
