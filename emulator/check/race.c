/* race.c: accesses of different waves to the same bytes, one of them a write, that
 * nothing orders: LDS within a workgroup, global memory within a dispatch.
 *
 * Order comes from a wave's own instructions, from barriers of the workgroup, and from
 * atomics: who reads with an atomic (or a load past the caches) what another wave has
 * released is behind what that one did before. A release is an atomic, or a store by
 * who has done atomics there before; of memory, only if the wave has waited for its
 * stores. To a load past the caches every such store is one: atomic stores look like
 * others. An acquire of memory counts from buffer_gl0_inv on, towards other workgroups
 * from buffer_gl1_inv on too (a scope is that of the caches), in LDS at once. Waves of
 * a workgroup have vector clocks for LDS. For memory each release is a node of a graph
 * (order.c); the stamps of a clock of the dispatch tell beforehand what cannot be.
 *
 * With ck_config.lanes work-items of one wave are ordered by barriers only, too.
 *
 * Must not know how memory is shadowed. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "race.h"

rd_status ck_race_create(struct ck_race **out)
{
    struct ck_race *r = calloc(1, sizeof *r);
    if (!r)
        return RD_E_NOMEM;
    r->global = shadow_create();
    if (!r->global) {
        free(r);
        return RD_E_NOMEM;
    }
    *out = r;
    return RD_OK;
}

static void forget_releases(struct ck_race *r)
{
    for (size_t i = 0; i < r->room; i++)
        free(r->release[i].clock);
    free(r->release);
    r->release = NULL;
    r->n_releases = r->room = 0;
}

void ck_race_destroy(struct ck_race *r)
{
    if (!r)
        return;
    race_forms_free(r);
    race_doubts_free(r);
    race_handed_free(r);
    shadow_destroy(r->global);
    forget_releases(r);
    order_free(&r->order);
    while (r->spare) {
        struct shadow *s = r->spare;
        r->spare = s->next;
        shadow_destroy(s);
    }
    while (r->logs) {
        struct race_log *log = r->logs;
        r->logs = log->next;
        free(log);
    }
    free(r);
}

bool ck_race_quiet(const struct ck_race *r)
{
    return !r->n_suspended && !r->n_doubts_lds;
}

void ck_race_end(struct ck *ck)
{
    race_tell_suspended(ck, 0);
    race_doubts_end(ck);
}

void ck_race_group(struct ck_race *r, struct ck_group *g)
{
    g->lds = r->spare;
    if (!g->lds) {
        g->lds = shadow_create();
        return;
    }
    r->spare = g->lds->next;
    shadow_begin(g->lds);
}

void ck_race_group_gone(struct ck *ck, struct ck_group *g)
{
    struct ck_race *r = ck->race;
    if (r->asked.wave && r->asked.wave->group == g)
        r->asked.wave = NULL; /* others may have its place */
    race_handed_gone(ck, g);
    if (g->entries) {
        g->entries->next = r->logs;
        r->logs = g->entries;
        g->entries = NULL;
    }
    if (!g->lds)
        return;
    g->lds->next = r->spare;
    r->spare = g->lds;
    g->lds = NULL;
}

void ck_race_begin(struct ck *ck)
{
    struct ck_race *r = ck->race;
    race_begin_waves(ck);
    if (!r->others)
        race_forms_begin(r);
    forget_releases(r);
    order_begin(&r->order);
    r->stamp = 0;
    r->acquired = false;
    r->n_pending = r->n_suspended = 0;
    r->asked.wave = NULL;
    race_locks_begin(r);
    race_handed_begin(r);
    memset(r->polls, 0, sizeof r->polls);
    memset(r->flags, 0, sizeof r->flags);
    memset(r->joined, 0, sizeof r->joined);
    memset(r->waits, 0, sizeof r->waits);
}

/* ---- releases and acquires ---- */

/* LDS addresses of workgroups are apart: above all GPU addresses. */
static uint64_t release_key(const struct ck_wave *w, unsigned space, uint64_t address)
{
    return space == EMU_SPACE_LDS ? (w->info->group + 1) << 20 | 1u << 19 |
                                        (address & 0x7ffff) | UINT64_C(1) << 63
                                  : address;
}

