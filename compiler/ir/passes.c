/* passes.c: programs made better: loops written out, indexes simplified, barriers.
 *
 * A pass runs over a program in order and writes another. Pure values pass through a
 * graph (rules.c simplifies, equal ones become one) and are written where they are
 * first needed in a loop; what reads or writes memory keeps its place and order.
 * SPDX-License-Identifier: MIT
 */
#include "prog.h"

#include <stdlib.h>
#include <string.h>

#define MAX_UNROLLED 200000u
#define MAX_SMALL    1200u /* operations of a loop that is written out unasked */

struct pass {
    const struct cc_prog *in;
    struct cc_prog *out;
    struct cc_graph *g;
    cc_ref *value;       /* what an operation of in is now */
    struct cc_map place; /* node -> &index in out */
    cc_ref *made;        /* nodes placed, for leaving a loop */
    uint32_t n_made, cap_made;
    uint32_t opaque; /* values that are no graph operation, so far */
    bool unroll;
    uint8_t *needed; /* operations of in that an effect needs */
};

static rd_status run(struct pass *s, uint32_t from, uint32_t to);

static rd_status status(const struct pass *s)
{
    return s->out->status != RD_OK ? s->out->status : s->g->status;
}

static void set_place(struct pass *s, cc_ref n, uint32_t index)
{
    uint32_t *p = cc_arena_copy(&s->g->arena, &index, sizeof index);
    if (!cc_room(&s->made, &s->cap_made, s->n_made + 1, sizeof *s->made)) {
        cc_fail(s->g, RD_E_NOMEM, "out of memory");
        return;
    }
    s->made[s->n_made++] = n;
    if (!p || cc_map_set(&s->place, n, p) != RD_OK)
        cc_fail(s->g, RD_E_NOMEM, "out of memory");
}

/* Forget what was computed since mark: its loop or IF is over. */
static void forget(struct pass *s, uint32_t mark)
{
    while (s->n_made > mark)
        if (cc_map_set(&s->place, s->made[--s->n_made], NULL) != RD_OK)
            return;
}

/* The operation that computes a node, written now if need be. */
static uint32_t put(struct pass *s, cc_ref n)
{
    const uint32_t *p = cc_map_get(&s->place, n);
    uint32_t src[4] = {0};
    if (p || status(s) != RD_OK || n->n_src > 4)
        return p ? *p : 0;
    for (uint32_t i = 0; i < n->n_src; i++)
        src[i] = put(s, n->src[i]);
    uint32_t at =
        cc_prog_add(s->out, n->op, n->dtype, n->n_src, src, n->n_arg, n->arg, n->name);
    set_place(s, n, at);
    return at;
}

/* A value that only memory or the wave knows. */
static cc_ref opaque(struct pass *s, const struct cc_inst *n, uint32_t at)
{
    int64_t arg[3] = {CC_SPACE_REG, s->opaque++, 8};
    cc_ref leaf =
        cc_uop(s->g, CC_BUFFER, n->dtype, 0, NULL, n->op == CC_WMMA ? 3 : 2, arg, NULL);
    set_place(s, leaf, at);
    return leaf;
}

static void copy(struct pass *s, uint32_t i)
{
    const struct cc_inst *n = &s->in->insts[i];
    uint32_t src[40] = {0};
    uint32_t n_src = n->n_src;
    uint32_t gate = n->op == CC_LOAD ? 2 : n->op == CC_STORE ? 3 : 40;
    if (n_src > gate && cc_is_const(s->value[n->src[gate]])) {
        bool open = s->value[n->src[gate]]->arg[0] != 0;
        if (!open) {
            s->value[i] =
                n->op == CC_LOAD ? cc_const_int(s->g, n->dtype, 0) : s->value[i];
            return;
        }
        n_src = gate;
    }
    for (uint32_t j = 0; j < n_src && j < 40; j++)
        src[j] = put(s, s->value[n->src[j]]);
    uint32_t at =
        cc_prog_add(s->out, n->op, n->dtype, n_src, src, n->n_arg, n->arg, n->name);
    if (n->dtype != CC_DT_VOID || n->op == CC_IF)
        s->value[i] = opaque(s, n, at);
}

