/* sheet_check.c: does the fact sheet agree with AMD's rows?
 *
 * Each rule is a function over one opcode: its row of the sheet, and AMD's rows. Where
 * the XML is silent (MODE, what M0 is for), the sheet is believed.
 * SPDX-License-Identifier: MIT
 */
#include "sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

/* One opcode: AMD's rows are those of the model with its name. */
struct op {
    const struct gm_model *m;
    struct gf_sheet *sheet;
    struct gf_row *row;
    const struct gm_row *amd[4];
    size_t n_amd;
};

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool in_list(const char *name, const char *const *list)
{
    for (; *list != NULL; list++)
        if (same(name, *list))
            return true;
    return false;
}

static bool has_encoding(const struct op *op, const char *const *list)
{
    for (size_t i = 0; i < op->n_amd; i++)
        if (in_list(op->amd[i]->base, list))
            return true;
    return false;
}

#define FAIL(op, column, ...) gf_error((op)->sheet, (op)->row, column, __VA_ARGS__)

static const char *const vector_alu[] = {"VOP1",  "VOP2", "VOPC",    "VOP3", "VOP3SD",
                                         "VOP3P", "VOPD", "VINTERP", NULL};
static const char *const scalar_alu[] = {"SOP1", "SOP2", "SOPK", "SOPC", NULL};
static const char *const sequencer[] = {"SOPP", NULL};
static const char *const scalar_memory[] = {"SMEM", NULL};
static const char *const lds[] = {"DS", "LDSDIR", NULL};
static const char *const parameters[] = {"LDSDIR", NULL};
static const char *const vector_memory[] = {"FLAT",  "GLOBAL", "SCRATCH", "MUBUF",
                                            "MTBUF", "MIMG",   NULL};
static const char *const exports[] = {"EXP", NULL};

/* ---- operands ---------------------------------------------------------------------
 */

/* Does any of AMD's rows have such an operand? in, out: directions that count. */
static bool has_operand(const struct op *op, const char *type, bool in, bool out)
{
    for (size_t i = 0; i < op->n_amd; i++)
        for (size_t k = 0; k < op->amd[i]->n_operands; k++) {
            const struct gm_operand *o = &op->amd[i]->operands[k];
            bool hidden = o->implicit || (o->no_field && !same(type, "OPR_VCC"));
            if (hidden && same(o->type, type) && ((in && o->in) || (out && o->out)))
                return true;
        }
    return false;
}

static bool has_format(const struct op *op, const char *part)
{
    for (size_t i = 0; i < op->n_amd; i++)
        for (size_t k = 0; k < op->amd[i]->n_operands; k++)
            if (strstr(op->amd[i]->operands[k].format, part) != NULL)
                return true;
    return false;
}

/* Bits of the operand in one of the fields, or 0. */
static unsigned field_bits(const struct gm_row *amd, const char *const *fields)
{
    for (size_t k = 0; k < amd->n_operands; k++)
        if (in_list(amd->operands[k].field, fields))
            return amd->operands[k].bits;
    return 0;
}

static const struct gm_operand *field_of(const struct gm_row *amd, const char *name)
{
    for (size_t k = 0; k < amd->n_operands; k++)
        if (same(amd->operands[k].field, name))
            return &amd->operands[k];
    return NULL;
}

/* ---- rules ------------------------------------------------------------------------
 */

