/* chrome.c: a timeline as JSON in Chrome's trace event format, which Perfetto reads.
 *
 * A process per SIMD with a track per wave slot; on it waves, in them instructions, in
 * those what they waited for. A process for the whole chip with the dispatches and
 * curves of what was counted. Times are microseconds of the shader clock rounded to
 * nanoseconds, the unit in which viewers keep them; args hold exact cycles. Invariant:
 * both ends of a slice are rounded alike, so slices nest as the stretches do.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "timeline.h"

#define CHIP 1u

struct chrome {
    const struct timeline *tl;
    FILE *f;
    double mhz; /* of the first dispatch: one clock for all tracks */
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

/* "name": text in quotes; kernel names may hold anything printable. */
static void put_name(struct chrome *c, const char *text)
{
    fputs("\"name\":\"", c->f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', c->f);
        fputc(*text, c->f);
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

static void name_tracks(struct chrome *c)
{
    uint32_t used[16 + 64 * 8] = {0};
    char name[64];
    name_process(c, CHIP, "gfx1100");
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
        item(c);
        fprintf(c->f,
                "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,"
                "\"args\":{\"name\":\"slot %u\"}}",
                pid, w->slot + 1u, w->slot);
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
    curve(c, a->t, "read", "GB/s", MORE(TM_K_READ) / cycles * c->mhz / 1000);
    curve(c, a->t, "written", "GB/s", MORE(TM_K_WRITTEN) / cycles * c->mhz / 1000);
    curve(c, a->t, "floating point", "GFLOP/s",
          MORE(TM_K_FLOPS) / cycles * c->mhz / 1000);
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

rd_status tl_write_chrome(const struct timeline *tl, bool insts, FILE *f)
{
    struct chrome c = {.tl = tl, .f = f, .mhz = 1, .first = true};
    if (tl->n_dispatches)
        c.mhz = tl->dispatch[0].machine.sclk_mhz;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
    name_tracks(&c);
    for (size_t i = 0; i < tl->n_dispatches; i++) {
        const struct tl_dispatch *d = &tl->dispatch[i];
        item(&c);
        fputc('{', f);
        put_name(&c, d->name);
        fputs(",\"cat\":\"dispatch\",", f);
        slice(&c, CHIP, 1, d->base, d->end);
        fprintf(f, ",\"waves\":%zu}}", d->n_waves);
        for (size_t s = 1; s < d->n_samples; s++)
            put_sample(&c, &tl->sample[d->first_sample + s - 1],
                       &tl->sample[d->first_sample + s]);
    }
    rd_status st = put_occupancy(&c);
    for (size_t i = 0; i < tl->n_waves; i++)
        put_wave(&c, &tl->wave[i], insts);
    fputs("\n]}\n", f);
    return st;
}
