/* mes.c: the scheduler's firmware: frames of its ring, and packets of the kernel
 * interface queue that map and unmap queues.
 *
 * It owns the address spaces of processes: each page table root is one, as many as
 * there are. All queues run at once; nothing is multiplexed. A frame's fence is written
 * when it is done. SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"
#include "pm4.h"

#define INTERFACE    (14u << 12) /* that frames are of */
#define VERSION_BITS 0xfffu
#define VERSION_UNSET                                                                  \
    0x60u /* of firmware that is not loaded by the security processor */

enum opcode {
    SET_HW_RSRC = 0,
    SET_SCHED_CONFIG = 1,
    ADD_QUEUE = 2,
    REMOVE_QUEUE = 3,
    SUSPEND = 6,
    RESUME = 7,
    RESET = 8,
    SET_LOG = 9,
    QUERY_STATUS = 11,
    MISC = 14,
    UPDATE_ROOT = 15,
    SET_HW_RSRC_1 = 19,
};
#define OPCODES 20u

/* Where a frame says what to write when it is done: address, value; 0: not known. */
static const uint8_t status_at[OPCODES] = {
    [SET_HW_RSRC] = 50, [SET_SCHED_CONFIG] = 32, [ADD_QUEUE] = 37,
    [REMOVE_QUEUE] = 5, [SUSPEND] = 7,           [RESUME] = 4,
    [RESET] = 24,       [SET_LOG] = 6,           [QUERY_STATUS] = 2,
    [MISC] = 2,         [UPDATE_ROOT] = 5,       [SET_HW_RSRC_1] = 1,
};

#define FRAME_TYPE      1u
#define FLAG_KERNEL     (1u << 13) /* of ADD_QUEUE: a queue of the kernel driver's */
#define FLAG_TRAPS      (1u << 10) /* waves trap whoever debugs */
#define FLAG_AQL        (1u << 11)
#define FLAG_KEEP       (1u << 12) /* what was asked of the process before is valid */
#define ALL_GANGS       1u
#define RESET_GRAPHICS  (1u << 3) /* of RESET: a ring of the kernel driver's */
#define QUEUE_GFX       0u
#define QUEUE_SDMA      2u
#define SDMA_DESCRIPTOR 9u /* dwords that matter */
#define SDMA_SIZE(dw)   ((dw) >> 1 & 31)
#define SDMA_SIZE_MAX   28u
#define ROOT_ADDRESS    0x0000ffffffffffc2ull /* and whether it is in host memory */

static uint64_t pair(const uint32_t *dw, unsigned i)
{
    return dw[i] | (uint64_t)dw[i + 1] << 32;
}

uint32_t mes_version_read(struct pci_board *b, uint32_t reg)
{
    uint32_t version = atomic_load(&b->mes_version[regs_get(b, GRBM_GFX_CNTL) & 1]);
    (void)reg;
    return INTERFACE | ((version ? version : VERSION_UNSET) & VERSION_BITS);
}

/* ---- processes ---------------------------------------------------------------------
 */

static bool of_space(const struct hqd *q, const void *space)
{
    return q->space == *(const unsigned *)space;
}

static bool in_use(const struct pci_board *b, unsigned space)
{
    for (unsigned i = 0; i < HQD_MAX; i++)
        if (b->hqds[i].used && !b->hqds[i].parked && b->hqds[i].space == space)
            return true;
    return false;
}

static bool is_mapped(struct pci_board *b, unsigned space)
{
    pthread_mutex_lock(&b->lock);
    bool mapped = in_use(b, space);
    pthread_mutex_unlock(&b->lock);
    return mapped;
}

/* Lock held. GPU_SPACES: there is none. */
static unsigned find_space(struct pci_board *b, uint64_t root, unsigned pasid)
{
    for (unsigned i = 0; i < PROCESSES; i++)
        if (b->processes[i].used && b->processes[i].root == root &&
            b->processes[i].pasid == pasid)
            return SPACE_CONTEXTS + i;
    return GPU_SPACES;
}

/* One that is free, or that nobody has used for longest. Lock held. */
static unsigned oldest_space(struct pci_board *b)
{
    unsigned oldest = GPU_SPACES;
    uint64_t age = UINT64_MAX;
    for (unsigned i = 0; i < PROCESSES; i++) {
        const struct process *p = &b->processes[i];
        if (!p->used)
            return SPACE_CONTEXTS + i;
        if (p->age < age && !in_use(b, SPACE_CONTEXTS + i)) {
            age = p->age;
            oldest = SPACE_CONTEXTS + i;
        }
    }
    return oldest;
}

