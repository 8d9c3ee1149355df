/* flow.c: control flow, waits, messages, MODE and EXEC (manual chapters 5,
 * 6, 16.3-16.5).
 *
 * A branch returns the micro-op at its target: distances are dwords from the next
 * instruction, and the predecoder has said which leave the program (UF_MAY_FAULT).
 * SPDX-License-Identifier: MIT
 */
#include "sem_wrap.h"
#include "wave.h"

static const struct uop *next(const struct uop *u)
{
    return uop_next(u);
}

static const struct uop *jump(struct wave *w, const struct uop *u, uint64_t pc)
{
    const struct uop *target = wave_goto(w, pc);
    if (target)
        return target;
    return wave_fault_at(w, u, EMU_FAULT_FETCH, -1, pc, 4, false);
}

static uint64_t pc_after(const struct wave *w, const struct uop *u)
{
    return program_pc(w->program, next(u));
}

/* Out of the program. Apart, so that branches within it need no frame. */
__attribute__((noinline, cold)) static const struct uop *
branch_away(struct wave *w, const struct uop *u)
{
    return jump(w, u, pc_after(w, u) + (uint64_t)((int64_t)(int16_t)u->imm * 4));
}

static const struct uop *branch(struct wave *w, const struct uop *u, bool taken)
{
    if (!taken)
        return next(u);
    if (u->flags & UF_MAY_FAULT)
        return branch_away(w, u);
    return next(u) + (int16_t)u->imm;
}

static bool vccz(const struct wave *w)
{
    return sgpr_mask(w, ISA_SEL_VCC_LO) == 0;
}

static bool execz(const struct wave *w)
{
    return wave_exec64(w) == 0;
}

WAVE_OP(s_branch)
{
    return branch(w, u, true);
}

WAVE_OP(s_cbranch_scc0)
{
    return branch(w, u, !w->scc);
}

WAVE_OP(s_cbranch_scc1)
{
    return branch(w, u, w->scc);
}

WAVE_OP(s_cbranch_vccz)
{
    return branch(w, u, vccz(w));
}

WAVE_OP(s_cbranch_vccnz)
{
    return branch(w, u, !vccz(w));
}

WAVE_OP(s_cbranch_execz)
{
    return branch(w, u, execz(w));
}

WAVE_OP(s_cbranch_execnz)
{
    return branch(w, u, !execz(w));
}

/* The conditional-debug flags; only a trap handler can set them. */
static bool cdbg(const struct wave *w, uint32_t bit)
{
    return w->status_bits & bit;
}

WAVE_OP(s_cbranch_cdbgsys)
{
    return branch(w, u, cdbg(w, STATUS_CDBG_SYS));
}

WAVE_OP(s_cbranch_cdbguser)
{
    return branch(w, u, cdbg(w, STATUS_CDBG_USER));
}

WAVE_OP(s_cbranch_cdbgsys_or_user)
{
    return branch(w, u, cdbg(w, STATUS_CDBG_SYS) || cdbg(w, STATUS_CDBG_USER));
}

WAVE_OP(s_cbranch_cdbgsys_and_user)
{
    return branch(w, u, cdbg(w, STATUS_CDBG_SYS) && cdbg(w, STATUS_CDBG_USER));
}

WAVE_OP(s_getpc_b64)
{
    set_sgpr64(w, u->d, pc_after(w, u));
    return next(u);
}

WAVE_OP(s_setpc_b64)
{
    return jump(w, u, scalar_value(w, &u->s[0]));
}

WAVE_OP(s_swappc_b64)
{
    uint64_t target = scalar_value(w, &u->s[0]);
    set_sgpr64(w, u->d, pc_after(w, u));
    return jump(w, u, target);
}

WAVE_OP(s_call_b64)
{
    set_sgpr64(w, u->d, pc_after(w, u));
    return branch(w, u, true);
}

/* Run a block of a wave64 for the low half, then for the high half, skipping halves
 * without active lanes; S0 keeps the EXEC of the half that does not run (RDNA2 manual;
 * gfx11's leaves the two out, the assembler knows them). */
