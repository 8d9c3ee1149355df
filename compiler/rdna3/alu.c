/* alu.c: elementwise operations as gfx1100 instructions.
 *
 * Integers of 32 bits whose sources are the same for all lanes are computed by the
 * scalar unit; everything else by the vector unit. A bool is a mask of lanes, or 0 or 1
 * in an SGPR. Narrow integers are kept extended to 32 bits; the upper half of a
 * register with an f16 is undefined. An instruction reads at most two different
 * scalars.
 *
 * SPDX-License-Identifier: MIT
 */
#include "alu.h"

#include <string.h>

struct mi_opnd rdna3_to_vector(struct rdna3 *r, struct mi_opnd o, unsigned width)
{
    if (mi_is_vector(r, o))
        return o;
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, width));
    for (unsigned i = 0; i < width; i++) {
        struct mi_opnd pair[2] = {mi_part(d, i), mi_part(o, i)};
        rdna3_mi(r, "v_mov_b32 %0, %1", 1, 2, pair);
    }
    return d;
}

void rdna3_op(struct rdna3 *r, const char *text, struct mi_opnd dst, unsigned n,
              const struct mi_opnd *src)
{
    struct mi_opnd all[MI_OPNDS] = {dst};
    unsigned scalars = 0, literals = 0;
    const struct mi_form *f = rdna3_form_of(r, text);
    bool vector = mi_is_valu(f);
    for (unsigned i = 0; i < n; i++) {
        struct mi_opnd o = src[i];
        bool counts = mi_is_scalar(r, o) || mi_is_literal(o);
        for (unsigned j = 0; j < i && counts; j++)
            if (all[1 + j].kind == o.kind && all[1 + j].reg == o.reg &&
                all[1 + j].sub == o.sub && all[1 + j].imm == o.imm)
                counts = false;
        scalars += counts;
        if (o.kind == MI_IMM && f->negated >> (1 + i) & 1) { /* it has no sign */
            o = rdna3_to_vector(r, o, 1);
            scalars -= counts;
            counts = false;
        }
        /* the mask of v_cndmask comes last and cannot move */
        unsigned limit = n > i + 1 && f->op == ISA_V_CNDMASK_B32 ? 1 : 2;
        bool second = counts && mi_is_literal(o) && literals++;
        if (vector && counts && (scalars > limit || second)) {
            o = rdna3_to_vector(r, o, o.width ? o.width : 1);
            scalars--;
        }
        all[1 + i] = o;
    }
    rdna3_mi(r, text, 1, n + 1, all);
}

struct mi_opnd rdna3_to_mask(struct rdna3 *r, struct mi_opnd o)
{
    if (o.kind == MI_IMM)
        return mi_imm(o.imm ? -1 : 0);
    if (r->regs[o.reg].mask)
        return o;
    struct mi_opnd d = mi_reg(r, rdna3_mask(r));
    struct mi_opnd test[2] = {o, mi_imm(0)}, pick[3] = {d, mi_imm(-1), mi_imm(0)};
    rdna3_mi(r, "s_cmp_lg_u32 %0, %1", 0, 2, test);
    rdna3_mi(r, "s_cselect_b32 %0, %1, %2", 1, 3, pick);
    return d;
}

struct mi_opnd rdna3_from_mask(struct rdna3 *r, struct mi_opnd o)
{
    if (o.kind == MI_IMM || !r->regs[o.reg].mask)
        return rdna3_to_vector(r, o, 1);
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1));
    struct mi_opnd s[3] = {mi_imm(0), mi_imm(1), o};
    rdna3_op(r, "v_cndmask_b32 %0, %1, %2, %3", d, 3, s);
    return d;
}

/* ---- scalar unit ---- */

static const char *scalar_text(enum cc_op op, bool u)
{
    switch (op) {
    case CC_ADD:
        return "s_add_i32 %0, %1, %2";
    case CC_SUB:
        return "s_sub_i32 %0, %1, %2";
    case CC_MUL:
        return "s_mul_i32 %0, %1, %2";
    case CC_MULHI:
        return "s_mul_hi_u32 %0, %1, %2";
    case CC_AND:
        return "s_and_b32 %0, %1, %2";
    case CC_OR:
        return "s_or_b32 %0, %1, %2";
    case CC_XOR:
        return "s_xor_b32 %0, %1, %2";
    case CC_SHL:
        return "s_lshl_b32 %0, %1, %2";
    case CC_SHR:
        return u ? "s_lshr_b32 %0, %1, %2" : "s_ashr_i32 %0, %1, %2";
    case CC_MAX:
        return u ? "s_max_u32 %0, %1, %2" : "s_max_i32 %0, %1, %2";
    default:
        return NULL;
    }
}

