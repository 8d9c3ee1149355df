/* lds.c: LDS and its crossbar: loads, stores, atomics, ds_bpermute.
 *
 * The LDS has one bound: all lanes are compared with it at once, so whatever way they
 * lie they are gathered or scattered here. Lanes beyond it, and atomics and elements
 * of several dwords that may collide, are the handler's. SPDX-License-Identifier: MIT
 */
#include "access.h"
#include "machine.h"

/* ---- which instructions ------------------------------------------------------------
 */

/* What an atomic makes of memory (source 1 of the form) and data. */
static const struct {
    uint16_t op;
    uint8_t form; /* X86_MOVUPS: the data */
} atomics[] = {
    {ISA_DS_ADD_U32, X86_PADDD},
    {ISA_DS_ADD_RTN_U32, X86_PADDD},
    {ISA_DS_SUB_U32, X86_PSUBD},
    {ISA_DS_SUB_RTN_U32, X86_PSUBD},
    {ISA_DS_MIN_I32, X86_PMINSD},
    {ISA_DS_MIN_RTN_I32, X86_PMINSD},
    {ISA_DS_MAX_I32, X86_PMAXSD},
    {ISA_DS_MAX_RTN_I32, X86_PMAXSD},
    {ISA_DS_MIN_U32, X86_PMINUD},
    {ISA_DS_MIN_RTN_U32, X86_PMINUD},
    {ISA_DS_MAX_U32, X86_PMAXUD},
    {ISA_DS_MAX_RTN_U32, X86_PMAXUD},
    {ISA_DS_AND_B32, X86_PAND},
    {ISA_DS_AND_RTN_B32, X86_PAND},
    {ISA_DS_OR_B32, X86_POR},
    {ISA_DS_OR_RTN_B32, X86_POR},
    {ISA_DS_XOR_B32, X86_PXOR},
    {ISA_DS_XOR_RTN_B32, X86_PXOR},
    {ISA_DS_STOREXCHG_RTN_B32, X86_MOVUPS},
};

static bool atomic_form(unsigned op, enum x86_form *form)
{
    for (unsigned i = 0; i < sizeof atomics / sizeof *atomics; i++)
        if (atomics[i].op == op) {
            *form = (enum x86_form)atomics[i].form;
            return true;
        }
    return false;
}

enum lds_kind { LDS_NONE, LDS_LOAD, LDS_STORE, LDS_ATOMIC, LDS_PERMUTE };

static enum lds_kind kind_of(const struct emit *e, const struct uop *u)
{
    const struct umem *m = &u->mem;
    const struct level_ops *l = e->emu->level;
    enum x86_form form;
    bool full = e->x->evex || !e->masked;
    if (u->isa_op == ISA_DS_BPERMUTE_B32)
        return full ? LDS_PERMUTE : LDS_NONE;
    if (!(u->flags & UF_MEM) || m->addtid || m->addr == NO_ROW)
        return LDS_NONE;
    if (u->fn == l->ds_atomic)
        return full && atomic_form(u->isa_op, &form) && m->bytes == 4 &&
                       m->elems == 1 && m->off0 % 4 == 0
                   ? LDS_ATOMIC
                   : LDS_NONE;
    enum small small;
    if (u->fn == l->ds_load && window_small(u, false, &small))
        return LDS_LOAD;
    if (!m->wide || m->bytes > 16 || m->bytes == 12 ||
        m->bytes / 4u * m->elems > MAX_DWORDS)
        return LDS_NONE;
    return u->fn == l->ds_load ? LDS_LOAD : u->fn == l->ds_store ? LDS_STORE : LDS_NONE;
}

bool emit_known_lds(const struct emit *e, const struct uop *u)
{
    return kind_of(e, u) != LDS_NONE;
}

bool lds_stores(const struct emit *e, const struct uop *u)
{
    return kind_of(e, u) == LDS_STORE && u->mem.elems == 1;
}

/* ---- bounds ------------------------------------------------------------------------
 */

