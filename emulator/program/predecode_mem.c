/* predecode_mem.c: from a decoded memory instruction to its micro-op: which registers
 * hold address and data, which handler moves the bytes.
 *
 * What a load, store or atomic means is the semantics entry's; see predecode.c for the
 * rest.
 * SPDX-License-Identifier: MIT
 */
#include "facts.h"
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

static bool is_store(const struct ctx *c)
{
    return isa_facts(c->inst->op)->access == ISA_ACCESS_STORE;
}

static void fill_ds(struct ctx *c, struct uop *u)
{
    const struct isa_inst *inst = c->inst;
    unsigned stride = isa_facts(inst->op)->stride;
    struct umem *m = &u->mem;
    m->addr = vgpr_row(c, field(inst, ISA_FIELD_ADDR), 0);
    m->data = vgpr_row(c, field(inst, ISA_FIELD_DATA0), 0);
    m->data2 = vgpr_row(c, field(inst, ISA_FIELD_DATA1), 0);
    m->space = MEM_LDS;
    m->elems = stride ? 2 : 1;
    m->off0 = (uint16_t)inst->offset;
    if (m->elems == 2) {
        unsigned scale = m->bytes * stride;
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
    u->d = dst && dst->sel != ISA_SEL_NULL ? dst->sel : SGPR_DUMMY;
    u->imm = inst->offset;
    if (u->d != SGPR_DUMMY && (unsigned)u->d + m->bytes / 4 > SGPR_DUMMY)
        c->error = "SGPR range";
}

/* MUBUF and MTBUF. SOFFSET may be a constant. */
static void fill_buffer(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct isa_inst *inst = c->inst;
    const struct isa_opnd *rsrc = field(inst, ISA_FIELD_SRSRC);
    const struct isa_opnd *soffset = field(inst, ISA_FIELD_SOFFSET);
    unsigned flags = (inst->flags & ISA_M_IDXEN ? UB_IDXEN : 0) |
                     (inst->flags & ISA_M_OFFEN ? UB_OFFEN : 0) |
                     (inst->flags & ISA_M_TFE ? UB_TFE : 0) |
                     (inst->flags & ISA_M_GLC ? UB_RETURNS : 0) |
                     (e->kind == SEM_WIDE ? UB_WIDE : 0) |
                     (inst->enc == ISA_ENC_MTBUF ? UB_TYPED : 0);
    uint32_t form = isa_facts(inst->op)->mem;
    if (form & ISA_MEM_FORMAT && form & ISA_MEM_D16)
        flags |= form & ISA_MEM_HI ? UB_HI : UB_D16;
    struct ubuf b = {.vaddr = vgpr_row(c, field(inst, ISA_FIELD_VADDR), 0),
                     .vdata = vgpr_row(c, field(inst, ISA_FIELD_VDATA), 0),
                     .srsrc = rsrc ? rsrc->sel : 0,
                     .flags = (uint8_t)flags,
                     .format = inst->format,
                     .bytes = e->bytes,
                     .comps = (uint8_t)e->bytes};
    if (soffset)
        set_source(c, &b.soffset, soffset, SEM_T_U32);
    u->buf = b;
    u->imm = inst->offset;
}

static void predecode_buffer(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct handlers *h = c->env->handlers;
    bool store = is_store(c);
    fill_buffer(c, u, e);
    if (e->kind == SEM_ATOMIC)
        u->fn = h->buffer_atomic;
    else if (e->kind == SEM_FORMAT)
        u->fn = store ? h->buffer_store_format : h->buffer_load_format;
    else
        u->fn = store ? h->buffer_store : h->buffer_load;
}

/* What the sheet says of an image instruction, as the handlers want it. */
static uint32_t image_forms(uint32_t mem)
{
    static const struct {
        uint32_t form, flag;
    } forms[] = {{ISA_MEM_MIP, UI_MIP},       {ISA_MEM_RAW, UI_RAW},
                 {ISA_MEM_SIGNED, UI_SIGNED}, {ISA_MEM_REF, UI_COMPARE},
                 {ISA_MEM_GRAD, UI_GRAD},     {ISA_MEM_BIAS, UI_BIAS},
                 {ISA_MEM_LOD, UI_LOD},       {ISA_MEM_ZERO, UI_ZERO},
                 {ISA_MEM_CLAMP, UI_CLAMP},   {ISA_MEM_OFFSET, UI_OFFSET},
                 {ISA_MEM_G16, UI_G16},       {ISA_MEM_ROW, UI_ROW},
                 {ISA_MEM_NODE64, UI_64}};
    uint32_t flags = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (mem & forms[i].form)
            flags |= forms[i].flag;
    return flags;
}

static void fill_image(struct ctx *c, struct uop *u)
{
    const struct isa_inst *inst = c->inst;
    const struct isa_opnd *rsrc = field(inst, ISA_FIELD_SRSRC);
    const struct isa_opnd *samp = field(inst, ISA_FIELD_SSAMP);
    struct uimg m = {.vdata = (uint8_t)vgpr_row(c, field(inst, ISA_FIELD_VDATA), 0),
                     .srsrc = (uint8_t)(rsrc ? rsrc->sel : 0),
                     .ssamp = (uint8_t)(samp ? samp->sel : 0),
                     .dmask = inst->dmask,
                     .dim = inst->dim};
    for (unsigned i = 0; i < inst->n_opnds && m.n_addr < 5; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        bool address = o->field == ISA_FIELD_VADDR || o->field == ISA_FIELD_VADDRA ||
                       o->field == ISA_FIELD_VADDRB || o->field == ISA_FIELD_VADDRC ||
                       o->field == ISA_FIELD_VADDRD;
        if (address && is_vgpr(o))
            m.addr[m.n_addr++] = (uint8_t)vgpr_row(c, o, 0);
    }
    m.flags = image_forms(isa_facts(inst->op)->mem) |
              (inst->flags & ISA_M_A16 ? UI_A16 : 0) |
              (inst->flags & ISA_M_D16 ? UI_D16 : 0) |
              (inst->flags & (ISA_M_TFE | ISA_M_LWE) ? UI_STATUS : 0) |
              (inst->flags & ISA_M_UNORM ? UI_UNNORM : 0) |
              (inst->flags & ISA_M_GLC ? UI_RETURNS : 0) |
              (inst->flags & ISA_M_R128 ? UI_SHORT : 0);
    if (!m.n_addr || !rsrc)
        c->error = "address";
    u->img = m;
}

/* Atomics that return a value, that do not commute, or that are of several kinds make
 * the order of workgroups visible (sched.c then keeps to one order). */
static void note_order(struct ctx *c, unsigned op)
{
    enum isa_order order = isa_facts(op)->order;
    if (order == ISA_ORDER_NONE || c->inst->flags & ISA_M_GLC ||
        (c->p->atomic_order != ISA_ORDER_NONE && c->p->atomic_order != order))
        c->p->order_matters = true;
    c->p->atomic_order = order;
}

/* The operation of an image atomic is that of the buffer atomic; DMASK says the size.
 */
static void set_image_atomic(struct ctx *c, struct uop *u)
{
    static const struct {
        uint16_t image, b32, b64;
    } ops[] = {
        {ISA_IMAGE_ATOMIC_SWAP, ISA_BUFFER_ATOMIC_SWAP_B32, ISA_BUFFER_ATOMIC_SWAP_B64},
        {ISA_IMAGE_ATOMIC_CMPSWAP, ISA_BUFFER_ATOMIC_CMPSWAP_B32,
         ISA_BUFFER_ATOMIC_CMPSWAP_B64},
        {ISA_IMAGE_ATOMIC_ADD, ISA_BUFFER_ATOMIC_ADD_U32, ISA_BUFFER_ATOMIC_ADD_U64},
        {ISA_IMAGE_ATOMIC_SUB, ISA_BUFFER_ATOMIC_SUB_U32, ISA_BUFFER_ATOMIC_SUB_U64},
        {ISA_IMAGE_ATOMIC_SMIN, ISA_BUFFER_ATOMIC_MIN_I32, ISA_BUFFER_ATOMIC_MIN_I64},
        {ISA_IMAGE_ATOMIC_UMIN, ISA_BUFFER_ATOMIC_MIN_U32, ISA_BUFFER_ATOMIC_MIN_U64},
        {ISA_IMAGE_ATOMIC_SMAX, ISA_BUFFER_ATOMIC_MAX_I32, ISA_BUFFER_ATOMIC_MAX_I64},
        {ISA_IMAGE_ATOMIC_UMAX, ISA_BUFFER_ATOMIC_MAX_U32, ISA_BUFFER_ATOMIC_MAX_U64},
        {ISA_IMAGE_ATOMIC_AND, ISA_BUFFER_ATOMIC_AND_B32, ISA_BUFFER_ATOMIC_AND_B64},
        {ISA_IMAGE_ATOMIC_OR, ISA_BUFFER_ATOMIC_OR_B32, ISA_BUFFER_ATOMIC_OR_B64},
        {ISA_IMAGE_ATOMIC_XOR, ISA_BUFFER_ATOMIC_XOR_B32, ISA_BUFFER_ATOMIC_XOR_B64},
        {ISA_IMAGE_ATOMIC_INC, ISA_BUFFER_ATOMIC_INC_U32, ISA_BUFFER_ATOMIC_INC_U64},
        {ISA_IMAGE_ATOMIC_DEC, ISA_BUFFER_ATOMIC_DEC_U32, ISA_BUFFER_ATOMIC_DEC_U64},
    };
    bool compares = c->inst->op == ISA_IMAGE_ATOMIC_CMPSWAP;
    unsigned dwords = (unsigned)__builtin_popcount(c->inst->dmask) / (compares ? 2 : 1);
    unsigned op = ISA_OP_NONE;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].image == c->inst->op)
            op = dwords == 2 ? ops[i].b64 : ops[i].b32;
    const struct sem_entry *e = c->env->sem[op];
    if (!e || dwords == 0 || dwords > 2) {
        c->error = "atomic";
        return;
    }
    u->img.bytes = (uint8_t)(4 * dwords);
    u->op.atomic = e->fn.atomic;
    note_order(c, op);
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

