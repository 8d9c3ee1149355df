/* fuzz_remote.c: a client of the TCP protocol that means ill: requests in any order, of
 * any size, with payloads that are missing or too long. The board may refuse or hang
 * up; it must not fall, and it serves the next client.
 *
 * An input is a row of records of 16 bytes: command, window, how the numbers are meant,
 * bytes of payload that are sent too few; three numbers.
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pci.h"
#include "remote.h"

#define VRAM          (256ull << 20)
#define RECORD        16u
#define REQUEST_BYTES 33u
#define COMMANDS      14u /* one more than there are */
#define PAYLOAD       (256u << 10)

enum { PROBE = 0, MMIO_WRITE = 7, MAP_SYSMEM = 8, SYSMEM_WRITE = 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pci_board *board;
static int listener;
static uint16_t port;
static uint8_t payload[PAYLOAD];

static void quiet(void *ctx, const char *text)
{
    (void)ctx, (void)text;
}

static void make(void)
{
    struct pci_config config = {.vram_bytes = VRAM, .say = quiet};
    if (!board && (pci_create(&config, &board) != RD_OK ||
                   remote_listen(&port, &listener) != RD_OK))
        abort();
}

static void *serve(void *arg)
{
    static const atomic_bool stop;
    (void)arg;
    if (remote_serve(board, listener, true, &stop, quiet, NULL) != RD_OK)
        abort();
    return NULL;
}

static void *drain(void *fd)
{
    char buffer[4096];
    while (recv(*(int *)fd, buffer, sizeof(buffer), 0) > 0)
        ;
    return NULL;
}

static uint64_t number(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* A request, and its payload; false: nobody listens any more. */
static bool send_record(int fd, const uint8_t *p)
{
    uint8_t request[REQUEST_BYTES] = {p[0] % COMMANDS};
    uint64_t a[3] = {number(p + 4), number(p + 8), number(p + 12)};
    uint32_t window = p[1] & 0x80 ? (uint32_t)a[2] : p[1] % 8;
    if (p[2] & 1)
        a[0] %= 2 * VRAM;
    if (p[2] & 2)
        a[0] |= a[2] << 32;
    if (p[2] & 4)
        a[0] = 0 - a[0];
    if (!(p[2] & 8))
        a[1] %= 64;
    else if (p[2] & 16)
        a[1] %= PAYLOAD;
    if (p[2] & 32)
        a[1] |= a[2] << 32;
    if (p[0] % COMMANDS == MAP_SYSMEM && !(p[2] & 64))
        a[0] %= 1u << 20;
    memcpy(request + 5, &window, 4);
    memcpy(request + 9, a, sizeof(a));
    if (send(fd, request, sizeof(request), MSG_NOSIGNAL) < 0)
        return false;
    bool carries =
        request[0] == PROBE || request[0] == MMIO_WRITE || request[0] == SYSMEM_WRITE;
    uint64_t n = carries && a[1] <= PAYLOAD ? a[1] : 0;
    n -= p[3] >= 0xf0 && n ? 1 : 0;
    return n == 0 || send(fd, payload, n, MSG_NOSIGNAL) >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    pthread_t threads[2];
    make();
    memcpy(payload, data, size < PAYLOAD ? size : PAYLOAD);
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || pthread_create(&threads[0], NULL, serve, NULL) != 0 ||
        connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
        pthread_create(&threads[1], NULL, drain, &fd) != 0)
        abort();
    for (; size >= RECORD && send_record(fd, data); data += RECORD, size -= RECORD)
        ;
    shutdown(fd, SHUT_WR);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    close(fd);
    pci_reset(board);
    return 0;
}
