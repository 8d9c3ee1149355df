/* code_check.c: does machine code wait for what it reads? The emulator cannot tell:
 * there every instruction is complete when the next one begins.
 *
 * One pass over straight code. Branches and their targets are places where nothing may
 * be under way. Written from the manual's rules (RDNA3 5.5 and 5.6, 7.9) and LLVM's
 * hazards for gfx11, not from what the compiler does.
 * SPDX-License-Identifier: MIT
 */
#include "code_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobj.h"
#include "facts.h"
#include "isa.h"

#define MAX_PENDING 512
#define TRANS_VALUS 5 /* a result is there after so many vector instructions */
#define TRANS_TRANS 1 /* or so many of the transcendental unit */

/* Registers by isa_sel: VGPRs from 256 on. */
struct span {
    unsigned first, end;
};

struct access {
    struct span to; /* registers that it fills; none if equal */
    bool scalar;    /* comes back in any order */
};

struct queue {
    struct access list[MAX_PENDING];
    unsigned n;
};

struct trans {
    struct span to;
    unsigned valus, trans; /* since */
};

struct check {
    const uint8_t *code;
    size_t bytes, pc;
    bool *target; /* by dword */
    struct queue vm, lgkm;
    unsigned stores;
    struct trans trans[8];
    unsigned n_trans;
    struct span wmma; /* written by the vector instruction before */
    char *error;
};

static bool fail(struct check *c, const struct isa_inst *inst, const char *why)
{
    char text[ISA_MAX_TEXT];
    isa_print(inst, ISA_WAVE32, 0, text);
    snprintf(c->error, 256, "%#zx: %.150s: %s", c->pc, text, why);
    return false;
}

static struct span span_of(const struct isa_opnd *o)
{
    struct span s = {0, 0};
    if (o->kind == ISA_OPND_REG &&
        (o->sel <= ISA_SEL_VCC_HI || o->sel >= ISA_SEL_VGPR0))
        s = (struct span){o->sel, o->sel + o->dwords};
    return s;
}

static bool meet(struct span a, struct span b)
{
    return a.first < b.end && b.first < a.end;
}

static bool touches(const struct isa_inst *inst, struct span s, unsigned how)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].flags & how && meet(span_of(&inst->opnd[i]), s))
            return true;
    return false;
}

static bool touches_any(const struct isa_inst *inst, const struct queue *q)
{
    for (unsigned i = 0; i < q->n; i++)
        if (touches(inst, q->list[i].to, ISA_OF_IN | ISA_OF_OUT))
            return true;
    return false;
}

/* Which registers the first result goes to. */
static struct span result_of(const struct isa_inst *inst)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].flags & ISA_OF_OUT)
            return span_of(&inst->opnd[i]);
    return (struct span){0, 0};
}

/* ---- counters ---- */

static void add(struct queue *q, struct access a)
{
    if (q->n < MAX_PENDING)
        q->list[q->n++] = a;
}

/* Wait until only so many are under way. Scalar loads overtake: then any may be. */
static void wait(struct queue *q, unsigned keep)
{
    unsigned n = 0, gone = q->n > keep ? q->n - keep : 0;
    for (unsigned i = 0; i < q->n && keep > 0; i++)
        if (q->list[i].scalar)
            gone = 0;
    for (unsigned i = gone; i < q->n; i++)
        q->list[n++] = q->list[i];
    q->n = n;
}

static unsigned immediate(const struct isa_inst *inst)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].kind == ISA_OPND_IMM)
            return (unsigned)inst->opnd[i].imm & 0xffff;
    return 0;
}

static void do_waits(struct check *c, const struct isa_inst *inst)
{
    unsigned imm = immediate(inst);
    if (inst->op == ISA_S_WAITCNT) {
        if ((imm >> 10 & 63) != 63)
            wait(&c->vm, imm >> 10 & 63);
        if ((imm >> 4 & 63) != 63)
            wait(&c->lgkm, imm >> 4 & 63);
    } else if (inst->op == ISA_S_WAITCNT_VSCNT && imm < c->stores) {
        c->stores = imm;
    } else if (inst->op == ISA_S_WAITCNT_DEPCTR && (imm >> 12 & 15) == 0) {
        c->n_trans = 0;
    }
}

static void begin(struct check *c, const struct isa_inst *inst)
{
    const struct isa_facts *f = isa_facts(inst->op);
    struct access a = {result_of(inst), f->pipe == ISA_PIPE_SMEM};
    switch (f->pipe) {
    case ISA_PIPE_SMEM:
    case ISA_PIPE_LDS:
    case ISA_PIPE_LDS_FADD:
    case ISA_PIPE_PERMUTE:
        add(&c->lgkm, a);
        break;
    case ISA_PIPE_VMEM:
        if (f->access == ISA_ACCESS_STORE)
            c->stores++;
        else
            add(&c->vm, a);
        break;
    default:
        break;
    }
}

