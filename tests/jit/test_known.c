/* test_known.c: native code that goes by what it has found out before: lines of
 * addresses, places that were checked, the host's flags in place of SCC.
 *
 *     test_known [avx2 | avx512]
 *
 * Loops in which that holds, and in which it stops to, must leave what the interpreter
 * leaves. SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "glance.h"
#include "gpus.h"

static enum emu_simd level = EMU_SIMD_AVX2;
static struct gpus g;

static void setup(void)
{
    gpus_create(&g, level, 1, 0);
    gpus_fill(&g, 7);
}

static void teardown(void)
{
    gpus_destroy(&g);
}

/* Of an iteration s9, from 0: v1 is a line that goes on by s5 bytes, v2 one that stays,
 * v3 lies anyhow; v[30:31] is s[0:1] + v2, s[10:11] is s[0:1]. v5 collects what is
 * loaded to v8; v7 is where it is left. */
static const char frame[] = "v_lshlrev_b32 v1, 2, v0\n"
                            "v_mov_b32 v2, v1\n"
                            "v_mov_b32 v7, v1\n"
                            "v_mul_u32_u24 v3, 0x34, v0\n"
                            "v_mov_b32 v4, 0\n"
                            "v_mov_b32 v5, 0\n"
                            "v_mov_b32 v8, 0\n"
                            "v_mov_b32 v9, 0\n"
                            "v_add_co_u32 v30, %s, s0, v2\n"
                            "v_add_co_ci_u32_e64 v31, %s, s1, 0, %s\n"
                            "s_mov_b64 s[10:11], s[0:1]\n"
                            "s_mov_b32 s9, 0\n"
                            "%s\n"
                            "loop:\n"
                            "%s\n"
                            "s_waitcnt vmcnt(0) & lgkmcnt(0)\n"
                            "v_add_nc_u32 v5, v8, v5\n"
                            "v_xor_b32 v5, v9, v5\n"
                            "v_add_nc_u32 v4, 1, v4\n"
                            "s_add_u32 s9, s9, 1\n"
                            "s_cmp_lt_u32 s9, 20\n"
                            "s_cbranch_scc1 @loop\n"
                            "global_store_b32 v7, v5, s[2:3]\n"
                            "s_endpgm\n";

#define LOAD  "global_load_b32 v8, v1, s[10:11]\n"
#define OTHER "global_load_b32 v9, v1, s[0:1] offset:256\n"
#define WAIT  "s_waitcnt vmcnt(0)\nv_add_nc_u32 v8, v8, v4\n"
#define STORE "global_store_b32 v1, v8, s[10:11]\n"
#define ADD   "v_add_nc_u32 v1, s5, v1\n"

