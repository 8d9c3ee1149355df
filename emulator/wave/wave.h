/* wave.h: the state that instructions work on, and the predecoded micro-op.
 *
 * Private to the emulator. Rules for whoever edits the engine:
 *  1. A micro-op lives in the slot of its first dword: slot i of a program is the
 *     instruction at byte offset 4*i. The slots of its other dwords are free to hold
 *     more operands (u[1] of a VOPD is the Y half).
 *  2. A handler returns the next micro-op, or NULL after it has set wave.stop and
 *     wave.next. It never calls another micro-op.
 *  3. VGPRs are rows of 32 dwords; a wave64 has two register files and runs vector
 *     instructions as two passes with base[] switched (select_half).
 *  4. EXEC, VCC, M0 live in sgpr[] at their operand numbers: no copies elsewhere.
 *     sgpr[ISA_SEL_NULL] stays 0; writes to null are predecoded to SGPR_DUMMY.
 *  5. Nothing here allocates while waves run.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_WAVE_H
#define RD_WAVE_H

#include <pthread.h>
#include <stdatomic.h>

#include "event.h"
#include "isa.h"
#include "sem.h"

#define WAVE_LANES 32
#define WAVE_VGPRS 256
#define SGPR_DUMMY 128 /* 16 slots: destination of writes to null */
#define SGPR_ZERO  144 /* 8 slots, never written */
#define SGPR_SLOTS 152
#define ROW_DWORDS 32

/* Where a vector source row comes from: wave.base[] index. */
enum src_base {
    SRC_VGPR,  /* row of the register file */
    SRC_CONST, /* row of the program's constant pool */
    SRC_TEMP,  /* row of the wave's scratch rows, filled just before use */
};

/* How a source is prepared before the row function sees it. */
enum src_prep {
    PREP_NONE,
    PREP_SGPR,    /* broadcast one SGPR (or a pair) into the temp row */
    PREP_MASK,    /* expand a lane mask in SGPRs to 0 / 1 per lane */
    PREP_SPECIAL, /* broadcast SCC, VCCZ, EXECZ, ... */
};

struct usrc {
    uint8_t base;   /* enum src_base */
    uint8_t prep;   /* enum src_prep */
    uint16_t row;   /* index of the first row under base */
    uint16_t sel;   /* PREP_SGPR, PREP_MASK: SGPR index; PREP_SPECIAL: isa_sel */
    uint8_t dwords; /* 1 or 2 */
    uint8_t mods;   /* SM_* */
};

/* Operands of a memory micro-op, in place of s[]. */
struct umem {
    uint16_t addr, data, data2; /* VGPR rows; addr NO_ROW: none */
    uint16_t saddr;             /* SGPR slot, or NO_ROW */
    uint16_t off0, off1;        /* DS: byte offsets of the one or two elements */
    uint16_t bytes;             /* per element and lane */
    uint8_t space;              /* enum mem_space */
    uint8_t elems;              /* 1, or 2 for the 2ADDR forms */
    uint8_t returns;            /* atomic writes the old value to d */
    uint8_t wide;               /* plain dwords: no conversion function */
    uint8_t addr64;             /* the address register is a pair */
    uint8_t addtid;             /* no address register: 4 bytes a lane */
};
#define NO_ROW 0xffffu

/* Operands of a buffer micro-op (buffer.c). */
struct ubuf {
    uint16_t vaddr, vdata; /* VGPR rows */
    uint16_t srsrc;        /* SGPR slot of the resource */
    struct usrc soffset;
    uint16_t bytes; /* untyped: per lane */
    uint8_t flags;  /* UB_* */
    uint8_t format; /* UB_TYPED */
    uint8_t comps;  /* with format: 1 to 4 */
};
#define UB_IDXEN   0x01u
#define UB_OFFEN   0x02u
#define UB_TFE     0x04u
#define UB_RETURNS 0x08u /* atomic writes the old value to vdata */
#define UB_WIDE    0x10u /* plain dwords */
#define UB_D16     0x20u /* components of 16 bits, two to a register */
#define UB_HI      0x40u /* one component, in the upper half */
#define UB_TYPED   0x80u /* MTBUF: the format is the instruction's */

