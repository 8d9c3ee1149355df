/* test_threads.c: who goes first on a host that has much to do, where it lets us.
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../suite.h"
#include "gpu.h"

static atomic_int tid, ends;

static void *sleeper(void *arg)
{
    (void)arg;
    atomic_store(&tid, gettid());
    while (!atomic_load(&ends))
        usleep(1000);
    return NULL;
}

static bool allowed(void)
{
    gpu_thread_urgent(true);
    bool is = sched_getscheduler(0) != SCHED_OTHER;
    gpu_thread_urgent(false);
    return is;
}

/* A thread that an urgent one waits for is as urgent meanwhile; what it makes is not.
 */
START_TEST(lent)
{
    const int urgent = SCHED_RR | SCHED_RESET_ON_FORK;
    bool may = allowed();
    pthread_t thread;
    gpu_thread_urgent(true);
    ck_assert_int_eq(pthread_create(&thread, NULL, sleeper, NULL), 0);
    while (!atomic_load(&tid))
        usleep(1000);
    ck_assert_int_eq(sched_getscheduler(atomic_load(&tid)), SCHED_OTHER);
    gpu_thread_lend(thread, true);
    ck_assert_int_eq(sched_getscheduler(atomic_load(&tid)), may ? urgent : SCHED_OTHER);
    gpu_thread_lend(thread, false);
    ck_assert_int_eq(sched_getscheduler(atomic_load(&tid)), SCHED_OTHER);
    gpu_thread_urgent(false);
    ck_assert_int_eq(sched_getscheduler(0), SCHED_OTHER);
    gpu_thread_lend(thread, true); /* nothing to lend */
    ck_assert_int_eq(sched_getscheduler(atomic_load(&tid)), SCHED_OTHER);
    atomic_store(&ends, 1);
    pthread_join(thread, NULL);
}
END_TEST

/* Who was started behind others stays there. */
START_TEST(polite)
{
    if (getpriority(PRIO_PROCESS, 0) <= 0)
        ck_assert_int_eq(setpriority(PRIO_PROCESS, 0, 5), 0);
    gpu_thread_urgent(true);
    ck_assert_int_eq(sched_getscheduler(0), SCHED_OTHER);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("driver threads");
    TCase *t = tcase_create("all");
    tcase_add_test(t, lent);
    tcase_add_test(t, polite);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return suite_run(suite());
}
