/* test_timed.c: queues under the timing model: timestamps, CU masks, preemption.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "aql.h"
#include "board.h"
#include "mock.h"
#include "config.h"
#include "shared.h"

#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define LO(p)         ((uint32_t)(uintptr_t)(p))
#define HI(p)         ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))
#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))

static uint32_t *mem;
static uint8_t *text;

/* Every workgroup stores HW_ID1 at its number:
 * s_getreg_b32 s4, hwreg(HW_REG_HW_ID1); s_lshl_b32 s5, s2, 2; v_mov_b32 v0, s5;
 * v_mov_b32 v1, s4; global_store_b32 v0, v1, s[0:1]; s_endpgm */
static const uint32_t place_code[] = {0xb884f817, 0x84058202, 0x7e000205, 0x7e020204,
                                      0xdc6a0000, 0x00000100, 0xbfb00000, 0xbf9f0000};

/* Counts at mem[8] until mem[0] is not 0; see test_packets.c. */
static const uint32_t spin_code[] = {0xf4000100, 0xf8000000, 0x7e000280, 0x7e020281,
                                     0xdcd60020, 0x00000100, 0xbf89fc07, 0xbf068004,
                                     0xbfa2fff7, 0xbfb00000, 0xbf9f0000};

/* Timestamp at mem[64], the dispatch, timestamp at mem[66], 1 at mem[100]. */
static void dispatch(struct mock_queue *q, const uint32_t *code, size_t bytes,
                     uint32_t groups)
{
    memcpy(text, code, bytes);
    const uint32_t p[] = {
        PM4(0x58, 7),
        0,
        0xffffffff,
        0xff,
        0,
        0,
        0,
        0x4381,
        PM4(0x76, 3),
        0x20c,
        LO((uintptr_t)text >> 8),
        HI((uintptr_t)text >> 8),
        PM4(0x76, 3),
        0x212,
        0,
        2u << 1 | 1u << 7,
        PM4(0x76, 3),
        0x240,
        LO(mem),
        HI(mem),
        PM4(0x76, 4),
        0x207,
        32,
        1,
        1,
        PM4(0x49, 7),
        0x514,
        3u << 29,
        LO(mem + 64),
        HI(mem + 64),
        0,
        0,
        0,
        PM4(0x15, 4),
        groups,
        1,
        1,
        0x8005,
        PM4(0x49, 7),
        0x514,
        3u << 29,
        LO(mem + 66),
        HI(mem + 66),
        0,
        0,
        0,
        PM4(0x49, 7),
        0x514,
        1u << 29,
        LO(mem + 100),
        HI(mem + 100),
        1,
        0,
        0,
    };
    mock_submit(q, p, COUNT(p));
}

static uint64_t run_places(struct mock_queue *q)
{
    memset(mem, 0, 4096);
    dispatch(q, place_code, sizeof(place_code), 32);
    ck_assert(mock_wait32(mem + 100, 1));
    uint64_t start, end;
    memcpy(&start, mem + 64, 8);
    memcpy(&end, mem + 66, 8);
    ck_assert_uint_gt(end, start);
    return end - start;
}

START_TEST(prepare)
{
    mem = mock_buffer(65536, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
}
END_TEST

/* Device time is the model's: the same each time, however busy the host is. The first
 * kernel of a queue walks to its code, and past directories that nobody has met. */
START_TEST(timestamps_repeat)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    uint64_t first = run_places(&q);
    ck_assert_uint_lt(first, 100000); /* 1 ms */
    uint64_t second = run_places(&q);
    ck_assert_uint_lt(second, first);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(run_places(&q), second);
    mock_queue_destroy(&q);
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    ck_assert_uint_eq(run_places(&q), first); /* another one's */
    mock_queue_destroy(&q);
}
END_TEST

/* AQL dispatches that wait for one another, behind a packet that holds them until both
 * are there: between them passes what a packet takes, and between two packets of other
 * kinds nothing. */
