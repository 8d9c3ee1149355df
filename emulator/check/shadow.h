/* shadow.h: who touched a byte of memory last, for the race checker.
 *
 * Memory is shadowed in blocks of equal size. Of each dword or, once a part of a dword
 * was touched alone, each half of one or byte, a block has up to four values of 32
 * bits: the last write, the last atomic, two reads. A value is the number of a site,
 * what all accesses of an instruction between two changes of its wave's order have in
 * common, and a lane. Values of one kind lie side by side, so that rows of lanes are
 * rows of values; where lanes lie in order a line of dwords has one word for all of
 * them. Blocks that waves touch by whole strips alone have less: numbers, one line of
 * the host's cache of them. Sites below shadow.dead count as none: so all is forgotten
 * at once.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_SHADOW_H
#define RD_CHECK_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define SITE_ATOMIC   1u   /* a read-modify-write, or a load past the caches */
#define SITE_OWNER    2u   /* a store of who has done atomics there before */
#define SITE_COMPARES 4u   /* compare-and-swap */
#define SITE_LOADS    16u  /* a load past the caches */
#define SITE_VOLATILE 32u  /* ... or a store, of what the source calls volatile */
#define SITE_RELEASES 8u   /* a store to memory by who waits for none of its own */
#define SITE_AGAIN    512u /* ... while such a store of its wave is under way */
#define SITE_NARROW   64u  /* ... and has dropped gl0 alone: for its own workgroup */
#define SITE_BARE0    128u /* in a lock, since which gl0 was not dropped */
#define SITE_BARE1    256u /* ... gl1 */

/* One access. wave 0: none. */
struct site {
    uint32_t wave;    /* number in the dispatch, from 1 */
    uint32_t pc;      /* offset in its code */
    uint32_t barrier; /* that its workgroup had passed */
    uint32_t clock;   /* releases to LDS of its wave before it, from 1 */
    uint32_t stamp;   /* releases to memory of the dispatch before it */
    uint16_t flags;
    uint8_t lane;
};

#define SHADOW_BLOCK 1024u /* bytes of memory */
#define SHADOW_LANE  6u    /* bits of a value that are the lane */
#define SHADOW_FRONT 1024u /* a power of two */

enum shadow_plane { SHADOW_WRITE, SHADOW_ATOMIC, SHADOW_READ, SHADOW_READ2 };
#define SHADOW_PLANES 4u

#define SHADOW_LINE                                                                    \
    16u /* dwords that have one word as long as a rule gives all of them */
#define SHADOW_LINES (SHADOW_BLOCK / 4 / SHADOW_LINE)

/* How a line's values follow from its word: value k is word + (k >> shadow_step[form]).
 */
#define SHADOW_FORMS 4u
static const uint8_t shadow_step[SHADOW_FORMS] = {0, 1, 2, 16};

/* How 32 lanes lie to one another, or that it is one. */
#define SHADOW_LANES 32u
#define SHADOW_WORDS 8u /* of a bit for each half of a dword of a block */
struct shadow_form {
    uint16_t offset[SHADOW_LANES]; /* of lanes, behind the lowest one's */
    uint8_t lanes;                 /* 1: a scalar */
    uint8_t bytes;                 /* of each */
    uint16_t span;                 /* of all */
    /* The halves that they touch, from the lowest one's on; before and behind nothing.
     */
    uint64_t halves[3 * SHADOW_WORDS];
};

/* What has read a part of a block that nobody has written: values of the reads' planes
 * that are not in these yet. */
struct shadow_read {
    uint32_t first, last; /* as in the two planes: sites; 0: none */
    int16_t base;         /* of the lowest lane in the block */
    uint16_t form;
};

#define SHADOW_READS 24u
struct shadow_reads {
    struct shadow_reads *next; /* of those nobody uses */
    uint32_t n, hint;
    uint64_t halves[SHADOW_WORDS]; /* that some of them touch: no two the same */
    struct shadow_read v[SHADOW_READS];
};

/* What 32 lanes touch that have a dword each, in order. */
#define SHADOW_STRIP  128u
#define SHADOW_STRIPS (SHADOW_BLOCK / SHADOW_STRIP)
struct shadow_strip {
    uint32_t write, read; /* sites: as in the planes of their names; 0: none */
};

/* Of a plane, values in memory are those of lines that are apart, and all once the
 * block is split; the others are what their line's word says. */
