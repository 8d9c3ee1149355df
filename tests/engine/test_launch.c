/* test_launch.c: what a wave finds when it begins, whoever was there before.
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "../suite.h"
#include "emu.h"
#include "event.h"

#define PAGE   4096u
#define GROUPS 6u
#define ITEMS  1024u /* room of a workgroup in the results */

/* Each work-item stores v0, v20, s60 and a dword of LDS, none of which has been
 * written, and then writes the last three. s[0:1]: results; s2, s3: items of a row, of
 * a layer; s4: workgroup. */
static const uint32_t look_and_spoil[] = {
    0x360400ff, 0x000003ff, 0xd6100003, 0x02291500, 0xd6100004, 0x02292900,
    0xd72c0003, 0x00000503, 0xd72c0004, 0x00000704, 0xd6550002, 0x04120702,
    0x84058a04, 0x4a040405, 0x30040484, 0x7e100300, 0x7e120314, 0x7e14023c,
    0x7e180280, 0xd8d80040, 0x0b00000c, 0xbf89fc07, 0xdc760000, 0x00000802,
    0x7e2802c1, 0xbebc00c1, 0xbfbd0000, 0xd8340040, 0x0000140c, 0xbfb00000,
};

struct found {
    uint32_t id, vgpr, sgpr, lds;
};

static struct emu *emu;
static uint32_t *code;
static struct found *results;

static void *map(size_t bytes, unsigned perm)
{
    void *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    ck_assert_int_eq(emu_mem_add(emu, (uintptr_t)p, bytes, perm, "memory"), RD_OK);
    return p;
}

static void setup(void)
{
    struct emu_config config = {.threads = 1};
    ck_assert_int_eq(emu_create(&config, &emu), RD_OK);
    code = map(PAGE, EMU_MEM_READ | EMU_MEM_EXEC);
    memcpy(code, look_and_spoil, sizeof look_and_spoil);
    results = map(GROUPS * ITEMS * sizeof *results, EMU_MEM_READ | EMU_MEM_WRITE);
}

static void teardown(void)
{
    emu_destroy(emu);
    munmap(code, PAGE);
    munmap(results, GROUPS * ITEMS * sizeof *results);
}

/* Run GROUPS workgroups; the last one has `last` layers, rows or items (whichever is
 * the outermost) of block. */
static void run(bool wave64, const uint32_t block[3], uint32_t last)
{
    uint64_t to = (uintptr_t)results;
    struct emu_dispatch d = {
        .entry = (uintptr_t)code,
        .groups = {GROUPS, 1, 1},
        .block = {block[0], block[1], block[2]},
        .items = {(GROUPS - 1) * block[0] + last, block[1], block[2]},
        .rsrc1 = (wave64 ? 5u : 2u) | 3u << 12 | 3u << 14, /* 24 VGPRs; round to zero */
        .rsrc2 = 1u << 7 | 2u << 11,
        .wave64 = wave64,
        .lds_bytes = 128,
        .n_user_sgprs = 4,
        .user_sgpr = {(uint32_t)to, (uint32_t)(to >> 32), block[0],
                      block[0] * block[1]}};
    memset(results, 0xee, GROUPS * ITEMS * sizeof *results);
    unsigned control = _mm_getcsr();
    ck_assert_int_eq(emu_run(emu, &d, NULL, NULL), RD_OK);
    /* Flags may have been raised; how the caller rounds is its own business. */
    ck_assert_uint_eq(_mm_getcsr() & 0xffc0u, control & 0xffc0u);
}

static void check_item(const uint32_t block[3], uint32_t group, const uint32_t at[3],
                       bool there)
{
    uint32_t flat = at[0] + block[0] * (at[1] + block[1] * at[2]);
    const struct found *f = &results[group * ITEMS + flat];
    if (!there) {
        ck_assert_uint_eq(f->id, 0xeeeeeeee);
        return;
    }
    ck_assert_uint_eq(f->id, at[0] | at[1] << 10 | at[2] << 20);
    ck_assert_uint_eq(f->vgpr, 0);
    ck_assert_uint_eq(f->sgpr, 0);
    ck_assert_uint_eq(f->lds, 0);
}

