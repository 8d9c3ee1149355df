/* num.c: numbers and expressions of numbers in operands.
 *
 * An expression that names a symbol is handed to the caller as a whole. Floats are in
 * no expression. Knows no instructions. Invariant: on success s->p is behind the
 * expression, blanks not skipped. SPDX-License-Identifier: MIT
 */
#include "stmt.h"

#include <stdlib.h>
#include <string.h>

#include "expr.h"

#define NAME_START 1
#define NAME_MORE  2

const uint8_t st_char_class[256] = {
    ['A' ... 'Z'] = NAME_START, ['a' ... 'z'] = NAME_START, ['_'] = NAME_START,
    ['0' ... '9'] = NAME_MORE,  ['$'] = NAME_MORE,          ['.'] = NAME_START,
    ['@'] = NAME_MORE,
};

/* ---- floats ---- */

static const double powers_of_ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Where a decimal or hexadecimal float that begins at p ends. */
static const char *float_end(const struct stmt *s, const char *p, bool hex)
{
    int exponent = hex ? 'p' : 'e';
    while (p < s->end && (ex_digit(*p) < (hex ? 16u : 10u) || *p == '.'))
        p++;
    if (p < s->end && (*p | 32) == exponent) {
        p++;
        if (p < s->end && (*p == '+' || *p == '-'))
            p++;
        while (p < s->end && st_is_digit((unsigned char)*p))
            p++;
    }
    return p;
}

/* Any float, slowly and exactly rounded. */
static bool convert_float(struct stmt *s, const char *start, const char *end,
                          double *value)
{
    char copy[128], *stop;
    size_t len = (size_t)(end - start);
    if (len >= sizeof copy)
        return st_fail_at(s, start, ST_E_NUMBER);
    memcpy(copy, start, len);
    copy[len] = '\0';
    *value = strtod(copy, &stop);
    if ((*stop | 32) == 'e') /* without digits: LLVM reads over it */
        stop += 1 + (stop[1] == '+' || stop[1] == '-');
    return stop == copy + len || st_fail_at(s, start, ST_E_NUMBER);
}

/* A decimal float: exact in one operation if digits and exponent are small. */
static bool read_float(struct stmt *s, double *value)
{
    const char *start = s->p, *end = float_end(s, start, false);
    uint64_t digits = 0;
    int scale = 0;
    bool fraction = false, small = end - start <= 16;
    const char *p = start;
    for (; small && p < end && (*p | 32) != 'e'; p++) {
        if (*p == '.') {
            small = !fraction;
            fraction = true;
        } else {
            digits = digits * 10 + (unsigned)(*p - '0');
            scale += fraction;
        }
    }
    s->p = end;
    if (!small || p != end)
        return convert_float(s, start, end, value);
    *value = (double)digits / powers_of_ten[scale]; /* < 2^53 by < 10^16: exact */
    return true;
}

/* 0x1.8p3: the exponent must be there. */
static bool read_hex_float(struct stmt *s, double *value)
{
    const char *start = s->p;
    s->p = float_end(s, start + 2, true);
    size_t len = (size_t)(s->p - start);
    if (memchr(start, 'p', len) == NULL && memchr(start, 'P', len) == NULL)
        return st_fail_at(s, start, ST_E_NUMBER);
    return convert_float(s, start, s->p, value);
}

/* ---- expressions ---- */

/* A symbol ends the expression, for the caller's parser to begin anew. */
static bool symbol_name(struct ex *e, struct ex_value *out)
{
    struct stmt *s = e->ctx;
    const char *p = e->p;
    size_t len = st_name(s, p);
    int version = st_version_name(p, len);
    if (version >= 0) {
        *out = (struct ex_value){.k = version};
        e->p = p + len;
        return true;
    }
    return ex_fail(e, p, len > 0 || strchr("$\"@", *p) ? EX_E_USER : EX_E_OPERAND);
}

static bool symbol_label(struct ex *e, uint64_t number, bool forward,
                         struct ex_value *out)
{
    (void)number, (void)forward, (void)out;
    return ex_fail(e, e->p, EX_E_USER);
}

static bool fail_expr(struct stmt *s, const struct ex *e)
{
    if (e->error == EX_E_OPERAND)
        return st_fail_at(s, e->at, ST_E_OPERAND);
    const char *text = ex_error_text(e->error);
    return st_fail_arg(s, e->at, ST_E_EXPR, text, strlen(text));
}

