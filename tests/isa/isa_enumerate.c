/* isa_enumerate.c: prints pseudo-random encodings of every row with our text.
 *
 *   isa_enumerate WAVE COUNT     COUNT tries per row; "HEX\tTEXT" or "HEX\t" per line
 *
 * Fields are filled from the row's operands, so that most results are instructions.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

static uint64_t state = 0x2545f4914f6cdd1du;

/* xorshift64* */
static uint32_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(state * 0x2545f4914f6cdd1du >> 32);
}

static uint32_t pick(const uint16_t *values, size_t n)
{
    return values[next() % n];
}

/* A source selector: vector registers, scalar ones, constants, all with their edges. */
static uint32_t source(unsigned width)
{
    static const uint16_t scalars[] = {0,   1,   2,   4,   8,   100, 104, 105, 106,
                                       107, 108, 112, 122, 123, 124, 125, 126, 127};
    static const uint16_t constants[] = {128, 129, 192, 193, 208, 235, 236,
                                         237, 238, 239, 240, 241, 247, 248,
                                         251, 252, 253, 254, 255, 255};
    uint32_t kind = next() % 8;
    if (kind < 4 && width == 9)
        return 256 + (next() % 4 == 0 ? 255 : next() % 256);
    if (kind < 6)
        return pick(scalars, sizeof scalars / sizeof scalars[0]);
    return pick(constants, sizeof constants / sizeof constants[0]);
}

static uint32_t field_value(const struct isa_row *row, unsigned field, unsigned width)
{
    uint32_t all = (uint32_t)((UINT64_C(1) << width) - 1);
    for (unsigned i = 0; i < row->n_opnds; i++) {
        const struct isa_opnd_desc *o = &isa_opnds[row->opnds + i];
        if (o->field != field)
            continue;
        if (width == 9 || field == ISA_FIELD_SSRC0 || field == ISA_FIELD_SSRC1)
            return source(width) & all;
        if (field == ISA_FIELD_SADDR || field == ISA_FIELD_SOFFSET)
            return next() % 2 ? ISA_SEL_NULL : source(8) & all;
        return next() % 4 == 0 ? all : next() & all;
    }
    return next() % 4 == 0 ? next() & all : 0;
}

static uint64_t put(uint64_t word, const struct isa_pos *p, uint32_t value)
{
    uint64_t mask = ((UINT64_C(1) << p->width) - 1) << p->shift;
    return (word & ~mask) | ((uint64_t)value << p->shift & mask);
}

static uint64_t random_word(const struct isa_row *row)
{
    const struct isa_encoding *e = &isa_encodings[row->enc];
    uint64_t word = 0;
    for (unsigned f = 1; f < ISA_FIELD_COUNT; f++) {
        const struct isa_pos *p = &isa_positions[row->enc][f];
        if (p->width != 0 && f != ISA_FIELD_ENCODING && f != ISA_FIELD_SEG)
            word = put(word, p, field_value(row, f, p->width));
    }
    if (isa_has_field(row->enc, ISA_FIELD_SRC0) && next() % 3 == 0)
        word = put(word, &isa_positions[row->enc][ISA_FIELD_SRC0],
                   next() % 2 ? ISA_SEL_DPP16 : ISA_SEL_DPP8 + next() % 2);
    word = put(word, &(struct isa_pos){e->op_shift, e->op_width, 0}, row->opcode);
    word = (word & ~isa_fixed[row->fixed].mask) | isa_fixed[row->fixed].value;
    return word | e->fixed;
}

static void print_one(const uint8_t *bytes, unsigned wave)
{
    struct isa_inst inst;
    char text[ISA_MAX_TEXT] = "";
    unsigned length = 12;
    if (isa_decode(bytes, length, wave, &inst) == RD_OK && isa_has_text(&inst, 0)) {
        isa_print(&inst, wave, 0, text);
        length = inst.bytes;
    }
    for (unsigned i = 0; i < length; i++)
        printf("%02x", bytes[i]);
    printf("\t%s\n", text);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    unsigned wave = (unsigned)atoi(argv[1]);
    unsigned count = (unsigned)atoi(argv[2]);
    for (unsigned r = 0; r < isa_row_count(); r++) {
        const struct isa_row *row = isa_row(r);
        if (row->flags & ISA_RF_VOPD_Y)
            continue; /* the other half of what the X rows make */
        for (unsigned i = 0; i < count; i++) {
            uint8_t bytes[12];
            uint64_t word = random_word(row);
            uint32_t last = next() % 2 ? next() : next() & 0xff3b01ff;
            unsigned base = isa_encodings[row->enc].bytes;
            memcpy(bytes, &word, 8);
            memcpy(bytes + base, &last, 4);
            memset(bytes + base + 4, 0, 12 - base - 4);
            print_one(bytes, wave);
        }
    }
    return 0;
}
