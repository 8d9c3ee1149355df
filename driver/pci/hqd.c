/* hqd.c: queues: where the hardware has them, their descriptors in memory, doorbells.
 *
 * A queue is started by registers that are there once for each (compute), by those of
 * an SDMA engine, or by the scheduler (mes.c), and runs in the GPU. What stops inside a
 * kernel is parked, its descriptor says how much of its save area its waves would take,
 * and it goes on when that descriptor is mapped again. One that says nothing of the
 * kind is of a new queue, though it may lie where the other did.
 *
 * Locks: b->lock for the table; never held while a queue is stopped, which may wait for
 * a thread that wants it. SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <string.h>

#include "internal.h"

enum {
    HQD_ACTIVE = 0x320b,
    HQD_DEQUEUE = 0x3221,
};

/* Offsets in a descriptor of compute and graphics, bytes; behind 512 they follow the
 * registers. */
#define MQD_FIRST  512u /* of register 0x3209 */
#define MQD_DWORDS 56u

/* Registers of a queue, from HQD_FIRST on. */
enum {
    R_MQD = 0,
    R_ACTIVE = 2,
    R_VMID = 3,
    R_PRIORITY = 5,
    R_BASE = 8,
    R_RPTR = 10,
    R_REPORT = 11,
    R_POLL = 13,
    R_DOORBELL = 15,
    R_CONTROL = 17,
    R_SAVE_BASE = 43,
    R_STACK_OFFSET = 46, /* of the control stack: its size, less what is in use */
    R_STACK_SIZE = 47,
    R_WAVES_OFFSET = 48, /* the end of waves behind the control stack */
    R_SAVE_SIZE = 49,
    R_AQL = 53,
    R_WPTR = 54,
};

#define DOORBELL_EN        (1u << 30)
#define DOORBELL_DWORD(dw) ((dw) >> 2 & 0x3ffffff)
#define CONTROL_SIZE(dw)   ((dw) & 0x3f) /* log2 of its dwords, less one */
#define RING_MAX_LOG2      28u
#define MES_ME             3u /* its pipe 1 has the kernel interface queue */
#define MES_PIPE           0u

void pci_say(struct pci_board *b, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (b->config.say)
        b->config.say(b->config.ctx, text);
}

/* ---- identities --------------------------------------------------------------------
 */

uint32_t hqd_ring_byte(const struct hqd *q)
{
    if (q->kind == HQD_SDMA)
        return q->pipe << 4 | q->queue;
    return q->queue << 4 | q->me << 2 | q->pipe;
}

/* Processes of the scheduler share eight numbers. */
unsigned space_vmid(unsigned space)
{
    return space < SPACE_CONTEXTS ? space
                                  : MES_VMID + (space - SPACE_CONTEXTS) % MES_VMIDS;
}

unsigned hqd_vmid(const struct hqd *q)
{
    return space_vmid(q->space);
}

/* ---- starting ----------------------------------------------------------------------
 */

static uint64_t pair(const uint32_t *r, unsigned i)
{
    return r[i] | (uint64_t)r[i + 1] << 32;
}

/* From registers, or the part of a descriptor that is alike. */
static void from_registers(const uint32_t *r, struct hqd_config *c)
{
    unsigned log2 = CONTROL_SIZE(r[R_CONTROL]) + 1;
    c->base = pair(r, R_BASE) << 8;
    c->bytes = log2 <= RING_MAX_LOG2 ? 4ull << log2 : 0;
    c->rptr_report = pair(r, R_REPORT) & ~3ull;
    c->wptr_poll = pair(r, R_POLL) & ~7ull;
    c->rptr = r[R_RPTR];
    c->wptr = pair(r, R_WPTR);
    c->doorbell = DOORBELL_DWORD(r[R_DOORBELL]);
    c->aql = r[R_AQL] & 1;
    c->priority = r[R_PRIORITY] & 3;
    c->saved = r[R_STACK_OFFSET] != r[R_STACK_SIZE];
}

