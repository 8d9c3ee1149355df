/* controls.c: the files of sysfs that take the device away, bring it back or reset it.
 *
 * A program writes to an ordinary file; who made the state folder is told of it, acts
 * and empties the file, which says that it has been done. What is away lies beside the
 * tree: descriptors stay what they are, and calls by them find no device.
 * SPDX-License-Identifier: MIT
 */
#include "controls.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board.h"
#include "shared.h"
#include "sysfs.h"

#define MAX_CONTROLS 16

struct controls {
    struct state *state;
    pthread_t thread;
    int stop[2], notify;
    size_t count;
    int files[MAX_CONTROLS], watches[MAX_CONTROLS];
    enum sysfs_action actions[MAX_CONTROLS];
};

/* Of the absent device: 0 is there, 1 has no driver, 2 is gone. */
enum { PRESENT, UNBOUND, REMOVED };

static void move(const struct state *s, const char *path, bool away)
{
    char here[PATH_MAX], there[PATH_MAX];
    snprintf(here, sizeof(here), "%s/" GSHARED_TREE "%s", s->dir, path);
    int n = snprintf(there, sizeof(there), "%s/" GSHARED_AWAY "/", s->dir);
    for (; *path && n + 1 < (int)sizeof(there); path++)
        there[n++] = *path == '/' ? '_' : *path;
    there[n] = '\0';
    (void)rename(away ? here : there, away ? there : here);
}

/* Nobody finds the device before its files go, nor after they have come. */
static void become(struct controls *c, uint32_t how)
{
    size_t count, driver;
    const char *const *paths = sysfs_departing(&count, &driver);
    const size_t gone[] = {0, driver, count};
    uint32_t is = atomic_load(&c->state->shared->absent);
    if (how > is) {
        atomic_store(&c->state->shared->absent, how);
        atomic_fetch_add(&c->state->shared->departures, 1);
    }
    for (size_t i = gone[is]; i < gone[how]; i++)
        move(c->state, paths[i], true);
    for (size_t i = gone[is]; i > gone[how]; i--)
        move(c->state, paths[i - 1], false);
    atomic_store(&c->state->shared->absent, how);
}

static void act(struct controls *c, enum sysfs_action action, const char *text)
{
    uint32_t is = atomic_load(&c->state->shared->absent);
    bool named = strncmp(text, BOARD_PCI_SLOT, sizeof(BOARD_PCI_SLOT) - 1) == 0;
    bool yes = strtoul(text, NULL, 0) != 0;
    if (action == SYSFS_REMOVE && yes)
        become(c, REMOVED);
    else if (action == SYSFS_RESCAN && yes && is == REMOVED)
        become(c, PRESENT);
    else if (action == SYSFS_UNBIND && named && is == PRESENT)
        become(c, UNBOUND);
    else if (action == SYSFS_BIND && named && is == UNBOUND)
        become(c, PRESENT);
    else if (action == SYSFS_RESET && yes && is != REMOVED)
        atomic_fetch_add(&c->state->shared->resets, 1);
}

static void look(struct controls *c, int watch)
{
    for (size_t i = 0; i < c->count; i++) {
        char text[64];
        ssize_t n =
            c->watches[i] == watch ? pread(c->files[i], text, sizeof(text) - 1, 0) : 0;
        if (n <= 0)
            continue;
        text[n] = '\0';
        act(c, c->actions[i], text);
        (void)!ftruncate(c->files[i], 0);
    }
}

static void *watch(void *arg)
{
    struct controls *c = arg;
    char events[4096] __attribute__((aligned(8)));
    struct pollfd both[] = {{.fd = c->stop[0], .events = POLLIN},
                            {.fd = c->notify, .events = POLLIN}};
    while (poll(both, 2, -1) >= 0 && !both[0].revents) {
        ssize_t n = read(c->notify, events, sizeof(events));
        for (ssize_t at = 0; at < n;) {
            struct inotify_event e;
            memcpy(&e, events + at, sizeof(e));
            look(c, e.wd);
            at += (ssize_t)(sizeof(e) + e.len);
        }
    }
    return NULL;
}

static void destroy(struct controls *c)
{
    for (size_t i = 0; i < c->count; i++)
        close(c->files[i]);
    if (c->notify >= 0)
        close(c->notify);
    if (c->stop[0] >= 0)
        close(c->stop[0]), close(c->stop[1]);
    free(c);
}

static bool add(struct controls *c, const struct sysfs_control *control)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/" GSHARED_TREE "%s", c->state->dir, control->path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int wd = fd >= 0 ? inotify_add_watch(c->notify, path, IN_MODIFY) : -1;
    if (wd < 0) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    (void)fchmod(fd, 0200); /* as in Linux */
    c->files[c->count] = fd;
    c->watches[c->count] = wd;
    c->actions[c->count++] = control->action;
    return true;
}

rd_status controls_begin(struct state *state)
{
    size_t count;
    const struct sysfs_control *all = sysfs_controls(&count);
    char away[PATH_MAX];
    struct controls *c = calloc(1, sizeof(*c));
    if (!c)
        return RD_E_NOMEM;
    *c = (struct controls){.state = state, .stop = {-1, -1}};
    snprintf(away, sizeof(away), "%s/" GSHARED_AWAY, state->dir);
    c->notify = inotify_init1(IN_CLOEXEC);
    bool ok =
        c->notify >= 0 && mkdir(away, 0700) == 0 && pipe2(c->stop, O_CLOEXEC) == 0;
    for (size_t i = 0; ok && i < count && i < MAX_CONTROLS; i++)
        ok = add(c, &all[i]);
    sigset_t none, before;
    sigfillset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    ok = ok && pthread_create(&c->thread, NULL, watch, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ok) {
        destroy(c);
        return RD_E_IO;
    }
    state->controls = c;
    return RD_OK;
}

void controls_end(struct state *state)
{
    struct controls *c = state->controls;
    if (!c)
        return;
    state->controls = NULL;
    (void)!write(c->stop[1], "", 1);
    pthread_join(c->thread, NULL);
    destroy(c);
}
