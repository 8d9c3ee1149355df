/* test_blocks.c: where blocks end, what they read and write, that waves change between
 * them only, and registers that the descriptor does not allocate.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <sys/mman.h>

#include "../suite.h"
#include "block.h"
#include "isa_asm.h"
#include "machine.h"

#define PAGE 16384u

static struct emu *emu;
static uint32_t *code;
static size_t n_dwords;
static size_t at[1024]; /* dword of each statement */
static unsigned n_statements;

static void setup_with(const struct emu_config *config)
{
    ck_assert_int_eq(emu_create(config, &emu), RD_OK);
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)code, PAGE,
                                 EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                     RD_OK);
    n_dwords = n_statements = 0;
}

static void setup(void)
{
    const struct emu_config config = {.threads = 1, .count = true};
    setup_with(&config);
}

static void teardown(void)
{
    emu_destroy(emu);
    munmap(code, PAGE);
}

/* Append one statement to the code. */
static void put(const char *text)
{
    const struct isa_asm_options options = {.wave = 32};
    struct isa_fixup fixup;
    struct isa_asm_error error = {0};
    uint8_t bytes[ISA_MAX_BYTES];
    unsigned n;
    ck_assert_msg(
        isa_assemble(text, strlen(text), &options, bytes, &n, &fixup, &error) == RD_OK,
        "%s: %s", text, error.text);
    memcpy(code + n_dwords, bytes, n);
    at[n_statements++] = n_dwords;
    n_dwords += n / 4;
}

static struct program *program_of(unsigned n_vgprs)
{
    struct program *p;
    struct program_kind kind = {.n_vgprs = n_vgprs};
    ck_assert_int_eq(program_get(emu->code, (uint64_t)(uintptr_t)code, kind, &p),
                     RD_OK);
    return p;
}

/* Instructions from each statement to the end of its block. */
static void check_runs(const struct program *p, const unsigned *want)
{
    for (unsigned i = 0; i < n_statements; i++)
        ck_assert_msg(p->uops[at[i]].run == want[i], "statement %u: %u to go, want %u",
                      i, p->uops[at[i]].run, want[i]);
}

START_TEST(where_they_end)
{
    static const unsigned want[] = {3, 2, 1, 3, 2, 1, 1, 3, 2, 1, 2, 1, 1, 1};
    put("v_mov_b32 v0, 1");
    put("s_waitcnt vmcnt(0)"); /* does not end one */
    put("s_cbranch_scc0 4");
    put("v_add_f32 v0, v0, v0");
    put("v_fma_f32 v0, v0, v0, 1.0"); /* two dwords and more */
    put("s_barrier");
    put("s_getreg_b32 s0, hwreg(HW_REG_SHADER_CYCLES)"); /* alone */
    put("s_getreg_b32 s0, hwreg(HW_REG_STATUS)");
    put("v_mov_b32 v1, v2");
    put("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0"); /* a new MODE */
    put("s_nop 0");
    put("s_sleep 1");
    put("s_sendmsg_rtn_b64 s[0:1], sendmsg(MSG_RTN_GET_REALTIME)");
    put("s_endpgm");
    struct program *p = program_of(8);
    check_runs(p, want);
    program_put(p);
}
END_TEST

START_TEST(straight_code_is_cut)
{
    for (unsigned i = 0; i < 700; i++)
        put("s_nop 0");
    put("s_endpgm");
    struct program *p = program_of(8);
    unsigned longest = 0, done = 0;
    while (done < 701) {
        unsigned run = p->uops[at[done]].run;
        longest = run > longest ? run : longest;
        done += run;
    }
    ck_assert_uint_eq(done, 701);
    ck_assert_uint_eq(longest, 256);
    program_put(p);
}
END_TEST

static bool has(const uint64_t *set, unsigned i)
{
    return set[i / 64] >> i % 64 & 1u;
}

