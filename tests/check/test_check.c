/* test_check.c: checkers by their own interface: memory that was freed, what stays of
 * dispatches, tables that several share.
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "checkers.h"

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

static rd_status run(uint64_t address)
{
    struct emu_dispatch d = {
        .entry = va(0),
        .groups = {1, 1, 1},
        .block = {1, 1, 1},
        .n_user_sgprs = 2,
        .user_sgpr = {(uint32_t)address, (uint32_t)(address >> 32)}};
    return emu_run(emu, &d, NULL, NULL);
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

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *t = tcase_create("checkers");
    tcase_add_test(t, memory_is_found);
    tcase_add_test(t, what_is_cut_off_is_gone);
    tcase_add_test(t, use_after_free_is_named);
    tcase_add_test(t, the_first_error_ends_it);
    tcase_add_test(t, what_must_not_is_left_out);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
