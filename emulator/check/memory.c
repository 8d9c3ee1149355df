/* memory.c: init: which bits of LDS, scratch and memory nobody has given a value.
 *
 * A shadow has a byte for each byte, and for each dword whence its undefined bits come;
 * 0: nobody has written them. LDS and scratch begin undefined and have their shadows
 * from the first access on; of memory only pages have one in which something is or was
 * undefined. Must not know instructions. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

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
    uint16_t from[PAGE / 4];
    uint8_t u[PAGE];
};

struct range {
    uint64_t va, end;
    uint64_t left; /* pages of it in which something is undefined */
};

struct init_memory {
    struct emu *emu;
    struct page **slot; /* open addressing; a power of two of them */
    size_t n_slots, n_pages;
    struct range *fresh;
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

struct init_memory *init_memory_create(struct emu *emu)
{
    struct init_memory *m = calloc(1, sizeof *m);
    if (m)
        m->emu = emu;
    for (unsigned i = 0; m && i < NEAR; i++)
        m->near[i].number = UINT64_MAX;
    return m;
}

void init_memory_forget(struct init_memory *m)
{
    for (size_t i = 0; i < m->n_slots; i++)
        free(m->slot[i]);
    free(m->slot);
    m->slot = NULL;
    m->n_slots = m->n_pages = m->n_fresh = 0;
    m->low = m->high = m->strays = 0;
    for (unsigned i = 0; i < NEAR; i++)
        m->near[i].number = UINT64_MAX;
}

void init_memory_destroy(struct init_memory *m)
{
    init_memory_forget(m);
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

bool init_memory_fresh(struct init_memory *m, uint64_t va, uint64_t bytes)
{
    if (!bytes)
        return true;
    struct range *more = realloc(m->fresh, (m->n_fresh + 1) * sizeof *more);
    if (!more)
        return false;
    m->fresh = more;
    m->fresh[m->n_fresh++] = (struct range){
        va, va + bytes, (page_of(va + bytes - 1) - page_of(va)) / PAGE + 1};
    reach(m, va, va + bytes);
    emu_memory_marked(m->emu);
    for (unsigned i = 0; i < NEAR; i++)
        m->near[i].number = UINT64_MAX;
    return true;
}

/* A new page, undefined where nobody has written yet; NULL if no memory is left, or
 * nothing of it is undefined and none is needed. */
static struct page *page_new(struct init_memory *m, uint64_t number, bool needed)
{
    uint64_t begin = number * PAGE, end = begin + PAGE;
    for (size_t i = 0; i < m->n_fresh; i++)
        needed |= m->fresh[i].va < end && m->fresh[i].end > begin;
    if (!needed || (4 * m->n_pages >= 3 * m->n_slots && !grow(m)))
        return NULL;
    struct page *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->number = number;
    for (size_t i = 0; i < m->n_fresh; i++) {
        uint64_t from = m->fresh[i].va > begin ? m->fresh[i].va : begin,
                 to = m->fresh[i].end < end ? m->fresh[i].end : end;
        if (from < to)
            memset(p->u + (from - begin), 0xff, to - from);
    }
    const struct shade s = {.u = p->u};
    for (unsigned i = 0; i < PAGE / 4; i++)
        p->dirty += word_at(&s, i) != 0;
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

/* A page has something undefined in it, or has it no more. */
static void page_turns(struct init_memory *m, const struct page *p, bool dirty)
{
    uint64_t begin = p->number * PAGE, add = dirty ? 1 : UINT64_MAX;
    bool inside = false;
    for (size_t i = 0; i < m->n_fresh; i++)
        if (m->fresh[i].va < begin + PAGE && m->fresh[i].end > begin) {
            m->fresh[i].left += add;
            inside = true;
        }
    m->strays += inside ? 0 : add;
    if (dirty)
        emu_memory_marked(m->emu);
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
    for (size_t i = 0; i < m->n_fresh; i++) {
        const struct range *f = &m->fresh[i];
        inside |= f->left && !clip_off(address, page_of(f->va),
                                       page_of(f->end - 1) + PAGE, base, end);
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
        if (p && (p->dirty != 0) != dirty)
            page_turns(m, p, !dirty);
        done += n;
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
