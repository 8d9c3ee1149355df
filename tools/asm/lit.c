/* lit.c: LLVM's own tests as files of expected bytes.
 *
 *     // RUN: llvm-mc -mcpu=gfx1100 -show-encoding %s | FileCheck --check-prefixes=A,B
 * %s v_nop
 *     // A: v_nop ; encoding: [0x00,0x00,0x00,0x7e]
 *     // C-ERR: :[[@LINE-2]]:1: error: not supported
 *     // B: [0x00,0x00,0x00,0x7e]
 *
 * A check counts if a RUN line for a processor of this family has its prefix, in the
 * wave sizes of those lines; "error:" means that the statement must be refused. Must
 * not know encodings. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "check_internal.h"

#define MAX_PREFIXES 64u
#define RUN_BYTES    4096u

struct line {
    const char *text;
    size_t len;
};

struct prefix {
    char name[64];
    unsigned waves; /* bit 0: 32, bit 1: 64 */
};

struct lit {
    struct check *c;
    struct line *lines;
    size_t n_lines;
    struct prefix prefixes[MAX_PREFIXES];
    unsigned n_prefixes;
};

static const char *find(const struct line *l, const char *what)
{
    return memmem(l->text, l->len, what, strlen(what));
}

/* What follows the mark of a comment that is the whole line; NULL: it is none. */
static const char *comment(const struct line *l)
{
    const char *p = l->text;
    const char *end = p + l->len;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (end - p >= 2 && p[0] == '/' && p[1] == '/')
        p += 2;
    else if (p < end && (*p == ';' || *p == '#'))
        p++;
    else
        return NULL;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '/' || *p == ';'))
        p++;
    return p;
}

static void add_prefix(struct lit *lit, const char *name, size_t len, unsigned waves)
{
    for (unsigned i = 0; i < lit->n_prefixes; i++)
        if (strlen(lit->prefixes[i].name) == len &&
            memcmp(lit->prefixes[i].name, name, len) == 0) {
            lit->prefixes[i].waves |= waves;
            return;
        }
    if (lit->n_prefixes == MAX_PREFIXES || len == 0 ||
        len >= sizeof lit->prefixes[0].name)
        return;
    struct prefix *p = &lit->prefixes[lit->n_prefixes++];
    memcpy(p->name, name, len);
    p->name[len] = '\0';
    p->waves = waves;
}

/* One command of a RUN line. */
static void read_run(struct lit *lit, const char *run)
{
    const char *p = strstr(run, "-check-prefix");
    if (!strstr(run, "llvm-mc") || !strstr(run, "gfx110") ||
        strstr(run, "-disassemble"))
        return;
    unsigned waves = strstr(run, "+wavefrontsize64") ? 2 : 1;
    if (!p)
        add_prefix(lit, "CHECK", 5, waves);
    for (; p; p = strstr(p, "-check-prefix")) {
        p += strcspn(p, "= \t");
        p += *p != '\0';
        for (;;) {
            size_t n = strcspn(p, ", \t");
            add_prefix(lit, p, n, waves);
            p += n;
            if (*p != ',')
                break;
            p++;
        }
    }
}

/* All RUN lines; one that ends in a backslash goes on in the next. */
static bool read_runs(struct lit *lit)
{
    char run[RUN_BYTES] = "";
    size_t used = 0;
    bool any = false;
    for (size_t i = 0; i < lit->n_lines; i++) {
        const struct line *l = &lit->lines[i];
        const char *p = comment(l);
        if (!p || (size_t)(l->text + l->len - p) < 4 || memcmp(p, "RUN:", 4) != 0)
            continue;
        p += 4;
        size_t n = (size_t)(l->text + l->len - p);
        bool more = n && p[n - 1] == '\\';
        if (used + n < sizeof run) {
            memcpy(run + used, p, n - more);
            used += n - more;
            run[used] = '\0';
        }
        if (more)
            continue;
        any |= strstr(run, "llvm-mc") != NULL;
        read_run(lit, run);
        used = 0;
        run[0] = '\0';
    }
    return any;
}

