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

enum {
    HOST_LINE = 64,
    FEW = 8, /* accepted: they get their order one by one */
};

/* One of a SIMD's, by age. */
static struct tm_send_op *op_of(struct tm_sends *l, unsigned k)
{
    return &l->op[(l->first + k) % TM_SENDS];
}

/* Whose turn it is of two that wait, or wait next. */
static unsigned choose(const struct tm_base *b, const struct tm_path *p,
                       const struct tm_send_op *mine, const struct tm_send_op *other)
{
    int64_t here = tm_max(p->free, mine->ready), there = tm_max(p->free, other->ready);
    if (here != there)
        return here < there ? p->last : !p->last;
    return p->burst < PARAM(b, send_turn_cycles) || mine->more ? p->last : !p->last;
}

static bool alive(const struct tm_wave *w, uint64_t age)
{
    return w->age == age && !w->left;
}

/* By its number. */
static struct tm_counted *counted(const struct tm_wave *w, const struct tm_inst *i,
                                  uint32_t number)
{
    return fifo_at(&w->counter[i->returns ? TM_VM : TM_VS], number);
}

/* It is accepted later than was said: who waits for that hears of it. */
static void put_off(struct tm_send_op *o, int64_t accept)
{
    struct tm_wave *w = o->wave;
    int64_t old = o->accept;
    o->accept = accept;
    tm_list_accept(o->list, o->listed, accept);
    if (!alive(w, o->age))
        return;
    struct tm_counted *c = counted(w, o->inst, o->counted);
    if (c->open && c->from == o->inst)
        c->done = accept + 1; /* then it is known */
    if (w->mem.vmem_accept == old)
        w->mem.vmem_accept = accept;
    w->mem.sent = tm_max(w->mem.sent, accept + o->cycles);
    tm_put_off(w);
}

/* It is done then; who waits hears of it. */
static void close_count(struct tm_wave *w, const struct tm_inst *i, uint32_t number,
                        int64_t done, uint8_t kind)
{
    struct tm_counted *c = counted(w, i, number);
    if (!c->open || c->from != i)
        return;
    w->open--;
    c->open = false;
    c->done = done;
    c->kind = kind;
}

static void give_back(struct tm_sent *t, struct tm_request *r)
{
    r->next = t->idle;
    t->idle = r;
}

static bool grow(struct tm_sent *t)
{
    size_t room = t->room ? 2 * t->room : 256;
    struct tm_sent_op *bigger = aligned_alloc(HOST_LINE, room * sizeof *bigger);
    struct tm_sent_op **more = realloc(t->now, room * sizeof *more);
    t->now = more ? more : t->now;
    if (!bigger || !more) {
        free(bigger);
        t->lost = true;
        return false;
    }
    if (t->n)
        memcpy(bigger, t->op, t->n * sizeof *bigger);
    free(t->op);
    t->op = bigger;
    t->room = room;
    return true;
}

/* Where it belongs to its CU alone; false: not yet. */
static bool look_up(const struct tm_base *b, const struct tm_memory *m,
                    struct tm_sent_op *o)
{
    o->looked_up = tm_vmem_look_up(b, m, o->to, o->inst, o->request);
    o->to->to_look_up -= o->looked_up;
    return o->looked_up;
}

/* Accepted for good. A store without lanes goes nowhere. */
static void go(const struct tm_base *b, struct tm_send *s, const struct tm_send_op *o)
{
    struct tm_sent *t = s->sent;
    bool drops = o->inst->drops_l0 || o->inst->drops_gl1;
    if (!o->inst->returns && !o->request->lines && !drops) {
        if (alive(o->wave, o->age))
            close_count(o->wave, o->inst, o->counted, o->accept + PARAM(b, lds_start),
                        TM_S_VSCNT);
        give_back(t, o->request);
        return;
    }
    if (t->n == t->room && !grow(t))
        return;
    struct tm_sent_op *sent = &t->op[t->n++];
    *sent = (struct tm_sent_op){.accept = o->accept,
                                .age = o->age,
                                .wave = o->wave,
                                .inst = o->inst,
                                .request = o->request,
                                .to = s->to,
                                .counted = o->counted,
                                .number = (uint16_t)s->number};
    if (s->to->to_look_up++ == 0)
        (void)look_up(b, s->mem, sent);
}

/* ---- memory is asked ---- */

static bool is_before(const struct tm_sent_op *a, const struct tm_sent_op *b)
{
    return a->accept < b->accept || (a->accept == b->accept && a->number < b->number);
}

/* What is accepted in the same cycle, by CU: those of a CU are in order already. */
struct list {
    struct tm_sent_op *first, *last;
};

