/* machine.h: a board and the driver of a test: page tables, queues, memory of the host.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_BOARD_MACHINE_H
#define TEST_BOARD_MACHINE_H

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pci.h"

#define VRAM         (256ull << 20)
#define FB           0x8000000000ull /* where address space 0 shows it */
#define HOST_BUS     (1ull << 40)
#define HOST         (4ull << 20)
#define MACHINE_PAGE 4096ull

/* Entries of page tables. */
#define PTE_VALID  1ull
#define PTE_SYSTEM 2ull
#define PTE_RWX    0x70ull
#define PTE_WRITE  0x40ull
#define PTE_LEAF   (1ull << 54)

struct machine {
    struct pci_board *board;
    uint8_t *vram, *host;
    uint64_t next; /* page of VRAM that is free */
    atomic_uint interrupts;
    pthread_mutex_t lock;
    char said[512]; /* lock; the board's last line */
};

/* The board's last line has this. */
bool machine_said(struct machine *m, const char *text);

/* A board of 256 MiB that has booted as far as tests need: interrupts, address space 0.
 */
void machine_create(struct machine *m);
/* The same with the timing model. */
void machine_create_timed(struct machine *m);
/* VRAM from an offset on. */
static inline uint32_t *machine_words(const struct machine *m, uint64_t at)
{
    void *p = m->vram + at;
    return p;
}
static inline uint64_t *machine_entries(const struct machine *m, uint64_t at)
{
    void *p = m->vram + at;
    return p;
}
void machine_destroy(struct machine *m);

uint32_t machine_read(struct machine *m, uint32_t reg);
void machine_write(struct machine *m, uint32_t reg, uint32_t value);
void machine_doorbell(struct machine *m, uint32_t index, uint64_t value);

/* Free pages of VRAM: their offset. */
uint64_t machine_alloc(struct machine *m, uint64_t bytes);
/* A root of tables of four levels; map pages in it. address: in VRAM, or on the bus
 * with PTE_SYSTEM in flags. */
uint64_t machine_root(struct machine *m);
void machine_map(struct machine *m, uint64_t root, uint64_t va, uint64_t address,
                 uint64_t bytes, uint64_t flags);
/* Let address space 0 begin at va with these tables. */
void machine_use_root(struct machine *m, uint64_t root, uint64_t va);
void machine_flush(struct machine *m);

/* A compute queue of address space 0 at me 1, pipe 0, started by registers. Its ring
 * and pointers are in VRAM, known at FB. */
struct machine_queue {
    struct machine *m;
    uint32_t *ring;
    volatile uint64_t *rptr;
    uint64_t put, dwords;
    uint32_t doorbell;
};
void machine_queue(struct machine *m, struct machine_queue *q, unsigned queue);
void machine_submit(struct machine_queue *q, const uint32_t *dw, unsigned n);
/* Fails the test if it does not come true in time. */
void machine_wait(const volatile uint32_t *p, uint32_t value);

/* Packets that run a kernel of one workgroup of 32: code is its address, data what it
 * finds in s[0:1]. Behind it *fence becomes 1. */
unsigned machine_dispatch(uint32_t *dw, uint64_t code, uint64_t data, uint64_t fence);
/* v0 (lane) to s[0:1] + 4 * lane */
extern const uint32_t machine_store_lanes[];
#define MACHINE_STORE_BYTES 24u

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define LO(v)      ((uint32_t)(v))
#define HI(v)      ((uint32_t)((uint64_t)(v) >> 32))
#define PM4(op, n) (3u << 30 | ((uint32_t)(n) - 1) << 16 | (uint32_t)(op) << 8)

#endif