static const struct loop {
    const char *name, *before, *text;
} loops[] = {
    {"a line that goes on", "", LOAD OTHER WAIT STORE ADD},
    {"one that stays", "", LOAD OTHER WAIT STORE},
    {"no line any more", "", LOAD "v_mov_b32 v1, v3\n" OTHER WAIT STORE},
    {"no line behind the loop's end", "", LOAD OTHER WAIT STORE ADD "v_mov_b32 v1, v3"},
    {"lines and others in turn", "",
     "s_and_b32 s12, s9, 1\ns_cselect_b32 s12, -1, 0\n"
     "v_cndmask_b32_e64 v1, v2, v3, s12\n" LOAD OTHER WAIT STORE},
    {"others that become lines", "v_mov_b32 v1, v3",
     LOAD OTHER WAIT STORE "v_sub_nc_u32 v6, v2, v3\nv_add_nc_u32 v1, v1, v6\n"},
    {"lanes that add apart", "", LOAD OTHER WAIT STORE "v_add_nc_u32 v1, v7, v1\n"},
    {"lanes that add the same", "v_mov_b32 v6, 64",
     LOAD OTHER WAIT STORE "v_add_nc_u32 v1, v6, v1\n"},
    {"doubled", "", LOAD OTHER WAIT STORE "v_add_nc_u32 v1, v1, v1\n"},
    {"lanes that do not add", "",
     LOAD OTHER WAIT STORE "s_cmp_eq_u32 s9, 5\n"
                           "s_cselect_b32 exec_lo, 0xffff0ff0, -1\n" ADD
                           "s_mov_b32 exec_lo, -1\n"},
    {"lanes off from then on", "",
     LOAD OTHER WAIT STORE ADD "s_cmp_eq_u32 s9, 5\n"
                               "s_cselect_b32 exec_lo, 0xffff0ff0, exec_lo\n"},
    {"lanes on again",
     "s_mov_b32 exec_lo, 0xff00ffff\nv_mov_b32 v1, v3\n"
     "s_not_b32 exec_lo, exec_lo\n",
     LOAD OTHER WAIT STORE ADD "s_mov_b32 exec_lo, -1\n"},
    {"lanes on between",
     "s_mov_b32 vcc_lo, 0xffff0ff0\n"
     "v_cndmask_b32 v1, v3, v2, vcc_lo\n",
     "s_mov_b32 exec_lo, vcc_lo\n" LOAD "s_mov_b32 exec_lo, -1\n" OTHER WAIT STORE},
    {"a loop begun again",
     "s_mov_b32 s14, 0\nouter:\ns_mov_b32 s13, 0\ninner:\n" LOAD OTHER WAIT STORE ADD
     "s_add_u32 s13, s13, 1\ns_cmp_lt_u32 s13, 9\n"
     "s_cbranch_scc1 @inner\nv_mov_b32 v1, v3\ns_add_u32 s14, s14, 1\n"
     "s_cmp_lt_u32 s14, 4\ns_cbranch_scc1 @outer\n",
     ""},
    {"a loop begun again, lanes on between",
     "s_mov_b32 s14, 0\ns_mov_b32 vcc_lo, 0xffff0ff0\nouter:\ns_mov_b32 s13, 0\n"
     "inner:\ns_mov_b32 exec_lo, vcc_lo\n" LOAD
     "s_mov_b32 exec_lo, -1\n" OTHER WAIT STORE ADD
     "s_add_u32 s13, s13, 1\ns_cmp_lt_u32 s13, 9\n"
     "s_cbranch_scc1 @inner\nv_cndmask_b32 v1, v3, v2, vcc_lo\ns_add_u32 s14, s14, 1\n"
     "s_cmp_lt_u32 s14, 4\ns_cbranch_scc1 @outer\n",
     ""},
    {"dual", "",
     LOAD OTHER WAIT STORE "v_dual_mov_b32 v6, 0 :: v_dual_add_nc_u32 v1, s5, v1\n"},
    {"carry", "", LOAD OTHER WAIT STORE "v_add_co_u32 v1, vcc_lo, s5, v1\n"},
    {"across", "",
     LOAD OTHER WAIT STORE
     "v_add_nc_u32_dpp v1, v1, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n"},
    {"across, another row", "",
     LOAD OTHER WAIT STORE
     "v_add_nc_u32_dpp v1, v7, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n"},
    {"no more than the most", "s_mov_b32 s12, -1\n",
     LOAD OTHER WAIT STORE "v_add_nc_u32_e64 v1, v1, s12 clamp\n"
                           "v_add_nc_u32 v1, 0x81, v1\n"},
    {"loaded", "",
     LOAD WAIT STORE
     "global_load_b32 v1, v2, s[2:3]\ns_waitcnt vmcnt(0)\nv_and_b32 v1, 0xffc, v1\n"},
    {"its own", "",
     "global_load_b32 v1, v1, s[0:1]\ns_waitcnt vmcnt(0)\n"
     "v_and_b32 v1, 0xffc, v1\n" LOAD WAIT STORE},
    {"its own, read again", "",
     "global_load_b32 v6, v2, s[0:1]\nglobal_load_b32 v2, v2, s[0:1]\n"
     "s_waitcnt vmcnt(0)\nv_and_b32 v2, 0xffc, v2\n"
     "global_load_b32 v8, v2, s[0:1]\nv_mov_b32 v2, v7\n"},
    {"other sizes", "",
     LOAD "global_load_b64 v[8:9], v1, s[10:11]\n" WAIT
          "global_store_b64 v1, v[8:9], s[10:11]\n" ADD},
    {"the same and other offsets", "",
     LOAD WAIT STORE "global_store_b32 v1, v8, s[10:11] offset:8\n" ADD},
    {"its own, from lines to others", "global_store_b32 v7, v3, s[2:3] offset:1024\n",
     "v_mov_b32 v2, v7\nglobal_load_b32 v2, v2, s[2:3] offset:1024\n"
     "s_waitcnt vmcnt(0)\nglobal_load_b32 v8, v2, s[0:1]\n"},
    {"other offsets", "", LOAD WAIT "global_store_b32 v1, v8, s[10:11] offset:8\n" ADD},
    {"the base moves", "", LOAD WAIT "s_add_u32 s10, s10, 0x80\n" STORE ADD},
    {"its upper half moves", "", LOAD WAIT "s_sub_u32 s11, s11, s9\n" STORE ADD},
    {"the base is loaded",
     "v_dual_mov_b32 v14, s0 :: v_dual_mov_b32 v15, s1\n"
     "v_add_nc_u32 v14, 0x8000, v14\nv_lshlrev_b32 v6, 3, v0\n"
     "global_store_b64 v6, v[14:15], s[2:3] offset:1024\n",
     LOAD WAIT "s_load_b64 s[10:11], s[2:3], 0x400\ns_waitcnt lgkmcnt(0)\n" STORE ADD
               "s_mov_b64 s[10:11], s[0:1]\n"},
    {"the base is a mask", "",
     LOAD WAIT "s_lshl_b32 s12, s9, 7\ns_add_u32 s12, s12, s0\n"
               "v_lshrrev_b32_e64 v10, v0, s12\nv_and_b32 v10, 1, v10\n"
               "v_cmp_ne_u32 s10, 0, v10\n" STORE ADD "s_mov_b64 s[10:11], s[0:1]\n"},
    {"two bases", "s_add_u32 s14, s0, 0x100\ns_addc_u32 s15, s1, 0\n",
     LOAD WAIT STORE "global_load_b32 v9, v1, s[14:15]\n"
                     "global_store_b32 v1, v8, s[14:15] offset:64\n"
                     "global_store_b32 v1, v9, s[14:15]\n" ADD},
    {"what can only be read", "s_getpc_b64 s[10:11]\ns_and_b32 s10, s10, 0xffffff00\n",
     LOAD WAIT "s_cmp_lt_u32 s9, 5\ns_cbranch_scc1 @early\n" STORE "early:\n"},
    {"a line that goes on between", "", LOAD WAIT STORE ADD LOAD WAIT STORE ADD},
    {"the base is a lane's", "v_mov_b32 v6, s0\nv_add_nc_u32 v6, 0x8000, v6\n",
     LOAD WAIT "v_readfirstlane_b32 s10, v6\n" STORE ADD
               "s_mov_b64 s[10:11], s[0:1]\n"},
    {"pairs", "",
     "global_load_b32 v8, v[30:31], off\n" WAIT
     "global_store_b32 v[30:31], v8, off\nv_add_nc_u32 v30, s5, v30\n"},
    {"pairs whose upper half moves", "",
     "global_load_b32 v8, v[30:31], off\n" WAIT
     "v_add_nc_u32 v31, v31, v4\nglobal_store_b32 v[30:31], v8, off\n"},
    {"a pair whose upper half is another one", "",
     "s_cmp_gt_u32 s9, 5\ns_cselect_b32 s12, 0x80, 0\n"
     "v_cndmask_b32_e64 v6, 0, 1, s12\nv_add_nc_u32 v31, v31, v6\n"
     "global_load_b32 v8, v[30:31], off\n"},
    {"offsets that wrap",
     "v_add_nc_u32 v10, 0xffffffc0, v2\ns_add_u32 s10, s0, 0x100\n",
     "s_cmp_gt_u32 s9, 5\ns_cselect_b32 s12, -1, 0\n"
     "v_cndmask_b32_e64 v1, v2, v10, s12\n"
     "s_and_b32 s12, s12, 1\ns_sub_u32 s11, s1, s12\n" LOAD},
    {"LDS", "",
     "ds_load_b32 v8, v1\ns_waitcnt lgkmcnt(0)\nv_add_nc_u32 v8, v8, v4\n"
     "ds_store_b32 v1, v8\n" OTHER ADD},
    {"LDS, at times beyond its end", "",
     "s_and_b32 s12, s9, 1\ns_cselect_b32 s12, -1, 0\n"
     "v_mul_u32_u24 v6, 0x1234, v0\nv_cndmask_b32_e64 v1, v2, v6, s12\n"
     "ds_load_b32 v8, v1\ns_waitcnt lgkmcnt(0)\nv_add_nc_u32 v8, v8, v4\n"
     "ds_store_b32 v1, v8\n" OTHER},
    {"other functions between", "",
     LOAD WAIT "v_cvt_f64_u32 v[12:13], v8\nv_add_f64 v[12:13], v[12:13], v[12:13]\n"
               "v_cvt_u32_f64 v9, v[12:13]\n" STORE ADD},
    {"the row by another function", "v_cvt_f64_u32 v[12:13], v3\n",
     LOAD OTHER WAIT "v_cvt_u32_f64 v1, v[12:13]\n" STORE "v_mov_b32 v1, v2\n"},
    {"known, then the row from others", "",
     LOAD WAIT "global_load_b32 v9, v1, s[10:11] offset:256\n" WAIT
               "v_mov_b32 v1, v3\nv_xor_b32 v6, v3, v4\n" LOAD WAIT
               "v_mov_b32 v1, v2\nv_xor_b32 v6, v1, v4\n"},
    {"handlers between", "",
     LOAD WAIT "v_movreld_b32 v1, v3\n" STORE "v_mov_b32 v1, v2\n"},
};

