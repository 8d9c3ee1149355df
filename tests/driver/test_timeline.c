/* test_timeline.c: software timelines: fences that a program ends, alone, merged, in
 * objects and before submissions. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>
#include <linux/sync_file.h>

#include "../suite.h"
#include "mock.h"

#define CALL(nr, type, args)                                                           \
    drm(DRM_IOWR(DRM_NR_SYNCOBJ_##nr, struct drm_syncobj_##type), args)

struct point {
    uint32_t value;
    char name[32];
    int32_t fence;
};
#define TIMELINE_FENCE   _IOWR('W', 0, struct point)
#define TIMELINE_ADVANCE _IOW('W', 1, uint32_t)

static int fence_at(int timeline, uint32_t value)
{
    struct point p = {.value = value};
    ck_assert_int_eq(fence(timeline, TIMELINE_FENCE, &p), 0);
    return p.fence;
}

static void advance(int timeline, uint32_t count)
{
    ck_assert_int_eq(fence(timeline, TIMELINE_ADVANCE, &count), 0);
}

static bool has_ended(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, ms) == 1;
}

static int status_of(int fd)
{
    struct sync_file_info info = {.num_fences = 0};
    ck_assert_int_eq(fence(fd, SYNC_IOC_FILE_INFO, &info), 0);
    return info.status;
}

static uint32_t object(void)
{
    struct drm_syncobj_create c = {.flags = 0};
    ck_assert_int_eq(CALL(CREATE, create, &c), 0);
    return c.handle;
}

static void import(uint32_t handle, int fd)
{
    struct drm_syncobj_handle in = {
        .handle = handle, .fd = fd, .flags = DRM_SYNCOBJ_SYNC_FILE};
    ck_assert_int_eq(CALL(FD_TO_HANDLE, handle, &in), 0);
}

static int wait_one(uint32_t handle, uint64_t point, uint32_t flags, int64_t deadline)
{
    struct drm_syncobj_timeline_wait w = {.handles = (uintptr_t)&handle,
                                          .points = (uintptr_t)&point,
                                          .count_handles = 1,
                                          .flags = flags,
                                          .timeout_nsec = deadline};
    return CALL(TIMELINE_WAIT, timeline_wait, &w);
}

/* What comes is seen at once, without a thread that would have to look. */
START_TEST(alone)
{
    int t = mock_timeline(), two = fence_at(t, 2), three = fence_at(t, 3);
    ck_assert(!has_ended(two, 0));
    advance(t, 1);
    ck_assert(!has_ended(two, 0));
    ck_assert_int_eq(status_of(two), 0);
    advance(t, 1);
    ck_assert(has_ended(two, 0) && !has_ended(three, 0));
    ck_assert_int_eq(status_of(two), 1);
    int late = fence_at(t, 1);
    ck_assert(has_ended(late, 0));
    ck_assert_int_eq(fence(t, _IOW('W', 7, int), &late), -ENOTTY);
    ck_assert_int_eq(fence(two, TIMELINE_ADVANCE, &late), -ENOTTY);
    close(t); /* nobody can end it any more */
    ck_assert(has_ended(three, 0));
    ck_assert_int_eq(status_of(three), -ENOENT);
    ck_assert_int_eq(status_of(two), 1);
    close(two), close(three), close(late);
}
END_TEST

/* Fences wait on, though the process has but one descriptor left. */
START_TEST(few_descriptors)
{
    int t = mock_timeline(), fences[40], next;
    struct rlimit before, few;
    for (uint32_t i = 0; i < 40; i++)
        fences[i] = fence_at(t, i + 1);
    next = dup(0);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = (rlim_t)next + 1, .rlim_max = before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    advance(t, 1);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (unsigned i = 0; i < 40; i++) {
        ck_assert(has_ended(fences[i], 0) == !i);
        close(fences[i]);
    }
    close(t);
}
END_TEST

START_TEST(merged)
{
    int a = mock_timeline(), b = mock_timeline();
    int one = fence_at(a, 1), two = fence_at(b, 2), five = fence_at(a, 5);
    struct sync_merge_data both = {.fd2 = two}, all = {.fd2 = five};
    struct sync_fence_info parts[4];
    struct sync_file_info info = {.num_fences = 4, .sync_fence_info = (uintptr_t)parts};
    ck_assert_int_eq(fence(one, SYNC_IOC_MERGE, &both), 0);
    ck_assert_int_eq(fence(both.fence, SYNC_IOC_MERGE, &all), 0);
    advance(a, 1);
    advance(b, 2);
    ck_assert(has_ended(both.fence, 30000) && !has_ended(all.fence, 0));
    ck_assert_int_eq(fence(all.fence, SYNC_IOC_FILE_INFO, &info), 0);
    ck_assert_uint_eq(info.num_fences, 2); /* of a timeline the later one */
    ck_assert_int_eq(parts[0].status + parts[1].status, 1);
    advance(a, 4);
    ck_assert(has_ended(all.fence, 30000));
    close(one), close(two), close(five), close(both.fence), close(all.fence);
    close(a), close(b);
}
END_TEST

