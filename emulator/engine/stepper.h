/* stepper.h: what the files of a stepper share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_STEPPER_H
#define RD_STEPPER_H

#include "step.h"

#include "dispatch.h"
#include "observe.h"

/* Where the order of emu_run stands (order.c): between two instructions. */
struct order {
    struct resident **queue; /* workgroups in flight that wait for their turn */
    unsigned n, room;
    uint64_t started;       /* workgroups so far: number of the next */
    struct resident *group; /* whose turn it is; NULL: the next one's */
    struct wave *wave;      /* the same of its waves */
    uint64_t done;          /* instructions of the group's turn */
    unsigned left;          /* instructions of the wave's block */
};

struct emu_stepper {
    struct dispatch dp;
    struct emu_dispatch copy; /* control removed */
    struct resident *live, *idle;
    struct op_counts *counts; /* or NULL */
    bool tolerant, alone;     /* alone: nobody watches but its caller */
    bool rests;               /* emu_stepper_rest: has no observation any more */
    struct emu_launch launch; /* then */
    struct order order;
    struct observation **part; /* of a divided one: what its waves' events go to */
    unsigned n_parts;
};

/* Execute one instruction, and count what it did to its workgroup.
 *
 * index  of the wave's instructions
 * event  out; NULL if it must be run again
 * Returns RD_E_FAULT if it faulted.
 */
RD_CHECKED rd_status stepper_execute(struct emu_stepper *s, struct wave *w,
                                     uint64_t index, const struct emu_event **event);

#endif
