/* test_file.c: a file that is being written when a signal comes.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "cli.h"

static void handler(int number)
{
    (void)number;
}

static unsigned files(const char *folder)
{
    unsigned n = 0;
    DIR *d = opendir(folder);
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

/* The process that writes: 0 if the file is written whole, else the signal ends it. */
static void write_until(const char *path, int number, void (*before)(int))
{
    struct cli_output o;
    (void)signal(number, before);
    FILE *f = cli_output_begin(&o, path);
    if (!f)
        _exit(1);
    (void)fputs("new", f);
    (void)raise(number);
    if (cli_output_end(&o, true) != RD_OK)
        _exit(2);
    struct sigaction now;
    if (sigaction(number, NULL, &now) != 0 || now.sa_handler != before)
        _exit(3);
    _exit(0);
}

/* What its file has afterwards, and how the process ended. */
static void try_signal(int number, void (*before)(int), const char *want, bool dies)
{
    char folder[] = "/tmp/rdna3-file-XXXXXX", path[64], got[8] = "";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/file", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs("old", f), 0);
    ck_assert_int_eq(fclose(f), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        write_until(path, number, before);
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    if (dies)
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == number);
    else
        ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(files(folder), 1);
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(got, sizeof got, f));
    (void)fclose(f);
    ck_assert_str_eq(got, want);
    (void)unlink(path);
    (void)rmdir(folder);
}

START_TEST(ends)
{
    static const int numbers[] = {SIGTERM, SIGHUP, SIGINT};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        try_signal(numbers[i], SIG_DFL, "old", true);
        try_signal(numbers[i], SIG_IGN, "new", false);
        try_signal(numbers[i], handler, "new", false);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("file");
    TCase *tc = tcase_create("signals");
    tcase_add_test(tc, ends);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
