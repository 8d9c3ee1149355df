/* stmt.c: the statement loop: labels, assignments, directives, instructions.
 *
 * Must not know any directive or instruction. Invariant: every pass over the loop moves
 * the cursor or pops a text, and an instruction is appended whole or not at all.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <elf.h>
#include <stdlib.h>

/* End of the statement that begins at start, in this line; *comment: a block comment is
 * in it. */
static const char *statement_end(const char *start, const char *eol, bool *comment)
{
    const char *end = memchr(start, ';', (size_t)(eol - start));
    if (!end)
        end = eol;
    for (const char *p = start; (p = memchr(p, '/', (size_t)(end - p))) != NULL; p++) {
        char next = p + 1 < end ? p[1] : '\0';
        if (next == '/')
            return p;
        if (next == '*') {
            *comment = true;
            return p;
        }
    }
    return end;
}

/* Highest register of every v and s operand in the text, for .amdgcn.next_free_*. */
static void note_register(struct as *as, char kind, uint64_t index)
{
    uint32_t symbol = kind == 'v' ? as->vgpr_symbol : as->sgpr_symbol;
    struct as_symbol *s = &as->symbols[symbol];
    if (symbol && s->node == 0 && index < 512 && s->value <= index)
        s->value = index + 1;
}

static uint64_t digits(const char **p, const char *end)
{
    uint64_t value = 0;
    while (*p < end && as_is(**p, AS_C_DIGIT))
        value = value < 100000 ? value * 10 + (uint64_t)(*(*p)++ - '0') : (++*p, value);
    return value;
}

static void count_registers(struct as *as, const char *p, const char *end)
{
    while (p < end && as_is(*p, AS_C_IDENT)) /* the mnemonic */
        p++;
    for (bool word = false; p < end; p++) {
        bool starts = !word && (*p == 'v' || *p == 's') && p + 1 < end;
        char kind = *p;
        word = as_is(*p, AS_C_IDENT);
        if (!starts)
            continue;
        const char *q = p + 1;
        if (as_is(*q, AS_C_DIGIT)) {
            uint64_t index = digits(&q, end);
            if (q == end || !as_is(*q, AS_C_IDENT) || *q == '.')
                note_register(as, kind, index);
        } else if (*q == '[') {
            for (q++; q < end && *q != ']'; q++)
                if (as_is(*q, AS_C_DIGIT) && !as_is(q[-1], AS_C_IDENT)) {
                    note_register(as, kind, digits(&q, end));
                    q--;
                }
        }
    }
}

unsigned as_clear_fixup(const struct isa_fixup *fixup, uint8_t *code)
{
    unsigned size = fixup->kind == ISA_FIXUP_ABS32 ? 4 : 2;
    if (fixup->kind == ISA_FIXUP_NONE)
        return 0;
    memset(code + fixup->offset, 0, size);
    return size;
}

/* Remember what a symbol decides; its bytes are zero until then. */
static void note_fixup(struct as *as, const struct isa_fixup *fixup, uint64_t offset,
                       uint8_t *code)
{
    static const uint8_t kinds[] = {
        [ISA_FIXUP_ABS32] = AS_FIX_LITERAL,
        [ISA_FIXUP_BRANCH] = AS_FIX_BRANCH,
        [ISA_FIXUP_SIMM16] = AS_FIX_SIMM16,
    };
    unsigned size = as_clear_fixup(fixup, code);
    as_fixup(as, (enum as_fixup_kind)kinds[fixup->kind], size, offset + fixup->offset,
             fixup->handle, as->expr_at);
}

static void assemble(struct as *as, const char *start, const char *end)
{
    struct as_section *s = &as->sections[as->section];
    struct isa_fixup fixup;
    struct isa_asm_error err;
    unsigned bytes = 0;
    if (s->type == SHT_NOBITS) {
        as_error(as, start, "an instruction in a section without contents");
        return;
    }
    uint64_t offset = s->bytes;
    uint8_t *code = as_emit(as, AS_CODE_RESERVED);
    if (!code)
        return;
    rd_status st = isa_assemble(start, (size_t)(end - start), &as->isa, code, &bytes,
                                &fixup, &err);
    s = &as->sections[as->section];
    if (st != RD_OK)
        bytes = 0;
    s->bytes = offset + bytes;
    as->bytes -= AS_CODE_RESERVED - bytes;
    if (st != RD_OK) {
        size_t column = err.column ? err.column - 1 : 0;
        if (column > (size_t)(end - start))
            column = (size_t)(end - start);
        as_error(as, start + column, "%s", err.text);
        return;
    }
    as->result.instructions++;
    if (fixup.kind != ISA_FIXUP_NONE)
        note_fixup(as, &fixup, offset, code);
    if (as->count_registers)
        count_registers(as, start, end);
}

