/* test_links.c: the protocols in front of a board, TCP's and vfio-user's, by clients of
 * our own; what breaks them ends the connection and nothing else.
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../suite.h"
#include "latency.h"
#include "machine.h"
#include "remote.h"
#include "vfio_user.h"

static struct pci_board *board;
static struct vfio_user *vfio;
static atomic_bool stop;
static int listener, client;
static pthread_t server;

static void quiet(void *ctx, const char *text)
{
    (void)ctx, (void)text;
}

static void create(void)
{
    ck_assert_int_eq(vfio_user_create(&vfio), RD_OK);
    struct pci_config config = {
        .vram_bytes = VRAM, .ctx = vfio, .msi = vfio_user_msi, .say = quiet};
    ck_assert_int_eq(pci_create(&config, &board), RD_OK);
}

static void destroy(void)
{
    pci_destroy(board);
    vfio_user_destroy(vfio);
}

static void put(const void *p, size_t n)
{
    ck_assert_int_eq(send(client, p, n, MSG_NOSIGNAL), (ssize_t)n);
}

static void get(void *p, size_t n)
{
    uint8_t *to = p;
    while (n) {
        ssize_t got = recv(client, to, n, 0);
        ck_assert_int_gt(got, 0);
        to += got;
        n -= (size_t)got;
    }
}

/* Has the server closed the connection? */
static bool closed(void)
{
    char c;
    return recv(client, &c, 1, 0) == 0;
}

/* ---- TCP ---------------------------------------------------------------------------
 */

static void *serve_remote(void *arg)
{
    (void)arg;
    (void)!remote_serve(board, listener, true, &stop, quiet, NULL);
    return NULL;
}

