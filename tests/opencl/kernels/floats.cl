/* floats.cl: IEEE operations in f16, f32 and f64, which must be equal bit by bit, and
 * polynomials made of them.
 * SPDX-License-Identifier: MIT
 */
#include "port.h"

KERNEL f32_arith(ARGS)
{
    MINE_IN;
    MINE_OUT;
    float a = as_float(x[0]), b = as_float(x[1]), c = as_float(x[2]);
    float d = tame(x[3]), e = tame(x[4]);
    y[0] = f32_bits(a + b), y[1] = f32_bits(a - b), y[2] = f32_bits(a * b);
    y[3] = f32_bits(__builtin_fmaf(a, b, c)), y[4] = f32_bits(__builtin_fmaf(d, e, -d));
    y[5] = f32_bits(d * e + d), y[6] = f32_bits(a * e);
    y[7] = f32_bits(d / e), y[8] = f32_bits(a / b);
    y[9] = f32_bits(__builtin_sqrtf(__builtin_fabsf(a)));
    y[10] = f32_bits(1.0f / c);
}

KERNEL f32_compare(ARGS)
{
    MINE_IN;
    MINE_OUT;
    float a = as_float(x[0]), b = as_float(x[1]);
    y[0] = (uint)(a < b) | (uint)(a <= b) << 1 | (uint)(a == b) << 2 | (uint)(a != b) << 3 |
           (uint)(a > b) << 4 | (uint)(a >= b) << 5 | (uint)(a != a) << 6 | (uint)!(a < b) << 7;
    y[1] = f32_bits(__builtin_fabsf(a)), y[2] = as_uint(__builtin_copysignf(b, a));
    y[3] = f32_bits(a < b ? a : b), y[4] = f32_bits(a > 0.0f ? a : -a);
    float c = tame(x[2]), d = tame(x[3]);
    y[5] = f32_bits(__builtin_fminf(c, d)), y[6] = f32_bits(__builtin_fmaxf(c, d));
    y[7] = f32_bits(__builtin_fminf(__builtin_fmaxf(c, 0.0f), 1.0f));
}

KERNEL f32_round(ARGS)
{
    MINE_IN;
    MINE_OUT;
    for (uint i = 0; i < 3; i++) {
        float a = i ? tame(x[i]) * (float)(1 << (x[3] & 24)) : as_float(x[0]);
        y[5 * i] = f32_bits(__builtin_floorf(a)), y[5 * i + 1] = f32_bits(__builtin_ceilf(a));
        y[5 * i + 2] = f32_bits(__builtin_truncf(a));
        y[5 * i + 3] = f32_bits(__builtin_rintf(a));
        y[5 * i + 4] = f32_bits(a - __builtin_floorf(a));
    }
}

/* Saturated conversions, as convert_T_sat: NaN is zero. */
static inline int sat_i32(float f)
{
    return f != f ? 0 : f >= 0x1p31f ? 0x7fffffff : f < -0x1p31f ? -0x7fffffff - 1 : (int)f;
}
static inline uint sat_u32(float f)
{
    return f != f || f <= 0 ? 0 : f >= 0x1p32f ? ~0u : (uint)f;
}
static inline int sat_to(float f, int low, int high)
{
    float r = __builtin_rintf(f); /* _sat_rte */
    return f != f ? 0 : r <= (float)low ? low : r >= (float)high ? high : (int)r;
}

KERNEL f32_convert(ARGS)
{
    MINE_IN;
    MINE_OUT;
    float a = as_float(x[0]), b = tame(x[1]) * 100.0f;
    y[0] = (uint)sat_i32(a), y[1] = sat_u32(a);
    y[2] = (uint)sat_to(b, -128, 127), y[3] = (uint)sat_to(a, 0, 255);
    y[4] = (uint)sat_to(a, -32768, 32767), y[5] = (uint)sat_to(b * 500.0f, 0, 65535);
    y[6] = f32_bits((float)(int)x[2]), y[7] = f32_bits((float)x[3]);
    y[8] = f32_bits((float)(long)get64(x + 4)), y[9] = f32_bits((float)get64(x + 4));
    y[10] = f32_bits((float)(short)x[6]) ^ f32_bits((float)(uchar)x[7]);
    float t = b * 0x1p30f;
    put64(y + 11, (ulong)(long)t);
    put64(y + 13, (ulong)__builtin_fabsf(t));
}

KERNEL f64_arith(ARGS)
{
    MINE_IN;
    MINE_OUT;
    double a = as_double(get64(x)), b = as_double(get64(x + 2));
    double c = tame64(get64(x + 4)), d = tame64(get64(x + 6));
    put64(y, f64_bits(a + b)), put64(y + 2, f64_bits(a * b));
    put64(y + 4, f64_bits(__builtin_fma(c, d, -a))), put64(y + 6, f64_bits(c / d));
    put64(y + 8, f64_bits(__builtin_sqrt(__builtin_fabs(c)))), put64(y + 10, f64_bits(a / b));
    put64(y + 12, f64_bits(__builtin_floor(c * 1000.0) - __builtin_rint(d * 77.0)));
    y[14] = (uint)(a < b) | (uint)(a >= b) << 1 | (uint)(a == a) << 2 | (uint)(c > d) << 3;
}

KERNEL f64_convert(ARGS)
{
    MINE_IN;
    MINE_OUT;
    double a = tame64(get64(x)) * 0x1p20, b = as_double(get64(x + 2));
    y[0] = f32_bits((float)b), y[1] = (uint)(int)a, y[2] = (uint)__builtin_fabs(a);
    put64(y + 3, f64_bits((double)(int)x[4])), put64(y + 5, f64_bits((double)x[5]));
    put64(y + 7, f64_bits((double)(long)get64(x + 6)));
    put64(y + 9, f64_bits((double)get64(x + 8)));
    put64(y + 11, (ulong)(long)(a * 0x1p30));
    put64(y + 13, f64_bits((double)as_float(x[10])));
}

