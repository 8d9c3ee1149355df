/* fuzz.c: `rdna3 asm --fuzz-pairs`: random statements with their bytes, for every
 * pair of instruction and encoding, in each form (plain, literal, DPP, NSA) it has.
 *
 * Must not know encodings. Invariant: what is printed assembles to the bytes beside it,
 * and the same seed prints the same lines.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "asm.h"
#include "asm_tool.h"
#include "cli.h"
#include "isa.h"
#include "isa_random.h"

#define VARIANTS   5
#define MIN_TRIES  400u /* for a form that is hard to hit */
#define PER_RESULT 200u

struct fuzz {
    const struct asm_tool *o;
    struct asm_line *line;
    uint64_t state;
    unsigned long statements, forms, forms_hit, pairs, pairs_hit;
    unsigned long refused; /* texts that no assembler takes, though they decode */
};

/* Statement and bytes of a random encoding. Returns whether there is one. */
static bool one(struct fuzz *f, unsigned row, unsigned variant, char *text,
                uint8_t *code, unsigned *bytes)
{
    uint8_t raw[ISA_MAX_BYTES];
    struct isa_inst inst;
    struct isa_fixup fixup;
    struct isa_asm_error err;
    isa_random(row, variant, &f->state, raw);
    if (isa_decode(raw, sizeof raw, f->o->wave, &inst) != RD_OK ||
        inst.variant != variant || (inst.row != row && inst.row_y != row) ||
        !isa_has_text(&inst, 0))
        return false;
    size_t len = isa_print(&inst, f->o->wave, 0, text);
    if (asm_line_one(f->line, text, len, code, bytes, &fixup, &err) == RD_OK)
        return true;
    f->refused++;
    return false;
}

static void print_one(const struct fuzz *f, const char *text, const uint8_t *code,
                      unsigned bytes)
{
    printf("%s\t", text);
    for (unsigned i = 0; i < bytes; i++)
        printf("%02x", code[i]);
    printf("\t%u\n", f->o->wave);
}

/* A form of a row. Returns whether statements of it were found. */
static bool form(struct fuzz *f, unsigned row, unsigned variant)
{
    char text[ISA_MAX_TEXT];
    char last[ISA_MAX_TEXT] = "";
    uint8_t code[20];
    unsigned bytes;
    uint64_t found = 0;
    uint64_t tries = MIN_TRIES + f->o->pairs * PER_RESULT;
    for (; tries > 0 && found < f->o->pairs; tries--) {
        if (!one(f, row, variant, text, code, &bytes) || strcmp(text, last) == 0)
            continue;
        strcpy(last, text);
        print_one(f, text, code, bytes);
        found++;
    }
    f->statements += found;
    return found > 0;
}

static void pair(struct fuzz *f, unsigned index)
{
    const struct isa_row *row = isa_row(index);
    bool any = false;
    if ((row->flags & ISA_RF_NO_TEXT) ||
        ((row->flags & ISA_RF_WAVE32) && f->o->wave != 32))
        return;
    f->pairs++;
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        if (variant != ISA_VAR_NONE && !(row->variants >> variant & 1))
            continue;
        bool hit = form(f, index, variant);
        any |= hit;
        /* a row that demands a literal has no plain form */
        if (variant == ISA_VAR_NONE && !hit && (row->flags & ISA_RF_LITERAL))
            continue;
        f->forms++;
        f->forms_hit += hit;
    }
    f->pairs_hit += any;
    if (!any)
        fprintf(stderr, "warning: no statement of %s (%s) was found\n",
                isa_op_name(row->op), isa_enc_name(row->enc));
}

int asm_fuzz_pairs(const struct asm_tool *o)
{
    struct fuzz f = {.o = o, .state = o->seed};
    if (o->pairs == 0 || o->pairs > 1000000)
        return cli_error(CLI_USAGE, "--fuzz-pairs must be 1 to 1000000");
    if (asm_line_open(o->wave, &f.line) != RD_OK)
        return cli_error(CLI_FAILED, "out of memory");
    for (unsigned row = 0; row < isa_row_count(); row++)
        pair(&f, row);
    asm_line_close(f.line);
    fprintf(
        stderr,
        "%lu statements; %lu of %lu pairs of instruction and encoding, %lu of %lu of "
        "their forms\n",
        f.statements, f.pairs_hit, f.pairs, f.forms_hit, f.forms);
    if (f.refused)
        fprintf(
            stderr,
            "%lu more encodings break rules of the assembler and were passed over\n",
            f.refused);
    return cli_finish(CLI_OK);
}
