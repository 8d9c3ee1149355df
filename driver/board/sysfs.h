/* sysfs.h: what a machine with a Radeon RX 7900 XTX shows in /sys and /proc.
 *
 * Paths are absolute, as a program names them; links are relative. The caller decides
 * where the files live.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SYSFS_H
#define RD_SYSFS_H

#include <stddef.h>
#include <stdint.h>

#include "board.h"
#include "status.h"

/* Where the emitted tree goes. Each function returns RD_OK or stops the emission. */
struct sysfs_out {
    void *ctx;
    rd_status (*file)(void *ctx, const char *path, const void *data, size_t bytes);
    rd_status (*link)(void *ctx, const char *path, const char *target);
    rd_status (*sparse)(void *ctx, const char *path, uint64_t bytes);
    rd_status (*folder)(void *ctx, const char *path); /* an empty one */
};

struct sysfs_host {
    unsigned cpus;
    uint64_t memory_bytes;
    struct board_memory board;
};

/* Emit the KFD topology, the PCI device with its DRM nodes, and the module. */
RD_CHECKED rd_status sysfs_emit(const struct sysfs_host *host,
                                const struct sysfs_out *out);

/* Files that a program writes to: they take the device away, bring it back, reset it.
 */
enum sysfs_action {
    SYSFS_REMOVE,
    SYSFS_RESCAN,
    SYSFS_RESET,
    SYSFS_UNBIND, /* with the device's name, as the next */
    SYSFS_BIND
};
struct sysfs_control {
    const char *path;
    enum sysfs_action action;
};
const struct sysfs_control *sysfs_controls(size_t *count);

/* What goes away, in this order: the first of them when the driver is unbound. */
const char *const *sysfs_departing(size_t *count, size_t *driver);

/* The parts of sysfs_emit. */
RD_CHECKED rd_status sysfs_emit_topology(const struct sysfs_host *host,
                                         const struct sysfs_out *out);
RD_CHECKED rd_status sysfs_emit_pci(const struct sysfs_host *host,
                                    const struct sysfs_out *out);
RD_CHECKED rd_status sysfs_emit_sensors(const struct sysfs_out *out);
RD_CHECKED rd_status sysfs_emit_firmware(const struct sysfs_out *out);

/* The PCI device: from /sys/A/B/ and from /sys/A/B/C/, and by its path. */
#define SYSFS_PCI_REL                                                                  \
    "devices/pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0/" BOARD_PCI_SLOT
#define SYSFS_PCI   "/sys/" SYSFS_PCI_REL
#define SYSFS_HWMON "hwmon3" /* its sensors */

/* A folder for each process that uses the compute driver. */
#define SYSFS_PROCESSES "/sys/devices/virtual/kfd/kfd/proc"

/* Helpers of both: a formatted text file. */
RD_CHECKED rd_status sysfs_text(const struct sysfs_out *out, const char *path,
                                const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
