/* test_contexts.c: waves of a queue that is stopped inside a kernel: what the save area
 * shows of them, and that they take over what a debugger has changed there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "../suite.h"
#include "board.h"
#include "mock.h"

/* v0 = 4 * work-item, v1 = 0x1000 + v0, s6 = 0x600, m0 = 0x77. Counts at 4 until there
 * is something at 0; then stores v1 from 512 on, s6 at 8, m0 at 12. Behind that, nobody
 * comes there by himself: stores 42 at 16. */
static const uint32_t kernel_code[] = {
    0x30000082, 0x4a0200ff, 0x00001000, 0x7e0a0280, 0xbe8600ff, 0x00000600, 0xbe840080,
    0xbefd00ff, 0x00000077, 0x80048104, 0x7e060204, 0xdc6a0004, 0x00000305, 0xdc524000,
    0x03000005, 0xbf8903f7, 0x7e0a0503, 0xbf068005, 0xbfa2fff6, 0xdc6a0200, 0x00000100,
    0x7e060206, 0xdc6a0008, 0x00000305, 0x7e06027d, 0xdc6a000c, 0x00000305, 0xbfb00000,
    0x7e0602aa, 0xdc6a0010, 0x00000305, 0xbfb00000, 0xbf9f0000};

enum {
    LOOP = 0x24,
    LOOP_END = 0x4c,
    OTHER = 0x70, /* bytes of code */
    VGPRS = 8,
    STACK = 20, /* bytes of the control stack for one wave */
    SGPRS = 128,
    /* dwords behind them */
    M0 = 0,
    PC = 1,
    EXEC = 3,
    STATUS = 5,
};
#define HALT          (1u << 13)
#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define LO(p)         ((uint32_t)(uintptr_t)(p))
#define HI(p)         ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))
#define COUNT(a)      ((unsigned)(sizeof(a) / sizeof((a)[0])))

static uint8_t *text;
static uint32_t *mem;
static struct mock_queue queue;

static void begin(unsigned lanes)
{
    text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    mem = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    memcpy(text, kernel_code, sizeof(kernel_code));
    mock_queue_create_saved(&queue, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    const uint32_t p[] = {PM4(0x76, 3),
                          0x20c,
                          LO((uintptr_t)text >> 8),
                          HI((uintptr_t)text >> 8),
                          PM4(0x76, 3),
                          0x212,
                          lanes == 64,
                          4u << 1,
                          PM4(0x76, 3),
                          0x240,
                          LO(mem),
                          HI(mem),
                          PM4(0x76, 4),
                          0x207,
                          lanes,
                          1,
                          1,
                          PM4(0x15, 4),
                          1,
                          1,
                          1,
                          lanes == 32 ? 0x8005 : 5};
    mock_submit(&queue, p, COUNT(p));
}

/* One wave: its registers begin behind the control stack. */
static uint32_t *wave(void)
{
    return (uint32_t *)(void *)(queue.area + BOARD_CTL_STACK_BYTES);
}

static uint32_t *hardware(unsigned lanes)
{
    return wave() + VGPRS * lanes + SGPRS;
}

static bool counts(unsigned ms)
{
    uint32_t before = __atomic_load_n(mem + 1, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < ms; i++) {
        usleep(1000);
        if (__atomic_load_n(mem + 1, __ATOMIC_ACQUIRE) != before)
            return true;
    }
    return false;
}

static void run(bool active)
{
    struct kfd_ioctl_update_queue_args u = {.queue_id = queue.id,
                                            .ring_base_address = (uintptr_t)queue.ring,
                                            .ring_size = 4096,
                                            .queue_percentage = active ? 100 : 0};
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
}

static void check_sizes(unsigned lanes)
{
    uint32_t header[4] = {0}, bytes = VGPRS * lanes * 4 + 640;
    struct kfd_ioctl_get_queue_wave_state_args w = {
        .queue_id = queue.id, .ctl_stack_address = (uintptr_t)header};
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &w), 0);
    ck_assert_uint_eq(w.ctl_stack_used_size, STACK);
    ck_assert_uint_eq(w.save_area_used_size, bytes);
    ck_assert_uint_eq(header[0], BOARD_CTL_STACK_BYTES - STACK);
    ck_assert_uint_eq(header[2], BOARD_CTL_STACK_BYTES + bytes);
}

