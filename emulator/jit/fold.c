/* fold.c: recipes whose shift counts and field bounds are constants, which they mostly
 * are in compilers' code: shifts by an immediate instead of by a row.
 *
 * Counts beyond 31 give zeros as they do in the general recipes.
 * SPDX-License-Identifier: MIT
 */
#include "vector.h"

/* Source i of u is the same known number in all lanes. */
static bool is_constant(const struct emit *e, const struct uop *u, unsigned i,
                        uint32_t *value)
{
    const struct usrc *s = &u->s[i];
    if (i >= u->n_src || s->prep != PREP_NONE || s->base != SRC_CONST || s->mods)
        return false;
    *value = e->p->const_rows[(size_t)s->row * ROW_DWORDS];
    return true;
}

static void add(struct recipe *r, unsigned form, unsigned d, unsigned a, unsigned b,
                unsigned imm)
{
    r->step[r->n++] = (struct step){.form = (uint8_t)form,
                                    .d = (uint8_t)d,
                                    .a = (uint8_t)a,
                                    .b = (uint8_t)b,
                                    .imm = (uint8_t)imm};
}

static void add_shift(struct recipe *r, enum x86_form form, unsigned d, unsigned from,
                      unsigned count)
{
    add(r, form, d, OP_NONE, from, count);
}

static void add_zero(struct recipe *r, unsigned t)
{
    add(r, X86_PXOR, t, t, t, 0);
}

/* ---- bit fields: source 1 is the offset, source 2 the width */

static void fold_field(struct recipe *r, unsigned off, unsigned width, bool is_signed)
{
    enum x86_form right = is_signed ? X86_PSRAD_I : X86_PSRLD_I;
    if (width == 0) {
        add_zero(r, OP_T0);
        add(r, X86_MOVUPS, OP_D, OP_NONE, OP_T0, 0);
    } else if (off + width >= 32) {
        add_shift(r, right, OP_D, OP_S0, off);
    } else {
        add_shift(r, X86_PSLLD_I, OP_T0, OP_S0, 32 - off - width);
        add_shift(r, right, OP_D, OP_T0, 32 - width);
    }
}

/* ---- pairs: source 1, its upper half H */

static void fold_left(struct recipe *r, unsigned n)
{
    if (n < 32) {
        add_shift(r, X86_PSLLD_I, OP_T0, OP_H, n);
        add_shift(r, X86_PSRLD_I, OP_T1, OP_S1, 32 - n);
        add(r, X86_POR, OP_T1, OP_T0, OP_T1, 0);
        add_shift(r, X86_PSLLD_I, OP_D, OP_S1, n);
    } else {
        add_shift(r, X86_PSLLD_I, OP_T1, OP_S1, n - 32);
        add_zero(r, OP_T0);
        add(r, X86_MOVUPS, OP_D, OP_NONE, OP_T0, 0);
    }
    add(r, X86_MOVUPS, OP_DH, OP_NONE, OP_T1, 0);
}

static void fold_right(struct recipe *r, unsigned n)
{
    if (n < 32) {
        add_shift(r, X86_PSLLD_I, OP_T1, OP_H, 32 - n);
        add_shift(r, X86_PSRLD_I, OP_T0, OP_S1, n);
        add(r, X86_POR, OP_T1, OP_T0, OP_T1, 0);
        add_shift(r, X86_PSRLD_I, OP_T0, OP_H, n);
    } else {
        add_shift(r, X86_PSRLD_I, OP_T1, OP_H, n - 32);
        add_zero(r, OP_T0);
    }
    add(r, X86_MOVUPS, OP_D, OP_NONE, OP_T1, 0);
    add(r, X86_MOVUPS, OP_DH, OP_NONE, OP_T0, 0);
}

static void fold_align(struct recipe *r, unsigned n)
{
    add_shift(r, X86_PSLLD_I, OP_T0, OP_S0, 32 - n);
    add_shift(r, X86_PSRLD_I, OP_T1, OP_S1, n);
    add(r, X86_POR, OP_D, OP_T0, OP_T1, 0);
}

/* ---- shifts: a count that the first steps cut down to 31, used for nothing else */

static enum x86_form by_immediate(unsigned form)
{
    return form == X86_PSLLVD   ? X86_PSLLD_I
           : form == X86_PSRLVD ? X86_PSRLD_I
           : form == X86_PSRAVD ? X86_PSRAD_I
                                : X86_FORMS;
}

/* The step at which t is a count, from step k on, or the number of steps: it is more
 * than that, or used more than once. */
static unsigned only_count(const struct recipe *r, unsigned k, unsigned t)
{
    unsigned at = r->n;
    for (; k < r->n; k++) {
        const struct step *s = &r->step[k];
        if (s->a == t ||
            (s->b == t && (at < r->n || by_immediate(s->form) == X86_FORMS)))
            return r->n;
        if (s->b == t)
            at = k;
        if (s->d == t)
            break;
    }
    return at;
}

static bool fold_counts(const struct emit *e, const struct uop *u,
                        const struct recipe *r, struct recipe *to)
{
    bool any = false;
    uint32_t value;
    *to = *r;
    for (unsigned k = 0; k < to->n; k++) {
        struct step *s = &to->step[k];
        bool cut = s->form == X86_PAND && (s->b == K(31) || s->b == K(15)) &&
                   s->a >= OP_S0 && s->a <= OP_S2;
        unsigned at = cut ? only_count(to, k + 1, s->d) : to->n;
        if (at == to->n || !is_constant(e, u, s->a - OP_S0, &value))
            continue;
        struct step *shift = &to->step[at];
        shift->imm = (uint8_t)(value & (s->b == K(31) ? 31 : 15));
        shift->form = (uint8_t)by_immediate(shift->form);
        shift->b = shift->a;
        shift->a = OP_NONE;
        for (unsigned i = k; i + 1 < to->n; i++)
            to->step[i] = to->step[i + 1];
        to->n--;
        k--;
        any = true;
    }
    return any;
}

const struct recipe *recipe_folded(const struct emit *e, const struct uop *u,
                                   const struct recipe *r, struct recipe *to)
{
    uint32_t c[3] = {0};
    bool known[3];
    for (unsigned i = 0; i < 3; i++)
        known[i] = is_constant(e, u, i, &c[i]);
    *to = *r;
    to->n = 0;
    if ((r->op == ISA_V_BFE_U32 || r->op == ISA_V_BFE_I32) && known[1] && known[2])
        fold_field(to, c[1] & 31, c[2] & 31, r->op == ISA_V_BFE_I32);
    else if (r->op == ISA_V_ALIGNBIT_B32 && known[2])
        fold_align(to, c[2] & 31);
    else if (r->op == ISA_V_LSHLREV_B64 && known[0])
        fold_left(to, c[0] & 63);
    else if (r->op == ISA_V_LSHRREV_B64 && known[0])
        fold_right(to, c[0] & 63);
    else
        return fold_counts(e, u, r, to) ? to : r;
    return to;
}
