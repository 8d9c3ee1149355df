/* snapshot.c: the waves of a stepper as they are, to come back to.
 *
 * Registers, LDS, scratch, GDS and the order of waves; global memory is the caller's. A
 * workgroup comes back to the place where it was, so that every pointer into it stays
 * true: its memory belongs to the stepper until that goes.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "stepper.h"

#define GDS_BYTES 4096u /* gds.c */

struct saved_group {
    struct resident *at;
    uint8_t *data;
};

struct emu_snapshot {
    struct order order; /* queue: a copy of its own */
    struct emu_fault fault;
    struct emu_stats stats;
    struct saved_group *groups;
    unsigned n;
    uint64_t *slots;
    size_t n_slot_words;
    uint8_t *gds; /* NULL: not used yet */
    unsigned long long gws[GWS_RESOURCES];
    unsigned gws_waiting[GWS_RESOURCES];
    size_t bytes;
};

/* The parts of a workgroup's memory, in one order for saving and restoring. */
typedef void part_fn(uint8_t **cursor, void *part, size_t bytes);

static void each_part(struct resident *r, uint8_t **cursor, part_fn *part)
{
    struct workgroup *g = &r->group;
    unsigned n = g->n_waves;
    part(cursor, r, sizeof *r + n * sizeof(struct wave));
    part(cursor, g->lds, g->lds_bytes);
    for (unsigned i = 0; i < n; i++) {
        struct wave *w = &r->waves[i];
        for (unsigned h = 0; h < w->halves; h++)
            part(cursor, w->vgpr[h], (size_t)g->n_vgprs * ROW_DWORDS * 4);
        part(cursor, w->scratch, (size_t)w->halves * ROW_DWORDS * g->scratch_bytes);
    }
}

static void count_part(uint8_t **cursor, void *part, size_t bytes)
{
    (void)part;
    *cursor += bytes;
}

static void save_part(uint8_t **cursor, void *part, size_t bytes)
{
    memcpy(*cursor, part, bytes);
    *cursor += bytes;
}

static void restore_part(uint8_t **cursor, void *part, size_t bytes)
{
    memcpy(part, *cursor, bytes);
    *cursor += bytes;
}

static bool save_group(struct emu_snapshot *t, struct resident *r)
{
    static uint8_t origin;
    uint8_t *end = &origin;
    each_part(r, &end, count_part);
    size_t bytes = (size_t)((uintptr_t)end - (uintptr_t)&origin);
    uint8_t *data = malloc(bytes), *cursor = data;
    if (!data)
        return false;
    each_part(r, &cursor, save_part);
    t->groups[t->n++] = (struct saved_group){r, data};
    t->bytes += bytes;
    return true;
}

static void *copy_of(const void *data, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, data, bytes);
    return copy;
}

/* What all workgroups share. */
static bool save_shared(struct emu_snapshot *t, const struct emu *emu)
{
    t->n_slot_words = emu->n_slot_words;
    t->slots = copy_of(emu->slots, emu->n_slot_words * sizeof *emu->slots);
    if (emu->gds)
        t->gds = copy_of(emu->gds, GDS_BYTES);
    for (unsigned i = 0; i < GWS_RESOURCES; i++) {
        t->gws[i] = atomic_load(&emu->gws[i]);
        t->gws_waiting[i] = atomic_load(&emu->gws_waiting[i]);
    }
    return t->slots && (t->gds || !emu->gds);
}

rd_status emu_stepper_save(const struct emu_stepper *s, struct emu_snapshot **out)
{
    struct emu_snapshot *t = calloc(1, sizeof *t);
    unsigned n = 0;
    if (!t)
        return RD_E_NOMEM;
    for (struct resident *r = s->live; r; r = r->next)
        n++;
    t->order = s->order;
    t->order.room = t->order.n;
    t->order.queue = copy_of(s->order.queue, s->order.n * sizeof *s->order.queue);
    t->fault = s->dp.fault;
    t->stats = s->dp.stats;
    t->groups = calloc(n + 1, sizeof *t->groups);
    t->bytes = sizeof *t;
    bool ok = t->order.queue && t->groups && save_shared(t, s->dp.emu);
    for (struct resident *r = s->live; r && ok; r = r->next)
        ok = save_group(t, r);
    if (ok) {
        *out = t;
        return RD_OK;
    }
    emu_snapshot_free(t);
    return RD_E_NOMEM;
}

void emu_snapshot_free(struct emu_snapshot *t)
{
    if (!t)
        return;
    for (unsigned i = 0; t->groups && i < t->n; i++)
        free(t->groups[i].data);
    free(t->groups);
    free(t->order.queue);
    free(t->slots);
    free(t->gds);
    free(t);
}

size_t emu_snapshot_bytes(const struct emu_snapshot *t)
{
    return t->bytes;
}

static void restore_shared(const struct emu_snapshot *t, struct emu *emu)
{
    memset(emu->slots, 0, emu->n_slot_words * sizeof *emu->slots);
    memcpy(emu->slots, t->slots, t->n_slot_words * sizeof *emu->slots);
    if (emu->gds) {
        memset(emu->gds, 0, GDS_BYTES);
        if (t->gds)
            memcpy(emu->gds, t->gds, GDS_BYTES);
    }
    for (unsigned i = 0; i < GWS_RESOURCES; i++) {
        atomic_store(&emu->gws[i], t->gws[i]);
        atomic_store(&emu->gws_waiting[i], t->gws_waiting[i]);
    }
}

/* Take r from the list; false: it is not there. */
static bool unlink_group(struct resident **link, const struct resident *r)
{
    while (*link && *link != r)
        link = &(*link)->next;
    if (!*link)
        return false;
    *link = r->next;
    return true;
}

void emu_stepper_restore(struct emu_stepper *s, const struct emu_snapshot *t)
{
    struct order *o = &s->order;
    struct resident **queue = o->queue;
    unsigned room = o->room;
    while (s->live) { /* all of them idle, then those of the snapshot live again */
        struct resident *r = s->live;
        s->live = r->next;
        r->next = s->idle;
        s->idle = r;
    }
    for (unsigned i = t->n; i-- > 0;) {
        struct resident *r = t->groups[i].at;
        uint8_t *cursor = t->groups[i].data;
        bool found = unlink_group(&s->idle, r);
        rd_assert(found, "a snapshot of another stepper");
        (void)found;
        /* The structures first: they say how big the other parts are. */
        memcpy(r, cursor, sizeof *r);
        each_part(r, &cursor, restore_part);
        r->next = s->live;
        s->live = r;
    }
    *o = t->order;
    o->queue = queue;
    o->room = room;
    if (t->order.n) /* there was room for them once */
        memcpy(o->queue, t->order.queue, t->order.n * sizeof *o->queue);
    s->dp.fault = t->fault;
    s->dp.stats = t->stats;
    restore_shared(t, s->dp.emu);
}
