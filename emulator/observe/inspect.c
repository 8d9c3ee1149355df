/* inspect.c: the state of waves, for observers, debuggers and core files.
 *
 * Changes nothing. Thread: whoever may call knows that the wave stands still.
 * SPDX-License-Identifier: MIT
 */
#include "inspect.h"

#include <stddef.h>
#include <string.h>

#include "control.h"
#include "hwreg.h"

static uint64_t digest_dwords(uint64_t h, const uint32_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ v[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
    return h;
}

static const struct wave *wave_of(const struct emu_wave_info *info)
{
    const void *at = (const char *)info - offsetof(struct wave, info);
    return at;
}

uint64_t emu_wave_digest(const struct emu_wave_info *info)
{
    const struct wave *w = wave_of(info);
    uint64_t h = digest_dwords(w->scc, w->sgpr, SGPR_SLOTS);
    h = digest_dwords(h, &w->mode_bits, 1);
    for (unsigned half = 0; half < w->halves; half++)
        h = digest_dwords(h, w->vgpr[half], (size_t)w->group->n_vgprs * ROW_DWORDS);
    return h;
}

uint32_t emu_wave_vgpr(const struct emu_wave_info *info, unsigned vgpr, unsigned lane)
{
    const struct wave *w = wave_of(info);
    rd_assert(vgpr < w->group->n_vgprs && lane < w->info.lanes, "no such register");
    return w->vgpr[lane / ROW_DWORDS][vgpr * ROW_DWORDS + lane % ROW_DWORDS];
}

void emu_wave_put(const struct emu_wave_info *info, unsigned sel, unsigned lane,
                  uint32_t value)
{
    struct wave *w = (struct wave *)(uintptr_t)wave_of(info); // NOLINT: it is ours
    if (sel >= ISA_SEL_VGPR0) {
        unsigned reg = sel - ISA_SEL_VGPR0;
        rd_assert(reg < w->group->n_vgprs && lane < w->info.lanes, "no such register");
        w->vgpr[lane / ROW_DWORDS][reg * ROW_DWORDS + lane % ROW_DWORDS] = value;
    } else if (sel <= ISA_SEL_EXEC_HI && sel != ISA_SEL_NULL) {
        w->sgpr[sel] = value;
    }
}

static bool peek_global(const struct wave *w, uint64_t address, unsigned bytes,
                        uint8_t *out)
{
    struct mem_region r;
    if (!region_find(w->emu->regions, address, &r, NULL) || r.end - address < bytes ||
        !(r.perm & EMU_MEM_READ))
        return false;
    memcpy(out, region_host(&r, address), bytes);
    return true;
}

/* Dwords of the 32 lanes of a half lie side by side. */
static uint8_t *at_scratch(const struct wave *w, unsigned lane, uint64_t offset)
{
    size_t half = (size_t)(lane / ROW_DWORDS) * w->group->scratch_bytes * ROW_DWORDS;
    return &w->scratch[half + (size_t)(offset >> 2) * (ROW_DWORDS * 4) +
                       (size_t)(lane % ROW_DWORDS) * 4 + (offset & 3u)];
}

/* A byte of LDS or scratch; there are that many. */
static uint8_t *at_space(const struct wave *w, unsigned space, unsigned lane,
                         uint64_t address)
{
    return space == EMU_SPACE_LDS ? &w->group->lds[address]
                                  : at_scratch(w, lane, address);
}

static bool inside(const struct wave *w, unsigned space, uint64_t address,
                   unsigned bytes)
{
    const struct workgroup *g = w->group;
    uint32_t limit = space == EMU_SPACE_LDS       ? g->lds_bytes
                     : space == EMU_SPACE_SCRATCH ? g->scratch_bytes
                                                  : 0;
    return address <= limit && limit - address >= bytes;
}

bool emu_wave_peek(const struct emu_wave_info *info, unsigned space, unsigned lane,
                   uint64_t address, unsigned bytes, void *out)
{
    const struct wave *w = wave_of(info);
    uint8_t *to = out;
    if (space == EMU_SPACE_GLOBAL)
        return peek_global(w, address, bytes, to);
    if (!inside(w, space, address, bytes))
        return false;
    for (unsigned i = 0; i < bytes; i++)
        to[i] = *at_space(w, space, lane, address + i);
    return true;
}

bool emu_wave_poke(const struct emu_wave_info *info, unsigned space, unsigned lane,
                   uint64_t address, unsigned bytes, const void *from)
{
    const struct wave *w = wave_of(info);
    const uint8_t *byte = from;
    if (!inside(w, space, address, bytes))
        return false;
    for (unsigned i = 0; i < bytes; i++)
        *at_space(w, space, lane, address + i) = byte[i];
    return true;
}

bool emu_wave_assign(const struct emu_wave_info *info, unsigned sel, unsigned lane,
                     uint32_t value)
{
    struct wave *w = (struct wave *)(uintptr_t)wave_of(info); // NOLINT: it is ours
    if (sel == ISA_SEL_SCC) {
        w->scc = value != 0;
        return true;
    }
    bool vector = sel >= ISA_SEL_VGPR0;
    if (vector ? sel - ISA_SEL_VGPR0 >= w->group->n_vgprs || lane >= info->lanes
               : sel > ISA_SEL_EXEC_HI || sel == ISA_SEL_NULL)
        return false;
    emu_wave_put(info, sel, lane, value);
    return true;
}

uint32_t emu_wave_special(const struct emu_wave_info *info, unsigned sel)
{
    const struct wave *w = wave_of(info);
    switch (sel) {
    case ISA_SEL_SCC:
        return w->scc;
    case ISA_SEL_EXECZ:
        return wave_exec64(w) == 0;
    case ISA_SEL_VCCZ:
        return sgpr_mask(w, ISA_SEL_VCC_LO) == 0;
    default:
        return sel <= ISA_SEL_EXEC_HI ? w->sgpr[sel] : 0;
    }
}

static enum emu_wave_doing doing(const struct wave *w)
{
    static const uint8_t why[] = {
        [STOP_NONE] = EMU_DOING_RUN,    [STOP_BARRIER] = EMU_DOING_RUN,
        [STOP_END] = EMU_DOING_ENDED,   [STOP_FAULT] = EMU_DOING_FAULTED,
        [STOP_YIELD] = EMU_DOING_SLEEP, [STOP_GWS] = EMU_DOING_GWS,
        [STOP_HALT] = EMU_DOING_HALTED,
    };
    const struct workgroup *g = w->group;
    uint32_t bit = wave_bit(w);
    return !(g->live & bit)   ? EMU_DOING_ENDED
           : g->waiting & bit ? EMU_DOING_BARRIER
           : g->halted & bit  ? EMU_DOING_HALTED
                              : (enum emu_wave_doing)why[w->stop];
}

void emu_wave_look(const struct emu_wave_info *info, struct emu_wave_view *out)
{
    const struct wave *w = wave_of(info);
    const struct workgroup *g = w->group;
    *out = (struct emu_wave_view){
        .doing = doing(w),
        .pc = program_pc(w->program, w->next),
        .exec = wave_exec64(w),
        .mode = w->mode_bits,
        .status = wave_status(w),
        .trapsts = w->trapsts_bits,
        .vgprs = g->n_vgprs,
        .lds_bytes = g->lds_bytes,
        .scratch_bytes = g->scratch_bytes,
        .instructions = w->n_insts,
    };
}
