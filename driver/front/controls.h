/* controls.h: what programs write to take the device away, bring it back or reset it.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CONTROLS_H
#define RD_CONTROLS_H

#include "state.h"

/* Act on what is written, in a thread of its own, until the end. */
RD_CHECKED rd_status controls_begin(struct state *state);
void controls_end(struct state *state);

#endif
