/* test_access.c: memory instructions by native code: however the lanes' addresses lie
 * to one another, whichever lanes are on, and where results replace addresses.
 *
 *     test_access [avx2 | avx512]
 *
 * Each instruction with each way to lie and each EXEC, once and in a loop: memory, LDS,
 * registers and faults must be those of the interpreter. SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "gpus.h"

#define LDS_BYTES     4096u
#define SCRATCH_BYTES 128u

static enum emu_simd level = EMU_SIMD_AVX2;
static bool wave64;
static struct gpus g;
static unsigned n_whole; /* programs without a fault */

static void setup(void)
{
    gpus_create(&g, level, 1, 0);
    g.wave64 = wave64;
    gpus_fill(&g, 1);
}

static void teardown(void)
{
    gpus_destroy(&g);
}

/* v1, from v0, the lane; s9 is the element's bytes, s29 those of a dword of each lane.
 * v3 has random bits. */
static const struct {
    const char *name, *text;
} ways[] = {
    {"consecutive", "v_mul_lo_u32 v1, v0, s9\n"
                    "v_add_nc_u32 v1, 64, v1\n"},
    {"equal", "v_mov_b32 v1, 0x70\n"},
    {"halves equal", "v_lshrrev_b32 v1, 4, v0\n"
                     "v_lshlrev_b32 v1, 6, v1\n"},
    {"quarters equal", "v_lshrrev_b32 v1, 3, v0\n"
                       "v_lshlrev_b32 v1, 6, v1\n"},
    {"halves consecutive", "v_and_b32 v1, 15, v0\n"
                           "v_mul_lo_u32 v1, v1, s9\n"},
    {"quarters consecutive", "v_lshrrev_b32 v1, 3, v0\n"
                             "v_lshlrev_b32 v1, 8, v1\n"
                             "v_and_b32 v2, 7, v0\n"
                             "v_mul_lo_u32 v2, v2, s9\n"
                             "v_add_nc_u32 v1, v1, v2\n"},
    {"half consecutive, half equal", "v_min_u32 v1, 16, v0\n"
                                     "v_mul_lo_u32 v1, v1, s9\n"},
    {"apart", "v_mul_u32_u24 v1, 0x30, v0\n"},
    {"apart, halves the same", "v_and_b32 v1, 15, v0\n"
                               "v_mul_u32_u24 v1, 0x30, v1\n"},
    {"8 apart", "v_lshlrev_b32 v1, 3, v0\n"},
    {"16 apart", "v_lshl_add_u32 v1, v0, 4, 12\n"},
    {"16 apart up to the end", "v_lshlrev_b32 v1, 4, v0\n"
                               "s_lshl_b32 s10, s29, 2\n"
                               "s_sub_u32 s10, 0x1010, s10\n"
                               "v_add_nc_u32 v1, s10, v1\n"
                               "v_subrev_nc_u32 v1, s9, v1\n"},
    {"overlapping", "v_mul_u32_u24 v1, 4, v0\n"},
    {"downwards", "v_sub_nc_u32 v1, 31, v0\n"
                  "v_mul_lo_u32 v1, v1, s9\n"},
    {"anywhere, aligned", "v_and_b32 v1, 0x7f0, v3\n"},
    {"anywhere", "v_and_b32 v1, 0x7ff, v3\n"},
    {"unaligned", "v_mul_lo_u32 v1, v0, s9\n"
                  "v_add_nc_u32 v1, 3, v1\n"},
    {"first lane below", "v_sub_nc_u32 v1, v0, 1\n"
                         "v_mul_lo_u32 v1, v1, s9\n"},
    {"last lane beyond", "v_mul_lo_u32 v1, v0, s9\n"
                         "s_lshr_b32 s10, s29, 2\n"
                         "s_mul_i32 s10, s9, s10\n"
                         "s_sub_u32 s10, s10, s9\n"
                         "s_sub_u32 s10, 0x1000, s10\n"
                         "v_add_nc_u32 v1, s10, v1\n"},
    {"up to the end", "v_mul_lo_u32 v1, v0, s9\n"
                      "s_lshr_b32 s10, s29, 2\n"
                      "s_mul_i32 s10, s9, s10\n"
                      "s_sub_u32 s10, 0x1000, s10\n"
                      "v_add_nc_u32 v1, s10, v1\n"},
    {"first lane anywhere", "v_mul_lo_u32 v1, v0, s9\n"
                            "v_cmp_eq_u32 vcc_lo, 0, v0\n"
                            "v_cndmask_b32 v1, v1, v3, vcc_lo\n"},
    {"every other lane anywhere", "v_mul_lo_u32 v1, v0, s9\n"
                                  "v_and_b32 v2, 1, v0\n"
                                  "v_cmp_eq_u32 vcc_lo, 0, v2\n"
                                  "v_cndmask_b32 v1, v1, v3, vcc_lo\n"},
};
#define N_WAYS (sizeof ways / sizeof *ways)

