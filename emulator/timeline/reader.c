/* reader.c: a timeline file into memory, chunk by chunk, also while it grows.
 *
 * Nothing in the file is believed: numbers are checked before they index anything, what
 * is wrong becomes an error that names the record's place. Invariant: segments of a
 * wave are contiguous from its start to .end.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <limits.h>

#include "bytes.h"
#include "codec.h"
#include "format.h"
#include "timeline.h"

#define MAX_WAVES UINT32_C(0x10000000)

struct tl_input {
    FILE *file;
    char *path;
    uint64_t offset; /* of the next chunk */
    struct codec *codec;
    unsigned kind;
    struct buf packed, raw;
    bool tables;
    uint8_t stall[128];
    unsigned n_stalls;
    uint8_t counter[256]; /* TM_COUNTS: not known here */
    unsigned n_counters;
    size_t cap_dispatches, cap_waves, cap_samples;
    const char *why; /* what is wrong with a record */
};

static rd_status fail(struct tl_error *err, rd_status st, const char *path,
                      const char *why)
{
    snprintf(err->text, sizeof err->text, "'%s': %s", path, why);
    return st;
}

/* Room for one more. */
static void *more_of(void *p, size_t *cap, size_t n, size_t bytes)
{
    if (n < *cap)
        return p;
    size_t room = *cap ? 2 * *cap : 16;
    void *bigger = realloc(p, room * bytes);
    if (bigger)
        *cap = room;
    return bigger;
}

static char *get_text(struct cur *c)
{
    struct cur part = get_part(c, get_v(c));
    size_t n = (size_t)(part.end - part.p);
    char *s = malloc(n + 1);
    if (!s)
        return NULL;
    for (size_t i = 0; i < n; i++) /* for terminals and windows */
        s[i] = part.p[i] >= 32 && part.p[i] < 127 ? (char)part.p[i] : '?';
    s[n] = '\0';
    return s;
}

/* ---- records --------------------------------------------------------------------- */

static rd_status wrong(struct timeline *tl, const char *why)
{
    tl->input->why = why;
    return RD_E_FORMAT;
}

/* Numbers of names that this build knows. */
static rd_status get_names(struct timeline *tl, struct cur *c, const char *const *known,
                           unsigned n_known, unsigned other, uint8_t *map,
                           unsigned limit, unsigned *n)
{
    uint64_t count = get_v(c);
    if (count > limit)
        return wrong(tl, "too many names");
    *n = (unsigned)count;
    for (unsigned i = 0; i < *n; i++) {
        char *text = get_text(c);
        if (!text)
            return RD_E_NOMEM;
        map[i] = (uint8_t)other;
        for (unsigned k = 0; k < n_known; k++)
            if (strcmp(known[k], text) == 0)
                map[i] = (uint8_t)k;
        free(text);
    }
    return RD_OK;
}

static rd_status read_tables(struct timeline *tl, struct cur *c)
{
    struct tl_input *in = tl->input;
    rd_status st = get_names(tl, c, tm_stall_name, TM_STALLS, TM_S_OTHER, in->stall,
                             sizeof in->stall, &in->n_stalls);
    if (st == RD_OK)
        st = get_names(tl, c, tm_count_name, TM_COUNTS, TM_COUNTS, in->counter,
                       sizeof in->counter, &in->n_counters);
    in->tables = st == RD_OK;
    return st;
}

static struct tl_dispatch *current(struct timeline *tl)
{
    return tl->n_dispatches ? &tl->dispatch[tl->n_dispatches - 1] : NULL;
}

static rd_status check_machine(struct timeline *tl, const struct tm_machine *m)
{
    if (m->ses < 1 || m->ses > 8 || m->arrays < 1 || m->arrays > 2 || m->wgps < 1 ||
        m->wgps > 8 || m->slots < 1 || m->slots > 32 || m->limit > TM_LIMIT_GROUPS ||
        (m->lanes != 32 && m->lanes != 64) || !(m->sclk_mhz >= 1))
        return wrong(tl, "an impossible machine");
    return RD_OK;
}

