/* test_session.c: a process debugs another: who may, when the other's runtime is held,
 * how its exceptions come to the debugger.
 *
 * The debugged process is stopped or waits in a call for most of the time, as under a
 * debugger. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "mock.h"

#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define NOWHERE       0x7e0000001000ull
#define RUNTIME       KFD_EC_MASK(EC_PROCESS_RUNTIME)
#define VIOLATION     KFD_EC_MASK(EC_DEVICE_MEMORY_VIOLATION)

static int news[2]; /* the debugger's pipe */

static struct kfd_ioctl_dbg_trap_args trap(pid_t pid, uint32_t op)
{
    return (struct kfd_ioctl_dbg_trap_args){.pid = (uint32_t)pid, .op = op};
}

static int attach(pid_t pid, uint64_t exceptions, struct kfd_runtime_info *info)
{
    struct kfd_ioctl_dbg_trap_args d = trap(pid, KFD_IOC_DBG_TRAP_ENABLE);
    d.enable = (struct kfd_ioctl_dbg_trap_enable_args){.exception_mask = exceptions,
                                                       .rinfo_ptr = (uintptr_t)info,
                                                       .rinfo_size = sizeof(*info),
                                                       .dbg_fd = (uint32_t)news[1]};
    return kfd(AMDKFD_IOC_DBG_TRAP, &d);
}

static int plain(pid_t pid, uint32_t op)
{
    struct kfd_ioctl_dbg_trap_args d = trap(pid, op);
    return kfd(AMDKFD_IOC_DBG_TRAP, &d);
}

/* A byte came, and this is what it was about. */
static uint64_t event(pid_t pid, uint64_t clear, uint32_t *gpu)
{
    struct kfd_ioctl_dbg_trap_args d = trap(pid, KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT);
    struct pollfd p = {.fd = news[0], .events = POLLIN};
    char byte;
    ck_assert_int_eq(poll(&p, 1, 20000), 1);
    ck_assert_int_eq(read(news[0], &byte, 1), 1);
    d.query_debug_event.exception_mask = clear;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    *gpu = d.query_debug_event.gpu_id;
    return d.query_debug_event.exception_mask;
}

static void let_go_on(pid_t pid)
{
    struct kfd_ioctl_dbg_trap_args d = trap(pid, KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT);
    d.send_runtime_event.exception_mask = RUNTIME;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
}

static void stopped(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSTOPPED(status));
}

static void ends_well(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static int runtime(bool on)
{
    struct kfd_ioctl_runtime_enable_args a = {.r_debug = 5, .mode_mask = on ? 3 : 0};
    return kfd(AMDKFD_IOC_RUNTIME_ENABLE, &a);
}

/* fork, whose child does not outlive this process: if an assertion fails, a child that
 * is stopped or waits would keep ctest waiting for the end of its output. */
static pid_t fork_bound(void)
{
    pid_t parent = getpid(), pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(78);
    return pid;
}

static void to_be_traced(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(77);
    raise(SIGSTOP);
}

/* Begins, fails to write nowhere, ends. */
static void faulting(void)
{
    struct mock_queue q;
    const uint32_t bad[] = {PM4(0x37, 4), 5u << 8, (uint32_t)NOWHERE,
                            (uint32_t)(NOWHERE >> 32), 1};
    to_be_traced();
    if (runtime(true) != 0)
        _exit(1);
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    mock_submit(&q, bad, sizeof(bad) / 4);
    raise(SIGSTOP);
    if (runtime(false) != 0)
        _exit(2);
    _exit(0);
}

static void check_fault(pid_t pid)
{
    struct kfd_hsa_memory_exception_data data = {.va = 1};
    struct kfd_dbg_device_info_entry entry = {.gpu_id = 0};
    struct kfd_ioctl_dbg_trap_args d = trap(pid, KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO);
    d.query_exception_info = (struct kfd_ioctl_dbg_trap_query_exception_info_args){
        .info_ptr = (uintptr_t)&data,
        .info_size = sizeof(data),
        .source_id = GPU_ID,
        .exception_code = EC_DEVICE_MEMORY_VIOLATION};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert_uint_eq(data.va, NOWHERE);
    ck_assert_uint_eq(data.failure.NotPresent, 1);
    d = trap(pid, KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT);
    d.device_snapshot = (struct kfd_ioctl_dbg_trap_device_snapshot_args){
        .exception_mask = VIOLATION,
        .snapshot_buf_ptr = (uintptr_t)&entry,
        .num_devices = 1,
        .entry_size = sizeof(entry)};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert_uint_eq(entry.exception_status, VIOLATION);
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert_uint_eq(entry.exception_status, 0); /* cleared by the first */
    d = trap(pid, KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO);
    d.query_exception_info.source_id = GPU_ID;
    d.query_exception_info.exception_code = EC_DEVICE_MEMORY_VIOLATION;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), -ENODATA);
}

