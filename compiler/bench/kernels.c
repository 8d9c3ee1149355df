/* kernels.c: the compiler's side of cc_bench.h.
 *
 * What each computes, and how it is cut up, is what the file of the same name in OpenCL
 * C says. Knows nothing of how it is measured.
 * SPDX-License-Identifier: MIT
 */
#include "cc_bench.h"

#include <math.h>

#include "cc_tensor.h"
#include "examples.h"
#include "opencl.inc"

#define SHAPE(...)                                                                     \
    (const int64_t[])                                                                  \
    {                                                                                  \
        __VA_ARGS__                                                                    \
    }

#define SIDE  1024 /* of matrices, and softmax's rows */
#define PARTS 256  /* sums */
#define PART  16384
#define HEADS 4
#define ROWS  256 /* of a head */
#define DEPTH 64

const char *const cc_bench_lanes_h = text_lanes;

static cc_ref stored(struct cc_graph *g, cc_ref out, cc_ref value, const char *name)
{
    cc_ref st = cc_store(g, out, value);
    return cc_sink(g, 1, &st, name);
}

static cc_ref make_sum(struct cc_graph *g)
{
    cc_ref in = cc_param(g, CC_DT_F32, 1, 2, SHAPE(PARTS, PART));
    return stored(g, cc_param(g, CC_DT_F32, 0, 1, SHAPE(PARTS)),
                  cc_reduce(g, CC_ADD, in, 1, SHAPE(1)), "sum");
}

static cc_ref make_matmul_f32(struct cc_graph *g)
{
    cc_ref a = cc_param(g, CC_DT_F32, 1, 2, SHAPE(SIDE, SIDE));
    cc_ref b = cc_param(g, CC_DT_F32, 2, 2, SHAPE(SIDE, SIDE));
    return stored(g, cc_param(g, CC_DT_F32, 0, 2, SHAPE(SIDE, SIDE)),
                  cc_t_matmul(g, a, b), "matmul_f32");
}

static cc_ref make_small(struct cc_graph *g)
{
    cc_ref a = cc_param(g, CC_DT_F32, 1, 2, SHAPE(128, 64));
    cc_ref b = cc_param(g, CC_DT_F32, 2, 2, SHAPE(64, 128));
    return stored(g, cc_param(g, CC_DT_F32, 0, 2, SHAPE(128, 128)),
                  cc_t_matmul(g, a, b), "small");
}

/* f16 products summed in f32; the second matrix is given transposed. */
static cc_ref make_matmul_f16(struct cc_graph *g)
{
    cc_ref a = cc_param(g, CC_DT_F16, 1, 2, SHAPE(SIDE, SIDE));
    cc_ref b = cc_param(g, CC_DT_F16, 2, 2, SHAPE(SIDE, SIDE));
    a = cc_reshape(g, cc_cast(g, a, CC_DT_F32), 3, SHAPE(SIDE, 1, SIDE));
    b = cc_reshape(g, cc_cast(g, b, CC_DT_F32), 3, SHAPE(1, SIDE, SIDE));
    cc_ref p = cc_t_binary(g, CC_MUL, a, b);
    return stored(g, cc_param(g, CC_DT_F32, 0, 2, SHAPE(SIDE, SIDE)),
                  cc_reduce(g, CC_ADD, p, 1, SHAPE(2)), "matmul_f16");
}

/* ---- softmax: a wave for each row ---- */

struct softmax {
    struct cc_graph *g;
    cc_ref lane, x;
};

#define EACH (SIDE / 32) /* elements per lane */

static cc_ref one_register(struct cc_graph *g, unsigned slot)
{
    return cc_buffer(g, CC_DT_F32, CC_SPACE_REG, slot, 1, SHAPE(1));
}

/* Fold the registers of a lane, then those of all lanes. */
static cc_ref fold(struct softmax *s, enum cc_op op, unsigned slot, double neutral)
{
    struct cc_graph *g = s->g;
    cc_ref zero = cc_const_int(g, CC_DT_I32, 0);
    cc_ref acc = one_register(g, slot);
    acc = cc_after(g, acc, cc_store(g, acc, cc_const_float(g, CC_DT_F32, neutral)));
    cc_ref i = cc_range(g, EACH, (int)slot, CC_AXIS_REDUCE);
    cc_ref old = cc_index(g, cc_after(g, acc, i), 1, &zero);
    cc_ref st = cc_store(g, cc_index(g, acc, 1, &zero),
                         cc_alu2(g, op, old, cc_index(g, s->x, 1, &i)));
    cc_ref v = cc_index(g, cc_after(g, acc, cc_end(g, st, 1, &i)), 1, &zero);
    for (int64_t step = 16; step > 0; step /= 2) {
        cc_ref from = cc_alu2(g, CC_XOR, s->lane, cc_const_int(g, CC_DT_I32, step));
        from = cc_alu2(g, CC_MUL, from, cc_const_int(g, CC_DT_I32, 4));
        v = cc_alu2(g, op, v,
                    cc_uop(g, CC_CUSTOM, CC_DT_F32, 2, (cc_ref[]){from, v}, 0, NULL,
                           "ds_bpermute"));
    }
    return v;
}

