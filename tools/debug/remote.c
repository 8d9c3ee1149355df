/* remote.c: a dispatch of another process, in this one.
 *
 * GPU addresses are host pointers, so the program's regions are mapped here where it
 * has them, without access: what is touched first asks the program for a piece of
 * memory (a handler of SIGSEGV). What is known to lie there is kept beside it, so that
 * what kernels and the program change can be told apart. Only at the frontier, the
 * furthest step so far, changes are exchanged; those of the program become inputs of
 * the session, so that going back and forth sees them again at the same steps.
 *
 * Rule: the handler makes system calls and plain loads and stores only.
 * SPDX-License-Identifier: MIT
 */
#include "remote.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"

#define PIECE      65536u
#define WHY        200
#define SOONEST    4096u   /* steps between exchanges */
#define LATEST     131072u /* while nothing comes */
#define LOOK_BYTES (1u << 20)

struct region {
    struct emu_mem m;
    bool mapped;
    uint8_t *known;           /* what the program has there, of pieces that came */
    uint8_t *copy;            /* remote_keep */
    uint64_t *came, *written; /* a bit a piece */
    uint64_t n_pieces;
};

struct remote {
    int fd;
    struct wire_dispatch offer;
    struct region *regions;
    unsigned n;
    volatile sig_atomic_t lost;
    uint64_t interval, next;
    unsigned look_region; /* where the next look for changes begins */
    uint64_t look_piece;
    struct emu_queue queue;
    struct sigaction old;
};

static struct remote *current; /* whose memory the handler fetches */

static void *host(uint64_t va)
{
    return (void *)(uintptr_t)va; // NOLINT: GPU addresses are host pointers
}

