/* test_abi.c: the ioctl layer: results, error numbers, struct sizes.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "../suite.h"
#include "abi.h"
#include "mock.h"

START_TEST(version)
{
    struct kfd_ioctl_get_version_args v = {0};
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_VERSION, &v), 0);
    ck_assert_uint_eq(v.major_version, 1);
    ck_assert_uint_eq(v.minor_version, 17);
}
END_TEST

START_TEST(unknown_numbers)
{
    uint64_t arg[4] = {0};
    ck_assert_int_eq(kfd(_IOWR('K', 0x70, uint64_t[2]), arg), -ENOTTY);
    ck_assert_int_eq(kfd(_IOWR('K', 0x82, uint64_t[2]), arg), -ENOTTY);
    ck_assert_int_eq(kfd(_IOWR('K', 0x22, uint64_t[4]), arg), -EACCES);
    ck_assert_int_eq(kfd(_IOWR('K', 0x85, uint64_t[4]), arg), -EOPNOTSUPP);
    ck_assert_int_eq(drm(_IOWR('d', 0x3f, uint64_t), arg), -EINVAL);
}
END_TEST

/* Older and newer clients have shorter and longer structs. */
START_TEST(struct_sizes)
{
    struct {
        struct kfd_ioctl_get_version_args v;
        uint64_t more;
    } longer = {.more = 0x1234};
    ck_assert_int_eq(kfd(_IOR('K', 1, longer), &longer), 0);
    ck_assert_uint_eq(longer.v.minor_version, 17);
    uint32_t shorter[2] = {0, 0xabcd};
    ck_assert_int_eq(kfd(_IOR('K', 1, uint32_t), shorter), 0);
    ck_assert_uint_eq(shorter[0], 1);
    ck_assert_uint_eq(shorter[1], 0xabcd);
}
END_TEST

START_TEST(bad_pointers)
{
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_VERSION, (void *)8), -EFAULT);
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_QUEUE, (void *)8), -EFAULT);
    struct kfd_ioctl_wait_events_args w = {.events_ptr = 8, .num_events = 1};
    ck_assert_int_eq(kfd(AMDKFD_IOC_WAIT_EVENTS, &w), -EFAULT);
    struct kfd_ioctl_get_process_apertures_new_args a = {
        .kfd_process_device_apertures_ptr = 8, .num_of_nodes = 1};
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &a), -EFAULT);
}
END_TEST

START_TEST(memory)
{
    uint64_t handle;
    uint32_t *p = mock_buffer(100000, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &handle);
    ck_assert_uint_eq(p[0], 0);
    p[0] = 5;
    struct kfd_ioctl_free_memory_of_gpu_args f = {.handle = handle};
    ck_assert_int_eq(kfd(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &f), -EBUSY);
    uint32_t gpus[2] = {GPU_ID, 7};
    struct kfd_ioctl_unmap_memory_from_gpu_args u = {
        .handle = handle, .device_ids_array_ptr = (uintptr_t)gpus, .n_devices = 2};
    ck_assert_int_eq(kfd(AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &u), -EINVAL);
    ck_assert_uint_eq(u.n_success, 1); /* the first GPU of the list is done */
    ck_assert_int_eq(kfd(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &f), 0);
    ck_assert_int_eq(kfd(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &f), -EINVAL);
    ck_assert_int_eq(kfd(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &u), -ENOMEM);
    u.n_devices = 0;
    ck_assert_int_eq(kfd(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &u), -EINVAL);
}
END_TEST

static int alloc(uint64_t va, uint64_t size, uint32_t flags, uint32_t gpu,
                 uint64_t offset)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args a = {.va_addr = va,
                                                   .size = size,
                                                   .flags = flags,
                                                   .gpu_id = gpu,
                                                   .mmap_offset = offset};
    return kfd(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a);
}

START_TEST(memory_errors)
{
    const uint32_t vram = KFD_IOC_ALLOC_MEM_FLAGS_VRAM;
    ck_assert_int_eq(alloc(0x100000, 0, vram, GPU_ID, 0), -EINVAL);
    ck_assert_int_eq(alloc(0x100000, 4096, vram, 1, 0), -EINVAL);
    ck_assert_int_eq(alloc(0x100000, 4096, 0, GPU_ID, 0), -EINVAL);
    ck_assert_int_eq(alloc(0x100000, 2ull << 30, vram, GPU_ID, 0), -ENOMEM);
    ck_assert_int_eq(alloc(0x100000, 4096, KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL, GPU_ID, 0),
                     -EINVAL);
    ck_assert_int_eq(
        alloc(0x100000, 8192, KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP, GPU_ID, 0), -EINVAL);
    ck_assert_int_eq(
        alloc(0x100000, 4096, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, GPU_ID, 0x100000),
        -EFAULT);
    ck_assert_int_eq(
        alloc(0x100001, 4096, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, GPU_ID, 0x100001),
        -EINVAL);
}
END_TEST

