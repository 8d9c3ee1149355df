/* asm.c: `rdna3 asm`: assembly files to code objects, statements to hex bytes.
 *
 * Must not know the language. Invariant: a source with errors leaves no output file,
 * and
 * --hex writes exactly one line per input line.
 * SPDX-License-Identifier: MIT
 */
#include "asm.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm_tool.h"
#include "cli.h"
#include "cmd.h"

static const char help[] =
    "usage: rdna3 asm [--wave 32|64] [-c] [-I DIR]... [--defsym NAME=NUMBER]...\n"
    "                 [-o OUT] FILE.s|- [MORE.s]...\n"
    "       rdna3 asm --hex [--wave 32|64]\n"
    "       rdna3 asm --check [--reject] [--wave 32|64] [--junit OUT.xml] FILE\n"
    "       rdna3 asm --fuzz-pairs N [--seed S] [--wave 32|64]\n"
    "\n"
    "Assemble LLVM's AMDGPU assembly language for gfx1100.\n"
    "\n"
    "  -o OUT          the file to write ('-': stdout); else FILE.hsaco or FILE.o\n"
    "  -c              write a relocatable file instead of a loadable one\n"
    "  -I DIR          where .include and .incbin look for files that are not there\n"
    "                  as they are named\n"
    "  --defsym S=N    set the symbol S to the number N before the first line\n"
    "  MORE.s          further files, assembled as if they followed FILE.s\n"
    "  --wave N        wave size of the code (default 32)\n"
    "  --hex           statements on stdin, one a line; prints the encoding as hex\n"
    "                  in memory order, or 'error: COLUMN: message'; what a symbol\n"
    "                  decides is 00; exit status 1 if any line was an error\n"
    "  --check         compare with FILE: lines of a statement, a tab or ' -> ', and\n"
    "                  its bytes ('A': a byte that a symbol decides), and after\n"
    "                  another tab 32, 64 or both; llvm-mc's 'encoding:' comments do,\n"
    "                  too, and so do LLVM's lit tests (RUN lines of llvm-mc for\n"
    "                  gfx110x, checks behind their prefixes); exit status 1 if any\n"
    "                  line differs\n"
    "  --junit OUT.xml with --check: every statement as a test case of JUnit's XML\n"
    "  --reject        with --check: every statement must be refused\n"
    "  --fuzz-pairs N  print N random statements with their bytes for every pair of\n"
    "                  instruction and encoding, and how many pairs there are\n";

#define MAX_FOLDERS 32u
#define MAX_DEFINES 64u

struct options {
    struct asm_tool tool;
    const char *folders[MAX_FOLDERS];
    struct asm_define defines[MAX_DEFINES];
    size_t n_folders, n_defines;
    char *const *more; /* files behind the first */
    size_t n_more;
    bool relocatable, hex, check, fuzz;
    const char *out;
    const char *name; /* of what is read, in messages */
    bool told;        /* cli_mistakes_in */
};

static void print_message(void *ctx, const struct asm_message *message)
{
    struct options *o = ctx;
    char text[ASM_FORMAT_BYTES];
    if (message->severity == ASM_ERROR)
        cli_mistakes_in(o->name, &o->told);
    (void)asm_format(message, cli_color(), text);
    fputs(text, stderr);
}

/* A file that the source names: as it is, then in the folders of -I. */
static bool read_named(void *ctx, const char *name, bool text, void **data,
                       size_t *bytes)
{
    const struct options *o = ctx;
    const struct cli_kind *kind = text ? &cli_text : NULL;
    if (cli_read_kind(name, kind, data, bytes) == RD_OK)
        return true;
    int why = errno;
    for (size_t i = 0; i < o->n_folders && name[0] != '/'; i++) {
        char *path;
        if (asprintf(&path, "%s/%s", o->folders[i], name) < 0)
            return false;
        bool ok = cli_read_kind(path, kind, data, bytes) == RD_OK;
        if (!ok && errno != ENOENT)
            why = errno;
        free(path);
        if (ok)
            return true;
    }
    errno = why;
    return false;
}

static int write_output(const char *path, const struct asm_result *result)
{
    if (strcmp(path, "-") == 0) {
        fwrite(result->data, 1, result->bytes, stdout);
        return CLI_OK;
    }
    if (cli_write_file(path, result->data, result->bytes) == RD_OK)
        return CLI_OK;
    return cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
}

