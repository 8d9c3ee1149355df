/* race_row.c: rows of 32 lanes that lie as they did before, judged for native code that
 * calls in the midst of an instruction.
 *
 * What is usual is decided by the words of whole lines, or where nobody has written by
 * what has read there (shadow_reads.c): all else is asked of race_rows.c, which does
 * the same for any row. Invariant: what is noted here is what race_rows.c would note.
 * Compiled without vector registers and sanitizers, for native code keeps its registers
 * there: call nothing that is elsewhere. SPDX-License-Identifier: MIT
 */
#include "race.h"

#define LINE_BYTES (4u * SHADOW_LINE)
#define ALWAYS     inline __attribute__((always_inline))
#define ASIDE      __attribute__((noinline)) /* what is not usual needs registers */
/* Steps of a loop that fetch_next is ahead of it: a step is shorter than the host's
 * wait for memory. What is known of a place may be further away than the place itself.
 */
#define AHEAD_SHADOW 8u
#define AHEAD        4u

enum behind { APART, BEHIND, ASK };

/* One access. */
struct judged {
    const struct race_line *l;
    struct shadow *s;
    const struct race_form *f;
    uint32_t me;    /* its number */
    uint32_t fine;  /* the last site that the wave is behind of */
    uint32_t apart; /* ... and is not; 0: none */
};

/* Is the wave behind of the site, another than its own? As race_ordered; lanes do not
 * race. What releases tell takes a search, and what other dispatches have done as well:
 * ask. */
static ASIDE enum behind is_behind(const struct race_line *l, const struct site *s)
{
    const struct ck_order *o = &l->w->order;
    bool near = s->wave - l->first < l->waves;
    if (s->wave == l->wave)
        return BEHIND;
    if (near &&
        (s->barrier < l->group->barriers || s->clock <= o->knows[s->wave - l->first]))
        return BEHIND;
    if (s->wave <= l->race->others)
        return o->crossed || !l->race->apart ? BEHIND : ASK;
    return s->stamp < o->behind || (near && s->stamp < o->near) ? ASK : APART;
}

static ALWAYS enum behind order_of(struct judged *j, uint32_t number)
{
    if (number < j->s->dead || number == j->fine || number == j->me)
        return BEHIND;
    if (number == j->apart)
        return APART;
    enum behind order = is_behind(j->l, &j->s->site[number]);
    if (order != ASK)
        *(order == BEHIND ? &j->fine : &j->apart) = number;
    return order;
}

/* The number of what the wave does at pc; 0: ask. */
static inline uint32_t number_of(const struct race_line *l, struct shadow *s,
                                 uint64_t pc, bool lds, bool write)
{
    struct ck_order *o = &l->w->order;
    uint32_t offset = (uint32_t)(pc - l->code_base);
    uint32_t *last = (lds ? o->lds_site : o->site) + offset / 4 % CK_SITES;
    uint32_t barrier = (uint32_t)l->group->barriers;
    uint16_t flags = write && !lds ? race_again(o, barrier) : 0; /* may_write */
    uint32_t stamp = race_store_stamp(l->race, o, flags);
    const struct site *at = &s->site[*last];
    if (*last >= s->dead && *last < s->n && at->stamp == stamp && at->pc == offset &&
        at->wave == l->wave && at->barrier == barrier && at->clock == o->clock &&
        at->flags == flags)
        return *last;
    if (s->n >= s->room)
        return 0;
    s->site[s->n] = (struct site){.wave = l->wave,
                                  .pc = offset,
                                  .barrier = barrier,
                                  .clock = o->clock,
                                  .stamp = stamp,
                                  .flags = flags};
    *last = s->n;
    return s->n++;
}

static ASIDE bool touch(struct shadow *s, struct shadow_block *b)
{
    return shadow_touch_plain(s, b);
}

/* The block that holds address, which may have strips, as it is if nobody has touched
 * it in this epoch; NULL: ask. */
