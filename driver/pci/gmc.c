/* gmc.c: the memory controller: address spaces, page tables, faults.
 *
 * An address space is a VMID whose registers the driver writes (those of the graphics
 * hub; the other hub is programmed alike, and its clients use space 0, which counts
 * from the other hub's registers until the driver sets up this one's), or a process of
 * the scheduler's. Space 0 shows the VRAM at FB_BASE besides. Tables are read where
 * they lie, each time: what a queue keeps of them is dropped by gpu_flush.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"

enum {
    FAULT_CNTL = 0x2824,
    MM_FAULT_CNTL = 0x1a708,
    FAULT_STATUS = 0x2828,
    FAULT_ADDR = 0x2829,
    MM_FAULT_STATUS = 0x1a70c,
    CONTEXT_CNTL = 0x28e8,
    CONTEXT_BASE = 0x2953,
    CONTEXT_START = 0x2973,
    CONTEXT_END = 0x2993,
    MM_HUB = 0x17e58, /* behind these */
};

#define PTE_VALID   (1ull << 0)
#define PTE_SYSTEM  (1ull << 1)
#define PTE_EXEC    (1ull << 4)
#define PTE_READ    (1ull << 5)
#define PTE_WRITE   (1ull << 6)
#define PTE_LEAF    (1ull << 54) /* of an entry above the last level */
#define PTE_ADDRESS 0x0000fffffffff000ull
#define PDE_ADDRESS 0x0000ffffffffffc0ull

#define LEVEL_BITS    9u
#define LEVEL_ENTRIES (1u << LEVEL_BITS)

/* ---- registers ---------------------------------------------------------------------
 */

uint32_t ack_read(struct pci_board *b, uint32_t reg)
{
    (void)b, (void)reg;
    return 0xffff; /* of all VMIDs: nothing takes time */
}

uint32_t sem_read(struct pci_board *b, uint32_t reg)
{
    (void)b, (void)reg;
    return 1; /* given */
}

void invalidate_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value);
    gpu_flush(b->gpu);
}

/* Bit 0 clears the status. */
void fault_control_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value & ~1u);
    if (value & 1)
        regs_set(b, reg == MM_FAULT_CNTL ? MM_FAULT_STATUS : FAULT_STATUS, 0);
}

bool gmc_root(struct pci_board *b, unsigned space, struct space_root *root)
{
    if (space >= SPACE_CONTEXTS) {
        bool used;
        pthread_mutex_lock(&b->lock);
        const struct process *p = &b->processes[space - SPACE_CONTEXTS];
        used = p->used;
        *root = (struct space_root){
            .root = p->root | PTE_VALID, .end = (1ull << SPACE_BITS) - 1, .depth = 3};
        pthread_mutex_unlock(&b->lock);
        return used;
    }
    uint32_t control = regs_get(b, CONTEXT_CNTL + space);
    uint32_t at = 2 * space;
    if (!space && !(control & 1)) {
        at += MM_HUB;
        control = regs_get(b, CONTEXT_CNTL + MM_HUB);
    }
    *root = (struct space_root){
        .root = regs_pair(b, CONTEXT_BASE + at, CONTEXT_BASE + at + 1),
        .start = regs_pair(b, CONTEXT_START + at, CONTEXT_START + at + 1) << 12,
        .end = regs_pair(b, CONTEXT_END + at, CONTEXT_END + at + 1) << 12 | (PAGE - 1),
        .depth = control >> 1 & 3};
    return control & 1;
}

/* ---- tables ------------------------------------------------------------------------
 */

/* Host memory of a physical address; NULL: there is none for all of it. */
static uint8_t *physical(struct pci_board *b, bool system, uint64_t address,
                         uint64_t bytes, bool write)
{
    if (system)
        return memory_at(b, address, bytes, write);
    if (address >= b->config.vram_bytes || b->config.vram_bytes - address < bytes)
        return NULL;
    return b->vram + address;
}

static bool load_entry(struct pci_board *b, uint64_t table, uint64_t index,
                       uint64_t *entry)
{
    const uint8_t *p =
        physical(b, table & PTE_SYSTEM, (table & PDE_ADDRESS) + 8 * index, 8, false);
    if (!p || (uintptr_t)p % 8)
        return false;
    const void *aligned = p; /* host memory is, and so are entries in it */
    *entry = __atomic_load_n((const uint64_t *)aligned, __ATOMIC_RELAXED);
    return true;
}

static unsigned perm_of(uint64_t entry)
{
    return (entry & PTE_READ ? GPU_READ : 0) | (entry & PTE_WRITE ? GPU_WRITE : 0) |
           (entry & PTE_EXEC ? GPU_EXEC : 0) | (entry & PTE_SYSTEM ? 0 : GPU_LOCAL);
}

