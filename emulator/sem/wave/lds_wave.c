/* lds_wave.c: LDS instructions whose lanes do not each bring an address: append and
 * consume, thread-id addressing, direct and parameter loads, the ray-tracing stack
 * (manual 12.2, 12.4, 12.5, 16.14, 16.15).
 *
 * All addresses of an instruction are checked before any byte is written.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

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

static bool active(const struct wave *w, unsigned lane)
{
    return w->sgpr[ISA_SEL_EXEC_LO + lane / 32] >> (lane % 32) & 1u;
}

static unsigned lanes(const struct wave *w)
{
    return 32u * w->halves;
}

/* Is [address, address + bytes) in the workgroup's LDS? */
static bool in_lds(const struct wave *w, uint64_t address, unsigned bytes)
{
    return address + bytes <= w->group->lds_bytes;
}

static const struct uop *range_fault(struct wave *w, const struct uop *u, unsigned lane,
                                     uint64_t address, bool write)
{
    return wave_fault_at(w, u, EMU_FAULT_LDS_RANGE, (int)lane, address, 4, write);
}

static uint32_t lds_read(const struct wave *w, uint32_t address)
{
    uint32_t v;
    memcpy(&v, w->group->lds + address, sizeof v);
    return v;
}

static void lds_write(struct wave *w, uint32_t address, uint32_t v)
{
    memcpy(w->group->lds + address, &v, sizeof v);
}

/* ---- append, consume ----------------------------------------------------------------
 */

/* Add to or subtract from one counter the number of active lanes; all get the old
 * value. The counter is at M0[15:0] + offset: what LLVM passes for an LDS pointer. */
static const struct uop *append(struct wave *w, const struct uop *u, bool subtract)
{
    uint64_t exec = wave_exec64(w);
    uint32_t address = (w->sgpr[ISA_SEL_M0] & 0xffffu) + u->mem.off0;
    uint32_t count = (uint32_t)__builtin_popcountll(exec);
    if (!exec)
        return next(u);
    unsigned lane = (unsigned)__builtin_ctzll(exec);
    if (address % 4)
        return wave_fault_at(w, u, EMU_FAULT_MISALIGNED, (int)lane, address, 4, true);
    if (!in_lds(w, address, 4))
        return range_fault(w, u, lane, address, true);
    wave_note(w, lane, EMU_SPACE_LDS, address, 4, true, true);
    uint32_t old = lds_read(w, address), t[ROW_DWORDS];
    lds_write(w, address, subtract ? old - count : old + count);
    row_fill(t, old);
    for (unsigned h = 0; h < w->halves; h++)
        row_merge(row(w, h, u->d), t, w->sgpr[ISA_SEL_EXEC_LO + h]);
    return next(u);
}

WAVE_OP(ds_append)
{
    return append(w, u, false);
}

WAVE_OP(ds_consume)
{
    return append(w, u, true);
}

/* ---- thread-id addressing -----------------------------------------------------------
 */

/* LDS address of lane l: offset + M0[15:0] + 4 l; false after a fault. */
static bool addtid_check(struct wave *w, const struct uop *u, uint32_t *base,
                         bool write)
{
    *base = (w->sgpr[ISA_SEL_M0] & 0xffffu) + u->mem.off0;
    for (unsigned l = 0; l < lanes(w); l++)
        if (active(w, l) && !in_lds(w, *base + 4 * l, 4)) {
            range_fault(w, u, l, *base + 4 * l, write);
            return false;
        }
    for (unsigned l = 0; l < lanes(w); l++)
        if (active(w, l))
            wave_note(w, l, EMU_SPACE_LDS, *base + 4 * l, 4, !write, write);
    return true;
}

WAVE_OP(ds_load_addtid_b32)
{
    uint32_t base;
    if (!addtid_check(w, u, &base, false))
        return NULL;
    for (unsigned l = 0; l < lanes(w); l++)
        if (active(w, l))
            row(w, l / 32, u->d)[l % 32] = lds_read(w, base + 4 * l);
    return next(u);
}

WAVE_OP(ds_store_addtid_b32)
{
    uint32_t base;
    if (!addtid_check(w, u, &base, true))
        return NULL;
    for (unsigned l = 0; l < lanes(w); l++)
        if (active(w, l))
            lds_write(w, base + 4 * l, row(w, l / 32, u->mem.data)[l % 32]);
    return next(u);
}

/* ---- direct and parameter loads: whole quads are written if any lane is active ------
 */

static uint32_t quad_mask(uint32_t exec)
{
    uint32_t any = (exec | exec >> 1 | exec >> 2 | exec >> 3) & 0x11111111u;
    return any * 15u;
}

WAVE_OP(lds_direct_load)
{
    uint32_t m0 = w->sgpr[ISA_SEL_M0], address = m0 & 0xffffu, t[ROW_DWORDS];
    if (!wave_exec64(w))
        return next(u);
    if (address % 4)
        return wave_fault_at(w, u, EMU_FAULT_MISALIGNED, -1, address, 4, false);
    if (!in_lds(w, address, 4))
        return range_fault(w, u, 0, address, false);
    wave_note(w, 0, EMU_SPACE_LDS, address, 4, true, false);
    uint32_t v = lds_read(w, address);
    switch (m0 >> 16 & 7u) {
    case 0:
        v &= 0xffu;
        break;
    case 1:
        v &= 0xffffu;
        break;
    case 2:
        break;
    case 4:
        v = (uint32_t)(int8_t)v;
        break;
    case 5:
        v = (uint32_t)(int16_t)v;
        break;
    default:
        return wave_fault(w, u, EMU_FAULT_ILLEGAL, "reserved data type in M0");
    }
    row_fill(t, v);
    for (unsigned h = 0; h < w->halves; h++)
        row_merge(row(w, h, u->d), t, quad_mask(w->sgpr[ISA_SEL_EXEC_LO + h]));
    return next(u);
}

