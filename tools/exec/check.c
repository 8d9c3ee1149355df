/* check.c: rdna3 check: run a program with the mock GPU visible and its kernels
 * checked.
 *
 * Must not know how programs are run (exec.c) nor what checkers look for. Findings come
 * back in a file that the program's processes share. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checked.h"
#include "cli.h"
#include "cmd.h"
#include "kept.h"
#include "objects.h"

static const char help_head[] =
    "usage: rdna3 check [OPTION...] -- COMMAND [ARG...]\n"
    "\n"
    "Runs an unmodified program with the mock gfx1100 visible (as rdna3 exec does) "
    "and\n"
    "looks for mistakes in every kernel that it starts. What is found goes to stderr\n"
    "when the program has ended, a summary last. SIGINT tells where the waves are.\n"
    "\n"
    "  --check LIST       all but value (the default), or some with commas:\n";
static const char help_tail[] =
    "  --keep-going       do not fail the dispatch of the first error; lanes that "
    "must\n"
    "                     not touch memory are kept from it\n"
    "  --race-lanes       work-items of one wave race, too, as languages have it: "
    "their\n"
    "                     running in step is no order\n"
    "  --error-exitcode N exit status if something is found (default 1); else it is\n"
    "                     the program's\n"
    "  --json FILE, --xml FILE, --sarif FILE   findings as JSON, JUnit's XML, SARIF\n"
    "                     (-: stdout)\n"
    "  --suppressions FILE      findings not to tell, one a line:\n"
    "                     CLASS[/KIND] [kernel=PATTERN] [source=PATTERN[:LINE]]\n"
    "                     [inst=PATTERN]\n"
    "  --gen-suppressions FILE  write such lines for what is found\n"
    "  --leak-check       memory of HIP, OpenCL or ROCr that the program does not free "
    "is\n"
    "                     an error; else it is counted\n"
    "  --code FILE        a code object that the program loads, for source lines (what "
    "it gives\n"
    "                     to ROCr, as HIP and OpenCL do, is known)\n"
    "  --hazard SEED      with wait: what loads bring arrives when it is waited for, "
    "but\n"
    "                     for some of it; until then registers keep what they had\n"
    "  --seed N           another order in which waves and workgroups take turns\n"
    "                     (default 0), for races and hangs that not every order "
    "shows;\n"
    "                     the same number is the same order\n"
    "  --watchdog N       instructions of a wave without a barrier that are a hang\n"
    "                     (default 134217728)\n"
    "  --root DIR         run inside DIR as root directory\n"
    "  --vram SIZE, --emu-mode N   as for rdna3 exec\n"
    "\n"
    "What a program takes from HIP, OpenCL or ROCr is known by the byte, with its "
    "maker, and\n"
    "stays away from other uses for a while when it is freed. Of programs that ask "
    "the\n"
    "kernel driver themselves pages are known: what leaves a buffer but not its last "
    "page\n"
    "is not seen, unless they tell (rdna3/client.h). rdna3 run --check knows buffers "
    "by\n"
    "the byte.\n";

enum { OPT_HELP = 256, OPT_CODE, OPT_ROOT, OPT_LEAKS, OPT_VRAM, OPT_EMU_MODE };

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"check", required_argument, NULL, CHECKS_OPT_LIST},
    {"keep-going", no_argument, NULL, CHECKS_OPT_KEEP_GOING},
    {"race-lanes", no_argument, NULL, CHECKS_OPT_LANES},
    {"error-exitcode", required_argument, NULL, CHECKS_OPT_ERROR_EXIT},
    {"watchdog", required_argument, NULL, CHECKS_OPT_WATCHDOG},
    {"hazard", required_argument, NULL, CHECKS_OPT_HAZARD},
    {"seed", required_argument, NULL, CHECKS_OPT_SEED},
    {"json", required_argument, NULL, CHECKS_OPT_JSON},
    {"xml", required_argument, NULL, CHECKS_OPT_XML},
    {"sarif", required_argument, NULL, CHECKS_OPT_SARIF},
    {"suppressions", required_argument, NULL, CHECKS_OPT_SUPPRESSIONS},
    {"gen-suppressions", required_argument, NULL, CHECKS_OPT_GEN_SUPPRESSIONS},
    {"code", required_argument, NULL, OPT_CODE},
    {"root", required_argument, NULL, OPT_ROOT},
    {"leak-check", no_argument, NULL, OPT_LEAKS},
    {"vram", required_argument, NULL, OPT_VRAM},
    {"emu-mode", required_argument, NULL, OPT_EMU_MODE},
    {NULL, 0, NULL, 0},
};

static int add_object(struct checked *c, const char *path)
{
    void *data;
    size_t bytes;
    if (c->n_objects == CHECKED_OBJECTS)
        return cli_error(CLI_USAGE, "--code: at most %u files", CHECKED_OBJECTS);
    int status = objects_read("--code", path, &data, &bytes);
    if (status != CLI_OK)
        return status;
    c->object[c->n_objects++] =
        (struct checks_object){.path = path, .data = data, .bytes = bytes};
    return CLI_OK;
}

static int take(struct checked *c, int argc, char **argv, bool *helped)
{
    int option, index = 0;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, "+:h", long_options, &index)) != -1) {
        int status = CLI_OK;
        if (option == OPT_HELP || option == 'h') {
            (void)fputs(help_head, stdout);
            checks_print_classes();
            (void)fputs(help_tail, stdout);
            *helped = true;
            return CLI_OK;
        }
        if (option == '?' || option == ':')
            return cli_option_error(argc, argv, option, long_options);
        if (optarg && strcmp(argv[optind - 1], "--") == 0) /* the command is behind */
            return cli_error(CLI_USAGE, "option '%s' needs a value", argv[optind - 2]);
        if (option == OPT_CODE)
            status = add_object(c, optarg);
        else if (option == OPT_ROOT)
            c->root = c->options.root = optarg;
        else if (option == OPT_LEAKS)
            c->options.leaks = true;
        else if (option == OPT_VRAM)
            status = exec_vram(optarg, &c->vram);
        else if (option == OPT_EMU_MODE)
            status = exec_emu_mode(optarg, &c->emu_mode);
        else
            status =
                checks_option(&c->options, option, long_options[index].name, optarg);
        if (status != CLI_OK)
            return status;
    }
    if (optind == argc)
        return cli_error(CLI_USAGE, "no command given (see rdna3 check --help)");
    if (!c->options.classes)
        c->options.classes = ck_classes_usual();
    if (c->options.hazard && !(c->options.classes & CK_BIT(CK_WAIT)))
        return cli_error(CLI_USAGE, "--hazard goes with --check wait");
    const char *const path[] = {c->options.json, c->options.xml, c->options.sarif,
                                c->options.gen_suppressions};
    int status = CLI_OK;
    for (unsigned i = 0; status == CLI_OK && i < sizeof path / sizeof path[0]; i++)
        status = cli_check_writable(path[i]);
    return status;
}