bool hqd_from_mqd(struct pci_board *b, uint64_t mqd, struct hqd_config *c)
{
    uint32_t r[MQD_DWORDS];
    if (!gmc_read(b, mqd + MQD_FIRST, r, sizeof(r)))
        return false;
    from_registers(r, c);
    if (c->kind == HQD_GFX) { /* other registers are there, but for what was read */
        c->aql = false;
        c->wptr = c->rptr;
    }
    c->mqd = mqd;
    return true;
}

/* Where a descriptor has a register. */
static uint64_t field(const struct hqd *q, unsigned reg)
{
    return q->mqd + MQD_FIRST + 4ull * reg;
}

static struct hqd *free_slot(struct pci_board *b)
{
    for (unsigned i = 0; i < HQD_MAX; i++)
        if (!b->hqds[i].used) {
            b->hqds[i] = (struct hqd){.used = true, .board = b, .id = i + 1};
            return &b->hqds[i];
        }
    return NULL;
}

/* One that was unmapped inside a kernel goes on. Lock held. */
static struct hqd *parked(struct pci_board *b, const struct hqd_config *c)
{
    for (unsigned i = 0; c->saved && i < HQD_MAX; i++) {
        struct hqd *q = &b->hqds[i];
        if (q->used && q->parked && !q->stopping && q->mqd == c->mqd &&
            q->doorbell == c->doorbell && q->space == c->space && q->aql == c->aql)
            return q;
    }
    return NULL;
}

/* One that has gone for good: another has its doorbell now, which living processes do
 * not share. The scheduler's own ring goes without a word when its processor is halted,
 * as before the guest sleeps. */
static bool left_behind(const struct hqd *q, const void *ctx)
{
    const struct hqd_config *c = ctx;
    bool halted = q->kind == HQD_MES && c->kind == HQD_MES;
    return (q->parked || halted) && q->doorbell == c->doorbell;
}

/* In a compute queue's descriptor they are behind a header. */
static uint64_t compute_field(const struct hqd *q, uint32_t index)
{
    return q->mqd + 4 * (1ull + index);
}

static bool keeps_compute(const struct hqd *q)
{
    return q->mqd && q->kind == HQD_COMPUTE && !q->aql && !q->kernel;
}

static void load_compute(struct pci_board *b, const struct hqd *q, uint32_t *to)
{
    memset(to, 0, GPU_COMPUTE_N * sizeof(*to));
    (void)!gmc_read(b, compute_field(q, 0), to, GPU_COMPUTE_N * sizeof(*to));
}

/* The hardware takes the masks of CUs from the descriptor of whatever compute queue; an
 * engine's first four lie apart from the others. */
static bool load_masks(struct pci_board *b, const struct hqd *q, uint32_t to[BOARD_SE])
{
    static const uint8_t at[] = {0x16, 0x17, 0x19, 0x1a, 0x2b, 0x2c};
    _Static_assert(sizeof(at) == BOARD_SE, "a mask for each shader engine");
    bool ok = q->mqd && q->kind == HQD_COMPUTE;
    for (unsigned se = 0; ok && se < BOARD_SE; se++)
        ok = gmc_read(b, compute_field(q, at[se]), &to[se], sizeof(to[se]));
    return ok;
}

/* It stands between packets: a dispatch may be set up and not begun. */
static void save_compute(struct pci_board *b, const struct hqd *q)
{
    uint32_t words[GPU_COMPUTE_N];
    gpu_queue_compute(q->gpu, words);
    for (uint32_t i = 0; i < GPU_COMPUTE_N; i++)
        if (gpu_compute_kept(i))
            (void)!gmc_write(b, compute_field(q, i), &words[i], sizeof(words[i]));
}

