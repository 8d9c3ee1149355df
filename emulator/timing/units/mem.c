/* mem.c: scalar and vector memory: translation, caches, fabric, Infinity Cache, VRAM.
 *
 * A request finds its level by tag stores and its time by that level's latency and by
 * when the level's ports are free. Must not know instructions beyond their sizes.
 * Invariant: host addresses never index anything: a buffer lies at its canonical place,
 * other pages in the order of their first use.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define LINE          128u
#define FETCHED       4u /* lines of a request, ahead */
#define LINES_OF_PAGE (TM_HOST_PAGE / LINE)
/* Code has lines of its own in the GL2, above all data. */
#define CODE_LINES (UINT64_C(1) << 40)

_Static_assert(TM_LEAST_PAGE == TM_HOST_PAGE, "buffers begin at translations");

/* ---- translations that are kept ---- */

/* A CU gets a translation; one that it has goes if it is full. */
static void keep_near(const struct tm_base *b, struct tm_near *tlb, uint64_t page)
{
    struct tm_turn_out *o = &tlb->out;
    if (o->n++ == (unsigned)PARAM(b, utcl1_entries)) {
        while (!(tlb->page[o->hand / 64] >> o->hand % 64 & 1u))
            o->hand = (o->hand + 1) % TM_TLB_PAGES;
        tlb->page[o->hand / 64] &= ~(UINT64_C(1) << o->hand % 64);
        o->hand = (o->hand + 1) % TM_TLB_PAGES;
        o->n--;
    }
    tlb->page[page / 64] |= UINT64_C(1) << page % 64;
}

/* The same for the chip. */
static void keep(const struct tm_base *b, struct tm_memory *m, uint64_t page,
                 int64_t ready)
{
    struct tm_turn_out *o = &m->tlb_out;
    if (m->tlb_ready[page] == 0 && o->n++ == (unsigned)PARAM(b, utcl2_entries)) {
        while (m->tlb_ready[o->hand] == 0)
            o->hand = (o->hand + 1) % TM_TLB_PAGES;
        m->tlb_ready[o->hand] = 0;
        o->hand = (o->hand + 1) % TM_TLB_PAGES;
        o->n--;
    }
    m->tlb_ready[page] = ready;
}

/* ---- the state at the start ---- */

/* Buffers that lie in the Infinity Cache from the start: of a larger one the end. */
static void warm_mall(struct tm_memory *m)
{
    uint64_t fits = (uint64_t)m->mall.sets * m->mall.ways;
    for (size_t i = 0; i < m->canon.n_ranges; i++) {
        uint64_t first = m->canon.range_page[i] * TM_HOST_PAGE / LINE;
        uint64_t n = (m->canon.range[i].bytes + LINE - 1) / LINE;
        int64_t *ready;
        for (uint64_t k = n > fits ? n - fits : 0; k < n; k++)
            (void)tm_cache_access(&m->mall, first + k, &ready);
    }
    m->mall.hits = m->mall.misses = 0; /* of the run, none so far */
}

rd_status tm_memory_create(struct tm_memory *m, const struct tm_base *b,
                           const struct tm_config *config,
                           const struct emu_launch *launch)
{
    const struct tm_params *p = &b->p;
    uint64_t reach = (uint64_t)PARAM(b, tlb_page_bytes);
    m->page_shift = reach & (reach - 1) ? 0 : (unsigned)__builtin_ctzll(reach);
    m->canon.code_base = launch->code_base;
    m->canon.code_bytes = launch->code_bytes;
    m->warm_kernarg = config->warm_kernarg;
    m->gl2_miss = (uint64_t)p->gl2_empty_misses;
    rd_status st =
        tm_cache_create(&m->gl2, (uint64_t)p->gl2_bytes / LINE, (uint32_t)p->gl2_ways);
    if (st == RD_OK)
        st = tm_cache_create(&m->mall, (uint64_t)p->mall_bytes / LINE,
                             (uint32_t)p->mall_ways);
    if (st == RD_OK)
        st = tm_canon_create(&m->canon, config->ranges, config->n_ranges,
                             (uint64_t)p->tlb_page_bytes);
    if (st != RD_OK)
        return st;
    if (config->warm_mall)
        warm_mall(m);
    if (config->whole && m->canon.n_ranges) {
        m->touched = calloc((size_t)(m->canon.range_end * LINES_OF_PAGE / 64 + 1),
                            sizeof *m->touched);
        if (!m->touched)
            return RD_E_NOMEM;
        for (size_t i = 0; i < m->canon.n_ranges; i++)
            m->lines += (m->canon.range[i].bytes + LINE - 1) / LINE;
    }
    for (size_t page = 0; config->warm_data && page < TM_TLB_PAGES; page++)
        keep(b, m, page, 1); /* long there */
    return RD_OK;
}

