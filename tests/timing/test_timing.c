/* test_timing.c: parameters and tag stores of the timing engine.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../suite.h"
#include "timing.h"

/* Internal: tests may use it. */
#include "../../emulator/timing/units/cache.h"
#include "../../emulator/timing/units/canon.h"
#include "../../emulator/timing/units/mem.h"
#include "../../emulator/timing/engine/turns.h"
#include "queue.h"

START_TEST(parameters_have_unit_effect_and_source)
{
    ck_assert_uint_gt(tm_param_count(), 100);
    for (size_t i = 0; i < tm_param_count(); i++) {
        const struct tm_param *p = tm_param(i);
        ck_assert_msg(*p->affects && *p->source, "%s", p->name);
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(p->name, tm_param(k)->name);
    }
}
END_TEST

START_TEST(parameters_can_be_set)
{
    struct tm_config config = {.sclk_mhz = 2000};
    struct tm_engine *t;
    ck_assert_int_eq(tm_create(&config, &t), RD_OK);
    ck_assert_int_eq(tm_set(t, "gl2_bytes", 12582912), RD_OK);
    ck_assert_int_eq(tm_set(t, "no_such_thing", 1), RD_E_NOT_FOUND);
    ck_assert_int_eq(tm_set(t, "gl2_ways", 0), RD_E_RANGE);
    ck_assert_int_eq(tm_set(t, "shader_engines", 7), RD_E_RANGE);
    ck_assert_int_eq(tm_set(t, "dram_bytes_per_ns", 0), RD_E_RANGE);
    ck_assert_int_eq(tm_set(t, "valu_dep", 0), RD_OK);
    ck_assert_int_eq(tm_set(t, "valu_dep", -1), RD_E_RANGE);
    ck_assert_int_eq(tm_set(t, "valu_dep", NAN), RD_E_RANGE);
    tm_destroy(t);
}
END_TEST

START_TEST(impossible_machines_are_refused)
{
    struct tm_config config = {.have_cu_mask = true};
    struct tm_engine *t = NULL;
    ck_assert_int_eq(tm_create(&config, &t), RD_E_RANGE);
    config.cu_mask[3] = 1;
    config.first_se = TM_MAX_SES;
    ck_assert_int_eq(tm_create(&config, &t), RD_E_RANGE);
    ck_assert_ptr_null(t);
    config = (struct tm_config){.sclk_mhz = 2000};
    ck_assert_int_eq(tm_create(&config, &t), RD_OK);
    ck_assert_int_eq(tm_set(t, "tlb_page_bytes", 1), RD_E_RANGE);
    ck_assert_int_eq(tm_set(t, "tlb_page_bytes", 4095), RD_E_RANGE);
    ck_assert_int_eq(tm_set(t, "tlb_page_bytes", 4096), RD_OK);
    ck_assert_int_eq(tm_set(t, "mall_ways", 4294967312.), RD_E_RANGE); /* 2^32 + 16 */
    tm_destroy(t);
}
END_TEST

/* A cache whose sets have no numbers would be a smaller one, or none. */
START_TEST(caches_that_are_too_large_are_refused)
{
    struct tm_cache c = {.sets = 0};
    ck_assert_int_eq(tm_cache_create(&c, UINT64_C(1) << 32, 1), RD_E_RANGE);
    ck_assert_int_eq(tm_cache_create(&c, (UINT64_C(1) << 32) + 8, 1), RD_E_RANGE);
    ck_assert_int_eq(tm_cache_create(&c, UINT64_C(1) << 29, 1), RD_E_RANGE);
    ck_assert_int_eq(tm_cache_create(&c, UINT64_C(1) << 33, 16), RD_E_RANGE);
    ck_assert_ptr_null(c.memory);
}
END_TEST

/* To empty a cache takes no time by set, and none of the host's memory. */
START_TEST(caches_are_emptied_at_once)
{
    enum { LINES = 1 << 22, TIMES = 10, PAGE = 4096 };
    struct tm_cache c = {.sets = 0};
    int64_t *ready;
    size_t there = 0;
    ck_assert_int_eq(tm_cache_create(&c, LINES, 32), RD_OK);
    for (unsigned k = 0; k < TIMES; k++) {
        ck_assert(!tm_cache_access(&c, 5, &ready));
        ck_assert(!tm_cache_access(&c, 5 + LINES, &ready));
        ck_assert(tm_cache_access(&c, 5, &ready));
        tm_cache_clear(&c);
        tm_cache_clear(&c);
        ck_assert(!tm_cache_probe(&c, 5));
        tm_cache_drop(&c, 5);
        ck_assert(!tm_cache_probe(&c, 5 + LINES));
    }
    size_t pages = (c.mapped + PAGE - 1) / PAGE;
    unsigned char *page = malloc(pages);
    ck_assert_ptr_nonnull(page);
    ck_assert_int_eq(mincore(c.memory, c.mapped, page), 0);
    for (size_t k = 0; k < pages; k++)
        there += page[k] & 1u;
    ck_assert_uint_lt(there, pages / 8);
    free(page);
    ck_assert_uint_eq(c.hits, TIMES);
    ck_assert_uint_eq(c.misses, 2 * TIMES);
    tm_cache_destroy(&c);
}
END_TEST

