/* alloc.c: calls of a checked program into runtimes: where they come from, what they
 * make, and what is left of it at the end.
 *
 * Must not know the functions of any runtime. A call inside of a call is the runtime's
 * own. Without `rdna3 check` nothing is recorded. SPDX-License-Identifier: MIT
 */
#include "alloc.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "config.h"
#include "hooks.h"

enum { DEPTH = 48, PAGE = 4096 };
#define FILL_BYTES (UINT64_C(256) << 20) /* more is not filled */

static struct {
    pthread_once_t once;
    struct ck_heap *heap;
    struct ck_table *table;
    pid_t pid;
    const void *self; /* where this library begins */
} state = {.once = PTHREAD_ONCE_INIT};

static __thread struct alloc_call *current;

static void begin(void)
{
    Dl_info info;
    const char *path = front_findings();
    if (!path || !(state.table = ck_table_open(path)))
        return;
    if (dladdr((void *)&state, &info))
        state.self = info.dli_fbase;
    state.pid = getpid();
    if (ck_heap_create(&state.heap) != RD_OK)
        state.heap = NULL;
}

struct ck_heap *alloc_heap(void)
{
    pthread_once(&state.once, begin);
    return state.heap;
}

/* ---- runtimes ---- */

static const char *const runtimes[] = {"libamdhip64.so", "libOpenCL.so",
                                       "libhsa-runtime64.so", "libamdocl64.so",
                                       "libhsakmt.so"};

static bool is_runtime(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (strncmp(file, runtimes[i], strlen(runtimes[i])) == 0)
            return true;
    return false;
}

struct search {
    const char *library;
    char path[PATH_MAX];
};

static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct search *s = ctx;
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (strncmp(slash ? slash + 1 : info->dlpi_name, s->library, strlen(s->library)) !=
        0)
        return 0;
    (void)snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
    return 1;
}

/* Libraries that were opened for themselves alone are not among the next ones. */
void *alloc_real(const char *name)
{
    void *found = shim_dlsym()(RTLD_NEXT, name);
    for (size_t i = 0; !found && i < sizeof runtimes / sizeof *runtimes; i++) {
        struct search s = {.library = runtimes[i]};
        if (!dl_iterate_phdr(look_at, &s))
            continue;
        void *library = dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD);
        if (!library)
            continue;
        found = shim_dlsym()(library, name);
        dlclose(library);
    }
    return found;
}

void *alloc_hook_in(const struct alloc_hook *hooks, size_t n, const char *name)
{
    void *p = NULL;
    for (size_t i = 0; i < n && !p; i++)
        if (strcmp(name, hooks[i].name) == 0)
            memcpy(&p, &hooks[i].fn, sizeof p);
    return p;
}

void *alloc_hook(const char *name)
{
    if (strncmp(name, "hsa_code", 8) == 0)
        return alloc_code_hook(name);
    void *p = strncmp(name, "hip", 3) == 0    ? alloc_hip_hook(name)
              : strncmp(name, "hsa_", 4) == 0 ? alloc_hsa_hook(name)
              : strncmp(name, "cl", 2) == 0   ? alloc_cl_hook(name)
                                              : NULL;
    if (!p)
        p = alloc_copy_hook(name);
    return p && alloc_heap() ? p : NULL;
}

/* ---- traces ---- */

static void add_frame(struct ck_trace *t, uint64_t pc, const char *path, uint64_t base)
{
    char self[PATH_MAX];
    if (!*path) { /* the program itself */
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        self[n > 0 ? n : 0] = '\0';
        path = self;
    }
    t->frame[t->n++] = (struct ck_frame){.at = pc - base,
                                         .module = ck_table_module(state.table, path)};
}

/* The frames outside of runtimes, innermost first. Returns whether the innermost one of
 * all is among them. */
static bool take_trace(const char *call, struct ck_trace *t)
{
    void *pcs[DEPTH];
    bool direct = false, first = true, begun = false; /* begun: in our frames */
    int n = backtrace(pcs, DEPTH);
    memset(t, 0, sizeof *t);
    (void)snprintf(t->call, sizeof t->call, "%s", call);
    for (int i = 0; i < n && t->n < CK_TRACE; i++) {
        Dl_info info;
        struct link_map *map = NULL;
        uint64_t pc = (uintptr_t)pcs[i] - 1; /* inside of the call */
        if (!dladdr1((void *)(uintptr_t)pc, &info, (void **)&map, RTLD_DL_LINKMAP) ||
            !map || !(begun |= info.dli_fbase == state.self) ||
            info.dli_fbase == state.self)
            continue;
        bool runtime = is_runtime(map->l_name);
        direct |= first && !runtime;
        first = false;
        if (!runtime || t->n)
            add_frame(t, pc, map->l_name, map->l_addr);
    }
    return direct;
}

/* ---- calls ---- */

void alloc_enter(struct alloc_call *c, const char *name)
{
    c->on = c->direct = c->fresh = false;
    if (current || !alloc_heap())
        return;
    c->direct = take_trace(name, &c->trace);
    c->on = true;
    current = c;
}

void alloc_leave(struct alloc_call *c)
{
    if (c->on)
        current = NULL;
}

const struct alloc_call *alloc_current(void)
{
    return current;
}

