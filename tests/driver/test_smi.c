/* test_smi.c: system management events: which come, with what, and to whom.
 *
 * What happens in other processes is a child's doing; it is told through a pipe.
 * Formats: linux/kfd_ioctl.h. SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../suite.h"
#include "abi.h"
#include "mock.h"
#include "shared.h"

#define BIT(event) KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_##event)
#define MOVES                                                                          \
    (BIT(MIGRATE_START) | BIT(MIGRATE_END) | BIT(QUEUE_EVICTION) |                     \
     BIT(QUEUE_RESTORE) | BIT(UNMAP_FROM_GPU))
#define PROCESS_START 12u /* newer than the header */
#define PROCESS_END   13u
#define PAGES         8

static int heard(uint64_t mask)
{
    struct kfd_ioctl_smi_events_args smi = {.gpuid = GPU_ID};
    ck_assert_int_eq(kfd(AMDKFD_IOC_SMI_EVENTS, &smi), 0);
    ck_assert_int_eq(write((int)smi.anon_fd, &mask, sizeof(mask)), sizeof(mask));
    return (int)smi.anon_fd;
}

/* The next line, without its end, waiting for it; its event. */
static unsigned next(int fd, char line[KFD_SMI_EVENT_MSG_SIZE])
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    unsigned n = 0;
    ck_assert_int_eq(poll(&p, 1, 20000), 1);
    while (n < KFD_SMI_EVENT_MSG_SIZE - 1 && read(fd, line + n, 1) == 1 &&
           line[n] != '\n')
        n++;
    line[n] = '\0';
    return (unsigned)strtoul(line, NULL, 16);
}

static void nothing_more(int fd)
{
    char byte;
    ck_assert_int_eq(read(fd, &byte, 1), -1);
    ck_assert_int_eq(errno, EAGAIN);
}

/* An eviction for the reason, or a restoration (reason -1), of the process. */
static void stands(int fd, pid_t pid, int reason)
{
    char line[KFD_SMI_EVENT_MSG_SIZE], want[64];
    int used = 0;
    unsigned event = next(fd, line);
    ck_assert_uint_eq(event, reason < 0 ? KFD_SMI_EVENT_QUEUE_RESTORE
                                        : KFD_SMI_EVENT_QUEUE_EVICTION);
    ck_assert_int_eq(sscanf(line, "%*x %*u %n", &used), 0);
    (void)snprintf(want, sizeof(want), "-%d %x %d", pid, GPU_ID,
                   reason < 0 ? 0 : reason);
    ck_assert_str_eq(line + used, want);
}

struct svm_set { /* kfd_ioctl_svm_args with its array */
    uint64_t start_addr, size;
    uint32_t op, nattr;
    struct kfd_ioctl_svm_attribute attr[1];
};

static int set(const void *at, uint32_t attribute, uint32_t value)
{
    struct svm_set s = {.start_addr = (uintptr_t)at,
                        .size = PAGES * 4096ul,
                        .op = KFD_IOCTL_SVM_OP_SET_ATTR,
                        .nattr = 1,
                        .attr = {{attribute, value}}};
    return kfd(_IOC(_IOC_READ | _IOC_WRITE, 'K', 0x20, sizeof(s)), &s);
}

