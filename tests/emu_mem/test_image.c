/* test_image.c: linear images: loads, stores, atomics, sizes, samplers.
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include <math.h>

#include "programs.inc"

#define WORDS 16384

static struct run r;
static uint32_t memory[WORDS] __attribute__((aligned(4096)));

static void begin(const uint32_t *body, size_t bytes)
{
    memset(&r, 0, sizeof r);
    r.body = body;
    r.body_bytes = bytes;
    r.float_mode = 0x3c0;
    r.memory = memory;
    r.memory_bytes = sizeof memory;
    for (unsigned i = 0; i < WORDS; i++)
        memory[i] = random32();
}
#define BEGIN(name) begin(body_##name, sizeof body_##name)

static uint32_t bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float value(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

struct img {
    unsigned type, format, width, height, depth, levels, base_level, base_array;
    unsigned pitch, swizzle, dst_sel;
};

#define RGBA (4 | 5 << 3 | 6 << 6 | 7 << 9)

/* Fields at the bits that the manual gives. */
static void field(uint32_t *words, unsigned at, unsigned n, uint64_t v)
{
    for (unsigned i = 0; i < n; i++)
        words[(at + i) / 32] |= (uint32_t)(v >> i & 1) << (at + i) % 32;
}

static void set_img(const struct img *d)
{
    uint32_t *t = r.sgpr;
    memset(t, 0, 8 * sizeof *t);
    field(t, 0, 40, (uint64_t)(uintptr_t)memory >> 8);
    field(t, 48, 4, d->levels - 1);
    field(t, 52, 8, d->format);
    field(t, 62, 14, d->width - 1);
    field(t, 78, 14, d->height - 1);
    field(t, 96, 12, d->dst_sel ? d->dst_sel : RGBA);
    field(t, 108, 4, d->base_level);
    field(t, 112, 4, d->levels - 1);
    field(t, 116, 5, d->swizzle);
    field(t, 124, 4, d->type);
    field(t, 128, 13, d->depth ? d->depth - 1 : d->pitch ? d->pitch - 1 : 0);
    field(t, 144, 13, d->base_array);
}

static uint16_t half(float f)
{
    _Float16 h = (_Float16)f;
    uint16_t u;
    memcpy(&u, &h, sizeof u);
    return u;
}

/* 40 x 20 texels of RGBA8: rows are padded to 256 bytes. */
START_TEST(load_2d)
{
    BEGIN(img_2d);
    set_img(
        &(struct img){.type = 9, .format = 42, .width = 40, .height = 20, .levels = 1});
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = l;
        r.in[1][l] = l / 2;
    }
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            unsigned x = l, y = l / 2;
            uint32_t t = x < 40 && y < 20 ? memory[y * 64 + x] : 0;
            for (unsigned c = 0; c < 4; c++)
                ck_row_eq(&r, c, l, bits((float)(t >> 8 * c & 255) / 255.0f));
            uint32_t s = y < 40 && x < 20 ? memory[x * 64 + y] : 0;
            ck_row_eq(&r, 4, l, bits((float)(s >> 16 & 255) / 255.0f));
            uint32_t c0 = half((float)(t & 255) / 255.0f);
            ck_row_eq(&r, 5, l,
                      c0 | (uint32_t)half((float)(t >> 8 & 255) / 255.0f) << 16);
            ck_row_eq(&r, 6, l, half((float)(t >> 24) / 255.0f));
            ck_row_eq(&r, 7, l, bits((float)(t & 255) / 255.0f));
        }
    }
}
END_TEST

/* A pitch of its own; channels out of order. */
START_TEST(store_2d)
{
    BEGIN(img_store);
    set_img(&(struct img){.type = 9,
                          .format = 46,
                          .width = 30,
                          .height = 10,
                          .levels = 1,
                          .pitch = 48,
                          .dst_sel = 6 | 5 << 3 | 4 << 6 | 7 << 9});
    random_rows(&r);
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = l % 32;
        r.in[1][l] = l / 8;
        for (unsigned c = 0; c < 4; c++)
            r.in[2 + c][l] %= 300;
    }
    FOR_EACH_RUN(&r)
    {
        uint32_t model[WORDS];
        memcpy(model, memory, sizeof model);
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint32_t v[4];
            for (unsigned c = 0; c < 4; c++)
                v[c] = r.in[2 + c][l] < 255 ? r.in[2 + c][l] : 255;
            if (l % 32 < 30 && l / 8 < 10)
                model[l / 8 * 48 + l % 32] = v[2] | v[1] << 8 | v[0] << 16 | v[3] << 24;
        }
        ck_assert_mem_eq(model, memory, sizeof model);
    }
}
END_TEST