static struct release *find_release(const struct ck_race *r, uint64_t key)
{
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (r->room - 1);
    while (r->release[i].key && r->release[i].key != key)
        i = (i + 1) & (r->room - 1);
    return &r->release[i];
}

static bool grow_releases(struct ck_race *r)
{
    struct ck_race bigger = {.room = r->room ? 2 * r->room : 256};
    bigger.release = calloc(bigger.room, sizeof *bigger.release);
    if (!bigger.release)
        return false;
    for (size_t i = 0; i < r->room; i++)
        if (r->release[i].key)
            *find_release(&bigger, r->release[i].key) = r->release[i];
    free(r->release);
    r->release = bigger.release;
    r->room = bigger.room;
    return true;
}

/* The record of an address; without create NULL if it has none. */
static struct release *release_at(struct ck_race *r, uint64_t key, bool create)
{
    if (2 * r->n_releases >= r->room && (!create || !grow_releases(r)) && !r->room)
        return NULL;
    struct release *at = find_release(r, key);
    if (at->key)
        return at;
    if (!create || 2 * r->n_releases >= r->room)
        return NULL;
    at->key = key;
    r->n_releases++;
    return at;
}

/* Are the waves of these numbers of one workgroup? */
static bool same_group(const struct ck *ck, uint32_t a, uint32_t b)
{
    uint32_t waves = ck->launch.waves_per_group;
    return (a - 1) / waves == (b - 1) / waves;
}

/* The wave has read what that one has released last, at stamp. */
static void acquire_until(const struct ck *ck, struct ck_wave *w, uint32_t stamp,
                          uint32_t node, uint32_t from)
{
    struct ck_order *o = &w->order;
    struct order *order = &ck->race->order;
    ck->race->acquired = true;
    if (stamp > o->acquiring)
        o->acquiring = stamp;
    o->takes = order_join(order, o->takes, order_take(order, node));
    if (!from || !same_group(ck, from, race_wave(ck, w)))
        return;
    if (stamp > o->handed)
        o->handed = stamp;
    o->takes_handed = order_join(order, o->takes_handed, node);
}

/* Lanes have read with an atomic what was released at at. */
static void acquire(const struct ck *ck, struct ck_wave *w, unsigned space,
                    const struct release *at, uint64_t lanes)
{
    if (!at)
        return;
    if (space != EMU_SPACE_LDS) {
        acquire_until(ck, w, at->stamp, at->node, (uint32_t)(at->owner >> 6));
        return;
    }
    ck->race->acquired = true;
    for (unsigned i = 0; at->clock && i < w->group->n_waves; i++)
        if (at->clock[i] > w->order.knows[i])
            w->order.knows[i] = at->clock[i];
    for (uint64_t m = ck->config.lanes && at->clock ? lanes : 0; m; m &= m - 1)
        race_lane_knows(&w->order, (unsigned)__builtin_ctzll(m),
                        at->clock[w->info->wave]);
    w->order.met |= at->clock != NULL;
    if (at->stamp > w->order.behind) /* what that one was behind of */
        w->order.behind = at->stamp;
    w->order.knows_all = order_join(&ck->race->order, w->order.knows_all, at->node);
}

static void release_lds(struct ck_race *r, struct ck_wave *w, struct release *at)
{
    uint32_t n = w->group->n_waves, me = w->info->wave;
    if (!at->clock)
        at->clock = calloc(n, sizeof *at->clock);
    if (!at->clock)
        return;
    for (unsigned i = 0; i < n; i++)
        if (w->order.knows[i] > at->clock[i])
            at->clock[i] = w->order.knows[i];
    at->clock[me] = w->order.clock++;
    if (w->order.behind > at->stamp)
        at->stamp = w->order.behind;
    at->node = order_join(&r->order, at->node, w->order.knows_all);
}

static void release_here(struct ck_race *r, struct ck_wave *w, unsigned space,
                         struct release *at, const struct site *me)
{
    if (!at)
        return;
    if (space == EMU_SPACE_LDS) {
        release_lds(r, w, at);
    } else {
        race_release_memory(r, &w->order, at, me);
    }
}

