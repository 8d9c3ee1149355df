/* memory.c: memory instructions: those whose lanes are consecutive or equal.
 *
 * Are the active lanes' addresses those of consecutive elements, or those of each part
 * of the row, or are they all the same there? Then bounds are checked once and vectors
 * are moved; all else is the handler's, which sees registers as if nothing had been
 * tried (FAR_SLOW). Addresses are formed as in mem/address.h. Stores are checked in all
 * parts before the first one. lds.c does the LDS. SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "access.h"
#include "handlers.h"
#include "machine.h"

/* ---- places ------------------------------------------------------------------------
 */

static bool overlaps(const struct access *a)
{
    unsigned n = a->wide ? 2 : 1;
    for (unsigned k = 0; k < a->rows; k++)
        if (a->row[k] >= a->addr && a->row[k] < a->addr + n)
            return true;
    return false;
}

/* Registers as the slow path shall find them: without the results. */
static struct row_cache without_results(const struct emit *e, const struct access *a,
                                        const struct row_cache *before)
{
    struct row_cache r = e->rows;
    for (unsigned k = 0; k < a->rows; k++) {
        unsigned row = a->row[k], c = r.entry_of[row];
        bool was = before->entry_of[row] == c;
        r.dirty[c] = was && before->dirty[c];
        r.used[c] = was || e->masked;
    }
    return r;
}

static void find_address(struct emit *e, struct access *a)
{
    a->hi = NO_ENTRY;
    if (a->in_memory) {
        a->lo = rows_find(e, a->addr);
        a->hi = a->wide ? rows_find(e, a->addr + 1u) : NO_ENTRY;
        return;
    }
    a->lo = rows_load(e, a->addr);
    if (a->wide)
        a->hi = rows_load(e, a->addr + 1u);
}

static void begin_load(struct emit *e, struct access *a)
{
    a->alias = overlaps(a);
    if (a->alias || (a->in_memory && (e->masked || keeps_half(a->small))))
        rows_flush(e, &e->rows);
    if (a->in_memory) {
        a->slow = emit_far(e, FAR_SLOW, a->u);
        for (unsigned k = 0; k < a->rows; k++)
            rows_drop(e, a->row[k]);
        find_address(e, a);
        return;
    }
    find_address(e, a);
    struct row_cache before = e->rows;
    for (unsigned k = 0; k < a->rows; k++)
        a->data[k] =
            rows_write(e, a->row[k], e->masked || a->alias || keeps_half(a->small));
    struct row_cache now = e->rows;
    e->rows = without_results(e, a, &before);
    a->slow = emit_far(e, FAR_SLOW, a->u);
    e->rows = now;
}

static void begin_store(struct emit *e, struct access *a)
{
    if (a->in_memory)
        rows_flush(e, &e->rows);
    find_address(e, a);
    for (unsigned k = 0; k < a->rows && !a->in_memory; k++)
        a->data[k] = rows_load(e, a->row[k]);
    a->slow = emit_far(e, FAR_SLOW, a->u);
}

void access_begin(struct emit *e, struct access *a)
{
    a->in_memory = !e->x->evex && (a->rows > 1 || a->wide);
    if (!a->step)
        a->step = a->bytes;
    if (a->write)
        begin_store(e, a);
    else
        begin_load(e, a);
    move_begin(e, a);
    known_begin(e, a);
}

void access_end(struct emit *e, struct access *a)
{
    rows_unpin(e);
    if (!a->slow)
        return;
    emit_back(e, a->slow);
}

/* ---- addresses ---------------------------------------------------------------------
 */

/* rax: the address of the lane whose offset rcx is, the first of part or of the row:
 * from SGPRs, or a pair whose upper halves agree (checked here). */
static void form_address(struct emit *e, struct access *a, unsigned part,
                         unsigned n_parts)
{
    const struct uop *u = a->u;
    struct x86 *x = e->x;
    if (u->mem.saddr != NO_ROW) {
        x86_load(x, true, RAX, sgpr_mem(u->mem.saddr));
        x86_alu(x, ALU_ADD, true, RAX, RCX);
    } else {
        x86_mov(x, false, RAX, RCX);
    }
    for (unsigned p = part; p < part + n_parts && u->mem.addr64; p++) {
        unsigned hi = access_uppers(e, a, p), t = temp_reg(e, TEMP_B);
        if (p == part) {
            x86_vmovd(x, RDX, hi);
            x86_vec(x, X86_PBROADCASTD, t, 0, rm_reg(hi), 0, 0);
        }
        far_from(a->slow, x86_jcc(x, access_differ(e, hi, rm_reg(t), p)));
    }
    if (u->mem.addr64) {
        x86_shift_imm(x, SHIFT_SHL, true, RDX, 32);
        x86_alu(x, ALU_ADD, true, RAX, RDX);
    }
    if (u->imm)
        x86_alu_imm(x, ALU_ADD, true, RAX, u->imm);
}

