/* product.c: sums of products of f16 as products of 16 x 16 matrices.
 *
 * Lane l of a wave holds row l % 16 of one fragment and column l % 16 of the other;
 * element i of the result is row 2 i + l / 16, column l % 16. Knows no target beyond
 * that.
 *
 * SPDX-License-Identifier: MIT
 */
#include "opt.h"

#include <stdlib.h>

static bool depends(cc_ref n, cc_ref range, unsigned depth)
{
    if (n == range || depth == 0)
        return true;
    for (uint32_t i = 0; i < n->n_src; i++)
        if (depends(n->src[i], range, depth - 1))
            return true;
    return false;
}

/* The f16 behind a factor. */
static cc_ref half_of(cc_ref x)
{
    return x->op == CC_CAST && x->src[0]->dtype == CC_DT_F16 ? x->src[0] : NULL;
}

/* Factors in order: the one with rows, the one with columns. */
static bool factors(const struct opt *o, cc_ref body, cc_ref *a, cc_ref *b)
{
    cc_ref m = o->axis[o->m].range, n = o->axis[o->n].range;
    if (body->op != CC_MUL || body->dtype != CC_DT_F32 || !half_of(body->src[0]) ||
        !half_of(body->src[1]))
        return false;
    *a = half_of(body->src[0]);
    *b = half_of(body->src[1]);
    if (depends(*a, n, 40)) {
        cc_ref t = *a;
        *a = *b;
        *b = t;
    }
    return depends(*a, m, 40) && !depends(*a, n, 40) && depends(*b, n, 40) &&
           !depends(*b, m, 40);
}

bool opt_find_product(struct opt *o, cc_ref sink, unsigned m, unsigned n)
{
    cc_ref *nodes, found = NULL, a, b;
    uint32_t count, reduces = 0;
    if (cc_sorted(o->g, sink, &nodes, &count) != RD_OK)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i]->op == CC_REDUCE) {
            reduces++;
            found = nodes[i];
        }
    free(nodes);
    o->m = m;
    o->n = n;
    if (reduces != 1 || found->n_src != 2 || found->arg[0] != CC_ADD ||
        !factors(o, found->src[0], &a, &b))
        return false;
    for (unsigned i = o->n_out; i < o->n_axes; i++)
        if (o->axis[i].range == found->src[1])
            o->k = i;
    return true;
}

cc_ref opt_product(struct opt *o, cc_ref body)
{
    static const int64_t dims[3] = {16, 16, 16};
    cc_ref src[40], a, b;
    cc_ref sixteen = cc_const_int(o->g, CC_DT_I32, 16);
    cc_ref low = cc_s2(o->g, CC_MOD, o->wave_lane, sixteen);
    struct opt_axis *m = &o->axis[o->m], *n = &o->axis[o->n], *k = &o->axis[o->k];
    cc_ref m_index = m->index, n_index = n->index;
    if (!factors(o, body, &a, &b))
        return cc_fail(o->g, RD_E_INVALID, "TC: no product of matrices");
    opt_place(o, o->m, m->copy->arg[0], low);
    opt_place(o, o->n, n->copy->arg[0], low);
    for (int64_t i = 0; i < 16; i++) {
        opt_place(o, o->k, k->copy->arg[0], cc_const_int(o->g, CC_DT_I32, i));
        src[i] = opt_fresh(o, a);
        src[16 + i] = opt_fresh(o, b);
    }
    for (unsigned i = 32; i < 40; i++)
        src[i] = cc_const_float(o->g, CC_DT_F32, 0);
    m->index = m_index;
    n->index = n_index;
    cc_ref w = cc_uop(o->g, CC_WMMA, CC_DT_VOID, 40, src, 3, dims, NULL);
    return cc_uop(o->g, CC_EXTRACT, CC_DT_VOID, 1, &w, 1, &o->element, NULL);
}
