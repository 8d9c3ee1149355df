/* race_values.c: what an instruction is about to write, for the race checker.
 *
 * Must not know who has touched memory before. SPDX-License-Identifier: MIT
 */
#include "facts.h"
#include "race.h"

bool race_operand(const struct emu_event *e, unsigned field, unsigned *vgpr)
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

bool race_same_data(const struct emu_event *e, const struct emu_access *a, unsigned l,
                    unsigned other)
{
    unsigned vgpr, bytes = a->bytes;
    if (!race_operand(e, ISA_FIELD_DATA0, &vgpr))
        return true; /* not known to differ */
    uint32_t mask = bytes < 4 ? (1u << 8 * bytes) - 1 : ~0u;
    for (unsigned k = 0; k < (bytes + 3) / 4; k++)
        if ((emu_wave_vgpr(e->wave, vgpr + k, l) ^
             emu_wave_vgpr(e->wave, vgpr + k, other)) &
            mask)
            return false;
    return true;
}

enum change { CHANGE_OTHER, CHANGE_COMPARE, CHANGE_SWAP, CHANGE_OR };

static enum change change_of(unsigned op)
{
    if (isa_facts(op)->mem & ISA_MEM_COMPARE)
        return CHANGE_COMPARE;
    switch (op) {
    case ISA_GLOBAL_ATOMIC_SWAP_B32:
    case ISA_FLAT_ATOMIC_SWAP_B32:
    case ISA_BUFFER_ATOMIC_SWAP_B32:
    case ISA_DS_STOREXCHG_RTN_B32:
        return CHANGE_SWAP;
    case ISA_GLOBAL_ATOMIC_OR_B32:
    case ISA_FLAT_ATOMIC_OR_B32:
    case ISA_BUFFER_ATOMIC_OR_B32:
    case ISA_DS_OR_B32:
    case ISA_DS_OR_RTN_B32:
        return CHANGE_OR;
    default:
        return CHANGE_OTHER;
    }
}

uint64_t race_keeping(const struct emu_event *e, const struct emu_access *a,
                      uint64_t lanes)
{
    enum change change = change_of(e->inst->isa.op);
    uint64_t keep = 0;
    uint32_t now[64];
    unsigned data, compare = 0;
    if (change == CHANGE_OTHER || a->bytes != 4 ||
        !race_operand(e, ISA_FIELD_DATA0, &data))
        return 0;
    if (isa_facts(e->inst->isa.op)->space != ISA_SPACE_LDS)
        compare = data + 1;
    else if (change == CHANGE_COMPARE && !race_operand(e, ISA_FIELD_DATA1, &compare))
        return 0;
    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        if (!emu_wave_peek(e->wave, a->space, l, a->address[l], 4, (uint8_t *)&now[l]))
            return 0;
    }
    for (uint64_t m = lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        uint32_t left = emu_wave_vgpr(e->wave, data, l);
        if (change == CHANGE_OR)
            left |= now[l];
        if (change == CHANGE_COMPARE ? now[l] != emu_wave_vgpr(e->wave, compare, l)
                                     : now[l] == left) {
            keep |= UINT64_C(1) << l;
            continue;
        }
        for (uint64_t k = m; k; k &= k - 1) /* the later ones find this */
            if (a->address[__builtin_ctzll(k)] == a->address[l])
                now[__builtin_ctzll(k)] = left;
    }
    return keep;
}
