/* wmma.c: products of 16 x 16 matrices.
 *
 * Fragments are eight registers in a row: loads go straight into them where memory has
 * the elements in a row too. Sums stay in place: eight elements of a register buffer,
 * or the result of the product before.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan.h"

#include <string.h>

/* Sixteen f16: operations, and the registers they will be in. */
struct fragment {
    struct fragment *next;
    const uint32_t *src;
    struct mi_opnd reg;
    uint8_t placed; /* dwords that were loaded into place */
    uint32_t block; /* where the others were put together, + 1 */
};

struct rdna3_wmma {
    struct fragment *f[2];
    bool in_place; /* the sums' registers are both source and result */
};

struct rdna3_slot { /* where an f16 LOAD is in a fragment */
    struct fragment *f;
    uint8_t at;
};

const size_t rdna3_slot_bytes = sizeof(struct rdna3_slot);

static struct fragment *fragment_of(struct rdna3 *r, const uint32_t *src)
{
    struct fragment *f = r->fragments;
    while (f && memcmp(f->src, src, 16 * sizeof *src) != 0)
        f = f->next;
    if (f)
        return f;
    f = cc_arena_alloc(&r->arena, sizeof *f);
    if (!f) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return NULL;
    }
    *f = (struct fragment){.next = r->fragments, .src = src};
    f->reg = mi_reg(r, rdna3_reg(r, true, 8));
    r->fragments = f;
    for (uint8_t i = 0; i < 16; i++)
        if (!r->slots[src[i]].f)
            r->slots[src[i]] = (struct rdna3_slot){f, i};
    return f;
}

/* The product whose sums are this one's results, each used once; UINT32_MAX: none. */
static uint32_t next_product(const struct rdna3 *r, uint32_t at)
{
    const struct cc_prog *p = r->p;
    for (uint32_t i = at + 1; i < p->count && r->block[i] == r->block[at]; i++) {
        const struct cc_inst *n = &p->insts[i];
        bool all = n->op == CC_WMMA;
        for (uint32_t k = 0; k < 8 && all; k++) {
            const struct cc_inst *x = &p->insts[n->src[32 + k]];
            all = x->op == CC_EXTRACT && x->src[0] == at && x->arg[0] == (int64_t)k &&
                  r->uses[n->src[32 + k]] == 1;
        }
        if (all && r->uses[at] == 8)
            return i;
    }
    return UINT32_MAX;
}

/* The STORE of element k of a product to this place, in its stretch; 0: none. */
static uint32_t store_of(const struct rdna3 *r, uint32_t product, uint32_t k,
                         uint32_t memory, int64_t index)
{
    const struct cc_prog *p = r->p;
    for (uint32_t i = product + 1; i < p->count && r->block[i] == r->block[product];
         i++) {
        const struct cc_inst *n = &p->insts[i];
        if (n->op != CC_STORE || n->n_src != 3 || n->src[0] != memory ||
            p->insts[n->src[1]].op != CC_CONST || p->insts[n->src[1]].arg[0] != index)
            continue;
        const struct cc_inst *x = &p->insts[n->src[2]];
        bool mine = x->op == CC_EXTRACT && x->src[0] == product &&
                    x->arg[0] == (int64_t)k && r->uses[n->src[2]] == 1;
        return mine ? i : 0;
    }
    return 0;
}

static bool loads_element(const struct cc_prog *p, const struct cc_inst *n,
                          uint32_t memory, int64_t index)
{
    return n->op == CC_LOAD && n->src[0] == memory &&
           (p->insts[n->src[1]].op != CC_CONST || p->insts[n->src[1]].arg[0] == index);
}

/* Nobody wants the old value once the product is begun, nor the new one too early. */
static bool may_change(const struct rdna3 *r, uint32_t first, uint32_t store,
                       uint32_t memory, int64_t index)
{
    const struct cc_prog *p = r->p;
    uint32_t begin = first;
    while (begin > 0 && r->block[begin - 1] == r->block[first])
        begin--;
    for (uint32_t i = begin; i < store; i++)
        if (loads_element(p, &p->insts[i], memory, index) &&
            (i > first || r->last_use[i] > first))
            return false;
    return true;
}

/* Are the sums eight elements in a row of a buffer, loaded and stored here? */
static bool is_in_place(const struct rdna3 *r, uint32_t at)
{
    const struct cc_prog *p = r->p;
    const struct cc_inst *n = &p->insts[at], *c0 = &p->insts[n->src[32]];
    uint32_t last = at, next;
    if (c0->op != CC_LOAD || !rdna3_is_reg(p, c0) ||
        p->insts[c0->src[1]].op != CC_CONST || p->insts[c0->src[1]].arg[0] % 8)
        return false;
    int64_t first = p->insts[c0->src[1]].arg[0];
    while ((next = next_product(r, last)) != UINT32_MAX)
        last = next;
    if (r->uses[last] != 8)
        return false;
    for (uint32_t k = 0; k < 8; k++) {
        const struct cc_inst *c = &p->insts[n->src[32 + k]];
        if (c->op != CC_LOAD || c->src[0] != c0->src[0] ||
            p->insts[c->src[1]].op != CC_CONST ||
            p->insts[c->src[1]].arg[0] != first + (int64_t)k ||
            r->block[n->src[32 + k]] != r->block[at])
            return false;
        uint32_t store = store_of(r, last, k, c0->src[0], first + k);
        if (!store || !may_change(r, at, store, c0->src[0], first + k))
            return false;
    }
    return true;
}

