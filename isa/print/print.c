/* print.c: struct isa_inst to LLVM 19's canonical text.
 *
 * Operands print in table order, then the modifiers of the encoding in LLVM's order.
 * What differs between instructions of one encoding is in the row's modifiers; the few
 * mnemonics with a syntax of their own are named here.
 * Invariant: writes less than ISA_MAX_TEXT bytes for whatever isa_decode returns.
 * SPDX-License-Identifier: MIT
 */
#include "print.h"

static bool is_vop3_like(unsigned enc)
{
    return enc == ISA_ENC_VOP3 || enc == ISA_ENC_VOP3SD;
}

static bool has_dpp(const struct isa_inst *inst)
{
    return inst->variant == ISA_VAR_DPP16 || inst->variant == ISA_VAR_DPP8;
}

/* ---- mnemonic ---- */

static void print_mnemonic(struct printer *p)
{
    size_t len;
    const char *name = isa_op_text(p->inst->op, &len);
    put_bytes(&p->out, name, len);
    unsigned enc = p->inst->enc;
    bool wide = is_vop3_like(enc) || enc == ISA_ENC_VOP3P;
    if (has_dpp(p->inst)) {
        if (wide)
            put_str(&p->out, "_e64_dpp");
        else if (enc != ISA_ENC_VOPC)
            put_str(&p->out, "_dpp");
    } else if (p->row->flags & ISA_RF_SUFFIX) {
        put_str(&p->out, wide ? "_e64" : "_e32");
    }
}

/* ---- operands ---- */

/* Number of the source, or 3 for anything else. */
static unsigned source_number(const struct isa_opnd *o)
{
    switch (o->field) {
    case ISA_FIELD_SRC0:
        return 0;
    case ISA_FIELD_SRC1:
    case ISA_FIELD_VSRC1:
        return 1;
    case ISA_FIELD_SRC2:
        return 2;
    default:
        return 3;
    }
}

static unsigned operand_class(const struct printer *p, const struct isa_opnd *o)
{
    if (p->row->mods & ISA_RM_MIX)
        return CONST_F16;
    unsigned class = constant_class(o->fmt);
    if (p->inst->enc <= ISA_ENC_SOPP && class == CONST_I16)
        return CONST_32; /* 16-bit operands of scalar instructions */
    if (o->fmt >= ISA_FMT_WMMA_F32 && o->dwords < 8)
        return CONST_32; /* accumulator of wave64 */
    if (p->inst->enc == ISA_ENC_VOPD &&
        ((isa_rows[p->inst->row].flags | isa_rows[p->inst->row_y].flags) &
         ISA_RF_LITERAL))
        return CONST_32; /* the literal is the K of one half */
    return class;
}

static bool is_constant(const struct isa_opnd *o)
{
    return o->kind == ISA_OPND_LITERAL ||
           (o->sel >= ISA_SEL_INT_0 && o->sel <= ISA_SEL_INT_NEG_LAST) ||
           (o->sel >= ISA_SEL_FLOAT_FIRST && o->sel <= ISA_SEL_FLOAT_LAST);
}

/* Is the 16-bit register written v1.l, v1.h? LLVM 19 does so for some instructions
 * only, and not for the second source of their VOP3 DPP forms. */
static bool shows_half(const struct printer *p, const struct isa_opnd *o)
{
    if (!(p->row->mods & ISA_RM_TRUE16) || o->sel < ISA_SEL_VGPR0)
        return false;
    if (!(p->flags & ISA_PRINT_TRUE16) && p->inst->op != ISA_V_MOV_B16)
        return false;
    return !(p->inst->enc == ISA_ENC_VOP3 && has_dpp(p->inst) && source_number(o) == 1);
}

static void print_half(struct printer *p, const struct isa_opnd *o)
{
    bool upper = (o->flags & ISA_OF_HI16) != 0;
    if (shows_half(p, o)) {
        if (p->inst->enc == ISA_ENC_VOP3)
            upper = (p->inst->op_sel >> source_number(o) & 1) != 0;
        put_bytes(&p->out, upper ? ".h" : ".l", 2);
    } else if (upper) {
        put_bytes(&p->out, ".h", 2);
    }
}