/* A buffer must not land on memory that the program uses. */
START_TEST(memory_overlap)
{
    static char used[8192] __attribute__((aligned(4096)));
    uint32_t gpu = GPU_ID;
    struct kfd_ioctl_alloc_memory_of_gpu_args a = {.va_addr = (uintptr_t)used,
                                                   .size = 4096,
                                                   .flags = KFD_IOC_ALLOC_MEM_FLAGS_GTT,
                                                   .gpu_id = GPU_ID};
    used[0] = 'x';
    ck_assert_int_eq(kfd(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a), 0);
    struct kfd_ioctl_map_memory_to_gpu_args m = {
        .handle = a.handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    ck_assert_int_eq(kfd(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &m), -EINVAL);
    ck_assert_int_eq(used[0], 'x');
}
END_TEST

START_TEST(available_memory)
{
    struct kfd_ioctl_get_available_memory_args before = {.gpu_id = GPU_ID},
                                               after = before;
    ck_assert_int_eq(kfd(AMDKFD_IOC_AVAILABLE_MEMORY, &before), 0);
    mock_buffer(64 << 20, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    ck_assert_int_eq(kfd(AMDKFD_IOC_AVAILABLE_MEMORY, &after), 0);
    ck_assert_uint_eq(before.available - after.available, 64 << 20);
    ck_assert_uint_eq(after.available % (2 << 20), 0);
}
END_TEST

/* Another process that takes memory, events and queues and dies leaves nothing behind,
 * and what it was given means nothing here. */
START_TEST(processes_apart)
{
    struct kfd_ioctl_get_available_memory_args before = {.gpu_id = GPU_ID},
                                               during = before, after = before;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(kfd(AMDKFD_IOC_AVAILABLE_MEMORY, &before), 0);
    pid_t child = fork();
    if (child == 0) {
        uint64_t handle[2] = {0, 0};
        struct mock_queue q;
        uint32_t *p = NULL;
        for (unsigned i = 0; i < 40; i++) /* beyond the handles of the parent */
            p = mock_buffer(4 << 20, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &handle[0]);
        p[0] = 1;
        mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
        handle[1] = q.id;
        _exit(write(ends[1], handle, sizeof(handle)) == sizeof(handle) &&
                      read(ends[0], handle, 0) == 0 && usleep(50000) == 0
                  ? 0
                  : 1);
    }
    uint64_t got[2] = {0, 0};
    ck_assert_int_eq(read(ends[0], got, sizeof(got)), sizeof(got));
    ck_assert_int_eq(kfd(AMDKFD_IOC_AVAILABLE_MEMORY, &during), 0);
    ck_assert_uint_eq(before.available - during.available, 160 << 20);
    struct kfd_ioctl_free_memory_of_gpu_args f = {.handle = got[0]};
    ck_assert_int_eq(kfd(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &f), -EINVAL);
    struct kfd_ioctl_destroy_queue_args d = {.queue_id = (uint32_t)got[1]};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DESTROY_QUEUE, &d), -EINVAL);
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(kfd(AMDKFD_IOC_AVAILABLE_MEMORY, &after), 0);
    ck_assert_uint_eq(after.available, before.available);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

static uint32_t new_event(uint32_t type, bool auto_reset)
{
    struct kfd_ioctl_create_event_args e = {.event_type = type,
                                            .auto_reset = auto_reset};
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_EVENT, &e), 0);
    if (type == KFD_IOC_EVENT_SIGNAL) {
        ck_assert(e.event_page_offset != 0);
        ck_assert_uint_eq(e.event_slot_index, e.event_id);
        ck_assert_uint_eq(e.event_trigger_data, e.event_id);
    } else {
        ck_assert_uint_ge(e.event_id, 4096);
    }
    return e.event_id;
}

static int set_event(uint32_t id)
{
    struct kfd_ioctl_set_event_args s = {.event_id = id};
    return kfd(AMDKFD_IOC_SET_EVENT, &s);
}

