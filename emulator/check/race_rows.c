/* race_rows.c: accesses that race with nothing, judged by rows of lanes, so that native
 * code can do them.
 *
 * Lanes whose addresses are consecutive are a run: their values are side by side in the
 * shadow, and usually mean one site or none; whole lines have one word there. An
 * instruction all of whose values are ordered is noted as race.c would note it, and
 * need be no event; what may conflict, release or acquire is left to race.c, which
 * judges it again. Invariant: the shadow is as if race.c alone had judged.
 * SPDX-License-Identifier: MIT
 */
#include <immintrin.h>
#include <stdlib.h>

#include "facts.h"
#include "race.h"

#define SEGMENTS 160u /* of one instruction: more are an event */
#define FEW_RUNS 4    /* not worth looking for lanes at the same address */

/* Values of one run in one block; the lane of value k is lane + (k >> shift). */
struct segment {
    struct shadow_block *block;
    uint16_t first, n;
    uint8_t lane, shift;
};

/* One instruction of a wave. */
struct rows {
    const struct ck *ck;
    const struct ck_wave *w;
    struct shadow *s;
    struct site me;
    uint32_t number;
    bool lanes; /* lanes of the wave race, too */
    bool write, full, again;
    uint32_t ok, bad; /* sites: the last that was ordered, that was not (lanes aside) */
    unsigned n;
    struct segment segment[SEGMENTS];
};

/* ---- which values are ordered ---- */

static bool is_ordered(struct rows *r, uint32_t value, unsigned lane)
{
    struct site other = shadow_site(r->s, value);
    r->me.lane = (uint8_t)lane;
    return race_ordered(r->ck, r->w, &r->me, &other);
}

__attribute__((target("avx2"))) static unsigned bits(__m256i mask)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

/* n values of a segment from its value k on; v: they, if memory has them. */
struct piece {
    const struct segment *g;
    uint32_t *v;
    unsigned k, n;
};

/* The lanes of eight values from k on, as they would be in values. */
__attribute__((target("avx2"))) static __m256i lanes_of(const struct segment *g,
                                                        unsigned k)
{
    __m256i at = _mm256_add_epi32(_mm256_set1_epi32((int)k),
                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_add_epi32(_mm256_srl_epi32(at, _mm_cvtsi32_si128(g->shift)),
                            _mm256_set1_epi32(g->lane));
}

/* Those of eight values that mean the site, of the same lanes if lanes race. */
__attribute__((target("avx2"))) static __m256i means(const struct rows *r, __m256i v,
                                                     uint32_t number, __m256i lanes)
{
    if (r->lanes)
        return _mm256_cmpeq_epi32(
            v, _mm256_or_si256(lanes, _mm256_set1_epi32((int)(number << SHADOW_LANE))));
    return _mm256_cmpeq_epi32(_mm256_srli_epi32(v, SHADOW_LANE),
                              _mm256_set1_epi32((int)number));
}

/* Of n values, at most eight, from k on: those that me is behind of, as bits. */
__attribute__((target("avx2"))) static unsigned
ordered_of(struct rows *r, __m256i v, const struct segment *g, unsigned k, unsigned n)
{
    __m256i limit = _mm256_set1_epi32((int)((r->s->dead << SHADOW_LANE) - 1));
    __m256i lanes = lanes_of(g, k);
    unsigned in = n < 8 ? (1u << n) - 1 : 255, fine, not = 0;
    fine = bits(_mm256_cmpeq_epi32(_mm256_max_epu32(v, limit), limit)) & in;
    for (;;) {
        fine |= bits(means(r, v, r->ok, lanes)) & in & ~not;
        if (!r->lanes)
            not |= bits(means(r, v, r->bad, lanes)) & in & ~fine;
        unsigned open = in & ~fine & ~not;
        if (!open)
            return fine;
        uint32_t value[8];
        unsigned i = (unsigned)__builtin_ctz(open);
        _mm256_storeu_si256((__m256i *)value, v);
        if (is_ordered(r, value[i], g->lane + ((k + i) >> g->shift))) {
            r->ok = value[i] >> SHADOW_LANE;
            fine |= 1u << i;
        } else {
            r->bad = value[i] >> SHADOW_LANE;
            not |= 1u << i;
        }
    }
}

/* Signs in the first n of eight, of those in the bits. */
__attribute__((target("avx2"))) static __m256i mask_of(unsigned n, unsigned in)
{
    __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    in &= n < 8 ? (1u << n) - 1 : 255;
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)in), bit), bit);
}

