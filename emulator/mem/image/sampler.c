/* sampler.c: image sampling: level of detail, address modes, filters, comparison,
 * gathers (manual 10.3, 10.4, 10.6).
 *
 * Fractions of texels and levels have 8 bits, as the hardware's; the filter itself runs
 * in double precision, so results may differ from silicon in the last bits. Where the
 * manual is silent: LOD_CLAMP is a lower bound (as compilers use it), cube faces are
 * filtered one by one, borders from the colour table are refused.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "image.h"

#define FOR_LANES(l, mask)                                                             \
    for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true);       \
         m_ &= m_ - 1)

enum clamp_mode {
    CLAMP_WRAP,
    CLAMP_MIRROR,
    CLAMP_LAST,
    CLAMP_MIRROR_LAST,
    CLAMP_HALF_BORDER,
    CLAMP_MIRROR_HALF_BORDER,
    CLAMP_BORDER,
    CLAMP_MIRROR_BORDER,
};

enum mip_filter { MIP_NONE, MIP_POINT, MIP_LINEAR };
enum filter_mode { FILTER_BLEND, FILTER_MIN, FILTER_MAX };

struct sampler {
    uint8_t clamp[3]; /* enum clamp_mode */
    uint8_t compare, mag, min, z_filter, mip, mode, border, max_aniso;
    bool unnormalized, truncate, skip_degamma;
    double min_lod, max_lod, bias;
};

static int sign_extend(uint32_t v, unsigned bits)
{
    return (int32_t)(v << (32 - bits)) >> (32 - bits);
}

static struct sampler sampler_read(const uint32_t *s, bool unnormalized)
{
    return (struct sampler){
        .clamp = {s[0] & 7, s[0] >> 3 & 7, s[0] >> 6 & 7},
        .max_aniso = (uint8_t)(1u << (s[0] >> 9 & 7)),
        .compare = s[0] >> 12 & 7,
        .unnormalized = (s[0] >> 15 & 1) || unnormalized,
        .truncate = s[0] >> 27 & 1,
        .mode = s[0] >> 29 & 3,
        .skip_degamma = s[0] >> 31,
        .min_lod = (s[1] & 0xfff) / 256.0,
        .max_lod = (s[1] >> 12 & 0xfff) / 256.0,
        .bias = sign_extend(s[2] & 0x3fff, 14) / 256.0 +
                sign_extend(s[2] >> 14 & 0x3f, 6) / 16.0,
        .mag = s[2] >> 20 & 3,
        .min = s[2] >> 22 & 3,
        .z_filter = s[2] >> 24 & 3,
        .mip = s[2] >> 26 & 3,
        .border = (uint8_t)(s[3] >> 30),
    };
}

/* ---- a lane's operands --------------------------------------------------------------
 */

struct operands {
    double c[3];         /* coordinates, in the image's dimensions */
    uint32_t layer;      /* array slice or cube face */
    double dh[3], dv[3]; /* gradients */
    double bias, lod, clamp;
    float reference;
    int offset[3];
};

static float as_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static double half_value(uint32_t h)
{
    static const struct format f16 = {FORMAT_FLOAT, 1, 2, {16}};
    uint8_t element[2] = {(uint8_t)h, (uint8_t)(h >> 8)};
    uint32_t rgba[4];
    format_unpack(&f16, element, rgba);
    return as_float(rgba[0]);
}

/* Float component k of the body that begins at dword first. */
static double body(const struct wave *w, const struct uop *u, unsigned l,
                   unsigned first, unsigned k)
{
    if (!(u->img.flags & UI_A16))
        return as_float(image_address(w, u, l, first + k));
    return half_value(image_address(w, u, l, first + k / 2) >> (k % 2 ? 16 : 0) &
                      0xffffu);
}

static unsigned dimensions(const struct uop *u)
{
    static const uint8_t n[8] = {1, 2, 3, 2, 1, 2, 2, 2};
    return n[u->img.dim];
}

