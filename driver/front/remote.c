/* remote.c: a board behind a TCP port.
 *
 * The protocol is that of tinygrad's PCI runtime: requests of 33 bytes, answered in
 * order; writes have no answer. Memory of the client's machine, as the board sees it,
 * is the server's: one file, handed out in order, empty again for the next client. Must
 * not know a register. SPDX-License-Identifier: MIT
 */
#include "remote.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum command {
    PROBE,
    MAP_BAR,
    MAP_SYSMEM_FD,
    CFG_READ,
    CFG_WRITE,
    RESET,
    MMIO_READ,
    MMIO_WRITE,
    MAP_SYSMEM,
    SYSMEM_READ,
    SYSMEM_WRITE,
    RESIZE_BAR,
    PING,
};

#define REQUEST_BYTES 33u
#define REPLY_BYTES   17u
#define IN_BYTES      (1u << 20)
#define OUT_BYTES     (1u << 20)
#define PAGE          4096ull
#define HOST_BUS      (1ull << 40) /* where the board sees the client's memory */
#define HOST_BYTES    (64ull << 30)
#define HOST_PIECES   65536u
#define PROBE_MAX     4096u
#define DEVICE_NAME   "0000:03:00:0"

struct request {
    uint8_t command;
    uint32_t device, bar;
    uint64_t a[3];
};

/* The client's memory. */
struct host_memory {
    int fd;
    uint8_t *host;
    uint64_t used;
    struct {
        uint64_t at, bytes;
    } piece[HOST_PIECES];
    uint32_t n;
};

struct connection {
    struct pci_board *board;
    struct host_memory *memory;
    int fd;
    bool broken;
    uint8_t *in, *out;
    size_t in_at, in_end, out_end;
};

/* ---- bytes -------------------------------------------------------------------------
 */

static void flush(struct connection *c)
{
    size_t at = 0;
    while (at < c->out_end && !c->broken) {
        ssize_t n = send(c->fd, c->out + at, c->out_end - at, MSG_NOSIGNAL);
        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && errno != EINTR)
            c->broken = true;
    }
    c->out_end = 0;
}

static void put(struct connection *c, const void *p, size_t bytes)
{
    const uint8_t *from = p;
    while (bytes && !c->broken) {
        size_t room = OUT_BYTES - c->out_end, n = bytes < room ? bytes : room;
        memcpy(c->out + c->out_end, from, n);
        c->out_end += n;
        from += n;
        bytes -= n;
        if (c->out_end == OUT_BYTES)
            flush(c);
    }
}

static bool fill(struct connection *c)
{
    flush(c); /* the client may wait for it before it sends more */
    for (;;) {
        ssize_t n = recv(c->fd, c->in, IN_BYTES, 0);
        if (n > 0) {
            c->in_at = 0;
            c->in_end = (size_t)n;
            return true;
        }
        if (n == 0 || errno != EINTR) {
            c->broken = true;
            return false;
        }
    }
}

static bool get(struct connection *c, void *p, size_t bytes)
{
    uint8_t *to = p;
    while (bytes) {
        if (c->in_at == c->in_end && !fill(c))
            return false;
        size_t left = c->in_end - c->in_at, n = bytes < left ? bytes : left;
        memcpy(to, c->in + c->in_at, n);
        c->in_at += n;
        to += n;
        bytes -= n;
    }
    return true;
}

