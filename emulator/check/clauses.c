/* clauses.c: what may follow s_clause, and which registers the halves of a VOPD may
 * read: rules of the manual (5.2, 7.6) that the chip does not check.
 *
 * Where the manual says of s_waitcnt both that it may be in a clause and that it must
 * not, nothing is told. Must not know of hazards. SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "facts.h"
#include "internal.h"

/* Instructions of one clause are of one type. */
enum type {
    TYPE_NONE,   /* in no clause */
    TYPE_FIRST,  /* what comes next says */
    TYPE_INSIDE, /* in any */
    TYPE_SMEM,
    TYPE_VALU,
    TYPE_LDS,
    TYPE_IMAGE, /* loads; in the order of of_access */
    TYPE_IMAGE_STORE,
    TYPE_IMAGE_ATOMIC,
    TYPE_IMAGE_SAMPLE,
    TYPE_VMEM, /* buffer, global, scratch */
    TYPE_VMEM_STORE,
    TYPE_VMEM_ATOMIC,
    TYPE_FLAT,
    TYPE_FLAT_STORE,
    TYPE_FLAT_ATOMIC
};

static unsigned of_access(unsigned type, const struct isa_facts *facts)
{
    switch (facts->access) {
    case ISA_ACCESS_LOAD:
        return type;
    case ISA_ACCESS_STORE:
        return type + 1;
    case ISA_ACCESS_ATOMIC:
    case ISA_ACCESS_UPDATE:
        return type + 2;
    case ISA_ACCESS_SAMPLE:
        return type + 3;
    default: /* invalidations */
        return TYPE_NONE;
    }
}

static unsigned type_of(const struct emu_inst *inst)
{
    const struct isa_facts *facts = isa_facts(inst->isa.op);
    unsigned op = inst->isa.op;
    switch (inst->isa.enc) {
    case ISA_ENC_SMEM:
        return facts->access == ISA_ACCESS_NONE ? TYPE_NONE : TYPE_SMEM;
    case ISA_ENC_DS:
        return inst->isa.flags & ISA_M_GDS ? TYPE_NONE : TYPE_LDS;
    case ISA_ENC_MIMG:
        return of_access(TYPE_IMAGE, facts);
    case ISA_ENC_MUBUF:
    case ISA_ENC_MTBUF:
    case ISA_ENC_GLOBAL:
    case ISA_ENC_SCRATCH:
        return of_access(TYPE_VMEM, facts);
    case ISA_ENC_FLAT:
        return of_access(TYPE_FLAT, facts);
    default:
        break;
    }
    if (op == ISA_S_NOP || op == ISA_S_SLEEP || op == ISA_S_DELAY_ALU ||
        inst->kind == EMU_KIND_WAIT)
        return TYPE_INSIDE;
    return inst->isa.enc >= ISA_ENC_VOP1 && inst->isa.enc <= ISA_ENC_VINTERP
               ? TYPE_VALU
               : TYPE_NONE;
}

static void tell(struct ck *ck, const struct ck_wave *w, const struct emu_event *e,
                 const char *kind, uint64_t pc, const char *text)
{
    struct ck_finding f;
    ck_finding_at(ck, CK_WAIT, kind, e, 0, &f);
    if (pc)
        ck_actor_at(ck, w, pc, 0, &f.other);
    (void)snprintf(f.text, sizeof f.text, "%s", text);
    ck_report(ck, &f);
}

static void begin(struct ck *ck, const struct ck_wave *w, struct ck_clause *c,
                  const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    unsigned imm = inst->n_opnds ? (unsigned)inst->opnd[0].imm : 1, n = (imm & 63u) + 1;
    if (c->left)
        tell(ck, w, e, "clause", c->pc, "a clause begins in another one");
    *c = (struct ck_clause){.left = 0};
    if (n < 2 || n > 63) {
        tell(ck, w, e, "clause", 0, "clauses have 2 to 63 instructions");
        return;
    }
    *c = (struct ck_clause){.pc = e->inst->pc,
                            .type = TYPE_FIRST,
                            .left = (uint8_t)n,
                            .span = imm >> 8 & 15u};
}

