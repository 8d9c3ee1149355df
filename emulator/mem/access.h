/* access.h: one lane's access to checked host memory, for handlers that go lane by
 * lane. SPDX-License-Identifier: MIT
 */
#ifndef RD_ACCESS_H
#define RD_ACCESS_H

#include "control.h"

/* observe: narrow [base, end) around an address of a watched wave to what observers see
 * alike; returns EMU_MEM_PLAIN (glance.h) or 0. */
unsigned observe_clip(const struct wave *w, uint64_t address, uint64_t *base,
                      uint64_t *end);

/* Remember the region around address in a window; NULL if there is none. perm: what it
 * is to allow, which is asked for once more if it does not. */
const struct mem_window *window_load(struct wave *w, uint64_t address, unsigned perm);
/* Does memory go on behind the window as far as last, in the host too? */
bool window_continued(struct wave *w, const struct mem_window *win, uint64_t last,
                      unsigned perm);

static inline bool window_has(const struct mem_window *win, uint64_t lo, uint64_t last,
                              unsigned bytes)
{
    return lo >= win->base && last < win->end && win->end - last >= bytes;
}

/* A remembered window that covers [lo, last + bytes), or NULL. */
static inline const struct mem_window *window_find(const struct wave *w, uint64_t lo,
                                                   uint64_t last, unsigned bytes,
                                                   unsigned generation)
{
    for (unsigned i = 0; i < MEM_WINDOWS; i++) {
        const struct mem_window *win = &w->window[i];
        if (window_has(win, lo, last, bytes) && win->generation == generation)
            return win;
    }
    return NULL;
}

/* True if the bytes at *addr may be accessed, and *addr becomes the host's address of
 * them; else *kind says why not. */
static inline bool lane_allowed(struct wave *w, uint64_t *addr, unsigned bytes,
                                unsigned perm, enum emu_fault_kind *kind)
{
    uint64_t at = *addr;
    const struct mem_window *win = window_find(w, at, at, bytes, mem_generation(w));
    if (!win || (win->perm & perm) != perm)
        win = window_load(w, at, perm);
    *kind = EMU_FAULT_UNMAPPED;
    if (!win ||
        (win->end - at < bytes && !window_continued(w, win, at + bytes - 1, perm)))
        return false;
    *kind = EMU_FAULT_PERMISSION;
    *addr = at + win->delta;
    return (win->perm & perm) == perm;
}

/* Of an address that lane_allowed has made the host's. */
static inline uint8_t *host_pointer(uint64_t address)
{
    return (uint8_t *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

/* Read-modify-write in host memory, atomic; returns the old value. */
static inline uint64_t host_atomic(sem_atomic_fn *op, unsigned bytes, uint8_t *p,
                                   uint64_t data, uint64_t cmp,
                                   const struct lane_mode *mode)
{
    void *aligned = p;
    if (bytes == 4) {
        uint32_t *q = aligned, old = __atomic_load_n(q, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(q, &old, (uint32_t)op(old, data, cmp, mode),
                                            false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
        return old;
    }
    uint64_t *q = aligned, old = __atomic_load_n(q, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(q, &old, op(old, data, cmp, mode), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return old;
}

/* Host float mode of float atomics (manual 13.1, 13.2): always to nearest; additions in
 * memory flush denormal inputs, in LDS they follow MODE. */
static inline unsigned atomic_mxcsr(const struct wave *w, bool lds)
{
    unsigned nearest = w->mxcsr32 & ~(3u << 13);
    return lds ? nearest : (nearest | 1u << 6) & ~(1u << 15);
}

#endif