/* Hand the expression that begins at start to the caller's parser. */
static bool from_caller(struct stmt *s, const char *start, struct isa_value *value)
{
    const struct isa_asm_options *options = s->options;
    struct isa_asm_error error = {0};
    size_t used = 0;
    s->error = ST_E_NONE;
    s->p = start;
    rd_status status = options->expr(options->ctx, start, (size_t)(s->end - start),
                                     &used, value, &error);
    if (status == RD_OK && used <= (size_t)(s->end - start)) {
        s->p = start + used;
        return true;
    }
    if (status == RD_E_NOT_FOUND || error.text[0] == '\0')
        return st_fail(s, ST_E_OPERAND);
    st_fail_at(s, start + (error.column != 0 ? error.column - 1 : 0), ST_E_FOREIGN);
    if (s->foreign != NULL)
        memcpy(s->foreign->text, error.text, sizeof error.text);
    return false;
}

static bool evaluate(struct stmt *s, bool primary, struct isa_value *value)
{
    static const struct ex_hooks hooks = {symbol_name, symbol_label, NULL};
    const char *start = s->p;
    struct ex e = {.p = start, .end = s->end, .hooks = &hooks, .ctx = s};
    struct ex_value v;
    if (primary ? ex_primary(&e, &v) : ex_parse(&e, &v)) {
        *value = (struct isa_value){.known = true, .value = v.k};
        s->p = e.p;
        return true;
    }
    if (e.error != EX_E_USER)
        return fail_expr(s, &e);
    if (s->options->expr == NULL || primary)
        return st_fail_at(s, start, ST_E_SYMBOL);
    *value = (struct isa_value){0};
    return from_caller(s, start, value);
}

/* Plain decimal and hexadecimal numbers up to 15 digits, the usual case. */
static bool quick_number(struct stmt *s, int64_t *value)
{
    const char *p = s->p, *end = s->end;
    bool minus = p < end && *p == '-';
    p += minus;
    uint64_t v = 0;
    const char *first = p;
    if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
        first = p += 2;
        while (p < end && ex_digit(*p) < 16)
            v = v << 4 | ex_digit(*p++);
    } else {
        if (p < end && *p == '0' && end - p > 1 && st_is_digit((unsigned char)p[1]))
            return false; /* octal */
        while (p < end && st_is_digit((unsigned char)*p))
            v = v * 10 + (unsigned)(*p++ - '0');
    }
    if (p == first || p - first > 15)
        return false;
    if (p < end && *p != ',' && *p != ']' && *p != ':' && *p != ')') {
        if (*p != ' ' || p + 1 == end || !st_is_name_start((unsigned char)p[1]))
            return false;
    }
    s->p = p;
    *value = minus ? -(int64_t)v : (int64_t)v;
    return true;
}

/* A float, with at most a minus sign before it: floats are in no expression. */
static bool lone_float(struct stmt *s, struct st_opnd *o)
{
    const char *start = s->p;
    bool minus = st_peek(s) == '-';
    s->p += minus;
    if (minus)
        st_blanks(s);
    const char *p = s->p;
    bool hex = s->end - p > 2 && p[0] == '0' && (p[1] | 32) == 'x';
    if (hex)
        p += 2;
    while (p < s->end && ex_digit(*p) < (hex ? 16u : 10u))
        p++;
    bool real = p < s->end && (*p == '.' || (*p | 32) == (hex ? 'p' : 'e')) &&
                (p > s->p || (p + 1 < s->end && st_is_digit((unsigned char)p[1])));
    if (!real) {
        s->p = start;
        return false;
    }
    double value = 0;
    if (hex) {
        if (!read_hex_float(s, &value))
            return true;
    } else if (!read_float(s, &value)) {
        return true;
    }
    if (st_is_name(st_peek(s)))
        st_fail_at(s, start, ST_E_NUMBER);
    if (minus)
        value = -value;
    memcpy(&o->value, &value, sizeof value);
    o->kind = ST_FLOAT;
    return true;
}

bool st_number(struct stmt *s, struct st_opnd *o, bool primary)
{
    if (!primary && quick_number(s, &o->value)) {
        o->kind = ST_INT;
        return true;
    }
    if (lone_float(s, o))
        return s->error == ST_E_NONE;
    struct isa_value value;
    if (!evaluate(s, primary, &value))
        return false;
    o->kind = value.known ? ST_INT : ST_EXPR;
    o->value = value.known ? value.value : (int64_t)value.handle;
    return true;
}

bool st_absolute(struct stmt *s, int64_t *value)
{
    st_blanks(s);
    *value = 0;
    if (quick_number(s, value))
        return true;
    const char *start = s->p;
    struct isa_value v;
    if (!evaluate(s, false, &v))
        return false;
    *value = v.value;
    return v.known || st_fail_at(s, start, ST_E_SYMBOL);
}
