/* race_decides.c: whether what a load brings decides where its loop goes.
 *
 * Who polls a flag tests it. What the load brings is followed through registers, slots
 * of scratch and, as at -O0, private variables whose addresses lie in such slots; by
 * all ways through the loop, until nothing new comes. It decides if a branch or EXEC is
 * made of it. Code that is not understood counts as if it did; that two private
 * variables are one, by pointers from before the loop, is not seen.
 *
 * Must not know what a race is. SPDX-License-Identifier: MIT
 */
#include "code.h"
#include "facts.h"
#include "race.h"

enum {
    TARGETS = 24,
    SLOTS = 63,
    PASSES = 12,
    LONGEST = 512,
    VGPRS = 256,
    NO_FRAME = 1 << 12
};

/* What holds something that was made of the load. */
struct taint {
    bool reached, scc;
    bool narrow;            /* lanes may be off that were on, with no way around */
    bool memory, volatile_; /* written at an address that nobody knows */
    uint64_t reg[8];        /* by enum isa_sel */
    uint64_t slot, cell;    /* slots of scratch; what the addresses in them mean */
    uint8_t from[VGPRS];    /* the slot that a VGPR was loaded from, from 1; 0: none */
};

struct loop {
    uint64_t head, end, pc; /* the load's; all like it, if it lies outside */
    struct ck_code code;
    struct {
        uint64_t at;
        struct taint in;
    } target[TARGETS];
    unsigned n_targets, n_slots;
    int32_t slot[SLOTS]; /* their offsets */
    unsigned frame;      /* the SGPR below them, + 1, or NO_FRAME; 0: none is known */
    bool changed, decided;
};

static bool get(const uint64_t *bits, unsigned i)
{
    return bits[i / 64] >> i % 64 & 1;
}

/* ---- ways through the loop ---- */

static uint64_t gain(uint64_t *a, uint64_t b)
{
    uint64_t more = b & ~*a;
    *a |= b;
    return more;
}

static bool gain_flag(bool *a, bool b)
{
    bool more = b && !*a;
    *a |= b;
    return more;
}

/* a also holds what b does. Has it become more? */
static bool join(struct taint *a, const struct taint *b)
{
    if (!b->reached)
        return false;
    if (!a->reached) {
        *a = *b;
        return true;
    }
    bool more = gain_flag(&a->scc, b->scc);
    more |= gain_flag(&a->narrow, b->narrow);
    more |= gain_flag(&a->memory, b->memory);
    more |= gain_flag(&a->volatile_, b->volatile_);
    more |= gain(&a->slot, b->slot) != 0;
    more |= gain(&a->cell, b->cell) != 0;
    for (unsigned i = 0; i < 8; i++)
        more |= gain(&a->reg[i], b->reg[i]) != 0;
    for (unsigned i = 0; i < VGPRS; i++)
        if (a->from[i] && a->from[i] != b->from[i]) {
            a->from[i] = 0;
            more = true;
        }
    return more;
}

static void go_to(struct loop *l, uint64_t at, const struct taint *t)
{
    unsigned i = 0;
    if (at < l->head || at >= l->end)
        return;
    while (i < l->n_targets && l->target[i].at != at)
        i++;
    if (i == TARGETS) {
        l->decided = true;
        return;
    }
    if (i == l->n_targets) {
        l->target[i].at = at;
        l->n_targets++;
    }
    l->changed |= join(&l->target[i].in, t);
}

/* ---- registers and memory ---- */

static bool reads(const struct taint *t, const struct isa_opnd *o)
{
    if (!(o->flags & ISA_OF_IN))
        return false;
    if (o->kind == ISA_OPND_SCC)
        return t->scc;
    for (unsigned i = 0; o->kind == ISA_OPND_REG && i < o->dwords; i++)
        if (o->sel + i < ISA_SEL_COUNT && get(t->reg, o->sel + i))
            return true;
    return false;
}

/* Does it leave a part of the register as it was? */
static bool keeps(const struct taint *t, const struct isa_inst *inst,
                  const struct isa_opnd *o)
{
    bool vector = o->sel >= ISA_SEL_VGPR0;
    bool part = o->flags & (ISA_OF_IN | ISA_OF_HI16) || inst->op_sel ||
                isa_facts(inst->op)->mem & ISA_MEM_D16 ||
                inst->op == ISA_V_WRITELANE_B32 || o->fmt == ISA_FMT_F16 ||
                o->fmt == ISA_FMT_B16 || o->fmt == ISA_FMT_U16 || o->fmt == ISA_FMT_I16;
    return part || (vector && t->narrow);
}

