/* test_compiler_rdna3.c: kernels as gfx1100 code, run on the emulator.
 *
 * The same expressions as test_compiler_tensor.c, assembled by this project's
 * assembler. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "exprs.h"
#include "gpu.h"
#include "graph.h"

/* All of them run in test_realize.c; here also where that cannot, with sanitizers. */
#ifdef RD_CHECKS
#define STEP 7
#else
#define STEP 3
#endif

static rd_status on_emulator(struct cc_context **c)
{
    return cc_context_create(gpu_run, NULL, c);
}

START_TEST(gfx1100_agrees)
{
    unsigned tried, wrong = exprs_check_all(STEP, 2e-5, on_emulator, &tried);
    ck_assert_msg(wrong == 0, "%u of %u expressions", wrong, tried);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rdna3");
    TCase *t = tcase_create("expressions");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, gfx1100_agrees);
    suite_add_tcase(s, t);
    return suite_run(s);
}
