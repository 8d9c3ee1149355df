/* race_handed.c: what stores hand on to who loads past the caches what they have
 * stored: all that their wave has waited for.
 *
 * The first store behind a wait hands on what came before it (SITE_RELEASES). So do
 * those that follow while it is under way, of the same time (SITE_AGAIN): several flags
 * may have one fence. Waves that have gone are remembered by what they knew at last, of
 * those that share a place the last to go; of one that is forgotten all counts as
 * handed on.
 *
 * Must not know where accesses are remembered. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "race.h"

#define GONE (1u << 14)

/* One slot of the table, which waves share whose numbers differ by multiples of GONE.
 */
struct race_gone {
    uint32_t wave; /* 0: none */
    uint32_t knows_near;
    bool met;
    bool lost; /* there was another one before */
};

void race_handed_begin(struct ck_race *r)
{
    if (r->gone)
        memset(r->gone, 0, GONE * sizeof *r->gone);
    r->gone_lost = false;
}

void race_handed_free(struct ck_race *r)
{
    free(r->gone);
    r->gone = NULL;
}

void race_handed_gone(const struct ck *ck, const struct ck_group *g)
{
    struct ck_race *r = ck->race;
    uint32_t first = r->others + (uint32_t)g->number * ck->launch.waves_per_group + 1;
    for (uint32_t i = 0; i < g->n_waves; i++) {
        const struct ck_order *o = &g->wave[i].order;
        if (!o->knows_near && !o->met)
            continue; /* as those that are not in the table */
        if (!r->gone)
            r->gone = calloc(GONE, sizeof *r->gone);
        r->gone_lost |= !r->gone;
        if (!r->gone)
            return;
        struct race_gone *slot = &r->gone[(first + i) % GONE];
        *slot = (struct race_gone){.wave = first + i,
                                   .knows_near = o->knows_near,
                                   .met = o->met,
                                   .lost = slot->lost || slot->wave};
    }
}

/* What the wave of a store knew at its last release, if the store is that or belongs
 * to it; else what it knows, or knew when it went. */
static void recall(const struct ck *ck, const struct site *s, struct order_node *node)
{
    uint32_t wave = s->wave, release = s->flags & SITE_AGAIN ? s->stamp - 1 : s->stamp;
    const struct ck_race *r = ck->race;
    uint32_t waves = ck->launch.waves_per_group, index = wave - 1 - r->others;
    const struct ck_group *g = ck->groups;
    while (g && g->number != index / waves)
        g = g->next;
    if (g) {
        const struct ck_order *o = &g->wave[index % waves].order;
        bool last = o->done.stamp == release;
        node->b = last ? o->done.b : o->knows_near;
        node->met = last ? o->done.met : o->met;
        return;
    }
    const struct race_gone *slot = r->gone ? &r->gone[wave % GONE] : NULL;
    if (slot && slot->wave == wave) {
        node->b = slot->knows_near;
        node->met = slot->met;
    } else if (slot ? slot->lost : r->gone_lost) {
        node->b = ORDER_ALL;
    }
}

/* The number of such a release if it, or one of two that it stands for, is the last
 * that was taken; or ORDER_NONE. */
static uint32_t taken_last(const struct order *order, uint32_t last,
                           const struct order_node *release)
{
    if (!last || last == ORDER_ALL || !order->node)
        return ORDER_NONE;
    const uint32_t number[] = {last, order->node[last].a, order->node[last].b};
    for (unsigned i = 0; i < 3; i++) {
        const struct order_node *n = &order->node[number[i]];
        if (number[i] && n->wave == release->wave && n->stamp == release->stamp)
            return number[i];
    }
    return ORDER_NONE;
}

uint32_t race_handed(const struct ck *ck, const struct ck_wave *w, const struct site *s,
                     uint32_t *stamp)
{
    struct order *order = &ck->race->order;
    *stamp = s->flags & SITE_AGAIN ? s->stamp - 1 : s->stamp + 1;
    struct order_node node = {.wave = s->wave, .stamp = *stamp, .barriers = s->barrier};
    uint32_t last = taken_last(order, w->order.takes, &node);
    if (last)
        return last; /* it still polls */
    recall(ck, s, &node);
    return order_release(order, ORDER_NONE, &node);
}

bool race_stores_first(struct ck *ck, const struct ck_wave *w,
                       const struct emu_event *e, const struct emu_access *a)
{
    const struct ck_order *o = &w->order;
    if (!o->stores_out)
        return true;
    return o->out_at && e->n_accesses == 1 && a->lanes &&
           !(a->lanes & (a->lanes - 1)) &&
           a->address[__builtin_ctzll(a->lanes)] == o->out_at &&
           race_loads_wait(ck, e->inst->pc);
}

uint16_t race_store_flags(const struct ck_wave *w, bool first)
{
    const struct ck_order *o = &w->order;
    if (first)
        return SITE_RELEASES | (o->narrow ? SITE_NARROW : 0u);
    return race_again(o, w->group->barriers);
}

void race_stored(struct ck_race *r, struct ck_wave *w)
{
    r->stamp += 2; /* what comes later is not handed over with it */
    race_done(&w->order, r->stamp - 1, (uint32_t)w->group->barriers);
}
