/* test_zeros.c: zeros that kernels write to pages which nobody has touched stay away,
 * and nobody can tell.
 *
 * A buffer shows a file of shared memory in two halves, the other way round. Kernels
 * clear it, 16 bytes a work-item, and do other things besides.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE // NOLINT: memfd_create
#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"
#include "emu.h"

#define PAGE  4096u
#define BLOCK 1024u /* work-items, of 16 bytes each */
#define BYTES (8u << 20)
#define HALF  (BYTES / 2)

/* s[0:1]: the buffer; s2: work-items of a workgroup; s4: which one. v[4:7] are stored
 * at v1 = 16 * the work-item, which has v8 = 1, too. */
#define PLACE                                                                          \
    0x96050204, 0x4a020005, 0x30020284, 0x7e080280, 0x7e0a0280, 0x7e0c0280,            \
        0x7e0e0280, 0x7e100281
#define CLEAR 0xdc760000, 0x00000401
#define ONE   0xdc6a0004, 0x00000801 /* v8 to the second dword */
#define THIRD 0xdc6a0008, 0x00000901 /* v9 to the third one */
#define END   0xbfb00000

static const uint32_t clear[] = {PLACE, CLEAR, END};
static const uint32_t clear_then_one[] = {PLACE, CLEAR, ONE, END};
static const uint32_t one_then_clear[] = {PLACE, ONE, CLEAR, END};
/* ... and store what is then found: by s_load_b32 s7, s[0:1], s6 at the workgroup's
 * first place; by global_load_b32 at the work-item's own. */
static const uint32_t clear_then_scalar[] = {PLACE,      CLEAR,      0x84068405,
                                             0xf40001c0, 0x0c000000, 0xbf89fc07,
                                             0x7e120207, THIRD,      END};
static const uint32_t clear_then_load[] = {
    PLACE, CLEAR, 0xbc7c0000, 0xdc520000, 0x09000001, 0xbf8903f7, THIRD, END};

static struct emu *emu;
static uint32_t *code;
static uint8_t *buffer;
static int file;
static bool no_file;

/* Never beyond the half: what comes then is elsewhere in the file. */
static bool find_file(void *ctx, uint64_t host, struct emu_sparse *out)
{
    uint64_t at = host - (uintptr_t)buffer;
    (void)ctx;
    if (no_file || at >= BYTES)
        return false;
    *out = (struct emu_sparse){.host = host,
                               .bytes = HALF - at % HALF,
                               .fd = file,
                               .offset = (at + HALF) % BYTES};
    return true;
}

static void show(uint64_t at, uint64_t offset)
{
    void *p = mmap(buffer + at, HALF, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   file, (off_t)offset);
    ck_assert_ptr_eq(p, buffer + at);
}

static void setup(void)
{
    struct emu_config config = {.threads = 1, .sparse = find_file};
    no_file = false;
    ck_assert_int_eq(emu_create(&config, &emu), RD_OK);
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    file = memfd_create("buffer", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(file, BYTES), 0);
    buffer = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    show(0, HALF);
    show(HALF, 0);
    ck_assert_int_eq(
        emu_mem_add(emu, (uintptr_t)code, PAGE, EMU_MEM_READ | EMU_MEM_EXEC, "code"),
        RD_OK);
    ck_assert_int_eq(emu_mem_add(emu, (uintptr_t)buffer, BYTES,
                                 EMU_MEM_READ | EMU_MEM_WRITE, "buffer"),
                     RD_OK);
}

static void teardown(void)
{
    emu_destroy(emu);
    munmap(code, PAGE);
    munmap(buffer, BYTES);
    close(file);
}

/* From the buffer's byte first on. */
static rd_status run(const uint32_t *kernel, size_t bytes, uint64_t first,
                     uint32_t groups)
{
    uint64_t to = (uintptr_t)buffer + first;
    struct emu_dispatch d = {
        .entry = (uintptr_t)code,
        .groups = {groups, 1, 1},
        .block = {BLOCK, 1, 1},
        .rsrc1 = 2u,
        .rsrc2 = 1u << 7,
        .n_user_sgprs = 4,
        .user_sgpr = {(uint32_t)to, (uint32_t)(to >> 32), BLOCK, 0}};
    memcpy(code, kernel, bytes);
    emu_code_changed(emu, (uintptr_t)code, PAGE);
    return emu_run(emu, &d, NULL, NULL);
}
#define RUN(kernel, first, groups) run(kernel, sizeof(kernel), first, groups)

#define ALL (BYTES / 16 / BLOCK) /* workgroups */

/* Bytes of the file that there are. */
static uint64_t present(void)
{
    struct stat st;
    ck_assert_int_eq(fstat(file, &st), 0);
    return 512ull * (uint64_t)st.st_blocks;
}