static rd_status start(struct pci_board *b, struct hqd *q, const struct hqd_config *c)
{
    uint32_t compute[GPU_COMPUTE_N], masks[BOARD_SE];
    struct gpu_queue_config g = {
        .kind = c->kind == HQD_SDMA  ? GPU_QUEUE_SDMA
                : c->kind == HQD_MES ? GPU_QUEUE_FRAMES
                : c->aql             ? GPU_QUEUE_AQL
                                     : GPU_QUEUE_PM4,
        .id = q->id,
        .doorbell = &q->bell,
        .ring = c->base,
        .ring_bytes = c->bytes,
        .rptr = c->rptr_report,
        .wptr = c->wptr_poll,
        .priority = c->priority,
        .active = true,
        .owner = q,
        .space = c->space,
        .kernel = c->kernel,
        .resumed = true,
        .rptr_now = c->rptr,
        .wptr_now = c->wptr,
    };
    if (keeps_compute(q)) {
        load_compute(b, q, compute);
        g.compute = compute;
    }
    if (load_masks(b, q, masks))
        g.cu_mask = masks;
    return gpu_queue_create(b->gpu, &g, &q->gpu);
}

/* Its waves are no more in the save area. */
static void forget_saved(struct pci_board *b, const struct hqd *q)
{
    uint32_t size;
    if (!gmc_read(b, field(q, R_STACK_SIZE), &size, sizeof(size)))
        return;
    (void)!gmc_write(b, field(q, R_STACK_OFFSET), &size, sizeof(size));
    (void)!gmc_write(b, field(q, R_WAVES_OFFSET), &size, sizeof(size));
}

/* It was parked: what its descriptor says may have changed meanwhile. */
static void go_on(struct pci_board *b, struct hqd *q)
{
    uint32_t masks[BOARD_SE];
    q->parked = false;
    forget_saved(b, q);
    gpu_flush(b->gpu); /* nobody has told of what changed meanwhile */
    if (load_masks(b, q, masks))
        gpu_queue_engine_mask(q->gpu, masks);
    gpu_queue_activate(q->gpu, true);
    gpu_queue_ring(q->gpu, q->bell);
}

struct hqd *hqd_map(struct pci_board *b, const struct hqd_config *c)
{
    if (!c->bytes || !c->base) {
        pci_say(b, "a queue with doorbell 0x%x has no ring", c->doorbell);
        return NULL;
    }
    if (!c->saved)
        hqd_forget(b, left_behind, c);
    else /* its waves go on with the tables as they are now: memory may have moved */
        mirror_refresh(b, c->space);
    pthread_mutex_lock(&b->lock);
    struct hqd *q = parked(b, c);
    rd_status st = RD_OK;
    if (q) {
        go_on(b, q);
    } else if ((q = free_slot(b))) {
        q->kind = c->kind;
        q->me = c->me;
        q->pipe = c->pipe;
        q->queue = c->queue;
        q->space = c->space;
        q->pasid = c->pasid;
        q->doorbell = c->doorbell;
        q->mqd = c->mqd;
        q->aql = c->aql;
        q->kernel = c->kernel;
        q->gang = c->gang;
        q->context = c->context;
        q->tba = c->tba;
        q->tma = c->tma;
        q->traps = c->traps;
        st = start(b, q, c);
        if (st != RD_OK)
            q->used = false;
    }
    pthread_mutex_unlock(&b->lock);
    if (!q || st != RD_OK) {
        pci_say(b, "a queue with doorbell 0x%x cannot be started", c->doorbell);
        return NULL;
    }
    return q;
}

/* ---- stopping ----------------------------------------------------------------------
 */

/* What was read goes to the descriptor, for when it is mapped again. */
static void save(struct pci_board *b, const struct hqd *q)
{
    uint64_t rptr = gpu_queue_rptr(q->gpu);
    uint32_t low = (uint32_t)rptr;
    if (!q->mqd || q->aql)
        return;
    if (q->kind == HQD_SDMA)
        (void)!gmc_write(b, q->mqd + 12, &rptr, sizeof(rptr));
    else
        (void)!gmc_write(b, field(q, R_RPTR), &low, sizeof(low));
}

