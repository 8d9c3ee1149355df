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
#define EMU_SEE_ASK    2u  /* as emu_glance.ask says */
#define EMU_SEE_LATER  8u  /* as EMU_SEE_ASK, but the log (emu_log) will do, if open */
#define EMU_SEE_ROW    16u /* as EMU_SEE_ASK, but emu_glance.row is asked first */
#define EMU_SEE_APART                                                                  \
    4u /* what it does to the state depends on more than the state                     \
        */

/* How the 32 lanes of a wave, all of them on, have accessed memory or LDS at a place in
 * native code, found out as it ran; or that it is a scalar load. */
struct emu_row {
    int32_t offset[32]; /* of their addresses behind the first one's; of a scalar: 0 */
    uint64_t pc;
    /* The addresses do not wrap if the first lane's part of them from the register is
     * in [low, low + room]. */
    uint32_t low, room;
    uint32_t form; /* what emu_glance.form calls it; 0: ask */
    uint16_t learnt;
    uint8_t bytes; /* of a lane */
    bool write, lds, scalar;
    /* The observer's: what it found out when it was asked last. Zero at first. */
    uint64_t asked, last;
    const void *what;
    uint32_t number, fine;
};

#define EMU_ROW_SCALAR 64u /* the largest scalar load, in bytes */

/* Of memory: bytes from the lowest lane's address to behind the highest one's. */
#define EMU_ROW_REACH(row) (UINT32_MAX - 64u - (row)->low - (row)->room)
#define EMU_ROW_SPAN(row)  ((uint64_t)(row)->low + EMU_ROW_REACH(row) + (row)->bytes)

/* Where native code writes LDS loads that nobody has to look at now, instead of asking:
 * while at is below end. The observer's, which may change it whenever it is called. */
struct emu_log {
    char *at, *end; /* end: of which no entry must begin behind */
    uint64_t tag;   /* goes into each entry */
};
#define EMU_LOG_ENTRY(lanes) (40u + 4u * (lanes)) /* bytes */

/* What an entry says: wave, instruction, its accesses (room: 2), EXEC; *tag. As long as
 * the workgroup is resident. Returns the number of accesses. */
unsigned emu_log_read(const char *entry, struct emu_event *event,
                      struct emu_access *access, uint64_t *tag);

/* ---- marked registers ---- */

/* In what waves remember of a region, beside EMU_MEM_*: it has no marks. */
#define EMU_MEM_PLAIN 0x100u

/* A bit per register: words of 32 VGPRs, of 32 scalar registers by enum isa_sel (SGPRs,
 * VCC, M0), and one of SCC. */
#define EMU_MARK_SCALARS 8u
#define EMU_MARK_SCC     12u
#define EMU_MARK_WORDS   13u

/* Of a wave: registers that an observer wants to see used. */
struct emu_marks {
    uint32_t reg[EMU_MARK_WORDS];
    const uint32_t *lds; /* not 0: LDS has marks, too; never NULL */
};

/* A run of instructions in which EXEC stays what it is. */
struct emu_run {
    uint32_t reads[EMU_MARK_WORDS];     /* before they are written in it */
    uint32_t reads_all[EMU_MARK_WORDS]; /* in lanes that are off, too */
    uint32_t writes[EMU_MARK_WORDS];
    uint32_t n;      /* instructions */
    bool reads_lane; /* the first active one, or the first of all if none is */
    bool seen;       /* it must be, whatever is marked */
};

/* The mark of a register (enum isa_sel), by number; -1: it has none. */
static inline int emu_mark_of(unsigned sel)
{
    if (sel >= ISA_SEL_VGPR0)
        return (int)(sel - ISA_SEL_VGPR0);
    if (sel == ISA_SEL_SCC)
        return 32 * (int)EMU_MARK_SCC;
    return sel < 128 && sel != ISA_SEL_NULL ? (int)(32 * EMU_MARK_SCALARS + sel) : -1;
}

