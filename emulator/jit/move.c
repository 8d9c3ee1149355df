/* move.c: rows from and to memory, whose bounds have been looked at.
 *
 * Elements of several dwords lie lane by lane in memory and row by row in registers; so
 * do those with gaps between them. SPDX-License-Identifier: MIT
 */
#include "access.h"

void move_begin(struct emit *e, const struct access *a)
{
    if (!e->x->evex || a->step != 16)
        return;
    x86_mov_imm(e->x, RAX, a->write ? 0xcccc : 0xff00);
    x86_k_from_gpr(e->x, K_MIX, RAX);
}

void move_put(struct emit *e, const struct access *a, unsigned k, unsigned part,
              unsigned reg)
{
    struct x86_rm memory = row_mem(e, a->row[k], part);
    if (e->x->evex) {
        x86_vec(e->x, X86_MOVUPS, row_reg(e, a->data[k], part), 0, rm_reg(reg),
                under_exec(e, part), 0);
    } else if (a->in_memory && e->masked) {
        x86_vec(e->x, X86_MASKMOVPS_ST, reg, access_signs(e, part), memory, 0, 0);
    } else if (a->in_memory) {
        x86_vec(e->x, X86_MOVUPS_ST, reg, 0, memory, 0, 0);
    } else if (e->masked) {
        unsigned d = row_reg(e, a->data[k], part);
        x86_vec(e->x, X86_BLENDVPS, d, d, rm_reg(reg), 0, access_signs(e, part) << 4);
    } else {
        x86_vec(e->x, X86_MOVUPS, row_reg(e, a->data[k], part), 0, rm_reg(reg), 0, 0);
    }
}

unsigned move_get(struct emit *e, const struct access *a, unsigned k, unsigned part,
                  enum temp t)
{
    if (!a->in_memory)
        return row_reg(e, a->data[k], part);
    x86_vec(e->x, X86_MOVUPS, temp_reg(e, t), 0, row_mem(e, a->row[k], part), 0, 0);
    return temp_reg(e, t);
}

void move_spread(struct emit *e, const struct access *a, unsigned part, unsigned first,
                 int32_t disp)
{
    bool whole = !a->in_memory && (e->x->evex || !e->masked);
    unsigned t = temp_reg(e, TEMP_X);
    for (unsigned k = 0; k < a->dwords; k++) {
        struct x86_rm from = rm_mem(RAX, disp + (int32_t)(4 * k));
        unsigned to = whole ? row_reg(e, a->data[first + k], part) : t;
        x86_vec(e->x, X86_BROADCASTSS, to, 0, from, under_exec(e, part), 0);
        if (!whole)
            move_put(e, a, first + k, part, t);
    }
}

/* d: the dwords of two tables of sixteen that an index row names. */
static void permuted(struct emit *e, unsigned d, unsigned index, unsigned table,
                     struct x86_rm second)
{
    x86_vec(e->x, X86_MOVUPS, d, 0, const_part(e, index, 0), 0, 0);
    x86_vec(e->x, X86_PERMI2D, d, table, second, 0, 0);
}

/* AVX-512: sixteen lanes, two or four dwords apart. The line is read to its end. */
static void load_unzipped(struct emit *e, const struct access *a, unsigned part,
                          unsigned first, int32_t disp)
{
    unsigned t = temp_reg(e, TEMP_A), u = temp_reg(e, TEMP_S0), v = temp_reg(e, TEMP_X),
             w = temp_reg(e, TEMP_B);
    x86_vec(e->x, X86_MOVUPS, t, 0, rm_mem(RAX, disp), 0, 0);
    if (a->step == 16)
        x86_vec(e->x, X86_MOVUPS, u, 0, rm_mem(RAX, disp + 128), 0, 0);
    for (unsigned k = 0; k < a->dwords; k++) {
        permuted(e, v, (a->step == 8 ? C_EVEN : C_QUAD0) + k, t,
                 rm_mem(RAX, disp + 64));
        if (a->step == 16) {
            permuted(e, w, C_QUAD0 + k, u, rm_mem(RAX, disp + 192));
            x86_vec(e->x, X86_PBLENDMD, v, v, rm_reg(w), K_MIX, 0);
        }
        move_put(e, a, first + k, part, v);
    }
}

