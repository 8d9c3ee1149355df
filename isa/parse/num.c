/* num.c: numbers and expressions of numbers.
 *
 * Operators and their precedence are GNU as's, arithmetic is 64-bit two's complement.
 * An expression that names a symbol is handed to the caller as a whole. Knows no
 * instructions.
 * Invariant: on success s->p is behind the expression, blanks not skipped.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

#include <stdlib.h>
#include <string.h>

#define NAME_START 1
#define NAME_MORE  2

const uint8_t st_char_class[256] = {
    ['A' ... 'Z'] = NAME_START, ['a' ... 'z'] = NAME_START, ['_'] = NAME_START,
    ['0' ... '9'] = NAME_MORE,  ['$'] = NAME_MORE,          ['.'] = NAME_START,
    ['@'] = NAME_MORE,
};

/* An expression being read; a symbol ends it, for the caller's parser to begin anew. */
struct expr {
    struct stmt *s;
    unsigned depth;
    bool symbol;
};

/* ---- literals ---- */

static int digit_value(int c)
{
    if (st_is_digit(c))
        return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f')
        return (c | 32) - 'a' + 10;
    return 99;
}

/* Digits of a radix; false if there is none or the value needs more than 64 bits. */
static bool read_digits(struct stmt *s, unsigned radix, uint64_t *value)
{
    const char *start = s->p;
    uint64_t v = 0;
    for (;; s->p++) {
        unsigned d = (unsigned)digit_value(st_peek(s));
        if (d >= radix)
            break;
        if (v > (UINT64_MAX - d) / radix)
            return st_fail_at(s, start, ST_E_BIG_NUMBER);
        v = v * radix + d;
    }
    *value = v;
    return s->p > start || st_fail(s, ST_E_NUMBER);
}

static const double powers_of_ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Where a decimal or hexadecimal float that begins at p ends. */
static const char *float_end(const struct stmt *s, const char *p, bool hex)
{
    int exponent = hex ? 'p' : 'e';
    while (p < s->end &&
           (digit_value((unsigned char)*p) < (hex ? 16 : 10) || *p == '.'))
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

static bool read_hex(struct stmt *s, double *real, uint64_t *value, bool *is_float)
{
    const char *start = s->p;
    const char *p = start + 2;
    while (p < s->end && digit_value((unsigned char)*p) < 16)
        p++;
    if (p < s->end && (*p == '.' || (*p | 32) == 'p')) {
        *is_float = true;
        s->p = float_end(s, start + 2, true);
        return convert_float(s, start, s->p, real);
    }
    s->p = start + 2;
    return read_digits(s, 16, value);
}

/* A number token. Suffixes U and L are C's and mean nothing. */
static bool read_number(struct stmt *s, double *real, uint64_t *value, bool *is_float)
{
    const char *start = s->p;
    int second = start + 1 < s->end ? (unsigned char)start[1] | 32 : 0;
    *is_float = false;
    bool ok;
    if (*start == '0' && second == 'x') {
        ok = read_hex(s, real, value, is_float);
    } else if (*start == '0' && second == 'b' && start + 2 < s->end &&
               (start[2] == '0' || start[2] == '1')) {
        s->p += 2;
        ok = read_digits(s, 2, value);
    } else {
        const char *p = start;
        while (p < s->end && st_is_digit((unsigned char)*p))
            p++;
        if (p < s->end && (*p == '.' || (*p | 32) == 'e')) {
            *is_float = true;
            ok = read_float(s, real);
        } else {
            ok = read_digits(s, *start == '0' ? 8 : 10, value);
        }
    }
    while (ok && !*is_float && ((st_peek(s) | 32) == 'u' || (st_peek(s) | 32) == 'l'))
        s->p++;
    if (ok && st_is_name(st_peek(s)))
        return st_fail_at(s, start, ST_E_NUMBER);
    return ok;
}

/* 'a', '\n' */
static bool read_character(struct stmt *s, int64_t *value)
{
    const char *p = s->p + 1;
    if (p < s->end && *p == '\\') {
        static const char from[] = "nrtb\\'\"0";
        static const char to[] = "\n\r\t\b\\'\"";
        const char *at = p + 1 < s->end && p[1] != '\0' ? strchr(from, p[1]) : NULL;
        if (at == NULL)
            return st_fail(s, ST_E_NUMBER);
        *value = (unsigned char)to[at - from];
        p += 2;
    } else if (p < s->end) {
        *value = (unsigned char)*p++;
    }
    if (p >= s->end || *p != '\'')
        return st_fail(s, ST_E_NUMBER);
    s->p = p + 1;
    return true;
}

/* ---- operators ---- */

enum {
    OP_NONE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_SHL,
    OP_SHR,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_ORNOT,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_LAND,
    OP_LOR,
};

static const struct {
    char text[3];
    uint8_t op, precedence;
} operators[] = {
    {"<<", OP_SHL, 6}, {">>", OP_SHR, 6},  {"==", OP_EQ, 3}, {"!=", OP_NE, 3},
    {"<>", OP_NE, 3},  {"<=", OP_LE, 3},   {">=", OP_GE, 3}, {"&&", OP_LAND, 2},
    {"||", OP_LOR, 1}, {"+", OP_ADD, 4},   {"-", OP_SUB, 4}, {"*", OP_MUL, 6},
    {"/", OP_DIV, 6},  {"%", OP_MOD, 6},   {"&", OP_AND, 5}, {"|", OP_OR, 5},
    {"^", OP_XOR, 5},  {"!", OP_ORNOT, 5}, {"<", OP_LT, 3},  {">", OP_GT, 3},
};

/* Index of the operator that comes next, or -1. */
static int next_operator(struct stmt *s)
{
    st_blanks(s);
    size_t left = (size_t)(s->end - s->p);
    if (left == 0 || strchr("<>=!&|+-*/%^", *s->p) == NULL || *s->p == '\0')
        return -1;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        size_t n = strlen(operators[i].text);
        if (n <= left && memcmp(s->p, operators[i].text, n) == 0)
            return (int)i;
    }
    return -1;
}

