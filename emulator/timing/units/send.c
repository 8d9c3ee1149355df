/* send.c: the path on which a CU's SIMDs send addresses and data to vector memory.
 *
 * One SIMD has the path until it has sent for some cycles and its clause is through;
 * then the other one's turn comes, if it waits. What was issued and not accepted may be
 * put off by what is issued later, so all of that is arranged again at every issue.
 * Must not know what happens to the data. Invariant: what has been accepted stays, and
 * nothing is ever accepted sooner than was said before.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "chip.h"

struct path {
    int64_t free, burst; /* cycles that the last SIMD has had it */
    unsigned last;
};

/* The next instruction of a SIMD from here on, or n. */
static unsigned next_of(const struct tm_send *s, unsigned simd, unsigned from)
{
    while (from < s->n && s->op[from].simd != simd)
        from++;
    return from;
}

/* Whose turn it is of two that wait, or wait next. */
static unsigned choose(const struct tm_base *b, const struct path *p,
                       const struct tm_send_op *mine, const struct tm_send_op *other)
{
    int64_t here = tm_max(p->free, mine->ready), there = tm_max(p->free, other->ready);
    if (here != there)
        return here < there ? p->last : !p->last;
    return p->burst < PARAM(b, send_turn_cycles) || mine->more ? p->last : !p->last;
}

static bool alive(const struct tm_send_op *o)
{
    return o->wave->age == o->age && !o->wave->left;
}

static struct tm_counted *counted(const struct tm_send_op *o)
{
    return fifo_at(&o->wave->counter[o->inst->returns ? TM_VM : TM_VS], o->counted);
}

/* It is accepted later than was said: who waits for that hears of it. */
static void put_off(struct tm_send_op *o, int64_t accept)
{
    struct tm_wave *w = o->wave;
    int64_t old = o->accept;
    o->accept = accept;
    tm_list_accept(o->list, o->listed, accept);
    if (!alive(o))
        return;
    if (counted(o)->open && counted(o)->from == o->inst)
        counted(o)->done = accept + 1; /* then it is known */
    if (w->mem.vmem_accept == old)
        w->mem.vmem_accept = accept;
    w->mem.sent = tm_max(w->mem.sent, accept + o->cycles);
    tm_put_off(w);
}

/* It is done then; who waits hears of it. */
static void close_count(const struct tm_send_op *o, int64_t done, uint8_t kind)
{
    if (!alive(o) || !counted(o)->open || counted(o)->from != o->inst)
        return;
    o->wave->open--;
    counted(o)->open = false;
    counted(o)->done = done;
    counted(o)->kind = kind;
}

static void give_back(struct tm_sent *t, struct tm_request *r)
{
    r->next = t->idle;
    t->idle = r;
}

static bool grow(struct tm_sent *t)
{
    size_t room = t->room ? 2 * t->room : 256;
    struct tm_send_op *bigger = realloc(t->op, room * sizeof *bigger);
    if (!bigger) {
        t->lost = true;
        return false;
    }
    t->op = bigger;
    t->room = room;
    return true;
}

/* Accepted for good. A store without lanes goes nowhere. */
static void go(const struct tm_base *b, struct tm_send *s, const struct tm_send_op *o)
{
    struct tm_sent *t = s->sent;
    bool drops = o->inst->drops_l0 || o->inst->drops_gl1;
    if (!o->inst->returns && !o->request->lines && !drops) {
        close_count(o, o->accept + PARAM(b, lds_start), TM_S_VSCNT);
        give_back(t, o->request);
    } else if (t->n < t->room || grow(t)) {
        t->op[t->n++] = *o;
    }
}

static void ask(const struct tm_base *b, const struct tm_send_op *o)
{
    int64_t nobody = 0;
    struct tm_send *s = &o->in->cu->send;
    bool load = o->inst->returns;
    int64_t *last = !alive(o) ? &nobody
                    : load    ? &o->wave->mem.vm_last
                              : &o->wave->mem.vs_last;
    tm_vmem_place(s->mem, o->request);
    int64_t done =
        tm_vmem(b, s->mem, s->to, o->inst, o->age, o->accept, o->request, last);
    close_count(o, done, load ? s->mem->level : TM_S_VSCNT);
    give_back(s->sent, o->request);
}

/* What is accepted in the same cycle, by CU: those of a CU are in order already. */
struct list {
    struct tm_send_op *first, *last;
};