enum mem_space { MEM_GLOBAL, MEM_FLAT, MEM_SCRATCH, MEM_LDS };

/* Operands of an image micro-op (image.c, sampler.c). */
struct uimg {
    uint8_t addr[5]; /* VGPR rows; the last one goes on in consecutive rows */
    uint8_t n_addr;
    uint8_t vdata, srsrc, ssamp; /* VGPR row, SGPR slots */
    uint8_t dmask, dim, bytes;   /* bytes: of an atomic */
    uint32_t flags;              /* UI_* */
};
#define UI_A16     0x0001u
#define UI_D16     0x0002u
#define UI_STATUS  0x0004u /* TFE or LWE: one more dword */
#define UI_UNNORM  0x0008u
#define UI_RETURNS 0x0010u
#define UI_SHORT   0x0020u /* R128 */
#define UI_MIP     0x0040u /* load, store: the level is an operand */
#define UI_RAW     0x0080u /* no format conversion */
#define UI_SIGNED  0x0100u /* raw 8- and 16-bit elements are sign-extended */
#define UI_OFFSET  0x0200u /* sampling: what the address has besides coordinates */
#define UI_BIAS    0x0400u
#define UI_COMPARE 0x0800u
#define UI_GRAD    0x1000u
#define UI_G16     0x2000u
#define UI_LOD     0x4000u
#define UI_CLAMP   0x8000u
#define UI_ZERO    0x10000u /* level 0 */
#define UI_ROW     0x20000u /* gather4h: 4x1 texels */
#define UI_64      0x40000u /* image_bvh64: node pointers are pairs */

/* usrc.mods: applied to a copy of the row, in this order */
#define SM_HI16 0x01u /* take the upper half */
#define SM_LO16 0x02u /* 16-bit source: isolate the lower half for abs/neg */
#define SM_ABS  0x04u
#define SM_NEG  0x08u
#define SM_PK   0x10u /* packed pair: halves by op_sel / op_sel_hi, neg_lo / neg_hi */
#define SM_MIX  0x20u /* fma_mix: f16 half or f32, to f32 */
#define SM_SWIZ 0x40u /* DPP permutation (source 0; VINTERP: source 2 too) */
#define SM_F64  0x80u /* abs/neg act on the high dword */
#define SM_PAIR (SM_LO16 | SM_F64) /* abs/neg act on both halves */

/* uop.flags */
#define UF_DST16     0x0001u   /* result is 16 bits: keep the other half */
#define UF_DSTHI     0x0002u   /* ... and goes to the upper half */
#define UF_DST64     0x0004u   /* two destination rows */
#define UF_CLAMPF    0x0008u   /* clamp the float result to [0,1] */
#define UF_DP        0x0010u   /* runs under the f64/f16 float mode */
#define UF_MASK_OUT  0x0020u   /* writes the lane mask to SGPR d2 */
#define UF_NO_VALUE  0x0080u   /* bool result only (compares) */
#define UF_MODS      0x0100u   /* row function wants the modifiers in lane_mode */
#define UF_F16RES    0x0200u   /* result format for clamp/omod: f16 */
#define UF_F64RES    0x0400u   /* result format for clamp/omod: f64 */
#define UF_RTZ       0x0800u   /* runs rounding toward zero */
#define UF_DPP_ROW   0x1000u   /* DPP16 */
#define UF_DPP8      0x2000u   /* and the selection built into VINTERP */
#define UF_VCC_IN    0x8000u   /* the mask row is an input: VCC */
#define UF_DIRECT    0x10000u  /* VOPD: X may be written before Y reads */
#define UF_PAIR      0x20000u  /* VOPD, for x_excp */
#define UF_GDS_STORE 0x40000u  /* for x_gds */
#define UF_PKRES     0x4000u   /* packed f16 result for clamp */
#define UF_PREP      0x80000u  /* some source has to be prepared (usrc.prep) */
#define UF_ROWS      0x100000u /* VOPD: both halves have plain rows for sources */

