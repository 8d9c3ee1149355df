/* memory.c: memory instructions whose lanes are contiguous or uniform.
 *
 * Per part of a row: are the active lanes' addresses those of consecutive elements, or
 * all the same? Then bounds are checked once and vectors are moved; all else is the
 * handler's, which sees registers as if nothing had been tried (FAR_SLOW). Addresses
 * are formed as in mem/address.h. Stores are checked in all parts before the first one.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "emit.h"
#include "handlers.h"
#include "machine.h"

#define K_TEST     3u
#define K_MIX      7u
#define MAX_DWORDS 4u

struct access {
    const struct uop *u;
    unsigned dwords; /* per lane and element */
    unsigned bytes;
    bool write, lds;
    unsigned lo, hi;           /* entries of the address rows; hi: NO_ENTRY */
    unsigned data[MAX_DWORDS]; /* entries of the data rows */
    struct far *slow;
};

/* ---- which instructions ------------------------------------------------------------
 */

static bool is_plain(const struct emit *e, const struct uop *u)
{
    const struct umem *m = &u->mem;
    const struct level_ops *l = e->emu->level;
    if (!(u->flags & UF_MEM) || !m->wide || m->addtid || m->addr == NO_ROW)
        return false;
    if (!e->x->evex && (e->masked || m->bytes != 4 || m->elems != 1 || m->addr64))
        return false;
    if (u->fn == l->vmem_load || u->fn == l->vmem_store)
        return (m->space == MEM_GLOBAL || m->space == MEM_FLAT) && m->bytes <= 16 &&
               m->bytes != 12;
    return (u->fn == l->ds_load || u->fn == l->ds_store) && m->bytes <= 16 &&
           m->bytes != 12 && (m->elems == 1 || u->fn == l->ds_load);
}

/* ---- addresses ---------------------------------------------------------------------
 */

static struct x86_rm fixed_rm(unsigned c)
{
    return rm_mem(FIXED, (int32_t)(64u * c));
}

/* ZF if the active lanes of reg equal those of rm. */
static void compare_lanes(struct emit *e, unsigned reg, struct x86_rm rm, unsigned part)
{
    if (e->x->evex) {
        x86_vec(e->x, X86_PCMPD, K_TEST, reg, rm, e->masked ? 1 + part : 0, CMP_NE);
        x86_kortest(e->x, K_TEST, K_TEST);
    } else {
        unsigned t = temp_reg(e, TEMP_X);
        x86_vec(e->x, X86_PXOR, t, reg, rm, 0, 0);
        x86_vec(e->x, X86_PTEST, t, 0, rm_reg(t), 0, 0);
    }
}

/* rcx: the offset of the part's first lane; TEMP_A: the same in all lanes. */
static void first_lane(struct emit *e, unsigned reg)
{
    x86_vmovd(e->x, RCX, reg);
    x86_vec(e->x, X86_PBROADCASTD, temp_reg(e, TEMP_A), 0, rm_reg(reg), 0, 0);
}

/* TEMP_B: the offsets of consecutive elements. */
static void consecutive(struct emit *e, unsigned bytes)
{
    unsigned a = temp_reg(e, TEMP_A), b = temp_reg(e, TEMP_B);
    if (bytes == 4) {
        x86_vec(e->x, X86_PADDD, b, a, fixed_rm(C_LANE4_0), 0, 0);
        return;
    }
    x86_vec(e->x, X86_MOVUPS, b, 0, fixed_rm(C_LANE4_0), 0, 0);
    x86_vec(e->x, X86_PSLLD_I, b, 0, rm_reg(b), 0, bytes == 8 ? 1 : 2);
    x86_vec(e->x, X86_PADDD, b, b, rm_reg(a), 0, 0);
}

/* rax: the address of the lane whose offset rcx is. Global: from SGPRs or a pair whose
 * upper halves agree (checked here). */