WAVE_OP(s_subvector_loop_begin)
{
    if (!sgpr64(w, ISA_SEL_EXEC_LO))
        return branch(w, u, true);
    if (!w->sgpr[ISA_SEL_EXEC_LO]) {
        w->sgpr[u->d] = 0; /* the high pass only */
    } else {
        w->sgpr[u->d] = w->sgpr[ISA_SEL_EXEC_HI];
        w->sgpr[ISA_SEL_EXEC_HI] = 0;
    }
    return next(u);
}

WAVE_OP(s_subvector_loop_end)
{
    if (w->sgpr[ISA_SEL_EXEC_HI]) { /* the high pass is done */
        w->sgpr[ISA_SEL_EXEC_LO] = w->sgpr[u->d];
        return next(u);
    }
    if (!w->sgpr[u->d]) /* there is no high pass */
        return next(u);
    w->sgpr[ISA_SEL_EXEC_HI] = w->sgpr[u->d];
    w->sgpr[u->d] = w->sgpr[ISA_SEL_EXEC_LO];
    w->sgpr[ISA_SEL_EXEC_LO] = 0;
    return branch(w, u, true);
}

/* ---- EXEC --------------------------------------------------------------------- */

enum exec_fn {
    F_AND,
    F_OR,
    F_XOR,
    F_NAND,
    F_NOR,
    F_XNOR,
    F_AND_NOT0,
    F_OR_NOT0,
    F_AND_NOT1,
    F_OR_NOT1
};

static uint64_t exec_combine(enum exec_fn f, uint64_t s, uint64_t e)
{
    switch (f) {
    case F_AND:
        return s & e;
    case F_OR:
        return s | e;
    case F_XOR:
        return s ^ e;
    case F_NAND:
        return ~(s & e);
    case F_NOR:
        return ~(s | e);
    case F_XNOR:
        return ~(s ^ e);
    case F_AND_NOT0:
        return ~s & e;
    case F_OR_NOT0:
        return ~s | e;
    case F_AND_NOT1:
        return s & ~e;
    case F_OR_NOT1:
        return s | ~e;
    }
    return 0;
}

/* D = EXEC; EXEC = f(S0, EXEC); SCC = EXEC != 0. wrexec: D = the new EXEC. */
static const struct uop *exec_op(struct wave *w, const struct uop *u, enum exec_fn f,
                                 bool wide, bool wrexec)
{
    uint64_t s = scalar_value(w, &u->s[0]);
    uint64_t e = wide ? sgpr64(w, ISA_SEL_EXEC_LO) : w->sgpr[ISA_SEL_EXEC_LO];
    uint64_t r = exec_combine(f, s, e), d = wrexec ? r : e;
    if (!wide)
        r = (uint32_t)r;
    w->sgpr[u->d] = (uint32_t)d;
    if (wide)
        w->sgpr[u->d + 1] = (uint32_t)(d >> 32);
    w->sgpr[ISA_SEL_EXEC_LO] = (uint32_t)r;
    if (wide)
        w->sgpr[ISA_SEL_EXEC_HI] = (uint32_t)(r >> 32);
    w->scc = r != 0;
    return next(u);
}

