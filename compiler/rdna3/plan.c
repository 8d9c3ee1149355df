/* plan.c: what is decided about a program before instructions are chosen.
 *
 * Which products are fused into sums, which results go straight to the register they
 * are stored to, where LDS buffers lie, where each loop ends. Emits nothing.
 * SPDX-License-Identifier: MIT
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

/* Straight-line stretches: loops, IFs and barriers separate them. */
static void find_blocks(struct rdna3 *r)
{
    uint32_t block = 0;
    for (uint32_t i = 0; i < r->p->count; i++) {
        enum cc_op op = r->p->insts[i].op;
        bool edge = op == CC_RANGE || op == CC_END || op == CC_IF || op == CC_ENDIF ||
                    op == CC_BARRIER;
        block += edge;
        r->block[i] = block;
        block += edge;
    }
}

/* What may hand on its source's register as it is. */
static bool passes_on(enum cc_op op)
{
    return op == CC_CAST || op == CC_BITCAST || op == CC_WHERE;
}

static void find_uses(struct rdna3 *r)
{
    for (uint32_t i = r->p->count; i-- > 0;) {
        const struct cc_inst *n = &r->p->insts[i];
        uint32_t last = passes_on(n->op) && r->last_use[i] > i ? r->last_use[i] : i;
        for (uint32_t j = 0; j < n->n_src; j++) {
            r->uses[n->src[j]]++;
            if (last > r->last_use[n->src[j]])
                r->last_use[n->src[j]] = last;
        }
    }
}

/* A product of floats whose only user is a sum in the same stretch. */
static void find_fused(struct rdna3 *r)
{
    const struct cc_prog *p = r->p;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cc_inst *n = &p->insts[i];
        if ((n->op != CC_ADD && n->op != CC_SUB) || n->dtype != CC_DT_F32)
            continue;
        for (uint32_t j = 0; j < 2; j++) {
            uint32_t m = n->src[j];
            bool other = r->fused[n->src[1 - j]] && n->src[0] != n->src[1];
            if (p->insts[m].op == CC_MUL && r->uses[m] == 1 && !other &&
                r->block[m] == r->block[i])
                r->fused[m] = true;
        }
    }
}

/* ---- registers as memory ---- */

bool rdna3_is_reg(const struct cc_prog *p, const struct cc_inst *n)
{
    const struct cc_inst *m = &p->insts[n->src[0]];
    return m->op == CC_BUFFER && m->arg[0] == CC_SPACE_REG;
}

static bool same_element(const struct cc_prog *p, const struct cc_inst *a,
                         const struct cc_inst *b)
{
    return a->src[0] == b->src[0] && p->insts[a->src[1]].op == CC_CONST &&
           p->insts[b->src[1]].op == CC_CONST &&
           p->insts[a->src[1]].arg[0] == p->insts[b->src[1]].arg[0];
}

/* The last use of a value counts where a fused product is computed. */
static uint32_t last_use(const struct rdna3 *r, uint32_t at)
{
    uint32_t last = r->last_use[at];
    while (r->fused[last])
        last = r->last_use[last];
    return last;
}

/* Can a LOAD of a register be the register? Not if it is stored to before the last use.
 */
bool rdna3_is_alias(const struct rdna3 *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    uint32_t last = last_use(r, at);
    if (n->n_src > 2 || r->block[last] != r->block[at])
        return false;
    for (uint32_t i = at + 1; i < last; i++)
        if (r->p->insts[i].op == CC_STORE && same_element(r->p, &r->p->insts[i], n))
            return false;
    return true;
}

static bool one_instruction(const struct cc_inst *n)
{
    bool f = n->dtype == CC_DT_F32;
    if (cc_dtype_bytes(n->dtype) != 4)
        return false;
    switch (n->op) {
    case CC_ADD:
    case CC_SUB:
    case CC_MAX:
    case CC_MULACC:
        return f || n->op != CC_MULACC;
    case CC_MUL:
        return f;
    case CC_AND:
    case CC_OR:
    case CC_XOR:
        return true;
    default:
        return false;
    }
}

