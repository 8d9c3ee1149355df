/* file.c: the matrix of a sweep: parameters, the command with them, what is measured.
 *
 * Must not know who runs items. SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "sweep.h"

#define MOST_VALUES UINT64_C(1000000)
#define MOST_DEPTH  64
#define MOST_TRIED  UINT64_C(1000000) /* commands made before the first one runs */
#define MOST_ITEMS  UINT64_C(100000000)

static int bad(const struct cli_place *at, const char *why, const char *what)
{
    bool told = false; /* one mistake ends the reading */
    return cli_mistake(CLI_USAGE, at, &told, "%s '%s'", why, what);
}

static bool is_name(const char *text, size_t n)
{
    bool good = n > 0 && !isdigit((unsigned char)text[0]);
    for (size_t i = 0; i < n; i++)
        good = good && (isalnum((unsigned char)text[i]) || text[i] == '_');
    return good;
}

static const struct sweep_parameter *find(const struct sweep *s, const char *name,
                                          size_t n)
{
    for (unsigned i = 0; i < s->n_parameters; i++)
        if (strlen(s->parameter[i].name) == n &&
            strncmp(s->parameter[i].name, name, n) == 0)
            return &s->parameter[i];
    return NULL;
}

const char *sweep_value(const struct sweep *s, uint64_t item, unsigned parameter)
{
    for (unsigned i = s->n_parameters - 1; i > parameter; i--)
        item /= s->parameter[i].n;
    return s->parameter[parameter].value[item % s->parameter[parameter].n];
}

/* ---- {...} in the command: a parameter, or whole numbers with + - * / % ( ) ---- */

struct expression {
    const struct sweep *s;
    uint64_t item;
    const char *at, *end;
    unsigned depth; /* of parentheses */
    bool wrong;
};

static int64_t sum(struct expression *e);

static void blanks(struct expression *e)
{
    while (e->at < e->end && isspace((unsigned char)*e->at))
        e->at++;
}

static int64_t name_value(struct expression *e)
{
    const char *name = e->at;
    char *rest = NULL;
    while (e->at < e->end && (isalnum((unsigned char)*e->at) || *e->at == '_'))
        e->at++;
    const struct sweep_parameter *p = find(e->s, name, (size_t)(e->at - name));
    if (!p) {
        e->wrong = true;
        return 0;
    }
    const char *text = sweep_value(e->s, e->item, (unsigned)(p - e->s->parameter));
    int64_t value = strtoll(text, &rest, 0);
    e->wrong |= rest == text || *rest;
    return value;
}

static int64_t factor(struct expression *e)
{
    int64_t value = 0;
    blanks(e);
    if (e->at < e->end && *e->at == '(') {
        e->at++;
        e->wrong |= ++e->depth > MOST_DEPTH;
        value = e->wrong ? 0 : sum(e);
        e->wrong |= e->at >= e->end || *e->at != ')';
        e->at++;
        e->depth--;
    } else if (e->at < e->end && isdigit((unsigned char)*e->at)) {
        char *rest;
        value = strtoll(e->at, &rest, 0);
        e->at = rest;
    } else if (e->at < e->end) {
        value = name_value(e);
    } else {
        e->wrong = true;
    }
    blanks(e);
    return value;
}

static int64_t product(struct expression *e)
{
    int64_t value = factor(e);
    while (!e->wrong && e->at < e->end && strchr("*/%", *e->at)) {
        char op = *e->at++;
        int64_t by = factor(e);
        if (op == '*') {
            e->wrong |= __builtin_mul_overflow(value, by, &value);
        } else if (by <= 0) {
            e->wrong = true;
        } else {
            value = op == '/' ? value / by : value % by;
        }
    }
    return value;
}

static int64_t sum(struct expression *e)
{
    int64_t value = product(e);
    while (!e->wrong && e->at < e->end && (*e->at == '+' || *e->at == '-')) {
        char op = *e->at++;
        int64_t by = product(e);
        e->wrong |= op == '+' ? __builtin_add_overflow(value, by, &value)
                              : __builtin_sub_overflow(value, by, &value);
    }
    return value;
}

/* What stands in braces, for an item; false: it means nothing. */
static bool expand(const struct sweep *s, uint64_t item, const char *text, size_t n,
                   FILE *out)
{
    const struct sweep_parameter *p = find(s, text, n);
    if (p) {
        fputs(sweep_value(s, item, (unsigned)(p - s->parameter)), out);
        return true;
    }
    if (n == 4 && strncmp(text, "item", 4) == 0) {
        fprintf(out, "%" PRIu64, item);
        return true;
    }
    struct expression e = {.s = s, .item = item, .at = text, .end = text + n};
    int64_t value = sum(&e);
    fprintf(out, "%" PRId64, value);
    return !e.wrong && e.at == e.end;
}

