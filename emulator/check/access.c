/* access.c: init: loads, stores and atomics.
 *
 * A lane's accesses follow each other as its registers do; where they do not make up
 * the whole (bounds of a buffer, conversions), anything undefined makes all so. What is
 * stored to memory, the host sees: told of, unless whole bytes beside defined ones are
 * undefined, which is what copies of structures with padding and of vectors with a
 * part unused look like. SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "facts.h"
#include "heap.h"
#include "init.h"

/* What a lane's accesses amount to. */
struct piece {
    unsigned bytes;
    bool undefined;
    uint16_t from;
    uint8_t u[2 * INIT_BYTES];
};

static bool is_data(const struct isa_opnd *o)
{
    return o->field == ISA_FIELD_DATA || o->field == ISA_FIELD_VDATA ||
           o->field == ISA_FIELD_DATA0 || o->field == ISA_FIELD_DATA1 ||
           o->field == ISA_FIELD_SDATA;
}

static struct emu_reg reg_of(const struct isa_opnd *o)
{
    return (struct emu_reg){.sel = o->sel, .dwords = o->dwords};
}

static bool is_register(const struct isa_opnd *o)
{
    return o->kind == ISA_OPND_REG && o->sel != ISA_SEL_NULL && o->dwords &&
           (o->sel < INIT_SGPRS ||
            (o->sel >= ISA_SEL_VGPR0 &&
             (unsigned)o->sel + o->dwords <= ISA_SEL_VGPR0 + INIT_VGPRS));
}

/* ---- addresses ---- */

static void check_addresses(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (!(o->flags & ISA_OF_IN) || o->flags & ISA_OF_OUT || is_data(o) ||
            !is_register(o))
            continue;
        struct emu_reg g = reg_of(o);
        bool descriptor = o->field == ISA_FIELD_SRSRC || o->field == ISA_FIELD_SSAMP;
        uint16_t from = 0;
        uint64_t bad = init_undefined(ck, w->init, e, &g, e->exec, &from);
        if (!bad)
            continue;
        init_tell(ck, w, e, descriptor ? INIT_DESCRIPTOR : INIT_ADDRESS,
                  o->sel >= ISA_SEL_VGPR0 ? bad : 0, from);
        init_clean(w->init, &g, e->exec);
    }
}

/* ---- what memory holds ---- */

static uint16_t memory_from(struct ck *ck, const struct emu_event *e,
                            const struct emu_access *a, uint64_t address, uint16_t from)
{
    static const uint8_t places[] = {[EMU_SPACE_GLOBAL] = INIT_GLOBAL,
                                     [EMU_SPACE_LDS] = INIT_LDS,
                                     [EMU_SPACE_SCRATCH] = INIT_SCRATCH,
                                     [EMU_SPACE_GDS] = INIT_UNKNOWN};
    return from ? from
                : init_origin(ck->init, (enum init_place)places[a->space & 3u], address,
                              e->inst->pc);
}

static void read_piece(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                       unsigned lane, struct piece *p)
{
    p->bytes = 0;
    p->undefined = false;
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (!(a->lanes >> lane & 1) || !a->read || p->bytes + a->bytes > sizeof p->u)
            continue;
        const struct init_at at = {w, a->space, lane, a->address[lane], a->bytes};
        uint16_t from = 0;
        unsigned first = 0;
        if (init_memory_read(ck, &at, p->u + p->bytes, &from, &first) &&
            !p->undefined) {
            p->undefined = true;
            p->from = memory_from(ck, e, a, at.address + first, from);
        }
        p->bytes += a->bytes;
    }
}

/* Lanes that read something undefined. */
static uint64_t bad_lanes(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    uint64_t bad = 0;
    uint8_t u[INIT_BYTES];
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (!a->read || a->bytes > sizeof u || init_memory_clean(ck, w, a))
            continue;
        for (uint64_t m = a->lanes; m; m &= m - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(m), first;
            const struct init_at at = {w, a->space, lane, a->address[lane], a->bytes};
            uint16_t from;
            if (init_memory_read(ck, &at, u, &from, &first))
                bad |= UINT64_C(1) << lane;
        }
    }
    return bad;
}

