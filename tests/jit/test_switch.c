/* test_switch.c: the order in which waves run, natively as interpreted.
 *
 *     test_switch [avx2 | avx512]
 *
 * Waves of several workgroups write down when they were where: each takes a number from
 * a counter and leaves who it is under it. What they leave must be the same with the
 * interpreter and with native code, which goes from wave to wave by itself (switch.c),
 * also where somebody watches who need not see everything (glance.h).
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdio.h>

#include "glance.h"
#include "gpus.h"

static enum emu_simd level = EMU_SIMD_AVX2;
static struct gpus g;

static void setup(void)
{
    g.wave64 = false;
    gpus_create(&g, level, 1, 0);
    gpus_fill(&g, 1);
}

static void teardown(void)
{
    gpus_destroy(&g);
}

/* s12: the wave in its workgroup; s13 rounds; s14 EXEC of a round. */
static const char begin[] = "v_lshrrev_b32 v5, %u, v0\n"
                            "v_readfirstlane_b32 s12, v5\n"
                            "s_lshl_b32 s15, s8, 8\n"
                            "s_or_b32 s15, s15, s12\n"
                            "v_mov_b32 v10, 0\n"
                            "v_mov_b32 v11, 1\n"
                            "v_mov_b32 v2, 0\n"
                            "s_mov_b32 s13, %u\n"
                            "s_mov_b64 s[16:17], exec\n"
                            "s_mov_b64 s[18:19], exec\n";

/* The next place of a ring of 8192 dwords gets s15. */
static const char note[] = "s_mov_b64 exec, 1\n"
                           "global_atomic_add_u32 v3, v10, v11, s[0:1] glc\n"
                           "s_waitcnt vmcnt(0)\n"
                           "v_and_b32 v3, 0x1fff, v3\n"
                           "v_lshlrev_b32 v3, 2, v3\n"
                           "v_mov_b32 v4, s15\n"
                           "global_store_b32 v3, v4, s[2:3]\n"
                           "s_mov_b64 exec, s[18:19]\n"
                           "s_add_u32 s15, s15, 0x10000\n";

static const char end[] = "s_sub_u32 s13, s13, 1\n"
                          "s_cmp_lg_u32 s13, 0\n"
                          "s_cbranch_scc1 @loop\n"
                          "s_mov_b64 exec, s[16:17]\n"
                          "global_store_b32 v0, v2, s[0:1] offset:256\n"
                          "s_endpgm\n";

static const struct script {
    const char *name;
    uint32_t groups, waves, rounds;
    const char *first; /* before the loop */
    const char *round; /* "N": note; "W": some work; "V": the same for all lanes; "B": a
                          barrier; other text as it is */
} scripts[] = {
    {"barriers", 3, 8, 40, "", "NVBVB"},
    {"turns", 2, 5, 60, "", "NW"},
    {"turns and barriers", 3, 7, 50, "", "NWBV"},
    {"budgets", 3, 4, 1000, "", "NW"},
    {"budgets and barriers", 3, 8, 500, "", "NVVVVBW"},
    {"32 waves", 2, 32, 20, "", "NVB"},
    {"one wave", 6, 1, 40, "", "NVBW"},
    {"waves end early", 3, 8, 10, "s_mul_i32 s9, s12, 3\ns_add_u32 s13, s13, s9\n",
     "NVB"},
    {"every other wave waits", 3, 8, 10, "",
     "Ns_bitcmp1_b32 s12, 0\ns_cbranch_scc0 @soon\ns_mov_b32 s9, 2500\nlong:\n"
     "v_add_nc_u32 v2, v2, v0\ns_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\n"
     "s_cbranch_scc1 @long\nsoon:\nVB"},
    {"lanes off in some waves", 3, 8, 40,
     "s_bfm_b32 s18, s12, 3\ns_bitcmp1_b32 s12, 0\ns_cselect_b32 s18, s18, -1\n",
     "NVBVB"},
    {"upper lanes off in some waves", 3, 8, 40,
     "s_bitcmp1_b32 s12, 0\ns_cselect_b32 s19, 0xffff, -1\n", "NVBVB"},
    {"other rounding in some waves", 3, 8, 40,
     "s_and_b32 s9, s12, 3\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s9\n", "NVBVVB"},
    {"other denormals in one wave", 3, 4, 40,
     "s_cmp_lg_u32 s12, 2\ns_cbranch_scc1 @loop\n"
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0\n",
     "NVBVVB"},
    {"f16 overflows otherwise in some waves", 3, 8, 40,
     "s_and_b32 s9, s12, 1\ns_setreg_b32 hwreg(HW_REG_MODE, 23, 1), s9\n"
     "v_mov_b32 v8, 0x7800\n",
     "NBv_mul_f16 v9, v8, v8\nv_xor_b32 v2, v2, v9\nVB"},
    {"sleep", 3, 6, 30, "", "NV\ns_sleep 1\nVB"},
    {"code that waves reach one by one", 2, 8, 60,
     "s_lshl_b32 s9, s12, 2\ns_add_u32 s13, s13, s9\n", "NVBVBVVB"},
};
#define N_SCRIPTS (sizeof scripts / sizeof *scripts)

static const char work[] = "v_add_nc_u32 v2, v2, v0\n"
                           "v_mul_f32 v6, 1.5, v0\n"
                           "v_fma_f32 v7, v6, v6, v7\n"
                           "v_xor_b32 v2, v2, v7\n";

