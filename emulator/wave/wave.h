/* wave.h: the state that instructions work on.
 *
 * Private to the emulator. Rules for whoever edits the engine:
 *  1. VGPRs are rows of 32 dwords; a wave64 has two register files and runs vector
 *     instructions as two passes with base[] switched (select_half).
 *  2. EXEC, VCC, M0 live in sgpr[] at their operand numbers: no copies elsewhere.
 *     sgpr[ISA_SEL_NULL] stays 0.
 *  3. Nothing here allocates while waves run.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_WAVE_H
#define RD_WAVE_H

#include "counts.h"
#include "event.h"
#include "machine.h"
#include "program.h"

enum wave_stop {
    STOP_NONE, /* ran out of budget */
    STOP_BARRIER,
    STOP_END,
    STOP_FAULT,
    STOP_YIELD, /* s_sleep: let others run first */
    STOP_GWS,   /* waits for other workgroups; runs the instruction again */
    STOP_HALT,  /* STATUS.HALT outside of the trap handler, or FATAL_HALT */
};

/* A region a wave has touched lately. */
struct mem_window {
    uint64_t base, end; /* [base, end) */
    uint64_t delta;     /* from an address to the host's */
    unsigned perm;
    unsigned generation;
};

#define MEM_WINDOWS 8u

struct observation;
struct dispatch;
struct workgroup;
struct native_table;
struct zeros;

struct wave {
    const uint32_t *base[3]; /* rows by enum src_base, of the current half */
    uint32_t sgpr[SGPR_SLOTS];
    struct lane_mode mode;
    unsigned mxcsr32, mxcsr64; /* host float control for f32, and f64/f16 */
    bool scc;
    uint8_t halves; /* 1 or 2 */
    uint8_t half;   /* the half that base[] shows */
    uint8_t stop;   /* enum wave_stop */
    uint8_t priority;
    bool wave64;
    bool fresh;     /* its VGPRs are not initialised yet (dispatch.h) */
    bool gws_waits; /* has arrived at a global barrier of this generation */
    uint32_t gws_generation;
    uint32_t mode_bits, status_bits, trapsts_bits; /* hwreg images */
    const struct uop *next;
    uint64_t n_insts;
    uint64_t turn_began;         /* n_insts then */
    int32_t turn;                /* what is left of it (uop.h) */
    struct native_table *native; /* the engine's: native code for this wave in this
                                    program and MODE; NULL: not looked for yet */
    /* What is above is set at once when a wave begins, what is below one by one:
       launch.c. */
    struct mem_window window[MEM_WINDOWS];
    unsigned next_window; /* the one to replace next */
    struct program *program;
    struct workgroup *group;
    struct emu *emu;
    unsigned index;                  /* wave number in the workgroup */
    uint32_t n_items;                /* work-items in this wave */
    uint8_t *scratch;                /* [dword][lane], scratch_bytes per lane */
    uint32_t *vgpr[2];               /* [256][32] */
    uint32_t *temp;                  /* [TEMP_ROWS][32] scratch rows of the workgroup */
    struct op_counts *counts;        /* of the host thread, or NULL */
    struct zeros *zeros;             /* of the host thread (mem/zeros.h), or NULL */
    struct observation *observation; /* NULL: nobody watches */
    struct emu_wave_info info;       /* for observers */
    uint64_t clock;                  /* shader clocks, if timed */
    uint64_t saved_at;               /* what the handler was told last (trap_place) */
    bool timed;                      /* the timing engine steps this wave */
    bool tolerant;                   /* faults that hardware shrugs off do nothing */
    bool holds_slot;                 /* info.slot is taken */
};

