/* alloc_hsa.c: memory that programs and runtimes take from ROCr.
 *
 * Every block gets a page more than asked for, so that what leaves it meets nobody
 * else; what is freed is kept for a while, so that who still uses it is seen. Must not
 * know what HIP or OpenCL make of it. SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"

enum {
    PAGE = 4096,
    HSA_SUCCESS = 0,
    HSA_ERROR = 0x1000,
    HSA_INVALID_ALLOCATION = 0x1003,
};
#define KEPT_BLOCKS 256u
#define KEPT_BYTES  (UINT64_C(64) << 20)

/* What a function of ROCr tells of a pointer, as far as it matters. */
struct pointer_info {
    uint32_t size, type;
    void *agent_base, *host_base;
    size_t bytes;
};

/* A pool and a region are structs of one handle. */
ALLOC_EXPORT int hsa_amd_memory_pool_allocate(uint64_t pool, size_t size,
                                              uint32_t flags, void **out);
ALLOC_EXPORT int hsa_amd_memory_pool_free(void *p);
ALLOC_EXPORT int hsa_memory_allocate(uint64_t region, size_t size, void **out);
ALLOC_EXPORT int hsa_memory_free(void *p);
ALLOC_EXPORT int hsa_amd_pointer_info(const void *p, struct pointer_info *info,
                                      void *(*alloc)(size_t), uint32_t *n,
                                      void **agents);
ALLOC_EXPORT int hsa_amd_ipc_memory_create(void *p, size_t bytes, void *handle);
ALLOC_EXPORT int hsa_shut_down(void);

/* ---- what has been freed ---- */

struct kept {
    void *p;
    uint64_t bytes;
    int (*free)(void *p);
};

