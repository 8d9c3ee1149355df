/* cc.h: the compiler: UOp graphs, tensors, linear programs, their forms in C and RDNA3.
 *
 * A graph owns its nodes; they are immutable, hash-consed and live as long as the
 * graph. Constructors never return NULL: a node that breaks a rule becomes the graph's
 * INVALID node, so does everything built on it, and cc_graph_status() tells the first
 * mistake, naming the node. Nothing here runs on a GPU or knows an emulator.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_H
#define RD_CC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum cc_op {
#define OP(name, min, max, args, class_, doc) CC_##name,
#include "uop.def"
#undef OP
    CC_OP_COUNT
};

/* name in text, bytes, name in C */
#define CC_DTYPE_LIST(X)                                                               \
    X(VOID, "void", 0, "void")                                                         \
    X(BOOL, "bool", 1, "bool")                                                         \
    X(I8, "i8", 1, "signed char")                                                      \
    X(U8, "u8", 1, "unsigned char")                                                    \
    X(I16, "i16", 2, "short")                                                          \
    X(U16, "u16", 2, "unsigned short")                                                 \
    X(I32, "i32", 4, "int")                                                            \
    X(U32, "u32", 4, "unsigned int")                                                   \
    X(I64, "i64", 8, "long")                                                           \
    X(U64, "u64", 8, "unsigned long")                                                  \
    X(F16, "f16", 2, "half")                                                           \
    X(BF16, "bf16", 2, "unsigned short")                                               \
    X(F32, "f32", 4, "float")                                                          \
    X(F64, "f64", 8, "double")

enum cc_dtype {
#define X(name, text, bytes, c) CC_DT_##name,
    CC_DTYPE_LIST(X)
#undef X
        CC_DT_COUNT
};

enum cc_axis {
    CC_AXIS_GLOBAL, /* workgroups */
    CC_AXIS_LOCAL,  /* waves and lanes of a workgroup */
    CC_AXIS_WARP,   /* lanes of a wave */
    CC_AXIS_LOOP,
    CC_AXIS_REDUCE,
    CC_AXIS_UNROLL, /* a reduction axis written out */
    CC_AXIS_UPCAST, /* an output axis written out: registers side by side */
    CC_AXIS_COUNT
};

enum cc_space {
    CC_SPACE_GLOBAL,
    CC_SPACE_LOCAL, /* LDS, one per workgroup */
    CC_SPACE_REG,   /* one per lane */
    CC_SPACE_COUNT
};

/* A scalar of any dtype: integers extended to 64 bits, floats as double. */
union cc_value {
    int64_t i;
    uint64_t u;
    double f;
};

#define CC_MAX_DIMS 16

struct cc_uop {
    uint8_t op, dtype; /* enum cc_op, enum cc_dtype */
    uint8_t ndim;
    uint32_t n_src, n_arg;
    uint32_t id; /* order of creation: sources come first */
    const struct cc_uop *const *src;
    const int64_t *arg;
    const char *name; /* never NULL */
    const int64_t *shape;
    int64_t vmin, vmax; /* bounds of an integer or bool; else everything */
};

/* A node of some graph. */
typedef const struct cc_uop *cc_ref;

struct cc_graph; /* opaque */

RD_CHECKED rd_status cc_graph_create(struct cc_graph **out);
void cc_graph_destroy(struct cc_graph *g);
/* RD_OK, or what the first mistake was. */
rd_status cc_graph_status(const struct cc_graph *g);
/* Its text, "" if none. */
const char *cc_graph_error(const struct cc_graph *g);
/* Nodes so far. */
uint32_t cc_graph_count(const struct cc_graph *g);

const char *cc_op_name(enum cc_op op);
const char *cc_dtype_name(enum cc_dtype dtype);
unsigned cc_dtype_bytes(enum cc_dtype dtype);
bool cc_is_float(enum cc_dtype dtype);
bool cc_is_unsigned(enum cc_dtype dtype); /* bool too */

/* ---- nodes ---- */

/* Any node. dtype CC_DT_VOID asks for the derived one where there is one.
 * name may be NULL. */
cc_ref cc_uop(struct cc_graph *g, enum cc_op op, enum cc_dtype dtype, size_t n_src,
              const cc_ref *src, size_t n_arg, const int64_t *arg, const char *name);

cc_ref cc_const_int(struct cc_graph *g, enum cc_dtype dtype, int64_t value);
cc_ref cc_const_float(struct cc_graph *g, enum cc_dtype dtype, double value);
cc_ref cc_param(struct cc_graph *g, enum cc_dtype dtype, unsigned slot, unsigned ndim,
                const int64_t *shape);
cc_ref cc_buffer(struct cc_graph *g, enum cc_dtype dtype, enum cc_space space,
                 unsigned slot, unsigned ndim, const int64_t *shape);
