/* shadow.c: shadow memory: a hash table of areas of blocks, a table of sites.
 *
 * Must not know what is a race. A block is split when something is touched that is no
 * whole dword; its values then stand for halves of dwords or for bytes. When the table
 * of sites is full, those that no value means any more are dropped, and the others get
 * new numbers. SPDX-License-Identifier: MIT
 */
#include "shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_BYTES (1u << 20)
#define CHUNK_FIRST (1u << 14)
#define SITES_FIRST 1024u
#define SITES_MOST  (1u << (32 - SHADOW_LANE))
#define BYTES_KEPT  (1u << 20) /* at least, of blocks that nobody touches */
#define AREAS_FEW   16u        /* with memory of their own each */
#define PIECE_BYTES (2ul << 20)

enum size { SIZE_DWORDS, SIZE_HALVES, SIZE_BYTES, SIZES };
static const size_t bytes_of[SIZES] = {SHADOW_BLOCK, 2ul * SHADOW_BLOCK,
                                       4ul * SHADOW_BLOCK};

struct shadow_chunk {
    struct shadow_chunk *next;
    size_t used, bytes;
    char memory[];
};

/* ---- memory ---- */

/* A huge page, if the host has them: what follows kernels through memory would wait for
 * its tables of pages. */
struct shadow_piece {
    struct shadow_piece *next;
    size_t used;
};

/* Zeroed. */
static void *take(struct shadow *s, enum size size)
{
    size_t n = bytes_of[size];
    void *spare = s->spare[size];
    if (spare) {
        memcpy(&s->spare[size], spare, sizeof spare);
        return memset(spare, 0, bytes_of[size]);
    }
    struct shadow_chunk *c = s->chunk;
    if (!c || c->bytes - c->used < n) {
        size_t bytes = c ? 4 * c->bytes : CHUNK_FIRST;
        bytes = bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
        c = calloc(1, sizeof *c + bytes);
        if (!c)
            return NULL;
        c->next = s->chunk;
        c->bytes = bytes;
        s->chunk = c;
    }
    void *out = c->memory + c->used;
    c->used += n;
    s->bytes += n;
    return out;
}

static void give(struct shadow *s, enum size size, void *memory)
{
    if (!memory)
        return;
    memcpy(memory, &s->spare[size], sizeof(void *));
    s->spare[size] = memory;
}

static enum size size_of(unsigned shift)
{
    return (enum size)(2 - shift);
}

/* The block has none, and values for dwords. */
static void drop_planes(struct shadow *s, struct shadow_block *b)
{
    for (unsigned i = 0; i < SHADOW_PLANES; i++) {
        give(s, size_of(b->shift), b->plane[i]);
        b->plane[i] = NULL;
        b->top[i] = 0;
        b->apart[i] = 0;
    }
    b->made = false;
    memset(b->line, 0, sizeof b->line);
    b->shift = 2;
}

/* ---- the whole ---- */

struct shadow *shadow_create(void)
{
    struct shadow *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n_slots = 64;
    s->slot = calloc(s->n_slots, sizeof(struct shadow_area *));
    s->n = s->dead = s->epoch = 1;
    if (!s->slot) {
        free(s);
        return NULL;
    }
    return s;
}

static void clear(struct shadow *s)
{
    for (size_t i = 0; i < s->n_slots; i++)
        while (s->slot[i]) {
            struct shadow_area *area = s->slot[i];
            s->slot[i] = area->next;
            free(area->memory);
        }
    while (s->piece) {
        struct shadow_piece *p = s->piece;
        s->piece = p->next;
        (void)munmap(p, PIECE_BYTES);
    }
    memset(s->slot, 0, s->n_slots * sizeof(struct shadow_area *));
    memset(s->spare, 0, sizeof s->spare);
    memset(s->front, 0, sizeof s->front);
    while (s->chunk) {
        struct shadow_chunk *c = s->chunk;
        s->chunk = c->next;
        free(c);
    }
    shadow_free_reads(s);
    free(s->site);
    s->site = NULL;
    s->n_areas = s->n_blocks = s->bytes = s->room = 0;
    s->n = 1;
}

