/* model.c: from XML entries to table rows.
 *
 * An entry of a literal, DPP or NSA encoding only sets a variant bit of its base row.
 * Every correction that can be said in data is a line of the supplement; the few that
 * need a rule are functions here, each naming the defect it repairs.
 * Must not know C output syntax.
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static _Noreturn void bad_line(const struct gs_supplement *supp,
                               const struct gs_line *line, const char *what)
{
    gen_die("%s:%u: %s", supp->path, line->number, what);
}

static const char *word(const struct gs_supplement *supp, const struct gs_line *line,
                        size_t i)
{
    if (i >= line->n_words)
        bad_line(supp, line, "too few words");
    return line->words[i];
}

static unsigned number(const struct gs_supplement *supp, const struct gs_line *line,
                       size_t i)
{
    char *end;
    const char *text = word(supp, line, i);
    unsigned long v = strtoul(text, &end, 0);
    if (end == text || *end != '\0')
        bad_line(supp, line, "not a number");
    return (unsigned)v;
}

/* ---- encodings ---- */

static void read_maps(struct gm_model *m, struct gs_supplement *supp)
{
    for (size_t i = 0; i < supp->n_lines; i++) {
        struct gs_line *line = &supp->lines[i];
        if (!same(line->words[0], "encoding"))
            continue;
        struct gm_map *map = GEN_PUSH(m->maps, m->n_maps);
        map->xml = word(supp, line, 1);
        map->base = word(supp, line, 2);
        map->variant = line->n_words > 3 ? line->words[3] : NULL;
        line->used = true;
    }
}

static const struct gm_map *find_map(const struct gm_model *m, const char *xml)
{
    for (size_t i = 0; i < m->n_maps; i++)
        if (same(m->maps[i].xml, xml))
            return &m->maps[i];
    return NULL;
}

int gm_base_order(const struct gm_model *model, const char *base)
{
    for (size_t i = 0; i < model->n_maps; i++)
        if (same(model->maps[i].base, base))
            return (int)i;
    return -1;
}

const struct gx_encoding *gm_base_encoding(const struct gm_model *model,
                                           const char *base)
{
    for (size_t i = 0; i < model->isa->n_encodings; i++) {
        const struct gx_encoding *e = &model->isa->encodings[i];
        const struct gm_map *map = find_map(model, e->name);
        if (map != NULL && map->variant == NULL && same(map->base, base))
            return e;
    }
    return NULL;
}

/* ---- rows ---- */

/* Short format name: the supplement's word, else the XML's without its prefix. */
static const char *short_format(const struct gs_supplement *supp, const char *xml)
{
    for (size_t i = 0; i < supp->n_lines; i++) {
        struct gs_line *line = &supp->lines[i];
        if (same(line->words[0], "format") && same(word(supp, line, 1), xml)) {
            line->used = true;
            return word(supp, line, 2);
        }
    }
    const char *prefix = "FMT_NUM_";
    size_t len = strlen(prefix);
    return strncmp(xml, prefix, len) == 0 ? xml + len : xml;
}

static struct gm_operand convert_operand(const struct gs_supplement *supp,
                                         const struct gx_operand *x)
{
    bool in_field = x->field != NULL;
    return (struct gm_operand){
        /* K of FMAAK and FMAMK, and s_setreg_imm32's value, name no field. */
        .field = in_field                      ? x->field
                 : same(x->type, "OPR_SIMM32") ? "SIMM32"
                                               : NULL,
        .format = short_format(supp, x->format),
        .type = x->type,
        .bits = x->bits,
        .in = x->in,
        .out = x->out,
        .implicit = x->implicit,
        .no_field = !in_field && !x->implicit && !same(x->type, "OPR_SIMM32"),
    };
}

static bool is_y_field(const char *field)
{
    return same(field, "VDSTY") || same(field, "SRCY0") || same(field, "VSRCY1");
}

static void fill_operands(struct gm_row *row, const struct gs_supplement *supp,
                          const struct gx_form *form)
{
    if (form->n_operands > GM_MAX_OPERANDS)
        gen_die("%s: too many operands", row->op);
    for (size_t i = 0; i < form->n_operands; i++) {
        row->operands[i] = convert_operand(supp, &form->operands[i]);
        row->half_y |= is_y_field(row->operands[i].field);
    }
    row->n_operands = form->n_operands;
    for (size_t i = 0; i < row->n_operands; i++)
        row->operands[i].half_y = row->half_y;
}

