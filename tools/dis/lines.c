/* lines.c: where code comes from, by DWARF, and what stands there.
 *
 * Must not know DWARF. SPDX-License-Identifier: MIT
 */
#include "lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "source.h"

struct dis_lines {
    struct source *source;
    bool text;
    struct source_frame last;
    char path[256]; /* of the file in memory */
    char *file;
    size_t file_bytes;
};

int dis_lines_open(const char *path, const void *elf, size_t bytes, bool text,
                   struct dis_lines **out)
{
    struct source *source = source_open(elf, bytes);
    *out = NULL;
    if (!source) {
        const char *missing = source_missing();
        fprintf(stderr, "warning: %s: no source lines: %s\n", path,
                missing ? missing : "it was compiled without -g");
        return CLI_OK;
    }
    *out = calloc(1, sizeof **out);
    if (!*out) {
        source_close(source);
        return cli_error(CLI_FAILED, "out of memory");
    }
    (*out)->source = source;
    (*out)->text = text;
    return CLI_OK;
}

void dis_lines_close(struct dis_lines *lines)
{
    if (!lines)
        return;
    source_close(lines->source);
    free(lines->file);
    free(lines);
}

/* Print a line of a file; nothing if it cannot be read. */
static void put_text(struct dis_lines *l, const struct source_frame *f)
{
    void *data = NULL;
    if (strcmp(l->path, f->file) != 0) {
        free(l->file);
        l->file = NULL;
        l->file_bytes = 0;
        snprintf(l->path, sizeof l->path, "%s", f->file);
        if (cli_read_file(f->file, &data, &l->file_bytes) == RD_OK)
            l->file = data;
    }
    const char *p = l->file;
    const char *end = p ? p + l->file_bytes : NULL;
    for (unsigned n = 1; p && p < end; n++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl)
            nl = end;
        if (n == f->line) {
            printf("// %5u  %.*s\n", n, (int)(nl - p), p);
            return;
        }
        p = nl + 1;
    }
}

void dis_lines_at(struct dis_lines *lines, uint64_t address)
{
    struct source_frame f[1];
    if (source_find(lines->source, address, f, 1) == 0 || f->line == 0 ||
        (f->line == lines->last.line && strcmp(f->file, lines->last.file) == 0))
        return;
    printf("// %s:%u%s%s\n", f->file, f->line, f->function[0] ? " " : "", f->function);
    if (lines->text)
        put_text(lines, f);
    lines->last = *f;
}

void dis_lines_json(struct dis_lines *lines, uint64_t address, struct json *j)
{
    struct source_frame f[1];
    if (source_find(lines->source, address, f, 1) == 0 || f->line == 0)
        return;
    json_text(j, "file", f->file);
    json_u64(j, "line", f->line);
}
