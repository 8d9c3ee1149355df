/* init.h: what the parts of the init checker share: which bits of registers and memory
 * nobody has given a value, and whence they come.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_INIT_H
#define RD_CHECK_INIT_H

#include "glance.h"
#include "inspect.h"
#include "internal.h"
#include "rules.h"

#define INIT_VGPRS 256u
#define INIT_SGPRS 128u
#define INIT_LANES 64u
#define INIT_BYTES 64u /* of an access */

/* ---- origins: where undefined bits come from ---- */

enum init_place {
    INIT_UNKNOWN,
    INIT_VGPR,
    INIT_SGPR,
    INIT_LDS,
    INIT_SCRATCH,
    INIT_GLOBAL
};

struct init_origin {
    uint8_t place;  /* enum init_place */
    uint64_t where; /* register number, byte, address */
    uint64_t pc;    /* of the instruction that took it from there */
};

/* Its number; 0 (unknown) if there are too many. */
uint16_t init_origin(struct ck_init *in, enum init_place place, uint64_t where,
                     uint64_t pc);

/* ---- registers ---- */

/* What a run of instructions that was not seen has given a value to (marks.c). */
struct init_kept {
    uint16_t sel;
    uint64_t lanes, never; /* as they were; of a scalar: undefined bits */
};

#define INIT_KEPT (32u * EMU_MARK_WORDS)

struct init_wave {
    struct init_wave *next;      /* of those not in use */
    struct emu_marks marks;      /* registers that may have undefined bits */
    bool rest;                   /* the running instruction has left some */
    uint64_t kept_from, kept_to; /* instructions of the wave: the run */
    unsigned n_kept;
    struct init_kept kept[INIT_KEPT];
    uint64_t lanes[INIT_VGPRS];     /* that have undefined bits */
    uint64_t never[INIT_VGPRS];     /* of these: nobody has written any bit */
    uint32_t sgpr[INIT_SGPRS];      /* undefined bits */
    uint16_t sgpr_from[INIT_SGPRS]; /* whence; 0: never written */
    uint32_t scc;
    uint16_t scc_from;
    uint8_t *scratch; /* NULL: not touched yet */
    uint16_t *scratch_from;
    /* Only of lanes that have undefined bits and are not never: */
    uint32_t bits[INIT_VGPRS][INIT_LANES];
    uint16_t from[INIT_VGPRS][INIT_LANES];
};

/* Undefined bits and their origin. */
struct init_bits {
    uint32_t u;
    uint16_t from;
};

static inline struct init_bits init_vgpr(const struct init_wave *r, unsigned reg,
                                         unsigned lane)
{
    if (!(r->lanes[reg] >> lane & 1))
        return (struct init_bits){0, 0};
    if (r->never[reg] >> lane & 1)
        return (struct init_bits){~0u, 0};
    return (struct init_bits){r->bits[reg][lane], r->from[reg][lane]};
}

/* Native code shall not use it unseen. */
static inline void init_mark(struct init_wave *r, unsigned sel)
{
    int mark = emu_mark_of(sel);
    if (mark >= 0)
        emu_mark_set(r->marks.reg, (unsigned)mark);
    r->rest = true;
}

/* The bits of mask become those of u. */
static inline void init_set_vgpr(struct init_wave *r, unsigned reg, unsigned lane,
                                 uint32_t u, uint32_t mask, uint16_t from)
{
    struct init_bits old = init_vgpr(r, reg, lane);
    uint64_t bit = UINT64_C(1) << lane;
    uint32_t now = (old.u & ~mask) | (u & mask);
    r->never[reg] &= ~bit;
    r->lanes[reg] &= ~bit;
    if (!now)
        return;
    init_mark(r, ISA_SEL_VGPR0 + reg);
    r->lanes[reg] |= bit;
    r->bits[reg][lane] = now;
    r->from[reg][lane] = u & mask ? from : old.from;
}

static inline void init_set_sgpr(struct init_wave *r, unsigned sel, uint32_t u,
                                 uint16_t from)
{
    if (u)
        init_mark(r, sel);
    if (sel == ISA_SEL_SCC) {
        r->scc = u & 1u;
        r->scc_from = from;
    } else if (sel < INIT_SGPRS && sel != ISA_SEL_NULL && sel != ISA_SEL_EXEC_LO &&
               sel != ISA_SEL_EXEC_HI) {
        r->sgpr[sel] = u;
        r->sgpr_from[sel] = from;
    }
}

/* Have the lanes' bits of a run of registers all got values? */
static inline bool init_is_clean(const struct init_wave *r, const struct emu_reg *g,
                                 uint64_t lanes)
{
    uint64_t u = 0;
    if (g->sel >= ISA_SEL_VGPR0) {
        const uint64_t *at = &r->lanes[g->sel - ISA_SEL_VGPR0];
        for (unsigned i = 0; i < g->dwords; i++)
            u |= at[i];
        return !(u & lanes);
    }
    if (g->sel == ISA_SEL_SCC)
        return !r->scc;
    for (unsigned i = 0; i < g->dwords && g->sel + i < INIT_SGPRS; i++)
        u |= r->sgpr[g->sel + i];
    return !u;
}

