/* debug.c: what a debugger has asked of the waves of a process, by frames of the
 * scheduler: traps, watched memory, exceptions, halted launches.
 *
 * A process is known by the address of its context, which a driver may name before the
 * process has queues. Addresses that are watched are in registers; what goes with them
 * comes in frames. Invariant: a record is never freed, so dispatches may look at it
 * while they run. SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"

enum { TCP_WATCH = 0x32a8, TCP_WATCH_STEP = 3 }; /* high part, low part, control */

/* SPI_GDBG_PER_VMID_CNTL */
#define LAUNCH_MODE(dw) ((dw) >> 1 & 3)
#define LAUNCH_HALTED   1u
#define LAUNCH_STEPPED  3u
#define EXCEPTIONS(dw)  ((dw) >> 4 & 0x1ff)
#define REPLACE(dw)     ((dw) >> 13 & 1)

/* TCP_WATCHn_CNTL */
#define WATCH_VALID    (1u << 31)
#define WATCH_MODE(dw) ((dw) >> 29 & 3)
#define WATCH_MASK(dw) (((dw) & 0x7fffff) << 7)

#define FLUSH         (1u << 31) /* of flags: the process has gone */
#define DOORBELL_MASK 0x3ffu

/* Lock held. NULL: nobody has asked anything (make: or there is no room). */
static struct debugged *find(struct pci_board *b, uint64_t context, bool make)
{
    struct debugged *free = NULL;
    for (unsigned i = 0; i < PROCESSES; i++) {
        struct debugged *d = &b->debugged[i];
        if (d->context == context)
            return d;
        if (!d->context && !free)
            free = d;
    }
    if (make && free)
        free->context = context;
    return make ? free : NULL;
}

static void clear(struct debugged *d)
{
    d->context = 0;
    d->trap = false;
    atomic_store(&d->watches.set, 0);
    atomic_store(&d->watches.exceptions, 0);
    atomic_store(&d->watches.instead, 0);
    atomic_store(&d->watches.halted, 0);
    atomic_store(&d->watches.stepped, 0);
}

/* The registers of a watch point are the same for all processes: each has its own. */
static void watch(struct pci_board *b, struct gpu_watches *w, unsigned i,
                  uint32_t control)
{
    uint32_t reg = TCP_WATCH + i * TCP_WATCH_STEP, bit = 1u << i;
    if (!(control & WATCH_VALID)) {
        atomic_fetch_and(&w->set, ~bit);
        return;
    }
    atomic_store(&w->at[i].address, regs_pair(b, reg + 1, reg));
    atomic_store(&w->at[i].mask, WATCH_MASK(control));
    atomic_store(&w->at[i].mode, WATCH_MODE(control));
    atomic_fetch_or(&w->set, bit);
}

/* context, flags, SPI_GDBG_PER_VMID_CNTL, controls of watch points, traps */
bool debug_set(struct pci_board *b, const uint32_t *dw)
{
    uint64_t context = dw[0] | (uint64_t)dw[1] << 32;
    bool gone = dw[2] & FLUSH;
    if (!context)
        return true;
    pthread_mutex_lock(&b->lock);
    struct debugged *d = find(b, context, !gone);
    if (d && gone) {
        clear(d);
    } else if (d) {
        atomic_store(&d->watches.exceptions, EXCEPTIONS(dw[3]));
        atomic_store(&d->watches.instead, REPLACE(dw[3]));
        atomic_store(&d->watches.halted, LAUNCH_MODE(dw[3]) == LAUNCH_HALTED);
        atomic_store(&d->watches.stepped, LAUNCH_MODE(dw[3]) == LAUNCH_STEPPED);
        for (unsigned i = 0; i < GPU_WATCHES; i++)
            watch(b, &d->watches, i, dw[4 + i]);
        d->trap = dw[8] & 1;
    }
    pthread_mutex_unlock(&b->lock);
    if (!d && !gone)
        pci_say(b, "the scheduler has no place for one more debugged process");
    return d || gone;
}

void debug_forget(struct pci_board *b, uint64_t context)
{
    pthread_mutex_lock(&b->lock);
    struct debugged *d = context ? find(b, context, false) : NULL;
    if (d)
        clear(d);
    pthread_mutex_unlock(&b->lock);
}

void debug_reset(struct pci_board *b)
{
    pthread_mutex_lock(&b->lock);
    for (unsigned i = 0; i < PROCESSES; i++)
        clear(&b->debugged[i]);
    pthread_mutex_unlock(&b->lock);
}

void debug_traps(void *board, void *owner, struct gpu_traps *traps)
{
    struct pci_board *b = board;
    const struct hqd *q = owner;
    pthread_mutex_lock(&b->lock);
    struct debugged *d = q->context ? find(b, q->context, false) : NULL;
    *traps = (struct gpu_traps){.doorbell = q->doorbell / 2 & DOORBELL_MASK};
    if (q->traps || (d && d->trap)) {
        traps->tba = q->tba;
        traps->tma = q->tma;
    }
    if (d)
        traps->watches = &d->watches;
    pthread_mutex_unlock(&b->lock);
}
