/* shape.c: how the addresses of a row's lanes lie to one another.
 *
 * The offsets of the first lane and of one element's step behind one another make the
 * row that consecutive lanes would have; equal lanes all have that of the first.
 * SPDX-License-Identifier: MIT
 */
#include "access.h"

static unsigned address_part(struct emit *e, unsigned entry, unsigned row,
                             unsigned part)
{
    if (entry != NO_ENTRY)
        return row_reg(e, entry, part);
    unsigned t = temp_reg(e, TEMP_S1);
    x86_vec(e->x, X86_MOVUPS, t, 0, row_mem(e, row, part), 0, 0);
    return t;
}

unsigned access_offsets(struct emit *e, const struct access *a, unsigned part)
{
    return address_part(e, a->lo, a->addr, part);
}

unsigned access_uppers(struct emit *e, const struct access *a, unsigned part)
{
    return address_part(e, a->hi, a->addr + 1u, part);
}

unsigned access_signs(struct emit *e, unsigned part)
{
    unsigned m = temp_reg(e, TEMP_E);
    x86_vec(e->x, X86_BROADCASTSS, m, 0, rm_mem(W, sgpr_mem(exec_sel(e)).disp), 0, 0);
    x86_vec(e->x, X86_PSLLVD, m, m, const_part(e, C_LANES0 + part, 0), 0, 0);
    return m;
}

enum x86_cc access_differ(struct emit *e, unsigned reg, struct x86_rm rm, unsigned part)
{
    unsigned t = temp_reg(e, TEMP_X);
    if (e->x->evex) {
        x86_vec(e->x, X86_PCMPD, K_TEST, reg, rm, under_exec(e, part), CMP_NE);
        x86_kortest(e->x, K_TEST, K_TEST);
        return CC_NE;
    }
    if (!e->masked) {
        x86_vec(e->x, X86_PXOR, t, reg, rm, 0, 0);
        x86_vec(e->x, X86_PTEST, t, 0, rm_reg(t), 0, 0);
        return CC_NE;
    }
    x86_vec(e->x, X86_PCMPEQD, t, reg, rm, 0, 0);
    x86_vec(e->x, X86_TESTPS, t, 0, rm_reg(access_signs(e, part)), 0,
            0); /* carry: none is on and not t */
    return CC_AE;
}

void access_first(struct emit *e, const struct access *a, unsigned part)
{
    unsigned reg = access_offsets(e, a, part);
    x86_vmovd(e->x, RCX, reg);
    x86_vec(e->x, X86_PBROADCASTD, temp_reg(e, TEMP_A), 0, rm_reg(reg), 0, 0);
}

struct x86_rm access_steps(const struct emit *e, const struct access *a, unsigned part)
{
    if (a->learnt)
        return rm_mem(R8, (int32_t)(part * e->part_bytes));
    unsigned c = a->step == 1   ? C_LANE1_0
                 : a->step == 2 ? C_LANE2_0
                 : a->step == 4 ? C_LANE4_0
                 : a->step == 8 ? C_LANE8_0
                                : C_LANE16_0;
    return const_part(e, c, part);
}

enum x86_cc access_part_apart(struct emit *e, const struct access *a, unsigned part)
{
    unsigned t = temp_reg(e, TEMP_B);
    x86_vec(e->x, X86_PADDD, t, temp_reg(e, TEMP_A), access_steps(e, a, 0), 0, 0);
    return access_differ(e, t, rm_reg(access_offsets(e, a, part)), part);
}

enum x86_cc access_part_unequal(struct emit *e, const struct access *a, unsigned part)
{
    unsigned t = temp_reg(e, TEMP_A);
    return access_differ(e, t, rm_reg(access_offsets(e, a, part)), part);
}

