/* timing.h: cycle-approximate timing of a dispatch on gfx1100.
 *
 * The engine runs a dispatch through the stepping interface of the emulator: it decides
 * which wave issues when, the emulator executes. Memory afterwards is what the kernel
 * computes; cycles are in the report.
 *
 *     tm_create(&config, &t);
 *     tm_run(t, emu, &dispatch, &fault, &stats);
 *     tm_write_json(t, file);
 *     tm_destroy(t);
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMING_H
#define RD_TIMING_H

#include <stdio.h>

#include "emu.h"
#include "observer.h"

struct tm_engine; /* opaque */

#define TM_MAX_SES 6

/* Memory that the model places: a buffer of the host's address space. Addresses are
 * made relative to these, so cycles do not depend on where the host put them. */
struct tm_range {
    uint64_t base, bytes;
};

/* What a whole launch executes, counted by a run without time: with it a timed run ends
 * as soon as the pace of the full chip is known, and the rest follows from that. */
struct tm_executed {
    uint64_t insts;           /* of all waves */
    const uint64_t *of_op;    /* [ISA_OP_COUNT]; must stay until tm_run has returned */
    uint64_t most;            /* instructions after which it gives up */
    const uint32_t *of_group; /* of each workgroup; NULL: not known. As of_op */
};

/* How a run with tm_executed ended. */
enum tm_cut {
    TM_CUT_NONE,     /* everything was simulated */
    TM_CUT_STEADY,   /* the pace is known */
    TM_CUT_PHASES,   /* given up: what is left are other instructions */
    TM_CUT_COLD,     /* given up: caches fill up, and the rest will find more in them */
    TM_CUT_UNSTEADY, /* given up: the pace changes, or too few turns of loops were seen
                      */
};

struct tm_pace_seen {
    enum tm_cut cut;
    double rate, error; /* instructions per cycle; half of the 95 % interval */
    double other;       /* share of what is left that are other instructions, 0 to 1 */
    double cold;        /* share of the time that caches may save what is left */
    /* Workgroups of tm_only_left_over, and the cycles that they take with that pace. */
    uint64_t few;
    double few_cycles;
};

enum tm_insts { TM_INSTS_NONE, TM_INSTS_ALL, TM_INSTS_SIMD };

/* How a launch of an open run has ended. */
struct tm_ended {
    rd_status status; /* as of tm_run */
    bool over;        /* so is the run: none can come any more */
    struct emu_fault fault;
    struct emu_stats stats;
};

struct tm_config {
    double sclk_mhz;              /* 0: 2500 */
    bool have_cu_mask;            /* else all CUs */
    uint32_t cu_mask[TM_MAX_SES]; /* COMPUTE_STATIC_THREAD_MGMT_SE0..5 */
    unsigned first_se;            /* that gets workgroup 0 */
    /* What earlier work has left behind: translations in the TLBs, the buffers in the
     * Infinity Cache as far as they fit. */
    bool warm_code, warm_kernarg, warm_data, warm_mall;
    bool fabric_low;            /* in its low-power state */
    bool tolerate;              /* run through what hardware runs through */
    enum tm_insts insts;        /* whose instructions tm_write_json lists */
    unsigned se, sa, wgp, simd; /* TM_INSTS_SIMD */
    /* Simulate the first workgroups only, at least what the chip holds at once, and
     * estimate the rest: a number, or a share of the grid. 0: all. */
    uint64_t sample;
    double sample_percent;
    /* Simulate a part of the launch as if there were no other workgroups: so many from
     * that one on. part_groups 0: all. */
    uint64_t part_first, part_groups;
    unsigned threads;                /* of the host; 0: one. Cycles are the same */
    const struct tm_executed *whole; /* or NULL: no end before the last workgroup's */
    bool forget_waves;               /* no list of waves: tm_write_json has none */
    const struct tm_range *ranges;   /* buffers; must stay until tm_destroy */
    size_t n_ranges;
    /* Asked every few thousand events, with the cycles so far; false ends the run with
     * RD_E_TIMEOUT. NULL: nobody asks. */
    bool (*poll)(void *ctx, uint64_t cycles);
    void *poll_ctx; /* of ended, too */
    /* An open run, to which launches may come while it goes on (tm_join): told of each
     * once, as soon as it has ended; then its number may be another's, which comes by
     * that or later. The only one that has come is told of behind the run. Needs poll,
     * which is asked at cycle 0, too, before anything begins. No threads. */
    void (*ended)(void *ctx, unsigned number, const struct tm_ended *how);
};

