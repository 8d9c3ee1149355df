/* inst_mem.c: memory instructions of random programs: addresses that stay within the
 * wave's data, the page that all waves share, LDS or scratch.
 *
 * Invariant: no address leaves the memory it is meant for, whatever the registers hold;
 * atomics are aligned.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "inst.h"

#define NEAR_MASK 0xff8u /* of byte addresses in the wave's data */
#define LDS_MASK  0x7f0u
#define PAGE_MASK 0x7f8u

static struct isa_opnd *find(struct isa_inst *in, unsigned field)
{
    for (unsigned i = 0; i < in->n_opnds; i++)
        if (in->opnd[i].field == field && !(in->opnd[i].flags & ISA_OF_IMPLICIT))
            return &in->opnd[i];
    return NULL;
}

static bool is_atomic(const struct isa_inst *in)
{
    const char *name = isa_op_name(in->op);
    if (in->enc == ISA_ENC_DS)
        return !strstr(name, "load") && !strstr(name, "ds_store_") &&
               !strstr(name, "permute") && !strstr(name, "swizzle");
    return strstr(name, "atomic") != NULL;
}

/* Byte addresses in a register: scattered, all equal, or one after the other. */
static void address(uint64_t *r, struct item *it, unsigned lanes, unsigned reg,
                    unsigned mask)
{
    unsigned kind = below(r, 4), shift = 2 + below(r, 3);
    if (kind == 0) {
        item_line(it, lanes, "v_mov_b32 v%u, 0x%x", reg, isa_random_next(r) & mask);
    } else if (kind == 1) {
        item_line(it, lanes, "v_mbcnt_lo_u32_b32 v%u, -1, 0", reg);
        item_line(it, lanes, "v_mbcnt_hi_u32_b32 v%u, -1, v%u", reg, reg);
        item_line(it, lanes, "v_lshlrev_b32 v%u, %u, v%u", reg, shift, reg);
        item_line(it, lanes, "v_and_b32 v%u, 0x%x, v%u", reg, mask, reg);
    } else {
        item_line(it, lanes, "v_and_b32 v%u, 0x%x, v%u", reg, mask,
                  below(r, FREE_VGPRS));
    }
}

static void set_register(struct isa_inst *in, unsigned field, unsigned sel)
{
    struct isa_opnd *o = find(in, field);
    if (o && o->kind == ISA_OPND_REG)
        o->sel = (uint16_t)sel;
}

/* Free registers for all but the operands that make the address. */
static void move_data(uint64_t *r, struct isa_inst *in)
{
    for (unsigned i = 0; i < in->n_opnds; i++)
        switch (in->opnd[i].field) {
        case ISA_FIELD_ADDR:
        case ISA_FIELD_VADDR:
        case ISA_FIELD_SADDR:
        case ISA_FIELD_SBASE:
        case ISA_FIELD_SOFFSET:
        case ISA_FIELD_SRSRC:
        case ISA_FIELD_SSAMP:
            break;
        default:
            move_operand(r, in, i);
        }
}

/* ---- scalar loads -------------------------------------------------------------------
 */

static bool scalar_load(uint64_t *r, struct item *it, unsigned lanes,
                        struct isa_inst *in)
{
    struct isa_opnd *base = find(in, ISA_FIELD_SBASE), *data, *off;
    if (!base) /* cache control */
        return item_append(it, lanes, in);
    bool buffer = base->dwords == 4;
    base->sel = (uint16_t)(!buffer ? REG_DATA : chance(r, 2) ? REG_RAW : REG_STRUCT);
    in->offset = (int32_t)(below(r, 1024) * 4);
    if (!buffer && chance(r, 3))
        in->offset -= 4096;
    off = find(in, ISA_FIELD_SOFFSET);
    if (off && off->kind == ISA_OPND_REG && off->sel != ISA_SEL_NULL) {
        off->sel = REG_TEMP;
        item_line(it, lanes, "s_mov_b32 s%u, 0x%x", REG_TEMP, below(r, 512) * 4);
        if (in->offset < 0)
            in->offset = 0;
    }
    data = find(in, ISA_FIELD_SDATA);
    if (data) {
        unsigned n = data->dwords;
        data->sel = (uint16_t)(below(r, FREE_SGPRS - n + 1) / (n > 4 ? 4 : n) *
                               (n > 4 ? 4 : n));
    }
    return item_append(it, lanes, in);
}

/* ---- LDS ----------------------------------------------------------------------------
 */