/* clang-format off */
WAVE_OP(s_and_saveexec_b32) { return exec_op(w, u, F_AND, false, false); }
WAVE_OP(s_and_saveexec_b64) { return exec_op(w, u, F_AND, true, false); }
WAVE_OP(s_or_saveexec_b32) { return exec_op(w, u, F_OR, false, false); }
WAVE_OP(s_or_saveexec_b64) { return exec_op(w, u, F_OR, true, false); }
WAVE_OP(s_xor_saveexec_b32) { return exec_op(w, u, F_XOR, false, false); }
WAVE_OP(s_xor_saveexec_b64) { return exec_op(w, u, F_XOR, true, false); }
WAVE_OP(s_nand_saveexec_b32) { return exec_op(w, u, F_NAND, false, false); }
WAVE_OP(s_nand_saveexec_b64) { return exec_op(w, u, F_NAND, true, false); }
WAVE_OP(s_nor_saveexec_b32) { return exec_op(w, u, F_NOR, false, false); }
WAVE_OP(s_nor_saveexec_b64) { return exec_op(w, u, F_NOR, true, false); }
WAVE_OP(s_xnor_saveexec_b32) { return exec_op(w, u, F_XNOR, false, false); }
WAVE_OP(s_xnor_saveexec_b64) { return exec_op(w, u, F_XNOR, true, false); }
WAVE_OP(s_and_not0_saveexec_b32) { return exec_op(w, u, F_AND_NOT0, false, false); }
WAVE_OP(s_and_not0_saveexec_b64) { return exec_op(w, u, F_AND_NOT0, true, false); }
WAVE_OP(s_or_not0_saveexec_b32) { return exec_op(w, u, F_OR_NOT0, false, false); }
WAVE_OP(s_or_not0_saveexec_b64) { return exec_op(w, u, F_OR_NOT0, true, false); }
WAVE_OP(s_and_not1_saveexec_b32) { return exec_op(w, u, F_AND_NOT1, false, false); }
WAVE_OP(s_and_not1_saveexec_b64) { return exec_op(w, u, F_AND_NOT1, true, false); }
WAVE_OP(s_or_not1_saveexec_b32) { return exec_op(w, u, F_OR_NOT1, false, false); }
WAVE_OP(s_or_not1_saveexec_b64) { return exec_op(w, u, F_OR_NOT1, true, false); }
WAVE_OP(s_and_not0_wrexec_b32) { return exec_op(w, u, F_AND_NOT0, false, true); }
WAVE_OP(s_and_not0_wrexec_b64) { return exec_op(w, u, F_AND_NOT0, true, true); }
WAVE_OP(s_and_not1_wrexec_b32) { return exec_op(w, u, F_AND_NOT1, false, true); }
WAVE_OP(s_and_not1_wrexec_b64) { return exec_op(w, u, F_AND_NOT1, true, true); }
/* clang-format on */

/* ---- hardware registers ---------------------------------------------------------- */

WAVE_OP(s_getreg_b32)
{
    unsigned imm = (uint16_t)u->imm;
    w->sgpr[u->d] = (wave_getreg(w, imm & 63) & hwreg_mask(imm)) >> (imm >> 6 & 31);
    return next(u);
}

static const struct uop *setreg(struct wave *w, const struct uop *u)
{
    unsigned imm = (uint16_t)u->imm;
    uint32_t value = (uint32_t)scalar_value(w, &u->s[0]);
    wave_setreg(w, imm & 63, hwreg_mask(imm), value << (imm >> 6 & 31));
    return next(u);
}

WAVE_OP(s_setreg_b32)
{
    return setreg(w, u);
}

WAVE_OP(s_setreg_imm32_b32)
{
    return setreg(w, u);
}

WAVE_OP(s_round_mode)
{
    wave_set_mode(w, (w->mode_bits & ~0xfu) | ((uint32_t)u->imm & 0xfu));
    return next(u);
}

WAVE_OP(s_denorm_mode)
{
    wave_set_mode(w, (w->mode_bits & ~0xf0u) | ((uint32_t)u->imm & 0xfu) << 4);
    return next(u);
}

/* ---- ends and barriers ---------------------------------------------------------
 */

WAVE_OP(s_endpgm)
{
    return wave_stop(w, STOP_END, u);
}

WAVE_OP(s_endpgm_saved)
{
    return wave_stop(w, STOP_END, u);
}

WAVE_OP(s_endpgm_ordered_ps_done)
{
    return wave_stop(w, STOP_END, u);
}

WAVE_OP(s_barrier)
{
    return wave_stop(w, STOP_BARRIER, next(u));
}

WAVE_OP(s_sleep)
{
    w->group->naps++;
    return wave_stop(w, STOP_YIELD, next(u));
}

/* ---- hints and waits: functional at issue, everything has completed -----------------
 */

#define WAVE_HINT(w, u) ((void)(w), next(u))

