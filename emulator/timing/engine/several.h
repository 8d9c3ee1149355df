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
 * at hand: stepper, launch, need, end_group; of the chip lanes, early and arrays of the
 * code; of memory what is about its arguments. */
struct tm_one {
    struct tm_launch is;
    struct emu_stepper *stepper;
    struct emu_launch launch;
    struct tm_need need;
    unsigned lanes, early, arrays;
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
    uint64_t started, live;            /* workgroups */
    int64_t begun, placed, first, end; /* first: start of a wave; -1: none yet */
};

struct tm_several {
    unsigned n, at, to_come;   /* at: the one at hand; to_come: so many */
    unsigned last;             /* that was at hand before the end */
    unsigned turn[TM_MAX_SES]; /* which one a shader engine asks first */
    int64_t looks; /* when it is next looked which may begin, or INT64_MAX */
    struct tm_one one[];
};

/* Prepare them; the first is at hand then. Returns as emu_stepper_create, and
 * RD_E_UNSUPPORTED. */
RD_CHECKED rd_status tm_several_create(struct tm_engine *t, struct emu *emu,
                                       const struct tm_launch *launches, unsigned n,
                                       struct emu_fault *fault);
void tm_several_destroy(struct tm_engine *t, struct emu_stats *stats);

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
/* Has a shader engine workgroups to start? */
bool tm_several_is_left(const struct tm_engine *t, unsigned se);
/* The next launch in turn that has; from: so many after the one whose turn it is.
 * False: none. */
bool tm_several_next(const struct tm_engine *t, unsigned se, unsigned *from,
                     unsigned *number);

#endif
