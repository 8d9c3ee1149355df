/* race.h: what the files of the race checker share. SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_RACE_H
#define RD_CHECK_RACE_H

#include "internal.h"
#include "order.h"

#define SUSPENDED 32u
#define PENDING   32u /* conflicts of one instruction that are looked at */

/* A conflict that waits for the instruction to be done, so that values can be
 * compared. */
struct pending {
    struct site other;
    uint64_t address, lanes;
    uint16_t bytes;
    uint8_t space, lane;
    bool write, atomic, other_writes, known, is_volatile;
    uint8_t before[64];
};

/* A plain read beside an atomic. Compilers begin loops of compare-and-swap with one: it
 * is told of only if its wave has not compared at the address until it passes a barrier
 * or ends. */
struct suspended {
    uint32_t reader; /* number of its wave; 0: free */
    uint64_t address;
    struct ck_finding finding;
};

/* When something was last released at an address. */
struct release {
    uint64_t key;    /* 0: free */
    uint32_t stamp;  /* LDS: of memory, what who released was behind of */
    uint32_t node;   /* what that is (order.h) */
    uint64_t owner;  /* the wave that has done atomics there last; see owner_of */
    uint32_t *clock; /* LDS: by wave of the workgroup, what is released; or NULL */
};

/* A dispatch that has ended. */
struct past {
    uint32_t first, last; /* numbers of its waves */
    uint32_t groups[3], waves_per_group, lanes;
    bool copy; /* none, but somebody else's copy */
    uint64_t code_base, image;
    char kernel[256];
};

#define LOG_BYTES (96u << 10)

/* LDS loads of a workgroup since its last barrier. */
struct race_log {
    struct race_log *next;
    char entry[LOG_BYTES];
};

#define RACE_LINES 8u
#define RACE_FORMS 4096u /* a power of two */

/* How the lanes of a row lie. */
struct race_form {
    int32_t offset[32]; /* behind the first one */
    uint8_t bytes;
    bool write, lds, scalar;
    bool reads; /* shadow_reads.c can have them */
    uint16_t number, span;
    int32_t low;           /* of the lowest lane, behind the first one */
    uint8_t n_lines, form; /* whole lines, if the first lane begins one; 0: none */
    bool in_order;         /* they lie behind one another */
    bool pair;             /* two, each with sixteen lanes in order */
    bool strip;            /* ... of memory: they may be a strip (shadow.h) */
    struct {
        int32_t at; /* behind the first lane */
        uint8_t lane;
    } line[RACE_LINES];
};

/* The wave that runs, for race_row.c. */
struct race_line {
    struct ck_race *race;
    struct ck_wave *w;
    struct ck_group *group;
    uint64_t code_base;
    uint64_t turn;         /* from 1: as long as it stays, what orders the wave does */
    uint32_t wave;         /* its number */
    uint32_t first, waves; /* those of its workgroup */
};

/* What a wave did in a lock (race_locks.c). */
#define RACE_SECTIONS 256u /* a power of two */
struct race_section {
    uint64_t lock; /* 0: none */
    uint32_t wave, was;
    uint32_t taken, given; /* releases before; given 0: not yet */
};

/* Places in code that race_polls was asked of. */
#define RACE_POLLS 1024u /* a power of two */
#define RACE_FLAGS 256u
struct polls {
    uint64_t pc; /* 0: none */
    bool polls;
    bool looked;   /* race_polls.c: is polls set? */
    uint8_t bytes; /* likewise */
};

