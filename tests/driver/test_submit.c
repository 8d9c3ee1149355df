/* test_submit.c: command submission through the render node, and management events.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "../suite.h"
#include "mock.h"

#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define LO(p)         ((uint32_t)(uintptr_t)(p))
#define HI(p)         ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))

static uint32_t context;
static uint32_t *ib, *mem; /* GPU memory */
static uint32_t fence_bo;

static uint32_t new_context(void)
{
    union drm_amdgpu_ctx c = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &c), 0);
    ck_assert_uint_ne(c.out.alloc.ctx_id, 0);
    return c.out.alloc.ctx_id;
}

struct cs {
    uint32_t ip, dwords;
    uint64_t va;
    bool user_fence;
    uint64_t after; /* number on the compute ring */
};

/* Returns the result; *number out. */
static int submit(const struct cs *s, uint64_t *number)
{
    struct drm_amdgpu_cs_chunk_ib chunk_ib = {
        .va_start = s->va, .ib_bytes = s->dwords * 4, .ip_type = s->ip};
    struct drm_amdgpu_cs_chunk_fence chunk_fence = {.handle = fence_bo, .offset = 16};
    struct drm_amdgpu_cs_chunk_dep chunk_dep = {
        .ip_type = AMDGPU_HW_IP_COMPUTE, .ctx_id = context, .handle = s->after};
    struct drm_amdgpu_cs_chunk chunks[3] = {
        {AMDGPU_CHUNK_ID_IB, sizeof(chunk_ib) / 4, (uintptr_t)&chunk_ib}};
    uint64_t list[3] = {(uintptr_t)&chunks[0], (uintptr_t)&chunks[1],
                        (uintptr_t)&chunks[2]};
    uint32_t n = 1;
    if (s->user_fence)
        chunks[n++] = (struct drm_amdgpu_cs_chunk){
            AMDGPU_CHUNK_ID_FENCE, sizeof(chunk_fence) / 4, (uintptr_t)&chunk_fence};
    if (s->after)
        chunks[n++] = (struct drm_amdgpu_cs_chunk){
            AMDGPU_CHUNK_ID_DEPENDENCIES, sizeof(chunk_dep) / 4, (uintptr_t)&chunk_dep};
    union drm_amdgpu_cs cs = {
        .in = {.ctx_id = context, .num_chunks = n, .chunks = (uintptr_t)list}};
    int r = drm(DRM_IOCTL_AMDGPU_CS, &cs);
    if (r == 0 && number)
        *number = cs.out.handle;
    return r;
}

/* 0: done, 1: busy, negative: errno. timeout 0 polls, else until it is done. */
static int wait_cs(uint32_t ip, uint64_t number, bool poll_only)
{
    union drm_amdgpu_wait_cs w = {.in = {.handle = number,
                                         .timeout = poll_only ? 0 : UINT64_MAX,
                                         .ip_type = ip,
                                         .ctx_id = context}};
    int r = drm(DRM_IOCTL_AMDGPU_WAIT_CS, &w);
    return r ? r : (int)w.out.status;
}

START_TEST(prepare)
{
    ib = mock_gem(65536, NULL);
    mem = mock_gem(65536, NULL);
    mock_gem(4096, &fence_bo);
    context = new_context();
}
END_TEST

START_TEST(compute_and_fence)
{
    const uint32_t p[] = {PM4(0x37, 4), 5u << 8, LO(mem), HI(mem), 4711};
    uint64_t number = 0, second = 0;
    memcpy(ib, p, sizeof(p));
    struct cs s = {AMDGPU_HW_IP_COMPUTE, 5, (uintptr_t)ib, true, 0};
    ck_assert_int_eq(submit(&s, &number), 0);
    ck_assert_uint_ge(number, 1);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_COMPUTE, number, false), 0);
    ck_assert_uint_eq(mem[0], 4711);
    union drm_amdgpu_gem_mmap m = {.in = {.handle = fence_bo}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_MMAP, &m), 0);
    s.ip = AMDGPU_HW_IP_GFX;
    ck_assert_int_eq(submit(&s, &second), 0);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_GFX, second, false), 0);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_COMPUTE, number + 1000, false), -EINVAL);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_COMPUTE, UINT64_MAX, false), 0);
}
END_TEST

