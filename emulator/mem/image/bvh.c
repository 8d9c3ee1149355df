/* bvh.c: ray intersection with nodes of a bounding volume hierarchy (manual 10.9).
 *
 * The manual gives operands, descriptor and results; what a node looks like is known
 * from drivers that build them: 64-byte units, the low three bits of a node pointer are
 * the type, boxes are four child pointers with minima and maxima (f16 or f32),
 * triangles are vertices from byte 0 and an id word at byte 60. The arithmetic here is
 * a sheared watertight test in f32; silicon may differ in the last bits. Features
 * without a known rule (other node types, culling by opacity) are refused.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>
#include <xmmintrin.h>

#include "access.h"
#include "image.h"

#define FOR_LANES(l, mask)                                                             \
    for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true);       \
         m_ &= m_ - 1)

#define HOST_DEFAULT 0x1f80u
#define INVALID_NODE 0xffffffffu
#define NODE_BYTES   64u

enum node_type {
    NODE_TRIANGLE_0,
    NODE_TRIANGLE_1,
    NODE_TRIANGLE_2,
    NODE_TRIANGLE_3,
    NODE_BOX16,
    NODE_BOX32,
};
enum box_sort { SORT_CLOSEST, SORT_LARGEST, SORT_MIDPOINT };

/* Flags in bits 63:54 of a node pointer that can be obeyed or have no effect here. */
#define FLAG_OPAQUE_BITS 0x003u
#define FLAG_CULL_BACK   0x010u
#define FLAG_CULL_FRONT  0x020u
#define FLAG_SKIP        0x100u /* all triangles */
#define FLAGS_KNOWN      (FLAG_OPAQUE_BITS | FLAG_CULL_BACK | FLAG_CULL_FRONT | FLAG_SKIP)

struct bvh {
    uint64_t base, nodes;
    unsigned grow; /* boxes, in units of the last place */
    unsigned sort_mode;
    bool sort, pointer_flags, barycentrics;
};

static struct bvh bvh_read(const uint32_t *s)
{
    return (struct bvh){
        .base = (s[0] | (uint64_t)(s[1] & 0xffu) << 32) << 8,
        .sort_mode = s[1] >> 21 & 3,
        .grow = s[1] >> 23 & 0xffu,
        .sort = s[1] >> 31,
        .nodes = (s[2] | (uint64_t)(s[3] & 0x3ffu) << 32) + 1,
        .pointer_flags = s[3] >> 23 & 1,
        .barycentrics = s[3] >> 24 & 1,
    };
}

struct ray {
    uint64_t node;
    float extent, origin[3], dir[3], inv[3];
};

static float as_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float half(uint32_t h)
{
    static const struct format f16 = {FORMAT_FLOAT, 1, 2, {16}};
    uint8_t element[2] = {(uint8_t)h, (uint8_t)(h >> 8)};
    uint32_t rgba[4];
    format_unpack(&f16, element, rgba);
    return as_float(rgba[0]);
}

/* Dword i of address group g: node pointer, extent, origin, direction, inverse. The
 * groups follow each other, or with NSA each has a register of its own. */
static uint32_t operand(const struct wave *w, const struct uop *u, unsigned l,
                        unsigned g, unsigned i)
{
    unsigned pointer = u->img.flags & UI_64 ? 2 : 1, row = u->img.addr[0] + i;
    if (u->img.n_addr > 1)
        row = u->img.addr[g] + i;
    else if (g)
        row += pointer + (g > 1 ? 1 + 3 * (g - 2) : 0);
    return w->vgpr[w->half][(size_t)row * ROW_DWORDS + l];
}

static struct ray read_ray(const struct wave *w, const struct uop *u, unsigned l)
{
    struct ray r = {.node = operand(w, u, l, 0, 0)};
    if (u->img.flags & UI_64)
        r.node |= (uint64_t)operand(w, u, l, 0, 1) << 32;
    r.extent = as_float(operand(w, u, l, 1, 0));
    for (unsigned i = 0; i < 3; i++) {
        uint32_t dir = operand(w, u, l, 3, i);
        r.origin[i] = as_float(operand(w, u, l, 2, i));
        if (u->img.flags & UI_A16) {
            r.dir[i] = half(dir & 0xffffu);
            r.inv[i] = half(dir >> 16);
        } else {
            r.dir[i] = as_float(dir);
            r.inv[i] = as_float(operand(w, u, l, 4, i));
        }
    }
    return r;
}

