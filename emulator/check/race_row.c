/* race_row.c: rows of 32 lanes that lie as they did before, judged for native code that
 * calls in the midst of an instruction.
 *
 * What is usual is decided by the words of whole lines, or where nobody has written by
 * what has read there (shadow_reads.c): all else is asked of race_rows.c, which does
 * the same for any row. Invariant: what is noted here is what race_rows.c would note.
 * Compiled without vector registers and sanitizers, for native code keeps its registers
 * there: call nothing that is not inline. SPDX-License-Identifier: MIT
 */
#include "race.h"

#define LINE_BYTES (4u * SHADOW_LINE)
#define ALWAYS     inline __attribute__((always_inline))

enum behind { APART, BEHIND, ASK };

/* One access. */
struct judged {
    const struct race_line *l;
    struct shadow *s;
    const struct race_form *f;
    uint32_t me;   /* its number */
    uint32_t fine; /* the last site that the wave is behind of */
};

/* Is the wave behind of the site, another than its own? As race_ordered; lanes do not
 * race. What releases tell takes a search, and what other dispatches have done as well:
 * ask. */
static inline enum behind is_behind(const struct race_line *l, const struct site *s)
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
    enum behind order = is_behind(j->l, &j->s->site[number]);
    if (order == BEHIND)
        j->fine = number;
    return order;
}

/* The number of what the wave does at pc; 0: ask. */
static inline uint32_t number_of(const struct race_line *l, struct shadow *s,
                                 uint64_t pc, bool lds)
{
    struct ck_order *o = &l->w->order;
    uint32_t offset = (uint32_t)(pc - l->code_base);
    uint32_t *last = (lds ? o->lds_site : o->site) + offset / 4 % CK_SITES;
    uint32_t barrier = (uint32_t)l->group->barriers, stamp = l->race->stamp;
    const struct site *at = &s->site[*last];
    if (*last >= s->dead && *last < s->n && at->stamp == stamp && at->pc == offset &&
        at->wave == l->wave && at->barrier == barrier && at->clock == o->clock &&
        !at->flags)
        return *last;
    if (s->n >= s->room)
        return 0;
    s->site[s->n] = (struct site){.wave = l->wave,
                                  .pc = offset,
                                  .barrier = barrier,
                                  .clock = o->clock,
                                  .stamp = stamp};
    *last = s->n;
    return s->n++;
}

/* The block that holds address, as it is if nobody has touched it in this epoch; NULL:
 * ask. */
static inline struct shadow_block *block_at(struct shadow *s, uint64_t address)
{
    uint64_t number = address / (SHADOW_BLOCK * SHADOW_AREA);
    struct shadow_area *area = s->front[shadow_front(number)];
    if (!area || area->number != number)
        return NULL;
    struct shadow_block *b = &area->block[address / SHADOW_BLOCK % SHADOW_AREA];
    if (b->epoch == s->epoch)
        return b;
    return shadow_touch_plain(s, b) ? b : NULL;
}

/* Loops go on by equal steps. */
static ALWAYS void fetch_next(const struct shadow *s, struct emu_row *row,
                              uint64_t address)
{
    uint64_t step = address - row->last;
    row->last = address;
    if (step + SHADOW_BLOCK < 2 * SHADOW_BLOCK)
        return;
    const struct shadow_block *b = shadow_peek(s, address + step);
    if (b) {
        __builtin_prefetch(b, 1);
        __builtin_prefetch(b->line[row->write ? SHADOW_WRITE : SHADOW_READ], 1);
    }
}

/* ---- whole lines ---- */

/* Is the wave behind of what the line says in the plane? */
static inline bool word_fine(struct judged *j, const struct shadow_block *b,
                             enum shadow_plane plane, unsigned line)
{
    return b->top[plane] < j->s->dead ||
           (!shadow_apart(b, plane, line) &&
            order_of(j, b->line[plane][line] >> SHADOW_LANE) == BEHIND);
}

/* The plane that a read of the line is noted in; SHADOW_PLANES: ask. */
static inline unsigned plane_of(struct judged *j, const struct shadow_block *b,
                                unsigned line)
{
    if (b->top[SHADOW_READ] < j->s->dead)
        return SHADOW_READ;
    if (shadow_apart(b, SHADOW_READ, line))
        return SHADOW_PLANES;
    enum behind order = order_of(j, b->line[SHADOW_READ][line] >> SHADOW_LANE);
    return order == ASK ? SHADOW_PLANES : order == BEHIND ? SHADOW_READ : SHADOW_READ2;
}

