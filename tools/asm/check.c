/* check.c: `rdna3 asm --check`: statements with the bytes they must have.
 *
 * Must not know encodings. Invariant: a line that is not understood is an error, never
 * skipped; only empty lines and comments are.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_internal.h"
#include "cli.h"
#include "xml.h"

#define MAX_SHOWN 20

/* One statement of the report; what: why it is wrong, or NULL. */
static void report(struct check *c, unsigned wave, const char *text, size_t len,
                   const char *what)
{
    char name[300];
    if (!c->cases)
        return;
    (void)snprintf(name, sizeof name, "%lu: wave%u: %.*s", c->line, wave,
                   (int)(len > 250 ? 250 : len), text);
    fputs("    <testcase", c->cases);
    xml_attribute(c->cases, "classname", c->path);
    xml_attribute(c->cases, "name", name);
    fprintf(c->cases, " file=\"");
    xml_text(c->cases, c->path);
    fprintf(c->cases, "\" line=\"%lu\"", c->line);
    if (what) {
        fputs(">\n      <failure", c->cases);
        xml_attribute(c->cases, "message", what);
        fputs("/>\n    </testcase>\n", c->cases);
    } else {
        fputs("/>\n", c->cases);
    }
}

static int write_report(struct check *c)
{
    if (!c->cases)
        return CLI_OK;
    bool ok = fclose(c->cases) == 0;
    struct cli_output file = {0};
    FILE *f = ok ? cli_output_begin(&file, c->o->junit) : NULL;
    if (f) {
        fprintf(f,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                "  <testsuite name=\"rdna3 asm --check\" tests=\"%lu\" "
                "failures=\"%lu\">\n",
                c->statements + c->malformed, c->wrong);
        ok = fwrite(c->text, 1, c->bytes, f) == c->bytes;
        ok &= fputs("  </testsuite>\n</testsuites>\n", f) >= 0;
    }
    ok = cli_output_end(&file, ok) == RD_OK;
    free(c->text);
    return ok ? CLI_OK
              : cli_error(CLI_FAILED, "cannot write '%s': %s", c->o->junit,
                          strerror(errno));
}

static void complain(struct check *c, unsigned wave, const char *text, size_t len,
                     const char *what)
{
    report(c, wave, text, len, what);
    if (c->wrong++ < MAX_SHOWN)
        (void)cli_mistake(CLI_FAILED, &(struct cli_place){c->path, c->line, 1},
                          &c->told, "%s: %.*s", what, (int)(len > 200 ? 200 : len),
                          text);
}

bool check_parse_bytes(const char *p, const char *end, struct expected *out)
{
    out->bytes = 0;
    for (; p < end; p++) {
        if (strchr(" ,[]\r", *p))
            continue;
        if (end - p > 1 && p[0] == '0' && p[1] == 'x') {
            p++;
            continue;
        }
        if (out->bytes == CHECK_MAX_CODE)
            return false;
        bool alone = *p == 'A' && (p + 1 == end || strchr(",] \r", p[1]));
        out->open[out->bytes] = alone;
        if (!alone) {
            char pair[3] = {*p, p + 1 < end ? p[1] : 'x', '\0'};
            char *rest;
            out->code[out->bytes] = (uint8_t)strtoul(pair, &rest, 16);
            if (rest != pair + 2 || !isxdigit((unsigned char)pair[0]))
                return false;
            p++;
        }
        out->bytes++;
    }
    return out->bytes > 0;
}

static bool matches(const struct expected *e, const uint8_t *code, unsigned bytes,
                    const struct isa_fixup *fixup)
{
    bool open = false;
    if (e->bytes != bytes)
        return false;
    for (unsigned i = 0; i < bytes; i++) {
        open |= e->open[i];
        if (!e->open[i] && e->code[i] != code[i])
            return false;
    }
    return open == (fixup->kind != ISA_FIXUP_NONE);
}

void check_malformed(struct check *c, const char *text, size_t len, const char *what)
{
    c->malformed++;
    complain(c, c->o->wave, text, len, what);
}

void check_one(struct check *c, unsigned wave, const char *text, size_t len,
               const struct expected *e)
{
    struct asm_line *line = wave == 32 ? c->wave32 : c->wave64;
    uint8_t code[CHECK_MAX_CODE];
    unsigned bytes;
    struct isa_fixup fixup;
    struct isa_asm_error err;
    char what[256];
    c->statements++;
    rd_status st = asm_line_one(line, text, len, code, &bytes, &fixup, &err);
    if (st != RD_OK) {
        if (!c->reject) {
            snprintf(what, sizeof what, "wave%u refuses it: %s", wave, err.text);
            complain(c, wave, text, len, what);
        } else {
            report(c, wave, text, len, NULL);
        }
        return;
    }
    if (!c->reject && matches(e, code, bytes, &fixup)) {
        report(c, wave, text, len, NULL);
        return;
    }
    size_t at = (size_t)snprintf(what, sizeof what, "wave%u %s ", wave,
                                 c->reject ? "accepts it as" : "gives");
    for (unsigned i = 0; i < bytes; i++)
        at += (size_t)snprintf(what + at, sizeof what - at, "%02x", code[i]);
    complain(c, wave, text, len, what);
}

