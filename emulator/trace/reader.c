/* reader.c: a trace file back to events.
 *
 * Owns the file, the definitions and the current chunk; decode.c takes the sections
 * apart. Every error says where in the file it is and what is wrong there.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codec.h"
#include "decode.h"
#include "trace.h"

/* More definitions than this are no trace of ours. */
#define MAX_WAVES (1u << 24)
#define MAX_INSTS (1u << 20)

struct wave_entry {
    struct emu_wave_info info;
    struct trace_wave_state state;
    uint64_t events;
};

struct inst_entry {
    struct emu_inst inst;
    struct trace_inst_state state;
};

/* Growing arrays. */
struct array {
    void *v;
    size_t n, room;
};

struct trace_reader {
    FILE *file;
    char *path;
    struct trace_error *err;
    uint64_t file_bytes, at; /* at: of the current chunk */
    uint32_t flags;
    struct codec *codec;
    struct array dispatch, inst, wave; /* trace_dispatch, inst_entry, wave_entry */
    uint8_t *raw, *packed;
    size_t raw_room, packed_room;
    struct cur section[TRACE_SECTIONS];
    uint32_t chunk, events; /* number of the current chunk; events left in it */
    uint64_t slice_wave, slice_left;
    uint64_t number; /* of the next event */
    bool ended, has_time;
    struct decoded d;
};

