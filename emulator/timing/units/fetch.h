/* fetch.h: instruction fetch: the instruction cache of a WGP, and what its waves have
 * asked of it. SPDX-License-Identifier: MIT
 */
#ifndef TM_FETCH_H
#define TM_FETCH_H

#include <string.h>

#include "cache.h"
#include "mem.h"
#include "queue.h"

#define TM_CODE_LINE 128u

enum { TM_FETCHES = 64 };
enum { TM_ASKED_LINES = 32 }; /* that may be asked of at once */
/* s_delay_alu that a wave goes through in a turn; more wait their turn. */
enum { TM_DELAYS = 8 };

/* The translation of the code's page, and who gets its lines: of the chip. */
struct tm_code {
    bool warm;
    int64_t walked;  /* when the translation is there; 0: nobody has asked */
    unsigned arrays; /* that get workgroups */
    unsigned early;  /* lines that a WGP asks for with the first: INST_PREF_SIZE */
};

/* GL1 of an array: instruction lines to another WGP. */
struct tm_code_port {
    int64_t free;
    unsigned wgp; /* the last one, + 1 */
};

struct tm_fetch_simd {
    struct tm_queue queue; /* waves that start, until their first bytes come */
    double turn;           /* at a full instruction cache: the next delivery, */
    unsigned left, again;  /* how many more, second ones to come */
};

/* Of a WGP. */
struct tm_fetch {
    struct tm_cache icache;
    struct tm_fetch_simd simd[4];
    double free;
    unsigned last;                                        /* SIMD served last */
    int64_t second[TM_FETCHES], second_ready[TM_FETCHES]; /* requests of new waves */
    unsigned n_second;
    int64_t seen; /* when its code translation is there */
    /* Bit per line: it is in the cache, or there is no code. And room to read. */
    uint8_t near[TM_KEPT_LINES / 8 + 8];
    unsigned wgp; /* in its array */
    struct tm_code_port *port;
    struct tm_code *code;
    struct tm_memory *mem;
};

/* Of a wave. */
struct tm_fetch_wave {
    uint64_t line_ready_for; /* line + 1 that line_ready is about */
    int64_t line_ready;
    uint64_t fetched; /* first line this wave has not asked for */
    int64_t last;     /* when its last request returns */
    unsigned ahead;   /* bytes that it fetches ahead */
};

/* Once its caches are there. */
void tm_fetch_prepare(struct tm_fetch *f);

/* A wave's first request, its registers having been set up. Returns when it may issue.
 *
 * asked   when they were
 * walked  out: when the code's translation was there
 */
int64_t tm_fetch_begin(const struct tm_base *b, struct tm_fetch *f, unsigned simd,
                       struct tm_fetch_wave *w, int64_t asked, uint64_t offset,
                       int64_t *walked);
/* An instruction whose line the wave has not looked at yet. */
int64_t tm_fetch_line(const struct tm_base *b, struct tm_fetch *f,
                      struct tm_fetch_wave *w, const struct tm_inst *i);
/* The wave is at offset at a time: ask in order up to the line in reach. */
void tm_fetch_until(const struct tm_base *b, struct tm_fetch *f,
                    struct tm_fetch_wave *w, uint64_t offset, int64_t now);

/* When all bytes of the instruction are there. */
static inline int64_t tm_fetch_ready(const struct tm_base *b, struct tm_fetch *f,
                                     struct tm_fetch_wave *w, const struct tm_inst *i)
{
    uint64_t last = (i->offset + i->bytes - 1u) / TM_CODE_LINE;
    return w->line_ready_for == last + 1 ? w->line_ready : tm_fetch_line(b, f, w, i);
}

/* Has the wave looked at its line? */
static inline bool tm_fetch_is_line(const struct tm_fetch_wave *w,
                                    const struct tm_inst *i)
{
    return w->line_ready_for == (i->offset + i->bytes - 1u) / TM_CODE_LINE + 1;
}

/* Are all bytes of the instruction surely there in the next cycle? */
static inline bool tm_fetch_is_there(const struct tm_base *b,
                                     const struct tm_fetch_wave *w,
                                     const struct tm_inst *i)
{
    return tm_fetch_is_line(w, i) && w->line_ready <= b->now + 1;
}

/* The wave is at offset now: fetch what comes into reach. */
static inline void tm_fetch_ahead(const struct tm_base *b, struct tm_fetch *f,
                                  struct tm_fetch_wave *w, uint64_t offset)
{
    uint64_t reach = offset + w->ahead;
    if (w->fetched <= reach / TM_CODE_LINE)
        tm_fetch_until(b, f, w, offset, b->now);
}
/* Is everything in the instruction cache that issuing the instruction may ask for?
 * .follows and .lands must say what has been met there. */
bool tm_fetch_is_all_near(const struct tm_fetch *f, const struct tm_fetch_wave *w,
                          struct tm_inst *i);
/* Surely: the wave has asked for it already. */
static inline bool tm_fetch_has_all(const struct tm_fetch_wave *w,
                                    const struct tm_inst *i)
{
    return w->line_ready_for == i->near_line && w->fetched > i->near_reach &&
           w->ahead <= i->near_ahead;
}
/* Surely: all that a wave may ask for at it is in the cache. */
static inline bool tm_fetch_is_kept(const struct tm_fetch *f,
                                    const struct tm_fetch_wave *w,
                                    const struct tm_inst *i)
{
    uint64_t bits;
    memcpy(&bits, f->near + i->near_first / 8, sizeof bits);
    return !(~(bits >> i->near_first % 8) & i->near_lines) && w->ahead <= i->near_ahead;
}
static inline bool tm_fetch_is_near(const struct tm_fetch *f,
                                    const struct tm_fetch_wave *w, struct tm_inst *i)
{
    return tm_fetch_has_all(w, i) || tm_fetch_is_kept(f, w, i) ||
           tm_fetch_is_all_near(f, w, i);
}
/* What follows an instruction has been met: ask anew. */
static inline void tm_fetch_forget(struct tm_inst *i)
{
    i->near_first = TM_KEPT_LINES;
    i->near_lines = 1;
}
/* A taken branch at a time: what the wave's buffer waits for must come before the
 * target. Returns when that is asked for. */
int64_t tm_fetch_branch(const struct tm_base *b, struct tm_fetch *f,
                        struct tm_fetch_wave *w, int64_t at, uint64_t from_offset,
                        uint64_t offset);

#endif