/* The entry that maps va, and the size of what it maps; false: none does. */
static bool walk(struct pci_board *b, const struct space_root *root, uint64_t va,
                 uint64_t *entry, uint64_t *bytes)
{
    if (va < root->start || va > root->end)
        return false;
    uint64_t at = va - root->start, table = root->root;
    for (unsigned level = root->depth;; level--) {
        unsigned shift = 12 + LEVEL_BITS * level;
        uint64_t index = at >> shift;
        if (root->depth) /* the only table may be of any length */
            index &= LEVEL_ENTRIES - 1;
        if (!load_entry(b, table, index, entry) || !(*entry & PTE_VALID))
            return false;
        *bytes = 1ull << shift;
        if (!level || *entry & PTE_LEAF)
            return true;
        table = *entry;
    }
}

static bool fb_page(struct pci_board *b, uint64_t va, struct gpu_page *page)
{
    if (va < FB_BASE || va - FB_BASE >= b->config.vram_bytes)
        return false;
    *page = (struct gpu_page){.start = FB_BASE,
                              .end = FB_BASE + b->config.vram_bytes,
                              .host = b->vram,
                              .perm = GPU_READ | GPU_WRITE | GPU_EXEC | GPU_LOCAL};
    return true;
}

bool gmc_page(void *board, unsigned space, uint64_t va, unsigned access,
              struct gpu_page *page, struct gpu_page_fault *fault)
{
    struct pci_board *b = board;
    struct space_root root;
    uint64_t entry, bytes;
    *fault = (struct gpu_page_fault){
        .va = va, .write = access & GPU_WRITE, .exec = access & GPU_EXEC};
    if (space == 0 && fb_page(b, va, page))
        return true;
    if (!gmc_root(b, space, &root) || !walk(b, &root, va, &entry, &bytes))
        return false;
    unsigned perm = perm_of(entry);
    struct memory piece;
    if (entry & PTE_SYSTEM && memory_find(b, entry & PTE_ADDRESS, &piece) &&
        !piece.writable)
        perm &= ~GPU_WRITE;
    fault->present = true;
    if ((perm & access) != access)
        return false;
    /* The address is added, not or-ed: what a leaf maps need not be aligned to it. */
    uint64_t start = root.start + ((va - root.start) & ~(bytes - 1));
    uint64_t address = (entry & PTE_ADDRESS) + ((va - start) & ~(PAGE - 1));
    uint64_t first = va & ~(PAGE - 1);
    uint8_t *host = physical(b, entry & PTE_SYSTEM, address, PAGE, access & GPU_WRITE);
    if (!host)
        return false;
    *page = (struct gpu_page){
        .start = first, .end = first + PAGE, .host = host, .perm = perm};
    if (bytes > PAGE &&
        physical(b, entry & PTE_SYSTEM, entry & PTE_ADDRESS, bytes, access & GPU_WRITE))
        *page = (struct gpu_page){.start = start,
                                  .end = start + bytes,
                                  .host = host - (first - start),
                                  .perm = perm};
    return true;
}

bool gmc_bus_write(void *board, unsigned space, uint64_t va, const void *from,
                   uint64_t bytes)
{
    struct pci_board *b = board;
    struct space_root root;
    uint64_t entry, size, base = atomic_load(&b->doorbells);
    if (!gmc_root(b, space, &root) || !walk(b, &root, va, &entry, &size) ||
        !(entry & PTE_SYSTEM) || !(entry & PTE_WRITE))
        return false;
    uint64_t at = (entry & PTE_ADDRESS) + ((va - root.start) & (size - 1));
    if (!base || at < base || at - base >= pci_bar_bytes(b, PCI_BAR_DOORBELLS) ||
        at % 4 || bytes % 4)
        return false;
    pci_bar_write(b, PCI_BAR_DOORBELLS, at - base, from, bytes);
    return true;
}

static bool transfer(struct pci_board *b, uint64_t va, uint8_t *p, uint64_t bytes,
                     bool write)
{
    struct gpu_page page;
    struct gpu_page_fault fault;
    while (bytes) {
        if (!gmc_page(b, 0, va, write ? GPU_WRITE : GPU_READ, &page, &fault))
            return false;
        uint64_t n = page.end - va < bytes ? page.end - va : bytes;
        uint8_t *host = page.host + (va - page.start);
        if (write)
            memcpy(host, p, n);
        else
            memcpy(p, host, n);
        va += n;
        p += n;
        bytes -= n;
    }
    return true;
}

bool gmc_read(struct pci_board *b, uint64_t va, void *to, uint64_t bytes)
{
    return transfer(b, va, to, bytes, false);
}

bool gmc_write(struct pci_board *b, uint64_t va, const void *from, uint64_t bytes)
{
    uint8_t copy[160]; /* all that firmware writes at once */
    if (bytes > sizeof(copy))
        return false;
    memcpy(copy, from, bytes);
    return transfer(b, va, copy, bytes, true);
}

