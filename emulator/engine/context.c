/* context.c: workgroups that leave by their trap handler and come back by it
 * (context.h).
 *
 * The handler's code saves and restores; here waves only enter it. Memory of the
 * workgroup stays (its scratch is there), but what its waves find again of registers
 * and LDS is what the handler has stored. Invariant: a workgroup whose waves are saved
 * has none that lives.
 * SPDX-License-Identifier: MIT
 */
#include "context.h"
#include "dispatch.h"

#define SAVE_TURNS    1000u /* of a workgroup: thousands of times what handlers take */
#define RESTORE_ENTRY 4u    /* behind the first instruction of the handler */
#define LINK_BYTES    4u    /* of s_barrier */

/* At a barrier it comes again when it is restored: the others will not have arrived. */
uint64_t context_pc(const struct wave *w)
{
    uint64_t pc = program_pc(w->program, w->next);
    return w->group->waiting & wave_bit(w) ? pc - LINK_BYTES : pc;
}

/* False: a wave stays where it is. */
static bool enter_all(struct workgroup *g)
{
    for (uint32_t left = g->live; left; left &= left - 1) {
        struct wave *w = g->waves[__builtin_ctz(left)];
        if (w->fresh)
            wave_fill(w);
        w->trapsts_bits |= TRAPSTS_SAVECTX;
        if (wave_privileged(w))
            continue; /* its handler looks, or enters again when it returns */
        const struct uop *handler = trap_enter(w, w->next, context_pc(w), 0);
        if (!handler)
            return false;
        w->next = handler;
    }
    g->waiting = g->halted = 0;
    return true;
}

static void save(struct resident *r)
{
    struct workgroup *g = &r->group;
    const struct wave *any = g->waves[__builtin_ctz(g->live)];
    group_write_zeros(g);
    g->asked = 0;
    if (!wave_has_handler(any) && !wave_privileged(any))
        return;
    bool entered = enter_all(g);
    for (unsigned i = 0; entered && i < SAVE_TURNS && g->live; i++)
        entered = group_run(r, GROUP_BUDGET) != GROUP_FAULT;
    g->saved = g->asked & ~g->live;
    for (uint32_t left = g->live; left; left &= left - 1)
        g->waves[__builtin_ctz(left)]->trapsts_bits &= ~TRAPSTS_SAVECTX;
}

static void restore(struct resident *r)
{
    struct workgroup *g = &r->group;
    if (!g->saved)
        return;
    if (g->queue->context->store) {
        context_load(g);
        return;
    }
    resident_restore(g->dispatch, r, g->saved, g->queue->tba + RESTORE_ENTRY);
    g->saved = 0;
}

/* One after the other: waves of a workgroup lie together. */
void contexts_save(struct resident *first)
{
    for (struct resident *r = first; r; r = r->next) {
        if (!r->group.queue->context || !r->group.live)
            continue;
        pthread_mutex_lock(&r->group.dispatch->lock);
        if (r->group.queue->context->store)
            context_store(&r->group);
        else
            save(r);
        pthread_mutex_unlock(&r->group.dispatch->lock);
    }
}

void contexts_restore(struct resident *first)
{
    for (struct resident *r = first; r; r = r->next)
        restore(r);
}