static void predecode_scalar_load(struct ctx *c, struct uop *u)
{
    bool buffer = field(c->inst, ISA_FIELD_SBASE)->dwords == 4;
    u->fn = buffer ? c->env->handlers->buffer_scalar : c->env->handlers->smem;
    u->mem.space = MEM_SCALAR;
    if (buffer) /* the resource says where */
        u->flags &= ~UF_MEM;
}

void predecode_memory(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct level_ops *l = c->env->level;
    unsigned enc = c->inst->enc;
    bool ds = enc == ISA_ENC_DS, store = is_store(c);
    if (e->kind == SEM_ATOMIC && !ds)
        note_order(c, c->inst->op);
    else if (e->kind == SEM_ATOMIC)
        c->p->lds_atomics = true;
    else if (!ds && !store && c->inst->flags & ISA_M_GLC)
        c->p->polls = true;
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
    u->mem.bytes = e->bytes;
    u->mem.wide = e->kind == SEM_WIDE;
    fill_memory(c, u);
    u->mem.dirs = e->kind == SEM_ATOMIC ? MD_READ | MD_WRITE
                  : store               ? MD_WRITE
                                        : MD_READ;
    u->flags |= UF_MEM;
    if (e->kind == SEM_ATOMIC)
        u->fn = ds ? l->ds_atomic : l->vmem_atomic;
    else if (enc == ISA_ENC_SMEM)
        predecode_scalar_load(c, u);
    else if (store)
        u->fn = ds ? l->ds_store : l->vmem_store;
    else
        u->fn = ds ? l->ds_load : l->vmem_load;
    if (ds && (c->inst->flags & ISA_M_GDS)) {
        u->fn = c->env->handlers->gds;
        u->mem.space = MEM_GDS;
        u->flags |= store ? UF_GDS_STORE : 0;
        c->p->order_matters = true;
    }
}

