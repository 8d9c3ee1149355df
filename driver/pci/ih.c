/* ih.c: the interrupt handler: entries in a ring in memory, then the bus interrupt.
 *
 * An entry is stored, then the write pointer, then the interrupt is raised. A ring that
 * is full loses entries and says so. The second ring stays empty.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"

enum {
    IH_RB_CNTL = 0x1120,
    IH_RB_BASE = 0x1121,
    IH_RB_BASE_HI = 0x1122,
    IH_RB_RPTR = 0x1123,
    IH_RB_WPTR_ADDR_HI = 0x1125,
    IH_RB_WPTR_ADDR_LO = 0x1126,
    IH_DOORBELL_RPTR = 0x1127,
};

#define CNTL_ENABLE         1u
#define CNTL_SIZE(dw)       ((dw) >> 1 & 31) /* log2 of its dwords */
#define CNTL_WRITE_BACK     (1u << 8)
#define CNTL_INTERRUPT      (1u << 17)
#define CNTL_SPACE(dw)      ((dw) >> 28 & 7)
#define CNTL_CLEAR_OVERFLOW (1u << 31)
#define SPACE_BUS           2u
#define WPTR_OVERFLOW       1u
#define DOORBELL_ENABLE     (1u << 28)
#define DOORBELL_INDEX      0x3ffffffu
#define ENTRY_BYTES         32u

void ih_init(struct pci_board *b)
{
    pthread_mutex_init(&b->ih.lock, NULL);
}

void ih_reset(struct pci_board *b)
{
    pthread_mutex_lock(&b->ih.lock);
    b->ih.wptr = 0;
    b->ih.overflow = false;
    pthread_mutex_unlock(&b->ih.lock);
}

uint32_t ih_wptr_read(struct pci_board *b, uint32_t reg)
{
    (void)reg;
    pthread_mutex_lock(&b->ih.lock);
    uint32_t value = b->ih.wptr | (b->ih.overflow ? WPTR_OVERFLOW : 0);
    pthread_mutex_unlock(&b->ih.lock);
    return value;
}

void ih_wptr_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    (void)reg;
    pthread_mutex_lock(&b->ih.lock);
    b->ih.wptr = value & ~(ENTRY_BYTES - 1);
    pthread_mutex_unlock(&b->ih.lock);
}

void ih_rptr_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value);
}

void ih_control_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    if (value & CNTL_CLEAR_OVERFLOW) {
        pthread_mutex_lock(&b->ih.lock);
        b->ih.overflow = false;
        pthread_mutex_unlock(&b->ih.lock);
    }
    regs_set(b, reg, value & ~CNTL_CLEAR_OVERFLOW);
}

bool ih_doorbell(struct pci_board *b, uint32_t index, uint32_t value)
{
    uint32_t doorbell = regs_get(b, IH_DOORBELL_RPTR);
    if (!(doorbell & DOORBELL_ENABLE) || (doorbell & DOORBELL_INDEX) != index)
        return false;
    regs_set(b, IH_RB_RPTR, value);
    return true;
}

/* To the ring, which may be given by bus addresses. */
static bool put(struct pci_board *b, uint32_t cntl, uint64_t at, const void *from,
                uint32_t bytes)
{
    if (CNTL_SPACE(cntl) != SPACE_BUS)
        return gmc_write(b, at, from, bytes);
    uint8_t *host = memory_at(b, at, bytes, true);
    if (host)
        memcpy(host, from, bytes);
    return host;
}

static void fill(struct pci_board *b, const struct ih_entry *e, uint32_t dw[8])
{
    uint64_t now = gpu_clock(b->gpu);
    dw[0] = e->client | e->source << 8 | e->ring << 16 | e->vmid << 24;
    dw[1] = (uint32_t)now;
    dw[2] = (uint32_t)(now >> 32 & 0xffff);
    dw[3] = e->pasid;
    memcpy(dw + 4, e->data, sizeof(e->data));
}

/* Lock held. False: nobody is to be told. */
static bool store(struct pci_board *b, const struct ih_entry *e)
{
    uint32_t cntl = regs_get(b, IH_RB_CNTL), dw[8];
    uint64_t base = regs_pair(b, IH_RB_BASE, IH_RB_BASE_HI) << 8;
    uint32_t bytes = 4u << (CNTL_SIZE(cntl) < 24 ? CNTL_SIZE(cntl) : 24);
    if (!(cntl & CNTL_ENABLE) || bytes < 2 * ENTRY_BYTES)
        return false;
    uint32_t at = b->ih.wptr & (bytes - 1), next = (at + ENTRY_BYTES) & (bytes - 1);
    if (next == (regs_get(b, IH_RB_RPTR) & (bytes - 1) & ~(ENTRY_BYTES - 1))) {
        b->ih.overflow = true;
    } else {
        fill(b, e, dw);
        if (!put(b, cntl, base + at, dw, sizeof(dw)))
            return false;
        b->ih.wptr = next;
    }
    uint32_t wptr = b->ih.wptr | (b->ih.overflow ? WPTR_OVERFLOW : 0);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (cntl & CNTL_WRITE_BACK)
        (void)put(b, cntl,
                  regs_pair(b, IH_RB_WPTR_ADDR_LO, IH_RB_WPTR_ADDR_HI) &
                      0xffffffffffffull,
                  &wptr, sizeof(wptr));
    return cntl & CNTL_INTERRUPT;
}

void ih_raise(struct pci_board *b, const struct ih_entry *e)
{
    pthread_mutex_lock(&b->ih.lock);
    bool tell = store(b, e);
    pthread_mutex_unlock(&b->ih.lock);
    if (tell && b->config.msi)
        b->config.msi(b->config.ctx);
}