bool race_released(const struct ck *ck, const struct ck_wave *w, unsigned space,
                   uint64_t address)
{
    const struct ck_race *r = ck->race;
    return r->room && find_release(r, release_key(w, space, address))->key;
}

uint32_t *race_last(struct ck_wave *w, unsigned space, uint32_t pc)
{
    unsigned at = pc / 4 % CK_SITES;
    return space == EMU_SPACE_LDS ? &w->order.lds_site[at] : &w->order.site[at];
}

/* ---- conflicts ---- */

/* Between lanes of a wave running in step is an order for the chip, none for the
 * languages. */
static bool lanes_ordered(const struct ck *ck, const struct ck_wave *w, unsigned lane,
                          const struct site *s)
{
    return !ck->config.lanes || s->lane == lane || s->barrier < w->group->barriers ||
           s->clock <= w->order.own[lane];
}

/* Has the wave acquired a release that the access is behind of? Numbers tell most of
 * those that are not apart. Loads past the caches need not have dropped them. */
static bool acquired(const struct ck *ck, const struct ck_wave *w,
                     const struct site *me, const struct site *s)
{
    struct order *order = &ck->race->order;
    uint32_t waves = ck->launch.waves_per_group;
    return (s->stamp < w->order.behind &&
            order_covers(order, w->order.knows_all, me, s, waves)) ||
           (s->stamp < w->order.near && same_group(ck, s->wave, me->wave) &&
            order_covers(order, w->order.knows_near, me, s, waves)) ||
           (me->flags & SITE_LOADS && s->stamp < w->order.acquiring &&
            order_covers(order, w->order.takes, me, s, waves));
}

bool race_ordered(const struct ck *ck, const struct ck_wave *w, const struct site *me,
                  const struct site *s)
{
    uint32_t waves = ck->launch.waves_per_group;
    if (!s->wave || (s->wave == me->wave && lanes_ordered(ck, w, me->lane, s)))
        return true;
    if (s->wave <= ck->race->others)
        return w->order.crossed || !race_past(ck->race, s);
    if (s->wave != me->wave && same_group(ck, s->wave, me->wave) &&
        (s->barrier < w->group->barriers ||
         s->clock <= w->order.knows[(s->wave - 1) % waves]))
        return true;
    return acquired(ck, w, me, s);
}

/* Do two unordered accesses conflict, of which one writes? */
static bool excused(const struct site *a, const struct site *b)
{
    bool strict = a->flags & SITE_ATOMIC && b->flags & SITE_ATOMIC;
    bool unlocks =
        (a->flags | b->flags) & SITE_OWNER &&
        ((a->flags | b->flags) & SITE_ATOMIC || a->flags & b->flags & SITE_OWNER);
    return strict || unlocks;
}

/* Is one a load past the caches, and the other a store? In the code an atomic
 * store is a store, so nobody knows that it is none. What is volatile shows (DLC), and
 * is none, but programs poll flags so. */
static bool both_may_be_atomic(struct ck *ck, const struct emu_access *a,
                               const struct site *me, const struct site *s,
                               bool s_writes)
{
    bool may = s_writes ? me->flags & SITE_LOADS && !(s->flags & SITE_ATOMIC)
                        : s->flags & SITE_LOADS && a->write && !a->read;
    if (!may || (a->space == EMU_SPACE_GLOBAL &&
                 race_tears(ck, s_writes ? me : s, s_writes ? s : me)))
        return false;
    return !((me->flags | s->flags) & SITE_VOLATILE) ||
           race_polls(ck, s_writes ? me : s);
}

static bool same_actor(const struct ck *ck, const struct site *a, const struct site *b)
{
    return a->wave == b->wave && (!ck->config.lanes || a->lane == b->lane);
}

/* Does an atomic load read what an atomic store may have left? Of LDS, what who has
 * done atomics there has stored is one, and a load by DS may be one. */