/* Eight values, or the n there are. */
__attribute__((target("avx2"))) static __m256i load(const uint32_t *v, unsigned n)
{
    return n >= 8 ? _mm256_loadu_si256((const __m256i *)v)
                  : _mm256_maskload_epi32((const int *)v, mask_of(n, 255));
}

__attribute__((target("avx2"))) static void store(uint32_t *v, unsigned n, unsigned in,
                                                  __m256i x)
{
    if (n >= 8 && in == 255)
        _mm256_storeu_si256((__m256i *)v, x);
    else
        _mm256_maskstore_epi32((int *)v, mask_of(n, in), x);
}

/* What all of the values are; MIXED: to be asked eight by eight. */
enum alike { MIXED, ORDERED, UNORDERED };

/* ... of the number, if lanes do not matter. */
static inline enum alike number_is(struct rows *r, uint32_t number)
{
    if (number < r->s->dead || number == r->ok)
        return ORDERED;
    if (number == r->bad)
        return UNORDERED;
    bool ordered = is_ordered(r, number << SHADOW_LANE, 0);
    *(ordered ? &r->ok : &r->bad) = number;
    return ordered ? ORDERED : UNORDERED;
}

/* ... of few values. */
static inline enum alike few_alike(struct rows *r, const struct piece *p)
{
    enum alike all = number_is(r, p->v[0] >> SHADOW_LANE);
    for (unsigned i = 1; i < p->n; i++)
        if (p->v[i] >> SHADOW_LANE != p->v[i - 1] >> SHADOW_LANE &&
            number_is(r, p->v[i] >> SHADOW_LANE) != all)
            return MIXED;
    return all;
}

__attribute__((target("avx2"))) static inline enum alike alike(struct rows *r,
                                                               const struct piece *p)
{
    if (r->lanes)
        return MIXED;
    if (p->n < 8)
        return few_alike(r, p);
    if (p->n % 8)
        return MIXED;
    (void)number_is(r, p->v[0] >> SHADOW_LANE);
    __m256i limit = _mm256_set1_epi32((int)((r->s->dead << SHADOW_LANE) - 1)),
            ok = _mm256_set1_epi32((int)r->ok), bad = _mm256_set1_epi32((int)r->bad);
    __m256i fine = _mm256_set1_epi32(-1), not = fine;
    for (unsigned i = 0; i < p->n; i += 8) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(p->v + i)),
                at = _mm256_srli_epi32(x, SHADOW_LANE);
        __m256i none = _mm256_cmpeq_epi32(_mm256_max_epu32(x, limit), limit);
        fine =
            _mm256_and_si256(fine, _mm256_or_si256(none, _mm256_cmpeq_epi32(at, ok)));
        not = _mm256_and_si256(not, _mm256_cmpeq_epi32(at, bad));
    }
    return bits(fine) == 255 ? ORDERED : bits(not) == 255 ? UNORDERED : MIXED;
}

/* The next piece of the segment behind p, of one line unless the block is split. */
static inline bool next_piece(const struct segment *g, struct piece *p)
{
    unsigned k = p->k + p->n, at = g->first + k, left = g->n - k,
             most = g->block->shift < 2 ? left : SHADOW_LINE - at % SHADOW_LINE;
    *p = (struct piece){.g = g, .k = k, .n = left < most ? left : most};
    return left;
}

static inline unsigned line_of(const struct piece *p)
{
    return (p->g->first + p->k) / SHADOW_LINE;
}

/* Has the piece one word? */
static inline bool is_rule(const struct piece *p, enum shadow_plane plane)
{
    return p->g->block->shift == 2 && !shadow_apart(p->g->block, plane, line_of(p));
}

