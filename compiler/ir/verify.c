/* verify.c: what no single node shows.
 *
 * derive.c has checked every node by itself. Here: what a kernel as a whole may hold.
 * SPDX-License-Identifier: MIT
 */
#include "graph.h"

#include <stdlib.h>

#define LDS_BYTES 65536
/* Of nodes on nodes: later steps recurse, in larger frames with sanitizers. */
#ifdef RD_CHECKS
#define MAX_DEPTH 2500
#else
#define MAX_DEPTH 12000
#endif

/* Sources come first in nodes. */
static void check_depth(struct cc_graph *g, const cc_ref *nodes, uint32_t count)
{
    uint32_t *depth = calloc(nodes[count - 1]->id + 1ull, sizeof *depth);
    char text[96];
    if (!depth)
        cc_fail(g, RD_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < count && g->status == RD_OK; i++) {
        cc_ref n = nodes[i];
        uint32_t most = 0;
        for (uint32_t j = 0; j < n->n_src; j++)
            most = depth[n->src[j]->id] > most ? depth[n->src[j]->id] : most;
        depth[n->id] = most + 1;
        if (most >= MAX_DEPTH)
            cc_fail(g, RD_E_RANGE,
                    "%s: more than %d operations on one another: CONTIGUOUS cuts them",
                    cc_describe(n, text, sizeof text), MAX_DEPTH);
    }
    free(depth);
}

static void check_node(struct cc_graph *g, cc_ref n, bool top)
{
    char a[96], b[96];
    for (uint32_t i = 0; i < n->n_src && top; i++)
        if (n->src[i]->dtype != CC_DT_VOID)
            cc_fail(g, RD_E_INVALID, "%s: source %u, %s, is no side effect",
                    cc_describe(n, a, sizeof a), i,
                    cc_describe(n->src[i], b, sizeof b));
    if (n->op == CC_KERNEL || n->op == CC_PROGRAM || (n->op == CC_SINK && !top))
        cc_fail(g, RD_E_INVALID, "%s: is not for the inside of a kernel",
                cc_describe(n, a, sizeof a));
    if (n->op == CC_BUFFER && n->arg[0] == CC_SPACE_GLOBAL)
        cc_fail(g, RD_E_INVALID, "%s: a kernel reaches global memory by PARAM",
                cc_describe(n, a, sizeof a));
    if (n->op == CC_PARAM && cc_elements(n) > INT32_MAX)
        cc_fail(g, RD_E_RANGE, "%s: more than 2^31 elements",
                cc_describe(n, a, sizeof a));
}

rd_status cc_verify(struct cc_graph *g, cc_ref root)
{
    cc_ref *nodes;
    uint32_t count;
    char text[96];
    int64_t lds = 0;
    rd_status st = cc_sorted(g, root, &nodes, &count);
    if (st != RD_OK)
        return st;
    if (root->op != CC_SINK)
        cc_fail(g, RD_E_INVALID, "%s: a kernel ends in a SINK",
                cc_describe(root, text, sizeof text));
    check_depth(g, nodes, count);
    for (uint32_t i = 0; i < count && g->status == RD_OK; i++) {
        check_node(g, nodes[i], nodes[i] == root);
        if (nodes[i]->op != CC_BUFFER || nodes[i]->arg[0] != CC_SPACE_LOCAL)
            continue;
        lds += cc_elements(nodes[i]) * cc_dtype_bytes(nodes[i]->dtype);
        if (lds > LDS_BYTES)
            cc_fail(g, RD_E_RANGE, "%s: %lld bytes of LDS, at most %d",
                    cc_describe(nodes[i], text, sizeof text), (long long)lds,
                    LDS_BYTES);
    }
    free(nodes);
    return g->status;
}
