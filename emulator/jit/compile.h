/* compile.h: from a trace to machine code. SPDX-License-Identifier: MIT */
#ifndef RD_COMPILE_H
#define RD_COMPILE_H

#include "native.h"
#include "trace.h"
#include "x86.h"

struct compile_room;
struct emu;
struct watch;
struct watch_arena;

/* What the table of entries has before its first entry, by negative index. */
enum table_head {
    TABLE_UOPS = 1, /* the program's micro-ops */
    TABLE_LEAVE,    /* stub: leave for the interpreter; eax is the slot */
    TABLE_RETURN,   /* stub: leave with rax */
    TABLE_TURN,    /* stub: the wave's turn is over at slot eax: on with the next one */
    TABLE_BARRIER, /* stub: it has come to a barrier (wave.next is set): likewise */
    TABLE_CHECK,   /* stub: may the wave access edx bytes at rax (ecx: EMU_MEM_*)? Carry
                      if that is not known. Changes r8 and r9 */
    TABLE_WINDOW,  /* stub: from which offset on, and how far, may lanes go? See
                      compile.c */
    TABLE_HEAD,    /* how many, at most 8 */
};

/* Ways out of a trace whose blocks have to be counted; see native.h. */
struct path_sink {
    void *ctx;
    /* A number for the path through the first n instructions of t; 0: no more.
     * handled: those that their handlers do, by place in t. */
    unsigned (*add)(void *ctx, const struct trace *t, unsigned n, const bool *handled);
};

struct compile_job {
    const struct trace *t;
    const struct program *p;
    const struct emu *emu;
    const uint8_t *recipe_of; /* [ISA_OP_COUNT] */
    unsigned mode;            /* NATIVE_* of native.h */
    bool masked;              /* for waves whose EXEC is not full */
    bool piece;               /* behind the last step it returns, and counts nothing */
    const struct wave *wave;  /* at the head: only what is likely is told from it */
    const struct path_sink *paths; /* NULL: nobody counts */
    const struct watch *watch;     /* NULL: nobody watches */
    struct watch_arena **places;   /* watch.h: its memory */
    struct compile_room *room;     /* emit.h */
};

/* Write the trace's code. False: it did not fit, or cannot be done. */
bool compile_trace(struct x86 *x, const struct compile_job *job);

/* The stubs: enter(struct wave *, const void *code, slot, table) and those of the
 * table. at: their offsets. */
struct stub_offsets {
    size_t enter, leave, give_back, turn, barrier, check, window;
};
void compile_stubs(struct x86 *x, const struct emu *emu, native_turn_fn *turn,
                   struct stub_offsets *at);

#endif