/* Does anything but the value's own operation touch the element on the way? */
static bool is_free(const struct rdna3 *r, uint32_t from, uint32_t store)
{
    const struct cc_prog *p = r->p;
    const struct cc_inst *s = &p->insts[store];
    uint32_t begin = from;
    while (begin > 0 && r->block[begin - 1] == r->block[from])
        begin--;
    if (p->insts[from].op == CC_LOAD) /* it may be done together with an earlier one */
        from = begin;
    for (uint32_t i = begin; i < store; i++) {
        const struct cc_inst *n = &p->insts[i];
        if ((n->op != CC_LOAD && n->op != CC_STORE) || !same_element(p, n, s))
            continue;
        if (i > from) /* read or written after the value is there */
            return false;
        if (n->op == CC_LOAD && last_use(r, i) > from)
            return false; /* the old value is still wanted */
    }
    return true;
}

/* a + b + c + d: all of it in the one register. */
static void extend_dest(struct rdna3 *r, uint32_t v, uint32_t store)
{
    const struct cc_prog *p = r->p;
    for (uint32_t next = v; next != UINT32_MAX;) {
        const struct cc_inst *n = &p->insts[v = next];
        next = UINT32_MAX;
        for (uint32_t j = 0; j < n->n_src && n->op != CC_LOAD; j++) {
            uint32_t a = n->src[j];
            if (next == UINT32_MAX && p->insts[a].op == n->op && r->uses[a] == 1 &&
                !r->fused[a] && one_instruction(&p->insts[a]) &&
                r->block[a] == r->block[v] && is_free(r, a, store))
                next = a;
        }
        if (next != UINT32_MAX)
            r->dest[next] = r->dest[v];
    }
}

static void find_dests(struct rdna3 *r)
{
    const struct cc_prog *p = r->p;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cc_inst *n = &p->insts[i];
        if (n->op != CC_STORE || n->n_src != 3 || !rdna3_is_reg(p, n) ||
            p->insts[n->src[1]].op != CC_CONST)
            continue;
        uint32_t v = n->src[2];
        int64_t element = p->insts[n->src[1]].arg[0];
        bool load = p->insts[v].op == CC_LOAD && !rdna3_is_reg(p, &p->insts[v]) &&
                    p->insts[v].n_src == 2 && cc_dtype_bytes(p->insts[v].dtype) == 4;
        if ((!load && !one_instruction(&p->insts[v])) || r->uses[v] != 1 ||
            r->fused[v] || r->block[v] != r->block[i] || !is_free(r, v, i) ||
            element < 0 || element >= cc_memory_elements(&p->insts[n->src[0]]))
            continue;
        r->dest[v] = r->elements[n->src[0]][element];
        extend_dest(r, v, i);
    }
}

/* Registers of a register buffer: groups of eight for products, of four for wide
 * access to memory. */
