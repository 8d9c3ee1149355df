/* chrome.c: a trace as JSON in Chrome's trace event format, which Perfetto reads.
 *
 * A process per dispatch, a track per wave, a slice per instruction. Times are shader
 * clocks if the trace has any (a slice ends where the wave's next one begins), else
 * event numbers: the order of execution.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_tool.h"

/* What is known of a slice until its end is. */
struct open_slice {
    const struct emu_wave_info *wave; /* NULL: none; an address that names the wave */
    uint64_t ts;
    uint64_t track;
    char text[ISA_MAX_TEXT + 96];
};

struct chrome {
    FILE *out;
    struct open_slice *slot; /* by emu_wave_info.slot and dispatch */
    size_t n_slots;
    uint64_t n_tracks, n_items;
    bool timed;
};

static void separator(struct chrome *c)
{
    fputs(c->n_items++ ? ",\n" : "\n", c->out);
}

static void end_slice(struct chrome *c, struct open_slice *s, uint64_t ts)
{
    if (!s->wave)
        return;
    separator(c);
    fprintf(c->out, "%s,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 "}", s->text, s->ts,
            ts > s->ts ? ts - s->ts : 1);
    s->wave = NULL;
}

static void begin_track(struct chrome *c, struct open_slice *s,
                        const struct emu_wave_info *w)
{
    s->track = c->n_tracks++;
    separator(c);
    fprintf(c->out,
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu64
            ",\"tid\":%" PRIu64 ",\"args\":{\"name\":\"(%u,%u,%u) wave %u\"}}",
            w->dispatch, s->track, w->workgroup[0], w->workgroup[1], w->workgroup[2],
            w->wave);
}

/* Canonical text has neither quotes nor backslashes. */
static void begin_slice(struct chrome *c, struct open_slice *s,
                        const struct trace_dispatch *d, uint64_t number,
                        const struct emu_event *e)
{
    char text[ISA_MAX_TEXT] = "(illegal)";
    if (e->inst->kind != EMU_KIND_ILLEGAL)
        isa_print(&e->inst->isa, e->wave->lanes, 0, text);
    s->wave = e->wave;
    s->ts = c->timed ? e->time : number;
    snprintf(s->text, sizeof s->text,
             "{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
             ",\"args\":{\"pc\":\"0x%" PRIx64 "\",\"event\":%" PRIu64 "}",
             text, e->wave->dispatch, s->track, e->inst->pc - d->code_base, number);
}

static struct open_slice *slot_of(struct chrome *c, uint32_t slot)
{
    if (slot >= (1u << 22))
        return NULL;
    if (slot >= c->n_slots) {
        size_t n = c->n_slots ? c->n_slots : 64;
        while (n <= slot)
            n *= 2;
        struct open_slice *p = realloc(c->slot, n * sizeof *p);
        if (!p)
            return NULL;
        memset(p + c->n_slots, 0, (n - c->n_slots) * sizeof *p);
        c->slot = p;
        c->n_slots = n;
    }
    return &c->slot[slot];
}

static bool put_event(struct chrome *c, const struct trace_dispatch *d, uint64_t number,
                      const struct emu_event *e)
{
    struct open_slice *s = slot_of(c, e->wave->slot);
    if (!s)
        return false;
    uint64_t now = c->timed ? e->time : number;
    if (e->index == 0 || !s->text[0])
        begin_track(c, s, e->wave);
    else if (c->timed)
        end_slice(c, s, now);
    begin_slice(c, s, d, number, e);
    if (!c->timed || (e->flags & (EMU_EV_ENDED | EMU_EV_FAULT)))
        end_slice(c, s, now + 1);
    if (e->flags & (EMU_EV_ENDED | EMU_EV_FAULT))
        s->text[0] = '\0';
    return true;
}

/* Times may begin anywhere in the file. */
static int look_for_times(struct trace_input *in, bool *timed)
{
    const struct emu_event *e;
    uint64_t number;
    int status;
    while ((status = trace_input_next(in, &number, &e)) == CLI_OK && e &&
           !trace_has_time(in->reader))
        ;
    *timed = trace_has_time(in->reader);
    if (status == CLI_OK && trace_rewind(in->reader) != RD_OK)
        return cli_error(CLI_FAILED, "%s", in->err.text);
    return status;
}

static int put_all(struct chrome *c, struct trace_input *in,
                   const struct trace_filter *f)
{
    const struct emu_event *e;
    uint64_t number, shown = 0;
    int status;
    while ((status = trace_input_next(in, &number, &e)) == CLI_OK && e) {
        const struct trace_dispatch *d = trace_input_dispatch(in, e);
        if (!trace_filter_match(f, d, number, e))
            continue;
        if (!put_event(c, d, number, e))
            return cli_error(CLI_FAILED, "out of memory");
        if (++shown == f->count)
            break;
    }
    for (size_t i = 0; i < c->n_slots; i++)
        end_slice(c, &c->slot[i], c->slot[i].ts + 1);
    return status;
}

int trace_chrome(struct trace_input *in, const struct trace_filter *f, const char *path)
{
    struct chrome c = {0};
    int status = look_for_times(in, &c.timed);
    if (status != CLI_OK)
        return status;
    struct cli_output file;
    c.out = cli_output_begin(&file, path);
    if (!c.out)
        return cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", c.out);
    status = put_all(&c, in, f);
    fputs("\n]}\n", c.out);
    bool whole = cli_output_end(&file, true) == RD_OK;
    free(c.slot);
    if (!whole && status == CLI_OK)
        return cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return status;
}
