/* race_flags.c: flags in LDS, which code shows to be some only where they are polled.
 *
 * Atomic loads and stores of LDS are plain instructions, and those of a release or an
 * acquire have no wait and drop no cache: LDS does what waves ask in order. So a load
 * that a loop repeats until it finds something else is taken for an atomic one, and who
 * loads so what another wave has stored is behind of what that one did before. FLAT
 * loads show by GLC that they are atomic or volatile; volatile ones (DLC) order
 * nothing by themselves: who stores must have waited for LDS, and who loads drops gl0,
 * as fences do.
 *
 * Must not know how LDS is shadowed. SPDX-License-Identifier: MIT
 */
#include "code.h"
#include "facts.h"
#include "race.h"
#include "rules.h"

enum {
    CONSTANTS = 128,
    VGPRS = 256
}; /* of the source space: inline constants; VGPRs */
enum { AHEAD = 96, BACK = 2 << 10, FAR = 1 << 20 }; /* instructions; bytes; bytes */

struct loop {
    struct ck_code code;
    const struct isa_inst *load;
    bool private; /* stores to scratch */
};

static bool meet(const struct isa_opnd *a, const struct isa_opnd *b)
{
    return a->kind == ISA_OPND_REG && b->kind == ISA_OPND_REG && a->dwords &&
           b->dwords && a->sel < b->sel + b->dwords && b->sel < a->sel + a->dwords;
}

/* What loops may do that only wait: with masks, comparisons and copies. */
static bool is_plain(unsigned op)
{
    unsigned rule = rule_of(op).rule;
    return rule == RULE_MOVE || rule == RULE_CMOV || rule_of_exec(rule) ||
           (rule >= RULE_NOT && rule <= RULE_OR_NOT1) || rule == RULE_SELECT_SCC ||
           rule == RULE_SELECT_MASK || (rule >= RULE_EQ && rule <= RULE_GE_I) ||
           rule == RULE_READFIRST || rule == RULE_READLANE || rule == RULE_WRITELANE;
}

static bool both_plain(const struct isa_inst *inst)
{
    if (inst->op_y == ISA_OP_NONE)
        return is_plain(inst->op);
    return is_plain(isa_facts(inst->op)->dual) && is_plain(isa_facts(inst->op_y)->dual);
}

/* Does it count, or go on to another place? */
static bool steps(const struct loop *l, const struct isa_inst *inst)
{
    const struct isa_facts *facts = isa_facts(inst->op);
    if (facts->access != ISA_ACCESS_NONE || both_plain(inst) ||
        facts->flow & ISA_FLOW_BRANCH)
        return false;
    if (l->private && inst->n_opnds && inst->opnd[0].kind == ISA_OPND_REG &&
        inst->opnd[0].flags & ISA_OF_OUT)
        return true; /* or by way of scratch */
    for (unsigned d = 0; d < inst->n_opnds; d++)
        for (unsigned s = 0; s < inst->n_opnds && inst->opnd[d].flags & ISA_OF_OUT; s++)
            if (inst->opnd[s].flags & ISA_OF_IN && meet(&inst->opnd[d], &inst->opnd[s]))
                return true;
    return false;
}

/* What a loop that only waits does not do. */
static bool does_else(const struct isa_inst *inst)
{
    const struct isa_facts *facts = isa_facts(inst->op);
    bool writes = facts->access != ISA_ACCESS_NONE && facts->access != ISA_ACCESS_LOAD;
    return inst->op == ISA_S_BARRIER || facts->flow & ISA_FLOW_END ||
           (writes && facts->space != ISA_SPACE_SCRATCH);
}

static bool same_load(const struct isa_inst *a, const struct isa_inst *b)
{
    return a->op == b->op && a->offset == b->offset && a->n_opnds == b->n_opnds &&
           a->opnd[1].sel == b->opnd[1].sel;
}

/* Does the register hold a constant behind the instruction, if it did before? */
static bool makes_constant(const struct isa_inst *inst, const struct isa_opnd *o,
                           bool before)
{
    if (inst->op == ISA_V_MOV_B32 && inst->n_opnds > 1 && meet(&inst->opnd[0], o))
        return inst->opnd[1].kind == ISA_OPND_LITERAL ||
               (inst->opnd[1].kind == ISA_OPND_REG && inst->opnd[1].sel >= CONSTANTS &&
                inst->opnd[1].sel < VGPRS);
    for (unsigned i = 0; i < inst->n_opnds; i++)
        before &= !(inst->opnd[i].flags & ISA_OF_OUT && meet(&inst->opnd[i], o));
    return before && !(isa_facts(inst->op)->flow & ISA_FLOW_BRANCH);
}

