/* test_counters.c: performance counters of the board, by a driver's own accesses.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "../suite.h"
#include "machine.h"

enum reg {
    GRBM_GFX_INDEX = 0xc200,
    CP_PERFMON_CNTL = 0xd808,
    SQ_PERFCOUNTER_CTRL = 0xd9e0,
    SQ_PERFCOUNTER_CTRL2 = 0xd9e2,
    GRBM_SELECT = 0xd840,
    GRBM_LO = 0xd040,
    SQ_SELECT = 0xd9c0,
    SQ_LO = 0xd1c0,
};

#define EVERYWHERE (7u << 29)
#define FIRST_WGP  0u
#define WAVES      4u
#define START      1u
#define SAMPLE     (1u << 10)
#define CS_EN      (1u << 6)
#define FORCE_EN   1u
#define VMID_EN_0  2u

static struct machine m;

static void setup(void)
{
    machine_create(&m);
}

static void teardown(void)
{
    machine_destroy(&m);
}

static void run(struct machine_queue *q)
{
    uint64_t code = machine_alloc(&m, MACHINE_PAGE), fence = machine_alloc(&m, 4);
    uint64_t data = machine_alloc(&m, MACHINE_PAGE), va = 0x200000000000;
    uint64_t root = machine_root(&m);
    uint32_t dw[64];
    memcpy(m.vram + code, machine_store_lanes, MACHINE_STORE_BYTES);
    machine_map(&m, root, va, code, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_map(&m, root, va + 0x10000, data, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_use_root(&m, root, va - (va & ((1ull << 48) - 1)));
    machine_queue(&m, q, 1);
    machine_submit(q, dw, machine_dispatch(dw, va, va + 0x10000, FB + fence));
    machine_wait(machine_words(&m, fence), 1);
}

START_TEST(by_registers)
{
    struct machine_queue q;
    machine_write(&m, GRBM_GFX_INDEX, EVERYWHERE);
    machine_write(&m, SQ_SELECT, WAVES);
    machine_write(&m, GRBM_SELECT, 2);
    machine_write(&m, SQ_PERFCOUNTER_CTRL, CS_EN);
    machine_write(&m, SQ_PERFCOUNTER_CTRL2, FORCE_EN | VMID_EN_0);
    machine_write(&m, CP_PERFMON_CNTL, START);
    ck_assert_uint_eq(machine_read(&m, SQ_SELECT), WAVES);
    run(&q);
    machine_write(&m, CP_PERFMON_CNTL, START | SAMPLE);
    ck_assert_uint_gt(machine_read(&m, GRBM_LO), 0);
    machine_write(&m, GRBM_GFX_INDEX, FIRST_WGP);
    ck_assert_uint_eq(machine_read(&m, SQ_LO), 1);
    machine_write(&m, GRBM_GFX_INDEX, 1 << 2); /* the next one */
    ck_assert_uint_eq(machine_read(&m, SQ_LO), 0);
}
END_TEST

START_TEST(reset)
{
    machine_write(&m, GRBM_GFX_INDEX, EVERYWHERE);
    machine_write(&m, SQ_SELECT, WAVES);
    machine_write(&m, CP_PERFMON_CNTL, START);
    machine_write(&m, 0xd9ed, 5); /* SQ_THREAD_TRACE_MASK */
    ck_assert_uint_eq(machine_read(&m, SQ_SELECT), WAVES);
    ck_assert_uint_eq(machine_read(&m, 0xd9ed), 5);
    pci_reset(m.board);
    ck_assert_uint_eq(machine_read(&m, CP_PERFMON_CNTL), 0);
    ck_assert_uint_eq(machine_read(&m, SQ_SELECT), 0);
    ck_assert_uint_eq(machine_read(&m, 0xd9ed), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("board counters");
    TCase *t = tcase_create("counters");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, by_registers);
    tcase_add_test(t, reset);
    suite_add_tcase(s, t);
    return suite_run_here(s);
}