void tm_memory_destroy(struct tm_memory *m)
{
    tm_cache_destroy(&m->gl2);
    tm_cache_destroy(&m->mall);
    free(m->touched);
    tm_canon_destroy(&m->canon);
}

/* ---- translation ---- */

/* Cycles of a page walk. Directories are known once the process has run a kernel, but
 * not to stores. */
static int64_t walk(const struct tm_base *b, const struct tm_memory *m, bool store)
{
    bool known = m->warm_kernarg && !store;
    double ns = b->p.walk_ns + (known ? 0 : b->p.walk_directory_ns);
    return tm_lat(b, b->p.walk_cycles, ns + tm_fabric_ns(b, known ? 1 : 2));
}

int64_t tm_memory_walk_code(const struct tm_base *b, struct tm_memory *m, int64_t now)
{
    int64_t done = now + walk(b, m, false);
    if (m->tlb_ready[0] == 0)
        keep(b, m, 0, done);
    return done;
}

static uint64_t page_of(const struct tm_base *b, const struct tm_memory *m,
                        uint64_t address)
{
    uint64_t page = m->page_shift ? address >> m->page_shift
                                  : address / (uint64_t)PARAM(b, tlb_page_bytes);
    return page % TM_TLB_PAGES;
}

/* Has a CU the translation? From now on it has. */
static bool is_near(const struct tm_base *b, const struct tm_memory *m,
                    struct tm_near *tlb, uint64_t address)
{
    uint64_t page = page_of(b, m, address);
    if (tlb->page[page / 64] >> page % 64 & 1u)
        return true;
    keep_near(b, tlb, page);
    return false;
}

/* Stores to what is small are not translated. */
static bool stays(uint64_t address)
{
    return address / TM_HOST_PAGE < TM_SMALL_PAGES;
}

/* When a request for a page may go on. known: the CU has had the translation. */
static int64_t translate(const struct tm_base *b, struct tm_memory *m, bool known,
                         uint64_t address, bool store, int64_t now)
{
    uint64_t page = page_of(b, m, address);
    int64_t l2 = m->tlb_ready[page];
    if (known)
        return tm_max(now, l2); /* hits under a walk wait for it */
    uint64_t near = (uint64_t)PARAM(b, walk_pages), first = page - page % near;
    if (l2 == 0 || (store && m->tlb_brought[page])) {
        l2 = now + walk(b, m, store);
        for (uint64_t k = first; k < first + near && k < TM_TLB_PAGES; k++)
            if (m->tlb_ready[k] == 0) {
                keep(b, m, k, l2);
                m->tlb_brought[k] = true;
            }
        keep(b, m, page, l2);
        m->tlb_brought[page] = false;
    }
    return tm_max(now, l2);
}

/* ---- GL2 and what is behind it ---- */

/* Remember the farthest place that an access had to go to (stalls.def: nearest first).
 */
static void deeper(struct tm_memory *m, uint8_t level)
{
    if (level > m->level)
        m->level = level;
}

/* A line is not in the GL2: is it asked for for the first time? */
static bool touch(struct tm_memory *m, uint64_t line)
{
    if (!m->touched || line >= m->canon.range_end * LINES_OF_PAGE)
        return false;
    uint64_t *at = &m->touched[line / 64], bit = UINT64_C(1) << line % 64;
    if (*at & bit)
        return false;
    *at |= bit;
    m->n_touched++;
    return true;
}

static int64_t queue_ns(double *free_at, double now, double cost)
{
    double start = *free_at > now ? *free_at : now;
    *free_at = start + cost;
    return (int64_t)(start - now);
}

