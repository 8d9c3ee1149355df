/* chip.h: dispatches of several queues on one chip, under the timing model.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GPU_CHIP_H
#define RD_GPU_CHIP_H

#include "internal.h"

struct gpu_queue;
struct tm_launch;

/* Run a dispatch beside those of other queues that are ready when it is, or become so
 * while it runs. The queue's time is then that of its end.
 *
 * warm   what the queue has left behind (.warm_code, .warm_kernarg)
 * fault, stats  as emu_run
 * ticks  out: from its first wave's start to its last wave's end
 * Returns as tm_run.
 */
RD_CHECKED rd_status cp_chip_run(struct gpu_queue *q, struct emu *emu,
                                 const struct emu_dispatch *d,
                                 const struct tm_launch *warm, struct emu_fault *fault,
                                 struct emu_stats *stats, uint64_t *ticks);

/* By workers, so that the model's time passes only while none of them could offer a
 * dispatch: it has done something, or is about to; it comes to rest, before it can be
 * seen to. */
void cp_chip_moves(struct gpu_queue *q);
void cp_chip_rests(struct gpu_queue *q);
/* Before it looks whether it may go on; it may not: until others have moved. */
uint64_t cp_chip_steps(struct gpu_queue *q);
void cp_chip_found_nothing(struct gpu_queue *q, uint64_t steps);

/* Async-signal-safe: does this thread run the model? Whose wave has its turn? */
bool cp_chip_thread(struct gpu_queue **q);

#endif
