/* expr.c: the expression parser; numbers are computed as they are read.
 *
 * Must not know symbols, instructions or sections. Invariant: recursion is bounded by
 * EX_MAX_DEPTH. SPDX-License-Identifier: MIT
 */
#include "expr.h"

#include <string.h>

#define UNARY 7 /* binds tighter than every binary operator */

static bool parse(struct ex *e, unsigned lowest, struct ex_value *out);

/* Skip blanks and block comments; one that is not closed stays. */
static void blanks(struct ex *e)
{
    for (;;) {
        while (e->p < e->end && *e->p != '\0' && strchr(" \t\v\f\r", *e->p) != NULL)
            e->p++;
        if (e->end - e->p < 4 || e->p[0] != '/' || e->p[1] != '*')
            return;
        unsigned lines = 0;
        const char *p = e->p + 2;
        for (; p + 1 < e->end && (p[0] != '*' || p[1] != '/'); p++)
            lines += *p == '\n';
        if (p + 1 >= e->end)
            return;
        e->p = p + 2;
        e->lines += lines;
    }
}

static bool take(struct ex *e, char c)
{
    blanks(e);
    if (e->p == e->end || *e->p != c)
        return false;
    e->p++;
    return true;
}

static bool join(struct ex *e, enum ex_op op, struct ex_value a, struct ex_value b,
                 const char *at, struct ex_value *out)
{
    if (a.node != 0 || b.node != 0)
        return e->hooks->join(e, op, a, b, at, out);
    out->node = 0;
    return ex_compute(op, a.k, b.k, &out->k) || ex_fail(e, at, ex_compute_error(op));
}

/* max(a, b, ...), or(a, b, ...), alignto(a, b): the cursor is behind the bracket. */
static bool function(struct ex *e, enum ex_op op, const char *at, struct ex_value *out)
{
    if (!parse(e, 1, out))
        return false;
    unsigned n = 1;
    for (; take(e, ','); n++) {
        struct ex_value arg;
        if (!parse(e, 1, &arg) || !join(e, op, *out, arg, at, out))
            return false;
    }
    if (op == EX_ALIGNTO && n != 2)
        return ex_fail(e, at, EX_E_ALIGN_ARGS);
    return take(e, ')') || ex_fail(e, e->p, EX_E_PAREN);
}

/* If a function begins here, skip its name and bracket. */
static enum ex_op function_at(struct ex *e)
{
    static const struct {
        const char *text;
        enum ex_op op;
    } names[] = {{"max", EX_MAX}, {"or", EX_OR}, {"alignto", EX_ALIGNTO}};
    const char *at = e->p;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t len = strlen(names[i].text);
        if ((size_t)(e->end - at) < len || memcmp(at, names[i].text, len) != 0)
            continue;
        e->p += len;
        if (take(e, '('))
            return names[i].op;
        e->p = at;
    }
    return EX_NONE;
}

/* A number, or a numeric label: 1b, 1f. */
static bool number(struct ex *e, struct ex_value *out)
{
    const char *start = e->p;
    uint64_t value;
    if (!ex_number(e, &value, NULL))
        return false;
    *out = (struct ex_value){.k = (int64_t)value};
    if (e->p == e->end || !ex_in_name(*e->p))
        return true;
    bool forward = *e->p == 'f';
    const char *after = e->p + 1;
    if ((!forward && *e->p != 'b') || (after < e->end && ex_in_name(*after)))
        return ex_fail(e, start, EX_E_NUMBER);
    e->p = after;
    return e->hooks->label(e, value, forward, out);
}

/* 'a', '\n'; behind a backslash other characters stand for themselves. */
static bool character(struct ex *e, struct ex_value *out)
{
    static const char from[] = "nrtfb", to[] = "\n\r\t\f\b";
    const char *p = e->p + 1;
    bool escaped = p < e->end && *p == '\\';
    p += escaped;
    if (e->end - p < 2 || p[1] != '\'' || *p == '\n')
        return ex_fail(e, e->p, EX_E_CHARACTER);
    const char *known = escaped && *p != '\0' ? strchr(from, *p) : NULL;
    char c = known != NULL ? to[known - from] : *p;
    e->p = p + 2;
    *out = (struct ex_value){.k = (uint8_t)c};
    return true;
}

