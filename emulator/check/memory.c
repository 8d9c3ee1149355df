/* memory.c: init: which bits of LDS, scratch and memory nobody has given a value.
 *
 * A shadow has a byte for each byte, and for each dword whence its undefined bits come;
 * 0: nobody has written them. LDS and scratch begin undefined and have their shadows
 * from the first access on; of memory only pages have one in which something is or was
 * undefined. Where the host writes unseen, memory that nobody has written is filled
 * with CK_HEAP_FILL, and what holds something else has been written. Must not know
 * instructions. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "init.h"

#define PAGE 4096u
#define NEAR 64u /* pages remembered, whether they have a shadow or not */

/* Shadow of consecutive bytes. */
struct shade {
    uint8_t *u;
    uint16_t *from;
    uint32_t *dirty; /* dwords with undefined bits; NULL: nobody counts */
};

struct init_lds {
    uint32_t bytes, dirty;
    uint16_t *from;
    uint8_t u[];
};

struct page {
    uint64_t number;
    uint32_t dirty;
    bool stored; /* kernels have left something undefined */
    uint16_t from[PAGE / 4];
    uint8_t u[PAGE];
};

struct range {
    uint64_t va, end;
    uint64_t number; /* of an allocation; 0: none */
    uint64_t left;   /* pages of it in which something is undefined */
};

struct init_memory {
    struct emu *emu;
    /* ck_config.read; NULL: nobody writes unseen. */
    bool (*read)(void *ctx, uint64_t va, void *to, uint64_t bytes);
    void *ctx;
    bool stored;        /* of any page */
    struct page **slot; /* open addressing; a power of two of them */
    size_t n_slots, n_pages;
    struct range *fresh; /* sorted, disjoint */
    size_t n_fresh;
    uint64_t low, high; /* all pages and ranges lie between */
    uint64_t strays;    /* pages outside of ranges in which something is undefined */
    struct {
        uint64_t number; /* ~0: none */
        struct page *page;
    } near[NEAR];
};

/* ---- consecutive bytes ---- */

static bool shade_read(const struct shade *s, uint64_t at, unsigned bytes, uint8_t *u,
                       uint16_t *from, unsigned *first)
{
    uint64_t found = 0;
    memcpy(u, s->u + at, bytes);
    for (unsigned i = 0; i < bytes; i++)
        found |= u[i];
    if (!found)
        return false;
    for (*first = 0; !u[*first]; ++*first)
        ;
    *from = s->from ? s->from[(at + *first) / 4] : 0;
    return true;
}

static uint32_t word_at(const struct shade *s, uint64_t word)
{
    uint32_t v;
    memcpy(&v, s->u + 4 * word, sizeof v);
    return v;
}

static void shade_write(const struct shade *s, uint64_t at, unsigned bytes,
                        const uint8_t *u, uint16_t from)
{
    for (unsigned done = 0; done < bytes;) {
        uint64_t word = (at + done) / 4;
        unsigned n = 4 - (unsigned)((at + done) & 3u);
        n = n < bytes - done ? n : bytes - done;
        bool before = word_at(s, word) != 0;
        if (u)
            memcpy(s->u + at + done, u + done, n);
        else if (before)
            memset(s->u + at + done, 0, n);
        bool now = (u || before) && word_at(s, word);
        if (s->dirty)
            *s->dirty += (uint32_t)now - (uint32_t)before;
        if (u && now && s->from)
            s->from[word] = from;
        done += n;
    }
}

/* ---- LDS ---- */

static struct init_lds *lds_of(struct ck *ck, struct ck_group *g)
{
    uint32_t bytes = (ck->launch.dispatch->lds_bytes + 3u) & ~3u;
    if (g->init_lds)
        return g->init_lds;
    struct init_lds *l = malloc(sizeof *l + bytes);
    uint16_t *from = calloc(bytes / 4 + 1ul, sizeof *from);
    if (!l || !from) {
        free(l);
        free(from);
        return NULL;
    }
    l->bytes = bytes;
    l->dirty = bytes / 4;
    l->from = from;
    memset(l->u, 0xff, bytes);
    g->init_lds = l;
    return l;
}

