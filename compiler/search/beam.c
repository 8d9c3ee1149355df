/* beam.c: a search for good choices about a kernel.
 *
 * Candidates are lists of choices. Every step tries each kept candidate with one choice
 * more; what a program costs is asked of the caller. A candidate is compiled in a graph
 * of its own, because a choice that does not fit spoils the graph. Invariant: same
 * kernel, same costs, same result.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "opt.h"

#define MAX_WIDTH 16

struct candidate {
    size_t n;
    struct cc_opt opts[CC_MAX_OPTS];
    uint64_t cost;
};

struct search {
    cc_ref sink;
    struct cc_beam *beam;
    struct opt_shape shape;
    struct candidate kept[MAX_WIDTH], next[MAX_WIDTH];
    unsigned n_kept, n_next, width;
    struct candidate *seen; /* all that were tried */
    uint32_t n_seen, cap_seen;
};

/* ---- results of this process ---- */

struct known {
    struct known *next;
    char *kernel;
    cc_cost_fn *cost;
    void *user;
    unsigned width, max_steps;
    struct cc_beam beam;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known *known_list;

void cc_beam_forget(void)
{
    pthread_mutex_lock(&lock);
    while (known_list) {
        struct known *k = known_list;
        known_list = k->next;
        free(k->kernel);
        free(k);
    }
    pthread_mutex_unlock(&lock);
}

static bool recall(const char *kernel, struct cc_beam *beam)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (struct known *k = known_list; k && !found; k = k->next)
        if (strcmp(k->kernel, kernel) == 0 && k->cost == beam->cost &&
            k->user == beam->user && k->width == beam->width &&
            k->max_steps == beam->max_steps) {
            *beam = k->beam;
            found = true;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Takes the kernel's text. */
static void remember(char *kernel, const struct cc_beam *beam)
{
    struct known *k = malloc(sizeof *k);
    if (!k) {
        free(kernel);
        return;
    }
    *k = (struct known){NULL,        kernel,          beam->cost, beam->user,
                        beam->width, beam->max_steps, *beam};
    pthread_mutex_lock(&lock);
    k->next = known_list;
    known_list = k;
    pthread_mutex_unlock(&lock);
}

/* ---- trying ---- */

/* The same nodes in another graph. */
static cc_ref copy_to(struct cc_graph *g, cc_ref root)
{
    struct cc_map done = {0};
    cc_ref *nodes, r = NULL, few[64];
    uint32_t count;
    if (cc_toposort(root, &nodes, &count) != RD_OK)
        return &g->invalid;
    for (uint32_t i = 0; i < count; i++) {
        cc_ref n = nodes[i];
        cc_ref *src = n->n_src <= 64 ? few : malloc(n->n_src * sizeof *src);
        for (uint32_t j = 0; src && j < n->n_src; j++)
            src[j] = cc_map_get(&done, n->src[j]);
        r = src ? cc_uop(g, n->op, n->dtype, n->n_src, src, n->n_arg, n->arg, n->name)
                : &g->invalid;
        if (src != few)
            free(src);
        if (n->op == CC_RANGE && n->arg[0] >= g->next_range)
            g->next_range = (int)n->arg[0] + 1;
        if (cc_map_set(&done, n, r) != RD_OK)
            r = &g->invalid;
    }
    free(nodes);
    cc_map_free(&done);
    return r ? r : &g->invalid;
}

/* Compile and ask what it costs; false if it does not fit. */
static bool try_it(struct search *s, struct candidate *c)
{
    struct cc_graph *g;
    struct cc_prog *p;
    if (cc_graph_create(&g) != RD_OK)
        return false;
    rd_status st = cc_linearize_opts(g, copy_to(g, s->sink), c->n, c->opts, &p);
    cc_graph_destroy(g);
    if (st != RD_OK)
        return false;
    st = s->beam->cost(s->beam->user, p, &c->cost);
    cc_prog_destroy(p);
    s->beam->tried++;
    return st == RD_OK;
}

static int by_opt(const void *pa, const void *pb)
{
    const struct cc_opt *a = pa, *b = pb;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->axis != b->axis)
        return a->axis < b->axis ? -1 : 1;
    return a->amount < b->amount ? -1 : a->amount > b->amount;
}

/* The order of choices does not matter, padding apart, which comes first. */
static bool is_new(struct search *s, const struct candidate *c)
{
    struct candidate sorted = *c;
    qsort(sorted.opts, sorted.n, sizeof sorted.opts[0], by_opt);
    for (size_t i = 0; i < s->n_seen; i++)
        if (s->seen[i].n == sorted.n &&
            memcmp(s->seen[i].opts, sorted.opts, sorted.n * sizeof sorted.opts[0]) == 0)
            return false;
    if (!cc_room(&s->seen, &s->cap_seen, s->n_seen + 1, sizeof *s->seen))
        return false;
    s->seen[s->n_seen++] = sorted;
    return true;
}

/* Keep the cheapest; of equal ones the first. */
static void offer(struct search *s, const struct candidate *c)
{
    unsigned at = s->n_next;
    while (at > 0 && s->next[at - 1].cost > c->cost)
        at--;
    if (at == s->width)
        return;
    unsigned last = s->n_next < s->width ? s->n_next++ : s->width - 1;
    for (unsigned i = last; i > at; i--)
        s->next[i] = s->next[i - 1];
    s->next[at] = *c;
}

static void extend(struct search *s, const struct candidate *from,
                   enum cc_opt_kind kind, unsigned axis, int64_t amount)
{
    struct candidate c = *from;
    if (c.n == CC_MAX_OPTS)
        return;
    memset(&c.opts[c.n], 0, sizeof c.opts[0]);
    c.opts[c.n].kind = kind;
    c.opts[c.n].axis = axis;
    c.opts[c.n++].amount = amount;
    if (is_new(s, &c) && try_it(s, &c))
        offer(s, &c);
}

static bool has(const struct candidate *c, enum cc_opt_kind kind)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->opts[i].kind == kind)
            return true;
    return false;
}

