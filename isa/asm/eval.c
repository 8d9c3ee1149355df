/* eval.c: what an expression is worth: a number, or symbol plus number minus symbol.
 *
 * Must not know syntax. Invariant: evaluation changes nothing but the marks that find
 * cycles between symbols, and those are gone afterwards.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#define MAX_CHAIN 1000u  /* symbols set to symbols set to symbols ... */
#define MAX_STEPS 20000u /* nodes visited: symbols may multiply them */

static bool eval_node(struct as *as, uint32_t node, enum as_eval how, unsigned chain,
                      struct as_value *out);

/* Is the symbol a place in a section? */
static bool placed(const struct as *as, uint32_t symbol)
{
    uint32_t section = as->symbols[symbol].section;
    return section != 0 && section < AS_SEC_LDS;
}

/* Labels of one section are a known number of bytes apart. */
static void fold(const struct as *as, enum as_eval how, struct as_value *v)
{
    if (how == AS_EVAL_CONST || !v->a || !v->b || v->variant)
        return;
    const struct as_symbol *a = &as->symbols[v->a];
    const struct as_symbol *b = &as->symbols[v->b];
    if (!placed(as, v->a) || !placed(as, v->b) || a->section != b->section)
        return;
    v->k = (int64_t)((uint64_t)v->k + a->value - b->value);
    v->a = v->b = 0;
}

static bool eval_symbol(struct as *as, const struct as_node *n, enum as_eval how,
                        unsigned chain, struct as_value *out)
{
    struct as_symbol *s = &as->symbols[n->a];
    if (s->section != AS_SEC_VAR || n->variant) {
        *out = (struct as_value){.k = n->k, .a = n->a, .variant = n->variant};
        return true;
    }
    if (s->node == 0) {
        *out = (struct as_value){.k = (int64_t)(s->value + (uint64_t)n->k)};
        return true;
    }
    if (chain >= MAX_CHAIN || (s->flags & AS_SYM_BUSY))
        return false;
    s->flags |= AS_SYM_BUSY;
    int64_t k = n->k;
    bool ok = eval_node(as, s->node, how, chain + n->depth, out);
    as->symbols[n->a].flags &= (uint8_t)~AS_SYM_BUSY;
    out->k = (int64_t)((uint64_t)out->k + (uint64_t)k);
    return ok;
}

/* a - b, with the symbols of both. */
static bool subtract(struct as_value a, struct as_value b, struct as_value *out)
{
    if (b.variant)
        return false;
    if (a.a && a.a == b.a && !a.variant)
        a.a = b.a = 0;
    if (a.b && a.b == b.b)
        a.b = b.b = 0;
    if ((a.a && b.b) || (a.b && b.a))
        return false;
    *out = (struct as_value){.k = (int64_t)((uint64_t)a.k - (uint64_t)b.k),
                             .a = a.a ? a.a : b.b,
                             .b = a.b ? a.b : b.a,
                             .variant = a.variant};
    return true;
}

static bool add(struct as_value a, struct as_value b, struct as_value *out)
{
    if (a.a && a.a == b.b && !a.variant)
        a.a = b.b = 0;
    if (a.b && a.b == b.a && !b.variant)
        a.b = b.a = 0;
    if ((a.a && b.a) || (a.b && b.b))
        return false;
    *out = (struct as_value){.k = (int64_t)((uint64_t)a.k + (uint64_t)b.k),
                             .a = a.a ? a.a : b.a,
                             .b = a.b ? a.b : b.b,
                             .variant = a.a ? a.variant : b.variant};
    return true;
}

static bool eval_node(struct as *as, uint32_t node, enum as_eval how, unsigned chain,
                      struct as_value *out)
{
    struct as_node n = as->nodes[node];
    struct as_value a, b;
    bool ok;
    if (n.op == AS_CONST) {
        *out = (struct as_value){.k = n.k};
        return true;
    }
    if (chain + n.depth > AS_MAX_NODES + MAX_CHAIN || ++as->steps > MAX_STEPS)
        return false;
    if (n.op == AS_SYM)
        return eval_symbol(as, &n, how, chain + 1, out);
    if (!eval_node(as, n.a, how, chain + 1, &a) ||
        !eval_node(as, n.b, how, chain + 1, &b))
        return false;
    if (n.op == EX_ADD)
        ok = add(a, b, out);
    else if (n.op == EX_SUB)
        ok = subtract(a, b, out);
    else if (a.a || a.b || b.a || b.b)
        ok = false;
    else {
        *out = (struct as_value){0};
        ok = ex_compute((enum ex_op)n.op, a.k, b.k, &out->k);
    }
    if (ok)
        fold(as, how, out);
    return ok;
}

bool as_eval(struct as *as, struct ex_value ref, enum as_eval how, struct as_value *out)
{
    as->steps = 0;
    if (ref.node)
        return eval_node(as, ref.node, how, 0, out);
    *out = (struct as_value){.k = ref.k};
    return true;
}

bool as_eval_number(struct as *as, struct ex_value ref, enum as_eval how, int64_t *out)
{
    struct as_value v;
    if (!as_eval(as, ref, how, &v) || v.a || v.b)
        return false;
    *out = v.k;
    return true;
}

bool as_is_pc_relative(const struct as *as, uint32_t node)
{
    const struct as_node *n = &as->nodes[node];
    switch (n->op) {
    case AS_CONST:
    case EX_SUB:
    case EX_MAX:
    case EX_ALIGNTO:
        return false;
    case AS_SYM:
        /* label - 4 is kept in one node but is a subtraction */
        return !n->b && n->variant != AS_VAR_ABS_LO && n->variant != AS_VAR_ABS_HI;
    default:
        return as_is_pc_relative(as, n->a) || as_is_pc_relative(as, n->b);
    }
}

rd_status as_isa_expr(void *ctx, const char *text, size_t len, size_t *used,
                      struct isa_value *out, struct isa_asm_error *err)
{
    struct as *as = ctx;
    const char *p = as->p;
    const char *end = as->end;
    struct ex_value ref;
    as->expr_at = text;
    as->p = text;
    as->end = text + len;
    bool ok = as_parse(as, &ref);
    *used = (size_t)(as->p - text);
    as->p = p;
    as->end = end;
    if (!ok) {
        if (as->error.at == text)
            return RD_E_NOT_FOUND;
        err->column = (unsigned)(as->error.at - text) + 1;
        memcpy(err->text, as->error.text, sizeof err->text);
        return RD_E_FORMAT;
    }
    int64_t k;
    if (as_eval_number(as, ref, AS_EVAL_CONST, &k))
        *out = (struct isa_value){.known = true, .value = k};
    else
        *out = (struct isa_value){.handle = ref.node};
    return RD_OK;
}
