/* cp_pm4.c: the PM4 command processor: compute queues, and buffers that AQL names.
 *
 * Knows the type 3 packets that compute clients send; an unknown one is an error of the
 * queue, never skipped, and so is a place to read from or write to that is neither
 * memory nor a register. Source: packet layouts of the amdgpu kernel driver (soc21
 * headers) and ROCr. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "cp.h"
#include "pm4.h"

/* Compute registers that a dispatch is made of. */
enum compute_reg {
    COMPUTE_NUM_THREAD = 0x2e07,
    COMPUTE_PGM = 0x2e0c,
    COMPUTE_RSRC1 = 0x2e12,
    COMPUTE_RSRC2 = 0x2e13,
    COMPUTE_TMPRING = 0x2e18,
    COMPUTE_RSRC3 = 0x2e28,
    COMPUTE_USER_DATA = 0x2e40,
};

static bool dispatch_direct(struct gpu_queue *q, const uint32_t *body)
{
    uint32_t initiator = body[3], rsrc2 = cp_reg_read(q, COMPUTE_RSRC2);
    struct emu_dispatch d = {
        .entry = (cp_reg_read(q, COMPUTE_PGM) |
                  (uint64_t)cp_reg_read(q, COMPUTE_PGM + 1) << 32)
                 << 8,
        .rsrc1 = cp_reg_read(q, COMPUTE_RSRC1),
        .rsrc2 = rsrc2,
        .rsrc3 = cp_reg_read(q, COMPUTE_RSRC3),
        .wave64 = !(initiator & PM4_INITIATOR_WAVE32),
        .lds_bytes = (rsrc2 >> 15 & 0x1ff) * 512,
        .n_user_sgprs = rsrc2 >> 1 & 31,
    };
    if (rsrc2 & 1) /* scratch */
        d.scratch_bytes = (cp_reg_read(q, COMPUTE_TMPRING) >> 12 & 0x7fff) * 256 /
                          (d.wave64 ? 64 : 32);
    for (unsigned i = 0; i < 3; i++) {
        d.block[i] = cp_reg_read(q, COMPUTE_NUM_THREAD + i) & 0xffff;
        if (!d.block[i] || !body[i])
            return true; /* nothing to launch */
        d.groups[i] = body[i];
        if (initiator & PM4_INITIATOR_THREAD_DIMS) {
            d.items[i] = body[i];
            d.groups[i] = (body[i] + d.block[i] - 1) / d.block[i];
        }
    }
    for (unsigned i = 0; i < 16; i++)
        d.user_sgpr[i] = cp_reg_read(q, COMPUTE_USER_DATA + i);
    q->packet++;
    return cp_dispatch(q, &d) == CP_PROGRESS;
}

static bool refuse(struct gpu_queue *q, const char *what, unsigned number)
{
    char text[48];
    snprintf(text, sizeof(text), "%s %u", what, number);
    (void)cp_fail(q, GPU_ERR_UNSUPPORTED, text);
    return false;
}

static bool is_memory(unsigned space)
{
    return space == PM4_SPACE_MEMORY_SYNC || space == PM4_SPACE_L2 ||
           space == PM4_SPACE_MEMORY;
}

static bool is_register(unsigned space)
{
    return space == PM4_SPACE_REGISTER || space == PM4_SPACE_PERF;
}

static bool write_data(struct gpu_queue *q, const uint32_t *body, uint32_t n)
{
    unsigned dst = body[0] >> 8 & 15;
    uint32_t step = !(body[0] >> 16 & 1); /* or all to the same place */
    uint64_t va = pm4_address(body + 1);
    if (!is_register(dst) && !is_memory(dst))
        return refuse(q, "WRITE_DATA: destination", dst);
    for (uint32_t i = 0; i + 3 < n; i++)
        if (is_register(dst))
            cp_reg_write(q, (body[1] & PM4_REGISTER) + step * i, body[3 + i]);
        else if (!cp_write(q, va + 4ull * step * i, body + 3 + i, 4))
            return false;
    return true;
}

/* Of a register, or after writing to one of another that it answers in (HDP flush, TLB
 * flush). What is written then is a whole order, as amdgpu's TLB flush has it, of which
 * only the bits under the mask can come back. */
static bool wait_register(struct gpu_queue *q, const uint32_t *body)
{
    uint32_t reg = body[1] & PM4_REGISTER, ref = body[3];
    if (PM4_WAIT_OPERATION(body[0]) == PM4_WAIT_WRITE_FIRST) {
        cp_reg_write(q, reg, ref);
        reg = body[2] & PM4_REGISTER;
        ref &= body[4];
    }
    return cp_reg_wait(q, reg, body[0] & 7, body[4], ref);
}

