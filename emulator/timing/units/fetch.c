/* fetch.c: instruction fetch: lines of 128 bytes, asked for ahead of the issue.
 *
 * A wave asks for a line when what has left its buffer comes within reach of it, three
 * pieces of 64 bytes. Requests of a wave return in order. Must not know what the bytes
 * mean. Invariant: a wave never issues from a line that has not arrived.
 *
 * SPDX-License-Identifier: MIT
 */
#include "queue.h"

#include <string.h>

#define LINE 128u
/* Code has canonical addresses of its own, above all data. */
#define CODE_LINES (UINT64_C(1) << 40)

/* Ask for a line at a time; when it is there. */
static int64_t request(struct tm_engine *t, struct tm_wave *w, uint64_t line,
                       int64_t now)
{
    int64_t *ready;
    struct tm_wgp *g = w->simd->in;
    if (tm_cache_access(&g->icache, line, &ready))
        return tm_max(*ready, now);
    int64_t *l2;
    bool hit = tm_cache_access(&t->gl2, CODE_LINES + line, &l2);
    int64_t done =
        now + (hit ? PARAM(t, ifetch_gl2_cycles)
                   : tm_lat(t, t->p.ifetch_miss_cycles, t->p.ifetch_miss_ns));
    if (hit) {
        done = tm_max(done, *l2);
        t->gl2_hit++;
    } else {
        *l2 = done;
        t->gl2_miss++;
    }
    /* All want the same line: the GL2 answers the arrays in turn, each for one WGP. */
    struct tm_se *se = &t->se[w->simd->se];
    unsigned sa = w->simd->sa, wgp = w->simd->wgp + 1;
    done += (int64_t)((t->code_arrays - 1) * t->p.ifetch_share_cycles);
    if (se->code_wgp[sa] && se->code_wgp[sa] != wgp)
        done = tm_max(done, se->code_free[sa] +
                                (int64_t)(t->code_arrays * t->p.ifetch_line_cycles));
    se->code_wgp[sa] = wgp;
    se->code_free[sa] = tm_max(se->code_free[sa], done);
    *ready = done;
    return done;
}

/* Ask in order up to the line that comes into reach. */
static void request_until(struct tm_engine *t, struct tm_wave *w, uint64_t offset,
                          int64_t now)
{
    uint64_t last = (offset + (uint64_t)t->p.ifetch_ahead_bytes) / LINE;
    for (; w->fetched <= last && tm_canon_is_code(&t->canon, w->fetched * LINE);
         w->fetched++)
        w->fetch_last = tm_max(w->fetch_last, request(t, w, w->fetched, now));
}

/* 64 bytes from the instruction cache, one request after the other; when they come. */
static int64_t deliver(struct tm_engine *t, struct tm_wgp *g, int64_t ready)
{
    double start = (double)ready > g->fetch_free ? (double)ready : g->fetch_free;
    g->fetch_free = start + t->p.ifetch_port_cycles;
    return (int64_t)(start + 0.5);
}

/* The second requests of waves that began before now have gone out. */
static void deliver_second(struct tm_engine *t, struct tm_wgp *g, int64_t now)
{
    unsigned sent = 0;
    while (sent < g->n_second && g->second[sent] < now)
        (void)deliver(t, g, g->second_ready[sent++]);
    g->n_second -= sent;
    memmove(g->second, g->second + sent, g->n_second * sizeof *g->second);
    memmove(g->second_ready, g->second_ready + sent,
            g->n_second * sizeof *g->second_ready);
}

/* A SIMD's next turn at a full cache, after the second requests of those that had one.
 */
static void take_turn(struct tm_engine *t, struct tm_simd *s)
{
    struct tm_wgp *g = s->in;
    double port = t->p.ifetch_port_cycles;
    if (s->fetch_again)
        for (unsigned k = 0; k < 4; k++) {
            struct tm_simd *other = &g->cu[k / 2].simd[k % 2];
            g->fetch_free += other->fetch_again * port;
            other->fetch_again = 0;
        }
    g->fetch_last = s->index;
    s->fetch_left = s->fetch_again = (unsigned)t->p.ifetch_turn;
    s->fetch_turn = g->fetch_free;
    g->fetch_free += s->fetch_left * port;
}

/* The SIMDs that wait take turns in this order, beginning after the last served. */
static void take_turns(struct tm_engine *t, struct tm_simd *last)
{
    static const uint8_t next[4] = {1, 3, 0, 2};
    struct tm_wgp *g = last->in;
    for (unsigned k = next[g->fetch_last]; k != last->index; k = next[k]) {
        struct tm_simd *s = &g->cu[k % 2].simd[k / 2];
        if (s->fetch_queue.n >= (unsigned)t->p.ifetch_waves && s->fetch_left == 0)
            take_turn(t, s);
    }
    take_turn(t, last);
}

