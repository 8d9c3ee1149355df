/* vfio_user.c: a board as a device of a virtual machine, by the vfio-user protocol.
 *
 * Messages on a stream socket: a header, a payload, descriptors beside it. The memory
 * of the guest comes as descriptors, that of the board goes as one; everything else is
 * accesses, answered at once. Must not know a register. Source: QEMU's
 * docs/interop/vfio-user.rst. SPDX-License-Identifier: MIT
 */
#include "vfio_user.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "latency.h"

enum command {
    VERSION = 1,
    DMA_MAP = 2,
    DMA_UNMAP = 3,
    GET_INFO = 4,
    GET_REGION_INFO = 5,
    GET_IRQ_INFO = 7,
    SET_IRQS = 8,
    REGION_READ = 9,
    REGION_WRITE = 10,
    DEVICE_RESET = 13,
};

#define FLAG_REPLY    1u
#define FLAG_NO_REPLY 0x10u
#define FLAG_ERROR    0x20u
#define TRANSFER_MAX  (1u << 20)
#define PAYLOAD_MAX   (TRANSFER_MAX + 64u)
#define FDS_MAX       8u
#define REGIONS       9u
#define REGION_CONFIG 7u
#define IRQS          5u
#define IRQ_MSI       1u
#define DMA_WRITABLE  2u

struct header {
    uint16_t id, command;
    uint32_t size, flags, error;
};
_Static_assert(sizeof(struct header) == 16, "a header has 16 bytes");

struct vfio_user {
    pthread_mutex_t lock; /* the descriptor */
    int msi;              /* where the interrupt goes; -1: nowhere */
};

struct session {
    struct vfio_user *v;
    struct pci_board *board;
    int fd;
    struct latency latency;
    struct header header;
    uint8_t *payload; /* of PAYLOAD_MAX */
    uint32_t bytes;
    int fds[FDS_MAX];
    unsigned n_fds;
};

rd_status vfio_user_create(struct vfio_user **out)
{
    struct vfio_user *v = calloc(1, sizeof(*v));
    if (!v)
        return RD_E_NOMEM;
    pthread_mutex_init(&v->lock, NULL);
    v->msi = -1;
    *out = v;
    return RD_OK;
}

static void set_msi(struct vfio_user *v, int fd)
{
    pthread_mutex_lock(&v->lock);
    if (v->msi >= 0)
        close(v->msi);
    v->msi = fd;
    pthread_mutex_unlock(&v->lock);
}

void vfio_user_destroy(struct vfio_user *v)
{
    if (!v)
        return;
    set_msi(v, -1);
    pthread_mutex_destroy(&v->lock);
    free(v);
}

void vfio_user_msi(void *ctx)
{
    struct vfio_user *v = ctx;
    uint64_t one = 1;
    pthread_mutex_lock(&v->lock);
    if (v->msi >= 0)
        (void)!write(v->msi, &one, sizeof(one));
    pthread_mutex_unlock(&v->lock);
}

/* ---- messages ----------------------------------------------------------------------
 */

static void drop_fds(struct session *s)
{
    for (unsigned i = 0; i < s->n_fds; i++)
        close(s->fds[i]);
    s->n_fds = 0;
}

static void keep_fds(struct session *s, struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (s->n_fds < FDS_MAX)
                s->fds[s->n_fds++] = fd;
            else
                close(fd);
        }
    }
}

/* It has failed: is it to be tried again? */
static bool once_more(struct session *s)
{
    return errno == EINTR || (errno == EAGAIN && latency_again(&s->latency));
}

static bool receive(struct session *s, void *to, size_t bytes)
{
    uint8_t *p = to;
    while (bytes) {
        _Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX * sizeof(int))];
        struct iovec io = {.iov_base = p, .iov_len = bytes};
        struct msghdr m = {.msg_iov = &io,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof(control)};
        ssize_t n = recvmsg(s->fd, &m, MSG_CMSG_CLOEXEC | latency_flags(&s->latency));
        if (n < 0 && once_more(s))
            continue;
        if (n <= 0)
            return false;
        keep_fds(s, &m);
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Send a header and what follows it in one piece, so that who waits wakes once. */
static bool send_all(struct session *s, struct header *h, int pass)
{
    struct iovec io[2] = {{h, sizeof(*h)}, {s->payload, h->size - sizeof(*h)}},
                 *at = io;
    while (at < io + 2) {
        _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
        struct msghdr m = {.msg_iov = at, .msg_iovlen = (size_t)(io + 2 - at)};
        if (pass >= 0) {
            m.msg_control = control;
            m.msg_controllen = sizeof(control);
            struct cmsghdr *c = CMSG_FIRSTHDR(&m);
            c->cmsg_level = SOL_SOCKET;
            c->cmsg_type = SCM_RIGHTS;
            c->cmsg_len = CMSG_LEN(sizeof(int));
            memcpy(CMSG_DATA(c), &pass, sizeof(pass));
        }
        ssize_t n = sendmsg(s->fd, &m, MSG_NOSIGNAL | latency_flags(&s->latency));
        if (n < 0 && once_more(s))
            continue;
        if (n <= 0)
            return false;
        pass = -1; /* it has gone with the first bytes */
        size_t sent = (size_t)n;
        for (; at < io + 2 && sent >= at->iov_len; at++)
            sent -= at->iov_len;
        if (at < io + 2) {
            at->iov_base = (uint8_t *)at->iov_base + sent;
            at->iov_len -= sent;
        }
    }
    return true;
}