/* Two buffers and many pages that nobody named, and many small buffers: nothing lies
 * where something else does, and the first of them share a translation. */
START_TEST(canonical_pages_are_distinct)
{
    enum { SMALL = 600, OTHERS = 3000, PAGES = SMALL + 2 * 700 + OTHERS };
    static struct tm_range range[SMALL + 2];
    static bool taken[16384];
    struct tm_canon c = {.range = NULL};
    for (unsigned i = 0; i < SMALL; i++)
        range[i] = (struct tm_range){(UINT64_C(1) << 32) + 8192 * i, 4096};
    for (unsigned i = 0; i < 2; i++)
        range[SMALL + i] = (struct tm_range){(2 + i) << 28, 700 * 4096};
    ck_assert_int_eq(tm_canon_create(&c, range, SMALL + 2, 2 << 20), RD_OK);
    for (unsigned i = 0; i < PAGES; i++) {
        uint64_t address = (UINT64_C(7) << 40) + 4096ull * i;
        if (i < SMALL)
            address = range[i].base;
        else if (i < SMALL + 1400)
            address = range[SMALL + (i - SMALL) / 700].base + (i - SMALL) % 700 * 4096;
        uint64_t at = tm_canon_data(&c, address + 12);
        ck_assert_uint_eq(at % 4096, 12);
        ck_assert_uint_lt(at / 4096, sizeof taken);
        ck_assert_msg(!taken[at / 4096], "page %u lies where another does", i);
        taken[at / 4096] = true;
        if (i < TM_SMALL_PAGES)
            ck_assert_uint_eq(at / 4096, i);
    }
    tm_canon_destroy(&c);
}
END_TEST

/* A CU looks up what has a place. Else nothing changes: who asks later must not be in
 * its caches before. */
START_TEST(lines_are_looked_up_once_they_have_a_place)
{
    static struct tm_memory m;
    static struct tm_vmem cu;
    struct tm_base b = {.p = tm_params_gfx1100,
                        .n = tm_params_whole(&tm_params_gfx1100)};
    struct tm_inst load = {.returns = true};
    uint64_t host = UINT64_C(0x7f0000001000) / 128 | TM_HOST_LINE;
    struct tm_request r = {.lines = 2, .line = {host, host + 1}}, next = r;
    ck_assert_int_eq(tm_canon_create(&m.canon, NULL, 0, 2 << 20), RD_OK);
    ck_assert_int_eq(tm_cache_create(&cu.l0, 256, 32), RD_OK);
    ck_assert(!tm_vmem_look_up(&b, &m, &cu, &load, &r));
    ck_assert_uint_eq(cu.l0.hits + cu.l0.misses, 0);
    ck_assert_uint_eq(cu.tlb.out.n, 0);
    tm_vmem_place(&m, &r);
    ck_assert(tm_vmem_look_up(&b, &m, &cu, &load, &r));
    ck_assert_uint_eq(r.line[1], 1); /* the first page that anybody has used */
    ck_assert_uint_eq(r.in_l0, 0);
    ck_assert_uint_eq(r.near, 2); /* by the first line */
    next.line[1] = host + 2;
    ck_assert(tm_vmem_look_up(&b, &m, &cu, &load, &next)); /* has its place already */
    ck_assert_uint_eq(next.line[1], 2);
    ck_assert_uint_eq(next.in_l0, 1);
    tm_cache_destroy(&cu.l0);
    tm_canon_destroy(&m.canon);
}
END_TEST

START_TEST(caches_replace_the_least_recently_used)
{
    struct tm_cache c = {0};
    int64_t *ready;
    ck_assert_int_eq(tm_cache_create(&c, 8, 2), RD_OK); /* 4 sets of 2 ways */
    ck_assert(!tm_cache_access(&c, 0, &ready));
    ck_assert(!tm_cache_access(&c, 4, &ready));
    ck_assert(tm_cache_access(&c, 0, &ready));
    ck_assert(!tm_cache_access(&c, 8, &ready)); /* takes the place of 4 */
    ck_assert(tm_cache_probe(&c, 0));
    ck_assert(!tm_cache_probe(&c, 4));
    ck_assert(tm_cache_probe(&c, 8));
    ck_assert(!tm_cache_probe(&c, 1)); /* another set */
    ck_assert_uint_eq(c.hits, 1);
    ck_assert_uint_eq(c.misses, 3);
    for (unsigned n = 0; n < 3; n++) { /* as it was filled, and while it is empty */
        tm_cache_clear(&c);
        tm_cache_clear(&c);
        ck_assert(!tm_cache_probe(&c, 8));
        ck_assert(!tm_cache_access(&c, 8, &ready));
        ck_assert(tm_cache_access(&c, 8, &ready));
    }
    tm_cache_destroy(&c);
}
END_TEST

