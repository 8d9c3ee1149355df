/* timing.c: timed runs for users of the library. SPDX-License-Identifier: MIT
 */
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct rdna3_timing {
    struct rdna3 *rdna3;
    struct tm_engine *engine;
};

/* The buffers that the arguments point into: the model places them. */
static size_t find_ranges(struct rdna3_device *device, const struct rdna3_launch *l,
                          struct tm_range *ranges)
{
    size_t n = 0;
    for (unsigned i = 0; i < l->n_args; i++) {
        uint64_t address;
        struct emu_mem mem;
        if (l->args[i].cls != RDNA3_ARG_POINTER || l->args[i].bytes != sizeof address)
            continue;
        memcpy(&address, l->args[i].value, sizeof address);
        if (emu_mem_find(la_emu(device->la), address, &mem))
            ranges[n++] = (struct tm_range){mem.va, mem.bytes};
    }
    return n;
}

static int create(const struct rdna3_timing_config *c, const struct tm_range *ranges,
                  size_t n_ranges, struct tm_engine **out, struct rdna3_error *err)
{
    struct tm_config config = {.sclk_mhz = c->sclk_mhz,
                               .sample = c->sample,
                               .sample_percent = c->sample_percent,
                               .warm_code = c->warm_code,
                               .warm_kernarg = c->warm_kernarg,
                               .warm_data = c->warm_data,
                               .warm_mall = c->warm_cache,
                               .insts = c->instructions ? TM_INSTS_ALL : TM_INSTS_NONE,
                               .forget_waves = !c->waves && !c->instructions,
                               .ranges = ranges,
                               .n_ranges = n_ranges};
    rd_status st = tm_create(&config, out);
    if (st != RD_OK)
        return rdna3_fail(err, st, "%s", rd_status_text(st));
    for (unsigned i = 0; i < c->n_parameters; i++) {
        const struct rdna3_timing_parameter *p = &c->parameters[i];
        st = tm_set(*out, p->name, p->value);
        if (st != RD_OK) {
            tm_destroy(*out);
            return rdna3_fail(err, st, "parameter %.80s = %g: %s", p->name, p->value,
                              rd_status_text(st));
        }
    }
    return RDNA3_OK;
}

/* The run itself. */
static int run_timed(struct rdna3_kernel *kernel, const struct rdna3_launch *launch,
                     struct tm_engine *engine, struct rdna3_fault *fault,
                     struct rdna3_stats *stats, struct rdna3_error *err)
{
    struct la *la = kernel->device->la;
    struct la_mark mark = la_mark(la);
    struct emu_dispatch dispatch;
    struct emu_fault why = {0};
    struct emu_stats counts = {0};
    int status = rdna3_prepare(kernel, launch, &dispatch, err);
    if (status == RDNA3_OK) {
        status = tm_run(engine, la_emu(la), &dispatch, &why, &counts);
        status = rdna3_conclude(kernel, status, &why, &counts, fault, stats, err);
    }
    la_rewind(la, mark);
    return status;
}

int rdna3_kernel_time(struct rdna3_kernel *kernel, const struct rdna3_launch *launch,
                      const struct rdna3_timing_config *config,
                      struct rdna3_timing **out, struct rdna3_fault *fault,
                      struct rdna3_stats *stats, struct rdna3_error *err)
{
    struct rdna3_timing_config c = {0};
    if (!launch || !HAS(launch, control) || (config && !HAS(config, parameters)))
        return rdna3_fail(err, RDNA3_E_INVALID,
                          "launch or config: struct_bytes is not set");
    if (config)
        c = *config;
    struct rdna3_timing *t = calloc(1, sizeof *t);
    struct tm_range *ranges = calloc(launch->n_args + 1, sizeof *ranges);
    if (!t || !ranges) {
        free(t);
        free(ranges);
        return rdna3_fail(err, RDNA3_E_NOMEM, "out of memory");
    }
    int status = create(&c, ranges, find_ranges(kernel->device, launch, ranges),
                        &t->engine, err);
    if (status == RDNA3_OK) {
        status = run_timed(kernel, launch, t->engine, fault, stats, err);
        if (status != RDNA3_OK)
            tm_destroy(t->engine);
    }
    free(ranges);
    if (status != RDNA3_OK) {
        free(t);
        return status;
    }
    t->rdna3 = kernel->device->rdna3;
    *out = t;
    return RDNA3_OK;
}

void rdna3_timing_destroy(struct rdna3_timing *timing)
{
    if (!timing)
        return;
    tm_destroy(timing->engine);
    free(timing);
}

uint64_t rdna3_timing_cycles(const struct rdna3_timing *timing)
{
    return tm_span_cycles(timing->engine);
}

uint64_t rdna3_timing_error(const struct rdna3_timing *timing)
{
    return tm_span_error(timing->engine);
}

int rdna3_timing_report(const struct rdna3_timing *timing, enum rdna3_timing_text what,
                        char **text)
{
    char *made = NULL;
    size_t bytes = 0;
    if (what > RDNA3_TIMING_LISTING)
        return RDNA3_E_INVALID;
    FILE *f = open_memstream(&made, &bytes);
    if (!f)
        return RDNA3_E_NOMEM;
    if (what == RDNA3_TIMING_JSON)
        tm_write_json(timing->engine, f);
    else if (what == RDNA3_TIMING_SUMMARY)
        tm_print_summary(timing->engine, f);
    else
        tm_print_listing(timing->engine, f);
    char *copy = fclose(f) == 0 ? rdna3_take(timing->rdna3, bytes + 1) : NULL;
    if (copy) {
        memcpy(copy, made, bytes + 1);
        *text = copy;
    }
    free(made);
    return copy ? RDNA3_OK : RDNA3_E_NOMEM;
}
