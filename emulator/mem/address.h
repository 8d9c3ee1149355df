/* address.h: where a memory instruction goes: the only place that forms addresses.
 *
 * Execution uses the inline functions, a half at a time; events and timing get the same
 * through level_ops.accesses (address.c). Nothing here writes a register or memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ADDRESS_H
#define RD_ADDRESS_H

#include "wave.h"

static inline const uint32_t *address_row(const struct wave *w, unsigned half,
                                          unsigned row)
{
    return w->vgpr[half] + (size_t)row * ROW_DWORDS;
}

/* GLOBAL and FLAT: GPU addresses, apertures still in them. */
static inline void global_addresses(const struct wave *w, const struct uop *u,
                                    unsigned half, uint64_t addr[ROW_DWORDS])
{
    const struct umem *m = &u->mem;
    uint64_t base = (uint64_t)(int64_t)u->imm;
    if (m->saddr != NO_ROW)
        base += sgpr64(w, m->saddr);
    if (m->addtid) {
        for (unsigned l = 0; l < ROW_DWORDS; l++)
            addr[l] = base + 4u * (l + ROW_DWORDS * half);
        return;
    }
    const uint32_t *lo = address_row(w, half, m->addr), *hi = lo + ROW_DWORDS;
    if (m->addr64)
        for (unsigned l = 0; l < ROW_DWORDS; l++)
            addr[l] = base + (lo[l] | (uint64_t)hi[l] << 32);
    else
        for (unsigned l = 0; l < ROW_DWORDS; l++)
            addr[l] = base + lo[l];
}

/* SCRATCH: bytes within the lane's private memory; sums of 32 bits. */
static inline void scratch_offsets(const struct wave *w, const struct uop *u,
                                   unsigned half, uint64_t addr[ROW_DWORDS])
{
    const struct umem *m = &u->mem;
    uint32_t base = (uint32_t)u->imm;
    if (m->saddr != NO_ROW)
        base += w->sgpr[m->saddr];
    for (unsigned l = 0; l < ROW_DWORDS; l++)
        addr[l] = base;
    if (m->addr != NO_ROW) {
        const uint32_t *v = address_row(w, half, m->addr);
        for (unsigned l = 0; l < ROW_DWORDS; l++)
            addr[l] = (uint32_t)(base + v[l]);
    }
}

/* DS: bytes within the workgroup's LDS (or GDS, from M0's base), of one element; sums
 * of 32 bits, which compilers let wrap. */
static inline void lds_offsets(const struct wave *w, const struct uop *u, unsigned half,
                               unsigned elem, uint32_t at[ROW_DWORDS])
{
    const uint32_t *a = address_row(w, half, u->mem.addr);
    uint32_t offset = elem ? u->mem.off1 : u->mem.off0;
    for (unsigned l = 0; l < ROW_DWORDS; l++)
        at[l] = a[l] + offset;
}

/* s_load: base + offset + SGPR offset; the low two bits are ignored (manual 8.2). */
static inline uint64_t scalar_address(const struct wave *w, const struct uop *u)
{
    const struct umem *m = &u->mem;
    uint64_t addr = sgpr64(w, m->saddr) + (uint64_t)(int64_t)u->imm;
    if (m->addr != NO_ROW)
        addr += w->sgpr[m->addr];
    return addr & ~UINT64_C(3);
}

/* Where a FLAT address goes: GLOBAL, LDS or SCRATCH. */
static inline enum emu_space flat_space(uint64_t addr)
{
    uint64_t high = addr >> 32;
    return high == EMU_SHARED_BASE >> 32    ? EMU_SPACE_LDS
           : high == EMU_PRIVATE_BASE >> 32 ? EMU_SPACE_SCRATCH
                                            : EMU_SPACE_GLOBAL;
}

#endif
