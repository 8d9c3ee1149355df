/* link.c: TCP connections between rank 0 of a sweep and the other ranks.
 *
 * Must not know items. SPDX-License-Identifier: MIT
 */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli.h"
#include "whole.h"

/* A message comes in one piece, or its sender is in trouble. */
enum { PATIENCE = 30, HELLO_PATIENCE = 2, TRY_MS = 5000, BACKLOG = 1024 };

struct hello {
    uint8_t secret[LINK_SECRET];
    uint32_t rank;
};

/* A host that is switched off says nothing: ask whether it is there, after a minute. */
static void make_reliable(int fd)
{
    const int on = 1, idle = 60, every = 10, times = 6;
    const struct timeval most = {.tv_sec = PATIENCE};
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
}

void link_patience(int fd, int seconds)
{
    const struct timeval most = {.tv_sec = seconds};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
}

static socklen_t length_of(const struct sockaddr_storage *place)
{
    return place->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                        : sizeof(struct sockaddr_in);
}

static void add_place(struct link_where *where, const struct sockaddr *address,
                      in_port_t port)
{
    struct sockaddr_storage *out = &where->place[where->n_places];
    if (where->n_places == LINK_PLACES || !address)
        return;
    if (address->sa_family == AF_INET) {
        memcpy(out, address, sizeof(struct sockaddr_in));
        ((struct sockaddr_in *)out)->sin_port = port;
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
        memcpy(six, address, sizeof *six);
        six->sin6_port = port;
        if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)) /* of a link, not of the host */
            return;
    } else {
        return;
    }
    where->n_places++;
}

/* Addresses of this host: for itself first, then for others. */
static void find_places(struct link_where *where, in_port_t port)
{
    struct ifaddrs *all, *a;
    if (getifaddrs(&all) != 0)
        return;
    for (int others = 0; others < 2; others++)
        for (a = all; a; a = a->ifa_next)
            if ((a->ifa_flags & IFF_UP) && others == !(a->ifa_flags & IFF_LOOPBACK))
                add_place(where, a->ifa_addr, port);
    freeifaddrs(all);
}

int link_listen(struct link_where *where, int *out)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    const int off = 0;
    *where = (struct link_where){.n_places = 0};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0 ||
                    bind(fd, (const struct sockaddr *)&six, sizeof six) != 0)) {
        close(fd);
        fd = -1;
    }
    if (fd < 0) { /* a host without IPv6 */
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && bind(fd, (const struct sockaddr *)&four, sizeof four) != 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0 || listen(fd, BACKLOG) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0 ||
        getsockname(fd, (struct sockaddr *)&bound, &length) != 0 ||
        getrandom(where->secret, LINK_SECRET, 0) != LINK_SECRET ||
        gethostname(where->host, LINK_HOST - 1) != 0) {
        int status = cli_error(CLI_FAILED, "rank 0 cannot listen: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    /* the port lies at one place in both */
    find_places(where, ((struct sockaddr_in *)&bound)->sin_port);
    *out = fd;
    return CLI_OK;
}

static int connect_to(const struct sockaddr_storage *place)
{
    int error = 0;
    socklen_t length = sizeof error;
    int fd = socket(place->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    bool there =
        connect(fd, (const struct sockaddr *)place, length_of(place)) == 0 ||
        (errno == EINPROGRESS && poll(&p, 1, TRY_MS) == 1 &&
         getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0);
    if (there && fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool is_loopback(const struct sockaddr_storage *place)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)place;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)place;
    return place->ss_family == AF_INET ? ntohl(four->sin_addr.s_addr) >> 24 == 127
                                       : IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

int link_reach(const struct link_where *where, uint32_t rank, int *out)
{
    struct hello hello = {.rank = rank};
    char own[LINK_HOST] = "", welcome;
    (void)gethostname(own, sizeof own - 1);
    memcpy(hello.secret, where->secret, LINK_SECRET);
    for (uint32_t i = 0; i < where->n_places && i < LINK_PLACES; i++) {
        if (is_loopback(&where->place[i]) && strcmp(own, where->host) != 0)
            continue;
        int fd = connect_to(&where->place[i]);
        if (fd < 0)
            continue;
        make_reliable(fd);
        link_patience(fd, PATIENCE);
        if (whole_send(fd, &hello, sizeof hello) && whole_receive(fd, &welcome, 1)) {
            link_patience(fd, 0); /* its answer may take as long as an item */
            *out = fd;
            return CLI_OK;
        }
        close(fd);
    }
    return cli_error(CLI_FAILED, "rank %u cannot reach rank 0 on %s by TCP", rank,
                     where->host);
}

bool link_accept(const struct link_where *where, int listening, uint32_t *rank,
                 int *out)
{
    struct hello hello;
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return false;
    make_reliable(fd);
    link_patience(fd, HELLO_PATIENCE);
    if (!whole_receive(fd, &hello, sizeof hello) ||
        memcmp(hello.secret, where->secret, LINK_SECRET) != 0 ||
        !whole_send(fd, "", 1)) {
        close(fd);
        return false;
    }
    link_patience(fd, PATIENCE);
    *rank = hello.rank;
    *out = fd;
    return true;
}