static void check_pipe(struct op *op)
{
    static const struct {
        enum isa_pipe first, last;
        const char *const *encodings;
    } rules[] = {
        {ISA_PIPE_VALU, ISA_PIPE_VNONE, vector_alu},
        {ISA_PIPE_SALU, ISA_PIPE_SWAIT, scalar_alu},
        {ISA_PIPE_WAIT, ISA_PIPE_SLEEP, sequencer},
        {ISA_PIPE_BRANCH, ISA_PIPE_END, sequencer},
        {ISA_PIPE_SMEM, ISA_PIPE_SMEM, scalar_memory},
        {ISA_PIPE_LDS, ISA_PIPE_GWS, lds},
        {ISA_PIPE_PARAM, ISA_PIPE_PARAM, parameters},
        {ISA_PIPE_VMEM, ISA_PIPE_VMEM, vector_memory},
        {ISA_PIPE_EXPORT, ISA_PIPE_EXPORT, exports},
    };
    unsigned pipe = op->row->f.pipe;
    if (pipe == ISA_PIPE_NONE)
        FAIL(op, GF_PIPE, "some unit takes every instruction");
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (pipe >= rules[i].first && pipe <= rules[i].last &&
            !has_encoding(op, rules[i].encodings))
            FAIL(op, GF_PIPE, "not a pipe of encoding %s", op->amd[0]->base);
    bool matrix = pipe == ISA_PIPE_WMMA || pipe == ISA_PIPE_WMMA4;
    if (matrix != has_format(op, "WMMA"))
        FAIL(op, GF_PIPE, "wmma and matrix operands go together");
    if (pipe == ISA_PIPE_DOUBLE && !has_format(op, "F64"))
        FAIL(op, GF_PIPE, "double without an F64 operand");
    if (pipe == ISA_PIPE_TRANS && !same(op->amd[0]->base, "VOP1"))
        FAIL(op, GF_PIPE, "trans is for VOP1");
}

static void check_floats(struct op *op)
{
    const struct isa_facts *f = &op->row->f;
    bool floats =
        has_format(op, "F16") || has_format(op, "F32") || has_format(op, "F64");
    bool vector = has_encoding(op, vector_alu);
    if (f->flops != 0 && !(floats && vector))
        FAIL(op, GF_FLOPS, "flops without a float operand");
    if (f->flops >= 256 && f->pipe != ISA_PIPE_WMMA)
        FAIL(op, GF_FLOPS, "256 is for matrix products");
    if (f->excp != ISA_EXCP_NONE && !(floats && vector))
        FAIL(op, GF_EXCP, "float exceptions without a float operand");
    if (f->excp != ISA_EXCP_NONE && !(f->state & ISA_STATE_MODE_IN))
        FAIL(op, GF_MODE,
             "raises exceptions, which MODE enables, but does not read it");
}

static void check_fidelity(struct op *op)
{
    const struct isa_facts *f = &op->row->f;
    bool plain = f->fidelity == ISA_FIDELITY_SPEC || f->fidelity == ISA_FIDELITY_DOTS;
    if ((f->fidelity == ISA_FIDELITY_UNSUPPORTED) != (f->function == NULL))
        FAIL(op, GF_FUNCTION, "unsupported and \"-\" go together");
    if (!plain && f->note[0] == '\0')
        FAIL(op, GF_NOTE, "fidelity other than spec and dots needs a note");
    if (f->fidelity == ISA_FIDELITY_ULP && f->ulp == 0)
        FAIL(op, GF_FIDELITY, "ulp:0 would be exact");
}

/* XML's implicit operands, and EXEC of v_cmpx. The sheet may know of more reads:
 * s_getreg sees SCC in STATUS. */
static void check_state(struct op *op)
{
    static const struct {
        const char *type;
        enum gf_column column;
        uint16_t in, out;
        bool exact; /* the XML states all writes */
    } rules[] = {
        {"OPR_SSRC_SPECIAL_SCC", GF_SCC, ISA_STATE_SCC_IN, ISA_STATE_SCC_OUT, true},
        {"OPR_VCC", GF_VCC, ISA_STATE_VCC_IN, ISA_STATE_VCC_OUT, true},
        {"OPR_SDST_EXEC", GF_EXEC, ISA_STATE_EXEC_IN, ISA_STATE_EXEC_OUT, false},
        {"OPR_EXEC", GF_EXEC, ISA_STATE_EXEC_IN, ISA_STATE_EXEC_OUT, false},
        {"OPR_SDST_M0", GF_M0, ISA_STATE_M0_IN, ISA_STATE_M0_OUT, false},
    };
    unsigned state = op->row->f.state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        bool in = has_operand(op, rules[i].type, true, false);
        bool out = has_operand(op, rules[i].type, false, true);
        if (in && !(state & rules[i].in))
            FAIL(op, rules[i].column, "AMD's row reads it");
        if (out && !(state & rules[i].out))
            FAIL(op, rules[i].column, "AMD's row writes it");
        if (rules[i].exact && !out && state & rules[i].out)
            FAIL(op, rules[i].column, "AMD's row does not write it");
    }
    bool vector = has_encoding(op, vector_alu) || has_encoding(op, vector_memory) ||
                  has_encoding(op, lds) || has_encoding(op, exports);
    if (state & ISA_STATE_MASKED && !vector)
        FAIL(op, GF_EXEC, "mask is for vector instructions");
}

