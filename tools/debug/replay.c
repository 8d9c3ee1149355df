/* replay.c: global memory and snapshots, to go back in time.
 *
 * A copy of everything that kernels may write is kept as it was at the last snapshot.
 * Events say which pages were written since; their contents at the snapshot are put
 * aside when the next one is taken. So a snapshot is the waves' state and a list of
 * pages with what was in them, and to go back is to put the pages of all later
 * snapshots back, the last first. Snapshots that are too many are thinned out.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "remote.h"

#define PAGE          4096u
#define MAX_SNAPSHOTS 64u
#define FIRST_EVERY   8192u

struct region {
    uint64_t va, bytes;
    uint8_t *copy;
    uint64_t *dirty; /* a bit a page */
};

struct saved_page {
    uint32_t region, page;
    uint8_t *data;
};

struct snapshot {
    uint64_t step;
    struct emu_snapshot *state;
    struct saved_page *pages; /* what they held then, of those written until the next */
    size_t n;
};

struct memory {
    struct region *regions;
    unsigned n_regions, last; /* the one that was written last */
    struct snapshot *snapshots;
    unsigned n;
    uint64_t every;
    struct saved_page *dirty; /* since the last snapshot; data NULL */
    size_t n_dirty, room;
};

static size_t page_bytes(const struct region *r, uint32_t page)
{
    uint64_t rest = r->bytes - (uint64_t)page * PAGE;
    return rest < PAGE ? (size_t)rest : PAGE;
}

static void *guest(uint64_t va)
{
    return (void *)(uintptr_t)va; // NOLINT: GPU addresses are host pointers
}

static rd_status add_region(struct session *s, const struct emu_mem *from)
{
    struct memory *m = s->memory;
    struct region *bigger =
        realloc(m->regions, (m->n_regions + 1) * sizeof *m->regions);
    if (!bigger)
        return RD_E_NOMEM;
    m->regions = bigger;
    struct region *r = &bigger[m->n_regions];
    *r = (struct region){.va = from->va, .bytes = from->bytes};
    r->copy = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    r->dirty = calloc(r->bytes / PAGE / 64 + 1, sizeof *r->dirty);
    m->n_regions++;
    if (s->remote && r->copy != MAP_FAILED) { /* filled as memory comes */
        remote_keep(s->remote, r->va, r->copy);
        return r->dirty ? RD_OK : RD_E_NOMEM;
    }
    if (r->copy == MAP_FAILED) {
        r->copy = NULL;
        return RD_E_NOMEM;
    }
    static const uint8_t zeros[PAGE];
    for (uint32_t page = 0; (uint64_t)page * PAGE < r->bytes; page++) {
        const uint8_t *at = guest(r->va + (uint64_t)page * PAGE);
        size_t n = page_bytes(r, page);
        if (memcmp(at, zeros, n) != 0) /* pages of zeros cost nothing */
            memcpy(r->copy + (uint64_t)page * PAGE, at, n);
    }
    return r->dirty ? RD_OK : RD_E_NOMEM;
}

rd_status memory_begin(struct session *s)
{
    struct memory *m = calloc(1, sizeof *m);
    struct emu_mem region;
    rd_status st = RD_OK;
    if (!m)
        return RD_E_NOMEM;
    s->memory = m;
    m->every = FIRST_EVERY;
    m->snapshots = calloc(MAX_SNAPSHOTS, sizeof *m->snapshots);
    if (!m->snapshots)
        return RD_E_NOMEM;
    for (uint64_t va = 0; st == RD_OK && emu_mem_next(la_emu(s->la), va, &region);
         va = region.va + 1)
        if (region.perm & EMU_MEM_WRITE)
            st = add_region(s, &region);
    return st;
}

static void free_pages(struct snapshot *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->pages[i].data);
    free(t->pages);
    t->pages = NULL;
    t->n = 0;
}

void memory_end(struct session *s)
{
    struct memory *m = s->memory;
    if (!m)
        return;
    for (unsigned i = 0; i < m->n; i++) {
        free_pages(&m->snapshots[i]);
        emu_snapshot_free(m->snapshots[i].state);
    }
    for (unsigned i = 0; i < m->n_regions; i++) {
        if (m->regions[i].copy)
            munmap(m->regions[i].copy, m->regions[i].bytes);
        free(m->regions[i].dirty);
    }
    free(m->regions);
    free(m->snapshots);
    free(m->dirty);
    free(m);
    s->memory = NULL;
}

/* ---- what is written ---- */

static void mark(struct memory *m, uint32_t region, uint32_t page)
{
    struct region *r = &m->regions[region];
    uint64_t bit = UINT64_C(1) << page % 64;
    if (r->dirty[page / 64] & bit)
        return;
    if (m->n_dirty == m->room) {
        size_t room = m->room ? 2 * m->room : 256;
        struct saved_page *bigger = realloc(m->dirty, room * sizeof *bigger);
        if (!bigger)
            abort(); /* a page that is forgotten would be a wrong past */
        m->dirty = bigger;
        m->room = room;
    }
    r->dirty[page / 64] |= bit;
    m->dirty[m->n_dirty++] = (struct saved_page){region, page, NULL};
}

static void mark_bytes(struct memory *m, uint64_t address, uint64_t bytes)
{
    if (!m->n_regions)
        return;
    for (unsigned k = 0; k < m->n_regions; k++) { /* mostly that of the last time */
        unsigned i = (m->last + k) % m->n_regions;
        const struct region *r = &m->regions[i];
        uint64_t at = address - r->va;
        if (address < r->va || at >= r->bytes)
            continue;
        m->last = i;
        for (uint64_t page = at / PAGE; page <= (at + bytes - 1) / PAGE; page++)
            if (page * PAGE < r->bytes)
                mark(m, i, (uint32_t)page);
        return;
    }
}

