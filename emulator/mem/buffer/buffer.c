/* buffer.c: MUBUF, MTBUF and scalar buffer loads (manual chapters 8 and 9).
 *
 * Lane by lane: locate the element, check it against the resource, check the memory
 * behind it, and only when all lanes have passed move the data. What is outside of the
 * resource reads as zero and is not written; what is inside it but not mapped is a
 * fault. Knows no mnemonic.
 * SPDX-License-Identifier: MIT
 */
#include "handlers.h"

#include <string.h>
#include <xmmintrin.h>

#include "access.h"
#include "bufres.h"
#include "formats.h"
#include "scalar.h"

#define FOR_LANES(l, mask)                                                             \
    for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true);       \
         m_ &= m_ - 1)

#define MAX_PARTS 4u

/* Where the parts of each lane's element are: dwords, or the one part of a smaller
 * element or an atomic. */
struct plan {
    struct bufres res;
    uint32_t soffset;
    unsigned bytes, parts;
    bool whole;     /* in range as a whole, or not at all */
    uint8_t in[32]; /* bit per part in range */
    uint64_t at[32][MAX_PARTS];
};

static uint32_t *reg_row(struct wave *w, unsigned row)
{
    return w->vgpr[w->half] + (size_t)row * ROW_DWORDS;
}

static unsigned part_bytes(const struct plan *p)
{
    return p->parts == 1 ? p->bytes : 4;
}

static const struct uop *lane_fault(struct wave *w, const struct uop *u,
                                    enum emu_fault_kind kind, unsigned l, uint64_t at,
                                    unsigned bytes, bool write)
{
    return wave_fault_at(w, u, kind, (int)(l + 32u * w->half), at, bytes, write);
}

static void plan_lane(struct wave *w, const struct uop *u, struct plan *p, unsigned l)
{
    const struct ubuf *b = &u->buf;
    const uint32_t *va = reg_row(w, b->vaddr);
    uint64_t index = b->flags & UB_IDXEN ? va[l] : 0;
    uint64_t offset = (uint32_t)u->imm;
    if (b->flags & UB_OFFEN)
        offset += va[l + (b->flags & UB_IDXEN ? ROW_DWORDS : 0)];
    if (p->res.add_tid)
        index += l + 32u * w->half;
    struct bufaddr a = bufres_locate(&p->res, index, offset, p->soffset);
    unsigned size = part_bytes(p);
    bool all = p->whole && bufres_in_range(&p->res, &a, 0, p->bytes);
    p->in[l] = 0;
    for (unsigned k = 0; k < p->parts; k++) {
        bool in = p->whole ? all : bufres_in_range(&p->res, &a, 4 * k, size);
        p->in[l] |= (uint8_t)(in << k);
        p->at[l][k] = bufres_address(&p->res, &a, 4 * k);
    }
}

/* Locate and check all active lanes of a half: addresses become the host's; false after
 * a fault. */
static bool plan_half(struct wave *w, const struct uop *u, struct plan *p,
                      unsigned perm, unsigned align)
{
    bool write = perm & EMU_MEM_WRITE;
    unsigned size = part_bytes(p);
    memset(p->in, 0, sizeof p->in);
    if (bufres_unbound(&p->res))
        return true;
    FOR_LANES(l, wave_exec(w))
    {
        plan_lane(w, u, p, l);
        for (unsigned k = 0; k < p->parts; k++) {
            enum emu_fault_kind kind = EMU_FAULT_MISALIGNED;
            if (!((unsigned)p->in[l] >> k & 1u))
                continue;
            uint64_t at = p->at[l][k];
            if (at % align || !lane_allowed(w, &p->at[l][k], size, perm, &kind)) {
                lane_fault(w, u, kind, l, at, size, write);
                return false;
            }
            wave_note(w, l + 32u * w->half, EMU_SPACE_GLOBAL, at, size,
                      perm & EMU_MEM_READ, write);
        }
    }
    return true;
}

static uint32_t get(const uint8_t *at, unsigned bytes)
{
    uint32_t v = 0;
    memcpy(&v, at, bytes);
    return v;
}

static void put(uint8_t *at, uint32_t v, unsigned bytes)
{
    if (bytes == 4)
        memcpy(at, &v, 4);
    else if (bytes == 2)
        memcpy(at, &v, 2);
    else
        *at = (uint8_t)v;
}

static uint32_t read_part(const struct plan *p, unsigned l, unsigned k)
{
    uint32_t v = 0;
    if ((unsigned)p->in[l] >> k & 1u)
        memcpy(&v, host_pointer(p->at[l][k]), part_bytes(p));
    return v;
}

