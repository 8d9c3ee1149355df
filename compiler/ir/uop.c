/* uop.c: graphs of hash-consed nodes and their constructors.
 *
 * Knows no rule of any operation: derive.c and bounds.c do. Equal nodes are one
 * pointer, and a node's sources have lower ids.
 *
 * SPDX-License-Identifier: MIT
 */
#include "graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cc_op_info cc_ops[CC_OP_COUNT] = {
#define OP(name, min, max, args, class_, doc)                                          \
    [CC_##name] = {#name, min, max, args, CC_CLASS_##class_},
#include "uop.def"
#undef OP
};

const char *const cc_axis_names[CC_AXIS_COUNT] = {"global", "local",  "warp",  "loop",
                                                  "reduce", "unroll", "upcast"};
const char *const cc_space_names[CC_SPACE_COUNT] = {"global", "local", "reg"};

static const struct {
    const char *name;
    unsigned bytes;
} dtypes[CC_DT_COUNT] = {
#define X(name, text, bytes, c) [CC_DT_##name] = {text, bytes},
    CC_DTYPE_LIST(X)
#undef X
};

const char *cc_op_name(enum cc_op op)
{
    return op < CC_OP_COUNT ? cc_ops[op].name : "?";
}

const char *cc_dtype_name(enum cc_dtype dtype)
{
    return dtype < CC_DT_COUNT ? dtypes[dtype].name : "?";
}

unsigned cc_dtype_bytes(enum cc_dtype dtype)
{
    return dtype < CC_DT_COUNT ? dtypes[dtype].bytes : 0;
}

bool cc_is_float(enum cc_dtype dtype)
{
    return dtype >= CC_DT_F16;
}

bool cc_is_int(enum cc_dtype dtype)
{
    return dtype >= CC_DT_I8 && dtype <= CC_DT_U64;
}

bool cc_is_unsigned(enum cc_dtype dtype)
{
    return dtype == CC_DT_BOOL || dtype == CC_DT_U8 || dtype == CC_DT_U16 ||
           dtype == CC_DT_U32 || dtype == CC_DT_U64;
}

int64_t cc_elements(cc_ref n)
{
    int64_t count = 1;
    for (unsigned i = 0; i < n->ndim; i++)
        count *= n->shape[i];
    return count;
}

/* ---- the graph ---- */

static const int64_t no_ints[1];
static cc_ref const no_srcs[1];

rd_status cc_graph_create(struct cc_graph **out)
{
    struct cc_graph *g = calloc(1, sizeof *g);
    if (!g)
        return RD_E_NOMEM;
    g->invalid = (struct cc_uop){.op = CC_INVALID,
                                 .name = "",
                                 .src = no_srcs,
                                 .arg = no_ints,
                                 .shape = no_ints,
                                 .vmin = INT64_MIN,
                                 .vmax = INT64_MAX};
    g->next_slot = 1000;
    g->next_range = 1000;
    *out = g;
    return RD_OK;
}

void cc_graph_destroy(struct cc_graph *g)
{
    if (!g)
        return;
    cc_arena_free(&g->arena);
    free(g->slots);
    free(g->hashes);
    free(g);
}

rd_status cc_graph_status(const struct cc_graph *g)
{
    return g->status;
}

const char *cc_graph_error(const struct cc_graph *g)
{
    return g->error;
}

uint32_t cc_graph_count(const struct cc_graph *g)
{
    return g->count;
}

cc_ref cc_fail(struct cc_graph *g, rd_status status, const char *fmt, ...)
{
    if (g->status == RD_OK) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(g->error, sizeof g->error, fmt, ap);
        va_end(ap);
        g->status = status;
    }
    return &g->invalid;
}

