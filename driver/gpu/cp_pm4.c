/* cp_pm4.c: the PM4 command processor: compute queues, and buffers that AQL names.
 *
 * Knows the type 3 packets that compute clients send; an unknown one is an error of the
 * queue, never skipped. Registers are a plain array; only a dispatch gives them
 * meaning. Source: packet layouts of the amdgpu kernel driver (soc21 headers) and ROCr.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cp.h"
#include "pm4.h"

/* Compute registers, from the first SH register. */
enum sh_reg {
    SH_START = 0x204,
    SH_NUM_THREAD = 0x207,
    SH_PGM = 0x20c,
    SH_RSRC1 = 0x212,
    SH_RSRC2 = 0x213,
    SH_TMPRING = 0x218,
    SH_RSRC3 = 0x228,
    SH_USER_DATA = 0x240,
};

static bool dispatch_direct(struct gpu_queue *q, const uint32_t *body)
{
    const uint32_t *sh = q->sh;
    uint32_t initiator = body[3];
    struct emu_dispatch d = {
        .entry = ((uint64_t)sh[SH_PGM] | (uint64_t)sh[SH_PGM + 1] << 32) << 8,
        .rsrc1 = sh[SH_RSRC1],
        .rsrc2 = sh[SH_RSRC2],
        .rsrc3 = sh[SH_RSRC3],
        .wave64 = !(initiator & PM4_INITIATOR_WAVE32),
        .lds_bytes = (sh[SH_RSRC2] >> 15 & 0x1ff) * 512,
        .n_user_sgprs = sh[SH_RSRC2] >> 1 & 31,
    };
    d.scratch_bytes = (sh[SH_TMPRING] >> 12 & 0x7fff) * 256 / (d.wave64 ? 64 : 32);
    if (!(sh[SH_RSRC2] & 1))
        d.scratch_bytes = 0;
    for (unsigned i = 0; i < 3; i++) {
        d.block[i] = sh[SH_NUM_THREAD + i] & 0xffff;
        if (!d.block[i] || !body[i])
            return true; /* nothing to launch */
        d.groups[i] = body[i];
        if (initiator & PM4_INITIATOR_THREAD_DIMS) {
            d.items[i] = body[i];
            d.groups[i] = (body[i] + d.block[i] - 1) / d.block[i];
        }
    }
    memcpy(d.user_sgpr, sh + SH_USER_DATA, 16 * sizeof(uint32_t));
    q->packet++;
    return cp_dispatch(q, &d) == CP_PROGRESS;
}

static bool write_data(struct gpu_queue *q, const uint32_t *body, uint32_t n)
{
    unsigned dst = body[0] >> 8 & 15;
    bool same_address = body[0] >> 16 & 1;
    uint64_t va = pm4_address(body + 1);
    if (n < 3)
        return true;
    if (dst == 0)
        return true; /* a register */
    for (uint32_t i = 3; i < n; i++)
        if (!cp_write(q, va + (same_address ? 0 : 4ull * (i - 3)), body + i, 4))
            return false;
    return true;
}

/* Registers that clients wait for (HDP flush) are always ready. */
static bool wait_mem(struct gpu_queue *q, const uint32_t *body, bool wide)
{
    struct cp_condition c = {.va = pm4_address(body + 1) & ~3ull,
                             .function = body[0] & 7,
                             .wide = wide,
                             .ref = wide ? pm4_address(body + 3) : body[3],
                             .mask = wide ? pm4_address(body + 5) : body[4]};
    return PM4_WAIT_SPACE(body[0]) == PM4_WAIT_REGISTER || cp_wait_memory(q, &c);
}

static bool copy_data(struct gpu_queue *q, const uint32_t *body)
{
    unsigned src = body[0] & 15, dst = body[0] >> 8 & 15;
    uint64_t bytes = body[0] >> 16 & 1 ? 8 : 4, value = 0;
    if (src == 5)
        value = pm4_address(body + 1);
    else if (src == 9)
        value = cp_clock(q);
    else if ((src == 1 || src == 2) &&
             !cp_read(q, pm4_address(body + 1), &value, bytes))
        return false;
    if (dst == 1 || dst == 2 || dst == 5)
        return cp_write(q, pm4_address(body + 3), &value, bytes);
    return true;
}

static bool release_mem(struct gpu_queue *q, const uint32_t *body)
{
    unsigned data_sel = body[1] >> 29, int_sel = body[1] >> 24 & 7;
    uint64_t value = data_sel == 3 ? cp_clock(q) : pm4_address(body + 4);
    uint64_t bytes = data_sel == 1 ? 4 : data_sel == 2 || data_sel == 3 ? 8 : 0;
    if (bytes && !cp_write(q, pm4_address(body + 2), &value, bytes))
        return false;
    switch (int_sel) {
    case PM4_RELEASE_INT_NONE:
    case PM4_RELEASE_INT_DATA_ONLY:
        return true;
    case PM4_RELEASE_INT_ONLY:
    case PM4_RELEASE_INT_WITH_DATA:
    case PM4_RELEASE_INT_ALWAYS:
        return cp_interrupt(q, body[6]);
    default:
        (void)cp_fail(q, GPU_ERR_UNSUPPORTED, "RELEASE_MEM: conditional interrupt");
        return false;
    }
}

