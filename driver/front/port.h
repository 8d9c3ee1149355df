/* port.h: what QEMU asks the host's VFIO about a device, and the answer of port.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PORT_H
#define RD_PORT_H

#include <stddef.h>
#include <stdint.h>

enum {
    PORT_GET_INFO = 0x3b6b, /* VFIO_DEVICE_GET_INFO */
    PORT_PCI = 1 << 1,      /* VFIO_DEVICE_FLAGS_PCI */
    PORT_HAS_CAPABILITIES = 1 << 7,
    PORT_ATOMICS = 5, /* VFIO_DEVICE_INFO_CAP_PCI_ATOMIC_COMP */
    PORT_ATOMICS_32 = 1 << 0,
    PORT_ATOMICS_64 = 1 << 1,
};

/* struct vfio_device_info with one capability. Who asks says in argsz how much room
 * there is, is told there how much all would take, and asks again. */
struct port_answer {
    uint32_t argsz, flags, regions, irqs, first, pad;
    uint16_t id, version;
    uint32_t next, takes, reserved;
};

/* The library has but this. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...);

#endif