/* Truth is -1, as GNU as has it. */
static int64_t truth(bool value)
{
    return value ? -1 : 0;
}

static bool apply(struct stmt *s, const char *at, unsigned op, int64_t a, int64_t b,
                  int64_t *out)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b, r = 0;
    switch (op) {
    case OP_ADD:
        r = x + y;
        break;
    case OP_SUB:
        r = x - y;
        break;
    case OP_MUL:
        r = x * y;
        break;
    case OP_DIV:
    case OP_MOD:
        if (b == 0)
            return st_fail_at(s, at, ST_E_DIVIDE);
        if (b == -1)
            r = op == OP_DIV ? 0 - x : 0;
        else
            r = (uint64_t)(op == OP_DIV ? a / b : a % b);
        break;
    case OP_SHL:
        r = y < 64 ? x << y : 0;
        break;
    case OP_SHR: /* logical, as for ELF targets */
        r = y < 64 ? x >> y : 0;
        break;
    case OP_AND:
        r = x & y;
        break;
    case OP_OR:
        r = x | y;
        break;
    case OP_XOR:
        r = x ^ y;
        break;
    case OP_ORNOT:
        r = x | ~y;
        break;
    case OP_EQ:
        *out = truth(a == b);
        return true;
    case OP_NE:
        *out = truth(a != b);
        return true;
    case OP_LT:
        *out = truth(a < b);
        return true;
    case OP_LE:
        *out = truth(a <= b);
        return true;
    case OP_GT:
        *out = truth(a > b);
        return true;
    case OP_GE:
        *out = truth(a >= b);
        return true;
    case OP_LAND:
        *out = a != 0 && b != 0;
        return true;
    default:
        *out = a != 0 || b != 0;
        return true;
    }
    *out = (int64_t)r;
    return true;
}

/* ---- expressions ---- */

static bool binary(struct expr *e, unsigned least, int64_t *value);

static bool parenthesised(struct expr *e, int64_t *value)
{
    struct stmt *s = e->s;
    s->p++;
    if (++e->depth > ST_MAX_DEPTH)
        return st_fail(s, ST_E_DEPTH);
    if (!binary(e, 1, value))
        return false;
    e->depth--;
    return st_take(s, ')') || st_fail(s, ST_E_PAREN);
}

static bool unary(struct expr *e, int64_t *value)
{
    struct stmt *s = e->s;
    st_blanks(s);
    int c = st_peek(s);
    if (c == '-' || c == '+' || c == '~' || c == '!') {
        s->p++;
        if (++e->depth > ST_MAX_DEPTH)
            return st_fail(s, ST_E_DEPTH);
        if (!unary(e, value))
            return false;
        e->depth--;
        if (c == '-')
            *value = (int64_t)(0 - (uint64_t)*value);
        else if (c == '~')
            *value = ~*value;
        else if (c == '!')
            *value = *value == 0;
        return true;
    }
    if (c == '(')
        return parenthesised(e, value);
    if (c == '\'')
        return read_character(s, value);
    if (st_is_digit(c)) {
        const char *start = s->p;
        double real;
        uint64_t v = 0;
        bool is_float;
        if (!read_number(s, &real, &v, &is_float)) {
            e->symbol = s->error == ST_E_NUMBER; /* 1f and 1b are local labels */
            return false;
        }
        *value = (int64_t)v;
        return !is_float || st_fail_at(s, start, ST_E_NUMBER);
    }
    size_t len = st_name(s, s->p);
    int version = st_version_name(s->p, len);
    if (version >= 0) {
        *value = version;
        s->p += len;
        return true;
    }
    if (st_is_name_start(c) || c == '$' || c == '"' || c == '@')
        e->symbol = true;
    return st_fail(s, ST_E_OPERAND);
}

static bool binary(struct expr *e, unsigned least, int64_t *value)
{
    if (!unary(e, value))
        return false;
    for (;;) {
        int i = next_operator(e->s);
        if (i < 0 || operators[i].precedence < least)
            return true;
        const char *at = e->s->p;
        e->s->p += strlen(operators[i].text);
        int64_t right = 0;
        if (!binary(e, operators[i].precedence + 1u, &right) ||
            !apply(e->s, at, operators[i].op, *value, right, value))
            return false;
    }
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
    const char *start = s->p;
    struct expr e = {.s = s};
    *value = (struct isa_value){.known = true};
    bool ok = primary ? unary(&e, &value->value) : binary(&e, 1, &value->value);
    if (ok)
        return true;
    if (!e.symbol)
        return false;
    if (s->options->expr == NULL || primary) {
        bool number = s->error == ST_E_NUMBER;
        s->error = ST_E_NONE;
        return st_fail_at(s, start, number ? ST_E_NUMBER : ST_E_SYMBOL);
    }
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
        while (p < end && digit_value((unsigned char)*p) < 16)
            v = v << 4 | (unsigned)digit_value((unsigned char)*p++);
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
    while (p < s->end && digit_value((unsigned char)*p) < (hex ? 16 : 10))
        p++;
    bool real = p < s->end && (*p == '.' || (*p | 32) == (hex ? 'p' : 'e')) &&
                (p > s->p || (p + 1 < s->end && st_is_digit((unsigned char)p[1])));
    if (!real) {
        s->p = start;
        return false;
    }
    double value = 0;
    if (hex) {
        bool is_float;
        uint64_t bits;
        if (!read_hex(s, &value, &bits, &is_float))
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
