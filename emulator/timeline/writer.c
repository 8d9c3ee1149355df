/* writer.c: the observer that writes a timeline: records, chunks, the file.
 *
 * A wave's steps gather in a buffer of its own until there are enough of them or it
 * ends, so that memory is bounded by the resident waves. Must not know what the engine
 * does. After the first error it writes nothing more; tl_close tells.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "format.h"
#include "numbers.h"
#include "outfile.h"
#include "timeline.h"

#define WAVE_BYTES 2048u /* of a wave's steps, then they are written */

struct wave {
    uint64_t number;
    uint32_t last; /* instruction */
    struct buf steps;
};

struct tl_writer {
    struct outfile out;
    char *name;
    bool live;
    int64_t sample_cycles;
    struct buf raw, record;
    /* of the dispatch */
    uint32_t lanes;
    struct numbers known; /* instructions */
    struct wave **wave;   /* by number - first */
    size_t n_waves, room_waves;
    uint64_t first;
    struct wave *spare[64]; /* ended: their buffers serve again */
    unsigned n_spare;
    struct tm_sample sample;
    /* live */
    unsigned steps;
    double flushed;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- chunks ---------------------------------------------------------------------- */

static void flush(struct tl_writer *w)
{
    struct outfile *o = &w->out;
    if (w->raw.failed || w->record.failed)
        outfile_fail(o, RD_E_NOMEM);
    if (w->raw.n && o->status == RD_OK && outfile_pack(o, w->raw.p, w->raw.n)) {
        uint32_t head[3] = {codec_best(), (uint32_t)w->raw.n, (uint32_t)o->packed.n};
        outfile_write(o, head, sizeof head);
        outfile_write(o, o->packed.p, o->packed.n);
        if (w->live && fflush(o->file) != 0)
            outfile_fail(o, RD_E_IO);
    }
    w->raw.n = 0;
}

/* The record that was put together goes to the chunk. */
static void emit(struct tl_writer *w, unsigned kind)
{
    if (w->raw.n + w->record.n > TL_CHUNK_BYTES)
        flush(w);
    put_u8(&w->raw, kind);
    put_v(&w->raw, w->record.n);
    put_bytes(&w->raw, w->record.p, w->record.n);
    w->record.n = 0;
}

/* ---- waves ----------------------------------------------------------------------- */

static struct wave *find(struct tl_writer *w, uint64_t number)
{
    return number - w->first < w->n_waves ? w->wave[number - w->first] : NULL;
}

static struct wave *add_wave(struct tl_writer *w, uint64_t number)
{
    while (w->n_waves && !w->wave[0]) { /* the oldest have ended */
        size_t gone = 0;
        while (gone < w->n_waves && !w->wave[gone])
            gone++;
        if (gone < w->n_waves / 2 && w->n_waves < w->room_waves)
            break;
        memmove(w->wave, w->wave + gone, (w->n_waves - gone) * sizeof(*w->wave));
        w->n_waves -= gone;
        w->first += gone;
    }
    if (w->n_waves == 0)
        w->first = number;
    if (w->n_waves == w->room_waves) {
        size_t room = w->room_waves ? 2 * w->room_waves : 1024;
        struct wave **bigger = realloc(w->wave, room * sizeof(*bigger));
        if (!bigger)
            return NULL;
        w->wave = bigger;
        w->room_waves = room;
    }
    struct wave *v =
        w->n_spare ? w->spare[--w->n_spare] : calloc(1, sizeof(struct wave));
    if (!v)
        return NULL;
    v->number = number;
    v->last = UINT32_MAX;
    v->steps.n = 0;
    w->wave[w->n_waves++] = v;
    return v;
}

static void free_wave(struct tl_writer *w, struct wave *v)
{
    if (!v)
        return;
    if (w->n_spare < sizeof w->spare / sizeof w->spare[0]) {
        w->spare[w->n_spare++] = v;
        return;
    }
    free(v->steps.p);
    free(v);
}

static void emit_steps(struct tl_writer *w, struct wave *v)
{
    if (v->steps.failed)
        outfile_fail(&w->out, RD_E_NOMEM);
    if (!v->steps.n)
        return;
    put_v(&w->record, v->number);
    put_bytes(&w->record, v->steps.p, v->steps.n);
    emit(w, TL_STEPS);
    v->steps.n = 0;
}

/* Everything that is known, for whoever watches. */
static void show(struct tl_writer *w, double t)
{
    for (size_t i = 0; i < w->n_waves; i++)
        if (w->wave[i])
            emit_steps(w, w->wave[i]);
    flush(w);
    w->flushed = t;
}

/* ---- instructions ---------------------------------------------------------------- */

/* Tell of an instruction when it is met. Returns its number + 1; 0: out of memory. */
static uint32_t define(struct tl_writer *w, const struct tm_step *s)
{
    const struct emu_inst *inst = s->inst;
    char text[ISA_MAX_TEXT] = "(no instruction)";
    uint32_t number = numbers_give(&w->known, inst);
    if (!number) {
        outfile_fail(&w->out, RD_E_NOMEM);
        return 0;
    }
    if (inst->kind != EMU_KIND_ILLEGAL)
        isa_print(&inst->isa, w->lanes, 0, text);
    put_v(&w->record, number - 1);
    put_v(&w->record, s->offset);
    put_u8(&w->record, inst->bytes);
    put_u8(&w->record, s->cls);
    put_u8(&w->record, s->pipe);
    put_u8(&w->record, s->regs);
    put_bytes(&w->record, inst->host, inst->bytes);
    put_text(&w->record, text);
    emit(w, TL_INST);
    return number;
}

/* ---- the observer ---------------------------------------------------------------- */

static void on_begin(void *ctx, const struct tm_machine *m)
{
    struct tl_writer *w = ctx;
    w->lanes = m->lanes;
    numbers_clear(&w->known);
    for (size_t i = 0; i < w->n_waves; i++) /* of a run cut short */
        free_wave(w, w->wave[i]);
    w->n_waves = 0;
    memset(&w->sample, 0, sizeof w->sample);
    put_text(&w->record, w->name ? w->name : "kernel");
    put_v(&w->record, (uint64_t)(m->sclk_mhz * 1000 + 0.5));
#define F(field) put_v(&w->record, (uint64_t)m->field);
#include "fields.def"
#undef F
    put_v(&w->record, m->code_base);
    emit(w, TL_DISPATCH);
}

static void on_wave(void *ctx, const struct tm_wave_place *p)
{
    struct tl_writer *w = ctx;
    if (!add_wave(w, p->number)) {
        outfile_fail(&w->out, RD_E_NOMEM);
        return;
    }
    put_v(&w->record, p->number);
    for (unsigned i = 0; i < 3; i++)
        put_v(&w->record, p->wg[i]);
    put_v(&w->record, p->wave);
    put_u8(&w->record, p->se);
    put_u8(&w->record, p->sa);
    put_u8(&w->record, p->wgp);
    put_u8(&w->record, p->simd);
    put_u8(&w->record, p->slot);
    put_v(&w->record, (uint64_t)p->start);
    emit(w, TL_WAVE);
}

static void put_waits(const struct tl_writer *w, struct buf *b,
                      const struct tm_wait *wait, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t from = wait[i].from ? numbers_find(&w->known, wait[i].from) : 0;
        put_u8(b, wait[i].why | (from ? 128u : 0));
        put_v(b, wait[i].cycles);
        if (from)
            put_v(b, from - 1);
    }
}