/* So does, of a process' queue that will go on, how far it was rung for: with nothing
 * newer in memory, no more than that is in the ring. */
static void save_wptr(struct pci_board *b, const struct hqd *q)
{
    uint64_t wptr = __atomic_load_n(&q->bell, __ATOMIC_ACQUIRE);
    if (!q->aql && q->kind != HQD_GFX) /* there are other registers */
        (void)!gmc_write(b, q->kind == HQD_SDMA ? q->mqd + 20 : field(q, R_WPTR), &wptr,
                         sizeof(wptr));
}

/* How much of the save area its waves take, or would take. */
static void save_waves(struct pci_board *b, const struct hqd *q)
{
    uint32_t size, stack, waves;
    gpu_queue_saved(q->gpu, &stack, &waves);
    if (!gmc_read(b, field(q, R_STACK_SIZE), &size, sizeof(size)))
        return;
    stack = size - (stack ? stack : 4);
    waves += size;
    (void)!gmc_write(b, field(q, R_STACK_OFFSET), &stack, sizeof(stack));
    (void)!gmc_write(b, field(q, R_WAVES_OFFSET), &waves, sizeof(waves));
}

/* Its waves may go to its save area. */
static void stop_inside(struct pci_board *b, const struct hqd *q)
{
    uint32_t r[R_SAVE_SIZE - R_SAVE_BASE + 1] = {0};
    (void)!gmc_read(b, field(q, R_SAVE_BASE), r, sizeof(r));
    const struct gpu_save_area area = {.base = pair(r, 0),
                                       .stack_bytes = r[R_STACK_SIZE - R_SAVE_BASE],
                                       .bytes = r[R_SAVE_SIZE - R_SAVE_BASE]};
    gpu_queue_save(q->gpu, &area);
}

static void stop(struct pci_board *b, struct hqd *q, bool park)
{
    if (park && !q->parked)
        stop_inside(b, q);
    else
        gpu_queue_activate(q->gpu, false);
    if (!q->parked) { /* else its descriptor may be somebody else's by now */
        save(b, q);
        if (park)
            save_wptr(b, q);
    }
    if (park && gpu_queue_running(q->gpu) && !gpu_queue_halted(q->gpu)) {
        save_waves(b, q);
        pthread_mutex_lock(&b->lock);
        q->parked = true;
        q->stopping = false;
        pthread_mutex_unlock(&b->lock);
        return;
    }
    if (park && keeps_compute(q) && !gpu_queue_halted(q->gpu))
        save_compute(b, q);
    bool gone = gpu_queue_destroy(q->gpu);
    pthread_mutex_lock(&b->lock);
    q->gpu = NULL;
    q->used = !gone; /* a kernel that does not stop keeps its place */
    pthread_mutex_unlock(&b->lock);
}

/* The next one to be stopped, which nobody else finds. */
static struct hqd *take(struct pci_board *b,
                        bool (*match)(const struct hqd *, const void *),
                        const void *ctx, bool with_parked)
{
    struct hqd *found = NULL;
    pthread_mutex_lock(&b->lock);
    for (unsigned i = 0; i < HQD_MAX && !found; i++) {
        struct hqd *q = &b->hqds[i];
        if (q->used && q->gpu && !q->stopping && (with_parked || !q->parked) &&
            match(q, ctx))
            found = q;
    }
    if (found)
        found->stopping = true;
    pthread_mutex_unlock(&b->lock);
    return found;
}

void hqd_unmap(struct pci_board *b, bool (*match)(const struct hqd *, const void *),
               const void *ctx)
{
    struct hqd *q;
    while ((q = take(b, match, ctx, false)))
        stop(b, q, q->mqd && !q->kernel);
}

static bool any(const struct hqd *q, const void *ctx)
{
    (void)q, (void)ctx;
    return true;
}