/* At most one literal in a scalar instruction: a second one gets a register. */
static void one_literal(struct alu *a, struct mi_opnd *s)
{
    if (!mi_is_literal(s[0]) || !mi_is_literal(s[1]) || s[0].imm == s[1].imm)
        return;
    struct mi_opnd m[2] = {mi_reg(a->r, rdna3_reg(a->r, false, 1)), s[0]};
    rdna3_mi(a->r, "s_mov_b32 %0, %1", 1, 2, m);
    s[0] = m[0];
}

/* n / d, n % d for 0 <= n < 2^31 and a constant d: n * ceil(2^(32+s) / d) >> (32 + s).
 * With s one less than the bits of d - 1, the error stays below 1/d. */
static struct mi_opnd magic_quotient(struct alu *a, bool scalar, uint32_t d)
{
    struct mi_opnd x = a->s[0];
    unsigned bits = 0;
    while (((uint64_t)1 << bits) < d)
        bits++;
    bool power = (d & (d - 1)) == 0;
    uint64_t m = power ? 0 : (((uint64_t)1 << (31 + bits)) + d - 1) / d;
    struct mi_opnd q, k = mi_imm((int32_t)m), shift = mi_imm(power ? bits : bits - 1);
    if (!scalar) {
        q = power ? x : NARROW(a, "v_mul_hi_u32 %0, %1, %2", x, k);
        return NARROW(a, "v_lshrrev_b32 %0, %1, %2", shift, q);
    }
    q = mi_reg(a->r, rdna3_reg(a->r, false, 1));
    struct mi_opnd h[3] = {q, x, k}, t[3] = {q, power ? x : q, shift};
    if (!power)
        rdna3_mi(a->r, "s_mul_hi_u32 %0, %1, %2", 1, 3, h);
    q = mi_reg(a->r, rdna3_reg(a->r, false, 1));
    t[0] = q;
    rdna3_mi(a->r, "s_lshr_b32 %0, %1, %2", 1, 3, t);
    return q;
}

/* Is this a division that multiplication can do? */
static bool is_magic(struct alu *a, uint32_t *divisor)
{
    const struct cc_uop *x = a->r->p->nodes[a->n->src[0]];
    const struct cc_uop *d = a->r->p->nodes[a->n->src[1]];
    *divisor = (uint32_t)d->vmin;
    return d->op == CC_CONST && d->vmin > 0 && d->vmin <= INT32_MAX && x->vmin >= 0 &&
           x->vmax <= INT32_MAX && cc_dtype_bytes(a->dtype) == 4;
}

static void scalar_division(struct alu *a, uint32_t d)
{
    if (a->n->op == CC_MOD && (d & (d - 1)) == 0) {
        struct mi_opnd x[3] = {mi_reg(a->r, rdna3_reg(a->r, false, 1)), a->s[0],
                               mi_imm((int32_t)(d - 1))};
        rdna3_mi(a->r, "s_and_b32 %0, %1, %2", 1, 3, x);
        result(a, x[0]);
        return;
    }
    struct mi_opnd q = magic_quotient(a, true, d);
    if (a->n->op == CC_MOD) {
        struct mi_opnd m[3] = {mi_reg(a->r, rdna3_reg(a->r, false, 1)), q,
                               mi_imm((int32_t)d)};
        struct mi_opnd s[3] = {mi_reg(a->r, rdna3_reg(a->r, false, 1)), a->s[0], m[0]};
        rdna3_mi(a->r, "s_mul_i32 %0, %1, %2", 1, 3, m);
        rdna3_mi(a->r, "s_sub_i32 %0, %1, %2", 1, 3, s);
        q = s[0];
    }
    result(a, q);
}

static const char *scalar_compare(enum cc_op op, bool u)
{
    return op == CC_CMPEQ   ? "s_cmp_eq_u32 %0, %1"
           : op == CC_CMPNE ? "s_cmp_lg_u32 %0, %1"
           : u              ? "s_cmp_lt_u32 %0, %1"
                            : "s_cmp_lt_i32 %0, %1";
}