static bool hands_over(struct ck *ck, const struct emu_event *e,
                       const struct emu_access *a, const struct site *me,
                       const struct site *s)
{
    bool owned =
        s->flags & SITE_OWNER && isa_facts(e->inst->isa.op)->space == ISA_SPACE_LDS;
    if (a->space == EMU_SPACE_LDS)
        return !a->write && (me->flags & SITE_LOADS || owned) && s->wave &&
               !same_actor(ck, s, me) && !(s->flags & SITE_ATOMIC) &&
               race_flag_released(ck, s) &&
               (!((me->flags | s->flags) & SITE_VOLATILE) || race_polls(ck, me));
    return !a->write && me->flags & SITE_ATOMIC &&
           s->flags & (SITE_RELEASES | SITE_AGAIN) &&
           (!(s->flags & SITE_NARROW) || same_group(ck, s->wave, me->wave)) &&
           (!((me->flags | s->flags) & SITE_VOLATILE) || race_polls(ck, me));
}

/* LLVM says so of loads (GLC and DLC) and of stores (DLC), and of nothing else. */
static bool is_volatile(const struct emu_event *e, const struct emu_access *a)
{
    return !a->scalar && a->read != a->write &&
           isa_facts(e->inst->isa.op)->space != ISA_SPACE_LDS &&
           (a->space == EMU_SPACE_GLOBAL || a->space == EMU_SPACE_LDS) &&
           (e->inst->isa.flags & (ISA_M_DLC | ISA_M_SLC)) == ISA_M_DLC;
}

static void add_pending(struct ck_race *r, const struct emu_event *e,
                        const struct emu_access *a, unsigned lane, uint64_t address,
                        unsigned bytes, const struct site *other, bool other_writes)
{
    for (unsigned i = 0; i < r->n_pending; i++) {
        struct pending *p = &r->pending[i];
        if (p->other.pc == other->pc && p->other_writes == other_writes &&
            p->space == a->space && p->write == a->write) {
            p->lanes |= UINT64_C(1) << lane;
            if (!a->write || !other_writes)
                return;
        }
    }
    if (r->n_pending == PENDING)
        return;
    struct pending *p = &r->pending[r->n_pending++];
    *p = (struct pending){.other = *other,
                          .address = address,
                          .lanes = a->scalar ? 0 : UINT64_C(1) << lane,
                          .bytes = (uint16_t)bytes,
                          .space = a->space,
                          .lane = (uint8_t)lane,
                          .write = a->write,
                          .atomic = a->read && a->write,
                          .is_volatile = is_volatile(e, a),
                          .other_writes = other_writes};
    p->known = emu_wave_peek(e->wave, a->space, lane, address, bytes, p->before);
}

/* Two lanes of the same store at the same address, with the same data. */
static bool is_twin(const struct emu_event *e, const struct emu_access *a,
                    const struct site *me, const struct site *s)
{
    return s->wave == me->wave && s->pc == me->pc && a->write && !a->read &&
           a->address[me->lane] == a->address[s->lane] && a->lanes >> s->lane & 1 &&
           race_same_data(e, a, me->lane, s->lane);
}

static struct site site_at(const struct shadow *s, const struct shadow_block *b,
                           enum shadow_plane plane, uint64_t address)
{
    return shadow_site(s, shadow_get(b, plane, address));
}

static void set_site(struct shadow *s, struct shadow_block *b, enum shadow_plane plane,
                     uint64_t address, uint32_t value)
{
    uint32_t *v = shadow_put(s, b, plane, address);
    if (!v)
        return;
    shadow_raise(b, plane, value >> SHADOW_LANE);
    *v = value;
}

/* What the access makes of what is known of an address. last: of me, as of
 * shadow_number; asked last, since others may be new. */
static void note(const struct ck *ck, const struct ck_wave *w, struct shadow *s,
                 struct shadow_block *b, uint64_t address, const struct site *me,
                 uint32_t *last, bool read, bool write)
{
    enum shadow_plane plane = read ? SHADOW_ATOMIC : SHADOW_WRITE;
    uint32_t other = 0;
    for (unsigned i = SHADOW_READ; i <= SHADOW_READ2 && me->flags & SITE_COMPARES;
         i++) {
        struct site begun = site_at(s, b, (enum shadow_plane)i, address);
        if (begun.wave != me->wave || begun.flags & SITE_ATOMIC)
            continue;
        begun.flags |= SITE_ATOMIC;
        uint32_t renewed = shadow_number(s, &begun, &other);
        set_site(s, b, (enum shadow_plane)i, address,
                 renewed << SHADOW_LANE | begun.lane);
    }
    if (!write) {
        struct site first = site_at(s, b, SHADOW_READ, address);
        bool taken = first.wave && !same_actor(ck, &first, me) &&
                     !race_ordered(ck, w, me, &first);
        plane = taken ? SHADOW_READ2 : SHADOW_READ;
    }
    set_site(s, b, plane, address,
             shadow_number(s, me, last) << SHADOW_LANE | me->lane);
}