static uint64_t pair_of(const struct wave *w, unsigned sgpr)
{
    return (uint64_t)w->sgpr[sgpr + 1] << 32 | w->sgpr[sgpr];
}

/* Where the first lane of the wave at hand accesses memory, if neither its registers
 * nor its lanes are others by then. */
static uint64_t likely_address(const struct emit *e, const struct uop *u)
{
    const size_t row = ROW_BYTES / 4;
    uint64_t address = e->vgprs[u->mem.addr * row] + (uint64_t)(int64_t)u->imm;
    if (u->mem.addr64)
        address += (uint64_t)e->vgprs[((u->mem.addr + 1u) & 255u) * row] << 32;
    if (u->mem.saddr != NO_ROW)
        address += pair_of(e->wave, u->mem.saddr);
    return address;
}

/* The window of the wave at hand where address is, or one more than there are. */
static unsigned likely_window(const struct wave *w, uint64_t address)
{
    unsigned i = 0;
    while (i < MEM_WINDOWS &&
           (address < w->window[i].base || address >= w->window[i].end))
        i++;
    return i;
}

void access_ask(struct emit *e, struct far *slow, unsigned bytes, unsigned perm)
{
    x86_mov_imm(e->x, RDX, bytes);
    x86_mov_imm(e->x, RCX, access_perm(e, perm));
    x86_call_mem(e->x, mem_at(TABLE, -8 * TABLE_CHECK));
    far_from(slow, x86_jcc(e->x, CC_B));
}

void access_check(struct emit *e, struct far *slow, unsigned bytes, unsigned perm,
                  uint64_t likely, const struct access *a)
{
    struct x86 *x = e->x;
    unsigned i = likely_window(e->wave, likely);
    size_t at = offsetof(struct wave, window) + i * sizeof(struct mem_window);
    if (i == MEM_WINDOWS) {
        access_ask(e, slow, bytes, perm);
        return;
    }
    struct far *other = emit_far(e, FAR_CHECK, NULL);
    if (!other)
        return;
    other->slow = slow;
    other->bytes = bytes;
    other->perm = perm;
    x86_load(x, true, R9, wave_mem(at + offsetof(struct mem_window, end)));
    x86_alu_load(x, ALU_CMP, true, RAX,
                 wave_mem(at + offsetof(struct mem_window, base)));
    far_from(other, x86_jcc(x, CC_B));
    x86_alu(x, ALU_SUB, true, R9, RAX);
    far_from(other, x86_jcc(x, CC_B));
    x86_alu_imm(x, ALU_CMP, true, R9, (int32_t)bytes);
    far_from(other, x86_jcc(x, CC_B));
    x86_mov_imm(x, R8, (uintptr_t)&e->emu->regions->generation);
    x86_load(x, false, R8, mem_at(R8, 0));
    x86_alu_load(x, ALU_CMP, false, R8,
                 wave_mem(at + offsetof(struct mem_window, generation)));
    far_from(other, x86_jcc(x, CC_NE));
    if (access_perm(e, perm) != perm) {
        x86_load(x, false, R9, wave_mem(at + offsetof(struct mem_window, perm)));
        x86_alu_imm(x, ALU_AND, false, R9, (int32_t)access_perm(e, perm));
        x86_alu_imm(x, ALU_CMP, false, R9, (int32_t)access_perm(e, perm));
        far_from(other, x86_jcc(x, CC_NE));
    } else if (perm) {
        x86_test8_imm(x, wave_mem(at + offsetof(struct mem_window, perm)), perm);
        far_from(other, x86_jcc(x, CC_E));
    }
    x86_alu_load(x, ALU_ADD, true, RAX,
                 wave_mem(at + offsetof(struct mem_window, delta)));
    if (a)
        known_set_place(e, a, wave_mem(at + offsetof(struct mem_window, perm)), perm);
    other->back = x86_here(x);
}

