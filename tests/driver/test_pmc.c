/* test_pmc.c: performance counters, programmed by packets as profilers do: events of
 * sequencers by WGP, of caches, of the chip.
 *
 * usage: test_pmc [untimed]
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "config.h"
#include "isa_asm.h"
#include "mock.h"
#include "pm4.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum reg {
    COMPUTE_PERFCOUNT_ENABLE = 0x2e0b,
    GRBM_GFX_INDEX = 0xc200,
    CP_PERFMON_CNTL = 0xd808,
    SQ_PERFCOUNTER_CTRL = 0xd9e0,
    SQ_PERFCOUNTER_CTRL2 = 0xd9e2,
    SQG_PERFCOUNTER_CTRL = 0xd9d8,
    SQG_PERFCOUNTER_CTRL2 = 0xd9da,
    GRBM_SELECT = 0xd840,
    GRBM_LO = 0xd040,
    SQ_SELECT = 0xd9c0,
    SQ_LO = 0xd1c0,
    SQG_SELECT = 0xd9d0,
    SQG_LO = 0xd1e4,
    TCP_SELECT = 0xdb40,
    TCP_LO = 0xd340,
    GL1C_SELECT = 0xdba0,
    GL1C_LO = 0xd3a0,
    GL2C_SELECT = 0xdb80,
    GL2C_LO = 0xd380,
};

enum { RESET, START, STOP, SAMPLE = 1 << 10 };
enum { ENGINES = 6, ARRAYS = 2, WGPS = 4, CUS = 8, CHANNELS = 32 };
#define EVERYWHERE     (1u << 31 | 1u << 30 | 1u << 29)
#define ENGINE(se)     (1u << 29 | 1u << 30 | (uint32_t)(se) << 16)
#define WGP(se, sa, w) ((uint32_t)(se) << 16 | (uint32_t)(sa) << 8 | (uint32_t)(w) << 2)
#define CU(se, sa, cu) ((uint32_t)(se) << 16 | (uint32_t)(sa) << 8 | (uint32_t)(cu))
#define CHANNEL(i)     (1u << 31 | 1u << 29 | (uint32_t)(i))
#define CS_EN          (1u << 6)
#define FORCE_EN       1u
#define ALL_VMIDS      0x1fffeu

/* Of the sequencer. */
enum {
    BUSY_CYCLES = 3,
    WAVES = 4,
    ITEMS = 8,
    WAVE_CYCLES = 24,
    INSTS_ALL = 48,
    BRANCH = 49,
    LDS = 57,
    SALU = 58,
    SMEM = 59,
    VALU = 62,
    TRANS = 63,
    TEX_LOAD = 66,
    TEX_STORE = 67,
    INSTS_WAVE32 = 70,
    WAVE32_FLAT = 71,
    WAVE32_LDS = 72,
    WAVE32_VALU = 73,
    WAVE32_INSTS = 82,
};

/* Each wave: 21 VALU, 10 of them transcendental; 21 SALU, 10 branches. */
static const char *const text[] = {
    "s_mov_b32 s4, 10",
    "v_add_nc_u32_e32 v1, v1, v0",
    "v_exp_f32_e32 v2, v1",
    "s_sub_u32 s4, s4, 1",
    "s_cmp_lg_u32 s4, 0",
    "s_cbranch_scc1 0xfffb",
    "v_mov_b32_e32 v3, 0",
    "s_load_b32 s5, s[0:1], 0x0",
    "global_load_b32 v4, v3, s[0:1]",
    "s_waitcnt vmcnt(0) lgkmcnt(0)",
    "global_store_b32 v3, v1, s[0:1] offset:64",
    "s_endpgm",
};
enum { OF_WAVE = 1 + 10 * 5 + 6 };

static uint32_t *mem; /* fence, what registers read */
static uint8_t *code;
static struct mock_queue queue;
static uint32_t fences;

static void set(uint32_t reg, uint32_t value)
{
    mock_set_register(&queue, reg, value);
}

static void dispatch(void)
{
    mock_dispatch(&queue, code, mem, mem, ++fences);
    ck_assert(mock_wait32(mem, fences));
}

