/* graph.h: what the compiler's own files know of graphs, beyond cc.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_GRAPH_H
#define RD_CC_GRAPH_H

#include "arena.h"
#include "cc.h"

enum cc_class {
    CC_CLASS_DEF,
    CC_CLASS_MOVE,
    CC_CLASS_UN,
    CC_CLASS_BIN,
    CC_CLASS_CMP,
    CC_CLASS_TERN,
    CC_CLASS_MEM,
    CC_CLASS_FLOW,
    CC_CLASS_MISC,
};

struct cc_op_info {
    const char *name;
    int min_src, max_src;
    const char *args;
    enum cc_class class_;
};

extern const struct cc_op_info cc_ops[CC_OP_COUNT];
extern const char *const cc_axis_names[CC_AXIS_COUNT];
extern const char *const cc_space_names[CC_SPACE_COUNT];

#define CC_ERROR_BYTES 256

struct cc_graph {
    struct cc_arena arena;
    struct cc_uop **slots; /* hash table of all nodes */
    uint32_t *hashes;
    uint32_t cap, count;
    struct cc_uop invalid;
    rd_status status;
    char error[CC_ERROR_BYTES];
    unsigned next_slot;   /* of registers that lowering makes */
    int next_range;       /* ids of ranges that lowering makes */
    uint64_t next_buffer; /* of tensors */
};

/* Record the first mistake; always gives the INVALID node. */
cc_ref cc_fail(struct cc_graph *g, rd_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The node as a message names it: "ADD f32 %12(%3, %4)". */
const char *cc_describe(const struct cc_uop *n, char *text, size_t size);

/* Fill dtype and shape from the rest; RD_E_INVALID with text. shape: CC_MAX_DIMS. */
RD_CHECKED rd_status cc_derive(struct cc_uop *n, int64_t *shape, char *text,
                               size_t size);
/* Fill vmin and vmax. */
void cc_bounds(struct cc_uop *n);

/* A node with the sources replaced. */
cc_ref cc_with_src(struct cc_graph *g, cc_ref n, const cc_ref *src);

/* The node with its sources replaced by what done has for them. */
struct cc_map;
cc_ref cc_rebuild(struct cc_graph *g, cc_ref n, const struct cc_map *done);

/* Apply the rules of rules.c to a node whose sources are simple already. */
cc_ref cc_simplify_node(struct cc_graph *g, cc_ref n);
/* Make a node and simplify it. */
cc_ref cc_s1(struct cc_graph *g, enum cc_op op, cc_ref a);
cc_ref cc_s2(struct cc_graph *g, enum cc_op op, cc_ref a, cc_ref b);
cc_ref cc_s3(struct cc_graph *g, enum cc_op op, cc_ref a, cc_ref b, cc_ref c);

static inline bool cc_is_const(cc_ref n)
{
    return n->op == CC_CONST;
}

static inline union cc_value cc_const_value(cc_ref n)
{
    union cc_value v = {.i = n->arg[0]};
    return v;
}

int64_t cc_elements(cc_ref n);
bool cc_is_int(enum cc_dtype dtype); /* no bool */
bool cc_is_alu(enum cc_op op);       /* elementwise, cast, bitcast */

/* All nodes that root needs, sources first; caller frees. */
RD_CHECKED rd_status cc_toposort(cc_ref root, cc_ref **nodes, uint32_t *count);

/* cc_toposort, but a failure goes to the graph. */
RD_CHECKED rd_status cc_sorted(struct cc_graph *g, cc_ref root, cc_ref **nodes,
                               uint32_t *count);

/* node -> anything, by id. */
struct cc_map {
    const void **at;
    uint32_t cap;
};
const void *cc_map_get(const struct cc_map *m, cc_ref n);
RD_CHECKED rd_status cc_map_set(struct cc_map *m, cc_ref n, const void *value);
void cc_map_free(struct cc_map *m);

/* ---- scalar.c ---- */

/* The value as dtype holds it: wrapped or rounded. */
union cc_value cc_fit(enum cc_dtype dtype, union cc_value v);
/* One elementwise operation; src_dtype is that of source 0 (of source 1 for WHERE). */
union cc_value cc_scalar(enum cc_op op, enum cc_dtype dtype, enum cc_dtype src_dtype,
                         const union cc_value *src);
/* Values from and to memory. */
union cc_value cc_load_scalar(enum cc_dtype dtype, const void *p);
void cc_store_scalar(enum cc_dtype dtype, void *p, union cc_value v);

#endif
