/* device.c: devices, their memory and kernels, running them.
 *
 * Must not know instructions. Invariant: what a launch needs besides its buffers
 * (arguments, packet, queue) is gone when it is over. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"
#include "internal.h"
#include "isa.h"

_Static_assert((int)RDNA3_CONTROL_CANCEL == (int)EMU_CONTROL_CANCEL, "control");
_Static_assert((int)RDNA3_ENGINE_NATIVE == (int)EMU_ENGINE_JIT, "engines");
_Static_assert(RDNA3_READ == EMU_MEM_READ && RDNA3_WRITE == EMU_MEM_WRITE, "access");

int rdna3_device_create(struct rdna3 *rdna3, const struct rdna3_device_config *config,
                        struct rdna3_device **out, struct rdna3_error *err)
{
    struct rdna3_device_config c = {0};
    struct la_error why;
    if (config && !HAS(config, exact_dots))
        return rdna3_fail(err, RDNA3_E_INVALID, "config: struct_bytes is not set");
    if (config)
        c = *config;
    if (c.engine > RDNA3_ENGINE_NATIVE)
        return rdna3_fail(err, RDNA3_E_INVALID, "engine %u: there is none", c.engine);
    struct emu_config own = {.engine = (enum emu_engine)c.engine,
                             .threads = c.threads,
                             .seed = c.seed,
                             .count = c.count,
                             .exact_dots = c.exact_dots};
    struct rdna3_device *device = calloc(1, sizeof *device);
    if (!device)
        return rdna3_fail(err, RDNA3_E_NOMEM, "out of memory");
    device->rdna3 = rdna3;
    rd_status st = la_create(&own, &device->la, &why);
    if (st != RD_OK) {
        free(device);
        return rdna3_fail(err, st, "%s", why.text);
    }
    *out = device;
    return RDNA3_OK;
}

void rdna3_device_destroy(struct rdna3_device *device)
{
    if (!device)
        return;
    la_destroy(device->la);
    while (device->kernels) {
        struct rdna3_kernel *kernel = device->kernels;
        device->kernels = kernel->next;
        free(kernel->object);
        free(kernel);
    }
    free(device);
}

/* ---- memory -------------------------------------------------------------------------
 */

int rdna3_device_alloc(struct rdna3_device *device, uint64_t bytes, const char *name,
                       void **out, struct rdna3_error *err)
{
    struct la_error why;
    rd_status st = la_alloc(device->la, bytes, EMU_MEM_READ | EMU_MEM_WRITE,
                            name ? name : "buffer", out, &why);
    return st == RD_OK ? RDNA3_OK : rdna3_fail(err, st, "%s", why.text);
}

int rdna3_device_map(struct rdna3_device *device, void *memory, uint64_t bytes,
                     unsigned access, const char *name, struct rdna3_error *err)
{
    if (!memory || !bytes || !access || access & ~(RDNA3_READ | RDNA3_WRITE))
        return rdna3_fail(err, RDNA3_E_INVALID,
                          "map: no memory, no bytes, or an access that is none");
    rd_status st = emu_mem_add(la_emu(device->la), (uintptr_t)memory, bytes, access,
                               name ? name : "buffer");
    return st == RD_OK ? RDNA3_OK
                       : rdna3_fail(err, st, "%s: cannot map %llu bytes: %s",
                                    name ? name : "buffer", (unsigned long long)bytes,
                                    rd_status_text(st));
}

int rdna3_device_unmap(struct rdna3_device *device, void *memory)
{
    return emu_mem_remove(la_emu(device->la), (uintptr_t)memory);
}

int rdna3_device_region(struct rdna3_device *device, uint64_t address,
                        struct rdna3_region *out)
{
    struct emu_mem mem;
    if (!emu_mem_find(la_emu(device->la), address, &mem))
        return RDNA3_E_NOT_FOUND;
    *out = (struct rdna3_region){
        .address = mem.va, .bytes = mem.bytes, .access = mem.perm};
    memcpy(out->name, mem.name, sizeof out->name);
    return RDNA3_OK;
}

/* ---- kernels ------------------------------------------------------------------------
 */

/* A kernel with a copy of what it is made of, not yet the device's. */
static struct rdna3_kernel *new_kernel(struct rdna3_device *device, const void *data,
                                       size_t bytes)
{
    struct rdna3_kernel *kernel = calloc(1, sizeof *kernel);
    void *copy = malloc(bytes ? bytes : 1);
    if (!kernel || !copy) {
        free(kernel);
        free(copy);
        return NULL;
    }
    memcpy(copy, data, bytes);
    kernel->object = copy;
    kernel->device = device;
    return kernel;
}

