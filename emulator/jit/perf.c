/* perf.c: see perf.h. The format is that of tools/perf/Documentation/jit-interface.txt
 * in Linux: start and size in hexadecimal, then the name.
 *
 * Must not know how code is made. A process starts its file anew, because an earlier
 * one may have had its number; a forked child names what it compiles itself.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "perf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "isa.h"

struct perf_map {
    emu_symbol_fn *symbol;
    void *symbol_ctx;
    pthread_mutex_t lock;
    struct perf_trace *first, **end; /* that wait */
};

/* One file for all emulators of a process. */
static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t file_begun;

struct perf_map *perf_create(const struct emu_config *config)
{
    struct perf_map *m = config->perf_map ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return NULL;
    m->symbol = config->symbol;
    m->symbol_ctx = config->symbol_ctx;
    m->end = &m->first;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void perf_destroy(struct perf_map *m)
{
    if (!m)
        return;
    perf_write(m);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void perf_add(struct perf_map *m, const struct perf_trace *trace)
{
    struct perf_trace *t = m ? malloc(sizeof *t) : NULL;
    if (!t)
        return;
    *t = *trace;
    t->next = NULL;
    pthread_mutex_lock(&m->lock);
    *m->end = t;
    m->end = &t->next;
    pthread_mutex_unlock(&m->lock);
}

static void print(const struct perf_map *m, FILE *out, const struct perf_trace *t)
{
    char name[512];
    uint64_t start = 0;
    (void)fprintf(out, "%" PRIxPTR " %zx ", (uintptr_t)t->code, t->bytes);
    if (!t->pc) {
        (void)fprintf(out, "native code's stubs\n");
        return;
    }
    if (m->symbol && m->symbol(m->symbol_ctx, t->pc, name, sizeof name, &start))
        (void)fprintf(out, "%s+0x%" PRIx64, name, t->pc - start);
    else
        (void)fprintf(out, "0x%" PRIx64, t->pc);
    (void)fprintf(out, " %s (%s)\n", isa_op_name(t->op),
                  t->partial ? "partial" : "full");
}

/* Lock of the file held. Nobody else's file or link is written to. */
static FILE *open_map(void)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    if (file_begun != getpid())
        (void)unlink(path);
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(path, file_begun == getpid() ? flags : flags | O_EXCL, 0644);
    if (fd < 0)
        return NULL;
    file_begun = getpid();
    FILE *out = fdopen(fd, "a");
    if (!out)
        (void)close(fd);
    return out;
}

void perf_write(struct perf_map *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    struct perf_trace *t = m->first;
    m->first = NULL;
    m->end = &m->first;
    pthread_mutex_unlock(&m->lock);
    if (!t)
        return;
    pthread_mutex_lock(&file_lock);
    FILE *out = open_map();
    while (t) {
        struct perf_trace *next = t->next;
        if (out)
            print(m, out, t);
        free(t);
        t = next;
    }
    if (out)
        (void)fclose(out);
    pthread_mutex_unlock(&file_lock);
}
