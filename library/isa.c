/* isa.c: single instructions for users of the library.
 *
 * Must not know files. Invariant: what rdna3_decode gives as text, rdna3_encode takes
 * wherever the bytes are canonical. SPDX-License-Identifier: MIT
 */
#include "isa.h"

#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "isa_asm.h"

_Static_assert(RDNA3_MAX_OPERANDS == ISA_MAX_OPNDS, "operands of an instruction");
_Static_assert(RDNA3_MAX_BYTES == ISA_MAX_BYTES, "bytes of an instruction");
_Static_assert(sizeof((struct rdna3_inst *)0)->text == ISA_MAX_TEXT, "its text");
_Static_assert(RDNA3_OPERAND_IN == ISA_OF_IN && RDNA3_OPERAND_OUT == ISA_OF_OUT &&
                   RDNA3_OPERAND_IMPLICIT == ISA_OF_IMPLICIT,
               "flags of operands");

static void tell_operand(const struct isa_inst *inst, const struct isa_opnd *o,
                         struct rdna3_operand *out)
{
    *out = (struct rdna3_operand){.kind = RDNA3_OPERAND_OTHER,
                                  .flags = o->flags &
                                           (ISA_OF_IN | ISA_OF_OUT | ISA_OF_IMPLICIT)};
    switch (o->kind) {
    case ISA_OPND_REG:
    case ISA_OPND_SCC:
        out->kind = RDNA3_OPERAND_REGISTER;
        out->number = o->kind == ISA_OPND_SCC ? ISA_SEL_SCC : o->sel;
        out->dwords = o->dwords;
        if (o->kind == ISA_OPND_SCC)
            strcpy(out->name, "scc");
        else
            (void)isa_sel_name(o->sel, o->dwords, o->fmt, out->name);
        break;
    case ISA_OPND_LITERAL:
        out->kind = RDNA3_OPERAND_LITERAL;
        out->value = inst->literal;
        break;
    case ISA_OPND_IMM:
        out->kind = RDNA3_OPERAND_IMMEDIATE;
        out->value = o->imm;
        break;
    default:
        break;
    }
}

int rdna3_decode(const void *code, size_t bytes, unsigned wave, struct rdna3_inst *out)
{
    struct isa_inst inst;
    if (wave != 32 && wave != 64)
        return RDNA3_E_INVALID;
    rd_status st = isa_decode(code, bytes, wave, &inst);
    if (st != RD_OK)
        return st;
    *out = (struct rdna3_inst){.bytes = inst.bytes,
                               .n_operands = inst.n_opnds,
                               .mnemonic = isa_op_name(inst.op),
                               .encoding = isa_enc_name(inst.enc)};
    for (unsigned i = 0; i < inst.n_opnds; i++)
        tell_operand(&inst, &inst.opnd[i], &out->operand[i]);
    (void)isa_print(&inst, wave, 0, out->text);
    return RDNA3_OK;
}

int rdna3_encode(const char *statement, unsigned wave, void *code, unsigned *bytes,
                 unsigned *column, struct rdna3_error *err)
{
    struct isa_asm_options options = {.wave = wave};
    struct isa_asm_error why = {0};
    struct isa_fixup fixup;
    uint8_t made[20];
    unsigned n;
    if (wave != 32 && wave != 64)
        return rdna3_fail(err, RDNA3_E_INVALID, "wave %u: 32 or 64", wave);
    rd_status st =
        isa_assemble(statement, strlen(statement), &options, made, &n, &fixup, &why);
    if (st == RD_OK && n > RDNA3_MAX_BYTES)
        st = RD_E_ENCODING;
    if (st != RD_OK) {
        if (column)
            *column = why.column;
        return rdna3_fail(err, st, "%s", why.text);
    }
    memcpy(code, made, n);
    *bytes = n;
    return RDNA3_OK;
}

unsigned rdna3_mnemonic_count(void)
{
    return isa_op_count() - 1; /* without ISA_OP_NONE */
}

const char *rdna3_mnemonic(unsigned index)
{
    return index < rdna3_mnemonic_count() ? isa_op_name(index + 1) : NULL;
}
