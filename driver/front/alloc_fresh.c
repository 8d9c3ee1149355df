/* alloc_fresh.c: copies to the host of what nobody has written.
 *
 * New memory is filled with a value that tells it (alloc_fill). What a copy brings is
 * looked at when the call comes back, and, where that only orders it, when the program
 * has waited: for the stream or the device, or for an event, which says nothing of
 * copies that are still under way. Those wait for the next look.
 *
 * Must not call runtimes. SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "alloc.h"

/* A copy that has been ordered. */
struct ordered {
    struct ordered *next;
    struct alloc_rows rows;
    const void *stream;
    struct ck_finding finding;
};

enum { MOST = 256 }; /* copies: older ones are forgotten */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ordered *ordered; /* the newest first */
static atomic_uint n_ordered;

void alloc_found_in(struct ck_finding *f, const struct alloc_call *c,
                    const struct ck_block *b, uint64_t at, size_t bytes)
{
    f->host = c->trace;
    f->made = b->made;
    f->located = true;
    f->address = at;
    f->bytes = (uint32_t)bytes;
    f->base = b->base;
    f->size = b->size;
    (void)snprintf(f->allocation, sizeof f->allocation, "memory of %.29s",
                   *b->made.call ? b->made.call : "the runtime");
}

/* Is there nothing but what new memory was filled with? */
static bool is_fill(const char *p, size_t bytes)
{
    uint32_t now[1024];
    for (size_t done = 0; done < bytes;) {
        size_t left = bytes - done, n = left < sizeof now ? left : sizeof now;
        struct iovec to = {now, n}, from = {(char *)(uintptr_t)p + done, n};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)n)
            return false;
        for (size_t i = 0; i < n / sizeof *now; i++)
            if (now[i] != CK_HEAP_FILL)
                return false;
        done += n;
    }
    return true;
}

static bool has_fill(const struct alloc_rows *r)
{
    for (size_t i = 0; i < r->height; i++)
        if (!is_fill((const char *)r->to + i * r->to_pitch, r->width))
            return false;
    return true;
}

static bool is_host(const void *p)
{
    uint64_t at = (uintptr_t)p;
    struct ck_block b;
    return !ck_heap_near(alloc_heap(), at, &b) || at - b.base >= b.size ||
           strstr(b.made.call, "Host");
}

size_t alloc_area(size_t pitch, size_t width, size_t height)
{
    return width && height ? pitch * (height - 1) + width : 0;
}

void alloc_copy_begin(struct alloc_copy *k, const struct alloc_call *c,
                      const struct alloc_rows *r, const void *stream)
{
    uint64_t at = (uintptr_t)r->from;
    size_t bytes = alloc_area(r->from_pitch, r->width, r->height);
    struct ck_block b;
    *k = (struct alloc_copy){.call = c, .rows = *r, .stream = stream};
    if (!c->on || !c->direct || !bytes || r->width % 4 || r->from_pitch % 4 ||
        !ck_heap_near(alloc_heap(), at, &b) || at - b.base >= b.size || !b.fresh ||
        (at - b.base) % 4 || bytes > b.size - (at - b.base) || !is_host(r->to) ||
        has_fill(r)) /* what was brought before was told of then */
        return;
    k->block = b;
    k->looks = true;
}

static bool meet(const struct alloc_rows *a, const struct alloc_rows *b)
{
    uintptr_t at = (uintptr_t)a->to, other = (uintptr_t)b->to;
    return at < other + alloc_area(b->to_pitch, b->width, b->height) &&
           other < at + alloc_area(a->to_pitch, a->width, a->height);
}

/* Forget copies to the same memory as r, and the oldest if there are many. */
static void forget(const struct alloc_rows *r)
{
    unsigned n = 0;
    for (struct ordered **at = &ordered; *at;) {
        struct ordered *o = *at;
        if (!meet(&o->rows, r) && ++n < MOST) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        free(o);
        atomic_fetch_sub(&n_ordered, 1);
    }
}

static void fill_finding(const struct alloc_copy *k, struct ck_finding *f)
{
    const struct alloc_rows *r = &k->rows;
    uint64_t at = (uintptr_t)r->from;
    *f =
        (struct ck_finding){.cls = CK_INIT, .wave_lanes = 32, .kind = "undefined-copy"};
    alloc_found_in(f, k->call, &k->block, at, r->width * r->height);
    (void)snprintf(f->text, sizeof f->text,
                   "%s gives the host %zu bytes from byte %llu of %s on, none of which "
                   "anybody has written",
                   k->call->trace.call, r->width * r->height,
                   (unsigned long long)(at - k->block.base), f->allocation);
}

void alloc_copy_end(const struct alloc_copy *k)
{
    const struct alloc_rows *r = &k->rows;
    struct ck_finding f;
    if (k->call->on && atomic_load(&n_ordered)) {
        (void)pthread_mutex_lock(&mutex);
        forget(r);
        (void)pthread_mutex_unlock(&mutex);
    }
    if (!k->looks)
        return;
    if (has_fill(r)) {
        fill_finding(k, &f);
        alloc_found(&f);
        return;
    }
    struct ordered *o = k->stream == ALLOC_NOW ? NULL : calloc(1, sizeof *o);
    if (!o)
        return;
    o->rows = *r;
    o->stream = k->stream;
    fill_finding(k, &o->finding);
    (void)pthread_mutex_lock(&mutex);
    o->next = ordered;
    ordered = o;
    atomic_fetch_add(&n_ordered, 1);
    (void)pthread_mutex_unlock(&mutex);
}

void alloc_copies_wait(const void *stream, enum alloc_wait how)
{
    if (!atomic_load(&n_ordered))
        return;
    (void)pthread_mutex_lock(&mutex);
    for (struct ordered **at = &ordered; *at;) {
        struct ordered *o = *at;
        bool wrong = has_fill(&o->rows);
        if (!wrong && how != ALLOC_WAIT_ALL &&
            (how != ALLOC_WAIT_STREAM || o->stream != stream)) {
            at = &o->next;
            continue;
        }
        if (wrong)
            alloc_found(&o->finding);
        *at = o->next;
        free(o);
        atomic_fetch_sub(&n_ordered, 1);
    }
    (void)pthread_mutex_unlock(&mutex);
}