START_TEST(begins_afresh)
{
    static const uint32_t blocks[][3] = {
        {1, 1, 1}, {32, 1, 1}, {64, 1, 1},  {100, 1, 1},  {256, 1, 1}, {8, 8, 1},
        {7, 5, 3}, {16, 8, 8}, {33, 31, 1}, {1024, 1, 1}, {4, 1, 17}};
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const uint32_t *b = blocks[i];
        for (uint32_t last = (b[0] + 1) / 2; last <= b[0]; last += b[0] / 2 + 1) {
            run(_i, b, last);
            for (uint32_t n = 0; n < GROUPS * b[0] * b[1] * b[2]; n++) {
                const uint32_t at[3] = {n % b[0], n / b[0] % b[1],
                                        n / b[0] / b[1] % b[2]};
                uint32_t group = n / (b[0] * b[1] * b[2]);
                check_item(b, group, at, group < GROUPS - 1 || at[0] < last);
            }
        }
    }
}
END_TEST

/* Where all memory is code, a bound ends it before its end. */
START_TEST(endless_code)
{
    const size_t bytes = 8ul << 20;
    uint32_t *nops = map(bytes, EMU_MEM_READ | EMU_MEM_EXEC);
    for (size_t i = 0; i < bytes / sizeof *nops; i++)
        nops[i] = 0xbf800000;
    const struct emu_dispatch d = {
        .entry = (uintptr_t)nops, .groups = {1, 1, 1}, .block = {32, 1, 1}};
    struct emu_fault fault;
    ck_assert_int_eq(emu_run(emu, &d, &fault, NULL), RD_E_FAULT);
    ck_assert_int_eq(fault.kind, EMU_FAULT_UNSUPPORTED);
    ck_assert_uint_lt(fault.pc, (uintptr_t)nops + bytes);
    munmap(nops, bytes);
}
END_TEST

/* Sleeps while the dword at s[0:1] is 0. */
static const uint32_t sleep_until[] = {0xf4004080, 0xf8000000, 0xbf830001, 0xbf89fc07,
                                       0xbf068002, 0xbfa2fffa, 0xbfb00000};

/* All waves but the first sleep until it has stored to LDS. Before, it loads the dword
 * at s[0:1] 0x40000 times, counted in an SGPR; */
static const uint32_t one_works[] = {
    0x360000ff, 0x000003ff, 0x7e040280, 0x7e100500, 0xbf078008, 0xbfa2000c, 0xbe8400ff,
    0x00040000, 0xdc520000, 0x04000002, 0xbf8903f7, 0x81848104, 0xbf078004, 0xbfa2fffa,
    0x7e060281, 0xd8340000, 0x00000302, 0xbfb00000, 0xbf830001, 0xd8d80000, 0x03000002,
    0xbf89fc07, 0x7e0a0503, 0xbf078105, 0xbfa2fff9, 0xbfb00000};

/* in a VGPR. */
static const uint32_t one_works_in_vectors[] = {
    0x360000ff, 0x000003ff, 0x7e040280, 0x7e100500, 0xbf078008, 0xbfa2000d, 0x7e0a02ff,
    0x00040000, 0xdc520000, 0x04000002, 0xbf8903f7, 0xd5260005, 0x00010305, 0x7c9a0a80,
    0xbfa4fff9, 0x7e060281, 0xd8340000, 0x00000302, 0xbfb00000, 0xbf830001, 0xd8d80000,
    0x03000002, 0xbf89fc07, 0x7e0a0503, 0xbf078105, 0xbfa2fff9, 0xbfb00000};

/* Two waves add 1 in turn to a dword of LDS, up to 0x20000, and sleep until the other
 * one has. */
static const uint32_t to_and_fro[] = {
    0x360000ff, 0x000003ff, 0x7e040280, 0x7e100500, 0x85088508, 0xbf830001, 0xd8d80000,
    0x03000002, 0xbf89fc07, 0x7e0a0503, 0x8b068105, 0xbf070806, 0xbfa2fff8, 0x81058105,
    0x7e060205, 0xd8340000, 0x00000302, 0xbf0aff05, 0x00020000, 0xbfa2fff1, 0xbfb00000};

/* Adds 1 to the dword at s[0:1], counts down from s2, and sleeps while the dword is
 * less than s3. */
static const uint32_t arrive[] = {
    0x7e040280, 0x7e060281, 0xd71f0001, 0x000100c1, 0x7c940280, 0xbefe006a, 0xdcd64000,
    0x04000302, 0xbf8903f7, 0x81828102, 0xbf078002, 0xbfa2fffd, 0xbf830001, 0xdc524000,
    0x04000002, 0xbf8903f7, 0x7e0a0504, 0xbf0a0305, 0xbfa2fff9, 0xbfb00000};

