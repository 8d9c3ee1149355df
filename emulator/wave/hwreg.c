/* hwreg.c: hardware registers: MODE and its effect on arithmetic, and s_getreg.
 *
 * Invariant: wave.mode and the two MXCSR images always show wave.mode_bits.
 * Source: RDNA3 manual 3.4.2 (MODE), 3.4 (hardware register ids).
 * SPDX-License-Identifier: MIT
 */
#include "control.h"

#include <xmmintrin.h>

/* Exceptions masked; x86 numbers its rounding nearest, down, up, zero. */
static unsigned mxcsr_of(unsigned round, unsigned denorm)
{
    static const unsigned rc[4] = {0u << 13, 2u << 13, 1u << 13, 3u << 13};
    unsigned daz = denorm & 1 ? 0 : 1u << 6, ftz = denorm & 2 ? 0 : 1u << 15;
    return 0x1f80u | rc[round & 3] | daz | ftz;
}

void wave_mode_image(struct wave *w, uint32_t bits)
{
    w->mode_bits = bits;
    w->native = NULL;
    w->mode = (struct lane_mode){
        .round32 = bits & 3,
        .round64 = bits >> 2 & 3,
        .denorm32 = bits >> 4 & 3,
        .denorm64 = bits >> 6 & 3,
        .dx10_clamp = bits >> 8 & 1,
        .ieee = bits >> 9 & 1,
        .fp16_ovfl = bits >> 23 & 1,
        .exact_sums = w->emu->config.exact_dots,
    };
    w->mxcsr32 = mxcsr_of(w->mode.round32, w->mode.denorm32);
    w->mxcsr64 = mxcsr_of(w->mode.round64, w->mode.denorm64);
}

void wave_set_mode(struct wave *w, uint32_t bits)
{
    wave_mode_image(w, bits);
    _mm_setcsr(w->mxcsr32);
}

uint32_t wave_status(const struct wave *w)
{
    return w->status_bits | (w->scc ? STATUS_SCC : 0) |
           (wave_exec64(w) ? 0 : STATUS_EXECZ) |
           (sgpr_mask(w, ISA_SEL_VCC_LO) ? 0 : STATUS_VCCZ);
}

uint32_t wave_getreg(struct wave *w, unsigned id)
{
    switch (id) {
    case HWREG_MODE:
        return w->mode_bits;
    case HWREG_STATUS:
        return wave_status(w);
    case HWREG_TRAPSTS:
        return w->trapsts_bits;
    case HWREG_GPR_ALLOC: /* VGPRs in blocks of 4, less one */
        return (w->group->n_vgprs / 4 - 1) << 12;
    case HWREG_LDS_ALLOC: /* in blocks of 256 bytes */
        return (w->group->lds_bytes + 511) / 512 << 13;
    case HWREG_IB_STS2:
        return w->wave64 ? IB_STS2_WAVE64 : 0;
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
    case HWREG_HW_ID2: /* a compute engine; the workgroup's slot */
        return 1u << 8 | (uint32_t)(w->group->number & 31u) << 16;
    default:
        return 0;
    }
}

void wave_setreg(struct wave *w, unsigned id, uint32_t mask, uint32_t value)
{
    bool privileged = wave_privileged(w);
    if (id == HWREG_MODE) {
        wave_set_mode(w, (w->mode_bits & ~mask) | (value & mask));
    } else if (id == HWREG_TRAPSTS) {
        mask &= privileged ? ~0u : TRAPSTS_EXCP;
        w->trapsts_bits = (w->trapsts_bits & ~mask) | (value & mask);
    } else if (id == HWREG_STATUS && privileged) {
        mask &= STATUS_PRIV_WRITES;
        if (mask & STATUS_SCC)
            w->scc = value & STATUS_SCC;
        mask &= ~STATUS_SCC;
        w->status_bits = (w->status_bits & ~mask) | (value & mask);
    }
}
