/* uop.h: the predecoded instruction.
 *
 * Rules for whoever edits the engine:
 *  1. A micro-op lives in the slot of its first dword: slot i of a program is the
 *     instruction at byte offset 4*i. The slots of its other dwords are free to hold
 *     more operands (u[1] of a VOPD is the Y half).
 *  2. A handler returns the next micro-op, or NULL after it has set wave.stop and
 *     wave.next. It never calls another micro-op.
 *  3. Writes to null are predecoded to SGPR_DUMMY.
 *  4. A block is a run of instructions that is left only behind its last one, or by a
 *     fault: what may branch, stop, trap or change MODE ends it. It begins wherever
 *     control arrives, so that blocks may share their ends; run says how long it is
 * from there. Waves change between blocks and nowhere else, in every engine.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_UOP_H
#define RD_UOP_H

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

/* The plan of a memory micro-op, in place of s[]: all that forms its addresses
 * (mem/address.h), for execution, events and timing alike. */
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
    uint8_t dirs;               /* MD_* */
};
#define NO_ROW   0xffffu
#define MD_READ  1u
#define MD_WRITE 2u /* with MD_READ: an atomic */

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

/* MEM_FLAT: the apertures choose. MEM_SCALAR: saddr and addr are SGPRs. */
enum mem_space { MEM_GLOBAL, MEM_FLAT, MEM_SCRATCH, MEM_LDS, MEM_GDS, MEM_SCALAR };

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
#define UF_ENDS      0x400000u /* ends its block */
#define UF_ALONE     0x800000u /* a block of its own: it reads the clock */
#define UF_MAY_FAULT 0x1000000u
#define UF_MEM       0x200000u /* mem says where it goes; else the handler notes it */

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
    uint16_t run;  /* instructions from here to the end of the block */
    uint16_t turn; /* what they cost of the wave's turn: see TURN_* */
    union {
        int32_t imm; /* branch distance in dwords, simm16, memory offset */
        struct {
            uint8_t neg, neg_hi, op_sel_hi, clamp;
        } pk;
    };
};
_Static_assert(sizeof(struct uop) == 64, "a micro-op is one cache line");

/* How waves of a workgroup take turns: a turn ends at the first block after TURN. An
 * access to global memory costs TURN_ACCESS, so that waves which walk through memory
 * side by side stay together: neighbours touch neighbouring lines at nearly the same
 * time, which the host's caches reward (streams run at half the speed if they do not).
 * All else costs 1: what waves compute is best left in the host's registers. */
#define TURN          4096
#define TURN_SHORTEST 32 /* EMU_WANT_MIX: from this, or twice, ... to TURN */
#define TURN_ACCESS   128u

/* Rows of wave.temp */
enum {
    TEMP_SRC0 = 0, /* 2 rows a source */
    TEMP_RESULT = 6,
    TEMP_RESULT_Y = 8,
    TEMP_MASK = 9,
    TEMP_FACTORS = 10, /* struct matrix_factors of A, then of B */
    TEMP_FACTORS_ROWS = 21,
    TEMP_ROWS = TEMP_FACTORS + 2 * TEMP_FACTORS_ROWS,
};

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

#endif
