/* decode.h: bytes to an event, section by section.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TRACE_DECODE_H
#define RD_TRACE_DECODE_H

#include "bytes.h"
#include "format.h"

#define DECODE_ACCESSES 255
#define DECODE_DWORDS   (16u * EMU_MAX_REGS * 64u) /* operands in one direction */

/* Where a decoded event's arrays are. */
struct decoded {
    struct emu_event event;
    struct emu_inst resolved; /* of an instruction whose registers M0 selects */
    struct emu_access access[DECODE_ACCESSES];
    uint32_t in[DECODE_DWORDS], out[DECODE_DWORDS];
};

/* CTL: which instruction, EXEC and flags. Returns its number. */
uint32_t decode_ctl(struct cur *c, struct trace_wave_state *ws, struct decoded *d,
                    uint64_t *jump);
/* False: the section makes no sense. */
bool decode_memory(struct cur *c, struct trace_inst_state *is, struct decoded *d);
bool decode_values(struct cur *c, struct decoded *d);

#endif
