/* stored.c: contexts of waves that the host stores and loads (context.h), where no
 * handler's code does.
 *
 * Waves stay as they are: what is in memory is a picture of them, and what has been
 * changed in it meanwhile is taken over. Must not know where pictures lie. Threads:
 * that which runs the workgroup, while it stands still. SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "context.h"
#include "dispatch.h"

#define SGPRS     108u /* with VCC */
#define TTMPS     16u
#define PLACE     (~(UINT64_C(1) << 58)) /* less a flag of the handler's (trap.c) */
#define ROW_BYTES (ROW_DWORDS * 4u)
#define HALTS     (STATUS_HALT | STATUS_FATAL_HALT)
#define CHANGES   (STATUS_PRIV_WRITES | HALTS)

/* What comes behind the VGPRs. */
struct picture {
    uint32_t sgpr[EMU_SAVED_SGPR_BYTES / 4];
    uint32_t hw[EMU_SAVED_HWREG_BYTES / 4];
};

static void picture_of(struct wave *w, struct picture *p)
{
    uint64_t pc = context_pc(w);
    memset(p, 0, sizeof(*p));
    memcpy(p->sgpr, w->sgpr, SGPRS * sizeof(p->sgpr[0]));
    p->hw[EMU_SAVED_M0] = w->sgpr[ISA_SEL_M0];
    p->hw[EMU_SAVED_PC_LO] = (uint32_t)pc;
    p->hw[EMU_SAVED_PC_HI] = (uint32_t)(pc >> 32);
    p->hw[EMU_SAVED_EXEC_LO] = w->sgpr[ISA_SEL_EXEC_LO];
    p->hw[EMU_SAVED_EXEC_HI] = w->sgpr[ISA_SEL_EXEC_HI];
    p->hw[EMU_SAVED_STATUS] = wave_status(w);
    p->hw[EMU_SAVED_TRAPSTS] = w->trapsts_bits;
    p->hw[EMU_SAVED_MODE] = w->mode_bits;
    p->hw[EMU_SAVED_FLAT_SCRATCH_LO] = wave_getreg(w, HWREG_FLAT_SCR_LO);
    p->hw[EMU_SAVED_FLAT_SCRATCH_HI] = wave_getreg(w, HWREG_FLAT_SCR_HI);
    memcpy(&p->hw[EMU_SAVED_TTMP0], &w->sgpr[ISA_SEL_TTMP0], TTMPS * sizeof(p->hw[0]));
}

static uint64_t vgpr_bytes(const struct wave *w)
{
    return (uint64_t)w->group->n_vgprs * w->halves * ROW_BYTES;
}

/* Rows of the halves lie apart here and side by side there. */
static bool vgprs(struct wave *w, bool store)
{
    const struct emu_context *c = w->group->queue->context;
    uint64_t at = w->saved_at & PLACE;
    bool ok = true;
    if (w->halves == 1)
        return store ? c->store(c->ctx, at, w->vgpr[0], vgpr_bytes(w))
                     : c->load(c->ctx, at, w->vgpr[0], vgpr_bytes(w));
    for (unsigned v = 0; ok && v < w->group->n_vgprs; v++)
        for (unsigned h = 0; ok && h < w->halves; h++, at += ROW_BYTES) {
            uint32_t *row = &w->vgpr[h][(size_t)v * ROW_DWORDS];
            ok = store ? c->store(c->ctx, at, row, ROW_BYTES)
                       : c->load(c->ctx, at, row, ROW_BYTES);
        }
    return ok;
}

/* LDS lies with the wave that asked last. */
static uint64_t lds_at(const struct wave *w)
{
    bool has = w->group->lds_bytes && (w->saved_at & ~PLACE);
    return has ? (w->saved_at & PLACE) + vgpr_bytes(w) + sizeof(struct picture) : 0;
}