/* How long the engine's thread has rested, and what is then to be 1. */
#define ENOUGH_NS 20000000u
static uint64_t rested_ns;
static uint32_t *flag;

/* Instead of the library's. */
int nanosleep(const struct timespec *t, struct timespec *left)
{
    rested_ns += (uint64_t)t->tv_nsec;
    if (flag && rested_ns >= ENOUGH_NS)
        __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    return clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
}

static atomic_bool over;

/* Who waits for the flag is let go in the end. */
static void *patience(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 3000 && !atomic_load(&over); i++)
        usleep(10000);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    return NULL;
}

static struct emu_dispatch dispatch_of(const uint32_t *text, size_t bytes,
                                       uint32_t groups, uint32_t block)
{
    uint64_t at = (uintptr_t)results;
    memcpy(code, text, bytes);
    memset(results, 0, 4);
    rested_ns = 0;
    return (struct emu_dispatch){.entry = (uintptr_t)code,
                                 .groups = {groups, 1, 1},
                                 .block = {block, 1, 1},
                                 .lds_bytes = 64,
                                 .n_user_sgprs = 4,
                                 .user_sgpr = {(uint32_t)at, (uint32_t)(at >> 32)}};
}

/* Two workgroups that only sleep leave the CPU alone while they wait for the host,
 * which lets them go once they have for a while. */
START_TEST(sleepers_rest)
{
    const struct emu_dispatch d = dispatch_of(sleep_until, sizeof sleep_until, 2, 32);
    void *word = results;
    flag = word;
    pthread_t id;
    ck_assert_int_eq(pthread_create(&id, NULL, patience, NULL), 0);
    ck_assert_int_eq(emu_run(emu, &d, NULL, NULL), RD_OK);
    atomic_store(&over, true);
    ck_assert_int_eq(pthread_join(id, NULL), 0);
    ck_assert_uint_ge(rested_ns, ENOUGH_NS);
}
END_TEST

/* Where one wave works the thread does not rest, however many sleep beside it, nor
 * where two wait for each other. */
START_TEST(workers_do_not_rest)
{
    static const struct {
        const uint32_t *text;
        size_t bytes;
        uint32_t block;
    } all[] = {{one_works, sizeof one_works, 512},
               {one_works_in_vectors, sizeof one_works_in_vectors, 512},
               {to_and_fro, sizeof to_and_fro, 64}};
    const struct emu_dispatch d =
        dispatch_of(all[_i].text, all[_i].bytes, 1, all[_i].block);
    ck_assert_int_eq(emu_run(emu, &d, NULL, NULL), RD_OK);
    ck_assert_uint_eq(rested_ns, 0);
}
END_TEST

static struct emu_stats run_mixed(uint32_t groups, uint32_t work, uint32_t awaited)
{
    const struct emu_observer mixed = {.want = EMU_WANT_MIX};
    struct emu_dispatch d = dispatch_of(arrive, sizeof arrive, groups, 32);
    struct emu_stats stats = {0};
    d.user_sgpr[2] = work;
    d.user_sgpr[3] = awaited;
    ck_assert_int_eq(emu_add_observer(emu, &mixed), RD_OK);
    ck_assert_int_eq(emu_run(emu, &d, NULL, &stats), RD_OK);
    return stats;
}

/* Eight workgroups are mixed, */
START_TEST(few_are_mixed)
{
    ck_assert_uint_eq(run_mixed(40, 10000, 1).peak_resident_waves, 8);
}
END_TEST

/* but for those that wait for later ones. */
START_TEST(mixed_that_wait)
{
    ck_assert_uint_eq(run_mixed(20, 1, 20).peak_resident_waves, 20);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("launch");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, begins_afresh, 0, 2); /* wave32, wave64 */
    tcase_add_test(t, endless_code);
    tcase_add_test(t, sleepers_rest);
    tcase_add_loop_test(t, workers_do_not_rest, 0, 3);
    tcase_add_test(t, few_are_mixed);
    tcase_add_test(t, mixed_that_wait);
    tcase_set_timeout(t, 60); /* sanitizers, and what else the machine does */
    suite_add_tcase(s, t);
    return suite_run(s);
}