START_TEST(gap_between_dispatches)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, 4096);
    memset(mem, 0, 4096);
    struct amd_signal *s = (struct amd_signal *)mem;
    uint32_t *kd = (uint32_t *)(void *)text;
    memset(text, 0, 512);
    kd[KD_ENTRY / 4] = 256;
    kd[KD_PROPERTIES / 4] = KD_WAVE32;
    kd[64] = 0xbfb00000; /* s_endpgm */
    union aql_packet hold = {.barrier = {.header = AQL_BARRIER_AND | AQL_BARRIER,
                                         .dep = {(uintptr_t)&s[4]},
                                         .completion = (uintptr_t)&s[0]}};
    union aql_packet run = {.dispatch = {.header = AQL_DISPATCH | AQL_BARRIER,
                                         .setup = 1,
                                         .wg = {32, 1, 1},
                                         .grid = {32, 1, 1},
                                         .kernel_object = (uintptr_t)text}};
    for (unsigned i = 0; i < 5; i++)
        s[i].value = 1;
    mock_submit_aql(&q, &hold);
    for (unsigned i = 1; i < 3; i++) {
        run.dispatch.completion = (uintptr_t)&s[i];
        mock_submit_aql(&q, &run);
    }
    hold.barrier.completion = (uintptr_t)&s[3];
    mock_submit_aql(&q, &hold);
    __atomic_store_n(&s[4].value, 0, __ATOMIC_RELEASE);
    ck_assert(mock_wait64((uint64_t *)&s[3].value, 0));
    ck_assert_uint_gt(s[1].end, s[1].start);
    uint64_t gap = BOARD_AQL_DISPATCH_NS * BOARD_CLOCK_HZ / 1000000000u;
    ck_assert_uint_eq(s[1].start - s[0].end, gap);
    ck_assert_uint_eq(s[2].start - s[1].end, gap);
    ck_assert_uint_eq(s[3].start - s[2].end, 0);
    mock_queue_destroy(&q);
}
END_TEST

/* Clients convert the counter into host time: 10 ns a tick, never backwards. */
START_TEST(clocks_agree)
{
    struct kfd_ioctl_get_clock_counters_args a = {.gpu_id = GPU_ID}, b = a;
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_CLOCK_COUNTERS, &a), 0);
    usleep(20000);
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_CLOCK_COUNTERS, &b), 0);
    ck_assert_uint_gt(b.gpu_clock_counter, a.gpu_clock_counter);
    uint64_t gpu = b.gpu_clock_counter - a.gpu_clock_counter;
    ck_assert_uint_eq(gpu * 10, b.cpu_clock_counter - a.cpu_clock_counter);
    ck_assert_uint_eq(gpu * 10, b.system_clock_counter - a.system_clock_counter);
}
END_TEST

START_TEST(cu_mask)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    /* Pairs go round 6 engines, then 2 arrays: pair 1 is engine 1, pair 6 array 1. */
    uint32_t mask[3] = {3u << 2 | 3u << 12, 0, 0}, half = 1;
    struct kfd_ioctl_set_cu_mask_args m = {
        .queue_id = q.id, .num_cu_mask = 96, .cu_mask_ptr = (uintptr_t)mask};
    ck_assert_int_eq(kfd(AMDKFD_IOC_SET_CU_MASK, &m), 0);
    (void)run_places(&q);
    unsigned seen[2] = {0, 0};
    for (unsigned i = 0; i < 32; i++) {
        unsigned wgp = mem[i] >> 10 & 15, sa = mem[i] >> 16 & 1, se = mem[i] >> 18 & 7;
        ck_assert_uint_eq(wgp, 0);
        ck_assert((se == 1 && sa == 0) || (se == 0 && sa == 1));
        seen[sa]++;
    }
    ck_assert(seen[0] && seen[1]);
    m.num_cu_mask = 32;
    m.cu_mask_ptr = (uintptr_t)&half;
    ck_assert_int_eq(kfd(AMDKFD_IOC_SET_CU_MASK, &m), -EINVAL); /* half a WGP */
    mock_queue_destroy(&q);
}
END_TEST

static bool counts(void)
{
    uint32_t before = __atomic_load_n(mem + 8, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < 200; i++) {
        usleep(1000);
        if (__atomic_load_n(mem + 8, __ATOMIC_ACQUIRE) != before)
            return true;
    }
    return false;
}

START_TEST(preempt)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    memset(mem, 0, 4096);
    dispatch(&q, spin_code, sizeof(spin_code), 1);
    ck_assert(counts());
    struct kfd_ioctl_update_queue_args u = {
        .queue_id = q.id, .ring_base_address = (uintptr_t)q.ring, .ring_size = 4096};
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
    ck_assert(!counts());
    u.queue_percentage = 100;
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
    ck_assert(counts());
    mock_queue_destroy(&q);
    ck_assert(!counts());
}
END_TEST

int main(void)
{
    setenv(FRONT_ENV_TIMING, "2482", 1);
    mock_begin();
    Suite *s = suite_create("timed");
    TCase *t = tcase_create("queues");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, prepare);
    tcase_add_test(t, timestamps_repeat);
    tcase_add_test(t, gap_between_dispatches);
    tcase_add_test(t, clocks_agree);
    tcase_add_test(t, cu_mask);
    tcase_add_test(t, preempt);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
