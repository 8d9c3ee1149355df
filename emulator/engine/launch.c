/* launch.c: workgroups and waves as they are born (manual 3.x, "initial wave state").
 *
 * Owns the memory of resident workgroups; knows the descriptor's registers, not the
 * instructions. Every register a wave can see is set here, so runs repeat exactly.
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>
#include <string.h>

#include "pool.h"
#include "dispatch.h"
#include "trap.h"

#define FILE_DWORDS      (WAVE_VGPRS * ROW_DWORDS)
#define TEMP_DWORDS      (TEMP_ROWS * ROW_DWORDS)
#define FACTORS_DWORD(i) ((TEMP_FACTORS + (i) * TEMP_FACTORS_ROWS) * ROW_DWORDS)

/* COMPUTE_PGM_RSRC2 */
#define RSRC2_TGID_X(r)    ((r) >> 7 & 1u)
#define RSRC2_TGID_Y(r)    ((r) >> 8 & 1u)
#define RSRC2_TGID_Z(r)    ((r) >> 9 & 1u)
#define RSRC2_TG_SIZE(r)   ((r) >> 10 & 1u)
#define RSRC2_TIDIG_DIM(r) ((r) >> 11 & 3u)

/* Where the parts of a resident workgroup lie in its block: LDS, the scratch rows that
 * an instruction fills, for each wave its registers and scratch, the work-item ids of a
 * whole workgroup, then the structures. */
struct layout {
    size_t lds, temp, wave, ids, resident, waves, bytes;
};

/* The host's caches place lines by the lowest bits of their addresses. */
#define CACHE_PERIOD 4096u

static unsigned halves(const struct dispatch *dp)
{
    return dp->d->wave64 ? 2 : 1;
}

/* Rows of a half: those that waves have. Native code finds the upper half of a wave64
 * behind all that there can be. */
static size_t file_dwords(const struct dispatch *dp)
{
    return dp->d->wave64 ? FILE_DWORDS : dp->n_vgprs * (size_t)ROW_DWORDS;
}

/* What makes waves lie so far apart that the registers they use lie behind one another
 * in caches: all 256 rows of a wave are a multiple of what those can tell apart. */
static size_t wave_offset(const struct dispatch *dp, size_t wave_bytes)
{
    size_t used = halves(dp) * dp->n_vgprs * ROW_DWORDS * 4ul;
    return (used - wave_bytes) % CACHE_PERIOD;
}

static struct layout layout_of(const struct dispatch *dp)
{
    size_t n = dp->waves_per_group;
    struct layout l;
    l.lds = (dp->d->lds_bytes + 63ul) & ~63ul;
    l.temp = 4 * TEMP_DWORDS;
    l.wave =
        4 * halves(dp) * (file_dwords(dp) + ROW_DWORDS * (dp->d->scratch_bytes / 4ul));
    l.wave += wave_offset(dp, l.wave);
    l.ids = l.lds + l.temp + n * l.wave;
    /* What names a register that there is not faults, but its addresses may be read. */
    l.ids += 4 * (FILE_DWORDS - file_dwords(dp));
    l.resident = l.ids + 4 * n * halves(dp) * ROW_DWORDS;
    l.waves = l.resident + sizeof(struct resident) + n * sizeof(struct wave);
    l.bytes = (l.waves + n * sizeof(struct wave *) + 4095) & ~4095ul;
    return l;
}

static const struct emu_queue no_queue;

/* Work-item ids from item number first on: ten bits a dimension, as far as the
 * descriptor asks. */
static void write_ids(const struct dispatch *dp, uint32_t *to, uint32_t first,
                      uint32_t n, const uint32_t block[3])
{
    unsigned dims = RSRC2_TIDIG_DIM(dp->d->rsrc2);
    uint32_t x = first % block[0], y = first / block[0] % block[1],
             z = first / block[0] / block[1];
    for (uint32_t i = 0; i < n; i++) {
        to[i] = x | (dims > 0 ? y << 10 : 0) | (dims > 1 ? z << 20 : 0);
        if (++x == block[0]) {
            x = 0;
            if (++y == block[1]) {
                y = 0;
                z++;
            }
        }
    }
}

/* What a wave has for as long as it lives here; the rest is set at launch. */
static void wave_place(const struct dispatch *dp, struct resident *r, unsigned index,
                       void *temp, void *at)
{
    struct wave *w = &r->waves[index];
    uint32_t *p = at;
    memset(w, 0, sizeof *w);
    r->group.waves[index] = w;
    for (unsigned h = 0; h < halves(dp); h++, p += file_dwords(dp))
        w->vgpr[h] = p;
    w->temp = temp;
    w->scratch = (uint8_t *)p;
    w->index = index;
    w->emu = dp->emu;
    w->group = &r->group;
}