/* A list of the lines of a set, the one that was used last first. */
struct list {
    uint64_t line[16];
    unsigned n;
};

/* Its place, or .n. */
static unsigned place_in(const struct list *l, uint64_t line)
{
    unsigned at = 0;
    while (at < l->n && l->line[at] != line)
        at++;
    return at;
}

/* Take it out. Returns whether it was there. */
static bool take(struct list *l, uint64_t line)
{
    unsigned at = place_in(l, line);
    if (at == l->n)
        return false;
    l->n--;
    memmove(l->line + at, l->line + at + 1, (l->n - at) * sizeof *l->line);
    return true;
}

/* Returns whether it was there; lost: the line in whose place it comes, or 0. */
static bool use(struct list *l, unsigned ways, uint64_t line, uint64_t *lost)
{
    bool was = take(l, line);
    *lost = 0;
    if (l->n == ways)
        *lost = l->line[--l->n];
    memmove(l->line + 1, l->line, l->n * sizeof *l->line);
    l->line[0] = line;
    l->n++;
    return was;
}

/* Lines are used, dropped, all forgotten, as in lists: sets of one way, of a few, of
 * more than signs that are compared at once. */
START_TEST(caches_are_lists)
{
    static const uint32_t of[] = {1, 3, 8, 12};
    uint32_t ways = of[_i], random = 1;
    struct list list[3] = {{.n = 0}};
    struct tm_cache c = {0};
    int64_t *ready;
    ck_assert_int_eq(tm_cache_create(&c, 3ul * ways, ways), RD_OK);
    for (unsigned n = 0; n < 20000; n++) {
        random = random * 1664525u + 1013904223u;
        uint64_t line = 1 + (random >> 8) % (5 * ways), lost;
        struct list *l = &list[line % 3];
        unsigned what = random >> 24;
        if (what == 0) {
            tm_cache_clear(&c);
            memset(list, 0, sizeof list);
        } else if (what < 40) {
            tm_cache_drop(&c, line);
            (void)take(l, line);
        } else {
            ck_assert_int_eq(tm_cache_access(&c, line, &ready),
                             use(l, ways, line, &lost));
            ck_assert_int_eq(c.lost, lost != 0);
            if (lost)
                ck_assert_uint_eq(c.lost_line, lost);
            tm_cache_write(&c, ready);
        }
        line = 1 + (random >> 4) % (5 * ways);
        l = &list[line % 3];
        ck_assert_int_eq(tm_cache_probe(&c, line), place_in(l, line) < l->n);
    }
    tm_cache_destroy(&c);
}
END_TEST

/* Operations keep their numbers while a counter grows, and the oldest of too many is
 * forgotten. */
START_TEST(counters_grow)
{
    struct tm_counted few[2];
    static const struct tm_base b;
    struct tm_fifo f = {0};
    const struct tm_inst *from = NULL;
    uint8_t why = 0;
    fifo_begin(&f, few, 2);
    ck_assert_uint_eq(fifo_add(&f, 1, 0, NULL), 0);
    ck_assert_int_eq(fifo_wait(&b, &f, 0, 5, &why, &from),
                     5); /* it is done, and gone */
    ck_assert_uint_eq(f.n, 0);
    for (uint32_t k = 1; k <= TM_FIFO; k++) {
        ck_assert_uint_eq(fifo_add(&f, 100 + k, (uint8_t)k, NULL), k);
        for (uint32_t old = 1; old <= k; old++)
            ck_assert_int_eq(fifo_at(&f, old)->done, 100 + old);
    }
    ck_assert_uint_eq(f.n, TM_FIFO);
    ck_assert_int_eq(fifo_wait(&b, &f, 60, 5, &why, &from), 104);
    ck_assert_uint_eq(why, 4);
    fifo_at(&f, 2)->open = true; /* not known before the window's end */
    ck_assert_int_eq(fifo_wait(&b, &f, TM_FIFO - 2, 102, &why, &from), 2 * TM_WINDOW);
    ck_assert_uint_eq(why, TM_S_NONE);
    ck_assert_uint_eq(f.first, 2);
    (void)fifo_add(&f, 200, 0, NULL);
    ck_assert_uint_eq(fifo_add(&f, 201, 0, NULL), TM_FIFO + 2);
    ck_assert_uint_eq(f.n, TM_FIFO);
    ck_assert_uint_eq(f.first, 3); /* 2 is forgotten */
    ck_assert(!f.lost);
    fifo_free(&f);
}
END_TEST