/* Levels of 16x8, 8x4, 4x2 texels of 32 bits: smallest first, rows of 256 bytes. */
static unsigned mip_word(unsigned x, unsigned y, unsigned slice, unsigned level)
{
    static const unsigned first[3] = {64 * 6, 64 * 2, 0};
    return slice * 64 * 14 + first[level] + y * 64 + x;
}

START_TEST(levels)
{
    BEGIN(img_mip_array);
    set_img(&(struct img){.type = 13,
                          .format = 20,
                          .width = 16,
                          .height = 8,
                          .levels = 3,
                          .depth = 5, /* slices 0 to 4; the view begins at 1 */
                          .base_array = 1});
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = l % 7;
        r.in[1][l] = l % 5;
        r.in[2][l] = l / 13;
        r.in[3][l] = l % 4;
        r.in[4][l] = 1000 + l;
    }
    for (unsigned pass = 0; pass < 2; pass++) {
        uint32_t before[WORDS];
        memcpy(before, memory, sizeof before);
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            for (unsigned l = 0; l < r.lanes; l++) {
                unsigned x = l % 7, y = l % 5, z = l / 13, m = l % 4;
                bool in = m < 3 && x < 16u >> m && y < 8u >> m && z < 4;
                unsigned at = in ? mip_word(x, y, z + 1, m) : 0;
                ck_row_eq(&r, 0, l, in ? before[at] : 0);
                if (in)
                    ck_assert_uint_eq(memory[at], 1000 + l);
                ck_row_eq(&r, 1, l, m < 3 ? 16u >> m : 0);
                ck_row_eq(&r, 2, l, m < 3 ? 8u >> m : 0);
                ck_row_eq(&r, 3, l, m < 3 ? 4 : 0);
                ck_row_eq(&r, 4, l, 3);
            }
            memcpy(memory, before, sizeof memory);
        }
    }
}
END_TEST

START_TEST(volume)
{
    BEGIN(img_3d);
    set_img(&(struct img){
        .type = 10, .format = 6, .width = 100, .height = 4, .depth = 3, .levels = 1});
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = 2 * l;
        r.in[1][l] = l % 5;
        r.in[2][l] = l % 4;
        r.in[3][l] = 0x55;
    }
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            unsigned x = 2 * l, y = l % 5, z = l % 4;
            bool in = x < 100 && y < 4 && z < 3;
            uint8_t *t = (uint8_t *)memory + (in ? z * 1024 + y * 256 + x : 0);
            if (in) {
                ck_row_eq(&r, 1, l, r.out[0][l]);
                ck_row_eq(&r, 2, l, r.out[0][l] & 255);
                ck_assert_uint_eq(*t, 0x55);
                *t = (uint8_t)r.out[0][l]; /* as it was */
            } else {
                ck_row_eq(&r, 0, l, 0);
                ck_row_eq(&r, 1, l, 0);
            }
        }
    }
}
END_TEST

START_TEST(atomics)
{
    BEGIN(img_atomic);
    set_img(
        &(struct img){.type = 9, .format = 20, .width = 60, .height = 1, .levels = 1});
    random_rows(&r);
    uint32_t before[64];
    memcpy(before, memory, sizeof before);
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = l;
        r.in[1][l] = 0;
        if (l % 2)
            r.in[3][l] = before[l] + r.in[2][l];
    }
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint32_t v = before[l], data = r.in[2][l], cmp = r.in[3][l];
            bool in = l < 60;
            ck_row_eq(&r, 0, l, in ? v : 0);
            v += data;
            ck_row_eq(&r, 1, l, in ? v : 0);
            v = v == cmp ? data : v;
            v = v > cmp ? v : cmp;
            if (in)
                ck_assert_uint_eq(memory[l], v);
        }
        memcpy(memory, before, sizeof before);
    }
}
END_TEST

