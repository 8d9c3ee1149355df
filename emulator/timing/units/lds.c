/* lds.c: the LDS of a CU: data cycles, bank conflicts, latency.
 *
 * 32 banks of a dword; a wave's lanes go in as many phases as an access has dwords, and
 * each phase takes a cycle per different dword in its fullest bank. A WGP has two such
 * units: in CU mode each serves its CU, in WGP mode the address decides. Must not know
 * addresses' meaning. Invariant: one access occupies a unit at a time.
 * SPDX-License-Identifier: MIT
 */
#include "lds.h"

/* Cycles of one phase: lanes of mask from first on, dword d of each. */
static unsigned phase(const struct emu_access *x, uint64_t lanes, unsigned d,
                      unsigned banks)
{
    uint32_t dword[TM_MAX_BANKS][32];
    uint8_t n[TM_MAX_BANKS] = {0};
    unsigned most = 1, mask = banks & (banks - 1) ? 0 : banks - 1;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        uint32_t at = (uint32_t)(x->address[lane] / 4) + d;
        unsigned bank = mask ? at & mask : at % banks, k = 0; /* no slow division */
        while (k < n[bank] && dword[bank][k] != at)
            k++;
        if (k < n[bank] || n[bank] == 32)
            continue;
        dword[bank][n[bank]++] = at;
        if (n[bank] > most)
            most = n[bank];
    }
    return most;
}

/* Data cycles of an access by some lanes of a wave of width, and those it would take
 * without conflicts. */
static unsigned data_cycles(const struct emu_access *x, uint64_t all, unsigned banks,
                            unsigned width, unsigned *least)
{
    unsigned dwords = (x->bytes + 3u) / 4u, group = 32u / dwords, cycles = 0;
    if (group == 0)
        group = 1;
    *least = 0;
    for (unsigned first = 0; first < 64; first += group) {
        uint64_t lanes = all >> first & ((UINT64_C(1) << group) - 1);
        unsigned most = first < width; /* a group without lanes takes its cycle, too */
        for (unsigned d = 0; lanes && d < dwords; d++) {
            unsigned c = phase(x, lanes << first, d, banks);
            if (c > most)
                most = c;
        }
        cycles += most;
        *least += most > 0;
    }
    return cycles;
}

/* What returning data adds to the latency; measured A2. */
static unsigned returning(const struct tm_inst *i)
{
    static const uint8_t load[5] = {0, 0, 2, 5, 6}, rtn[5] = {0, 0, 1, 1, 2};
    unsigned back = i->dst_dwords > 4 ? 4 : i->dst_dwords;
    if (i->send_regs > 1) /* an atomic that returns */
        return i->mem_ops == 2 && back == 2 ? 0 : rtn[back];
    if (i->mem_ops == 2) /* two addresses return side by side */
        return back == 2 ? 1 : 4;
    return load[back];
}

void tm_lds_costs(const struct tm_base *b, struct tm_inst *i)
{
    static const uint8_t send[6] = {0, 0, 2, 4, 7, 8};
    unsigned regs = i->send_regs > 5 ? 5 : i->send_regs, cycles = returning(i);
    int64_t passes = b->lanes == 64 ? 2 : 1;
    i->lds_transfer = (uint8_t)(send[regs] + cycles);
    i->lds_returns = (uint8_t)(!i->dst_dwords ? 0 : cycles > 1 ? cycles : 1);
    i->lds_least = i->lds_float ? (int32_t)PARAM(b, lds_float_atomic) : 0;
    i->lds_back = (int32_t)(i->lds_returns * passes);
    i->lds_after = (int32_t)(PARAM(b, lds_latency) - PARAM(b, lds_start) +
                             i->lds_transfer * passes + i->lds_least +
                             (i->permute ? PARAM(b, lds_permute) : 0));
}

/* Lanes of an access that go to a half of it, of a part that lies in both. */
static uint64_t lanes_of(const struct tm_base *b, const struct tm_lds_part *g,
                         const struct emu_access *x, unsigned half)
{
    uint32_t edge = (uint32_t)PARAM(b, lds_per_cu);
    uint64_t in = 0;
    for (uint64_t rest = x->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if ((g->base + x->address[lane] >= edge) == half)
            in |= UINT64_C(1) << lane;
    }
    return in;
}

/* The access with all its addresses. */
static const struct emu_access *formed(const struct emu_event *event,
                                       const struct emu_access *x, unsigned lanes,
                                       struct emu_access *copy)
{
    if (!event->row || x->space != EMU_SPACE_LDS)
        return x;
    *copy = *x;
    for (unsigned lane = 0; lane < lanes; lane++)
        copy->address[lane] =
            (uint32_t)(x->address[0] + event->row[lane] - event->row[0]);
    return copy;
}

/* part: that lies in both halves; NULL: in one */
static struct tm_lds_work work_of(const struct tm_base *b,
                                  const struct tm_lds_part *part,
                                  const struct tm_inst *i,
                                  const struct emu_event *event, unsigned half)
{
    struct tm_lds_work sum = {.more = i->lds_more};
    struct emu_access copy;
    for (unsigned a = 0; a < event->n_accesses; a++) {
        const struct emu_access *x = formed(event, &event->access[a], b->lanes, &copy);
        unsigned one;
        if (x->space != EMU_SPACE_LDS)
            continue;
        uint64_t lanes = part ? lanes_of(b, part, x, half) : x->lanes;
        sum.cycles += data_cycles(x, lanes, (unsigned)PARAM(b, lds_banks),
                                  lanes ? b->lanes : 0, &one);
        sum.least += one;
        if (x->read && x->write && i->send_regs)
            sum.more++; /* an atomic writes in a cycle of its own */
    }
    return sum;
}

struct tm_lds_work tm_lds_work_of(const struct tm_base *b, struct tm_inst *i,
                                  const struct emu_event *event)
{
    struct tm_pattern *p = &i->pattern;
    const uint32_t *row = event->row;
    if (!row)
        return work_of(b, NULL, i, event, 0);
    if (!event->n_accesses || tm_lds_is_seen(p, row, b->lanes))
        return p->work;
    p->low = p->high = 0;
    for (unsigned lane = 0; lane < b->lanes; lane++) {
        p->from[lane] = row[lane] - row[0];
        int32_t from = (int32_t)p->from[lane];
        p->low = from < p->low ? from : p->low;
        p->high = from > p->high ? from : p->high;
    }
    p->lanes = (uint8_t)b->lanes;
    p->at = row[0] & 3u;
    return p->work = work_of(b, NULL, i, event, 0);
}

int64_t tm_lds_occupy_both(const struct tm_base *b, const struct tm_lds_way *way,
                           const struct tm_inst *i, const struct emu_event *event,
                           int64_t accept, int64_t *conflict)
{
    struct tm_lds_work work[2];
    int64_t start = accept;
    for (unsigned half = 0; half < 2; half++)
        work[half] = work_of(b, way->part, i, event, half);
    if (work[0].cycles + work[1].cycles == 0)
        work[way->own].cycles = work[way->own].least = b->lanes == 64 ? 2 : 1;
    *conflict = 0;
    for (unsigned half = 0; half < 2; half++) {
        if (!work[half].cycles)
            continue;
        *conflict += work[half].cycles - work[half].least;
        start = tm_max(start, tm_lds_occupy(way->unit[half], way->counts, &work[half],
                                            accept, i->lds_least));
    }
    return start;
}
