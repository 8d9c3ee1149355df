/* emit.h: the state of one compilation, shared by the files that write its code.
 *
 * What host registers hold while native code runs:
 *   rbx struct wave            r12 what is left of the wave's turn (uop.turn)
 *   r13 the program's constant rows          r14 rows of the VGPRs
 *   r15 the program's table of entries       rbp recipe_consts
 *   rax, rcx, rdx, rsi, rdi, r8 to r11: free between instructions
 *   k1, k2 EXEC of lanes 0-15 and 16-31 (AVX-512, emit.masked); k3 to k7 free
 * Vector registers: the cache of rows (rows.c) from 0 up; the last ones are temporary.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_EMIT_H
#define RD_EMIT_H

#include "compile.h"
#include "native.h"
#include "recipe.h"
#include "trace.h"
#include "watch.h"
#include "wave.h"
#include "x86.h"

#define W      RBX
#define LEFT   R12
#define CONSTS R13
#define ROWS   R14
#define TABLE  R15
#define FIXED  RBP

#define ROW_BYTES 128
#define MAX_PARTS 4
#define CACHE_MAX 13
#define NO_ENTRY  0xffu
/* Rows of the lower half of a wave, then those of the upper one, which lie behind. */
#define ROWS_MAX (2 * WAVE_VGPRS)

/* Rows of VGPRs in host registers. Entry c is registers c * parts and on. */
struct row_cache {
    uint8_t entry_of[ROWS_MAX]; /* or NO_ENTRY */
    uint16_t row[CACHE_MAX];
    bool used[CACHE_MAX];     /* holds a row */
    bool dirty[CACHE_MAX];    /* which memory lacks */
    bool resident[CACHE_MAX]; /* keeps its place in the whole loop */
    bool pinned[CACHE_MAX];   /* an operand of the instruction at hand */
    uint32_t stamp[CACHE_MAX], now;
    unsigned n; /* entries */
};

/* The same, as far as code out of the way needs it: a bit for each entry. */
struct rows_state {
    uint16_t row[CACHE_MAX];
    uint16_t used, dirty;
};

/* Code out of the way of the usual path, written behind it. */
struct far {
    struct x86 *x;
    size_t jump; /* the last one that comes here (x86_join) */
    enum {
        FAR_EXIT,
        FAR_TURN,
        FAR_FAULT,
        FAR_SLOW,
        FAR_PICK,
        FAR_ENTER,
        FAR_CHECK,
        FAR_ASK,
        FAR_SETTLE
    } kind;
    struct rows_state before; /* what registers hold there */
    struct rows_state
        after; /* FAR_SLOW, _ASK, _SETTLE: what the usual path expects at back */
    size_t back;
    size_t refused;      /* FAR_ASK, FAR_SETTLE: where it is no event */
    struct emu_row *row; /* FAR_ASK: of a place that learns how lanes lie, or NULL */
    const struct uop *u; /* FAR_EXIT, FAR_TURN: where to; FAR_SLOW: the instruction */
    unsigned n_insts, turn; /* done since the head */
    unsigned path;
    bool masked;                   /* lanes may be off there */
    unsigned half;                 /* emit.half there */
    unsigned kept, kept_row;       /* FAR_SLOW: emit.kept there */
    const struct watch_seen *seen; /* FAR_ENTER */
    struct x86_rm a, b;            /* FAR_PICK: STEP_PICK's operands and result */
    unsigned d;
    struct far *slow; /* FAR_CHECK: where to if the access is not known to be allowed */
    unsigned bytes, perm; /* ... of the access */
};

/* What slot i on the stack tells of rows of addresses (known.c). */
#define KNOWN_MAX 6u
struct known {
    uint16_t row;
    uint8_t step; /* bytes from lane to lane; 0: nothing is known */
    bool loop;    /* from iteration to iteration */
    bool place;   /* of the line at row + saddr + imm, of 32 elements: its address */
    uint16_t saddr;
    int32_t imm;
};

