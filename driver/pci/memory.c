/* memory.c: memory of the host as the board finds it on the bus.
 *
 * Pieces of files, mapped here. Workers keep places for the length of a packet, kernels
 * longer, so a piece that is removed stays mapped until the next reset that finds no
 * queue left; there is a limit to how many. SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

/* Index of the first piece that ends behind an address. Lock held. */
static unsigned lower(const struct pci_board *b, uint64_t bus)
{
    unsigned lo = 0, hi = b->n_memory;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (b->memory[mid].bus + b->memory[mid].bytes <= bus)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static rd_status insert(struct pci_board *b, const struct memory *m)
{
    unsigned at = lower(b, m->bus);
    if (at < b->n_memory && b->memory[at].bus < m->bus + m->bytes)
        return RD_E_EXISTS;
    if (b->n_memory + b->n_gone >= MEMORY_MAX)
        return RD_E_NOMEM;
    memmove(b->memory + at + 1, b->memory + at,
            (b->n_memory + b->n_gone - at) * sizeof(*m));
    b->memory[at] = *m;
    b->n_memory++;
    return RD_OK;
}

rd_status pci_memory_add(struct pci_board *b, uint64_t bus, uint64_t bytes, int fd,
                         uint64_t offset, bool writable)
{
    if (!bytes || bus % PAGE || bytes % PAGE || offset % PAGE || bus + bytes < bus ||
        offset + bytes < offset || offset + bytes > INT64_MAX)
        return RD_E_INVALID;
    struct memory m = {
        .bus = bus, .bytes = bytes, .offset = offset, .writable = writable};
    m.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    off_t size = m.fd < 0 ? -1 : lseek(m.fd, 0, SEEK_END);
    if (size < 0 || (uint64_t)size < offset + bytes) {
        if (m.fd >= 0)
            close(m.fd);
        return RD_E_INVALID;
    }
    void *p = mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED,
                   m.fd, (off_t)offset);
    if (p == MAP_FAILED) {
        close(m.fd);
        return RD_E_NOMEM;
    }
    m.host = p;
    pthread_rwlock_wrlock(&b->memory_lock);
    rd_status st = insert(b, &m);
    pthread_rwlock_unlock(&b->memory_lock);
    if (st != RD_OK) {
        munmap(p, bytes);
        close(m.fd);
    }
    return st;
}

/* The pieces that were removed stand behind the others. */
rd_status pci_memory_remove(struct pci_board *b, uint64_t bus, uint64_t bytes)
{
    rd_status st = RD_E_NOT_FOUND;
    uint64_t end = bus + bytes < bus ? UINT64_MAX : bus + bytes;
    pthread_rwlock_wrlock(&b->memory_lock);
    for (unsigned i = lower(b, bus); i < b->n_memory && b->memory[i].bus < end;) {
        struct memory m = b->memory[i];
        unsigned last = b->n_memory + b->n_gone - 1;
        memmove(b->memory + i, b->memory + i + 1, (last - i) * sizeof(m));
        b->memory[last] = m;
        b->n_memory--;
        b->n_gone++;
        st = RD_OK;
    }
    pthread_rwlock_unlock(&b->memory_lock);
    if (st == RD_OK)
        gpu_flush(b->gpu);
    return st;
}

void memory_sweep(struct pci_board *b)
{
    pthread_rwlock_wrlock(&b->memory_lock);
    for (; b->n_gone; b->n_gone--) {
        const struct memory *m = &b->memory[b->n_memory + b->n_gone - 1];
        munmap(m->host, m->bytes);
        close(m->fd);
    }
    pthread_rwlock_unlock(&b->memory_lock);
}

bool memory_find(struct pci_board *b, uint64_t bus, struct memory *out)
{
    pthread_rwlock_rdlock(&b->memory_lock);
    unsigned at = lower(b, bus);
    bool found = at < b->n_memory && b->memory[at].bus <= bus;
    if (found)
        *out = b->memory[at];
    pthread_rwlock_unlock(&b->memory_lock);
    return found;
}

uint64_t memory_gap(struct pci_board *b, uint64_t bus)
{
    pthread_rwlock_rdlock(&b->memory_lock);
    unsigned at = lower(b, bus);
    uint64_t next = at < b->n_memory ? b->memory[at].bus : UINT64_MAX & ~(PAGE - 1);
    pthread_rwlock_unlock(&b->memory_lock);
    return next > bus ? next - bus : 0;
}

uint8_t *memory_at(struct pci_board *b, uint64_t bus, uint64_t bytes, bool write)
{
    struct memory m;
    if (!memory_find(b, bus, &m) || m.bytes - (bus - m.bus) < bytes ||
        (write && !m.writable))
        return NULL;
    return m.host + (bus - m.bus);
}