static void print_plain(struct printer *p, const struct isa_opnd *o)
{
    if (o->field == ISA_FIELD_SIMM32 && p->inst->enc != ISA_ENC_SOPK) {
        put_hex(&p->out, p->inst->literal); /* K of FMAAK and FMAMK */
    } else if (o->kind == ISA_OPND_LITERAL) {
        print_literal(&p->out, p->inst->literal, operand_class(p, o));
    } else {
        print_sel(&p->out, o->sel, o->dwords, operand_class(p, o));
        print_half(p, o);
    }
}

/* A source with |x| and -x. Integer sources say sext(x), constants neg(x). */
static void print_signed_source(struct printer *p, const struct isa_opnd *o, bool abs,
                                bool neg, bool integer)
{
    const char *close = "";
    if (neg && integer) {
        put_str(&p->out, "sext(");
        close = ")";
    } else if (neg && !abs && is_constant(o)) {
        put_str(&p->out, "neg(");
        close = ")";
    } else if (neg) {
        put_char(&p->out, '-');
    }
    if (abs)
        put_char(&p->out, '|');
    print_plain(p, o);
    if (abs)
        put_char(&p->out, '|');
    put_str(&p->out, close);
}

static bool is_float(unsigned fmt)
{
    return fmt == ISA_FMT_F16 || fmt == ISA_FMT_F32 || fmt == ISA_FMT_F64 ||
           fmt == ISA_FMT_BF16 || fmt == ISA_FMT_PK2_F16 || fmt == ISA_FMT_PK2_BF16;
}

static void print_register(struct printer *p, const struct isa_opnd *o)
{
    const struct isa_inst *inst = p->inst;
    unsigned n = source_number(o);
    if (n == 3) {
        print_plain(p, o);
    } else if (p->row->mods & ISA_RM_MIX) {
        print_signed_source(p, o, inst->neg_hi >> n & 1, inst->neg >> n & 1, false);
    } else if (inst->enc == ISA_ENC_VOP3P) {
        print_plain(p, o);
    } else {
        bool takes_abs = (p->row->mods & ISA_RM_ABS0 << n) != 0;
        print_signed_source(p, o, inst->abs >> n & 1, inst->neg >> n & 1,
                            !is_float(o->fmt) && !takes_abs);
    }
}

static void print_immediate(struct printer *p, const struct isa_opnd *o)
{
    struct text *t = &p->out;
    uint32_t imm = (uint32_t)o->imm & 0xffff;
    const struct isa_opnd_desc *desc =
        &isa_opnds[p->row->opnds + (unsigned)(o - p->inst->opnd)];
    switch (desc->type) {
    case ISA_OPR_WAITCNT:
        print_waitcnt(t, imm);
        break;
    case ISA_OPR_WAITCNT_DEPCTR:
        print_depctr(t, imm);
        break;
    case ISA_OPR_DELAY:
        print_delay_alu(t, imm);
        break;
    case ISA_OPR_HWREG:
        print_hwreg(t, imm);
        break;
    case ISA_OPR_SENDMSG:
        print_sendmsg(t, imm);
        break;
    case ISA_OPR_VERSION:
        print_version(t, imm);
        break;
    case ISA_OPR_TGT:
        print_target(t, imm);
        break;
    case ISA_OPR_LABEL:
        put_dec(t, imm);
        break;
    case ISA_OPR_ATTR:
        put_str(t, "attr");
        put_dec(t, imm);
        put_char(t, '.');
        put_char(t, "xyzw"[p->inst->chan]);
        break;
    default:
        if (p->row->mods & ISA_RM_OPTIONAL)
            put_dec(t, imm);
        else if ((p->row->mods & ISA_RM_HEX) || p->inst->enc == ISA_ENC_SOPK)
            put_hex(t, imm);
        else
            put_inline_or_hex(t, (int32_t)imm);
        break;
    }
}

/* SMEM: a register, a constant, or both; "null" stands for neither. */
static void print_smem_offset(struct printer *p, const struct isa_opnd *o)
{
    int32_t offset = p->inst->offset;
    bool none = o->sel == ISA_SEL_NULL;
    if (!none || offset == 0)
        print_plain(p, o);
    if (offset == 0)
        return;
    if (!none)
        put_str(&p->out, " offset:");
    if (offset < 0)
        put_char(&p->out, '-');
    put_hex(&p->out, (uint32_t)(offset < 0 ? -offset : offset));
}

