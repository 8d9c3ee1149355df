/* gpu.c: the board as a device of tensors: memory, copies, dispatches, their times.
 *
 * Data goes to and from VRAM by the DMA engine, through one staging buffer in host
 * memory. One kernel runs at a time and is waited for, so a fault is known by its name.
 * Must not know graphs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define STAGING_BYTES (4u << 20)
#define KERNARG_BYTES 4096u
#define WAIT_NS       600000000000ull

rd_status gpu_fail(char *error, rd_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(error, CC_GPU_ERROR_BYTES, fmt, ap);
    va_end(ap);
    return status;
}

/* ---- memory ---- */

static rd_status gpu_alloc(void *user, uint64_t bytes, void **memory, char *error)
{
    struct cc_gpu *gpu = user;
    struct rt_buffer *b;
    struct rt_error err;
    rd_status st = rt_alloc(gpu->dev, bytes ? bytes : 4, RT_VRAM, 0, &b, &err);
    if (st != RD_OK)
        return gpu_fail(error, st, "%llu bytes of device memory: %.180s",
                        (unsigned long long)bytes, err.text);
    *memory = b;
    return RD_OK;
}

static void gpu_release(void *user, void *memory)
{
    (void)user;
    rt_free(memory);
}

/* Move bytes by the DMA engine, a staging buffer at a time. */
static rd_status transfer(struct cc_gpu *gpu, struct rt_buffer *b, char *to,
                          const char *from, uint64_t bytes, char *error)
{
    struct rt_error err;
    uint64_t stage = rt_gpuva(gpu->staging), at = 0;
    if (bytes > rt_bytes(b))
        return gpu_fail(error, RD_E_INVALID, "%llu bytes of a buffer of %llu",
                        (unsigned long long)bytes, (unsigned long long)rt_bytes(b));
    while (at < bytes) {
        uint64_t part = bytes - at < STAGING_BYTES ? bytes - at : STAGING_BYTES;
        uint64_t there = rt_gpuva(b) + at;
        if (from)
            memcpy(rt_host(gpu->staging), from + at, part);
        rd_status st = rt_copy(gpu->dev, from ? there : stage, from ? stage : there,
                               part, NULL, NULL, &err);
        if (st != RD_OK)
            return gpu_fail(error, st, "copy: %.200s", err.text);
        if (to)
            memcpy(to + at, rt_host(gpu->staging), part);
        at += part;
    }
    return RD_OK;
}

static rd_status gpu_write(void *user, void *memory, const void *data, uint64_t bytes,
                           char *error)
{
    return transfer(user, memory, NULL, data, bytes, error);
}

static rd_status gpu_read(void *user, void *memory, void *data, uint64_t bytes,
                          char *error)
{
    return transfer(user, memory, data, NULL, bytes, error);
}

/* ---- kernels ---- */

static void put(char *kernargs, uint32_t offset, uint32_t bytes, uint64_t value)
{
    if (bytes <= sizeof value && (uint64_t)offset + bytes <= KERNARG_BYTES)
        memcpy(kernargs + offset, &value, bytes);
}

/* Buffers one after the other, or where the metadata has them; the launch's shape where
 * a compiler asks for it. Everything else that is hidden is 0. */
