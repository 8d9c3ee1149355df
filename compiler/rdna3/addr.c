/* addr.c: addresses: sums of terms, computed as far out as they can be.
 *
 * The bytes that a LOAD or STORE goes to are a constant and a sum of multiples of
 * operations' results. A term belongs to the loop that its operation belongs to; sums
 * are built from the outside in, each part where its loop begins, and are shared. A
 * multiple of a loop's counter becomes a register that the loop adds to. What of the
 * constant does not fit into the instruction is added to the base, once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BASES 28 /* pairs of SGPRs for bases beyond the arguments */

/* ---- taking indexes apart ---- */

static bool constant_of(const struct cc_uop *n, int64_t *c)
{
    *c = n->op == CC_CONST ? n->arg[0] : 0;
    return n->op == CC_CONST;
}

static bool add_term(struct rdna3_place *p, uint32_t node, int64_t by)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->term[i].node == node) {
            p->term[i].by += by;
            return true;
        }
    if (p->n == RDNA3_TERMS)
        return false;
    p->term[p->n++] = (struct rdna3_term){node, by};
    return true;
}

static bool take_apart(const struct rdna3 *r, const struct cc_uop *n, int64_t by,
                       struct rdna3_place *p)
{
    int64_t c;
    switch (n->op) {
    case CC_CONST:
        p->offset += n->arg[0] * by;
        return true;
    case CC_ADD:
        return take_apart(r, n->src[0], by, p) && take_apart(r, n->src[1], by, p);
    case CC_SUB:
        return take_apart(r, n->src[0], by, p) && take_apart(r, n->src[1], -by, p);
    case CC_MUL:
        if (constant_of(n->src[1], &c) && c > -(1 << 24) && c < 1 << 24)
            return take_apart(r, n->src[0], by * c, p);
        break;
    case CC_SHL:
        if (constant_of(n->src[1], &c) && c >= 0 && c < 24)
            return take_apart(r, n->src[0], by << c, p);
        break;
    default:
        break;
    }
    return add_term(p, r->same[n->id], by);
}

/* The least that the terms can add up to. */
static int64_t least(const struct cc_prog *prog, const struct rdna3_place *p)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct cc_uop *n = prog->nodes[p->term[i].node];
        int64_t v = p->term[i].by > 0 ? n->vmin : n->vmax;
        if (v < -(INT64_C(1) << 33) || v > INT64_C(1) << 33)
            return INT64_MIN;
        sum += v * p->term[i].by;
    }
    return sum;
}

/* Terms in one order, so that equal sums look equal; those that nothing is added to
 * go. */
static void put_in_order(struct rdna3_place *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->term[i].by)
            p->term[n++] = p->term[i];
    p->n = n;
    for (uint32_t i = 1; i < n; i++) {
        struct rdna3_term t = p->term[i];
        uint32_t j = i;
        for (; j > 0 && p->term[j - 1].node > t.node; j--)
            p->term[j] = p->term[j - 1];
        p->term[j] = t;
    }
}

void rdna3_find_places(struct rdna3 *r)
{
    for (uint32_t i = 0; i < r->p->count; i++) {
        const struct cc_inst *n = &r->p->insts[i];
        struct rdna3_place *p = &r->place[i];
        if (n->op != CC_LOAD && n->op != CC_STORE)
            continue;
        const struct cc_uop *index = r->p->nodes[n->src[1]];
        int64_t bytes = cc_dtype_bytes(r->p->insts[n->src[0]].dtype);
        p->memory = n->src[0];
        p->gate = n->n_src > (n->op == CC_LOAD ? 2u : 3u);
        if (!take_apart(r, index, bytes, p)) {
            p->n = 0;
            p->offset = 0;
            add_term(p, r->same[index->id], bytes);
        }
        put_in_order(p);
        int64_t low = least(r->p, p);
        /* sums are 32 bits without sign: a constant may not lift them from below 0 */
        p->whole = low < 0;
    }
}

bool rdna3_same_terms(const struct rdna3_place *a, const struct rdna3_place *b)
{
    return a->memory == b->memory && a->n == b->n &&
           memcmp(a->term, b->term, a->n * sizeof a->term[0]) == 0;
}

/* The largest power of two, up to 64, that is known to divide a value. */
static int64_t divisor(const struct cc_uop *n, unsigned depth)
{
    int64_t a, b;
    if (depth == 0)
        return 1;
    switch (n->op) {
    case CC_CONST:
        a = n->arg[0] & -n->arg[0];
        return a == 0 || a > 64 ? 64 : a;
    case CC_ADD:
    case CC_SUB:
        a = divisor(n->src[0], depth - 1);
        b = divisor(n->src[1], depth - 1);
        return a < b ? a : b;
    case CC_MUL:
        a = divisor(n->src[0], depth - 1) * divisor(n->src[1], depth - 1);
        return a < 64 ? a : 64;
    default:
        return 1;
    }
}

