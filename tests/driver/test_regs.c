/* test_regs.c: registers as packets reach them, and what is said of those that nobody
 * models.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "../suite.h"
#include "config.h"
#include "mock.h"
#include "pm4.h"
#include "sdma.h"

#define LO(p)    ((uint32_t)(uintptr_t)(p))
#define HI(p)    ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum reg {
    HDP_FLUSH_REQ = 0xe26,
    HDP_FLUSH_DONE = 0xe27,
    GB_ADDR_CONFIG = 0x263e,
    GRBM_STATUS = 0x2004,
    COMPUTE_START_X = 0x2e04,
    COMPUTE_USER_DATA = 0x2e40,
    SCRATCH = 0xc040,
    NAMELESS = 0xa3f1,
};

#define TO_MEMORY (5u << 8) /* COPY_DATA, WRITE_DATA */
#define WAIT_EQ   3u
#define DONE      4096 /* index in mem of a fence */

static uint32_t *mem; /* 64 KiB that the GPU sees */
static char log_path[] = "/tmp/rdna3-regs-XXXXXX";

/* A PM4 queue with a fence behind what it was given. */
static void submit_fence(struct mock_queue *q, uint32_t number)
{
    const uint32_t p[] = {PM4_HEADER(PM4_WRITE_DATA, 4), TO_MEMORY, LO(mem + DONE),
                          HI(mem + DONE), number};
    mock_submit(q, p, COUNT(p));
}

static void finish(struct mock_queue *q, uint32_t number)
{
    submit_fence(q, number);
    ck_assert(mock_wait32(mem + DONE, number));
}

static void store(struct mock_queue *q, uint32_t reg, uint32_t *to)
{
    const uint32_t p[] = {
        PM4_HEADER(PM4_COPY_DATA, 5), TO_MEMORY, reg, 0, LO(to), HI(to)};
    mock_submit(q, p, COUNT(p));
}

static void set_scratch(struct mock_queue *q, uint32_t i, uint32_t value)
{
    const uint32_t p[] = {PM4_HEADER(PM4_SET_UCONFIG_REG, 2),
                          SCRATCH + i - PM4_UCONFIG_BASE, value};
    mock_submit(q, p, COUNT(p));
}

static uint32_t uses(uint32_t reg, enum gpu_reg_use use)
{
    const struct gpu_counters *c = mock_counters();
    for (unsigned i = 0; i < GPU_REG_COUNTS; i++)
        if (c->registers[i].key == reg + 1)
            return c->registers[i].uses[use];
    return 0;
}

static bool logged(const char *text)
{
    static char all[1 << 20];
    int fd = open(log_path, O_RDONLY);
    ssize_t n = read(fd, all, sizeof(all) - 1);
    close(fd);
    all[n > 0 ? n : 0] = '\0';
    return strstr(all, text) != NULL;
}

