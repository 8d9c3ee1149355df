/* cp_frame.c: queues of frames of one size, which the board's firmware reads.
 *
 * Must not know what is in a frame, but that none begins with 0: zeros between frames
 * are padding, and what a ring holds that was cleared. The write pointer counts dwords.
 * SPDX-License-Identifier: MIT
 */
#include "cp.h"

enum cp_result cp_frame_step(struct gpu_queue *q)
{
    const struct gpu_host *host = &q->gpu->host;
    uint64_t slots = q->config.ring_bytes / 4, at = q->rptr % slots;
    uint64_t left = (cp_bell(q) % slots + slots - at) % slots;
    struct cp_stream s = {.va = q->config.ring, .wrap = slots, .at = at};
    uint32_t dw[GPU_FRAME_DWORDS];
    if (!left)
        return CP_IDLE;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const uint32_t *frame = cp_dwords(q, &s, 0, 1, dw);
    if (!frame)
        return CP_HALT;
    if (!frame[0]) {
        cp_set_rptr(q, (at + 1) % slots);
        return cp_write(q, q->config.rptr, &q->rptr, 8) ? CP_PROGRESS : CP_HALT;
    }
    if (left < GPU_FRAME_DWORDS)
        return CP_IDLE;
    frame = cp_dwords(q, &s, 0, GPU_FRAME_DWORDS, dw);
    if (!frame)
        return CP_HALT;
    for (unsigned i = 0; i < GPU_FRAME_DWORDS; i++)
        dw[i] = frame[i]; /* it may change meanwhile */
    cp_set_rptr(q, (at + GPU_FRAME_DWORDS) % slots);
    if (!host->board->frame(host->ctx, q->config.owner, dw, GPU_FRAME_DWORDS))
        return cp_fail(q, GPU_ERR_UNSUPPORTED, "a frame that nobody knows");
    return cp_write(q, q->config.rptr, &q->rptr, 8) ? CP_PROGRESS : CP_HALT;
}
