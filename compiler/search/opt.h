/* opt.h: a kernel while its axes are being cut up.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_OPT_INTERNAL_H
#define RD_CC_OPT_INTERNAL_H

#include "cc_opt.h"
#include "lower.h"

/* index = ((loop * lanes + lane) * copies + copy) * tile + place */
struct opt_axis {
    cc_ref range; /* of the kernel as it was */
    int64_t size, lanes, copies, tile, padded;
    unsigned order;    /* in the grid */
    cc_ref loop, lane; /* ranges, or NULL for size 1 */
    cc_ref copy, place;
    cc_ref index; /* all of it, as it stands for the moment */
};

struct opt {
    struct cc_graph *g;
    struct opt_axis axis[2 * CC_MAX_DIMS]; /* outputs, then reductions */
    unsigned n_out, n_axes;
    bool product; /* matrices: m, n, k are its axes */
    unsigned m, n, k;
    cc_ref wave_lane;    /* of products */
    cc_ref flat;         /* number of the lane in the workgroup */
    int64_t element;     /* of a fragment, for the moment */
    struct cc_map *memo; /* node -> what it is, for the moment */
    unsigned depth;
};

/* The node with indexes as they stand. */
cc_ref opt_value(struct opt *o, cc_ref n);
/* The same, forgetting what was computed for other indexes. */
cc_ref opt_fresh(struct opt *o, cc_ref n);
/* Set copy and place, and with them the index. */
void opt_place(struct opt *o, unsigned axis, int64_t copy, cc_ref place);

/* Find the axes of a product of f16 matrices; the graph's error says why not. */
bool opt_find_product(struct opt *o, cc_ref sink, unsigned m, unsigned n);
/* One step of it. */
cc_ref opt_product(struct opt *o, cc_ref body);

/* The kernel's axes, as cc_linearize_opts numbers them. */
struct opt_shape {
    unsigned n_out, n_axes;
    int64_t size[2 * CC_MAX_DIMS];
};
/* False: not a kernel to choose for. */
bool opt_shape_of(struct cc_graph *g, cc_ref sink, struct opt_shape *shape);

#endif
