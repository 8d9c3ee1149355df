/* compile.c: `rdna3 compile`: kernels written in UOps to code objects and other forms.
 *
 * Must not know the IR. Invariant: a kernel with errors leaves no output file.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "cc.h"
#include "cli.h"
#include "cmd.h"

static const char help[] =
    "usage: rdna3 compile FILE.uop [-o OUT] [--emit "
    "elf|asm|c|opencl|hip|metal|prog|uops]\n"
    "\n"
    "Compile a kernel written in UOps for gfx1100: a graph that ends in a SINK, or a\n"
    "linear program that begins with: program \"name\".\n"
    "\n"
    "  -o OUT       the file to write ('-': stdout, default for text)\n"
    "  --emit WHAT  elf: loadable code object (default); asm: its assembly text;\n"
    "               c, opencl, hip, metal: source text; prog: the linear program;\n"
    "               uops: the graph, simplified\n"
    "\n"
    "A line is: %id = OP dtype %source ... [arguments] \"name\"\n";

enum { EMIT_ELF, EMIT_ASM, EMIT_PROG, EMIT_UOPS, EMIT_TEXT };

static const struct {
    const char *name;
    int kind;
    enum cc_style style;
} emits[] = {{"elf", EMIT_ELF, 0},
             {"asm", EMIT_ASM, 0},
             {"prog", EMIT_PROG, 0},
             {"uops", EMIT_UOPS, 0},
             {"c", EMIT_TEXT, CC_STYLE_C},
             {"opencl", EMIT_TEXT, CC_STYLE_OPENCL},
             {"hip", EMIT_TEXT, CC_STYLE_HIP},
             {"metal", EMIT_TEXT, CC_STYLE_METAL}};

struct options {
    const char *path, *out;
    size_t emit;
};

static void print_message(void *ctx, const struct asm_message *message)
{
    char text[ASM_FORMAT_BYTES];
    (void)ctx;
    (void)asm_format(message, cli_color(), text);
    fputs(text, stderr);
}

static int write_out(const struct options *o, const void *data, size_t bytes)
{
    if (!o->out || strcmp(o->out, "-") == 0) {
        fwrite(data, 1, bytes, stdout);
        return CLI_OK;
    }
    if (cli_write_file(o->out, data, bytes) == RD_OK)
        return CLI_OK;
    return cli_error(CLI_FAILED, "cannot write %s: %s", o->out, strerror(errno));
}

static int write_elf(const struct options *o, const char *text)
{
    struct asm_options options = {.name = o->path, .message = print_message};
    struct asm_result elf;
    if (!o->out)
        return cli_error(CLI_USAGE, "-o says where to write the code object");
    rd_status st = asm_assemble(text, strlen(text), &options, &elf);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "%s: the code does not assemble: %s", o->path,
                         rd_status_text(st));
    int status = write_out(o, elf.data, elf.bytes);
    free(elf.data);
    return status;
}

static int write_prog(const struct options *o, const struct cc_prog *p)
{
    char *text = NULL, error[256] = "";
    rd_status st;
    switch (emits[o->emit].kind) {
    case EMIT_PROG:
        st = cc_prog_print(p, &text);
        break;
    case EMIT_TEXT:
        st = cc_render(p, emits[o->emit].style, &text, error);
        break;
    default:
        st = cc_rdna3(p, &text, error);
        break;
    }
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "%s: %s", o->path,
                         error[0] ? error : rd_status_text(st));
    int status = emits[o->emit].kind == EMIT_ELF ? write_elf(o, text)
                                                 : write_out(o, text, strlen(text));
    free(text);
    return status;
}

static int graph_error(const struct options *o, const struct cc_graph *g)
{
    return cli_error(CLI_FAILED, "%s: %s", o->path, cc_graph_error(g));
}

static int compile_graph(const struct options *o, const char *text, size_t bytes)
{
    struct cc_graph *g;
    struct cc_prog *p;
    cc_ref root;
    int status;
    if (cc_graph_create(&g) != RD_OK)
        return cli_error(CLI_FAILED, "out of memory");
    if (cc_parse(g, text, bytes, &root) != RD_OK) {
        status = graph_error(o, g);
    } else if (emits[o->emit].kind == EMIT_UOPS) {
        char *out;
        status = cc_print(g, cc_simplify(g, root), &out) == RD_OK
                     ? write_out(o, out, strlen(out))
                     : graph_error(o, g);
        if (status == CLI_OK)
            free(out);
    } else if (cc_linearize(g, root, &p) != RD_OK) {
        status = graph_error(o, g);
    } else {
        status = write_prog(o, p);
        cc_prog_destroy(p);
    }
    cc_graph_destroy(g);
    return status;
}

static int compile_prog(const struct options *o, const char *text, size_t bytes)
{
    struct cc_prog *p;
    char error[256] = "";
    if (emits[o->emit].kind == EMIT_UOPS)
        return cli_error(CLI_USAGE, "%s is a linear program, not a graph", o->path);
    rd_status st = cc_prog_parse(text, bytes, &p, error);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "%s: %s", o->path,
                         error[0] ? error : rd_status_text(st));
    int status = write_prog(o, p);
    cc_prog_destroy(p);
    return status;
}

/* The first word that is no comment. */
static bool is_program(const char *text, size_t bytes)
{
    const char *end = text + bytes;
    while (text < end && (strchr(" \t\r\n", *text) || *text == '#' || *text == ';')) {
        if (*text == '#' || *text == ';')
            while (text < end && *text != '\n')
                text++;
        else
            text++;
    }
    return end - text > 7 && memcmp(text, "program", 7) == 0;
}

static int parse_emit(struct options *o)
{
    for (o->emit = 0; o->emit < sizeof emits / sizeof emits[0]; o->emit++)
        if (strcmp(optarg, emits[o->emit].name) == 0)
            return CLI_OK;
    return cli_error(CLI_USAGE, "--emit: no form '%s' (see --help)", optarg);
}

int cmd_compile(int argc, char **argv)
{
    static const struct option longs[] = {{"help", no_argument, NULL, 'h'},
                                          {"emit", required_argument, NULL, 'e'},
                                          {"output", required_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};
    struct options o = {0};
    void *text;
    size_t bytes;
    int c;
    optind = 1;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":ho:", longs, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return cli_finish(CLI_OK);
        }
        if (c == 'o')
            o.out = optarg;
        else if (c != 'e')
            return cli_option_error(argc, argv, c);
        else if (parse_emit(&o) != CLI_OK)
            return CLI_USAGE;
    }
    if (argc - optind != 1)
        return cli_error(CLI_USAGE,
                         "one FILE.uop is needed (see rdna3 compile --help)");
    o.path = argv[optind];
    if (cli_read_file(o.path, &text, &bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read %s: %s", o.path, strerror(errno));
    int status = is_program(text, bytes) ? compile_prog(&o, text, bytes)
                                         : compile_graph(&o, text, bytes);
    free(text);
    return cli_finish(status);
}