/* ---- loads ---- */

static uint32_t dword_of(const struct piece *p, unsigned i)
{
    uint32_t v = 0;
    if (4 * i < p->bytes)
        memcpy(&v, p->u + 4 * i, p->bytes - 4 * i < 4 ? p->bytes - 4 * i : 4);
    return v;
}

/* A lane's, or the scalar's, registers of a load. */
static void load_lane(struct ck_wave *w, const struct emu_event *e,
                      const struct isa_opnd *o, unsigned lane, const struct piece *p)
{
    const struct isa_facts *facts = isa_facts(e->inst->isa.op);
    struct rule_entry rule = rule_of(e->inst->isa.op);
    struct emu_reg g = reg_of(o);
    unsigned halves = ck_halves(&e->inst->isa, &g, false);
    uint32_t mask = halves == 3 ? ~0u : halves == 2 ? 0xffff0000u : 0xffffu;
    unsigned whole = (unsigned)facts->bytes * facts->elems;
    bool scalar = facts->pipe == ISA_PIPE_SMEM;
    /* Compilers never read part of a register's worth but by a load of that size. */
    bool exact = !(facts->mem & (ISA_MEM_FORMAT)) &&
                 facts->access != ISA_ACCESS_SAMPLE &&
                 facts->space != ISA_SPACE_IMAGE && whole == p->bytes;
    exact |= scalar && p->bytes == 4u * o->dwords;
    for (unsigned i = 0; i < o->dwords; i++) {
        uint32_t u = exact ? dword_of(p, i) : p->undefined ? ~0u : 0;
        if (exact && rule.rule == RULE_SEXT)
            u = (uint32_t)bits_extend(u, rule.bits);
        if (mask == 0xffff0000u)
            u <<= 16;
        if (o->sel >= ISA_SEL_VGPR0)
            init_set_vgpr(w->init, o->sel - ISA_SEL_VGPR0 + i, lane, u, mask, p->from);
        else
            init_set_sgpr(w->init, o->sel + i, u, p->from);
    }
}

/* The registers that an instruction brings values into. */
static void load(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    const struct isa_facts *facts = isa_facts(inst->op);
    uint64_t bad = bad_lanes(ck, w, e);
    bool everybody = facts->pipe == ISA_PIPE_PARAM; /* one lane's access serves all */
    struct piece p = {0};
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (!(o->flags & ISA_OF_OUT) || !is_register(o))
            continue;
        struct emu_reg g = reg_of(o);
        bool part = ck_halves(inst, &g, false) != 3;
        if (!bad && (!part || init_is_clean(w->init, &g, e->exec))) {
            init_clean(w->init, &g, e->exec);
            continue;
        }
        uint64_t lanes = o->sel >= ISA_SEL_VGPR0 ? e->exec : 1;
        for (uint64_t m = lanes; m; m &= m - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(m);
            read_piece(ck, w, e,
                       everybody && bad ? (unsigned)__builtin_ctzll(bad) : lane, &p);
            load_lane(w, e, o, lane, &p);
        }
    }
}

/* ---- stores ---- */