static rd_status fill_kernargs(struct cc_gpu *gpu, const struct rt_kernel *k,
                               const uint32_t *groups, const uint32_t *block, size_t n,
                               void *const *memory, char *error)
{
    char *args = rt_host(gpu->kernargs);
    const struct co_kernel_meta *meta = k->meta;
    size_t next = 0;
    memset(args, 0, KERNARG_BYTES);
    if (k->desc.kernarg_bytes > KERNARG_BYTES)
        return gpu_fail(error, RD_E_RANGE, "kernel %.60s: %u bytes of arguments",
                        k->name, k->desc.kernarg_bytes);
    for (uint32_t i = 0; meta && i < meta->n_args; i++) {
        const struct co_arg *a = &meta->args[i];
        if (a->kind == CO_VALUE_GLOBAL_BUFFER) {
            if (next < n)
                put(args, a->offset, a->bytes, rt_gpuva(memory[next]));
            next++;
        } else if (a->kind >= CO_VALUE_HIDDEN_BLOCK_COUNT_X &&
                   a->kind <= CO_VALUE_HIDDEN_BLOCK_COUNT_Z) {
            put(args, a->offset, a->bytes,
                groups[a->kind - CO_VALUE_HIDDEN_BLOCK_COUNT_X]);
        } else if (a->kind >= CO_VALUE_HIDDEN_GROUP_SIZE_X &&
                   a->kind <= CO_VALUE_HIDDEN_GROUP_SIZE_Z) {
            put(args, a->offset, a->bytes,
                block[a->kind - CO_VALUE_HIDDEN_GROUP_SIZE_X]);
        } else if (a->kind == CO_VALUE_HIDDEN_GRID_DIMS) {
            put(args, a->offset, a->bytes, 3);
        } else if (!co_value_is_hidden((enum co_value_kind)a->kind)) {
            return gpu_fail(error, RD_E_UNSUPPORTED,
                            "kernel %.60s: argument %u is no buffer (%.30s)", k->name,
                            i, a->kind_text);
        }
    }
    for (size_t i = 0; !meta && i < n; i++)
        put(args, (uint32_t)(8 * i), 8, rt_gpuva(memory[i]));
    if (meta && next != n)
        return gpu_fail(error, RD_E_INVALID,
                        "kernel %.60s: %zu buffers, its metadata has %zu", k->name, n,
                        next);
    return RD_OK;
}

