/* launch.c: workgroups and waves as they are born (manual 3.x, "initial wave state").
 *
 * Owns the memory of resident workgroups; knows the descriptor's registers, not the
 * instructions. Every register a wave can see is set here, so runs repeat exactly.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "dispatch.h"

#define FILE_DWORDS (WAVE_VGPRS * ROW_DWORDS)
#define TEMP_DWORDS (TEMP_ROWS * ROW_DWORDS)

/* COMPUTE_PGM_RSRC2 */
#define RSRC2_TGID_X(r)    ((r) >> 7 & 1u)
#define RSRC2_TGID_Y(r)    ((r) >> 8 & 1u)
#define RSRC2_TGID_Z(r)    ((r) >> 9 & 1u)
#define RSRC2_TG_SIZE(r)   ((r) >> 10 & 1u)
#define RSRC2_TIDIG_DIM(r) ((r) >> 11 & 3u)

static size_t wave_dwords(const struct dispatch *dp)
{
    size_t halves = dp->d->wave64 ? 2 : 1;
    return halves * FILE_DWORDS + TEMP_DWORDS +
           halves * ROW_DWORDS * (dp->d->scratch_bytes / 4ul);
}

static size_t lds_bytes(const struct dispatch *dp)
{
    return (dp->d->lds_bytes + 63ul) & ~63ul;
}

static size_t block_bytes(const struct dispatch *dp)
{
    return lds_bytes(dp) + dp->waves_per_group * wave_dwords(dp) * 4;
}

static const struct emu_queue no_queue;

rd_status resident_create(struct dispatch *dp, struct resident **out)
{
    unsigned n = dp->waves_per_group;
    struct resident *r = calloc(1, sizeof *r + n * sizeof(struct wave));
    if (!r)
        return RD_E_NOMEM;
    r->group.waves = calloc(n, sizeof(struct wave *));
    void *block = pool_take(dp->emu->pool, block_bytes(dp));
    if (!r->group.waves || !block) {
        if (block)
            pool_give(dp->emu->pool, block, block_bytes(dp));
        free(r->group.waves);
        free(r);
        return RD_E_NOMEM;
    }
    r->group.lds = block;
    r->group.dispatch = dp;
    r->group.programs = &dp->programs;
    r->group.queue = dp->d->queue ? dp->d->queue : &no_queue;
    r->group.n_vgprs = dp->n_vgprs;
    uint32_t *p = (uint32_t *)(void *)((uint8_t *)block + lds_bytes(dp));
    for (unsigned i = 0; i < n; i++) {
        struct wave *w = &r->waves[i];
        unsigned halves = dp->d->wave64 ? 2 : 1;
        r->group.waves[i] = w;
        for (unsigned h = 0; h < halves; h++, p += FILE_DWORDS)
            w->vgpr[h] = p;
        w->temp = p;
        p += TEMP_DWORDS;
        w->scratch = (uint8_t *)p;
        p += halves * ROW_DWORDS * (dp->d->scratch_bytes / 4ul);
    }
    unsigned long long now = atomic_fetch_add(&dp->resident_waves, n) + n;
    unsigned long long peak = atomic_load(&dp->peak_waves);
    while (now > peak && !atomic_compare_exchange_weak(&dp->peak_waves, &peak, now))
        ;
    *out = r;
    return RD_OK;
}

void resident_destroy(struct dispatch *dp, struct resident *r)
{
    pool_give(dp->emu->pool, r->group.lds, block_bytes(dp));
    atomic_fetch_sub(&dp->resident_waves, dp->waves_per_group);
    free(r->group.waves);
    free(r);
}

/* Float mode and enabled exceptions of COMPUTE_PGM_RSRC1 and 2 as a MODE image. */
static uint32_t initial_mode(uint32_t rsrc1, uint32_t rsrc2)
{
    return (rsrc1 >> 12 & 0xffu) | (rsrc1 >> 21 & 1u) << 8 | (rsrc1 >> 23 & 1u) << 9 |
           (rsrc1 >> 26 & 1u) << 23 | (rsrc2 >> 24 & 0x7fu) << MODE_EXCP_EN;
}

