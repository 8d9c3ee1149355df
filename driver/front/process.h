/* process.h: what sysfs shows of the process.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PROCESS_H
#define RD_PROCESS_H

/* The process uses the compute driver: show what it has now. Thread: any. */
void process_show(void);

#endif
