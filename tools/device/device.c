/* device.c: rdna3 device: the board at register level, for drivers of one's own or of a
 * guest.
 *
 * Must not know registers. Ends at SIGINT or SIGTERM with what was counted.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "board.h"
#include "cli.h"
#include "cmd.h"
#include "pci.h"
#include "remote.h"
#include "vfio_user.h"

static const char help[] =
    "usage: rdna3 device --remote PORT | --vfio-user SOCKET [OPTION...]\n"
    "\n"
    "A Radeon RX 7900 XTX as a PCI function: configuration space, memory, doorbells,\n"
    "registers, for a driver that programs them. Runs until it is interrupted.\n"
    "\n"
    "  --remote PORT  serve tinygrad's PCI runtime on this TCP port of the loopback\n"
    "                 interface (REMOTE=127.0.0.1:PORT DEV=PCI+AMD:LLVM); 0: any,\n"
    "                 which is printed\n"
    "  --vfio-user SOCKET  serve a virtual machine on this socket, which is made: "
    "QEMU\n"
    "                 from 10.1 on, its device vfio-user-pci, RAM shared (memfd)\n"
    "  --once         end when the first driver has gone\n"
    "  --vram SIZE    bytes of video memory, a multiple of 256M (default 1G)\n"
    "  --smu VERSION  of the system management unit, as drivers look firmware up by "
    "it\n"
    "                 (default 13.0.0, the board's)\n"
    "  --log FILE     one line for each access of a register\n"
    "  --stats        at the end print what was done, and which registers were used\n"
    "                 that nobody models\n"
    "  --no-execute   complete every dispatch without running it\n"
    "  --timing       run kernels under the timing model (slow); the board's clock\n"
    "                 then shows model time\n"
    "    --sclk-mhz F   shader clock (default 2482, the board's)\n";

struct options {
    const char *socket; /* NULL: not by vfio-user */
    bool remote, once, stats, no_execute, timing;
    uint16_t port;
    uint64_t vram;
    double sclk_mhz;
    struct pci_version smu;
    const char *log;
};

enum {
    OPT_REMOTE = 256,
    OPT_VFIO,
    OPT_ONCE,
    OPT_VRAM,
    OPT_SMU,
    OPT_LOG,
    OPT_STATS,
    OPT_NO_EXECUTE,
    OPT_TIMING,
    OPT_SCLK,
};

static atomic_bool stop;
static int listener = -1;

static void on_signal(int signal)
{
    (void)signal;
    atomic_store(&stop, true);
    if (listener >= 0)
        (void)shutdown(listener, SHUT_RDWR); /* whoever waits there returns */
}

static void say(void *ctx, const char *text)
{
    (void)ctx;
    (void)fprintf(stderr, "rdna3 device: %s\n", text);
}

static int parse_port(const char *text, uint16_t *port)
{
    uint64_t v;
    if (cli_parse_u64(text, &v) != RD_OK || v > 65535)
        return cli_error(CLI_USAGE, "--remote: '%s' is no port", text);
    *port = (uint16_t)v;
    return CLI_OK;
}

static int parse_vram(const char *text, uint64_t *bytes)
{
    if (cli_parse_size(text, bytes) != RD_OK || !*bytes || *bytes % (256u << 20) ||
        *bytes > 24ull << 30)
        return cli_error(CLI_USAGE, "--vram: '%s' is no multiple of 256M up to 24G",
                         text);
    return CLI_OK;
}

static int parse_smu(const char *text, struct pci_version *v)
{
    unsigned part[3];
    char rest;
    if (sscanf(text, "%3u.%3u.%3u%c", &part[0], &part[1], &part[2], &rest) != 3 ||
        !part[0] || part[0] > 255 || part[1] > 255 || part[2] > 255)
        return cli_error(CLI_USAGE, "--smu: '%s' is no version like 13.0.0", text);
    *v = (struct pci_version){(uint8_t)part[0], (uint8_t)part[1], (uint8_t)part[2]};
    return CLI_OK;
}

static int parse_clock(const char *text, double *mhz)
{
    char *end;
    *mhz = strtod(text, &end);
    if (*end || !(*mhz >= 1 && *mhz <= 10000))
        return cli_error(CLI_USAGE, "--sclk-mhz: '%s' is no clock in MHz", text);
    return CLI_OK;
}

