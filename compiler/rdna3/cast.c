/* cast.c: conversions between types as gfx1100 instructions.
 *
 * Knows nothing of control flow or registers; a narrow integer result is extended to 32
 * bits, as alu.c keeps them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "alu.h"

/* ---- conversions ---- */

static struct mi_opnd f64_of(struct alu *a, uint32_t high)
{
    struct mi_opnd d = pair(a, mi_imm(0));
    struct mi_opnd hi[2] = {mi_part(d, 1), mi_imm((int32_t)high)};
    rdna3_mi(a->r, "v_mov_b32 %0, %1", 1, 2, hi);
    return d;
}

/* Any number as f64. */
static struct mi_opnd to_f64(struct alu *a, struct mi_opnd x)
{
    if (a->from == CC_DT_F64)
        return pair(a, x);
    if (a->from == CC_DT_F32)
        return WIDE(a, "v_cvt_f64_f32 %0, %1", x);
    if (cc_dtype_bytes(a->from) < 8)
        return WIDE(a,
                    cc_is_unsigned(a->from) ? "v_cvt_f64_u32 %0, %1"
                                            : "v_cvt_f64_i32 %0, %1",
                    x);
    x = pair(a, x);
    struct mi_opnd hi = WIDE(
        a, cc_is_unsigned(a->from) ? "v_cvt_f64_u32 %0, %1" : "v_cvt_f64_i32 %0, %1",
        mi_part(x, 1));
    struct mi_opnd lo = WIDE(a, "v_cvt_f64_u32 %0, %1", mi_part(x, 0));
    return WIDE(a, "v_fma_f64 %0, %1, %2, %3", hi, f64_of(a, 0x41f00000), lo);
}

/* f64 to 64 bits of integer: the part above 2^32, then what is left. */
static struct mi_opnd f64_to_int64(struct alu *a, struct mi_opnd x)
{
    bool u = cc_is_unsigned(a->dtype);
    if (u)
        x = WIDE(a, "v_max_f64 %0, %1, %2", x, pair(a, mi_imm(0)));
    x = WIDE(a, "v_trunc_f64 %0, %1", x);
    struct mi_opnd hi = WIDE(a, "v_mul_f64 %0, %1, %2", x, f64_of(a, 0x3df00000));
    hi = WIDE(a, "v_floor_f64 %0, %1", hi);
    struct mi_opnd lo =
        WIDE(a, "v_fma_f64 %0, %1, %2, %3", hi, f64_of(a, 0xc1f00000), x);
    return zip(a, NARROW(a, "v_cvt_u32_f64 %0, %1", lo),
               NARROW(a, u ? "v_cvt_u32_f64 %0, %1" : "v_cvt_i32_f64 %0, %1", hi));
}

/* 32 bits to the width of the dtype. */
static struct mi_opnd cut(struct alu *a, struct mi_opnd x)
{
    switch (a->dtype) {
    case CC_DT_I8:
        return NARROW(a, "v_bfe_i32 %0, %1, %2, %3", x, mi_imm(0), mi_imm(8));
    case CC_DT_I16:
        return NARROW(a, "v_bfe_i32 %0, %1, %2, %3", x, mi_imm(0), mi_imm(16));
    case CC_DT_U8:
        return NARROW(a, "v_and_b32 %0, %1, %2", mi_imm(255), x);
    case CC_DT_U16:
        return NARROW(a, "v_and_b32 %0, %1, %2", mi_imm(65535), x);
    default:
        return x;
    }
}

/* To the nearest, ties to even; a NaN stays one. */
static struct mi_opnd f32_to_bf16(struct alu *a, struct mi_opnd x)
{
    x = rdna3_to_vector(a->r, x, 1);
    struct mi_opnd odd =
        NARROW(a, "v_bfe_u32 %0, %1, %2, %3", x, mi_imm(16), mi_imm(1));
    struct mi_opnd y = NARROW(a, "v_add3_u32 %0, %1, %2, %3", x, odd, mi_imm(0x7fff));
    struct mi_opnd nan = MASK(a, "v_cmp_u_f32 %0, %1, %2", x, x);
    y = NARROW(a, "v_lshrrev_b32 %0, %1, %2", mi_imm(16), y);
    return NARROW(a, "v_cndmask_b32 %0, %1, %2, %3", y,
                  rdna3_to_vector(a->r, mi_imm(0x7fc0), 1), nan);
}

