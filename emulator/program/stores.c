/* stores.c: kernels that only store. SPDX-License-Identifier: MIT
 */
#include "program.h"

/* What clears memory is not longer than this. */
#define MOST_INSTS 256u

#define MSG_DEALLOC_VGPRS 3 /* to the wave's own SIMD, as the last thing it does */

static bool computes(const struct uop *u, const struct isa_facts *f)
{
    if (f->access != ISA_ACCESS_NONE || f->state & ISA_STATE_MODE_OUT)
        return false;
    switch (f->pipe) {
    case ISA_PIPE_VALU:
    case ISA_PIPE_HALF:
    case ISA_PIPE_QUARTER:
    case ISA_PIPE_TRANS:
    case ISA_PIPE_DOUBLE:
    case ISA_PIPE_VNONE:
    case ISA_PIPE_SALU:
    case ISA_PIPE_SMUL:
    case ISA_PIPE_SWAIT:
    case ISA_PIPE_WAIT:
    case ISA_PIPE_ISSUE:
    case ISA_PIPE_BRANCH:
    case ISA_PIPE_END:
        return !(f->flow & (ISA_FLOW_TRAP | ISA_FLOW_FAULT | ISA_FLOW_STOP));
    case ISA_PIPE_MESSAGE:
        return u->isa_op == ISA_S_SENDMSG && u->imm == MSG_DEALLOC_VGPRS;
    default:
        return false;
    }
}

static bool is_store(const struct uop *u, const struct isa_facts *f)
{
    return f->space == ISA_SPACE_GLOBAL && f->access == ISA_ACCESS_STORE &&
           u->flags & UF_MEM && u->mem.wide;
}

/* Instructions that are still to be looked at. */
struct reach {
    const struct program *p;
    uint32_t next[MOST_INSTS], seen[MOST_INSTS];
    unsigned n_next, n_seen;
};

static bool visit(struct reach *r, int64_t slot)
{
    if (slot < 0 || (uint64_t)slot >= r->p->bytes / 4)
        return false;
    for (unsigned i = 0; i < r->n_seen; i++)
        if (r->seen[i] == slot)
            return true;
    if (r->n_seen == MOST_INSTS)
        return false;
    r->seen[r->n_seen++] = (uint32_t)slot;
    r->next[r->n_next++] = (uint32_t)slot;
    return true;
}

/* What may come after the instruction at slot. */
static bool visit_next(struct reach *r, uint32_t slot)
{
    const struct uop *u = &r->p->uops[slot];
    const struct isa_facts *f = isa_facts(u->isa_op);
    int64_t behind = (int64_t)slot + u->dwords;
    if (f->flow & ISA_FLOW_END)
        return true;
    if (f->flow & ISA_FLOW_BRANCH && !visit(r, behind + (int16_t)u->imm))
        return false;
    return u->isa_op == ISA_S_BRANCH || visit(r, behind);
}

bool program_only_stores(const struct program *p, const struct uop *entry)
{
    struct reach r = {.p = p};
    bool stores = false;
    if (!entry || !visit(&r, entry - p->uops))
        return false;
    while (r.n_next) {
        uint32_t slot = r.next[--r.n_next];
        const struct uop *u = &p->uops[slot];
        if (!u->fn || u->isa_op == ISA_OP_NONE || u->isa_op >= ISA_OP_COUNT)
            return false;
        const struct isa_facts *f = isa_facts(u->isa_op);
        bool store = is_store(u, f);
        bool scalar = f->pipe == ISA_PIPE_SMEM && f->access == ISA_ACCESS_LOAD;
        if (!(store || scalar || computes(u, f)) || !visit_next(&r, slot))
            return false;
        stores |= store;
    }
    return stores;
}
