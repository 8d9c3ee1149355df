/* select.c: a program's operations as instructions over virtual registers.
 *
 * Loops, IFs, launch and the exchange between lanes are here; mem.c has memory,
 * alu.c the elementwise operations. Loops and their counters are uniform: scalar
 * unit. A value is computed as far out as its sources allow.
 * SPDX-License-Identifier: MIT
 */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct select {
    struct rdna3 r;
    uint32_t *label;       /* of each RANGE and IF */
    struct mi_opnd *saved; /* EXEC before each IF */
};

static void constant(struct select *s, uint32_t at)
{
    const struct cc_inst *n = &s->r.p->insts[at];
    union cc_value v = {.i = n->arg[0]};
    uint64_t bits = 0;
    cc_store_scalar(n->dtype, &bits, v);
    if (!cc_is_float(n->dtype) && n->dtype != CC_DT_U64)
        bits = cc_dtype_bytes(n->dtype) == 8 ? v.u : (uint64_t)(int64_t)(int32_t)v.u;
    s->r.value[at] = mi_imm((int64_t)bits);
}

static void parameter(struct select *s, uint32_t at)
{
    const struct cc_inst *n = &s->r.p->insts[at];
    int64_t bytes = cc_memory_elements(n) * cc_dtype_bytes(n->dtype);
    if (bytes > UINT32_MAX) {
        rdna3_fail(&s->r, RD_E_UNSUPPORTED, at, "more than 4 GiB");
        return;
    }
    s->r.param[at] = mi_reg(&s->r, rdna3_reg(&s->r, false, 2));
    RDNA3_PUT(&s->r, "s_load_b64 %0, %1, %2", 1, s->r.param[at],
              mi_reg(&s->r, s->r.kernarg - 1), mi_imm(8 * n->arg[0]));
}

static void special(struct select *s, uint32_t at)
{
    const struct cc_inst *n = &s->r.p->insts[at];
    unsigned d = (unsigned)(n->name[4] - '0');
    uint32_t *of = n->name[0] == 'g' ? s->r.group : s->r.item;
    if (of[d])
        s->r.value[at] = mi_reg(&s->r, of[d] - 1);
}

/* ---- loops and IFs ---- */

static void label(struct select *s, uint32_t number)
{
    rdna3_mi(&s->r, "", 0, 0, NULL)->label = number;
}

static void branch(struct select *s, const char *text, uint32_t number)
{
    rdna3_mi(&s->r, text, 0, 0, NULL)->label = number;
}

static void open_range(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    const struct cc_uop *last = r->p->nodes[n->src[n->n_src - 1]];
    struct mi_opnd end = r->value[n->src[n->n_src - 1]];
    struct mi_opnd from = n->n_src == 2 ? r->value[n->src[0]] : mi_imm(0);
    if (mi_is_vector(r, end) || mi_is_vector(r, from)) {
        rdna3_fail(r, RD_E_UNSUPPORTED, at, "lanes would loop differently");
        return;
    }
    struct mi_opnd i = mi_reg(r, rdna3_reg(r, false, 1));
    r->value[at] = i;
    s->label[at] = r->n_labels;
    r->n_labels += 2;
    r->home[at] = rdna3_open_scope(r, at);
    RDNA3_PUT(r, "s_mov_b32 %0, %1", 1, i, from);
    if (last->op != CC_CONST || n->n_src == 2) { /* maybe not even once */
        RDNA3_PUT(r, "s_cmp_ge_i32 %0, %1", 0, i, end);
        branch(s, "s_cbranch_scc1", s->label[at] + 1);
    }
    label(s, s->label[at]);
}

static void close_range(struct select *s, uint32_t range)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[range];
    struct mi_opnd i = r->value[range], end = r->value[n->src[n->n_src - 1]];
    if (r->status != RD_OK)
        return;
    rdna3_emit_steps(r, r->scope);
    RDNA3_PUT(r, "s_add_i32 %0, %1, %2", 1, i, i, mi_imm(1));
    RDNA3_PUT(r, "s_cmp_lt_i32 %0, %1", 0, i, end);
    branch(s, "s_cbranch_scc1", s->label[range]);
    label(s, s->label[range] + 1);
    rdna3_close_sums(r, r->scope);
    r->scope = r->scopes[r->scope].parent;
}

static void open_if(struct select *s, uint32_t at)
{
    s->saved[at] = rdna3_narrow(&s->r, s->r.value[s->r.p->insts[at].src[0]]);
    s->label[at] = s->r.n_labels++;
    s->r.if_depth++;
    branch(s, "s_cbranch_execz", s->label[at]);
}

