/* test_packets.c: command processors, through queues as clients use them.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../suite.h"
#include "mock.h"

#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define LO(p)         ((uint32_t)(uintptr_t)(p))
#define HI(p)         ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))
#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))

static uint32_t *mem; /* 1 MiB that the GPU sees */

static void sdma_queue(struct mock_queue *q)
{
    mock_queue_create(q, KFD_IOC_QUEUE_TYPE_SDMA, 4096);
    q->page[0] = 's';
}

START_TEST(pm4_write_and_release)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    memset(mem, 0, 256);
    const uint32_t p[] = {
        PM4(0x37, 5),
        5u << 8 | 1u << 20,
        LO(mem),
        HI(mem),
        11,
        22, /* WRITE_DATA */
        PM4(0x10, 2),
        0xffffffff,
        0xffffffff, /* NOP */
        PM4(0x40, 5),
        5u | 5u << 8 | 1u << 16,
        7,
        8,
        LO(mem + 4),
        HI(mem + 4), /* COPY */
        PM4(0x49, 7),
        0x514,
        2u << 29,
        LO(mem + 8),
        HI(mem + 8),
        99,
        1,
        0,
    };
    mock_submit(&q, p, COUNT(p));
    ck_assert(mock_wait64((uint64_t *)(mem + 8), 1ull << 32 | 99));
    ck_assert_uint_eq(mem[0], 11);
    ck_assert_uint_eq(mem[1], 22);
    ck_assert_uint_eq(mem[4], 7);
    ck_assert_uint_eq(mem[5], 8);
    ck_assert(mock_wait64(q.rptr, COUNT(p)));
    mock_queue_destroy(&q);
}
END_TEST

/* The ring wraps many times; waits hold the queue until the host writes. */
START_TEST(pm4_wait_and_wrap)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 1024);
    memset(mem, 0, 256);
    for (uint32_t i = 1; i <= 200; i++) {
        const uint32_t p[] = {
            PM4(0x3c, 6), 1u << 4 | 5, LO(mem),     HI(mem),     i,
            0xffffffff,   4, /* mem >= i */
            PM4(0x37, 4), 5u << 8,     LO(mem + 1), HI(mem + 1), i,
        };
        mock_submit(&q, p, COUNT(p));
        if (i % 50 == 0) {
            usleep(2000);
            ck_assert_uint_eq(mem[1], i - 1);
        }
        __atomic_store_n(mem, i, __ATOMIC_RELEASE);
        ck_assert(mock_wait32(mem + 1, i));
    }
    mock_queue_destroy(&q);
}
END_TEST

/* Read pointers count modulo the ring, and so may write pointers: a client that waits
 * for one to equal the other goes on after the first lap. */
START_TEST(pm4_read_pointer_wraps)
{
    enum { SLOTS = 256, PACKET = 20 };
    struct mock_queue q;
    uint32_t p[PACKET] = {PM4(0x37, 4), 5u << 8, LO(mem),
                          HI(mem),      0,       PM4(0x10, PACKET - 6)};
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4 * SLOTS);
    mem[0] = 0;
    uint32_t put = 0;
    for (uint32_t i = 1; i <= 40; i++) {
        p[4] = i;
        for (uint32_t k = 0; k < PACKET; k++, put = (put + 1) % SLOTS)
            memcpy(q.ring + 4 * put, &p[k], 4);
        __atomic_store_n(q.wptr, put, __ATOMIC_RELEASE);
        __atomic_store_n(q.doorbell, put, __ATOMIC_RELEASE);
        ck_assert_msg(mock_wait64(q.rptr, put), "after %u packets", i);
        ck_assert_uint_eq(mem[0], i);
    }
    mock_queue_destroy(&q);
}
END_TEST

static uint32_t new_event(void)
{
    struct kfd_ioctl_create_event_args e = {.event_type = KFD_IOC_EVENT_SIGNAL,
                                            .auto_reset = 1};
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_EVENT, &e), 0);
    return e.event_id;
}

static bool event_comes(uint32_t id, uint32_t timeout_ms)
{
    struct kfd_event_data d = {.event_id = id};
    struct kfd_ioctl_wait_events_args w = {
        .events_ptr = (uintptr_t)&d, .num_events = 1, .timeout = timeout_ms};
    ck_assert_int_eq(kfd(AMDKFD_IOC_WAIT_EVENTS, &w), 0);
    return w.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE;
}

