/* lds.h: the LDS of a CU. SPDX-License-Identifier: MIT
 */
#ifndef TM_LDS_H
#define TM_LDS_H

#include "queue.h"

struct tm_lds {
    int64_t free;
    int64_t back;          /* when the way back to the registers of its CU is */
    uint64_t cycles;       /* that it was busy */
    struct tm_ring flight; /* accepted, result not there yet */
};

/* The part of a workgroup. In WGP mode it lies anywhere in those of both CUs. */
struct tm_lds_part {
    uint32_t bytes, base;
};

/* Of the chip. */
struct tm_lds_counts {
    uint64_t active, conflict;
};

/* Who serves a wave: the units of its WGP, and which of them its part begins in. */
struct tm_lds_way {
    struct tm_lds *unit[2];
    unsigned own;
    const struct tm_lds_part *part;
    struct tm_lds_counts *counts;
    int64_t *back; /* of its CU */
};

/* What an instruction takes: before it is first issued. */
void tm_lds_costs(const struct tm_base *b, struct tm_inst *i);
/* Cycles that what it returns takes on the way back. */
static inline int64_t tm_lds_returns(const struct tm_inst *i, unsigned passes)
{
    return (int64_t)i->lds_returns * passes;
}

/* In WGP mode a workgroup's part lies where there was room, whichever CU its waves are
 * on: in both halves of the WGP's LDS? */
static inline bool tm_lds_is_split(const struct tm_base *b, const struct tm_lds_part *g)
{
    uint32_t edge = (uint32_t)PARAM(b, lds_per_cu);
    return b->wgp_mode && g->base < edge && g->base + g->bytes > edge;
}

/* Do all lanes go where they went the last time? Banks repeat: where they begin does
 * not matter, but for the place in a dword. */
static inline bool tm_lds_is_seen(const struct tm_pattern *p, const uint32_t *row,
                                  unsigned lanes)
{
    uint32_t first = row[0], other = 0;
    if (p->lanes != lanes || (p->at ^ first) & 3u)
        return false;
    for (unsigned half = 0; half < lanes; half += 32)
        for (unsigned lane = 0; lane < 32; lane++) /* so many at once */
            other |= (row[half + lane] - first) ^ p->from[half + lane];
    return !other;
}

/* When it takes another instruction. Entries are taken until the result is there. */
TM_HOT int64_t tm_lds_room(const struct tm_base *b, const struct tm_lds *unit,
                           const struct tm_inst *i, int64_t accept)
{
    unsigned more = i->send_regs > 1, most = (unsigned)PARAM(b, lds_flight);
    return ring_free(&unit->flight, accept, most > more ? most - more : 1);
}

/* A unit does an operation's work, once that is accepted: when it begins. */
TM_HOT int64_t tm_lds_occupy(struct tm_lds *unit, struct tm_lds_counts *counts,
                             const struct tm_lds_work *work, int64_t accept,
                             int64_t least)
{
    int64_t start = tm_max(accept, unit->free), cycles = work->cycles + work->more;
    unit->free = start + tm_max(cycles, least);
    unit->cycles += (uint64_t)cycles;
    counts->active += (uint64_t)cycles;
    return start;
}

/* lds.c */
/* Work for one unit, looked at again only if the pattern changes.
 *
 * event  with a row and no accesses: the pattern has been seen */
struct tm_lds_work tm_lds_work_of(const struct tm_base *b, struct tm_inst *i,
                                  const struct emu_event *event);
/* tm_lds_occupy of both units, each with its part: when the first of them begins.
 *
 * conflict  out: cycles that conflicts of banks take */
int64_t tm_lds_occupy_both(const struct tm_base *b, const struct tm_lds_way *way,
                           const struct tm_inst *i, const struct emu_event *event,
                           int64_t accept, int64_t *conflict);

/* The same of whichever serve the wave. event: as of tm_lds_work_of */
TM_HOT int64_t tm_lds_begin(const struct tm_base *b, const struct tm_lds_way *way,
                            struct tm_inst *i, const struct emu_event *event,
                            int64_t accept, int64_t *conflict)
{
    int64_t start;
    if (tm_lds_is_split(b, way->part)) {
        start = tm_lds_occupy_both(b, way, i, event, accept, conflict);
    } else {
        struct tm_lds_work work = event->row && !event->n_accesses
                                      ? i->pattern.work
                                      : tm_lds_work_of(b, i, event);
        if (!work.cycles)
            work.cycles = work.least = b->lanes == 64 ? 2 : 1;
        *conflict = work.cycles - work.least;
        start = tm_lds_occupy(way->unit[way->own], way->counts, &work, accept,
                              i->lds_least);
    }
    way->counts->conflict += (uint64_t)*conflict;
    return start;
}

/* When an instruction that is accepted at a time is done.
 *
 * event  as of tm_lds_work_of
 * last   in/out: when the wave's last one was
 * why    out: what it waited for longest
 */
TM_HOT int64_t tm_lds(const struct tm_base *b, const struct tm_lds_way *way,
                      struct tm_inst *i, const struct emu_event *event, int64_t accept,
                      int64_t *last, uint8_t *why)
{
    struct tm_ring *q = &way->unit[way->own]->flight;
    int64_t conflict, start = tm_lds_begin(b, way, i, event, accept, &conflict);
    if (i->lds_back) {
        int64_t before_back = start + i->lds_least + conflict;
        int64_t goes = tm_max(before_back, *way->back);
        *way->back = goes + i->lds_back;
        start += goes - before_back;
    }
    int64_t queued = start - accept, done = start + i->lds_after + conflict;
    *why = queued > conflict ? TM_S_LDS_BUSY : conflict ? TM_S_LDS_BANK : TM_S_LGKM_LDS;
    *last = done = tm_max(done, *last + 1);
    int64_t entry =
        tm_max(q->free_at[(q->n - 1) % TM_RING], done - PARAM(b, lds_start));
    ring_add(q, entry);
    if (i->send_regs > 1)
        ring_add(q, entry);
    return done;
}

#endif
