/* mem.c: scalar and vector memory: translation, caches, fabric, Infinity Cache, VRAM.
 *
 * A request finds its level by tag stores and its time by that level's latency and by
 * when the level's ports are free. Must not know instructions beyond their sizes.
 * Invariant: host addresses never index anything: a buffer lies at its canonical place,
 * other pages in the order of their first use.
 * SPDX-License-Identifier: MIT
 */
#include "engine.h"

#define LINE 128u

/* ---- the state at the start ---- */

/* Buffers that lie in the Infinity Cache from the start: of a larger one the end. */
static void warm_mall(struct tm_engine *t)
{
    for (size_t i = 0; i < t->config.n_ranges; i++) {
        uint64_t first = t->canon.range_page[i] * TM_HOST_PAGE / LINE;
        uint64_t n = (t->config.ranges[i].bytes + LINE - 1) / LINE;
        uint64_t fits = (uint64_t)t->mall.sets * t->mall.ways;
        int64_t *ready;
        for (uint64_t k = n > fits ? n - fits : 0; k < n; k++)
            (void)tm_cache_access(&t->mall, first + k, &ready);
    }
    t->mall.hits = t->mall.misses = 0; /* of the run, none so far */
}

void tm_memory_begin(struct tm_engine *t)
{
    if (t->config.warm_mall)
        warm_mall(t);
    for (size_t page = 0; t->config.warm_data && page < TM_TLB_PAGES; page++)
        t->tlb_ready[page] = 1; /* long there */
}

/* ---- translation ---- */

/* When a CU's request for a page may go on. seen: pages this CU has translations of. */
static int64_t translate(struct tm_engine *t, uint64_t *seen, uint64_t address,
                         bool store, int64_t now, bool *miss)
{
    uint64_t page = address / (uint64_t)t->p.tlb_page_bytes % TM_TLB_PAGES;
    uint64_t near = (uint64_t)t->p.walk_pages, first = page - page % near;
    int64_t *l2 = &t->tlb_ready[page];
    bool known = seen[page / 64] >> page % 64 & 1u;
    *miss = false;
    if (known)
        return tm_max(now, *l2); /* hits under a walk wait for it */
    *miss = true;
    seen[page / 64] |= UINT64_C(1) << page % 64;
    if (*l2 == 0 || (store && t->tlb_brought[page])) {
        double ns =
            t->p.walk_ns + (t->config.warm_kernarg ? 0 : t->p.walk_directory_ns);
        *l2 = now + tm_lat(t, t->p.walk_cycles, ns);
        t->tlb_brought[page] = false;
        for (uint64_t k = first; k < first + near && k < TM_TLB_PAGES; k++)
            if (t->tlb_ready[k] == 0) {
                t->tlb_ready[k] = *l2;
                t->tlb_brought[k] = true;
            }
    }
    return tm_max(now, *l2);
}

/* ---- GL2 and what is behind it ---- */

/* Remember the farthest place that an access had to go to (stalls.def: nearest first).
 */
static void deeper(struct tm_engine *t, uint8_t level)
{
    if (level > t->level)
        t->level = level;
}

static int64_t queue_ns(double *free_at, double now, double cost)
{
    double start = *free_at > now ? *free_at : now;
    *free_at = start + cost;
    return (int64_t)(start - now);
}

