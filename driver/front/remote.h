/* remote.h: a board behind a TCP port, for drivers that reach it over the network.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_FRONT_REMOTE_H
#define RD_FRONT_REMOTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pci.h"

/* Listen on a port of the loopback interface; 0: any.
 * port  out, the one that it is */
RD_CHECKED rd_status remote_listen(uint16_t *port, int *fd);
/* Serve clients, one after the other, until stop is set (somebody shuts the socket down
 * then) or, if once, one has gone. say: lines for people. */
RD_CHECKED rd_status remote_serve(struct pci_board *board, int fd, bool once,
                                  const atomic_bool *stop,
                                  void (*say)(void *ctx, const char *text), void *ctx);

#endif