static void form_address(struct emit *e, struct access *a, unsigned part, unsigned elem)
{
    const struct uop *u = a->u;
    struct x86 *x = e->x;
    if (a->lds) {
        unsigned off = elem ? u->mem.off1 : u->mem.off0;
        x86_alu_imm(x, ALU_ADD, false, RCX, (int32_t)off); /* wraps as the sum does */
        x86_load(x, true, RAX, wave_mem(offsetof(struct wave, group)));
        x86_load(x, true, RAX, mem_at(RAX, offsetof(struct workgroup, lds)));
        x86_alu(x, ALU_ADD, true, RAX, RCX);
        return;
    }
    if (u->mem.saddr != NO_ROW) {
        x86_load(x, true, RAX, sgpr_mem(u->mem.saddr));
        x86_alu(x, ALU_ADD, true, RAX, RCX);
    } else {
        x86_mov(x, false, RAX, RCX);
    }
    if (a->hi != NO_ENTRY) {
        unsigned hi = row_reg(e, a->hi, part), t = temp_reg(e, TEMP_B);
        x86_vmovd(x, RDX, hi);
        x86_vec(x, X86_PBROADCASTD, t, 0, rm_reg(hi), 0, 0);
        compare_lanes(e, hi, rm_reg(t), part);
        far_from(a->slow, x86_jcc(x, CC_NE));
        x86_shift_imm(x, SHIFT_SHL, true, RDX, 32);
        x86_alu(x, ALU_ADD, true, RAX, RDX);
    }
    if (u->imm)
        x86_alu_imm(x, ALU_ADD, true, RAX, u->imm);
}

/* May the wave access bytes from rax (LDS: from offset rcx) on? */
static void check_bounds(struct emit *e, struct access *a, unsigned bytes)
{
    struct x86 *x = e->x;
    if (a->lds) {
        x86_load(x, true, RDX, wave_mem(offsetof(struct wave, group)));
        x86_load(x, false, RDX, mem_at(RDX, offsetof(struct workgroup, lds_bytes)));
        x86_alu_imm(x, ALU_ADD, true, RCX, (int32_t)bytes);
        x86_alu(x, ALU_CMP, true, RDX, RCX);
    } else {
        x86_mov_imm(x, RDX, bytes);
        x86_mov_imm(x, RCX, a->write ? EMU_MEM_WRITE : EMU_MEM_READ);
        x86_call_mem(x, mem_at(TABLE, -8 * TABLE_CHECK));
    }
    far_from(a->slow, x86_jcc(x, CC_B));
}

/* Offsets must not wrap within a part: the sum of 64 bits would not. */
static void check_wrap(struct emit *e, struct access *a, unsigned bytes)
{
    if (a->lds)
        return; /* beyond all bounds then */
    x86_alu_imm(e->x, ALU_CMP, false, RCX, -(int32_t)(2 * bytes));
    far_from(a->slow, x86_jcc(e->x, CC_A));
}

/* ---- loads -------------------------------------------------------------------------
 */

static unsigned under_exec(const struct emit *e, unsigned part)
{
    return e->masked ? 1 + part : 0;
}

static void load_uniform(struct emit *e, const struct access *a, unsigned part,
                         unsigned first)
{
    for (unsigned k = 0; k < a->dwords; k++)
        x86_vec(e->x, X86_BROADCASTSS, row_reg(e, a->data[first + k], part), 0,
                rm_mem(RAX, (int32_t)(4 * k)), under_exec(e, part), 0);
}

/* TEMP_X, or the row itself if all lanes are written. */
static void permuted(struct emit *e, unsigned d, unsigned index, unsigned table,
                     struct x86_rm second)
{
    x86_vec(e->x, X86_MOVUPS, d, 0, fixed_rm(index), 0, 0);
    x86_vec(e->x, X86_PERMI2D, d, table, second, 0, 0);
}

static void load_consecutive(struct emit *e, const struct access *a, unsigned part,
                             unsigned first)
{
    unsigned t = temp_reg(e, TEMP_A), u = temp_reg(e, TEMP_S0), v = temp_reg(e, TEMP_X),
             w = temp_reg(e, TEMP_B);
    if (a->dwords == 1) {
        x86_vec(e->x, X86_MOVUPS, row_reg(e, a->data[first], part), 0, rm_mem(RAX, 0),
                under_exec(e, part), 0);
        return;
    }
    x86_vec(e->x, X86_MOVUPS, t, 0, rm_mem(RAX, 0), 0, 0);
    if (a->dwords == 4)
        x86_vec(e->x, X86_MOVUPS, u, 0, rm_mem(RAX, 128), 0, 0);
    for (unsigned k = 0; k < a->dwords; k++) {
        unsigned d = row_reg(e, a->data[first + k], part);
        permuted(e, v, (a->dwords == 2 ? C_EVEN : C_QUAD0) + k, t, rm_mem(RAX, 64));
        if (a->dwords == 4) {
            permuted(e, w, C_QUAD0 + k, u, rm_mem(RAX, 192));
            x86_vec(e->x, X86_PBLENDMD, v, v, rm_reg(w), K_MIX, 0);
        }
        x86_vec(e->x, X86_MOVUPS, d, 0, rm_reg(v), under_exec(e, part), 0);
    }
}