/* Parameters of one attribute channel, for the primitive that each quad belongs to:
 * {P0, P10, P20, 0} in the quad's lanes. M0[30:16] has a bit for each quad but the
 * first that begins a new primitive; LDS holds 12 dwords (P0.xyzw, P10.xyzw, P20.xyzw)
 * an attribute and primitive. */
WAVE_OP(lds_param_load)
{
    uint32_t m0 = w->sgpr[ISA_SEL_M0], starts = m0 >> 16 & 0x7fffu;
    uint32_t prims = 1 + (uint32_t)__builtin_popcount(starts);
    uint32_t base = (m0 & 0xffffu) + u->mem.off0 * prims * 48u + u->mem.off1 * 4u;
    uint32_t t[2][ROW_DWORDS] = {{0}};
    for (unsigned l = 0; l < lanes(w); l++) {
        uint32_t quad = l / 4, *exec = &w->sgpr[ISA_SEL_EXEC_LO + l / 32];
        uint32_t prim = (uint32_t)__builtin_popcount(starts & ((1u << quad) - 1));
        uint32_t address = base + prim * 48u + l % 4 * 16u;
        if (l % 4 == 3 || !(quad_mask(*exec) >> (l % 32) & 1u))
            continue;
        if (!in_lds(w, address, 4))
            return range_fault(w, u, l, address, false);
        wave_note(w, l, EMU_SPACE_LDS, address, 4, true, false);
        t[l / 32][l % 32] = lds_read(w, address);
    }
    for (unsigned h = 0; h < w->halves; h++)
        row_merge(row(w, h, u->d), t[h], quad_mask(w->sgpr[ISA_SEL_EXEC_LO + h]));
    return next(u);
}

/* ---- the ray-tracing stack ----------------------------------------------------------
 */

#define INVALID_NODE  0xffffffffu
#define TERMINAL_NODE 0xfffffffeu /* as last visited node: pop only; result: empty */

/* A lane's ring of entries in LDS. The packed address has the base in dwords in [31:18]
 * and the number of entries pushed in [17:0]; entries of a lane are 32 dwords apart, so
 * that the lanes of a half interleave. Overflow overwrites the oldest entry; popping
 * leaves INVALID_NODE behind, which tells later that an entry was lost. The manual
 * (12.5.3, 16.15) is vague here; this is how drivers use the instruction. */
struct stack {
    uint32_t base, entries, pushed;
    unsigned lane; /* for observers */
};

#define STACK_INDEX 0x3ffffu

static uint32_t entry_address(const struct stack *s, uint32_t index)
{
    return s->base + index % s->entries * 128u;
}

/* Exchange an entry, or (push) only write it. */
static uint32_t access_entry(struct wave *w, const struct stack *s, uint32_t index,
                             uint32_t node, bool push)
{
    uint32_t address = entry_address(s, index), old = push ? 0 : lds_read(w, address);
    wave_note(w, s->lane, EMU_SPACE_LDS, address, 4, !push, true);
    lds_write(w, address, node);
    return old;
}

static bool is_valid(uint32_t node, uint32_t last)
{
    return node != INVALID_NODE && node != last;
}

static uint32_t pop(struct wave *w, struct stack *s)
{
    if (!s->pushed)
        return TERMINAL_NODE;
    return access_entry(w, s, --s->pushed, INVALID_NODE, false);
}

/* Child nodes come nearest first, as image_bvh_intersect_ray sorts them. From the
 * farthest on, push all but the nearest, and return that; or else pop. The last visited
 * node and those nearer than it have been done. */
static uint32_t step(struct wave *w, struct stack *s, uint32_t last,
                     const uint32_t node[4])
{
    bool done = last == TERMINAL_NODE;
    for (unsigned i = 4; i-- > 1 && !done;) {
        if (is_valid(node[i], last))
            (void)access_entry(w, s, s->pushed++, node[i], true);
        else
            done = node[i] != INVALID_NODE;
    }
    return !done && is_valid(node[0], last) ? node[0] : pop(w, s);
}

WAVE_OP(ds_bvh_stack_rtn_b32)
{
    uint32_t entries = 8u << (u->imm >> 12 & 3);
    for (unsigned l = 0; l < lanes(w); l++) {
        uint32_t base = row(w, l / 32, u->mem.addr)[l % 32] >> 18 << 2;
        if (active(w, l) && !in_lds(w, base + (entries - 1) * 128u, 4))
            return range_fault(w, u, l, base, true);
    }
    for (unsigned l = 0; l < lanes(w); l++) {
        if (!active(w, l))
            continue;
        uint32_t *addr = &row(w, l / 32, u->mem.addr)[l % 32], node[4];
        struct stack s = {*addr >> 18 << 2, entries, *addr & STACK_INDEX, l};
        for (unsigned i = 0; i < 4; i++)
            node[i] = row(w, l / 32, u->mem.data2 + i)[l % 32];
        uint32_t v = step(w, &s, row(w, l / 32, u->mem.data)[l % 32], node);
        *addr = (*addr & ~STACK_INDEX) | (s.pushed & STACK_INDEX);
        row(w, l / 32, u->d)[l % 32] = v;
    }
    return next(u);
}

#include "lds_wave.inc"
