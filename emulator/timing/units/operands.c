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

void tm_pair_reads(struct tm_inst *i, const struct tm_inst *p)
{
    i->pair_before = p;
    i->pair_reads[0] = i->pair_reads[1] = 0;
    for (unsigned r = 0; r < i->n_vsrc; r++)
        if (r >= p->n_vsrc || p->vsrc[r].first != i->vsrc[r].first)
            i->pair_reads[i->vsrc[r].first % 2]++;
}

int64_t tm_lost_to_sends(struct tm_operands *o, int64_t start, int64_t end,
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
        (void)tm_lost_to_sends(o, INT64_MAX, 2 * b->now, (const int64_t[2]){0}, 0);
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
