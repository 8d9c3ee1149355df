/* text_order.c: why a name in a text is not defined above: a cycle, or lines out of
 * order.
 *
 * Looks at names alone: "%id =" begins a line, every other "%word" is a use. Runs only
 * when parsing has failed, so it may be slow.
 *
 * SPDX-License-Identifier: MIT
 */
#include "arena.h"
#include "text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES 4096u

struct name {
    const char *text;
    uint32_t len;
};

struct line {
    struct name id;
    unsigned number;
    uint32_t first, n; /* uses */
    int32_t from;      /* line that leads here; -1: not reached */
};

struct order {
    struct line *lines;
    struct name *uses;
    uint32_t n_lines, n_uses, cap_uses;
};

static bool same(struct name a, struct name b)
{
    return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
}

static struct name name_at(const char *p, const char *end)
{
    struct name n = {p, 0};
    while (p < end && (isalnum((unsigned char)*p) || strchr("_.-+", *p)) && *p)
        p++;
    n.len = (uint32_t)(p - n.text);
    return n;
}

static bool add_use(struct order *o, struct name n)
{
    if (!cc_room(&o->uses, &o->cap_uses, o->n_uses + 1, sizeof *o->uses))
        return false;
    o->uses[o->n_uses++] = n;
    return true;
}

/* One line of text, [p, end). */
static bool read_line(struct order *o, unsigned number, const char *p, const char *end)
{
    struct line *l = &o->lines[o->n_lines];
    bool quoted = false;
    *l = (struct line){.number = number, .first = o->n_uses, .from = -1};
    for (; p < end && (quoted || (*p != '#' && *p != ';')); p++) {
        quoted = quoted != (*p == '"');
        if (*p != '%' || quoted)
            continue;
        struct name n = name_at(p + 1, end);
        if (!l->id.text)
            l->id = n;
        else if (!add_use(o, n))
            return false;
    }
    l->n = o->n_uses - l->first;
    o->n_lines += l->id.text != NULL;
    return true;
}

static bool read_text(struct order *o, const char *text, size_t len)
{
    const char *end = text + len;
    unsigned number = 1;
    while (text < end && o->n_lines < MAX_LINES) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        if (!read_line(o, number++, text, stop))
            return false;
        text = stop + (stop < end);
    }
    return text == end;
}

static struct line *defined(struct order *o, struct name n)
{
    for (uint32_t i = 0; i < o->n_lines; i++)
        if (same(o->lines[i].id, n))
            return &o->lines[i];
    return NULL;
}

/* Mark what the line uses, and what that uses, until it comes back to goal. */
static bool reach(struct order *o, struct line *start, const struct line *goal)
{
    uint32_t *queue = calloc(o->n_lines + 1ull, sizeof *queue), n = 0;
    bool found = false;
    if (!queue)
        return false;
    queue[n++] = (uint32_t)(start - o->lines);
    start->from = (int32_t)(goal - o->lines);
    for (uint32_t i = 0; i < n && !found; i++) {
        const struct line *l = &o->lines[queue[i]];
        found = l == goal;
        for (uint32_t j = 0; j < l->n && !found; j++) {
            struct line *next = defined(o, o->uses[l->first + j]);
            if (!next || next->from >= 0)
                continue;
            next->from = (int32_t)queue[i];
            found = next == goal;
            queue[n++] = (uint32_t)(next - o->lines);
        }
    }
    free(queue);
    return found;
}

/* "%a uses %b uses %a", backwards from where the search arrived. */
static void print_cycle(const struct order *o, const struct line *goal, char *why,
                        size_t size)
{
    char tail[160] = "", step[80];
    const struct line *l = goal;
    for (int i = 0; i < 6; i++) {
        l = &o->lines[l->from];
        if (l == goal)
            break;
        snprintf(step, sizeof step, " uses %%%.*s",
                 (int)(l->id.len < 16 ? l->id.len : 16), l->id.text);
        size_t len = strlen(step);
        if (len + strlen(tail) + 1 > sizeof tail)
            break;
        memmove(tail + len, tail, strlen(tail) + 1);
        memcpy(tail, step, len);
    }
    int len = (int)(goal->id.len < 16 ? goal->id.len : 16);
    snprintf(why, size, "a cycle: %%%.*s%s%s uses %%%.*s", len, goal->id.text,
             l == goal ? "" : " uses ...", tail, len, goal->id.text);
}

bool cc_text_why(const char *text, size_t len, unsigned line, const char *use,
                 uint32_t use_len, char *why, size_t size)
{
    struct order o = {.lines = calloc(MAX_LINES + 1, sizeof *o.lines)};
    bool known = false;
    if (o.lines && read_text(&o, text, len)) {
        struct line *to = defined(&o, (struct name){use, use_len}), *from = NULL;
        for (uint32_t i = 0; i < o.n_lines; i++)
            if (o.lines[i].number == line)
                from = &o.lines[i];
        known = to && from;
        if (known && reach(&o, to, from))
            print_cycle(&o, from, why, size);
        else if (known)
            snprintf(why, size,
                     "%%%.*s is defined below, on line %u: sources come first",
                     (int)(use_len < 40 ? use_len : 40), use, to->number);
    }
    free(o.lines);
    free(o.uses);
    return known;
}