/* Of the instructions that see the wave, append and consume have a GDS form; global
 * wave sync has no LDS form and no memory; for the rest the bit is reserved. */
static void set_gds(struct ctx *c, struct uop *u)
{
    if (isa_facts(c->inst->op)->space == ISA_SPACE_GWS)
        return;
    c->p->order_matters = true;
    if (c->inst->op == ISA_DS_APPEND || c->inst->op == ISA_DS_CONSUME)
        u->fn = c->env->handlers->gds;
    else
        u->fn = c->env->handlers->illegal;
}

bool predecode_wave_memory(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    unsigned enc = c->inst->enc;
    u->fn = e->fn.wave;
    if (enc == ISA_ENC_LDSDIR) {
        fill_ldsdir(c, u);
        return true;
    }
    if (enc == ISA_ENC_MIMG) {
        fill_image(c, u);
        if (isa_facts(c->inst->op)->access == ISA_ACCESS_ATOMIC)
            set_image_atomic(c, u);
        return true;
    }
    if (enc != ISA_ENC_DS && enc != ISA_ENC_SMEM && !is_flat_family(enc))
        return false;
    u->mem.bytes = 4;
    fill_memory(c, u);
    if (enc == ISA_ENC_DS && (c->inst->flags & ISA_M_GDS))
        set_gds(c, u);
    return true;
}