/* The descriptor is the timeline, whoever has it. */
START_TEST(another_process)
{
    int t = mock_timeline(), f = fence_at(t, 1), status;
    pid_t child = fork();
    if (child == 0) {
        uint32_t one = 1;
        _exit(fence(t, TIMELINE_ADVANCE, &one) == 0 ? 0 : 1);
    }
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    ck_assert(has_ended(f, 0));
    close(f), close(t);
}
END_TEST

/* Points that have ended are found when later ones have not. */
START_TEST(points)
{
    int t = mock_timeline();
    uint32_t h = object(), tmp = object();
    const uint64_t numbers[] = {1, 5, 3, 6};
    for (uint32_t i = 0; i < 4; i++) {
        int f = fence_at(t, i + 1);
        struct drm_syncobj_transfer move = {
            .src_handle = tmp, .dst_handle = h, .dst_point = numbers[i]};
        import(tmp, f);
        ck_assert_int_eq(CALL(TRANSFER, transfer, &move), 0);
        close(f);
    }
    uint64_t value = 0;
    struct drm_syncobj_timeline_array q = {
        .handles = (uintptr_t)&h, .points = (uintptr_t)&value, .count_handles = 1};
    advance(t, 3);
    ck_assert_int_eq(CALL(QUERY, timeline_array, &q), 0);
    ck_assert_uint_eq(value, 5);
    ck_assert_int_eq(wait_one(h, 5, 0, 1), 0);
    ck_assert_int_eq(wait_one(h, 6, 0, 1), -ETIME);
    close(t);
    ck_assert_int_eq(wait_one(h, 6, 0, 1), 0);
}
END_TEST

static uint32_t awaited;

static void *waiter(void *result)
{
    *(int *)result = wait_one(awaited, 0, 0, INT64_MAX);
    return NULL;
}

/* A wait is for what was in the object when it began. */
START_TEST(snapshot)
{
    int t = mock_timeline(), result = -EINVAL;
    for (uint32_t i = 1; result == -EINVAL && i < 200; i++) {
        pthread_t thread;
        struct drm_syncobj_array a = {.handles = (uintptr_t)&awaited,
                                      .count_handles = 1};
        int f = fence_at(t, i);
        awaited = object();
        import(awaited, f);
        ck_assert_int_eq(pthread_create(&thread, NULL, waiter, &result), 0);
        usleep(5000 * i);
        ck_assert_int_eq(CALL(RESET, array, &a), 0);
        usleep(2000); /* -EINVAL: it began too late, or asked again */
        advance(t, 1);
        pthread_join(thread, NULL);
        close(f);
    }
    ck_assert_int_eq(result, 0);
    close(t);
}
END_TEST

/* A submission is taken at once and begins when the timeline says. */
START_TEST(before_a_submission)
{
    union drm_amdgpu_ctx c = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &c), 0);
    uint32_t *ib = mock_gem(4096, NULL), *mem = mock_gem(4096, NULL);
    const uint32_t write[] = {3u << 30 | 3u << 16 | 0x37u << 8, 5u << 8,
                              (uint32_t)(uintptr_t)mem,
                              (uint32_t)((uint64_t)(uintptr_t)mem >> 32), 7};
    memcpy(ib, write, sizeof(write));
    int t = mock_timeline(), f = fence_at(t, 1);
    struct drm_amdgpu_cs_chunk_sem in = {object()}, out = {object()};
    struct drm_amdgpu_cs_chunk_ib what = {.va_start = (uintptr_t)ib,
                                          .ib_bytes = sizeof(write),
                                          .ip_type = AMDGPU_HW_IP_COMPUTE};
    struct drm_amdgpu_cs_chunk chunks[] = {
        {AMDGPU_CHUNK_ID_IB, sizeof(what) / 4, (uintptr_t)&what},
        {AMDGPU_CHUNK_ID_SYNCOBJ_IN, 1, (uintptr_t)&in},
        {AMDGPU_CHUNK_ID_SYNCOBJ_OUT, 1, (uintptr_t)&out}};
    uint64_t list[] = {(uintptr_t)&chunks[0], (uintptr_t)&chunks[1],
                       (uintptr_t)&chunks[2]};
    union drm_amdgpu_cs cs = {.in = {.ctx_id = c.out.alloc.ctx_id,
                                     .num_chunks = 3,
                                     .chunks = (uintptr_t)list}};
    import(in.handle, f);
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CS, &cs), 0);
    usleep(20000);
    ck_assert_int_eq(wait_one(out.handle, 0, 0, 1), -ETIME);
    ck_assert_uint_eq(__atomic_load_n(mem, __ATOMIC_ACQUIRE), 0);
    advance(t, 1);
    ck_assert_int_eq(wait_one(out.handle, 0, 0, INT64_MAX), 0);
    ck_assert_uint_eq(__atomic_load_n(mem, __ATOMIC_ACQUIRE), 7);
    close(f), close(t);
}
END_TEST

int main(void)
{
    mock_begin();
    Suite *s = suite_create("timelines");
    TCase *t = tcase_create("timelines");
    tcase_add_test(t, alone);
    tcase_add_test(t, few_descriptors);
    tcase_add_test(t, merged);
    tcase_add_test(t, another_process);
    tcase_add_test(t, points);
    tcase_add_test(t, snapshot);
    tcase_add_test(t, before_a_submission);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