/* The lanes of a gather, which clears them: those that are on. */
static unsigned gather_lanes(struct emit *e, unsigned part)
{
    unsigned m = temp_reg(e, TEMP_E);
    if (e->x->evex) {
        unsigned on = under_exec(e, part);
        if (on)
            x86_kop(e->x, KOP_OR, K_PART, on, on);
        else
            x86_kop(e->x, KOP_XNOR, K_PART, K_PART, K_PART);
        return K_PART;
    }
    if (e->masked)
        return access_signs(e, part);
    x86_vec(e->x, X86_PCMPEQD, m, m, rm_reg(m), 0, 0);
    return m;
}

/* Dword k of lanes at rax + index + disp. */
static void gather(struct emit *e, const struct access *a, unsigned part, unsigned k,
                   unsigned index, int32_t disp)
{
    unsigned x = temp_reg(e, TEMP_X), lanes = gather_lanes(e, part);
    bool direct = e->x->evex && !a->alias && !a->small;
    x86_gather(e->x, direct ? row_reg(e, a->data[k], part) : x, mem_at(RAX, disp),
               index, lanes);
    if (a->small)
        window_put_small(e, a, part, x);
    else if (!direct)
        move_put(e, a, k, part, x);
}

unsigned move_index(struct emit *e, const struct access *a, unsigned part)
{
    unsigned index = access_offsets(e, a, part), copy = temp_reg(e, TEMP_S1);
    if (!a->alias || a->rows == 1 || index == copy)
        return index;
    x86_vec(e->x, X86_MOVUPS, copy, 0, rm_reg(index), 0, 0);
    return copy;
}

/* AVX2: d0 to d3 = the dwords of four elements in q0 to q3, in each sixteen bytes; t:
 * t2 is another register, the others may be those of q and d in the order that they are
 * written in. */
static void turn_quads(struct emit *e, const unsigned q[4], const unsigned t[4],
                       const unsigned d[4])
{
    static const enum x86_form dwords[] = {X86_UNPCKLPS, X86_UNPCKHPS};
    static const enum x86_form pairs[] = {X86_UNPCKLPD, X86_UNPCKHPD};
    for (unsigned i = 0; i < 4; i++)
        x86_vec(e->x, dwords[i & 1], t[i], q[i & 2], rm_reg(q[(i & 2) + 1]), 0, 0);
    for (unsigned i = 0; i < 4; i++)
        x86_vec(e->x, pairs[i & 1], d[i], t[i >> 1], rm_reg(t[2 + (i >> 1)]), 0, 0);
}

/* AVX2: elements of sixteen bytes at rax + the lanes of index + disp, all of them: a
 * move each, where gathers would take four. */
static void load_quads(struct emit *e, const struct access *a, unsigned part,
                       unsigned index, unsigned first, int32_t disp)
{
    static const enum temp q_at[] = {TEMP_S0, TEMP_S1, TEMP_S2, TEMP_B};
    static const enum temp t_at[] = {TEMP_X, TEMP_S0, TEMP_M, TEMP_S2};
    static const enum temp d_at[] = {TEMP_E, TEMP_X, TEMP_S1, TEMP_S0};
    struct x86 *x = e->x;
    unsigned q[4], t[4], d[4];
    for (unsigned i = 0; i < 4; i++) {
        q[i] = temp_reg(e, q_at[i]);
        t[i] = temp_reg(e, t_at[i]);
        d[i] = temp_reg(e, d_at[i]);
    }
    x86_load(x, true, R10, wave_mem(offsetof(struct wave, temp)));
    x86_vec(x, X86_MOVUPS_ST, index, 0, rm_mem(R10, 0), 0, 0);
    for (unsigned lane = 0; lane < 8; lane++) {
        unsigned reg = q[lane % 4];
        x86_load_sext32(x, R11, mem_at(R10, (int32_t)(4 * lane)));
        x86_alu(x, ALU_ADD, true, R11, RAX);
        if (lane < 4)
            x86_vec(x, X86_BROADCASTI128, reg, 0, rm_mem(R11, disp), 0, 0);
        else
            x86_vec(x, X86_INSERTI128, reg, reg, rm_mem(R11, disp), 0, 1);
    }
    turn_quads(e, q, t, d);
    for (unsigned i = 0; i < 4; i++)
        move_put(e, a, first + i, part, d[i]);
}

