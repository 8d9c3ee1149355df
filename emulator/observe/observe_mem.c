/* observe_mem.c: the addresses that a memory instruction is about to use.
 *
 * Works from the decoded instruction and the registers, before execution; mem.c does
 * the access on its own. Instructions whose handlers alone know their addresses (image,
 * buffer, append) note them while they run (wave_note). Nothing here writes a register
 * or memory.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "observe.h"

static const struct isa_opnd *field(const struct isa_inst *inst, unsigned name)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].field == name && inst->opnd[i].kind == ISA_OPND_REG)
            return &inst->opnd[i];
    return NULL;
}

static uint16_t vgpr_of(const struct isa_opnd *o)
{
    return o && o->sel >= ISA_SEL_VGPR0 ? (uint16_t)(o->sel - ISA_SEL_VGPR0) : NO_ROW;
}

static uint16_t sgpr_of(const struct isa_opnd *o)
{
    return o && o->sel < ISA_SEL_INT_0 && o->sel != ISA_SEL_NULL ? o->sel : NO_ROW;
}

static void plan_ds(const struct isa_inst *inst, struct access_plan *p)
{
    const char *name = isa_op_name(inst->op);
    p->form = PLAN_DS;
    p->space = inst->flags & ISA_M_GDS ? EMU_SPACE_GDS : EMU_SPACE_LDS;
    p->elems = strstr(name, "_2addr") ? 2 : 1;
    p->offset[0] = inst->offset;
    if (p->elems == 2) {
        int32_t scale = p->bytes * (strstr(name, "_stride64") ? 64 : 1);
        p->offset[0] = (inst->offset & 0xff) * scale;
        p->offset[1] = (inst->offset >> 8 & 0xff) * scale;
    }
    if (p->addr == NO_ROW)
        p->form = PLAN_NONE;
}

static void plan_flat(const struct isa_inst *inst, struct access_plan *p)
{
    const struct isa_opnd *addr = field(inst, ISA_FIELD_ADDR);
    p->form = inst->enc == ISA_ENC_SCRATCH ? PLAN_SCRATCH
              : inst->enc == ISA_ENC_FLAT  ? PLAN_FLAT
                                           : PLAN_LANES;
    p->space = inst->enc == ISA_ENC_SCRATCH ? EMU_SPACE_SCRATCH : EMU_SPACE_GLOBAL;
    p->saddr = sgpr_of(field(inst, ISA_FIELD_SADDR));
    p->pair = addr && addr->dwords == 2;
    p->offset[0] = inst->offset;
}

static void plan_smem(const struct isa_inst *inst, struct access_plan *p)
{
    const struct isa_opnd *base = field(inst, ISA_FIELD_SBASE);
    p->saddr = sgpr_of(base);
    p->soffset = sgpr_of(field(inst, ISA_FIELD_SOFFSET));
    p->offset[0] = inst->offset;
    if (base && base->dwords == 2) /* not a buffer resource */
        p->form = PLAN_SCALAR;
}

void plan_accesses(const struct emu *emu, const struct isa_inst *inst,
                   struct access_plan *p)
{
    const struct sem_entry *e = emu->sem[inst->op];
    *p = (struct access_plan){
        .addr = NO_ROW, .saddr = NO_ROW, .soffset = NO_ROW, .elems = 1};
    if (!e || e->kind < SEM_LOAD || e->kind > SEM_ATOMIC)
        return;
    bool store = e->kind == SEM_WIDE ? strstr(isa_op_name(inst->op), "_store") != NULL
                                     : e->kind == SEM_STORE;
    p->read = !store;
    p->write = store || e->kind == SEM_ATOMIC;
    p->bytes = e->bytes;
    p->addr = vgpr_of(field(inst, ISA_FIELD_ADDR));
    if (inst->enc == ISA_ENC_DS)
        plan_ds(inst, p);
    else if (inst->enc == ISA_ENC_SMEM)
        plan_smem(inst, p);
    else if (inst->enc == ISA_ENC_FLAT || inst->enc == ISA_ENC_GLOBAL ||
             inst->enc == ISA_ENC_SCRATCH)
        plan_flat(inst, p);
}

/* ---- addresses ----------------------------------------------------------------------
 */

