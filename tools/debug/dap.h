/* dap.h: the Debug Adapter Protocol.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_DAP_H
#define RD_DEBUG_DAP_H

/* Serve one client on stdin and stdout, or on a TCP port of this machine. Prints
 * errors; returns an exit status. */
int dap_serve(unsigned port);

#endif
