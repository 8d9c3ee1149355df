/* race.c: accesses of different waves to the same bytes, one of them a write, that
 * nothing orders: LDS within a workgroup, global memory within a dispatch.
 *
 * Order comes from a wave's own instructions, from barriers of the workgroup, and from
 * atomics: who reads with an atomic (or a load past the caches) what another wave has
 * released is behind what that one did before. A release is an atomic, or a store by
 * who has done atomics there before; of memory, only if the wave has waited for its
 * stores. To a load past the caches every such store is one: atomic stores look like
 * others. An acquire of memory counts from buffer_gl0_inv on, in LDS at once. Waves of
 * a workgroup have vector clocks for LDS. For memory there is one clock of the
 * dispatch, which is generous: everything before a release counts, whoever did it.
 *
 * With ck_config.lanes work-items of one wave are ordered by barriers only, too.
 *
 * Must not know how memory is shadowed. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "internal.h"

#define SUSPENDED 32u
#define PENDING   32u /* conflicts of one instruction that are looked at */

/* A conflict that waits for the instruction to be done, so that values can be
 * compared. */
struct pending {
    struct site other;
    uint64_t address, lanes;
    uint16_t bytes;
    uint8_t space, lane;
    bool write, atomic, other_writes, known;
    uint8_t before[64];
};

/* A plain read beside an atomic. Compilers begin loops of compare-and-swap with one: it
 * is told of only if its wave has not compared at the address until it passes a barrier
 * or ends. */
struct suspended {
    uint32_t reader; /* number of its wave; 0: free */
    uint64_t address;
    struct ck_finding finding;
};

/* When something was last released at an address. */
struct release {
    uint64_t key; /* 0: free */
    uint32_t stamp;
    uint64_t owner;  /* the wave that has done atomics there last; see owner_of */
    uint32_t *clock; /* LDS: by wave of the workgroup, what is released; or NULL */
};

struct ck_race {
    struct shadow *global;
    struct release *release; /* open addressing */
    size_t n_releases, room;
    uint32_t stamp; /* releases so far */
    struct pending pending[PENDING];
    unsigned n_pending;
    struct suspended suspended[SUSPENDED];
    unsigned n_suspended;
    bool judged; /* the running instruction has been looked at */
};

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
    shadow_destroy(r->global);
    forget_releases(r);
    free(r);
}

void ck_race_begin(struct ck_race *r)
{
    shadow_clear(r->global);
    forget_releases(r);
    r->stamp = 0;
    r->n_pending = r->n_suspended = 0;
}

static uint32_t wave_number(const struct ck *ck, const struct ck_wave *w)
{
    return (uint32_t)(w->info->group * ck->launch.waves_per_group + w->info->wave) + 1;
}

/* ---- releases and acquires ---- */

/* LDS addresses of workgroups are apart: above all GPU addresses. */
static uint64_t release_key(const struct ck_wave *w, unsigned space, uint64_t address)
{
    return space == EMU_SPACE_LDS ? (w->info->group + 1) << 20 | 1u << 19 |
                                        (address & 0x7ffff) | UINT64_C(1) << 63
                                  : address;
}

static struct release *find_release(struct ck_race *r, uint64_t key)
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

/* The wave has read with an atomic what was released at at. */
static void acquire(struct ck_wave *w, unsigned space, const struct release *at)
{
    if (!at)
        return;
    if (space != EMU_SPACE_LDS) {
        if (at->stamp > w->order.acquiring)
            w->order.acquiring = at->stamp;
        return;
    }
    for (unsigned i = 0; at->clock && i < w->group->n_waves; i++)
        if (at->clock[i] > w->order.knows[i])
            w->order.knows[i] = at->clock[i];
}

static void release_lds(struct ck_wave *w, struct release *at)
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
}

static void release_here(struct ck_race *r, struct ck_wave *w, unsigned space,
                         struct release *at)
{
    if (!at)
        return;
    if (space == EMU_SPACE_LDS)
        release_lds(w, at);
    else if (!w->order.stores_out)
        at->stamp = ++r->stamp;
}

/* ---- conflicts ---- */

/* Between lanes of a wave running in step is an order for the chip, none for the
 * languages. */
static bool lanes_ordered(const struct ck *ck, const struct ck_wave *w, unsigned lane,
                          const struct site *s)
{
    return !ck->config.lanes || s->lane == lane || s->barrier < w->group->barriers;
}

