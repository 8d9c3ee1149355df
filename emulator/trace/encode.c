/* encode.c: the sections of a chunk, as format.h describes them.
 *
 * An access: u8 TRACE_MEM_*; if TRACE_MEM_META: u8 meta, v bytes; if TRACE_MEM_LANES: v
 * lanes (else EXEC; scalar: lane 0); z (address of the first lane - the last time's);
 * then, unless TRACE_MEM_SHAPE, until all lanes have theirs, runs: v length, z distance
 * to the next lane.
 * A value, for each register: of VGPRs row by row, of others all dwords as one row: u8
 * 0 and u32 if all dwords of the row are equal, else u8 1 and the dwords. Knows no
 * files. decode.c is the mirror image. SPDX-License-Identifier: MIT
 */
#include "encode.h"

#include <stdlib.h>
#include <string.h>

#define CTL_BYTES 31 /* of an event, at most */

static void put_ctl(struct buf *b, const struct emu_event *e, uint32_t inst,
                    struct trace_wave_state *ws)
{
    uint8_t *p = b->p + b->n;
    uint64_t v = zigzag((uint64_t)inst - ws->inst) << 2;
    bool exec = e->exec != ws->exec;
    v |= exec ? TRACE_CTL_EXEC : 0;
    v |= e->flags ? TRACE_CTL_FLAGS : 0;
    p = write_v(p, v);
    if (exec)
        p = write_v(p, e->exec ^ ws->exec);
    if (e->flags) {
        *p++ = (uint8_t)e->flags;
        if (e->flags & EMU_EV_TAKEN) {
            uint64_t behind = e->inst->pc + e->inst->bytes;
            p = write_z(p, (uint64_t)((int64_t)(e->next_pc - behind) / 4));
        }
    }
    b->n = (size_t)(p - b->p);
    ws->exec = e->exec;
    ws->inst = inst + 1;
}

/* ---- memory ------------------------------------------------------------------------
 */

#define ACCESS_BYTES (2 + 4 * 10 + 64 * 11)

static uint8_t meta_of(const struct emu_access *a)
{
    return (uint8_t)(a->space | (a->read ? TRACE_META_READ : 0) |
                     (a->write ? TRACE_META_WRITE : 0) |
                     (a->scalar ? TRACE_META_SCALAR : 0));
}

/* 0 if 32 lanes all lie shift bytes behind where they did. */
static inline uint64_t row_differs(const uint64_t *row, const uint64_t *old,
                                   uint64_t shift)
{
    uint64_t differ = 0;
    for (unsigned l = 0; l < 32; l++)
        differ |= (row[l] - old[l]) ^ shift;
    return differ;
}

/* Do the lanes lie to one another as they did? */
static bool same_shape(const struct emu_access *a, const struct trace_mem_state *ms)
{
    if (a->lanes != ms->lanes)
        return false;
    unsigned first = (unsigned)__builtin_ctzll(a->lanes);
    uint64_t shift = a->address[first] - ms->shape[first], differ = 0;
    if (a->lanes == UINT32_MAX || a->lanes == ~UINT64_C(0)) {
        differ = row_differs(a->address, ms->shape, shift);
        if (a->lanes >> 32)
            differ |= row_differs(a->address + 32, ms->shape + 32, shift);
    } else {
        for (uint64_t m = a->lanes; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctzll(m);
            differ |= a->address[l] - ms->shape[l] - shift;
        }
    }
    return !differ;
}

static uint8_t *put_distances(uint8_t *p, const struct emu_access *a)
{
    uint64_t lanes = a->lanes & (a->lanes - 1), step = 0, run = 0;
    uint64_t last = a->address[__builtin_ctzll(a->lanes)];
    for (; lanes; lanes &= lanes - 1) {
        uint64_t address = a->address[__builtin_ctzll(lanes)];
        if (run && address - last != step) {
            p = write_z(write_v(p, run), step);
            run = 0;
        }
        step = address - last;
        last = address;
        run++;
    }
    return run ? write_z(write_v(p, run), step) : p;
}

