/* test_sync.c: synchronisation objects, alone and with submissions.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>
#include <linux/sync_file.h>

#include "../suite.h"
#include "mock.h"

#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define LO(p)         ((uint32_t)(uintptr_t)(p))
#define HI(p)         ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))
#define CALL(nr, type, args)                                                           \
    drm(DRM_IOWR(DRM_NR_SYNCOBJ_##nr, struct drm_syncobj_##type), args)

static uint32_t context;
static uint32_t *ib, *mem;

static uint32_t object(uint32_t flags)
{
    struct drm_syncobj_create c = {.flags = flags};
    ck_assert_int_eq(CALL(CREATE, create, &c), 0);
    ck_assert_uint_ne(c.handle, 0);
    return c.handle;
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

static uint64_t query(uint32_t handle, uint32_t flags)
{
    uint64_t point = 99;
    struct drm_syncobj_timeline_array q = {.handles = (uintptr_t)&handle,
                                           .points = (uintptr_t)&point,
                                           .count_handles = 1,
                                           .flags = flags};
    ck_assert_int_eq(CALL(QUERY, timeline_array, &q), 0);
    return point;
}

static int signal_point(uint32_t handle, uint64_t point)
{
    struct drm_syncobj_timeline_array s = {
        .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1};
    return CALL(TIMELINE_SIGNAL, timeline_array, &s);
}

/* Submit dwords at ib + at, with one chunk about objects (bytes 0: none). */
static int submit(unsigned at, unsigned dwords, uint32_t id, const void *data,
                  size_t bytes)
{
    struct drm_amdgpu_cs_chunk_ib what = {.va_start = (uintptr_t)(ib + at),
                                          .ib_bytes = dwords * 4,
                                          .ip_type = AMDGPU_HW_IP_COMPUTE};
    struct drm_amdgpu_cs_chunk chunks[2] = {
        {AMDGPU_CHUNK_ID_IB, sizeof(what) / 4, (uintptr_t)&what},
        {id, (uint32_t)(bytes / 4), (uintptr_t)data}};
    uint64_t list[2] = {(uintptr_t)&chunks[0], (uintptr_t)&chunks[1]};
    union drm_amdgpu_cs cs = {.in = {.ctx_id = context,
                                     .num_chunks = bytes ? 2 : 1,
                                     .chunks = (uintptr_t)list}};
    return drm(DRM_IOCTL_AMDGPU_CS, &cs);
}

/* Packets that wait until mem[word] is 77; that write 1 to it. */
static unsigned put_wait(unsigned at, unsigned word)
{
    const uint32_t p[] = {
        PM4(0x3c, 6), 1u << 4 | 3, LO(mem + word), HI(mem + word), 77, UINT32_MAX, 4};
    memcpy(ib + at, p, sizeof(p));
    return sizeof(p) / 4;
}

static unsigned put_write(unsigned at, unsigned word)
{
    const uint32_t p[] = {PM4(0x37, 4), 5u << 8, LO(mem + word), HI(mem + word), 1};
    memcpy(ib + at, p, sizeof(p));
    return sizeof(p) / 4;
}

START_TEST(prepare)
{
    union drm_amdgpu_ctx c = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &c), 0);
    context = c.out.alloc.ctx_id;
    ib = mock_gem(65536, NULL);
    mem = mock_gem(4096, NULL);
}
END_TEST

