/* host.c: the table of findings from the side of the program: modules that traces name,
 * findings that no kernel has made.
 *
 * Must not know what is a mistake. Several processes may share the table.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heap.h"

struct ck_table *ck_table_open(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *table = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && (size_t)st.st_size >= sizeof(struct ck_table))
        table = mmap(NULL, sizeof(struct ck_table), PROT_READ | PROT_WRITE, MAP_SHARED,
                     fd, 0);
    if (fd >= 0)
        close(fd);
    return table == MAP_FAILED ? NULL : table;
}

uint32_t ck_table_module(struct ck_table *table, const char *path)
{
    unsigned n = atomic_load(&table->n_modules);
    for (unsigned i = 0; i < n && i < CK_MODULES; i++)
        if (strncmp(table->module[i].path, path, sizeof table->module[i].path - 1) == 0)
            return i + 1;
    if (n >= CK_MODULES)
        return 0;
    n = atomic_fetch_add(&table->n_modules, 1);
    if (n >= CK_MODULES) {
        atomic_store(&table->n_modules, CK_MODULES);
        return 0;
    }
    (void)snprintf(table->module[n].path, sizeof table->module[n].path, "%s", path);
    return n + 1;
}

static bool same_trace(const struct ck_trace *a, const struct ck_trace *b)
{
    return a->n == b->n && strcmp(a->call, b->call) == 0 &&
           memcmp(a->frame, b->frame, a->n * sizeof *a->frame) == 0;
}

void ck_table_report(struct ck_table *table, const struct ck_finding *f)
{
    unsigned n = atomic_load(&table->n);
    for (unsigned i = 0; i < n && i < CK_MAX_FINDINGS; i++) {
        struct ck_finding *to = &table->v[i];
        if (!atomic_load(&to->count) || to->at.pc || strcmp(to->kind, f->kind) != 0 ||
            !same_trace(&to->host, &f->host) || !same_trace(&to->made, &f->made))
            continue;
        atomic_fetch_add(&to->count, 1);
        return;
    }
    n = atomic_fetch_add(&table->n, 1);
    if (n >= CK_MAX_FINDINGS) {
        atomic_store(&table->n, CK_MAX_FINDINGS);
        atomic_fetch_add(&table->lost, 1);
        return;
    }
    memcpy(&table->v[n], f, sizeof *f);
    atomic_store(&table->v[n].count, 1);
}
