/* rocm.c: the files of rocprofv3 --att, by their names:
 *
 *   PREFIX_AGENT_shader_engine_SE_DISPATCH.att
 *   PREFIX_gfx1100_code_object_id_ID.out
 *
 * A prefix is a process; agents are GPUs. Where an object lies is told in the traces
 * (marks.h). Must not know packets. Source: source/lib/rocprofiler-sdk-tool/tool.cpp of
 * rocprofiler-sdk. SPDX-License-Identifier: MIT
 */
#include "rocm.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* A file's name, taken apart. */
struct entry {
    char *path;
    const char *name;
    size_t prefix; /* bytes of the name: the process */
    size_t head;   /* and its GPU; of a code object the same as prefix */
    bool is_trace;
    uint64_t se, number; /* number: of the dispatch, or of the code object */
};

struct folder {
    struct entry *entry;
    size_t n;
};

/* ---- names ---- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Digits up to a character; where they end, or NULL. */
static const char *digits(const char *s, char end, uint64_t *out)
{
    uint64_t v = 0;
    const char *at = s;
    for (; *at >= '0' && *at <= '9' && at - s < 19; at++)
        v = 10 * v + (uint64_t)(*at - '0');
    *out = v;
    return at > s && *at == end ? at + 1 : NULL;
}

/* Where the last of these words begins, of a name that ends as it should; NULL. */
static const char *find(const char *name, const char *word, const char *end)
{
    size_t n = strlen(name), tail = strlen(end);
    const char *at = NULL;
    if (n < tail || strcmp(name + n - tail, end) != 0)
        return NULL;
    for (const char *s = strstr(name, word); s; s = strstr(s + 1, word))
        at = s;
    return at;
}

/* Bytes in front of the last part of a head, GPU or architecture. */
static size_t before_last(const char *name, size_t head)
{
    while (head > 0 && name[head - 1] != '_')
        head--;
    return head;
}

/* e's path, name  in. false: another file */
static bool take_apart(struct entry *e)
{
    static const char engine[] = "_shader_engine_", object[] = "_code_object_id_";
    const char *at = find(e->name, engine, ".att");
    if (at) {
        const char *rest = digits(at + sizeof engine - 1, '_', &e->se);
        e->is_trace = true;
        e->head = (size_t)(at - e->name);
        e->prefix = before_last(e->name, e->head);
        return rest && digits(rest, '.', &e->number);
    }
    at = find(e->name, object, ".out");
    if (!at)
        return false;
    e->head = e->prefix = before_last(e->name, (size_t)(at - e->name));
    return digits(at + sizeof object - 1, '.', &e->number) != NULL;
}

static int by_head(const struct entry *a, const struct entry *b, size_t na, size_t nb)
{
    int c = memcmp(a->name, b->name, na < nb ? na : nb);
    return c ? c : (na > nb) - (na < nb);
}

/* Process, GPU, dispatch, engine; a process's code objects first. */
static int in_order(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    int c = by_head(a, b, a->prefix, b->prefix);
    if (!c && a->is_trace != b->is_trace)
        return a->is_trace ? 1 : -1;
    c = c ? c : by_head(a, b, a->head, b->head);
    if (!c)
        c = (a->number > b->number) - (a->number < b->number);
    return c ? c : (a->se > b->se) - (a->se < b->se);
}

static bool same_dispatch(const struct entry *a, const struct entry *b)
{
    return a->is_trace && b->is_trace && a->number == b->number &&
           by_head(a, b, a->head, b->head) == 0;
}

bool rocm_is(const char *path)
{
    struct stat s;
    struct entry e = {.name = name_of(path)};
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return true;
    return take_apart(&e) && e.is_trace;
}

bool rocm_same(const char *path, const char *other)
{
    struct entry a = {.name = name_of(path)};
    struct entry b = {.name = name_of(other)};
    size_t n = (size_t)(a.name - path), m = (size_t)(b.name - other);
    return n == m && memcmp(path, other, n) == 0 && take_apart(&a) && take_apart(&b) &&
           same_dispatch(&a, &b);
}

/* ---- a folder ---- */

static void forget(struct folder *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->entry[i].path);
    free(f->entry);
}

