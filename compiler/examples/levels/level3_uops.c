/* level3_uops.c: the sum by a kernel written in UOps, for 32 compute units.
 *
 * ../sum.c is the kernel: change it there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "examples.h"
#include "level.h"

static rd_status uop_sum(struct level *l, struct cc_tensor **sum)
{
    static const int64_t units = 32;
    struct cc_tensor *parts;
    rd_status st = cc_tensor_from(l->c, CC_DT_F32, 1, &units, NULL, &parts);
    if (st == RD_OK)
        st = cc_tensor_custom(l->c, example_sum(l->g, l->n), 2,
                              (struct cc_tensor *[]){parts, l->data});
    if (st != RD_OK)
        return st;
    return cc_tensor_new(l->c, cc_t_sum(l->g, cc_tensor_ref(parts), 0, false), sum);
}

int main(int argc, char **argv)
{
    return level_main(argc, argv, "level 3, a kernel in UOps", uop_sum);
}
