/* event.h: what one step did: all that observers of the emulator ever see.
 *
 * An instruction is complete when its event is reported (functional at issue): values,
 * memory and branches have happened. What is known about an instruction before it runs
 * is in struct emu_inst, decoded once per program; what this execution added is in
 * struct emu_event. Pointers in an event are valid during the call; an emu_inst stays
 * valid until its dispatch ends, but for those that select registers by M0 (v_movrel,
 * s_movrel): their reg[] are those of one execution, and valid during its call.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_EVENT_H
#define RD_EVENT_H

#include "emu.h"
#include "isa.h"

/* ---- static: one per instruction of a program -------------------------------------
 */

enum emu_inst_kind {
    EMU_KIND_COMPUTE, /* changes registers only */
    EMU_KIND_MEMORY, /* vector, scalar and LDS access, memory or not: DS permutes too */
    EMU_KIND_BRANCH, /* any change of PC, conditional or not */
    EMU_KIND_WAIT,   /* s_waitcnt and its kin: nothing to wait for here */
    EMU_KIND_BARRIER,
    EMU_KIND_SLEEP,
    EMU_KIND_MESSAGE, /* s_sendmsg, with or without return */
    EMU_KIND_EXPORT,
    EMU_KIND_HINT, /* s_nop, s_delay_alu, s_clause, s_setprio ...: no effect here */
    EMU_KIND_END,
    EMU_KIND_ILLEGAL, /* no instruction: stepping it faults */
};

enum emu_space { EMU_SPACE_GLOBAL, EMU_SPACE_LDS, EMU_SPACE_SCRATCH, EMU_SPACE_GDS };

/* A run of registers that an instruction reads, writes or both. */
struct emu_reg {
    uint16_t sel; /* enum isa_sel of the first; SCC is ISA_SEL_SCC */
    uint8_t dwords;
    uint8_t flags; /* ISA_OF_IN, ISA_OF_OUT, ISA_OF_IMPLICIT, ISA_OF_Y */
};

#define EMU_MAX_REGS 20

struct emu_inst {
    uint64_t pc;      /* GPU address */
    const void *host; /* where its bytes lie, in events; NULL for emu_inst_describe */
    uint32_t code;    /* number of the program, unique in its emulator */
    uint32_t id; /* number in the program, from 0, as their blocks are first executed */
    uint8_t kind;   /* enum emu_inst_kind */
    uint8_t n_regs; /* 0 for EMU_KIND_ILLEGAL */
    uint8_t bytes;  /* length */
    struct emu_reg
        reg[EMU_MAX_REGS]; /* in operand order, then those nobody writes down */
    struct isa_inst isa;   /* op ISA_OP_NONE for EMU_KIND_ILLEGAL */
};

static inline bool emu_reg_is_vgpr(const struct emu_reg *r)
{
    return r->sel >= ISA_SEL_VGPR0;
}

/* ---- who ---------------------------------------------------------------------------
 */

/* A dispatch as its observers meet it. */
struct emu_launch {
    uint64_t number; /* of this emulator's dispatches, from 0 */
    const struct emu_dispatch *dispatch;
    uint64_t code_base, code_bytes; /* executable region that holds the entry */
    uint64_t n_groups;
    uint32_t waves_per_group; /* of a whole workgroup */
    uint32_t lanes;           /* 32 or 64 */
    uint32_t vgprs;           /* allocated per lane, as the descriptor asks */
};

struct emu_wave_info {
    uint64_t dispatch;     /* emu_launch.number */
    uint64_t group;        /* workgroup, linear */
    uint32_t workgroup[3]; /* workgroup, x y z */
    uint32_t wave;         /* in its workgroup */
    uint32_t n_waves;      /* of this workgroup */
    uint32_t lanes;        /* 32 or 64 */
    uint32_t slot;  /* smallest number that no other resident wave of the emulator
                       had when this one was launched: an index for tables */
    uint32_t place; /* where the timing engine put it (HW_ID1 image), else 0 */
};

/* ---- what happened ------------------------------------------------------------------
 */

/* One access by some lanes of a wave: an instruction has several if its lanes go to
 * different spaces, or more than once each. */
struct emu_access {
    uint64_t lanes;       /* bit per lane; a scalar access is lane 0 */
    uint16_t bytes;       /* per lane */
    uint8_t space;        /* enum emu_space */
    bool read, write;     /* both: an atomic */
    bool scalar;          /* through the scalar cache */
    uint64_t address[64]; /* of the lanes set. GLOBAL: GPU address; LDS: byte in the
                             workgroup's; SCRATCH: byte in the work-item's */
};

#define EMU_EV_TAKEN 1u /* the branch, or a trap, was taken: see next_pc */
#define EMU_EV_ENDED 2u /* the wave has ended */
#define EMU_EV_FAULT 4u /* the instruction faulted and had no effect */
#define EMU_EV_BARRIER_DONE                                                            \
    8u                         /* the last wave to arrive (or to end): all may go on   \
                                */
#define EMU_EV_PASSED_OVER 16u /* it would have faulted, and was left out (forgive) */

