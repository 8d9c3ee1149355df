/* news.c: counters in shared memory that threads of any process wait on, threads, and
 * locks that are not waited for as long as it takes.
 * SPDX-License-Identifier: MIT
 */
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define OURS_NS 20000000 /* that long a thread of the GPU waits, others a second */

void kmd_news(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void kmd_news_wait(_Atomic uint32_t *word, uint32_t seen, long nanoseconds)
{
    struct timespec most = {.tv_nsec = nanoseconds};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
}

bool kmd_thread(void *(*run)(void *), void *ctx)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&thread, NULL, run, ctx) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        pthread_detach(thread);
    return ok;
}

bool kmd_lock_soon(pthread_mutex_t *lock)
{
    struct timespec until;
    if (pthread_mutex_trylock(lock) == 0)
        return true;
    clock_gettime(CLOCK_REALTIME, &until);
    if (kmd_thread_is_ours())
        until.tv_nsec += OURS_NS;
    else
        until.tv_sec++;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_mutex_timedlock(lock, &until) == 0;
}
