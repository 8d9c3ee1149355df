/* dap_internal.h: what the files of the Debug Adapter Protocol share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_DAP_INTERNAL_H
#define RD_DEBUG_DAP_INTERNAL_H

#include "json.h"
#include "message.h"
#include "ui.h"

/* ---- dap.c ---- */

struct reference; /* what a variablesReference stands for */

struct owned_point {
    unsigned number;
    int kind; /* DAP_POINT_* */
    char path[256];
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

/* ---- dap_show.c: requests that look ---- */

/* Answer the request if it is one of these. */
bool dap_look(struct dap *d, const char *command, const struct json_t *request,
              const struct json_t *args);
/* Forget what variablesReferences stand for. */
void dap_forget(struct dap *d);
/* The context of a threadId. */
bool dap_context(struct dap *d, int64_t thread, struct context *c);
int64_t dap_thread(const struct dap *d, uint64_t group, unsigned wave);

/* ---- dap_points.c ---- */
bool dap_set_points(struct dap *d, const char *command, const struct json_t *request,
                    const struct json_t *args);

#endif
