/* image.c: image loads, stores, atomics and size queries, without samplers (manual
 * 10.1, 10.2, 10.4).
 *
 * Coordinates outside of the view read as zero and are not written; a texel inside the
 * view that is not mapped is a fault. All lanes are checked before any is written.
 * Knows no mnemonic.
 * SPDX-License-Identifier: MIT
 */
#include "image.h"

#include <string.h>
#include <xmmintrin.h>

#include "access.h"

#define HOST_DEFAULT 0x1f80u /* MXCSR: round to nearest, denormals kept, masked */

#define FOR_LANES(l, mask)                                                             \
    for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true);       \
         m_ &= m_ - 1)

enum image_dim {
    DIM_1D,
    DIM_2D,
    DIM_3D,
    DIM_CUBE,
    DIM_1D_ARRAY,
    DIM_2D_ARRAY,
    DIM_2D_MSAA,
    DIM_2D_MSAA_ARRAY,
};

static uint32_t *reg_row(struct wave *w, unsigned row)
{
    return w->vgpr[w->half] + (size_t)row * ROW_DWORDS;
}

const struct uop *image_run(struct wave *w, const struct uop *u, image_half_fn *f)
{
    struct imgres r = imgres_read(&w->sgpr[u->img.srsrc], u->img.flags & UI_SHORT);
    if (r.other_type) /* manual 9.6 */
        return uop_next(u);
    const char *problem = r.unbound ? NULL : imgres_problem(&r);
    if (problem)
        return wave_fault(w, u, EMU_FAULT_UNSUPPORTED, problem);
    unsigned mxcsr = _mm_getcsr();
    _mm_setcsr(HOST_DEFAULT);
    bool ok = f(w, u, &r);
    if (ok && w->wave64) {
        select_half(w, 1);
        ok = f(w, u, &r);
        select_half(w, 0);
    }
    _mm_setcsr(mxcsr);
    return ok ? uop_next(u) : NULL;
}

/* ---- registers ----------------------------------------------------------------------
 */

/* Integer component k of a lane's address: a dword, or half of one. */
static uint32_t coordinate(const struct wave *w, const struct uop *u, unsigned l,
                           unsigned k)
{
    if (!(u->img.flags & UI_A16))
        return image_address(w, u, l, k);
    return image_address(w, u, l, k / 2) >> (k % 2 ? 16 : 0) & 0xffffu;
}

static struct texel texel_of(const struct wave *w, const struct uop *u, unsigned l)
{
    unsigned k = 0, dim = u->img.dim;
    struct texel t = {.x = coordinate(w, u, l, k++)};
    if (dim != DIM_1D && dim != DIM_1D_ARRAY)
        t.y = coordinate(w, u, l, k++);
    if (dim != DIM_1D && dim != DIM_2D && dim != DIM_2D_MSAA)
        t.z = coordinate(w, u, l, k++);
    if (dim == DIM_2D_MSAA || dim == DIM_2D_MSAA_ARRAY)
        t.sample = coordinate(w, u, l, k++);
    if (u->img.flags & UI_MIP)
        t.level = coordinate(w, u, l, k);
    return t;
}

uint32_t image_narrow16(uint32_t value, bool is_int)
{
    return is_int ? value & 0xffffu : format_narrow_float(value, 10, true, false);
}

/* How many registers DMASK and D16 take. */
static unsigned data_rows(const struct uop *u)
{
    unsigned n = (unsigned)__builtin_popcount(u->img.dmask);
    n = n ? n : 1;
    return u->img.flags & UI_D16 ? (n + 1) / 2 : n;
}

static void write_lane(struct wave *w, const struct uop *u, unsigned l,
                       const uint32_t v[4])
{
    uint32_t *d = reg_row(w, u->img.vdata) + l;
    unsigned n = 0;
    for (unsigned c = 0; c < 4; c++) {
        if (!(u->img.dmask >> c & 1u))
            continue;
        if (!(u->img.flags & UI_D16))
            d[n * ROW_DWORDS] = v[c];
        else if (n % 2)
            d[n / 2 * ROW_DWORDS] = (d[n / 2 * ROW_DWORDS] & 0xffffu) | v[c] << 16;
        else
            d[n / 2 * ROW_DWORDS] =
                (d[n / 2 * ROW_DWORDS] & ~0xffffu) | (v[c] & 0xffffu);
        n++;
    }
    if (!u->img.dmask)
        d[0] = 0;
    if (u->img.flags & UI_STATUS)
        d[data_rows(u) * ROW_DWORDS] = 0;
}

void image_write(struct wave *w, const struct uop *u, const struct image_out *out)
{
    FOR_LANES(l, wave_exec(w))
    write_lane(w, u, l, out->v[l]);
}