/* What was computed for some lanes only is not known to the others. */
static void forget_values(struct rdna3 *r, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (r->home[i] == r->scope && cc_is_alu(r->p->insts[i].op))
            r->known[r->same[i]] = false;
}

static void close_if(struct select *s, uint32_t at, uint32_t end)
{
    forget_values(&s->r, at, end);
    label(s, s->label[at]);
    rdna3_restore(&s->r, s->saved[at]);
    s->r.if_depth--;
    rdna3_forget_sums(&s->r, s->r.scope, s->r.if_depth);
}

/* ---- lanes together ---- */

static bool whole_waves(const struct rdna3 *r)
{
    return r->if_depth == 0 && r->blocks[0] * r->blocks[1] * r->blocks[2] % 32 == 0 &&
           r->blocks[1] * r->blocks[2] == 1;
}

/* Is an index of ds_bpermute 4 * (lane ^ c)? */
static bool is_exchange(const struct cc_uop *n, int64_t *c)
{
    if (n->op != CC_MUL || n->src[1]->op != CC_CONST || n->src[1]->arg[0] != 4 ||
        n->src[0]->op != CC_XOR || n->src[0]->src[1]->op != CC_CONST)
        return false;
    const struct cc_uop *lane = n->src[0]->src[0];
    *c = n->src[0]->src[1]->arg[0];
    if (lane->op == CC_MOD && lane->src[1]->op == CC_CONST &&
        lane->src[1]->arg[0] % 32 == 0)
        lane = lane->src[0];
    return lane->op == CC_SPECIAL && strcmp(lane->name, "lidx0") == 0 && *c > 0 &&
           *c < 32;
}

/* The value of lane ^ c without LDS: within rows of 16 by DPP, across by permlane. */
static struct mi_opnd exchange(struct rdna3 *r, struct mi_opnd v, unsigned c)
{
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1)), lo, hi;
    char text[96];
    v = rdna3_to_vector(r, v, 1);
    if (c >= 16) {
        lo = mi_reg(r, rdna3_reg(r, false, 1));
        hi = mi_reg(r, rdna3_reg(r, false, 1));
        uint32_t before = rdna3_enter(r, 0);
        RDNA3_PUT(r, "s_mov_b32 %0, %1", 1, lo, mi_imm(0x76543210));
        RDNA3_PUT(r, "s_mov_b32 %0, %1", 1, hi, mi_imm((int32_t)0xfedcba98));
        rdna3_leave(r, 0, before);
        RDNA3_PUT(r, "v_permlanex16_b32 %0, %1, %2, %3", 1, d, v, lo, hi);
        v = d;
    }
    if (c & 15) {
        d = mi_reg(r, rdna3_reg(r, true, 1));
        snprintf(text, sizeof text,
                 "v_mov_b32_dpp %%0, %%1 row_xmask:%u row_mask:0xf bank_mask:0xf",
                 c & 15);
        RDNA3_PUT(r, text, 1, d, v);
    }
    return d;
}

static void bpermute(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    int64_t c;
    if (is_exchange(r->p->nodes[n->src[0]], &c) && whole_waves(r)) {
        r->value[at] = exchange(r, r->value[n->src[1]], (unsigned)c);
        return;
    }
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1));
    RDNA3_PUT(r, "ds_bpermute_b32 %0, %1, %2", 1, d,
              rdna3_to_vector(r, r->value[n->src[0]], 1),
              rdna3_to_vector(r, r->value[n->src[1]], 1));
    r->value[at] = d;
}

/* ---- all of it ---- */

/* An elementwise operation goes to the innermost loop that one of its sources is in. */
static void elementwise(struct rdna3 *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    uint32_t home = 0, first = r->same[at];
    bool common = r->dest[at].kind != MI_REG && !r->fused[at];
    if (common && r->known[first]) {
        r->value[at] = r->value[first];
        r->home[at] = r->home[first];
        return;
    }
    for (uint32_t i = 0; i < n->n_src; i++)
        home = rdna3_inner(r, home, r->home[n->src[i]]);
    if (r->dest[at].kind == MI_REG)
        home = r->scope;
    r->home[at] = home;
    uint32_t before = rdna3_enter(r, home);
    rdna3_alu(r, at);
    rdna3_leave(r, home, before);
    if (!common)
        return;
    r->known[first] = true;
    r->value[first] = r->value[at];
    r->home[first] = home;
}