/* DPP control, in the slot behind a DPP micro-op (which is two dwords at least). The
 * pattern is the same for every row of 16 lanes. */
struct udpp {
    uint8_t from[16]; /* lane of the row that a lane of source 0 reads */
    uint16_t valid;   /* lanes that read one inside their row */
    uint8_t row_mask, bank_mask;
    bool fi, bound_ctrl;
};

/* One predecoded instruction: one cache line. */
struct uop {
    _Alignas(64) sem_wave_fn *fn; /* the handler */
    union {
        sem_row_fn *row;
        sem_scalar_fn *scalar;
        sem_matrix_fn *matrix;
        sem_mem_fn *mem;
        sem_atomic_fn *atomic;
    } op;
    union {
        struct usrc s[3];
        struct umem mem;
        struct ubuf buf;
        struct uimg img;
        struct udpp dpp;
    };
    uint16_t d;     /* destination: VGPR row or SGPR slot */
    uint16_t d2;    /* mask destination: SGPR slot */
    uint32_t flags; /* UF_* */
    uint16_t isa_op;
    uint8_t dwords; /* of the instruction: next micro-op is u + dwords */
    uint8_t omod;
    uint8_t n_src;
    uint8_t op_sel;
    uint16_t excp; /* float exceptions: excp.c */
    union {
        int32_t imm; /* branch distance in dwords, simm16, memory offset */
        struct {
            uint8_t neg, neg_hi, op_sel_hi, clamp;
        } pk;
    };
};
_Static_assert(sizeof(struct uop) == 64, "a micro-op is one cache line");

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
    unsigned perm;
    unsigned generation;
};

#define MEM_WINDOWS 4u

struct program;
struct workgroup;
struct code_cache;
struct region_table;
struct dispatch;

/* STATUS (manual 3.4.1). SCC, EXECZ and VCCZ are not kept in wave.status_bits. */
#define STATUS_SCC        (1u << 0)
#define STATUS_SYS_PRIO   (3u << 1)
#define STATUS_USER_PRIO  (3u << 3)
#define STATUS_PRIV       (1u << 5)
#define STATUS_TRAP_EN    (1u << 6)
#define STATUS_EXECZ      (1u << 9)
#define STATUS_VCCZ       (1u << 10)
#define STATUS_IN_WG      (1u << 11)
#define STATUS_HALT       (1u << 13)
#define STATUS_VALID      (1u << 16)
#define STATUS_CDBG_USER  (1u << 20)
#define STATUS_CDBG_SYS   (1u << 21)
#define STATUS_FATAL_HALT (1u << 23)
#define STATUS_SCRATCH_EN (1u << 29)
/* What s_setreg may change in the trap handler. */
#define STATUS_PRIV_WRITES                                                             \
    (STATUS_SCC | STATUS_SYS_PRIO | STATUS_USER_PRIO | STATUS_HALT | 1u << 8 |         \
     1u << 18 | STATUS_CDBG_USER | STATUS_CDBG_SYS | 1u << 25 | 1u << 27 |             \
     STATUS_SCRATCH_EN)

#define MODE_EXCP_EN      12 /* bit of the first of seven */
#define MODE_EXCP_EN_MASK (0x7fu << MODE_EXCP_EN)

