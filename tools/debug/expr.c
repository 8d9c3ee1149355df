/* expr.c: the parser and evaluator of expressions.
 *
 * Evaluates while it parses; nothing is kept. Invariant: nesting is limited and no
 * text, however it looks, reads outside of itself. SPDX-License-Identifier: MIT
 */
#include "dbg_expr.h"
#include "expr_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elem.h"
#include "isa.h"

#define MAX_DEPTH 64u

static const struct vtype types[] = {
    {.kind = VT_UINT, .bytes = 1, .name = "u8", .resolved = true},
    {.kind = VT_UINT, .bytes = 2, .name = "u16", .resolved = true},
    {.kind = VT_UINT, .bytes = 4, .name = "u32", .resolved = true},
    {.kind = VT_UINT, .bytes = 8, .name = "u64", .resolved = true},
    {.kind = VT_INT, .bytes = 1, .name = "i8", .resolved = true},
    {.kind = VT_INT, .bytes = 2, .name = "i16", .resolved = true},
    {.kind = VT_INT, .bytes = 4, .name = "i32", .resolved = true},
    {.kind = VT_INT, .bytes = 8, .name = "i64", .resolved = true},
    {.kind = VT_FLOAT, .bytes = 2, .name = "f16", .resolved = true},
    {.kind = VT_FLOAT, .bytes = 4, .name = "f32", .resolved = true},
    {.kind = VT_FLOAT, .bytes = 8, .name = "f64", .resolved = true},
    {.kind = VT_F16X2, .bytes = 4, .name = "f16x2", .resolved = true},
    {.kind = VT_HEX, .bytes = 4, .name = "hex", .resolved = true},
    {.kind = VT_HEX, .bytes = 8, .name = "hex64", .resolved = true},
    {.kind = VT_CHAR, .bytes = 1, .name = "char", .resolved = true},
    {.kind = VT_INT, .bytes = 2, .name = "short", .resolved = true},
    {.kind = VT_INT, .bytes = 4, .name = "int", .resolved = true},
    {.kind = VT_INT, .bytes = 8, .name = "long", .resolved = true},
    {.kind = VT_UINT, .bytes = 4, .name = "uint", .resolved = true},
    {.kind = VT_UINT, .bytes = 4, .name = "unsigned", .resolved = true},
    {.kind = VT_UINT, .bytes = 8, .name = "ulong", .resolved = true},
    {.kind = VT_FLOAT, .bytes = 2, .name = "half", .resolved = true},
    {.kind = VT_FLOAT, .bytes = 4, .name = "float", .resolved = true},
    {.kind = VT_FLOAT, .bytes = 8, .name = "double", .resolved = true},
};
#define U32 (&types[2])
#define U64 (&types[3])
#define I64 (&types[7])
#define F64 (&types[10])
#define HEX (&types[12])

const struct vtype *expr_type(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == len && memcmp(types[i].name, name, len) == 0)
            return &types[i];
    return NULL;
}

bool context_of(struct context *c, const struct target *t, struct program *p,
                uint64_t group, unsigned wave, unsigned lane)
{
    *c = (struct context){.target = t, .program = p, .lane = lane};
    c->index = tg_find(t, group, wave);
    return c->index != TG_NO_WAVE && t->ops->wave(t->ctx, c->index, &c->wave);
}

bool parse_fail(struct parser *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(p->err->text, sizeof p->err->text, fmt, ap);
    va_end(ap);
    p->err->column = (unsigned)(p->at - p->start);
    return false;
}

static void blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool take(struct parser *p, const char *token)
{
    blanks(p);
    size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0)
        return false;
    p->at += n;
    return true;
}

/* ---- values ---- */

struct value value_number(const struct vtype *type, uint64_t bits)
{
    struct value v = {.type = type, .bytes = type->bytes};
    memcpy(v.data, &bits, 8);
    return v;
}

static struct value real(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, 8);
    return value_number(F64, bits);
}

static uint64_t raw(const struct value *v)
{
    uint64_t bits = 0;
    memcpy(&bits, v->data, v->type->bytes < 8 ? v->type->bytes : 8);
    return bits;
}

static bool is_float(const struct value *v)
{
    return v->type->kind == VT_FLOAT;
}

static bool is_signed(const struct value *v)
{
    return v->type->kind == VT_INT || v->type->kind == VT_CHAR ||
           v->type->kind == VT_ENUM;
}

