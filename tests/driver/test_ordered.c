/* test_ordered.c: how dispatches of several queues are ordered for the race checker,
 * and that its records stand queues of many threads. Links ordered.c alone: memory,
 * queues and the checker's end are here. SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../suite.h"
#include "aql.h"
#include "checkers.h"
#include "cp.h"
#include "heap.h"

#define QUEUES  4u /* AQL, and SDMA behind them */
#define PACKETS 24u
#define RING    64u
#define COPIES  30u

/* Guest memory in words of 8 bytes. */
enum { WPTR, RPTR = WPTR + 8, SIGNAL = RPTR + 8, RINGS = SIGNAL + 8 };
static _Atomic uint64_t memory[RINGS + QUEUES * RING * 8];

static struct ck_table table = {.want_classes = CK_BIT(CK_RACE)};
static struct gpu gpu;
static struct gpu_queue queues[QUEUES + 1];
static uint64_t bell, checker; /* what the checker keeps, without a lock */
static _Atomic uint64_t copied, rptr;

static const struct timespec nap = {0, 200000};

static uint64_t va_of(unsigned word)
{
    return 8ul * (word + 1ul);
}

bool vm_read(struct gpu *g, unsigned space, uint64_t va, void *to, uint64_t bytes)
{
    uint64_t word = atomic_load(&memory[va / 8 - 1]);
    (void)g;
    (void)space;
    memcpy(to, &word, bytes < sizeof word ? bytes : sizeof word);
    return true;
}

uint64_t gpu_queue_rptr(const struct gpu_queue *q)
{
    (void)q;
    return atomic_load(&rptr);
}

bool gpu_program_runs(void)
{
    return false;
}

struct ck_table *ck_table_open(const char *path)
{
    (void)path;
    return &table;
}

void ck_copied(struct ck *ck, const struct ck_before *before,
               const struct ck_copy *copy)
{
    (void)ck;
    (void)before;
    ck_assert_uint_eq(copy->bytes, 64);
    checker++;
    atomic_fetch_add(&copied, 1);
}

static void setup(void)
{
    memset(memory, 0, sizeof memory);
    memset(queues, 0, sizeof queues);
    memset(&gpu, 0, sizeof gpu);
    copied = rptr = bell = 0;
    pthread_mutex_init(&gpu.queue_lock, NULL);
    pthread_mutex_init(&gpu.checks.lock, NULL);
    gpu.checks.ck = (void *)&table; /* somebody checks */
    gpu.checks.orders = cp_orders_create("");
    ck_assert_ptr_nonnull(gpu.checks.orders);
    gpu.n_queues = QUEUES + 1;
    for (unsigned i = 0; i <= QUEUES; i++) {
        struct gpu_queue *q = gpu.queues[i] = &queues[i];
        q->gpu = &gpu;
        q->doorbell = &bell;
        q->config.kind = i == QUEUES ? GPU_QUEUE_SDMA : GPU_QUEUE_AQL;
        q->config.wptr = va_of(WPTR + i);
        q->config.rptr = va_of(RPTR + i);
        q->config.ring = va_of(RINGS + i % QUEUES * RING * 8);
        q->config.ring_bytes = RING * AQL_PACKET_BYTES;
    }
}

static void teardown(void)
{
    cp_orders_destroy(gpu.checks.orders);
}

/* So many packets of the queue are there, without barrier bits. */
static void submit(unsigned queue, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++) {
        unsigned word = RINGS + queue * RING * 8 + (unsigned)(k % RING) * 8;
        atomic_store(&memory[word], AQL_INVALID + 1);
    }
    atomic_store(&memory[WPTR + queue], n);
}

/* A dispatch in that packet; what it is beside of. */
static struct ck_before run(unsigned queue, uint64_t packet, bool barrier)
{
    struct gpu_queue *q = &queues[queue];
    struct ck_before before;
    cp_order_packet(q, packet, barrier);
    q->packet = packet;
    pthread_mutex_lock(&gpu.checks.lock);
    cp_order_begin(q, &before);
    checker++;
    nanosleep(&nap, NULL); /* others go on meanwhile */
    checker++;
    cp_order_end(q);
    pthread_mutex_unlock(&gpu.checks.lock);
    ck_assert_uint_eq(before.apart & ~before.kept, 0);
    ck_assert(before.slot == CK_PAST || !(before.kept >> before.slot & 1));
    atomic_store(&memory[RPTR + queue], packet + 1);
    return before;
}

START_TEST(order)
{
    submit(0, 4);
    submit(1, 2);
    struct ck_before first = run(0, 0, false), next = run(0, 1, false);
    ck_assert_uint_eq(first.kept, 0);
    ck_assert_uint_eq(next.kept, UINT64_C(1) << first.slot);
    ck_assert_uint_eq(next.apart, next.kept); /* nothing orders them */
    uint64_t both = next.kept | UINT64_C(1) << next.slot;
    struct ck_before behind = run(0, 2, true); /* a barrier bit does */
    ck_assert_uint_eq(behind.kept, both);
    ck_assert_uint_eq(behind.apart, 0);
    struct ck_before other = run(1, 0, false); /* another queue */
    ck_assert_uint_eq(other.apart, both | UINT64_C(1) << behind.slot);
    cp_order_write(&queues[0], va_of(SIGNAL), 1, 0); /* by who is behind of all three */
    cp_order_wait(&queues[1], va_of(SIGNAL));
    ck_assert_uint_eq(run(1, 1, false).apart, UINT64_C(1) << other.slot);
}
END_TEST

/* ---- threads ---- */

static void *work(void *arg)
{
    unsigned i = (unsigned)(uintptr_t)arg;
    for (uint64_t at = 0; at < PACKETS; at++) {
        while (atomic_load(&memory[WPTR + i]) <= at)
            sched_yield();
        if (at % 4 == 1)
            cp_order_wait(&queues[i], va_of(SIGNAL + (i + 1) % QUEUES));
        (void)run(i, at, at % 3 == 0);
        cp_order_write(&queues[i], va_of(SIGNAL + i), (int64_t)at, (int64_t)at + 1);
    }
    return NULL;
}

static void *copy(void *arg)
{
    (void)arg;
    for (uint64_t at = 0; at < COPIES; at++) {
        cp_order_packet(&queues[QUEUES], at, true);
        cp_order_copy(&queues[QUEUES], 4096, 8192, 64);
        for (unsigned i = 0; i < 8; i++) /* few enough to leave dispatches slots */
            nanosleep(&nap, NULL);
        atomic_store(&rptr, at + 1);
    }
    return NULL;
}

START_TEST(threads)
{
    pthread_t thread[QUEUES + 1];
    bell = COPIES;
    for (unsigned i = 0; i <= QUEUES; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, i < QUEUES ? work : copy,
                                        (void *)(uintptr_t)i),
                         0);
    for (uint64_t n = 1; n <= PACKETS; n++)
        for (unsigned i = 0; i < QUEUES; i++)
            submit(i, n);
    for (unsigned i = 0; i <= QUEUES; i++)
        pthread_join(thread[i], NULL);
    submit(0, PACKETS + 1);
    struct ck_before last = run(0, PACKETS, true);
    ck_assert_uint_eq(last.kept, 0); /* all queues are through */
    ck_assert_uint_gt(copied, 0);
    ck_assert_uint_le(copied, COPIES); /* those beside of nothing are not judged */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ordered");
    TCase *tc = tcase_create("order");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, order);
    tcase_add_test(tc, threads);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
