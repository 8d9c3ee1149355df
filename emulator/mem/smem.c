/* smem.c: scalar loads.
 *
 * Knows the operand space, not the mnemonics.
 * SPDX-License-Identifier: MIT
 */
#include "handlers.h"

#include <string.h>

#include "access.h"
#include "address.h"
#include "zeros.h"

/* Scalar loads may run past a region's end within its last page: the hardware maps
 * pages, and compilers widen loads on the strength of that. */
#define PAGE_BYTES 4096u

/* NULL if it cannot be read. */
static const void *readable(struct wave *w, uint64_t addr, unsigned bytes)
{
    const struct mem_window *win = window_find(w, addr, addr, bytes, mem_generation(w));
    if (win)
        return host_pointer(addr + win->delta);
    win = window_load(w, addr, EMU_MEM_READ);
    if (!win)
        return NULL;
    uint64_t end = (win->end + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    uint64_t page = (addr + bytes - 1) & ~(uint64_t)(PAGE_BYTES - 1); /* the last */
    return end - addr >= bytes || window_continued(w, win, page, EMU_MEM_READ)
               ? host_pointer(addr + win->delta)
               : NULL;
}

const struct uop *x_smem(struct wave *w, const struct uop *u)
{
    const struct umem *m = &u->mem;
    uint64_t addr = scalar_address(w, u);
    const void *from = readable(w, addr, m->bytes);
    if (!from)
        return wave_fault_at(w, u, EMU_FAULT_UNMAPPED, -1, addr, m->bytes, false);
    if (w->zeros)
        zeros_before(w->zeros, from, m->bytes);
    memcpy(&w->sgpr[u->d], from, m->bytes);
    w->sgpr[ISA_SEL_NULL] = 0;
    return uop_next(u);
}