/* The bytes of a lane's data. */
static void data_piece(struct ck *ck, const struct ck_wave *w,
                       const struct emu_event *e, unsigned lane, struct piece *p)
{
    const struct isa_inst *inst = &e->inst->isa;
    const struct isa_facts *facts = isa_facts(inst->op);
    unsigned each = facts->bytes; /* of one operand */
    *p = (struct piece){.bytes = 0};
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (!(o->flags & ISA_OF_IN) || !is_data(o) || !is_register(o))
            continue;
        unsigned n = each && each <= 4u * o->dwords ? each : 4u * o->dwords;
        for (unsigned k = 0; k < o->dwords && p->bytes + n <= sizeof p->u; k++) {
            struct init_bits b =
                o->sel >= ISA_SEL_VGPR0
                    ? init_vgpr(w->init, o->sel - ISA_SEL_VGPR0 + k, lane)
                    : (struct init_bits){w->init->sgpr[o->sel + k],
                                         w->init->sgpr_from[o->sel + k]};
            uint32_t u = facts->mem & ISA_MEM_HI ? b.u >> 16 : b.u;
            unsigned at = 4 * k, left = n > at ? n - at : 0;
            u &= (uint32_t)bits_mask(8 * (left < 4 ? left : 4));
            if (!u)
                continue;
            memcpy(p->u + p->bytes + at, &u, left < 4 ? left : 4);
            p->from =
                p->undefined ? p->from : init_from(ck->init, e, o->sel + k, b.from);
            p->undefined = true;
        }
        p->bytes += n;
    }
}

/* Could it be a copy with bytes that nobody cares for? */
static bool looks_like_padding(const struct piece *p)
{
    bool defined = false;
    for (unsigned i = 0; i < p->bytes; i++) {
        if (p->u[i] && p->u[i] != 0xff)
            return false;
        defined |= !p->u[i];
    }
    return defined;
}

/* Is it memory of the host that a runtime keeps for itself? There arguments of printf
 * go, and the runtime reads them all. */
static bool is_for_runtime(struct ck *ck, uint64_t address)
{
    struct ck_block b;
    struct emu_mem r;
    return ck->config.heap && ck_heap_near(ck->config.heap, address, &b) &&
           !b.programs && address - b.base < b.extent &&
           emu_mem_find(ck->emu, address, &r) && strcmp(r.name, "VRAM") != 0;
}

struct stored {
    uint64_t bad, padding; /* lanes */
    uint16_t bad_from, padding_from;
};

/* Leave a lane's data in memory; the lanes' accesses take one part after the other. */
static void store_lane(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                       unsigned lane, struct piece *p, struct stored *to)
{
    unsigned at = 0, all = 0;
    bool told = false;
    for (unsigned i = 0; i < e->n_accesses; i++)
        if (e->access[i].lanes >> lane & 1 && e->access[i].write)
            all += e->access[i].bytes;
    if (all != p->bytes && p->undefined) /* conversions, parts: nobody knows which */
        memset(p->u, 0xff, sizeof p->u);
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (!(a->lanes >> lane & 1) || !a->write || at + a->bytes > sizeof p->u)
            continue;
        bool bad = p->undefined && a->space == EMU_SPACE_GLOBAL &&
                   (!looks_like_padding(p) || is_for_runtime(ck, a->address[lane])) &&
                   !ck->init->copies;
        const struct init_at where = {w, a->space, lane, a->address[lane], a->bytes};
        init_memory_write(ck, &where, p->undefined && !bad ? p->u + at : NULL, p->from);
        at += a->bytes;
        if (!p->undefined || a->space != EMU_SPACE_GLOBAL || told || ck->init->copies)
            continue;
        told = true;
        uint64_t *lanes = bad ? &to->bad : &to->padding;
        if (!*lanes)
            *(bad ? &to->bad_from : &to->padding_from) = p->from;
        *lanes |= UINT64_C(1) << lane;
    }
}

static bool data_is_clean(const struct ck_wave *w, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        struct emu_reg g = reg_of(o);
        if (o->flags & ISA_OF_IN && is_data(o) && is_register(o) &&
            !init_is_clean(w->init, &g, e->exec))
            return false;
    }
    return true;
}

/* All lanes leave what is defined. */
static void write_defined(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (!a->write || init_memory_clean(ck, w, a))
            continue;
        for (uint64_t m = a->lanes; m; m &= m - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(m);
            const struct init_at at = {w, a->space, lane, a->address[lane], a->bytes};
            init_memory_write(ck, &at, NULL, 0);
        }
    }
}

