/* board.c: the board: its making, its windows, what its GPU tells, reset.
 *
 * Must not know a transport. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define DOORBELL_BYTES (2ull << 20)
#define REGISTER_BYTES (1ull << 20)
#define IO_BYTES       256u
#define VRAM_UNIT      (256ull << 20)

/* Of interrupts of waves: an instruction has sent it, in a trap handler. */
#define SQ_INSTRUCTION (1u << 6) /* second dword */
#define SQ_PRIVILEGED  (1u << 26)

/* ---- news of the GPU ---------------------------------------------------------------
 */

static void on_interrupt(void *ctx, void *owner, enum gpu_irq what, uint32_t data)
{
    struct hqd *q = owner;
    struct ih_entry e = {.client = IH_GRBM_CP,
                         .source = IH_EOP,
                         .ring = hqd_ring_byte(q),
                         .vmid = hqd_vmid(q),
                         .pasid = q->pasid,
                         .data = {data}};
    if (what == GPU_IRQ_DMA) {
        e.client = IH_GFX;
        e.source = IH_SDMA_TRAP;
    } else if (what == GPU_IRQ_WAVE) {
        e.client = IH_GFX;
        e.source = IH_SQ;
        e.data[0] = data & 0xffffff;
        e.data[1] = SQ_INSTRUCTION;
    }
    ih_raise(ctx, &e);
}

static void on_error(void *ctx, void *owner, enum gpu_error error)
{
    struct hqd *q = owner;
    struct ih_entry e = {.client = IH_GRBM_CP,
                         .source = IH_BAD_OPCODE,
                         .ring = hqd_ring_byte(q),
                         .vmid = hqd_vmid(q),
                         .pasid = q->pasid};
    bool wave = error == GPU_ERR_ILLEGAL_INST || error == GPU_ERR_APERTURE ||
                error == GPU_ERR_TRAP;
    if (wave) {
        e.client = IH_GFX;
        e.source = IH_SQ;
        e.data[0] = (error == GPU_ERR_ILLEGAL_INST ? 1u : 2u) << 21;
        e.data[1] = 2u << 6; /* an error */
    }
    if (error == GPU_ERR_PREEMPTION || q->kind == HQD_MES)
        return; /* a hang, or a frame that firmware does not answer: nobody is told */
    gpu_queue_inactive(q->gpu, error);
    ih_raise(ctx, &e);
}

static void on_fault(void *ctx, void *owner, const struct gpu_page_fault *fault)
{
    gmc_fault(ctx, owner, fault);
}

/* As on_interrupt tells of waves, but from their trap handler. */
static bool on_message(void *ctx, void *owner, const struct gpu_message *message)
{
    const struct hqd *q = owner;
    const struct ih_entry e = {
        .client = IH_GFX,
        .source = IH_SQ,
        .ring = hqd_ring_byte(q),
        .vmid = hqd_vmid(q),
        .pasid = q->pasid,
        .data = {(message->data & 0xffffff) | SQ_PRIVILEGED, SQ_INSTRUCTION}};
    ih_raise(ctx, &e);
    return false;
}

static void on_log(void *ctx, const char *text)
{
    pci_say(ctx, "%s", text);
}

static void on_threads(void *ctx)
{
    (void)ctx;
}

static uint32_t gpu_reg_read(void *ctx, uint32_t reg)
{
    return regs_read(ctx, reg);
}

static void gpu_reg_write(void *ctx, uint32_t reg, uint32_t value)
{
    regs_write(ctx, reg, value);
}

static const struct gpu_board gpu_side = {
    .page = gmc_page,
    .bus_write = gmc_bus_write,
    .mirror = mirror_refresh,
    .mirror_page = mirror_page,
    .interrupt = on_interrupt,
    .reg_read = gpu_reg_read,
    .reg_write = gpu_reg_write,
    .frame = mes_frame,
    .packet = kiq_packet,
    .traps = debug_traps,
};

