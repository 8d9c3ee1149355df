/* test_asm_pairs.c: random encodings of every (instruction, encoding, variant): encode
 * undoes decode, and the assembler undoes the printer.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "isa_asm.h"
#include "tables.h"

#define TRIES 80

static uint64_t state = 0x9e3779b97f4a7c15u;

/* xorshift64* */
static uint32_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(state * 0x2545f4914f6cdd1du >> 32);
}

/* Random fields, most of them small, the row's fixed bits in place. */
static uint64_t random_word(const struct isa_row *row, unsigned variant)
{
    const struct isa_encoding *e = &isa_encodings[row->enc];
    uint64_t word = (uint64_t)next() << 32 | next();
    if (next() % 2)
        word &= (uint64_t)next() << 32 | next(); /* fewer bits, legal more often */
    for (unsigned f = ISA_FIELD_SRC0; f <= ISA_FIELD_SRC2; f++) {
        const struct isa_pos *p = &isa_positions[row->enc][f];
        if (p->width == 9 && next() % 2)
            word |= (uint64_t)256 << p->shift; /* a vector register */
    }
    const struct isa_pos *src0 = &isa_positions[row->enc][ISA_FIELD_SRC0];
    if (src0->width != 0 && variant >= ISA_VAR_LITERAL && variant <= ISA_VAR_DPP8) {
        static const uint16_t selectors[] = {[ISA_VAR_LITERAL] = ISA_SEL_LITERAL,
                                             [ISA_VAR_DPP16] = ISA_SEL_DPP16,
                                             [ISA_VAR_DPP8] = ISA_SEL_DPP8};
        word &= ~((uint64_t)511 << src0->shift);
        word |= (uint64_t)selectors[variant] << src0->shift;
    }
    uint64_t top = row->enc == ISA_ENC_VOPD ? 0 : ((UINT64_C(1) << e->op_width) - 1);
    word &= ~(top << e->op_shift);
    for (unsigned f = ISA_FIELD_NONE + 1; f < ISA_FIELD_COUNT; f++) {
        const struct isa_pos *p = &isa_positions[row->enc][f];
        bool fixed = f == ISA_FIELD_ENCODING || f == ISA_FIELD_SEG ||
                     f == ISA_FIELD_OP || f == ISA_FIELD_OPX;
        if (fixed && p->width != 0)
            word &= ~(((UINT64_C(1) << p->width) - 1) << p->shift);
    }
    word |= e->fixed | (uint64_t)row->opcode << e->op_shift;
    return (word & ~isa_fixed[row->fixed].mask) | isa_fixed[row->fixed].value;
}

/* Assemble and print again; false if the assembler refuses what LLVM disassembles but
 * does not assemble (llvm_diff.py compares those). */
static bool round_trip(const char *text, unsigned wave, char *again)
{
    uint8_t code[20];
    unsigned bytes;
    struct isa_fixup fixup;
    struct isa_asm_error error = {0};
    struct isa_asm_options options = {.wave = wave};
    struct isa_inst inst;
    if (isa_assemble(text, strlen(text), &options, code, &bytes, &fixup, &error) !=
        RD_OK)
        return false;
    ck_assert_msg(isa_decode(code, bytes, wave, &inst) == RD_OK, "%s", text);
    isa_print(&inst, wave, 0, again);
    return true;
}

/* The first round may turn a literal into an inline constant; then nothing changes. */
static void check_text(const struct isa_inst *inst, unsigned wave)
{
    char text[ISA_MAX_TEXT], second[ISA_MAX_TEXT], third[ISA_MAX_TEXT];
    isa_print(inst, wave, 0, text);
    if (!round_trip(text, wave, second))
        return;
    ck_assert_msg(round_trip(second, wave, third), "'%s' became '%s'", text, second);
    ck_assert_msg(strcmp(second, third) == 0, "'%s' became '%s', then '%s'", text,
                  second, third);
}

/* Returns whether the bytes were an instruction of the row. */
static bool check_word(const struct isa_row *row, const uint8_t code[12], unsigned wave)
{
    struct isa_inst inst, again;
    uint8_t back[20], twice[20];
    unsigned bytes, bytes_twice;
    if (isa_decode(code, 12, wave, &inst) != RD_OK || inst.op != row->op)
        return false;
    ck_assert_msg(isa_encode(&inst, wave, back, &bytes) == RD_OK, "%s",
                  isa_op_name(row->op));
    ck_assert_uint_eq(bytes, inst.bytes);
    /* Ignored bits are gone after the first round, nothing changes after it. */
    ck_assert(isa_decode(back, bytes, wave, &again) == RD_OK);
    ck_assert(isa_encode(&again, wave, twice, &bytes_twice) == RD_OK);
    ck_assert_uint_eq(bytes, bytes_twice);
    ck_assert_msg(memcmp(back, twice, bytes) == 0, "%s", isa_op_name(row->op));
    if (isa_has_text(&inst, 0))
        check_text(&inst, wave);
    return true;
}

START_TEST(every_row)
{
    unsigned wave = _i == 0 ? ISA_WAVE32 : ISA_WAVE64, reached = 0, rows = 0;
    for (unsigned r = 0; r < isa_row_count(); r++) {
        const struct isa_row *row = isa_row(r);
        if ((row->flags & ISA_RF_VOPD_Y) ||
            (row->enc == ISA_ENC_VOPD && wave != ISA_WAVE32))
            continue;
        bool any = false;
        for (unsigned i = 0; i < TRIES; i++) {
            unsigned variant = i % 5;
            uint64_t word = random_word(row, variant);
            uint32_t last = next() % 2 ? next() : next() & 0xff3b01ff;
            unsigned base = isa_encodings[row->enc].bytes;
            uint8_t code[12] = {0};
            memcpy(code, &word, 8);
            memcpy(code + base, &last, 4);
            any |= check_word(row, code, wave);
        }
        reached += any;
        rows++;
        if (!any)
            fprintf(stderr, "wave%u: no random encoding of %s %s decodes\n", wave,
                    isa_op_name(row->op), isa_enc_name(row->enc));
    }
    ck_assert_uint_eq(reached, rows);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("asm_pairs");
    TCase *tc = tcase_create("pairs");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, every_row, 0, 2);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
