/* region.c: the allocation map: which addresses kernels may touch.
 *
 * A sorted array under a lock; every change bumps the generation, which invalidates
 * what others remember of the map. Knows nothing of waves. SPDX-License-Identifier: MIT
 */
#include "region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_NULL 0x10000u /* addresses that nobody allocates */

rd_status regions_create(struct region_table **out)
{
    struct region_table *t = calloc(1, sizeof *t);
    if (!t)
        return RD_E_NOMEM;
    pthread_rwlock_init(&t->lock, NULL);
    *out = t;
    return RD_OK;
}

void regions_destroy(struct region_table *t)
{
    if (!t)
        return;
    pthread_rwlock_destroy(&t->lock);
    free(t->v);
    free(t);
}

/* Index of the first region that ends above address. Lock held. */
static size_t lower(const struct region_table *t, uint64_t address)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->v[mid].end > address)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Put n regions in the place of count ones from at on. Lock held for writing. */
static rd_status splice(struct region_table *t, size_t at, size_t count,
                        const struct mem_region *r, size_t n)
{
    if (t->n - count + n > t->cap) {
        size_t cap = 2 * t->cap + 64;
        struct mem_region *v = realloc(t->v, cap * sizeof *v);
        if (!v)
            return RD_E_NOMEM;
        t->v = v;
        t->cap = cap;
    }
    if (t->n > at + count)
        memmove(&t->v[at + n], &t->v[at + count], (t->n - at - count) * sizeof *t->v);
    for (size_t i = 0; i < n; i++)
        t->v[at + i] = r[i];
    t->n += n - count;
    return RD_OK;
}

rd_status region_add(struct region_table *t, uint64_t va, uint64_t delta,
                     uint64_t bytes, unsigned perm, const char *name)
{
    if (!bytes || va + bytes < va)
        return RD_E_INVALID;
    struct mem_region r = {.base = va, .end = va + bytes, .delta = delta, .perm = perm};
    snprintf(r.name, sizeof r.name, "%s", name ? name : "");
    pthread_rwlock_wrlock(&t->lock);
    size_t at = lower(t, va);
    rd_status st =
        at < t->n && t->v[at].base < r.end ? RD_E_EXISTS : splice(t, at, 0, &r, 1);
    atomic_fetch_add(&t->generation, 1);
    pthread_rwlock_unlock(&t->lock);
    return st;
}

/* Ascending and disjoint, inside the region? */
static bool pieces_fit(const struct mem_region *whole, const struct mem_region *pieces,
                       unsigned n)
{
    uint64_t from = whole->base;
    for (unsigned i = 0; i < n; i++) {
        if (pieces[i].base < from || pieces[i].end <= pieces[i].base)
            return false;
        from = pieces[i].end;
    }
    return from <= whole->end;
}

/* Remember what of a region is in none of the pieces. Lock held for writing. */
static void remember_gone(struct region_table *t, const struct mem_region *whole,
                          const struct mem_region *pieces, unsigned n)
{
    uint64_t from = whole->base;
    for (unsigned i = 0; i <= n; i++) {
        uint64_t to = i < n ? pieces[i].base : whole->end;
        struct mem_region *r = &t->gone[t->n_gone % REGIONS_GONE];
        if (to > from) {
            *r = *whole;
            r->base = from;
            r->end = to;
            t->n_gone++;
        }
        from = i < n ? pieces[i].end : to;
    }
}

rd_status region_change(struct region_table *t, uint64_t va, struct mem_region *pieces,
                        unsigned n, struct mem_region *gone)
{
    rd_status st = RD_E_NOT_FOUND;
    pthread_rwlock_wrlock(&t->lock);
    size_t at = lower(t, va);
    if (at < t->n && t->v[at].base == va) {
        *gone = t->v[at];
        for (unsigned i = 0; i < n; i++) {
            memcpy(pieces[i].name, gone->name, sizeof gone->name);
            pieces[i].delta = gone->delta;
        }
        st = pieces_fit(gone, pieces, n) ? splice(t, at, 1, pieces, n) : RD_E_INVALID;
        if (st == RD_OK)
            remember_gone(t, gone, pieces, n);
        atomic_fetch_add(&t->generation, 1);
    }
    pthread_rwlock_unlock(&t->lock);
    return st;
}

rd_status region_remove(struct region_table *t, uint64_t va, struct mem_region *gone)
{
    return region_change(t, va, NULL, 0, gone);
}

bool region_find(struct region_table *t, uint64_t address, struct mem_region *out,
                 unsigned *generation)
{
    pthread_rwlock_rdlock(&t->lock);
    size_t at = lower(t, address);
    bool found = at < t->n && t->v[at].base <= address;
    if (found)
        *out = t->v[at];
    if (generation)
        *generation = atomic_load(&t->generation);
    pthread_rwlock_unlock(&t->lock);
    return found;
}

bool region_next(struct region_table *t, uint64_t address, struct mem_region *out)
{
    bool found = false;
    pthread_rwlock_rdlock(&t->lock);
    for (size_t at = lower(t, address); at < t->n && !found; at++) {
        found = t->v[at].base >= address;
        if (found)
            *out = t->v[at];
    }
    pthread_rwlock_unlock(&t->lock);
    return found;
}

/* The region that holds address, or the nearest; NULL: there are none. Lock held. */
static const struct mem_region *nearest(const struct region_table *t, uint64_t address)
{
    size_t at = lower(t, address);
    const struct mem_region *below = at > 0 ? &t->v[at - 1] : NULL;
    const struct mem_region *above = at < t->n ? &t->v[at] : NULL;
    if (above && above->base <= address)
        return above;
    return below && (!above || address - below->end < above->base - address) ? below
                                                                             : above;
}

bool region_nearest(struct region_table *t, uint64_t address, struct mem_region *out)
{
    pthread_rwlock_rdlock(&t->lock);
    const struct mem_region *r = nearest(t, address);
    if (r)
        *out = *r;
    pthread_rwlock_unlock(&t->lock);
    return r != NULL;
}

bool region_gone(struct region_table *t, uint64_t address, struct mem_region *out)
{
    bool found = false;
    pthread_rwlock_rdlock(&t->lock);
    size_t at = lower(t, address);
    bool held = at < t->n && t->v[at].base <= address;
    unsigned n = t->n_gone < REGIONS_GONE ? t->n_gone : REGIONS_GONE;
    for (unsigned i = 1; i <= n && !held && !found; i++) {
        const struct mem_region *r = &t->gone[(t->n_gone - i) % REGIONS_GONE];
        found = address - r->base < r->end - r->base;
        if (found)
            *out = *r;
    }
    pthread_rwlock_unlock(&t->lock);
    return found;
}

void region_describe(struct region_table *t, uint64_t address, char *text, size_t size)
{
    pthread_rwlock_rdlock(&t->lock);
    const struct mem_region *r = nearest(t, address);
    bool inside = r && r->base <= address && address < r->end;
    bool past = r && address >= r->end;
    if (!r)
        snprintf(text, size, "no memory is allocated");
    else if (!inside && address < NEAR_NULL)
        snprintf(text, size, "a null pointer%s",
                 address ? ", or an offset from one" : "");
    else
        snprintf(text, size, "%s %s [0x%llx, 0x%llx), %llu bytes %s",
                 inside ? "in" : "nearest allocation:", r->name,
                 (unsigned long long)r->base, (unsigned long long)r->end,
                 (unsigned long long)(inside ? address - r->base
                                      : past ? address - r->end
                                             : r->base - address),
                 inside ? "from its start"
                 : past ? "past its end"
                        : "before its start");
    pthread_rwlock_unlock(&t->lock);
}
