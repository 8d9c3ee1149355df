/* internal.h: what the checkers share: who runs, and how they tell what they found.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_INTERNAL_H
#define RD_CHECK_INTERNAL_H

#include <stdatomic.h>

#include "checkers.h"
#include "glance.h"
#include "shadow.h"

#define CK_WRITES      64u /* stores of a loop, of code that is not optimized, too */
#define CK_LATE_DWORDS 16u /* of a load that the hazard mode delays (late.c) */
#define CK_REGIONS     16u /* a power of two */

struct ck_waits;
struct ck_init;
struct init_wave;
struct ck_hazards;
struct ck_late;
struct init_lds;
struct states;
struct race_log;
struct emu_glance;
struct emu_marks;
struct emu_run;
struct state_bytes;

/* Progress of one wave, for the watchdog (hang.c). */
struct ck_progress {
    uint64_t base;        /* of the wave's instructions: before the last */
    uint64_t proven;      /* likewise: it was looked at, or came by its state, there */
    uint64_t digest;      /* of its registers when loop_pc was passed */
    struct ck_race *race; /* NULL: nobody looks */
    uint64_t changes;     /* of memory, then */
    uint64_t loop_pc;     /* where a backward branch led to */
    uint64_t passes;      /* of that branch */
    bool polls_memory;    /* reads global memory since then */
    bool expired;         /* the watchdog: it has had no progress for too long */
    bool spins; /* came by again with the same registers, and no memory changed */
    uint64_t polled_pc, polled; /* its last load, and the address; 0: none */
    uint32_t polled_bytes;
    uint8_t polled_space;
    struct {
        uint64_t pc, left;
    } written[CK_WRITES]; /* what its stores left */
};

#define CK_WAVES 32u /* of a workgroup */
#define CK_SITES 16u /* a power of two */

/* A wave's last release of memory that waited, by an atomic or a store. */
struct ck_done {
    uint32_t stamp, barriers; /* 0: never */
    uint32_t b;               /* what the wave knew then: as of order_release */
    bool met, narrow;
    uint32_t node; /* a node that says so, or 0 */
};

/* What a wave is behind of (race.c). */
struct ck_order {
    uint32_t clock;           /* releases to LDS, from 1 */
    uint32_t knows[CK_WAVES]; /* of the clocks of the workgroup's waves, by LDS */
    uint32_t own[64];         /* of its own, by lane; only where lanes race */
    uint32_t behind;          /* of the dispatch's releases */
    uint32_t near;            /* likewise, of those by its own workgroup */
    uint32_t acquiring;       /* the same once it has done what drops caches */
    uint32_t handed;          /* likewise, from its own workgroup */
    uint32_t gl0, gl1;        /* acquiring when it has dropped each of them last */
    /* What those are releases of (order.h). */
    uint32_t knows_all, knows_near, takes, takes_handed, took_gl0, took_gl1;
    /* Places that it has loaded, by the caches, since it has dropped all of them; if it
     * never has, more than one. */
    uint32_t loads;
    /* The lock that it has taken last (race_locks.c), 0 if it has none. */
    uint64_t lock, tries; /* tries: it has tried that one last */
    uint32_t lock_was;    /* what it held before */
    uint32_t took_before; /* takes, when it tried first */
    uint8_t held;         /* accesses to memory for which it still counts */
    bool bare0, bare1;    /* gl0, gl1 was not dropped since */
    bool stores_out;      /* has stored and not waited */
    uint64_t out_at;      /* ... by single lanes at this address alone; 0: elsewhere */
    bool waited;          /* ... and has just waited: what drops caches belongs to it */
    bool narrow;          /* ... behind a fence for its own workgroup only */
    struct ck_done done;
    bool fences_lds;
    bool met;     /* has acquired by LDS */
    bool crossed; /* has acquired what other dispatches have released */
    uint32_t site[CK_SITES], lds_site[CK_SITES]; /* numbers of its last, by PC */
    uint64_t last[CK_SITES];                     /* where those were in memory */
    /* Of those clocks, what it knows once it drops gl0; if fences_lds. */
    uint32_t takes_lds[CK_WAVES];
};

