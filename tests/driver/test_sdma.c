/* test_sdma.c: the SDMA engine, through queues as clients use it.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"
#include "mock.h"

#define LO(p)    ((uint32_t)(uintptr_t)(p))
#define HI(p)    ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint32_t *mem; /* 1 MiB that the GPU sees */

static void sdma_queue(struct mock_queue *q)
{
    mock_queue_create(q, KFD_IOC_QUEUE_TYPE_SDMA, 4096);
    q->page[0] = 's';
}

static void wait_fence(struct mock_queue *q, uint32_t value)
{
    const uint32_t fence[] = {0x00030005, LO(mem + 0x3fff0), HI(mem + 0x3fff0), value};
    mock_submit(q, fence, 4);
    ck_assert(mock_wait32(mem + 0x3fff0, value));
}

START_TEST(sdma_copy_and_fill)
{
    struct mock_queue q;
    sdma_queue(&q);
    for (unsigned i = 0; i < 1000; i++)
        mem[i] = i * 3;
    memset(mem + 2000, 0, 12000);
    const uint32_t p[] = {
        1,
        3999,
        0,
        LO(mem),
        HI(mem),
        LO(mem + 2000),
        HI(mem + 2000),
        11 | 2u << 30,
        LO(mem + 4000),
        HI(mem + 4000),
        0xabcdef01,
        399,
        2,
        LO(mem + 5000),
        HI(mem + 5000),
        1,
        77,
        78,
        1 | 1u << 27,
        15,
        0,
        LO(mem),
        HI(mem),
        LO(mem + 6000),
        HI(mem + 6000),
        LO(mem + 6100),
        HI(mem + 6100),
    };
    mock_submit(&q, p, COUNT(p));
    wait_fence(&q, 1);
    ck_assert(memcmp(mem, mem + 2000, 4000) == 0);
    ck_assert_uint_eq(mem[4000], 0xabcdef01);
    ck_assert_uint_eq(mem[4099], 0xabcdef01);
    ck_assert_uint_eq(mem[4100], 0);
    ck_assert_uint_eq(mem[5000], 77);
    ck_assert_uint_eq(mem[5001], 78);
    ck_assert_uint_eq(mem[6003], 9);
    ck_assert_uint_eq(mem[6103], 9);
    mock_queue_destroy(&q);
}
END_TEST

/* Blocks of 512 bytes that the memory of all buffers takes of the host's. */
static uint64_t blocks(void)
{
    char path[512];
    struct stat st;
    snprintf(path, sizeof(path), "%s/root/dev/dri/renderD128", getenv("RDNA3_STATE"));
    ck_assert_int_eq(stat(path, &st), 0);
    return (uint64_t)st.st_blocks;
}

/* Clearing much memory takes none of the host's, and gives back what was there. */
START_TEST(sdma_clear)
{
    const uint64_t bytes = 256ull << 20;
    struct mock_queue q;
    uint64_t handle, before = blocks();
    sdma_queue(&q);
    uint8_t *p = mock_buffer(bytes, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &handle);
    const uint64_t first = 4096 + 104, end = bytes - 4096 - 200;
    memset(p, 0x11, 64 << 20);
    memset(p + bytes - 8192, 0x22, 8192);
    const uint32_t clear[] = {11u | 2u << 30, LO(p + first), HI(p + first), 0,
                              (uint32_t)(end - first - 1)};
    mock_submit(&q, clear, COUNT(clear));
    ck_assert(mock_wait64(q.rptr, q.put));
    ck_assert_uint_lt(blocks() - before, 1024);
    ck_assert(p[first - 1] == 0x11 && p[first] == 0 && p[4 << 20] == 0);
    ck_assert(p[end - 1] == 0 && p[end] == 0x22 && p[bytes - 1] == 0x22);
    for (uint64_t at = first; at < end; at += 4093)
        ck_assert_uint_eq(p[at], 0);
    mock_buffer_free(p, bytes, handle);
    /* Private memory of the program, where there is nothing to give back. */
    const uint64_t own = 32ull << 20;
    p = mock_buffer(own, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, &handle);
    memset(p, 0x33, own);
    const uint32_t again[] = {11u | 2u << 30, LO(p), HI(p), 0, (uint32_t)(own - 5)};
    mock_submit(&q, again, COUNT(again));
    ck_assert(mock_wait64(q.rptr, q.put));
    ck_assert(p[0] == 0 && p[own / 2] == 0 && p[own - 5] == 0 && p[own - 4] == 0x33);
    mock_buffer_free(p, own, handle);
    mock_queue_destroy(&q);
}
END_TEST

