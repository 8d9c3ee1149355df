/* crosslane.c: vector instructions that see more than their own lane: lane reads and
 * writes, permutes, swaps, relative VGPRs, lane counts (manual 7.7, 7.8, 16.8, 16.10).
 *
 * SPDX-License-Identifier: MIT
 */
#include "row.h"
#include "sem_wrap.h"
#include "wave.h"

static const struct uop *next(const struct uop *u)
{
    return uop_next(u);
}

static uint32_t *row(struct wave *w, unsigned half, unsigned reg)
{
    return w->vgpr[half] + (size_t)reg * ROW_DWORDS;
}

/* One lane of a source: its VGPR in the lane's half, or the scalar. */
static uint32_t lane_of(struct wave *w, const struct usrc *s, unsigned lane)
{
    if (s->base == SRC_VGPR && s->prep == PREP_NONE)
        return row(w, lane / 32, s->row)[lane % 32];
    return (uint32_t)scalar_value(w, s);
}

/* First active lane; lane 0 if there is none. */
WAVE_OP(v_readfirstlane_b32)
{
    uint64_t exec = wave_exec64(w);
    unsigned lane = exec ? (unsigned)__builtin_ctzll(exec) : 0;
    w->sgpr[u->d] = lane_of(w, &u->s[0], lane);
    return next(u);
}

WAVE_OP(v_readlane_b32)
{
    unsigned lane = (uint32_t)scalar_value(w, &u->s[1]) & (w->wave64 ? 63u : 31u);
    w->sgpr[u->d] = lane_of(w, &u->s[0], lane);
    return next(u);
}

/* Ignores EXEC. */
WAVE_OP(v_writelane_b32)
{
    unsigned lane = (uint32_t)scalar_value(w, &u->s[1]) & (w->wave64 ? 63u : 31u);
    row(w, lane / 32, u->d)[lane % 32] = (uint32_t)scalar_value(w, &u->s[0]);
    return next(u);
}

/* A source of all lanes of a half: its VGPR, or the scalar in every lane of t. */
static const uint32_t *source_row(struct wave *w, const struct usrc *s, unsigned half,
                                  uint32_t *t)
{
    if (s->base == SRC_VGPR && s->prep == PREP_NONE)
        return row(w, half, s->row);
    row_fill(t, (uint32_t)scalar_value(w, s));
    return t;
}

/* __builtin_popcount in a form that vectorises everywhere. */
static inline uint32_t bit_count(uint32_t v)
{
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    v += v >> 8;
    return (v + (v >> 16)) & 63u;
}

/* Bits of S0 below this lane, plus S1. */
static const struct uop *mbcnt(struct wave *w, const struct uop *u, unsigned which)
{
    for (unsigned h = 0; h < w->halves; h++) {
        uint32_t t[ROW_DWORDS], t0[ROW_DWORDS], t1[ROW_DWORDS];
        const uint32_t *s0 = source_row(w, &u->s[0], h, t0);
        const uint32_t *s1 = source_row(w, &u->s[1], h, t1);
        const uint32_t all = h > which ? ~0u : 0, some = h == which ? ~0u : 0;
        for (unsigned l = 0; l < 32; l++) {
            uint32_t below = (((1u << l) - 1) & some) | all;
            t[l] = s1[l] + bit_count(s0[l] & below);
        }
        row_merge(row(w, h, u->d), t, w->sgpr[ISA_SEL_EXEC_LO + h]);
    }
    return next(u);
}

WAVE_OP(v_mbcnt_lo_u32_b32)
{
    return mbcnt(w, u, 0);
}

WAVE_OP(v_mbcnt_hi_u32_b32)
{
    return mbcnt(w, u, 1);
}

WAVE_OP(v_swap_b32)
{
    for (unsigned h = 0; h < w->halves; h++) {
        uint32_t exec = w->sgpr[ISA_SEL_EXEC_LO + h], t[ROW_DWORDS];
        uint32_t *a = row(w, h, u->d), *b = row(w, h, u->d2);
        row_copy(t, a, 1);
        row_merge(a, b, exec);
        row_merge(b, t, exec);
    }
    return next(u);
}