#define RUN_MASKS 6u /* that one run writes */

/* AVX2: instructions that are done for a quarter of the lanes after another, each row
 * in one register (quarters.c). Waves of 64 lanes: the same code runs for the lower
 * half, then for the upper one, with ROWS at its rows and RUN_SGPRS at its masks. */
struct run {
    bool on;
    unsigned quarter;
    unsigned m_sgpr; /* the SGPR whose bits the signs of TEMP_M are, or NO_SGPR */
    uint8_t mask[RUN_MASKS]; /* SGPRs that are written as masks ... */
    unsigned n_masks;        /* ... and collected in general registers until the end */
};
#define NO_SGPR   ~0u
#define RUN_SGPRS RDX /* W, then one SGPR further on */
#define RUN_EXEC  7u  /* with lanes off: the register that has EXEC in signs */
static const uint8_t run_mask_reg[RUN_MASKS] = {RSI, RDI, R8, R9, R10, R11};

struct emit {
    struct x86 *x;
    const struct trace *t;
    const struct program *p;
    const uint8_t *recipe_of; /* by opcode: index + 1, or 0 */
    const struct emu *emu;
    unsigned parts;      /* of a row: 2 or 4 */
    unsigned part_bytes; /* 64 or 32 */
    unsigned mode;       /* NATIVE_* */
    bool masked;         /* lanes may be off; k1, k2 are EXEC (AVX-512) */
    bool wave64;
    unsigned half;           /* of a wave64 that is done: k1, k2 are its EXEC */
    const struct uop *whole; /* the instruction of which that is one half, or NULL */
    unsigned kept,
        kept_row; /* rows from kept_row on that wave.temp has, as they were */
    struct row_cache rows;
    struct run run;
    struct known known[KNOWN_MAX];
    struct row_cache head; /* what registers hold at the loop's head */
    size_t head_at;
    bool head_masked;
    const struct path_sink *paths; /* NULL: nobody counts */
    const struct watch *watch;     /* NULL: nobody watches */
    struct watch_arena **places;
    uint8_t sees[TRACE_MAX];   /* WATCH_* of the steps */
    struct compile_room *room; /* of which this is a part */
    unsigned n_far;
    const struct wave *wave; /* which is about to run the trace */
    const uint32_t *vgprs;   /* its rows */
    bool written[ROWS_MAX];  /* rows that steps so far have written */
    unsigned n_insts, turn;  /* done since the head */
    unsigned at;             /* the step at hand */
    size_t flags_at;         /* where the host's flags say what SCC is, ... */
    enum x86_cc flags_scc;   /* ... which is 1 then */
    bool handled[TRACE_MAX]; /* by their handlers, by place in t */
    bool failed;             /* out of memory, or the trace is too long */
};

/* Memory of a compilation, kept for the next one: its pages are there already. Most
 * traces have few places out of the way, which lie close to all else. */
#define FAR_NEAR 12u
#define FAR_MAX  (8u * TRACE_MAX)
struct compile_room {
    struct emit emit;
    struct far near[FAR_NEAR];
    struct trace trace;
    struct far more[FAR_MAX - FAR_NEAR + 1]; /* the last one for who got none */
};

static inline struct far *far_at(struct emit *e, unsigned i)
{
    return i < FAR_NEAR ? &e->room->near[i] : &e->room->more[i - FAR_NEAR];
}

/* Temporary vector registers: for sources (3), two for recipes, one for results, masks
 * (AVX2). */
enum temp { TEMP_S0, TEMP_S1, TEMP_S2, TEMP_A, TEMP_B, TEMP_X, TEMP_M, TEMP_E };
static inline unsigned temp_reg(const struct emit *e, enum temp t)
{
    return e->x->evex ? 26u + t : 8u + t; /* AVX-512 has no M and E */
}

static inline struct x86_mem wave_mem(size_t offset)
{
    return mem_at(W, (int32_t)offset);
}
/* Entry index of the table that is at TABLE, or with TABLE_* what is before. */
static inline struct x86_mem table_mem(int64_t index)
{
    return mem_at(TABLE, (int32_t)(8 * index));
}