const char *cc_describe(const struct cc_uop *n, char *text, size_t size)
{
    int used =
        snprintf(text, size, "%s %s", cc_op_name(n->op), cc_dtype_name(n->dtype));
    if (n->id != UINT32_MAX)
        used += snprintf(text + used, size - (size_t)used, " %%%u", n->id);
    for (uint32_t i = 0; i < n->n_src && i < 4 && (size_t)used + 16 < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%%%u", i ? ", " : "(",
                         n->src[i]->id);
    if (n->n_src && (size_t)used + 8 < size)
        used +=
            snprintf(text + used, size - (size_t)used, n->n_src > 4 ? ", ...)" : ")");
    if (n->op == CC_RANGE && n->n_arg == 2 && (size_t)used + 40 < size)
        snprintf(text + used, size - (size_t)used, " [%lld, %s]", (long long)n->arg[0],
                 cc_axis_names[n->arg[1]]);
    return text;
}

static uint32_t mix(uint32_t h, uint64_t v)
{
    uint64_t x = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(x ^ x >> 32);
}

static uint32_t hash_node(const struct cc_uop *n)
{
    uint32_t h = mix(n->op, n->dtype);
    for (uint32_t i = 0; i < n->n_src; i++)
        h = mix(h, n->src[i]->id + 1ull);
    for (uint32_t i = 0; i < n->n_arg; i++)
        h = mix(h, (uint64_t)n->arg[i] + 0x1234567ull);
    for (const char *s = n->name; *s; s++)
        h = mix(h, (uint8_t)*s);
    return h;
}

static bool same_node(const struct cc_uop *a, const struct cc_uop *b)
{
    return a->op == b->op && a->dtype == b->dtype && a->n_src == b->n_src &&
           a->n_arg == b->n_arg && strcmp(a->name, b->name) == 0 &&
           memcmp(a->src, b->src, a->n_src * sizeof(cc_ref)) == 0 &&
           memcmp(a->arg, b->arg, a->n_arg * sizeof(int64_t)) == 0;
}

static bool grow(struct cc_graph *g)
{
    uint32_t cap = g->cap ? g->cap * 2 : 1024;
    struct cc_uop **slots = calloc(cap, sizeof *slots);
    uint32_t *hashes = calloc(cap, sizeof *hashes);
    if (!slots || !hashes) {
        free(slots);
        free(hashes);
        return false;
    }
    for (uint32_t i = 0; i < g->cap; i++) {
        if (!g->slots[i])
            continue;
        uint32_t at = g->hashes[i] & (cap - 1);
        while (slots[at])
            at = (at + 1) & (cap - 1);
        slots[at] = g->slots[i];
        hashes[at] = g->hashes[i];
    }
    free(g->slots);
    free(g->hashes);
    g->slots = slots;
    g->hashes = hashes;
    g->cap = cap;
    return true;
}

/* The node equal to key, or a copy of key that lives in the graph. */
static cc_ref intern(struct cc_graph *g, const struct cc_uop *key)
{
    if (g->count >= g->cap / 2 && !grow(g))
        return cc_fail(g, RD_E_NOMEM, "out of memory");
    uint32_t h = hash_node(key), at = h & (g->cap - 1);
    for (; g->slots[at]; at = (at + 1) & (g->cap - 1))
        if (g->hashes[at] == h && same_node(g->slots[at], key))
            return g->slots[at];
    struct cc_uop *n = cc_arena_copy(&g->arena, key, sizeof *key);
    if (!n)
        return cc_fail(g, RD_E_NOMEM, "out of memory");
    n->src = cc_arena_copy(&g->arena, key->src, key->n_src * sizeof(cc_ref));
    n->arg = cc_arena_copy(&g->arena, key->arg, key->n_arg * sizeof(int64_t));
    n->shape = cc_arena_copy(&g->arena, key->shape, key->ndim * sizeof(int64_t));
    n->name = cc_arena_copy(&g->arena, key->name, strlen(key->name) + 1);
    if (!n->src || !n->arg || !n->shape || !n->name)
        return cc_fail(g, RD_E_NOMEM, "out of memory");
    n->id = g->count++;
    cc_bounds(n);
    g->slots[at] = n;
    g->hashes[at] = h;
    return n;
}

cc_ref cc_uop(struct cc_graph *g, enum cc_op op, enum cc_dtype dtype, size_t n_src,
              const cc_ref *src, size_t n_arg, const int64_t *arg, const char *name)
{
    int64_t shape[CC_MAX_DIMS];
    struct cc_uop key = {.op = (uint8_t)op,
                         .dtype = (uint8_t)dtype,
                         .n_src = (uint32_t)n_src,
                         .n_arg = (uint32_t)n_arg,
                         .id = UINT32_MAX,
                         .src = n_src ? src : no_srcs,
                         .arg = n_arg ? arg : no_ints,
                         .name = name ? name : "",
                         .shape = shape};
    char text[CC_ERROR_BYTES], place[96];

    for (size_t i = 0; i < n_src; i++)
        if (src[i]->op == CC_INVALID)
            return cc_fail(g, RD_E_INVALID, "%s: source %zu is INVALID", cc_op_name(op),
                           i);
    rd_status st = cc_derive(&key, shape, text, sizeof text);
    if (st != RD_OK)
        return cc_fail(g, st, "%s: %s", cc_describe(&key, place, sizeof place), text);
    return intern(g, &key);
}

cc_ref cc_with_src(struct cc_graph *g, cc_ref n, const cc_ref *src)
{
    if (memcmp(n->src, src, n->n_src * sizeof *src) == 0)
        return n;
    return cc_uop(g, n->op, n->dtype, n->n_src, src, n->n_arg, n->arg, n->name);
}

/* ---- constructors ---- */

cc_ref cc_const_int(struct cc_graph *g, enum cc_dtype dtype, int64_t value)
{
    union cc_value v = {.i = value};
    if (cc_is_float(dtype))
        return cc_const_float(g, dtype, (double)value);
    v = cc_fit(dtype, v);
    return cc_uop(g, CC_CONST, dtype, 0, NULL, 1, &v.i, NULL);
}

cc_ref cc_const_float(struct cc_graph *g, enum cc_dtype dtype, double value)
{
    union cc_value v = {.f = value};
    v = cc_fit(dtype, v);
    return cc_uop(g, CC_CONST, dtype, 0, NULL, 1, &v.i, NULL);
}

cc_ref cc_param(struct cc_graph *g, enum cc_dtype dtype, unsigned slot, unsigned ndim,
                const int64_t *shape)
{
    int64_t arg[1 + CC_MAX_DIMS] = {slot};
    unsigned n = ndim < CC_MAX_DIMS ? ndim : CC_MAX_DIMS;
    memcpy(arg + 1, shape, n * sizeof *arg);
    return cc_uop(g, CC_PARAM, dtype, 0, NULL, 1 + n, arg, NULL);
}

cc_ref cc_buffer(struct cc_graph *g, enum cc_dtype dtype, enum cc_space space,
                 unsigned slot, unsigned ndim, const int64_t *shape)
{
    int64_t arg[2 + CC_MAX_DIMS] = {space, slot};
    unsigned n = ndim < CC_MAX_DIMS ? ndim : CC_MAX_DIMS;
    memcpy(arg + 2, shape, n * sizeof *arg);
    return cc_uop(g, CC_BUFFER, dtype, 0, NULL, 2 + n, arg, NULL);
}

cc_ref cc_range(struct cc_graph *g, int64_t size, int id, enum cc_axis axis)
{
    cc_ref n = cc_const_int(g, CC_DT_I32, size);
    return cc_uop(g, CC_RANGE, CC_DT_I32, 1, &n, 2, (int64_t[]){id, axis}, NULL);
}

cc_ref cc_alu1(struct cc_graph *g, enum cc_op op, cc_ref a)
{
    return cc_uop(g, op, CC_DT_VOID, 1, &a, 0, NULL, NULL);
}

cc_ref cc_alu2(struct cc_graph *g, enum cc_op op, cc_ref a, cc_ref b)
{
    return cc_uop(g, op, CC_DT_VOID, 2, (cc_ref[]){a, b}, 0, NULL, NULL);
}

cc_ref cc_where(struct cc_graph *g, cc_ref cond, cc_ref a, cc_ref b)
{
    return cc_uop(g, CC_WHERE, CC_DT_VOID, 3, (cc_ref[]){cond, a, b}, 0, NULL, NULL);
}

cc_ref cc_cast(struct cc_graph *g, cc_ref a, enum cc_dtype dtype)
{
    return a->dtype == dtype ? a : cc_uop(g, CC_CAST, dtype, 1, &a, 0, NULL, NULL);
}

cc_ref cc_bitcast(struct cc_graph *g, cc_ref a, enum cc_dtype dtype)
{
    return a->dtype == dtype ? a : cc_uop(g, CC_BITCAST, dtype, 1, &a, 0, NULL, NULL);
}

cc_ref cc_reshape(struct cc_graph *g, cc_ref a, unsigned ndim, const int64_t *shape)
{
    return cc_uop(g, CC_RESHAPE, CC_DT_VOID, 1, &a, ndim, shape, NULL);
}

cc_ref cc_expand(struct cc_graph *g, cc_ref a, unsigned ndim, const int64_t *shape)
{
    return cc_uop(g, CC_EXPAND, CC_DT_VOID, 1, &a, ndim, shape, NULL);
}

cc_ref cc_permute(struct cc_graph *g, cc_ref a, unsigned ndim, const int64_t *order)
{
    return cc_uop(g, CC_PERMUTE, CC_DT_VOID, 1, &a, ndim, order, NULL);
}

cc_ref cc_pad(struct cc_graph *g, cc_ref a, const int64_t *pairs)
{
    return cc_uop(g, CC_PAD, CC_DT_VOID, 1, &a, 2u * a->ndim, pairs, NULL);
}

cc_ref cc_shrink(struct cc_graph *g, cc_ref a, const int64_t *pairs)
{
    return cc_uop(g, CC_SHRINK, CC_DT_VOID, 1, &a, 2u * a->ndim, pairs, NULL);
}

cc_ref cc_flip(struct cc_graph *g, cc_ref a, unsigned n_axes, const int64_t *axes)
{
    return cc_uop(g, CC_FLIP, CC_DT_VOID, 1, &a, n_axes, axes, NULL);
}

static cc_ref with_head(struct cc_graph *g, enum cc_op op, cc_ref head, size_t n,
                        const cc_ref *rest)
{
    cc_ref *src = cc_arena_alloc(&g->arena, (n + 1) * sizeof *src);
    if (!src)
        return cc_fail(g, RD_E_NOMEM, "out of memory");
    src[0] = head;
    memcpy(src + 1, rest, n * sizeof *src);
    return cc_uop(g, op, CC_DT_VOID, n + 1, src, 0, NULL, NULL);
}

cc_ref cc_index(struct cc_graph *g, cc_ref view, size_t n, const cc_ref *index)
{
    return n == 0 ? view : with_head(g, CC_INDEX, view, n, index);
}

cc_ref cc_reduce(struct cc_graph *g, enum cc_op op, cc_ref a, unsigned n_axes,
                 const int64_t *axes)
{
    int64_t arg[1 + CC_MAX_DIMS] = {op};
    unsigned n = n_axes < CC_MAX_DIMS ? n_axes : CC_MAX_DIMS;
    memcpy(arg + 1, axes, n * sizeof *arg);
    return cc_uop(g, CC_REDUCE, CC_DT_VOID, 1, &a, 1 + n, arg, NULL);
}

cc_ref cc_store(struct cc_graph *g, cc_ref view, cc_ref value)
{
    return cc_alu2(g, CC_STORE, view, value);
}

cc_ref cc_after(struct cc_graph *g, cc_ref a, cc_ref dep)
{
    return cc_alu2(g, CC_AFTER, a, dep);
}

cc_ref cc_end(struct cc_graph *g, cc_ref a, size_t n, const cc_ref *ranges)
{
    return n == 0 ? a : with_head(g, CC_END, a, n, ranges);
}

cc_ref cc_group(struct cc_graph *g, size_t n, const cc_ref *src)
{
    return cc_uop(g, CC_GROUP, CC_DT_VOID, n, src, 0, NULL, NULL);
}

cc_ref cc_barrier(struct cc_graph *g, cc_ref after)
{
    return cc_uop(g, CC_BARRIER, CC_DT_VOID, 1, &after, 0, NULL, NULL);
}

cc_ref cc_sink(struct cc_graph *g, size_t n, const cc_ref *src, const char *name)
{
    return cc_uop(g, CC_SINK, CC_DT_VOID, n, src, 0, NULL, name);
}