/* Four samples of each texel of 8 x 8, side by side: rows are padded to 256 bytes. */
START_TEST(multisampled)
{
    BEGIN(img_msaa);
    set_img(
        &(struct img){.type = 14, .format = 42, .width = 8, .height = 8, .levels = 3});
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = l % 9;
        r.in[1][l] = l / 8;
        r.in[2][l] = l % 5;
    }
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            unsigned x = l % 9, y = l / 8, s = l % 5;
            for (unsigned k = 0; k < 4; k++) {
                uint32_t t = x < 8 && s < 4 ? memory[y * 64 + x * 4 + s] : 0;
                ck_row_eq(&r, k, l, bits((float)(t >> 8 * k & 255) / 255.0f));
                uint32_t m = x < 8 && s + k < 4 ? memory[y * 64 + x * 4 + s + k] : 0;
                ck_row_eq(&r, 4 + k, l, bits((float)(m >> 8 & 255) / 255.0f));
            }
        }
    }
}
END_TEST

/* Tiled images: what is written comes back, and nothing lies outside of the bytes that
 * the texels need. */
START_TEST(tiled)
{
    static const struct img images[] = {
        {.type = 9, .format = 20, .width = 13, .height = 9, .levels = 1, .swizzle = 27},
        {.type = 13,
         .format = 20,
         .width = 8,
         .height = 8,
         .depth = 3,
         .levels = 4,
         .swizzle = 24},
        {.type = 10,
         .format = 20,
         .width = 8,
         .height = 8,
         .depth = 4,
         .levels = 4,
         .swizzle = 25},
    };
    static const unsigned bytes[] = {13 * 9 * 4, (64 + 16 + 4 + 1) * 3 * 4,
                                     (64 * 4 + 16 * 2 + 4 + 1) * 4};
    for (unsigned i = 0; i < sizeof images / sizeof *images; i++) {
        if (i == 0)
            BEGIN(img_round_2d);
        else if (i == 1)
            BEGIN(img_round_array);
        else
            BEGIN(img_round_3d);
        set_img(&images[i]);
        r.memory_bytes = bytes[i];
        for (unsigned l = 0; l < LANES; l++) {
            r.in[0][l] = i ? l % 4 : l % 13;
            r.in[1][l] = i ? l / 4 % 4 : l / 13;
            r.in[2][l] = l / 16 % 2;
            r.in[3][l] = l / 32;
            r.in[4][l] = random32();
        }
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            for (unsigned l = 0; l < r.lanes; l++)
                ck_row_eq(&r, 0, l, r.in[4][l]);
        }
    }
}
END_TEST

/* What is not modelled is refused by name. */
START_TEST(refused)
{
    static const struct img images[] = {
        {.type = 9, .format = 109, .width = 8, .height = 8, .levels = 1},
        {.type = 4, .format = 42, .width = 8, .height = 8, .levels = 1},
    };
    for (unsigned i = 0; i < sizeof images / sizeof *images; i++) {
        BEGIN(img_2d);
        set_img(&images[i]);
        FOR_EACH_RUN(&r)
        {
            ck_assert_int_eq(r.fault.kind, EMU_FAULT_UNSUPPORTED);
            ck_assert_uint_gt(strlen(r.fault.detail), 10);
        }
    }
    BEGIN(img_2d); /* all zero: unbound */
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 3, 0);
    }
}
END_TEST

/* A buffer's resource, as ROCm 5.7 gives its copies of an image that is a buffer: loads
 * return nothing, stores and atomics change nothing (manual 9.6). */
START_TEST(buffers)
{
    const struct img buffer = {.format = 42, .width = 8, .height = 8, .levels = 1};
    static const struct {
        const uint32_t *body;
        size_t bytes;
    } programs[] = {
        {body_img_store, sizeof body_img_store},
        {body_img_2d, sizeof body_img_2d},
        {body_img_msaa, sizeof body_img_msaa},
        {body_img_3d, sizeof body_img_3d},
        {body_img_sample, sizeof body_img_sample},
        {body_img_atomic, sizeof body_img_atomic},
    };
    static const unsigned from[2][ROWS] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                           {2, 2, 3, 3, 4, 5, 6, 7}}; /* atomic */
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        uint32_t body[ROWS + 64];
        ck_assert_uint_le(programs[i].bytes, 64 * sizeof *body);
        for (unsigned row = 0; row < ROWS;
             row++) /* v_mov_b32 v[10 + row], v[2 + row] */
            body[row] = 0x7e000300u | (10 + row) << 17 | (2 + row);
        memcpy(body + ROWS, programs[i].body, programs[i].bytes);
        begin(body, ROWS * sizeof *body + programs[i].bytes);
        set_img(&buffer);
        random_rows(&r);
        uint32_t before[WORDS];
        memcpy(before, memory, sizeof before);
        const unsigned *was = from[programs[i].body == body_img_atomic];
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            ck_assert_mem_eq(memory, before, sizeof before);
            for (unsigned l = 0; l < r.lanes; l++)
                for (unsigned row = 0; row < ROWS; row++) /* registers as they were */
                    ck_row_eq(&r, row, l, r.in[was[row]][l]);
        }
    }
}
END_TEST

