/* block.c: what a block reads, writes and may do, from its instructions.
 *
 * Knows the tables and the fact sheet, no mnemonics and no waves.
 * SPDX-License-Identifier: MIT
 */
#include "block.h"

#include <stdlib.h>

#include "facts.h"

/* Bits [first, first + n) of a set of words; those beyond it are dropped. */
static void add_bits(uint64_t *set, unsigned words, unsigned first, unsigned n)
{
    for (unsigned i = first; i < first + n && i < 64 * words; i++)
        set[i / 64] |= UINT64_C(1) << i % 64;
}

static void add_reg(struct reg_set *set, const struct emu_reg *r)
{
    if (emu_reg_is_vgpr(r))
        add_bits(set->vgpr, 4, r->sel - ISA_SEL_VGPR0, r->dwords);
    else if (r->sel == ISA_SEL_SCC)
        add_bits(set->sgpr, 3, BLOCK_SCC, 1);
    else if (r->sel + r->dwords <= BLOCK_SCC)
        add_bits(set->sgpr, 3, r->sel, r->dwords);
}

/* What the fact sheet says beyond the operands. */
static void add_state(struct reg_set *in, struct reg_set *out, unsigned state,
                      unsigned mask_dwords)
{
    static const struct {
        unsigned reads, writes, sel;
        bool mask; /* a register of lanes */
    } table[] = {
        {ISA_STATE_EXEC_IN | ISA_STATE_MASKED, ISA_STATE_EXEC_OUT, ISA_SEL_EXEC_LO,
         true},
        {ISA_STATE_VCC_IN, ISA_STATE_VCC_OUT, ISA_SEL_VCC_LO, true},
        {ISA_STATE_M0_IN, ISA_STATE_M0_OUT, ISA_SEL_M0, false},
        {ISA_STATE_SCC_IN, ISA_STATE_SCC_OUT, BLOCK_SCC, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        unsigned n = table[i].mask ? mask_dwords : 1;
        if (state & table[i].reads)
            add_bits(in->sgpr, 3, table[i].sel, n);
        if (state & table[i].writes)
            add_bits(out->sgpr, 3, table[i].sel, n);
    }
}

static void merge(uint64_t *to, const uint64_t *from, const uint64_t *but,
                  unsigned words)
{
    for (unsigned i = 0; i < words; i++)
        to[i] |= from[i] & ~but[i];
}

/* One more instruction. killed: registers that the block has written whole. */
static void add_inst(struct block *b, const struct inst_info *info,
                     unsigned mask_dwords, struct reg_set *killed)
{
    static const uint64_t none[4];
    struct reg_set in = {0}, out = {0};
    unsigned state = isa_facts(info->inst.isa.op)->state;
    if (info->inst.isa.op_y)
        state |= isa_facts(info->inst.isa.op_y)->state;
    add_state(&in, &out, state, mask_dwords);
    for (unsigned i = 0; i < info->inst.n_regs; i++) {
        const struct emu_reg *r = &info->inst.reg[i];
        if (r->flags & ISA_OF_IN)
            add_reg(&in, r);
        if (r->flags & ISA_OF_OUT)
            add_reg(&out, r);
    }
    merge(b->in.vgpr, in.vgpr, killed->vgpr, 4);
    merge(b->in.sgpr, in.sgpr, killed->sgpr, 3);
    merge(b->out.vgpr, out.vgpr, none, 4);
    merge(b->out.sgpr, out.sgpr, none, 3);
    merge(killed->sgpr, out.sgpr, none, 3);
    if (!(state & ISA_STATE_MASKED))
        merge(killed->vgpr, out.vgpr, none, 4);
    b->flags |= info->relative ? BLOCK_RELATIVE : 0;
}

static unsigned end_flags(const struct uop *last)
{
    const struct isa_facts *f = isa_facts(last->isa_op);
    return (f->flow & (ISA_FLOW_BRANCH | ISA_FLOW_TRAP) ? BLOCK_BRANCHES : 0) |
           (f->flow & (ISA_FLOW_STOP | ISA_FLOW_END) ? BLOCK_STOPS : 0) |
           (f->state & ISA_STATE_MODE_OUT ? BLOCK_MODE : 0);
}

static struct block *describe(struct program *p, const struct uop *leader)
{
    struct block *b = calloc(1, sizeof *b + leader->run * sizeof *b->inst);
    struct reg_set killed = {0};
    if (!b)
        return NULL;
    b->first = leader;
    for (const struct uop *u = leader; b->n_insts < leader->run; u = uop_next(u)) {
        b->inst[b->n_insts] = program_inst(p, u);
        b->flags |= u->flags & UF_MAY_FAULT ? BLOCK_MAY_FAULT : 0;
        if (b->inst[b->n_insts]->inst.kind != EMU_KIND_ILLEGAL)
            add_inst(b, b->inst[b->n_insts], p->wave64 ? 2 : 1, &killed);
        else
            b->flags |= BLOCK_MAY_FAULT;
        if (++b->n_insts == leader->run && u->isa_op)
            b->flags |= end_flags(u);
    }
    return b;
}

const struct block *program_block(struct program *p, const struct uop *leader)
{
    struct block *_Atomic *entry = &p->blocks[leader - p->uops];
    struct block *b = atomic_load_explicit(entry, memory_order_acquire);
    if (b)
        return b;
    struct block *made = describe(p, leader);
    if (made && !atomic_compare_exchange_strong(entry, &b, made)) {
        free(made); /* another thread was first */
        return b;
    }
    return made;
}
