/* live.c: the waves of a session as a target.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "session.h"

/* Wave number index of all workgroups in flight. */
static struct emu_wave *wave_at(const struct session *s, unsigned index)
{
    unsigned groups = s->stepper ? emu_order_groups(s->stepper) : 0;
    for (unsigned i = 0; i < groups; i++) {
        struct emu_group *g = emu_order_group(s->stepper, i);
        unsigned n = emu_group_waves(g);
        if (index < n)
            return emu_group_wave(g, index);
        index -= n;
    }
    return NULL;
}

static unsigned n_waves(void *ctx)
{
    const struct session *s = ctx;
    unsigned groups = s->stepper ? emu_order_groups(s->stepper) : 0, n = 0;
    for (unsigned i = 0; i < groups; i++)
        n += emu_group_waves(emu_order_group(s->stepper, i));
    return n;
}

static bool wave(void *ctx, unsigned index, struct tg_wave *out)
{
    const struct emu_wave *w = wave_at(ctx, index);
    if (!w)
        return false;
    const struct emu_wave_info *info = emu_wave_info(w);
    *out = (struct tg_wave){
        .group = info->group,
        .workgroup = {info->workgroup[0], info->workgroup[1], info->workgroup[2]},
        .wave = info->wave,
        .lanes = info->lanes};
    emu_wave_look(info, &out->view);
    return true;
}

static bool reg(void *ctx, unsigned index, unsigned sel, unsigned lane, uint32_t *out)
{
    const struct emu_wave *w = wave_at(ctx, index);
    struct emu_wave_view v;
    if (!w || sel >= ISA_SEL_COUNT)
        return false;
    const struct emu_wave_info *info = emu_wave_info(w);
    if (sel < ISA_SEL_VGPR0) {
        *out = emu_wave_special(info, sel);
        return true;
    }
    emu_wave_look(info, &v);
    if (sel - ISA_SEL_VGPR0 >= v.vgprs || lane >= info->lanes)
        return false;
    *out = emu_wave_vgpr(info, sel - ISA_SEL_VGPR0, lane);
    return true;
}

static bool read_space(void *ctx, unsigned index, unsigned space, unsigned lane,
                       uint64_t address, unsigned bytes, void *out)
{
    struct session *s = ctx;
    const struct emu_wave *w = wave_at(s, index);
    struct emu_mem region;
    if (space != EMU_SPACE_GLOBAL)
        return w && lane < emu_wave_info(w)->lanes &&
               emu_wave_peek(emu_wave_info(w), space, lane, address, bytes, out);
    if (!s->la || !emu_mem_find(la_emu(s->la), address, &region) ||
        region.va + region.bytes - address < bytes)
        return false;
    memcpy(out, (const void *)(uintptr_t)address, bytes); // NOLINT
    return true;
}

static bool region(void *ctx, uint64_t address, struct emu_mem *out)
{
    struct session *s = ctx;
    return s->la && emu_mem_next(la_emu(s->la), address, out);
}

const struct tg_ops live_ops = {n_waves, wave, reg, read_space, region};