static void place_elements(struct rdna3 *r, uint32_t at, uint32_t count, unsigned width)
{
    uint32_t group = width == 2 ? 1 : count % 8 == 0 ? 8 : count % 4 == 0 ? 4 : 1;
    struct mi_opnd *e = cc_arena_alloc(&r->arena, (count + 1) * sizeof *e);
    r->elements[at] = e;
    if (!e) {
        rdna3_fail(r, RD_E_NOMEM, at, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < count; i += group) {
        struct mi_opnd g = mi_reg(r, rdna3_reg(r, true, group * width));
        for (uint32_t j = 0; j < group; j++)
            e[i + j] = group == 1 ? g : mi_part(g, j);
    }
}

/* Registers of register buffers, places of LDS buffers. */
static void place_buffers(struct rdna3 *r)
{
    for (uint32_t i = 0; i < r->p->count; i++) {
        const struct cc_inst *n = &r->p->insts[i];
        int64_t count = n->op == CC_BUFFER ? cc_memory_elements(n) : 0;
        unsigned bytes = cc_dtype_bytes(n->dtype);
        if (n->op != CC_BUFFER)
            continue;
        if (n->arg[0] == CC_SPACE_LOCAL) {
            r->lds_bytes = (r->lds_bytes + 15) & ~(int64_t)15;
            r->lds_offset[i] = r->lds_bytes;
            r->lds_bytes += count * bytes;
            continue;
        }
        if (count > 256) {
            rdna3_fail(r, RD_E_RANGE, i, "%lld elements in registers, at most 256",
                       (long long)count);
            return;
        }
        place_elements(r, i, (uint32_t)count, bytes == 8 ? 2 : 1);
    }
    if (r->lds_bytes > 65536)
        rdna3_fail(r, RD_E_RANGE, 0, "%lld bytes of LDS, at most 65536",
                   (long long)r->lds_bytes);
}

static uint32_t hash_of(const struct rdna3 *r, const struct cc_inst *n)
{
    uint32_t h = n->op * 31u + n->dtype;
    for (uint32_t i = 0; i < n->n_src; i++)
        h = (h ^ r->same[n->src[i]]) * 2654435761u + 1;
    for (uint32_t i = 0; i < n->n_arg; i++)
        h = (h ^ (uint32_t)n->arg[i] ^ (uint32_t)(n->arg[i] >> 32)) * 2654435761u + 1;
    return h ^ h >> 15;
}

static bool equal(const struct rdna3 *r, const struct cc_inst *a,
                  const struct cc_inst *b)
{
    if (a->op != b->op || a->dtype != b->dtype || a->n_src != b->n_src ||
        a->n_arg != b->n_arg || strcmp(a->name, b->name) != 0 ||
        (a->n_arg && memcmp(a->arg, b->arg, a->n_arg * sizeof *a->arg) != 0))
        return false;
    for (uint32_t i = 0; i < a->n_src; i++)
        if (r->same[a->src[i]] != r->same[b->src[i]])
            return false;
    return true;
}

/* Operations that compute what an earlier one did. */
static void find_same(struct rdna3 *r)
{
    uint32_t cap = 64;
    while (cap < 2 * r->p->count)
        cap *= 2;
    uint32_t *table = calloc(cap, sizeof *table);
    if (!table) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < r->p->count; i++) {
        const struct cc_inst *n = &r->p->insts[i];
        r->same[i] = i;
        if (!cc_is_alu(n->op) && n->op != CC_CONST && n->op != CC_SPECIAL)
            continue;
        uint32_t h = hash_of(r, n) & (cap - 1);
        while (table[h] && !equal(r, &r->p->insts[table[h] - 1], n))
            h = (h + 1) & (cap - 1);
        if (table[h])
            r->same[i] = table[h] - 1;
        else
            table[h] = i + 1;
    }
    free(table);
}

void rdna3_plan(struct rdna3 *r)
{
    size_t n = r->p->count + 1ull;
    r->uses = cc_arena_alloc(&r->arena, n * sizeof *r->uses);
    r->last_use = cc_arena_alloc(&r->arena, n * sizeof *r->last_use);
    r->block = cc_arena_alloc(&r->arena, n * sizeof *r->block);
    r->fused = cc_arena_alloc(&r->arena, n * sizeof *r->fused);
    r->dest = cc_arena_alloc(&r->arena, n * sizeof *r->dest);
    r->value = cc_arena_alloc(&r->arena, n * sizeof *r->value);
    r->place = cc_arena_alloc(&r->arena, n * sizeof *r->place);
    r->home = cc_arena_alloc(&r->arena, n * sizeof *r->home);
    r->same = cc_arena_alloc(&r->arena, n * sizeof *r->same);
    r->known = cc_arena_alloc(&r->arena, n * sizeof *r->known);
    r->param = cc_arena_alloc(&r->arena, n * sizeof *r->param);
    r->packed = cc_arena_alloc(&r->arena, n * sizeof *r->packed);
    r->half = cc_arena_alloc(&r->arena, n);
    r->done = cc_arena_alloc(&r->arena, n * sizeof *r->done);
    r->group_list = cc_arena_alloc(&r->arena, n * sizeof *r->group_list);
    r->group_count = cc_arena_alloc(&r->arena, n);
    r->wmma = cc_arena_alloc(&r->arena, n * sizeof *r->wmma);
    r->slots = cc_arena_alloc(&r->arena, n * rdna3_slot_bytes);
    r->elements = cc_arena_alloc(&r->arena, n * sizeof *r->elements);
    r->lds_offset = cc_arena_alloc(&r->arena, n * sizeof *r->lds_offset);
    if (!r->uses || !r->last_use || !r->block || !r->fused || !r->dest || !r->value ||
        !r->elements || !r->lds_offset || !r->place || !r->home || !r->same ||
        !r->known || !r->param || !r->packed || !r->half || !r->done ||
        !r->group_list || !r->group_count || !r->wmma || !r->slots) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    find_blocks(r);
    find_uses(r);
    find_fused(r);
    find_same(r);
    rdna3_find_places(r);
    place_buffers(r);
    if (r->status == RD_OK)
        find_dests(r);
    if (r->status == RD_OK)
        rdna3_plan_products(r);
}
