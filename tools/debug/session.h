/* session.h: a dispatch that is run forwards and backwards: the core of the debugger,
 * under its two front ends.
 *
 * Time is a number: the steps (one instruction of one wave each) since the dispatch
 * began. The order of waves is that of `rdna3 run` with one thread and follows from the
 * seed alone, so going back is going to a snapshot and forwards again. Whatever a user
 * does, the order stays: to step a wave is to run all of them until it has stepped.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_SESSION_H
#define RD_DEBUG_SESSION_H

#include <signal.h>

#include "dbg_expr.h"
#include "kernel.h"
#include "step.h"

/* ---- where it stops ---- */

#define POINT_PLACES 32u

enum point_kind { POINT_PLACE, POINT_MNEMONIC, POINT_WATCH };
enum watch_mode { WATCH_CHANGE = 1, WATCH_READ = 2, WATCH_WRITE = 4 };

/* What a watchpoint looks at: bytes of memory, or registers of a lane. */
struct watched {
    bool is_register;
    unsigned sel; /* the first register */
    unsigned space, lane;
    uint64_t group; /* LDS, scratch, registers */
    unsigned wave;  /* scratch, registers */
    uint64_t address;
    unsigned bytes; /* at most 16 */
    uint8_t value[16];
    bool valid; /* value is what it holds */
};

struct point {
    unsigned number; /* from 1 */
    enum point_kind kind;
    bool enabled, temporary, internal;
    char what[128];      /* what it is called */
    char where[256];     /* as the user wrote it */
    char condition[256]; /* "": none */
    char log[256]; /* not "": what it says, {EXPRESSION} in it, instead of stopping */
    uint64_t hits, ignore;
    uint64_t pcs[POINT_PLACES]; /* POINT_PLACE */
    unsigned n_pcs;
    uint8_t *ops;  /* POINT_MNEMONIC: of each op, does it match? */
    unsigned mode; /* WATCH_* */
    struct watched watched;
    const struct vtype *type; /* to show the value as */
};

enum stop_kind {
    STOPPED_BEGIN,    /* at the beginning of time */
    STOPPED_STEP,     /* what was asked for is done */
    STOPPED_POINT,    /* breakpoint */
    STOPPED_WATCH,    /* watchpoint */
    STOPPED_WAVE_END, /* the wave that was to step has ended */
    STOPPED_FAULT,
    STOPPED_END,   /* all waves have ended */
    STOPPED_LIMIT, /* so many steps */
    STOPPED_INTERRUPT,
    STOPPED_ERROR /* of the debugger: text says */
};

struct stop {
    enum stop_kind kind;
    unsigned point; /* its number */
    uint64_t group; /* wave of it */
    unsigned wave;
    int lane; /* -1: not of one */
    /* STOPPED_WATCH */
    uint64_t pc; /* of the instruction that did it */
    bool write;
    struct watched before, after;
    const struct vtype *type; /* to show them as; NULL: the point's */
    char text[256];           /* of errors */
};

/* ---- the session ---- */

struct memory; /* replay.c */
struct remote; /* remote.c */
struct input;  /* inputs.c */

struct session {
    struct kernel_options *options;
    void *code;
    size_t code_bytes;
    struct la *la;
    struct la_kernel kernel;
    struct emu_dispatch dispatch;
    struct emu_stepper *stepper;
    struct program program;
    uint64_t *args; /* for it */
    struct target target;
    struct memory *memory; /* global memory and snapshots */
    struct remote *remote; /* the program that it is a dispatch of; NULL: none */
    uint64_t now;          /* steps so far */
    uint64_t frontier;     /* the furthest that has been: before it all is known */
    struct input *inputs;  /* what came from outside, by step */
    unsigned n_inputs, next_input;
    const char *root;      /* of the program; NULL: as here */
    bool idle;             /* no dispatch is there: points wait for one */
    bool at_end, at_fault; /* all waves have ended; one has faulted */
    struct point *points;
    unsigned n_points, next_point;
    uint8_t *place_bits; /* a bit for each dword of code with a breakpoint */
    uint64_t place_base, place_bytes;
    uint64_t group; /* the wave and lane that are looked at */
    unsigned wave, lane;
    uint64_t limit; /* steps of one command; 0: none */
    volatile sig_atomic_t interrupted;
    void (*poll)(void *ctx); /* called every few thousand steps; NULL: nobody asks */
    void (*log)(void *ctx, const char *text); /* of log points; NULL: to stdout */
    void *poll_ctx;                           /* of both */
    struct stop stop;                         /* the last one */
};

/* Load the kernel and stand before its first instruction. Prints errors; returns an
 * exit status. */
int session_begin(struct session *s, struct kernel_options *options);
void session_end(struct session *s);