static rd_status read_dispatch(struct timeline *tl, struct cur *c)
{
    struct tl_dispatch d = {.base = tl->end, .end = tl->end};
    struct tm_machine *m = &d.machine;
    d.name = get_text(c);
    if (!d.name)
        return RD_E_NOMEM;
    m->sclk_mhz = (double)get_v(c) / 1000;
#define F(field) m->field = (__typeof__(m->field))get_v(c);
#include "fields.def"
#undef F
    m->code_base = get_v(c);
    d.kernel = tl->n_kernels;
    for (size_t i = 0; i < tl->n_dispatches && d.kernel == tl->n_kernels; i++)
        if (strcmp(tl->dispatch[i].name, d.name) == 0)
            d.kernel = tl->dispatch[i].kernel;
    d.first_wave = tl->n_waves;
    d.first_sample = tl->n_samples;
    rd_status st = check_machine(tl, m);
    void *p = NULL;
    if (st == RD_OK) {
        p = more_of(tl->dispatch, &tl->input->cap_dispatches, tl->n_dispatches,
                    sizeof *tl->dispatch);
        st = p ? RD_OK : RD_E_NOMEM;
    }
    if (st != RD_OK) {
        free(d.name);
        return st;
    }
    tl->n_kernels += d.kernel == tl->n_kernels;
    tl->dispatch = p;
    tl->dispatch[tl->n_dispatches++] = d;
    return RD_OK;
}

static rd_status room_for_inst(struct tl_dispatch *d, uint32_t id)
{
    if (id < d->n_insts)
        return RD_OK;
    uint32_t n = d->n_insts ? d->n_insts : 64;
    while (n <= id)
        n *= 2;
    struct tl_inst *bigger = realloc(d->inst, n * sizeof *bigger);
    if (!bigger)
        return RD_E_NOMEM;
    memset(bigger + d->n_insts, 0, (n - d->n_insts) * sizeof *bigger);
    d->inst = bigger;
    d->n_insts = n;
    return RD_OK;
}

static void decode(struct tl_inst *i, unsigned lanes)
{
    struct isa_inst isa;
    if (isa_decode_hw(i->code, i->bytes, lanes, &isa) != RD_OK)
        return;
    i->op = isa.op;
    i->enc = isa.enc;
    for (unsigned k = 0; k < isa.n_opnds; k++)
        i->no_saddr |= isa.opnd[k].kind == ISA_OPND_OFF;
}

static rd_status read_inst(struct timeline *tl, struct cur *c)
{
    struct tl_dispatch *d = current(tl);
    struct tl_inst i = {0};
    uint64_t id = get_v(c);
    i.offset = (uint32_t)get_v(c);
    i.bytes = (uint8_t)get_u8(c);
    i.cls = (uint8_t)get_u8(c);
    i.pipe = (uint8_t)get_u8(c);
    i.regs = (uint8_t)get_u8(c);
    if (id >= TL_MAX_IDS || i.bytes > sizeof i.code || i.cls >= TM_CLASSES)
        return wrong(tl, "an impossible instruction");
    struct cur code = get_part(c, i.bytes);
    memcpy(i.code, code.p, (size_t)(code.end - code.p));
    rd_status st = room_for_inst(d, (uint32_t)id);
    if (st != RD_OK)
        return st;
    if (d->inst[id].text)
        return wrong(tl, "an instruction defined twice");
    i.text = get_text(c);
    decode(&i, d->machine.lanes);
    d->inst[id] = i;
    return i.text ? RD_OK : RD_E_NOMEM;
}

