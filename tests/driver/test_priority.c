/* test_priority.c: queues of different priority, with and without the timing model.
 *
 * Uses kernels that count in memory until they are told to end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "../suite.h"
#include "mock.h"
#include "config.h"
#include "shared.h"

#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define LO(p)         ((uint32_t)(uintptr_t)(p))
#define HI(p)         ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))
#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))

/* What a kernel of a queue uses: it counts at [COUNTER] while [FLAG] is 0; when it has
 * ended, the queue writes a number to [DONE]. */
enum { FLAG = 0, COUNTER = 8, DONE = 100, JOB_DWORDS = 128 };

#define LOW    2
#define MIDDLE 7
#define HIGH   9

static uint32_t *low, *high; /* jobs */
static uint8_t *text;

/* See test_packets.c. */
static const uint32_t spin_code[] = {0xf4000100, 0xf8000000, 0x7e000280, 0x7e020281,
                                     0xdcd60020, 0x00000100, 0xbf89fc07, 0xbf068004,
                                     0xbfa2fff7, 0xbfb00000, 0xbf9f0000};

/* GRBM_STATUS says whether a kernel runs. */
static uint32_t status(void)
{
    uint32_t value = 1;
    struct drm_amdgpu_info info = {
        .return_pointer = (uintptr_t)&value,
        .return_size = sizeof(value),
        .query = AMDGPU_INFO_READ_MMR_REG,
        .read_mmr_reg = {.dword_offset = 0x2004, .count = 1}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &info), 0);
    return value;
}

static void dispatch(struct mock_queue *q, const uint32_t *job, uint32_t number)
{
    mock_dispatch(q, text, job, job + DONE, number);
}

/* Hold the queue until *at == value. */
static void wait_packet(struct mock_queue *q, const uint32_t *at, uint32_t value)
{
    const uint32_t p[] = {PM4(0x3c, 6), 1u << 4 | 3, LO(at), HI(at),
                          value,        0xffffffff,  4};
    mock_submit(q, p, COUNT(p));
}

static void set_queue(const struct mock_queue *q, uint32_t percentage,
                      uint32_t priority)
{
    struct kfd_ioctl_update_queue_args u = {.queue_id = q->id,
                                            .ring_base_address = (uintptr_t)q->ring,
                                            .ring_size = 4096,
                                            .queue_percentage = percentage,
                                            .queue_priority = priority};
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
}

static void set(uint32_t *job, unsigned at, uint32_t value)
{
    __atomic_store_n(job + at, value, __ATOMIC_RELEASE);
}

static bool counts_within(const uint32_t *job, unsigned ms)
{
    uint32_t before = __atomic_load_n(job + COUNTER, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < ms; i++) {
        usleep(1000);
        if (__atomic_load_n(job + COUNTER, __ATOMIC_ACQUIRE) != before)
            return true;
    }
    return false;
}

static bool counts(const uint32_t *job)
{
    return counts_within(job, 5000);
}

/* It may need some time to stop: a try that sees it count takes a millisecond. */
static bool stands(const uint32_t *job)
{
    for (unsigned i = 0; i < 5000; i++)
        if (!counts_within(job, 100))
            return true;
    return false;
}

static void begin(struct mock_queue *l, uint32_t low_at, struct mock_queue *h,
                  uint32_t high_at)
{
    memset(low, 0, 4096);
    mock_queue_create_at(l, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096, low_at);
    mock_queue_create_at(h, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096, high_at);
}

static void end(struct mock_queue *l, struct mock_queue *h)
{
    mock_queue_destroy(l);
    mock_queue_destroy(h);
}

/* The lower one stops inside its kernel, and goes on after that of the higher one. */
START_TEST(higher_goes_first)
{
    struct mock_queue l, h;
    begin(&l, LOW, &h, HIGH);
    dispatch(&l, low, 1);
    ck_assert(counts(low));
    dispatch(&h, high, 1);
    ck_assert(counts(high));
    ck_assert(stands(low));
    ck_assert(counts(high));
    set(high, FLAG, 1);
    ck_assert(mock_wait32(high + DONE, 1));
    ck_assert(counts(low));
    for (uint32_t i = 2; i < 20; i++) { /* the flag is up: short ones */
        dispatch(&h, high, i);
        ck_assert(mock_wait32(high + DONE, i));
    }
    ck_assert_uint_eq(low[DONE], 0);
    ck_assert(counts(low));
    set(low, FLAG, 1);
    ck_assert(mock_wait32(low + DONE, 1));
    end(&l, &h);
}
END_TEST