/* ---- vector instructions ---- */

static bool check_valu(struct check *c, const struct isa_inst *inst)
{
    const struct isa_facts *f = isa_facts(inst->op);
    bool wmma = f->pipe == ISA_PIPE_WMMA || f->pipe == ISA_PIPE_WMMA4;
    bool trans = f->pipe == ISA_PIPE_TRANS;
    for (unsigned i = 0; i < c->n_trans; i++)
        if (touches(inst, c->trans[i].to, ISA_OF_IN))
            return fail(c, inst, "reads a result of the transcendental unit too early");
    if (wmma && (meet(span_of(&inst->opnd[1]), c->wmma) ||
                 meet(span_of(&inst->opnd[2]), c->wmma)))
        return fail(c, inst, "multiplies the result of the product before it");
    c->wmma = wmma ? result_of(inst) : (struct span){0, 0};
    unsigned n = 0;
    for (unsigned i = 0; i < c->n_trans; i++) {
        c->trans[i].valus++;
        c->trans[i].trans += trans;
        if (c->trans[i].valus <= TRANS_VALUS && c->trans[i].trans <= TRANS_TRANS)
            c->trans[n++] = c->trans[i];
    }
    c->n_trans = n;
    if (trans && n < 8)
        c->trans[c->n_trans++] = (struct trans){.to = result_of(inst)};
    return true;
}

/* ---- all of it ---- */

static bool is_branch(const struct isa_inst *inst)
{
    return isa_facts(inst->op)->pipe == ISA_PIPE_BRANCH;
}

static bool check_inst(struct check *c, const struct isa_inst *inst)
{
    const struct isa_facts *f = isa_facts(inst->op);
    bool anything = c->vm.n || c->lgkm.n;
    if ((is_branch(inst) || c->target[c->pc / 4]) && anything)
        return fail(c, inst, "something is under way where paths part or meet");
    if (is_branch(inst) && c->n_trans)
        return fail(c, inst, "a transcendental result is under way where paths part");
    if (touches_any(inst, &c->vm) || touches_any(inst, &c->lgkm))
        return fail(c, inst, "a register of it is still being loaded");
    if (inst->op == ISA_S_BARRIER && (c->lgkm.n || c->stores))
        return fail(c, inst, "others may not see what was written before");
    if (f->pipe <= ISA_PIPE_VNONE && !check_valu(c, inst))
        return false;
    do_waits(c, inst);
    begin(c, inst);
    return true;
}

/* Every instruction, or every branch for where it goes. */
static bool walk(struct check *c, bool targets)
{
    struct isa_inst inst;
    for (c->pc = 0; c->pc < c->bytes; c->pc += inst.bytes) {
        if (isa_decode(c->code + c->pc, c->bytes - c->pc, ISA_WAVE32, &inst) != RD_OK) {
            snprintf(c->error, 256, "%#zx: no instruction", c->pc);
            return false;
        }
        size_t to = c->pc + 4 + 4 * (size_t)(int16_t)immediate(&inst);
        if (targets && is_branch(&inst) && to < c->bytes)
            c->target[to / 4] = true;
        if (!targets && !check_inst(c, &inst))
            return false;
        if (inst.op == ISA_S_ENDPGM && !targets)
            return true;
    }
    return true;
}

static bool check_text(const struct co_object *object, char *error)
{
    for (unsigned i = 0; i < co_section_count(object); i++) {
        const struct co_section *s = co_section_at(object, i);
        if (strcmp(s->name, ".text") != 0)
            continue;
        struct check *c = calloc(1, sizeof *c);
        bool ok = false;
        if (c) {
            c->code = s->data;
            c->bytes = s->bytes;
            c->error = error;
            c->target = calloc(s->bytes / 4 + 1, 1);
            ok = c->target && walk(c, true) && walk(c, false);
            free(c->target);
        }
        free(c);
        return ok;
    }
    snprintf(error, 256, "no .text");
    return false;
}

bool code_check(const void *elf, size_t bytes, char *error)
{
    struct co_object *object;
    struct co_error err;
    if (co_open(elf, bytes, &object, &err) != RD_OK) {
        snprintf(error, 256, "not a code object");
        return false;
    }
    bool ok = check_text(object, error);
    co_close(object);
    return ok;
}
