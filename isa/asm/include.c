/* include.c: other files: .include, .incbin, and which file a place is of.
 *
 * Files are read by the caller of the assembler. Must not know folders. Invariant: a
 * file is not read inside of itself.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <errno.h>
#include <stdlib.h>

uint32_t as_source_of(const struct as *as, const char *at)
{
    for (uint32_t i = 1; at && i < as->n_sources; i++)
        if (at >= as->sources[i].begin && at <= as->sources[i].end)
            return i;
    if (at && at >= as->text && at <= as->text_end)
        return 0;
    for (uint32_t i = as->n_frames; i-- > 0;)
        if (as->frames[i].file)
            return as->frames[i].source;
    return 0;
}

const char *as_source_name(const struct as *as, uint32_t source)
{
    if (source)
        return as->sources[source].name;
    return as->options->name ? as->options->name : "<input>";
}

/* Is the file being read already? Not those that wait for their turn. */
static bool is_open(const struct as *as, const char *name)
{
    for (uint32_t i = 0; i < as->n_frames; i++)
        if (as->frames[i].file &&
            (i + 1 == as->n_frames || as->frames[i].p != as->frames[i].begin) &&
            strcmp(as_source_name(as, as->frames[i].source), name) == 0)
            return true;
    return false;
}

/* The contents of a file, text of a source or any bytes; NULL with an error. */
static char *read_file(struct as *as, const char *name, bool text, const char *at,
                       size_t *bytes)
{
    void *data = NULL;
    if (!as->options->read) {
        as_error(as, at, "other files are not read here");
        return NULL;
    }
    errno = 0;
    if (!as->options->read(as->options->ctx, name, text, &data, bytes)) {
        if (at)
            as_error(as, at, "cannot read '%.200s': %s", name, strerror(errno));
        else
            as_error_at(as, NULL, 0, "cannot read '%.200s': %s", name, strerror(errno));
        return NULL;
    }
    return data;
}

static bool add_source(struct as *as, const char *name, const char *text, size_t n,
                       uint32_t parent, uint32_t line)
{
    if (as->n_sources == 0)
        as->n_sources = 1;
    if (!as_grow((void **)&as->sources, &as->cap_sources, as->n_sources,
                 sizeof *as->sources)) {
        as_out_of_memory(as);
        return false;
    }
    as->sources[as->n_sources++] = (struct as_source){
        .name = name, .begin = text, .end = text + n, .parent = parent, .line = line};
    return true;
}

bool as_source_push(struct as *as, const char *name, const char *at)
{
    size_t n = 0;
    uint32_t parent = as_source_of(as, at);
    char *data = read_file(as, name, true, at, &n);
    if (!data)
        return false;
    const char *text = as_keep(as, data, n);
    const char *kept = as_keep(as, name, strlen(name));
    free(data);
    if (!text || !kept || !add_source(as, kept, text, n, parent, at ? as->line : 0))
        return false;
    if (memchr(text, '\0', n)) {
        as_error(as, at, "'%.200s' contains a NUL byte", name);
        return false;
    }
    struct as_frame frame = {.begin = text,
                             .p = text,
                             .end = text + n,
                             .line = 1,
                             .begin_line = 1,
                             .file = true,
                             .source = as->n_sources - 1};
    if (!as_frame_push(as, &frame)) {
        as_fatal(as, at, "files and macros are nested deeper than %u levels",
                 AS_MAX_NEST);
        return false;
    }
    return true;
}

/* The quoted name of a file, zero-terminated, in memory of the state. */
static const char *file_name(struct as *as)
{
    struct as_buf text = {0};
    const char *kept = NULL;
    if (!as_string(as, &text))
        as_error(as, as->error.at, "%s", as->error.text);
    else if (text.bytes == 0 || memchr(text.data, '\0', text.bytes))
        as_error(as, as->p, "expected the name of a file");
    else
        kept = as_keep(as, (const char *)text.data, text.bytes);
    free(text.data);
    return kept;
}

static void dir_include(struct as *as, int arg)
{
    (void)arg;
    as_blanks(as);
    const char *at = as->p;
    const char *name = file_name(as);
    if (!name)
        return;
    if (!as_at_end(as)) {
        as_error(as, as->p, "unexpected text at the end of the statement");
        return;
    }
    if (is_open(as, name)) {
        as_error(as, at, "'%.200s' includes itself", name);
        return;
    }
    uint32_t line = as->line;
    const char *behind = as->p;
    if (!as_source_push(as, name, at))
        return;
    /* The frame below goes on with the next line. */
    struct as_frame *below = &as->frames[as->n_frames - 2];
    const char *nl = memchr(behind, '\n', (size_t)(below->end - behind));
    below->p = nl ? nl + 1 : below->end;
    below->line = line + (nl != NULL);
    as->line_done = true;
}

/* .incbin "file"[, skip[, count]] */
static void dir_incbin(struct as *as, int arg)
{
    (void)arg;
    size_t n = 0;
    int64_t skip = 0;
    int64_t count = INT64_MAX;
    as_blanks(as);
    const char *at = as->p;
    const char *name = file_name(as);
    if (!name)
        return;
    if (as_take(as, ',')) {
        as_blanks(as);
        bool given = as->p < as->end && *as->p != ',';
        if ((given && !as_absolute(as, &skip)) ||
            (as_take(as, ',') && !as_absolute(as, &count)))
            return;
    }
    if (skip < 0 || count < 0) {
        as_error(as, at, "the bytes to skip and to take must not be negative");
        return;
    }
    char *data = read_file(as, name, false, at, &n);
    if (!data)
        return;
    size_t from = (uint64_t)skip < n ? (size_t)skip : n;
    size_t take = (uint64_t)count < n - from ? (size_t)count : n - from;
    bool nobits = as->sections[as->section].type == 8;
    uint8_t *out = take && !nobits ? as_emit(as, take) : NULL;
    if (out)
        memcpy(out, data + from, take);
    else if (take && nobits)
        as_error(as, at, "a section without contents holds only zeros");
    free(data);
}

const struct as_directive as_directives_include[] = {
    {".include", dir_include, 0},
    {".incbin", dir_incbin, 0},
    {NULL, NULL, 0},
};