struct ck_race {
    struct race_line line;
    uint64_t turns;         /* so far */
    struct race_form *form; /* from 1; RACE_FORMS of them, or NULL */
    uint16_t *form_name;    /* their numbers, open addressing */
    uint32_t n_forms;
    bool native;         /* there may be such code; else lanes are judged one by one */
    uint32_t forms_made; /* anew: emu_row.form is of this time, above the number */
    /* Waves of dispatches that are kept have numbers up to others, those of the one
     * that runs up to last. */
    uint32_t others, last;
    uint64_t apart; /* of past: what the one that runs is beside of */
    struct past past[CK_PAST];
    struct shadow *global;
    struct shadow *spare;    /* of workgroups that have gone */
    struct race_log *logs;   /* likewise */
    struct release *release; /* open addressing */
    struct race_gone *gone;  /* race_handed.c; NULL: none that went knew anything */
    size_t n_releases, room;
    uint32_t stamp; /* releases so far */
    bool acquired;  /* somebody has acquired one */
    bool gone_lost; /* there was no memory for gone */
    struct order order;
    struct pending pending[PENDING];
    unsigned n_pending;
    struct suspended suspended[SUSPENDED];
    unsigned n_suspended;
    struct race_doubt *doubts;                         /* race_doubts.c */
    struct polls polls[RACE_POLLS], flags[RACE_FLAGS]; /* flags: race_flags.c */
    struct polls joined[RACE_POLLS];                   /* race_is_for_all */
    struct polls waits[RACE_POLLS];                    /* race_loads_wait */
    struct race_section section[RACE_SECTIONS]; /* by wave and lock; the last ones */
    bool sections;                              /* there may be some */
    bool loads_known;                           /* of the dispatch: is has_loads set? */
    bool has_loads, has_flat; /* its code has atomic loads, or (that known) by FLAT */
    unsigned n_doubts_lds;    /* of the doubts: those about LDS */
    bool judged;              /* the running instruction has been looked at */
    /* The last instruction that native code was let do, before which that wave's order
     * was this; it may become an event all the same. */
    struct {
        const struct ck_wave *wave;
        uint64_t index;
        uint32_t stamp, clock;
        bool stores_out;
        uint64_t out_at;
        struct ck_done done;
    } asked;
};

/* ---- race.c */

/* What orders the running wave may not be as it was. */
static inline void race_anew(struct ck_race *r)
{
    r->line.turn = ++r->turns;
}

/* A lane has acquired, by LDS, what its wave did up to the clock. */
static inline void race_lane_knows(struct ck_order *o, unsigned lane, uint32_t clock)
{
    o->own[lane] = o->own[lane] < clock ? clock : o->own[lane];
}

/* A load by the caches, of one place or of several. */
static inline void race_loads(struct ck_order *o, bool several)
{
    o->loads = several || o->loads ? 2 : 1;
}

/* Number of the wave in its dispatch and those that are kept, from 1. Dispatches begin
 * with whole workgroups. */
static inline uint32_t race_wave(const struct ck *ck, const struct ck_wave *w)
{
    return ck->race->others +
           (uint32_t)(w->info->group * ck->launch.waves_per_group + w->info->wave) + 1;
}
/* Is the site behind of what me does now? */
bool race_ordered(const struct ck *ck, const struct ck_wave *w, const struct site *me,
                  const struct site *s);
/* Has anybody released at the address? */
bool race_released(const struct ck *ck, const struct ck_wave *w, unsigned space,
                   uint64_t address);
/* The last number of such a site of the wave. */
uint32_t *race_last(struct ck_wave *w, unsigned space, uint32_t pc);

/* The lanes of an access, one by one. */
void race_judge(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                const struct emu_access *a, uint64_t lanes);

/* ---- beside.c */

/* The dispatch that begins takes its numbers, and its place among those that may be
 * kept. */
void race_begin_waves(struct ck *ck);
/* The dispatch of a site of another one, if the one that runs is beside of it; or NULL.
 */
const struct past *race_past(const struct ck_race *r, const struct site *s);

/* ---- race_order.c */

/* The wave releases at a place in memory: all that it has waited for. */
void race_release_memory(struct ck_race *r, struct ck_order *o, struct release *at,
                         const struct site *me);
/* It has released at that time what it knows now. */
static inline void race_done(struct ck_order *o, uint32_t stamp, uint32_t barriers)
{
    o->done = (struct ck_done){.stamp = stamp,
                               .barriers = barriers,
                               .b = o->knows_near,
                               .met = o->met,
                               .narrow = o->narrow};
}
/* Has the wave acquired something since it has dropped gl0, or gl1? What it acquires
 * may be older than what it had. */
