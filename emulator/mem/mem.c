/* mem.c: vector memory: FLAT, GLOBAL, SCRATCH and LDS. Compiled per SIMD level.
 *
 * It checks the lanes' addresses (address.h) all against the allocation map before the
 * first byte moves (so a fault has no side effects), and moves bytes. What a load,
 * store or atomic means comes from sem/mem_ops.c through the micro-op; nothing here
 * knows a mnemonic. Checking makes GPU addresses the host's; LDS is the workgroup's
 * array; scratch is dword-interleaved over the 32 lanes of a half, as hardware swizzles
 * it.
 * SPDX-License-Identifier: MIT
 */
#include <xmmintrin.h>

#include "access.h"
#include "address.h"
#include "gather.h"
#include "row.h"
#include "sem_wrap.h"
#include "zeros.h"

static inline uint32_t *reg_row(struct wave *w, unsigned row)
{
    return w->vgpr[w->half] + (size_t)row * ROW_DWORDS;
}

/* ---- checks --------------------------------------------------------------- */

static const struct uop *fault(struct wave *w, const struct uop *u,
                               enum emu_fault_kind kind, unsigned lane, uint64_t addr,
                               bool write)
{
    return wave_fault_at(w, u, kind, (int)(lane + 32u * w->half), addr, u->mem.bytes,
                         write);
}

/* Check all active lanes of a global access; addresses become the host's. */
static bool check_global(struct wave *w, const struct uop *u, uint32_t exec,
                         uint64_t *addr, bool write)
{
    unsigned perm = write ? EMU_MEM_WRITE : EMU_MEM_READ, bytes = u->mem.bytes;
    uint64_t lo = UINT64_MAX, last = 0;
    for (unsigned l = 0; l < 32; l++) {
        uint64_t on = 0u - (uint64_t)(exec >> l & 1u);
        uint64_t a = addr[l] | ~on, b = addr[l] & on;
        lo = a < lo ? a : lo;
        last = b > last ? b : last;
    }
    const struct mem_window *win = window_find(w, lo, last, bytes, mem_generation(w));
    if (win && (win->perm & perm) == perm) {
        for (unsigned l = 0; l < 32; l++)
            addr[l] += win->delta;
        return true;
    }
    FOR_LANES(l, exec)
    {
        enum emu_fault_kind kind;
        if (!lane_allowed(w, &addr[l], bytes, perm, &kind)) {
            fault(w, u, kind, l, addr[l], write);
            return false;
        }
    }
    return true;
}

/* ---- one lane, any space: FLAT with apertures, unaligned scratch --------------- */

static uint8_t *scratch_byte(struct wave *w, unsigned lane, uint32_t offset)
{
    size_t half = (size_t)w->half * w->group->scratch_bytes * 32;
    return w->scratch + half + (size_t)(offset >> 2) * (ROW_DWORDS * 4) + lane * 4u +
           (offset & 3u);
}

/* Move bytes of one lane between buf and LDS or scratch; false: out of range. Whole
 * dwords at once, which scratch has together: one put together from bytes makes the
 * host wait when it is read. */
static bool private_access(struct wave *w, unsigned lane, bool lds, uint32_t offset,
                           void *buf, unsigned bytes, bool write)
{
    uint32_t limit = lds ? w->group->lds_bytes : w->group->scratch_bytes;
    if (offset > limit || limit - offset < bytes)
        return false;
    unsigned step = (offset | bytes) & 3u ? 1 : 4;
    for (unsigned i = 0; i < bytes; i += step) {
        uint8_t *p =
            lds ? w->group->lds + offset + i : scratch_byte(w, lane, offset + i);
        uint8_t *b = (uint8_t *)buf + i;
        if (step == 4)
            memcpy(write ? p : b, write ? b : p, 4);
        else if (write)
            *p = *b;
        else
            *b = *p;
    }
    return true;
}

static bool check_private(struct wave *w, const struct uop *u, unsigned l, bool lds,
                          uint64_t offset, bool write)
{
    uint32_t limit = lds ? w->group->lds_bytes : w->group->scratch_bytes;
    if (offset <= limit && limit - offset >= u->mem.bytes)
        return true;
    fault(w, u, lds ? EMU_FAULT_LDS_RANGE : EMU_FAULT_SCRATCH_RANGE, l, offset, write);
    return false;
}

