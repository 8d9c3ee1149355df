/* race_doubts.c: two stores to one place that may both be atomic.
 *
 * In the code an atomic store is a store. Locks without read-modify-writes (Peterson's,
 * Lamport's) let waves store to one place in any order: what tells them from a race is
 * that whoever looks there does so past the caches, as atomic loads do. So if the code
 * has such loads, the finding waits until the dispatch ends. It is dropped if the last
 * reads of the place were all such loads, or, where nobody has read it, if one of them
 * lies a little behind one of the stores, with the same address in the same registers,
 * or of the same array. In LDS, where atomic loads do not show, such a load has to be
 * the polling of a flag (race_flags.c), and nothing waits.
 *
 * Must not know what orders accesses. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "facts.h"
#include "race.h"

enum { FAR = 1 << 18, AHEAD = 256 }; /* bytes of code; instructions */

/* Two stores that conflict, at several places. */
struct race_doubt {
    struct race_doubt *next;
    struct ck_finding finding; /* of the first */
    struct ck_group *group;    /* of whose LDS; NULL: of memory */
    uint64_t address[64];      /* the first ones */
    unsigned n, count;         /* addresses; conflicts */
};

static bool is_atomic(const struct site *s)
{
    return (s->flags & (SITE_LOADS | SITE_VOLATILE)) == SITE_LOADS;
}

static bool loads_past(const struct isa_inst *inst)
{
    return isa_facts(inst->op)->access == ISA_ACCESS_LOAD &&
           (inst->flags & (ISA_M_GLC | ISA_M_SLC | ISA_M_DLC)) == ISA_M_GLC;
}

/* Atomic loads in the code of the kernel, or behind it. */
static void look_for_loads(const struct ck *ck)
{
    struct ck_race *r = ck->race;
    struct ck_code c;
    struct isa_inst inst;
    uint64_t first = ck->launch.dispatch->entry;
    if (r->loads_known)
        return;
    r->loads_known = true;
    r->has_loads = r->has_flat = false;
    if (!ck_code_find(ck, first, &c))
        return;
    for (uint64_t at = first;
         !r->has_flat && at - first < FAR && ck_code_at(&c, at, &inst);
         at += inst.bytes) {
        bool past = loads_past(&inst);
        r->has_loads |= past;
        r->has_flat |= past && isa_facts(inst.op)->space == ISA_SPACE_FLAT;
    }
}

static bool same_register(const struct isa_opnd *a, const struct isa_opnd *b)
{
    return a->kind == b->kind && a->sel == b->sel && a->dwords == b->dwords;
}

/* Does it write a register of the operand? */
static bool changes(const struct isa_inst *inst, const struct isa_opnd *o)
{
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *to = &inst->opnd[i];
        if (to->kind == ISA_OPND_REG && to->flags & ISA_OF_OUT &&
            o->kind == ISA_OPND_REG && to->sel < o->sel + o->dwords &&
            o->sel < to->sel + to->dwords)
            return true;
    }
    return false;
}

static bool has_base(const struct isa_inst *store)
{
    return isa_facts(store->op)->space != ISA_SPACE_LDS && store->n_opnds > 2 &&
           store->opnd[2].kind == ISA_OPND_REG && store->opnd[2].dwords == 2;
}

/* Does the load read what the store writes, or of the same array: with the same base in
 * SGPRs? */
static bool is_of(const struct isa_inst *load, const struct isa_inst *store)
{
    unsigned n = isa_facts(store->op)->space == ISA_SPACE_LDS ? 2 : 3;
    if (load->n_opnds < n || load->offset != store->offset ||
        isa_facts(load->op)->bytes != isa_facts(store->op)->bytes ||
        (n == 3 && !same_register(&load->opnd[2], &store->opnd[2])))
        return false;
    return same_register(&load->opnd[1], &store->opnd[0]) || has_base(store);
}

/* Is it a load of LDS that is the polling of a flag? */
static bool polls_flag(struct ck *ck, const struct isa_inst *inst, uint64_t pc)
{
    struct site at = {.pc = (uint32_t)(pc - ck->launch.code_base)};
    return isa_facts(inst->op)->access == ISA_ACCESS_LOAD &&
           isa_facts(inst->op)->space == ISA_SPACE_LDS && race_is_flag(ck, &at);
}

