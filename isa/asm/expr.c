/* expr.c: parse expressions into small trees; numbers are folded at once.
 *
 * Must not know instructions or relocation types. Invariant: a subtree without symbols
 * never becomes a node, and no tree is deeper than AS_MAX_NODES, so that recursion over
 * trees and over the text is bounded.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <stdio.h>

static bool parse_binary(struct as *as, unsigned lowest, struct as_ref *out);

static bool fail(struct as *as, const char *at, const char *text)
{
    as->error.at = at;
    snprintf(as->error.text, sizeof as->error.text, "%s", text);
    return false;
}

static unsigned depth_of(const struct as *as, struct as_ref r)
{
    return r.node ? as->nodes[r.node].depth : 0;
}

static uint32_t add_node(struct as *as, struct as_node node)
{
    if (as->n_nodes == 0)
        as->n_nodes = 1;
    if (!as_grow((void **)&as->nodes, &as->cap_nodes, as->n_nodes, sizeof node)) {
        as_out_of_memory(as);
        return 0;
    }
    as->nodes[as->n_nodes] = node;
    return as->n_nodes++;
}

static uint32_t node_of(struct as *as, struct as_ref r)
{
    return r.node ? r.node : add_node(as, (struct as_node){.op = AS_CONST, .k = r.k});
}

static bool symbol_ref(struct as *as, uint32_t symbol, unsigned variant, int64_t k,
                       struct as_ref *out)
{
    if (symbol == 0)
        return fail(as, as->p, "out of memory");
    uint32_t node = add_node(as, (struct as_node){.op = AS_SYM,
                                                  .variant = (uint8_t)variant,
                                                  .depth = 1,
                                                  .a = symbol,
                                                  .k = k});
    *out = (struct as_ref){.node = node};
    return node != 0 || fail(as, as->p, "out of memory");
}

static int64_t wrap(uint64_t v)
{
    return (int64_t)v;
}

static int64_t shift(enum as_op op, uint64_t a, uint64_t b)
{
    if (b >= 64)
        return 0;
    return wrap(op == AS_SHL ? a << b : a >> b);
}

/* a op b; false: division by zero and the like. Comparisons give -1 for true, as in
 * other assemblers, the logical operators 1. */
static bool compute(enum as_op op, int64_t a, int64_t b, int64_t *out)
{
    uint64_t x = (uint64_t)a;
    uint64_t y = (uint64_t)b;
    switch (op) {
    case AS_NEG:
        *out = wrap(0 - x);
        return true;
    case AS_NOT:
        *out = wrap(~x);
        return true;
    case AS_LNOT:
        *out = !a;
        return true;
    case AS_ADD:
        *out = wrap(x + y);
        return true;
    case AS_SUB:
        *out = wrap(x - y);
        return true;
    case AS_MUL:
        *out = wrap(x * y);
        return true;
    case AS_DIV:
    case AS_MOD:
        if (b == 0)
            return false;
        if (b == -1)
            *out = op == AS_DIV ? wrap(0 - x) : 0;
        else
            *out = op == AS_DIV ? a / b : a % b;
        return true;
    case AS_SHL:
    case AS_SHR:
        *out = shift(op, x, y);
        return true;
    case AS_AND:
        *out = wrap(x & y);
        return true;
    case AS_OR:
        *out = wrap(x | y);
        return true;
    case AS_XOR:
        *out = wrap(x ^ y);
        return true;
    case AS_ORNOT:
        *out = wrap(x | ~y);
        return true;
    case AS_LAND:
        *out = a && b;
        return true;
    case AS_LOR:
        *out = a || b;
        return true;
    case AS_EQ:
        *out = a == b ? -1 : 0;
        return true;
    case AS_NE:
        *out = a != b ? -1 : 0;
        return true;
    case AS_LT:
        *out = a < b ? -1 : 0;
        return true;
    case AS_LE:
        *out = a <= b ? -1 : 0;
        return true;
    case AS_GT:
        *out = a > b ? -1 : 0;
        return true;
    case AS_GE:
        *out = a >= b ? -1 : 0;
        return true;
    case AS_MAX:
        *out = a > b ? a : b;
        return true;
    case AS_ALIGNTO:
        if (b <= 0 || a < 0 || a > INT64_MAX - b)
            return false;
        *out = (a + b - 1) / b * b;
        return true;
    case AS_CONST:
    case AS_SYM:
        break;
    }
    return false;
}

