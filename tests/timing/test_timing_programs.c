/* test_timing_programs.c: dispatches that run more than one program: a call into
 * another region of code, a trap handler. Classes belong to instructions, cycles do not
 * depend on where the host put the code, and a recording names what ran.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../suite.h"
#include "timeline.h"
#include "timing.h"

#define PAGE   4096u
#define REGION (64u * PAGE) /* of the kernel: much more than it needs */
#define TRIPS  4u
#define MOST   512u

/* Calls, traps, goes round four times. */
static const uint32_t kernel[] = {
    0xd72c0001, 0x00020501, /* v_mul_lo_u32 v1, v1, v2 */
    0x800c810c,             /* s_add_u32 s12, s12, 1 */
    0xbe884904,             /* s_swappc_b64 s[8:9], s[4:5] */
    0xbf900001,             /* s_trap 1 */
    0xbe807f00,             /* no instruction: an exception */
    0x06060903,             /* v_add_f32 v3, v3, v4 */
    0xbf07840c,             /* s_cmp_lg_u32 s12, 4 */
    0xbfa2fff7,             /* s_cbranch_scc1 to the beginning */
    0xbfb00000,             /* s_endpgm */
};
static const uint8_t kernel_class[] = {TM_VALU, TM_SALU, TM_SALU,   TM_BRANCH, TM_SALU,
                                       TM_VALU, TM_SALU, TM_BRANCH, TM_IMM};
static const uint32_t callee[] = {
    0xbf800000,             /* s_nop 0 */
    0x06060903,             /* v_add_f32 v3, v3, v4 */
    0x06060903, 0x7e0a4b06, /* v_exp_f32 v5, v6 */
    0xbe804808,             /* s_setpc_b64 s[8:9] */
};
static const uint8_t callee_class[] = {TM_IMM, TM_VALU, TM_VALU, TM_VALU, TM_SALU};
static const uint32_t handler[] = {
    0x806c846c,             /* s_add_u32 ttmp0, ttmp0, 4 */
    0x826d806d,             /* s_addc_u32 ttmp1, ttmp1, 0 */
    0x8b6dff6d, 0x0000ffff, /* s_and_b32 ttmp1, ttmp1, 0xffff */
    0xbe804a6c,             /* s_rfe_b64 ttmp[0:1] */
};

struct step {
    uint64_t pc;
    int64_t t, exec;
    uint32_t offset;
    uint8_t cls, pipe;
};

static struct seen {
    struct step step[MOST];
    unsigned n;
    uint64_t code_misses;
} seen;

static void on_step(void *ctx, const struct tm_step *s)
{
    struct seen *out = ctx;
    ck_assert_uint_lt(out->n, MOST);
    out->step[out->n++] =
        (struct step){s->inst->pc, s->t, s->exec, s->offset, s->cls, s->pipe};
}

static void on_sample(void *ctx, const struct tm_sample *s)
{
    ((struct seen *)ctx)->code_misses = s->count[TM_K_CODE_MISS];
}

static uint64_t place(struct emu *emu, uint8_t *at, size_t bytes, const uint32_t *code,
                      size_t n)
{
    static const uint32_t nop = 0xbf800000;
    ck_assert_int_eq(mprotect(at, bytes, PROT_READ | PROT_WRITE), 0);
    for (size_t i = 0; i < bytes; i += 4)
        memcpy(at + i, &nop, 4);
    memcpy(at, code, n);
    ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)at, bytes,
                                 EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                     RD_OK);
    return (uint64_t)(uintptr_t)at;
}

/* Run it with the callee and the handler so many pages behind the kernel; with an
 * observer, or into out. */
static void run(unsigned callee_page, unsigned handler_page, struct tl_writer *writer,
                uint64_t base[3])
{
    size_t all = (size_t)256 << 20;
    uint8_t *p =
        mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    struct emu *emu;
    struct tm_engine *t;
    struct emu_fault fault;
    ck_assert_int_eq(emu_create(&(struct emu_config){.threads = 1}, &emu), RD_OK);
    base[0] = place(emu, p, REGION, kernel, sizeof kernel);
    base[1] = place(emu, p + (size_t)callee_page * PAGE, PAGE, callee, sizeof callee);
    base[2] =
        place(emu, p + (size_t)handler_page * PAGE, PAGE, handler, sizeof handler);
    struct emu_queue queue = {.tba = base[2]};
    struct emu_dispatch d = {
        .entry = base[0],
        .groups = {1, 1, 1},
        .block = {32, 1, 1},
        .rsrc1 = 1u | 0xf0u << 12,
        .n_user_sgprs = 6,
        .user_sgpr = {[4] = (uint32_t)base[1], [5] = (uint32_t)(base[1] >> 32)},
        .queue = &queue};
    struct tm_config config = {.sclk_mhz = 2000};
    ck_assert_int_eq(tm_create(&config, &t), RD_OK);
    /* An instruction cache in which two pages of different parity do not meet. */
    ck_assert_int_eq(tm_set(t, "icache_ways", 1), RD_OK);
    ck_assert_int_eq(tm_set(t, "icache_bytes", 2 * PAGE), RD_OK);
    memset(&seen, 0, sizeof seen);
    struct tm_observer own = {
        .ctx = &seen, .sample_cycles = 64, .step = on_step, .sample = on_sample};
    struct tm_observer recorder = writer ? tl_observer(writer) : own;
    tm_observe(t, &recorder);
    ck_assert_int_eq(tm_run(t, emu, &d, &fault, NULL), RD_OK);
    tm_destroy(t);
    emu_destroy(emu);
    munmap(p, all);
}

