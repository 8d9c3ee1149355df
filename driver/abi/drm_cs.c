/* drm_cs.c: render node ioctls about command submission: contexts, buffer lists,
 * submissions and their fences.
 *
 * Knows the chunks of a submission, not what the buffers hold. A fence's number is its
 * ring's, which all contexts share: numbers of a context grow, as the interface
 * promises. Indirect buffers for several rings are a submission to each, of which the
 * last buffer's tells the fence.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <drm/amdgpu_drm.h>

#include "ctx.h"

#define MAX_CONTEXTS 1024u
#define MAX_LISTS    4096u
#define MAX_ENTRIES  65536u
#define MAX_CHUNKS   64u
#define MAX_PARTS    4u /* the kernel's limit of a gang */
#define MAX_AFTER    64u
#define MAX_FENCES   1024u
#define PAGE         4096u

/* Ids are indices + 1. */
struct context {
    bool used;
    uint32_t resets_at_start, resets_seen;
    uint64_t owner; /* of its submissions: a number of its own */
};

struct cs_tables {
    pthread_mutex_t lock;
    struct context contexts[MAX_CONTEXTS];
    bool lists[MAX_LISTS];
    uint64_t owners;
    uint32_t pstate, pstate_owner; /* AMDGPU_CTX_STABLE_PSTATE_*; who asked, or 0 */
};

static struct cs_tables *tables(struct abi_ctx *ctx)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!ctx->cs) {
        ctx->cs = calloc(1, sizeof(*ctx->cs));
        if (ctx->cs)
            pthread_mutex_init(&ctx->cs->lock, NULL);
    }
    pthread_mutex_unlock(&lock);
    return ctx->cs;
}

void abi_cs_inherit(struct abi_ctx *ctx, const struct abi_ctx *from)
{
    if (!from->cs || !tables(ctx))
        return;
    *ctx->cs = *from->cs;
    pthread_mutex_init(&ctx->cs->lock, NULL);
}

/* ---- contexts ---- */

/* Table lock held. */
static struct context *context(struct cs_tables *t, uint32_t id)
{
    return id && id <= MAX_CONTEXTS && t->contexts[id - 1].used ? &t->contexts[id - 1]
                                                                : NULL;
}

static int alloc_context(struct abi_ctx *ctx, struct cs_tables *t,
                         union drm_amdgpu_ctx *args)
{
    for (uint32_t i = 0; i < MAX_CONTEXTS; i++) {
        if (t->contexts[i].used)
            continue;
        uint32_t resets = kmd_ring_resets(ctx->kmd);
        t->contexts[i] = (struct context){true, resets, resets, ++t->owners};
        memset(args, 0, sizeof(*args));
        args->out.alloc.ctx_id = i + 1;
        return 0;
    }
    return -ENOSPC;
}

static int query_state(struct abi_ctx *ctx, struct context *c,
                       union drm_amdgpu_ctx *args)
{
    bool second = args->in.op == AMDGPU_CTX_OP_QUERY_STATE2;
    uint32_t resets = kmd_ring_resets(ctx->kmd);
    memset(args, 0, sizeof(*args));
    if (second) {
        if (resets != c->resets_at_start)
            args->out.state.flags = AMDGPU_CTX_QUERY2_FLAGS_RESET;
        if (kmd_guilty(ctx->kmd, c->owner))
            args->out.state.flags |= AMDGPU_CTX_QUERY2_FLAGS_GUILTY;
        return 0;
    }
    args->out.state.reset_status =
        resets == c->resets_seen ? AMDGPU_CTX_NO_RESET : AMDGPU_CTX_UNKNOWN_RESET;
    c->resets_seen = resets;
    return 0;
}

/* Clocks do not follow; who reads the state finds what was asked for. */
static int set_pstate(struct cs_tables *t, uint32_t id, uint32_t pstate)
{
    if (pstate > AMDGPU_CTX_STABLE_PSTATE_PEAK)
        return -EINVAL;
    if (t->pstate_owner && t->pstate_owner != id)
        return -EBUSY;
    if (t->pstate != pstate)
        t->pstate_owner = id;
    t->pstate = pstate;
    return 0;
}