/* Answer with what is in the payload. */
static bool reply(struct session *s, uint32_t bytes, int pass)
{
    struct header h = {.id = s->header.id,
                       .command = s->header.command,
                       .size = (uint32_t)sizeof(h) + bytes,
                       .flags = FLAG_REPLY};
    return s->header.flags & FLAG_NO_REPLY || send_all(s, &h, pass);
}

static bool refuse(struct session *s, int error)
{
    struct header h = {.id = s->header.id,
                       .command = s->header.command,
                       .size = sizeof(h),
                       .flags = FLAG_REPLY | FLAG_ERROR,
                       .error = (uint32_t)error};
    return s->header.flags & FLAG_NO_REPLY || send_all(s, &h, -1);
}

static uint32_t get32(const struct session *s, uint32_t at)
{
    uint32_t v = 0;
    if (at + 4 <= s->bytes)
        memcpy(&v, s->payload + at, sizeof(v));
    return v;
}

static uint64_t get64(const struct session *s, uint32_t at)
{
    return get32(s, at) | (uint64_t)get32(s, at + 4) << 32;
}

static void put32(struct session *s, uint32_t at, uint32_t v)
{
    memcpy(s->payload + at, &v, sizeof(v));
}

static void put64(struct session *s, uint32_t at, uint64_t v)
{
    memcpy(s->payload + at, &v, sizeof(v));
}

/* ---- commands ----------------------------------------------------------------------
 */

static bool version(struct session *s)
{
    static const char text[] =
        "{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":1048576,"
        "\"pgsizes\":4096,\"max_dma_maps\":512}}";
    if (s->bytes < 4)
        return refuse(s, EINVAL);
    memcpy(s->payload + 4, text, sizeof(text));
    return reply(s, 4 + sizeof(text), -1);
}

static bool dma_map(struct session *s)
{
    uint64_t offset = get64(s, 8), bus = get64(s, 16), bytes = get64(s, 24);
    if (s->bytes < 32)
        return refuse(s, EINVAL);
    if (!s->n_fds) /* a window of the board itself, or what nobody shares */
        return reply(s, 0, -1);
    rd_status st = pci_memory_add(s->board, bus, bytes, s->fds[0], offset,
                                  get32(s, 4) & DMA_WRITABLE);
    return st == RD_OK ? reply(s, 0, -1)
                       : refuse(s, st == RD_E_NOMEM ? ENOMEM : EINVAL);
}

static bool dma_unmap(struct session *s)
{
    if (s->bytes < 24)
        return refuse(s, EINVAL);
    (void)!pci_memory_remove(s->board, get64(s, 8), get64(s, 16));
    return reply(s, 24, -1);
}

static bool get_info(struct session *s)
{
    put32(s, 0, 16);
    put32(s, 4, 2u | 1u); /* a PCI function that can be reset */
    put32(s, 8, REGIONS);
    put32(s, 12, IRQS);
    return reply(s, 16, -1);
}

static uint64_t region_bytes(const struct session *s, uint32_t region)
{
    return region == REGION_CONFIG ? PCI_CONFIG_BYTES : pci_bar_bytes(s->board, region);
}

static bool get_region_info(struct session *s)
{
    uint32_t region = get32(s, 8);
    uint64_t bytes = region_bytes(s, region);
    bool mapped = region == PCI_BAR_VRAM;
    if (s->bytes < 12 || region >= REGIONS)
        return refuse(s, EINVAL);
    memset(s->payload, 0, 32);
    put32(s, 0, 32);
    put32(s, 4, !bytes ? 0 : region == PCI_BAR_ROM ? 1 : mapped ? 7 : 3);
    put32(s, 8, region);
    put64(s, 16, bytes);
    return reply(s, 32, mapped ? pci_vram_file(s->board) : -1);
}

static bool get_irq_info(struct session *s)
{
    uint32_t index = get32(s, 8);
    if (s->bytes < 12 || index >= IRQS)
        return refuse(s, EINVAL);
    put32(s, 0, 16);
    put32(s, 4, 1); /* by a descriptor */
    put32(s, 8, index);
    put32(s, 12, index <= IRQ_MSI);
    return reply(s, 16, -1);
}