/* Put it in its place in a list: mostly the end. */
static void put(struct list *l, struct tm_send_op *o)
{
    struct tm_send_op **at = &l->first;
    if (l->first && o->number >= l->last->number)
        at = &l->last->next;
    while (*at && o->number >= (*at)->number)
        at = &(*at)->next;
    o->next = *at;
    *at = o;
    if (!o->next)
        l->last = o;
}

/* The first acceptance of all. */
static int64_t first_of(const struct tm_sent *t)
{
    int64_t first = INT64_MAX;
    for (size_t k = 0; k < t->n; k++)
        first = tm_min(first, t->op[k].accept);
    return first;
}

/* What asking for it looks at has been written elsewhere, or by another thread. */
static void fetch(const struct tm_send_op *o)
{
    __builtin_prefetch(o->wave);
    __builtin_prefetch(&o->wave->left);
    __builtin_prefetch(&o->wave->counter[o->inst->returns ? TM_VM : TM_VS]);
    __builtin_prefetch(&o->wave->counted[0]);
    __builtin_prefetch(&o->wave->counted[2]);
    __builtin_prefetch(o->request);
    __builtin_prefetch(&o->request->lines);
    __builtin_prefetch(&o->in->cu->vmem);
}

/* first: of all; until: so many cycles later as a window has at most. */
static void ask_window(const struct tm_base *b, struct tm_sent *t, int64_t first,
                       int64_t until)
{
    struct list list[TM_WINDOW] = {{NULL, NULL}}; /* by cycle */
    size_t kept = 0;
    for (size_t k = 0; k < t->n; k++)
        if (t->op[k].accept < until) {
            put(&list[t->op[k].accept - first], &t->op[k]);
            fetch(&t->op[k]);
        }
    for (unsigned c = 0; c < TM_WINDOW; c++)
        for (const struct tm_send_op *o = list[c].first; o; o = o->next)
            ask(b, o);
    for (size_t k = 0; k < t->n; k++)
        if (t->op[k].accept >= until && kept++ != k)
            t->op[kept - 1] = t->op[k];
    t->n = kept;
}

void tm_sent_ask(const struct tm_base *b, struct tm_sent *t, int64_t until)
{
    for (int64_t first; (first = first_of(t)) < until;)
        ask_window(b, t, first, tm_min(until, first + TM_WINDOW));
}

rd_status tm_sent_move(struct tm_sent *to, struct tm_sent *from)
{
    if (from->lost)
        return RD_E_NOMEM;
    while (to->n + from->n > to->room)
        if (!grow(to))
            return RD_E_NOMEM;
    if (from->n)
        memcpy(to->op + to->n, from->op, from->n * sizeof *from->op);
    to->n += from->n;
    from->n = 0;
    return RD_OK;
}

void tm_sent_free(struct tm_sent *t)
{
    while (t->made) {
        struct tm_request *r = t->made;
        t->made = r->next_made;
        free(r);
    }
    free(t->op);
}

/* One to fill; NULL: out of memory. */
static struct tm_request *take_request(struct tm_sent *t)
{
    struct tm_request *r = t->idle;
    if (r) {
        t->idle = r->next;
        return r;
    }
    r = malloc(sizeof *r);
    if (!r)
        return NULL;
    r->next_made = t->made;
    return t->made = r;
}

/* The same as arrange() of one that waits alone. */
static void arrange_one(const struct tm_base *b, struct tm_send *s, int64_t settled)
{
    struct tm_send_op *o = &s->op[0];
    struct tm_queue *q = &o->in->vmem_queue;
    int64_t accept = tm_max(tm_max(s->free, o->ready), o->accept), burst = s->burst;
    if (o->simd != s->last)
        burst = 0;
    else if (accept > s->free) /* its turn has passed meanwhile */
        burst = PARAM(b, send_turn_cycles);
    o->free = accept + o->cycles;
    if (q->n)
        q->free_at[(q->first + q->n - 1) % 64] = o->free;
    if (accept < settled) {
        s->free = o->free, s->burst = burst + o->cycles, s->last = o->simd, s->n = 0;
        o->accept = accept;
        go(b, s, o);
    } else if (o->accept < accept) {
        put_off(o, accept);
    }
}

