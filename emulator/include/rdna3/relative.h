/* relative.h: registers that M0 selects when an instruction runs (v_movrel, s_movrel,
 * v_swaprel). The tables name those that M0 counts from.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_RELATIVE_H
#define RD_RELATIVE_H

#include "event.h"

bool inst_is_relative(const struct isa_inst *inst);

/* A copy whose reg[] are those that m0 selects. */
void inst_resolve(const struct emu_inst *inst, uint32_t m0, struct emu_inst *out);

#endif
