/* salu.c: scalar operands, the handler of plain scalar instructions, scalar loads.
 *
 * Knows the operand space, not the mnemonics. Control flow and EXEC are WAVE_OPs in
 * sem/.
 * SPDX-License-Identifier: MIT
 */
#include "wave.h"

#include <stdio.h>
#include <string.h>

static uint64_t special_value(const struct wave *w, unsigned sel)
{
    switch (sel) {
    case ISA_SEL_SCC:
        return w->scc;
    case ISA_SEL_VCCZ:
        return sgpr_mask(w, ISA_SEL_VCC_LO) == 0;
    case ISA_SEL_EXECZ:
        return wave_exec64(w) == 0;
    case ISA_SEL_SHARED_BASE:
        return EMU_SHARED_BASE;
    case ISA_SEL_SHARED_LIMIT:
        return EMU_SHARED_BASE | 0xffffffffu;
    case ISA_SEL_PRIVATE_BASE:
        return EMU_PRIVATE_BASE;
    case ISA_SEL_PRIVATE_LIMIT:
        return EMU_PRIVATE_BASE | 0xffffffffu;
    default:
        return 0;
    }
}

uint64_t scalar_value(const struct wave *w, const struct usrc *s)
{
    if (s->prep == PREP_SGPR)
        return s->dwords == 2 ? sgpr64(w, s->sel) : w->sgpr[s->sel];
    if (s->prep == PREP_SPECIAL) {
        /* of an aperture base, a 32-bit operand gets the low half, which is zero */
        uint64_t v = special_value(w, s->sel);
        return s->dwords == 2 ? v : (uint32_t)v;
    }
    const uint32_t *row = src_row(w, s);
    return s->dwords == 2 ? row[0] | (uint64_t)row[ROW_DWORDS] << 32 : row[0];
}

/* Scalar loads may run past a region's end within its last page: the hardware maps
 * pages, and compilers widen loads on the strength of that. */
#define PAGE_BYTES 4096u

static bool readable(struct wave *w, uint64_t addr, unsigned bytes)
{
    if (window_find(w, addr, addr, bytes, mem_generation(w)))
        return true;
    const struct mem_window *win = window_load(w, addr);
    if (!win)
        return false;
    uint64_t end = (win->end + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    return end - addr >= bytes;
}

/* s_load: base + offset + SGPR offset; the low two bits are ignored (manual 8.2). */
const struct uop *x_smem(struct wave *w, const struct uop *u)
{
    const struct umem *m = &u->mem;
    uint64_t addr = sgpr64(w, m->saddr) + (uint64_t)(int64_t)u->imm;
    if (m->addr != NO_ROW)
        addr += w->sgpr[m->addr];
    addr &= ~UINT64_C(3);
    if (!readable(w, addr, m->bytes))
        return wave_fault_at(w, u, EMU_FAULT_UNMAPPED, -1, addr, m->bytes, false);
    memcpy(&w->sgpr[u->d], (const void *)(uintptr_t)addr, // NOLINT
           m->bytes);
    w->sgpr[ISA_SEL_NULL] = 0;
    return uop_next(u);
}

const struct uop *x_illegal(struct wave *w, const struct uop *u)
{
    return wave_fault(w, u, EMU_FAULT_ILLEGAL, NULL);
}

static const char *unsupported_reason(unsigned op)
{
    switch (op) {
#define U(name, reason)                                                                \
    case ISA_##name:                                                                   \
        return reason;
#include "sem/unsupported.def"
#undef U
    default:
        return "this form of the instruction is not modelled";
    }
}

const struct uop *x_unsupported(struct wave *w, const struct uop *u)
{
    char detail[128];
    snprintf(detail, sizeof detail, "%s: %s", isa_op_name(u->isa_op),
             unsupported_reason(u->isa_op));
    return wave_fault(w, u, EMU_FAULT_UNSUPPORTED, detail);
}
