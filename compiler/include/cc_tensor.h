/* cc_tensor.h: lazy tensors: expressions, kernels made of them, running those.
 *
 * An expression is a node with a shape; cc_t_* build them with numpy's rules of
 * broadcasting and dtypes that grow (bool, integers, floats). Nothing runs until
 * cc_realize: it splits the expressions into kernels (cc_kernelize), hands each to the
 * runner, and replaces every tensor by its memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_TENSOR_H
#define RD_CC_TENSOR_H

#include "cc.h"
#include "cc_opt.h"

/* ---- expressions ---- */

cc_ref cc_t_full(struct cc_graph *g, enum cc_dtype dtype, unsigned ndim,
                 const int64_t *shape, double value);
/* 0, 1, 2, ... in row-major order, i32. */
cc_ref cc_t_iota(struct cc_graph *g, unsigned ndim, const int64_t *shape);
/* op: ADD SUB MUL FDIV IDIV MOD MAX POW AND OR XOR SHL SHR CMPLT CMPEQ CMPNE. FDIV of
 * integers divides floats. */
cc_ref cc_t_binary(struct cc_graph *g, enum cc_op op, cc_ref a, cc_ref b);
/* op: NEG EXP2 LOG2 SIN SQRT RECIP TRUNC; integers become f32 where needed. */
cc_ref cc_t_unary(struct cc_graph *g, enum cc_op op, cc_ref a);
cc_ref cc_t_where(struct cc_graph *g, cc_ref cond, cc_ref a, cc_ref b);
cc_ref cc_t_not(struct cc_graph *g, cc_ref a);
cc_ref cc_t_exp(struct cc_graph *g, cc_ref a);
cc_ref cc_t_log(struct cc_graph *g, cc_ref a);
cc_ref cc_t_relu(struct cc_graph *g, cc_ref a);
cc_ref cc_t_sigmoid(struct cc_graph *g, cc_ref a);
cc_ref cc_t_tanh(struct cc_graph *g, cc_ref a);
/* To a shape by adding axes in front and repeating axes of size 1. */
cc_ref cc_t_broadcast(struct cc_graph *g, cc_ref a, unsigned ndim,
                      const int64_t *shape);
/* axes: bit per axis, 0 for all. Narrow types are summed in f32 or i32. */
cc_ref cc_t_sum(struct cc_graph *g, cc_ref a, unsigned axes, bool keep);
cc_ref cc_t_prod(struct cc_graph *g, cc_ref a, unsigned axes, bool keep);
cc_ref cc_t_max(struct cc_graph *g, cc_ref a, unsigned axes, bool keep);
cc_ref cc_t_min(struct cc_graph *g, cc_ref a, unsigned axes, bool keep);
cc_ref cc_t_mean(struct cc_graph *g, cc_ref a, unsigned axes, bool keep);
/* Swap the last two axes. */
cc_ref cc_t_transpose(struct cc_graph *g, cc_ref a);
/* (..., m, k) x (..., k, n), leading axes broadcast; f16 accumulates in f32. */
cc_ref cc_t_matmul(struct cc_graph *g, cc_ref a, cc_ref b);
cc_ref cc_t_softmax(struct cc_graph *g, cc_ref a, unsigned axis);
/* Uniform in [0, 1), and normal; f32. The same seed gives the same numbers. */
cc_ref cc_t_rand(struct cc_graph *g, unsigned ndim, const int64_t *shape,
                 uint64_t seed);
cc_ref cc_t_randn(struct cc_graph *g, unsigned ndim, const int64_t *shape,
                  uint64_t seed);
cc_ref cc_t_concat(struct cc_graph *g, cc_ref a, cc_ref b, unsigned axis);

/* ---- made of the others: tensor/nn.c ---- */