rd_status resident_create(struct dispatch *dp, struct resident **out)
{
    unsigned n = dp->waves_per_group;
    const struct layout l = layout_of(dp);
    uint8_t *block = pool_take(dp->emu->pool, l.bytes);
    if (!block)
        return RD_E_NOMEM;
    void *resident = block + l.resident, *ids = block + l.ids, *waves = block + l.waves;
    struct resident *r = resident;
    memset(r, 0, sizeof *r);
    r->ids = ids;
    r->group.waves = waves;
    r->group.lds = block;
    r->group.dispatch = dp;
    r->group.programs = &dp->programs;
    r->group.queue = dp->d->queue ? dp->d->queue : &no_queue;
    r->group.clocks_per_tick = dp->sclk_mhz > 0 ? dp->sclk_mhz / 100 : 25;
    r->group.n_vgprs = dp->n_vgprs;
    for (unsigned i = 0; i < 2; i++) /* no factors yet */
        memset(block + l.lds + 4ul * FACTORS_DWORD(i), 0, 4);
    for (unsigned i = 0; i < n; i++)
        wave_place(dp, r, i, block + l.lds, block + l.lds + l.temp + i * l.wave);
    const uint32_t *b = dp->d->block;
    uint32_t items = b[0] * b[1] * b[2];
    write_ids(dp, r->ids, 0, items, b);
    for (uint32_t i = items; i < n * halves(dp) * ROW_DWORDS; i++)
        r->ids[i] = 0; /* lanes that the last wave has not */
    unsigned long long now = atomic_fetch_add(&dp->resident_waves, n) + n;
    unsigned long long peak = atomic_load(&dp->peak_waves);
    while (now > peak && !atomic_compare_exchange_weak(&dp->peak_waves, &peak, now))
        ;
    *out = r;
    return RD_OK;
}

void resident_destroy(struct dispatch *dp, struct resident *r)
{
    atomic_fetch_sub(&dp->resident_waves, dp->waves_per_group);
    pool_give(dp->emu->pool, r->group.lds, layout_of(dp).bytes);
}

/* Float mode and enabled exceptions of COMPUTE_PGM_RSRC1 and 2 as a MODE image: those
 * of floats and of watched addresses. */
static uint32_t initial_mode(uint32_t rsrc1, uint32_t rsrc2)
{
    return (rsrc1 >> 12 & 0xffu) | (rsrc1 >> 21 & 1u) << 8 | (rsrc1 >> 23 & 1u) << 9 |
           (rsrc1 >> 22 & 1u) * MODE_DEBUG_EN | (rsrc1 >> 26 & 1u) << 23 |
           (rsrc2 >> 24 & 0x7fu) << MODE_EXCP_EN |
           (rsrc2 >> 13 & 1u ? MODE_WATCH_EN : 0);
}

void launch_prepare(struct dispatch *dp)
{
    const struct emu_dispatch *d = dp->d;
    dp->first = (struct wave){.wave64 = d->wave64,
                              .halves = (uint8_t)halves(dp),
                              .fresh = true,
                              .emu = dp->emu,
                              .next = dp->entry};
    memcpy(dp->first.sgpr, d->user_sgpr, d->n_user_sgprs * sizeof *d->user_sgpr);
    wave_mode_image(&dp->first, initial_mode(d->rsrc1, d->rsrc2));
}

static void init_sgprs(const struct dispatch *dp, struct wave *w)
{
    const struct emu_dispatch *d = dp->d;
    const struct workgroup *g = w->group;
    unsigned n = d->n_user_sgprs;
    if (RSRC2_TGID_X(d->rsrc2))
        w->sgpr[n++] = g->id[0];
    if (RSRC2_TGID_Y(d->rsrc2))
        w->sgpr[n++] = g->id[1];
    if (RSRC2_TGID_Z(d->rsrc2))
        w->sgpr[n++] = g->id[2];
    if (RSRC2_TG_SIZE(d->rsrc2)) /* first wave, wave index, waves in the workgroup */
        w->sgpr[n++] = (w->index == 0 ? 1u << 31 : 0) | w->index << 6 | g->n_waves;
    uint64_t exec = w->n_items == 64 ? ~UINT64_C(0) : (UINT64_C(1) << w->n_items) - 1;
    w->sgpr[ISA_SEL_EXEC_LO] = (uint32_t)exec;
    w->sgpr[ISA_SEL_EXEC_HI] = (uint32_t)(exec >> 32);
}

/* The compiler's own choice, a string instruction, takes longer than the rest of a
 * launch. */
static inline void copy_rows(void *to, const void *from, size_t bytes)
{
    size_t at = 0;
    for (; at + 64 <= bytes; at += 64)
        memcpy((char *)to + at, (const char *)from + at, 64);
    for (; at + 4 <= bytes; at += 4)
        memcpy((char *)to + at, (const char *)from + at, 4);
}

static void swap(void *a, void *b, size_t bytes)
{
    char t[16];
    memcpy(t, a, bytes);
    memcpy(a, b, bytes);
    memcpy(b, t, bytes);
}

/* Waves that never wait run to their end one after the other: each then takes the
 * registers that the one before has left, and the host's cache still holds. */
static void take_warm(struct wave *w)
{
    struct resident *r = (struct resident *)w->group;
    unsigned n = r->group.n_waves;
    struct wave *last = &r->waves[(w->index + n - 1) % n];
    if (last == w || !(last->fresh || !(r->group.live & wave_bit(last))))
        return;
    swap(w->vgpr, last->vgpr, sizeof w->vgpr);
    swap(&w->scratch, &last->scratch, sizeof w->scratch);
    select_half(w, 0);
    select_half(last, 0);
}