void image_swizzle(const struct imgres *r, const uint32_t rgba[4], uint32_t one,
                   uint32_t out[4])
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned sel = r->dst_sel[i];
        out[i] = sel == 1 ? one : sel >= 4 ? rgba[sel - 4] : 0;
    }
}

/* ---- memory -------------------------------------------------------------------------
 */

/* Check one texel, whose address becomes the host's, and tell of it if somebody
 * watches. */
static bool texel_allowed(struct wave *w, const struct uop *u, unsigned l,
                          uint64_t *texel, unsigned bytes, unsigned perm)
{
    enum emu_fault_kind kind;
    unsigned lane = l + 32u * w->half;
    bool write = perm & EMU_MEM_WRITE;
    uint64_t at = *texel;
    if (!lane_allowed(w, texel, bytes, perm, &kind)) {
        wave_fault_at(w, u, kind, (int)lane, at, bytes, write);
        return false;
    }
    wave_note(w, lane, EMU_SPACE_GLOBAL, at, bytes, perm & EMU_MEM_READ, write);
    return true;
}

bool image_fetch(struct wave *w, const struct uop *u, const struct imgres *r,
                 unsigned lane, const struct texel *t, uint8_t element[16])
{
    memset(element, 0, 16);
    if (r->unbound || !imgres_inside(r, t))
        return true;
    uint64_t at = imgres_address(r, t);
    if (!texel_allowed(w, u, lane, &at, r->format->bytes, EMU_MEM_READ))
        return false;
    memcpy(element, host_pointer(at), r->format->bytes);
    return true;
}

/* ---- loads --------------------------------------------------------------------------
 */

static void load_converted(const struct uop *u, const struct imgres *r,
                           const uint8_t *element, uint32_t out[4])
{
    uint32_t rgba[4] = {0}, one = format_one(r->format);
    if (u->img.flags & UI_D16) {
        uint16_t half[4];
        format_unpack16(r->format, element, half);
        for (unsigned i = 0; i < 4; i++)
            rgba[i] = half[i];
        one = format_is_int(r->format) ? 1 : 0x3c00u;
    } else {
        format_unpack(r->format, element, rgba);
    }
    image_swizzle(r, rgba, one, out);
}

/* The element's bits; elements smaller than a dword are extended. */
static void load_raw(const struct uop *u, const struct imgres *r,
                     const uint8_t *element, uint32_t out[4])
{
    memcpy(out, element, 16);
    if (u->img.flags & UI_SIGNED && r->format->bytes == 1)
        out[0] = (uint32_t)(int8_t)out[0];
    if (u->img.flags & UI_SIGNED && r->format->bytes == 2)
        out[0] = (uint32_t)(int16_t)out[0];
}

static bool load_half(struct wave *w, const struct uop *u, const struct imgres *r)
{
    struct image_out out;
    FOR_LANES(l, wave_exec(w))
    {
        uint8_t element[16];
        struct texel t = texel_of(w, u, l);
        if (!image_fetch(w, u, r, l, &t, element))
            return false;
        if (r->unbound)
            memset(out.v[l], 0, sizeof out.v[l]);
        else if (u->img.flags & UI_RAW)
            load_raw(u, r, element, out.v[l]);
        else
            load_converted(u, r, element, out.v[l]);
    }
    image_write(w, u, &out);
    return true;
}

const struct uop *x_image_load(struct wave *w, const struct uop *u)
{
    return image_run(w, u, load_half);
}

/* Four samples from the one that the address names, of the first channel of DMASK. */
static bool msaa_half(struct wave *w, const struct uop *u, const struct imgres *r)
{
    struct image_out out = {0};
    unsigned channel = u->img.dmask ? (unsigned)__builtin_ctz(u->img.dmask) : 0;
    FOR_LANES(l, wave_exec(w))
    {
        struct texel t = texel_of(w, u, l);
        for (unsigned i = 0; i < 4 && !r->unbound; i++, t.sample++) {
            uint8_t element[16];
            uint32_t v[4];
            if (!image_fetch(w, u, r, l, &t, element))
                return false;
            load_converted(u, r, element, v);
            out.v[l][i] = v[channel];
        }
    }
    struct uop all = *u; /* DMASK has chosen the channel: every sample is written */
    all.img.dmask = 15;
    image_write(w, &all, &out);
    return true;
}

const struct uop *x_image_msaa_load(struct wave *w, const struct uop *u)
{
    return image_run(w, u, msaa_half);
}

/* ---- stores -------------------------------------------------------------------------
 */

/* Component n of a lane's data. */
static uint32_t data_component(struct wave *w, const struct uop *u,
                               const struct format *f, unsigned l, unsigned n)
{
    const uint32_t *s = reg_row(w, u->img.vdata) + l;
    if (!(u->img.flags & UI_D16))
        return s[n * ROW_DWORDS];
    return format_widen16(f, (uint16_t)(s[n / 2 * ROW_DWORDS] >> (n % 2 ? 16 : 0)));
}

