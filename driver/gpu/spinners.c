/* spinners.c: threads of the program that spin while the GPU works.
 *
 * Beside a board a thread that looks at a signal again and again costs nothing; here it
 * takes the time of a CPU from the kernel that it waits for. HIP waits so wherever
 * there are more CPUs than GPUs. While a dispatch runs, threads of the program that are
 * never found asleep are therefore scheduled as SCHED_IDLE, and once the GPU has
 * nothing to do, as before. A thread that computes is, too, which costs it time only
 * where the GPU's threads would have to wait for it. Only where the kernel lets a
 * thread come back from there: by RLIMIT_NICE, or with CAP_SYS_NICE.
 *
 * Rules: the poller looks and lowers; whoever finds the GPU idle, or forks, gives back.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cp.h"

#define LOOK_NS  2000000ull
#define LIST_NS  50000000ull /* between looks for new threads */
#define PATIENCE 3u          /* looks without sleep; one, of a thread known to spin */

static struct gpu *_Atomic of_fork; /* whose threads a fork must not find lowered */

/* A thread gets its policy back where it may raise its priority. */
static bool can_give_back(void)
{
    int was = getpriority(PRIO_PROCESS, 0);
    return setpriority(PRIO_PROCESS, 0, was + 1) == 0 &&
           setpriority(PRIO_PROCESS, 0, was) == 0;
}

static bool set_policy(pid_t tid, int policy)
{
    const struct sched_param param = {.sched_priority = 0};
    return sched_setscheduler(tid, policy, &param) == 0;
}

static void give_back(struct spinner *s)
{
    if (s->lowered)
        (void)set_policy(s->tid, s->policy);
    s->lowered = false;
}

/* Lock held. */
static void give_all_back(struct spinners *all)
{
    for (unsigned i = 0; i < all->n; i++)
        give_back(&all->v[i]);
    atomic_store(&all->lowered, 0);
}

void gpu_spinners_release(struct gpu *gpu)
{
    struct spinners *all = &gpu->spinners;
    if (!atomic_load(&all->lowered))
        return;
    pthread_mutex_lock(&all->lock);
    give_all_back(all);
    pthread_mutex_unlock(&all->lock);
}

/* A child would keep the policy of the thread that forks: nobody lowers it before the
 * child is there. */
static void before_fork(void)
{
    struct gpu *gpu = atomic_load(&of_fork);
    pthread_mutex_lock(&gpu->spinners.lock);
    give_all_back(&gpu->spinners);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&atomic_load(&of_fork)->spinners.lock);
}

/* Once in a process and its children: they inherit the handlers. Called with the lock,
 * which no handler waits for before it is there. */
static bool watch_forks(struct gpu *gpu)
{
    bool there = atomic_exchange(&of_fork, gpu) != NULL;
    return there || pthread_atfork(before_fork, after_fork, after_fork) == 0;
}

/* Lock held. */
static void lower(struct gpu *gpu, struct spinner *s)
{
    struct spinners *all = &gpu->spinners;
    if (all->able == SPINNERS_UNTRIED) {
        bool able = can_give_back() && watch_forks(gpu);
        all->able = able ? SPINNERS_ABLE : SPINNERS_UNABLE;
    }
    if (all->able != SPINNERS_ABLE)
        return;
    s->policy = sched_getscheduler(s->tid);
    if ((s->policy != SCHED_OTHER && s->policy != SCHED_BATCH) ||
        !set_policy(s->tid, SCHED_IDLE))
        return;
    s->lowered = s->known = true;
    atomic_fetch_add(&all->lowered, 1);
}

/* The letter of a thread's state; 0: it has gone, or is one of ours. */
static char state_of(pid_t tid)
{
    char path[64], text[256];
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (!name || !end || end[1] != ' ' || memcmp(name + 1, "rdna3 ", 6) == 0)
        return '\0';
    return end[2];
}

static bool listed(const struct spinners *all, pid_t tid)
{
    for (unsigned i = 0; i < all->n; i++)
        if (all->v[i].tid == tid)
            return true;
    return false;
}

/* Enter the program's threads that are not there yet, as far as there is room. */
static void list_threads(struct spinners *all)
{
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
        if (tid > 0 && all->n < SPINNERS_MAX && !listed(all, tid) && state_of(tid))
            all->v[all->n++] = (struct spinner){.tid = tid};
    }
    if (dir)
        closedir(dir);
}

void gpu_spinners_look(struct gpu *gpu, uint64_t now_ns)
{
    struct spinners *all = &gpu->spinners;
    if (now_ns - all->looked_ns < LOOK_NS || all->able == SPINNERS_UNABLE)
        return;
    /* What was found before counts if the GPU has worked ever since. */
    bool anew = now_ns - all->looked_ns > 4 * LOOK_NS;
    all->looked_ns = now_ns;
    pthread_mutex_lock(&all->lock);
    if (now_ns - all->listed_ns > LIST_NS) {
        all->listed_ns = now_ns;
        list_threads(all);
    }
    for (unsigned i = 0; i < all->n;) {
        struct spinner *s = &all->v[i];
        char state = state_of(s->tid);
        if (!state) {
            *s = all->v[--all->n];
            continue;
        }
        s->awake = state != 'R' ? 0 : anew ? 1 : s->awake + 1;
        if (!s->lowered && s->awake >= (s->known ? 1 : PATIENCE))
            lower(gpu, s);
        i++;
    }
    pthread_mutex_unlock(&all->lock);
}

bool gpu_program_runs(void)
{
    DIR *dir = opendir("/proc/self/task");
    bool runs = false;
    for (struct dirent *e; dir && !runs && (e = readdir(dir));) {
        pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
        runs = tid > 0 && state_of(tid) == 'R';
    }
    if (dir)
        closedir(dir);
    return runs;
}