void shadow_begin(struct shadow *s)
{
    const size_t each = sizeof(struct shadow_block);
    size_t all = s->bytes + each * s->n_blocks,
           touched = s->touched + each * s->n_touched;
    if (s->n > SITES_MOST / 2 || all > 4 * touched + BYTES_KEPT)
        clear(s);
    s->dead = s->n;
    s->epoch++;
    s->touched = s->n_touched = 0;
}

void shadow_destroy(struct shadow *s)
{
    if (!s)
        return;
    clear(s);
    free(s->slot);
    free(s);
}

/* ---- blocks ---- */

static size_t slot_of(const struct shadow *s, uint64_t number)
{
    return (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (s->n_slots - 1);
}

/* More slots than areas; where there is no memory for it, longer lists. */
static void grow(struct shadow *s)
{
    struct shadow bigger = {.n_slots = 4 * s->n_slots};
    bigger.slot = calloc(bigger.n_slots, sizeof(struct shadow_area *));
    if (!bigger.slot)
        return;
    for (size_t i = 0; i < s->n_slots; i++)
        while (s->slot[i]) {
            struct shadow_area *area = s->slot[i];
            s->slot[i] = area->next;
            size_t to = slot_of(&bigger, area->number);
            area->next = bigger.slot[to];
            bigger.slot[to] = area;
        }
    free(s->slot);
    s->slot = bigger.slot;
    s->n_slots = bigger.n_slots;
}

static struct shadow_piece *piece_new(struct shadow *s)
{
    char *p = mmap(NULL, 2 * PIECE_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)p % PIECE_BYTES;
    if (before)
        (void)munmap(p, before);
    (void)munmap(p + before + PIECE_BYTES, PIECE_BYTES - before);
    (void)madvise(p + before, PIECE_BYTES, MADV_HUGEPAGE); /* a hint */
    struct shadow_piece *piece = (void *)(p + before);
    piece->next = s->piece;
    piece->used = 64;
    s->piece = piece;
    return piece;
}

static struct shadow_area *area_memory(struct shadow *s)
{
    enum { align = _Alignof(struct shadow_area), bytes = sizeof(struct shadow_area) };
    struct shadow_piece *p = s->piece;
    if (s->n_areas >= AREAS_FEW && (!p || p->used + bytes > PIECE_BYTES))
        p = piece_new(s);
    if (s->n_areas >= AREAS_FEW && p) {
        void *out = (char *)p + p->used;
        p->used += bytes;
        return out;
    }
    char *memory = calloc(1, bytes + align);
    if (!memory)
        return NULL;
    struct shadow_area *area =
        __builtin_assume_aligned(memory + (align - (uintptr_t)memory % align), align);
    area->memory = memory;
    return area;
}

static struct shadow_area *area_new(struct shadow *s, uint64_t number)
{
    if (s->n_areas >= s->n_slots)
        grow(s);
    struct shadow_area *area = area_memory(s);
    if (!area)
        return NULL;
    area->number = number;
    size_t slot = slot_of(s, number);
    area->next = s->slot[slot];
    s->slot[slot] = area;
    s->n_areas++;
    return area;
}

struct shadow_area *shadow_find(struct shadow *s, uint64_t address)
{
    uint64_t number = address / (SHADOW_BLOCK * SHADOW_AREA);
    struct shadow_area *area = s->slot[slot_of(s, number)];
    while (area && area->number != number)
        area = area->next;
    if (!area)
        area = area_new(s, number);
    if (area)
        s->front[shadow_front(number)] = (struct shadow_front){number + 1, area};
    return area;
}

const struct shadow_block *shadow_known(struct shadow *s, uint64_t address)
{
    uint64_t number = address / (SHADOW_BLOCK * SHADOW_AREA);
    struct shadow_area *area = s->slot[slot_of(s, number)];
    while (area && area->number != number)
        area = area->next;
    struct shadow_block *b = area ? &area->block[shadow_in_area(address)] : NULL;
    if (!b || b->epoch != s->epoch)
        return NULL;
    if (b->strips)
        shadow_settle_strips(b);
    else if (b->reads)
        shadow_settle(s, b);
    return b;
}

void shadow_touch(struct shadow *s, struct shadow_block *b)
{
    if (b->epoch && b->shift < 2)
        drop_planes(s, b);
    (void)shadow_touch_plain(s, b);
}

/* A plane of other values for what there is; NULL: there is nothing, or (*ok) out of
 * memory. */
static uint32_t *split_plane(struct shadow *s, const struct shadow_block *b,
                             enum shadow_plane plane, uint8_t shift, bool *ok)
{
    if (b->top[plane] < s->dead)
        return NULL;
    uint32_t *v = take(s, size_of(shift));
    *ok &= v != NULL;
    for (unsigned k = 0; k < SHADOW_BLOCK >> shift && v; k++)
        v[k] = shadow_get(b, plane, (uint64_t)k << shift);
    return v;
}

/* What was of a dword is of each of its halves or bytes. */
bool shadow_split(struct shadow *s, struct shadow_block *b, uint8_t shift)
{
    uint32_t *plane[SHADOW_PLANES];
    bool ok = true;
    if (b->shift <= shift)
        return true;
    for (unsigned i = 0; i < SHADOW_PLANES; i++)
        plane[i] = split_plane(s, b, (enum shadow_plane)i, shift, &ok);
    for (unsigned i = 0; i < SHADOW_PLANES; i++) {
        give(s, ok ? size_of(b->shift) : size_of(shift), ok ? b->plane[i] : plane[i]);
        if (!ok)
            continue;
        b->plane[i] = plane[i];
        b->top[i] = plane[i] ? b->top[i] : 0;
        s->touched += plane[i] ? bytes_of[size_of(shift)] : 0;
    }
    b->made = true;
    if (ok)
        b->shift = shift;
    return ok;
}

uint32_t *shadow_plane(struct shadow *s, struct shadow_block *b,
                       enum shadow_plane plane)
{
    b->made = true;
    if (!b->plane[plane]) {
        b->plane[plane] = take(s, size_of(b->shift));
        s->touched += b->plane[plane] ? bytes_of[size_of(b->shift)] : 0;
    }
    return b->plane[plane];
}

uint32_t *shadow_open(struct shadow *s, struct shadow_block *b, enum shadow_plane plane,
                      unsigned line)
{
    uint32_t *v = shadow_plane(s, b, plane);
    if (!v)
        return NULL;
    v += line * SHADOW_LINE;
    if (shadow_apart(b, plane, line))
        return v;
    for (unsigned k = 0; k < SHADOW_LINE; k++)
        v[k] = shadow_rule(b, plane, line, k);
    b->apart[plane] |= (uint16_t)(1u << line);
    return v;
}

/* ---- sites ---- */

static void empty_plane(struct shadow_block *b, unsigned plane)
{
    if (b->plane[plane])
        memset(b->plane[plane], 0, bytes_of[size_of(b->shift)]);
    for (unsigned l = 0; l < SHADOW_LINES; l++)
        b->line[l][plane] = 0;
    b->top[plane] = 0;
}

static void renumber(uint32_t *v, unsigned n, uint32_t *to, bool marks)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t *as = &to[v[i] >> SHADOW_LANE];
        if (marks)
            *as = 1;
        else
            v[i] = *as << SHADOW_LANE | (v[i] & ((1u << SHADOW_LANE) - 1));
    }
}

