/* encode.h: an event to bytes, section by section.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TRACE_ENCODE_H
#define RD_TRACE_ENCODE_H

#include "bytes.h"
#include "format.h"

/* Append an event to the sections of the chunk called `chunk` (not 0). False if out of
 * memory.
 *
 * inst   number of its instruction
 * ws,is  what it is predicted from; brought up to date
 */
bool encode_event(struct buf section[TRACE_SECTIONS], const struct emu_event *e,
                  uint32_t chunk, uint32_t inst, struct trace_wave_state *ws,
                  struct trace_inst_state *is, bool values);

#endif
