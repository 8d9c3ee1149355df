/* writer.c: the observer that records: definitions, chunks, the file.
 *
 * Allocates only for what is new (instructions, waves) and when a buffer grows. After
 * the first error it records nothing more; trace_close tells.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "numbers.h"
#include "outfile.h"
#include "trace.h"

struct slot {
    uint32_t wave; /* number of the wave in it */
    struct trace_wave_state state;
};

struct trace_writer {
    struct outfile out;
    bool values;
    bool timed; /* an event of the chunk has a time */
    struct buf section[TRACE_SECTIONS], raw;
    uint64_t events_out;

    struct numbers numbers;
    struct trace_inst_state *inst; /* by number */
    size_t inst_room;
    struct slot *slot;
    size_t n_slots;
    uint32_t n_waves;

    uint32_t chunk;                    /* number of the current one, from 1 */
    uint32_t events;                   /* in it */
    uint32_t last_wave, run_wave, run; /* the slice being counted */
};

static void writer_free(struct trace_writer *w)
{
    for (unsigned i = 0; i < TRACE_SECTIONS; i++)
        free(w->section[i].p);
    numbers_free(&w->numbers);
    for (size_t i = 0; i < w->inst_room; i++)
        free(w->inst[i].mem);
    free(w->inst);
    free(w->slot);
    free(w->raw.p);
    free(w);
}

rd_status trace_create(const char *path, const struct trace_options *options,
                       struct trace_writer **out, struct trace_error *err)
{
    struct trace_writer *w = calloc(1, sizeof *w);
    if (!w) {
        snprintf(err->text, sizeof err->text, "'%s': out of memory", path);
        return RD_E_NOMEM;
    }
    w->values = options && options->values;
    w->chunk = 1;
    rd_status st = outfile_open(&w->out, path, false, err->text);
    if (st != RD_OK) {
        writer_free(w);
        return st;
    }
    uint32_t head[2] = {w->values ? TRACE_HAS_VALUES : 0, codec_best()};
    outfile_write(&w->out, TRACE_MAGIC, 8);
    outfile_write(&w->out, head, sizeof head);
    *out = w;
    return RD_OK;
}

_Static_assert(sizeof(struct trace_error) == OUTFILE_WHY, "one text");

uint64_t trace_events_written(const struct trace_writer *w)
{
    return w->events_out + w->events;
}

uint64_t trace_bytes_written(const struct trace_writer *w)
{
    return w->out.bytes;
}

/* ---- chunks ------------------------------------------------------------------------
 */

static void end_slice(struct trace_writer *w)
{
    struct buf *b = &w->section[TRACE_SLICES];
    if (!w->run)
        return;
    uint64_t step = (uint64_t)w->run_wave - w->last_wave;
    put_z(b, (int64_t)step);
    put_v(b, w->run);
    w->last_wave = w->run_wave;
    w->run = 0;
}

/* The sections behind one another, with their sizes in front. */
static bool join_sections(struct trace_writer *w)
{
    uint32_t size[TRACE_SECTIONS];
    size_t total = sizeof size;
    bool failed = false;
    if (!w->timed)
        w->section[TRACE_TIME].n = 0;
    for (unsigned i = 0; i < TRACE_SECTIONS; i++) {
        size[i] = (uint32_t)w->section[i].n;
        total += w->section[i].n;
        failed |= w->section[i].failed;
    }
    w->raw.n = 0;
    if (failed || total > TRACE_MAX_RAW || !buf_room(&w->raw, total))
        return false;
    memcpy(w->raw.p, size, sizeof size);
    w->raw.n = sizeof size;
    for (unsigned i = 0; i < TRACE_SECTIONS; i++) {
        if (size[i])
            memcpy(w->raw.p + w->raw.n, w->section[i].p, size[i]);
        w->raw.n += size[i];
        w->section[i].n = 0;
    }
    return true;
}

static void flush_chunk(struct trace_writer *w)
{
    if (w->out.status != RD_OK)
        return;
    end_slice(w);
    if (!w->events && !w->section[TRACE_DEFS].n)
        return;
    if (!join_sections(w)) {
        outfile_fail(&w->out, RD_E_NOMEM);
        return;
    }
    if (!outfile_pack(&w->out, w->raw.p, w->raw.n))
        return;
    const struct buf *packed = &w->out.packed;
    uint32_t head[5] = {TRACE_CHUNK, w->events, (uint32_t)w->raw.n, (uint32_t)packed->n,
                        trace_checksum(w->raw.p, w->raw.n)};
    outfile_write(&w->out, head, sizeof head);
    outfile_write(&w->out, packed->p, packed->n);
    w->events_out += w->events;
    w->events = 0;
    w->timed = false;
    w->last_wave = 0;
    w->chunk++;
}

static bool chunk_is_full(const struct trace_writer *w)
{
    return w->events >= TRACE_CHUNK_EVENTS ||
           w->section[TRACE_MEMORY].n + w->section[TRACE_VALUES].n >=
               TRACE_CHUNK_BYTES ||
           w->section[TRACE_DEFS].n >= TRACE_CHUNK_BYTES;
}