void memory_mark(struct session *s, uint64_t address, uint64_t bytes)
{
    mark_bytes(s->memory, address, bytes);
}

void memory_after(struct session *s, const struct emu_event *e)
{
    for (unsigned i = 0; e && i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (a->space != EMU_SPACE_GLOBAL || !a->write)
            continue;
        for (uint64_t l = a->lanes; l; l &= l - 1) {
            uint64_t at = a->address[__builtin_ctzll(l)];
            mark_bytes(s->memory, at, a->bytes);
            if (s->remote)
                remote_written(s->remote, at, a->bytes);
        }
    }
}

static void clear_dirty(struct memory *m)
{
    for (size_t i = 0; i < m->n_dirty; i++)
        m->regions[m->dirty[i].region].dirty[m->dirty[i].page / 64] = 0;
    m->n_dirty = 0;
}

/* ---- snapshots ---- */

/* Put aside what the dirty pages held at the last snapshot; the copy is as of now. */
static rd_status put_aside(struct memory *m, struct snapshot *last)
{
    last->pages = calloc(m->n_dirty + 1, sizeof *last->pages);
    if (!last->pages)
        return RD_E_NOMEM;
    for (size_t i = 0; i < m->n_dirty; i++) {
        struct saved_page *d = &m->dirty[i];
        const struct region *r = &m->regions[d->region];
        uint64_t at = (uint64_t)d->page * PAGE;
        size_t n = page_bytes(r, d->page);
        uint8_t *data = malloc(n);
        if (!data)
            return RD_E_NOMEM;
        memcpy(data, r->copy + at, n);
        memcpy(r->copy + at, guest(r->va + at), n);
        last->pages[last->n++] = (struct saved_page){d->region, d->page, data};
    }
    clear_dirty(m);
    return RD_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct saved_page *x = a, *y = b;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    return x->page != y->page ? (x->page < y->page ? -1 : 1) : 0;
}

/* Take the pages of `from` over into `to`, the snapshot before it: what `to` has
 * already is older. */
static bool merge(struct snapshot *to, struct snapshot *from)
{
    size_t had = to->n;
    struct saved_page *bigger =
        realloc(to->pages, (to->n + from->n + 1) * sizeof *bigger);
    if (!bigger)
        return false;
    to->pages = bigger;
    qsort(bigger, had, sizeof *bigger, by_place);
    for (size_t i = 0; i < from->n; i++) {
        if (had && bsearch(&from->pages[i], bigger, had, sizeof *bigger, by_place))
            continue;
        bigger[to->n++] = from->pages[i];
        from->pages[i].data = NULL;
    }
    free_pages(from);
    emu_snapshot_free(from->state);
    return true;
}

/* Keep every other one; the last stays. */
static void thin_out(struct memory *m)
{
    unsigned n = 1;
    for (unsigned i = 1; i < m->n; i++) {
        if (i % 2 && i + 1 < m->n && merge(&m->snapshots[n - 1], &m->snapshots[i]))
            continue;
        m->snapshots[n++] = m->snapshots[i];
    }
    m->n = n;
    m->every *= 2;
}

rd_status memory_before(struct session *s)
{
    struct memory *m = s->memory;
    rd_status st = RD_OK;
    if (m->n && s->now < m->snapshots[m->n - 1].step + m->every)
        return RD_OK;
    if (m->n == MAX_SNAPSHOTS) {
        thin_out(m);
        if (s->now < m->snapshots[m->n - 1].step + m->every)
            return RD_OK;
    }
    struct emu_snapshot *state;
    st = emu_stepper_save(s->stepper, &state);
    if (st == RD_OK && m->n)
        st = put_aside(m, &m->snapshots[m->n - 1]);
    if (st == RD_OK)
        m->snapshots[m->n++] = (struct snapshot){.step = s->now, .state = state};
    return st;
}

uint64_t memory_snapshot_before(const struct session *s, uint64_t step)
{
    const struct memory *m = s->memory;
    unsigned i = m->n;
    while (i > 1 && m->snapshots[i - 1].step >= step)
        i--;
    return m->snapshots[i - 1].step;
}

void memory_restore(struct session *s, uint64_t step)
{
    struct memory *m = s->memory;
    for (size_t i = 0; i < m->n_dirty; i++) {
        const struct saved_page *d = &m->dirty[i];
        const struct region *r = &m->regions[d->region];
        uint64_t at = (uint64_t)d->page * PAGE;
        memcpy(guest(r->va + at), r->copy + at, page_bytes(r, d->page));
    }
    clear_dirty(m);
    while (m->n > 1 && m->snapshots[m->n - 1].step > step) {
        struct snapshot *t = &m->snapshots[--m->n];
        emu_snapshot_free(t->state);
        free_pages(t);
        t = &m->snapshots[m->n - 1];
        for (size_t i = 0; i < t->n; i++) {
            const struct saved_page *d = &t->pages[i];
            const struct region *r = &m->regions[d->region];
            uint64_t at = (uint64_t)d->page * PAGE;
            memcpy(guest(r->va + at), d->data, page_bytes(r, d->page));
            memcpy(r->copy + at, d->data, page_bytes(r, d->page));
        }
        free_pages(t);
    }
    emu_stepper_restore(s->stepper, m->snapshots[m->n - 1].state);
    s->now = m->snapshots[m->n - 1].step;
    s->at_end = s->at_fault = false;
    inputs_rewind(s);
    if (s->remote)
        remote_went_back(s->remote);
}