bool race_holds_old(const struct ck_order *o, bool gl1);

/* ---- race_handed.c: stores to memory that others load past the caches */

void race_handed_begin(struct ck_race *r);
void race_handed_free(struct ck_race *r);
/* The workgroup goes. */
void race_handed_gone(const struct ck *ck, const struct ck_group *g);
/* The release that the store s is for the wave (a number of order.h), and when it came;
 * of what its wave knows now, or knew when it went. */
uint32_t race_handed(const struct ck *ck, const struct ck_wave *w, const struct site *s,
                     uint32_t *stamp);
/* Does a store of memory come behind all that its wave has stored? Those to one address
 * stay in order (manual 5.6), so one of them need not be waited for. */
bool race_stores_first(struct ck *ck, const struct ck_wave *w,
                       const struct emu_event *e, const struct emu_access *a);
/* It is under way from now on. */
static inline void race_is_out(struct ck_order *o, const struct emu_access *a)
{
    bool one = a->lanes && !(a->lanes & (a->lanes - 1));
    uint64_t at = one ? a->address[__builtin_ctzll(a->lanes)] : 0;
    o->out_at = !o->stores_out || o->out_at == at ? at : 0;
    o->stores_out = true;
}
/* SITE_RELEASES or SITE_AGAIN, and SITE_NARROW, of a store by the wave; or 0. */
uint16_t race_store_flags(const struct ck_wave *w, bool first);
/* It has stored with SITE_RELEASES. */
void race_stored(struct ck_race *r, struct ck_wave *w);

/* What a store is that follows one which is under way; behind a barrier it is not. */
static inline uint16_t race_again(const struct ck_order *o, uint64_t barriers)
{
    if (!o->done.stamp || o->done.barriers != (uint32_t)barriers)
        return 0;
    return SITE_AGAIN | (o->done.narrow ? SITE_NARROW : 0u);
}

/* The stamp of a site with these flags: one that stores first has its own, so that who
 * stores again has a later one, and hands on nothing of both. */
static inline uint32_t race_store_stamp(const struct ck_race *r,
                                        const struct ck_order *o, uint16_t flags)
{
    return flags & SITE_AGAIN      ? o->done.stamp + 1
           : flags & SITE_RELEASES ? r->stamp + 1
                                   : r->stamp;
}

/* ---- race_rows.c */

/* Before something is looked up in the workgroup's LDS: its log goes there. */
void race_catch_up(struct ck *ck, struct ck_group *g);
/* ... and something is written there now. */
void race_lds_written(struct ck_group *g);
/* A barrier has opened, or the workgroup has gone: what the log has is of no use. */
void race_log_forget(struct ck_group *g);

/* ---- race_forms.c */

void race_forms_free(struct ck_race *r);
/* Nobody has read anything: forms may begin anew. */
void race_forms_begin(struct ck_race *r);
/* As ck_race_row, of an instruction whose lanes may lie like those of a row. */
bool race_row_ask(struct ck *ck, struct ck_wave *w, const struct emu_event *e);

/* ---- race_polls.c */

/* Does the load, past the caches, lie in a short loop that goes by what it brings? */
bool race_polls(struct ck *ck, const struct site *s);
/* Does the load move more bytes than the store? Then it may see a half of what is
 * there, though both are atomic. */
bool race_tears(struct ck *ck, const struct site *load, const struct site *store);
/* Do two stores move as many bytes, as far as is known? */
bool race_as_wide(struct ck *ck, const struct site *a, const struct site *b);

/* Has the wave waited for its loads of memory where it stores at pc? By the code, as it
 * lies. */
bool race_loads_wait(struct ck *ck, uint64_t pc);

/* Is the atomic, of one lane, one of all lanes of its wave, as compilers join them: is
 * what it returns read by v_readfirstlane a little behind? */
bool race_is_for_all(struct ck *ck, const struct emu_event *e,
                     const struct emu_access *a);

/* ---- race_decides.c */