static void writes(struct loop *l, struct taint *t, const struct isa_inst *inst,
                   const struct isa_opnd *o, bool tainted)
{
    if (o->kind == ISA_OPND_SCC)
        t->scc = tainted;
    for (unsigned i = 0; o->kind == ISA_OPND_REG && i < o->dwords; i++) {
        unsigned sel = o->sel + i;
        if (sel >= ISA_SEL_COUNT)
            continue;
        l->decided |= sel + 1 == l->frame ||
                      (tainted && (sel == ISA_SEL_EXEC_LO || sel == ISA_SEL_EXEC_HI));
        if (tainted)
            t->reg[sel / 64] |= UINT64_C(1) << sel % 64;
        else if (!keeps(t, inst, o))
            t->reg[sel / 64] &= ~(UINT64_C(1) << sel % 64);
        if (sel >= ISA_SEL_VGPR0)
            t->from[sel - ISA_SEL_VGPR0] = 0;
    }
}

/* The number, from 1, of the dword of scratch at an offset; 0: there are too many. */
static unsigned slot_at(struct loop *l, int32_t offset)
{
    unsigned i = 0;
    while (i < l->n_slots && l->slot[i] != offset)
        i++;
    if (i == SLOTS)
        return 0;
    if (i == l->n_slots)
        l->slot[l->n_slots++] = offset;
    return i + 1;
}

/* The first one that an instruction for scratch names; 0: not known, or between two of
 * them. bits: all. */
static unsigned slot_of(struct loop *l, const struct isa_inst *inst, unsigned vaddr,
                        uint64_t *bits)
{
    *bits = 0;
    if (isa_facts(inst->op)->space != ISA_SPACE_SCRATCH || inst->n_opnds < 3 ||
        inst->opnd[vaddr].kind != ISA_OPND_OFF)
        return 0;
    unsigned dwords = inst->opnd[!vaddr].dwords;
    if ((unsigned)(inst->offset & 3) + isa_facts(inst->op)->bytes > 4 * dwords)
        return 0;
    const struct isa_opnd *base = &inst->opnd[2];
    unsigned frame = base->kind == ISA_OPND_REG ? base->sel + 1u : NO_FRAME;
    if (l->frame && l->frame != frame)
        return 0;
    l->frame = frame;
    for (unsigned i = 0; i < dwords; i++) {
        unsigned slot = slot_at(l, (inst->offset & ~3) + 4 * (int32_t)i);
        if (!slot)
            return 0;
        *bits |= UINT64_C(1) << slot;
    }
    return slot_at(l, inst->offset & ~3);
}

/* The slot whose address it is that a FLAT instruction uses; 0: not known. */
static unsigned cell_of(const struct taint *t, const struct isa_inst *inst,
                        unsigned vaddr)
{
    const struct isa_opnd *a = &inst->opnd[vaddr];
    if (isa_facts(inst->op)->space != ISA_SPACE_FLAT || a->kind != ISA_OPND_REG ||
        a->dwords != 2 || a->sel < ISA_SEL_VGPR0 || a->sel + 1 >= ISA_SEL_COUNT ||
        inst->offset)
        return 0;
    unsigned low = t->from[a->sel - ISA_SEL_VGPR0];
    return t->from[a->sel + 1 - ISA_SEL_VGPR0] == low ? low : 0;
}

static bool is_source(const struct loop *l, const struct isa_inst *inst, uint64_t at)
{
    return l->pc >= l->head && l->pc < l->end ? at == l->pc
                                              : ck_code_passes_caches(inst);
}

/* May what is loaded be made of it? */
static bool loads(struct loop *l, const struct taint *t, const struct isa_inst *inst)
{
    uint64_t bits;
    unsigned slot = slot_of(l, inst, 1, &bits), cell = cell_of(t, inst, 1);
    if (slot)
        return t->memory || t->slot & bits;
    if (cell)
        return t->memory || t->cell >> cell & 1;
    bool private = t->slot || t->cell; /* nobody passes the caches for those */
    return t->memory || t->volatile_ || (private && !ck_code_passes_caches(inst));
}

