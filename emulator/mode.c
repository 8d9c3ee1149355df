/* mode.c: hardware registers: MODE and its effect on arithmetic, and s_getreg.
 *
 * Invariant: wave.mode and the two MXCSR images always show wave.mode_bits.
 * Source: RDNA3 manual 3.4.2 (MODE), 3.4 (hardware register ids).
 * SPDX-License-Identifier: MIT
 */
#include "wave.h"

#include <xmmintrin.h>

enum hwreg_id {
    HWREG_MODE = 1,
    HWREG_STATUS = 2,
    HWREG_TRAPSTS = 3,
    HWREG_GPR_ALLOC = 5,
    HWREG_LDS_ALLOC = 6,
    HWREG_IB_STS = 7,
    HWREG_SH_MEM_BASES = 15,
    HWREG_FLAT_SCR_LO = 20,
    HWREG_FLAT_SCR_HI = 21,
    HWREG_HW_ID1 = 23,
    HWREG_HW_ID2 = 24,
    HWREG_SHADER_CYCLES = 29,
};

/* Exceptions masked; x86 numbers its rounding nearest, down, up, zero. */
static unsigned mxcsr_of(unsigned round, unsigned denorm)
{
    static const unsigned rc[4] = {0u << 13, 2u << 13, 1u << 13, 3u << 13};
    unsigned daz = denorm & 1 ? 0 : 1u << 6, ftz = denorm & 2 ? 0 : 1u << 15;
    return 0x1f80u | rc[round & 3] | daz | ftz;
}

void wave_set_mode(struct wave *w, uint32_t bits)
{
    w->mode_bits = bits;
    w->mode = (struct lane_mode){
        .round32 = bits & 3,
        .round64 = bits >> 2 & 3,
        .denorm32 = bits >> 4 & 3,
        .denorm64 = bits >> 6 & 3,
        .dx10_clamp = bits >> 8 & 1,
        .ieee = bits >> 9 & 1,
        .fp16_ovfl = bits >> 23 & 1,
        .exact_sums = !w->emu->config.silicon_dots,
    };
    w->mxcsr32 = mxcsr_of(w->mode.round32, w->mode.denorm32);
    w->mxcsr64 = mxcsr_of(w->mode.round64, w->mode.denorm64);
    _mm_setcsr(w->mxcsr32);
}

uint32_t wave_getreg(struct wave *w, unsigned id)
{
    switch (id) {
    case HWREG_MODE:
        return w->mode_bits;
    case HWREG_STATUS:
        return w->status_bits | (w->scc ? 1u : 0) | (wave_exec64(w) ? 0 : 1u << 9) |
               (sgpr_mask(w, ISA_SEL_VCC_LO) ? 0 : 1u << 10);
    case HWREG_TRAPSTS:
        return w->trapsts_bits;
    case HWREG_LDS_ALLOC:
        return (w->group->lds_bytes + 511) / 512 << 12;
    case HWREG_SH_MEM_BASES: /* private base, shared base: address bits 63:48 */
        return (uint32_t)(EMU_PRIVATE_BASE >> 48) | (uint32_t)(EMU_SHARED_BASE >> 48)
                                                        << 16;
    case HWREG_SHADER_CYCLES:
        return (uint32_t)wave_clock(w) & 0xfffffu;
    case HWREG_FLAT_SCR_LO:
        return (uint32_t)(uintptr_t)w->scratch;
    case HWREG_FLAT_SCR_HI:
        return (uint32_t)((uint64_t)(uintptr_t)w->scratch >> 32);
    case HWREG_HW_ID1: /* wave slot; the functional engine has no CUs */
        return w->timed ? w->info.place : w->index & 31u;
    default:
        return 0;
    }
}

void wave_setreg(struct wave *w, unsigned id, uint32_t mask, uint32_t value)
{
    if (id == HWREG_MODE)
        wave_set_mode(w, (w->mode_bits & ~mask) | (value & mask));
    else if (id == HWREG_TRAPSTS)
        w->trapsts_bits = (w->trapsts_bits & ~mask) | (value & mask);
}
