/* main.c: the rdna3 program: finds the subcommand and hands over.
 *
 * Must not know any subcommand's options. Invariant: one row per subcommand; what is
 * not in the table does not exist. SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cmd.h"
#include "near.h"
#include "version.h"
#include "viz.h"

struct command {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
    {"run", "run a kernel on the emulated gfx1100", cmd_run},
    {"asm", "assemble files, statements, or files of expected bytes", cmd_asm},
    {"dis", "disassemble code objects, raw code or hex bytes", cmd_dis},
#ifdef RDNA3_HAVE_COMPILE
    {"compile", "compile kernels written in UOps", cmd_compile},
#endif
#ifdef RDNA3_HAVE_EXEC
    {"exec", "run a program with the mock GPU visible", cmd_exec},
    {"check", "run a program and look for mistakes in its kernels", cmd_check},
#endif
#ifdef RDNA3_HAVE_DEVICE
    {"device", "be a board for a driver that programs its registers", cmd_device},
#endif
    {"debug", "debug a kernel, forwards and backwards", cmd_debug},
    {"timing", "score the timing model against captures of a real board", cmd_timing},
    {"trace", "list, compare and query recorded instructions", cmd_trace},
    {"viz", "show a timed run: the chip, waves over time, what they wait for", cmd_viz},
#ifdef RDNA3_HAVE_SWEEP
    {"sweep", "run a command over a matrix of parameters", cmd_sweep},
#endif
    {"bench", "measure how fast this program is on this host", cmd_bench},
    {"info", "show device parameters, host SIMD level and engines", cmd_info},
    {"doc", "show encodings, operands and semantics of an instruction", cmd_doc},
};

static void print_help(void)
{
    puts("usage: rdna3 COMMAND [OPTION...]\n"
         "       rdna3 COMMAND --help\n"
         "       rdna3 --help | --version\n"
         "\n"
         "An emulator of AMD RDNA3 (gfx1100) and its tools.\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].help);
    puts("\n"
         "Results go to stdout, diagnostics to stderr. Exit status: 0 done, 1 the "
         "guest\n"
         "failed or its input was rejected, 2 wrong usage.");
}

static int unknown_command(const char *name)
{
    struct rd_near near;
    rd_near_begin(&near, name, strlen(name));
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        rd_near_try(&near, commands[i].name);
    if (near.best)
        return cli_error(CLI_USAGE, "unknown command '%s'; did you mean %s?", name,
                         near.best);
    return cli_error(CLI_USAGE, "unknown command '%s' (see rdna3 --help)", name);
}

/* Of the standard files one may be closed: what is opened next must not be taken for
 * it, here or in a program that is run. What stands in for it fails like it. */
static void hold_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) < 0)
            return;
}

int main(int argc, char **argv)
{
    hold_standard_files();
    if (argc < 2) {
        print_help();
        return cli_error(CLI_USAGE, "no command given");
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
        strcmp(name, "help") == 0) {
        print_help();
        return cli_finish(CLI_OK);
    }
    if (strcmp(name, "--version") == 0) {
        puts(rd_version_text());
        return cli_finish(CLI_OK);
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return unknown_command(name);
}