static void *pages(void)
{
    void *p = mmap(NULL, PAGES * 4096ul, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    return p;
}

/* Pages that queues use cannot move while these run; others can. */
START_TEST(svm_evicts)
{
    char line[KFD_SMI_EVENT_MSG_SIZE];
    uint8_t *p = pages();
    int fd = heard(MOVES);
    struct abi_process moved;
    abi_process(&moved);
    ck_assert_uint_eq(moved.pages_in + moved.pages_out, 0);
    ck_assert_int_eq(set(p, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, GPU_ID), 0);
    abi_process(&moved);
    ck_assert_uint_eq(moved.pages_in, PAGES);
    ck_assert_uint_eq(moved.pages_out, 0);
    ck_assert_uint_eq(next(fd, line), KFD_SMI_EVENT_MIGRATE_START);
    ck_assert_uint_eq(next(fd, line), KFD_SMI_EVENT_MIGRATE_END);
    ck_assert_int_eq(set(p, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, GPU_ID), 0);
    abi_process(&moved);
    ck_assert_uint_eq(moved.pages_in, PAGES); /* they are there */
    ck_assert_uint_eq(next(fd, line), KFD_SMI_EVENT_MIGRATE_START);
    ck_assert_uint_eq(next(fd, line), KFD_SMI_EVENT_MIGRATE_END);
    nothing_more(fd);
    ck_assert_int_eq(set(p, KFD_IOCTL_SVM_ATTR_ACCESS, GPU_ID), 0);
    nothing_more(fd);
    ck_assert_int_eq(set(p, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, 0), 0);
    ck_assert_uint_eq(next(fd, line), KFD_SMI_EVENT_MIGRATE_START);
    stands(fd, getpid(), KFD_QUEUE_EVICTION_TRIGGER_SVM);
    ck_assert_uint_eq(next(fd, line), KFD_SMI_EVENT_MIGRATE_END);
    stands(fd, getpid(), -1);
    nothing_more(fd);
    abi_process(&moved);
    ck_assert_uint_eq(moved.pages_in, PAGES);
    ck_assert_uint_eq(moved.pages_out, PAGES);
    abi_unmapped((uintptr_t)p, PAGES * 4096ul);
    munmap(p, PAGES * 4096ul);
    close(fd);
}
END_TEST

/* So do queues whose buffers show memory that the client unmaps. */
START_TEST(user_memory_evicts)
{
    uint8_t *p = pages();
    int fd = heard(MOVES);
    struct kfd_ioctl_alloc_memory_of_gpu_args a = {.va_addr = (uintptr_t)p + 4096,
                                                   .size = 4096,
                                                   .mmap_offset = (uintptr_t)p + 4096,
                                                   .gpu_id = GPU_ID,
                                                   .flags =
                                                       KFD_IOC_ALLOC_MEM_FLAGS_USERPTR};
    ck_assert_int_eq(kfd(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a), 0);
    abi_unmapped((uintptr_t)p, 4096);
    abi_unmapped((uintptr_t)p + 2ul * 4096, 4096);
    nothing_more(fd);
    abi_unmapped((uintptr_t)p, PAGES * 4096ul);
    stands(fd, getpid(), KFD_QUEUE_EVICTION_TRIGGER_USERPTR);
    stands(fd, getpid(), -1);
    struct kfd_ioctl_free_memory_of_gpu_args f = {.handle = a.handle};
    ck_assert_int_eq(kfd(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &f), 0);
    abi_unmapped((uintptr_t)p, PAGES * 4096ul);
    nothing_more(fd);
    munmap(p, PAGES * 4096ul);
    close(fd);
}
END_TEST

static _Atomic bool enough;

/* Keeps the lock of the buffers busy. */
static void *allocate(void *unused)
{
    (void)unused;
    while (!atomic_load(&enough)) {
        uint64_t handle;
        void *p = mock_buffer(1 << 20, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &handle);
        mock_buffer_free(p, 1 << 20, handle);
        sched_yield();
    }
    return NULL;
}

/* ... also while other threads change buffers. */
START_TEST(evicts_meanwhile)
{
    pthread_t other;
    uint64_t handle;
    void *p = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, &handle);
    int fd = heard(MOVES);
    ck_assert_int_eq(pthread_create(&other, NULL, allocate, NULL), 0);
    for (unsigned i = 0; i < 200; i++) {
        abi_unmapped((uintptr_t)p, 4096);
        stands(fd, getpid(), KFD_QUEUE_EVICTION_TRIGGER_USERPTR);
        stands(fd, getpid(), -1);
    }
    atomic_store(&enough, true);
    pthread_join(other, NULL);
    mock_buffer_free(p, 4096, handle);
    close(fd);
}
END_TEST