/* Do all active lanes lie within the workgroup's LDS? rdx: where it is. */
static void check(struct emit *e, struct access *a)
{
    const struct umem *m = &a->u->mem;
    unsigned limit = temp_reg(e, TEMP_S0);
    unsigned off = m->elems == 2 && m->off1 > m->off0 ? m->off1 : m->off0;
    struct x86 *x = e->x;
    x86_load(x, true, RDX, wave_mem(offsetof(struct wave, group)));
    x86_load(x, false, RAX, mem_at(RDX, offsetof(struct workgroup, lds_bytes)));
    /* small elements are gathered as dwords */
    x86_alu_imm(x, ALU_SUB, false, RAX, (int32_t)(off + (a->small ? 4 : a->bytes)));
    far_from(a->slow, x86_jcc(x, CC_B));
    access_spread(e, limit, RAX);
    x86_load(x, true, RDX, mem_at(RDX, offsetof(struct workgroup, lds)));
    access_within(e, a, limit, NO_ENTRY);
}

/* rax: the address of the lane whose offset rcx is. A lane that is off may be anywhere;
 * then what it would access is not. */
static void form_address(struct emit *e)
{
    if (e->masked)
        x86_sext32(e->x, RCX, RCX);
    x86_mov(e->x, true, RAX, RDX);
    x86_alu(e->x, ALU_ADD, true, RAX, RCX);
}

/* Can consecutive lanes be moved as a line? Not if lanes that are off would be touched.
 */
static bool has_lines(const struct emit *e, const struct access *a)
{
    if (a->small)
        return e->x->evex || !e->masked;
    return a->dwords == 1 || (!e->masked && (e->x->evex || a->write));
}

static int32_t element_at(const struct access *a, unsigned elem)
{
    return elem ? a->u->mem.off1 : a->u->mem.off0;
}

/* Is it worth asking whether the whole row is one line? */
static bool asks_for_rows(const struct emit *e, const struct access *a)
{
    return has_lines(e, a) && (e->x->evex || !e->masked) && access_row_likely(e, a);
}

/* ---- loads -------------------------------------------------------------------------
 */

typedef void load_fn(struct emit *e, const struct access *a, unsigned part,
                     unsigned first, int32_t disp);

/* All elements of part, which lie alike. */
static void load_elements(struct emit *e, const struct access *a, unsigned part,
                          load_fn *load, int32_t disp)
{
    for (unsigned i = 0; i < a->u->mem.elems; i++)
        load(e, a, part, i * a->dwords, element_at(a, i) + disp);
}

static void gather_elements(struct emit *e, const struct access *a, unsigned part)
{
    unsigned index = move_index(e, a, part);
    x86_mov(e->x, true, RAX, RDX);
    for (unsigned i = 0; i < a->u->mem.elems; i++)
        move_gather(e, a, part, index, i * a->dwords, element_at(a, i));
}

static void load_part(struct emit *e, struct access *a, unsigned part)
{
    struct x86 *x = e->x;
    size_t done[2] = {0, 0};
    bool spreads = (x->evex || !e->masked) && !a->small;
    if (has_lines(e, a) || spreads)
        access_first(e, a, part);
    if (has_lines(e, a)) {
        size_t apart = x86_jcc(x, access_part_apart(e, a, part));
        form_address(e);
        load_elements(e, a, part, move_load, 0);
        done[0] = x86_jmp(x);
        x86_land(x, apart);
    }
    if (spreads) {
        size_t apart = x86_jcc(x, access_part_unequal(e, a, part));
        form_address(e);
        load_elements(e, a, part, move_spread, 0);
        done[1] = x86_jmp(x);
        x86_land(x, apart);
    }
    gather_elements(e, a, part);
    for (unsigned i = 0; i < 2; i++)
        if (done[i])
            x86_land(x, done[i]);
}

/* ---- stores ------------------------------------------------------------------------
 */

/* Elements of several dwords that are apart must not overlap in part: they are if they
 * are aligned. */
static void check_alignment(struct emit *e, struct access *a, unsigned part)
{
    unsigned t = temp_reg(e, TEMP_B);
    if (a->dwords == 1)
        return;
    x86_vec(e->x, X86_PSLLD_I, t, 0, rm_reg(access_offsets(e, a, part)), 0,
            a->dwords == 2 ? 29 : 28);
    far_from(a->slow,
             x86_jcc(e->x, access_differ(e, t, const_part(e, C_ZERO, 0), part)));
}

/* What has been stored when it turns out that the handler has to do it is stored again.
 */