/* Which process has a VMID: drivers look for the one whose translations they flush. Of
 * those that share a number it shows the one that came last, and the others' go, too.
 */
uint32_t vmid_lut_read(struct pci_board *b, uint32_t reg)
{
    unsigned vmid = (reg - IH_VMID_LUT) & 15, sharing = 0;
    const struct process *last = NULL;
    if (vmid < MES_VMID)
        return regs_get(b, reg);
    pthread_mutex_lock(&b->lock);
    for (unsigned i = vmid - MES_VMID; i < PROCESSES; i += MES_VMIDS) {
        const struct process *p = &b->processes[i];
        if (!p->used || !in_use(b, SPACE_CONTEXTS + i))
            continue;
        sharing++;
        if (!last || p->age > last->age)
            last = p;
    }
    uint32_t pasid = last ? last->pasid : 0;
    pthread_mutex_unlock(&b->lock);
    if (sharing > 1)
        gpu_flush(b->gpu);
    return pasid;
}

/* The space of a process. GPU_SPACES: all are in use. */
static unsigned space_of(struct pci_board *b, uint64_t root, unsigned pasid,
                         uint64_t context)
{
    root &= ROOT_ADDRESS;
    pthread_mutex_lock(&b->lock);
    unsigned space = find_space(b, root, pasid);
    bool found = space < GPU_SPACES;
    if (!found)
        space = oldest_space(b);
    bool reused =
        !found && space < GPU_SPACES && b->processes[space - SPACE_CONTEXTS].used;
    if (space < GPU_SPACES)
        b->processes[space - SPACE_CONTEXTS] = (struct process){.used = true,
                                                                .root = root,
                                                                .pasid = pasid,
                                                                .context = context,
                                                                .age = ++b->age};
    pthread_mutex_unlock(&b->lock);
    if (reused) { /* what was parked there has no process any more */
        hqd_forget(b, of_space, &space);
        mirror_close(b, space);
    }
    return space;
}

void mes_reset(struct pci_board *b)
{
    for (unsigned i = 0; i < GPU_SPACES; i++)
        mirror_close(b, i);
    pthread_mutex_lock(&b->lock);
    memset(b->processes, 0, sizeof(b->processes));
    pthread_mutex_unlock(&b->lock);
}

/* ---- queues ------------------------------------------------------------------------
 */

static bool from_sdma(struct pci_board *b, uint64_t mqd, struct hqd_config *c)
{
    uint32_t dw[SDMA_DESCRIPTOR];
    if (!gmc_read(b, mqd, dw, sizeof(dw)))
        return false;
    unsigned log2 = SDMA_SIZE(dw[0]);
    c->mqd = mqd;
    c->bytes = log2 <= SDMA_SIZE_MAX ? 4ull << log2 : 0;
    c->base = pair(dw, 1) << 8;
    c->rptr = pair(dw, 3);
    c->wptr = pair(dw, 5);
    c->rptr_report = (dw[8] | (uint64_t)dw[7] << 32) & ~3ull;
    return true;
}

static bool by_doorbell(const struct hqd *q, const void *doorbell)
{
    return q->doorbell == *(const uint32_t *)doorbell;
}