/* Arrange what waits; what is accepted before a time is done with. */
static void arrange(const struct tm_base *b, struct tm_send *s, int64_t settled)
{
    if (s->n == 1) {
        arrange_one(b, s, settled);
        return;
    }
    struct path p = {s->free, s->burst, s->last};
    unsigned at[2] = {next_of(s, 0, 0), next_of(s, 1, 0)}, kept = 0, n[2] = {0};
    uint32_t gone = 0;
    int64_t when[TM_SENDS] = {0};
    while (at[0] < s->n || at[1] < s->n) {
        unsigned turn = at[0] == s->n ? 1 : at[1] == s->n ? 0 : p.last;
        if (at[0] < s->n && at[1] < s->n)
            turn = choose(b, &p, &s->op[at[p.last]], &s->op[at[!p.last]]);
        struct tm_send_op *o = &s->op[at[turn]];
        int64_t accept = tm_max(tm_max(p.free, o->ready), o->accept);
        if (turn != p.last)
            p.burst = 0;
        else if (accept > p.free) /* its turn has passed meanwhile */
            p.burst = PARAM(b, send_turn_cycles);
        p.burst += o->cycles;
        p.free = accept + o->cycles;
        p.last = turn;
        when[at[turn]] = accept;
        o->free = accept + o->cycles;
        if (accept < settled) {
            gone |= 1u << at[turn];
            s->free = p.free, s->burst = p.burst, s->last = p.last;
            o->accept = accept;
            go(b, s, o);
        }
        at[turn] = next_of(s, turn, at[turn] + 1);
    }
    /* From the last: none lands on another's time. */
    for (unsigned k = s->n; k-- > 0;) {
        struct tm_send_op *o = &s->op[k];
        struct tm_queue *q = &o->in->vmem_queue;
        if (n[o->simd] < q->n) {
            unsigned entry = (q->first + q->n - ++n[o->simd]) % 64;
            q->free_at[entry] = o->free;
        }
        if (o->accept < when[k])
            put_off(o, when[k]);
    }
    for (unsigned k = 0; k < s->n; k++)
        if (!(gone >> k & 1u))
            s->op[kept++] = s->op[k];
    s->n = kept;
}

void tm_send_settle(const struct tm_base *b, struct tm_send *s, int64_t until)
{
    for (unsigned k = 0; k < s->n; k++)
        if (s->op[k].accept < until) {
            arrange(b, s, until);
            return;
        }
}

/* The slot of the chip that a wave's scratch is addressed by. */
static uint64_t place_of(const struct tm_wave *w)
{
    const struct tm_simd *s = w->simd;
    return (uint64_t)(s->index + 4u * (s->wgp + 8u * (s->sa + 2u * s->se))) * 32 +
           w->slot;
}

void tm_send(const struct tm_base *b, struct tm_send *s, struct tm_wave *w,
             const struct tm_inst *i, const struct emu_event *event, unsigned cycles)
{
    struct tm_fifo *f = &w->counter[i->returns ? TM_VM : TM_VS];
    int64_t ready = b->now + PARAM(b, lds_start);
    struct tm_request *request = take_request(s->sent);
    if (!request) {
        s->sent->lost = true;
        return;
    }
    if (s->n == TM_SENDS) /* more than the queues hold: keep to what was said */
        arrange(b, s, INT64_MAX);
    tm_vmem_request(b, s->mem, place_of(w), event, request, &s->sent->traffic);
    uint32_t number = fifo_add(f, ready + 1, i->returns ? TM_S_VM_PATH : TM_S_VSCNT, i);
    fifo_at(f, number)->open = true;
    w->open++;
    queue_add(&w->simd->vmem_queue, ready);
    s->op[s->n++] = (struct tm_send_op){.wave = w,
                                        .in = w->simd,
                                        .inst = i,
                                        .age = w->age,
                                        .ready = ready,
                                        .cycles = cycles,
                                        .simd = w->simd == &w->simd->cu->simd[1],
                                        .counted = number,
                                        .number = s->number,
                                        .request = request,
                                        .more = w->hints.clause_more,
                                        .list = w->list,
                                        .listed = tm_listed(w)};
    arrange(b, s, ready);
    int64_t accept = s->op[s->n - 1].accept;
    tm_operands_send(b, &w->simd->valu.operands, i, accept);
    w->mem.vmem_accept = accept;
    w->mem.sent = tm_max(w->mem.sent, accept + cycles);
}
