/* json.c: the JSON writer: commas, brackets and escapes.
 *
 * Must not know what is written. Invariant: calls in order give one valid JSON value,
 * whatever bytes the texts hold.
 * SPDX-License-Identifier: MIT
 */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 sequence at p, 0 if it is none (overlong, surrogate, cut off). */
static unsigned sequence(const unsigned char *p)
{
    unsigned n = p[0] < 0x80                   ? 1
                 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                               : 0;
    for (unsigned i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) /* the zero at the end is none */
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xed && p[1] >= 0xa0;
    bool beyond = p[0] == 0xf4 && p[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : n;
}

static void quoted(FILE *out, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    putc('"', out);
    while (*p != '\0') {
        unsigned n = sequence(p);
        if (n == 0)
            fputs("\\ufffd", out);
        else if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\u%04x", *p);
        else
            fwrite(p, 1, n, out);
        p += n == 0 ? 1 : n;
    }
    putc('"', out);
}

/* What stands before a value. Elements of the outer levels have a line each. */
static void begin(struct json *j, const char *key)
{
    if (!j->first)
        putc(',', j->out);
    if (j->depth <= 2)
        putc('\n', j->out);
    j->first = false;
    if (key != NULL) {
        quoted(j->out, key);
        putc(':', j->out);
    }
}

static void open(struct json *j, char bracket, char close)
{
    putc(bracket, j->out);
    j->first = true;
    if (j->depth == JSON_MAX_DEPTH)
        abort(); /* a nesting that no caller has */
    j->close[j->depth++] = close;
}

struct json json_begin(FILE *out)
{
    struct json j = {.out = out};
    open(&j, '{', '}');
    return j;
}

void json_end(struct json *j)
{
    while (j->depth > 0)
        json_close(j);
    putc('\n', j->out);
}

void json_object(struct json *j, const char *key)
{
    begin(j, key);
    open(j, '{', '}');
}

void json_array(struct json *j, const char *key)
{
    begin(j, key);
    open(j, '[', ']');
}

void json_close(struct json *j)
{
    if (j->depth <= 2 && !j->first)
        putc('\n', j->out);
    putc(j->close[--j->depth], j->out);
    j->first = false;
}

void json_text(struct json *j, const char *key, const char *value)
{
    begin(j, key);
    if (value == NULL)
        fputs("null", j->out);
    else
        quoted(j->out, value);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
    begin(j, key);
    fprintf(j->out, "%" PRIu64, value);
}

void json_real(struct json *j, const char *key, double value)
{
    char text[40];
    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    begin(j, key);
    fputs(text, j->out);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
    begin(j, key);
    fputs("null", j->out);
}
