/* asleep.c: workgroups that do nothing but wait for memory by s_sleep.
 *
 * One whose waves stand where they stood a turn ago, with the same registers and LDS,
 * goes on as it did then until somebody else writes to memory. That waves sleep often
 * does not say so: one may work while the others wait for it.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "dispatch.h"

/* Waves that sleep so often in a turn may do nothing else; others are not looked at. */
#define ASLEEP_NAPS (GROUP_BUDGET / 64)

/* A number for bytes, a multiple of 32, and one for what came before; any one word that
 * differs makes another. */
static uint64_t number_of(const void *bytes, size_t n, uint64_t before)
{
    uint64_t h[4] = {before, 1, 2, 3}, word[4];
    for (size_t at = 0; at < n; at += sizeof word) {
        memcpy(word, (const uint8_t *)bytes + at, sizeof word);
        for (unsigned i = 0; i < 4; i++)
            h[i] = (h[i] ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    uint64_t all = 0;
    for (unsigned i = 0; i < 4; i++)
        all = (all ^ h[i] >> 32 ^ h[i]) * UINT64_C(0xff51afd7ed558ccd);
    return all;
}

/* Where all waves stand, and their scalar registers. */
static uint64_t number_of_scalars(const struct workgroup *g)
{
    uint64_t h = 0;
    for (unsigned i = 0; i < g->n_waves; i++) {
        const struct wave *w = g->waves[i];
        const uint64_t place[4] = {(uintptr_t)w->next, w->scc,
                                   (uint64_t)g->waiting << 32 | g->live, w->mode_bits};
        h = number_of(place, sizeof place, h);
        h = number_of(w->sgpr, SGPR_DUMMY * sizeof *w->sgpr, h);
    }
    return h;
}

/* Vector registers and LDS. */
static uint64_t number_of_vectors(const struct workgroup *g)
{
    uint64_t h = number_of(g->lds, (g->lds_bytes + 63ul) & ~63ul, 0);
    for (unsigned i = 0; i < g->n_waves; i++) {
        const struct wave *w = g->waves[i];
        for (unsigned half = 0; half < w->halves && !w->fresh; half++)
            h = number_of(w->vgpr[half], 4ul * ROW_DWORDS * g->n_vgprs, h);
    }
    return h;
}

bool resident_sleeps(struct resident *r)
{
    const struct workgroup *g = &r->group;
    if (g->naps < ASLEEP_NAPS) {
        r->scalars = r->vectors = 0;
        return false;
    }
    uint64_t scalars = number_of_scalars(g), vectors = 0;
    if (scalars == r->scalars) /* mostly it is they that show work */
        vectors = number_of_vectors(g);
    bool same = vectors && vectors == r->vectors;
    r->scalars = scalars;
    r->vectors = vectors;
    return same;
}