static const uint32_t masks[] = {~0u,         0xaaaaaaaau, 0xfffffffeu, 0u,
                                 0xffff0000u, 0x0000ffffu, 0x00010000u};
#define N_MASKS (sizeof masks / sizeof *masks)

/* Data in v[16:19], results in v[8:11]; v[30:31] is s[0:1] + v1. */
static const struct {
    const char *text;
    unsigned bytes;
} ops[] = {
    {"ds_load_b32 v8, v1", 4},
    {"ds_load_b32 v1, v1 offset:8", 4},
    {"ds_load_b64 v[8:9], v1 offset:8", 8},
    {"ds_load_b64 v[1:2], v1", 8},
    {"ds_load_b64 v[0:1], v1", 8},
    {"ds_load_b128 v[8:11], v1", 16},
    {"ds_load_b128 v[0:3], v1", 16},
    {"ds_load_2addr_b32 v[8:9], v1 offset0:1 offset1:5", 4},
    {"ds_load_2addr_b32 v[1:2], v1 offset0:3 offset1:2", 4},
    {"ds_load_2addr_b32 v[0:1], v1 offset1:1", 4},
    {"ds_load_2addr_b64 v[8:11], v1 offset1:3", 8},
    {"ds_load_2addr_b64 v[0:3], v1 offset1:3", 8},
    {"ds_load_2addr_stride64_b32 v[8:9], v1 offset1:1", 4},
    {"ds_store_b32 v1, v16 offset:4", 4},
    {"ds_store_b32 v1, v1", 4},
    {"ds_store_b64 v1, v[16:17]", 8},
    {"ds_store_b64 v1, v[16:17] offset:4", 8},
    {"ds_store_b128 v1, v[16:19]", 16},
    {"ds_store_2addr_b32 v1, v16, v18 offset0:1 offset1:7", 4},
    {"ds_store_2addr_b64 v1, v[16:17], v[18:19] offset1:4", 8},
    {"ds_add_u32 v1, v16", 4},
    {"ds_add_rtn_u32 v8, v1, v16 offset:4", 4},
    {"ds_sub_rtn_u32 v1, v1, v16", 4},
    {"ds_min_i32 v1, v16", 4},
    {"ds_max_rtn_u32 v16, v1, v16", 4},
    {"ds_xor_b32 v1, v16 offset:2", 4},
    {"ds_storexchg_rtn_b32 v8, v1, v16", 4},
    {"ds_storexchg_rtn_b32 v16, v1, v16", 4},
    {"ds_bpermute_b32 v8, v1, v16", 4},
    {"ds_bpermute_b32 v16, v1, v16 offset:4", 4},
    {"ds_bpermute_b32 v1, v1, v16 offset:9", 4},
    {"ds_bpermute_b32 v1, v1, v1", 4},
    {"global_load_b32 v8, v1, s[0:1] offset:12", 4},
    {"global_load_b32 v1, v1, s[0:1]", 4},
    {"global_load_b64 v[8:9], v1, s[0:1]", 8},
    {"global_load_b128 v[0:3], v1, s[0:1]", 16},
    {"global_load_b128 v[8:11], v[30:31], off offset:16", 16},
    {"global_load_b64 v[30:31], v[30:31], off", 8},
    {"global_load_b64 v[31:32], v[30:31], off", 8},
    {"flat_load_b32 v30, v[30:31]", 4},
    {"global_load_u8 v8, v1, s[0:1] offset:1", 1},
    {"global_load_u8 v1, v1, s[0:1]", 1},
    {"global_load_i8 v8, v1, s[0:1]", 1},
    {"global_load_i8 v30, v[30:31], off", 1},
    {"global_load_u16 v8, v1, s[0:1]", 2},
    {"flat_load_u16 v31, v[30:31] offset:3", 2},
    {"global_load_i16 v8, v1, s[0:1]", 2},
    {"global_load_d16_u8 v8, v1, s[0:1]", 1},
    {"global_load_d16_i8 v8, v1, s[0:1]", 1},
    {"global_load_d16_b16 v8, v1, s[0:1]", 2},
    {"global_load_d16_b16 v1, v1, s[0:1]", 2},
    {"global_load_d16_b16 v30, v[30:31], off", 2},
    {"global_load_d16_hi_b16 v8, v1, s[0:1]", 2},
    {"global_load_d16_hi_b16 v8, v[30:31], off offset:2", 2},
    {"flat_load_d16_hi_b16 v31, v[30:31]", 2},
    {"global_store_b16 v1, v16, s[0:1]", 2},
    {"global_store_b16 v[30:31], v16, off offset:2", 2},
    {"global_store_b16 v1, v1, s[0:1]", 2},
    {"ds_load_u8 v8, v1 offset:1", 1},
    {"ds_load_i8 v1, v1", 1},
    {"ds_load_u16 v8, v1 offset:2", 2},
    {"ds_load_i16 v8, v1", 2},
    {"ds_load_u8_d16 v8, v1", 1},
    {"ds_load_i8_d16 v8, v1", 1},
    {"ds_load_u16_d16 v1, v1", 2},
    {"ds_load_u16_d16_hi v8, v1 offset:2", 2},
    {"scratch_store_b32 off, v16, s28 offset:4\nscratch_load_b32 v8, off, s28 offset:4",
     4},
    {"scratch_store_b64 off, v[16:17], off offset:8\nscratch_load_b128 v[8:11], off, "
     "off",
     4},
    {"scratch_store_b128 off, v[16:19], off\nscratch_load_b96 v[9:11], off, off "
     "offset:4",
     4},
    {"scratch_store_b128 off, v[8:11], s28 offset:8\nscratch_load_b64 v[10:11], off, "
     "s28 offset:15",
     4},
    {"scratch_store_b128 v1, v[16:19], off\nscratch_load_b64 v[8:9], v1, off offset:4",
     4},
    {"scratch_load_b32 v1, v1, s28 offset:-100", 4},
    {"scratch_store_b32 off, v16, s6", 4},
    {"scratch_load_b32 v8, off, s6 offset:-2460", 4},
    {"scratch_load_b128 v[8:11], off, off offset:116", 4},
    {"buffer_load_b32 v8, v1, s[4:7], 0 offen", 4},
    {"buffer_load_b32 v1, v1, s[4:7], s28 offen offset:12 glc", 4},
    {"buffer_load_b64 v[8:9], v1, s[4:7], s28 offen", 8},
    {"buffer_load_b64 v[0:1], v1, s[4:7], 0 offen", 8},
    {"buffer_load_b128 v[8:11], v1, s[4:7], 4 offen", 16},
    {"buffer_load_b32 v8, v1, s[24:27], 0 offen offset:4", 4},
    {"buffer_load_b128 v[8:11], v1, s[24:27], s28 offen", 16},
    {"buffer_load_b32 v8, v1, s[24:27], s6 offen", 4},
    {"buffer_load_u8 v8, v1, s[4:7], 0 offen", 1},
    {"buffer_load_d16_b16 v8, v1, s[24:27], 0 offen", 2},
    {"buffer_load_d16_hi_b16 v1, v1, s[4:7], s28 offen", 2},
    {"buffer_store_b32 v16, v1, s[4:7], s28 offen offset:8", 4},
    {"buffer_store_b32 v1, v1, s[24:27], 0 offen", 4},
    {"buffer_store_b64 v[16:17], v1, s[4:7], 0 offen", 8},
    {"buffer_store_b128 v[16:19], v1, s[24:27], 0 offen", 16},
    {"buffer_store_b16 v16, v1, s[4:7], 0 offen", 2},
    {"global_store_b32 v1, v16, s[0:1] offset:-4", 4},
    {"global_store_b64 v1, v[16:17], s[0:1]", 8},
    {"global_store_b128 v[30:31], v[16:19], off", 16},
    {"global_store_b32 v[30:31], v30, off", 4},
    /* scratch and LDS, by their apertures */
    {"s_mov_b64 s[30:31], src_private_base\nv_and_b32 v30, 0x7c, v1\n"
     "v_mov_b32 v31, s31\nflat_store_b32 v[30:31], v16\n"
     "scratch_store_b32 off, v17, s28\nflat_load_b32 v8, v[30:31]",
     4},
    {"s_mov_b64 s[30:31], src_shared_base\nv_and_b32 v30, 0xffc, v1\n"
     "v_mov_b32 v31, s31\nflat_load_b32 v8, v[30:31]\nflat_store_b32 v[30:31], v16",
     4},
};
#define N_OPS (sizeof ops / sizeof *ops)