/* Does me add to what its wave has loaded past the caches before? Then what is stored
 * there may be so by atomics. */
static bool has_loaded(const struct shadow *s, const struct shadow_block *b,
                       uint64_t address, const struct site *me)
{
    bool adds = (me->flags & (SITE_ATOMIC | SITE_LOADS)) == SITE_ATOMIC;
    for (unsigned i = SHADOW_READ; i <= SHADOW_READ2 && adds; i++) {
        struct site seen = site_at(s, b, (enum shadow_plane)i, address);
        if (seen.wave == me->wave && seen.flags & SITE_LOADS)
            return true;
    }
    return false;
}

/* Is it a store of which its wave has waited, past the caches, for what was written
 * there? Then both may be atomic; or of something volatile, of which it has loaded what
 * was written after it had acquired that: then the one comes behind the other without
 * dropped caches. */
static bool follows(struct ck *ck, const struct ck_wave *w, const struct shadow *s,
                    const struct shadow_block *b, uint64_t address,
                    const struct emu_access *a, const struct site *me,
                    const struct site *written)
{
    bool loaded = false;
    for (unsigned i = SHADOW_READ; i <= SHADOW_READ2 && a->write && !a->read; i++) {
        struct site seen = site_at(s, b, (enum shadow_plane)i, address);
        bool mine = seen.wave == me->wave && seen.flags & SITE_LOADS;
        if (mine && !((me->flags | seen.flags | written->flags) & SITE_VOLATILE) &&
            race_polls(ck, &seen))
            return true;
        loaded |= mine && me->flags & SITE_VOLATILE;
    }
    return loaded && written->stamp < w->order.acquiring &&
           order_covers(&ck->race->order, w->order.takes, me, written,
                        ck->launch.waves_per_group);
}

static bool returns(const struct emu_event *e)
{
    uint32_t mem = isa_facts(e->inst->isa.op)->mem;
    return mem & ISA_MEM_RETURNS ||
           (mem & ISA_MEM_GLC && e->inst->isa.flags & ISA_M_GLC);
}

/* Does an atomic come behind plain accesses to a dword of LDS only by what it is about
 * to acquire there? Nothing made it wait for them, so it could as well come first.
 * Where who has done atomics stores, loads may be atomic, too. One that compares would
 * fail, and read only, before the reader's own atomic behind its read. */
static void judge_first(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                        const struct emu_access *a, struct shadow *s,
                        const struct site *lane, bool succeeds)
{
    uint64_t at = a->address[lane->lane];
    const struct shadow_block *b = shadow_at(s, at);
    bool compares = isa_facts(e->inst->isa.op)->mem & ISA_MEM_COMPARE;
    struct site me = *lane, other, last;
    if (a->space != EMU_SPACE_LDS || !a->read || !a->write || !b)
        return;
    me.flags = SITE_ATOMIC;
    last = site_at(s, b, SHADOW_ATOMIC, at);
    other = site_at(s, b, SHADOW_WRITE, at);
    bool reads = !succeeds || other.flags & SITE_OWNER;
    if (!race_ordered(ck, w, &me, &other) && !excused(&me, &other))
        add_pending(ck->race, e, a, lane->lane, at, 1u << b->shift, &other, true);
    for (unsigned k = SHADOW_READ; k <= SHADOW_READ2 && !reads; k++) {
        other = site_at(s, b, (enum shadow_plane)k, at);
        bool left = compares && same_actor(ck, &last, &other);
        if (!(left && last.clock >= other.clock) && !excused(&me, &other) &&
            !race_ordered(ck, w, &me, &other) && !race_is_flag(ck, &other))
            add_pending(ck->race, e, a, lane->lane, at, 1u << b->shift, &other, false);
    }
}

