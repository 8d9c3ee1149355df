/* test_compiler_rdna3.c: kernels as gfx1100 code, run on the emulator.
 *
 * The same expressions as test_compiler_tensor.c, assembled by this project's
 * assembler. SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "emu.h"
#include "exprs.h"
#include "graph.h"
#include "launch.h"

static char last_asm_error[400];
static struct emu_stats stats;

static void on_message(void *ctx, const struct asm_message *m)
{
    (void)ctx;
    if (!last_asm_error[0])
        snprintf(last_asm_error, sizeof last_asm_error, "line %u: %s: %.*s", m->line,
                 m->text, (int)m->source_len, m->source ? m->source : "");
}

static rd_status launch(const struct cc_prog *p, const struct asm_result *elf,
                        size_t n_args, const struct cc_arg_buffer *args, char *error)
{
    struct emu_config config = {.threads = 1};
    struct la_error err = {{0}};
    struct la *la;
    struct la_kernel kernel;
    struct la_arg list[64];
    void *memory[64];
    struct emu_dispatch dispatch;
    struct emu_fault fault;
    struct la_shape shape = {{0}, {0}, 0};
    rd_status st = la_create(&config, &la, &err);
    ck_assert_int_eq(st, RD_OK);
    cc_prog_launch(p, shape.groups, shape.block);
    for (size_t i = 0; i < n_args && st == RD_OK; i++) {
        st = la_alloc(la, args[i].bytes ? args[i].bytes : 1,
                      EMU_MEM_READ | EMU_MEM_WRITE, "argument", &memory[i], &err);
        if (st == RD_OK)
            memcpy(memory[i], args[i].data, args[i].bytes);
        list[i] = (struct la_arg){LA_POINTER, &memory[i], 8, "buffer"};
    }
    if (st == RD_OK)
        st = la_load_object(la, elf->data, elf->bytes, NULL, &kernel, &err);
    if (st == RD_OK)
        st = la_prepare(la, &kernel, &shape, list, (unsigned)n_args, &dispatch, &err);
    if (st == RD_OK) {
        st = emu_run(la_emu(la), &dispatch, &fault, &stats);
        if (st == RD_E_FAULT)
            emu_fault_text(&fault, err.text, sizeof err.text);
    }
    for (size_t i = 0; i < n_args && st == RD_OK; i++)
        memcpy(args[i].data, memory[i], args[i].bytes);
    if (st != RD_OK)
        snprintf(error, 256, "%.250s", err.text);
    la_destroy(la);
    return st;
}

static rd_status run_rdna3(void *user, const struct cc_prog *p, size_t n_args,
                           const struct cc_arg_buffer *args, char *error)
{
    struct asm_options options = {.message = on_message};
    struct asm_result elf;
    char *text;
    (void)user;
    rd_status st = cc_rdna3(p, &text, error);
    if (st != RD_OK)
        return st;
    if (getenv("CC_SHOW"))
        fputs(text, stderr);
    last_asm_error[0] = 0;
    st = asm_assemble(text, strlen(text), &options, &elf);
    free(text);
    if (st != RD_OK) {
        snprintf(error, 256, "assembler: %.230s", last_asm_error);
        return st;
    }
    st = launch(p, &elf, n_args, args, error);
    free(elf.data);
    return st;
}

/* Not on gfx1100 yet: transcendental functions and division of f64, division of 64-bit
 * integers. */
static bool is_known_gap(const char *text)
{
    return strstr(text, "has no form for") != NULL;
}

START_TEST(gfx1100_agrees)
{
    unsigned from = 0, to = exprs_count(), gaps = 0, wrong = 0;
    if (getenv("CC_EXPR")) {
        from = (unsigned)atoi(getenv("CC_EXPR"));
        to = from + 1;
    }
    for (unsigned i = from; i < to; i++) {
        struct cc_context *c;
        char name[64], text[512];
        ck_assert_int_eq(cc_context_create(run_rdna3, NULL, &c), RD_OK);
        cc_ref x = exprs_build(c, i, name);
        exprs_check(c, x, 2e-5, text);
        if (text[0] && is_known_gap(text))
            gaps++;
        else if (text[0]) {
            fprintf(stderr, "%u, %s: %s\n", i, name, text);
            wrong++;
        }
        cc_context_destroy(c);
    }
    ck_assert_msg(wrong == 0, "%u of %u expressions", wrong, to - from);
    ck_assert_uint_lt(gaps, 5);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rdna3");
    TCase *t = tcase_create("expressions");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, gfx1100_agrees);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