static void release(uint32_t packet[8], uint32_t int_sel, uint32_t event)
{
    const uint32_t p[] = {
        PM4(0x49, 7), 0x514, 1u << 29 | int_sel << 24, LO(mem), HI(mem), 0, 0, event,
    };
    memcpy(packet, p, sizeof(p));
}

START_TEST(pm4_interrupt_selection)
{
    struct mock_queue q;
    uint32_t event = new_event(), p[8];
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    for (uint32_t sel = 0; sel <= 4; sel++) {
        uint64_t before = q.put / 4;
        release(p, sel, event);
        mock_submit(&q, p, COUNT(p));
        ck_assert(mock_wait64(q.rptr, before + COUNT(p)));
        bool wanted = sel == 1 || sel == 2 || sel == 4;
        ck_assert_msg(event_comes(event, wanted ? 5000 : 20) == wanted, "int_sel %u",
                      sel);
    }
    mock_queue_destroy(&q);
}
END_TEST

/* Who is told that a packet has ended finds it read. */
START_TEST(read_pointer_before_event)
{
    struct mock_queue q;
    uint32_t event = new_event(), p[8];
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 1 << 20);
    release(p, 2, event);
    for (unsigned i = 0; i < 2000; i++) {
        mock_submit(&q, p, COUNT(p));
        while (!event_comes(event, 0))
            ;
        ck_assert_uint_eq(*q.rptr, q.put / 4);
    }
    /* Inside an indirect buffer that goes on until the host has seen the event. */
    uint32_t *ib = mem + 1024;
    const uint32_t hold[] = {
        PM4(0x3c, 6), 1u << 4 | 3, LO(mem + 1), HI(mem + 1), 1, 0xffffffff, 4};
    const uint32_t call[] = {PM4(0x3f, 3), LO(ib), HI(ib),
                             1u << 23 | (COUNT(p) + COUNT(hold))};
    memcpy(ib, p, sizeof(p));
    memcpy(ib + COUNT(p), hold, sizeof(hold));
    mem[1] = 0;
    mock_submit(&q, call, COUNT(call));
    ck_assert(event_comes(event, 5000));
    ck_assert_uint_eq(*q.rptr, q.put / 4);
    __atomic_store_n(mem + 1, 1, __ATOMIC_RELEASE);
    mock_queue_destroy(&q);
    sdma_queue(&q);
    const uint32_t trap[] = {6, event};
    for (unsigned i = 0; i < 2000; i++) {
        mock_submit(&q, trap, COUNT(trap));
        while (!event_comes(event, 0))
            ;
        ck_assert_uint_eq(*q.rptr, q.put);
    }
    mock_queue_destroy(&q);
}
END_TEST

START_TEST(pm4_indirect_buffer)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    uint32_t *ib = mem + 1024;
    const uint32_t body[] = {PM4(0x37, 4), 5u << 8, LO(mem), HI(mem), 4711};
    memcpy(ib, body, sizeof(body));
    mem[0] = 0;
    const uint32_t p[] = {PM4(0x3f, 3), LO(ib), HI(ib), 1u << 23 | COUNT(body)};
    mock_submit(&q, p, COUNT(p));
    ck_assert(mock_wait32(mem, 4711));
    mock_queue_destroy(&q);
}
END_TEST

/* v_mov_b32 v1, s0; v_lshlrev_b32 v0, 2, v0; global_store_b32 v0, v1, s[2:3]; s_endpgm
 */
