/* cc_opt.h: choices about how a kernel is cut up, and a search for good ones.
 *
 * A kernel that only says what is stored (no axis of it is GLOBAL or LOCAL) has its
 * output axes and its reduction axes, numbered from 0 in order; axes of size 1 do not
 * count. Each choice splits one of them. What stays of an output axis are workgroups,
 * of a reduction axis a loop.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_OPT_H
#define RD_CC_OPT_H

#include "cc.h"

enum cc_opt_kind {
    CC_OPT_LOCAL,  /* output axis: amount neighbours are work-items of a workgroup */
    CC_OPT_UPCAST, /* output axis: amount neighbours are registers of a work-item */
    CC_OPT_UNROLL, /* reduction axis: amount steps written out */
    CC_OPT_GROUP,  /* reduction axis: amount work-items share it (a power of two) */
    CC_OPT_TC,     /* output axes axis and amount are a product of matrices: WMMA */
    CC_OPT_SWAP,   /* output axes axis and amount change places in the grid */
    CC_OPT_PAD,    /* output axis: up to a multiple of amount */
    CC_OPT_COUNT
};

struct cc_opt {
    enum cc_opt_kind kind;
    unsigned axis;
    int64_t amount;
};

#define CC_MAX_OPTS 16

/* "LOCAL 0 16". text: 40 bytes */
void cc_opt_print(const struct cc_opt *opt, char *text);

/* cc_linearize, with these choices.
 * Returns RD_E_INVALID if one of them does not fit; the graph's error says why. */
RD_CHECKED rd_status cc_linearize_opts(struct cc_graph *g, cc_ref sink, size_t n,
                                       const struct cc_opt *opts, struct cc_prog **out);

/* What a program costs, cycles for instance; a failure means that it cannot run. */
typedef rd_status cc_cost_fn(void *user, const struct cc_prog *p, uint64_t *cost);

struct cc_beam {
    unsigned width;     /* candidates kept from step to step; 0: 2 */
    unsigned max_steps; /* choices, one after the other; 0: 8 */
    cc_cost_fn *cost;
    void *user;
    /* out */
    size_t n_opts;
    struct cc_opt opts[CC_MAX_OPTS];
    uint64_t cost_before, cost_after; /* without choices, with these */
    unsigned tried;
};

/* Search: from the candidates of one step all that one more choice gives, of these the
 * cheapest, until nothing gets cheaper. The same kernel in the same process is searched
 * once per cost function. The best program is at least as good as the one without
 * choices. The kernel must be one that cc_linearize_opts takes; if it is not, the
 * program is that of cc_linearize and n_opts is 0. */
RD_CHECKED rd_status cc_beam(struct cc_graph *g, cc_ref sink, struct cc_beam *beam,
                             struct cc_prog **out);
/* Drop what searches have found. */
void cc_beam_forget(void);

#endif