static bool form_half_y(const struct gx_form *form)
{
    for (size_t i = 0; i < form->n_operands; i++)
        if (is_y_field(form->operands[i].field))
            return true;
    return false;
}

static struct gm_row *find_row(struct gm_model *m, const char *op, const char *base,
                               bool half_y)
{
    for (size_t i = m->n_rows; i-- > 0;)
        if (same(m->rows[i].op, op) && same(m->rows[i].base, base) &&
            m->rows[i].half_y == half_y)
            return &m->rows[i];
    return NULL;
}

static void set_variant(struct gm_row *row, const char *variant)
{
    for (size_t i = 0; i < row->n_variants; i++)
        if (same(row->variants[i], variant))
            return;
    row->variants[row->n_variants++] = variant;
}

/* Base entries make rows (GLOBAL and SCRATCH state each twice: once is enough); a
 * literal entry without a base row is an instruction that always has a literal. */
static void add_form(struct gm_model *m, struct gs_supplement *supp,
                     const struct gx_insn *insn, const struct gx_form *form)
{
    const struct gm_map *map = find_map(m, form->encoding);
    if (map == NULL) {
        if (!m->lenient)
            gen_die("%s: encoding %s is not in the supplement", insn->name,
                    form->encoding);
        return;
    }
    bool half_y = form_half_y(form);
    struct gm_row *row = find_row(m, insn->name, map->base, half_y);
    bool mandatory = same(map->variant, "LITERAL") && same(form->condition, "default");
    if (row == NULL) {
        if (map->variant != NULL && !mandatory)
            gen_die("%s: %s without a base entry", insn->name, form->encoding);
        row = GEN_PUSH(m->rows, m->n_rows);
        row->op = insn->name;
        row->base = map->base;
        row->opcode = form->opcode;
        row->branch = insn->branch;
        row->cond_branch = insn->cond_branch;
        row->indirect = insn->indirect;
        row->terminator = insn->terminator;
        row->literal = mandatory;
        fill_operands(row, supp, form);
    } else if (map->variant != NULL) {
        set_variant(row, map->variant);
    }
    if (mandatory)
        set_variant(row, "LITERAL");
}

static void add_forms(struct gm_model *m, struct gs_supplement *supp, bool variants)
{
    for (size_t i = 0; i < m->isa->n_insns; i++) {
        const struct gx_insn *insn = &m->isa->insns[i];
        for (size_t f = 0; f < insn->n_forms; f++) {
            const struct gm_map *map = find_map(m, insn->forms[f].encoding);
            if (variants == (map != NULL && map->variant != NULL))
                add_form(m, supp, insn, &insn->forms[f]);
        }
    }
}

/* ---- supplement: instructions of its own ---- */

static void add_operand(struct gs_supplement *supp, struct gs_line *line,
                        struct gm_row *row)
{
    if (row == NULL || row->n_operands >= GM_MAX_OPERANDS)
        bad_line(supp, line, "operand without an insn line, or too many");
    const char *direction = word(supp, line, 5);
    row->operands[row->n_operands++] = (struct gm_operand){
        .field = same(word(supp, line, 1), "-") ? NULL : line->words[1],
        .type = word(supp, line, 2),
        .format = word(supp, line, 3),
        .bits = number(supp, line, 4),
        .in = strncmp(direction, "in", 2) == 0,
        .out = strstr(direction, "out") != NULL,
        .implicit = line->n_words > 6 && same(line->words[6], "implicit"),
    };
    line->used = true;
}

static void add_supplement_rows(struct gm_model *m, struct gs_supplement *supp)
{
    struct gm_row *row = NULL;
    struct gm_row elsewhere; /* takes instructions of encodings this ISA lacks */
    for (size_t i = 0; i < supp->n_lines; i++) {
        struct gs_line *line = &supp->lines[i];
        if (same(line->words[0], "operand")) {
            add_operand(supp, line, row);
        } else if (same(line->words[0], "insn")) {
            bool known = gm_base_encoding(m, word(supp, line, 2)) != NULL;
            if (!known && !m->lenient)
                bad_line(supp, line, "no such encoding");
            elsewhere = (struct gm_row){0};
            row = known ? GEN_PUSH(m->rows, m->n_rows) : &elsewhere;
            row->op = word(supp, line, 1);
            row->base = word(supp, line, 2);
            row->opcode = number(supp, line, 3);
            row->llvm_only = true;
            line->used = true;
        } else {
            row = NULL;
        }
    }
}

