/* mem.c: modifiers of the memory and export encodings, and the operands whose
 * size or presence depends on them.
 *
 * Works on an instruction whose row operands are already filled in. Knows no mnemonic;
 * image address sizes come from the row's modifiers.
 * SPDX-License-Identifier: MIT
 */
#include "decode.h"

static int32_t sign_extend(uint32_t value, unsigned bits)
{
    uint32_t sign = 1u << (bits - 1);
    return (int32_t)((value ^ sign) - sign);
}

static void make_off(struct isa_opnd *o)
{
    o->kind = ISA_OPND_OFF;
    o->dwords = 0;
    o->sel = 0;
}

static void cache_modifiers(struct dec *d)
{
    d->inst->flags |=
        dec_flag(d, ISA_FIELD_GLC, ISA_M_GLC) | dec_flag(d, ISA_FIELD_SLC, ISA_M_SLC) |
        dec_flag(d, ISA_FIELD_DLC, ISA_M_DLC) | dec_flag(d, ISA_FIELD_TFE, ISA_M_TFE);
}

void dec_smem(struct dec *d)
{
    cache_modifiers(d);
    d->inst->offset = sign_extend(dec_field(d, ISA_FIELD_OFFSET), 21);
}

void dec_ds(struct dec *d)
{
    d->inst->flags |= dec_flag(d, ISA_FIELD_GDS, ISA_M_GDS);
    d->inst->offset = (int32_t)(dec_field(d, ISA_FIELD_OFFSET0) |
                                dec_field(d, ISA_FIELD_OFFSET1) << 8);
}

/* An atomic returns the old value only with GLC; else its destination is not there. */
static void drop_unreturned(struct dec *d, struct isa_opnd *vdst)
{
    bool atomic = vdst != NULL && dec_find(d, ISA_FIELD_DATA) != NULL;
    if (atomic && !(d->inst->flags & ISA_M_GLC))
        *vdst = (struct isa_opnd){.kind = ISA_OPND_NONE, .field = vdst->field};
}

void dec_flat(struct dec *d)
{
    struct isa_inst *inst = d->inst;
    struct isa_opnd *addr = dec_find(d, ISA_FIELD_ADDR);
    struct isa_opnd *saddr = dec_find(d, ISA_FIELD_SADDR);
    cache_modifiers(d);
    inst->flags |= dec_flag(d, ISA_FIELD_SVE, ISA_M_SVE);
    uint32_t offset = dec_field(d, ISA_FIELD_OFFSET);
    /* FLAT offsets are not negative: scratch or LDS may be meant. */
    inst->offset =
        inst->enc == ISA_ENC_FLAT ? (int32_t)offset : sign_extend(offset, 13);
    drop_unreturned(d, dec_find(d, ISA_FIELD_VDST));

    bool no_saddr = dec_field(d, ISA_FIELD_SADDR) == ISA_SEL_NULL;
    if (saddr != NULL && no_saddr)
        make_off(saddr);
    if (addr == NULL)
        return;
    if (inst->enc == ISA_ENC_GLOBAL && !no_saddr)
        addr->dwords = 1; /* a 32-bit offset from SADDR */
    if (inst->enc == ISA_ENC_SCRATCH && !(inst->flags & ISA_M_SVE))
        make_off(addr);
}

void dec_buffer(struct dec *d)
{
    struct isa_inst *inst = d->inst;
    struct isa_opnd *vdata = dec_find(d, ISA_FIELD_VDATA);
    struct isa_opnd *vaddr = dec_find(d, ISA_FIELD_VADDR);
    cache_modifiers(d);
    inst->flags |= dec_flag(d, ISA_FIELD_IDXEN, ISA_M_IDXEN) |
                   dec_flag(d, ISA_FIELD_OFFEN, ISA_M_OFFEN);
    inst->offset = (int32_t)dec_field(d, ISA_FIELD_OFFSET);
    inst->format = (uint8_t)dec_field(d, ISA_FIELD_FORMAT);
    if (vaddr != NULL) {
        unsigned n = (inst->flags & ISA_M_IDXEN ? 1u : 0u) +
                     (inst->flags & ISA_M_OFFEN ? 1u : 0u);
        if (n == 0)
            make_off(vaddr);
        else
            vaddr->dwords = (uint8_t)n;
    }
    if (vdata == NULL)
        return;
    unsigned both = ISA_OF_IN | ISA_OF_OUT;
    bool atomic = (d->row->mods & ISA_RM_ATOMIC) != 0;
    if (atomic && (vdata->flags & both) == both && !(inst->flags & ISA_M_GLC))
        vdata->flags &= (uint8_t)~ISA_OF_OUT;
    if (inst->flags & ISA_M_TFE)
        vdata->dwords++;
}

