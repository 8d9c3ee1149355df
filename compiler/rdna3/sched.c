/* sched.c: the order of instructions within straight stretches.
 *
 * Loads go as early as their addresses allow, as many at once as registers permit, so
 * that work waits for the first of them only. Other instructions keep their order
 * except that one whose sources are just being computed lets later ones pass. Works on
 * virtual registers; the order of accesses to the same kind of memory stays.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rdna3.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW  48 /* instructions that are looked at */
#define LATENCY 5  /* instructions until a result is there without waiting */
#define FLIGHT  96 /* registers that loads may fill ahead of their use */

/* An instruction of the stretch. */
struct node {
    uint32_t n_preds;          /* that have not been issued */
    uint32_t first, n;         /* in edges */
    uint32_t ready;            /* when its sources are there */
    uint32_t waits;            /* users not issued, of a load */
    uint8_t size;              /* registers that a load fills */
    bool issued, load, loaded; /* loaded: depends on a load */
};

struct sched {
    struct rdna3 *r;
    uint32_t begin, count;
    struct node *node;
    uint32_t *edge; /* successors; top bit: by value, not only by order */
    uint32_t n_edges, cap_edges;
    uint32_t *pred, n_pred, cap_pred; /* pairs (from, to) */
    int32_t *writer;                  /* of virtual registers: index in the stretch */
    struct reader {
        uint32_t reg, at;
        struct reader *next;
    } **readers;
    struct cc_arena scratch;
    struct mi *out;
    uint32_t n_out, in_flight, next_load;
};

#define BY_VALUE 0x80000000u

