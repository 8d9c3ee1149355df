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
    unsigned n_sends;
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

/* The instruction that issues now reads its operands, through so many cycles; how many
 * cycles later than that it has them.
 *
 * before  the VALU instruction that its wave issued before it; NULL: none
 */
int64_t tm_operands(const struct tm_base *b, struct tm_operands *o,
                    const struct tm_inst *before, struct tm_inst *i, int64_t cycles);
/* A memory instruction of the SIMD reads its operands when it is accepted. */
void tm_operands_send(const struct tm_base *b, struct tm_operands *o,
                      const struct tm_inst *i, int64_t accept);
/* One of the last instruction's is a result that can be had for an execution at that
 * time, not sooner. */
void tm_operands_wait(const struct tm_base *b, struct tm_operands *o, int64_t ready);

/* When an execution can have all results that it needs; 0: they are long there. */
int64_t tm_operands_ready(const struct tm_base *b, const struct tm_vregs *r,
                          const struct tm_inst *i);
/* Those of an instruction can be had at that time. */
void tm_operands_result(struct tm_vregs *r, const struct tm_inst *i, int64_t ready);

#endif
