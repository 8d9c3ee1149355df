/* harness.c: see harness.h. Programs run through the public interface only.
 * SPDX-License-Identifier: MIT
 */
#include "../suite.h"
#include "harness.h"

#include <sys/mman.h>

#include "programs.inc"

static uint64_t seed = 0x9e3779b97f4a7c15;

uint32_t random32(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

void random_rows(struct run *r)
{
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned l = 0; l < LANES; l++)
            r->in[i][l] = random32();
}

/* Prologue, body, epilogue in memory of their own. */
static void *place(const struct run *r, size_t *bytes)
{
    *bytes = sizeof prologue + r->body_bytes + sizeof epilogue;
    uint8_t *code =
        mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    memcpy(code, prologue, sizeof prologue);
    memcpy(code + sizeof prologue, r->body, r->body_bytes);
    memcpy(code + sizeof prologue + r->body_bytes, epilogue, sizeof epilogue);
    return code;
}

static void map(struct emu *emu, void *p, size_t bytes, unsigned perm, const char *name)
{
    ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)p, bytes, perm, name),
                     RD_OK);
}

/* A trap handler's code, 256-byte aligned like all code. */
static void *place_handler(struct run *r)
{
    void *code = mmap(NULL, r->handler_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    memcpy(code, r->handler, r->handler_bytes);
    r->queue.tba = (uint64_t)(uintptr_t)code;
    return code;
}

bool run_on(struct run *r, enum emu_simd simd)
{
    struct emu *emu;
    size_t bytes;
    struct emu_config config = {
        .threads = 1, .simd = simd, .lds_unreported = r->lds_unreported};
    rd_status st = emu_create(&config, &emu);
    if (st == RD_E_UNSUPPORTED)
        return false;
    ck_assert_int_eq(st, RD_OK);
    void *code = place(r, &bytes);
    void *handler = r->handler ? place_handler(r) : NULL;
    r->body_pc = (uint64_t)(uintptr_t)code + sizeof prologue;
    memset(r->out, 0, sizeof r->out);
    memset(&r->fault, 0, sizeof r->fault);
    map(emu, code, bytes, EMU_MEM_READ | EMU_MEM_EXEC, "code");
    if (handler)
        map(emu, handler, r->handler_bytes, EMU_MEM_READ | EMU_MEM_EXEC, "handler");
    map(emu, r->in, sizeof r->in, EMU_MEM_READ, "in");
    map(emu, r->out, sizeof r->out, EMU_MEM_READ | EMU_MEM_WRITE, "out");
    if (r->memory)
        map(emu, r->memory, r->memory_bytes, EMU_MEM_READ | EMU_MEM_WRITE, "memory");
    if (r->observer)
        ck_assert_int_eq(emu_add_observer(emu, r->observer), RD_OK);
    uint32_t mode = r->float_mode;
    struct emu_dispatch d = {
        .entry = (uint64_t)(uintptr_t)code,
        .groups = {1, 1, 1},
        .block = {r->lanes * (r->waves ? r->waves : 1), 1, 1},
        .queue = &r->queue,
        .rsrc1 = 63u | (mode & 0xffu) << 12 | (mode >> 8 & 1u) << 21 |
                 (mode >> 9 & 1u) << 23,
        .rsrc2 = r->rsrc2,
        .wave64 = r->lanes == 64,
        .lds_bytes = r->lds_bytes,
        .scratch_bytes = r->scratch_bytes,
        .n_user_sgprs = 32,
    };
    uint64_t in = (uint64_t)(uintptr_t)r->in, out = (uint64_t)(uintptr_t)r->out;
    uint32_t pointers[4] = {(uint32_t)in, (uint32_t)(in >> 32), (uint32_t)out,
                            (uint32_t)(out >> 32)};
    memcpy(d.user_sgpr, pointers, sizeof pointers);
    memcpy(d.user_sgpr + 4, r->sgpr, sizeof r->sgpr);
    st = emu_run(emu, &d, &r->fault, NULL);
    ck_assert(st == RD_OK || st == RD_E_FAULT);
    emu_destroy(emu);
    munmap(code, bytes);
    if (handler)
        munmap(handler, r->handler_bytes);
    return true;
}

int run_suite(Suite *suite)
{
    return suite_run(suite);
}
