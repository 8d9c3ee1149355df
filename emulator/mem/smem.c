/* smem.c: scalar loads, and what no handler exists for.
 *
 * Knows the operand space, not the mnemonics. Control flow and EXEC are WAVE_OPs in
 * sem/.
 * SPDX-License-Identifier: MIT
 */
#include "wave.h"

#include <stdio.h>
#include <string.h>

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
#include "unsupported.def"
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