static bool is_printed(const struct printer *p, const struct isa_opnd *o)
{
    if ((o->flags & ISA_OF_IMPLICIT) || o->kind == ISA_OPND_NONE)
        return false;
    if (p->inst->enc == ISA_ENC_VOPD && (o->flags & ISA_OF_NO_FIELD))
        return false; /* VCC of v_dual_cndmask_b32 */
    if (o == &p->inst->opnd[0] && isa_opnds[p->row->opnds].type == ISA_OPR_EXEC)
        return false; /* what v_cmpx writes */
    if ((p->row->mods & ISA_RM_OPTIONAL) && o->imm == 0)
        return false;
    return true;
}

static void print_operand(struct printer *p, const struct isa_opnd *o)
{
    switch (o->kind) {
    case ISA_OPND_IMM:
        print_immediate(p, o);
        break;
    case ISA_OPND_OFF:
        put_str(&p->out, "off");
        break;
    default:
        if (o->field == ISA_FIELD_SOFFSET && p->inst->enc == ISA_ENC_SMEM)
            print_smem_offset(p, o);
        else
            print_register(p, o);
        break;
    }
}

static bool is_image_address(const struct isa_opnd *o)
{
    return o->field == ISA_FIELD_VADDR || o->field == ISA_FIELD_VADDRA ||
           o->field == ISA_FIELD_VADDRB || o->field == ISA_FIELD_VADDRC ||
           o->field == ISA_FIELD_VADDRD;
}

/* Operands [first, last) of one half, separated by commas. */
static void print_operands(struct printer *p, unsigned first, unsigned last)
{
    const struct isa_inst *inst = p->inst;
    bool any = false, in_list = false;
    for (unsigned i = first; i < last; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (!is_printed(p, o))
            continue;
        bool list = inst->variant == ISA_VAR_NSA && is_image_address(o);
        if (in_list && !list)
            put_char(&p->out, ']');
        if (any && !(inst->enc == ISA_ENC_EXP && o->field == ISA_FIELD_VSRC0))
            put_char(&p->out, ',');
        put_char(&p->out, ' ');
        if (list && !in_list)
            put_char(&p->out, '[');
        in_list = list;
        print_operand(p, o);
        any = true;
    }
}

/* ---- modifiers ---- */

static void put_flag(struct printer *p, uint32_t flag, const char *text)
{
    if (p->inst->flags & flag)
        put_str(&p->out, text);
}

/* " name:[a,b,c]" from the low bits of value. */
static void put_bits(struct printer *p, const char *name, unsigned value, unsigned n)
{
    put_str(&p->out, name);
    for (unsigned i = 0; i < n; i++) {
        put_char(&p->out, i == 0 ? '[' : ',');
        put_char(&p->out, value >> i & 1 ? '1' : '0');
    }
    put_char(&p->out, ']');
}

static unsigned source_count(const struct isa_inst *inst)
{
    unsigned n = 0;
    for (unsigned i = 0; i < inst->n_opnds; i++)
        n += source_number(&inst->opnd[i]) != 3;
    return n;
}

/* Sources, then the destination if it has a half to choose. An accumulating
 * destination counts as the third source. */
static void print_op_sel(struct printer *p)
{
    const struct isa_inst *inst = p->inst;
    uint32_t mods = p->row->mods;
    const uint32_t halves =
        ISA_RM_OPSEL0 | ISA_RM_OPSEL1 | ISA_RM_OPSEL2 | ISA_RM_OPSELD;
    bool true16 = (mods & ISA_RM_TRUE16) && (p->flags & ISA_PRINT_TRUE16) &&
                  inst->enc == ISA_ENC_VOP3;
    if (!(mods & halves) && !true16)
        return;
    unsigned n = source_count(inst);
    if (inst->enc == ISA_ENC_VOP3 && (inst->opnd[0].flags & ISA_OF_IN))
        n = 3;
    unsigned value = inst->op_sel & ((1u << n) - 1);
    if (true16 || (mods & ISA_RM_OPSELD))
        value |= (inst->op_sel >> 3 & 1u) << n++;
    else if (n == 3 && !(mods & ISA_RM_OPSEL2))
        n = 2; /* v_permlane16_b32 */
    value &= (1u << n) - 1;
    if (value != 0)
        put_bits(p, " op_sel:", value, n);
}