struct workgroup {
    uint64_t number; /* linear index */
    uint32_t id[3];
    unsigned n_waves;
    uint32_t live, waiting, halted; /* waves by index, as bits: not ended; of these, at
                                       the barrier; halted. The others take turns */
    uint32_t asked, saved; /* waves that have asked where to be saved; saved ones */
    struct wave **waves;
    uint8_t *lds;
    uint32_t lds_bytes;
    uint32_t scratch_bytes;
    uint64_t rng;
    unsigned turn;        /* the first wave that may be next, up to n_waves */
    struct wave *running; /* whose turn it is */
    uint64_t left;        /* instructions until other workgroups run */
    bool mixed;           /* its waves' turns are of many lengths, TURN at most */
    uint32_t naps;        /* its waves' since others have run */
    struct emu_fault fault;
    struct emu_fault cause; /* of the last entry into a trap handler */
    struct dispatch *dispatch;
    struct program_set *programs;
    const struct emu_queue *queue; /* never NULL */
    double clocks_per_tick;        /* shader clocks in one of the 100 MHz clock */
    unsigned n_vgprs;              /* allocated per wave */
    bool unreported;               /* emu_queue.unreported has been told */
};

/* The wave's bit in masks of its workgroup. */
static inline uint32_t wave_bit(const struct wave *w)
{
    return 1u << w->index;
}

/* Current EXEC of the running half; the two halves of a wave64 are sgpr 126, 127. */
static inline uint32_t wave_exec(const struct wave *w)
{
    return w->sgpr[ISA_SEL_EXEC_LO + w->half];
}

static inline uint64_t wave_exec64(const struct wave *w)
{
    uint64_t e = w->sgpr[ISA_SEL_EXEC_LO];
    return w->wave64 ? e | (uint64_t)w->sgpr[ISA_SEL_EXEC_HI] << 32 : e;
}

static inline void select_half(struct wave *w, unsigned half)
{
    w->half = (uint8_t)half;
    w->base[SRC_VGPR] = w->vgpr[half];
}

static inline const uint32_t *src_row(const struct wave *w, const struct usrc *s)
{
    return w->base[s->base] + (size_t)s->row * ROW_DWORDS;
}

static inline uint64_t sgpr64(const struct wave *w, unsigned slot)
{
    return w->sgpr[slot] | (uint64_t)w->sgpr[slot + 1] << 32;
}

static inline void set_sgpr64(struct wave *w, unsigned slot, uint64_t value)
{
    w->sgpr[slot] = (uint32_t)value;
    w->sgpr[slot + 1] = (uint32_t)(value >> 32);
}

/* Lane-mask registers: one SGPR in wave32, a pair in wave64. */
static inline uint64_t sgpr_mask(const struct wave *w, unsigned slot)
{
    return w->wave64 ? sgpr64(w, slot) : w->sgpr[slot];
}

static inline void set_sgpr_mask(struct wave *w, unsigned slot, uint64_t mask)
{
    w->sgpr[slot] = (uint32_t)mask;
    if (w->wave64)
        w->sgpr[slot + 1] = (uint32_t)(mask >> 32);
}

static inline const struct uop *wave_stop(struct wave *w, enum wave_stop why,
                                          const struct uop *next)
{
    w->stop = (uint8_t)why;
    w->next = next;
    return NULL;
}

/* The map's version, for window_find. */
static inline unsigned mem_generation(const struct wave *w)
{
    return region_generation(w->emu->regions);
}

/* For handlers whose addresses only they know: note one lane's access, if somebody
 * watches, before the first byte moves. Others are found from the operands.
 *
 * lane   of the wave (0 to 63)
 * space  enum emu_space
 */
void observe_note(struct wave *w, unsigned lane, unsigned space, uint64_t address,
                  unsigned bytes, bool read, bool write);

static inline void wave_note(struct wave *w, unsigned lane, unsigned space,
                             uint64_t address, unsigned bytes, bool read, bool write)
{
    if (__builtin_expect(w->observation != NULL, 0))
        observe_note(w, lane, space, address, bytes, read, write);
}

/* What SHADER_CYCLES shows: without the timing model an instruction takes one cycle.
 * n_insts counts whole blocks, and what reads the clock is a block of its own. */
static inline uint64_t wave_clock(const struct wave *w)
{
    return w->timed ? w->clock : w->n_insts - 1;
}

#endif
