/* predecode_mem.c: from a decoded memory instruction to its micro-op: which registers
 * hold address and data, which handler moves the bytes.
 *
 * What a load, store or atomic means is the semantics entry's; see predecode.c for the
 * rest.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "buffer.h"
#include "predecode.h"

static const struct isa_opnd *field(const struct isa_inst *inst, unsigned name)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].field == name && inst->opnd[i].kind == ISA_OPND_REG)
            return &inst->opnd[i];
    return NULL;
}

static uint16_t vgpr_row(struct ctx *c, const struct isa_opnd *o, uint16_t none)
{
    if (!o || !is_vgpr(o))
        return none;
    note_vgprs(c, o);
    return (uint16_t)(o->sel - ISA_SEL_VGPR0);
}

static void fill_ds(struct ctx *c, struct uop *u)
{
    const struct isa_inst *inst = c->inst;
    const char *name = isa_op_name(inst->op);
    struct umem *m = &u->mem;
    m->addr = vgpr_row(c, field(inst, ISA_FIELD_ADDR), 0);
    m->data = vgpr_row(c, field(inst, ISA_FIELD_DATA0), 0);
    m->data2 = vgpr_row(c, field(inst, ISA_FIELD_DATA1), 0);
    m->space = MEM_LDS;
    m->elems = strstr(name, "_2addr") ? 2 : 1;
    m->off0 = (uint16_t)inst->offset;
    if (m->elems == 2) {
        unsigned scale = m->bytes * (strstr(name, "_stride64") ? 64u : 1u);
        m->off0 = (uint16_t)((inst->offset & 0xff) * (int)scale);
        m->off1 = (uint16_t)((inst->offset >> 8 & 0xff) * (int)scale);
    }
    const struct isa_opnd *dst = field(inst, ISA_FIELD_VDST);
    m->returns = dst != NULL;
    u->d = vgpr_row(c, dst, 0);
    u->imm = inst->offset;
}

static void fill_flat(struct ctx *c, struct uop *u)
{
    const struct isa_inst *inst = c->inst;
    const struct isa_opnd *addr = field(inst, ISA_FIELD_ADDR);
    const struct isa_opnd *saddr = field(inst, ISA_FIELD_SADDR);
    struct umem *m = &u->mem;
    m->space = inst->enc == ISA_ENC_GLOBAL    ? MEM_GLOBAL
               : inst->enc == ISA_ENC_SCRATCH ? MEM_SCRATCH
                                              : MEM_FLAT;
    m->addr = vgpr_row(c, addr, NO_ROW);
    m->addr64 = addr && addr->dwords == 2;
    m->saddr = saddr && saddr->sel != ISA_SEL_NULL ? saddr->sel : NO_ROW;
    m->data = vgpr_row(c, field(inst, ISA_FIELD_DATA), 0);
    m->data2 = (uint16_t)(m->data + m->bytes / 4); /* compare value of cmpswap */
    m->elems = 1;
    m->returns = !!(inst->flags & ISA_M_GLC);
    u->d = vgpr_row(c, field(inst, ISA_FIELD_VDST), 0);
    u->imm = inst->offset;
    m->addtid = m->addr == NO_ROW && m->space == MEM_GLOBAL;
}

static void fill_smem(struct ctx *c, struct uop *u)
{
    const struct isa_inst *inst = c->inst;
    const struct isa_opnd *base = field(inst, ISA_FIELD_SBASE);
    const struct isa_opnd *soffset = field(inst, ISA_FIELD_SOFFSET);
    const struct isa_opnd *dst = field(inst, ISA_FIELD_SDATA);
    struct umem *m = &u->mem;
    m->saddr = base ? base->sel : 0;
    m->addr = soffset && soffset->sel < ISA_SEL_NULL ? soffset->sel : NO_ROW;
    if (soffset && soffset->sel == ISA_SEL_M0)
        m->addr = ISA_SEL_M0;
    u->d = dst ? dst->sel : SGPR_DUMMY;
    u->imm = inst->offset;
    if (dst && (unsigned)u->d + m->bytes / 4 > SGPR_DUMMY)
        c->error = "SGPR range";
}

