/* scalar.c: what each elementwise operation computes, on one value.
 *
 * The only place that says so: constant folding, the interpreters and the tests of the
 * renderers all come here. Floats are held as double; every result is rounded to its
 * dtype once (double has more than twice the bits of f32, so that +, -, *, / and sqrt
 * of narrower floats come out as if computed in their own format).
 * SPDX-License-Identifier: MIT
 */
#include "graph.h"

#include <math.h>
#include <string.h>

/* ---- formats ---- */

/* To the nearest multiple of 2^(exponent - bits), not finer than 2^least; ties to even.
 */
static double round_bits(double x, int bits, int least, double max)
{
    int exponent;
    if (x == 0 || isnan(x) || isinf(x))
        return x;
    frexp(x, &exponent);
    int step = exponent - bits > least ? exponent - bits : least;
    double r = ldexp(nearbyint(ldexp(x, -step)), step);
    return fabs(r) > max ? copysign(INFINITY, x) : copysign(r, x);
}

#define BF16_MAX 0x1.fep127

static double round_float(enum cc_dtype dtype, double x)
{
    switch (dtype) {
    case CC_DT_F16:
        return round_bits(x, 11, -24, 65504);
    case CC_DT_BF16:
        return round_bits(x, 8, -133, BF16_MAX);
    case CC_DT_F32:
        return (double)(float)x;
    default:
        return x;
    }
}

union cc_value cc_fit(enum cc_dtype dtype, union cc_value v)
{
    switch (dtype) {
    case CC_DT_BOOL:
        v.i = v.i != 0;
        break;
    case CC_DT_I8:
        v.i = (int8_t)v.i;
        break;
    case CC_DT_U8:
        v.u = (uint8_t)v.u;
        break;
    case CC_DT_I16:
        v.i = (int16_t)v.i;
        break;
    case CC_DT_U16:
        v.u = (uint16_t)v.u;
        break;
    case CC_DT_I32:
        v.i = (int32_t)v.i;
        break;
    case CC_DT_U32:
        v.u = (uint32_t)v.u;
        break;
    case CC_DT_F16:
    case CC_DT_BF16:
    case CC_DT_F32:
        v.f = round_float(dtype, v.f);
        break;
    default:
        break;
    }
    return v;
}

static uint16_t f16_bits(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    if (isnan(x))
        return sign | 0x7e00;
    x = fabs(round_float(CC_DT_F16, x));
    if (isinf(x))
        return sign | 0x7c00;
    if (x < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)ldexp(x, 24));
    double m = frexp(x, &exponent);
    return (uint16_t)(sign | (unsigned)(exponent + 14) << 10 |
                      ((unsigned)ldexp(m, 11) & 0x3ff));
}

static double f16_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double m = bits & 0x3ff, x;
    if (exponent == 31)
        x = m != 0 ? NAN : INFINITY;
    else
        x = exponent ? ldexp(m + 1024, exponent - 25) : ldexp(m, -24);
    return bits & 0x8000 ? -x : x;
}

static uint64_t float_bits(enum cc_dtype dtype, double x)
{
    float f = (float)round_float(dtype, x);
    uint32_t u;
    uint64_t u64;
    switch (dtype) {
    case CC_DT_F16:
        return f16_bits(x);
    case CC_DT_F64:
        memcpy(&u64, &x, 8);
        return u64;
    default:
        memcpy(&u, &f, 4);
        return dtype == CC_DT_BF16 ? u >> 16 : u;
    }
}

static double bits_float(enum cc_dtype dtype, uint64_t bits)
{
    uint32_t u = (uint32_t)(dtype == CC_DT_BF16 ? bits << 16 : bits);
    float f;
    double x;
    switch (dtype) {
    case CC_DT_F16:
        return f16_value((uint16_t)bits);
    case CC_DT_F64:
        memcpy(&x, &bits, 8);
        return x;
    default:
        memcpy(&f, &u, 4);
        return (double)f;
    }
}

static uint64_t to_bits(enum cc_dtype dtype, union cc_value v)
{
    return cc_is_float(dtype) ? float_bits(dtype, v.f) : v.u;
}

static union cc_value from_bits(enum cc_dtype dtype, uint64_t bits)
{
    union cc_value v = {.u = bits};
    if (!cc_is_float(dtype))
        return cc_fit(dtype, v);
    v.f = bits_float(dtype, bits);
    return v;
}

union cc_value cc_load_scalar(enum cc_dtype dtype, const void *p)
{
    uint64_t bits = 0;
    memcpy(&bits, p, cc_dtype_bytes(dtype)); /* hosts are little-endian */
    return from_bits(dtype, bits);
}

void cc_store_scalar(enum cc_dtype dtype, void *p, union cc_value v)
{
    uint64_t bits = to_bits(dtype, v);
    memcpy(p, &bits, cc_dtype_bytes(dtype));
}

/* ---- conversion ---- */

/* Truncate; what does not fit goes to the nearest end, a NaN to 0, as v_cvt_i32_f32. */
static int64_t float_to_int(enum cc_dtype dtype, double x)
{
    unsigned bits = 8 * cc_dtype_bytes(dtype);
    if (isnan(x))
        return 0;
    if (bits < 32) { /* through 32 bits, then cut */
        bits = 32;
    }
    x = trunc(x);
    if (cc_is_unsigned(dtype)) {
        if (x <= 0)
            return 0;
        if (x >= ldexp(1, (int)bits))
            return bits == 64 ? -1 : (int64_t)((1ull << bits) - 1);
        return (int64_t)(uint64_t)x;
    }
    if (x >= ldexp(1, (int)bits - 1))
        return (int64_t)((1ull << (bits - 1)) - 1);
    if (x < -ldexp(1, (int)bits - 1))
        return -(int64_t)((1ull << (bits - 1)) - 1) - 1;
    return (int64_t)x;
}

