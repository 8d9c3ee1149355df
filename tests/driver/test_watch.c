/* test_watch.c: watch points: which accesses meet them, what the wave and its trap
 * handler see, when waves trap, a process that watches another.
 *
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "mock.h"

/* Loads from [args], stores at 512 behind it; then stores what its trap handler has
 * left at 1024: TRAPSTS, times; and TRAPSTS as the kernel sees it. */
static const uint32_t kernel_code[] = {
    0x7e000280, 0x7e020280, 0x7e040280, 0xdc520000, 0x03000000, 0xbf8903f7,
    0xdc6a0200, 0x00000300, 0xb884f803, 0x7e080204, 0xdc6a0400, 0x00000100,
    0xdc6a0404, 0x00000200, 0xdc6a0408, 0x00000400, 0xbfb00000, 0xbf9f0000};
/* v1 = TRAPSTS, v2 += 1, return */
static const uint32_t handler_code[] = {0xb8faf803, 0x7e02027a, 0x4a040481, 0xbe804a6c,
                                        0xbf9f0000};

enum { HANDLER = 256, STORED = 512, SEEN = 1024, DONE = 2048 }; /* bytes */
#define WATCH(n)  ((n) == 0 ? 0x80u : 0x800u << (n))            /* in TRAPSTS */
#define ALL       0xffffffffu
#define ON_WATCH  KFD_DBG_TRAP_MASK_DBG_ADDRESS_WATCH
#define MODE(way) KFD_DBG_TRAP_ADDRESS_WATCH_MODE_##way

static uint8_t *text, *data;
static struct mock_queue queue;
static uint32_t number;
static int news[2];

static struct kfd_ioctl_dbg_trap_args trap(pid_t pid, uint32_t op)
{
    return (struct kfd_ioctl_dbg_trap_args){.pid = (uint32_t)pid, .op = op};
}

static int watch(pid_t pid, const void *at, uint32_t mode, uint32_t mask, uint32_t *id)
{
    struct kfd_ioctl_dbg_trap_args d =
        trap(pid, KFD_IOC_DBG_TRAP_SET_NODE_ADDRESS_WATCH);
    d.set_node_address_watch = (struct kfd_ioctl_dbg_trap_set_node_address_watch_args){
        .address = (uintptr_t)at, .mode = mode, .mask = mask, .gpu_id = GPU_ID};
    int r = kfd(AMDKFD_IOC_DBG_TRAP, &d);
    *id = d.set_node_address_watch.id;
    return r;
}

static int unwatch(pid_t pid, uint32_t id)
{
    struct kfd_ioctl_dbg_trap_args d =
        trap(pid, KFD_IOC_DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH);
    d.clear_node_address_watch.gpu_id = GPU_ID;
    d.clear_node_address_watch.id = id;
    return kfd(AMDKFD_IOC_DBG_TRAP, &d);
}

static int launch(pid_t pid, uint32_t enable, uint32_t request, uint32_t *before)
{
    struct kfd_ioctl_dbg_trap_args d =
        trap(pid, KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE);
    d.launch_override.enable_mask = enable;
    d.launch_override.support_request_mask = request;
    int r = kfd(AMDKFD_IOC_DBG_TRAP, &d);
    *before = d.launch_override.enable_mask;
    return r;
}

static int runtime(void)
{
    struct kfd_ioctl_runtime_enable_args a = {.r_debug = 5, .mode_mask = 3};
    return kfd(AMDKFD_IOC_RUNTIME_ENABLE, &a);
}

static int attach(pid_t pid)
{
    struct kfd_ioctl_dbg_trap_args d = trap(pid, KFD_IOC_DBG_TRAP_ENABLE);
    d.enable = (struct kfd_ioctl_dbg_trap_enable_args){.dbg_fd = (uint32_t)news[1]};
    return kfd(AMDKFD_IOC_DBG_TRAP, &d);
}