START_TEST(from_the_start)
{
    struct kfd_runtime_info info = {.runtime_state = 77};
    uint32_t gpu;
    pid_t pid = fork_bound();
    if (pid == 0)
        faulting();
    stopped(pid);
    ck_assert_int_eq(plain(pid, KFD_IOC_DBG_TRAP_DISABLE), -ESRCH); /* no device yet */
    ck_assert_int_eq(attach(pid, RUNTIME | VIOLATION, &info), 0);
    ck_assert_uint_eq(info.runtime_state, DEBUG_RUNTIME_STATE_DISABLED);
    ck_assert_int_eq(attach(pid, RUNTIME, &info), -EINVAL);
    ck_assert_int_eq(plain(pid, KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT), -EAGAIN);
    ck_assert_int_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
    ck_assert_uint_eq(event(pid, RUNTIME, &gpu), RUNTIME);
    ck_assert_uint_eq(gpu, 0);
    ck_assert_int_eq(plain(pid, KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT), -EAGAIN);
    ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0); /* held */
    let_go_on(pid);
    ck_assert_uint_eq(event(pid, 0, &gpu), VIOLATION);
    ck_assert_uint_eq(gpu, GPU_ID);
    check_fault(pid);
    stopped(pid);
    ck_assert_int_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
    ck_assert_uint_eq(event(pid, RUNTIME, &gpu), RUNTIME);
    ck_assert_int_eq(plain(pid, KFD_IOC_DBG_TRAP_DISABLE), 0); /* lets it go on, too */
    ends_well(pid);
    ck_assert_int_eq(plain(pid, KFD_IOC_DBG_TRAP_DISABLE), -ESRCH);
}
END_TEST

START_TEST(while_it_runs)
{
    struct kfd_runtime_info info = {.runtime_state = 77};
    uint32_t gpu;
    pid_t pid = fork_bound();
    if (pid == 0) {
        if (runtime(true) != 0)
            _exit(1);
        to_be_traced();
        _exit(runtime(false) != 0);
    }
    stopped(pid);
    ck_assert_int_eq(attach(pid, RUNTIME, &info), 0);
    ck_assert_uint_eq(info.runtime_state, DEBUG_RUNTIME_STATE_ENABLED);
    ck_assert_uint_eq(info.r_debug, 5);
    ck_assert_uint_eq(info.ttmp_setup, 1);
    ck_assert_int_eq(plain(pid, KFD_IOC_DBG_TRAP_SUSPEND_QUEUES), -EOPNOTSUPP);
    ck_assert_int_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
    ck_assert_uint_eq(event(pid, RUNTIME, &gpu), RUNTIME);
    let_go_on(pid);
    ends_well(pid);
}
END_TEST

/* Not traced: no session; a debugger that dies lets its process go on. */
START_TEST(who_may)
{
    struct kfd_runtime_info info;
    int ends[2], back[2];
    char byte = 0;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(pipe(back), 0);
    pid_t pid = fork_bound();
    if (pid == 0) {
        (void)!read(ends[0], &byte, 1);
        if (runtime(true) != 0)
            _exit(1);
        (void)!write(back[1], &byte, 1);
        (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    ck_assert_int_eq(attach(pid, RUNTIME, &info), -ESRCH);
    ck_assert_int_eq(attach(1, RUNTIME, &info), -ESRCH);
    ck_assert_int_eq(attach(0x7ffffff0, RUNTIME, &info), -ESRCH);
    pid_t debugger = fork_bound();
    if (debugger == 0) {
        if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) != 0)
            _exit(1);
        waitpid(pid, NULL, 0);
        if (attach(pid, RUNTIME, &info) != 0)
            _exit(2);
        ptrace(PTRACE_DETACH, pid, NULL, NULL);
        (void)!write(ends[1], "", 1);
        struct pollfd p = {.fd = news[0], .events = POLLIN};
        _exit(poll(&p, 1, 20000) == 1 && read(news[0], &byte, 1) == 1 ? 0 : 3);
    }
    ends_well(debugger);
    ck_assert_int_eq(read(back[0], &byte, 1), 1); /* its runtime has begun */
    ck_assert_int_eq(attach(pid, RUNTIME, &info), -EPERM);
    (void)!write(ends[1], "", 1);
    ends_well(pid);
}
END_TEST

int main(void)
{
    mock_begin();
    if (pipe(news) != 0)
        return 1;
    Suite *s = suite_create("session");
    TCase *t = tcase_create("other process");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, from_the_start);
    tcase_add_test(t, while_it_runs);
    tcase_add_test(t, who_may);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