static int free_context(struct cs_tables *t, struct context *c, uint32_t id)
{
    c->used = false;
    if (t->pstate_owner == id)
        t->pstate_owner = t->pstate = 0;
    return 0;
}

static int on_context(struct abi_ctx *ctx, struct cs_tables *t, struct context *c,
                      union drm_amdgpu_ctx *args)
{
    switch (args->in.op) {
    case AMDGPU_CTX_OP_FREE_CTX:
        return free_context(t, c, args->in.ctx_id);
    case AMDGPU_CTX_OP_QUERY_STATE:
    case AMDGPU_CTX_OP_QUERY_STATE2:
        return query_state(ctx, c, args);
    case AMDGPU_CTX_OP_GET_STABLE_PSTATE:
        memset(args, 0, sizeof(*args));
        args->out.pstate.flags = t->pstate;
        return 0;
    case AMDGPU_CTX_OP_SET_STABLE_PSTATE:
        return set_pstate(t, args->in.ctx_id, args->in.flags);
    default:
        return -EINVAL;
    }
}

int abi_drm_ctx(struct abi_ctx *ctx, void *argp, size_t size)
{
    union drm_amdgpu_ctx *args = argp;
    struct cs_tables *t = tables(ctx);
    (void)size;
    if (!t)
        return -ENOMEM;
    if (args->in.flags && args->in.op != AMDGPU_CTX_OP_SET_STABLE_PSTATE)
        return -EINVAL;
    pthread_mutex_lock(&t->lock);
    struct context *c = context(t, args->in.ctx_id);
    int r = args->in.op == AMDGPU_CTX_OP_ALLOC_CTX ? alloc_context(ctx, t, args)
            : c                                    ? on_context(ctx, t, c, args)
                                                   : -EINVAL;
    pthread_mutex_unlock(&t->lock);
    return r;
}

/* ---- buffer lists: what they name must exist; everything is resident here ---- */

static int check_entries(struct abi_ctx *ctx, const struct drm_amdgpu_bo_list_in *in)
{
    if (in->bo_number > MAX_ENTRIES)
        return -EINVAL;
    for (uint32_t i = 0; i < in->bo_number; i++) {
        struct drm_amdgpu_bo_list_entry entry = {0};
        struct kmd_bo_info bo;
        size_t n = in->bo_info_size < sizeof(entry) ? in->bo_info_size : sizeof(entry);
        if (!abi_get(&entry, in->bo_info_ptr + (uint64_t)i * in->bo_info_size, n))
            return -EFAULT;
        if (kmd_bo_info(ctx->kmd, entry.bo_handle, &bo) != RD_OK)
            return -ENOENT;
    }
    return 0;
}

static int on_list(struct cs_tables *t, union drm_amdgpu_bo_list *args)
{
    uint32_t id = args->in.list_handle;
    bool known = id && id <= MAX_LISTS && t->lists[id - 1];
    switch (args->in.operation) {
    case AMDGPU_BO_LIST_OP_CREATE:
        for (id = 0; id < MAX_LISTS && t->lists[id]; id++)
            ;
        if (id == MAX_LISTS)
            return -ENOSPC;
        t->lists[id] = true;
        memset(args, 0, sizeof(*args));
        args->out.list_handle = id + 1;
        return 0;
    case AMDGPU_BO_LIST_OP_DESTROY:
        if (known)
            t->lists[id - 1] = false;
        return 0;
    case AMDGPU_BO_LIST_OP_UPDATE:
        return known ? 0 : -ENOENT;
    default:
        return -EINVAL;
    }
}