bool tm_memory_code(struct tm_memory *m, uint64_t line, int64_t **ready)
{
    bool hit = tm_cache_access(&m->gl2, CODE_LINES + line, ready);
    *(hit ? &m->gl2_hit : &m->gl2_miss) += 1;
    return hit;
}

/* A line that was written leaves the GL2, and may put one out of the Infinity Cache:
 * how long it waits for its turn. */
static int64_t write_back(const struct tm_base *b, struct tm_memory *m, int64_t now)
{
    int64_t *there, wait = queue_ns(&m->mall_free, (double)now,
                                    LINE / b->p.mall_bytes_per_ns * b->ghz);
    if (!tm_cache_access(&m->mall, m->gl2.lost_line, &there) && m->mall.lost)
        wait = tm_max(wait, queue_ns(&m->dram_free, (double)now,
                                     LINE / b->p.dram_bytes_per_ns * b->ghz));
    tm_cache_write(&m->mall, there);
    return wait;
}

/* When the channel of a line begins with it. turns: of an atomic, one lane after the
 * other where they go to one place. */
static int64_t take_channel(const struct tm_base *b, struct tm_memory *m, uint64_t line,
                            int64_t turns, int64_t arrival)
{
    unsigned channel =
        (unsigned)((line ^ line >> 7 ^ line >> 13) % (uint64_t)PARAM(b, gl2_channels));
    int64_t start = tm_max(m->gl2_free[channel], arrival);
    m->gl2_free[channel] = start + tm_max((int64_t)(LINE / b->p.gl2_channel_bytes),
                                          turns * PARAM(b, gl2_atomic_cycles));
    return start;
}

/* More cycles than a GL2 hit takes, for a line requested at arrival. */
static int64_t load_gl2(const struct tm_base *b, struct tm_memory *m, uint64_t line,
                        int64_t turns, int64_t arrival)
{
    int64_t start = take_channel(b, m, line, turns, arrival), *ready;
    int64_t extra = start - arrival;
    if (turns > 1)
        extra += (turns - 1) * PARAM(b, gl2_atomic_cycles);
    if (tm_cache_access(&m->gl2, line, &ready)) {
        deeper(m, TM_S_VM_GL2);
        m->gl2_hit++;
        return tm_max(extra, *ready - arrival);
    }
    m->gl2_miss++;
    m->first_loads += touch(m, line);
    if (m->gl2.lost)
        (void)write_back(b, m, start);
    int64_t *there;
    bool mall = tm_cache_access(&m->mall, line, &there);
    double now = (double)start, fabric = tm_fabric_ns(b, 1);
    if (m->mall.lost)
        (void)queue_ns(&m->dram_free, now, LINE / b->p.dram_bytes_per_ns * b->ghz);
    if (mall) {
        deeper(m, TM_S_VM_MALL);
        double cost = LINE / b->p.mall_bytes_per_ns * b->ghz;
        extra +=
            queue_ns(&m->mall_free, now, cost) + tm_lat(b, 0, b->p.mall_ns + fabric);
    } else {
        deeper(m, TM_S_VM_DRAM);
        double cost = LINE / b->p.dram_bytes_per_ns * b->ghz;
        extra +=
            queue_ns(&m->dram_free, now, cost) + tm_lat(b, 0, b->p.dram_ns + fabric);
    }
    *ready = arrival + extra;
    return extra;
}

/* ---- scalar ---- */

/* A line of the kernel's arguments that the scalar cache does not have: the first of
 * all goes a way of its own. */
static int64_t smem_arguments(const struct tm_base *b, struct tm_memory *m, uint64_t at,
                              int64_t now)
{
    int64_t *l2, done;
    if (tm_cache_access(&m->gl2, at / LINE, &l2)) {
        deeper(m, TM_S_SMEM_GL2);
        m->gl2_hit++;
        return tm_max(now + PARAM(b, smem_gl2), *l2);
    }
    deeper(m, TM_S_SMEM_MISS);
    m->gl2_miss++;
    if (m->kernarg_done) {
        done = now + tm_lat(b, b->p.smem_gl2, b->p.mall_ns + tm_fabric_ns(b, 1));
        return *l2 = tm_max(done, m->kernarg_done);
    }
    double ns = b->p.kernarg_ns + (m->warm_kernarg ? 0 : b->p.kernarg_walk_ns);
    ns += tm_fabric_ns(b, m->warm_kernarg ? 1 : 3);
    return *l2 = m->kernarg_done = now + tm_lat(b, b->p.kernarg_cycles, ns);
}