void ck_init_group_gone(struct ck_group *g)
{
    if (g->init_lds)
        free(g->init_lds->from);
    free(g->init_lds);
    g->init_lds = NULL;
}

const uint32_t *init_lds_dirty(struct ck *ck, struct ck_group *g)
{
    static const uint32_t clean;
    struct init_lds *l = ck->launch.dispatch->lds_bytes ? lds_of(ck, g) : NULL;
    return l ? &l->dirty : &clean;
}

/* ---- scratch: each lane's bytes side by side ---- */

static bool scratch_of(const struct ck *ck, struct ck_wave *w, unsigned lane,
                       struct shade *s)
{
    struct init_wave *r = w->init;
    size_t each = (ck->launch.dispatch->scratch_bytes + 3u) & ~3u;
    size_t all = each * w->info->lanes;
    if (!r->scratch) {
        r->scratch = malloc(all + 4);
        r->scratch_from = calloc(all / 4 + 1, sizeof *r->scratch_from);
        if (!r->scratch || !r->scratch_from)
            return false;
        memset(r->scratch, 0xff, all);
    }
    *s = (struct shade){.u = r->scratch + lane * each,
                        .from = r->scratch_from + lane * each / 4};
    return r->scratch_from != NULL;
}

/* ---- pages ---- */

static void forget_near(struct init_memory *m)
{
    for (unsigned i = 0; i < NEAR; i++)
        m->near[i].number = UINT64_MAX;
}

struct init_memory *init_memory_create(const struct ck *ck)
{
    struct init_memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->emu = ck->emu;
    m->read = ck->config.host_writes ? ck->config.read : NULL;
    m->ctx = ck->config.ctx;
    forget_near(m);
    return m;
}

static void forget_pages(struct init_memory *m)
{
    for (size_t i = 0; i < m->n_slots; i++)
        free(m->slot[i]);
    free(m->slot);
    m->slot = NULL;
    m->n_slots = m->n_pages = 0;
    m->strays = 0;
    m->stored = false;
    forget_near(m);
}

void init_memory_destroy(struct init_memory *m)
{
    forget_pages(m);
    free(m->fresh);
    free(m);
}

static void reach(struct init_memory *m, uint64_t from, uint64_t to)
{
    m->low = from < m->low || !m->high ? from : m->low;
    m->high = to > m->high ? to : m->high;
}

static size_t slot_of(const struct init_memory *m, uint64_t number)
{
    size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (m->n_slots - 1);
    while (m->slot[i] && m->slot[i]->number != number)
        i = (i + 1) & (m->n_slots - 1);
    return i;
}

static bool grow(struct init_memory *m)
{
    struct init_memory bigger = *m;
    bigger.n_slots = m->n_slots ? 2 * m->n_slots : 64;
    bigger.slot = calloc(bigger.n_slots, sizeof(struct page *));
    if (!bigger.slot)
        return false;
    for (size_t i = 0; i < m->n_slots; i++)
        if (m->slot[i])
            bigger.slot[slot_of(&bigger, m->slot[i]->number)] = m->slot[i];
    free(m->slot);
    m->slot = bigger.slot;
    m->n_slots = bigger.n_slots;
    return true;
}

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