/* Returns RD_E_RANGE for a mask without CUs or an engine that does not exist. */
RD_CHECKED rd_status tm_create(const struct tm_config *config, struct tm_engine **out);
void tm_destroy(struct tm_engine *t);

/* Change a parameter before tm_run: "what if". Returns RD_E_NOT_FOUND, RD_E_RANGE. */
RD_CHECKED rd_status tm_set(struct tm_engine *t, const char *name, double value);

/* Simulate one dispatch. Once per engine.
 *
 * fault, stats  as emu_run
 * Returns as emu_run; RD_E_RANGE for a part that leaves the launch or that the chip
 * holds at once.
 */
RD_CHECKED rd_status tm_run(struct tm_engine *t, struct emu *emu,
                            const struct emu_dispatch *dispatch,
                            struct emu_fault *fault, struct emu_stats *stats);

/* One of several dispatches that share the chip. */
struct tm_launch {
    const struct emu_dispatch *dispatch;
    unsigned queue; /* that it comes from: any number */
    bool barrier;   /* it begins once all before it on its queue have ended */
    int64_t from;   /* not before that cycle */
    bool warm_code, warm_kernarg; /* as of tm_config, for this one */
};

/* The same of several dispatches. The first of each queue begins at cycle 0, each other
 * one when all workgroups of the one before it on its queue have begun (or, with
 * barrier, ended) and the queue has had time to process it, at a multiple of 64. One of
 * them alone runs as by tm_run. Not with tm_observe, samples, parts and tm_executed;
 * one thread runs it.
 *
 * launches  [n], at least one, those of a queue in its order; must stay until this
 *           returns. The inspector is that of the first
 * Returns as tm_run.
 */
RD_CHECKED rd_status tm_run_several(struct tm_engine *t, struct emu *emu,
                                    const struct tm_launch *launches, unsigned n,
                                    struct emu_fault *fault, struct emu_stats *stats);

/* One more, in an open run (tm_config.ended), from poll or ended: as tm_run_several's,
 * behind all others of its queue that have come. One in CU and one in WGP mode do not
 * share a WGP.
 *
 * number  out: its number until it has ended; that with which the run began has 0
 * Returns RD_E_UNSUPPORTED if the run is not open, RD_E_BUSY if it is over
 * (tm_ended.over); as tm_run if it cannot begin: then
 * nothing has changed.
 */
RD_CHECKED rd_status tm_join(struct tm_engine *t, struct emu *emu,
                             const struct tm_launch *launch, unsigned *number,
                             struct emu_fault *fault);
/* From poll: one of several that have joined ends where it is, with RD_E_TIMEOUT. */
void tm_cancel(struct tm_engine *t, unsigned number);
/* From poll: it stands still, its waves where they are, or (false) goes on; others do
 * meanwhile. Slow from there on. */
void tm_hold(struct tm_engine *t, unsigned number, bool stands);
/* In an open run: have others come to the first? Whose wave has its turn now? */
bool tm_is_shared(const struct tm_engine *t);
unsigned tm_at_turn(const struct tm_engine *t);

/* What became of one of several, by its place among them; zeros if it ran alone.
 * Cycles since the run's beginning. */
struct tm_launch_seen {
    int64_t begun; /* its queue came to it */
    int64_t first,
        end;         /* start of its first wave, end of its last; first: -1 if none */
    uint64_t groups; /* that have begun */
};
void tm_launch_seen(const struct tm_engine *t, unsigned index,
                    struct tm_launch_seen *out);
/* Whose wave had the last turn: which of several a fault is of. */
unsigned tm_launch_last(const struct tm_engine *t);

void tm_pace_seen(const struct tm_engine *t, struct tm_pace_seen *out);

/* Before tm_run, with tm_executed: simulate only as many workgroups as are left over
 * once the others have filled the chip, one filling after the other; if none are, half
 * of a filling. */
void tm_only_left_over(struct tm_engine *t);

/* Of a run with tm_executed: how long so many workgroups take, as another run
 * (tm_only_left_over) has shown. cycles; error: half of the 95 % interval. */
void tm_tell_left_over(struct tm_engine *t, double cycles, double error);

/* The timing file: one JSON object. */
void tm_write_json(const struct tm_engine *t, FILE *f);

/* Cycles, time, occupancy, utilisation, hit rates: for people. */
void tm_print_summary(const struct tm_engine *t, FILE *f);

/* Every instruction of the kernel with executions and what it waited for. */
void tm_print_listing(const struct tm_engine *t, FILE *f);

/* The longest engine's cycles from its first wave's start to its last wave's end; an
 * estimate if workgroups were left out. */
uint64_t tm_span_cycles(const struct tm_engine *t);
/* Half the width of the estimate's 95 % interval; 0: nothing is estimated. */
uint64_t tm_span_error(const struct tm_engine *t);

