/* trace.c: which blocks a trace has. Knows micro-ops and the fact sheet, no machine
 * code. SPDX-License-Identifier: MIT
 */
#include "trace.h"

#include "facts.h"

static const struct uop *branch_target(const struct uop *u)
{
    return uop_next(u) + (int16_t)u->imm;
}

static bool is_branch(unsigned op)
{
    switch (op) {
    case ISA_S_CBRANCH_SCC0:
    case ISA_S_CBRANCH_SCC1:
    case ISA_S_CBRANCH_VCCZ:
    case ISA_S_CBRANCH_VCCNZ:
    case ISA_S_CBRANCH_EXECZ:
    case ISA_S_CBRANCH_EXECNZ:
        return true;
    default:
        return false;
    }
}

static bool in_trace(const struct trace *t, const struct uop *u)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->step[i].u == u)
            return true;
    return false;
}

/* The instructions of the block at u; false if they are too many. */
static bool add_block(struct trace *t, const struct uop *u, unsigned most)
{
    unsigned n = u->run;
    if (t->n + n > TRACE_MAX || t->n_blocks == most)
        return false;
    for (unsigned i = 0; i < n; i++, u = uop_next(u))
        t->step[t->n++] =
            (struct trace_step){.u = u, .kind = TRACE_INST, .leader = i == 0};
    t->n_blocks++;
    return true;
}

/* Decide what the last instruction of a block is; returns where the trace goes on, or
 * NULL. */
static const struct uop *close_block(struct trace *t)
{
    struct trace_step *last = &t->step[t->n - 1];
    const struct uop *u = last->u;
    bool beyond = u->flags & UF_MAY_FAULT; /* of a branch: out of the program */
    if (!(u->flags & UF_ENDS))
        return uop_next(u);
    if (beyond) {
        last->kind = TRACE_LAST;
        return NULL;
    }
    if (is_branch(u->isa_op)) {
        last->kind = TRACE_BRANCH;
        last->target = branch_target(u);
        t->loops |= last->target == t->head;
        return uop_next(u);
    }
    if (u->isa_op == ISA_S_BRANCH) {
        const struct uop *to = branch_target(u);
        bool loop = to == t->head;
        last->kind = loop ? TRACE_LOOP : TRACE_JUMP;
        t->loops |= loop;
        return loop ? NULL : to;
    }
    last->kind = TRACE_LAST;
    return NULL;
}

void trace_piece(struct trace *t, const struct uop *head, unsigned n)
{
    const struct uop *u = head;
    t->head = head;
    t->next = NULL;
    t->n_blocks = 1;
    t->loops = false;
    for (t->n = 0; t->n < n; u = uop_next(u))
        t->step[t->n++] = (struct trace_step){.u = u, .kind = TRACE_INST};
}

void trace_find(struct trace *t, const struct uop *head, unsigned most,
                trace_known_fn *known, const void *ctx)
{
    const struct uop *u = head;
    t->head = head;
    t->n = t->n_blocks = 0;
    t->loops = false;
    while (u) {
        bool stop = u != head && (known(ctx, u) || in_trace(t, u));
        stop |= !u->fn || !u->run || u->flags & UF_ALONE;
        if (stop || !add_block(t, u, most))
            break;
        u = close_block(t);
    }
    t->next = u;
}
