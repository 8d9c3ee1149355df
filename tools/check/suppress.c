/* suppress.c: suppression files: findings that are known and shall not be told.
 *
 * One suppression a line, words in any order behind the first:
 *     CLASS[/KIND] [kernel=PATTERN] [source=PATTERN[:LINE]] [inst=PATTERN]
 * Patterns are the shell's (*, ?, [...]); # begins a comment. All that is said must
 * hold. Must not know how files are asked for. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "found.h"

struct rule {
    const char *file;
    unsigned at; /* line in it */
    unsigned cls;
    char *kind, *kernel, *source, *inst; /* NULL: any */
    unsigned line;                       /* of the source; 0: any */
    bool used;
};

struct checks_suppressions {
    struct rule *v;
    size_t n;
    char *text[CHECKS_FILES]; /* the files, cut into words */
};

static bool take_head(struct rule *r, char *word)
{
    char *slash = strchr(word, '/');
    if (slash) {
        *slash = '\0';
        r->kind = slash + 1;
    }
    for (r->cls = 0; r->cls < CK_CLASSES; r->cls++)
        if (strcmp(word, ck_class_name(r->cls)) == 0)
            return true;
    return false;
}

/* source=FILE:LINE; without a number behind the last colon all is the file's name. */
static void take_source(struct rule *r, char *value)
{
    uint64_t line;
    char *colon = strrchr(value, ':');
    r->source = value;
    if (!colon || cli_parse_u64(colon + 1, &line) != RD_OK || line > 0x7fffffff)
        return;
    *colon = '\0';
    r->line = (unsigned)line;
}

static bool take_word(struct rule *r, char *word)
{
    char *equals = strchr(word, '=');
    if (!equals || !equals[1])
        return false;
    *equals = '\0';
    char *value = equals + 1;
    if (strcmp(word, "kernel") == 0)
        r->kernel = value;
    else if (strcmp(word, "source") == 0)
        take_source(r, value);
    else if (strcmp(word, "inst") == 0)
        r->inst = value;
    else
        *equals = '=';
    return !*equals;
}

/* inst= takes the rest of the line: instructions have blanks in them. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t\r");
    size_t len = strncmp(word, "inst=", 5) == 0 ? strlen(word) : strcspn(word, " \t\r");
    if (!len)
        return NULL;
    *rest = word + len;
    if (**rest)
        *(*rest)++ = '\0';
    for (size_t n = strlen(word); n && strchr(" \t\r", word[n - 1]);)
        word[--n] = '\0';
    return word;
}

static int take_line(struct checks_suppressions *s, const char *file, unsigned at,
                     char *line)
{
    struct rule r = {.file = file, .at = at};
    const struct cli_place place = {.path = file, .line = at};
    bool told = false; /* one mistake ends the reading */
    char *rest = line, *word;
    line[strcspn(line, "#")] = '\0';
    word = next_word(&rest);
    if (!word)
        return CLI_OK;
    if (!take_head(&r, word))
        return cli_mistake(CLI_FAILED, &place, &told, "there is no checker '%s'", word);
    while ((word = next_word(&rest)))
        if (!take_word(&r, word))
            return cli_mistake(CLI_FAILED, &place, &told,
                               "'%s': expected kernel=, source= or inst= and a pattern",
                               word);
    struct rule *bigger = realloc(s->v, (s->n + 1) * sizeof *s->v);
    if (!bigger)
        return cli_error(CLI_FAILED, "out of memory");
    s->v = bigger;
    s->v[s->n++] = r;
    return CLI_OK;
}