struct shadow_block {
    /* What is looked at first is side by side. */
    _Alignas(64) uint32_t top[SHADOW_PLANES]; /* no value has a greater number */
    uint32_t form[SHADOW_PLANES];             /* of each line, two bits */
    uint16_t apart[SHADOW_PLANES];            /* a bit for each line */
    uint32_t epoch;                 /* in which it was touched last; 0: never */
    uint8_t shift;                  /* of bytes to values: 2, or 1 or 0: it is split */
    bool made;                      /* there are planes */
    bool strips;                    /* it has them instead of words */
    uint8_t at;                     /* then: its number in its area */
    struct shadow_reads *reads;     /* not in planes yet; NULL: none */
    uint32_t *plane[SHADOW_PLANES]; /* SHADOW_BLOCK >> shift values; NULL: none apart */
    union {
        _Alignas(64) uint32_t line[SHADOW_LINES][SHADOW_PLANES];
        struct shadow_strip strip[SHADOW_STRIPS];
    };
};

#define SHADOW_AREA 256u /* blocks side by side */

struct shadow_area {
    struct shadow_area *next; /* of the same slot */
    uint64_t number;          /* address / (SHADOW_BLOCK * SHADOW_AREA) */
    void *memory;             /* to free, or NULL: of a piece */
    /* In the epoch: blocks that have strips and have been touched in it. */
    uint64_t strips[SHADOW_AREA / 64];
    uint32_t epoch;
    struct shadow_block block[SHADOW_AREA];
};

/* So that areas are found without a look at them. */
struct shadow_front {
    uint64_t key; /* the area's number and one; 0: none */
    struct shadow_area *area;
};

struct shadow {
    struct site *site; /* by number, from 1; without lanes */
    uint32_t n, room;
    uint32_t dead;  /* sites below it count as none; 1 at least */
    uint32_t epoch; /* of the blocks; shadow_begin */
    struct shadow_front front[SHADOW_FRONT]; /* some, by shadow_front */
    struct shadow_area **slot;
    size_t n_slots, n_areas;
    size_t bytes, touched;      /* that planes take; those of this epoch */
    size_t n_blocks, n_touched; /* likewise: blocks */
    struct shadow_chunk *chunk;
    struct shadow_piece *piece;  /* of which many areas are */
    struct shadow_form *form_of; /* that blocks' reads name; the owner's */
    struct shadow_reads *spare_reads;
    struct shadow_reads_chunk *reads_chunk;
    void *spare[3];      /* planes of 1, 2, 4 times SHADOW_BLOCK */
    struct shadow *next; /* for who keeps a list */
};

struct shadow *shadow_create(void);
void shadow_destroy(struct shadow *s);
/* Nothing has been touched; blocks have values for dwords again. */
void shadow_begin(struct shadow *s);
/* What there is counts as none from here on; blocks likewise. */
void shadow_forget(struct shadow *s);

/* The area that holds address; NULL: out of memory. */
struct shadow_area *shadow_find(struct shadow *s, uint64_t address);
/* The block that holds address, if it has been touched in this epoch; or NULL. */
const struct shadow_block *shadow_known(struct shadow *s, uint64_t address);
/* The block is touched for the first time in this epoch. */
void shadow_touch(struct shadow *s, struct shadow_block *b);

/* shadow_reads.c: the block's reads go to planes. Make more of them if none is spare.
 * Numbers of theirs are marked, or become others. */
void shadow_settle(struct shadow *s, struct shadow_block *b);
void shadow_more_reads(struct shadow *s);
void shadow_free_reads(struct shadow *s);
void shadow_renumber_reads(struct shadow_block *b, uint32_t *to, bool marks);