static rd_status read_wave(struct timeline *tl, struct cur *c)
{
    struct tl_dispatch *d = current(tl);
    const struct tm_machine *m = &d->machine;
    struct tl_wave w = {.dispatch = (uint32_t)(tl->n_dispatches - 1),
                        .kernel = d->kernel,
                        .last = TL_NONE};
    uint64_t number = get_v(c);
    for (unsigned i = 0; i < 3; i++)
        w.wg[i] = (uint32_t)get_v(c);
    w.wave = (uint32_t)get_v(c);
    w.se = (uint8_t)get_u8(c);
    w.sa = (uint8_t)get_u8(c);
    w.wgp = (uint8_t)get_u8(c);
    w.simd = (uint8_t)get_u8(c);
    w.slot = (uint8_t)get_u8(c);
    uint64_t start = get_v(c);
    if (number != d->n_waves || tl->n_waves >= MAX_WAVES)
        return wrong(tl, "a wave out of order");
    if (w.se >= m->ses || w.sa >= m->arrays || w.wgp >= m->wgps || w.simd > 3 ||
        w.slot >= m->slots || start > INT64_MAX / 4)
        return wrong(tl, "a wave outside the machine");
    w.start = w.end = d->base + (int64_t)start;
    void *p = more_of(tl->wave, &tl->input->cap_waves, tl->n_waves, sizeof *tl->wave);
    if (!p)
        return RD_E_NOMEM;
    tl->wave = p;
    tl->wave[tl->n_waves++] = w;
    d->n_waves++;
    return RD_OK;
}

/* ---- steps ----------------------------------------------------------------------- */

