/* glance.h: what an observer need not see.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GLANCE_H
#define RD_GLANCE_H

#include "event.h"

/* In emu_observer.want: the first member of the observer's ctx is a pointer to its
 * struct emu_glance, NULL: none. */
#define EMU_WANT_GLANCE 4u

/* In emu_event.flags: its effect on the numbered state is known. */
#define EMU_EV_FOLLOWED 32u

/* Of an instruction: must it be an event? */
#define EMU_SEE_ALWAYS 1u
#define EMU_SEE_ASK    2u /* as emu_glance.ask says */
#define EMU_SEE_LATER  8u /* as EMU_SEE_ASK, but the log (emu_log) will do, if open */
#define EMU_SEE_APART                                                                  \
    4u /* what it does to the state depends on more than the state                     \
        */

/* Where native code writes LDS loads that nobody has to look at now, instead of asking:
 * while at is below end. The observer's, which may change it whenever it is called. */
struct emu_log {
    char *at, *end; /* end: of which no entry must begin behind */
    uint64_t tag;   /* goes into each entry */
};
#define EMU_LOG_ENTRY(lanes) (32u + 4u * (lanes)) /* bytes */

/* What an entry says: wave, instruction, its accesses (room: 2), EXEC; *tag. As long as
 * the workgroup is resident. Returns the number of accesses. */
unsigned emu_log_read(const char *entry, struct emu_event *event,
                      struct emu_access *access, uint64_t *tag);

/* What an observer need not see, so that native code can run it: instructions that
 * sees() does not name (NULL: it sees all). Memory instructions that native code does
 * not do itself, or that may fault, are events all the same. If every observer of a
 * dispatch says so, its waves are native code.
 *
 * With load and save the observer has a state per wave, and gives states numbers that
 * stay: equal numbers, equal states. A run of instructions that has once led from one
 * state to another will do so again, so of a run that was met in the same state before
 * nothing is seen; where EXEC is changed another run begins, and that EXEC is zero
 * counts as a run of its own. Events inside of such runs have EMU_EV_FOLLOWED. One
 * observer of a dispatch may have states. The state of a wave that begins is 0.
 *
 * Threads and order as of struct emu_observer.
 */
struct emu_glance {
    /* The wave's turn begins: must all of it be seen? Whoever runs it. */
    bool (*turn)(void *ctx, const struct emu_wave_info *wave);
    unsigned (*sees)(void *ctx, const struct emu_inst *inst); /* EMU_SEE_* */
    /* Before other calls about the wave: what it has done that was not seen. accesses:
     * of lanes. */
    void (*skipped)(void *ctx, const struct emu_wave_info *wave, uint64_t insts,
                    uint64_t accesses);
    /* Before a memory instruction runs, as emu_observer.admit: must it be an event? */
    bool (*ask)(void *ctx, const struct emu_event *event);
    /* Before the wave's turn; NULL: there is none. One observer of a dispatch may have
     * logs. */
    struct emu_log *(*log)(void *ctx, const struct emu_wave_info *wave);
    /* The wave's events go on from this state. UINT32_MAX: from where they have ended.
     */
    void (*load)(void *ctx, const struct emu_wave_info *wave, uint32_t state);
    /* The number of the wave's state; UINT32_MAX: it has none. *told: something was
     * found since load, so the run must be seen again. */
    uint32_t (*save)(void *ctx, const struct emu_wave_info *wave, bool *told);
};

#endif