START_TEST(what_they_read_and_write)
{
    put("v_add_f32 v3, v1, v2");
    put("v_mul_f32 v4, v3, s7");
    put("s_add_u32 s8, s7, s9");
    put("s_addc_u32 s9, s8, 0");
    put("global_load_b64 v[6:7], v[10:11], off");
    put("s_cbranch_vccz 0");
    put("s_endpgm");
    struct program *p = program_of(24);
    const struct block *b = program_block(p, &p->uops[0]);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_eq(program_block(p, &p->uops[0]), b); /* made once */
    ck_assert_uint_eq(b->n_insts, 6);
    ck_assert_uint_eq(b->flags, BLOCK_MAY_FAULT | BLOCK_BRANCHES);
    ck_assert(has(b->in.vgpr, 1) && has(b->in.vgpr, 2) && has(b->in.vgpr, 10) &&
              has(b->in.vgpr, 11));
    ck_assert(has(b->out.vgpr, 3) && has(b->out.vgpr, 4) && has(b->out.vgpr, 6) &&
              has(b->out.vgpr, 7));
    ck_assert(has(b->in.vgpr, 3)); /* written under EXEC only */
    ck_assert(!has(b->in.vgpr, 4) && !has(b->out.vgpr, 1));
    ck_assert(has(b->in.sgpr, 7) && has(b->in.sgpr, 9) && !has(b->in.sgpr, 8));
    ck_assert(has(b->out.sgpr, 8) && has(b->out.sgpr, 9) &&
              has(b->out.sgpr, BLOCK_SCC));
    ck_assert(!has(b->in.sgpr, BLOCK_SCC)); /* the block itself has set it */
    ck_assert(has(b->in.sgpr, ISA_SEL_VCC_LO) && has(b->in.sgpr, ISA_SEL_EXEC_LO));
    const struct block *end = program_block(p, &p->uops[at[6]]);
    ck_assert_ptr_nonnull(end);
    ck_assert_uint_eq(end->flags, BLOCK_STOPS);
    program_put(p);
}
END_TEST

/* ---- who runs ----------------------------------------------------------------------
 */

struct switches {
    struct program *p;
    uint64_t last_pc;
    unsigned last_wave, n, inside; /* changes of waves; those inside of a block */
};

static void watch(void *ctx, const struct emu_event *e)
{
    struct switches *s = ctx;
    if (s->last_pc && e->wave->wave != s->last_wave) {
        s->n++;
        s->inside += s->p->uops[(s->last_pc - s->p->base) / 4].run != 1;
    }
    s->last_pc = e->inst->pc;
    s->last_wave = e->wave->wave;
}

static rd_status dispatch(unsigned waves, unsigned vgpr_blocks, struct emu_fault *fault,
                          struct emu_stats *stats)
{
    struct emu_dispatch d = {.entry = (uint64_t)(uintptr_t)code,
                             .groups = {1, 1, 1},
                             .block = {32 * waves, 1, 1},
                             .rsrc1 = (vgpr_blocks - 1) | 0xf0u << 12};
    return emu_run(emu, &d, fault, stats);
}

START_TEST(waves_change_between_blocks)
{
    put("s_movk_i32 s0, 1000");
    for (unsigned i = 0; i < 37; i++) /* a turn is no multiple of the loop */
        put("v_add_f32 v1, v1, v1");
    put("s_sub_u32 s0, s0, 1");
    put("s_cmp_lg_u32 s0, 0");
    char text[32];
    snprintf(text, sizeof text, "s_cbranch_scc1 %d",
             ((int)at[1] - (int)(n_dwords + 1)) & 0xffff);
    put(text);
    put("s_endpgm");
    struct program *p = program_of(8);
    struct switches s = {.p = p};
    struct emu_observer observer = {.ctx = &s, .step = watch};
    struct emu_stats plain = {0}, watched = {0};
    ck_assert_int_eq(dispatch(4, 1, NULL, &plain), RD_OK);
    ck_assert_int_eq(emu_add_observer(emu, &observer), RD_OK);
    ck_assert_int_eq(dispatch(4, 1, NULL, &watched), RD_OK);
    ck_assert_uint_gt(s.n, 8);
    ck_assert_uint_eq(s.inside, 0);
    ck_assert_uint_eq(plain.instructions, 4 * (1 + 1000 * 40 + 1));
    ck_assert_uint_eq(watched.instructions, plain.instructions);
    program_put(p);
}
END_TEST

static uint64_t counted[ISA_OP_COUNT];

static void count(void *ctx, unsigned op, uint64_t n)
{
    (void)ctx;
    counted[op] = n;
}

