/* suite.h: run the suite of a Check program and say how it ended.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>

/* Run all tests of `suite`, which is freed, each in a process of its own unless
 * CK_FORK=no, as loud as CK_VERBOSITY says. Returns the exit status of the program: 0
 * if all passed, else 1. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

/* The same in this process: for tests that share a device, files or what runs at exit.
 */
static inline int suite_run_here(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
