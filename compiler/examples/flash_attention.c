/* flash_attention.c: attention tile by tile, with WMMA, LDS and a running softmax.
 *
 * A workgroup of four waves computes 64 rows of one head; each wave has 16 of them. For
 * every tile of 64 keys: S = Q K^T; the maximum of each row so far; P = exp(S -
 * maximum); what was summed before is scaled to the new maximum; then P V is added. In
 * base 2.
 *
 * Of the fragments of v_wmma_f32_16x16x16_f16, lane l holds row l % 16 of A and column
 * l % 16 of B, 16 values each; element i of C is row 2 i + l / 16, column l % 16. So S,
 * the sums and the statistics of a row live in registers of the lanes with that row, V
 * lies transposed in LDS, and P goes through LDS to become an A fragment.
 * SPDX-License-Identifier: MIT
 */
#include "examples.h"

#include <math.h>

#define TILE  64 /* rows of Q, and keys, at a time */
#define WAVES 4
#define PAD   8 /* halves between rows of LDS: other banks, aligned to 16 bytes */
#define ROWS  8 /* of a lane: elements of a C fragment */
#define KEYS  (TILE / 16)

#define SHAPE(...)                                                                     \
    (const int64_t[])                                                                  \
    {                                                                                  \
        __VA_ARGS__                                                                    \
    }
#define AT(...)                                                                        \
    (const cc_ref[])                                                                   \
    {                                                                                  \
        __VA_ARGS__                                                                    \
    }

struct flash {
    struct cc_graph *g;
    int64_t n, d;
    cc_ref head, block, wave, lane, tile;
    cc_ref lane_m, lane_n, thread;
};

static cc_ref number(struct flash *f, double v)
{
    return cc_const_float(f->g, CC_DT_F32, v);
}

static cc_ref registers(struct flash *f, unsigned slot, int64_t fragments)
{
    return fragments ? cc_buffer(f->g, CC_DT_F32, CC_SPACE_REG, slot, 2,
                                 SHAPE(fragments, ROWS))
                     : cc_buffer(f->g, CC_DT_F32, CC_SPACE_REG, slot, 1, SHAPE(ROWS));
}

/* Memory after storing to it. */
static cc_ref set(struct flash *f, cc_ref memory, cc_ref value)
{
    return cc_after(f->g, memory, cc_store(f->g, memory, value));
}

/* LDS of rows x columns halves; the padding is out of sight. */
static cc_ref lds(struct flash *f, unsigned slot, int64_t rows, int64_t columns)
{
    cc_ref b =
        cc_buffer(f->g, CC_DT_F16, CC_SPACE_LOCAL, slot, 2, SHAPE(rows, columns + PAD));
    return cc_shrink(f->g, b, SHAPE(0, rows, 0, columns));
}

/* Per-row values over all fragments. */
static cc_ref spread(struct flash *f, cc_ref rows, int64_t fragments)
{
    return cc_expand(f->g, cc_reshape(f->g, rows, 2, SHAPE(1, ROWS)), 2,
                     SHAPE(fragments, ROWS));
}

/* Combine the 16 lanes that share rows. */
static cc_ref across_lanes(struct flash *f, enum cc_op op, cc_ref x)
{
    for (int64_t off = 8; off > 0; off /= 2) {
        cc_ref other =
            cc_alu2(f->g, CC_XOR, f->lane, cc_const_int(f->g, CC_DT_I32, off));
        other = cc_alu2(f->g, CC_MUL, other, cc_const_int(f->g, CC_DT_I32, 4));
        cc_ref moved =
            cc_uop(f->g, CC_CUSTOM, CC_DT_F32, 2, AT(other, x), 0, NULL, "ds_bpermute");
        x = cc_alu2(f->g, op, x, moved);
    }
    return x;
}

/* memory[i] = op(memory[i], fragment[j][i]) over all fragments j. */
static cc_ref fold(struct flash *f, enum cc_op op, cc_ref memory, cc_ref fragments,
                   int id)
{
    cc_ref j = cc_range(f->g, KEYS, id, CC_AXIS_REDUCE);
    cc_ref old = cc_after(f->g, memory, j);
    cc_ref st = cc_store(f->g, memory,
                         cc_alu2(f->g, op, old, cc_index(f->g, fragments, 1, &j)));
    return cc_after(f->g, memory, cc_end(f->g, st, 1, &j));
}

