/* mirror.c: what kernels of an address space see, mapped where the emulator finds it.
 *
 * Host address space is reserved for each window of guest addresses that is in use, and
 * pages of VRAM and host memory are mapped there in the order in which page tables have
 * them; so what is together for the guest is together here, and nothing is copied.
 * Looked at before each dispatch, and where a kernel finds nothing, or what it may not
 * access, and tables say otherwise: only what has changed since the last look is mapped
 * anew. Kernels that run meanwhile go on with what stays.
 *
 * Invariants: runs are sorted and disjoint, regions too; each region lies in one window
 * and is covered by runs without a gap.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

#define WINDOW_BITS  36u /* of guest addresses that are reserved together */
#define WINDOW_BYTES (1ull << WINDOW_BITS)
#define MAX_WINDOWS  64u
#define MAX_MAPPINGS 56000u /* of all spaces: Linux allows a program 65530 */
#define MAX_REGION   (1ull << 30)

struct window {
    uint64_t va;
    uint8_t *host;
};

struct region {
    uint64_t va, end;
    unsigned perm;
};

struct runs {
    struct gmc_run *v;
    size_t n, cap;
    uint32_t mappings; /* of the host: a gap between runs is one, too */
    bool failed;
};

struct mirror {
    pthread_mutex_t lock;
    struct window window[MAX_WINDOWS];
    unsigned n_windows;
    struct runs now, next;
    struct runs gone, come; /* from the one to the other */
    struct region *regions;
    size_t n_regions, cap_regions;
    bool complained;
};

static struct mirror *mirror_of(struct pci_board *b, unsigned space)
{
    pthread_mutex_lock(&b->mirror_lock);
    struct mirror *m = b->mirror[space];
    if (!m && (m = calloc(1, sizeof(*m)))) {
        pthread_mutex_init(&m->lock, NULL);
        b->mirror[space] = m;
    }
    pthread_mutex_unlock(&b->mirror_lock);
    return m;
}

/* Where nothing is. A kernel of another queue may be inside an access to what has just
 * gone, or decode it: that finds zeros, and what it writes is lost. Where a host counts
 * memory that nobody has touched, there is nothing that can be accessed. */
static void *nowhere(void *at, uint64_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return p != MAP_FAILED ? p : mmap(at, bytes, PROT_NONE, flags, -1, 0);
}

/* Host address of a guest's; NULL: there is no more room. */
static uint8_t *host_of(struct mirror *m, uint64_t va)
{
    uint64_t first = va & ~(WINDOW_BYTES - 1);
    for (unsigned i = 0; i < m->n_windows; i++)
        if (m->window[i].va == first)
            return m->window[i].host + (va - first);
    if (m->n_windows == MAX_WINDOWS)
        return NULL;
    void *p = nowhere(NULL, WINDOW_BYTES);
    if (p == MAP_FAILED)
        return NULL;
    m->window[m->n_windows++] = (struct window){first, p};
    return (uint8_t *)p + (va - first);
}

/* ---- what tables say ---------------------------------------------------------------
 */

static bool add_run(struct runs *r, const struct gmc_run *run)
{
    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 256;
        struct gmc_run *v = realloc(r->v, cap * sizeof(*v));
        if (!v)
            return false;
        r->v = v;
        r->cap = cap;
    }
    r->v[r->n++] = *run;
    return true;
}

/* Count the mappings of one more run; false: there are no more to be had. */
static bool take_mappings(struct pci_board *b, struct runs *r,
                          const struct gmc_run *run)
{
    const struct gmc_run *last = r->n ? &r->v[r->n - 1] : NULL;
    uint32_t more = last && last->va + last->bytes == run->va ? 1 : 2;
    if (atomic_fetch_add(&b->mappings, more) + more > MAX_MAPPINGS) {
        atomic_fetch_sub(&b->mappings, more);
        return false;
    }
    r->mappings += more;
    return true;
}

struct collect {
    struct pci_board *b;
    struct runs *to;
};

/* Cut a run at pieces of memory. False: there is none for it. */
static bool has_memory(struct pci_board *b, struct gmc_run *r)
{
    uint64_t vram = b->config.vram_bytes;
    struct memory m;
    if (!r->system) {
        if (r->address >= vram)
            return false;
        r->bytes = vram - r->address < r->bytes ? vram - r->address : r->bytes;
        return true;
    }
    bool there = memory_find(b, r->address, &m);
    uint64_t rest = there ? m.bytes - (r->address - m.bus) : memory_gap(b, r->address);
    rest = rest ? rest : PAGE; /* some has come meanwhile */
    r->bytes = r->bytes < rest ? r->bytes : rest;
    r->perm = there && !m.writable ? r->perm & ~GPU_WRITE : r->perm;
    return there;
}

/* The part of a run that memory is there for, cut at windows and pieces of memory. */
static bool collect(void *ctx, const struct gmc_run *whole)
{
    struct collect *c = ctx;
    struct gmc_run r = *whole;
    for (uint64_t left = whole->bytes; left;
         r.va += r.bytes, r.address += r.bytes, left -= r.bytes) {
        uint64_t window = WINDOW_BYTES - (r.va & (WINDOW_BYTES - 1));
        r.bytes = left < window ? left : window;
        bool there = has_memory(c->b, &r);
        if (there && (!take_mappings(c->b, c->to, &r) || !add_run(c->to, &r))) {
            c->to->failed = true;
            return false;
        }
    }
    return true;
}

