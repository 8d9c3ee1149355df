/* row.c: rows of 32 lanes that native code is about to access: emu_glance.row.
 *
 * What the heap knows of an allocation is kept by mem for each place, so a row that
 * lies in the same one as before needs nobody who knows more; race has a say
 * afterwards. Compiled as race_row.c is, and for the same reason.
 * SPDX-License-Identifier: MIT
 */
#include <stdatomic.h>

#include "internal.h"

/* Do the lanes lie in what mem was asked of last at the place, and may they? */
static inline bool inside(const struct ck_line *l, uint64_t address,
                          const struct emu_row *row)
{
    const struct emu_mem *r = &l->ck->regions[row->pc / 4 % CK_REGIONS];
    uint64_t from = address - row->low - r->va;
    uint64_t span = EMU_ROW_SPAN(row);
    return atomic_load_explicit(l->heap, memory_order_acquire) == l->ck->heap &&
           r->perm & (row->write ? EMU_MEM_WRITE : EMU_MEM_READ) && r->bytes >= span &&
           from <= r->bytes - span;
}

unsigned ck_row(void *mine, uint64_t address, struct emu_row *row)
{
    const struct ck_line *l = mine;
    if (!l || !row->form || (l->heap && !row->lds && !inside(l, address, row)))
        return false;
    return l->races ? ck_race_row(l->race, address, row) : true;
}