static void compare(const char *name, const char *before, const char *text)
{
    char whole[4096];
    const char *vcc = g.wave64 ? "vcc" : "vcc_lo";
    snprintf(whole, sizeof whole, frame, vcc, vcc, vcc, before, text);
    gpus_place(&g, whole);
    struct load l = {.waves = 2, .lds_bytes = 4096, .param = {0, 128}};
    (void)gpus_compare(&g, &l, name);
}

START_TEST(lines)
{
    compare(loops[_i].name, loops[_i].before, loops[_i].text);
}
END_TEST

/* Not for waves of 64 lanes: it writes masks of 32. */
static bool has_masks(unsigned loop)
{
    static const char *const masks[] = {"vcc_lo", "v_cndmask", "v_cmp", "v_dual",
                                        "exec_lo"};
    bool has = false;
    for (unsigned i = 0; i < sizeof masks / sizeof *masks; i++)
        has |=
            strstr(loops[loop].before, masks[i]) || strstr(loops[loop].text, masks[i]);
    return has;
}

START_TEST(lines_wave64)
{
    g.wave64 = true;
    if (!has_masks((unsigned)_i))
        compare(loops[_i].name, loops[_i].before, loops[_i].text);
}
END_TEST

/* ---- who watches ---- */

/* It has to see some of the memory instructions, and not those beside them. */
struct watcher {
    const struct emu_glance *glance;
    unsigned asked, seen;
};