/* Returns the wait's result; *age in and out. */
static uint32_t wait_event(uint32_t id, uint32_t timeout, uint64_t *age)
{
    struct kfd_event_data d = {.event_id = id};
    struct kfd_ioctl_wait_events_args w = {
        .events_ptr = (uintptr_t)&d, .num_events = 1, .timeout = timeout};
    d.signal_event_data.last_event_age = age ? *age : 0;
    ck_assert_int_eq(kfd(AMDKFD_IOC_WAIT_EVENTS, &w), 0);
    if (age)
        *age = d.signal_event_data.last_event_age;
    return w.wait_result;
}

START_TEST(events)
{
    uint32_t id = new_event(KFD_IOC_EVENT_SIGNAL, true);
    ck_assert_uint_eq(wait_event(id, 0, NULL), KFD_IOC_WAIT_RESULT_TIMEOUT);
    ck_assert_int_eq(set_event(id), 0);
    ck_assert_uint_eq(wait_event(id, 0, NULL), KFD_IOC_WAIT_RESULT_COMPLETE);
    ck_assert_uint_eq(wait_event(id, 0, NULL), KFD_IOC_WAIT_RESULT_TIMEOUT);
    uint32_t manual = new_event(KFD_IOC_EVENT_SIGNAL, false);
    ck_assert_int_eq(set_event(manual), 0);
    ck_assert_uint_eq(wait_event(manual, 0, NULL), KFD_IOC_WAIT_RESULT_COMPLETE);
    ck_assert_uint_eq(wait_event(manual, 0, NULL), KFD_IOC_WAIT_RESULT_COMPLETE);
    struct kfd_ioctl_reset_event_args r = {.event_id = manual};
    ck_assert_int_eq(kfd(AMDKFD_IOC_RESET_EVENT, &r), 0);
    ck_assert_uint_eq(wait_event(manual, 10, NULL), KFD_IOC_WAIT_RESULT_TIMEOUT);
    ck_assert_int_eq(set_event(4000), -EINVAL);
    struct kfd_ioctl_destroy_event_args d = {.event_id = id};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DESTROY_EVENT, &d), 0);
    ck_assert_int_eq(kfd(AMDKFD_IOC_DESTROY_EVENT, &d), -EINVAL);
}
END_TEST

/* A waiter that knows an old age returns at once; one without an age waits. */
START_TEST(event_ages)
{
    uint32_t id = new_event(KFD_IOC_EVENT_SIGNAL, true);
    uint64_t age = 1;
    ck_assert_uint_eq(wait_event(id, 0, &age), KFD_IOC_WAIT_RESULT_TIMEOUT);
    set_event(id);
    wait_event(id, 0, NULL); /* consumes the signal */
    ck_assert_uint_eq(wait_event(id, 0, &age), KFD_IOC_WAIT_RESULT_COMPLETE);
    ck_assert_uint_eq(age, 2);
    uint64_t none = 0;
    ck_assert_uint_eq(wait_event(id, 0, &none), KFD_IOC_WAIT_RESULT_TIMEOUT);
    set_event(id);
    ck_assert_uint_eq(wait_event(id, 0, &none), KFD_IOC_WAIT_RESULT_COMPLETE);
    ck_assert_uint_eq(none, 0);
}
END_TEST

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Who forgets what it was told is told again, but cannot spin; news come at once. */
START_TEST(event_age_forgotten)
{
    uint32_t id = new_event(KFD_IOC_EVENT_SIGNAL, true);
    set_event(id);
    wait_event(id, 0, NULL);
    uint64_t age = 1;
    wait_event(id, 1000, &age);
    ck_assert_uint_eq(age, 2);
    double t = seconds();
    for (unsigned i = 0; i < 10; i++) {
        age = 1;
        ck_assert_uint_eq(wait_event(id, 1000, &age), KFD_IOC_WAIT_RESULT_COMPLETE);
        ck_assert_uint_eq(age, 2);
    }
    ck_assert(seconds() - t > 0.001);
}
END_TEST

static void *set_later(void *arg)
{
    usleep(30000);
    set_event(*(uint32_t *)arg);
    return NULL;
}