static struct mi_opnd float_to_int(struct alu *a, struct mi_opnd x)
{
    bool u = cc_is_unsigned(a->dtype);
    if (cc_dtype_bytes(a->dtype) == 8)
        return f64_to_int64(a, to_f64(a, x));
    if (a->from == CC_DT_F64)
        return cut(a, NARROW(a, u ? "v_cvt_u32_f64 %0, %1" : "v_cvt_i32_f64 %0, %1",
                             pair(a, x)));
    return cut(a, NARROW(a, u ? "v_cvt_u32_f32 %0, %1" : "v_cvt_i32_f32 %0, %1", x));
}

static struct mi_opnd to_f32(struct alu *a, struct mi_opnd x)
{
    switch (a->from) {
    case CC_DT_F32:
        return x;
    case CC_DT_F16:
        return NARROW(a, "v_cvt_f32_f16 %0, %1", x);
    case CC_DT_BF16:
        return NARROW(a, "v_lshlrev_b32 %0, %1, %2", mi_imm(16), x);
    case CC_DT_F64:
    case CC_DT_I64:
    case CC_DT_U64:
        return NARROW(a, "v_cvt_f32_f64 %0, %1", to_f64(a, x));
    default:
        return NARROW(a,
                      cc_is_unsigned(a->from) ? "v_cvt_f32_u32 %0, %1"
                                              : "v_cvt_f32_i32 %0, %1",
                      x);
    }
}

static struct mi_opnd to_bool(struct alu *a, struct mi_opnd x)
{
    if (a->from == CC_DT_F64)
        return MASK(a, "v_cmp_neq_f64 %0, %1, %2", mi_imm(0), pair(a, x));
    if (cc_is_float(a->from))
        return MASK(a, "v_cmp_neq_f32 %0, %1, %2", mi_imm(0), to_f32(a, x));
    if (cc_dtype_bytes(a->from) == 8)
        return MASK(a, "v_cmp_ne_u64 %0, %1, %2", mi_imm(0), pair(a, x));
    return MASK(a, "v_cmp_ne_u32 %0, %1, %2", mi_imm(0), x);
}

static struct mi_opnd int_to_int(struct alu *a, struct mi_opnd x)
{
    unsigned to = cc_dtype_bytes(a->dtype), from = cc_dtype_bytes(a->from);
    if (to < 8)
        return cut(a, mi_part(x, 0));
    if (from == 8)
        return x;
    x = rdna3_to_vector(a->r, x, 1);
    return zip(a, x,
               cc_is_unsigned(a->from)
                   ? mi_imm(0)
                   : NARROW(a, "v_ashrrev_i32 %0, %1, %2", mi_imm(31), x));
}

void rdna3_cast(struct alu *a)
{
    struct mi_opnd x = a->s[0];
    if (a->from == CC_DT_BOOL) {
        x = rdna3_from_mask(a->r, x);
        a->from = CC_DT_U32;
    }
    if (a->dtype == CC_DT_BOOL)
        x = to_bool(a, x);
    else if (!cc_is_float(a->from) && !cc_is_float(a->dtype))
        x = int_to_int(a, x);
    else if (!cc_is_float(a->dtype)) {
        if (a->from == CC_DT_F16 || a->from == CC_DT_BF16) {
            x = to_f32(a, x);
            a->from = CC_DT_F32;
        }
        x = float_to_int(a, x);
    } else if (a->dtype == CC_DT_F64) {
        if (a->from == CC_DT_F16 || a->from == CC_DT_BF16) {
            x = to_f32(a, x);
            a->from = CC_DT_F32;
        }
        x = to_f64(a, x);
    } else if (a->dtype != a->from) {
        x = to_f32(a, x);
        if (a->dtype == CC_DT_F16)
            x = NARROW(a, "v_cvt_f16_f32 %0, %1", x);
        else if (a->dtype == CC_DT_BF16)
            x = f32_to_bf16(a, x);
    }
    result(a, x);
}

/* The upper half of an f16's register is undefined, that of an integer is not. */
void rdna3_bitcast(struct alu *a)
{
    struct mi_opnd x = a->s[0];
    if (cc_dtype_bytes(a->dtype) < 4)
        x = cut(a, x);
    result(a, x);
}