/* What the engine keeps of a time is what a longer queue would say. */
START_TEST(short_queues_forget_what_does_not_matter)
{
    struct tm_short_queue s = {0};
    struct tm_queue q = {0};
    for (int64_t k = 0; k < 3 * TM_SHORT_QUEUE; k++) {
        short_add(&s, 7 * k);
        queue_add(&q, 7 * k);
        for (unsigned limit = 1; limit <= TM_SHORT_QUEUE; limit++)
            ck_assert_int_eq(short_free(&s, 30, limit), queue_free(&q, 30, limit));
    }
    short_trim(&s, 7 * 3 * TM_SHORT_QUEUE);
    ck_assert_uint_eq(s.n, 0);
}
END_TEST

/* A ring that keeps what is free says what a queue says that forgets it. */
START_TEST(rings_say_what_queues_say)
{
    struct tm_ring r = {0};
    struct tm_queue q = {0};
    uint32_t seed = 1;
    int64_t now = 0;
    for (unsigned n = 0; n < 2000; n++) {
        seed = seed * 1664525 + 1013904223;
        now += seed >> 28;
        int64_t free_at = now + 20 + (seed >> 20 & 15); /* in any order */
        queue_trim(&q, now);
        for (unsigned limit = 1; limit <= 32; limit++)
            ck_assert_int_eq(ring_free(&r, now, limit), queue_free(&q, now, limit));
        ck_assert_int_eq(ring_free(&r, now, TM_RING + 1), now);
        queue_add(&q, free_at);
        ring_add(&r, free_at);
    }
}
END_TEST

/* Turns of a WGP come by time, then priority, then age, while waves come and go. */
START_TEST(turns_come_in_order)
{
    enum { WAVES = 50, TURNS = 20000 };
    static struct tm_wave wave[WAVES];
    static struct tm_simd simd[4] = {
        {.index = 0}, {.index = 1}, {.index = 2}, {.index = 3}};
    struct tm_turns q;
    uint64_t age = 0;
    uint32_t seed = 1;
    tm_turns_begin(&q);
    for (unsigned k = 0; k < WAVES; k++) {
        wave[k] = (struct tm_wave){.age = ++age, .due = k, .simd = &simd[k % 4]};
        tm_turns_enter(&q, &wave[k]);
        tm_turns_put(&q, &wave[k], wave[k].due);
    }
    for (unsigned n = 0; n < TURNS; n++) {
        struct tm_wave *first = &wave[0];
        for (unsigned k = 1; k < WAVES; k++)
            if (wave[k].due != first->due ? wave[k].due < first->due
                                          : tm_turn(&wave[k]) < tm_turn(first))
                first = &wave[k];
        ck_assert_int_eq(tm_turns_next(&q), first->due);
        if (!q.busy)
            tm_turns_window(&q, first->due / TM_WINDOW * TM_WINDOW);
        unsigned cycle = (unsigned)__builtin_ctzll(q.busy);
        unsigned rank = tm_turns_first(&q, q.at[cycle]);
        ck_assert_ptr_eq(q.wave[rank], first);
        for (unsigned k = 0; k < 4; k++)
            ck_assert_uint_eq(q.of_simd[k] >> rank & 1u, first->simd == &simd[k]);
        tm_turns_take(&q, cycle, rank);
        seed = seed * 1664525 + 1013904223;
        if (seed >> 28 == 0) { /* another one in its place */
            tm_turns_leave(&q, first);
            first->age = ++age;
            tm_turns_enter(&q, first);
        }
        first->priority = seed >> 24 & 8 ? seed >> 16 & 3 : first->priority;
        first->due += seed >> 20 & 1 ? 0 : seed >> 8 & 127;
        tm_turns_put(&q, first, first->due);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timing");
    TCase *tests = tcase_create("timing");
    tcase_add_test(tests, parameters_have_unit_effect_and_source);
    tcase_add_test(tests, parameters_can_be_set);
    tcase_add_test(tests, impossible_machines_are_refused);
    tcase_add_test(tests, caches_that_are_too_large_are_refused);
    tcase_add_test(tests, caches_are_emptied_at_once);
    tcase_add_test(tests, canonical_pages_are_distinct);
    tcase_add_test(tests, lines_are_looked_up_once_they_have_a_place);
    tcase_add_test(tests, caches_replace_the_least_recently_used);
    tcase_add_loop_test(tests, caches_are_lists, 0, 4);
    tcase_add_test(tests, counters_grow);
    tcase_add_test(tests, short_queues_forget_what_does_not_matter);
    tcase_add_test(tests, rings_say_what_queues_say);
    tcase_add_test(tests, turns_come_in_order);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