/* A fault in the middle of a block: what lies behind it has not been executed. */
START_TEST(counts_by_block)
{
    put("v_mov_b32 v0, 0");
    put("v_mov_b32 v1, 0");
    put("global_load_b32 v2, v[0:1], off");
    put("v_mov_b32 v3, 0");
    put("s_endpgm");
    struct emu_fault fault;
    struct emu_stats stats = {0};
    ck_assert_int_eq(dispatch(1, 1, &fault, &stats), RD_E_FAULT);
    ck_assert_int_eq(fault.kind, EMU_FAULT_UNMAPPED);
    ck_assert_uint_eq(stats.instructions, 3);
    memset(counted, 0, sizeof counted);
    emu_count_each(emu, count, NULL);
    ck_assert_uint_eq(counted[ISA_V_MOV_B32], 2);
    ck_assert_uint_eq(counted[ISA_GLOBAL_LOAD_B32], 1);
    ck_assert_uint_eq(counted[ISA_S_ENDPGM], 0);
}
END_TEST

/* Dispatches that want their opcodes counted, between others, with native code and
 * without: each gets its own. */
START_TEST(counts_by_dispatch)
{
    teardown();
    for (unsigned hot = 0; hot < 2; hot++) {
        struct emu_config config = {.threads = 2, .native_hot = hot};
        uint64_t executed[ISA_OP_COUNT] = {0};
        setup_with(&config);
        put("s_mov_b32 s4, 50");
        put("v_mov_b32 v1, v0");
        put("s_sub_u32 s4, s4, 1");
        put("s_cmp_lg_u32 s4, 0");
        put("s_cbranch_scc1 0xfffc");
        put("s_endpgm");
        for (unsigned i = 0; i < 8; i++) {
            struct emu_dispatch d = {.entry = (uint64_t)(uintptr_t)code,
                                     .groups = {8, 1, 1},
                                     .block = {64, 1, 1},
                                     .rsrc1 = 1,
                                     .executed = i % 2 ? executed : NULL};
            struct emu_fault fault;
            ck_assert_int_eq(emu_run(emu, &d, &fault, NULL), RD_OK);
            uint64_t waves = (i + 1) / 2 * 16;
            ck_assert_uint_eq(executed[ISA_V_MOV_B32], waves * 50);
            ck_assert_uint_eq(executed[ISA_S_CBRANCH_SCC1], waves * 50);
            ck_assert_uint_eq(executed[ISA_S_ENDPGM], waves);
        }
        teardown();
    }
    setup();
}
END_TEST

/* ---- registers ---------------------------------------------------------------------
 */

START_TEST(vgprs_beyond_the_descriptor)
{
    put("v_mov_b32 v15, 1");
    put("v_mov_b32 v16, 1");
    put("s_endpgm");
    struct emu_fault fault = {0};
    ck_assert_int_eq(dispatch(1, 2, &fault, NULL), RD_E_FAULT); /* 16 of them */
    ck_assert_int_eq(fault.kind, EMU_FAULT_REGISTER);
    ck_assert_uint_eq(fault.pc, (uint64_t)(uintptr_t)(code + at[1]));
    ck_assert_str_eq(fault.detail, "the descriptor allocates v0 to v15");
    ck_assert_int_eq(dispatch(1, 3, &fault, NULL), RD_OK); /* the same code, 24 */
}
END_TEST

START_TEST(a_tuple_that_begins_within)
{
    put("v_mov_b32 v0, 0");
    put("v_mov_b32 v1, 0");
    put("global_store_b64 v[0:1], v[7:8], off");
    put("s_endpgm");
    struct emu_fault fault = {0};
    ck_assert_int_eq(dispatch(1, 1, &fault, NULL), RD_E_FAULT);
    ck_assert_int_eq(fault.kind, EMU_FAULT_REGISTER);
}
END_TEST

START_TEST(m0_leads_beyond)
{
    put("s_mov_b32 m0, 8");
    put("v_movrels_b32 v0, v0");
    put("s_endpgm");
    struct emu_fault fault = {0};
    ck_assert_int_eq(dispatch(1, 1, &fault, NULL), RD_E_FAULT);
    ck_assert_int_eq(fault.kind, EMU_FAULT_REGISTER);
    ck_assert_int_eq(dispatch(1, 2, &fault, NULL), RD_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blocks");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, where_they_end);
    tcase_add_test(tcase, straight_code_is_cut);
    tcase_add_test(tcase, what_they_read_and_write);
    tcase_add_test(tcase, waves_change_between_blocks);
    tcase_add_test(tcase, counts_by_block);
    tcase_add_test(tcase, counts_by_dispatch);
    tcase_add_test(tcase, vgprs_beyond_the_descriptor);
    tcase_add_test(tcase, a_tuple_that_begins_within);
    tcase_add_test(tcase, m0_leads_beyond);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