/* Of anything else: it is translated and found as by a vector load. */
static int64_t smem_data(const struct tm_base *b, struct tm_memory *m,
                         struct tm_near *tlb, uint64_t at, int64_t now)
{
    bool known = is_near(b, m, tlb, at);
    int64_t go = translate(b, m, known, at, false, now);
    uint64_t misses = m->gl2_miss;
    uint8_t level = m->level;
    if (!known)
        go += PARAM(b, utcl1_miss_cycles);
    int64_t done = go + PARAM(b, smem_gl2) + load_gl2(b, m, at / LINE, 0, go);
    m->level = level;
    deeper(m, m->gl2_miss > misses ? TM_S_SMEM_MISS : TM_S_SMEM_GL2);
    return done;
}

static int64_t smem_line(const struct tm_base *b, struct tm_memory *m,
                         struct tm_smem *s, uint64_t address, int64_t now)
{
    int64_t *ready;
    uint64_t at = tm_canon_data(&m->canon, address), page = at / TM_HOST_PAGE + 1;
    if (tm_cache_access(&s->cache, at / 64, &ready)) {
        if (*ready > now)
            deeper(m, TM_S_SMEM_FILL);
        return tm_max(*ready, now);
    }
    if (!m->kernarg_page) /* what a kernel loads first */
        m->kernarg_page = page;
    return *ready = page == m->kernarg_page ? smem_arguments(b, m, at, now)
                                            : smem_data(b, m, &s->tlb, at, now);
}

int64_t tm_smem(const struct tm_base *b, struct tm_memory *m, struct tm_smem *s,
                const struct tm_inst *i, const struct emu_event *event)
{
    int64_t done = b->now + PARAM(b, smem_hit);
    m->level = TM_S_SMEM_HIT;
    if (i->dst_dwords >= 16)
        done += PARAM(b, smem_hit_b512);
    else if (i->dst_dwords >= 8)
        done += PARAM(b, smem_hit_b256);
    for (unsigned a = 0; a < event->n_accesses; a++) {
        const struct emu_access *x = &event->access[a];
        uint64_t bytes = i->dst_dwords ? i->dst_dwords * 4u : x->bytes;
        for (uint64_t l = x->address[0] / 64; l <= (x->address[0] + bytes - 1) / 64;
             l++)
            done = tm_max(done, smem_line(b, m, s, l * 64, b->now));
        m->smem_bytes += bytes;
    }
    return s->last = tm_max(done, s->last + 1); /* they return one after the other */
}

/* ---- vector ---- */

/* 64 bytes at 64 * segment are part of it. */
static void add_segment(struct tm_request *r, uint64_t segment)
{
    unsigned i = r->lines;
    uint64_t *half = &r->half[segment % 2];
    while (i > 0 && r->line[i - 1] != segment / 2)
        i--;
    if (i == 0 && r->lines == 64)
        return;
    if (i == 0) {
        r->line[r->lines] = segment / 2;
        i = ++r->lines;
    }
    if (!(*half >> (i - 1) & 1u))
        r->segments++;
    *half |= UINT64_C(1) << (i - 1);
}

/* The canonical page of an address in a buffer, else the host's, marked: it gets its
 * place when it is looked up, or before memory is asked. */
static uint64_t place(const struct tm_memory *m, uint64_t address)
{
    uint64_t at;
    if (!tm_canon_range(&m->canon, address, &at))
        at = address | TM_HOST_LINE * LINE;
    return at - at % TM_HOST_PAGE;
}

/* What lanes that go together have asked for. */
struct together {
    uint64_t seen[64]; /* segments */
    unsigned n;
    uint64_t page, page_at; /* the last one, and where it is; of all groups */
};