/* What is wrong with an instruction of this type in the clause; NULL: nothing. */
static const char *wrong(const struct ck_clause *c, unsigned type, unsigned op)
{
    bool first = c->type == TYPE_FIRST || (c->span && c->at % c->span == 0);
    if (type == TYPE_NONE)
        return "this instruction may be in no clause";
    if (type == TYPE_INSIDE && first)
        return "a clause, or what follows a break of it, begins with an instruction "
               "of its type";
    if (op == ISA_S_DELAY_ALU && c->type == TYPE_VALU)
        return "s_delay_alu may not be in a clause of VALU instructions";
    if (type != TYPE_INSIDE && c->type != TYPE_FIRST && type != c->type)
        return "a clause has instructions of another type than its first";
    return NULL;
}

void ck_clause_step(struct ck *ck, const struct ck_wave *w, struct ck_clause *c,
                    const struct emu_event *e)
{
    if (e->inst->isa.op == ISA_S_CLAUSE) {
        begin(ck, w, c, e);
        return;
    }
    if (!c->left)
        return;
    unsigned type = type_of(e->inst);
    const char *text = wrong(c, type, e->inst->isa.op);
    bool skipped = c->type == TYPE_FIRST && type > TYPE_SMEM && !e->exec;
    if (text)
        tell(ck, w, e, "clause", c->pc, text);
    if (text || skipped || c->left == 1) { /* skipped: there is no clause */
        *c = (struct ck_clause){.left = 0};
        return;
    }
    if (c->type == TYPE_FIRST)
        c->type = (uint8_t)type;
    c->left--;
    c->at++;
}

/* ---- VOPD ---- */

/* Number of the VGPR in a field; -1: there is none. */
static int vector_in(const struct isa_inst *inst, unsigned field)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].field == field && inst->opnd[i].kind == ISA_OPND_REG &&
            inst->opnd[i].sel >= ISA_SEL_VGPR0)
            return inst->opnd[i].sel - ISA_SEL_VGPR0;
    return -1;
}

static bool adds_to_result(unsigned op)
{
    return op == ISA_V_DUAL_FMAC_F32 || op == ISA_V_DUAL_DOT2ACC_F32_F16 ||
           op == ISA_V_DUAL_DOT2ACC_F32_BF16;
}

/* What comes through the port of third sources: FMAMK's addend, too. */
static int third_source(const struct isa_inst *inst, unsigned op, unsigned dst,
                        unsigned src1)
{
    return op == ISA_V_DUAL_FMAMK_F32 ? vector_in(inst, src1)
           : adds_to_result(op)       ? vector_in(inst, dst)
                                      : -1;
}

static int second_source(const struct isa_inst *inst, unsigned op, unsigned src1)
{
    return op == ISA_V_DUAL_FMAMK_F32 ? -1 : vector_in(inst, src1);
}

static bool same(int a, int b, int banks)
{
    return a >= 0 && b >= 0 && a % banks == b % banks;
}

void ck_dual_step(struct ck *ck, const struct ck_wave *w, const struct emu_event *e)
{
    const struct isa_inst *inst = &e->inst->isa;
    unsigned x = inst->op, y = inst->op_y;
    if (y == ISA_OP_NONE)
        return;
    if (same(vector_in(inst, ISA_FIELD_SRCX0), vector_in(inst, ISA_FIELD_SRCY0), 4) ||
        same(second_source(inst, x, ISA_FIELD_VSRCX1),
             second_source(inst, y, ISA_FIELD_VSRCY1), 4))
        tell(ck, w, e, "dual-bank", 0,
             "both halves read VGPRs of one bank (number modulo 4) as the same source");
    else if (same(third_source(inst, x, ISA_FIELD_VDSTX, ISA_FIELD_VSRCX1),
                  third_source(inst, y, ISA_FIELD_VDSTY, ISA_FIELD_VSRCY1), 2))
        tell(ck, w, e, "dual-bank", 0,
             "third sources of both halves have to be one even, one odd VGPR");
}