static bool ordered(const struct ck *ck, const struct ck_wave *w, const struct site *me,
                    const struct site *s)
{
    uint32_t waves = ck->launch.waves_per_group;
    if (!s->wave || s->stamp < w->order.behind)
        return true;
    if (s->wave == me->wave)
        return lanes_ordered(ck, w, me->lane, s);
    if ((s->wave - 1) / waves != (me->wave - 1) / waves)
        return false;
    return s->barrier < w->group->barriers ||
           s->clock <= w->order.knows[(s->wave - 1) % waves];
}

/* Do two unordered accesses conflict, of which one writes? */
static bool excused(const struct site *a, const struct site *b)
{
    bool strict = a->flags & SITE_ATOMIC && b->flags & SITE_ATOMIC;
    bool unlocks =
        (a->flags | b->flags) & SITE_OWNER && (a->flags | b->flags) & SITE_ATOMIC;
    return strict || unlocks;
}

/* Does an atomic load read what an atomic store may have left? */
static bool hands_over(const struct emu_access *a, const struct site *me,
                       const struct site *s)
{
    return !a->write && me->flags & SITE_ATOMIC && s->flags & SITE_RELEASES;
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
                          .other_writes = other_writes};
    p->known = emu_wave_peek(e->wave, a->space, lane, address, bytes, p->before);
}

static bool same_actor(const struct ck *ck, const struct site *a, const struct site *b)
{
    return a->wave == b->wave && (!ck->config.lanes || a->lane == b->lane);
}

/* The first VGPR of an operand with data, by the name that DS has for its field; false:
 * none is known. */
static bool operand_of(const struct emu_event *e, unsigned field, unsigned *vgpr)
{
    const struct isa_inst *inst = &e->inst->isa;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        bool first = o->field == ISA_FIELD_DATA || o->field == ISA_FIELD_VDATA;
        if (o->sel < ISA_SEL_VGPR0 || o->kind != ISA_OPND_REG ||
            (o->field != field && !(first && field == ISA_FIELD_DATA0)))
            continue;
        *vgpr = o->sel - ISA_SEL_VGPR0;
        return true;
    }
    return false;
}

/* Do two lanes of one store write the same? */
static bool same_data(const struct emu_event *e, const struct emu_access *a, unsigned l,
                      unsigned other)
{
    unsigned vgpr, bytes = a->bytes;
    if (!operand_of(e, ISA_FIELD_DATA0, &vgpr))
        return true; /* not known to differ */
    uint32_t mask = bytes < 4 ? (1u << 8 * bytes) - 1 : ~0u;
    for (unsigned k = 0; k < (bytes + 3) / 4; k++)
        if ((emu_wave_vgpr(e->wave, vgpr + k, l) ^
             emu_wave_vgpr(e->wave, vgpr + k, other)) &
            mask)
            return false;
    return true;
}

/* Two lanes of the same store at the same address, with the same data. */
static bool is_twin(const struct emu_event *e, const struct emu_access *a,
                    const struct site *me, const struct site *s)
{
    return s->wave == me->wave && s->pc == me->pc && a->write && !a->read &&
           a->address[me->lane] == a->address[s->lane] && a->lanes >> s->lane & 1 &&
           same_data(e, a, me->lane, s->lane);
}

/* The lanes whose comparison fails: they only read. Lanes take their turns in order.
 */
static uint64_t failing(const struct emu_event *e, const struct emu_access *a,
                        uint64_t lanes)
{
    uint64_t fail = 0;
    uint32_t now[64];
    unsigned data, compare;
    bool pair = a->space != EMU_SPACE_LDS;
    if (a->bytes != 4 || !operand_of(e, ISA_FIELD_DATA0, &data))
        return 0;
    if (pair)
        compare = data + 1;
    else if (!operand_of(e, ISA_FIELD_DATA1, &compare))
        return 0;
    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        if (!emu_wave_peek(e->wave, a->space, l, a->address[l], 4, (uint8_t *)&now[l]))
            return 0;
    }
    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        if (now[l] != emu_wave_vgpr(e->wave, compare, l)) {
            fail |= UINT64_C(1) << l;
            continue;
        }
        for (uint64_t k = m; k; k &= k - 1) /* the later ones find this */
            if (a->address[__builtin_ctzll(k)] == a->address[l])
                now[__builtin_ctzll(k)] = emu_wave_vgpr(e->wave, data, l);
    }
    return fail;
}

