/* sem_wrap.h: what the generated wrappers of a sem source file need.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SEM_WRAP_H
#define RD_SEM_WRAP_H

#include "sem.h"
#include "wave.h"

#ifndef SEM_SUFFIX
#define SEM_SUFFIX generic
#endif
#define SEM_PASTE2(a, b) a##_##b
#define SEM_PASTE(a, b)  SEM_PASTE2(a, b)
#define SEM_LEVEL(name)  SEM_PASTE(sem_##name, SEM_SUFFIX)

/* Lanes do not depend on one another: rows either coincide or are disjoint, and a lane
 * reads all its sources before it writes. */
#if defined(__clang__)
#define ROW_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ROW_LOOP _Pragma("GCC ivdep")
#endif

/* Rows of the operands, for an instruction that needs nothing but rows and runs with
 * all of EXEC; otherwise on to the general handler of the level. */
#define FAST_OPERANDS(w, u)                                                            \
    if ((w)->sgpr[ISA_SEL_EXEC_LO] != ~0u)                                             \
        return (w)->emu->level->valu_fast(w, u);                                       \
    uint32_t *d = (w)->vgpr[0] + (size_t)(u)->d * ROW_DWORDS;                          \
    const uint32_t *s0 = src_row(w, &(u)->s[0]), *s1 = src_row(w, &(u)->s[1]);         \
    const uint32_t *s2 = src_row(w, &(u)->s[2]);                                       \
    const struct lane_mode *m = &(w)->mode;                                            \
    (void)s0, (void)s1, (void)s2, (void)m;

static inline U64 row64(const uint32_t *s, unsigned l)
{
    return s[l] | (U64)s[l + 32] << 32;
}

static inline void put64(uint32_t *d, unsigned l, U64 v)
{
    d[l] = (U32)v;
    d[l + 32] = (U32)(v >> 32);
}

#endif