/* Fill pages here and there. */
static void touch_some(void)
{
    unsigned n = 1;
    for (uint64_t page = 0; page < BYTES / PAGE; page += n = n * 7 % 31)
        memset(buffer + page * PAGE, 7, PAGE);
}

/* Of each 16 bytes the second dword is second, the others are 0. */
static void expect(uint64_t first, uint64_t end, uint32_t second)
{
    const uint32_t want[4] = {0, second, 0, 0};
    uint64_t wrong = 0;
    for (uint64_t at = first; at < end; at += sizeof want)
        wrong += memcmp(buffer + at, want, sizeof want) != 0;
    ck_assert_uint_eq(wrong, 0);
}

START_TEST(untouched_stays)
{
    ck_assert_int_eq(RUN(clear, 0, ALL), RD_OK);
    ck_assert_uint_eq(present(), 0);
    expect(0, BYTES, 0);
}
END_TEST

START_TEST(touched_is_cleared)
{
    touch_some();
    uint64_t before = present();
    ck_assert_int_eq(RUN(clear, 0, ALL), RD_OK);
    ck_assert_uint_eq(present(), before);
    expect(0, BYTES, 0);
}
END_TEST

/* What begins in pages that there are: it is tried again later. */
START_TEST(touched_first)
{
    memset(buffer, 7, BYTES / 8);
    ck_assert_int_eq(RUN(clear, 0, ALL), RD_OK);
    ck_assert_uint_lt(present(), BYTES / 2);
    expect(0, BYTES, 0);
}
END_TEST

/* Runs that neither begin nor end with a page, nor with what is cleared. */
START_TEST(parts_of_pages)
{
    memset(buffer, 7, 2 * PAGE);
    memset(buffer + HALF - PAGE, 7, 2 * PAGE);
    ck_assert_int_eq(RUN(clear, PAGE + 48, HALF / 16 / BLOCK), RD_OK);
    ck_assert_uint_lt(present(), 8 * PAGE);
    ck_assert_uint_eq(buffer[PAGE + 47], 7);
    ck_assert_uint_eq(buffer[PAGE + 48 + HALF], 0);
    expect(PAGE + 48, PAGE + 48 + HALF, 0);
}
END_TEST

START_TEST(order_is_kept)
{
    ck_assert_int_eq(RUN(clear_then_one, 0, ALL), RD_OK);
    expect(0, BYTES, 1);
    ck_assert_int_eq(RUN(one_then_clear, 0, ALL), RD_OK);
    expect(0, BYTES, 0);
}
END_TEST

START_TEST(loads_find_zeros)
{
    memset(buffer, 7, BYTES);
    ck_assert_int_eq(RUN(clear_then_scalar, 0, ALL), RD_OK);
    expect(0, BYTES, 0);
    memset(buffer, 7, BYTES);
    ck_assert_int_eq(RUN(clear_then_load, 0, ALL), RD_OK);
    expect(0, BYTES, 0);
}
END_TEST

static void allow(uint64_t bytes, unsigned perm)
{
    ck_assert_int_eq(emu_mem_remove(emu, (uintptr_t)buffer), RD_OK);
    ck_assert_int_eq(emu_mem_add(emu, (uintptr_t)buffer, bytes, perm, "buffer"), RD_OK);
}

/* The last workgroup leaves the buffer; those before it have cleared it. */
START_TEST(faults)
{
    memset(buffer, 7, BYTES);
    ck_assert_int_eq(RUN(clear, 0, ALL + 1), RD_E_FAULT);
    expect(0, BYTES, 0);
    allow(BYTES, EMU_MEM_READ);
    memset(buffer, 7, BYTES);
    ck_assert_int_eq(RUN(clear, 0, ALL), RD_E_FAULT);
    ck_assert_uint_eq(buffer[0], 7);
}
END_TEST

/* The last wave leaves it in the middle. */
START_TEST(ends_inside)
{
    allow(BYTES - 256, EMU_MEM_READ | EMU_MEM_WRITE);
    ck_assert_int_eq(RUN(clear, 0, ALL), RD_E_FAULT);
    ck_assert_uint_eq(present(), 0);
}
END_TEST

START_TEST(not_a_file)
{
    no_file = true;
    ck_assert_int_eq(RUN(clear, 0, ALL), RD_OK);
    ck_assert_uint_eq(present(), BYTES);
    expect(0, BYTES, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("zeros");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, untouched_stays);
    tcase_add_test(t, touched_is_cleared);
    tcase_add_test(t, touched_first);
    tcase_add_test(t, parts_of_pages);
    tcase_add_test(t, order_is_kept);
    tcase_add_test(t, loads_find_zeros);
    tcase_add_test(t, faults);
    tcase_add_test(t, ends_inside);
    tcase_add_test(t, not_a_file);
    suite_add_tcase(s, t);
    return suite_run(s);
}
