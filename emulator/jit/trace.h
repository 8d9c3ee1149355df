/* trace.h: what is compiled together: blocks along the way that control takes.
 *
 * A trace begins at its head and goes on through conditional branches, as if they were
 * not taken, and through unconditional ones. It ends where control may go anywhere,
 * where code of its own begins, or at a branch back to the head, which closes a loop.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TRACE_H
#define RD_TRACE_H

#include "program.h"

#define TRACE_MAX   512u /* instructions */
#define TRACE_PATHS 32u  /* blocks */

enum step_kind {
    TRACE_INST,   /* goes on behind it */
    TRACE_BRANCH, /* taken: leaves to target, or to the head */
    TRACE_JUMP,   /* is followed: nothing to do */
    TRACE_LOOP,   /* jumps to the head: the last */
    TRACE_LAST,   /* its handler says where to go */
};

struct trace_step {
    const struct uop *u;
    const struct uop *target; /* TRACE_BRANCH */
    uint8_t kind;
    bool leader; /* a block begins here */
};

struct trace {
    const struct uop *head;
    const struct uop
        *next;  /* where control goes behind the last step; NULL: see kind */
    bool loops; /* some branch goes back to the head */
    unsigned n_blocks, n;
    struct trace_step step[TRACE_MAX]; /* last: most traces touch a few of them */
};

/* Does code for the block at u exist already? */
typedef bool trace_known_fn(const void *ctx, const struct uop *u);

/* So many instructions from head on, in one block: not its last one. */
void trace_piece(struct trace *t, const struct uop *head, unsigned n);

/* The trace from head, of so many blocks at most. */
void trace_find(struct trace *t, const struct uop *head, unsigned most,
                trace_known_fn *known, const void *ctx);

#endif