/* The wave sizes of a check line, 0 if it does not count; rest: behind the prefix. */
static unsigned waves_of(const struct lit *lit, const char *p, const char *end,
                         const char **rest)
{
    static const char *const suffixes[] = {":", "-NEXT:", "-SAME:", "-DAG:"};
    for (unsigned i = 0; i < lit->n_prefixes; i++) {
        size_t n = strlen(lit->prefixes[i].name);
        if ((size_t)(end - p) <= n || memcmp(p, lit->prefixes[i].name, n) != 0)
            continue;
        for (size_t s = 0; s < sizeof suffixes / sizeof suffixes[0]; s++) {
            size_t m = strlen(suffixes[s]);
            if ((size_t)(end - p) >= n + m && memcmp(p + n, suffixes[s], m) == 0) {
                *rest = p + n + m;
                return lit->prefixes[i].waves;
            }
        }
    }
    return 0;
}

static bool is_statement(const struct line *l)
{
    const char *p = l->text;
    const char *end = p + l->len;
    while (p < end && strchr(" \t\r", *p))
        p++;
    return p < end && !comment(l);
}

/* The statement that a check in line i is about: by [[@LINE-1]], or the last before. */
static const struct line *subject(const struct lit *lit, size_t i, const char *rest)
{
    const char *at = strstr(rest, "@LINE");
    const char *end = lit->lines[i].text + lit->lines[i].len;
    if (at && at < end) {
        long target = (long)i + strtol(at + 5, NULL, 10);
        return target >= 0 && (size_t)target < lit->n_lines ? &lit->lines[target]
                                                            : NULL;
    }
    while (i-- > 0)
        if (is_statement(&lit->lines[i]))
            return &lit->lines[i];
    return NULL;
}

/* The list of bytes of a check, which may stand alone behind the prefix; NULL: none. */
static const char *list_of(const struct line *l, const char *rest)
{
    const char *end = l->text + l->len;
    const char *named = find(l, "encoding: [");
    if (named)
        return named + strlen("encoding: ");
    while (rest < end && (*rest == ' ' || *rest == '\t'))
        rest++;
    bool alone = end - rest > 3 && (!memcmp(rest, "[0x", 3) || !memcmp(rest, "[A,", 3));
    return alone ? rest : NULL;
}

static void check_at(struct lit *lit, size_t i)
{
    const struct line *l = &lit->lines[i];
    struct check *c = lit->c;
    const char *end = l->text + l->len;
    const char *rest = end;
    const char *p = comment(l);
    unsigned waves = p ? waves_of(lit, p, end, &rest) : 0;
    const char *bytes = list_of(l, rest);
    bool refused = !bytes && find(l, "error:");
    struct expected e = {0};
    if (!waves || (!bytes && !refused))
        return;
    c->line = i + 1;
    const struct line *s = subject(lit, i, rest);
    if (!s || !is_statement(s)) {
        check_malformed(c, l->text, l->len, "the check has no statement");
        return;
    }
    c->line = (unsigned long)(s - lit->lines) + 1;
    const char *close = bytes ? memchr(bytes, ']', (size_t)(end - bytes)) : NULL;
    if (bytes && (!close || !check_parse_bytes(bytes, close + 1, &e))) {
        check_malformed(c, l->text, l->len, "expected bytes in brackets");
        return;
    }
    c->reject = refused;
    for (unsigned w = 0; w < 2; w++)
        if ((waves >> w & 1) && (!c->o->wave_given || c->o->wave == 32u << w))
            check_one(c, 32u << w, s->text, s->len, &e);
}

static bool split(struct lit *lit, const char *text, size_t bytes)
{
    size_t n = 1;
    for (size_t i = 0; i < bytes; i++)
        n += text[i] == '\n';
    lit->lines = calloc(n, sizeof *lit->lines);
    if (!lit->lines)
        return false;
    for (const char *p = text; p < text + bytes;) {
        const char *nl = memchr(p, '\n', (size_t)(text + bytes - p));
        const char *stop = nl ? nl : text + bytes;
        lit->lines[lit->n_lines++] = (struct line){p, (size_t)(stop - p)};
        p = stop + 1;
    }
    return true;
}

bool check_lit(struct check *c, const char *text, size_t bytes)
{
    struct lit lit = {.c = c};
    bool is_lit = split(&lit, text, bytes) && read_runs(&lit);
    for (size_t i = 0; is_lit && i < lit.n_lines; i++)
        check_at(&lit, i);
    free(lit.lines);
    return is_lit;
}