/* ---- making ------------------------------------------------------------------------
 */

static rd_status make_memory(struct pci_board *b)
{
    uint64_t bytes = b->config.vram_bytes;
    b->vram_fd = memfd_create("rdna3 vram", MFD_CLOEXEC);
    if (b->vram_fd < 0 || ftruncate(b->vram_fd, (off_t)bytes) != 0)
        return RD_E_NOMEM;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                   b->vram_fd, 0);
    if (p == MAP_FAILED)
        return RD_E_NOMEM;
    b->vram = p;
    b->rom = calloc(1, BOARD_ROM_BYTES);
    if (!b->rom)
        return RD_E_NOMEM;
    board_rom(b->rom);
    return RD_OK;
}

static rd_status make_gpu(struct pci_board *b)
{
    struct gpu_config config = {.no_execute = b->config.no_execute,
                                .sclk_mhz = b->config.sclk_mhz,
                                .engine = b->config.engine,
                                .counters = &b->counters,
                                .host = {.ctx = b,
                                         .error = on_error,
                                         .page_fault = on_fault,
                                         .message = on_message,
                                         .log = on_log,
                                         .threads = on_threads,
                                         .board = &gpu_side}};
    return gpu_create(&config, &b->gpu);
}

rd_status pci_create(const struct pci_config *config, struct pci_board **out)
{
    if (!config->vram_bytes || config->vram_bytes % VRAM_UNIT ||
        config->vram_bytes > BOARD_VRAM_BYTES + VRAM_UNIT)
        return RD_E_INVALID;
    struct pci_board *b = calloc(1, sizeof(*b));
    if (!b)
        return RD_E_NOMEM;
    b->config = *config;
    b->vram_fd = -1;
    if (!config->smu.major)
        b->config.smu = (struct pci_version){13, 0, 0};
    pthread_mutex_init(&b->lock, NULL);
    pthread_mutex_init(&b->mirror_lock, NULL);
    pthread_rwlock_init(&b->memory_lock, NULL);
    ih_init(b);
    rd_status st = regs_create(&b->regs);
    if (st == RD_OK)
        st = make_memory(b);
    if (st == RD_OK)
        st = make_gpu(b);
    if (st != RD_OK) {
        pci_destroy(b);
        return st;
    }
    config_init(b);
    board_reset(b);
    *out = b;
    return RD_OK;
}

void board_reset(struct pci_board *b)
{
    if (hqd_unmap_all(b)) {
        mes_reset(b);
        debug_reset(b);
        memory_sweep(b);
    }
    memset(b->bank, 0, sizeof(b->bank));
    memset(b->sh_mem, 0, sizeof(b->sh_mem));
    regs_reset(&b->regs);
    gpu_registers_reset(b->gpu);
    ih_reset(b);
    psp_reset(b);
    atomic_store(&b->features, false);
    atomic_store(&b->smu_table[0], 0);
    atomic_store(&b->smu_table[1], 0);
    gpu_flush(b->gpu);
    discovery_write(b, b->vram + b->config.vram_bytes - DISCOVERY_BEHIND);
}

void pci_reset(struct pci_board *b)
{
    config_init(b);
    board_reset(b);
}

void pci_thread_urgent(bool urgent)
{
    gpu_thread_urgent(urgent);
}

/* A queue that does not stop keeps what it uses. */
void pci_destroy(struct pci_board *b)
{
    if (b->gpu && !hqd_unmap_all(b))
        return;
    if (b->gpu)
        mes_reset(b);
    for (unsigned i = 0; i < b->n_memory + b->n_gone; i++) {
        munmap(b->memory[i].host, b->memory[i].bytes);
        close(b->memory[i].fd);
    }
    if (b->vram)
        munmap(b->vram, b->config.vram_bytes);
    if (b->vram_fd >= 0)
        close(b->vram_fd);
    regs_destroy(&b->regs);
    free(b->rom);
    gpu_destroy(b->gpu);
    free(b);
}

