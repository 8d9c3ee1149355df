/* race_tell.c: what is told of accesses that nothing orders.
 *
 * A conflict is told of when its instruction is done: then it is known whether the
 * value was there already. A plain read beside an atomic waits until it is known what
 * its wave does next. Must not know what orders accesses. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "race.h"

/* past: of which it is, NULL: of the one that runs */
static void fill_other(const struct ck *ck, const struct past *past,
                       const struct site *s, bool write, struct ck_actor *a)
{
    uint32_t waves = past ? past->waves_per_group : ck->launch.waves_per_group;
    uint64_t number = s->wave - (past ? past->first : ck->race->others + 1);
    uint64_t group = number / waves;
    const uint32_t *groups = past ? past->groups : ck->launch.dispatch->groups;
    *a =
        (struct ck_actor){.pc = (past ? past->code_base : ck->launch.code_base) + s->pc,
                          .wave = (uint32_t)(number % waves),
                          .lanes = UINT64_C(1) << s->lane,
                          .write = write,
                          .atomic = write && s->flags & SITE_ATOMIC};
    for (unsigned i = 0; i < 3; i++) {
        a->workgroup[i] = (uint32_t)(group % groups[i]);
        group /= groups[i];
    }
}

void race_tell_copy(struct ck *ck, const struct past *past, const struct site *site,
                    bool site_writes, uint64_t address, bool write)
{
    struct ck_finding f = {.cls = CK_RACE, .wave_lanes = past->lanes};
    char kernel[sizeof ck->kernel];
    const char *mine = write ? "write" : "read", *other = !site_writes ? "read"
                                                          : site->flags & SITE_ATOMIC
                                                              ? "atomic"
                                                              : "write";
    fill_other(ck, past, site, site_writes, &f.at);
    f.located = true;
    f.space = EMU_SPACE_GLOBAL;
    f.address = address;
    f.bytes = 4;
    ck_mem_holds(ck, address, &f);
    (void)snprintf(f.kind, sizeof f.kind, "%s-%s", other, mine);
    (void)snprintf(f.text, sizeof f.text, "%s of %s beside an unordered %s of a copy",
                   other, f.allocation, mine);
    memcpy(kernel, ck->kernel, sizeof kernel);
    memcpy(ck->kernel, past->kernel, sizeof ck->kernel);
    ck_report(ck, &f);
    memcpy(ck->kernel, kernel, sizeof kernel);
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

void race_forgive(struct ck_race *r, uint32_t reader, const struct emu_access *a)
{
    for (unsigned i = r->n_suspended; i-- > 0;)
        for (uint64_t m = a->lanes; m; m &= m - 1)
            if (r->suspended[i].reader == reader &&
                r->suspended[i].address == a->address[__builtin_ctzll(m)]) {
                drop_suspended(r, i);
                break;
            }
}

void race_tell_suspended(struct ck *ck, uint32_t reader)
{
    struct ck_race *r = ck->race;
    for (unsigned i = r->n_suspended; i-- > 0;)
        if (!reader || r->suspended[i].reader == reader) {
            ck_report(ck, &r->suspended[i].finding);
            drop_suspended(r, i);
        }
}

/* Has the wave loaded what was released behind the other access? */
static bool has_taken(struct ck *ck, const struct ck_wave *w, const struct pending *p)
{
    const struct ck_order *o = &w->order;
    const struct site *s = &p->other;
    struct site me = {.wave = race_wave(ck, w),
                      .barrier = (uint32_t)w->group->barriers};
    return p->space == EMU_SPACE_GLOBAL && s->wave > ck->race->others &&
           s->stamp < o->acquiring &&
           order_covers(&ck->race->order, o->takes, &me, s, ck->launch.waves_per_group);
}

/* What the wave lacks that has acquired what it reads, but has not dropped the caches
 * which may hold what was there before; NULL: it lacks order. */
static const char *lacks(struct ck *ck, const struct ck_wave *w,
                         const struct pending *p)
{
    const struct ck_order *o = &w->order;
    if (p->write || !has_taken(ck, w, p))
        return NULL;
    bool gl0 = race_holds_old(o, false), gl1 = race_holds_old(o, true);
    return gl0 && gl1 ? "buffer_gl1_inv and buffer_gl0_inv"
           : gl0      ? "buffer_gl0_inv"
                      : "buffer_gl1_inv";
}

/* What runtimes keep for themselves, like the heap of malloc in kernels: their code
 * follows pointers that it has just loaded to memory that no cache has held before. */
static bool is_a_runtimes(struct ck *ck, uint64_t address)
{
    struct ck_block b;
    return ck->config.heap && ck_heap_near(ck->config.heap, address, &b) &&
           !b.programs && address - b.base < b.extent;
}

static void tell_stale(struct ck_finding *f, const char *lacking)
{
    (void)snprintf(f->kind, sizeof f->kind, "stale-read");
    (void)snprintf(f->text, sizeof f->text,
                   "read of %s, whose write was acquired, by caches that may hold what "
                   "was there before: no %s since",
                   f->size ? f->allocation : "memory", lacking);
}

/* The two are in order, but because of who took the lock first. */
static void tell_unfenced(struct ck_finding *f, const struct site *s, const char *mine,
                          const char *other)
{
    bool gl0 = s->flags & SITE_BARE0, gl1 = s->flags & SITE_BARE1;
    (void)snprintf(f->kind, sizeof f->kind, "unfenced-lock");
    (void)snprintf(f->text, sizeof f->text,
                   "%s of %s in a lock that was held for a %s there and taken without "
                   "%s: had this come first, the other might not see it",
                   mine, f->size ? f->allocation : "memory", other,
                   gl0 && gl1 ? "buffer_gl1_inv and buffer_gl0_inv"
                   : gl0      ? "buffer_gl0_inv"
                              : "buffer_gl1_inv");
}

static void tell(struct ck *ck, const struct ck_wave *w, const struct emu_event *e,
                 const struct pending *p)
{
    struct ck_finding f;
    struct ck_race *r = ck->race;
    uint8_t now[64];
    if (p->space == EMU_SPACE_GLOBAL && ck->config.mailbox &&
        ck->config.mailbox(ck->config.ctx, p->address))
        return;
    if (p->other_writes && has_taken(ck, w, p) && is_a_runtimes(ck, p->address))
        return;
    const char *mine = p->atomic ? "atomic" : p->write ? "write" : "read";
    const char *other = !p->other_writes               ? "read"
                        : p->other.flags & SITE_ATOMIC ? "atomic"
                                                       : "write";
    bool same = p->write && !p->atomic && p->other_writes && p->known &&
                emu_wave_peek(e->wave, p->space, p->lane, p->address, p->bytes, now) &&
                memcmp(now, p->before, p->bytes) == 0;
    ck_finding_at(ck, CK_RACE, "", e, p->lanes, &f);
    (void)snprintf(f.kind, sizeof f.kind, "%s-%s%s", other, mine,
                   same ? "-same-value" : "");
    f.benign = same;
    f.at.write = p->write;
    f.at.atomic = p->atomic;
    const struct past *past = race_past(r, &p->other);
    fill_other(ck, past, &p->other, p->other_writes, &f.other);
    if (past) {
        memcpy(f.other_kernel, past->kernel, sizeof f.other_kernel);
        f.other_image = past->image;
    }
    f.located = true;
    f.space = p->space;
    f.address = p->address;
    f.bytes = p->bytes;
    bool near = memcmp(f.at.workgroup, f.other.workgroup, sizeof f.at.workgroup) == 0;
    if (f.space == EMU_SPACE_GLOBAL)
        ck_mem_holds(ck, f.address, &f);
    (void)snprintf(f.text, sizeof f.text, "%s of %s after %s %s of %s%s", mine,
                   f.size ? f.allocation : "LDS", "an unordered", other,
                   past && past->copy                      ? "a copy"
                   : past                                  ? "another kernel"
                   : e->wave->wave == f.other.wave && near ? "another lane"
                   : near                                  ? "another wave"
                                                           : "another workgroup",
                   same ? ", both of the same value" : "");
    const char *lacking = p->other_writes && !past ? lacks(ck, w, p) : NULL;
    if (lacking)
        tell_stale(&f, lacking);
    struct site me = {.wave = race_wave(ck, w),
                      .barrier = (uint32_t)w->group->barriers,
                      .clock = w->order.clock,
                      .pc = (uint32_t)(e->inst->pc - ck->launch.code_base),
                      .flags = p->is_volatile ? SITE_VOLATILE : 0,
                      .lane = p->lane};
    bool unfenced =
        race_unfenced(ck, w, &me, &p->other) && race_ordered(ck, w, &me, &p->other);
    if (unfenced)
        tell_unfenced(&f, &p->other, mine, other);
    if (*mine == 'r' && *other == 'a')
        suspend(ck, race_wave(ck, w), &f);
    else if (*mine == 'a' && *other == 'r')
        suspend(ck, p->other.wave, &f);
    else if (same || unfenced || !race_doubt(ck, w->group, p, &me, &f))
        ck_report(ck, &f);
}

void race_tell(struct ck *ck, const struct ck_wave *w, const struct emu_event *e)
{
    struct ck_race *r = ck->race;
    for (unsigned i = 0; i < r->n_pending && !ck->stopped; i++)
        tell(ck, w, e, &r->pending[i]);
    r->n_pending = 0;
}
