/* native.h: native code of an emulator: who has some, who gets some, who runs it.
 *
 * Each program has a table per MODE that matters to recipes: two entries a slot, for
 * waves with all lanes and for others. Blocks that the interpreter has run often are
 * compiled; code is shared by all threads and dispatches. Programs with float
 * exceptions stay with the interpreter.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_NATIVE_H
#define RD_NATIVE_H

#include <stdio.h>

#include "emu.h"
#include "wave.h"

struct native;
struct watch;

/* Runs of a block after which it is compiled: what interpreting it has cost by then is
 * twenty times what compiling costs, so that no kernel is slower by more than a
 * twentieth for it. */
#define NATIVE_HOT 1024u

/* Instructions that blocks which are hot have to have run before the first code of an
 * emulator is made: what has to be there for it (memory, stubs, pages) costs some 100
 * us, and interpreting has taken twenty times that by then. */
#define NATIVE_FIRST 160000u

/* What part of hot a block has to be for a trace to go on through it: what is behind
 * loops, or seldom done, would cost time to compile and have none to pay it back. */
#define NATIVE_WARM 4u

#define NATIVE_IEEE   1u
#define NATIVE_DENORM 2u /* f32 denormals are kept as inputs */
#define NATIVE_HALF   4u /* to nearest, f16 denormals kept, no FP16_OVFL */

/* Before a program has code, visits are counted in one of so many turns, as that many:
 * to count costs as much as an instruction. */
#define NATIVE_SAMPLED 8u

/* Events take longer than handlers: watched blocks are compiled earlier. */
#define NATIVE_WATCHED_HOT 24u

/* The same of a piece, and of an emulator's first one: around what a stepper executes
 * at once, its caller's work takes several times as long as interpreting it. */
#define NATIVE_PIECE_HOT   128u
#define NATIVE_PIECE_FIRST 16000u

/* Least instructions of a piece that has code: to go there and back costs as much. */
#define NATIVE_PIECE_LEAST 2u

/* So many instructions from a slot on that a stepper executes at once: its place in the
 * table's .pieces, for as long as there is code. */
struct native_piece {
    _Atomic uint64_t key; /* native_piece_key; 0: free */
    _Atomic(const void *) code;
    _Atomic uint32_t heat;
};

/* Waves that need code of their own, together: somebody watches them (watch.h); their
 * instructions are counted. */
enum native_kind { NATIVE_WATCHED = 1, NATIVE_COUNTED = 2, NATIVE_KINDS = 4 };

/* The code of one program in one MODE. entry[-1] and on are compile.h's TABLE_*. */
struct native_table {
    struct native *native;
    struct program *program;
    const struct uop *uops; /* the program's */
    unsigned mode;
    unsigned hot;            /* visits after which a block is compiled */
    _Atomic unsigned weight; /* what a visit counts: more than 1 in turns sampled */
    _Atomic uint32_t phase;  /* of the turns, of which some are */
    unsigned kind;           /* NATIVE_* */
    struct native_table *beside[NATIVE_KINDS]; /* of kind 0: the others, but itself */
    struct native_table *next;                 /* of all tables */
    _Atomic(const void *) *entry;              /* [2 * slot + lanes off] */
    _Atomic uint16_t *heat;                    /* as entry */
    void *memory;
    size_t memory_bytes, entry_bytes;
    _Atomic(struct native_piece *) pieces; /* NULL: none yet */
    size_t n_pieces;                       /* places: a power of two */
    bool has_entries; /* they are there once a block is hot: most programs have none */
};

/* The turn of w, which has stopped at a barrier or used it up, is over (w->next, stop
 * and turn are up to date): the code of the wave whose turn has begun, which
 * w->group->running is now. NULL: the engine goes on with that one; if it is w still,
 * what its stop means has not been done yet. */
typedef const void *native_turn_fn(struct wave *w);

/* Do without what only some hosts with AVX-512 have (for tests; before emulators are
 * made). */
extern bool native_plain;

/* NULL: the host's level has no native code, or out of memory. Costs nothing until
 * something is hot. */
struct native *native_create(struct emu *emu, native_turn_fn *turn);
void native_destroy(struct native *n);

/* Does the host let code be made? Makes the first of it. n may be NULL: no. */
bool native_ready(struct native *n);

/* The table for w as it is, or NULL: the interpreter runs it. */
struct native_table *native_table(struct native *n, const struct wave *w);

/* The same, whoever watches w: for pieces. */
struct native_table *native_pieces(struct native *n, const struct wave *w);

