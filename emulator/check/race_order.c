/* race_order.c: what orders a wave's accesses behind others for the race checker,
 * beside atomics: waits, what drops caches, barriers.
 *
 * Must not know who accesses what. SPDX-License-Identifier: MIT
 */
#include "race.h"

/* s_waitcnt_vscnt 0: all stores have arrived. */
static bool waits_for_stores(const struct isa_inst *inst)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].kind == ISA_OPND_IMM)
            return inst->op == ISA_S_WAITCNT_VSCNT && (inst->opnd[i].imm & 63) == 0;
    return false;
}

/* Work-items of a workgroup share what gl0 has not, others what gl1 has not either. */
static void drop_cache(struct order *order, struct ck_order *o, bool gl1)
{
    *(gl1 ? &o->gl1 : &o->gl0) = o->acquiring;
    *(gl1 ? &o->took_gl1 : &o->took_gl0) = o->takes;
    uint32_t behind = o->gl0 < o->gl1 ? o->gl0 : o->gl1;
    uint32_t handed = o->gl0 < o->handed ? o->gl0 : o->handed;
    behind = behind < handed ? handed : behind;
    o->near = o->near < o->gl0 ? o->gl0 : o->near;
    o->behind = o->behind < behind ? behind : o->behind;
    uint32_t both = o->took_gl0 < o->took_gl1 ? o->took_gl0 : o->took_gl1;
    o->knows_all = order_join(order, o->knows_all, both);
    if (!gl1)
        o->knows_all = order_join(order, o->knows_all, o->takes_handed);
    o->knows_near = order_join(order, o->knows_near, o->took_gl0);
    o->knows_near = order_join(order, o->knows_near, o->knows_all);
}

/* A release of what the wave has waited for when it released last, on its own: not of
 * what it has acquired since then. */
static uint32_t release_done(struct order *order, struct ck_order *o, uint32_t wave)
{
    struct order_node node = {.wave = wave,
                              .stamp = o->done.stamp,
                              .barriers = o->done.barriers,
                              .b = o->done.b,
                              .narrow = o->done.narrow,
                              .met = o->done.met};
    if (!o->done.node)
        o->done.node = order_take(order, order_release(order, ORDER_NONE, &node));
    return o->done.node;
}

/* Where stores are under way, what came before the release that waited last is released
 * all the same: locks that were taken one in the other are given back by two atomics
 * behind one fence. */
void race_release_memory(struct ck_race *r, struct ck_order *o, struct release *at,
                         const struct site *me)
{
    if (o->stores_out && !o->done.stamp)
        return;
    if (o->stores_out) {
        uint32_t node = release_done(&r->order, o, me->wave);
        at->stamp = at->stamp < o->done.stamp ? o->done.stamp : at->stamp;
        at->node = order_join(&r->order, at->node, node);
        return;
    }
    at->stamp = ++r->stamp;
    r->stamp++;
    race_done(o, at->stamp, me->barrier);
    at->node = order_release(&r->order, at->node,
                             &(struct order_node){.wave = me->wave,
                                                  .stamp = at->stamp,
                                                  .barriers = me->barrier,
                                                  .b = o->knows_near,
                                                  .narrow = o->narrow,
                                                  .met = o->met});
}

bool race_holds_old(const struct ck_order *o, bool gl1)
{
    return gl1 ? o->gl1 < o->acquiring || o->took_gl1 != o->takes
               : o->gl0 < o->acquiring || o->took_gl0 != o->takes;
}

void ck_race_order(struct ck *ck, struct ck_wave *w, const struct emu_inst *inst)
{
    struct ck_order *o = &w->order;
    race_anew(ck->race);
    if (inst->kind == EMU_KIND_WAIT && waits_for_stores(&inst->isa)) {
        o->waited = o->stores_out;
        o->narrow = false;
        o->stores_out = false;
    }
    bool gl0 = inst->isa.op == ISA_BUFFER_GL0_INV,
         gl1 = inst->isa.op == ISA_BUFFER_GL1_INV;
    if (gl0 && o->fences_lds) {
        race_catch_up(ck, w->group);
        race_flag_fenced(w);
    }
    if ((gl0 && race_holds_old(o, false)) || (gl1 && race_holds_old(o, true))) {
        race_catch_up(ck, w->group);
        drop_cache(&ck->race->order, o, gl1);
    }
    if (gl0 || gl1) {
        *(gl1 ? &o->bare1 : &o->bare0) = false;
        o->loads = gl1 ? 0 : o->loads;
        o->narrow = gl0 && o->waited;
        o->waited = false;
    }
}

/* What one of the waves has acquired the others have behind the barrier, and drop their
 * caches for it. Barriers of grids drop them before: who has loaded nothing since then
 * but the count that the barrier waits for has nothing old there. */
void ck_race_barrier(struct ck *ck, struct ck_group *g)
{
    struct order *order = &ck->race->order;
    struct ck_order all = {.clock = 0};
    bool dropped = true;
    race_anew(ck->race);
    race_log_forget(g);
    if (g->lds)
        shadow_forget(g->lds);
    /* A narrow fence in front of it is forgotten: what releases for others behind it
     * may have no code of its own, where there is nothing left to wait for. */
    for (unsigned i = 0; i < g->n_waves; i++)
        g->wave[i].order.waited = g->wave[i].order.narrow = false;
    if (!ck->race->acquired)
        return; /* nothing to hand on */
    for (unsigned i = 0; i < g->n_waves; i++) {
        const struct ck_order *o = &g->wave[i].order;
        dropped &= g->wave[i].ended || o->loads <= 1;
        all.behind = o->behind > all.behind ? o->behind : all.behind;
        all.near = o->near > all.near ? o->near : all.near;
        all.acquiring = o->acquiring > all.acquiring ? o->acquiring : all.acquiring;
        all.handed = o->handed > all.handed ? o->handed : all.handed;
        all.knows_all = order_join(order, all.knows_all, o->knows_all);
        all.knows_near = order_join(order, all.knows_near, o->knows_near);
        all.takes = order_join(order, all.takes, o->takes);
        all.takes_handed = order_join(order, all.takes_handed, o->takes_handed);
    }
    for (unsigned i = 0; i < g->n_waves; i++) {
        struct ck_order *o = &g->wave[i].order;
        o->behind = all.behind;
        o->near = all.near;
        o->acquiring = all.acquiring;
        o->handed = all.handed;
        o->knows_all = all.knows_all;
        o->knows_near = all.knows_near;
        o->takes = all.takes;
        o->takes_handed = all.takes_handed;
        for (unsigned cache = 0; cache < 2 && dropped; cache++)
            drop_cache(order, o, cache);
    }
}
