/* wave64.c: instructions of waves with 64 lanes: for the lower half, then for the upper
 * one, whose rows lie behind those of the lower, whose masks are the next SGPRs.
 *
 * The slow path does both halves: so they are looked at before either is written, or
 * doing one of them twice must change nothing; loads over their own addresses keep
 * those. What crosses the halves is the
 * handler's. SPDX-License-Identifier: MIT
 */
#include "access.h"
#include "handlers.h"
#include "machine.h"

static bool is_lane_op(const struct emit *e, const struct uop *u)
{
    const struct sem_entry *s = e->emu->sem[u->isa_op];
    return s && s->kind == SEM_LANE;
}

/* Does the mask that the lower half writes change a scalar that the upper one reads? */
static bool writes_scalar_source(const struct uop *u)
{
    for (unsigned i = 0; i < u->n_src; i++) {
        const struct usrc *s = &u->s[i];
        if (s->prep == PREP_SGPR && s->sel < u->d2 + 2u && u->d2 < s->sel + s->dwords)
            return true;
        if (s->prep == PREP_MASK && s->sel != u->d2 && s->sel + 1u >= u->d2 &&
            s->sel <= u->d2 + 1u)
            return true; /* pairs that overlap by one */
    }
    return false;
}

bool emit_vector64(struct emit *e, const struct uop *u)
{
    struct uop half[2];
    if (!is_lane_op(e, u) || u->flags & (UF_PAIR | UF_VCC_IN) ||
        (u->flags & UF_MASK_OUT && writes_scalar_source(u)) ||
        (emit_writes_exec(e, u) && u->d2 != ISA_SEL_EXEC_LO)) /* a half of it */
        return false;
    for (unsigned h = 0; h < 2; h++) {
        struct uop *to = &half[h];
        *to = *u;
        for (unsigned i = 0; i < u->n_src && h; i++) {
            if (u->s[i].base == SRC_VGPR)
                to->s[i].row += WAVE_VGPRS;
            if (u->s[i].prep == PREP_MASK)
                to->s[i].sel++;
        }
        if (h && !(u->flags & UF_NO_VALUE))
            to->d += WAVE_VGPRS;
        if (h && u->flags & UF_MASK_OUT && u->d2 != SGPR_DUMMY)
            to->d2++;
    }
    return emit_halves(e, u, half);
}

static bool is_buffer(const struct uop *u)
{
    return u->fn == x_buffer_load || u->fn == x_buffer_store;
}

static bool is_load(const struct emit *e, const struct uop *u)
{
    const struct level_ops *l = e->emu->level;
    return u->fn == l->vmem_load || u->fn == l->ds_load || u->fn == x_buffer_load;
}

static bool suits(const struct emit *e, const struct uop *u)
{
    const struct level_ops *l = e->emu->level;
    bool store =
        u->fn == l->vmem_store || u->fn == l->ds_store || u->fn == x_buffer_store;
    return u->isa_op != ISA_DS_BPERMUTE_B32 && (is_load(e, u) || store) &&
           emit_known_memory(e, u);
}

/* ---- loads over their own addresses ------------------------------------------------
 */

/* Rows of wave.temp behind those that loads use (move.c). */
static struct x86_rm kept_mem(const struct emit *e, unsigned k, unsigned part)
{
    return rm_mem(R10, (int32_t)((TEMP_RESULT + k) * ROW_BYTES + part * e->part_bytes));
}

/* The lower half's addresses, if it is about to load over them: the slow path of the
 * upper one wants them back. */
static void keep_addresses(struct emit *e, const struct uop *u)
{
    bool buffer = is_buffer(u);
    unsigned addr = buffer ? u->buf.vaddr : u->mem.addr, t = temp_reg(e, TEMP_A),
             n = !buffer && u->mem.addr64 ? 2 : 1, d = buffer ? u->buf.vdata : u->d,
             rows = buffer ? (u->buf.bytes + 3u) / 4
                           : (u->mem.bytes + 3u) / 4 * (u->mem.elems == 2 ? 2 : 1);
    if (!is_load(e, u) || addr == NO_ROW || addr + n <= d || d + rows <= addr)
        return;
    e->kept = n;
    e->kept_row = addr;
    x86_load(e->x, true, R10, wave_mem(offsetof(struct wave, temp)));
    for (unsigned k = 0; k < n; k++) {
        unsigned c = rows_find(e, addr + k);
        for (unsigned p = 0; p < e->parts; p++) {
            if (c == NO_ENTRY)
                x86_vec(e->x, X86_MOVUPS, t, 0, row_mem(e, addr + k, p), 0, 0);
            x86_vec(e->x, X86_MOVUPS_ST, c == NO_ENTRY ? t : row_reg(e, c, p), 0,
                    kept_mem(e, k, p), 0, 0);
        }
    }
    rows_unpin(e);
}

void emit_put_kept(struct emit *e, const struct far *f)
{
    unsigned t = temp_reg(e, TEMP_A);
    if (f->kept)
        x86_load(e->x, true, R10, wave_mem(offsetof(struct wave, temp)));
    for (unsigned k = 0; k < f->kept; k++)
        for (unsigned p = 0; p < e->parts; p++) {
            x86_vec(e->x, X86_MOVUPS, t, 0, kept_mem(e, k, p), 0, 0);
            x86_vec(e->x, X86_MOVUPS_ST, t, 0, row_mem(e, f->kept_row + k, p), 0, 0);
        }
}

/* ---- memory ------------------------------------------------------------------------
 */

bool emit_memory64(struct emit *e, const struct uop *u)
{
    bool buffer = is_buffer(u);
    if (u->fn == x_smem)
        return emit_memory(e, u);
    if (!suits(e, u))
        return false;
    struct uop upper = *u;
    if (buffer) {
        upper.buf.vaddr += WAVE_VGPRS;
        upper.buf.vdata += WAVE_VGPRS;
    } else {
        if (u->mem.addr != NO_ROW)
            upper.mem.addr += WAVE_VGPRS;
        upper.mem.data += WAVE_VGPRS;
        upper.mem.data2 += WAVE_VGPRS;
    }
    upper.d += WAVE_VGPRS;
    unsigned first = e->n_far;
    e->whole = u;
    keep_addresses(e, u);
    for (e->half = 0; e->half < 2; e->half++) {
        emit_load_exec(e);
        if (!emit_memory(e, e->half ? &upper : u))
            e->failed = true; /* it was known */
    }
    if (e->watch || e->kept) /* else the upper half may be done twice */
        watch_once(e, first);
    e->half = e->kept = 0;
    e->whole = NULL;
    return true;
}
