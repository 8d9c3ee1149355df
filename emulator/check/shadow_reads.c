/* shadow_reads.c: what has read a block, by rows of lanes, as long as nobody wants to
 * know of which values it is the last.
 *
 * Most of what is read is written by nobody: that a row of lanes has read is noted
 * once, in as many bytes as three lanes take. Rows of a block have no byte in common,
 * so whoever looks for values finds the same whenever they are made. Must not know what
 * is a race. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "shadow.h"

#define CHUNK_READS 256u

struct shadow_reads_chunk {
    struct shadow_reads_chunk *next;
    struct shadow_reads v[CHUNK_READS];
};

void shadow_more_reads(struct shadow *s)
{
    struct shadow_reads_chunk *c = s->spare_reads ? NULL : calloc(1, sizeof *c);
    if (!c)
        return;
    c->next = s->reads_chunk;
    s->reads_chunk = c;
    for (unsigned i = 0; i < CHUNK_READS; i++) {
        c->v[i].next = s->spare_reads;
        s->spare_reads = &c->v[i];
    }
}

void shadow_free_reads(struct shadow *s)
{
    while (s->reads_chunk) {
        struct shadow_reads_chunk *c = s->reads_chunk;
        s->reads_chunk = c->next;
        free(c);
    }
    s->spare_reads = NULL;
}

/* Bytes of a lane that lie in the block: [*at, *end). */
static bool part_of(const struct shadow_form *f, const struct shadow_read *r,
                    unsigned lane, unsigned *at, unsigned *end)
{
    int from = r->base + f->offset[lane], to = from + f->bytes;
    *at = from < 0 ? 0 : (unsigned)from;
    *end = to > (int)SHADOW_BLOCK ? SHADOW_BLOCK : to < 0 ? 0 : (unsigned)to;
    return *at < *end;
}

/* Values as small as race_rows.c would make them. */
static bool split(struct shadow *s, struct shadow_block *b, const struct shadow_read *r)
{
    const struct shadow_form *f = &s->form_of[r->form];
    unsigned at, end, low = 0;
    for (unsigned l = 0; l < f->lanes; l++)
        if (part_of(f, r, l, &at, &end))
            low |= at | f->bytes;
    return low % 4 == 0 || shadow_split(s, b, 1);
}

static void settle_read(struct shadow *s, struct shadow_block *b,
                        const struct shadow_read *r)
{
    const struct shadow_form *f = &s->form_of[r->form];
    const uint32_t number[2] = {r->first, r->last};
    unsigned at, end;
    for (unsigned i = 0; i < 2; i++) {
        enum shadow_plane plane = i ? SHADOW_READ2 : SHADOW_READ;
        for (unsigned l = 0; number[i] && l < f->lanes; l++) {
            if (!part_of(f, r, l, &at, &end))
                continue;
            for (; at < end; at += 1u << b->shift) {
                uint32_t *v = shadow_put(s, b, plane, at);
                if (!v)
                    return;
                *v = number[i] << SHADOW_LANE | l;
            }
        }
        if (number[i])
            shadow_raise(b, plane, number[i]);
    }
}

void shadow_settle(struct shadow *s, struct shadow_block *b)
{
    struct shadow_reads *reads = b->reads;
    b->reads = NULL;
    for (unsigned i = 0; i < reads->n; i++)
        if (split(s, b, &reads->v[i])) /* else out of memory */
            settle_read(s, b, &reads->v[i]);
    reads->next = s->spare_reads;
    s->spare_reads = reads;
}

void shadow_renumber_reads(struct shadow_block *b, uint32_t *to, bool marks)
{
    for (unsigned i = 0; i < b->reads->n; i++) {
        struct shadow_read *r = &b->reads->v[i];
        uint32_t *of[2] = {&r->first, &r->last};
        for (unsigned k = 0; k < 2; k++) {
            if (marks)
                to[*of[k]] = 1;
            else
                *of[k] = to[*of[k]];
        }
    }
}
