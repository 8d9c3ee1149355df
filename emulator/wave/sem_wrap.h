/* sem_wrap.h: what the generated wrappers of a sem source file need.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SEM_WRAP_H
#define RD_SEM_WRAP_H

#include "row.h"
#include "scalar.h"
#include "sem.h"
#include "control.h"

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

static inline uint32_t *temp_row(struct wave *w, unsigned row)
{
    return w->temp + (size_t)row * ROW_DWORDS;
}

/* Rows of the operands, as a handler of one mnemonic takes them: a wave32 without
 * modifiers, and all of EXEC unless the result is a mask alone; else on to the level's
 * general handler. level->prepare fills the rows of sources that are none. */
#define HANDLER_OPERANDS(w, u, all, general)                                           \
    if ((all) && (w)->sgpr[ISA_SEL_EXEC_LO] != ~0u)                                    \
        return (w)->emu->level->general(w, u);                                         \
    if (((u)->flags & (UF_PREP | UF_DP)) && !(w)->emu->level->prepare(w, u))           \
        return (w)->emu->level->general(w, u);                                         \
    uint32_t *d = (w)->vgpr[0] + (size_t)(u)->d * ROW_DWORDS;                          \
    const uint32_t *s0 = src_row(w, &(u)->s[0]), *s1 = src_row(w, &(u)->s[1]);         \
    const uint32_t *s2 = src_row(w, &(u)->s[2]);                                       \
    const struct lane_mode *m = &(w)->mode;                                            \
    (void)d, (void)s0, (void)s1, (void)s2, (void)m;

/* One source of a scalar instruction. */
static inline U64 scalar_source(const struct wave *w, const struct usrc *s)
{
    if (s->prep == PREP_SGPR)
        return s->dwords == 2 ? sgpr64(w, s->sel) : w->sgpr[s->sel];
    return scalar_value(w, s);
}

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