/* Copy a tile of 64 x d halves to a view of LDS: each lane eight at a time. */
static cc_ref copy_tile(struct flash *f, cc_ref to, cc_ref from, int id)
{
    const int64_t *shape = SHAPE(TILE * f->d / (8 * 32 * WAVES), 32 * WAVES, 8);
    cc_ref i = cc_range(f->g, shape[0], id, CC_AXIS_LOOP);
    cc_ref dst = cc_index(f->g, cc_reshape(f->g, to, 3, shape), 2, AT(i, f->thread));
    cc_ref src = cc_index(f->g, cc_reshape(f->g, from, 3, shape), 2, AT(i, f->thread));
    return cc_end(f->g, cc_store(f->g, dst, src), 1, &i);
}

/* c[j] += a[k] b[j][k] over k, for the fragments j of c. */
static cc_ref multiply(struct flash *f, cc_ref c, cc_ref a, cc_ref b, int64_t fragments,
                       int64_t depth, int id)
{
    struct cc_graph *g = f->g;
    cc_ref k = cc_range(g, depth, id, CC_AXIS_REDUCE);
    cc_ref j = cc_range(g, fragments, id + 1, CC_AXIS_LOOP);
    cc_ref rows = cc_reshape(g, a, 4, SHAPE(WAVES, 16, depth, 16));
    cc_ref columns = cc_reshape(g, b, 4, SHAPE(fragments, 16, depth, 16));
    cc_ref product = cc_uop(g, CC_WMMA, CC_DT_F32, 3,
                            AT(cc_index(g, rows, 3, AT(f->wave, f->lane_n, k)),
                               cc_index(g, columns, 3, AT(j, f->lane_n, k)),
                               cc_index(g, cc_after(g, c, k), 1, &j)),
                            3, SHAPE(16, 16, 16), NULL);
    cc_ref st = cc_store(g, cc_index(g, c, 1, &j), product);
    return cc_end(g, cc_end(g, st, 1, &j), 1, &k);
}

/* The tile of 64 rows of a (heads, n, d) argument. */
static cc_ref rows_of(struct flash *f, enum cc_dtype dtype, unsigned slot,
                      int64_t heads, cc_ref which)
{
    cc_ref p = cc_param(f->g, dtype, slot, 3, SHAPE(heads, f->n, f->d));
    p = cc_reshape(f->g, p, 4, SHAPE(heads, f->n / TILE, TILE, f->d));
    return cc_index(f->g, p, 2, AT(f->head, which));
}

static void axes(struct flash *f, int64_t heads)
{
    struct cc_graph *g = f->g;
    cc_ref sixteen = cc_const_int(g, CC_DT_I32, 16);
    f->head = cc_range(g, heads, 0, CC_AXIS_GLOBAL);
    f->block = cc_range(g, f->n / TILE, 1, CC_AXIS_GLOBAL);
    f->wave = cc_range(g, WAVES, 2, CC_AXIS_LOCAL);
    f->lane = cc_range(g, 32, -1, CC_AXIS_WARP);
    f->tile = cc_range(g, f->n / TILE, 100, CC_AXIS_REDUCE);
    f->lane_m = cc_alu2(g, CC_IDIV, f->lane, sixteen);
    f->lane_n = cc_alu2(g, CC_MOD, f->lane, sixteen);
    f->thread =
        cc_alu2(g, CC_ADD, cc_alu2(g, CC_MUL, f->wave, cc_const_int(g, CC_DT_I32, 32)),
                f->lane);
}

/* The place in a 64 x columns view of what a lane's C fragments hold: (columns / 16,
 * 8). */
static cc_ref fragment_view(struct flash *f, cc_ref view, int64_t columns)
{
    cc_ref v = cc_reshape(f->g, view, 5, SHAPE(WAVES, ROWS, 2, columns / 16, 16));
    v = cc_permute(f->g, v, 5, SHAPE(0, 2, 4, 3, 1));
    return cc_index(f->g, v, 3, AT(f->wave, f->lane_m, f->lane_n));
}