static void one(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    if (n->op == CC_CUSTOM || n->op == CC_WMMA || n->op == CC_EXTRACT ||
        (n->op == CC_LOAD && !r->done[at]))
        r->home[at] = r->scope;
    switch (n->op) {
    case CC_CONST:
        constant(s, at);
        break;
    case CC_PARAM:
        parameter(s, at);
        break;
    case CC_BUFFER:
        break;
    case CC_SPECIAL:
        special(s, at);
        break;
    case CC_RANGE:
        open_range(s, at);
        break;
    case CC_END:
        close_range(s, n->src[0]);
        break;
    case CC_IF:
        open_if(s, at);
        break;
    case CC_ENDIF:
        close_if(s, n->src[0], at);
        break;
    case CC_LOAD:
        rdna3_load(r, at);
        break;
    case CC_STORE:
        rdna3_store(r, at);
        break;
    case CC_BARRIER:
        rdna3_mi(r, "s_barrier", 0, 0, NULL);
        break;
    case CC_WMMA:
        rdna3_product(r, at);
        break;
    case CC_EXTRACT:
        r->value[at] = mi_part(r->value[n->src[0]], (unsigned)n->arg[0]);
        break;
    case CC_CUSTOM:
        bpermute(s, at);
        break;
    default:
        elementwise(r, at);
        break;
    }
}

/* Registers that are set when a wave starts: kernel arguments in s[0:1], groups after
 * them; work-items packed in v0, ten bits each. */
static void launch_registers(struct rdna3 *r)
{
    int next = 2;
    r->kernarg = rdna3_reg(r, false, 2) + 1;
    r->regs[r->kernarg - 1].phys = 0;
    r->regs[r->kernarg - 1].fixed = true;
    for (unsigned d = 0; d < 3; d++) {
        r->group[d] = rdna3_reg(r, false, 1) + 1;
        r->regs[r->group[d] - 1].phys = next++;
        r->regs[r->group[d] - 1].fixed = true;
    }
    uint32_t packed = rdna3_reg(r, true, 1);
    r->regs[packed].phys = 0;
    r->regs[packed].fixed = true;
    bool many = r->blocks[1] > 1 || r->blocks[2] > 1;
    for (unsigned d = 0; d < 3; d++) {
        struct mi_opnd v = mi_reg(r, rdna3_reg(r, true, 1));
        struct mi_opnd src[3] = {mi_reg(r, packed), mi_imm(10 * d), mi_imm(10)};
        if (d == 0 && !many)
            v = src[0];
        else
            rdna3_op(r, "v_bfe_u32 %0, %1, %2, %3", v, 3, src);
        r->item[d] = v.reg + 1;
    }
}

static void select_all(struct select *s)
{
    struct rdna3 *r = &s->r;
    size_t n = r->p->count + 1ull;
    s->saved = cc_arena_alloc(&r->arena, n * sizeof *s->saved);
    s->label = cc_arena_alloc(&r->arena, n * sizeof *s->label);
    if (!s->saved || !s->label) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    launch_registers(r);
    for (uint32_t i = 0; i < r->p->count && r->status == RD_OK; i++)
        one(s, i);
    rdna3_mi(r, "s_endpgm", 0, 0, NULL);
    rdna3_order(r);
}

/* One attempt; thrifty: fewer values in SGPRs. */
static rd_status attempt(const struct cc_prog *flat, bool thrifty, char **text,
                         char *error)
{
    struct select s = {.r = {.error = error, .p = flat, .thrifty = thrifty}};
    struct rdna3 *r = &s.r;
    uint32_t groups[3];
    error[0] = 0;
    cc_prog_launch(flat, groups, r->blocks);
    rdna3_mi(r, "", 0, 0, NULL);
    rdna3_open_scope(r, 0);
    rdna3_plan(r);
    if (r->status == RD_OK)
        select_all(&s);
    if (r->status == RD_OK)
        rdna3_finish(r);
    rd_status st = r->status == RD_OK ? rdna3_print(r, text) : r->status;
    free(r->code);
    free(r->regs);
    free(r->loops);
    free(r->scopes);
    cc_arena_free(&r->arena);
    return st;
}

rd_status cc_rdna3(const struct cc_prog *p, char **text, char *error)
{
    struct cc_prog *flat;
    error[0] = 0;
    rd_status st = cc_prog_unroll(p, &flat);
    if (st != RD_OK) {
        snprintf(error, CC_ERROR_BYTES, "unrolling: %s", rd_status_text(st));
        return st;
    }
    st = attempt(flat, false, text, error);
    if (st == RD_E_RANGE)
        st = attempt(flat, true, text, error);
    cc_prog_destroy(flat);
    return st;
}