/* More cycles than a GL2 hit takes, for a line requested at arrival. */
int64_t tm_gl2(struct tm_engine *t, uint64_t line, int64_t arrival)
{
    unsigned channel =
        (unsigned)((line ^ line >> 7 ^ line >> 13) % (uint64_t)t->p.gl2_channels);
    int64_t start = tm_max(t->gl2_free[channel], arrival), *ready;
    t->gl2_free[channel] = start + (int64_t)(LINE / t->p.gl2_channel_bytes);
    int64_t extra = start - arrival;
    if (tm_cache_access(&t->gl2, line, &ready)) {
        deeper(t, TM_S_VM_GL2);
        t->gl2_hit++;
        return tm_max(extra, *ready - arrival);
    }
    t->gl2_miss++;
    int64_t *there;
    bool mall = tm_cache_access(&t->mall, line, &there);
    double now = (double)start;
    if (mall) {
        deeper(t, TM_S_VM_MALL);
        double cost = LINE / t->p.mall_bytes_per_ns * t->ghz;
        extra += queue_ns(&t->mall_free, now, cost) + tm_lat(t, 0, t->p.mall_ns);
    } else {
        deeper(t, TM_S_VM_DRAM);
        double cost = LINE / t->p.dram_bytes_per_ns * t->ghz;
        extra += queue_ns(&t->dram_free, now, cost) + tm_lat(t, 0, t->p.dram_ns);
    }
    *ready = arrival + extra;
    return extra;
}

/* ---- scalar ---- */

static int64_t smem_line(struct tm_engine *t, struct tm_wave *w, uint64_t address,
                         int64_t now)
{
    int64_t *ready, *l2;
    uint64_t at = tm_canon_data(&t->canon, address), line = at / 64;
    if (tm_cache_access(&w->simd->in->scache, line, &ready)) {
        if (*ready > now)
            deeper(t, TM_S_SMEM_FILL);
        return tm_max(*ready, now);
    }
    int64_t done = now;
    if (tm_cache_access(&t->gl2, at / LINE, &l2)) {
        deeper(t, TM_S_SMEM_GL2);
        t->gl2_hit++;
        done = tm_max(now + PARAM(t, smem_gl2), *l2);
    } else if (at / TM_HOST_PAGE < TM_SMALL_PAGES && !t->kernarg_done) {
        double ns =
            t->p.kernarg_ns + (t->config.warm_kernarg ? 0 : t->p.kernarg_walk_ns);
        deeper(t, TM_S_SMEM_MISS);
        t->gl2_miss++;
        *l2 = done = now + tm_lat(t, t->p.kernarg_cycles, ns);
        t->kernarg_done = done;
        t->tlb_ready[0] = 1; /* small data buffers share the translation */
    } else {
        deeper(t, TM_S_SMEM_MISS);
        t->gl2_miss++;
        *l2 = done = now + tm_lat(t, t->p.smem_gl2, t->p.mall_ns);
        if (at / TM_HOST_PAGE < TM_SMALL_PAGES)
            *l2 = done = tm_max(done, t->kernarg_done);
    }
    *ready = done;
    return done;
}

int64_t tm_smem(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
                const struct emu_event *event)
{
    int64_t done = t->now + PARAM(t, smem_hit);
    t->level = TM_S_SMEM_HIT;
    if (i->dst_dwords >= 16)
        done += PARAM(t, smem_hit_b512);
    else if (i->dst_dwords >= 8)
        done += PARAM(t, smem_hit_b256);
    for (unsigned a = 0; a < event->n_accesses; a++) {
        const struct emu_access *x = &event->access[a];
        uint64_t bytes = i->dst_dwords ? i->dst_dwords * 4u : x->bytes;
        for (uint64_t l = x->address[0] / 64; l <= (x->address[0] + bytes - 1) / 64;
             l++)
            done = tm_max(done, smem_line(t, w, l * 64, t->now));
        t->read_bytes += bytes;
    }
    struct tm_wgp *g = w->simd->in; /* returns one after the other */
    done = tm_max(done, g->smem_return + 1);
    g->smem_return = done;
    return done;
}

/* ---- vector ---- */

/* 64 bytes at 64 * segment are part of it. */
static void add_segment(struct tm_request *r, uint64_t segment)
{
    unsigned i = r->lines;
    uint8_t half = (uint8_t)(1u << segment % 2);
    while (i > 0 && r->line[i - 1] != segment / 2)
        i--;
    if (i == 0 && r->lines == 64)
        return;
    if (i == 0) {
        r->line[r->lines] = segment / 2;
        r->halves[r->lines] = 0;
        i = ++r->lines;
    }
    r->segments += !(r->halves[i - 1] & half);
    r->halves[i - 1] |= half;
}