rd_status trace_close(struct trace_writer *w, struct trace_error *err)
{
    if (!w)
        return RD_OK;
    flush_chunk(w);
    uint32_t end[2] = {TRACE_END, 0};
    outfile_write(&w->out, end, sizeof end);
    outfile_write(&w->out, &w->events_out, sizeof w->events_out);
    rd_status st = outfile_close(&w->out, err->text);
    writer_free(w);
    return st;
}

/* ---- definitions
 * --------------------------------------------------------------------- */

static void define(struct trace_writer *w, enum trace_def kind, const uint64_t *v,
                   unsigned n)
{
    struct buf *b = &w->section[TRACE_DEFS];
    put_v(b, kind);
    for (unsigned i = 0; i < n; i++)
        put_v(b, v[i]);
}

static void on_dispatch(void *ctx, const struct emu_launch *l)
{
    const struct emu_dispatch *d = l->dispatch;
    const uint64_t v[] = {l->number,    l->lanes,     l->vgprs,     l->n_groups,
                          d->groups[0], d->groups[1], d->groups[2], d->block[0],
                          d->block[1],  d->block[2],  l->code_base, l->code_bytes,
                          d->entry};
    define(ctx, TRACE_DEF_DISPATCH, v, sizeof v / sizeof *v);
}

static void on_end(void *ctx, const struct emu_launch *l, rd_status status)
{
    const uint64_t v[] = {l->number, zigzag((uint64_t)(int64_t)status)};
    define(ctx, TRACE_DEF_DONE, v, sizeof v / sizeof *v);
}

/* A bigger table, zeroed behind the old part; false if out of memory. */
static bool widen(void **table, size_t *room, size_t need, size_t item)
{
    if (need <= *room)
        return true;
    size_t n = *room ? *room : 64;
    while (n < need)
        n *= 2;
    char *p = realloc(*table, n * item);
    if (!p)
        return false;
    memset(p + *room * item, 0, (n - *room) * item);
    *table = p;
    *room = n;
    return true;
}

static void on_wave(void *ctx, const struct emu_wave_info *i)
{
    struct trace_writer *w = ctx;
    const uint64_t v[] = {i->dispatch,     i->group,        i->workgroup[0],
                          i->workgroup[1], i->workgroup[2], i->wave,
                          i->n_waves,      i->slot,         i->place};
    void *slots = w->slot;
    if (!widen(&slots, &w->n_slots, i->slot + 1ul, sizeof *w->slot)) {
        outfile_fail(&w->out, RD_E_NOMEM);
        return;
    }
    w->slot = slots;
    w->slot[i->slot] = (struct slot){.wave = w->n_waves++};
    define(w, TRACE_DEF_WAVE, v, sizeof v / sizeof *v);
}

/* A new instruction's number, plus one; 0 if out of memory. */
static uint32_t define_inst(struct trace_writer *w, const struct emu_event *e)
{
    void *states = w->inst;
    struct buf *b = &w->section[TRACE_DEFS];
    const struct emu_inst *inst = e->inst;
    const uint64_t v[] = {inst->code, e->wave->lanes, inst->pc, inst->bytes};
    bool wide = widen(&states, &w->inst_room, w->numbers.n + 1ul, sizeof *w->inst);
    w->inst = states;
    uint32_t number = wide && buf_room(b, 80) ? numbers_give(&w->numbers, inst) : 0;
    if (!number) {
        outfile_fail(&w->out, RD_E_NOMEM);
        return 0;
    }
    define(w, TRACE_DEF_INST, v, sizeof v / sizeof *v);
    /* an instruction that is none may lie at the very end of its memory */
    if (inst->kind == EMU_KIND_ILLEGAL)
        memset(b->p + b->n, 0xff, inst->bytes);
    else
        memcpy(b->p + b->n, inst->host, inst->bytes);
    b->n += inst->bytes;
    return number;
}

static void on_step(void *ctx, const struct emu_event *e)
{
    struct trace_writer *w = ctx;
    if (w->out.status != RD_OK || e->wave->slot >= w->n_slots)
        return;
    struct slot *slot = &w->slot[e->wave->slot];
    uint32_t inst = numbers_find(&w->numbers, e->inst);
    if (!inst)
        inst = define_inst(w, e);
    if (!inst)
        return;
    if (w->run && slot->wave != w->run_wave)
        end_slice(w);
    w->run_wave = slot->wave;
    w->run++;
    w->events++;
    w->timed |= e->time != 0;
    if (!encode_event(w->section, e, w->chunk, inst - 1, &slot->state,
                      &w->inst[inst - 1], w->values))
        outfile_fail(&w->out, RD_E_NOMEM);
    if (chunk_is_full(w))
        flush_chunk(w);
}

struct emu_observer trace_observer(struct trace_writer *w)
{
    return (struct emu_observer){.ctx = w,
                                 .want = EMU_WANT_ACCESS |
                                         (w->values ? EMU_WANT_VALUES : 0),
                                 .dispatch_begin = on_dispatch,
                                 .wave_begin = on_wave,
                                 .step = on_step,
                                 .dispatch_end = on_end};
}
