/* race_forms.c: how rows of lanes lie, for race_row.c: found out once.
 *
 * Invariant: equal rows have equal numbers, as long as there are waves.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "race.h"

#define LINE_BYTES (4 * (int)SHADOW_LINE)
#define NAMES      (2u * RACE_FORMS)

/* Lines of which each lane's element lies behind the one before. */
static void find_lines(struct race_form *f, const struct emu_row *row)
{
    if (row->scalar || row->bytes < 4 || row->bytes & (row->bytes - 1u))
        return;
    unsigned each = (unsigned)LINE_BYTES / row->bytes, n = 32 / each;
    for (unsigned i = 0; i < n; i++) {
        const int32_t *at = row->offset + (size_t)i * each;
        if (at[0] % LINE_BYTES)
            return;
        for (unsigned k = 1; k < each; k++)
            if (at[k] - at[0] != (int32_t)(k * row->bytes))
                return;
        f->line[i].at = at[0];
        f->line[i].lane = (uint8_t)(i * each);
        for (unsigned k = 0; k < i; k++) /* the later one would count */
            if (f->line[k].at == at[0])
                return;
    }
    f->form = (uint8_t)__builtin_ctz(row->bytes / 4u);
    f->n_lines = (uint8_t)n;
    f->in_order = true;
    for (unsigned i = 0; i < n; i++)
        f->in_order &= f->line[i].at == (int32_t)i * LINE_BYTES;
    f->pair = f->in_order && n == 2;
    f->strip = f->pair && !row->lds;
}

/* Lanes that lie in a block or two, by halves of dwords. */
static void find_reads(struct race_form *f, struct shadow_form *s,
                       const struct emu_row *row)
{
    int32_t low = 0, high = 0, odd = row->bytes;
    unsigned lanes = row->scalar ? 1 : 32;
    for (unsigned l = 0; l < lanes; l++) {
        low = row->offset[l] < low ? row->offset[l] : low;
        high = row->offset[l] > high ? row->offset[l] : high;
        odd |= row->offset[l];
    }
    int32_t span = high - low + row->bytes;
    if (row->write || row->lds || odd % 2 || span > (int32_t)SHADOW_BLOCK)
        return;
    f->low = low;
    f->span = s->span = (uint16_t)span;
    s->lanes = (uint8_t)lanes;
    s->bytes = row->bytes;
    for (unsigned l = 0; l < lanes; l++) {
        s->offset[l] = (uint16_t)(row->offset[l] - low);
        for (unsigned k = 0; k < row->bytes; k += 2) {
            unsigned half = (s->offset[l] + k) / 2;
            s->halves[SHADOW_WORDS + half / 64] |= UINT64_C(1) << half % 64;
        }
    }
    f->reads = true;
}

static bool same(const struct race_form *f, const struct emu_row *row)
{
    return f->bytes == row->bytes && f->write == row->write && f->lds == row->lds &&
           f->scalar == row->scalar &&
           !memcmp(f->offset, row->offset, sizeof f->offset);
}

static uint32_t hash_of(const struct emu_row *row)
{
    uint64_t h = row->bytes * 8u + row->scalar * 4u + row->write * 2u + row->lds;
    for (unsigned l = 0; l < 32; l++)
        h = (h ^ (uint32_t)row->offset[l]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 40);
}

static bool make_room(struct ck_race *r)
{
    if (!r->form) {
        r->form = calloc(RACE_FORMS, sizeof *r->form);
        r->global->form_of = calloc(RACE_FORMS, sizeof *r->global->form_of);
        r->form_name = calloc(NAMES, sizeof *r->form_name);
        r->n_forms = 1;
    }
    return r->form && r->global->form_of && r->form_name && r->n_forms < RACE_FORMS;
}

void race_forms_free(struct ck_race *r)
{
    if (r->global)
        free(r->global->form_of);
    free(r->form);
    free(r->form_name);
}

void race_forms_begin(struct ck_race *r)
{
    if (r->n_forms < RACE_FORMS / 2)
        return;
    memset(r->form, 0, RACE_FORMS * sizeof *r->form);
    memset(r->global->form_of, 0, RACE_FORMS * sizeof *r->global->form_of);
    memset(r->form_name, 0, NAMES * sizeof *r->form_name);
    r->n_forms = 1;
    r->forms_made++;
}

uint32_t ck_race_form(void *ctx, const struct emu_row *row)
{
    struct ck *ck = ctx;
    struct ck_race *r = ck->race;
    if (!r || ck->config.lanes || !make_room(r))
        return 0;
    uint32_t at = hash_of(row) % NAMES;
    for (; r->form_name[at]; at = (at + 1) % NAMES)
        if (same(&r->form[r->form_name[at]], row))
            return r->forms_made * RACE_FORMS + r->form_name[at];
    struct race_form *f = &r->form[r->n_forms];
    memcpy(f->offset, row->offset, sizeof f->offset);
    f->bytes = row->bytes;
    f->write = row->write;
    f->lds = row->lds;
    f->scalar = row->scalar;
    f->number = (uint16_t)r->n_forms;
    find_lines(f, row);
    find_reads(f, &r->global->form_of[r->n_forms], row);
    r->form_name[at] = (uint16_t)r->n_forms;
    return r->forms_made * RACE_FORMS + r->n_forms++;
}

/* What race_row.c does not make is there: room for a site, areas where they are found,
 * blocks of this epoch. Else judging by runs would make values of all their reads, and
 * nobody would find rows there any more. */
static void reach_all(struct shadow *s, const struct emu_access *a)
{
    (void)shadow_room(s);
    uint64_t block = UINT64_MAX;
    for (unsigned l = 0; l < (a->scalar ? 1u : 32u); l++)
        for (unsigned end = 0; end < 2; end++) {
            uint64_t at = a->address[l] + (end ? a->bytes - 1u : 0);
            if (at / SHADOW_BLOCK != block)
                (void)shadow_reach(s, at);
            block = at / SHADOW_BLOCK;
        }
}

bool race_row_ask(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct ck_race *r = ck->race;
    const struct emu_access *a = e->access;
    struct emu_row row = {.pc = e->inst->pc,
                          .bytes = (uint8_t)a->bytes,
                          .write = a->write,
                          .lds = a->space == EMU_SPACE_LDS,
                          .scalar = a->scalar};
    if (e->n_accesses != 1 || (a->scalar ? a->write || a->bytes > EMU_ROW_SCALAR
                                         : a->lanes != UINT32_MAX || a->bytes > 16))
        return false;
    for (unsigned l = 0; l < 32 && !a->scalar; l++) {
        int64_t at = (int64_t)(a->address[l] - a->address[0]);
        row.offset[l] = (int32_t)at;
        if (at != row.offset[l])
            return false;
    }
    row.form = ck_race_form(ck, &row);
    if (!row.form)
        return false;
    const struct race_form *f = &r->form[row.form % RACE_FORMS];
    if (!f->n_lines && !f->reads)
        return false;
    reach_all(row.lds ? w->group->lds : r->global, a);
    return ck_race_row(ck_race_mine(ck, w), a->address[0], &row);
}
