/* fetch.c: instruction fetch: lines of 128 bytes, blocks of two, one block ahead.
 *
 * A wave asks for a line when what it issues comes within reach of it; a miss brings
 * the block, and entering the second line of a block asks for the next block. Requests
 * of a wave return in order. Must not know what the bytes mean. Invariant: a wave never
 * issues from a line that has not arrived. SPDX-License-Identifier: MIT
 */
#include "engine.h"

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
        t->gl2_hit += 2;
    } else {
        *l2 = done;
        t->gl2_miss += 2;
    }
    *ready = done;
    return done;
}

/* Ask in order up to the line that comes into reach. */
static void request_until(struct tm_engine *t, struct tm_wave *w, uint64_t offset,
                          int64_t now)
{
    uint64_t last = (offset + (uint64_t)t->p.ifetch_ahead_bytes) / LINE;
    for (; w->fetched <= last && w->fetched * LINE < t->launch.code_bytes; w->fetched++)
        w->fetch_last = tm_max(w->fetch_last, request(t, w, w->fetched, now));
}

/* The line goes to a wave that waits for it: one after the other. */
static int64_t deliver(struct tm_engine *t, struct tm_wgp *g, int64_t ready)
{
    int64_t start = tm_max(ready, g->fetch_free);
    g->fetch_free = start + PARAM(t, ifetch_port_cycles);
    return start;
}

/* The wave's first request, after its registers have been set up. */
void tm_fetch_begin(struct tm_engine *t, struct tm_wave *w, uint64_t offset)
{
    double cycles = t->p.launch_cycles, ns = t->p.launch_ns;
    if (t->user_sgprs > (unsigned)t->p.launch_user_sgprs) {
        cycles += t->p.launch_user_cycles;
        ns += t->p.launch_user_ns;
    }
    int64_t now = w->start + tm_lat(t, cycles, ns);
    uint64_t line = offset / LINE;
    struct tm_wgp *g = w->simd->in;
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
    request_until(t, w, offset, now);
    w->earliest = deliver(t, g, w->fetch_last);
    w->earliest_why = TM_S_FETCH;
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