static inline size_t shadow_front(uint64_t number)
{
    return (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (SHADOW_FRONT - 1);
}

/* The area that holds address, if it was asked for lately; nothing changes. */
static inline struct shadow_area *shadow_peek_area(const struct shadow *s,
                                                   uint64_t address)
{
    uint64_t number = address / (SHADOW_BLOCK * SHADOW_AREA);
    const struct shadow_front *f = &s->front[shadow_front(number)];
    return f->key == number + 1 ? f->area : NULL;
}
static inline unsigned shadow_in_area(uint64_t address)
{
    return (unsigned)(address / SHADOW_BLOCK % SHADOW_AREA);
}
/* Likewise the block. */
static inline struct shadow_block *shadow_peek(const struct shadow *s, uint64_t address)
{
    struct shadow_area *area = shadow_peek_area(s, address);
    return area ? &area->block[shadow_in_area(address)] : NULL;
}

/* Has the block strips, of this epoch? */
static inline bool shadow_has_strips(const struct shadow *s,
                                     const struct shadow_area *area, unsigned block)
{
    return area->epoch == s->epoch && area->strips[block / 64] >> block % 64 & 1;
}

/* Values of the number are about to be put into the plane. */
static inline void shadow_raise(struct shadow_block *b, enum shadow_plane plane,
                                uint32_t number)
{
    if (b->top[plane] < number)
        b->top[plane] = number;
}

/* Strips of an epoch that is over. */
static inline void shadow_drop_strips(struct shadow_block *b)
{
    b->strips = false;
    for (unsigned i = 0; i < SHADOW_STRIPS; i++)
        b->strip[i] = (struct shadow_strip){0, 0};
}

/* The block's strips, of this epoch, become words. */
static inline void shadow_settle_strips(struct shadow_block *b)
{
    struct shadow_area *area =
        (struct shadow_area *)((char *)(b - b->at) -
                               offsetof(struct shadow_area, block));
    struct shadow_strip was[SHADOW_STRIPS];
    area->strips[b->at / 64] &= ~(UINT64_C(1) << b->at % 64);
    b->strips = false;
    for (unsigned i = 0; i < SHADOW_PLANES; i++)
        b->top[i] = b->form[i] = b->apart[i] = 0;
    for (unsigned i = 0; i < SHADOW_STRIPS; i++)
        was[i] = b->strip[i];
    for (unsigned i = 0; i < SHADOW_LINES; i++) {
        const struct shadow_strip *v = &was[i / 2];
        uint32_t lane = i % 2 * SHADOW_LINE, *to = b->line[i];
        to[SHADOW_WRITE] = v->write << SHADOW_LANE | lane;
        to[SHADOW_READ] = v->read << SHADOW_LANE | lane;
        to[SHADOW_ATOMIC] = to[SHADOW_READ2] = 0;
        shadow_raise(b, SHADOW_WRITE, v->write);
        shadow_raise(b, SHADOW_READ, v->read);
    }
}

/* shadow_touch, as far as it is simple; false: nothing is done. */
static inline bool shadow_touch_plain(struct shadow *s, struct shadow_block *b)
{
    if (b->epoch && b->shift < 2)
        return false;
    if (!b->epoch) {
        s->n_blocks++;
        b->shift = 2;
    }
    if (b->strips)
        shadow_drop_strips(b);
    if (b->reads) { /* of an epoch that is over */
        b->reads->next = s->spare_reads;
        s->spare_reads = b->reads;
        b->reads = NULL;
    }
    for (unsigned i = 0; i < SHADOW_PLANES && b->made; i++) {
        s->touched += b->plane[i] ? SHADOW_BLOCK : 0;
        b->apart[i] = 0; /* nothing counts, as the words say */
    }
    b->epoch = s->epoch;
    s->n_touched++;
    return true;
}

/* The block, which nobody has touched in this epoch, has strips from here on, as long
 * as it is touched by them alone. False: nothing is done; it has been touched, or was
 * split before. */
static inline bool shadow_begin_strips(struct shadow *s, struct shadow_area *area,
                                       unsigned block)
{
    struct shadow_block *b = &area->block[block];
    if (b->epoch == s->epoch || !shadow_touch_plain(s, b))
        return false;
    if (area->epoch != s->epoch)
        for (unsigned i = 0; i < SHADOW_AREA / 64; i++)
            area->strips[i] = 0;
    area->epoch = s->epoch;
    area->strips[block / 64] |= UINT64_C(1) << block % 64;
    shadow_drop_strips(b);
    b->strips = true;
    b->at = (uint8_t)block;
    return true;
}

/* The block that holds address, its reads or strips as they are; NULL: out of memory.
 */
static inline struct shadow_block *shadow_reach(struct shadow *s, uint64_t address)
{
    struct shadow_block *b = shadow_peek(s, address);
    if (!b) {
        struct shadow_area *area = shadow_find(s, address);
        if (!area)
            return NULL;
        b = &area->block[shadow_in_area(address)];
    }
    if (b->epoch != s->epoch)
        shadow_touch(s, b);
    return b;
}

/* ... in planes. */
static inline struct shadow_block *shadow_at(struct shadow *s, uint64_t address)
{
    struct shadow_block *b = shadow_reach(s, address);
    if (b && b->strips)
        shadow_settle_strips(b);
    else if (b && b->reads)
        shadow_settle(s, b);
    return b;
}

/* From here on the block has values for bytes (shift 0) or halves of dwords (1), if it
 * has not already. False: out of memory. */
bool shadow_split(struct shadow *s, struct shadow_block *b, uint8_t shift);
/* A plane of a block that is split, made if there is none; NULL: out of memory. */
uint32_t *shadow_plane(struct shadow *s, struct shadow_block *b,
                       enum shadow_plane plane);
/* The values of a line of a block that is not, from here on apart; NULL: out of memory.
 */
uint32_t *shadow_open(struct shadow *s, struct shadow_block *b, enum shadow_plane plane,
                      unsigned line);

static inline bool shadow_apart(const struct shadow_block *b, enum shadow_plane plane,
                                unsigned line)
{
    return b->apart[plane] >> line & 1;
}

/* Value k of a line that is not apart. */
static inline uint32_t shadow_rule(const struct shadow_block *b,
                                   enum shadow_plane plane, unsigned line, unsigned k)
{
    return b->line[line][plane] +
           (k >> shadow_step[b->form[plane] >> 2 * line & (SHADOW_FORMS - 1)]);
}

/* All of a line, which is not apart, is what its word and form say. */
static inline void shadow_set_word(struct shadow_block *b, enum shadow_plane plane,
                                   unsigned line, uint32_t word, unsigned form)
{
    uint32_t other = (b->form[plane] >> 2 * line & (SHADOW_FORMS - 1)) ^ form;
    if (other)
        b->form[plane] ^= other << 2 * line;
    b->line[line][plane] = word;
}
/* ... which may be. */
static inline void shadow_set_line(struct shadow_block *b, enum shadow_plane plane,
                                   unsigned line, uint32_t word, unsigned form)
{
    shadow_set_word(b, plane, line, word, form);
    b->apart[plane] &= (uint16_t)~(1u << line);
}

/* The value for an address; 0: nobody's. */
static inline uint32_t shadow_get(const struct shadow_block *b, enum shadow_plane plane,
                                  uint64_t address)
{
    unsigned i = (unsigned)(address % SHADOW_BLOCK) >> b->shift;
    if (b->shift == 2 && !shadow_apart(b, plane, i / SHADOW_LINE))
        return shadow_rule(b, plane, i / SHADOW_LINE, i % SHADOW_LINE);
    return b->plane[plane] ? b->plane[plane][i] : 0;
}
/* Where it is, from here on apart; NULL: out of memory. */
static inline uint32_t *shadow_put(struct shadow *s, struct shadow_block *b,
                                   enum shadow_plane plane, uint64_t address)
{
    unsigned i = (unsigned)(address % SHADOW_BLOCK) >> b->shift;
    uint32_t *v = b->shift == 2 ? shadow_open(s, b, plane, i / SHADOW_LINE)
                                : shadow_plane(s, b, plane);
    return v ? v + (b->shift == 2 ? i % SHADOW_LINE : i) : NULL;
}

/* The number of a site like this one (its lane aside), *last if that is it; 0: out of
 * memory. Numbers of before may mean something else afterwards, but not *last. */
uint32_t shadow_new_number(struct shadow *s, const struct site *site);
/* Is there room for one more? Made if there is none; likewise. */
bool shadow_room(struct shadow *s);
static inline bool shadow_same(const struct site *a, const struct site *b)
{
    return a->wave == b->wave && a->pc == b->pc && a->barrier == b->barrier &&
           a->clock == b->clock && a->stamp == b->stamp && a->flags == b->flags;
}
static inline uint32_t shadow_number(struct shadow *s, const struct site *site,
                                     uint32_t *last)
{
    if (*last < s->dead || *last >= s->n || !shadow_same(&s->site[*last], site))
        *last = shadow_new_number(s, site);
    return *last;
}

/* Does the value mean somebody? Who? */
static inline bool shadow_live(const struct shadow *s, uint32_t value)
{
    return value >> SHADOW_LANE >= s->dead;
}
static inline struct site shadow_site(const struct shadow *s, uint32_t value)
{
    struct site none = {.wave = 0};
    if (!shadow_live(s, value))
        return none;
    none = s->site[value >> SHADOW_LANE];
    none.lane = value & ((1u << SHADOW_LANE) - 1);
    return none;
}

#endif