static uint8_t *put_access(uint8_t *p, const struct emu_access *a, uint64_t exec,
                           struct trace_mem_state *ms)
{
    uint8_t meta = meta_of(a), *head = p++;
    *head = 0;
    if (meta != ms->meta || a->bytes != ms->bytes) {
        *head |= TRACE_MEM_META;
        *p++ = meta;
        p = write_v(p, a->bytes);
    }
    if (a->lanes != (a->scalar ? 1 : exec)) {
        *head |= TRACE_MEM_LANES;
        p = write_v(p, a->lanes);
    }
    uint64_t first = a->address[__builtin_ctzll(a->lanes)];
    p = write_z(p, first - ms->first);
    ms->first = first;
    ms->bytes = a->bytes;
    ms->meta = meta;
    if (same_shape(a, ms)) {
        *head |= TRACE_MEM_SHAPE;
        return p;
    }
    ms->lanes = a->lanes;
    memcpy(ms->shape, a->address, sizeof ms->shape);
    return put_distances(p, a);
}

static bool put_memory(struct buf *b, const struct emu_event *e,
                       struct trace_inst_state *is)
{
    if (!buf_room(b, 1 + (size_t)e->n_accesses * ACCESS_BYTES))
        return false;
    uint8_t *p = b->p + b->n, *count = p++;
    *count = 0;
    for (unsigned i = 0; i < e->n_accesses && i < 255; i++) {
        unsigned state = i < TRACE_MEM_STATES ? i : TRACE_MEM_STATES - 1;
        if (!e->access[i].lanes)
            continue;
        p = put_access(p, &e->access[i], e->exec, &is->mem[state]);
        ++*count;
    }
    b->n = (size_t)(p - b->p);
    return true;
}

/* ---- values ------------------------------------------------------------------------
 */

static bool all_equal(const uint32_t *row, unsigned n)
{
    uint32_t differ = 0;
    for (unsigned i = 1; i < n; i++)
        differ |= row[i] ^ row[0];
    return !differ;
}

static uint8_t *put_row(uint8_t *p, const uint32_t *row, unsigned n)
{
    bool same = all_equal(row, n);
    *p++ = !same;
    size_t bytes = (same ? 1 : n) * sizeof *row;
    memcpy(p, row, bytes);
    return p + bytes;
}

static bool put_values(struct buf *b, const struct emu_event *e, unsigned direction)
{
    const struct emu_inst *inst = e->inst;
    const uint32_t *v = direction == ISA_OF_IN ? e->in : e->out;
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct emu_reg *r = &inst->reg[i];
        if (!(r->flags & direction))
            continue;
        bool vgpr = emu_reg_is_vgpr(r);
        unsigned rows = vgpr ? r->dwords : 1, n = vgpr ? e->wave->lanes : r->dwords;
        if (!buf_room(b, rows * (1 + n * sizeof *v)))
            return false;
        uint8_t *p = b->p + b->n;
        for (unsigned k = 0; k < rows; k++, v += n)
            p = put_row(p, v, n);
        b->n = (size_t)(p - b->p);
    }
    return true;
}

/* ---- an event
 * ------------------------------------------------------------------------ */

bool encode_event(struct buf section[TRACE_SECTIONS], const struct emu_event *e,
                  uint32_t chunk, uint32_t inst, struct trace_wave_state *ws,
                  struct trace_inst_state *is, bool values)
{
    if (ws->chunk != chunk)
        *ws = (struct trace_wave_state){.chunk = chunk,
                                        .exec = trace_all_lanes(e->wave->lanes)};
    if (!buf_room(&section[TRACE_CTL], CTL_BYTES) ||
        !buf_room(&section[TRACE_TIME], 10))
        return false;
    put_ctl(&section[TRACE_CTL], e, inst, ws);
    struct buf *t = &section[TRACE_TIME];
    t->n = (size_t)(write_z(t->p + t->n, e->time - ws->time) - t->p);
    ws->time = e->time;
    if (e->inst->kind == EMU_KIND_MEMORY) {
        if (!trace_inst_enter(is, chunk) || !put_memory(&section[TRACE_MEMORY], e, is))
            return false;
    }
    return !values || (put_values(&section[TRACE_VALUES], e, ISA_OF_IN) &&
                       put_values(&section[TRACE_VALUES], e, ISA_OF_OUT));
}