/* DMA waits for compute, which waits for the host. */
START_TEST(dependencies)
{
    const uint32_t wait[] = {
        PM4(0x3c, 6), 1u << 4 | 3, LO(mem + 8), HI(mem + 8), 77, UINT32_MAX, 4};
    const uint32_t fill[] = {11 | 2u << 30, LO(mem + 16), HI(mem + 16), 0x5a5a5a5a, 63};
    uint64_t compute, dma;
    mem[8] = mem[16] = 0;
    memcpy(ib + 256, wait, sizeof(wait));
    memcpy(ib + 512, fill, sizeof(fill));
    struct cs a = {AMDGPU_HW_IP_COMPUTE, 7, (uintptr_t)(ib + 256), false, 0};
    ck_assert_int_eq(submit(&a, &compute), 0);
    struct cs b = {AMDGPU_HW_IP_DMA, 5, (uintptr_t)(ib + 512), false, compute};
    ck_assert_int_eq(submit(&b, &dma), 0);
    usleep(20000);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_DMA, dma, true), 1);
    ck_assert_uint_eq(mem[16], 0);
    union drm_amdgpu_gem_wait_idle idle = {.in = {.handle = fence_bo}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, &idle), 0);
    ck_assert_uint_eq(idle.out.status, 1);
    __atomic_store_n(mem + 8, 77, __ATOMIC_RELEASE);
    struct drm_amdgpu_fence fences[2] = {
        {.ctx_id = context, .ip_type = AMDGPU_HW_IP_COMPUTE, .seq_no = compute},
        {.ctx_id = context, .ip_type = AMDGPU_HW_IP_DMA, .seq_no = dma}};
    union drm_amdgpu_wait_fences w = {.in = {.fences = (uintptr_t)fences,
                                             .fence_count = 2,
                                             .wait_all = 1,
                                             .timeout_ns = UINT64_MAX}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_WAIT_FENCES, &w), 0);
    ck_assert_uint_eq(w.out.status, 1);
    for (unsigned i = 16; i < 32; i++)
        ck_assert_uint_eq(mem[i], 0x5a5a5a5a);
}
END_TEST

START_TEST(bad_arguments)
{
    struct cs s = {AMDGPU_HW_IP_UVD, 5, (uintptr_t)ib, false, 0};
    ck_assert_int_eq(submit(&s, NULL), -EINVAL);
    s.ip = AMDGPU_HW_IP_COMPUTE;
    s.after = 1u << 30;
    ck_assert_int_eq(submit(&s, NULL), -EINVAL);
    s.after = 0;
    s.va += 2;
    ck_assert_int_eq(submit(&s, NULL), -EINVAL);
    union drm_amdgpu_cs cs = {.in = {.ctx_id = context}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CS, &cs), -EINVAL);
    cs.in.num_chunks = 1;
    cs.in.chunks = 8;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CS, &cs), -EFAULT);
    union drm_amdgpu_ctx c = {.in = {.op = AMDGPU_CTX_OP_FREE_CTX, .ctx_id = 999}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &c), -EINVAL);
    struct drm_amdgpu_bo_list_entry entry = {.bo_handle = 0x7fffffff};
    union drm_amdgpu_bo_list l = {.in = {.operation = AMDGPU_BO_LIST_OP_CREATE,
                                         .bo_number = 1,
                                         .bo_info_size = sizeof(entry),
                                         .bo_info_ptr = (uintptr_t)&entry}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_BO_LIST, &l), -ENOENT);
    entry.bo_handle = fence_bo;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_BO_LIST, &l), 0);
    ck_assert_uint_ge(l.out.list_handle, 1);
}
END_TEST

/* What faults is taken off its ring; contexts learn of it, the next work runs. */
START_TEST(failure_and_reset)
{
    const uint32_t bad[] = {PM4(0x37, 4), 5u << 8, 0x1000, 0x10, 1};
    const uint32_t good[] = {PM4(0x37, 4), 5u << 8, LO(mem + 40), HI(mem + 40), 12};
    uint64_t number;
    memcpy(ib, bad, sizeof(bad));
    struct kfd_ioctl_smi_events_args smi = {.gpuid = GPU_ID};
    ck_assert_int_eq(kfd(AMDKFD_IOC_SMI_EVENTS, &smi), 0);
    int fd = (int)smi.anon_fd;
    uint64_t mask = 1; /* page faults */
    char text[128] = "";
    ck_assert_int_eq(read(fd, text, sizeof(text)), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert_int_eq(write(fd, &mask, sizeof(mask)), sizeof(mask));
    struct cs s = {AMDGPU_HW_IP_COMPUTE, 5, (uintptr_t)ib, false, 0};
    ck_assert_int_eq(submit(&s, &number), 0);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_COMPUTE, number, false), -ECANCELED);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 5000), 1);
    ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
    unsigned event = 0, pid = 0;
    ck_assert_int_eq(sscanf(text, "%x %x:", &event, &pid), 2);
    ck_assert_uint_eq(event, 1);
    ck_assert_uint_eq(pid, (unsigned)getpid());
    ck_assert(strchr(text, '\n') == text + strlen(text) - 1); /* one event */
    close(fd);
    union drm_amdgpu_ctx c = {
        .in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = context}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &c), 0);
    ck_assert_uint_eq(c.out.state.flags,
                      AMDGPU_CTX_QUERY2_FLAGS_RESET | AMDGPU_CTX_QUERY2_FLAGS_GUILTY);
    memcpy(ib, good, sizeof(good));
    ck_assert_int_eq(submit(&s, &number), -ECANCELED);
    context = new_context();
    ck_assert_int_eq(submit(&s, &number), 0);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_COMPUTE, number, false), 0);
    ck_assert_uint_eq(mem[40], 12);
    union drm_amdgpu_ctx fresh = {
        .in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = new_context()}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &fresh), 0);
    ck_assert_uint_eq(fresh.out.state.flags, 0);
}
END_TEST