static uint64_t get(uint32_t reg, bool wide)
{
    mem[2] = mem[3] = 0;
    mock_copy_register(&queue, reg, wide, mem + 2, mem, ++fences);
    ck_assert(mock_wait32(mem, fences));
    return mem[2] | (uint64_t)mem[3] << 32;
}

static void control(uint32_t value)
{
    set(GRBM_GFX_INDEX, EVERYWHERE);
    set(CP_PERFMON_CNTL, value);
}

static void choose(uint32_t reg, uint32_t event)
{
    set(GRBM_GFX_INDEX, EVERYWHERE);
    set(reg, event);
}

/* As profilers begin. */
static void begin(void)
{
    control(RESET);
    set(SQ_PERFCOUNTER_CTRL, CS_EN);
    set(SQ_PERFCOUNTER_CTRL2, FORCE_EN | ALL_VMIDS);
    set(COMPUTE_PERFCOUNT_ENABLE, 1);
    control(START);
}

/* Sum over all WGPs of counter i; *most: of one. */
static uint64_t of_wgps(unsigned i, uint64_t *most)
{
    uint64_t sum = 0;
    *most = 0;
    for (unsigned k = 0; k < ENGINES * ARRAYS * WGPS; k++) {
        set(GRBM_GFX_INDEX, WGP(k / (ARRAYS * WGPS), k / WGPS % ARRAYS, k % WGPS));
        uint64_t n = get(SQ_LO + 2 * i, false);
        sum += n;
        *most = n > *most ? n : *most;
    }
    return sum;
}

/* Of two waves, each on a WGP of its own. */
static void check_wgps(unsigned i, uint64_t of_wave)
{
    uint64_t most;
    ck_assert_uint_eq(of_wgps(i, &most), 2 * of_wave);
    ck_assert_uint_eq(most, of_wave);
}

static const struct {
    unsigned event, of_wave;
} known[] = {
    {VALU, 21},         {TRANS, 10},      {SALU, 21},           {BRANCH, 10},
    {SMEM, 1},          {TEX_LOAD, 1},    {TEX_STORE, 1},       {LDS, 0},
    {WAVES, 1},         {ITEMS, 32},      {INSTS_ALL, OF_WAVE}, {WAVE32_INSTS, OF_WAVE},
    {INSTS_WAVE32, 23}, {WAVE32_FLAT, 0}, {WAVE32_LDS, 0},      {WAVE32_VALU, 21},
};

START_TEST(instructions)
{
    uint64_t before = mock_counters()->instructions;
    for (unsigned first = 0; first < COUNT(known); first += 4) {
        for (unsigned i = 0; i < 4; i++)
            choose(SQ_SELECT + 2 * i, known[first + i].event);
        begin();
        dispatch();
        control(START | SAMPLE);
        for (unsigned i = 0; i < 4; i++)
            check_wgps(i, known[first + i].of_wave);
    }
    ck_assert_uint_eq(mock_counters()->instructions - before,
                      COUNT(known) / 4 * 2 * OF_WAVE);
}
END_TEST

START_TEST(states)
{
    uint64_t most;
    choose(SQ_SELECT, VALU);
    begin();
    dispatch();
    dispatch();
    ck_assert_uint_eq(of_wgps(0, &most), 0); /* there has been no sample */
    control(STOP | SAMPLE);
    ck_assert_uint_eq(of_wgps(0, &most), 4 * 21);
    dispatch();
    control(STOP | SAMPLE);
    ck_assert_uint_eq(of_wgps(0, &most), 4 * 21);
    control(START);
    dispatch();
    const uint32_t event[] = {PM4_HEADER(PM4_EVENT_WRITE, 1), PM4_EVENT_COUNTER_SAMPLE};
    mock_submit(&queue, event, COUNT(event));
    ck_assert_uint_eq(of_wgps(0, &most), 6 * 21);
    control(RESET);
    ck_assert_uint_eq(of_wgps(0, &most), 0);
    set(GRBM_GFX_INDEX, WGP(5, 1, 3));
    ck_assert_uint_eq(get(SQ_SELECT, false), VALU);
    set(GRBM_GFX_INDEX, WGP(6, 0, 0)); /* there is none */
    ck_assert_uint_eq(get(SQ_SELECT, false), 0);
}
END_TEST

