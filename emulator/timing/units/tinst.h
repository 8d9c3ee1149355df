/* tinst.h: what the timing engine knows of an instruction before it runs: its class,
 * its pipe, the registers it touches. Made once per instruction of a program; nothing
 * here is looked up by name in the step path.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_TINST_H
#define TM_TINST_H

#include "observer.h"

/* What an instruction of class TM_IMM, TM_SALU does besides. */
enum tm_special {
    TM_PLAIN,
    TM_WAITCNT,   /* counts in .wait */
    TM_WAIT_SALU, /* s_waitcnt_vscnt and its kin */
    TM_BARRIER,
    TM_SLEEP,
    TM_DELAY,
    TM_CLAUSE,
    TM_END,
    TM_SETREG,
    TM_SETREG_IMM,
    TM_GETREG,
    TM_CALL, /* a branch that the SALU executes */
    TM_MESSAGE,
    TM_PRIORITY,
    TM_NOP,
    TM_DEPCTR, /* s_waitcnt_depctr: waits for the ALUs of the wave */
    TM_PREFETCH,
};

enum { TM_KEPT_LINES = 1024 }; /* of code, whose place in a cache is at hand */

#define TM_NO_WAIT    0xffu
#define TM_CODE_PIECE 64u /* bytes of code that a wave's buffer takes at once */
#define TM_NO_LINE    UINT32_MAX
#define TM_SGPRS      130u /* SGPRs, VCC, TTMP, M0, EXEC and SCC as the last */
#define TM_EXEC       126u
#define TM_SCC        129u

/* What may have changed when an instruction that was ready by then has its turn:
 * nothing; counters; the VALU; the path to memory; only the port; anything. */
enum tm_again {
    TM_AGAIN_NOTHING,
    TM_AGAIN_COUNTERS,
    TM_AGAIN_VALU,
    TM_AGAIN_MEMORY,
    TM_AGAIN_PORT,
    TM_AGAIN_ANY
};

/* What most instructions of kernels are; turns of each are compiled apart
 * (engine/turn.c): a VALU instruction of one cycle of a wave32 that touches VGPRs alone
 * and may be executed later; another one of the VALU of a wave32 that may be; one of
 * the LDS; s_waitcnt; one of the SALU that may be executed later; vector memory;
 * everything else, and those if in doubt. */
enum tm_sort {
    TM_SORT_ANY,
    TM_SORT_PLAIN,
    TM_SORT_VALU,
    TM_SORT_LDS,
    TM_SORT_WAIT,
    TM_SORT_SALU,
    TM_SORT_VMEM,
    TM_SORTS
};

struct tm_run {
    uint16_t first; /* VGPR or SGPR number */
    uint8_t n;
};

/* That an instruction waited for another: first then, in a turn of that wave. */
struct tm_blame {
    uint32_t from; /* offset of the other */
    uint8_t why;
    int64_t t;
    uint64_t turn;
};
enum { TM_BLAMES = 8 };

/* A WMMA reads three times eight VGPRs and writes eight. */
enum { TM_SOURCES = 24, TM_RESULTS = 8 };
enum { TM_SREADS = 20, TM_SWRITES = 20 }; /* s_load_b512, images with samplers */

/* The work of an LDS instruction for one unit. */
struct tm_lds_work {
    unsigned cycles, least; /* of data; without conflicts */
    unsigned more;          /* besides */
};

/* What vector memory instructions ask for. */
struct tm_asked {
    uint64_t requests, lanes, bytes; /* of instructions with lanes, by those */
    uint64_t lines, segments;        /* of 128 and 64 bytes, each instruction's own */
    uint64_t cycles;                 /* of the CUs' address units */
};

/* Addresses that all lanes of a wave gave an LDS instruction, less that of the first
 * lane, and the work that was. */
struct tm_pattern {
    uint32_t from[64];
    uint8_t lanes;     /* 32, 64; 0: none yet */
    uint8_t at;        /* of the first lane, in its dword */
    int32_t low, high; /* of .from: how far they reach */
    struct tm_lds_work work;
};

/* In the order of use: what every turn at it looks at lies in one line of the host's
 * caches, what VALU instructions need besides in two more; the account follows. */
struct tm_inst {
    _Alignas(64) const
        struct emu_inst *inst; /* during the run the program's, then .kept */
    struct tm_inst *after;     /* the one that a wave met next the last time, or NULL */
    struct tm_inst *follows;   /* the one behind it in the code, or NULL: not met yet */
    uint32_t offset;           /* canonical, in code */
    uint32_t target;           /* of a branch, the same */
    /* If it and what follows it lie in one line of code, what follows has been met and
     * it is not alone: the line, + 1, and the last one that they have in reach
     * (fetch.c); else TM_NO_LINE. */
    uint32_t near_line, near_reach;
    /* Lines that a wave may ask for at it, once what follows it has been met: the first
     * and bits for it and those behind it. Before: such as is never near. */
    uint32_t near_first, near_lines;
    uint16_t near_ahead; /* of a wave that fetches so far ahead at most, bytes */
    uint16_t delay;      /* immediate of s_delay_alu, s_nop, s_waitcnt_depctr */
    uint8_t bytes;
    uint8_t cls, pipe, special;
    uint8_t sort;        /* enum tm_sort */
    uint8_t again;       /* enum tm_again */
    uint8_t waits;       /* bit per limit of .wait */
    bool exec_matters;   /* skipped if EXEC is zero */
    bool postponed;      /* it may be executed later than it issues (meet.c) */
    bool idle;           /* then it does nothing: a wait, a hint */
    bool load_postponed; /* a load from LDS: so may it, mostly (engine/later.h) */
    bool alone;          /* it may touch what all shader engines share */
    bool looks;          /* it, or what comes next, may wait for vector memory */
    uint8_t vgpr_fields; /* source fields that are VGPRs */
    bool pair;           /* VOPD */
    bool stores_lds;     /* it may change what a load finds that is executed later */
    uint8_t lds_vgpr;    /* that the addresses of an LDS instruction are in, mostly */
    uint32_t lds_limit;  /* .load_postponed: these are to be below */