static void print_clamp_omod(struct printer *p)
{
    static const char omods[4][8] = {"", " mul:2", " mul:4", " div:2"};
    put_flag(p, ISA_M_CLAMP, " clamp");
    put_str(&p->out, omods[p->inst->omod & 3]);
}

static void print_packed(struct printer *p)
{
    const struct isa_inst *inst = p->inst;
    unsigned n = source_count(inst), all = (1u << n) - 1;
    bool mix = (p->row->mods & ISA_RM_MIX) != 0;
    bool halves = (p->row->mods & ISA_RM_OPSEL0) != 0;
    unsigned default_hi = mix ? 0 : all;
    if (halves && (inst->op_sel & all) != 0)
        put_bits(p, " op_sel:", inst->op_sel, n);
    if (halves && (inst->op_sel_hi & all) != default_hi)
        put_bits(p, " op_sel_hi:", inst->op_sel_hi, n);
    if (!mix && (inst->neg & all) != 0)
        put_bits(p, " neg_lo:", inst->neg, n);
    if (!mix && (inst->neg_hi & all) != 0)
        put_bits(p, " neg_hi:", inst->neg_hi, n);
    put_flag(p, ISA_M_CLAMP, " clamp");
}

static void print_dpp(struct printer *p)
{
    const struct isa_inst *inst = p->inst;
    struct text *t = &p->out;
    if (inst->variant == ISA_VAR_DPP8) {
        put_str(t, " dpp8:");
        for (unsigned i = 0; i < 8; i++) {
            put_char(t, i == 0 ? '[' : ',');
            put_dec(t, inst->dpp8 >> 3 * i & 7);
        }
        put_char(t, ']');
    } else {
        put_char(t, ' ');
        print_dpp_ctrl(t, inst->dpp_ctrl);
        put_str(t, " row_mask:");
        put_hex(t, inst->row_mask);
        put_str(t, " bank_mask:");
        put_hex(t, inst->bank_mask);
        put_flag(p, ISA_M_BOUND_CTRL, " bound_ctrl:1");
    }
    put_flag(p, ISA_M_FI, " fi:1");
}

static void print_offset(struct printer *p, const char *name, int32_t offset)
{
    if (offset == 0)
        return;
    put_str(&p->out, name);
    put_signed(&p->out, offset);
}

static void print_cache(struct printer *p)
{
    put_flag(p, ISA_M_GLC, " glc");
    put_flag(p, ISA_M_SLC, " slc");
    put_flag(p, ISA_M_DLC, " dlc");
}

static void print_ds(struct printer *p)
{
    int32_t offset = p->inst->offset;
    if (p->row->mods & ISA_RM_TWO_OFFSETS) {
        print_offset(p, " offset0:", offset & 255);
        print_offset(p, " offset1:", offset >> 8 & 255);
    } else if (p->inst->op == ISA_DS_SWIZZLE_B32 && offset != 0) {
        put_str(&p->out, " offset:");
        print_swizzle(&p->out, (uint32_t)offset);
    } else {
        print_offset(p, " offset:", offset);
    }
    put_flag(p, ISA_M_GDS, " gds");
}

static void print_format(struct printer *p)
{
    const char *name = isa_imm_name(ISA_IMM_MTBUF_FORMAT, p->inst->format);
    if (p->inst->format == 1)
        return;
    put_str(&p->out, " format:");
    if (name == NULL) {
        put_dec(&p->out, p->inst->format);
        return;
    }
    put_char(&p->out, '[');
    put_str(&p->out, name);
    put_char(&p->out, ']');
}

static void print_buffer(struct printer *p)
{
    if (p->inst->n_opnds == 0)
        return;
    if (p->inst->enc == ISA_ENC_MTBUF)
        print_format(p);
    put_flag(p, ISA_M_IDXEN, " idxen");
    put_flag(p, ISA_M_OFFEN, " offen");
    print_offset(p, " offset:", p->inst->offset);
    print_cache(p);
    put_flag(p, ISA_M_TFE, " tfe");
}

