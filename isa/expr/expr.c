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

/* ---- functions, those that clang's assembly asks of the target among them ---- */

#define MAX_ARGS  7
#define CODE_LINE 128     /* bytes of a line of the instruction cache */
#define PREF_MOST 63      /* what six bits of a kernel's descriptor hold */
#define BEYOND    0x10000 /* more waves than any limit */

static struct ex_value constant(int64_t k)
{
    return (struct ex_value){.k = k};
}

static bool least(struct ex *e, struct ex_value a, struct ex_value b, const char *at,
                  struct ex_value *out)
{
    const struct ex_value none = {0};
    struct ex_value below;
    return join(e, EX_NEG, a, none, at, &a) && join(e, EX_NEG, b, none, at, &b) &&
           join(e, EX_MAX, a, b, at, &below) && join(e, EX_NEG, below, none, at, out);
}

/* extrasgprs(uses VCC, uses flat scratch, has XNACK): VCC's two; the others lie outside
 * of what is allocated. */
static bool extra_sgprs(struct ex *e, const struct ex_value *arg, const char *at,
                        struct ex_value *out)
{
    return join(e, EX_NE, arg[0], constant(0), at, out) &&
           join(e, EX_MUL, *out, constant(-2), at, out);
}

/* totalnumvgprs(AGPRs, VGPRs): there are no AGPRs. */
static bool total_vgprs(struct ex *e, const struct ex_value *arg, const char *at,
                        struct ex_value *out)
{
    return join(e, EX_MAX, arg[0], arg[1], at, out);
}

/* instprefsize(bytes of code): lines to fetch ahead. */
static bool inst_pref_size(struct ex *e, const struct ex_value *arg, const char *at,
                           struct ex_value *out)
{
    if (arg[0].node == 0 && arg[0].k < 0)
        return ex_fail(e, at, EX_E_CODE_SIZE);
    return join(e, EX_ALIGNTO, arg[0], constant(CODE_LINE), at, out) &&
           join(e, EX_DIV, *out, constant(CODE_LINE), at, out) &&
           least(e, *out, constant(PREF_MOST), at, out);
}

/* Raise a limit beyond all others if a comparison holds. */
static bool lift(struct ex *e, enum ex_op op, struct ex_value x, struct ex_value y,
                 const char *at, struct ex_value *limit)
{
    struct ex_value holds;
    return join(e, op, x, y, at, &holds) &&
           join(e, EX_MUL, holds, constant(-BEYOND), at, &holds) &&
           join(e, EX_ADD, *limit, holds, at, limit);
}

#define GEN_VOLCANIC 7 /* LLVM's numbers of generations */
#define GEN_GFX10    9

/* Waves that SGPRs leave room for, before generation 10: of ten one less for each step
 * that is passed. Source: LLVM's getOccupancyWithNumSGPRs. */
static bool sgpr_waves(struct ex *e, struct ex_value gen, struct ex_value sgprs,
                       const char *at, struct ex_value *out)
{
    static const struct {
        uint8_t most;
        bool volcanic;
    } steps[] = {{48, false}, {56, false}, {64, false}, {72, false},
                 {80, false}, {80, true},  {88, true},  {100, true}};
    struct ex_value passed, ours;
    *out = constant(10);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!join(e, EX_GT, sgprs, constant(steps[i].most), at, &passed) ||
            !join(e, steps[i].volcanic ? EX_GE : EX_LT, gen, constant(GEN_VOLCANIC), at,
                  &ours) ||
            !join(e, EX_AND, passed, ours, at, &passed) ||
            !join(e, EX_ADD, *out, passed, at, out))
            return false;
    return lift(e, EX_GE, gen, constant(GEN_GFX10), at, out) &&
           lift(e, EX_EQ, sgprs, constant(0), at, out);
}

/* occupancy(most waves, granule and number of VGPRs, generation, waves by other limits,
 * SGPRs, VGPRs): registers that are not used do not limit; SGPRs do by the generation's
 * steps, from gfx10 on as the most waves do; VGPRs by how often they fit. */
static bool occupancy(struct ex *e, const struct ex_value *arg, const char *at,
                      struct ex_value *out)
{
    struct ex_value fit, granule, used, most = arg[0], sgpr = arg[0], steps;
    struct ex_value gen = arg[3], sgprs = arg[5], vgprs = arg[6];
    return lift(e, EX_EQ, vgprs, constant(0), at, &most) &&
           lift(e, EX_EQ, sgprs, constant(0), at, &sgpr) &&
           lift(e, EX_LT, gen, constant(GEN_GFX10), at, &sgpr) &&
           sgpr_waves(e, gen, sgprs, at, &steps) &&
           join(e, EX_MAX, arg[1], constant(1), at, &granule) &&
           join(e, EX_MAX, vgprs, constant(1), at, &used) &&
           join(e, EX_ALIGNTO, used, granule, at, &used) &&
           join(e, EX_DIV, arg[2], used, at, &fit) &&
           join(e, EX_MAX, fit, constant(1), at, &fit) &&
           lift(e, EX_LT, vgprs, granule, at, &fit) && least(e, fit, most, at, &fit) &&
           least(e, fit, sgpr, at, &fit) && least(e, fit, steps, at, &fit) &&
           least(e, fit, arg[4], at, out);
}

struct function {
    const char *text;
    unsigned args;   /* 0: one or more, folded */
    enum ex_op fold; /* of the arguments; EX_NONE: */
    bool (*make)(struct ex *e, const struct ex_value *arg, const char *at,
                 struct ex_value *out);
};

static const struct function functions[] = {
    {"max", 0, EX_MAX, NULL},
    {"or", 0, EX_OR, NULL},
    {"alignto", 2, EX_ALIGNTO, NULL},
    {"extrasgprs", 3, EX_NONE, extra_sgprs},
    {"totalnumvgprs", 2, EX_NONE, total_vgprs},
    {"instprefsize", 1, EX_NONE, inst_pref_size},
    {"occupancy", 7, EX_NONE, occupancy},
};

/* The arguments and what becomes of them; the cursor is behind the bracket. */
static bool function(struct ex *e, const struct function *f, const char *at,
                     struct ex_value *out)
{
    struct ex_value arg[MAX_ARGS] = {{0}};
    unsigned n = 0;
    do {
        struct ex_value *to = &arg[n < MAX_ARGS ? n : MAX_ARGS - 1];
        if (!parse(e, 1, to))
            return false;
        bool first = n++ == 0;
        if (f->fold == EX_NONE)
            continue;
        struct ex_value value = *to;
        if (first)
            *out = value;
        else if (!join(e, f->fold, *out, value, at, out))
            return false;
    } while (take(e, ','));
    if (f->args && n != f->args)
        return ex_fail(e, at, f->fold == EX_ALIGNTO ? EX_E_ALIGN_ARGS : EX_E_ARGUMENTS);
    if (!take(e, ')'))
        return ex_fail(e, e->p, EX_E_PAREN);
    return f->fold != EX_NONE || f->make(e, arg, at, out);
}

/* If a function begins here, skip its name and bracket. */
static const struct function *function_at(struct ex *e)
{
    const char *at = e->p;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        size_t len = strlen(functions[i].text);
        if ((size_t)(e->end - at) < len || memcmp(at, functions[i].text, len) != 0)
            continue;
        e->p += len;
        if (take(e, '('))
            return &functions[i];
        e->p = at;
    }
    return NULL;
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
    const struct function *f = function_at(e);
    return f ? function(e, f, at, out) : e->hooks->name(e, out);
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
        struct ex_value right = {0};
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