static ALWAYS struct shadow_block *block_at(struct shadow *s, uint64_t address)
{
    struct shadow_block *b = shadow_peek(s, address);
    return b && (b->epoch == s->epoch || touch(s, b)) ? b : NULL;
}

static ASIDE void settle_strips(struct shadow_block *b)
{
    shadow_settle_strips(b);
}

/* Loops go on by equal steps. */
static ALWAYS void fetch_next(const struct shadow *s, struct emu_row *row,
                              uint64_t address)
{
    uint64_t step = address - row->last, next = address + AHEAD_SHADOW * step;
    row->last = address;
    if (step + SHADOW_BLOCK < 2 * SHADOW_BLOCK)
        return;
    const struct shadow_area *area = shadow_peek_area(s, next);
    if (area) {
        const struct shadow_block *b = &area->block[shadow_in_area(next)];
        if (shadow_has_strips(s, area, shadow_in_area(next))) {
            __builtin_prefetch(b->strip, 1);
        } else {
            __builtin_prefetch(b, 1);
            __builtin_prefetch(b->line[next % SHADOW_BLOCK / LINE_BYTES], 1);
        }
    }
    if (!row->write) { /* the loop is too long now for the host to see two passes */
        next = address + AHEAD * step;
        __builtin_prefetch((const void *)(uintptr_t)next);
        __builtin_prefetch((const void *)(uintptr_t)(next + LINE_BYTES));
    }
}

/* ---- whole lines ---- */

/* Is the wave behind of what the line says in the plane? */
static inline bool word_fine(struct judged *j, const struct shadow_block *b,
                             enum shadow_plane plane, unsigned line)
{
    return b->top[plane] < j->s->dead ||
           (!shadow_apart(b, plane, line) &&
            order_of(j, b->line[line][plane] >> SHADOW_LANE) == BEHIND);
}

/* The plane that a read of the line is noted in; SHADOW_PLANES: ask. */
static inline unsigned plane_of(struct judged *j, const struct shadow_block *b,
                                unsigned line)
{
    if (b->top[SHADOW_READ] < j->s->dead)
        return SHADOW_READ;
    if (shadow_apart(b, SHADOW_READ, line))
        return SHADOW_PLANES;
    enum behind order = order_of(j, b->line[line][SHADOW_READ] >> SHADOW_LANE);
    return order == ASK ? SHADOW_PLANES : order == BEHIND ? SHADOW_READ : SHADOW_READ2;
}

static ASIDE bool judge_odd_line(struct judged *j, struct shadow_block *b,
                                 unsigned line, unsigned lane)
{
    unsigned plane = SHADOW_WRITE;
    if (b && b->strips)
        settle_strips(b);
    if (!b || b->shift != 2 || b->reads || !word_fine(j, b, SHADOW_WRITE, line) ||
        !word_fine(j, b, SHADOW_ATOMIC, line))
        return false;
    if (!j->f->write)
        plane = plane_of(j, b, line);
    else if (!word_fine(j, b, SHADOW_READ, line) ||
             !word_fine(j, b, SHADOW_READ2, line))
        return false;
    if (plane == SHADOW_PLANES)
        return false;
    shadow_set_line(b, (enum shadow_plane)plane, line, j->me << SHADOW_LANE | lane,
                    j->f->form);
    shadow_raise(b, (enum shadow_plane)plane, j->me);
    return true;
}

/* Do words say all of the block? */
static ALWAYS bool is_plain(const struct shadow_block *b)
{
    uint64_t apart;
    _Static_assert(sizeof apart == sizeof b->apart, "a bit for each line of each");
    __builtin_memcpy(&apart, b->apart, sizeof apart);
    return b->shift == 2 && !b->strips && !b->reads && !apart;
}

/* Does the value say nothing that counts but what the wave is behind of? */
static ALWAYS bool is_fine(uint32_t value, uint32_t limit, uint32_t fine)
{
    return value < limit || value >> SHADOW_LANE == fine;
}

