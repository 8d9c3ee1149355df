/* choose.c: the form of a kernel that nobody searches for.
 *
 * One rule: a reduction to few elements is shared by the work-items of a workgroup per
 * element, because else most of the chip has nothing to do. Knows no device; what a
 * choice means is opt.c's.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "choose.h"
#include "opt.h"

#define FEW   1024 /* elements of output */
#define LONG  64   /* steps of the reduction */
#define LANES 256

/* Exactly one reduction, of values that work-items can exchange, and axes that are
 * still to be chosen. */
static bool is_candidate(cc_ref sink)
{
    cc_ref *nodes;
    uint32_t count, reductions = 0;
    bool fits = sink->op == CC_SINK && sink->n_src == 1 &&
                sink->src[0]->op == CC_STORE && sink->src[0]->n_src == 2;
    if (!fits || cc_toposort(sink, &nodes, &count) != RD_OK)
        return false;
    for (uint32_t i = 0; i < count && fits; i++) {
        cc_ref n = nodes[i];
        reductions += n->op == CC_REDUCE;
        fits = n->op != CC_RANGE && n->op != CC_SPECIAL && n->op != CC_AFTER &&
               n->op != CC_WMMA && n->op != CC_CUSTOM &&
               (n->op != CC_REDUCE || cc_dtype_bytes(n->dtype) == 4);
    }
    free(nodes);
    return fits && reductions == 1;
}

static int64_t power_in(int64_t size)
{
    int64_t lowest = size & -size;
    return lowest < LANES ? lowest : LANES;
}

bool cc_choose(struct cc_graph *g, cc_ref sink, struct cc_opt *opt)
{
    struct opt_shape shape;
    int64_t steps = 1, lanes = 1;
    if (!is_candidate(sink) || cc_elements(sink->src[0]->src[0]) > FEW ||
        !opt_shape_of(g, sink, &shape))
        return false;
    for (unsigned i = 0; i < shape.n_axes; i++) {
        if (i < shape.n_out)
            continue;
        steps *= shape.size[i];
        if (power_in(shape.size[i]) <= lanes)
            continue;
        lanes = power_in(shape.size[i]);
        *opt = (struct cc_opt){CC_OPT_GROUP, i - shape.n_out, lanes};
    }
    return lanes >= 8 && steps >= LONG;
}