static void stores(struct loop *l, struct taint *t, const struct isa_inst *inst,
                   bool tainted)
{
    uint64_t bits;
    unsigned slot = slot_of(l, inst, 0, &bits), cell = cell_of(t, inst, 0);
    const struct isa_opnd *data = &inst->opnd[1];
    for (unsigned i = 0; slot && data->kind == ISA_OPND_REG && i < data->dwords; i++) {
        unsigned sel = data->sel + i;
        unsigned from = sel >= ISA_SEL_VGPR0 && sel < ISA_SEL_COUNT
                            ? t->from[sel - ISA_SEL_VGPR0]
                            : 0;
        l->decided |= from && from != slot; /* two names of one variable */
    }
    if (!tainted)
        return;
    if (slot)
        t->slot |= bits;
    else if (cell)
        t->cell |= UINT64_C(1) << cell;
    else if (inst->flags & ISA_M_DLC)
        t->volatile_ = true;
    else
        t->memory = true;
}

/* ---- instructions ---- */

/* EXEC as it was before all lanes were on for a while, as where registers are saved. */
struct saved {
    uint16_t sel; /* where, + 1; 0: nowhere */
    bool narrow;
};

static void follow_exec(struct taint *t, const struct isa_inst *inst, struct saved *s)
{
    bool writes_exec = isa_facts(inst->op)->state & ISA_STATE_EXEC_OUT;
    bool saves = inst->op == ISA_S_OR_SAVEEXEC_B32 || inst->op == ISA_S_OR_SAVEEXEC_B64;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (o->kind != ISA_OPND_REG || !(o->flags & ISA_OF_OUT))
            continue;
        writes_exec |=
            o->sel <= ISA_SEL_EXEC_HI && o->sel + o->dwords > ISA_SEL_EXEC_LO;
        if (!saves && s->sel && o->sel <= s->sel - 1u && o->sel + o->dwords >= s->sel)
            s->sel = 0; /* something else is there now */
    }
    if (saves) {
        *s = (struct saved){(uint16_t)(inst->opnd[0].sel + 1), t->narrow};
        t->narrow = false;
    } else if (inst->op == ISA_S_CBRANCH_EXECZ || inst->op == ISA_S_CBRANCH_EXECNZ ||
               (writes_exec &&
                (inst->op == ISA_S_OR_B32 || inst->op == ISA_S_OR_B64))) {
        t->narrow = false;
    } else if (writes_exec &&
               (inst->op == ISA_S_MOV_B32 || inst->op == ISA_S_MOV_B64) &&
               inst->opnd[1].kind == ISA_OPND_REG && s->sel == inst->opnd[1].sel + 1) {
        t->narrow = s->narrow;
    } else if (writes_exec) {
        t->narrow = true;
    }
}

/* Of a VOPD, one half; of others, all. */
static bool is_half(const struct isa_inst *inst, const struct isa_opnd *o,
                    unsigned half)
{
    return inst->op_y == ISA_OP_NONE || (o->flags & ISA_OF_Y) == half;
}

static bool reads_any(const struct taint *t, const struct isa_inst *inst, unsigned half)
{
    uint16_t state = isa_facts(inst->op)->state;
    if ((state & ISA_STATE_SCC_IN && t->scc) ||
        (state & ISA_STATE_VCC_IN && get(t->reg, ISA_SEL_VCC_LO)))
        return true;
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (is_half(inst, &inst->opnd[i], half) && reads(t, &inst->opnd[i]))
            return true;
    return false;
}

static void writes_all(struct loop *l, struct taint *t, const struct isa_inst *inst,
                       bool tainted, unsigned half)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (is_half(inst, &inst->opnd[i], half) && inst->opnd[i].flags & ISA_OF_OUT)
            writes(l, t, inst, &inst->opnd[i], tainted);
}

