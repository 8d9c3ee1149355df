/* fetch.c: instruction fetch: lines of 128 bytes, asked for ahead of the issue.
 *
 * A wave asks for a line when what has left its buffer comes within reach of it, three
 * pieces of 64 bytes or what it has set (s_set_inst_prefetch_distance). Requests of a
 * wave return in order. Must not know what the bytes mean. Invariant: a wave never
 * issues from a line that has not arrived.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fetch.h"

#define LINE TM_CODE_LINE

static void keep(struct tm_fetch *f, uint64_t line, bool near)
{
    uint8_t bit = (uint8_t)(1u << line % 8);
    if (line < TM_KEPT_LINES)
        f->near[line / 8] =
            (uint8_t)(near ? f->near[line / 8] | bit : f->near[line / 8] & ~bit);
}

void tm_fetch_prepare(struct tm_fetch *f)
{
    for (uint64_t line = 0; line < TM_KEPT_LINES; line++)
        keep(f, line, !tm_canon_is_code(&f->mem->canon, line * LINE));
}

/* Ask for a line at a time; when it is there. */
static int64_t request(const struct tm_base *b, struct tm_fetch *f, uint64_t line,
                       int64_t now)
{
    int64_t *ready, *l2;
    if (tm_cache_access(&f->icache, line, &ready))
        return tm_max(*ready, now);
    keep(f, f->icache.lost_line, false);
    keep(f, line, true);
    bool hit = tm_memory_code(f->mem, line, &l2);
    int64_t done =
        now + (hit ? PARAM(b, ifetch_gl2_cycles)
                   : tm_lat(b, b->p.ifetch_miss_cycles, b->p.ifetch_miss_ns));
    if (hit)
        done = tm_max(done, *l2);
    else
        *l2 = done;
    /* All want the same line: the GL2 answers the arrays in turn, each for one WGP. */
    unsigned arrays = f->code->arrays, wgp = f->wgp + 1;
    done += (int64_t)((arrays - 1) * b->p.ifetch_share_cycles);
    if (f->port->wgp && f->port->wgp != wgp)
        done =
            tm_max(done, f->port->free + (int64_t)(arrays * b->p.ifetch_line_cycles));
    f->port->wgp = wgp;
    f->port->free = tm_max(f->port->free, done);
    *ready = done;
    return done;
}

void tm_fetch_until(const struct tm_base *b, struct tm_fetch *f,
                    struct tm_fetch_wave *w, uint64_t offset, int64_t now)
{
    uint64_t last = (offset + w->ahead) / LINE;
    const struct tm_canon *canon = &f->mem->canon;
    for (; w->fetched <= last; w->fetched++)
        if (tm_canon_is_code(canon, w->fetched * LINE)) /* else it is passed over */
            w->last = tm_max(w->last, request(b, f, w->fetched, now));
}

/* 64 bytes from the instruction cache, one request after the other; when they come. */
static int64_t deliver(const struct tm_base *b, struct tm_fetch *f, int64_t ready)
{
    double start = (double)ready > f->free ? (double)ready : f->free;
    f->free = start + b->p.ifetch_port_cycles;
    return (int64_t)(start + 0.5);
}

/* The second requests of waves that began before now have gone out. */
static void deliver_second(const struct tm_base *b, struct tm_fetch *f, int64_t now)
{
    unsigned sent = 0;
    while (sent < f->n_second && f->second[sent] < now)
        (void)deliver(b, f, f->second_ready[sent++]);
    f->n_second -= sent;
    memmove(f->second, f->second + sent, f->n_second * sizeof *f->second);
    memmove(f->second_ready, f->second_ready + sent,
            f->n_second * sizeof *f->second_ready);
}

/* A SIMD's next turn at a full cache, after the second requests of those that had one.
 */
static void take_turn(const struct tm_base *b, struct tm_fetch *f, unsigned simd)
{
    struct tm_fetch_simd *s = &f->simd[simd];
    double port = b->p.ifetch_port_cycles;
    if (s->again)
        for (unsigned k = 0; k < 4; k++) {
            f->free += f->simd[k].again * port;
            f->simd[k].again = 0;
        }
    f->last = simd;
    s->left = s->again = (unsigned)PARAM(b, ifetch_turn);
    s->turn = f->free;
    f->free += s->left * port;
}