void hqd_forget(struct pci_board *b, bool (*match)(const struct hqd *, const void *),
                const void *ctx)
{
    struct hqd *q;
    while ((q = take(b, match, ctx, true)))
        stop(b, q, false);
}

bool hqd_unmap_all(struct pci_board *b)
{
    bool left = false;
    hqd_forget(b, any, NULL);
    pthread_mutex_lock(&b->lock);
    for (unsigned i = 0; i < HQD_MAX; i++)
        left = left || b->hqds[i].used;
    pthread_mutex_unlock(&b->lock);
    return !left;
}

/* ---- registers that are there once for each queue ----------------------------------
 */

static struct hqd_bank *bank_now(struct pci_board *b)
{
    uint32_t select = regs_get(b, GRBM_GFX_CNTL);
    return &b->bank[select >> 2 & 3][select & 3][select >> 8 & 7];
}

uint32_t bank_read(struct pci_board *b, uint32_t reg)
{
    return atomic_load(&bank_now(b)->reg[reg - HQD_FIRST]);
}

void bank_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    atomic_store(&bank_now(b)->reg[reg - HQD_FIRST], value);
}

uint32_t hqd_active_read(struct pci_board *b, uint32_t reg)
{
    return bank_read(b, reg) & 1;
}

static bool in_place(const struct hqd *q, const void *ctx)
{
    const struct hqd_config *c = ctx;
    return (q->kind == HQD_COMPUTE || q->kind == HQD_MES) && q->me == c->me &&
           q->pipe == c->pipe && q->queue == c->queue;
}

static void place_now(struct pci_board *b, struct hqd_config *c)
{
    uint32_t select = regs_get(b, GRBM_GFX_CNTL);
    c->me = select >> 2 & 3;
    c->pipe = select & 3;
    c->queue = select >> 8 & 7;
}

void hqd_active_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    uint32_t r[HQD_REGS];
    struct hqd_config c = {.kind = HQD_COMPUTE};
    bool was = bank_read(b, reg) & 1;
    bank_write(b, reg, value);
    place_now(b, &c);
    if (c.me == MES_ME && c.pipe == MES_PIPE)
        c.kind = HQD_MES;
    if (was == (value & 1))
        return;
    if (was) {
        hqd_unmap(b, in_place, &c);
        return;
    }
    for (unsigned i = 0; i < HQD_REGS; i++)
        r[i] = atomic_load(&bank_now(b)->reg[i]);
    from_registers(r, &c);
    c.space = r[R_VMID] & 15;
    c.kernel = c.space == 0;
    if (!hqd_map(b, &c))
        bank_write(b, reg, 0);
}

void hqd_dequeue_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    struct hqd_config c = {.kind = HQD_COMPUTE};
    bank_write(b, reg, value);
    if (!(value & 15))
        return;
    place_now(b, &c);
    hqd_unmap(b, in_place, &c);
    bank_write(b, HQD_ACTIVE, 0);
    bank_write(b, HQD_DEQUEUE, 0);
}

/* ---- SDMA engines ------------------------------------------------------------------
 */

enum {
    QUEUE_RESET = 0x12db,
    RB_CNTL = 0x12e0,
    ENGINE_STEP = 0x600,
    /* behind RB_CNTL */
    RB_BASE = 1,
    RB_RPTR = 3,
    RB_WPTR = 5,
    RB_RPTR_ADDR_HI = 8,
    RB_RPTR_ADDR_LO = 9,
    RB_DOORBELL = 0x12,
    RB_DOORBELL_OFFSET = 0x2b,
    RB_POLL_HI = 0x32,
    RB_POLL_LO = 0x33,
};
#define RB_ENABLE   1u
#define RB_SIZE(dw) ((dw) >> 1 & 31) /* log2 of its dwords */

static bool engine(const struct hqd *q, const void *ctx)
{
    const struct hqd_config *c = ctx;
    return q->kind == HQD_SDMA && q->kernel && q->pipe == c->pipe;
}