static void link(struct sched *s, uint32_t from, uint32_t to, bool value)
{
    if (from == to)
        return;
    if (!cc_room(&s->pred, &s->cap_pred, s->n_pred + 2, sizeof *s->pred)) {
        rdna3_fail(s->r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    s->pred[s->n_pred++] = from;
    s->pred[s->n_pred++] = to | (value ? BY_VALUE : 0);
}

static bool is_load(const struct mi *m)
{
    return m->form->kind == MI_VLOAD || m->form->kind == MI_SLOAD ||
           (m->form->kind == MI_LDS && m->n_def > 0);
}

/* What instructions share without naming it: SCC, LDS, memory. */
enum { SCC, LDS_WRITE, GLOBAL_WRITE, HIDDEN };

struct hidden {
    int32_t write[HIDDEN];
    uint32_t reads[HIDDEN][64]; /* since the last write; beyond: order of all */
    uint32_t n_reads[HIDDEN];
};

static void hidden_read(struct sched *s, struct hidden *h, unsigned what, uint32_t at)
{
    if (h->write[what] >= 0)
        link(s, (uint32_t)h->write[what], at, false);
    if (h->n_reads[what] == 64) { /* too many to remember: one stands for all */
        link(s, h->reads[what][63], at, false);
        h->reads[what][63] = at;
        return;
    }
    h->reads[what][h->n_reads[what]++] = at;
}

static void hidden_write(struct sched *s, struct hidden *h, unsigned what, uint32_t at)
{
    if (h->write[what] >= 0)
        link(s, (uint32_t)h->write[what], at, false);
    for (uint32_t i = 0; i < h->n_reads[what]; i++)
        link(s, h->reads[what][i], at, false);
    h->n_reads[what] = 0;
    h->write[what] = (int32_t)at;
}

static void link_hidden(struct sched *s, struct hidden *h, uint32_t at)
{
    const struct isa_facts *f = s->r->code[s->begin + at].form->facts;
    if (f->state & ISA_STATE_SCC_IN)
        hidden_read(s, h, SCC, at);
    if (f->state & ISA_STATE_SCC_OUT)
        hidden_write(s, h, SCC, at);
    if (f->access == ISA_ACCESS_NONE || f->space == ISA_SPACE_SCALAR)
        return; /* scalar loads are of memory that nobody writes */
    unsigned memory = f->space == ISA_SPACE_LDS ? LDS_WRITE : GLOBAL_WRITE;
    if (f->access == ISA_ACCESS_LOAD)
        hidden_read(s, h, memory, at);
    else
        hidden_write(s, h, memory, at);
}

/* Registers by dword: key of the tables below. */
static void link_registers(struct sched *s, uint32_t at)
{
    const struct mi *m = &s->r->code[s->begin + at];
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned j = 0; j < MI_OPNDS; j++) {
            const struct mi_opnd *o = &m->opnd[j];
            bool def = j < m->n_def;
            if (o->kind != MI_REG || def != (pass == 1))
                continue;
            unsigned width = o->width ? o->width : 1;
            for (unsigned k = o->sub; k < o->sub + width && k < 8; k++) {
                uint32_t key = o->reg * 8 + k;
                if (s->writer[key] >= 0)
                    link(s, (uint32_t)s->writer[key], at, !def);
                if (def) {
                    for (struct reader *x = s->readers[key]; x; x = x->next)
                        link(s, x->at, at, false);
                    s->readers[key] = NULL;
                    s->writer[key] = (int32_t)at;
                } else {
                    struct reader *x = cc_arena_alloc(&s->scratch, sizeof *x);
                    if (!x) {
                        rdna3_fail(s->r, RD_E_NOMEM, 0, "out of memory");
                        return;
                    }
                    *x = (struct reader){key, at, s->readers[key]};
                    s->readers[key] = x;
                }
            }
        }
}

/* Forget what the stretch wrote and read. */
static void clear_registers(struct sched *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        for (unsigned j = 0; j < MI_OPNDS; j++) {
            const struct mi_opnd *o = &s->r->code[s->begin + i].opnd[j];
            if (o->kind != MI_REG)
                continue;
            for (unsigned k = 0; k < 8; k++) {
                s->writer[o->reg * 8 + k] = -1;
                s->readers[o->reg * 8 + k] = NULL;
            }
        }
}

static void sort_edges(struct sched *s)
{
    for (uint32_t i = 0; i < s->n_pred; i += 2)
        s->node[s->pred[i]].n++;
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        s->node[i].first = at;
        at += s->node[i].n;
        s->node[i].n = 0;
    }
    if (!cc_room(&s->edge, &s->cap_edges, at, sizeof *s->edge)) {
        rdna3_fail(s->r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < s->n_pred; i += 2) {
        struct node *n = &s->node[s->pred[i]];
        uint32_t to = s->pred[i + 1] & ~BY_VALUE;
        s->edge[n->first + n->n++] = s->pred[i + 1];
        s->node[to].n_preds++;
        if (s->pred[i + 1] & BY_VALUE && (n->load || n->loaded))
            s->node[to].loaded = true;
        if (s->pred[i + 1] & BY_VALUE && n->load)
            n->waits++;
    }
}

static void build(struct sched *s)
{
    struct hidden h = {.n_reads = {0}};
    memset(s->node, 0, s->count * sizeof *s->node);
    for (unsigned i = 0; i < HIDDEN; i++)
        h.write[i] = -1;
    s->n_pred = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct mi *m = &s->r->code[s->begin + i];
        s->node[i].load = is_load(m);
        if (s->node[i].load)
            s->node[i].size = m->opnd[0].width ? m->opnd[0].width : 1;
        link_registers(s, i);
        link_hidden(s, &h, i);
    }
    clear_registers(s);
    cc_arena_free(&s->scratch);
    memset(&s->scratch, 0, sizeof s->scratch);
    sort_edges(s);
}

static void issue(struct sched *s, uint32_t at)
{
    struct node *n = &s->node[at];
    n->issued = true;
    s->out[s->n_out++] = s->r->code[s->begin + at];
    if (n->load)
        s->in_flight += n->size;
    for (uint32_t i = 0; i < n->n; i++) {
        uint32_t e = s->edge[n->first + i];
        struct node *to = &s->node[e & ~BY_VALUE];
        to->n_preds--;
        if (e & BY_VALUE && !n->load && s->n_out - 1 + LATENCY > to->ready)
            to->ready = s->n_out - 1 + LATENCY;
    }
}

/* Users of loads that have all been issued free their registers. */
static void settle(struct sched *s, const uint32_t *load_of, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct node *l = &s->node[load_of[i]];
        if (--l->waits == 0)
            s->in_flight -= l->size;
    }
}