/* Lines that are not apart have nothing in the plane that still counts. Words of those
 * that are do not, either, but will be looked at in another epoch (shadow_touch_plain).
 */
static void renumber_plane(struct shadow_block *b, unsigned plane, uint32_t *to,
                           bool marks)
{
    uint32_t *v = b->plane[plane];
    if (b->shift < 2) {
        renumber(v, v ? SHADOW_BLOCK >> b->shift : 0, to, marks);
        return;
    }
    for (unsigned l = 0; l < SHADOW_LINES; l++) {
        bool apart = shadow_apart(b, (enum shadow_plane)plane, l);
        if (apart)
            renumber(v + l * SHADOW_LINE, SHADOW_LINE, to, marks);
        if (!apart)
            renumber(&b->line[l][plane], 1, to, marks);
        else if (!marks)
            b->line[l][plane] = 0;
    }
}

/* Of all blocks and planes that have numbers that count, if marks or last of all. */
static void renumber_block(struct shadow *s, struct shadow_block *b, uint32_t *to,
                           bool marks, uint32_t n)
{
    if (b->strips && b->epoch == s->epoch)
        shadow_settle_strips(b);
    else if (b->strips)
        shadow_drop_strips(b);
    if (b->reads && b->epoch == s->epoch)
        shadow_renumber_reads(b, to, marks);
    for (unsigned k = 0; k < SHADOW_PLANES; k++) {
        if (b->top[k] && b->top[k] >= s->dead) {
            renumber_plane(b, k, to, marks);
            b->top[k] = marks ? b->top[k] : n - 1;
        } else if (!marks && b->top[k]) {
            empty_plane(b, k);
        }
    }
}

