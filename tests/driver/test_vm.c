/* test_vm.c: the seam by which the GPU reaches guest memory.
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <string.h>

#include "../suite.h"
#include "internal.h"
#include "machine.h"

#define PAGE 4096u

static _Alignas(PAGE) uint8_t memory[4 * PAGE];
static struct gpu *gpu;
static struct gpu_counters counters;

static uint64_t at(unsigned page)
{
    return (uintptr_t)(memory + page * PAGE);
}

static rd_status look(uint64_t va, uint64_t bytes, unsigned access, struct vm_tlb *tlb,
                      struct vm_span *span)
{
    struct gpu_page_fault fault;
    return vm_translate(gpu, VM_PROCESS, va, bytes, access, tlb, span, &fault);
}

/* A GPU lives as long as its process. */
static void setup(void)
{
    static struct gpu *all[16];
    static unsigned n;
    struct gpu_config config = {.counters = &counters};
    ck_assert_int_eq(gpu_create(&config, &gpu), RD_OK);
    all[n] = gpu;
    ck_assert_ptr_nonnull(all[n++]);
}

/* Neighbours are one piece; what is behind them is not. */
START_TEST(spans)
{
    struct vm_span span;
    ck_assert_int_eq(gpu_vm_add(gpu, at(0), PAGE, GPU_READ | GPU_WRITE, "a"), RD_OK);
    ck_assert_int_eq(gpu_vm_add(gpu, at(1), PAGE, GPU_READ, "b"), RD_OK);
    ck_assert_int_eq(look(at(0) + 8, 2 * PAGE - 8, GPU_READ, NULL, &span), RD_OK);
    ck_assert_ptr_eq(span.host, memory + 8);
    ck_assert_uint_eq(span.bytes, 2 * PAGE - 8);
    ck_assert_int_eq(look(at(0) + 8, 3 * PAGE, GPU_READ, NULL, &span), RD_OK);
    ck_assert_uint_eq(span.bytes, 2 * PAGE - 8);
    ck_assert_int_eq(look(at(0), 2 * PAGE, GPU_WRITE, NULL, &span), RD_OK);
    ck_assert_uint_eq(span.bytes, PAGE);
}
END_TEST

/* A fault says which byte, and whether it is there at all. */
START_TEST(faults)
{
    struct vm_span span = {.bytes = 77};
    struct gpu_page_fault fault;
    ck_assert_int_eq(gpu_vm_add(gpu, at(1), PAGE, GPU_READ, "b"), RD_OK);
    ck_assert_int_eq(
        vm_translate(gpu, VM_PROCESS, at(1) + 4, 4, GPU_WRITE, NULL, &span, &fault),
        RD_E_FAULT);
    ck_assert(fault.present && fault.write && !fault.exec);
    ck_assert_uint_eq(fault.va, at(1) + 4);
    ck_assert_int_eq(
        vm_translate(gpu, VM_PROCESS, at(2), 4, GPU_READ, NULL, &span, &fault),
        RD_E_FAULT);
    ck_assert(!fault.present && !fault.write);
    ck_assert_uint_eq(span.bytes, 77);
    ck_assert_int_eq(
        vm_translate(gpu, VM_PROCESS, UINT64_MAX, 4, GPU_READ, NULL, &span, &fault),
        RD_E_FAULT);
}
END_TEST

/* What was found is forgotten when the mapping changes. */
START_TEST(shootdown)
{
    struct vm_tlb tlb = {.generation = 0};
    struct vm_span span;
    ck_assert_int_eq(gpu_vm_add(gpu, at(0), 2 * PAGE, GPU_READ, "a"), RD_OK);
    ck_assert_int_eq(look(at(1), 8, GPU_READ, &tlb, &span), RD_OK);
    ck_assert_int_eq(look(at(1) + 8, 8, GPU_READ, &tlb, &span), RD_OK);
    ck_assert_ptr_eq(span.host, memory + PAGE + 8);
    ck_assert_int_eq(look(at(1), 8, GPU_WRITE, &tlb, &span), RD_E_FAULT);
    gpu_vm_remove(gpu, at(1), PAGE);
    ck_assert_int_eq(look(at(1) + 8, 8, GPU_READ, &tlb, &span), RD_E_FAULT);
    ck_assert_int_eq(look(at(0), 2 * PAGE, GPU_READ, &tlb, &span), RD_OK);
    ck_assert_uint_eq(span.bytes, PAGE);
    for (unsigned i = 0; i < 100; i++) /* more than it holds */
        ck_assert_int_eq(look(at(0) + 8 * i, 8, GPU_READ, &tlb, &span), RD_OK);
}
END_TEST

