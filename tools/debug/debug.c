/* debug.c: `rdna3 debug`: options, and where commands come from.
 *
 * SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "board.h"
#include "cmd.h"
#include "core.h"
#include "dap.h"
#include "edit.h"
#include "inferior.h"
#include "ui.h"

/* clang-format off */
static const char help[] =
    "usage: rdna3 debug CODE.elf [--kernel NAME] OPTION...\n"
    "       rdna3 debug --raw TEXT.bin [--kd KD.bin] [--entry-offset N] OPTION...\n"
    "       rdna3 debug [--code FILE] [--root DIR] OPTION... -- COMMAND [ARG...]\n"
    "       rdna3 debug --core FILE [-x FILE] [--batch]\n"
    "       rdna3 debug --dap [--port N]\n"
    "\n"
    "Debug one kernel, forwards and backwards, on the emulated gfx1100; or the kernels\n"
    "of an unmodified program (HIP, OpenCL, ROCr ...), run as rdna3 exec does; or look at\n"
    "a core file that --core of rdna3 run or exec has written. Commands come from the\n"
    "terminal, or from stdin: type help.\n"
    "\n"
    KERNEL_HELP
    KERNEL_HELP_HOW
    "  -x FILE              do the commands in FILE first\n"
    "  --batch              and then no others; exit status 1 if one of them failed\n"
    "  --core FILE          look at a core file\n"
    "  --code FILE          of a program: a code object that it loads (what it gives to\n"
    "                       ROCr, as HIP and OpenCL do, is known)\n"
    "  --root DIR           of a program: run it inside DIR as root directory\n"
    "  --dap                speak the Debug Adapter Protocol on stdin and stdout\n"
    "  --port N             the same on a TCP port of this machine, for one client\n"
    "\n"
    "A number is decimal or 0x hexadecimal.\n";
/* clang-format on */

enum { OPT_HELP = 256, OPT_BATCH, OPT_CORE, OPT_DAP, OPT_PORT, OPT_CODE, OPT_ROOT };

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    KERNEL_LONG_OPTIONS,
    {"batch", no_argument, NULL, OPT_BATCH},
    {"core", required_argument, NULL, OPT_CORE},
    {"code", required_argument, NULL, OPT_CODE},
    {"root", required_argument, NULL, OPT_ROOT},
    {"dap", no_argument, NULL, OPT_DAP},
    {"port", required_argument, NULL, OPT_PORT},
    {NULL, 0, NULL, 0},
};

struct debug_options {
    struct kernel_options k;
    const char *script, *core;
    bool batch, dap, helped;
    uint64_t port;
    struct inferior inferior; /* argv: NULL: no program is debugged */
};

static int take_option(struct debug_options *o, int option, const char *name)
{
    switch (option) {
    case OPT_HELP:
    case 'h':
        o->helped = true;
        return CLI_OK;
    case 'x':
        o->script = optarg;
        return CLI_OK;
    case OPT_BATCH:
        o->batch = true;
        return CLI_OK;
    case OPT_CORE:
        o->core = optarg;
        return CLI_OK;
    case OPT_CODE:
        return objects_add(&o->inferior.objects, "--code", optarg);
    case OPT_ROOT:
        o->inferior.how.root = optarg;
        return CLI_OK;
    case OPT_DAP:
        o->dap = true;
        return CLI_OK;
    case OPT_PORT:
        if (cli_parse_u64(optarg, &o->port) != RD_OK || !o->port || o->port > 65535)
            return cli_error(CLI_USAGE, "--port '%s': 1 to 65535", optarg);
        return CLI_OK;
    default:
        return kernel_option(&o->k, option, name);
    }
}

static int parse_options(struct debug_options *o, int argc, char **argv)
{
    int option, index = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":hx:", long_options, &index)) != -1) {
        if (option == '?' || option == ':')
            return cli_option_error(argc, argv, option, long_options);
        int status =
            take_option(o, option, option >= 256 ? long_options[index].name : "x");
        if (status != CLI_OK || o->helped)
            return status;
    }
    if (o->port && !o->dap)
        return cli_error(CLI_USAGE, "--port goes with --dap");
    bool program = optind > 0 && strcmp(argv[optind - 1], "--") == 0 && optind < argc;
    if (!program && (o->inferior.objects.n || o->inferior.how.root))
        return cli_error(CLI_USAGE, "--code and --root go with -- COMMAND");
    if (program && !o->dap && !o->core) {
        o->inferior.argv = argv + optind;
        return o->k.n_args || o->k.kernel || o->k.raw_path || o->k.have_block
                   ? cli_error(CLI_USAGE, "a program gives its kernels their arguments")
                   : CLI_OK;
    }
    if (o->dap || o->core) {
        if (optind < argc)
            return cli_error(CLI_USAGE, "unexpected '%s'", argv[optind]);
        if (o->dap && (o->core || o->script || o->batch))
            return cli_error(CLI_USAGE, "--dap goes without --core, -x and --batch");
        return CLI_OK;
    }
    return kernel_take_object(&o->k, argc, argv);
}

