/* scalar.h: the value of a scalar source.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SCALAR_H
#define RD_SCALAR_H

#include "emu.h"
#include "wave.h"

static inline uint64_t special_value(const struct wave *w, unsigned sel)
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

static inline uint64_t scalar_value(const struct wave *w, const struct usrc *s)
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

#endif
