/* xml.c: streaming reader of AMD's machine-readable ISA (schema 1.0 and 1.1).
 *
 * Keeps what the tables need and skips every element it does not know, so that newer
 * schemas pass. Must not correct anything: corrections are the supplement's.
 * Invariant: text is collected per leaf element and looked at when the element ends.
 * SPDX-License-Identifier: MIT
 */
#include "xml.h"

#include <ctype.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

#define MAX_DEPTH 64

struct reader {
    struct gx_isa *isa;
    const char *path[MAX_DEPTH];
    unsigned depth;
    char text[8192];
    size_t len;
    /* What is being filled in. */
    struct gx_encoding *encoding;
    struct gx_field *field;
    struct gx_insn *insn;
    struct gx_form *form;
    struct gx_operand *operand;
};

static bool parent_is(const struct reader *r, const char *name)
{
    return r->depth >= 2 && strcmp(r->path[r->depth - 2], name) == 0;
}

static const char *attribute(const char **attrs, const char *name)
{
    for (; attrs[0] != NULL; attrs += 2)
        if (strcmp(attrs[0], name) == 0)
            return attrs[1];
    return "";
}

static bool is_true(const char *text)
{
    return text[0] == 't' || text[0] == 'T';
}

static void on_start(void *user, const char *name, const char **attrs)
{
    struct reader *r = user;
    if (r->depth >= MAX_DEPTH)
        gen_die("elements nested too deep");
    r->path[r->depth++] = gen_strndup(name, strlen(name));
    r->len = 0;

    if (strcmp(name, "Encoding") == 0) {
        r->encoding = GEN_PUSH(r->isa->encodings, r->isa->n_encodings);
    } else if (strcmp(name, "Field") == 0 && r->encoding != NULL) {
        r->field = GEN_PUSH(r->encoding->fields, r->encoding->n_fields);
    } else if (strcmp(name, "Instruction") == 0) {
        r->insn = GEN_PUSH(r->isa->insns, r->isa->n_insns);
    } else if (strcmp(name, "InstructionEncoding") == 0 && r->insn != NULL) {
        r->form = GEN_PUSH(r->insn->forms, r->insn->n_forms);
    } else if (strcmp(name, "Operand") == 0 && r->form != NULL) {
        r->operand = GEN_PUSH(r->form->operands, r->form->n_operands);
        r->operand->in = is_true(attribute(attrs, "Input"));
        r->operand->out = is_true(attribute(attrs, "Output"));
        r->operand->implicit = is_true(attribute(attrs, "IsImplicit"));
        r->operand->encoded = is_true(attribute(attrs, "IsBinaryMicrocodeRequired"));
    }
}

static void on_text(void *user, const char *text, int len)
{
    struct reader *r = user;
    size_t room = sizeof r->text - 1 - r->len;
    size_t n = (size_t)len < room ? (size_t)len : room; /* prose may be cut */
    memcpy(r->text + r->len, text, n);
    r->len += n;
}

/* The element's text without surrounding blanks. */
static char *take_text(struct reader *r)
{
    char *s = r->text;
    size_t len = r->len;
    while (len > 0 && isspace((unsigned char)s[len - 1]))
        len--;
    while (len > 0 && isspace((unsigned char)*s)) {
        s++;
        len--;
    }
    return gen_strndup(s, len);
}

static char *take_lower(struct reader *r)
{
    char *s = take_text(r);
    for (char *p = s; *p != '\0'; p++)
        *p = (char)tolower((unsigned char)*p);
    return s;
}

static unsigned take_number(struct reader *r)
{
    char *end, *s = take_text(r);
    unsigned long v = strtoul(s, &end, 10);
    if (end == s || *end != '\0')
        gen_die("<%s>: not a number: '%s'", r->path[r->depth - 1], s);
    return (unsigned)v;
}

static void end_in_encoding(struct reader *r, const char *name)
{
    struct gx_encoding *e = r->encoding;
    if (strcmp(name, "EncodingName") == 0) {
        e->name = take_text(r);
    } else if (strcmp(name, "BitCount") == 0 && parent_is(r, "Encoding")) {
        e->bits = take_number(r);
    } else if (strcmp(name, "EncodingIdentifier") == 0) {
        if (e->first_id == NULL)
            e->first_id = take_text(r);
    } else if (r->field == NULL) {
        return;
    } else if (strcmp(name, "FieldName") == 0) {
        r->field->name = take_text(r);
    } else if (strcmp(name, "BitOffset") == 0) {
        r->field->shift = take_number(r);
    } else if (strcmp(name, "BitCount") == 0 && parent_is(r, "Range")) {
        r->field->width = take_number(r);
    } else if (strcmp(name, "BitCount") == 0 && parent_is(r, "Padding")) {
        r->field->pad = take_number(r);
    }
}