static bool is_scalar(const struct value *v)
{
    return v->type->bytes && v->type->bytes <= 8 && v->type->kind != VT_ARRAY &&
           v->type->kind != VT_STRUCT && v->type->kind != VT_VOID &&
           v->type->kind != VT_FUNCTION;
}

static double as_double(const struct value *v)
{
    uint64_t bits = raw(v);
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    if (is_float(v) && v->type->bytes == 2)
        return elem_from_f16((uint16_t)bits);
    if (is_float(v) && v->type->bytes == 4) {
        memcpy(&f, &low, 4);
        return (double)f;
    }
    if (is_float(v)) {
        memcpy(&d, &bits, 8);
        return d;
    }
    if (is_signed(v)) {
        unsigned n = 64 - (unsigned)v->type->bytes * 8;
        return (double)((int64_t)(bits << n) >> n);
    }
    return (double)bits;
}

/* As 64 bits, sign-extended where the type has a sign. */
static uint64_t as_bits(const struct value *v)
{
    if (is_float(v)) {
        double d = as_double(v);
        return d >= 0 && d < 1.8e19   ? (uint64_t)d
               : d < 0 && d > -9.2e18 ? (uint64_t)(int64_t)d
                                      : 0;
    }
    unsigned n = 64 - (unsigned)v->type->bytes * 8;
    return is_signed(v) ? (uint64_t)((int64_t)(raw(v) << n) >> n) : raw(v);
}

static bool load(struct parser *p, struct value *v)
{
    v->bytes = v->type->bytes < VALUE_BYTES ? v->type->bytes : VALUE_BYTES;
    if (tg_read(p->c->target, p->c->index, v->space, p->c->lane, v->address,
                (unsigned)v->bytes, v->data))
        return true;
    static const char *const spaces[] = {"global memory", "LDS", "scratch", "GDS"};
    return parse_fail(p, "cannot read %llu bytes of %s at 0x%llx",
                      (unsigned long long)v->bytes, spaces[v->space & 3],
                      (unsigned long long)v->address);
}

static bool at_memory(struct parser *p, const struct vtype *type, unsigned space,
                      uint64_t address, struct value *out)
{
    if (space == SPACE_FLAT) {
        space = EMU_SPACE_GLOBAL;
        if (address >> 32 == EMU_SHARED_BASE >> 32)
            space = EMU_SPACE_LDS;
        else if (address >> 32 == EMU_PRIVATE_BASE >> 32)
            space = EMU_SPACE_SCRATCH;
        if (space != EMU_SPACE_GLOBAL)
            address = (uint32_t)address;
    }
    *out = (struct value){
        .type = type, .place = VALUE_MEMORY, .space = space, .address = address};
    if (type->kind == VT_VOID || type->kind == VT_FUNCTION)
        return parse_fail(p, "void cannot be read: cast the pointer, as in *(u32*)...");
    return load(p, out);
}

/* ---- grammar ---- */

static bool ternary(struct parser *p, struct value *out);
static bool unary(struct parser *p, struct value *out);

/* lds[ADDRESS], lds.TYPE[ADDRESS] behind its name. */
static bool memory(struct parser *p, unsigned space, struct value *out)
{
    const struct vtype *type = HEX;
    struct value address;
    if (*p->at == '.') {
        size_t n = 0;
        p->at++;
        while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_')
            n++;
        type = expr_type(p->at, n);
        if (!type)
            return parse_fail(p, "there is no type '%.*s'", (int)(n < 40 ? n : 40),
                              p->at);
        p->at += n;
    }
    if (!take(p, "["))
        return parse_fail(p, "memory is written as lds[ADDRESS] or lds.f32[ADDRESS]");
    if (!ternary(p, &address))
        return false;
    if (!is_scalar(&address))
        return parse_fail(p, "an address is a number");
    if (!take(p, "]"))
        return parse_fail(p, "']' expected");
    return at_memory(p, type, space, as_bits(&address), out);
}

