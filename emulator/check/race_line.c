/* race_line.c: rows of 32 lanes in order, judged for native code that calls in the
 * midst of an instruction.
 *
 * What is usual is decided by the words of whole lines: all else is asked of
 * race_rows.c, which does the same for any row. Invariant: what is noted here is what
 * race_rows.c would note. Compiled without vector registers and sanitizers, for native
 * code keeps its registers there: call nothing that is not inline.
 * SPDX-License-Identifier: MIT
 */
#include "race.h"

enum behind { APART, BEHIND, ASK };

/* Is the wave behind of the site, another than its own? As race_ordered; lanes do not
 * race. What releases tell takes a search: ask. */
static inline enum behind is_behind(const struct race_line *l, const struct site *s)
{
    const struct ck_order *o = &l->w->order;
    bool near = s->wave - l->first < l->waves;
    if (s->wave == l->wave)
        return BEHIND;
    if (near && (s->barrier < l->w->group->barriers ||
                 s->clock <= o->knows[s->wave - l->first]))
        return BEHIND;
    return s->stamp < o->behind || (near && s->stamp < o->near) ? ASK : APART;
}

static inline enum behind order_of(const struct race_line *l, const struct shadow *s,
                                   uint32_t number)
{
    return number < s->dead ? BEHIND : is_behind(l, &s->site[number]);
}

/* The number of what the wave does at pc, if it did so before; 0: ask. */
static inline uint32_t number_of(const struct race_line *l, const struct shadow *s,
                                 uint64_t pc)
{
    const struct ck_order *o = &l->w->order;
    uint32_t offset = (uint32_t)(pc - l->ck->launch.code_base),
             last = o->site[offset / 4 % CK_SITES];
    if (last < s->dead || last >= s->n)
        return 0;
    const struct site *at = &s->site[last];
    bool same = at->wave == l->wave && at->pc == offset &&
                at->barrier == (uint32_t)l->w->group->barriers &&
                at->clock == o->clock && at->stamp == l->ck->race->stamp && !at->flags;
    return same ? last : 0;
}

/* Lines [from, to) of the planes are whole, and the wave is behind of what they say. */
static inline bool lines_fine(const struct race_line *l, const struct shadow *s,
                              const struct shadow_block *b, unsigned from, unsigned to,
                              unsigned planes)
{
    for (unsigned p = 0; p < planes; p++) {
        if (b->top[p] < s->dead)
            continue;
        for (unsigned i = from; i < to; i++)
            if (shadow_apart(b, (enum shadow_plane)p, i) ||
                order_of(l, s, b->line[p][i] >> SHADOW_LANE) != BEHIND)
                return false;
    }
    return true;
}

/* The plane that a read of the line is noted in; SHADOW_PLANES: ask. */
static inline unsigned plane_of(const struct race_line *l, const struct shadow *s,
                                const struct shadow_block *b, unsigned i)
{
    if (b->top[SHADOW_READ] < s->dead)
        return SHADOW_READ;
    enum behind order = order_of(l, s, b->line[SHADOW_READ][i] >> SHADOW_LANE);
    if (order == ASK)
        return SHADOW_PLANES;
    return order == BEHIND ? SHADOW_READ : SHADOW_READ2;
}

/* Loops go on by equal steps. */
static inline void fetch_next(const struct shadow *s, struct ck_order *o, uint64_t pc,
                              uint64_t address, unsigned plane)
{
    uint64_t *last = &o->last[pc / 4 % CK_SITES], step = address - *last;
    *last = address;
    if (step + SHADOW_BLOCK < 2 * SHADOW_BLOCK)
        return;
    const struct shadow_block *b = shadow_peek(s, address + step);
    if (b) {
        __builtin_prefetch(b, 1);
        __builtin_prefetch(b->form, 1);
        __builtin_prefetch(b->line[plane], 1);
    }
}

unsigned ck_race_line(void *mine, uint64_t address, uint64_t pc, unsigned access)
{
    const struct race_line *l = mine;
    unsigned bytes = access & 255, form = (unsigned)__builtin_ctz(bytes) - 2;
    bool write = access & EMU_LINE_WRITE;
    if (!l || l->ck->stopped ||
        (write && (l->ck->race->room || !l->w->order.stores_out)))
        return false;
    struct shadow *s = l->ck->race->global;
    uint64_t number = address / (SHADOW_BLOCK * SHADOW_AREA);
    struct shadow_area *area = s->front[shadow_front(number)];
    unsigned at = (unsigned)(address % SHADOW_BLOCK), from = at / (4 * SHADOW_LINE),
             to = from + 32 * bytes / (4 * SHADOW_LINE);
    if (at % (4 * SHADOW_LINE) || to > SHADOW_LINES || !area || area->number != number)
        return false;
    struct shadow_block *b = &area->block[address / SHADOW_BLOCK % SHADOW_AREA];
    uint32_t me = number_of(l, s, pc);
    if (b->epoch != s->epoch || b->shift != 2 || !me ||
        !lines_fine(l, s, b, from, to, write ? SHADOW_PLANES : SHADOW_READ))
        return false;
    fetch_next(s, &l->w->order, pc, address, write ? SHADOW_WRITE : SHADOW_READ);
    for (unsigned i = from, lane = 0; i < to; i++, lane += SHADOW_LINE >> form) {
        unsigned plane = SHADOW_WRITE;
        if (!write && shadow_apart(b, SHADOW_READ, i))
            return false;
        if (!write && (plane = plane_of(l, s, b, i)) == SHADOW_PLANES)
            return false;
        shadow_set_line(b, (enum shadow_plane)plane, i, me << SHADOW_LANE | lane, form);
        shadow_raise(b, (enum shadow_plane)plane, me);
    }
    l->w->order.waited = false;
    if (!write)
        race_loads(&l->w->order, true);
    return true;
}