/* ---- regions of the emulator -------------------------------------------------------
 */

static bool region_add(struct pci_board *b, struct mirror *m, unsigned space,
                       const struct region *r)
{
    if (m->n_regions == m->cap_regions) {
        size_t cap = m->cap_regions ? 2 * m->cap_regions : 64;
        struct region *v = realloc(m->regions, cap * sizeof(*v));
        if (!v)
            return false;
        m->regions = v;
        m->cap_regions = cap;
    }
    if (gpu_space_place(b->gpu, space, r->va, host_of(m, r->va), r->end - r->va,
                        r->perm, "guest memory") != RD_OK)
        return false;
    size_t at = m->n_regions;
    while (at && m->regions[at - 1].va > r->va)
        at--;
    memmove(m->regions + at + 1, m->regions + at, (m->n_regions - at) * sizeof(*r));
    m->regions[at] = *r;
    m->n_regions++;
    return true;
}

/* The first region that does not end before an address. */
static size_t region_at(const struct mirror *m, uint64_t va)
{
    size_t low = 0, high = m->n_regions;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (m->regions[mid].end <= va)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Take [va, end) out of the regions. */
static void region_cut(struct pci_board *b, struct mirror *m, unsigned space,
                       uint64_t va, uint64_t end)
{
    for (size_t i = region_at(m, va); i < m->n_regions && m->regions[i].va < end;) {
        struct region r = m->regions[i];
        if (r.end <= va) { /* what this loop has left before it */
            i++;
            continue;
        }
        uint64_t from = r.va > va ? r.va : va, to = r.end < end ? r.end : end;
        (void)!gpu_space_cut(b->gpu, space, r.va, r.end - r.va, from, to, r.perm);
        struct region before = {r.va, from, r.perm}, behind = {to, r.end, r.perm};
        memmove(m->regions + i, m->regions + i + 1, (--m->n_regions - i) * sizeof(r));
        const struct region *parts[] = {&before, &behind};
        for (unsigned k = 0; k < 2; k++) {
            if (parts[k]->va == parts[k]->end)
                continue;
            if (m->n_regions == m->cap_regions) {
                size_t cap = 2 * m->cap_regions;
                struct region *v = realloc(m->regions, cap * sizeof(*v));
                if (!v)
                    continue;
                m->regions = v;
                m->cap_regions = cap;
            }
            memmove(m->regions + i + 1, m->regions + i, (m->n_regions - i) * sizeof(r));
            m->regions[i++] = *parts[k];
            m->n_regions++;
        }
    }
}

/* ---- bringing up to date -----------------------------------------------------------
 */

static bool same(const struct gmc_run *a, const struct gmc_run *b)
{
    return a->va == b->va && a->bytes == b->bytes && a->system == b->system &&
           a->address == b->address && a->perm == b->perm;
}

/* Where both are, they say the same. */
static bool alike(const struct gmc_run *a, const struct gmc_run *b)
{
    return a->system == b->system && a->perm == b->perm &&
           a->address - a->va == b->address - b->va;
}

static bool add_part(struct runs *to, const struct gmc_run *r, uint64_t va,
                     uint64_t end)
{
    struct gmc_run part = *r;
    part.va = va;
    part.address += va - r->va;
    part.bytes = end - va;
    return va >= end || add_run(to, &part);
}

/* What a says and b does not. What both say stays as it is, also where runs have grown
 * or been cut: kernels of other queues are at work there. */
static bool difference(const struct runs *a, const struct runs *b, struct runs *to)
{
    size_t first = 0;
    to->n = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct gmc_run *r = &a->v[i];
        uint64_t at = r->va, end = r->va + r->bytes;
        while (first < b->n && b->v[first].va + b->v[first].bytes <= at)
            first++;
        for (size_t k = first; k < b->n && b->v[k].va < end; k++) {
            const struct gmc_run *o = &b->v[k];
            if (!alike(r, o))
                continue;
            if (!add_part(to, r, at, o->va))
                return false;
            at = o->va + o->bytes;
        }
        if (!add_part(to, r, at, end))
            return false;
    }
    return true;
}

/* The run that holds an address, or NULL. */
static const struct gmc_run *run_at(const struct runs *runs, uint64_t va)
{
    size_t low = 0, high = runs->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (runs->v[mid].va + runs->v[mid].bytes <= va)
            low = mid + 1;
        else
            high = mid;
    }
    return low < runs->n && runs->v[low].va <= va ? &runs->v[low] : NULL;
}

static void leave(struct mirror *m, const struct gmc_run *r)
{
    uint8_t *host = host_of(m, r->va);
    if (host)
        (void)nowhere(host, r->bytes); /* what stays mapped is in no region */
}

/* What comes in the place of all of it is mapped over it at once: kernels are at work
 * where only permissions change. */