static bool set_irqs(struct session *s)
{
    uint32_t index = get32(s, 8), count = get32(s, 16);
    if (s->bytes < 20 || index >= IRQS || count > 1)
        return refuse(s, EINVAL);
    if (index == IRQ_MSI) {
        set_msi(s->v, count && s->n_fds ? s->fds[0] : -1);
        if (count && s->n_fds) { /* it stays */
            s->n_fds--;
            memmove(s->fds, s->fds + 1, s->n_fds * sizeof(int));
        }
    }
    return reply(s, 0, -1);
}

static bool region_access(struct session *s, bool write)
{
    uint64_t offset = get64(s, 0);
    uint32_t region = get32(s, 8), count = get32(s, 12);
    uint8_t *data = s->payload + 16;
    if (s->bytes < 16 || region >= REGIONS || count > TRANSFER_MAX ||
        offset > region_bytes(s, region) || region_bytes(s, region) - offset < count ||
        (write && s->bytes < 16 + count))
        return refuse(s, EINVAL);
    if (region == PCI_BAR_DOORBELLS && write)
        latency_work(&s->latency);
    if (region == REGION_CONFIG && write)
        pci_config_write(s->board, (uint32_t)offset, data, count);
    else if (region == REGION_CONFIG)
        pci_config_read(s->board, (uint32_t)offset, data, count);
    else if (write)
        pci_bar_write(s->board, region, offset, data, count);
    else
        pci_bar_read(s->board, region, offset, data, count);
    return reply(s, write ? 16 : 16 + count, -1);
}

static bool execute(struct session *s)
{
    switch (s->header.command) {
    case VERSION:
        return version(s);
    case DMA_MAP:
        return dma_map(s);
    case DMA_UNMAP:
        return dma_unmap(s);
    case GET_INFO:
        return get_info(s);
    case GET_REGION_INFO:
        return get_region_info(s);
    case GET_IRQ_INFO:
        return get_irq_info(s);
    case SET_IRQS:
        return set_irqs(s);
    case REGION_READ:
    case REGION_WRITE:
        return region_access(s, s->header.command == REGION_WRITE);
    case DEVICE_RESET:
        pci_reset(s->board);
        return reply(s, 0, -1);
    default:
        return refuse(s, ENOTSUP);
    }
}

/* False: it has gone, or what it sends is no message. */
static bool get_message(struct session *s)
{
    struct header *h = &s->header;
    drop_fds(s);
    latency_wait(&s->latency);
    if (!receive(s, h, sizeof(*h)) || h->size < sizeof(*h) ||
        h->size - sizeof(*h) > PAYLOAD_MAX || h->flags & 15u)
        return false;
    s->bytes = h->size - (uint32_t)sizeof(*h);
    return receive(s, s->payload, s->bytes);
}

void vfio_user_talk(struct vfio_user *v, struct pci_board *board, int fd)
{
    struct session s = {
        .v = v, .board = board, .fd = fd, .payload = calloc(1, PAYLOAD_MAX)};
    pci_thread_urgent(true);
    latency_begin(&s.latency, fd, LATENCY_DEVICE);
    while (s.payload && get_message(&s) && execute(&s))
        ;
    latency_end(&s.latency);
    pci_thread_urgent(false);
    drop_fds(&s);
    free(s.payload);
    set_msi(v, -1);
    pci_reset(board);
    (void)!pci_memory_remove(board, 0, UINT64_MAX);
    pci_reset(board); /* nobody uses what has been removed */
}

/* ---- clients -----------------------------------------------------------------------
 */

/* The name appears when somebody listens: whoever waits for it may connect at once. So
 * the socket has another one until then. link, not rename: what has the name already
 * stays. */
rd_status vfio_user_listen(const char *path, int *fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (snprintf(at.sun_path, sizeof(at.sun_path), "%s.new", path) >=
        (int)sizeof(at.sun_path)) {
        errno = ENAMETOOLONG;
        return RD_E_INVALID;
    }
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return RD_E_IO;
    bool bound = bind(s, (struct sockaddr *)&at, sizeof(at)) == 0;
    bool ok = bound && listen(s, 1) == 0 && link(at.sun_path, path) == 0;
    int why = errno;
    if (bound)
        (void)unlink(at.sun_path);
    if (!ok) {
        close(s);
        errno = why;
        return RD_E_IO;
    }
    *fd = s;
    return RD_OK;
}

rd_status vfio_user_serve(struct vfio_user *v, struct pci_board *board, int fd,
                          bool once, const atomic_bool *stop,
                          void (*say)(void *ctx, const char *text), void *ctx)
{
    while (!atomic_load(stop)) {
        int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            return atomic_load(stop) ? RD_OK : RD_E_IO;
        }
        say(ctx, "a virtual machine has come");
        vfio_user_talk(v, board, client);
        close(client);
        say(ctx, "the virtual machine has gone");
        if (once)
            break;
    }
    return RD_OK;
}
