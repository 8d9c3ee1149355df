/* lds.h: the LDS of a CU. SPDX-License-Identifier: MIT
 */
#ifndef TM_LDS_H
#define TM_LDS_H

#include "queue.h"

struct tm_lds {
    int64_t free;
    int64_t back;           /* when the way back to the registers of its CU is */
    uint64_t cycles;        /* that it was busy */
    struct tm_queue flight; /* accepted, result not there yet */
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

/* When it takes another instruction. */
int64_t tm_lds_room(const struct tm_base *b, const struct tm_lds_way *way,
                    const struct tm_inst *i, int64_t accept);

/* When an instruction that is accepted at a time is done.
 *
 * last  in/out: when the wave's last one was
 * why   out: what it waited for longest
 */
int64_t tm_lds(const struct tm_base *b, const struct tm_lds_way *way, struct tm_inst *i,
               const struct emu_event *event, int64_t accept, int64_t *last,
               uint8_t *why);

#endif
