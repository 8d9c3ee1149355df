/* shadow.h: who touched a byte of memory last, for the race checker.
 *
 * Memory is shadowed in blocks of equal size. Of each dword or, once a part of a dword
 * was touched alone, each byte, a block has up to four values of 32 bits: the last
 * write, the last atomic, two reads. A value is the number of a site, what all accesses
 * of an instruction between two changes of its wave's order have in common, and a lane.
 * Values of one kind lie side by side, so that rows of lanes are rows of values. Sites
 * below shadow.dead count as none: so all is forgotten at once.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_SHADOW_H
#define RD_CHECK_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define SITE_ATOMIC   1u /* a read-modify-write, or a load past the caches */
#define SITE_OWNER    2u /* a store of who has done atomics there before */
#define SITE_COMPARES 4u /* compare-and-swap */
#define SITE_RELEASES 8u /* a store to memory by who waits for none of its own */

/* One access. wave 0: none. */
struct site {
    uint32_t wave;    /* number in the dispatch, from 1 */
    uint32_t pc;      /* offset in its code */
    uint32_t barrier; /* that its workgroup had passed */
    uint32_t clock;   /* releases to LDS of its wave before it, from 1 */
    uint32_t stamp;   /* releases to memory of the dispatch before it */
    uint8_t flags, lane;
};

#define SHADOW_BLOCK 1024u /* bytes of memory */
#define SHADOW_LANE  6u    /* bits of a value that are the lane */
#define SHADOW_FRONT 256u  /* a power of two */

enum shadow_plane { SHADOW_WRITE, SHADOW_ATOMIC, SHADOW_READ, SHADOW_READ2 };
#define SHADOW_PLANES 4u

struct shadow_block {
    uint32_t *plane[SHADOW_PLANES]; /* SHADOW_BLOCK >> shift values, or NULL: none */
    uint32_t top[SHADOW_PLANES];    /* no value of the plane has a greater number */
    uint32_t epoch;                 /* in which it was touched last; 0: never */
    uint8_t shift;                  /* of bytes to values: 2 or 0 */
};

#define SHADOW_AREA 256u /* blocks side by side */

struct shadow_area {
    struct shadow_area *next; /* of the same slot */
    uint64_t number;          /* address / (SHADOW_BLOCK * SHADOW_AREA) */
    struct shadow_block block[SHADOW_AREA];
};

struct shadow {
    struct site *site; /* by number, from 1; without lanes */
    uint32_t n, room;
    uint32_t dead;  /* sites below it count as none; 1 at least */
    uint32_t epoch; /* of the blocks; shadow_begin */
    struct shadow_area *front[SHADOW_FRONT]; /* some, by front_of */
    struct shadow_area **slot;
    size_t n_slots, n_areas;
    size_t bytes, touched; /* that blocks take; those of this epoch */
    struct shadow_chunk *chunk;
    void *spare[2];      /* planes of 1, 4 times SHADOW_BLOCK */
    struct shadow *next; /* for who keeps a list */
};

struct shadow *shadow_create(void);
void shadow_destroy(struct shadow *s);
/* Nothing has been touched; blocks have values for dwords again. */
void shadow_begin(struct shadow *s);
/* What there is counts as none from here on. */
void shadow_forget(struct shadow *s);

/* The area that holds address; NULL: out of memory. */
struct shadow_area *shadow_find(struct shadow *s, uint64_t address);
/* The block is touched for the first time in this epoch. */
void shadow_touch(struct shadow *s, struct shadow_block *b);

static inline size_t shadow_front(uint64_t number)
{
    return (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (SHADOW_FRONT - 1);
}

/* The block that holds address, if its area was asked for lately; nothing changes. */
static inline const struct shadow_block *shadow_peek(const struct shadow *s,
                                                     uint64_t address)
{
    uint64_t number = address / (SHADOW_BLOCK * SHADOW_AREA);
    const struct shadow_area *area = s->front[shadow_front(number)];
    return area && area->number == number
               ? &area->block[address / SHADOW_BLOCK % SHADOW_AREA]
               : NULL;
}

/* The block that holds address; NULL: out of memory. */
static inline struct shadow_block *shadow_at(struct shadow *s, uint64_t address)
{
    uint64_t number = address / (SHADOW_BLOCK * SHADOW_AREA);
    struct shadow_area *area = s->front[shadow_front(number)];
    if (!area || area->number != number)
        area = shadow_find(s, address);
    if (!area)
        return NULL;
    struct shadow_block *b = &area->block[address / SHADOW_BLOCK % SHADOW_AREA];
    if (b->epoch != s->epoch)
        shadow_touch(s, b);
    return b;
}

/* From here on the block has values for bytes. False: out of memory. */
bool shadow_split(struct shadow *s, struct shadow_block *b);
/* A plane, made if there is none; NULL: out of memory. */
uint32_t *shadow_plane(struct shadow *s, struct shadow_block *b,
                       enum shadow_plane plane);

/* The number of a site like this one (its lane aside), *last if that is it; 0: out of
 * memory. Numbers of before may mean something else afterwards, but not *last. */
uint32_t shadow_new_number(struct shadow *s, const struct site *site);
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

/* Values of the number are about to be put into the plane. */
static inline void shadow_raise(struct shadow_block *b, enum shadow_plane plane,
                                uint32_t number)
{
    if (b->top[plane] < number)
        b->top[plane] = number;
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
