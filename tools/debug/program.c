/* program.c: symbols, lines and source texts of the program that waves run.
 *
 * Must not know waves. SPDX-License-Identifier: MIT
 */
#include "dbg_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct program_file {
    struct program_file *next;
    char *name, *text; /* text NULL: not to be read */
    char **lines;
    unsigned n;
};

void program_open(struct program *p, const char *path, const void *data, size_t bytes,
                  const char *kernel, uint64_t image, uint64_t entry, unsigned lanes)
{
    struct co_error err;
    *p = (struct program){.path = path ? path : "(bare code)",
                          .kernel = kernel ? kernel : "kernel",
                          .image = image,
                          .bias = image,
                          .entry = entry,
                          .lanes = lanes};
    if (!data || co_open(data, bytes, &p->co, &err) != RD_OK)
        return;
    const struct co_info *info = co_info(p->co);
    p->bias = image - info->base_addr;
    p->source = source_open((const char *)data + info->elf_offset, info->elf_bytes);
}

void program_close(struct program *p)
{
    while (p->files) {
        struct program_file *f = p->files;
        p->files = f->next;
        free(f->name);
        free(f->text);
        free(f->lines);
        free(f);
    }
    source_close(p->source);
    co_close(p->co);
    memset(p, 0, sizeof *p);
}

bool program_symbol(const struct program *p, uint64_t pc, char *text, size_t size)
{
    uint64_t off = 0;
    const struct co_symbol *s =
        p->co && pc >= p->image ? co_symbol_near(p->co, pc - p->image, &off) : NULL;
    if (!s && pc >= p->entry && !p->co) {
        (void)snprintf(text, size, "%s+0x%" PRIx64, p->kernel, pc - p->entry);
        return true;
    }
    if (!s || !*s->name || (s->bytes && off > s->bytes)) {
        (void)snprintf(text, size, "0x%" PRIx64, pc);
        return false;
    }
    (void)snprintf(text, size, "%s+0x%" PRIx64, s->name, off);
    return true;
}

unsigned program_frames(const struct program *p, uint64_t pc,
                        struct source_frame *frames, unsigned room)
{
    return source_find(p->source, pc - p->bias, frames, room);
}

const struct source_line *program_line(const struct program *p, uint64_t pc)
{
    return source_line_at(p->source, pc - p->bias);
}

/* ---- texts ---- */

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void split(struct program_file *f, size_t bytes)
{
    unsigned n = 1;
    for (size_t i = 0; i < bytes; i++)
        n += f->text[i] == '\n';
    f->lines = calloc(n, sizeof *f->lines);
    if (!f->lines)
        return;
    char *at = f->text;
    while (f->n < n && at < f->text + bytes) {
        char *end = strchr(at, '\n');
        f->lines[f->n++] = at;
        if (!end)
            break;
        *end = '\0';
        if (end > at && end[-1] == '\r')
            end[-1] = '\0';
        at = end + 1;
    }
}

