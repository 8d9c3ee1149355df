/* chip.h: dispatches of several queues on one chip, under the timing model.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GPU_CHIP_H
#define RD_GPU_CHIP_H

#include "internal.h"

struct gpu_queue;
struct tm_launch;

/* Run a dispatch beside those of other queues that are ready when it is, or become so
 * while it runs, and those of its own that need not wait for it (gpu_queue.beside). The
 * queue's time is then that of the last one's end.
 *
 * fault  of the first that faults
 * stats  of all
 * Returns as tm_run; of the first that did not end well.
 */
RD_CHECKED rd_status cp_chip_run(struct gpu_queue *q, struct emu *emu,
                                 const struct emu_dispatch *d, struct emu_fault *fault,
                                 struct emu_stats *stats);

/* timed.c: what the queue has left behind (.warm_code, .warm_kernarg); now it has run
 * that, too. A dispatch took so long. */
struct tm_launch cp_timed_warm(struct gpu_queue *q, const struct emu_dispatch *d);
void cp_timed_count(const struct gpu_queue *q, const struct emu_dispatch *d,
                    uint64_t ticks);

/* rest.c: by workers, so that the model's time passes only while none of them could
 * offer a dispatch: it has done something, or is about to; it comes to rest, before it
 * can be seen to. */
void cp_chip_moves(struct gpu_queue *q);
void cp_chip_rests(struct gpu_queue *q);
/* Before it looks whether it may go on; it may not: until others have moved. */
uint64_t cp_chip_steps(struct gpu_queue *q);
void cp_chip_found_nothing(struct gpu_queue *q, uint64_t steps);

/* Wait until all queues rest and the program sleeps, as long as that may take, or until
 * somebody hurries. By a thread that runs the model, without locks. */
void gpu_chip_settle(struct gpu *gpu, bool (*hurries)(void *ctx), void *ctx);

/* Async-signal-safe: does this thread run the model? Whose wave has its turn? */
bool cp_chip_thread(struct gpu_queue **q);

#endif