/* What of MODE matters to recipes. */
static inline unsigned native_mode(const struct wave *w)
{
    bool half = w->mode.denorm64 == 3 && !w->mode.fp16_ovfl && !w->mode.round64 &&
                !w->mode.round32;
    return (w->mode.ieee ? NATIVE_IEEE : 0) |
           (w->mode.denorm32 & 1 ? NATIVE_DENORM : 0) | (half ? NATIVE_HALF : 0);
}

/* Who watches from now on, or NULL: what was compiled for others is dropped. No
 * dispatch may be running. n may be NULL. */
void native_watch(struct native *n, const struct watch *watch);
const struct watch *native_watcher(const struct native *n);

/* Compile the block at slot, which w is about to run; NULL if that cannot be. */
const void *native_compile(struct native_table *t, const struct wave *w, size_t slot,
                           bool partial);

/* Dispatches begin and end, so that code may be dropped when none runs. */
void native_begin(struct native *n);
void native_end(struct native *n);

/* A program goes away: its tables (program.native). */
void native_forget(void *table);

/* Add the executions of paths to opcodes, and clear them. */
void native_count(struct native *n, struct op_counts *counts);

/* Opcodes that native code left to handlers, and how often (emu_config.count). */
void native_each_handled(struct native *n,
                         void (*f)(void *ctx, unsigned op, uint64_t count), void *ctx);

void native_stats(struct native *n, struct emu_native_stats *out);

/* Run code for w, at u, and for the waves whose turns come meanwhile; returns as a
 * handler of w->group->running does. */
const struct uop *native_enter(const struct native_table *t, struct wave *w,
                               const void *code, const struct uop *u);

/* The code for the block at u, if it is there; counts the visit, and compiles the block
 * if it has become hot. Entries are looked at where a block has become so only: those
 * of the others are not touched, as each page touched first costs as much as a hundred
 * instructions. */
static inline const void *native_find(struct native_table *t, const struct wave *w,
                                      size_t slot)
{
    bool partial = w->sgpr[ISA_SEL_EXEC_LO] != ~0u ||
                   (w->wave64 && w->sgpr[ISA_SEL_EXEC_HI] != ~0u);
    size_t i = 2 * slot + partial;
    unsigned heat = atomic_load_explicit(&t->heat[i], memory_order_acquire);
    if (heat >= t->hot) /* NULL: it was tried */
        return atomic_load_explicit(&t->entry[i], memory_order_acquire);
    heat += atomic_load_explicit(&t->weight, memory_order_relaxed);
    if (heat >= t->hot)
        return native_compile(t, w, slot, partial);
    atomic_store_explicit(&t->heat[i], (uint16_t)heat, memory_order_relaxed);
    return NULL;
}

/* n instructions (up to 511) from u on, none of them its block's last. */
static inline uint64_t native_piece_key(const struct native_table *t,
                                        const struct wave *w, const struct uop *u,
                                        unsigned n)
{
    bool partial = w->sgpr[ISA_SEL_EXEC_LO] != ~0u ||
                   (w->wave64 && w->sgpr[ISA_SEL_EXEC_HI] != ~0u);
    return (uint64_t)(u - t->uops) << 10 | n << 1 | partial;
}

static inline size_t native_piece_place(const struct native_table *t, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->n_pieces - 1);
}

/* A run of a piece that was not found at its place. */
const void *native_piece_met(struct native_table *t, const struct wave *w,
                             const struct uop *u, unsigned n);

/* The code for n instructions from u on, if it is there; counts the run, and compiles
 * them if they are hot. w is about to run them. */
static inline const void *native_piece(struct native_table *t, const struct wave *w,
                                       const struct uop *u, unsigned n)
{
    uint64_t key = native_piece_key(t, w, u, n);
    struct native_piece *p = atomic_load_explicit(&t->pieces, memory_order_acquire);
    if (p) {
        p += native_piece_place(t, key);
        const void *code = atomic_load_explicit(&p->code, memory_order_acquire);
        if (code && atomic_load_explicit(&p->key, memory_order_relaxed) == key)
            return code;
    }
    return native_piece_met(t, w, u, n);
}

/* Run a piece for w; returns what comes behind it, or NULL as a handler does. */
const struct uop *native_piece_run(const struct native_table *t, struct wave *w,
                                   const void *code, const struct uop *u);

/* Is native code to be looked for in the turn that begins? Turns are taken at distances
 * that no order of waves repeats. */
static inline bool native_asked(struct native_table *t)
{
    if (atomic_load_explicit(&t->weight, memory_order_relaxed) == 1)
        return true;
    uint32_t phase = atomic_load_explicit(&t->phase, memory_order_relaxed);
    atomic_store_explicit(&t->phase, phase + 0x9e3779b9u, memory_order_relaxed);
    return phase < UINT32_MAX / NATIVE_SAMPLED;
}

#endif
