/* chrome.c: a timeline as JSON in Chrome's trace event format, which Perfetto reads.
 *
 * A process per SIMD with a track per wave slot; on it waves, in them instructions, in
 * those what they waited for. A process for the whole chip with the dispatches and
 * curves of what was counted. Times are microseconds of the shader clock rounded to
 * nanoseconds, the unit in which viewers keep them, or a nanosecond for each cycle;
 * args hold exact cycles. Invariant: both ends of a slice are rounded alike, so slices
 * nest as the stretches do.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "timeline.h"

#define CHIP 1u

struct chrome {
    const struct timeline *tl;
    FILE *f;
    double mhz;  /* shown: of the first dispatch, one clock for all tracks */
    double sclk; /* of the dispatch at hand, for rates */
    bool first;
};

static long long ns_of(const struct chrome *c, int64_t cycles)
{
    return llround((double)cycles * 1000 / c->mhz);
}

static void item(struct chrome *c)
{
    fputs(c->first ? "\n" : ",\n", c->f);
    c->first = false;
}

/* "name": text in quotes; kernel names come from files and may hold anything. */
static void put_name(struct chrome *c, const char *text)
{
    fputs("\"name\":\"", c->f);
    for (; *text; text++) {
        unsigned char ch = (unsigned char)*text;
        if (ch < 32 || ch > 126) {
            fprintf(c->f, "\\u%04x", ch);
            continue;
        }
        if (ch == '"' || ch == '\\')
            fputc('\\', c->f);
        fputc(ch, c->f);
    }
    fputc('"', c->f);
}

static void put_times(struct chrome *c, int64_t from, int64_t to)
{
    long long a = ns_of(c, from), b = ns_of(c, to);
    fprintf(c->f, "\"ts\":%lld.%03lld,\"dur\":%lld.%03lld", a / 1000, a % 1000,
            (b - a) / 1000, (b - a) % 1000);
}

static void slice(struct chrome *c, unsigned pid, unsigned tid, int64_t from,
                  int64_t to)
{
    fprintf(c->f, "\"ph\":\"X\",\"pid\":%u,\"tid\":%u,", pid, tid);
    put_times(c, from, to);
    fprintf(c->f, ",\"args\":{\"cycle\":%lld,\"cycles\":%lld", (long long)from,
            (long long)(to - from));
}

static unsigned pid_of(const struct tl_wave *w)
{
    return 16u + (unsigned)w->simd + 4u * w->wgp + 32u * w->sa + 64u * w->se;
}

/* ---- names ----------------------------------------------------------------------- */

static void name_process(struct chrome *c, unsigned pid, const char *name)
{
    item(c);
    fprintf(c->f,
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":"
            "\"%s\"}}",
            pid, name);
    item(c);
    fprintf(c->f,
            "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%u,\"args\":{"
            "\"sort_index\":%u}}",
            pid, pid);
}

static void name_thread(struct chrome *c, unsigned pid, unsigned tid, const char *name)
{
    item(c);
    fprintf(c->f,
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,"
            "\"args\":{\"name\":\"%s\"}}",
            pid, tid, name);
    item(c);
    fprintf(c->f,
            "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%u,\"tid\":%u,"
            "\"args\":{\"sort_index\":%u}}",
            pid, tid, tid);
}

static void name_tracks(struct chrome *c)
{
    uint32_t used[16 + 64 * 8] = {0};
    char name[64];
    name_process(c, CHIP, "gfx1100");
    name_thread(c, CHIP, 1, "dispatches");
    for (size_t i = 0; i < c->tl->n_waves; i++) {
        const struct tl_wave *w = &c->tl->wave[i];
        unsigned pid = pid_of(w);
        if (!used[pid]) {
            snprintf(name, sizeof name, "SE%u SA%u WGP%u CU%u SIMD%u", w->se, w->sa,
                     w->wgp, w->simd % 2u, w->simd);
            name_process(c, pid, name);
        }
        if (used[pid] >> w->slot & 1u)
            continue;
        used[pid] |= 1u << w->slot;
        snprintf(name, sizeof name, "slot %u", w->slot);
        name_thread(c, pid, w->slot + 1u, name);
    }
}

