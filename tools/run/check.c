/* check.c: the --check of `rdna3 run`.
 *
 * Must not know what checkers look for. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "run.h"

int run_check_options(struct run_options *o)
{
    const struct checks_options *c = &o->checks.options;
    if (c->given && !c->classes)
        return cli_error(CLI_USAGE, "--%s goes with --check LIST", c->given);
    if (c->classes && (o->timing.on || o->device_kfd))
        return cli_error(CLI_USAGE, "--check goes without --%s",
                         o->timing.on ? "timing" : "device kfd");
    if (c->hazard && !(c->classes & CK_BIT(CK_WAIT)))
        return cli_error(CLI_USAGE, "--hazard goes with --check wait");
    if (c->classes && o->k.config.engine == EMU_ENGINE_JIT)
        o->k.config.native_hot = 1; /* for tests: short kernels, too */
    return CLI_OK;
}

static bool host_asked(const void *host)
{
    return la_asked(host);
}

static uint64_t image_at(void *ctx, uint64_t pc)
{
    const struct checks_object *object = ctx;
    uint64_t offset = pc - object->image;
    return object->path && offset < (UINT64_C(1) << 32) ? object->image : 0;
}

/* Buffers whose contents the command line does not say hold nothing yet. */
static rd_status tell_fresh(const struct run_options *o)
{
    for (unsigned i = 0; i < o->k.n_args; i++) {
        const struct kernel_arg *a = &o->k.args[i];
        if (!a->is_buffer || a->fill != KERNEL_FILL_NONE || !a->size)
            continue;
        rd_status st = ck_memory_fresh(o->checks.ck, (uintptr_t)a->memory, a->size);
        if (st != RD_OK)
            return st;
    }
    return RD_OK;
}

int run_check_begin(struct run_options *o, struct la *la)
{
    struct emu *emu = la_emu(la);
    struct run_checks *r = &o->checks;
    if (!r->options.classes)
        return CLI_OK;
    int status = checks_read_suppressions(&r->options, &r->suppressions);
    if (status != CLI_OK)
        return status;
    struct ck_config config = {.classes = r->options.classes,
                               .host_asked = host_asked,
                               .host = la,
                               .keep_going = r->options.keep_going,
                               .lanes = r->options.lanes,
                               .watchdog = r->options.watchdog,
                               .hazard = r->options.hazard,
                               .hazard_seed = r->options.hazard_seed,
                               .kernel = o->timing.kernel,
                               .image = image_at,
                               .ctx = &r->object};
    r->table = calloc(1, sizeof *r->table);
    if (r->table)
        r->table->seed = o->k.config.seed;
    if (!r->table || ck_create(emu, &config, r->table, &r->ck) != RD_OK ||
        tell_fresh(o) != RD_OK) {
        ck_destroy(r->ck);
        r->ck = NULL;
        free(r->table);
        r->table = NULL;
        checks_free(r->suppressions);
        r->suppressions = NULL;
        return cli_error(CLI_FAILED, "cannot check: out of memory");
    }
    return CLI_OK;
}

bool run_check_told(const struct run_options *o)
{
    return o->checks.ck && ck_stopped(o->checks.ck);
}

int run_check_end(struct run_options *o, int status)
{
    struct run_checks *r = &o->checks;
    if (!r->table)
        return status;
    ck_destroy(r->ck);
    status = checks_report(&r->options, r->suppressions, r->table, &r->object,
                           r->object.path ? 1 : 0, status);
    free(r->table);
    checks_free(r->suppressions);
    r->ck = NULL;
    r->table = NULL;
    return status;
}
