/* base.c: statuses, hooks, the library's handle. SPDX-License-Identifier: MIT
 */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "version.h"

/* Statuses are those of the rooms below. */
#define SAME(name)                                                                     \
    _Static_assert((int)RDNA3_##name == (int)RD_##name, "RDNA3_" #name " differs")
SAME(OK);
SAME(E_INVALID);
SAME(E_NOMEM);
SAME(E_IO);
SAME(E_NOT_FOUND);
SAME(E_RANGE);
SAME(E_TRUNCATED);
SAME(E_FORMAT);
SAME(E_ENCODING);
SAME(E_UNSUPPORTED);
SAME(E_EXISTS);
SAME(E_FAULT);
SAME(E_BUSY);
SAME(E_TIMEOUT);
SAME(E_NO_ROOM);

int rdna3_fail(struct rdna3_error *err, int status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (err)
        (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return status;
}

static void *plain_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    return malloc(bytes);
}

static void plain_release(void *ctx, void *memory)
{
    (void)ctx;
    free(memory);
}

int rdna3_open(const struct rdna3_hooks *hooks, struct rdna3 **out)
{
    struct rdna3_hooks own = {
        .struct_bytes = sizeof own, .alloc = plain_alloc, .release = plain_release};
    if (hooks && (!HAS(hooks, log) || !hooks->alloc != !hooks->release))
        return RDNA3_E_INVALID;
    if (hooks) {
        own.ctx = hooks->ctx;
        own.log = hooks->log;
    }
    if (hooks && hooks->alloc) {
        own.alloc = hooks->alloc;
        own.release = hooks->release;
    }
    struct rdna3 *rdna3 = own.alloc(own.ctx, sizeof *rdna3);
    if (!rdna3)
        return RDNA3_E_NOMEM;
    *rdna3 = (struct rdna3){.hooks = own};
    *out = rdna3;
    return RDNA3_OK;
}

void rdna3_close(struct rdna3 *rdna3)
{
    if (rdna3)
        rdna3->hooks.release(rdna3->hooks.ctx, rdna3);
}

void *rdna3_take(struct rdna3 *rdna3, size_t bytes)
{
    return rdna3->hooks.alloc(rdna3->hooks.ctx, bytes ? bytes : 1);
}

void rdna3_release(struct rdna3 *rdna3, void *memory)
{
    if (memory)
        rdna3->hooks.release(rdna3->hooks.ctx, memory);
}

void rdna3_say(struct rdna3 *rdna3, enum rdna3_level level, const char *fmt, ...)
{
    char text[1200];
    va_list ap;
    if (!rdna3->hooks.log)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    rdna3->hooks.log(rdna3->hooks.ctx, level, text);
}

const char *rdna3_status_text(int status)
{
    return rd_status_text(status);
}

const char *rdna3_version(void)
{
    return rd_version();
}

const char *rdna3_commit(void)
{
    return rd_version_commit();
}
