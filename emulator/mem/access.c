/* access.c: what a wave remembers of the allocation map.
 * SPDX-License-Identifier: MIT
 */
#include "access.h"

const struct mem_window *window_load(struct wave *w, uint64_t address)
{
    struct mem_region r;
    unsigned generation;
    if (!region_find(w->emu->regions, address, &r, &generation))
        return NULL;
    struct mem_window *win = &w->window[w->next_window];
    w->next_window = (w->next_window + 1) % MEM_WINDOWS;
    *win = (struct mem_window){r.base, r.end, r.perm, generation};
    return win;
}