static void init_sgprs(const struct dispatch *dp, struct wave *w)
{
    const struct emu_dispatch *d = dp->d;
    const struct workgroup *g = w->group;
    unsigned n = d->n_user_sgprs;
    memset(w->sgpr, 0, sizeof w->sgpr);
    memcpy(w->sgpr, d->user_sgpr, n * sizeof *w->sgpr);
    if (RSRC2_TGID_X(d->rsrc2))
        w->sgpr[n++] = g->id[0];
    if (RSRC2_TGID_Y(d->rsrc2))
        w->sgpr[n++] = g->id[1];
    if (RSRC2_TGID_Z(d->rsrc2))
        w->sgpr[n++] = g->id[2];
    if (RSRC2_TG_SIZE(d->rsrc2)) /* first wave, wave index, waves in the workgroup */
        w->sgpr[n++] = (w->index == 0 ? 1u << 31 : 0) | w->index << 6 | g->n_waves;
}

/* v0 packs the work-item ids, ten bits a dimension, as far as the descriptor asks. */
static void init_vgprs(const struct dispatch *dp, struct wave *w,
                       const uint32_t block[3])
{
    unsigned dims = RSRC2_TIDIG_DIM(dp->d->rsrc2), width = w->wave64 ? 64 : 32;
    uint32_t id = w->index * width;
    for (unsigned h = 0; h < w->halves; h++) {
        memset(w->vgpr[h], 0, (size_t)dp->n_vgprs * ROW_DWORDS * 4);
        for (unsigned l = 0; l < 32; l++, id++) {
            if (32 * h + l >= w->n_items)
                continue;
            uint32_t x = id % block[0], y = id / block[0] % block[1],
                     z = id / block[0] / block[1];
            w->vgpr[h][l] = x | (dims > 0 ? y << 10 : 0) | (dims > 1 ? z << 20 : 0);
        }
    }
}

static void init_wave(struct dispatch *dp, struct resident *r, unsigned index,
                      const uint32_t block[3], uint32_t items)
{
    struct wave *w = &r->waves[index];
    uint32_t *vgpr[2] = {w->vgpr[0], w->vgpr[1]}, *temp = w->temp;
    uint8_t *scratch = w->scratch;
    unsigned width = dp->d->wave64 ? 64 : 32;
    *w = (struct wave){.vgpr = {vgpr[0], vgpr[1]},
                       .temp = temp,
                       .scratch = scratch,
                       .wave64 = dp->d->wave64,
                       .halves = dp->d->wave64 ? 2 : 1,
                       .index = index,
                       .emu = dp->emu,
                       .program = dp->programs.first,
                       .group = &r->group,
                       .next = dp->entry};
    w->n_items = items - index * width;
    if (w->n_items > width)
        w->n_items = width;
    w->base[SRC_CONST] = dp->programs.first->const_rows;
    w->base[SRC_TEMP] = temp;
    select_half(w, 0);
    init_sgprs(dp, w);
    init_vgprs(dp, w, block);
    uint64_t exec = w->n_items == 64 ? ~UINT64_C(0) : (UINT64_C(1) << w->n_items) - 1;
    w->sgpr[ISA_SEL_EXEC_LO] = (uint32_t)exec;
    w->sgpr[ISA_SEL_EXEC_HI] = (uint32_t)(exec >> 32);
    trap_init(w);
    wave_set_mode(w, initial_mode(dp->d->rsrc1, dp->d->rsrc2));
}

void resident_launch(struct dispatch *dp, struct resident *r, uint64_t number)
{
    const struct emu_dispatch *d = dp->d;
    struct workgroup *g = &r->group;
    uint32_t block[3], items = 1;
    uint64_t rest = number;
    r->number = g->number = number;
    r->spent = 0;
    for (unsigned i = 0; i < 3; i++) {
        g->id[i] = (uint32_t)(rest % d->groups[i]);
        rest /= d->groups[i];
        block[i] = d->block[i];
        uint64_t start = (uint64_t)g->id[i] * d->block[i];
        if (d->items[i] && start + block[i] > d->items[i])
            block[i] = (uint32_t)(d->items[i] - start);
        items *= block[i];
    }
    unsigned width = d->wave64 ? 64 : 32;
    g->n_waves = (items + width - 1) / width;
    g->n_live = g->n_waves;
    g->n_waiting = g->n_halted = 0;
    g->lds_bytes = d->lds_bytes;
    g->scratch_bytes = d->scratch_bytes;
    g->turn = (unsigned)((dp->emu->config.seed * 0x9e3779b97f4a7c15ull >> 32) +
                         number * dp->emu->config.seed) %
              g->n_waves;
    g->fault.kind = g->cause.kind = EMU_FAULT_NONE;
    g->unreported = false;
    memset(g->lds, 0, lds_bytes(dp));
    for (unsigned i = 0; i < g->n_waves; i++)
        init_wave(dp, r, i, block, items);
}
