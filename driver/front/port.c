/* port.c: preloaded into QEMU, so that the root port above the board takes atomics.
 *
 * On a board in a computer kernels count in host memory by the bus's atomics. QEMU's
 * root ports say that they take none, unless the host's VFIO says of the device below
 * (VFIO_DEVICE_GET_INFO on its file) that its own port does; a device behind vfio-user
 * has no file, and its server is not asked. Without, Linux's amdgpu says "PCIE atomic
 * ops is not supported", and HIP launches no kernel that may call the host: none with
 * printf, assert or malloc. So that one question gets an answer here. Numbers:
 * include/uapi/linux/vfio.h of Linux. SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "port.h"

int ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (fd >= 0 || (uint32_t)request != PORT_GET_INFO)
        return (int)syscall(SYS_ioctl, fd, request, argument);
    struct port_answer *to = argument;
    uint32_t room = to->argsz;
    const struct port_answer all = {.argsz = sizeof(all),
                                    .flags = PORT_PCI | PORT_HAS_CAPABILITIES,
                                    .regions = 9,
                                    .irqs = 5,
                                    .first = offsetof(struct port_answer, id),
                                    .id = PORT_ATOMICS,
                                    .version = 1,
                                    .takes = PORT_ATOMICS_32 | PORT_ATOMICS_64};
    memcpy(to, &all, room < sizeof(all) ? room : sizeof(all));
    return 0;
}