static void renumber_all(struct shadow *s, uint32_t *to, bool marks, uint32_t n)
{
    for (size_t i = 0; i < s->n_slots; i++)
        for (struct shadow_area *area = s->slot[i]; area; area = area->next)
            for (unsigned j = 0; j < SHADOW_AREA; j++)
                renumber_block(s, &area->block[j], to, marks, n);
}

/* Drop sites that nothing means. */
static void collect(struct shadow *s)
{
    uint32_t *to = calloc(s->n, sizeof *to), n = 1;
    if (!to)
        return;
    renumber_all(s, to, true, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        bool used = to[i] && i >= s->dead;
        to[i] = used ? n : 0;
        if (used)
            s->site[n++] = s->site[i];
    }
    renumber_all(s, to, false, n);
    s->n = n;
    s->dead = 1;
    free(to);
}

/* So many that looking through all values is worth it. */
static size_t many_sites(const struct shadow *s)
{
    size_t few = s->bytes / 32 + s->n_areas * SHADOW_AREA;
    return few < SITES_FIRST ? SITES_FIRST : few;
}

bool shadow_room(struct shadow *s)
{
    if (s->n < s->room)
        return true;
    if (s->n > many_sites(s))
        collect(s);
    if (s->room && s->n <= s->room / 2)
        return true;
    if (s->n >= SITES_MOST / 2)
        return s->n < s->room;
    uint32_t room = s->room ? 2 * s->room : SITES_FIRST;
    struct site *bigger = realloc(s->site, room * sizeof *bigger);
    if (!bigger)
        return s->n < s->room;
    s->site = bigger;
    s->room = room;
    return true;
}

uint32_t shadow_new_number(struct shadow *s, const struct site *site)
{
    if (!shadow_room(s))
        return 0;
    s->site[s->n] = *site;
    return s->n++;
}

static void empty_block(struct shadow_block *b)
{
    for (unsigned k = 0; k < SHADOW_PLANES; k++)
        if (b->top[k])
            empty_plane(b, k);
}

void shadow_forget(struct shadow *s)
{
    s->dead = s->n;
    s->epoch++;
    s->touched = s->n_touched = 0;
    if (s->n <= many_sites(s))
        return;
    for (size_t i = 0; i < s->n_slots; i++)
        for (struct shadow_area *area = s->slot[i]; area; area = area->next)
            for (unsigned j = 0; j < SHADOW_AREA; j++)
                empty_block(&area->block[j]);
    s->n = s->dead = 1;
}
