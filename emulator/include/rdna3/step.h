/* step.h: a dispatch under the caller's control: which workgroup starts, which wave
 * steps next. The timing engine's half of the emulator.
 *
 * The functional side knows no cycles: a step executes one instruction completely and
 * says what it did. The caller may step any wave that is EMU_WAVE_READY, in any order;
 * a barrier opens by itself when its last wave has arrived (EMU_EV_BARRIER_DONE), and
 * the caller decides when each wave goes on. Observers attached to the emulator see the
 * same events, with the caller's clock in them. Single-threaded and deterministic.
 *
 *     emu_stepper_create(emu, &dispatch, &s, &fault);
 *     for each workgroup that finds room:
 *         emu_group_start(s, number, &group);
 *     while waves are left:
 *         inst = emu_wave_next(wave);               what would it issue?
 *         emu_wave_step(s, wave, clock, &event);    issue it: it is done
 *         if every wave of the group has ended:
 *             emu_group_end(s, group);
 *     emu_stepper_destroy(s, &stats);
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_STEP_H
#define RD_STEP_H

#include "event.h"

struct emu_stepper; /* one dispatch; opaque like the next two */
struct emu_group;
struct emu_wave;

enum emu_wave_state {
    EMU_WAVE_READY,
    EMU_WAVE_BARRIER, /* waits for other waves of its workgroup */
    EMU_WAVE_ENDED,
    EMU_WAVE_FAULTED,
};

/* Begin a dispatch.
 *
 * dispatch  must stay until emu_stepper_destroy; dispatch->control is not looked at
 * fault     out, filled if RD_E_FAULT is returned: the entry is not executable (may be
 *           NULL)
 * Returns RD_E_INVALID for impossible shapes, as emu_run.
 * Owner: emu_stepper_destroy. Thread: one at a time per stepper.
 */
RD_CHECKED rd_status emu_stepper_create(struct emu *emu,
                                        const struct emu_dispatch *dispatch,
                                        struct emu_stepper **out,
                                        struct emu_fault *fault);

/* End it, with whatever workgroups are still there.
 *
 * stats  in/out, counts are added (may be NULL)
 */
void emu_stepper_destroy(struct emu_stepper *s, struct emu_stats *stats);

/* The same, but that its instructions, its launch and its fault stay until it is
 * destroyed, which then adds nothing more. Observers are told of its end now. */
void emu_stepper_rest(struct emu_stepper *s, struct emu_stats *stats);

const struct emu_launch *emu_stepper_launch(const struct emu_stepper *s);

/* The fault of the step that returned RD_E_FAULT. */
const struct emu_fault *emu_stepper_fault(const struct emu_stepper *s);

/* Give the events of emu_wave_step operand values, or (the default) addresses only.
 *
 * want  EMU_WANT_*
 */
RD_CHECKED rd_status emu_stepper_want(struct emu_stepper *s, unsigned want);

/* From the next workgroup on, do nothing where hardware without a trap handler would do
 * nothing (or nothing sensible) and go on: opcodes that do not exist or lack semantics,
 * misaligned or out-of-range LDS addresses. For code that was captured, not written. */
void emu_stepper_tolerate(struct emu_stepper *s);

/* The clocks of emu_wave_step are of so many MHz (default 2500): what waves read as
 * REALTIME goes by that, from the next workgroup on. */
void emu_stepper_sclk(struct emu_stepper *s, double mhz);

/* Put a workgroup in place: registers and LDS as hardware initialises them.
 *
 * number  linear workgroup; any order, each at most once
 * place   HW_ID1 image for each wave, [waves of the group], or NULL for zeros
 * Returns RD_E_NOMEM; RD_E_RANGE beyond the grid.
 */
RD_CHECKED rd_status emu_group_start(struct emu_stepper *s, uint64_t number,
                                     const uint32_t *place, struct emu_group **out);

/* Does nobody else watch the waves? */
bool emu_stepper_is_alone(const struct emu_stepper *s);

/* From now on waves of different parts may be stepped by different threads at once; a
 * workgroup belongs to the part that it is given to when it has started, before its
 * first step. Everything but emu_wave_* stays one thread's, while no other steps.
 * An event is valid until the part's next step. After RD_E_FAULT emu_stepper_blame says
 * which of the waves that faulted emu_stepper_fault tells of.
 *
 * Returns RD_E_BUSY, and nothing has changed, if somebody else watches; RD_E_NOMEM.
 */
RD_CHECKED rd_status emu_stepper_divide(struct emu_stepper *s, unsigned parts);
void emu_group_part(struct emu_stepper *s, struct emu_group *group, unsigned part);
void emu_stepper_blame(struct emu_stepper *s, const struct emu_wave *wave);

/* Waves that workgroup number will have (a partial one has fewer). */
unsigned emu_stepper_group_waves(const struct emu_stepper *s, uint64_t number);

/* Give its memory back; its waves are gone. Ended or not: a dispatch can be cut short.
 */
void emu_group_end(struct emu_stepper *s, struct emu_group *group);

unsigned emu_group_waves(const struct emu_group *group);
struct emu_wave *emu_group_wave(struct emu_group *group, unsigned index);
unsigned emu_group_live(const struct emu_group *group);    /* not ended */
unsigned emu_group_waiting(const struct emu_group *group); /* at the barrier */