static void setup_remote(void)
{
    uint16_t port = 0;
    struct sockaddr_in at = {.sin_family = AF_INET};
    create();
    ck_assert_int_eq(remote_listen(&port, &listener), RD_OK);
    ck_assert_int_eq(pthread_create(&server, NULL, serve_remote, NULL), 0);
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    client = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(client, 0);
    ck_assert_int_eq(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
}

static void teardown_remote(void)
{
    close(client);
    pthread_join(server, NULL);
    close(listener);
    destroy();
}

static void request(unsigned command, uint32_t bar, uint64_t a0, uint64_t a1,
                    uint64_t a2)
{
    uint8_t b[33] = {(uint8_t)command};
    const uint64_t a[3] = {a0, a1, a2};
    memcpy(b + 5, &bar, 4);
    memcpy(b + 9, a, sizeof(a));
    put(b, sizeof(b));
}

/* The two numbers of an answer; its status. */
static uint8_t answer(uint64_t r[2])
{
    uint8_t b[17];
    get(b, sizeof(b));
    memcpy(r, b + 1, 16);
    return b[0];
}

static void refused(void)
{
    uint64_t r[2];
    char text[200];
    ck_assert_uint_eq(answer(r), 1);
    ck_assert_uint_lt(r[0], sizeof(text));
    get(text, r[0]);
}

START_TEST(tcp_finds_the_board)
{
    const uint32_t ids[] = {0xffff, 0x74a1, 0xffff, 0x744c};
    uint64_t r[2];
    char name[32] = "";
    request(0, 0, 0, sizeof(ids), 0x1002);
    put(ids, sizeof(ids));
    ck_assert_uint_eq(answer(r), 0);
    ck_assert_uint_eq(r[1], 1);
    ck_assert_uint_lt(r[0], sizeof(name));
    get(name, r[0]);
    ck_assert_ptr_nonnull(strrchr(name, ':'));
    request(1, 5, 0, 0, 0);
    ck_assert_uint_eq(answer(r), 0);
    ck_assert_uint_eq(r[1], 1 << 20);
    request(3, 0, 0, 4, 0);
    ck_assert_uint_eq(answer(r), 0);
    ck_assert_uint_eq(r[0], 0x744c1002);
    request(12, 0, 0, 0, 0);
    ck_assert_uint_eq(answer(r), 0);
}
END_TEST

START_TEST(tcp_moves_memory)
{
    static uint8_t out[3 << 20], in[3 << 20];
    uint64_t r[2], pages[3];
    for (unsigned i = 0; i < sizeof(out); i++)
        out[i] = (uint8_t)(i * 7);
    request(7, 0, 4096, sizeof(out), 0);
    put(out, sizeof(out));
    request(6, 0, 4096, sizeof(in), 0);
    ck_assert_uint_eq(answer(r), 0);
    get(in, sizeof(in));
    ck_assert_int_eq(memcmp(in, out, sizeof(in)), 0);
    request(8, 0, 3 * 4096, 0, 0);
    ck_assert_uint_eq(answer(r), 0);
    ck_assert_uint_eq(r[0], sizeof(pages));
    uint32_t handle = (uint32_t)r[1];
    get(pages, sizeof(pages));
    ck_assert_uint_ne(pages[0], pages[1]);
    request(10, handle, 100, 200, 0);
    put(out, 200);
    request(9, handle, 100, 200, 0);
    ck_assert_uint_eq(answer(r), 0);
    get(in, 200);
    ck_assert_int_eq(memcmp(in, out, 200), 0);
}
END_TEST

START_TEST(tcp_refuses)
{
    uint64_t r[2];
    uint8_t junk[64] = {0};
    request(6, 0, VRAM - 8, 16, 0);
    refused();
    request(6, 3, 0, 4, 0);
    refused();
    request(3, 0, 5000, 4, 0);
    refused();
    request(8, 0, UINT64_MAX, 0, 0);
    refused();
    request(9, 77, 0, 4, 0);
    refused();
    request(2, 0, 4096, 0, 0);
    refused();
    request(200, 0, 0, 0, 0);
    refused();
    request(7, 0, UINT64_MAX - 4, sizeof(junk), 0); /* goes nowhere */
    put(junk, sizeof(junk));
    request(10, 5, 0, sizeof(junk), 0);
    put(junk, sizeof(junk));
    request(12, 0, 0, 0, 0);
    ck_assert_uint_eq(answer(r), 0);
    request(0, 0, 0, 1 << 20, 0x1002); /* too many devices to look for */
    ck_assert(closed());
}
END_TEST

/* ---- vfio-user ---------------------------------------------------------------------
 */

static int server_end;

static void *serve_vfio(void *arg)
{
    (void)arg;
    vfio_user_talk(vfio, board, server_end);
    close(server_end);
    return NULL;
}

static void setup_vfio(void)
{
    int pair[2];
    create();
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    client = pair[0];
    server_end = pair[1];
    ck_assert_int_eq(pthread_create(&server, NULL, serve_vfio, NULL), 0);
}

static void teardown_vfio(void)
{
    close(client);
    pthread_join(server, NULL);
    destroy();
}

struct header {
    uint16_t id, command;
    uint32_t size, flags, error;
};

static void message(unsigned command, const void *payload, uint32_t bytes, int fd)
{
    static uint16_t id;
    struct header h = {.id = ++id, .command = (uint16_t)command, .size = 16 + bytes};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec io[2] = {{&h, sizeof(h)}, {(void *)(uintptr_t)payload, bytes}};
    struct msghdr m = {.msg_iov = io, .msg_iovlen = 2};
    if (fd >= 0) {
        m.msg_control = &control;
        m.msg_controllen = sizeof(control);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    }
    ck_assert_int_eq(sendmsg(client, &m, MSG_NOSIGNAL), 16 + (ssize_t)bytes);
}

/* The answer's error; its payload, and a descriptor or -1. */
static uint32_t reply(void *payload, uint32_t room, int *fd)
{
    struct header h;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec io = {&h, sizeof(h)};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};
    ck_assert_int_eq(recvmsg(client, &m, 0), sizeof(h));
    *fd = -1;
    if (CMSG_FIRSTHDR(&m))
        memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(*fd));
    ck_assert_uint_eq(h.flags & 15, 1);
    ck_assert_uint_le(h.size - 16, room);
    if (h.size > 16)
        get(payload, h.size - 16);
    return h.flags & 0x20 ? h.error : 0;
}

