/* doc.c: `rdna3 doc`: one instruction on a page, from the tables.
 *
 * Must not know encodings or semantics itself. Invariant: prints rows, adds nothing.
 * SPDX-License-Identifier: MIT
 */
#include "doc.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cmd.h"
#include "describe.h"
#include "fidelity.h"
#include "facts.h"
#include "isa.h"

static const char help[] =
    "usage: rdna3 doc [--json] MNEMONIC...\n"
    "\n"
    "Show what an instruction does, its encodings with their fields\n"
    "(NAME[last bit:first bit]), the operands with their formats and what each may "
    "be, the\n"
    "variants that exist, its row of the fact sheet, the place of its semantics and "
    "how\n"
    "faithful they are. S0, S1, S2 are the sources, D what is written.\n"
    "A word that is no mnemonic lists those that begin with it, or have it in them.\n"
    "Case and the suffixes _e32 and _e64 do not matter.\n"
    "\n"
    "  --json    the same for machines\n";

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

const char *doc_fmt_name(unsigned fmt)
{
    size_t n = sizeof fmt_names / sizeof fmt_names[0];
    return fmt < n && fmt_names[fmt] ? fmt_names[fmt] : "?";
}

static void print_parts(const struct doc_operand *opnd)
{
    for (unsigned i = 0; i < opnd->n_parts; i++) {
        const struct isa_imm_part *part = &opnd->parts[i];
        unsigned first = part->shift, last = first + part->width - 1u;
        const char *sep = ": ";
        printf("          %-15s bits %u-%u, 0 to %u", part->name, first, last,
               (1u << part->width) - 1);
        for (unsigned v = 0; part->kind != ISA_IMM_COUNT && v < 1u << part->width;
             v++) {
            const char *name = isa_imm_name(part->kind, v);
            if (!name)
                continue;
            printf("%s%u %s", sep, v, name);
            sep = ", ";
        }
        putchar('\n');
    }
}

static void print_operand(const struct isa_row *row, unsigned index)
{
    static const char *const directions[] = {"-", "in", "out", "in/out"};
    const struct isa_opnd_desc *desc = isa_row_opnd(row, index);
    struct doc_operand opnd;
    doc_operand(row, index, &opnd);
    char size[32] = "";
    if (desc->bits)
        snprintf(size, sizeof size, "%u bits", desc->bits);
    else if (desc->dwords)
        snprintf(size, sizeof size, "%u dwords", desc->dwords);
    const char *note = desc->flags & ISA_OF_IMPLICIT   ? "implicit"
                       : desc->flags & ISA_OF_NO_FIELD ? "written, without a field"
                                                       : "";
    printf("  %-7s %-12s %-20s %s%s%s\n", directions[desc->flags & 3], opnd.name,
           doc_fmt_name(desc->fmt), size, *note ? ", " : "", note);
    const char *sep = "          ";
    for (unsigned k = 0; k < DOC_KINDS; k++) {
        if (!(opnd.kinds >> k & 1))
            continue;
        printf("%s%s", sep, doc_kind_name(k));
        sep = ", ";
    }
    if (opnd.kinds)
        putchar('\n');
    print_parts(&opnd);
}

