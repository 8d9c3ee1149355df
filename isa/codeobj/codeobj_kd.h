/* codeobj_kd.h: the kernel descriptor, and errors; usable without a file.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CODEOBJ_KD_H
#define RD_CODEOBJ_KD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* What is wrong with the file: the field, its offset, its value. One line, printable
 * characters only. Functions accept NULL where the text is not wanted. */
struct co_error {
    char text[256];
};

#define CO_KD_BYTES   64
#define CO_KD_ALIGN   64
#define CO_CODE_ALIGN 256 /* the hardware holds program addresses >> 8 */
#define CO_NO_SGPR    0xffu

/* User SGPRs in the order in which the ABI hands them out from s0. */
enum co_user_sgpr {
    CO_USER_PRIVATE_SEGMENT_BUFFER, /* 4; not set by compilers for gfx1100 */
    CO_USER_DISPATCH_PTR,           /* 2 */
    CO_USER_QUEUE_PTR,              /* 2 */
    CO_USER_KERNARG_PTR,            /* 2 */
    CO_USER_DISPATCH_ID,            /* 2 */
    CO_USER_FLAT_SCRATCH_INIT,      /* 2; not set by compilers for gfx1100 */
    CO_USER_PRIVATE_SEGMENT_SIZE,   /* 1 */
    CO_USER_SGPR_KINDS
};

/* System SGPRs in order; they follow the user SGPRs. */
enum co_system_sgpr {
    CO_SYS_WORKGROUP_ID_X,
    CO_SYS_WORKGROUP_ID_Y,
    CO_SYS_WORKGROUP_ID_Z,
    CO_SYS_WORKGROUP_INFO,
    CO_SYSTEM_SGPR_KINDS
};

enum co_round {
    CO_ROUND_NEAREST_EVEN,
    CO_ROUND_PLUS_INF,
    CO_ROUND_MINUS_INF,
    CO_ROUND_ZERO
};

enum co_denorm {
    CO_DENORM_FLUSH_IN_OUT,
    CO_DENORM_FLUSH_OUT, /* inputs kept */
    CO_DENORM_FLUSH_IN,  /* outputs kept */
    CO_DENORM_KEEP
};

/* Bits of co_kernel_desc.exceptions, as in COMPUTE_PGM_RSRC2[30:24]. */
#define CO_EXC_INVALID    0x01u
#define CO_EXC_DENORM_SRC 0x02u
#define CO_EXC_DIV_ZERO   0x04u
#define CO_EXC_OVERFLOW   0x08u
#define CO_EXC_UNDERFLOW  0x10u
#define CO_EXC_INEXACT    0x20u
#define CO_EXC_INT_DIV    0x40u

/* One descriptor: the fields as stored, then what they mean on gfx1100. */
struct co_kernel_desc {
    uint32_t group_segment_bytes;   /* static LDS of a workgroup */
    uint32_t private_segment_bytes; /* scratch of a lane */
    uint32_t kernarg_bytes;
    int64_t entry_offset; /* from the descriptor's first byte to the code's */
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties;
    uint16_t kernarg_preload;

    uint8_t wave; /* 32 or 64 */
    bool uses_dynamic_stack;

    /* rsrc1 */
    uint16_t vgprs; /* of a lane, from the granulated count */
    uint16_t sgprs; /* gfx10 and later give every wave all of them */
    uint8_t granulated_vgprs, granulated_sgprs;
    uint8_t priority;
    uint8_t float_mode;              /* rsrc1[19:12] = MODE[7:0] */
    uint8_t round_32, round_16_64;   /* enum co_round */
    uint8_t denorm_32, denorm_16_64; /* enum co_denorm */
    bool priv, dx10_clamp, debug_mode, ieee, bulky, fp16_overflow;
    bool wgp_mode, mem_ordered, fwd_progress;

    /* rsrc2 */
    bool private_segment; /* scratch is set up */
    bool trap_handler;
    uint8_t user_sgpr_count;                   /* all user SGPRs, named or not */
    uint8_t user_sgpr[CO_USER_SGPR_KINDS];     /* first register or CO_NO_SGPR */
    uint8_t system_sgpr[CO_SYSTEM_SGPR_KINDS]; /* register or CO_NO_SGPR */
    uint8_t sgprs_initialised;                 /* user and system ones */
    uint8_t workitem_id_dims;                  /* 1..3; 3 also for the undefined 3 */
    uint8_t exceptions;                        /* CO_EXC_* */
    bool exception_address_watch, exception_memory;
    uint16_t granulated_lds; /* the packet processor overwrites it; 0 in files */

    /* rsrc3 */
    uint8_t shared_vgprs; /* wave64: registers shared by the two halves */
    uint8_t inst_pref_lines;
    bool trap_on_start, trap_on_end, image_op;
};

/* Decode a kernel descriptor. Every bit pattern decodes: reserved bits are ignored as
 * the packet processor ignores them; co_kd_check judges.
 *
 * kd   in, CO_KD_BYTES
 * Source: LLVM AMDGPUUsage, "Kernel Descriptor", gfx11 columns.
 */
void co_kd_parse(const void *kd, struct co_kernel_desc *out);

/* Number of SGPRs that a kind takes. */
unsigned co_user_sgpr_size(enum co_user_sgpr kind);

/* Reject a descriptor that gfx1100 cannot run as meant: more than 256 VGPRs or 16 user
 * SGPRs, more user SGPRs enabled than provided, more than 64 KiB of LDS.
 *
 * Returns RD_OK or RD_E_FORMAT with the text.
 */
RD_CHECKED rd_status co_kd_check(const struct co_kernel_desc *desc,
                                 struct co_error *err);

#endif
