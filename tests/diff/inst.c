/* inst.c: one random instruction with registers that a program may use.
 *
 * Takes isa_random's encodings, moves their operands into the free registers, and puts
 * in front what an address or M0 needs. Must not know what instructions mean beyond
 * where their addresses are.
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "inst.h"
#include "isa_asm.h"

uint32_t below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((uint64_t)isa_random_next(state) * n >> 32);
}

bool chance(uint64_t *state, uint32_t n)
{
    return below(state, n) == 0;
}

void item_line(struct item *it, unsigned lanes, const char *fmt, ...)
{
    char text[128];
    uint8_t code[20];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    unsigned n = arena_assemble(text, lanes, code);
    if (it->bytes + n > sizeof it->code)
        return; /* too long: the caller sees it by item_append */
    memcpy(it->code + it->bytes, code, n);
    it->bytes = (uint8_t)(it->bytes + n);
}

bool item_append(struct item *it, unsigned lanes, const struct isa_inst *in)
{
    uint8_t code[20];
    unsigned n;
    struct isa_inst back;
    if (isa_encode(in, lanes, code, &n) != RD_OK || it->bytes + n > sizeof it->code)
        return false;
    if (isa_decode(code, n, lanes, &back) != RD_OK)
        return false; /* a rule that the new registers break */
    memcpy(it->code + it->bytes, code, n);
    it->bytes = (uint8_t)(it->bytes + n);
    return true;
}

/* ---- what no program contains -------------------------------------------------------
 */

static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool program_takes(unsigned row, const char **why)
{
    static const struct {
        const char *prefix, *why;
    } out[] = {
        {"s_endpgm", "ends the wave"},
        {"s_setpc", "jumps"},
        {"s_swappc", "jumps"},
        {"s_call", "jumps"},
        {"s_rfe", "returns from a trap"},
        {"s_branch", "jumps"},
        {"s_cbranch", "jumps"},
        {"s_subvector", "jumps"},
        {"s_trap", "ends the wave"},
        {"s_sethalt", "ends the wave"},
        {"s_setkill", "ends the wave"},
        {"s_code_end", "faults"},
        {"s_sendmsg", "depends on the machine"},
        {"s_barrier", "stands between items"},
        {"s_getreg", "depends on the machine"},
        {"s_setreg", "is a change of MODE"},
        {"s_atc_probe", "depends on the machine"},
        {"ds_gws", "waits for other waves"},
        {"ds_ordered", "has no semantics"},
        {"ds_add_gs", "has no semantics"},
        {"ds_sub_gs", "has no semantics"},
        {"ds_bvh", "takes packed addresses"},
        {"exp", "has no semantics"},
        {"image_bvh", "takes nodes"},
        {"image_msaa", "has no semantics"},
        {"buffer_load_lds", "has no semantics"},
        {"v_illegal", "faults"},
    };
    const char *name = isa_op_name(isa_row(row)->op);
    for (unsigned i = 0; i < sizeof out / sizeof *out; i++)
        if (starts(name, out[i].prefix)) {
            *why = out[i].why;
            return false;
        }
    return true;
}

/* ---- registers ----------------------------------------------------------------------
 */

static unsigned free_sgpr(uint64_t *r, unsigned dwords)
{
    unsigned n = dwords ? dwords : 1, align = n >= 4 ? 4 : n;
    return below(r, FREE_SGPRS - n + 1) / align * align;
}

static unsigned free_vgpr(uint64_t *r, unsigned dwords)
{
    return ISA_SEL_VGPR0 + below(r, FREE_VGPRS - (dwords ? dwords : 1) + 1);
}

static bool is_scalar_alu(unsigned enc)
{
    return enc == ISA_ENC_SOP1 || enc == ISA_ENC_SOP2 || enc == ISA_ENC_SOPK ||
           enc == ISA_ENC_SOPC;
}

static unsigned scalar_result(uint64_t *r, const struct isa_inst *in,
                              const struct isa_opnd *o)
{
    if (o->dwords <= 2 && chance(r, 6))
        return ISA_SEL_VCC_LO;
    if (is_scalar_alu(in->enc) && o->dwords <= 2 && chance(r, 16))
        return ISA_SEL_EXEC_LO;
    if (is_scalar_alu(in->enc) && o->dwords == 1 && chance(r, 16))
        return ISA_SEL_M0;
    if (o->dwords <= 2 && chance(r, 20))
        return ISA_SEL_NULL;
    return free_sgpr(r, o->dwords);
}

static unsigned scalar_source(uint64_t *r, const struct isa_opnd *o)
{
    bool keep = o->sel >= ISA_SEL_INT_0 || o->sel == ISA_SEL_VCC_LO ||
                o->sel == ISA_SEL_EXEC_LO || o->sel == ISA_SEL_NULL ||
                (o->dwords == 1 && (o->sel == ISA_SEL_M0 || o->sel == ISA_SEL_VCC_HI));
    if (keep && o->sel != ISA_SEL_LDS_DIRECT && o->sel != ISA_SEL_POPS_EXITING_WAVE_ID)
        return o->sel;
    return free_sgpr(r, o->dwords);
}