/* Does the loop from its head to the branch at last nothing but wait for what is
 * loaded? A place that stays is loaded again only if the source says so: compilers take
 * other loads out of a loop that stores nothing. still: nothing goes on in it. */
static bool only_waits(struct loop *l, uint64_t head, uint64_t last, bool still)
{
    struct isa_inst inst;
    bool moved, stepped = false, has = false, tests = false, stays = false;
    bool last_constant = false; /* what makes the address is right before, as at -O0 */
    const struct isa_opnd *data = &l->load->opnd[0], *where = &l->load->opnd[1];
    for (uint64_t at = head; at <= last; at += inst.bytes) {
        if (!ck_code_at(&l->code, at, &inst) || does_else(&inst))
            return false;
        l->private |= isa_facts(inst.op)->access == ISA_ACCESS_STORE;
    }
    moved = meet(data, where);
    for (uint64_t at = head; at <= last; at += inst.bytes) {
        (void)ck_code_at(&l->code, at, &inst);
        bool is_load = same_load(&inst, l->load);
        bool constant = last_constant;
        last_constant = makes_constant(&inst, where, last_constant);
        stepped |= steps(l, &inst);
        stays |= is_load && constant;
        has |= is_load;
        for (unsigned i = 0; i < inst.n_opnds && !is_load; i++) {
            tests |= inst.opnd[i].flags & ISA_OF_IN && meet(&inst.opnd[i], data) &&
                     (both_plain(&inst) || l->private);
            moved |= inst.opnd[i].flags & ISA_OF_OUT && meet(&inst.opnd[i], where);
        }
    }
    return has && tests && (!still || (!stepped && !l->private)) &&
           (!moved || !stepped || stays);
}

/* Does the place that is loaded stay the same all through the loop? */
static bool stays(const struct loop *l, uint64_t head, uint64_t last)
{
    struct isa_inst inst;
    const struct isa_opnd *where = &l->load->opnd[1];
    for (uint64_t at = head; at <= last && ck_code_at(&l->code, at, &inst);
         at += inst.bytes)
        for (unsigned i = 0; i < inst.n_opnds; i++)
            if (inst.opnd[i].flags & ISA_OF_OUT && meet(&inst.opnd[i], where))
                return false;
    return true;
}

/* Does it load what a does, from an address in alias? */
static bool like_load(const struct isa_inst *inst, const struct isa_inst *a,
                      const struct isa_opnd *alias)
{
    return same_load(inst, a) ||
           (inst->op == a->op && inst->n_opnds > 1 && meet(&inst->opnd[1], alias));
}

/* Is the load at pc in a loop that waits for what it loads, or right before one, as
 * compilers turn loops around? What comes back into a loop belongs to it. before: only
 * the latter: between the two it may go back to where nothing has to be waited for. */
static bool polls_at(const struct ck *ck, uint64_t pc, bool before)
{
    struct loop l = {.load = NULL};
    struct isa_inst load, inst, twin;
    struct isa_opnd alias = {.kind = 0}; /* made of the address */
    if (!ck_code_find(ck, pc, &l.code) || !ck_code_at(&l.code, pc, &load) ||
        load.n_opnds < 2 || isa_facts(load.op)->space != ISA_SPACE_LDS ||
        isa_facts(load.op)->access != ISA_ACCESS_LOAD || isa_facts(load.op)->elems != 1)
        return false;
    twin = load;
    uint64_t at = pc, last = pc, head = 0, end = 0, inner = 0; /* its first end */
    for (unsigned i = 0; i < AHEAD && ck_code_at(&l.code, at, &inst);
         i++, at += inst.bytes) {
        uint64_t to = ck_code_target(&inst, at);
        if (!head && like_load(&inst, &load, &alias)) {
            last = at;
            twin = inst;
        } else if (!head && inst.n_opnds > 1 && inst.opnd[0].flags & ISA_OF_OUT) {
            for (unsigned k = 1; k < inst.n_opnds; k++)
                if (meet(&inst.opnd[k], &load.opnd[1]))
                    alias = inst.opnd[0];
        }
        if (!head && (does_else(&inst) || (before && inst.op == ISA_S_BRANCH)))
            return false;
        if (!head && to > (before ? pc : 0) && to <= last && to + BACK >= pc) {
            head = to;
            inner = at;
        }
        if (head && to >= head && to <= (end ? end : at))
            end = at;
    }
    l.load = head <= pc ? &load : &twin;
    return head &&
           (only_waits(&l, head, end, false) ||
            (inner < end && only_waits(&l, head, inner, true) && stays(&l, head, end)));
}

static bool is_flag(const struct ck *ck, uint64_t pc)
{
    return polls_at(ck, pc, false) || polls_at(ck, pc, true);
}