/* TRAPSTS (manual 3.4.9) */
#define TRAPSTS_MATH         0x7fu
#define TRAPSTS_EXCP         0x1ffu /* may be written by any shader */
#define TRAPSTS_MEM_VIOL     (1u << 8)
#define TRAPSTS_ILLEGAL_INST (1u << 11)

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
    bool at_barrier, ended;
    bool halted;
    bool clock_ready; /* n_insts is exact: the clock may be read */
    bool gws_waits;   /* has arrived at a global barrier of this generation */
    uint32_t gws_generation;
    uint32_t mode_bits, status_bits, trapsts_bits; /* hwreg images */
    const struct uop *next;
    uint64_t n_insts;
    unsigned vm_waits; /* s_waitcnt for vector memory */
    struct mem_window window[MEM_WINDOWS];
    unsigned next_window; /* the one to replace next */
    struct program *program;
    struct workgroup *group;
    struct emu *emu;
    unsigned index;                  /* wave number in the workgroup */
    uint32_t n_items;                /* work-items in this wave */
    uint8_t *scratch;                /* [dword][lane], scratch_bytes per lane */
    uint32_t *vgpr[2];               /* [256][32] */
    uint32_t *temp;                  /* [16][32] scratch rows */
    uint32_t *counts;                /* per-opcode executions, or NULL */
    struct observation *observation; /* NULL: nobody watches */
    struct emu_wave_info info;       /* for observers */
    uint64_t clock;                  /* shader clocks, if timed */
    bool timed;                      /* the timing engine steps this wave */
    bool tolerant;                   /* faults that hardware shrugs off do nothing */
    bool holds_slot;                 /* info.slot is taken */
};

/* Rows of wave.temp */
enum {
    TEMP_SRC0 = 0, /* 2 rows a source */
    TEMP_RESULT = 6,
    TEMP_RESULT_Y = 8,
    TEMP_MASK = 9,
    TEMP_ROWS = 32,
};

struct workgroup {
    uint64_t number; /* linear index */
    uint32_t id[3];
    unsigned n_waves, n_live, n_waiting; /* waves in all, not ended, at the barrier */
    unsigned n_halted;
    struct wave **waves;
    uint8_t *lds;
    uint32_t lds_bytes;
    uint32_t scratch_bytes;
    uint64_t rng;
    unsigned turn; /* next wave to step */
    struct emu_fault fault;
    struct emu_fault cause; /* of the last entry into a trap handler */
    struct dispatch *dispatch;
};

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

/* The region table's version, for window_find. */
static inline unsigned mem_generation(const struct wave *w);

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

/* The micro-op behind u. With branches, which the host predicts: the next instruction
 * need not wait until this one's length is loaded. */
static inline const struct uop *uop_next(const struct uop *u)
{
    const struct uop *next = u + 1;
    if (u->dwords != 1) {
        next = u + 2;
        __asm__ volatile("" : "+r"(next)); /* no conditional moves */
        if (__builtin_expect(u->dwords != 2, 0)) {
            next = u + u->dwords;
            __asm__ volatile("" : "+r"(next));
        }
    }
    return next;
}

static inline const struct uop *wave_stop(struct wave *w, enum wave_stop why,
                                          const struct uop *next)
{
    w->stop = (uint8_t)why;
    w->next = next;
    return NULL;
}

/* program.c */

/* Predecoded code of one executable region. */
struct program {
    uint64_t base, bytes; /* of the code */
    struct uop *uops;     /* one slot a dword, reserved address space */
    struct inst_info *_Atomic
        *insts; /* side table of observers, one a dword; reserved */
    uint32_t n_insts, number;
    uint32_t *const_rows; /* reserved; n_const rows of 32 dwords */
    unsigned n_const;
    bool wave64;
    bool order_matters; /* atomics whose result shows the order of workgroups */
    bool privileged;    /* code of a trap handler: TTMPs are registers */
    const char *atomic; /* operation of the global atomics so far, or NULL */
    bool exceptions;    /* float instructions raise exceptions */
    bool looks;         /* the code reads or enables exceptions */
    unsigned max_vgpr;  /* highest VGPR index named */
    struct program *next;
};

/* The micro-op at a GPU address, decoding what is reachable from it if need be.
 * NULL if pc is not in the program. Thread: takes the emulator's code lock. */
const struct uop *program_at(struct emu *emu, struct program *p, uint64_t pc);

static inline uint64_t program_pc(const struct program *p, const struct uop *u)
{
    return p->base + (uint64_t)(u - p->uops) * 4;
}

/* What observers know of the instruction at u; decoded at its first execution. */
const struct inst_info *program_decode(struct emu *emu, struct program *p,
                                       const struct uop *u);