/* ---- samplers ---------------------------------------------------------------------
 */

struct smp {
    unsigned clamp, filter, mip, max_lod, compare, border, unnormalized, truncate;
};

static void set_smp(const struct smp *d)
{
    uint32_t *s = r.sgpr + 8;
    memset(s, 0, 4 * sizeof *s);
    field(s, 0, 3, d->clamp);
    field(s, 3, 3, d->clamp);
    field(s, 6, 3, d->clamp);
    field(s, 12, 3, d->compare);
    field(s, 15, 1, d->unnormalized);
    field(s, 27, 1, d->truncate);
    field(s, 44, 12, d->max_lod * 256);
    field(s, 84, 2, d->filter);
    field(s, 86, 2, d->filter);
    field(s, 90, 2, d->mip);
    field(s, 126, 2, d->border);
}

/* 8x8 texels of f32 whose value is x + 10 y; 4x4: 1000 + x + 10 y; ... */
static void set_ramp(void)
{
    static const unsigned first[4] = {64 * 7, 64 * 3, 64, 0};
    set_img(&(struct img){.type = 9,
                          .format = 22,
                          .width = 8,
                          .height = 8,
                          .levels = 4,
                          .dst_sel = 4 | 1 << 9});
    for (unsigned m = 0; m < 4; m++)
        for (unsigned y = 0; y < 8u >> m; y++)
            for (unsigned x = 0; x < 8u >> m; x++)
                memory[first[m] + y * 64 + x] = bits((float)(1000 * m + x + 10 * y));
}

static int wrapped(int i, int n, unsigned mode)
{
    switch (mode) {
    case 0:
        return (i % n + n) % n;
    case 1:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case 2:
        return i < 0 ? 0 : i < n ? i : n - 1;
    default: /* 6: border */
        return i < 0 || i >= n ? -1 : i;
    }
}

static double ramp(int x, int y, unsigned mode)
{
    x = wrapped(x, 8, mode);
    y = wrapped(y, 8, mode);
    return x < 0 || y < 0 ? 1.0 : x + 10.0 * y;
}

static double bilinear(double u, double v, unsigned mode)
{
    double x = rint((u * 8 - 0.5) * 256) / 256, y = rint((v * 8 - 0.5) * 256) / 256;
    int i = (int)floor(x), j = (int)floor(y);
    double a = x - i, b = y - j;
    return (ramp(i, j, mode) * (1 - a) + ramp(i + 1, j, mode) * a) * (1 - b) +
           (ramp(i, j + 1, mode) * (1 - a) + ramp(i + 1, j + 1, mode) * a) * b;
}

START_TEST(filters)
{
    static const uint8_t modes[4] = {0, 1, 2, 6};
    for (unsigned k = 0; k < 8; k++) {
        unsigned mode = modes[k % 4], linear = k / 4;
        BEGIN(img_sample);
        set_ramp();
        set_smp(&(struct smp){
            .clamp = mode, .filter = linear, .mip = 1, .max_lod = 15, .border = 2});
        for (unsigned l = 0; l < LANES; l++) {
            r.in[0][l] = bits(-1.03f + 0.07f * (float)l);
            r.in[1][l] = bits(2.1f - 0.05f * (float)l);
            r.in[2][l] = bits((float)(l % 4));
        }
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            for (unsigned l = 0; l < r.lanes; l++) {
                double u = value(r.in[0][l]), v = value(r.in[1][l]);
                double want = linear ? bilinear(u, v, mode)
                                     : ramp((int)floor(rint(u * 8 * 256) / 256),
                                            (int)floor(rint(v * 8 * 256) / 256), mode);
                ck_row_eq(&r, 0, l, bits((float)want));
                ck_row_eq(&r, 1, l, 0);
                ck_row_eq(&r, 3, l, bits(1.0f));
                if (mode == 2 && l % 4)
                    ck_assert_msg(value(r.out[4][l]) >= 1000.0f * (float)(l % 4),
                                  "lod");
            }
        }
    }
}
END_TEST