/* false: out of memory */
static bool add(struct folder *f, const char *folder, const char *name)
{
    struct entry e = {.name = name};
    size_t at = strlen(folder) + 1, bytes = at + strlen(name) + 1;
    if (!take_apart(&e))
        return true;
    struct entry *more = realloc(f->entry, (f->n + 1) * sizeof *more);
    if (!more)
        return false;
    f->entry = more;
    e.path = malloc(bytes);
    if (!e.path)
        return false;
    (void)snprintf(e.path, bytes, "%s/%s", folder, name);
    e.name = e.path + at;
    f->entry[f->n++] = e;
    return true;
}

static int list(const char *path, struct folder *out)
{
    DIR *d = opendir(path);
    bool ok = true;
    if (!d)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path, strerror(errno));
    for (struct dirent *e = readdir(d); ok && e; e = readdir(d))
        ok = add(out, path, e->d_name);
    (void)closedir(d);
    if (!ok)
        return cli_error(CLI_FAILED, "out of memory");
    if (out->n)
        qsort(out->entry, out->n, sizeof *out->entry, in_order);
    return CLI_OK;
}

static int read_entry(const struct entry *e, struct rocm_files *files, void **data,
                      size_t *bytes)
{
    void **more = realloc(files->data, (files->n + 1) * sizeof *more);
    if (!more)
        return cli_error(CLI_FAILED, "out of memory");
    files->data = more;
    if (cli_read_file(e->path, data, bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", e->path, strerror(errno));
    files->data[files->n++] = *data;
    return CLI_OK;
}

/* One file of it. process  which of those the folder has, from 0; before: the trace
 * that was taken last, or NULL. */
static int take(const struct entry *e, const struct entry *before, unsigned process,
                struct sqtt_file *out, struct rocm_files *files)
{
    void *data = NULL;
    size_t bytes = 0;
    if (e->is_trace && e->se >= CAPTURE_SES)
        return cli_error(CLI_FAILED, "'%s': a gfx1100 has %d shader engines", e->path,
                         CAPTURE_SES);
    int status = read_entry(e, files, &data, &bytes);
    if (status != CLI_OK)
        return status;
    if (!e->is_trace) {
        if (!capture_add_object(out, 0, data, bytes))
            return cli_error(CLI_FAILED, "out of memory");
        struct sqtt_object *o = &out->object[out->n_objects - 1];
        o->told = true;
        o->id = e->number;
        o->process = process;
        return CLI_OK;
    }
    size_t launch = out->n_launches - (before && same_dispatch(before, e));
    if (!capture_add_trace(out, launch, (unsigned)e->se, data, bytes))
        return cli_error(CLI_FAILED, "out of memory");
    out->launch[launch].process = process;
    return CLI_OK;
}

int rocm_read(const char *path, struct sqtt_file *out, struct rocm_files *files)
{
    struct entry only = {.name = name_of(path)};
    struct folder f = {0};
    const struct entry *before = NULL;
    char *folder = strdup(path);
    unsigned process = 0;
    struct stat s;
    *out = (struct sqtt_file){.n_launches = 0};
    *files = (struct rocm_files){.n = 0};
    if (!folder)
        return cli_error(CLI_FAILED, "out of memory");
    bool whole = stat(path, &s) == 0 && S_ISDIR(s.st_mode);
    if (!whole) {
        take_apart(&only);
        folder[only.name - path] = '\0';
    }
    int status = list(*folder ? folder : ".", &f);
    for (size_t i = 0; status == CLI_OK && i < f.n; i++) {
        const struct entry *e = &f.entry[i];
        process += i && by_head(e - 1, e, e[-1].prefix, e->prefix) != 0;
        if (!whole && (by_head(&only, e, only.prefix, e->prefix) != 0 ||
                       (e->is_trace && !same_dispatch(&only, e))))
            continue;
        status = take(e, before, process, out, files);
        before = e->is_trace ? e : before;
    }
    forget(&f);
    free(folder);
    if (status == CLI_OK && out->n_launches == 0)
        status = cli_error(CLI_FAILED,
                           "%s: there is no thread trace in it (rocprofv3 --att names "
                           "them *_shader_engine_N_M.att)",
                           path);
    return status;
}

void rocm_free(struct rocm_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->data[i]);
    free(files->data);
    *files = (struct rocm_files){.n = 0};
}
