/* host.h: the machine this program runs on.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_HOST_H
#define RD_HOST_H

#include <stddef.h>

/* Model name of the first CPU, "unknown" if the system does not say. */
void host_cpu_name(char *text, size_t size);
unsigned host_cpu_count(void);

/* SIMD level that the emulator chooses here ("avx512"). */
const char *host_simd_name(void);

#endif