/* ---- windows -----------------------------------------------------------------------
 */

uint64_t pci_bar_bytes(const struct pci_board *b, unsigned bar)
{
    switch (bar) {
    case PCI_BAR_VRAM:
        return b->config.vram_bytes;
    case PCI_BAR_DOORBELLS:
        return DOORBELL_BYTES;
    case PCI_BAR_IO:
        return IO_BYTES;
    case PCI_BAR_REGISTERS:
        return REGISTER_BYTES;
    case PCI_BAR_ROM:
        return BOARD_ROM_BYTES;
    default:
        return 0;
    }
}

int pci_vram_file(const struct pci_board *b)
{
    return b->vram_fd;
}

const struct gpu_counters *pci_counters(const struct pci_board *b)
{
    return &b->counters;
}

static bool inside(const struct pci_board *b, unsigned bar, uint64_t offset,
                   uint64_t bytes)
{
    uint64_t size = pci_bar_bytes(b, bar);
    return offset < size && size - offset >= bytes;
}

/* Registers by words; parts of words are reads of the whole. */
static void read_registers(struct pci_board *b, uint64_t offset, uint8_t *to,
                           uint64_t bytes)
{
    while (bytes) {
        uint32_t value = regs_load(b, (uint32_t)(offset / 4));
        uint64_t skip = offset % 4, n = 4 - skip < bytes ? 4 - skip : bytes;
        memcpy(to, (const uint8_t *)&value + skip, n);
        to += n;
        offset += n;
        bytes -= n;
    }
}

void pci_bar_read(struct pci_board *b, unsigned bar, uint64_t offset, void *to,
                  uint64_t bytes)
{
    memset(to, 0xff, bytes);
    if (!inside(b, bar, offset, bytes))
        return;
    if (bar == PCI_BAR_VRAM)
        memcpy(to, b->vram + offset, bytes);
    else if (bar == PCI_BAR_ROM)
        memcpy(to, b->rom + offset, bytes);
    else if (bar == PCI_BAR_REGISTERS)
        read_registers(b, offset, to, bytes);
    else
        memset(to, 0, bytes);
}

static void ring_doorbell(struct pci_board *b, uint64_t offset, const void *from,
                          uint64_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, from, bytes < 8 ? bytes : 8);
    uint32_t index = (uint32_t)(offset / 4);
    if (!ih_doorbell(b, index, (uint32_t)value))
        hqd_doorbell(b, index, value);
}

void pci_bar_write(struct pci_board *b, unsigned bar, uint64_t offset, const void *from,
                   uint64_t bytes)
{
    const uint8_t *p = from;
    if (!inside(b, bar, offset, bytes))
        return;
    if (bar == PCI_BAR_VRAM)
        memcpy(b->vram + offset, from, bytes);
    else if (bar == PCI_BAR_DOORBELLS)
        for (uint64_t done = 0; done < bytes; done += 8)
            ring_doorbell(b, offset + done, p + done,
                          bytes - done < 8 ? bytes - done : 8);
    else if (bar == PCI_BAR_REGISTERS)
        for (; bytes >= 4; bytes -= 4, offset += 4, p += 4) {
            uint32_t value;
            memcpy(&value, p, sizeof(value));
            regs_store(b, (uint32_t)(offset / 4), value);
        }
}

void pci_report(struct pci_board *b, FILE *out)
{
    const struct gpu_counters *c = &b->counters;
    (void)fprintf(out,
                  "dispatches %" PRIu64 ", waves %" PRIu64 ", instructions %" PRIu64
                  ", copies %" PRIu64 " (%" PRIu64 " bytes), faults %" PRIu64
                  ", skipped %" PRIu64 "\n",
                  c->dispatches, c->waves, c->instructions, c->copies, c->copy_bytes,
                  c->faults, c->skipped);
    regs_report(b, out);
}