/* Does the loop index registers? Those have no addresses. */
static bool indexes_registers(const struct cc_prog *p, uint32_t at, uint32_t end)
{
    bool *depends = calloc(end + 1ull, sizeof *depends);
    bool found = false;
    if (!depends)
        return false;
    depends[at] = true;
    for (uint32_t i = at + 1; i < end; i++) {
        const struct cc_inst *n = &p->insts[i];
        for (uint32_t j = 0; j < n->n_src && cc_is_alu(n->op); j++)
            depends[i] = depends[i] || depends[n->src[j]];
        bool memory = n->op == CC_LOAD || n->op == CC_STORE;
        found =
            found || (memory && p->insts[n->src[0]].op == CC_BUFFER &&
                      p->insts[n->src[0]].arg[0] == CC_SPACE_REG && depends[n->src[1]]);
    }
    free(depends);
    return found;
}

/* Operations of a body once it is written out, indexes apart; inner loops too if they
 * will be. */
static uint64_t weight(const struct pass *s, uint32_t from, uint32_t to)
{
    uint64_t sum = 0;
    for (uint32_t i = from; i < to && sum < 2 * MAX_SMALL; i++) {
        const struct cc_inst *n = &s->in->insts[i];
        if (n->op != CC_RANGE) {
            bool index = cc_is_alu(n->op) && !cc_is_float(n->dtype);
            sum += s->needed[i] && n->op != CC_CONST && !index;
            continue;
        }
        uint32_t end = cc_prog_closing(s->in, i);
        const struct cc_inst *last = &s->in->insts[n->src[n->n_src - 1]];
        bool out = n->arg[1] >= CC_AXIS_UNROLL || indexes_registers(s->in, i, end);
        uint64_t times =
            out && last->op == CC_CONST && n->n_src == 1 && last->arg[0] > 0
                ? (uint64_t)last->arg[0]
                : 1;
        sum += times * weight(s, i + 1, end);
        i = end;
    }
    return sum;
}

/* Short enough that a loop would cost more than it saves? */
static bool is_small(const struct pass *s, uint32_t at, uint32_t end, int64_t count)
{
    return count > 0 && count <= 8 &&
           (uint64_t)count * weight(s, at + 1, end) <= MAX_SMALL;
}

static rd_status run_loop(struct pass *s, uint32_t at, uint32_t end)
{
    const struct cc_inst *n = &s->in->insts[at];
    cc_ref first =
        n->n_src == 2 ? s->value[n->src[0]] : cc_const_int(s->g, n->dtype, 0);
    cc_ref last = s->value[n->src[n->n_src - 1]];
    bool known = cc_is_const(first) && cc_is_const(last);
    int64_t count = known ? last->arg[0] - first->arg[0] : -1;
    bool write_out = count == 1 || (known && count <= 0);
    if (s->unroll && known && count < MAX_UNROLLED)
        write_out = write_out || n->arg[1] >= CC_AXIS_UNROLL ||
                    indexes_registers(s->in, at, end) || is_small(s, at, end, count);
    if (write_out) {
        rd_status st = RD_OK;
        for (int64_t i = 0; i < count && st == RD_OK; i++) {
            s->value[at] = cc_const_int(s->g, n->dtype, first->arg[0] + i);
            st = run(s, at + 1, end);
        }
        return st;
    }
    uint32_t src[2] = {0};
    for (uint32_t j = 0; j < n->n_src; j++)
        src[j] = put(s, s->value[n->src[j]]);
    /* a graph's own RANGE, so that its bounds are known to the rules */
    cc_ref bounds[2] = {first, last};
    int64_t arg[2] = {s->opaque++, n->arg[1]};
    s->value[at] = cc_uop(s->g, CC_RANGE, n->dtype, 2, bounds, 2, arg, NULL);
    uint32_t out =
        cc_prog_add(s->out, CC_RANGE, n->dtype, n->n_src, src, n->n_arg, n->arg, NULL);
    uint32_t mark = s->n_made;
    set_place(s, s->value[at], out);
    rd_status st = run(s, at + 1, end);
    forget(s, mark);
    cc_prog_add(s->out, CC_END, CC_DT_VOID, 1, &out, 0, NULL, NULL);
    return st;
}