static struct program_file *file_of(struct program *p, const char *name)
{
    struct program_file *f;
    void *data;
    size_t bytes;
    for (f = p->files; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return f;
    f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->name = strdup(name);
    f->next = p->files;
    p->files = f;
    char inside[4096];
    (void)snprintf(inside, sizeof inside, "%s%s", p->root ? p->root : "", name);
    if (cli_read_file(inside, &data, &bytes) != RD_OK &&
        cli_read_file(name, &data, &bytes) != RD_OK &&
        cli_read_file(last_name(name), &data, &bytes) != RD_OK)
        return f;
    f->text = realloc(data, bytes + 1);
    if (!f->text) {
        free(data);
        return f;
    }
    f->text[bytes] = '\0';
    split(f, bytes);
    return f;
}

const char *program_text(struct program *p, const char *file, unsigned line)
{
    const struct program_file *f = file_of(p, file);
    return f && line && line <= f->n ? f->lines[line - 1] : NULL;
}

unsigned program_text_lines(struct program *p, const char *file)
{
    const struct program_file *f = file_of(p, file);
    return f ? f->n : 0;
}

/* ---- places ---- */

bool program_same_file(const char *dwarf, const char *user)
{
    size_t n = strlen(dwarf), k = strlen(user);
    if (k > n || strcmp(dwarf + n - k, user) != 0) /* an absolute path from elsewhere */
        return *user == '/' && strcmp(last_name(dwarf), last_name(user)) == 0 &&
               *dwarf != '/';
    return k == n || dwarf[n - k - 1] == '/' || *user == '/';
}

/* The first line at or behind `from` in the file that begins a statement; 0: none. */
static unsigned nearest_line(const struct source_line *l, size_t n, const char *file,
                             unsigned from)
{
    unsigned best = 0;
    for (size_t i = 0; i < n; i++)
        if (l[i].statement && l[i].line >= from && (!best || l[i].line < best) &&
            program_same_file(l[i].file, file))
            best = l[i].line;
    return best;
}

unsigned program_line_places(struct program *p, const char *file, unsigned *line,
                             uint64_t *pcs, unsigned room)
{
    size_t n;
    const struct source_line *l = source_lines(p->source, &n);
    const struct source_line *start = program_line(p, p->entry);
    unsigned found = 0;
    if (!file && !start)
        return 0;
    file = file ? file : start->file;
    *line = nearest_line(l, n, file, *line);
    for (size_t i = 0; i < n && *line && found < room; i++) {
        bool here =
            l[i].statement && l[i].line == *line && program_same_file(l[i].file, file);
        /* a line that goes on from the row before is not begun again */
        bool goes_on = i && l[i - 1].line == *line && l[i - 1].end == l[i].va &&
                       l[i - 1].statement && program_same_file(l[i - 1].file, file);
        if (here && !goes_on)
            pcs[found++] = l[i].va + p->bias;
    }
    return found;
}

/* The end of the prologue in [va, end), or va. */
static uint64_t behind_prologue(const struct program *p, uint64_t va, uint64_t end)
{
    size_t n;
    const struct source_line *l = source_lines(p->source, &n);
    for (size_t i = 0; i < n; i++)
        if (l[i].va >= va && l[i].va < end && l[i].prologue_end)
            return l[i].va;
    return va;
}

bool program_in_prologue(const struct program *p, uint64_t pc)
{
    size_t n;
    const struct source_function *f = source_functions(p->source, &n);
    uint64_t va = pc - p->bias;
    for (size_t i = 0; i < n; i++)
        if (!f[i].inlined && va >= f[i].va && va < f[i].end)
            return va < behind_prologue(p, f[i].va, f[i].end);
    return false;
}

uint64_t program_function(const struct program *p, const char *name, bool exact)
{
    size_t n;
    const struct source_function *f = source_functions(p->source, &n);
    for (size_t i = 0; i < n; i++)
        if (!f[i].inlined && strcmp(f[i].name, name) == 0)
            return p->bias + (exact ? f[i].va : behind_prologue(p, f[i].va, f[i].end));
    const struct co_symbol *s = p->co ? co_symbol_find(p->co, name) : NULL;
    if (s && s->kind == CO_SYM_FUNC && s->place == CO_PLACE_IMAGE)
        return p->image + s->value;
    return strcmp(name, p->kernel) == 0 ? p->entry : 0;
}

unsigned program_function_places(const struct program *p, const char *name,
                                 uint64_t *pcs, unsigned room)
{
    size_t n;
    const struct source_function *f = source_functions(p->source, &n);
    unsigned found = 0;
    if (room && (pcs[0] = program_function(p, name, false)))
        found = 1;
    for (size_t i = 0; i < n && found < room; i++)
        if (f[i].inlined && strcmp(f[i].name, name) == 0)
            pcs[found++] = f[i].va + p->bias;
    return found;
}
