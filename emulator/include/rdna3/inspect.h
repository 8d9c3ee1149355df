/* inspect.h: the state of waves that stand still: registers, position, what they do.
 * For debuggers and core files. VGPRs and memory: emu_wave_vgpr, emu_wave_peek
 * (event.h). SPDX-License-Identifier: MIT
 */
#ifndef RD_INSPECT_H
#define RD_INSPECT_H

#include "event.h"

enum emu_wave_doing {
    EMU_DOING_RUN,
    EMU_DOING_BARRIER, /* waits for the other waves of its workgroup */
    EMU_DOING_SLEEP,   /* has just executed s_sleep: lets others run first */
    EMU_DOING_GWS,     /* waits for other workgroups (global wave sync) */
    EMU_DOING_HALTED,  /* by its trap handler */
    EMU_DOING_ENDED,
    EMU_DOING_FAULTED, /* pc is that of the instruction, which had no effect */
};

struct emu_wave_view {
    enum emu_wave_doing doing;
    uint64_t pc; /* of the next instruction; once ended of s_endpgm */
    uint64_t exec;
    uint32_t mode, status, trapsts; /* as s_getreg has them */
    uint32_t vgprs;                 /* allocated per lane */
    uint32_t lds_bytes, scratch_bytes;
    uint64_t instructions; /* executed */
};

void emu_wave_look(const struct emu_wave_info *wave, struct emu_wave_view *out);

/* A scalar register by its number (enum isa_sel): SGPRs, VCC, TTMPs, M0, EXEC, SCC,
 * VCCZ, EXECZ; 0 for others. */
uint32_t emu_wave_special(const struct emu_wave_info *wave, unsigned sel);

/* ---- for debuggers ---- */

/* Let a register (enum isa_sel: SGPRs, VCC, TTMPs, M0, EXEC, SCC, VGPRs) hold a value.
 * False: it cannot be set. The wave stands still. */
bool emu_wave_assign(const struct emu_wave_info *wave, unsigned sel, unsigned lane,
                     uint32_t value);
/* The same of LDS or scratch (enum emu_space), as emu_wave_peek reads them. */
bool emu_wave_poke(const struct emu_wave_info *wave, unsigned space, unsigned lane,
                   uint64_t address, unsigned bytes, const void *from);

#endif
