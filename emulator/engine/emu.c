/* emu.c: creation of an emulator: configuration, SIMD level, semantics table.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "excp.h"
#include "handlers.h"
#include "join.h"
#include "dispatch.h"
#include "native.h"
#include "observe.h"
#include "pool.h"
#include "workers.h"

const char *emu_simd_name(enum emu_simd simd)
{
    switch (simd) {
    case EMU_SIMD_AUTO:
        return "auto";
    case EMU_SIMD_GENERIC:
        return "generic";
    case EMU_SIMD_AVX2:
        return "avx2";
    case EMU_SIMD_AVX512:
        return "avx512";
    }
    return "unknown";
}

/* The levels are compiled for x86-64-v3 and x86-64-v4. */
static bool host_has(enum emu_simd simd)
{
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("f16c");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") &&
              __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return simd == EMU_SIMD_AVX512 ? v4 : simd == EMU_SIMD_AVX2 ? v3 : true;
}

extern const struct level_ops level_generic, level_avx2, level_avx512;

static const struct handlers handlers = {
    .fetch = x_fetch,
    .illegal = x_illegal,
    .unsupported = x_unsupported,
    .beyond = x_beyond,
    .endless = x_endless,
    .excp = x_excp,
    .smem = x_smem,
    .gds = x_gds,
    .buffer_load = x_buffer_load,
    .buffer_store = x_buffer_store,
    .buffer_atomic = x_buffer_atomic,
    .buffer_scalar = x_buffer_scalar,
    .buffer_load_format = x_buffer_load_format,
    .buffer_store_format = x_buffer_store_format,
};

static rd_status choose_level(struct emu *emu)
{
    enum emu_simd simd = emu->config.simd;
    if (simd == EMU_SIMD_AUTO)
        simd = host_has(EMU_SIMD_AVX512) ? EMU_SIMD_AVX512
               : host_has(EMU_SIMD_AVX2) ? EMU_SIMD_AVX2
                                         : EMU_SIMD_GENERIC;
    if (!host_has(simd))
        return RD_E_UNSUPPORTED;
    emu->config.simd = simd;
    emu->level = simd == EMU_SIMD_AVX512 ? &level_avx512
                 : simd == EMU_SIMD_AVX2 ? &level_avx2
                                         : &level_generic;
    return RD_OK;
}

static rd_status create_code(struct emu *emu)
{
    struct program_env env = {.level = emu->level,
                              .handlers = &handlers,
                              .sem = emu->sem,
                              .map = emu->regions,
                              .forget = native_forget};
    return code_cache_create(&env, &emu->code);
}

rd_status emu_create(const struct emu_config *config, struct emu **out)
{
    struct emu *emu = calloc(1, sizeof *emu);
    if (!emu)
        return RD_E_NOMEM;
    pthread_mutex_init(&emu->observe_lock, NULL);
    pthread_mutex_init(&emu->gds_lock, NULL);
    if (config)
        emu->config = *config;
    rd_status st = choose_level(emu);
    if (st == RD_OK)
        join_semantics(emu->level, emu->sem);
    if (st == RD_OK)
        st = regions_create(&emu->regions);
    if (st == RD_OK)
        st = create_code(emu);
    if (st == RD_OK)
        st = pool_create(&emu->pool);
    if (st == RD_OK)
        st = workers_create(&emu->workers);
    if (st == RD_OK && emu->config.engine != EMU_ENGINE_INTERP)
        emu->native = native_create(emu, turns_native);
    if (st == RD_OK && emu->config.engine == EMU_ENGINE_JIT &&
        !native_ready(emu->native))
        st = RD_E_UNSUPPORTED;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    emu->host_cpus = cpus > 0 ? (unsigned)cpus : 1;
    if (st == RD_OK && emu->config.count) {
        emu->counts = calloc(ISA_OP_COUNT, sizeof *emu->counts);
        st = emu->counts ? RD_OK : RD_E_NOMEM;
    }
    if (st != RD_OK) {
        emu_destroy(emu);
        return st;
    }
    *out = emu;
    return RD_OK;
}

void emu_destroy(struct emu *emu)
{
    if (!emu)
        return;
    workers_destroy(emu->workers);
    glance_forget(emu);
    code_cache_destroy(emu->code);
    native_destroy(emu->native);
    regions_destroy(emu->regions);
    pool_destroy(emu->pool);
    pthread_mutex_destroy(&emu->observe_lock);
    pthread_mutex_destroy(&emu->gds_lock);
    free(emu->gds);
    free(emu->observers);
    free(emu->slots);
    free(emu->counts);
    free(emu);
}