static bool store_wave(struct wave *w)
{
    const struct emu_context *c = w->group->queue->context;
    struct picture p;
    uint64_t where;
    if (w->fresh)
        wave_fill(w);
    if (!trap_place(w, &where))
        return false;
    picture_of(w, &p);
    uint64_t lds = lds_at(w);
    return vgprs(w, true) &&
           c->store(c->ctx, (where & PLACE) + vgpr_bytes(w), &p, sizeof(p)) &&
           (!lds || c->store(c->ctx, lds, w->group->lds, w->group->lds_bytes));
}

void context_store(struct workgroup *g)
{
    group_write_zeros(g);
    g->asked = g->saved = 0;
    for (unsigned i = g->n_waves; i-- > 0;)
        if (g->live >> i & 1 && store_wave(g->waves[i]))
            g->saved |= 1u << i;
    g->asked = 0;
}

/* ---- what has been changed ----------------------------------------------------------
 */

static void go_to(struct wave *w, uint64_t pc)
{
    const struct uop *next = wave_goto(w, pc);
    w->group->waiting &= ~wave_bit(w);
    if (next)
        w->next = next;
    else /* turns.c ends the workgroup */
        w->group->fault = (struct emu_fault){.kind = EMU_FAULT_FETCH,
                                             .pc = pc,
                                             .address = pc,
                                             .lane = -1,
                                             .wave = w->index};
}

static void put_status(struct wave *w, uint32_t status)
{
    struct workgroup *g = w->group;
    w->scc = status & STATUS_SCC;
    uint32_t kept = CHANGES & ~STATUS_SCC;
    w->status_bits = (w->status_bits & ~kept) | (status & kept);
    bool stands = w->status_bits & STATUS_FATAL_HALT ||
                  (w->status_bits & (STATUS_HALT | STATUS_PRIV)) == STATUS_HALT;
    g->halted = stands ? g->halted | wave_bit(w) : g->halted & ~wave_bit(w);
}

static void put_picture(struct wave *w, const struct picture *p)
{
    struct picture was;
    picture_of(w, &was);
    memcpy(w->sgpr, p->sgpr, SGPRS * sizeof(p->sgpr[0]));
    memcpy(&w->sgpr[ISA_SEL_TTMP0], &p->hw[EMU_SAVED_TTMP0], TTMPS * sizeof(p->hw[0]));
    w->sgpr[ISA_SEL_M0] = p->hw[EMU_SAVED_M0];
    w->sgpr[ISA_SEL_EXEC_LO] = p->hw[EMU_SAVED_EXEC_LO];
    w->sgpr[ISA_SEL_EXEC_HI] = p->hw[EMU_SAVED_EXEC_HI];
    w->trapsts_bits = p->hw[EMU_SAVED_TRAPSTS] & ~TRAPSTS_SAVECTX;
    if (p->hw[EMU_SAVED_MODE] != was.hw[EMU_SAVED_MODE])
        wave_mode_image(w, p->hw[EMU_SAVED_MODE]);
    if (p->hw[EMU_SAVED_STATUS] != was.hw[EMU_SAVED_STATUS])
        put_status(w, p->hw[EMU_SAVED_STATUS]);
    if (memcmp(&p->hw[EMU_SAVED_PC_LO], &was.hw[EMU_SAVED_PC_LO], 8) != 0)
        go_to(w, p->hw[EMU_SAVED_PC_LO] | (uint64_t)p->hw[EMU_SAVED_PC_HI] << 32);
}

/* A context that has gone changes nothing. */
void context_load(struct workgroup *g)
{
    const struct emu_context *c = g->queue->context;
    struct picture p;
    for (uint32_t left = g->saved; left; left &= left - 1) {
        struct wave *w = g->waves[__builtin_ctz(left)];
        uint64_t lds = lds_at(w), at = (w->saved_at & PLACE) + vgpr_bytes(w);
        if (!c->load(c->ctx, at, &p, sizeof(p)) || !vgprs(w, false))
            continue;
        put_picture(w, &p);
        if (lds)
            (void)!c->load(c->ctx, lds, g->lds, g->lds_bytes);
    }
    g->saved = 0;
}