/* Halves of registers: op_sel bit 0 is D's, bit 1 is S0's upper half. */
WAVE_OP(v_swap_b16)
{
    unsigned a_shift = u->op_sel & 1u ? 16 : 0, b_shift = u->op_sel & 2u ? 16 : 0;
    for (unsigned l = 0; l < 32u * w->halves; l++) {
        uint32_t *a = &row(w, l / 32, u->d)[l % 32],
                 *b = &row(w, l / 32, u->d2)[l % 32];
        if (!(w->sgpr[ISA_SEL_EXEC_LO + l / 32] >> (l % 32) & 1u))
            continue;
        uint32_t x = *a >> a_shift & 0xffffu, y = *b >> b_shift & 0xffffu;
        *a = (*a & ~(0xffffu << a_shift)) | y << a_shift;
        *b = (*b & ~(0xffffu << b_shift)) | x << b_shift;
    }
    return next(u);
}

/* ---- permutes ---------------------------------------------------------------------
 */

/* V_PERMLANE(X)16: within rows of 16 lanes, the 4-bit selectors in S1 and S2 (scalar);
 * X reads from the other row of the pair. OPSEL[0]: fetch inactive lanes, OPSEL[1]:
 * bound control (inactive sources give the old value, or zero). */
static const struct uop *permlane16(struct wave *w, const struct uop *u, unsigned cross)
{
    uint32_t low = (uint32_t)scalar_value(w, &u->s[1]);
    uint32_t high = (uint32_t)scalar_value(w, &u->s[2]), from[ROW_DWORDS];
    bool fi = u->op_sel & 1, bound = u->op_sel & 2;
    for (unsigned l = 0; l < 32; l++)
        from[l] = ((l & 16u) ^ cross) | ((l & 8u ? high : low) >> (4 * (l & 7u)) & 15u);
    for (unsigned h = 0; h < w->halves; h++) {
        uint32_t exec = w->sgpr[ISA_SEL_EXEC_LO + h], t[ROW_DWORDS], t0[ROW_DWORDS];
        uint32_t lanes[ROW_DWORDS], valid[ROW_DWORDS], write = exec;
        const uint32_t *s = source_row(w, &u->s[0], h, t0);
        row_lookup(t, s, from, fi ? ~0u : exec);
        if (!fi && !bound && exec != ~0u) { /* inactive sources: the old value stays */
            row_from_mask(lanes, exec);
            row_lookup(valid, lanes, from, ~0u);
            write &= row_to_mask(valid);
        }
        row_merge(row(w, h, u->d), t, write);
    }
    return next(u);
}

WAVE_OP(v_permlane16_b32)
{
    return permlane16(w, u, 0);
}

WAVE_OP(v_permlanex16_b32)
{
    return permlane16(w, u, 16);
}

/* Swap the halves of a wave64; inactive lanes are read. Does nothing in wave32. */
WAVE_OP(v_permlane64_b32)
{
    uint32_t t[2][ROW_DWORDS];
    if (!w->wave64)
        return next(u);
    for (unsigned l = 0; l < 64; l++)
        t[l / 32][l % 32] = lane_of(w, &u->s[0], l ^ 32u);
    for (unsigned h = 0; h < 2; h++)
        row_merge(row(w, h, u->d), t[h], w->sgpr[ISA_SEL_EXEC_LO + h]);
    return next(u);
}

/* ---- relative VGPRs (index in M0)
 * ---------------------------------------------------- */

static const struct uop *movrel(struct wave *w, const struct uop *u, unsigned from,
                                unsigned to, bool swap)
{
    bool vgpr = u->s[0].base == SRC_VGPR && u->s[0].prep == PREP_NONE;
    unsigned limit = w->group->n_vgprs;
    if ((vgpr && from >= limit) || to >= limit)
        return wave_fault(w, u, EMU_FAULT_REGISTER,
                          "M0 selects a VGPR beyond those of the wave");
    for (unsigned h = 0; h < w->halves; h++) {
        uint32_t exec = w->sgpr[ISA_SEL_EXEC_LO + h], t[ROW_DWORDS], old[ROW_DWORDS];
        row_copy(old, row(w, h, to), 1);
        if (vgpr)
            row_copy(t, row(w, h, from), 1);
        else
            row_fill(t, (uint32_t)scalar_value(w, &u->s[0]));
        row_merge(row(w, h, to), t, exec);
        if (swap)
            row_merge(row(w, h, from), old, exec);
    }
    return next(u);
}

WAVE_OP(v_movreld_b32)
{
    return movrel(w, u, u->s[0].row, u->d + w->sgpr[ISA_SEL_M0], false);
}

WAVE_OP(v_movrels_b32)
{
    return movrel(w, u, u->s[0].row + w->sgpr[ISA_SEL_M0], u->d, false);
}