/* AVX-512: two or four dwords of all lanes, by eight bytes: half as many to gather. */
static void load_pairs(struct emit *e, const struct access *a, unsigned part,
                       unsigned index, unsigned first, int32_t disp)
{
    unsigned upper = temp_reg(e, TEMP_X), lo = temp_reg(e, TEMP_S0),
             hi = temp_reg(e, TEMP_B);
    x86_vec(e->x, X86_EXTRACTI32X8, index, 0, rm_reg(upper), 0, 1);
    for (unsigned k = 0; k < a->dwords; k += 2) {
        struct x86_mem from = mem_at(RAX, disp + (int32_t)(4 * k));
        x86_gather64(e->x, lo, from, index, gather_lanes(e, part));
        x86_gather64(e->x, hi, from, upper, gather_lanes(e, part));
        permuted(e, row_reg(e, a->data[first + k], part), C_EVEN, lo, rm_reg(hi));
        permuted(e, row_reg(e, a->data[first + k + 1], part), C_ODD, lo, rm_reg(hi));
    }
}

void move_gather(struct emit *e, const struct access *a, unsigned part, unsigned index,
                 unsigned first, int32_t disp)
{
    if (e->x->evex && a->dwords > 1 && !e->masked) {
        load_pairs(e, a, part, index, first, disp);
        return;
    }
    if (a->dwords == 4 && !e->masked) {
        load_quads(e, a, part, index, first, disp);
        return;
    }
    for (unsigned k = 0; k < a->dwords; k++)
        gather(e, a, part, first + k, index, disp + (int32_t)(4 * k));
}

void move_load(struct emit *e, const struct access *a, unsigned part, unsigned first,
               int32_t disp)
{
    bool whole = !a->in_memory && (e->x->evex || !e->masked);
    unsigned x = temp_reg(e, TEMP_X), steps = temp_reg(e, TEMP_B);
    if (a->small) {
        unsigned on = under_exec(e, part);
        x86_vec(e->x, a->bytes == 1 ? X86_PMOVZXBD : X86_PMOVZXWD, x, 0,
                rm_mem(RAX, disp), on ? on | X86_ZERO : 0, 0);
        window_put_small(e, a, part, x);
        return;
    }
    if (a->step > 4 && e->x->evex) {
        load_unzipped(e, a, part, first, disp);
    } else if (a->dwords > 1) {
        x86_vec(e->x, X86_MOVUPS, steps, 0, access_steps(e, a, 0), 0, 0);
        for (unsigned k = 0; k < a->dwords; k++)
            gather(e, a, part, first + k, steps, disp + (int32_t)(4 * k));
    } else if (!e->x->evex && e->masked) {
        x86_vec(e->x, X86_MASKMOVPS, x, access_signs(e, part), rm_mem(RAX, disp), 0, 0);
        move_put(e, a, first, part, x);
    } else {
        x86_vec(e->x, X86_MOVUPS, whole ? row_reg(e, a->data[first], part) : x, 0,
                rm_mem(RAX, disp), under_exec(e, part), 0);
        if (!whole)
            move_put(e, a, first, part, x);
    }
}

/* ---- stores ------------------------------------------------------------------------
 */

/* AVX-512: two or four rows, lane by lane. */
static void store_zipped(struct emit *e, const struct access *a, unsigned part,
                         unsigned base, unsigned first, int32_t disp)
{
    unsigned v = temp_reg(e, TEMP_X), w = temp_reg(e, TEMP_B), r[MAX_DWORDS];
    for (unsigned k = 0; k < a->dwords; k++)
        r[k] = row_reg(e, a->data[first + k], part);
    for (unsigned q = 0; q < a->dwords; q++) {
        permuted(e, v, (a->dwords == 2 ? C_ZIP2_0 : C_ZIP4_0) + q, r[0], rm_reg(r[1]));
        if (a->dwords == 4) {
            permuted(e, w, C_ZIP4_0 + q, r[2], rm_reg(r[3]));
            x86_vec(e->x, X86_PBLENDMD, v, v, rm_reg(w), K_MIX, 0);
        }
        x86_vec(e->x, X86_MOVUPS_ST, v, 0, rm_mem(base, disp + (int32_t)(64 * q)), 0,
                0);
    }
}

/* AVX2: d = the lower (upper: 0x31) halves of a and b, to memory. */
static void store_halves(struct emit *e, unsigned a, unsigned b, unsigned which,
                         unsigned base, int32_t disp)
{
    unsigned x = temp_reg(e, TEMP_X);
    x86_vec(e->x, X86_PERM2F128, x, a, rm_reg(b), 0, which);
    x86_vec(e->x, X86_MOVUPS_ST, x, 0, rm_mem(base, disp), 0, 0);
}