static int read_rules(struct checks_suppressions *s, const char *path, char **out)
{
    void *data;
    size_t bytes;
    rd_status st = cli_read_file(path, &data, &bytes);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "--suppressions %s: %s", path,
                         st == RD_E_IO ? strerror(errno) : rd_status_text(st));
    char *text = malloc(bytes + 1);
    if (text) {
        memcpy(text, data, bytes);
        text[bytes] = '\0';
    }
    free(data);
    *out = text;
    if (!text)
        return cli_error(CLI_FAILED, "out of memory");
    if (strlen(text) != bytes)
        return cli_error(CLI_FAILED, "%s: a byte of 0: not a text file", path);
    int status = CLI_OK;
    unsigned line = 1;
    for (char *at = text; at && status == CLI_OK; line++) {
        char *end = strchr(at, '\n');
        if (end)
            *end = '\0';
        status = take_line(s, path, line, at);
        at = end ? end + 1 : NULL;
    }
    return status;
}

int checks_read_suppressions(const struct checks_options *o,
                             struct checks_suppressions **out)
{
    struct checks_suppressions *s = calloc(1, sizeof *s);
    int status = CLI_OK;
    if (!s)
        return cli_error(CLI_FAILED, "out of memory");
    for (unsigned i = 0; i < o->n_suppressions && status == CLI_OK; i++)
        status = read_rules(s, o->suppressions[i], &s->text[i]);
    if (status == CLI_OK)
        *out = s;
    else
        checks_free(s);
    return status;
}

void checks_free(struct checks_suppressions *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < CHECKS_FILES; i++)
        free(s->text[i]);
    free(s->v);
    free(s);
}

static bool fits(const char *pattern, const char *text)
{
    return !pattern || fnmatch(pattern, text, 0) == 0;
}

/* Some frame of the place is where the rule says. */
static bool fits_source(const struct rule *r, const struct found_place *p)
{
    if (!r->source)
        return true;
    for (unsigned i = 0; i < p->n_frames; i++)
        if (fits(r->source, p->frame[i].file) &&
            (!r->line || r->line == p->frame[i].line))
            return true;
    return false;
}

bool suppress_takes(struct checks_suppressions *s, const struct found *f)
{
    for (size_t i = 0; s && i < s->n; i++) {
        struct rule *r = &s->v[i];
        if (r->cls != f->f->cls || !fits(r->kind, f->f->kind) ||
            !fits(r->kernel, f->f->kernel) || !fits(r->inst, f->at.actor->inst) ||
            !fits_source(r, &f->at))
            continue;
        r->used = true;
        return true;
    }
    return false;
}

void suppress_unused(const struct checks_suppressions *s)
{
    for (size_t i = 0; s && i < s->n; i++)
        if (!s->v[i].used)
            (void)fprintf(stderr, "%s:%u: this suppression was not used\n",
                          s->v[i].file, s->v[i].at);
}

/* A pattern that fits the text; ? for what a word of a file cannot have, of blanks
 * those that are not between others (inst). */
static void write_quoted(FILE *out, const char *text, bool inst)
{
    const char *last = text + strlen(text);
    while (last > text && strchr(" \t", last[-1]))
        last--;
    for (const char *at = text; *at; at++) {
        bool blank = strchr(" \t", *at) != NULL;
        if (strchr("\r\n#", *at) || (blank && (!inst || at == text || at >= last)))
            (void)fputc('?', out);
        else
            (void)fprintf(out, strchr("*?[\\", *at) ? "\\%c" : "%c", *at);
    }
}

void suppress_write(const struct found *f, FILE *out)
{
    (void)fprintf(out, "%s/%s", ck_class_name(f->f->cls), f->f->kind);
    if (*f->f->kernel) {
        (void)fputs(" kernel=", out);
        write_quoted(out, f->f->kernel, false);
    }
    const struct source_frame *s = &f->at.frame[0];
    if (f->at.n_frames && *s->file) {
        (void)fputs(" source=", out);
        write_quoted(out, s->file, false);
        (void)fprintf(out, ":%u", s->line);
    } else if (*f->at.actor->inst) {
        (void)fputs(" inst=", out);
        write_quoted(out, f->at.actor->inst, true);
    }
    (void)fputc('\n', out);
}
