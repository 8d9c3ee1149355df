/* late.c: the hazard mode of the wait checker: what loads bring arrives as late as it
 * may.
 *
 * The emulator has put the values into their registers; here they are taken out again,
 * so that the registers keep what they held, and put in when a wait says that they have
 * arrived. Code that reads too early computes with what a chip might give it, and what
 * it writes too early is lost. By the seed some arrive at once. Must not know counters.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "inspect.h"
#include "internal.h"

struct ck_late {
    struct emu_reg to;
    uint64_t lanes;
    uint32_t mask; /* bits that it brings */
    uint32_t v[];
};

static uint32_t value(const struct emu_wave_info *wave, unsigned sel, unsigned lane)
{
    return sel >= ISA_SEL_VGPR0 ? emu_wave_vgpr(wave, sel - ISA_SEL_VGPR0, lane)
                                : emu_wave_special(wave, sel);
}

/* Values of a run of registers, lane by lane. */
static void copy(const struct emu_wave_info *wave, const struct emu_reg *g,
                 uint32_t *to)
{
    unsigned lanes = g->sel >= ISA_SEL_VGPR0 ? wave->lanes : 1;
    for (unsigned i = 0; i < g->dwords; i++)
        for (unsigned l = 0; l < lanes; l++)
            *to++ = value(wave, g->sel + i, l);
}

static void put(const struct emu_wave_info *wave, const struct emu_reg *g,
                uint64_t lanes, uint32_t mask, const uint32_t *from)
{
    bool vector = g->sel >= ISA_SEL_VGPR0;
    for (unsigned i = 0; i < g->dwords; i++)
        for (unsigned l = 0; l < (vector ? wave->lanes : 1); l++, from++) {
            uint32_t now = value(wave, g->sel + i, l);
            if (!vector || lanes >> l & 1)
                emu_wave_put(wave, g->sel + i, l, (now & ~mask) | (*from & mask));
        }
}

void ck_late_before(struct ck *ck, const struct emu_event *e, const struct emu_reg *to)
{
    if (to->dwords <= CK_LATE_DWORDS)
        copy(e->wave, to, ck->old);
}

struct ck_late *ck_late_take(struct ck *ck, const struct emu_event *e,
                             const struct emu_reg *to, uint64_t lanes, unsigned halves,
                             bool alone)
{
    uint64_t h = (ck->config.hazard_seed * 31 + e->wave->group) * 31 + e->wave->wave;
    h = (h * UINT64_C(0x9e3779b97f4a7c15) + e->index) * UINT64_C(0xbf58476d1ce4e5b9);
    if ((alone && h >> 61 == 0) || to->dwords > CK_LATE_DWORDS)
        return NULL; /* it is quick */
    size_t n = (size_t)to->dwords * (to->sel >= ISA_SEL_VGPR0 ? e->wave->lanes : 1);
    struct ck_late *late = malloc(sizeof *late + n * sizeof *late->v);
    if (!late)
        return NULL;
    late->to = *to;
    late->lanes = lanes;
    late->mask = halves == 1 ? 0xffffu : halves == 2 ? 0xffff0000u : ~0u;
    copy(e->wave, to, late->v);
    put(e->wave, to, lanes, late->mask, ck->old);
    return late;
}

void ck_late_arrive(const struct emu_wave_info *wave, struct ck_late *late)
{
    if (late)
        put(wave, &late->to, late->lanes, late->mask, late->v);
    free(late);
}