static void compute(struct loop *l, struct taint *t, const struct isa_inst *inst,
                    bool tainted)
{
    const struct isa_opnd *to = &inst->opnd[0], *of = &inst->opnd[1];
    unsigned from = 0;
    if (inst->op == ISA_V_MOV_B32 && inst->n_opnds > 1 && of->kind == ISA_OPND_REG &&
        of->sel >= ISA_SEL_VGPR0)
        from = t->from[of->sel - ISA_SEL_VGPR0];
    writes_all(l, t, inst, tainted, 0);
    if (from)
        t->from[to->sel - ISA_SEL_VGPR0] = (uint8_t)from;
}

static void load(struct loop *l, struct taint *t, const struct isa_inst *inst,
                 bool tainted)
{
    uint64_t bits;
    unsigned slot = slot_of(l, inst, 1, &bits);
    const struct isa_opnd *to = &inst->opnd[0];
    writes_all(l, t, inst, tainted, 0);
    for (unsigned i = 0; slot && i < to->dwords; i++)
        if (to->sel + i >= ISA_SEL_VGPR0 && to->sel + i < ISA_SEL_COUNT)
            t->from[to->sel + i - ISA_SEL_VGPR0] = (uint8_t)slot;
}

static void apply(struct loop *l, struct taint *t, const struct isa_inst *inst,
                  uint64_t at)
{
    unsigned access = isa_facts(inst->op)->access;
    bool tainted = reads_any(t, inst, 0);
    l->decided |= tainted && isa_facts(inst->op)->state & ISA_STATE_EXEC_OUT;
    if (inst->op_y != ISA_OP_NONE) {
        bool y = reads_any(t, inst, ISA_OF_Y);
        writes_all(l, t, inst, tainted, 0);
        writes_all(l, t, inst, y, ISA_OF_Y);
    } else if (access == ISA_ACCESS_STORE) {
        stores(l, t, inst, tainted);
    } else if (access == ISA_ACCESS_LOAD) {
        load(l, t, inst, tainted || is_source(l, inst, at) || loads(l, t, inst));
    } else if (access != ISA_ACCESS_NONE) {
        t->memory |= tainted;
        compute(l, t, inst, tainted || t->memory || t->volatile_ || t->slot || t->cell);
    } else {
        /* M0 may say which registers */
        l->decided |= isa_facts(inst->op)->state & ISA_STATE_M0_IN;
        compute(l, t, inst, tainted);
    }
}

/* All instructions in order once. */
static void pass(struct loop *l)
{
    struct isa_inst inst;
    struct taint t = {.reached = false};
    struct saved saved = {.sel = 0};
    for (uint64_t at = l->head; at < l->end && !l->decided; at += inst.bytes) {
        for (unsigned i = 0; i < l->n_targets; i++)
            if (l->target[i].at == at)
                (void)join(&t, &l->target[i].in);
        if (!ck_code_at(&l->code, at, &inst)) {
            l->decided = true;
            return;
        }
        uint64_t to = ck_code_target(&inst, at);
        bool jumps = isa_facts(inst.op)->flow & ISA_FLOW_BRANCH;
        if (!t.reached)
            continue;
        l->decided |= jumps && (!to || reads_any(&t, &inst, 0));
        follow_exec(&t, &inst, &saved);
        if (!jumps)
            apply(l, &t, &inst, at);
        else
            go_to(l, to, &t);
        if (inst.op == ISA_S_BRANCH || isa_facts(inst.op)->flow & ISA_FLOW_END)
            t.reached = false;
    }
}

/* What comes back into the loop belongs to it, wherever it lies. */
static void extend(struct loop *l)
{
    struct isa_inst inst;
    uint64_t at = l->end;
    for (unsigned i = 0; i < LONGEST && ck_code_at(&l->code, at, &inst);
         i++, at += inst.bytes) {
        uint64_t to = ck_code_target(&inst, at);
        if (to >= l->head && to < l->end)
            l->end = at + inst.bytes;
    }
}

bool race_decides(const struct ck *ck, uint64_t pc, uint64_t head, uint64_t end)
{
    struct loop l = {.head = head, .end = end, .pc = pc, .changed = true};
    struct taint none = {.reached = true};
    if (!ck_code_find(ck, pc, &l.code))
        return true;
    if (head < l.code.begin)
        return false; /* no loop of this code */
    extend(&l);
    go_to(&l, head, &none);
    for (unsigned i = 0; i < PASSES && l.changed && !l.decided; i++) {
        l.changed = false;
        pass(&l);
    }
    return l.decided || l.changed;
}
