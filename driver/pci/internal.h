/* internal.h: inside of the board, shared by its files only.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PCI_INTERNAL_H
#define RD_PCI_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "board.h"
#include "gpu.h"
#include "pci.h"
#include "regs.h"

#define PAGE 4096ull

/* ---- memory of the host (memory.c) ---- */

#define MEMORY_MAX 2048u /* pieces at once, and of those that were removed */

struct memory {
    uint64_t bus, bytes, offset;
    int fd;
    uint8_t *host;
    bool writable;
};

/* ---- queues (hqd.c, sdma.c, mes.c) ---- */

enum {
    IH_VMID_LUT = 0x10a0,
    GRBM_GFX_CNTL = 0xa900
}; /* selects one of the registers that are there once a queue */

enum hqd_kind { HQD_GFX, HQD_COMPUTE, HQD_SDMA, HQD_MES };

/* Where a queue of the board runs. me: 0 graphics, 1 and 2 compute, 3 scheduler. */
struct hqd {
    bool used;
    enum hqd_kind kind;
    unsigned me, pipe, queue; /* SDMA: pipe is the engine */
    unsigned space, pasid;
    uint32_t doorbell; /* dword in the window of doorbells */
    uint64_t mqd;      /* in address space 0; 0: none */
    bool aql, kernel;
    uint64_t bell; /* what the GPU watches */
    struct pci_board *board;
    struct gpu_queue *gpu;
    uint32_t id;
    bool parked;   /* unmapped inside a kernel, to be mapped again */
    bool stopping; /* by some thread */
    uint64_t gang; /* the scheduler's name for it */
    /* Of its process: the scheduler's name for it, the handler of its waves, whether
       they trap even if nobody debugs it. */
    uint64_t context, tba, tma;
    bool traps;
};

#define HQD_MAX 256u

/* What a descriptor or registers say of a queue. */
struct hqd_config {
    enum hqd_kind kind;
    unsigned me, pipe, queue, space, pasid;
    uint32_t doorbell;
    uint64_t mqd, base, bytes, rptr_report, wptr_poll, rptr, wptr;
    bool aql, kernel;
    bool saved; /* waves of it were saved when it was unmapped */
    uint32_t priority;
    uint64_t gang;
    uint64_t context, tba, tma;
    bool traps;
};

#define HQD_FIRST 0x3209u /* registers that are there once for each queue */
#define HQD_REGS  64u

struct hqd_bank {
    _Atomic uint32_t reg[HQD_REGS];
};

/* ---- address spaces (gmc.c, mirror.c, mes.c) ---- */

#define SPACE_CONTEXTS 16u /* VMIDs whose registers the driver writes */
#define MES_VMID       8u  /* the first of the scheduler's, */
#define MES_VMIDS      8u  /* and how many it has */

struct space_root {
    uint64_t root; /* as in CONTEXTn_PAGE_TABLE_BASE */
    uint64_t start, end;
    unsigned depth; /* levels above the last one */
};

/* A process that the scheduler knows. */
struct process {
    bool used;
    unsigned pasid;
    uint64_t root, context;
    uint64_t age; /* when it was used last */
};
#define PROCESSES (GPU_SPACES - SPACE_CONTEXTS)

/* What a debugger has asked of one (debug.c). */
struct debugged {
    uint64_t context; /* 0: nothing */
    bool trap;
    struct gpu_watches watches;
};

struct mirror; /* mirror.c */

struct ring_ih {
    pthread_mutex_t lock;
    uint32_t wptr; /* bytes */
    bool overflow;
};

struct pci_board {
    struct pci_config config;
    struct gpu *gpu;
    struct gpu_counters counters;
    struct pci_regs regs;

    uint8_t space[PCI_CONFIG_BYTES];
    _Atomic uint64_t doorbells; /* where that window is on the bus; 0: nowhere */
    uint8_t *rom;
    int vram_fd;
    uint8_t *vram;

    pthread_rwlock_t memory_lock;
    struct memory memory[MEMORY_MAX];
    unsigned n_memory, n_gone;

    pthread_mutex_t lock; /* queues, processes; never held while a queue is stopped */
    struct hqd hqds[HQD_MAX];
    uint64_t age;
    struct process processes[PROCESSES];
    struct debugged debugged[PROCESSES];
    struct hqd_bank bank[4][4][8]; /* me, pipe, queue */
    _Atomic uint32_t sh_mem[16][2];
    struct mirror *mirror[GPU_SPACES];
    pthread_mutex_t mirror_lock;
    _Atomic uint32_t mappings; /* of the host, by all mirrors */

    struct ring_ih ih;
    bool sos_alive, sos_seen;      /* psp.c */
    _Atomic bool features;         /* smu.c: are on */
    _Atomic uint32_t smu_table[2]; /* where its tables go: high, low */
    _Atomic uint32_t
        mes_version[2]; /* psp.c: of the scheduler's firmware, by pipe; 0: not loaded */
};