static bool lds(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in)
{
    const char *name = isa_op_name(in->op);
    bool two = (isa_row(in->row)->mods & ISA_RM_TWO_OFFSETS) != 0;
    in->flags &= ~ISA_M_GDS;
    move_data(r, in);
    if (strstr(name, "addtid") || strstr(name, "append") || strstr(name, "consume")) {
        item_line(it, lanes, "s_mov_b32 m0, 0x%x", below(r, 128) * 4);
        in->offset = (int32_t)(below(r, 256) * 4);
        return item_append(it, lanes, in);
    }
    if (strstr(name, "permute") || strstr(name, "swizzle") || !strcmp(name, "ds_nop")) {
        for (unsigned i = 0; i < in->n_opnds; i++)
            move_operand(r, in, i);
        return item_append(it, lanes, in);
    }
    if (strstr(name, "stride64"))
        in->offset = (int32_t)(below(r, 4) | below(r, 4) << 8);
    else if (!two)
        in->offset = (int32_t)(isa_random_next(r) & (is_atomic(in) ? LDS_MASK : 0x7ff));
    address(r, it, lanes, VREG_ADDR, is_atomic(in) || chance(r, 2) ? LDS_MASK : 0x7ef);
    if (in->offset >= 0x400 && !two && chance(r, 4)) /* a base below zero wraps */
        item_line(it, lanes, "v_subrev_nc_u32 v%u, 0x%x, v%u", VREG_ADDR, 0x400u,
                  VREG_ADDR);
    set_register(in, ISA_FIELD_ADDR, ISA_SEL_VGPR0 + VREG_ADDR);
    return item_append(it, lanes, in);
}

/* ---- global, flat, scratch ----------------------------------------------------------
 */

/* v64, v65: s[base:base+1] plus an offset within mask */
static void long_address(uint64_t *r, struct item *it, unsigned lanes, unsigned base,
                         unsigned mask)
{
    const char *carry = lanes == 64 ? "s[96:97]" : "s96";
    address(r, it, lanes, VREG_ADDR, mask);
    item_line(it, lanes, "v_add_co_u32 v64, %s, s%u, v64", carry, base);
    item_line(it, lanes, "v_add_co_ci_u32 v65, %s, s%u, 0, %s", carry, base + 1, carry);
}

static bool global(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in)
{
    struct isa_opnd *saddr = find(in, ISA_FIELD_SADDR);
    bool shared = is_atomic(in) && chance(r, 6);
    unsigned base = shared ? REG_SHARED : REG_DATA;
    unsigned mask = shared ? PAGE_MASK : NEAR_MASK;
    in->offset = (int32_t)below(r, 0x7f0);
    if (!shared && chance(r, 2))
        in->offset = (int32_t)below(r, 8192) - 4096;
    if (is_atomic(in))
        in->offset &= ~7;
    else if (chance(r, 2))
        mask |= 7;
    move_data(r, in);
    if (strstr(isa_op_name(in->op), "addtid")) {
        if (!saddr || saddr->kind != ISA_OPND_REG)
            return false;
        saddr->sel = REG_DATA;
        return item_append(it, lanes, in);
    }
    if (saddr && saddr->kind == ISA_OPND_REG) {
        saddr->sel = (uint16_t)base;
        address(r, it, lanes, VREG_ADDR, mask);
    } else {
        long_address(r, it, lanes, base, mask);
    }
    set_register(in, ISA_FIELD_ADDR, ISA_SEL_VGPR0 + VREG_ADDR);
    return item_append(it, lanes, in);
}

static bool flat(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in)
{
    unsigned where = below(r, 3);
    in->offset = (int32_t)(isa_random_next(r) & (is_atomic(in) ? LDS_MASK : 0x7ff));
    if (where == 0) {
        long_address(r, it, lanes, REG_DATA, NEAR_MASK);
    } else if (where == 1 || is_atomic(in)) {
        address(r, it, lanes, VREG_ADDR, LDS_MASK);
        item_line(it, lanes, "s_mov_b64 s[100:101], src_shared_base");
        item_line(it, lanes, "v_mov_b32 v65, s101");
    } else {
        in->offset &= 0xff;
        address(r, it, lanes, VREG_ADDR, 0xf0);
        item_line(it, lanes, "s_mov_b64 s[100:101], src_private_base");
        item_line(it, lanes, "v_mov_b32 v65, s101");
    }
    move_data(r, in);
    set_register(in, ISA_FIELD_ADDR, ISA_SEL_VGPR0 + VREG_ADDR);
    return item_append(it, lanes, in);
}