static void store_two(struct emit *e, const struct access *a, unsigned part,
                      unsigned base, unsigned first, int32_t disp)
{
    unsigned r = move_get(e, a, first, part, TEMP_S0),
             s = move_get(e, a, first + 1, part, TEMP_S1);
    unsigned lo = temp_reg(e, TEMP_A), hi = temp_reg(e, TEMP_B);
    x86_vec(e->x, X86_UNPCKLPS, lo, r, rm_reg(s), 0, 0);
    x86_vec(e->x, X86_UNPCKHPS, hi, r, rm_reg(s), 0, 0);
    store_halves(e, lo, hi, 0x20, base, disp);
    store_halves(e, lo, hi, 0x31, base, disp + 32);
}

/* Rows r, s, t, u: the quads of lanes 0 and 4, 1 and 5, ... */
static void store_four(struct emit *e, const struct access *a, unsigned part,
                       unsigned base, unsigned first, int32_t disp)
{
    unsigned r = move_get(e, a, first, part, TEMP_S0),
             s = move_get(e, a, first + 1, part, TEMP_S1);
    unsigned t = move_get(e, a, first + 2, part, TEMP_A);
    unsigned u = move_get(e, a, first + 3, part, TEMP_B);
    unsigned rs = temp_reg(e, TEMP_S2), tu = temp_reg(e, TEMP_M),
             x = temp_reg(e, TEMP_E), y = temp_reg(e, TEMP_X);
    static const enum x86_form mix[] = {X86_UNPCKLPS, X86_UNPCKHPS};
    for (unsigned h = 0; h < 2; h++) {
        x86_vec(e->x, mix[h], rs, r, rm_reg(s), 0, 0);
        x86_vec(e->x, mix[h], tu, t, rm_reg(u), 0, 0);
        x86_vec(e->x, X86_UNPCKLPD, x, rs, rm_reg(tu), 0, 0);
        x86_vec(e->x, X86_UNPCKHPD, rs, rs, rm_reg(tu), 0, 0);
        x86_vec(e->x, X86_PERM2F128, y, x, rm_reg(rs), 0, 0x20);
        x86_vec(e->x, X86_MOVUPS_ST, y, 0, rm_mem(base, disp + (int32_t)(32 * h)), 0,
                0);
        x86_vec(e->x, X86_PERM2F128, y, x, rm_reg(rs), 0, 0x31);
        x86_vec(e->x, X86_MOVUPS_ST, y, 0, rm_mem(base, disp + 64 + (int32_t)(32 * h)),
                0, 0);
    }
}

/* The lower halves of a row; AVX2: of all lanes. */
static void store_words(struct emit *e, const struct access *a, unsigned part,
                        unsigned base, int32_t disp)
{
    unsigned r = move_get(e, a, 0, part, TEMP_S0), x = temp_reg(e, TEMP_X);
    if (e->x->evex) {
        x86_vec(e->x, X86_PMOVDW, r, 0, rm_mem(base, disp), under_exec(e, part), 0);
        return;
    }
    x86_vec(e->x, X86_PSHUFB, x, r, const_rm(C_LOWS), 0, 0);
    x86_vec(e->x, X86_PERMQ, x, 0, rm_reg(x), 0, 0x08);
    x86_vec(e->x, X86_EXTRACTI128, x, 0, rm_mem(base, disp), 0, 0);
}

void move_store(struct emit *e, const struct access *a, unsigned part, unsigned base,
                unsigned first, int32_t disp)
{
    if (a->small) {
        store_words(e, a, part, base, disp);
    } else if (a->dwords == 1 && e->masked && !e->x->evex) {
        unsigned r = move_get(e, a, first, part, TEMP_S0);
        x86_vec(e->x, X86_MASKMOVPS_ST, r, access_signs(e, part), rm_mem(base, disp), 0,
                0);
    } else if (a->dwords == 1) {
        x86_vec(e->x, X86_MOVUPS_ST, move_get(e, a, first, part, TEMP_S0), 0,
                rm_mem(base, disp), under_exec(e, part), 0);
    } else if (e->x->evex) {
        store_zipped(e, a, part, base, first, disp);
    } else if (a->dwords == 2) {
        store_two(e, a, part, base, first, disp);
    } else {
        store_four(e, a, part, base, first, disp);
    }
}

void move_scatter(struct emit *e, const struct access *a, unsigned part, unsigned index,
                  unsigned first, int32_t disp)
{
    for (unsigned k = 0; k < a->dwords; k++) {
        unsigned lanes = gather_lanes(e, part);
        x86_scatter(e->x, move_get(e, a, first + k, part, TEMP_S0),
                    mem_at(RAX, disp + (int32_t)(4 * k)), index, lanes);
    }
}