/* ---- supplement: corrections ---- */

/* Does the line's PATTERN and ENC name this row? "a,b,c" lists encodings. */
static bool selects(const struct gs_supplement *supp, const struct gs_line *line,
                    const struct gm_row *row)
{
    const char *enc = word(supp, line, 2);
    size_t len = strlen(row->base);
    bool hit = same(enc, "*");
    for (const char *p = enc; !hit && p != NULL; p = strchr(p, ',')) {
        p += *p == ',';
        hit = strncmp(p, row->base, len) == 0 && (p[len] == ',' || p[len] == '\0');
    }
    return hit && fnmatch(word(supp, line, 1), row->op, 0) == 0;
}

static void change_mods(struct gm_row *row, const char *change)
{
    const char *name = change + 1;
    for (size_t i = 0; i < row->n_mods; i++) {
        if (!same(row->mods[i], name))
            continue;
        if (change[0] == '-')
            row->mods[i] = row->mods[--row->n_mods];
        return;
    }
    if (change[0] != '+')
        return;
    if (row->n_mods == GM_MAX_MODS)
        gen_die("%s: too many modifiers", row->op);
    row->mods[row->n_mods++] = name;
}

/* Corrections of one operand: bits, inout, optype. */
static void correct_operand(struct gs_supplement *supp, struct gs_line *line,
                            struct gm_row *row)
{
    const char *field = word(supp, line, 3);
    for (size_t i = 0; i < row->n_operands; i++) {
        struct gm_operand *o = &row->operands[i];
        if (!same(o->field, field))
            continue;
        if (same(line->words[0], "bits"))
            o->bits = number(supp, line, 4);
        else if (same(line->words[0], "inout"))
            o->in = o->out = true;
        else if (same(line->words[0], "optype"))
            o->type = word(supp, line, 4);
        else
            o->format = word(supp, line, 4);
        line->used = true;
    }
}

static void add_operand_to(struct gs_supplement *supp, struct gs_line *line,
                           struct gm_row *row)
{
    if (row->n_operands >= GM_MAX_OPERANDS)
        bad_line(supp, line, "too many operands");
    row->operands[row->n_operands++] = (struct gm_operand){
        .field = word(supp, line, 3),
        .type = word(supp, line, 4),
        .format = word(supp, line, 5),
        .bits = number(supp, line, 6),
        .in = true,
    };
    line->used = true;
}

static void correct_row(struct gs_supplement *supp, struct gs_line *line,
                        struct gm_row *row)
{
    const char *directive = line->words[0];
    if (same(directive, "variants")) {
        row->n_variants = 0;
        for (size_t w = 3; w < line->n_words; w++)
            set_variant(row, line->words[w]);
        line->used = true;
    } else if (same(directive, "mods")) {
        for (size_t w = 3; w < line->n_words; w++)
            change_mods(row, line->words[w]);
        line->used = true;
    } else if (same(directive, "input")) {
        add_operand_to(supp, line, row);
    } else if (same(directive, "flag")) {
        if (same(word(supp, line, 3), "NO_TEXT"))
            row->no_text = true;
        else if (same(line->words[3], "CBRANCH"))
            row->branch = row->cond_branch = true;
        else if (same(line->words[3], "STRAIGHT"))
            row->branch = row->indirect = false;
        else if (same(line->words[3], "BARE"))
            row->bare = true;
        else
            bad_line(supp, line, "no such flag");
        line->used = true;
    } else {
        correct_operand(supp, line, row);
    }
}