cc_ref cc_range(struct cc_graph *g, int64_t size, int id, enum cc_axis axis);
cc_ref cc_alu1(struct cc_graph *g, enum cc_op op, cc_ref a);
cc_ref cc_alu2(struct cc_graph *g, enum cc_op op, cc_ref a, cc_ref b);
cc_ref cc_where(struct cc_graph *g, cc_ref cond, cc_ref a, cc_ref b);
cc_ref cc_cast(struct cc_graph *g, cc_ref a, enum cc_dtype dtype);
cc_ref cc_bitcast(struct cc_graph *g, cc_ref a, enum cc_dtype dtype);
cc_ref cc_reshape(struct cc_graph *g, cc_ref a, unsigned ndim, const int64_t *shape);
cc_ref cc_expand(struct cc_graph *g, cc_ref a, unsigned ndim, const int64_t *shape);
cc_ref cc_permute(struct cc_graph *g, cc_ref a, unsigned ndim, const int64_t *order);
/* pairs: 2 * ndim numbers */
cc_ref cc_pad(struct cc_graph *g, cc_ref a, const int64_t *pairs);
cc_ref cc_shrink(struct cc_graph *g, cc_ref a, const int64_t *pairs);
cc_ref cc_flip(struct cc_graph *g, cc_ref a, unsigned n_axes, const int64_t *axes);
cc_ref cc_index(struct cc_graph *g, cc_ref view, size_t n, const cc_ref *index);
cc_ref cc_reduce(struct cc_graph *g, enum cc_op op, cc_ref a, unsigned n_axes,
                 const int64_t *axes);
cc_ref cc_store(struct cc_graph *g, cc_ref view, cc_ref value);
cc_ref cc_after(struct cc_graph *g, cc_ref a, cc_ref dep);
cc_ref cc_end(struct cc_graph *g, cc_ref a, size_t n, const cc_ref *ranges);
cc_ref cc_group(struct cc_graph *g, size_t n, const cc_ref *src);
cc_ref cc_barrier(struct cc_graph *g, cc_ref after);
cc_ref cc_sink(struct cc_graph *g, size_t n, const cc_ref *src, const char *name);

/* A kernel's graph with every index and value in its simplest known form: constants
 * folded, bounds used, sums of products in one order. */
cc_ref cc_simplify(struct cc_graph *g, cc_ref root);

/* Check what no single node shows: SINK's sources are side effects, ranges are ended
 * once and not used after, slots agree in dtype and shape, limits of LDS hold.
 * Returns RD_E_INVALID; the graph's error names the node. */
RD_CHECKED rd_status cc_verify(struct cc_graph *g, cc_ref root);

/* ---- text ---- */

/* One line per node, sources first: "%4 = ADD f32 %2 %3", arguments in brackets, name
 * in quotes. Caller frees. */
RD_CHECKED rd_status cc_print(struct cc_graph *g, cc_ref root, char **text);

/* Parse what cc_print writes; the last line is the root. Ids may be any word. Old names
 * of operations are understood. Errors name the line in the graph's error. */
RD_CHECKED rd_status cc_parse(struct cc_graph *g, const char *text, size_t len,
                              cc_ref *root);

/* ---- linear programs ---- */

/* One operation of a program: sources are earlier operations. */
struct cc_inst {
    uint8_t op, dtype;
    uint32_t n_src, n_arg;
    const uint32_t *src;
    const int64_t *arg;
    const char *name;
};

struct cc_prog; /* opaque */

RD_CHECKED rd_status cc_prog_create(const char *name, struct cc_prog **out);
void cc_prog_destroy(struct cc_prog *p);
uint32_t cc_prog_count(const struct cc_prog *p);
const struct cc_inst *cc_prog_inst(const struct cc_prog *p, uint32_t index);
const char *cc_prog_name(const struct cc_prog *p);
const char *cc_prog_error(const struct cc_prog *p);
rd_status cc_prog_status(const struct cc_prog *p);

/* Append; the result is the index of the new operation. Mistakes stick: see
 * cc_prog_status. PARAM's name "" becomes data<slot>. */
uint32_t cc_prog_add(struct cc_prog *p, enum cc_op op, enum cc_dtype dtype,
                     size_t n_src, const uint32_t *src, size_t n_arg,
                     const int64_t *arg, const char *name);
uint32_t cc_prog_const(struct cc_prog *p, enum cc_dtype dtype, union cc_value value);

/* Work-items: how many groups and how many in each, from the SPECIALs. */
void cc_prog_launch(const struct cc_prog *p, uint32_t groups[3], uint32_t block[3]);

/* The kernel as a program: movement and shaped stores to loops, reductions to
 * accumulators, global and local axes to gidx0 and lidx0, side effects in order,
 * barriers where LDS needs them. On failure the graph's error names the node. */
RD_CHECKED rd_status cc_linearize(struct cc_graph *g, cc_ref sink,
                                  struct cc_prog **out);

RD_CHECKED rd_status cc_prog_print(const struct cc_prog *p, char **text);
/* error: 256 bytes */
RD_CHECKED rd_status cc_prog_parse(const char *text, size_t len, struct cc_prog **out,
                                   char *error);

struct cc_arg_buffer {
    void *data;
    uint64_t bytes;
};

/* Run it on the CPU: lanes of a workgroup in lockstep, groups one after the other.
 *
 * args   by slot
 * error  256 bytes, what went wrong: an index out of bounds names the operation
 */
RD_CHECKED rd_status cc_interpret(const struct cc_prog *p, size_t n_args,
                                  const struct cc_arg_buffer *args, char *error);

enum cc_style {
    CC_STYLE_C,      /* one function over all work-items: void f(void **args) */
    CC_STYLE_OPENCL, /* OpenCL C */
    CC_STYLE_HIP,
    CC_STYLE_METAL, /* the language of the IR's first documentation */
};

/* Source text; caller frees. error: 256 bytes */
RD_CHECKED rd_status cc_render(const struct cc_prog *p, enum cc_style style,
                               char **text, char *error);

/* The program for gfx1100, wave32, as assembly text with kernel descriptor and
 * metadata; caller frees. Arguments are pointers, eight bytes each, by slot. error: 256
 * bytes, names the operation. */
RD_CHECKED rd_status cc_rdna3(const struct cc_prog *p, char **text, char *error);

#endif