static void end_in_operand(struct reader *r, const char *name)
{
    if (strcmp(name, "FieldName") == 0)
        r->operand->field = take_text(r);
    else if (strcmp(name, "DataFormatName") == 0)
        r->operand->format = take_text(r);
    else if (strcmp(name, "OperandType") == 0)
        r->operand->type = take_text(r);
    else if (strcmp(name, "OperandSize") == 0)
        r->operand->bits = take_number(r);
}

static void end_in_form(struct reader *r, const char *name)
{
    if (r->operand != NULL)
        end_in_operand(r, name);
    else if (strcmp(name, "EncodingName") == 0)
        r->form->encoding = take_text(r);
    else if (strcmp(name, "EncodingCondition") == 0)
        r->form->condition = take_text(r);
    else if (strcmp(name, "Opcode") == 0)
        r->form->opcode = take_number(r);
}

static void end_in_insn(struct reader *r, const char *name)
{
    struct gx_insn *i = r->insn;
    if (r->form != NULL)
        end_in_form(r, name);
    else if (strcmp(name, "InstructionName") == 0 && parent_is(r, "Instruction"))
        i->name = take_lower(r);
    else if (strcmp(name, "InstructionName") == 0)
        *GEN_PUSH(i->aliases, i->n_aliases) = take_lower(r);
    else if (strcmp(name, "IsBranch") == 0)
        i->branch = is_true(take_text(r));
    else if (strcmp(name, "IsConditionalBranch") == 0)
        i->cond_branch = is_true(take_text(r));
    else if (strcmp(name, "IsIndirectBranch") == 0)
        i->indirect = is_true(take_text(r));
    else if (strcmp(name, "IsProgramTerminator") == 0)
        i->terminator = is_true(take_text(r));
}

static void end_elsewhere(struct reader *r, const char *name)
{
    struct gx_isa *isa = r->isa;
    if (strcmp(name, "OperandTypeName") == 0)
        *GEN_PUSH(isa->operand_types, isa->n_operand_types) = take_text(r);
    else if (strcmp(name, "SchemaVersion") == 0)
        isa->schema = take_text(r);
    else if (strcmp(name, "ArchitectureName") == 0)
        isa->architecture = take_text(r);
}

static void on_end(void *user, const char *name)
{
    struct reader *r = user;
    if (r->insn != NULL)
        end_in_insn(r, name);
    else if (r->encoding != NULL)
        end_in_encoding(r, name);
    else
        end_elsewhere(r, name);

    if (strcmp(name, "Operand") == 0)
        r->operand = NULL;
    else if (strcmp(name, "InstructionEncoding") == 0)
        r->form = NULL;
    else if (strcmp(name, "Instruction") == 0)
        r->insn = NULL;
    else if (strcmp(name, "Field") == 0)
        r->field = NULL;
    else if (strcmp(name, "Encoding") == 0)
        r->encoding = NULL;
    r->len = 0;
    r->depth--;
}

void gx_read(const char *path, struct gx_isa *isa)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        gen_die("cannot open %s", path);
    XML_Parser parser = XML_ParserCreate(NULL);
    struct reader *r = gen_alloc(sizeof *r);
    *isa = (struct gx_isa){.architecture = "?", .schema = "?"};
    r->isa = isa;
    XML_SetUserData(parser, r);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetCharacterDataHandler(parser, on_text);

    static char buffer[1 << 16];
    size_t n;
    do {
        n = fread(buffer, 1, sizeof buffer, f);
        if (XML_Parse(parser, buffer, (int)n, n == 0) == XML_STATUS_ERROR)
            gen_die("%s:%lu: %s", path, XML_GetCurrentLineNumber(parser),
                    XML_ErrorString(XML_GetErrorCode(parser)));
    } while (n != 0);
    XML_ParserFree(parser);
    fclose(f);
    if (isa->n_encodings == 0 || isa->n_insns == 0)
        gen_die("%s: no encodings or no instructions", path);
}