/* May the wave access bytes from rax on? Offsets must not wrap within them: the sum of
 * 64 bits would not. */
static void check(struct emit *e, struct access *a, unsigned part, unsigned n_parts,
                  unsigned bytes)
{
    struct x86 *x = e->x;
    if (bytes > a->bytes) {
        x86_alu_imm(x, ALU_CMP, false, RCX, -(int32_t)(2 * bytes));
        far_from(a->slow, x86_jcc(x, CC_A));
    }
    form_address(e, a, part, n_parts);
    unsigned perm = a->write ? EMU_MEM_WRITE : EMU_MEM_READ;
    if (n_parts == e->parts || a->shape == SHAPE_PARTS)
        access_check(e, a->slow, bytes, perm, likely_address(e, a->u),
                     n_parts == e->parts ? a : NULL);
    else
        access_ask(e, a->slow, bytes, perm);
}

/* ---- loads and stores --------------------------------------------------------------
 */

static unsigned part_lanes(const struct emit *e)
{
    return e->part_bytes / 4;
}

/* Jumps from parts whose lanes lie anyhow. */
struct jumps {
    size_t at[MAX_PARTS];
    unsigned n;
};

static void load_part(struct emit *e, struct access *a, unsigned part,
                      struct jumps *apart)
{
    struct x86 *x = e->x;
    access_first(e, a, part);
    size_t other = x86_jcc(x, access_part_apart(e, a, part));
    check(e, a, part, 1, part_lanes(e) * a->bytes);
    move_load(e, a, part, 0, 0);
    size_t done = x86_jmp(x);
    x86_land(x, other);
    apart->at[apart->n++] = x86_jcc(x, access_part_unequal(e, a, part));
    check(e, a, part, 1, a->bytes);
    move_spread(e, a, part, 0, 0);
    x86_land(x, done);
}

/* Is it worth asking whether the whole row is one line? AVX2 asks for lanes that are
 * off part by part. */
static bool asks_for_rows(const struct emit *e, const struct access *a)
{
    return (e->x->evex || !e->masked) &&
           (a->shape == SHAPE_ROW || a->shape == SHAPE_UNKNOWN);
}

/* To the host's second cache what the wave after the next is likely to want: a turn is
 * shorter than memory takes, and the first cache is full of the turn's own lines. */
static void fetch_ahead(struct emit *e, const struct access *a)
{
    unsigned line = 32 * a->bytes;
    for (unsigned at = 0; at < line; at += 64)
        x86_prefetch(e->x, mem_at(RAX, (int32_t)(2 * line + at)));
}

/* One line, then part by part, then lanes that lie anyhow: as far as it seems worth it.
 * What parts have loaded is loaded again if another one's lanes lie anyhow. */
static void emit_load(struct emit *e, struct access *a)
{
    enum shape shape = a->shape;
    /* a part may go the slow way when those before it have been written over their
     * addresses */
    bool once = a->alias && (shape == SHAPE_UNKNOWN || a->in_memory);
    bool by_parts = shape != SHAPE_APART && !a->small && !once;
    size_t done[2] = {0, 0};
    struct jumps apart = {.n = 0};
    if (asks_for_rows(e, a)) {
        size_t there = known_place(e, a);
        size_t other = known_line(e, a);
        check(e, a, 0, e->parts, 32 * a->bytes);
        if (there)
            x86_land(e->x, there);
        for (unsigned p = 0; p < e->parts; p++)
            move_load(e, a, p, 0, (int32_t)(p * part_lanes(e) * a->bytes));
        fetch_ahead(e, a);
        done[0] = x86_jmp(e->x);
        x86_land(e->x, other);
    }
    for (unsigned p = 0; p < e->parts && by_parts; p++)
        load_part(e, a, p, &apart);
    if (by_parts && shape != SHAPE_UNKNOWN) {
        for (unsigned i = 0; i < apart.n; i++)
            far_from(a->slow, apart.at[i]);
    } else {
        if (by_parts)
            done[1] = x86_jmp(e->x);
        for (unsigned i = 0; i < apart.n; i++)
            x86_land(e->x, apart.at[i]);
        access_first(e, a, 0);
        form_address(e, a, 0, e->parts);
        window_load_rows(e, a);
    }
    for (unsigned i = 0; i < 2; i++)
        if (done[i])
            x86_land(e->x, done[i]);
}

static const uint8_t part_address[MAX_PARTS] = {RSI, RDI, R10, R11};