/* Level from the quad's differences, or from gradients; blended between levels. */
START_TEST(implicit_lod)
{
    BEGIN(img_sample);
    set_ramp();
    set_smp(&(struct smp){.clamp = 2, .filter = 0, .mip = 2, .max_lod = 15});
    for (unsigned l = 0; l < LANES; l++) {
        /* in each quad, one step in x is 2^(quad % 4) texels of level 0 */
        float step = ldexpf(0.125f, (int)(l / 4 % 4));
        r.in[0][l] = bits(0.01f + (l & 1 ? step : 0));
        r.in[1][l] = bits(0.01f);
        r.in[2][l] = bits(0.5f);
        r.in[3][l] = bits(0.125f * (float)(1 + l % 8)); /* dx/dh */
        r.in[4][l] = bits(0.0f);
        r.in[5][l] = bits(0.0f);
        r.in[6][l] = bits(0.01f);
        r.in[7][l] = bits(0.01f);
    }
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++)
            if (!(l & 1))
                ck_row_eq(&r, 5, l, bits(1000.0f * (float)(l / 4 % 4)));
        /* halfway between levels 0 and 1 */
        float got = value(r.out[4][0]);
        ck_assert_float_eq(got, (value(r.out[0][0]) + 1000.0f) / 2);
    }
}
END_TEST

static void set_more(void)
{
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = bits(0.3f + 0.001f * (float)l);
        r.in[1][l] = bits(0.55f);
        r.in[2][l] = 1 | 0x3e << 8; /* offsets +1, -2 */
        r.in[3][l] = bits(0.3f);    /* reference; x with offsets */
        r.in[4][l] = bits(0.3f);    /* s of the comparison; y with offsets */
        r.in[5][l] = bits(0.55f);
        r.in[6][l] = bits(0.3f);
        r.in[7][l] = bits(0.55f);
    }
}

START_TEST(compare_gather)
{
    BEGIN(img_sample_more);
    set_ramp();
    set_smp(&(struct smp){.clamp = 2, .filter = 0, .max_lod = 15, .compare = 1});
    set_more();
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            ck_row_eq(&r, 0, l, bits(1.0f)); /* 0.3 < texel */
            /* s, t = 0.3, 0.3 is texel (2, 2), moved to (3, 0) */
            ck_row_eq(&r, 1, l, bits(3.0f));
            int i = (int)floor(rint((value(r.in[0][l]) * 8 - 0.5) * 256) / 256);
            int j = (int)floor(0.55 * 8 - 0.5);
            ck_row_eq(&r, 2, l, bits((float)ramp(i, j + 1, 2)));
            ck_row_eq(&r, 3, l, bits((float)ramp(i + 1, j + 1, 2)));
            ck_row_eq(&r, 4, l, bits((float)ramp(i + 1, j, 2)));
            ck_row_eq(&r, 5, l, bits((float)ramp(i, j, 2)));
        }
    }
}
END_TEST

START_TEST(border_table)
{
    BEGIN(img_sample);
    set_ramp();
    set_smp(&(struct smp){.clamp = 6, .border = 3});
    FOR_EACH_RUN(&r)
    ck_assert_int_eq(r.fault.kind, EMU_FAULT_UNSUPPORTED);
}
END_TEST

/* ---- bounding volume hierarchies --------------------------------------------------
 */

static void set_bvh(bool barycentrics)
{
    memset(r.sgpr, 0, 4 * sizeof *r.sgpr);
    field(r.sgpr, 0, 40, (uint64_t)(uintptr_t)memory >> 8);
    field(r.sgpr, 63, 1, 1); /* sort */
    field(r.sgpr, 64, 42, 15);
    field(r.sgpr, 120, 1, barycentrics);
    field(r.sgpr, 124, 4, 8);
}