START_TEST(pm4_dispatch)
{
    static const uint32_t code[] = {0x7e020200, 0x30000082, 0xdc6a0000,
                                    0x00020100, 0xbfb00000, 0xbf9f0000};
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    uint8_t *text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    memcpy(text, code, sizeof(code));
    memset(mem, 0, 4096);
    const uint32_t p[] = {
        PM4(0x76, 3),
        0x20c,
        LO((uintptr_t)text >> 8),
        HI((uintptr_t)text >> 8),
        PM4(0x76, 3),
        0x212,
        0,
        4u << 1,
        PM4(0x76, 5),
        0x240,
        1234,
        0,
        LO(mem),
        HI(mem),
        PM4(0x76, 4),
        0x207,
        32,
        1,
        1,
        PM4(0x15, 4),
        1,
        1,
        1,
        0x8005,
        PM4(0x49, 7),
        0x514,
        1u << 29,
        LO(mem + 100),
        HI(mem + 100),
        1,
        0,
        0,
    };
    mock_submit(&q, p, COUNT(p));
    ck_assert(mock_wait32(mem + 100, 1));
    for (unsigned i = 0; i < 32; i++)
        ck_assert_uint_eq(mem[i], 1234);
    ck_assert_uint_eq(mem[32], 0);
    mock_queue_destroy(&q);
}
END_TEST

/* s_lshl_b32 s5, s4, 5; v_add_nc_u32 v1, s5, v0; v_lshlrev_b32 v1, 4, v1; v_mov_b32 0
 * to v4 to v7; global_store_b128 v1, v[4:7], s[2:3]; s_endpgm: of video memory only the
 * pages that exist already are written.
 */
START_TEST(pm4_clears)
{
    static const uint32_t code[] = {0x84058504, 0x4a020005, 0x30020284, 0x7e080280,
                                    0x7e0a0280, 0x7e0c0280, 0x7e0e0280, 0xdc760000,
                                    0x00020401, 0xbfb00000, 0xbf9f0000};
    enum { GROUPS = 1024, BYTES = GROUPS * 32 * 16, PAGES = BYTES / 4096 };
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    uint8_t *text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    uint8_t *video = mock_buffer(BYTES, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    memcpy(text, code, sizeof(code));
    for (unsigned page = 3; page < PAGES; page += 5)
        memset(video + page * 4096, 7, 4096);
    mem[100] = 0;
    const uint32_t p[] = {
        PM4(0x76, 3),
        0x20c,
        LO((uintptr_t)text >> 8),
        HI((uintptr_t)text >> 8),
        PM4(0x76, 3),
        0x212,
        0,
        4u << 1 | 1u << 7,
        PM4(0x76, 5),
        0x240,
        0,
        0,
        LO(video),
        HI(video),
        PM4(0x76, 4),
        0x207,
        32,
        1,
        1,
        PM4(0x15, 4),
        GROUPS,
        1,
        1,
        0x8005,
        PM4(0x49, 7),
        0x514,
        1u << 29,
        LO(mem + 100),
        HI(mem + 100),
        1,
        0,
        0,
    };
    mock_submit(&q, p, COUNT(p));
    ck_assert(mock_wait32(mem + 100, 1));
    uint8_t present[PAGES];
    ck_assert_int_eq(mincore(video, BYTES, present), 0);
    for (unsigned page = 0; page < PAGES; page++)
        ck_assert_uint_eq(present[page] & 1u, page % 5 == 3);
    for (unsigned i = 0; i < BYTES; i++)
        if (video[i])
            ck_abort_msg("byte %u is %u", i, video[i]);
    mock_queue_destroy(&q);
}
END_TEST

/* v_mov_b32 v2, 0x400; ds_load_b32 v1, v2; s_waitcnt lgkmcnt(0);
 * v_lshlrev_b32 v0, 2, v0; global_store_b32 v0, v1, s[2:3]; s_endpgm: beyond the LDS.
 */
START_TEST(lds_beyond)
{
    static const uint32_t code[] = {0x7e0402ff, 0x00000400, 0xd8d80000, 0x01000002,
                                    0xbf89fc07, 0x30000082, 0xdc6a0000, 0x00020100,
                                    0xbfb00000, 0xbf9f0000};
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    uint8_t *text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    memcpy(text, code, sizeof(code));
    memset(mem, 0xff, 4096);
    const uint32_t pgm = (uint32_t)((uintptr_t)text >> 8);
    const uint32_t p[] = {
        PM4(0x76, 3),
        0x20c,
        pgm,
        HI((uintptr_t)text >> 8), /* code */
        PM4(0x76, 3),
        0x212,
        0,
        4u << 1 | 1u << 15, /* 512 bytes of LDS */
        PM4(0x76, 5),
        0x240,
        0,
        0,
        LO(mem),
        HI(mem), /* user data */
        PM4(0x76, 4),
        0x207,
        32,
        1,
        1, /* workgroup */
        PM4(0x15, 4),
        1,
        1,
        1,
        0x8005, /* dispatch */
    };
    for (unsigned i = 0; i < 2; i++) {
        mock_line[0] = '\0';
        mock_submit(&q, p, COUNT(p));
        ck_assert(mock_wait64(q.rptr, q.put / 4));
        for (unsigned l = 0; l < 32; l++)
            ck_assert_uint_eq(mem[l], 0); /* the queue goes on, as on the chip */
        bool said = strstr(mock_line, "LDS address out of range") &&
                    strstr(mock_line, "ds_load_b32") && strstr(mock_line, "at 0x400");
        ck_assert_msg(i ? !mock_line[0] : said, "said: %s", mock_line);
    }
    mock_queue_destroy(&q);
}
END_TEST

struct signal {
    uint64_t kind, value, mailbox;
    uint32_t event_id, reserved;
    uint64_t start, end, queue;
    uint64_t reserved2;
};

START_TEST(aql_barrier)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, 4096);
    struct signal *s = (struct signal *)mem;
    memset(s, 0, 4 * sizeof(*s));
    s[0].value = s[1].value = s[2].value = 1;
    uint64_t packet[8] = {3 | 1u << 8, (uintptr_t)&s[0], (uintptr_t)&s[1]};
    packet[7] = (uintptr_t)&s[2];
    mock_submit_aql(&q, packet);
    usleep(5000);
    ck_assert_uint_eq(s[2].value, 1);
    __atomic_store_n(&s[0].value, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&s[1].value, 0, __ATOMIC_RELEASE);
    ck_assert(mock_wait64(&s[2].value, 0));
    ck_assert_uint_eq(*q.rptr, 1);
    ck_assert_uint_eq(q.ring[0], 1); /* the slot is invalid again */
    ck_assert(s[2].end >= s[2].start && s[2].start > 0);
    mock_queue_destroy(&q);
}
END_TEST