/* The bytes from an address up to another one. */
static inline void add_bytes(const struct tm_memory *m, uint64_t address, uint64_t last,
                             struct together *t, struct tm_request *r)
{
    for (uint64_t s = address / 64; s <= last / 64; s++) {
        if (s * 64 / TM_HOST_PAGE != t->page) {
            t->page = s * 64 / TM_HOST_PAGE;
            t->page_at = place(m, s * 64 > address ? s * 64 : address);
        }
        uint64_t segment = (t->page_at + s * 64 % TM_HOST_PAGE) / 64;
        unsigned k = 0;
        while (k < t->n && t->seen[k] != segment)
            k++;
        if (k < t->n || t->n == 64)
            continue;
        t->seen[t->n++] = segment;
        add_segment(r, segment);
    }
}

/* Sixteen lanes at even distances that leave no segment out, in one page: they ask for
 * what lies from the first to the last. */
enum { RUN = 16 };

static bool is_run(const uint64_t *a, unsigned bytes)
{
    typedef uint64_t two __attribute__((vector_size(16)));
    uint64_t step = a[1] - a[0];
    two at = {a[0], a[1]}, steps = {2 * step, 2 * step}, differ = {0}, next;
    for (unsigned k = 0; k < RUN; k += 2, at += steps) {
        memcpy(&next, a + k, sizeof next);
        differ |= next ^ at;
    }
    return !(differ[0] | differ[1]) && step <= 64 &&
           a[0] / TM_HOST_PAGE == (a[RUN - 1] + bytes - 1) / TM_HOST_PAGE;
}

/* Lanes from a first one on, one by one. */
static void add_lanes(const struct tm_memory *m, const struct emu_access *x,
                      uint64_t stride, unsigned first, uint64_t lanes,
                      struct together *t, struct tm_request *r)
{
    uint64_t from = 0, room = 0; /* where the lane before it went: to begin there */
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = first + (unsigned)__builtin_ctzll(lanes);
        uint64_t address = x->space == EMU_SPACE_SCRATCH
                               ? stride + x->address[lane] * 32 + lane % 32 * 4
                               : x->address[lane];
        if (address - from < room)
            continue;
        uint64_t last = address + x->bytes - 1;
        from = last / 64 * 64;
        room = x->bytes <= 64 ? 65 - x->bytes : 0;
        add_bytes(m, address, last, t, r);
    }
}

/* Coalesce one access: lanes go in groups of 128 bytes; each 64 bytes touched by a
 * group is a request. */
static void coalesce(const struct tm_base *b, const struct tm_memory *m,
                     const struct emu_access *x, uint64_t stride, struct tm_request *r)
{
    unsigned group = x->bytes > 4 ? 128u / (x->bytes > 16 ? 16u : x->bytes) : 32u;
    unsigned run = x->space == EMU_SPACE_SCRATCH || group % RUN ? group : RUN;
    uint64_t all = (UINT64_C(1) << run) - 1;
    int64_t rate = PARAM(b, vmem_lines_per_cycle);
    struct together t;
    t.page = UINT64_MAX, t.page_at = 0;
    for (unsigned first = 0; first < 64 && x->lanes >> first; first += group) {
        if (!(x->lanes >> first & ((UINT64_C(1) << group) - 1)))
            continue;
        t.n = 0;
        for (unsigned k = first; k < first + group && k < 64; k += run) {
            uint64_t lanes = x->lanes >> k & all;
            if (run == RUN && lanes == all && is_run(x->address + k, x->bytes))
                add_bytes(m, x->address[k], x->address[k + RUN - 1] + x->bytes - 1, &t,
                          r);
            else
                add_lanes(m, x, stride, k, lanes, &t, r);
        }
        r->cycles += tm_max(1, ((int64_t)t.n + rate - 1) / rate);
        r->groups++;
    }
}

static uint64_t lanes_of(const struct emu_access *x)
{
    return x->lanes == UINT32_MAX ? 32 : (uint64_t)__builtin_popcountll(x->lanes);
}

/* The most lanes of an atomic that go to one place. */
static int64_t turns_of(const struct emu_access *x)
{
    int64_t most = 0;
    for (uint64_t lanes = x->lanes; lanes; lanes &= lanes - 1) {
        uint64_t at = x->address[__builtin_ctzll(lanes)];
        int64_t n = 0;
        for (uint64_t same = lanes; same; same &= same - 1)
            n += x->address[__builtin_ctzll(same)] == at;
        most = tm_max(most, n);
    }
    return most;
}