/* The elements of a row that a lane has: four neighbours out of every 128. */
static cc_ref mine(struct softmax *s, unsigned slot, cc_ref group, cc_ref wave)
{
    cc_ref p = cc_param(s->g, CC_DT_F32, slot, 2, SHAPE(SIDE, SIDE));
    p = cc_reshape(s->g, p, 5, SHAPE(SIDE / 4, 4, EACH / 4, 32, 4));
    p = cc_permute(s->g, p, 5, SHAPE(0, 1, 3, 2, 4));
    p = cc_reshape(s->g, p, 4, SHAPE(SIDE / 4, 4, 32, EACH));
    return cc_index(s->g, p, 3, (cc_ref[]){group, wave, s->lane});
}

static cc_ref make_softmax(struct cc_graph *g)
{
    struct softmax s = {.g = g};
    cc_ref group = cc_range(g, SIDE / 4, 0, CC_AXIS_GLOBAL);
    cc_ref wave = cc_range(g, 4, 1, CC_AXIS_LOCAL);
    s.lane = cc_range(g, 32, 2, CC_AXIS_WARP);
    cc_ref x = cc_buffer(g, CC_DT_F32, CC_SPACE_REG, 10, 1, SHAPE(EACH));
    s.x = x = cc_after(g, x, cc_store(g, x, mine(&s, 1, group, wave)));
    cc_ref top = fold(&s, CC_MAX, 11, -INFINITY);
    cc_ref e = cc_alu2(g, CC_MUL, cc_alu2(g, CC_SUB, x, top),
                       cc_const_float(g, CC_DT_F32, 1.4426950408889634));
    s.x = x = cc_after(g, x, cc_store(g, x, cc_alu1(g, CC_EXP2, e)));
    cc_ref scale = cc_alu1(g, CC_RECIP, fold(&s, CC_ADD, 12, 0));
    cc_ref st = cc_store(g, mine(&s, 0, group, wave), cc_alu2(g, CC_MUL, x, scale));
    st = cc_end(g, st, 3, (cc_ref[]){s.lane, wave, group});
    return cc_sink(g, 1, &st, "softmax");
}

static cc_ref make_flash(struct cc_graph *g)
{
    return example_flash_attention(g, HEADS, ROWS, DEPTH);
}

/* ---- all of them ---- */

#define F16(n) {CC_DT_F16, n}
#define F32(n) {CC_DT_F32, n}
#define QKV    (HEADS * ROWS * DEPTH)

const struct cc_bench_kernel cc_bench_kernels[] = {
    {.name = "sum",
     .make = make_sum,
     .n_opts = 2,
     .opts = {{CC_OPT_GROUP, 0, 256}, {CC_OPT_UNROLL, 0, 4}},
     .n_args = 2,
     .arg = {F32(PARTS), F32(PARTS *PART)},
     .opencl = text_sum,
     .opencl_groups = PARTS,
     .opencl_block = 256,
     .bound = 1e-4},
    {.name = "matmul_f32",
     .make = make_matmul_f32,
     .n_opts = 5,
     .opts = {{CC_OPT_LOCAL, 0, 16},
              {CC_OPT_LOCAL, 1, 16},
              {CC_OPT_UPCAST, 0, 4},
              {CC_OPT_UPCAST, 1, 4},
              {CC_OPT_UNROLL, 0, 4}},
     .n_args = 3,
     .arg = {F32(SIDE * SIDE), F32(SIDE *SIDE), F32(SIDE *SIDE)},
     .opencl = text_matmul_f32,
     .opencl_groups = SIDE / 64 * SIDE / 64,
     .opencl_block = 256,
     .bound = 1e-4},
    {.name = "matmul_f16",
     .make = make_matmul_f16,
     .n_opts = 5,
     .opts = {{CC_OPT_TC, 0, 1},
              {CC_OPT_LOCAL, 0, 2},
              {CC_OPT_LOCAL, 1, 2},
              {CC_OPT_UPCAST, 0, 2},
              {CC_OPT_UPCAST, 1, 4}},
     .n_args = 3,
     .arg = {F32(SIDE * SIDE), F16(SIDE *SIDE), F16(SIDE *SIDE)},
     .opencl = text_matmul_f16,
     .opencl_groups = SIDE / 64 * SIDE / 128,
     .opencl_block = 128,
     .bound = 1e-4},
    {.name = "softmax",
     .make = make_softmax,
     .n_args = 2,
     .arg = {F32(SIDE * SIDE), F32(SIDE *SIDE)},
     .opencl = text_softmax,
     .opencl_groups = SIDE / 4,
     .opencl_block = 128,
     .bound = 1e-5},
    {.name = "flash_attention",
     .make = make_flash,
     .n_args = 4,
     .arg = {F32(QKV), F16(QKV), F16(QKV), F16(QKV)},
     .opencl = text_flash_attention,
     .opencl_groups = HEADS * ROWS / 64,
     .opencl_block = 128,
     .bound = 1e-3},
};
const size_t cc_bench_count = sizeof cc_bench_kernels / sizeof cc_bench_kernels[0];

const struct cc_bench_kernel cc_bench_small = {
    .name = "small",
    .make = make_small,
    .n_args = 3,
    .arg = {F32(128 * 128), F32(128 * 64), F32(64 * 128)}};

cc_ref cc_bench_chain(struct cc_graph *g, unsigned n)
{
    static const int64_t size = 4096;
    cc_ref x = cc_param(g, CC_DT_F32, 1, 1, &size), y = x;
    for (unsigned i = 0; i < n; i++)
        y = cc_alu2(g, i % 3 ? CC_ADD : CC_MUL, y,
                    i % 2 ? x : cc_const_float(g, CC_DT_F32, 1 + i * 1e-6));
    return stored(g, cc_param(g, CC_DT_F32, 0, 1, &size), y, "chain");
}
