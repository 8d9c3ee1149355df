/* beside.c: dispatches that have ended and that another may run beside: the numbers of
 * their waves, by which the sites of their accesses are told apart.
 *
 * Must not know what orders dispatches (ck_dispatch_before). Invariant: numbers of
 * waves rise from one dispatch to the next as long as one of them is kept.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "race.h"

/* The dispatch takes its numbers, and its place among those that may be kept. */
void race_begin_waves(struct ck *ck)
{
    struct ck_race *r = ck->race;
    const struct ck_before *b = &ck->before;
    uint32_t each = ck->launch.waves_per_group;
    uint64_t all = ck->launch.n_groups * each;
    if (!b->kept || r->last + all > UINT32_MAX / 2) {
        shadow_begin(r->global);
        r->last = 0;
        r->apart = 0;
    } else {
        r->apart = b->apart & b->kept;
    }
    r->others = (r->last + each - 1) / each * each;
    r->last = r->others + (uint32_t)all;
    if (b->slot == CK_PAST)
        return;
    struct past *p = &r->past[b->slot];
    *p = (struct past){.first = r->others + 1,
                       .last = r->last,
                       .waves_per_group = each,
                       .lanes = ck->launch.lanes,
                       .code_base = ck->launch.code_base};
    memcpy(p->groups, ck->launch.dispatch->groups, sizeof p->groups);
    memcpy(p->kernel, ck->kernel, sizeof p->kernel);
    if (ck->config.image)
        p->image = ck->config.image(ck->config.ctx, ck->launch.dispatch->entry);
}

const struct past *race_past(const struct ck_race *r, const struct site *s)
{
    for (uint64_t m = r->apart; m; m &= m - 1) {
        const struct past *p = &r->past[__builtin_ctzll(m)];
        if (s->wave >= p->first && s->wave <= p->last)
            return p;
    }
    return NULL;
}

/* ---- copies ---- */

#define COPY_BYTES (UINT64_C(64) << 20) /* of larger ones only the first */

/* Something that a dispatch beside of the copy did to bytes of a block; NULL: nothing.
 */
static const struct past *met(const struct ck_race *r, const struct shadow_block *b,
                              uint64_t at, uint64_t end, unsigned plane,
                              struct site *site, uint64_t *address)
{
    const struct shadow *s = r->global;
    if (b->top[plane] < s->dead)
        return NULL;
    for (; at < end; at += 1u << b->shift) {
        *site = shadow_site(s, shadow_get(b, (enum shadow_plane)plane, at));
        const struct past *p = site->wave ? race_past(r, site) : NULL;
        if (p && !p->copy) {
            *address = at;
            return p;
        }
    }
    return NULL;
}

static void judge_copy(struct ck *ck, uint64_t from, uint64_t bytes, bool write)
{
    struct ck_race *r = ck->race;
    uint64_t end = from + bytes, stop, address;
    struct site site;
    for (uint64_t at = from; at < end; at = stop) {
        const struct shadow_block *b = shadow_known(r->global, at);
        stop = (at / SHADOW_BLOCK + 1) * SHADOW_BLOCK;
        stop = stop < end ? stop : end;
        unsigned planes = write ? SHADOW_PLANES : SHADOW_READ;
        for (unsigned i = 0; b && i < planes; i++) {
            const struct past *p = met(r, b, at, stop, i, &site, &address);
            if (!p)
                continue;
            race_tell_copy(ck, p, &site, i < SHADOW_READ, address, write);
            return;
        }
    }
}

/* What comes later may run beside it. */
static void note_copy(struct ck_race *r, uint64_t from, uint64_t bytes,
                      enum shadow_plane plane, uint32_t value)
{
    struct shadow *s = r->global;
    for (uint64_t at = from & ~UINT64_C(3); at < from + bytes; at += 4) {
        struct shadow_block *b = shadow_at(s, at);
        uint32_t *v = b ? shadow_put(s, b, plane, at) : NULL;
        if (!v)
            return;
        shadow_raise(b, plane, value >> SHADOW_LANE);
        for (unsigned i = 0; i < 4u >> b->shift; i++)
            v[i] = value;
    }
}

void ck_copied(struct ck *ck, const struct ck_before *before,
               const struct ck_copy *copy)
{
    struct ck_race *r = ck->race;
    uint64_t bytes = copy->bytes < COPY_BYTES ? copy->bytes : COPY_BYTES;
    if (!r || ck->stopped)
        return;
    r->apart = before->apart;
    if (r->apart && copy->from)
        judge_copy(ck, copy->from, bytes, false);
    if (r->apart)
        judge_copy(ck, copy->to, bytes, true);
    if (before->slot == CK_PAST || r->last > UINT32_MAX / 2)
        return;
    struct site site = {.wave = ++r->last, .clock = 1};
    uint32_t last = 0, number = shadow_number(r->global, &site, &last);
    struct past *p = &r->past[before->slot];
    *p = (struct past){.first = r->last,
                       .last = r->last,
                       .groups = {1, 1, 1},
                       .waves_per_group = 1,
                       .lanes = 32,
                       .copy = true};
    if (number && copy->from)
        note_copy(r, copy->from, bytes, SHADOW_READ2, number << SHADOW_LANE);
    if (number)
        note_copy(r, copy->to, bytes, SHADOW_WRITE, number << SHADOW_LANE);
}
