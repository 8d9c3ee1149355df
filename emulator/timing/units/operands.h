/* operands.h: the VGPRs of a wave, and how a SIMD's VALU reads operands from their
 * banks. SPDX-License-Identifier: MIT
 */
#ifndef TM_OPERANDS_H
#define TM_OPERANDS_H

#include "base.h"
#include "tinst.h"

/* Operands that a memory instruction is to read: from when on, of which bank. */
struct tm_sending {
    int64_t half;
    uint8_t left[2];
};
enum { TM_SENDING = 16, TM_VGPRS = 256 };

/* How far a SIMD's VALU has read its operands, in half cycles. */
struct tm_operands {
    int64_t half, cost; /* end of the last instruction's reads; what they took */
    int64_t again;      /* reads to be repeated after the next instruction's */
    bool behind;        /* the last reads came behind such */
    bool full[2];       /* the last reads left a bank no time */
    unsigned n_sends, first_send; /* a ring */
    struct tm_sending send[TM_SENDING];
};

/* The VGPRs of a wave. */
struct tm_vregs {
    int64_t start;       /* of the wave */
    int64_t pairs_ready; /* the last pair's results */
    uint32_t *v;         /* earliest dependent result of each, as a stamp; 0: never */
    /* results of the last pairs (VOPD) as other instructions see them */
    uint8_t pair_vgpr[8];
    int64_t pair_ready[8];
    unsigned n_pairs;
};

/* A time as kept for a register, and back. What lies further from the wave's start than
 * 32 bits reach counts as long past. */
static inline uint32_t tm_stamp(int64_t start, int64_t when)
{
    int64_t since = when - start;
    return since > UINT32_MAX ? 1 : (uint32_t)tm_max(since, 1);
}

static inline int64_t tm_stamped(int64_t start, uint32_t stamp)
{
    return stamp ? start + stamp : 0;
}

static inline uint32_t tm_later(uint32_t one, uint32_t two)
{
    return one > two ? one : two;
}

/* operands.c */
/* Operands of a pair from the even and the odd bank. What it has from the wave's pair
 * before it, in the same place, is not read again. */
void tm_pair_reads(struct tm_inst *i, const struct tm_inst *p);
/* Memory instructions read a register a cycle, before the VALU. Half cycles that those
 * up to a time cost an instruction that reads so many from start on. */
int64_t tm_lost_to_sends(struct tm_operands *o, int64_t start, int64_t end,
                         const int64_t n[2], int64_t reads);
/* A memory instruction of the SIMD reads its operands when it is accepted. */
TM_HOT void tm_operands_send(const struct tm_base *b, struct tm_operands *o,
                             const struct tm_inst *i, int64_t accept)
{
    int64_t half = 2 * (accept - PARAM(b, lds_start));
    unsigned even = i->sends[0], odd = i->sends[1];
    /* What the VALU was to read at that time goes later. */
    for (; half < o->half && even + odd; half += 2) {
        bool second = odd > even;
        odd -= second;
        even -= !second;
        o->half += o->full[second];
    }
    /* What was read by now, with the VALU idle, has cost nothing: there must be room,
     * and what begins in the past has its place by what is left of others. */
    if (o->n_sends == TM_SENDING || half < 2 * b->now)
        (void)tm_lost_to_sends(o, INT64_MAX, 2 * b->now, (const int64_t[2]){0}, 0);
    if (o->n_sends == TM_SENDING || even + odd == 0)
        return;
    unsigned at = o->first_send + o->n_sends++;
    for (; at > o->first_send && o->send[(at - 1) % TM_SENDING].half > half; at--)
        o->send[at % TM_SENDING] = o->send[(at - 1) % TM_SENDING];
    o->send[at % TM_SENDING] = (struct tm_sending){half, {(uint8_t)even, (uint8_t)odd}};
}

/* Operands from the banks; p: the instruction before it, or NULL. */
static inline const uint8_t *tm_bank_reads(const struct tm_inst *p, struct tm_inst *i)
{
    if (!i->pair || !p || !p->pair)
        return i->bank_reads;
    if (i->pair_before != p)
        tm_pair_reads(i, p);
    return i->pair_reads;
}

/* The instruction that issues now reads its operands, through so many cycles; how many
 * cycles later than that it has them.
 *
 * before  the VALU instruction that its wave issued before it; NULL: none
 */
TM_HOT int64_t tm_operands(const struct tm_base *b, struct tm_operands *o,
                           const struct tm_inst *before, struct tm_inst *i,
                           int64_t cycles)
{
    const uint8_t *bank = tm_bank_reads(before, i);
    int64_t reads = PARAM(b, vgpr_bank_reads), n[2] = {bank[0], bank[1]};
    int64_t start = tm_max(2 * b->now, o->half);
    int64_t most = tm_max(n[0], n[1]);
    o->cost = 2 * cycles;
    if (i->pipe < TM_PIPE_WMMA) { /* WMMA reads over many cycles */
        if (most > reads)
            o->cost += 2 * (most - reads) / reads;
        if (o->n_sends && o->send[o->first_send].half < start + 2 * cycles)
            o->cost += tm_lost_to_sends(o, start, start + 2 * cycles, n, reads);
    }
    o->half = start + o->cost;
    o->full[0] = n[0] >= reads;
    o->full[1] = n[1] >= reads;
    int64_t late = ((o->half + o->behind) >> 1) - b->now - cycles;
    o->behind = o->again != 0;
    o->half += o->again;
    o->again = 0;
    return late;
}

/* One of the last instruction's is a result that can be had for an execution at that
 * time, not sooner. */
static inline void tm_operands_wait(const struct tm_base *b, struct tm_operands *o,
                                    int64_t ready)
{
    if (2 * (ready - PARAM(b, valu_latency) + 1) > o->half)
        o->again = o->cost;
}

/* When an execution can have all results that it needs; 0: they are long there.
 *
 * After a pair, an instruction that is none takes the even and the odd register for one
 * where the pair's X result goes: A3, twice in each trip. */
TM_HOT int64_t tm_operands_ready(const struct tm_base *b, const struct tm_vregs *r,
                                 const struct tm_inst *i)
{
    uint32_t last = 0;
    for (const uint8_t *src = i->src, *end = src + i->n_src; src < end; src += 4) {
        uint32_t one = tm_later(r->v[src[0]], r->v[src[1]]);
        uint32_t two = tm_later(r->v[src[2]], r->v[src[3]]);
        last = tm_later(last, tm_later(one, two));
    }
    int64_t ready = tm_stamped(r->start, last);
    if (r->pairs_ready <= b->now || i->pair)
        return ready;
    for (unsigned n = 0; n < i->n_vsrc; n++)
        for (unsigned p = 0; p < 8; p++)
            if (i->vsrc[n].n == 1 && r->pair_vgpr[p] == i->vsrc[n].first)
                ready = tm_max(ready, r->pair_ready[p]);
    return ready;
}

/* Those of an instruction can be had at that time. */
TM_HOT void tm_operands_result(struct tm_vregs *r, const struct tm_inst *i,
                               int64_t ready)
{
    uint32_t stamp = tm_stamp(r->start, ready);
    for (unsigned n = 0; n < i->n_dst; n++)
        r->v[i->dst[n]] = stamp;
    if (!i->pair)
        return;
    unsigned p = r->n_pairs++ % 8;
    r->pair_vgpr[p] = (uint8_t)(i->vdst[0].first ^ 1u);
    r->pair_ready[p] = r->pairs_ready = ready;
}

#endif