static bool unary(struct ex *e, struct ex_value *out)
{
    const char *at = e->p++;
    if (!parse(e, UNARY, out))
        return false;
    if (*at == '+')
        return true;
    enum ex_op op = *at == '-' ? EX_NEG : *at == '~' ? EX_NOT : EX_LNOT;
    return join(e, op, *out, (struct ex_value){0}, at, out);
}

static bool primary(struct ex *e, struct ex_value *out)
{
    blanks(e);
    if (e->p == e->end)
        return ex_fail(e, e->p, EX_E_OPERAND);
    switch (*e->p) {
    case '-':
    case '+':
    case '~':
    case '!':
        return unary(e, out);
    case '(':
        e->p++;
        return parse(e, 1, out) && (take(e, ')') || ex_fail(e, e->p, EX_E_PAREN));
    case '\'':
        return character(e, out);
    default:
        break;
    }
    if (ex_digit(*e->p) < 10)
        return number(e, out);
    const char *at = e->p;
    enum ex_op op = function_at(e);
    return op != EX_NONE ? function(e, op, at, out) : e->hooks->name(e, out);
}

/* Longer ones before those they begin with. */
static const struct binary {
    char text[3];
    uint8_t len, op, precedence;
} operators[] = {
    {"<<", 2, EX_SHL, 6},  {">>", 2, EX_SHR, 6},  {"==", 2, EX_EQ, 3},
    {"!=", 2, EX_NE, 3},   {"<>", 2, EX_NE, 3},   {"<=", 2, EX_LE, 3},
    {">=", 2, EX_GE, 3},   {"&&", 2, EX_LAND, 2}, {"||", 2, EX_LOR, 1},
    {"//", 2, 0, 0},       {"+", 1, EX_ADD, 4},   {"-", 1, EX_SUB, 4},
    {"*", 1, EX_MUL, 6},   {"/", 1, EX_DIV, 6},   {"%", 1, EX_MOD, 6},
    {"&", 1, EX_AND, 5},   {"|", 1, EX_OR, 5},    {"^", 1, EX_XOR, 5},
    {"!", 1, EX_ORNOT, 5}, {"<", 1, EX_LT, 3},    {">", 1, EX_GT, 3},
};

/* The binary operator that comes next, or NULL. "//" begins a comment. */
static const struct binary *operator_at(struct ex *e)
{
    blanks(e);
    size_t left = (size_t)(e->end - e->p);
    if (left == 0 || *e->p == '\0' || strchr("<>=!&|+-*/%^", *e->p) == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (operators[i].len <= left &&
            memcmp(e->p, operators[i].text, operators[i].len) == 0)
            return operators[i].precedence != 0 ? &operators[i] : NULL;
    return NULL;
}

/* Operators of at least this precedence; those of one precedence from the left. */
static bool parse(struct ex *e, unsigned lowest, struct ex_value *out)
{
    if (e->depth >= EX_MAX_DEPTH)
        return ex_fail(e, e->p, EX_E_DEPTH);
    e->depth++;
    bool ok = primary(e, out);
    while (ok && lowest < UNARY) {
        const struct binary *op = operator_at(e);
        if (op == NULL || op->precedence < lowest)
            break;
        const char *at = e->p;
        e->p += op->len;
        struct ex_value right;
        ok = parse(e, op->precedence + 1u, &right) &&
             join(e, (enum ex_op)op->op, *out, right, at, out);
    }
    e->depth--;
    return ok;
}

bool ex_parse(struct ex *e, struct ex_value *out)
{
    return parse(e, 1, out);
}

bool ex_primary(struct ex *e, struct ex_value *out)
{
    return parse(e, UNARY, out);
}
