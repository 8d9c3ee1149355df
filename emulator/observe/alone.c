/* alone.c: the steps of a stepper that nobody but its caller watches.
 *
 * Does what observe_step does, without what others could want: the timing engine spends
 * a good part of its time here. Instructions that end a block, which may stop or
 * branch, go the long way. Must not know what the caller makes of an event. Invariant:
 * an event says the same either way, but for emu_event.row.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "execute.h"

bool observation_alone(const struct observation *ob)
{
    return ob->n_observers == 0 && !(ob->want & EMU_WANT_VALUES);
}

struct observation *observation_copy(const struct observation *ob)
{
    struct observation *copy = malloc(sizeof *copy);
    if (copy)
        *copy = *ob;
    return copy;
}

/* Accesses to LDS by all lanes, addresses left in the row. */
static unsigned row_accesses(const struct wave *w, const struct uop *u)
{
    struct observation *ob = w->observation;
    const struct umem *m = &u->mem;
    for (unsigned h = 0; h < w->halves; h++)
        memcpy(ob->row + (size_t)h * ROW_DWORDS, address_row(w, h, m->addr),
               ROW_DWORDS * sizeof *ob->row);
    for (unsigned e = 0; e < m->elems; e++) {
        struct emu_access *a = &ob->access[e];
        a->lanes = ob->event.exec;
        a->bytes = m->bytes;
        a->space = EMU_SPACE_LDS;
        a->read = m->dirs & MD_READ;
        a->write = m->dirs & MD_WRITE;
        a->scalar = false;
        a->address[0] = (uint32_t)(ob->row[0] + (e ? m->off1 : m->off0));
    }
    ob->event.row = ob->row;
    return m->elems;
}

static unsigned form_accesses(const struct wave *w, const struct uop *u)
{
    struct observation *ob = w->observation;
    uint64_t all = w->wave64 ? UINT64_MAX : UINT32_MAX;
    if (!(u->flags & UF_MEM))
        return 0;
    if (u->mem.space == MEM_LDS && ob->want & EMU_WANT_ROWS && ob->event.exec == all)
        return row_accesses(w, u);
    return w->emu->level->accesses(w, u, ob->access);
}

/* The code of a piece that w is about to run; NULL: its handlers do. */
static const void *code_of(struct wave *w, const struct uop *u, unsigned n)
{
    if (!w->native)
        w->native = native_pieces(w->emu->native, w);
    return w->native ? native_piece(w->native, w, u, n) : NULL;
}

const struct uop *observe_many(struct wave *w, const struct uop *u, unsigned n)
{
    const void *code = n >= NATIVE_PIECE_LEAST ? code_of(w, u, n) : NULL;
    return observe_execute_many(w, u, n, code);
}

const struct uop *observe_alone(struct wave *w, const struct uop *u, uint64_t index,
                                const struct emu_event **event)
{
    struct observation *ob = w->observation;
    const struct inst_info *info = program_inst(w->program, u);
    struct emu_event *e = &ob->event;
    if (u->run <= 1 || info->relative)
        return observe_step(w, u, info, index, event);
    e->wave = &w->info;
    e->inst = &info->inst;
    e->index = index;
    e->time = w->clock;
    e->exec = wave_exec64(w);
    e->access = ob->access;
    e->flags = 0;
    e->fault = NULL;
    e->row = NULL;
    ob->noted = false;
    ob->n_accesses = form_accesses(w, u);
    const struct uop *next = observe_execute(w, u);
    if (!next)
        return observe_finish(w, u, next, info, event);
    if (ob->noted)
        observe_join(ob);
    e->n_accesses = ob->n_accesses;
    e->next_pc = info->inst.pc + info->inst.bytes;
    *event = e;
    return next;
}
