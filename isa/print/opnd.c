/* opnd.c: registers, inline constants and literals as LLVM writes them.
 *
 * Knows selectors and formats, not instructions.
 * SPDX-License-Identifier: MIT
 */
#include "print.h"

#include "isa.h"

static inline void put_range(struct text *t, const char *bank, size_t bank_len,
                             unsigned first, unsigned dwords)
{
    put_bytes(t, bank, bank_len);
    if (dwords < 2) {
        put_dec(t, first);
        return;
    }
    put_char(t, '[');
    put_dec(t, first);
    put_char(t, ':');
    put_dec(t, first + dwords - 1);
    put_char(t, ']');
}

/* Selectors that are one name, whatever the operand; "" if there is none. */
static const char *special_name(unsigned sel, unsigned dwords)
{
    switch (sel) {
    case ISA_SEL_VCC_LO:
        return dwords == 2 ? "vcc" : "vcc_lo";
    case ISA_SEL_VCC_HI:
        return "vcc_hi";
    case ISA_SEL_NULL:
        return "null";
    case ISA_SEL_M0:
        return "m0";
    case ISA_SEL_EXEC_LO:
        return dwords == 2 ? "exec" : "exec_lo";
    case ISA_SEL_EXEC_HI:
        return "exec_hi";
    case ISA_SEL_SHARED_BASE:
        return "src_shared_base";
    case ISA_SEL_SHARED_LIMIT:
        return "src_shared_limit";
    case ISA_SEL_PRIVATE_BASE:
        return "src_private_base";
    case ISA_SEL_PRIVATE_LIMIT:
        return "src_private_limit";
    case ISA_SEL_POPS_EXITING_WAVE_ID:
        return "src_pops_exiting_wave_id";
    case ISA_SEL_VCCZ:
        return "src_vccz";
    case ISA_SEL_EXECZ:
        return "src_execz";
    case ISA_SEL_SCC:
        return "src_scc";
    case ISA_SEL_LDS_DIRECT:
        return "src_lds_direct";
    default:
        return "";
    }
}

static const char float_names[9][12] = {"0.5",  "-0.5", "1.0",  "-1.0",      "2.0",
                                        "-2.0", "4.0",  "-4.0", "0.15915494"};
const uint16_t inline_half_bits[9] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                      0xc000, 0x4400, 0xc400, 0x3118};
const uint16_t inline_bfloat_bits[9] = {0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000,
                                        0xc000, 0x4080, 0xc080, 0x3e22};
const uint32_t inline_float_bits[9] = {0x3f000000, 0xbf000000, 0x3f800000,
                                       0xbf800000, 0x40000000, 0xc0000000,
                                       0x40800000, 0xc0800000, 0x3e22f983};
/* Upper halves; 1/(2 pi) has a lower half too and is no literal. */
static const uint32_t double_bits[8] = {0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000,
                                        0x40000000, 0xc0000000, 0x40100000, 0xc0100000};

static void put_inline_float(struct text *t, unsigned i, unsigned class)
{
    if (class == CONST_I16)
        put_hex(t, inline_half_bits[i]);
    else if (i == 8 && (class == CONST_I64 || class == CONST_F64))
        put_str(t, "0.15915494309189532");
    else
        put_str(t, float_names[i]);
}

bool print_sel(struct text *t, unsigned sel, unsigned dwords, unsigned class)
{
    if (sel >= ISA_SEL_VGPR0) {
        put_range(t, "v", 1, sel - ISA_SEL_VGPR0, dwords);
    } else if (sel <= ISA_SEL_SGPR_LAST) {
        put_range(t, "s", 1, sel, dwords);
    } else if (sel >= ISA_SEL_TTMP0 && sel < ISA_SEL_NULL) {
        put_range(t, "ttmp", 4, sel - ISA_SEL_TTMP0, dwords);
    } else if (sel >= ISA_SEL_INT_0 && sel <= ISA_SEL_INT_POS_LAST) {
        put_dec(t, sel - ISA_SEL_INT_0);
    } else if (sel > ISA_SEL_INT_POS_LAST && sel <= ISA_SEL_INT_NEG_LAST) {
        put_char(t, '-');
        put_dec(t, sel - ISA_SEL_INT_POS_LAST);
    } else if (sel >= ISA_SEL_FLOAT_FIRST && sel <= ISA_SEL_FLOAT_LAST) {
        put_inline_float(t, sel - ISA_SEL_FLOAT_FIRST, class);
    } else {
        const char *name = special_name(sel, dwords);
        put_str(t, name);
        return name[0] != '\0';
    }
    return true;
}