static inline struct x86_mem sgpr_mem(unsigned slot)
{
    return wave_mem(offsetof(struct wave, sgpr) + 4ul * slot);
}

/* EXEC of the half that is done, of the whole wave. */
static inline unsigned exec_sel(const struct emit *e)
{
    return ISA_SEL_EXEC_LO + e->half;
}
static inline void test_exec_full(const struct emit *e)
{
    x86_alu_mem_imm(e->x, ALU_CMP, e->wave64, sgpr_mem(ISA_SEL_EXEC_LO), -1);
}

/* rows.c */
void rows_init(struct row_cache *r, unsigned entries);
/* The entry of row, loaded if it was not there. Pinned until rows_unpin. */
unsigned rows_load(struct emit *e, unsigned row);
/* The entry of row if it is in registers, else NO_ENTRY. Pins it. */
unsigned rows_find(struct emit *e, unsigned row);
/* An entry for row, which is about to be written whole (keep: only in part). */
unsigned rows_write(struct emit *e, unsigned row, bool keep);
/* Write the row of entry c back if memory lacks it. */
void rows_store(struct emit *e, unsigned c);
/* Is there a place that no row has? */
bool rows_room(const struct emit *e);
/* Memory has row, or is about to: it is in no register any more. */
void rows_drop(struct emit *e, unsigned row);
void rows_unpin(struct emit *e);
/* Write back what memory lacks; registers stay as they are. */
void rows_flush(struct emit *e, struct row_cache *r);
void rows_forget(struct row_cache *r);
struct rows_state rows_state(const struct row_cache *r);
/* Write back what memory lacks; it lacks nothing then. */
void rows_put(struct emit *e, struct rows_state *r);
/* Load all that to says, which is what registers shall hold. */
void rows_reload(struct emit *e, const struct rows_state *to);
static inline unsigned row_reg(const struct emit *e, unsigned entry, unsigned part)
{
    return entry * e->parts + part;
}
static inline struct x86_rm row_mem(const struct emit *e, unsigned row, unsigned part)
{
    part += e->run.quarter;
    return rm_mem(ROWS, (int32_t)(row * ROW_BYTES + part * e->part_bytes));
}

/* known.c: forget all, what is about a row, what the SGPRs that u writes are for. */
void known_forget(struct emit *e);
void known_forget_row(struct emit *e, unsigned row);
void known_step(struct emit *e, const struct uop *u);
/* In front of the loop of so many steps: rows that are likely to stay lines in it. */
void known_loop(struct emit *e, unsigned steps);

/* A place out of the way, with the present state of registers; NULL if there is none.
 */
struct far *emit_far(struct emit *e, unsigned kind, const struct uop *u);
static inline void far_from(struct far *f, size_t jump)
{
    if (f)
        f->jump = x86_join(f->x, jump, f->jump);
}

/* The slow path at f comes back here. */
static inline void emit_back(struct emit *e, struct far *f)
{
    if (e->watch && f->kind == FAR_SLOW)
        watch_count(e, f->u);
    f->after = rows_state(&e->rows);
    f->back = x86_here(e->x);
}

/* The sign bits that ABS and NEG of a source are about, and all others. */
static inline enum recipe_const mods_sign(unsigned mods)
{
    return (mods & SM_PAIR) == SM_PAIR ? C_SIGNS16 : mods & SM_LO16 ? C_SIGN16 : C_SIGN;
}
static inline enum recipe_const mods_magnitude(unsigned mods)
{
    return (mods & SM_PAIR) == SM_PAIR ? C_NOT_SIGNS16
           : mods & SM_LO16            ? C_NOT_SIGN16
                                       : C_NOT_SIGN;
}

/* What native code keeps in registers of the wave in W, and of its program. */
static inline void load_bases(struct x86 *x)
{
    x86_load(x, true, CONSTS, wave_mem(offsetof(struct wave, base[SRC_CONST])));
    x86_load(x, true, ROWS, wave_mem(offsetof(struct wave, vgpr[0])));
}