static void write_part(const struct plan *p, unsigned l, unsigned k, uint32_t v)
{
    if ((unsigned)p->in[l] >> k & 1u)
        memcpy(host_pointer(p->at[l][k]), &v, part_bytes(p));
}

/* The dword that TFE adds behind the data: nothing failed. */
static void write_status(struct wave *w, const struct uop *u, unsigned rows)
{
    if (!(u->buf.flags & UB_TFE))
        return;
    uint32_t *status = reg_row(w, u->buf.vdata + rows);
    FOR_LANES(l, wave_exec(w))
    status[l] = 0;
}

typedef bool half_fn(struct wave *w, const struct uop *u, struct plan *p);

/* Run a function on each half of the wave. */
static const struct uop *run_halves(struct wave *w, const struct uop *u, half_fn *f,
                                    struct plan *p)
{
    p->res = bufres_read(&w->sgpr[u->buf.srsrc]);
    p->soffset = (uint32_t)scalar_value(w, &u->buf.soffset);
    if (p->res.other_type)
        return uop_next(u);
    bool ok = f(w, u, p);
    if (ok && w->wave64) {
        select_half(w, 1);
        ok = f(w, u, p);
        select_half(w, 0);
    }
    return ok ? uop_next(u) : NULL;
}

/* ---- untyped ------------------------------------------------------------------------
 */

/* Most buffers are linear, all active lanes in range and in one region: the host's
 * address of offset 0 of a lane, or NULL. */
static uint8_t *plain_row(struct wave *w, const struct uop *u, const struct plan *p,
                          unsigned perm)
{
    const struct bufres *r = &p->res;
    const uint32_t *va = reg_row(w, u->buf.vaddr);
    uint64_t start = (uint64_t)p->soffset + (uint32_t)u->imm;
    uint32_t least = UINT32_MAX, most = 0;
    if ((u->buf.flags & (UB_OFFEN | UB_IDXEN)) != UB_OFFEN || r->element ||
        r->add_tid || r->oob != OOB_RAW || bufres_unbound(r) || w->observation)
        return NULL;
    FOR_LANES(l, wave_exec(w))
    {
        least = va[l] < least ? va[l] : least;
        most = va[l] > most ? va[l] : most;
    }
    if (least > most || start + most + p->bytes > r->records)
        return NULL;
    const struct mem_window *win =
        window_find(w, r->base + start + least, r->base + start + most, p->bytes,
                    mem_generation(w));
    return win && win->perm & perm ? host_pointer(r->base + start + win->delta) : NULL;
}

static bool load_half(struct wave *w, const struct uop *u, struct plan *p)
{
    uint8_t *row = plain_row(w, u, p, EMU_MEM_READ);
    if (!row && !plan_half(w, u, p, EMU_MEM_READ, 1))
        return false;
    uint32_t *d = reg_row(w, u->buf.vdata);
    FOR_LANES(l, wave_exec(w))
    {
        const uint8_t *at = row ? row + reg_row(w, u->buf.vaddr)[l] : NULL;
        for (unsigned k = 0; k < p->parts; k++) {
            uint32_t v = at ? get(at + 4ul * k, part_bytes(p)) : read_part(p, l, k);
            uint32_t *r = &d[k * ROW_DWORDS + l];
            *r = u->buf.flags & UB_WIDE ? v : u->op.mem(v, *r);
        }
    }
    write_status(w, u, p->parts);
    return true;
}

static bool store_half(struct wave *w, const struct uop *u, struct plan *p)
{
    uint8_t *row = plain_row(w, u, p, EMU_MEM_WRITE);
    if (!row && !plan_half(w, u, p, EMU_MEM_WRITE, 1))
        return false;
    const uint32_t *s = reg_row(w, u->buf.vdata);
    FOR_LANES(l, wave_exec(w))
    {
        uint8_t *at = row ? row + reg_row(w, u->buf.vaddr)[l] : NULL;
        for (unsigned k = 0; k < p->parts; k++) {
            uint32_t v = s[k * ROW_DWORDS + l];
            v = u->buf.flags & UB_WIDE ? v : u->op.mem(v, 0);
            if (at)
                put(at + 4ul * k, v, part_bytes(p));
            else
                write_part(p, l, k, v);
        }
    }
    return true;
}

static void untyped_plan(const struct uop *u, struct plan *p)
{
    p->bytes = u->buf.bytes;
    p->parts = (p->bytes + 3) / 4;
    p->whole = false;
}

const struct uop *x_buffer_load(struct wave *w, const struct uop *u)
{
    struct plan p;
    untyped_plan(u, &p);
    return run_halves(w, u, load_half, &p);
}

