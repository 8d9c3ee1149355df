/* code.c: code as it lies in memory.
 *
 * Must not know what is looked for. SPDX-License-Identifier: MIT
 */
#include "code.h"

#include "facts.h"

bool ck_code_find(const struct ck *ck, uint64_t pc, struct ck_code *out)
{
    struct emu_mem m;
    if (!emu_mem_find(ck->emu, pc, &m))
        return false;
    *out = (struct ck_code){m.va, m.va + m.bytes, ck->launch.lanes};
    return true;
}

bool ck_code_at(const struct ck_code *c, uint64_t at, struct isa_inst *out)
{
    return at >= c->begin && at < c->end && c->end - at >= 4 &&
           isa_decode_hw((const uint8_t *)(uintptr_t)at, // NOLINT: host pointers
                         (size_t)(c->end - at), c->lanes, out) == RD_OK;
}

uint64_t ck_code_target(const struct isa_inst *inst, uint64_t at)
{
    if (!(isa_facts(inst->op)->flow & ISA_FLOW_BRANCH) || !inst->n_opnds ||
        inst->opnd[0].kind != ISA_OPND_IMM)
        return 0;
    return at + inst->bytes + (uint64_t)((int64_t)(int16_t)inst->opnd[0].imm * 4);
}

bool ck_code_passes_caches(const struct isa_inst *inst)
{
    return isa_facts(inst->op)->access == ISA_ACCESS_LOAD &&
           (inst->flags & (ISA_M_GLC | ISA_M_SLC)) == ISA_M_GLC;
}
