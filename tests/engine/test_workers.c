/* test_workers.c: threads that stay from one dispatch to the next.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../suite.h"
#include "emu.h"
#include "workers.h"

/* Threads of this process. */
static unsigned threads(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void nap(void)
{
    const struct timespec t = {0, 1000000};
    nanosleep(&t, NULL);
}

struct work {
    atomic_uint came, may_go, misnamed;
    char name[16];
};

static void work(void *arg)
{
    struct work *w = arg;
    char name[16];
    prctl(PR_GET_NAME, name, 0ul, 0ul, 0ul);
    atomic_fetch_add(&w->misnamed, strcmp(name, w->name) != 0);
    atomic_fetch_add(&w->came, 1);
    while (!atomic_load(&w->may_go))
        nap();
}

static void wait_for(struct work *w, unsigned n)
{
    while (atomic_load(&w->came) < n)
        nap();
}

static void call_three(struct workers *ws, const char *name)
{
    struct work w = {.came = 0};
    struct crew crew;
    snprintf(w.name, sizeof w.name, "%s", name);
    prctl(PR_SET_NAME, name, 0ul, 0ul, 0ul);
    crew_begin(ws, &crew, work, &w);
    crew_call(&crew, 3);
    wait_for(&w, 3);
    atomic_store(&w.may_go, 1);
    crew_end(&crew);
    ck_assert_uint_eq(atomic_load(&w.came), 3);
    ck_assert_uint_eq(atomic_load(&w.misnamed), 0);
}

static void *nothing(void *arg)
{
    return arg;
}

/* Sanitizers start a thread of their own beside the first one: not to be counted. */
static void first_thread(void)
{
    pthread_t id;
    ck_assert_int_eq(pthread_create(&id, NULL, nothing, NULL), 0);
    ck_assert_int_eq(pthread_join(id, NULL), 0);
}

START_TEST(same_threads_again)
{
    struct workers *ws;
    ck_assert_int_eq(workers_create(&ws), RD_OK);
    first_thread();
    unsigned before = threads();
    call_three(ws, "first");
    ck_assert_uint_eq(threads(), before + 3);
    for (unsigned i = 0; i < 50; i++)
        call_three(ws, i % 2 ? "first" : "second");
    ck_assert_uint_le(threads(), before + 3);
    workers_destroy(ws);
    ck_assert_uint_eq(threads(), before);
}
END_TEST

/* Who calls nobody waits for nobody; who is not there in time need not come. */
START_TEST(nobody_comes)
{
    struct workers *ws;
    struct work w = {.may_go = 1};
    struct crew crew;
    ck_assert_int_eq(workers_create(&ws), RD_OK);
    crew_begin(ws, &crew, work, &w);
    crew_end(&crew);
    ck_assert_uint_eq(atomic_load(&w.came), 0);
    for (unsigned i = 0; i < 2000; i++) {
        crew_begin(ws, &crew, work, &w);
        crew_call(&crew, 2);
        crew_end(&crew);
    }
    unsigned came = atomic_load(&w.came);
    for (unsigned i = 0; i < 20; i++)
        nap();
    ck_assert_uint_eq(atomic_load(&w.came), came);
    workers_destroy(ws);
}
END_TEST

/* While one dispatch has all threads, another is not promised any, unless the first
 * stands still. */
START_TEST(paused_threads_are_replaced)
{
    struct workers *ws;
    struct work first = {.came = 0}, second = {.came = 0};
    struct crew a, b;
    ck_assert_int_eq(workers_create(&ws), RD_OK);
    prctl(PR_GET_NAME, first.name, 0ul, 0ul, 0ul);
    memcpy(second.name, first.name, sizeof first.name);
    unsigned before = threads();
    crew_begin(ws, &a, work, &first);
    crew_call(&a, 1);
    wait_for(&first, 1);
    crew_begin(ws, &b, work, &second);
    crew_call(&b, 1);
    ck_assert_uint_eq(threads(), before + 1);
    crew_end(&b);
    crew_pause(&a, true);
    crew_begin(ws, &b, work, &second);
    crew_call(&b, 1);
    wait_for(&second, 1);
    crew_pause(&a, false);
    atomic_store(&second.may_go, 1);
    atomic_store(&first.may_go, 1);
    crew_end(&b);
    crew_end(&a);
    workers_destroy(ws);
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* which cannot start threads in a child */
START_TEST(after_fork)
{
    struct workers *ws;
    int status;
    ck_assert_int_eq(workers_create(&ws), RD_OK);
    call_three(ws, "parent");
    pid_t child = fork();
    if (child == 0) {
        call_three(ws, "child");
        workers_destroy(ws);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    workers_destroy(ws);
}
END_TEST
#endif

#define PAGE 4096u

/* Threads that a dispatch of so many workgroups adds to those there are. */
static unsigned threads_after(struct emu *emu, const void *code, uint32_t groups,
                              uint32_t rounds)
{
    unsigned before = threads();
    struct emu_dispatch d = {.entry = (uintptr_t)code,
                             .groups = {groups, 1, 1},
                             .block = {32, 1, 1},
                             .n_user_sgprs = 1,
                             .user_sgpr = {rounds}};
    struct emu_stats stats = {0};
    ck_assert_int_eq(emu_run(emu, &d, NULL, &stats), RD_OK);
    ck_assert_uint_eq(stats.workgroups, groups);
    return threads() - before;
}

/* Threads are made only when a dispatch has turned out to be long. */
START_TEST(small_dispatches_wake_nobody)
{
    /* s_sub_u32 s0, s0, 1; s_cmp_lg_u32 s0, 0; s_cbranch_scc1 -3; s_endpgm */
    static const uint32_t loop[] = {0x80808100, 0xbf078000, 0xbfa2fffd, 0xbfb00000};
    struct emu_config config = {.threads = 4};
    struct emu *emu;
    uint32_t *code =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    memcpy(code, loop, sizeof loop);
    ck_assert_int_eq(emu_create(&config, &emu), RD_OK);
    ck_assert_int_eq(
        emu_mem_add(emu, (uintptr_t)code, PAGE, EMU_MEM_READ | EMU_MEM_EXEC, "code"),
        RD_OK);
    first_thread();
    unsigned before = threads();
    ck_assert_uint_eq(threads_after(emu, code, 1, 1000000), 0);
    ck_assert_uint_eq(threads_after(emu, code, 64, 4), 0);
    ck_assert_uint_eq(threads_after(emu, code, 3, 100000), 2);
    ck_assert_uint_eq(threads_after(emu, code, 64, 20000), 1);
    ck_assert_uint_eq(threads_after(emu, code, 64, 20000), 0);
    emu_destroy(emu);
    ck_assert_uint_eq(threads(), before);
    munmap(code, PAGE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("workers");
    TCase *t = tcase_create("all");
    tcase_add_test(t, same_threads_again);
    tcase_add_test(t, nobody_comes);
    tcase_add_test(t, paused_threads_are_replaced);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(t, after_fork);
#endif
    tcase_add_test(t, small_dispatches_wake_nobody);
    suite_add_tcase(s, t);
    return suite_run(s);
}