struct emu_event {
    const struct emu_wave_info *wave;
    const struct emu_inst *inst;
    uint64_t index;   /* of the wave's instructions, from 0 */
    uint64_t time;    /* the clock given to emu_wave_step; 0 without timing */
    uint64_t exec;    /* before */
    uint64_t next_pc; /* where the wave goes on; its own PC after a fault or the end */
    uint32_t flags;   /* EMU_EV_* */
    uint32_t n_accesses;
    const struct emu_access *access; /* with EMU_WANT_ACCESS; formed before execution */
    /* With EMU_WANT_VALUES, register by register as in inst->reg: `in` has those with
     * ISA_OF_IN before execution, `out` those with ISA_OF_OUT after. See
     * emu_reg_values. */
    const uint32_t *in, *out;
    /* With EMU_EV_FAULT or EMU_EV_PASSED_OVER: what is wrong with it. */
    const struct emu_fault *fault;
    /* With EMU_WANT_ROWS, and while nobody else watches: the register that an LDS
     * instruction of all lanes takes its addresses from, [lanes], before execution.
     * Its accesses have an address of lane 0 only: those of other lanes are as far from
     * it as in the row, modulo 2^32. Else NULL. */
    const uint32_t *row;
};

/* Dwords that a register takes in emu_event.in and .out: VGPRs have one row per dword
 * and all lanes in a row, whatever EXEC says; others have their dwords. */
static inline uint32_t emu_reg_values(const struct emu_reg *r, uint32_t lanes)
{
    return emu_reg_is_vgpr(r) ? r->dwords * lanes : r->dwords;
}

/* ---- observers
 * ------------------------------------------------------------------------
 */

#define EMU_WANT_ACCESS 1u
#define EMU_WANT_VALUES 2u
/* EMU_WANT_GLANCE 4u: glance.h */
#define EMU_WANT_ROWS 8u /* of a stepper alone: emu_event.row */
/* Where atomics or loads past the caches show the order of workgroups several run
 * beside one another, as on the chip; else one mostly runs after the other. There, and
 * where LDS has atomics or code sleeps, waves have turns of many lengths. */
#define EMU_WANT_MIX 16u

/* Any function may be NULL. Calls of one emulator never overlap, in no matter how many
 * threads its dispatches run; a dispatch with observers runs on one. */
struct emu_observer {
    void *ctx;     /* first argument of all calls */
    unsigned want; /* EMU_WANT_* */
    void (*dispatch_begin)(void *ctx, const struct emu_launch *launch);
    void (*wave_begin)(void *ctx, const struct emu_wave_info *wave);
    void (*step)(void *ctx, const struct emu_event *event);
    /* Before any instruction runs: its registers still hold what it reads. Of the event
     * what is known then: wave, inst, index, time, exec, access. */
    void (*before)(void *ctx, const struct emu_event *event);
    /* Before a memory instruction runs, its accesses known (EMU_WANT_ACCESS; but for
     * what only its handler finds out): the lanes that may run it. The others do
     * nothing, as if EXEC had them off, and step sees the accesses of those that ran.
     */
    uint64_t (*admit)(void *ctx, const struct emu_event *event);
    /* Waves go on behind instructions that fault on an address or an alignment. */
    bool forgive;
    /* EMU_CONTROL_CANCEL ends the dispatch, as emu_dispatch.control does; NULL: never.
     */
    const volatile int *control;
    void (*dispatch_end)(void *ctx, const struct emu_launch *launch, rd_status status);
};

#define EMU_MAX_OBSERVERS 8

/* Attach an observer (copied) for dispatches that start from now on.
 *
 * Returns RD_E_RANGE if there are EMU_MAX_OBSERVERS already.
 * Thread: no dispatch may be running.
 */
RD_CHECKED rd_status emu_add_observer(struct emu *emu,
                                      const struct emu_observer *observer);
void emu_remove_observer(struct emu *emu, const void *ctx);

/* A number of all registers of a wave that observers are told of, equal for equal ones
 * (SGPRs, SCC, EXEC, VGPRs). wave: as in the event. Thread: of the observers. */
uint64_t emu_wave_digest(const struct emu_wave_info *wave);

/* A VGPR of a lane as it is now, for registers that the wave has. Thread: as above. */
uint32_t emu_wave_vgpr(const struct emu_wave_info *wave, unsigned vgpr, unsigned lane);

/* Give a register of a wave another value: a VGPR of a lane, or a scalar register
 * (enum isa_sel). What is pending in native code is not looked for: for observers of
 * watched waves. Thread: as above. */
void emu_wave_put(const struct emu_wave_info *wave, unsigned sel, unsigned lane,
                  uint32_t value);

/* What memory holds now where a lane of the wave has just been.
 *
 * address  as emu_access has it, in its space
 * bytes    at most 64
 * Returns false where there is nothing, and for GDS. Thread: of the observers.
 */
bool emu_wave_peek(const struct emu_wave_info *wave, unsigned space, unsigned lane,
                   uint64_t address, unsigned bytes, void *out);

/* Describe an instruction: registers and kind (what struct emu_inst holds besides the
 * numbers). For tools that decode themselves.
 *
 * pc     its GPU address
 * wave   32 or 64
 * Bytes that are no instruction give EMU_KIND_ILLEGAL of 4 bytes, or 8 if they begin
 * like an encoding of two dwords.
 */
void emu_inst_describe(const void *code, size_t bytes, uint64_t pc, unsigned wave,
                       struct emu_inst *out);

#endif