/* The device keeps it, also if it is not used: what is loaded stays loaded. */
static int keep(struct rdna3_kernel *kernel, rd_status st, const struct la_error *why,
                struct rdna3_kernel **out, struct rdna3_error *err)
{
    kernel->next = kernel->device->kernels;
    kernel->device->kernels = kernel;
    if (st != RD_OK)
        return rdna3_fail(err, st, "%s", why->text);
    *out = kernel;
    return RDNA3_OK;
}

int rdna3_kernel_load(struct rdna3_device *device, const void *object, size_t bytes,
                      const char *name, struct rdna3_kernel **out,
                      struct rdna3_error *err)
{
    struct la_error why;
    struct rdna3_kernel *kernel = new_kernel(device, object, bytes);
    if (!kernel)
        return rdna3_fail(err, RDNA3_E_NOMEM, "out of memory");
    rd_status st =
        la_load_object(device->la, kernel->object, bytes, name, &kernel->la, &why);
    return keep(kernel, st, &why, out, err);
}

int rdna3_kernel_load_raw(struct rdna3_device *device, const void *code, size_t bytes,
                          const void *descriptor, unsigned wave,
                          struct rdna3_kernel **out, struct rdna3_error *err)
{
    struct la_error why;
    struct rdna3_kernel *kernel = new_kernel(device, code, bytes);
    if (!kernel)
        return rdna3_fail(err, RDNA3_E_NOMEM, "out of memory");
    rd_status st = la_load_raw(device->la, kernel->object, bytes, descriptor, wave, 0,
                               &kernel->la, &why);
    return keep(kernel, st, &why, out, err);
}

const char *rdna3_kernel_name(const struct rdna3_kernel *kernel)
{
    return kernel->la.name;
}

uint64_t rdna3_kernel_address(const struct rdna3_kernel *kernel)
{
    return kernel->la.entry_gpuva;
}

unsigned rdna3_kernel_wave(const struct rdna3_kernel *kernel)
{
    return kernel->la.desc.wave;
}

/* ---- running ------------------------------------------------------------------------
 */

/* Arguments as the room below takes them. */
static struct la_arg *convert_args(const struct rdna3_launch *launch, char (*names)[24])
{
    static const enum la_arg_class classes[] = {[RDNA3_ARG_INTEGER] = LA_INTEGER,
                                                [RDNA3_ARG_FLOAT] = LA_FLOAT,
                                                [RDNA3_ARG_POINTER] = LA_POINTER,
                                                [RDNA3_ARG_BYTES] = LA_BYTES};
    struct la_arg *args = calloc(launch->n_args + 1, sizeof *args);
    for (unsigned i = 0; args && i < launch->n_args; i++) {
        const struct rdna3_arg *a = &launch->args[i];
        (void)snprintf(names[i], sizeof names[i], "number %u", i);
        args[i] = (struct la_arg){.cls = classes[a->cls & 3],
                                  .value = a->value,
                                  .bytes = a->bytes,
                                  .text = a->name ? a->name : names[i]};
    }
    return args;
}

static struct la_shape convert_shape(const struct rdna3_kernel *kernel,
                                     const struct rdna3_launch *launch)
{
    struct la_shape shape = {.dynamic_lds_bytes = launch->dynamic_lds_bytes};
    const uint32_t *b = launch->block;
    const struct co_kernel_meta *meta = kernel->la.meta;
    if (!b[0] && !b[1] && !b[2] && meta && meta->reqd_workgroup_size[0])
        b = meta->reqd_workgroup_size;
    for (unsigned i = 0; i < 3; i++) {
        shape.groups[i] = launch->groups[i] ? launch->groups[i] : 1;
        shape.block[i] = b[i] ? b[i] : 1;
    }
    return shape;
}