static rd_status __attribute__((format(printf, 3, 4)))
fail(struct trace_reader *r, rd_status st, const char *fmt, ...)
{
    char why[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    snprintf(r->err->text, sizeof r->err->text, "'%s', byte %" PRIu64 ": %s", r->path,
             r->at, why);
    return st;
}

/* Room for one more; NULL if out of memory. The new item is zeroed. */
static void *append(struct array *a, size_t item)
{
    if (a->n == a->room) {
        size_t room = a->room ? 2 * a->room : 64;
        void *v = realloc(a->v, room * item);
        if (!v)
            return NULL;
        a->v = v;
        a->room = room;
    }
    void *p = (char *)a->v + a->n++ * item;
    memset(p, 0, item);
    return p;
}

static struct trace_dispatch *dispatches(const struct trace_reader *r)
{
    return r->dispatch.v;
}

static struct inst_entry *insts(const struct trace_reader *r)
{
    return r->inst.v;
}

static struct wave_entry *waves(const struct trace_reader *r)
{
    return r->wave.v;
}

/* ---- open, close --------------------------------------------------------------------
 */

static rd_status read_header(struct trace_reader *r)
{
    char magic[8];
    uint32_t head[2];
    if (fread(magic, 1, 8, r->file) != 8 || memcmp(magic, TRACE_MAGIC, 8) != 0)
        return fail(r, RD_E_FORMAT, "this is no trace");
    if (fread(head, sizeof *head, 2, r->file) != 2)
        return fail(r, RD_E_TRUNCATED, "the file ends in its header");
    if (head[0] & ~TRACE_FLAGS_ALL)
        return fail(r, RD_E_UNSUPPORTED, "unknown flags 0x%x", head[0]);
    r->flags = head[0];
    if (r->codec)
        return RD_OK;
    rd_status st = codec_create(head[1], &r->codec);
    if (st == RD_E_UNSUPPORTED)
        return fail(r, st, "compressed with %s, which this build lacks",
                    codec_name(head[1]));
    return st == RD_OK ? st : fail(r, st, "%s", rd_status_text(st));
}

rd_status trace_open(const char *path, struct trace_reader **out,
                     struct trace_error *err)
{
    struct trace_reader *r = calloc(1, sizeof *r);
    struct stat info;
    if (r)
        r->path = strdup(path);
    if (!r || !r->path) {
        free(r);
        snprintf(err->text, sizeof err->text, "out of memory");
        return RD_E_NOMEM;
    }
    r->err = err;
    r->file = fopen(path, "rb");
    int why = r->file ? 0 : errno;
    if (r->file && fstat(fileno(r->file), &info) != 0)
        why = errno;
    else if (r->file && S_ISDIR(info.st_mode))
        why = EISDIR;
    if (why) {
        snprintf(err->text, sizeof err->text, "cannot read '%s': %s", path,
                 strerror(why));
        trace_reader_close(r);
        return RD_E_IO;
    }
    r->file_bytes = (uint64_t)info.st_size;
    rd_status st = read_header(r);
    if (st != RD_OK) {
        trace_reader_close(r);
        return st;
    }
    *out = r;
    return RD_OK;
}

static void forget_insts(struct trace_reader *r)
{
    for (size_t i = 0; i < r->inst.n; i++)
        free(insts(r)[i].state.mem);
    r->inst.n = 0;
}

void trace_reader_close(struct trace_reader *r)
{
    if (!r)
        return;
    forget_insts(r);
    if (r->file)
        (void)fclose(r->file);
    codec_destroy(r->codec);
    free(r->dispatch.v);
    free(r->inst.v);
    free(r->wave.v);
    free(r->raw);
    free(r->packed);
    free(r->path);
    free(r);
}

rd_status trace_rewind(struct trace_reader *r)
{
    if (fseeko(r->file, 0, SEEK_SET) != 0)
        return fail(r, RD_E_IO, "cannot go back to the start");
    r->at = r->number = r->slice_left = r->slice_wave = 0;
    r->chunk = r->events = 0;
    r->ended = r->has_time = false;
    forget_insts(r);
    r->dispatch.n = r->wave.n = 0;
    return read_header(r);
}

bool trace_has_values(const struct trace_reader *r)
{
    return r->flags & TRACE_HAS_VALUES;
}

bool trace_has_time(const struct trace_reader *r)
{
    return r->has_time;
}

const struct trace_dispatch *trace_dispatch(const struct trace_reader *r, unsigned i)
{
    return i < r->dispatch.n ? &dispatches(r)[i] : NULL;
}

uint64_t trace_file_bytes(const struct trace_reader *r)
{
    return r->file_bytes;
}

/* ---- definitions
 * ---------------------------------------------------------------------- */

static const struct trace_dispatch *find_dispatch(const struct trace_reader *r,
                                                  uint64_t number)
{
    for (size_t i = r->dispatch.n; i-- > 0;)
        if (dispatches(r)[i].number == number)
            return &dispatches(r)[i];
    return NULL;
}

static rd_status define_dispatch(struct trace_reader *r, struct cur *c)
{
    struct trace_dispatch *d = append(&r->dispatch, sizeof *d);
    if (!d)
        return fail(r, RD_E_NOMEM, "out of memory");
    d->number = get_v(c);
    d->lanes = (uint32_t)get_v(c);
    d->vgprs = (uint32_t)get_v(c);
    d->n_groups = get_v(c);
    for (unsigned i = 0; i < 3; i++)
        d->groups[i] = (uint32_t)get_v(c);
    for (unsigned i = 0; i < 3; i++)
        d->block[i] = (uint32_t)get_v(c);
    d->code_base = get_v(c);
    d->code_bytes = get_v(c);
    d->entry = get_v(c);
    if (d->lanes != 32 && d->lanes != 64)
        return fail(r, RD_E_FORMAT, "a dispatch of wave%u", d->lanes);
    return RD_OK;
}

static rd_status define_done(struct trace_reader *r, struct cur *c)
{
    uint64_t number = get_v(c);
    int64_t status = (int64_t)unzigzag(get_v(c));
    struct trace_dispatch *d = (struct trace_dispatch *)find_dispatch(r, number);
    if (!d || status > 0 || status < RD_STATUS_FIRST_)
        return fail(r, RD_E_FORMAT, "the end of no dispatch");
    d->ended = true;
    d->status = (rd_status)status;
    return RD_OK;
}

static rd_status define_inst(struct trace_reader *r, struct cur *c)
{
    uint64_t code = get_v(c), lanes = get_v(c), pc = get_v(c);
    uint64_t n = get_v(c);
    uint8_t buf[ISA_MAX_BYTES] = {0};
    if (n < 4 || n > ISA_MAX_BYTES || n % 4 || (lanes != 32 && lanes != 64) ||
        r->inst.n == MAX_INSTS)
        return fail(r, RD_E_FORMAT, "a malformed instruction");
    const uint8_t *p = get_take(c, (size_t)n);
    struct inst_entry *i = append(&r->inst, sizeof *i);
    if (!i)
        return fail(r, RD_E_NOMEM, "out of memory");
    if (p)
        memcpy(buf, p, (size_t)n);
    emu_inst_describe(buf, (size_t)n, pc, (unsigned)lanes, &i->inst);
    i->inst.code = (uint32_t)code;
    i->inst.id = (uint32_t)(r->inst.n - 1);
    return RD_OK;
}

static rd_status define_wave(struct trace_reader *r, struct cur *c)
{
    struct wave_entry *w = r->wave.n < MAX_WAVES ? append(&r->wave, sizeof *w) : NULL;
    if (!w)
        return fail(r, RD_E_NOMEM, "too many waves for this memory");
    struct emu_wave_info *i = &w->info;
    i->dispatch = get_v(c);
    i->group = get_v(c);
    for (unsigned k = 0; k < 3; k++)
        i->workgroup[k] = (uint32_t)get_v(c);
    i->wave = (uint32_t)get_v(c);
    i->n_waves = (uint32_t)get_v(c);
    i->slot = (uint32_t)get_v(c);
    i->place = (uint32_t)get_v(c);
    const struct trace_dispatch *d = find_dispatch(r, i->dispatch);
    if (!d)
        return fail(r, RD_E_FORMAT, "a wave of no dispatch");
    i->lanes = d->lanes;
    return RD_OK;
}

static rd_status read_defs(struct trace_reader *r)
{
    struct cur *c = &r->section[TRACE_DEFS];
    rd_status st = RD_OK;
    while (c->p != c->end && st == RD_OK) {
        uint64_t kind = get_v(c);
        st = kind == TRACE_DEF_DISPATCH ? define_dispatch(r, c)
             : kind == TRACE_DEF_INST   ? define_inst(r, c)
             : kind == TRACE_DEF_WAVE   ? define_wave(r, c)
             : kind == TRACE_DEF_DONE   ? define_done(r, c)
                                        : fail(r, RD_E_FORMAT, "unknown definition");
    }
    if (st == RD_OK && c->bad)
        return fail(r, RD_E_FORMAT, "definitions end too early");
    return st;
}

/* ---- chunks ------------------------------------------------------------------------
 */

static bool room_for(uint8_t **p, size_t *room, size_t n)
{
    if (n <= *room)
        return true;
    uint8_t *bigger = realloc(*p, n);
    if (!bigger)
        return false;
    *p = bigger;
    *room = n;
    return true;
}

static rd_status split_sections(struct trace_reader *r, size_t raw)
{
    uint32_t size[TRACE_SECTIONS];
    size_t at = sizeof size;
    if (raw < sizeof size)
        return fail(r, RD_E_FORMAT, "a chunk without sections");
    memcpy(size, r->raw, sizeof size);
    for (unsigned i = 0; i < TRACE_SECTIONS; i++) {
        if (raw - at < size[i])
            return fail(r, RD_E_FORMAT, "section %u is longer than its chunk", i);
        r->section[i] = (struct cur){r->raw + at, r->raw + at + size[i], false};
        at += size[i];
    }
    if (at != raw)
        return fail(r, RD_E_FORMAT, "bytes behind the last section");
    r->has_time |= size[TRACE_TIME] != 0;
    return RD_OK;
}

static rd_status read_end(struct trace_reader *r)
{
    uint64_t total;
    if (fread(&total, sizeof total, 1, r->file) != 1)
        return fail(r, RD_E_TRUNCATED, "the file ends in its last block");
    if (total != r->number || fgetc(r->file) != EOF)
        return fail(r, RD_E_FORMAT, "the file does not end where its trace does");
    r->ended = true;
    return RD_E_NOT_FOUND;
}

static rd_status read_chunk_body(struct trace_reader *r, const uint32_t head[3])
{
    uint32_t raw = head[0], packed = head[1];
    if (raw > TRACE_MAX_RAW)
        return fail(r, RD_E_FORMAT, "a chunk of impossible size");
    if (packed > r->file_bytes)
        return fail(r, RD_E_TRUNCATED, "the file ends in the middle of a chunk");
    if (!room_for(&r->raw, &r->raw_room, raw ? raw : 1) ||
        !room_for(&r->packed, &r->packed_room, packed ? packed : 1))
        return fail(r, RD_E_NOMEM, "out of memory");
    if (fread(r->packed, 1, packed, r->file) != packed)
        return fail(r, RD_E_TRUNCATED, "the file ends in the middle of a chunk");
    if (codec_unpack(r->codec, r->packed, packed, r->raw, raw) != RD_OK ||
        trace_checksum(r->raw, raw) != head[2])
        return fail(r, RD_E_FORMAT, "a damaged chunk");
    return split_sections(r, raw);
}

static rd_status next_chunk(struct trace_reader *r)
{
    uint32_t head[2], body[3];
    if (r->ended)
        return RD_E_NOT_FOUND;
    r->at = (uint64_t)ftello(r->file);
    if (fread(head, sizeof *head, 2, r->file) != 2)
        return fail(r, RD_E_TRUNCATED,
                    "the file ends after %" PRIu64 " events without an end mark: the "
                    "recording was cut short",
                    r->number);
    if (head[0] == TRACE_END)
        return read_end(r);
    if (head[0] != TRACE_CHUNK)
        return fail(r, RD_E_FORMAT, "neither a chunk nor the end");
    if (fread(body, sizeof *body, 3, r->file) != 3)
        return fail(r, RD_E_TRUNCATED, "the file ends in the head of a chunk");
    rd_status st = read_chunk_body(r, body);
    if (st != RD_OK)
        return st;
    r->chunk++;
    r->events = head[1];
    r->slice_left = r->slice_wave = 0;
    return read_defs(r);
}

/* ---- events ------------------------------------------------------------------------
 */

static rd_status next_slice(struct trace_reader *r)
{
    struct cur *c = &r->section[TRACE_SLICES];
    r->slice_wave += unzigzag(get_v(c));
    r->slice_left = get_v(c);
    if (c->bad || r->slice_wave >= r->wave.n || !r->slice_left ||
        r->slice_left > r->events)
        return fail(r, RD_E_FORMAT, "event %" PRIu64 " is of no wave", r->number);
    return RD_OK;
}

static rd_status decode_event(struct trace_reader *r, struct wave_entry *w)
{
    struct emu_event *e = &r->d.event;
    struct cur *c = &r->section[TRACE_CTL], *t = &r->section[TRACE_TIME];
    uint64_t jump;
    if (w->state.chunk != r->chunk)
        w->state = (struct trace_wave_state){.chunk = r->chunk,
                                             .exec = trace_all_lanes(w->info.lanes)};
    *e = (struct emu_event){.wave = &w->info, .index = w->events++};
    uint32_t number = decode_ctl(c, &w->state, &r->d, &jump);
    if (c->bad || number >= r->inst.n)
        return fail(r, RD_E_FORMAT, "event %" PRIu64 " is malformed", r->number);
    struct inst_entry *i = &insts(r)[number];
    e->inst = &i->inst;
    e->next_pc = i->inst.pc +
                 (e->flags & (EMU_EV_ENDED | EMU_EV_FAULT) ? 0 : i->inst.bytes + jump);
    if (t->p != t->end)
        w->state.time += unzigzag(get_v(t));
    e->time = w->state.time;
    if (i->inst.kind == EMU_KIND_MEMORY &&
        (!trace_inst_enter(&i->state, r->chunk) ||
         !decode_memory(&r->section[TRACE_MEMORY], &i->state, &r->d)))
        return fail(r, RD_E_FORMAT, "event %" PRIu64 ": malformed addresses",
                    r->number);
    if (trace_has_values(r) && !decode_values(&r->section[TRACE_VALUES], &r->d))
        return fail(r, RD_E_FORMAT, "event %" PRIu64 ": malformed values", r->number);
    return RD_OK;
}

rd_status trace_next(struct trace_reader *r, uint64_t *number,
                     const struct emu_event **event)
{
    rd_status st = RD_OK;
    while (st == RD_OK && !r->events)
        st = next_chunk(r);
    if (st == RD_OK && !r->slice_left)
        st = next_slice(r);
    if (st == RD_OK)
        st = decode_event(r, &waves(r)[r->slice_wave]);
    if (st != RD_OK)
        return st;
    *number = r->number++;
    *event = &r->d.event;
    r->slice_left--;
    r->events--;
    return RD_OK;
}