/* ---- boxes --------------------------------------------------------------------------
 */

/* Where the ray is inside of [lo, hi]; false if nowhere before its extent. */
static bool hit_box(const struct bvh *b, const struct ray *r, const float *lo,
                    const float *hi, float *enter, float *leave)
{
    float t0 = 0.0f, t1 = r->extent;
    if (lo[0] != lo[0]) /* an inactive box */
        return false;
    *enter = -INFINITY;
    *leave = INFINITY;
    for (unsigned i = 0; i < 3; i++) {
        float inv = fminf(fmaxf(r->inv[i], -0x1.fffffep127f), 0x1.fffffep127f);
        float a = (lo[i] - r->origin[i]) * inv, c = (hi[i] - r->origin[i]) * inv;
        *enter = fmaxf(*enter, fminf(a, c));
        *leave = fminf(*leave, fmaxf(a, c));
    }
    *leave *= 1.0f + (float)b->grow * 0x1p-23f;
    return *leave >= fmaxf(t0, *enter) && *enter < t1;
}

/* Smaller keys first. */
static float sort_key(const struct bvh *b, float enter, float leave)
{
    return b->sort_mode == SORT_LARGEST    ? enter - leave
           : b->sort_mode == SORT_MIDPOINT ? enter + leave
                                           : enter;
}

static void test_boxes(const struct bvh *b, const struct ray *r, const uint32_t *node,
                       bool wide, uint32_t out[4])
{
    float key[4];
    for (unsigned c = 0; c < 4; c++) {
        float bound[6], enter, leave;
        for (unsigned i = 0; i < 6; i++) {
            unsigned at = 6 * c + i;
            bound[i] = wide ? as_float(node[4 + at])
                            : half(node[4 + at / 2] >> (at % 2 ? 16 : 0) & 0xffffu);
        }
        out[c] = INVALID_NODE;
        key[c] = INFINITY;
        if (node[c] != INVALID_NODE &&
            hit_box(b, r, bound, bound + 3, &enter, &leave)) {
            out[c] = node[c];
            key[c] = sort_key(b, enter, leave);
        }
    }
    for (unsigned i = 1; i < 4 && b->sort; i++)
        for (unsigned j = i;
             j > 0 && (key[j] < key[j - 1] ||
                       (out[j] != INVALID_NODE && out[j - 1] == INVALID_NODE));
             j--) {
            float k = key[j];
            uint32_t o = out[j];
            key[j] = key[j - 1], out[j] = out[j - 1];
            key[j - 1] = k, out[j - 1] = o;
        }
}

/* ---- triangles ----------------------------------------------------------------------
 */

struct hit {
    float t, denominator, weight[3];
    bool hit;
};

/* The ray becomes the z axis; edge functions in the plane decide (Woop, Benthin, Wald:
 * Watertight Ray/Triangle Intersection). */
static struct hit hit_triangle(const struct ray *r, const float v[3][3])
{
    struct hit h = {.t = INFINITY, .denominator = 1.0f};
    unsigned kz = fabsf(r->dir[0]) > fabsf(r->dir[1]) ? 0 : 1;
    kz = fabsf(r->dir[2]) > fabsf(r->dir[kz]) ? 2 : kz;
    unsigned kx = (kz + 1) % 3, ky = (kz + 2) % 3;
    if (r->dir[kz] < 0) { /* keep the winding */
        unsigned k = kx;
        kx = ky;
        ky = k;
    }
    float sz = 1.0f / r->dir[kz], sx = r->dir[kx] * sz, sy = r->dir[ky] * sz;
    float p[3][3];
    for (unsigned i = 0; i < 3; i++) {
        float z = v[i][kz] - r->origin[kz];
        p[i][0] = v[i][kx] - r->origin[kx] - sx * z;
        p[i][1] = v[i][ky] - r->origin[ky] - sy * z;
        p[i][2] = z * sz;
    }
    float det = 0, t = 0;
    bool negative = false, positive = false;
    for (unsigned i = 0; i < 3; i++) {
        const float *a = p[(i + 1) % 3], *b = p[(i + 2) % 3];
        h.weight[i] = b[0] * a[1] - b[1] * a[0];
        negative |= h.weight[i] < 0;
        positive |= h.weight[i] > 0;
        det += h.weight[i];
        t += h.weight[i] * p[i][2];
    }
    if ((negative && positive) || det == 0 || (det < 0 ? t > 0 : t < 0))
        return h;
    h.t = t;
    h.denominator = det;
    h.hit = true;
    return h;
}

