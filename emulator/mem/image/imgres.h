/* imgres.h: the image resource (T#) and where its texels are (manual 10.5).
 *
 * Linear images have their texels where AMD's address library puts them: levels lie
 * smallest first within each slice, rows are padded to 256 bytes. How hardware orders
 * the texels of tiled images depends on the chip's memory channels and is not
 * documented; nobody but the image instructions can make use of it, so here they are
 * packed without gaps, in an order of our own that fits into whatever the tiled image
 * was allocated. Samples of a texel of a multisampled image lie side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_IMGRES_H
#define RD_IMGRES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats.h"

enum imgres_type {
    IMGRES_1D = 8,
    IMGRES_2D,
    IMGRES_3D,
    IMGRES_CUBE,
    IMGRES_1D_ARRAY,
    IMGRES_2D_ARRAY,
    IMGRES_2D_MSAA,
    IMGRES_2D_MSAA_ARRAY,
};

struct imgres {
    uint64_t base;
    const struct format *format;
    uint32_t width, height; /* texels of level 0 */
    uint32_t depth;       /* 3D: of level 0; arrays and cubes: slices up to the last */
    uint32_t first_slice; /* of the view */
    uint32_t samples;     /* of a texel: 1 but for multisampled images */
    uint32_t pitch;       /* texels in a row, if the resource says so; else 0 */
    uint8_t type;         /* enum imgres_type; less than 8: no image */
    bool other_type;      /* a buffer (V#): the instruction is ignored */
    uint8_t format_number, swizzle;
    uint8_t max_level, base_level, last_level;
    uint8_t dst_sel[4]; /* 0, 1, or 4 + channel */
    bool unbound;       /* all zero: reads as zero, writes are dropped */
};

struct imgres imgres_read(const uint32_t *sgpr, bool short_form);

/* NULL, or why the image cannot be accessed. */
const char *imgres_problem(const struct imgres *r);

/* Texels of a level: width, height, depth or slices of the view. */
struct extent {
    uint32_t x, y, z;
};
struct extent imgres_extent(const struct imgres *r, unsigned level);

/* A texel: x, y within the level, z the depth or the slice within the view. */
struct texel {
    uint32_t x, y, z, level; /* level: within the view's resource, from base_level */
    uint32_t sample;         /* of a multisampled image */
};

/* False if it is outside of the view. */
bool imgres_inside(const struct imgres *r, const struct texel *t);

/* GPU address of a texel that is inside. */
uint64_t imgres_address(const struct imgres *r, const struct texel *t);

#endif