/* Check every active lane of a FLAT access wherever it goes; addresses of memory become
 * the host's, which lie in no aperture. */
static bool check_flat(struct wave *w, const struct uop *u, uint32_t exec,
                       uint64_t *addr, bool write)
{
    unsigned perm = write ? EMU_MEM_WRITE : EMU_MEM_READ;
    FOR_LANES(l, exec)
    {
        enum emu_space space = flat_space(addr[l]);
        enum emu_fault_kind kind;
        if (space != EMU_SPACE_GLOBAL) {
            if (!check_private(w, u, l, space == EMU_SPACE_LDS, (uint32_t)addr[l],
                               write))
                return false;
        } else if (!lane_allowed(w, &addr[l], u->mem.bytes, perm, &kind)) {
            fault(w, u, kind, l, addr[l], write);
            return false;
        }
    }
    return true;
}

static void lane_read(struct wave *w, unsigned l, uint64_t addr, void *buf,
                      unsigned bytes)
{
    enum emu_space space = flat_space(addr);
    if (space == EMU_SPACE_GLOBAL && bytes % 8 == 0)
        load_lane(buf, host_pointer(addr), bytes / 4);
    else if (space == EMU_SPACE_GLOBAL)
        memcpy(buf, host_pointer(addr), bytes);
    else
        (void)private_access(w, l, space == EMU_SPACE_LDS, (uint32_t)addr, buf, bytes,
                             false);
}

static void lane_write(struct wave *w, unsigned l, uint64_t addr, const void *buf,
                       unsigned bytes)
{
    enum emu_space space = flat_space(addr);
    uint32_t copy[4] = {0};
    memcpy(copy, buf, bytes);
    if (space == EMU_SPACE_GLOBAL && bytes % 8 == 0)
        store_lane(host_pointer(addr), copy, bytes / 4);
    else if (space == EMU_SPACE_GLOBAL)
        memcpy(host_pointer(addr), copy, bytes);
    else
        (void)private_access(w, l, space == EMU_SPACE_LDS, (uint32_t)addr, copy, bytes,
                             true);
}

/* ---- moving whole waves ------------------------------------------------------- */

