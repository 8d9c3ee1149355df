/* rdna3/observe.h: watch kernels run, instruction by instruction, and step them.
 *
 * An instruction is complete when its event is reported. Pointers in an event are valid
 * during the call. SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_OBSERVE_H
#define RDNA3_OBSERVE_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rdna3_wave; /* a wave that an event is about */

/* Which wave it is. */
struct rdna3_wave_info {
    uint64_t dispatch; /* of the device's, from 0 */
    uint64_t group;    /* workgroup, linear */
    uint32_t workgroup[3];
    uint32_t index; /* of the wave in its workgroup */
    uint32_t lanes; /* 32 or 64 */
    uint32_t slot;  /* smallest number that no other wave in flight has */
};

enum rdna3_space {
    RDNA3_SPACE_GLOBAL,
    RDNA3_SPACE_LDS,
    RDNA3_SPACE_SCRATCH,
    RDNA3_SPACE_GDS
};

/* Memory that lanes of a wave accessed. */
struct rdna3_access {
    uint64_t lanes;   /* a bit per lane; a scalar access is lane 0 */
    uint32_t bytes;   /* per lane */
    uint32_t space;   /* enum rdna3_space */
    bool read, write; /* both: an atomic */
    bool scalar;
    const uint64_t *address; /* [64], of the lanes set: GPU address, or byte in the LDS
                                or in the work-item's scratch */
};

enum rdna3_inst_kind {
    RDNA3_KIND_COMPUTE,
    RDNA3_KIND_MEMORY,
    RDNA3_KIND_BRANCH,
    RDNA3_KIND_WAIT,
    RDNA3_KIND_BARRIER,
    RDNA3_KIND_SLEEP,
    RDNA3_KIND_MESSAGE,
    RDNA3_KIND_EXPORT,
    RDNA3_KIND_HINT,
    RDNA3_KIND_END,
    RDNA3_KIND_ILLEGAL
};

#define RDNA3_EVENT_TAKEN 1u /* the branch was taken */
#define RDNA3_EVENT_ENDED 2u /* the wave has ended */
#define RDNA3_EVENT_FAULT 4u /* the instruction faulted and had no effect */

#define RDNA3_MAX_ACCESSES 8

/* One instruction that one wave has executed. */
struct rdna3_event {
    const struct rdna3_wave *wave;
    const void *inst; /* for rdna3_event_text */
    const char *mnemonic;
    uint64_t pc;      /* GPU address */
    uint64_t next_pc; /* where the wave goes on */
    uint64_t index;   /* of the wave's instructions, from 0 */
    uint64_t exec;    /* before it ran */
    uint64_t time;    /* shader clocks in a timed run, else 0 */
    uint32_t kind;    /* enum rdna3_inst_kind */
    uint32_t flags;   /* RDNA3_EVENT_* */
    uint32_t n_accesses;
    struct rdna3_access access[RDNA3_MAX_ACCESSES];
};

/* What to call; any function may be NULL. Calls never overlap, and an observed dispatch
 * runs on one thread. */
struct rdna3_observer {
    size_t struct_bytes;
    void *ctx;     /* first argument of all */
    bool accesses; /* events tell of memory */
    void (*wave_begin)(void *ctx, const struct rdna3_wave *wave);
    void (*step)(void *ctx, const struct rdna3_event *event);
    void (*dispatch_end)(void *ctx, int status);
};

struct rdna3_watch; /* an observer at work */

/* Watch the dispatches of a device that begin from now on.
 *
 * observer  copied
 * Returns RDNA3_E_RANGE if there are too many. Owner: rdna3_unobserve, before the
 * device goes and not while a kernel runs.
 */
RDNA3_CHECKED int rdna3_observe(struct rdna3_device *device,
                                const struct rdna3_observer *observer,
                                struct rdna3_watch **out);
RDNA3_API void rdna3_unobserve(struct rdna3_watch *watch);

/* Who the wave is. */
RDNA3_API void rdna3_wave_look(const struct rdna3_wave *wave,
                               struct rdna3_wave_info *out);

/* Registers of the wave of an event as they are now. A scalar register is an SGPR (0 to
 * 105) or one of enum rdna3_scalar. */
RDNA3_API uint32_t rdna3_wave_vgpr(const struct rdna3_wave *wave, unsigned vgpr,
                                   unsigned lane);
RDNA3_API uint32_t rdna3_wave_scalar(const struct rdna3_wave *wave, unsigned number);

enum rdna3_scalar {
    RDNA3_VCC_LO = 106,
    RDNA3_VCC_HI = 107,
    RDNA3_M0 = 125,
    RDNA3_EXEC_LO = 126,
    RDNA3_EXEC_HI = 127,
    RDNA3_SCC = 253
};

/* The instruction of an event as text.
 *
 * text  out, size bytes of room; cut off where it is full
 */
RDNA3_API void rdna3_event_text(const struct rdna3_event *event, char *text,
                                size_t size);

/* ---- stepping -----------------------------------------------------------------------
 */

struct rdna3_steps; /* a dispatch that the caller steps */

/* Begin a dispatch that runs one instruction at a time, in the order of a device with
 * one thread. The launch's arguments need not stay.
 *
 * Owner: rdna3_steps_end, before another kernel of the device runs.
 */
RDNA3_CHECKED int rdna3_steps_begin(struct rdna3_kernel *kernel,
                                    const struct rdna3_launch *launch,
                                    struct rdna3_steps **out, struct rdna3_error *err);

/* Execute the next instruction.
 *
 * event  out, its pointers valid until the next step; event->wave is NULL if nothing
 *        happened because a wave waits for other workgroups
 * fault  filled on RDNA3_E_FAULT; may be NULL
 * Returns RDNA3_OK, RDNA3_E_NOT_FOUND once all waves have ended, RDNA3_E_FAULT.
 */
RDNA3_CHECKED int rdna3_step(struct rdna3_steps *steps, struct rdna3_event *event,
                             struct rdna3_fault *fault);

/* End the dispatch, wherever it is. NULL is fine. */
RDNA3_API void rdna3_steps_end(struct rdna3_steps *steps);

#ifdef __cplusplus
}
#endif

#endif