static unsigned sees(void *ctx, const struct emu_inst *inst)
{
    (void)ctx;
    return inst->kind == EMU_KIND_MEMORY ? EMU_SEE_ASK : 0;
}

static bool ask(void *ctx, const struct emu_event *event)
{
    struct watcher *w = ctx;
    (void)event;
    return ++w->asked % 3 == 0;
}

static void step(void *ctx, const struct emu_event *event)
{
    struct watcher *w = ctx;
    (void)event;
    w->seen++;
}

static void skipped(void *ctx, const struct emu_wave_info *wave, uint64_t insts,
                    uint64_t accesses)
{
    (void)ctx;
    (void)wave;
    (void)insts;
    (void)accesses;
}

static const struct emu_glance glance = {.sees = sees, .ask = ask, .skipped = skipped};

static void compare_watched(const struct loop *loop)
{
    struct watcher watchers[GPU_COUNT];
    for (unsigned i = 0; i < GPU_COUNT; i++) {
        watchers[i] = (struct watcher){.glance = &glance};
        struct emu_observer o = {
            .ctx = &watchers[i], .want = EMU_WANT_GLANCE, .step = step};
        ck_assert_int_eq(emu_add_observer(g.emu[i], &o), RD_OK);
    }
    compare(loop->name, loop->before, loop->text);
    ck_assert_uint_gt(watchers[GPU_NATIVE].asked, 0);
    ck_assert_uint_gt(watchers[GPU_NATIVE].seen, 0);
}

START_TEST(lines_watched)
{
    compare_watched(&loops[_i]);
}
END_TEST

START_TEST(lines_watched_wave64)
{
    g.wave64 = true;
    if (!has_masks((unsigned)_i))
        compare_watched(&loops[_i]);
}
END_TEST

/* A wave64 comes to memory that it has not seen: a handler does both halves of the
 * first load, and nothing says how the upper lanes lie. */