static void extend_outputs(struct search *s, const struct candidate *c)
{
    static const int64_t lanes[] = {2, 4, 8, 16, 32, 64, 128, 256};
    static const int64_t registers[] = {2, 4, 8};
    for (unsigned a = 0; a < s->shape.n_out; a++) {
        for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++)
            if (!has(c, CC_OPT_TC) || lanes[i] <= 4)
                extend(s, c, CC_OPT_LOCAL, a, lanes[i]);
        for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++)
            extend(s, c, CC_OPT_UPCAST, a, registers[i]);
        for (unsigned b = 0; b < s->shape.n_out; b++) {
            if (a != b && !has(c, CC_OPT_TC) && s->shape.n_axes > s->shape.n_out)
                extend(s, c, CC_OPT_TC, a, b);
            if (a < b && !has(c, CC_OPT_SWAP))
                extend(s, c, CC_OPT_SWAP, a, b);
        }
        if (s->shape.size[a] % 32 && c->n == 0)
            extend(s, c, CC_OPT_PAD, a, 32);
    }
}

static void extend_reductions(struct search *s, const struct candidate *c)
{
    static const int64_t lanes[] = {8, 16, 32, 64, 256};
    static const int64_t steps[] = {2, 4, 8};
    for (unsigned a = s->shape.n_out; a < s->shape.n_axes; a++) {
        unsigned axis = a - s->shape.n_out;
        for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++)
            if (!has(c, CC_OPT_TC))
                extend(s, c, CC_OPT_GROUP, axis, lanes[i]);
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
            extend(s, c, CC_OPT_UNROLL, axis, steps[i]);
    }
}

static void search(struct search *s, struct candidate *best)
{
    unsigned steps = s->beam->max_steps ? s->beam->max_steps : 8;
    s->kept[0] = (struct candidate){.cost = best->cost};
    s->n_kept = 1;
    for (unsigned step = 0; step < steps && s->n_kept; step++) {
        s->n_next = 0;
        for (unsigned i = 0; i < s->n_kept; i++) {
            extend_outputs(s, &s->kept[i]);
            extend_reductions(s, &s->kept[i]);
        }
        if (s->n_next == 0 || (step > 0 && s->next[0].cost >= best->cost))
            break;
        if (s->next[0].cost < best->cost)
            *best = s->next[0];
        memcpy(s->kept, s->next, sizeof s->kept);
        s->n_kept = s->n_next;
    }
}

/* ---- the whole ---- */

static void run(struct search *s)
{
    struct cc_graph *g;
    struct candidate best = {0};
    struct cc_beam *b = s->beam;
    if (cc_graph_create(&g) != RD_OK)
        return;
    bool suits = opt_shape_of(g, copy_to(g, s->sink), &s->shape);
    cc_graph_destroy(g);
    s->width = b->width == 0 ? 2 : b->width < MAX_WIDTH ? b->width : MAX_WIDTH;
    if (!try_it(s, &best))
        best.cost = UINT64_MAX;
    b->cost_before = best.cost;
    if (suits)
        search(s, &best);
    b->cost_after = best.cost;
    b->n_opts = best.n;
    memcpy(b->opts, best.opts, sizeof b->opts);
    free(s->seen);
}

rd_status cc_beam(struct cc_graph *g, cc_ref sink, struct cc_beam *beam,
                  struct cc_prog **out)
{
    struct search *s = calloc(1, sizeof *s);
    char *kernel;
    if (g->status != RD_OK || !s) {
        free(s);
        return g->status != RD_OK ? g->status : RD_E_NOMEM;
    }
    rd_status st = cc_print(g, sink, &kernel);
    if (st != RD_OK) {
        free(s);
        return st;
    }
    beam->tried = 0;
    if (recall(kernel, beam)) {
        free(kernel);
    } else {
        s->sink = sink;
        s->beam = beam;
        run(s);
        remember(kernel, beam);
    }
    free(s);
    return cc_linearize_opts(g, sink, beam->n_opts, beam->opts, out);
}
