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

/* The wave's first request, after its registers have been set up. */
void tm_fetch_begin(struct tm_engine *t, struct tm_wave *w, uint64_t offset)
{
    int64_t now = w->start + tm_lat(t, t->p.launch_cycles, t->p.launch_ns);
    uint64_t line = offset / LINE;
    struct tm_wgp *g = w->simd->in;
    if (!t->config.warm_code && !tm_cache_probe(&g->icache, line)) {
        /* the first wave of all walks; the rest wait for it */
        double ns =
            t->p.walk_ns + (t->config.warm_kernarg ? 0 : t->p.walk_directory_ns);
        if (!t->code_walked)
            t->code_walked = now + tm_lat(t, t->p.walk_cycles, ns);
        now = tm_max(now, t->code_walked);
    }
    if (!g->code_seen)
        g->code_seen = now + PARAM(t, ifetch_first_cycles);
    now = tm_max(now, g->code_seen);
    w->fetched = line;
    request_until(t, w, offset, now);
    w->earliest = w->fetch_last;
    w->earliest_why = TM_S_FETCH;
    w->end_prefetch =
        w->fetch_last + tm_lat(t, t->p.end_prefetch_cycles, t->p.end_prefetch_ns);
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

/* A taken branch: what was asked for must have come back before the target's line. */
void tm_fetch_branch(struct tm_engine *t, struct tm_wave *w, uint64_t offset)
{
    uint64_t line = offset / LINE;
    int64_t from = tm_max(t->now, w->fetch_last);
    w->fetched = line;
    request_until(t, w, offset, from);
    w->earliest = tm_max(w->earliest, from + PARAM(t, branch_taken_cycles));
    if (from > t->now)
        w->earliest_why = TM_S_FETCH;
    w->line_ready_for = 0;
}