START_TEST(event_wakes_waiter)
{
    uint32_t id = new_event(KFD_IOC_EVENT_SIGNAL, true);
    pthread_t t;
    pthread_create(&t, NULL, set_later, &id);
    ck_assert_uint_eq(wait_event(id, UINT32_MAX, NULL), KFD_IOC_WAIT_RESULT_COMPLETE);
    pthread_join(t, NULL);
}
END_TEST

static void *destroy_later(void *arg)
{
    struct kfd_ioctl_destroy_event_args d = {.event_id = *(uint32_t *)arg};
    usleep(30000);
    kfd(AMDKFD_IOC_DESTROY_EVENT, &d);
    return NULL;
}

START_TEST(event_destroyed_while_waiting)
{
    uint32_t id = new_event(KFD_IOC_EVENT_SIGNAL, true);
    struct kfd_event_data d = {.event_id = id};
    struct kfd_ioctl_wait_events_args w = {
        .events_ptr = (uintptr_t)&d, .num_events = 1, .timeout = UINT32_MAX};
    pthread_t t;
    pthread_create(&t, NULL, destroy_later, &id);
    ck_assert_int_eq(kfd(AMDKFD_IOC_WAIT_EVENTS, &w), -EIO);
    ck_assert_uint_eq(w.wait_result, KFD_IOC_WAIT_RESULT_FAIL);
    pthread_join(t, NULL);
}
END_TEST

START_TEST(signal_events_run_out)
{
    unsigned n = 0;
    struct kfd_ioctl_create_event_args e = {.event_type = KFD_IOC_EVENT_SIGNAL};
    while (kfd(AMDKFD_IOC_CREATE_EVENT, &e) == 0) {
        n++;
        e.event_page_offset = 0; /* an output that is an input of the next call */
    }
    ck_assert_uint_gt(n, 4000);
    ck_assert_uint_lt(n, 4096);
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_EVENT, &e), -ENOSPC);
}
END_TEST

START_TEST(svm_attributes)
{
    struct { /* kfd_ioctl_svm_args with its array */
        uint64_t start_addr, size;
        uint32_t op, nattr;
        struct kfd_ioctl_svm_attribute attr[3];
    } s = {.size = 8192,
           .op = KFD_IOCTL_SVM_OP_SET_ATTR,
           .nattr = 3,
           .attr = {{KFD_IOCTL_SVM_ATTR_ACCESS, GPU_ID},
                    {KFD_IOCTL_SVM_ATTR_SET_FLAGS, KFD_IOCTL_SVM_FLAG_GPU_EXEC},
                    {KFD_IOCTL_SVM_ATTR_GRANULARITY, 5}}};
    unsigned long cmd = _IOC(_IOC_READ | _IOC_WRITE, 'K', 0x20, sizeof(s));
    void *p =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    s.start_addr = (uintptr_t)p;
    ck_assert_int_eq(kfd(cmd, &s), 0);
    s.op = KFD_IOCTL_SVM_OP_GET_ATTR;
    s.attr[0].value = GPU_ID;
    s.attr[1].value = s.attr[2].value = 0;
    ck_assert_int_eq(kfd(cmd, &s), 0);
    ck_assert_uint_eq(s.attr[0].type, KFD_IOCTL_SVM_ATTR_ACCESS);
    ck_assert(s.attr[1].value & KFD_IOCTL_SVM_FLAG_GPU_EXEC);
    ck_assert_uint_eq(s.attr[2].value, 5);
    s.start_addr = 0x1000;
    ck_assert_int_eq(kfd(cmd, &s), -EFAULT);
    s.start_addr = (uintptr_t)p + 1;
    ck_assert_int_eq(kfd(cmd, &s), -EINVAL);
    s.start_addr = (uintptr_t)p;
    s.nattr = 1000;
    ck_assert_int_eq(kfd(cmd, &s), -EINVAL);
    /* What was said of memory is not said of what comes to the same place. */
    struct kfd_ioctl_smi_events_args smi = {.gpuid = GPU_ID};
    uint64_t unmap = KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_UNMAP_FROM_GPU);
    unsigned event, gpu;
    unsigned long page;
    int pid, trigger;
    ck_assert_int_eq(kfd(AMDKFD_IOC_SMI_EVENTS, &smi), 0);
    FILE *f = fdopen((int)smi.anon_fd, "re");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(write((int)smi.anon_fd, &unmap, sizeof(unmap)), sizeof(unmap));
    s.nattr = 3;
    s.size = 4096;
    abi_unmapped((uintptr_t)p, 4096);
    ck_assert_int_eq(
        fscanf(f, "%x %*d -%d @%lx(1) %x %d", &event, &pid, &page, &gpu, &trigger), 5);
    ck_assert_uint_eq(event, KFD_SMI_EVENT_UNMAP_FROM_GPU);
    ck_assert_int_eq(pid, getpid());
    ck_assert_uint_eq(page, (uintptr_t)p >> 12);
    ck_assert_uint_eq(gpu, GPU_ID);
    ck_assert_int_eq(trigger, KFD_SVM_UNMAP_TRIGGER_UNMAP_FROM_CPU);
    (void)fclose(f);
    ck_assert_int_eq(kfd(cmd, &s), 0);
    ck_assert_uint_eq(s.attr[0].type, KFD_IOCTL_SVM_ATTR_NO_ACCESS);
    s.start_addr += 4096;
    s.attr[0].type = KFD_IOCTL_SVM_ATTR_ACCESS;
    ck_assert_int_eq(kfd(cmd, &s), 0);
    ck_assert_uint_eq(s.attr[0].type, KFD_IOCTL_SVM_ATTR_ACCESS);
    ck_assert_uint_eq(s.attr[2].value, 5);
}
END_TEST