/* The statement holds block comments: assemble a copy with blanks in their place. */
static void assemble_commented(struct as *as, const char *start)
{
    struct as_buf copy = {0};
    as->p = start;
    while (!as_at_end(as)) {
        size_t gap = copy.bytes ? 1 : 0;
        const char *p = as->p;
        while (p < as->end && !as_is(*p, AS_C_BLANK) && *p != '\n' && *p != ';' &&
               *p != '/')
            p++;
        if (p == as->p)
            p++;
        if (as->p > start && !as_is(as->p[-1], AS_C_BLANK) && as->p[-1] != '/')
            gap = 0;
        as_buf_add(&copy, " ", gap);
        as_buf_add(&copy, as->p, (size_t)(p - as->p));
        as->p = p;
    }
    const char *text = copy.failed ? NULL : as_keep(as, (char *)copy.data, copy.bytes);
    if (text)
        assemble(as, text, text + copy.bytes);
    free(copy.data);
}

static void instruction(struct as *as, const char *start)
{
    const char *eol = memchr(start, '\n', (size_t)(as->end - start));
    bool comment = false;
    if (!eol)
        eol = as->end;
    const char *end = statement_end(start, eol, &comment);
    if (comment) {
        assemble_commented(as, start);
        as_next_line(as);
        return;
    }
    while (end > start && as_is(end[-1], AS_C_BLANK))
        end--;
    as->p = end;
    assemble(as, start, end);
    as->p = eol < as->end ? eol + 1 : eol;
    as->line += eol < as->end;
}

static void finish_statement(struct as *as)
{
    if (as->line_done)
        return;
    if (!as->failed_statement && !as_at_end(as))
        as_error(as, as->p, "unexpected text at the end of the statement");
    as_next_line(as);
}

static void directive(struct as *as, const char *name, size_t len)
{
    const struct as_directive *d = as_directive_find(as, name, len);
    if (!d) {
        const char *meant = as_directive_near(name, len);
        as_error(as, name, "unknown directive '%.*s'%s%s%s", (int)(len > 64 ? 64 : len),
                 name, meant ? "; did you mean '" : "", meant ? meant : "",
                 meant ? "'?" : "");
        return;
    }
    d->run(as, d->arg);
}

/* A statement that begins with a name. Returns false if it was a label: another
 * statement may follow in the line. */
static bool named_statement(struct as *as)
{
    const char *name = as->p;
    const char *p = name;
    while (p < as->end && as_is(*p, AS_C_IDENT))
        p++;
    size_t len = (size_t)(p - name);
    while (p < as->end && as_is(*p, AS_C_BLANK))
        p++;
    char next = p < as->end ? *p : '\0';
    if (next == ':') {
        as->p = p + 1;
        as_label(as, name, len);
        return false;
    }
    if (next == '=') {
        bool twice = as->end - p > 1 && p[1] == '=';
        as->p = p + 1 + twice;
        as_assign(as, name, len, !twice);
        finish_statement(as);
        return true;
    }
    as->p = name + len;
    if (as->n_macros && as_macro_call(as, name, len)) {
        finish_statement(as);
    } else if (*name == '.') {
        directive(as, name, len);
        finish_statement(as);
    } else {
        instruction(as, name);
    }
    return true;
}

/* 1: or "name": */
static bool odd_label(struct as *as)
{
    const char *at = as->p;
    const char *name;
    size_t len;
    uint64_t number;
    if (*at == '"') {
        if (!as_name(as, &name, &len) || len == 0 || !as_take(as, ':'))
            return false;
        as_label(as, name, len);
        return true;
    }
    if (!as_is(*at, AS_C_DIGIT) || !as_number(as, &number, NULL) || !as_take(as, ':'))
        return false;
    as_local_label(as, number, at);
    return true;
}

static void statement(struct as *as)
{
    as->failed_statement = false;
    as->line_done = false;
    for (;;) {
        while (as->p < as->end && as_is(*as->p, AS_C_BLANK))
            as->p++;
        if (as->p == as->end)
            return;
        if (as_is(*as->p, AS_C_START)) {
            if (named_statement(as))
                return;
            if (!as->failed_statement)
                continue;
            as_next_line(as);
            return;
        }
        if (as_at_end(as) || *as->p == '#') {
            as_next_line(as);
            return;
        }
        if (as_is(*as->p, AS_C_START))
            continue; /* a block comment was before it */
        const char *at = as->p;
        if (!odd_label(as)) {
            as_error(as, at, "expected a label, a directive or an instruction");
            as_next_line(as);
            return;
        }
    }
}

void as_run(struct as *as)
{
    while (!as->stop) {
        if (as->n_conds && as->p < as->end && !as->conds[as->n_conds - 1].active)
            as_cond_skip(as);
        if (as->p == as->end) {
            as->failed_statement = false;
            if (!as_frame_pop(as))
                return;
            continue;
        }
        as->result.lines++;
        statement(as);
    }
}
