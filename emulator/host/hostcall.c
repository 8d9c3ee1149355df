/* hostcall.c: a service of the host while a kernel runs: HIP's printf and what assert
 * says, as compilers make them unless they are told -mprintf-kind=buffered.
 *
 * A wave takes a packet from a stack of free ones, fills it, puts it onto the stack of
 * ready ones and spins until the host has taken its ready bit away. A thread looks at
 * that stack. Everything here is the kernel's to write: packets are found by our own
 * pointers, numbers are masked, chains and lengths have ends.
 * Sources: what __ockl_hostcall_internal and __ockl_printf_* of ROCm's device libraries
 * do; hidden_hostcall_buffer in LLVM AMDGPUUsage; amd_signal_t of the HSA runtime.
 * SPDX-License-Identifier: MIT
 */
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* No fewer than waves that can run at once: a free packet is taken for granted. */
#define PACKETS       4096u
#define HEADER_BYTES  24u
#define PAYLOAD_BYTES 4096u /* 64 lanes, 8 words each */
#define WORDS         8u
#define MOST_BYTES    (64u << 20) /* of messages that are not complete */
#define MOST_MESSAGES (1u << 20)
#define NAP_NS        20000

enum { /* byte offsets in the buffer, in a header, in a signal */
       AT_HEADERS = 0,
       AT_PAYLOADS = 8,
       AT_DOORBELL = 16,
       AT_FREE = 24,
       AT_READY = 32,
       AT_MASK = 40,
       AT_SIGNAL = 64, /* of ours */
       HEADERS_BEGIN = 192,
       IN_NEXT = 0,
       IN_LANES = 8,
       IN_SERVICE = 16,
       IN_CONTROL = 20
};

enum { SERVICE_PRINTF = 2 };

/* A word that describes what a packet has of a message: bits. */
enum { DESC_BEGIN = 1, DESC_END = 2, DESC_WORDS_SHIFT = 5, DESC_ID_SHIFT = 8 };

struct message {
    uint64_t *word;
    size_t n, room, next; /* next: of those that are free */
    bool open;
};

struct la_hostcall {
    uint8_t *buffer; /* NULL: the kernel has none */
    FILE *out;
    pthread_t thread;
    bool running, stop;
    struct message *message;
    size_t n_messages, free, bytes; /* free: the first, from 1 */
    uint32_t unknown;               /* a service that nobody has; 0: none was asked */
    bool broken;
};

static uint64_t load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void store64(void *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

/* ---- messages -------------------------------------------------------------------- */

/* A message's name is the number of its place, from 1. */
static struct message *find(struct la_hostcall *h, uint64_t id)
{
    struct message *m = id && id <= h->n_messages ? &h->message[id - 1] : NULL;
    return m && m->open ? m : NULL;
}

static struct message *begin(struct la_hostcall *h)
{
    if (!h->free) {
        size_t n = h->n_messages, room = n ? 2 * n : 64;
        struct message *more =
            n < MOST_MESSAGES ? realloc(h->message, room * sizeof *more) : NULL;
        if (!more)
            return NULL;
        memset(more + n, 0, (room - n) * sizeof *more);
        h->message = more;
        h->n_messages = room;
        for (size_t i = room; i-- > n; h->free = i + 1)
            more[i].next = h->free;
    }
    struct message *m = &h->message[h->free - 1];
    h->free = m->next;
    m->open = true;
    m->n = 0;
    return m;
}

static void end(struct la_hostcall *h, struct message *m)
{
    m->open = false;
    m->next = h->free;
    h->free = (size_t)(m - h->message) + 1;
}

static bool append(struct la_hostcall *h, struct message *m, const uint8_t *words,
                   size_t n)
{
    if (m->n + n > m->room) {
        size_t room = m->room ? 2 * m->room : 32;
        if (h->bytes + 8 * (room - m->room) > MOST_BYTES)
            return false;
        uint64_t *more = realloc(m->word, room * sizeof *more);
        if (!more)
            return false;
        h->bytes += 8 * (room - m->room);
        m->word = more;
        m->room = room;
    }
    if (n) /* else there may be no memory yet */
        memcpy(m->word + m->n, words, 8 * n);
    m->n += n;
    return true;
}

/* A whole one: where it goes, then format and arguments. Returns what printf does. */
static uint64_t tell(struct la_hostcall *h, const struct message *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    bool good = f && m->n >= 2 &&
                la_print_message((const uint8_t *)(m->word + 1), 8 * (m->n - 1), f);
    if (f)
        (void)fclose(f);
    if (text)
        (void)fwrite(text, 1, bytes, m->n && m->word[0] == 1 ? stderr : h->out);
    free(text);
    h->broken |= !good;
    return good ? bytes : UINT64_MAX;
}

/* One lane's words of a packet; answers in the first. */
static void printf_lane(struct la_hostcall *h, uint8_t *word)
{
    uint64_t desc = load64(word), id = desc >> DESC_ID_SHIFT;
    struct message *m = desc & DESC_BEGIN ? begin(h) : find(h, id);
    if (!m || !append(h, m, word + 8, desc >> DESC_WORDS_SHIFT & 7)) {
        h->broken = true;
        store64(word, 0);
        return;
    }
    store64(word, ((uint64_t)(m - h->message) + 1) << DESC_ID_SHIFT);
    if (desc & DESC_END) {
        store64(word, tell(h, m));
        end(h, m);
    }
}

/* ---- packets --------------------------------------------------------------------- */

static uint8_t *header(const struct la_hostcall *h, uint64_t number)
{
    return h->buffer + HEADERS_BEGIN + (number & (PACKETS - 1)) * HEADER_BYTES;
}

static uint8_t *payload(const struct la_hostcall *h, uint64_t number)
{
    return h->buffer + HEADERS_BEGIN + PACKETS * HEADER_BYTES +
           (number & (PACKETS - 1)) * PAYLOAD_BYTES;
}

static void answer(struct la_hostcall *h, uint64_t number)
{
    uint8_t *head = header(h, number);
    uint64_t lanes = load64(head + IN_LANES);
    void *at = head + IN_CONTROL;
    uint32_t service, *control = at;
    memcpy(&service, head + IN_SERVICE, sizeof service);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint8_t *word = payload(h, number) + 8 * (size_t)WORDS * lane;
        if (!(lanes >> lane & 1))
            continue;
        if (service == SERVICE_PRINTF) {
            printf_lane(h, word);
            continue;
        }
        h->unknown = service ? service : UINT32_MAX;
        memset(word, 0, 16);
    }
    __atomic_store_n(control, 0, __ATOMIC_RELEASE);
}

