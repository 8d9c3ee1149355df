/* trap.h: watch points: what an access to watched memory does to a wave.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TRAP_H
#define RD_TRAP_H

#include "wave.h"

#define MODE_WATCH_EN (1u << 19) /* of MODE.EXCP_EN: a watched address traps */

/* A wave between two instructions has hit watch points (a bit each, 0 to 3): TRAPSTS
 * says so, and if MODE has them trap, the wave goes on in its handler. */
void trap_watch(struct wave *w, uint32_t hit);

#endif