void pci_say(struct pci_board *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* config.c */
void config_init(struct pci_board *b);

/* discovery.c: written into memory of at least these sizes */
#define DISCOVERY_BYTES  10240u
#define DISCOVERY_BEHIND 65536u /* from its place to the end of the VRAM */
void discovery_write(const struct pci_board *b, uint8_t *to);

/* memory.c: give back what was removed, while nobody uses it. */
void memory_sweep(struct pci_board *b);
/* Host memory at a bus address; NULL: there is none for all of it. */
uint8_t *memory_at(struct pci_board *b, uint64_t bus, uint64_t bytes, bool write);
/* The piece that holds an address, for mapping; false: none does. */
bool memory_find(struct pci_board *b, uint64_t bus, struct memory *out);
/* How far there is none, from an address on. */
uint64_t memory_gap(struct pci_board *b, uint64_t bus);

/* gmc.c */
#define SPACE_BITS 48u             /* of addresses of kernels */
#define FB_BASE    0x8000000000ull /* where address space 0 shows the VRAM */
bool gmc_bus_write(void *board, unsigned space, uint64_t va, const void *from,
                   uint64_t bytes);
bool gmc_page(void *board, unsigned space, uint64_t va, unsigned access,
              struct gpu_page *page, struct gpu_page_fault *fault);
bool gmc_root(struct pci_board *b, unsigned space, struct space_root *root);
/* Read or write as a client in address space 0 does; false: a part is not there. */
RD_CHECKED bool gmc_read(struct pci_board *b, uint64_t va, void *to, uint64_t bytes);
RD_CHECKED bool gmc_write(struct pci_board *b, uint64_t va, const void *from,
                          uint64_t bytes);
/* A run of pages that lie together in VRAM or host memory. */
struct gmc_run {
    uint64_t va, bytes;
    bool system;
    uint64_t address; /* in VRAM, or on the bus */
    unsigned perm;
};
/* The page at va as a run, whatever lies behind its address; false: there is none. */
bool gmc_run_at(struct pci_board *b, const struct space_root *root, uint64_t va,
                struct gmc_run *run);
/* All runs of a space in order; false: f has returned false. */
bool gmc_scan(struct pci_board *b, const struct space_root *root,
              bool (*f)(void *ctx, const struct gmc_run *run), void *ctx);
/* A fault of a client of the graphics hub: status registers and an interrupt. */
void gmc_fault(struct pci_board *b, const struct hqd *q,
               const struct gpu_page_fault *fault);

/* mirror.c */
void mirror_refresh(void *board, unsigned space);
void mirror_page(void *board, unsigned space, uint64_t va);
void mirror_close(struct pci_board *b, unsigned space);

/* ih.c */
struct ih_entry {
    unsigned client, source, ring, vmid, pasid;
    uint32_t data[4];
};
#define IH_GFX        0x0au
#define IH_GRBM_CP    0x14u
#define IH_EOP        181u
#define IH_BAD_OPCODE 183u
#define IH_PRIV_REG   184u
#define IH_PRIV_INST  185u
#define IH_SDMA_TRAP  49u
#define IH_SQ         239u
#define IH_FAULT      0u
void ih_init(struct pci_board *b);
void ih_reset(struct pci_board *b);
void ih_raise(struct pci_board *b, const struct ih_entry *entry);
bool ih_doorbell(struct pci_board *b, uint32_t index, uint32_t value);

/* psp.c */
void psp_reset(struct pci_board *b);

/* hqd.c */
uint32_t hqd_ring_byte(const struct hqd *q);
unsigned hqd_vmid(const struct hqd *q);
unsigned space_vmid(unsigned space);
/* Start a queue; NULL after saying why not. */
struct hqd *hqd_map(struct pci_board *b, const struct hqd_config *c);
/* Stop those for which match is true; what they had read goes back to descriptors. */
void hqd_unmap(struct pci_board *b, bool (*match)(const struct hqd *, const void *),
               const void *ctx);
/* All of them, for good; false: a kernel that does not stop is still in one. */
bool hqd_unmap_all(struct pci_board *b);
/* Stop for good those that match, parked ones too. */
void hqd_forget(struct pci_board *b, bool (*match)(const struct hqd *, const void *),
                const void *ctx);
/* Read a descriptor of compute or graphics. */
bool hqd_from_mqd(struct pci_board *b, uint64_t mqd, struct hqd_config *c);
void hqd_doorbell(struct pci_board *b, uint32_t index, uint64_t value);

/* mes.c: frames of its ring, packets of the kernel interface queue. */
bool mes_frame(void *board, void *owner, const uint32_t *dw, uint32_t n);
bool kiq_packet(void *board, void *owner, unsigned op, const uint32_t *dw, uint32_t n);
/* Forget processes; only while there are no queues. */
void mes_reset(struct pci_board *b);

/* debug.c: a frame's request; what was asked of a process is void; of all. */
bool debug_set(struct pci_board *b, const uint32_t *dw);
void debug_forget(struct pci_board *b, uint64_t context);
void debug_reset(struct pci_board *b);
void debug_traps(void *board, void *owner, struct gpu_traps *traps);

/* board.c: all but VRAM as after power-on. */
void board_reset(struct pci_board *b);

#endif