/* What the part that was simulated adds to the cycles of the launch, and half the width
 * of its 95 % interval: the first part the filling of the chip and the end, each its
 * workgroups at the pace of those that began once the chip was full. Sums over all
 * parts are the launch's. */
void tm_part_adds(const struct tm_engine *t, double *cycles, double *error);

/* How far a run is, to be asked by poll. */
struct tm_progress {
    uint64_t groups;         /* workgroups to be simulated */
    uint64_t started, ended; /* of them */
    uint64_t all, capacity;  /* of the grid; that the chip holds at once */
    uint64_t insts;          /* issued */
};

void tm_progress(const struct tm_engine *t, struct tm_progress *out);

/* The waves that are on the chip, with what they have issued done; to be called by
 * poll. The cycles of the run stay what they are. Returns how many. */
unsigned tm_show(struct tm_engine *t, const struct emu_inspector *to);
/* Those of a launch. */
unsigned tm_show_launch(struct tm_engine *t, unsigned number,
                        const struct emu_inspector *to);

/* ---- what a run came to, for those who make reports: after tm_run ---- */

/* An instruction of the kernel, over all waves. */
struct tm_inst_use {
    const struct emu_inst *inst;
    uint32_t offset;        /* as in struct tm_step */
    uint8_t cls, pipe;      /* enum tm_class, enum tm_pipe */
    uint64_t times, cycles; /* issues; of waves, until it has issued */
    uint64_t stall[TM_STALLS];
    uint64_t conflicts; /* cycles of LDS bank conflicts */
    /* Of vector memory: executions with lanes, lanes, their bytes, lines of 128 bytes
     * and pieces of 64 that each touched, cycles of the address units. */
    uint64_t requests, lanes, bytes, lines, segments, address_cycles;
};

/* In the order of their first use; they live as long as the engine. */
size_t tm_inst_uses(const struct tm_engine *t);
void tm_inst_use(const struct tm_engine *t, size_t index, struct tm_inst_use *out);

/* Instructions that waves issued one a cycle without having been asked in between: says
 * how the run was simulated, nothing of the chip. */
uint64_t tm_in_runs(const struct tm_engine *t);
/* Loads from LDS that were executed later than they issued: the same. */
uint64_t tm_loads_postponed(const struct tm_engine *t);

/* Sums over the machine, by enum tm_count, of what was simulated. */
void tm_counts(const struct tm_engine *t, uint64_t count[TM_COUNTS]);

/* Waves, and the cycles of all of them; SIMD cycles with a wave. */
struct tm_use {
    uint64_t waves, peak_waves;
    double wave_cycles, simd_cycles;
    uint64_t skipped;  /* VALU instructions, EXEC being zero: not executed */
    uint64_t lds_data; /* cycles of data of all LDS */
};

/* What the machine could do at most, by its parameters; per cycle, or per ns where the
 * clock of the memory counts. */
struct tm_peaks {
    unsigned cus; /* that are enabled */
    double valu;  /* instructions per cycle */
    double flops; /* 32-bit: a multiplication and an addition twice a lane */
    double wmma;  /* of 16-bit matrices */
    double salu, lds_bytes, l0_bytes, gl2_bytes; /* per cycle */
    double mall_bytes, dram_bytes;               /* per ns */
};

void tm_measure(const struct tm_engine *t, struct tm_machine *machine,
                struct tm_use *use, struct tm_peaks *peaks);

/* What a WGP was used for: waves (not with tm_config.forget_waves) and their cycles,
 * cycles with a wave, instructions issued; by CU cycles of its LDS and lines looked for
 * in its L0; lines of code and of scalar data. */
struct tm_wgp_use {
    uint64_t waves, wave_cycles, busy_cycles, issued;
    struct {
        uint64_t lds_cycles, l0_hits, l0_misses;
    } cu[2];
    uint64_t code_hits, code_misses, scalar_hits, scalar_misses;
};

/* Of all WGPs, those of an array together, and the arrays of a shader engine:
 * tm_machine.ses * .arrays * .wgps. */
void tm_wgp_uses(const struct tm_engine *t, struct tm_wgp_use *out);
/* Lines looked for in the GL1 of an array. */
void tm_gl1_use(const struct tm_engine *t, unsigned se, unsigned sa, uint64_t *hits,
                uint64_t *misses);

/* ---- parameters --------------------------------------------------------------------
 */

struct tm_param {
    const char *name;
    double value; /* default */
    const char *unit, *affects, *source;
};

size_t tm_param_count(void);
const struct tm_param *tm_param(size_t index);

#endif
