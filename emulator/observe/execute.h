/* execute.h: one handler, as the steps of a watched wave call it.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_EXECUTE_H
#define RD_EXECUTE_H

#include <xmmintrin.h>

#include "native.h"
#include "observe.h"

/* Do two float modes differ? Flags of what has happened are in them, too. */
static inline bool mode_differs(unsigned a, unsigned b)
{
    return (a ^ b) & ~(unsigned)_MM_EXCEPT_MASK;
}

/* Handlers of so many instructions that follow one another and do not stop, or their
 * code (NULL: there is none), under the wave's float mode. */
static inline const struct uop *
observe_execute_many(struct wave *w, const struct uop *u, unsigned n, const void *code)
{
    unsigned host = _mm_getcsr(), before = w->mxcsr32;
    bool other = mode_differs(before, host);
    if (other)
        _mm_setcsr(before);
    __asm__ volatile("" ::: "memory");
    if (code) {
        u = native_piece_run(w->native, w, code, u);
    } else {
        for (; n; n--)
            u = u->fn(w, u);
        w->emu->level->leave();
    }
    __asm__ volatile("" ::: "memory");
    if (other || mode_differs(w->mxcsr32, host))
        _mm_setcsr(host);
    return u;
}

static inline const struct uop *observe_execute(struct wave *w, const struct uop *u)
{
    return observe_execute_many(w, u, 1, NULL);
}

#endif