unsigned constant_class(unsigned fmt)
{
    switch (fmt) {
    case ISA_FMT_F16:
        return CONST_F16;
    case ISA_FMT_B16:
    case ISA_FMT_I16:
    case ISA_FMT_U16:
        return CONST_I16;
    case ISA_FMT_BF16:
        return CONST_BF16;
    case ISA_FMT_PK2_F16:
        return CONST_PK_F16;
    case ISA_FMT_PK2_BF16:
        return CONST_PK_BF16;
    case ISA_FMT_B64:
    case ISA_FMT_I64:
    case ISA_FMT_U64:
    case ISA_FMT_WMMA_F32:
    case ISA_FMT_WMMA_I32:
    case ISA_FMT_WMMA_F16:
    case ISA_FMT_WMMA_BF16:
        return CONST_I64;
    case ISA_FMT_F64:
        return CONST_F64;
    default:
        return CONST_32;
    }
}

/* A 16-bit float: whole numbers and inline constants by name, others as bits. */
static void put_half(struct text *t, uint16_t bits, const uint16_t inline_bits[9])
{
    if ((int16_t)bits >= -16 && (int16_t)bits <= 64) {
        put_signed(t, (int16_t)bits);
        return;
    }
    for (unsigned i = 0; i < 9; i++) {
        if (inline_bits[i] == bits) {
            put_str(t, float_names[i]);
            return;
        }
    }
    put_hex(t, bits);
}

static bool put_inline_single(struct text *t, uint32_t bits)
{
    if ((int32_t)bits >= -16 && (int32_t)bits <= 64) {
        put_signed(t, (int32_t)bits);
        return true;
    }
    for (unsigned i = 0; i < 9; i++) {
        if (inline_float_bits[i] == bits) {
            put_str(t, float_names[i]);
            return true;
        }
    }
    return false;
}

/* A pair of halves: only a lone lower half may be a named constant. */
static void put_pair(struct text *t, uint32_t bits, const uint16_t inline_bits[9])
{
    if ((int32_t)bits >= -16 && (int32_t)bits <= 64) {
        put_signed(t, (int32_t)bits);
        return;
    }
    for (unsigned i = 0; i < 9; i++) {
        if (inline_bits[i] == bits) {
            put_str(t, float_names[i]);
            return;
        }
    }
    put_hex(t, bits);
}

/* A double literal gives the upper half. */
static void put_double(struct text *t, uint32_t upper)
{
    if (upper == 0) {
        put_char(t, '0');
        return;
    }
    for (unsigned i = 0; i < 8; i++) {
        if (double_bits[i] == upper) {
            put_str(t, float_names[i]);
            return;
        }
    }
    put_hex(t, upper);
}

void print_literal(struct text *t, uint32_t literal, unsigned class)
{
    switch (class) {
    case CONST_F16:
        put_half(t, (uint16_t)literal, inline_half_bits);
        break;
    case CONST_BF16:
        put_half(t, (uint16_t)literal, inline_bfloat_bits);
        break;
    case CONST_PK_F16:
        put_pair(t, literal, inline_half_bits);
        break;
    case CONST_PK_BF16:
        put_pair(t, literal, inline_bfloat_bits);
        break;
    case CONST_I64: /* zero-extended, so never negative */
        if (literal <= 64)
            put_dec(t, literal);
        else
            put_hex(t, literal);
        break;
    case CONST_F64:
        put_double(t, literal);
        break;
    case CONST_I16:
        if (!put_inline_single(t, literal))
            put_hex(t, literal & 0xffff);
        break;
    default:
        if (!put_inline_single(t, literal))
            put_hex(t, literal);
        break;
    }
}

size_t isa_sel_name(unsigned sel, unsigned dwords, unsigned fmt, char *text)
{
    struct text t = {text};
    if (sel >= ISA_SEL_COUNT || !print_sel(&t, sel, dwords, constant_class(fmt)))
        return 0;
    *t.at = '\0';
    return (size_t)(t.at - text);
}