/* The values of the piece, made if there are none; NULL: out of memory. */
static inline uint32_t *values_of(struct rows *r, const struct piece *p,
                                  enum shadow_plane plane)
{
    struct shadow_block *b = p->g->block;
    unsigned at = p->g->first + p->k;
    if (b->plane[plane] && !is_rule(p, plane))
        return b->plane[plane] + at;
    uint32_t *v = b->shift < 2 ? shadow_plane(r->s, b, plane)
                               : shadow_open(r->s, b, plane, at / SHADOW_LINE);
    return v ? v + (b->shift < 2 ? at : at % SHADOW_LINE) : NULL;
}

__attribute__((target("avx2"))) static bool values_ordered(struct rows *r,
                                                           const struct piece *p)
{
    enum alike all = alike(r, p);
    for (unsigned i = 0; i < p->n && all == MIXED; i += 8) {
        unsigned n = p->n - i < 8 ? p->n - i : 8;
        if (ordered_of(r, load(p->v + i, n), p->g, p->k + i, n) != (1u << n) - 1)
            return false;
    }
    return all != UNORDERED;
}

static inline bool piece_ordered(struct rows *r, struct piece *p,
                                 enum shadow_plane plane)
{
    const struct shadow_block *b = p->g->block;
    unsigned line = line_of(p), at = p->g->first + p->k;
    uint32_t v[SHADOW_LINE];
    if (!is_rule(p, plane)) {
        p->v = b->plane[plane] + at;
        return values_ordered(r, p);
    }
    uint32_t number = b->line[line][plane] >> SHADOW_LANE;
    if (!r->lanes || number < r->s->dead)
        return number_is(r, number) == ORDERED;
    for (unsigned i = 0; i < p->n; i++)
        v[i] = shadow_rule(b, plane, line, at % SHADOW_LINE + i);
    struct piece each = *p;
    each.v = v;
    return values_ordered(r, &each);
}

static inline bool plane_ordered(struct rows *r, const struct segment *g,
                                 enum shadow_plane plane)
{
    struct piece p = {.n = 0};
    if (g->block->top[plane] < r->s->dead)
        return true;
    while (next_piece(g, &p))
        if (!piece_ordered(r, &p, plane))
            return false;
    return true;
}

/* ---- what is noted ---- */

/* The form that the lanes of the segment have in a whole line, from its value k on;
 * SHADOW_FORMS: none. */
static inline unsigned form_of(const struct segment *g, unsigned k)
{
    if (g->shift > 2)
        return SHADOW_FORMS - 1;
    return k & ((1u << g->shift) - 1) ? SHADOW_FORMS : g->shift;
}

/* All values of the piece. */
__attribute__((target("avx2"))) static inline bool
note_piece(struct rows *r, const struct piece *p, enum shadow_plane plane)
{
    const struct segment *g = p->g;
    uint32_t me = r->number << SHADOW_LANE;
    if (p->n == SHADOW_LINE && g->block->shift == 2) {
        unsigned form = form_of(g, p->k), lane = g->lane + (p->k >> g->shift);
        if (form < SHADOW_FORMS) {
            shadow_set_line(g->block, plane, line_of(p), me | lane, form);
            shadow_raise(g->block, plane, r->number);
            return true;
        }
    }
    uint32_t *v = values_of(r, p, plane);
    if (!v)
        return false;
    shadow_raise(g->block, plane, r->number);
    if (p->n < 8) {
        for (unsigned i = 0; i < p->n; i++)
            v[i] = me | (g->lane + ((p->k + i) >> g->shift));
        return true;
    }
    __m256i all = _mm256_set1_epi32((int)me);
    for (unsigned i = 0; i < p->n; i += 8)
        store(v + i, p->n - i, 255, _mm256_or_si256(all, lanes_of(g, p->k + i)));
    return true;
}

static inline bool note_all(struct rows *r, const struct segment *g,
                            enum shadow_plane plane)
{
    struct piece p = {.n = 0};
    while (next_piece(g, &p))
        if (!note_piece(r, &p, plane))
            return false;
    return true;
}