const struct uop *x_buffer_store(struct wave *w, const struct uop *u)
{
    struct plan p;
    untyped_plan(u, &p);
    return run_halves(w, u, store_half, &p);
}

/* ---- atomics ------------------------------------------------------------------------
 */

static uint64_t reg_value(struct wave *w, unsigned row, unsigned l, unsigned bytes)
{
    const uint32_t *r = reg_row(w, row);
    return bytes == 8 ? r[l] | (uint64_t)r[l + ROW_DWORDS] << 32 : r[l];
}

static bool atomic_half(struct wave *w, const struct uop *u, struct plan *p)
{
    unsigned bytes = p->bytes, mxcsr = _mm_getcsr();
    if (!plan_half(w, u, p, EMU_MEM_READ | EMU_MEM_WRITE, bytes))
        return false;
    if (u->omod)
        _mm_setcsr(atomic_mxcsr(w, false));
    FOR_LANES(l, wave_exec(w))
    {
        uint64_t data = reg_value(w, u->buf.vdata, l, bytes), old = 0;
        uint64_t cmp = reg_value(w, u->buf.vdata + bytes / 4, l, bytes);
        if (p->in[l])
            old = host_atomic(u->op.atomic, bytes, host_pointer(p->at[l][0]), data, cmp,
                              &w->mode);
        if (!(u->buf.flags & UB_RETURNS))
            continue;
        uint32_t *d = reg_row(w, u->buf.vdata);
        d[l] = (uint32_t)old;
        if (bytes == 8)
            d[l + ROW_DWORDS] = (uint32_t)(old >> 32);
    }
    _mm_setcsr(mxcsr);
    return true;
}

const struct uop *x_buffer_atomic(struct wave *w, const struct uop *u)
{
    struct plan p = {.bytes = u->buf.bytes, .parts = 1, .whole = true};
    return run_halves(w, u, atomic_half, &p);
}

/* ---- with format conversion ---------------------------------------------------------
 */

#define HOST_DEFAULT 0x1f80u /* MXCSR: round to nearest, denormals kept, masked */

static const struct format *format_of(const struct uop *u, const struct bufres *r)
{
    return format_find(u->buf.flags & UB_TYPED ? u->buf.format : r->format);
}

/* What channel selector sel picks. MTBUF has none: missing components are zero. */
static uint32_t select_channel(const struct format *f, const uint32_t rgba[4],
                               unsigned sel, uint32_t one)
{
    if (sel == 1)
        return one;
    return sel >= 4 && sel - 4u < f->n ? rgba[sel - 4u] : 0;
}

static void read_element(const struct plan *p, unsigned l, uint8_t element[16])
{
    for (unsigned k = 0; k < p->parts; k++) {
        uint32_t v = read_part(p, l, k);
        memcpy(element + 4 * k, &v, sizeof v);
    }
}

/* The components of lane l as the registers want them, 16 or 32 bits. */
static void load_channels(const struct uop *u, const struct plan *p, unsigned l,
                          uint32_t out[4])
{
    static const uint8_t identity[4] = {4, 5, 6, 7};
    const struct format *f = format_of(u, &p->res);
    const uint8_t *sel = u->buf.flags & UB_TYPED ? identity : p->res.dst_sel;
    bool d16 = u->buf.flags & (UB_D16 | UB_HI);
    uint8_t element[16] = {0};
    uint32_t rgba[4] = {0};
    if (p->in[l]) {
        read_element(p, l, element);
        if (d16) {
            uint16_t half[4];
            format_unpack16(f, element, half);
            for (unsigned i = 0; i < 4; i++)
                rgba[i] = half[i];
        } else {
            format_unpack(f, element, rgba);
        }
    }
    uint32_t one = d16 && !format_is_int(f) ? 0x3c00u : format_one(f);
    for (unsigned i = 0; i < 4; i++)
        out[i] = select_channel(f, rgba, sel[i], one);
}

static bool load_format_half(struct wave *w, const struct uop *u, struct plan *p)
{
    if (!plan_half(w, u, p, EMU_MEM_READ, p->bytes < 4 ? p->bytes : 4))
        return false;
    unsigned n = u->buf.comps, flags = u->buf.flags;
    uint32_t *d = reg_row(w, u->buf.vdata);
    FOR_LANES(l, wave_exec(w))
    {
        uint32_t c[4];
        load_channels(u, p, l, c);
        if (flags & UB_HI)
            d[l] = (d[l] & 0xffffu) | c[0] << 16;
        else if (flags & UB_D16)
            for (unsigned i = 0; i < n; i += 2) {
                uint32_t *r = &d[i / 2 * ROW_DWORDS + l];
                *r = c[i] | (i + 1 < n ? c[i + 1] << 16 : *r & 0xffff0000u);
            }
        else
            for (unsigned i = 0; i < n; i++)
                d[i * ROW_DWORDS + l] = c[i];
    }
    write_status(w, u, flags & UB_D16 ? (n + 1) / 2 : n);
    return true;
}