static void scalar_select(struct alu *a, const char *compare, struct mi_opnd x,
                          struct mi_opnd y, struct mi_opnd yes, struct mi_opnd no)
{
    struct mi_opnd c[2] = {x, y},
                   d[3] = {mi_reg(a->r, rdna3_reg(a->r, false, 1)), yes, no};
    one_literal(a, c);
    one_literal(a, d + 1);
    rdna3_mi(a->r, compare, 0, 2, c);
    rdna3_mi(a->r, "s_cselect_b32 %0, %1, %2", 1, 3, d);
    result(a, d[0]);
}

/* Try the scalar unit; false if it cannot. */
static bool scalar(struct alu *a)
{
    bool u = cc_is_unsigned(a->from), narrow = cc_dtype_bytes(a->dtype) < 4;
    uint32_t divisor;
    for (uint32_t i = 0; i < a->n->n_src; i++) {
        enum cc_dtype dt = a->r->p->insts[a->n->src[i]].dtype;
        bool same = a->s[i].kind == MI_IMM ||
                    (mi_is_scalar(a->r, a->s[i]) && !a->r->regs[a->s[i].reg].mask);
        if (!same || cc_is_float(dt) || cc_dtype_bytes(dt) > 4)
            return false;
    }
    if (cc_is_float(a->dtype) || cc_dtype_bytes(a->dtype) > 4)
        return false;
    if ((a->n->op == CC_IDIV || a->n->op == CC_MOD) && is_magic(a, &divisor)) {
        scalar_division(a, divisor);
        return true;
    }
    if (a->n->op == CC_CMPLT || a->n->op == CC_CMPEQ || a->n->op == CC_CMPNE) {
        scalar_select(a, scalar_compare(a->n->op, u), a->s[0], a->s[1], mi_imm(1),
                      mi_imm(0));
        return true;
    }
    if (a->n->op == CC_WHERE) {
        scalar_select(a, "s_cmp_lg_u32 %0, %1", a->s[0], mi_imm(0), a->s[1], a->s[2]);
        return true;
    }
    if ((a->n->op == CC_CAST || a->n->op == CC_BITCAST) &&
        (!narrow || a->from == CC_DT_BOOL) && a->dtype != CC_DT_BOOL) {
        result(a, a->s[0]);
        return true;
    }
    const char *text = scalar_text(a->n->op, u);
    if (!text || (narrow && a->dtype != CC_DT_BOOL) || a->n->n_src != 2 ||
        (a->dtype == CC_DT_BOOL && a->n->op == CC_ADD))
        return false;
    struct mi_opnd all[3] = {mi_reg(a->r, rdna3_reg(a->r, false, 1)), a->s[0], a->s[1]};
    one_literal(a, all + 1);
    rdna3_mi(a->r, text, 1, 3, all);
    result(a, all[0]);
    return true;
}

/* ---- bools ---- */

static void mask_op(struct alu *a)
{
    static const struct {
        enum cc_op op;
        const char *text;
    } texts[] = {
        {CC_AND, "s_and_b32 %0, %1, %2"},       {CC_MUL, "s_and_b32 %0, %1, %2"},
        {CC_OR, "s_or_b32 %0, %1, %2"},         {CC_ADD, "s_or_b32 %0, %1, %2"},
        {CC_MAX, "s_or_b32 %0, %1, %2"},        {CC_XOR, "s_xor_b32 %0, %1, %2"},
        {CC_CMPNE, "s_xor_b32 %0, %1, %2"},     {CC_CMPEQ, "s_xnor_b32 %0, %1, %2"},
        {CC_CMPLT, "s_and_not1_b32 %0, %1, %2"}};
    struct mi_opnd s[2] = {rdna3_to_mask(a->r, a->s[0]), rdna3_to_mask(a->r, a->s[1])};
    if (a->n->op == CC_CMPLT) { /* not x, and y */
        struct mi_opnd t = s[0];
        s[0] = s[1];
        s[1] = t;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].op == a->n->op) {
            result(a, MASK(a, texts[i].text, s[0], s[1]));
            return;
        }
    no_form(a);
}

