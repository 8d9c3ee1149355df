/* jump.c: control goes to an address: in the wave's program, or in another one.
 *
 * Must not know instructions. Invariant: wave.program is the program of the micro-op
 * that runs next.
 *
 * SPDX-License-Identifier: MIT
 */
#include "control.h"

const struct uop *wave_goto(struct wave *w, uint64_t pc)
{
    bool privileged = wave_privileged(w);
    pc = (uint64_t)((int64_t)(pc << 16) >> 16) & ~UINT64_C(3); /* 48 bits, signed */
    struct program *p = w->program;
    if (!program_holds(p, pc, privileged))
        p = program_set_find(w->group->programs, pc, privileged);
    const struct uop *u = p ? program_at(p, pc) : NULL;
    if (u && p != w->program) {
        w->program = p;
        w->native = NULL;
        w->base[SRC_CONST] = p->const_rows;
    }
    return u;
}