static bool scratch(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in)
{
    struct isa_opnd *saddr = find(in, ISA_FIELD_SADDR);
    in->offset = (int32_t)below(r, 0x80);
    if (saddr && saddr->kind == ISA_OPND_REG) {
        saddr->sel = REG_TEMP;
        item_line(it, lanes, "s_mov_b32 s%u, 0x%x", REG_TEMP, below(r, 0x40));
    }
    address(r, it, lanes, VREG_ADDR, chance(r, 2) ? 0xf0 : 0xff);
    move_data(r, in);
    set_register(in, ISA_FIELD_ADDR, ISA_SEL_VGPR0 + VREG_ADDR);
    return item_append(it, lanes, in);
}

/* ---- buffers and images -------------------------------------------------------------
 */

static bool buffer(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in)
{
    struct isa_opnd *soffset = find(in, ISA_FIELD_SOFFSET);
    bool wild = chance(r, 4); /* mostly out of range */
    bool indexed = (in->flags & ISA_M_IDXEN) != 0;
    if (find(in, ISA_FIELD_SRSRC) == NULL) /* cache control */
        return item_append(it, lanes, in);
    if (in->enc == ISA_ENC_MTBUF) {
        const char *format = isa_imm_name(ISA_IMM_MTBUF_FORMAT, in->format);
        if (!in->format || !format || strstr(format, "RESERVED"))
            in->format = (uint8_t)(1 + below(r, 63));
    }
    in->offset &= 0x7f8;
    if (indexed && chance(r, 2))
        in->offset &= 15;
    if (soffset && soffset->kind == ISA_OPND_REG && soffset->sel != ISA_SEL_NULL) {
        soffset->sel = REG_TEMP;
        item_line(it, lanes, "s_mov_b32 s%u, 0x%x", REG_TEMP, below(r, 32) * 8);
    }
    move_data(r, in);
    address(r, it, lanes, VREG_ADDR, indexed ? wild ? ~0u : 0x3ff : wild ? ~7u : 0xff8);
    if (indexed && in->flags & ISA_M_OFFEN)
        address(r, it, lanes, VREG_ADDR + 1, wild ? 0x1fff8 : 0x18);
    set_register(in, ISA_FIELD_SRSRC, chance(r, 2) ? REG_RAW : REG_STRUCT);
    set_register(in, ISA_FIELD_VADDR, ISA_SEL_VGPR0 + VREG_ADDR);
    return item_append(it, lanes, in);
}

static bool image(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in)
{
    const char *name = isa_op_name(in->op);
    in->flags &= ~ISA_M_R128;
    for (unsigned i = 0; i < in->n_opnds; i++) {
        struct isa_opnd *o = &in->opnd[i];
        if (o->kind == ISA_OPND_REG && o->sel >= ISA_SEL_VGPR0)
            move_operand(r, in, i);
    }
    set_register(in, ISA_FIELD_SRSRC, REG_IMAGE);
    set_register(in, ISA_FIELD_SSAMP, REG_SAMPLER);
    struct isa_opnd *vaddr = find(in, ISA_FIELD_VADDR);
    bool texels = !strstr(name, "sample") && !strstr(name, "gather4");
    if (in->variant != ISA_VAR_NSA && texels && vaddr->dwords <= 4 && chance(r, 2)) {
        for (unsigned i = 0; i < vaddr->dwords; i++)
            item_line(it, lanes, "v_and_b32 v%u, 0x%x, v%u", VREG_ADDR + i,
                      i < 2 ? 0x3fu : 1u, below(r, FREE_VGPRS));
        vaddr->sel = ISA_SEL_VGPR0 + VREG_ADDR;
    }
    return item_append(it, lanes, in);
}

bool inst_memory(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in)
{
    switch (in->enc) {
    case ISA_ENC_SMEM:
        return scalar_load(r, it, lanes, in);
    case ISA_ENC_DS:
        return lds(r, it, lanes, in);
    case ISA_ENC_GLOBAL:
        return global(r, it, lanes, in);
    case ISA_ENC_FLAT:
        return flat(r, it, lanes, in);
    case ISA_ENC_SCRATCH:
        return scratch(r, it, lanes, in);
    case ISA_ENC_MIMG:
        return image(r, it, lanes, in);
    default:
        return buffer(r, it, lanes, in);
    }
}