/* FILE.s becomes FILE.hsaco or FILE.o. */
static char *output_name(const char *path, bool relocatable)
{
    const char *suffix = relocatable ? ".o" : ".hsaco";
    size_t len = strlen(path);
    if (len > 2 && strcmp(path + len - 2, ".s") == 0)
        len -= 2;
    char *name = malloc(len + strlen(suffix) + 1);
    if (!name)
        return NULL;
    memcpy(name, path, len);
    strcpy(name + len, suffix);
    return name;
}

static int assemble_text(struct options *o, const char *text, size_t bytes,
                         const char *out)
{
    struct asm_options options = {.name = o->name,
                                  .wave = o->tool.wave,
                                  .relocatable = o->relocatable,
                                  .max_errors = 20,
                                  .message = print_message,
                                  .ctx = o,
                                  .read = read_named,
                                  .defines = o->defines,
                                  .n_defines = o->n_defines,
                                  .more = (const char *const *)o->more,
                                  .n_more = o->n_more};
    struct asm_result result;
    rd_status st = asm_assemble(text, bytes, &options, &result);
    if (result.errors > options.max_errors)
        return cli_error(CLI_FAILED, "%u errors in all, %u more than are shown",
                         result.errors, result.errors - options.max_errors);
    if (st == RD_E_FORMAT)
        return CLI_FAILED;
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "%s", rd_status_text(st));
    int status = write_output(out, &result);
    free(result.data);
    return status;
}

static int assemble_file(struct options *o, const char *path)
{
    bool from_stdin = strcmp(path, "-") == 0;
    void *text;
    size_t bytes;
    char *made = NULL;
    if (from_stdin && !o->out)
        return cli_error(CLI_USAGE, "reading stdin, -o says where to write");
    if (cli_read_kind(from_stdin ? "/dev/stdin" : path, &cli_text, &text, &bytes) !=
        RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path, strerror(errno));
    if (!o->out)
        made = output_name(path, o->relocatable);
    int status = CLI_FAILED;
    o->name = from_stdin ? "<stdin>" : path;
    if (o->out || made)
        status = assemble_text(o, text, bytes, o->out ? o->out : made);
    free(made);
    free(text);
    return cli_finish(status);
}

/* One line of --hex. Returns whether it was right. */
static bool hex_line(struct asm_line *line, const char *text, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t code[20];
    unsigned bytes;
    struct isa_fixup fixup;
    struct isa_asm_error err;
    char out[64];
    if (asm_line_one(line, text, len, code, &bytes, &fixup, &err) != RD_OK) {
        printf("error: %u: %s\n", err.column, err.text);
        return false;
    }
    if (bytes == 0) {
        puts("error: 1: no statement");
        return false;
    }
    for (unsigned i = 0; i < bytes; i++) {
        out[2 * i] = digits[code[i] >> 4];
        out[2 * i + 1] = digits[code[i] & 15];
    }
    out[2 * bytes] = '\n';
    fwrite(out, 1, 2 * bytes + 1, stdout);
    return true;
}

static int assemble_hex(const struct options *o)
{
    struct asm_line *line;
    char *text = NULL;
    size_t room = 0;
    ssize_t len;
    int status = CLI_OK;
    if (asm_line_open(o->tool.wave, &line) != RD_OK)
        return cli_error(CLI_FAILED, "out of memory");
    while ((len = getline(&text, &room, stdin)) >= 0) {
        if (len > 0 && text[len - 1] == '\n')
            len--;
        if (!hex_line(line, text, (size_t)len))
            status = CLI_FAILED;
    }
    free(text);
    asm_line_close(line);
    if (ferror(stdin))
        status = cli_error(CLI_FAILED, "cannot read stdin: %s", strerror(errno));
    return cli_finish(status);
}

static int parse_wave(const char *text, struct asm_tool *tool)
{
    if (strcmp(text, "32") != 0 && strcmp(text, "64") != 0)
        return cli_error(CLI_USAGE, "--wave must be 32 or 64, not '%s'", text);
    tool->wave = text[0] == '3' ? 32 : 64;
    tool->wave_given = true;
    return CLI_OK;
}

static int parse_number(const char *option, const char *text, uint64_t *out)
{
    if (cli_parse_u64(text, out) == RD_OK)
        return CLI_OK;
    return cli_error(CLI_USAGE, "%s must be a number, not '%s'", option, text);
}

static int add_folder(struct options *o, const char *path)
{
    if (o->n_folders == MAX_FOLDERS)
        return cli_error(CLI_USAGE, "more than %u folders (-I)", MAX_FOLDERS);
    o->folders[o->n_folders++] = path;
    return CLI_OK;
}

