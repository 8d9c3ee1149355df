/* decode_mem.c: modifiers of the memory and export encodings, and the operands whose
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

void dec_image(struct dec *d)
{
    (void)d;
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