KERNEL f16_arith(ARGS)
{
    MINE_IN;
    MINE_OUT;
    half a = as_half((ushort)x[0]), b = as_half((ushort)x[1]), c = as_half((ushort)x[2]);
    y[0] = f16_bits(a + b), y[1] = f16_bits(a - c), y[2] = f16_bits(a * b);
    y[3] = f32_bits((float)a), y[4] = f16_bits((half)as_float(x[3]));
    y[5] = f16_bits((half)tame(x[4])), y[6] = (uint)(a < b) | (uint)(a == c) << 1;
    y[7] = f16_bits(-a), y[8] = f16_bits((half)(short)x[5]), y[9] = f16_bits((half)(ushort)x[5]);
    half t = (half)tame(x[6]) * (half)64.0f;
    y[10] = (uint)(int)t, y[11] = (uint)(ushort)(t < (half)0.0f ? -t : t);
    half s = 0;
    for (uint i = 0; i < 8; i++)
        s += (half)tame(x[i]) * (half)0.25f;
    y[12] = f16_bits(s);
}

KERNEL f16_vectors(ARGS)
{
    MINE_IN;
    MINE_OUT;
    half2 acc = (half2)(0.0f, 1.0f);
    half4 q = (half4)(1.0f, 2.0f, 3.0f, 4.0f);
    for (uint i = 0; i < 8; i++) {
        half2 v = (half2)((half)tame(x[2 * i]), (half)tame(x[2 * i + 1]));
        acc = acc * v + v.yx;
        q = q * (half)0.5f + v.xyxy;
    }
    y[0] = f16_bits(acc.x), y[1] = f16_bits(acc.y);
    y[2] = f16_bits(q.x), y[3] = f16_bits(q.y), y[4] = f16_bits(q.z), y[5] = f16_bits(q.w);
    short2 m = acc > acc.yx;
    y[6] = as_uint(m);
}

/* exp, log and sine as polynomials: library math that depends on no library. */
static inline float my_exp(float v)
{
    float n = __builtin_rintf(v * 1.44269504f);
    float r = __builtin_fmaf(n, -0.693145752f, v), s = __builtin_fmaf(n, -1.42860677e-6f, r);
    float q = 1.9875691e-4f;
    q = __builtin_fmaf(q, s, 1.3981999e-3f), q = __builtin_fmaf(q, s, 8.3334519e-3f);
    q = __builtin_fmaf(q, s, 4.1665796e-2f), q = __builtin_fmaf(q, s, 1.6666665e-1f);
    q = __builtin_fmaf(q, s, 0.5f);
    return __builtin_fmaf(q, s * s, s + 1.0f) * as_float((uint)((int)n + 127) << 23);
}
static inline float my_log(float v)
{
    uint u = as_uint(v);
    int e = (int)(u >> 23) - 127;
    float m = as_float((u & 0x7fffffu) | 0x3f800000u);
    float t = (m - 1.0f) / (m + 1.0f), t2 = t * t, q = 1.0f / 9.0f;
    q = __builtin_fmaf(q, t2, 1.0f / 7.0f), q = __builtin_fmaf(q, t2, 0.2f);
    q = __builtin_fmaf(q, t2, 1.0f / 3.0f), q = __builtin_fmaf(q, t2, 1.0f);
    return __builtin_fmaf((float)e, 0.69314718f, 2.0f * t * q);
}

KERNEL f32_polynomials(ARGS)
{
    MINE_IN;
    MINE_OUT;
    for (uint i = 0; i < 6; i++) {
        float v = tame(x[i]);
        y[2 * i] = f32_bits(my_exp(v * 8.0f));
        y[2 * i + 1] = f32_bits(my_log(__builtin_fabsf(v) * 37.0f));
    }
}

KERNEL f32_mandelbrot(ARGS)
{
    MINE_IN;
    MINE_OUT;
    float cr = tame(x[0]) - 0.5f, ci = tame(x[1]) * 0.5f, zr = 0, zi = 0;
    uint n = 0;
    for (; n < 100 && zr * zr + zi * zi < 4.0f; n++) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
    }
    y[0] = n, y[1] = f32_bits(zr), y[2] = f32_bits(zi);
}

KERNEL f32_denormals(ARGS)
{
    MINE_IN;
    MINE_OUT;
    float a = as_float(x[0] & 0x80ffffffu), b = as_float(x[1] & 0x807fffffu);
    y[0] = f32_bits(a + b), y[1] = f32_bits(a * 0.5f), y[2] = f32_bits(a * tame(x[2]));
    y[3] = f32_bits(b - a), y[4] = f32_bits(__builtin_fmaf(a, 0.25f, b));
    y[5] = (uint)(a < b) | (uint)(b == 0.0f) << 1;
    y[6] = f32_bits(a / 3.0f), y[7] = f32_bits(as_float(x[3] & 0x1fffffffu) * 0x1p-60f);
}

KERNEL f32_newton(ARGS)
{
    MINE_IN;
    MINE_OUT;
    double acc = 0;
    for (uint i = 0; i < 4; i++) {
        float v = __builtin_fabsf(tame(x[i])) + 0.125f, r = 1.0f;
        for (uint k = 0; k < 12; k++) {
            float next = 0.5f * (r + v / r);
            if (next == r)
                break;
            r = next;
        }
        y[i] = f32_bits(r);
        acc += (double)r * (double)v;
    }
    put64(y + 4, f64_bits(acc));
}