static void load_part(struct emit *e, struct access *a, unsigned part, unsigned elem)
{
    struct x86 *x = e->x;
    unsigned reg = row_reg(e, a->lo, part), first = elem * a->dwords;
    unsigned lanes = e->part_bytes / 4;
    first_lane(e, reg);
    consecutive(e, a->bytes);
    compare_lanes(e, temp_reg(e, TEMP_B), rm_reg(reg), part);
    size_t other = x86_jcc(x, CC_NE);
    check_wrap(e, a, lanes * a->bytes);
    form_address(e, a, part, elem);
    check_bounds(e, a, lanes * a->bytes);
    load_consecutive(e, a, part, first);
    size_t done = x86_jmp(x);
    x86_land(x, other);
    compare_lanes(e, temp_reg(e, TEMP_A), rm_reg(reg), part);
    far_from(a->slow, x86_jcc(x, CC_NE));
    form_address(e, a, part, elem);
    check_bounds(e, a, a->bytes);
    load_uniform(e, a, part, first);
    x86_land(x, done);
}

/* ---- stores ------------------------------------------------------------------------
 */

static const uint8_t part_address[MAX_PARTS] = {RSI, RDI, R10, R11};

static void check_store(struct emit *e, struct access *a, unsigned part)
{
    unsigned reg = row_reg(e, a->lo, part), lanes = e->part_bytes / 4;
    first_lane(e, reg);
    consecutive(e, a->bytes);
    compare_lanes(e, temp_reg(e, TEMP_B), rm_reg(reg), part);
    far_from(a->slow, x86_jcc(e->x, CC_NE));
    check_wrap(e, a, lanes * a->bytes);
    form_address(e, a, part, 0);
    check_bounds(e, a, lanes * a->bytes);
    x86_mov(e->x, true, part_address[part], RAX);
}

static void store_part(struct emit *e, const struct access *a, unsigned part)
{
    unsigned base = part_address[part], v = temp_reg(e, TEMP_X),
             w = temp_reg(e, TEMP_B), r[MAX_DWORDS];
    for (unsigned k = 0; k < a->dwords; k++)
        r[k] = row_reg(e, a->data[k], part);
    if (a->dwords == 1) {
        x86_vec(e->x, X86_MOVUPS_ST, r[0], 0, rm_mem(base, 0), under_exec(e, part), 0);
        return;
    }
    for (unsigned q = 0; q < a->dwords; q++) {
        permuted(e, v, (a->dwords == 2 ? C_ZIP2_0 : C_ZIP4_0) + q, r[0], rm_reg(r[1]));
        if (a->dwords == 4) {
            permuted(e, w, C_ZIP4_0 + q, r[2], rm_reg(r[3]));
            x86_vec(e->x, X86_PBLENDMD, v, v, rm_reg(w), K_MIX, 0);
        }
        x86_vec(e->x, X86_MOVUPS_ST, v, 0, rm_mem(base, (int32_t)(64 * q)), 0, 0);
    }
}

/* ---- the instruction ---------------------------------------------------------------
 */

static void set_mix(struct emit *e, unsigned lanes)
{
    x86_mov_imm(e->x, RAX, lanes);
    x86_k_from_gpr(e->x, K_MIX, RAX);
}

static bool overlaps(const struct uop *u, unsigned rows)
{
    unsigned n = u->mem.addr64 ? 2 : 1;
    return u->mem.addr < u->d + rows && u->d < u->mem.addr + n;
}

/* Registers as the slow path shall find them: without the results. */
static struct row_cache without_results(const struct emit *e,
                                        const struct row_cache *before, unsigned rows,
                                        unsigned d)
{
    struct row_cache r = e->rows;
    for (unsigned row = d; row < d + rows; row++) {
        unsigned c = r.entry_of[row];
        bool was = before->entry_of[row] == c;
        r.dirty[c] = was && before->dirty[c];
        r.used[c] = was || e->masked;
    }
    return r;
}