static inline const struct inst_info *program_inst(struct emu *emu, struct program *p,
                                                   const struct uop *u)
{
    const struct inst_info *i =
        atomic_load_explicit(&p->insts[u - p->uops], memory_order_acquire);
    return i ? i : program_decode(emu, p, u);
}

/* The same bytes mean different things to different waves. */
struct program_kind {
    bool wave64, privileged, exceptions;
};

/* The program that holds entry, decoded from there; counts a user until program_put.
 * RD_E_NOT_FOUND if entry is not in executable memory. */
RD_CHECKED rd_status program_get(struct emu *emu, uint64_t entry,
                                 struct program_kind kind, struct program **out);
void program_put(struct emu *emu, struct program *p);
RD_CHECKED rd_status code_cache_create(struct code_cache **out);
void code_cache_destroy(struct code_cache *c);

/* fault.c: record the wave's first fault and stop it. All return NULL. */
const struct uop *wave_fault(struct wave *w, const struct uop *u,
                             enum emu_fault_kind kind, const char *detail);
const struct uop *wave_fault_at(struct wave *w, const struct uop *u,
                                enum emu_fault_kind kind, int lane, uint64_t address,
                                unsigned bytes, bool write);

/* jump.c: where the wave goes on at a GPU address, in another program if need be; NULL
 * if it is not in executable memory. */
const struct uop *wave_goto(struct wave *w, uint64_t pc);

/* trap.c: traps, exceptions and halts. */

static inline bool wave_privileged(const struct wave *w)
{
    return w->status_bits & STATUS_PRIV;
}

static inline bool wave_has_handler(const struct wave *w)
{
    return (w->status_bits & (STATUS_TRAP_EN | STATUS_PRIV)) == STATUS_TRAP_EN;
}

/* Into the handler with pc saved. Returns as a handler does. */
const struct uop *trap_enter(struct wave *w, const struct uop *u, uint64_t pc,
                             unsigned id);
const struct uop *trap_return(struct wave *w, const struct uop *u, uint64_t pc);
/* s_trap. */
const struct uop *trap_take(struct wave *w, const struct uop *u, unsigned id);
/* The wave has stopped with a fault: where it goes on in its handler, or NULL. */
const struct uop *trap_fault(struct wave *w);
/* Set or clear STATUS.HALT or FATAL_HALT, then go on at next. */
const struct uop *trap_halt(struct wave *w, const struct uop *u, const struct uop *next,
                            uint32_t bit, bool set);
/* Tell the host; M0 has the data. */
void trap_interrupt(struct wave *w);
/* TTMPs and STATUS of a new wave. */
void trap_init(struct wave *w);
/* Every wave of the group that could run is halted: the fault of the group. */
void trap_report_halt(struct workgroup *g);

/* The queue of the wave's dispatch. */
const struct emu_queue *wave_queue(const struct wave *w);

/* observe.c: the watched form of sched.c's loop over a wave's instructions. */
unsigned observe_run(struct wave *w, unsigned quantum);

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

/* What SHADER_CYCLES shows: without the timing model an instruction takes one cycle. */
static inline uint64_t wave_clock(const struct wave *w)
{
    return w->timed ? w->clock : w->n_insts;
}

/* May the clock be read? n_insts counts whole slices only: if not, the instruction must
 * end the slice (STOP_YIELD) and run again. */
static inline bool wave_clock_ready(struct wave *w, unsigned op)
{
    if (w->timed || w->clock_ready) {
        w->clock_ready = false;
        return true;
    }
    w->clock_ready = true;
    w->n_insts--; /* the slice counts the first attempt */
    if (w->counts)
        w->counts[op]--;
    return false;
}

/* The instruction at u, as a fault record tells it. */
void wave_describe(const struct wave *w, const struct uop *u, enum emu_fault_kind kind,
                   struct emu_fault *f);

/* Hardware registers of s_getreg (manual 3.4). */
enum hwreg_id {
    HWREG_MODE = 1,
    HWREG_STATUS = 2,
    HWREG_TRAPSTS = 3,
    HWREG_GPR_ALLOC = 5,
    HWREG_LDS_ALLOC = 6,
    HWREG_IB_STS = 7,
    HWREG_SH_MEM_BASES = 15,
    HWREG_FLAT_SCR_LO = 20,
    HWREG_FLAT_SCR_HI = 21,
    HWREG_HW_ID1 = 23,
    HWREG_HW_ID2 = 24,
    HWREG_SHADER_CYCLES = 29,
};