static void where(struct alu *a)
{
    struct rdna3 *r = a->r;
    struct mi_opnd m = rdna3_to_mask(r, a->s[0]);
    if (m.kind == MI_IMM) {
        result(a, m.imm ? a->s[1] : a->s[2]);
        return;
    }
    if (a->dtype == CC_DT_BOOL) {
        struct mi_opnd x = rdna3_to_mask(r, a->s[1]), y = rdna3_to_mask(r, a->s[2]);
        struct mi_opnd p = MASK(a, "s_and_b32 %0, %1, %2", x, m);
        struct mi_opnd q = MASK(a, "s_and_not1_b32 %0, %1, %2", y, m);
        result(a, MASK(a, "s_or_b32 %0, %1, %2", p, q));
        return;
    }
    unsigned width = cc_dtype_bytes(a->dtype) == 8 ? 2 : 1;
    struct mi_opnd d = new_v(a, width);
    for (unsigned i = 0; i < width; i++) {
        struct mi_opnd s[3] = {mi_part(a->s[2], i), mi_part(a->s[1], i), m};
        rdna3_op(r, "v_cndmask_b32 %0, %1, %2, %3", mi_part(d, i), 3, s);
    }
    result(a, d);
}

/* ---- comparisons ---- */

static const char *compare_text(enum cc_op op, enum cc_dtype dtype)
{
    static const char *const texts[3][6] = {
        {"v_cmp_lt_i32 %0, %1, %2", "v_cmp_lt_u32 %0, %1, %2",
         "v_cmp_lt_i64 %0, %1, %2", "v_cmp_lt_u64 %0, %1, %2",
         "v_cmp_lt_f32 %0, %1, %2", "v_cmp_lt_f64 %0, %1, %2"},
        {"v_cmp_eq_i32 %0, %1, %2", "v_cmp_eq_u32 %0, %1, %2",
         "v_cmp_eq_i64 %0, %1, %2", "v_cmp_eq_u64 %0, %1, %2",
         "v_cmp_eq_f32 %0, %1, %2", "v_cmp_eq_f64 %0, %1, %2"},
        {"v_cmp_ne_i32 %0, %1, %2", "v_cmp_ne_u32 %0, %1, %2",
         "v_cmp_ne_i64 %0, %1, %2", "v_cmp_ne_u64 %0, %1, %2",
         "v_cmp_neq_f32 %0, %1, %2", "v_cmp_neq_f64 %0, %1, %2"}};
    unsigned row = op == CC_CMPLT ? 0 : op == CC_CMPEQ ? 1 : 2;
    bool wide = cc_dtype_bytes(dtype) == 8;
    unsigned col =
        cc_is_float(dtype) ? 4u + wide : 2u * wide + (cc_is_unsigned(dtype) ? 1u : 0u);
    return texts[row][col];
}

static void compare(struct alu *a)
{
    if (a->from == CC_DT_BOOL) {
        mask_op(a);
        return;
    }
    if (cc_dtype_bytes(a->from) == 8)
        for (int i = 0; i < 2; i++)
            a->s[i] = pair(a, a->s[i]);
    result(a, MASK(a, compare_text(a->n->op, a->from), a->s[0], a->s[1]));
}

/* ---- floats ---- */

/* x / y: an estimate, one step of refinement, special cases put right. */
static void divide_f32(struct alu *a)
{
    struct mi_opnd x = a->s[0], y = a->s[1];
    struct mi_opnd rcp = NARROW(a, "v_rcp_f32 %0, %1", y);
    struct mi_opnd q = NARROW(a, "v_mul_f32 %0, %1, %2", x, rcp);
    struct mi_opnd e =
        NARROW(a, "v_fma_f32 %0, -%1, %2, %3", rdna3_to_vector(a->r, y, 1), q,
               rdna3_to_vector(a->r, x, 1));
    q = NARROW(a, "v_fma_f32 %0, %1, %2, %3", e, rcp, q);
    result(a, NARROW(a, "v_div_fixup_f32 %0, %1, %2, %3", q, y, x));
}

static struct mi_opnd recip_f64(struct alu *a, struct mi_opnd y)
{
    struct mi_opnd x = WIDE(a, "v_rcp_f64 %0, %1", y), one = pair(a, mi_imm(0));
    struct mi_opnd hi[2] = {mi_part(one, 1), mi_imm(0x3ff00000)};
    rdna3_mi(a->r, "v_mov_b32 %0, %1", 1, 2, hi);
    for (int i = 0; i < 2; i++) {
        struct mi_opnd e = WIDE(a, "v_fma_f64 %0, -%1, %2, %3", y, x, one);
        x = WIDE(a, "v_fma_f64 %0, %1, %2, %3", e, x, x);
    }
    return x;
}