static void stopped(unsigned lanes)
{
    begin(lanes);
    ck_assert(counts(10000));
    run(false);
    ck_assert(!counts(50));
    check_sizes(lanes);
    run(false); /* once more: it is the same */
    check_sizes(lanes);
    uint32_t *v1 = wave() + lanes, *s6 = wave() + VGPRS * lanes + 6;
    uint32_t *hw = hardware(lanes);
    for (unsigned i = 0; i < lanes; i++)
        ck_assert_uint_eq(v1[i], 0x1000 + 4 * i);
    ck_assert_uint_eq(*s6, 0x600);
    ck_assert_uint_eq(hw[M0], 0x77);
    ck_assert_uint_eq(hw[EXEC], 0xffffffff);
    ck_assert_uint_eq(hw[PC + 1], HI(text));
    ck_assert_uint_ge(hw[PC], LO(text) + LOOP);
    ck_assert_uint_lt(hw[PC], LO(text) + LOOP_END);
    ck_assert(!(hw[STATUS] & HALT));
    v1[lanes - 3] = 5;
    *s6 = 6;
    hw[M0] = 7;
    run(true);
    ck_assert(counts(10000));
    __atomic_store_n(mem, 1, __ATOMIC_RELEASE);
    ck_assert(mock_wait32(mem + 3, 7));
    ck_assert_uint_eq(mem[2], 6);
    for (unsigned i = 0; i < lanes; i++)
        ck_assert_uint_eq(mem[128 + i], i == lanes - 3 ? 5 : 0x1000 + 4 * i);
    mock_queue_destroy(&queue);
}

START_TEST(waves_of_32)
{
    stopped(32);
}
END_TEST

START_TEST(waves_of_64)
{
    stopped(64);
}
END_TEST

/* The last page fault, as the render node tells it. */
static struct drm_amdgpu_info_gpuvm_fault last_fault(void)
{
    struct drm_amdgpu_info_gpuvm_fault f;
    struct drm_amdgpu_info i = {.return_pointer = (uintptr_t)&f,
                                .return_size = sizeof(f),
                                .query = AMDGPU_INFO_GPUVM_FAULT};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &i), 0);
    return f;
}

/* Elsewhere; and into nowhere, which ends the queue and nothing else. */
START_TEST(another_place)
{
    begin(32);
    ck_assert(counts(10000));
    run(false);
    hardware(32)[PC] = LO(text) + OTHER;
    run(true);
    ck_assert(mock_wait32(mem + 4, 42));
    mock_queue_destroy(&queue);
    ck_assert_uint_eq(last_fault().addr, 0);
    begin(32);
    ck_assert(counts(10000));
    run(false);
    hardware(32)[PC + 1] ^= 0x4000;
    run(true);
    ck_assert(!counts(50));
    for (unsigned i = 0; i < 10000 && !last_fault().addr; i++)
        usleep(1000);
    ck_assert_uint_eq(last_fault().addr, ((uintptr_t)text ^ 1ull << 46) & ~4095ull);
    ck_assert_uint_eq(last_fault().status & 0x1f0, 0x110); /* nothing is there */
    mock_queue_destroy(&queue);
}
END_TEST

/* ---- a debugger ---- */

static int news[2];

static struct kfd_ioctl_dbg_trap_args trap(uint32_t op)
{
    return (struct kfd_ioctl_dbg_trap_args){.pid = (uint32_t)getpid(), .op = op};
}

static int launch(uint32_t mode)
{
    struct kfd_ioctl_dbg_trap_args d = trap(KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_MODE);
    d.launch_mode.launch_mode = mode;
    return kfd(AMDKFD_IOC_DBG_TRAP, &d);
}

static void attach(void)
{
    struct kfd_ioctl_runtime_enable_args on = {.r_debug = 5, .mode_mask = 3};
    struct kfd_ioctl_dbg_trap_args d = trap(KFD_IOC_DBG_TRAP_ENABLE);
    ck_assert_int_eq(kfd(AMDKFD_IOC_RUNTIME_ENABLE, &on), 0);
    d.enable.dbg_fd = (uint32_t)news[1];
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
}

static void detach(void)
{
    struct kfd_ioctl_runtime_enable_args off = {0};
    struct kfd_ioctl_dbg_trap_args d = trap(KFD_IOC_DBG_TRAP_DISABLE);
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert_int_eq(kfd(AMDKFD_IOC_RUNTIME_ENABLE, &off), 0);
}