static void store(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct stored s = {0};
    struct piece p = {0};
    if (data_is_clean(w, e)) {
        write_defined(ck, w, e);
        return;
    }
    for (uint64_t m = e->exec; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(m);
        data_piece(ck, w, e, lane, &p);
        store_lane(ck, w, e, lane, &p, &s);
    }
    if (s.bad)
        init_tell(ck, w, e, INIT_STORE, s.bad, s.bad_from);
    if (s.padding)
        init_tell(ck, w, e, INIT_PADDING, s.padding, s.padding_from);
}

/* ---- atomics ---- */

/* An exchange does not look at what it gets. */
static bool is_exchange(unsigned op)
{
    switch (op) {
    case ISA_DS_STOREXCHG_RTN_B32:
    case ISA_DS_STOREXCHG_RTN_B64:
    case ISA_DS_STOREXCHG_2ADDR_RTN_B32:
    case ISA_DS_STOREXCHG_2ADDR_RTN_B64:
    case ISA_DS_STOREXCHG_2ADDR_STRIDE64_RTN_B32:
    case ISA_DS_STOREXCHG_2ADDR_STRIDE64_RTN_B64:
    case ISA_FLAT_ATOMIC_SWAP_B32:
    case ISA_FLAT_ATOMIC_SWAP_B64:
    case ISA_GLOBAL_ATOMIC_SWAP_B32:
    case ISA_GLOBAL_ATOMIC_SWAP_B64:
    case ISA_BUFFER_ATOMIC_SWAP_B32:
    case ISA_BUFFER_ATOMIC_SWAP_B64:
    case ISA_IMAGE_ATOMIC_SWAP:
        return true;
    default:
        return false;
    }
}

bool init_returns(const struct isa_inst *inst)
{
    const struct isa_facts *facts = isa_facts(inst->op);
    return facts->mem & ISA_MEM_RETURNS ||
           (facts->mem & ISA_MEM_GLC && inst->flags & ISA_M_GLC);
}

static void atomic(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    bool exchange = is_exchange(inst->op);
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        struct emu_reg g = reg_of(o);
        uint16_t from = 0;
        if (!(o->flags & ISA_OF_IN) || !is_data(o) || !is_register(o))
            continue;
        uint64_t bad = init_undefined(ck, w->init, e, &g, e->exec, &from);
        if (bad)
            init_tell(ck, w, e, INIT_ATOMIC, bad, from);
        if (bad)
            init_clean(w->init, &g, e->exec);
    }
    uint64_t bad = bad_lanes(ck, w, e);
    if (bad && !exchange) {
        struct piece p = {0};
        read_piece(ck, w, e, (unsigned)__builtin_ctzll(bad), &p);
        init_tell(ck, w, e, INIT_ATOMIC_MEMORY, bad, p.from);
        write_defined(ck, w, e);
    }
    if (init_returns(inst))
        load(ck, w, e);
    write_defined(ck, w, e);
}

void init_access(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct emu_inst *inst = e->inst;
    const struct isa_facts *facts = isa_facts(inst->isa.op);
    bool scalar = facts->pipe == ISA_PIPE_SMEM;
    if (facts->access == ISA_ACCESS_NONE && facts->space == ISA_SPACE_NONE &&
        facts->pipe != ISA_PIPE_PARAM)
        return;
    if (!e->exec && !scalar)
        return; /* nobody does anything */
    for (unsigned i = 0; i < inst->n_regs; i++)
        if (inst->reg[i].flags & ISA_OF_IN &&
            !init_is_clean(w->init, &inst->reg[i], e->exec)) {
            check_addresses(ck, w, e);
            break;
        }
    if (e->flags & (EMU_EV_FAULT | EMU_EV_PASSED_OVER)) {
        init_undo(w->init, e);
        return;
    }
    switch (facts->access) {
    case ISA_ACCESS_STORE:
        store(ck, w, e);
        return;
    case ISA_ACCESS_ATOMIC:
    case ISA_ACCESS_UPDATE:
        atomic(ck, w, e);
        return;
    default:
        load(ck, w, e);
        return;
    }
}