/* Whose waves count: of queues that say so, or all; of compute; of the address space.
 */
START_TEST(masks)
{
    uint64_t most;
    choose(SQ_SELECT, WAVES);
    begin();
    set(COMPUTE_PERFCOUNT_ENABLE, 0);
    dispatch();
    set(SQ_PERFCOUNTER_CTRL2, ALL_VMIDS);
    dispatch(); /* no longer */
    set(COMPUTE_PERFCOUNT_ENABLE, 1);
    dispatch();
    set(SQ_PERFCOUNTER_CTRL, 0);
    dispatch();
    set(SQ_PERFCOUNTER_CTRL, CS_EN);
    set(SQ_PERFCOUNTER_CTRL2, FORCE_EN | 2);
    dispatch();
    control(START | SAMPLE);
    ck_assert_uint_eq(of_wgps(0, &most), 4);
}
END_TEST

/* One WGP counts something else than the others. */
START_TEST(one_wgp)
{
    uint64_t most;
    choose(SQ_SELECT, WAVES);
    for (unsigned se = 0; se < ENGINES; se++) {
        set(GRBM_GFX_INDEX, WGP(se, 0, 0));
        set(SQ_SELECT, ITEMS);
    }
    begin();
    for (unsigned i = 0; i < 12; i++)
        dispatch();
    control(START | SAMPLE);
    set(GRBM_GFX_INDEX, WGP(0, 0, 0));
    ck_assert_uint_eq(get(SQ_SELECT, false), ITEMS);
    ck_assert_uint_eq(of_wgps(0, &most) % 32, 0);
    ck_assert_uint_ge(most, 32);
}
END_TEST

START_TEST(engines)
{
    uint64_t sum = 0;
    choose(SQG_SELECT, 0x14);     /* waves */
    choose(SQG_SELECT + 1, 0x18); /* work-items */
    set(SQG_PERFCOUNTER_CTRL, CS_EN);
    set(SQG_PERFCOUNTER_CTRL2, FORCE_EN | ALL_VMIDS);
    begin();
    dispatch();
    control(START | SAMPLE);
    for (unsigned se = 0; se < ENGINES; se++) {
        set(GRBM_GFX_INDEX, ENGINE(se));
        uint64_t waves = get(SQG_LO, true);
        ck_assert_uint_eq(get(SQG_LO + 2, true), 32 * waves);
        sum += waves;
    }
    ck_assert_uint_eq(sum, 2);
}
END_TEST

START_TEST(clock_and_activity)
{
    choose(GRBM_SELECT, 0);
    choose(GRBM_SELECT + 1, 2);
    begin();
    dispatch();
    control(START | SAMPLE);
    uint64_t cycles = get(GRBM_LO, true), active = get(GRBM_LO + 3, true);
    ck_assert_uint_gt(active, 0);
    ck_assert_uint_ge(cycles, active);
    ck_assert_uint_eq(get(GRBM_LO + 1, false), cycles >> 32);
    dispatch();
    control(STOP | SAMPLE);
    ck_assert_uint_gt(get(GRBM_LO, true), cycles);
    ck_assert_uint_gt(get(GRBM_LO + 3, true), active);
}
END_TEST

START_TEST(unknown)
{
    uint64_t most;
    choose(SQ_SELECT, 400);
    ck_assert_uint_eq(get(SQ_SELECT, false), 400);
    ck_assert_ptr_nonnull(strstr(mock_line, "event 400 of SQ is not known"));
    begin();
    dispatch();
    control(START | SAMPLE);
    ck_assert_uint_eq(of_wgps(0, &most), 0);
}
END_TEST

/* ---- what needs times --------------------------------------------------------------
 */

START_TEST(needs_times)
{
    uint64_t most;
    choose(SQ_SELECT, BUSY_CYCLES);
    (void)get(SQ_SELECT, false);
    ck_assert_ptr_nonnull(strstr(mock_line, "without --timing SQ_BUSY_CYCLES reads 0"));
    begin();
    dispatch();
    control(START | SAMPLE);
    ck_assert_uint_eq(of_wgps(0, &most), 0);
}
END_TEST

