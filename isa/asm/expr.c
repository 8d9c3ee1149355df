/* expr.c: symbols in expressions, and small trees of what waits for them.
 *
 * Must not know operators' syntax (../expr), instructions or relocation types.
 * Invariant: a subtree without symbols never becomes a node, and no tree is deeper than
 * AS_MAX_NODES, so that recursion over trees is bounded.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <stdio.h>

static bool fail(struct as *as, const char *at, const char *text)
{
    as->error.at = at;
    snprintf(as->error.text, sizeof as->error.text, "%s", text);
    return false;
}

static unsigned depth_of(const struct as *as, struct ex_value r)
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

static uint32_t node_of(struct as *as, struct ex_value r)
{
    return r.node ? r.node : add_node(as, (struct as_node){.op = AS_CONST, .k = r.k});
}

static bool symbol_ref(struct as *as, uint32_t symbol, unsigned variant, int64_t k,
                       struct ex_value *out)
{
    if (symbol == 0)
        return fail(as, as->p, "out of memory");
    uint32_t node = add_node(as, (struct as_node){.op = AS_SYM,
                                                  .variant = (uint8_t)variant,
                                                  .depth = 1,
                                                  .a = symbol,
                                                  .k = k});
    *out = (struct ex_value){.node = node};
    return node != 0 || fail(as, as->p, "out of memory");
}

/* Join two operands, not both of them numbers (b is 0 for a unary operator). at: of the
 * operator, for errors. */
static bool combine(struct as *as, enum ex_op op, struct ex_value a, struct ex_value b,
                    const char *at, struct ex_value *out)
{
    /* label + 4 needs no node of its own */
    if (a.node && b.node == 0 && (op == EX_ADD || op == EX_SUB)) {
        const struct as_node *n = &as->nodes[a.node];
        if (n->op == AS_SYM && n->k == 0 && a.node == as->n_nodes - 1) {
            as->nodes[a.node].k = op == EX_ADD ? b.k : (int64_t)(0 - (uint64_t)b.k);
            as->nodes[a.node].b = op == EX_SUB;
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
    *out = (struct ex_value){.node = add_node(as, node)};
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

bool as_place(struct as *as, uint32_t section, uint64_t offset, struct ex_value *out)
{
    return symbol_ref(as, as->sections[section].symbol, AS_VAR_NONE, (int64_t)offset,
                      out);
}

bool as_here(struct as *as, struct ex_value *out)
{
    return as_place(as, as->section, as->sections[as->section].bytes, out);
}

bool as_symbol_place(struct as *as, uint32_t symbol, struct ex_value *out)
{
    return symbol_ref(as, symbol, AS_VAR_NONE, 0, out);
}

bool as_minus_place(struct as *as, struct ex_value what, uint64_t offset,
                    struct ex_value *out)
{
    struct ex_value place;
    return as_place(as, as->section, offset, &place) &&
           combine(as, EX_SUB, what, place, as->p, out);
}

static bool symbol_value(struct as *as, uint32_t symbol, unsigned variant,
                         struct ex_value *out)
{
    const struct as_symbol *s = &as->symbols[symbol];
    if (symbol && s->section == AS_SEC_VAR && s->node == 0 && variant == AS_VAR_NONE) {
        *out = (struct ex_value){.k = (int64_t)s->value};
        return true;
    }
    return symbol_ref(as, symbol, variant, 0, out);
}

/* "name" and what follows the closing quote: @rel32@lo or nothing. */
static bool parse_quoted(struct as *as, const char *name, size_t len,
                         struct ex_value *out)
{
    unsigned variant = AS_VAR_NONE;
    if (as->p < as->end && *as->p == '@') {
        const char *at = ++as->p;
        while (as->p < as->end && as_is(*as->p, AS_C_IDENT))
            as->p++;
        if (!variant_of(as, at, (size_t)(as->p - at), &variant))
            return false;
    }
    return symbol_value(as, as_symbol(as, name, len), variant, out);
}

static bool parse_symbol(struct as *as, const char *name, size_t len,
                         struct ex_value *out)
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
    return symbol_value(as, as_symbol(as, name, len), variant, out);
}

static bool parse_name(struct as *as, struct ex_value *out)
{
    const char *name;
    size_t len;
    as_blanks(as);
    bool quoted = as->p < as->end && *as->p == '"';
    if (!as_name(as, &name, &len) || len == 0)
        return fail(as, as->p, ex_error_text(EX_E_OPERAND));
    if (quoted)
        return parse_quoted(as, name, len, out);
    if (len == 1 && *name == '.')
        return as_here(as, out);
    if (as->p < as->end && *as->p == '(')
        return fail(as, name,
                    "unknown function (max, or, alignto, extrasgprs, totalnumvgprs, "
                    "instprefsize, occupancy)");
    return parse_symbol(as, name, len, out);
}

/* ---- hooks of the parser: the cursor of the state is the parser's meanwhile ---- */

static bool finish(struct ex *e, bool ok)
{
    struct as *as = e->ctx;
    e->p = as->p;
    return ok || ex_fail(e, as->error.at, EX_E_USER);
}

static bool hook_name(struct ex *e, struct ex_value *out)
{
    struct as *as = e->ctx;
    as->p = e->p;
    return finish(e, parse_name(as, out));
}

static bool hook_label(struct ex *e, uint64_t number, bool forward,
                       struct ex_value *out)
{
    struct as *as = e->ctx;
    as->p = e->p;
    uint32_t symbol = as_local_ref(as, number, forward);
    return finish(e, symbol != 0 && symbol_ref(as, symbol, AS_VAR_NONE, 0, out));
}

static bool hook_join(struct ex *e, enum ex_op op, struct ex_value a, struct ex_value b,
                      const char *at, struct ex_value *out)
{
    struct as *as = e->ctx;
    as->p = e->p;
    return finish(e, combine(as, op, a, b, at, out));
}

static struct ex begin(struct as *as)
{
    static const struct ex_hooks hooks = {hook_name, hook_label, hook_join};
    return (struct ex){.p = as->p, .end = as->end, .hooks = &hooks, .ctx = as};
}

/* Take the cursor, and the mistake if there is one, back from the parser. */
static bool end(struct as *as, const struct ex *e, bool ok)
{
    as->p = e->p;
    as->line += e->lines;
    if (ok || e->error == EX_E_USER)
        return ok;
    return fail(as, e->at, ex_error_text(e->error));
}

bool as_number(struct as *as, uint64_t *value, uint64_t *high)
{
    struct ex e = begin(as);
    bool ok = ex_number(&e, value, high);
    return end(as, &e, ok);
}

bool as_parse(struct as *as, struct ex_value *out)
{
    as_blanks(as);
    struct ex e = begin(as);
    bool ok = ex_parse(&e, out);
    return end(as, &e, ok);
}

bool as_expr(struct as *as, struct ex_value *out)
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
    struct ex_value ref;
    if (!as_expr(as, &ref))
        return false;
    if (as_eval_number(as, ref, AS_EVAL_NOW, out))
        return true;
    as_error(as, at, "expected a number that is known here");
    return false;
}
