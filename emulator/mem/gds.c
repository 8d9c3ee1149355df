/* gds.c: data-share instructions on the global data share (manual 12.7, 13.4).
 *
 * The instructions are those of LDS; here their memory is the device's for the time of
 * one instruction, and only the first active lane takes part. M0 has the size in the
 * low half and the base in the high half. Append and consume count all of EXEC and take
 * their address from M0's base.
 *
 * Invariant: a handler sees the group's own LDS again when the lock is released.
 *
 * SPDX-License-Identifier: MIT
 */
#include "access.h"
#include "handlers.h"

#include <stdlib.h>

#define GDS_BYTES 4096u /* manual 1.2.2.2 */

/* The plain handler of the instruction. */
static sem_wave_fn *plain_handler(const struct wave *w, const struct uop *u)
{
    const struct level_ops *l = w->emu->level;
    const struct sem_entry *e = w->emu->sem[u->isa_op];
    switch (e->kind) {
    case SEM_WAVE:
        return e->fn.wave;
    case SEM_ATOMIC:
        return l->ds_atomic;
    default:
        return u->flags & UF_GDS_STORE ? l->ds_store : l->ds_load;
    }
}

/* EXEC with its lowest bit alone. */
static void first_lane(struct wave *w)
{
    uint32_t *exec = &w->sgpr[ISA_SEL_EXEC_LO];
    exec[0] &= 0u - exec[0];
    if (w->wave64)
        exec[1] = exec[0] ? 0 : exec[1] & (0u - exec[1]);
}

const struct uop *x_gds(struct wave *w, const struct uop *u)
{
    struct emu *emu = w->emu;
    struct workgroup *g = w->group;
    uint32_t *sgpr = w->sgpr, m0 = sgpr[ISA_SEL_M0], base = m0 >> 16,
             size = m0 & 0xffffu;
    uint32_t exec[2] = {sgpr[ISA_SEL_EXEC_LO], sgpr[ISA_SEL_EXEC_HI]};
    bool counts = emu->sem[u->isa_op]->kind == SEM_WAVE;
    base = base < GDS_BYTES ? base : GDS_BYTES;
    size = size < GDS_BYTES - base ? size : GDS_BYTES - base;
    pthread_mutex_lock(&emu->gds_lock);
    if (!emu->gds)
        emu->gds = calloc(1, GDS_BYTES);
    if (!emu->gds) {
        pthread_mutex_unlock(&emu->gds_lock);
        return wave_fault(w, u, EMU_FAULT_UNSUPPORTED, "no memory for the GDS");
    }
    uint8_t *lds = g->lds;
    uint32_t lds_bytes = g->lds_bytes;
    g->lds = counts ? emu->gds : emu->gds + base;
    g->lds_bytes = counts ? base + size : size;
    if (counts)
        sgpr[ISA_SEL_M0] = base;
    else
        first_lane(w);
    const struct uop *next = plain_handler(w, u)(w, u);
    g->lds = lds;
    g->lds_bytes = lds_bytes;
    sgpr[ISA_SEL_M0] = m0;
    sgpr[ISA_SEL_EXEC_LO] = exec[0];
    sgpr[ISA_SEL_EXEC_HI] = exec[1];
    pthread_mutex_unlock(&emu->gds_lock);
    return next;
}
