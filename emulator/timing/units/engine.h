/* engine.h: the machine as the timing engine sees it. Private to emulator/timing.
 *
 * Rules for whoever edits the engine:
 *  1. Time is in shader clocks, int64_t; what runs on the fabric clock is converted
 * once, by tm_lat. Nothing is ticked: a unit is a time at which it is free again.
 *  2. Everything that a wave waits for is known when it is issued, except barriers,
 * ports lost to other waves and vector memory that has not been accepted: those are
 * looked at again when the wave's turn comes.
 *  3. Waves are visited in order of (time, priority, age), so the oldest wins a port
 * and the run is deterministic.
 *  4. Addresses are made canonical before they index anything (mem.c): the host's
 *     placement of buffers must not change a cycle.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_ENGINE_H
#define TM_ENGINE_H

#include <stdlib.h>

#include "cache.h"
#include "canon.h"
#include "numbers.h"
#include "observer.h"
#include "params.h"
#include "step.h"
#include "timing.h"
#include "tinst.h"

enum { TM_LDS_PLACES = 4 }; /* words of bits: 1 KiB each, 2 CUs, and room */
enum { TM_COUNTERS = 4, TM_FIFO = 64, TM_FETCHES = 64, TM_FREED = 512 };
enum { TM_TLB_PAGES = 4096 };
enum { TM_VM, TM_VS, TM_LGKM, TM_EXP };

/* What a wait counter counts, oldest first. */
struct tm_fifo {
    unsigned first, n;
    struct tm_counted {
        int64_t done;
        const struct tm_inst *from;
        uint8_t kind; /* enum tm_stall to blame */
        bool open;    /* not known yet: no sooner than .done */
    } op[TM_FIFO];
};

/* Entries of an issue queue: when each becomes free, oldest first. */
struct tm_queue {
    unsigned first, n;
    int64_t free_at[64];
    uint8_t weight[64];
};

struct tm_timed { /* of a listed wave: an issue */
    uint32_t offset;
    int64_t t;
};

/* What a wave waited for, and whose result that is. */
struct tm_waited {
    uint8_t why;
    uint32_t cycles;
    const struct tm_inst *from; /* NULL: nobody's */
};
enum { TM_WAITED = 12 };

/* A wave's record in the timing file; lives as long as the engine. */
struct tm_record {
    uint32_t wg[3];
    uint32_t wave;
    uint8_t se, sa, wgp, simd, slot;
    int64_t start, end;
    struct tm_timed *insts;
    size_t n_insts, cap_insts;
};

struct tm_group;
struct tm_simd;

/* Times of one register, as cycles since its wave's start; 0: never. */
struct tm_vreg {
    uint32_t ready; /* earliest dependent result */
    uint32_t read;  /* memory has read it as an operand */
};

struct tm_sreg {
    uint32_t write, read; /* by VALU: results leave, reads done */
    uint32_t ready;       /* of SALU */
};

/* What every turn looks at comes first: it is fetched ahead (events.c). */
struct tm_wave {
    struct emu_wave *wave;
    struct tm_simd *simd;
    struct tm_inst *next;                     /* NULL: not looked at yet */
    int64_t start, last_issue, earliest, due; /* due: its next turn */
    bool last_imm, began, ended, at_barrier, skip, sleeps, slept, left, read_vgpr;
    uint8_t earliest_why, priority;
    /* s_delay_alu: what holds the next instruction and one after it */
    uint8_t delay_id[2], delay_skip;
    uint8_t clause_left, clause_size; /* s_clause */
    bool clause_more;                 /* this instruction is not its first */
    bool delay_on[2];
    /* fetch */
    uint64_t line_ready_for; /* line + 1 that line_ready is about */
    int64_t line_ready;
    uint64_t fetched;   /* first line this wave has not asked for */
    int64_t fetch_last; /* when its last request returns */
    /* VALU */
    int64_t valu_last_exec, valu_exec; /* last result; that of the last issued */
    int64_t hist[4], hist_trans[3];    /* when a dependent may issue; newest first */
    const struct tm_inst *hist_from[4], *trans_from[3];
    int64_t pairs_ready; /* the last pair's results */
    int64_t mem_read;    /* the latest of all reads in v */
    /* VALU results in SGPRs */
    unsigned sdst_n, cmpx_n;
    int64_t sdst_exec, sdst_issue, cmpx_exec, exec_visible;
    /* SALU, memory */
    int64_t salu_slot, salu_exec;
    int64_t lds_accept;  /* of the last LDS instruction */
    int64_t vmem_accept; /* of the last vector memory instruction */
    int64_t vm_last, lds_last, vs_last;
    struct tm_group *group;
    uint64_t age, number;
    size_t record;
    unsigned slot;
    /* account.c: what the cycles since the last issue went to; all before told */
    unsigned n_waited;
    int64_t told;
    struct tm_waited waited[TM_WAITED];
    struct tm_inst *last;      /* s_endpgm */
    struct tm_wave *next_free; /* in the pool, or in a list of ending waves */
    struct tm_wave *next_made;
    struct tm_fifo counter[TM_COUNTERS];
    struct tm_queue salu_queue;
    struct tm_sreg s[TM_SGPRS];
    struct tm_vreg v[256];
    /* results of the last pairs (VOPD) as other instructions see them: operands.c */
    uint8_t pair_vgpr[8];
    int64_t pair_ready[8];
    unsigned n_pairs;
};

