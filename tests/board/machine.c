/* machine.c: see machine.h.
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* v_lshlrev_b32 v1, 2, v0; global_store_b32 v1, v0, s[0:1]; s_endpgm; s_code_end */
const uint32_t machine_store_lanes[] = {0x30020082, 0xdc6a0000, 0x00000001,
                                        0xbfb00000, 0xbf9f0000, 0xbf9f0000};

static void on_msi(void *ctx)
{
    struct machine *m = ctx;
    atomic_fetch_add(&m->interrupts, 1);
}

static void on_say(void *ctx, const char *text)
{
    struct machine *m = ctx;
    pthread_mutex_lock(&m->lock);
    (void)snprintf(m->said, sizeof(m->said), "%s", text);
    pthread_mutex_unlock(&m->lock);
}

bool machine_said(struct machine *m, const char *text)
{
    pthread_mutex_lock(&m->lock);
    bool said = strstr(m->said, text) != NULL;
    pthread_mutex_unlock(&m->lock);
    return said;
}

uint32_t machine_read(struct machine *m, uint32_t reg)
{
    uint32_t v;
    pci_bar_read(m->board, PCI_BAR_REGISTERS, 4ull * reg, &v, sizeof(v));
    return v;
}

void machine_write(struct machine *m, uint32_t reg, uint32_t value)
{
    pci_bar_write(m->board, PCI_BAR_REGISTERS, 4ull * reg, &value, sizeof(value));
}

void machine_doorbell(struct machine *m, uint32_t index, uint64_t value)
{
    pci_bar_write(m->board, PCI_BAR_DOORBELLS, 4ull * index, &value, sizeof(value));
}

uint64_t machine_alloc(struct machine *m, uint64_t bytes)
{
    uint64_t at = m->next;
    m->next += (bytes + MACHINE_PAGE - 1) & ~(MACHINE_PAGE - 1);
    ck_assert_uint_le(m->next, VRAM - (1 << 20));
    memset(m->vram + at, 0, m->next - at);
    return at;
}

uint64_t machine_root(struct machine *m)
{
    return machine_alloc(m, MACHINE_PAGE);
}

static uint64_t *entry(struct machine *m, uint64_t table, uint64_t index)
{
    return machine_entries(m, (table & 0xfffffffff000ull)) + index;
}

void machine_map(struct machine *m, uint64_t root, uint64_t va, uint64_t address,
                 uint64_t bytes, uint64_t flags)
{
    for (uint64_t done = 0; done < bytes; done += MACHINE_PAGE) {
        uint64_t table = root, at = va + done;
        for (unsigned level = 3; level; level--) {
            uint64_t *e = entry(m, table, at >> (12 + 9 * level) & 511);
            if (!(*e & PTE_VALID))
                *e = machine_alloc(m, MACHINE_PAGE) | PTE_VALID;
            table = *e;
        }
        *entry(m, table, at >> 12 & 511) = (address + done) | flags;
    }
}

void machine_use_root(struct machine *m, uint64_t root, uint64_t va)
{
    machine_write(m, 0x2953, LO(root | 1));
    machine_write(m, 0x2954, HI(root));
    machine_write(m, 0x2973, LO(va >> 12));
    machine_write(m, 0x2974, HI(va >> 12));
    machine_write(m, 0x2993, 0xffffffff);
    machine_write(m, 0x2994, 0xf);
    machine_write(m, 0x28e8, 3u << 1 | 1);
    machine_flush(m);
}

void machine_flush(struct machine *m)
{
    machine_write(m, 0x291c, 0xf80001);
    ck_assert_uint_ne(machine_read(m, 0x292e) & 1, 0);
}

/* Interrupts go to a ring of 64 entries. */
static void start_interrupts(struct machine *m)
{
    uint64_t ring = machine_alloc(m, MACHINE_PAGE), back = machine_alloc(m, 8);
    machine_write(m, 0x1121, LO((FB + ring) >> 8));
    machine_write(m, 0x1122, HI((FB + ring) >> 8));
    machine_write(m, 0x1125, HI(FB + back));
    machine_write(m, 0x1126, LO(FB + back));
    machine_write(m, 0x1120, 1u | 9u << 1 | 1u << 8 | 1u << 17);
}