static bool wait_mem(struct gpu_queue *q, const uint32_t *body, bool wide)
{
    struct cp_condition c = {.va = pm4_address(body + 1) & ~3ull,
                             .function = body[0] & 7,
                             .wide = wide,
                             .ref = wide ? pm4_address(body + 3) : body[3],
                             .mask = wide ? pm4_address(body + 5) : body[4]};
    if (PM4_WAIT_SPACE(body[0]) == PM4_WAIT_MEMORY)
        return cp_wait_memory(q, &c);
    if (PM4_WAIT_SPACE(body[0]) == PM4_WAIT_REGISTER && !wide)
        return wait_register(q, body);
    return refuse(q, "WAIT_REG_MEM: space", PM4_WAIT_SPACE(body[0]));
}

static bool read_source(struct gpu_queue *q, const uint32_t *body, bool wide,
                        uint64_t *value)
{
    unsigned src = body[0] & 15;
    uint32_t reg = body[1] & PM4_REGISTER;
    switch (src) {
    case PM4_SPACE_REGISTER:
    case PM4_SPACE_PERF:
        *value = cp_reg_read(q, reg);
        if (wide)
            *value |= (uint64_t)cp_reg_read(q, reg + 1) << 32;
        return true;
    case PM4_SPACE_MEMORY_SYNC:
    case PM4_SPACE_L2:
        return cp_read(q, pm4_address(body + 1), value, wide ? 8 : 4);
    case PM4_SPACE_IMMEDIATE:
        *value = pm4_address(body + 1);
        return true;
    case PM4_SPACE_CLOCK:
        *value = cp_clock(q);
        return true;
    default:
        return refuse(q, "COPY_DATA: source", src);
    }
}

static bool copy_data(struct gpu_queue *q, const uint32_t *body)
{
    unsigned dst = body[0] >> 8 & 15;
    bool wide = body[0] >> 16 & 1;
    uint64_t value = 0;
    if (!read_source(q, body, wide, &value))
        return false;
    if (is_memory(dst))
        return cp_write(q, pm4_address(body + 3), &value, wide ? 8 : 4);
    if (!is_register(dst))
        return refuse(q, "COPY_DATA: destination", dst);
    cp_reg_write(q, body[3] & PM4_REGISTER, (uint32_t)value);
    if (wide)
        cp_reg_write(q, (body[3] & PM4_REGISTER) + 1, (uint32_t)(value >> 32));
    return true;
}

/* Write, if a look at a place finds what is asked for. */
static bool cond_write(struct gpu_queue *q, const uint32_t *body)
{
    bool from_memory = body[0] >> 4 & 1;
    unsigned to = body[0] >> 8 & 3;
    uint64_t value;
    if (to > 1)
        return refuse(q, "COND_WRITE: destination", to);
    if (!from_memory)
        value = cp_reg_read(q, body[1] & PM4_REGISTER);
    else if (!cp_load(q, pm4_address(body + 1) & ~3ull, false, &value))
        return false;
    if (!cp_compare(body[0] & 7, value & body[4], body[3]))
        return true;
    if (to == 1)
        return cp_write(q, pm4_address(body + 5) & ~3ull, body + 7, 4);
    cp_reg_write(q, body[5] & PM4_REGISTER, body[7]);
    return true;
}

