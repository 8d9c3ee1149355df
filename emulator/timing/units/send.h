/* send.h: vector memory instructions on their way from the SIMDs of a CU to its address
 * unit. SPDX-License-Identifier: MIT
 */
#ifndef TM_SEND_H
#define TM_SEND_H

#include "mem.h"

struct tm_list;
struct tm_wave;
struct tm_simd;

enum { TM_SENDS = 32 };

/* An instruction that has been issued. */
struct tm_send_op {
    struct tm_wave *wave;
    struct tm_simd *in;
    const struct tm_inst *inst;
    uint64_t age;
    int64_t ready, accept, free;
    unsigned cycles, simd, counted; /* counted: its number in the counter */
    unsigned number;                /* of the CU */
    bool more;                      /* of a clause whose first has gone */
    struct tm_list *list;           /* of the wave, even if that has left */
    size_t listed;                  /* its place there */
    struct tm_request *request;
    struct tm_send_op *next; /* in a list of tm_sent_ask */
};

/* Instructions that have been accepted, until memory is asked: of the chip. */
struct tm_sent {
    struct tm_send_op *op;
    size_t n, room;
    struct tm_request *idle, *made; /* requests that can serve again; all */
    bool lost;                      /* one, for want of memory */
    struct tm_traffic traffic;
};

/* Of a CU. Those of a SIMD are oldest first. */
struct tm_send {
    struct tm_vmem *to;
    struct tm_memory *mem;
    struct tm_sent *sent;
    unsigned number, n, last; /* number: of the CU in the chip; last: SIMD that sent */
    int64_t free, burst;
    struct tm_send_op op[TM_SENDS];
};

/* An instruction issues now and takes so many cycles to send. */
void tm_send(const struct tm_base *b, struct tm_send *s, struct tm_wave *w,
             const struct tm_inst *i, const struct emu_event *event, unsigned cycles);
/* What a CU has accepted by a time is put on the list of the chip. */
void tm_send_settle(const struct tm_base *b, struct tm_send *s, int64_t until);
/* Memory is asked for what is on the list and has been accepted by a time: counters
 * know when it is done. */
void tm_sent_ask(const struct tm_base *b, struct tm_sent *sent, int64_t until);
/* What is on another list goes to the end of this one. */
RD_CHECKED rd_status tm_sent_move(struct tm_sent *to, struct tm_sent *from);
void tm_sent_free(struct tm_sent *sent);

#endif