START_TEST(sdma_rectangle)
{
    struct mock_queue q;
    sdma_queue(&q);
    uint8_t *src = (uint8_t *)mem, *dst = src + 65536;
    for (unsigned i = 0; i < 65536; i++)
        src[i] = (uint8_t)(i * 7 + (i >> 8));
    memset(dst, 0, 65536);
    /* 10 x 4 x 2 bytes from (3,2,1) with pitch 64, slice 1024 to (1,1,0), 32, 512 */
    const uint32_t p[] = {
        1 | 4u << 8, LO(src),      HI(src), 3 | 2u << 16, 1 | 63u << 13,
        1023,        LO(dst),      HI(dst), 1 | 1u << 16, 0 | 31u << 13,
        511,         9 | 3u << 16, 1,
    };
    mock_submit(&q, p, COUNT(p));
    wait_fence(&q, 2);
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 4; y++)
            for (unsigned x = 0; x < 10; x++)
                ck_assert_uint_eq(dst[(1 + x) + (1 + y) * 32 + z * 512],
                                  src[(3 + x) + (2 + y) * 64 + (1 + z) * 1024]);
    ck_assert_uint_eq(dst[0], 0);
    mock_queue_destroy(&q);
}
END_TEST

START_TEST(sdma_synchronisation)
{
    struct mock_queue q;
    sdma_queue(&q);
    uint64_t *wide = (uint64_t *)mem;
    struct kfd_ioctl_create_event_args e = {.event_type = KFD_IOC_EVENT_SIGNAL,
                                            .auto_reset = 1};
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_EVENT, &e), 0);
    wide[0] = 10;
    mem[8] = 0;
    wide[5] = 0;
    const uint32_t p[] = {
        8,
        0,
        0x80000000,
        0,
        0,
        0, /* HDP flush */
        17 | 1u << 8,
        0,
        0,
        0,
        0, /* GCR */
        8 | 3u << 28 | 1u << 31,
        LO(mem + 8),
        HI(mem + 8),
        5,
        0xff,
        0, /* until 5 */
        10 | 0x2fu << 25,
        LO(wide),
        HI(wide),
        0xffffffff,
        0xffffffff,
        0,
        0,
        0,
        13 | 2u << 8,
        LO(wide + 5),
        HI(wide + 5),
        6,
        e.event_id,
    };
    mock_submit(&q, p, COUNT(p));
    usleep(5000);
    ck_assert_uint_eq(wide[0], 10);
    __atomic_store_n(mem + 8, 0x105, __ATOMIC_RELEASE);
    struct kfd_event_data d = {.event_id = e.event_id};
    struct kfd_ioctl_wait_events_args w = {
        .events_ptr = (uintptr_t)&d, .num_events = 1, .timeout = 5000};
    ck_assert_int_eq(kfd(AMDKFD_IOC_WAIT_EVENTS, &w), 0);
    ck_assert_uint_eq(w.wait_result, KFD_IOC_WAIT_RESULT_COMPLETE);
    ck_assert_uint_eq(wide[0], 9);
    ck_assert(wide[5] > 0);
    mock_queue_destroy(&q);
}
END_TEST

/* A copy from nowhere is a page fault: memory event, and the queue stops. */
START_TEST(sdma_page_fault)
{
    struct mock_queue q;
    sdma_queue(&q);
    struct kfd_ioctl_create_event_args e = {.event_type = KFD_IOC_EVENT_MEMORY};
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_EVENT, &e), 0);
    const uint32_t p[] = {1, 63, 0, 0x12345678, 0x10, LO(mem), HI(mem)};
    mock_submit(&q, p, COUNT(p));
    struct kfd_event_data d = {.event_id = e.event_id};
    struct kfd_ioctl_wait_events_args w = {
        .events_ptr = (uintptr_t)&d, .num_events = 1, .timeout = 5000};
    ck_assert_int_eq(kfd(AMDKFD_IOC_WAIT_EVENTS, &w), 0);
    ck_assert_uint_eq(w.wait_result, KFD_IOC_WAIT_RESULT_COMPLETE);
    ck_assert_uint_eq(d.memory_exception_data.va, 0x1012345000);
    ck_assert_uint_eq(d.memory_exception_data.failure.NotPresent, 1);
    ck_assert_uint_eq(d.memory_exception_data.gpu_id, GPU_ID);
    ck_assert_uint_eq(*q.rptr, 0);
    mock_queue_destroy(&q);
}
END_TEST