static bool has_layer(const struct uop *u)
{
    return u->img.dim >= 3;
}

#define DIM_CUBE 3u

/* Dwords before the body. */
static unsigned read_extras(const struct wave *w, const struct uop *u, unsigned l,
                            struct operands *o)
{
    unsigned flags = u->img.flags, k = 0, n = dimensions(u);
    if (flags & UI_OFFSET) {
        uint32_t v = image_address(w, u, l, k++);
        for (unsigned i = 0; i < 3; i++)
            o->offset[i] = sign_extend(v >> (8 * i) & 63, 6);
    }
    if (flags & UI_BIAS) {
        uint32_t v = image_address(w, u, l, k++);
        o->bias = flags & UI_A16 ? half_value(v & 0xffffu) : as_float(v);
    }
    if (flags & UI_COMPARE)
        o->reference = as_float(image_address(w, u, l, k++));
    if (!(flags & UI_GRAD))
        return k;
    for (unsigned dir = 0; dir < 2; dir++) {
        double *d = dir ? o->dv : o->dh;
        for (unsigned i = 0; i < n; i++)
            d[i] =
                flags & UI_G16
                    ? half_value(image_address(w, u, l, k + i / 2) >> (i % 2 ? 16 : 0) &
                                 0xffffu)
                    : as_float(image_address(w, u, l, k + i));
        k += flags & UI_G16 ? (n + 1) / 2 : n;
    }
    return k;
}

static void read_operands(const struct wave *w, const struct uop *u, unsigned l,
                          struct operands *o)
{
    memset(o, 0, sizeof *o);
    unsigned first = read_extras(w, u, l, o), n = dimensions(u), k = 0;
    for (; k < n; k++)
        o->c[k] = body(w, u, l, first, k);
    if (u->img.dim == DIM_CUBE) /* the cube instructions add 1.5 instead of 0.5 */
        for (unsigned i = 0; i < 2; i++)
            o->c[i] -= 1.0;
    if (has_layer(u)) {
        double layer = rint(body(w, u, l, first, k++));
        o->layer = layer > 0 ? layer < 65535 ? (uint32_t)layer : 65535 : 0;
        if (u->img.dim == DIM_CUBE) /* eight faces are reserved for a cube, six used */
            o->layer = (o->layer >> 3) * 6 + (o->layer & 7);
    }
    if (u->img.flags & UI_LOD)
        o->lod = body(w, u, l, first, k);
    if (u->img.flags & UI_CLAMP)
        o->clamp = body(w, u, l, first, k);
}

/* ---- level of detail ----------------------------------------------------------------
 */

/* Gradients from the quad that the lane is in, active or not. */
static void quad_gradients(const struct wave *w, const struct uop *u, unsigned l,
                           struct operands *o)
{
    struct operands at[3];
    for (unsigned i = 0; i < 3; i++)
        read_operands(w, u, (l & ~3u) + i, &at[i]);
    for (unsigned i = 0; i < 3; i++) {
        o->dh[i] = at[1].c[i] - at[0].c[i];
        o->dv[i] = at[2].c[i] - at[0].c[i];
    }
}

struct lod {
    double raw, clamped;
    double major[3]; /* step along the longer gradient, for anisotropy */
    unsigned samples;
};

static double length(const double *d, const double *size)
{
    return sqrt(d[0] * d[0] * size[0] * size[0] + d[1] * d[1] * size[1] * size[1] +
                d[2] * d[2] * size[2] * size[2]);
}