int rdna3_prepare(struct rdna3_kernel *kernel, const struct rdna3_launch *launch,
                  struct emu_dispatch *out, struct rdna3_error *err)
{
    struct la_error why;
    if (!launch || !HAS(launch, control))
        return rdna3_fail(err, RDNA3_E_INVALID, "launch: struct_bytes is not set");
    char(*names)[24] = calloc(launch->n_args + 1, sizeof *names);
    struct la_arg *args = names ? convert_args(launch, names) : NULL;
    struct la_shape shape = convert_shape(kernel, launch);
    int status = RDNA3_OK;
    for (unsigned i = 0; args && i < launch->n_args; i++)
        if (launch->args[i].cls > RDNA3_ARG_BYTES || !launch->args[i].value)
            status = rdna3_fail(err, RDNA3_E_INVALID,
                                "argument %u: no value, or a class that is none", i);
    if (!args)
        status = rdna3_fail(err, RDNA3_E_NOMEM, "out of memory");
    if (status == RDNA3_OK) {
        rd_status st = la_prepare(kernel->device->la, &kernel->la, &shape, args,
                                  launch->n_args, out, &why);
        if (st != RD_OK)
            status = rdna3_fail(err, st, "%s", why.text);
        else
            out->control = launch->control;
    }
    free(args);
    free(names);
    return status;
}

void rdna3_tell_fault(const struct rdna3_kernel *kernel, const struct emu_fault *from,
                      struct rdna3_fault *to)
{
    *to = (struct rdna3_fault){.pc = from->pc,
                               .offset = from->pc - kernel->la.entry_gpuva,
                               .address = from->address,
                               .bytes = from->bytes,
                               .wave = from->wave,
                               .lane = from->lane,
                               .write = from->write};
    memcpy(to->workgroup, from->workgroup, sizeof to->workgroup);
    (void)snprintf(to->kind, sizeof to->kind, "%s", emu_fault_name(from->kind));
    (void)snprintf(to->instruction, sizeof to->instruction, "%s", from->inst);
    emu_fault_text(from, to->text, sizeof to->text);
}

int rdna3_conclude(struct rdna3_kernel *kernel, int status,
                   const struct emu_fault *fault, const struct emu_stats *stats,
                   struct rdna3_fault *fault_out, struct rdna3_stats *stats_out,
                   struct rdna3_error *err)
{
    struct rdna3 *rdna3 = kernel->device->rdna3;
    struct rdna3_fault told;
    if (stats_out) {
        stats_out->dispatches += stats->dispatches;
        stats_out->workgroups += stats->workgroups;
        stats_out->waves += stats->waves;
        stats_out->instructions += stats->instructions;
    }
    if (status == RDNA3_E_FAULT) {
        rdna3_tell_fault(kernel, fault, &told);
        if (fault_out)
            *fault_out = told;
        rdna3_say(rdna3, RDNA3_LOG_ERROR, "%s: %s", kernel->la.name, told.text);
        return rdna3_fail(err, status, "%.600s", told.text);
    }
    rdna3_say(rdna3, status == RDNA3_OK ? RDNA3_LOG_NOTE : RDNA3_LOG_ERROR,
              "%s: %llu workgroups, %llu instructions: %s", kernel->la.name,
              (unsigned long long)stats->workgroups,
              (unsigned long long)stats->instructions,
              status == RDNA3_OK ? "done" : rd_status_text(status));
    return status == RDNA3_OK ? status
                              : rdna3_fail(err, status, "%s", rd_status_text(status));
}

int rdna3_kernel_run(struct rdna3_kernel *kernel, const struct rdna3_launch *launch,
                     struct rdna3_fault *fault, struct rdna3_stats *stats,
                     struct rdna3_error *err)
{
    struct la *la = kernel->device->la;
    struct la_mark mark = la_mark(la);
    struct emu_dispatch dispatch;
    struct emu_fault why = {0};
    struct emu_stats counts = {0};
    int status = rdna3_prepare(kernel, launch, &dispatch, err);
    if (status == RDNA3_OK) {
        status = emu_run(la_emu(la), &dispatch, &why, &counts);
        status = rdna3_conclude(kernel, status, &why, &counts, fault, stats, err);
    }
    la_rewind(la, mark);
    return status;
}

struct counting {
    void (*f)(void *ctx, const char *mnemonic, uint64_t count);
    void *ctx;
};

static void count(void *ctx, unsigned op, uint64_t n)
{
    const struct counting *c = ctx;
    if (n)
        c->f(c->ctx, isa_op_name(op), n);
}

void rdna3_device_counts(const struct rdna3_device *device,
                         void (*f)(void *ctx, const char *mnemonic, uint64_t count),
                         void *ctx)
{
    struct counting c = {f, ctx};
    emu_count_each(la_emu(device->la), count, &c);
}
