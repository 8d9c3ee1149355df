/* device.c: `rdna3 run --device kfd`: a kernel through the kernel driver, on a real
 * board or on the mock.
 *
 * Must not know the emulator. The host fills buffers in its own memory; DMA brings them
 * to VRAM and back, so nothing is read over the bus by the CPU. Invariant: outputs are
 * written only after the kernel has ended well.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdna3/client.h"
#include "rt.h"
#include "run.h"

#define WAIT_NS 600000000000ull

/* What the run holds on the device. */
struct on_device {
    struct rt_device *dev;
    struct rt_code *code;
    struct rt_queue *queue;
    struct rt_signal *signal;
    struct rt_kernel kernel;
    struct rt_buffer *kernargs;
    struct rt_buffer **host, **vram; /* per argument */
    unsigned n;                      /* buffers so far: argument of the next */
};

static int failed(const struct rt_error *err)
{
    return cli_error(CLI_FAILED, "%s", err->text);
}

/* Buffers come in the order of the buffer arguments. */
static int alloc_staging(void *ctx, uint64_t bytes, const char *name, void **out)
{
    struct on_device *d = ctx;
    struct rt_error err;
    uint64_t room = bytes ? bytes : 1;
    if (rt_alloc(d->dev, room, RT_USER, 0, &d->host[d->n], &err) != RD_OK ||
        rt_alloc(d->dev, room, RT_VRAM, 0, &d->vram[d->n], &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s: %s", name, err.text);
    if (bytes)
        rdna3_client_allocated("rt_alloc", rt_host(d->vram[d->n]), bytes);
    *out = rt_host(d->host[d->n]);
    d->n++;
    return CLI_OK;
}

/* One buffer between its host memory and VRAM. */
static int transfer(struct on_device *d, unsigned i, uint64_t bytes, bool to_device)
{
    struct rt_error err;
    uint64_t host = rt_gpuva(d->host[i]), vram = rt_gpuva(d->vram[i]);
    if (!bytes)
        return CLI_OK;
    rd_status st = rt_copy(d->dev, to_device ? vram : host, to_device ? host : vram,
                           bytes, NULL, NULL, &err);
    return st == RD_OK ? CLI_OK : failed(&err);
}

static int transfer_all(struct run_options *o, struct on_device *d, bool to_device)
{
    int status = CLI_OK;
    unsigned next = 0;
    for (unsigned i = 0; i < o->k.n_args && status == CLI_OK; i++)
        if (o->k.args[i].is_buffer)
            status = transfer(d, next++, o->k.args[i].size, to_device);
    return status;
}

static int load(struct run_options *o, struct on_device *d, const void *code,
                size_t bytes)
{
    struct rt_error err;
    rd_status st;
    const char *path = o->k.raw_path ? o->k.raw_path : o->k.object_path;
    if (o->k.raw_path) {
        void *kd;
        size_t kd_bytes;
        if (cli_read_file(o->k.kd_path, &kd, &kd_bytes) != RD_OK)
            return cli_error(CLI_FAILED, "cannot read '%s'", o->k.kd_path);
        if (kd_bytes == CO_KD_BYTES)
            st = rt_load_raw(d->dev, code, bytes, kd, o->k.entry, &d->code, &err);
        else {
            snprintf(err.text, sizeof err.text, "a kernel descriptor has %d bytes",
                     CO_KD_BYTES);
            st = RD_E_FORMAT;
        }
        free(kd);
    } else {
        st = rt_load(d->dev, code, bytes, &d->code, &err);
    }
    if (st == RD_OK)
        st = rt_kernel_find(d->code, o->k.kernel, &d->kernel, &err);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "'%s': %s", path, err.text);
    if (o->k.wave && o->k.wave != d->kernel.desc.wave)
        return cli_error(CLI_FAILED, "--wave %u: kernel %s is of wave%u", o->k.wave,
                         d->kernel.name, d->kernel.desc.wave);
    return CLI_OK;
}

static int make_kernargs(struct run_options *o, struct on_device *d,
                         const struct la_arg *list)
{
    struct la_kernel kernel = {
        .name = d->kernel.name, .desc = d->kernel.desc, .meta = d->kernel.meta};
    const struct rt_info *info = rt_info(d->dev);
    struct la_error why;
    struct rt_error err;
    void *segment;
    uint64_t bytes;
    if (la_make_kernargs(&kernel, &o->k.shape, list, o->k.n_args,
                         rt_queue_gpuva(d->queue), info->lds_base, info->scratch_base,
                         &segment, &bytes, &why) != RD_OK)
        return cli_error(CLI_FAILED, "%s", why.text);
    rd_status st = rt_alloc(d->dev, bytes, RT_GTT, 0, &d->kernargs, &err);
    if (st == RD_OK)
        memcpy(rt_host(d->kernargs), segment, bytes);
    free(segment);
    return st == RD_OK ? CLI_OK : failed(&err);
}

/* Arguments: buffers filled and brought to VRAM, then the segment that names them. */
static int prepare(struct run_options *o, struct on_device *d)
{
    struct la_arg *list = calloc(o->k.n_args + 1, sizeof *list);
    if (!list)
        return cli_error(CLI_FAILED, "out of memory");
    int status = kernel_make_buffers(&o->k, alloc_staging, d, list);
    if (status == CLI_OK)
        status = transfer_all(o, d, true);
    unsigned next = 0;
    for (unsigned i = 0; i < o->k.n_args && status == CLI_OK; i++)
        if (o->k.args[i].is_buffer)
            o->k.args[i].value = rt_gpuva(d->vram[next++]);
    if (status == CLI_OK)
        status = make_kernargs(o, d, list);
    free(list);
    return status;
}

static bool fits(uint32_t groups, uint32_t block)
{
    return (uint64_t)groups * block <= UINT32_MAX;
}

static int dispatch(struct run_options *o, struct on_device *d)
{
    struct rt_error err;
    struct rt_launch launch = {.dynamic_lds_bytes = o->k.shape.dynamic_lds_bytes,
                               .stack_bytes = o->k.shape.stack_bytes,
                               .kernarg_gpuva = rt_gpuva(d->kernargs),
                               .signal = d->signal};
    for (unsigned i = 0; i < 3; i++) {
        if (!o->k.shape.groups[i])
            return CLI_OK; /* an empty grid runs nothing, and a packet cannot say so */
        if (!fits(o->k.shape.groups[i], o->k.shape.block[i]))
            return cli_error(CLI_FAILED, "grid %u times block %u: too many work-items",
                             o->k.shape.groups[i], o->k.shape.block[i]);
        launch.block[i] = o->k.shape.block[i];
        launch.items[i] = o->k.shape.groups[i] * o->k.shape.block[i];
    }
    rt_signal_set(d->signal, 1);
    rd_status st = rt_launch(d->queue, &d->kernel, &launch, &err);
    if (st == RD_OK)
        st = rt_wait(d->signal, WAIT_NS, &err);
    return st == RD_OK ? CLI_OK : failed(&err);
}

static void print_device_stats(const struct on_device *d)
{
    const struct rt_info *info = rt_info(d->dev);
    uint64_t start, end;
    rt_signal_times(d->signal, &start, &end);
    fprintf(stderr,
            "device: gfx%u.%u.%u, %u CUs, kernel interface %u.%u\n"
            "dispatch: %.2f us by the device's clock\n",
            info->gfx_version / 10000, info->gfx_version / 100 % 100,
            info->gfx_version % 100, info->compute_units, info->kfd_major,
            info->kfd_minor, (double)(end - start) * 1e6 / (double)info->clock_hz);
}

static int run(struct run_options *o, struct on_device *d, const void *code,
               size_t bytes)
{
    struct rt_error err;
    int status = load(o, d, code, bytes);
    if (status != CLI_OK)
        return status;
    const struct co_kernel_meta *meta = d->kernel.meta;
    if (!o->k.have_block && meta && meta->reqd_workgroup_size[0])
        memcpy(o->k.shape.block, meta->reqd_workgroup_size, sizeof o->k.shape.block);
    if (rt_queue_create(d->dev, 0, &d->queue, &err) != RD_OK ||
        rt_signal_create(d->dev, 1, &d->signal, &err) != RD_OK)
        return failed(&err);
    status = prepare(o, d);
    if (status == CLI_OK)
        status = dispatch(o, d);
    if (status == CLI_OK)
        status = transfer_all(o, d, false);
    if (status == CLI_OK)
        status = run_write_outputs(o);
    if (status == CLI_OK)
        status = run_print_elements(o);
    if (status == CLI_OK && o->stats)
        print_device_stats(d);
    return cli_finish(status);
}

int run_on_device(struct run_options *o, const void *code, size_t bytes)
{
    struct on_device d = {.n = 0};
    struct rt_error err;
    int status = CLI_FAILED;
    d.host = calloc(o->k.n_args + 1, sizeof(struct rt_buffer *));
    d.vram = calloc(o->k.n_args + 1, sizeof(struct rt_buffer *));
    if (!d.host || !d.vram)
        status = cli_error(CLI_FAILED, "out of memory");
    else if (rt_open(NULL, &d.dev, &err) != RD_OK)
        status = failed(&err);
    else
        status = run(o, &d, code, bytes);
    for (unsigned i = 0; i < d.n; i++)
        rdna3_client_freed("rt_close", rt_host(d.vram[i]));
    rt_close(d.dev);
    free(d.host);
    free(d.vram);
    return status;
}