static bool name_value(struct parser *p, struct value *out)
{
    bool only_register = *p->at == '$', no = false;
    const char *before = p->at;
    p->at += only_register;
    const char *name = p->at;
    size_t len = 0;
    while (isalnum((unsigned char)name[len]) || name[len] == '_')
        len++;
    p->at += len;
    if (!only_register) {
        if (!name_variable(p, name, len, &no, out))
            return false;
        if (!no)
            return true;
        static const char *const spaces[] = {"global", "lds", "scratch", "gds"};
        for (unsigned i = 0; i < 3; i++)
            if (same_name(name, len, spaces[i]))
                return memory(p, i, out);
    }
    no = false;
    if (!name_file_register(p, name, len, &no, out))
        return false;
    if (!no)
        return true;
    no = false;
    if (!name_argument(p, name, len, &no, out))
        return false;
    if (!no)
        return true;
    no = false;
    if (!name_special_register(p, name, len, &no, out))
        return false;
    if (!no)
        return true;
    p->at = before;
    return parse_fail(p, "there is no %s '%.*s' here",
                      only_register ? "register" : "variable or register",
                      (int)(len < 60 ? len : 60), name);
}

static bool literal(struct parser *p, struct value *out)
{
    char *end;
    uint64_t u = strtoull(p->at, &end, 0);
    if (*end == '.' || ((*end == 'e' || *end == 'E') && p->at[1] != 'x')) {
        *out = real(strtod(p->at, &end));
        if (*end == 'f')
            end++;
    } else {
        while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
            end++;
        *out = value_number(u > INT64_MAX ? U64 : I64, u);
    }
    if (isalnum((unsigned char)*end) || *end == '_')
        return parse_fail(p, "'%.20s' is not a number", p->at);
    p->at = end;
    return true;
}

static bool primary(struct parser *p, struct value *out)
{
    blanks(p);
    if (take(p, "(")) {
        if (!ternary(p, out))
            return false;
        return take(p, ")") || parse_fail(p, "')' expected");
    }
    if (isdigit((unsigned char)*p->at))
        return literal(p, out);
    if (isalpha((unsigned char)*p->at) || *p->at == '_' || *p->at == '$')
        return name_value(p, out);
    return *p->at ? parse_fail(p, "'%.20s' begins no value", p->at)
                  : parse_fail(p, "a value is missing");
}

static bool follow(struct parser *p, const struct value *pointer, int64_t index,
                   struct value *out)
{
    if (pointer->type->kind != VT_POINTER)
        return parse_fail(p, "this is no pointer: cast it, as in *(u32*)s[4:5]");
    const struct vtype *to = vtype_target(p->c->program->source, pointer->type);
    return at_memory(p, to, pointer->type->space,
                     raw(pointer) + (uint64_t)index * to->bytes, out);
}

static bool element(struct parser *p, struct value *v)
{
    struct value index, out;
    char name[32];
    if (!ternary(p, &index))
        return false;
    if (!take(p, "]"))
        return parse_fail(p, "']' expected");
    if (!is_scalar(&index))
        return parse_fail(p, "an index is a number");
    int64_t i = (int64_t)as_bits(&index);
    if (v->type->kind == VT_POINTER) {
        if (!follow(p, v, i, &out))
            return false;
    } else if (v->type->kind != VT_ARRAY) {
        return parse_fail(p, "only arrays and pointers have elements");
    } else if (i < 0 || (uint64_t)i >= v->type->count) {
        return parse_fail(p, "index %lld: the array has %llu elements", (long long)i,
                          (unsigned long long)v->type->count);
    } else if (!value_child(p->c, v, (unsigned)i, &out, name, sizeof name)) {
        return parse_fail(p, "element %lld cannot be read", (long long)i);
    }
    *v = out;
    return true;
}

static bool member(struct parser *p, struct value *v)
{
    struct value out;
    size_t len = 0;
    blanks(p);
    while (isalnum((unsigned char)p->at[len]) || p->at[len] == '_')
        len++;
    const struct vtype *type = expr_type(p->at, len);
    if (v->type->kind != VT_STRUCT && type) { /* v3.f32 */
        if (!is_scalar(v) || type->bytes > v->bytes)
            return parse_fail(p, "%s has %llu bytes, this %llu", type->name,
                              (unsigned long long)type->bytes,
                              (unsigned long long)v->bytes);
        v->type = type;
        v->bytes = type->bytes;
        p->at += len;
        return true;
    }
    unsigned n = 0;
    const struct vmember *m = v->type->kind == VT_STRUCT
                                  ? vtype_members(p->c->program->source, v->type, &n)
                                  : NULL;
    for (unsigned i = 0; i < n; i++) {
        char name[64];
        if (!same_name(p->at, len, m[i].name))
            continue;
        if (!value_child(p->c, v, i, &out, name, sizeof name))
            return parse_fail(p, "%.40s cannot be read", m[i].name);
        p->at += len;
        *v = out;
        return true;
    }
    return parse_fail(p, "%.60s has no member '%.*s'", v->type->name,
                      (int)(len < 40 ? len : 40), p->at);
}