struct tm_group {
    struct emu_group *group;
    uint64_t number;
    unsigned n_waves, n_live, n_held; /* all; not left; whose places are not free */
    struct tm_wgp *wgp;
    unsigned cu;                  /* of the WGP; 2: both */
    uint32_t lds_alloc, lds_base; /* where it begins in the WGP, in WGP mode */
    unsigned lds_place;
    struct tm_wave *waves[32];
    struct tm_group *next_free, *next_made;
};

/* Operands that a memory instruction is to read: from when on, of which bank. */
struct tm_sending {
    int64_t half;
    uint8_t left[2];
};
enum { TM_SENDING = 16 };

/* How far a SIMD's VALU has read its operands, in half cycles. */
struct tm_operands {
    int64_t half, cost; /* end of the last instruction's reads; what they took */
    int64_t again;      /* reads to be repeated after the next instruction's */
    bool behind;        /* the last reads came behind such */
    bool full[2];       /* the last reads left a bank no time */
    unsigned n_sends;
    struct tm_sending send[TM_SENDING];
};

/* One SIMD: ports, and the execution slots of its VALU. */
struct tm_simd {
    unsigned se, sa, wgp, index;
    struct tm_cu *cu;
    struct tm_wgp *in;
    unsigned vgprs_used, waves, live; /* live: not left */
    uint32_t slots;                   /* bit per slot in use */
    int64_t slot_free[32];
    int64_t port[TM_CLASSES]; /* last issue */
    int64_t valu_free, trans_free;
    /* The VALU executes in order of issue, whosever waves the instructions are. */
    struct tm_queue valu_queue, wmma_queue;
    int64_t valu_result;         /* the last */
    struct tm_operands operands; /* operands.c */
    struct tm_queue sdst_queue;
    int64_t valu_stalls, valu_goes; /* no VALU issue from, until */
    uint8_t valu_last_pipe;
    uint64_t valu_cycles;
    int64_t held_since, held; /* cycles with a wave resident */
    struct tm_queue lds_queue, vmem_queue;
    struct tm_queue fetch_queue; /* waves that start, until their first bytes come */
    double fetch_turn;           /* at a full instruction cache: the next delivery, */
    unsigned fetch_left, fetch_again;   /* how many more, second ones to come */
    struct tm_wave *clause[TM_CLASSES]; /* the wave in a clause, which goes on */
    int64_t last_barrier;
    bool barrier_second;  /* the last one followed another in the next cycle */
    int64_t barrier_open; /* for the one after that */
};

/* The last operation on its way to the LDS of a CU. */
struct tm_lds_op {
    struct tm_wave *wave;
    uint64_t age; /* of the wave; 0: none */
    const struct tm_inst *inst;
    const struct tm_simd *simd, *before; /* its, that of the one that went before it */
    int64_t ready, accept, done, free;   /* of its queue entry */
    bool before_waited, overtaken, at_once; /* the LDS takes it when accepted */
};

/* What a vector memory instruction asks for. */
struct tm_request {
    uint64_t line[64];  /* canonical, distinct */
    uint8_t halves[64]; /* bit per 64 bytes of a line */
    unsigned lines;
    unsigned segments; /* of 64 bytes, which stores are sent in */
    int64_t cycles;    /* of the address unit */
    int64_t groups;    /* of lanes: the least cycles */
};

/* Vector memory instructions on their way to the address unit of a CU (send.c), those
 * of a SIMD oldest first. */