/* What the access makes of a cell. */
static void note(const struct ck *ck, const struct ck_wave *w, struct cell *c,
                 const struct site *me, bool read, bool write)
{
    for (unsigned i = 0; i < 2 && me->flags & SITE_COMPARES; i++)
        if (c->read[i].wave == me->wave)
            c->read[i].flags |= SITE_ATOMIC;
    if (write) {
        *(read ? &c->atomic : &c->write) = *me;
        return;
    }
    unsigned i = 0;
    while (i < 2 && c->read[i].wave && !same_actor(ck, &c->read[i], me) &&
           !ordered(ck, w, me, &c->read[i]))
        i++;
    c->read[i < 2 ? i : 1] = *me;
}

/* The bytes of one lane, in one block of the shadow. succeeds: no comparison fails. */
static void judge_bytes(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                        const struct emu_access *a, struct shadow *shadow,
                        uint64_t address, unsigned bytes, const struct site *me,
                        bool succeeds)
{
    struct ck_race *r = ck->race;
    bool write = a->write && succeeds;
    unsigned grain, n;
    struct cell *c = shadow_cells(shadow, address, bytes, &grain, &n);
    for (unsigned i = 0; c && i < n; i++, c++) {
        uint64_t at = address + (uint64_t)i * grain;
        bool handed = hands_over(a, me, &c->write);
        if (handed && c->write.stamp >= w->order.acquiring)
            w->order.acquiring = c->write.stamp + 1;
        if (!handed && !ordered(ck, w, me, &c->write) && !excused(me, &c->write) &&
            !is_twin(e, a, me, &c->write))
            add_pending(r, e, a, me->lane, at, grain, &c->write, true);
        if (!ordered(ck, w, me, &c->atomic) && !excused(me, &c->atomic))
            add_pending(r, e, a, me->lane, at, grain, &c->atomic, true);
        for (unsigned k = 0; k < 2 && write; k++)
            if (!ordered(ck, w, me, &c->read[k]) && !excused(me, &c->read[k]))
                add_pending(r, e, a, me->lane, at, grain, &c->read[k], false);
        note(ck, w, c, me, a->read, write);
    }
}

static bool past_caches(const struct emu_event *e, const struct emu_access *a)
{
    return a->space == EMU_SPACE_GLOBAL && a->read && !a->scalar &&
           e->inst->isa.flags & (ISA_M_GLC | ISA_M_DLC);
}

static bool returns(const struct emu_event *e)
{
    uint32_t mem = isa_facts(e->inst->isa.op)->mem;
    return mem & ISA_MEM_RETURNS ||
           (mem & ISA_MEM_GLC && e->inst->isa.flags & ISA_M_GLC);
}

/* Who gives back a lock: the wave, or its lane where lanes race. */
static uint64_t owner_of(const struct ck *ck, const struct site *me)
{
    return (uint64_t)me->wave << 6 | (ck->config.lanes ? me->lane : 0u);
}

static uint8_t flags_of(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                        const struct emu_access *a, uint64_t address,
                        const struct site *me)
{
    struct ck_race *r = ck->race;
    uint64_t owner = owner_of(ck, me);
    bool atomic = a->read && a->write;
    uint8_t plain = a->space == EMU_SPACE_GLOBAL && a->write && !w->order.stores_out
                        ? SITE_RELEASES
                        : 0;
    uint64_t key = release_key(w, a->space, address);
    if (!atomic && !past_caches(e, a) && (!a->write || !r->room))
        return plain;
    struct release *at = release_at(r, key, atomic);
    if (atomic) {
        if (returns(e))
            acquire(w, a->space, at);
        release_here(r, w, a->space, at);
        if (at)
            at->owner = owner;
        return isa_facts(e->inst->isa.op)->mem & ISA_MEM_COMPARE
                   ? SITE_ATOMIC | SITE_COMPARES
                   : SITE_ATOMIC;
    }
    if (!a->write) {
        acquire(w, a->space, at);
        return SITE_ATOMIC;
    }
    if (!at || at->owner != owner)
        return plain;
    release_here(r, w, a->space, at);
    return SITE_OWNER;
}