/* Without a runtime, errors arrive in the queue's inactive signal. */
START_TEST(aql_bad_packets)
{
    static const struct {
        uint16_t header, setup, wg[3];
        uint32_t grid[3], private_bytes, group;
        uint64_t inactive;
    } cases[] = {
        {2, 0, {1, 1, 1}, {1, 1, 1}, 0, 0, 2},
        {2, 1, {1, 1, 1}, {0, 1, 1}, 0, 0, 2},
        {2, 3, {1024, 2, 1}, {1, 1, 1}, 0, 0, 64},
        {2, 1, {64, 1, 1}, {64, 1, 1}, 0, 1u << 20, 4},
        {2, 1, {64, 1, 1}, {64, 1, 1}, 0, 0, 8},
        {4, 0, {0}, {0}, 0, 0, 256},
        {9, 0, {0}, {0}, 0, 0, 32},
    };
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct mock_queue q;
        mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, 4096);
        struct signal *s = (struct signal *)mem;
        memset(s, 0, sizeof(*s));
        uint64_t at = (uintptr_t)s;
        memcpy(q.page + 0xc0, &at, 8);
        uint8_t packet[64] = {0};
        memcpy(packet, &cases[i], 28);
        memcpy(packet, &cases[i].header, 2);
        memcpy(packet + 2, &cases[i].setup, 2);
        memcpy(packet + 4, cases[i].wg, 6);
        memset(packet + 10, 0, 2);
        memcpy(packet + 12, cases[i].grid, 12);
        memcpy(packet + 24, &cases[i].private_bytes, 4);
        memcpy(packet + 28, &cases[i].group, 4);
        mock_submit_aql(&q, packet);
        ck_assert_msg(mock_wait64(&s->value, cases[i].inactive), "case %u: %#lx", i,
                      (unsigned long)s->value);
        ck_assert_uint_eq(*q.rptr, 0);
        mock_queue_destroy(&q);
    }
}
END_TEST

