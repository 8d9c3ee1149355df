/* test_windows.c: native code remembers where waves may access memory; it goes by what
 * holds when they do.
 *
 *     test_windows [avx2 | avx512]
 *
 * Loops leave the region that they began in for one with other permissions, for none,
 * or lose it while they run. And elements of several dwords move as a whole.
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gpus.h"

static enum emu_simd level = EMU_SIMD_AVX2;
static struct gpus g;

/* Regions besides gpus_create's, which ends at WALK; what lies between is nobody's. */
#define WALK   0x4000u
#define READ   0x5000u /* may not be written; BOTH is behind it, without a gap */
#define BOTH   0x7000u
#define END    0x9000u
#define ISLAND 0xa000u
#define COAST  0xc000u

static uint64_t address_of(uint32_t offset)
{
    return (uint64_t)(uintptr_t)g.data + offset;
}

static void add(unsigned from, unsigned to, unsigned perm, const char *name)
{
    for (unsigned i = 0; i < GPU_COUNT; i++)
        ck_assert_int_eq(emu_mem_add(g.emu[i], address_of(from), to - from, perm, name),
                         RD_OK);
}

static void setup(void)
{
    gpus_create(&g, level, 1, WALK);
    add(READ, BOTH, EMU_MEM_READ, "read");
    add(BOTH, END, EMU_MEM_READ | EMU_MEM_WRITE, "both");
    add(ISLAND, COAST, EMU_MEM_READ | EMU_MEM_WRITE, "island");
    gpus_fill(&g, 3);
}

static void teardown(void)
{
    gpus_destroy(&g);
}

/* s4: where the first lane begins, s5: the way of a round. Each leaves its number and
 * what it has loaded. */
static const char frame[] = "v_lshl_add_u32 v1, v0, 2, s4\n"
                            "v_lshlrev_b32 v7, 2, v0\n"
                            "v_mov_b32 v4, 3\n"
                            "v_mov_b32 v5, 0\n"
                            "s_mov_b32 s9, 0\n"
                            "s_mov_b32 s10, s4\n"
                            "%s\n"
                            "loop:\n"
                            "s_add_u32 s9, s9, 1\n"
                            "v_add_nc_u32 v5, s9, v5\n"
                            "global_store_b32 v7, v5, s[2:3]\n"
                            "%s\n"
                            "s_waitcnt vmcnt(0) & lgkmcnt(0)\n"
                            "v_add_nc_u32 v1, s5, v1\n"
                            "s_add_u32 s10, s10, s5\n"
                            "s_cmp_lt_u32 s9, 150\n"
                            "s_cbranch_scc1 @loop\n"
                            "s_endpgm\n";

static const char load[] = "global_load_b32 v5, v1, s[0:1]",
                  store[] = "global_store_b32 v1, v4, s[0:1]",
                  scalar[] = "s_load_b32 s11, s[0:1], s10\ns_waitcnt lgkmcnt(0)\n"
                             "v_mov_b32 v5, s11";