static bool is_symbol(const char *name)
{
    if (name[0] >= '0' && name[0] <= '9')
        return false;
    return name[0] != '\0' && name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
                                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789_.$")] == '\0';
}

/* NAME=NUMBER; the text is cut at its '='. */
static int add_define(struct options *o, char *text)
{
    char *mark = strchr(text, '=');
    int64_t value;
    if (o->n_defines == MAX_DEFINES)
        return cli_error(CLI_USAGE, "more than %u symbols (--defsym)", MAX_DEFINES);
    if (!mark || cli_parse_i64(mark + 1, &value) != RD_OK)
        return cli_error(CLI_USAGE, "--defsym must be NAME=NUMBER, not '%s'", text);
    *mark = '\0';
    if (!is_symbol(text))
        return cli_error(CLI_USAGE, "--defsym: '%s' is no name of a symbol", text);
    o->defines[o->n_defines++] = (struct asm_define){.name = text, .value = value};
    return CLI_OK;
}

static const struct option options[] = {
    {"wave", required_argument, NULL, 'w'},
    {"output", required_argument, NULL, 'o'},
    {"hex", no_argument, NULL, 'x'},
    {"check", no_argument, NULL, 'k'},
    {"reject", no_argument, NULL, 'r'},
    {"junit", required_argument, NULL, 'u'},
    {"defsym", required_argument, NULL, 'd'},
    {"fuzz-pairs", required_argument, NULL, 'f'},
    {"seed", required_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* One option. Returns CLI_OK, CLI_USAGE, or -1 for help. */
static int take_option(int argc, char **argv, int option, struct options *o)
{
    switch (option) {
    case 'w':
        return parse_wave(optarg, &o->tool);
    case 'o':
        o->out = optarg;
        return CLI_OK;
    case 'c':
        o->relocatable = true;
        return CLI_OK;
    case 'x':
        o->hex = true;
        return CLI_OK;
    case 'k':
        o->check = true;
        return CLI_OK;
    case 'r':
        o->tool.reject = true;
        return CLI_OK;
    case 'u':
        o->tool.junit = optarg;
        return CLI_OK;
    case 'f':
        o->fuzz = true;
        return parse_number("--fuzz-pairs", optarg, &o->tool.pairs);
    case 's':
        return parse_number("--seed", optarg, &o->tool.seed);
    case 'I':
        return add_folder(o, optarg);
    case 'd':
        return add_define(o, optarg);
    case 'h':
        fputs(help, stdout);
        return -1;
    default:
        return cli_option_error(argc, argv, option, options);
    }
}

static int parse_options(int argc, char **argv, struct options *o)
{
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":hco:I:", options, NULL)) != -1) {
        int status = take_option(argc, argv, option, o);
        if (status != CLI_OK)
            return status;
    }
    int files = argc - optind;
    if (o->hex + o->check + o->fuzz > 1)
        return cli_error(CLI_USAGE,
                         "--hex, --check and --fuzz-pairs exclude each other");
    if ((o->tool.junit || o->tool.reject) && !o->check)
        return cli_error(CLI_USAGE, "--%s goes with --check",
                         o->tool.junit ? "junit" : "reject");
    if ((o->hex || o->check || o->fuzz) &&
        (o->out || o->relocatable || o->n_folders || o->n_defines))
        return cli_error(CLI_USAGE,
                         "-o, -c, -I and --defsym go without --hex, --check and "
                         "--fuzz-pairs");
    if (o->hex || o->fuzz) {
        if (files != 0)
            return cli_error(CLI_USAGE, "no FILE with --hex or --fuzz-pairs");
    } else if (files < 1 || (files > 1 && o->check)) {
        return cli_error(CLI_USAGE, "give one FILE, or - for stdin");
    } else if (files > 1) {
        o->more = argv + optind + 1;
        o->n_more = (size_t)files - 1;
        if (o->n_more > ASM_MAX_MORE)
            return cli_error(CLI_USAGE, "more than %u files", ASM_MAX_MORE + 1);
    }
    return CLI_OK;
}

int cmd_asm(int argc, char **argv)
{
    struct options o = {.tool = {.wave = 32}};
    int status = parse_options(argc, argv, &o);
    if (status != CLI_OK)
        return status < 0 ? cli_finish(CLI_OK) : status;
    if (o.hex)
        return assemble_hex(&o);
    if (o.check)
        return asm_check(&o.tool, argv[optind]);
    if (o.fuzz)
        return asm_fuzz_pairs(&o.tool);
    return assemble_file(&o, argv[optind]);
}