cc_ref cc_t_floor(struct cc_graph *g, cc_ref a);
cc_ref cc_t_ceil(struct cc_graph *g, cc_ref a);
/* Halves to even. */
cc_ref cc_t_round(struct cc_graph *g, cc_ref a);
cc_ref cc_t_abs(struct cc_graph *g, cc_ref a);
cc_ref cc_t_sign(struct cc_graph *g, cc_ref a);
cc_ref cc_t_clamp(struct cc_graph *g, cc_ref a, double least, double most);
cc_ref cc_t_cos(struct cc_graph *g, cc_ref a);
cc_ref cc_t_gelu(struct cc_graph *g, cc_ref a);
/* Where the first of the largest (smallest) is, i32. */
cc_ref cc_t_argmax(struct cc_graph *g, cc_ref a, unsigned axis, bool keep);
cc_ref cc_t_argmin(struct cc_graph *g, cc_ref a, unsigned axis, bool keep);
/* A new last axis of bools: true where it equals the index. */
cc_ref cc_t_one_hot(struct cc_graph *g, cc_ref index, int64_t classes);
/* Rows of a table (n, m) by index (k): (k, m); rows outside are 0. */
cc_ref cc_t_rows(struct cc_graph *g, cc_ref table, cc_ref index);
/* Zeros above the diagonal of the last two axes. */
cc_ref cc_t_tril(struct cc_graph *g, cc_ref a);
/* An axis several times after itself. */
cc_ref cc_t_repeat(struct cc_graph *g, cc_ref a, unsigned axis, int64_t times);

/* Windows over the last two axes; 0 for stride and dilation is 1. */
struct cc_window {
    int64_t size[2], stride[2], dilation[2], pad[2];
};
/* (.., y, x) to (.., windows down, windows across, size y, size x); padded with 0 */
cc_ref cc_t_windows(struct cc_graph *g, cc_ref a, const struct cc_window *w);
/* (n, c, y, x) with filters (o, c, ky, kx); w->size is theirs. */
cc_ref cc_t_conv2d(struct cc_graph *g, cc_ref x, cc_ref weight,
                   const struct cc_window *w);
cc_ref cc_t_max_pool(struct cc_graph *g, cc_ref x, const struct cc_window *w);
cc_ref cc_t_avg_pool(struct cc_graph *g, cc_ref x, const struct cc_window *w);
cc_ref cc_t_cumsum(struct cc_graph *g, cc_ref a, unsigned axis);
/* Of all elements: divided by their number. */
cc_ref cc_t_var(struct cc_graph *g, cc_ref a, unsigned axes, bool keep);
cc_ref cc_t_layer_norm(struct cc_graph *g, cc_ref a, unsigned axes, double epsilon);
cc_ref cc_t_log_softmax(struct cc_graph *g, cc_ref a, unsigned axis);
/* softmax(q k^T / sqrt(d)) v over the last two axes; causal: row i sees keys 0 .. i */
cc_ref cc_t_attention(struct cc_graph *g, cc_ref q, cc_ref k, cc_ref v, bool causal);
/* Integers from low to high - 1, i32. */
cc_ref cc_t_randint(struct cc_graph *g, unsigned ndim, const int64_t *shape,
                    int64_t low, int64_t high, uint64_t seed);

/* ---- tensors ---- */

struct cc_context; /* opaque: a graph, its memory, its tensors */
struct cc_tensor;  /* opaque: a name for an expression, owned by the context */

/* Run a kernel over host memory. error: 256 bytes */
typedef rd_status cc_run_fn(void *user, const struct cc_prog *p, size_t n_args,
                            const struct cc_arg_buffer *args, char *error);

/* Machine code: a kernel of a code object, and how many work-items to launch. */
struct cc_machine {
    const void *elf;
    size_t bytes;
    const char *kernel;
    uint32_t groups[3], block[3]; /* 0: 1 */
};

/* Where tensors live and kernels run. Memory is the device's own handle; error: 256
 * bytes. New memory is zero. The n memories of a run are the kernel's arguments. */
