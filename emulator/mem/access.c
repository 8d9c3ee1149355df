/* access.c: what a wave remembers of the allocation map.
 * SPDX-License-Identifier: MIT
 */
#include "access.h"

/* Once more where nothing is, or what does not allow perm, after who knows of what has
 * changed has been asked. */
static bool find(struct wave *w, uint64_t address, unsigned perm, struct mem_region *r,
                 unsigned *generation)
{
    const struct emu_config *c = &w->emu->config;
    bool there = region_find(w->emu->regions, address, r, generation);
    if (!c->missing || (there && (r->perm & perm) == perm))
        return there;
    c->missing(c->missing_ctx, address);
    return region_find(w->emu->regions, address, r, generation);
}

const struct mem_window *window_load(struct wave *w, uint64_t address, unsigned perm)
{
    struct mem_region r;
    unsigned generation;
    if (!find(w, address, perm, &r, &generation))
        return NULL;
    struct mem_window *win = &w->window[w->next_window];
    w->next_window = (w->next_window + 1) % MEM_WINDOWS;
    if (w->observation)
        r.perm |= observe_clip(w, address, &r.base, &r.end);
    *win = (struct mem_window){r.base, r.end, r.delta, r.perm, generation};
    return win;
}

bool window_continued(struct wave *w, const struct mem_window *win, uint64_t last,
                      unsigned perm)
{
    struct mem_region r;
    return find(w, last, perm, &r, NULL) && r.base <= win->end &&
           r.delta == win->delta && (r.perm & perm) == perm;
}
