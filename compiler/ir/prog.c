/* prog.c: linear programs: operations in the order of their execution.
 *
 * Not hash-consed: two equal LOADs may read different values. Every operation obeys the
 * rules of derive.c; loops and IFs nest, and no value is used outside the loop that
 * computes it.
 * SPDX-License-Identifier: MIT
 */
#include "prog.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rd_status cc_prog_create(const char *name, struct cc_prog **out)
{
    struct cc_prog *p = calloc(1, sizeof *p);
    if (!p)
        return RD_E_NOMEM;
    p->name = cc_arena_copy(&p->arena, name, strlen(name) + 1);
    if (!p->name) {
        free(p);
        return RD_E_NOMEM;
    }
    *out = p;
    return RD_OK;
}

void cc_prog_destroy(struct cc_prog *p)
{
    if (!p)
        return;
    cc_arena_free(&p->arena);
    free(p->insts);
    free(p->nodes);
    free(p->scope);
    free(p->closed);
    free(p);
}

uint32_t cc_prog_count(const struct cc_prog *p)
{
    return p->count;
}

const struct cc_inst *cc_prog_inst(const struct cc_prog *p, uint32_t index)
{
    return &p->insts[index];
}

const char *cc_prog_name(const struct cc_prog *p)
{
    return p->name;
}

const char *cc_prog_error(const struct cc_prog *p)
{
    return p->error;
}

rd_status cc_prog_status(const struct cc_prog *p)
{
    return p->status;
}

bool cc_is_alu(enum cc_op op)
{
    enum cc_class c = cc_ops[op].class_;
    return ((c == CC_CLASS_UN && op != CC_CONTIGUOUS) || c == CC_CLASS_BIN ||
            c == CC_CLASS_CMP || c == CC_CLASS_TERN || op == CC_CAST ||
            op == CC_BITCAST);
}

__attribute__((format(printf, 3, 4))) static uint32_t
fail(struct cc_prog *p, rd_status status, const char *fmt, ...)
{
    if (p->status == RD_OK) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(p->error, sizeof p->error, fmt, ap);
        va_end(ap);
        p->status = status;
    }
    return 0;
}

/* What a program may hold: scalars, addressed memory, flow. */
static const char *why_not(const struct cc_uop *n)
{
    switch (n->op) {
    case CC_CONST:
    case CC_PARAM:
    case CC_BUFFER:
    case CC_SPECIAL:
    case CC_RANGE:
    case CC_WMMA:
    case CC_EXTRACT:
    case CC_CUSTOM:
    case CC_BARRIER:
    case CC_IF:
    case CC_ENDIF:
        break;
    case CC_LOAD:
        return n->n_src < 2 ? "needs a buffer and an index" : NULL;
    case CC_STORE:
        return n->n_src < 3 ? "needs a buffer, an index and a value" : NULL;
    case CC_END:
        return n->n_src != 1 || n->src[0]->op != CC_RANGE ? "takes its RANGE" : NULL;
    default:
        if (!cc_is_alu(n->op))
            return "is not for programs";
        break;
    }
    for (uint32_t i = 0; i < n->n_src; i++)
        if (n->src[i]->ndim && n->op != CC_EXTRACT)
            return "takes scalars";
    return NULL;
}

/* Keep the stack of open RANGEs and IFs. */
static const char *nest(struct cc_prog *p, const struct cc_uop *n)
{
    if (n->op == CC_RANGE || n->op == CC_IF) {
        if (p->n_open == sizeof p->open / sizeof p->open[0])
            return "nests too deep";
        p->open[p->n_open++] = n->id;
    } else if (n->op == CC_END || n->op == CC_ENDIF) {
        if (p->n_open == 0 || p->open[p->n_open - 1] != n->src[0]->id)
            return "does not end what was opened last";
        p->closed[n->src[0]->id] = 1;
        p->n_open--;
    }
    return NULL;
}

static bool room(struct cc_prog *p)
{
    uint32_t n = p->count + 1, cap[4] = {p->cap, p->cap, p->cap, p->cap};
    bool ok = cc_room(&p->insts, &cap[0], n, sizeof *p->insts) &&
              cc_room(&p->nodes, &cap[1], n, sizeof(struct cc_uop *)) &&
              cc_room(&p->scope, &cap[2], n, sizeof *p->scope) &&
              cc_room(&p->closed, &cap[3], n, sizeof *p->closed);
    if (ok)
        p->cap = cap[0];
    return ok;
}