static void check_space(struct op *op)
{
    static const struct {
        const char *base;
        enum isa_space space, or_else;
    } rules[] = {
        {"DS", ISA_SPACE_LDS, ISA_SPACE_GWS},
        {"LDSDIR", ISA_SPACE_LDS, ISA_SPACE_LDS},
        {"FLAT", ISA_SPACE_FLAT, ISA_SPACE_FLAT},
        {"GLOBAL", ISA_SPACE_GLOBAL, ISA_SPACE_GLOBAL},
        {"SCRATCH", ISA_SPACE_SCRATCH, ISA_SPACE_SCRATCH},
        {"SMEM", ISA_SPACE_SCALAR, ISA_SPACE_SBUFFER},
        {"MUBUF", ISA_SPACE_BUFFER, ISA_SPACE_BUFFER},
        {"MTBUF", ISA_SPACE_TBUFFER, ISA_SPACE_TBUFFER},
        {"MIMG", ISA_SPACE_IMAGE, ISA_SPACE_IMAGE},
    };
    unsigned space = op->row->f.space;
    if (space == ISA_SPACE_NONE)
        return;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (same(op->amd[0]->base, rules[i].base) &&
            (space == rules[i].space || space == rules[i].or_else))
            return;
    FAIL(op, GF_MEM, "not the memory of encoding %s", op->amd[0]->base);
}

static void check_access(struct op *op)
{
    const struct isa_facts *f = &op->row->f;
    bool reads = has_operand(op, "OPR_DSMEM", true, false);
    bool writes = has_operand(op, "OPR_DSMEM", false, true);
    bool loads = f->access == ISA_ACCESS_LOAD, stores = f->access == ISA_ACCESS_STORE;
    bool both = f->access == ISA_ACCESS_ATOMIC || f->access == ISA_ACCESS_UPDATE;
    if (f->space == ISA_SPACE_NONE || f->space == ISA_SPACE_GWS) {
        if (f->access != ISA_ACCESS_NONE || f->bytes != 0 || f->elems != 0 ||
            f->mem != 0)
            FAIL(op, GF_ACCESS, "access, size or form without memory");
        return;
    }
    if (reads && !loads && !both)
        FAIL(op, GF_ACCESS, "AMD's row reads the LDS");
    if (writes && !stores && !both)
        FAIL(op, GF_ACCESS, "AMD's row writes the LDS");
    if (f->order != ISA_ORDER_NONE && f->access != ISA_ACCESS_ATOMIC)
        FAIL(op, GF_COMMUTES, "operations of memory are for atomics");
}

/* Register bits of the data against bytes and elements. */
static void check_size(struct op *op)
{
    static const char *const all[] = {"VDST", "VDATA", "DATA", "DATA0", "SDATA", NULL};
    static const char *const sent[] = {"VDATA", "DATA", "DATA0", NULL};
    const struct isa_facts *f = &op->row->f;
    if (f->space == ISA_SPACE_NONE || f->space == ISA_SPACE_IMAGE ||
        f->access == ISA_ACCESS_NONE || f->access == ISA_ACCESS_UPDATE ||
        f->mem & (ISA_MEM_FORMAT | ISA_MEM_TO_LDS))
        return;
    bool store = f->access == ISA_ACCESS_STORE;
    unsigned bits = field_bits(op->amd[0], store ? sent : all);
    unsigned bytes = f->bytes * (store && f->elems == 2 ? 1u : f->elems);
    if (f->mem & ISA_MEM_COMPARE && field_bits(op->amd[0], all) == 2 * 8 * f->bytes)
        bytes *= 2; /* data and comparison in one register range */
    if (bits == 0)
        FAIL(op, GF_SIZE, "AMD's row has no data");
    else if ((bits + 31) / 32 != (bytes + 3) / 4)
        FAIL(op, GF_SIZE, "%u bytes, but AMD's row has data of %u bits", bytes, bits);
    bool returns = field_bits(op->amd[0], (const char *const[]){"VDST", NULL}) != 0;
    bool atomic = f->access == ISA_ACCESS_ATOMIC && f->space == ISA_SPACE_LDS;
    if (atomic && returns != ((f->mem & ISA_MEM_RETURNS) != 0))
        FAIL(op, GF_FORM, "ret and a VDST go together");
}

