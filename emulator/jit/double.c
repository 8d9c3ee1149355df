/* double.c: steps of recipes on f64, with AVX-512: lanes are two rows of dwords, which
 * are zipped to doubles, eight at a time, and come apart again.
 *
 * The host orders NaNs as fp.h does and rounds as MXCSR says, which is the wave's for
 * f32: STEP_ROUNDED looks whether that for f64 is the same.
 * SPDX-License-Identifier: MIT
 */
#include "vector.h"

/* The upper row of source i of one part, with its modifiers. */
static struct x86_rm upper_rm(struct emit *e, struct job *j, unsigned i, unsigned part)
{
    static const uint8_t upper[] = {OP_H, OP_H1, OP_H2};
    unsigned x = temp_reg(e, TEMP_X), mods = j->u->s[i].mods, from = x;
    struct x86_rm rm = operand_rm(e, j, upper[i], part);
    if (!(mods & (SM_ABS | SM_NEG)))
        return rm;
    if (rm.kind == RM_REG)
        from = rm.reg;
    else
        x86_vec(e->x, rm.kind == RM_BCAST ? X86_BROADCASTSS : X86_MOVUPS, x, 0,
                rm.kind == RM_BCAST ? rm_mem(rm.mem.base, rm.mem.disp) : rm, 0, 0);
    if (mods & SM_ABS)
        x86_vec(e->x, X86_PAND, x, from, const_rm(C_NOT_SIGN), 0, 0);
    if (mods & SM_NEG)
        x86_vec(e->x, X86_PXOR, x, mods & SM_ABS ? x : from, const_rm(C_SIGN), 0, 0);
    return rm_reg(x);
}

/* Half of the doubles of source i of a part into t: of each four lanes the first or the
 * last two. */
static void zip(struct emit *e, struct job *j, unsigned i, unsigned part, bool second,
                unsigned t)
{
    struct x86_rm low = operand_rm(e, j, OP_S0 + i, part),
                  high = upper_rm(e, j, i, part);
    unsigned from = t;
    if (low.kind == RM_REG)
        from = low.reg;
    else
        x86_vec(e->x, low.kind == RM_BCAST ? X86_BROADCASTSS : X86_MOVUPS, t, 0,
                low.kind == RM_BCAST ? rm_mem(low.mem.base, low.mem.disp) : low, 0, 0);
    x86_vec(e->x, second ? X86_UNPCKHPS : X86_UNPCKLPS, t, from, high, 0, 0);
}

void double_run(struct emit *e, struct job *j, const struct step *s, unsigned part)
{
    static const enum x86_form forms[] = {X86_ADDPD, X86_MULPD};
    unsigned b = temp_reg(e, TEMP_S1), c = temp_reg(e, TEMP_S2);
    unsigned a[2] = {temp_reg(e, TEMP_S0), temp_reg(e, TEMP_A)};
    for (unsigned h = 0; h < 2; h++) {
        zip(e, j, 0, part, h, a[h]);
        zip(e, j, 1, part, h, b);
        if (s->imm == DOUBLE_FMA) {
            zip(e, j, 2, part, h, c);
            x86_vec(e->x, X86_FMADD132PD, a[h], c, rm_reg(b), 0, 0);
        } else {
            x86_vec(e->x, forms[s->imm], a[h], a[h], rm_reg(b), 0, 0);
        }
    }
    unsigned k = result_k(e, j, part);
    x86_vec(e->x, X86_SHUFPS, row_reg(e, j->d, part), a[0], rm_reg(a[1]), k, 0x88);
    x86_vec(e->x, X86_SHUFPS, row_reg(e, j->dh, part), a[0], rm_reg(a[1]), k, 0xdd);
}
