/* jump.c: control goes to an address: in the wave's program, or in another one.
 *
 * A dispatch starts in one program (program.c: an executable region as one kind of wave
 * sees it). Calls through pointers may lead into other regions, and the trap handler is
 * always another program, because its registers mean something else there. Programs
 * that a dispatch has met are kept until it ends. Must not know instructions.
 *
 * Invariant: wave.program is the program of the micro-op that runs next.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "dispatch.h"

static bool holds(const struct program *p, uint64_t pc, bool privileged)
{
    return p->privileged == privileged && pc >= p->base && pc - p->base < p->bytes;
}

/* Another program of the dispatch; NULL if there is none at pc. */
static struct program *find(struct dispatch *dp, uint64_t pc, bool privileged)
{
    struct program *p = NULL;
    pthread_mutex_lock(&dp->lock);
    if (holds(dp->program, pc, privileged))
        p = dp->program;
    for (struct program_ref *r = dp->others; r && !p; r = r->next)
        if (holds(r->program, pc, privileged))
            p = r->program;
    struct program_ref *ref = p ? NULL : malloc(sizeof *ref);
    if (ref) {
        struct program_kind kind = {dp->d->wave64, privileged,
                                    dp->program->exceptions && !privileged};
        if (program_get(dp->emu, pc, kind, &ref->program) == RD_OK) {
            ref->next = dp->others;
            dp->others = ref;
            p = ref->program;
        } else {
            free(ref);
        }
    }
    pthread_mutex_unlock(&dp->lock);
    return p;
}

const struct uop *wave_goto(struct wave *w, uint64_t pc)
{
    bool privileged = wave_privileged(w);
    pc &= ~UINT64_C(3);
    struct program *p = w->program;
    if (!holds(p, pc, privileged))
        p = find(w->group->dispatch, pc, privileged);
    const struct uop *u = p ? program_at(w->emu, p, pc) : NULL;
    if (u && p != w->program) {
        w->program = p;
        w->base[SRC_CONST] = p->const_rows;
    }
    return u;
}

void dispatch_forget_programs(struct dispatch *dp)
{
    while (dp->others) {
        struct program_ref *r = dp->others;
        dp->others = r->next;
        program_put(dp->emu, r->program);
        free(r);
    }
}
