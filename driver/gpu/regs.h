/* regs.h: the GPU's registers.
 *
 * A register is named by its dword offset. Compute state (from PM4_SH_BASE on) is there
 * once for each queue; everything else once. What nobody models is plain storage, and
 * each use of it is counted.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GPU_REGS_H
#define RD_GPU_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"
#include "status.h"

struct gpu;

#define REG_BITS      30u /* of a dword offset */
#define REG_PAGE_BITS 10u
#define REG_PAGE      (1u << REG_PAGE_BITS)

struct reg_page {
    _Atomic uint32_t value[REG_PAGE];
    uint8_t row[REG_PAGE]; /* in the table of those that somebody models; 0: nobody */
};

struct gpu_regs {
    /* Pages by the offset's upper bits; made when first touched. */
    _Atomic(struct reg_page *) *pages;
};

RD_CHECKED rd_status regs_init(struct gpu_regs *regs);
void gpu_regs_destroy(struct gpu_regs *regs);
/* A queue's own compute state; NULL if out of memory. */
struct reg_page *regs_queue_state(void);

/* queue: a queue's own compute state, or NULL: none. Thread: any. */
uint32_t reg_read(struct gpu *gpu, struct reg_page *queue, uint32_t reg);
void reg_write(struct gpu *gpu, struct reg_page *queue, uint32_t reg, uint32_t value);
/* Look for a wait: counted when it begins, not at each look. */
void reg_wait_begin(struct gpu *gpu, struct reg_page *queue, uint32_t reg);
uint32_t reg_look(struct gpu *gpu, struct reg_page *queue, uint32_t reg);

#endif
