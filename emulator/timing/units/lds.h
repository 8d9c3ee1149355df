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
void tm_lds_costs(struct tm_inst *i);
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

/* When it takes another instruction. */
int64_t tm_lds_room(const struct tm_base *b, const struct tm_lds_way *way,
                    const struct tm_inst *i, int64_t accept);

/* When an instruction that is accepted at a time is done.
 *
 * event  with a row and no accesses: the pattern has been seen
 * last  in/out: when the wave's last one was
 * why   out: what it waited for longest
 */
int64_t tm_lds(const struct tm_base *b, const struct tm_lds_way *way, struct tm_inst *i,
               const struct emu_event *event, int64_t accept, int64_t *last,
               uint8_t *why);

#endif