/* Coalesce one access: lanes go in groups of 128 bytes; each 64 bytes touched by a
 * group is a request. */
static void coalesce(struct tm_engine *t, const struct emu_access *x, uint64_t stride,
                     struct tm_request *r)
{
    unsigned group = x->bytes > 4 ? 128u / (x->bytes > 16 ? 16u : x->bytes) : 32u;
    uint64_t last_page = UINT64_MAX, page_at = 0;
    for (unsigned first = 0; first < 64; first += group) {
        uint64_t seen[64];
        unsigned n = 0;
        uint64_t lanes = x->lanes >> first;
        if (group < 64)
            lanes &= (UINT64_C(1) << group) - 1;
        if (!lanes)
            continue;
        for (; lanes; lanes &= lanes - 1) {
            unsigned lane = first + (unsigned)__builtin_ctzll(lanes);
            uint64_t address = x->space == EMU_SPACE_SCRATCH
                                   ? stride + x->address[lane] * 32 + lane % 32 * 4
                                   : x->address[lane];
            uint64_t end = address + x->bytes - 1;
            for (uint64_t s = address / 64; s <= end / 64; s++) {
                if (s * 64 / TM_HOST_PAGE != last_page) {
                    last_page = s * 64 / TM_HOST_PAGE;
                    page_at =
                        tm_canon_data(&t->canon, s * 64 > address ? s * 64 : address);
                    page_at -= page_at % TM_HOST_PAGE;
                }
                uint64_t segment = (page_at + s * 64 % TM_HOST_PAGE) / 64;
                unsigned k = 0;
                while (k < n && seen[k] != segment)
                    k++;
                if (k < n || n == 64)
                    continue;
                seen[n++] = segment;
                add_segment(r, segment);
            }
        }
        int64_t rate = (int64_t)t->p.vmem_lines_per_cycle;
        r->cycles += tm_max(1, ((int64_t)n + rate - 1) / rate);
        r->groups++;
    }
}

/* Where a line is found, as cycles after its request leaves the address unit, less
 * those of an L0 hit. */
static int64_t load_line(struct tm_engine *t, struct tm_simd *s, uint64_t line,
                         int64_t now)
{
    int64_t *l0, *l1, extra;
    if (tm_cache_access(&s->cu->l0, line, &l0)) {
        if (*l0 > now)
            deeper(t, TM_S_VM_FILL);
        return tm_max(0, *l0 - now);
    }
    bool miss;
    int64_t go = translate(t, s->cu->tlb, line * LINE, false, now, &miss);
    extra = go - now + (miss ? PARAM(t, utcl1_miss_cycles) : 0);
    s->cu->ta_free = tm_max(s->cu->ta_free, now + extra); /* in order: the rest wait */
    deeper(t, TM_S_VM_GL1);
    if (tm_cache_access(&t->se[s->se].gl1[s->sa], line, &l1)) {
        extra = tm_max(extra + PARAM(t, vmem_gl1) - PARAM(t, vmem_hit), *l1 - now);
    } else {
        extra += PARAM(t, vmem_gl2) - PARAM(t, vmem_hit) + tm_gl2(t, line, now + extra);
        *l1 = now + extra;
    }
    *l0 = now + extra;
    return extra;
}