/* ---- waves ----------------------------------------------------------------------- */

static void put_wait(struct chrome *c, const struct tl_wave *w, const struct tl_seg *s)
{
    item(c);
    fputc('{', c->f);
    put_name(c, tm_stall_name[s->why]);
    fputs(",\"cat\":\"wait\",", c->f);
    slice(c, pid_of(w), w->slot + 1u, w->start + s->at, w->start + tl_seg_end(w, s));
    const struct tl_inst *from = tl_inst(c->tl, w, s->from);
    fprintf(c->f, ",\"state\":\"%s\"", tm_state_name[tm_stall_state[s->why]]);
    if (from)
        fprintf(c->f, ",\"for\":\"%x %s\"", from->offset, from->text);
    fputs("}}", c->f);
}

/* Segments first to last - 1 belong to one instruction. */
static void put_inst(struct chrome *c, const struct tl_wave *w, uint32_t first,
                     uint32_t last)
{
    const struct tl_seg *s = &w->seg[first], *issue = &w->seg[last - 1];
    const struct tl_inst *inst = tl_inst(c->tl, w, s->inst);
    if (!inst || issue->flags & TM_STEP_FREE)
        return;
    item(c);
    fputc('{', c->f);
    put_name(c, issue->why == TM_S_NONE ? inst->text : "(leaving)");
    fprintf(c->f, ",\"cat\":\"%s\",", tm_class_name[inst->cls]);
    slice(c, pid_of(w), w->slot + 1u, w->start + s->at,
          w->start + tl_seg_end(w, issue));
    fprintf(c->f, ",\"pc\":\"0x%x\"", inst->offset);
    if (issue->why == TM_S_NONE)
        fprintf(c->f, ",\"issue\":%lld", (long long)(w->start + issue->at));
    fputs("}}", c->f);
    for (uint32_t i = first; i < last; i++)
        if (w->seg[i].why != TM_S_NONE)
            put_wait(c, w, &w->seg[i]);
}

static void put_wave(struct chrome *c, const struct tl_wave *w, bool insts)
{
    item(c);
    fputc('{', c->f);
    put_name(c, c->tl->dispatch[w->dispatch].name);
    fputs(",\"cat\":\"wave\",", c->f);
    slice(c, pid_of(w), w->slot + 1u, w->start, w->end);
    fprintf(c->f, ",\"workgroup\":\"%u,%u,%u\",\"wave\":%u,\"dispatch\":%u}}", w->wg[0],
            w->wg[1], w->wg[2], w->wave, w->dispatch);
    for (uint32_t i = 0, first = 0; insts && i < w->n_segs; i++)
        if (w->seg[i].why == TM_S_NONE || i + 1 == w->n_segs) {
            put_inst(c, w, first, i + 1);
            first = i + 1;
        }
}

/* ---- curves ---------------------------------------------------------------------- */

static void curve(struct chrome *c, int64_t t, const char *name, const char *unit,
                  double value)
{
    long long ns = ns_of(c, t);
    item(c);
    fprintf(c->f,
            "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":%u,\"ts\":%lld.%03lld,\"args\":{"
            "\"%s\":%.6g}}",
            name, CHIP, ns / 1000, ns % 1000, unit, value);
}

/* What happened between two samples, from the first one's time on. */
static void put_sample(struct chrome *c, const struct tl_sample *a,
                       const struct tl_sample *b)
{
    static const struct {
        const char *name;
        unsigned hit, miss;
    } cache[] = {{"L0 hit rate", TM_K_L0_HIT, TM_K_L0_MISS},
                 {"GL1 hit rate", TM_K_GL1_HIT, TM_K_GL1_MISS},
                 {"GL2 hit rate", TM_K_GL2_HIT, TM_K_GL2_MISS}};
    double cycles = (double)(b->t - a->t);
    if (cycles <= 0)
        return;
#define MORE(k) ((double)(b->count[k] - a->count[k]))
    for (unsigned k = TM_K_VALU; k <= TM_K_IMM; k++)
        curve(c, a->t, tm_count_name[k], "per cycle", MORE(k) / cycles);
    curve(c, a->t, "VALU busy", "SIMDs", MORE(TM_K_VALU_BUSY) / cycles);
    curve(c, a->t, "LDS busy", "CUs", MORE(TM_K_LDS_BUSY) / cycles);
    curve(c, a->t, "read", "GB/s", MORE(TM_K_READ) / cycles * c->sclk / 1000);
    curve(c, a->t, "written", "GB/s", MORE(TM_K_WRITTEN) / cycles * c->sclk / 1000);
    curve(c, a->t, "floating point", "GFLOP/s",
          MORE(TM_K_FLOPS) / cycles * c->sclk / 1000);
    for (unsigned i = 0; i < sizeof cache / sizeof cache[0]; i++) {
        double hits = MORE(cache[i].hit), all = hits + MORE(cache[i].miss);
        if (all > 0)
            curve(c, a->t, cache[i].name, "%", 100 * hits / all);
    }
#undef MORE
}

