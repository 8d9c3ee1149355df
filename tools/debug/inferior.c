/* inferior.c: a program under the mock whose kernels are debugged.
 *
 * Every dispatch of its processes comes to a socket in the state folder. One in which
 * some point may stop is run here, in the session; others are left to the program, and
 * which ones those are is remembered. Must not know commands nor protocols.
 * SPDX-License-Identifier: MIT
 */
#include "inferior.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "codeobj.h"
#include "remote.h"

#define LOOK_MS   20
#define PATIENCE  20 /* seconds for an answer of the program's thread that serves us */
#define MAX_KNOWN 1024u

/* A kernel in which no point lies. */
struct verdict {
    uint64_t entry, points;
    const struct co_kernel *kernel;
};

/* ---- begin and end ---- */

static bool listen_in(struct inferior *i)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int n =
        snprintf(at.sun_path, sizeof at.sun_path, "%s/" WIRE_SOCKET, i->x.state.dir);
    i->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (n > 0 && (size_t)n < sizeof at.sun_path && i->listener >= 0 &&
        bind(i->listener, (const struct sockaddr *)&at, sizeof at) == 0 &&
        listen(i->listener, 64) == 0)
        return true;
    (void)cli_error(0, "%s: %s", at.sun_path, strerror(errno));
    return false;
}

static bool start(struct inferior *i, struct session *s)
{
    i->how.apart = i->how.debugged = true;
    s->root = i->how.root;
    i->listener = -1;
    i->ended = false;
    if (exec_prepare(&i->x, &i->how) != CLI_OK)
        return false;
    i->prepared = true;
    i->objects.loaded = 0;
    i->started = listen_in(i) && exec_start(&i->x, &i->how, i->argv) == CLI_OK;
    return i->started;
}

static void has_ended(struct inferior *i, int wait_status)
{
    i->ended = true;
    i->started = false;
    i->status = exec_status(wait_status);
}

bool inferior_alive(struct inferior *i)
{
    int status;
    if (i->started && !i->ended && waitpid(i->x.child, &status, WNOHANG) == i->x.child)
        has_ended(i, status);
    return i->started && !i->ended;
}

static void clean_up(struct inferior *i)
{
    if (i->listener >= 0)
        (void)close(i->listener);
    i->listener = -1;
    if (i->prepared)
        exec_end(&i->x, &i->how, false);
    i->prepared = false;
}

void inferior_end(struct inferior *i, struct session *s)
{
    int status;
    if (i->started && !i->ended) {
        (void)kill(-i->x.child, SIGKILL);
        (void)kill(i->x.child, SIGKILL);
        while (waitpid(i->x.child, &status, 0) < 0 && errno == EINTR)
            ;
        has_ended(i, status);
    }
    if (!s->idle)
        session_detach(s, true);
    clean_up(i);
    objects_free(&i->objects);
    free(i->known);
    i->known = NULL;
}

/* ---- which dispatches ---- */

static uint64_t points_now(const struct session *s)
{
    uint64_t h = s->next_point;
    for (unsigned i = 0; i < s->n_points; i++)
        h = h * 31 + s->points[i].number * 2 + s->points[i].enabled;
    return h;
}

static bool is_known(const struct inferior *i, const struct verdict *v)
{
    for (unsigned k = 0; k < i->n_known; k++)
        if (i->known[k].entry == v->entry && i->known[k].points == v->points &&
            i->known[k].kernel == v->kernel)
            return true;
    return false;
}

static void remember(struct inferior *i, const struct verdict *v)
{
    if (!i->known)
        i->known = calloc(MAX_KNOWN, sizeof *i->known);
    if (i->n_known == MAX_KNOWN)
        i->n_known = 0;
    if (i->known)
        i->known[i->n_known++] = *v;
}

static bool read_code(void *ctx, uint64_t va, void *to, size_t bytes)
{
    return remote_read(ctx, va, to, bytes);
}

/* Take a dispatch if a point lies in its kernel; else it is left to the program. */
static bool take(struct inferior *i, struct session *s, struct remote *r)
{
    const struct wire_dispatch *d = remote_dispatch(r);
    struct verdict v = {.entry = d->dispatch.entry, .points = points_now(s)};
    const struct objects_code code = {read_code, r, d->dispatch.entry};
    char why[200] = "";
    bool any = false;
    for (unsigned k = 0; k < s->n_points; k++)
        any |= s->points[k].enabled;
    if (any) {
        objects_add_loaded(&i->objects, i->x.state.dir);
        const struct object *o = objects_find(&i->objects, &code, &v.kernel);
        v.kernel = o ? v.kernel : NULL;
        if (!is_known(i, &v)) {
            if (session_attach(s, r, o, v.kernel, why)) {
                i->taken++;
                return true;
            }
            if (*why)
                (void)cli_error(0, "kernel %s is not debugged: %s", d->kernel, why);
            session_detach(s, true);
            remember(i, &v);
            i->left++;
            return false;
        }
    }
    remote_decline(r);
    i->left++;
    return false;
}

/* A connection; -1: the program has ended; -2: interrupted. */
static int next_call(struct inferior *i, struct session *s)
{
    const struct timeval patience = {.tv_sec = PATIENCE};
    struct pollfd p = {.fd = i->listener, .events = POLLIN};
    for (;;) {
        int n = poll(&p, 1, LOOK_MS);
        if (s->poll)
            s->poll(s->poll_ctx);
        if (s->interrupted) {
            s->interrupted = 0;
            return -2;
        }
        int fd = n > 0 ? accept4(i->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0) {
            (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
            return fd;
        }
        if (!inferior_alive(i))
            return -1;
    }
}

/* Wait for a kernel to debug. */
static enum inferior_news wait_for(struct inferior *i, struct session *s)
{
    for (;;) {
        int fd = next_call(i, s);
        if (fd == -1) {
            clean_up(i);
            return INFERIOR_ENDED;
        }
        if (fd == -2)
            return INFERIOR_INTERRUPTED;
        struct remote *r = remote_open(fd);
        if (r && take(i, s, r))
            return INFERIOR_STOPPED;
    }
}

enum inferior_news inferior_continue(struct inferior *i, struct session *s)
{
    if (!i->started && !start(i, s)) {
        clean_up(i);
        return INFERIOR_FAILED;
    }
    for (;;) {
        if (!s->idle) {
            bool done = s->at_end || s->at_fault;
            if (!done)
                session_continue(s);
            bool lost = remote_lost(s->remote);
            bool ended = !done && s->stop.kind == STOPPED_END;
            if (!lost && !done && (!ended || i->stop_at_end))
                return INFERIOR_STOPPED;
            session_detach(s, false);
        }
        enum inferior_news news = wait_for(i, s);
        if (news != INFERIOR_STOPPED)
            return news;
    }
}