START_TEST(binary)
{
    uint32_t empty = object(0), full = object(DRM_SYNCOBJ_CREATE_SIGNALED);
    struct drm_syncobj_create bad = {.flags = 2};
    ck_assert_int_eq(CALL(CREATE, create, &bad), -EINVAL);
    ck_assert_int_eq(wait_one(empty, 0, 0, 0), -EINVAL);
    ck_assert_int_eq(wait_one(empty, 0, DRM_SYNCOBJ_WAIT_SUBMIT, 1), -ETIME);
    ck_assert_int_eq(wait_one(full, 0, 0, 0), 0);
    ck_assert_int_eq(wait_one(full, 0, 64, 0), -EINVAL);
    ck_assert_int_eq(wait_one(4000, 0, 0, 0), -ENOENT);
    uint32_t both[] = {empty, full};
    struct drm_syncobj_wait w = {.handles = (uintptr_t)both,
                                 .count_handles = 2,
                                 .flags = DRM_SYNCOBJ_WAIT_SUBMIT};
    ck_assert_int_eq(CALL(WAIT, wait, &w), 0);
    ck_assert_uint_eq(w.first_signaled, 1);
    w.flags |= DRM_SYNCOBJ_WAIT_ALL;
    ck_assert_int_eq(CALL(WAIT, wait, &w), -ETIME);
    struct drm_syncobj_array a = {.handles = (uintptr_t)both, .count_handles = 1};
    ck_assert_int_eq(CALL(SIGNAL, array, &a), 0);
    ck_assert_int_eq(CALL(WAIT, wait, &w), 0);
    ck_assert_int_eq(CALL(RESET, array, &a), 0);
    ck_assert_int_eq(wait_one(empty, 0, 0, 0), -EINVAL);
    a.count_handles = 0;
    ck_assert_int_eq(CALL(RESET, array, &a), -EINVAL);
    struct drm_syncobj_destroy d = {.handle = full};
    ck_assert_int_eq(CALL(DESTROY, destroy, &d), 0);
    ck_assert_int_eq(CALL(DESTROY, destroy, &d), -EINVAL);
}
END_TEST

START_TEST(timeline)
{
    uint32_t h = object(0), other = object(0);
    ck_assert_uint_eq(query(h, 0), 0);
    ck_assert_int_eq(signal_point(h, 3), 0);
    ck_assert_uint_eq(query(h, 0), 3);
    ck_assert_int_eq(wait_one(h, 3, 0, 0), 0);
    ck_assert_int_eq(wait_one(h, 4, 0, 0), -EINVAL);
    ck_assert_int_eq(wait_one(h, 4, DRM_SYNCOBJ_WAIT_AVAILABLE, 1), -ETIME);
    ck_assert_int_eq(signal_point(h, 7), 0);
    ck_assert_int_eq(wait_one(h, 4, 0, 0), 0);
    struct drm_syncobj_transfer t = {
        .src_handle = h, .dst_handle = other, .src_point = 7, .dst_point = 20};
    ck_assert_int_eq(CALL(TRANSFER, transfer, &t), 0);
    ck_assert_uint_eq(query(other, 0), 20);
    t.src_point = 8;
    ck_assert_int_eq(CALL(TRANSFER, transfer, &t), -EINVAL);
    t.dst_handle = 4000;
    ck_assert_int_eq(CALL(TRANSFER, transfer, &t), -ENOENT);
}
END_TEST

START_TEST(descriptors)
{
    uint32_t h = object(0);
    struct drm_syncobj_handle fd = {.handle = h};
    ck_assert_int_eq(CALL(HANDLE_TO_FD, handle, &fd), 0);
    struct drm_syncobj_handle in = {.fd = fd.fd};
    ck_assert_int_eq(CALL(FD_TO_HANDLE, handle, &in), 0);
    ck_assert_uint_ne(in.handle, h);
    ck_assert_int_eq(signal_point(h, 5), 0); /* they are one */
    ck_assert_uint_eq(query(in.handle, 0), 5);
    close(fd.fd);
    fd.fd = 0;
    ck_assert_int_eq(CALL(FD_TO_HANDLE, handle, &fd), -EINVAL);
    fd.handle = 4000;
    ck_assert_int_eq(CALL(HANDLE_TO_FD, handle, &fd), -EINVAL);
}
END_TEST

