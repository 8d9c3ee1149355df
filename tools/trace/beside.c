/* beside.c: `rdna3 trace TIMELINE --baseline OLD`: two timed runs beside each other.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "timeline_tool.h"

static void print_change(double was, double now)
{
    if (was > 0)
        printf("  %+7.1f %%", 100 * (now - was) / was);
}

static void print_row(const char *name, uint64_t was, uint64_t now)
{
    printf("  %-12s %14" PRIu64 " %14" PRIu64, name, was, now);
    print_change((double)was, (double)now);
    putchar('\n');
}

static void print_sums(const struct tl_dispatch *now, const struct tl_dispatch *was,
                       const struct tl_comparison *c)
{
    uint64_t new_state[TM_STATES] = {0}, old_state[TM_STATES] = {0};
    for (unsigned s = 0; s < TM_STALLS; s++) {
        new_state[tm_stall_state[s]] += c->all_now.stall[s];
        old_state[tm_stall_state[s]] += c->all_was.stall[s];
    }
    printf("  %-12s %14s %14s\n", "", "before", "now");
    print_row("cycles", (uint64_t)(was->end - was->base),
              (uint64_t)(now->end - now->base));
    print_row("waves", was->n_waves, now->n_waves);
    print_row("wave cycles", c->all_was.cycles, c->all_now.cycles);
    for (unsigned s = 0; s < TM_STATES; s++)
        if (new_state[s] || old_state[s])
            print_row(tm_state_name[s], old_state[s], new_state[s]);
}

static double each(const struct tl_account *a)
{
    return (double)a->cycles / (double)(a->times ? a->times : 1);
}

/* An instruction of one of the runs, or (both given) of both. */
static void print_inst(const struct tl_account *was, const struct tl_account *now,
                       const struct tl_inst *inst)
{
    printf("%c %08x", !was ? '+' : !now ? '-' : ' ', inst->offset);
    for (unsigned i = 0; i < 2; i++) {
        const struct tl_account *a = i ? now : was;
        if (a)
            printf(" %11" PRIu64 " %9.1f", a->times, each(a));
        else
            printf(" %11s %9s", "", "");
    }
    if (was && now && was->cycles)
        printf(" %+7.1f%%", 100 * (each(now) - each(was)) / each(was));
    else
        printf(" %8s", "");
    printf("  %s\n", inst->text);
}

/* Both listings in one; what one of them lacks comes before what follows it in both. */
static void print_listings(const struct tl_dispatch *now, const struct tl_dispatch *was,
                           const struct tl_comparison *c)
{
    uint32_t j = 0;
    printf("    offset  times, cycles each before         and now   change  "
           "instruction\n");
    for (uint32_t i = 0; i < now->n_order; i++) {
        uint32_t id = now->order[i], old = c->match[id];
        for (; old != TL_NONE && was->order[j] != old; j++)
            print_inst(&c->was[was->order[j]], NULL, &was->inst[was->order[j]]);
        print_inst(old == TL_NONE ? NULL : &c->was[old], &c->now[id], &now->inst[id]);
        j += old != TL_NONE;
    }
    for (; j < was->n_order; j++)
        print_inst(&c->was[was->order[j]], NULL, &was->inst[was->order[j]]);
}

int timeline_beside(struct timeline *tl, const char *path, uint64_t dispatch,
                    bool listing)
{
    struct timeline *other;
    struct tl_error err;
    rd_status st = RD_OK;
    if (tl_read(path, &other, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    for (size_t i = 0; st == RD_OK && i < tl->n_dispatches; i++) {
        struct tl_comparison c;
        if (dispatch != UINT64_MAX && i != dispatch)
            continue;
        st = tl_compare(tl, i, other, &c);
        if (st == RD_E_NOT_FOUND) {
            printf("dispatch %zu: %s: not in '%s'\n", i, tl->dispatch[i].name, path);
            st = RD_OK;
            continue;
        }
        if (st != RD_OK)
            break;
        const struct tl_dispatch *was = &other->dispatch[c.old];
        printf("dispatch %zu: %s, beside dispatch %zu of '%s'\n", i,
               tl->dispatch[i].name, c.old, path);
        print_sums(&tl->dispatch[i], was, &c);
        if (listing)
            print_listings(&tl->dispatch[i], was, &c);
        tl_compare_free(&c);
    }
    tl_free(other);
    return st == RD_OK ? CLI_OK : cli_error(CLI_FAILED, "%s", rd_status_text(st));
}
