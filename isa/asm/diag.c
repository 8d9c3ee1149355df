/* diag.c: messages with their place in the source, and their text form.
 *
 * Must not know what is wrong with the input. Invariant: memory does not grow with the
 * number of errors; after max_errors of them they are only counted.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <stdio.h>

#define MAX_ERRORS 20
#define WINDOW     120u /* characters of a long source line that are shown */

/* The line around at: in the file, or in an expansion, which starts with a newline. */
static const char *line_start(const struct as *as, const char *at)
{
    bool in_file = at >= as->text && at <= as->text_end;
    while ((!in_file || at > as->text) && at[-1] != '\n')
        at--;
    return at;
}

static size_t line_length(const struct as *as, const char *start)
{
    bool in_file = start >= as->text && start <= as->text_end;
    const char *end = start;
    while ((!in_file || end < as->text_end) && *end != '\n' && *end != '\0')
        end++;
    return (size_t)(end - start);
}

/* Which files led to a source, innermost first. */
static void include_lines(const struct as *as, uint32_t source, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (; source && as->sources[source].line; source = as->sources[source].parent) {
        int n = snprintf(text + used, room - used, "In file included from %s:%u:\n",
                         as_source_name(as, as->sources[source].parent),
                         as->sources[source].line);
        if (n < 0 || (size_t)n >= room - used) {
            text[used] = '\0';
            return;
        }
        used += (size_t)n;
    }
}

static void report(struct as *as, enum asm_severity severity, const char *at,
                   uint32_t line, uint32_t from, const char *fmt, va_list ap)
{
    unsigned most = as->options->max_errors ? as->options->max_errors : MAX_ERRORS;
    if (severity == ASM_ERROR)
        as->result.errors++;
    if (as->result.errors > most || !as->options->message)
        return;
    char text[512], includes[240];
    uint32_t source = as_source_of(as, at);
    include_lines(as, source, includes, sizeof includes);
    vsnprintf(text, sizeof text, fmt, ap);
    struct asm_message m = {.severity = severity,
                            .file = as_source_name(as, source),
                            .line = line,
                            .text = text,
                            .from_line = from,
                            .includes = includes};
    if (at) {
        m.source = line_start(as, at);
        m.source_len = line_length(as, m.source);
        m.column = (unsigned)(at - m.source) + 1;
    }
    as->options->message(as->options->ctx, &m);
}

uint32_t as_source_line(const struct as *as, uint32_t line)
{
    const struct as_frame *top = as->n_frames ? &as->frames[as->n_frames - 1] : NULL;
    if (!top || top->lines == 0)
        return line;
    return top->begin_line + (line - top->begin_line) % top->lines;
}

/* The line of a place in the statement being read. */
static uint32_t line_of(const struct as *as, const char *at)
{
    const struct as_frame *top = as->n_frames ? &as->frames[as->n_frames - 1] : NULL;
    uint32_t line = as->line;
    /* A copy without comments lies elsewhere, but is of this line. */
    if (top && at && at >= top->begin && at <= top->end)
        for (const char *p = at; p < as->p; p++)
            line -= *p == '\n';
    return as_source_line(as, line);
}

static uint32_t call_line(const struct as *as)
{
    return as->n_frames ? as->frames[as->n_frames - 1].from : 0;
}

void as_error(struct as *as, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(as, ASM_ERROR, at, line_of(as, at), call_line(as), fmt, ap);
    va_end(ap);
    as->failed_statement = true;
}

void as_warning(struct as *as, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(as, ASM_WARNING, at, line_of(as, at), call_line(as), fmt, ap);
    va_end(ap);
}

void as_error_at(struct as *as, const char *at, uint32_t line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(as, ASM_ERROR, at, line, 0, fmt, ap);
    va_end(ap);
}

void as_fatal(struct as *as, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(as, ASM_ERROR, at, line_of(as, at), call_line(as), fmt, ap);
    va_end(ap);
    as->failed_statement = true;
    as->stop = true;
}

void as_out_of_memory(struct as *as)
{
    as->status = RD_E_NOMEM;
    as->failed_statement = true;
    as->stop = true;
}

/* The part of the source line that is shown, and the caret's place in it. */
static size_t format_source(const struct asm_message *m, char *text, size_t room)
{
    size_t caret = m->column - 1;
    size_t from = caret > WINDOW - 20 ? caret - (WINDOW - 40) : 0;
    size_t n = m->source_len - from;
    if (m->source_len <= WINDOW + 20) {
        from = 0;
        n = m->source_len;
    } else if (n > WINDOW) {
        n = WINDOW;
    }
    const char *cut = from ? "..." : "";
    const char *more = from + n < m->source_len ? "..." : "";
    int used = snprintf(text, room, "%s%.*s%s\n%*s", cut, (int)n, m->source + from,
                        more, (int)strlen(cut), "");
    if (used < 0 || (size_t)used >= room)
        return 0;
    /* Controls could move a terminal's cursor; a carriage return ends no line here. */
    for (char *p = text; *p; p++)
        if ((uint8_t)*p < ' ' && *p != '\t' && *p != '\n')
            *p = ' ';
    size_t at = (size_t)used;
    for (size_t i = from; i < caret && i < from + n && at + 3 < room; i++)
        text[at++] = m->source[i] == '\t' ? '\t' : ' ';
    text[at++] = '^';
    text[at++] = '\n';
    text[at] = '\0';
    return at;
}

size_t asm_format(const struct asm_message *message, bool color, char *text)
{
    static const char *const words[] = {"error:", "warning:", "note:"};
    static const char *const colored[] = {"\033[1;31merror:\033[0m",
                                          "\033[1;35mwarning:\033[0m",
                                          "\033[1;36mnote:\033[0m"};
    const struct asm_message *m = message;
    size_t room = ASM_FORMAT_BYTES - 256; /* the rest is for the note about the call */
    char place[32] = "";
    if (m->line && m->column)
        snprintf(place, sizeof place, ":%u:%u", m->line, m->column);
    else if (m->line)
        snprintf(place, sizeof place, ":%u", m->line);
    int used = snprintf(text, room - 320, "%.240s%.256s%s: %s %s",
                        m->includes ? m->includes : "", m->file, place,
                        (color ? colored : words)[m->severity], m->text);
    size_t at = used < 0 ? 0 : (size_t)used;
    if (at >= room - 320)
        at = room - 321;
    text[at++] = '\n';
    text[at] = '\0';
    if (m->source)
        at += format_source(m, text + at, room - at);
    if (m->from_line) {
        used = snprintf(text + at, ASM_FORMAT_BYTES - at,
                        "%.128s:%u: %s expanded from here\n", m->file, m->from_line,
                        (color ? colored : words)[ASM_NOTE]);
        at += used > 0 ? (size_t)used : 0;
    }
    return at;
}