/* Put it in its place in a list: mostly the end. */
static void put(struct list *l, struct tm_sent_op *o)
{
    struct tm_sent_op **at = &l->first;
    if (l->first && o->number >= l->last->number)
        at = &l->last->next;
    while (*at && o->number >= (*at)->number)
        at = &(*at)->next;
    o->next = *at;
    *at = o;
    if (!o->next)
        l->last = o;
}

/* The first acceptance of all from a time on. */
static int64_t first_of(const struct tm_sent *t, int64_t from)
{
    int64_t first = INT64_MAX;
    for (size_t k = 0; k < t->n; k++)
        if (t->op[k].accept >= from)
            first = tm_min(first, t->op[k].accept);
    return first;
}

_Static_assert(offsetof(struct tm_request, half) == HOST_LINE,
               "what tm_vmem_ask looks at lies on one line");
_Static_assert(sizeof(struct tm_sent_op) == HOST_LINE, "and what is sent");

/* What of a request most have: a request begins with one of the host's lines. */
static void fetch(struct tm_request *r)
{
    __builtin_prefetch(r, 1);
    __builtin_prefetch(r->line, 1);
    __builtin_prefetch(r->found, 1);
}

/* Those from a time on get their order; until: so many cycles later as a window has at
 * most. */
static void order(struct tm_sent *t, int64_t from, int64_t until)
{
    struct list list[TM_WINDOW] = {{NULL, NULL}}; /* by cycle */
    for (size_t k = 0; k < t->n; k++)
        if (t->op[k].accept >= from && t->op[k].accept < until) {
            put(&list[t->op[k].accept - from], &t->op[k]);
            fetch(t->op[k].request);
        }
    for (unsigned c = 0; c < TM_WINDOW; c++)
        for (struct tm_sent_op *o = list[c].first; o; o = o->next)
            t->now[t->n_now++] = o;
}

/* The same of few, whatever the time from the first to the last: each is put behind
 * those that are not after it. */
static void order_few(struct tm_sent *t, int64_t until)
{
    for (size_t k = 0; k < t->n; k++) {
        size_t at = t->n_now;
        if (t->op[k].accept >= until)
            continue;
        for (; at > 0 && is_before(&t->op[k], t->now[at - 1]); at--)
            t->now[at] = t->now[at - 1];
        t->now[at] = &t->op[k];
        t->n_now++;
    }
}

/* On in the order of the array; false: up to one whose page has no place yet. */
static bool look_up_array(const struct tm_base *b, const struct tm_memory *m,
                          struct tm_sent *t)
{
    for (; t->looked_up < t->n_now; t->looked_up++) {
        struct tm_sent_op *o = t->now[t->looked_up];
        if (!o->looked_up && !look_up(b, m, o))
            return false;
        if (o->request->lines || o->inst->drops_gl1)
            tm_vmem_look_up_array(o->to, o->inst, o->request);
    }
    return true;
}

void tm_sent_look_up(const struct tm_base *b, const struct tm_memory *m,
                     struct tm_sent *t, int64_t until)
{
    t->until = until;
    t->n_now = t->looked_up = 0;
    if (t->n <= FEW)
        order_few(t, until);
    for (int64_t from = t->n > FEW ? first_of(t, INT64_MIN) : until, to; from < until;
         from = first_of(t, to)) {
        to = tm_min(until, from + TM_WINDOW);
        order(t, from, to);
    }
    (void)look_up_array(b, m, t);
}

/* Of lists in order, so many: where each is; whose was the last; what comes next. */
struct heads {
    struct tm_sent *const *sent;
    unsigned n, last;
    size_t at[TM_MAX_SES];
    uint64_t key[TM_MAX_SES]; /* is_before as a number */
};

static void find_key(struct heads *h, unsigned k)
{
    const struct tm_sent *t = h->sent[k];
    const struct tm_sent_op *o = h->at[k] < t->n_now ? t->now[h->at[k]] : NULL;
    h->key[k] = o ? (uint64_t)o->accept << 16 | o->number : UINT64_MAX;
}

static struct heads heads_of(struct tm_sent *const sent[], unsigned n)
{
    struct heads h = {.sent = sent, .n = n};
    for (unsigned k = 0; k < n; k++)
        find_key(&h, k);
    return h;
}

/* What comes next of all, which leaves its list; NULL: nothing. */
static const struct tm_sent_op *take_next(struct heads *h)
{
    unsigned first = 0;
    for (unsigned k = 1; k < h->n; k++)
        first = h->key[k] < h->key[first] ? k : first;
    if (h->key[first] == UINT64_MAX)
        return NULL;
    const struct tm_sent_op *o = h->sent[first]->now[h->at[first]++];
    h->last = first;
    find_key(h, first);
    return o;
}