void tm_vmem_request(const struct tm_base *b, const struct tm_memory *m,
                     uint64_t scratch, const struct emu_event *event,
                     struct tm_request *r, struct tm_traffic *sum)
{
    uint64_t base = ((UINT64_C(1) << 46) + scratch) << 16;
    r->lines = 0;
    r->segments = 0;
    r->turns = 0;
    r->cycles = r->groups = 0;
    if (!event->n_accesses) { /* it goes the way of the others, and takes its cycle */
        r->cycles = 1;
        sum->asked.cycles++;
        return;
    }
    r->half[0] = r->half[1] = 0;
    for (unsigned a = 0; a < event->n_accesses; a++) {
        const struct emu_access *x = &event->access[a];
        uint64_t lanes = lanes_of(x), bytes = x->bytes * lanes;
        if (x->space == EMU_SPACE_LDS || x->space == EMU_SPACE_GDS)
            continue;
        coalesce(b, m, x, base, r);
        if (x->read && x->write)
            r->turns = (int32_t)tm_max(r->turns, turns_of(x));
        sum->asked.lanes += lanes;
        sum->asked.bytes += bytes;
        sum->read_bytes += x->read ? bytes : 0;
        sum->write_bytes += x->write ? bytes : 0;
    }
    if (!r->cycles)
        r->cycles = 1;
    sum->asked.requests += r->lines != 0;
    sum->asked.lines += r->lines;
    sum->asked.segments += r->segments;
    sum->asked.cycles += (uint64_t)r->cycles;
}

void tm_vmem_place(struct tm_memory *m, struct tm_request *r)
{
    for (unsigned l = 0; l < r->lines; l++)
        if (r->line[l] & TM_HOST_LINE)
            r->line[l] =
                tm_canon_data(&m->canon, (r->line[l] & ~TM_HOST_LINE) * LINE) / LINE;
}

/* ---- tags: which lines are where ----
 *
 * They follow from the order of requests alone, so a CU looks them up as soon as that
 * is known, an array for all its CUs. */

/* Have all lines a place? Those that have get it. */
static bool is_placed(const struct tm_memory *m, struct tm_request *r)
{
    bool all = true;
    uint64_t at;
    for (unsigned l = 0; l < r->lines; l++) {
        if (!(r->line[l] & TM_HOST_LINE))
            continue;
        if (tm_canon_known(&m->canon, (r->line[l] & ~TM_HOST_LINE) * LINE, &at))
            r->line[l] = at / LINE;
        else
            all = false;
    }
    return all;
}

/* read again: for all behind it, too */
static void look_up_load(const struct tm_base *b, const struct tm_memory *m,
                         struct tm_vmem *cu, bool device, struct tm_request *r)
{
    for (unsigned l = 0; l < r->lines; l++) {
        int64_t *ready;
        if (device)
            tm_cache_drop(&cu->l0, r->line[l]);
        bool hit = tm_cache_access(&cu->l0, r->line[l], &ready);
        r->found[l].l0 = tm_cache_place(&cu->l0, ready);
        r->in_l0 |= (uint64_t)hit << l;
        if (!hit)
            r->near |= (uint64_t)is_near(b, m, &cu->tlb, r->line[l] * LINE) << l;
        if (device) /* it does not stay */
            tm_cache_drop(&cu->l0, r->line[l]);
    }
}

bool tm_vmem_look_up(const struct tm_base *b, const struct tm_memory *m,
                     struct tm_vmem *cu, const struct tm_inst *i, struct tm_request *r)
{
    if (!is_placed(m, r))
        return false;
    r->in_l0 = r->near = r->in_gl1 = 0;
    if (i->drops_l0)
        tm_cache_clear(&cu->l0);
    if (i->returns) {
        look_up_load(b, m, cu, i->device, r);
        return true;
    }
    for (unsigned l = 0; l < r->lines; l++)
        if (!stays(r->line[l] * LINE))
            r->near |= (uint64_t)is_near(b, m, &cu->tlb, r->line[l] * LINE) << l;
    return true;
}

