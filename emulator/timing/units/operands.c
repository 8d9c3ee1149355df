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
    int64_t lost = 0, over = tm_min(start, end);
    while (o->n_sends) {
        struct tm_sending *m = &o->send[o->first_send];
        unsigned left = m->left[0] + m->left[1], bank = m->left[1] > m->left[0];
        if (m->half >= end)
            break;
        if (left > 1 && m->half + 2 * (int64_t)(left - 1) >= over) {
            lost += m->half >= start && n[bank] >= reads;
            m->left[bank]--;
            m->half += 2;
            continue;
        }
        lost += m->half >= start && n[bank] >= reads; /* the last, or all are over */
        o->n_sends--;
        o->first_send = (o->first_send + 1) % TM_SENDING;
    }
    return lost;
}