static void float64(struct alu *a)
{
    static const struct {
        enum cc_op op;
        const char *text;
    } texts[] = {
        {CC_ADD, "v_add_f64 %0, %1, %2"},   {CC_SUB, "v_add_f64 %0, %1, -%2"},
        {CC_MUL, "v_mul_f64 %0, %1, %2"},   {CC_MAX, "v_max_f64 %0, %1, %2"},
        {CC_SQRT, "v_sqrt_f64 %0, %1"},     {CC_TRUNC, "v_trunc_f64 %0, %1"},
        {CC_NEG, "v_max_f64 %0, -%1, -%1"}, {CC_MULACC, "v_fma_f64 %0, %1, %2, %3"}};
    for (uint32_t i = 0; i < a->n->n_src; i++)
        a->s[i] = pair(a, a->s[i]);
    if (a->n->op == CC_RECIP) {
        result(a, recip_f64(a, a->s[0]));
        return;
    }
    if (a->n->op == CC_FDIV) {
        struct mi_opnd rcp = recip_f64(a, a->s[1]);
        struct mi_opnd q = WIDE(a, "v_mul_f64 %0, %1, %2", a->s[0], rcp);
        struct mi_opnd e = WIDE(a, "v_fma_f64 %0, -%1, %2, %3", a->s[1], q, a->s[0]);
        q = WIDE(a, "v_fma_f64 %0, %1, %2, %3", e, rcp, q);
        result(a, WIDE(a, "v_div_fixup_f64 %0, %1, %2, %3", q, a->s[1], a->s[0]));
        return;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].op == a->n->op) {
            struct mi_opnd d = new_v(a, 2);
            rdna3_op(a->r, texts[i].text, d, a->n->n_src, a->s);
            result(a, d);
            return;
        }
    no_form(a);
}

/* x + y where one of them is a product that nothing else uses: fused. */
static bool fused_add(struct alu *a)
{
    for (uint32_t i = 0; i < 2 && (a->n->op == CC_ADD || a->n->op == CC_SUB); i++) {
        uint32_t mul = a->n->src[i];
        if (!a->r->fused[mul])
            continue;
        const struct cc_inst *m = &a->r->p->insts[mul];
        struct mi_opnd s[3] = {a->r->value[m->src[0]], a->r->value[m->src[1]],
                               a->s[1 - i]};
        struct mi_opnd d = target(a);
        rdna3_op(a->r,
                 a->n->op == CC_ADD ? "v_fma_f32 %0, %1, %2, %3"
                 : i == 0           ? "v_fma_f32 %0, %1, %2, -%3"
                                    : "v_fma_f32 %0, -%1, %2, %3",
                 d, 3, s);
        result(a, d);
        return true;
    }
    return false;
}

/* v_sin_f32 counts in turns: whole ones are taken off exactly first, 2 pi in two parts.
 */
static void sine(struct alu *a)
{
    struct mi_opnd x = rdna3_to_vector(a->r, a->s[0], 1), turns = mi_imm(0x3e22f983);
    struct mi_opnd k = NARROW(a, "v_mul_f32 %0, %1, %2", turns, x);
    k = NARROW(a, "v_rndne_f32 %0, %1", k);
    x = NARROW(a, "v_fma_f32 %0, -%1, %2, %3", k, mi_imm(0x40c90fdb), x);
    x = NARROW(a, "v_fma_f32 %0, -%1, %2, %3", k, mi_imm((int32_t)0xb43bbd2e), x);
    x = NARROW(a, "v_mul_f32 %0, %1, %2", turns, x);
    result(a, NARROW(a, "v_sin_f32 %0, %1", x));
}

static void float32(struct alu *a)
{
    if (fused_add(a))
        return;
    switch (a->n->op) {
    case CC_ADD:
        simple(a, "v_add_f32 %0, %1, %2", 2);
        break;
    case CC_SUB:
        simple(a, "v_sub_f32 %0, %1, %2", 2);
        break;
    case CC_MUL:
        simple(a, "v_mul_f32 %0, %1, %2", 2);
        break;
    case CC_MAX:
        simple(a, "v_max_f32 %0, %1, %2", 2);
        break;
    case CC_MULACC:
        simple(a, "v_fma_f32 %0, %1, %2, %3", 3);
        break;
    case CC_FDIV:
        divide_f32(a);
        break;
    case CC_NEG:
        result(a,
               NARROW(a, "v_xor_b32 %0, %1, %2", mi_imm((int32_t)0x80000000), a->s[0]));
        break;
    case CC_EXP2:
        result(a, NARROW(a, "v_exp_f32 %0, %1", a->s[0]));
        break;
    case CC_LOG2:
        result(a, NARROW(a, "v_log_f32 %0, %1", a->s[0]));
        break;
    case CC_SQRT:
        result(a, NARROW(a, "v_sqrt_f32 %0, %1", a->s[0]));
        break;
    case CC_RECIP:
        result(a, NARROW(a, "v_rcp_f32 %0, %1", a->s[0]));
        break;
    case CC_TRUNC:
        result(a, NARROW(a, "v_trunc_f32 %0, %1", a->s[0]));
        break;
    case CC_SIN:
        sine(a);
        break;
    default:
        no_form(a);
        break;
    }
}