/* Some reads of the piece are behind of others: value by value. */
__attribute__((target("avx2"))) static bool note_mixed(struct rows *r,
                                                       const struct piece *p)
{
    uint32_t *first = p->v, *second = values_of(r, p, SHADOW_READ2);
    __m256i me = _mm256_set1_epi32((int)(r->number << SHADOW_LANE));
    if (!second)
        return false;
    shadow_raise(p->g->block, SHADOW_READ, r->number);
    shadow_raise(p->g->block, SHADOW_READ2, r->number);
    for (unsigned i = 0; i < p->n; i += 8) {
        unsigned n = p->n - i < 8 ? p->n - i : 8;
        __m256i mine = _mm256_or_si256(me, lanes_of(p->g, p->k + i));
        unsigned here = ordered_of(r, load(first + i, n), p->g, p->k + i, n);
        store(first + i, n, here, mine);
        store(second + i, n, ~here & 255, mine);
    }
    return true;
}

/* The first read that is behind of nobody else's stays, and the last. */
static inline bool note_reads(struct rows *r, const struct segment *g)
{
    const struct shadow_block *b = g->block;
    struct piece p = {.n = 0};
    bool fine = true;
    if (b->top[SHADOW_READ] < r->s->dead)
        return note_all(r, g, SHADOW_READ);
    while (fine && next_piece(g, &p)) {
        enum alike all;
        if (!r->lanes && is_rule(&p, SHADOW_READ)) {
            all = number_is(r, b->line[line_of(&p)][SHADOW_READ] >> SHADOW_LANE);
        } else {
            p.v = values_of(r, &p, SHADOW_READ);
            all = p.v ? alike(r, &p) : MIXED;
        }
        fine = all != MIXED
                   ? note_piece(r, &p, all == ORDERED ? SHADOW_READ : SHADOW_READ2)
                   : p.v && note_mixed(r, &p);
    }
    return fine;
}

/* ---- lanes that lie apart ---- */

/* The values from i on, apart from here on; NULL: out of memory. */
static inline uint32_t *values_at(struct shadow *s, struct shadow_block *b,
                                  enum shadow_plane plane, unsigned i)
{
    uint32_t *v = b->plane[plane];
    if (b->shift < 2)
        return v ? v + i : (v = shadow_plane(s, b, plane)) ? v + i : NULL;
    if (!v || !shadow_apart(b, plane, i / SHADOW_LINE))
        return (v = shadow_open(s, b, plane, i / SHADOW_LINE)) ? v + i % SHADOW_LINE
                                                               : NULL;
    return v + i;
}

/* n values are read by a lane: the first read that is behind of nobody else's stays,
 * and the last. */
static inline bool note_lane(struct rows *r, struct shadow_block *b, unsigned i,
                             unsigned n, uint32_t value)
{
    for (unsigned end = i + n; i < end; i++) {
        uint32_t *v = values_at(r->s, b, SHADOW_READ, i);
        if (!v)
            return false;
        enum shadow_plane plane = SHADOW_READ;
        if (number_is(r, *v >> SHADOW_LANE) != ORDERED) {
            plane = SHADOW_READ2;
            v = values_at(r->s, b, plane, i);
        }
        if (!v)
            return false;
        shadow_raise(b, plane, r->number);
        *v = value;
    }
    return true;
}

/* Loads by lanes one after the other, where nobody has written: nothing can be out of
 * order. False: it is to be judged by runs, which note what was noted already again. */
static bool note_apart(struct rows *r, const struct emu_access *a)
{
    struct shadow_block *b = NULL;
    uint64_t block = UINT64_MAX;
    if (a->write || r->lanes || !r->number)
        return false;
    for (uint64_t m = a->lanes; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(m);
        uint64_t at = a->address[lane];
        if (at / SHADOW_BLOCK != block) {
            block = at / SHADOW_BLOCK;
            b = shadow_at(r->s, at);
            if (!b || b->top[SHADOW_WRITE] >= r->s->dead ||
                b->top[SHADOW_ATOMIC] >= r->s->dead)
                return false;
        }
        unsigned i = (unsigned)(at % SHADOW_BLOCK);
        if (i + a->bytes > SHADOW_BLOCK || (i | a->bytes) & ((1u << b->shift) - 1) ||
            !note_lane(r, b, i >> b->shift, a->bytes >> b->shift,
                       r->number << SHADOW_LANE | lane))
            return false;
    }
    return true;
}

