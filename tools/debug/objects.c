/* objects.c: code objects that a program may have loaded.
 *
 * Must not know who wants them. What a program has left is as hostile as any file: what
 * is no code object is passed over. SPDX-License-Identifier: MIT
 */
#include "objects.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "codeobj.h"
#include "kept.h"

#define HEAD 32u /* bytes that are compared first */

/* Of an offload bundle the part for this GPU stays. */
static int take_elf(const char *option, const char *path, void *data, size_t *bytes)
{
    struct co_object *object;
    struct co_error err;
    if (!*bytes)
        return cli_error(CLI_FAILED, "%s %s: the file is empty", option, path);
    if (co_open(data, *bytes, &object, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s %s: %s", option, path, err.text);
    struct co_info info = *co_info(object);
    co_close(object);
    if (info.relocatable)
        return cli_error(CLI_FAILED, "%s %s: not linked: no program loads this", option,
                         path);
    memmove(data, (char *)data + info.elf_offset, info.elf_bytes);
    *bytes = info.elf_bytes;
    return CLI_OK;
}

int objects_read(const char *option, const char *path, void **data, size_t *bytes)
{
    rd_status st = cli_read_file(path, data, bytes);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "%s %s: %s", option, path,
                         st == RD_E_IO ? strerror(errno) : rd_status_text(st));
    int status = take_elf(option, path, *data, bytes);
    if (status != CLI_OK)
        free(*data);
    return status;
}

/* Takes the data over, unless it returns false. */
static bool add(struct objects *o, const char *path, void *data, size_t bytes)
{
    struct co_object *co;
    struct object *bigger = realloc(o->v, (o->n + 1ul) * sizeof *bigger);
    if (bigger)
        o->v = bigger;
    if (!bigger || co_open(data, bytes, &co, NULL) != RD_OK)
        return false;
    struct object *to = &bigger[o->n++];
    *to = (struct object){.path = strdup(path), .data = data, .bytes = bytes, .co = co};
    return true;
}

int objects_add(struct objects *o, const char *option, const char *path)
{
    void *data;
    size_t bytes;
    int status = objects_read(option, path, &data, &bytes);
    if (status == CLI_OK && !add(o, path, data, bytes)) {
        free(data);
        status = cli_error(CLI_FAILED, "%s %s: out of memory", option, path);
    }
    return status;
}

void objects_add_loaded(struct objects *o, const char *state)
{
    char path[PATH_MAX];
    void *data;
    size_t bytes;
    for (; o->loaded < KEPT_CODES; o->loaded++) {
        (void)snprintf(path, sizeof path, "%s/" KEPT_CODE_FILE, state, o->loaded);
        if (cli_read_file(path, &data, &bytes) != RD_OK)
            return;
        if (!add(o, path, data, bytes))
            free(data);
    }
}

void objects_free(struct objects *o)
{
    for (unsigned i = 0; i < o->n; i++) {
        co_close(o->v[i].co);
        free(o->v[i].path);
        free(o->v[i].data);
    }
    free(o->v);
    *o = (struct objects){.n = 0};
}

/* Does memory at the entry hold the kernel's code? */
static bool same_code(const struct co_object *co, const struct co_kernel *k,
                      const struct objects_code *code)
{
    uint8_t piece[16384];
    for (unsigned i = 0; i < co_segment_count(co); i++) {
        const struct co_segment *s = co_segment_at(co, i);
        uint64_t at = k->entry_offset - s->offset, n = k->code_bytes;
        if (k->entry_offset < s->offset || at >= s->data_bytes || !n)
            continue;
        n = n < s->data_bytes - at ? n : s->data_bytes - at;
        for (uint64_t done = 0; done < n;) {
            size_t part = n - done < sizeof piece ? (size_t)(n - done) : sizeof piece;
            if (!code->read(code->ctx, code->entry + done, piece, part) ||
                memcmp(piece, s->data + at + done, part) != 0)
                return false;
            done += part;
        }
        return true;
    }
    return false;
}

/* Does it begin so? Most do not. */
static bool begins(const struct co_object *co, const struct co_kernel *k,
                   const uint8_t head[HEAD])
{
    for (unsigned i = 0; i < co_segment_count(co); i++) {
        const struct co_segment *s = co_segment_at(co, i);
        uint64_t at = k->entry_offset - s->offset;
        if (k->entry_offset >= s->offset && at < s->data_bytes)
            return memcmp(s->data + at, head,
                          s->data_bytes - at < HEAD ? s->data_bytes - at : HEAD) == 0;
    }
    return false;
}

const struct object *objects_find(const struct objects *o,
                                  const struct objects_code *code,
                                  const struct co_kernel **kernel)
{
    uint8_t head[HEAD];
    if (!code->read(code->ctx, code->entry, head, sizeof head))
        return NULL;
    for (unsigned i = o->n; i-- > 0;)
        for (unsigned k = 0; k < co_kernel_count(o->v[i].co); k++) {
            *kernel = co_kernel_at(o->v[i].co, k);
            if (begins(o->v[i].co, *kernel, head) &&
                same_code(o->v[i].co, *kernel, code))
                return &o->v[i];
        }
    return NULL;
}