/* ---- integers ---- */

static void int64_mul(struct alu *a)
{
    struct mi_opnd x = pair(a, a->s[0]), y = pair(a, a->s[1]), d = new_v(a, 2);
    struct mi_opnd lo =
        NARROW(a, "v_mul_lo_u32 %0, %1, %2", mi_part(x, 0), mi_part(y, 0));
    struct mi_opnd hi =
        NARROW(a, "v_mul_hi_u32 %0, %1, %2", mi_part(x, 0), mi_part(y, 0));
    struct mi_opnd c =
        NARROW(a, "v_mul_lo_u32 %0, %1, %2", mi_part(x, 0), mi_part(y, 1));
    struct mi_opnd e =
        NARROW(a, "v_mul_lo_u32 %0, %1, %2", mi_part(x, 1), mi_part(y, 0));
    hi = NARROW(a, "v_add3_u32 %0, %1, %2, %3", hi, c, e);
    d = zip(a, lo, hi);
    result(a, d);
}

static void int64_carry(struct alu *a, const char *first, const char *second)
{
    struct mi_opnd x = pair(a, a->s[0]), y = pair(a, a->s[1]), d = new_v(a, 2);
    struct mi_opnd c = mi_reg(a->r, rdna3_mask(a->r)),
                   c2 = mi_reg(a->r, rdna3_mask(a->r));
    struct mi_opnd lo[4] = {mi_part(d, 0), c, mi_part(x, 0), mi_part(y, 0)};
    struct mi_opnd hi[5] = {mi_part(d, 1), c2, mi_part(x, 1), mi_part(y, 1), c};
    rdna3_mi(a->r, first, 2, 4, lo);
    rdna3_mi(a->r, second, 2, 5, hi);
    result(a, d);
}

static void int64_bits(struct alu *a, const char *text)
{
    struct mi_opnd d = new_v(a, 2);
    for (unsigned i = 0; i < 2; i++) {
        struct mi_opnd s[2] = {mi_part(a->s[0], i), mi_part(a->s[1], i)};
        rdna3_op(a->r, text, mi_part(d, i), 2, s);
    }
    result(a, d);
}

static void int64(struct alu *a)
{
    bool u = cc_is_unsigned(a->dtype);
    static const char add[] = "v_add_co_u32 %0, %1, %2, %3";
    static const char add_c[] = "v_add_co_ci_u32 %0, %1, %2, %3, %4";
    static const char sub[] = "v_sub_co_u32 %0, %1, %2, %3";
    static const char sub_c[] = "v_sub_co_ci_u32 %0, %1, %2, %3, %4";
    struct mi_opnd shift = mi_part(a->s[1], 0), m, d;
    switch (a->n->op) {
    case CC_ADD:
        int64_carry(a, add, add_c);
        break;
    case CC_SUB:
        int64_carry(a, sub, sub_c);
        break;
    case CC_NEG:
        a->s[1] = a->s[0];
        a->s[0] = pair(a, mi_imm(0));
        int64_carry(a, sub, sub_c);
        break;
    case CC_MUL:
        int64_mul(a);
        break;
    case CC_AND:
        int64_bits(a, "v_and_b32 %0, %1, %2");
        break;
    case CC_OR:
        int64_bits(a, "v_or_b32 %0, %1, %2");
        break;
    case CC_XOR:
        int64_bits(a, "v_xor_b32 %0, %1, %2");
        break;
    case CC_SHL:
        result(a, WIDE(a, "v_lshlrev_b64 %0, %1, %2", shift, pair(a, a->s[0])));
        break;
    case CC_SHR:
        result(a, WIDE(a, u ? "v_lshrrev_b64 %0, %1, %2" : "v_ashrrev_i64 %0, %1, %2",
                       shift, pair(a, a->s[0])));
        break;
    case CC_MAX:
        m = MASK(a, compare_text(CC_CMPLT, a->dtype), pair(a, a->s[0]),
                 pair(a, a->s[1]));
        d = new_v(a, 2);
        for (unsigned i = 0; i < 2; i++) {
            struct mi_opnd s[3] = {mi_part(a->s[0], i), mi_part(a->s[1], i), m};
            rdna3_op(a->r, "v_cndmask_b32 %0, %1, %2, %3", mi_part(d, i), 3, s);
        }
        result(a, d);
        break;
    default:
        no_form(a);
        break;
    }
}