/* ---- runs ---- */

static void add_run(struct rows *r, uint64_t at, unsigned bytes, unsigned lane,
                    unsigned n)
{
    uint64_t end = at + (uint64_t)bytes * n;
    unsigned log = (unsigned)__builtin_ctz(bytes);
    while (at < end && !r->full) {
        struct shadow_block *b = shadow_at(r->s, at);
        uint64_t stop = (at / SHADOW_BLOCK + 1) * SHADOW_BLOCK;
        stop = end < stop ? end : stop;
        uint8_t shift = (at | stop | bytes) % 2 ? 0 : (at | stop | bytes) % 4 ? 1 : 2;
        if (b && shift < b->shift) {
            r->again |= r->n != 0; /* others may be of the block */
            b = shadow_split(r->s, b, shift) ? b : NULL;
        }
        r->full = !b || r->n == SEGMENTS;
        if (r->full)
            return;
        unsigned part = (unsigned)(stop - at);
        bool whole = part % bytes == 0; /* else of one lane, in two blocks */
        struct segment *g = &r->segment[r->n++];
        *g = (struct segment){
            .block = b,
            .first = (uint16_t)(at % SHADOW_BLOCK >> b->shift),
            .n = (uint16_t)(part >> b->shift),
            .lane = (uint8_t)lane,
            .shift = (uint8_t)(n == 1 ? 16 : log - b->shift),
        };
        if (n > 1 && !whole) {
            r->full = true;
            return;
        }
        lane += n == 1 ? 0 : part >> log;
        at = stop;
    }
}

/* Bit l: lane l + 1 is step bytes behind lane l. */
__attribute__((target("avx2"))) static uint64_t steps(const struct emu_access *a,
                                                      unsigned lanes, uint64_t step)
{
    uint64_t out = 0;
    __m256i by = _mm256_set1_epi64x((long long)step);
    for (unsigned l = 0; l + 4 < lanes; l += 4) {
        __m256i x = _mm256_loadu_si256((const __m256i *)&a->address[l]),
                y = _mm256_loadu_si256((const __m256i *)&a->address[l + 1]);
        __m256i is = _mm256_cmpeq_epi64(_mm256_sub_epi64(y, x), by);
        out |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is)) << l;
    }
    for (unsigned l = lanes - 4; l + 1 < lanes; l++)
        out |= (uint64_t)(a->address[l + 1] - a->address[l] == step) << l;
    return out;
}

/* How many lanes from lane on the bits join. */
static unsigned run_from(uint64_t joined, unsigned lane)
{
    uint64_t end = ~(joined >> lane);
    return 1 + (end ? (unsigned)__builtin_ctzll(end) : 63);
}

static void add_access(struct rows *r, const struct emu_access *a)
{
    unsigned lanes = r->ck->launch.lanes;
    if (a->scalar) {
        add_run(r, a->address[0], a->bytes, 0, 1);
        return;
    }
    uint64_t pairs = a->lanes & a->lanes >> 1;
    uint64_t joined =
        a->bytes & (a->bytes - 1u) ? 0 : steps(a, lanes, a->bytes) & pairs;
    bool apart = __builtin_popcountll(pairs & ~joined) >= FEW_RUNS;
    if (apart && note_apart(r, a))
        return;
    uint64_t equal = !apart || a->write || r->lanes ? 0 : steps(a, lanes, 0) & pairs;
    for (uint64_t m = a->lanes; m && !r->full;) {
        unsigned l = (unsigned)__builtin_ctzll(m), n = run_from(equal, l);
        if (n > 1) /* the last one counts */
            add_run(r, a->address[l], a->bytes, l + n - 1, 1);
        else
            add_run(r, a->address[l], a->bytes, l, n = run_from(joined, l));
        m &= l + n < 64 ? ~UINT64_C(0) << (l + n) : 0;
    }
}