static rd_status record(struct cc_gpu *gpu, const struct rt_kernel *k,
                        const uint32_t *groups, const uint32_t *block)
{
    double hz = (double)rt_info(gpu->dev)->clock_hz;
    uint64_t start, end;
    if (gpu->n_events == gpu->cap_events) {
        size_t cap = gpu->cap_events ? 2 * gpu->cap_events : 64;
        struct cc_gpu_event *bigger = realloc(gpu->events, cap * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        gpu->events = bigger;
        gpu->cap_events = cap;
    }
    rt_signal_times(gpu->signal, &start, &end);
    struct cc_gpu_event *e = &gpu->events[gpu->n_events++];
    *e = (struct cc_gpu_event){.groups = groups[0] * groups[1] * groups[2],
                               .block = block[0] * block[1] * block[2],
                               .start = (double)start / hz,
                               .seconds = (double)(end - start) / hz};
    snprintf(e->name, sizeof e->name, "%s", k->name);
    return RD_OK;
}

static rd_status dispatch(struct cc_gpu *gpu, const struct gpu_kernel *k,
                          const uint32_t *groups, const uint32_t *block, size_t n,
                          void *const *memory, char *error)
{
    struct rt_launch launch = {.kernarg_gpuva = rt_gpuva(gpu->kernargs),
                               .signal = gpu->signal};
    struct rt_error err;
    rd_status st = fill_kernargs(gpu, &k->kernel, groups, block, n, memory, error);
    if (st != RD_OK)
        return st;
    for (unsigned d = 0; d < 3; d++) {
        if ((uint64_t)groups[d] * block[d] > UINT32_MAX)
            return gpu_fail(error, RD_E_RANGE, "kernel %.60s: too many work-items",
                            k->kernel.name);
        launch.items[d] = groups[d] * block[d];
        launch.block[d] = block[d];
    }
    rt_signal_set(gpu->signal, 1);
    st = rt_launch(gpu->queue, &k->kernel, &launch, &err);
    if (st == RD_OK)
        st = rt_wait(gpu->signal, WAIT_NS, &err);
    if (st != RD_OK)
        return gpu_fail(error, st, "kernel %.60s: %.180s", k->kernel.name, err.text);
    return record(gpu, &k->kernel, groups, block);
}

/* A kernel may leave arguments out at the end: only PARAMs have a place. */
static size_t count_params(const struct cc_prog *p)
{
    size_t n = 0;
    for (uint32_t i = 0; i < cc_prog_count(p); i++) {
        const struct cc_inst *x = cc_prog_inst(p, i);
        if (x->op == CC_PARAM && (size_t)x->arg[0] >= n)
            n = (size_t)x->arg[0] + 1;
    }
    return n;
}

static rd_status gpu_run(void *user, const struct cc_prog *p, size_t n,
                         void *const *memory, char *error)
{
    struct cc_gpu *gpu = user;
    struct gpu_kernel *k;
    uint32_t groups[3], block[3];
    size_t params = count_params(p);
    rd_status st = gpu_compile(gpu, p, &k, error);
    cc_prog_launch(p, groups, block);
    if (st == RD_OK && params > n)
        st = gpu_fail(error, RD_E_INVALID, "kernel %.60s: %zu buffers, it takes %zu",
                      cc_prog_name(p), n, params);
    return st == RD_OK ? dispatch(gpu, k, groups, block, params, memory, error) : st;
}

/* These runs leave no event. */
static rd_status gpu_measure(void *user, const struct cc_prog *p, size_t n,
                             void *const *memory, unsigned runs, uint64_t *ticks,
                             char *error)
{
    struct cc_gpu *gpu = user;
    uint64_t start, end, best = UINT64_MAX;
    for (unsigned i = 0; i < runs; i++) {
        rd_status st = gpu_run(user, p, n, memory, error);
        if (st != RD_OK)
            return st;
        gpu->n_events--;
        rt_signal_times(gpu->signal, &start, &end);
        best = end - start < best ? end - start : best;
    }
    *ticks = best;
    return RD_OK;
}

static rd_status gpu_run_code(void *user, const struct cc_machine *code, size_t n,
                              void *const *memory, char *error)
{
    struct cc_gpu *gpu = user;
    struct gpu_kernel *k;
    rd_status st = gpu_load(gpu, code, &k, error);
    return st == RD_OK ? dispatch(gpu, k, code->groups, code->block, n, memory, error)
                       : st;
}

/* ---- the board ---- */

static rd_status open_parts(struct cc_gpu *gpu, const struct rt_config *config,
                            struct rt_error *err)
{
    rd_status st = rt_open(config, &gpu->dev, err);
    if (st == RD_OK)
        st = rt_queue_create(gpu->dev, 0, &gpu->queue, err);
    if (st == RD_OK)
        st = rt_signal_create(gpu->dev, 0, &gpu->signal, err);
    if (st == RD_OK)
        st = rt_alloc(gpu->dev, KERNARG_BYTES, RT_GTT, 0, &gpu->kernargs, err);
    if (st == RD_OK)
        st = rt_alloc(gpu->dev, STAGING_BYTES, RT_USER, 0, &gpu->staging, err);
    return st;
}

rd_status cc_gpu_open(const struct rt_config *config, struct cc_gpu **out, char *error)
{
    struct rt_error err;
    struct cc_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return gpu_fail(error, RD_E_NOMEM, "out of memory");
    gpu->device = (struct cc_device){.user = gpu,
                                     .alloc = gpu_alloc,
                                     .release = gpu_release,
                                     .write = gpu_write,
                                     .read = gpu_read,
                                     .run = gpu_run,
                                     .run_code = gpu_run_code,
                                     .measure = gpu_measure};
    rd_status st = open_parts(gpu, config, &err);
    if (st != RD_OK) {
        cc_gpu_close(gpu);
        return gpu_fail(error, st, "%.250s", err.text);
    }
    *out = gpu;
    return RD_OK;
}

void cc_gpu_close(struct cc_gpu *gpu)
{
    if (!gpu)
        return;
    gpu_unload_all(gpu);
    rt_close(gpu->dev);
    free(gpu->events);
    free(gpu);
}

const struct cc_device *cc_gpu_device(struct cc_gpu *gpu)
{
    return &gpu->device;
}

const struct rt_info *cc_gpu_info(const struct cc_gpu *gpu)
{
    return rt_info(gpu->dev);
}

size_t cc_gpu_events(const struct cc_gpu *gpu, const struct cc_gpu_event **events)
{
    *events = gpu->events;
    return gpu->n_events;
}

double cc_gpu_seconds(const struct cc_gpu *gpu)
{
    double sum = 0;
    for (size_t i = 0; i < gpu->n_events; i++)
        sum += gpu->events[i].seconds;
    return sum;
}

void cc_gpu_forget(struct cc_gpu *gpu)
{
    gpu->n_events = 0;
}

size_t cc_gpu_compiled(const struct cc_gpu *gpu)
{
    return gpu->n_kernels;
}
