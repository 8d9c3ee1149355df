/* diff.c: where two traces part, wave by wave.
 *
 * Waves are paired by dispatch, workgroup and number; the order in which waves take
 * turns does not matter. Of each event a hash is kept until its partner comes.
 * Invariant: the divergence reported is the first in the order of the first trace.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_tool.h"

struct pending {
    uint64_t hash, number;
};

/* A wave of either trace, with the events that wait for their partners. */
struct pair {
    bool used, diverged;
    uint64_t dispatch, group;
    uint32_t wave;
    unsigned ahead; /* which trace the pending events are of */
    struct pending *queue;
    size_t head, n, room;
    uint64_t matched;
};

struct divergence {
    bool found;
    uint64_t order; /* event number in the first trace, UINT64_MAX if it has none */
    struct pair wave;
};

struct diff {
    struct trace_input in[2];
    const struct trace_filter *filter;
    bool values;
    struct pair *table; /* open addressing */
    size_t room, used;
    struct divergence first;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static uint64_t mix_values(uint64_t h, const struct emu_event *e, unsigned direction)
{
    const uint32_t *v = direction == ISA_OF_IN ? e->in : e->out;
    for (unsigned i = 0; i < e->inst->n_regs; i++)
        if (e->inst->reg[i].flags & direction)
            for (uint32_t n = emu_reg_values(&e->inst->reg[i], e->wave->lanes); n; n--)
                h = mix(h, *v++);
    return h;
}

/* All that two runs of the same program have in common; no times. */
static uint64_t hash_event(const struct trace_dispatch *d, const struct emu_event *e,
                           bool values)
{
    uint64_t h = mix(e->inst->pc - d->code_base, e->inst->isa.op);
    h = mix(h, e->inst->isa.literal);
    h = mix(h, e->exec);
    h = mix(h, e->flags & ~EMU_EV_BARRIER_DONE);
    h = mix(h, e->next_pc - e->inst->pc);
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        h = mix(h, a->lanes);
        h = mix(h, a->bytes | (uint64_t)a->space << 16 | (uint64_t)a->write << 24);
        for (uint64_t m = a->lanes; m; m &= m - 1)
            h = mix(h, a->address[__builtin_ctzll(m)]);
    }
    if (values)
        h = mix_values(mix_values(h, e, ISA_OF_IN), e, ISA_OF_OUT);
    return h;
}

/* ---- pairs of waves -----------------------------------------------------------------
 */

static struct pair *probe(struct pair *table, size_t room, const struct pair *key)
{
    uint64_t h = mix(mix(mix(0, key->dispatch), key->group), key->wave);
    for (size_t i = h & (room - 1);; i = (i + 1) & (room - 1)) {
        struct pair *p = &table[i];
        if (!p->used || (p->dispatch == key->dispatch && p->group == key->group &&
                         p->wave == key->wave))
            return p;
    }
}

static struct pair *find_pair(struct diff *d, const struct emu_wave_info *w)
{
    struct pair key = {
        .used = true, .dispatch = w->dispatch, .group = w->group, .wave = w->wave};
    if (2 * d->used >= d->room) {
        size_t room = d->room ? 2 * d->room : 1024;
        struct pair *table = calloc(room, sizeof *table);
        if (!table)
            return NULL;
        for (size_t i = 0; i < d->room; i++)
            if (d->table[i].used)
                *probe(table, room, &d->table[i]) = d->table[i];
        free(d->table);
        d->table = table;
        d->room = room;
    }
    struct pair *p = probe(d->table, d->room, &key);
    if (!p->used) {
        *p = key;
        d->used++;
    }
    return p;
}

static bool push(struct pair *p, const struct pending *e)
{
    if (p->head && p->head == p->n)
        p->head = p->n = 0;
    if (p->n == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        struct pending *queue = realloc(p->queue, room * sizeof *queue);
        if (!queue)
            return false;
        p->queue = queue;
        p->room = room;
    }
    p->queue[p->n++] = *e;
    return true;
}

static void diverge(struct diff *d, struct pair *p, uint64_t order)
{
    free(p->queue);
    p->queue = NULL;
    p->head = p->n = p->room = 0;
    p->diverged = true;
    if (d->first.found && d->first.order <= order)
        return;
    d->first = (struct divergence){true, order, *p};
}

/* An event of trace `side`: compare it with its partner, or let it wait. */
static bool take_event(struct diff *d, unsigned side, uint64_t number,
                       const struct emu_event *e)
{
    const struct trace_dispatch *td = trace_input_dispatch(&d->in[side], e);
    if (!trace_filter_match(d->filter, td, number, e))
        return true;
    struct pair *p = find_pair(d, e->wave);
    if (!p)
        return false;
    if (p->diverged)
        return true;
    struct pending mine = {hash_event(td, e, d->values), number};
    if (p->head == p->n || p->ahead == side) {
        p->ahead = side;
        return push(p, &mine);
    }
    struct pending other = p->queue[p->head++];
    if (other.hash == mine.hash)
        p->matched++;
    else
        diverge(d, p, side == 0 ? number : other.number);
    return true;
}

/* Waves of which one trace has more. */
static void find_leftovers(struct diff *d)
{
    for (size_t i = 0; i < d->room; i++) {
        struct pair *p = &d->table[i];
        if (p->used && !p->diverged && p->head < p->n)
            diverge(d, p, p->ahead == 0 ? p->queue[p->head].number : UINT64_MAX);
    }
}

