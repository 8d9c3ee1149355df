/* cond.c: conditional assembly.
 *
 * Must not know what is assembled. Invariant: a conditional ends in the file or
 * expansion in which it began.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <stdlib.h>

enum test { NE, EQ, GE, GT, LE, LT };

static uint32_t outer_conds(const struct as *as)
{
    return as->n_frames ? as->frames[as->n_frames - 1].cond : 0;
}

static void cond_push(struct as *as, bool active)
{
    if (as->n_conds >= AS_MAX_COND) {
        as_fatal(as, as->p, "conditionals are nested deeper than %u", AS_MAX_COND);
        return;
    }
    if (!as_grow((void **)&as->conds, &as->cap_conds, as->n_conds, sizeof *as->conds)) {
        as_out_of_memory(as);
        return;
    }
    as->conds[as->n_conds++] =
        (struct as_cond){.active = active, .taken = active, .line = as->line};
}

static bool test_value(enum test test, int64_t v)
{
    switch (test) {
    case NE:
        return v != 0;
    case EQ:
        return v == 0;
    case GE:
        return v >= 0;
    case GT:
        return v > 0;
    case LE:
        return v <= 0;
    case LT:
        return v < 0;
    }
    return false;
}

/* A failed condition counts as false, so that its .endif has a partner. */
static void dir_if(struct as *as, int test)
{
    int64_t value = 0;
    bool ok = as_absolute(as, &value);
    cond_push(as, ok && test_value((enum test)test, value));
}

static void dir_ifdef(struct as *as, int wanted)
{
    const char *name;
    size_t len;
    bool defined = false;
    if (as_need_name(as, "a symbol", &name, &len)) {
        uint32_t symbol = as_map_get(&as->symbol_map, name, len);
        defined = symbol && as->symbols[symbol].section != 0;
    }
    cond_push(as, !as->failed_statement && defined == wanted);
}

/* The text up to a comma (or not) or the end of the statement, without blanks around.
 */
static void rest_text(struct as *as, bool to_comma, const char **text, size_t *len)
{
    as_blanks(as);
    const char *start = as->p;
    const char *end = start;
    while (!as_at_end(as) && !(to_comma && *as->p == ','))
        end = ++as->p;
    *text = start;
    *len = (size_t)(end - start);
}

static void dir_ifb(struct as *as, int wanted)
{
    const char *text;
    size_t len;
    rest_text(as, false, &text, &len);
    cond_push(as, (len == 0) == wanted);
}

static void dir_ifc(struct as *as, int wanted)
{
    const char *a, *b;
    size_t len_a, len_b;
    rest_text(as, true, &a, &len_a);
    bool ok = as_expect(as, ',');
    rest_text(as, false, &b, &len_b);
    bool same = len_a == len_b && memcmp(a, b, len_a) == 0;
    cond_push(as, ok && same == wanted);
}

static void dir_ifeqs(struct as *as, int wanted)
{
    struct as_buf a = {0};
    struct as_buf b = {0};
    bool ok = as_string(as, &a);
    if (!ok)
        as_error(as, as->error.at, "%s", as->error.text);
    ok = ok && as_expect(as, ',');
    if (ok && !as_string(as, &b)) {
        as_error(as, as->error.at, "%s", as->error.text);
        ok = false;
    }
    bool same =
        a.bytes == b.bytes && (a.bytes == 0 || !memcmp(a.data, b.data, a.bytes));
    cond_push(as, ok && same == wanted);
    free(a.data);
    free(b.data);
}

/* The conditional that .else and .endif belong to; NULL with an error. */
static struct as_cond *innermost(struct as *as, const char *what)
{
    if (as->n_conds > outer_conds(as))
        return &as->conds[as->n_conds - 1];
    as_error(as, as->p, "%s without .if", what);
    return NULL;
}

static void dir_elseif(struct as *as, int arg)
{
    (void)arg;
    struct as_cond *c = innermost(as, ".elseif");
    if (!c)
        return;
    if (c->seen_else) {
        as_error(as, as->p, ".elseif after .else");
        return;
    }
    int64_t value = 0;
    c->active = false;
    /* After a branch that was taken the condition is not looked at. */
    if (!c->taken && as_absolute(as, &value) && value != 0)
        c->active = c->taken = true;
    while (!as_at_end(as))
        as->p++;
}

static void dir_else(struct as *as, int arg)
{
    (void)arg;
    struct as_cond *c = innermost(as, ".else");
    if (!c)
        return;
    if (c->seen_else) {
        as_error(as, as->p, "a second .else for the .if in line %u", c->line);
        return;
    }
    c->active = !c->taken;
    c->taken = true;
    c->seen_else = true;
}

static void dir_endif(struct as *as, int arg)
{
    (void)arg;
    if (innermost(as, ".endif"))
        as->n_conds--;
}

void as_cond_skip(struct as *as)
{
    unsigned nested = 0;
    while (as->p < as->end) {
        const char *name;
        size_t len;
        as_blanks(as);
        const char *start = as->p;
        if (start < as->end && *start == '.' && as_name(as, &name, &len)) {
            if (len >= 3 && memcmp(name, ".if", 3) == 0) {
                nested++;
            } else if (nested == 0 &&
                       (as_same(name, len, ".else") || as_same(name, len, ".elseif") ||
                        as_same(name, len, ".endif"))) {
                as->p = start;
                return;
            } else if (as_same(name, len, ".endif")) {
                nested--;
            }
        }
        as_next_line(as);
    }
}

void as_cond_finish(struct as *as)
{
    uint32_t outer = outer_conds(as);
    if (as->n_conds <= outer)
        return;
    as_error(as, as->p, ".if in line %u is not closed by .endif",
             as->conds[as->n_conds - 1].line);
    as->n_conds = outer;
}

const struct as_directive as_directives_cond[] = {
    {".if", dir_if, NE},        {".ifne", dir_if, NE},
    {".ifeq", dir_if, EQ},      {".ifge", dir_if, GE},
    {".ifgt", dir_if, GT},      {".ifle", dir_if, LE},
    {".iflt", dir_if, LT},      {".ifdef", dir_ifdef, 1},
    {".ifndef", dir_ifdef, 0},  {".ifnotdef", dir_ifdef, 0},
    {".ifb", dir_ifb, 1},       {".ifnb", dir_ifb, 0},
    {".ifc", dir_ifc, 1},       {".ifnc", dir_ifc, 0},
    {".ifeqs", dir_ifeqs, 1},   {".ifnes", dir_ifeqs, 0},
    {".elseif", dir_elseif, 0}, {".else", dir_else, 0},
    {".endif", dir_endif, 0},   {NULL, NULL, 0},
};