START_TEST(vfio_describes_the_board)
{
    uint32_t in[64] = {0};
    char out[1024];
    int fd;
    message(1, in, 4, -1);
    ck_assert_uint_eq(reply(out, sizeof(out), &fd), 0);
    ck_assert_ptr_nonnull(strstr(out + 4, "capabilities"));
    message(4, in, 16, -1);
    ck_assert_uint_eq(reply(out, sizeof(out), &fd), 0);
    uint32_t region[8] = {32, 0, 0};
    message(5, region, 32, -1);
    ck_assert_uint_eq(reply(region, sizeof(region), &fd), 0);
    ck_assert_uint_eq(region[4], VRAM);
    ck_assert_uint_eq(region[1], 7);
    ck_assert_int_ge(fd, 0);
    uint32_t *vram = mmap(NULL, VRAM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(vram, MAP_FAILED);
    close(fd);
    vram[25] = 0x1234;
    uint32_t access[5] = {100, 0, 0, 4, 0};
    message(9, access, 16, -1);
    ck_assert_uint_eq(reply(access, sizeof(access), &fd), 0);
    ck_assert_uint_eq(access[4], 0x1234);
    munmap(vram, VRAM);
    region[2] = 9;
    message(5, region, 32, -1);
    ck_assert_uint_ne(reply(region, sizeof(region), &fd), 0);
    message(77, in, 8, -1);
    ck_assert_uint_ne(reply(out, sizeof(out), &fd), 0);
}
END_TEST

static void store(uint32_t reg, uint32_t value)
{
    uint32_t out[8], access[5] = {4 * reg, 0, 5, 4, value};
    int fd;
    message(10, access, 20, -1);
    ck_assert_uint_eq(reply(out, sizeof(out), &fd), 0);
}

/* The guest's memory comes as a descriptor, an interrupt goes as one. */
START_TEST(vfio_memory_and_interrupts)
{
    int fd, memory = memfd_create("guest", 0), event = eventfd(0, 0);
    uint32_t out[8], irq[5] = {20, 0x24, 1, 0, 1};
    ck_assert_int_eq(ftruncate(memory, 1 << 20), 0);
    struct {
        uint32_t argsz, flags;
        uint64_t offset, bus, bytes;
    } map = {32, 3, 0, 0x100000, 1 << 20};
    message(2, &map, 32, memory);
    ck_assert_uint_eq(reply(out, sizeof(out), &fd), 0);
    map.bus = 0x180000; /* lies over it */
    message(2, &map, 32, memory);
    ck_assert_uint_ne(reply(out, sizeof(out), &fd), 0);
    map.bus = 0x800000;
    map.bytes = 2 << 20; /* beyond the file */
    message(2, &map, 32, memory);
    ck_assert_uint_ne(reply(out, sizeof(out), &fd), 0);
    message(8, irq, 20, event);
    ck_assert_uint_eq(reply(out, sizeof(out), &fd), 0);
    /* The ring of interrupts lies in it, and a packet fails for want of a page. */
    store(0x1121, 0x180000 >> 8);
    store(0x1120, 1u | 9u << 1 | 1u << 17 | 2u << 28);
    store(0xa900, 1u << 2);
    store(0x3211, 0x1000 >> 8);
    store(0x3218, 1u << 30 | 6u << 2);
    store(0x321a, 9);
    store(0x320b, 1);
    uint32_t bell[6] = {4 * 6, 0, 2, 8, 5, 0};
    message(10, bell, 24, -1);
    ck_assert_uint_eq(reply(out, sizeof(out), &fd), 0);
    uint64_t count = 0;
    ck_assert_int_eq(read(event, &count, 8), 8);
    ck_assert_uint_eq(count, 1);
    uint32_t entry[8];
    ck_assert_int_eq(pread(memory, entry, 32, 0x80000), 32);
    ck_assert_uint_eq(entry[0] & 0xffff, 0x0a);
    struct {
        uint32_t argsz, flags;
        uint64_t bus, bytes;
    } unmap = {24, 0, 0x100000, 1 << 20};
    message(3, &unmap, 24, -1);
    ck_assert_uint_eq(reply(out, sizeof(out), &fd), 0);
    message(13, out, 0, -1);
    ck_assert_uint_eq(reply(out, sizeof(out), &fd), 0);
    close(memory);
    close(event);
}
END_TEST

static unsigned urgent_threads(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        int policy = sched_getscheduler((pid_t)strtol(e->d_name, NULL, 10));
        n += e->d_name[0] != '.' && policy == (SCHED_RR | SCHED_RESET_ON_FORK);
    }
    closedir(dir);
    return n;
}

static void compute_or_scheduler(unsigned me)
{
    store(0xa900, me << 2);
    store(0x3211, 0x1000 >> 8);
    store(0x3218, 1u << 30 | (6u + me) << 2);
    store(0x321a, 9);
    store(0x320b, 1);
}

/* A CPU waits for every answer, and for the scheduler's frames no longer than 100 ms,
 * on a host that has much to do as well: these two threads go first where the host lets
 * them, no other does. */
START_TEST(vfio_answers_first)
{
    pci_thread_urgent(true);
    unsigned allowed = sched_getscheduler(0) != SCHED_OTHER;
    pci_thread_urgent(false);
    store(0xa900, 0);
    ck_assert_uint_eq(urgent_threads(), allowed);
    compute_or_scheduler(1);
    ck_assert_uint_eq(urgent_threads(), allowed);
    compute_or_scheduler(3);
    for (unsigned i = 0; i < 5000 && urgent_threads() < 2 * allowed; i++)
        usleep(1000);
    ck_assert_uint_eq(urgent_threads(), 2 * allowed);
}
END_TEST

START_TEST(vfio_breaks_off)
{
    struct header h = {.id = 1, .command = 9, .size = 1u << 30};
    put(&h, sizeof(h));
    ck_assert(closed());
}
END_TEST

/* ---- how the next message is waited for -------------------------------------------
 */

static char device[32];
static struct latency latency;

static void setup_latency(void)
{
    strcpy(device, "/tmp/latency-XXXXXX");
    int pair[2], fd = mkstemp(device);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    client = pair[0];
    server_end = pair[1];
    latency_begin(&latency, server_end, device);
}