struct ck_wave {
    const struct emu_wave_info *info;
    struct ck_group *group;
    uint64_t items; /* lanes that have a work-item */
    bool ended, waits;
    uint64_t insts;      /* that it has done */
    uint64_t pc;         /* of its last instruction that was seen */
    uint64_t barrier_pc; /* of the barrier that it waits at */
    struct ck_progress progress;
    struct ck_order order;
    struct ck_hazards *hazards; /* hazards.c; NULL: nothing was issued yet */
    struct ck_waits *loads;     /* wait.c; NULL: nothing was loaded yet */
    uint32_t state;             /* its number (glance.c), or STATE_NONE */
    struct init_wave *init;     /* init.c; NULL: nobody looks, or it has not begun */
    uint8_t denorm;             /* value.c: MODE.DENORM, 15 if it is not known */
};

/* A resident workgroup. */
struct ck_group {
    struct ck_group *next;
    uint64_t number;
    uint32_t workgroup[3];
    uint32_t n_waves, n_live, n_ended;
    uint64_t barriers;         /* that have opened */
    struct shadow *lds;        /* race.c; NULL: nobody looks */
    struct emu_log log;        /* race_rows.c: LDS loads that lds does not have yet */
    struct race_log *entries;  /* where they are, or NULL */
    bool lds_written;          /* since the last barrier */
    struct init_lds *init_lds; /* init.c; NULL: not touched yet */
    struct ck_wave wave[];
};

struct ck_race;

struct race_line;

/* The wave that runs, for row.c. */
struct ck_line {
    struct ck *ck;
    const atomic_uint *heap; /* of mem: its generation; NULL: it knows nothing */
    bool races;
    struct race_line *race; /* ck_race_mine */
};

struct ck {
    const struct emu_glance *glance; /* first: of an observer (EMU_WANT_GLANCE) */
    struct emu_glance seen;          /* that is: what it needs not see */
    struct emu *emu;
    struct ck_config config;
    struct ck_table *table;
    volatile int control; /* enum emu_control */
    bool stopped;
    struct emu_launch launch; /* the dispatch that runs */
    struct ck_before before;  /* ... or comes next */
    char kernel[256];
    uint64_t instructions, accesses; /* not yet in the table */
    struct ck_group *groups;         /* resident */
    uint64_t n_started;              /* workgroups */
    struct ck_wave **slots;          /* by emu_wave_info.slot */
    size_t n_slots;
    uint16_t index[4 * CK_MAX_FINDINGS]; /* of the table, by hash, from 1 */
    struct ck_race *race;                /* NULL: nobody looks */
    struct ck_init *init;                /* NULL: nobody looks */
    uint64_t changes;                    /* of memory by kernels, about (hang.c) */
    uint64_t quiet;                      /* instructions since one */
    bool looks;                          /* for hangs: every instruction is seen ... */
    _Atomic bool lingers;                /* ck_lingers */
    uint64_t next_look; /* ... if a wave has done so many without progress */
    uint64_t n_reports, reports_before; /* before the running instructions */
    struct states *states;              /* NULL: nobody numbers them */
    /* The last that accesses met, by instruction; region: of the running one. */
    struct emu_mem regions[CK_REGIONS], *region;
    uint32_t old[CK_LATE_DWORDS * 64]; /* late.c: of a load that runs */
    struct ck_line line;
    unsigned heap; /* its generation, of which the regions are */
};

static inline bool ck_wants(const struct ck *ck, enum ck_class cls)
{
    return ck->config.classes & CK_BIT(cls);
}

/* A finding about an event: everything but text, allocation and the other one. */
void ck_finding_at(const struct ck *ck, enum ck_class cls, const char *kind,
                   const struct emu_event *e, uint64_t lanes, struct ck_finding *f);