/* Does an atomic load a little behind the store at pc read there? */
static bool is_loaded(struct ck *ck, uint64_t pc)
{
    struct ck_code c;
    struct isa_inst store, inst;
    uint64_t at = pc;
    if (!ck_code_find(ck, pc, &c) || !ck_code_at(&c, pc, &store) ||
        isa_facts(store.op)->access != ISA_ACCESS_STORE)
        return false;
    bool lds = isa_facts(store.op)->space == ISA_SPACE_LDS;
    if (isa_facts(store.op)->elems != 1 || store.n_opnds < (lds ? 2 : 3))
        return false;
    const struct isa_opnd *address = &store.opnd[has_base(&store) ? 2 : 0];
    for (unsigned i = 0; i < AHEAD && ck_code_at(&c, at, &inst);
         i++, at += inst.bytes) {
        if ((lds ? polls_flag(ck, &inst, at) : loads_past(&inst)) &&
            is_of(&inst, &store))
            return true;
        if (changes(&inst, address))
            return false;
    }
    return false;
}

/* Were the stores there atomic, by all that is known? */
static bool is_excused(struct ck *ck, struct shadow *shadow, const struct ck_finding *f,
                       uint64_t address)
{
    const struct shadow_block *b = shadow_at(shadow, address);
    bool past = false, lds = f->space == EMU_SPACE_LDS;
    for (unsigned i = SHADOW_READ; b && i <= SHADOW_READ2; i++) {
        struct site s =
            shadow_site(shadow, shadow_get(b, (enum shadow_plane)i, address));
        if (!s.wave || s.wave <= ck->race->others)
            continue;
        if (!is_atomic(&s) && !(lds && race_is_flag(ck, &s)))
            return false;
        past = true;
    }
    return past || is_loaded(ck, f->at.pc) || is_loaded(ck, f->other.pc);
}

/* May both stores of the conflict be atomic? */
static bool both_may_be(struct ck *ck, const struct pending *p, const struct site *me)
{
    struct ck_race *r = ck->race;
    bool lds = p->space == EMU_SPACE_LDS;
    if (!p->write || p->atomic || !p->other_writes ||
        (!lds && p->space != EMU_SPACE_GLOBAL) ||
        (me->flags | p->other.flags) & SITE_VOLATILE || p->other.flags & SITE_ATOMIC ||
        p->other.wave <= r->others || !race_as_wide(ck, me, &p->other))
        return false;
    look_for_loads(ck);
    return lds ? r->has_flat : r->has_loads;
}

/* What is known of the two stores, of the group's LDS or, NULL, of memory. */
static struct race_doubt *doubt_of(struct ck_race *r, const struct ck_finding *f,
                                   struct ck_group *group)
{
    struct race_doubt **at = &r->doubts, *d;
    while (*at && ((*at)->finding.at.pc != f->at.pc ||
                   (*at)->finding.other.pc != f->other.pc || (*at)->group != group))
        at = &(*at)->next;
    d = *at;
    if (d)
        return d;
    *at = d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    memcpy(&d->finding, f, sizeof *f);
    d->group = group;
    r->n_doubts_lds += group != NULL;
    return d;
}

bool race_doubt(struct ck *ck, struct ck_group *g, const struct pending *p,
                const struct site *me, const struct ck_finding *f)
{
    bool lds = p->space == EMU_SPACE_LDS;
    if (lds && p->write && !p->atomic && p->other_writes &&
        !((me->flags | p->other.flags) & SITE_VOLATILE) &&
        !(p->other.flags & SITE_ATOMIC) && is_excused(ck, g->lds, f, p->address))
        return true;
    if (!both_may_be(ck, p, me))
        return false;
    struct race_doubt *d = doubt_of(ck->race, f, lds ? g : NULL);
    if (!d)
        return false;
    d->count++;
    if (d->n < sizeof d->address / sizeof *d->address)
        d->address[d->n++] = p->address;
    return true;
}

/* What was put off is told, unless both may be atomic. */
static void judge(struct ck *ck, const struct race_doubt *d)
{
    struct shadow *shadow = d->group ? d->group->lds : ck->race->global;
    bool excused = true;
    for (unsigned i = 0; i < d->n && excused; i++)
        excused = is_excused(ck, shadow, &d->finding, d->address[i]);
    for (unsigned i = 0; i < d->count && !excused; i++)
        ck_report(ck, &d->finding);
}

void ck_race_settle(struct ck *ck, struct ck_group *g)
{
    struct ck_race *r = ck->race;
    if (!r->n_doubts_lds)
        return;
    race_catch_up(ck, g);
    for (struct race_doubt **at = &r->doubts, *d = *at; d; d = *at) {
        if (d->group != g) {
            at = &d->next;
            continue;
        }
        judge(ck, d);
        *at = d->next;
        free(d);
        r->n_doubts_lds--;
    }
}

void race_doubts_end(struct ck *ck)
{
    for (struct race_doubt *d = ck->race->doubts; d; d = d->next)
        judge(ck, d);
    race_doubts_free(ck->race);
}

void race_doubts_free(struct ck_race *r)
{
    while (r->doubts) {
        struct race_doubt *d = r->doubts;
        r->doubts = d->next;
        free(d);
    }
    r->n_doubts_lds = 0;
    r->loads_known = false;
}