static bool is_correction(const char *directive)
{
    static const char *const all[] = {"variants", "mods",  "bits",   "flag",
                                      "input",    "inout", "optype", "opformat"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (same(directive, all[i]))
            return true;
    return false;
}

/* unused ENC FIELD..., reserved ENC SHIFT WIDTH, fixed PATTERN ENC FIELD VALUE */
static void fix_row(struct gm_model *m, struct gs_supplement *supp, struct gm_row *row)
{
    const struct gx_encoding *e = gm_base_encoding(m, row->base);
    gm_fix_modifiers(e, row);
    for (size_t i = 0; i < supp->n_lines; i++) {
        struct gs_line *line = &supp->lines[i];
        if (same(line->words[0], "unused") && same(word(supp, line, 1), row->base)) {
            for (size_t w = 2; w < line->n_words; w++)
                if (is_y_field(line->words[w]) == row->half_y &&
                    !gm_fix_unused(e, row, line->words[w]) && !m->lenient)
                    bad_line(supp, line, "no such field");
            line->used = true;
        } else if (same(line->words[0], "reserved") &&
                   same(word(supp, line, 1), row->base)) {
            gm_fix_bits(row, number(supp, line, 2), number(supp, line, 3), 0);
            line->used = true;
        } else if (same(line->words[0], "fixed") && selects(supp, line, row)) {
            bool fixed =
                gm_fix_field(e, row, word(supp, line, 3), number(supp, line, 4));
            if (!fixed && !m->lenient)
                bad_line(supp, line, "no such field");
            line->used = true;
        }
    }
}

static void apply_corrections(struct gm_model *m, struct gs_supplement *supp)
{
    for (size_t i = 0; i < supp->n_lines; i++) {
        struct gs_line *line = &supp->lines[i];
        if (!is_correction(line->words[0]))
            continue;
        for (size_t r = 0; r < m->n_rows; r++)
            if (selects(supp, line, &m->rows[r]))
                correct_row(supp, line, &m->rows[r]);
    }
}

/* V_CMPX states EXEC twice: the implicit copy goes. */
static void drop_second_exec(struct gm_row *row)
{
    bool has_exec = false;
    for (size_t i = 0; i < row->n_operands; i++)
        has_exec |= same(row->operands[i].type, "OPR_EXEC");
    for (size_t i = 0; has_exec && i < row->n_operands; i++) {
        if (!same(row->operands[i].type, "OPR_SDST_EXEC"))
            continue;
        memmove(&row->operands[i], &row->operands[i + 1],
                (row->n_operands - i - 1) * sizeof row->operands[0]);
        row->n_operands--;
        return;
    }
}

static bool is_compact(const char *base)
{
    return same(base, "VOP1") || same(base, "VOP2") || same(base, "VOPC");
}

/* Mnemonics with a 32-bit and a VOP3 form say which one is meant. */
static void mark_suffix(struct gm_model *m, struct gm_row *row)
{
    bool compact = is_compact(row->base);
    if (row->bare || row->n_operands == 0 ||
        (!compact && !same(row->base, "VOP3") && !same(row->base, "VOP3SD")))
        return;
    for (size_t i = 0; i < m->n_rows; i++)
        if (same(m->rows[i].op, row->op) && is_compact(m->rows[i].base) != compact)
            row->suffix = true;
}

/* ---- names ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_alias(const void *a, const void *b)
{
    return strcmp(((const struct gm_alias *)a)->name,
                  ((const struct gm_alias *)b)->name);
}

static void collect_ops(struct gm_model *m)
{
    for (size_t i = 0; i < m->n_rows; i++)
        *GEN_PUSH(m->ops, m->n_ops) = m->rows[i].op;
    qsort(m->ops, m->n_ops, sizeof m->ops[0], by_text);
    size_t n = 0;
    for (size_t i = 0; i < m->n_ops; i++)
        if (n == 0 || !same(m->ops[n - 1], m->ops[i]))
            m->ops[n++] = m->ops[i];
    m->n_ops = n;
}

static bool dropped(struct gs_supplement *supp, const char *alias)
{
    bool hit = false;
    for (size_t i = 0; i < supp->n_lines; i++) {
        struct gs_line *line = &supp->lines[i];
        if (!same(line->words[0], "drop-alias") ||
            fnmatch(word(supp, line, 1), alias, 0) != 0)
            continue;
        line->used = true;
        hit = true;
    }
    return hit;
}

static bool is_op(const struct gm_model *m, const char *name)
{
    return bsearch(&name, m->ops, m->n_ops, sizeof m->ops[0], by_text) != NULL;
}

static void collect_aliases(struct gm_model *m, struct gs_supplement *supp)
{
    for (size_t i = 0; i < m->isa->n_insns; i++) {
        const struct gx_insn *insn = &m->isa->insns[i];
        for (size_t a = 0; a < insn->n_aliases; a++)
            if (!dropped(supp, insn->aliases[a]) && !is_op(m, insn->aliases[a]) &&
                is_op(m, insn->name))
                *GEN_PUSH(m->aliases, m->n_aliases) =
                    (struct gm_alias){insn->aliases[a], insn->name};
    }
    for (size_t i = 0; i < supp->n_lines; i++) {
        struct gs_line *line = &supp->lines[i];
        if (!same(line->words[0], "alias"))
            continue;
        if (!is_op(m, word(supp, line, 2)) && !m->lenient)
            bad_line(supp, line, "no such instruction");
        if (is_op(m, line->words[2]) && !is_op(m, word(supp, line, 1)))
            *GEN_PUSH(m->aliases, m->n_aliases) =
                (struct gm_alias){word(supp, line, 1), line->words[2]};
        line->used = true;
    }
    qsort(m->aliases, m->n_aliases, sizeof m->aliases[0], by_alias);
    size_t n = 0;
    for (size_t i = 0; i < m->n_aliases; i++)
        if (n == 0 || !same(m->aliases[n - 1].name, m->aliases[i].name))
            m->aliases[n++] = m->aliases[i];
    m->n_aliases = n;
}

static void collect_imms(struct gm_model *m, struct gs_supplement *supp)
{
    for (size_t i = 0; i < supp->n_lines; i++) {
        struct gs_line *line = &supp->lines[i];
        if (!same(line->words[0], "name"))
            continue;
        *GEN_PUSH(m->imms, m->n_imms) = (struct gm_imm){
            .kind = word(supp, line, 1),
            .value = number(supp, line, 2),
            .text = word(supp, line, 3),
        };
        line->used = true;
    }
}

/* ---- all of it ---- */

static const struct gm_model *sorting; /* qsort has no argument for it */

static int by_encoding(const void *a, const void *b)
{
    const struct gm_row *x = a, *y = b;
    int order = gm_base_order(sorting, x->base) - gm_base_order(sorting, y->base);
    if (order == 0)
        order = (int)x->half_y - (int)y->half_y;
    if (order == 0)
        order = (int)x->opcode - (int)y->opcode;
    return order != 0 ? order : strcmp(x->op, y->op);
}

/* An opcode that two instructions claim would decode as the second. */
static void check_opcodes(const struct gm_model *m)
{
    for (size_t i = 1; i < m->n_rows; i++) {
        const struct gm_row *a = &m->rows[i - 1], *b = &m->rows[i];
        if (same(a->base, b->base) && a->half_y == b->half_y && a->opcode == b->opcode)
            gen_die("%s and %s are both opcode %u of %s", a->op, b->op, b->opcode,
                    b->base);
    }
}

static void report_unused(const struct gm_model *m, const struct gs_supplement *supp)
{
    for (size_t i = 0; i < supp->n_lines; i++) {
        const struct gs_line *line = &supp->lines[i];
        if (line->used)
            continue;
        if (!m->lenient)
            bad_line(supp, line, "matches nothing, or unknown directive");
        fprintf(stderr, "isagen: note: %s:%u: matches nothing here\n", supp->path,
                line->number);
    }
}

void gm_build(const struct gx_isa *isa, struct gs_supplement *supp, bool lenient,
              struct gm_model *model)
{
    *model = (struct gm_model){.isa = isa, .lenient = lenient};
    read_maps(model, supp);
    add_forms(model, supp, false);
    add_forms(model, supp, true);
    add_supplement_rows(model, supp);
    for (size_t i = 0; i < model->n_rows; i++) {
        drop_second_exec(&model->rows[i]);
        gm_default_mods(&model->rows[i]);
    }
    apply_corrections(model, supp);
    for (size_t i = 0; i < model->n_rows; i++)
        fix_row(model, supp, &model->rows[i]);
    for (size_t i = 0; i < model->n_rows; i++)
        mark_suffix(model, &model->rows[i]);
    collect_ops(model);
    collect_aliases(model, supp);
    collect_imms(model, supp);
    sorting = model;
    qsort(model->rows, model->n_rows, sizeof model->rows[0], by_encoding);
    if (!lenient)
        check_opcodes(model);
    report_unused(model, supp);
}
