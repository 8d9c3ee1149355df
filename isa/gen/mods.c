/* mods.c: which modifiers a row takes, and which bits of its encoding are fixed.
 *
 * The XML names the modifier fields of an encoding but not the instructions that obey
 * them. The default follows from the operand formats: float sources take |x| and -x,
 * float results take clamp and omod. The supplement's mods lines correct it.
 * Invariant: a bit that no operand and no modifier of the row uses is fixed, except
 * where hardware and LLVM are known to ignore it (no "unused" line for the field).
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool one_of(const char *name, const char *const *list)
{
    for (; *list != NULL; list++)
        if (same(name, *list))
            return true;
    return false;
}

static bool is_float(const char *format)
{
    static const char *const floats[] = {"F16",     "F32",      "F64", "BF16",
                                         "PK2_F16", "PK2_BF16", NULL};
    return one_of(format, floats);
}

/* Number of the source a field is, or -1. */
static int source_number(const char *field)
{
    static const char *const numbers[3][2] = {
        {"SRC0", "SRC0"}, {"SRC1", "VSRC1"}, {"SRC2", "SRC2"}};
    for (int i = 0; i < 3; i++)
        if (same(field, numbers[i][0]) || same(field, numbers[i][1]))
            return i;
    return -1;
}

static bool has_mod(const struct gm_row *row, const char *name)
{
    for (size_t i = 0; i < row->n_mods; i++)
        if (same(row->mods[i], name))
            return true;
    return false;
}

static void add_mod(struct gm_row *row, const char *prefix, int number)
{
    char name[32];
    snprintf(name, sizeof name, number < 0 ? "%s" : "%s%d", prefix, number);
    if (has_mod(row, name))
        return;
    if (row->n_mods == GM_MAX_MODS)
        gen_die("%s: too many modifiers", row->op);
    row->mods[row->n_mods++] = gen_strndup(name, strlen(name));
}

static void packed_mods(struct gm_row *row)
{
    for (size_t i = 0; i < row->n_operands; i++) {
        int number = source_number(row->operands[i].field);
        if (number < 0)
            continue;
        add_mod(row, "NEG", number);
        add_mod(row, "OPSEL", number);
    }
    add_mod(row, "CLAMP", -1);
}

static void float_mods(struct gm_row *row)
{
    static const char *const compact[] = {"VOP1", "VOP2", "VOPC", NULL};
    bool result = row->n_operands > 0 && is_float(row->operands[0].format);
    bool source = false;
    for (size_t i = 0; i < row->n_operands; i++) {
        const struct gm_operand *o = &row->operands[i];
        int number = source_number(o->field);
        if (number < 0 || !is_float(o->format))
            continue;
        source = true;
        add_mod(row, "NEG", number);
        if (!same(row->base, "VOP3SD"))
            add_mod(row, "ABS", number);
    }
    if (one_of(row->base, compact))
        return; /* no fields for the rest */
    if (source || result)
        add_mod(row, "CLAMP", -1);
    if (result)
        add_mod(row, "OMOD", -1);
}

void gm_default_mods(struct gm_row *row)
{
    static const char *const floating[] = {"VOP1", "VOP2",   "VOPC",
                                           "VOP3", "VOP3SD", NULL};
    if (same(row->base, "VOP3P")) {
        packed_mods(row);
    } else if (same(row->base, "VINTERP")) {
        for (int i = 0; i < 3; i++)
            add_mod(row, "NEG", i);
        add_mod(row, "CLAMP", -1);
    } else if (one_of(row->base, floating)) {
        float_mods(row);
    }
}

/* ---- fixed bits ---- */

static const struct gx_field *field_of(const struct gx_encoding *e, const char *name)
{
    for (size_t i = 0; i < e->n_fields; i++)
        if (same(e->fields[i].name, name))
            return &e->fields[i];
    return NULL;
}

void gm_fix_bits(struct gm_row *row, unsigned shift, unsigned width, uint64_t value)
{
    uint64_t mask = (width < 64 ? (UINT64_C(1) << width) : 0) - 1;
    row->fixed_mask |= mask << shift;
    row->fixed_value &= ~(mask << shift);
    row->fixed_value |= (value & mask) << shift;
}

bool gm_fix_field(const struct gx_encoding *e, struct gm_row *row, const char *field,
                  uint64_t value)
{
    const struct gx_field *f = field_of(e, field);
    if (f != NULL)
        gm_fix_bits(row, f->shift, f->width, value);
    return f != NULL;
}

bool gm_fix_unused(const struct gx_encoding *e, struct gm_row *row, const char *field)
{
    for (size_t i = 0; i < row->n_operands; i++)
        if (same(row->operands[i].field, field))
            return true;
    return gm_fix_field(e, row, field, 0);
}

static void fix_unless(const struct gx_encoding *e, struct gm_row *row,
                       const char *field, unsigned bit, bool taken)
{
    const struct gx_field *f = field_of(e, field);
    if (!taken && f != NULL && bit < f->width)
        gm_fix_bits(row, f->shift + bit, 1, 0);
}

/* Modifier bits the row does not take. Rows that select halves ignore |x| and -x;
 * rows that do not select halves ignore OP_SEL, where the encoding is VOP3. */
void gm_fix_modifiers(const struct gx_encoding *e, struct gm_row *row)
{
    static const char *const abs[] = {"ABS0", "ABS1", "ABS2"};
    static const char *const neg[] = {"NEG0", "NEG1", "NEG2"};
    static const char *const sel[] = {"OPSEL0", "OPSEL1", "OPSEL2", "OPSELD"};
    bool halves = false;
    for (unsigned i = 0; i < 4; i++)
        halves |= has_mod(row, sel[i]);
    for (unsigned i = 0; i < 3; i++) {
        bool packed = same(row->base, "VOP3P");
        bool taken = has_mod(row, neg[i]) || has_mod(row, abs[i]) ||
                     (has_mod(row, sel[i]) && !packed);
        fix_unless(e, row, "ABS", i, taken);
        fix_unless(e, row, "NEG", i, taken);
        fix_unless(e, row, "NEG_HI", i, taken);
    }
    for (unsigned i = 0; i < 4; i++)
        if (halves || !same(row->base, "VOP3"))
            fix_unless(e, row, "OP_SEL", i, has_mod(row, sel[i]));
    fix_unless(e, row, "CLAMP", 0, has_mod(row, "CLAMP"));
    fix_unless(e, row, "OMOD", 0, has_mod(row, "OMOD"));
    fix_unless(e, row, "OMOD", 1, has_mod(row, "OMOD"));
}
