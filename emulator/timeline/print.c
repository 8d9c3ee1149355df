/* print.c: a timeline as text: what happened, and an annotated listing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "timeline.h"

static void print_stalls(const struct tl_account *a, FILE *f)
{
    bool shown[TM_STALLS] = {false};
    const char *before = "  ; ";
    for (;; before = ", ") {
        unsigned best = 0;
        for (unsigned s = 1; s < TM_STALLS; s++)
            if (!shown[s] && a->stall[s] > (best ? a->stall[best] : 0))
                best = s;
        if (!best)
            return;
        shown[best] = true;
        fprintf(f, "%s%s %.1f", before, tm_stall_name[best],
                (double)a->stall[best] / (double)(a->times ? a->times : 1));
    }
}

struct tl_account *tl_accounts(const struct timeline *tl, size_t number)
{
    const struct tl_dispatch *d = &tl->dispatch[number];
    struct tl_account *a = calloc(d->n_insts + 1u, sizeof *a);
    for (size_t i = 0; a && i < d->n_waves; i++)
        tl_account(tl, &tl->wave[d->first_wave + i], INT64_MIN, INT64_MAX, a);
    return a;
}

rd_status tl_print_listing(const struct timeline *tl, size_t number, FILE *f)
{
    struct tl_dispatch *d = &tl->dispatch[number];
    struct tl_account *account = tl_accounts(tl, number);
    rd_status st = account ? tl_sort(d) : RD_E_NOMEM;
    double all = 0;
    for (uint32_t i = 0; st == RD_OK && i < d->n_insts; i++)
        all += (double)account[i].cycles;
    if (st == RD_OK)
        fputs("  offset       times    cycles  of all  instruction  ; cycles it waited "
              "each time\n",
              f);
    for (uint32_t i = 0; st == RD_OK && i < d->n_order; i++) {
        const struct tl_inst *inst = &d->inst[d->order[i]];
        const struct tl_account *a = &account[d->order[i]];
        fprintf(f, "%08x %11llu %9.1f %5.1f%%  %s", inst->offset,
                (unsigned long long)a->times,
                (double)a->cycles / (double)(a->times ? a->times : 1),
                all > 0 ? 100 * (double)a->cycles / all : 0, inst->text);
        uint32_t target;
        if (tl_branch_target(inst, &target))
            fprintf(f, " to %x", target);
        print_stalls(a, f);
        fputc('\n', f);
    }
    if (st == RD_OK)
        fprintf(f, "%20s %9.0f         wave cycles in all\n", "", all);
    free(account);
    return st;
}

static void print_states(const struct tl_dispatch *d, const struct tl_account *account,
                         FILE *f)
{
    uint64_t state[TM_STATES] = {0}, all = 0;
    for (uint32_t i = 0; i < d->n_insts; i++)
        for (unsigned s = 0; s < TM_STALLS; s++) {
            state[tm_stall_state[s]] += account[i].stall[s];
            all += account[i].stall[s];
        }
    fputs("  wave cycles  ", f);
    for (unsigned s = 0; s < TM_STATES && all; s++)
        if (state[s])
            fprintf(f, "%s%s %.1f %%", s ? ", " : "", tm_state_name[s],
                    100.0 * (double)state[s] / (double)all);
    fputc('\n', f);
}

rd_status tl_print_summary(const struct timeline *tl, FILE *f)
{
    if (!tl->n_dispatches)
        fputs("no dispatch was recorded\n", f);
    for (size_t i = 0; i < tl->n_dispatches; i++) {
        const struct tl_dispatch *d = &tl->dispatch[i];
        const struct tm_machine *m = &d->machine;
        struct tl_account *account = tl_accounts(tl, i);
        if (!account)
            return RD_E_NOMEM;
        double us = (double)(d->end - d->base) / m->sclk_mhz;
        fprintf(f, "dispatch %zu: %s, %u,%u,%u workgroups of %u,%u,%u\n", i, d->name,
                m->groups[0], m->groups[1], m->groups[2], m->block[0], m->block[1],
                m->block[2]);
        fprintf(f, "  time         %lld cycles, %.3f us at %g MHz%s\n",
                (long long)(d->end - d->base), us, m->sclk_mhz,
                d->finished ? "" : " (not finished)");
        fprintf(f,
                "  waves        %zu of %llu workgroups; at most %u per SIMD, limited "
                "by %s\n",
                d->n_waves, (unsigned long long)m->n_simulated, m->occupancy,
                tm_limit_name[m->limit]);
        print_states(d, account, f);
        free(account);
    }
    return RD_OK;
}