static void begin(struct mock_queue *q)
{
    memset(mem, 0, 65536);
    mock_queue_create(q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
}

START_TEST(written_and_read)
{
    struct mock_queue q;
    begin(&q);
    const uint32_t more[] = {
        PM4_HEADER(PM4_WRITE_DATA, 5), /* to registers, one after the other */
        0,
        SCRATCH + 1,
        0,
        22,
        33,
        PM4_HEADER(PM4_REG_RMW, 3),
        SCRATCH + 1,
        0xfffffff0,
        9,                            /* 22 & ~15 | 9 */
        PM4_HEADER(PM4_COPY_DATA, 5), /* immediate to register */
        5,
        44,
        0,
        SCRATCH + 3,
        0,
    };
    set_scratch(&q, 0, 11);
    mock_submit(&q, more, COUNT(more));
    for (uint32_t i = 0; i < 4; i++)
        store(&q, SCRATCH + i, mem + i);
    store(&q, GB_ADDR_CONFIG, mem + 4);
    finish(&q, 1);
    ck_assert_uint_eq(mem[0], 11);
    ck_assert_uint_eq(mem[1], 25);
    ck_assert_uint_eq(mem[2], 33);
    ck_assert_uint_eq(mem[3], 44);
    ck_assert_uint_eq(mem[4], 0x545);
    ck_assert_uint_eq(uses(SCRATCH, GPU_REG_WRITTEN), 0); /* it is modelled */
    mock_queue_destroy(&q);
}
END_TEST

START_TEST(conditions)
{
    struct mock_queue q;
    begin(&q);
    set_scratch(&q, 0, 5);
    for (uint32_t ref = 5; ref < 7; ref++) { /* true once, false once */
        const uint32_t p[] = {PM4_HEADER(PM4_COND_WRITE, 8),
                              WAIT_EQ | 1u << 8,
                              SCRATCH,
                              0,
                              ref,
                              0xffffffff,
                              LO(mem + ref),
                              HI(mem + ref),
                              77};
        mock_submit(&q, p, COUNT(p));
    }
    finish(&q, 1);
    ck_assert_uint_eq(mem[5], 77);
    ck_assert_uint_eq(mem[6], 0);
    mock_queue_destroy(&q);
}
END_TEST

/* Compute state is a queue's own; the rest is everybody's. */
START_TEST(banks)
{
    struct mock_queue a, b;
    begin(&a);
    mock_queue_create(&b, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    const uint32_t p[] = {PM4_HEADER(PM4_SET_SH_REG, 2),
                          COMPUTE_USER_DATA - PM4_SH_BASE, 123};
    mock_submit(&a, p, COUNT(p));
    set_scratch(&a, 5, 66);
    store(&a, COMPUTE_USER_DATA, mem);
    finish(&a, 1);
    store(&b, COMPUTE_USER_DATA, mem + 1);
    store(&b, SCRATCH + 5, mem + 2);
    finish(&b, 2);
    ck_assert_uint_eq(mem[0], 123);
    ck_assert_uint_eq(mem[1], 0);
    ck_assert_uint_eq(mem[2], 66);
    mock_queue_destroy(&a);
    mock_queue_destroy(&b);
}
END_TEST

/* The flush that clients ask for by two registers answers. */
START_TEST(hdp_flush)
{
    struct mock_queue q, s;
    begin(&q);
    const uint32_t p[] = {PM4_HEADER(PM4_WAIT_REG_MEM, 6),
                          WAIT_EQ | PM4_WAIT_WRITE_FIRST << 6,
                          HDP_FLUSH_REQ,
                          HDP_FLUSH_DONE,
                          4,
                          4,
                          32};
    store(&q, HDP_FLUSH_DONE, mem);
    mock_submit(&q, p, COUNT(p));
    store(&q, HDP_FLUSH_DONE, mem + 1);
    finish(&q, 1);
    ck_assert_uint_eq(mem[0] & 4, 0);
    ck_assert_uint_eq(mem[1] & 4, 4);
    uint32_t
        order[COUNT(p)]; /* as a TLB flush has it: more is written than comes back */
    memcpy(order, p, sizeof(p));
    order[4] = 0x80000008, order[5] = 8;
    mock_submit(&q, order, COUNT(order));
    finish(&q, 4);
    mock_queue_destroy(&q);
    mock_queue_create(&s, KFD_IOC_QUEUE_TYPE_SDMA, 4096);
    s.page[0] = 's';
    const uint32_t d[] = {
        SDMA_POLL | SDMA_POLL_HDP_FLUSH | SDMA_POLL_FUNCTION(WAIT_EQ),
        HDP_FLUSH_DONE << 2,
        HDP_FLUSH_REQ << 2,
        8,
        8,
        SDMA_POLL_FOR_EVER,
        SDMA_POLL, /* as ROCr asks: a condition that is always so */
        0,
        0x80000000,
        0,
        0,
        0,
        SDMA_SRBM_WRITE | 0xfu << 28,
        SCRATCH + 6,
        0x11223344,
        SDMA_SRBM_WRITE | 2u << 28,
        SCRATCH + 6,
        0xffffffff,
        SDMA_FENCE,
        LO(mem + DONE),
        HI(mem + DONE),
        2,
    };
    mock_submit(&s, d, COUNT(d));
    ck_assert(mock_wait32(mem + DONE, 2));
    mock_queue_destroy(&s);
    begin(&q);
    store(&q, SCRATCH + 6, mem);
    finish(&q, 3);
    ck_assert_uint_eq(mem[0], 0x1122ff44);
    mock_queue_destroy(&q);
}
END_TEST

static void wait_for(struct mock_queue *q, uint32_t reg, uint32_t value)
{
    const uint32_t p[] = {
        PM4_HEADER(PM4_WAIT_REG_MEM, 6), WAIT_EQ, reg, 0, value, 0xffffffff, 4};
    mock_submit(q, p, COUNT(p));
}

/* Another queue's write ends a wait. */
START_TEST(wait_ends)
{
    struct mock_queue a, b;
    begin(&a);
    mock_queue_create(&b, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    wait_for(&a, SCRATCH + 7, 9);
    submit_fence(&a, 1);
    usleep(20000);
    ck_assert_uint_eq(mem[DONE], 0);
    set_scratch(&b, 7, 9);
    ck_assert(mock_wait32(mem + DONE, 1));
    mock_queue_destroy(&a);
    mock_queue_destroy(&b);
}
END_TEST

static bool reset_told(uint32_t event)
{
    struct kfd_event_data data = {.event_id = event};
    struct kfd_ioctl_wait_events_args w = {
        .events_ptr = (uintptr_t)&data, .num_events = 1, .timeout = 1000};
    return kfd(AMDKFD_IOC_WAIT_EVENTS, &w) == 0 &&
           w.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE &&
           data.hw_exception_data.memory_lost &&
           data.hw_exception_data.gpu_id == GPU_ID;
}

/* One that nothing ends is a hang of the queue: the register is named, and the process
 * hears of a reset as from the kernel driver. */
START_TEST(wait_hangs)
{
    struct mock_queue q, s;
    struct kfd_ioctl_create_event_args e = {.event_type = KFD_IOC_EVENT_HW_EXCEPTION,
                                            .auto_reset = 1};
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_EVENT, &e), 0);
    uint64_t faults = mock_counters()->faults;
    begin(&q);
    wait_for(&q, GRBM_STATUS, 0x12345);
    submit_fence(&q, 1);
    ck_assert(
        mock_wait64((const volatile uint64_t *)&mock_counters()->faults, faults + 1));
    ck_assert_uint_eq(mem[DONE], 0);
    ck_assert_uint_eq(uses(GRBM_STATUS, GPU_REG_WAITED), 1);
    ck_assert(logged("register GRBM_STATUS (0x2004) waited for"));
    ck_assert(reset_told(e.event_id));
    mock_queue_destroy(&q);
    mock_queue_create(&s, KFD_IOC_QUEUE_TYPE_SDMA, 4096);
    s.page[0] = 's';
    const uint32_t d[] = {SDMA_POLL | SDMA_POLL_FUNCTION(WAIT_EQ),
                          GRBM_STATUS << 2,
                          0,
                          0x12345,
                          0xffffffff,
                          SDMA_POLL_FOR_EVER};
    mock_submit(&s, d, COUNT(d));
    ck_assert(
        mock_wait64((const volatile uint64_t *)&mock_counters()->faults, faults + 2));
    ck_assert_uint_eq(uses(GRBM_STATUS, GPU_REG_WAITED), 2);
    mock_queue_destroy(&s);
}
END_TEST

/* Storage that is counted, and named where it has a name. */
START_TEST(nobody_models)
{
    struct mock_queue q;
    begin(&q);
    const uint32_t p[] = {
        PM4_HEADER(PM4_SET_SH_REG, 2),      COMPUTE_START_X - PM4_SH_BASE, 3,
        PM4_HEADER(PM4_SET_CONTEXT_REG, 2), NAMELESS - PM4_CONTEXT_BASE,   4,
    };
    mock_submit(&q, p, COUNT(p));
    mock_submit(&q, p, COUNT(p));
    store(&q, COMPUTE_START_X, mem);
    store(&q, NAMELESS, mem + 1);
    store(&q, NAMELESS + 1, mem + 2);
    finish(&q, 1);
    ck_assert_uint_eq(mem[0], 3);
    ck_assert_uint_eq(mem[1], 4);
    ck_assert_uint_eq(mem[2], 0);
    ck_assert_uint_eq(uses(COMPUTE_START_X, GPU_REG_WRITTEN), 2);
    ck_assert_uint_eq(uses(COMPUTE_START_X, GPU_REG_READ), 1);
    ck_assert_uint_eq(uses(NAMELESS, GPU_REG_WRITTEN), 2);
    ck_assert_uint_eq(uses(NAMELESS + 1, GPU_REG_READ), 1);
    ck_assert(logged("register COMPUTE_START_X (0x2e04) written"));
    ck_assert(logged("register COMPUTE_START_X (0x2e04) read"));
    ck_assert(logged("register 0xa3f1 written"));
    mock_queue_destroy(&q);
}
END_TEST

/* Places that are neither memory nor a register. */
START_TEST(refused)
{
    static const uint32_t bad[][2] = {{7 | TO_MEMORY, PM4_COPY_DATA},
                                      {5 | 3u << 8, PM4_COPY_DATA},
                                      {3u << 8, PM4_WRITE_DATA},
                                      {2u << 4 | WAIT_EQ, PM4_WAIT_REG_MEM}};
    for (unsigned i = 0; i < COUNT(bad); i++) {
        struct mock_queue q;
        uint64_t faults = mock_counters()->faults;
        begin(&q);
        const uint32_t p[] = {
            PM4_HEADER(bad[i][1], 6), bad[i][0], LO(mem), HI(mem), LO(mem), HI(mem), 0};
        mock_submit(&q, p, COUNT(p));
        ck_assert(mock_wait64((const volatile uint64_t *)&mock_counters()->faults,
                              faults + 1));
        mock_queue_destroy(&q);
    }
}
END_TEST

START_TEST(drm_read)
{
    uint32_t value = 0;
    struct drm_amdgpu_info i = {
        .return_pointer = (uintptr_t)&value,
        .return_size = sizeof(value),
        .query = AMDGPU_INFO_READ_MMR_REG,
        .read_mmr_reg = {.dword_offset = GB_ADDR_CONFIG, .count = 1}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &i), 0);
    ck_assert_uint_eq(value, 0x545);
}
END_TEST

int main(void)
{
    int fd = mkstemp(log_path);
    setenv(FRONT_ENV_LOG, log_path, 1);
    mock_begin();
    mem = mock_buffer(65536, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    Suite *s = suite_create("registers");
    TCase *t = tcase_create("queues");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, written_and_read);
    tcase_add_test(t, conditions);
    tcase_add_test(t, banks);
    tcase_add_test(t, hdp_flush);
    tcase_add_test(t, wait_ends);
    tcase_add_test(t, wait_hangs);
    tcase_add_test(t, nobody_models);
    tcase_add_test(t, refused);
    tcase_add_test(t, drm_read);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    close(fd);
    unlink(log_path);
    return status;
}
