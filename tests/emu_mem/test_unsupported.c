/* test_unsupported.c: sem/unsupported.def lists exactly the instructions that have no
 * semantics function.
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "join.h"

static const struct {
    uint16_t op;
    const char *reason;
} listed[] = {
#define U(name, reason) {ISA_##name, reason},
#include "sem/unsupported.def"
#undef U
};

#define N_LISTED (sizeof listed / sizeof *listed)

START_TEST(list_is_exact)
{
    struct emu *emu;
    bool expected[ISA_OP_COUNT] = {false}, in_isa[ISA_OP_COUNT] = {false};
    unsigned wrong = 0;
    ck_assert_int_eq(emu_create(NULL, &emu), RD_OK);
    for (unsigned i = 0; i < isa_row_count(); i++)
        in_isa[isa_row(i)->op] = true;
    for (size_t i = 0; i < N_LISTED; i++) {
        ck_assert_msg(!expected[listed[i].op], "%s is listed twice",
                      isa_op_name(listed[i].op));
        ck_assert_uint_gt(strlen(listed[i].reason), 10);
        expected[listed[i].op] = true;
    }
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        bool missing = in_isa[op] && !emu->sem[op];
        if (missing == expected[op])
            continue;
        printf("%s %s\n", isa_op_name(op),
               missing ? "has no semantics and is not listed" : "has semantics now");
        wrong++;
    }
    ck_assert_uint_eq(wrong, 0);
    printf("%zu instructions without semantics\n", N_LISTED);
    emu_destroy(emu);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_unsupported");
    TCase *t = tcase_create("list");
    tcase_add_test(t, list_is_exact);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
