/* show.c: the waves on the chip, as they stand between two events.
 *
 * What a wave has issued is executed first, so what is shown is what the cycles so far
 * have done. Must not change what comes: a run that is looked at takes as many cycles.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "engine.h"
#include "later.h"

/* The first of its workgroup that is still there shows them all. */
static bool is_first(const struct tm_wave *w)
{
    const struct tm_group *g = w->group;
    for (unsigned i = 0; i < g->n_waves; i++)
        if (g->waves[i] && g->waves[i]->group == g && !g->waves[i]->left)
            return g->waves[i] == w;
    return false;
}

static bool is_of(const struct emu_fault *fault, const struct emu_wave_info *wave)
{
    return fault && !memcmp(fault->workgroup, wave->workgroup, sizeof wave->workgroup);
}

static unsigned show_group(struct tm_group *g, const struct emu_inspector *to,
                           const struct emu_fault *fault)
{
    unsigned n = emu_group_waves(g->group);
    const struct emu_wave_info *first = emu_wave_info(emu_group_wave(g->group, 0));
    to->group_begin(to->ctx, g->number, n, is_of(fault, first) ? fault : NULL);
    for (unsigned i = 0; i < n; i++)
        to->wave(to->ctx, emu_wave_info(emu_group_wave(g->group, i)));
    return n;
}

unsigned tm_show_fault(struct tm_engine *t, const struct emu_inspector *to,
                       unsigned launch, const struct emu_fault *fault)
{
    struct tm_pools *pools = &t->all->pools;
    unsigned shown = 0;
    for (size_t i = 1; i < pools->n_waves; i++)
        if (pools->wave[i]->group && !pools->wave[i]->left)
            tm_catch_up(pools->wave[i]);
    for (size_t i = 1; i < pools->n_waves; i++) {
        struct tm_wave *w = pools->wave[i];
        bool is_of_it = w->group && (launch == TM_ALL || w->group->launch == launch);
        if (is_of_it && !w->left && is_first(w))
            shown += show_group(w->group, to, fault);
    }
    return shown;
}

unsigned tm_show(struct tm_engine *t, const struct emu_inspector *to)
{
    return tm_show_fault(t, to, TM_ALL, NULL);
}

unsigned tm_show_launch(struct tm_engine *t, unsigned number,
                        const struct emu_inspector *to)
{
    return tm_show_fault(t, to, number, NULL);
}