struct svm_prefetch { /* kfd_ioctl_svm_args with its array */
    uint64_t start_addr, size;
    uint32_t op, nattr;
    struct kfd_ioctl_svm_attribute attr[1];
};

static void prefetch(const uint8_t *at, uint64_t bytes, uint32_t to)
{
    struct svm_prefetch s = {.start_addr = (uintptr_t)at,
                             .size = bytes,
                             .op = KFD_IOCTL_SVM_OP_SET_ATTR,
                             .nattr = 1,
                             .attr = {{KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, to}}};
    ck_assert_int_eq(kfd(_IOC(_IOC_READ | _IOC_WRITE, 'K', 0x20, sizeof(s)), &s), 0);
}

/* The next event line is of a migration of the pages from there to there. */
static void migrated(FILE *f, unsigned event, const uint8_t *at, unsigned long pages,
                     unsigned from, unsigned to)
{
    char line[KFD_SMI_EVENT_MSG_SIZE + 1], want[KFD_SMI_EVENT_MSG_SIZE + 1];
    static long long last;
    unsigned id;
    long long ns;
    int pid, used = 0;
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
    ck_assert_int_eq(sscanf(line, "%x %lld -%d %n", &id, &ns, &pid, &used), 3);
    ck_assert_uint_eq(id, event);
    ck_assert_int_ge(ns, last);
    last = ns;
    ck_assert_int_eq(pid, getpid());
    int n = snprintf(want, sizeof(want), "@%lx(%lx) %x->%x ", (uintptr_t)at >> 12,
                     pages, from, to);
    if (event == KFD_SMI_EVENT_MIGRATE_START)
        n += snprintf(want + n, sizeof(want) - (size_t)n, "%x:%x ", to, ~0u);
    (void)snprintf(want + n, sizeof(want) - (size_t)n, "%d\n",
                   KFD_MIGRATE_TRIGGER_PREFETCH);
    ck_assert_str_eq(line + used, want);
}

/* Who listens hears of pages that a prefetch moves, and of no others. */
START_TEST(svm_migrations)
{
    uint8_t *p = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct kfd_ioctl_smi_events_args smi = {.gpuid = GPU_ID};
    uint64_t start = KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_MIGRATE_START);
    uint64_t both = start | KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_MIGRATE_END);
    ck_assert_ptr_ne(p, MAP_FAILED);
    prefetch(p, 4096, GPU_ID); /* nobody listens */
    prefetch(p, 4096, 0);
    ck_assert_int_eq(kfd(AMDKFD_IOC_SMI_EVENTS, &smi), 0);
    int fd = (int)smi.anon_fd;
    FILE *f = fdopen(fd, "re");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(write(fd, &both, sizeof(both)), sizeof(both));
    prefetch(p, 4 * 4096, 0); /* all is there */
    prefetch(p + 4096, 2 * 4096, GPU_ID);
    migrated(f, KFD_SMI_EVENT_MIGRATE_START, p + 4096, 2, 0, GPU_ID);
    migrated(f, KFD_SMI_EVENT_MIGRATE_END, p + 4096, 2, 0, GPU_ID);
    ck_assert_int_eq(write(fd, &start, sizeof(start)), sizeof(start));
    prefetch(p, 4096, UINT32_MAX); /* says nothing of a place */
    prefetch(p, 4 * 4096, 0);
    migrated(f, KFD_SMI_EVENT_MIGRATE_START, p + 4096, 2, GPU_ID, 0);
    ck_assert_ptr_null(fgets((char[8]){0}, 8, f));
    ck_assert_int_eq(errno, EAGAIN);
    (void)fclose(f);
    munmap(p, 4 * 4096);
}
END_TEST