/* The SIMDs that wait take turns in this order, beginning after the last served. */
static void take_turns(const struct tm_base *b, struct tm_fetch *f, unsigned last)
{
    static const uint8_t next[4] = {1, 3, 0, 2};
    for (unsigned k = next[f->last]; k != last; k = next[k])
        if (f->simd[k].queue.n >= (unsigned)PARAM(b, ifetch_waves) &&
            f->simd[k].left == 0)
            take_turn(b, f, k);
    take_turn(b, f, last);
}

/* A wave's first 64 bytes when the cache has no room for more requests of its SIMD. */
static int64_t deliver_late(const struct tm_base *b, struct tm_fetch *f, unsigned simd,
                            int64_t ready)
{
    struct tm_fetch_simd *s = &f->simd[simd];
    if (s->left == 0 || s->turn < (double)ready)
        take_turns(b, f, simd);
    double start = s->turn;
    s->turn += b->p.ifetch_port_cycles;
    s->left--;
    return (int64_t)(start + 0.5);
}

/* When the code's page is translated: the first wave of all walks, the rest wait. */
static int64_t walk(const struct tm_base *b, struct tm_fetch *f, uint64_t line,
                    int64_t now)
{
    if (f->code->warm || tm_cache_probe(&f->icache, line))
        return now;
    if (!f->code->walked)
        f->code->walked = tm_memory_walk_code(b, f->mem, now);
    return tm_max(now, f->code->walked);
}

int64_t tm_fetch_begin(const struct tm_base *b, struct tm_fetch *f, unsigned simd,
                       struct tm_fetch_wave *w, int64_t asked, uint64_t offset,
                       int64_t *walked)
{
    uint64_t line = offset / LINE;
    int64_t now = *walked = walk(b, f, line, asked);
    bool first = !f->seen;
    if (first)
        f->seen = now + PARAM(b, ifetch_first_cycles);
    now = tm_max(now, f->seen);
    w->fetched = line;
    w->ahead = (unsigned)PARAM(b, ifetch_ahead_bytes);
    int64_t ready =
        tm_max(request(b, f, line, now), asked + PARAM(b, ifetch_hit_cycles));
    tm_fetch_until(b, f, w, offset, now);
    for (unsigned k = 0; first && k < f->code->early; k++)
        if (tm_canon_is_code(&f->mem->canon, (line + k) * LINE))
            (void)request(b, f, line + k, now);
    deliver_second(b, f, asked);
    struct tm_fetch_simd *s = &f->simd[simd];
    queue_trim(&s->queue, asked);
    bool full = s->queue.n >= (unsigned)PARAM(b, ifetch_waves);
    if (!full) {
        s->left = s->again = 0;
        f->last = simd;
    }
    int64_t comes = full ? deliver_late(b, f, simd, ready) : deliver(b, f, ready);
    queue_add(&s->queue, comes);
    if (!full && f->n_second < TM_FETCHES) {
        f->second[f->n_second] = asked + PARAM(b, ifetch_second_cycles);
        f->second_ready[f->n_second++] = ready;
    }
    return comes;
}

int64_t tm_fetch_line(const struct tm_base *b, struct tm_fetch *f,
                      struct tm_fetch_wave *w, const struct tm_inst *i)
{
    int64_t done = 0;
    uint64_t first = i->offset / LINE, last = (i->offset + i->bytes - 1u) / LINE;
    for (uint64_t l = first; l <= last; l++)
        done = tm_max(done, request(b, f, l, b->now));
    w->line_ready_for = last + 1;
    w->line_ready = done;
    return done;
}

int64_t tm_fetch_branch(const struct tm_base *b, struct tm_fetch *f,
                        struct tm_fetch_wave *w, int64_t at, uint64_t from_offset,
                        uint64_t offset)
{
    uint64_t ahead = (from_offset + (uint64_t)PARAM(b, ifetch_buffer_bytes)) / LINE;
    int64_t from = at, *ready;
    if (ahead < w->fetched && tm_cache_probe(&f->icache, ahead) &&
        tm_cache_access(&f->icache, ahead, &ready))
        from = tm_max(from, *ready);
    w->fetched = offset / LINE;
    tm_fetch_until(b, f, w, offset, from);
    w->line_ready_for = 0;
    return from;
}

