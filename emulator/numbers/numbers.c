/* numbers.c: see numbers.h. A table of tables: by program, by instruction.
 * SPDX-License-Identifier: MIT
 */
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

/* Room for a program's table, at either end of those that are there. */
static bool reach(struct numbers *t, uint32_t code)
{
    uint32_t first = t->n_codes && t->first < code ? t->first : code;
    uint32_t last = code;
    if (t->n_codes && t->first + (uint32_t)t->n_codes - 1 > last)
        last = t->first + (uint32_t)t->n_codes - 1;
    size_t n = (size_t)(last - first) + 1;
    if (n == t->n_codes)
        return true;
    struct numbers_code *bigger = calloc(n, sizeof *bigger);
    if (!bigger)
        return false;
    if (t->n_codes)
        memcpy(bigger + (t->first - first), t->code, t->n_codes * sizeof *bigger);
    free(t->code);
    t->code = bigger;
    t->n_codes = n;
    t->first = first;
    return true;
}

static bool widen(struct numbers_code *c, uint32_t id)
{
    if (id < c->room)
        return true;
    size_t room = c->room ? c->room : 64;
    while (room <= id)
        room *= 2;
    uint32_t *bigger = realloc(c->number, room * sizeof *bigger);
    if (!bigger)
        return false;
    memset(bigger + c->room, 0, (room - c->room) * sizeof *bigger);
    c->number = bigger;
    c->room = room;
    return true;
}

uint32_t numbers_give(struct numbers *t, const struct emu_inst *inst)
{
    if (!reach(t, inst->code) || !widen(&t->code[inst->code - t->first], inst->id))
        return 0;
    return t->code[inst->code - t->first].number[inst->id] = ++t->n;
}

void numbers_clear(struct numbers *t)
{
    for (size_t i = 0; i < t->n_codes; i++)
        if (t->code[i].number)
            memset(t->code[i].number, 0, t->code[i].room * sizeof(uint32_t));
    t->n = 0;
}

void numbers_free(struct numbers *t)
{
    for (size_t i = 0; i < t->n_codes; i++)
        free(t->code[i].number);
    free(t->code);
    *t = (struct numbers){0};
}
