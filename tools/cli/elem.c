/* elem.c: element types of buffers and scalar arguments: parse, print, generate.
 *
 * Must not know where elements lie. Invariant: what elem_print writes, elem_parse reads
 * back to the same bits (NaN payloads apart).
 * SPDX-License-Identifier: MIT
 */
#include "elem.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const struct elem_type types[] = {
    {"i8", ELEM_SIGNED, 1},    {"u8", ELEM_UNSIGNED, 1},  {"i16", ELEM_SIGNED, 2},
    {"u16", ELEM_UNSIGNED, 2}, {"i32", ELEM_SIGNED, 4},   {"u32", ELEM_UNSIGNED, 4},
    {"i64", ELEM_SIGNED, 8},   {"u64", ELEM_UNSIGNED, 8}, {"f16", ELEM_FLOAT, 2},
    {"f32", ELEM_FLOAT, 4},    {"f64", ELEM_FLOAT, 8},
};

const struct elem_type *elem_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == len && memcmp(types[i].name, name, len) == 0)
            return &types[i];
    return NULL;
}

double elem_from_f16(uint16_t bits)
{
    unsigned exponent = bits >> 10 & 31;
    unsigned fraction = bits & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(1024 + fraction, (int)exponent - 25);
    return bits >> 15 ? -value : value;
}

uint16_t elem_to_f16(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value))
        return sign | 0x7e00;
    if (size >= 65520) /* half a unit above the largest number */
        return sign | 0x7c00;
    int exponent;
    frexp(size, &exponent);
    if (size == 0 || exponent < -13)
        exponent = -13; /* denormals share the lowest exponent */
    double units = nearbyint(ldexp(size, 11 - exponent));
    /* Carry out of the fraction runs into the exponent, as it should. */
    return sign | (uint16_t)(units + ldexp(exponent + 13, 10));
}

static rd_status parse_float(const struct elem_type *type, const char *text,
                             uint64_t *out)
{
    char *end;
    double wide = 0;
    float narrow = 0;
    uint64_t bits = 0;
    bool literal_inf = strpbrk(text, "0123456789") == NULL;

    /* strtod skips blanks; a value does not begin with one. */
    if (text[0] == '\0' || strchr(" \t\n\v\f\r", text[0]))
        return RD_E_FORMAT;
    if (type->bytes == 4)
        narrow = strtof(text, &end);
    else
        wide = strtod(text, &end);
    if (end == text || *end)
        return RD_E_FORMAT;
    if (type->bytes == 4) {
        memcpy(&bits, &narrow, 4);
        wide = narrow;
    } else if (type->bytes == 8) {
        memcpy(&bits, &wide, 8);
    } else {
        bits = elem_to_f16(wide);
        wide = elem_from_f16((uint16_t)bits);
    }
    if (isinf(wide) && !literal_inf)
        return RD_E_RANGE;
    *out = bits;
    return RD_OK;
}

rd_status elem_parse(const struct elem_type *type, const char *text, uint64_t *out)
{
    if (type->cls == ELEM_FLOAT)
        return parse_float(type, text, out);

    unsigned bits = 8 * type->bytes;
    uint64_t mask = ~0ull >> (64 - bits);
    uint64_t value;
    rd_status st;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (type->cls == ELEM_UNSIGNED || hex) {
        st = cli_parse_u64(text, &value);
        if (st == RD_OK && value > mask)
            st = RD_E_RANGE;
        if (text[0] == '-' && cli_parse_u64(text + 1, &value) == RD_OK)
            st = RD_E_RANGE;
    } else {
        int64_t number = 0;
        st = cli_parse_i64(text, &number);
        int64_t limit = (int64_t)(mask >> 1);
        if (st == RD_OK && (number > limit || number < -limit - 1))
            st = RD_E_RANGE;
        value = (uint64_t)number;
    }
    if (st != RD_OK)
        return st;
    *out = value & mask;
    return RD_OK;
}

static uint64_t load(const struct elem_type *type, const void *at)
{
    uint64_t value = 0;
    memcpy(&value, at, type->bytes);
    return value;
}

static void print_float(const struct elem_type *type, uint64_t bits, FILE *f)
{
    float narrow;
    double wide;
    switch (type->bytes) {
    case 2:
        fprintf(f, "%.5g", elem_from_f16((uint16_t)bits));
        break;
    case 4:
        memcpy(&narrow, &bits, 4);
        fprintf(f, "%.9g", (double)narrow);
        break;
    default:
        memcpy(&wide, &bits, 8);
        fprintf(f, "%.17g", wide);
        break;
    }
}

void elem_print(const struct elem_type *type, const void *at, FILE *f)
{
    uint64_t bits = load(type, at);
    unsigned shift = 64 - 8 * type->bytes;
    if (type->cls == ELEM_FLOAT)
        print_float(type, bits, f);
    else if (type->cls == ELEM_UNSIGNED)
        fprintf(f, "%" PRIu64, bits);
    else
        fprintf(f, "%" PRId64, (int64_t)(bits << shift) >> shift);
}

static uint64_t float_bits(const struct elem_type *type, double value)
{
    uint64_t bits = 0;
    float narrow = (float)value;
    if (type->bytes == 2)
        bits = elem_to_f16(value);
    else if (type->bytes == 4)
        memcpy(&bits, &narrow, 4);
    else
        memcpy(&bits, &value, 8);
    return bits;
}

void elem_iota(const struct elem_type *type, void *at, uint64_t bytes)
{
    uint64_t count = bytes / type->bytes;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = type->cls == ELEM_FLOAT ? float_bits(type, (double)i) : i;
        memcpy((char *)at + i * type->bytes, &bits, type->bytes);
    }
}

/* SplitMix64 (Steele, Lea, Flood 2014): every seed is good, one addition of state. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

void elem_rand(const struct elem_type *type, uint64_t seed, void *at, uint64_t bytes)
{
    /* As many random bits as the format's significand holds: every value is exact. */
    int digits = type->bytes == 2 ? 11 : type->bytes == 4 ? 24 : 53;
    uint64_t count = bytes / type->bytes;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = next_random(&seed);
        if (type->cls == ELEM_FLOAT) {
            int64_t number = (int64_t)(bits >> (63 - digits)) - ((int64_t)1 << digits);
            bits = float_bits(type, ldexp((double)number, -digits));
        }
        memcpy((char *)at + i * type->bytes, &bits, type->bytes);
    }
}