START_TEST(aql_vendor_pm4)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL, 4096);
    uint32_t *ib = mem + 1024;
    const uint32_t body[] = {
        PM4(0x58, 7), 0,       0xffffffff,   0xff,         0,    0, 0, 0x4381,
        PM4(0x37, 4), 5u << 8, LO(mem + 64), HI(mem + 64), 31337};
    memcpy(ib, body, sizeof(body));
    struct signal *s = (struct signal *)mem;
    memset(s, 0, sizeof(*s));
    s->value = 1;
    uint32_t packet[16] = {1u << 16, 0xc0023f00, LO(ib), HI(ib), 1u << 23 | COUNT(body),
                           10};
    uint64_t done = (uintptr_t)s;
    memcpy(packet + 14, &done, 8);
    mock_submit_aql(&q, packet);
    ck_assert(mock_wait64(&s->value, 0));
    ck_assert_uint_eq(mem[64], 31337);
    mock_queue_destroy(&q);
}
END_TEST

/* A suspended queue does nothing until it is resumed. */
START_TEST(suspend_and_resume)
{
    struct mock_queue q;
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    struct kfd_ioctl_update_queue_args u = {
        .queue_id = q.id, .ring_base_address = (uintptr_t)q.ring, .ring_size = 4096};
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
    mem[0] = 0;
    const uint32_t p[] = {PM4(0x37, 4), 5u << 8, LO(mem), HI(mem), 5};
    mock_submit(&q, p, COUNT(p));
    usleep(20000);
    ck_assert_uint_eq(mem[0], 0);
    uint32_t area[4];
    struct kfd_ioctl_get_queue_wave_state_args w = {
        .queue_id = q.id, .ctl_stack_address = (uintptr_t)area};
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &w), 0);
    u.queue_percentage = 100;
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
    ck_assert(mock_wait32(mem, 5));
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &w), -EBUSY);
    mock_queue_destroy(&q);
}
END_TEST

/* s_load_b32 of a flag in memory until it is not 0; each turn adds 1 at mem[8]:
 * loop: s_load_b32 s4, s[0:1], 0x0; v_mov_b32 v0, 0; v_mov_b32 v1, 1;
 * global_atomic_add_u32 v0, v1, s[0:1] offset:32; s_waitcnt lgkmcnt(0);
 * s_cmp_eq_u32 s4, 0; s_cbranch_scc1 loop; s_endpgm */
static const uint32_t spin_code[] = {0xf4000100, 0xf8000000, 0x7e000280, 0x7e020281,
                                     0xdcd60020, 0x00000100, 0xbf89fc07, 0xbf068004,
                                     0xbfa2fff7, 0xbfb00000, 0xbf9f0000};

static void spin_dispatch(struct mock_queue *q, uint8_t *text)
{
    memcpy(text, spin_code, sizeof(spin_code));
    const uint32_t p[] = {
        PM4(0x76, 3),
        0x20c,
        LO((uintptr_t)text >> 8),
        HI((uintptr_t)text >> 8),
        PM4(0x76, 3),
        0x212,
        0,
        4u << 1,
        PM4(0x76, 3),
        0x240,
        LO(mem),
        HI(mem),
        PM4(0x76, 4),
        0x207,
        32,
        1,
        1,
        PM4(0x15, 4),
        2,
        1,
        1,
        0x8005,
        PM4(0x49, 7),
        0x514,
        1u << 29,
        LO(mem + 100),
        HI(mem + 100),
        1,
        0,
        0,
    };
    mock_submit(q, p, COUNT(p));
}

/* Does the kernel change its count within so many milliseconds? */
static bool counts_within(unsigned ms)
{
    uint32_t before = __atomic_load_n(mem + 8, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < ms; i++) {
        usleep(1000);
        if (__atomic_load_n(mem + 8, __ATOMIC_ACQUIRE) != before)
            return true;
    }
    return false;
}

static bool counts(void)
{
    return counts_within(10000); /* on a host with much else to do */
}