/* Copy sources, arguments and name to the arena, and fill the rest of the node. */
static struct cc_uop *make_node(struct cc_prog *p, const struct cc_inst *in)
{
    struct cc_uop *n = cc_arena_alloc(&p->arena, sizeof *n);
    cc_ref *src = cc_arena_alloc(&p->arena, in->n_src * sizeof *src + 1);
    uint32_t *index = cc_arena_copy(&p->arena, in->src, in->n_src * sizeof *index);
    int64_t shape[CC_MAX_DIMS], arg[2] = {p->next_range, CC_AXIS_LOOP};
    char place[96], text[CC_ERROR_BYTES], name[24];
    if (!n || !src || !index || !room(p))
        return NULL;
    *n = (struct cc_uop){.op = in->op,
                         .dtype = in->dtype,
                         .n_src = in->n_src,
                         .id = p->count,
                         .src = src,
                         .shape = shape,
                         .n_arg = in->n_arg,
                         .arg = in->arg,
                         .name = in->name};
    for (uint32_t i = 0; i < n->n_src; i++)
        src[i] = p->nodes[in->src[i]];
    if (n->op == CC_RANGE && n->n_arg == 0) {
        n->n_arg = 2;
        n->arg = arg;
    }
    if (n->op == CC_PARAM && !n->name[0] && n->n_arg) {
        snprintf(name, sizeof name, "data%lld", (long long)n->arg[0]);
        n->name = name;
    }
    if (cc_derive(n, shape, text, sizeof text) != RD_OK) {
        fail(p, RD_E_INVALID, "%s: %s", cc_describe(n, place, sizeof place), text);
        return NULL;
    }
    n->arg = cc_arena_copy(&p->arena, n->arg, n->n_arg * sizeof *n->arg);
    n->shape = cc_arena_copy(&p->arena, shape, n->ndim * sizeof *shape);
    n->name = cc_arena_copy(&p->arena, n->name, strlen(n->name) + 1);
    if (!n->arg || !n->shape || !n->name)
        return NULL;
    cc_bounds(n);
    p->insts[p->count] =
        (struct cc_inst){n->op, n->dtype, n->n_src, n->n_arg, index, n->arg, n->name};
    return n;
}

uint32_t cc_prog_add(struct cc_prog *p, enum cc_op op, enum cc_dtype dtype,
                     size_t n_src, const uint32_t *src, size_t n_arg,
                     const int64_t *arg, const char *name)
{
    struct cc_inst in = {
        (uint8_t)op, (uint8_t)dtype,  (uint32_t)n_src, (uint32_t)n_arg, src,
        arg,         name ? name : ""};
    char place[96];
    if (p->status != RD_OK)
        return 0;
    for (size_t i = 0; i < n_src; i++)
        if (src[i] >= p->count || (p->scope[src[i]] && p->closed[p->scope[src[i]] - 1]))
            return fail(p, RD_E_INVALID, "%s: source %zu is not defined here",
                        cc_op_name(op), i);
    struct cc_uop *n = make_node(p, &in);
    if (!n)
        return fail(p, RD_E_NOMEM, "out of memory");
    const char *wrong = why_not(n);
    if (!wrong)
        wrong = nest(p, n);
    if (wrong)
        return fail(p, RD_E_INVALID, "%s: %s", cc_describe(n, place, sizeof place),
                    wrong);
    if (n->op == CC_RANGE && n->arg[0] >= p->next_range)
        p->next_range = (int)n->arg[0] + 1;
    p->nodes[p->count] = n;
    p->closed[p->count] = 0;
    bool inside = n->op == CC_RANGE; /* its value too ends with the loop */
    p->scope[p->count] = inside           ? n->id + 1
                         : p->n_open == 0 ? 0
                                          : p->open[p->n_open - 1] + 1;
    if (n->op == CC_IF)
        p->scope[p->count] = p->n_open > 1 ? p->open[p->n_open - 2] + 1 : 0;
    return p->count++;
}

uint32_t cc_prog_const(struct cc_prog *p, enum cc_dtype dtype, union cc_value value)
{
    union cc_value v = cc_fit(dtype, value);
    return cc_prog_add(p, CC_CONST, dtype, 0, NULL, 1, &v.i, NULL);
}

void cc_prog_launch(const struct cc_prog *p, uint32_t groups[3], uint32_t block[3])
{
    for (unsigned d = 0; d < 3; d++)
        groups[d] = block[d] = 1;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cc_inst *n = &p->insts[i];
        if (n->op == CC_SPECIAL)
            (n->name[0] == 'g' ? groups : block)[n->name[4] - '0'] =
                (uint32_t)n->arg[0];
    }
}

uint32_t cc_prog_closing(const struct cc_prog *p, uint32_t at)
{
    uint32_t i = at + 1;
    while (i < p->count && !((p->insts[i].op == CC_END || p->insts[i].op == CC_ENDIF) &&
                             p->insts[i].src[0] == at))
        i++;
    return i;
}