/* ---- all of a space ----------------------------------------------------------------
 */

struct scan {
    struct pci_board *b;
    bool (*f)(void *ctx, const struct gmc_run *run);
    void *ctx;
    struct gmc_run run; /* that may go on */
    uint64_t end;       /* of the space */
    unsigned tables;    /* that may still be looked into: they may lead in circles */
};
#define MAX_TABLES (1u << 16) /* 128 GiB of the smallest pages */

static bool give_run(struct scan *s)
{
    bool more = !s->run.bytes || s->f(s->ctx, &s->run);
    s->run.bytes = 0;
    return more;
}

static bool add_leaf(struct scan *s, uint64_t va, uint64_t bytes, uint64_t entry)
{
    struct gmc_run *r = &s->run;
    bool system = entry & PTE_SYSTEM;
    uint64_t address = entry & PTE_ADDRESS;
    unsigned perm = perm_of(entry);
    if (r->bytes && va == r->va + r->bytes && system == r->system && perm == r->perm &&
        address == r->address + r->bytes) {
        r->bytes += bytes;
        return true;
    }
    if (!give_run(s))
        return false;
    *r = (struct gmc_run){
        .va = va, .bytes = bytes, .system = system, .address = address, .perm = perm};
    return true;
}

static bool scan_table(struct scan *s, uint64_t table, unsigned level, uint64_t va)
{
    unsigned shift = 12 + LEVEL_BITS * level;
    if (!s->tables--)
        return false;
    for (uint64_t i = 0; i < LEVEL_ENTRIES; i++, va += 1ull << shift) {
        uint64_t entry;
        if (va > s->end)
            return true;
        if (!load_entry(s->b, table, i, &entry) || !(entry & PTE_VALID))
            continue;
        bool ok = !level || entry & PTE_LEAF ? add_leaf(s, va, 1ull << shift, entry)
                                             : scan_table(s, entry, level - 1, va);
        if (!ok)
            return false;
    }
    return true;
}

bool gmc_run_at(struct pci_board *b, const struct space_root *root, uint64_t va,
                struct gmc_run *run)
{
    uint64_t entry, bytes;
    va &= ~(PAGE - 1);
    if (!root->depth || !walk(b, root, va, &entry, &bytes))
        return false;
    *run = (struct gmc_run){.va = va,
                            .bytes = PAGE,
                            .system = entry & PTE_SYSTEM,
                            .address = (entry & PTE_ADDRESS) +
                                       ((va - root->start) & (bytes - 1)),
                            .perm = perm_of(entry)};
    return true;
}

bool gmc_scan(struct pci_board *b, const struct space_root *root,
              bool (*f)(void *ctx, const struct gmc_run *run), void *ctx)
{
    struct scan s = {
        .b = b, .f = f, .ctx = ctx, .end = root->end, .tables = MAX_TABLES};
    if (!root->depth) /* the kernel driver's own table: no kernel runs there */
        return true;
    return scan_table(&s, root->root, root->depth, root->start) && give_run(&s);
}

/* ---- faults ------------------------------------------------------------------------
 */

#define STATUS_MORE    1u
#define STATUS_PERM    (1u << 4) /* of four bits: valid, read, write, execute */
#define STATUS_MAPPING (1u << 8)
#define STATUS_CLIENT  9u
#define STATUS_WRITE   (1u << 18)
#define STATUS_VMID    20u
#define CLIENT_TCP     0x8u

void gmc_fault(struct pci_board *b, const struct hqd *q,
               const struct gpu_page_fault *fault)
{
    uint64_t page = fault->va >> 12;
    unsigned vmid = space_vmid(fault->space);
    uint32_t why = !fault->present ? 1u : fault->write ? 4u : fault->exec ? 8u : 2u;
    uint32_t status = why << 4 | (fault->present ? 0 : STATUS_MAPPING) |
                      CLIENT_TCP << STATUS_CLIENT | (fault->write ? STATUS_WRITE : 0) |
                      vmid << STATUS_VMID;
    if (regs_get(b, FAULT_STATUS) == 0) { /* the first one stays until it is cleared */
        regs_set(b, FAULT_ADDR, (uint32_t)page);
        regs_set(b, FAULT_ADDR + 1, (uint32_t)(page >> 32));
        regs_set(b, FAULT_STATUS, status);
    } else {
        regs_set(b, FAULT_STATUS, regs_get(b, FAULT_STATUS) | STATUS_MORE);
    }
    struct ih_entry e = {.client = IH_GFX,
                         .source = IH_FAULT,
                         .vmid = vmid,
                         .pasid = vmid < MES_VMID ? regs_get(b, IH_VMID_LUT + vmid)
                                                  : q->pasid,
                         .data = {(uint32_t)page, (uint32_t)(page >> 32 & 15) |
                                                      (fault->write ? 1u << 5 : 0)}};
    ih_raise(b, &e);
}
