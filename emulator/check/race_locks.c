/* race_locks.c: locks that are taken without dropping caches.
 *
 * Who takes a lock first acquires nothing, so in that run nothing shows that its
 * acquire is missing. What a wave touches between taking a lock (an exchange or a
 * comparison that succeeds, and changes it) and giving it back (what was there before)
 * is marked with the caches that it has not dropped since. Who touches the same later,
 * in the same lock, and is behind of it by nothing else, could as well have come first:
 * then nothing would have ordered the two.
 *
 * Must not know what orders accesses. SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "facts.h"
#include "race.h"

#define HELD 32u /* instructions with accesses to memory: sections are short */

static struct race_section *section_of(struct ck_race *r, uint32_t wave, uint64_t lock)
{
    uint64_t hash = (lock + wave) * UINT64_C(0x9e3779b97f4a7c15);
    return &r->section[hash >> 40 & (RACE_SECTIONS - 1)];
}

static bool data_of(const struct emu_event *e, unsigned lane, uint32_t *value)
{
    unsigned vgpr;
    if (!race_operand(e, ISA_FIELD_DATA0, &vgpr))
        return false;
    *value = emu_wave_vgpr(e->wave, vgpr, lane);
    return true;
}

static bool swaps(const struct emu_event *e)
{
    unsigned op = e->inst->isa.op;
    return op == ISA_GLOBAL_ATOMIC_SWAP_B32 || op == ISA_FLAT_ATOMIC_SWAP_B32 ||
           op == ISA_BUFFER_ATOMIC_SWAP_B32 || isa_facts(op)->mem & ISA_MEM_COMPARE;
}

static bool suits(const struct emu_access *a)
{
    return a->space == EMU_SPACE_GLOBAL && a->write && a->bytes == 4 && !a->scalar;
}

bool race_gives_back(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                     const struct emu_access *a, unsigned lane)
{
    struct ck_race *r = ck->race;
    struct ck_order *o = &w->order;
    uint32_t value;
    if (!o->lock || !suits(a) || a->address[lane] != o->lock ||
        (a->read && !swaps(e)) || !data_of(e, lane, &value) || value != o->lock_was)
        return false;
    struct race_section *s = section_of(r, race_wave(ck, w), o->lock);
    if (s->lock == o->lock && s->wave == race_wave(ck, w))
        s->given = r->stamp;
    o->lock = o->tries = 0;
    o->held = 0;
    return true;
}

void race_tries(struct ck_wave *w, const struct emu_event *e,
                const struct emu_access *a, unsigned lane)
{
    struct ck_order *o = &w->order;
    if (!suits(a) || !a->read || !swaps(e) || o->tries == a->address[lane])
        return;
    o->tries = a->address[lane];
    o->took_before = o->takes;
}

void race_takes(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                const struct emu_access *a, unsigned lane)
{
    struct ck_race *r = ck->race;
    struct ck_order *o = &w->order;
    uint32_t was, value;
    if (!suits(a) || !a->read || !swaps(e) || !data_of(e, lane, &value) ||
        !emu_wave_peek(e->wave, a->space, lane, a->address[lane], 4, (uint8_t *)&was) ||
        was == value)
        return;
    o->lock = a->address[lane];
    o->lock_was = was;
    o->held = HELD;
    o->bare0 = o->bare1 = true;
    *section_of(r, race_wave(ck, w), o->lock) =
        (struct race_section){.lock = o->lock,
                              .wave = race_wave(ck, w),
                              .was = was,
                              .taken = r->stamp,
                              .given = 0};
    r->sections = true;
}

void race_locks_begin(struct ck_race *r)
{
    if (r->sections)
        memset(r->section, 0, sizeof r->section);
    r->sections = false;
}

uint16_t race_plain_flags(const struct ck_wave *w, bool write, bool first)
{
    const struct ck_order *o = &w->order;
    uint16_t flags = write ? race_store_flags(w, first) : 0;
    if (!o->held || (!o->bare0 && !o->bare1))
        return flags;
    if (flags & SITE_AGAIN) /* the site has its own time, by which it is in the lock */
        flags = 0;
    flags |= (o->bare0 ? SITE_BARE0 : 0u) | (o->bare1 ? SITE_BARE1 : 0u);
    return flags;
}

bool race_unfenced(struct ck *ck, const struct ck_wave *w, const struct site *me,
                   const struct site *s)
{
    struct ck_race *r = ck->race;
    const struct ck_order *o = &w->order;
    uint32_t waves = ck->launch.waves_per_group;
    bool near = s->wave && (s->wave - 1) / waves == (me->wave - 1) / waves;
    if (!(s->flags & (near ? SITE_BARE0 : SITE_BARE0 | SITE_BARE1)) || !o->held ||
        s->wave == me->wave || s->wave <= r->others ||
        (near && s->barrier < w->group->barriers))
        return false;
    const struct race_section *in = section_of(r, s->wave, o->lock);
    return in->lock == o->lock && in->wave == s->wave && in->was == o->lock_was &&
           in->given && in->taken <= s->stamp && s->stamp <= in->given &&
           !order_covers(&r->order, o->took_before, me, s, waves);
}