static bool postfix(struct parser *p, struct value *out)
{
    if (!primary(p, out))
        return false;
    for (;;) {
        struct value pointer;
        if (take(p, "[")) {
            if (!element(p, out))
                return false;
        } else if (take(p, "->")) {
            pointer = *out;
            if (!follow(p, &pointer, 0, out) || !member(p, out))
                return false;
        } else if (*p->at == '.' && take(p, ".")) {
            if (!member(p, out))
                return false;
        } else {
            return true;
        }
    }
}

struct value value_as(const struct value *v, const struct vtype *type)
{
    struct value out;
    if (v->type->kind == VT_HEX || type->kind == VT_F16X2 || type->kind == VT_HEX) {
        out = *v; /* the bits */
        out.type = type;
        if (type->bytes > v->bytes)
            memset(out.data + v->bytes, 0, type->bytes - v->bytes);
        out.bytes = type->bytes;
        if (type->bytes > v->type->bytes)
            out.place = VALUE_TEMPORARY;
        return out;
    }
    if (type->kind == VT_FLOAT) {
        double d = as_double(v);
        float f = (float)d;
        uint64_t bits = 0;
        if (type->bytes == 2)
            bits = elem_to_f16(d);
        else if (type->bytes == 4)
            memcpy(&bits, &f, 4);
        else
            memcpy(&bits, &d, 8);
        return value_number(type, bits);
    }
    return value_number(type, as_bits(v));
}

/* (TYPE) or (TYPE *) at a parenthesis; *no: it is none. */
static bool cast(struct parser *p, bool *no, struct value *out)
{
    const char *before = p->at;
    size_t len = 0;
    p->at++;
    blanks(p);
    while (isalnum((unsigned char)p->at[len]) || p->at[len] == '_')
        len++;
    const struct vtype *type = expr_type(p->at, len);
    *no = type == NULL;
    if (type) {
        p->at += len;
        while (type && take(p, "*"))
            type = vtype_pointer(p->c->program->source, type);
        if (!type)
            return parse_fail(p, "pointers need DWARF: write global.u32[ADDRESS]");
        *no = !take(p, ")");
    }
    if (*no) {
        p->at = before;
        return true;
    }
    struct value v;
    if (!unary(p, &v))
        return false;
    if (!is_scalar(&v))
        return parse_fail(p, "only numbers are cast");
    *out = value_as(&v, type);
    return true;
}

static bool address_of(struct parser *p, struct value *v)
{
    if (v->place != VALUE_MEMORY)
        return parse_fail(p, "this lies in %s: it has no address",
                          v->place == VALUE_REGISTER ? "a register" : "no memory");
    *v = value_number(&types[13], v->address);
    return true;
}

static bool unary(struct parser *p, struct value *out)
{
    bool no = false, ok = true;
    struct value v;
    if (++p->depth > MAX_DEPTH)
        return parse_fail(p, "the expression is nested too deeply");
    blanks(p);
    char c = *p->at;
    if (c == '(') {
        ok = cast(p, &no, out) && (!no || postfix(p, out));
    } else if (c && strchr("-~!*&", c) && !(c == '&' && p->at[1] == '&')) {
        p->at++;
        ok = unary(p, &v);
        if (ok && c == '&') {
            ok = address_of(p, &v);
            *out = v;
        } else if (ok && c == '*') {
            ok = follow(p, &v, 0, out);
        } else if (ok && !is_scalar(&v)) {
            ok = parse_fail(p, "'%c' takes a number", c);
        } else if (ok) {
            *out = c == '!'       ? value_number(I64, is_float(&v) ? as_double(&v) == 0
                                                                   : as_bits(&v) == 0)
                   : c == '~'     ? value_number(I64, ~as_bits(&v))
                   : is_float(&v) ? real(-as_double(&v))
                                  : value_number(I64, 0 - as_bits(&v));
        }
    } else {
        ok = postfix(p, out);
    }
    p->depth--;
    return ok;
}

enum op {
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_ADD,
    OP_SUB,
    OP_SHL,
    OP_SHR,
    OP_LE,
    OP_GE,
    OP_LT,
    OP_GT,
    OP_EQ,
    OP_NE,
    OP_AND,
    OP_XOR,
    OP_OR,
    OP_LAND,
    OP_LOR
};

