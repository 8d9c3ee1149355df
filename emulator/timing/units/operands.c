/* operands.c: how the VALU reads its operands from the VGPR banks.
 *
 * Two banks, of even and of odd registers, each read twice a cycle: half a cycle per
 * operand of the fuller bank. Instructions read in the order of issue, ahead of
 * execution where that waits for something else. One whose operand is a result that
 * comes later reads all of them once more, after the instruction behind it, which has
 * begun to read by then. What memory instructions read when they are accepted, a
 * register a cycle, comes first and costs where the VALU needs all of a bank. Must not
 * know pipes. Invariant: times are of the SIMD, whosever waves the instructions are,
 * and never go back. Found from the places where the traces of A3 and A1 lose cycles.
 *
 * SPDX-License-Identifier: MIT
 */
#include "operands.h"

/* Operands of a pair from the even and the odd bank. What it has from the wave's pair
 * before it, in the same place, is not read again. */
static void pair_reads(struct tm_inst *i, const struct tm_inst *p)
{
    i->pair_before = p;
    i->pair_reads[0] = i->pair_reads[1] = 0;
    for (unsigned r = 0; r < i->n_vsrc; r++)
        if (r >= p->n_vsrc || p->vsrc[r].first != i->vsrc[r].first)
            i->pair_reads[i->vsrc[r].first % 2]++;
}

/* The same of any instruction; p: the one before it, or NULL. */
static const uint8_t *bank_reads(const struct tm_inst *p, struct tm_inst *i)
{
    if (!i->pair || !p || !p->pair)
        return i->bank_reads;
    if (i->pair_before != p)
        pair_reads(i, p);
    return i->pair_reads;
}

/* Memory instructions read a register a cycle, before the VALU. Half cycles that those
 * up to a time cost an instruction that reads so many from start on. */
static int64_t lost_to_sends(struct tm_operands *o, int64_t start, int64_t end,
                             const int64_t n[2], int64_t reads)
{
    int64_t lost = 0;
    while (o->n_sends && o->send[0].half < end) {
        struct tm_sending *m = &o->send[0];
        unsigned bank = m->left[1] > m->left[0];
        if (m->half >= start && n[bank] >= reads)
            lost++;
        m->left[bank]--;
        m->half += 2;
        if (m->left[0] + m->left[1])
            continue;
        o->n_sends--;
        for (unsigned k = 0; k < o->n_sends; k++) /* few: no call */
            o->send[k] = o->send[k + 1];
    }
    return lost;
}

void tm_operands_send(const struct tm_base *b, struct tm_operands *o,
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
    /* What was read by now, with the VALU idle, has cost nothing. */
    if (o->n_sends)
        (void)lost_to_sends(o, INT64_MAX, 2 * b->now, (const int64_t[2]){0}, 0);
    unsigned at = o->n_sends;
    if (at == TM_SENDING || even + odd == 0)
        return;
    for (; at > 0 && o->send[at - 1].half > half; at--)
        o->send[at] = o->send[at - 1];
    o->send[at].half = half; /* by parts, as they are read: hosts forward them */
    o->send[at].left[0] = (uint8_t)even;
    o->send[at].left[1] = (uint8_t)odd;
    o->n_sends++;
}

int64_t tm_operands(const struct tm_base *b, struct tm_operands *o,
                    const struct tm_inst *before, struct tm_inst *i, int64_t cycles)
{
    const uint8_t *bank = bank_reads(before, i);
    int64_t reads = PARAM(b, vgpr_bank_reads), n[2] = {bank[0], bank[1]};
    int64_t start = tm_max(2 * b->now, o->half);
    int64_t most = tm_max(n[0], n[1]);
    o->cost = 2 * cycles;
    if (i->pipe < TM_PIPE_WMMA) { /* WMMA reads over many cycles */
        if (most > reads)
            o->cost += 2 * (most - reads) / reads;
        if (o->n_sends)
            o->cost += lost_to_sends(o, start, start + 2 * cycles, n, reads);
    }
    o->half = start + o->cost;
    o->full[0] = n[0] >= reads;
    o->full[1] = n[1] >= reads;
    int64_t late = (o->half + o->behind) / 2 - b->now - cycles;
    o->behind = o->again != 0;
    o->half += o->again;
    o->again = 0;
    return late;
}

void tm_operands_wait(const struct tm_base *b, struct tm_operands *o, int64_t ready)
{
    if (2 * (ready - PARAM(b, valu_latency) + 1) > o->half)
        o->again = o->cost;
}

/* After a pair, an instruction that is none takes the even and the odd register for one
 * where the pair's X result goes: A3, twice in each trip. */
int64_t tm_operands_ready(const struct tm_base *b, const struct tm_vregs *r,
                          const struct tm_inst *i)
{
    uint32_t last = 0;
    for (unsigned n = 0; n < i->n_src; n++) {
        uint32_t one = r->v[i->src[n]];
        last = one > last ? one : last;
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

void tm_operands_result(struct tm_vregs *r, const struct tm_inst *i, int64_t ready)
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