enum { TM_SENDS = 32 };
struct tm_send {
    unsigned n, last; /* last: SIMD that sent */
    int64_t free, burst;
    struct tm_sent { /* the last of each SIMD: sent, its entry free */
        int64_t end, free;
        unsigned cycles;
        bool paired;
    } sent[2];
    struct tm_send_op {
        struct tm_wave *wave;
        struct tm_simd *in;
        const struct tm_inst *inst;
        uint64_t age;
        int64_t ready, accept, free;
        unsigned cycles, simd, counted; /* counted: place in the counter's ring */
        uint8_t request;
        bool more; /* of a clause whose first has gone */
    } op[TM_SENDS];
    uint64_t requests; /* bit per one in use */
    struct tm_request request[TM_SENDS];
};

struct tm_cu {
    struct tm_simd simd[2];
    uint32_t lds_used, groups;
    int64_t next_group;
    int64_t lds_send_free; /* to the LDS */
    struct tm_lds_op lds_last;
    int64_t lds_free, ta_free, store_free, return_free;
    uint64_t ta_wave; /* age of the wave whose addresses came last, or 0 */
    uint64_t lds_cycles;
    struct tm_queue lds_flight; /* accepted, result not there yet */
    int64_t held_since, held;
    unsigned waves;
    struct tm_cache l0;
    uint64_t tlb[64];    /* bit per page seen, hashed */
    struct tm_send send; /* VGPRs to vector memory; large */
};

struct tm_wgp {
    struct tm_cu cu[2];
    unsigned enabled; /* bit per CU */
    unsigned waves, groups;
    uint64_t lds_taken[TM_LDS_PLACES]; /* bit per place */
    int64_t busy_since, busy_cycles;
    double fetch_free;
    unsigned fetch_last;                                  /* SIMD served last */
    int64_t second[TM_FETCHES], second_ready[TM_FETCHES]; /* requests of new waves */
    unsigned n_second;
    int64_t smem_return, barrier_free;
    int64_t code_seen; /* when its code translation is there */
    struct tm_cache icache, scache;
};

struct tm_se {
    struct tm_wgp *wgps;  /* arrays_per_se * wgps_per_array */
    uint64_t next_number; /* its next workgroup */
    struct tm_cache gl1[4];
    unsigned next_cu;
    int64_t next_launch;
    bool waits; /* the next workgroup has found no room */
    unsigned first_freed, n_freed;
    uint16_t freed[TM_FREED]; /* CUs that workgroups have left since, oldest first */
    /* Ends of waves that the SE has not taken note of, per array and WGP. */
    struct tm_wave *ending[TM_MAX_ARRAYS][TM_MAX_WGPS];
    struct tm_wave **ending_last[TM_MAX_ARRAYS][TM_MAX_WGPS];
    unsigned n_ending[TM_MAX_ARRAYS];
    int64_t end_next[TM_MAX_ARRAYS];  /* when the array may report the next */
    int64_t code_free[TM_MAX_ARRAYS]; /* GL1 of an array: instruction lines to another
                                         WGP */
    unsigned code_wgp[TM_MAX_ARRAYS];
    int64_t ends_taken; /* when the SE will have dealt with those reported */
    int64_t first_start, last_end;
    bool used, scheduled;
};

struct tm_event {
    int64_t t;
    uint64_t age;
    struct tm_wave *wave; /* NULL: dispatcher of SE .age */
};

enum { TM_WHEEL = 1024 };

/* Events of one cycle by age; those before first are done. */
struct tm_cycle {
    struct tm_event *event;
    uint32_t first, n, cap;
    bool sorted;
};

struct tm_events {
    struct tm_cycle cycle[TM_WHEEL];
    uint64_t busy[TM_WHEEL / 64];
    struct tm_event *heap; /* further away than the wheel reaches */
    size_t n_heap, cap_heap, n;
    struct tm_event *tmp; /* for sorting */
    size_t cap_tmp;
};

/* Instructions issued up to multiples of step; when the chip was full; when workgroups
 * started. */
enum { TM_PACES = 256 };
struct tm_pace {
    int64_t step, next, full_from, full_until;
    uint64_t groups, insts[TM_PACES];
    unsigned n;
    int64_t *start; /* of a sample only */
};