void tm_vmem_look_up_array(const struct tm_vmem *cu, const struct tm_inst *i,
                           struct tm_request *r)
{
    struct tm_cache *gl1 = cu->gl1;
    if (i->drops_gl1)
        tm_cache_clear(gl1);
    for (unsigned l = 0; i->returns && l < r->lines; l++) {
        int64_t *ready;
        if (i->device)
            tm_cache_drop(gl1, r->line[l]);
        if (r->in_l0 >> l & 1u)
            continue;
        r->in_gl1 |= (uint64_t)tm_cache_access(gl1, r->line[l], &ready) << l;
        r->found[l].gl1 = tm_cache_place(gl1, ready);
        if (i->device)
            tm_cache_drop(gl1, r->line[l]);
    }
}

/* ---- what all share ---- */

/* How much longer each line takes than a hit in the L0, as far as that is not a matter
 * of when it came to L0 or GL1. */
static void ask_load(const struct tm_base *b, struct tm_memory *m,
                     struct tm_address_unit *cu, struct tm_request *r)
{
    int64_t now = r->start;
    for (unsigned l = 0; l < r->lines; l++) {
        if (r->in_l0 >> l & 1u)
            continue;
        bool known = r->near >> l & 1u;
        int64_t extra = translate(b, m, known, r->line[l] * LINE, false, now) - now +
                        (known ? 0 : PARAM(b, utcl1_miss_cycles));
        cu->free = tm_max(cu->free, now + extra); /* in order: the rest wait */
        deeper(m, TM_S_VM_GL1);
        if (r->in_gl1 >> l & 1u)
            r->found[l].extra = extra + PARAM(b, vmem_gl1) - PARAM(b, vmem_hit);
        else
            r->found[l].extra = extra + PARAM(b, vmem_gl2) - PARAM(b, vmem_hit) +
                                load_gl2(b, m, r->line[l], r->turns, now + extra);
    }
}

static void ask_store(const struct tm_base *b, struct tm_memory *m,
                      struct tm_address_unit *cu, struct tm_request *r)
{
    int64_t start = r->start, at = tm_max(start, cu->store_free), sent = start, done;
    int64_t line = 2 * PARAM(b, store_cycles_per_line), atomics = 0;
    uint64_t misses = 0;
    for (unsigned l = 0; l < r->lines; l++) {
        uint64_t address = r->line[l] * LINE;
        int64_t go = at, *ready;
        if (!stays(address))
            go = translate(b, m, r->near >> l & 1u, address, true, at);
        if (!tm_cache_access(&m->gl2, r->line[l], &ready)) {
            if (m->gl2.lost)
                go = tm_max(go, start + write_back(b, m, start));
            *ready = go;
            m->gl2_miss++; /* a write allocates */
            (void)touch(m, r->line[l]);
            misses++;
        }
        tm_cache_write(&m->gl2, ready);
        at = tm_max(at, go) + line; /* in order: the rest wait for a translation */
        if (r->turns > 1)
            atomics = tm_max(atomics, take_channel(b, m, r->line[l], r->turns, at) +
                                          (r->turns - 1) * PARAM(b, gl2_atomic_cycles));
        sent += line;
    }
    m->gl2_hit += r->segments - misses;
    cu->store_free = at;
    done = at - line + PARAM(b, store_ack_cycles);
    if (atomics)
        done = tm_max(done, atomics - line + PARAM(b, store_ack_cycles));
    if (r->lines > 1) { /* from behind the GL2, unless the translation takes longer */
        double ns = b->p.store_lines_ns + tm_fabric_ns(b, 1);
        done = tm_max(done, sent - line + tm_lat(b, b->p.store_lines_cycles, ns));
    }
    r->stored = done - PARAM(b, lds_start);
}

void tm_vmem_ask(const struct tm_base *b, struct tm_memory *m, unsigned cu,
                 uint64_t age, int64_t accept, struct tm_request *r)
{
    struct tm_address_unit *a = &m->address[cu];
    m->level = TM_S_VM_L0;
    if (a->wave && a->wave != age && age)
        a->free += PARAM(b, vmem_switch);
    a->wave = age;
    r->start = tm_max(accept, a->free);
    a->free = r->start + r->cycles;
    if (r->lines && age)
        ask_load(b, m, a, r);
    else if (r->lines)
        ask_store(b, m, a, r);
    r->level = m->level;
}