static struct {
    pthread_mutex_t lock;
    struct kept v[KEPT_BLOCKS]; /* a ring */
    unsigned first, n;
    uint64_t bytes;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void release(const struct kept *k)
{
    ck_heap_drop(alloc_heap(), (uintptr_t)k->p, 0);
    (void)k->free(k->p);
}

/* Give back the oldest blocks until there is room. */
static void make_room(uint64_t bytes)
{
    for (;;) {
        pthread_mutex_lock(&kept.lock);
        bool full =
            kept.n && (kept.n == KEPT_BLOCKS || kept.bytes + bytes > KEPT_BYTES);
        struct kept k = kept.v[kept.first];
        if (full) {
            kept.first = (kept.first + 1) % KEPT_BLOCKS;
            kept.n--;
            kept.bytes -= k.bytes;
        }
        pthread_mutex_unlock(&kept.lock);
        if (!full)
            return;
        release(&k);
    }
}

static void keep(const struct kept *k)
{
    if (k->bytes <= KEPT_BYTES / 2)
        make_room(k->bytes);
    pthread_mutex_lock(&kept.lock);
    bool room = kept.n < KEPT_BLOCKS && kept.bytes + k->bytes <= KEPT_BYTES;
    if (room) {
        kept.v[(kept.first + kept.n++) % KEPT_BLOCKS] = *k;
        kept.bytes += k->bytes;
    }
    pthread_mutex_unlock(&kept.lock);
    if (!room)
        release(k);
}

/* ---- allocating ---- */

struct request {
    bool region;
    uint64_t where;
    uint32_t flags;
};

static int ask(const struct request *r, size_t size, void **out)
{
    int (*pool)(uint64_t, size_t, uint32_t, void **) =
        ALLOC_REAL(hsa_amd_memory_pool_allocate);
    int (*region)(uint64_t, size_t, void **) = ALLOC_REAL(hsa_memory_allocate);
    if (r->region)
        return region ? region(r->where, size, out) : HSA_ERROR;
    return pool ? pool(r->where, size, r->flags, out) : HSA_ERROR;
}

/* Whose it is: of the call that is under way, of an OpenCL buffer (true), or of the
 * caller. */
static bool name_owner(const struct alloc_call *c, const char *function, size_t size,
                       struct ck_block *b)
{
    const struct alloc_call *outer = alloc_current();
    b->programs = c->on && c->direct;
    bool buffer = outer == c || strncmp(outer->trace.call, "clCreate", 8) == 0;
    if (!b->programs && buffer && alloc_cl_take(size, b))
        return true;
    b->made = outer->trace;
    (void)snprintf(b->made.call, sizeof b->made.call, "%s", function);
    return false;
}

static int allocate(const struct request *r, const char *function, size_t size,
                    void **out)
{
    struct alloc_call c;
    uint64_t extent = (size + PAGE - 1) / PAGE * PAGE + PAGE;
    if (!alloc_heap() || !size || extent < size)
        return ask(r, size, out);
    alloc_enter(&c, function);
    uint64_t taken = extent;
    int status = ask(r, taken, out);
    if (status != HSA_SUCCESS) { /* it may be the last there is */
        make_room(KEPT_BYTES);
        extent -= PAGE;
        taken = size;
        status = ask(r, taken, out);
    }
    if (status == HSA_SUCCESS) {
        struct ck_block b = {.base = (uintptr_t)*out,
                             .size = size,
                             .extent = extent,
                             .asked = size,
                             .backed = taken};
        bool buffer = name_owner(&c, function, size, &b);
        b.filled = (buffer || alloc_current()->fresh) && alloc_fill(*out, b.size);
        b.fresh = buffer && b.filled;
        if (b.programs)
            alloc_count();
        if (ck_heap_add(alloc_heap(), &b) != RD_OK)
            ck_heap_drop(alloc_heap(), b.base, 0);
    }
    alloc_leave(&c);
    return status;
}

int hsa_amd_memory_pool_allocate(uint64_t pool, size_t size, uint32_t flags, void **out)
{
    struct request r = {.where = pool, .flags = flags};
    return allocate(&r, "hsa_amd_memory_pool_allocate", size, out);
}

int hsa_memory_allocate(uint64_t region, size_t size, void **out)
{
    struct request r = {.region = true, .where = region};
    return allocate(&r, "hsa_memory_allocate", size, out);
}

static int give_back(int (*real)(void *p), const char *function, void *p)
{
    struct alloc_call c;
    struct ck_block b = {.extent = 0};
    if (!real)
        return HSA_ERROR;
    if (!alloc_heap() || !p)
        return real(p);
    alloc_enter(&c, function);
    const struct alloc_call *now = alloc_current();
    int status = HSA_SUCCESS;
    bool known = ck_heap_find(alloc_heap(), (uintptr_t)p, &b);
    switch (known ? ck_heap_free(alloc_heap(), b.base, &now->trace) : CK_HEAP_UNKNOWN) {
    case CK_HEAP_OK:
        keep(&(struct kept){.p = p, .bytes = b.extent, .free = real});
        break;
    case CK_HEAP_TWICE:
        if (b.backed) {
            if (c.on && c.direct)
                alloc_tell("double-free", &c.trace, &b);
            status = HSA_INVALID_ALLOCATION;
            break;
        }
        status = real(p);
        break;
    default:
        status = real(p);
    }
    alloc_leave(&c);
    return status;
}

int hsa_amd_memory_pool_free(void *p)
{
    return give_back(ALLOC_REAL(hsa_amd_memory_pool_free), "hsa_amd_memory_pool_free",
                     p);
}

int hsa_memory_free(void *p)
{
    return give_back(ALLOC_REAL(hsa_memory_free), "hsa_memory_free", p);
}

/* ---- what the page more would change ---- */

int hsa_amd_pointer_info(const void *p, struct pointer_info *info,
                         void *(*alloc)(size_t), uint32_t *n, void **agents)
{
    struct ck_block b;
    int (*real)(const void *, struct pointer_info *, void *(*)(size_t), uint32_t *,
                void **) = ALLOC_REAL(hsa_amd_pointer_info);
    int status = real ? real(p, info, alloc, n, agents) : HSA_ERROR;
    if (status == HSA_SUCCESS && alloc_heap() && info->size >= sizeof *info &&
        ck_heap_find(alloc_heap(), (uintptr_t)info->agent_base, &b) && b.backed &&
        info->bytes > b.asked)
        info->bytes = b.asked;
    return status;
}

int hsa_amd_ipc_memory_create(void *p, size_t bytes, void *handle)
{
    struct ck_block b;
    int (*real)(void *, size_t, void *) = ALLOC_REAL(hsa_amd_ipc_memory_create);
    if (real && alloc_heap() && ck_heap_find(alloc_heap(), (uintptr_t)p, &b) &&
        b.backed && bytes <= b.extent)
        bytes = b.backed;
    return real ? real(p, bytes, handle) : HSA_ERROR;
}

int hsa_shut_down(void)
{
    int (*real)(void) = ALLOC_REAL(hsa_shut_down);
    if (alloc_heap())
        make_room(KEPT_BYTES + 1);
    return real ? real() : HSA_ERROR;
}

/* clang-format off */
void *alloc_hsa_hook(const char *name)
{
    static const struct alloc_hook hooks[] = {
        ALLOC_HOOK(hsa_amd_memory_pool_allocate) ALLOC_HOOK(hsa_amd_memory_pool_free)
        ALLOC_HOOK(hsa_memory_allocate) ALLOC_HOOK(hsa_memory_free)
        ALLOC_HOOK(hsa_amd_pointer_info) ALLOC_HOOK(hsa_amd_ipc_memory_create)
        ALLOC_HOOK(hsa_shut_down)};
    return alloc_hook_in(hooks, sizeof hooks / sizeof *hooks, name);
}