static rd_status run_if(struct pass *s, uint32_t at, uint32_t end)
{
    uint32_t mark, src = put(s, s->value[s->in->insts[at].src[0]]);
    uint32_t out = cc_prog_add(s->out, CC_IF, CC_DT_VOID, 1, &src, 0, NULL, NULL);
    mark = s->n_made;
    rd_status st = run(s, at + 1, end);
    forget(s, mark);
    cc_prog_add(s->out, CC_ENDIF, CC_DT_VOID, 1, &out, 0, NULL, NULL);
    return st;
}

static void alu(struct pass *s, uint32_t i)
{
    const struct cc_inst *n = &s->in->insts[i];
    cc_ref src[4] = {NULL};
    for (uint32_t j = 0; j < n->n_src && j < 4; j++)
        src[j] = s->value[n->src[j]];
    s->value[i] = cc_simplify_node(
        s->g, cc_uop(s->g, n->op, n->dtype, n->n_src, src, n->n_arg, n->arg, n->name));
}

static void define(struct pass *s, uint32_t i)
{
    const struct cc_inst *n = &s->in->insts[i];
    s->value[i] = cc_uop(s->g, n->op, n->dtype, 0, NULL, n->n_arg, n->arg, n->name);
}

/* Memory comes first: it lives as long as the kernel, and PARAMs are its signature. */
static void define_memory(struct pass *s)
{
    for (uint32_t i = 0; i < s->in->count; i++)
        if (s->needed[i] &&
            (s->in->insts[i].op == CC_PARAM || s->in->insts[i].op == CC_BUFFER)) {
            define(s, i);
            put(s, s->value[i]);
        }
}

static rd_status run(struct pass *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && status(s) == RD_OK; i++) {
        const struct cc_inst *n = &s->in->insts[i];
        if (!s->needed[i])
            continue;
        if (s->out->count > 4 * MAX_UNROLLED)
            return RD_E_RANGE;
        if (n->op == CC_RANGE || n->op == CC_IF) {
            uint32_t end = cc_prog_closing(s->in, i);
            rd_status st = n->op == CC_IF ? run_if(s, i, end) : run_loop(s, i, end);
            if (st != RD_OK)
                return st;
            i = end;
        } else if (cc_is_alu(n->op)) {
            alu(s, i);
        } else if (n->op == CC_CONST || n->op == CC_SPECIAL) {
            define(s, i);
        } else if (n->op != CC_PARAM && n->op != CC_BUFFER) {
            copy(s, i);
        }
    }
    return status(s);
}

/* Mark what stores and barriers need; loops without effect go. */
static void mark_needed(struct pass *s)
{
    const struct cc_prog *p = s->in;
    for (uint32_t i = p->count; i-- > 0;) {
        const struct cc_inst *n = &p->insts[i];
        if (n->op == CC_STORE || n->op == CC_BARRIER || n->op == CC_PARAM ||
            n->op == CC_END || n->op == CC_ENDIF)
            s->needed[i] = 1;
        for (uint32_t j = 0; j < n->n_src && s->needed[i]; j++)
            s->needed[n->src[j]] = 1;
    }
}

static rd_status transform(const struct cc_prog *in, bool unroll, struct cc_prog **out)
{
    struct pass s = {.in = in, .unroll = unroll, .opaque = 1u << 30};
    if (in->status != RD_OK || in->n_open)
        return RD_E_INVALID;
    s.value = calloc(in->count + 1ull, sizeof *s.value);
    s.needed = calloc(in->count + 1ull, 1);
    rd_status st = s.value && s.needed ? cc_graph_create(&s.g) : RD_E_NOMEM;
    if (st == RD_OK)
        st = cc_prog_create(in->name, &s.out);
    if (st == RD_OK) {
        mark_needed(&s);
        define_memory(&s);
        st = run(&s, 0, in->count);
    }
    free(s.value);
    free(s.needed);
    free(s.made);
    cc_map_free(&s.place);
    cc_graph_destroy(s.g);
    if (st != RD_OK)
        cc_prog_destroy(s.out);
    else
        *out = s.out;
    return st;
}