/* Fill in what a wave did at pc, as far as memory still shows it. */
void ck_actor_at(const struct ck *ck, const struct ck_wave *w, uint64_t pc,
                 uint64_t lanes, struct ck_actor *a);
/* Count it; may end the dispatch. f->kind, texts and actors are looked at. */
void ck_report(struct ck *ck, const struct ck_finding *f);
/* End the dispatch. */
void ck_end(struct ck *ck);

/* ---- checkers: what they do at an event of an instruction ---- */

/* mem.c; of a dispatch, at an event */
void ck_mem_begin(struct ck *ck);
uint64_t ck_mem_admit(struct ck *ck, const struct emu_event *e);
/* Must the instruction be an event, for accesses that may be bad? */
bool ck_mem_ask(struct ck *ck, const struct emu_event *e);
void ck_mem_fault(struct ck *ck, const struct emu_event *e);
/* Has a buffer or image instruction the other one's resource? */
void ck_mem_resource(struct ck *ck, const struct emu_event *e);
/* Let the finding name the allocation that holds an address: of the heap, else a
 * region. False: none does. */
bool ck_mem_holds(struct ck *ck, uint64_t address, struct ck_finding *f);

/* glance.c: make ck->seen, by its config. */
void ck_glance(struct ck *ck);

/* init.c: of the emulator; of a dispatch; before an instruction runs, and behind it;
 * when a wave, a workgroup have gone. */
RD_CHECKED rd_status ck_init_create(const struct ck *ck, struct ck_init **out);
void ck_init_destroy(struct ck_init *in);
void ck_init_begin(struct ck *ck);
void ck_init_before(struct ck *ck, struct ck_wave *w, const struct emu_event *e);
void ck_init_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e);
/* ... a wave begins. */
void ck_init_wave(struct ck *ck, struct ck_wave *w);
void ck_init_gone(struct ck *ck, struct ck_wave *w);
void ck_init_group_gone(struct ck_group *g);

/* marks.c: what init need not see: members of emu_glance. */
const struct emu_marks *ck_init_marks(void *ctx, const struct emu_wave_info *info);
void ck_init_note(void *ctx, const struct emu_inst *inst, struct emu_run *run);
bool ck_init_touch(void *ctx, const struct emu_wave_info *info,
                   const struct emu_run *run, uint64_t exec, uint64_t index);
bool ck_init_settle(void *ctx, const struct emu_event *e);
bool ck_init_rest(void *ctx, const struct emu_wave_info *info);
bool ck_init_clip(void *ctx, uint64_t address, uint64_t *base, uint64_t *end);

/* value.c; events have values then. */
void ck_value_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e);

/* sync.c: before the group's state follows the event. */
void ck_sync_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e);
/* Has it nothing to say of the wave's barrier at pc? */
bool ck_sync_fine(const struct ck_wave *w, uint64_t pc, uint64_t exec);

/* hang.c: of a dispatch; must all of the wave's turn be seen? at an event. */
void ck_hang_begin(struct ck *ck);
void ck_hang_end(struct ck *ck);
bool ck_hang_turn(struct ck *ck, struct ck_wave *w);
bool ck_hang_looks(const struct ck *ck, const struct ck_wave *w);
void ck_hang_opens(struct ck *ck, struct ck_group *g); /* a barrier */
void ck_hang_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e);

/* wait.c */
/* halves.c: of r, which inst reads or writes: 1 its lower 16 bits, 2 the upper ones. */
unsigned ck_halves(const struct isa_inst *inst, const struct emu_reg *r, bool read);

/* ... of a vector instruction's operand o, the source of that number. */
unsigned ck_operand_half(const struct isa_inst *inst, const struct isa_opnd *o,
                         unsigned source);

