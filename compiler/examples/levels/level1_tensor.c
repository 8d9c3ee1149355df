/* level1_tensor.c: the sum as a tensor expression.
 *
 * kernelize sees one large reduction and makes two kernels of it: work-items that each
 * add a part, and one that adds the parts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "level.h"

static rd_status tensor_sum(struct level *l, struct cc_tensor **sum)
{
    return cc_tensor_new(l->c, cc_t_sum(l->g, cc_tensor_ref(l->data), 0, false), sum);
}

int main(int argc, char **argv)
{
    return level_main(argc, argv, "level 1, a tensor expression", tensor_sum);
}