/* Pages that nobody has used get their places, then the rest is looked up. */
static void place(const struct tm_base *b, struct tm_memory *m,
                  struct tm_sent *const sent[], unsigned n)
{
    struct heads heads = heads_of(sent, n);
    for (const struct tm_sent_op *o; (o = take_next(&heads));)
        if (!o->looked_up)
            tm_vmem_place(m, o->request);
    for (unsigned k = 0; k < n; k++)
        (void)look_up_array(b, m, sent[k]);
}

/* What comes next in a list, and after that, may have been written by another thread.
 */
static void fetch_next(const struct tm_memory *m, const struct tm_sent *t, size_t at)
{
    if (at + 3 < t->n_now)
        __builtin_prefetch(t->now[at + 3]);
    if (at + 2 < t->n_now)
        fetch(t->now[at + 2]->request);
    if (at + 1 < t->n_now && t->now[at + 1]->request->lines)
        tm_vmem_fetch(m, t->now[at + 1]->request);
    if (at < t->n_now && t->now[at]->request->lines)
        tm_vmem_fetch_far(m, t->now[at]->request);
}

void tm_sent_ask(const struct tm_base *b, struct tm_memory *m,
                 struct tm_sent *const sent[], unsigned n)
{
    struct heads heads = heads_of(sent, n);
    bool looked_up = true;
    for (unsigned k = 0; k < n; k++)
        looked_up &= sent[k]->looked_up == sent[k]->n_now;
    if (!looked_up)
        place(b, m, sent, n);
    for (const struct tm_sent_op *o; (o = take_next(&heads));) {
        fetch_next(m, sent[heads.last], heads.at[heads.last]);
        tm_vmem_ask(b, m, o->number, o->inst->returns ? o->age : 0, o->accept,
                    o->request);
    }
}

/* What telling it looks at was written elsewhere. */
static void fetch_wave(const struct tm_sent_op *o)
{
    __builtin_prefetch(o->wave);
    __builtin_prefetch(&o->wave->left);
    __builtin_prefetch(&o->wave->counter[o->inst->returns ? TM_VM : TM_VS]);
    __builtin_prefetch(&o->wave->counted[0]);
    __builtin_prefetch(&o->wave->counted[2]);
    __builtin_prefetch(o->request);
}

/* It is done; who has sent it hears of that. */
static void tell(const struct tm_base *b, const struct tm_sent_op *o)
{
    int64_t nobody = 0, *last = &nobody;
    struct tm_wave *w = o->wave;
    bool load = o->inst->returns, lives = alive(w, o->age);
    if (lives)
        last = load ? &w->mem.vm_last : &w->mem.vs_last;
    int64_t done = tm_vmem_return(b, o->to, o->inst, o->accept, o->request, last);
    if (lives)
        close_count(w, o->inst, o->counted, done,
                    load ? o->request->level : TM_S_VSCNT);
}

void tm_sent_return(const struct tm_base *b, struct tm_sent *t)
{
    size_t kept = 0;
    if (!t->n_now)
        return;
    for (size_t k = 0; k < t->n_now; k++) {
        if (k + 4 < t->n_now)
            fetch_wave(t->now[k + 4]);
        tell(b, t->now[k]);
        give_back(t, t->now[k]->request);
    }
    for (size_t k = 0; k < t->n; k++)
        if (t->op[k].accept >= t->until && kept++ != k)
            t->op[kept - 1] = t->op[k];
    t->n = kept;
    t->n_now = 0;
}

void tm_sent_free(struct tm_sent *t)
{
    while (t->made) {
        struct tm_request *r = t->made;
        t->made = r->next_made;
        free(r);
    }
    free(t->op);
    free(t->now);
}

/* One to fill; NULL: out of memory. */
static struct tm_request *take_request(struct tm_sent *t)
{
    struct tm_request *r = t->idle;
    if (r) {
        t->idle = r->next;
        return r;
    }
    size_t lines = (sizeof *r + HOST_LINE - 1) / HOST_LINE;
    r = aligned_alloc(HOST_LINE, lines * HOST_LINE);
    if (!r)
        return NULL;
    r->next_made = t->made;
    return t->made = r;
}