static void test_triangle(const struct bvh *b, const struct ray *r,
                          const uint32_t *node, unsigned type, unsigned flags,
                          uint32_t out[4])
{
    static const uint8_t order[2][3] = {{0, 1, 2}, {1, 3, 2}};
    float v[3][3];
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 3; k++)
            v[i][k] = as_float(node[3 * order[type][i] + k]);
    struct hit h = hit_triangle(r, v);
    bool front = h.denominator > 0;
    if ((flags & FLAG_SKIP) || (flags & (front ? FLAG_CULL_FRONT : FLAG_CULL_BACK)))
        h = (struct hit){.t = INFINITY, .denominator = 1.0f};
    h.hit &= h.t / h.denominator < r->extent;
    out[0] = bits_of(h.t);
    out[1] = bits_of(h.denominator);
    if (b->barycentrics) {
        unsigned id = node[15] >> (8 * type);
        out[2] = bits_of(h.weight[(id & 3) % 3]);
        out[3] = bits_of(h.weight[(id >> 2 & 3) % 3]);
    } else {
        out[2] = node[15];
        out[3] = h.hit;
    }
}

/* ---- the instruction ----------------------------------------------------------------
 */

static bool refuse(struct wave *w, const struct uop *u, const char *why)
{
    wave_fault(w, u, EMU_FAULT_UNSUPPORTED, why);
    return false;
}

static bool intersect(struct wave *w, const struct uop *u, const struct bvh *b,
                      unsigned l, uint32_t out[4])
{
    struct ray r = read_ray(w, u, l);
    unsigned type = r.node & 7, flags = b->pointer_flags ? (unsigned)(r.node >> 54) : 0;
    uint64_t index = (r.node & ~(UINT64_C(0x3ff) << 54)) >> 3;
    uint32_t node[32];
    unsigned bytes = type == NODE_BOX32 ? 2 * NODE_BYTES : NODE_BYTES;
    for (unsigned i = 0; i < 4; i++)
        out[i] = INVALID_NODE;
    if (!(u->img.flags & UI_64))
        index = (uint32_t)r.node >> 3;
    if (index >= b->nodes)
        return true; /* beyond the hierarchy: nothing is hit */
    if (type != NODE_TRIANGLE_0 && type != NODE_TRIANGLE_1 && type != NODE_BOX16 &&
        type != NODE_BOX32)
        return refuse(w, u, "a BVH node type without a model");
    if (flags & ~FLAGS_KNOWN)
        return refuse(w, u, "BVH pointer flags without a model");
    uint64_t at = b->base + index * NODE_BYTES, host = at;
    enum emu_fault_kind kind;
    unsigned lane = l + 32u * w->half;
    if (!lane_allowed(w, &host, bytes, EMU_MEM_READ, &kind)) {
        wave_fault_at(w, u, kind, (int)lane, at, bytes, false);
        return false;
    }
    wave_note(w, lane, EMU_SPACE_GLOBAL, at, bytes, true, false);
    memcpy(node, host_pointer(host), bytes);
    if (type >= NODE_BOX16)
        test_boxes(b, &r, node, type == NODE_BOX32, out);
    else
        test_triangle(b, &r, node, type, flags, out);
    return true;
}

static bool bvh_half(struct wave *w, const struct uop *u, const struct bvh *b)
{
    struct image_out out;
    FOR_LANES(l, wave_exec(w))
    if (!intersect(w, u, b, l, out.v[l]))
        return false;
    image_write(w, u, &out);
    return true;
}

const struct uop *x_image_bvh(struct wave *w, const struct uop *u)
{
    struct bvh b = bvh_read(&w->sgpr[u->img.srsrc]);
    unsigned mxcsr = _mm_getcsr();
    _mm_setcsr(HOST_DEFAULT);
    bool ok = bvh_half(w, u, &b);
    if (ok && w->wave64) {
        select_half(w, 1);
        ok = bvh_half(w, u, &b);
        select_half(w, 0);
    }
    _mm_setcsr(mxcsr);
    return ok ? uop_next(u) : NULL;
}
