/* several.h: launches that share the chip. SPDX-License-Identifier: MIT
 */
#ifndef TM_SEVERAL_H
#define TM_SEVERAL_H

#include "engine.h"

enum tm_stage {
    TM_TO_COME,
    TM_PLACING, /* its workgroups begin */
    TM_PLACED,  /* all have begun */
    TM_ENDED,
};

/* One of them. What of the engine is a launch's own has its values while it is the one
 * at hand: stepper, launch, need, end_group; of the chip lanes, the mode, early, arrays
 * and warm of the code; of memory what is about its arguments. */
struct tm_one {
    struct tm_launch is;
    uint64_t turn; /* in the order in which they came */
    struct emu_stepper *stepper;
    struct emu_launch launch;
    struct tm_need need;
    unsigned lanes, early, arrays;
    bool wgp_mode, warm_code;
    uint64_t kernarg_page;
    int64_t kernarg_done;
    bool warm_kernarg; /* launches have begun before it */
    enum tm_stage stage;
    /* On a shader engine: its next workgroup, where it looks for room first, once it
     * has begun there. */
    struct tm_cursor {
        uint64_t next_number;
        unsigned next_cu;
        bool goes;
    } cursor[TM_MAX_SES];
    uint64_t started, live, held;      /* workgroups; held: whose places are not free */
    int64_t begun, placed, first, end; /* first: start of a wave; -1: none yet */
    /* Of an open run (join.c): how it ends, and when and where its first fault was. */
    rd_status status;
    int64_t fault_at;
    uint64_t fault_key;
    bool stands; /* it has been told to */
    bool buried; /* its waves are told to end */
    bool told;   /* who has called for the run knows that it has ended */
};

struct tm_several {
    unsigned n, at, to_come;   /* at: the one at hand; to_come: so many */
    unsigned last;             /* that was at hand before the end */
    unsigned turn[TM_MAX_SES]; /* which one a shader engine asks first */
    int64_t looks;   /* when it is next looked which may begin, or INT64_MAX */
    uint64_t turns;  /* launches that have come */
    uint64_t behind; /* their workgroups */
    bool resumed;    /* some that stood still may go on */
    bool dying;      /* there are some whose waves are to end where they are */
    struct tm_one *one;
    unsigned cap;
    struct emu_stepper **done; /* of launches whose places others have taken */
    unsigned n_done, cap_done;
};

/* Prepare them; the first is at hand then. Returns as emu_stepper_create, and
 * RD_E_UNSUPPORTED. */
RD_CHECKED rd_status tm_several_create(struct tm_engine *t, struct emu *emu,
                                       const struct tm_launch *launches, unsigned n,
                                       struct emu_fault *fault);
void tm_several_destroy(struct tm_engine *t, struct emu_stats *stats);

/* An open run that one launch has had to itself goes on as that of several; one more,
 * which is not prepared (tm_several_add). Returns RD_E_NOMEM. */
RD_CHECKED rd_status tm_several_share(struct tm_engine *t, unsigned *number);
/* Prepare it, in its place: it begins when it may. Returns as emu_stepper_create, and
 * RD_E_NO_ROOM. */
RD_CHECKED rd_status tm_several_add(struct tm_engine *t, struct emu *emu,
                                    const struct tm_launch *launch, unsigned number,
                                    struct emu_fault *fault);

/* Once the machine is there: which workgroups go where; the first launches begin.
 * Returns RD_E_NO_ROOM for a workgroup that no CU has room for. */
RD_CHECKED rd_status tm_several_begin(struct tm_engine *t);

/* That one is at hand from here on. */
void tm_several_turn_to(struct tm_engine *t, unsigned number);
static inline void tm_at_hand(struct tm_engine *t, unsigned number)
{
    if (t->several && t->several->at != number)
        tm_several_turn_to(t, number);
}

/* When that is to be looked: the end of a window, before anything else happens then. */
static inline int64_t tm_several_looks(const struct tm_engine *t)
{
    return t->several ? t->several->looks : INT64_MAX;
}
/* In a run that has one queue, so that this comes to that time. */
RD_CHECKED rd_status tm_several_push(struct tm_engine *t);
/* Whoever may begin now does. */
RD_CHECKED rd_status tm_several_look(struct tm_engine *t);
/* A workgroup of the one at hand has started, ended. */
RD_CHECKED rd_status tm_several_started(struct tm_engine *t);
RD_CHECKED rd_status tm_several_ended(struct tm_engine *t);
/* All that have begun have ended, and no more are to begin. */
RD_CHECKED rd_status tm_several_over(struct tm_engine *t, struct tm_one *o);
/* Has a shader engine workgroups to start? */
bool tm_several_is_left(const struct tm_engine *t, unsigned se);
/* The next launch in turn that has; from: so many after the one whose turn it is.
 * False: none. */
bool tm_several_next(const struct tm_engine *t, unsigned se, unsigned *from,
                     unsigned *number);

/* ---- join.c: launches that come while a run goes on, and end by themselves ---- */

/* The wave has faulted. In an open run of several its launch ends, and RD_OK: the
 * others go on; else RD_E_FAULT. */
RD_CHECKED rd_status tm_join_failed(struct tm_engine *t, struct tm_wave *w);
/* Waves of launches that have failed, or have been cancelled, end where they are. In a
 * run that has one queue. */
RD_CHECKED rd_status tm_join_bury(struct tm_engine *t);
/* Tell that it has ended, if that is to be told. Others may come by that. */
void tm_join_tell(struct tm_engine *t, struct tm_one *o);
/* The run is over, and said that: tell of those of several that have not ended. */
void tm_join_finish(struct tm_engine *t, rd_status st);

#endif