static const char begin[] = "s_add_u32 s0, s0, 0x8000\n" /* there is memory before it */
                            "s_addc_u32 s1, s1, 0\n"
                            "s_mov_b32 s4, s0\n" /* a buffer, and a shorter one */
                            "s_and_b32 s5, s1, 0xffff\n"
                            "s_movk_i32 s6, 0xa00\n"
                            "s_mov_b32 s7, 0x30014000\n"
                            "s_mov_b64 s[24:25], s[4:5]\n"
                            "s_movk_i32 s26, 0x100\n"
                            "s_mov_b32 s27, s7\n"
                            "s_movk_i32 s28, 0x40\n"
                            "v_lshlrev_b32 v20, 2, v0\n"
                            "v_lshlrev_b32 v21, 4, v0\n"
                            "global_load_b128 v[16:19], v21, s[0:1]\n"
                            "global_load_b32 v3, v20, s[0:1] offset:512\n"
                            "s_movk_i32 s11, 0x1000\n"
                            "v_mov_b32 v22, v20\n"
                            "fill:\n"
                            "global_load_b32 v23, v22, s[0:1]\n"
                            "ds_store_b32 v22, v23\n"
                            "v_add_nc_u32 v22, s29, v22\n"
                            "s_sub_u32 s11, s11, s29\n"
                            "s_cmp_lg_u32 s11, 0\n"
                            "s_cbranch_scc1 @fill\n"
                            "v_mov_b32 v8, v16\n"
                            "v_mov_b32 v9, v17\n"
                            "v_mov_b32 v10, v18\n"
                            "v_mov_b32 v11, v19\n"
                            "v_mov_b32 v32, v19\n";

