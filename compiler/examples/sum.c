/* sum.c: a reduction in UOps: registers, then LDS, then one store per workgroup.
 * SPDX-License-Identifier: MIT
 */
#include "examples.h"

#define UNITS 32
#define LANES 256

/* total += element, for every element; the register afterwards. */
static cc_ref accumulate(struct cc_graph *g, unsigned slot, cc_ref element, cc_ref loop)
{
    static const int64_t one = 1;
    cc_ref zero = cc_const_int(g, CC_DT_I32, 0);
    cc_ref acc = cc_buffer(g, CC_DT_F32, CC_SPACE_REG, slot, 1, &one);
    acc = cc_after(g, acc, cc_store(g, acc, cc_const_float(g, CC_DT_F32, 0)));
    cc_ref old = cc_index(g, cc_after(g, acc, loop), 1, &zero);
    cc_ref add =
        cc_store(g, cc_index(g, acc, 1, &zero), cc_alu2(g, CC_ADD, old, element));
    return cc_index(g, cc_after(g, acc, cc_end(g, add, 1, &loop)), 1, &zero);
}

cc_ref example_sum(struct cc_graph *g, int64_t n)
{
    const int64_t rounds = n / (UNITS * LANES), lanes = LANES, units = UNITS;
    cc_ref out = cc_param(g, CC_DT_F32, 0, 1, &units);
    cc_ref in = cc_reshape(g, cc_param(g, CC_DT_F32, 1, 1, &n), 3,
                           (int64_t[]){UNITS, rounds, LANES});
    cc_ref unit = cc_range(g, UNITS, 0, CC_AXIS_GLOBAL);
    cc_ref lane = cc_range(g, LANES, 1, CC_AXIS_LOCAL);
    cc_ref loop = cc_range(g, rounds, 2, CC_AXIS_REDUCE);
    cc_ref late = cc_range(g, LANES, 3, CC_AXIS_REDUCE);

    cc_ref mine = cc_index(g, in, 3, (cc_ref[]){unit, loop, lane});
    cc_ref total = accumulate(g, 6, mine, loop);
    cc_ref lds = cc_buffer(g, CC_DT_F32, CC_SPACE_LOCAL, 0, 1, &lanes);
    cc_ref put = cc_store(g, cc_index(g, lds, 1, &lane), total);
    lds = cc_after(g, lds, cc_barrier(g, put));
    total = accumulate(g, 7, cc_index(g, lds, 1, &late), late);
    /* the place does not depend on the lane: lane 0 stores */
    put = cc_store(g, cc_index(g, out, 1, &unit), total);
    put = cc_end(g, put, 2, (cc_ref[]){lane, unit});
    return cc_sink(g, 1, &put, "sum");
}