rd_status emu_mem_add(struct emu *emu, uint64_t va, uint64_t bytes, unsigned perm,
                      const char *name)
{
    return region_add(emu->regions, va, 0, bytes, perm, name);
}

rd_status emu_mem_place(struct emu *emu, uint64_t va, void *host, uint64_t bytes,
                        unsigned perm, const char *name)
{
    return region_add(emu->regions, va, (uintptr_t)host - va, bytes, perm, name);
}

rd_status emu_mem_remove(struct emu *emu, uint64_t va)
{
    struct mem_region gone;
    rd_status st = region_remove(emu->regions, va, &gone);
    if (st == RD_OK && gone.perm & EMU_MEM_EXEC)
        emu_code_changed(emu, gone.base, gone.end - gone.base);
    return st;
}

rd_status emu_mem_change(struct emu *emu, uint64_t va,
                         const struct emu_mem_piece *pieces, unsigned n)
{
    struct mem_region old, now[EMU_MEM_PIECES];
    if (n > EMU_MEM_PIECES)
        return RD_E_INVALID;
    for (unsigned i = 0; i < n; i++)
        now[i] = (struct mem_region){.base = pieces[i].va,
                                     .end = pieces[i].va + pieces[i].bytes,
                                     .perm = pieces[i].perm};
    rd_status st = region_change(emu->regions, va, now, n, &old);
    if (st != RD_OK || !(old.perm & EMU_MEM_EXEC))
        return st;
    uint64_t from = old.base; /* what has gone lies between the pieces */
    for (unsigned i = 0; i <= n; i++) {
        uint64_t to = i < n ? now[i].base : old.end;
        if (to > from)
            emu_code_changed(emu, from, to - from);
        from = i < n ? now[i].end : to;
    }
    return RD_OK;
}

static void tell_region(const struct mem_region *r, struct emu_mem *out)
{
    *out = (struct emu_mem){.va = r->base, .bytes = r->end - r->base, .perm = r->perm};
    memcpy(out->name, r->name, sizeof out->name);
}

bool emu_mem_find(struct emu *emu, uint64_t va, struct emu_mem *out)
{
    struct mem_region r;
    bool found = region_find(emu->regions, va, &r, NULL);
    if (found)
        tell_region(&r, out);
    return found;
}

bool emu_mem_next(struct emu *emu, uint64_t va, struct emu_mem *out)
{
    struct mem_region r;
    bool found = region_next(emu->regions, va, &r);
    if (found)
        tell_region(&r, out);
    return found;
}

bool emu_mem_nearest(struct emu *emu, uint64_t va, struct emu_mem *out)
{
    struct mem_region r;
    bool found = region_nearest(emu->regions, va, &r);
    if (found)
        tell_region(&r, out);
    return found;
}

bool emu_mem_gone(struct emu *emu, uint64_t va, struct emu_mem *out)
{
    struct mem_region r;
    bool found = region_gone(emu->regions, va, &r);
    if (found)
        tell_region(&r, out);
    return found;
}

bool emu_symbol(const struct emu *emu, uint64_t pc, char *name, size_t size,
                uint64_t *start)
{
    const struct emu_config *c = &emu->config;
    return c->symbol && c->symbol(c->symbol_ctx, pc, name, size, start);
}

void emu_code_changed(struct emu *emu, uint64_t va, uint64_t bytes)
{
    code_cache_changed(emu->code, va, bytes);
}

enum emu_simd emu_simd_level(const struct emu *emu)
{
    return emu->config.simd;
}

void emu_count_each(const struct emu *emu,
                    void (*f)(void *ctx, unsigned op, uint64_t count), void *ctx)
{
    if (!emu->counts)
        return;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        uint64_t n = atomic_load(&emu->counts[op]);
        if (n)
            f(ctx, op, n);
    }
}

rd_status emu_semantics(const struct emu *emu, unsigned op, const char **file,
                        unsigned *line)
{
    const struct sem_entry *entry = op < ISA_OP_COUNT ? emu->sem[op] : NULL;
    if (!entry)
        return RD_E_NOT_FOUND;
    *file = entry->file;
    *line = entry->line;
    return RD_OK;
}

void emu_native_stats(const struct emu *emu, struct emu_native_stats *stats)
{
    native_stats(emu->native, stats);
}

void emu_native_handled(const struct emu *emu,
                        void (*f)(void *ctx, unsigned op, uint64_t count), void *ctx)
{
    native_each_handled(emu->native, f, ctx);
}
