/* context.h: waves of a queue whose kernel driver has a trap handler of its own: it
 * saves waves to memory and restores them, halts them for good, and outlives page
 * faults. What a debugger works with.
 *
 * A wave's context as that handler stores it: VGPRs (a dword of each lane, register by
 * register), SGPRs, hardware registers, and with the first wave of a workgroup its LDS.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CONTEXT_H
#define RD_CONTEXT_H

#include "emu.h"

/* Bytes of a context: of SGPRs, and of the hardware registers. */
#define EMU_SAVED_SGPR_BYTES  512u
#define EMU_SAVED_HWREG_BYTES 128u

/* Dwords of the hardware registers. */
enum emu_saved_reg {
    EMU_SAVED_M0,
    EMU_SAVED_PC_LO,
    EMU_SAVED_PC_HI,
    EMU_SAVED_EXEC_LO,
    EMU_SAVED_EXEC_HI,
    EMU_SAVED_STATUS,
    EMU_SAVED_TRAPSTS,
    EMU_SAVED_XNACK_MASK,
    EMU_SAVED_MODE,
    EMU_SAVED_FLAT_SCRATCH_LO,
    EMU_SAVED_FLAT_SCRATCH_HI,
    EMU_SAVED_TTMP0 = 16, /* and 15 more */
};

/* A wave that asks where it is to go (MSG_RTN_SAVE_WAVE). */
struct emu_saved_wave {
    uint64_t group; /* its workgroup, as they are counted from 0 */
    unsigned wave;
    bool first, last; /* of its workgroup to be restored: they ask in the opposite
                         order. The first one has the LDS */
    bool wave64;
    unsigned vgprs;     /* allocated, of a lane */
    uint32_t lds_bytes; /* allocated */
};

/* All functions are called in the thread that runs the wave. */
struct emu_context {
    void *ctx;
    /* A wave's access has met no memory, or not for this. It goes on in its handler,
     * with TRAPSTS.MEM_VIOL. NULL: it is a fault of the dispatch. */
    void (*page_fault)(void *ctx, const struct emu_fault *fault);
    /* Where a wave is to be saved; 0: there is no room. */
    uint64_t (*place)(void *ctx, const struct emu_saved_wave *wave);
    /* Do waves begin halted? */
    bool (*halted)(void *ctx);
    /* Of a driver whose handler is not code in memory. Not NULL: contexts are stored by
     * these functions, waves stay what they are, and what they find changed in their
     * contexts when they go on is so. False: no such memory. */
    bool (*store)(void *ctx, uint64_t at, const void *from, uint64_t bytes);
    bool (*load)(void *ctx, uint64_t at, void *to, uint64_t bytes);
    bool stays; /* halted waves do, even if no other of their workgroup can go on */
};

/* One more order for a dispatch (emu_dispatch.control) that has a context: each thread
 * lets its waves enter the handler with TRAPSTS.SAVECTX until they have ended there,
 * then stands still as by EMU_CONTROL_PAUSE. Once it may run again, waves begin at the
 * handler's second instruction, where it restores them from the same places: nothing of
 * their registers and LDS stays here. Waves that do not end in their handler are kept
 * as they are. Not for a dispatch that stands still already. With a context that
 * stores, no handler is entered. */
enum { EMU_CONTROL_SAVE = EMU_CONTROL_CANCEL + 2 };

#endif
