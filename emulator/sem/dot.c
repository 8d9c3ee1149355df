/* dot.c: dot products of packed operands (manual 16.7, 16.10 and 16.12).
 *
 * Every function is one lane: values in, value out; op_sel and the negation of float
 * sources have been applied. The float forms take their arithmetic from dot2.h and
 * know nothing of rounding; MODE's float fields have no effect on them. Float clamp
 * and omod do not exist for them (manual 7.2.3.1).
 * SPDX-License-Identifier: MIT
 */
#include "dot2.h"

LANE_OP(v_dot2_f32_f16, F32, PK16 s0, PK16 s1, F32 s2, const struct lane_mode *m)
{
    return f32_of_bits(dot2_step(s0, s1, bits_of_f32(s2), DOT2_F32, false, m));
}

LANE_OP(v_dot2_f32_bf16, F32, PK16 s0, PK16 s1, F32 s2, const struct lane_mode *m)
{
    return f32_of_bits(dot2_step(s0, s1, bits_of_f32(s2), DOT2_F32, true, m));
}

LANE_OP(v_dot2acc_f32_f16, F32, PK16 s0, PK16 s1, F32 acc, const struct lane_mode *m)
{
    return f32_of_bits(dot2_step(s0, s1, bits_of_f32(acc), DOT2_F32, false, m));
}

LANE_OP(v_dot2acc_f32_bf16, F32, PK16 s0, PK16 s1, F32 acc, const struct lane_mode *m)
{
    return f32_of_bits(dot2_step(s0, s1, bits_of_f32(acc), DOT2_F32, true, m));
}

LANE_OP(v_dot2_f16_f16, F16, PK16 s0, PK16 s1, F16 s2, const struct lane_mode *m)
{
    U32 c = dot2_widen_f16(s2);
    return (F16)dot2_narrow_f16(dot2_step(s0, s1, c, DOT2_F16, false, m));
}

/* Manual 7.2.4 says round to nearest even; silicon truncates (measured on gfx1151 and
 * gfx1200: Triton issue 11217). */
LANE_OP(v_dot2_bf16_bf16, F16, PK16 s0, PK16 s1, F16 s2, const struct lane_mode *m)
{
    return (F16)(dot2_step(s0, s1, (U32)s2 << 16, DOT2_BF16, true, m) >> 16);
}

/* Sums of element products. Elements are sign-extended, then cut to `keep`. */
static inline I32 dot4(U32 a, U32 b, I32 keep_a, I32 keep_b)
{
    I32 sum = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        I32 x = (I32)(a << (24 - i)) >> 24, y = (I32)(b << (24 - i)) >> 24;
        sum += (x & keep_a) * (y & keep_b);
    }
    return sum;
}

static inline I32 dot8(U32 a, U32 b, I32 keep_a, I32 keep_b)
{
    I32 sum = 0;
    for (unsigned i = 0; i < 32; i += 4) {
        I32 x = (I32)(a << (28 - i)) >> 28, y = (I32)(b << (28 - i)) >> 28;
        sum += (x & keep_a) * (y & keep_b);
    }
    return sum;
}

/* NEG bit i makes source i signed. */
static inline I32 keep_mask(const struct lane_mode *m, unsigned source, I32 element)
{
    return m->neg >> source & 1 ? -1 : element;
}

static inline I32 accumulate_i32(I32 sum, I32 c, const struct lane_mode *m)
{
    U32 r = (U32)sum + (U32)c, clamp = m->clamp ? 0x80000000u : 0;
    U32 overflow = ((U32)sum ^ r) & ((U32)c ^ r) & clamp;
    I32 limit = c < 0 ? INT32_MIN : INT32_MAX;
    return overflow ? limit : (I32)r;
}

static inline U32 accumulate_u32(U32 sum, U32 c, const struct lane_mode *m)
{
    U32 r = sum + c, clamp = m->clamp ? UINT32_MAX : 0;
    return r | (r < c ? clamp : 0);
}

LANE_OP(v_dot4_i32_iu8, I32, U32 s0, U32 s1, I32 s2, const struct lane_mode *m)
{
    I32 sum = dot4(s0, s1, keep_mask(m, 0, 0xff), keep_mask(m, 1, 0xff));
    return accumulate_i32(sum, s2, m);
}

LANE_OP(v_dot8_i32_iu4, I32, U32 s0, U32 s1, I32 s2, const struct lane_mode *m)
{
    I32 sum = dot8(s0, s1, keep_mask(m, 0, 0xf), keep_mask(m, 1, 0xf));
    return accumulate_i32(sum, s2, m);
}

LANE_OP(v_dot4_u32_u8, U32, U32 s0, U32 s1, U32 s2, const struct lane_mode *m)
{
    return accumulate_u32((U32)dot4(s0, s1, 0xff, 0xff), s2, m);
}

LANE_OP(v_dot8_u32_u4, U32, U32 s0, U32 s1, U32 s2, const struct lane_mode *m)
{
    return accumulate_u32((U32)dot8(s0, s1, 0xf, 0xf), s2, m);
}

#include "dot.inc"
