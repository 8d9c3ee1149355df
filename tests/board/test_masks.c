/* test_masks.c: which compute units queues of the board use, by their descriptors.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "machine.h"

#define GROUPS 32u
#define RING   8192u
#define BELL   0x20u
#define VA     0x200000000000ull

/* Every workgroup stores HW_ID1 at its number:
 * s_getreg_b32 s4, hwreg(HW_REG_HW_ID1); s_lshl_b32 s5, s2, 2; v_mov_b32 v0, s5;
 * v_mov_b32 v1, s4; global_store_b32 v0, v1, s[0:1]; s_endpgm */
static const uint32_t place_code[] = {0xb884f817, 0x84058202, 0x7e000205, 0x7e020204,
                                      0xdc6a0000, 0x00000100, 0xbfb00000, 0xbf9f0000};

static struct machine m;
static struct machine_queue kiq;
static uint64_t mqd, ring, data;
static uint32_t put, packets[64];
static unsigned n_packets;

static void send(const uint32_t *dw, unsigned n)
{
    machine_submit(&kiq, dw, n);
    for (unsigned i = 0; i < 60000 && *kiq.rptr < kiq.put; i++)
        usleep(100);
    ck_assert_uint_eq(*kiq.rptr, kiq.put);
}

/* Map the queue, idle, with these masks of engines 0 to 5. */
static void map(const uint32_t masks[6])
{
    static const unsigned at[] = {23, 24, 26, 27, 44, 45};
    const uint32_t dw[] = {PM4(0xa2, 6), 1u << 13, BELL << 2, LO(FB + mqd),
                           HI(FB + mqd), 0,        0};
    for (unsigned i = 0; i < 6; i++)
        machine_words(&m, mqd)[at[i]] = masks[i];
    machine_words(&m, mqd)[182] = put; /* CP_HQD_PQ_WPTR_LO: nothing is in the ring */
    send(dw, COUNT(dw));
}

static void unmap(void)
{
    const uint32_t dw[] = {PM4(0xa3, 5), 0, BELL << 2, 0, 0, 0};
    send(dw, COUNT(dw));
}

static void setup(void)
{
    machine_create_timed(&m);
    mqd = machine_alloc(&m, MACHINE_PAGE);
    ring = machine_alloc(&m, RING);
    data = machine_alloc(&m, MACHINE_PAGE);
    uint64_t pointers = machine_alloc(&m, 64), code = machine_alloc(&m, MACHINE_PAGE);
    uint64_t root = machine_root(&m);
    uint32_t *d = machine_words(&m, mqd);
    const uint64_t places[] = {(FB + ring) >> 8, FB + pointers, FB + pointers + 8};
    const unsigned fields[] = {136, 139, 141};
    for (unsigned i = 0; i < 3; i++) {
        d[fields[i]] = LO(places[i]);
        d[fields[i] + 1] = HI(places[i]);
    }
    d[145] = 10; /* 2^11 dwords */
    memcpy(m.vram + code, place_code, sizeof(place_code));
    machine_queue(&m, &kiq, 0);
    machine_map(&m, root, VA, code, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_map(&m, root, VA + 0x10000, data, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_use_root(&m, root, 0);
    n_packets = machine_dispatch(packets, VA, VA + 0x10000, FB + data + 512);
    packets[7] = 2u << 1 | 1u << 7; /* the workgroup's number in s2 */
    packets[18] = GROUPS;
    put = 0;
}

static void teardown(void)
{
    machine_destroy(&m);
}

/* Run all groups: a bit for each array that was seen, of engine 0 first; and for each
 * WGP of arrays. */
static uint32_t run(uint32_t *wgps)
{
    uint32_t *to = machine_words(&m, data), seen = 0;
    memset(to, 0, 1024);
    for (unsigned i = 0; i < n_packets; i++)
        machine_words(&m, ring)[put++ % (RING / 4)] = packets[i];
    machine_doorbell(&m, BELL, put);
    machine_wait(to + 128, 1);
    *wgps = 0;
    for (unsigned i = 0; i < GROUPS; i++) {
        seen |= 1u << ((to[i] >> 18 & 7) * 2 + (to[i] >> 16 & 1));
        *wgps |= 1u << (to[i] >> 10 & 15);
    }
    return seen;
}

/* A queue's waves go where its descriptor lets them, from one mapping to the next. */
START_TEST(of_descriptors)
{
    uint32_t wgps;
    map((const uint32_t[6]){~0u, ~0u, ~0u, ~0u, ~0u, ~0u});
    ck_assert_uint_eq(run(&wgps), 0xfff);
    unmap();
    /* engine 1: WGP 0 of array 0; engine 5: WGP 1 of array 1 */
    map((const uint32_t[6]){0, 3, 0, 0, 0, 12u << 16});
    ck_assert_uint_eq(run(&wgps), 1u << 2 | 1u << 11);
    ck_assert_uint_eq(wgps, 3);
    unmap();
    map((const uint32_t[6]){0, 0, 0x30, 0, 0, 0});
    ck_assert_uint_eq(run(&wgps), 1u << 4);
    ck_assert_uint_eq(wgps, 4);
    unmap();
    map((const uint32_t[6]){0}); /* of a driver that knows no masks */
    ck_assert_uint_eq(run(&wgps), 0xfff);
    unmap();
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("board masks");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, of_descriptors);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return suite_run(suite());
}
