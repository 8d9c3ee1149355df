/* vecfile.c: see vecfile.h. Knows the form of the files, not what runs them.
 * SPDX-License-Identifier: MIT
 */
#include "vecfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    unsigned line;
    bool failed;
    struct vec_block block;
};

static void mistake(struct reader *r, const char *what)
{
    fprintf(stderr, "%s:%u: %s\n", r->path, r->line, what);
    r->failed = true;
}

static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* v8, v0:1, s4, s4:5, s4?, vcc ... */
static struct vec_column column(struct reader *r, const char *s)
{
    static const struct {
        const char *name;
        struct vec_column c;
    } names[] = {{"vcc?", {VEC_MASK, 106, 1}}, {"exec?", {VEC_MASK, 126, 1}},
                 {"scc", {VEC_SCC, 0, 1}},     {"vcc", {VEC_VCC, 0, 2}},
                 {"exec", {VEC_EXEC, 0, 2}},   {"m0", {VEC_M0, 0, 1}},
                 {"mode", {VEC_MODE, 0, 1}}};
    struct vec_column c = {VEC_VGPR, 0, 1};
    char *end;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(s, names[i].name))
            return names[i].c;
    if (starts(s, "data")) {
        c.reg = VEC_DATA;
        s += 3;
    } else if (starts(s, "lds")) {
        c.reg = VEC_LDS;
        s += 2;
    } else if (*s == 's') {
        c.reg = VEC_SGPR;
    } else if (*s != 'v') {
        mistake(r, "no such column");
        return c;
    }
    c.index = (uint16_t)strtoul(s + 1, &end, 10);
    if (*end == ':')
        c.dwords = (uint8_t)(strtoul(end + 1, &end, 10) - c.index + 1);
    else if (*end == '?')
        c.reg = VEC_MASK;
    return c;
}

static struct vec_value value(struct reader *r, const char *s)
{
    struct vec_value v = {.digits = (uint8_t)strlen(s)};
    char *end;
    if (!strcmp(s, "nan"))
        v.any = 1;
    else if (!strcmp(s, "*"))
        v.any = 2;
    else {
        v.bits = strtoull(s, &end, 16);
        if (*end == '~' && end != s)
            v.within = strtoull(s = end + 1, &end, 16);
        if (*end || end == s)
            mistake(r, "no such value");
    }
    return v;
}

static char *word(char **s)
{
    char *w = *s + strspn(*s, " ");
    size_t n = strcspn(w, " ");
    if (!n)
        return NULL;
    *s = w + n + (w[n] != 0);
    w[n] = 0;
    return w;
}

static unsigned columns(struct reader *r, char *s, struct vec_column *c)
{
    unsigned n = 0;
    for (char *w; (w = word(&s)); n++) {
        if (n == VEC_COLUMNS) {
            mistake(r, "too many columns");
            break;
        }
        c[n] = column(r, w);
    }
    return n;
}

static void read_row(struct reader *r, char *s)
{
    struct vec_block *b = &r->block;
    if (b->n_rows == VEC_ROWS) {
        mistake(r, "too many rows");
        return;
    }
    struct vec_value *row = b->row[b->n_rows++];
    unsigned n[2] = {0, 0}, side = 0;
    for (char *w; (w = word(&s));) {
        if (!strcmp(w, "="))
            side = 1;
        else if (n[side] < VEC_COLUMNS)
            row[side * VEC_COLUMNS + n[side]++] = value(r, w);
    }
    if (n[0] != b->n_in || n[1] != b->n_out)
        mistake(r, "a row has another number of values than columns");
}

static void read_set(struct reader *r, char *s)
{
    struct vec_block *b = &r->block;
    char *name = word(&s), *sign = word(&s);
    if (!name || !sign || b->n_sets == VEC_SETS) {
        mistake(r, "not NAME = VALUES, or too many of them");
        return;
    }
    struct vec_set *set = &b->set[b->n_sets++];
    *set = (struct vec_set){.column = column(r, name), .expected = sign[1] == '='};
    for (char *w; (w = word(&s)); set->n++) {
        if (set->n == 64) {
            mistake(r, "more values than lanes");
            return;
        }
        set->value[set->n] = (uint32_t)value(r, w).bits;
    }
}

/* A new op ends the block before; what else was said stays. */
static void read_op(struct reader *r, const char *s)
{
    struct vec_block *b = &r->block;
    b->line = r->line;
    if (strlen(s) >= sizeof b->op)
        mistake(r, "too long");
    else
        strcpy(b->op, s);
    b->n_in = b->n_out = b->n_rows = b->n_sets = 0;
}

static void read_line(struct reader *r, char *s)
{
    struct vec_block *b = &r->block;
    if (starts(s, "source "))
        snprintf(b->source, sizeof b->source, "%.63s", s + 7);
    else if (starts(s, "mode "))
        b->mode = (uint32_t)strtoul(s + 5, NULL, 16);
    else if (starts(s, "lanes "))
        b->lanes = (unsigned)strtoul(s + 6, NULL, 10);
    else if (starts(s, "dots "))
        b->exact = !strcmp(s + 5, "exact");
    else if (starts(s, "op "))
        read_op(r, s + 3);
    else if (starts(s, "in "))
        b->n_in = columns(r, s + 3, b->in);
    else if (starts(s, "out "))
        b->n_out = columns(r, s + 4, b->out);
    else if (starts(s, "set "))
        read_set(r, s + 4);
    else if (!strcmp(s, "per lane"))
        b->kind = VEC_LANES;
    else if (!strcmp(s, "per wave"))
        b->kind = VEC_SCALAR;
    else if (!strcmp(s, "whole wave"))
        b->kind = VEC_WAVE;
    else
        read_row(r, s);
}

bool vec_read(const char *path, void (*f)(void *ctx, const struct vec_block *b),
              void *ctx)
{
    static struct reader r;
    static char line[8192];
    FILE *in = fopen(path, "r");
    if (!in) {
        perror(path);
        return false;
    }
    struct vec_value(*rows)[2 * VEC_COLUMNS] = calloc(VEC_ROWS, sizeof *rows);
    r = (struct reader){.path = path, .block.mode = 0x3f0, .block.row = rows};
    if (!rows)
        abort();
    bool more = true;
    while (more) {
        more = fgets(line, sizeof line, in) != NULL;
        r.line++;
        line[more ? strcspn(line, "#\n") : 0] = 0;
        bool ends = !more || starts(line, "op ") || starts(line, "source ") ||
                    starts(line, "mode ") || starts(line, "lanes ") ||
                    starts(line, "dots ") || starts(line, "per ") ||
                    starts(line, "whole ");
        if (ends && r.block.op[0]) {
            f(ctx, &r.block);
            r.block.op[0] = 0;
        }
        if (more && line[strspn(line, " ")])
            read_line(&r, line);
    }
    fclose(in);
    free(rows);
    return !r.failed;
}