static ALWAYS bool judge_line(struct judged *j, uint64_t at, unsigned lane, bool write)
{
    struct shadow_block *b = block_at(j->s, at);
    unsigned line = (unsigned)(at % SHADOW_BLOCK) / LINE_BYTES;
    unsigned plane = write ? SHADOW_WRITE : SHADOW_READ;
    if (!b || !is_plain(b))
        return judge_odd_line(j, b, line, lane);
    uint32_t *v = b->line[line], limit = j->s->dead << SHADOW_LANE;
    for (unsigned p = 0; p < (write ? SHADOW_PLANES : SHADOW_READ); p++)
        if (!is_fine(v[p], limit, j->fine) &&
            order_of(j, v[p] >> SHADOW_LANE) != BEHIND)
            return false;
    if (!write && !is_fine(v[SHADOW_READ], limit, j->fine)) {
        enum behind order = order_of(j, v[SHADOW_READ] >> SHADOW_LANE);
        if (order == ASK)
            return false;
        plane = order == BEHIND ? SHADOW_READ : SHADOW_READ2;
    }
    shadow_set_word(b, (enum shadow_plane)plane, line, j->me << SHADOW_LANE | lane,
                    j->f->form);
    shadow_raise(b, (enum shadow_plane)plane, j->me);
    return true;
}

/* Lines [from, from + n) of the plane, likewise. */
static inline bool words_fine(struct judged *j, const struct shadow_block *b,
                              enum shadow_plane plane, unsigned from, unsigned n)
{
    if (b->top[plane] < j->s->dead)
        return true;
    if (b->apart[plane] >> from & ((1u << n) - 1))
        return false;
    for (unsigned i = from; i < from + n; i++)
        if (order_of(j, b->line[i][plane] >> SHADOW_LANE) != BEHIND)
            return false;
    return true;
}

/* The plane that reads of these lines are noted in, if it is one. */
static inline unsigned span_plane(struct judged *j, const struct shadow_block *b,
                                  unsigned from, unsigned n)
{
    unsigned plane = plane_of(j, b, from);
    uint32_t first = b->line[from][SHADOW_READ];
    for (unsigned i = from + 1; i < from + n; i++)
        if ((b->line[i][SHADOW_READ] ^ first) >> SHADOW_LANE &&
            plane_of(j, b, i) != plane)
            return SHADOW_PLANES;
    return b->apart[SHADOW_READ] >> from & ((1u << n) - 1) &&
                   b->top[SHADOW_READ] >= j->s->dead
               ? SHADOW_PLANES
               : plane;
}

static inline void note_span(struct judged *j, struct shadow_block *b, unsigned plane,
                             unsigned from, unsigned n, unsigned form)
{
    uint32_t each = SHADOW_LINE >> form, all = (1u << n) - 1;
    uint32_t value = j->me << SHADOW_LANE;
    uint32_t two = (uint32_t)((UINT64_C(1) << 2 * n) - 1) << 2 * from,
             forms = (form * UINT32_C(0x55555555)) & two;
    for (unsigned i = from; i < from + n; i++, value += each)
        b->line[i][plane] = value;
    if ((b->form[plane] & two) != forms)
        b->form[plane] = (b->form[plane] & ~two) | forms;
    if (b->apart[plane])
        b->apart[plane] &= (uint16_t)~(all << from);
    if (b->top[plane] < j->me)
        b->top[plane] = j->me;
}