/* Lines up to the one in reach of an offset, from first on. */
static bool are_near(const struct tm_fetch *f, uint64_t first, uint64_t offset)
{
    for (uint64_t line = first; line <= offset / LINE; line++)
        if (tm_canon_is_code(&f->mem->canon, line * LINE) &&
            !tm_cache_probe(&f->icache, line))
            return false;
    return true;
}

static const struct tm_inst *behind_delays(const struct tm_inst *next)
{
    while (next && next->special == TM_DELAY)
        next = next->follows;
    return next;
}

/* The same for what a wave that goes on at an offset asks for. next: what is there, or
 * NULL: not met, so looked at alone, later. */
static bool is_near(const struct tm_fetch *f, uint64_t first, uint64_t offset,
                    unsigned ahead, const struct tm_inst *next)
{
    next = behind_delays(next);
    if (!next)
        return are_near(f, first, offset + ahead);
    uint64_t end = next->offset + next->bytes;
    bool waits = next->special == TM_WAITCNT; /* leaves the buffer at once */
    uint64_t reach = (waits ? end : offset) + ahead;
    return are_near(f, first, reach) && are_near(f, (end - 1) / LINE, end - 1);
}

/* Lines from an instruction's on up to those that it and what follows it reach. */
static void note_reach(struct tm_inst *i, uint64_t reach)
{
    uint64_t first = i->offset / LINE, n = reach / LINE - first + 1;
    bool kept = n <= TM_ASKED_LINES && first + n <= TM_KEPT_LINES;
    i->near_first = kept ? (uint32_t)first : TM_KEPT_LINES;
    i->near_lines = kept ? (uint32_t)((UINT64_C(1) << n) - 1) : 1;
}

/* The same of a branch, on both its ways. What is behind it may not have been met. */
static void note_branch(struct tm_inst *i, const struct tm_inst *next, unsigned ahead)
{
    const struct tm_inst *there = behind_delays(i->lands);
    if (!there || there->offset < i->target || (i->follows && !next))
        return;
    next = next ? next : i;
    uint64_t here = i->offset / LINE, target = i->target / LINE,
             first = here < target ? here : target;
    uint64_t n = (next->offset + next->bytes + ahead) / LINE - here + 1;
    uint64_t n_there = (there->offset + there->bytes + ahead) / LINE - target + 1;
    uint64_t from = here - first, from_there = target - first;
    if (from + n > TM_ASKED_LINES || from_there + n_there > TM_ASKED_LINES ||
        first + TM_ASKED_LINES > TM_KEPT_LINES)
        return;
    i->near_first = (uint32_t)first;
    i->near_lines = (uint32_t)(((UINT64_C(1) << n) - 1) << from |
                               ((UINT64_C(1) << n_there) - 1) << from_there);
    i->near_ahead = (uint16_t)ahead;
}

static void note_lines(const struct tm_fetch *f, unsigned ahead, struct tm_inst *i)
{
    const struct tm_inst *next = behind_delays(i->follows);
    uint32_t end = next ? next->offset + next->bytes : 0;
    if (i->alone || i->ahead)
        return;
    if (i->cls == TM_BRANCH)
        note_branch(i, next, ahead);
    if (i->cls == TM_BRANCH || end <= i->offset)
        return;
    note_reach(i, end + ahead);
    i->near_ahead = (uint16_t)ahead;
    if (i->offset / LINE != (end - 1) / LINE)
        return;
    uint64_t code = f->mem->canon.code_bytes, reach = end + ahead;
    if (end > code) /* elsewhere */
        return;
    i->near_line = (end - 1) / LINE + 1;
    i->near_reach = (uint32_t)((reach < code ? reach : code - 1) / LINE);
}

bool tm_fetch_is_all_near(const struct tm_fetch *f, const struct tm_fetch_wave *w,
                          struct tm_inst *i)
{
    unsigned ahead = i->ahead > w->ahead ? i->ahead : w->ahead;
    note_lines(f, ahead, i);
    uint64_t line = (i->offset + i->bytes - 1u) / LINE;
    if (w->line_ready_for != line + 1 && !are_near(f, i->offset / LINE, line * LINE))
        return false;
    if (!is_near(f, w->fetched, i->offset + i->bytes, ahead, i->follows))
        return false;
    return i->cls != TM_BRANCH ||
           is_near(f, i->target / LINE, i->target, ahead, i->lands);
}