struct change {
    int64_t t;
    int by;
};

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return x->t != y->t ? (x->t < y->t ? -1 : 1) : 0;
}

/* Resident waves, whenever that changes. */
static rd_status put_occupancy(struct chrome *c)
{
    size_t n = 2 * c->tl->n_waves;
    struct change *change = calloc(n + 1, sizeof *change);
    if (!change)
        return RD_E_NOMEM;
    for (size_t i = 0; i < c->tl->n_waves; i++) {
        change[2 * i] = (struct change){c->tl->wave[i].start, 1};
        change[2 * i + 1] = (struct change){c->tl->wave[i].end, -1};
    }
    qsort(change, n, sizeof *change, by_time);
    int resident = 0;
    for (size_t i = 0; i < n; i++) {
        resident += change[i].by;
        if (i + 1 == n || change[i + 1].t != change[i].t)
            curve(c, change[i].t, "waves", "resident", resident);
    }
    free(change);
    return RD_OK;
}

/* A dispatch with its curves; those of the last one end at zero. */
static void put_dispatch(struct chrome *c, const struct tl_dispatch *d)
{
    const struct tm_machine *m = &d->machine;
    const struct tl_sample *s = &c->tl->sample[d->first_sample];
    c->sclk = m->sclk_mhz;
    item(c);
    fputc('{', c->f);
    put_name(c, d->name);
    fputs(",\"cat\":\"dispatch\",", c->f);
    slice(c, CHIP, 1, d->base, d->end);
    fprintf(c->f,
            ",\"waves\":%zu,\"workgroups\":\"%u,%u,%u\",\"work-items\":\"%u,%u,%u\","
            "\"waves per SIMD\":%u,\"limited by\":\"%s\",\"MHz\":%g}}",
            d->n_waves, m->groups[0], m->groups[1], m->groups[2], m->block[0],
            m->block[1], m->block[2], m->occupancy, tm_limit_name[m->limit],
            m->sclk_mhz);
    for (size_t i = 1; i < d->n_samples; i++)
        put_sample(c, &s[i - 1], &s[i]);
    if (d + 1 == c->tl->dispatch + c->tl->n_dispatches && d->n_samples > 1) {
        struct tl_sample last = {.t = d->end}, after = {.t = d->end + 1};
        put_sample(c, &last, &after); /* all of it zero */
    }
}

static bool wanted(const struct tl_chrome *o, const struct tl_wave *w)
{
    const struct tl_simd *s = o->simd;
    return !o->waves_only && (!s || (s->se == w->se && s->sa == w->sa &&
                                     s->wgp == w->wgp && s->simd == w->simd));
}

rd_status tl_write_chrome(const struct timeline *tl, const struct tl_chrome *options,
                          FILE *f)
{
    struct chrome c = {.tl = tl, .f = f, .mhz = 1, .first = true};
    if (tl->n_dispatches)
        c.mhz = options->cycles ? 1000 : tl->dispatch[0].machine.sclk_mhz;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
    name_tracks(&c);
    for (size_t i = 0; i < tl->n_dispatches; i++)
        put_dispatch(&c, &tl->dispatch[i]);
    rd_status st = put_occupancy(&c);
    for (size_t i = 0; i < tl->n_waves; i++)
        put_wave(&c, &tl->wave[i], wanted(options, &tl->wave[i]));
    fputs("\n]}\n", f);
    return st;
}