START_TEST(halves)
{
    gpus_destroy(&g);
    gpus_create(&g, level, 1, GPU_DATA / 4);
    gpus_fill(&g, 7);
    g.wave64 = true;
    gpus_place(&g, "v_lshlrev_b32 v2, 2, v0\n"
                   "v_mov_b32 v5, 0\n"
                   "v_mul_u32_u24 v3, 0x34, v0\n"
                   "s_mov_b32 s9, 0\n"
                   "s_mov_b32 s12, 0\n"
                   "loop:\n"
                   "s_cmp_lt_u32 s9, 6\n"
                   "s_cselect_b64 s[10:11], s[0:1], s[2:3]\n"
                   "s_cselect_b32 s13, 0, -1\n"
                   "v_cndmask_b32_e64 v1, v2, v3, s[12:13]\n"
                   "global_load_b32 v8, v1, s[10:11]\n"
                   "global_load_b32 v9, v1, s[10:11] offset:256\n"
                   "s_waitcnt vmcnt(0)\n"
                   "v_add_nc_u32 v5, v8, v5\n"
                   "v_xor_b32 v5, v9, v5\n"
                   "s_add_u32 s9, s9, 1\n"
                   "s_cmp_lt_u32 s9, 7\n"
                   "s_cbranch_scc1 @loop\n"
                   "global_store_b32 v2, v5, s[0:1]\n"
                   "s_endpgm\n");
    struct load l = {.param = {0, 128}};
    (void)gpus_compare(&g, &l, "halves");
}
END_TEST

/* v8 and v9 get what SCC was. */
static const char *const flags[] = {
    "s_sub_u32 s12, s9, 5\ns_cmp_lg_u32 s12, 0\ns_cselect_b32 s13, 3, 4\n",
    "s_sub_u32 s12, s9, 5\ns_addc_u32 s13, s9, s9\n",
    "s_add_u32 s12, s9, -7\ns_cselect_b32 s13, 3, 4\n",
    "s_cmp_gt_i32 s9, 6\ns_add_u32 s13, s9, scc\n",
    "s_cmp_gt_i32 s9, 6\ns_waitcnt vmcnt(0)\ns_cmp_lt_i32 s9, 8\n"
    "s_cselect_b32 s13, 3, 4\n",
    "s_cmp_gt_i32 s9, 6\ns_mov_b32 s13, 3\ns_cselect_b32 s13, s13, 4\n",
    "s_cmp_gt_i32 s9, 6\nv_mov_b32 v9, 3\ns_cselect_b32 s13, 3, 4\n",
    "s_mov_b32 s13, 9\ns_cmp_gt_i32 s9, 6\ns_cbranch_scc0 @on\ns_mov_b32 s13, 3\non:\n",
    "s_mov_b32 s13, 9\ns_sub_u32 s12, s9, 6\ns_nop 0\ns_cbranch_scc1 @on\n"
    "s_mov_b32 s13, 3\non:\n",
    "s_mov_b32 s13, 9\ns_and_b32 s12, s9, 6\ns_cbranch_scc0 @on\ns_mov_b32 s13, "
    "3\non:\n",
    "s_mov_b32 s13, 9\ns_cmp_gt_i32 s9, 6\ns_mov_b32 s12, s9\ns_cbranch_scc0 @on\n"
    "s_mov_b32 s13, 3\non:\n",
    "s_mov_b32 s13, 9\ns_cmp_gt_i32 s9, 6\ns_mul_i32 s12, s9, s9\n"
    "s_cbranch_scc0 @on\ns_mov_b32 s13, 3\non:\n",
    "s_mov_b32 s13, 9\ns_bitcmp1_b32 s9, 1\ns_cbranch_scc0 @on\ns_mov_b32 s13, "
    "3\non:\n",
    "s_mov_b32 s13, 9\ns_cmp_gt_i32 s9, 6\ns_cbranch_scc0 @on\ns_mov_b32 s13, 3\non:\n"
    "s_cselect_b32 s13, s13, s12\n",
    "s_mov_b32 s13, 9\ns_cmp_gt_i32 s9, 6\ns_cbranch_vccz @on\ns_mov_b32 s13, 3\non:\n"
    "s_addc_u32 s13, s13, s12\n",
    "s_sub_i32 s12, s9, 0x80000000\ns_cselect_b32 s13, 3, 4\ns_cmp_eq_u32 s13, 3\n",
    "s_cmp_eq_u64 s[10:11], s[0:1]\ns_cselect_b32 s13, 3, 4\n",
    "s_add_u32 s12, s9, 0x12345678\ns_xor_b32 s13, s12, 0x87654321\n"
    "s_or_b32 s12, s12, 64\ns_sub_u32 s13, s13, s12\n",
    "s_max_i32 s12, s9, 5\ns_cselect_b32 s13, 3, 4\n",
    "s_absdiff_i32 s12, s9, 5\ns_cmp_gt_u32 s12, 3\ns_cselect_b32 s13, 3, 4\n",
};