static int take(int opt, struct options *o)
{
    switch (opt) {
    case OPT_REMOTE:
        o->remote = true;
        return parse_port(optarg, &o->port);
    case OPT_VFIO:
        o->socket = optarg;
        return CLI_OK;
    case OPT_ONCE:
        o->once = true;
        return CLI_OK;
    case OPT_VRAM:
        return parse_vram(optarg, &o->vram);
    case OPT_SMU:
        return parse_smu(optarg, &o->smu);
    case OPT_LOG:
        o->log = optarg;
        return CLI_OK;
    case OPT_STATS:
        o->stats = true;
        return CLI_OK;
    case OPT_NO_EXECUTE:
        o->no_execute = true;
        return CLI_OK;
    case OPT_TIMING:
        o->timing = true;
        return CLI_OK;
    default:
        return parse_clock(optarg, &o->sclk_mhz);
    }
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, struct options *o)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"remote", required_argument, NULL, OPT_REMOTE},
        {"vfio-user", required_argument, NULL, OPT_VFIO},
        {"once", no_argument, NULL, OPT_ONCE},
        {"vram", required_argument, NULL, OPT_VRAM},
        {"smu", required_argument, NULL, OPT_SMU},
        {"log", required_argument, NULL, OPT_LOG},
        {"stats", no_argument, NULL, OPT_STATS},
        {"no-execute", no_argument, NULL, OPT_NO_EXECUTE},
        {"timing", no_argument, NULL, OPT_TIMING},
        {"sclk-mhz", required_argument, NULL, OPT_SCLK},
        {NULL, 0, NULL, 0}};
    int opt;
    opterr = 0;
    while ((opt = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
        if (opt == 'h') {
            (void)fputs(help, stdout);
            return cli_finish(CLI_OK);
        }
        if (opt == '?' || opt == ':')
            return cli_option_error(argc, argv, opt, options);
        int status = take(opt, o);
        if (status != CLI_OK)
            return status;
    }
    if (optind < argc)
        return cli_error(CLI_USAGE, "unexpected argument '%s'", argv[optind]);
    if (o->remote == (o->socket != NULL))
        return cli_error(CLI_USAGE, "--remote PORT or --vfio-user SOCKET says where "
                                    "drivers find the board");
    if (o->sclk_mhz > 0 && !o->timing)
        return cli_error(CLI_USAGE, "--sclk-mhz belongs to --timing");
    return -1;
}

static int listen_for(const struct options *o)
{
    uint16_t port = o->port;
    if (o->socket) {
        if (vfio_user_listen(o->socket, &listener) != RD_OK)
            return cli_error(CLI_FAILED, "cannot listen on '%s': %s", o->socket,
                             strerror(errno));
        return CLI_OK;
    }
    if (remote_listen(&port, &listener) != RD_OK)
        return cli_error(CLI_FAILED, "cannot listen on port %u: is it in use?", port);
    printf("port %u\n", port);
    (void)fflush(stdout);
    return CLI_OK;
}

static int run(struct vfio_user *vfio, struct pci_board *board, const struct options *o)
{
    struct sigaction action = {.sa_handler = on_signal};
    int status = listen_for(o);
    if (status != CLI_OK)
        return status;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    rd_status st =
        o->socket ? vfio_user_serve(vfio, board, listener, o->once, &stop, say, NULL)
                  : remote_serve(board, listener, o->once, &stop, say, NULL);
    close(listener);
    if (o->socket)
        (void)unlink(o->socket);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "the board's server: %s", rd_status_text(st));
    return CLI_OK;
}

int cmd_device(int argc, char **argv)
{
    struct options o = {.vram = 1ull << 30};
    struct pci_board *board;
    struct vfio_user *vfio;
    int status = parse(argc, argv, &o);
    if (status >= 0)
        return status;
    struct pci_config config = {.vram_bytes = o.vram,
                                .smu = o.smu,
                                .no_execute = o.no_execute,
                                .msi = vfio_user_msi,
                                .say = say};
    if (o.timing)
        config.sclk_mhz = o.sclk_mhz > 0 ? o.sclk_mhz : BOARD_SCLK_MHZ;
    if (o.log && !(config.log = fopen(o.log, "we")))
        return cli_error(CLI_FAILED, "cannot write '%s'", o.log);
    rd_status st = vfio_user_create(&vfio);
    config.ctx = vfio;
    if (st == RD_OK)
        st = pci_create(&config, &board);
    if (st != RD_OK) {
        if (config.log)
            (void)fclose(config.log);
        return cli_error(CLI_FAILED, "no board: %s", rd_status_text(st));
    }
    status = run(vfio, board, &o);
    if (o.stats)
        pci_report(board, stdout);
    pci_destroy(board);
    vfio_user_destroy(vfio);
    if (config.log && fclose(config.log) != 0 && status == CLI_OK)
        status = cli_error(CLI_FAILED, "cannot write '%s'", o.log);
    return cli_finish(status);
}