START_TEST(cycles)
{
    uint64_t most;
    choose(SQ_SELECT, BUSY_CYCLES);
    choose(SQ_SELECT + 2, WAVE_CYCLES);
    choose(GRBM_SELECT, 2);
    begin();
    dispatch();
    control(START | SAMPLE);
    set(GRBM_GFX_INDEX, EVERYWHERE);
    uint64_t active = get(GRBM_LO, true), busy = of_wgps(0, &most);
    ck_assert_uint_gt(most, 200);
    ck_assert_uint_le(most, active);
    ck_assert_uint_le(busy, 2 * most);
    /* The clock of a WGP begins behind its first wave. */
    ck_assert_uint_gt(of_wgps(1, &most), busy);
    ck_assert_uint_le(most, active);
}
END_TEST

static uint64_t of_cus(uint32_t reg)
{
    uint64_t sum = 0;
    for (unsigned k = 0; k < ENGINES * ARRAYS * CUS; k++) {
        set(GRBM_GFX_INDEX, CU(k / (ARRAYS * CUS), k / CUS % ARRAYS, k % CUS));
        sum += get(reg, true);
    }
    return sum;
}

static uint64_t of_channels(uint32_t reg)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < CHANNELS; i++) {
        set(GRBM_GFX_INDEX, CHANNEL(i));
        sum += get(reg, true);
    }
    return sum;
}

START_TEST(caches)
{
    choose(TCP_SELECT, 0x0a);      /* reads */
    choose(TCP_SELECT + 2, 0x1f);  /* of them, reads of the GL1 */
    choose(GL1C_SELECT, 0x15);     /* reads */
    choose(GL1C_SELECT + 2, 0x04); /* of them, reads of the GL2 */
    choose(GL2C_SELECT, 3);        /* requests */
    choose(GL2C_SELECT + 2, 42);   /* hits */
    choose(GL2C_SELECT + 4, 43);   /* misses */
    begin();
    dispatch();
    control(START | SAMPLE);
    ck_assert_uint_eq(of_cus(TCP_LO), 2); /* two waves, one line each */
    ck_assert_uint_eq(of_cus(TCP_LO + 2), 2);
    ck_assert_uint_eq(of_cus(GL1C_LO), 2);
    ck_assert_uint_eq(of_cus(GL1C_LO + 2), 2);
    uint64_t hits = of_channels(GL2C_LO + 2), misses = of_channels(GL2C_LO + 4);
    ck_assert_uint_gt(misses, 24);
    ck_assert_uint_gt(hits, 0);
    ck_assert_uint_eq(of_channels(GL2C_LO), hits + misses);
}
END_TEST

static void write_code(void)
{
    const struct isa_asm_options options = {.wave = 32};
    uint8_t *to = code;
    for (unsigned i = 0; i < COUNT(text); i++) {
        struct isa_fixup fixup;
        struct isa_asm_error error = {0};
        unsigned n = 0;
        if (isa_assemble(text[i], strlen(text[i]), &options, to, &n, &fixup, &error) !=
            RD_OK) {
            fprintf(stderr, "%s: %s\n", text[i], error.text);
            exit(1);
        }
        to += n;
    }
}

int main(int argc, char **argv)
{
    bool timed = argc < 2 || strcmp(argv[1], "untimed") != 0;
    if (timed)
        setenv(FRONT_ENV_TIMING, "2482", 1);
    mock_begin();
    mem = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    code = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    write_code();
    mock_queue_create(&queue, KFD_IOC_QUEUE_TYPE_COMPUTE, 65536);
    Suite *s = suite_create("pmc");
    TCase *t = tcase_create(timed ? "timed" : "untimed");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, instructions);
    tcase_add_test(t, states);
    tcase_add_test(t, masks);
    tcase_add_test(t, one_wgp);
    tcase_add_test(t, engines);
    tcase_add_test(t, clock_and_activity);
    tcase_add_test(t, unknown);
    if (timed) {
        tcase_add_test(t, cycles);
        tcase_add_test(t, caches);
    } else {
        tcase_add_test(t, needs_times);
    }
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_queue_destroy(&queue);
    mock_end();
    return status;
}