START_TEST(queue_arguments)
{
    uint8_t *page = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    uint8_t *ring = mock_buffer(65536, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    const struct kfd_ioctl_create_queue_args good = {
        .ring_base_address = (uintptr_t)ring,
        .ring_size = 65536,
        .write_pointer_address = (uintptr_t)page,
        .read_pointer_address = (uintptr_t)page + 8,
        .gpu_id = GPU_ID,
        .queue_type = KFD_IOC_QUEUE_TYPE_SDMA,
        .queue_percentage = 100,
        .queue_priority = 15,
    };
    struct kfd_ioctl_create_queue_args c = good;
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_QUEUE, &c), 0);
    struct kfd_ioctl_destroy_queue_args d = {.queue_id = c.queue_id};
#define BAD(field, value, err)                                                         \
    c = good, c.field = (value);                                                       \
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_QUEUE, &c), -(err))
    BAD(queue_percentage, 101, EINVAL);
    BAD(queue_priority, 16, EINVAL);
    BAD(ring_size, 65537, EINVAL);
    BAD(ring_size, 0, EINVAL);
    BAD(ring_base_address, 0, EINVAL);
    BAD(ring_base_address, 0x1000, EFAULT);
    BAD(gpu_id, 3, EINVAL);
    BAD(read_pointer_address, 0x1000, EINVAL);
    BAD(queue_type, 9, EOPNOTSUPP);
    c = good, c.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, c.ctl_stack_size = 4096;
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_QUEUE, &c), -EINVAL);
    struct kfd_ioctl_set_xnack_mode_args x = {.xnack_enabled = 0};
    ck_assert_int_eq(kfd(AMDKFD_IOC_SET_XNACK_MODE, &x), -EBUSY);
    ck_assert_int_eq(kfd(AMDKFD_IOC_DESTROY_QUEUE, &d), 0);
    ck_assert_int_eq(kfd(AMDKFD_IOC_DESTROY_QUEUE, &d), -EINVAL);
    ck_assert_int_eq(kfd(AMDKFD_IOC_SET_XNACK_MODE, &x), 0);
    x.xnack_enabled = 1;
    ck_assert_int_eq(kfd(AMDKFD_IOC_SET_XNACK_MODE, &x), -EPERM);
}
END_TEST

/* The 1.11 struct lacks the last two fields. */
static _Atomic bool enough;

static void *list_queues(void *unused)
{
    struct abi_queue list[8];
    (void)unused;
    while (!atomic_load(&enough))
        (void)abi_queues(list, 8);
    return NULL;
}

/* Who lists the queues meets those that are on their way out, but none that is freed.
 */
START_TEST(queues_listed_meanwhile)
{
    pthread_t lister;
    struct mock_queue q;
    ck_assert_int_eq(pthread_create(&lister, NULL, list_queues, NULL), 0);
    for (unsigned i = 0; i < 30; i++) {
        mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
        mock_queue_destroy(&q);
    }
    atomic_store(&enough, true);
    pthread_join(lister, NULL);
    ck_assert_uint_eq(abi_queues(&(struct abi_queue){0}, 1), 0);
}
END_TEST

START_TEST(queue_old_struct)
{
    uint8_t *page = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    uint8_t *ring = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    struct kfd_ioctl_create_queue_args c = {
        .ring_base_address = (uintptr_t)ring,
        .ring_size = 4096,
        .write_pointer_address = (uintptr_t)page,
        .read_pointer_address = (uintptr_t)page + 8,
        .gpu_id = GPU_ID,
        .queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE,
        .queue_percentage = 100,
        .pad = 0x55,
    };
    ck_assert_int_eq(kfd(0xc0584b02, &c), 0);
    ck_assert_uint_eq(c.pad, 0x55);
    ck_assert_uint_eq(c.doorbell_offset % 8, 0);
}
END_TEST

