/* load.c: from options to a kernel in the emulator's memory and its dispatch.
 *
 * Must not know options' syntax. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "object_file.h"

static int tell(const char *path, rd_status st)
{
    if (st == RD_OK)
        return CLI_OK;
    return cli_error(CLI_FAILED, "cannot read '%s': %s", path,
                     st == RD_E_IO ? strerror(errno) : rd_status_text(st));
}

static int read_input(const char *path, void **data, size_t *bytes)
{
    return tell(path, cli_read_file(path, data, bytes));
}

int kernel_read(const struct kernel_options *o, void **code, size_t *bytes)
{
    if (o->raw_path)
        return read_input(o->raw_path, code, bytes);
    return tell(o->object_path, object_file_read(o->object_path, code, bytes));
}

static int load_raw(const struct kernel_options *o, struct la *la, const void *code,
                    size_t bytes, struct la_kernel *kernel)
{
    void *kd = NULL;
    size_t kd_bytes = 0;
    struct la_error err;
    if (o->kd_path) {
        int status = read_input(o->kd_path, &kd, &kd_bytes);
        if (status != CLI_OK)
            return status;
        if (kd_bytes != CO_KD_BYTES) {
            free(kd);
            return cli_error(CLI_FAILED,
                             "'%s': a kernel descriptor has %d bytes, this file %zu",
                             o->kd_path, CO_KD_BYTES, kd_bytes);
        }
    }
    rd_status st = la_load_raw(la, code, bytes, kd, o->wave, o->entry, kernel, &err);
    free(kd);
    return st == RD_OK ? CLI_OK
                       : cli_error(CLI_FAILED, "'%s': %s", o->raw_path, err.text);
}

static int check_wave(const struct kernel_options *o, const struct la_kernel *kernel)
{
    if (o->wave && o->wave != kernel->desc.wave)
        return cli_error(CLI_FAILED, "--wave %u: kernel %s is of wave%u", o->wave,
                         kernel->name, kernel->desc.wave);
    return CLI_OK;
}

static int load_code(const struct kernel_options *o, struct la *la, const void *code,
                     size_t bytes, struct la_kernel *kernel)
{
    struct la_error err;
    if (o->raw_path)
        return load_raw(o, la, code, bytes, kernel);
    if (la_load_object(la, code, bytes, o->kernel, kernel, &err) != RD_OK)
        return cli_error(CLI_FAILED, "'%s': %s", o->object_path, err.text);
    return check_wave(o, kernel);
}

static int alloc_in_la(void *ctx, uint64_t bytes, const char *name, void **out)
{
    struct la_error err;
    if (la_alloc(ctx, bytes, EMU_MEM_READ | EMU_MEM_WRITE, name, out, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    return CLI_OK;
}

/* The last part of a path. */
static const char *path_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* Its buffers and its dispatch. */
static int prepare(struct kernel_options *o, struct la *la,
                   const struct la_kernel *kernel, struct emu_dispatch *out)
{
    struct la_error err;
    o->name = o->raw_path || !kernel->name ? path_name(o->raw_path) : kernel->name;
    o->meta = kernel->meta;
    if (!o->have_block && kernel->meta && kernel->meta->reqd_workgroup_size[0])
        memcpy(o->shape.block, kernel->meta->reqd_workgroup_size,
               sizeof o->shape.block);

    struct la_arg *list = calloc(o->n_args + 1, sizeof *list);
    if (!list)
        return cli_error(CLI_FAILED, "out of memory");
    int status = kernel_make_buffers(o, alloc_in_la, la, list);
    if (status == CLI_OK &&
        la_prepare(la, kernel, &o->shape, list, o->n_args, out, &err) != RD_OK)
        status = cli_error(CLI_FAILED, "%s", err.text);
    free(list);
    return status;
}

int kernel_load(struct kernel_options *o, struct la *la, const void *code, size_t bytes,
                struct la_kernel *kernel, struct emu_dispatch *out)
{
    int status = load_code(o, la, code, bytes, kernel);
    return status == CLI_OK ? prepare(o, la, kernel, out) : status;
}

int kernel_load_another(struct kernel_options *o, struct la *la,
                        const struct la_kernel *loaded, struct la_kernel *kernel,
                        struct emu_dispatch *out)
{
    struct la_error err;
    if (la_find_kernel(loaded, o->kernel, kernel, &err) != RD_OK)
        return cli_error(CLI_FAILED, "'%s': %s", o->object_path, err.text);
    int status = check_wave(o, kernel);
    return status == CLI_OK ? prepare(o, la, kernel, out) : status;
}