static void store_part(struct emit *e, struct access *a, unsigned part, unsigned elem)
{
    struct x86 *x = e->x;
    unsigned first = elem * a->dwords;
    int32_t off = element_at(a, elem);
    size_t done = 0;
    if (has_lines(e, a)) {
        access_first(e, a, part);
        size_t apart = x86_jcc(x, access_part_apart(e, a, part));
        form_address(e);
        move_store(e, a, part, RAX, first, off);
        done = x86_jmp(x);
        x86_land(x, apart);
    }
    if (x->evex && off % (int32_t)a->bytes == 0) {
        check_alignment(e, a, part);
        x86_mov(x, true, RAX, RDX);
        move_scatter(e, a, part, access_offsets(e, a, part), first, off);
    } else {
        far_from(a->slow, x86_jmp(x));
    }
    if (done)
        x86_land(x, done);
}

/* Code for rows that are one line, and for others part by part. elem: of a store. */
static void by_shape(struct emit *e, struct access *a, unsigned elem)
{
    size_t done = 0;
    if (asks_for_rows(e, a)) {
        size_t apart = known_line(e, a);
        form_address(e);
        for (unsigned p = 0; p < e->parts; p++) {
            int32_t at = (int32_t)(p * (e->part_bytes / 4) * a->step);
            if (a->write)
                move_store(e, a, p, RAX, elem * a->dwords, element_at(a, elem) + at);
            else
                load_elements(e, a, p, move_load, at);
        }
        done = x86_jmp(e->x);
        x86_land(e->x, apart);
    }
    for (unsigned p = 0; p < e->parts; p++)
        if (a->write)
            store_part(e, a, p, elem);
        else
            load_part(e, a, p);
    if (done)
        x86_land(e->x, done);
}

/* ---- atomics -----------------------------------------------------------------------
 */

/* Lanes that do not collide since they are consecutive. The workgroup's waves take
 * turns on one thread, so nothing comes between. */
static void emit_atomic(struct emit *e, const struct uop *u)
{
    enum x86_form form;
    struct access a = {
        .u = u, .addr = u->mem.addr, .dwords = 1, .bytes = 4, .lds = true};
    struct x86 *x = e->x;
    unsigned old = temp_reg(e, TEMP_X), t = temp_reg(e, TEMP_B),
             lanes = e->part_bytes / 4;
    if (!atomic_form(u->isa_op, &form))
        return;
    a.rows = u->mem.returns ? 1 : 0;
    a.row[0] = u->d;
    bool room = x->evex || !a.rows; /* for data in registers, too */
    if (!room)
        rows_flush(e, &e->rows);
    unsigned data = room ? rows_load(e, u->mem.data) : NO_ENTRY;
    access_begin(e, &a);
    check(e, &a);
    far_from(a.slow, known_line(e, &a));
    form_address(e);
    x86_alu_imm(x, ALU_AND, false, RCX, 3);
    far_from(a.slow, x86_jcc(x, CC_NE));
    for (unsigned p = 0; p < e->parts; p++) {
        int32_t at = u->mem.off0 + (int32_t)(4 * p * lanes);
        unsigned on = under_exec(e, p), from = t;
        if (room)
            from = row_reg(e, data, p);
        else
            x86_vec(x, X86_MOVUPS, t, 0, row_mem(e, u->mem.data, p), 0, 0);
        x86_vec(x, X86_MOVUPS, old, 0, rm_mem(RAX, at), on ? on | X86_ZERO : 0, 0);
        if (form != X86_MOVUPS)
            x86_vec(x, form, t, old, rm_reg(from), 0, 0);
        x86_vec(x, X86_MOVUPS_ST, form != X86_MOVUPS ? t : from, 0, rm_mem(RAX, at), on,
                0);
        if (a.rows)
            move_put(e, &a, 0, p, old);
    }
    access_end(e, &a);
}

/* ---- the crossbar ------------------------------------------------------------------
 */

/* t: the lanes that part's addresses mean, times 4 with AVX2. */
static void permute_lanes(struct emit *e, const struct uop *u, unsigned t,
                          unsigned addr, unsigned part)
{
    struct x86 *x = e->x;
    struct x86_rm from = addr == NO_ENTRY ? row_mem(e, u->mem.addr, part)
                                          : rm_reg(row_reg(e, addr, part));
    if (u->imm) {
        x86_mov_imm(x, RAX, (uint32_t)u->imm);
        access_spread(e, t, RAX);
        x86_vec(x, X86_PADDD, t, t, from, 0, 0);
    } else {
        x86_vec(x, X86_MOVUPS, t, 0, from, 0, 0);
    }
    x86_vec(x, X86_PSRLD_I, t, 0, rm_reg(t), 0, 2);
    if (x->evex) /* VPERMI2D looks at five bits */
        return;
    x86_vec(x, X86_PSLLD_I, t, 0, rm_reg(t), 0, 27);
    x86_vec(x, X86_PSRLD_I, t, 0, rm_reg(t), 0, 25);
}