/* A fence of a submission as a file that becomes readable, and back. */
START_TEST(sync_file)
{
    uint32_t h = object(0), copy = object(0);
    struct drm_amdgpu_cs_chunk_sem out = {h};
    struct drm_syncobj_handle fd = {.handle = h, .flags = DRM_SYNCOBJ_SYNC_FILE};
    ck_assert_int_eq(CALL(HANDLE_TO_FD, handle, &fd), -EINVAL); /* empty */
    mem[0] = 0;
    unsigned n = put_wait(0, 0);
    ck_assert_int_eq(submit(0, n, AMDGPU_CHUNK_ID_SYNCOBJ_OUT, &out, sizeof(out)), 0);
    ck_assert_int_eq(CALL(HANDLE_TO_FD, handle, &fd), 0);
    struct pollfd p = {.fd = fd.fd, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 20), 0);
    struct drm_syncobj_handle in = {
        .handle = copy, .fd = fd.fd, .flags = DRM_SYNCOBJ_SYNC_FILE};
    ck_assert_int_eq(CALL(FD_TO_HANDLE, handle, &in), 0);
    ck_assert_int_eq(wait_one(copy, 0, 0, 1), -ETIME);
    __atomic_store_n(mem, 77, __ATOMIC_RELEASE);
    ck_assert_int_eq(poll(&p, 1, 30000), 1);
    ck_assert_int_eq(wait_one(copy, 0, 0, INT64_MAX), 0);
    close(fd.fd);
}
END_TEST

/* What a descriptor of a fence says of itself; two as one. */
START_TEST(sync_file_calls)
{
    uint32_t h = object(0), full = object(DRM_SYNCOBJ_CREATE_SIGNALED);
    struct drm_amdgpu_cs_chunk_sem out = {h};
    struct drm_syncobj_handle busy = {.handle = h, .flags = DRM_SYNCOBJ_SYNC_FILE};
    struct drm_syncobj_handle done = {.handle = full, .flags = DRM_SYNCOBJ_SYNC_FILE};
    struct sync_fence_info one = {.status = 7};
    struct sync_file_info info = {.num_fences = 0};
    mem[0] = 0;
    unsigned n = put_wait(0, 0);
    ck_assert_int_eq(submit(0, n, AMDGPU_CHUNK_ID_SYNCOBJ_OUT, &out, sizeof(out)), 0);
    ck_assert_int_eq(CALL(HANDLE_TO_FD, handle, &busy), 0);
    ck_assert_int_eq(CALL(HANDLE_TO_FD, handle, &done), 0);
    struct sync_merge_data both = {.name = "both", .fd2 = done.fd};
    ck_assert_int_eq(fence(0, SYNC_IOC_MERGE, &both), -ENOTTY);
    ck_assert_int_eq(fence(busy.fd, SYNC_IOC_MERGE, &both), 0);
    struct sync_merge_data bad = {.fd2 = -1}, flags = {.fd2 = done.fd, .flags = 1};
    ck_assert_int_eq(fence(busy.fd, SYNC_IOC_MERGE, &bad), -ENOENT);
    ck_assert_int_eq(fence(busy.fd, SYNC_IOC_MERGE, &flags), -EINVAL);
    ck_assert_int_eq(fence(both.fence, SYNC_IOC_FILE_INFO, &info), 0);
    ck_assert_int_eq(info.status, 0);
    ck_assert_uint_eq(info.num_fences, 1);
    info.sync_fence_info = (uintptr_t)&one;
    struct pollfd p = {.fd = both.fence, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 20), 0);
    __atomic_store_n(mem, 77, __ATOMIC_RELEASE);
    ck_assert_int_eq(poll(&p, 1, 30000), 1);
    ck_assert_int_eq(fence(both.fence, SYNC_IOC_FILE_INFO, &info), 0);
    ck_assert_int_eq(info.status, 1);
    ck_assert_int_eq(one.status, 1);
    ck_assert_uint_ne(one.timestamp_ns, 0);
    close(busy.fd), close(done.fd), close(both.fence);
}
END_TEST