static inline uint32_t load_small(const uint8_t *p, unsigned bytes)
{
    if (bytes == 4)
        return load32(p);
    if (bytes == 1)
        return __atomic_load_n(p, __ATOMIC_RELAXED);
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store_small(uint8_t *p, uint32_t v, unsigned bytes)
{
    uint16_t half = (uint16_t)v;
    if (bytes == 4)
        store32(p, v);
    else if (bytes == 1)
        __atomic_store_n(p, (uint8_t)v, __ATOMIC_RELAXED);
    else
        memcpy(p, &half, sizeof half);
}

static void load_rows(struct wave *w, const struct uop *u, uint32_t exec,
                      const uint64_t *addr)
{
    uint32_t *d = reg_row(w, u->d);
    unsigned bytes = u->mem.bytes;
    if (!u->mem.wide) {
        FOR_LANES(l, exec)
        d[l] = u->op.mem(load_small(host_pointer(addr[l]), bytes), d[l]);
    } else if (by_lane(bytes / 4)) {
        FOR_LANES(l, exec)
        {
            uint32_t v[4] = {0};
            load_lane(v, host_pointer(addr[l]), bytes / 4);
            for (unsigned k = 0; k < bytes / 4; k++)
                d[k * ROW_DWORDS + l] = v[k];
        }
    } else {
        for (unsigned k = 0; k < bytes / 4; k++, d += ROW_DWORDS)
            FOR_LANES(l, exec)
        d[l] = load32(host_pointer(addr[l]) + (size_t)4 * k);
    }
}

static void store_rows(struct wave *w, const struct uop *u, uint32_t exec,
                       const uint64_t *addr)
{
    const uint32_t *s = reg_row(w, u->mem.data);
    unsigned bytes = u->mem.bytes;
    if (!u->mem.wide) {
        FOR_LANES(l, exec)
        store_small(host_pointer(addr[l]), u->op.mem(s[l], 0), bytes);
    } else {
        /* lane by lane, so that the highest lane wins where lanes collide */
        FOR_LANES(l, exec)
        {
            uint32_t v[4] = {0};
            for (unsigned k = 0; k < bytes / 4; k++)
                v[k] = s[k * ROW_DWORDS + l];
            if (by_lane(bytes / 4))
                store_lane(host_pointer(addr[l]), v, bytes / 4);
            else
                for (unsigned k = 0; k < bytes / 4; k++)
                    store32(host_pointer(addr[l]) + (size_t)4 * k, v[k]);
        }
    }
}

/* Lane by lane through the apertures. */
static void flat_rows(struct wave *w, const struct uop *u, uint32_t exec,
                      const uint64_t *addr, bool write)
{
    unsigned bytes = u->mem.bytes;
    uint32_t *row = reg_row(w, write ? u->mem.data : u->d);
    FOR_LANES(l, exec)
    {
        uint32_t buf[4] = {0};
        if (write) {
            for (unsigned k = 0; k < (bytes + 3) / 4; k++)
                buf[k] = row[k * ROW_DWORDS + l];
            if (!u->mem.wide)
                buf[0] = u->op.mem(buf[0], 0);
            lane_write(w, l, addr[l], buf, bytes);
            continue;
        }
        lane_read(w, l, addr[l], buf, bytes);
        if (!u->mem.wide)
            buf[0] = u->op.mem(buf[0], row[l]);
        for (unsigned k = 0; k < (bytes + 3) / 4; k++)
            row[k * ROW_DWORDS + l] = buf[k];
    }
}

/* All active lanes at one dword-aligned scratch offset: whole rows. */
static bool scratch_uniform(const struct uop *u, uint32_t exec, const uint64_t *addr)
{
    uint64_t first = addr[__builtin_ctz(exec)], differ = first & 3u;
    FOR_LANES(l, exec)
    differ |= addr[l] ^ first;
    return !differ && u->mem.wide;
}

static void scratch_rows(struct wave *w, const struct uop *u, uint32_t exec,
                         const uint64_t *addr, bool write)
{
    if (scratch_uniform(u, exec, addr)) {
        uint32_t offset = (uint32_t)addr[__builtin_ctz(exec)];
        uint32_t *mem = (uint32_t *)(void *)scratch_byte(w, 0, offset);
        uint32_t *reg = reg_row(w, write ? u->mem.data : u->d);
        for (unsigned k = 0; k < u->mem.bytes / 4u; k++)
            row_merge((write ? mem : reg) + (size_t)k * ROW_DWORDS,
                      (write ? reg : mem) + (size_t)k * ROW_DWORDS, exec);
        return;
    }
    uint64_t flat[32];
    for (unsigned l = 0; l < 32; l++)
        flat[l] = EMU_PRIVATE_BASE | (uint32_t)addr[l];
    flat_rows(w, u, exec, flat, write);
}

/* Addresses as one base and 32-bit offsets, if the active lanes' high dwords agree. */
static bool base_and_offsets(struct wave *w, const struct uop *u, uint32_t exec,
                             uint64_t *base, const uint32_t **offsets)
{
    const struct umem *m = &u->mem;
    *offsets = reg_row(w, m->addr);
    *base = (uint64_t)(int64_t)u->imm;
    if (m->saddr != NO_ROW)
        *base += sgpr64(w, m->saddr);
    if (!m->addr64)
        return true;
    const uint32_t *hi = *offsets + ROW_DWORDS;
    uint32_t high = hi[__builtin_ctz(exec)];
    *base += (uint64_t)high << 32;
    return row_uniform(hi, exec, high);
}

/* Elements of less than a dword: base + a[l], through what the instruction makes of
 * them. */
static void load_small_rows(const struct wave *w, const struct uop *u, uint32_t *d,
                            const uint8_t *base, const uint32_t *a, uint32_t exec)
{
    uint32_t v[ROW_DWORDS];
    gather_small(v, base, a, exec, u->mem.bytes);
    w->emu->sem[u->isa_op]->rows.mem(v, d);
    row_merge(d, v, exec);
}

static void store_small_rows(const struct wave *w, const struct uop *u,
                             const uint32_t *s, uint8_t *base, const uint32_t *a,
                             uint32_t exec)
{
    uint32_t v[ROW_DWORDS];
    memcpy(v, s, sizeof v);
    w->emu->sem[u->isa_op]->rows.mem(v, v);
    scatter_small(v, base, a, exec, u->mem.bytes);
}

/* The usual case: all lanes in one remembered region. False: nothing was done, take the
 * long way. */
static bool move_fast(struct wave *w, const struct uop *u, uint32_t exec, bool write)
{
    uint64_t base;
    const uint32_t *offsets;
    uint32_t lo, hi, at[ROW_DWORDS];
    if (u->mem.addtid || !base_and_offsets(w, u, exec, &base, &offsets))
        return false;
    uint32_t step = 0;
    bool steps = exec == ~0u && row_steps(offsets, &step);
    if (steps)
        lo = offsets[0], hi = offsets[31];
    else
        row_range(offsets, exec, &lo, &hi);
    unsigned perm = write ? EMU_MEM_WRITE : EMU_MEM_READ, bytes = u->mem.bytes;
    const struct mem_window *win =
        window_find(w, base + lo, base + hi, bytes, mem_generation(w));
    if (!win && u->mem.space == MEM_GLOBAL) { /* the wave's first one there */
        win = window_load(w, base + lo, perm);
        win = win && window_has(win, base + lo, base + hi, bytes) ? win : NULL;
    }
    if (!win || (win->perm & perm) != perm || base + hi < base + lo)
        return false;
    uint8_t *p = host_pointer(base + lo + win->delta);
    const uint32_t *data = reg_row(w, u->mem.data);
    uint32_t *d = reg_row(w, u->d);
    if (steps && u->mem.wide &&
        (write ? store_steps(data, p, step, bytes / 4)
               : load_steps(d, p, step, bytes / 4)))
        return true;
    for (unsigned l = 0; l < ROW_DWORDS; l++)
        at[l] = offsets[l] - lo; /* also: the destination may be the address */
    if (!u->mem.wide && write)
        store_small_rows(w, u, data, p, at, exec);
    else if (!u->mem.wide)
        load_small_rows(w, u, d, p, at, exec);
    else if (write)
        scatter_rows(data, p, at, exec, bytes / 4);
    else
        gather_rows(d, p, at, exec, bytes / 4);
    return true;
}

/* Scratch at one dword-aligned offset for all lanes, from an SGPR or none: spills. */
static bool move_spill(struct wave *w, const struct uop *u, uint32_t exec, bool write)
{
    const struct umem *m = &u->mem;
    uint32_t at = (uint32_t)u->imm + (m->saddr != NO_ROW ? w->sgpr[m->saddr] : 0);
    uint32_t limit = w->group->scratch_bytes;
    if (m->addr != NO_ROW || !m->wide || at & 3u || at > limit || limit - at < m->bytes)
        return false;
    void *row = scratch_byte(w, 0, at);
    uint32_t *mem = row, *reg = reg_row(w, write ? m->data : u->d);
    for (unsigned k = 0; k < m->bytes / 4u; k++)
        row_merge((write ? mem : reg) + (size_t)k * ROW_DWORDS,
                  (write ? reg : mem) + (size_t)k * ROW_DWORDS, exec);
    return true;
}

/* One pass over a half: addresses, checks, move. False after a fault. */
static bool move_half(struct wave *w, const struct uop *u, bool write)
{
    uint32_t exec = wave_exec(w);
    uint64_t addr[32];
    if (!exec)
        return true;
    if (u->mem.space == MEM_SCRATCH) {
        if (move_spill(w, u, exec, write))
            return true;
        scratch_offsets(w, u, w->half, addr);
        FOR_LANES(l, exec)
        if (!check_private(w, u, l, false, addr[l], write))
            return false;
        scratch_rows(w, u, exec, addr, write);
        return true;
    }
    if (move_fast(w, u, exec, write))
        return true;
    global_addresses(w, u, w->half, addr);
    bool apertures = false;
    if (u->mem.space == MEM_FLAT)
        FOR_LANES(l, exec)
    apertures |= flat_space(addr[l]) != EMU_SPACE_GLOBAL;
    if (!(apertures ? check_flat : check_global)(w, u, exec, addr, write))
        return false;
    if (apertures)
        flat_rows(w, u, exec, addr, write);
    else if (write)
        store_rows(w, u, exec, addr);
    else
        load_rows(w, u, exec, addr);
    return true;
}

static inline const struct uop *
both_halves(struct wave *w, const struct uop *u,
            bool (*half)(struct wave *, const struct uop *, bool), bool write)
{
    bool ok = half(w, u, write);
    if (ok && w->wave64) {
        select_half(w, 1);
        ok = half(w, u, write);
        select_half(w, 0);
    }
    return ok ? uop_next(u) : NULL;
}

sem_wave_fn SEM_LEVEL(vmem_load), SEM_LEVEL(vmem_store), SEM_LEVEL(vmem_atomic),
    SEM_LEVEL(ds_load), SEM_LEVEL(ds_store), SEM_LEVEL(ds_atomic);

const struct uop *SEM_LEVEL(vmem_load)(struct wave *w, const struct uop *u)
{
    return both_halves(w, u, move_half, false);
}

/* ---- zeros to untouched memory (zeros.h) ------------------------------------------
 */

static bool rows_are_zero(const uint32_t *row, unsigned dwords)
{
    uint32_t any = 0;
    for (unsigned i = 0; i < dwords * ROW_DWORDS; i++)
        any |= row[i];
    return !any;
}

/* All lanes write zeros, side by side: put them off. False: nothing was done. */
static bool put_off_zeros(struct wave *w, const struct uop *u, uint32_t exec)
{
    const struct umem *m = &u->mem;
    const uint32_t *offsets;
    uint64_t at;
    uint32_t step;
    if (exec != ~0u || m->space != MEM_GLOBAL || !m->wide || m->addtid ||
        !rows_are_zero(reg_row(w, m->data), m->bytes / 4u) ||
        !base_and_offsets(w, u, exec, &at, &offsets) || !row_steps(offsets, &step) ||
        step != m->bytes)
        return false;
    at += offsets[0];
    uint64_t last = at + 31ul * step;
    const struct mem_window *win = window_find(w, at, last, step, mem_generation(w));
    if (!win)
        win = window_load(w, at, EMU_MEM_WRITE);
    return win && window_has(win, at, last, step) && win->perm & EMU_MEM_WRITE &&
           zeros_add(w->zeros, host_pointer(at + win->delta), 32ul * step);
}

static bool store_or_put_off(struct wave *w, const struct uop *u, bool write)
{
    if (put_off_zeros(w, u, wave_exec(w)))
        return true;
    zeros_flush(w->zeros);
    return move_half(w, u, write);
}

const struct uop *SEM_LEVEL(vmem_store)(struct wave *w, const struct uop *u)
{
    return both_halves(w, u, w->zeros ? store_or_put_off : move_half, true);
}

/* ---- atomics ------------------------------------------------------------------- */

static uint64_t reg_value(const uint32_t *row, unsigned l, unsigned bytes)
{
    return bytes == 8 ? row64(row, l) : row[l];
}

static void put_old(struct wave *w, const struct uop *u, unsigned l, uint64_t old)
{
    uint32_t *d = reg_row(w, u->d);
    d[l] = (uint32_t)old;
    if (u->mem.bytes == 8)
        d[l + ROW_DWORDS] = (uint32_t)(old >> 32);
}

static bool atomic_half(struct wave *w, const struct uop *u, bool write)
{
    uint32_t exec = wave_exec(w);
    unsigned bytes = u->mem.bytes;
    uint64_t addr[32];
    global_addresses(w, u, w->half, addr);
    FOR_LANES(l, exec)
    if (addr[l] % bytes) {
        fault(w, u, EMU_FAULT_MISALIGNED, l, addr[l], write);
        return false;
    }
    bool flat = u->mem.space == MEM_FLAT;
    if (exec && !(flat ? check_flat : check_global)(w, u, exec, addr, true))
        return false;
    const uint32_t *data = reg_row(w, u->mem.data), *cmp = reg_row(w, u->mem.data2);
    uint64_t d[32], c[32];
    FOR_LANES(l, exec)
    {
        d[l] = reg_value(data, l, bytes);
        c[l] = reg_value(cmp, l, bytes);
    }
    if (u->omod)
        _mm_setcsr(atomic_mxcsr(w, false));
    FOR_LANES(l, exec)
    {
        uint64_t old = 0;
        if (flat && flat_space(addr[l]) != EMU_SPACE_GLOBAL) {
            lane_read(w, l, addr[l], &old, bytes);
            uint64_t next = u->op.atomic(old, d[l], c[l], &w->mode);
            lane_write(w, l, addr[l], &next, bytes);
        } else {
            old = host_atomic(u->op.atomic, bytes, host_pointer(addr[l]), d[l], c[l],
                              &w->mode);
        }
        if (u->mem.returns)
            put_old(w, u, l, old);
    }
    if (u->omod)
        _mm_setcsr(w->mxcsr32);
    return true;
}

const struct uop *SEM_LEVEL(vmem_atomic)(struct wave *w, const struct uop *u)
{
    return both_halves(w, u, atomic_half, true);
}

/* ---- LDS ----------------------------------------------------------------------- */

/* Byte addresses of the one or two elements of all lanes: sums of 32 bits, which
 * compilers let wrap. */
struct lds_at {
    uint32_t at[2][WAVE_LANES];
};

/* Form the addresses; leave in exec the lanes whose access lies within the workgroup's
 * LDS. Others end the dispatch, or (LDS_CONFIG.ADDR_OUT_OF_RANGE_REPORTING off; manual
 * 3.3.4.1) are told and left out; false: ended. */
static bool lds_lanes(struct wave *w, const struct uop *u, bool write, uint32_t *exec,
                      struct lds_at *to)
{
    uint32_t all = *exec, limit = w->group->lds_bytes, bytes = u->mem.bytes, lo, hi = 0;
    if (all)
        row_range(address_row(w, w->half, u->mem.addr), all, &lo, &hi);
    for (unsigned e = 0; e < u->mem.elems; e++) {
        uint64_t last = (uint64_t)hi + (e ? u->mem.off1 : u->mem.off0);
        lds_offsets(w, u, w->half, e, to->at[e]);
        if (!all || last + bytes <= limit) /* then no sum has wrapped */
            continue;
        FOR_LANES(l, all)
        if ((uint64_t)to->at[e][l] + bytes > limit) {
            if (!w->emu->config.lds_unreported) {
                fault(w, u, EMU_FAULT_LDS_RANGE, l, to->at[e][l], write);
                return false;
            }
            wave_unreported(w, u, EMU_FAULT_LDS_RANGE, (int)(l + 32u * w->half),
                            to->at[e][l], bytes, write);
            *exec &= ~(1u << l);
        }
    }
    return true;
}

/* What lanes beyond the LDS read: zero in every element. */
static void lds_zero(const struct uop *u, uint32_t lanes, uint32_t *d)
{
    unsigned rows = (u->mem.bytes + 3u) / 4u * u->mem.elems;
    FOR_LANES(l, lanes)
    for (unsigned r = 0; r < rows; r++)
        d[l + r * ROW_DWORDS] = 0;
}

static void lds_load_elem(struct wave *w, const struct uop *u, uint32_t exec,
                          const uint32_t *a, uint32_t *d)
{
    const uint8_t *lds = w->group->lds;
    if (u->mem.wide) {
        gather_rows(d, lds, a, exec, u->mem.bytes / 4u);
        return;
    }
    load_small_rows(w, u, d, lds, a, exec);
}

static bool ds_load_half(struct wave *w, const struct uop *u, bool write)
{
    uint32_t active = wave_exec(w), exec = active;
    struct lds_at a; /* d may be the address */
    if (!lds_lanes(w, u, write, &exec, &a))
        return false;
    uint32_t *d = reg_row(w, u->d);
    if (u->mem.wide)
        lds_zero(u, active & ~exec, d);
    else
        FOR_LANES(l, active & ~exec)
    d[l] = u->op.mem(0, d[l]);
    lds_load_elem(w, u, exec, a.at[0], d);
    if (u->mem.elems == 2)
        lds_load_elem(w, u, exec, a.at[1], d + u->mem.bytes / 4 * ROW_DWORDS);
    return true;
}

static void lds_store_elem(struct wave *w, const struct uop *u, uint32_t exec,
                           const uint32_t *a, const uint32_t *s)
{
    uint8_t *lds = w->group->lds;
    if (u->mem.wide) {
        scatter_rows(s, lds, a, exec, u->mem.bytes / 4u);
        return;
    }
    store_small_rows(w, u, s, lds, a, exec);
}

static bool ds_store_half(struct wave *w, const struct uop *u, bool write)
{
    uint32_t exec = wave_exec(w);
    struct lds_at a;
    if (!lds_lanes(w, u, write, &exec, &a))
        return false;
    lds_store_elem(w, u, exec, a.at[0], reg_row(w, u->mem.data));
    if (u->mem.elems == 2)
        lds_store_elem(w, u, exec, a.at[1], reg_row(w, u->mem.data2));
    return true;
}

/* Atomics of a dword on 16 lanes that do not collide. */
static void lds_atomic_apart(struct wave *w, const struct uop *u, unsigned g,
                             uint32_t mask, const uint32_t *a)
{
    uint8_t *lds = w->group->lds;
    uint32_t v[16] = {0};
    const uint32_t *data = reg_row(w, u->mem.data) + g;
    load_scattered(v, lds, a, mask);
    uint32_t old[16];
    memcpy(old, v, sizeof old);
    w->emu->sem[u->isa_op]->rows.atomic(v, data, reg_row(w, u->mem.data2) + g,
                                        &w->mode);
    store_apart(v, lds, a, mask);
    uint32_t *d = reg_row(w, u->d) + g;
    if (u->mem.returns)
        FOR_LANES(l, mask)
    d[l] = old[l];
}

static void lds_atomic_lanes(struct wave *w, const struct uop *u, uint32_t exec,
                             const struct lds_at *a)
{
    unsigned bytes = u->mem.bytes, n = u->mem.elems;
    const uint32_t *data = reg_row(w, u->mem.data), *data2 = reg_row(w, u->mem.data2);
    uint32_t *d = reg_row(w, u->d);
    FOR_LANES(l, exec)
    {
        uint64_t v[2] = {reg_value(data, l, bytes), reg_value(data2, l, bytes)};
        for (unsigned e = 0; e < n; e++) {
            uint8_t *p = w->group->lds + a->at[e][l];
            uint64_t old = 0;
            memcpy(&old, p, bytes);
            uint64_t next = u->op.atomic(old, v[e], v[1], &w->mode);
            memcpy(p, &next, bytes);
            if (!u->mem.returns)
                continue;
            uint32_t *r = d + (size_t)e * bytes / 4 * ROW_DWORDS;
            r[l] = (uint32_t)old;
            if (bytes == 8)
                r[l + ROW_DWORDS] = (uint32_t)(old >> 32);
        }
    }
}

static bool ds_atomic_half(struct wave *w, const struct uop *u, bool write)
{
    uint32_t active = wave_exec(w), exec = active;
    unsigned bytes = u->mem.bytes, n = u->mem.elems;
    struct lds_at a = {.at = {{0}}};
    if (!lds_lanes(w, u, write, &exec, &a))
        return false;
    uint32_t low[ROW_DWORDS];
    for (unsigned l = 0; l < ROW_DWORDS; l++)
        low[l] = (a.at[0][l] | (n == 2 ? a.at[1][l] : 0)) & (bytes - 1);
    uint32_t misaligned = row_to_mask(low) & exec;
    if (misaligned) {
        unsigned l = (unsigned)__builtin_ctz(misaligned);
        fault(w, u, EMU_FAULT_MISALIGNED, l, a.at[0][l], write);
        return false;
    }
    if (u->mem.returns)
        lds_zero(u, active & ~exec, reg_row(w, u->d));
    if (u->omod)
        _mm_setcsr(atomic_mxcsr(w, true));
    for (unsigned g = 0; g < ROW_DWORDS; g += 16) {
        uint32_t mask = exec >> g & 0xffffu;
        if (mask && bytes == 4 && n == 1 && lanes_apart(a.at[0] + g, mask))
            lds_atomic_apart(w, u, g, mask, a.at[0] + g);
        else if (mask)
            lds_atomic_lanes(w, u, mask << g, &a);
    }
    if (u->omod)
        _mm_setcsr(w->mxcsr32);
    return true;
}

const struct uop *SEM_LEVEL(ds_load)(struct wave *w, const struct uop *u)
{
    return both_halves(w, u, ds_load_half, false);
}

const struct uop *SEM_LEVEL(ds_store)(struct wave *w, const struct uop *u)
{
    return both_halves(w, u, ds_store_half, true);
}

const struct uop *SEM_LEVEL(ds_atomic)(struct wave *w, const struct uop *u)
{
    return both_halves(w, u, ds_atomic_half, true);
}