static void prepare(void)
{
    struct kfd_ioctl_set_trap_handler_args h = {.gpu_id = GPU_ID};
    text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    data = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    memcpy(text, kernel_code, sizeof(kernel_code));
    memcpy(text + HANDLER, handler_code, sizeof(handler_code));
    h.tba_addr = (uintptr_t)text + HANDLER;
    ck_assert_int_eq(kfd(AMDKFD_IOC_SET_TRAP_HANDLER, &h), 0);
    mock_queue_create(&queue, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
}

/* Run the kernel: TRAPSTS in its handler, how often it was there, TRAPSTS afterwards.
 */
static bool run(uint32_t seen[3])
{
    const uint32_t *done = (const uint32_t *)(const void *)(data + DONE);
    memset(data + SEEN, 0xff, 12);
    mock_dispatch(&queue, text, data, done, ++number);
    bool ok = mock_wait32(done, number);
    memcpy(seen, data + SEEN, 12);
    return ok;
}

static void expect(uint32_t in_handler, uint32_t times, uint32_t afterwards)
{
    uint32_t seen[3];
    ck_assert(run(seen));
    ck_assert_uint_eq(seen[0], in_handler);
    ck_assert_uint_eq(seen[1], times);
    ck_assert_uint_eq(seen[2], afterwards);
}

/* One watch point, which waves trap on. */
static void watched(const void *at, uint32_t mode, uint32_t mask, uint32_t times)
{
    uint32_t id;
    ck_assert_int_eq(watch(getpid(), at, mode, mask, &id), 0);
    ck_assert_uint_eq(id, 0);
    expect(times ? WATCH(0) : 0, times, times ? WATCH(0) : 0);
    ck_assert_int_eq(unwatch(getpid(), id), 0);
    expect(0, 0, 0);
}

/* How often the kernel traps until it stores that, behind the instruction that begins
 * to count. */
static void launched(uint32_t mode, uint32_t times)
{
    uint32_t seen[3];
    struct kfd_ioctl_dbg_trap_args d =
        trap(getpid(), KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_MODE);
    d.launch_mode.launch_mode = mode;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert(run(seen));
    ck_assert_uint_eq(seen[1], times);
}

START_TEST(own_process)
{
    uint32_t id, before, more[4];
    ck_assert_int_eq(runtime(), 0);
    ck_assert_int_eq(attach(getpid()), 0);
    prepare();
    expect(0, 0, 0);
    ck_assert_int_eq(watch(getpid(), data, MODE(ALL), ALL, &id), 0);
    expect(0, 0, WATCH(0)); /* nobody has asked for a trap */
    ck_assert_int_eq(unwatch(getpid(), id), 0);
    ck_assert_int_eq(unwatch(getpid(), id), -EINVAL);
    ck_assert_int_eq(launch(getpid(), 1u << 20, 1u << 20, &before), -EACCES);
    ck_assert_int_eq(launch(getpid(), ON_WATCH, ON_WATCH, &before), 0);
    ck_assert_uint_eq(before, 0);
    watched(data, MODE(READ), ALL, 1);
    watched(data, MODE(NONREAD), ALL, 0);
    watched(data, MODE(ATOMIC), ALL, 0);
    watched(data, MODE(ALL), ALL, 1);
    watched(data + 64, MODE(READ), ALL, 1); /* of the same line */
    watched(data + 128, MODE(READ), ALL, 0);
    watched(data + STORED, MODE(READ), ALL, 0);
    watched(data + STORED, MODE(NONREAD), ALL, 1);
    watched(data, MODE(ALL), ALL & ~(uint32_t)STORED, 2);
    watched(data + (UINT64_C(1) << 40), MODE(ALL), ALL, 0); /* above the mask */
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(watch(getpid(), data, MODE(READ), ALL, &more[i]), 0);
        ck_assert_uint_eq(more[i], i);
    }
    ck_assert_int_eq(watch(getpid(), data, MODE(READ), ALL, &id), -ENOMEM);
    expect(0x7080, 1, 0x7080);
    ck_assert_int_eq(unwatch(getpid(), 1), 0);
    expect(0x6080, 1, 0x6080);
    ck_assert_int_eq(launch(getpid(), 0, ON_WATCH, &before), 0);
    ck_assert_uint_eq(before, ON_WATCH);
    expect(0, 0, 0x6080);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_int_eq(unwatch(getpid(), i), i == 1 ? -EINVAL : 0);
    launched(KFD_DBG_TRAP_WAVE_LAUNCH_MODE_DEBUG, 7);
    ck_assert_int_eq(watch(getpid(), data, MODE(READ), ALL, &id), 0);
    launched(KFD_DBG_TRAP_WAVE_LAUNCH_MODE_DEBUG, 7);
    launched(KFD_DBG_TRAP_WAVE_LAUNCH_MODE_NORMAL, 0);
    struct kfd_ioctl_dbg_trap_args d = trap(getpid(), KFD_IOC_DBG_TRAP_DISABLE);
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    expect(0, 0, 0); /* they end with the session */
}
END_TEST

START_TEST(other_process)
{
    int tell[2], hear[2], status;
    uint32_t seen[3], id, before;
    uint64_t at = 0;
    pid_t parent = getpid();
    ck_assert_int_eq(pipe(tell), 0);
    ck_assert_int_eq(pipe(hear), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(78);
        if (runtime() != 0)
            _exit(1);
        prepare();
        at = (uintptr_t)data;
        (void)!write(hear[1], &at, sizeof(at));
        (void)!read(tell[0], &at, 1);
        _exit(run(seen) && seen[0] == WATCH(0) && seen[1] == 1 ? 0 : 2);
    }
    ck_assert_int_eq(read(hear[0], &at, sizeof(at)), sizeof(at));
    ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
    ck_assert_int_eq(watch(pid, NULL, MODE(READ), ALL, &id), -EINVAL); /* no session */
    ck_assert_int_eq(attach(pid), 0);
    ck_assert_int_eq(launch(pid, ON_WATCH, ON_WATCH, &before), 0);
    ck_assert_int_eq(watch(pid, (void *)(uintptr_t)at, MODE(READ), ALL, &id), 0);
    (void)!write(tell[1], "", 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

int main(void)
{
    mock_begin();
    if (pipe(news) != 0)
        return 1;
    Suite *s = suite_create("watch");
    TCase *t = tcase_create("watch points");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, other_process); /* first: forks before there are queues */
    tcase_add_test(t, own_process);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