/* One dword, or byte, of one lane. succeeds: no comparison fails. */
static void judge_value(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                        const struct emu_access *a, struct shadow *s,
                        struct shadow_block *b, uint64_t at, const struct site *me,
                        uint32_t *last, bool write)
{
    struct ck_race *r = ck->race;
    unsigned grain = 1u << b->shift;
    struct site written = site_at(s, b, SHADOW_WRITE, at),
                atomic = site_at(s, b, SHADOW_ATOMIC, at);
    uint32_t others = r->others, stamp;
    if (me->flags & SITE_ATOMIC && a->read)
        w->order.crossed |= (written.wave && written.wave <= others) ||
                            (atomic.wave && atomic.wave <= others);
    bool handed = written.wave > others && hands_over(ck, e, a, me, &written);
    if (handed && a->space == EMU_SPACE_LDS) {
        race_take_flag(ck, w, me, &written);
    } else if (handed) {
        uint32_t node = race_handed(ck, w, &written, &stamp);
        acquire_until(ck, w, stamp, node, written.wave);
    }
    if ((!handed || written.flags & SITE_AGAIN) && !race_ordered(ck, w, me, &written) &&
        !excused(me, &written) && !both_may_be_atomic(ck, a, me, &written, true) &&
        !has_loaded(s, b, at, me) && !is_twin(e, a, me, &written) &&
        !follows(ck, w, s, b, at, a, me, &written))
        add_pending(r, e, a, me->lane, at, grain, &written, true);
    if (!race_ordered(ck, w, me, &atomic) && !excused(me, &atomic))
        add_pending(r, e, a, me->lane, at, grain, &atomic, true);
    if (race_unfenced(ck, w, me, &written))
        add_pending(r, e, a, me->lane, at, grain, &written, true);
    for (unsigned k = SHADOW_READ; k <= SHADOW_READ2 && write; k++) {
        struct site seen = site_at(s, b, (enum shadow_plane)k, at);
        if (a->space == EMU_SPACE_LDS && seen.wave && !(seen.flags & SITE_ATOMIC) &&
            !race_ordered(ck, w, me, &seen) &&
            (me->flags & SITE_OWNER || race_is_flag(ck, &seen)))
            seen.flags |= SITE_ATOMIC | SITE_LOADS;
        if (race_unfenced(ck, w, me, &seen) ||
            (!race_ordered(ck, w, me, &seen) && !excused(me, &seen) &&
             !both_may_be_atomic(ck, a, me, &seen, false)))
            add_pending(r, e, a, me->lane, at, grain, &seen, false);
    }
    note(ck, w, s, b, at, me, last, a->read, write);
}

/* The bytes of one lane. */
static void judge_bytes(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                        const struct emu_access *a, struct shadow *s,
                        const struct site *me, bool succeeds)
{
    uint64_t at = a->address[a->scalar ? 0 : me->lane], end = at + a->bytes;
    uint32_t *last = race_last(w, a->space, me->pc);
    while (at < end) {
        struct shadow_block *b = shadow_at(s, at);
        uint64_t stop = (at / SHADOW_BLOCK + 1) * SHADOW_BLOCK;
        stop = end < stop ? end : stop;
        if (b && b->shift < 2 && !shadow_split(s, b, 0))
            b = NULL;
        for (; b && at < stop; at += 1u << b->shift)
            judge_value(ck, w, e, a, s, b, at, me, last, a->write && succeeds);
        at = stop;
    }
}

/* Blocks of which lanes touch parts of dwords are split before any lane is judged, as
 * race_rows.c does it: so findings have the same bytes whoever has looked first. */
static void split_blocks(struct shadow *s, const struct emu_access *a)
{
    for (uint64_t m = a->lanes; m; m &= m - 1) {
        uint64_t at = a->address[__builtin_ctzll(m)], end = at + a->bytes, stop;
        for (; at < end; at = stop) {
            stop = (at / SHADOW_BLOCK + 1) * SHADOW_BLOCK;
            stop = end < stop ? end : stop;
            struct shadow_block *b = (at | stop) % 4 ? shadow_at(s, at) : NULL;
            if (b) /* out of memory: values stay those of dwords */
                (void)shadow_split(s, b, 0);
        }
    }
}