static const char address[] = "v_add_co_u32 v30, vcc_lo, s0, v1\n"
                              "v_mov_b32 v31, s1\n"
                              "v_add_co_ci_u32 v31, vcc_lo, 0, v31, vcc_lo\n";

#define KEEP(row)                                                                      \
    "global_store_b32 v20, " row ", s[2:3]\n"                                          \
    "v_add_nc_u32 v20, s29, v20\n"

/* A row of all lanes behind the other, then the LDS. */
static const char end[] =
    "s_mov_b64 exec, -1\n"
    "v_mov_b32 v22, v20\n" KEEP("v0") KEEP("v1") KEEP("v2") KEEP("v3") KEEP("v8") KEEP(
        "v9") KEEP("v10") KEEP("v11") KEEP("v16") KEEP("v30") KEEP("v31") KEEP("v32")
        KEEP("v5") "s_movk_i32 s11, 0x1000\n"
                   "dump:\n"
                   "ds_load_b32 v23, v22\n" KEEP("v23") "v_add_nc_u32 v22, s29, v22\n"
                                                        "s_sub_u32 s11, s11, s29\n"
                                                        "s_cmp_lg_u32 s11, 0\n"
                                                        "s_cbranch_scc1 @dump\n"
                                                        "s_endpgm\n";

/* times: rounds of a loop around the instruction, 0: none. Its rows are used there, so
 * that they may stay in registers. */