bool alloc_fill(void *p, size_t bytes)
{
    uint32_t fill[4096];
    if (!(state.table->want_classes & CK_BIT(CK_INIT)) || bytes > FILL_BYTES)
        return false;
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++)
        fill[i] = CK_HEAP_FILL;
    for (size_t done = 0; done < bytes;) {
        size_t left = (bytes - done + 3) & ~(size_t)3;
        struct iovec from = {fill, left < sizeof fill ? left : sizeof fill},
                     to = {(char *)p + done, from.iov_len};
        if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != (ssize_t)from.iov_len)
            return false; /* the host does not see it */
        done += from.iov_len;
    }
    return true;
}

void alloc_count(void)
{
    atomic_fetch_add(&state.table->made, 1);
}

void alloc_claim(const struct alloc_call *c, const void *p, size_t size)
{
    struct ck_block b = {.base = (uintptr_t)p,
                         .size = size,
                         .extent = (size + PAGE - 1) / PAGE * PAGE,
                         .programs = true,
                         .fresh = c->fresh,
                         .made = c->trace};
    if (!c->on || !p || !size)
        return;
    alloc_count();
    if (ck_heap_claim(state.heap, &b) != RD_OK)
        ck_heap_drop(state.heap, b.base, 0);
}

void alloc_found(const struct ck_finding *f)
{
    if (state.table->want_classes & CK_BIT(f->cls))
        ck_table_report(state.table, f);
}

void alloc_tell(const char *kind, const struct ck_trace *call, const struct ck_block *b)
{
    struct ck_finding f = {.cls = CK_MEM, .wave_lanes = 32, .host = *call};
    (void)snprintf(f.kind, sizeof f.kind, "%s", kind);
    f.made = b->made;
    f.freed = b->freer;
    f.located = true;
    f.address = f.base = b->base;
    f.size = b->size;
    (void)snprintf(f.allocation, sizeof f.allocation, "memory of %.29s", b->made.call);
    bool twice = strcmp(kind, "double-free") == 0;
    (void)snprintf(f.text, sizeof f.text, "%s of %s%s", call->call, f.allocation,
                   twice ? ", which has been freed" : ", but not of its beginning");
    alloc_found(&f);
}

void alloc_freeing(const struct alloc_call *c, const void *p, struct alloc_freeing *f)
{
    uint64_t base = (uintptr_t)p, from, to;
    f->how = CK_HEAP_UNKNOWN;
    if (!c->on || !p)
        return;
    enum ck_heap_state at = ck_heap_at(state.heap, base, &from, &to);
    if (at == CK_HEAP_NONE || !ck_heap_near(state.heap, base, &f->block))
        return;
    bool beginning = f->block.base == base;
    f->how = !beginning                        ? CK_HEAP_INSIDE
             : f->block.freed || f->block.ends ? CK_HEAP_TWICE
                                               : CK_HEAP_OK;
    if (f->how == CK_HEAP_TWICE)
        alloc_tell("double-free", &c->trace, &f->block);
    else if (!beginning && at == CK_HEAP_LIVE && f->block.programs)
        alloc_tell("invalid-free", &c->trace, &f->block);
}

void alloc_freed(const struct alloc_call *c, const void *p, bool ok,
                 const struct alloc_freeing *f)
{
    struct ck_block b;
    uint64_t base = (uintptr_t)p;
    if (!c->on || !p)
        return;
    if (!ok && f->how == CK_HEAP_UNKNOWN && ck_heap_gone(state.heap, base, &b) &&
        b.base == base && b.programs)
        alloc_tell("double-free", &c->trace, &b);
    if (!ok || f->how != CK_HEAP_OK || !ck_heap_find(state.heap, base, &b) ||
        b.number != f->block.number || b.freed)
        return;
    (void)ck_heap_free(state.heap, base, &c->trace);
    if (!b.backed)
        ck_heap_drop(state.heap, base, b.number);
}

/* ---- the end ---- */

static void count_left(void *ctx, const struct ck_block *b)
{
    (void)ctx;
    if (!b->programs)
        return;
    atomic_fetch_add(&state.table->left, 1);
    atomic_fetch_add(&state.table->left_bytes, b->size);
    if (!state.table->leaks)
        return;
    struct ck_finding f = {.cls = CK_MEM, .wave_lanes = 32, .made = b->made};
    (void)snprintf(f.kind, sizeof f.kind, "leak");
    f.located = b->base != 0; /* a buffer may never have got memory */
    f.address = f.base = b->base;
    f.size = b->size;
    (void)snprintf(f.allocation, sizeof f.allocation, "memory of %.29s", b->made.call);
    (void)snprintf(f.text, sizeof f.text, "%llu bytes of %s are never freed",
                   (unsigned long long)b->size, b->made.call);
    ck_table_report(state.table, &f);
}

/* The program's own destructors have run, those of the runtimes have not. */
__attribute__((destructor)) static void finish(void)
{
    if (!state.heap || state.pid != getpid())
        return;
    state.table->leaks &= state.table->want_classes & CK_BIT(CK_MEM) ? 1u : 0u;
    ck_heap_each(state.heap, count_left, NULL);
    alloc_cl_each(count_left, NULL);
}