int64_t rdna3_alignment(const struct rdna3 *r, const struct rdna3_place *p)
{
    int64_t least_bit = 64, c = p->offset & -p->offset;
    if (c && c < least_bit)
        least_bit = c;
    for (uint32_t i = 0; i < p->n; i++) {
        int64_t by = p->term[i].by & -p->term[i].by;
        by *= divisor(r->p->nodes[p->term[i].node], 6);
        least_bit = by < least_bit ? by : least_bit;
    }
    return least_bit;
}

/* ---- sums in registers ---- */

/* A sum that is in a register already. */
struct rdna3_sum {
    struct rdna3_sum *next;
    bool vector;
    uint32_t n;
    struct rdna3_term term[RDNA3_TERMS];
    struct mi_opnd value;
    uint32_t scope, if_depth;
};

/* An address that is in SGPRs already. */
struct rdna3_base {
    struct rdna3_base *next;
    uint32_t memory;
    int64_t offset;
    struct mi_opnd value;
    uint32_t scope, if_depth;
};

/* Where code for a loop goes now, how many IFs are around that place. */
static uint32_t ifs_at(const struct rdna3 *r, uint32_t scope)
{
    uint32_t c = r->scope;
    if (scope == c)
        return r->if_depth;
    while (r->scopes[c].parent != scope)
        c = r->scopes[c].parent;
    return r->scopes[c].if_depth;
}

void rdna3_forget_sums(struct rdna3 *r, uint32_t scope, uint32_t if_depth)
{
    struct rdna3_sum **s = &r->sums;
    while (*s)
        if ((*s)->scope == scope && (*s)->if_depth > if_depth)
            *s = (*s)->next;
        else
            s = &(*s)->next;
    struct rdna3_base **b = &r->bases;
    while (*b)
        if ((*b)->scope == scope && (*b)->if_depth > if_depth)
            *b = (*b)->next;
        else
            b = &(*b)->next;
}

void rdna3_close_sums(struct rdna3 *r, uint32_t scope)
{
    struct rdna3_sum **s = &r->sums;
    while (*s)
        if ((*s)->scope == scope)
            *s = (*s)->next;
        else
            s = &(*s)->next;
}

static struct mi_opnd find_sum(const struct rdna3 *r, bool vector,
                               const struct rdna3_term *t, uint32_t n)
{
    for (const struct rdna3_sum *s = r->sums; s; s = s->next)
        if (s->vector == vector && s->n == n && memcmp(s->term, t, n * sizeof *t) == 0)
            return s->value;
    return (struct mi_opnd){0};
}

static void keep_sum(struct rdna3 *r, bool vector, const struct rdna3_term *t,
                     uint32_t n, struct mi_opnd value, uint32_t scope)
{
    struct rdna3_sum *s = cc_arena_alloc(&r->arena, sizeof *s);
    if (!s) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    *s = (struct rdna3_sum){.next = r->sums,
                            .vector = vector,
                            .n = n,
                            .value = value,
                            .scope = scope,
                            .if_depth = ifs_at(r, scope)};
    memcpy(s->term, t, n * sizeof *t);
    r->sums = s;
}

static struct mi_opnd scalar2(struct rdna3 *r, const char *text, struct mi_opnd a,
                              struct mi_opnd b)
{
    struct mi_opnd all[3] = {mi_reg(r, rdna3_reg(r, false, 1)), a, b};
    rdna3_mi(r, text, 1, 3, all);
    return all[0];
}

static struct mi_opnd vector3(struct rdna3 *r, const char *text, unsigned n,
                              struct mi_opnd a, struct mi_opnd b, struct mi_opnd c)
{
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1)), s[3] = {a, b, c};
    rdna3_op(r, text, d, n, s);
    return d;
}