void move_operand(uint64_t *r, struct isa_inst *in, unsigned i)
{
    struct isa_opnd *o = &in->opnd[i];
    if (o->kind != ISA_OPND_REG || o->flags & (ISA_OF_IMPLICIT | ISA_OF_NO_FIELD))
        return;
    unsigned old = o->sel;
    if (o->sel >= ISA_SEL_VGPR0)
        o->sel = (uint16_t)free_vgpr(r, o->dwords);
    else if (o->flags & ISA_OF_OUT)
        o->sel = (uint16_t)scalar_result(r, in, o);
    else
        o->sel = (uint16_t)scalar_source(r, o);
    /* a register that two operands share stays shared */
    for (unsigned k = 0; k < in->n_opnds; k++) {
        struct isa_opnd *p = &in->opnd[k];
        if (k != i && p->kind == ISA_OPND_REG && p->field == o->field &&
            p->sel == old && (p->flags & ISA_OF_Y) == (o->flags & ISA_OF_Y))
            p->sel = o->sel;
    }
}

/* Registers relative to M0: few enough that all stay free. */
static void relative(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in)
{
    unsigned m0 = below(r, 8);
    if (strstr(isa_op_name(in->op), "_2_")) /* an offset for each operand */
        m0 |= below(r, 8) << 16;
    item_line(it, lanes, "s_mov_b32 m0, 0x%x", m0);
    for (unsigned i = 0; i < in->n_opnds; i++) {
        struct isa_opnd *o = &in->opnd[i];
        if (o->kind != ISA_OPND_REG || o->flags & ISA_OF_IMPLICIT)
            continue;
        if (o->sel >= ISA_SEL_VGPR0)
            o->sel = (uint16_t)(ISA_SEL_VGPR0 + below(r, FREE_VGPRS - 8));
        else if (o->sel < ISA_SEL_VCC_LO || o->flags & ISA_OF_OUT ||
                 in->enc == ISA_ENC_SOP1)
            o->sel = (uint16_t)(below(r, FREE_SGPRS - 10) & ~1u);
    }
}

/* ---- one instruction ----------------------------------------------------------------
 */

static bool plain(uint64_t *r, struct item *it, unsigned lanes, struct isa_inst *in)
{
    const char *name = isa_op_name(in->op);
    if (strstr(name, "_movrel") || strstr(name, "swaprel")) {
        relative(r, it, lanes, in);
        /* M0 of a scalar move counts from zero, of v_movrelsd_2 in two fields */
        return item_append(it, lanes, in);
    }
    for (unsigned i = 0; i < in->n_opnds; i++)
        move_operand(r, in, i);
    if (strstr(name, "wmma") && in->opnd[3].sel < ISA_SEL_VGPR0)
        in->opnd[3].sel = (uint16_t)(ISA_SEL_INT_0 + below(r, 81)); /* no SGPRs */
    for (unsigned i = 0; i < in->n_opnds && in->enc == ISA_ENC_LDSDIR; i++)
        if (in->opnd[i].field == ISA_FIELD_ATTR)
            in->opnd[i].imm %= 16; /* within LDS */
    if (in->enc == ISA_ENC_LDSDIR)
        item_line(it, lanes, "s_mov_b32 m0, 0x%x", below(r, 0x200) * 4);
    return item_append(it, lanes, in);
}

/* Images are two-dimensional; atomics move one element (manual 15.10.1: DIM is [4:2],
 * DMASK [11:8], TFE and LWE [54:53]). */
static void aim_image(const char *name, uint8_t *code)
{
    if (starts(name, "image_bvh"))
        return;
    code[0] = (uint8_t)((code[0] & ~0x1c) | 1 << 2);
    if (!starts(name, "image_atomic"))
        return;
    code[1] = (uint8_t)((code[1] & 0xf0) | (strstr(name, "cmpswap") ? 3 : 1));
    code[6] &= 0x9f;
}

bool inst_random(uint64_t *r, struct item *it, unsigned lanes, unsigned row,
                 unsigned variant)
{
    for (unsigned attempt = 0; attempt < 64; attempt++) {
        uint8_t code[ISA_MAX_BYTES];
        struct isa_inst in;
        isa_random(row, variant, r, code);
        if (isa_row(row)->enc == ISA_ENC_MIMG)
            aim_image(isa_op_name(isa_row(row)->op), code);
        if (isa_decode(code, sizeof code, lanes, &in) != RD_OK || in.variant != variant)
            continue;
        if (in.row != row && in.row_y != row)
            continue;
        *it = (struct item){.bytes = 0};
        bool ok;
        switch (in.enc) {
        case ISA_ENC_SMEM:
        case ISA_ENC_DS:
        case ISA_ENC_FLAT:
        case ISA_ENC_GLOBAL:
        case ISA_ENC_SCRATCH:
        case ISA_ENC_MUBUF:
        case ISA_ENC_MTBUF:
        case ISA_ENC_MIMG:
            ok = inst_memory(r, it, lanes, &in);
            break;
        default:
            ok = plain(r, it, lanes, &in);
        }
        if (ok)
            return true;
    }
    return false;
}