static bool bit(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

static uint64_t piece_bytes(const struct region *r, uint64_t piece)
{
    uint64_t rest = r->m.bytes - piece * PIECE;
    return rest < PIECE ? rest : PIECE;
}

/* ---- messages ---- */

bool remote_read(struct remote *r, uint64_t va, void *to, size_t bytes)
{
    const struct wire_head ask = {.type = WIRE_READ, .va = va, .bytes = bytes};
    struct wire_head answer;
    if (r->lost || !wire_send(r->fd, &ask, NULL) ||
        !wire_get(r->fd, &answer, sizeof answer) || answer.type != WIRE_DATA ||
        (answer.bytes && (answer.bytes != bytes || !wire_get(r->fd, to, bytes)))) {
        r->lost = 1;
        return false;
    }
    return answer.bytes == bytes;
}

static void send_to(struct remote *r, enum wire_type type, uint64_t va,
                    const void *data, uint64_t bytes)
{
    const struct wire_head head = {.type = type, .va = va, .bytes = bytes};
    if (!r->lost && !wire_send(r->fd, &head, data))
        r->lost = 1;
}

bool remote_lost(const struct remote *r)
{
    return r->lost;
}

/* ---- memory that comes ---- */

static struct region *region_at(struct remote *r, uint64_t va)
{
    for (unsigned i = 0; i < r->n; i++)
        if (va >= r->regions[i].m.va && va - r->regions[i].m.va < r->regions[i].m.bytes)
            return r->regions[i].mapped ? &r->regions[i] : NULL;
    return NULL;
}

/* What the program does not have reads as zeros, and is its own fault. */
static bool fetch(struct remote *r, struct region *g, uint64_t piece)
{
    uint64_t at = piece * PIECE, n = piece_bytes(g, piece);
    uint64_t pages = (n + 4095) & ~UINT64_C(4095);
    if (mprotect(host(g->m.va + at), pages, PROT_READ | PROT_WRITE) != 0)
        return false;
    (void)remote_read(r, g->m.va + at, g->known + at, n);
    memcpy(host(g->m.va + at), g->known + at, n);
    if (g->copy)
        memcpy(g->copy + at, g->known + at, n);
    set_bit(g->came, piece);
    return true;
}

static void handler(int number, siginfo_t *info, void *context)
{
    uint64_t va = (uintptr_t)info->si_addr;
    struct region *g = current && info->si_code > 0 ? region_at(current, va) : NULL;
    (void)context;
    if (g && !bit(g->came, (va - g->m.va) / PIECE) &&
        fetch(current, g, (va - g->m.va) / PIECE))
        return;
    (void)signal(number, SIG_DFL); /* our own mistake: it comes again */
}

static void *reserve(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool map_region(struct region *g, struct emu *emu, char *why)
{
    uint64_t words = g->n_pieces / 64 + 1;
    g->known = reserve(g->m.bytes);
    g->came = calloc(words, sizeof *g->came);
    g->written = calloc(words, sizeof *g->written);
    if (!g->known || !g->came || !g->written) {
        (void)snprintf(why, WHY, "out of memory");
        return false;
    }
    void *at =
        mmap(host(g->m.va), g->m.bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != host(g->m.va)) {
        if (at != MAP_FAILED)
            munmap(at, g->m.bytes);
        (void)snprintf(why, WHY,
                       "the debugger itself uses addresses of the program (0x%" PRIx64
                       "): run it again",
                       g->m.va);
        return false;
    }
    g->mapped = true;
    if (emu_mem_add(emu, g->m.va, g->m.bytes, g->m.perm, g->m.name) == RD_OK)
        return true;
    (void)snprintf(why, WHY, "region 0x%" PRIx64 " of the program is not a region",
                   g->m.va);
    return false;
}

bool remote_map(struct remote *r, struct emu *emu, char *why)
{
    struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    for (unsigned i = 0; i < r->n; i++)
        if (!map_region(&r->regions[i], emu, why))
            return false;
    current = r;
    (void)sigaction(SIGSEGV, &sa, &r->old);
    return true;
}

void remote_keep(struct remote *r, uint64_t va, uint8_t *copy)
{
    for (unsigned i = 0; i < r->n; i++)
        if (r->regions[i].m.va == va)
            r->regions[i].copy = copy;
}

/* ---- changes ---- */

void remote_written(struct remote *r, uint64_t va, uint64_t bytes)
{
    struct region *g = region_at(r, va);
    for (uint64_t at = g ? va - g->m.va : 0, end = at + bytes;
         g && at < end && at < g->m.bytes; at = (at / PIECE + 1) * PIECE)
        set_bit(g->written, at / PIECE);
}

/* Whatever came may be something else now than the program has. */
void remote_went_back(struct remote *r)
{
    for (unsigned i = 0; i < r->n; i++) {
        struct region *g = &r->regions[i];
        for (uint64_t w = 0; g->mapped && w < g->n_pieces / 64 + 1; w++)
            g->written[w] |= g->came[w];
    }
}

/* The next run of bytes that differ, from *at on; its length, 0: none. */
static uint64_t differs(const uint8_t *a, const uint8_t *b, uint64_t n, uint64_t *at)
{
    uint64_t i = *at, end;
    while (i + 64 <= n && memcmp(a + i, b + i, 64) == 0)
        i += 64;
    while (i < n && a[i] == b[i])
        i++;
    for (end = i; end < n && a[end] != b[end];)
        end++;
    *at = i;
    return end - i;
}

static void push_piece(struct remote *r, struct region *g, uint64_t piece)
{
    uint64_t start = piece * PIECE, n = piece_bytes(g, piece), at = 0, run;
    const uint8_t *now = host(g->m.va + start);
    uint8_t *known = g->known + start;
    while ((run = differs(now, known, n, &at)) != 0) {
        send_to(r, WIRE_WRITE, g->m.va + start + at, now + at, run);
        memcpy(known + at, now + at, run);
        at += run;
    }
}

static void push(struct remote *r)
{
    for (unsigned i = 0; i < r->n; i++) {
        struct region *g = &r->regions[i];
        for (uint64_t w = 0; g->mapped && w < g->n_pieces / 64 + 1; w++) {
            uint64_t todo = g->written[w] & g->came[w];
            g->written[w] = 0;
            for (; todo; todo &= todo - 1)
                push_piece(r, g, w * 64 + (unsigned)__builtin_ctzll(todo));
        }
    }
}

/* What the program has changed of a piece. */
static bool pull_piece(struct session *s, struct region *g, uint64_t piece)
{
    static uint8_t theirs[PIECE];
    uint64_t start = piece * PIECE, n = piece_bytes(g, piece), at = 0, run;
    uint8_t *known = g->known + start;
    bool any = false;
    if (!remote_read(s->remote, g->m.va + start, theirs, n))
        return false;
    while ((run = differs(theirs, known, n, &at)) != 0) {
        memcpy(known + at, theirs + at, run);
        any |= inputs_add(s, g->m.va + start + at, theirs + at, (unsigned)run);
        at += run;
    }
    return any;
}

/* Some pieces, beginning where the last look has ended. */
static bool pull(struct session *s)
{
    struct remote *r = s->remote;
    uint64_t looked = 0;
    bool any = false;
    for (unsigned turns = 0; turns <= r->n && looked < LOOK_BYTES; turns++) {
        struct region *g = &r->regions[r->look_region];
        for (; g->mapped && r->look_piece < g->n_pieces && looked < LOOK_BYTES;
             r->look_piece++)
            if (bit(g->came, r->look_piece)) {
                any |= pull_piece(s, g, r->look_piece);
                looked += PIECE;
            }
        if (g->mapped && r->look_piece < g->n_pieces)
            break;
        r->look_piece = 0;
        r->look_region = (r->look_region + 1) % r->n;
    }
    return any;
}

void remote_exchange(struct session *s)
{
    struct remote *r = s->remote;
    if (s->now < r->next || r->lost)
        return;
    push(r);
    r->interval = pull(s) ? SOONEST : r->interval < LATEST ? 2 * r->interval : LATEST;
    r->next = s->now + r->interval;
    if (r->lost)
        s->interrupted = 1;
}

/* ---- surroundings ---- */

/* What has been sent already is not sent again. */
static void on_interrupt(void *ctx, const struct emu_interrupt *i)
{
    struct session *s = ctx;
    struct wire_interrupt out = {.interrupt = *i};
    if (s->now < s->frontier)
        return;
    if (i->cause)
        out.cause = *i->cause;
    push(s->remote); /* who hears of it finds what was written before */
    send_to(s->remote, WIRE_INTERRUPT, 0, &out, sizeof out);
}

const struct emu_queue *remote_queue(struct remote *r, struct session *s)
{
    r->queue = r->offer.queue;
    r->queue.interrupt = on_interrupt;
    r->queue.unreported = NULL;
    r->queue.ctx = s;
    return &r->queue;
}

const struct wire_dispatch *remote_dispatch(const struct remote *r)
{
    return &r->offer;
}

/* ---- open and close ---- */

static void close_remote(struct remote *r)
{
    for (unsigned i = 0; i < r->n; i++) {
        struct region *g = &r->regions[i];
        if (g->mapped)
            munmap(host(g->m.va), g->m.bytes);
        if (g->known)
            munmap(g->known, g->m.bytes);
        free(g->came);
        free(g->written);
    }
    if (current == r) {
        current = NULL;
        (void)sigaction(SIGSEGV, &r->old, NULL);
    }
    (void)close(r->fd);
    free(r->regions);
    free(r);
}

static bool take_offer(struct remote *r)
{
    struct wire_head head;
    if (!wire_get(r->fd, &head, sizeof head) || head.type != WIRE_OFFER ||
        head.bytes < sizeof r->offer || head.bytes > WIRE_LARGEST ||
        !wire_get(r->fd, &r->offer, sizeof r->offer) ||
        r->offer.size != sizeof r->offer ||
        head.bytes - sizeof r->offer != r->offer.n_regions * sizeof(struct emu_mem))
        return false;
    r->regions = calloc(r->offer.n_regions + 1ul, sizeof *r->regions);
    for (unsigned i = 0; r->regions && i < r->offer.n_regions; i++) {
        struct region *g = &r->regions[i];
        if (!wire_get(r->fd, &g->m, sizeof g->m) || g->m.va % 4096 || !g->m.bytes)
            return false;
        g->n_pieces = (g->m.bytes + PIECE - 1) / PIECE;
        r->n = i + 1;
    }
    r->offer.kernel[sizeof r->offer.kernel - 1] = '\0';
    return r->regions != NULL;
}

struct remote *remote_open(int fd)
{
    struct remote *r = calloc(1, sizeof *r);
    if (!r) {
        (void)close(fd);
        return NULL;
    }
    r->fd = fd;
    r->interval = r->next = SOONEST;
    if (take_offer(r))
        return r;
    close_remote(r);
    return NULL;
}

void remote_decline(struct remote *r)
{
    send_to(r, WIRE_DECLINE, 0, NULL, 0);
    close_remote(r);
}

void remote_finish(struct session *s)
{
    struct remote *r = s->remote;
    struct wire_done done = {.status = s->at_fault ? RD_E_FAULT : RD_OK};
    push(r);
    if (s->at_fault)
        done.fault = *emu_stepper_fault(s->stepper);
    emu_stepper_destroy(s->stepper, &done.stats);
    s->stepper = NULL;
    send_to(r, WIRE_DONE, 0, &done, sizeof done);
    s->remote = NULL;
    close_remote(r);
}