/* As judge_lines, of lines side by side in a block. */
static inline bool judge_span(struct judged *j, uint64_t at, bool write, unsigned n,
                              unsigned form)
{
    struct shadow_block *b = block_at(j->s, at);
    unsigned from = (unsigned)(at % SHADOW_BLOCK) / LINE_BYTES, plane = SHADOW_WRITE;
    if (b && b->strips)
        settle_strips(b);
    if (!b || b->shift != 2 || b->reads || !words_fine(j, b, SHADOW_WRITE, from, n) ||
        !words_fine(j, b, SHADOW_ATOMIC, from, n))
        return false;
    if (!write)
        plane = span_plane(j, b, from, n);
    else if (!words_fine(j, b, SHADOW_READ, from, n) ||
             !words_fine(j, b, SHADOW_READ2, from, n))
        return false;
    if (plane == SHADOW_PLANES)
        return false;
    note_span(j, b, plane, from, n, form);
    return true;
}

/* Those that were fine are noted even if a later one is not: whoever is asked notes
 * them again. */
static ALWAYS bool judge_lines(struct judged *j, uint64_t address, bool write)
{
    const struct race_form *f = j->f;
    bool fine = true;
    if (f->in_order && address % SHADOW_BLOCK + f->n_lines * LINE_BYTES <= SHADOW_BLOCK)
        return judge_span(j, address, write, f->n_lines, f->form);
    for (unsigned i = 0; i < f->n_lines && fine; i++)
        fine = judge_line(j, address + (uint64_t)f->line[i].at, f->line[i].lane, write);
    return fine;
}

/* ---- a dword for each lane, in order: most rows are so ---- */

/* By what the place was found to be behind of last. false: it may be fine all the same.
 */
static ALWAYS bool judge_pair(struct shadow *s, uint64_t at, const struct emu_row *row,
                              bool write)
{
    struct shadow_block *b = block_at(s, at);
    unsigned from = (unsigned)(at % SHADOW_BLOCK) / LINE_BYTES;
    unsigned plane = write ? SHADOW_WRITE : SHADOW_READ;
    if (!b || !is_plain(b) || from + 1 == SHADOW_LINES)
        return false;
    uint32_t limit = s->dead << SHADOW_LANE, fine = row->fine, me = row->number;
    uint32_t *v = b->line[from];
    for (unsigned p = 0; p < (write ? SHADOW_PLANES : SHADOW_READ2); p++)
        if (!is_fine(v[p], limit, fine) || !is_fine(v[SHADOW_PLANES + p], limit, fine))
            return false;
    v[plane] = me << SHADOW_LANE;
    v[SHADOW_PLANES + plane] = (me << SHADOW_LANE) + SHADOW_LINE;
    if (b->form[plane])
        b->form[plane] &= ~(UINT32_C(15) << 2 * from);
    shadow_raise(b, (enum shadow_plane)plane, me);
    return true;
}

/* ---- ... and nothing else in the block ---- */

static ASIDE bool begin_strips(struct shadow *s, struct shadow_area *area,
                               unsigned block)
{
    return shadow_begin_strips(s, area, block);
}

/* Is the wave behind of the site, which is neither of an epoch that is over nor what
 * the place was behind of last? */
static ASIDE bool strip_behind(const struct race_line *l, const struct shadow *s,
                               struct emu_row *row, uint32_t number)
{
    if (is_behind(l, &s->site[number]) != BEHIND)
        return false;
    row->fine = number;
    return true;
}

/* false: it may be fine all the same. */
static ALWAYS bool judge_strip(const struct race_line *l, uint64_t at,
                               struct emu_row *row)
{
    struct shadow *s = l->race->global;
    struct shadow_area *area = shadow_peek_area(s, at);
    unsigned block = shadow_in_area(at);
    if (!area || at % SHADOW_STRIP ||
        (!shadow_has_strips(s, area, block) && !begin_strips(s, area, block)))
        return false;
    struct shadow_strip *v =
        &area->block[block].strip[at % SHADOW_BLOCK / SHADOW_STRIP];
    if (v->write >= s->dead && v->write != row->fine &&
        !strip_behind(l, s, row, v->write))
        return false;
    if (v->read >= s->dead && v->read != row->fine && !strip_behind(l, s, row, v->read))
        return false;
    *(row->write ? &v->write : &v->read) = row->number;
    return true;
}