/* Where y <= x: q + 1, x - y. */
static void correct(struct alu *a, struct mi_opnd *q, struct mi_opnd *rem,
                    struct mi_opnd y)
{
    struct mi_opnd m = MASK(a, "v_cmp_ge_u32 %0, %1, %2", *rem, y);
    struct mi_opnd q1 = NARROW(a, "v_add_nc_u32 %0, %1, %2", mi_imm(1), *q);
    struct mi_opnd r1 = NARROW(a, "v_sub_nc_u32 %0, %1, %2", *rem, y);
    *q = NARROW(a, "v_cndmask_b32 %0, %1, %2, %3", *q, q1, m);
    *rem = NARROW(a, "v_cndmask_b32 %0, %1, %2, %3", *rem, r1, m);
}

static struct mi_opnd magnitude(struct alu *a, struct mi_opnd x, struct mi_opnd *sign)
{
    *sign = NARROW(a, "v_ashrrev_i32 %0, %1, %2", mi_imm(31), x);
    struct mi_opnd t = NARROW(a, "v_xor_b32 %0, %1, %2", x, *sign);
    return NARROW(a, "v_sub_nc_u32 %0, %1, %2", t, *sign);
}

static struct mi_opnd with_sign(struct alu *a, struct mi_opnd x, struct mi_opnd sign)
{
    struct mi_opnd t = NARROW(a, "v_xor_b32 %0, %1, %2", x, sign);
    return NARROW(a, "v_sub_nc_u32 %0, %1, %2", t, sign);
}

/* Division by multiplication with an estimate of 2^32 / y, then two corrections. A
 * divisor of 0 gives quotient 0 and remainder x. */
static void divide_int(struct alu *a)
{
    bool sign = !cc_is_unsigned(a->dtype);
    struct mi_opnd x = rdna3_to_vector(a->r, a->s[0], 1);
    struct mi_opnd y = rdna3_to_vector(a->r, a->s[1], 1), sx = x, sy = y, y0 = y;
    if (sign) {
        x = magnitude(a, x, &sx);
        y = magnitude(a, y, &sy);
    }
    struct mi_opnd f = NARROW(a, "v_cvt_f32_u32 %0, %1", y);
    f = NARROW(a, "v_rcp_iflag_f32 %0, %1", f);
    f = NARROW(a, "v_mul_f32 %0, %1, %2", mi_imm(0x4f7ffffe), f);
    struct mi_opnd z = NARROW(a, "v_cvt_u32_f32 %0, %1", f);
    struct mi_opnd t = NARROW(a, "v_sub_nc_u32 %0, %1, %2", mi_imm(0), y);
    t = NARROW(a, "v_mul_lo_u32 %0, %1, %2", t, z);
    t = NARROW(a, "v_mul_hi_u32 %0, %1, %2", z, t);
    z = NARROW(a, "v_add_nc_u32 %0, %1, %2", z, t);
    struct mi_opnd q = NARROW(a, "v_mul_hi_u32 %0, %1, %2", x, z);
    t = NARROW(a, "v_mul_lo_u32 %0, %1, %2", q, y);
    struct mi_opnd rem = NARROW(a, "v_sub_nc_u32 %0, %1, %2", x, t);
    correct(a, &q, &rem, y);
    correct(a, &q, &rem, y);
    if (sign) {
        q = with_sign(a, q, NARROW(a, "v_xor_b32 %0, %1, %2", sx, sy));
        rem = with_sign(a, rem, sx);
    }
    struct mi_opnd zero = MASK(a, "v_cmp_eq_u32 %0, %1, %2", mi_imm(0), y0);
    result(a, a->n->op == CC_IDIV
                  ? NARROW(a, "v_cndmask_b32 %0, %1, %2, %3", q, mi_imm(0), zero)
                  : NARROW(a, "v_cndmask_b32 %0, %1, %2, %3", rem, a->s[0], zero));
}

