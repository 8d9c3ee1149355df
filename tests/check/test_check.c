/* test_check.c: checkers by their own interface: memory that was freed, what stays of
 * dispatches, tables that several share.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../suite.h"
#include "checkers.h"
#include "heap.h"

enum { PAGE = 4096 };

static struct emu *emu;
static struct ck_table *table;
static struct ck *ck;
static char *memory; /* a page of code, one of data, one that nothing maps */

/* v_mov_b32 v1, 0; global_store_b32 v1, v0, s[0:1]; s_endpgm */
static const uint32_t store[] = {0x7e020280, 0xdc6a0000, 0x00000001, 0xbfb00000};

static uint64_t va(unsigned page)
{
    return (uint64_t)(uintptr_t)memory + (uint64_t)page * PAGE;
}

static void begin(const struct ck_config *config)
{
    table = calloc(1, sizeof *table);
    memory = mmap(NULL, 3ul * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
    ck_assert(table && memory != MAP_FAILED);
    memcpy(memory, store, sizeof store);
    ck_assert_int_eq(emu_create(NULL, &emu), RD_OK);
    ck_assert_int_eq(emu_mem_add(emu, va(0), PAGE, EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                     RD_OK);
    ck_assert_int_eq(emu_mem_add(emu, va(1), 64, EMU_MEM_READ | EMU_MEM_WRITE, "data"),
                     RD_OK);
    ck_assert_int_eq(ck_create(emu, config, table, &ck), RD_OK);
}

static void end(void)
{
    ck_destroy(ck);
    emu_destroy(emu);
    munmap(memory, 3ul * PAGE);
    free(table);
}

static rd_status run_block(uint32_t block, uint64_t address)
{
    struct emu_dispatch d = {
        .entry = va(0),
        .groups = {1, 1, 1},
        .block = {block, 1, 1},
        .n_user_sgprs = 2,
        .user_sgpr = {(uint32_t)address, (uint32_t)(address >> 32)}};
    return emu_run(emu, &d, NULL, NULL);
}

static rd_status run(uint64_t address)
{
    return run_block(1, address);
}

static const char *kind(unsigned i)
{
    ck_assert_uint_gt(atomic_load(&table->n), i);
    return table->v[i].kind;
}

START_TEST(memory_is_found)
{
    struct emu_mem m;
    begin(&(struct ck_config){.classes = CK_BIT(CK_MEM)});
    ck_assert(emu_mem_find(emu, va(1) + 63, &m));
    ck_assert_str_eq(m.name, "data");
    ck_assert_uint_eq(m.bytes, 64);
    ck_assert(!emu_mem_find(emu, va(1) + 64, &m));
    ck_assert(emu_mem_nearest(emu, va(1) + 64, &m));
    ck_assert_uint_eq(m.va, va(1));
    ck_assert(!emu_mem_gone(emu, va(1), &m));
    ck_assert_int_eq(emu_mem_remove(emu, va(1)), RD_OK);
    ck_assert(emu_mem_gone(emu, va(1) + 63, &m));
    ck_assert_uint_eq(m.bytes, 64);
    ck_assert(!emu_mem_gone(emu, va(1) + 64, &m));
    ck_assert_int_eq(emu_mem_add(emu, va(1), 32, EMU_MEM_READ, "again"), RD_OK);
    ck_assert(!emu_mem_gone(emu, va(1), &m));
    ck_assert(emu_mem_gone(emu, va(1) + 32, &m));
    end();
}
END_TEST

START_TEST(what_is_cut_off_is_gone)
{
    struct emu_mem m;
    begin(&(struct ck_config){.classes = CK_BIT(CK_MEM)});
    const struct emu_mem_piece middle = {va(1) + 16, 16, EMU_MEM_READ};
    ck_assert_int_eq(emu_mem_change(emu, va(1), &middle, 1), RD_OK);
    ck_assert(emu_mem_gone(emu, va(1), &m));
    ck_assert_uint_eq(m.bytes, 16);
    ck_assert(!emu_mem_gone(emu, va(1) + 16, &m));
    ck_assert(emu_mem_gone(emu, va(1) + 32, &m));
    ck_assert_uint_eq(m.bytes, 32);
    end();
}
END_TEST

START_TEST(use_after_free_is_named)
{
    begin(&(struct ck_config){.classes = CK_BIT(CK_MEM), .keep_going = true});
    ck_assert_int_eq(run(va(1)), RD_OK);
    ck_assert_uint_eq(atomic_load(&table->n), 0);
    ck_assert_int_eq(emu_mem_remove(emu, va(1)), RD_OK);
    ck_assert_int_eq(run(va(1)), RD_OK);
    ck_assert_str_eq(kind(0), "use-after-free");
    ck_assert_str_eq(table->v[0].allocation, "data");
    ck_assert_int_eq(run(va(1)), RD_OK);
    ck_assert_uint_eq(atomic_load(&table->n), 1);
    ck_assert_uint_eq(atomic_load(&table->v[0].count), 2);
    ck_assert_uint_eq(atomic_load(&table->dispatches), 3);
    end();
}
END_TEST

START_TEST(the_first_error_ends_it)
{
    begin(&(struct ck_config){.classes = CK_BIT(CK_MEM)});
    ck_assert_int_eq(run(va(1) + 61), RD_E_FAULT);
    ck_assert_str_eq(kind(0), "out-of-bounds");
    ck_assert(ck_stopped(ck));
    end();
}
END_TEST

START_TEST(what_must_not_is_left_out)
{
    begin(&(struct ck_config){.classes = CK_BIT(CK_MEM), .keep_going = true});
    memset(memory + PAGE, 0x55, 128);
    ck_assert_int_eq(run(va(1) + 62), RD_OK);
    for (unsigned i = 0; i < 128; i++)
        ck_assert_int_eq(memory[PAGE + i], 0x55);
    ck_assert_int_eq(run(va(0)), RD_OK);
    ck_assert_str_eq(kind(1), "write-to-code");
    ck_assert_mem_eq(memory, store, sizeof store);
    end();
}
END_TEST

/* 40 bytes of the page of data are an allocation, and 24 behind them its margin. */
static struct ck_heap *heap_with_one(void)
{
    struct ck_heap *h = NULL;
    struct ck_block b = {
        .base = va(1), .size = 40, .extent = 64, .made = {.call = "make"}};
    ck_assert_int_eq(ck_heap_create(&h), RD_OK);
    ck_assert_int_eq(ck_heap_add(h, &b), RD_OK);
    return h;
}

START_TEST(a_heap_knows_bytes)
{
    uint64_t from, to;
    struct ck_block b = {.base = va(1)};
    memory = NULL;
    struct ck_heap *h = heap_with_one();
    ck_assert_int_eq(ck_heap_at(h, va(1) + 39, &from, &to), CK_HEAP_LIVE);
    ck_assert_uint_eq(to, va(1) + 40);
    ck_assert_int_eq(ck_heap_at(h, va(1) + 40, &from, &to), CK_HEAP_MARGIN);
    ck_assert_uint_eq(from, va(1) + 40);
    ck_assert_uint_eq(to, va(1) + 64);
    ck_assert_int_eq(ck_heap_at(h, va(1) + 64, &from, &to), CK_HEAP_NONE);
    ck_assert_uint_eq(to, UINT64_MAX);
    ck_assert_int_eq(ck_heap_free(h, va(1) + 8, &b.made), CK_HEAP_INSIDE);
    ck_assert_int_eq(ck_heap_free(h, va(2), &b.made), CK_HEAP_UNKNOWN);
    ck_assert_int_eq(ck_heap_free(h, va(1), &b.made), CK_HEAP_OK);
    ck_assert_int_eq(ck_heap_free(h, va(1), &b.made), CK_HEAP_TWICE);
    ck_assert_int_eq(ck_heap_at(h, va(1) + 50, &from, &to), CK_HEAP_FREED);
    ck_assert(!ck_heap_gone(h, va(1), &b));
    ck_heap_drop(h, va(1), 0);
    ck_assert_int_eq(ck_heap_at(h, va(1), &from, &to), CK_HEAP_NONE);
    ck_assert(ck_heap_gone(h, va(1) + 50, &b));
    ck_assert_str_eq(b.made.call, "make");
    ck_heap_destroy(h);
}
END_TEST

START_TEST(claims_and_overlaps)
{
    uint64_t from, to;
    memory = NULL;
    struct ck_heap *h = heap_with_one();
    struct ck_block b = {.base = va(1), .size = 20, .extent = 20, .programs = true},
                    found;
    unsigned before = ck_heap_generation(h);
    ck_assert_int_eq(ck_heap_claim(h, &b), RD_OK);
    ck_assert_uint_ne(ck_heap_generation(h), before);
    ck_assert(ck_heap_find(h, va(1), &found));
    ck_assert_uint_eq(found.size, 20);
    ck_assert_uint_eq(found.extent, 64);
    b.base = va(1) + 48; /* somebody else's: what lay there is over */
    ck_assert_int_eq(ck_heap_add(h, &b), RD_OK);
    ck_assert(!ck_heap_find(h, va(1), &found));
    ck_assert_int_eq(ck_heap_at(h, va(1), &from, &to), CK_HEAP_NONE);
    b.extent = 0;
    ck_assert_int_eq(ck_heap_add(h, &b), RD_E_INVALID);
    /* Nearest: the end of one, or the beginning of the next. */
    b = (struct ck_block){.base = va(2), .size = 8, .extent = 8};
    ck_assert_int_eq(ck_heap_add(h, &b), RD_OK);
    ck_assert(ck_heap_near(h, va(2) - 4, &found));
    ck_assert_uint_eq(found.base, va(2));
    ck_assert(ck_heap_near(h, va(1) + 70, &found));
    ck_assert_uint_eq(found.base, va(1) + 48);
    /* By streams. */
    ck_assert_int_eq(ck_heap_free_later(h, va(2), h, &b.made), CK_HEAP_OK);
    ck_assert_int_eq(ck_heap_free_later(h, va(2), h, &b.made), CK_HEAP_TWICE);
    ck_heap_settle(h, &b, false);
    ck_assert_int_eq(ck_heap_at(h, va(2), &from, &to), CK_HEAP_LIVE);
    ck_heap_settle(h, h, false);
    ck_assert_int_eq(ck_heap_at(h, va(2), &from, &to), CK_HEAP_FREED);
    ck_heap_destroy(h);
}
END_TEST

START_TEST(accesses_are_judged_by_the_heap)
{
    begin(&(struct ck_config){.classes = 0});
    ck_destroy(ck);
    struct ck_heap *h = heap_with_one();
    struct ck_config config = {
        .classes = CK_BIT(CK_MEM), .keep_going = true, .heap = h};
    ck_assert_int_eq(ck_create(emu, &config, table, &ck), RD_OK);
    ck_assert_int_eq(run(va(1) + 36), RD_OK);
    ck_assert_uint_eq(atomic_load(&table->n), 0);
    ck_assert_int_eq(run(va(1) + 40), RD_OK);
    ck_assert_str_eq(kind(0), "out-of-bounds");
    ck_assert_str_eq(table->v[0].allocation, "memory of make");
    ck_assert_uint_eq(table->v[0].size, 40);
    ck_assert_int_eq(ck_heap_free(h, va(1), &(struct ck_trace){.call = "free"}),
                     CK_HEAP_OK);
    ck_assert_int_eq(run(va(1)), RD_OK);
    ck_assert_str_eq(kind(1), "use-after-free");
    ck_assert_str_eq(table->v[1].freed.call, "free");
    ck_heap_drop(h, va(1), 0);
    ck_assert_int_eq(run(va(1)), RD_OK); /* pages alone, again */
    ck_assert_uint_eq(atomic_load(&table->v[1].count), 1);
    end();
    ck_heap_destroy(h);
}
END_TEST

/* v_mov_b32 v1, 0; v_mov_b32 v3, 0; global_store_b64 v1, v[2:3], s[0:1]; s_endpgm */
static const uint32_t store_half[] = {0x7e020280, 0x7e060280, 0xdc6e0000, 0x00000201,
                                      0xbfb00000};

START_TEST(runtimes_read_what_is_printed)
{
    static const char *const names[] = {"VRAM", "GTT"};
    for (unsigned host = 0; host < 2; host++)
        for (unsigned programs = 0; programs < 2; programs++) {
            begin(&(struct ck_config){.classes = 0});
            ck_destroy(ck);
            memcpy(memory, store_half, sizeof store_half);
            ck_assert_int_eq(emu_mem_add(emu, va(2), PAGE, EMU_MEM_READ | EMU_MEM_WRITE,
                                         names[host]),
                             RD_OK);
            struct ck_heap *h = heap_with_one();
            struct ck_block b = {
                .base = va(2), .size = 64, .extent = 64, .programs = programs};
            ck_assert_int_eq(ck_heap_add(h, &b), RD_OK);
            struct ck_config config = {.classes = CK_BIT(CK_INIT),
                                       .keep_going = true,
                                       .heap = h,
                                       .kernel = "k"};
            ck_assert_int_eq(ck_create(emu, &config, table, &ck), RD_OK);
            ck_assert_int_eq(run(va(2)), RD_OK);
            ck_assert_str_eq(kind(0), host && !programs ? "undefined-store"
                                                        : "undefined-padding");
            ck_assert_int_eq(table->v[0].benign, !host || programs);
            end();
            ck_heap_destroy(h);
        }
}
END_TEST

START_TEST(what_runs_beside_is_counted)
{
    begin(&(struct ck_config){.classes = CK_BIT(CK_MEM)});
    ck_beside(ck);
    ck_assert_uint_eq(atomic_load(&table->beside), 1);
    end();
}
END_TEST

/* v_mov_b32 v1, 0; loop: global_load_b32 v0, v1, s[0:1]; s_waitcnt vmcnt(0);
 * v_cmp_ne_u32 vcc_lo, 0, v0; s_cbranch_vccnz end; s_sleep 1; s_branch loop;
 * end: s_endpgm */
static const uint32_t poll[] = {0x7e020280, 0xdc520000, 0x00000001,
                                0xbf8903f7, 0x7c9a0080, 0xbfa40002,
                                0xbf830001, 0xbfa0fff9, 0xbfb00000};

START_TEST(the_watchdog_knows_what_is_polled)
{
    begin(&(struct ck_config){
        .classes = CK_BIT(CK_SYNC), .host_writes = true, .watchdog = 5000});
    memcpy(memory, poll, sizeof poll);
    ck_assert_int_eq(run(va(1) + 8), RD_E_TIMEOUT);
    ck_assert_str_eq(kind(0), "endless-loop");
    ck_assert_ptr_nonnull(strstr(table->v[0].text, "it last read 4 bytes at"));
    ck_assert_uint_eq(table->v[0].address, va(1) + 8);
    end();
}
END_TEST

static bool first_dword(void *ctx, uint64_t address)
{
    (void)ctx;
    return address == va(1);
}

START_TEST(messages_do_not_race)
{
    begin(&(struct ck_config){
        .classes = CK_BIT(CK_RACE), .keep_going = true, .mailbox = first_dword});
    ck_assert_int_eq(run_block(64, va(1)), RD_OK);
    ck_assert_uint_eq(atomic_load(&table->n), 0);
    ck_assert_int_eq(run_block(64, va(1) + 4), RD_OK);
    ck_assert_str_eq(kind(0), "write-write");
    end();
}
END_TEST

/* Do the sources of v_dual_mul_f32 v2, x0, x1 :: v_dual_mul_f32 v5, y0, y1 suit one
 * another? */
static bool suit(unsigned x0, unsigned x1, unsigned y0, unsigned y1)
{
    const uint32_t code[] = {0xc8c60000u | x1 << 9 | (256 + x0),
                             2u << 24 | 5u >> 1 << 17 | y1 << 9 | (256 + y0),
                             0xbfb00000};
    begin(&(struct ck_config){.classes = CK_BIT(CK_WAIT), .keep_going = true});
    memcpy(memory, code, sizeof code);
    ck_assert_int_eq(run(va(1)), RD_OK);
    bool none = !atomic_load(&table->n);
    ck_assert(none || strcmp(kind(0), "dual-bank") == 0);
    end();
    return none;
}

/* Waves of the first workgroup store, and one of them says so when all have gone; the
 * others wait for it and read. */
static const uint32_t message[] = {
    0x30020082, 0x7e040280, /* v_lshlrev_b32 v1, 2, v0; v_mov_b32 v2, 0 */
    0x7e060500,             /* v_readfirstlane_b32 s3, v0 */
    0xbf078002, 0xbfa20009, /* s_cmp_lg_u32 s2, 0; s_cbranch_scc1 reader */
    0xdc6a0000, 0x00000001, /* global_store_b32 v1, v0, s[0:1] */
    0xbc7c0000,             /* s_waitcnt_vscnt null, 0 */
    0xbf078003, 0xbfa20003, /* s_cmp_lg_u32 s3, 0; s_cbranch_scc1 end */
    0x7e060281,             /* v_mov_b32 v3, 1 */
    0xdc6a0100, 0x00000302, /* global_store_b32 v2, v3, s[0:1] offset:256 */
    0xbfb00000,             /* end: s_endpgm */
    0xdc524100, 0x03000002, /* reader: global_load_b32 v3, v2, s[0:1] offset:256 glc */
    0xbf8903f7, 0x7e060503, /* s_waitcnt vmcnt(0); v_readfirstlane_b32 s3, v3 */
    0xbf068003, 0xbfa2fffa, /* s_cmp_eq_u32 s3, 0; s_cbranch_scc1 reader */
    0xe0b00000, 0x00000000, /* buffer_gl1_inv */
    0xe0ac0000, 0x00000000, /* buffer_gl0_inv */
    0xdc520000, 0x03000001, /* global_load_b32 v3, v1, s[0:1] */
    0xbfb00000};

START_TEST(stores_of_who_has_gone_race)
{
    begin(&(struct ck_config){.classes = CK_BIT(CK_RACE), .keep_going = true});
    memcpy(memory + 1024, message, sizeof message);
    uint64_t data = va(1) + 1024;
    ck_assert_int_eq(emu_mem_add(emu, data, 512, EMU_MEM_READ | EMU_MEM_WRITE, "box"),
                     RD_OK);
    struct emu_dispatch d = {.entry = va(0),
                             .groups = {8, 1, 1},
                             .block = {1, 1, 1},
                             .rsrc2 =
                                 2u << 1 | 1u << 7, /* and the workgroup's number */
                             .n_user_sgprs = 2,
                             .user_sgpr = {(uint32_t)va(1), (uint32_t)(va(1) >> 32)}};
    ck_dispatch_before(ck, &(struct ck_before){.slot = 0});
    ck_assert_int_eq(emu_run(emu, &d, NULL, NULL), RD_OK);
    unsigned n = atomic_load(&table->n);
    d.entry = va(0) + 1024;
    d.groups[0] = 2;
    d.block[0] = 64;
    d.user_sgpr[0] = (uint32_t)data;
    d.user_sgpr[1] = (uint32_t)(data >> 32);
    ck_dispatch_before(ck,
                       &(struct ck_before){.kept = 1, .slot = 1}); /* others' waves */
    ck_assert_int_eq(emu_run(emu, &d, NULL, NULL), RD_OK);
    ck_assert_uint_eq(atomic_load(&table->n), n + 1);
    ck_assert_str_eq(kind(n), "write-read");
    end();
}
END_TEST

START_TEST(halves_read_other_banks)
{
    ck_assert(suit(1, 3, 4, 6));
    ck_assert(suit(1, 3, 3, 1)); /* as other sources */
    ck_assert(!suit(1, 3, 1, 6));
    ck_assert(!suit(1, 3, 0, 7));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *t = tcase_create("checkers");
    tcase_add_test(t, memory_is_found);
    tcase_add_test(t, what_is_cut_off_is_gone);
    tcase_add_test(t, use_after_free_is_named);
    tcase_add_test(t, the_first_error_ends_it);
    tcase_add_test(t, what_must_not_is_left_out);
    tcase_add_test(t, a_heap_knows_bytes);
    tcase_add_test(t, claims_and_overlaps);
    tcase_add_test(t, accesses_are_judged_by_the_heap);
    tcase_add_test(t, runtimes_read_what_is_printed);
    tcase_add_test(t, what_runs_beside_is_counted);
    tcase_add_test(t, messages_do_not_race);
    tcase_add_test(t, stores_of_who_has_gone_race);
    tcase_add_test(t, the_watchdog_knows_what_is_polled);
    tcase_add_test(t, halves_read_other_banks);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