/* Registers an image instruction moves: four for gathers, else one per channel;
 * halved for D16, one more for TFE. */
static unsigned image_data_dwords(const struct dec *d)
{
    unsigned dmask = d->inst->dmask;
    unsigned n = (dmask & 1) + (dmask >> 1 & 1) + (dmask >> 2 & 1) + (dmask >> 3 & 1);
    if (d->row->mods & ISA_RM_GATHER4)
        n = 4;
    if (n == 0)
        n = 1;
    if (d->inst->flags & ISA_M_D16)
        n = (n + 1) / 2;
    return n + (d->inst->flags & ISA_M_TFE ? 1 : 0);
}

/* Does the instruction exist with that much data? Atomics move one or two registers,
 * compare-and-swap two or four, gathers no odd three. */
static bool image_data_exists(const struct dec *d, unsigned dwords, bool sampler)
{
    if (d->row->mods & ISA_RM_CMPSWAP)
        return dwords == 2 || dwords == 4;
    if (d->row->mods & ISA_RM_ATOMIC)
        return dwords == 1 || dwords == 2;
    return !(d->row->mods & ISA_RM_GATHER4) || !sampler || dwords != 3;
}

/* Address registers: offset, bias and reference take one each; coordinates and lod
 * one each, or two to a register with A16; gradients by dimension, or with G16 pairs
 * of halves for each direction. */
static unsigned image_address_dwords(uint32_t mods, unsigned dim, bool a16)
{
    static const uint8_t coordinates[8] = {1, 2, 3, 3, 2, 3, 3, 4};
    static const uint8_t gradients[8] = {2, 4, 6, 4, 2, 4, 4, 4};
    unsigned components =
        (mods & ISA_RM_NOCOORD ? 0u : coordinates[dim]) + (mods & ISA_RM_LOD ? 1u : 0u);
    unsigned n = (mods & ISA_RM_OFFSET ? 1u : 0u) + (mods & ISA_RM_BIAS ? 1u : 0u) +
                 (mods & ISA_RM_ZCMP ? 1u : 0u);
    n += a16 ? (components + 1) / 2 : components;
    if (mods & ISA_RM_GRAD)
        n += mods & ISA_RM_G16 ? (gradients[dim] / 2u + 1) / 2 * 2 : gradients[dim];
    return n;
}

unsigned dec_image_address(const struct isa_row *row, uint32_t flags, unsigned dim,
                           unsigned most)
{
    bool a16 = (flags & ISA_M_A16) != 0;
    if (row->mods & ISA_RM_BVH)
        return most - (a16 ? 3u : 0u);
    return image_address_dwords(row->mods, dim, a16);
}

unsigned dec_image_parts(const struct isa_row *row, uint32_t flags, unsigned dwords,
                         unsigned sizes[5])
{
    if (row->mods & ISA_RM_BVH) {
        bool a16 = (flags & ISA_M_A16) != 0;
        sizes[0] = dwords - (a16 ? 7 : 10); /* node pointer */
        sizes[1] = 1;                       /* extent */
        sizes[2] = sizes[3] = sizes[4] = 3; /* origin, direction, inverse */
        return a16 ? 4 : 5;
    }
    unsigned n = dwords < 5 ? dwords : 5;
    for (unsigned i = 0; i < n; i++)
        sizes[i] = 1;
    if (n == 5)
        sizes[4] = dwords - 4; /* the last one holds the rest */
    return n;
}