static void division(struct alu *a)
{
    uint32_t d;
    if (!is_magic(a, &d)) {
        divide_int(a);
        return;
    }
    if (a->n->op == CC_MOD && (d & (d - 1)) == 0) {
        result(a, NARROW(a, "v_and_b32 %0, %1, %2", mi_imm((int32_t)(d - 1)), a->s[0]));
        return;
    }
    struct mi_opnd q = magic_quotient(a, false, d);
    if (a->n->op == CC_MOD) {
        q = NARROW(a, "v_mul_lo_u32 %0, %1, %2", q, mi_imm((int32_t)d));
        q = NARROW(a, "v_sub_nc_u32 %0, %1, %2", a->s[0], q);
    }
    result(a, q);
}

static void int32(struct alu *a)
{
    bool u = cc_is_unsigned(a->dtype);
    struct mi_opnd t;
    switch (a->n->op) {
    case CC_ADD:
        simple(a, "v_add_nc_u32 %0, %1, %2", 2);
        break;
    case CC_SUB:
        simple(a, "v_sub_nc_u32 %0, %1, %2", 2);
        break;
    case CC_MUL: {
        int64_t c = a->s[1].kind == MI_IMM ? a->s[1].imm : 0;
        if (c > 0 && (c & (c - 1)) == 0)
            result(a, NARROW(a, "v_lshlrev_b32 %0, %1, %2",
                             mi_imm(__builtin_ctzll((uint64_t)c)), a->s[0]));
        else
            simple(a, "v_mul_lo_u32 %0, %1, %2", 2);
        break;
    }
    case CC_MULHI:
        simple(a, "v_mul_hi_u32 %0, %1, %2", 2);
        break;
    case CC_MULACC:
        t = NARROW(a, "v_mul_lo_u32 %0, %1, %2", a->s[0], a->s[1]);
        result(a, NARROW(a, "v_add_nc_u32 %0, %1, %2", t, a->s[2]));
        break;
    case CC_NEG:
        result(a, NARROW(a, "v_sub_nc_u32 %0, %1, %2", mi_imm(0), a->s[0]));
        break;
    case CC_AND:
        simple(a, "v_and_b32 %0, %1, %2", 2);
        break;
    case CC_OR:
        simple(a, "v_or_b32 %0, %1, %2", 2);
        break;
    case CC_XOR:
        simple(a, "v_xor_b32 %0, %1, %2", 2);
        break;
    case CC_SHL:
        result(a, NARROW(a, "v_lshlrev_b32 %0, %1, %2", a->s[1], a->s[0]));
        break;
    case CC_SHR:
        result(a, NARROW(a, u ? "v_lshrrev_b32 %0, %1, %2" : "v_ashrrev_i32 %0, %1, %2",
                         a->s[1], a->s[0]));
        break;
    case CC_MAX:
        simple(a, u ? "v_max_u32 %0, %1, %2" : "v_max_i32 %0, %1, %2", 2);
        break;
    case CC_IDIV:
    case CC_MOD:
        division(a);
        break;
    default:
        no_form(a);
        break;
    }
}

void rdna3_alu(struct rdna3 *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    struct alu a = {.r = r, .at = at, .n = n, .dtype = n->dtype};
    a.from = r->p->insts[n->src[n->op == CC_WHERE]].dtype;
    for (uint32_t i = 0; i < n->n_src && i < 3; i++)
        a.s[i] = r->value[n->src[i]];
    if (r->fused[at] || (r->dest[at].kind != MI_REG && scalar(&a)))
        return;
    if (n->op == CC_WHERE)
        where(&a);
    else if (cc_ops[n->op].class_ == CC_CLASS_CMP)
        compare(&a);
    else if (n->op == CC_CAST)
        rdna3_cast(&a);
    else if (n->op == CC_BITCAST)
        rdna3_bitcast(&a);
    else if (a.dtype == CC_DT_BOOL)
        mask_op(&a);
    else if (a.dtype == CC_DT_F32)
        float32(&a);
    else if (a.dtype == CC_DT_F64)
        float64(&a);
    else if (a.dtype == CC_DT_I64 || a.dtype == CC_DT_U64)
        int64(&a);
    else
        int32(&a);
}