/* A queue is suspended inside a kernel that does not end by itself, and resumed. */
START_TEST(preempt_kernel)
{
    struct mock_queue q, other;
    uint8_t *text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    memset(mem, 0, 4096);
    spin_dispatch(&q, text);
    ck_assert(counts());
    struct kfd_ioctl_update_queue_args u = {
        .queue_id = q.id, .ring_base_address = (uintptr_t)q.ring, .ring_size = 4096};
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
    ck_assert(!counts_within(200));
    uint32_t header[4] = {0};
    struct kfd_ioctl_get_queue_wave_state_args w = {
        .queue_id = q.id, .ctl_stack_address = (uintptr_t)header};
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &w), 0);
    uint32_t waves = (w.ctl_stack_used_size - 40) / 12;
    ck_assert(waves == 1 || waves == 2);
    ck_assert_uint_ge(w.save_area_used_size, waves * 8 * 32 * 4);
    ck_assert_uint_eq(header[1], w.ctl_stack_used_size);
    ck_assert_uint_eq(header[3], w.save_area_used_size);
    mock_queue_create(&other, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    const uint32_t p[] = {PM4(0x37, 4), 5u << 8, LO(mem + 200), HI(mem + 200), 5};
    mock_submit(&other, p, COUNT(p));
    ck_assert(mock_wait32(mem + 200, 5));
    u.queue_percentage = 100;
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
    ck_assert(counts());
    ck_assert_uint_eq(mem[100], 0);
    __atomic_store_n(mem, 1, __ATOMIC_RELEASE);
    ck_assert(mock_wait32(mem + 100, 1));
    mock_queue_destroy(&q);
    mock_queue_destroy(&other);
}
END_TEST

/* Queues go away in the middle of kernels that never end, suspended or not. */
START_TEST(destroy_in_kernel)
{
    uint8_t *text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    for (unsigned i = 0; i < 4; i++) {
        struct mock_queue q;
        mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
        memset(mem, 0, 4096);
        spin_dispatch(&q, text);
        ck_assert(counts());
        struct kfd_ioctl_update_queue_args u = {.queue_id = q.id,
                                                .ring_base_address = (uintptr_t)q.ring,
                                                .ring_size = 4096};
        if (i & 1)
            ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
        mock_queue_destroy(&q);
        ck_assert(!counts_within(200));
    }
}
END_TEST

/* A process debugs itself: queues stop inside kernels, errors come to its descriptor.
 */