/* They have now. */
static inline void init_clean(struct init_wave *r, const struct emu_reg *g,
                              uint64_t lanes)
{
    for (unsigned i = 0; i < g->dwords; i++) {
        if (g->sel >= ISA_SEL_VGPR0) {
            r->lanes[g->sel - ISA_SEL_VGPR0 + i] &= ~lanes;
            r->never[g->sel - ISA_SEL_VGPR0 + i] &= ~lanes;
        } else {
            init_set_sgpr(r, g->sel + i, 0, 0);
        }
    }
}

/* ---- memory ---- */

struct init_memory;
struct init_lds;

/* One access of a lane. */
struct init_at {
    struct ck_wave *w;
    unsigned space, lane;
    uint64_t address;
    unsigned bytes;
};

/* Nonzero: something in the workgroup's LDS is undefined. Makes its shadow. */
const uint32_t *init_lds_dirty(struct ck *ck, struct ck_group *g);
/* As emu_glance.clip. */
bool init_memory_clip(struct init_memory *m, uint64_t address, uint64_t *base,
                      uint64_t *end);

/* Is it certain that all of what an access may touch has got values? */
bool init_memory_clean(const struct ck *ck, const struct ck_wave *w,
                       const struct emu_access *a);
/* The undefined bits of bytes in memory, into u; true if there are any. from: out,
 * whence the first of them come if somebody stored them, else 0; first: out, the byte
 * that it is. */
bool init_memory_read(struct ck *ck, const struct init_at *at, uint8_t *u,
                      uint16_t *from, unsigned *first);
/* u: NULL: all get values. */
void init_memory_write(struct ck *ck, const struct init_at *at, const uint8_t *u,
                       uint16_t from);

/* Are all bytes that an instruction reads of LDS defined, and all that it accesses
 * there? Then those that it writes are, too; else nothing changes. */
bool init_lds_settle(struct ck *ck, struct ck_wave *w, const struct emu_event *e);

struct init_memory *init_memory_create(const struct ck *ck);
void init_memory_destroy(struct init_memory *m);
/* The host may have written: forget what kernels stored, but where memory still is as
 * nobody leaves it. */
void init_memory_settle(struct init_memory *m);
/* The allocations of a heap that are fresh are what nobody has written. */
void init_memory_follow(struct init_memory *m, struct ck_heap *heap);
/* Before the instruction of an event runs: has the host written what it reads? */
void init_memory_confirm(struct ck *ck, const struct ck_wave *w,
                         const struct emu_event *e);
/* Nobody has given these bytes a value yet; false: out of memory. */
bool init_memory_fresh(struct init_memory *m, uint64_t va, uint64_t bytes);

/* ---- the checker ---- */

#define INIT_ORIGINS 4096u

struct ck_init {
    struct init_memory *memory;
    unsigned heap; /* its generation that the memory is of */
    bool copies;   /* a runtime's own kernel runs */
    struct init_wave *spare;
    struct init_origin origin[INIT_ORIGINS]; /* from 1 */
    unsigned n_origins;
    uint16_t index[2 * INIT_ORIGINS];
};

/* Uses of a value that matter. */
enum init_use {
    INIT_ADDRESS,
    INIT_DESCRIPTOR,
    INIT_STORE,
    INIT_PADDING,
    INIT_ATOMIC,
    INIT_ATOMIC_MEMORY,
    INIT_BRANCH,
    INIT_TARGET,
    INIT_EXEC,
    INIT_INDEX,
    INIT_MODE,
    INIT_USES
};

/* Tell of a use by these lanes (0: of a scalar); from: the origin of what is used. */
void init_tell(struct ck *ck, const struct ck_wave *w, const struct emu_event *e,
               enum init_use use, uint64_t lanes, uint16_t from);

/* Is anything of a run of registers undefined in these lanes? Which of them, and
 * whence: an origin is made for what nobody has written. */
uint64_t init_undefined(struct ck *ck, const struct init_wave *r,
                        const struct emu_event *e, const struct emu_reg *g,
                        uint64_t lanes, uint16_t *from);

/* marks.c: the running instruction has not been done, though its run was counted as
 * such. */
void init_undo(struct init_wave *r, const struct emu_event *e);
/* May it leave some bits of a result as they were? */
bool init_is_partial(const struct emu_inst *inst, const struct emu_reg *g);
/* ... read lanes that are off? */
bool init_crosses(const struct emu_inst *inst);
/* Does an atomic give back what was there? */
bool init_returns(const struct isa_inst *inst);

/* compute.c, lanes.c, access.c: an instruction of their kind. */
void init_compute(struct ck *ck, struct ck_wave *w, const struct emu_event *e);
void init_cross(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                struct rule_entry rule);
void init_access(struct ck *ck, struct ck_wave *w, const struct emu_event *e);

/* Value of an inline constant of which these halves are taken (halves.c). inexact: set
 * if it is none, or is a float of another format than f32. */
struct bits init_constant(const struct isa_opnd *o, unsigned half, bool *inexact);

/* DPP: the lane that lane's source 0 comes from; -1: zero (bound_ctrl); -2: the lane is
 * not written. */
int init_dpp_lane(const struct emu_event *e, unsigned lane);

/* Origin of a register's bits, made if nobody has written it. */
static inline uint16_t init_from(struct ck_init *in, const struct emu_event *e,
                                 unsigned sel, uint16_t from)
{
    if (from)
        return from;
    bool vgpr = sel >= ISA_SEL_VGPR0;
    return init_origin(in, vgpr ? INIT_VGPR : INIT_SGPR,
                       vgpr ? sel - ISA_SEL_VGPR0 : sel, e->inst->pc);
}

#endif