static union cc_value convert(enum cc_dtype to, enum cc_dtype from, union cc_value v)
{
    union cc_value r = v;
    if (cc_is_float(from) && to == CC_DT_BOOL)
        r.i = v.f != 0;
    else if (cc_is_float(from) && !cc_is_float(to))
        r.i = float_to_int(to, v.f);
    else if (!cc_is_float(from) && to == CC_DT_F32) /* one rounding from 64 bits */
        r.f = from == CC_DT_U64 ? (double)(float)v.u : (double)(float)v.i;
    else if (!cc_is_float(from) && cc_is_float(to))
        r.f = from == CC_DT_U64 ? (double)v.u : (double)v.i;
    return cc_fit(to, r);
}

/* ---- operations ---- */

static double float_op(enum cc_op op, enum cc_dtype dtype, const union cc_value *s)
{
    double a = s[0].f;
    switch (op) {
    case CC_NEG:
        return -a;
    case CC_EXP2:
        return exp2(a);
    case CC_LOG2:
        return log2(a);
    case CC_SIN:
        return sin(a);
    case CC_SQRT:
        return sqrt(a);
    case CC_RECIP:
        return 1 / a;
    case CC_TRUNC:
        return trunc(a);
    case CC_ADD:
        return a + s[1].f;
    case CC_SUB:
        return a - s[1].f;
    case CC_MUL:
        return a * s[1].f;
    case CC_FDIV:
        return a / s[1].f;
    case CC_MAX:
        return fmax(a, s[1].f);
    case CC_POW:
        return pow(a, s[1].f);
    case CC_MULACC:
        return dtype == CC_DT_F32 ? (double)fmaf((float)a, (float)s[1].f, (float)s[2].f)
                                  : fma(a, s[1].f, s[2].f);
    default:
        return a;
    }
}

/* Threefry-2x32-20 (Salmon et al., 2011): the counter's halves mixed with the key's. */
static uint64_t threefry(uint64_t counter, uint64_t key)
{
    static const uint8_t rotation[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    uint32_t k[3] = {(uint32_t)key, (uint32_t)(key >> 32), 0};
    uint32_t x = (uint32_t)counter, y = (uint32_t)(counter >> 32);
    k[2] = k[0] ^ k[1] ^ 0x1bd11bdau;
    x += k[0];
    y += k[1];
    for (uint32_t i = 0; i < 20; i++) {
        x += y;
        y = (y << rotation[i % 8] | y >> (32 - rotation[i % 8])) ^ x;
        if (i % 4 == 3) {
            x += k[(i / 4 + 1) % 3];
            y += k[(i / 4 + 2) % 3] + i / 4 + 1;
        }
    }
    return (uint64_t)y << 32 | x;
}

static uint64_t divide(enum cc_dtype dtype, uint64_t a, uint64_t b)
{
    if (b == 0)
        return 0;
    if (cc_is_unsigned(dtype))
        return a / b;
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t int_op(enum cc_op op, enum cc_dtype dtype, const union cc_value *s)
{
    uint64_t a = s[0].u, b = s[1].u;
    bool less = cc_is_unsigned(dtype) ? a < b : s[0].i < s[1].i;
    unsigned shift = (unsigned)b & (8 * cc_dtype_bytes(dtype) - 1);
    switch (op) {
    case CC_NEG:
        return 0 - a;
    case CC_ADD:
        return a + b;
    case CC_SUB:
        return a - b;
    case CC_MUL:
        return a * b;
    case CC_IDIV:
        return divide(dtype, a, b);
    case CC_MOD:
        return a - divide(dtype, a, b) * b;
    case CC_MULHI:
        return a * b >> 32;
    case CC_MAX:
        return less ? b : a;
    case CC_SHL:
        return a << shift;
    case CC_SHR:
        return cc_is_unsigned(dtype) ? a >> shift : (uint64_t)(s[0].i >> shift);
    case CC_AND:
        return a & b;
    case CC_OR:
        return a | b;
    case CC_XOR:
        return a ^ b;
    case CC_THREEFRY:
        return threefry(a, b);
    case CC_MULACC:
        return a * b + s[2].u;
    default:
        return a;
    }
}

static bool compare(enum cc_op op, enum cc_dtype dtype, const union cc_value *s)
{
    bool f = cc_is_float(dtype);
    switch (op) {
    case CC_CMPLT:
        return f                       ? s[0].f < s[1].f
               : cc_is_unsigned(dtype) ? s[0].u < s[1].u
                                       : s[0].i < s[1].i;
    case CC_CMPEQ:
        return f ? s[0].f == s[1].f : s[0].i == s[1].i;
    default:
        return f ? s[0].f != s[1].f : s[0].i != s[1].i;
    }
}

union cc_value cc_scalar(enum cc_op op, enum cc_dtype dtype, enum cc_dtype src_dtype,
                         const union cc_value *src)
{
    union cc_value r = src[0];
    if (op == CC_CAST)
        return convert(dtype, src_dtype, r);
    if (op == CC_BITCAST)
        return from_bits(dtype, to_bits(src_dtype, r));
    if (op == CC_WHERE)
        return src[0].i ? src[1] : src[2];
    if (cc_ops[op].class_ == CC_CLASS_CMP)
        r.i = compare(op, src_dtype, src);
    else if (cc_is_float(dtype))
        r.f = float_op(op, dtype, src);
    else
        r.u = int_op(op, dtype, src);
    return cc_fit(dtype, r);
}