static void print_image(struct printer *p)
{
    if (!(p->row->mods & ISA_RM_BVH)) {
        if (p->inst->dmask != 0) {
            put_str(&p->out, " dmask:");
            put_hex(&p->out, p->inst->dmask);
        }
        put_str(&p->out, " dim:");
        put_str(&p->out, isa_imm_name(ISA_IMM_MIMG_DIM, p->inst->dim));
        put_flag(p, ISA_M_UNORM, " unorm");
    }
    print_cache(p);
    if (!(p->row->mods & ISA_RM_BVH))
        put_flag(p, ISA_M_R128, " r128");
    put_flag(p, ISA_M_A16, " a16");
    put_flag(p, ISA_M_TFE, " tfe");
    put_flag(p, ISA_M_LWE, " lwe");
    put_flag(p, ISA_M_D16, " d16");
}

static void print_modifiers(struct printer *p)
{
    switch (p->inst->enc) {
    case ISA_ENC_VOP3:
    case ISA_ENC_VOP3SD:
        print_op_sel(p);
        print_clamp_omod(p);
        break;
    case ISA_ENC_VINTERP:
        put_flag(p, ISA_M_CLAMP, " clamp");
        print_op_sel(p);
        put_str(&p->out, " wait_exp:");
        put_dec(&p->out, p->inst->wait);
        break;
    case ISA_ENC_VOP3P:
        print_packed(p);
        break;
    case ISA_ENC_LDSDIR:
        put_str(&p->out, " wait_vdst:");
        put_dec(&p->out, p->inst->wait);
        break;
    case ISA_ENC_SMEM:
        if (p->inst->n_opnds != 0)
            print_cache(p);
        break;
    case ISA_ENC_DS:
        print_ds(p);
        break;
    case ISA_ENC_FLAT:
    case ISA_ENC_GLOBAL:
    case ISA_ENC_SCRATCH:
        print_offset(p, " offset:", p->inst->offset);
        print_cache(p);
        break;
    case ISA_ENC_MUBUF:
    case ISA_ENC_MTBUF:
        print_buffer(p);
        break;
    case ISA_ENC_MIMG:
        print_image(p);
        break;
    case ISA_ENC_EXP:
        put_flag(p, ISA_M_DONE, " done");
        put_flag(p, ISA_M_ROW_EN, " row_en");
        break;
    default:
        break;
    }
    if (has_dpp(p->inst))
        print_dpp(p);
}

/* ---- the instruction ---- */

static void print_dual(struct printer *p)
{
    unsigned y = 0;
    while (y < p->inst->n_opnds && !(p->inst->opnd[y].flags & ISA_OF_Y))
        y++;
    print_operands(p, 0, y);
    put_str(&p->out, " :: ");
    size_t len;
    const char *name = isa_op_text(p->inst->op_y, &len);
    put_bytes(&p->out, name, len);
    p->row = &isa_rows[p->inst->row_y];
    print_operands(p, y, p->inst->n_opnds);
}

size_t isa_print(const struct isa_inst *inst, unsigned wave, unsigned print_flags,
                 char *text)
{
    struct printer p = {
        .out = {text},
        .inst = inst,
        .row = &isa_rows[inst->row],
        .wave = wave,
        .flags = print_flags,
    };
    print_mnemonic(&p);
    if (inst->enc == ISA_ENC_VOPD) {
        print_dual(&p);
    } else {
        print_operands(&p, 0, inst->n_opnds);
        print_modifiers(&p);
    }
    *p.out.at = '\0';
    return (size_t)(p.out.at - text);
}

bool isa_has_text(const struct isa_inst *inst, unsigned print_flags)
{
    const struct isa_row *row = &isa_rows[inst->row];
    unsigned flags = row->flags;
    if (inst->enc == ISA_ENC_VOPD)
        flags |= isa_rows[inst->row_y].flags;
    bool true16 = (row->mods & ISA_RM_TRUE16) && (print_flags & ISA_PRINT_TRUE16);
    if ((flags & ISA_RF_NO_TEXT) && !true16)
        return false;
    bool halves = (row->mods & ISA_RM_TRUE16) &&
                  ((print_flags & ISA_PRINT_TRUE16) || inst->op == ISA_V_MOV_B16);
    for (unsigned i = 0; i < inst->n_opnds && !halves; i++)
        if (inst->opnd[i].flags & ISA_OF_HI16)
            return false;
    return true;
}