/* The first range that ends behind the address. */
static size_t range_at(const struct init_memory *m, uint64_t address)
{
    size_t lo = 0, hi = m->n_fresh;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (m->fresh[mid].end <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* A page has something undefined in it, or has it no more. */
static void page_turns(struct init_memory *m, const struct page *p)
{
    uint64_t begin = p->number * PAGE, add = p->dirty ? 1 : UINT64_MAX;
    size_t first = range_at(m, begin), i = first;
    for (; i < m->n_fresh && m->fresh[i].va < begin + PAGE; i++)
        m->fresh[i].left += add;
    m->strays += i > first ? 0 : add;
    if (p->dirty)
        emu_memory_marked(m->emu);
}

/* What the host has written of a page: dwords that no longer hold what fresh memory is
 * filled with. all: also of what kernels have stored. */
static void judge(struct init_memory *m, struct page *p, bool all)
{
    uint32_t now[PAGE / 4];
    const struct shade s = {.u = p->u};
    bool known = m->read(m->ctx, p->number * PAGE, now, PAGE);
    for (unsigned i = 0; i < PAGE / 4; i++) {
        if (!word_at(&s, i) || (p->from[i] && !all))
            continue;
        p->from[i] = 0;
        if (known && now[i] == CK_HEAP_FILL)
            continue;
        memset(p->u + 4ul * i, 0, 4);
        p->dirty--;
    }
    p->stored &= !all;
}

static bool is_inside(const struct init_memory *m, const struct page *p)
{
    size_t i = range_at(m, p->number * PAGE);
    return i < m->n_fresh && m->fresh[i].va < (p->number + 1) * PAGE;
}

void init_memory_settle(struct init_memory *m)
{
    for (size_t i = 0; i < m->n_slots && m->stored; i++) {
        struct page *p = m->slot[i];
        if (!p || !p->stored || !p->dirty)
            continue;
        if (is_inside(m, p)) {
            judge(m, p, true);
        } else {
            memset(p->u, 0, sizeof p->u);
            p->stored = false;
            p->dirty = 0;
        }
        if (!p->dirty)
            page_turns(m, p);
    }
    m->stored = false;
}

/* ---- memory that was handed out ---- */

static struct page *page_known(const struct init_memory *m, uint64_t number)
{
    return m->n_slots ? m->slot[slot_of(m, number)] : NULL;
}

/* The part of a range in a page becomes undefined, or defined. */
static void page_set(struct page *p, const struct range *f, bool undefined)
{
    uint64_t begin = p->number * PAGE, end = begin + PAGE;
    uint64_t from = f->va > begin ? f->va : begin, to = f->end < end ? f->end : end;
    const struct shade s = {.u = p->u};
    if (from >= to)
        return;
    memset(p->u + (from - begin), undefined ? 0xff : 0, to - from);
    p->dirty = 0;
    for (unsigned i = 0; i < PAGE / 4; i++) {
        p->dirty += word_at(&s, i) != 0;
        p->from[i] =
            i >= (from - begin) / 4 && i <= (to - begin - 1) / 4 ? 0 : p->from[i];
    }
}

static bool add_range(struct init_memory *m, uint64_t va, uint64_t bytes,
                      uint64_t number)
{
    if (!bytes)
        return true;
    struct range *more = realloc(m->fresh, (m->n_fresh + 1) * sizeof *more);
    if (!more)
        return false;
    m->fresh = more;
    size_t at = range_at(m, va);
    memmove(m->fresh + at + 1, m->fresh + at, (m->n_fresh - at) * sizeof *more);
    struct range *f = m->fresh + at;
    *f = (struct range){.va = va, .end = va + bytes, .number = number};
    m->n_fresh++;
    for (uint64_t page = va / PAGE; page <= (f->end - 1) / PAGE; page++) {
        struct page *p = page_known(m, page);
        f->left += !p || p->dirty;
        if (!p)
            continue;
        bool dirty = p->dirty != 0;
        page_set(p, f, true);
        if (m->read)
            judge(m, p, false);
        if ((p->dirty != 0) != dirty)
            page_turns(m, p);
    }
    reach(m, va, va + bytes);
    emu_memory_marked(m->emu);
    forget_near(m);
    return true;
}

bool init_memory_fresh(struct init_memory *m, uint64_t va, uint64_t bytes)
{
    return add_range(m, va, bytes, 0);
}

static void drop_range(struct init_memory *m, size_t at)
{
    const struct range gone = m->fresh[at];
    for (uint64_t page = gone.va / PAGE; page <= (gone.end - 1) / PAGE; page++) {
        struct page *p = page_known(m, page);
        bool dirty = p && p->dirty;
        if (dirty)
            page_set(p, &gone, false);
        if (dirty && !p->dirty)
            page_turns(m, p);
    }
    m->n_fresh--;
    memmove(m->fresh + at, m->fresh + at + 1, (m->n_fresh - at) * sizeof gone);
}

struct blocks {
    struct range *v;
    size_t n, room;
    bool failed;
};

static void take_block(void *ctx, const struct ck_block *b)
{
    struct blocks *all = ctx;
    if (!b->fresh || !b->size || all->failed)
        return;
    if (all->n == all->room) {
        size_t room = 2 * all->room + 16;
        struct range *bigger = realloc(all->v, room * sizeof *bigger);
        all->failed = !bigger;
        if (!bigger)
            return;
        all->v = bigger;
        all->room = room;
    }
    all->v[all->n++] = (struct range){b->base, b->base + b->size, b->number, 0};
}

/* By address, as the ranges are. Those that were freed go. */
void init_memory_follow(struct init_memory *m, struct ck_heap *heap)
{
    struct blocks now = {.n = 0};
    ck_heap_each(heap, take_block, &now);
    for (size_t i = m->n_fresh; i--;) {
        size_t k = 0;
        while (k < now.n && now.v[k].number != m->fresh[i].number)
            k++;
        if (k == now.n)
            drop_range(m, i);
    }
    for (size_t k = 0; k < now.n; k++) {
        size_t i = range_at(m, now.v[k].va);
        if (i == m->n_fresh || m->fresh[i].number != now.v[k].number)
            (void)add_range(m, now.v[k].va, now.v[k].end - now.v[k].va,
                            now.v[k].number); /* else silent */
    }
    free(now.v);
}

/* A new page, undefined where nobody has written yet; NULL if no memory is left, or
 * nothing of it is undefined and none is needed. */
static struct page *page_new(struct init_memory *m, uint64_t number, bool needed)
{
    uint64_t begin = number * PAGE, end = begin + PAGE;
    size_t first = range_at(m, begin);
    needed |= first < m->n_fresh && m->fresh[first].va < end;
    if (!needed || (4 * m->n_pages >= 3 * m->n_slots && !grow(m)))
        return NULL;
    struct page *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->number = number;
    for (size_t i = first; i < m->n_fresh && m->fresh[i].va < end; i++)
        page_set(p, &m->fresh[i], true);
    if (p->dirty && m->read) {
        judge(m, p, false);
        if (!p->dirty)
            page_turns(m, p);
    }
    m->slot[slot_of(m, number)] = p;
    m->n_pages++;
    reach(m, begin, end);
    return p;
}

static struct page *page_at(struct init_memory *m, uint64_t address, bool needed)
{
    uint64_t number = address / PAGE;
    unsigned near = number % NEAR;
    if (m->near[near].number == number && (m->near[near].page || !needed))
        return m->near[near].page;
    struct page *p = m->n_slots ? m->slot[slot_of(m, number)] : NULL;
    if (!p)
        p = page_new(m, number, needed);
    m->near[near].number = number;
    m->near[near].page = p;
    return p;
}

static bool is_dirty(struct init_memory *m, uint64_t address)
{
    const struct page *p = page_at(m, address, false);
    return p && p->dirty;
}

#define CLIP_PAGES 16u

/* Narrow the range to the page, and if that is clean to its clean neighbours. */
static bool clip_pages(struct init_memory *m, uint64_t address, uint64_t *base,
                       uint64_t *end)
{
    uint64_t low = page_of(address), high = low + PAGE;
    bool clean = !is_dirty(m, address);
    for (unsigned i = 0; clean && i < CLIP_PAGES && low > *base; i++) {
        if (is_dirty(m, low - PAGE))
            break;
        low -= PAGE;
    }
    for (unsigned i = 0; clean && i < CLIP_PAGES && high < *end; i++) {
        if (is_dirty(m, high))
            break;
        high += PAGE;
    }
    *base = low > *base ? low : *base;
    *end = high < *end ? high : *end;
    return clean;
}

/* Narrow [base, end) around an address to below or above [low, high); false: it is
 * inside. */
static bool clip_off(uint64_t address, uint64_t low, uint64_t high, uint64_t *base,
                     uint64_t *end)
{
    if (address >= low && address < high)
        return false;
    if (address < low)
        *end = low < *end ? low : *end;
    else
        *base = high > *base ? high : *base;
    return true;
}

bool init_memory_clip(struct init_memory *m, uint64_t address, uint64_t *base,
                      uint64_t *end)
{
    bool inside = m->strays != 0;
    if (!m->high ||
        clip_off(address, page_of(m->low), page_of(m->high - 1) + PAGE, base, end))
        return true;
    size_t at = range_at(m, page_of(address));
    for (size_t i = at; i < m->n_fresh && page_of(m->fresh[i].va) < *end; i++) {
        const struct range *f = &m->fresh[i];
        inside |= f->left && !clip_off(address, page_of(f->va),
                                       page_of(f->end - 1) + PAGE, base, end);
    }
    for (size_t i = at; i > 0; i--) {
        const struct range *f = &m->fresh[i - 1];
        uint64_t behind = page_of(f->end - 1) + PAGE;
        if (behind <= *base)
            break;
        if (f->left)
            (void)clip_off(address, page_of(f->va), behind, base, end);
    }
    return !inside || clip_pages(m, address, base, end);
}

static bool global_read(struct init_memory *m, const struct init_at *at, uint8_t *u,
                        uint16_t *from, unsigned *first)
{
    bool found = false;
    memset(u, 0, at->bytes);
    for (unsigned done = 0; done < at->bytes;) {
        uint64_t address = at->address + done;
        unsigned n = PAGE - (unsigned)(address % PAGE), where;
        uint16_t whence;
        struct page *p = page_at(m, address, false);
        n = n < at->bytes - done ? n : at->bytes - done;
        const struct shade s = {.u = p ? p->u : NULL, .from = p ? p->from : NULL};
        if (p && p->dirty &&
            shade_read(&s, address % PAGE, n, u + done, &whence, &where) && !found) {
            found = true;
            *from = whence;
            *first = done + where;
        }
        done += n;
    }
    return found;
}

static void global_write(struct init_memory *m, const struct init_at *at,
                         const uint8_t *u, uint16_t from)
{
    for (unsigned done = 0; done < at->bytes;) {
        uint64_t address = at->address + done;
        unsigned n = PAGE - (unsigned)(address % PAGE);
        struct page *p = page_at(m, address, u != NULL);
        n = n < at->bytes - done ? n : at->bytes - done;
        const struct shade s = {.u = p ? p->u : NULL,
                                .from = p ? p->from : NULL,
                                .dirty = p ? &p->dirty : NULL};
        bool dirty = p && p->dirty;
        if (p && (u || p->dirty))
            shade_write(&s, address % PAGE, n, u ? u + done : NULL, from);
        if (p && u)
            m->stored = p->stored = true;
        if (p && (p->dirty != 0) != dirty)
            page_turns(m, p);
        done += n;
    }
}

/* Before bytes are accessed: has the host written them? */
static void confirm(struct init_memory *m, uint64_t address, unsigned bytes)
{
    for (uint64_t at = address & ~UINT64_C(3); at < address + bytes; at += 4) {
        struct page *p = page_at(m, at, false);
        const struct shade s = {.u = p ? p->u : NULL};
        uint64_t word = at % PAGE / 4;
        uint32_t now;
        if (!p || !p->dirty || !word_at(&s, word) || p->from[word] ||
            (m->read(m->ctx, at, &now, sizeof now) && now == CK_HEAP_FILL))
            continue;
        judge(m, p, false);
        if (!p->dirty)
            page_turns(m, p);
    }
}

void init_memory_confirm(struct ck *ck, const struct ck_wave *w,
                         const struct emu_event *e)
{
    struct init_memory *m = ck->init->memory;
    for (unsigned i = 0; i < e->n_accesses && m->read && m->n_fresh; i++) {
        const struct emu_access *a = &e->access[i];
        if (!a->read || a->space != EMU_SPACE_GLOBAL || init_memory_clean(ck, w, a))
            continue;
        for (uint64_t lanes = a->lanes; lanes; lanes &= lanes - 1)
            confirm(m, a->address[__builtin_ctzll(lanes)], a->bytes);
    }
}

/* ---- any ---- */

/* Are all lanes of an access outside of what has shadows, or will have? */
static bool is_outside(const struct init_memory *m, const struct emu_access *a,
                       unsigned lanes)
{
    uint64_t lo = UINT64_MAX, hi = 0;
    for (unsigned l = 0; l < lanes; l++) {
        uint64_t off = 0 - (~a->lanes >> l & 1), at = a->address[l];
        lo = (at | off) < lo ? at | off : lo;
        hi = (at & ~off) > hi ? at & ~off : hi;
    }
    return lo >= m->high || hi + a->bytes <= m->low;
}

bool init_memory_clean(const struct ck *ck, const struct ck_wave *w,
                       const struct emu_access *a)
{
    switch (a->space) {
    case EMU_SPACE_GLOBAL:
        return is_outside(ck->init->memory, a, w->info->lanes);
    case EMU_SPACE_LDS:
        return w->group->init_lds && !w->group->init_lds->dirty;
    default:
        return a->space != EMU_SPACE_SCRATCH;
    }
}

/* The shadow of LDS or scratch; false: there is none, or not so far. */
static bool private_shade(struct ck *ck, const struct init_at *at, struct shade *s)
{
    uint32_t limit = at->space == EMU_SPACE_LDS ? ck->launch.dispatch->lds_bytes
                                                : ck->launch.dispatch->scratch_bytes;
    if (at->address > limit || limit - at->address < at->bytes)
        return false;
    if (at->space == EMU_SPACE_SCRATCH)
        return scratch_of(ck, at->w, at->lane, s);
    struct init_lds *l = at->space == EMU_SPACE_LDS ? lds_of(ck, at->w->group) : NULL;
    if (l)
        *s = (struct shade){.u = l->u, .from = l->from, .dirty = &l->dirty};
    return l != NULL;
}

bool init_memory_read(struct ck *ck, const struct init_at *at, uint8_t *u,
                      uint16_t *from, unsigned *first)
{
    struct shade s;
    if (at->space == EMU_SPACE_GLOBAL)
        return global_read(ck->init->memory, at, u, from, first);
    memset(u, 0, at->bytes);
    return private_shade(ck, at, &s) &&
           shade_read(&s, at->address, at->bytes, u, from, first);
}

void init_memory_write(struct ck *ck, const struct init_at *at, const uint8_t *u,
                       uint16_t from)
{
    struct shade s;
    if (at->space == EMU_SPACE_GLOBAL)
        global_write(ck->init->memory, at, u, from);
    else if (private_shade(ck, at, &s))
        shade_write(&s, at->address, at->bytes, u, from);
}

/* ---- LDS, by instructions that nobody sees ---- */

/* Does the lane access whole elements within LDS, and none that is undefined? */
static bool lane_settles(const struct init_lds *l, const struct emu_access *a,
                         unsigned lane)
{
    uint64_t at = a->address[lane];
    unsigned align = a->bytes & (a->bytes - 1u) ? 16 : a->bytes;
    if (at % align || at > l->bytes || l->bytes - at < a->bytes)
        return false;
    uint8_t found = 0;
    for (unsigned i = 0; i < a->bytes && a->read; i++)
        found |= l->u[at + i];
    return !found;
}

bool init_lds_settle(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct init_lds *l = lds_of(ck, w->group);
    if (!l || l->bytes != ck->launch.dispatch->lds_bytes)
        return false;
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (a->space != EMU_SPACE_LDS || a->read == a->write)
            return false;
        for (uint64_t m = a->lanes; m; m &= m - 1)
            if (!lane_settles(l, a, (unsigned)__builtin_ctzll(m)))
                return false;
    }
    const struct shade s = {.u = l->u, .from = l->from, .dirty = &l->dirty};
    for (unsigned i = 0; i < e->n_accesses; i++)
        for (uint64_t m = e->access[i].write ? e->access[i].lanes : 0; m; m &= m - 1)
            shade_write(&s, e->access[i].address[__builtin_ctzll(m)],
                        e->access[i].bytes, NULL, 0);
    return true;
}
