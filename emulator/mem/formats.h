/* formats.h: data formats of buffer and image elements: memory <-> canonical RGBA.
 *
 * Canonical components are what a shader's register holds: f32 bits, or a 32-bit
 * integer for UINT and SINT formats.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_FORMATS_H
#define RD_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

enum format_type {
    FORMAT_NONE, /* no such format, or one that only images know (block-compressed) */
    FORMAT_UNORM,
    FORMAT_SNORM,
    FORMAT_USCALED,
    FORMAT_SSCALED,
    FORMAT_UINT,
    FORMAT_SINT,
    FORMAT_FLOAT,
    FORMAT_SRGB,
    FORMAT_SHARED_EXP, /* 5_9_9_9 */
};

struct format {
    uint8_t type;    /* enum format_type */
    uint8_t n;       /* components that the memory holds */
    uint8_t bytes;   /* of an element */
    uint8_t bits[4]; /* by component, X in the lowest bits */
};

#define FORMAT_COUNT 90u /* numbers below this have a row; the rest is compressed */

/* The format with a number of the unified table (manual 10.7); type FORMAT_NONE if it
 * is invalid or has no component layout. */
const struct format *format_find(unsigned number);

static inline bool format_is_int(const struct format *f)
{
    return f->type == FORMAT_UINT || f->type == FORMAT_SINT;
}

/* 1 as dst_sel and missing alpha give it. */
static inline uint32_t format_one(const struct format *f)
{
    return format_is_int(f) ? 1 : 0x3f800000u;
}

/* The host's float mode must be the default one (round to nearest, denormals kept). */

/* Memory to components; those that the memory lacks are 0. */
void format_unpack(const struct format *f, const uint8_t *p, uint32_t rgba[4]);

/* The same as 16-bit values (D16): f16, or an integer's low half. f32 memory is
 * truncated, everything else rounded to nearest even (manual 9.3.1). */
void format_unpack16(const struct format *f, const uint8_t *p, uint16_t rgba[4]);

/* Components to memory: normalised and integer values are clamped to their range. */
void format_pack(const struct format *f, const uint32_t rgba[4], uint8_t *p);

/* A D16 component widened to a canonical one, for format_pack. */
uint32_t format_widen16(const struct format *f, uint16_t value);

/* f32 bits to a float of five exponent bits and the given mantissa; without a sign,
 * negative numbers become 0. */
uint32_t format_narrow_float(uint32_t f32, unsigned mantissa, bool has_sign,
                             bool truncate);

#endif