/* A process that gets an address space, moves mapped pages when it is told to, and
 * ends. */
static void be_other(int orders)
{
    struct kfd_ioctl_acquire_vm_args vm = {.drm_fd = RENDER_FD, .gpu_id = GPU_ID};
    char byte;
    int failed = kfd(AMDKFD_IOC_ACQUIRE_VM, &vm);
    failed = failed || kfd(AMDKFD_IOC_ACQUIRE_VM, &vm);
    uint8_t *p = pages();
    failed = failed || set(p, KFD_IOCTL_SVM_ATTR_ACCESS, GPU_ID);
    failed = failed || read(orders, &byte, 1) != 1;
    failed = failed || set(p, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, GPU_ID);
    abi_ended();
    _exit(failed);
}

/* Does the system say that this process may what an administrator may? */
static bool is_administrator(void)
{
    char line[128];
    unsigned long long effective = 0;
    FILE *f = fopen("/proc/self/status", "re");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f))
        (void)sscanf(line, "CapEff: %llx", &effective);
    (void)fclose(f);
    return effective >> 21 & 1; /* CAP_SYS_ADMIN */
}

/* As heard(), by who may nothing, if this process can be that. */
static int heard_by_nobody(uint64_t mask)
{
    uid_t before = geteuid();
    if (before == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    ck_assert(before != 0 || !is_administrator());
    int fd = heard(mask);
    ck_assert_int_eq(seteuid(before), 0);
    return fd;
}

/* Everybody hears that a process begins and ends; what its memory does, who may and
 * asks for it. */
START_TEST(other_process)
{
    char line[KFD_SMI_EVENT_MSG_SIZE], want[64], comm[20] = "";
    const uint64_t ends = 1ull << (PROCESS_START - 1) | 1ull << (PROCESS_END - 1);
    const uint64_t asks = BIT(QUEUE_EVICTION) | BIT(QUEUE_RESTORE) | BIT(ALL_PROCESS);
    int fd = heard(ends | MOVES);
    int all = heard(asks), nobody = heard_by_nobody(asks);
    int orders[2], status;
    ck_assert_int_eq(pipe(orders), 0);
    prctl(PR_GET_NAME, comm);
    pid_t pid = fork();
    if (pid == 0) {
        close(orders[1]); /* the end of a test that fails is its end, too */
        be_other(orders[0]);
    }
    ck_assert_uint_eq(next(fd, line), PROCESS_START);
    (void)snprintf(want, sizeof(want), "%x %x %s", PROCESS_START, (unsigned)pid, comm);
    ck_assert_str_eq(line, want);
    ck_assert_int_eq(write(orders[1], "", 1), 1);
    ck_assert_uint_eq(next(fd, line), PROCESS_END);
    if (is_administrator()) {
        stands(all, pid, KFD_QUEUE_EVICTION_TRIGGER_SVM);
        stands(all, pid, -1);
    }
    nothing_more(all);
    if (geteuid() == 0)
        nothing_more(nobody);
    nothing_more(fd);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(orders[0]);
    close(orders[1]);
    close(all);
    close(nobody);
    close(fd);
}
END_TEST

/* A process begins, behind what others have told. */
static void begin_another(void)
{
    struct kfd_ioctl_acquire_vm_args vm = {.drm_fd = RENDER_FD, .gpu_id = GPU_ID};
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(kfd(AMDKFD_IOC_ACQUIRE_VM, &vm) != 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void resets(unsigned n)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        while (n--)
            mock_recover();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}

/* More events than a socket or the shared places hold: some are lost, whole lines come.
 */
START_TEST(too_many)
{
    char line[KFD_SMI_EVENT_MSG_SIZE], cause[32];
    const uint64_t begins = 1ull << (PROCESS_START - 1);
    unsigned before = atomic_load(&mock_shared()->resets), number = 0, lines = 0;
    const unsigned last = before + 3001;
    bool over = false;
    int fd = heard(BIT(GPU_PRE_RESET) | begins);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    resets(3000);
    for (unsigned tries = 0; tries < 10 && !over; tries++) {
        begin_another(); /* which is lost as well if the socket is full */
        while (!over && poll(&p, 1, 2000) == 1) {
            over = next(fd, line) == PROCESS_START;
            if (over)
                break;
            ck_assert_int_eq(sscanf(line, "3 %x %31[^\n]", &number, cause), 2);
            ck_assert_str_eq(cause, "user trigger");
            ck_assert_uint_gt(number, before);
            before = number;
            lines++;
        }
    }
    ck_assert(over);
    ck_assert_uint_ge(lines, 100);
    mock_recover();
    while (next(fd, line) == PROCESS_START)
        ;
    ck_assert_int_eq(sscanf(line, "3 %x", &number), 1);
    ck_assert_uint_eq(number, last);
    close(fd);
}
END_TEST

/* An event's place that a stopped process has spoilt, one that a newer event has, one
 * whose writer has died: the first two are lost, nothing else happens. */
START_TEST(spoilt_places)
{
    char line[KFD_SMI_EVENT_MSG_SIZE], want[64];
    static const char torn[8] = "3 77 us";
    struct gshared *s = mock_shared();
    unsigned done = atomic_load(&s->resets);
    uint64_t word;
    int fd = heard(BIT(GPU_PRE_RESET));
    uint64_t first = atomic_load(&s->last_event) + 1;
    struct gshared_event *spoilt = &s->events[first % GSHARED_EVENTS],
                         *newer = &s->events[(first + 1) % GSHARED_EVENTS],
                         *dead = &s->events[(first + 3) % GSHARED_EVENTS];
    atomic_store(&newer->number, first + 1 + GSHARED_EVENTS);
    atomic_store(&dead->number, (first + 3 - GSHARED_EVENTS) | 1ull << 63);
    memcpy(&word, torn, sizeof(word));
    atomic_store(&spoilt->event, KFD_SMI_EVENT_GPU_PRE_RESET);
    atomic_store(&spoilt->pid, 1);
    atomic_store(&spoilt->text[0], word);
    atomic_store(&spoilt->number, first);
    atomic_store(&s->last_event, first);
    resets(2); /* told before and after */
    ck_assert_uint_eq(next(fd, line), KFD_SMI_EVENT_GPU_PRE_RESET);
    (void)snprintf(want, sizeof(want), "3 %x user trigger", done + 2);
    ck_assert_str_eq(line, want);
    nothing_more(fd);
    ck_assert_uint_eq(atomic_load(&newer->number), first + 1 + GSHARED_EVENTS);
    atomic_store(&newer->number, 0);
    close(fd);
}
END_TEST

static unsigned open_files(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Who has closed its descriptor costs nothing, events or not. */
START_TEST(closed)
{
    const struct timespec nap = {1, 500000000};
    unsigned before = open_files(), tries = 0;
    for (unsigned i = 0; i < 50; i++)
        close(heard(BIT(VMFAULT)));
    ck_assert_uint_le(open_files(), before + 1);
    for (uint64_t sign = 0; sign != atomic_load(&mock_shared()->heard_ns); tries++) {
        ck_assert_uint_lt(tries, 20);
        sign = atomic_load(&mock_shared()->heard_ns);
        nanosleep(&nap, NULL);
    }
    ck_assert_uint_le(open_files(), before);
}
END_TEST

int main(void)
{
    mock_begin();
    Suite *s = suite_create("smi");
    TCase *t = tcase_create("events");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, svm_evicts);
    tcase_add_test(t, user_memory_evicts);
    tcase_add_test(t, evicts_meanwhile);
    tcase_add_test(t, other_process);
    tcase_add_test(t, too_many);
    tcase_add_test(t, spoilt_places);
    tcase_add_test(t, closed);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
