/* address.c: the accesses of an instruction as its observers see them. Compiled per
 * SIMD level.
 *
 * Addresses are those of address.h, which execution uses too. Instructions whose
 * handlers alone know theirs (image, buffer, append) note them while they run
 * (wave_note). SPDX-License-Identifier: MIT
 */
#include "address.h"
#include "sem_wrap.h"

static void fill(struct emu_access *a, const struct umem *m, uint64_t lanes)
{
    static const uint8_t space_of[] = {
        [MEM_GLOBAL] = EMU_SPACE_GLOBAL,   [MEM_FLAT] = EMU_SPACE_GLOBAL,
        [MEM_SCRATCH] = EMU_SPACE_SCRATCH, [MEM_LDS] = EMU_SPACE_LDS,
        [MEM_GDS] = EMU_SPACE_GDS,         [MEM_SCALAR] = EMU_SPACE_GLOBAL};
    a->lanes = lanes;
    a->bytes = m->bytes;
    a->space = space_of[m->space];
    a->read = m->dirs & MD_READ;
    a->write = m->dirs & MD_WRITE;
    a->scalar = m->space == MEM_SCALAR;
}

/* One access per space that the lanes of a FLAT instruction go to. */
static unsigned split_spaces(struct emu_access *a)
{
    uint64_t in[3] = {0};
    for (uint64_t m = a->lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        enum emu_space s = flat_space(a->address[l]);
        in[s] |= UINT64_C(1) << l;
        if (s != EMU_SPACE_GLOBAL)
            a->address[l] = (uint32_t)a->address[l];
    }
    if (in[EMU_SPACE_GLOBAL] == a->lanes)
        return 1;
    unsigned n = 0;
    for (unsigned s = EMU_SPACE_GLOBAL; s <= EMU_SPACE_SCRATCH; s++) {
        if (!in[s])
            continue;
        if (n)
            a[n] = a[0];
        a[n].space = (uint8_t)s;
        a[n++].lanes = in[s];
    }
    return n;
}

static void form_ds(const struct wave *w, const struct uop *u, unsigned elem,
                    struct emu_access *a)
{
    uint32_t at[ROW_DWORDS];
    for (unsigned h = 0; h < w->halves; h++) {
        lds_offsets(w, u, h, elem, at);
        for (unsigned l = 0; l < ROW_DWORDS; l++)
            a->address[ROW_DWORDS * h + l] = at[l];
    }
    if (u->mem.space == MEM_GDS) { /* one lane, and M0 has the base */
        unsigned l = (unsigned)__builtin_ctzll(a->lanes);
        a->lanes &= 0 - a->lanes;
        a->address[l] += w->sgpr[ISA_SEL_M0] >> 16;
    }
}

accesses_fn SEM_LEVEL(accesses);

unsigned SEM_LEVEL(accesses)(const struct wave *w, const struct uop *u,
                             struct emu_access *a)
{
    const struct umem *m = &u->mem;
    uint64_t exec = wave_exec64(w);
    if (!(u->flags & UF_MEM))
        return 0;
    if (m->space == MEM_SCALAR) {
        fill(a, m, 1);
        a->address[0] = scalar_address(w, u);
        return 1;
    }
    if (!exec)
        return 0;
    for (unsigned e = 0; e < m->elems; e++) {
        fill(&a[e], m, exec);
        if (m->space == MEM_LDS || m->space == MEM_GDS) {
            form_ds(w, u, e, &a[e]);
            continue;
        }
        for (unsigned h = 0; h < w->halves; h++) {
            uint64_t *to = a[e].address + ROW_DWORDS * h;
            if (m->space == MEM_SCRATCH)
                scratch_offsets(w, u, h, to);
            else
                global_addresses(w, u, h, to);
        }
    }
    return m->space == MEM_FLAT ? split_spaces(a) : m->elems;
}
