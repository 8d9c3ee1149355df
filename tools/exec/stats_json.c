/* stats_json.c: `rdna3 exec --json FILE`.
 *
 * Must not know how the counters came about. SPDX-License-Identifier: MIT
 */
#include "stats_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "board.h"
#include "cli.h"
#include "json.h"
#include "kernels.h"
#include "shared.h"

static void put_registers(struct json *j, const struct gpu_counters *c)
{
    json_array(j, "unmodelled_registers");
    for (unsigned i = 0; i < GPU_REG_COUNTS && atomic_load(&c->registers[i].key); i++) {
        const struct gpu_reg_count *r = &c->registers[i];
        char name[80];
        gpu_register_text(atomic_load(&r->key) - 1, name, sizeof name);
        json_object(j, NULL);
        json_text(j, "name", name);
        json_u64(j, "reads", atomic_load(&r->uses[GPU_REG_READ]));
        json_u64(j, "writes", atomic_load(&r->uses[GPU_REG_WRITTEN]));
        json_u64(j, "waits", atomic_load(&r->uses[GPU_REG_WAITED]));
        json_close(j);
    }
    json_close(j);
}

static void put_process(struct json *j, const struct gshared_proc *p, bool timing)
{
    const struct gpu_counters *c = &p->gpu;
    json_object(j, NULL);
    json_u64(j, "pid", (uint64_t)atomic_load(&p->pid));
    json_text(j, "name", p->comm);
    json_u64(j, "dispatches", atomic_load(&c->dispatches));
    json_u64(j, "skipped", atomic_load(&c->skipped));
    json_u64(j, "workgroups", atomic_load(&c->workgroups));
    json_u64(j, "waves", atomic_load(&c->waves));
    json_u64(j, "instructions", atomic_load(&c->instructions));
    json_u64(j, "faults", atomic_load(&c->faults));
    json_u64(j, "copies", atomic_load(&c->copies));
    json_u64(j, "copy_bytes", atomic_load(&c->copy_bytes));
    json_u64(j, "ioctls", atomic_load(&p->ioctls));
    json_u64(j, "refused_ioctls", atomic_load(&p->refused));
    json_u64(j, "workgroups_beyond_lds", atomic_load(&c->lds_beyond));
    if (atomic_load(&c->lds_beyond))
        json_text(j, "first_beyond_lds", c->lds_first);
    else
        json_null(j, "first_beyond_lds");
    json_object(j, "native");
    json_u64(j, "blocks", atomic_load(&c->native_blocks));
    json_u64(j, "instructions", atomic_load(&c->native_instructions));
    json_u64(j, "bytes", atomic_load(&c->native_bytes));
    json_real(j, "compile_us", 1e-3 * (double)atomic_load(&c->native_ns));
    json_close(j);
    put_registers(j, c);
    if (timing)
        json_real(j, "model_us",
                  (double)atomic_load(&c->model_ticks) * 1e6 / BOARD_CLOCK_HZ);
    else
        json_null(j, "model_us");
    json_close(j);
}

int stats_json(const char *path, const struct gshared *shared, bool timing)
{
    struct cli_output file;
    FILE *out = cli_output_begin(&file, path);
    if (!out)
        return cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    struct json j = json_begin(out);
    json_array(&j, "processes");
    for (unsigned i = 0; i < GSHARED_PROCS && atomic_load(&shared->procs[i].pid); i++)
        put_process(&j, &shared->procs[i], timing);
    json_close(&j);
    if (timing)
        kernels_json(&j, &shared->kernels);
    else
        json_null(&j, "kernels");
    json_end(&j);
    if (cli_output_end(&file, true) != RD_OK)
        return cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return CLI_OK;
}
