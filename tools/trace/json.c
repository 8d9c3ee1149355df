/* json.c: events and dispatches of a trace as JSON.
 *
 * Masks are texts ("0x..."): a double has no room for 64 lanes.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>

#include "trace_tool.h"

static void json_mask(struct json *j, const char *key, uint64_t mask)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, mask);
    json_text(j, key, text);
}

static void json_three(struct json *j, const char *key, const uint32_t v[3])
{
    json_array(j, key);
    for (unsigned i = 0; i < 3; i++)
        json_u64(j, NULL, v[i]);
    json_close(j);
}

static void json_access(struct json *j, const struct emu_access *a)
{
    json_object(j, NULL);
    json_text(j, "space", trace_space_name(a->space));
    json_bool(j, "read", a->read);
    json_bool(j, "write", a->write);
    json_bool(j, "scalar", a->scalar);
    json_u64(j, "bytes", a->bytes);
    json_array(j, "lanes");
    for (uint64_t m = a->lanes; m; m &= m - 1)
        json_u64(j, NULL, (unsigned)__builtin_ctzll(m));
    json_close(j);
    json_array(j, "addresses");
    for (uint64_t m = a->lanes; m; m &= m - 1)
        json_u64(j, NULL, a->address[__builtin_ctzll(m)]);
    json_close(j);
    json_close(j);
}

/* The registers that are read or written, dword by dword; null without
 * --trace-operands.
 */
static void json_values(struct json *j, const char *key, const struct emu_event *e,
                        unsigned direction)
{
    const uint32_t *v = direction == ISA_OF_IN ? e->in : e->out;
    if (!v) {
        json_null(j, key);
        return;
    }
    json_array(j, key);
    for (unsigned i = 0; i < e->inst->n_regs; i++) {
        const struct emu_reg *r = &e->inst->reg[i];
        unsigned n = emu_reg_is_vgpr(r) ? e->wave->lanes : 1;
        for (unsigned k = 0; (r->flags & direction) && k < r->dwords; k++, v += n) {
            char name[32];
            json_object(j, NULL);
            json_text(j, "register", trace_reg_name(r, k, name));
            json_array(j, "values");
            for (unsigned lane = 0; lane < n; lane++)
                json_u64(j, NULL, v[lane]);
            json_close(j);
            json_close(j);
        }
    }
    json_close(j);
}

void trace_json_event(struct json *j, const char *key, const struct trace_dispatch *d,
                      uint64_t number, const struct emu_event *e)
{
    const struct emu_wave_info *w = e->wave;
    char text[ISA_MAX_TEXT] = "(illegal)";
    if (e->inst->kind != EMU_KIND_ILLEGAL)
        isa_print(&e->inst->isa, w->lanes, 0, text);
    json_object(j, key);
    json_u64(j, "number", number);
    json_u64(j, "time", e->time);
    json_u64(j, "dispatch", d->number);
    json_three(j, "workgroup", w->workgroup);
    json_u64(j, "wave", w->wave);
    json_u64(j, "offset", e->inst->pc - d->code_base);
    json_text(j, "mnemonic", trace_inst_name(e->inst));
    json_text(j, "text", text);
    json_mask(j, "exec", e->exec);
    if (e->flags & EMU_EV_TAKEN)
        json_u64(j, "branched_to", e->next_pc - d->code_base);
    else
        json_null(j, "branched_to");
    json_bool(j, "end", e->flags & EMU_EV_ENDED);
    json_bool(j, "fault", e->flags & EMU_EV_FAULT);
    json_bool(j, "barrier_opens", e->flags & EMU_EV_BARRIER_DONE);
    json_array(j, "accesses");
    for (unsigned i = 0; i < e->n_accesses; i++)
        json_access(j, &e->access[i]);
    json_close(j);
    json_values(j, "in", e, ISA_OF_IN);
    json_values(j, "out", e, ISA_OF_OUT);
    json_close(j);
}

void trace_json_dispatches(struct json *j, const struct trace_reader *r)
{
    const struct trace_dispatch *d;
    json_array(j, "dispatches");
    for (unsigned i = 0; (d = trace_dispatch(r, i)) != NULL; i++) {
        json_object(j, NULL);
        json_u64(j, "number", d->number);
        json_three(j, "grid", d->groups);
        json_three(j, "block", d->block);
        json_u64(j, "lanes", d->lanes);
        json_u64(j, "vgprs", d->vgprs);
        json_u64(j, "code_base", d->code_base);
        json_u64(j, "code_bytes", d->code_bytes);
        json_u64(j, "entry", d->entry - d->code_base);
        json_bool(j, "finished", d->ended);
        json_bool(j, "faulted", d->status != RD_OK);
        json_close(j);
    }
    json_close(j);
}