const struct emu_wave_info *emu_wave_info(const struct emu_wave *wave);
enum emu_wave_state emu_wave_state(const struct emu_wave *wave);

/* What the wave would execute next; NULL once it has ended or faulted. */
const struct emu_inst *emu_wave_next(struct emu_wave *wave);

/* For a caller who goes from wave to wave, each some kilobytes: fetch what every step
 * looks at into the host's caches; where the VGPRs lie, EMU_ROW_BYTES each, to do so
 * with those of the next instruction. */
#define EMU_ROW_BYTES 128u
void emu_wave_prefetch(const struct emu_wave *wave);
const void *emu_wave_rows(const struct emu_wave *wave);

/* EXEC now; both halves of a wave64. Where its lower half lies, for who looks often. */
uint64_t emu_wave_exec(const struct emu_wave *wave);
const uint32_t *emu_wave_exec_low(const struct emu_wave *wave);
/* Instructions executed so far. */
uint64_t emu_wave_executed(const struct emu_wave *wave);

/* Execute the wave's next instruction.
 *
 * clock  what the instruction sees in SHADER_CYCLES and the like: shader clocks
 * event  out, valid until the next step of this stepper
 * Returns RD_E_BUSY at a barrier, or if the instruction waits for other workgroups
 * (global wave sync) and must be tried again; RD_E_INVALID if the wave has ended;
 * RD_E_FAULT (also for every later step of that wave).
 */
RD_CHECKED rd_status emu_wave_step(struct emu_stepper *s, struct emu_wave *wave,
                                   uint64_t clock, const struct emu_event **event);

/* Nobody looks at every step: may the wave's next instruction be postponed until
 * another one is executed? It touches the wave's registers alone, cannot fault, does
 * not read the clock and goes on to what is behind it; whether it writes EXEC is the
 * caller's business. */
bool emu_wave_may_wait(const struct emu_stepper *s, const struct emu_wave *wave);
/* The same of a load from the workgroup's LDS, as long as what it reads stays as it is:
 * nobody of the workgroup writes there, the wave does not write the register that its
 * addresses are in, and these, of all lanes, lie below a limit; else it is to be
 * executed at once.
 *
 * vgpr   out: that register
 * limit  out: the first address at which it would reach beyond the LDS
 */
bool emu_wave_may_load_later(const struct emu_stepper *s, const struct emu_wave *wave,
                             uint8_t *vgpr, uint32_t *limit);
/* Execute so many that were postponed. Until then nothing else may be asked of the wave
 * but EXEC. */
void emu_wave_catch_up(struct emu_wave *wave, unsigned n);
/* The same of such as do nothing but let the wave go on: waits, hints. */
void emu_wave_pass(struct emu_wave *wave, unsigned n);

/* As emu_run, and writes down how many instructions each workgroup has executed.
 *
 * lengths  out, [workgroups], of those that have ended
 */
RD_CHECKED rd_status emu_run_lengths(struct emu *emu,
                                     const struct emu_dispatch *dispatch,
                                     uint32_t *lengths, struct emu_fault *fault,
                                     struct emu_stats *stats);

/* ---- the order of emu_run -----------------------------------------------------------
 *
 * For debuggers: waves run in the order in which emu_run runs them with one thread, so
 * that what a run did is seen again. Workgroups start and end by themselves: with these
 * functions, emu_group_start, emu_group_end and emu_wave_step are not called.
 */

/* The wave whose turn it is; NULL: all workgroups have ended, or, with some in flight,
 * their waves are halted and stay so (context.h). */
RD_CHECKED rd_status emu_order_next(struct emu_stepper *s, struct emu_wave **out);

/* Execute its next instruction.
 *
 * event  out, valid until the next step; NULL if the instruction waits for other
 *        workgroups and will be tried again
 * Returns RD_E_NOT_FOUND if there is none; RD_E_FAULT, then and from then on.
 */
RD_CHECKED rd_status emu_order_step(struct emu_stepper *s,
                                    const struct emu_event **event);

/* The wave that the last step ran has accessed watched memory: TRAPSTS says so, and it
 * goes on in its trap handler if its MODE enables that (EXCP_EN, bit 19; at launch bit
 * 13 of COMPUTE_PGM_RSRC2) and there is one.
 *
 * hit  a bit for each watch point, 0 to 3
 */
void emu_order_watch(struct emu_stepper *s, struct emu_wave *wave, uint32_t hit);

/* What EMU_CONTROL_SAVE means for a dispatch whose contexts the host stores: now, and
 * before it goes on. */
void emu_order_store(struct emu_stepper *s);
void emu_order_load(struct emu_stepper *s);

/* Workgroups in flight, the one whose turn it is first. */
unsigned emu_order_groups(const struct emu_stepper *s);
struct emu_group *emu_order_group(const struct emu_stepper *s, unsigned index);

/* ---- back in time ------------------------------------------------------------------
 */

/* All of a stepper but global memory, which is the caller's to keep. */
struct emu_snapshot;

RD_CHECKED rd_status emu_stepper_save(const struct emu_stepper *s,
                                      struct emu_snapshot **out);
/* Only to the stepper that it comes from. Groups and waves are where they were. */
void emu_stepper_restore(struct emu_stepper *s, const struct emu_snapshot *t);
void emu_snapshot_free(struct emu_snapshot *t);
size_t emu_snapshot_bytes(const struct emu_snapshot *t);

#endif
