/* decode.c: what encode.c wrote, or whatever else the file holds.
 *
 * Trusts nothing: a section may end anywhere and hold any bytes. Invariant: no value
 * from the file is an index or a count before it was compared with the room there is.
 * SPDX-License-Identifier: MIT
 */
#include "decode.h"

#include "relative.h"

#include <string.h>

uint32_t decode_ctl(struct cur *c, struct trace_wave_state *ws, struct decoded *d,
                    uint64_t *jump)
{
    uint64_t v = get_v(c);
    struct emu_event *e = &d->event;
    uint32_t inst = (uint32_t)(ws->inst + unzigzag(v >> 2));
    if (v & TRACE_CTL_EXEC)
        ws->exec ^= get_v(c);
    e->exec = ws->exec;
    e->flags = v & TRACE_CTL_FLAGS ? get_u8(c) : 0;
    *jump = e->flags & EMU_EV_TAKEN ? 4 * (uint64_t)get_z(c) : 0;
    ws->inst = inst + 1;
    return inst;
}

/* ---- memory ------------------------------------------------------------------------
 */

static bool decode_distances(struct cur *c, struct emu_access *a)
{
    uint64_t lanes = a->lanes & (a->lanes - 1);
    uint64_t address = a->address[__builtin_ctzll(a->lanes)];
    while (lanes) {
        uint64_t run = get_v(c), step = (uint64_t)get_z(c);
        if (c->bad || !run)
            return false;
        for (; run && lanes; run--, lanes &= lanes - 1) {
            address += step;
            a->address[__builtin_ctzll(lanes)] = address;
        }
        if (run)
            return false;
    }
    return true;
}

static bool decode_access(struct cur *c, struct trace_mem_state *ms, uint64_t exec,
                          struct emu_access *a)
{
    unsigned head = get_u8(c);
    if (head & ~(TRACE_MEM_META | TRACE_MEM_LANES | TRACE_MEM_SHAPE))
        return false;
    if (head & TRACE_MEM_META) {
        ms->meta = (uint8_t)get_u8(c);
        ms->bytes = (uint16_t)get_v(c);
    }
    a->space = ms->meta & TRACE_META_SPACE;
    a->read = ms->meta & TRACE_META_READ;
    a->write = ms->meta & TRACE_META_WRITE;
    a->scalar = ms->meta & TRACE_META_SCALAR;
    a->bytes = ms->bytes;
    a->lanes = head & TRACE_MEM_LANES ? get_v(c) : a->scalar ? 1 : exec;
    if (!a->lanes)
        return false;
    unsigned first = (unsigned)__builtin_ctzll(a->lanes);
    ms->first += (uint64_t)get_z(c);
    a->address[first] = ms->first;
    if (head & TRACE_MEM_SHAPE) {
        if (a->lanes != ms->lanes)
            return false;
        uint64_t shift = ms->first - ms->shape[first];
        for (unsigned l = 0; l < 64; l++)
            a->address[l] = ms->shape[l] + shift;
        return true;
    }
    if (!decode_distances(c, a))
        return false;
    ms->lanes = a->lanes;
    memcpy(ms->shape, a->address, sizeof ms->shape);
    return true;
}

bool decode_memory(struct cur *c, struct trace_inst_state *is, struct decoded *d)
{
    unsigned n = get_u8(c);
    for (unsigned i = 0; i < n; i++) {
        unsigned state = i < TRACE_MEM_STATES ? i : TRACE_MEM_STATES - 1;
        if (!decode_access(c, &is->mem[state], d->event.exec, &d->access[i]))
            return false;
    }
    d->event.n_accesses = n;
    d->event.access = d->access;
    return !c->bad;
}

/* ---- values ------------------------------------------------------------------------
 */

static bool decode_row(struct cur *c, uint32_t *row, unsigned n)
{
    bool raw = get_u8(c) != 0;
    const uint8_t *p = get_take(c, (raw ? n : 1) * sizeof *row);
    if (!p)
        return false;
    memcpy(row, p, (raw ? n : 1) * sizeof *row);
    for (unsigned i = 1; !raw && i < n; i++)
        row[i] = row[0];
    return true;
}

static bool decode_direction(struct cur *c, const struct emu_event *e,
                             unsigned direction, uint32_t *v)
{
    const struct emu_inst *inst = e->inst;
    const uint32_t *end = v + DECODE_DWORDS;
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct emu_reg *r = &inst->reg[i];
        if (!(r->flags & direction))
            continue;
        bool vgpr = emu_reg_is_vgpr(r);
        unsigned rows = vgpr ? r->dwords : 1, n = vgpr ? e->wave->lanes : r->dwords;
        for (unsigned k = 0; k < rows; k++, v += n)
            if ((size_t)(end - v) < n || !decode_row(c, v, n))
                return false;
    }
    return true;
}

/* Name the registers that M0 selected: M0 is among the inputs. */
static void resolve(struct decoded *d)
{
    const struct emu_inst *inst = d->event.inst;
    const uint32_t *in = d->in;
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct emu_reg *r = &inst->reg[i];
        if (!(r->flags & ISA_OF_IN))
            continue;
        if (r->sel == ISA_SEL_M0 && r->flags & ISA_OF_IMPLICIT) {
            inst_resolve(inst, *in, &d->resolved);
            d->event.inst = &d->resolved;
            return;
        }
        in += emu_reg_values(r, d->event.wave->lanes);
    }
}

bool decode_values(struct cur *c, struct decoded *d)
{
    d->event.in = d->in;
    d->event.out = d->out;
    if (!decode_direction(c, &d->event, ISA_OF_IN, d->in) ||
        !decode_direction(c, &d->event, ISA_OF_OUT, d->out))
        return false;
    if (inst_is_relative(&d->event.inst->isa))
        resolve(d);
    return true;
}