struct tm_engine {
    struct tm_config config;
    struct tm_params p;
    double ghz;
    struct emu_stepper *stepper;
    struct emu_launch launch;
    /* machine */
    unsigned n_ses, wgps_per_se;
    struct tm_se se[TM_MAX_SES];
    struct tm_wgp *wgps;
    struct tm_cache gl2, mall;
    int64_t code_walked;  /* when the code page's translation is there */
    unsigned code_arrays; /* that get workgroups */
    int64_t gl2_free[TM_MAX_CHANNELS];
    double mall_free, dram_free;
    /* what a workgroup needs */
    unsigned vgprs_alloc, waves_per_group, user_sgprs;
    uint32_t lds_alloc;
    bool wgp_mode;
    /* order */
    struct tm_events events;
    uint64_t next_group, end_group, live_groups, next_age, group_step;
    int64_t now;
    struct tm_wave *free_waves, *made_waves;
    struct tm_group *free_groups, *made_groups;
    /* instructions by their numbers, in the order of first use */
    struct numbers numbers;
    struct tm_inst **insts;
    size_t cap_insts;
    /* addresses */
    struct tm_canon canon;
    int64_t kernarg_done;
    int64_t tlb_ready[TM_TLB_PAGES]; /* UTCL2: when the translation is there, 0: never
                                        asked */
    bool tlb_brought[TM_TLB_PAGES];  /* by the walk for a neighbour */
    /* sample.c: workgroups that fit at once */
    uint64_t capacity;
    struct tm_pace pace;
    /* results */
    double wave_cycles; /* sum of the waves' durations */
    struct tm_record *records;
    size_t n_records, cap_records;
    uint64_t n_valu, n_salu, n_insts, n_class[TM_CLASSES];
    uint64_t lds_active, lds_conflict, gl2_hit, gl2_miss, peak_waves, resident;
    uint64_t flops, read_bytes, write_bytes;
    uint8_t level; /* enum tm_stall: where the slowest line of an access was */
    struct tm_observer observer;
    int64_t sample_at;
    uint64_t n_waves;
    unsigned waves_by_regs, waves_by_lds;
};

static inline int64_t tm_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A time as kept for a register, and back. What lies further from the wave's start than
 * 32 bits reach counts as long past. */
static inline uint32_t tm_stamp(const struct tm_wave *w, int64_t when)
{
    int64_t since = when - w->start;
    return since > UINT32_MAX ? 1 : (uint32_t)tm_max(since, 1);
}

static inline int64_t tm_stamped(const struct tm_wave *w, uint32_t stamp)
{
    return stamp ? w->start + stamp : 0;
}

/* Shader clocks of so many cycles and ns. */
static inline int64_t tm_lat(const struct tm_engine *t, double cycles, double ns)
{
    double sum = cycles + ns * t->ghz;
    return sum < 0 ? 0 : (int64_t)(sum + 0.5);
}

/* Whose turn it is among waves at the same time: high priority first, then age. */
static inline uint64_t tm_turn(const struct tm_wave *w)
{
    return w->age + ((uint64_t)(3u - w->priority) << 60);
}

#define PARAM(t, name) ((int64_t)(t)->p.name)

/* How much later than the first WGP of its SE a SIMD's WGP hears of a wave. */
static inline int64_t tm_hops(const struct tm_engine *t, const struct tm_simd *s)
{
    return (int64_t)(s->wgp + s->sa) * PARAM(t, launch_hop_cycles);
}

/* ---- events.c ---- */
/* when: now or later. */
RD_CHECKED rd_status tm_push(struct tm_engine *t, int64_t when, uint64_t age,
                             struct tm_wave *w);
/* The next event; there must be one. */
RD_CHECKED rd_status tm_pop(struct tm_engine *t, struct tm_event *out);
void tm_events_destroy(struct tm_events *q);

/* ---- engine.c ---- */
/* The record of an instruction; NULL if out of memory. */
struct tm_inst *tm_lookup(struct tm_engine *t, const struct emu_inst *inst);

/* ---- place.c ---- */
RD_CHECKED rd_status tm_machine_create(struct tm_engine *t);
void tm_machine_destroy(struct tm_engine *t);
void tm_dispatch_begin(struct tm_engine *t, const struct emu_dispatch *d);
/* The dispatcher of an SE looks for room. */
RD_CHECKED rd_status tm_dispatch(struct tm_engine *t, unsigned se);
/* A wave has done everything: it waits for the SE to take note, then leaves, then its
 * place becomes free. */
RD_CHECKED rd_status tm_wave_end(struct tm_engine *t, struct tm_wave *w);
/* An SE takes note of the end of a wave of one of its arrays (2 * SE + array). */
RD_CHECKED rd_status tm_take_ends(struct tm_engine *t, unsigned array);