/* Masks are in the packet, or in registers that it names. */
static bool reg_rmw(struct gpu_queue *q, const uint32_t *body)
{
    bool or_register = body[0] >> 31, and_register = body[0] >> 30 & 1;
    uint32_t reg = body[0] & PM4_REGISTER;
    uint32_t and = and_register ? cp_reg_read(q, body[1] & PM4_REGISTER) : body[1];
    uint32_t or = or_register ? cp_reg_read(q, body[2] & PM4_REGISTER) : body[2];
    cp_reg_write(q, reg, (cp_reg_read(q, reg) & and) | or);
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

/* Between memory only: there is no GDS. */
static bool dma_data(struct gpu_queue *q, const uint32_t *body)
{
    unsigned from = PM4_DMA_FROM(body[0]), to = PM4_DMA_TO(body[0]);
    uint64_t src = pm4_address(body + 1), dst = pm4_address(body + 3);
    uint32_t bytes = body[5] & PM4_DMA_BYTES;
    cp_going_copy(q, bytes);
    if (to != PM4_DMA_MEMORY && to != PM4_DMA_L2)
        return refuse(q, "DMA_DATA: destination", to);
    if (from == PM4_DMA_IMMEDIATE)
        return cp_fill(q, dst, body + 1, 4, bytes & ~3u);
    if (from != PM4_DMA_MEMORY && from != PM4_DMA_L2)
        return refuse(q, "DMA_DATA: source", from);
    return cp_copy(q, dst, src, bytes);
}

static bool set_registers(struct gpu_queue *q, uint32_t base, const uint32_t *body,
                          uint32_t n)
{
    uint32_t first = base + (body[0] & 0xffff);
    for (uint32_t i = 1; i < n; i++)
        cp_reg_write(q, first + i - 1, body[i]);
    return true;
}

/* Leave out what follows if there is a zero at a place. */
static bool cond_exec(struct gpu_queue *q, const uint32_t *body)
{
    uint64_t value;
    if (!cp_load(q, pm4_address(body) & ~3ull, false, &value))
        return false;
    q->skip = value ? 0 : body[3] & 0x3fff;
    return true;
}

/* For the firmware that schedules queues, or nobody. */
static bool firmware_packet(struct gpu_queue *q, unsigned op, const uint32_t *body,
                            uint32_t n)
{
    const struct gpu_host *host = &q->gpu->host;
    char text[48];
    if (q->config.kernel &&
        host->board->packet(host->ctx, q->config.owner, op, body, n))
        return true;
    snprintf(text, sizeof(text), "PM4 opcode 0x%02x", op);
    (void)cp_fail(q, GPU_ERR_UNSUPPORTED, text);
    return false;
}

static bool run_ib(struct gpu_queue *q, uint64_t va, uint64_t dwords, unsigned depth);

static bool indirect_buffer(struct gpu_queue *q, const uint32_t *body, unsigned depth)
{
    unsigned vmid = q->config.kernel ? PM4_IB_VMID(body[2]) : 0;
    unsigned last = cp_enter_space(q, vmid ? vmid : q->space);
    bool ok = run_ib(q, pm4_address(body) & ~3ull, body[2] & 0xfffff, depth + 1);
    (void)cp_enter_space(q, last);
    return ok;
}

static bool execute(struct gpu_queue *q, unsigned op, const uint32_t *body, uint32_t n,
                    unsigned depth)
{
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
    case PM4_PREAMBLE_CNTL:
    case PM4_SWITCH_BUFFER:
    case PM4_FRAME_CONTROL:
    case PM4_PRED_EXEC: /* one die: the predicated packets follow and run */
        return true;
    case PM4_EVENT_WRITE:
        if ((body[0] & 0x3f) == PM4_EVENT_COUNTER_SAMPLE)
            gpu_pmc_sample(q->gpu);
        return true;
    case PM4_SET_CONFIG_REG:
        return set_registers(q, PM4_CONFIG_BASE, body, n);
    case PM4_SET_CONTEXT_REG:
        return set_registers(q, PM4_CONTEXT_BASE, body, n);
    case PM4_SET_UCONFIG_REG:
    case PM4_SET_UCONFIG_REG_INDEX:
        return set_registers(q, PM4_UCONFIG_BASE, body, n);
    case PM4_REG_RMW:
        return reg_rmw(q, body);
    case PM4_COND_WRITE:
        return cond_write(q, body);
    case PM4_DISPATCH_DIRECT:
        return dispatch_direct(q, body);
    case PM4_ATOMIC_MEM:
        return atomic_mem(q, body);
    case PM4_WRITE_DATA:
        return write_data(q, body, n);
    case PM4_DMA_DATA:
        return dma_data(q, body);
    case PM4_WAIT_REG_MEM:
        return wait_mem(q, body, false);
    case PM4_WAIT_REG_MEM64:
        return wait_mem(q, body, true);
    case PM4_INDIRECT_BUFFER:
        return indirect_buffer(q, body, depth);
    case PM4_COND_EXEC:
        return cond_exec(q, body);
    case PM4_INVALIDATE_TLBS:
        gpu_flush(q->gpu);
        return true;
    case PM4_COPY_DATA:
        return copy_data(q, body);
    case PM4_RELEASE_MEM:
        return release_mem(q, body);
    case PM4_ACQUIRE_MEM:
        if (n >= 7 && (body[6] & PM4_GCR_GLI_INV))
            cp_code_changed(q);
        return true;
    case PM4_SET_SH_REG:
    case PM4_SET_SH_REG_INDEX:
        return set_registers(q, PM4_SH_BASE, body, n);
    default:
        return firmware_packet(q, op, body, n);
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
        q->skip = 0;
        if (!dw || !execute(q, pm4_opcode(header), dw, used - 1, depth))
            return false;
        used += q->skip < left - used ? (uint32_t)q->skip : (uint32_t)(left - used);
        q->skip = 0;
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
        q->sh = regs_queue_state();
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
    uint64_t wptr = cp_bell(q) % slots;
    struct cp_stream s = {.va = q->config.ring, .wrap = slots, .at = at};
    s.end = at + (wptr + slots - at) % slots;
    if (s.at == s.end)
        return CP_IDLE;
    if (!ready_registers(q))
        return CP_HALT;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!packet(q, &s, 0))
        return CP_HALT;
    cp_set_rptr(q, s.at % slots);
    return cp_write(q, q->config.rptr, &q->rptr, 8) ? CP_PROGRESS : CP_HALT;
}