/* Of its first lines those that are asked for behind the GL1: a bit each. */
static unsigned to_fetch(const struct tm_request *r)
{
    unsigned all = r->lines < FETCHED ? (1u << r->lines) - 1 : (1u << FETCHED) - 1;
    return all & ~(unsigned)(r->in_l0 | r->in_gl1);
}

void tm_vmem_fetch(const struct tm_memory *m, const struct tm_request *r)
{
    for (unsigned rest = to_fetch(r); rest; rest &= rest - 1)
        tm_cache_fetch(&m->gl2, r->line[__builtin_ctz(rest)]);
}

void tm_vmem_fetch_far(const struct tm_memory *m, const struct tm_request *r)
{
    for (unsigned rest = to_fetch(r); rest; rest &= rest - 1) {
        uint64_t line = r->line[__builtin_ctz(rest)];
        if (!tm_cache_probe(&m->gl2, line))
            tm_cache_fetch(&m->mall, line);
    }
}

/* ---- the way back ---- */

/* When a line is there, as cycles after its request leaves the address unit, less those
 * of an L0 hit. */
static int64_t line_returns(struct tm_vmem *cu, struct tm_request *r, unsigned l)
{
    int64_t *l0 = tm_cache_ready(&cu->l0, r->found[l].l0), *gl1;
    int64_t now = r->start, extra = r->found[l].extra;
    if (r->in_l0 >> l & 1u) {
        if (*l0 > now && r->level < TM_S_VM_FILL)
            r->level = TM_S_VM_FILL;
        return tm_max(0, *l0 - now);
    }
    gl1 = tm_cache_ready(cu->gl1, r->found[l].gl1);
    if (r->in_gl1 >> l & 1u)
        extra = tm_max(extra, *gl1 - now);
    else
        *gl1 = now + extra;
    *l0 = now + extra;
    return extra;
}

static int64_t load_returns(const struct tm_base *b, struct tm_vmem *cu,
                            const struct tm_inst *i, struct tm_request *r,
                            int64_t *last)
{
    static const uint8_t more[5] = {0, 0, 2, 5, 6}; /* dwords returned; measured A2 */
    unsigned dwords = i->dst_dwords;
    int64_t start = r->start, data = start;
    for (unsigned l = 0; l < r->lines; l++)
        data = tm_max(data, start + line_returns(cu, r, l));
    data += more[dwords > 4 ? 4 : dwords] + PARAM(b, vmem_hit) - PARAM(b, lds_start);
    /* The CU returns data in order, at the rate at which it asked. */
    if (data < cu->return_free && 2 * (cu->return_free - data) > data - start &&
        r->level < TM_S_VM_PATH)
        r->level = TM_S_VM_PATH;
    data = tm_max(data, cu->return_free);
    cu->return_free = data + r->cycles;
    return *last = tm_max(data + r->cycles - r->groups, *last + 1);
}

int64_t tm_vmem_return(const struct tm_base *b, struct tm_vmem *cu,
                       const struct tm_inst *i, int64_t accept, struct tm_request *r,
                       int64_t *last)
{
    int64_t start = r->start, done;
    bool queued = start - accept > PARAM(b, vmem_hit);
    if (i->returns) {
        unsigned hits = r->in_l0 ? (unsigned)__builtin_popcountll(r->in_l0) : 0;
        cu->l0_hits += hits;
        cu->l0_misses += r->lines - hits;
    }
    if (r->lines == 0) /* no lane active */
        return start + (i->returns ? PARAM(b, vmem_hit) : PARAM(b, lds_start));
    if (i->returns)
        done = load_returns(b, cu, i, r, last);
    else
        done = *last = tm_max(r->stored, *last + 1);
    if ((queued && 2 * (start - accept) > done - accept) ||
        (r->level == TM_S_VM_L0 && done - accept > 2 * PARAM(b, vmem_hit)))
        r->level = TM_S_VM_PATH;
    return done;
}