static void create(struct machine *m, double sclk_mhz)
{
    memset(m, 0, sizeof(*m));
    pthread_mutex_init(&m->lock, NULL);
    struct pci_config config = {.vram_bytes = VRAM,
                                .sclk_mhz = sclk_mhz,
                                .ctx = m,
                                .msi = on_msi,
                                .say = on_say};
    ck_assert_int_eq(pci_create(&config, &m->board), RD_OK);
    m->vram = mmap(NULL, VRAM, PROT_READ | PROT_WRITE, MAP_SHARED,
                   pci_vram_file(m->board), 0);
    ck_assert_ptr_ne(m->vram, MAP_FAILED);
    int fd = memfd_create("host", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(fd, HOST), 0);
    m->host = mmap(NULL, HOST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(m->host, MAP_FAILED);
    ck_assert_int_eq(pci_memory_add(m->board, HOST_BUS, HOST, fd, 0, true), RD_OK);
    close(fd);
    m->next = 1 << 20;
    start_interrupts(m);
}

void machine_create(struct machine *m)
{
    create(m, 0);
}

void machine_create_timed(struct machine *m)
{
    create(m, 2500);
}

void machine_destroy(struct machine *m)
{
    pci_destroy(m->board);
    munmap(m->vram, VRAM);
    munmap(m->host, HOST);
    pthread_mutex_destroy(&m->lock);
}

void machine_queue(struct machine *m, struct machine_queue *q, unsigned queue)
{
    uint64_t ring = machine_alloc(m, 65536), pointers = machine_alloc(m, 64);
    *q = (struct machine_queue){.m = m,
                                .ring = machine_words(m, ring),
                                .rptr = machine_entries(m, pointers),
                                .dwords = 65536 / 4,
                                .doorbell = 6 + 2 * queue};
    machine_write(m, 0xa900, 1u << 2 | queue << 8);
    machine_write(m, 0x320c, 0);
    machine_write(m, 0x3211, LO((FB + ring) >> 8));
    machine_write(m, 0x3212, HI((FB + ring) >> 8));
    machine_write(m, 0x3213, 0);
    machine_write(m, 0x3214, LO(FB + pointers));
    machine_write(m, 0x3215, HI(FB + pointers));
    machine_write(m, 0x3216, LO(FB + pointers + 8));
    machine_write(m, 0x3217, HI(FB + pointers + 8));
    machine_write(m, 0x3218, 1u << 30 | q->doorbell << 2);
    machine_write(m, 0x321a, 13); /* 2^14 dwords */
    machine_write(m, 0x323e, 0);
    machine_write(m, 0x323f, 0);
    machine_write(m, 0x3240, 0);
    machine_write(m, 0x320b, 1);
    ck_assert_uint_eq(machine_read(m, 0x320b), 1);
    machine_write(m, 0xa900, 0);
}

void machine_submit(struct machine_queue *q, const uint32_t *dw, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        q->ring[q->put++ % q->dwords] = dw[i];
    machine_doorbell(q->m, q->doorbell, q->put);
}

void machine_wait(const volatile uint32_t *p, uint32_t value)
{
    const struct timespec nap = {0, 100000};
    for (unsigned i = 0; i < 600000; i++) {
        if (__atomic_load_n(p, __ATOMIC_ACQUIRE) == value)
            return;
        nanosleep(&nap, NULL);
    }
    ck_abort_msg("0x%x stays 0x%x", value, *p);
}

unsigned machine_dispatch(uint32_t *dw, uint64_t code, uint64_t data, uint64_t fence)
{
    const uint32_t p[] = {
        PM4(0x76, 3),
        0x20c,
        LO(code >> 8),
        HI(code >> 8),
        PM4(0x76, 3),
        0x212,
        0,
        2u << 1,
        PM4(0x76, 3),
        0x240,
        LO(data),
        HI(data),
        PM4(0x76, 4),
        0x207,
        32,
        1,
        1,
        PM4(0x15, 4),
        1,
        1,
        1,
        0x8005,
        PM4(0x49, 7),
        0x514,
        1u << 29,
        LO(fence),
        HI(fence),
        1,
        0,
        0,
    };
    memcpy(dw, p, sizeof(p));
    return COUNT(p);
}