static struct ck_table *map_table(int fd)
{
    void *table =
        mmap(NULL, sizeof(struct ck_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return table == MAP_FAILED ? NULL : table;
}

int checked_begin(struct checked *c, const char *path)
{
    struct ck_table *table = NULL;
    c->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c->fd >= 0 && fchmod(c->fd, 0666) == 0 &&
        ftruncate(c->fd, sizeof(struct ck_table)) == 0)
        table = map_table(c->fd);
    if (!table)
        return cli_error(CLI_FAILED, "%s: %s", path, strerror(errno));
    table->want_classes = c->options.classes;
    table->keep_going = c->options.keep_going;
    table->watchdog = c->options.watchdog;
    table->lanes = c->options.lanes;
    table->leaks = c->options.leaks;
    table->hazard = c->options.hazard;
    table->seed = c->options.seed;
    table->hazard_seed = c->options.hazard_seed;
    atomic_store(&table->classes, c->options.classes);
    munmap(table, sizeof *table);
    return CLI_OK;
}

/* The code objects that the program has left in the state folder. */
static void add_loaded(struct checked *c, const char *state)
{
    char path[PATH_MAX];
    void *data;
    size_t bytes;
    for (unsigned i = 0; i < CHECKED_LOADED; i++) {
        (void)snprintf(path, sizeof path, "%s/" KEPT_CODE_FILE, state, i);
        if (cli_read_file(path, &data, &bytes) != RD_OK)
            return;
        c->object[c->n_objects++] = (struct checks_object){
            .path = "(the program's)", .data = data, .bytes = bytes};
    }
}

int checked_end(struct checked *c, const char *state, int status, bool began)
{
    struct ck_table *table = began ? map_table(c->fd) : NULL;
    if (!began) {
        close(c->fd);
        return status;
    }
    if (!table)
        return cli_error(CLI_FAILED, "findings: %s", strerror(errno));
    add_loaded(c, state);
    status = checks_report(&c->options, c->suppressions, table, c->object, c->n_objects,
                           status);
    munmap(table, sizeof *table);
    close(c->fd);
    return status;
}

int cmd_check(int argc, char **argv)
{
    struct checked c = {.options = CHECKS_DEFAULTS};
    bool helped = false;
    int status = take(&c, argc, argv, &helped);
    if (status == CLI_OK && !helped)
        status = checks_read_suppressions(&c.options, &c.suppressions);
    if (status == CLI_OK)
        status = helped ? cli_finish(CLI_OK) : exec_checked(&c, argv + optind);
    checks_free(c.suppressions);
    for (unsigned i = 0; i < c.n_objects; i++)
        free((void *)c.object[i].data);
    return status;
}