/* A wave's first 64 bytes when the cache has no room for more requests of its SIMD. */
static int64_t deliver_late(struct tm_engine *t, struct tm_simd *s, int64_t ready)
{
    if (s->fetch_left == 0 || s->fetch_turn < (double)ready)
        take_turns(t, s);
    double start = s->fetch_turn;
    s->fetch_turn += t->p.ifetch_port_cycles;
    s->fetch_left--;
    return (int64_t)(start + 0.5);
}

/* The wave's first request, after its registers have been set up. */
void tm_fetch_begin(struct tm_engine *t, struct tm_wave *w, uint64_t offset)
{
    double cycles = t->p.launch_cycles, ns = t->p.launch_ns;
    const struct tm_simd *s = w->simd;
    if (t->user_sgprs > (unsigned)t->p.launch_user_sgprs)
        ns += t->p.launch_user_ns;
    if (t->lds_alloc)
        cycles += t->p.launch_lds_cycles;
    int64_t now = w->start + tm_hops(t, s) + tm_lat(t, cycles, ns), asked = now;
    uint64_t line = offset / LINE;
    struct tm_wgp *g = s->in;
    tm_account_wait(w, TM_S_LAUNCH, NULL, now);
    if (!t->config.warm_code && !tm_cache_probe(&g->icache, line)) {
        /* the first wave of all walks; the rest wait for it */
        double walk =
            t->p.walk_ns + (t->config.warm_kernarg ? 0 : t->p.walk_directory_ns);
        if (!t->code_walked)
            t->code_walked = now + tm_lat(t, t->p.walk_cycles, walk);
        now = tm_max(now, t->code_walked);
        tm_account_wait(w, TM_S_CODE_TLB, NULL, now);
    }
    if (!g->code_seen)
        g->code_seen = now + PARAM(t, ifetch_first_cycles);
    now = tm_max(now, g->code_seen);
    w->fetched = line;
    int64_t ready =
        tm_max(request(t, w, line, now), asked + PARAM(t, ifetch_hit_cycles));
    request_until(t, w, offset, now);
    deliver_second(t, g, asked);
    struct tm_queue *waiting = &w->simd->fetch_queue;
    queue_trim(waiting, asked);
    bool full = waiting->n >= (unsigned)t->p.ifetch_waves;
    if (!full)
        w->simd->fetch_left = w->simd->fetch_again = 0;
    if (!full)
        g->fetch_last = s->index;
    w->earliest = full ? deliver_late(t, w->simd, ready) : deliver(t, g, ready);
    w->earliest_why = TM_S_FETCH;
    queue_add(waiting, w->earliest, 1);
    if (!full && g->n_second < TM_FETCHES) {
        g->second[g->n_second] = asked + PARAM(t, ifetch_second_cycles);
        g->second_ready[g->n_second++] = ready;
    }
}

/* When all bytes of the instruction are there. */
int64_t tm_fetch_ready(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i)
{
    int64_t done = 0;
    uint64_t first = i->offset / LINE, last = (i->offset + i->bytes - 1u) / LINE;
    if (w->line_ready_for == last + 1)
        return w->line_ready;
    for (uint64_t l = first; l <= last; l++)
        done = tm_max(done, request(t, w, l, t->now));
    w->line_ready_for = last + 1;
    w->line_ready = done;
    return done;
}

/* The wave is at offset now: fetch what comes into reach. */
void tm_fetch_ahead(struct tm_engine *t, struct tm_wave *w, uint64_t offset)
{
    request_until(t, w, offset, t->now);
}

/* A taken branch: what the wave's buffer waits for must come before the target. */
void tm_fetch_branch(struct tm_engine *t, struct tm_wave *w, uint64_t from_offset,
                     uint64_t offset)
{
    uint64_t line = offset / LINE;
    uint64_t ahead = (from_offset + (uint64_t)t->p.ifetch_buffer_bytes) / LINE;
    int64_t from = t->now, *ready;
    if (ahead < w->fetched && tm_cache_probe(&w->simd->in->icache, ahead) &&
        tm_cache_access(&w->simd->in->icache, ahead, &ready))
        from = tm_max(from, *ready);
    w->fetched = line;
    request_until(t, w, offset, from);
    w->earliest = tm_max(w->earliest, from + PARAM(t, branch_taken_cycles));
    if (from > t->now)
        w->earliest_why = TM_S_FETCH;
    w->line_ready_for = 0;
}