static bool add_queue(struct pci_board *b, const uint32_t *dw)
{
    bool kernel = dw[36] & FLAG_KERNEL;
    struct hqd_config c = {.kind = dw[27] == QUEUE_SDMA  ? HQD_SDMA
                                   : dw[27] == QUEUE_GFX ? HQD_GFX
                                                         : HQD_COMPUTE,
                           .me = dw[27] == QUEUE_GFX ? 0 : 1,
                           .pipe = dw[48] & 3,
                           .queue = dw[49] & 7,
                           .pasid = kernel ? 0 : dw[1],
                           .kernel = kernel,
                           .context = kernel ? 0 : pair(dw, 10),
                           .tba = pair(dw, 33),
                           .tma = pair(dw, 41),
                           .traps = dw[36] & FLAG_TRAPS};
    uint64_t mqd = pair(dw, 19), wptr;
    if (!kernel)
        c.space = space_of(b, pair(dw, 2), dw[1], c.context);
    if (!kernel && !(dw[36] & FLAG_KEEP) && c.space < GPU_SPACES &&
        !is_mapped(b, c.space))
        debug_forget(b, c.context);
    if (c.space == GPU_SPACES) {
        pci_say(b, "the scheduler has no address space for one more process");
        return false;
    }
    if (!(c.kind == HQD_SDMA ? from_sdma(b, mqd, &c) : hqd_from_mqd(b, mqd, &c))) {
        pci_say(b, "the scheduler finds no descriptor of a queue");
        return false;
    }
    c.doorbell = dw[18];
    c.gang = pair(dw, 14);
    c.aql = c.kind == HQD_COMPUTE && dw[36] & FLAG_AQL;
    if (kernel) /* it may be there still, after a reset */
        hqd_forget(b, by_doorbell, &c.doorbell);
    if (!kernel && !c.aql && pair(dw, 21) && gmc_read(b, pair(dw, 21), &wptr, 8))
        c.wptr = wptr; /* newer than the descriptor's */
    return hqd_map(b, &c) != NULL;
}

/* A graphics ring is mapped again at once, behind all that is in it: later kernels go
 * on with it as it is, earlier ones map it once more from its beginning. */
static bool reset_queue(struct pci_board *b, const uint32_t *dw)
{
    bool graphics = dw[1] & RESET_GRAPHICS;
    struct hqd_config c = {
        .kind = HQD_GFX, .pipe = dw[8] & 3, .queue = dw[9] & 7, .kernel = true};
    uint64_t wptr = 0;
    hqd_forget(b, by_doorbell, &dw[graphics ? 13 : 4]);
    if (!graphics)
        return true;
    if (!hqd_from_mqd(b, pair(dw, 11), &c) ||
        !gmc_read(b, pair(dw, 14), &wptr, sizeof(wptr)))
        return false;
    c.doorbell = dw[13];
    c.rptr = c.wptr = wptr;
    return hqd_map(b, &c) != NULL;
}

/* Those of a gang, or (0) of all processes. */
static void set_active(struct pci_board *b, uint64_t gang, bool active)
{
    for (unsigned i = 0; i < HQD_MAX; i++) {
        pthread_mutex_lock(&b->lock);
        struct hqd *q = &b->hqds[i];
        bool matches = q->used && q->gpu && !q->parked && !q->stopping && !q->kernel &&
                       q->kind != HQD_MES && (!gang || q->gang == gang);
        if (matches)
            gpu_queue_activate(q->gpu, active);
        pthread_mutex_unlock(&b->lock);
    }
}

/* ---- miscellaneous -----------------------------------------------------------------
 */

enum misc {
    WRITE_REG,
    INVALIDATE_GART,
    STATUS,
    READ_REG,
    WAIT_REG_MEM,
    SET_DEBUGGER,
    WORK_ON_UNMAPPED,
    UNMAP_PROCESSES,
    CHANGE_CONFIG,
};
#define WAIT_WRITES 1u

static bool misc(struct pci_board *b, const uint32_t *dw)
{
    uint32_t value;
    switch (dw[1]) {
    case WRITE_REG:
        regs_write(b, dw[6], dw[7]);
        return true;
    case READ_REG:
        value = regs_read(b, dw[6]);
        return gmc_write(b, pair(dw, 7), &value, sizeof(value));
    case WAIT_REG_MEM: /* all that is waited for so answers at once */
        if (dw[6] == WAIT_WRITES)
            regs_write(b, dw[9], dw[7]);
        return true;
    case INVALIDATE_GART:
        gpu_flush(b->gpu);
        return true;
    case SET_DEBUGGER:
        return debug_set(b, dw + 6);
    case STATUS:
    case WORK_ON_UNMAPPED: /* all queues run at once, */
    case UNMAP_PROCESSES:
    case CHANGE_CONFIG: /* and so do processes that are asked to take turns */
        return true;
    default:
        pci_say(b, "the scheduler does not know miscellaneous request %u", dw[1]);
        return false;
    }
}

static void update_root(struct pci_board *b, const uint32_t *dw)
{
    pthread_mutex_lock(&b->lock);
    for (unsigned i = 0; i < PROCESSES; i++)
        if (b->processes[i].used && b->processes[i].context == pair(dw, 3))
            b->processes[i].root = pair(dw, 1) & ROOT_ADDRESS;
    pthread_mutex_unlock(&b->lock);
    gpu_flush(b->gpu);
}

