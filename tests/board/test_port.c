/* test_port.c: the answer to QEMU's question whether the port above a device that has
 * no file takes atomics; what has a file is asked. SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "port.h"
#include "suite.h"

static int (*ask)(int fd, unsigned long request, ...);

static void setup(void)
{
    void *library = dlopen(PORT, RTLD_NOW | RTLD_LOCAL);
    ck_assert_ptr_nonnull(library);
    void *symbol = dlsym(library, "ioctl");
    Dl_info where;
    ck_assert_ptr_nonnull(symbol);
    ck_assert_int_ne(dladdr(symbol, &where), 0);
    ck_assert_ptr_nonnull(strstr(where.dli_fname, "port")); /* not libc's */
    memcpy(&ask, &symbol, sizeof(ask));
}

START_TEST(asked_twice)
{
    uint32_t small[6 + 2]; /* as QEMU's first question, and what must stay */
    struct port_answer all = {.argsz = sizeof(all)};
    memset(small, 0xee, sizeof(small));
    small[0] = 24;
    ck_assert_int_eq(ask(-1, PORT_GET_INFO, small), 0);
    ck_assert_uint_eq(small[0], sizeof(all));
    ck_assert_uint_eq(small[6], 0xeeeeeeee);
    ck_assert_int_eq(ask(-1, PORT_GET_INFO, &all), 0);
    ck_assert_uint_eq(all.argsz, sizeof(all));
    ck_assert_uint_eq(all.flags & PORT_HAS_CAPABILITIES, PORT_HAS_CAPABILITIES);
    const uint8_t *capability = (const uint8_t *)&all + all.first;
    const uint8_t wants[16] = {5, 0, 1, 0, 0, 0, 0, 0, 3};
    ck_assert_mem_eq(capability, wants, sizeof(wants));
}
END_TEST

START_TEST(others_are_asked)
{
    struct port_answer all = {.argsz = sizeof(all)};
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(ask(fd, PORT_GET_INFO, &all), -1);
    ck_assert_int_eq(errno, ENOTTY);
    ck_assert_int_eq(ask(-1, PORT_GET_INFO + 1, &all), -1);
    ck_assert_int_eq(errno, EBADF);
    close(fd);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("port");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, asked_twice);
    tcase_add_test(t, others_are_asked);
    suite_add_tcase(s, t);
    return suite_run(s);
}
