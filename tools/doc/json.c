/* json.c: an instruction's page for machines.
 *
 * Must not know encodings or semantics itself. Invariant: names are those of the tables
 * and of the fact sheet, so that a new word needs nothing here.
 * SPDX-License-Identifier: MIT
 */
#include "doc.h"

#include "describe.h"
#include "facts.h"
#include "isa.h"

static void json_place(struct json *j, const char *name, unsigned shift, unsigned width)
{
    json_object(j, NULL);
    json_text(j, "name", name);
    json_u64(j, "shift", shift);
    json_u64(j, "width", width);
}

static void json_parts(struct json *j, const struct doc_operand *opnd)
{
    json_array(j, "parts");
    for (unsigned i = 0; i < opnd->n_parts; i++) {
        const struct isa_imm_part *part = &opnd->parts[i];
        json_place(j, part->name, part->shift, part->width);
        json_array(j, "values");
        for (unsigned v = 0; part->kind != ISA_IMM_COUNT && v < 1u << part->width; v++)
            if (isa_imm_name(part->kind, v))
                json_text(j, NULL, isa_imm_name(part->kind, v));
        json_close(j);
        json_close(j);
    }
    json_close(j);
}

static void json_operand(struct json *j, const struct isa_row *row, unsigned index)
{
    const struct isa_opnd_desc *opnd = isa_row_opnd(row, index);
    struct doc_operand said;
    doc_operand(row, index, &said);
    json_object(j, NULL);
    json_text(j, "name", said.name);
    json_text(j, "field", isa_field_name(opnd->field));
    json_array(j, "kinds");
    for (unsigned k = 0; k < DOC_KINDS; k++)
        if (said.kinds >> k & 1)
            json_text(j, NULL, doc_kind_name(k));
    json_close(j);
    json_parts(j, &said);
    json_bool(j, "in", opnd->flags & ISA_OF_IN);
    json_bool(j, "out", opnd->flags & ISA_OF_OUT);
    json_bool(j, "implicit", opnd->flags & ISA_OF_IMPLICIT);
    json_text(j, "format", doc_fmt_name(opnd->fmt));
    json_u64(j, "bits", opnd->bits ? opnd->bits : opnd->dwords * 32u);
    json_close(j);
}

static void json_row(struct json *j, const struct isa_row *row)
{
    static const char *const variants[] = {[ISA_VAR_LITERAL] = "literal",
                                           [ISA_VAR_DPP16] = "dpp16",
                                           [ISA_VAR_DPP8] = "dpp8",
                                           [ISA_VAR_NSA] = "nsa"};
    json_object(j, NULL);
    json_text(j, "encoding", isa_enc_name(row->enc));
    json_u64(j, "opcode", row->opcode);
    json_array(j, "fields");
    struct isa_field_place places[ISA_MAX_FIELDS];
    unsigned n = isa_enc_fields(row->enc, ISA_VAR_NONE, places);
    for (unsigned i = 0; i < n; i++) {
        json_place(j, isa_field_name(places[i].field), places[i].shift,
                   places[i].width);
        json_u64(j, "pad", places[i].pad);
        json_close(j);
    }
    json_close(j);
    json_array(j, "variants");
    for (unsigned v = ISA_VAR_LITERAL; v <= ISA_VAR_NSA; v++)
        if (row->variants >> v & 1)
            json_text(j, NULL, variants[v]);
    json_close(j);
    json_array(j, "operands");
    for (unsigned i = 0; i < row->n_opnds; i++)
        json_operand(j, row, i);
    json_close(j);
    json_close(j);
}

/* The words of the bits that are set. */
static void json_words(struct json *j, const char *key, uint32_t bits, unsigned count,
                       const struct isa_fact_word *(*word)(unsigned bit))
{
    json_array(j, key);
    for (unsigned i = 0; i < count; i++)
        if (bits >> i & 1)
            json_text(j, NULL, word(i)->word);
    json_close(j);
}

static void json_state(struct json *j, unsigned state)
{
    static const struct {
        const char *name;
        unsigned in, out;
    } names[] = {
        {"exec", ISA_STATE_EXEC_IN, ISA_STATE_EXEC_OUT},
        {"scc", ISA_STATE_SCC_IN, ISA_STATE_SCC_OUT},
        {"vcc", ISA_STATE_VCC_IN, ISA_STATE_VCC_OUT},
        {"m0", ISA_STATE_M0_IN, ISA_STATE_M0_OUT},
        {"mode", ISA_STATE_MODE_IN, ISA_STATE_MODE_OUT},
    };
    for (unsigned out = 0; out < 2; out++) {
        json_array(j, out ? "writes" : "reads");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (state & (out ? names[i].out : names[i].in))
                json_text(j, NULL, names[i].name);
        json_close(j);
    }
    json_bool(j, "masked_by_exec", state & ISA_STATE_MASKED);
}

static void json_memory(struct json *j, const struct isa_facts *f)
{
    if (f->space == ISA_SPACE_NONE) {
        json_null(j, "memory");
        return;
    }
    json_object(j, "memory");
    json_text(j, "space", isa_space_word(f->space)->word);
    json_text(j, "access", isa_access_word(f->access)->word);
    json_u64(j, "bytes", f->bytes);
    json_u64(j, "elements", f->elems);
    json_u64(j, "stride", f->stride);
    json_words(j, "forms", f->mem, ISA_MEM_BITS, isa_mem_word);
    json_text(j, "commutes",
              f->order == ISA_ORDER_NONE ? NULL : isa_order_word(f->order)->word);
    json_close(j);
}

static void json_op_name(struct json *j, const char *key, unsigned op)
{
    json_text(j, key, op == ISA_OP_NONE ? NULL : isa_op_name(op));
}

static void json_facts(struct json *j, const struct isa_facts *f)
{
    json_object(j, "facts");
    json_text(j, "pipe", isa_pipe_word(f->pipe)->word);
    json_text(j, "exceptions", isa_excp_word(f->excp)->word);
    json_text(j, "fidelity", isa_fidelity_word(f->fidelity)->word);
    json_u64(j, "ulp", f->ulp);
    json_text(j, "note", f->note);
    json_u64(j, "flops", f->flops);
    json_memory(j, f);
    json_state(j, f->state);
    json_words(j, "flow", f->flow, ISA_FLOW_BITS, isa_flow_word);
    json_op_name(j, "swapped", f->swapped);
    json_op_name(j, "dual", f->dual);
    json_bool(j, "vopd_x", f->vopd & ISA_VOPD_X);
    json_bool(j, "vopd_y", f->vopd & ISA_VOPD_Y);
    json_close(j);
}

void doc_json(struct json *j, const struct emu *emu, unsigned op)
{
    const char *file;
    unsigned line;
    char about[ISA_DESCRIBE_BYTES];
    (void)isa_describe(op, about);
    json_object(j, NULL);
    json_text(j, "mnemonic", isa_op_name(op));
    json_text(j, "description", about);
    json_array(j, "encodings");
    for (unsigned r = 0; r < isa_row_count(); r++)
        if (isa_row(r)->op == op)
            json_row(j, isa_row(r));
    json_close(j);
    json_facts(j, isa_facts(op));
    if (emu_semantics(emu, op, &file, &line) == RD_OK) {
        char path[128];
        snprintf(path, sizeof path, "emulator/%s", file);
        json_object(j, "semantics");
        json_text(j, "file", path);
        json_u64(j, "line", line);
        json_close(j);
    } else {
        json_null(j, "semantics");
    }
    json_close(j);
}