    /* VGPRs that a VALU instruction reads and writes, one by one; the former up to a
     * multiple of four, filled up with the first of them. */
    uint8_t n_src, n_dst, src[TM_SOURCES], dst[TM_RESULTS];
    uint64_t writes;       /* bit per VGPR that it writes, modulo 64 */
    uint8_t bank_reads[2]; /* operands from the VGPR banks, even and odd */
    /* The same behind the pair that a wave issued before this one the last time. */
    uint8_t pair_reads[2];
    const struct tm_inst *pair_before;
    uint16_t flops; /* of a lane; of WMMA, a wave's over 32 */
    uint8_t n_vsrc, n_vdst, n_ssrc, n_sdst;
    uint8_t sgpr_operands; /* source fields that are SGPRs */
    bool writes_sdst;      /* a VALU that writes SGPRs or VCC */
    bool writes_sgpr;      /* such one whose destination is not VCC, but may be null */
    bool writes_exec;
    bool reads_sgpr, reads_c; /* a WMMA whose third source is VGPRs */

    /* Its SGPRs up to TM_SGPRS, one by one. */
    uint8_t n_sread, n_swrite, sread[TM_SREADS], swrite[TM_SWRITES];

    struct tm_run vsrc[8], vdst[4];
    /* Of a VALU instruction: cycles that its issue is taken, of the pipe, from issue to
     * that of one which needs the result, from the result to that of one (valu.c). */
    int64_t dependent_cycles, issue_cycles, pipe_cycles, result_cycles;
    /* Account of the run. */
    uint64_t passed;           /* s_delay_alu: times that waves went through it */
    uint64_t conflicts;        /* cycles of LDS bank conflicts */
    uint64_t stall[TM_STALLS]; /* [TM_S_NONE]: issues */
    struct tm_blame blame[TM_BLAMES]; /* the first of them, in the order of time */
    unsigned n_blames;
    struct tm_asked asked; /* as a vector memory instruction */

    struct tm_inst *lands; /* the one at its target, or NULL: not met yet */
    size_t sought; /* instructions that had been met when these two were looked for */
    struct tm_run ssrc[8], sdst[4];
    uint8_t send_regs; /* VGPRs that a memory instruction sends */
    uint8_t sends[2];  /* of them, even and odd ones that the wave has */
    bool load, store, lds_float, permute, addr64, returns;
    bool trans64; /* a transcendental of f64 */
    bool whole64; /* a VALU that takes both halves of a wave64 at once */
    bool device;  /* a load or atomic that goes to the GL2, past L0 and GL1 */
    bool drops_l0, drops_gl1;    /* it empties the cache */
    uint8_t dst_dwords, mem_ops; /* returned; addresses per lane (2addr) */
    uint8_t lds_more;            /* data cycles that no access shows */
    /* Cycles that sending and returning its data adds to its latency; on the way back.
     */
    uint8_t lds_transfer, lds_returns;
    /* Of its wave: from where the LDS begins to the result, if nothing else holds it;
     * on the way back; that it occupies the LDS at least. */
    int32_t lds_after, lds_back, lds_least;
    uint8_t mul; /* SALU multiplication */
    uint16_t
        ahead;  /* of s_set_inst_prefetch_distance: bytes that a wave fetches ahead */
    bool talks; /* by it waves may learn what others have done, through memory */
    uint8_t wait[4]; /* vm, vs, lgkm, exp: limits, TM_NO_WAIT */
    uint16_t sleep_units;
    uint8_t clause;   /* instructions of a clause that begins */
    uint8_t priority; /* of s_setprio */
    struct tm_pattern pattern;
    struct emu_inst kept;
    bool wave64; /* of such waves */
};

/* Times that it was executed, or skipped. */
static inline uint64_t tm_inst_times(const struct tm_inst *i)
{
    return i->stall[TM_S_NONE] + i->passed;
}

/* Cycles of waves that went to it: a cycle for each issue, and what they waited. */
static inline uint64_t tm_inst_cycles(const struct tm_inst *i)
{
    uint64_t sum = 0;
    for (unsigned s = 0; s < TM_STALLS; s++)
        sum += i->stall[s];
    return sum;
}

/* Operations of all its executions, had all lanes of 32 taken part in each. */
static inline uint64_t tm_inst_flops(const struct tm_inst *i)
{
    return 32 * (uint64_t)i->flops * i->stall[TM_S_NONE];
}

/* sign: 1, or UINT64_MAX to take it away */
static inline void tm_asked_add(struct tm_asked *sum, const struct tm_asked *more,
                                uint64_t sign)
{
    sum->requests += sign * more->requests;
    sum->lanes += sign * more->lanes;
    sum->bytes += sign * more->bytes;
    sum->lines += sign * more->lines;
    sum->segments += sign * more->segments;
    sum->cycles += sign * more->cycles;
}

/* offset: its canonical address, see canon.h */
void tm_inst_describe(const struct emu_inst *inst, uint32_t offset, bool wave64,
                      struct tm_inst *out);
/* Once costs (valu.c) and .postponed are known. */
void tm_inst_sort(struct tm_inst *i, unsigned lanes);
/* List its registers one by one, but for VGPRs that the wave does not have: such an
 * instruction faults. */
void tm_inst_bound(struct tm_inst *i, unsigned vgprs);

#endif