static void add_all(struct rows *r, const struct emu_access *a, unsigned n)
{
    do {
        r->n = 0;
        r->full = r->again = false;
        for (unsigned i = 0; i < n; i++)
            add_access(r, &a[i]);
    } while (r->again && !r->full);
}

/* Nothing that the segments touch is out of order; then they are noted. */
static bool judge(struct rows *r)
{
    bool fine = !r->full && r->number;
    unsigned planes = r->write ? SHADOW_PLANES : SHADOW_READ;
    for (unsigned i = 0; i < r->n && fine; i++)
        for (unsigned p = 0; p < planes && fine; p++)
            fine = plane_ordered(r, &r->segment[i], (enum shadow_plane)p);
    for (unsigned i = 0; i < r->n && fine; i++)
        fine = r->write ? note_all(r, &r->segment[i], SHADOW_WRITE)
                        : note_reads(r, &r->segment[i]);
    return fine;
}

/* ---- whole lines ---- */

#define LINE_BYTES (4u * SHADOW_LINE)

/* May all of a line be read or written, as far as its words say? */
static inline bool line_fine(struct rows *r, const struct shadow_block *b,
                             unsigned line)
{
    for (unsigned p = 0; p < (r->write ? SHADOW_PLANES : SHADOW_READ); p++)
        if (b->top[p] >= r->s->dead &&
            (shadow_apart(b, (enum shadow_plane)p, line) ||
             number_is(r, b->line[line][p] >> SHADOW_LANE) != ORDERED))
            return false;
    return r->write || b->top[SHADOW_READ] < r->s->dead ||
           !shadow_apart(b, SHADOW_READ, line);
}

/* Sixteen lanes after the other, each of a dword of the same line: rows of tiles are
 * such. False: nothing is noted, it is to be judged by runs. */
static bool judge_lines(struct rows *r, const struct emu_access *a)
{
    const uint64_t gaps = UINT64_C(0x8000800080008000);
    unsigned lanes = r->ck->launch.lanes;
    uint64_t all = lanes == 64 ? UINT64_MAX : UINT32_MAX;
    struct shadow_block *b[64 / SHADOW_LINE];
    if (r->lanes || !r->number || a->scalar || a->bytes != 4 || a->lanes != all ||
        ((steps(a, lanes, 4) | gaps) & all) != all)
        return false;
    for (unsigned l = 0; l < lanes; l += SHADOW_LINE) {
        uint64_t at = a->address[l];
        struct shadow_block *x = at % LINE_BYTES ? NULL : shadow_at(r->s, at);
        if (!x || x->shift != 2 ||
            !line_fine(r, x, (unsigned)(at % SHADOW_BLOCK) / LINE_BYTES))
            return false;
        b[l / SHADOW_LINE] = x;
    }
    for (unsigned l = 0; l < lanes; l += SHADOW_LINE) {
        struct shadow_block *x = b[l / SHADOW_LINE];
        unsigned line = (unsigned)(a->address[l] % SHADOW_BLOCK) / LINE_BYTES;
        enum shadow_plane plane = r->write ? SHADOW_WRITE : SHADOW_READ;
        if (!r->write && x->top[SHADOW_READ] >= r->s->dead &&
            number_is(r, x->line[line][SHADOW_READ] >> SHADOW_LANE) != ORDERED)
            plane = SHADOW_READ2;
        shadow_set_line(x, plane, line, r->number << SHADOW_LANE | l, 0);
        shadow_raise(x, plane, r->number);
    }
    return true;
}

/* All accesses of an instruction: nothing is out of order, and noted. */
static bool judge_all(struct rows *r, const struct emu_access *a, unsigned n)
{
    if (n == 1 && judge_lines(r, a))
        return true;
    add_all(r, a, n);
    return judge(r);
}

/* ---- instructions ---- */