static void on_step(void *ctx, const struct tm_step *s)
{
    struct tl_writer *w = ctx;
    struct wave *v = find(w, s->wave);
    uint32_t number = v ? numbers_find(&w->known, s->inst) : 0;
    if (v && !number)
        number = define(w, s);
    if (!number)
        return;
    uint32_t id = number - 1;
    struct buf *b = &v->steps;
    unsigned waits = s->n_waits < HEAD_MANY ? s->n_waits : HEAD_MANY;
    bool next = id == v->last + 1;
    put_u8(b, (s->flags & 3u) | waits << 2 | (next ? HEAD_NEXT : 0) |
                  (s->exec ? HEAD_EXEC : 0) |
                  (s->flags & TM_STEP_FREE ? HEAD_FREE : 0));
    if (waits == HEAD_MANY)
        put_v(b, s->n_waits);
    put_waits(w, b, s->wait, s->n_waits);
    if (!next)
        put_v(b, id);
    if (s->exec)
        put_z(b, s->exec - s->t);
    v->last = id;
    if (b->n >= WAVE_BYTES)
        emit_steps(w, v);
    if (w->live && ++w->steps % 1024 == 0) {
        double t = now();
        if (t - w->flushed > 0.05)
            show(w, t);
    }
}

static void on_wave_end(void *ctx, uint64_t number, int64_t end,
                        const struct tm_wait *last, unsigned n)
{
    struct tl_writer *w = ctx;
    struct wave *v = find(w, number);
    (void)end; /* the sum of all waits says it */
    if (!v)
        return;
    emit_steps(w, v);
    put_v(&w->record, number);
    put_waits(w, &w->record, last, n);
    emit(w, TL_END);
    free_wave(w, v);
    w->wave[number - w->first] = NULL;
}

static void on_sample(void *ctx, const struct tm_sample *s)
{
    struct tl_writer *w = ctx;
    put_v(&w->record, (uint64_t)(s->t - w->sample.t));
    for (unsigned k = 0; k < TM_COUNTS; k++)
        put_v(&w->record, s->count[k] - w->sample.count[k]);
    w->sample = *s;
    emit(w, TL_SAMPLE);
}