/* Replace VADDR by the separate operands of the NSA form. */
static void split_address(struct dec *d, struct isa_opnd *vaddr, unsigned dwords)
{
    static const uint8_t fields[4] = {ISA_FIELD_VADDRA, ISA_FIELD_VADDRB,
                                      ISA_FIELD_VADDRC, ISA_FIELD_VADDRD};
    struct isa_inst *inst = d->inst;
    unsigned sizes[5] = {0};
    unsigned n = dec_image_parts(d->row, inst->flags, dwords, sizes);
    unsigned at = (unsigned)(vaddr - inst->opnd);
    for (unsigned i = inst->n_opnds; i-- > at + 1;)
        inst->opnd[i + n - 1] = inst->opnd[i];
    inst->n_opnds = (uint8_t)(inst->n_opnds + n - 1);
    vaddr->dwords = (uint8_t)sizes[0];
    for (unsigned i = 1; i < n; i++) {
        struct isa_opnd *o = &inst->opnd[at + i];
        *o = *vaddr;
        o->field = fields[i - 1];
        o->dwords = (uint8_t)sizes[i];
        o->sel = (uint16_t)(ISA_SEL_VGPR0 +
                            isa_get(d->trailer, ISA_LAYOUT_NSA, fields[i - 1]));
    }
}

void dec_image(struct dec *d)
{
    struct isa_inst *inst = d->inst;
    struct isa_opnd *vdata = dec_find(d, ISA_FIELD_VDATA);
    struct isa_opnd *vaddr = dec_find(d, ISA_FIELD_VADDR);
    cache_modifiers(d);
    inst->flags |= dec_flag(d, ISA_FIELD_LWE, ISA_M_LWE) |
                   dec_flag(d, ISA_FIELD_A16, ISA_M_A16) |
                   dec_flag(d, ISA_FIELD_D16, ISA_M_D16) |
                   dec_flag(d, ISA_FIELD_R128, ISA_M_R128) |
                   dec_flag(d, ISA_FIELD_UNORM, ISA_M_UNORM);
    inst->dmask = (uint8_t)dec_field(d, ISA_FIELD_DMASK);
    inst->dim = (uint8_t)dec_field(d, ISA_FIELD_DIM);
    if ((d->row->mods & ISA_RM_ATOMIC) && !(inst->flags & ISA_M_GLC))
        vdata->flags &= (uint8_t)~ISA_OF_OUT;

    unsigned data = image_data_dwords(d);
    unsigned dwords = dec_image_address(d->row, inst->flags, inst->dim, vaddr->dwords);
    if (!image_data_exists(d, data,
                           dec_find(d, ISA_FIELD_SSAMP) !=
                               NULL)) { /* LLVM shows the smallest form instead */
        data = d->row->mods & ISA_RM_CMPSWAP   ? 2
               : d->row->mods & ISA_RM_GATHER4 ? 4
                                               : 1;
        dwords = image_address_dwords(d->row->mods, 0, true);
    }
    vdata->dwords = (uint8_t)data;
    if (inst->variant == ISA_VAR_NSA)
        split_address(d, vaddr, dwords);
    else
        vaddr->dwords = (uint8_t)dwords;
}

void dec_export(struct dec *d)
{
    struct isa_inst *inst = d->inst;
    uint32_t enabled = dec_field(d, ISA_FIELD_EN);
    static const uint8_t fields[4] = {ISA_FIELD_VSRC0, ISA_FIELD_VSRC1, ISA_FIELD_VSRC2,
                                      ISA_FIELD_VSRC3};
    inst->flags |= dec_flag(d, ISA_FIELD_DONE, ISA_M_DONE) |
                   dec_flag(d, ISA_FIELD_ROW_EN, ISA_M_ROW_EN);
    inst->dmask = (uint8_t)enabled;
    for (unsigned i = 0; i < 4; i++)
        if (!(enabled >> i & 1))
            make_off(dec_find(d, fields[i]));
}
