/* region.h: the allocation map: which addresses kernels may touch.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_REGION_H
#define RD_REGION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct mem_region {
    uint64_t base, end;
    uint64_t delta; /* from an address to the host's */
    unsigned perm;  /* EMU_MEM_* of emu.h */
    char name[40];
};

#define REGIONS_GONE 64u

/* The map; its fields are region.c's, but for the generation. */
struct region_table {
    atomic_uint generation; /* changes with every change of the map */
    pthread_rwlock_t lock;
    struct mem_region *v; /* sorted, disjoint */
    size_t n, cap;
    struct mem_region gone[REGIONS_GONE]; /* the last that were removed, a ring */
    unsigned n_gone;                      /* ever */
};

RD_CHECKED rd_status regions_create(struct region_table **out);
void regions_destroy(struct region_table *t);

/* Where the host has what a region shows at an address. */
static inline void *region_host(const struct mem_region *r, uint64_t address)
{
    return (void *)(uintptr_t)(address + r->delta); // NOLINT(performance-no-int-to-ptr)
}

/* See emu_mem_place and emu_mem_remove of emu.h. gone: out, what was removed. */
RD_CHECKED rd_status region_add(struct region_table *t, uint64_t va, uint64_t delta,
                                uint64_t bytes, unsigned perm, const char *name);
RD_CHECKED rd_status region_remove(struct region_table *t, uint64_t va,
                                   struct mem_region *gone);

/* Replace the region at base va by pieces of it, with its name, in one step; see
 * emu_mem_change of emu.h. pieces: names and places are filled in. gone: out, what it
 * was.
 */
RD_CHECKED rd_status region_change(struct region_table *t, uint64_t va,
                                   struct mem_region *pieces, unsigned n,
                                   struct mem_region *gone);

/* Find the region that holds address; false if none. generation (may be NULL): of the
 * table that was searched. Thread: any. */
bool region_find(struct region_table *t, uint64_t address, struct mem_region *out,
                 unsigned *generation);

/* The first region that begins at address or behind it; false if there is none. */
bool region_next(struct region_table *t, uint64_t address, struct mem_region *out);

/* The region nearest to an address that none holds; false if there are none. */
bool region_nearest(struct region_table *t, uint64_t address, struct mem_region *out);

/* The region that held an address and was removed last, as far as it is remembered;
 * false: none, or some region holds it now. */
bool region_gone(struct region_table *t, uint64_t address, struct mem_region *out);

static inline unsigned region_generation(const struct region_table *t)
{
    return atomic_load_explicit(&t->generation, memory_order_relaxed);
}

/* "nearest allocation" text for faults. */
void region_describe(struct region_table *t, uint64_t address, char *text, size_t size);

#endif