/* ---- reads where nobody writes ---- */

/* Word i of the halves that the row touches in the block, from the half at on. */
static ALWAYS uint64_t halves_of(const struct shadow_form *f, int half, int i)
{
    const uint64_t *from = f->halves + SHADOW_WORDS + i - (half >> 6);
    int bit = half & 63;
    return from[0] << bit | from[-1] >> 1 >> (63 - bit);
}

/* A row that lies where none has read yet: noted. */
static ALWAYS bool add_read(const struct judged *j, struct shadow_reads *r, int base)
{
    const struct shadow_form *f = &j->s->form_of[j->f->number];
    int half = base >> 1, first = half < 0 ? 0 : half >> 6,
        end = ((base + f->span - 1) >> 7) + 1;
    end = end < (int)SHADOW_WORDS ? end : (int)SHADOW_WORDS;
    uint64_t met = 0;
    for (int i = first; i < end; i++)
        met |= r->halves[i] & halves_of(f, half, i);
    if (met || r->n == SHADOW_READS)
        return false;
    for (int i = first; i < end; i++)
        r->halves[i] |= halves_of(f, half, i);
    r->v[r->n++] = (struct shadow_read){
        .first = j->me, .base = (int16_t)base, .form = j->f->number};
    return true;
}

static ALWAYS bool is_read(const struct judged *j, const struct shadow_read *v,
                           int base)
{
    return v->base == base && v->form == j->f->number;
}

/* The row, if it has read here before; those behind the hint first. */
static ASIDE struct shadow_read *find_read(const struct judged *j,
                                           struct shadow_reads *r, int base)
{
    uint32_t at = r->hint;
    for (unsigned i = 0; i < r->n; i++, at++) {
        at = at < r->n ? at : 0;
        if (is_read(j, &r->v[at], base)) {
            r->hint = at + 1;
            return &r->v[at];
        }
    }
    return NULL;
}

/* The reads of a block in which there are none yet; NULL: ask. */
static ASIDE struct shadow_reads *begin_reads(struct shadow *s, struct shadow_block *b)
{
    struct shadow_reads *r = s->spare_reads;
    if (b->strips)
        settle_strips(b);
    for (unsigned p = 0; p < SHADOW_PLANES; p++)
        if (b->top[p] >= s->dead)
            return NULL;
    if (!r)
        return NULL;
    _Static_assert(SHADOW_WORDS == 8, "no loop, which might be a call");
    s->spare_reads = r->next;
    r->n = r->hint = 0;
    r->halves[0] = r->halves[1] = r->halves[2] = r->halves[3] = 0;
    r->halves[4] = r->halves[5] = r->halves[6] = r->halves[7] = 0;
    b->reads = r;
    return r;
}

/* base: of the lowest lane in the block. */
static ALWAYS bool judge_read(struct judged *j, struct shadow_block *b, int base)
{
    struct shadow_reads *r = !b ? NULL : b->reads ? b->reads : begin_reads(j->s, b);
    if (!r)
        return false;
    struct shadow_read *v = &r->v[r->hint];
    if (r->hint < r->n && is_read(j, v, base))
        r->hint++;
    else if (add_read(j, r, base))
        return true;
    else if (!(v = find_read(j, r, base)))
        return false;
    enum behind order = order_of(j, v->first);
    if (order != ASK)
        *(order == BEHIND ? &v->first : &v->last) = j->me;
    return order != ASK;
}

static ALWAYS bool judge_reads(struct judged *j, uint64_t address)
{
    uint64_t at = address + (uint64_t)(int64_t)j->f->low;
    int base = (int)(at % SHADOW_BLOCK), end = base + j->f->span;
    bool fine = base % 2 == 0;
    for (; fine && end > 0; end -= (int)SHADOW_BLOCK, base -= (int)SHADOW_BLOCK) {
        fine = judge_read(j, block_at(j->s, at), base);
        at += SHADOW_BLOCK;
    }
    return fine;
}