void sdma_rb_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    bool was = regs_get(b, reg) & RB_ENABLE;
    struct hqd_config c = {.kind = HQD_SDMA, .pipe = (reg - RB_CNTL) / ENGINE_STEP};
    regs_set(b, reg, value);
    if (was == (value & RB_ENABLE))
        return;
    if (was) {
        hqd_unmap(b, engine, &c);
        return;
    }
    c.base = regs_pair(b, reg + RB_BASE, reg + RB_BASE + 1) << 8;
    c.bytes = RB_SIZE(value) <= RING_MAX_LOG2 ? 4ull << RB_SIZE(value) : 0;
    c.rptr = regs_pair(b, reg + RB_RPTR, reg + RB_RPTR + 1);
    c.wptr = regs_pair(b, reg + RB_WPTR, reg + RB_WPTR + 1);
    c.rptr_report = regs_pair(b, reg + RB_RPTR_ADDR_LO, reg + RB_RPTR_ADDR_HI) & ~3ull;
    c.wptr_poll = regs_pair(b, reg + RB_POLL_LO, reg + RB_POLL_HI);
    c.doorbell = regs_get(b, reg + RB_DOORBELL_OFFSET) >> 2 & 0x3ffffff;
    c.kernel = true;
    (void)!hqd_map(b, &c);
}

/* Its ring stops, whatever it waits for, and has to be enabled anew. */
static void reset_engine(struct pci_board *b, unsigned pipe)
{
    const struct hqd_config c = {.pipe = pipe};
    uint32_t control = RB_CNTL + pipe * ENGINE_STEP;
    hqd_unmap(b, engine, &c);
    regs_set(b, control, regs_get(b, control) & ~RB_ENABLE);
}

/* A bit for each queue, which reads 0 when that is reset: the driver's ring is the
 * first; the others are the scheduler's, which knows them by their doorbells. */
void sdma_queue_reset_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    if (value & 1)
        reset_engine(b, (reg - QUEUE_RESET) / ENGINE_STEP);
}

/* Whatever is named is stopped; that reset is complete when the register reads back. */
void soft_reset_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value);
    for (unsigned i = 0; i < 2; i++)
        if (value >> (23 + i) & 1)
            reset_engine(b, i);
    if (value & 0x40001) /* the command processors */
        for (unsigned me = 1; me < 3; me++)
            for (unsigned pipe = 0; pipe < 4; pipe++)
                for (unsigned queue = 0; queue < 8; queue++) {
                    struct hqd_config c = {.me = me, .pipe = pipe, .queue = queue};
                    struct hqd_bank *bank = &b->bank[me][pipe][queue];
                    hqd_unmap(b, in_place, &c);
                    atomic_store(&bank->reg[R_ACTIVE], 0);
                }
}

/* Orders to waves, of which only the end is modelled: of those of a VMID, or of all
 * that the driver's own rings have started. */
void sq_command_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    enum { KILL = 3, CHECK_VMID = 1 << 7 };
    regs_set(b, reg, value);
    if ((value & 15) != KILL)
        return;
    for (unsigned vmid = 0; vmid < SPACE_CONTEXTS; vmid++)
        if (!(value & CHECK_VMID) || value >> 28 == vmid)
            gpu_kill_waves(b->gpu, vmid);
}

/* ---- doorbells ---------------------------------------------------------------------
 */

void hqd_doorbell(struct pci_board *b, uint32_t index, uint64_t value)
{
    pthread_mutex_lock(&b->lock);
    for (unsigned i = 0; i < HQD_MAX; i++) {
        struct hqd *q = &b->hqds[i];
        if (q->used && q->gpu && !q->stopping && q->doorbell == index) {
            if (q->parked)
                q->bell = value;
            else
                gpu_queue_ring(q->gpu, value);
            break;
        }
    }
    pthread_mutex_unlock(&b->lock);
}