static rd_status add_seg(struct timeline *tl, struct tl_wave *w, struct tl_seg seg,
                         uint64_t cycles)
{
    uint64_t at = (uint64_t)(w->end - w->start);
    if (at + cycles > UINT32_MAX)
        return wrong(tl, "a wave that lasts too long");
    if (w->n_segs == w->cap_segs) {
        uint32_t cap = w->cap_segs ? 2 * w->cap_segs : 16;
        struct tl_seg *bigger = realloc(w->seg, cap * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        w->seg = bigger;
        w->cap_segs = cap;
    }
    seg.at = (uint32_t)at;
    w->seg[w->n_segs++] = seg;
    w->end += (int64_t)cycles;
    return RD_OK;
}

static rd_status get_wait(struct timeline *tl, struct cur *c, struct tl_wave *w)
{
    unsigned why = get_u8(c);
    uint64_t cycles = get_v(c), from = why & 128u ? get_v(c) : TL_NONE;
    if ((why & 127u) >= tl->input->n_stalls || cycles > UINT32_MAX)
        return wrong(tl, "an unknown wait");
    struct tl_seg seg = {
        .why = tl->input->stall[why & 127u], .from = (uint32_t)from, .inst = TL_NONE};
    if (seg.why == TM_S_NONE)
        return wrong(tl, "a wait for nothing");
    if (why & 128u && from >= tl->dispatch[w->dispatch].n_insts)
        return wrong(tl, "a wait for an unknown instruction");
    return cycles ? add_seg(tl, w, seg, cycles) : RD_OK;
}

static rd_status get_step(struct timeline *tl, struct cur *c, struct tl_wave *w)
{
    unsigned head = get_u8(c);
    uint64_t n = head >> 2 & 3u;
    uint32_t first = w->n_segs;
    if (n == HEAD_MANY)
        n = get_v(c);
    for (; n && !c->bad; n--) {
        rd_status st = get_wait(tl, c, w);
        if (st != RD_OK)
            return st;
    }
    uint64_t id = head & HEAD_NEXT ? (uint64_t)(uint32_t)(w->last + 1) : get_v(c);
    int64_t exec = head & HEAD_EXEC ? get_z(c) : 0;
    struct tl_dispatch *d = &tl->dispatch[w->dispatch];
    if (c->bad || id >= d->n_insts || !d->inst[id].text)
        return wrong(tl, "a step of an unknown instruction");
    w->last = (uint32_t)id;
    for (uint32_t i = first; i < w->n_segs; i++)
        w->seg[i].inst = w->last;
    tl->n_steps++;
    struct tl_seg seg = {
        .inst = w->last,
        .exec = exec > 0 && exec < INT_MAX ? (uint32_t)exec : 0,
        .why = TM_S_NONE,
        .flags = (uint8_t)((head & 3u) | (head & HEAD_FREE ? TM_STEP_FREE : 0))};
    return add_seg(tl, w, seg, head & HEAD_FREE ? 0 : 1);
}

static void forget_wait(struct tl_wave *w)
{
    if (!w->waits)
        return;
    w->waits = false;
    w->end = w->start + w->seg[--w->n_segs].at;
}

rd_status tl_wait(struct timeline *tl)
{
    const struct tl_seg seg = {.why = TM_S_OTHER, .from = TL_NONE, .inst = TL_NONE};
    for (size_t i = tl->first_open; i < tl->n_waves; i++) {
        struct tl_wave *w = &tl->wave[i];
        int64_t end = tl->dispatch[w->dispatch].end;
        if (w->ended) {
            tl->first_open += i == tl->first_open;
            continue;
        }
        forget_wait(w);
        if (end <= w->end)
            continue;
        rd_status st = add_seg(tl, w, seg, (uint64_t)(end - w->end));
        if (st != RD_OK)
            return st;
        w->waits = true;
    }
    return RD_OK;
}

/* The wave that a record is about. */
static rd_status get_wave(struct timeline *tl, struct cur *c, struct tl_wave **out)
{
    struct tl_dispatch *d = current(tl);
    uint64_t number = get_v(c);
    if (number >= d->n_waves || tl->wave[d->first_wave + number].ended)
        return wrong(tl, "a wave that is not there");
    *out = &tl->wave[d->first_wave + number];
    forget_wait(*out);
    return RD_OK;
}

static void extend(struct timeline *tl, int64_t end)
{
    struct tl_dispatch *d = current(tl);
    if (end > d->end)
        d->end = end;
    if (end > tl->end)
        tl->end = end;
}

static rd_status read_steps(struct timeline *tl, struct cur *c)
{
    struct tl_wave *w;
    rd_status st = get_wave(tl, c, &w);
    while (st == RD_OK && c->p != c->end && !c->bad)
        st = get_step(tl, c, w);
    if (st == RD_OK)
        extend(tl, w->end);
    return st;
}

static rd_status read_end(struct timeline *tl, struct cur *c)
{
    struct tl_wave *w;
    rd_status st = get_wave(tl, c, &w);
    uint32_t first = st == RD_OK ? w->n_segs : 0;
    while (st == RD_OK && c->p != c->end && !c->bad)
        st = get_wait(tl, c, w);
    if (st != RD_OK)
        return st;
    for (uint32_t i = first; i < w->n_segs; i++)
        w->seg[i].inst = w->last;
    w->ended = true;
    extend(tl, w->end);
    return RD_OK;
}

static rd_status read_sample(struct timeline *tl, struct cur *c)
{
    struct tl_dispatch *d = current(tl);
    const struct tl_sample *before =
        d->n_samples ? &tl->sample[tl->n_samples - 1] : NULL;
    struct tl_sample s = {.t = d->base};
    if (before)
        s = *before;
    uint64_t gap = get_v(c);
    if (gap > INT64_MAX / 4)
        return wrong(tl, "an impossible time");
    s.t += (int64_t)gap;
    for (unsigned k = 0; k < tl->input->n_counters; k++) {
        uint64_t more = get_v(c);
        if (tl->input->counter[k] < TM_COUNTS)
            s.count[tl->input->counter[k]] += more;
    }
    void *p =
        more_of(tl->sample, &tl->input->cap_samples, tl->n_samples, sizeof *tl->sample);
    if (!p)
        return RD_E_NOMEM;
    tl->sample = p;
    tl->sample[tl->n_samples++] = s;
    d->n_samples++;
    extend(tl, s.t);
    return RD_OK;
}

static rd_status read_finish(struct timeline *tl, struct cur *c)
{
    uint64_t t = get_v(c);
    struct tl_dispatch *d = current(tl);
    if (t > INT64_MAX / 4)
        return wrong(tl, "an impossible time");
    extend(tl, d->base + (int64_t)t);
    d->status = (rd_status)get_z(c);
    d->finished = true;
    return RD_OK;
}

static rd_status read_record(struct timeline *tl, unsigned kind, struct cur *c)
{
    struct tl_dispatch *d = current(tl);
    if (tl->closed)
        return wrong(tl, "something after the end");
    if (kind == TL_CLOSE) {
        tl->closed = true;
        return RD_OK;
    }
    if (kind != TL_TABLES && !tl->input->tables)
        return wrong(tl, "no tables before it");
    if (kind > TL_DISPATCH && (!d || d->finished))
        return wrong(tl, "no dispatch that it belongs to");
    switch (kind) {
    case TL_TABLES:
        return read_tables(tl, c);
    case TL_DISPATCH:
        return read_dispatch(tl, c);
    case TL_INST:
        return read_inst(tl, c);
    case TL_WAVE:
        return read_wave(tl, c);
    case TL_STEPS:
        return read_steps(tl, c);
    case TL_END:
        return read_end(tl, c);
    case TL_SAMPLE:
        return read_sample(tl, c);
    case TL_FINISH:
        return read_finish(tl, c);
    default:
        return wrong(tl, "an unknown record");
    }
}

static rd_status read_records(struct timeline *tl, struct cur c, struct tl_error *err)
{
    struct tl_input *in = tl->input;
    const uint8_t *first = c.p;
    while (c.p != c.end) {
        size_t at = (size_t)(c.p - first);
        unsigned kind = get_u8(&c);
        struct cur record = get_part(&c, get_v(&c));
        in->why = NULL;
        rd_status st = c.bad ? wrong(tl, "a record that ends too early")
                             : read_record(tl, kind, &record);
        if (st == RD_OK && record.bad)
            st = wrong(tl, "a record that ends too early");
        if (st == RD_OK)
            continue;
        snprintf(err->text, sizeof err->text,
                 "'%s': %s, in the chunk at byte %llu, record at byte %zu (kind %u)",
                 in->path, in->why ? in->why : rd_status_text(st),
                 (unsigned long long)in->offset, at, kind);
        return st;
    }
    return RD_OK;
}

/* ---- chunks ---------------------------------------------------------------------- */

static rd_status unpack(struct timeline *tl, const uint32_t head[3],
                        struct tl_error *err)
{
    struct tl_input *in = tl->input;
    if (!in->codec || in->kind != head[0]) {
        codec_destroy(in->codec);
        in->codec = NULL;
        in->kind = head[0];
        rd_status st = codec_create(head[0], &in->codec);
        if (st != RD_OK) {
            snprintf(err->text, sizeof err->text,
                     "'%s': packed with %s, which this build lacks", in->path,
                     codec_name(head[0]));
            return st;
        }
    }
    if (!buf_room(&in->raw, head[1] + 1u))
        return fail(err, RD_E_NOMEM, in->path, "out of memory");
    rd_status st = codec_unpack(in->codec, in->packed.p, head[2], in->raw.p, head[1]);
    if (st != RD_OK)
        return fail(err, st, in->path, "a damaged chunk");
    struct cur c = {in->raw.p, in->raw.p + head[1], false};
    return read_records(tl, c, err);
}

/* The first bytes, once they are there. */
static rd_status check_magic(struct tl_input *in, struct tl_error *err)
{
    char magic[8];
    if (fread(magic, 8, 1, in->file) != 1)
        return ferror(in->file) ? fail(err, RD_E_IO, in->path, strerror(errno)) : RD_OK;
    if (memcmp(magic, TL_MAGIC, 8) != 0)
        return fail(err, RD_E_FORMAT, in->path,
                    "no timeline (rdna3 run --timing --timing-trace FILE writes one)");
    in->offset = 8;
    return RD_OK;
}

rd_status tl_poll(struct timeline *tl, bool *more, struct tl_error *err)
{
    struct tl_input *in = tl->input;
    uint32_t head[3];
    *more = false;
    clearerr(in->file);
    if (fseeko(in->file, (off_t)in->offset, SEEK_SET) != 0)
        return fail(err, RD_E_IO, in->path, strerror(errno));
    rd_status begun = in->offset ? RD_OK : check_magic(in, err);
    if (begun != RD_OK || !in->offset)
        return begun;
    if (fread(head, sizeof head, 1, in->file) != 1)
        return RD_OK;
    if (head[1] > TL_CHUNK_LIMIT || head[2] > TL_CHUNK_LIMIT || !head[1])
        return fail(err, RD_E_FORMAT, in->path, "a chunk of impossible size");
    in->packed.n = 0;
    if (!buf_room(&in->packed, head[2] + 1u))
        return fail(err, RD_E_NOMEM, in->path, "out of memory");
    if (fread(in->packed.p, 1, head[2], in->file) != head[2])
        return RD_OK;
    rd_status st = unpack(tl, head, err);
    if (st != RD_OK)
        return st;
    in->offset += sizeof head + head[2];
    *more = true;
    return RD_OK;
}

/* ---- open, close ----------------------------------------------------------------- */

bool tl_is(const char *path)
{
    char magic[8];
    FILE *f = fopen(path, "rb");
    bool is = f && fread(magic, 8, 1, f) == 1 && memcmp(magic, TL_MAGIC, 8) == 0;
    if (f)
        (void)fclose(f);
    return is;
}

rd_status tl_open(const char *path, struct timeline **out, struct tl_error *err)
{
    struct timeline *tl = calloc(1, sizeof *tl);
    if (tl)
        tl->input = calloc(1, sizeof *tl->input);
    if (tl && tl->input)
        tl->input->path = strdup(path);
    if (!tl || !tl->input || !tl->input->path) {
        tl_free(tl);
        return fail(err, RD_E_NOMEM, path, "out of memory");
    }
    tl->input->file = fopen(path, "rb");
    rd_status st = tl->input->file ? RD_OK : fail(err, RD_E_IO, path, strerror(errno));
    if (st != RD_OK) {
        tl_free(tl);
        return st;
    }
    *out = tl;
    return RD_OK;
}

rd_status tl_read(const char *path, struct timeline **out, struct tl_error *err)
{
    struct timeline *tl;
    bool more = true;
    rd_status st = tl_open(path, &tl, err);
    if (st != RD_OK)
        return st;
    while (st == RD_OK && more)
        st = tl_poll(tl, &more, err);
    if (st == RD_OK && !tl->input->offset)
        st = fail(err, RD_E_TRUNCATED, path,
                  "no timeline (rdna3 run --timing --timing-trace FILE writes one)");
    if (st == RD_OK && (fseeko(tl->input->file, 0, SEEK_END) != 0 ||
                        (uint64_t)ftello(tl->input->file) != tl->input->offset))
        st = fail(err, RD_E_TRUNCATED, path, "the file ends in the middle of a chunk");
    if (st != RD_OK) {
        tl_free(tl);
        return st;
    }
    *out = tl;
    return RD_OK;
}

static void free_dispatch(struct tl_dispatch *d)
{
    for (uint32_t i = 0; i < d->n_insts; i++)
        free(d->inst[i].text);
    free(d->inst);
    free(d->order);
    free(d->name);
}

void tl_free(struct timeline *tl)
{
    if (!tl)
        return;
    for (size_t i = 0; i < tl->n_dispatches; i++)
        free_dispatch(&tl->dispatch[i]);
    for (size_t i = 0; i < tl->n_waves; i++)
        free(tl->wave[i].seg);
    free(tl->dispatch);
    free(tl->wave);
    free(tl->sample);
    if (tl->input) {
        if (tl->input->file)
            (void)fclose(tl->input->file);
        free(tl->input->path);
        free(tl->input->packed.p);
        free(tl->input->raw.p);
        codec_destroy(tl->input->codec);
        free(tl->input);
    }
    free(tl);
}