/* May it be judged by rows? If lanes race, those of one store must not meet. */
static bool suits(struct ck *ck, const struct ck_wave *w, const struct emu_event *e)
{
    const struct emu_access *a = e->access;
    if (a->read == a->write || (e->n_accesses > 1 && a[0].space != a[1].space) ||
        (a->scalar && ck->config.lanes)) /* of several lanes */
        return false;
    if (!a->write)
        return !ck->race->room || !race_flag_acquires(ck, w, e);
    if (ck->config.lanes) {
        uint64_t run = a->lanes >> __builtin_ctzll(a->lanes),
                 pairs = a->lanes & a->lanes >> 1;
        if (e->n_accesses > 1 || run & (run + 1) ||
            (steps(a, ck->launch.lanes, a->bytes) & pairs) != pairs)
            return false;
    }
    for (unsigned i = 0; i < e->n_accesses && ck->race->room; i++)
        for (uint64_t m = a[i].lanes; m; m &= m - 1)
            if (race_released(ck, w, a[i].space, a[i].address[__builtin_ctzll(m)]))
                return false;
    return true;
}

/* What all lanes do to memory in space, as a site. */
static void begin(struct rows *r, struct ck *ck, struct ck_wave *w,
                  const struct emu_event *e, uint32_t stamp, uint16_t flags)
{
    const struct emu_access *a = e->access;
    struct shadow *s = a->space == EMU_SPACE_LDS ? w->group->lds : ck->race->global;
    r->ck = ck;
    r->w = w;
    r->s = s;
    r->me = (struct site){.wave = race_wave(ck, w),
                          .pc = (uint32_t)(e->inst->pc - ck->launch.code_base),
                          .barrier = (uint32_t)w->group->barriers,
                          .clock = w->order.clock,
                          .stamp = stamp,
                          .flags = flags};
    r->number = shadow_number(s, &r->me, race_last(w, a->space, r->me.pc));
    r->lanes = ck->config.lanes;
    r->write = a->write;
    r->ok = r->number;
    r->bad = UINT32_MAX >> SHADOW_LANE;
}

/* Loops go on by equal steps: fetch what is known of the next place, and the block of
 * the one behind it. */
static void fetch_next(struct shadow *s, struct ck_wave *w, const struct emu_event *e)
{
    const struct emu_access *a = e->access;
    uint64_t at = a->address[a->scalar ? 0 : __builtin_ctzll(a->lanes)];
    uint64_t *last = &w->order.last[e->inst->pc / 4 % CK_SITES];
    uint64_t step = at - *last, next = at + step;
    *last = at;
    if (step + SHADOW_BLOCK < 2 * SHADOW_BLOCK)
        return;
    const struct shadow_block *b = shadow_peek(s, next);
    if (b) {
        unsigned k = (unsigned)(next % SHADOW_BLOCK) >> b->shift;
        for (unsigned i = 0; i < SHADOW_PLANES; i++) {
            if (b->shift == 2 &&
                !shadow_apart(b, (enum shadow_plane)i, k / SHADOW_LINE))
                __builtin_prefetch(b->line[k / SHADOW_LINE], 1);
            else if (b->plane[i])
                for (unsigned j = 0; j < 3; j++)
                    __builtin_prefetch(b->plane[i] + k + 16 * j, 1);
        }
        b = shadow_peek(s, next + step);
        if (b)
            __builtin_prefetch(b, 1);
    }
}