static void check_flow(struct op *op)
{
    bool branch = false, terminator = false;
    unsigned flow = op->row->f.flow;
    for (size_t i = 0; i < op->n_amd; i++) {
        const struct gm_row *amd = op->amd[i];
        branch |= amd->branch || amd->cond_branch || amd->indirect;
        terminator |= amd->terminator;
    }
    if (branch != ((flow & ISA_FLOW_BRANCH) != 0))
        FAIL(op, GF_FLOW, "AMD's row says that it is %s branch", branch ? "a" : "no");
    if (terminator && !(flow & ISA_FLOW_END))
        FAIL(op, GF_FLOW, "AMD's row says that it ends the program");
    if ((op->row->f.access != ISA_ACCESS_NONE) && !(flow & ISA_FLOW_FAULT))
        FAIL(op, GF_FLOW, "accesses memory, but cannot fault");
}

/* ---- rules over two opcodes -------------------------------------------------------
 */

static struct gf_row *find_row(struct gf_sheet *sheet, const char *op)
{
    for (size_t i = 0; i < sheet->n_rows; i++)
        if (same(sheet->rows[i].op, op))
            return &sheet->rows[i];
    return NULL;
}

static unsigned vopd_slots(const struct op *op)
{
    unsigned slots = 0;
    for (size_t i = 0; i < op->n_amd; i++)
        if (same(op->amd[i]->base, "VOPD"))
            slots |= op->amd[i]->half_y ? ISA_VOPD_Y : ISA_VOPD_X;
    return slots;
}

/* Link v_dual_NAME with v_NAME; their halves, exceptions and meaning are the same. */
static void check_vopd(struct op *op)
{
    unsigned slots = vopd_slots(op);
    struct gf_row *row = op->row;
    if (slots == 0) {
        if (row->f.vopd != 0 && row->dual == NULL)
            FAIL(op, GF_VOPD, "there is no v_dual_ form");
        return;
    }
    if (row->f.vopd != slots)
        FAIL(op, GF_VOPD, "AMD's rows are for%s%s", slots & ISA_VOPD_X ? " x" : "",
             slots & ISA_VOPD_Y ? " y" : "");
    char name[128];
    snprintf(name, sizeof name, "v_%s", row->op + strlen("v_dual_"));
    struct gf_row *plain = find_row(op->sheet, name);
    if (plain == NULL)
        return;
    row->dual = plain->op;
    plain->dual = row->op;
    if (plain->f.vopd != row->f.vopd)
        gf_error(op->sheet, plain, GF_VOPD, "%s has other halves", row->op);
    if (!same(plain->f.function, row->f.function))
        FAIL(op, GF_FUNCTION, "is not that of %s", plain->op);
}