/* clang-format off */
WAVE_OP(s_waitcnt) { return WAVE_HINT(w, u); }
WAVE_OP(s_nop) { return WAVE_HINT(w, u); }
WAVE_OP(s_clause) { return WAVE_HINT(w, u); }
WAVE_OP(s_delay_alu) { return WAVE_HINT(w, u); }
WAVE_OP(s_waitcnt_depctr) { return WAVE_HINT(w, u); }
WAVE_OP(s_waitcnt_vscnt) { return WAVE_HINT(w, u); }
WAVE_OP(s_waitcnt_vmcnt) { return WAVE_HINT(w, u); }
WAVE_OP(s_waitcnt_expcnt) { return WAVE_HINT(w, u); }
WAVE_OP(s_waitcnt_lgkmcnt) { return WAVE_HINT(w, u); }
WAVE_OP(s_wait_idle) { return WAVE_HINT(w, u); }
WAVE_OP(s_wait_event) { return WAVE_HINT(w, u); }
WAVE_OP(s_set_inst_prefetch_distance) { return WAVE_HINT(w, u); }
WAVE_OP(s_wakeup) { return WAVE_HINT(w, u); }
WAVE_OP(s_incperflevel) { return WAVE_HINT(w, u); }
WAVE_OP(s_decperflevel) { return WAVE_HINT(w, u); }
WAVE_OP(s_ttracedata) { return WAVE_HINT(w, u); }
WAVE_OP(s_ttracedata_imm) { return WAVE_HINT(w, u); }
WAVE_OP(s_icache_inv) { return WAVE_HINT(w, u); }
WAVE_OP(s_dcache_inv) { return WAVE_HINT(w, u); }
WAVE_OP(s_gl1_inv) { return WAVE_HINT(w, u); }
WAVE_OP(s_atc_probe) { return WAVE_HINT(w, u); }
WAVE_OP(s_atc_probe_buffer) { return WAVE_HINT(w, u); }
WAVE_OP(buffer_gl0_inv) { return WAVE_HINT(w, u); }
WAVE_OP(buffer_gl1_inv) { return WAVE_HINT(w, u); }
WAVE_OP(s_version) { return WAVE_HINT(w, u); }
WAVE_OP(v_nop) { return WAVE_HINT(w, u); }
WAVE_OP(v_pipeflush) { return WAVE_HINT(w, u); }
WAVE_OP(ds_nop) { return WAVE_HINT(w, u); }
/* clang-format on */

WAVE_OP(s_setprio)
{
    w->status_bits = (w->status_bits & ~STATUS_USER_PRIO) |
                     ((uint32_t)u->imm << 3 & STATUS_USER_PRIO);
    return next(u);
}

/* ---- relative SGPRs (index in M0)
 * ---------------------------------------------------- */

static const struct uop *movrel(struct wave *w, const struct uop *u, unsigned from,
                                unsigned to, unsigned n)
{
    if (from + n > ISA_SEL_TTMP0 || to + n > ISA_SEL_TTMP0)
        return wave_fault(w, u, EMU_FAULT_REGISTER, "M0 selects an SGPR beyond s105");
    for (unsigned i = 0; i < n; i++)
        w->sgpr[to + i] = w->sgpr[from + i];
    return next(u);
}

WAVE_OP(s_movrels_b32)
{
    return movrel(w, u, u->s[0].sel + w->sgpr[ISA_SEL_M0], u->d, 1);
}

WAVE_OP(s_movrels_b64)
{
    return movrel(w, u, u->s[0].sel + w->sgpr[ISA_SEL_M0], u->d, 2);
}

static const struct uop *movreld(struct wave *w, const struct uop *u, unsigned n)
{
    unsigned to = u->d + w->sgpr[ISA_SEL_M0];
    uint64_t v = scalar_value(w, &u->s[0]);
    if (to + n > ISA_SEL_TTMP0)
        return wave_fault(w, u, EMU_FAULT_REGISTER, "M0 selects an SGPR beyond s105");
    w->sgpr[to] = (uint32_t)v;
    if (n == 2)
        w->sgpr[to + 1] = (uint32_t)(v >> 32);
    return next(u);
}

WAVE_OP(s_movreld_b32)
{
    return movreld(w, u, 1);
}

WAVE_OP(s_movreld_b64)
{
    return movreld(w, u, 2);
}

WAVE_OP(s_movrelsd_2_b32)
{
    uint32_t m0 = w->sgpr[ISA_SEL_M0];
    return movrel(w, u, u->s[0].sel + (m0 & 0x3ffu), u->d + (m0 >> 16 & 0x3ffu), 1);
}

#include "flow.inc"