static void compare(unsigned op, unsigned way, uint32_t exec, unsigned times)
{
    char text[4096], name[160], loop[160] = "", back[320] = "";
    if (times) {
        snprintf(loop, sizeof loop, "s_mov_b32 s12, %u\nv_mov_b32 v5, 0\nround:\n",
                 times);
        snprintf(back, sizeof back,
                 "v_xor_b32 v5, v5, v8\nv_add_nc_u32 v5, v8, v5\n"
                 "v_add_nc_u32 v5, v5, v1\n"
                 "s_sub_u32 s12, s12, 1\ns_cmp_lg_u32 s12, 0\n"
                 "s_cbranch_scc1 @round\n");
    }
    snprintf(text, sizeof text,
             "s_movk_i32 s29, 0x%x\n%ss_mov_b32 s9, %u\n%s%ss_mov_b32 exec_lo, 0x%x\n"
             "s_mov_b32 exec_hi, 0x%x\n%s%s\n%s%s",
             wave64 ? 0x100u : 0x80u, begin, ops[op].bytes, ways[way].text, address,
             exec, exec >> 1 | exec << 31, loop, ops[op].text, back, end);
    snprintf(name, sizeof name, "%s; %s; EXEC %08x%s", ops[op].text, ways[way].name,
             exec, times ? "; in a loop" : "");
    gpus_fill(&g, 1 + way);
    gpus_place(&g, text);
    struct result r = gpus_compare(&g,
                                   &(struct load){.groups = 1,
                                                  .lds_bytes = LDS_BYTES,
                                                  .scratch_bytes = SCRATCH_BYTES},
                                   name);
    n_whole += r.status == RD_OK;
}

/* Elsewhere than the host's addresses, or slowed down by a sanitizer, an instruction
 * meets each EXEC and each way, but not all of their pairs. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSTRUMENTED true
#else
#define INSTRUMENTED false
#endif

static bool pair_wanted(unsigned op, unsigned way, unsigned mask)
{
    return (!INSTRUMENTED && !gpus_away()) || (op + way + mask) % N_MASKS < 2;
}

START_TEST(every_way)
{
    n_whole = 0;
    for (unsigned way = 0; way < N_WAYS; way++)
        for (unsigned m = 0; m < N_MASKS; m++) {
            if (!pair_wanted((unsigned)_i, way, m))
                continue;
            compare((unsigned)_i, way, masks[m], 0);
            compare((unsigned)_i, way, masks[m], 3);
        }
    ck_assert_uint_gt(n_whole, 0); /* or nothing has been looked at */
}
END_TEST

static uint64_t traces_of(const char *atomic)
{
    struct emu_native_stats before, after;
    char text[512];
    snprintf(text, sizeof text,
             "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v16, v0\nv_mov_b32 v8, 0\n"
             "v_mov_b32 v5, 0\nv_mov_b32 v6, 0\nds_store_b32 v1, v6\n"
             "s_mov_b32 s12, 9\nround:\nv_add_nc_u32 v16, 3, v16\n%s\n"
             "s_waitcnt lgkmcnt(0)\nv_xor_b32 v5, v5, v8\nv_add_nc_u32 v5, v5, v16\n"
             "s_sub_u32 s12, s12, 1\ns_cmp_lg_u32 s12, 0\ns_cbranch_scc1 @round\n"
             "ds_load_b32 v6, v1\nv_add_nc_u32 v5, v5, v6\n"
             "global_store_b32 v1, v5, s[2:3]\ns_endpgm\n",
             atomic);
    emu_native_stats(g.emu[GPU_NATIVE], &before);
    gpus_place(&g, text);
    struct result r =
        gpus_compare(&g, &(struct load){.groups = 1, .lds_bytes = LDS_BYTES}, atomic);
    ck_assert_int_eq(r.status, RD_OK);
    emu_native_stats(g.emu[GPU_NATIVE], &after);
    return after.traces - before.traces;
}

/* Loops with atomics that return become code as those with others do. */
START_TEST(atomics)
{
    static const char *const returning[] = {
        "ds_add_rtn_u32 v8, v1, v16", "ds_sub_rtn_u32 v16, v1, v16",
        "ds_storexchg_rtn_b32 v8, v1, v16", "ds_storexchg_rtn_b32 v16, v1, v16",
        "ds_max_rtn_i32 v8, v1, v1"};
    uint64_t n = traces_of("ds_add_u32 v1, v16");
    ck_assert_uint_gt(n, 0);
    for (unsigned i = 0; i < sizeof returning / sizeof *returning; i++)
        ck_assert_msg(traces_of(returning[i]) == n, "%s", returning[i]);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("access");
    TCase *t = tcase_create("every way");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, every_way, 0, N_OPS);
    tcase_add_test(t, atomics);
    suite_add_tcase(s, t);
    return s;
}

int main(int argc, char **argv)
{
    wave64 = argc > 2 && strcmp(argv[2], "wave64") == 0;
    return gpus_main(argc, argv, &level, suite);
}
