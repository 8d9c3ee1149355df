/* regs.h: the board's registers.
 *
 * A register is named by its dword offset, on the bus that reaches all blocks. What
 * nobody models keeps what is written.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PCI_REGS_H
#define RD_PCI_REGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "status.h"

struct pci_board;

#define REGS_BITS      30u
#define REGS_PAGE_BITS 10u
#define REGS_PAGE      (1u << REGS_PAGE_BITS)

struct regs_page {
    _Atomic uint32_t value[REGS_PAGE];
    _Atomic uint32_t reads[REGS_PAGE], writes[REGS_PAGE]; /* by the driver */
    uint16_t row[REGS_PAGE]; /* in the table; 0: not there */
    struct regs_page *older;
};

struct pci_regs {
    _Atomic(struct regs_page *) *pages;
    _Atomic(struct regs_page *) newest; /* of those that are there */
    _Atomic uint32_t nameless;          /* pages of which the table knows nothing */
    uint32_t polled, polled_value;      /* read last, */
    uint64_t polls;                     /* so often in a row */
    uint64_t reads, writes;
};

RD_CHECKED rd_status regs_create(struct pci_regs *regs);
void regs_destroy(struct pci_regs *regs);
/* Registers have their values after power-on, counts stay. */
void regs_reset(struct pci_regs *regs);

/* What is stored, without hooks. Thread: any. */
uint32_t regs_get(struct pci_board *b, uint32_t reg);
void regs_set(struct pci_board *b, uint32_t reg, uint32_t value);
/* With hooks: packets, firmware. Thread: any. */
uint32_t regs_read(struct pci_board *b, uint32_t reg);
void regs_write(struct pci_board *b, uint32_t reg, uint32_t value);
/* The same by the driver: counted, logged, looked at for polls. */
uint32_t regs_load(struct pci_board *b, uint32_t reg);
void regs_store(struct pci_board *b, uint32_t reg, uint32_t value);

/* Two registers as a number of 64 bits. */
uint64_t regs_pair(struct pci_board *b, uint32_t low, uint32_t high);

/* "CP_STAT (0x21a0)", or the number alone. */
void regs_text(uint32_t reg, char *text, size_t size);
/* List those that the driver has used and nobody models, or all. */
void regs_report(struct pci_board *b, FILE *out);

/* ---- hooks: of the files that model the blocks ---- */

typedef uint32_t regs_read_fn(struct pci_board *b, uint32_t reg);
typedef void regs_write_fn(struct pci_board *b, uint32_t reg, uint32_t value);

regs_read_fn mm_data_read, rsmu_data_read, memsize_read, clock_read, golden_read,
    fb_location_read, ack_read, sem_read, psp_alive_read, psp_ready_read,
    smu_flags_read, bank_read, hqd_active_read, sh_mem_read, zero_read, bootload_read,
    mes_version_read, ih_wptr_read, one_bit_read, sdma_status_read, cu_config_read,
    vmid_lut_read;
regs_write_fn mm_data_write, rsmu_data_write, hdp_flush_write, hdp_request_write,
    invalidate_write, psp_boot_write, psp_mailbox_write, psp_ring_write,
    smu_message_write, smu_debug_write, bank_write, hqd_active_write, hqd_dequeue_write,
    sh_mem_write, safe_mode_write, sq_command_write, ih_control_write, ih_rptr_write,
    ih_wptr_write, sdma_rb_write, sdma_queue_reset_write, soft_reset_write,
    fault_control_write, drop_write;

#endif