START_TEST(debug_session)
{
    struct mock_queue q;
    uint8_t *text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    int ends[2];
    struct kfd_runtime_info info = {.runtime_state = 77};
    struct kfd_ioctl_runtime_enable_args on = {.r_debug = 5, .mode_mask = 1}, off = {0};
    struct kfd_ioctl_dbg_trap_args d = {.pid = (uint32_t)getpid(),
                                        .op = KFD_IOC_DBG_TRAP_SET_FLAGS};
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(kfd(AMDKFD_IOC_RUNTIME_ENABLE, &on), 0);
    ck_assert_int_eq(kfd(AMDKFD_IOC_RUNTIME_ENABLE, &on), -EBUSY);
    mock_queue_create(&q, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096);
    memset(mem, 0, 4096);
    spin_dispatch(&q, text);
    ck_assert(counts());
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), -EINVAL); /* no session */
    d.pid = 0x7ffffff0;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), -ESRCH);
    d = (struct kfd_ioctl_dbg_trap_args){
        .pid = (uint32_t)getpid(),
        .op = KFD_IOC_DBG_TRAP_ENABLE,
        .enable = {.exception_mask = KFD_EC_MASK(EC_QUEUE_PACKET_UNSUPPORTED),
                   .rinfo_ptr = (uintptr_t)&info,
                   .rinfo_size = sizeof(info),
                   .dbg_fd = 12345}};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), -EBADF);
    d.enable.dbg_fd = (uint32_t)ends[1];
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert_uint_eq(info.runtime_state, DEBUG_RUNTIME_STATE_ENABLED);
    ck_assert_uint_eq(info.r_debug, 5);
    d.op = KFD_IOC_DBG_TRAP_SET_FLAGS;
    d.set_flags.flags = KFD_DBG_TRAP_FLAG_SINGLE_MEM_OP;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert_uint_eq(d.set_flags.flags, 0);
    d.set_flags.flags = KFD_DBG_TRAP_FLAG_SINGLE_ALU_OP;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), -EACCES);
    ck_assert_uint_eq(d.set_flags.flags, KFD_DBG_TRAP_FLAG_SINGLE_MEM_OP);
    /* A queue that no debugger knows yet cannot be suspended. */
    uint32_t ids[2] = {q.id, 999};
    const struct kfd_ioctl_dbg_trap_suspend_queues_args both = {
        .queue_array_ptr = (uintptr_t)ids, .num_queues = 2};
    d.op = KFD_IOC_DBG_TRAP_SUSPEND_QUEUES;
    d.suspend_queues = both;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    struct kfd_queue_snapshot_entry fresh;
    d.op = KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT;
    d.queue_snapshot = (struct kfd_ioctl_dbg_trap_queue_snapshot_args){
        .exception_mask = KFD_EC_MASK(EC_QUEUE_NEW),
        .snapshot_buf_ptr = (uintptr_t)&fresh,
        .num_queues = 1,
        .entry_size = sizeof(fresh)};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert_uint_eq(fresh.exception_status, KFD_EC_MASK(EC_QUEUE_NEW));
    ids[0] = q.id, ids[1] = 999;
    d.op = KFD_IOC_DBG_TRAP_SUSPEND_QUEUES;
    d.suspend_queues = both;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 1);
    ck_assert_uint_eq(ids[0], q.id);
    ck_assert(ids[1] & 1u << KFD_DBG_QUEUE_INVALID_BIT);
    ck_assert(!counts_within(200));
    struct kfd_queue_snapshot_entry entry;
    d.op = KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT;
    d.queue_snapshot = (struct kfd_ioctl_dbg_trap_queue_snapshot_args){
        .snapshot_buf_ptr = (uintptr_t)&entry,
        .num_queues = 1,
        .entry_size = sizeof(entry)};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert_uint_eq(d.queue_snapshot.num_queues, 1);
    ck_assert_uint_eq(entry.ring_base_address, (uintptr_t)q.ring);
    ck_assert_uint_eq(entry.exception_status, 0);
    d.op = KFD_IOC_DBG_TRAP_RESUME_QUEUES;
    d.resume_queues = (struct kfd_ioctl_dbg_trap_resume_queues_args){
        .queue_array_ptr = (uintptr_t)ids, .num_queues = 1};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 1);
    ck_assert(counts());
    d.op = KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT;
    memset(&d.query_debug_event, 0, sizeof(d.query_debug_event));
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), -EAGAIN);
    __atomic_store_n(mem, 1, __ATOMIC_RELEASE);
    ck_assert(mock_wait32(mem + 100, 1));
    const uint32_t bad[] = {PM4(0x77, 1), 0};
    char byte;
    mock_submit(&q, bad, COUNT(bad));
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    ck_assert_uint_eq(d.query_debug_event.queue_id, q.id);
    ck_assert(d.query_debug_event.exception_mask &
              KFD_EC_MASK(EC_QUEUE_PACKET_UNSUPPORTED));
    d.op = KFD_IOC_DBG_TRAP_DISABLE;
    ck_assert_int_eq(kfd(AMDKFD_IOC_DBG_TRAP, &d), 0);
    mock_queue_destroy(&q);
    ck_assert_int_eq(kfd(AMDKFD_IOC_RUNTIME_ENABLE, &off), 0);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

int main(void)
{
    mock_begin();
    mem = mock_buffer(1 << 20, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    Suite *s = suite_create("packets");
    TCase *t = tcase_create("queues");
    tcase_add_test(t, pm4_write_and_release);
    tcase_add_test(t, pm4_wait_and_wrap);
    tcase_add_test(t, pm4_read_pointer_wraps);
    tcase_add_test(t, pm4_interrupt_selection);
    tcase_add_test(t, read_pointer_before_event);
    tcase_add_test(t, pm4_indirect_buffer);
    tcase_add_test(t, pm4_dispatch);
    tcase_add_test(t, pm4_clears);
    tcase_add_test(t, lds_beyond);
    tcase_add_test(t, aql_barrier);
    tcase_add_test(t, aql_bad_packets);
    tcase_add_test(t, aql_vendor_pm4);
    tcase_add_test(t, suspend_and_resume);
    tcase_add_test(t, preempt_kernel);
    tcase_add_test(t, destroy_in_kernel);
    tcase_add_test(t, debug_session);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