int abi_drm_bo_list(struct abi_ctx *ctx, void *argp, size_t size)
{
    union drm_amdgpu_bo_list *args = argp;
    struct cs_tables *t = tables(ctx);
    (void)size;
    if (!t)
        return -ENOMEM;
    int r = check_entries(ctx, &args->in);
    if (r)
        return r;
    pthread_mutex_lock(&t->lock);
    r = on_list(t, args);
    pthread_mutex_unlock(&t->lock);
    return r;
}

/* ---- submission ---- */

static bool engine_of(uint32_t ip_type, uint32_t ip_instance, uint32_t ring,
                      enum kmd_engine *engine)
{
    static const struct {
        uint32_t first, rings;
    } kinds[] = {[AMDGPU_HW_IP_GFX] = {KMD_ENGINE_GFX, 1},
                 [AMDGPU_HW_IP_COMPUTE] = {KMD_ENGINE_COMPUTE, KMD_COMPUTE_RINGS},
                 [AMDGPU_HW_IP_DMA] = {KMD_ENGINE_DMA, KMD_DMA_RINGS}};
    if (ip_instance || ip_type > AMDGPU_HW_IP_DMA || ring >= kinds[ip_type].rings)
        return false;
    *engine = (enum kmd_engine)(kinds[ip_type].first + ring);
    return true;
}

/* A submission as its chunks build it. */
struct job {
    struct part {
        struct kmd_submit submit;
        struct kmd_ib ibs[ABI_MAX_IBS];
    } parts[MAX_PARTS];
    unsigned n_parts, leader; /* leader: the part of the last indirect buffer */
    struct kmd_after after[MAX_AFTER];
    unsigned n_after;
    struct kmd_fences soft; /* software timelines only */
    uint64_t user_fence, owner;
    void *signals; /* of a chunk of objects that get the fence; NULL: none */
    size_t signals_bytes;
    bool timeline; /* signals are points */
};

static struct part *part_of(struct job *job, enum kmd_engine engine)
{
    for (unsigned i = 0; i < job->n_parts; i++)
        if (job->parts[i].submit.engine == engine)
            return &job->parts[i];
    if (job->n_parts == MAX_PARTS)
        return NULL;
    job->parts[job->n_parts].submit.engine = engine;
    return &job->parts[job->n_parts++];
}

static int add_ib(struct job *job, const void *data, size_t bytes)
{
    struct drm_amdgpu_cs_chunk_ib ib;
    enum kmd_engine engine;
    if (bytes < sizeof(ib))
        return -EINVAL;
    memcpy(&ib, data, sizeof(ib));
    if (!engine_of(ib.ip_type, ib.ip_instance, ib.ring, &engine))
        return -EINVAL;
    if (ib.ib_bytes % 4 || ib.va_start % 4 || ib.ib_bytes / 4 > 0xfffff)
        return -EINVAL;
    struct part *part = part_of(job, engine);
    if (!part || part->submit.n_ibs == ABI_MAX_IBS)
        return -EINVAL;
    job->leader = (unsigned)(part - job->parts);
    if (ib.ib_bytes)
        part->ibs[part->submit.n_ibs++] = (struct kmd_ib){ib.va_start, ib.ib_bytes / 4};
    return 0;
}

static int add_fence(struct abi_ctx *ctx, struct job *job, const void *data,
                     size_t bytes)
{
    struct drm_amdgpu_cs_chunk_fence fence;
    struct kmd_bo_info bo;
    if (bytes < sizeof(fence))
        return -EINVAL;
    memcpy(&fence, data, sizeof(fence));
    if (kmd_bo_info(ctx->kmd, fence.handle, &bo) != RD_OK || bo.bytes != PAGE ||
        fence.offset > PAGE - 8)
        return -EINVAL;
    uint64_t va = kmd_bo_kernel_map(ctx->kmd, fence.handle, 0);
    if (!va)
        return -EINVAL;
    job->user_fence = va + (fence.offset & ~7u);
    return 0;
}