/* Join two operands (b is 0 for a unary operator). at: of the operator, for errors. */
static bool combine(struct as *as, enum as_op op, struct as_ref a, struct as_ref b,
                    const char *at, struct as_ref *out)
{
    if (a.node == 0 && b.node == 0) {
        out->node = 0;
        if (compute(op, a.k, b.k, &out->k))
            return true;
        return fail(as, at,
                    op == AS_ALIGNTO ? "alignto() of a negative number"
                                     : "division by zero");
    }
    /* label + 4 needs no node of its own */
    if (a.node && b.node == 0 && (op == AS_ADD || op == AS_SUB)) {
        const struct as_node *n = &as->nodes[a.node];
        if (n->op == AS_SYM && n->k == 0 && a.node == as->n_nodes - 1) {
            as->nodes[a.node].k = op == AS_ADD ? b.k : wrap(0 - (uint64_t)b.k);
            as->nodes[a.node].b = op == AS_SUB;
            *out = a;
            return true;
        }
    }
    unsigned depth = depth_of(as, a);
    if (depth_of(as, b) > depth)
        depth = depth_of(as, b);
    if (depth + 1 > AS_MAX_NODES)
        return fail(as, at, "expression is too long");
    struct as_node node = {.op = (uint8_t)op, .depth = (uint16_t)(depth + 1)};
    node.a = node_of(as, a);
    node.b = node_of(as, b);
    *out = (struct as_ref){.node = add_node(as, node)};
    return out->node != 0 || fail(as, at, "out of memory");
}