void ck_wait_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e);
/* What it knows of a wave, as bytes that are equal if that is, and back. */
void ck_wait_save(const struct ck_wave *w, struct state_bytes *to);
void ck_wait_load(struct ck_wave *w, const uint8_t *from, size_t n);
void ck_wait_gone(struct ck_wave *w);

/* wait.c, before an instruction runs: with the hazard mode. */
void ck_wait_before(struct ck *ck, const struct emu_event *e);

/* late.c: before and behind an instruction that loads into these registers; NULL: what
 * it loads is there already. When it has arrived: frees it. */
void ck_late_before(struct ck *ck, const struct emu_event *e, const struct emu_reg *to);
struct ck_late *ck_late_take(struct ck *ck, const struct emu_event *e,
                             const struct emu_reg *to, uint64_t lanes, unsigned halves,
                             bool alone);
void ck_late_arrive(const struct emu_wave_info *wave, struct ck_late *late);

/* clauses.c: an s_clause that has begun. */
struct ck_clause {
    uint64_t pc;
    uint8_t type, left, at, span; /* left: instructions, 0: none has begun; span: from
                                     break to break, 0: no breaks */
    uint8_t none[4];
};
void ck_clause_step(struct ck *ck, const struct ck_wave *w, struct ck_clause *c,
                    const struct emu_event *e);
void ck_dual_step(struct ck *ck, const struct ck_wave *w, const struct emu_event *e);

/* hazards.c */
void ck_hazard_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e);
void ck_hazard_gone(struct ck_wave *w);
/* For ck_wait_save and ck_wait_load. False: nothing matters any more. */
bool ck_hazard_save(const struct ck_wave *w, struct state_bytes *to);
void ck_hazard_load(struct ck_wave *w, const uint8_t *from, size_t n);

/* race.c: of the emulator; of a dispatch; of a workgroup; before an instruction runs on
 * these lanes, and afterwards; when a barrier of the workgroup opens; at the end of a
 * dispatch. */
RD_CHECKED rd_status ck_race_create(struct ck_race **out);
void ck_race_destroy(struct ck_race *r);
void ck_race_begin(struct ck *ck);
void ck_race_group(struct ck_race *r, struct ck_group *g);
void ck_race_group_gone(struct ck *ck, struct ck_group *g);
void ck_race_before(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                    uint64_t lanes);
/* race_rows.c: an instruction that native code would do; must it be an event? Else what
 * race makes of it is done. */
bool ck_race_ask(struct ck *ck, struct ck_wave *w, const struct emu_event *e);
/* Where native code of the workgroup writes LDS loads; NULL: nowhere. */
struct emu_log *ck_race_log(struct ck *ck, struct ck_group *g);
/* Before the wave's turn: what ck_race_row is given; NULL: it has nothing to say. */
struct race_line *ck_race_mine(struct ck *ck, struct ck_wave *w);
/* race_forms.c: emu_glance.form. */
uint32_t ck_race_form(void *ctx, const struct emu_row *row);
/* race_row.c: as emu_glance.row: what race makes of a row is done. */
unsigned ck_race_row(struct race_line *l, uint64_t address, struct emu_row *row);
/* row.c: emu_glance.row, of struct ck_line. */
unsigned ck_row(void *mine, uint64_t address, struct emu_row *row);
/* What the instruction orders, if it accesses nothing. */
void ck_race_order(struct ck *ck, struct ck_wave *w, const struct emu_inst *inst);
void ck_race_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e);
void ck_race_barrier(struct ck *ck, struct ck_group *g);
/* What is known of the workgroup's LDS is about to be forgotten: what was put off is
 * told. */
void ck_race_settle(struct ck *ck, struct ck_group *g);
/* Is there nothing to tell of at a barrier? */
bool ck_race_quiet(const struct ck_race *r);
/* check.c: a barrier of the workgroup has opened. */
void ck_opens(struct ck *ck, struct ck_group *g);
void ck_race_end(struct ck *ck);

#endif