static const struct {
    const char *text;
    enum op op;
    unsigned level; /* binds tighter if higher */
    char not_before;
} ops[] = {
    {"*", OP_MUL, 10, 0},  {"/", OP_DIV, 10, 0},  {"%", OP_MOD, 10, 0},
    {"+", OP_ADD, 9, 0},   {"-", OP_SUB, 9, 0},   {"<<", OP_SHL, 8, 0},
    {">>", OP_SHR, 8, 0},  {"<=", OP_LE, 7, 0},   {">=", OP_GE, 7, 0},
    {"<", OP_LT, 7, 0},    {">", OP_GT, 7, 0},    {"==", OP_EQ, 6, 0},
    {"!=", OP_NE, 6, 0},   {"&&", OP_LAND, 2, 0}, {"||", OP_LOR, 1, 0},
    {"&", OP_AND, 5, '&'}, {"^", OP_XOR, 4, 0},   {"|", OP_OR, 3, '|'},
};

static bool float_op(struct parser *p, enum op op, double a, double b,
                     struct value *out)
{
    switch (op) {
    case OP_MUL:
        *out = real(a * b);
        return true;
    case OP_DIV:
        *out = real(a / b);
        return true;
    case OP_ADD:
        *out = real(a + b);
        return true;
    case OP_SUB:
        *out = real(a - b);
        return true;
    case OP_LE:
        *out = value_number(I64, a <= b);
        return true;
    case OP_GE:
        *out = value_number(I64, a >= b);
        return true;
    case OP_LT:
        *out = value_number(I64, a < b);
        return true;
    case OP_GT:
        *out = value_number(I64, a > b);
        return true;
    case OP_EQ:
        *out = value_number(I64, a == b);
        return true;
    case OP_NE:
        *out = value_number(I64, a != b);
        return true;
    case OP_LAND:
        *out = value_number(I64, a != 0 && b != 0);
        return true;
    case OP_LOR:
        *out = value_number(I64, a != 0 || b != 0);
        return true;
    default:
        return parse_fail(p, "this operator takes integers");
    }
}

static uint64_t divide(enum op op, uint64_t x, uint64_t y, bool with_sign)
{
    if (with_sign && y == ~0ull)
        return op == OP_DIV ? 0 - x : 0;
    if (with_sign)
        return (uint64_t)(op == OP_DIV ? (int64_t)x / (int64_t)y
                                       : (int64_t)x % (int64_t)y);
    return op == OP_DIV ? x / y : x % y;
}

static uint64_t compare(enum op op, uint64_t x, uint64_t y, bool with_sign)
{
    bool less = with_sign ? (int64_t)x < (int64_t)y : x < y;
    switch (op) {
    case OP_LT:
        return less;
    case OP_GE:
        return !less;
    case OP_GT:
        return !less && x != y;
    case OP_LE:
        return less || x == y;
    case OP_EQ:
        return x == y;
    default:
        return x != y;
    }
}

static uint64_t integer_op(enum op op, uint64_t x, uint64_t y, bool with_sign)
{
    switch (op) {
    case OP_MUL:
        return x * y;
    case OP_ADD:
        return x + y;
    case OP_SUB:
        return x - y;
    case OP_SHL:
        return y < 64 ? x << y : 0;
    case OP_SHR:
        if (with_sign)
            return (uint64_t)((int64_t)x >> (y < 63 ? y : 63));
        return y < 64 ? x >> y : 0;
    case OP_AND:
        return x & y;
    case OP_XOR:
        return x ^ y;
    case OP_OR:
        return x | y;
    case OP_LAND:
        return x && y;
    case OP_LOR:
        return x || y;
    default:
        return compare(op, x, y, with_sign);
    }
}

