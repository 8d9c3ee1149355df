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
    struct tm_queue queue, wmma_queue;
    int64_t result; /* the last */
    struct tm_operands operands;
    struct tm_queue sdst_queue;
    int64_t stalls, goes; /* no issue from, until */
    uint8_t last_pipe;
    uint64_t cycles; /* that it was busy */
};

/* Of a wave. */
struct tm_valu_wave {
    int64_t last_exec, exec;        /* last result; that of the last issued */
    int64_t hist[4], hist_trans[3]; /* when a dependent may issue; newest first */
    const struct tm_inst *hist_from[4], *trans_from[3];
    bool has_read; /* a VGPR */
    /* results in SGPRs and EXEC on their way */
    unsigned sdst_n, cmpx_n;
    int64_t sdst_exec, sdst_issue, cmpx_exec;
    int64_t sgpr_read,
        sgpr_write; /* the last issue that did; the last result, not VCC */
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

#endif