static inline bool judge_line(struct judged *j, uint64_t at, unsigned lane)
{
    struct shadow_block *b = block_at(j->s, at);
    unsigned line = (unsigned)(at % SHADOW_BLOCK) / LINE_BYTES, plane = SHADOW_WRITE;
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

/* Lines [from, from + n) of the plane, likewise. */
static inline bool words_fine(struct judged *j, const struct shadow_block *b,
                              enum shadow_plane plane, unsigned from, unsigned n)
{
    if (b->top[plane] < j->s->dead)
        return true;
    if (b->apart[plane] >> from & ((1u << n) - 1))
        return false;
    const uint32_t *word = b->line[plane] + from;
    for (unsigned i = 0; i < n; i++)
        if (order_of(j, word[i] >> SHADOW_LANE) != BEHIND)
            return false;
    return true;
}

/* The plane that reads of these lines are noted in, if it is one. */
static inline unsigned span_plane(struct judged *j, const struct shadow_block *b,
                                  unsigned from, unsigned n)
{
    unsigned plane = plane_of(j, b, from);
    const uint32_t *word = b->line[SHADOW_READ] + from;
    for (unsigned i = 1; i < n; i++)
        if ((word[i] ^ word[0]) >> SHADOW_LANE && plane_of(j, b, from + i) != plane)
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
    uint32_t value = j->me << SHADOW_LANE, *word = b->line[plane] + from;
    uint32_t two = (uint32_t)((UINT64_C(1) << 2 * n) - 1) << 2 * from,
             forms = (form * UINT32_C(0x55555555)) & two;
    for (unsigned i = 0; i < n; i++, value += each)
        word[i] = value;
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
static bool judge_lines(struct judged *j, uint64_t address)
{
    const struct race_form *f = j->f;
    bool fine = true;
    if (f->in_order && address % SHADOW_BLOCK + f->n_lines * LINE_BYTES <= SHADOW_BLOCK)
        return judge_span(j, address, f->write, f->n_lines, f->form);
    for (unsigned i = 0; i < f->n_lines && fine; i++)
        fine = judge_line(j, address + (uint64_t)f->line[i].at, f->line[i].lane);
    return fine;
}

/* ---- a dword for each lane, in order: most rows are so ---- */

/* As words_fine, of the two lines from the one on. */
static ALWAYS bool pair_fine(struct judged *j, const struct shadow_block *b,
                             enum shadow_plane plane, unsigned from)
{
    uint32_t dead = j->s->dead;
    if (b->top[plane] < dead)
        return true;
    const uint32_t *word = b->line[plane] + from;
    uint32_t one = word[0] >> SHADOW_LANE, other = word[1] >> SHADOW_LANE;
    if (one < dead && other < dead)
        return true;
    return order_of(j, one) == BEHIND && (one == other || order_of(j, other) == BEHIND);
}

/* false: it may be fine all the same. */
static ALWAYS bool judge_pair(struct judged *j, uint64_t at, bool write)
{
    struct shadow_block *b = block_at(j->s, at);
    unsigned from = (unsigned)(at % SHADOW_BLOCK) / LINE_BYTES;
    unsigned plane = write ? SHADOW_WRITE : SHADOW_READ;
    uint64_t apart;
    _Static_assert(sizeof apart == sizeof b->apart, "a bit for each line of each");
    if (!b)
        return false;
    __builtin_memcpy(&apart, b->apart, sizeof apart);
    if (b->shift != 2 || b->reads || apart || from + 1 == SHADOW_LINES)
        return false;
    if (!pair_fine(j, b, SHADOW_WRITE, from) || !pair_fine(j, b, SHADOW_ATOMIC, from) ||
        !pair_fine(j, b, SHADOW_READ, from) ||
        (write && !pair_fine(j, b, SHADOW_READ2, from)))
        return false;
    uint32_t value = j->me << SHADOW_LANE, *word = b->line[plane] + from;
    word[0] = value;
    word[1] = value + SHADOW_LINE;
    if (b->form[plane])
        b->form[plane] &= ~(UINT32_C(15) << 2 * from);
    if (b->top[plane] < j->me)
        b->top[plane] = j->me;
    return true;
}

/* ---- reads where nobody writes ---- */

/* Word i of the halves that the row touches in the block, from the half at on. */
static inline uint64_t halves_of(const struct shadow_form *f, int half, int i)
{
    int word = half >> 6, bit = half & 63;
    const uint64_t *from = f->halves + SHADOW_WORDS + i - word;
    return bit ? from[0] << bit | from[-1] >> (64 - bit) : from[0];
}

/* A row that has not read here yet. */
static inline bool add_read(const struct judged *j, struct shadow_reads *r, int base)
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

/* Has the row read here before? */
static inline struct shadow_read *find_read(const struct judged *j,
                                            struct shadow_reads *r, int base)
{
    uint32_t at = r->hint;
    for (unsigned i = 0; i < r->n; i++, at++) {
        at = at < r->n ? at : 0;
        if (r->v[at].base == base && r->v[at].form == j->f->number) {
            r->hint = at + 1;
            return &r->v[at];
        }
    }
    return NULL;
}

static inline struct shadow_reads *reads_of(struct shadow *s, struct shadow_block *b)
{
    struct shadow_reads *r = b->reads;
    if (r)
        return r;
    for (unsigned p = 0; p < SHADOW_PLANES; p++)
        if (b->top[p] >= s->dead)
            return NULL;
    r = s->spare_reads;
    if (!r)
        return NULL;
    s->spare_reads = r->next;
    r->n = r->hint = 0;
    for (unsigned i = 0; i < SHADOW_WORDS; i++)
        r->halves[i] = 0;
    b->reads = r;
    return r;
}

/* base: of the lowest lane in the block. */
static inline bool judge_read(struct judged *j, struct shadow_block *b, int base)
{
    struct shadow_reads *r = b ? reads_of(j->s, b) : NULL;
    if (!r)
        return false;
    struct shadow_read *v = find_read(j, r, base);
    if (!v)
        return add_read(j, r, base);
    enum behind order = order_of(j, v->first);
    if (order != ASK)
        *(order == BEHIND ? &v->first : &v->last) = j->me;
    return order != ASK;
}

static inline bool judge_reads(struct judged *j, uint64_t address)
{
    uint64_t at = address + (uint64_t)(int64_t)j->f->low;
    unsigned base = (unsigned)(at % SHADOW_BLOCK);
    bool fine = base % 2 == 0 && judge_read(j, block_at(j->s, at), (int)base);
    if (fine && base + j->f->span > SHADOW_BLOCK)
        fine = judge_read(j, block_at(j->s, at + SHADOW_BLOCK),
                          (int)base - (int)SHADOW_BLOCK);
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
    if (!row->write && !row->lds && !row->scalar)
        race_loads(&l->w->order, true);
    return true;
}

/* Any row. */
static __attribute__((noinline)) unsigned
judge_row(const struct judged *any, uint64_t address, const struct emu_row *row)
{
    struct judged j = *any;
    bool lines = j.f->n_lines && address % LINE_BYTES == 0;
    if (!lines && !j.f->reads)
        return false;
    return (lines ? judge_lines(&j, address) : judge_reads(&j, address)) &&
           done(j.l, row);
}

/* What is the same for the row until something orders the wave anew. */
static inline bool begin(struct judged *j, struct emu_row *row)
{
    const struct race_line *l = j->l;
    if (!l || row->form / RACE_FORMS != l->race->forms_made ||
        (row->write && !may_write(l, row->lds)) || (!row->lds && l->w->order.held))
        return false;
    j->s = row->lds ? l->group->lds : l->race->global;
    j->f = &l->race->form[row->form % RACE_FORMS];
    if (!j->s)
        return false;
    j->me = number_of(l, j->s, row->pc, row->lds);
    if (!j->me)
        return false;
    row->what = j->f;
    row->number = j->me;
    row->asked = row->lds ? 0 : l->turn; /* LDS has a log, which may be longer */
    return true;
}

unsigned ck_race_row(struct race_line *l, uint64_t address, struct emu_row *row)
{
    struct judged j = {.l = l};
    if (l && row->asked == j.l->turn) {
        j.s = j.l->race->global;
        j.f = row->what;
        j.me = row->number;
    } else if (!begin(&j, row)) {
        return false;
    }
    if (!row->lds)
        fetch_next(j.s, row, address);
    if (j.f->pair && address % LINE_BYTES == 0 &&
        (row->write ? judge_pair(&j, address, true) : judge_pair(&j, address, false)))
        return done(j.l, row);
    return judge_row(&j, address, row);
}
