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
    int64_t ready, accept;    /* accept: as far as is known */
    int64_t burst;            /* of its SIMD, with it: tm_path */
    unsigned cycles, counted; /* counted: its number in the counter */
    bool more;                /* of a clause whose first has gone */
    struct tm_list *list;     /* of the wave, even if that has left */
    size_t listed;            /* its place there */
    struct tm_request *request;
};

/* One that has been accepted. */
struct tm_sent_op {
    int64_t accept;
    uint64_t age; /* of the wave, which may have left since */
    struct tm_wave *wave;
    const struct tm_inst *inst;
    struct tm_request *request;
    struct tm_vmem *to;
    uint32_t counted;
    uint16_t number;         /* of the CU */
    bool looked_up;          /* in the CU */
    struct tm_sent_op *next; /* in a list of tm_sent_look_up */
};

/* Those until memory is asked: of a shader engine. */
struct tm_sent {
    struct tm_sent_op *op;
    size_t n, room;
    struct tm_sent_op **now;        /* those that memory is asked for now, in order */
    size_t n_now, looked_up;        /* looked_up: so many in the array */
    int64_t until;                  /* they have been accepted before it */
    struct tm_request *idle, *made; /* requests that can serve again; all */
    bool lost;                      /* one, for want of memory */
    struct tm_traffic traffic;
    char apart[64]; /* from what another thread writes */
};

/* Of a SIMD, oldest first: a ring. */
struct tm_sends {
    unsigned first, n;
    struct tm_send_op op[TM_SENDS];
};

/* When it is free, which SIMD has had it last, and for how long. */
struct tm_path {
    int64_t free, burst;
    unsigned last;
};

/* Of a CU. */
struct tm_send {
    struct tm_vmem *to;
    const struct tm_memory *mem;
    struct tm_sent *sent;
    unsigned number, n;        /* number: of the CU in the chip */
    struct tm_path begin, end; /* before and behind those that wait */
    struct tm_sends of[2];     /* n in all */
};

/* An instruction issues now and takes so many cycles to send. */
void tm_send(const struct tm_base *b, struct tm_send *s, struct tm_wave *w,
             const struct tm_inst *i, const struct emu_event *event, unsigned cycles);
/* What a CU has accepted by a time is put on the list of its shader engine. */
void tm_send_go(const struct tm_base *b, struct tm_send *s, int64_t until);
static inline void tm_send_settle(const struct tm_base *b, struct tm_send *s,
                                  int64_t until)
{
    if (s->n)
        tm_send_go(b, s, until);
}
/* Memory is asked for what is on the lists and has been accepted by a time, in three
 * steps. Engines may take the first and the last each at the same time. What is an
 * engine's own is looked up; all is asked of what the chip shares, in one order;
 * counters know when it is done. */
void tm_sent_look_up(const struct tm_base *b, const struct tm_memory *m,
                     struct tm_sent *t, int64_t until);
void tm_sent_ask(const struct tm_base *b, struct tm_memory *m,
                 struct tm_sent *const sent[], unsigned n);
void tm_sent_return(const struct tm_base *b, struct tm_sent *t);
void tm_sent_free(struct tm_sent *sent);

#endif
