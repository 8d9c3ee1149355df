/* reports.c: kernels that fault or are interrupted.
 *
 * Processes leave core files in the state folder and say so in its pipe; a thread here
 * finds out whose code it is, which needs DWARF and therefore libraries that programs
 * are not to be burdened with. Must not know how waves run.
 * SPDX-License-Identifier: MIT
 */
#include "reports.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "core.h"
#include "kept.h"
#include "postmortem.h"

static bool read_core(void *ctx, uint64_t va, void *to, size_t bytes)
{
    const struct target *t = core_target(ctx);
    return tg_read(t, TG_NO_WAVE, EMU_SPACE_GLOBAL, 0, va, (unsigned)bytes, to);
}

/* Give the core file its code object, if one is known. */
static void identify(struct reports *r, struct core *core)
{
    const struct co_kernel *kernel;
    const struct program *p = core_program(core);
    const struct objects_code code = {read_core, core, p->entry};
    objects_add_loaded(&r->objects, r->state);
    const struct object *o = objects_find(&r->objects, &code, &kernel);
    if (o)
        core_identify(core, o, kernel);
}

static void tell(struct reports *r, const struct kept_news *news, struct core *core)
{
    uint64_t group;
    unsigned wave, lane;
    char *text = NULL;
    size_t bytes;
    bool fault = core_culprit(core, &group, &wave, &lane);
    FILE *out = open_memstream(&text, &bytes);
    identify(r, core);
    if (!out)
        return;
    (void)fprintf(out, "rdna3: pid %d: ", (int)news->pid);
    if (fault)
        postmortem_culprit(out, core);
    else
        postmortem_show(out, core, false);
    if (fclose(out) == 0) /* and all of it at once */
        (void)!write(STDERR_FILENO, text, bytes);
    free(text);
    if (!r->core || r->written)
        return;
    r->written = true;
    r->failed = core_write(core, r->core) != CLI_OK;
}

static void *listen_to(void *arg)
{
    struct reports *r = arg;
    struct kept_news news;
    while (read(r->pipe, &news, sizeof news) == sizeof news &&
           news.number < KEPT_CORES) {
        char path[PATH_MAX];
        struct core *core;
        (void)snprintf(path, sizeof path, "%s/" KEPT_CORE_FILE, r->state, news.number);
        if (core_open(path, &core) != CLI_OK)
            continue;
        tell(r, &news, core);
        core_close(core);
        unlink(path); /* its number is free again */
    }
    return NULL;
}

bool reports_begin(struct reports *r, const char *state)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/" KEPT_NEWS, state);
    r->state = state;
    r->pipe = -1;
    /* whole lines: the program writes there, too */
    (void)setvbuf(stderr, NULL, _IOLBF, 0);
    if (mkfifo(path, 0600) == 0)
        r->pipe = open(path, O_RDWR | O_CLOEXEC); /* so that it does not end */
    int err = r->pipe < 0 ? errno : pthread_create(&r->thread, NULL, listen_to, r);
    r->runs = err == 0;
    if (err)
        (void)cli_error(0, "%s: %s", path, strerror(err));
    return r->runs;
}

int reports_end(struct reports *r)
{
    const struct kept_news last = {.number = KEPT_CORES};
    if (!r->runs)
        return CLI_OK;
    if (write(r->pipe, &last, sizeof last) == sizeof last)
        pthread_join(r->thread, NULL);
    close(r->pipe);
    r->runs = false;
    return r->failed ? CLI_FAILED : CLI_OK;
}

void reports_free(struct reports *r)
{
    objects_free(&r->objects);
}
