/* imgres.c: see imgres.h.
 * SPDX-License-Identifier: MIT
 */
#include "imgres.h"

#include <stddef.h>

#define ROW_ALIGN 256u /* bytes */

static uint32_t bits(const uint32_t *sgpr, unsigned at, unsigned n)
{
    uint64_t pair = sgpr[at / 32];
    if (at % 32 + n > 32)
        pair |= (uint64_t)sgpr[at / 32 + 1] << 32;
    return (uint32_t)(pair >> at % 32) & ((1u << n) - 1);
}

static bool is_array(unsigned type)
{
    return type == IMGRES_CUBE || type == IMGRES_1D_ARRAY || type == IMGRES_2D_ARRAY ||
           type == IMGRES_2D_MSAA_ARRAY;
}

static bool has_pitch(unsigned type)
{
    return type == IMGRES_1D || type == IMGRES_2D || type == IMGRES_2D_MSAA;
}

struct imgres imgres_read(const uint32_t *sgpr, bool short_form)
{
    uint32_t word[8] = {0}, any = 0;
    for (unsigned i = 0; i < (short_form ? 4u : 8u); i++)
        any |= word[i] = sgpr[i];
    struct imgres r = {
        .base = word[0] | (uint64_t)bits(word, 32, 8) << 32,
        .format_number = (uint8_t)bits(word, 52, 8),
        .max_level = (uint8_t)bits(word, 48, 4),
        .width = bits(word, 62, 14) + 1,
        .height = bits(word, 78, 14) + 1,
        .base_level = (uint8_t)bits(word, 108, 4),
        .last_level = (uint8_t)bits(word, 112, 4),
        .swizzle = (uint8_t)bits(word, 116, 5),
        .type = (uint8_t)bits(word, 124, 4),
        .other_type = any && bits(word, 126, 2) == 0,
        .depth = 1,
        .unbound = !any,
    };
    r.base <<= 8;
    r.samples = 1;
    if (r.type >= IMGRES_2D_MSAA) { /* the level fields tell the samples */
        r.samples = 1u << (r.last_level & 7u);
        r.max_level = r.base_level = r.last_level = 0;
    }
    r.format = format_find(r.format_number);
    for (unsigned i = 0; i < 4; i++)
        r.dst_sel[i] = (uint8_t)bits(word, 96 + 3 * i, 3);
    uint32_t depth = bits(word, 128, 13);
    if (has_pitch(r.type)) {
        uint32_t pitch = (depth | bits(word, 141, 1) << 13) + 1;
        r.pitch = pitch > r.width ? pitch : 0;
    } else {
        r.depth = depth + 1;
    }
    if (is_array(r.type))
        r.first_slice = bits(word, 144, 13);
    if (r.type == IMGRES_1D || r.type == IMGRES_1D_ARRAY)
        r.height = 1;
    return r;
}

const char *imgres_problem(const struct imgres *r)
{
    if (r->type < IMGRES_1D)
        return "the resource is no image";
    if (r->format->type == FORMAT_NONE)
        return "image format without a model (compressed or invalid)";
    return NULL;
}

static uint32_t minify(uint32_t size, unsigned level)
{
    return size >> level ? size >> level : 1;
}

struct extent imgres_extent(const struct imgres *r, unsigned level)
{
    struct extent e = {minify(r->width, level), minify(r->height, level), 1};
    if (r->type == IMGRES_3D)
        e.z = minify(r->depth, level);
    else if (is_array(r->type))
        e.z = r->depth - r->first_slice;
    return e;
}

bool imgres_inside(const struct imgres *r, const struct texel *t)
{
    unsigned level = t->level + r->base_level;
    if (level > r->last_level || level > r->max_level)
        return false;
    struct extent e = imgres_extent(r, level);
    return t->x < e.x && t->y < e.y && t->z < e.z && t->sample < r->samples;
}

static uint64_t row_bytes(const struct imgres *r, unsigned level)
{
    uint64_t bytes = (uint64_t)r->format->bytes * r->samples;
    if (r->swizzle)
        return minify(r->width, level) * bytes;
    if (level == 0 && r->pitch)
        return r->pitch * bytes;
    return (minify(r->width, level) * bytes + ROW_ALIGN - 1) & ~(ROW_ALIGN - 1ull);
}

static uint64_t level_bytes(const struct imgres *r, unsigned level)
{
    return row_bytes(r, level) * minify(r->height, level);
}

/* Of a texel within its plane: level and slice. */
static uint64_t in_plane(const struct imgres *r, const struct texel *t, unsigned level)
{
    return t->y * row_bytes(r, level) +
           ((uint64_t)t->x * r->samples + t->sample) * r->format->bytes;
}

/* Tiled volumes: level after level, each as deep as it is. */
static uint64_t volume_address(const struct imgres *r, const struct texel *t,
                               unsigned level)
{
    uint64_t before = 0;
    for (unsigned i = 0; i < level; i++)
        before += level_bytes(r, i) * minify(r->depth, i);
    return r->base + before + t->z * level_bytes(r, level) + in_plane(r, t, level);
}

uint64_t imgres_address(const struct imgres *r, const struct texel *t)
{
    unsigned level = t->level + r->base_level;
    if (r->swizzle && r->type == IMGRES_3D)
        return volume_address(r, t, level);
    uint64_t slice = 0, before = 0;
    for (unsigned i = 0; i <= r->max_level; i++) {
        slice += level_bytes(r, i);
        before += i > level ? level_bytes(r, i) : 0;
    }
    return r->base + (t->z + (uint64_t)r->first_slice) * slice + before +
           in_plane(r, t, level);
}