/* ---- report ------------------------------------------------------------------------
 */

/* An event of the wave that differs, `index` of its events. In JSON those before it, it
 * and those behind it are apart. */
static void show_event(struct json *j, const struct pair *p, uint64_t index,
                       const struct trace_dispatch *td, uint64_t number,
                       const struct emu_event *e)
{
    bool here = index == p->matched;
    if (!j) {
        trace_print_event(td, number, e, here ? ">" : " ");
        return;
    }
    if (here)
        json_close(j);
    trace_json_event(j, here ? "event" : NULL, td, number, e);
    if (here)
        json_array(j, "after");
}

static void show_no_event(struct json *j)
{
    if (!j) {
        puts("> (the wave has no more events)");
        return;
    }
    json_close(j);
    json_null(j, "event");
    json_array(j, "after");
}

static int show_side(struct diff *d, unsigned side, unsigned context, struct json *j)
{
    struct trace_input *in = &d->in[side];
    const struct pair *p = &d->first.wave;
    const struct emu_event *e;
    uint64_t number, index = 0;
    int status;
    if (trace_rewind(in->reader) != RD_OK)
        return cli_error(CLI_FAILED, "%s", in->err.text);
    while ((status = trace_input_next(in, &number, &e)) == CLI_OK && e) {
        const struct trace_dispatch *td = trace_input_dispatch(in, e);
        if (e->wave->dispatch != p->dispatch || e->wave->group != p->group ||
            e->wave->wave != p->wave || !trace_filter_match(d->filter, td, number, e))
            continue;
        if (index + context >= p->matched)
            show_event(j, p, index, td, number, e);
        if (index++ >= p->matched + context)
            break;
    }
    if (index <= p->matched)
        show_no_event(j);
    return status;
}

static int report(struct diff *d, const char *const path[2], unsigned context)
{
    const struct pair *p = &d->first.wave;
    printf("the traces differ: dispatch %" PRIu64 ", workgroup %" PRIu64
           ", wave %u, its event %" PRIu64 "\n",
           p->dispatch, p->group, p->wave, p->matched);
    for (unsigned side = 0; side < 2; side++) {
        printf("%s:\n", path[side]);
        int status = show_side(d, side, context, NULL);
        if (status != CLI_OK)
            return status;
    }
    return CLI_FAILED;
}

static int report_json(struct diff *d, const char *const path[2], unsigned context,
                       uint64_t matched)
{
    const struct pair *p = &d->first.wave;
    struct json j = json_begin(stdout);
    int status = CLI_OK;
    json_bool(&j, "differs", d->first.found);
    json_u64(&j, "events_equal", matched);
    json_bool(&j, "operands_compared", d->values);
    if (d->first.found) {
        json_object(&j, "at");
        json_u64(&j, "dispatch", p->dispatch);
        json_u64(&j, "workgroup", p->group);
        json_u64(&j, "wave", p->wave);
        json_u64(&j, "event", p->matched);
        json_close(&j);
    } else {
        json_null(&j, "at");
    }
    json_array(&j, "traces");
    for (unsigned side = 0; side < 2 && d->first.found && status == CLI_OK; side++) {
        json_object(&j, NULL);
        json_text(&j, "file", path[side]);
        json_array(&j, "before");
        status = show_side(d, side, context, &j);
        json_close(&j);
        json_close(&j);
    }
    json_end(&j);
    return status == CLI_OK && d->first.found ? CLI_FAILED : status;
}

static int compare(struct diff *d)
{
    const struct emu_event *e;
    uint64_t number;
    bool more[2] = {true, true};
    while (more[0] || more[1])
        for (unsigned side = 0; side < 2; side++) {
            if (!more[side])
                continue;
            int status = trace_input_next(&d->in[side], &number, &e);
            if (status != CLI_OK)
                return status;
            more[side] = e != NULL;
            if (e && !take_event(d, side, number, e))
                return cli_error(CLI_FAILED, "out of memory");
        }
    find_leftovers(d);
    return CLI_OK;
}

int trace_diff(const char *path_a, const char *path_b, const struct trace_filter *f,
               unsigned context, bool json)
{
    const char *const path[2] = {path_a, path_b};
    struct diff d = {.filter = f};
    int status = trace_input_open(&d.in[0], path_a);
    if (status == CLI_OK)
        status = trace_input_open(&d.in[1], path_b);
    if (status == CLI_OK) {
        d.values = trace_has_values(d.in[0].reader) && trace_has_values(d.in[1].reader);
        status = compare(&d);
    }
    uint64_t matched = 0;
    for (size_t i = 0; i < d.room; i++) {
        matched += d.table[i].matched;
        free(d.table[i].queue);
    }
    if (status == CLI_OK && json)
        status = report_json(&d, path, context, matched);
    else if (status == CLI_OK && d.first.found)
        status = report(&d, path, context);
    else if (status == CLI_OK)
        printf("no difference in %" PRIu64 " events%s\n", matched,
               d.values ? ", operands included" : "");
    free(d.table);
    trace_reader_close(d.in[0].reader);
    trace_reader_close(d.in[1].reader);
    return status;
}