static int eventfd_for(uint32_t handle, uint64_t point, uint32_t flags, int fd)
{
    struct drm_syncobj_eventfd e = {
        .handle = handle, .flags = flags, .point = point, .fd = fd};
    return CALL(EVENTFD, eventfd, &e);
}

/* An eventfd counts when a point is there, or has ended, before the call or after. */
START_TEST(event_descriptors)
{
    uint32_t h = object(0);
    struct drm_amdgpu_cs_chunk_syncobj second = {.handle = h, .point = 2};
    uint64_t count;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    ck_assert_int_eq(eventfd_for(h, 1, 0xbeef, fd), -EINVAL);
    ck_assert_int_eq(eventfd_for(4000, 1, 0, fd), -ENOENT);
    ck_assert_int_eq(eventfd_for(h, 1, 0, -1), -EBADF);
    ck_assert_int_eq(eventfd_for(h, 1, 0, pipes[1]), -EINVAL);
    ck_assert_int_eq(signal_point(h, 1), 0);
    ck_assert_int_eq(eventfd_for(h, 1, 0, fd), 0);
    ck_assert_int_eq(read(fd, &count, 8), 8);
    ck_assert_uint_eq(count, 1);

    struct pollfd p = {.fd = fd, .events = POLLIN};
    ck_assert_int_eq(eventfd_for(h, 2, DRM_SYNCOBJ_WAIT_AVAILABLE, fd), 0);
    ck_assert_int_eq(poll(&p, 1, 10), 0);
    mem[0] = 0;
    unsigned n = put_wait(0, 0);
    ck_assert_int_eq(
        submit(0, n, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, &second, sizeof(second)),
        0);
    ck_assert_int_eq(poll(&p, 1, 30000), 1);
    ck_assert_int_eq(read(fd, &count, 8), 8);
    ck_assert_int_eq(eventfd_for(h, 2, 0, fd), 0);
    ck_assert_int_eq(poll(&p, 1, 10), 0);
    struct drm_syncobj_destroy gone = {.handle = h}; /* is waited for all the same */
    ck_assert_int_eq(CALL(DESTROY, destroy, &gone), 0);
    __atomic_store_n(mem, 77, __ATOMIC_RELEASE);
    ck_assert_int_eq(poll(&p, 1, 30000), 1);
    close(fd), close(pipes[0]), close(pipes[1]);
}
END_TEST

/* A submission waits for another's point, added before; and for one to come. */
START_TEST(submissions)
{
    uint32_t h = object(0);
    struct drm_amdgpu_cs_chunk_syncobj first = {.handle = h, .point = 2};
    struct drm_amdgpu_cs_chunk_syncobj second = {.handle = h, .point = 6};
    struct drm_amdgpu_cs_chunk_syncobj never = {
        .handle = h, .point = 9, .flags = DRM_SYNCOBJ_WAIT_ALL};
    mem[1] = mem[2] = 0;
    unsigned n = put_wait(64, 1), m = put_write(128, 2);
    const uint32_t signal = AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL;
    const uint32_t wait = AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT;
    ck_assert_int_eq(submit(64, n, wait, &first, sizeof(first)), -EINVAL);
    ck_assert_int_eq(submit(64, n, wait, &never, sizeof(never)), -EINVAL);
    ck_assert_int_eq(submit(64, n, signal, &first, sizeof(first)), 0);
    ck_assert_int_eq(submit(128, m, signal, &second, sizeof(second)), 0);
    ck_assert_uint_eq(query(h, 0), 0);
    ck_assert_uint_eq(query(h, DRM_SYNCOBJ_QUERY_SUBMITTED), 6);
    ck_assert_int_eq(wait_one(h, 6, DRM_SYNCOBJ_WAIT_AVAILABLE, 0), 0);
    ck_assert_int_eq(wait_one(h, 6, 0, 1), -ETIME);
    __atomic_store_n(mem + 1, 77, __ATOMIC_RELEASE);
    ck_assert_int_eq(wait_one(h, 6, 0, INT64_MAX), 0);
    ck_assert_uint_eq(mem[2], 1);
    ck_assert_uint_eq(query(h, 0), 6);
    ck_assert_int_eq(submit(128, m, wait, &second, sizeof(second)), 0);
    struct drm_amdgpu_cs_chunk_sem unknown = {4000};
    ck_assert_int_eq(
        submit(128, m, AMDGPU_CHUNK_ID_SYNCOBJ_IN, &unknown, sizeof(unknown)), -ENOENT);
    ck_assert_int_eq(
        submit(128, m, AMDGPU_CHUNK_ID_SYNCOBJ_OUT, &unknown, sizeof(unknown)),
        -EINVAL);
}
END_TEST