/* It waits for the path. Returns when that has it. */
static int64_t take_path(const struct tm_base *b, struct tm_path *p, unsigned turn,
                         struct tm_send_op *o)
{
    int64_t accept = tm_max(tm_max(p->free, o->ready), o->accept);
    if (turn != p->last)
        p->burst = 0;
    else if (accept > p->free) /* its turn has passed meanwhile */
        p->burst = PARAM(b, send_turn_cycles);
    p->burst += o->cycles;
    p->free = accept + o->cycles;
    p->last = turn;
    o->burst = p->burst;
    return accept;
}

/* The path once it has had it. */
static struct tm_path path_behind(const struct tm_send_op *o, unsigned simd)
{
    return (struct tm_path){o->accept + o->cycles, o->burst, simd};
}

/* Who waits hears of it, of a SIMD's from one on. */
static void tell_sends(struct tm_sends *l, unsigned from, const int64_t *accept)
{
    struct tm_queue *q = &op_of(l, 0)->in->vmem_queue;
    unsigned held = q->n;
    /* From the last: none lands on another's time. */
    for (unsigned k = l->n; k-- > from;) {
        struct tm_send_op *o = op_of(l, k);
        if (held > 0)
            q->free_at[(q->first + --held) % 64] = accept[k] + o->cycles;
        if (o->accept < accept[k])
            put_off(o, accept[k]);
    }
}

/* The newest of a SIMD finds its place behind the one before it. It may come before
 * some of the other SIMD's: those go later. All others stay as they are. */
static void arrange(const struct tm_base *b, struct tm_send *s, unsigned simd)
{
    struct tm_sends *own = &s->of[simd], *other = &s->of[!simd];
    struct tm_send_op *o = op_of(own, own->n - 1);
    const struct tm_send_op *before = own->n > 1 ? op_of(own, own->n - 2) : NULL;
    int64_t accept[TM_SENDS], after = before ? before->accept : INT64_MIN;
    unsigned from = other->n;
    while (from > 0 && op_of(other, from - 1)->accept > after)
        from--;
    if (from == other->n) {
        o->accept = take_path(b, &s->end, simd, o);
        return;
    }
    struct tm_path p = before ? path_behind(before, simd) : s->begin;
    for (; from < other->n; from++) {
        const struct tm_send_op *next = op_of(other, from);
        unsigned turn =
            p.last == simd ? choose(b, &p, o, next) : choose(b, &p, next, o);
        if (turn == simd)
            break;
        p = path_behind(next, !simd);
    }
    o->accept = take_path(b, &p, simd, o);
    for (unsigned k = from; k < other->n; k++)
        accept[k] = take_path(b, &p, !simd, op_of(other, k));
    s->end = p;
    if (from < other->n)
        tell_sends(other, from, accept);
}

/* The next one that is accepted before a time. Returns its SIMD, 2: none. */
static unsigned next_to_go(struct tm_send *s, int64_t until)
{
    unsigned next = 2;
    for (unsigned k = 0; k < 2; k++)
        if (s->of[k].n && op_of(&s->of[k], 0)->accept < until) {
            until = op_of(&s->of[k], 0)->accept;
            next = k;
        }
    return next;
}

void tm_send_go(const struct tm_base *b, struct tm_send *s, int64_t until)
{
    for (unsigned k; (k = next_to_go(s, until)) < 2; s->n--) {
        struct tm_send_op *o = op_of(&s->of[k], 0);
        s->begin = path_behind(o, k);
        s->of[k].first++;
        s->of[k].n--;
        go(b, s, o);
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
    /* What goes before it is there stays so; more than the queues hold: keep to what
     * was said. */
    tm_send_settle(b, s, s->n == TM_SENDS ? INT64_MAX : ready);
    tm_vmem_request(b, s->mem, place_of(w), event, request, &s->sent->traffic);
    unsigned simd = w->simd == &w->simd->cu->simd[1];
    struct tm_sends *l = &s->of[simd];
    struct tm_send_op *o = op_of(l, l->n++);
    s->n++;
    *o = (struct tm_send_op){.wave = w,
                             .in = w->simd,
                             .inst = i,
                             .age = w->age,
                             .ready = ready,
                             .cycles = cycles,
                             .request = request,
                             .more = w->hints.clause_more,
                             .list = w->list,
                             .listed = tm_listed(w)};
    arrange(b, s, simd);
    o->counted = /* it is known when it is accepted */
        fifo_add(f, o->accept + 1, i->returns ? TM_S_VM_PATH : TM_S_VSCNT, i);
    fifo_at(f, o->counted)->open = true;
    w->open++;
    queue_add(&w->simd->vmem_queue, o->accept + cycles);
    tm_operands_send(b, &w->simd->valu.operands, i, o->accept);
    w->mem.vmem_accept = o->accept;
    w->mem.sent = tm_max(w->mem.sent, o->accept + cycles);
}