void rdna3_plan_products(struct rdna3 *r)
{
    const struct cc_prog *p = r->p;
    for (uint32_t i = 0; i < p->count && r->status == RD_OK; i++) {
        const struct cc_inst *n = &p->insts[i];
        if (n->op != CC_WMMA)
            continue;
        r->wmma[i] = cc_arena_alloc(&r->arena, sizeof *r->wmma[i]);
        if (!r->wmma[i]) {
            rdna3_fail(r, RD_E_NOMEM, i, "out of memory");
            return;
        }
        r->wmma[i]->f[0] = fragment_of(r, n->src);
        r->wmma[i]->f[1] = fragment_of(r, n->src + 16);
        r->wmma[i]->in_place = is_in_place(r, i);
    }
}

struct mi_opnd rdna3_fragment(struct rdna3 *r, const uint32_t *list, unsigned count)
{
    struct rdna3_slot s = r->slots[list[0]];
    struct mi_opnd d = {0};
    if (!s.f || s.at % 2)
        return d;
    for (unsigned k = 0; k < count; k++)
        if (r->slots[list[k]].f != s.f || r->slots[list[k]].at != s.at + k)
            return d;
    d = s.f->reg;
    d.sub = s.at / 2;
    d.width = (uint8_t)(count / 2);
    for (unsigned k = 0; k < count / 2; k++)
        s.f->placed |= (uint8_t)(1u << (s.at / 2 + k));
    return d;
}

/* Put together what was not loaded into place. */
static void collect(struct rdna3 *r, struct fragment *f, uint32_t block)
{
    if (f->placed == 0xff || f->block == block + 1)
        return;
    f->block = block + 1;
    for (unsigned i = 0; i < 8; i++) {
        if (f->placed >> i & 1)
            continue;
        struct mi_opnd lo = r->value[f->src[2 * i]], hi = r->value[f->src[2 * i + 1]];
        struct mi_opnd a = r->packed[f->src[2 * i]], b = r->packed[f->src[2 * i + 1]];
        struct mi_opnd d = mi_part(f->reg, i), move[2] = {d, a};
        if (r->half[f->src[2 * i]] == 1 && r->half[f->src[2 * i + 1]] == 2 &&
            a.reg == b.reg && a.sub == b.sub) {
            rdna3_mi(r, "v_mov_b32 %0, %1", 1, 2, move);
            continue;
        }
        struct mi_opnd src[3] = {rdna3_to_vector(r, hi, 1), rdna3_to_vector(r, lo, 1),
                                 mi_imm(0x05040100)};
        rdna3_op(r, "v_perm_b32 %0, %1, %2, %3", d, 3, src);
    }
}

/* Eight values that are a whole register already. */
static bool whole(const struct rdna3 *r, const uint32_t *src, struct mi_opnd *out)
{
    *out = r->value[src[0]];
    for (unsigned i = 0; i < 8; i++) {
        struct mi_opnd v = r->value[src[i]];
        if (v.kind != MI_REG || v.reg != out->reg || v.sub != i ||
            r->regs[v.reg].width != 8)
            return false;
    }
    out->width = 8;
    return true;
}

/* The register that a product adds to. */
static struct mi_opnd sums(struct rdna3 *r, uint32_t at)
{
    const uint32_t *src = r->p->insts[at].src + 32;
    const struct cc_inst *x = &r->p->insts[src[0]];
    struct mi_opnd d;
    bool chained = x->op == CC_EXTRACT && next_product(r, x->src[0]) == at;
    if (whole(r, src, &d) && (chained || r->wmma[at]->in_place))
        return d;
    d = mi_reg(r, rdna3_reg(r, true, 8));
    for (unsigned i = 0; i < 8; i++) {
        struct mi_opnd move[2] = {mi_part(d, i), r->value[src[i]]};
        rdna3_mi(r, "v_mov_b32 %0, %1", 1, 2, move);
    }
    return d;
}

static bool all_zero(const struct rdna3 *r, const uint32_t *src)
{
    for (unsigned i = 0; i < 8; i++)
        if (r->value[src[i]].kind != MI_IMM || r->value[src[i]].imm != 0)
            return false;
    return true;
}

void rdna3_product(struct rdna3 *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    struct rdna3_wmma *w = r->wmma[at];
    bool bf16 = r->p->insts[n->src[0]].dtype == CC_DT_BF16;
    collect(r, w->f[0], r->block[at]);
    collect(r, w->f[1], r->block[at]);
    bool zero = all_zero(r, n->src + 32);
    struct mi_opnd d = zero ? mi_reg(r, rdna3_reg(r, true, 8)) : sums(r, at);
    struct mi_opnd all[4] = {d, w->f[0]->reg, w->f[1]->reg, zero ? mi_imm(0) : d};
    rdna3_mi(r,
             bf16 ? "v_wmma_f32_16x16x16_bf16 %0, %1, %2, %3"
                  : "v_wmma_f32_16x16x16_f16 %0, %1, %2, %3",
             1, 4, all);
    r->value[at] = d;
}
