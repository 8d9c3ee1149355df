/* compare.c: two runs of a kernel beside each other: which instruction is which.
 *
 * Kernels that are compared have often been compiled again, with other registers and
 * addresses: what is equal at both ends is matched first, the rest so that as many
 * instructions as possible are, equal ones before those of the same mnemonic.
 * Invariant: matches do not cross. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "timeline.h"

#define MOST_CELLS (4u << 20) /* beyond it only the ends are matched */

enum { SAME_TEXT = 3, SAME_MNEMONIC = 1 };

/* Instructions in the order of their offsets. */
struct code {
    const struct tl_dispatch *d;
    uint32_t from, to; /* in d->order: what is not matched yet */
};

static const char *text_of(const struct code *c, uint32_t i)
{
    return c->d->inst[c->d->order[i]].text;
}

static unsigned alike(const struct code *a, uint32_t i, const struct code *b,
                      uint32_t j)
{
    const char *x = text_of(a, i), *y = text_of(b, j);
    if (strcmp(x, y) == 0)
        return SAME_TEXT;
    size_t n = strcspn(x, " ");
    return strncmp(x, y, n) == 0 && (y[n] == ' ' || !y[n]) ? SAME_MNEMONIC : 0;
}

static void pair(const struct code *a, uint32_t i, const struct code *b, uint32_t j,
                 uint32_t *match)
{
    match[a->d->order[i]] = b->d->order[j];
}

static void match_ends(struct code *a, struct code *b, uint32_t *match)
{
    for (; a->from < a->to && b->from < b->to &&
           alike(a, a->from, b, b->from) == SAME_TEXT;
         a->from++, b->from++)
        pair(a, a->from, b, b->from, match);
    for (; a->from < a->to && b->from < b->to &&
           alike(a, a->to - 1, b, b->to - 1) == SAME_TEXT;
         a->to--, b->to--)
        pair(a, a->to - 1, b, b->to - 1, match);
}

/* best[i][j]: what can be reached from i and j on. */
static rd_status match_rest(const struct code *a, const struct code *b, uint32_t *match)
{
    uint32_t n = a->to - a->from, m = b->to - b->from;
    if (!n || !m || (uint64_t)n * m > MOST_CELLS)
        return RD_OK;
    size_t row = m + 1u;
    uint32_t *best = calloc((n + 1u) * row, sizeof *best);
    if (!best)
        return RD_E_NOMEM;
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t j = m; j-- > 0;) {
            uint32_t both = alike(a, a->from + i, b, b->from + j);
            uint32_t most = best[(i + 1) * row + j];
            if (best[i * row + j + 1] > most)
                most = best[i * row + j + 1];
            if (both && both + best[(i + 1) * row + j + 1] > most)
                most = both + best[(i + 1) * row + j + 1];
            best[i * row + j] = most;
        }
    for (uint32_t i = 0, j = 0; i < n && j < m;) {
        uint32_t here = best[i * row + j];
        if (here == best[(i + 1) * row + j]) {
            i++;
        } else if (here == best[i * row + j + 1]) {
            j++;
        } else {
            pair(a, a->from + i, b, b->from + j, match);
            i++;
            j++;
        }
    }
    free(best);
    return RD_OK;
}

/* The one with the same name, and of those the one with the same number among them;
 * SIZE_MAX: there is none. */
static size_t counterpart(const struct timeline *tl, size_t dispatch,
                          const struct timeline *other)
{
    const char *name = tl->dispatch[dispatch].name;
    size_t number = 0, last = SIZE_MAX;
    for (size_t i = 0; i < dispatch; i++)
        number += strcmp(tl->dispatch[i].name, name) == 0;
    for (size_t i = 0; i < other->n_dispatches; i++)
        if (strcmp(other->dispatch[i].name, name) == 0) {
            last = i;
            if (number-- == 0)
                break;
        }
    if (last == SIZE_MAX && other->n_dispatches == 1 && tl->n_dispatches == 1)
        return 0; /* renamed */
    return last;
}

static void add_up(const struct tl_account *account, uint32_t n, struct tl_account *sum)
{
    memset(sum, 0, sizeof *sum);
    for (uint32_t i = 0; i < n; i++) {
        sum->times += account[i].times;
        sum->cycles += account[i].cycles;
        for (unsigned s = 0; s < TM_STALLS; s++)
            sum->stall[s] += account[i].stall[s];
    }
}

rd_status tl_compare(struct timeline *tl, size_t dispatch, struct timeline *other,
                     struct tl_comparison *out)
{
    memset(out, 0, sizeof *out);
    size_t old = counterpart(tl, dispatch, other);
    if (old == SIZE_MAX)
        return RD_E_NOT_FOUND;
    struct tl_dispatch *d = &tl->dispatch[dispatch], *e = &other->dispatch[old];
    out->old = old;
    out->now = tl_accounts(tl, dispatch);
    out->was = tl_accounts(other, old);
    out->match = malloc((d->n_insts + 1u) * sizeof *out->match);
    rd_status st = out->now && out->was && out->match ? tl_sort(d) : RD_E_NOMEM;
    if (st == RD_OK)
        st = tl_sort(e);
    if (st == RD_OK) {
        struct code a = {d, 0, d->n_order}, b = {e, 0, e->n_order};
        for (uint32_t i = 0; i <= d->n_insts; i++)
            out->match[i] = TL_NONE;
        match_ends(&a, &b, out->match);
        st = match_rest(&a, &b, out->match);
        add_up(out->now, d->n_insts, &out->all_now);
        add_up(out->was, e->n_insts, &out->all_was);
    }
    if (st != RD_OK)
        tl_compare_free(out);
    return st;
}

void tl_compare_free(struct tl_comparison *c)
{
    free(c->now);
    free(c->was);
    free(c->match);
    memset(c, 0, sizeof *c);
}