static const struct walk {
    const char *before, *inst;
    uint32_t from;
    int32_t step;
    enum emu_fault_kind kind;
    uint32_t at; /* offset of what is accessed then */
} walks[] = {
    {"", load, ISLAND + 0x800, -128, EMU_FAULT_UNMAPPED, ISLAND - 128},
    {"", store, ISLAND + 0x800, -128, EMU_FAULT_UNMAPPED, ISLAND - 128},
    {"", scalar, ISLAND + 0x800, -128, EMU_FAULT_UNMAPPED, ISLAND - 128},
    {"", load, COAST - 0x800, 128, EMU_FAULT_UNMAPPED, COAST},
    {"", load, COAST - 0x840, 128, EMU_FAULT_UNMAPPED, COAST},
    {"", store, COAST - 0x840, 128, EMU_FAULT_UNMAPPED, COAST},
    {"", scalar, COAST - 0x802, 128, EMU_FAULT_UNMAPPED, COAST + 124},
    {"", load, BOTH + 0x800, -128, EMU_FAULT_UNMAPPED, READ - 128},
    {"", load, BOTH - 0x7c0, 128, EMU_FAULT_UNMAPPED, END},
    {"", store, BOTH + 0x800, -128, EMU_FAULT_PERMISSION, BOTH - 128},
    {"", store, BOTH + 0x840, -128, EMU_FAULT_PERMISSION, BOTH - 64},
    {load, store, READ + 0x800, 128, EMU_FAULT_PERMISSION, READ + 0x800},
    {"", "global_load_b32 v5, v1, s[0:1]\nglobal_store_b32 v1, v4, s[0:1]",
     BOTH + 0x800, -128, EMU_FAULT_PERMISSION, BOTH - 128},
    {"",
     "global_load_b32 v5, v1, s[0:1]\ns_cmp_gt_u32 s9, 5\ns_cbranch_scc0 @skip\n"
     "global_store_b32 v1, v4, s[0:1]\nskip:", /* native, where READ is known */
     READ + 0x800, 128, EMU_FAULT_PERMISSION, READ + 0x800 + 5 * 128},
};
#define N_WALKS (sizeof walks / sizeof *walks)

START_TEST(borders)
{
    const struct walk *w = &walks[_i];
    char text[1024], name[160];
    snprintf(text, sizeof text, frame, w->before, w->inst);
    snprintf(name, sizeof name, "%s from %x by %d", w->inst, w->from, w->step);
    gpus_place(&g, text);
    struct load l = {.param = {w->from, (uint32_t)w->step}};
    struct result r = gpus_compare(&g, &l, name);
    ck_assert_int_eq(r.status, RD_E_FAULT);
    ck_assert_msg(r.fault.kind == w->kind && r.fault.address == address_of(w->at),
                  "%s: fault %d at %#llx", name, r.fault.kind,
                  (unsigned long long)(r.fault.address - address_of(0)));
}
END_TEST

/* ---- a region that goes -------------------------------------------------------- */

struct runner {
    pthread_t thread;
    struct result result;
};

static void *run(void *arg)
{
    struct runner *r = arg;
    r->result = gpus_run(&g, GPU_NATIVE, &(struct load){.groups = 1});
    return NULL;
}

static const char *const endless[] = {
    "global_load_b32 v5, v1, s[0:1]",
    "global_store_b32 v1, v4, s[0:1]",
    "s_load_b32 s11, s[14:15], 0x0",
};

START_TEST(gone)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "s_add_u32 s0, s0, 0x%x\ns_addc_u32 s1, s1, 0\ns_mov_b64 s[14:15], s[0:1]\n"
        "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v4, 77\ns_mov_b32 s9, 0\n"
        "loop:\n%s\ns_waitcnt vmcnt(0) & lgkmcnt(0)\n"
        "s_add_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 1000\ns_cbranch_scc1 @on\n"
        "global_store_b32 v1, v4, s[2:3]\n"
        "on:\ns_cmp_lg_u32 s9, 0x10000000\ns_cbranch_scc1 @loop\ns_endpgm\n",
        ISLAND, endless[_i]);
    gpus_place(&g, text);
    uint32_t *said = (uint32_t *)(void *)(g.data + GPU_DATA / 4 * 3);
    *said = 0;
    struct runner r;
    ck_assert_int_eq(pthread_create(&r.thread, NULL, run, &r), 0);
    while (__atomic_load_n(said, __ATOMIC_RELAXED) != 77)
        ;
    ck_assert_int_eq(emu_mem_remove(g.emu[GPU_NATIVE], address_of(ISLAND)), RD_OK);
    ck_assert_int_eq(pthread_join(r.thread, NULL), 0);
    ck_assert_int_eq(r.result.status, RD_E_FAULT);
    ck_assert_int_eq(r.result.fault.kind, EMU_FAULT_UNMAPPED);
    ck_assert_uint_eq(r.result.fault.address, address_of(ISLAND));
}
END_TEST