rd_status cc_prog_clean(const struct cc_prog *p, struct cc_prog **out)
{
    return transform(p, false, out);
}

rd_status cc_prog_unroll(const struct cc_prog *p, struct cc_prog **out)
{
    return transform(p, true, out);
}

/* ---- barriers ---- */

/* Which LDS buffers, bit by bit; the 64th stands for all further ones. */
struct touched {
    uint64_t read, written;
};

struct barriers {
    const struct cc_prog *in;
    struct cc_prog *out;
    uint32_t *place;
    struct touched hot; /* since the last barrier */
};

static uint64_t bit_of(const struct cc_prog *p, uint32_t memory)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < memory && n < 63; i++)
        n += p->insts[i].op == CC_BUFFER && p->insts[i].arg[0] == CC_SPACE_LOCAL;
    return UINT64_C(1) << n;
}

static struct touched lds_use(const struct cc_prog *p, uint32_t i)
{
    const struct cc_inst *n = &p->insts[i];
    struct touched t = {0, 0};
    if ((n->op != CC_LOAD && n->op != CC_STORE) ||
        p->insts[n->src[0]].op != CC_BUFFER ||
        p->insts[n->src[0]].arg[0] != CC_SPACE_LOCAL)
        return t;
    *(n->op == CC_LOAD ? &t.read : &t.written) = bit_of(p, n->src[0]);
    return t;
}

static void add_use(struct touched *t, struct touched more)
{
    t->read |= more.read;
    t->written |= more.written;
}

/* What of LDS a loop does before its first barrier. */
static struct touched first_use(const struct cc_prog *p, uint32_t from, uint32_t to)
{
    struct touched use = {0, 0};
    for (uint32_t i = from; i < to && p->insts[i].op != CC_BARRIER; i++)
        add_use(&use, lds_use(p, i));
    return use;
}

static bool conflict(struct touched before, struct touched now)
{
    return (before.written & now.read) || (before.read & now.written);
}

static void barrier(struct barriers *b)
{
    cc_prog_add(b->out, CC_BARRIER, CC_DT_VOID, 0, NULL, 0, NULL, NULL);
    b->hot = (struct touched){0, 0};
}

static void barrier_step(struct barriers *b, uint32_t i)
{
    const struct cc_inst *n = &b->in->insts[i];
    struct touched use = lds_use(b->in, i);
    uint32_t src[40] = {0};
    if (conflict(b->hot, use))
        barrier(b);
    /* once before a loop rather than in every pass */
    if (n->op == CC_RANGE &&
        conflict(b->hot, first_use(b->in, i + 1, cc_prog_closing(b->in, i))))
        barrier(b);
    if (n->op == CC_BARRIER)
        b->hot = (struct touched){0, 0};
    add_use(&b->hot, use);
    /* the next pass through a loop meets what this one left */
    if (n->op == CC_END && conflict(b->hot, first_use(b->in, n->src[0] + 1, i)))
        barrier(b);
    for (uint32_t j = 0; j < n->n_src && j < 40; j++)
        src[j] = b->place[n->src[j]];
    b->place[i] =
        cc_prog_add(b->out, n->op, n->dtype, n->n_src, src, n->n_arg, n->arg, n->name);
}

rd_status cc_prog_barriers(const struct cc_prog *p, struct cc_prog **out)
{
    struct barriers b = {.in = p};
    b.place = calloc(p->count + 1ull, sizeof *b.place);
    rd_status st = b.place ? cc_prog_create(p->name, &b.out) : RD_E_NOMEM;
    if (st == RD_OK) {
        for (uint32_t i = 0; i < p->count; i++)
            barrier_step(&b, i);
        st = b.out->status;
        if (st == RD_OK)
            *out = b.out;
        else
            cc_prog_destroy(b.out);
    }
    free(b.place);
    return st;
}
