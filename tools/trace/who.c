/* who.c: who last wrote a register or a byte of memory.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "facts.h"
#include "trace_tool.h"

/* Only one wave or workgroup can be meant by a register or by a private address. */
struct owner {
    bool known;
    uint64_t dispatch, group;
    uint32_t wave;
};

static bool same_owner(struct owner *o, const struct emu_event *e,
                       const struct trace_place *p)
{
    bool by_group = p->is_memory && p->space != EMU_SPACE_GLOBAL;
    bool by_wave = !p->is_memory || p->space == EMU_SPACE_SCRATCH;
    if (!o->known) {
        *o = (struct owner){true, e->wave->dispatch, e->wave->group, e->wave->wave};
        return true;
    }
    if (!by_group && !by_wave)
        return true;
    return o->dispatch == e->wave->dispatch && o->group == e->wave->group &&
           (!by_wave || o->wave == e->wave->wave);
}

/* Does the event write the place, in the lane if one is given? */
static bool writes(const struct emu_event *e, const struct trace_place *p, int lane)
{
    uint64_t lanes;
    bool vgpr = !p->is_memory && p->sel >= ISA_SEL_VGPR0;
    if (!trace_touches(e, p, ISA_OF_OUT, &lanes))
        return false;
    bool ignores_exec = !(isa_facts(e->inst->isa.op)->state & ISA_STATE_MASKED);
    if (vgpr && !lanes && !ignores_exec)
        return false;
    return lane < 0 || (!p->is_memory && !vgpr) || ignores_exec || (lanes >> lane & 1);
}

/* The last event that writes the place; *hit UINT64_MAX if there is none. */
static int find_writer(struct trace_input *in, const struct trace_filter *f,
                       const struct trace_question *q, uint64_t *hit)
{
    const struct emu_event *e;
    struct owner owner = {0};
    uint64_t number;
    int status;
    *hit = UINT64_MAX;
    while ((status = trace_input_next(in, &number, &e)) == CLI_OK && e) {
        if (number >= q->before)
            break;
        if (!trace_filter_match(f, trace_input_dispatch(in, e), number, e) ||
            !writes(e, &q->place, q->lane))
            continue;
        if (!same_owner(&owner, e, &q->place))
            return cli_error(CLI_USAGE, "more than one wave writes it: say which with "
                                        "--workgroup and --wave");
        *hit = number;
    }
    return status;
}

/* The lanes of a vector access to memory that write the place, or 0. */
static uint64_t writing_lanes(const struct emu_event *e, const struct trace_place *p)
{
    uint64_t lanes;
    return p->is_memory && trace_touches(e, p, ISA_OF_OUT, &lanes) && e->n_accesses &&
                   !e->access[0].scalar
               ? lanes
               : 0;
}

static void print_writer(const struct trace_dispatch *d, uint64_t number,
                         const struct emu_event *e, uint64_t lanes)
{
    trace_print_event(d, number, e, "");
    if (lanes)
        printf("         by lanes 0x%" PRIx64 "\n", lanes);
}

/* e NULL: nobody. */
static void json_writer(const struct trace_dispatch *d, uint64_t number,
                        const struct emu_event *e, uint64_t lanes)
{
    struct json j = json_begin(stdout);
    if (e)
        trace_json_event(&j, "writer", d, number, e);
    else
        json_null(&j, "writer");
    json_array(&j, "lanes");
    for (uint64_t m = lanes; m; m &= m - 1)
        json_u64(&j, NULL, (unsigned)__builtin_ctzll(m));
    json_close(&j);
    json_end(&j);
}

int trace_who_wrote(struct trace_input *in, const struct trace_filter *f,
                    const struct trace_question *q, bool json)
{
    const struct emu_event *e;
    uint64_t number, hit;
    int status = find_writer(in, f, q, &hit);
    if (status != CLI_OK)
        return status;
    if (hit == UINT64_MAX) {
        if (json)
            json_writer(NULL, 0, NULL, 0);
        else
            puts("nobody wrote it");
        return CLI_OK;
    }
    if (trace_rewind(in->reader) != RD_OK)
        return cli_error(CLI_FAILED, "%s", in->err.text);
    do
        status = trace_input_next(in, &number, &e);
    while (status == CLI_OK && e && number != hit);
    if (status != CLI_OK || !e)
        return cli_error(CLI_FAILED, "the trace changed while it was read");
    (json ? json_writer : print_writer)(trace_input_dispatch(in, e), number, e,
                                        writing_lanes(e, &q->place));
    return CLI_OK;
}