static void suspend(bool yes)
{
    struct kfd_queue_snapshot_entry seen;
    struct kfd_ioctl_dbg_trap_args d = trap(KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT);
    d.queue_snapshot = (struct kfd_ioctl_dbg_trap_queue_snapshot_args){
        .exception_mask = KFD_EC_MASK(EC_QUEUE_NEW),
        .snapshot_buf_ptr = (uintptr_t)&seen,
        .num_queues = 1,
        .entry_size = sizeof(seen)};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    d = trap(yes ? KFD_IOC_DBG_TRAP_SUSPEND_QUEUES : KFD_IOC_DBG_TRAP_RESUME_QUEUES);
    if (yes) {
        d.suspend_queues.queue_array_ptr = (uintptr_t)&queue.id;
        d.suspend_queues.num_queues = 1;
    } else {
        d.resume_queues.queue_array_ptr = (uintptr_t)&queue.id;
        d.resume_queues.num_queues = 1;
    }
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 1);
}

/* Waves are launched halted, and go on once a debugger lets them; those that it halts
 * wait, too. */
static void let_go(void)
{
    ck_assert_int_eq(launch(KFD_DBG_TRAP_WAVE_LAUNCH_MODE_HALT), 0);
    begin(32);
    ck_assert(!counts(50));
    uint32_t header[4], *hw = hardware(32);
    for (unsigned i = 0;; i++) { /* the wave may not be there yet */
        suspend(true);
        memcpy(header, queue.area, sizeof(header)); /* told without being asked */
        if (header[1] || i == 200)
            break;
        suspend(false);
        usleep(10000);
    }
    ck_assert_uint_eq(header[1], STACK);
    for (unsigned i = 0; i < 20; i++) { /* nobody has had the time to go on */
        suspend(false);
        suspend(true);
        memcpy(header, queue.area, sizeof(header));
        ck_assert_uint_eq(header[1], STACK);
    }
    ck_assert_uint_eq(header[3], VGPRS * 128 + 640);
    ck_assert(hw[STATUS] & HALT);
    ck_assert_uint_eq(hw[PC], LO(text));
    hw[STATUS] &= ~HALT;
    suspend(false);
    ck_assert(counts(10000));
    suspend(true);
    hw[STATUS] |= HALT;
    suspend(false);
    ck_assert(!counts(50));
    suspend(true);
    hw[STATUS] &= ~HALT;
    suspend(false);
    ck_assert(counts(10000));
    __atomic_store_n(mem, 1, __ATOMIC_RELEASE);
    ck_assert(mock_wait32(mem + 3, 0x77));
    ck_assert_int_eq(launch(KFD_DBG_TRAP_WAVE_LAUNCH_MODE_NORMAL), 0);
    mock_queue_destroy(&queue);
    begin(32);
    ck_assert(counts(10000));
    mock_queue_destroy(&queue);
}

START_TEST(halted)
{
    attach();
    ck_assert_int_eq(launch(4), -EINVAL);
    let_go();
    detach();
}
END_TEST

/* The same instruction by instruction, since memory is watched. */
START_TEST(halted_while_watched)
{
    attach();
    struct kfd_ioctl_dbg_trap_args d = trap(KFD_IOC_DBG_TRAP_SET_NODE_ADDRESS_WATCH);
    d.set_node_address_watch = (struct kfd_ioctl_dbg_trap_set_node_address_watch_args){
        .address = 0x10000, .mask = ~0u, .gpu_id = GPU_ID};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    let_go();
    detach();
}
END_TEST

/* A queue goes away with waves that stand. */
START_TEST(halted_for_good)
{
    attach();
    ck_assert_int_eq(launch(KFD_DBG_TRAP_WAVE_LAUNCH_MODE_HALT), 0);
    begin(32);
    ck_assert(!counts(50));
    mock_queue_destroy(&queue);
    detach();
}
END_TEST

int main(void)
{
    mock_begin();
    if (pipe(news) != 0)
        return 1;
    Suite *s = suite_create("contexts");
    TCase *t = tcase_create("contexts");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, waves_of_32);
    tcase_add_test(t, waves_of_64);
    tcase_add_test(t, another_place);
    tcase_add_test(t, halted);
    tcase_add_test(t, halted_while_watched);
    tcase_add_test(t, halted_for_good);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