static uint64_t number(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static bool get_request(struct connection *c, struct request *r)
{
    uint8_t b[REQUEST_BYTES];
    if (!get(c, b, sizeof(b)))
        return false;
    *r = (struct request){.command = b[0],
                          .device = (uint32_t)number(b + 1, 4),
                          .bar = (uint32_t)number(b + 5, 4)};
    for (unsigned i = 0; i < 3; i++)
        r->a[i] = number(b + 9 + 8ul * i, 8);
    return true;
}

static void reply(struct connection *c, uint8_t status, uint64_t r0, uint64_t r1)
{
    uint8_t b[REPLY_BYTES] = {status};
    for (unsigned i = 0; i < 8; i++) {
        b[1 + i] = (uint8_t)(r0 >> 8 * i);
        b[9 + i] = (uint8_t)(r1 >> 8 * i);
    }
    put(c, b, sizeof(b));
}

static void refuse(struct connection *c, const char *why)
{
    reply(c, 1, strlen(why), 0);
    put(c, why, strlen(why));
}

/* ---- requests ----------------------------------------------------------------------
 */

/* Pairs of mask and device. */
static void probe(struct connection *c, const struct request *r)
{
    uint8_t ids[PROBE_MAX];
    uint32_t own, class;
    bool found = false;
    if (r->a[1] > sizeof(ids)) {
        c->broken = true;
        return;
    }
    if (!get(c, ids, r->a[1]))
        return;
    pci_config_read(c->board, 0, &own, sizeof(own));
    pci_config_read(c->board, 8, &class, sizeof(class));
    for (uint64_t i = 0; i + 8 <= r->a[1]; i += 8) {
        uint32_t mask = (uint32_t)number(ids + i, 4);
        found = found || ((own >> 16) & mask) == (uint32_t)number(ids + i + 4, 4);
    }
    found = found && (own & 0xffff) == r->a[2] && (!r->a[0] || class >> 24 == r->a[0]);
    const char *text = found ? DEVICE_NAME : "";
    reply(c, 0, strlen(text), found);
    put(c, text, strlen(text));
}

static void config(struct connection *c, const struct request *r)
{
    uint32_t value = (uint32_t)r->a[2], bytes = (uint32_t)r->a[1];
    if (bytes > 4 || r->a[0] >= PCI_CONFIG_BYTES) {
        refuse(c, "configuration space is read and written by up to 4 bytes");
        return;
    }
    if (r->command == CFG_WRITE) {
        pci_config_write(c->board, (uint32_t)r->a[0], &value, bytes);
        reply(c, 0, 0, 0);
        return;
    }
    value = 0;
    pci_config_read(c->board, (uint32_t)r->a[0], &value, bytes);
    reply(c, 0, value, 0);
}

static bool in_bar(const struct connection *c, const struct request *r)
{
    uint64_t size = pci_bar_bytes(c->board, r->bar);
    return r->a[0] <= size && size - r->a[0] >= r->a[1];
}

static void bar_read(struct connection *c, const struct request *r)
{
    uint8_t piece[4096];
    if (!in_bar(c, r)) {
        refuse(c, "a read beyond its window");
        return;
    }
    reply(c, 0, r->a[1], 0);
    for (uint64_t done = 0, n; done < r->a[1] && !c->broken; done += n) {
        n = r->a[1] - done < sizeof(piece) ? r->a[1] - done : sizeof(piece);
        pci_bar_read(c->board, r->bar, r->a[0] + done, piece, n);
        put(c, piece, n);
    }
}

/* One beyond its window goes nowhere, as on the bus. */
static void bar_write(struct connection *c, const struct request *r)
{
    uint8_t piece[4096];
    bool inside = in_bar(c, r);
    for (uint64_t done = 0, n; done < r->a[1]; done += n) {
        n = r->a[1] - done < sizeof(piece) ? r->a[1] - done : sizeof(piece);
        if (!get(c, piece, n))
            return;
        if (inside)
            pci_bar_write(c->board, r->bar, r->a[0] + done, piece, n);
    }
}

static void map_host(struct connection *c, const struct request *r)
{
    struct host_memory *m = c->memory;
    uint64_t bytes = (r->a[0] + PAGE - 1) & ~(PAGE - 1), at = m->used;
    if (!bytes || bytes < r->a[0] || bytes > HOST_BYTES - at || m->n == HOST_PIECES) {
        refuse(c, "no more memory for the board to see");
        return;
    }
    m->piece[m->n].at = at;
    m->piece[m->n].bytes = bytes;
    m->used += bytes;
    reply(c, 0, bytes / PAGE * 8, m->n++);
    for (uint64_t page = 0; page < bytes && !c->broken; page += PAGE) {
        uint64_t bus = HOST_BUS + at + page;
        put(c, &bus, sizeof(bus));
    }
}

/* Where a piece has the bytes; NULL: nowhere. */
static uint8_t *host_bytes(const struct connection *c, const struct request *r)
{
    const struct host_memory *m = c->memory;
    if (r->bar >= m->n || r->a[0] > m->piece[r->bar].bytes ||
        m->piece[r->bar].bytes - r->a[0] < r->a[1])
        return NULL;
    return m->host + m->piece[r->bar].at + r->a[0];
}

static void host_read(struct connection *c, const struct request *r)
{
    const uint8_t *p = host_bytes(c, r);
    if (!p) {
        refuse(c, "a read beyond the memory");
        return;
    }
    reply(c, 0, r->a[1], 0);
    put(c, p, r->a[1]);
}

static void host_write(struct connection *c, const struct request *r)
{
    uint8_t *p = host_bytes(c, r), nowhere[4096];
    if (p) {
        (void)!get(c, p, r->a[1]);
        return;
    }
    for (uint64_t left = r->a[1], n; left; left -= n) {
        n = left < sizeof(nowhere) ? left : sizeof(nowhere);
        if (!get(c, nowhere, n))
            return;
    }
}

static void serve_request(struct connection *c, const struct request *r)
{
    switch (r->command) {
    case PROBE:
        probe(c, r);
        break;
    case MAP_BAR:
        reply(c, 0, 0, pci_bar_bytes(c->board, r->bar));
        break;
    case CFG_READ:
    case CFG_WRITE:
        config(c, r);
        break;
    case RESET:
        pci_reset(c->board);
        reply(c, 0, 0, 0);
        break;
    case MMIO_READ:
        bar_read(c, r);
        break;
    case MMIO_WRITE:
        bar_write(c, r);
        break;
    case MAP_SYSMEM:
        map_host(c, r);
        break;
    case SYSMEM_READ:
        host_read(c, r);
        break;
    case SYSMEM_WRITE:
        host_write(c, r);
        break;
    case PING:
        reply(c, 0, 0, 0);
        break;
    default:
        refuse(c, "the board does not know this request");
    }
}

/* ---- clients -----------------------------------------------------------------------
 */

static void serve(struct connection *c)
{
    struct request r;
    int one = 1;
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    while (!c->broken && get_request(c, &r))
        serve_request(c, &r);
}

/* The next client finds zeros. */
static void forget_memory(struct host_memory *m)
{
    if (m->used)
        (void)fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                        (off_t)m->used);
    m->used = 0;
    m->n = 0;
}