static struct lod find_lod(const struct wave *w, const struct uop *u,
                           const struct imgres *r, const struct sampler *s, unsigned l,
                           struct operands *o)
{
    struct lod lod = {.samples = 1};
    struct extent e = imgres_extent(r, r->base_level);
    bool cube = u->img.dim == DIM_CUBE, volume = u->img.dim == 2;
    double size[3] = {e.x, e.y, volume ? e.z : 0};
    if (u->img.flags & UI_ZERO)
        return lod;
    if (u->img.flags & UI_LOD) {
        lod.raw = o->lod;
    } else {
        if (!(u->img.flags & UI_GRAD))
            quad_gradients(w, u, l, o);
        if (s->unnormalized && !cube)
            size[0] = size[1] = size[2] = 1;
        double h = length(o->dh, size), v = length(o->dv, size);
        double longer = h > v ? h : v, shorter = h > v ? v : h;
        if (s->max_aniso > 1 && s->min >= 2 && shorter > 0) {
            double ratio = ceil(longer / shorter);
            lod.samples = ratio < s->max_aniso ? (unsigned)ratio : s->max_aniso;
            memcpy(lod.major, h > v ? o->dh : o->dv, sizeof lod.major);
        }
        lod.raw = log2(longer / lod.samples);
    }
    lod.raw += s->bias + o->bias;
    lod.raw = lod.raw == lod.raw ? lod.raw : 0;
    double lo = s->min_lod > o->clamp ? s->min_lod : o->clamp;
    lod.clamped = lod.raw < lo ? lo : lod.raw > s->max_lod ? s->max_lod : lod.raw;
    return lod;
}

/* ---- texels -------------------------------------------------------------------------
 */

/* One lane being sampled. */
struct job {
    struct wave *w;
    const struct uop *u;
    const struct imgres *r;
    const struct sampler *s;
    unsigned lane;
    const struct operands *o;
    bool failed;
};

static int64_t modulo(int64_t i, int64_t n)
{
    int64_t m = i % n;
    return m < 0 ? m + n : m;
}

