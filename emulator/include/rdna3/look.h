/* look.h: one more order for a dispatch that runs (emu_dispatch.control).
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_LOOK_H
#define RD_LOOK_H

#include "emu.h"

/* Stand still as by EMU_CONTROL_PAUSE, and show the inspector first what is in flight:
 * each thread its workgroups, once per order. When no thread of emu_watch is left, all
 * that runs has been shown. Not for a dispatch that stands still already. */
enum { EMU_CONTROL_SHOW = EMU_CONTROL_CANCEL + 1 };

#endif