static rd_status make_memory(struct pci_board *board, struct host_memory **out)
{
    struct host_memory *m = calloc(1, sizeof(*m));
    if (!m)
        return RD_E_NOMEM;
    m->fd = memfd_create("rdna3 host", MFD_CLOEXEC);
    m->host = MAP_FAILED;
    if (m->fd >= 0 && ftruncate(m->fd, (off_t)HOST_BYTES) == 0)
        m->host = mmap(NULL, HOST_BYTES, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_NORESERVE, m->fd, 0);
    rd_status st = m->host == MAP_FAILED
                       ? RD_E_NOMEM
                       : pci_memory_add(board, HOST_BUS, HOST_BYTES, m->fd, 0, true);
    if (st != RD_OK) {
        if (m->fd >= 0)
            close(m->fd);
        if (m->host != MAP_FAILED)
            munmap(m->host, HOST_BYTES);
        free(m);
        return st;
    }
    *out = m;
    return RD_OK;
}

rd_status remote_listen(uint16_t *port, int *fd)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(*port)};
    socklen_t size = sizeof(at);
    int one = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s < 0)
        return RD_E_IO;
    (void)setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(s, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(s, 4) != 0 ||
        getsockname(s, (struct sockaddr *)&at, &size) != 0) {
        close(s);
        return RD_E_IO;
    }
    *port = ntohs(at.sin_port);
    *fd = s;
    return RD_OK;
}

static rd_status serve_all(struct connection *c, int fd, bool once,
                           const atomic_bool *stop,
                           void (*say)(void *ctx, const char *text), void *ctx)
{
    while (!atomic_load(stop)) {
        c->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (c->fd < 0) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            return atomic_load(stop) ? RD_OK : RD_E_IO;
        }
        c->broken = false;
        c->in_at = c->in_end = c->out_end = 0;
        say(ctx, "a driver has come");
        serve(c);
        close(c->fd);
        forget_memory(c->memory);
        say(ctx, "the driver has gone");
        if (once)
            break;
    }
    return RD_OK;
}

rd_status remote_serve(struct pci_board *board, int fd, bool once,
                       const atomic_bool *stop,
                       void (*say)(void *ctx, const char *text), void *ctx)
{
    struct connection c = {
        .board = board, .in = malloc(IN_BYTES), .out = malloc(OUT_BYTES)};
    rd_status st = c.in && c.out ? make_memory(board, &c.memory) : RD_E_NOMEM;
    if (st == RD_OK) {
        st = serve_all(&c, fd, once, stop, say, ctx);
        munmap(c.memory->host, HOST_BYTES);
        close(c.memory->fd);
        free(c.memory);
        (void)!pci_memory_remove(board, HOST_BUS, HOST_BYTES);
    }
    free(c.in);
    free(c.out);
    return st;
}
