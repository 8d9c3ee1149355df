/* formats.c: conversions between memory formats and shader components.
 *
 * Pure functions on values; knows nothing of descriptors or addresses. Source: manual
 * 9.3 and 10.7; where it is silent: normalised stores round to nearest even, integer
 * stores saturate, D16 integers keep the low half.
 * SPDX-License-Identifier: MIT
 */
#include "formats.h"

#include <math.h>
#include <string.h>

static const struct format formats[FORMAT_COUNT] = {
#define F(number, type, bytes, n, x, y, z, w)                                          \
    [number] = {FORMAT_##type, n, bytes, {x, y, z, w}},
#include "formats.def"
#undef F
};

const struct format *format_find(unsigned number)
{
    return &formats[number < FORMAT_COUNT ? number : 0];
}

/* ---- bits -------------------------------------------------------------------------
 */

static uint32_t f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float f32_value(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t mask_of(unsigned bits)
{
    return bits == 32 ? UINT32_MAX : (1u << bits) - 1;
}

static uint32_t get_bits(const uint8_t *element, unsigned at, unsigned bits)
{
    uint64_t window;
    memcpy(&window, element + at / 8, sizeof window);
    return (uint32_t)(window >> at % 8) & mask_of(bits);
}

static void put_bits(uint8_t *element, unsigned at, unsigned bits, uint32_t v)
{
    uint64_t window;
    memcpy(&window, element + at / 8, sizeof window);
    window |= (uint64_t)(v & mask_of(bits)) << at % 8;
    memcpy(element + at / 8, &window, sizeof window);
}

static int32_t sign_extend(uint32_t v, unsigned bits)
{
    return (int32_t)(v << (32 - bits)) >> (32 - bits);
}

/* ---- small floats -------------------------------------------------------------------
 */

/* Five exponent bits, bias 15; 10 mantissa bits and a sign (f16), or 6 or 5 without. */
static uint32_t widen_float(uint32_t v, unsigned mantissa, bool has_sign)
{
    uint32_t sign = has_sign ? v >> (mantissa + 5) << 31 : 0;
    uint32_t exponent = v >> mantissa & 31u, frac = v & mask_of(mantissa);
    if (exponent == 31)
        return sign | 0x7f800000u | frac << (23 - mantissa);
    if (exponent)
        return sign | (exponent + 112) << 23 | frac << (23 - mantissa);
    return sign | f32_bits((float)frac * ldexpf(1.0f, -14 - (int)mantissa));
}

/* v / 2^shift, to nearest even or toward zero; shift 1..31 */
static uint32_t shift_round(uint32_t v, unsigned shift, bool truncate)
{
    uint32_t q = v >> shift, rest = v & mask_of(shift), half = 1u << (shift - 1);
    return q + (!truncate && (rest > half || (rest == half && (q & 1))));
}

uint32_t format_narrow_float(uint32_t f32, unsigned mantissa, bool has_sign,
                             bool truncate)
{
    uint32_t a = f32 & 0x7fffffffu, negative = f32 >> 31;
    uint32_t inf = 31u << mantissa, sign = has_sign ? negative << (mantissa + 5) : 0;
    if (a > 0x7f800000u) { /* the payload that fits; still a NaN */
        uint32_t payload = (a & 0x7fffffu) >> (23 - mantissa);
        return sign | inf | (payload ? payload : 1u << (mantissa - 1));
    }
    if (negative && !has_sign)
        return 0;
    if (a == 0x7f800000u)
        return sign | inf;
    int exponent = (int)(a >> 23) - 112;
    uint32_t frac = (a & 0x7fffffu) | 0x800000u;
    if (exponent < -(int)mantissa)
        return sign; /* below half of the smallest denormal */
    uint32_t r = exponent > 0
                     ? shift_round(frac, 23 - mantissa, truncate) +
                           ((uint32_t)(exponent - 1) << mantissa)
                     : shift_round(frac, 24 - mantissa - (unsigned)exponent, truncate);
    if (r >= inf)
        r = truncate ? inf - 1 : inf;
    return sign | r;
}

/* ---- unpacking ----------------------------------------------------------------------
 */

static double from_srgb(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* The value of a component that is neither integer nor float. Doubles hold it closely
 * enough that one more rounding, to f32 or f16, is the rounding of the exact value. */
static double normal_value(const struct format *f, unsigned i, uint32_t raw)
{
    unsigned bits = f->bits[i];
    double v;
    switch (f->type) {
    case FORMAT_UNORM:
        return (double)raw / mask_of(bits);
    case FORMAT_SRGB:
        v = (double)raw / mask_of(bits);
        return i < 3 ? from_srgb(v) : v;
    case FORMAT_SNORM:
        v = (double)sign_extend(raw, bits) / mask_of(bits - 1);
        return v < -1.0 ? -1.0 : v;
    case FORMAT_SSCALED:
        return sign_extend(raw, bits);
    default:
        return raw;
    }
}

static uint32_t component(const struct format *f, unsigned i, uint32_t raw)
{
    unsigned bits = f->bits[i];
    switch (f->type) {
    case FORMAT_UINT:
        return raw;
    case FORMAT_SINT:
        return (uint32_t)sign_extend(raw, bits);
    case FORMAT_FLOAT:
        return bits == 32 || bits == 8 ? raw /* 8: the stencil of X24_8_32 */
               : bits == 16            ? widen_float(raw, 10, true)
                                       : widen_float(raw, bits - 5, false);
    default:
        return f32_bits((float)normal_value(f, i, raw));
    }
}

static uint16_t component16(const struct format *f, unsigned i, uint32_t raw)
{
    if (f->type == FORMAT_FLOAT && f->bits[i] == 16)
        return (uint16_t)raw;
    uint32_t v = component(f, i, raw);
    if (format_is_int(f))
        return (uint16_t)v;
    bool truncate = f->type == FORMAT_FLOAT && f->bits[i] == 32;
    return (uint16_t)format_narrow_float(v, 10, true, truncate);
}

/* Components as raw bits in rgba. */
static void split(const struct format *f, const uint8_t *p, uint32_t rgba[4])
{
    uint8_t element[24] = {0};
    unsigned at = 0;
    memcpy(element, p, f->bytes);
    memset(rgba, 0, 4 * sizeof *rgba);
    for (unsigned i = 0; i < f->n; at += f->bits[i], i++)
        rgba[i] = get_bits(element, at, f->bits[i]);
}

/* 9-bit mantissas without a hidden bit, one exponent of bias 15. */
static void unpack_shared(const uint8_t *p, uint32_t rgba[4])
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    float scale = ldexpf(1.0f, (int)(v >> 27) - 24);
    for (unsigned i = 0; i < 3; i++)
        rgba[i] = f32_bits((float)(v >> (9 * i) & 511u) * scale);
    rgba[3] = 0;
}

void format_unpack(const struct format *f, const uint8_t *p, uint32_t rgba[4])
{
    if (f->type == FORMAT_SHARED_EXP) {
        unpack_shared(p, rgba);
        return;
    }
    split(f, p, rgba);
    for (unsigned i = 0; i < f->n; i++)
        rgba[i] = component(f, i, rgba[i]);
}

void format_unpack16(const struct format *f, const uint8_t *p, uint16_t rgba[4])
{
    uint32_t raw[4];
    if (f->type == FORMAT_SHARED_EXP) {
        unpack_shared(p, raw);
        for (unsigned i = 0; i < 4; i++)
            rgba[i] = (uint16_t)format_narrow_float(raw[i], 10, true, false);
        return;
    }
    split(f, p, raw);
    for (unsigned i = 0; i < 4; i++)
        rgba[i] = i < f->n ? component16(f, i, raw[i]) : 0;
}

/* ---- packing ------------------------------------------------------------------------
 */

static double to_srgb(double c)
{
    return c <= 0.0031308 ? c * 12.92 : 1.055 * pow(c, 1.0 / 2.4) - 0.055;
}

/* x times scale, clamped and rounded; NaN is 0 */
static uint32_t to_integer(double x, double lo, double hi)
{
    double v = x > lo ? (x < hi ? x : hi) : lo;
    return x != x ? 0 : (uint32_t)(int64_t)rint(v);
}

static uint32_t raw_component(const struct format *f, unsigned i, uint32_t v)
{
    unsigned bits = f->bits[i];
    double x = f32_value(v), umax = mask_of(bits), smax = mask_of(bits - 1);
    switch (f->type) {
    case FORMAT_UINT:
        return v < mask_of(bits) ? v : mask_of(bits);
    case FORMAT_SINT:
        return to_integer((int32_t)v, -smax - 1, smax);
    case FORMAT_FLOAT:
        return bits == 32 || bits == 8 ? v
               : bits == 16            ? format_narrow_float(v, 10, true, false)
                                       : format_narrow_float(v, bits - 5, false, false);
    case FORMAT_UNORM:
        return to_integer(x * umax, 0, umax);
    case FORMAT_SRGB:
        x = x > 0 ? (x < 1 ? x : 1) : 0;
        return to_integer((i < 3 ? to_srgb(x) : x) * umax, 0, umax);
    case FORMAT_SNORM:
        return to_integer(x * smax, -smax, smax);
    case FORMAT_USCALED:
        return to_integer(x, 0, umax);
    default:
        return to_integer(x, -smax - 1, smax);
    }
}

/* The largest component chooses the exponent. */
static void pack_shared(const uint32_t rgba[4], uint8_t *p)
{
    double c[3], largest = 0;
    for (unsigned i = 0; i < 3; i++) {
        double x = f32_value(rgba[i]);
        c[i] = x > 0 ? (x < 65408.0 ? x : 65408.0) : 0;
        largest = c[i] > largest ? c[i] : largest;
    }
    int e = largest > 0 ? ilogb(largest) + 1 : -15;
    e = e < -15 ? -15 : e;
    if (rint(ldexp(largest, 9 - e)) >= 512)
        e++;
    uint32_t v = (uint32_t)(e + 15) << 27;
    for (unsigned i = 0; i < 3; i++)
        v |= (uint32_t)rint(ldexp(c[i], 9 - e)) << (9 * i);
    memcpy(p, &v, sizeof v);
}

void format_pack(const struct format *f, const uint32_t rgba[4], uint8_t *p)
{
    uint8_t element[24] = {0};
    unsigned at = 0;
    if (f->type == FORMAT_SHARED_EXP) {
        pack_shared(rgba, p);
        return;
    }
    for (unsigned i = 0; i < f->n; at += f->bits[i], i++)
        put_bits(element, at, f->bits[i], raw_component(f, i, rgba[i]));
    memcpy(p, element, f->bytes);
}

uint32_t format_widen16(const struct format *f, uint16_t value)
{
    if (f->type == FORMAT_UINT)
        return value;
    if (f->type == FORMAT_SINT)
        return (uint32_t)(int16_t)value;
    return widen_float(value, 10, true);
}