/* Lanes that are off give zeros. */
static void emit_permute_evex(struct emit *e, const struct uop *u)
{
    struct x86 *x = e->x;
    static const enum temp to[2] = {TEMP_X, TEMP_B}, source[2] = {TEMP_S0, TEMP_S1};
    unsigned from[2], addr = rows_load(e, u->mem.addr),
                      data = rows_load(e, u->mem.data);
    unsigned d =
        rows_write(e, u->d, e->masked || u->d == u->mem.addr || u->d == u->mem.data);
    for (unsigned p = 0; p < 2; p++) {
        from[p] = row_reg(e, data, p);
        if (!e->masked)
            continue;
        x86_vec(x, X86_MOVUPS, temp_reg(e, source[p]), 0, rm_reg(from[p]),
                (1 + p) | X86_ZERO, 0);
        from[p] = temp_reg(e, source[p]);
    }
    for (unsigned p = 0; p < 2; p++) {
        unsigned t = temp_reg(e, to[p]);
        permute_lanes(e, u, t, addr, p);
        x86_vec(x, X86_PERMI2D, t, from[0], rm_reg(from[1]), 0, 0);
    }
    for (unsigned p = 0; p < 2; p++)
        x86_vec(x, X86_MOVUPS, row_reg(e, d, p), 0, rm_reg(temp_reg(e, to[p])),
                under_exec(e, p), 0);
}

/* From the row in memory, which the result in its register leaves as it is. */
static void emit_permute_vex(struct emit *e, const struct uop *u)
{
    struct x86 *x = e->x;
    unsigned t = temp_reg(e, TEMP_B), on = temp_reg(e, TEMP_E), r = temp_reg(e, TEMP_X);
    rows_flush(e, &e->rows);
    unsigned addr = rows_find(e, u->mem.addr);
    unsigned d = rows_write(e, u->d, u->d == u->mem.addr);
    for (unsigned p = 0; p < e->parts; p++) {
        permute_lanes(e, u, t, addr, p);
        x86_vec(x, X86_PCMPEQD, on, on, rm_reg(on), 0, 0);
        x86_gather(x, r, mem_at(ROWS, (int32_t)(u->mem.data * ROW_BYTES)), t, on);
        x86_vec(x, X86_MOVUPS, row_reg(e, d, p), 0, rm_reg(r), 0, 0);
    }
}

static void emit_permute(struct emit *e, const struct uop *u)
{
    if (e->x->evex)
        emit_permute_evex(e, u);
    else
        emit_permute_vex(e, u);
    rows_unpin(e);
}

/* ---- the instruction ---------------------------------------------------------------
 */

static void emit_move(struct emit *e, const struct uop *u, bool write)
{
    const struct umem *m = &u->mem;
    unsigned dwords = m->wide ? m->bytes / 4u : 1;
    struct access a = {.u = u,
                       .addr = u->mem.addr,
                       .dwords = dwords,
                       .rows = dwords * m->elems,
                       .bytes = m->bytes,
                       .lds = true,
                       .write = write};
    if (!m->wide)
        (void)window_small(u, write, &a.small);
    for (unsigned k = 0; k < a.rows; k++)
        a.row[k] = (uint16_t)(!write         ? u->d + k
                              : k < a.dwords ? m->data + k
                                             : m->data2 + k - a.dwords);
    if (!write) /* there is more of the workgroup's memory behind its LDS */
        a.step = access_step_likely(e, &a);
    access_begin(e, &a);
    check(e, &a);
    /* of stores the second element of all lanes comes behind the first of all */
    for (unsigned i = 0; i < (write ? m->elems : 1u); i++)
        by_shape(e, &a, i);
    access_end(e, &a);
}

bool emit_lds(struct emit *e, const struct uop *u)
{
    switch (kind_of(e, u)) {
    case LDS_LOAD:
        emit_move(e, u, false);
        return true;
    case LDS_STORE:
        emit_move(e, u, true);
        return true;
    case LDS_ATOMIC:
        emit_atomic(e, u);
        return true;
    case LDS_PERMUTE:
        emit_permute(e, u);
        return true;
    default:
        return false;
    }
}
