/* valu.h: vector and scalar ALUs: execution slots of a SIMD, results of a wave.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_VALU_H
#define TM_VALU_H

#include "operands.h"
#include "queue.h"

/* Of a SIMD. It executes in order of issue, whosever waves the instructions are. */
struct tm_valu {
    int64_t free, trans_free; /* the next issue */
    struct tm_ring queue;
    int64_t room; /* in it, from then on */
    struct tm_queue wmma_queue;
    int64_t result;       /* the last */
    int64_t trans_result; /* of a transcendental */
    int64_t after_double; /* others' results come behind those of f64 */
    int64_t slow;         /* until when one of these may be waited for */
    struct tm_operands operands;
    struct tm_queue sdst_queue;
    int64_t stalls, goes; /* no issue from, until */
    uint8_t last_pipe;
    uint64_t cycles; /* that it was busy */
};

enum { TM_HISTORY = 4 }; /* as many as s_delay_alu can name */

/* Of a wave. */
struct tm_valu_wave {
    int64_t last_exec, exec; /* last result; that of the last issued */
    /* The last ones, rings: when a dependent may issue. */
    int64_t next[TM_HISTORY];
    int64_t result[TM_HISTORY]; /* of the same: it leaves the pipe */
    const struct tm_inst *from[TM_HISTORY];
    uint8_t newest, newest_trans;
    bool has_read; /* a VGPR */
    /* results in SGPRs and EXEC on their way */
    unsigned sdst_n, cmpx_n;
    uint32_t exec_ready; /* EXEC by the SALU, as its tm_sreg.ready */
    int64_t sdst_exec, sdst_issue, cmpx_exec;
    int64_t sgpr_read,
        sgpr_write; /* the last issue that did; the last result, not VCC */
};

/* Likewise the last of the transcendentals. */
struct tm_trans_wave {
    int64_t next[TM_HISTORY];
    const struct tm_inst *from[TM_HISTORY];
};

struct tm_sreg {
    uint32_t write; /* by VALU: results leave */
    uint32_t busy;  /* until when VALU reads or writes it */
    uint32_t ready; /* of SALU */
};

/* Scalar ALU of a wave. */
struct tm_salu_wave {
    int64_t issue, slot, exec; /* of the last */
    int64_t exec_visible;      /* when EXEC is known to whoever issues */
};

/* What it has not begun, and the registers. */
struct tm_sregs {
    struct tm_short_queue queue;
    struct tm_sreg s[TM_SGPRS];
};

/* valu.c: what a VALU instruction takes: before it is first issued. */
void tm_inst_costs(const struct tm_base *b, struct tm_inst *i);

#endif
