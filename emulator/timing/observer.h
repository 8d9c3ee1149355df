/* observer.h: what the timing engine tells about a run while it goes on: machine,
 * waves, every issue with what the wave waited for before it, counters over time.
 *
 * A wave's life is told without gaps: from its start on, each step adds its waits and
 * then one cycle in which it issues; the end adds the last waits. So
 *     end - start = sum of all waits + number of steps,
 * those apart that are free (s_delay_alu).
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TM_OBSERVER_H
#define RD_TM_OBSERVER_H

#include "event.h"

struct tm_engine;

/* ---- what cycles go to ----------------------------------------------------------- */

enum tm_stall {
#define S(name, text, state, about) TM_S_##name,
#include "stalls.def"
#undef S
    TM_STALLS
};

enum tm_state {
    TM_ST_ISSUE,
    TM_ST_DEP,    /* vector registers and pipes */
    TM_ST_SCALAR, /* SALU and scalar loads */
    TM_ST_MEMORY, /* vector memory */
    TM_ST_LDS,
    TM_ST_BARRIER,
    TM_ST_PORT,  /* lost to another wave */
    TM_ST_FETCH, /* launch, instruction fetch, branches */
    TM_ST_OTHER,
    TM_STATES
};

extern const char *const tm_stall_name[TM_STALLS];
extern const char *const tm_stall_about[TM_STALLS];
extern const uint8_t tm_stall_state[TM_STALLS];
extern const char *const tm_state_name[TM_STATES];

/* ---- what is counted ------------------------------------------------------------- */

enum tm_count {
#define K(name, text, unit) TM_K_##name,
#include "counters.def"
#undef K
    TM_COUNTS
};

extern const char *const tm_count_name[TM_COUNTS];

/* What unit an instruction issues to. */
enum tm_class {
    TM_VALU,
    TM_SALU,
    TM_SMEM,
    TM_VMEM, /* global, flat, scratch, buffer, image */
    TM_LDS,
    TM_BRANCH,
    TM_EXPORT,
    TM_IMM, /* handled where it is fetched: s_nop, s_waitcnt, s_barrier ... */
    TM_CLASSES
};

extern const char *const tm_class_name[TM_CLASSES];

/* What a VALU instruction takes there. */
enum tm_pipe {
    TM_PIPE_PLAIN,
    TM_PIPE_HALF,    /* 2 cycles */
    TM_PIPE_QUARTER, /* 4 cycles */
    TM_PIPE_TRANS,
    TM_PIPE_DOUBLE,
    TM_PIPE_WMMA,
    TM_PIPE_WMMA4,
    TM_PIPE_NONE, /* a vector instruction that does nothing */
    TM_PIPES
};

/* ---- the run --------------------------------------------------------------------- */

/* What bounds the number of waves of a SIMD. */
enum tm_limit { TM_LIMIT_SLOTS, TM_LIMIT_VGPRS, TM_LIMIT_LDS, TM_LIMIT_GROUPS };

extern const char *const tm_limit_name[];

/* The machine and the dispatch. */
struct tm_machine {
    double sclk_mhz;
    unsigned ses, arrays,
        wgps;       /* arrays of an SE, WGPs of an array; 2 CUs of 2 SIMDs */
    unsigned slots; /* of a SIMD */
    unsigned vgprs_per_simd, lds_per_cu;
    unsigned vgprs, lds_bytes; /* given to a wave, to a workgroup */
    unsigned waves_per_group, lanes;
    unsigned occupancy; /* waves of a SIMD at most */
    enum tm_limit limit;
    bool wgp_mode;
    uint32_t groups[3], block[3];
    uint64_t n_groups, n_simulated;
    uint64_t code_base;
    uint32_t enabled[8]; /* CUs of each SE: bits 0-15 of SA 0, 16-31 of SA 1 */
};

struct tm_wave_place {
    uint64_t number; /* of the dispatch's waves, in order of launch, from 0 */
    uint32_t wg[3], wave;
    unsigned se, sa, wgp, simd, slot;
    int64_t start;
};

/* Cycles spent on one thing. */
struct tm_wait {
    uint8_t why; /* enum tm_stall */
    uint32_t cycles;
    const struct emu_inst *from; /* whose result was missing; NULL: nobody's */
};

#define TM_STEP_SKIPPED 1u /* EXEC was zero */
#define TM_STEP_TAKEN   2u
#define TM_STEP_FREE    4u /* s_delay_alu: no issue, no cycle, no waits of its own */

/* Where code lies that is not in the kernel's own region: what it calls, a trap
 * handler. Pages of it follow one another in the order of their first use. */
#define TM_OTHER_CODE UINT32_C(0x80000000)

struct tm_step {
    uint64_t wave;
    const struct emu_inst *inst;
    uint32_t offset; /* in the kernel's code region, or from TM_OTHER_CODE on */
    uint8_t cls;     /* enum tm_class */
    uint8_t pipe;    /* enum tm_pipe, of a VALU instruction */
    uint8_t regs;    /* VGPRs that a memory instruction sends: addresses, data */
    uint8_t flags;
    int64_t t; /* issue; of a wait its release, of a sleep its end */
    /* The unit has taken it, or its result leaves the pipe; 0: unknown. As was known
     * when it issued: where the SIMDs of a CU meet, a memory instruction may be taken
     * some cycles later for what another one issues then (the timing file has that). */
    int64_t exec;
    const struct tm_wait *wait; /* before it, in order */
    unsigned n_waits;
};

/* Cumulative, at time t. */
struct tm_sample {
    int64_t t;
    uint64_t count[TM_COUNTS];
};

/* Any function may be NULL. An error of an observer is its own to remember. */
struct tm_observer {
    void *ctx;
    int64_t sample_cycles; /* distance of samples; 0: none */
    void (*begin)(void *ctx, const struct tm_machine *machine);
    void (*wave_start)(void *ctx, const struct tm_wave_place *place);
    void (*step)(void *ctx, const struct tm_step *step);
    /* last: cycles after the last step */
    void (*wave_end)(void *ctx, uint64_t wave, int64_t end, const struct tm_wait *last,
                     unsigned n_waits);
    void (*sample)(void *ctx, const struct tm_sample *sample);
    void (*end)(void *ctx, int64_t t, rd_status status);
};

/* Watch the run (copied); before tm_run. One observer per engine. */
void tm_observe(struct tm_engine *t, const struct tm_observer *observer);

#endif