static int add_dependencies(struct abi_ctx *ctx, struct job *job, const void *data,
                            size_t bytes)
{
    const struct drm_amdgpu_cs_chunk_dep *deps = data;
    for (size_t i = 0; i < bytes / sizeof(*deps); i++) {
        struct kmd_after after = {.number = deps[i].handle};
        if (!engine_of(deps[i].ip_type, deps[i].ip_instance, deps[i].ring,
                       &after.engine) ||
            job->n_after == MAX_AFTER)
            return -EINVAL;
        if (kmd_fence_state(ctx->kmd, after.engine, after.number) == KMD_FENCE_UNKNOWN)
            return -EINVAL;
        job->after[job->n_after++] = after;
    }
    return 0;
}

static int add_waits(struct abi_ctx *ctx, struct job *job, const void *data,
                     size_t bytes, bool timeline)
{
    struct kmd_fences before = {.number = {0}};
    int r = abi_sync_before(ctx, data, bytes, timeline, &before);
    for (unsigned i = 0; i < KMD_ENGINES && !r; i++) {
        if (!before.number[i])
            continue;
        if (job->n_after == MAX_AFTER)
            return -EINVAL;
        job->after[job->n_after++] =
            (struct kmd_after){(enum kmd_engine)i, before.number[i]};
    }
    if (!r)
        kmd_fences_merge(ctx->kmd, &job->soft,
                         &(struct kmd_fences){.soft = before.soft});
    return r;
}

static int add_signals(struct abi_ctx *ctx, struct job *job, const void *data,
                       size_t bytes, bool timeline)
{
    if (job->signals)
        return -EINVAL;
    int r = abi_sync_after(ctx, data, bytes, timeline, NULL);
    if (r)
        return r;
    job->signals = malloc(bytes + 1);
    if (!job->signals)
        return -ENOMEM;
    memcpy(job->signals, data, bytes);
    job->signals_bytes = bytes;
    job->timeline = timeline;
    return 0;
}

static int add_chunk(struct abi_ctx *ctx, struct job *job, uint32_t id,
                     const void *data, size_t bytes)
{
    switch (id) {
    case AMDGPU_CHUNK_ID_IB:
        return add_ib(job, data, bytes);
    case AMDGPU_CHUNK_ID_FENCE:
        return add_fence(ctx, job, data, bytes);
    case AMDGPU_CHUNK_ID_DEPENDENCIES:
    case AMDGPU_CHUNK_ID_SCHEDULED_DEPENDENCIES:
        return add_dependencies(ctx, job, data, bytes);
    case AMDGPU_CHUNK_ID_SYNCOBJ_IN:
    case AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT:
        return add_waits(ctx, job, data, bytes,
                         id == AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT);
    case AMDGPU_CHUNK_ID_SYNCOBJ_OUT:
    case AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL:
        return add_signals(ctx, job, data, bytes,
                           id == AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL);
    case AMDGPU_CHUNK_ID_BO_HANDLES: {
        struct drm_amdgpu_bo_list_in in;
        if (bytes < sizeof(in))
            return -EINVAL;
        memcpy(&in, data, sizeof(in));
        return check_entries(ctx, &in);
    }
    default:
        return -EINVAL;
    }
}

static int read_chunk(struct abi_ctx *ctx, struct job *job, uint64_t at)
{
    struct drm_amdgpu_cs_chunk chunk;
    uint64_t where;
    if (!abi_get(&where, at, 8) || !abi_get(&chunk, where, sizeof(chunk)))
        return -EFAULT;
    if (chunk.length_dw > 16384)
        return -EINVAL;
    size_t bytes = chunk.length_dw * 4ul;
    uint64_t *data = malloc(bytes + 8);
    if (!data)
        return -ENOMEM;
    int r = abi_get(data, chunk.chunk_data, bytes)
                ? add_chunk(ctx, job, chunk.chunk_id, data, bytes)
                : -EFAULT;
    free(data);
    return r;
}

