/* pairs.c: distances from code to places of a loadable file, said with symbols.
 *
 * A linker has turned "s_add_u32 lo, lo, table@rel32@lo+4" behind s_getpc_b64 into a
 * number. The symbol comes back here as a relocation, so that the text says where the
 * code goes, and holds where other code moves it. Must not know text.
 * SPDX-License-Identifier: MIT
 */
#include "amdgpu_reloc.h"
#include "write.h"

/* Is it op with a literal, adding to one register? */
static bool adds_literal(const struct isa_inst *inst, unsigned op)
{
    return inst->op == op && inst->variant == ISA_VAR_LITERAL && inst->bytes == 8 &&
           inst->n_opnds >= 3 && inst->opnd[0].sel == inst->opnd[1].sel;
}

static bool decode(const struct dis_section *s, uint64_t at, struct isa_inst *inst)
{
    return at < s->bytes &&
           isa_decode(s->data + at, (size_t)(s->bytes - at), ISA_WAVE32, inst) == RD_OK;
}

static bool add(struct dis_section *s, uint64_t place, uint32_t type, uint64_t target,
                uint64_t from)
{
    /* The relocation's addend counts from its own place, the number from the
     * instruction behind s_getpc_b64. */
    return dis_object_add(s, (struct dis_reloc){.offset = place - s->addr,
                                                .type = type,
                                                .target = target,
                                                .addend = (int64_t)(place - from)});
}

bool dis_find_pairs(struct dis_writer *w, struct dis_section *s)
{
    struct isa_inst pc, low, high;
    if (w->o->info->relocatable || s->n_relocs)
        return true;
    for (uint64_t at = 0; at + 20 <= s->bytes; at += 4) {
        uint64_t from = s->addr + at + 4;
        if (!decode(s, at, &pc) || pc.op != ISA_S_GETPC_B64 || pc.bytes != 4 ||
            !decode(s, at + 4, &low) || !adds_literal(&low, ISA_S_ADD_U32) ||
            !decode(s, at + 12, &high) || !adds_literal(&high, ISA_S_ADDC_U32) ||
            low.opnd[0].sel != pc.opnd[0].sel || high.opnd[0].sel != pc.opnd[0].sel + 1)
            continue;
        uint64_t target = from + ((uint64_t)high.literal << 32 | low.literal);
        if (dis_place_known(w->o, target) &&
            (!add(s, from + 4, R_AMDGPU_REL32_LO, target, from) ||
             !add(s, from + 12, R_AMDGPU_REL32_HI, target, from)))
            return false;
    }
    return true;
}
