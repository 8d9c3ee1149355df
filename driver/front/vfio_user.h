/* vfio_user.h: a board behind a socket, as a device of a virtual machine.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_FRONT_VFIO_USER_H
#define RD_FRONT_VFIO_USER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pci.h"

struct vfio_user; /* opaque */

/* Made before its board, whose interrupts it passes on. */
RD_CHECKED rd_status vfio_user_create(struct vfio_user **out);
void vfio_user_destroy(struct vfio_user *v);
/* pci_config.msi, with the vfio_user as ctx. Thread: any. */
void vfio_user_msi(void *v);

/* Listen on a socket at path, which must not be there; errno says why not. */
RD_CHECKED rd_status vfio_user_listen(const char *path, int *fd);
/* Serve virtual machines, one after the other; as remote_serve. */
RD_CHECKED rd_status vfio_user_serve(struct vfio_user *v, struct pci_board *board,
                                     int fd, bool once, const atomic_bool *stop,
                                     void (*say)(void *ctx, const char *text),
                                     void *ctx);
/* Serve one client on a connected socket until it goes or breaks the protocol. */
void vfio_user_talk(struct vfio_user *v, struct pci_board *board, int fd);

#endif