/* Where the fields lie, lowest bit first. */
static void print_layout(const char *title, const struct isa_row *row, unsigned variant)
{
    struct isa_field_place places[ISA_MAX_FIELDS];
    unsigned n = isa_enc_fields(row->enc, variant, places);
    int column = printf("  %s ", title);
    for (unsigned i = 0; i < n; i++) {
        char text[40];
        int len =
            snprintf(text, sizeof text, " %s[%u:%u]", isa_field_name(places[i].field),
                     places[i].shift + places[i].width - 1u, places[i].shift);
        if (column + len > 88)
            column = printf("\n%*s", (int)strlen(title) + 3, "") - 1;
        column += printf("%s", text);
    }
    putchar('\n');
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

unsigned doc_find_op(const char *word)
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

/* ---- the fact sheet ---- */

static void print_words(const char *title, unsigned bits, unsigned n,
                        const struct isa_fact_word *(*word)(unsigned))
{
    for (unsigned i = 0; i < n; i++)
        if (bits >> i & 1)
            printf("  %-10s %s: %s\n", title, word(i)->word, word(i)->text);
}

static void print_state(const char *title, unsigned state, unsigned shift)
{
    static const char *const names[] = {"EXEC", "SCC", "VCC", "M0", "MODE"};
    const char *sep = "";
    if (!(state >> shift & 0x155u))
        return;
    printf("  %-10s ", title);
    for (unsigned i = 0; i < 5; i++) {
        if (!(state >> (2 * i + shift) & 1u))
            continue;
        printf("%s%s", sep, names[i]);
        sep = ", ";
    }
    putchar('\n');
}

static void print_size(const struct isa_facts *f)
{
    if (f->mem & ISA_MEM_FORMAT)
        printf("  %-10s %u component%s of the buffer's format\n", "size", f->elems,
               f->elems == 1 ? "" : "s");
    else if (f->stride)
        printf("  %-10s %u bytes, %u times; offsets count %u bytes\n", "size", f->bytes,
               f->elems, f->stride * f->bytes);
    else if (f->bytes)
        printf("  %-10s %u bytes\n", "size", f->bytes);
    else
        printf("  %-10s as DMASK and the format say\n", "size");
}

static void print_memory(const struct isa_facts *f)
{
    if (f->space == ISA_SPACE_NONE)
        return;
    printf("  %-10s %s: %s\n", "memory", isa_space_word(f->space)->word,
           isa_space_word(f->space)->text);
    if (f->access == ISA_ACCESS_NONE)
        return;
    printf("  %-10s %s: %s\n", "access", isa_access_word(f->access)->word,
           isa_access_word(f->access)->text);
    print_size(f);
    print_words("form", f->mem, ISA_MEM_BITS, isa_mem_word);
}

static void print_commutes(unsigned op, const struct isa_facts *f)
{
    if (f->order != ISA_ORDER_NONE)
        printf("  %-10s with others of its kind: %s\n", "commutes",
               isa_order_word(f->order)->text);
    else if (f->swapped == op)
        printf("  %-10s sources 0 and 1\n", "commutes");
    else if (f->swapped)
        printf("  %-10s sources 0 and 1, as %s\n", "commutes", isa_op_name(f->swapped));
}

static void print_sheet(unsigned op)
{
    const struct isa_facts *f = isa_facts(op);
    printf("\nfacts\n  %-10s %s: %s\n", "pipe", isa_pipe_word(f->pipe)->word,
           isa_pipe_word(f->pipe)->text);
    if (f->flops)
        printf("  %-10s %u a lane\n", "flops", f->flops);
    if (f->excp)
        printf("  %-10s %s: %s\n", "exceptions", isa_excp_word(f->excp)->word,
               isa_excp_word(f->excp)->text);
    print_memory(f);
    if (f->state & ISA_STATE_MASKED)
        printf("  %-10s works on the lanes of EXEC\n", "mask");
    print_state("reads", f->state, 0);
    print_state("writes", f->state, 1);
    print_commutes(op, f);
    print_words("flow", f->flow, ISA_FLOW_BITS, isa_flow_word);
    if (f->vopd)
        printf("  %-10s %s%s%s%s\n", "VOPD", f->vopd & ISA_VOPD_X ? "X" : "",
               f->vopd == (ISA_VOPD_X | ISA_VOPD_Y) ? " or " : "",
               f->vopd & ISA_VOPD_Y ? "Y" : "", f->vopd ? " half" : "");
    if (f->dual)
        printf("  %-10s %s\n", "also", isa_op_name(f->dual));
}

static void print_semantics(const struct emu *emu, unsigned op)
{
    const char *file;
    unsigned line;
    if (emu_semantics(emu, op, &file, &line) == RD_OK)
        printf("\nsemantics: %s in emulator/%s:%u\n", isa_facts(op)->function, file,
               line);
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

static void print_op(const struct emu *emu, unsigned op)
{
    char text[ISA_DESCRIBE_BYTES];
    puts(isa_op_name(op));
    if (isa_describe(op, text))
        printf("  %s\n", text);
    for (unsigned r = 0; r < isa_row_count(); r++) {
        const struct isa_row *row = isa_row(r);
        if (row->op != op)
            continue;
        printf("\n%s, opcode %u\n", isa_enc_name(row->enc), row->opcode);
        for (unsigned i = 0; i < row->n_opnds; i++)
            print_operand(row, i);
        print_layout("fields", row, ISA_VAR_NONE);
        print_facts(row);
    }
    print_sheet(op);
    print_semantics(emu, op);
}

/* The pages of these mnemonics, in order. */
static int show(const struct emu *emu, char **words, int n, bool json)
{
    int status = CLI_OK;
    struct json j = {0};
    if (json) {
        j = json_begin(stdout);
        json_array(&j, "instructions");
    }
    for (int i = 0; i < n; i++) {
        unsigned op = doc_find_op(words[i]);
        int found = CLI_OK;
        if (op == ISA_OP_NONE)
            found = doc_search(words[i], json ? &j : NULL);
        else if (json)
            doc_json(&j, emu, op);
        else
            print_op(emu, op);
        status = found == CLI_OK ? status : found;
        if (!json && i + 1 < n)
            putchar('\n');
    }
    if (json)
        json_end(&j);
    return status;
}

int cmd_doc(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    int option;
    bool json = false;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == 'j') {
            json = true;
            continue;
        }
        if (option != 'h')
            return cli_option_error(argc, argv, option, options);
        fputs(help, stdout);
        return cli_finish(CLI_OK);
    }
    if (optind == argc)
        return cli_error(CLI_USAGE, "no mnemonic given (see rdna3 doc --help)");
    struct emu_config config = {.threads = 1};
    struct emu *emu;
    if (emu_create(&config, &emu) != RD_OK)
        return cli_error(CLI_FAILED, "cannot start the emulator");
    int status = show(emu, argv + optind, argc - optind, json);
    emu_destroy(emu);
    return cli_finish(status);
}