static bool is_power(int64_t v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

/* sum + x * by in SGPRs. */
static struct mi_opnd scalar_plus(struct rdna3 *r, struct mi_opnd sum, struct mi_opnd x,
                                  int64_t by)
{
    x = mi_part(x, 0);
    if (is_power(by) && by > 1)
        x = scalar2(r, "s_lshl_b32 %0, %1, %2", x,
                    mi_imm(__builtin_ctzll((uint64_t)by)));
    else if (by != 1)
        x = scalar2(r, "s_mul_i32 %0, %1, %2", x, mi_imm((int32_t)by));
    return sum.kind == MI_NONE ? x : scalar2(r, "s_add_i32 %0, %1, %2", sum, x);
}

/* A term in an SGPR, where its operation's value is. */
static struct mi_opnd scalar_term(struct rdna3 *r, const struct rdna3_term *t)
{
    struct mi_opnd none = {0}, have = find_sum(r, false, t, 1);
    uint32_t scope = r->home[t->node];
    if (have.kind != MI_NONE)
        return have;
    uint32_t before = rdna3_enter(r, scope);
    have = scalar_plus(r, none, r->value[t->node], t->by);
    rdna3_leave(r, scope, before);
    keep_sum(r, false, t, 1, have, scope);
    return have;
}

/* The same in a VGPR; x may be in either. */
static struct mi_opnd vector_plus(struct rdna3 *r, struct mi_opnd sum, struct mi_opnd x,
                                  int64_t by, const struct cc_uop *node)
{
    bool small = node->vmin >= 0 && node->vmax < 1 << 24 && by > 0 && by < 1 << 24;
    struct mi_opnd none = {0}, shift = mi_imm(__builtin_ctzll((uint64_t)by | 1u << 31));
    x = mi_part(x, 0);
    if (!mi_is_vector(r, x)) {
        x = scalar_plus(r, none, x, by);
        by = 1;
    }
    if (by == 1)
        return sum.kind == MI_NONE
                   ? rdna3_to_vector(r, x, 1)
                   : vector3(r, "v_add_nc_u32 %0, %1, %2", 2, x, sum, none);
    if (is_power(by))
        return sum.kind == MI_NONE
                   ? vector3(r, "v_lshlrev_b32 %0, %1, %2", 2, shift, x, none)
                   : vector3(r, "v_lshl_add_u32 %0, %1, %2, %3", 3, x, shift, sum);
    if (small)
        return sum.kind == MI_NONE
                   ? vector3(r, "v_mul_u32_u24 %0, %1, %2", 2, mi_imm(by), x, none)
                   : vector3(r, "v_mad_u32_u24 %0, %1, %2, %3", 3, x, mi_imm(by), sum);
    x = vector3(r, "v_mul_lo_u32 %0, %1, %2", 2, x, mi_imm((int32_t)by), none);
    return sum.kind == MI_NONE ? x
                               : vector3(r, "v_add_nc_u32 %0, %1, %2", 2, x, sum, none);
}

/* A register that follows a loop's counter: sum + counter * by. */
static struct mi_opnd stepped(struct rdna3 *r, bool vector, struct mi_opnd sum,
                              const struct rdna3_term *t, uint32_t scope)
{
    const struct cc_inst *range = &r->p->insts[t->node];
    uint32_t parent = r->scopes[scope].parent;
    struct mi_opnd from = range->n_src == 2 ? r->value[range->src[0]] : mi_imm(0);
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, vector, 1));
    struct rdna3_step *s = cc_arena_alloc(&r->arena, sizeof *s);
    if (!s) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return d;
    }
    uint32_t before = rdna3_enter(r, parent);
    if (from.kind != MI_IMM || from.imm != 0)
        sum = vector ? vector_plus(r, sum, from, t->by, r->p->nodes[range->src[0]])
                     : scalar_plus(r, sum, from, t->by);
    struct mi_opnd copy[2] = {d, sum.kind == MI_NONE ? mi_imm(0) : sum};
    rdna3_mi(r, vector ? "v_mov_b32 %0, %1" : "s_mov_b32 %0, %1", 1, 2, copy);
    rdna3_leave(r, parent, before);
    *s = (struct rdna3_step){r->scopes[scope].steps, d, t->by};
    r->scopes[scope].steps = s;
    return d;
}

void rdna3_emit_steps(struct rdna3 *r, uint32_t scope)
{
    for (const struct rdna3_step *s = r->scopes[scope].steps; s; s = s->next) {
        struct mi_opnd v[3] = {s->reg, mi_imm((int32_t)s->by), s->reg};
        bool vector = mi_is_vector(r, s->reg);
        rdna3_mi(r, vector ? "v_add_nc_u32 %0, %1, %2" : "s_add_i32 %0, %2, %1", 1, 3,
                 v);
    }
}

/* The loop of a term's operation; counters of loops come last in theirs. */
static uint32_t rank(const struct rdna3 *r, const struct rdna3_term *t)
{
    bool vector = mi_is_vector(r, r->value[t->node]);
    bool counter = r->p->insts[t->node].op == CC_RANGE;
    return 4 * r->scopes[r->home[t->node]].depth + (counter ? 2u : vector ? 0 : 1u);
}