/* The formats of sources 0 and 1 are those of the other op's 1 and 0. */
static void check_commutes(struct op *op, const struct gm_row *other_amd)
{
    static const char *const names[][2] = {{"SRC0", "VSRC1"},
                                           {"SRC0", "SRC1"},
                                           {"SSRC0", "SSRC1"},
                                           {"SRCX0", "VSRCX1"},
                                           {"SRCY0", "VSRCY1"}};
    struct gf_row *row = op->row, *other = find_row(op->sheet, row->swapped);
    if (other == NULL || other_amd == NULL) {
        FAIL(op, GF_COMMUTES, "\"%s\" is neither self nor an operation nor an opcode",
             row->swapped);
        return;
    }
    if (!same(other->swapped, row->op))
        FAIL(op, GF_COMMUTES, "%s does not name it in return", other->op);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct gm_operand *a = field_of(op->amd[0], names[i][0]);
        const struct gm_operand *b = field_of(op->amd[0], names[i][1]);
        if (a == NULL || b == NULL)
            continue;
        const struct gm_operand *c = field_of(other_amd, names[i][0]);
        const struct gm_operand *d = field_of(other_amd, names[i][1]);
        if (c == NULL || d == NULL || !same(a->format, d->format) ||
            !same(b->format, c->format))
            FAIL(op, GF_COMMUTES, "sources of %s have other formats", other->op);
        return;
    }
    FAIL(op, GF_COMMUTES, "AMD's row has no two sources to exchange");
}

/* ---- all of it --------------------------------------------------------------------
 */

static struct op find_op(const struct gm_model *m, struct gf_sheet *sheet,
                         struct gf_row *row)
{
    struct op op = {.m = m, .sheet = sheet, .row = row};
    for (size_t i = 0; i < m->n_rows && op.n_amd < 4; i++)
        if (same(m->rows[i].op, row->op))
            op.amd[op.n_amd++] = &m->rows[i];
    return op;
}

static int by_op(const void *a, const void *b)
{
    return strcmp(((const struct gf_row *)a)->op, ((const struct gf_row *)b)->op);
}

/* One row for each opcode of the model. */
static void check_complete(const struct gm_model *m, struct gf_sheet *sheet)
{
    size_t r = 0;
    for (size_t i = 0; i < m->n_ops; i++) {
        for (; r < sheet->n_rows && strcmp(sheet->rows[r].op, m->ops[i]) < 0; r++)
            gf_error(sheet, &sheet->rows[r], GF_OP, "AMD's tables have no such opcode");
        bool found = r < sheet->n_rows && same(sheet->rows[r].op, m->ops[i]);
        if (!found) {
            fprintf(stderr, "%s: %s: op: the opcode has no row\n", sheet->path,
                    m->ops[i]);
            sheet->errors++;
            continue;
        }
        for (r++; r < sheet->n_rows && same(sheet->rows[r].op, m->ops[i]); r++)
            gf_error(sheet, &sheet->rows[r], GF_OP, "a second row");
    }
    for (; r < sheet->n_rows; r++)
        gf_error(sheet, &sheet->rows[r], GF_OP, "AMD's tables have no such opcode");
}

static void check_op(struct op *op)
{
    check_pipe(op);
    check_floats(op);
    check_fidelity(op);
    check_state(op);
    check_space(op);
    check_access(op);
    check_size(op);
    check_flow(op);
    if (op->row->swapped != NULL) {
        struct gf_row other = {.op = op->row->swapped};
        struct op o = find_op(op->m, op->sheet, &other);
        check_commutes(op, o.n_amd != 0 ? o.amd[0] : NULL);
    }
}

static void stop_if_wrong(const struct gf_sheet *sheet)
{
    if (sheet->errors != 0)
        gen_die("%u errors in %s", sheet->errors, sheet->path);
}

void gf_check(const struct gm_model *model, struct gf_sheet *sheet)
{
    stop_if_wrong(sheet);
    if (sheet->n_rows != 0)
        qsort(sheet->rows, sheet->n_rows, sizeof sheet->rows[0], by_op);
    check_complete(model, sheet);
    stop_if_wrong(sheet);
    for (size_t i = 0; i < sheet->n_rows; i++) {
        struct op op = find_op(model, sheet, &sheet->rows[i]);
        check_op(&op);
        if (vopd_slots(&op) != 0)
            check_vopd(&op);
    }
    for (size_t i = 0; i < sheet->n_rows; i++) { /* now that they are linked */
        struct op op = find_op(model, sheet, &sheet->rows[i]);
        if (vopd_slots(&op) == 0)
            check_vopd(&op);
    }
    stop_if_wrong(sheet);
}