/* {{ and }} stand for braces of the shell's. wrong: where an expression is, or NULL. */
static char *command_of(const struct sweep *s, uint64_t item, const char **wrong)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    *wrong = NULL;
    for (const char *c = s->command; out && *c; c++) {
        if ((*c == '{' || *c == '}') && c[1] == *c) {
            fputc(*c++, out);
        } else if (*c == '{') {
            size_t n = strcspn(c + 1, "}");
            if (!c[1 + n] || !expand(s, item, c + 1, n, out)) {
                *wrong = c;
                break;
            }
            c += n + 1;
        } else {
            fputc(*c, out);
        }
    }
    if (out && fclose(out) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

static int no_command(const char *where, uint64_t item, const char *wrong)
{
    return cli_error(CLI_USAGE,
                     "%s: item %" PRIu64
                     ": no parameter or expression of whole numbers ({{ is a brace): "
                     "%.40s",
                     where, item, wrong);
}

char *sweep_command(const struct sweep *s, uint64_t item)
{
    const char *wrong;
    char *text = command_of(s, item, &wrong);
    if (text && !wrong)
        return text;
    (void)(wrong ? no_command("command", item, wrong)
                 : cli_error(CLI_FAILED, "out of memory"));
    free(text);
    return NULL;
}

/* ---- lines ---- */

static bool add_value(struct sweep_parameter *p, const char *text, size_t n)
{
    if ((p->n & (p->n - 1)) == 0) { /* room for a power of two */
        char **more = realloc(p->value, (p->n ? 2 * p->n : 1) * sizeof *more);
        if (!more)
            return false;
        p->value = more;
    }
    p->value[p->n] = strndup(text, n);
    if (!p->value[p->n])
        return false;
    p->n++;
    return true;
}

/* A..B, A..B:STEP, A..B*FACTOR; *is: it was one. */
static int add_range(struct sweep_parameter *p, const char *word, bool *is,
                     const struct cli_place *at)
{
    int64_t from, to, by = 1;
    char how = ':', rest, number[24];
    int n = sscanf(word, "%" SCNd64 "..%" SCNd64 "%c%" SCNd64 "%c", &from, &to, &how,
                   &by, &rest);
    *is = n == 2 || n == 4;
    if (!*is && n >= 1 && strstr(word, ".."))
        return bad(at, "not FROM..TO, FROM..TO:STEP or FROM..TO*FACTOR:", word);
    if (!*is)
        return CLI_OK;
    if (n == 2)
        how = ':';
    bool good =
        from <= to && (how == ':' ? by >= 1 : how == '*' && by >= 2 && from >= 1);
    if (!good)
        return bad(at, "not FROM..TO, FROM..TO:STEP or FROM..TO*FACTOR:", word);
    for (int64_t v = from; v <= to;) {
        int length = snprintf(number, sizeof number, "%" PRId64, v);
        if (p->n >= MOST_VALUES)
            return bad(at, "too many values:", word);
        if (!add_value(p, number, (size_t)length))
            return cli_error(CLI_FAILED, "out of memory");
        if (how == ':' ? __builtin_add_overflow(v, by, &v)
                       : __builtin_mul_overflow(v, by, &v))
            break;
    }
    return CLI_OK;
}

/* Words, in double quotes if they have blanks. */
static int add_values(struct sweep_parameter *p, char *text, const struct cli_place *at)
{
    while (*text) {
        bool quoted = *text == '"', range = false;
        char *word = text + quoted;
        size_t n = strcspn(word, quoted ? "\"" : " \t");
        if (quoted && !word[n])
            return bad(at, "a quotation mark is missing:", text);
        text = word + n + (word[n] != '\0');
        word[n] = '\0';
        int status = quoted ? CLI_OK : add_range(p, word, &range, at);
        if (status != CLI_OK)
            return status;
        if (!range && !add_value(p, word, n))
            return cli_error(CLI_FAILED, "out of memory");
        text += strspn(text, " \t");
    }
    return p->n ? CLI_OK : bad(at, "no values for", p->name);
}

static int take_measure(struct sweep *s, const char *name, const char *value,
                        const struct cli_place *at)
{
    struct sweep_measure *m = &s->measure[s->n_measures];
    char why[128];
    if (s->n_measures == SWEEP_NAMES)
        return bad(at, "too many measures:", name);
    if (!is_name(name, strlen(name)))
        return bad(at, "no name for a measure:", name);
    for (unsigned i = 0; i < s->n_measures; i++)
        if (strcmp(s->measure[i].name, name) == 0)
            return bad(at, "a second measure", name);
    int error = regcomp(&m->regex, value, REG_EXTENDED | REG_NEWLINE);
    if (error) {
        (void)regerror(error, &m->regex, why, sizeof why);
        return bad(at, why, value);
    }
    m->name = strdup(name);
    s->n_measures++;
    if (m->regex.re_nsub != 1)
        return bad(at, "exactly one pair of parentheses says what is measured:", value);
    return m->name ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

static int take_line(struct sweep *s, char *name, char *value,
                     const struct cli_place *at)
{
    if (strcmp(name, "command") == 0) {
        if (s->command)
            return bad(at, "a second command:", value);
        if (!*value)
            return bad(at, "no command behind", name);
        s->command = strdup(value);
        return s->command ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
    }
    if (strncmp(name, "measure ", 8) == 0)
        return take_measure(s, name + 8 + strspn(name + 8, " \t"), value, at);
    if (!is_name(name, strlen(name)) || strcmp(name, "item") == 0)
        return bad(at, "no name for a parameter:", name);
    if (find(s, name, strlen(name)))
        return bad(at, "a second line for", name);
    if (s->n_parameters == SWEEP_NAMES)
        return bad(at, "too many parameters:", name);
    struct sweep_parameter *p = &s->parameter[s->n_parameters++];
    p->name = strdup(name);
    return p->name ? add_values(p, value, at) : cli_error(CLI_FAILED, "out of memory");
}

static int take_text(struct sweep *s, char *text, struct cli_place *at)
{
    int status = CLI_OK;
    char *rest;
    for (char *line = text; line && status == CLI_OK; line = rest) {
        at->line++;
        rest = strchr(line, '\n');
        if (rest)
            *rest++ = '\0';
        line += strspn(line, " \t\r");
        size_t n = strlen(line);
        while (n && isspace((unsigned char)line[n - 1]))
            line[--n] = '\0';
        if (!n || *line == '#')
            continue;
        char *equals = strchr(line, '='), *end = equals;
        if (!equals)
            return bad(at, "not NAME = VALUES:", line);
        while (end > line && isspace((unsigned char)end[-1]))
            end--;
        *end = '\0';
        equals++;
        status = take_line(s, line, equals + strspn(equals, " \t"), at);
    }
    return status;
}

static int judge(struct sweep *s, const char *path)
{
    const char *wrong;
    if (!s->command)
        return cli_error(CLI_USAGE, "%s: there is no line 'command = ...'", path);
    s->n_items = 1;
    for (unsigned i = 0; i < s->n_parameters; i++)
        if (__builtin_mul_overflow(s->n_items, s->parameter[i].n, &s->n_items) ||
            s->n_items > MOST_ITEMS)
            return cli_error(CLI_USAGE, "%s: more than %" PRIu64 " items", path,
                             MOST_ITEMS);
    for (uint64_t i = 0; i < s->n_items && i < MOST_TRIED; i++) {
        char *made = command_of(s, i, &wrong);
        free(made);
        if (wrong)
            return no_command(path, i, wrong);
        if (!made)
            return cli_error(CLI_FAILED, "out of memory");
    }
    return CLI_OK;
}

int sweep_read(const char *path, struct sweep *out)
{
    void *data;
    size_t bytes;
    struct cli_place at = {.path = path};
    *out = (struct sweep){0};
    if (cli_read_kind(path, &cli_text, &data, &bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path, strerror(errno));
    out->text = memchr(data, 0, bytes) ? NULL : strndup(data, bytes);
    char *copy = out->text ? strdup(out->text) : NULL;
    free(data);
    int status = copy ? take_text(out, copy, &at)
                      : cli_error(CLI_USAGE, "%s: this is no text", path);
    free(copy);
    if (status == CLI_OK)
        status = judge(out, path);
    if (status != CLI_OK)
        sweep_free(out);
    return status;
}

void sweep_free(struct sweep *s)
{
    for (unsigned i = 0; i < s->n_parameters; i++) {
        for (size_t k = 0; k < s->parameter[i].n; k++)
            free(s->parameter[i].value[k]);
        free(s->parameter[i].value);
        free(s->parameter[i].name);
    }
    for (unsigned i = 0; i < s->n_measures; i++) {
        regfree(&s->measure[i].regex);
        free(s->measure[i].name);
    }
    free(s->command);
    free(s->text);
    *s = (struct sweep){0};
}