/* Elements of 8 and 16 bytes that other workgroups look at meanwhile are seen whole:
 * two of them, written by odd workgroups, read by the others. */
START_TEST(whole_elements)
{
    static const char text[] =
        "v_and_b32 v1, 1, v0\nv_mul_u32_u24 v1, 48, v1\nv_lshlrev_b32 v2, 2, v0\n"
        "s_movk_i32 s9, 20000\nv_mov_b32 v10, 0\ns_and_b32 s10, s8, 1\n"
        "s_cbranch_scc0 @read\ns_mov_b32 exec_lo, 3\nwrite:\n"
        "v_mov_b32 v4, s9\nv_mov_b32 v5, s9\nv_mov_b32 v6, s9\nv_mov_b32 v7, s9\n"
        "global_store_b128 v1, v[4:7], s[0:1]\n"
        "global_store_b64 v1, v[4:5], s[0:1] offset:24\n"
        "s_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 @write\ns_endpgm\n"
        "read:\nglobal_load_b128 v[4:7], v1, s[0:1] glc\n"
        "global_load_b64 v[8:9], v1, s[0:1] offset:24 glc\ns_waitcnt vmcnt(0)\n"
        "v_xor_b32 v5, v4, v5\nv_xor_b32 v6, v4, v6\nv_xor_b32 v7, v4, v7\n"
        "v_xor_b32 v8, v9, v8\nv_or3_b32 v10, v10, v5, v6\n"
        "v_or3_b32 v10, v10, v7, v8\n"
        "s_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 @read\n"
        "s_lshl_b32 s10, s8, 7\ns_add_u32 s2, s2, s10\ns_addc_u32 s3, s3, 0\n"
        "global_store_b32 v2, v10, s[2:3]\ns_endpgm\n";
    gpus_create(&g, level, 2, 0);
    gpus_place(&g, text);
    gpus_fill(&g, 1);
    memset(g.data, 0, 4096);
    (void)gpus_compare(&g, &(struct load){.groups = 8}, "elements seen by halves");
    for (unsigned i = 0; i < 8 * 128; i++)
        ck_assert(i & 128 || g.data[GPU_DATA / 4 * 3 + i] == 0);
    gpus_destroy(&g);
}
END_TEST

/* Loads over their own addresses: the last quarter of the lanes comes to a region that
 * the wave has not seen, when the others may have been loaded. */
START_TEST(own_addresses)
{
    static const char text[] =
        "v_lshrrev_b32 v1, 3, v0\nv_lshlrev_b32 v1, 10, v1\nv_and_b32 v2, 7, v0\n"
        "v_lshl_add_u32 v1, v2, 2, v1\nv_add_nc_u32 v4, 0x9400, v1\n"
        "v_cmp_lt_u32 vcc_lo, 23, v0\nv_cndmask_b32 v3, v1, v4, vcc_lo\n"
        "v_mov_b32 v31, s1\nv_mov_b32 v5, 0\n"
        "v_add_co_u32 v30, vcc_lo, s0, v1\n"
        "v_add_co_ci_u32 v33, vcc_lo, 0, v31, vcc_lo\n"
        "v_add_co_u32 v32, vcc_lo, s0, v3\n"
        "v_add_co_ci_u32 v34, vcc_lo, 0, v31, vcc_lo\nv_mov_b32 v31, v33\n"
        "s_mov_b32 s9, 3\nloop:\nglobal_load_b32 v31, v[30:31], off\n"
        "s_waitcnt vmcnt(0)\nv_add_nc_u32 v5, v31, v5\nv_mov_b32 v30, v32\n"
        "v_mov_b32 v31, v34\ns_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\n"
        "s_cbranch_scc1 @loop\nv_lshlrev_b32 v1, 2, v0\n"
        "global_store_b32 v1, v5, s[2:3]\ns_endpgm\n";
    gpus_place(&g, text);
    struct result r =
        gpus_compare(&g, &(struct load){.groups = 1}, "loads over addresses");
    ck_assert_int_eq(r.status, RD_OK);
}
END_TEST

