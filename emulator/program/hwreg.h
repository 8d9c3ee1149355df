/* hwreg.h: hardware registers of s_getreg and s_setreg: ids and bits (manual 3.4).
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_HWREG_H
#define RD_HWREG_H

#include <stdint.h>

/* STATUS (manual 3.4.1). SCC, EXECZ and VCCZ are not kept in wave.status_bits. */
#define STATUS_SCC        (1u << 0)
#define STATUS_SYS_PRIO   (3u << 1)
#define STATUS_USER_PRIO  (3u << 3)
#define STATUS_PRIV       (1u << 5)
#define STATUS_TRAP_EN    (1u << 6)
#define STATUS_EXECZ      (1u << 9)
#define STATUS_VCCZ       (1u << 10)
#define STATUS_IN_WG      (1u << 11)
#define STATUS_HALT       (1u << 13)
#define STATUS_VALID      (1u << 16)
#define STATUS_CDBG_USER  (1u << 20)
#define STATUS_CDBG_SYS   (1u << 21)
#define STATUS_FATAL_HALT (1u << 23)
#define STATUS_SCRATCH_EN (1u << 29)
/* What s_setreg may change in the trap handler. */
#define STATUS_PRIV_WRITES                                                             \
    (STATUS_SCC | STATUS_SYS_PRIO | STATUS_USER_PRIO | STATUS_HALT | 1u << 8 |         \
     1u << 18 | STATUS_CDBG_USER | STATUS_CDBG_SYS | 1u << 25 | 1u << 27 |             \
     STATUS_SCRATCH_EN)

#define MODE_EXCP_EN      12 /* bit of the first of seven */
#define MODE_EXCP_EN_MASK (0x7fu << MODE_EXCP_EN)
#define MODE_DEBUG_EN     (1u << 11) /* a trap behind each instruction */

/* TRAPSTS (manual 3.4.9) */
#define TRAPSTS_MATH         0x7fu
#define TRAPSTS_EXCP         0x1ffu /* may be written by any shader */
#define TRAPSTS_MEM_VIOL     (1u << 8)
#define TRAPSTS_SAVECTX      (1u << 10)
#define TRAPSTS_ILLEGAL_INST (1u << 11)

/* Hardware registers of s_getreg (manual 3.4). */
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
    HWREG_IB_STS2 = 28,
    HWREG_SHADER_CYCLES = 29,
};

/* Messages that return a value (manual 5.3). */
enum rtn_message {
    RTN_GET_DOORBELL = 0x80,
    RTN_GET_DDID = 0x81,
    RTN_GET_TMA = 0x82,
    RTN_GET_REALTIME = 0x83,
    RTN_SAVE_WAVE = 0x84,
    RTN_GET_TBA = 0x85,
};

#define IB_STS2_WAVE64 (1u << 11)

/* The bits that SIMM16 of s_getreg and s_setreg selects. */
static inline uint32_t hwreg_mask(unsigned imm)
{
    unsigned offset = imm >> 6 & 31, size = (imm >> 11 & 31) + 1;
    return (uint32_t)(((UINT64_C(1) << size) - 1) << offset);
}

#endif