static bool atomic_mem(struct gpu_queue *q, const uint32_t *body)
{
    return cp_atomic(q, body[0] & 0x7f, pm4_address(body + 1), pm4_address(body + 3),
                     pm4_address(body + 5));
}

static bool set_sh(struct gpu_queue *q, const uint32_t *body, uint32_t n)
{
    uint32_t first = body[0] & 0xffff;
    for (uint32_t i = 1; i < n && first + i - 1 < SH_REGS; i++)
        q->sh[first + i - 1] = body[i];
    return true;
}

static bool execute(struct gpu_queue *q, unsigned op, const uint32_t *body, uint32_t n,
                    unsigned depth);

static bool run_ib(struct gpu_queue *q, uint64_t va, uint64_t dwords, unsigned depth);

static bool execute(struct gpu_queue *q, unsigned op, const uint32_t *body, uint32_t n,
                    unsigned depth)
{
    char text[48];
    if (n < pm4_min_body(op)) {
        (void)cp_fail(q, GPU_ERR_FORMAT, "PM4 packet too short");
        return false;
    }
    switch (op) {
    case PM4_NOP:
    case PM4_SET_BASE:
    case PM4_CLEAR_STATE:
    case PM4_CONTEXT_CONTROL:
    case PM4_PFP_SYNC_ME:
    case PM4_EVENT_WRITE:
    case PM4_PRED_EXEC: /* one die: the predicated packets follow and run */
    case PM4_SET_CONFIG_REG:
    case PM4_SET_UCONFIG_REG:
        return true;
    case PM4_DISPATCH_DIRECT:
        return dispatch_direct(q, body);
    case PM4_ATOMIC_MEM:
        return atomic_mem(q, body);
    case PM4_WRITE_DATA:
        return write_data(q, body, n);
    case PM4_WAIT_REG_MEM:
        return wait_mem(q, body, false);
    case PM4_WAIT_REG_MEM64:
        return wait_mem(q, body, true);
    case PM4_INDIRECT_BUFFER:
        return run_ib(q, pm4_address(body) & ~3ull, body[2] & 0xfffff, depth + 1);
    case PM4_COPY_DATA:
        return copy_data(q, body);
    case PM4_RELEASE_MEM:
        return release_mem(q, body);
    case PM4_ACQUIRE_MEM:
        if (n >= 7 && (body[6] & PM4_GCR_GLI_INV))
            cp_code_changed(q);
        return true;
    case PM4_SET_SH_REG:
        return set_sh(q, body, n);
    default:
        snprintf(text, sizeof(text), "PM4 opcode 0x%02x", op);
        (void)cp_fail(q, GPU_ERR_UNSUPPORTED, text);
        return false;
    }
}

/* The packet at the stream's place; moves it on. False after an error. */
static bool packet(struct gpu_queue *q, struct cp_stream *s, unsigned depth)
{
    uint64_t left = s->end - s->at;
    const uint32_t *dw = cp_dwords(q, s, 0, 1, q->wrap);
    if (!dw)
        return false;
    uint32_t header = dw[0], used = pm4_packet_dwords(header);
    if (depth == 0)
        q->behind = (s->at + used) % s->wrap;
    if (used > 1) {
        if (header >> 30 != 3 || used > left) {
            (void)cp_fail(q, GPU_ERR_FORMAT, "PM4 packet header");
            return false;
        }
        dw = cp_dwords(q, s, 1, used - 1, q->wrap);
        if (!dw || !execute(q, pm4_opcode(header), dw, used - 1, depth))
            return false;
    }
    s->at += used;
    return true;
}

static bool run_ib(struct gpu_queue *q, uint64_t va, uint64_t dwords, unsigned depth)
{
    struct cp_stream s = {.va = va, .wrap = dwords, .end = dwords};
    if (depth > 3) {
        (void)cp_fail(q, GPU_ERR_FORMAT, "indirect buffers nest too deep");
        return false;
    }
    while (s.at < s.end)
        if (!packet(q, &s, depth))
            return false;
    return true;
}

static bool ready_registers(struct gpu_queue *q)
{
    if (!q->sh)
        q->sh = calloc(SH_REGS, sizeof(uint32_t));
    if (!q->wrap)
        q->wrap = calloc(PM4_MAX_BODY + 2, sizeof(uint32_t));
    if (!q->sh || !q->wrap)
        (void)cp_fail(q, GPU_ERR_UNSUPPORTED, "out of memory");
    return q->sh && q->wrap;
}

bool cp_pm4_run(struct gpu_queue *q, uint64_t va, uint64_t dwords)
{
    return ready_registers(q) && run_ib(q, va & ~3ull, dwords, 1);
}

/* Clients let the write pointer run on or wrap it; a full ring would look empty, which
 * is why they leave a slot. */
enum cp_result cp_pm4_step(struct gpu_queue *q)
{
    uint64_t slots = q->config.ring_bytes / 4, at = q->rptr % slots;
    uint64_t wptr = *q->doorbell % slots;
    struct cp_stream s = {.va = q->config.ring, .wrap = slots, .at = at};
    s.end = at + (wptr + slots - at) % slots;
    if (s.at == s.end)
        return CP_IDLE;
    if (!ready_registers(q))
        return CP_HALT;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!packet(q, &s, 0))
        return CP_HALT;
    q->rptr = s.at % slots;
    return cp_write(q, q->config.rptr, &q->rptr, 8) ? CP_PROGRESS : CP_HALT;
}