/* Texel index after the address mode; -1: the border. */
static int64_t address_mode(int64_t i, int64_t n, unsigned mode)
{
    int64_t mirrored = i < 0 ? -1 - i : i;
    switch (mode) {
    case CLAMP_WRAP:
        return modulo(i, n);
    case CLAMP_MIRROR:
        i = modulo(i, 2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case CLAMP_LAST:
        return i < 0 ? 0 : i < n ? i : n - 1;
    case CLAMP_MIRROR_LAST:
        return mirrored < n ? mirrored : n - 1;
    case CLAMP_MIRROR_HALF_BORDER:
    case CLAMP_MIRROR_BORDER:
        return mirrored < n ? mirrored : -1;
    default:
        return i >= 0 && i < n ? i : -1;
    }
}

static void border(const struct job *j, double out[4])
{
    double colour = j->s->border == 2 ? 1 : 0, alpha = j->s->border ? 1 : 0;
    out[0] = out[1] = out[2] = colour;
    out[3] = alpha;
}

static bool compare(unsigned func, double reference, double texel)
{
    switch (func) {
    case 1:
        return reference < texel;
    case 2:
        return reference == texel;
    case 3:
        return reference <= texel;
    case 4:
        return reference > texel;
    case 5:
        return reference != texel;
    case 6:
        return reference >= texel;
    case 7:
        return true;
    default:
        return false;
    }
}

static double channel_value(const struct format *f, uint32_t v)
{
    if (f->type == FORMAT_UINT)
        return v;
    if (f->type == FORMAT_SINT)
        return (int32_t)v;
    return as_float(v);
}

/* The channels of a texel as doubles; integers exactly. */
static void texel_value(struct job *j, const int64_t at[3], unsigned level,
                        double out[4])
{
    const struct format *f = j->r->format;
    uint32_t rgba[4];
    if (at[0] < 0 || at[1] < 0 || at[2] < 0) {
        border(j, out);
    } else {
        uint8_t element[16];
        struct texel t = {(uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2], level, 0};
        j->failed |= !image_fetch(j->w, j->u, j->r, j->lane, &t, element);
        struct format linear = *f;
        if (f->type == FORMAT_SRGB && j->s->skip_degamma)
            linear.type = FORMAT_UNORM;
        format_unpack(&linear, element, rgba);
        for (unsigned i = 0; i < 4; i++)
            out[i] = channel_value(f, rgba[i]);
        if (f->n < 4) /* missing alpha is one; dst_sel usually says so too */
            out[3] = 1;
    }
    if (j->u->img.flags & UI_COMPARE) {
        double reference = j->o->reference;
        if (f->type == FORMAT_UNORM)
            reference = reference > 0 ? reference < 1 ? reference : 1 : 0;
        out[0] = compare(j->s->compare, reference, out[0]);
        out[1] = out[2] = out[0];
    }
}

/* One axis: the one or two texels and the weight of the second. */
struct axis {
    int64_t i[2];
    double weight;
    unsigned n;
};

#define FRACTION 256.0

static struct axis find_axis(const struct sampler *s, double c, int offset,
                             uint32_t size, unsigned mode, bool linear)
{
    struct axis a = {.n = linear ? 2 : 1};
    double x = s->unnormalized ? c : c * size;
    x = x == x ? x : 0;
    x = x > 1e9 ? 1e9 : x < -1e9 ? -1e9 : x;
    x += offset;
    if (mode == CLAMP_HALF_BORDER)
        x = x < 0 ? 0 : x > size ? size : x;
    if (mode == CLAMP_MIRROR_HALF_BORDER)
        x = fabs(x) > size ? size : x;
    if (!linear) {
        double i = s->truncate ? floor(x) : floor(rint(x * FRACTION) / FRACTION);
        if (mode == CLAMP_HALF_BORDER || mode == CLAMP_MIRROR_HALF_BORDER)
            i = i < size ? i : size - 1.0;
        a.i[0] = address_mode((int64_t)i, size, mode);
        return a;
    }
    double fixed = rint((x - 0.5) * FRACTION) / FRACTION, base = floor(fixed);
    a.weight = fixed - base;
    a.i[0] = address_mode((int64_t)base, size, mode);
    a.i[1] = address_mode((int64_t)base + 1, size, mode);
    return a;
}

static void accumulate(const struct sampler *s, double acc[4], const double v[4],
                       double weight, bool first)
{
    for (unsigned i = 0; i < 4; i++) {
        if (s->mode == FILTER_BLEND)
            acc[i] += v[i] * weight;
        else if (first || (s->mode == FILTER_MIN ? v[i] < acc[i] : v[i] > acc[i]))
            acc[i] = v[i];
    }
}

/* The three axes of a level; the third is the depth, or the layer as it is. */
static void find_axes(const struct job *j, const double c[3], unsigned level,
                      bool linear, struct axis axis[3])
{
    const struct sampler *s = j->s;
    struct extent e = imgres_extent(j->r, level + j->r->base_level);
    const uint32_t size[3] = {e.x, e.y, e.z};
    unsigned n = dimensions(j->u);
    bool cube = j->u->img.dim == DIM_CUBE;
    for (unsigned i = 0; i < 3; i++) {
        bool along = i == 2 && s->z_filter ? s->z_filter == 2 : linear;
        axis[i] = (struct axis){.n = 1};
        if (i < n)
            axis[i] = find_axis(s, c[i], j->o->offset[i], size[i],
                                cube ? CLAMP_LAST : s->clamp[i], along);
    }
    if (has_layer(j->u))
        axis[2].i[0] = j->o->layer < e.z ? j->o->layer : e.z - 1;
}

static void sample_level(struct job *j, const double c[3], unsigned level, bool linear,
                         double out[4])
{
    struct axis a[3];
    bool first = true;
    linear &= !format_is_int(j->r->format);
    find_axes(j, c, level, linear, a);
    memset(out, 0, 4 * sizeof *out);
    for (unsigned k = 0; k < a[0].n * a[1].n * a[2].n && !j->failed; k++) {
        unsigned x = k % a[0].n, y = k / a[0].n % a[1].n, z = k / a[0].n / a[1].n;
        double weight = (x ? a[0].weight : 1 - a[0].weight) *
                        (y ? a[1].weight : 1 - a[1].weight) *
                        (z ? a[2].weight : 1 - a[2].weight);
        double v[4];
        int64_t at[3] = {a[0].i[x], a[1].i[y], a[2].i[z]};
        if (weight == 0)
            continue;
        texel_value(j, at, level, v);
        accumulate(j->s, out, v, weight, first);
        first = false;
    }
}

/* Levels by the mip filter: one, or two and the weight of the second. */
struct levels {
    unsigned level[2];
    double weight;
};

static struct levels find_levels(const struct imgres *r, const struct sampler *s,
                                 double lod)
{
    struct levels v = {0};
    double last = r->last_level - r->base_level;
    lod = lod < 0 ? 0 : lod > last ? last : lod;
    if (s->mip == MIP_POINT) {
        v.level[0] = v.level[1] = (unsigned)floor(lod + 0.5);
    } else if (s->mip == MIP_LINEAR) {
        double fixed = rint(lod * FRACTION) / FRACTION;
        v.level[0] = (unsigned)floor(fixed);
        v.weight = fixed - floor(fixed);
        v.level[1] = v.level[0] + (v.weight > 0);
    }
    return v;
}

static void sample_point(struct job *j, const double c[3], const struct lod *lod,
                         double out[4])
{
    const struct sampler *s = j->s;
    bool linear = (lod->clamped > 0 ? s->min : s->mag) & 1;
    struct levels levels = find_levels(j->r, s, lod->clamped);
    double second[4];
    sample_level(j, c, levels.level[0], linear, out);
    if (levels.weight == 0)
        return;
    sample_level(j, c, levels.level[1], linear, second);
    for (unsigned i = 0; i < 4; i++)
        if (s->mode == FILTER_BLEND)
            out[i] += (second[i] - out[i]) * levels.weight;
        else if (s->mode == FILTER_MIN ? second[i] < out[i] : second[i] > out[i])
            out[i] = second[i];
}

/* ---- results ------------------------------------------------------------------------
 */

static uint32_t channel(const struct job *j, double v)
{
    const struct format *f = j->r->format;
    bool d16 = j->u->img.flags & UI_D16;
    bool is_int = format_is_int(f) && !(j->u->img.flags & UI_COMPARE);
    float value = (float)v;
    uint32_t bits;
    if (is_int)
        bits = f->type == FORMAT_UINT ? (uint32_t)v : (uint32_t)(int32_t)v;
    else
        memcpy(&bits, &value, sizeof bits);
    if (!is_int && !(bits & 0x7f800000u)) /* samplers flush denormals (manual 10.4) */
        bits &= 0x80000000u;
    return d16 ? image_narrow16(bits, is_int) : bits;
}

static void finish(const struct job *j, const double v[4], uint32_t out[4])
{
    uint32_t rgba[4];
    for (unsigned i = 0; i < 4; i++)
        rgba[i] = channel(j, v[i]);
    image_swizzle(j->r, rgba, channel(j, 1), out);
}

static bool prepare(struct wave *w, const struct uop *u, struct sampler *s)
{
    *s = sampler_read(&w->sgpr[u->img.ssamp], u->img.flags & UI_UNNORM);
    if (s->border < 3)
        return true;
    wave_fault(w, u, EMU_FAULT_UNSUPPORTED,
               "the sampler's border colour is in a table");
    return false;
}

static bool sample_half(struct wave *w, const struct uop *u, const struct imgres *r)
{
    struct image_out out = {0};
    struct sampler s;
    if (!prepare(w, u, &s))
        return false;
    FOR_LANES(l, r->unbound ? 0 : wave_exec(w))
    {
        struct operands o;
        struct job j = {w, u, r, &s, l, &o, false};
        double sum[4] = {0}, v[4];
        read_operands(w, u, l, &o);
        struct lod lod = find_lod(w, u, r, &s, l, &o);
        for (unsigned k = 0; k < lod.samples; k++) {
            double at = (k + 0.5) / lod.samples - 0.5, c[3];
            for (unsigned i = 0; i < 3; i++)
                c[i] = o.c[i] + lod.major[i] * at;
            sample_point(&j, c, &lod, v);
            for (unsigned i = 0; i < 4; i++)
                sum[i] += v[i] / lod.samples;
        }
        if (j.failed)
            return false;
        finish(&j, sum, out.v[l]);
    }
    image_write(w, u, &out);
    return true;
}

const struct uop *x_image_sample(struct wave *w, const struct uop *u)
{
    return image_run(w, u, sample_half);
}

/* One channel of the 2x2 texels that a bilinear filter would use, counter-clockwise
 * from the lower left; or of 4x1 texels. */
static void gather_lane(struct job *j, unsigned level, uint32_t out[4])
{
    static const uint8_t corner[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    struct extent e = imgres_extent(j->r, level + j->r->base_level);
    unsigned pick = j->u->img.dmask ? (unsigned)__builtin_ctz(j->u->img.dmask) : 0;
    struct axis a[3];
    find_axes(j, j->o->c, level, true, a);
    for (unsigned i = 0; i < 4 && !j->failed; i++) {
        double v[4];
        uint32_t texel[4];
        int64_t at[3] = {a[0].i[corner[i][0]], a[1].i[corner[i][1]], a[2].i[0]};
        if (j->u->img.flags & UI_ROW) {
            struct axis row = find_axis(j->s, j->o->c[0], j->o->offset[0] + (int)i - 1,
                                        e.x, j->s->clamp[0], true);
            at[0] = row.i[0];
            at[1] = a[1].i[0];
        }
        texel_value(j, at, level, v);
        finish(j, v, texel);
        out[i] = texel[pick];
    }
}

static bool gather_half(struct wave *w, const struct uop *u, const struct imgres *r)
{
    struct image_out out = {0};
    struct uop all = *u; /* four results whatever DMASK */
    struct sampler s;
    if (!prepare(w, u, &s))
        return false;
    FOR_LANES(l, r->unbound ? 0 : wave_exec(w))
    {
        struct operands o;
        struct job j = {w, u, r, &s, l, &o, false};
        double lod = 0;
        read_operands(w, u, l, &o);
        if (u->img.flags & (UI_LOD | UI_BIAS | UI_CLAMP))
            lod = find_lod(w, u, r, &s, l, &o).clamped;
        gather_lane(&j, find_levels(r, &s, lod).level[0], out.v[l]);
        if (j.failed)
            return false;
    }
    all.img.dmask = 15;
    image_write(w, &all, &out);
    return true;
}

const struct uop *x_image_gather4(struct wave *w, const struct uop *u)
{
    return image_run(w, u, gather_half);
}

static bool get_lod_half(struct wave *w, const struct uop *u, const struct imgres *r)
{
    struct image_out out = {0};
    struct sampler s;
    if (!prepare(w, u, &s))
        return false;
    FOR_LANES(l, r->unbound ? 0 : wave_exec(w))
    {
        struct operands o;
        read_operands(w, u, l, &o);
        struct lod lod = find_lod(w, u, r, &s, l, &o);
        double last = r->last_level - r->base_level;
        double clamped = lod.clamped < 0 ? 0 : lod.clamped > last ? last : lod.clamped;
        float v[2] = {(float)clamped, (float)lod.raw};
        memcpy(out.v[l], v, sizeof v);
    }
    image_write(w, u, &out);
    return true;
}

const struct uop *x_image_get_lod(struct wave *w, const struct uop *u)
{
    return image_run(w, u, get_lod_half);
}