/* Memory that the program unmaps without telling the driver faults like any other. */
START_TEST(vanished_memory)
{
    struct mock_queue q;
    sdma_queue(&q);
    struct kfd_ioctl_create_event_args e = {.event_type = KFD_IOC_EVENT_MEMORY};
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_EVENT, &e), 0);
    uint8_t *gone = mock_buffer(3 * 4096, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, NULL);
    gone[0] = 1;
    ck_assert_int_eq(munmap(gone + 4096, 4096), 0);
    const uint32_t p[] = {1, 3 * 4096 - 1, 0, LO(gone), HI(gone), LO(mem), HI(mem)};
    mock_submit(&q, p, COUNT(p));
    struct kfd_event_data d = {.event_id = e.event_id};
    struct kfd_ioctl_wait_events_args w = {
        .events_ptr = (uintptr_t)&d, .num_events = 1, .timeout = 5000};
    ck_assert_int_eq(kfd(AMDKFD_IOC_WAIT_EVENTS, &w), 0);
    ck_assert_uint_eq(w.wait_result, KFD_IOC_WAIT_RESULT_COMPLETE);
    ck_assert_uint_eq(d.memory_exception_data.va, (uintptr_t)gone + 4096);
    ck_assert_uint_eq(d.memory_exception_data.failure.NotPresent, 1);
    ck_assert_uint_eq(*q.rptr, 0);
    mock_queue_destroy(&q);
}
END_TEST

/* A queue that rests begins with its doorbell, before one that is rung after it and
 * spins: what that does as its second thing is seen last. A host that gives a thread no
 * CPU for milliseconds may have it otherwise now and then. */
START_TEST(rung_first)
{
    struct mock_queue sdma, pm4;
    unsigned in_order = 0;
    sdma_queue(&sdma);
    mock_queue_create(&pm4, KFD_IOC_QUEUE_TYPE_COMPUTE, 1 << 16);
    uint32_t *at = mem + 64, *body = mem + 1024;
    for (unsigned i = 0; i < 8192; i++)
        body[i] = 0xffff1000; /* NOP, one dword */
    const uint32_t write[] = {0xc0033700, 5u << 8 | 1u << 20, LO(at), HI(at), 2};
    memcpy(body + 8192, write, sizeof(write));
    const uint32_t warm[] = {0xc0033700, 5u << 8 | 1u << 20, LO(at + 1), HI(at + 1), 0};
    const uint32_t run[] = {0xc0023f00, LO(body), HI(body), 8192 + COUNT(write)};
    const uint32_t copied[] = {0x00030005, LO(at), HI(at), 1};
    for (unsigned i = 1; i <= 20; i++) {
        uint32_t w[COUNT(warm)];
        memcpy(w, warm, sizeof(w));
        w[4] = i;
        at[0] = 0;
        usleep(10000);
        mock_submit(&pm4, w, COUNT(w));
        ck_assert(mock_wait32(at + 1, i));
        mock_submit(&sdma, copied, COUNT(copied));
        mock_submit(&pm4, run, COUNT(run));
        ck_assert(mock_wait64(sdma.rptr, sdma.put));
        ck_assert(mock_wait64(pm4.rptr, pm4.put / 4));
        in_order += at[0] == 2;
    }
    ck_assert_uint_ge(in_order, 18);
    mock_queue_destroy(&pm4);
    mock_queue_destroy(&sdma);
}
END_TEST

int main(void)
{
    mock_begin();
    mem = mock_buffer(1 << 20, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    Suite *s = suite_create("sdma");
    TCase *t = tcase_create("queues");
    tcase_add_test(t, sdma_copy_and_fill);
    tcase_add_test(t, sdma_clear);
    tcase_add_test(t, sdma_rectangle);
    tcase_add_test(t, sdma_synchronisation);
    tcase_add_test(t, sdma_page_fault);
    tcase_add_test(t, vanished_memory);
    tcase_add_test(t, rung_first);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