/* Registers of lanes that are off are 0, too. Whatever a kernel reads before it has
 * written it must not depend on who had the registers before. */
void wave_fill(struct wave *w)
{
    const struct resident *r = (const struct resident *)w->group;
    const struct dispatch *dp = w->group->dispatch;
    uint32_t id = w->index * w->halves * ROW_DWORDS, items = w->n_items;
    bool whole = memcmp(r->block, dp->d->block, sizeof r->block) == 0;
    w->emu->level->leave(); /* what follows would wait for the handlers' registers */
    if (!w->observation)
        take_warm(w);
    for (unsigned h = 0; h < w->halves; h++, id += ROW_DWORDS) {
        uint32_t n = items < ROW_DWORDS ? items : ROW_DWORDS;
        uint32_t partial[ROW_DWORDS];
        const uint32_t *ids = r->ids + id;
        if (!whole) {
            memset(partial, 0, sizeof partial);
            write_ids(dp, partial, id, n, r->block);
            ids = partial;
        }
        w->emu->level->fill(w->vgpr[h], ids, dp->n_vgprs);
        items -= n;
    }
    /* Not before: native code goes on with waves that have one. */
    w->native = dp->native;
    w->fresh = false;
}

/* What is remembered of the memory map stays: it says itself whether it is still true.
 */
static void init_wave(struct dispatch *dp, struct resident *r, unsigned index,
                      uint32_t items)
{
    struct wave *w = &r->waves[index];
    unsigned width = halves(dp) * ROW_DWORDS;
    copy_rows(w, &dp->first, offsetof(struct wave, window));
    w->program = dp->programs.first;
    w->observation = NULL;
    w->counts = NULL;
    w->zeros = NULL;
    w->clock = 0;
    w->timed = w->tolerant = w->holds_slot = false;
    w->n_items = items - index * width;
    if (w->n_items > width)
        w->n_items = width;
    w->base[SRC_CONST] = w->program->const_rows;
    w->base[SRC_TEMP] = w->temp;
    select_half(w, 0);
    init_sgprs(dp, w);
    trap_init(w);
}

/* A workgroup's work-items: the last ones may be partial. */
static uint32_t items_of(const struct resident *r)
{
    return r->block[0] * r->block[1] * r->block[2];
}

void resident_restore(struct dispatch *dp, struct resident *r, uint32_t waves,
                      uint64_t pc)
{
    static const uint32_t none[ROW_DWORDS];
    struct workgroup *g = &r->group;
    memset(g->lds, 0, (g->lds_bytes + 63ul) & ~63ul);
    for (uint32_t left = waves; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        struct wave *w = &r->waves[i];
        struct op_counts *counts = w->counts;
        uint64_t n_insts = w->n_insts;
        init_wave(dp, r, i, items_of(r));
        w->counts = counts;
        w->n_insts = n_insts;
        w->fresh = false;
        for (unsigned h = 0; h < w->halves; h++)
            w->emu->level->fill(w->vgpr[h], none, dp->n_vgprs);
        memset(w->sgpr, 0, sizeof w->sgpr);
        w->sgpr[ISA_SEL_EXEC_LO] = (uint32_t)w->saved_at;
        w->sgpr[ISA_SEL_EXEC_HI] = (uint32_t)(w->saved_at >> 32);
        w->status_bits = (w->status_bits & ~STATUS_HALT) | STATUS_PRIV;
        const struct uop *entry = wave_goto(w, pc);
        if (entry)
            w->next = entry;
        else /* the handler has gone meanwhile: turns.c ends the workgroup */
            g->fault = (struct emu_fault){.kind = EMU_FAULT_FETCH,
                                          .pc = pc,
                                          .address = pc,
                                          .lane = -1,
                                          .wave = i};
    }
    g->live |= waves;
    g->waiting &= ~waves;
    g->halted &= ~waves;
}

void resident_launch(struct dispatch *dp, struct resident *r, uint64_t number)
{
    const struct emu_dispatch *d = dp->d;
    struct workgroup *g = &r->group;
    uint32_t *block = r->block, items = 1;
    uint64_t rest = number;
    r->number = g->number = number;
    r->spent = r->scalars = r->vectors = 0;
    r->group.naps = 0;
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
    g->live = UINT32_MAX >> (32 - g->n_waves);
    g->waiting = g->halted = g->asked = g->saved = 0;
    g->lds_bytes = d->lds_bytes;
    g->scratch_bytes = d->scratch_bytes;
    g->mixed = dp->turns_mix;
    g->turn = (unsigned)((dp->emu->config.seed * 0x9e3779b97f4a7c15ull >> 32) +
                         number * dp->emu->config.seed) %
              g->n_waves;
    g->fault.kind = g->cause.kind = EMU_FAULT_NONE;
    g->unreported = false;
    memset(g->lds, 0, (d->lds_bytes + 63ul) & ~63ul);
    for (unsigned i = 0; i < g->n_waves; i++)
        init_wave(dp, r, i, items);
}
