/* test_timing_show.c: waves are looked at while their dispatch is simulated. What they
 * show is what they have done so far, and the cycles are those of a run that nobody
 * looks at; a dispatch that is cancelled shows its inspector what was in flight.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <sys/mman.h>

#include "../suite.h"
#include "event.h"
#include "inspect.h"
#include "timing.h"

#define PAGE   4096u
#define TRIPS  96u
#define BODY   9u /* instructions of the loop */
#define GROUPS 40u
#define WAVES  (4u * GROUPS)

/* Vector and scalar work, the LDS, a barrier; ends with what the wave has counted. */
static const uint32_t kernel[] = {
    0xb0080060,             /* s_movk_i32 s8, TRIPS */
    0x06020300,             /* v_add_f32 v1, v0, v1 */
    0x10040301,             /* v_mul_f32 v2, v1, v1 */
    0x7e066702,             /* v_sqrt_f32 v3, v2 */
    0x06020303,             /* v_add_f32 v1, v3, v1 */
    0xd8340000, 0x00000100, /* ds_store_b32 v0, v1 */
    0xbfbd0000,             /* s_barrier */
    0x80888108,             /* s_sub_u32 s8, s8, 1 */
    0xbf078008,             /* s_cmp_lg_u32 s8, 0 */
    0xbfa2fff6,             /* s_cbranch_scc1 to the v_add_f32 */
    0xbfb00000,             /* s_endpgm */
};

struct looker {
    struct tm_engine *t;
    struct emu_inspector inspector;
    bool look;
    unsigned polls, cancel_at; /* 0: never */
    unsigned groups, waves;    /* in one look */
    uint64_t instructions;     /* seen, in all looks */
};

static void group_begin(void *ctx, uint64_t group, unsigned n_waves,
                        const struct emu_fault *fault)
{
    struct looker *l = ctx;
    ck_assert_uint_lt(group, GROUPS);
    ck_assert_uint_eq(n_waves, 4);
    ck_assert_ptr_null(fault);
    l->groups++;
}

static void wave(void *ctx, const struct emu_wave_info *info)
{
    struct looker *l = ctx;
    struct emu_wave_view v;
    emu_wave_look(info, &v);
    uint32_t left = emu_wave_special(info, 8);
    ck_assert_uint_le(v.instructions, 1 + TRIPS * BODY + 1);
    if (v.instructions > 1) { /* s8 says how often it has gone round */
        uint64_t trip = (v.instructions - 2) / BODY, at = (v.instructions - 2) % BODY;
        ck_assert_uint_eq(left, TRIPS - trip - (at >= 6 ? 1 : 0));
    }
    l->waves++;
    l->instructions += v.instructions;
}

static bool poll(void *ctx, uint64_t cycles)
{
    struct looker *l = ctx;
    (void)cycles;
    l->polls++;
    l->groups = l->waves = 0;
    if (l->look) {
        ck_assert_uint_eq(tm_show(l->t, &l->inspector), 4 * l->groups);
        ck_assert_uint_eq(l->waves, 4 * l->groups);
    }
    l->groups = l->waves = 0;
    return !l->cancel_at || l->polls < l->cancel_at;
}

/* Returns the cycles. */
static int64_t run(struct looker *l, unsigned threads, rd_status expected)
{
    uint8_t *p =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct emu *emu;
    struct emu_fault fault;
    struct emu_stats stats = {0};
    ck_assert_ptr_ne(p, MAP_FAILED);
    memcpy(p, kernel, sizeof kernel);
    ck_assert_int_eq(emu_create(&(struct emu_config){.threads = 1}, &emu), RD_OK);
    ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)p, PAGE,
                                 EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                     RD_OK);
    l->inspector = (struct emu_inspector){l, group_begin, wave};
    struct emu_dispatch d = {.entry = (uint64_t)(uintptr_t)p,
                             .groups = {GROUPS, 1, 1},
                             .block = {128, 1, 1},
                             .rsrc1 = 1u | 0xf0u << 12,
                             .lds_bytes = 1024,
                             .inspector = &l->inspector};
    struct tm_config config = {
        .sclk_mhz = 2500, .threads = threads, .poll = poll, .poll_ctx = l};
    ck_assert_int_eq(tm_create(&config, &l->t), RD_OK);
    ck_assert_int_eq(tm_run(l->t, emu, &d, &fault, &stats), expected);
    if (expected == RD_OK)
        ck_assert_uint_eq(stats.instructions, WAVES * (2 + TRIPS * BODY));
    int64_t cycles = (int64_t)tm_span_cycles(l->t);
    tm_destroy(l->t);
    emu_destroy(emu);
    munmap(p, PAGE);
    return cycles;
}

START_TEST(looking_changes_no_cycle)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct looker never = {.look = false}, always = {.look = true};
        int64_t cycles = run(&never, threads, RD_OK);
        ck_assert_int_gt(cycles, 0);
        ck_assert_int_eq(run(&always, threads, RD_OK), cycles);
        ck_assert_uint_gt(always.polls, 2);
        ck_assert_uint_gt(always.instructions, 0);
    }
}
END_TEST

START_TEST(what_was_in_flight_is_shown)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct looker l = {.cancel_at = 3};
        (void)run(&l, threads, RD_E_TIMEOUT);
        ck_assert_uint_gt(l.waves, 0);
        ck_assert_uint_eq(l.waves, 4 * l.groups);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timing_show");
    TCase *tests = tcase_create("show");
    tcase_add_test(tests, looking_changes_no_cycle);
    tcase_add_test(tests, what_was_in_flight_is_shown);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
