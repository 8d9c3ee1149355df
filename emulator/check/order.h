/* order.h: which releases of a dispatch a wave is behind of, for the race checker.
 *
 * What somebody has acquired is a number: of a node, a release, or what two others
 * have together. Numbers rise, so do the stamps of what they stand for. What a node has
 * before it that is newer than itself (of a store, what its wave acquired later) counts
 * for nothing that is as new as the node: searches end at what is not newer than the
 * access.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_ORDER_H
#define RD_CHECK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "shadow.h"

#define ORDER_NONE 0u
#define ORDER_ALL  UINT32_MAX /* not followed any more: behind of all there was */

struct order_node {
    uint32_t wave;     /* that released, from 1; 0: two others together */
    uint32_t stamp;    /* of the release, or the greater of the two */
    uint32_t barriers; /* that its workgroup had passed */
    uint32_t a, b;     /* what was acquired before: numbers below this one's */
    uint32_t seen;     /* by the search of this number */
    uint32_t by;       /* ... as something that this workgroup had acquired */
    bool narrow;       /* for its own workgroup only */
    bool met;          /* its wave had acquired by LDS, too */
    bool taken;        /* somebody has acquired it */
};

struct order {
    struct order_node *node; /* by number, from 1 */
    uint32_t n, room;
    struct order_step {
        uint32_t node, by;
    } *pending; /* of a search: twice as many as there are nodes */
    uint32_t search;
    uint64_t steps; /* that searches of this dispatch may still take */
};

/* A dispatch begins. */
void order_begin(struct order *o);
void order_free(struct order *o);

/* A release at an address where at was released last (ORDER_NONE: nothing was);
 * release: a to met of it, b being what its wave is behind of. */
uint32_t order_release(struct order *o, uint32_t at, const struct order_node *release);
/* What both stand for. */
uint32_t order_join(struct order *o, uint32_t a, uint32_t b);
/* Somebody acquires it. */
uint32_t order_take(struct order *o, uint32_t node);
/* Is the access behind of a release that me, of such workgroups, has acquired? */
bool order_covers(struct order *o, uint32_t node, const struct site *me,
                  const struct site *s, uint32_t waves_per_group);

#endif
