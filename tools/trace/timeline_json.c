/* timeline_json.c: `rdna3 trace TIMELINE --json`: what ran, when, and what its cycles
 * went to.
 *
 * Must not know the format of timelines. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "timeline.h"
#include "timeline_tool.h"

static void json_three(struct json *j, const char *key, const uint32_t v[3])
{
    json_array(j, key);
    for (unsigned i = 0; i < 3; i++)
        json_u64(j, NULL, v[i]);
    json_close(j);
}

static void json_stalls(struct json *j, const uint64_t stall[TM_STALLS])
{
    json_object(j, "stalls");
    for (unsigned s = 0; s < TM_STALLS; s++)
        json_u64(j, tm_stall_name[s], stall[s]);
    json_close(j);
}

/* Cycles of all waves: by kind, and by what they went to. */
static void json_cycles(struct json *j, const struct tl_dispatch *d,
                        const struct tl_account *account)
{
    uint64_t stall[TM_STALLS] = {0}, state[TM_STATES] = {0};
    for (uint32_t i = 0; i < d->n_insts; i++)
        for (unsigned s = 0; s < TM_STALLS; s++) {
            stall[s] += account[i].stall[s];
            state[tm_stall_state[s]] += account[i].stall[s];
        }
    json_object(j, "wave_cycles");
    for (unsigned s = 0; s < TM_STATES; s++)
        json_u64(j, tm_state_name[s], state[s]);
    json_close(j);
    json_stalls(j, stall);
}

/* The last sample has the sums of the whole dispatch. */
static void json_counts(struct json *j, const struct timeline *tl,
                        const struct tl_dispatch *d)
{
    if (!d->n_samples) {
        json_null(j, "counts");
        return;
    }
    const struct tl_sample *last = &tl->sample[d->first_sample + d->n_samples - 1];
    json_object(j, "counts");
    for (unsigned k = 0; k < TM_COUNTS; k++)
        json_u64(j, tm_count_name[k], last->count[k]);
    json_close(j);
}

static void json_inst(struct json *j, const struct tl_inst *inst,
                      const struct tl_account *a)
{
    uint32_t target;
    json_object(j, NULL);
    json_u64(j, "offset", inst->offset);
    json_text(j, "text", inst->text);
    json_text(j, "unit", tm_class_name[inst->cls]);
    if (tl_branch_target(inst, &target))
        json_u64(j, "target", target);
    else
        json_null(j, "target");
    json_u64(j, "times", a->times);
    json_u64(j, "cycles", a->cycles);
    json_stalls(j, a->stall);
    json_close(j);
}

static rd_status json_dispatch(struct json *j, const struct timeline *tl, size_t number,
                               bool listing)
{
    struct tl_dispatch *d = &tl->dispatch[number];
    const struct tm_machine *m = &d->machine;
    struct tl_account *account = tl_accounts(tl, number);
    rd_status st = account ? tl_sort(d) : RD_E_NOMEM;
    if (st != RD_OK) {
        free(account);
        return st;
    }
    json_object(j, NULL);
    json_u64(j, "number", number);
    json_text(j, "kernel", d->name);
    json_three(j, "grid", m->groups);
    json_three(j, "block", m->block);
    json_u64(j, "lanes", m->lanes);
    json_real(j, "sclk_mhz", m->sclk_mhz);
    json_u64(j, "start", (uint64_t)d->base);
    json_u64(j, "cycles", (uint64_t)(d->end - d->base));
    json_real(j, "us", (double)(d->end - d->base) / m->sclk_mhz);
    json_bool(j, "finished", d->finished);
    json_u64(j, "waves", d->n_waves);
    json_u64(j, "workgroups", m->n_simulated);
    json_u64(j, "waves_per_simd", m->occupancy);
    json_text(j, "limited_by", tm_limit_name[m->limit]);
    json_cycles(j, d, account);
    json_counts(j, tl, d);
    json_array(j, "instructions");
    for (uint32_t i = 0; listing && i < d->n_order; i++)
        json_inst(j, &d->inst[d->order[i]], &account[d->order[i]]);
    json_close(j);
    json_close(j);
    free(account);
    return RD_OK;
}

rd_status timeline_json(const struct timeline *tl, uint64_t dispatch, bool listing)
{
    rd_status st = RD_OK;
    struct json j = json_begin(stdout);
    json_array(&j, "dispatches");
    for (size_t i = 0; st == RD_OK && i < tl->n_dispatches; i++)
        if (dispatch == UINT64_MAX || i == dispatch)
            st = json_dispatch(&j, tl, i, listing);
    json_end(&j);
    return st;
}