/* To the slow path, or where lanes are stored that lie anyhow. */
static void when_apart(struct emit *e, struct access *a, struct jumps *apart,
                       enum x86_cc cc)
{
    size_t jump = x86_jcc(e->x, cc);
    if (window_stores(e, a))
        apart->at[apart->n++] = jump;
    else
        far_from(a->slow, jump);
}

/* One line, or part by part: all are checked, then moved. */
static void store_lines(struct emit *e, struct access *a, struct jumps *apart)
{
    size_t done = 0;
    if (e->masked && a->dwords > 1) { /* lanes are apart then */
        x86_alu_mem_imm(e->x, ALU_CMP, false, sgpr_mem(exec_sel(e)), -1);
        when_apart(e, a, apart, CC_NE);
    }
    if (asks_for_rows(e, a)) {
        size_t there = known_place(e, a);
        size_t other = known_line(e, a);
        check(e, a, 0, e->parts, 32 * a->bytes);
        if (there)
            x86_land(e->x, there);
        for (unsigned p = 0; p < e->parts; p++)
            x86_lea(e->x, part_address[p],
                    mem_at(RAX, (int32_t)(p * part_lanes(e) * a->bytes)));
        done = x86_jmp(e->x);
        x86_land(e->x, other);
    }
    for (unsigned p = 0; p < e->parts; p++) {
        access_first(e, a, p);
        when_apart(e, a, apart, access_part_apart(e, a, p));
        check(e, a, p, 1, part_lanes(e) * a->bytes);
        x86_mov(e->x, true, part_address[p], RAX);
    }
    if (done)
        x86_land(e->x, done);
    for (unsigned p = 0; p < e->parts; p++)
        move_store(e, a, p, part_address[p], 0, 0);
}

static void emit_store(struct emit *e, struct access *a)
{
    bool by_lines = !window_stores(e, a) || a->shape != SHAPE_APART;
    struct jumps apart = {.n = 0};
    size_t done = 0;
    if (by_lines) {
        store_lines(e, a, &apart);
        if (!apart.n)
            return;
        done = x86_jmp(e->x);
    }
    for (unsigned i = 0; i < apart.n; i++)
        x86_land(e->x, apart.at[i]);
    access_first(e, a, 0);
    form_address(e, a, 0, e->parts);
    window_store_rows(e, a);
    if (done)
        x86_land(e->x, done);
}

/* AVX2 has no masked store of words. */
static bool is_small(const struct emit *e, const struct uop *u)
{
    bool write = u->fn == e->emu->level->vmem_store;
    enum small small;
    return window_small(u, write, &small) && (!write || e->x->evex || !e->masked);
}

/* Loads past the caches of elements that other workgroups change as a whole are the
 * handler's, which moves each at once. */
static bool is_plain(const struct emit *e, const struct uop *u)
{
    const struct umem *m = &u->mem;
    const struct level_ops *l = e->emu->level;
    if (m->returns && m->wide && m->bytes > 4)
        return false;
    return (u->fn == l->vmem_load || u->fn == l->vmem_store) && u->flags & UF_MEM &&
           (m->wide || is_small(e, u)) && m->addr != NO_ROW && m->bytes <= 16 &&
           m->bytes != 12 && (m->space == MEM_GLOBAL || m->space == MEM_FLAT);
}

static bool writes(const struct emit *e, const struct uop *u)
{
    return u->fn == e->emu->level->vmem_store;
}

static struct access global_access(const struct emit *e, const struct uop *u)
{
    unsigned dwords = u->mem.wide ? u->mem.bytes / 4u : 1;
    struct access a = {.u = u,
                       .addr = u->mem.addr,
                       .wide = u->mem.addr64,
                       .dwords = dwords,
                       .rows = dwords,
                       .bytes = u->mem.bytes,
                       .write = writes(e, u)};
    if (!u->mem.wide)
        (void)window_small(u, a.write, &a.small);
    for (unsigned k = 0; k < a.rows; k++)
        a.row[k] = (uint16_t)((a.write ? u->mem.data : u->d) + k);
    return a;
}

static void emit_global(struct emit *e, const struct uop *u)
{
    struct access a = global_access(e, u);
    access_begin(e, &a);
    a.shape = access_shape(e, &a);
    if (a.write)
        emit_store(e, &a);
    else
        emit_load(e, &a);
    access_end(e, &a);
}

/* ---- lines -------------------------------------------------------------------------
 */