static void teardown_latency(void)
{
    latency_end(&latency);
    close(client);
    close(server_end);
    unlink(device);
}

/* Messages that are there at once, until something holds or there were n. */
static void converse(const int *until, unsigned n)
{
    char c = 0;
    while (n-- && *until < 0) {
        put(&c, 1);
        latency_wait(&latency);
        ck_assert_int_eq(recv(server_end, &c, 1, MSG_DONTWAIT), 1);
    }
}

static void *later(void *arg)
{
    usleep(50000);
    put(arg, 1);
    return NULL;
}

/* CPUs are kept awake while messages follow one another, and no longer. */
START_TEST(latency_holds)
{
    int32_t us = -1;
    pthread_t thread;
    converse(&latency.held, 8);
    ck_assert_int_lt(latency.held, 0);
    converse(&latency.held, 100000);
    if (latency.off) /* the only CPU */
        return;
    ck_assert_int_ge(latency.held, 0);
    int fd = open(device, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(read(fd, &us, sizeof(us)), sizeof(us));
    close(fd);
    ck_assert_int_eq(us, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, later, &us), 0);
    latency_wait(&latency);
    ck_assert_int_lt(latency.held, 0);
    pthread_join(thread, NULL);
}
END_TEST

/* Who may not ask for it goes on without, and asks once. */
START_TEST(latency_denied)
{
    latency.device = "/nowhere/at/all";
    converse(&latency.held, 1000);
    ck_assert_int_lt(latency.held, 0);
    ck_assert(latency.denied || latency.off);
    latency.device = device;
    converse(&latency.held, 1000);
    ck_assert_int_lt(latency.held, 0);
}
END_TEST

/* Who sends half a message, or takes half an answer, does not keep CPUs awake. */
START_TEST(latency_half_a_message)
{
    char c;
    ck_assert_int_eq(latency_flags(&latency), 0);
    converse(&latency.held, 100000);
    if (latency.off)
        return;
    ck_assert_int_eq(recv(server_end, &c, 1, latency_flags(&latency)), -1);
    ck_assert(latency_again(&latency));
    ck_assert_int_lt(latency.held, 0);
    ck_assert_int_eq(latency_flags(&latency), 0);
    ck_assert(!latency_again(&latency)); /* the socket's own deadline */
}
END_TEST

START_TEST(latency_on_one_cpu)
{
    cpu_set_t all, one;
    int cpu = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
    latency_begin(&latency, server_end, device);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(all), &all), 0);
    ck_assert(latency.off);
    converse(&latency.held, 1000);
    ck_assert_int_lt(latency.held, 0);
}
END_TEST

/* A stretch of messages, as it took with the one way or the other. */
static void stretch(uint64_t without, uint64_t with)
{
    bool looks = latency.looks;
    for (unsigned i = 0; i < 64; i++) {
        ck_assert(latency.looks == looks);
        latency_took(&latency, looks ? with : without);
    }
}

/* Both ways are tried; the faster one stays, and the other is tried again. */
START_TEST(latency_chooses)
{
    unsigned looks = 0, slow = 0;
    ck_assert(latency.looks);
    stretch(0, 20000);
    ck_assert(!latency.looks);
    for (unsigned i = 1; i < 48; i++) {
        stretch(40000, 20000);
        looks += latency.looks;
    }
    ck_assert_uint_eq(looks, 44);
    for (unsigned i = 0; i < 48; i++) { /* the host has become busy */
        stretch(20000, 19000);
        slow += latency.looks;
    }
    ck_assert_uint_le(slow, 4);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("board links");
    TCase *t = tcase_create("tcp"), *v = tcase_create("vfio"),
          *l = tcase_create("latency");
    tcase_add_checked_fixture(t, setup_remote, teardown_remote);
    tcase_add_test(t, tcp_finds_the_board);
    tcase_add_test(t, tcp_moves_memory);
    tcase_add_test(t, tcp_refuses);
    suite_add_tcase(s, t);
    tcase_add_checked_fixture(v, setup_vfio, teardown_vfio);
    tcase_add_test(v, vfio_describes_the_board);
    tcase_add_test(v, vfio_memory_and_interrupts);
    tcase_add_test(v, vfio_answers_first);
    tcase_add_test(v, vfio_breaks_off);
    suite_add_tcase(s, v);
    tcase_add_checked_fixture(l, setup_latency, teardown_latency);
    tcase_add_test(l, latency_holds);
    tcase_add_test(l, latency_denied);
    tcase_add_test(l, latency_half_a_message);
    tcase_add_test(l, latency_on_one_cpu);
    tcase_add_test(l, latency_chooses);
    suite_add_tcase(s, l);
    return s;
}

int main(void)
{
    return suite_run(suite());
}
