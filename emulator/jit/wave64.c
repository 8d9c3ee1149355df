/* wave64.c: instructions of waves with 64 lanes: for the lower half, then for the upper
 * one, whose rows lie behind those of the lower, whose masks are the next SGPRs.
 *
 * The slow path does both halves: so they are looked at before either is written, or
 * doing one of them twice must change nothing. What crosses the halves is the
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

/* Loads must not write their own addresses: the slow path may come after a half. */
static bool overlaps(unsigned addr, unsigned data)
{
    return addr + 1 >= data && addr < data + MAX_DWORDS;
}

static bool suits(const struct emit *e, const struct uop *u)
{
    const struct level_ops *l = e->emu->level;
    bool buffer = u->fn == x_buffer_load || u->fn == x_buffer_store;
    bool load = u->fn == l->vmem_load || u->fn == l->ds_load || u->fn == x_buffer_load;
    bool store =
        u->fn == l->vmem_store || u->fn == l->ds_store || u->fn == x_buffer_store;
    if (u->isa_op == ISA_DS_BPERMUTE_B32 || (!load && !store) ||
        !emit_known_memory(e, u))
        return false;
    return !load || (buffer ? !overlaps(u->buf.vaddr, u->buf.vdata)
                            : !overlaps(u->mem.addr, u->d));
}

bool emit_memory64(struct emit *e, const struct uop *u)
{
    bool buffer = u->fn == x_buffer_load || u->fn == x_buffer_store;
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
    for (e->half = 0; e->half < 2; e->half++) {
        emit_load_exec(e);
        if (!emit_memory(e, e->half ? &upper : u))
            e->failed = true; /* it was known */
    }
    watch_once(e, first);
    e->half = 0;
    e->whole = NULL;
    return true;
}
