/* lds.c: the LDS of a CU: data cycles, bank conflicts, latency.
 *
 * 32 banks of a dword; a wave's lanes go in as many phases as an access has dwords, and
 * each phase takes a cycle per different dword in its fullest bank. A WGP has two such
 * units: in CU mode each serves its CU, in WGP mode the address decides. Must not know
 * addresses' meaning. Invariant: one access occupies a unit at a time.
 * SPDX-License-Identifier: MIT
 */
#include "queue.h"

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

/* Do all lanes of a wave access one place, or one place after the other? */
static bool plain(const struct emu_access *x, uint64_t lanes)
{
    unsigned n = lanes == UINT32_MAX ? 32 : lanes == UINT64_MAX ? 64 : 0;
    uint64_t step = n ? x->address[1] - x->address[0] : 1, other = 0;
    if ((step != 0 && step != x->bytes) || x->bytes % 4 || x->bytes & (x->bytes - 1))
        return false;
    for (unsigned lane = 0; lane < n; lane++)
        other |= x->address[lane] ^ (x->address[0] + lane * step);
    return !other;
}

/* Data cycles of an access by some lanes, and those it would take without conflicts. */
static unsigned data_cycles(const struct emu_access *x, uint64_t all, unsigned banks,
                            unsigned *least)
{
    unsigned dwords = (x->bytes + 3u) / 4u, group = 32u / dwords, cycles = 0;
    if (group == 0)
        group = 1;
    *least = 0;
    if (banks == 32 && dwords <= 4 && plain(x, all)) /* no conflict */
        return *least = (all >> 32 ? 64 : 32) / group;
    for (unsigned first = 0; first < 64; first += group) {
        uint64_t lanes = all >> first & ((UINT64_C(1) << group) - 1);
        unsigned most = 0;
        if (!lanes)
            continue;
        for (unsigned d = 0; d < dwords; d++) {
            unsigned c = phase(x, lanes << first, d, banks);
            if (c > most)
                most = c;
        }
        cycles += most;
        ++*least;
    }
    return cycles;
}

/* What sending operands and returning data add to the latency; measured A2. */
static int64_t transfer(const struct tm_inst *i, unsigned passes)
{
    static const uint8_t send[6] = {0, 0, 2, 4, 7, 8};
    static const uint8_t load[5] = {0, 0, 2, 5, 6}, rtn[5] = {0, 0, 1, 1, 2};
    unsigned regs = i->send_regs > 5 ? 5 : i->send_regs;
    unsigned back = i->dst_dwords > 4 ? 4 : i->dst_dwords;
    int64_t sum = send[regs];
    if (regs > 1) /* an atomic that returns */
        sum += i->mem_ops == 2 && back == 2 ? 0 : rtn[back];
    else if (i->mem_ops == 2) /* two addresses return side by side */
        sum += back == 2 ? 1 : 4;
    else
        sum += load[back];
    return sum * passes;
}

/* Lanes of an access that go to a half of the WGP's LDS. In WGP mode a workgroup's
 * part lies where there was room, whichever CU its waves are on. */
static uint64_t lanes_of(const struct tm_engine *t, const struct tm_group *g,
                         const struct emu_access *x, unsigned half)
{
    uint32_t edge = (uint32_t)t->p.lds_per_cu;
    uint64_t in = 0;
    if (g->lds_base + g->lds_alloc <= edge)
        return half ? 0 : x->lanes;
    if (g->lds_base >= edge)
        return half ? x->lanes : 0;
    for (uint64_t rest = x->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if ((g->lds_base + x->address[lane] >= edge) == half)
            in |= UINT64_C(1) << lane;
    }
    return in;
}

/* The work of an instruction for one unit. */
struct work {
    unsigned cycles, least; /* of data; without conflicts */
    unsigned more;          /* besides */
};

static struct work work_of(const struct tm_engine *t, const struct tm_wave *w,
                           const struct tm_inst *i, const struct emu_event *event,
                           unsigned half)
{
    struct work sum = {.more = i->lds_more};
    unsigned banks = (unsigned)t->p.lds_banks;
    for (unsigned a = 0; a < event->n_accesses; a++) {
        const struct emu_access *x = &event->access[a];
        unsigned one;
        if (x->space != EMU_SPACE_LDS)
            continue;
        uint64_t lanes = t->wgp_mode ? lanes_of(t, w->group, x, half) : x->lanes;
        sum.cycles += data_cycles(x, lanes, banks, &one);
        sum.least += one;
        if (x->read && x->write && i->send_regs)
            sum.more++; /* an atomic writes in a cycle of its own */
    }
    return sum;
}

/* The unit that a wave's LDS is in. */
static struct tm_cu *unit_of(const struct tm_engine *t, const struct tm_wave *w)
{
    if (!t->wgp_mode)
        return w->simd->cu;
    return &w->simd->in->cu[w->group->lds_base >= (uint32_t)t->p.lds_per_cu];
}

/* Entries that an operation takes until its result is there. */
static unsigned flight_of(const struct tm_inst *i)
{
    return i->send_regs > 1 ? 2 : 1;
}

int64_t tm_lds_room(struct tm_engine *t, const struct tm_wave *w,
                    const struct tm_inst *i, int64_t accept)
{
    struct tm_queue *q = &unit_of(t, w)->lds_flight;
    queue_trim(q, t->now);
    return queue_room(q, accept, (unsigned)t->p.lds_flight + 1 - flight_of(i));
}

int64_t tm_lds(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
               const struct emu_event *event, int64_t accept)
{
    unsigned passes = t->launch.lanes == 64 ? 2 : 1, own = w->simd->index % 2;
    int64_t extra = i->lds_float ? PARAM(t, lds_float_atomic) : 0, start = accept;
    unsigned bank = 0;
    struct work work[2] = {{0}, {0}};
    if (!t->wgp_mode) {
        work[own] = work_of(t, w, i, event, own);
    } else {
        own = w->group->lds_base >= (uint32_t)t->p.lds_per_cu;
        work[0] = work_of(t, w, i, event, 0);
        work[1] = work_of(t, w, i, event, 1);
    }
    if (work[0].cycles + work[1].cycles == 0)
        work[own].cycles = work[own].least = passes;
    for (unsigned half = 0; half < 2; half++) {
        struct tm_cu *cu = &w->simd->in->cu[half];
        unsigned cycles = work[half].cycles;
        if (!cycles)
            continue;
        cycles += work[half].more;
        start = tm_max(start, cu->lds_free);
        bank += work[half].cycles - work[half].least;
        cu->lds_free = tm_max(accept, cu->lds_free) + tm_max(cycles, extra);
        cu->lds_cycles += cycles;
        t->lds_active += cycles;
    }
    t->lds_conflict += bank;
    int64_t queued = start - accept;
    t->level = queued > bank ? TM_S_LDS_BUSY : bank ? TM_S_LDS_BANK : TM_S_LGKM_LDS;
    int64_t done = start + PARAM(t, lds_latency) - PARAM(t, lds_start) +
                   transfer(i, passes) + extra + bank +
                   (i->permute ? PARAM(t, lds_permute) : 0);
    done = tm_max(done, w->lds_last + 1);
    w->lds_last = done;
    struct tm_queue *q = &unit_of(t, w)->lds_flight;
    int64_t last = q->n ? q->free_at[(q->first + q->n - 1) % 64] : 0;
    queue_add(q, tm_max(last, done - PARAM(t, lds_start)), flight_of(i));
    return done;
}
