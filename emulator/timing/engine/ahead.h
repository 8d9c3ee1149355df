/* ahead.h: what the host's caches are to hold soon: the state of waves lies far apart
 * in its memory. Changes nothing. SPDX-License-Identifier: MIT
 */
#ifndef TM_AHEAD_H
#define TM_AHEAD_H

#include "engine.h"

static inline void tm_fetch_row(const struct tm_wave *w, unsigned vgpr)
{
    const char *row = w->rows + (size_t)vgpr * EMU_ROW_BYTES;
    __builtin_prefetch(row);
    __builtin_prefetch(row + EMU_ROW_BYTES / 2);
}

/* VGPRs of an instruction that is to be executed soon. */
static inline void tm_fetch_rows(const struct tm_wave *w, const struct tm_inst *i)
{
    for (unsigned n = 0; n < i->n_vsrc; n++)
        tm_fetch_row(w, i->vsrc[n].first);
    for (unsigned n = 0; n < i->n_vdst; n++)
        tm_fetch_row(w, i->vdst[n].first);
}

/* What the wave's turn at the instruction needs of its VGPRs; if it executes what is
 * owed, what that writes, which it mostly reads, too: of v0 to v63. Bits stand for
 * registers modulo 64; one behind v63 fetches a row in vain. */
static inline void tm_fetch_registers(const struct tm_wave *w, const struct tm_inst *i)
{
    if (i->load_postponed) {
        tm_fetch_row(w, i->lds_vgpr);
        return;
    }
    for (uint64_t rest = i->postponed ? 0 : w->writes; rest; rest &= rest - 1)
        tm_fetch_row(w, (unsigned)__builtin_ctzll(rest));
    if (i->cls == TM_LDS || i->cls == TM_VMEM)
        tm_fetch_rows(w, i);
}

/* The wave comes to the instruction, and will to the one behind it: what their turns
 * look at. */
static inline void tm_fetch_inst(const struct tm_inst *i)
{
    const char *line = (const char *)i;
    for (unsigned k = 1; k < 4; k++)
        __builtin_prefetch(line + 64 * k);
    __builtin_prefetch(i->follows);
}

/* Into the second nearest. */
static inline void tm_fetch_row_soon(const struct tm_wave *w, unsigned vgpr)
{
    const char *row = w->rows + (size_t)vgpr * EMU_ROW_BYTES;
    __builtin_prefetch(row, 0, 2);
    __builtin_prefetch(row + EMU_ROW_BYTES / 2, 0, 2);
}

static inline void tm_fetch_rows_soon(const struct tm_wave *w, const struct tm_inst *i)
{
    for (unsigned n = 0; n < i->n_vsrc; n++)
        tm_fetch_row_soon(w, i->vsrc[n].first);
    for (unsigned n = 0; n < i->n_vdst; n++)
        tm_fetch_row_soon(w, i->vdst[n].first);
}

/* What executing a wave's next instructions needs. */
static inline void tm_fetch_executed(const struct tm_wave *w)
{
    emu_wave_prefetch(w->wave);
    if (w->next)
        tm_fetch_rows_soon(w, w->next);
    for (unsigned k = 0; k < w->owed && k < TM_HISTORY; k++) {
        const struct tm_inst *i =
            w->valu.from[(w->valu.newest + TM_HISTORY - k) % TM_HISTORY];
        if (i)
            tm_fetch_rows_soon(w, i);
    }
}

static inline void tm_fetch_counter(const struct tm_fifo *f)
{
    __builtin_prefetch(fifo_at(f, f->first));
    __builtin_prefetch(fifo_at(f, f->first + f->n));
}

/* The state of waves may be far away in the host's memory: fetch that of the third to
 * come, and what the next one's step needs. */
static inline void tm_fetch_waves(const struct tm_engine *t)
{
    const uint64_t *keys = tm_events_ahead(&t->events, tm_now(t));
    if (!keys)
        return;
    const char *third = (const char *)tm_wave_of(t, keys[2]);
    const struct tm_wave *next = tm_wave_of(t, keys[0]);
    if (third) {
        __builtin_prefetch(third);
        __builtin_prefetch(third + 64);
        __builtin_prefetch(third + 128);
        __builtin_prefetch(third + 192);
        __builtin_prefetch(third + 256);
        __builtin_prefetch(third + 320);
        __builtin_prefetch(third + 384);
        __builtin_prefetch(third + 448);
    }
    if (!next)
        return;
    emu_wave_prefetch(next->wave);
    __builtin_prefetch(&next->account);
    if (!next->next)
        return;
    const struct tm_inst *i = next->next;
    if (i->cls == TM_LDS || i->cls == TM_SMEM || i->special == TM_WAITCNT)
        tm_fetch_counter(&next->counter[TM_LGKM]);
    if (i->cls == TM_VMEM || i->special == TM_WAITCNT)
        tm_fetch_counter(&next->counter[TM_VM]);
    if (i->cls == TM_VALU && next->simd->valu.free > tm_now(t))
        return; /* another time */
    tm_fetch_rows(next, i);
}

#endif
