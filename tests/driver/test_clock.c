/* test_clock.c: what waves read as the 100 MHz clock is the clock that the host reads.
 * With the timing model: test_timed.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "mock.h"

/* s[8:9] = REALTIME; each lane adds 1 at 4; waits for something at 0; s[10:11] =
 * REALTIME; stores both at 16. */
static const uint32_t kernel_code[] = {
    0x7e0a0280, 0x7e080281, 0xbe884d83, 0xbf89fc07, 0xdcd60004, 0x00000405,
    0xdc524000, 0x03000005, 0xbf8903f7, 0x7e0a0503, 0xbf068005, 0xbfa2fffa,
    0xbe8a4d83, 0xbf89fc07, 0x7e000208, 0x7e020209, 0x7e04020a, 0x7e06020b,
    0xdc760010, 0x00000005, 0xbfb00000, 0xbf9f0000};

enum { LANES = 2 * 32, SLEEP_US = 30000 };

static struct kfd_ioctl_get_clock_counters_args counters(void)
{
    struct kfd_ioctl_get_clock_counters_args a = {.gpu_id = GPU_ID};
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_CLOCK_COUNTERS, &a), 0);
    return a;
}

/* A wave that waits for as long as the host sleeps reads that it was as long; the host
 * sleeps by a clock that is adjusted, by 0.1 % at most. */
START_TEST(clock_of_waves)
{
    uint8_t *text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    uint32_t *mem = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    struct mock_queue queue;
    memcpy(text, kernel_code, sizeof(kernel_code));
    mock_queue_create(&queue, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    uint64_t before = counters().gpu_clock_counter;
    mock_dispatch(&queue, text, mem, mem + 64, 1);
    ck_assert(mock_wait32(mem + 1, LANES));
    usleep(SLEEP_US);
    __atomic_store_n(mem, 1, __ATOMIC_RELEASE);
    ck_assert(mock_wait32(mem + 64, 1));
    uint64_t after = counters().gpu_clock_counter, t[2];
    memcpy(t, mem + 4, sizeof(t));
    ck_assert_uint_ge(t[0], before);
    ck_assert_uint_ge(t[1] - t[0], SLEEP_US * 100u / 1000 * 999);
    ck_assert_uint_le(t[1], after);
    mock_queue_destroy(&queue);
}
END_TEST

int main(void)
{
    mock_begin();
    Suite *s = suite_create("clock");
    TCase *t = tcase_create("clock");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, clock_of_waves);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