cc_ref example_flash_attention(struct cc_graph *g, int64_t heads, int64_t n, int64_t d)
{
    struct flash f = {.g = g, .n = n, .d = d};
    int64_t wide = d / 16;
    axes(&f, heads);
    cc_ref o = rows_of(&f, CC_DT_F32, 0, heads, f.block);
    cc_ref q = rows_of(&f, CC_DT_F16, 1, heads, f.block);
    cc_ref k = rows_of(&f, CC_DT_F16, 2, heads, f.tile);
    cc_ref v = rows_of(&f, CC_DT_F16, 3, heads, f.tile);
    cc_ref q_lds = lds(&f, 0, TILE, d), k_lds = lds(&f, 1, TILE, d);
    cc_ref v_lds = lds(&f, 2, d, TILE), p_lds = lds(&f, 3, TILE, TILE);

    cc_ref acc = registers(&f, 10, wide), top = registers(&f, 11, 0);
    cc_ref sum = registers(&f, 12, 0);
    acc = set(&f, acc, number(&f, 0));
    top = set(&f, top, number(&f, -INFINITY));
    sum = set(&f, sum, number(&f, 0));
    cc_ref q_done = copy_tile(&f, q_lds, q, 50);

    /* tiles of keys and values; V turned over */
    cc_ref k_done = copy_tile(&f, k_lds, k, 101);
    cc_ref v_done = copy_tile(&f, cc_permute(g, v_lds, 2, SHAPE(1, 0)), v, 102);
    cc_ref ready = cc_barrier(g, cc_group(g, 3, AT(q_done, k_done, v_done)));

    /* S = Q K^T */
    cc_ref s = registers(&f, 13, KEYS);
    s = set(&f, cc_after(g, s, f.tile), number(&f, 0));
    s = cc_after(g, s,
                 multiply(&f, s, cc_after(g, q_lds, ready), cc_after(g, k_lds, ready),
                          KEYS, wide, 110));
    s = set(&f, s,
            cc_alu2(g, CC_MUL, s, number(&f, 1.4426950408889634 / sqrt((double)d))));

    /* the maximum of each row, with those before */
    cc_ref now = registers(&f, 14, 0), scale = registers(&f, 15, 0);
    now = set(&f, cc_after(g, now, f.tile), number(&f, -INFINITY));
    now = fold(&f, CC_MAX, now, s, 120);
    cc_ref before = cc_after(g, top, f.tile);
    now = set(&f, now, cc_alu2(g, CC_MAX, across_lanes(&f, CC_MAX, now), before));
    scale = set(&f, cc_after(g, scale, f.tile),
                cc_alu1(g, CC_EXP2, cc_alu2(g, CC_SUB, before, now)));

    /* P, its sums, and what was before at the new scale */
    s = set(&f, s, cc_alu1(g, CC_EXP2, cc_alu2(g, CC_SUB, s, spread(&f, now, KEYS))));
    cc_ref part = registers(&f, 16, 0);
    part = set(&f, cc_after(g, part, f.tile), number(&f, 0));
    part = fold(&f, CC_ADD, part, s, 130);
    cc_ref old = cc_after(g, sum, f.tile);
    cc_ref sum_done = cc_store(g, old,
                               cc_alu2(g, CC_ADD, cc_alu2(g, CC_MUL, old, scale),
                                       across_lanes(&f, CC_ADD, part)));
    /* the old maximum has been read once the scale is there */
    cc_ref top_done = cc_store(g, cc_after(g, before, scale->src[1]), now);
    cc_ref p_done =
        cc_store(g, fragment_view(&f, p_lds, TILE), cc_cast(g, s, CC_DT_F16));
    old = cc_after(g, acc, f.tile);
    cc_ref scaled = set(&f, old, cc_alu2(g, CC_MUL, old, spread(&f, scale, wide)));

    /* acc += P V */
    cc_ref p_ready = cc_barrier(g, p_done);
    cc_ref acc_done =
        multiply(&f, scaled, cc_after(g, p_lds, p_ready),
                 cc_after(g, cc_after(g, v_lds, ready), p_ready), wide, KEYS, 140);
    cc_ref done =
        cc_end(g, cc_group(g, 3, AT(acc_done, sum_done, top_done)), 1, &f.tile);

    acc = cc_after(g, acc, done);
    sum = cc_after(g, sum, done);
    sum = set(&f, sum, cc_alu1(g, CC_RECIP, sum));
    cc_ref result = cc_alu2(g, CC_MUL, acc, spread(&f, sum, wide));
    cc_ref st = cc_store(g, fragment_view(&f, o, d), result);
    st = cc_end(g, st, 4, AT(f.wave, f.lane, f.block, f.head));
    return cc_sink(g, 1, &st, "flash_attention");
}