/* One row of recipe_consts. */
static inline struct x86_rm const_rm(unsigned c)
{
    return rm_mem(FIXED, (int32_t)(64u * c));
}

/* AVX2: a vector whose lanes have the bits of a mask in SGPRs as signs. */
void emit_spread_mask(struct emit *e, unsigned reg, unsigned sgpr, unsigned part);
/* AVX2: the signs of TEMP_M to eax, behind those of the parts before. */
void emit_collect_mask(struct emit *e, unsigned part);
/* The mask of all parts (k3 and k4, or eax) to the SGPR that u writes, active lanes
 * only. */
void emit_store_mask(struct emit *e, const struct uop *u);

/* switch.c: from the wave in W on to the one whose turn is next; barrier: that is where
 * W stops. Where that cannot be told here, turn is asked (native_turn_fn), and if there
 * is no code, control goes to give_back. */
void write_switch(struct x86 *x, native_turn_fn *turn, size_t give_back, bool barrier);

/* Each writes code for the instruction at u and returns true, or writes nothing and
 * returns false. */
bool emit_vector(struct emit *e, const struct uop *u);
bool emit_vopd(struct emit *e, const struct uop *u);
/* vector.c: u by recipe, one half of the wave after the other: as half says, where the
 * rows and masks of each are. */
bool emit_halves(struct emit *e, const struct uop *u, const struct uop half[2]);
/* wave64.c: vector instructions, memory instructions. */
bool emit_vector64(struct emit *e, const struct uop *u);
bool emit_memory64(struct emit *e, const struct uop *u);
/* On the slow path at f: back to memory what is kept of rows that have been written. */
void emit_put_kept(struct emit *e, const struct far *f);
bool emit_scalar(struct emit *e, const struct uop *u);
bool emit_memory(struct emit *e, const struct uop *u);
bool emit_leaf(struct emit *e, const struct uop *u);

/* AVX2: the longest run from step i of the trace on that is worth doing by quarters;
 * returns how many steps it has taken, 0: none. */
unsigned emit_quarters(struct emit *e, unsigned i);

/* Will emit_vector or emit_vopd do u in a run: by recipe, all of it, each lane for
 * itself, without EXEC as result? Its recipes: one, or two of a VOPD. */
bool emit_known_vector(const struct emit *e, const struct uop *u,
                       const struct recipe *r[2]);
/* Is EXEC, or a part of it, the mask that u writes? */
static inline bool emit_writes_exec(const struct emit *e, const struct uop *u)
{
    return u->flags & UF_MASK_OUT && u->d2 + e->wave64 >= ISA_SEL_EXEC_LO &&
           u->d2 <= ISA_SEL_EXEC_LO + e->wave64;
}
/* Will emit_scalar do u, which has a recipe, and not write EXEC? dwords: of SGPRs that
 * it writes. */
bool emit_scalar_fits(const struct uop *u, unsigned *dwords);
/* Is the handler of u the one that the recipes stand for? */
bool emit_usual(const struct emit *e, const struct uop *u);
/* The code behind FAR_PICK. */
void emit_pick(struct emit *e, const struct far *f);

/* Is the instruction done here unless its addresses are apart? */
bool emit_known_memory(const struct emit *e, const struct uop *u);

/* Is there a scalar recipe for the opcode? */
bool emit_known_scalar(unsigned op);

/* Set the flags for u's branch; *taken says when it is. False: not a branch that is
 * known here. e NULL: only ask. */
bool emit_branch_test(struct emit *e, const struct uop *u, enum x86_cc *taken);

/* The instruction's handler does it. */
void emit_call(struct emit *e, const struct uop *u);
/* EXEC has a new value: from here on lanes may be off. */
void emit_new_exec(struct emit *e);
/* EXEC to k1 and k2, which a call has changed. */
void emit_load_exec(struct emit *e);

#endif