START_TEST(lower_does_not_begin)
{
    struct mock_queue l, h;
    begin(&l, LOW, &h, HIGH);
    dispatch(&h, high, 1);
    ck_assert(counts(high));
    ck_assert_uint_eq(status() >> 31, 1);
    dispatch(&l, low, 1);
    ck_assert(!counts_within(low, 100));
    ck_assert_uint_eq(low[COUNTER], 0);
    set(high, FLAG, 1);
    ck_assert(counts(low));
    set(low, FLAG, 1);
    ck_assert(mock_wait32(low + DONE, 1));
    ck_assert_uint_eq(status(), 0);
    end(&l, &h);
}
END_TEST

/* Between two kernels the higher one waits for the end of the lower one's. */
START_TEST(higher_waits_for_lower)
{
    struct mock_queue l, h;
    begin(&l, LOW, &h, HIGH);
    set(high, FLAG, 1);
    dispatch(&l, low, 1);
    ck_assert(counts(low));
    dispatch(&h, high, 1);
    wait_packet(&h, low + DONE, 1);
    dispatch(&h, high, 2);
    ck_assert(mock_wait32(high + DONE, 1));
    ck_assert(counts(low));
    ck_assert_uint_eq(high[DONE], 1);
    set(low, FLAG, 1);
    ck_assert(mock_wait32(high + DONE, 2));
    ck_assert_uint_eq(low[DONE], 1);
    end(&l, &h);
}
END_TEST

/* Equal ones run side by side; a change counts at once, in both directions. */
START_TEST(priority_changes)
{
    struct mock_queue l, h;
    begin(&l, MIDDLE, &h, MIDDLE);
    dispatch(&l, low, 1);
    dispatch(&h, high, 1);
    ck_assert(counts(low) && counts(high) && counts(low));
    set_queue(&h, 100, HIGH);
    ck_assert(stands(low) && counts(high));
    set_queue(&l, 100, HIGH);
    ck_assert(counts(low) && counts(high));
    set_queue(&h, 100, LOW);
    ck_assert(stands(high) && counts(low));
    end(&l, &h);
}
END_TEST

/* A higher queue that is suspended or destroyed inside its kernel is in nobody's way.
 */
START_TEST(higher_goes_away)
{
    struct mock_queue l, h;
    begin(&l, LOW, &h, HIGH);
    dispatch(&l, low, 1);
    dispatch(&h, high, 1);
    ck_assert(counts(high) && stands(low));
    set_queue(&h, 0, HIGH);
    ck_assert(counts(low) && stands(high));
    set_queue(&h, 100, HIGH);
    ck_assert(counts(high) && stands(low));
    mock_queue_destroy(&h);
    ck_assert(counts(low));
    mock_queue_destroy(&l);
}
END_TEST

/* The lower one can be suspended, resumed and destroyed while it is held up. */
START_TEST(lower_goes_away)
{
    struct mock_queue l, h;
    begin(&l, LOW, &h, HIGH);
    dispatch(&l, low, 1);
    dispatch(&h, high, 1);
    ck_assert(counts(high) && stands(low));
    set_queue(&l, 0, LOW);
    set_queue(&l, 100, LOW);
    ck_assert(stands(low) && counts(high));
    mock_queue_destroy(&l);
    set(high, FLAG, 1);
    ck_assert(mock_wait32(high + DONE, 1));
    mock_queue_destroy(&h);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "timed") == 0)
        setenv(FRONT_ENV_TIMING, "2482", 1);
    mock_begin();
    low = mock_buffer(65536, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    high = low + JOB_DWORDS;
    text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    memcpy(text, spin_code, sizeof(spin_code));
    Suite *s = suite_create("priority");
    TCase *t = tcase_create("queues");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, higher_goes_first);
    tcase_add_test(t, lower_does_not_begin);
    tcase_add_test(t, higher_waits_for_lower);
    tcase_add_test(t, priority_changes);
    tcase_add_test(t, higher_goes_away);
    tcase_add_test(t, lower_goes_away);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
