/* pci.h: a Radeon RX 7900 XTX as a PCI function: configuration space, windows,
 * firmware, for drivers that program its registers.
 *
 * A transport (front/remote, front/vfio_user) puts it in front of a driver. Calls may
 * come from one thread at a time; kernels run in threads of the GPU's own.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PCI_H
#define RD_PCI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "counters.h"
#include "status.h"

struct pci_board; /* opaque */

#define PCI_CONFIG_BYTES 4096u

enum pci_bar {
    PCI_BAR_VRAM = 0,
    PCI_BAR_DOORBELLS = 2,
    PCI_BAR_IO = 4,
    PCI_BAR_REGISTERS = 5,
    PCI_BAR_ROM = 6,
};

/* Version of the system management unit that the board says it has. Drivers load the
 * firmware of that name. */
struct pci_version {
    uint8_t major, minor, revision;
};

struct pci_config {
    uint64_t vram_bytes;    /* a multiple of 256 MiB */
    struct pci_version smu; /* 0.0.0: a real board's, 13.0.0 */
    bool no_execute;        /* complete dispatches without running them */
    double sclk_mhz;        /* above 0: the timing model at this shader clock */
    unsigned engine;        /* enum emu_engine */
    FILE *log;              /* a line for each access of a register, or NULL */
    void *ctx;              /* of the functions below */
    void (*msi)(void *ctx); /* the interrupt that the driver has set up; any thread */
    void (*say)(void *ctx, const char *text); /* a line for people; any thread */
};

RD_CHECKED rd_status pci_create(const struct pci_config *config,
                                struct pci_board **out);
/* Stops all queues and forgets everything but what the processes' threads hold. */
void pci_destroy(struct pci_board *b);
/* As a function-level reset. VRAM keeps its contents. */
void pci_reset(struct pci_board *b);

/* Size of a window; 0: there is none. */
uint64_t pci_bar_bytes(const struct pci_board *b, unsigned bar);
/* The file that holds the board's memory, to be mapped as BAR 0. */
int pci_vram_file(const struct pci_board *b);

/* Accesses of a driver. What lies beyond the space or window reads as ones. */
void pci_config_read(struct pci_board *b, uint32_t offset, void *to, uint32_t bytes);
void pci_config_write(struct pci_board *b, uint32_t offset, const void *from,
                      uint32_t bytes);
void pci_bar_read(struct pci_board *b, unsigned bar, uint64_t offset, void *to,
                  uint64_t bytes);
void pci_bar_write(struct pci_board *b, unsigned bar, uint64_t offset, const void *from,
                   uint64_t bytes);

/* The calling thread serves them: its driver's CPU waits for each answer (gpu.h). */
void pci_thread_urgent(bool urgent);

/* Let the board see memory of its host: what is in a file (the board makes its own
 * descriptor) from offset on is at bus addresses from bus on.
 * Returns RD_E_EXISTS if it overlaps, RD_E_NOMEM if there is no room for more. */
RD_CHECKED rd_status pci_memory_add(struct pci_board *b, uint64_t bus, uint64_t bytes,
                                    int fd, uint64_t offset, bool writable);
RD_CHECKED rd_status pci_memory_remove(struct pci_board *b, uint64_t bus,
                                       uint64_t bytes);

const struct gpu_counters *pci_counters(const struct pci_board *b);
/* What was done, and which registers were used that nobody models. */
void pci_report(struct pci_board *b, FILE *out);

#endif