/* As loads of atomics do. With SLC it is data that nobody reads again. */
static bool past_caches(const struct emu_event *e, const struct emu_access *a)
{
    return a->space == EMU_SPACE_GLOBAL && a->read && !a->scalar &&
           (e->inst->isa.flags & (ISA_M_GLC | ISA_M_SLC)) == ISA_M_GLC;
}

/* Who gives back a lock: the wave, or its lane where lanes race. */
static uint64_t owner_of(const struct ck *ck, const struct site *me)
{
    return (uint64_t)me->wave << 6 | (ck->config.lanes ? me->lane : 0u);
}

/* An atomic has released, and acquired, for all lanes of the wave: they are in order.
 */
static void order_lanes(struct ck_wave *w, unsigned space)
{
    if (space != EMU_SPACE_LDS && w->order.stores_out)
        return;
    for (unsigned i = 0; i < 64; i++)
        race_lane_knows(&w->order, i, w->order.clock);
    w->order.clock++; /* what comes later is not */
}

/* changes: an atomic does not leave what is there. */
static uint16_t flags_of(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                         const struct emu_access *a, uint64_t address,
                         const struct site *me, bool changes)
{
    struct ck_race *r = ck->race;
    uint64_t owner = owner_of(ck, me);
    bool atomic = a->read && a->write;
    bool global = a->space == EMU_SPACE_GLOBAL,
         first = global && a->write && race_stores_first(ck, w, e, a);
    uint16_t plain = global ? race_plain_flags(w, a->write, first) : 0;
    uint8_t how = is_volatile(e, a) ? SITE_VOLATILE : 0;
    uint64_t key = release_key(w, a->space, address);
    plain |= how;
    if (!atomic && !past_caches(e, a) && !race_loads_flag(ck, e, a) &&
        (!a->write || !r->room))
        return plain;
    struct release *at = release_at(r, key, atomic);
    if (atomic) {
        if (returns(e))
            acquire(ck, w, a->space, at, UINT64_C(1) << me->lane);
        release_here(r, w, a->space, at, me);
        if (ck->config.lanes && race_is_for_all(ck, e, a))
            order_lanes(w, a->space);
        if (at && changes) /* who tries a lock in vain has not got it */
            at->owner = owner;
        return isa_facts(e->inst->isa.op)->mem & ISA_MEM_COMPARE
                   ? SITE_ATOMIC | SITE_COMPARES
                   : SITE_ATOMIC;
    }
    if (!a->write) {
        acquire(ck, w, a->space, at, UINT64_C(1) << me->lane);
        return SITE_ATOMIC | SITE_LOADS | how;
    }
    if (!at || at->owner != owner)
        return plain;
    release_here(r, w, a->space, at, me);
    return SITE_OWNER | how;
}

static struct shadow *shadow_of(const struct ck *ck, const struct ck_wave *w,
                                unsigned space)
{
    return space == EMU_SPACE_LDS      ? w->group->lds
           : space == EMU_SPACE_GLOBAL ? ck->race->global
                                       : NULL;
}

/* Whose access it is. Where lanes race a scalar load is one by all lanes that are on:
 * the first and the last are enough for somebody else to meet one of them. */
static uint64_t actors(const struct ck *ck, const struct emu_event *e,
                       const struct emu_access *a, uint64_t lanes)
{
    if (!a->scalar || !ck->config.lanes || !e->exec || !(a->lanes & lanes))
        return a->lanes & lanes;
    return (e->exec & -e->exec) | UINT64_C(1) << (63 - __builtin_clzll(e->exec));
}