static struct session *interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    if (interrupted)
        interrupted->interrupted = 1;
}

/* Commands until there are no more. Returns an exit status. */
static int converse(struct ui *u, const struct debug_options *o)
{
    char line[1200], command[1024];
    bool terminal = isatty(STDIN_FILENO) && !o->batch, ok = true;
    if (o->script) {
        (void)snprintf(command, sizeof command, "source %.1000s", o->script);
        ok = ui_command(u, command);
    }
    if (o->batch)
        return ok ? CLI_OK : CLI_FAILED;
    if (terminal && !u->inferior)
        (void)ui_command(u, "info kernel");
    struct edit *e = edit_open(terminal, ui_complete);
    while (!u->quit && edit_line(e, "(rdna3) ", line, sizeof line)) {
        bool empty = !line[strspn(line, " \t")];
        if (terminal && empty)
            (void)snprintf(line, sizeof line, "%s", u->last);
        else if (terminal)
            (void)snprintf(u->last, sizeof u->last, "%.255s", line);
        if (u->session)
            u->session->interrupted = 0;
        ok &= ui_command(u, line);
        (void)fflush(u->out);
    }
    edit_close(e);
    return ok || terminal ? CLI_OK : CLI_FAILED;
}

static int debug_core(const struct debug_options *o)
{
    struct ui u = {.out = stdout, .batch = o->batch};
    int status = core_open(o->core, &u.core);
    if (status != CLI_OK)
        return status;
    u.target = core_target(u.core);
    u.program = core_program(u.core);
    struct tg_wave w;
    if (!core_culprit(u.core, &u.group, &u.wave, &u.lane) &&
        u.target->ops->wave(u.target->ctx, 0, &w)) {
        u.group = w.group;
        u.wave = w.wave;
    }
    fprintf(u.out, "core file: %s\n", core_reason(u.core));
    struct context c;
    if (ui_context(&u, &c))
        show_place(&u, c.wave.view.pc);
    status = converse(&u, o);
    core_close(u.core);
    return cli_finish(status);
}

static int debug_kernel(struct debug_options *o)
{
    struct session s;
    int status = session_begin(&s, &o->k);
    if (status == CLI_OK) {
        struct ui u = {.session = &s,
                       .target = &s.target,
                       .program = &s.program,
                       .out = stdout,
                       .batch = o->batch};
        interrupted = &s;
        (void)signal(SIGINT, on_interrupt);
        status = cli_finish(converse(&u, o));
        (void)signal(SIGINT, SIG_DFL);
        interrupted = NULL;
    }
    session_end(&s);
    return status;
}

/* Programs keep their memory high; so that there is none of ours, this one begins anew
 * with its own below. Where that is forbidden it stays as it is: regions that are in
 * the way are told. */
static void stand_aside(void)
{
#ifndef __SANITIZE_THREAD__
    static char line[65536];
    char *words[1024];
    void *data;
    size_t bytes, n = 0;
    int now = personality(0xffffffff);
    if (now < 0 || now & ADDR_COMPAT_LAYOUT ||
        personality((unsigned long)now | ADDR_COMPAT_LAYOUT) < 0)
        return;
    if (cli_read_file("/proc/self/cmdline", &data, &bytes) == RD_OK &&
        bytes < sizeof line) {
        memcpy(line, data, bytes);
        for (char *at = line; at < line + bytes && n < 1023; at += strlen(at) + 1)
            words[n++] = at;
        words[n] = NULL;
        if (n < 1023)
            (void)execv("/proc/self/exe", words);
    }
    (void)personality((unsigned long)now);
#endif
}

static int debug_program(struct debug_options *o)
{
    struct session s;
    session_idle(&s);
    o->inferior.how.vram = BOARD_VRAM_BYTES;
    struct ui u = {.session = &s,
                   .inferior = &o->inferior,
                   .target = &s.target,
                   .program = &s.program,
                   .out = stdout,
                   .batch = o->batch};
    interrupted = &s;
    struct sigaction action = {.sa_handler = on_interrupt};
    (void)sigaction(SIGINT, &action, NULL);
    int status = cli_finish(converse(&u, o));
    (void)signal(SIGINT, SIG_DFL);
    interrupted = NULL;
    inferior_end(&o->inferior, &s);
    session_end(&s);
    return status;
}

int cmd_debug(int argc, char **argv)
{
    struct debug_options o = {.k = KERNEL_DEFAULTS};
    int status = kernel_options_begin(&o.k, argc);
    if (status == CLI_OK)
        status = parse_options(&o, argc, argv);
    if (status == CLI_OK && o.helped) {
        fputs(help, stdout);
        status = cli_finish(CLI_OK);
    } else if (status == CLI_OK) {
        if (o.dap || o.inferior.argv)
            stand_aside();
        status = o.dap             ? dap_serve((unsigned)o.port)
                 : o.core          ? debug_core(&o)
                 : o.inferior.argv ? debug_program(&o)
                                   : debug_kernel(&o);
    }
    objects_free(&o.inferior.objects);
    kernel_options_end(&o.k);
    return status;
}
