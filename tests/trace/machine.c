/* machine.c: see machine.h. Only the public interface of the emulator is used.
 * SPDX-License-Identifier: MIT
 */
#include "../suite.h"
#include "machine.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "programs.inc"

#define PAGE 4096u

/* Also where no test runs: Check's assertions would not do. */
static void must(bool ok)
{
    if (!ok)
        abort();
}

static void *map(struct emu *emu, size_t bytes, unsigned perm, const char *name)
{
    void *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(p != MAP_FAILED);
    must(emu_mem_add(emu, (uint64_t)(uintptr_t)p, bytes, perm, name) == RD_OK);
    return p;
}

void machine_reset(struct machine *m)
{
    for (uint32_t i = 0; i < ITEMS; i++)
        m->in[i] = i * 0x9e3779b1u ^ i >> 3;
    memset(m->out, 0, ITEMS * sizeof *m->out);
}

void machine_create(struct machine *m, enum program program, unsigned lanes)
{
    static const struct {
        const uint32_t *code;
        size_t bytes;
    } programs[] = {{program_mix, sizeof program_mix},
                    {program_clock, sizeof program_clock},
                    {program_bad, sizeof program_bad}};
    must(emu_create(&(struct emu_config){.threads = 1}, &m->emu) == RD_OK);
    m->code = map(m->emu, PAGE, EMU_MEM_READ | EMU_MEM_EXEC, "code");
    m->in = map(m->emu, PAGE, EMU_MEM_READ | EMU_MEM_WRITE, "in");
    m->out = map(m->emu, PAGE, EMU_MEM_READ | EMU_MEM_WRITE, "out");
    memcpy(m->code, programs[program].code, programs[program].bytes);
    machine_reset(m);
    uint64_t in = (uint64_t)(uintptr_t)m->in, out = (uint64_t)(uintptr_t)m->out;
    m->dispatch = (struct emu_dispatch){
        .entry = (uint64_t)(uintptr_t)m->code,
        .groups = {GROUPS, 1, 1},
        .block = {BLOCK, 1, 1},
        .rsrc1 = 7u | 0xf0u << 12,
        .rsrc2 = 1u << 7, /* workgroup id x */
        .wave64 = lanes == 64,
        .lds_bytes = 4096,
        .scratch_bytes = 64,
        .n_user_sgprs = 4,
        .user_sgpr = {(uint32_t)in, (uint32_t)(in >> 32), (uint32_t)out,
                      (uint32_t)(out >> 32)},
    };
}

void machine_destroy(struct machine *m)
{
    emu_destroy(m->emu);
    munmap(m->code, PAGE);
    munmap(m->in, PAGE);
    munmap(m->out, PAGE);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static uint64_t hash_values(uint64_t h, const struct emu_event *e, unsigned direction)
{
    const uint32_t *v = direction == ISA_OF_IN ? e->in : e->out;
    for (unsigned i = 0; v && i < e->inst->n_regs; i++) {
        const struct emu_reg *r = &e->inst->reg[i];
        if (r->flags & direction)
            for (uint32_t n = emu_reg_values(r, e->wave->lanes); n; n--)
                h = mix(h, *v++);
    }
    return h;
}

uint64_t event_hash(const struct emu_event *e, uint64_t code_base)
{
    const struct emu_wave_info *w = e->wave;
    uint64_t h = mix(w->dispatch, w->group);
    h = mix(h, w->workgroup[0] | (uint64_t)w->workgroup[1] << 32);
    h = mix(h, w->workgroup[2] | (uint64_t)w->wave << 32);
    h = mix(h, w->lanes | (uint64_t)w->n_waves << 32);
    h = mix(h, w->slot | (uint64_t)w->place << 32);
    h = mix(h, e->inst->pc - code_base);
    h = mix(h, e->inst->isa.op | (uint64_t)e->inst->kind << 32);
    h = mix(h, e->index);
    h = mix(h, e->exec);
    h = mix(h, e->next_pc - code_base);
    h = mix(h, e->flags);
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        h = mix(h, a->lanes);
        h = mix(h, a->bytes | (uint64_t)a->space << 16 | (uint64_t)a->read << 24 |
                       (uint64_t)a->write << 25 | (uint64_t)a->scalar << 26);
        for (uint64_t l = a->lanes; l; l &= l - 1)
            h = mix(h, a->address[__builtin_ctzll(l)]);
    }
    return hash_values(hash_values(h, e, ISA_OF_IN), e, ISA_OF_OUT);
}

static void log_begin(void *ctx, const struct emu_launch *launch)
{
    ((struct event_log *)ctx)->code_base = launch->code_base;
}

static void log_step(void *ctx, const struct emu_event *e)
{
    struct event_log *log = ctx;
    if (log->n == log->room) {
        log->room = log->room ? 2 * log->room : 4096;
        log->hash = realloc(log->hash, log->room * sizeof *log->hash);
        log->time = realloc(log->time, log->room * sizeof *log->time);
        must(log->hash && log->time);
    }
    log->time[log->n] = e->time;
    log->hash[log->n++] = event_hash(e, log->code_base);
}

struct emu_observer log_observer(struct event_log *log, unsigned want)
{
    return (struct emu_observer){
        .ctx = log, .want = want, .dispatch_begin = log_begin, .step = log_step};
}

void log_free(struct event_log *log)
{
    free(log->hash);
    free(log->time);
}

static char folder[64];
static char files[8][128];
static unsigned n_files;

static void remove_files(void)
{
    for (unsigned i = 0; i < n_files; i++)
        unlink(files[i]);
    rmdir(folder);
}

const char *test_file(const char *name)
{
    if (!*folder) {
        const char *tmp = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/rdna3-trace-XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(folder) || atexit(remove_files) != 0)
            abort();
    }
    if (n_files == sizeof files / sizeof *files)
        abort();
    snprintf(files[n_files], sizeof files[0], "%s/%s", folder, name);
    return files[n_files++];
}

int run_suite(Suite *suite)
{
    return suite_run_here(suite); /* atexit removes the files */
}
