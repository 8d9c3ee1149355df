/* test_sharing.c: dispatches of several queues under the timing model share the chip:
 * what is ready at the same time begins so, delays the others as on one chip, and takes
 * as long each time; one that fails or goes away leaves the others what they are.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "aql.h"
#include "board.h"
#include "config.h"
#include "mock.h"
#include "shared.h"

#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define LO(p)         ((uint32_t)(uintptr_t)(p))
#define HI(p)         ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))
#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))
#define GAP           (BOARD_AQL_DISPATCH_NS * BOARD_CLOCK_HZ / 1000000000u)
#define TURNS         5 /* runs that must be alike */
#define PRIORITY      7

/* Of a queue's memory, ARGUMENTS words each: one that kernels wait for, one where they
 * add; behind all, the signals of each. */
enum {
    FLAG = 0,
    COUNT_AT = 16,
    ARGUMENTS = 32,
    SIGNALS = 256,
    PER_QUEUE = 16,
    MOST = 4
};

enum what { WORK, SPIN, FAULTS, KINDS };

/* s[0:1]: the memory. */
static const uint32_t code[KINDS][64] = {
    /* Counts in v1, without memory: as long as its VALU needs. */
    [WORK] = {0xb0040040,             /* s_movk_i32 s4, 64 */
              0x06020300, 0x10040301, /* v_add_f32 v1, v0, v1; v_mul_f32 v2, v1, v1 */
              0x06060503, 0x10080701, /* v_add_f32 v3, v3, v2; v_mul_f32 v4, v1, v3 */
              0x80848104, 0xbf078004, /* s_sub_u32 s4, s4, 1; s_cmp_lg_u32 s4, 0 */
              0xbfa2fff9,             /* s_cbranch_scc1 to the first v_add_f32 */
              0xbfb00000},
    /* Adds 1 at COUNT_AT until FLAG is not 0; see test_packets.c. */
    [SPIN] = {0xf4000100, 0xf8000000, 0x7e000280, 0x7e020281, 0xdcd60040, 0x00000100,
              0xbf89fc07, 0xbf068004, 0xbfa2fff7, 0xbfb00000},
    [FAULTS] = {0x7e000280, 0x7e020280, /* v_mov_b32 v0, 0; v_mov_b32 v1, 0 */
                0xdc520000, 0x027c0000, /* global_load_b32 v2, v[0:1], off */
                0xbf8903f7,             /* s_waitcnt vmcnt(0) */
                0xbfb00000},
};

static uint8_t *text;
static uint32_t *mem;

static struct amd_signal *signals(unsigned queue)
{
    struct amd_signal *s = (struct amd_signal *)(void *)(mem + SIGNALS);
    return s + (size_t)queue * PER_QUEUE;
}

static void clear(void)
{
    memset(mem, 0, 16384);
    for (unsigned k = 0; k < MOST * PER_QUEUE; k++)
        signals(0)[k].value = 1;
}

static void *descriptor(enum what what)
{
    return text + (size_t)what * 1024;
}