/* Which instruction of code a step is, or -1. */
static int which(const struct step *s, uint64_t base, const uint32_t *code,
                 size_t words)
{
    int n = 0;
    for (size_t i = 0; i < words; n++) {
        if (s->pc == base + 4 * i)
            return n;
        i += code[i] >> 16 == 0xd72c || code[i] == 0x8b6dff6d ? 2 : 1;
    }
    return -1;
}

START_TEST(classes_are_of_the_program)
{
    uint64_t base[3];
    unsigned called = 0, trapped = 0, own = 0;
    run(1000, 2000, NULL, base);
    for (unsigned i = 0; i < seen.n; i++) {
        const struct step *s = &seen.step[i];
        int n = which(s, base[0], kernel, sizeof kernel / 4);
        if (n >= 0) {
            own++;
            ck_assert_uint_eq(s->cls, kernel_class[n]);
            ck_assert_uint_eq(s->pipe, n == 0 ? TM_PIPE_QUARTER : TM_PIPE_PLAIN);
            ck_assert_uint_eq(s->offset, s->pc - base[0]);
            continue;
        }
        ck_assert_uint_ge(s->offset, TM_OTHER_CODE);
        n = which(s, base[1], callee, sizeof callee / 4);
        if (n >= 0) {
            called++;
            ck_assert_uint_eq(s->cls, callee_class[n]);
            ck_assert_uint_eq(s->pipe, n == 3 ? TM_PIPE_TRANS : TM_PIPE_PLAIN);
            continue;
        }
        trapped++;
        ck_assert_int_ge(which(s, base[2], handler, sizeof handler / 4), 0);
        ck_assert_uint_eq(s->cls, TM_SALU);
    }
    ck_assert_uint_eq(own, TRIPS * 8 + 1);
    ck_assert_uint_eq(called, TRIPS * 5);
    ck_assert_uint_eq(trapped, TRIPS * 4 * 2);
    ck_assert_uint_gt(seen.code_misses, 0);
    ck_assert_uint_lt(seen.code_misses, 64); /* not the rest of the region */
}
END_TEST

START_TEST(cycles_do_not_depend_on_where_code_lies)
{
    static const unsigned pages[][2] = {{1000, 2000}, {1001, 2000}, {1000, 2001},
                                        {65, 64},     {60001, 300}, {64, 65}};
    uint64_t base[3];
    run(pages[0][0], pages[0][1], NULL, base);
    struct seen first = seen;
    for (unsigned k = 1; k < sizeof pages / sizeof *pages; k++) {
        run(pages[k][0], pages[k][1], NULL, base);
        ck_assert_uint_eq(seen.n, first.n);
        ck_assert_uint_eq(seen.code_misses, first.code_misses);
        for (unsigned i = 0; i < seen.n; i++) {
            ck_assert_int_eq(seen.step[i].t, first.step[i].t);
            ck_assert_int_eq(seen.step[i].exec, first.step[i].exec);
            ck_assert_uint_eq(seen.step[i].offset, first.step[i].offset);
        }
    }
}
END_TEST

/* Times of an instruction by its text in a recording: how often it issued. */
static unsigned issues(const struct timeline *tl, const char *text)
{
    unsigned n = 0;
    for (size_t k = 0; k < tl->n_waves; k++) {
        const struct tl_wave *w = &tl->wave[k];
        for (uint32_t i = 0; i < w->n_segs; i++) {
            const struct tl_inst *inst = tl_inst(tl, w, w->seg[i].inst);
            if (w->seg[i].why == TM_S_NONE && inst && strcmp(inst->text, text) == 0)
                n++;
        }
    }
    return n;
}

START_TEST(recordings_tell_programs_apart)
{
    char path[] = "/tmp/rdna3-programs-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    struct tl_writer *writer;
    struct tl_error err;
    struct timeline *tl;
    uint64_t base[3];
    ck_assert_int_eq(tl_create(path, NULL, &writer, &err), RD_OK);
    run(1000, 2000, writer, base);
    ck_assert_int_eq(tl_close(writer, &err), RD_OK);
    ck_assert_int_eq(tl_read(path, &tl, &err), RD_OK);
    unlink(path);
    ck_assert_uint_eq(tl->n_steps, TRIPS * (8 + 5 + 4 * 2) + 1);
    ck_assert_uint_eq(issues(tl, "v_mul_lo_u32 v1, v1, v2"), TRIPS);
    ck_assert_uint_eq(issues(tl, "v_add_f32_e32 v3, v3, v4"), 3 * TRIPS);
    ck_assert_uint_eq(issues(tl, "v_exp_f32_e32 v5, v6"), TRIPS);
    ck_assert_uint_eq(issues(tl, "s_add_u32 ttmp0, ttmp0, 4"), 2 * TRIPS);
    ck_assert_uint_eq(issues(tl, "s_endpgm"), 1);
    tl_free(tl);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timing_programs");
    TCase *tests = tcase_create("programs");
    tcase_add_test(tests, classes_are_of_the_program);
    tcase_add_test(tests, cycles_do_not_depend_on_where_code_lies);
    tcase_add_test(tests, recordings_tell_programs_apart);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