static void fill(struct emu_access *a, const struct access_plan *p, uint64_t lanes)
{
    a->lanes = lanes;
    a->bytes = p->bytes;
    a->space = p->space;
    a->read = p->read;
    a->write = p->write;
    a->scalar = p->form == PLAN_SCALAR;
}

static uint64_t base_of(const struct wave *w, const struct access_plan *p)
{
    uint64_t base = (uint64_t)(int64_t)p->offset[0];
    if (p->saddr != NO_ROW)
        base += p->form == PLAN_SCRATCH ? w->sgpr[p->saddr] : sgpr64(w, p->saddr);
    if (p->soffset != NO_ROW)
        base += w->sgpr[p->soffset];
    return base;
}

static void form_lanes(const struct wave *w, const struct access_plan *p,
                       uint64_t *address)
{
    uint64_t base = base_of(w, p);
    for (unsigned h = 0; h < w->halves; h++, address += 32) {
        if (p->addr == NO_ROW) { /* thread-id addressing; scratch: the same for all */
            uint32_t step = p->form == PLAN_SCRATCH ? 0 : 4;
            for (unsigned l = 0; l < 32; l++)
                address[l] = base + step * (l + 32 * h);
            continue;
        }
        const uint32_t *lo = w->vgpr[h] + (size_t)p->addr * ROW_DWORDS;
        if (p->pair)
            for (unsigned l = 0; l < 32; l++)
                address[l] = base + (lo[l] | (uint64_t)lo[l + ROW_DWORDS] << 32);
        else
            for (unsigned l = 0; l < 32; l++)
                address[l] = base + lo[l];
        if (p->form == PLAN_SCRATCH)
            for (unsigned l = 0; l < 32; l++)
                address[l] = (uint32_t)address[l];
    }
}

static enum emu_space space_of(uint64_t address)
{
    return address >> 32 == EMU_SHARED_BASE >> 32    ? EMU_SPACE_LDS
           : address >> 32 == EMU_PRIVATE_BASE >> 32 ? EMU_SPACE_SCRATCH
                                                     : EMU_SPACE_GLOBAL;
}

/* One access per space that the lanes of a FLAT instruction go to. */
static unsigned split_spaces(struct emu_access *a)
{
    uint64_t in[3] = {0};
    for (uint64_t m = a->lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        enum emu_space s = space_of(a->address[l]);
        in[s] |= UINT64_C(1) << l;
        if (s != EMU_SPACE_GLOBAL)
            a->address[l] = (uint32_t)a->address[l];
    }
    if (in[EMU_SPACE_GLOBAL] == a->lanes)
        return 1;
    unsigned n = 0;
    for (unsigned s = EMU_SPACE_GLOBAL; s <= EMU_SPACE_SCRATCH; s++) {
        if (!in[s])
            continue;
        if (n)
            a[n] = a[0];
        a[n].space = (uint8_t)s;
        a[n++].lanes = in[s];
    }
    return n;
}

static void form_ds(const struct wave *w, const struct access_plan *p, unsigned elem,
                    uint64_t *address)
{
    uint32_t offset = (uint32_t)p->offset[elem];
    for (unsigned h = 0; h < w->halves; h++, address += 32) {
        const uint32_t *a = w->vgpr[h] + (size_t)p->addr * ROW_DWORDS;
        for (unsigned l = 0; l < 32; l++)
            address[l] = (uint32_t)(a[l] + offset); /* wraps */
    }
}

unsigned form_accesses(const struct wave *w, const struct access_plan *p,
                       struct emu_access *a)
{
    uint64_t exec = wave_exec64(w);
    if (p->form == PLAN_SCALAR) {
        fill(a, p, 1);
        a->address[0] = base_of(w, p) & ~UINT64_C(3);
        return 1;
    }
    if (p->form == PLAN_NONE || !exec)
        return 0;
    for (unsigned e = 0; e < p->elems; e++) {
        fill(&a[e], p, exec);
        if (p->form == PLAN_DS)
            form_ds(w, p, e, a[e].address);
        else
            form_lanes(w, p, a[e].address);
        if (p->space == EMU_SPACE_GDS) { /* one lane, and M0 has the base */
            unsigned l = (unsigned)__builtin_ctzll(exec);
            a[e].lanes = exec & (0 - exec);
            a[e].address[l] += w->sgpr[ISA_SEL_M0] >> 16;
        }
    }
    return p->form == PLAN_FLAT ? split_spaces(a) : p->elems;
}