/* The context and the list must exist; the context must have done nothing wrong. */
static int check_names(struct abi_ctx *ctx, const struct drm_amdgpu_cs_in *in,
                       uint64_t *owner)
{
    struct cs_tables *t = tables(ctx);
    int r = 0;
    if (!t)
        return -ENOMEM;
    pthread_mutex_lock(&t->lock);
    uint32_t list = in->bo_list_handle;
    const struct context *c = context(t, in->ctx_id);
    if (!c)
        r = -EINVAL;
    else if (kmd_guilty(ctx->kmd, *owner = c->owner))
        r = -ECANCELED;
    else if (list && (list > MAX_LISTS || !t->lists[list - 1]))
        r = -ENOENT;
    pthread_mutex_unlock(&t->lock);
    return r;
}

/* All parts, the leader last. */
static int submit(struct abi_ctx *ctx, struct job *job, uint64_t *number)
{
    struct kmd_fences fence = {.number = {0}};
    int r = 0;
    for (unsigned i = 1; i <= job->n_parts && !r; i++) {
        struct part *part = &job->parts[(job->leader + i) % job->n_parts];
        struct kmd_submit *s = &part->submit;
        s->ibs = part->ibs;
        s->after = job->after;
        s->n_after = job->n_after;
        s->soft = job->soft.soft;
        s->owner = job->owner;
        s->user_fence = i == job->n_parts ? job->user_fence : 0;
        r = abi_errno(kmd_submit(ctx->kmd, s, number));
        fence.number[s->engine] = *number;
    }
    if (!r && job->signals)
        r = abi_sync_after(ctx, job->signals, job->signals_bytes, job->timeline,
                           &fence);
    return r;
}

static bool has_work(const struct job *job)
{
    unsigned n = 0;
    for (unsigned i = 0; i < job->n_parts; i++)
        n += job->parts[i].submit.n_ibs;
    return n > 0;
}

int abi_drm_cs(struct abi_ctx *ctx, void *argp, size_t size)
{
    union drm_amdgpu_cs *args = argp;
    struct job *job = calloc(1, sizeof(*job));
    uint64_t number = 0;
    (void)size;
    if (!job)
        return -ENOMEM;
    int r = args->in.num_chunks == 0 || args->in.num_chunks > MAX_CHUNKS ? -EINVAL : 0;
    for (uint32_t i = 0; i < args->in.num_chunks && !r; i++)
        r = read_chunk(ctx, job, args->in.chunks + 8ull * i);
    if (!r)
        r = check_names(ctx, &args->in, &job->owner);
    if (!r && !has_work(job))
        r = -EINVAL;
    if (!r)
        r = submit(ctx, job, &number);
    if (!r) {
        memset(args, 0, sizeof(*args));
        args->out.handle = number;
    }
    free(job->signals);
    free(job);
    return r;
}

/* ---- waiting: deadlines are absolute, of the monotonic clock; negative: never ---- */

uint64_t abi_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool abi_late(uint64_t deadline)
{
    return (int64_t)deadline >= 0 && abi_now() >= deadline;
}

void abi_nap(unsigned *turns)
{
    struct timespec t = {0, ++*turns < 50 ? 10000 : 200000};
    nanosleep(&t, NULL);
}

int abi_fence_of(struct abi_ctx *ctx, const struct drm_amdgpu_fence *fence,
                 enum kmd_engine *engine)
{
    struct cs_tables *t = tables(ctx);
    if (!t || !engine_of(fence->ip_type, fence->ip_instance, fence->ring, engine))
        return -EINVAL;
    pthread_mutex_lock(&t->lock);
    bool known = context(t, fence->ctx_id) != NULL;
    pthread_mutex_unlock(&t->lock);
    return known && kmd_fence_state(ctx->kmd, *engine, fence->seq_no) !=
                        KMD_FENCE_UNKNOWN
               ? 0
               : -EINVAL;
}

