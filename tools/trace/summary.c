/* summary.c: `rdna3 trace FILE --summary`: how many of what.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>

#include "trace_tool.h"

#define SPACES 4

struct summary {
    uint64_t events, ended, faults, branches, taken, barriers;
    /* By space; accesses, bytes of all lanes. */
    uint64_t reads[SPACES], writes[SPACES], bytes[SPACES];
};

static void add_event(struct summary *s, const struct emu_event *e)
{
    s->events++;
    s->ended += !!(e->flags & EMU_EV_ENDED);
    s->faults += !!(e->flags & EMU_EV_FAULT);
    s->branches += e->inst->kind == EMU_KIND_BRANCH;
    s->taken += !!(e->flags & EMU_EV_TAKEN);
    s->barriers += e->inst->kind == EMU_KIND_BARRIER;
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        s->reads[a->space] += a->read;
        s->writes[a->space] += a->write;
        s->bytes[a->space] += a->bytes * (uint64_t)__builtin_popcountll(a->lanes);
    }
}

static void print_dispatches(const struct trace_reader *r)
{
    const struct trace_dispatch *d;
    for (unsigned i = 0; (d = trace_dispatch(r, i)) != NULL; i++)
        printf("dispatch %" PRIu64
               "     grid %u,%u,%u block %u,%u,%u wave%u, %u VGPRs, "
               "code at 0x%" PRIx64 ", entry +0x%" PRIx64 "%s%s\n",
               d->number, d->groups[0], d->groups[1], d->groups[2], d->block[0],
               d->block[1], d->block[2], d->lanes, d->vgprs, d->code_base,
               d->entry - d->code_base, d->ended ? "" : ", not finished",
               d->status != RD_OK ? ", faulted" : "");
}

static void print_summary(const struct summary *s, const struct trace_reader *r,
                          double event_bytes)
{
    static const char *const spaces[SPACES] = {"global", "LDS", "scratch", "GDS"};
    print_dispatches(r);
    printf("events         %14" PRIu64 "  %.2f bytes each in the file\n", s->events,
           event_bytes);
    printf("waves ended    %14" PRIu64 "\n", s->ended);
    printf("branches       %14" PRIu64 "  %" PRIu64 " taken\n", s->branches, s->taken);
    printf("barriers       %14" PRIu64 "\n", s->barriers);
    printf("faults         %14" PRIu64 "\n", s->faults);
    for (unsigned i = 0; i < SPACES; i++)
        if (s->reads[i] || s->writes[i])
            printf("%-14s %14" PRIu64 "  reads, %" PRIu64 " writes, %" PRIu64
                   " bytes of all lanes\n",
                   spaces[i], s->reads[i], s->writes[i], s->bytes[i]);
}

static void json_summary(const struct summary *s, const struct trace_reader *r,
                         double event_bytes)
{
    struct json j = json_begin(stdout);
    trace_json_dispatches(&j, r);
    json_u64(&j, "events", s->events);
    json_real(&j, "event_bytes", event_bytes);
    json_u64(&j, "waves_ended", s->ended);
    json_u64(&j, "branches", s->branches);
    json_u64(&j, "branches_taken", s->taken);
    json_u64(&j, "barriers", s->barriers);
    json_u64(&j, "faults", s->faults);
    json_array(&j, "spaces");
    for (unsigned i = 0; i < SPACES; i++) {
        if (!s->reads[i] && !s->writes[i])
            continue;
        json_object(&j, NULL);
        json_text(&j, "space", trace_space_name(i));
        json_u64(&j, "reads", s->reads[i]);
        json_u64(&j, "writes", s->writes[i]);
        json_u64(&j, "bytes", s->bytes[i]);
        json_close(&j);
    }
    json_end(&j);
}

int trace_summarise(struct trace_input *in, const struct trace_filter *f, bool json)
{
    struct summary s = {0};
    const struct emu_event *e;
    uint64_t number = 0;
    int status;
    while ((status = trace_input_next(in, &number, &e)) == CLI_OK && e)
        if (trace_filter_match(f, trace_input_dispatch(in, e), number, e))
            add_event(&s, e);
    double all = (double)number + 1;
    (json ? json_summary : print_summary)(
        &s, in->reader, number ? (double)trace_file_bytes(in->reader) / all : 0.0);
    return cli_finish(status);
}