/* What follows the @ of a symbol. */
static bool variant_of(struct as *as, const char *at, size_t len, unsigned *variant)
{
    static const struct {
        const char *name;
        unsigned variant;
    } names[] = {
        {"rel32@lo", AS_VAR_REL_LO},
        {"rel32@hi", AS_VAR_REL_HI},
        {"gotpcrel32@lo", AS_VAR_GOTPCREL_LO},
        {"gotpcrel32@hi", AS_VAR_GOTPCREL_HI},
        {"abs32@lo", AS_VAR_ABS_LO},
        {"abs32@hi", AS_VAR_ABS_HI},
        {"rel64", AS_VAR_REL64},
        {"gotpcrel", AS_VAR_GOTPCREL},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (as_same_nocase(at, len, names[i].name)) {
            *variant = names[i].variant;
            return true;
        }
    return fail(as, at,
                "unknown relocation specifier (rel32@lo, rel32@hi, gotpcrel32@lo, "
                "gotpcrel32@hi, abs32@lo, abs32@hi, rel64, gotpcrel)");
}

bool as_here(struct as *as, struct as_ref *out)
{
    const struct as_section *s = &as->sections[as->section];
    return symbol_ref(as, s->symbol, AS_VAR_NONE, (int64_t)s->bytes, out);
}

/* max(a, b, ...), or(a, b, ...), alignto(a, b): the cursor stands behind the bracket.
 */
static bool parse_function(struct as *as, enum as_op op, const char *at,
                           struct as_ref *out)
{
    struct as_ref arg;
    if (!parse_binary(as, 1, out))
        return false;
    unsigned n = 1;
    for (; as_take(as, ','); n++)
        if (!parse_binary(as, 1, &arg) || !combine(as, op, *out, arg, at, out))
            return false;
    if (op == AS_ALIGNTO && n != 2)
        return fail(as, at, "alignto() takes two arguments");
    return as_take(as, ')') || fail(as, as->p, "expected ')'");
}

static bool parse_symbol(struct as *as, const char *name, size_t len,
                         struct as_ref *out)
{
    const char *specifier = memchr(name, '@', len);
    unsigned variant = AS_VAR_NONE;
    if (specifier) {
        size_t rest = (size_t)(name + len - specifier) - 1;
        if (!variant_of(as, specifier + 1, rest, &variant))
            return false;
        len = (size_t)(specifier - name);
        if (len == 0)
            return fail(as, name, "relocation specifier without a symbol");
    }
    uint32_t symbol = as_symbol(as, name, len);
    const struct as_symbol *s = &as->symbols[symbol];
    if (symbol && s->section == AS_SEC_VAR && s->node == 0 && variant == AS_VAR_NONE) {
        *out = (struct as_ref){.k = (int64_t)s->value};
        return true;
    }
    return symbol_ref(as, symbol, variant, 0, out);
}

static bool parse_name(struct as *as, struct as_ref *out)
{
    const char *name;
    size_t len;
    if (!as_name(as, &name, &len) || len == 0)
        return fail(as, as->p, "expected an expression");
    if (len == 1 && *name == '.')
        return as_here(as, out);
    if (as->p < as->end && *as->p == '(') {
        enum as_op op = AS_CONST;
        if (as_same(name, len, "max"))
            op = AS_MAX;
        else if (as_same(name, len, "or"))
            op = AS_OR;
        else if (as_same(name, len, "alignto"))
            op = AS_ALIGNTO;
        if (op == AS_CONST)
            return fail(as, name, "unknown function (max, or, alignto)");
        as->p++;
        return parse_function(as, op, name, out);
    }
    return parse_symbol(as, name, len, out);
}

/* A number, or a numeric label: 1b, 1f. */
static bool parse_number(struct as *as, struct as_ref *out)
{
    const char *start = as->p;
    uint64_t value;
    if (!as_number(as, &value, NULL))
        return false;
    *out = (struct as_ref){.k = (int64_t)value};
    if (as->p == as->end || !as_is(*as->p, AS_C_IDENT))
        return true;
    bool forward = *as->p == 'f';
    const char *after = as->p + 1;
    if ((!forward && *as->p != 'b') || (after < as->end && as_is(*after, AS_C_IDENT)))
        return fail(as, start, "malformed number");
    as->p = after;
    uint32_t symbol = as_local_ref(as, value, forward);
    return symbol != 0 && symbol_ref(as, symbol, AS_VAR_NONE, 0, out);
}

static bool parse_character(struct as *as, struct as_ref *out)
{
    const char *open = as->p++;
    char c = '\0';
    if (as->p < as->end && *as->p != '\n')
        c = *as->p++;
    if (c == '\\' && !as_escape(as, &c))
        return false;
    if (as->p == as->end || *as->p != '\'')
        return fail(as, open, "character constant is not closed");
    as->p++;
    *out = (struct as_ref){.k = (uint8_t)c};
    return true;
}

static bool parse_unary(struct as *as, struct as_ref *out)
{
    const char *at = as->p++;
    struct as_ref none = {0};
    if (!parse_binary(as, 7, out)) /* binds tighter than every binary operator */
        return false;
    switch (*at) {
    case '-':
        return combine(as, AS_NEG, *out, none, at, out);
    case '~':
        return combine(as, AS_NOT, *out, none, at, out);
    case '!':
        return combine(as, AS_LNOT, *out, none, at, out);
    default:
        return true;
    }
}

static bool parse_primary(struct as *as, struct as_ref *out)
{
    as_blanks(as);
    if (as->p == as->end)
        return fail(as, as->p, "expected an expression");
    switch (*as->p) {
    case '-':
    case '+':
    case '~':
    case '!':
        return parse_unary(as, out);
    case '(':
        as->p++;
        if (!parse_binary(as, 1, out))
            return false;
        return as_take(as, ')') || fail(as, as->p, "expected ')'");
    case '\'':
        return parse_character(as, out);
    default:
        return as_is(*as->p, AS_C_DIGIT) ? parse_number(as, out) : parse_name(as, out);
    }
}

struct operator
{
    uint8_t op, precedence, len;
};

static struct operator two_or_one(char next, char second, struct operator two,
                                  struct operator one)
{
    return next == second ? two : one;
}

#define OP(op, precedence, len)                                                        \
    (struct operator)                                                                  \
    {                                                                                  \
        op, precedence, len                                                            \
    }

/* The binary operator at the cursor; precedence 0: none. */
static struct operator operator_at(const struct as *as)
{
    const char *p = as->p;
    struct operator none = { 0 };
    char next = as->end - p > 1 ? p[1] : '\0';
    if (p == as->end)
        return none;
    switch (*p) {
    case '+':
        return OP(AS_ADD, 4, 1);
    case '-':
        return OP(AS_SUB, 4, 1);
    case '*':
        return OP(AS_MUL, 6, 1);
    case '/':
        return next == '/' ? none : OP(AS_DIV, 6, 1);
    case '%':
        return OP(AS_MOD, 6, 1);
    case '|':
        return two_or_one(next, '|', OP(AS_LOR, 1, 2), OP(AS_OR, 5, 1));
    case '&':
        return two_or_one(next, '&', OP(AS_LAND, 2, 2), OP(AS_AND, 5, 1));
    case '^':
        return OP(AS_XOR, 5, 1);
    case '!':
        return two_or_one(next, '=', OP(AS_NE, 3, 2), OP(AS_ORNOT, 5, 1));
    case '=':
        return two_or_one(next, '=', OP(AS_EQ, 3, 2), none);
    case '<':
        if (next == '<' || next == '>')
            return next == '<' ? OP(AS_SHL, 6, 2) : OP(AS_NE, 3, 2);
        return two_or_one(next, '=', OP(AS_LE, 3, 2), OP(AS_LT, 3, 1));
    case '>':
        if (next == '>')
            return OP(AS_SHR, 6, 2);
        return two_or_one(next, '=', OP(AS_GE, 3, 2), OP(AS_GT, 3, 1));
    default:
        return none;
    }
}

static bool parse_binary(struct as *as, unsigned lowest, struct as_ref *out)
{
    if (as->depth >= AS_MAX_DEPTH)
        return fail(as, as->p, "expression is nested too deep");
    as->depth++;
    bool ok = parse_primary(as, out);
    while (ok) {
        as_blanks(as);
        struct operator op = operator_at(as);
        if (op.precedence == 0 || op.precedence < lowest)
            break;
        const char *at = as->p;
        as->p += op.len;
        struct as_ref right;
        ok = parse_binary(as, op.precedence + 1u, &right) &&
             combine(as, (enum as_op)op.op, *out, right, at, out);
    }
    as->depth--;
    return ok;
}

bool as_parse(struct as *as, struct as_ref *out)
{
    as->depth = 0;
    as_blanks(as);
    return parse_binary(as, 1, out);
}

bool as_expr(struct as *as, struct as_ref *out)
{
    if (as_parse(as, out))
        return true;
    as_error(as, as->error.at, "%s", as->error.text);
    return false;
}

bool as_absolute(struct as *as, int64_t *out)
{
    as_blanks(as);
    const char *at = as->p;
    struct as_ref ref;
    if (!as_expr(as, &ref))
        return false;
    if (as_eval_number(as, ref, AS_EVAL_NOW, out))
        return true;
    as_error(as, at, "expected a number that is known here");
    return false;
}

bool as_compute(unsigned op, int64_t a, int64_t b, int64_t *out)
{
    return compute((enum as_op)op, a, b, out);
}