static void judge_access(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                         const struct emu_access *a, uint64_t lanes)
{
    struct shadow *shadow =
        a->space == EMU_SPACE_LDS ? w->group->lds : ck->race->global;
    struct site me = {.wave = wave_number(ck, w),
                      .pc = (uint32_t)(e->inst->pc - ck->launch.code_base),
                      .barrier = (uint32_t)w->group->barriers};
    if ((a->space != EMU_SPACE_LDS && a->space != EMU_SPACE_GLOBAL) || !shadow)
        return;
    uint64_t fail = isa_facts(e->inst->isa.op)->mem & ISA_MEM_COMPARE
                        ? failing(e, a, a->lanes & lanes)
                        : 0;
    for (uint64_t m = a->lanes & lanes; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(m);
        uint64_t address = a->address[lane];
        me.lane = (uint8_t)lane;
        me.stamp = ck->race->stamp;
        me.clock = w->order.clock;
        me.flags = flags_of(ck, w, e, a, address, &me);
        for (unsigned left = a->bytes, n; left; left -= n, address += n) {
            unsigned room = SHADOW_BLOCK - (unsigned)(address % SHADOW_BLOCK);
            n = left < room ? left : room;
            judge_bytes(ck, w, e, a, shadow, address, n, &me, !(fail >> lane & 1));
        }
    }
    if (me.flags & SITE_RELEASES) /* what comes later is not handed over with it */
        ck->race->stamp++;
}

void ck_race_before(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                    uint64_t lanes)
{
    ck->race->judged = true;
    for (unsigned i = 0; i < e->n_accesses; i++)
        judge_access(ck, w, e, &e->access[i], lanes);
}

/* ---- what is told ---- */

static void fill_other(const struct ck *ck, const struct site *s, bool write,
                       struct ck_actor *a)
{
    uint64_t number = s->wave - 1, group = number / ck->launch.waves_per_group;
    const uint32_t *groups = ck->launch.dispatch->groups;
    *a = (struct ck_actor){.pc = ck->launch.code_base + s->pc,
                           .wave = (uint32_t)(number % ck->launch.waves_per_group),
                           .lanes = UINT64_C(1) << s->lane,
                           .write = write,
                           .atomic = write && s->flags & SITE_ATOMIC};
    for (unsigned i = 0; i < 3; i++) {
        a->workgroup[i] = (uint32_t)(group % groups[i]);
        group /= groups[i];
    }
}

/* Keep a finding about a plain read until it is known what its wave does next. */
static void suspend(struct ck *ck, uint32_t reader, const struct ck_finding *f)
{
    struct ck_race *r = ck->race;
    for (unsigned i = 0; i < r->n_suspended; i++) {
        const struct suspended *s = &r->suspended[i];
        if (s->reader == reader && s->address == f->address &&
            s->finding.at.pc == f->at.pc && s->finding.other.pc == f->other.pc)
            return;
    }
    if (r->n_suspended == SUSPENDED) { /* the oldest has had its time */
        ck_report(ck, &r->suspended[0].finding);
        memmove(r->suspended, r->suspended + 1,
                sizeof r->suspended[0] * --r->n_suspended);
    }
    struct suspended *s = &r->suspended[r->n_suspended++];
    s->reader = reader;
    s->address = f->address;
    memcpy(&s->finding, f, sizeof *f);
}

static void drop_suspended(struct ck_race *r, unsigned i)
{
    if (i != --r->n_suspended)
        memcpy(&r->suspended[i], &r->suspended[r->n_suspended], sizeof r->suspended[0]);
}

/* The wave compares and swaps: its reads there began the loop. */
static void forgive_reads(struct ck_race *r, uint32_t reader,
                          const struct emu_access *a)
{
    for (unsigned i = r->n_suspended; i-- > 0;)
        for (uint64_t m = a->lanes; m; m &= m - 1)
            if (r->suspended[i].reader == reader &&
                r->suspended[i].address == a->address[__builtin_ctzll(m)]) {
                drop_suspended(r, i);
                break;
            }
}

/* The wave passes a barrier or ends; 0: all do. */
static void tell_suspended(struct ck *ck, uint32_t reader)
{
    struct ck_race *r = ck->race;
    for (unsigned i = r->n_suspended; i-- > 0;)
        if (!reader || r->suspended[i].reader == reader) {
            ck_report(ck, &r->suspended[i].finding);
            drop_suspended(r, i);
        }
}