bool race_is_flag(struct ck *ck, const struct site *s)
{
    uint64_t pc = ck->launch.code_base + s->pc;
    struct polls *p = &ck->race->flags[pc / 4 % RACE_FLAGS];
    if (p->pc != pc)
        *p = (struct polls){.pc = pc, .polls = is_flag(ck, pc)};
    return p->polls;
}

bool race_loads_flag(struct ck *ck, const struct emu_event *e,
                     const struct emu_access *a)
{
    struct site at = {.pc = (uint32_t)(e->inst->pc - ck->launch.code_base)};
    if (a->space != EMU_SPACE_LDS || !a->read || a->write)
        return false;
    return isa_facts(e->inst->isa.op)->space == ISA_SPACE_FLAT
               ? (e->inst->isa.flags & (ISA_M_GLC | ISA_M_SLC)) == ISA_M_GLC
               : race_is_flag(ck, &at);
}

bool race_flag_acquires(struct ck *ck, const struct ck_wave *w,
                        const struct emu_event *e)
{
    for (unsigned i = 0; i < e->n_accesses && race_loads_flag(ck, e, e->access); i++)
        for (uint64_t m = e->access[i].lanes; m; m &= m - 1)
            if (race_released(ck, w, EMU_SPACE_LDS,
                              e->access[i].address[__builtin_ctzll(m)]))
                return true;
    return false;
}

/* Has the wave waited for LDS, before it stores at pc, since it stored there last? By
 * the code, as it lies. */
static bool has_waited(const struct ck *ck, uint32_t offset)
{
    struct loop l = {.load = NULL};
    struct isa_inst inst;
    uint64_t at = ck->launch.code_base, pc = at + offset;
    bool waited = true;
    if (offset > FAR || !ck_code_find(ck, pc, &l.code))
        return true;
    for (; at < pc; at += inst.bytes) {
        if (!ck_code_at(&l.code, at, &inst))
            return true;
        const struct isa_facts *facts = isa_facts(inst.op);
        if (facts->access == ISA_ACCESS_STORE &&
            (facts->space == ISA_SPACE_LDS || facts->space == ISA_SPACE_FLAT))
            waited = false;
        else if (inst.op == ISA_S_WAITCNT && !(inst.opnd[0].imm & 63 << 4))
            waited = true;
    }
    return waited;
}

bool race_flag_released(const struct ck *ck, const struct site *s)
{
    return !(s->flags & SITE_VOLATILE) || has_waited(ck, s->pc);
}

static void learn(uint32_t *knows, const struct ck_order *o, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        knows[i] = knows[i] < o->knows[i] ? o->knows[i] : knows[i];
}

/* A lane has loaded what another one of its wave has stored at s. */
static void take_from_lane(struct ck_order *o, unsigned lane, const struct site *s)
{
    if (o->clock == s->clock)
        o->clock++;
    race_lane_knows(o, lane, s->clock);
}

void race_take_flag(struct ck *ck, struct ck_wave *w, const struct site *me,
                    const struct site *s)
{
    unsigned by = (s->wave - 1) % ck->launch.waves_per_group, n = w->group->n_waves;
    struct ck_order *o = &w->order, *other = &w->group->wave[by].order;
    bool fences = (me->flags | s->flags) & SITE_VOLATILE;
    uint32_t *knows = fences ? o->takes_lds : o->knows;
    if (o == other) {
        if (!fences)
            take_from_lane(o, me->lane, s);
        return;
    }
    if (other->clock == s->clock) /* what comes later is not handed over with it */
        other->clock++;
    learn(knows, other, n);
    knows[by] = knows[by] < s->clock ? s->clock : knows[by];
    o->fences_lds |= fences;
    o->met = true;
    o->behind = o->behind < other->behind ? other->behind : o->behind;
    o->knows_all = order_join(&ck->race->order, o->knows_all, other->knows_all);
}

void race_flag_fenced(struct ck_wave *w)
{
    struct ck_order *o = &w->order;
    for (unsigned i = 0; i < w->group->n_waves && o->fences_lds; i++)
        o->knows[i] = o->knows[i] < o->takes_lds[i] ? o->takes_lds[i] : o->knows[i];
    o->fences_lds = false;
}

void race_stores_flag(struct ck_wave *w, const struct emu_access *a)
{
    if (a->space != EMU_SPACE_LDS || !a->write || a->read || !a->lanes)
        return;
    unsigned first = (unsigned)__builtin_ctzll(a->lanes);
    for (uint64_t m = a->lanes; m; m &= m - 1)
        if (a->address[__builtin_ctzll(m)] != a->address[first])
            return;
    w->order.clock++;
}