/* The number comes from another thread, later. */
static void *later(void *arg)
{
    usleep(20000);
    (void)!signal_point(*(uint32_t *)arg, 1);
    return NULL;
}

START_TEST(wait_before_signal)
{
    uint32_t h = object(0);
    pthread_t thread;
    struct drm_amdgpu_cs_chunk_syncobj to_come = {
        .handle = h, .point = 1, .flags = DRM_SYNCOBJ_WAIT_SUBMIT};
    unsigned n = put_write(192, 3);
    mem[3] = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, later, &h), 0);
    ck_assert_int_eq(submit(192, n, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, &to_come,
                            sizeof(to_come)),
                     0);
    pthread_join(thread, NULL);
    ck_assert(mock_wait32(mem + 3, 1));
}
END_TEST

/* Rings of one submission run beside each other: each waits for the other's write. */
START_TEST(gang)
{
    struct drm_amdgpu_cs_chunk_ib what[2];
    struct drm_amdgpu_cs_chunk chunks[2];
    uint64_t list[2];
    for (unsigned i = 0; i < 2; i++) {
        unsigned at = 256 + 64 * i;
        const uint32_t write[] = {PM4(0x37, 4), 5u << 8, LO(mem + 8 + i),
                                  HI(mem + 8 + i), 77};
        memcpy(ib + at, write, sizeof(write));
        unsigned n = 5 + put_wait(at + 5, 9 - i);
        what[i] = (struct drm_amdgpu_cs_chunk_ib){.va_start = (uintptr_t)(ib + at),
                                                  .ib_bytes = 4 * n,
                                                  .ip_type = i ? AMDGPU_HW_IP_COMPUTE
                                                               : AMDGPU_HW_IP_GFX,
                                                  .ring = i};
        chunks[i] = (struct drm_amdgpu_cs_chunk){
            AMDGPU_CHUNK_ID_IB, sizeof(what[i]) / 4, (uintptr_t)&what[i]};
        list[i] = (uintptr_t)&chunks[i];
    }
    union drm_amdgpu_cs cs = {
        .in = {.ctx_id = context, .num_chunks = 2, .chunks = (uintptr_t)list}};
    mem[8] = mem[9] = 0;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CS, &cs), 0);
    union drm_amdgpu_fence_to_handle f = {
        .in = {.fence = {.ctx_id = context,
                         .ip_type = AMDGPU_HW_IP_COMPUTE,
                         .ring = 1,
                         .seq_no = cs.out.handle},
               .what = AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &f), 0);
    ck_assert_int_eq(wait_one(f.out.handle, 0, 0, INT64_MAX), 0);
    ck_assert_uint_eq(mem[8], 77);
    ck_assert_uint_eq(mem[9], 77);
}
END_TEST

int main(void)
{
    mock_begin();
    Suite *s = suite_create("synchronisation");
    TCase *t = tcase_create("objects");
    tcase_add_test(t, prepare);
    tcase_add_test(t, binary);
    tcase_add_test(t, timeline);
    tcase_add_test(t, descriptors);
    tcase_add_test(t, sync_file);
    tcase_add_test(t, sync_file_calls);
    tcase_add_test(t, event_descriptors);
    tcase_add_test(t, submissions);
    tcase_add_test(t, wait_before_signal);
    tcase_add_test(t, gang);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
