/* doc.c: `rdna3 doc`: one instruction on a page, from the tables.
 *
 * Must not know encodings or semantics itself. Invariant: prints rows, adds nothing.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cmd.h"
#include "fidelity.h"
#include "emu.h"
#include "isa.h"

static const char help[] =
    "usage: rdna3 doc MNEMONIC...\n"
    "\n"
    "Show the encodings of an instruction, the operands with their formats, the\n"
    "variants that exist, the place of its semantics and how faithful they are.\n"
    "Case and the suffixes _e32 and _e64 do not matter.\n";

static const char *const fmt_names[] = {
    [ISA_FMT_ANY] = "any",
    [ISA_FMT_B1] = "b1",
    [ISA_FMT_B8] = "b8",
    [ISA_FMT_B16] = "b16",
    [ISA_FMT_B32] = "b32",
    [ISA_FMT_B64] = "b64",
    [ISA_FMT_B96] = "b96",
    [ISA_FMT_B128] = "b128",
    [ISA_FMT_B256] = "b256",
    [ISA_FMT_B512] = "b512",
    [ISA_FMT_U16] = "u16",
    [ISA_FMT_U24] = "u24",
    [ISA_FMT_U32] = "u32",
    [ISA_FMT_U64] = "u64",
    [ISA_FMT_I16] = "i16",
    [ISA_FMT_I24] = "i24",
    [ISA_FMT_I32] = "i32",
    [ISA_FMT_I64] = "i64",
    [ISA_FMT_F16] = "f16",
    [ISA_FMT_BF16] = "bf16",
    [ISA_FMT_F32] = "f32",
    [ISA_FMT_F64] = "f64",
    [ISA_FMT_M64] = "lane mask",
    [ISA_FMT_PK2_F16] = "2 x f16",
    [ISA_FMT_PK2_BF16] = "2 x bf16",
    [ISA_FMT_PK2_U16] = "2 x u16",
    [ISA_FMT_PK2_I16] = "2 x i16",
    [ISA_FMT_PK4_U8] = "4 x u8",
    [ISA_FMT_PK4_IU8] = "4 x i8 or u8",
    [ISA_FMT_PK8_U4] = "8 x u4",
    [ISA_FMT_PK8_IU4] = "8 x i4 or u4",
    [ISA_FMT_PK2_OTHER] = "2 packed",
    [ISA_FMT_WMMA_F32] = "f32 matrix",
    [ISA_FMT_WMMA_I32] = "i32 matrix",
    [ISA_FMT_WMMA_F16] = "f16 matrix",
    [ISA_FMT_WMMA_BF16] = "bf16 matrix",
    [ISA_FMT_WMMA_IU8] = "i8 or u8 matrix",
    [ISA_FMT_WMMA_IU4] = "i4 or u4 matrix",
    [ISA_FMT_DESCRIPTOR] = "resource descriptor",
};

static const char *fmt_name(unsigned fmt)
{
    size_t n = sizeof fmt_names / sizeof fmt_names[0];
    return fmt < n && fmt_names[fmt] ? fmt_names[fmt] : "?";
}

static void print_operand(const struct isa_opnd_desc *opnd)
{
    static const char *const directions[] = {"-", "in", "out", "in/out"};
    char size[32] = "";
    if (opnd->bits)
        snprintf(size, sizeof size, "%u bits", opnd->bits);
    else if (opnd->dwords)
        snprintf(size, sizeof size, "%u dwords", opnd->dwords);
    const char *note = opnd->flags & ISA_OF_IMPLICIT   ? "implicit"
                       : opnd->flags & ISA_OF_NO_FIELD ? "written, without a field"
                                                       : "";
    printf("  %-7s %-20s %s%s%s\n", directions[opnd->flags & 3], fmt_name(opnd->fmt),
           size, *note ? ", " : "", note);
}

static void print_facts(const struct isa_row *row)
{
    static const char *const variants[] = {
        [ISA_VAR_LITERAL] = "literal",
        [ISA_VAR_DPP16] = "DPP16",
        [ISA_VAR_DPP8] = "DPP8",
        [ISA_VAR_NSA] = "NSA",
    };
    static const struct {
        unsigned flag;
        const char *text;
    } facts[] = {
        {ISA_RF_BRANCH, "branch"},
        {ISA_RF_COND_BRANCH, "conditional branch"},
        {ISA_RF_INDIRECT, "indirect branch"},
        {ISA_RF_TERMINATOR, "ends the program"},
        {ISA_RF_LITERAL, "always followed by a literal"},
        {ISA_RF_WAVE32, "wave32 only"},
        {ISA_RF_LLVM_ONLY, "known to LLVM, not in AMD's XML"},
        {ISA_RF_VOPD_Y, "Y slot of a VOPD"},
    };
    const char *sep = "  also with ";
    for (unsigned v = ISA_VAR_LITERAL; v <= ISA_VAR_NSA; v++) {
        if (!(row->variants >> v & 1))
            continue;
        printf("%s%s", sep, variants[v]);
        sep = ", ";
    }
    if (sep[0] == ',')
        putchar('\n');
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (row->flags & facts[i].flag)
            printf("  %s\n", facts[i].text);
}

static unsigned find_op(const char *word)
{
    char name[64];
    size_t len = strlen(word);
    if (len >= sizeof name)
        return ISA_OP_NONE;
    for (size_t i = 0; i <= len; i++)
        name[i] = (char)tolower((unsigned char)word[i]);
    unsigned op = isa_op_find(name, len);
    if (op == ISA_OP_NONE && len > 4 &&
        (strcmp(name + len - 4, "_e32") == 0 || strcmp(name + len - 4, "_e64") == 0))
        op = isa_op_find(name, len - 4);
    return op;
}

static void print_semantics(const struct emu *emu, unsigned op)
{
    const char *file;
    unsigned line;
    if (emu_semantics(emu, op, &file, &line) == RD_OK)
        printf("\nsemantics: emulator/%s:%u\n", file, line);
    else
        printf("\nsemantics: none, a kernel that reaches it stops\n");
    struct emu_fidelity f = emu_fidelity(emu, op);
    printf("fidelity: ");
    if (f.kind == EMU_FIDELITY_ULP)
        printf("within %u ULP", f.ulp);
    else
        printf("%s", emu_fidelity_name(f.kind));
    printf("%s%s\n", *f.note ? ": " : "", f.note);
}

static int print_op(const struct emu *emu, const char *word)
{
    unsigned op = find_op(word);
    if (op == ISA_OP_NONE)
        return cli_error(CLI_FAILED, "'%s' is no gfx1100 instruction", word);
    puts(isa_op_name(op));
    for (unsigned r = 0; r < isa_row_count(); r++) {
        const struct isa_row *row = isa_row(r);
        if (row->op != op)
            continue;
        printf("\n%s, opcode %u\n", isa_enc_name(row->enc), row->opcode);
        for (unsigned i = 0; i < row->n_opnds; i++)
            print_operand(isa_row_opnd(row, i));
        print_facts(row);
    }
    print_semantics(emu, op);
    return CLI_OK;
}

int cmd_doc(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option != 'h')
            return cli_option_error(argc, argv, option);
        fputs(help, stdout);
        return cli_finish(CLI_OK);
    }
    if (optind == argc)
        return cli_error(CLI_USAGE, "no mnemonic given (see rdna3 doc --help)");
    struct emu_config config = {.threads = 1};
    struct emu *emu;
    if (emu_create(&config, &emu) != RD_OK)
        return cli_error(CLI_FAILED, "cannot start the emulator");
    int status = CLI_OK;
    for (int i = optind; i < argc; i++) {
        int one = print_op(emu, argv[i]);
        status = one != CLI_OK ? one : status;
        if (i + 1 < argc)
            putchar('\n');
    }
    emu_destroy(emu);
    return cli_finish(status);
}