static void emit_load(struct emit *e, struct access *a)
{
    const struct uop *u = a->u;
    unsigned rows = a->dwords * u->mem.elems;
    if (overlaps(u, rows)) /* the slow path finds the addresses in memory */
        rows_flush(e, &e->rows);
    struct row_cache before = e->rows;
    for (unsigned k = 0; k < rows; k++)
        a->data[k] = rows_write(e, u->d + k, e->masked || overlaps(u, rows));
    struct row_cache now = e->rows;
    e->rows = without_results(e, &before, rows, u->d);
    a->slow = emit_far(e, FAR_SLOW, u);
    e->rows = now;
    if (!a->slow)
        return;
    if (a->dwords == 4)
        set_mix(e, 0xff00);
    for (unsigned elem = 0; elem < u->mem.elems; elem++)
        for (unsigned part = 0; part < e->parts; part++)
            load_part(e, a, part, elem);
}

static void emit_store(struct emit *e, struct access *a)
{
    for (unsigned k = 0; k < a->dwords; k++)
        a->data[k] = rows_load(e, a->u->mem.data + k);
    a->slow = emit_far(e, FAR_SLOW, a->u);
    if (!a->slow)
        return;
    if (e->masked && a->dwords > 1) { /* lanes are apart then */
        x86_alu_mem_imm(e->x, ALU_CMP, false, sgpr_mem(ISA_SEL_EXEC_LO), -1);
        far_from(a->slow, x86_jcc(e->x, CC_NE));
    }
    for (unsigned part = 0; part < e->parts; part++)
        check_store(e, a, part);
    if (a->dwords == 4)
        set_mix(e, 0xcccc);
    for (unsigned part = 0; part < e->parts; part++)
        store_part(e, a, part);
}

static bool emit_vector_memory(struct emit *e, const struct uop *u)
{
    const struct level_ops *l = e->emu->level;
    struct access a = {.u = u,
                       .dwords = u->mem.bytes / 4,
                       .bytes = u->mem.bytes,
                       .write = u->fn == l->vmem_store || u->fn == l->ds_store,
                       .lds = u->fn == l->ds_load || u->fn == l->ds_store,
                       .hi = NO_ENTRY};
    unsigned rows = a.dwords * u->mem.elems;
    if (rows > MAX_DWORDS)
        return false;
    a.lo = rows_load(e, u->mem.addr);
    if (u->mem.addr64 && !a.lds)
        a.hi = rows_load(e, u->mem.addr + 1u);
    if (a.write)
        emit_store(e, &a);
    else
        emit_load(e, &a);
    rows_unpin(e);
    if (a.slow) {
        a.slow->after = e->rows;
        a.slow->back = x86_here(e->x);
    }
    return true;
}

/* ---- scalar loads ------------------------------------------------------------------
 */

static bool emit_scalar_load(struct emit *e, const struct uop *u)
{
    const struct umem *m = &u->mem;
    unsigned dwords = m->bytes / 4u;
    struct x86 *x = e->x;
    if (!(u->flags & UF_MEM) || m->space != MEM_SCALAR || m->bytes % 4 || dwords > 16 ||
        u->d + dwords > ISA_SEL_NULL)
        return false;
    struct far *slow = emit_far(e, FAR_SLOW, u);
    if (!slow)
        return true;
    x86_load(x, true, RAX, sgpr_mem(m->saddr));
    if (u->imm)
        x86_alu_imm(x, ALU_ADD, true, RAX, u->imm);
    if (m->addr != NO_ROW) {
        x86_load(x, false, RCX, sgpr_mem(m->addr));
        x86_alu(x, ALU_ADD, true, RAX, RCX);
    }
    x86_alu_imm(x, ALU_AND, true, RAX, -4);
    x86_mov_imm(x, RDX, m->bytes);
    x86_mov_imm(x, RCX, 0);
    x86_call_mem(x, mem_at(TABLE, -8 * TABLE_CHECK));
    far_from(slow, x86_jcc(x, CC_B));
    for (unsigned k = 0; k < dwords;) {
        bool wide = dwords - k >= 2;
        x86_load(x, wide, RCX, mem_at(RAX, (int32_t)(4 * k)));
        x86_store(x, wide, sgpr_mem(u->d + k), RCX);
        k += wide ? 2 : 1;
    }
    slow->after = e->rows;
    slow->back = x86_here(x);
    return true;
}

bool emit_known_memory(const struct emit *e, const struct uop *u)
{
    return u->fn == x_smem || is_plain(e, u);
}

bool emit_memory(struct emit *e, const struct uop *u)
{
    if (u->fn == x_smem)
        return emit_scalar_load(e, u);
    return is_plain(e, u) && emit_vector_memory(e, u);
}