static int64_t do_load(struct tm_engine *t, const struct tm_send_op *o,
                       const struct tm_request *r, int64_t start, int64_t *last)
{
    static const uint8_t more[5] = {0, 0, 2, 5, 6}; /* dwords returned; measured A2 */
    struct tm_cu *cu = o->in->cu;
    unsigned dwords = o->inst->dst_dwords;
    int64_t data = start;
    for (unsigned l = 0; l < r->lines; l++)
        data = tm_max(data, start + load_line(t, o->in, r->line[l], start));
    data += more[dwords > 4 ? 4 : dwords] + PARAM(t, vmem_hit) - PARAM(t, lds_start);
    /* The CU returns data in order, at the rate at which it asked. */
    if (data < cu->return_free && 2 * (cu->return_free - data) > data - start)
        deeper(t, TM_S_VM_PATH);
    data = tm_max(data, cu->return_free);
    cu->return_free = data + r->cycles;
    return *last = tm_max(data + r->cycles - r->groups, *last + 1);
}

static int64_t do_store(struct tm_engine *t, const struct tm_send_op *o,
                        const struct tm_request *r, int64_t start, int64_t *last)
{
    struct tm_cu *cu = o->in->cu;
    int64_t at = tm_max(start, cu->store_free), sent = start, done;
    int64_t line = 2 * PARAM(t, store_cycles_per_line);
    uint64_t misses = 0;
    for (unsigned l = 0; l < r->lines; l++) {
        bool miss;
        int64_t go = translate(t, cu->tlb, r->line[l] * LINE, true, at, &miss), *ready;
        if (!tm_cache_access(&t->gl2, r->line[l], &ready)) {
            *ready = go;
            t->gl2_miss++; /* a write allocates */
            misses++;
        }
        at = tm_max(at, go) + line; /* in order: the rest wait for a translation */
        sent += line;
    }
    t->gl2_hit += r->segments - misses;
    cu->store_free = at;
    done = at - line;
    if (r->lines > 1)
        done = tm_max(done, sent - line + tm_lat(t, 0, t->p.store_lines_ns));
    done += PARAM(t, store_ack_cycles) - PARAM(t, lds_start);
    return *last = tm_max(done, *last + 1);
}

void tm_vmem_request(struct tm_engine *t, const struct tm_wave *w,
                     const struct emu_event *event, struct tm_request *r)
{
    uint64_t scratch =
        (UINT64_C(1) << 46) +
        (uint64_t)(w->simd->index +
                   4u * (w->simd->wgp + 8u * (w->simd->sa + 2u * w->simd->se))) *
            32 +
        w->slot;
    r->lines = r->segments = 0;
    r->cycles = r->groups = 0;
    for (unsigned a = 0; a < event->n_accesses; a++) {
        const struct emu_access *x = &event->access[a];
        uint64_t bytes = x->bytes * (uint64_t)__builtin_popcountll(x->lanes);
        if (x->space == EMU_SPACE_LDS || x->space == EMU_SPACE_GDS)
            continue;
        coalesce(t, x, scratch << 16, r);
        t->read_bytes += x->read ? bytes : 0;
        t->write_bytes += x->write ? bytes : 0;
    }
    if (!r->cycles)
        r->cycles = 1;
}

int64_t tm_vmem(struct tm_engine *t, const struct tm_send_op *o,
                const struct tm_request *r, int64_t *last)
{
    struct tm_cu *cu = o->in->cu;
    bool returns = o->inst->returns;
    t->level = TM_S_VM_L0;
    if (cu->ta_wave && cu->ta_wave != o->age && returns)
        cu->ta_free += PARAM(t, vmem_switch);
    cu->ta_wave = returns ? o->age : 0;
    int64_t start = tm_max(o->accept, cu->ta_free);
    bool queued = start - o->accept > PARAM(t, vmem_hit);
    cu->ta_free = start + r->cycles;
    if (r->lines == 0) /* no lane active */
        return start + (returns ? PARAM(t, vmem_hit) : PARAM(t, lds_start));
    int64_t done =
        returns ? do_load(t, o, r, start, last) : do_store(t, o, r, start, last);
    if ((queued && 2 * (start - o->accept) > done - o->accept) ||
        (t->level == TM_S_VM_L0 && done - o->accept > 2 * PARAM(t, vmem_hit)))
        t->level = TM_S_VM_PATH;
    return done;
}