enum x86_cc access_row_apart(struct emit *e, const struct access *a)
{
    unsigned t = temp_reg(e, TEMP_X), any = temp_reg(e, TEMP_B);
    for (unsigned p = 0; p < e->parts; p++) {
        unsigned to = p || e->x->evex ? t : any;
        unsigned reg = access_offsets(e, a, p);
        x86_vec(e->x, X86_PADDD, to, temp_reg(e, TEMP_A), access_steps(e, a, p), 0, 0);
        if (e->x->evex) {
            x86_vec(e->x, X86_PCMPD, K_TEST + p, to, rm_reg(reg), under_exec(e, p),
                    CMP_NE);
            continue;
        }
        x86_vec(e->x, X86_PXOR, to, to, rm_reg(reg), 0, 0);
        if (p)
            x86_vec(e->x, X86_POR, any, any, rm_reg(to), 0, 0);
    }
    if (e->x->evex)
        x86_kortest(e->x, K_TEST, K_TEST + 1);
    else
        x86_vec(e->x, X86_PTEST, any, 0, rm_reg(any), 0, 0);
    return CC_NE;
}

void access_spread(struct emit *e, unsigned vector, unsigned gpr)
{
    x86_vmovd_from(e->x, vector, gpr);
    x86_vec(e->x, X86_PBROADCASTD, vector, 0, rm_reg(vector), 0, 0);
}

void access_within(struct emit *e, struct access *a, unsigned limit, unsigned start)
{
    unsigned t = temp_reg(e, TEMP_B), u = temp_reg(e, TEMP_X);
    struct x86 *x = e->x;
    bool all = !x->evex && !e->masked; /* then the greatest of them all */
    if (all)
        x86_vec(x, X86_MOVUPS, t, 0, rm_reg(limit), 0, 0);
    for (unsigned p = 0; p < e->parts; p++) {
        unsigned reg = access_offsets(e, a, p);
        if (start != NO_ENTRY) {
            x86_vec(x, X86_PSUBD, u, reg, rm_reg(start), 0, 0);
            reg = u;
        }
        if (x->evex) {
            x86_vec(x, X86_PCMPUD, K_TEST + p, reg, rm_reg(limit), under_exec(e, p),
                    CMP_GT);
            continue;
        }
        x86_vec(x, X86_PMAXUD, t, all ? t : limit, rm_reg(reg), 0, 0);
        if (!all)
            far_from(a->slow, x86_jcc(x, access_differ(e, t, rm_reg(limit), p)));
    }
    if (x->evex) {
        x86_kortest(x, K_TEST, K_TEST + 1);
        far_from(a->slow, x86_jcc(x, CC_NE));
    } else if (all) {
        far_from(a->slow, x86_jcc(x, access_differ(e, t, rm_reg(limit), 0)));
    }
}

/* Lanes from on, n of them: consecutive, or equal? */
static bool is_line(const uint32_t *v, unsigned n, unsigned step)
{
    for (unsigned l = 0; l < n; l++)
        if (v[l] - v[0] != l * step)
            return false;
    return true;
}

/* A row that the trace has written before tells nothing. */
enum shape access_shape(const struct emit *e, const struct access *a)
{
    unsigned row = a->addr, n = e->part_bytes / 4;
    const uint32_t *v = e->vgprs + (size_t)row * ROW_BYTES / 4;
    if (e->written[row])
        return SHAPE_UNKNOWN;
    if (is_line(v, 32, a->step))
        return SHAPE_ROW;
    for (unsigned l = 0; l < 32; l += n)
        if (!is_line(v + l, n, a->bytes) && !is_line(v + l, n, 0))
            return SHAPE_APART;
    return SHAPE_PARTS;
}

bool access_row_likely(const struct emit *e, const struct access *a)
{
    enum shape shape = access_shape(e, a);
    return shape == SHAPE_ROW || shape == SHAPE_UNKNOWN;
}

unsigned access_step_likely(const struct emit *e, const struct access *a)
{
    unsigned row = a->addr;
    const uint32_t *v = e->vgprs + (size_t)row * ROW_BYTES / 4;
    bool known = e->x->evex && !e->masked && !e->written[row] && a->bytes >= 4;
    for (unsigned step = 2 * a->bytes; known && step <= 16; step *= 2)
        if (is_line(v, 32, step))
            return step;
    return a->bytes;
}