struct cc_device {
    void *user;
    rd_status (*alloc)(void *user, uint64_t bytes, void **memory, char *error);
    void (*release)(void *user, void *memory);
    rd_status (*write)(void *user, void *memory, const void *data, uint64_t bytes,
                       char *error);
    rd_status (*read)(void *user, void *memory, void *data, uint64_t bytes,
                      char *error);
    rd_status (*run)(void *user, const struct cc_prog *p, size_t n, void *const *memory,
                     char *error);
    /* NULL: it runs no machine code */
    rd_status (*run_code)(void *user, const struct cc_machine *code, size_t n,
                          void *const *memory, char *error);
    /* Run so many times and say how long the fastest took, in ticks of its clock.
     * NULL: it has none */
    rd_status (*measure)(void *user, const struct cc_prog *p, size_t n,
                         void *const *memory, unsigned runs, uint64_t *ticks,
                         char *error);
};

/* Tensors in host memory. run  NULL: the reference interpreter */
RD_CHECKED rd_status cc_context_create(cc_run_fn *run, void *user,
                                       struct cc_context **out);
/* Tensors on a device, which must outlive the context: see gpu/cc_gpu.h. */
RD_CHECKED rd_status cc_context_create_on(const struct cc_device *device,
                                          struct cc_context **out);
void cc_context_destroy(struct cc_context *c);
struct cc_graph *cc_context_graph(struct cc_context *c);
const char *cc_context_error(const struct cc_context *c);
/* Only of a context in host memory. */
void cc_context_set_runner(struct cc_context *c, cc_run_fn *run, void *user);

/* Search for the best form of each kernel before it runs (cc_beam), by its time on the
 * context's device, which must have a clock. */
struct cc_search {
    unsigned width; /* of the beam; 0: no search */
    unsigned runs;  /* of each candidate, the fastest counts; 0: 2, caches are cold at
                       the first */
    /* told of every kernel that was searched; may be NULL */
    void (*report)(void *user, const char *kernel, const struct cc_beam *found);
    void *user;
};
void cc_context_set_search(struct cc_context *c, const struct cc_search *search);

/* Memory with these contents (NULL: zeros). */
RD_CHECKED rd_status cc_tensor_from(struct cc_context *c, enum cc_dtype dtype,
                                    unsigned ndim, const int64_t *shape,
                                    const void *data, struct cc_tensor **out);
/* An expression. */
RD_CHECKED rd_status cc_tensor_new(struct cc_context *c, cc_ref expr,
                                   struct cc_tensor **out);
/* What it is now: an expression; AFTER(BUFFER, KERNEL); or a BUFFER. */
cc_ref cc_tensor_ref(const struct cc_tensor *t);

/* Split the tensors into kernels with explicit buffers. What they were is replaced by
 * AFTER(BUFFER, KERNEL(SINK, buffers...)) in every tensor of the context. Doing it
 * again changes nothing. */
RD_CHECKED rd_status cc_kernelize(struct cc_context *c, size_t n,
                                  struct cc_tensor *const *tensors);
/* Kernelize, run, and replace by BUFFER. */
RD_CHECKED rd_status cc_realize(struct cc_context *c, size_t n,
                                struct cc_tensor *const *tensors);
/* Realize and copy out. bytes must be its size. */
RD_CHECKED rd_status cc_tensor_read(struct cc_context *c, struct cc_tensor *t,
                                    void *data, uint64_t bytes);
/* Machine code as a kernel for cc_tensor_custom; the code object is copied. */
RD_CHECKED rd_status cc_machine_code(struct cc_context *c,
                                     const struct cc_machine *code, cc_ref *program);
/* Run a kernel of one's own: a SINK whose PARAMs are the tensors by slot, or a PROGRAM.
 * The first tensor's memory is what it writes: that tensor becomes AFTER(BUFFER,
 * KERNEL), to be realized like any other. */
RD_CHECKED rd_status cc_tensor_custom(struct cc_context *c, cc_ref kernel, size_t n,
                                      struct cc_tensor *const *tensors);
/* Kernels run so far. */
uint64_t cc_context_runs(const struct cc_context *c);

/* The reference for all of this: every node of the expression computed whole, one after
 * the other, straight from its definition. values: out, one per element, caller frees.
 */
RD_CHECKED rd_status cc_evaluate(struct cc_context *c, cc_ref expr,
                                 union cc_value **values);

#endif