/* Loads that can go now and have room. */
static void issue_loads(struct sched *s, const uint32_t *loads, uint32_t n)
{
    while (s->next_load < n) {
        uint32_t at = loads[s->next_load];
        struct node *l = &s->node[at];
        if (l->issued) {
            s->next_load++;
            continue;
        }
        if (l->n_preds || (s->in_flight && s->in_flight + l->size > FLIGHT))
            return;
        issue(s, at);
        s->next_load++;
    }
}

static uint32_t choose(const struct sched *s, uint32_t from)
{
    uint32_t first = UINT32_MAX, seen = 0;
    for (uint32_t i = from; i < s->count && seen < WINDOW; i++) {
        const struct node *n = &s->node[i];
        if (n->issued)
            continue;
        seen++;
        if (n->n_preds)
            continue;
        if (first == UINT32_MAX)
            first = i;
        if (n->ready <= s->n_out && !n->load)
            return i;
    }
    return first;
}

/* For every instruction the loads that it is a user of, from the pairs. */
struct users {
    uint32_t *first, *list;
};

static bool find_users(const struct sched *s, struct users *u)
{
    u->first = calloc(s->count + 2ull, sizeof *u->first);
    u->list = calloc(s->n_pred / 2 + 1ull, sizeof *u->list);
    if (!u->first || !u->list)
        return false;
    for (uint32_t i = 0; i < s->n_pred; i += 2)
        if (s->pred[i + 1] & BY_VALUE && s->node[s->pred[i]].load)
            u->first[(s->pred[i + 1] & ~BY_VALUE) + 2]++;
    for (uint32_t i = 2; i < s->count + 2; i++)
        u->first[i] += u->first[i - 1];
    for (uint32_t i = 0; i < s->n_pred; i += 2)
        if (s->pred[i + 1] & BY_VALUE && s->node[s->pred[i]].load)
            u->list[u->first[(s->pred[i + 1] & ~BY_VALUE) + 1]++] = s->pred[i];
    return true;
}

static void arrange(struct sched *s)
{
    uint32_t *loads = calloc(s->count + 1ull, sizeof *loads), n = 0, from = 0;
    struct users u = {0};
    if (!loads || !find_users(s, &u)) {
        rdna3_fail(s->r, RD_E_NOMEM, 0, "out of memory");
    } else {
        for (uint32_t i = 0; i < s->count; i++)
            if (s->node[i].load)
                loads[n++] = i;
        s->n_out = s->in_flight = s->next_load = 0;
        while (s->n_out < s->count) {
            issue_loads(s, loads, n);
            while (from < s->count && s->node[from].issued)
                from++;
            uint32_t at = choose(s, from);
            if (at == UINT32_MAX)
                break;
            issue(s, at);
            settle(s, u.list + u.first[at], u.first[at + 1] - u.first[at]);
        }
        if (s->n_out == s->count)
            memcpy(s->r->code + s->begin, s->out, s->count * sizeof *s->out);
    }
    free(loads);
    free(u.first);
    free(u.list);
}

static void stretch(struct sched *s, uint32_t begin, uint32_t end)
{
    s->begin = begin;
    s->count = end - begin;
    if (s->count < 3)
        return;
    build(s);
    if (s->r->status == RD_OK)
        arrange(s);
}

void rdna3_schedule(struct rdna3 *r)
{
    struct sched s = {.r = r};
    uint32_t begin = 0;
    size_t keys = 8 * (r->n_regs + 1ull);
    s.node = calloc(r->n_code + 1ull, sizeof *s.node);
    s.out = calloc(r->n_code + 1ull, sizeof *s.out);
    s.writer = malloc(keys * sizeof *s.writer);
    s.readers = calloc(keys, sizeof *s.readers);
    if (!s.node || !s.out || !s.writer || !s.readers) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
    } else {
        memset(s.writer, 0xff, keys * sizeof *s.writer);
        for (uint32_t i = 0; i < r->n_code && r->status == RD_OK; i++)
            if (rdna3_is_edge(&r->code[i])) {
                stretch(&s, begin, i);
                begin = i + 1;
            }
    }
    free(s.node);
    free(s.out);
    free(s.writer);
    free(s.readers);
    free(s.edge);
    free(s.pred);
}
