/* dap_internal.h: what the files of the Debug Adapter Protocol share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_DAP_INTERNAL_H
#define RD_DEBUG_DAP_INTERNAL_H

#include "inferior.h"
#include "json.h"
#include "message.h"
#include "ui.h"

/* ---- dap.c ---- */

struct reference; /* what a variablesReference stands for */

struct owned_point {
    unsigned number;
    int kind; /* DAP_POINT_* */
    char path[256];
    bool verified;
};

enum { DAP_SOURCE, DAP_FUNCTION, DAP_INSTRUCTION, DAP_DATA };

struct dap {
    FILE *in, *out;
    uint64_t seq;
    struct kernel_options k;
    struct session session;
    bool launched, running, done, stop_at_end, stop_on_entry, configured;
    struct ui ui;
    struct owned_point *points;
    unsigned n_points;
    struct reference *refs;
    unsigned n_refs;
    char **strings; /* of options, as long as the session */
    unsigned n_strings;
    char *queue[64]; /* messages that came while it ran */
    unsigned n_queue;
    uint64_t waves_per_group;
    struct inferior inferior; /* if it is a program's kernels that are debugged: */
    bool program;
    int pipes[2]; /* what it prints */
};

/* The body of a response is written between these two. */
struct reply {
    struct json j;
    char *text;
    size_t bytes;
    FILE *out;
};

void reply_begin(struct dap *d, struct reply *r, const struct json_t *request);
void reply_end(struct dap *d, struct reply *r);
/* A response without a body; one that refuses. */
void reply_done(struct dap *d, const struct json_t *request);
void reply_error(struct dap *d, const struct json_t *request, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Events: text for the user; why it stands; that it stands, in no kernel; that there is
 * no more to come. */
void dap_output(struct dap *d, const char *category, const char *text);
void dap_tell_stop(struct dap *d);
void dap_tell_pause(struct dap *d, const char *text);
void dap_ended(struct dap *d, unsigned status);
/* A breakpoint has found its place, or a new one. */
void dap_point_changed(struct dap *d, const struct point *p);
/* A copy that stays. */
char *dap_keep(struct dap *d, const char *text);

/* ---- dap_program.c ---- */

/* Take the arguments of launch. Prints errors; returns an exit status. */
int dap_program_launch(struct dap *d, const struct json_t *args);
/* Begin, or go on, until a kernel stops; tells the client. */
void dap_program_continue(struct dap *d);
/* Hand on what it has printed; the same until a message comes. */
void dap_program_output(struct dap *d);
bool dap_program_wait(struct dap *d);
void dap_program_end(struct dap *d);

/* ---- dap_set.c ---- */

bool dap_change(struct dap *d, const char *command, const struct json_t *request,
                const struct json_t *args);

/* ---- dap_complete.c ---- */

/* Answer a request for completions. */
bool dap_complete(struct dap *d, const char *command, const struct json_t *request,
                  const struct json_t *args);

/* ---- dap_show.c: requests that look ---- */

/* Answer the request if it is one of these. */
bool dap_look(struct dap *d, const char *command, const struct json_t *request,
              const struct json_t *args);
/* Forget what variablesReferences stand for. */
void dap_forget(struct dap *d);
/* The context of a threadId. */
bool dap_context(struct dap *d, int64_t thread, struct context *c);
int64_t dap_thread(const struct dap *d, uint64_t group, unsigned wave);
int64_t dap_frame_thread(int64_t frame);
/* The expression of a child of a variablesReference, and its thread. */
bool dap_child(struct dap *d, int64_t number, const char *name, int64_t *thread,
               char *text, size_t size);
/* The fields of an expression's value. */
void dap_value(struct dap *d, struct json *j, int64_t thread, const char *expression);

/* ---- dap_points.c ---- */
/* Tell of those that have got a place. */
void dap_points_verified(struct dap *d);
bool dap_set_points(struct dap *d, const char *command, const struct json_t *request,
                    const struct json_t *args);

#endif
