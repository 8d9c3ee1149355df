/* test_timing_runs.c: what waves issue in runs (engine/run.h): that there are such, and
 * that they take the cycles, and wait for the same, as when every instruction has its
 * turn. A run that is watched takes all turns from one queue. And loads from LDS that
 * are executed later than they issue (engine/later.h): that they find what was there.
 * And that what is executed at once does the same as machine code.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../suite.h"
#include "isa_asm.h"
#include "timing.h"

#define CODE_BYTES 16384u
#define DATA_BYTES 65536u

static uint8_t *code, *data;
static uint32_t lds_bytes; /* of a workgroup */
static uint32_t vgprs;     /* of a wave, as its descriptor has them */
static size_t at;          /* bytes of code */
static size_t label;       /* where the loop begins */
static char *told[2];      /* what a run came to: turn by turn, by itself */
static uint64_t in_runs[2], postponed[2]; /* loads from LDS */
static uint64_t count[TM_COUNTS];         /* of the last run */
static uint64_t wave_cycles, busy_cycles; /* the same, of all WGPs */
static uint8_t *left[2];                  /* what a run left in data */
static struct emu_native_stats native[2];
static bool may_be_native;

static void setup(void)
{
    code = mmap(NULL, CODE_BYTES + DATA_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    data = code + CODE_BYTES;
    at = 0;
    lds_bytes = 16384;
    vgprs = 5;
}

static void teardown(void)
{
    munmap(code, CODE_BYTES + DATA_BYTES);
    free(told[0]);
    free(told[1]);
    told[0] = told[1] = NULL;
    free(left[0]);
    free(left[1]);
    left[0] = left[1] = NULL;
}

/* Append statements, one a line. */
static void put(const char *text)
{
    const struct isa_asm_options options = {.wave = 32};
    while (*text) {
        struct isa_fixup fixup;
        struct isa_asm_error error = {0};
        unsigned n;
        size_t length = strcspn(text, "\n");
        ck_assert_uint_lt(at + ISA_MAX_BYTES, CODE_BYTES);
        rd_status st =
            isa_assemble(text, length, &options, code + at, &n, &fixup, &error);
        ck_assert_msg(st == RD_OK, "%.*s: %s", (int)length, text, error.text);
        at += n;
        text += length + (text[length] == '\n');
    }
}

/* So many that read two banks, or one. */
static void put_many(unsigned first, unsigned n)
{
    char text[64];
    for (unsigned k = 0; k < n; k++) {
        (void)snprintf(text, sizeof text, "v_fma_f32 v%u, v%u, v%u, v%u", 20 + k % 8,
                       first + k % 4, first + 2 + k % 3, 20 + k % 8);
        put(text);
    }
}

/* v1: the work-item's dword; s6: the wave in its workgroup, s7: trips. */
static void begin(void)
{
    put("v_lshlrev_b32 v1, 2, v0\n"
        "v_lshlrev_b32 v2, 4, v0\n"
        "v_lshrrev_b32 v3, 5, v0\n"
        "v_readfirstlane_b32 s6, v3\n"
        "s_lshl_b32 s7, s6, 1\n"
        "s_add_u32 s7, s7, 5");
    label = at;
}

static void end(void)
{
    put("s_sub_u32 s7, s7, 1\n"
        "s_cmp_lg_u32 s7, 0");
    uint32_t branch = 0xbfa20000u | (uint16_t)(((int)label - (int)at - 4) / 4);
    memcpy(code + at, &branch, 4); /* s_cbranch_scc1 */
    at += 4;
    put("s_endpgm");
}

static void hear(void *ctx, const struct tm_wave_place *place)
{
    (void)ctx;
    (void)place;
}

struct launch {
    unsigned groups, waves, threads;
    bool wgp_mode;
    uint32_t cu_mask[TM_MAX_SES];
};

static void add_up(const struct tm_engine *t)
{
    struct tm_machine machine;
    struct tm_use use;
    struct tm_peaks peaks;
    tm_measure(t, &machine, &use, &peaks);
    unsigned n = machine.ses * machine.arrays * machine.wgps;
    struct tm_wgp_use *wgps = calloc(n, sizeof *wgps);
    ck_assert_ptr_nonnull(wgps);
    tm_wgp_uses(t, wgps);
    wave_cycles = busy_cycles = 0;
    for (unsigned i = 0; i < n; i++) {
        wave_cycles += wgps[i].wave_cycles;
        busy_cycles += wgps[i].busy_cycles;
    }
    free(wgps);
}

static rd_status run_to(const struct launch *l, bool watched, struct emu_fault *fault)
{
    struct emu *emu;
    struct tm_engine *t;
    uint64_t from = (uint64_t)(uintptr_t)code, to = (uint64_t)(uintptr_t)data;
    struct emu_dispatch d = {
        .entry = from,
        .groups = {l->groups, 1, 1},
        .block = {32 * l->waves, 1, 1},
        .rsrc1 = vgprs | 0xf0u << 12 | (uint32_t)l->wgp_mode << 29,
        .lds_bytes = lds_bytes,
        .n_user_sgprs = 6,
        .user_sgpr = {[4] = (uint32_t)to, [5] = (uint32_t)(to >> 32)}};
    struct tm_range range = {to, DATA_BYTES};
    struct tm_config config = {.sclk_mhz = 2500,
                               .have_cu_mask = true,
                               .threads = watched ? 1 : l->threads,
                               .ranges = &range,
                               .n_ranges = 1};
    memcpy(config.cu_mask, l->cu_mask, sizeof config.cu_mask);
    memset(data, 0, DATA_BYTES);
    struct emu_config how = {.threads = 1,
                             .engine = watched ? EMU_ENGINE_INTERP : EMU_ENGINE_AUTO,
                             .native_hot = 1};
    ck_assert_int_eq(emu_create(&how, &emu), RD_OK);
    ck_assert_int_eq(
        emu_mem_add(emu, from, CODE_BYTES, EMU_MEM_READ | EMU_MEM_EXEC, "code"), RD_OK);
    ck_assert_int_eq(
        emu_mem_add(emu, to, DATA_BYTES, EMU_MEM_READ | EMU_MEM_WRITE, "data"), RD_OK);
    ck_assert_int_eq(tm_create(&config, &t), RD_OK);
    struct tm_observer observer = {.wave_start = hear};
    if (watched)
        tm_observe(t, &observer);
    rd_status st = tm_run(t, emu, &d, fault, NULL);
    size_t size;
    free(told[!watched]);
    FILE *f = open_memstream(&told[!watched], &size);
    ck_assert_ptr_nonnull(f);
    tm_write_json(t, f);
    tm_print_listing(t, f);
    ck_assert_int_eq(fclose(f), 0);
    in_runs[!watched] = tm_in_runs(t);
    postponed[!watched] = tm_loads_postponed(t);
    tm_counts(t, count);
    add_up(t);
    tm_destroy(t);
    free(left[!watched]);
    left[!watched] = malloc(DATA_BYTES);
    ck_assert_ptr_nonnull(left[!watched]);
    memcpy(left[!watched], data, DATA_BYTES);
    emu_native_stats(emu, &native[!watched]);
    may_be_native = emu_simd_level(emu) != EMU_SIMD_GENERIC;
    emu_destroy(emu);
    return st;
}

static void run_as(const struct launch *l, bool watched)
{
    struct emu_fault fault;
    ck_assert_int_eq(run_to(l, watched, &fault), RD_OK);
}

/* At least so many issue in runs, and nobody can tell. */
static void compare(const struct launch *l, uint64_t least)
{
    run_as(l, true);
    run_as(l, false);
    ck_assert_uint_eq(in_runs[0], 0);
    ck_assert_uint_ge(in_runs[1], least);
    size_t same = 0; /* too much for a message of Check */
    while (told[0][same] && told[0][same] == told[1][same])
        same++;
    ck_assert_msg(!told[0][same] && !told[1][same], "not %.60s, but %.60s",
                  told[0] + same, told[1] + same);
    ck_assert_mem_eq(left[0], left[1], DATA_BYTES);
    ck_assert_uint_eq(native[0].traces, 0);
}

/* Of VALU instructions, loads, LDS, barriers; delays, one that is slow. */
static void put_mixed(void)
{
    begin();
    put("global_load_b32 v3, v1, s[4:5]\n"
        "ds_store_b32 v1, v2");
    put_many(8, 40);
    put("ds_load_b32 v4, v1\n"
        "s_clause 1\n"
        "global_load_b32 v5, v1, s[4:5] offset:4\n"
        "global_load_b32 v6, v1, s[4:5] offset:8");
    put_many(9, 25);
    put("s_waitcnt lgkmcnt(0)\n"
        "v_add_f32 v7, v4, v7\n"
        "v_sqrt_f32 v8, v7\n"
        "s_barrier");
    put_many(10, 70);
    put("v_cmp_gt_f32 vcc_lo, v8, v7\n"
        "v_cndmask_b32 v9, v7, v8, vcc_lo\n"
        "s_waitcnt vmcnt(0)\n"
        "v_add_f32 v7, v3, v5\n"
        "s_delay_alu instid0(VALU_DEP_1)\n"
        "v_add_f32 v11, v11, v7\n"
        "v_add_f32 v12, v11, v13");
    end();
}

START_TEST(waves_of_one_cu)
{
    put_mixed();
    compare(&(struct launch){12, 4, 1, false, {1}}, 1000);
    compare(&(struct launch){4, 4, 1, false, {3}}, 1000);
}
END_TEST

START_TEST(waves_of_a_wgp)
{
    put_mixed();
    compare(&(struct launch){12, 4, 1, true, {3}}, 1000);
    compare(&(struct launch){6, 2, 1, true, {0xf}}, 1000);
}
END_TEST

/* Waves that did not end have run up to the fault. */
START_TEST(waves_that_are_cut)
{
    struct emu_fault fault;
    begin();
    put_many(8, 200);
    put("v_mov_b32 v4, 0\n"
        "v_mov_b32 v5, 0\n"
        "global_load_b32 v3, v[4:5], off\n"
        "s_waitcnt vmcnt(0)");
    end();
    ck_assert_int_eq(run_to(&(struct launch){2, 4, 1, false, {1}}, false, &fault),
                     RD_E_FAULT);
    ck_assert_uint_ge(busy_cycles, 200);
    ck_assert_uint_ge(wave_cycles, busy_cycles);
    ck_assert_uint_le(wave_cycles, 8 * (busy_cycles + 64)); /* it begins later */
}
END_TEST

/* Of which only one CU is enabled, be it the second. */
START_TEST(waves_of_half_a_wgp)
{
    put_mixed();
    compare(&(struct launch){12, 4, 1, true, {1}}, 1000);
    compare(&(struct launch){12, 4, 1, true, {2}}, 1000);
    compare(&(struct launch){12, 4, 1, true, {3, 2}}, 1000);
}
END_TEST

/* A workgroup that needs both CUs waits for ever where only one is enabled. */
START_TEST(workgroups_without_room)
{
    struct emu_fault fault;
    put_mixed();
    vgprs = 31;
    for (unsigned threads = 1; threads <= 2; threads++) {
        const struct launch enough = {2, 16, threads, true, {3, 0, 3}},
                            half = {2, 16, threads, true, {1, 0, 3}};
        ck_assert_int_eq(run_to(&enough, false, &fault), RD_OK);
        ck_assert_int_eq(run_to(&half, false, &fault), RD_E_TIMEOUT);
    }
}
END_TEST

START_TEST(threads_of_several_shader_engines)
{
    put_mixed();
    compare(&(struct launch){24, 4, 2, false, {3, 1, 3, 1}}, 1000);
    compare(&(struct launch){24, 4, 2, true, {3, 3, 3}}, 1000);
}
END_TEST

/* Others come first, and then not any more, while waves go on. */
START_TEST(priorities_that_change)
{
    begin();
    put("s_and_b32 s8, s6, 1\n"
        "s_cmp_eq_u32 s8, 1\n"
        "s_cbranch_scc0 1\n"
        "s_setprio 2");
    put_many(8, 30);
    put("global_load_b32 v3, v1, s[4:5]\n"
        "s_setprio 1");
    put_many(9, 14);
    put("s_setprio 3\n"
        "s_waitcnt vmcnt(0)\n"
        "v_add_f32 v7, v3, v7\n"
        "s_setprio 0");
    put_many(10, 25);
    end();
    compare(&(struct launch){6, 4, 1, false, {1}}, 1000);
    compare(&(struct launch){6, 5, 1, true, {3}}, 1000);
    compare(&(struct launch){8, 4, 2, false, {1, 1}}, 1000);
}
END_TEST

/* Waves of one SIMD send to the LDS what those of the other one put off, while a third
 * wave goes on. */
START_TEST(what_the_lds_puts_off)
{
    begin();
    put("s_and_b32 s8, s6, 3\n"
        "s_cmp_ge_u32 s8, 2\n"
        "s_cbranch_scc1 17");
    for (unsigned k = 0; k < 8; k++)
        put("ds_store_b128 v2, v[8:11]");
    put("s_branch 78");
    for (unsigned k = 0; k < 6; k++) {
        put_many(8, 3 + k);
        put("ds_store_b64 v1, v[8:9]");
    }
    put("s_waitcnt lgkmcnt(0)\n"
        "s_barrier");
    end();
    compare(&(struct launch){2, 8, 1, false, {1}}, 1000);
    compare(&(struct launch){4, 4, 1, true, {3}}, 1000);
}
END_TEST

/* ---- loads from LDS that are executed later ---- */

/* The first wave (s8 is 0) has loaded from its dwords before, each holding its address,
 * and does so again; s[4:5]: data. The other one waits at a barrier until then. */
static void put_loads(void)
{
    put("v_lshlrev_b32 v1, 2, v0\n"
        "v_and_b32 v1, 0x7c, v1\n"
        "v_lshrrev_b32 v3, 5, v0\n"
        "v_readfirstlane_b32 s8, v3\n"
        "v_mov_b32 v2, v1\n"
        "v_mov_b32 v7, 0x1000\n"
        "ds_store_b32 v1, v1\n"
        "ds_store_b32 v1, v1 offset:128\n"
        "s_mov_b32 s9, 3");
    label = at;
    put("s_waitcnt lgkmcnt(0)\n"
        "s_barrier\n"
        "s_sub_u32 s9, s9, 1\n"
        "s_cmp_eq_u32 s9, 0\n"
        "s_cselect_b32 s10, s8, 0\n"
        "s_cmp_lg_u32 s10, 0");
}

/* Where a branch is to stand, and what goes behind what it skips if SCC is one. */
static size_t leave(void)
{
    at += 4;
    return at - 4;
}

static void land(size_t from)
{
    uint32_t branch = 0xbfa20000u | (uint16_t)((at - from - 4) / 4);
    memcpy(code + from, &branch, 4); /* s_cbranch_scc1 */
}

/* Back to the label until s9 is 0; the first wave writes v4 and v5. */
static void end_loads(void)
{
    put("s_cmp_lg_u32 s9, 0");
    uint32_t branch = 0xbfa20000u | (uint16_t)(((int)label - (int)at - 4) / 4);
    memcpy(code + at, &branch, 4); /* s_cbranch_scc1 */
    at += 4;
    put("s_waitcnt lgkmcnt(0)\n"
        "s_cmp_lg_u32 s8, 0");
    size_t from = leave();
    put("global_store_b32 v2, v4, s[4:5]\n"
        "global_store_b32 v2, v5, s[4:5] offset:128");
    land(from);
    put("s_endpgm");
}

static uint32_t found(unsigned dword)
{
    uint32_t value;
    memcpy(&value, data + (size_t)4 * dword, 4);
    return value;
}

static const struct launch two_waves = {1, 2, 1, false, {1}};

/* Another wave stores, by store, behind a load that has issued and is not executed: v4
 * and v5 hold what was there before and after. */
static void store_behind(const char *store)
{
    put_loads();
    size_t from = leave();
    put("ds_load_b32 v4, v1");
    put_many(8, 90);
    land(from);
    put("s_cmp_eq_u32 s10, 0");
    from = leave();
    put("s_nop 15");
    put(store);
    put("s_waitcnt lgkmcnt(0)");
    land(from);
    put_many(8, 90);
    put("s_nop 15\n"
        "s_nop 15\n"
        "s_cmp_lg_u32 s8, 0");
    from = leave();
    put("ds_load_b32 v5, v1");
    land(from);
    end_loads();
    for (unsigned wgp_mode = 0; wgp_mode < 2; wgp_mode++) {
        struct launch l = two_waves;
        l.wgp_mode = wgp_mode;
        compare(&l, 0);
        /* That of v4, the last time, at least: what it finds is asked below. */
        ck_assert_uint_ge(postponed[0], 4);
        ck_assert_uint_ge(postponed[1], 4);
        for (unsigned lane = 0; lane < 32; lane++) {
            ck_assert_uint_eq(found(lane), 4 * lane);
            ck_assert_uint_eq(found(32 + lane), 0x1000);
        }
    }
}

START_TEST(stores_behind_loads)
{
    store_behind("ds_store_b32 v1, v7");
}
END_TEST

START_TEST(exchanges_behind_loads)
{
    store_behind("ds_storexchg_rtn_b32 v6, v1, v7");
}
END_TEST

START_TEST(flat_stores_behind_loads)
{
    store_behind("s_mov_b64 s[12:13], src_shared_base\n"
                 "v_mov_b32 v10, v1\n"
                 "v_mov_b32 v11, s13\n"
                 "flat_store_b32 v[10:11], v7");
}
END_TEST

/* At last it goes beyond the LDS: that is its fault, then.
 * from: of the first lane, what is added before and then; between: the register of its
 * addresses is written, and it */
static void load_beyond(const char *from, const char *between)
{
    struct emu_fault fault = {.kind = EMU_FAULT_NONE};
    put_loads();
    put("s_cmp_eq_u32 s9, 0");
    put(from);
    put("v_add_nc_u32 v1, s10, v2");
    put(between);
    put("ds_load_b32 v4, v1");
    end_loads();
    ck_assert_int_eq(run_to(&two_waves, false, &fault), RD_E_FAULT);
    ck_assert_int_eq(fault.kind, EMU_FAULT_LDS_RANGE);
}

/* By as little as can be. */
static const char above[] = "s_cselect_b32 s10, 0x3f81, 1";

START_TEST(loads_beyond_the_lds)
{
    load_beyond(above, "s_barrier");
    ck_assert_uint_ge(postponed[1], 2);
}
END_TEST

START_TEST(addresses_that_are_not_known)
{
    load_beyond(above, "v_mov_b32 v6, v7");
    ck_assert_uint_eq(postponed[1], 0);
}
END_TEST

/* The last lane's address is the lowest. */
START_TEST(loads_below_the_lds)
{
    load_beyond("s_cselect_b32 s10, -4, 0\n"
                "v_lshlrev_b32 v2, 2, v0\n"
                "v_and_b32 v2, 0x7c, v2\n"
                "v_sub_nc_u32 v2, 0x7c, v2",
                "s_barrier");
    ck_assert_uint_ge(postponed[1], 1);
}
END_TEST

static void put_loop(void)
{
    put("v_lshlrev_b32 v1, 3, v0\n"
        "v_and_b32 v1, 0xf8, v1\n"
        "v_lshlrev_b32 v2, 2, v0\n"
        "v_mov_b32 v4, 0\n"
        "v_mov_b32 v6, 0\n"
        "s_movk_i32 s7, 5\n"
        "s_barrier");
    label = at;
}

/* Two lanes to a bank, and without half of them one. */
START_TEST(lanes_that_are_off)
{
    uint64_t conflicts[2];
    for (unsigned half = 0; half < 2; half++) {
        at = 0;
        put_loop();
        put("s_cmp_eq_u32 s7, 5\n"
            "s_cselect_b32 s8, -1, 0xffff");
        put(half ? "s_mov_b32 exec_lo, s8" : "s_mov_b32 exec_lo, -1");
        put("ds_load_b32 v4, v1\n"
            "s_waitcnt lgkmcnt(0)");
        end();
        compare(&(struct launch){1, 1, 1, false, {1}}, 0);
        conflicts[half] = count[TM_K_LDS_BANK];
        ck_assert_uint_eq(postponed[1], half ? 0 : 4);
    }
    ck_assert_uint_gt(conflicts[1], 0);
    ck_assert_uint_eq(conflicts[0], 5 * conflicts[1]);
}
END_TEST

/* The second workgroup's LDS lies in that of both CUs. */
START_TEST(an_lds_that_is_split)
{
    put_loop();
    put("ds_load_b32 v4, v1\n"
        "s_waitcnt lgkmcnt(0)");
    end();
    lds_bytes = 49152;
    for (unsigned groups = 1; groups < 3; groups++) {
        compare(&(struct launch){groups, 1, 1, true, {3}}, 0);
        ck_assert_uint_eq(postponed[1], 4);
        ck_assert_uint_eq(count[TM_K_LDS_BANK] % groups, 0);
    }
}
END_TEST

/* A load comes when as many are owed as can be: of a block all but the last. */
START_TEST(loads_behind_many)
{
    enum { LEAST = 248, MOST = 258 };
    unsigned sum = 0;
    put_loop();
    for (unsigned n = LEAST; n <= MOST; sum += n++) {
        put("s_barrier");
        for (unsigned k = 0; k < n; k++)
            put("v_add_nc_u32 v6, 1, v6");
        put("ds_load_b32 v4, v1");
    }
    put("s_waitcnt lgkmcnt(0)\n"
        "global_store_b32 v2, v6, s[4:5]");
    end();
    compare(&(struct launch){1, 1, 1, false, {1}}, 0);
    ck_assert_uint_ge(postponed[1], 4 * (MOST - LEAST));
    for (unsigned lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(found(lane), 5 * sum);
}
END_TEST

/* What is executed at once, as handlers do it and as machine code, with and without
 * half of the lanes. */
START_TEST(pieces_of_machine_code)
{
    for (unsigned half = 0; half < 2; half++) {
        at = 0;
        put_loop();
        put("ds_store_b32 v1, v2\n"
            "s_movk_i32 s9, 7");
        put(half ? "s_mov_b32 exec_lo, 0xffff" : "s_mov_b32 exec_lo, -1");
        put("v_cvt_f32_u32 v8, v2\n"
            "v_fma_f32 v9, v8, v8, v9\n"
            "ds_load_b32 v4, v1\n"
            "s_add_u32 s9, s9, s7\n"
            "s_waitcnt lgkmcnt(0)\n"
            "v_mad_u32_u24 v6, v4, s9, v6\n"
            "v_cmp_gt_u32 vcc_lo, v6, v2\n"
            "v_cndmask_b32 v10, v4, v6, vcc_lo\n"
            "v_sqrt_f32 v11, v9\n"
            "global_store_b32 v2, v6, s[4:5]\n"
            "global_store_b32 v2, v10, s[4:5] offset:256\n"
            "global_store_b32 v2, v11, s[4:5] offset:512");
        end();
        compare(&(struct launch){1, 2, 1, false, {1}}, 0);
        ck_assert_uint_ge(native[1].traces, may_be_native ? 2 : 0);
        ck_assert_uint_ne(found(15), 0);
        ck_assert(half || found(31));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("timing runs");
    TCase *tc = tcase_create("turns");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, waves_of_one_cu);
    tcase_add_test(tc, waves_of_a_wgp);
    tcase_add_test(tc, waves_that_are_cut);
    tcase_add_test(tc, waves_of_half_a_wgp);
    tcase_add_test(tc, workgroups_without_room);
    tcase_add_test(tc, threads_of_several_shader_engines);
    tcase_add_test(tc, priorities_that_change);
    tcase_add_test(tc, what_the_lds_puts_off);
    tcase_add_test(tc, pieces_of_machine_code);
    tcase_add_test(tc, stores_behind_loads);
    tcase_add_test(tc, exchanges_behind_loads);
    tcase_add_test(tc, flat_stores_behind_loads);
    tcase_add_test(tc, loads_beyond_the_lds);
    tcase_add_test(tc, addresses_that_are_not_known);
    tcase_add_test(tc, loads_below_the_lds);
    tcase_add_test(tc, lanes_that_are_off);
    tcase_add_test(tc, an_lds_that_is_split);
    tcase_add_test(tc, loads_behind_many);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
