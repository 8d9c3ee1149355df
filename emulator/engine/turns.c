/* turns.c: the waves of a workgroup in turn.
 *
 * A turn ends at the first block after TURN (uop.h), or when the wave stops: the same
 * blocks whoever runs them, the interpreter, native code or an observer. Native code
 * goes on with the next wave by itself where nothing but the order matters
 * (jit/switch.c, which follows what is here), and asks turns_native elsewhere, for
 * waves that somebody watches always (observe/glance.c).
 * SPDX-License-Identifier: MIT
 */
#include <xmmintrin.h>

#include "context.h"
#include "dispatch.h"
#include "native.h"
#include "observe.h"
#include "zeros.h"

/* The block at u: the next one, or NULL if the wave has stopped. */
static const struct uop *block_run(struct wave *w, const struct uop *u)
{
    const struct uop *leader = u;
    unsigned left = u->run;
    w->n_insts += left;
    do {
        u = u->fn(w, u);
    } while (u && --left);
    unsigned undone = u ? 0 : left - 1;
    w->n_insts -= undone;
    if (!w->counts)
        return u;
    if (undone)
        counts_add(w->counts, leader, leader->run - undone, 1);
    else
        counts_block(w->counts, leader);
    return u;
}

/* The table of native code for w as it is; NULL: the interpreter runs it. */
static struct native_table *table_of(struct wave *w)
{
    if (!w->native)
        w->native = native_table(w->emu->native, w);
    return w->native;
}

/* The code for w at u; NULL: there is none. Asked before every block that has none. */
__attribute__((always_inline)) static inline const void *code_at(struct wave *w,
                                                                 const struct uop *u)
{
    struct native_table *t = table_of(w);
    return t ? native_find(t, w, (size_t)(u - t->uops)) : NULL;
}

/* Is native code looked for in the turn of w? */
static bool asks_for_code(struct wave *w)
{
    struct native_table *t = table_of(w);
    return t && native_asked(t);
}

/* ---- whose turn ------------------------------------------------------------------ */

/* Waves are fast here and slow there, so that each may come before each other one
 * somewhere: by who it is and how far, so that runs are alike. */
static int mixed_turn(const struct wave *w)
{
    uint64_t who = w->group->number * 32 + w->info.wave + w->emu->config.seed;
    return mixed_length(w->n_insts + (mix(who) << 32), TURN_SHORTEST, TURN);
}

static void turn_begin(struct wave *w)
{
    w->turn = w->group->mixed ? mixed_turn(w) : TURN;
    if (w->group->mixed && w->group->left < (uint64_t)w->turn)
        w->turn = w->group->left ? (int)w->group->left : 1;
    w->turn_began = w->n_insts;
    w->stop = STOP_NONE;
    w->group->running = w;
    if (w->fresh)
        wave_fill(w);
}

static uint64_t turn_length(const struct wave *w)
{
    return w->n_insts - w->turn_began;
}

struct wave *turn_find(struct workgroup *g)
{
    uint32_t ready = g->live & ~(g->waiting | g->halted);
    uint32_t later = ready & (uint32_t)(UINT64_MAX << g->turn);
    unsigned i = (unsigned)__builtin_ctz(later ? later : ready);
    g->turn = i + 1;
    return g->waves[i];
}

static inline void count_stop(struct workgroup *g, const struct wave *w)
{
    if (w->stop == STOP_BARRIER)
        g->waiting |= wave_bit(w);
    else if (w->stop == STOP_END)
        g->live &= ~wave_bit(w);
    else if (w->stop == STOP_HALT)
        g->halted |= wave_bit(w);
    if (g->waiting == g->live)
        g->waiting = 0;
}

void wave_stopped(struct workgroup *g, struct wave *w)
{
    count_stop(g, w);
}

bool group_stands(const struct workgroup *g)
{
    return g->halted && (g->halted | g->waiting) == g->live;
}

const void *turns_native(struct wave *w)
{
    struct workgroup *g = w->group;
    uint64_t length = turn_length(w);
    if (g->halted || length >= g->left)
        return NULL;
    if (w->observation)
        glance_turn_ends(w);
    g->left -= length;
    count_stop(g, w);
    unsigned mxcsr = w->mxcsr32;
    w = turn_find(g);
    turn_begin(w);
    if (mxcsr != w->mxcsr32)
        _mm_setcsr(w->mxcsr32);
    if (w->observation && !glance_turn_begins(w))
        return NULL;
    return code_at(w, w->next);
}