/* The bits that SIMM16 of s_getreg and s_setreg selects. */
static inline uint32_t hwreg_mask(unsigned imm)
{
    unsigned offset = imm >> 6 & 31, size = (imm >> 11 & 31) + 1;
    return (uint32_t)(((UINT64_C(1) << size) - 1) << offset);
}

/* hwreg.c: STATUS with all its bits. */
uint32_t wave_status(const struct wave *w);

/* hwreg.c: MODE register image <-> lane_mode and MXCSR. */
void wave_set_mode(struct wave *w, uint32_t mode_bits);
uint32_t wave_getreg(struct wave *w, unsigned id);
void wave_setreg(struct wave *w, unsigned id, uint32_t mask, uint32_t value);

/* smem.c */
sem_wave_fn x_smem, x_illegal, x_unsupported;

/* region.c: remember the region around address in a window; NULL if there is none. */
const struct mem_window *window_load(struct wave *w, uint64_t address);

static inline bool window_has(const struct mem_window *win, uint64_t lo, uint64_t last,
                              unsigned bytes)
{
    return lo >= win->base && last < win->end && win->end - last >= bytes;
}

/* A remembered window that covers [lo, last + bytes), or NULL. */
static inline const struct mem_window *window_find(const struct wave *w, uint64_t lo,
                                                   uint64_t last, unsigned bytes,
                                                   unsigned generation)
{
    for (unsigned i = 0; i < MEM_WINDOWS; i++) {
        const struct mem_window *win = &w->window[i];
        if (window_has(win, lo, last, bytes) && win->generation == generation)
            return win;
    }
    return NULL;
}

/* Handlers that exist once per SIMD level. */
struct level_ops {
    const char *name;
    const struct sem_entry *const *entries; /* NULL-terminated list of arrays */
    bool (*prepare)(struct wave *w, const struct uop *u); /* sources, for handlers */
    void (*leave)(void); /* after a run of handlers, before other code */
    sem_wave_fn *valu_fast, *valu_plain, *valu_any, *valu_vopd, *valu_matrix;
    sem_wave_fn *vmem_load, *vmem_store, *vmem_atomic;
    sem_wave_fn *ds_load, *ds_store, *ds_atomic;
    /* The sources of u in the running half, modifiers applied; lanes that it writes. */
    uint32_t (*valu_operands)(struct wave *w, const struct uop *u,
                              const uint32_t *rows[3]);
};
extern const struct level_ops level_generic, level_avx2, level_avx512;

#define GWS_RESOURCES 64u

struct emu {
    struct emu_config config;
    const struct level_ops *level;
    const struct sem_entry *sem[ISA_OP_COUNT]; /* semantics by opcode */
    struct region_table *regions;
    atomic_uint generation; /* of the region table */
    struct code_cache *code;
    atomic_ullong *counts; /* per opcode, if config.count */
    atomic_ullong gws[GWS_RESOURCES];
    atomic_uint gws_waiting[GWS_RESOURCES]; /* waves at a semaphore */
    uint8_t *gds;                           /* GDS_BYTES, once used; under gds_lock */
    pthread_mutex_t gds_lock;
    struct block_pool *pool; /* memory of workgroups between dispatches */
    unsigned host_cpus;
    struct emu_observer *observers; /* [EMU_MAX_OBSERVERS], or NULL */
    unsigned n_observers;
    uint64_t n_launches;          /* dispatches that were watched */
    uint64_t *slots;              /* bit per emu_wave_info.slot in use */
    size_t n_slot_words;          /* allocated */
    pthread_mutex_t observe_lock; /* calls of observers; the last three */
};

static inline unsigned mem_generation(const struct wave *w)
{
    return atomic_load_explicit(&w->emu->generation, memory_order_relaxed);
}

#endif
