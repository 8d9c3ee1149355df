/* context.h: waves of a queue whose kernel driver has a trap handler of its own: it
 * saves waves to memory and restores them, halts them for good, and outlives page
 * faults. What a debugger works with.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CONTEXT_H
#define RD_CONTEXT_H

#include "emu.h"

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
     * with TRAPSTS.MEM_VIOL. */
    void (*page_fault)(void *ctx, const struct emu_fault *fault);
    /* Where a wave is to be saved; 0: there is no room. */
    uint64_t (*place)(void *ctx, const struct emu_saved_wave *wave);
    /* Do waves begin halted? */
    bool (*halted)(void *ctx);
};

/* One more order for a dispatch (emu_dispatch.control) that has a context: each thread
 * lets its waves enter the handler with TRAPSTS.SAVECTX until they have ended there,
 * then stands still as by EMU_CONTROL_PAUSE. Once it may run again, waves begin at the
 * handler's second instruction, where it restores them from the same places: nothing of
 * their registers and LDS stays here. Waves that do not end in their handler are kept
 * as they are. Not for a dispatch that stands still already. */
enum { EMU_CONTROL_SAVE = EMU_CONTROL_CANCEL + 2 };

#endif