START_TEST(prepare)
{
    mem = mock_buffer(65536, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    for (unsigned k = 0; k < KINDS; k++) {
        uint32_t *kd = descriptor(k);
        kd[KD_ENTRY / 4] = 256;
        kd[KD_RSRC1 / 4] = 1u | 0xf0u << 12;
        kd[KD_RSRC2 / 4] = 2u << 1 | 1u << 7;
        uint16_t properties = KD_WAVE32 | KD_KERNARG_PTR;
        memcpy((uint8_t *)kd + KD_PROPERTIES, &properties, sizeof properties);
        memcpy(kd + 64, code[k], sizeof code[k]);
    }
}
END_TEST

/* dep: wait for it; NULL: for nothing. done: is completed. */
static void put_barrier(struct mock_queue *q, struct amd_signal *dep,
                        struct amd_signal *done)
{
    union aql_packet p = {.barrier = {.header = AQL_BARRIER_AND | AQL_BARRIER,
                                      .dep = {(uintptr_t)dep},
                                      .completion = (uintptr_t)done}};
    mock_submit_aql(q, &p);
}

static void put(struct mock_queue *q, enum what what, uint32_t groups, uint16_t barrier,
                struct amd_signal *done)
{
    size_t queue = (size_t)(done - signals(0)) / PER_QUEUE;
    union aql_packet p = {.dispatch = {.header = AQL_DISPATCH | barrier,
                                       .setup = 1,
                                       .wg = {256, 1, 1},
                                       .grid = {256 * groups, 1, 1},
                                       .kernarg = (uintptr_t)(mem + queue * ARGUMENTS),
                                       .kernel_object = (uintptr_t)descriptor(what),
                                       .completion = (uintptr_t)done}};
    mock_submit_aql(q, &p);
}

static bool is_done(const struct amd_signal *s)
{
    return mock_wait64((const uint64_t *)&s->value, 0);
}

static void create(struct mock_queue *q, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        mock_queue_create(&q[k], KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, 4096);
}

static void destroy(struct mock_queue *q, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        mock_queue_destroy(&q[k]);
}

/* One dispatch on each queue, held until all are there. Each one's time. */
static void run_at_once(unsigned n, const uint32_t *groups, uint64_t *ticks,
                        uint64_t *whole)
{
    struct mock_queue q[MOST];
    struct amd_signal *hold = &signals(0)[PER_QUEUE - 1];
    uint64_t first = UINT64_MAX, last = 0;
    clear();
    create(q, n);
    for (unsigned k = 0; k < n; k++) {
        put_barrier(&q[k], hold, NULL);
        put(&q[k], WORK, groups[k], AQL_BARRIER, &signals(k)[0]);
    }
    __atomic_store_n(&hold->value, 0, __ATOMIC_RELEASE);
    for (unsigned k = 0; k < n; k++) {
        const struct amd_signal *s = &signals(k)[0];
        ck_assert(is_done(s));
        ticks[k] = s->end - s->start;
        first = s->start < first ? s->start : first;
        last = s->end > last ? s->end : last;
    }
    *whole = last - first;
    destroy(q, n);
}

START_TEST(one_delays_the_other)
{
    uint64_t alone, both[2], whole, small[2];
    run_at_once(1, (uint32_t[]){192}, &alone, &whole);
    run_at_once(2, (uint32_t[]){192, 192}, both, &whole);
    ck_assert_uint_gt(10 * both[0], 16 * alone);
    ck_assert_uint_gt(10 * both[1], 16 * alone);
    ck_assert_uint_lt(10 * whole, 21 * alone);
    run_at_once(1, (uint32_t[]){24}, &alone, &whole);
    run_at_once(2, (uint32_t[]){24, 24}, small, &whole); /* there is room */
    ck_assert_uint_lt(10 * small[0], 17 * alone);
    ck_assert_uint_lt(10 * small[1], 17 * alone);
    ck_assert_uint_lt(10 * whole, 17 * alone);
}
END_TEST

START_TEST(they_take_as_long_each_time)
{
    uint64_t first[3], again[3], whole, whole_again;
    const uint32_t groups[3] = {192, 40, 100};
    run_at_once(3, groups, first, &whole);
    for (unsigned i = 1; i < TURNS; i++) {
        run_at_once(3, groups, again, &whole_again);
        ck_assert_uint_eq(whole_again, whole);
        ck_assert_mem_eq(again, first, sizeof first);
    }
}
END_TEST

/* Beside one long dispatch: a chain on another queue, a third that waits for a part of
 * it, and what becomes ready so begins when it does. */
static void run_chain(uint64_t at[4][2])
{
    struct mock_queue q[3];
    struct amd_signal *hold = &signals(0)[PER_QUEUE - 1];
    struct amd_signal *s[4] = {&signals(0)[0], &signals(1)[0], &signals(1)[1],
                               &signals(2)[0]};
    clear();
    create(q, 3);
    put_barrier(&q[0], hold, NULL);
    put(&q[0], WORK, 900, AQL_BARRIER, s[0]);
    put_barrier(&q[1], hold, NULL);
    put(&q[1], WORK, 30, AQL_BARRIER, s[1]);
    put(&q[1], WORK, 30, AQL_BARRIER, s[2]);
    put_barrier(&q[2], s[1], NULL);
    put(&q[2], WORK, 30, AQL_BARRIER, s[3]);
    __atomic_store_n(&hold->value, 0, __ATOMIC_RELEASE);
    for (unsigned k = 0; k < 4; k++)
        ck_assert(is_done(s[k]));
    for (unsigned k = 0; k < 4; k++) {
        at[k][0] = s[k]->start - s[0]->start;
        at[k][1] = s[k]->end - s[0]->start;
    }
    destroy(q, 3);
}

START_TEST(who_becomes_ready_joins)
{
    uint64_t first[4][2], again[4][2];
    run_chain(first);
    ck_assert_uint_eq(first[1][0], 0);
    ck_assert_uint_eq(first[2][0], first[1][1] + GAP);
    ck_assert_uint_eq(first[3][0], first[1][1] + GAP);
    ck_assert_uint_lt(first[2][1], first[0][1]);
    for (unsigned i = 1; i < TURNS; i++) {
        run_chain(again);
        ck_assert_mem_eq(again, first, sizeof first);
    }
}
END_TEST

/* Four dispatches of one queue, the last behind all others; barrier: so is each. */
static void run_packets(uint16_t barrier, uint64_t at[4][2])
{
    struct mock_queue q;
    struct amd_signal *hold = &signals(0)[PER_QUEUE - 1], *s = signals(0);
    const uint32_t groups[4] = {150, 40, 150, 10};
    clear();
    create(&q, 1);
    put_barrier(&q, hold, NULL);
    for (unsigned k = 0; k < 4; k++)
        put(&q, WORK, groups[k], k == 3 ? AQL_BARRIER : barrier, &s[k]);
    __atomic_store_n(&hold->value, 0, __ATOMIC_RELEASE);
    for (unsigned k = 0; k < 4; k++)
        ck_assert(is_done(&s[k]));
    for (unsigned k = 0; k < 4; k++) {
        at[k][0] = s[k].start - s[0].start;
        at[k][1] = s[k].end - s[0].start;
    }
    for (unsigned i = 0; i < 5000 && *q.rptr != 5; i++)
        usleep(1000);
    ck_assert_uint_eq(*q.rptr, 5);
    for (unsigned k = 0; k < 5; k++)
        ck_assert_uint_eq(q.ring[(size_t)k * AQL_PACKET_BYTES], AQL_INVALID);
    destroy(&q, 1);
}

START_TEST(packets_without_the_bit_overlap)
{
    uint64_t apart[4][2], first[4][2], again[4][2];
    run_packets(AQL_BARRIER, apart);
    run_packets(0, first);
    for (unsigned k = 1; k < 4; k++)
        ck_assert_uint_eq(apart[k][0], apart[k - 1][1] + GAP);
    for (unsigned k = 1; k < 3; k++) {
        ck_assert_uint_ge(first[k][0], first[k - 1][0] + GAP);
        ck_assert_uint_le(first[k][0], first[k - 1][0] + GAP + 8); /* a window */
        ck_assert_uint_lt(first[k][0], first[0][1]);
    }
    uint64_t end = first[0][1] > first[2][1] ? first[0][1] : first[2][1];
    ck_assert_uint_lt(end, apart[2][1]);
    ck_assert_uint_ge(first[3][0], end + GAP);
    for (unsigned i = 1; i < TURNS; i++) {
        run_packets(0, again);
        ck_assert_mem_eq(again, first, sizeof first);
    }
}
END_TEST

static uint32_t load(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static bool counts_within(unsigned queue, unsigned ms)
{
    const uint32_t *at = mem + COUNT_AT + (size_t)queue * ARGUMENTS;
    uint32_t before = load(at);
    for (unsigned i = 0; i < ms; i++) {
        usleep(1000);
        if (load(at) != before)
            return true;
    }
    return false;
}

/* A busy host may take its time. */
static bool counts_at(unsigned queue)
{
    return counts_within(queue, 20000);
}

static bool stands_at(unsigned queue)
{
    return !counts_within(queue, 300);
}

static void end_spin(void)
{
    for (unsigned k = 0; k < MOST; k++)
        __atomic_store_n(mem + FLAG + (size_t)k * ARGUMENTS, 1, __ATOMIC_RELEASE);
}

static bool counts(void)
{
    return counts_at(0);
}

/* One that waits for what only comes once the other has ended, and been told of. */
START_TEST(one_waits_for_the_other)
{
    struct mock_queue q[2];
    clear();
    create(q, 2);
    put(&q[0], SPIN, 1, AQL_BARRIER, &signals(0)[0]);
    ck_assert(counts());
    put(&q[1], WORK, 40, AQL_BARRIER, &signals(1)[0]);
    ck_assert(is_done(&signals(1)[0]));
    ck_assert(counts());
    put(&q[1], WORK, 10, AQL_BARRIER, &signals(1)[1]);
    ck_assert(is_done(&signals(1)[1]));
    ck_assert_int_eq(signals(0)[0].value, 1);
    end_spin();
    ck_assert(is_done(&signals(0)[0]));
    destroy(q, 2);
}
END_TEST

START_TEST(one_goes_away)
{
    struct mock_queue q[2];
    clear();
    create(q, 2);
    put(&q[0], SPIN, 1, AQL_BARRIER, &signals(0)[0]);
    ck_assert(counts());
    put(&q[1], SPIN, 1, AQL_BARRIER, &signals(1)[0]);
    put(&q[1], WORK, 50, AQL_BARRIER, &signals(1)[1]);
    ck_assert(counts_at(1));
    mock_queue_destroy(&q[0]);
    ck_assert(stands_at(0) && counts_at(1));
    end_spin();
    ck_assert(is_done(&signals(1)[1]));
    ck_assert_int_eq(signals(0)[0].value, 1);
    mock_queue_destroy(&q[1]);
}
END_TEST

static void suspend(const struct mock_queue *q, bool suspended)
{
    struct kfd_ioctl_update_queue_args u = {.queue_id = q->id,
                                            .ring_base_address = (uintptr_t)q->ring,
                                            .ring_size = 4096,
                                            .queue_percentage = suspended ? 0 : 100,
                                            .queue_priority = PRIORITY};
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
}

START_TEST(one_is_suspended)
{
    struct mock_queue q[2];
    clear();
    create(q, 2);
    put(&q[0], SPIN, 1, AQL_BARRIER, &signals(0)[0]);
    put(&q[1], SPIN, 1, AQL_BARRIER, &signals(1)[0]);
    ck_assert(counts_at(0) && counts_at(1));
    for (unsigned k = 0; k < 2; k++) {
        suspend(&q[k], true);
        ck_assert(counts_at(!k) && stands_at(k));
        suspend(&q[k], false);
        ck_assert(counts_at(!k));
        ck_assert(counts_at(k));
    }
    end_spin();
    ck_assert(is_done(&signals(0)[0]));
    ck_assert(is_done(&signals(1)[0]));
    destroy(q, 2);
}
END_TEST

/* While the only one that runs stands still, others come, go on and go away. */
START_TEST(others_come_while_one_is_suspended)
{
    struct mock_queue q[3];
    clear();
    create(q, 3);
    put(&q[0], SPIN, 1, AQL_BARRIER, &signals(0)[0]);
    ck_assert(counts_at(0));
    suspend(&q[0], true);
    ck_assert(stands_at(0));
    put(&q[1], WORK, 40, AQL_BARRIER, &signals(1)[0]);
    put(&q[1], WORK, 10, AQL_BARRIER, &signals(1)[1]);
    ck_assert(is_done(&signals(1)[0]));
    ck_assert(is_done(&signals(1)[1]));
    put(&q[2], SPIN, 1, AQL_BARRIER, &signals(2)[0]);
    ck_assert(counts_at(2) && stands_at(0));
    mock_queue_destroy(&q[2]);
    ck_assert(stands_at(0));
    suspend(&q[0], false);
    ck_assert(counts_at(0));
    end_spin();
    ck_assert(is_done(&signals(0)[0]));
    destroy(q, 2);
}
END_TEST

/* A fault is the queue's whose wave it was, whoever came first. */
START_TEST(one_faults)
{
    for (unsigned who = 0; who < 2; who++) {
        struct mock_queue q[2];
        struct amd_signal *hold = &signals(0)[PER_QUEUE - 1];
        char prefix[32];
        clear();
        create(q, 2);
        for (unsigned k = 0; k < 2; k++) {
            put_barrier(&q[k], hold, NULL);
            put(&q[k], k == who ? FAULTS : WORK, 100, AQL_BARRIER, &signals(k)[0]);
        }
        uint64_t faults = mock_counters()->faults;
        __atomic_store_n(&hold->value, 0, __ATOMIC_RELEASE);
        ck_assert(is_done(&signals(!who)[0]));
        for (unsigned i = 0; i < 5000 && mock_counters()->faults == faults; i++)
            usleep(1000);
        ck_assert_uint_eq(mock_counters()->faults, faults + 1);
        snprintf(prefix, sizeof prefix, "queue %u: page fault at 0x0", q[who].id);
        ck_assert_msg(strstr(mock_line, prefix) != NULL, "%s", mock_line);
        ck_assert_int_eq(signals(who)[0].value, 1);
        destroy(q, 2);
    }
}
END_TEST

int main(void)
{
    setenv(FRONT_ENV_TIMING, "2482", 1);
    mock_begin();
    Suite *s = suite_create("sharing");
    TCase *t = tcase_create("queues");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, prepare);
    tcase_add_test(t, one_delays_the_other);
    tcase_add_test(t, they_take_as_long_each_time);
    tcase_add_test(t, who_becomes_ready_joins);
    tcase_add_test(t, packets_without_the_bit_overlap);
    tcase_add_test(t, one_waits_for_the_other);
    tcase_add_test(t, one_goes_away);
    tcase_add_test(t, one_is_suspended);
    tcase_add_test(t, others_come_while_one_is_suspended);
    tcase_add_test(t, one_faults);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