void race_judge(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                const struct emu_access *a, uint64_t lanes)
{
    struct shadow *shadow = shadow_of(ck, w, a->space);
    struct site me = {.wave = race_wave(ck, w),
                      .pc = (uint32_t)(e->inst->pc - ck->launch.code_base),
                      .barrier = (uint32_t)w->group->barriers};
    if (!shadow)
        return;
    uint64_t keep = a->read && a->write ? race_keeping(e, a, a->lanes & lanes) : 0;
    uint64_t fail = isa_facts(e->inst->isa.op)->mem & ISA_MEM_COMPARE ? keep : 0;
    for (uint64_t m = actors(ck, e, a, lanes); m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(m);
        me.lane = (uint8_t)lane;
        me.stamp = ck->race->stamp;
        me.clock = w->order.clock;
        judge_first(ck, w, e, a, shadow, &me, !(fail >> lane & 1));
        bool gives = !a->scalar && race_gives_back(ck, w, e, a, lane);
        race_tries(w, e, a, lane);
        me.flags = flags_of(ck, w, e, a, a->address[a->scalar ? 0 : lane], &me,
                            !(keep >> lane & 1));
        if (me.flags & (SITE_RELEASES | SITE_AGAIN))
            me.stamp = race_store_stamp(ck->race, &w->order, me.flags);
        if (!gives && !(fail >> lane & 1))
            race_takes(ck, w, e, a, lane);
        judge_bytes(ck, w, e, a, shadow, &me, !(fail >> lane & 1));
    }
    if (w->order.held && a->space == EMU_SPACE_GLOBAL && !(me.flags & SITE_ATOMIC))
        w->order.held--;
    race_stores_flag(w, a);
    if (me.flags & SITE_RELEASES)
        race_stored(ck->race, w);
}

/* A load of memory by the caches, so that others who load there need not be looked at
 * lane by lane because of it. */
static bool reads_row(const struct emu_event *e, uint64_t lanes)
{
    const struct emu_access *a = e->access;
    return e->n_accesses == 1 && !(a->lanes & ~lanes) && a->read && !a->write &&
           a->space == EMU_SPACE_GLOBAL && !past_caches(e, a);
}

static void judge_event(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                        uint64_t lanes)
{
    struct ck_group *g = w->group;
    if (ck->race->native && reads_row(e, lanes) && race_row_ask(ck, w, e))
        return;
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        struct shadow *s = shadow_of(ck, w, a->space);
        if (s)
            split_blocks(s, a);
    }
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (a->space == EMU_SPACE_LDS) {
            race_catch_up(ck, g);
            if (a->write)
                race_lds_written(g);
        }
        if (a->space == EMU_SPACE_GLOBAL && !a->write && !a->scalar &&
            !past_caches(e, a))
            race_loads(&w->order, a->lanes & (a->lanes - 1));
        race_judge(ck, w, e, a, lanes);
    }
    g->log.tag = ck->race->stamp;
}

void ck_race_before(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                    uint64_t lanes)
{
    struct ck_race *r = ck->race;
    race_anew(r);
    r->judged = true;
    if (r->asked.wave == w && r->asked.index == e->index) { /* and refused it */
        w->order.stores_out = r->asked.stores_out;
        w->order.out_at = r->asked.out_at;
        w->order.clock = r->asked.clock;
        r->stamp = r->asked.stamp;
        w->order.done = r->asked.done;
    }
    judge_event(ck, w, e, lanes);
}

void ck_race_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct ck_race *r = ck->race;
    struct ck_order *o = &w->order;
    if (!r->judged) /* addresses that only the handler knew */
        judge_event(ck, w, e, ~UINT64_C(0));
    r->judged = false;
    race_tell(ck, w, e);
    if (isa_facts(e->inst->isa.op)->mem & ISA_MEM_COMPARE)
        for (unsigned i = 0; i < e->n_accesses; i++)
            race_forgive(r, race_wave(ck, w), &e->access[i]);
    if (e->inst->kind == EMU_KIND_BARRIER || e->flags & EMU_EV_ENDED)
        race_tell_suspended(ck, race_wave(ck, w));
    o->waited &= !e->n_accesses;
    for (unsigned i = 0; i < e->n_accesses; i++)
        if (e->access[i].write && e->access[i].space == EMU_SPACE_GLOBAL &&
            !(e->access[i].read && returns(e))) /* VMcnt counts those */
            race_is_out(o, &e->access[i]);
    ck_race_order(ck, w, e->inst);
}
