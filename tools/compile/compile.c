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
#include "describe.h"

static const char help[] =
    "usage: rdna3 compile FILE.uop [-o OUT] [--emit "
    "elf|asm|c|opencl|hip|metal|prog|uops] [--json]\n"
    "\n"
    "Compile a kernel written in UOps for gfx1100: a graph that ends in a SINK, or a\n"
    "linear program that begins with: program \"name\".\n"
    "\n"
    "  -o OUT       the file to write ('-': stdout, default for text)\n"
    "  --emit WHAT  elf: loadable code object (default); asm: its assembly text;\n"
    "               c, opencl, hip, metal: source text; prog: the linear program;\n"
    "               uops: the graph, simplified\n"
    "  --json       tell what was made: form, sizes, launch, kernels; text in it where "
    "no\n"
    "               -o takes it, and no code object is written without -o\n"
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
    bool json;
};

/* What came out, owned by others. */
struct product {
    const void *data; /* text, but for EMIT_ELF */
    size_t bytes;
    const struct cc_prog *prog; /* NULL: a graph */
    uint32_t operations;
    size_t instructions; /* EMIT_ELF */
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
    return cli_error(CLI_FAILED, "cannot write '%s': %s", o->out, strerror(errno));
}

/* How many workgroups of how many work-items; a graph has not been cut up yet. */
static void json_launch(struct json *j, const struct cc_prog *p)
{
    uint32_t size[2][3];
    if (p)
        cc_prog_launch(p, size[0], size[1]);
    for (unsigned k = 0; k < 2; k++) {
        json_array(j, k ? "block" : "grid");
        for (unsigned i = 0; p && i < 3; i++)
            json_u64(j, NULL, size[k][i]);
        json_close(j);
    }
}

static void json_kernels(struct json *j, const struct product *p)
{
    struct co_object *co;
    struct co_error err;
    if (co_open(p->data, p->bytes, &co, &err) != RD_OK)
        return; /* the assembler makes none that cannot be read */
    kernel_describe_all(j, co);
    co_close(co);
}

static void tell(const struct options *o, const struct product *p)
{
    bool elf = emits[o->emit].kind == EMIT_ELF;
    struct json j = json_begin(stdout);
    json_text(&j, "file", o->path);
    json_text(&j, "form", emits[o->emit].name);
    json_text(&j, "output", o->out);
    json_u64(&j, "bytes", p->bytes);
    json_u64(&j, "operations", p->operations);
    json_text(&j, "kernel", p->prog ? cc_prog_name(p->prog) : NULL);
    json_launch(&j, p->prog);
    json_text(&j, "text", elf || o->out ? NULL : p->data);
    if (elf) {
        json_u64(&j, "instructions", p->instructions);
        json_kernels(&j, p);
    }
    json_end(&j);
}

/* Write it, say what it is, or both. */
static int hand_over(const struct options *o, const struct product *p)
{
    int status = o->json && !o->out ? CLI_OK : write_out(o, p->data, p->bytes);
    if (status == CLI_OK && o->json)
        tell(o, p);
    return status;
}

static int write_elf(const struct options *o, const struct cc_prog *prog,
                     const char *text)
{
    struct asm_options options = {.name = o->path, .message = print_message};
    struct asm_result elf;
    if (!o->out && !o->json)
        return cli_error(CLI_USAGE, "-o says where to write the code object");
    rd_status st = asm_assemble(text, strlen(text), &options, &elf);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "%s: the code does not assemble: %s", o->path,
                         rd_status_text(st));
    int status = hand_over(o, &(struct product){.data = elf.data,
                                                .bytes = elf.bytes,
                                                .prog = prog,
                                                .operations = cc_prog_count(prog),
                                                .instructions = elf.instructions});
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
    int status = emits[o->emit].kind == EMIT_ELF
                     ? write_elf(o, p, text)
                     : hand_over(o, &(struct product){.data = text,
                                                      .bytes = strlen(text),
                                                      .prog = p,
                                                      .operations = cc_prog_count(p)});
    free(text);
    return status;
}

/* What is wrong with the text: "line N: ..." becomes a place. */
static int refuse(const struct options *o, const char *error)
{
    unsigned line;
    int used = 0;
    bool told = false;
    if (sscanf(error, "line %u: %n", &line, &used) != 1 || !used)
        return cli_error(CLI_FAILED, "%s: %s", o->path, error);
    return cli_mistake(CLI_FAILED, &(struct cli_place){.path = o->path, .line = line},
                       &told, "%s", error + used);
}

static int graph_error(const struct options *o, const struct cc_graph *g)
{
    return refuse(o, cc_graph_error(g));
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
                     ? hand_over(o, &(struct product){.data = out,
                                                      .bytes = strlen(out),
                                                      .operations = cc_graph_count(g)})
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
        return refuse(o, error[0] ? error : rd_status_text(st));
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
                                          {"json", no_argument, NULL, 'j'},
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
        else if (c == 'j')
            o.json = true;
        else if (c != 'e')
            return cli_option_error(argc, argv, c, longs);
        else if (parse_emit(&o) != CLI_OK)
            return CLI_USAGE;
    }
    if (argc - optind != 1)
        return cli_error(CLI_USAGE,
                         "one FILE.uop is needed (see rdna3 compile --help)");
    o.path = argv[optind];
    if (o.json && o.out && strcmp(o.out, "-") == 0)
        return cli_error(CLI_USAGE, "--json takes stdout: -o names a file");
    if (cli_read_kind(o.path, &cli_text, &text, &bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", o.path, strerror(errno));
    int status = is_program(text, bytes) ? compile_prog(&o, text, bytes)
                                         : compile_graph(&o, text, bytes);
    free(text);
    return cli_finish(status);
}