WAVE_OP(v_movrelsd_b32)
{
    uint32_t m0 = w->sgpr[ISA_SEL_M0];
    return movrel(w, u, u->s[0].row + m0, u->d + m0, false);
}

WAVE_OP(v_movrelsd_2_b32)
{
    uint32_t m0 = w->sgpr[ISA_SEL_M0];
    return movrel(w, u, u->s[0].row + (m0 & 0x3ffu), u->d + (m0 >> 16 & 0x3ffu), false);
}

WAVE_OP(v_swaprel_b32)
{
    uint32_t m0 = w->sgpr[ISA_SEL_M0];
    return movrel(w, u, u->d2 + (m0 & 0x3ffu), u->d + (m0 >> 16 & 0x3ffu), true);
}

/* ---- LDS hardware as a crossbar; no LDS memory is touched
 * ----------------------------- */

/* The lanes that the address operand means. */
static void lds_lanes(struct wave *w, const struct uop *u, unsigned h, uint32_t *lanes)
{
    const uint32_t *a = row(w, h, u->mem.addr);
    const uint32_t offset = (uint32_t)u->imm;
    for (unsigned l = 0; l < 32; l++)
        lanes[l] = (a[l] + offset) / 4 & 31u;
}

/* Lane l gets DATA0 of lane addr/4; inactive sources give 0. Halves of a wave64 do
 * not mix (manual 12.5.2). */
WAVE_OP(ds_bpermute_b32)
{
    for (unsigned h = 0; h < w->halves; h++) {
        uint32_t exec = w->sgpr[ISA_SEL_EXEC_LO + h], t[ROW_DWORDS], from[ROW_DWORDS];
        lds_lanes(w, u, h, from);
        row_lookup(t, row(w, h, u->mem.data), from, exec);
        row_merge(row(w, h, u->d), t, exec);
    }
    return next(u);
}

/* Lane addr/4 gets DATA0 of lane l; the highest lane wins; others get 0. */
WAVE_OP(ds_permute_b32)
{
    for (unsigned h = 0; h < w->halves; h++) {
        uint32_t exec = w->sgpr[ISA_SEL_EXEC_LO + h], to[ROW_DWORDS];
        uint32_t t[ROW_DWORDS] = {0};
        const uint32_t *data = row(w, h, u->mem.data);
        lds_lanes(w, u, h, to);
        for (uint32_t m = exec; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            t[to[l]] = data[l];
        }
        row_merge(row(w, h, u->d), t, exec);
    }
    return next(u);
}

/* Source lane of DS_SWIZZLE (manual, DS_SWIZZLE_B32): full data sharing in groups of
 * four (bit 15), else and/or/xor masks over 32 lanes; 0xe000 and up: FFT, 0xc000 and
 * up: rotate. */
static void swizzle_lanes(unsigned offset, uint32_t *from)
{
    const uint32_t mask = offset & 31u, or_bits = offset >> 5 & 31u,
                   xor_bits = offset >> 10 & 31u;
    const unsigned shift = (unsigned)__builtin_popcount(mask);
    const uint32_t by = offset >> 10 & 1u ? 0u - or_bits : or_bits;
    if (offset >= 0xe000u) /* FFT: reversed bits above the mask's */
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t reversed = (l << 4 & 16u) | (l << 2 & 8u) | (l & 4u) |
                                (l >> 2 & 2u) | (l >> 4 & 1u);
            from[l] = reversed >> shift | (l & mask);
        }
    else if (offset >= 0xc000u) /* rotate by 9:5 within the group that 4:0 masks */
        for (uint32_t l = 0; l < 32; l++)
            from[l] = (l & mask) | ((l + by) & ~mask & 31u);
    else if (offset & 0x8000u)
        for (uint32_t l = 0; l < 32; l++)
            from[l] = (l & ~3u) | (offset >> (2 * (l & 3u)) & 3u);
    else
        for (uint32_t l = 0; l < 32; l++)
            from[l] = ((l & mask) | or_bits) ^ xor_bits;
}

WAVE_OP(ds_swizzle_b32)
{
    uint32_t from[ROW_DWORDS];
    swizzle_lanes((uint16_t)u->imm, from);
    for (unsigned h = 0; h < w->halves; h++) {
        uint32_t exec = w->sgpr[ISA_SEL_EXEC_LO + h], t[ROW_DWORDS];
        row_lookup(t, row(w, h, u->mem.addr), from, exec);
        row_merge(row(w, h, u->d), t, exec);
    }
    return next(u);
}

#include "crosslane.inc"