/* ---- running --------------------------------------------------------------------- */

/* Blocks of g->running from u on by native code where there is some, else by the
 * interpreter, until the turn ends. Afterwards another wave may be running. */
static const struct uop *mixed_run(struct workgroup *g, const struct uop *u)
{
    struct wave *w = g->running;
    do {
        const void *code = code_at(w, u);
        if (code) {
            const struct uop *next = native_enter(w->native, w, code, u);
            bool done = next != u || w->turn <= 0 || g->running != w;
            w = g->running;
            u = next;
            if (done)
                continue; /* else the turn ends inside of the code: block by block */
        }
        w->turn -= u->turn;
        u = block_run(w, u);
    } while (u && w->turn > 0);
    return u;
}

/* One instruction, and the trap behind it. */
static const struct uop *single_step(struct wave *w)
{
    const struct uop *u = w->next->fn(w, w->next);
    w->n_insts++;
    if (!u && w->stop == STOP_YIELD)
        u = w->next;
    return u && wave_has_handler(w) ? trap_enter(w, u, program_pc(w->program, u), 0)
                                    : u;
}

/* Run one wave until it stops or its turn is over, and those to which native code gives
 * the next turns. *mxcsr is the host's float mode: setting it costs as much as some
 * instructions. */
static void wave_run(struct wave *w, bool native, unsigned *mxcsr)
{
    struct workgroup *g = w->group;
    if (w->observation) {
        observe_run(w);
        return;
    }
    const struct uop *u = w->next;
    if (*mxcsr != w->mxcsr32)
        _mm_setcsr(w->mxcsr32);
    if (w->mode_bits & MODE_DEBUG_EN && wave_has_handler(w))
        u = single_step(w);
    else if (native && asks_for_code(w))
        u = mixed_run(g, u);
    else
        do {
            w->turn -= u->turn;
            u = block_run(w, u);
        } while (u && w->turn > 0);
    *mxcsr = g->running->mxcsr32;
    if (u)
        g->running->next = u;
}

void group_write_zeros(struct workgroup *g)
{
    for (unsigned i = 0; i < g->n_waves; i++) {
        if (g->waves[i]->zeros)
            zeros_flush(g->waves[i]->zeros);
        g->waves[i]->zeros = NULL;
    }
}

/* Is there no turn to be had? */
static bool all_done(struct workgroup *g, enum group_state *state)
{
    bool stands = g->live && group_stands(g);
    const struct emu_context *c = g->queue->context;
    *state = !g->live ? GROUP_DONE : c && c->stays ? GROUP_STANDS : GROUP_FAULT;
    if (stands && *state == GROUP_FAULT)
        trap_report_halt(g);
    return stands || !g->live;
}

static enum group_state turns(struct resident *r, uint64_t budget, unsigned *mxcsr)
{
    struct workgroup *g = &r->group;
    const struct wave *first = g->waves[0];
    bool native = !first->zeros && first->emu->native;
    enum group_state state;
    if (g->queue->context && (g->fault.kind != EMU_FAULT_NONE || all_done(g, &state)))
        return g->fault.kind != EMU_FAULT_NONE ? GROUP_FAULT : state;
    for (g->left = budget; g->left;) {
        turn_begin(turn_find(g));
        wave_run(g->running, native, mxcsr);
        struct wave *w = g->running;
        uint64_t length = turn_length(w);
        if (w->stop == STOP_GWS)
            length += budget / 64; /* other workgroups must run first */
        g->left -= length < g->left ? length : g->left;
        if (w->stop == STOP_FAULT) {
            group_write_zeros(g); /* trap handlers may do anything */
            const struct uop *handler = trap_fault(w);
            if (!handler)
                return GROUP_FAULT;
            w->next = handler;
            continue;
        }
        wave_stopped(g, w);
        if (all_done(g, &state))
            return state;
    }
    return GROUP_RUNNING;
}

enum group_state group_run(struct resident *r, uint64_t budget)
{
    unsigned host = _mm_getcsr(), mxcsr = host;
    enum group_state state = turns(r, budget, &mxcsr);
    r->waves[0].emu->level->leave();
    _mm_setcsr(host);
    return state;
}