struct mi_opnd rdna3_sum(struct rdna3 *r, const struct rdna3_place *p, bool vector)
{
    struct rdna3_term t[RDNA3_TERMS];
    struct mi_opnd sum = {0};
    uint32_t scope = 0;
    memcpy(t, p->term, sizeof t);
    for (uint32_t i = 1; i < p->n; i++) { /* outer loops first */
        struct rdna3_term x = t[i];
        uint32_t j = i;
        for (; j > 0 && rank(r, &t[j - 1]) > rank(r, &x); j--)
            t[j] = t[j - 1];
        t[j] = x;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        struct mi_opnd have = find_sum(r, vector, t, i + 1);
        scope = rdna3_inner(r, scope, r->home[t[i].node]);
        if (have.kind == MI_NONE) {
            if (r->p->insts[t[i].node].op == CC_RANGE && r->home[t[i].node] == scope) {
                have = stepped(r, vector, sum, &t[i], scope);
            } else {
                struct mi_opnd x = r->value[t[i].node];
                int64_t by = t[i].by;
                if (vector && x.kind == MI_REG && !mi_is_vector(r, x) &&
                    r->p->insts[t[i].node].op != CC_RANGE) {
                    x = scalar_term(r, &t[i]);
                    by = 1;
                }
                uint32_t before = rdna3_enter(r, scope);
                have = vector ? vector_plus(r, sum, x, by, r->p->nodes[t[i].node])
                              : scalar_plus(r, sum, x, by);
                rdna3_leave(r, scope, before);
            }
            keep_sum(r, vector, t, i + 1, have, scope);
        }
        sum = have;
    }
    return sum;
}

/* ---- whole addresses ---- */

bool rdna3_is_uniform(const struct rdna3 *r, const struct rdna3_place *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (mi_is_vector(r, r->value[p->term[i].node]) ||
            (r->value[p->term[i].node].kind == MI_REG &&
             r->regs[r->value[p->term[i].node].reg].mask))
            return false;
    return true;
}

/* Zero in a VGPR. */
static struct mi_opnd no_sum(struct rdna3 *r)
{
    static const struct rdna3_term nothing;
    struct mi_opnd have = find_sum(r, true, &nothing, 0);
    if (have.kind != MI_NONE)
        return have;
    uint32_t before = rdna3_enter(r, 0);
    have = rdna3_to_vector(r, mi_imm(0), 1);
    rdna3_leave(r, 0, before);
    keep_sum(r, true, &nothing, 0, have, 0);
    return have;
}

/* The argument's address plus a constant; NONE if there are too many. */
static struct mi_opnd base_plus(struct rdna3 *r, uint32_t memory, int64_t offset)
{
    unsigned n = 0;
    if (offset == 0)
        return r->param[memory];
    for (const struct rdna3_base *b = r->bases; b; b = b->next) {
        if (b->memory == memory && b->offset == offset)
            return b->value;
        n++;
    }
    struct rdna3_base *b = cc_arena_alloc(&r->arena, sizeof *b);
    if (n == (r->thrifty ? 4 : MAX_BASES) || !b)
        return (struct mi_opnd){0};
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, false, 2)), p = r->param[memory];
    struct mi_opnd lo[3] = {mi_part(d, 0), mi_part(p, 0), mi_imm((int32_t)offset)};
    struct mi_opnd hi[3] = {mi_part(d, 1), mi_part(p, 1), mi_imm(offset >> 32)};
    uint32_t before = rdna3_enter(r, 0);
    rdna3_mi(r, "s_add_u32 %0, %1, %2", 1, 3, lo);
    rdna3_mi(r, "s_addc_u32 %0, %1, %2", 1, 3, hi);
    rdna3_leave(r, 0, before);
    *b = (struct rdna3_base){r->bases, memory, offset, d, 0, ifs_at(r, 0)};
    r->bases = b;
    return d;
}

static struct mi_opnd add_constant(struct rdna3 *r, struct mi_opnd v, int64_t c)
{
    struct mi_opnd none = {0};
    return c == 0
               ? v
               : vector3(r, "v_add_nc_u32 %0, %1, %2", 2, mi_imm((int32_t)c), v, none);
}

struct rdna3_address rdna3_address(struct rdna3 *r, const struct rdna3_place *p)
{
    struct rdna3_address a = {.offset = p->offset};
    bool lds = r->p->insts[p->memory].op == CC_BUFFER;
    a.vector = p->n ? rdna3_sum(r, p, true) : no_sum(r);
    if (p->whole) {
        a.vector = add_constant(r, a.vector, a.offset);
        a.offset = 0;
    }
    if (lds) {
        a.offset += r->lds_offset[p->memory];
        if (a.offset < 0 || a.offset > 65535) {
            a.vector = add_constant(r, a.vector, a.offset);
            a.offset = 0;
        }
        return a;
    }
    int64_t near = ((a.offset + 4096) & 8191) - 4096;
    a.base = base_plus(r, p->memory, a.offset - near);
    if (a.base.kind == MI_NONE) {
        a.base = r->param[p->memory];
        a.vector = add_constant(r, a.vector, a.offset - near);
    }
    a.offset = near;
    return a;
}