static void drop_run(struct pci_board *b, struct mirror *m, unsigned space,
                     const struct gmc_run *r)
{
    const struct gmc_run *over = run_at(&m->come, r->va);
    region_cut(b, m, space, r->va, r->va + r->bytes);
    if (!over || over->va + over->bytes < r->va + r->bytes)
        leave(m, r);
}

/* Map a run, over what is there. Past libc, whose mmap() thread sanitizers take for a
 * write to every page: kernels may be at work there, and their bytes stay. */
static bool map_run(struct pci_board *b, struct mirror *m, const struct gmc_run *r)
{
    uint8_t *host = host_of(m, r->va);
    struct memory piece = {.fd = b->vram_fd, .writable = true};
    if (!host || (r->system && !memory_find(b, r->address, &piece)))
        return false;
    int prot = PROT_READ | (piece.writable ? PROT_WRITE : 0);
    off_t offset = (off_t)(r->address - piece.bus + piece.offset);
    return syscall(SYS_mmap, host, r->bytes, prot, MAP_SHARED | MAP_FIXED, piece.fd,
                   offset) != -1;
}

/* Make regions of new runs that lie together. */
static bool place_new(struct pci_board *b, struct mirror *m, unsigned space,
                      struct region *open, const struct gmc_run *r)
{
    if (r && open->end == r->va && open->perm == r->perm && r->va % WINDOW_BYTES &&
        open->end - open->va + r->bytes <= MAX_REGION) {
        open->end += r->bytes;
        return true;
    }
    bool ok = open->end == open->va || region_add(b, m, space, open);
    if (r)
        *open = (struct region){r->va, r->va + r->bytes, r->perm};
    return ok;
}

static bool update(struct pci_board *b, struct mirror *m, unsigned space)
{
    struct region open = {0};
    bool ok = true;
    /* What goes comes first: what is new may lie over it. From the end on: so little is
     * moved in the list of regions. */
    for (size_t i = m->gone.n; i--;)
        drop_run(b, m, space, &m->gone.v[i]);
    for (size_t i = 0; i < m->come.n; i++)
        if (map_run(b, m, &m->come.v[i]))
            ok = place_new(b, m, space, &open, &m->come.v[i]) && ok;
        else {
            leave(m, &m->come.v[i]);
            ok = false;
        }
    return place_new(b, m, space, &open, NULL) && ok;
}

static bool unchanged(const struct runs *a, const struct runs *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!same(&a->v[i], &b->v[i]))
            return false;
    return true;
}

void mirror_refresh(void *board, unsigned space)
{
    struct pci_board *b = board;
    struct mirror *m = mirror_of(b, space);
    struct space_root root;
    if (!m || !gmc_root(b, space, &root))
        return;
    pthread_mutex_lock(&m->lock);
    m->next.n = m->next.mappings = 0;
    m->next.failed = false;
    atomic_fetch_sub(&b->mappings, m->now.mappings);
    struct collect c = {b, &m->next};
    bool ok = gmc_scan(b, &root, collect, &c) && !m->next.failed;
    if (!unchanged(&m->now, &m->next)) {
        ok = difference(&m->now, &m->next, &m->gone) &&
             difference(&m->next, &m->now, &m->come) && ok;
        ok = update(b, m, space) && ok;
        struct runs last = m->now;
        m->now = m->next;
        m->next = last;
    }
    if (!ok && !m->complained) {
        m->complained = true;
        pci_say(b, "address space %u is too scattered: kernels do not see all of it",
                space);
    }
    pthread_mutex_unlock(&m->lock);
}

/* Does what was seen at a page differ from what tables say? */
static bool page_differs(struct pci_board *b, struct mirror *m,
                         const struct space_root *root, uint64_t va)
{
    struct gmc_run page = {0};
    bool there = gmc_run_at(b, root, va, &page) && has_memory(b, &page);
    pthread_mutex_lock(&m->lock);
    const struct gmc_run *seen = run_at(&m->now, va);
    bool differs = there != (seen != NULL) || (seen && !alike(seen, &page));
    pthread_mutex_unlock(&m->lock);
    return differs;
}

void mirror_page(void *board, unsigned space, uint64_t va)
{
    struct pci_board *b = board;
    struct mirror *m = mirror_of(b, space);
    struct space_root root;
    va &= (1ull << SPACE_BITS) - 1;
    if (m && gmc_root(b, space, &root) && page_differs(b, m, &root, va))
        mirror_refresh(b, space);
}

void mirror_close(struct pci_board *b, unsigned space)
{
    pthread_mutex_lock(&b->mirror_lock);
    struct mirror *m = b->mirror[space];
    b->mirror[space] = NULL;
    pthread_mutex_unlock(&b->mirror_lock);
    gpu_space_close(b->gpu, space);
    if (!m)
        return;
    for (unsigned i = 0; i < m->n_windows; i++)
        munmap(m->window[i].host, WINDOW_BYTES);
    atomic_fetch_sub(&b->mappings, m->now.mappings);
    pthread_mutex_destroy(&m->lock);
    free(m->now.v);
    free(m->next.v);
    free(m->gone.v);
    free(m->come.v);
    free(m->regions);
    free(m);
}