/* ---- issue.c: when may the wave issue its next instruction? ----
 *
 * why   out: what it waits for until then
 * from  out: whose result that is; NULL: nobody's
 */
int64_t tm_ready(struct tm_engine *t, struct tm_wave *w, uint8_t *why,
                 const struct tm_inst **from);

bool tm_skipped(const struct tm_engine *t, const struct tm_wave *w,
                const struct tm_inst *i, int64_t when);

/* ---- account.c: where the cycles of a wave go ----
 *
 * tm_account_wait: until that time, for that reason (earlier: nothing to tell).
 */
unsigned tm_occupancy(const struct tm_engine *t, enum tm_limit *limit);
void tm_account_begin(struct tm_engine *t);
void tm_account_start(struct tm_engine *t, struct tm_wave *w);
void tm_account_wait(struct tm_wave *w, uint8_t why, const struct tm_inst *from,
                     int64_t until);
void tm_account_issue(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
                      int64_t at, const struct emu_event *event);
void tm_account_free(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i);
void tm_account_end(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
                    int64_t end);
void tm_account_sample(struct tm_engine *t, int64_t now);
void tm_account_finish(struct tm_engine *t, rd_status status);
/* Sums over the machine, by enum tm_count. */
void tm_account_count(const struct tm_engine *t, uint64_t *count);

/* ---- exec.c: what the issue at t->now does to the machine ---- */
void tm_issue(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
              const struct emu_event *event);

/* ---- operands.c ----
 *
 * tm_operands: the instruction that issues now reads its operands, through so many
 * cycles; how many cycles later than that it has them. tm_operands_wait: one of them is
 * a result that can be had for an execution at that time, not sooner. */
int64_t tm_operands(const struct tm_engine *t, const struct tm_wave *w,
                    const struct tm_inst *i, int64_t cycles);
/* A memory instruction of the SIMD reads its operands when it is accepted. */
void tm_operands_send(const struct tm_engine *t, struct tm_simd *s,
                      const struct tm_inst *i, int64_t accept);
void tm_operands_wait(const struct tm_engine *t, struct tm_simd *s, int64_t ready);
/* When an execution can have all results that it needs; 0: they are long there. */
int64_t tm_operands_ready(const struct tm_engine *t, const struct tm_wave *w,
                          const struct tm_inst *i);
/* Those of a pair can be had at that time. */
void tm_operands_pair(struct tm_wave *w, const struct tm_inst *i, int64_t ready);

/* ---- sample.c ---- */
RD_CHECKED rd_status tm_sample_begin(struct tm_engine *t);
void tm_sample_start(struct tm_engine *t); /* a workgroup starts now */
void tm_sample_hole(struct tm_engine *t);  /* one has left, and none follows it */
void tm_sample_tick(struct tm_engine *t);
double tm_sample_span(const struct tm_engine *t); /* of what was simulated */
void tm_sample_estimate(const struct tm_engine *t, double *span, double *error);

/* ---- fetch.c ---- */
void tm_fetch_begin(struct tm_engine *t, struct tm_wave *w, uint64_t offset);
int64_t tm_fetch_ready(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i);
void tm_fetch_ahead(struct tm_engine *t, struct tm_wave *w, uint64_t offset);
void tm_fetch_branch(struct tm_engine *t, struct tm_wave *w, uint64_t from_offset,
                     uint64_t offset);

/* ---- mem.c ---- */
/* What earlier work has left in the caches behind the CUs. */
void tm_memory_begin(struct tm_engine *t);
int64_t tm_smem(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
                const struct emu_event *event);
void tm_vmem_request(struct tm_engine *t, const struct tm_wave *w,
                     const struct emu_event *event, struct tm_request *r);
/* last: when the wave's last one of the kind was done. */
int64_t tm_vmem(struct tm_engine *t, const struct tm_send_op *o,
                const struct tm_request *r, int64_t *last);
int64_t tm_gl2(struct tm_engine *t, uint64_t line, int64_t arrival);

/* ---- send.c ---- */
void tm_send(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
             const struct emu_event *event, unsigned cycles);
/* What has been accepted by a time goes to memory: its counter knows when it is done.
 */
void tm_send_settle(struct tm_engine *t, struct tm_cu *cu, int64_t until);

/* ---- lds.c ---- */
/* When the LDS of a wave takes another instruction. */
int64_t tm_lds_room(struct tm_engine *t, const struct tm_wave *w,
                    const struct tm_inst *i, int64_t accept);
int64_t tm_lds(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
               const struct emu_event *event, int64_t accept);

#endif