static bool apply(struct parser *p, enum op op, const struct value *a,
                  const struct value *b, struct value *out)
{
    if (!is_scalar(a) || !is_scalar(b))
        return parse_fail(p, "operators take numbers, not structures and arrays");
    if (a->type->kind == VT_POINTER && (op == OP_ADD || op == OP_SUB) &&
        b->type->kind != VT_POINTER) {
        uint64_t size = vtype_target(p->c->program->source, a->type)->bytes;
        uint64_t by = as_bits(b) * (size ? size : 1);
        *out = value_number(a->type, op == OP_ADD ? raw(a) + by : raw(a) - by);
        return true;
    }
    if (is_float(a) || is_float(b))
        return float_op(p, op, as_double(a), as_double(b), out);
    bool with_sign = is_signed(a) && is_signed(b);
    uint64_t x = as_bits(a), y = as_bits(b);
    if ((op == OP_DIV || op == OP_MOD) && !y)
        return parse_fail(p, "division by zero");
    bool hex = a->type->kind == VT_HEX && b->type->kind != VT_FLOAT && op > OP_MOD &&
               (op == OP_AND || op == OP_OR || op == OP_XOR);
    *out = value_number(hex         ? &types[13]
                        : with_sign ? I64
                                    : U64,
                        op == OP_DIV || op == OP_MOD ? divide(op, x, y, with_sign)
                                                     : integer_op(op, x, y, with_sign));
    return true;
}

static int next_op(struct parser *p, unsigned level)
{
    blanks(p);
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
        size_t n = strlen(ops[i].text);
        if (strncmp(p->at, ops[i].text, n) != 0 ||
            (ops[i].not_before && p->at[n] == ops[i].not_before))
            continue;
        if ((ops[i].op == OP_LT || ops[i].op == OP_GT) && p->at[1] == p->at[0])
            continue;
        return ops[i].level >= level ? (int)i : -1;
    }
    return -1;
}

static bool binary(struct parser *p, unsigned level, struct value *out)
{
    int i;
    if (++p->depth > MAX_DEPTH)
        return parse_fail(p, "the expression is nested too deeply");
    if (!unary(p, out))
        return false;
    while ((i = next_op(p, level)) >= 0) {
        struct value left = *out, right;
        p->at += strlen(ops[i].text);
        if (!binary(p, ops[i].level + 1, &right) ||
            !apply(p, ops[i].op, &left, &right, out))
            return false;
    }
    p->depth--;
    return true;
}

static bool truth(struct parser *p, const struct value *v, bool *out)
{
    if (!is_scalar(v))
        return parse_fail(p, "a condition is a number");
    *out = is_float(v) ? as_double(v) != 0 : raw(v) != 0;
    return true;
}

static bool ternary(struct parser *p, struct value *out)
{
    struct value a, b;
    bool which;
    if (++p->depth > MAX_DEPTH)
        return parse_fail(p, "the expression is nested too deeply");
    if (!binary(p, 1, out))
        return false;
    if (take(p, "?")) {
        if (!truth(p, out, &which) || !ternary(p, &a))
            return false;
        if (!take(p, ":"))
            return parse_fail(p, "':' expected");
        if (!ternary(p, &b))
            return false;
        *out = which ? a : b;
    }
    p->depth--;
    return true;
}

bool expr_value(const struct context *c, const char *text, struct value *out,
                const char **rest, struct expr_error *err)
{
    struct parser p = {.c = c, .start = text, .at = text, .err = err};
    if (!ternary(&p, out))
        return false;
    blanks(&p);
    if (rest)
        *rest = p.at;
    else if (*p.at)
        return parse_fail(&p, "'%.30s' was not expected behind an expression", p.at);
    return true;
}

bool expr_true(const struct context *c, const char *text, bool *out,
               struct expr_error *err)
{
    struct value v;
    struct parser p = {.c = c, .start = text, .at = text, .err = err};
    return expr_value(c, text, &v, NULL, err) && truth(&p, &v, out);
}

bool expr_u64(const struct context *c, const char *text, uint64_t *out,
              struct expr_error *err)
{
    struct value v;
    struct parser p = {.c = c, .start = text, .at = text, .err = err};
    if (!expr_value(c, text, &v, NULL, err))
        return false;
    if (!is_scalar(&v))
        return parse_fail(&p, "a number is expected");
    *out = as_bits(&v);
    return true;
}

bool expr_by_lane(const char *text)
{
    /* Names of group and wave alone are the same in all lanes; of others it is not
       known without evaluating them. */
    for (const char *at = text; *at;) {
        size_t n = 0;
        while (isalnum((unsigned char)at[n]) || at[n] == '_')
            n++;
        if (n && !isdigit((unsigned char)*at) && !same_name(at, n, "wave") &&
            !same_name(at, n, "group") &&
            !(*at == 's' && n > 1 && isdigit((unsigned char)at[1])))
            return true;
        at += n ? n : 1;
    }
    return false;
}