static void on_end(void *ctx, int64_t t, rd_status status)
{
    struct tl_writer *w = ctx;
    show(w, now());
    put_v(&w->record, (uint64_t)t);
    put_z(&w->record, status);
    emit(w, TL_FINISH);
    flush(w);
    if (fflush(w->out.file) != 0)
        outfile_fail(&w->out, RD_E_IO);
}

struct tm_observer tl_observer(struct tl_writer *w)
{
    return (struct tm_observer){.ctx = w,
                                .sample_cycles = w->sample_cycles,
                                .begin = on_begin,
                                .wave_start = on_wave,
                                .step = on_step,
                                .wave_end = on_wave_end,
                                .sample = on_sample,
                                .end = on_end};
}

/* ---- open, close ----------------------------------------------------------------- */

static void writer_free(struct tl_writer *w)
{
    for (size_t i = 0; i < w->n_waves; i++)
        free_wave(w, w->wave[i]);
    for (unsigned i = 0; i < w->n_spare; i++) {
        free(w->spare[i]->steps.p);
        free(w->spare[i]);
    }
    free(w->wave);
    numbers_free(&w->known);
    free(w->raw.p);
    free(w->record.p);
    free(w->name);
    free(w);
}

static rd_status fail(struct tl_error *err, rd_status st, const char *path,
                      const char *why)
{
    snprintf(err->text, sizeof err->text, "'%s': %s", path, why);
    return st;
}

static void put_tables(struct tl_writer *w)
{
    put_v(&w->record, TM_STALLS);
    for (unsigned i = 0; i < TM_STALLS; i++)
        put_text(&w->record, tm_stall_name[i]);
    put_v(&w->record, TM_COUNTS);
    for (unsigned i = 0; i < TM_COUNTS; i++)
        put_text(&w->record, tm_count_name[i]);
    emit(w, TL_TABLES);
}

rd_status tl_create(const char *path, const struct tl_options *options,
                    struct tl_writer **out, struct tl_error *err)
{
    struct tl_writer *w = calloc(1, sizeof *w);
    if (!w)
        return fail(err, RD_E_NOMEM, path, "out of memory");
    w->live = options && options->live;
    w->sample_cycles =
        options && options->sample_cycles > 0 ? options->sample_cycles : 256;
    rd_status st = outfile_open(&w->out, path, options && options->append, err->text);
    if (st != RD_OK) {
        writer_free(w);
        return st;
    }
    if (w->out.fresh)
        outfile_write(&w->out, TL_MAGIC, 8);
    put_tables(w);
    if (w->live)
        flush(w);
    *out = w;
    return RD_OK;
}

void tl_name(struct tl_writer *w, const char *kernel)
{
    free(w->name);
    w->name = strdup(kernel);
}

_Static_assert(sizeof(struct tl_error) == OUTFILE_WHY, "one text");

uint64_t tl_bytes_written(const struct tl_writer *w)
{
    return w->out.bytes;
}

rd_status tl_close(struct tl_writer *w, struct tl_error *err)
{
    if (!w)
        return RD_OK;
    show(w, 0);
    emit(w, TL_CLOSE);
    flush(w);
    rd_status st = outfile_close(&w->out, err->text);
    writer_free(w);
    return st;
}

/* Where the last whole chunk ends; 0: not even the magic is there. */
static off_t whole(FILE *f)
{
    uint32_t head[3];
    off_t end = 0, next = 8;
    if (fseeko(f, 0, SEEK_END) != 0)
        return 0;
    for (off_t all = ftello(f); next <= all; next += (off_t)sizeof head + head[2]) {
        end = next;
        if (fseeko(f, next, SEEK_SET) != 0 || fread(head, sizeof head, 1, f) != 1)
            break;
    }
    return end;
}

rd_status tl_finish(const char *path, struct tl_error *err)
{
    static const uint32_t head[3] = {CODEC_NONE, 2, 2};
    static const uint8_t record[2] = {TL_CLOSE, 0};
    FILE *f = fopen(path, "r+b");
    off_t end = f ? whole(f) : 0;
    bool ok = f && ftruncate(fileno(f), end) == 0 && fseeko(f, end, SEEK_SET) == 0;
    if (ok && end == 0)
        ok = fwrite(TL_MAGIC, 8, 1, f) == 1;
    ok = ok && fwrite(head, sizeof head, 1, f) == 1 &&
         fwrite(record, sizeof record, 1, f) == 1;
    if (f && fclose(f) != 0)
        ok = false;
    return ok ? RD_OK : fail(err, RD_E_IO, path, strerror(errno));
}
