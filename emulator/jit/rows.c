/* rows.c: which VGPRs are in host registers, and which of them memory lacks.
 *
 * A register that is written is stored once, when its place is needed, or before
 * anything that looks at memory: a handler, a possible fault, the end of the trace.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "emit.h"

void rows_init(struct row_cache *r, unsigned entries)
{
    memset(r, 0, sizeof *r);
    memset(r->entry_of, NO_ENTRY, sizeof r->entry_of);
    r->n = entries;
}

static void put(struct emit *e, unsigned row, unsigned c)
{
    for (unsigned p = 0; p < e->parts; p++)
        x86_vec(e->x, X86_MOVUPS_ST, row_reg(e, c, p), 0, row_mem(e, row, p), 0, 0);
}

static void store(struct emit *e, struct row_cache *r, unsigned c)
{
    put(e, r->row[c], c);
    r->dirty[c] = false;
}

void rows_store(struct emit *e, unsigned c)
{
    if (e->rows.dirty[c])
        store(e, &e->rows, c);
}

static void load(struct emit *e, unsigned row, unsigned c)
{
    for (unsigned p = 0; p < e->parts; p++)
        x86_vec(e->x, X86_MOVUPS, row_reg(e, c, p), 0, row_mem(e, row, p), 0, 0);
}

/* A place for one more row: a free one, or that which was not used for longest. */
static unsigned take(struct emit *e)
{
    struct row_cache *r = &e->rows;
    unsigned best = NO_ENTRY;
    for (unsigned c = 0; c < r->n; c++) {
        if (r->pinned[c] || (r->resident[c] && r->used[c]))
            continue;
        if (!r->used[c] && !r->resident[c])
            return c;
        if (r->used[c] && (best == NO_ENTRY || r->stamp[c] < r->stamp[best]))
            best = c;
    }
    if (best == NO_ENTRY) { /* more operands than places */
        e->failed = true;
        return 0;
    }
    if (r->dirty[best])
        store(e, r, best);
    r->entry_of[r->row[best]] = NO_ENTRY;
    r->used[best] = false;
    return best;
}

static unsigned place(struct emit *e, unsigned row)
{
    struct row_cache *r = &e->rows;
    unsigned c = NO_ENTRY;
    for (unsigned i = 0; i < r->n; i++)
        if (r->resident[i] && r->row[i] == row)
            c = i; /* its own, from which a handler has driven it */
    if (c == NO_ENTRY)
        c = take(e);
    r->entry_of[row] = (uint8_t)c;
    r->row[c] = (uint16_t)row;
    r->used[c] = true;
    r->dirty[c] = false;
    return c;
}

static unsigned touch(struct row_cache *r, unsigned c)
{
    r->stamp[c] = ++r->now;
    r->pinned[c] = true;
    return c;
}

unsigned rows_find(struct emit *e, unsigned row)
{
    unsigned c = e->rows.entry_of[row];
    return c == NO_ENTRY ? c : touch(&e->rows, c);
}

unsigned rows_load(struct emit *e, unsigned row)
{
    unsigned c = rows_find(e, row);
    if (c != NO_ENTRY)
        return c;
    c = place(e, row);
    load(e, row, c);
    return touch(&e->rows, c);
}

bool rows_room(const struct emit *e)
{
    const struct row_cache *r = &e->rows;
    for (unsigned c = 0; c < r->n; c++)
        if (!r->used[c] && !r->resident[c])
            return true;
    return false;
}

unsigned rows_write(struct emit *e, unsigned row, bool keep)
{
    unsigned c = keep ? rows_load(e, row) : rows_find(e, row);
    e->written[row] = true;
    known_forget_row(e, row);
    if (e->run.on && e->wave64) {
        e->written[row + WAVE_VGPRS] = true;
        known_forget_row(e, row + WAVE_VGPRS);
    }
    if (c == NO_ENTRY)
        c = touch(&e->rows, place(e, row));
    e->rows.dirty[c] = true;
    return c;
}

void rows_drop(struct emit *e, unsigned row)
{
    unsigned c = e->rows.entry_of[row];
    e->written[row] = true;
    known_forget_row(e, row);
    if (c == NO_ENTRY)
        return;
    e->rows.entry_of[row] = NO_ENTRY;
    e->rows.used[c] = e->rows.dirty[c] = e->rows.pinned[c] = false;
}

void rows_unpin(struct emit *e)
{
    memset(e->rows.pinned, 0, sizeof e->rows.pinned);
}

void rows_flush(struct emit *e, struct row_cache *r)
{
    for (unsigned c = 0; c < r->n; c++)
        if (r->used[c] && r->dirty[c])
            store(e, r, c);
}

void rows_forget(struct row_cache *r)
{
    memset(r->entry_of, NO_ENTRY, sizeof r->entry_of);
    memset(r->used, 0, sizeof r->used);
    memset(r->dirty, 0, sizeof r->dirty);
}

struct rows_state rows_state(const struct row_cache *r)
{
    struct rows_state s = {.used = 0};
    memcpy(s.row, r->row, sizeof s.row);
    for (unsigned c = 0; c < r->n; c++) {
        s.used |= (uint16_t)(r->used[c] << c);
        s.dirty |= (uint16_t)((r->used[c] && r->dirty[c]) << c);
    }
    return s;
}

void rows_put(struct emit *e, struct rows_state *r)
{
    for (unsigned c = 0, left = r->dirty; left; c++, left >>= 1)
        if (left & 1)
            put(e, r->row[c], c);
    r->dirty = 0;
}

void rows_reload(struct emit *e, const struct rows_state *to)
{
    for (unsigned c = 0, left = to->used; left; c++, left >>= 1)
        if (left & 1)
            load(e, to->row[c], c);
}