/* ---- */

/* Nobody has to know of it but the shadow. */
static inline bool may_write(const struct race_line *l, bool lds)
{
    struct ck_group *g = l->group;
    if (l->race->room)
        return false;
    if (!lds)
        return l->w->order.stores_out;
    if (!g->lds || (g->entries && g->log.at != g->entries->entry))
        return false;
    g->lds_written = true;
    g->log.end = g->log.at;
    return true;
}

/* What the wave has done as a row. */
static ALWAYS unsigned done(const struct race_line *l, const struct emu_row *row)
{
    l->w->order.waited = false;
    if (row->write && !row->lds)
        l->w->order.out_at = 0;
    if (!row->write && !row->lds && !row->scalar)
        race_loads(&l->w->order, true);
    return true;
}

/* What is the same for the row until something orders the wave anew. */
static ASIDE bool begin(const struct race_line *l, struct emu_row *row)
{
    if (row->form / RACE_FORMS != l->race->forms_made ||
        (row->write && !may_write(l, row->lds)) || (!row->lds && l->w->order.held))
        return false;
    struct shadow *s = row->lds ? l->group->lds : l->race->global;
    row->what = &l->race->form[row->form % RACE_FORMS];
    row->number = s ? number_of(l, s, row->pc, row->lds, row->write) : 0;
    row->fine = row->number;
    if (!row->number)
        return false;
    row->asked = row->lds ? 0 : l->turn; /* LDS has a log, which may be longer */
    return true;
}

static ALWAYS struct judged judged_of(const struct race_line *l,
                                      const struct emu_row *row)
{
    return (struct judged){.l = l,
                           .s = row->lds ? l->group->lds : l->race->global,
                           .f = row->what,
                           .me = row->number,
                           .fine = row->fine};
}

/* Any row of lines, and any row. */
static ASIDE unsigned judge_row(const struct race_line *l, uint64_t address,
                                struct emu_row *row)
{
    struct judged j = judged_of(l, row);
    bool fine =
        row->write ? judge_lines(&j, address, true) : judge_lines(&j, address, false);
    row->fine = j.fine;
    return fine && done(l, row);
}

static ASIDE unsigned read_row(const struct race_line *l, uint64_t address,
                               struct emu_row *row)
{
    struct judged j = judged_of(l, row);
    bool fine = j.f->reads && judge_reads(&j, address);
    row->fine = j.fine;
    return fine && done(l, row);
}

/* Sixteen lanes after the other. */
static ALWAYS unsigned pair_row(const struct race_line *l, struct shadow *s,
                                uint64_t address, struct emu_row *row)
{
    if (row->write ? judge_pair(s, address, row, true)
                   : judge_pair(s, address, row, false))
        return done(l, row);
    return judge_row(l, address, row);
}

/* Of memory, but no strip, or of one that is not fine. */
static ASIDE unsigned odd_strip(const struct race_line *l, uint64_t address,
                                struct emu_row *row)
{
    return address % LINE_BYTES ? read_row(l, address, row)
                                : pair_row(l, l->race->global, address, row);
}

static ASIDE unsigned strip_row(const struct race_line *l, uint64_t address,
                                struct emu_row *row)
{
    fetch_next(l->race->global, row, address);
    return judge_strip(l, address, row) ? done(l, row) : odd_strip(l, address, row);
}

unsigned ck_race_row(struct race_line *l, uint64_t address, struct emu_row *row)
{
    if (!l || (row->asked != l->turn && !begin(l, row)))
        return false;
    const struct race_form *f = row->what;
    if (f->strip)
        return strip_row(l, address, row);
    if (!row->lds)
        fetch_next(l->race->global, row, address);
    if (!f->n_lines || address % LINE_BYTES)
        return read_row(l, address, row);
    if (f->pair)
        return pair_row(l, l->group->lds, address, row);
    return judge_row(l, address, row);
}
