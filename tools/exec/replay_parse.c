/* replay_parse.c: reads the transcripts that driver/abi/log.c writes.
 *
 * Must not know what any ioctl means. Every allocation hangs off the struct replay, so
 * a bad line leaks nothing. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Hex up to a blank or the end of the line. */
static bool take_hex(const char **at, uint8_t **data, size_t *bytes)
{
    size_t n = strspn(*at, "0123456789abcdef");
    const char *p = *at;
    if (n % 2 || !(*data = malloc(n / 2 + 1)))
        return false;
    for (size_t i = 0; i < n / 2; i++)
        (*data)[i] = (uint8_t)(digit(p[2 * i]) << 4 | digit(p[2 * i + 1]));
    *bytes = n / 2;
    *at += n;
    return true;
}

static bool take_memory(const char **at, bool get, struct replay_call *c)
{
    struct replay_memory *list =
        realloc(c->memory, (c->n_memory + 1) * sizeof(*c->memory));
    if (!list)
        return false;
    c->memory = list;
    struct replay_memory *m = &list[c->n_memory++];
    char *end;
    *m = (struct replay_memory){.get = get, .ok = true};
    m->address = strtoull(*at, &end, 16);
    if (end == *at || *end != ':')
        return false;
    *at = end + 1;
    if (**at == '!') {
        m->ok = false;
        ++*at;
        return true;
    }
    return take_hex(at, &m->data, &m->bytes);
}

static bool take_file(const char **at, struct replay_call *c)
{
    char *end;
    long fd = strtol(*at, &end, 10);
    if (end == *at || *end != ':' || c->n_files == 4)
        return false;
    size_t n = strcspn(end + 1, " \n");
    enum abi_file kind = strncmp(end + 1, "kfd", n) == 0      ? ABI_KFD
                         : strncmp(end + 1, "render", n) == 0 ? ABI_RENDER
                         : strncmp(end + 1, "card", n) == 0   ? ABI_CARD
                                                              : ABI_NONE;
    c->files[c->n_files++] = (struct replay_file){(int)fd, kind};
    *at = end + 1 + n;
    return true;
}

static bool skip(const char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

static bool take_field(const char **at, struct replay_call *c, bool *done)
{
    if (skip(at, "in=?"))
        return true;
    if (skip(at, "in=")) {
        c->readable = true;
        return take_hex(at, &c->in, &c->in_bytes);
    }
    if (skip(at, "out="))
        return take_hex(at, &c->out, &c->out_bytes);
    if (skip(at, "get="))
        return take_memory(at, true, c);
    if (skip(at, "put="))
        return take_memory(at, false, c);
    if (skip(at, "file="))
        return take_file(at, c);
    if (skip(at, "ret=")) {
        char *end;
        c->result = (int)strtol(*at, &end, 10);
        *done = end != *at;
        *at = end;
        return *done;
    }
    return false;
}

/* "PID TID kfd NAME 0xCMD FIELD..." */
static bool take_call(const char *line, struct replay_call *c)
{
    char file[8];
    int used = 0;
    bool done = false;
    if (sscanf(line, "%d %*d %7s %31s %lx %n", &c->pid, file, c->name, &c->cmd,
               &used) != 4 ||
        !used)
        return false;
    c->file = strcmp(file, "kfd") == 0    ? ABI_KFD
              : strcmp(file, "card") == 0 ? ABI_CARD
                                          : ABI_RENDER;
    const char *at = line + used;
    while (!done) {
        if (!take_field(&at, c, &done))
            return false;
        at += *at == ' ';
    }
    return *at == '\n' || *at == '\0';
}

static struct replay_call *new_call(struct replay *r)
{
    if (r->n_calls == r->cap_calls) {
        size_t cap = r->cap_calls ? 2 * r->cap_calls : 256;
        struct replay_call *bigger = realloc(r->calls, cap * sizeof(*bigger));
        if (!bigger)
            return NULL;
        r->calls = bigger;
        r->cap_calls = cap;
    }
    struct replay_call *c = &r->calls[r->n_calls++];
    *c = (struct replay_call){.line = 0};
    return c;
}

rd_status replay_parse(const char *text, struct replay *out, char why[160])
{
    unsigned number = 1;
    for (const char *line = text; line && *line; number++) {
        const char *next = strchr(line, '\n');
        unsigned long long vram;
        if (*line == '#') {
            if (sscanf(line, "# rdna3 ioctls 1: pid %*d vram %llu", &vram) == 1)
                out->vram_bytes = vram;
        } else {
            struct replay_call *c = new_call(out);
            if (!c)
                return RD_E_NOMEM;
            c->line = number;
            if (!take_call(line, c)) {
                snprintf(why, 160, "line %u is no line of a transcript", number);
                return RD_E_FORMAT;
            }
        }
        line = next ? next + 1 : NULL;
    }
    return RD_OK;
}

void replay_free(struct replay *r)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        struct replay_call *c = &r->calls[i];
        for (size_t k = 0; k < c->n_memory; k++)
            free(c->memory[k].data);
        free(c->memory);
        free(c->in);
        free(c->out);
    }
    free(r->calls);
    free(r->text);
}
