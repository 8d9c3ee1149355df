/* wide.c: vector instructions whose operands are wider than two registers, so that no
 * LANE_OP can describe them (manual 16.12).
 *
 * SPDX-License-Identifier: MIT
 */
#include "sem_wrap.h"
#include "wave.h"

/* Dword k of a source in a lane: of its registers, or of a scalar operand. */
static uint32_t dword_of(struct wave *w, const struct usrc *s, unsigned k,
                         unsigned half, unsigned lane)
{
    if (s->prep == PREP_SGPR)
        return w->sgpr[s->sel + k];
    if (s->base == SRC_VGPR)
        return w->vgpr[half][(size_t)(s->row + k) * ROW_DWORDS + lane];
    if (k >= s->dwords)
        return 0;
    uint64_t v = scalar_value(w, s);
    return (uint32_t)(k ? v >> 32 : v);
}

/* Absolute differences of the four bytes, without those whose reference is zero. */
static uint32_t masked_sad(uint32_t a, uint32_t ref)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        uint32_t x = a >> i & 255, y = ref >> i & 255;
        sum += !y ? 0 : x > y ? x - y : y - x;
    }
    return sum;
}

/* Four windows of S0, one byte apart, against S1, each added to its dword of S2. */
WAVE_OP(v_mqsad_u32_u8)
{
    for (unsigned l = 0; l < 32u * w->halves; l++) {
        unsigned h = l / 32, lane = l % 32;
        if (!(w->sgpr[ISA_SEL_EXEC_LO + h] >> lane & 1u))
            continue;
        uint64_t s0 = dword_of(w, &u->s[0], 0, h, lane) |
                      (uint64_t)dword_of(w, &u->s[0], 1, h, lane) << 32;
        uint32_t ref = dword_of(w, &u->s[1], 0, h, lane), d[4];
        for (unsigned k = 0; k < 4; k++) {
            uint64_t sum = (uint64_t)dword_of(w, &u->s[2], k, h, lane) +
                           masked_sad((uint32_t)(s0 >> (8 * k)), ref);
            d[k] = u->pk.clamp && sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
        }
        for (unsigned k = 0; k < 4; k++)
            w->vgpr[h][(size_t)(u->d + k) * ROW_DWORDS + lane] = d[k];
    }
    return uop_next(u);
}

#include "wide.inc"