/* What is ready, the first that came first; false: nothing was. */
static bool answer_ready(struct la_hostcall *h)
{
    void *at = h->buffer + AT_READY;
    uint64_t *ready = at;
    uint32_t order[PACKETS], n = 0;
    if (!__atomic_load_n(ready, __ATOMIC_RELAXED))
        return false;
    uint64_t top = __atomic_exchange_n(ready, 0, __ATOMIC_ACQUIRE);
    for (; top && n < PACKETS; top = load64(header(h, top) + IN_NEXT))
        order[n++] = (uint32_t)(top & (PACKETS - 1));
    for (uint32_t i = n; i-- > 0;)
        answer(h, order[i]);
    return n > 0;
}

static void *serve(void *arg)
{
    struct la_hostcall *h = arg;
    while (!__atomic_load_n(&h->stop, __ATOMIC_ACQUIRE))
        if (!answer_ready(h))
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    while (answer_ready(h))
        ;
    return NULL;
}

/* ---- what others see ---------------------------------------------------------------
 */

rd_status la_answer(struct la *la, FILE *out)
{
    if (!la->hostcall)
        la->hostcall = calloc(1, sizeof *la->hostcall);
    if (!la->hostcall)
        return RD_E_NOMEM;
    la->hostcall->out = out;
    return RD_OK;
}

rd_status la_hostcall_buffer(struct la *la, uint64_t *gpuva, struct la_error *err)
{
    struct la_hostcall *h = la->hostcall;
    uint64_t bytes = HEADERS_BEGIN + (uint64_t)PACKETS * (HEADER_BYTES + PAYLOAD_BYTES);
    void *buffer;
    rd_status st = la_alloc(la, bytes, EMU_MEM_READ | EMU_MEM_WRITE, "hostcall buffer",
                            &buffer, err);
    if (st != RD_OK)
        return st;
    h->buffer = buffer;
    for (uint64_t i = 0; i + 1 < PACKETS; i++) /* numbers above the mask are tags */
        store64(header(h, i) + IN_NEXT, PACKETS + i + 1);
    store64(h->buffer + AT_HEADERS, (uintptr_t)header(h, 0));
    store64(h->buffer + AT_PAYLOADS, (uintptr_t)payload(h, 0));
    store64(h->buffer + AT_DOORBELL, (uintptr_t)h->buffer + AT_SIGNAL);
    store64(h->buffer + AT_FREE, PACKETS);
    store64(h->buffer + AT_MASK, PACKETS - 1);
    *gpuva = (uintptr_t)buffer;
    return RD_OK;
}

rd_status la_answer_begin(struct la *la)
{
    struct la_hostcall *h = la->hostcall;
    if (!h || !h->buffer || h->running)
        return RD_OK;
    h->stop = false;
    h->running = pthread_create(&h->thread, NULL, serve, h) == 0;
    return h->running ? RD_OK : RD_E_NOMEM;
}

bool la_answers(const struct la *la)
{
    return la->hostcall && la->hostcall->running;
}

bool la_asked(const struct la *la)
{
    const struct la_hostcall *h = la->hostcall;
    if (!la_answers(la))
        return false;
    /* a packet that comes back has another tag */
    const void *at = h->buffer + AT_FREE;
    const uint64_t *free_ones = at;
    return __atomic_load_n(free_ones, __ATOMIC_RELAXED) != PACKETS;
}

enum la_printed la_answer_end(struct la *la, uint32_t *service)
{
    struct la_hostcall *h = la->hostcall;
    *service = 0;
    if (!h || !h->running)
        return LA_PRINTED_ALL;
    __atomic_store_n(&h->stop, true, __ATOMIC_RELEASE);
    pthread_join(h->thread, NULL);
    h->running = false;
    *service = h->unknown;
    return h->broken ? LA_PRINTED_BROKEN : LA_PRINTED_ALL;
}

void la_hostcall_gone(struct la *la, const void *base)
{
    if (la->hostcall && la->hostcall->buffer == base)
        la->hostcall->buffer = NULL;
}

void la_hostcall_free(struct la *la)
{
    struct la_hostcall *h = la->hostcall;
    uint32_t service;
    if (!h)
        return;
    (void)la_answer_end(la, &service);
    for (size_t i = 0; i < h->n_messages; i++)
        free(h->message[i].word);
    free(h->message);
    free(h);
    la->hostcall = NULL;
}