/* What a lane writes: the components of DMASK, zero for the others, sent to the
 * channels that dst_sel names. */
static void store_element(struct wave *w, const struct uop *u, const struct imgres *r,
                          unsigned l, uint8_t element[16])
{
    uint32_t c[4] = {0}, rgba[4] = {0};
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++)
        if (u->img.dmask >> i & 1u)
            c[i] = data_component(w, u, r->format, l, n++);
    if (u->img.flags & UI_RAW) {
        memcpy(element, c, 16);
        return;
    }
    for (unsigned i = 4; i-- > 0;)
        if (r->dst_sel[i] >= 4)
            rgba[r->dst_sel[i] - 4] = c[i];
    memset(element, 0, 16);
    format_pack(r->format, rgba, element);
}

/* The host's addresses of the texels that active lanes write; 0: dropped. False after a
 * fault. */
static bool write_addresses(struct wave *w, const struct uop *u, const struct imgres *r,
                            unsigned bytes, unsigned perm, uint64_t at[32])
{
    memset(at, 0, 32 * sizeof *at);
    if (r->unbound)
        return true;
    FOR_LANES(l, wave_exec(w))
    {
        struct texel t = texel_of(w, u, l);
        if (!imgres_inside(r, &t))
            continue;
        at[l] = imgres_address(r, &t);
        if (!texel_allowed(w, u, l, &at[l], bytes, perm))
            return false;
    }
    return true;
}

static bool store_half(struct wave *w, const struct uop *u, const struct imgres *r)
{
    uint64_t at[32];
    if (!write_addresses(w, u, r, r->format->bytes, EMU_MEM_WRITE, at))
        return false;
    FOR_LANES(l, wave_exec(w))
    {
        uint8_t element[16];
        if (!at[l])
            continue;
        store_element(w, u, r, l, element);
        memcpy(host_pointer(at[l]), element, r->format->bytes);
    }
    return true;
}

const struct uop *x_image_store(struct wave *w, const struct uop *u)
{
    return image_run(w, u, store_half);
}

/* ---- atomics ------------------------------------------------------------------------
 */

static uint64_t data_value(struct wave *w, unsigned row, unsigned l, unsigned bytes)
{
    const uint32_t *r = reg_row(w, row);
    return bytes == 8 ? r[l] | (uint64_t)r[l + ROW_DWORDS] << 32 : r[l];
}

static bool atomic_half(struct wave *w, const struct uop *u, const struct imgres *r)
{
    unsigned bytes = u->img.bytes;
    uint64_t at[32];
    if (!write_addresses(w, u, r, bytes, EMU_MEM_READ | EMU_MEM_WRITE, at))
        return false;
    FOR_LANES(l, wave_exec(w))
    {
        uint64_t old = 0, data = data_value(w, u->img.vdata, l, bytes);
        uint64_t cmp = data_value(w, u->img.vdata + bytes / 4u, l, bytes);
        if (at[l])
            old = host_atomic(u->op.atomic, bytes, host_pointer(at[l]), data, cmp,
                              &w->mode);
        if (!(u->img.flags & UI_RETURNS))
            continue;
        uint32_t *d = reg_row(w, u->img.vdata) + l;
        d[0] = (uint32_t)old;
        if (bytes == 8)
            d[ROW_DWORDS] = (uint32_t)(old >> 32);
    }
    return true;
}

const struct uop *x_image_atomic(struct wave *w, const struct uop *u)
{
    struct imgres r = imgres_read(&w->sgpr[u->img.srsrc], u->img.flags & UI_SHORT);
    if (!r.unbound && !r.other_type && r.format->bytes != u->img.bytes)
        return wave_fault(w, u, EMU_FAULT_ILLEGAL,
                          "DMASK and the size of the image's elements differ");
    return image_run(w, u, atomic_half);
}

/* ---- sizes --------------------------------------------------------------------------
 */

/* {width, height, depth or slices, levels} of a level of the view. */
static bool resinfo_half(struct wave *w, const struct uop *u, const struct imgres *r)
{
    struct image_out out = {0};
    uint32_t levels = r->last_level - r->base_level + 1u;
    FOR_LANES(l, wave_exec(w))
    {
        uint32_t level = coordinate(w, u, l, 0);
        struct extent e = {0};
        if (r->unbound)
            continue;
        if (level < levels)
            e = imgres_extent(r, level + r->base_level);
        uint32_t v[4] = {e.x, e.y, e.z, levels};
        memcpy(out.v[l], v, sizeof v);
    }
    image_write(w, u, &out);
    return true;
}

const struct uop *x_image_resinfo(struct wave *w, const struct uop *u)
{
    return image_run(w, u, resinfo_half);
}