int abi_drm_wait_cs(struct abi_ctx *ctx, void *argp, size_t size)
{
    union drm_amdgpu_wait_cs *args = argp;
    struct cs_tables *t = tables(ctx);
    enum kmd_engine engine;
    (void)size;
    if (!t ||
        !engine_of(args->in.ip_type, args->in.ip_instance, args->in.ring, &engine))
        return -EINVAL;
    pthread_mutex_lock(&t->lock);
    bool known = context(t, args->in.ctx_id) != NULL;
    pthread_mutex_unlock(&t->lock);
    if (!known)
        return -EINVAL;
    uint64_t number = args->in.handle, deadline = args->in.timeout;
    if (number == UINT64_MAX)
        number = kmd_fence_last(ctx->kmd, engine);
    enum kmd_fence state = KMD_FENCE_DONE;
    unsigned turns = 0;
    while (number &&
           (state = kmd_fence_state(ctx->kmd, engine, number)) == KMD_FENCE_BUSY &&
           !abi_late(deadline))
        abi_nap(&turns);
    if (state == KMD_FENCE_UNKNOWN)
        return -EINVAL;
    if (state == KMD_FENCE_FAILED)
        return -ECANCELED;
    memset(args, 0, sizeof(*args));
    args->out.status = state == KMD_FENCE_BUSY;
    return 0;
}

/* All, or the first of the list. Returns a negative errno, 1 if satisfied, else 0. */
static int look_at_fences(struct abi_ctx *ctx, const struct drm_amdgpu_fence *fences,
                          uint32_t count, bool all, uint32_t *first)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i++) {
        enum kmd_engine engine;
        if (!engine_of(fences[i].ip_type, fences[i].ip_instance, fences[i].ring,
                       &engine))
            return -EINVAL;
        enum kmd_fence state = kmd_fence_state(ctx->kmd, engine, fences[i].seq_no);
        if (state == KMD_FENCE_UNKNOWN)
            return -EINVAL;
        if (state == KMD_FENCE_FAILED)
            return -ECANCELED;
        if (state == KMD_FENCE_DONE && !done++)
            *first = i;
    }
    return all ? done == count : done > 0;
}

int abi_drm_wait_fences(struct abi_ctx *ctx, void *argp, size_t size)
{
    union drm_amdgpu_wait_fences *args = argp;
    struct drm_amdgpu_fence fences[MAX_FENCES];
    uint32_t count = args->in.fence_count, first = UINT32_MAX;
    uint64_t deadline = args->in.timeout_ns;
    bool all = args->in.wait_all != 0;
    unsigned turns = 0;
    (void)size;
    if (count == 0 || count > MAX_FENCES)
        return -EINVAL;
    if (!abi_get(fences, args->in.fences, count * sizeof(*fences)))
        return -EFAULT;
    int r;
    while ((r = look_at_fences(ctx, fences, count, all, &first)) == 0 &&
           !abi_late(deadline))
        abi_nap(&turns);
    if (r < 0)
        return r;
    memset(args, 0, sizeof(*args));
    args->out.status = r > 0;
    args->out.first_signaled = first;
    return 0;
}

/* Which submission uses which buffer is not kept: idle is when all rings are. */
int abi_drm_wait_idle(struct abi_ctx *ctx, void *argp, size_t size)
{
    union drm_amdgpu_gem_wait_idle *args = argp;
    struct kmd_bo_info bo;
    uint64_t deadline = args->in.timeout;
    unsigned turns = 0;
    bool busy;
    (void)size;
    if (kmd_bo_info(ctx->kmd, args->in.handle, &bo) != RD_OK)
        return -ENOENT;
    do {
        busy = false;
        for (unsigned i = 0; i < KMD_ENGINES; i++) {
            uint64_t last = kmd_fence_last(ctx->kmd, (enum kmd_engine)i);
            busy = busy || (last && kmd_fence_state(ctx->kmd, (enum kmd_engine)i,
                                                    last) == KMD_FENCE_BUSY);
        }
        if (busy)
            abi_nap(&turns);
    } while (busy && !abi_late(deadline));
    memset(args, 0, sizeof(*args));
    args->out.status = busy;
    args->out.domain =
        bo.kind == KMD_VRAM ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT;
    return 0;
}