/* A submission that waits for ever is ended, and its owner's others with it; what
 * others have behind it runs. */
START_TEST(lockup)
{
    const uint32_t wait[] = {
        PM4(0x3c, 6), 1u << 4 | 3, LO(mem + 80), HI(mem + 80), 77, UINT32_MAX, 4};
    const uint32_t good[] = {PM4(0x37, 4), 5u << 8, LO(mem + 81), HI(mem + 81), 12};
    uint64_t first, second, third;
    uint32_t guilty = context, innocent = new_context();
    mem[80] = mem[81] = 0;
    memcpy(ib + 1024, wait, sizeof(wait));
    memcpy(ib + 1280, good, sizeof(good));
    struct cs a = {AMDGPU_HW_IP_GFX, 7, (uintptr_t)(ib + 1024), false, 0};
    struct cs b = {AMDGPU_HW_IP_GFX, 5, (uintptr_t)(ib + 1280), false, 0};
    ck_assert_int_eq(submit(&a, &first), 0);
    ck_assert_int_eq(submit(&b, &second), 0);
    context = innocent;
    ck_assert_int_eq(submit(&b, &third), 0);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_GFX, third, false), 0);
    ck_assert_uint_eq(mem[81], 12);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_GFX, first, false), -ECANCELED);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_GFX, second, false), -ECANCELED);
    context = guilty;
    ck_assert_int_eq(submit(&b, &second), -ECANCELED);
    context = innocent;
    union drm_amdgpu_ctx c = {
        .in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = innocent}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &c), 0);
    ck_assert_uint_eq(c.out.state.flags, AMDGPU_CTX_QUERY2_FLAGS_RESET);
    ck_assert_int_eq(submit(&b, &third), 0);
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_GFX, third, false), 0);
}
END_TEST

/* A child of fork has the buffers, addresses and contexts of the open file. */
START_TEST(child)
{
    const uint32_t good[] = {PM4(0x37, 4), 5u << 8, LO(mem + 90), HI(mem + 90), 13};
    struct cs s = {AMDGPU_HW_IP_COMPUTE, 5, (uintptr_t)ib, false, 0};
    memcpy(ib, good, sizeof(good));
    mem[90] = 0;
    pid_t pid = fork();
    if (pid == 0) {
        uint64_t number = 0;
        int r = submit(&s, &number);
        r = r ? r : wait_cs(AMDGPU_HW_IP_COMPUTE, number, false);
        _exit(r == 0 && mem[90] == 13 ? 0 : 1);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(mem[90], 13);
}
END_TEST

/* Many submissions: the ring wraps; their numbers come back in order. */
START_TEST(many)
{
    uint64_t number = 0, before = 0;
    ib[0] = PM4(0x1e, 8); /* ATOMIC_MEM add of 1 */
    const uint32_t rest[] = {0x0f, LO(mem + 60), HI(mem + 60), 1, 0, 0, 0, 0};
    memcpy(ib + 1, rest, sizeof(rest));
    mem[60] = 0;
    struct cs s = {AMDGPU_HW_IP_COMPUTE, 9, (uintptr_t)ib, false, 0};
    for (unsigned i = 0; i < 5000; i++) {
        ck_assert_int_eq(submit(&s, &number), 0);
        ck_assert_uint_gt(number, before);
        before = number;
    }
    ck_assert_int_eq(wait_cs(AMDGPU_HW_IP_COMPUTE, number, false), 0);
    ck_assert_uint_eq(mem[60], 5000);
    struct kfd_ioctl_set_xnack_mode_args x = {.xnack_enabled = 0};
    ck_assert_int_eq(kfd(AMDKFD_IOC_SET_XNACK_MODE, &x), 0); /* no queue of a client */
    struct kfd_ioctl_destroy_queue_args d = {.queue_id = 1023};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DESTROY_QUEUE, &d), -EINVAL);
}
END_TEST

int main(void)
{
    mock_begin();
    Suite *s = suite_create("submission");
    TCase *t = tcase_create("render node");
    tcase_add_test(t, prepare);
    tcase_add_test(t, compute_and_fence);
    tcase_add_test(t, dependencies);
    tcase_add_test(t, bad_arguments);
    tcase_add_test(t, failure_and_reset);
    tcase_add_test(t, lockup);
    tcase_add_test(t, child);
    tcase_add_test(t, many);
    tcase_set_timeout(t, 60);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