static void add_loads(void *ctx, unsigned op, uint64_t count)
{
    if (op >= ISA_GLOBAL_LOAD_U8 && op <= ISA_GLOBAL_LOAD_B128)
        *(uint64_t *)ctx += count;
}

/* The same of 64 lanes: those of one half come to a region that the wave has not seen,
 * when the other ones have been loaded; then there are no more surprises. v[34:37]: as
 * v[30:33] shall be before the load. */
START_TEST(own_addresses64)
{
    static const char *const loads[] = {"global_load_b32 v30, v[30:31], off",
                                        "global_load_b32 v31, v[30:31], off",
                                        "global_load_b64 v[30:31], v[30:31], off",
                                        "global_load_b64 v[29:30], v[30:31], off",
                                        "global_load_b32 v32, v32, s[0:1]",
                                        "global_load_b128 v[30:33], v32, s[0:1]",
                                        "global_load_u16 v30, v[30:31], off"};
    static const char rounds[] =
        "v_lshrrev_b32 v1, 3, v0\nv_lshlrev_b32 v1, 10, v1\nv_and_b32 v2, 7, v0\n"
        "v_lshl_add_u32 v1, v2, 4, v1\nv_add_nc_u32 v4, 0x%x, v1\n"
        "v_mov_b32 v6, s1\nv_mov_b32 v5, 0\nv_mov_b32 v36, v1\nv_mov_b32 v37, 0\n"
        "v_mov_b32 v29, 0\nv_add_co_u32 v34, vcc_lo, s0, v1\n"
        "v_add_co_ci_u32 v35, vcc_lo, 0, v6, vcc_lo\n"
        "s_mov_b32 s9, 40\nloop:\nv_mov_b32 v30, v34\nv_mov_b32 v31, v35\n"
        "v_mov_b32 v32, v36\nv_mov_b32 v33, v37\n%s\n"
        "s_waitcnt vmcnt(0)\nv_add_nc_u32 v5, v29, v5\nv_xor_b32 v5, v30, v5\n"
        "v_add_nc_u32 v5, v31, v5\nv_xor_b32 v5, v32, v5\nv_add_nc_u32 v5, v33, v5\n"
        "s_cmp_lg_u32 s9, 20\ns_cbranch_scc1 @on\nv_cmp_%s_u32 vcc_lo, 31, v0\n"
        "v_cndmask_b32 v36, v36, v4, vcc_lo\nv_add_co_u32 v34, vcc_lo, s0, v36\n"
        "v_add_co_ci_u32 v35, vcc_lo, 0, v6, vcc_lo\non:\n"
        "s_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\n"
        "s_cbranch_scc1 @loop\nv_lshlrev_b32 v1, 2, v0\n"
        "global_store_b32 v1, v5, s[2:3]\ns_endpgm\n";
    unsigned which = (unsigned)_i / 2;
    bool upper = _i % 2;
    uint64_t n = 0;
    char text[2048];
    snprintf(text, sizeof text, rounds, upper ? 0x9000u : 0xa000u, loads[which],
             upper ? "lt" : "ge");
    g.wave64 = true;
    gpus_place(&g, text);
    struct result r = gpus_compare(&g, &(struct load){.groups = 1}, loads[which]);
    ck_assert_int_eq(r.status, RD_OK);
    emu_native_handled(g.emu[GPU_COUNTED], add_loads, &n);
    ck_assert_uint_lt(n, 10);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("windows");
    TCase *t = tcase_create("borders");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, borders, 0, N_WALKS);
    tcase_add_loop_test(t, gone, 0, sizeof endless / sizeof *endless);
    tcase_add_test(t, own_addresses);
    tcase_add_loop_test(t, own_addresses64, 0, 14);
    suite_add_tcase(s, t);
    t = tcase_create("elements");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, whole_elements);
    suite_add_tcase(s, t);
    return s;
}

int main(int argc, char **argv)
{
    return gpus_main(argc, argv, &level, suite);
}
