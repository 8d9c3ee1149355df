/* lds.c: the LDS of a CU: data cycles, bank conflicts, latency.
 *
 * 32 banks of a dword; a wave's lanes go in as many phases as an access has dwords, and
 * each phase takes a cycle per different dword in its fullest bank. Must not know
 * addresses' meaning. Invariant: one access occupies the unit at a time.
 * SPDX-License-Identifier: MIT
 */
#include "engine.h"

/* Cycles of one phase: lanes of mask from first on, dword d of each. */
static unsigned phase(const struct emu_access *x, uint64_t lanes, unsigned d,
                      unsigned banks)
{
    uint32_t dword[TM_MAX_BANKS][32];
    uint8_t n[TM_MAX_BANKS] = {0};
    unsigned most = 1;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        uint32_t at = (uint32_t)(x->address[lane] / 4) + d;
        unsigned bank = at % banks, k = 0;
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

/* Data cycles of an access, and those it would take without conflicts. */
static unsigned data_cycles(const struct emu_access *x, unsigned banks, unsigned *least)
{
    unsigned dwords = (x->bytes + 3u) / 4u, group = 32u / dwords, cycles = 0;
    if (group == 0)
        group = 1;
    *least = 0;
    for (unsigned first = 0; first < 64; first += group) {
        uint64_t lanes = x->lanes >> first & ((UINT64_C(1) << group) - 1);
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

int64_t tm_lds(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
               const struct emu_event *event, int64_t accept)
{
    struct tm_cu *cu = w->simd->cu;
    unsigned cycles = 0, least = 0, rewrite = i->lds_more,
             passes = t->launch.lanes == 64 ? 2 : 1;
    unsigned banks = (unsigned)t->p.lds_banks;
    for (unsigned a = 0; a < event->n_accesses; a++) {
        unsigned one;
        if (event->access[a].space != EMU_SPACE_LDS)
            continue;
        cycles += data_cycles(&event->access[a], banks, &one);
        if (event->access[a].read && event->access[a].write && i->send_regs)
            rewrite++; /* an atomic writes in a cycle of its own */
        least += one;
    }
    if (cycles == 0)
        cycles = least = passes;
    cycles += rewrite;
    least += rewrite;
    int64_t extra = i->lds_float ? PARAM(t, lds_float_atomic) : 0;
    int64_t start = tm_max(accept, cu->lds_free);
    cu->lds_free = start + cycles + extra;
    cu->lds_cycles += cycles;
    t->lds_active += cycles;
    t->lds_conflict += cycles - least;
    int64_t queued = start - accept, bank = cycles - least;
    t->level = queued > bank ? TM_S_LDS_BUSY : bank ? TM_S_LDS_BANK : TM_S_LGKM_LDS;
    int64_t done = start + PARAM(t, lds_latency) - PARAM(t, lds_start) +
                   transfer(i, passes) + extra + (cycles - least) +
                   (i->permute ? PARAM(t, lds_permute) : 0);
    done = tm_max(done, w->lds_last + 1);
    w->lds_last = done;
    return done;
}