START_TEST(scc)
{
    char text[1024];
    snprintf(text, sizeof text, "%sv_mov_b32 v8, s12\nv_mov_b32 v9, s13\n", flags[_i]);
    compare(flags[_i], "s_mov_b32 s12, 0", text);
}
END_TEST

/* What is behind a loop is not compiled with it: it has hardly run. */
START_TEST(warm_blocks_alone)
{
    static const char loop[] = "s_mov_b32 s9, 0\n"
                               "loop:\n"
                               "v_add_nc_u32 v1, 1, v1\n"
                               "s_add_u32 s9, s9, 1\n"
                               "s_cmp_lt_u32 s9, 3000\n"
                               "s_cbranch_scc1 @loop\n";
    struct emu_config config = {.engine = EMU_ENGINE_JIT, .simd = level, .threads = 1};
    struct emu *emu, *native = g.emu[GPU_NATIVE];
    struct emu_native_stats stats;
    char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", loop);
    for (unsigned i = 0; i < 50; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "v_xor_b32 v2, v1, v2\n");
    snprintf(text + at, sizeof text - at, "s_endpgm\n");
    gpus_place(&g, text);
    ck_assert_int_eq(emu_create(&config, &emu), RD_OK);
    ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)g.code, GPU_CODE,
                                 EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                     RD_OK);
    g.emu[GPU_NATIVE] = emu;
    struct result r = gpus_run(&g, GPU_NATIVE, &(struct load){.groups = 1});
    ck_assert_int_eq(r.status, RD_OK);
    emu_native_stats(emu, &stats);
    ck_assert_uint_gt(stats.instructions, 3);
    ck_assert_uint_lt(stats.instructions, 20);
    g.emu[GPU_NATIVE] = native;
    emu_destroy(emu);
}
END_TEST

/* Visits are counted in one of eight turns, as eight each, until there is code: a
 * block of 204 instructions that each wave runs four times, in one turn, is compiled
 * after about as many visits as if all were counted (NATIVE_HOT, and half of that again
 * until NATIVE_FIRST instructions were run). */
START_TEST(visits_sampled)
{
    struct emu_config config = {.engine = EMU_ENGINE_JIT, .simd = level, .threads = 1};
    struct emu *native = g.emu[GPU_NATIVE];
    struct emu_native_stats stats;
    char text[8192];
    size_t at = (size_t)snprintf(text, sizeof text, "s_mov_b32 s9, 4\nloop:\n");
    for (unsigned i = 0; i < 200; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "v_xor_b32 v2, v1, v2\n");
    snprintf(text + at, sizeof text - at,
             "s_sub_u32 s9, s9, 1\ns_nop 0\ns_cmp_lg_u32 s9, 0\n"
             "s_cbranch_scc1 @loop\ns_endpgm\n");
    gpus_place(&g, text);
    for (unsigned more = 0; more < 2; more++) {
        ck_assert_int_eq(emu_create(&config, &g.emu[GPU_NATIVE]), RD_OK);
        ck_assert_int_eq(emu_mem_add(g.emu[GPU_NATIVE], (uint64_t)(uintptr_t)g.code,
                                     GPU_CODE, EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                         RD_OK);
        struct load l = {.groups = more ? 480 : 300}; /* 384 would do */
        ck_assert_int_eq(gpus_run(&g, GPU_NATIVE, &l).status, RD_OK);
        emu_native_stats(g.emu[GPU_NATIVE], &stats);
        ck_assert_uint_eq(stats.traces != 0, more);
        emu_destroy(g.emu[GPU_NATIVE]);
    }
    g.emu[GPU_NATIVE] = native;
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("known");
    TCase *t = tcase_create("loops");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, lines, 0, sizeof loops / sizeof *loops);
    tcase_add_loop_test(t, lines_wave64, 0, sizeof loops / sizeof *loops);
    tcase_add_loop_test(t, lines_watched, 0, sizeof loops / sizeof *loops);
    tcase_add_loop_test(t, lines_watched_wave64, 0, sizeof loops / sizeof *loops);
    tcase_add_test(t, halves);
    tcase_add_test(t, warm_blocks_alone);
    tcase_add_test(t, visits_sampled);
    tcase_add_loop_test(t, scc, 0, sizeof flags / sizeof *flags);
    suite_add_tcase(s, t);
    return s;
}

int main(int argc, char **argv)
{
    return gpus_main(argc, argv, &level, suite);
}