static inline bool emu_mark_get(const uint32_t *words, unsigned mark)
{
    return words[mark / 32] >> mark % 32 & 1;
}

static inline void emu_mark_set(uint32_t *words, unsigned mark)
{
    words[mark / 32] |= 1u << mark % 32;
}

static inline void emu_mark_clear(uint32_t *words, unsigned mark)
{
    words[mark / 32] &= ~(1u << mark % 32);
}

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
 * With marks the observer has marked registers per wave, LDS and memory, which it wants
 * to see used. A run that touches no marked register need not be seen, nor one of which
 * touch says so; of its memory instructions those are events that may access what is
 * marked. One observer of a dispatch may have marks.
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
    /* Before an instruction that accesses nothing and is an event: need it be none?
     * Then what the observer makes of it is done, but for barriers arrive will be
     * called; opens: all the workgroup's waves have. It may be NULL. One observer alone
     * is asked. */
    bool (*pass)(void *ctx, const struct emu_wave_info *wave,
                 const struct emu_inst *inst, uint64_t exec);
    void (*arrive)(void *ctx, const struct emu_wave_info *wave,
                   const struct emu_inst *inst, bool opens);
    /* Before a memory instruction runs, as emu_observer.admit: must it be an event? */
    bool (*ask)(void *ctx, const struct emu_event *event);
    /* A number for such a row; 0: row is not asked of it. */
    uint32_t (*form)(void *ctx, const struct emu_row *row);
    /* Instead of ask, where lanes lie as those of a row that has a form, and before
     * scalar loads, whose row may have none yet: need the
     * instruction be no event? If not so, it is asked. address: of the first lane.
     * mine: what mine() has said before the wave's turn. It must not touch vector
     * registers. One observer of a dispatch may have it, if no other asks. */
    unsigned (*row)(void *mine, uint64_t address, struct emu_row *row);
    void *(*mine)(void *ctx, const struct emu_wave_info *wave);
    /* Before the wave's turn; NULL: there is none. One observer of a dispatch may have
     * logs. */
    struct emu_log *(*log)(void *ctx, const struct emu_wave_info *wave);
    /* The wave's events go on from this state. UINT32_MAX: from where they have ended.
     */
    void (*load)(void *ctx, const struct emu_wave_info *wave, uint32_t state);
    /* The number of the wave's state; UINT32_MAX: it has none. *told: something was
     * found since load, so the run must be seen again. */
    uint32_t (*save)(void *ctx, const struct emu_wave_info *wave, bool *told);

    /* The wave's turn begins: its marks, which the observer changes at events and in
     * touch, and which stay there during the turn. */
    const struct emu_marks *(*marks)(void *ctx, const struct emu_wave_info *wave);
    /* The next instruction of a run: what it reads and writes, beside the others'. */
    void (*note)(void *ctx, const struct emu_inst *inst, struct emu_run *run);
    /* The run, from the wave's index-th instruction on, may touch what is marked: need
     * it not be seen, so that the observer counts it as done? */
    bool (*touch)(void *ctx, const struct emu_wave_info *wave,
                  const struct emu_run *run, uint64_t exec, uint64_t index);
    /* LDS has marks, and an instruction of a run that need not be seen accesses it
     * next: must it be an event? Else it counts as done. */
    bool (*settle)(void *ctx, const struct emu_event *event);
    /* After an event in such a run: must its rest be seen? */
    bool (*rest)(void *ctx, const struct emu_wave_info *wave);
    /* Narrow [base, end) around an address to memory that is marked, or to what is not;
     * returns whether nothing is. */
    bool (*clip)(void *ctx, uint64_t address, uint64_t *base, uint64_t *end);
};

struct emu;

/* Memory has marks where it had none. Thread: of the observers, or as
 * emu_add_observer. */
void emu_memory_marked(struct emu *emu);

#endif