/* The next field of the line; p moves behind its tab. */
static size_t field(const char **p, const char *end, const char **text)
{
    const char *tab = memchr(*p, '\t', (size_t)(end - *p));
    const char *stop = tab ? tab : end;
    *text = *p;
    *p = tab ? tab + 1 : end;
    return (size_t)(stop - *text);
}

/* Statement and bytes of a line. rest: what follows the bytes. */
static bool split(const char *line, const char *end, const char **stop,
                  const char **bytes, size_t *len, const char **rest)
{
    static const char *const marks[] = {"; encoding:", "// encoding:", " -> "};
    const char *tab = memchr(line, '\t', (size_t)(end - line));
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *mark = strstr(line, marks[i]);
        if (!mark || (tab && i == 2))
            continue;
        *stop = mark;
        *rest = mark + strlen(marks[i]);
        *len = field(rest, end, bytes);
        return true;
    }
    if (!tab)
        return false;
    *stop = tab;
    *rest = tab + 1;
    *len = field(rest, end, bytes);
    return true;
}

/* What llvm-mc writes around statements: directives, labels, lines about fixups. */
static bool is_around(const char *first, const char *end)
{
    while (end > first && strchr(" \t\r", end[-1]))
        end--;
    const char *word = first + strcspn(first, " \t;:/");
    if (strstr(first, "encoding:"))
        return false;
    return *first == '.' || *first == ';' || (word + 1 == end && *word == ':');
}

static void check_line(struct check *c, const char *line, size_t len)
{
    const char *end = line + len;
    const char *stop = end;
    const char *bytes = end;
    const char *rest = end;
    const char *wave;
    size_t n = 0;
    struct expected e;
    const char *first = line + strspn(line, " \t\r");
    if (first >= end || *first == '#' || strncmp(first, "//", 2) == 0)
        return;
    if (!c->reject && is_around(first, end))
        return;
    bool found = split(line, end, &stop, &bytes, &n, &rest);
    if (!c->reject && (!found || !check_parse_bytes(bytes, bytes + n, &e))) {
        check_malformed(c, line, len, "expected a statement, a tab and its bytes");
        return;
    }
    n = field(&rest, end, &wave);
    bool both = n == 4 && memcmp(wave, "both", 4) == 0;
    bool is32 = n == 2 && memcmp(wave, "32", 2) == 0;
    bool is64 = n == 2 && memcmp(wave, "64", 2) == 0;
    if (!both && !is32 && !is64) {
        is32 = c->o->wave == 32;
        is64 = !is32;
    } else if (c->o->wave_given) {
        is32 = (both || is32) && c->o->wave == 32;
        is64 = (both || is64) && c->o->wave == 64;
        both = false;
    }
    if (is32 || both)
        check_one(c, 32, line, (size_t)(stop - line), &e);
    if (is64 || both)
        check_one(c, 64, line, (size_t)(stop - line), &e);
}

static void check_lines(struct check *c, char *text, size_t bytes)
{
    char *end = text + bytes;
    for (char *p = text; p < end;) {
        char *nl = memchr(p, '\n', (size_t)(end - p));
        char *stop = nl ? nl : end;
        c->line++;
        *stop = '\0';
        check_line(c, p, (size_t)(stop - p));
        p = stop + 1;
    }
}

int asm_check(const struct asm_tool *o, const char *path)
{
    struct check c = {.o = o, .path = path, .reject = o->reject};
    void *data;
    size_t bytes;
    int status = CLI_FAILED;
    if (cli_read_kind(strcmp(path, "-") == 0 ? "/dev/stdin" : path, &cli_text, &data,
                      &bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path, strerror(errno));
    char *text = realloc(data, bytes + 1);
    if (text)
        text[bytes] = '\0';
    if (o->junit)
        c.cases = open_memstream(&c.text, &c.bytes);
    if (text && asm_line_open(32, &c.wave32) == RD_OK &&
        asm_line_open(64, &c.wave64) == RD_OK) {
        bool lit = check_lit(&c, text, bytes);
        if (!lit)
            check_lines(&c, text, bytes);
        if (c.wrong > MAX_SHOWN)
            (void)cli_error(CLI_FAILED, "%lu lines more are wrong",
                            c.wrong - MAX_SHOWN);
        printf("%lu statements, %lu wrong\n", c.statements, c.wrong);
        status = c.wrong ? CLI_FAILED : CLI_OK;
        if (!lit && !c.statements && !c.wrong)
            status = cli_error(CLI_FAILED, "%s: there is no statement", path);
        if (lit && !c.statements && !c.wrong)
            status = cli_error(CLI_FAILED,
                               "%s: nothing was checked: no check has the prefix of a "
                               "RUN line of llvm-mc for gfx110x",
                               path);
    } else {
        (void)cli_error(CLI_FAILED, "out of memory");
    }
    int reported = write_report(&c);
    status = status == CLI_OK ? reported : status;
    free(text ? text : data);
    asm_line_close(c.wave32);
    asm_line_close(c.wave64);
    return cli_finish(status);
}