/* Turns end at blocks: some hundred instructions in loops of their own. */
static const char long_work[] = "s_mov_b32 s9, 70\n"
                                "work:\n"
                                "v_add_nc_u32 v2, v2, v0\n"
                                "v_fma_f32 v7, v6, v6, v7\n"
                                "s_sub_u32 s9, s9, 1\n"
                                "s_cmp_lg_u32 s9, 0\n"
                                "s_cbranch_scc1 @work\n";

static void write_program(char *text, size_t size, const struct script *s)
{
    size_t n = (size_t)snprintf(text, size, begin, g.wave64 ? 6 : 5, s->rounds);
    n += (size_t)snprintf(text + n, size - n, "%sloop:\n", s->first);
    for (const char *p = s->round; *p && n < size; p++)
        n += *p == 'N'   ? (size_t)snprintf(text + n, size - n, "%s", note)
             : *p == 'V' ? (size_t)snprintf(text + n, size - n, "%s", work)
             : *p == 'W' ? (size_t)snprintf(text + n, size - n, "%s", long_work)
             : *p == 'B' ? (size_t)snprintf(text + n, size - n, "s_barrier\n")
                         : (size_t)snprintf(text + n, size - n, "%c", *p);
    ck_assert_uint_lt(n + sizeof end, size);
    snprintf(text + n, size - n, "%s", end);
}

/* Waves wrote their numbers, in an order that is not just one after the other. */
static void check_ring(const struct script *s)
{
    const uint32_t *ring = (const uint32_t *)(const void *)(g.data + GPU_DATA / 4 * 3);
    unsigned changes = 0;
    for (unsigned i = 1; i < 8192; i++)
        changes += (ring[i] & 0xffu) != (ring[i - 1] & 0xffu);
    ck_assert_msg(changes >= s->waves, "%s: %u changes", s->name, changes);
}

/* ---- who watches ---- */

/* Some turns are seen whole, and barriers if it wants them. */
struct watcher {
    const struct emu_glance *glance;
    bool barriers, all;
    uint64_t turns, skipped, seen, n_barriers;
};

static struct watcher watchers[GPU_COUNT];

static bool turn(void *ctx, const struct emu_wave_info *wave)
{
    struct watcher *w = ctx;
    (void)wave;
    w->all = ++w->turns % 7 == 0;
    return w->all;
}

static unsigned sees(void *ctx, const struct emu_inst *inst)
{
    const struct watcher *w = ctx;
    return w->barriers && inst->kind == EMU_KIND_BARRIER ? EMU_SEE_ALWAYS : 0;
}

static void skipped(void *ctx, const struct emu_wave_info *wave, uint64_t insts,
                    uint64_t accesses)
{
    struct watcher *w = ctx;
    (void)wave;
    (void)accesses;
    ck_assert(!w->all || !insts);
    w->skipped += insts;
}

static void step(void *ctx, const struct emu_event *e)
{
    struct watcher *w = ctx;
    w->seen++;
    w->n_barriers += e->inst->kind == EMU_KIND_BARRIER;
}

static const struct emu_glance glance = {
    .turn = turn, .sees = sees, .skipped = skipped};

static void watch(bool barriers)
{
    for (unsigned i = 0; i < GPU_COUNT; i++) {
        watchers[i] = (struct watcher){.glance = &glance, .barriers = barriers};
        struct emu_observer o = {
            .ctx = &watchers[i], .want = EMU_WANT_GLANCE, .step = step};
        ck_assert_int_eq(emu_add_observer(g.emu[i], &o), RD_OK);
    }
}

/* All have had the same turns, and somebody was told of each instruction. */
static void check_watchers(const struct script *s, const struct result *r)
{
    for (unsigned i = 0; i < GPU_COUNT; i++) {
        const struct watcher *w = &watchers[i], *first = &watchers[GPU_INTERP];
        ck_assert_msg(w->turns == first->turns, "%s: %llu turns of %llu", s->name,
                      (unsigned long long)w->turns, (unsigned long long)first->turns);
        ck_assert_uint_eq(w->skipped + w->seen, r->stats.instructions);
        if (w->barriers)
            ck_assert_uint_eq(w->n_barriers, first->n_barriers);
    }
    ck_assert_uint_eq(watchers[GPU_INTERP].skipped, 0);
    ck_assert_uint_gt(watchers[GPU_NATIVE].skipped, watchers[GPU_NATIVE].seen);
}

/* ---- */

static struct result run_script(const struct script *s)
{
    char text[4096];
    struct load load = {.groups = s->groups, .waves = s->waves};
    if (g.wave64 && load.waves > 16)
        load.waves = 16;
    write_program(text, sizeof text, s);
    gpus_place(&g, text);
    struct result r = gpus_compare(&g, &load, s->name);
    ck_assert_msg(r.status == RD_OK, "%s: %s", s->name, r.fault.detail);
    check_ring(s);
    return r;
}

START_TEST(same_order)
{
    (void)run_script(&scripts[_i]);
}
END_TEST

START_TEST(same_order_wave64)
{
    g.wave64 = true;
    (void)run_script(&scripts[_i]);
}
END_TEST

START_TEST(same_order_watched)
{
    const struct script *s = &scripts[_i];
    watch(s->waves % 2 == 0);
    struct result r = run_script(s);
    check_watchers(s, &r);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("switch");
    TCase *tc = tcase_create("order");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, same_order, 0, N_SCRIPTS);
    tcase_add_loop_test(tc, same_order_wave64, 0, N_SCRIPTS);
    tcase_add_loop_test(tc, same_order_watched, 0, N_SCRIPTS);
    suite_add_tcase(s, tc);
    return s;
}

int main(int argc, char **argv)
{
    return gpus_main(argc, argv, &level, suite);
}