void ck_race_end(struct ck *ck)
{
    tell_suspended(ck, 0);
}

static void tell(struct ck *ck, const struct ck_wave *w, const struct emu_event *e,
                 const struct pending *p)
{
    struct ck_finding f;
    struct emu_mem r;
    uint8_t now[64];
    const char *mine = p->atomic ? "atomic" : p->write ? "write" : "read";
    const char *other = !p->other_writes               ? "read"
                        : p->other.flags & SITE_ATOMIC ? "atomic"
                                                       : "write";
    bool same = p->write && p->other_writes && p->known &&
                emu_wave_peek(e->wave, p->space, p->lane, p->address, p->bytes, now) &&
                memcmp(now, p->before, p->bytes) == 0;
    ck_finding_at(ck, CK_RACE, "", e, p->lanes, &f);
    (void)snprintf(f.kind, sizeof f.kind, "%s-%s%s", other, mine,
                   same ? "-same-value" : "");
    f.benign = same;
    f.at.write = p->write;
    f.at.atomic = p->atomic;
    fill_other(ck, &p->other, p->other_writes, &f.other);
    f.located = true;
    f.space = p->space;
    f.address = p->address;
    f.bytes = p->bytes;
    bool near = memcmp(f.at.workgroup, f.other.workgroup, sizeof f.at.workgroup) == 0;
    if (f.space == EMU_SPACE_GLOBAL && emu_mem_find(ck->emu, f.address, &r)) {
        f.base = r.va;
        f.size = r.bytes;
        memcpy(f.allocation, r.name, sizeof f.allocation);
    }
    (void)snprintf(f.text, sizeof f.text, "%s of %s after %s %s of another %s%s", mine,
                   f.size ? f.allocation : "LDS", "an unordered", other,
                   e->wave->wave == f.other.wave && near ? "lane"
                   : near                                ? "wave"
                                                         : "workgroup",
                   same ? ", both of the same value" : "");
    if (*mine == 'r' && *other == 'a')
        suspend(ck, wave_number(ck, w), &f);
    else if (*mine == 'a' && *other == 'r')
        suspend(ck, p->other.wave, &f);
    else
        ck_report(ck, &f);
}

/* s_waitcnt_vscnt 0: all stores have arrived. */
static bool waits_for_stores(const struct isa_inst *inst)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].kind == ISA_OPND_IMM)
            return inst->op == ISA_S_WAITCNT_VSCNT && (inst->opnd[i].imm & 63) == 0;
    return false;
}

void ck_race_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct ck_race *r = ck->race;
    struct ck_order *o = &w->order;
    if (!r->judged) /* addresses that only the handler knew */
        for (unsigned i = 0; i < e->n_accesses; i++)
            judge_access(ck, w, e, &e->access[i], ~UINT64_C(0));
    r->judged = false;
    for (unsigned i = 0; i < r->n_pending && !ck->stopped; i++)
        tell(ck, w, e, &r->pending[i]);
    r->n_pending = 0;
    if (isa_facts(e->inst->isa.op)->mem & ISA_MEM_COMPARE)
        for (unsigned i = 0; i < e->n_accesses; i++)
            forgive_reads(r, wave_number(ck, w), &e->access[i]);
    if (e->inst->kind == EMU_KIND_BARRIER || e->flags & EMU_EV_ENDED)
        tell_suspended(ck, wave_number(ck, w));
    for (unsigned i = 0; i < e->n_accesses; i++)
        if (e->access[i].write && e->access[i].space == EMU_SPACE_GLOBAL)
            o->stores_out = true;
    if (e->inst->kind == EMU_KIND_WAIT && waits_for_stores(&e->inst->isa))
        o->stores_out = false;
    if (e->inst->isa.op == ISA_BUFFER_GL0_INV) {
        if (o->acquiring > o->behind)
            o->behind = o->acquiring;
    }
}

void ck_race_barrier(struct ck_group *g)
{
    uint32_t behind = 0;
    for (unsigned i = 0; i < g->n_waves; i++)
        if (g->wave[i].order.behind > behind)
            behind = g->wave[i].order.behind;
    for (unsigned i = 0; i < g->n_waves; i++)
        g->wave[i].order.behind = behind;
}
