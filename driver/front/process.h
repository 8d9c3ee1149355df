/* process.h: what sysfs shows of the process.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PROCESS_H
#define RD_PROCESS_H

#include <stdint.h>

/* The process uses the compute driver and has so many bytes of the board's memory.
 * Thread: any. */
void process_show(uint64_t vram_used);

#endif
