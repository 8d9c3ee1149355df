/* later.h: what is executed later than it issues.
 *
 * Who decides about time looks at EXEC and at addresses only: VALU instructions, and
 * loads from LDS that go where others of theirs have gone, wait until their wave
 * executes something else, then all at once. In between nobody of the workgroup may
 * have changed the LDS: who does has the others catch up first. Invariant: registers
 * and memory are at all times what they would be but for what is owed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_LATER_H
#define TM_LATER_H

#include "ahead.h"
#include "engine.h"

/* It issues, and is executed later. That .owed holds as many is asked before; blocks of
 * today's emulator (256 instructions, the last is never postponed) are no longer. */
static inline void tm_postpone(struct tm_wave *w, const struct tm_inst *i)
{
    w->owed++;
    w->writes |= i->writes;
}

/* Execute what the wave has issued. */
static inline void tm_catch_up(struct tm_wave *w)
{
    if (!w->owed)
        return;
    if (w->owed == w->idle)
        emu_wave_pass(w->wave, w->owed);
    else
        emu_wave_catch_up(w->wave, w->owed);
    w->owed = w->idle = 0;
    w->writes = 0;
    w->group->loads -= w->loads;
    w->loads = false;
}

/* Loads of the workgroup, before its LDS changes. */
static inline void tm_catch_up_group(const struct tm_group *g)
{
    for (unsigned k = 0; g->loads && k < g->n_waves; k++)
        if (g->waves[k] && g->waves[k]->loads)
            tm_catch_up(g->waves[k]);
}

/* Execute what issues, now. */
static inline rd_status tm_step_now(struct tm_engine *t, struct tm_wave *w,
                                    const struct tm_inst *i,
                                    const struct emu_event **event)
{
    if (i->stores_lds)
        tm_catch_up_group(w->group);
    tm_catch_up(w);
    return emu_wave_step(t->stepper, w->wave, (uint64_t)tm_now(t), event);
}

/* A load from LDS: are its addresses known, and within the workgroup's? */
static inline bool tm_postpones_load(struct tm_engine *t, const struct tm_wave *w,
                                     const struct tm_inst *i)
{
    const struct tm_pattern *p = &i->pattern;
    const void *at = w->rows + (size_t)i->lds_vgpr * EMU_ROW_BYTES;
    const uint32_t *row = at;
    if (!i->load_postponed || tm_lds_is_split(&t->chip.b, &w->group->lds) ||
        w->writes >> i->lds_vgpr % 64 & 1u || *w->exec != UINT32_MAX ||
        !tm_lds_is_seen(p, row, 32) || row[0] + (int64_t)p->low < 0 ||
        row[0] + (int64_t)p->high >= i->lds_limit)
        return false;
    t->load.exec = UINT32_MAX;
    t->load.row = row;
    return true;
}

/* Execute what issues, now or later. sort: as of issue_as (turn.c) */
TM_HOT rd_status tm_step(struct tm_engine *t, struct tm_wave *w,
                         const struct tm_inst *i, const struct emu_event **event,
                         enum tm_sort sort)
{
    bool valu = sort == TM_SORT_PLAIN || sort == TM_SORT_VALU;
    bool some = sort == TM_SORT_ANY || sort == TM_SORT_VMEM;
    bool later =
        valu || sort == TM_SORT_WAIT || sort == TM_SORT_SALU || (some && i->postponed);
    if (sort == TM_SORT_LDS && w->owed != UINT8_MAX && tm_postpones_load(t, w, i)) {
        w->group->loads += !w->loads;
        w->loads = true;
        t->chip.issues.loads_postponed++;
        tm_postpone(w, i);
        *event = &t->load;
        return RD_OK;
    }
    if (!later || w->owed == UINT8_MAX)
        return tm_step_now(t, w, i, event);
    tm_postpone(w, i);
    if (sort == TM_SORT_WAIT || some)
        w->idle += i->idle;
    t->plain.exec = t->chip.b.lanes == 32 ? *w->exec : emu_wave_exec(w->wave);
    *event = &t->plain;
    return RD_OK;
}

#endif