/* Register components of lane l as canonical values. */
static void store_channels(struct wave *w, const struct uop *u, const struct format *f,
                           unsigned l, uint32_t c[4])
{
    const uint32_t *s = reg_row(w, u->buf.vdata);
    for (unsigned i = 0; i < 4; i++) {
        if (i >= u->buf.comps)
            c[i] = 0;
        else if (u->buf.flags & UB_HI)
            c[i] = format_widen16(f, (uint16_t)(s[l] >> 16));
        else if (u->buf.flags & UB_D16)
            c[i] = format_widen16(
                f, (uint16_t)(s[i / 2 * ROW_DWORDS + l] >> (i % 2 ? 16 : 0)));
        else
            c[i] = s[i * ROW_DWORDS + l];
    }
}

static bool store_format_half(struct wave *w, const struct uop *u, struct plan *p)
{
    if (!plan_half(w, u, p, EMU_MEM_WRITE, p->bytes < 4 ? p->bytes : 4))
        return false;
    const struct format *f = format_of(u, &p->res);
    FOR_LANES(l, wave_exec(w))
    {
        uint32_t c[4], rgba[4] = {0};
        uint8_t element[16] = {0};
        if (!p->in[l])
            continue;
        store_channels(w, u, f, l, c);
        for (unsigned i = 4; i-- > 0;) { /* the first component that selects wins */
            unsigned sel = u->buf.flags & UB_TYPED ? i + 4 : p->res.dst_sel[i];
            if (sel >= 4)
                rgba[sel - 4] = c[i];
        }
        format_pack(f, rgba, element);
        for (unsigned k = 0; k < p->parts; k++) {
            uint32_t v;
            memcpy(&v, element + 4 * k, sizeof v);
            write_part(p, l, k, v);
        }
    }
    return true;
}

static const struct uop *run_format(struct wave *w, const struct uop *u, half_fn *f)
{
    struct bufres res = bufres_read(&w->sgpr[u->buf.srsrc]);
    const struct format *format = format_of(u, &res);
    if (format->type == FORMAT_NONE && !res.other_type && !bufres_unbound(&res))
        return wave_fault(w, u, EMU_FAULT_ILLEGAL, "the buffer format is invalid");
    struct plan p = {
        .bytes = format->bytes, .parts = (format->bytes + 3u) / 4, .whole = true};
    unsigned mxcsr = _mm_getcsr();
    _mm_setcsr(HOST_DEFAULT);
    const struct uop *next = run_halves(w, u, f, &p);
    _mm_setcsr(mxcsr);
    return next;
}

const struct uop *x_buffer_load_format(struct wave *w, const struct uop *u)
{
    return run_format(w, u, load_format_half);
}

const struct uop *x_buffer_store_format(struct wave *w, const struct uop *u)
{
    return run_format(w, u, store_format_half);
}

/* ---- scalar -------------------------------------------------------------------------
 */

/* S_BUFFER_LOAD: dwords beyond the buffer are zero. */
const struct uop *x_buffer_scalar(struct wave *w, const struct uop *u)
{
    const struct umem *m = &u->mem;
    struct bufres res = bufres_read(&w->sgpr[m->saddr]);
    uint64_t size = (uint64_t)(res.stride ? res.stride : 1) * res.records;
    uint64_t offset = (uint64_t)(int64_t)u->imm, base = res.base & ~UINT64_C(3);
    uint32_t data[16];
    unsigned n = m->bytes / 4u;
    if (u->imm < 0)
        return wave_fault_at(w, u, EMU_FAULT_UNMAPPED, -1, base + offset, m->bytes,
                             false);
    if (m->addr != NO_ROW)
        offset += w->sgpr[m->addr];
    offset &= ~UINT64_C(3);
    for (unsigned i = 0; i < n; i++, offset += 4) {
        enum emu_fault_kind kind;
        uint64_t at = base + offset, host = at;
        data[i] = 0;
        if (offset >= size)
            continue;
        if (!lane_allowed(w, &host, 4, EMU_MEM_READ, &kind))
            return wave_fault_at(w, u, kind, -1, at, 4, false);
        wave_note(w, 0, EMU_SPACE_GLOBAL, at, 4, true, false);
        memcpy(&data[i], host_pointer(host), 4);
    }
    memcpy(&w->sgpr[u->d], data, m->bytes);
    w->sgpr[ISA_SEL_NULL] = 0;
    return uop_next(u);
}