/* Does what the load at pc brings decide where the loop goes, whose code is from head
 * to end? If it lies outside, what any load in there brings that passes the caches. */
bool race_decides(const struct ck *ck, uint64_t pc, uint64_t head, uint64_t end);

/* ---- race_flags.c */

/* Is the site one of a flag in LDS that is polled? */
bool race_is_flag(struct ck *ck, const struct site *s);
/* Does it load a flag in LDS? */
bool race_loads_flag(struct ck *ck, const struct emu_event *e,
                     const struct emu_access *a);
/* ... that somebody has released, by atomics? */
bool race_flag_acquires(struct ck *ck, const struct ck_wave *w,
                        const struct emu_event *e);
/* Does who has stored a flag hand over what it did before? */
bool race_flag_released(const struct ck *ck, const struct site *s);
/* The lane me of the wave has loaded from LDS what was stored at s. If one is volatile,
 * it is behind of that once the wave drops gl0. */
void race_take_flag(struct ck *ck, struct ck_wave *w, const struct site *me,
                    const struct site *s);
void race_flag_fenced(struct ck_wave *w);
/* The wave has stored: if it may have been a flag, what it does later is apart. */
void race_stores_flag(struct ck_wave *w, const struct emu_access *a);

/* ---- race_values.c: before the instruction is done */

/* The first VGPR of an operand with data, by the name that DS has for its field; false:
 * none is known. */
bool race_operand(const struct emu_event *e, unsigned field, unsigned *vgpr);
/* Do two lanes of one store write the same? */
bool race_same_data(const struct emu_event *e, const struct emu_access *a, unsigned l,
                    unsigned other);
/* The lanes whose comparison fails, or which exchange a dword for what is there: they
 * leave it as it is, as who tries a lock in vain. Lanes take their turns in order. */
uint64_t race_keeping(const struct emu_event *e, const struct emu_access *a,
                      uint64_t lanes);

/* ---- race_locks.c */

void race_locks_begin(struct ck_race *r);
/* A lane is about to try an exchange; what it knew before it tried it first counts. */
void race_tries(struct ck_wave *w, const struct emu_event *e,
                const struct emu_access *a, unsigned lane);
/* ... takes a lock by it, if it is one. */
void race_takes(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                const struct emu_access *a, unsigned lane);
/* Does it give back the one that its wave holds? Before it releases. */
bool race_gives_back(struct ck *ck, struct ck_wave *w, const struct emu_event *e,
                     const struct emu_access *a, unsigned lane);
/* Of a site in memory that is no atomic. first: of a store, race_stores_first. */
uint16_t race_plain_flags(const struct ck_wave *w, bool write, bool first);
/* Is it behind of s only because s was in the same lock first, which dropped no caches
 * for it? */
bool race_unfenced(struct ck *ck, const struct ck_wave *w, const struct site *me,
                   const struct site *s);

/* ---- race_doubts.c */

/* Do both stores of the conflict, me's and another one's, look as if they may be
 * atomic? Then it is told of when the dispatch ends, f copied, or never; in LDS, of
 * the workgroup g, by ck_race_settle. */
bool race_doubt(struct ck *ck, struct ck_group *g, const struct pending *p,
                const struct site *me, const struct ck_finding *f);
/* The dispatch ends: what is no race is forgotten, the rest told. */
void race_doubts_end(struct ck *ck);
void race_doubts_free(struct ck_race *r);

/* ---- race_tell.c: what is told of conflicts */

/* A copy reads or writes at an address, beside what a kernel did there. */
void race_tell_copy(struct ck *ck, const struct past *past, const struct site *site,
                    bool site_writes, uint64_t address, bool write);

/* Once the instruction is done. */
void race_tell(struct ck *ck, const struct ck_wave *w, const struct emu_event *e);
/* The wave compares and swaps: its reads there began the loop. */
void race_forgive(struct ck_race *r, uint32_t reader, const struct emu_access *a);
/* The wave passes a barrier or ends; 0: all do. */
void race_tell_suspended(struct ck *ck, uint32_t reader);

#endif
