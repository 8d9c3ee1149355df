/* lower.h: the steps from a kernel's graph to a program.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_LOWER_H
#define RD_CC_LOWER_H

#include "graph.h"

/* Movement, shaped stores and fragments become scalar LOADs and STOREs inside ranges. A
 * kernel without GLOBAL or LOCAL axes gets them from the shape of its stores. */
cc_ref cc_lower_index(struct cc_graph *g, cc_ref sink);

/* The same, but a kernel without axes gets one GLOBAL range for each axis of its store;
 * others are refused. */
cc_ref cc_lower_axes(struct cc_graph *g, cc_ref sink);

/* REDUCE over ranges becomes a loop that adds to a register. */
cc_ref cc_lower_reduce(struct cc_graph *g, cc_ref sink);

/* Stores whose address does not depend on the lane are done by lane 0; GLOBAL, LOCAL
 * and WARP ranges become gidx0 and lidx0. */
cc_ref cc_lower_dims(struct cc_graph *g, cc_ref sink);

/* What only few targets know, in terms of what all do: arithmetic of narrow types,
 * POW, THREEFRY. */
cc_ref cc_lower_ops(struct cc_graph *g, cc_ref sink);

/* The node in terms of simpler ones; NULL if it is one that targets have. */
cc_ref cc_decompose(struct cc_graph *g, cc_ref n);

/* op of head and the rest; head itself if there is none. */
cc_ref cc_tail(struct cc_graph *g, enum cc_op op, cc_ref head, uint32_t n,
               const cc_ref *rest);

/* The ranges that a node is inside of, outermost id first. */
struct cc_live {
    uint32_t n;
    cc_ref range[];
};
/* memo keeps them, in the graph's arena; NULL if out of memory. */
const struct cc_live *cc_live(struct cc_graph *g, struct cc_map *memo, cc_ref n);
bool cc_live_has(const struct cc_live *live, cc_ref range);

/* The rest of cc_linearize, for scalars in ranges. */
struct cc_prog;
RD_CHECKED rd_status cc_linearize_scalar(struct cc_graph *g, cc_ref sink,
                                         struct cc_prog **out);

#endif
