/* dis.c: `rdna3 dis`: code objects, raw code and hex bytes to text.
 *
 * Must not know encodings. Invariant: --hex writes exactly one line per input line.
 * SPDX-License-Identifier: MIT
 */
#include "dis.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cmd.h"
#include "dis_elf.h"
#include "isa.h"
#include "object_file.h"
#include "write.h"

static const char help[] =
    "usage: rdna3 dis [--wave 32|64] [--true16] [-l] [--source] [--json] FILE.elf\n"
    "       rdna3 dis [--wave 32|64] [--true16] --raw FILE.bin\n"
    "       rdna3 dis [--wave 32|64] [--true16] --hex\n"
    "\n"
    "Disassemble gfx1100 code to the text llvm-mc 19 prints and assembles. A code\n"
    "object becomes a source file that 'rdna3 asm' (-c for a relocatable one) makes\n"
    "the same object of: kernels, metadata, data, symbols, relocations.\n"
    "\n"
    "  -l, --line-numbers  say before code which source line it comes from (-g)\n"
    "  --source     and what stands there\n"
    "  --json       the code as JSON, one object an instruction\n"
    "  --raw FILE   FILE holds instructions only\n"
    "  --hex        hex bytes on stdin, one instruction a line; prints its text or\n"
    "               'error: ...'; exit status 1 if any line was an error\n"
    "  --wave N     wave size; a code object's kernels say their own (default 32)\n"
    "  --true16     name register halves (v1.l) as llvm-mc -mattr=+real-true16\n";

struct dis_options {
    struct dis_wish wish;
    bool hex;
    const char *raw;
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Bytes of a line, blanks between them allowed. Returns their number, or -1. More than
 * fit are counted, not stored. */
static int parse_hex(const char *line, uint8_t bytes[ISA_MAX_BYTES])
{
    int n = 0;
    for (;;) {
        line += strspn(line, " \t\r\n");
        if (*line == '\0')
            return n;
        int high = hex_digit(line[0]);
        int low = high < 0 ? -1 : hex_digit(line[1]);
        if (low < 0)
            return -1;
        if (n < ISA_MAX_BYTES)
            bytes[n] = (uint8_t)(high << 4 | low);
        n++;
        line += 2;
    }
}

/* The text of one line, or what is wrong with it. */
static bool hex_line(const char *line, const struct dis_options *o, char *text)
{
    uint8_t bytes[ISA_MAX_BYTES];
    struct isa_inst inst;
    int n = parse_hex(line, bytes);
    const char *problem = NULL;
    if (n < 0) {
        problem = "not hexadecimal bytes";
    } else if (n == 0) {
        problem = "no bytes";
    } else {
        size_t have = n < ISA_MAX_BYTES ? (size_t)n : ISA_MAX_BYTES;
        rd_status st = isa_decode(bytes, have, o->wish.wave, &inst);
        if (st != RD_OK)
            problem = rd_status_text(st);
        else if (inst.bytes != n)
            problem = "bytes left over after the instruction";
        else if (!isa_has_text(&inst, o->wish.print))
            problem = "no canonical text for this encoding";
    }
    if (problem == NULL) {
        isa_print(&inst, o->wish.wave, o->wish.print, text);
        return true;
    }
    strcpy(text, "error: ");
    strcat(text, problem);
    return false;
}

static int dis_hex(const struct dis_options *o)
{
    char text[ISA_MAX_TEXT];
    char *line = NULL;
    size_t room = 0;
    int status = CLI_OK;
    while (getline(&line, &room, stdin) >= 0) {
        if (!hex_line(line, o, text))
            status = CLI_FAILED;
        fputs(text, stdout);
        putchar('\n');
    }
    free(line);
    if (ferror(stdin))
        status = cli_error(CLI_FAILED, "cannot read stdin: %s", strerror(errno));
    return cli_finish(status);
}

static int dis_file(const struct dis_options *o, const char *path)
{
    void *data;
    size_t bytes;
    int status = CLI_OK;
    rd_status st = o->raw ? cli_read_file(path, &data, &bytes)
                          : object_file_read(path, &data, &bytes);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path,
                         st == RD_E_IO ? strerror(errno) : rd_status_text(st));
    if (o->raw == NULL) {
        status = dis_elf(path, data, bytes, &o->wish);
    } else {
        struct dis_region region = {.code = data,
                                    .bytes = bytes,
                                    .wave =
                                        o->wish.wave != 0 ? o->wish.wave : ISA_WAVE32,
                                    .print = o->wish.print};
        if (dis_list(&region, NULL) < 0)
            status = cli_error(CLI_FAILED, "out of memory");
    }
    free(data);
    return cli_finish(status);
}

static int parse_wave(const char *text, unsigned *wave)
{
    if (strcmp(text, "32") != 0 && strcmp(text, "64") != 0)
        return cli_error(CLI_USAGE, "--wave must be 32 or 64, not '%s'", text);
    *wave = text[0] == '3' ? ISA_WAVE32 : ISA_WAVE64;
    return CLI_OK;
}

/* Returns CLI_OK, CLI_USAGE, or -1 if help was all that was asked for. */
static int parse_options(int argc, char **argv, struct dis_options *o)
{
    static const struct option options[] = {
        {"wave", required_argument, NULL, 'w'},
        {"raw", required_argument, NULL, 'r'},
        {"hex", no_argument, NULL, 'x'},
        {"true16", no_argument, NULL, 't'},
        {"source", no_argument, NULL, 'S'},
        {"json", no_argument, NULL, 'j'},
        {"line-numbers", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":hl", options, NULL)) != -1) {
        switch (option) {
        case 'w':
            if (parse_wave(optarg, &o->wish.wave) != CLI_OK)
                return CLI_USAGE;
            break;
        case 'r':
            o->raw = optarg;
            break;
        case 'x':
            o->hex = true;
            break;
        case 't':
            o->wish.print |= ISA_PRINT_TRUE16;
            break;
        case 'l':
            o->wish.lines = true;
            break;
        case 'S':
            o->wish.source = true;
            break;
        case 'j':
            o->wish.json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return -1;
        default:
            return cli_option_error(argc, argv, option, options);
        }
    }
    int inputs = (o->hex ? 1 : 0) + (o->raw != NULL ? 1 : 0) + (argc - optind);
    if (inputs != 1)
        return cli_error(CLI_USAGE, "give one FILE, --raw FILE or --hex");
    if ((o->hex || o->raw) && (o->wish.lines || o->wish.source || o->wish.json))
        return cli_error(CLI_USAGE, "-l, --source and --json need a code object");
    return CLI_OK;
}

int cmd_dis(int argc, char **argv)
{
    struct dis_options o = {0};
    int status = parse_options(argc, argv, &o);
    if (status != CLI_OK)
        return status < 0 ? cli_finish(CLI_OK) : status;
    if (o.hex) {
        if (o.wish.wave == 0)
            o.wish.wave = ISA_WAVE32;
        return dis_hex(&o);
    }
    return dis_file(&o, o.raw != NULL ? o.raw : argv[optind]);
}
