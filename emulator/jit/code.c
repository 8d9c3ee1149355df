/* code.c: see code.h. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "code.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define CHUNK_BYTES (1u << 20)
#define ALIGN       64u

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u /* Linux 6.3: wanted where vm.memfd_noexec is 1 */
#endif

struct chunk {
    uint8_t *code;
    size_t used;
    int file;    /* -1: anonymous */
    pid_t owner; /* the process that may write to it */
    struct chunk *next;
};

struct code_memory {
    struct chunk *first;
    size_t bytes;
    bool for_perf;
};

struct code_memory *code_create(bool for_perf)
{
    struct code_memory *m = calloc(1, sizeof *m);
    if (m)
        m->for_perf = for_perf;
    return m;
}

static void chunk_free(struct chunk *c)
{
    munmap(c->code, CHUNK_BYTES);
    if (c->file >= 0)
        close(c->file);
    free(c);
}

void code_clear(struct code_memory *m)
{
    while (m->first) {
        struct chunk *c = m->first;
        m->first = c->next;
        chunk_free(c);
    }
    m->bytes = 0;
}

void code_destroy(struct code_memory *m)
{
    if (!m)
        return;
    code_clear(m);
    free(m);
}

size_t code_bytes(const struct code_memory *m)
{
    return m->bytes;
}

static int open_file(void)
{
    struct rlimit limit; /* beyond it a signal would end the process */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < CHUNK_BYTES)
        return -1;
    int file = memfd_create("rdna3-code", MFD_CLOEXEC | MFD_EXEC);
    if (file < 0)
        file = memfd_create("rdna3-code", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, CHUNK_BYTES) != 0) {
        close(file);
        file = -1;
    }
    return file;
}

static struct chunk *chunk_new(bool for_perf)
{
    int file = for_perf ? -1 : open_file();
    if (file < 0 && !for_perf)
        return NULL;
    void *code = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_EXEC,
                      for_perf ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, file, 0);
    struct chunk *c = code == MAP_FAILED ? NULL : calloc(1, sizeof *c);
    if (!c) {
        if (code != MAP_FAILED)
            munmap(code, CHUNK_BYTES);
        if (file >= 0)
            close(file);
        return NULL;
    }
    c->code = code;
    c->file = file;
    c->owner = getpid();
    return c;
}

/* Through a second mapping of the same memory, which never is executable while it is
 * writable. */
static bool write_anonymous(const struct chunk *c, const void *code, size_t bytes)
{
    void *again = mremap(c->code, 0, CHUNK_BYTES, MREMAP_MAYMOVE);
    if (again == MAP_FAILED)
        return false;
    bool ok = mprotect(again, CHUNK_BYTES, PROT_READ | PROT_WRITE) == 0;
    if (ok)
        memcpy((uint8_t *)again + c->used, code, bytes);
    munmap(again, CHUNK_BYTES);
    return ok;
}

static bool write_chunk(const struct chunk *c, const void *code, size_t bytes)
{
    return c->file < 0 ? write_anonymous(c, code, bytes)
                       : pwrite(c->file, code, bytes, (off_t)c->used) == (ssize_t)bytes;
}

const void *code_put(struct code_memory *m, const void *code, size_t bytes)
{
    struct chunk *c = m->first;
    if (bytes > CHUNK_BYTES)
        return NULL;
    if (!c || CHUNK_BYTES - c->used < bytes || c->owner != getpid()) {
        c = chunk_new(m->for_perf);
        if (!c)
            return NULL;
        c->next = m->first;
        m->first = c;
    }
    if (!write_chunk(c, code, bytes))
        return NULL;
    const void *at = c->code + c->used;
    size_t room = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    c->used = c->used + room < CHUNK_BYTES ? c->used + room : CHUNK_BYTES;
    m->bytes += room;
    return at;
}