/* MUBUF and MTBUF. SOFFSET may be a constant. */
static void fill_buffer(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct isa_inst *inst = c->inst;
    const struct isa_opnd *rsrc = field(inst, ISA_FIELD_SRSRC);
    const struct isa_opnd *soffset = field(inst, ISA_FIELD_SOFFSET);
    uint64_t constant = 0;
    unsigned flags = (inst->flags & ISA_M_IDXEN ? UB_IDXEN : 0) |
                     (inst->flags & ISA_M_OFFEN ? UB_OFFEN : 0) |
                     (inst->flags & ISA_M_TFE ? UB_TFE : 0) |
                     (inst->flags & ISA_M_GLC ? UB_RETURNS : 0) |
                     (e->kind == SEM_WIDE ? UB_WIDE : 0) |
                     (inst->enc == ISA_ENC_MTBUF ? UB_TYPED : 0);
    if (e->kind == SEM_FORMAT && strstr(e->name, "d16"))
        flags |= strstr(e->name, "d16_hi") ? UB_HI : UB_D16;
    struct ubuf b = {.vaddr = vgpr_row(c, field(inst, ISA_FIELD_VADDR), 0),
                     .vdata = vgpr_row(c, field(inst, ISA_FIELD_VDATA), 0),
                     .srsrc = rsrc ? rsrc->sel : 0,
                     .soffset = NO_ROW,
                     .flags = (uint8_t)flags,
                     .format = inst->format,
                     .bytes = e->bytes,
                     .comps = (uint8_t)e->bytes};
    if (soffset && constant_value(c, soffset, SEM_T_U32, &constant))
        b.konst = (uint32_t)constant;
    else if (soffset && soffset->sel < ISA_SEL_INT_0)
        b.soffset = soffset->sel;
    else
        c->error = "soffset";
    u->buf = b;
    u->imm = inst->offset;
}

static void predecode_buffer(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    bool store = strstr(isa_op_name(c->inst->op), "_store") != NULL;
    fill_buffer(c, u, e);
    if (e->kind == SEM_ATOMIC)
        u->fn = x_buffer_atomic;
    else if (e->kind == SEM_FORMAT)
        u->fn = store ? x_buffer_store_format : x_buffer_load_format;
    else
        u->fn = store ? x_buffer_store : x_buffer_load;
}

/* Parameter loads: attribute and channel in the places of a memory operation. */
static void fill_ldsdir(struct ctx *c, struct uop *u)
{
    const struct isa_inst *inst = c->inst;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (o->kind == ISA_OPND_IMM)
            u->mem.off0 = (uint16_t)o->imm;
        if (is_vgpr(o)) {
            note_vgprs(c, o);
            u->d = (uint16_t)(o->sel - ISA_SEL_VGPR0);
        }
    }
    u->mem.off1 = inst->chan;
}

static void fill_memory(struct ctx *c, struct uop *u)
{
    if (c->inst->enc == ISA_ENC_DS)
        fill_ds(c, u);
    else if (c->inst->enc == ISA_ENC_SMEM)
        fill_smem(c, u);
    else
        fill_flat(c, u);
}

static bool is_flat_family(unsigned enc)
{
    return enc == ISA_ENC_FLAT || enc == ISA_ENC_GLOBAL || enc == ISA_ENC_SCRATCH;
}

void predecode_memory(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct level_ops *l = c->emu->level;
    unsigned enc = c->inst->enc;
    bool ds = enc == ISA_ENC_DS, store = e->kind == SEM_STORE;
    if (e->kind == SEM_ATOMIC)
        u->op.atomic = e->fn.atomic;
    else
        u->op.mem = e->fn.mem;
    u->omod = e->kind == SEM_ATOMIC && e->ret == SEM_T_F32;
    if (enc == ISA_ENC_MUBUF || enc == ISA_ENC_MTBUF) {
        predecode_buffer(c, u, e);
        return;
    }
    if (!ds && enc != ISA_ENC_SMEM && !is_flat_family(enc)) {
        c->error = isa_op_name(c->inst->op);
        return;
    }
    if (ds && (c->inst->flags & ISA_M_GDS)) {
        c->error = "GDS";
        return;
    }
    u->mem.bytes = e->bytes;
    u->mem.wide = e->kind == SEM_WIDE;
    fill_memory(c, u);
    if (e->kind == SEM_WIDE) /* the same entry serves both directions */
        store = strstr(isa_op_name(c->inst->op), "_store") != NULL;
    if (e->kind == SEM_ATOMIC)
        u->fn = ds ? l->ds_atomic : l->vmem_atomic;
    else if (enc == ISA_ENC_SMEM)
        u->fn = field(c->inst, ISA_FIELD_SBASE)->dwords == 4 ? x_buffer_scalar : x_smem;
    else if (store)
        u->fn = ds ? l->ds_store : l->vmem_store;
    else
        u->fn = ds ? l->ds_load : l->vmem_load;
}

bool predecode_wave_memory(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    unsigned enc = c->inst->enc;
    u->fn = e->fn.wave;
    if (enc == ISA_ENC_LDSDIR) {
        fill_ldsdir(c, u);
        return true;
    }
    if (enc != ISA_ENC_DS && enc != ISA_ENC_SMEM && !is_flat_family(enc))
        return false;
    /* global wave sync has no LDS form and no memory */
    bool gws = strstr(e->name, "_gws_") != NULL;
    if (enc == ISA_ENC_DS && (c->inst->flags & ISA_M_GDS) && !gws)
        c->error = "GDS";
    u->mem.bytes = 4;
    fill_memory(c, u);
    return true;
}
