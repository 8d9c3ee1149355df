/* race_polls.c: loads that may be the polling of a flag.
 *
 * What is volatile passes the caches as atomic loads do, and nothing else tells whether
 * it is data or a flag: a flag is waited for in a loop. Only the code is looked at: who
 * finds the flag up the first time goes by the loop once. SPDX-License-Identifier: MIT
 */
#include "code.h"
#include "facts.h"
#include "race.h"

/* Instructions behind a load that a loop begins at or ends behind; bytes before it. */
enum { AHEAD = 64, INSIDE = 256, NEAR = 24, BACK = 2 << 10, FARTHEST = 1 << 16 };

static bool does_else(const struct isa_inst *inst)
{
    const struct isa_facts *facts = isa_facts(inst->op);
    return inst->op == ISA_S_BARRIER || inst->op == ISA_BUFFER_GL0_INV ||
           facts->access == ISA_ACCESS_STORE || facts->access == ISA_ACCESS_ATOMIC;
}

/* Is there a loop of such a load a little behind pc, the one at pc or, as compilers
 * turn loops around, another? */
static bool is_polled(const struct ck *ck, uint64_t pc)
{
    struct ck_code code;
    struct isa_inst inst;
    if (!ck_code_find(ck, pc, &code))
        return false;
    uint64_t at = pc, last = pc;
    bool apart = false; /* what is behind has nothing to do with it */
    for (unsigned i = 0; i < INSIDE && ck_code_at(&code, at, &inst); i++) {
        if (isa_facts(inst.op)->flow & ISA_FLOW_END) /* what follows goes elsewhere */
            return false;
        apart |= at != pc && does_else(&inst);
        last = ck_code_passes_caches(&inst) && !apart ? at : last;
        uint64_t target = ck_code_target(&inst, at);
        at += inst.bytes;
        if (target && target <= (i < AHEAD ? last : pc) && target + BACK >= pc &&
            race_decides(ck, pc, target, at))
            return true;
    }
    return false;
}

/* Bytes of a lane that the instruction at pc moves; 0: it is not known. */
static uint8_t bytes_at(const struct ck *ck, uint64_t pc)
{
    struct ck_code code;
    struct isa_inst inst;
    if (!ck_code_find(ck, pc, &code) || !ck_code_at(&code, pc, &inst))
        return 0;
    return isa_facts(inst.op)->bytes;
}

/* Where what is known of the instruction at pc lies, or of another one. Code repeats in
 * powers of two, so bits of the whole address choose. */
static struct polls *place(struct polls *table, uint64_t pc)
{
    return &table[(pc / 4 * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (RACE_POLLS - 1)];
}

static struct polls *look(struct ck *ck, const struct site *s)
{
    const struct past *past = race_past(ck->race, s);
    uint64_t pc = (past ? past->code_base : ck->launch.code_base) + s->pc;
    struct polls *p = place(ck->race->polls, pc);
    if (p->pc != pc)
        *p = (struct polls){.pc = pc, .bytes = bytes_at(ck, pc)};
    return p;
}

bool race_polls(struct ck *ck, const struct site *s)
{
    struct polls *p = look(ck, s);
    if (!p->looked)
        p->polls = is_polled(ck, p->pc);
    p->looked = true;
    return p->polls;
}

bool race_tears(struct ck *ck, const struct site *load, const struct site *store)
{
    uint8_t stored = look(ck, store)->bytes, loaded = look(ck, load)->bytes;
    return stored && loaded > stored;
}

bool race_as_wide(struct ck *ck, const struct site *a, const struct site *b)
{
    uint8_t bytes = look(ck, a)->bytes, other = look(ck, b)->bytes;
    return bytes == other || !bytes || !other;
}

/* Does the instruction wait for all loads of memory? */
static bool waits_for_loads(const struct isa_inst *inst)
{
    unsigned imm = ~0u;
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].kind == ISA_OPND_IMM)
            imm = (unsigned)inst->opnd[i].imm;
    return inst->op == ISA_S_WAIT_IDLE ||
           (inst->op == ISA_S_WAITCNT && !(imm >> 10 & 63)) ||
           (inst->op == ISA_S_WAITCNT_VMCNT && !(imm & 63));
}

/* From the beginning of the function, or of the code. */
static bool loads_wait(const struct ck *ck, uint64_t pc)
{
    struct ck_code code;
    struct isa_inst inst;
    char name[256];
    uint64_t at;
    bool waited = true;
    if (!ck_code_find(ck, pc, &code))
        return false;
    if (!emu_symbol(ck->emu, pc, name, sizeof name, &at) || at < code.begin || at > pc)
        at = code.begin;
    for (; at < pc && pc - at < FARTHEST; at += inst.bytes) {
        if (!ck_code_at(&code, at, &inst))
            return false;
        const struct isa_facts *facts = isa_facts(inst.op);
        if (facts->pipe == ISA_PIPE_VMEM && facts->access != ISA_ACCESS_STORE &&
            facts->access != ISA_ACCESS_NONE)
            waited = false;
        else
            waited |= waits_for_loads(&inst);
    }
    return waited && at == pc;
}

bool race_loads_wait(struct ck *ck, uint64_t pc)
{
    struct polls *p = place(ck->race->waits, pc);
    if (p->pc != pc)
        *p = (struct polls){.pc = pc, .polls = loads_wait(ck, pc)};
    return p->polls;
}

/* Is the result of the atomic at pc read by v_readfirstlane? */
static bool is_joined(const struct ck *ck, uint64_t pc)
{
    struct ck_code code;
    struct isa_inst inst;
    unsigned result = 0;
    uint64_t at = pc;
    if (!ck_code_find(ck, pc, &code))
        return false;
    for (unsigned i = 0; i < NEAR && ck_code_at(&code, at, &inst);
         i++, at += inst.bytes) {
        if (isa_facts(inst.op)->flow & ISA_FLOW_END)
            return false;
        if (inst.n_opnds < 2)
            continue;
        if (at == pc)
            result = inst.opnd[0].sel;
        else if (inst.op == ISA_V_READFIRSTLANE_B32 && inst.opnd[1].sel == result)
            return true;
        else if (inst.opnd[0].flags & ISA_OF_OUT && inst.opnd[0].sel == result)
            return false;
    }
    return false;
}

bool race_is_for_all(struct ck *ck, const struct emu_event *e,
                     const struct emu_access *a)
{
    uint64_t pc = e->inst->pc;
    if (a->lanes & (a->lanes - 1))
        return false;
    struct polls *p = place(ck->race->joined, pc);
    if (p->pc != pc)
        *p = (struct polls){.pc = pc, .polls = is_joined(ck, pc)};
    return p->polls;
}
