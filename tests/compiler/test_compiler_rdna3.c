/* test_compiler_rdna3.c: kernels as gfx1100 code, run on the emulator.
 *
 * The same expressions as test_compiler_tensor.c, assembled by this project's
 * assembler. SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exprs.h"
#include "gpu.h"
#include "graph.h"

/* All of them run in test_realize.c; here also where that cannot, with sanitizers. */
#ifdef RD_CHECKS
#define STEP 7
#else
#define STEP 3
#endif

START_TEST(gfx1100_agrees)
{
    unsigned from = 0, to = exprs_count(), wrong = 0;
    if (getenv("CC_EXPR")) {
        from = (unsigned)atoi(getenv("CC_EXPR"));
        to = from + 1;
    }
    for (unsigned i = from; i < to; i += STEP) {
        struct cc_context *c;
        char name[64], text[512];
        ck_assert_int_eq(cc_context_create(gpu_run, NULL, &c), RD_OK);
        cc_ref x = exprs_build(c, i, name);
        exprs_check(c, x, 2e-5, text);
        if (text[0]) {
            fprintf(stderr, "%u, %s: %s\n", i, name, text);
            wrong++;
        }
        cc_context_destroy(c);
    }
    ck_assert_msg(wrong == 0, "%u of %u expressions", wrong, (to - from) / STEP);
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