bool access_line_likely(const struct emit *e, const struct uop *u)
{
    if (e->wave64 || !is_plain(e, u) || !u->mem.wide || u->mem.space != MEM_GLOBAL)
        return false;
    struct access a = global_access(e, u);
    a.step = a.bytes;
    return access_row_likely(e, &a);
}

bool access_has_row(const struct emit *e, const struct uop *u)
{
    bool global = is_plain(e, u) && u->mem.space == MEM_GLOBAL;
    return !e->wave64 && (global || lds_stores(e, u));
}

void access_by_row(struct emit *e, const struct uop *u, struct far *f,
                   const struct emu_row *row)
{
    struct x86 *x = e->x;
    bool lds = u->mem.space == MEM_LDS;
    struct access a = {.u = u, .addr = u->mem.addr};
    if (!lds)
        a = global_access(e, u);
    a.slow = f;
    a.learnt = true;
    a.lo = rows_find(e, a.addr);
    a.hi = a.wide ? rows_find(e, a.addr + 1u) : NO_ENTRY;
    if (e->masked) {
        test_exec_full(e);
        far_from(f, x86_jcc(x, CC_NE));
    }
    x86_mov_imm(x, R8, (uintptr_t)row);
    access_first(e, &a, 0);
    far_from(f, x86_jcc(x, access_row_apart(e, &a)));
    x86_mov(x, false, RAX, RCX);
    x86_alu_load(x, ALU_SUB, false, RAX, mem_at(R8, offsetof(struct emu_row, low)));
    x86_alu_load(x, ALU_CMP, false, RAX, mem_at(R8, offsetof(struct emu_row, room)));
    far_from(f, x86_jcc(x, CC_A));
    if (!lds) {
        form_address(e, &a, 0, e->parts);
    } else {
        x86_mov(x, false, RAX, RCX);
        if (u->mem.off0)
            x86_alu_imm(x, ALU_ADD, false, RAX, u->mem.off0);
    }
    rows_unpin(e);
}

/* ---- scalar loads ------------------------------------------------------------------
 */

bool access_is_scalar(const struct uop *u)
{
    unsigned dwords = u->mem.bytes / 4u;
    return u->fn == x_smem && u->flags & UF_MEM && u->mem.space == MEM_SCALAR &&
           u->mem.bytes % 4 == 0 && dwords <= 16 && u->d + dwords <= ISA_SEL_NULL;
}

void access_scalar(struct emit *e, const struct uop *u)
{
    const struct umem *m = &u->mem;
    struct x86 *x = e->x;
    x86_load(x, true, RAX, sgpr_mem(m->saddr));
    if (u->imm)
        x86_alu_imm(x, ALU_ADD, true, RAX, u->imm);
    if (m->addr != NO_ROW) {
        x86_load(x, false, RCX, sgpr_mem(m->addr));
        x86_alu(x, ALU_ADD, true, RAX, RCX);
    }
    x86_alu_imm(x, ALU_AND, true, RAX, -4);
}

static bool emit_scalar_load(struct emit *e, const struct uop *u)
{
    const struct umem *m = &u->mem;
    unsigned dwords = m->bytes / 4u;
    struct x86 *x = e->x;
    if (!access_is_scalar(u))
        return false;
    struct far *slow = emit_far(e, FAR_SLOW, u);
    if (!slow)
        return true;
    access_scalar(e, u);
    access_check(e, slow, m->bytes, 0, pair_of(e->wave, m->saddr) + (uint64_t)u->imm,
                 NULL);
    for (unsigned k = 0; k < dwords;) {
        bool wide = dwords - k >= 2;
        x86_load(x, wide, RCX, mem_at(RAX, (int32_t)(4 * k)));
        x86_store(x, wide, sgpr_mem(u->d + k), RCX);
        k += wide ? 2 : 1;
    }
    emit_back(e, slow);
    return true;
}

bool emit_known_memory(const struct emit *e, const struct uop *u)
{
    return u->fn == x_smem || is_plain(e, u) || emit_known_lds(e, u) ||
           emit_known_buffer(e, u) || emit_known_scratch(e, u);
}

bool emit_memory(struct emit *e, const struct uop *u)
{
    if (u->fn == x_smem)
        return emit_scalar_load(e, u);
    if (!is_plain(e, u))
        return emit_buffer(e, u) || emit_scratch(e, u) || emit_lds(e, u);
    emit_global(e, u);
    return true;
}