static bool run(struct pci_board *b, unsigned op, const uint32_t *dw)
{
    switch (op) {
    case ADD_QUEUE:
        return add_queue(b, dw);
    case REMOVE_QUEUE:
        hqd_unmap(b, by_doorbell, &dw[1]);
        return true;
    case RESET:
        return reset_queue(b, dw);
    case SUSPEND:
    case RESUME:
        set_active(b, dw[1] & ALL_GANGS ? 0 : pair(dw, 2), op == RESUME);
        return true;
    case MISC:
        return misc(b, dw);
    case UPDATE_ROOT:
        update_root(b, dw);
        return true;
    default: /* what they set has no effect here */
        return true;
    }
}

bool mes_frame(void *board, void *owner, const uint32_t *dw, uint32_t n)
{
    const struct hqd *q = owner;
    struct pci_board *b = board;
    unsigned op = dw[0] >> 4 & 0xff;
    (void)q;
    if (n < GPU_FRAME_DWORDS || (dw[0] & 15) != FRAME_TYPE || op >= OPCODES ||
        !status_at[op]) {
        pci_say(b, "the scheduler does not know frame 0x%08x", dw[0]);
        return false;
    }
    if (!run(b, op, dw))
        return true; /* no fence: the driver's patience ends */
    uint64_t at = pair(dw, status_at[op]), value = pair(dw, status_at[op] + 2u);
    return !at || gmc_write(b, at, &value, sizeof(value));
}

/* ---- kernel interface queue --------------------------------------------------------
 */

#define KIQ_ENGINE(dw)   ((dw) >> 26 & 7)
#define KIQ_DOORBELL(dw) ((dw) >> 2 & 0x3ffffff)
enum { ENGINE_COMPUTE = 0, ENGINE_GFX = 4, ENGINE_MES = 5 };

static bool map_queue(struct pci_board *b, const uint32_t *dw)
{
    unsigned engine = KIQ_ENGINE(dw[0]), me = dw[0] >> 18 & 7;
    struct hqd_config c = {.kind = engine == ENGINE_MES   ? HQD_MES
                                   : engine == ENGINE_GFX ? HQD_GFX
                                                          : HQD_COMPUTE,
                           .me = engine == ENGINE_GFX   ? 0
                                 : engine == ENGINE_MES ? 3
                                 : me == 2              ? 2
                                                        : 1,
                           .pipe = dw[0] >> 16 & 3,
                           .queue = dw[0] >> 13 & 7,
                           .kernel = true};
    if (engine != ENGINE_COMPUTE && engine != ENGINE_GFX && engine != ENGINE_MES) {
        pci_say(b, "MAP_QUEUES for engine %u is not modelled", engine);
        return false;
    }
    if (!hqd_from_mqd(b, pair(dw, 2), &c))
        return false;
    c.doorbell = KIQ_DOORBELL(dw[1]);
    c.aql = false;
    return hqd_map(b, &c) != NULL;
}

/* Firmware of the graphics ring tells of a packet that it does not know and goes on
 * behind it, but hangs in a long one: so IGT's amd_queue_reset has it of the chip. */
#define SKIPPED_DWORDS 64u

static bool skip_packet(struct pci_board *b, const struct hqd *q, uint32_t n)
{
    const struct ih_entry e = {
        .client = IH_GRBM_CP, .source = IH_BAD_OPCODE, .ring = hqd_ring_byte(q)};
    if (q->kind != HQD_GFX || n > SKIPPED_DWORDS)
        return false;
    ih_raise(b, &e);
    return true;
}

bool kiq_packet(void *board, void *owner, unsigned op, const uint32_t *dw, uint32_t n)
{
    struct pci_board *b = board;
    uint32_t doorbell;
    uint64_t value;
    switch (op) {
    case PM4_SET_RESOURCES:
        return true;
    case PM4_MAP_QUEUES:
        return map_queue(b, dw);
    case PM4_UNMAP_QUEUES:
        doorbell = KIQ_DOORBELL(dw[1]);
        hqd_unmap(b, by_doorbell, &doorbell);
        return true;
    case PM4_QUERY_STATUS:
        value = pair(dw, 4);
        return gmc_write(b, pair(dw, 2), &value, sizeof(value));
    default:
        return skip_packet(b, owner, n);
    }
}