static void set_ray(unsigned l, uint32_t node, float extent, const float o[3],
                    const float d[3])
{
    r.in[0][l] = node;
    r.in[1][l] = bits(extent);
    for (unsigned i = 0; i < 3; i++) {
        r.in[2 + i][l] = bits(o[i]);
        r.in[5 + i][l] = bits(d[i]);
    }
}

/* Four unit boxes along x at 10, 2, 6 and -4 (behind the ray): nearest first. */
START_TEST(boxes)
{
    static const float at[4] = {10, 2, 6, -4};
    static const float origin[3] = {0, 0.5f, 0.5f}, dir[3] = {1, 0.001f, 0.002f};
    static const float away[3] = {-0.1f, 1, 0.1f};
    BEGIN(bvh);
    set_bvh(true);
    for (unsigned c = 0; c < 4; c++) {
        float box[6] = {at[c], 0, 0, at[c] + 1, 1, 1};
        memory[32 + c] = 100 + c;
        memcpy(&memory[36 + 6 * c], box, sizeof box);
    }
    for (unsigned l = 0; l < LANES; l++)
        set_ray(l, 2 << 3 | 5,
                l < 8    ? 100.0f
                : l < 16 ? 5.0f
                         : 100.0f,
                origin, l < 24 ? dir : away);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            unsigned hits = l < 8 ? 3 : l < 16 ? 1 : l < 24 ? 3 : 0;
            static const uint32_t order[3] = {101, 102, 100};
            for (unsigned c = 0; c < 4; c++) {
                ck_row_eq(&r, c, l, c < hits ? order[c] : 0xffffffff);
                ck_row_eq(&r, 4 + c, l, c < hits ? order[c] : 0xffffffff);
            }
        }
    }
    r.in[0][3] = 99 << 3 | 5; /* beyond the hierarchy */
    r.in[0][4] = 2 << 3 | 6;  /* an instance */
    FOR_EACH_RUN(&r)
    ck_assert_int_eq(r.fault.kind, EMU_FAULT_UNSUPPORTED);
}
END_TEST

/* The ray through (1 - a - b) v0 + a v1 + b v2 hits there, at distance 4. */
START_TEST(triangles)
{
    static const float v[3][3] = {{0, 0, 4}, {3, 0, 4}, {0, 3, 4}};
    BEGIN(bvh);
    set_bvh(true);
    memcpy(memory, v, sizeof v);
    memory[15] = 1 | 2 << 2; /* which barycentrics are I and J */
    for (unsigned l = 0; l < LANES; l++) {
        unsigned i = l % 8, j = l / 8;
        float a = (float)i / 6.0f - 0.05f, b = (float)j / 6.0f - 0.05f;
        float o[3] = {0.25f, 0.125f, 0}, d[3] = {3 * a - o[0], 3 * b - o[1], 4};
        set_ray(l, 0, 100, o, d);
    }
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            unsigned i = l % 8, j = l / 8;
            float a = (float)i / 6.0f - 0.05f, b = (float)j / 6.0f - 0.05f;
            float t = value(r.out[0][l]), det = value(r.out[1][l]);
            if (a < 0 || b < 0 || a + b > 1) {
                ck_assert(isinf(t));
                continue;
            }
            ck_assert_float_eq_tol(t / det, 1.0f, 1e-5f);
            ck_assert_float_eq_tol(value(r.out[2][l]) / det, a, 1e-4f);
            ck_assert_float_eq_tol(value(r.out[3][l]) / det, b, 1e-4f);
            ck_row_eq(&r, 4, l, r.out[0][l]);
        }
    }
    set_bvh(false);
    FOR_EACH_RUN(&r)
    {
        ck_row_eq(&r, 2, 9, memory[15]);
        ck_row_eq(&r, 3, 9, 1);
        ck_row_eq(&r, 3, 0, 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_image");
    TCase *t = tcase_create("image");
    tcase_add_test(t, load_2d);
    tcase_add_test(t, store_2d);
    tcase_add_test(t, levels);
    tcase_add_test(t, volume);
    tcase_add_test(t, atomics);
    tcase_add_test(t, multisampled);
    tcase_add_test(t, tiled);
    tcase_add_test(t, refused);
    tcase_add_test(t, buffers);
    tcase_add_test(t, filters);
    tcase_add_test(t, implicit_lod);
    tcase_add_test(t, compare_gather);
    tcase_add_test(t, border_table);
    tcase_add_test(t, boxes);
    tcase_add_test(t, triangles);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