START_TEST(dmabuf)
{
    uint64_t handle;
    char *p = mock_buffer(8192, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &handle);
    strcpy(p, "shared");
    struct kfd_ioctl_export_dmabuf_args e = {.handle = handle};
    ck_assert_int_eq(kfd(AMDKFD_IOC_EXPORT_DMABUF, &e), 0);
    struct kfd_ioctl_get_dmabuf_info_args i = {.dmabuf_fd = e.dmabuf_fd};
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_DMABUF_INFO, &i), 0);
    ck_assert_uint_eq(i.size, 8192);
    ck_assert(i.flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM);
    char *q = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct kfd_ioctl_import_dmabuf_args m = {
        .va_addr = (uintptr_t)q, .gpu_id = GPU_ID, .dmabuf_fd = e.dmabuf_fd};
    ck_assert_int_eq(kfd(AMDKFD_IOC_IMPORT_DMABUF, &m), 0);
    uint32_t gpu = GPU_ID;
    struct kfd_ioctl_map_memory_to_gpu_args map = {
        .handle = m.handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    ck_assert_int_eq(kfd(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &map), 0);
    ck_assert_str_eq(q, "shared");
    i.dmabuf_fd = 0;
    ck_assert(kfd(AMDKFD_IOC_GET_DMABUF_INFO, &i) < 0);
    i.dmabuf_fd = 9999;
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_DMABUF_INFO, &i), -EBADF);
}
END_TEST

START_TEST(render_node)
{
    char name[16] = "";
    struct drm_version v = {.name = (uintptr_t)name, .name_len = sizeof(name)};
    ck_assert_int_eq(drm(DRM_IOWR(0, struct drm_version), &v), 0);
    ck_assert_int_eq(v.version_major, 3);
    ck_assert_str_eq(name, "amdgpu");
    struct drm_amdgpu_info_device d = {0};
    struct drm_amdgpu_info i = {.return_pointer = (uintptr_t)&d,
                                .return_size = 16,
                                .query = AMDGPU_INFO_DEV_INFO};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &i), 0);
    ck_assert_uint_eq(d.device_id, 0x744c);
    ck_assert_uint_eq(d.family, 0); /* beyond return_size */
    i.return_size = sizeof(d);
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &i), 0);
    ck_assert_uint_eq(d.family, AMDGPU_FAMILY_GC_11_0_0);
    ck_assert_uint_eq(d.cu_active_number, 96);
    i.query = 0x999;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &i), -EINVAL);
}
END_TEST

START_TEST(acquire_vm)
{
    struct kfd_ioctl_acquire_vm_args a = {.drm_fd = RENDER_FD, .gpu_id = GPU_ID};
    ck_assert_int_eq(kfd(AMDKFD_IOC_ACQUIRE_VM, &a), 0);
    a.drm_fd = KFD_FD;
    ck_assert_int_eq(kfd(AMDKFD_IOC_ACQUIRE_VM, &a), -EINVAL);
    a.drm_fd = 77777;
    ck_assert_int_eq(kfd(AMDKFD_IOC_ACQUIRE_VM, &a), -EINVAL);
}
END_TEST

int main(void)
{
    mock_begin();
    Suite *s = suite_create("abi");
    TCase *t = tcase_create("ioctls");
    tcase_add_test(t, version);
    tcase_add_test(t, unknown_numbers);
    tcase_add_test(t, struct_sizes);
    tcase_add_test(t, bad_pointers);
    tcase_add_test(t, memory);
    tcase_add_test(t, memory_errors);
    tcase_add_test(t, memory_overlap);
    tcase_add_test(t, available_memory);
    tcase_add_test(t, processes_apart);
    tcase_add_test(t, events);
    tcase_add_test(t, event_ages);
    tcase_add_test(t, event_age_forgotten);
    tcase_add_test(t, event_wakes_waiter);
    tcase_add_test(t, event_destroyed_while_waiting);
    tcase_add_test(t, svm_attributes);
    tcase_add_test(t, svm_migrations);
    tcase_add_test(t, queue_arguments);
    tcase_add_test(t, queues_listed_meanwhile);
    tcase_add_test(t, queue_old_struct);
    tcase_add_test(t, dmabuf);
    tcase_add_test(t, render_node);
    tcase_add_test(t, acquire_vm);
    tcase_add_test(t, signal_events_run_out);
    suite_add_tcase(s, t);
    int status = suite_run_here(s); /* one process: one device */
    mock_end();
    return status;
}
