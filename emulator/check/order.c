/* order.c: a graph of releases, each of which knows what its wave had acquired before.
 *
 * An access is behind of who has acquired a release by its wave that came later, or one
 * by a wave of its workgroup behind a barrier that came later. What is looked for is
 * mostly found near: a search goes from the newest to older ones and leaves out what is
 * older than the access. When memory or patience are used up all counts as ordered.
 *
 * Must not know where accesses are remembered. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "order.h"

#define MAX_NODES (1u << 20)
#define MAX_STEPS (UINT64_C(1) << 26)

void order_begin(struct order *o)
{
    o->n = 1;
    o->search = 0;
    o->steps = MAX_STEPS;
}

void order_free(struct order *o)
{
    free(o->node);
    free(o->pending);
    *o = (struct order){.n = 0};
}

static bool grow(struct order *o)
{
    uint32_t room = o->room ? 2 * o->room : 256;
    if (room > MAX_NODES)
        return false;
    struct order_node *node = realloc(o->node, room * sizeof *node);
    if (!node)
        return false;
    o->node = node;
    struct order_step *pending = realloc(o->pending, 2 * room * sizeof *pending);
    if (!pending)
        return false;
    o->pending = pending;
    o->room = room;
    return true;
}

/* A node, all zero; ORDER_ALL: there is no room. */
static uint32_t add_node(struct order *o)
{
    if ((!o->node || o->n >= o->room) && !grow(o))
        return ORDER_ALL;
    o->node[o->n] = (struct order_node){.wave = 0};
    return o->n++;
}

uint32_t order_release(struct order *o, uint32_t at, const struct order_node *release)
{
    if (at == ORDER_ALL || release->b == ORDER_ALL)
        return ORDER_ALL;
    struct order_node *last = at ? &o->node[at] : NULL;
    if (last && !last->taken && last->wave == release->wave && last->b == release->b &&
        last->narrow == release->narrow) { /* nobody has met the one before */
        last->stamp = release->stamp;
        last->barriers = release->barriers;
        last->met = release->met;
        return at;
    }
    uint32_t number = add_node(o);
    if (number == ORDER_ALL)
        return ORDER_ALL;
    o->node[number] = *release;
    o->node[number].a = at;
    return number;
}

/* Does the greater number stand for the other one, as far as is easily seen? */
static bool includes(const struct order *o, uint32_t greater, uint32_t other)
{
    return greater == other || o->node[greater].a == other ||
           o->node[greater].b == other;
}

uint32_t order_join(struct order *o, uint32_t a, uint32_t b)
{
    uint32_t greater = a > b ? a : b, other = a > b ? b : a;
    if (!other || greater == ORDER_ALL || includes(o, greater, other))
        return greater;
    uint32_t number = add_node(o);
    if (number == ORDER_ALL)
        return ORDER_ALL;
    uint32_t sa = o->node[a].stamp, sb = o->node[b].stamp;
    o->node[number].stamp = sa > sb ? sa : sb;
    o->node[number].a = other;
    o->node[number].b = greater;
    return number;
}

uint32_t order_take(struct order *o, uint32_t node)
{
    if (node && node != ORDER_ALL)
        o->node[node].taken = true;
    return node;
}

/* Is the access behind of this release alone, which workgroup by has acquired? */
static bool covers(const struct order_node *n, uint32_t by, const struct site *s,
                   uint32_t waves)
{
    uint32_t group = n->wave ? (n->wave - 1) / waves : 0;
    if (!n->wave || (n->narrow && group != by))
        return false;
    return n->wave == s->wave ||
           (group == (s->wave - 1) / waves && (n->met || s->barrier < n->barriers));
}

/* The search goes on from an older release, and again from one that was met as what
 * another workgroup had acquired, as long as there is room: narrow ones are for one. */
static void visit(struct order *o, uint32_t *n, uint32_t node, uint32_t by)
{
    struct order_node *at = &o->node[node];
    bool again = at->seen == o->search && at->by != by && *n < o->n;
    if (at->seen == o->search && !again)
        return;
    at->seen = o->search;
    at->by = by;
    o->pending[(*n)++] = (struct order_step){.node = node, .by = by};
}

bool order_covers(struct order *o, uint32_t node, const struct site *me,
                  const struct site *s, uint32_t waves_per_group)
{
    uint32_t n = 0;
    if (!node || node == ORDER_ALL)
        return node != ORDER_NONE;
    o->search++;
    visit(o, &n, node, (me->wave - 1) / waves_per_group);
    while (n) {
        struct order_step step = o->pending[--n];
        const struct order_node *at = &o->node[step.node];
        if (at->stamp <= s->stamp)
            continue;
        if (!o->steps || covers(at, step.by, s, waves_per_group))
            return true;
        o->steps--;
        /* b is what the releasing wave had acquired, a was released there before */
        uint32_t by = at->wave ? (at->wave - 1) / waves_per_group : step.by;
        if (at->b && at->b >= at->a)
            visit(o, &n, at->b, by);
        if (at->a)
            visit(o, &n, at->a, step.by);
        if (at->b && at->b < at->a)
            visit(o, &n, at->b, by);
    }
    return false;
}