bool ck_race_ask(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    const struct emu_access *a = e->access;
    struct ck_race *race = ck->race;
    race_anew(race);
    if (!e->n_accesses) {
        ck_race_order(ck, w, e->inst);
        return false;
    }
    bool lds = a->space == EMU_SPACE_LDS;
    if (!lds && a->space != EMU_SPACE_GLOBAL)
        return e->n_accesses > 1;
    if (!(lds ? w->group->lds : race->global) || (!lds && w->order.held) ||
        !suits(ck, w, e))
        return true;
    if (lds)
        race_catch_up(ck, w->group);
    if (race_row_ask(ck, w, e))
        return false;
    if (!lds)
        fetch_next(race->global, w, e);
    bool first = a->write && !lds && race_stores_first(ck, w, e, a);
    struct rows r;
    uint16_t flags = lds ? 0 : race_plain_flags(w, a->write, first);
    begin(&r, ck, w, e, race_store_stamp(race, &w->order, flags), flags);
    if (!judge_all(&r, e->access, e->n_accesses))
        return true;
    race->asked.wave = w;
    race->asked.index = e->index;
    race->asked.stamp = race->stamp;
    race->asked.stores_out = w->order.stores_out;
    race->asked.out_at = w->order.out_at;
    race->asked.clock = w->order.clock;
    race->asked.done = w->order.done;
    if (first)
        race_stored(race, w);
    w->group->log.tag = race->stamp;
    if (a->write && lds) {
        race_lds_written(w->group);
        race_stores_flag(w, a);
    }
    if (a->write && !lds)
        race_is_out(&w->order, a);
    if (!a->write && !lds && !a->scalar)
        race_loads(&w->order, a->lanes & (a->lanes - 1));
    w->order.waited = false;
    return false;
}

struct race_line *ck_race_mine(struct ck *ck, struct ck_wave *w)
{
    uint32_t waves = ck->launch.waves_per_group, wave = race_wave(ck, w);
    if (ck->config.lanes || !ck->race->global)
        return NULL;
    ck->race->native = true;
    if (ck->race->form && !ck->race->global->spare_reads)
        shadow_more_reads(ck->race->global);
    ck->race->line = (struct race_line){.race = ck->race,
                                        .w = w,
                                        .group = w->group,
                                        .code_base = ck->launch.code_base,
                                        .turn = ++ck->race->turns,
                                        .wave = wave,
                                        .first = wave - w->info->wave,
                                        .waves = waves};
    return &ck->race->line;
}

/* ---- the log ----
 *
 * Between barriers in which nobody writes LDS what reads it is of no interest to
 * anybody: it is judged only once there is a write, or something that orders waves. */

/* It is empty, and open if it will do. */
static void empty_log(struct ck_group *g)
{
    if (!g->entries)
        return;
    g->log.at = g->log.end = g->entries->entry;
    if (!g->lds_written)
        g->log.end += LOG_BYTES - EMU_LOG_ENTRY(64);
}

void race_log_forget(struct ck_group *g)
{
    g->lds_written = false;
    empty_log(g);
}

void race_lds_written(struct ck_group *g)
{
    g->lds_written = true;
    empty_log(g);
}

static void judge_entry(struct ck *ck, struct ck_group *g, const char *entry)
{
    struct emu_access access[2];
    struct emu_event e;
    uint64_t tag;
    uint32_t stamp = ck->race->stamp;
    unsigned n = emu_log_read(entry, &e, access, &tag);
    struct ck_wave *w = &g->wave[e.wave->wave];
    if (!n)
        return;
    struct rows r;
    begin(&r, ck, w, &e, (uint32_t)tag, 0);
    if (judge_all(&r, access, n))
        return;
    ck->race->stamp = (uint32_t)tag;
    for (unsigned i = 0; i < n; i++)
        race_judge(ck, w, &e, &access[i], ~UINT64_C(0));
    ck->race->stamp = stamp;
}

void race_catch_up(struct ck *ck, struct ck_group *g)
{
    if (!g->entries)
        return;
    const char *at = g->entries->entry, *end = g->log.at;
    for (; at < end; at += EMU_LOG_ENTRY(ck->launch.lanes))
        judge_entry(ck, g, at);
    empty_log(g);
}

struct emu_log *ck_race_log(struct ck *ck, struct ck_group *g)
{
    struct ck_race *r = ck->race;
    if (!g->entries && g->lds && ck->launch.dispatch->lds_bytes) {
        g->entries = r->logs ? r->logs : malloc(sizeof *g->entries);
        if (g->entries && g->entries == r->logs)
            r->logs = g->entries->next;
        empty_log(g);
    }
    g->log.tag = r->stamp;
    return &g->log;
}