/* A session without a dispatch: points are kept until one comes. */
void session_idle(struct session *s);

struct object;
struct co_kernel;

/* Stand before the first instruction of a dispatch of another process; object, kernel:
 * what it is of, NULL: not known. False: no point lies in it, or (why is not empty) it
 * cannot be; session_detach is due in any case. */
RD_CHECKED bool session_attach(struct session *s, struct remote *r,
                               const struct object *object,
                               const struct co_kernel *kernel, char *why);
/* It is done, or left to the process as it was in the beginning. */
void session_detach(struct session *s, bool decline);

/* The context of the chosen wave and lane. false: the wave is not there. */
bool session_context(struct session *s, struct context *c);
/* The wave that runs next. false: none does. */
bool session_next(struct session *s, uint64_t *group, unsigned *wave, uint64_t *pc);

/* ---- running; all of them set s->stop and choose the wave of it ---- */

void session_continue(struct session *s);
void session_back(struct session *s); /* reverse-continue */
void session_goto(struct session *s, uint64_t step);
/* Instructions of the chosen wave. */
void session_step(struct session *s, uint64_t count);
void session_step_back(struct session *s, uint64_t count);
/* A source line of the chosen wave; over: inlined and called functions are one step. */
void session_line(struct session *s, bool over);
void session_line_back(struct session *s, bool over);
/* Until the function that it is in has been left; of the kernel: until it ends. */
void session_finish(struct session *s);
/* Until the chosen wave has ended. */
void session_finish_wave(struct session *s);
/* Back to the last write of something, before it. */
void session_last_write(struct session *s, const struct watched *what,
                        const struct vtype *type);

/* ---- points.c ---- */

/* Each returns the point, or NULL with the reason in why (at least 200 bytes). */
struct point *point_place(struct session *s, const char *where, char *why);
struct point *point_address(struct session *s, uint64_t pc, const char *what,
                            char *why);
struct point *point_mnemonic(struct session *s, const char *pattern, char *why);
struct point *point_watch(struct session *s, const char *expression, unsigned mode,
                          char *why);
bool point_condition(struct session *s, struct point *p, const char *text, char *why);
bool point_delete(struct session *s, unsigned number);
struct point *point_find(struct session *s, unsigned number);
void points_delete_all(struct session *s, bool internal_too);
/* Places and watched memory in the dispatch that has come. True: some is there. */
bool points_resolve(struct session *s);
/* After points came, went or changed. */
void points_changed(struct session *s);

/* What an expression is stored in. */
bool watched_of(struct session *s, const char *expression, struct watched *out,
                const struct vtype **type, char *why);
/* Read it as it is now. */
void watched_read(struct session *s, struct watched *w);
void watched_text(const struct watched *w, char *text, size_t size);

/* Does a breakpoint match the wave that runs next? Chooses the lane. */
const struct point *points_at(struct session *s, const struct emu_wave_info *wave,
                              const struct emu_inst *inst, int *lane);
/* Before a step and behind it: has a watchpoint met something? */
void points_before(struct session *s);
const struct point *points_after(struct session *s, const struct emu_event *e,
                                 struct stop *stop);
void points_refresh(struct session *s);

/* ---- replay.c ---- */

RD_CHECKED rd_status memory_begin(struct session *s);
void memory_end(struct session *s);
/* Before each step: a snapshot if it is time for one. */
RD_CHECKED rd_status memory_before(struct session *s);
void memory_after(struct session *s, const struct emu_event *e);
/* Back to the last snapshot at or before a step. */
void memory_restore(struct session *s, uint64_t step);
/* Where the last snapshot before a step is. */
uint64_t memory_snapshot_before(const struct session *s, uint64_t step);

/* [address, address + bytes) of global memory changes now, by other hands. */
void memory_mark(struct session *s, uint64_t address, uint64_t bytes);

/* ---- inputs.c: what does not follow from the beginning: what the user sets, and what
 * the program writes meanwhile ---- */

/* Do what came at this step; after each step. */
void inputs_apply(struct session *s);
/* After going back. */
void inputs_rewind(struct session *s);
void inputs_end(struct session *s);
/* Bytes of global memory from the program. */
RD_CHECKED bool inputs_add(struct session *s, uint64_t address, const void *data,
                           unsigned bytes);
/* Let what an expression names hold another's value. What has been behind this moment
 * is forgotten. why: at least 200 bytes. */
RD_CHECKED bool session_set(struct session *s, const char *to, const char *value,
                            char *why);
/* The same of bytes of global memory. */
RD_CHECKED bool session_write(struct session *s, uint64_t address, const void *data,
                              unsigned bytes, char *why);

/* ---- live.c: the waves of a session as a target ---- */

extern const struct tg_ops live_ops;

#endif