START_TEST(copies)
{
    uint8_t bytes[16];
    ck_assert_int_eq(gpu_vm_add(gpu, at(0), PAGE, GPU_READ | GPU_WRITE, "a"), RD_OK);
    memset(memory, 5, sizeof(memory));
    ck_assert(gpu_read(gpu, at(0) + 8, bytes, sizeof(bytes)));
    ck_assert_uint_eq(bytes[15], 5);
    memset(bytes, 9, sizeof(bytes));
    ck_assert(!gpu_write(gpu, at(1) - 8, bytes, sizeof(bytes)));
    ck_assert_uint_eq(memory[PAGE], 5); /* never beyond what is visible */
    ck_assert(gpu_write(gpu, at(1) - 16, bytes, sizeof(bytes)));
    ck_assert_uint_eq(memory[PAGE - 1], 9);
}
END_TEST

/* Odd while the second page stays mapped. */
static atomic_uint phase;
static atomic_uint missing;

static void *look_at_it(void *arg)
{
    struct emu *emu = arg;
    struct mem_region r;
    for (unsigned p; (p = atomic_load(&phase)) != UINT_MAX;)
        if (p % 2 && !region_find(emu->regions, at(1) + 8, &r, NULL) &&
            atomic_load(&phase) == p)
            atomic_fetch_add(&missing, 1);
    return NULL;
}

/* What stays mapped is there for waves at every moment, whatever becomes of the rest of
 * what was mapped with it. */
START_TEST(neighbours)
{
    struct mem_region r;
    struct emu *emu;
    pthread_t thread;
    ck_assert_int_eq(vm_emu(&gpu->vm, &emu), RD_OK);
    atomic_store(&phase, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, look_at_it, emu), 0);
    for (unsigned i = 0; i < 5000; i++) {
        ck_assert_int_eq(gpu_vm_add(gpu, at(0), 3 * PAGE, GPU_READ, "a"), RD_OK);
        ck_assert_int_eq(gpu_vm_add(gpu, at(1), PAGE, GPU_READ, "stays"), RD_OK);
        atomic_fetch_add(&phase, 1);
        ck_assert_int_eq(gpu_vm_add(gpu, at(0), PAGE, GPU_WRITE, "b"), RD_OK);
        gpu_vm_remove(gpu, at(0), 3 * PAGE);
        ck_assert(region_find(emu->regions, at(0), &r, NULL));
        ck_assert_uint_eq(r.perm, EMU_MEM_READ | EMU_MEM_WRITE);
        ck_assert(!region_find(emu->regions, at(2), &r, NULL));
        ck_assert(region_find(emu->regions, at(1), &r, NULL));
        atomic_fetch_add(&phase, 1);
        ck_assert_uint_eq(r.perm, EMU_MEM_READ);
        ck_assert_uint_eq(r.base, at(1));
        ck_assert_uint_eq(r.end, at(2));
        ck_assert_str_eq(r.name, "a");
        gpu_vm_remove(gpu, at(0), 2 * PAGE);
        ck_assert(!region_find(emu->regions, at(1), &r, NULL));
    }
    atomic_store(&phase, UINT_MAX);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(atomic_load(&missing), 0);
    emu_destroy(emu);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vm");
    TCase *t = tcase_create("translate");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, spans);
    tcase_add_test(t, faults);
    tcase_add_test(t, shootdown);
    tcase_add_test(t, copies);
    tcase_add_test(t, neighbours);
    suite_add_tcase(s, t);
    return suite_run(s);
}
