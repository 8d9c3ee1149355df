/* send.h: vector memory instructions on their way from the SIMDs of a CU to its address
 * unit. SPDX-License-Identifier: MIT
 */
#ifndef TM_SEND_H
#define TM_SEND_H

#include "mem.h"

struct tm_wave;
struct tm_simd;

enum { TM_SENDS = 32 };

/* Of a CU. Those of a SIMD are oldest first. */
struct tm_send {
    struct tm_vmem *to;
    struct tm_memory *mem;
    unsigned n, last; /* last: SIMD that sent */
    int64_t free, burst;
    struct tm_send_op {
        struct tm_wave *wave;
        struct tm_simd *in;
        const struct tm_inst *inst;
        uint64_t age;
        int64_t ready, accept, free;
        unsigned cycles, simd, counted; /* counted: its number in the counter */
        uint8_t request;
        bool more; /* of a clause whose first has gone */
    } op[TM_SENDS];
    uint64_t requests; /* bit per one in use */
    struct tm_request request[TM_SENDS];
};

/* An instruction issues now and takes so many cycles to send. */
void tm_send(const struct tm_base *b, struct tm_send *s, struct tm_wave *w,
             const struct tm_inst *i, const struct emu_event *event, unsigned cycles);
/* What has been accepted by a time goes to memory: its counter knows when it is done.
 */
void tm_send_settle(const struct tm_base *b, struct tm_send *s, int64_t until);

#endif
