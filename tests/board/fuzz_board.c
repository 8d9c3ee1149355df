/* fuzz_board.c: a driver that means ill: registers, rings, descriptors and page tables
 * with anything in them, and bytes that are no protocol. The board may fault, hang its
 * queues or refuse; it must not fall, and not touch what is not the guest's.
 *
 * The first byte of an input says what the others are, unless FUZZ_KIND does.
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pci.h"
#include "vfio_user.h"

#define VRAM        (256ull << 20)
#define FB          0x8000000000ull
#define HOST_BUS    (1ull << 40)
#define HOST        (1ull << 20)
#define RING        0x100000u /* places in VRAM */
#define POINTERS    0x110000u
#define TABLES      0x200000u
#define TABLE_BYTES 0x10000u
#define DESCRIPTOR  0x300000u

#ifndef FUZZ_KIND
#define FUZZ_KIND data[0]
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pci_board *board;
static struct vfio_user *vfio;
static uint8_t *vram;

static void make(void)
{
    if (board)
        return;
    struct pci_config config = {.vram_bytes = VRAM, .msi = vfio_user_msi};
    if (vfio_user_create(&vfio) != RD_OK)
        abort();
    config.ctx = vfio;
    if (pci_create(&config, &board) != RD_OK)
        abort();
    vram =
        mmap(NULL, VRAM, PROT_READ | PROT_WRITE, MAP_SHARED, pci_vram_file(board), 0);
    if (vram == MAP_FAILED)
        abort();
}

static void add_host(void)
{
    int fd = memfd_create("host", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, HOST) != 0)
        abort();
    (void)!pci_memory_add(board, HOST_BUS, HOST, fd, 0, true);
    close(fd);
}

static void store(uint32_t reg, uint32_t value)
{
    pci_bar_write(board, PCI_BAR_REGISTERS, 4ull * reg, &value, sizeof(value));
}

static uint32_t word(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* Pairs: what and where, value. Registers that matter come more often than others. */
static void registers(const uint8_t *data, size_t size)
{
    static const uint32_t near[] = {
        0x0,    0x14,   0x1120, 0x12e0, 0x2008,  0x28e8,  0x2953,  0x3209,  0x320b,
        0x3218, 0x3221, 0xa900, 0xa9e3, 0x16063, 0x16080, 0x16083, 0x16282, 0x1628b};
    uint8_t buffer[16];
    for (; size >= 8; data += 8, size -= 8) {
        uint32_t a = word(data), v = word(data + 4);
        uint32_t reg = a & 0x100 ? a >> 12 : near[a % 18] + (a >> 9 & 15);
        switch (a >> 4 & 7) {
        case 0:
            pci_config_write(board, a >> 12, &v, a % 5);
            pci_config_read(board, a >> 12, buffer, a % 9);
            break;
        case 1:
            pci_bar_write(board, PCI_BAR_DOORBELLS, a >> 12, &v, 4);
            break;
        case 2:
        case 3:
            pci_bar_read(board, PCI_BAR_REGISTERS, 4ull * reg + a % 3, buffer, a % 13);
            break;
        default:
            store(reg, v);
        }
    }
}

/* A queue by registers, in an address space with these tables. */
static void start_queue(void)
{
    store(0x2953, TABLES | 1);
    store(0x2954, 0);
    store(0x2973, 0);
    store(0x2974, 0);
    store(0x2993, 0xffffffff);
    store(0x2994, 0xf);
    store(0x28e8, 3u << 1 | 1);
    store(0x291c, 0xf80001);
    store(0xa900, 1u << 2);
    store(0x3211, (uint32_t)((FB + RING) >> 8));
    store(0x3212, (uint32_t)((FB + RING) >> 40));
    store(0x3214, (uint32_t)(FB + POINTERS));
    store(0x3215, (uint32_t)((FB + POINTERS) >> 32));
    store(0x3218, 1u << 30 | 6u << 2);
    store(0x321a, 13);
    store(0x320b, 1);
}

static void settle(void)
{
    for (unsigned i = 0; i < 3; i++)
        usleep(500);
    pci_reset(board);
}

static void ring(const uint8_t *data, size_t size, bool dma)
{
    uint32_t bytes = size < 32768 ? (uint32_t)size & ~3u : 32768;
    uint64_t bell = dma ? bytes : bytes / 4;
    memcpy(vram + RING, data, bytes);
    start_queue();
    if (dma) {
        store(0x12e1, (uint32_t)((FB + RING) >> 8));
        store(0x12e2, (uint32_t)((FB + RING) >> 40));
        store(0x130b, 0x800);
        store(0x12e0, 1u | 13u << 1);
    }
    pci_bar_write(board, PCI_BAR_DOORBELLS, dma ? 0x800 : 24, &bell, 8);
    settle();
}

/* Tables with anything in them, and packets that use them. */
static void tables(const uint8_t *data, size_t size)
{
    uint32_t bytes = size < TABLE_BYTES ? (uint32_t)size & ~7u : TABLE_BYTES;
    for (uint32_t i = 0; i < bytes; i += 8) { /* mostly near each other, and valid */
        uint64_t e = word(data + i) | (uint64_t)word(data + i + 4) << 32;
        uint64_t at = e & 7 ? TABLES + (e >> 16 & 15) * 4096 : e & 0xfffffffff000ull;
        if (e & 2)
            at += HOST_BUS - TABLES;
        uint64_t invalid = e >> 20 & 1;
        e &= UINT64_C(1) << 54 | 0xfff;
        e |= at | (1 - invalid);
        memcpy(vram + TABLES + i, &e, 8);
    }
    const uint32_t dw[] = {3u << 30 | 3u << 16 | 0x37u << 8,
                           5u << 8,
                           0x1000,
                           0,
                           1,
                           3u << 30 | 2u << 16 | 0x76u << 8,
                           0x20c,
                           0x10,
                           0,
                           3u << 30 | 2u << 16 | 0x76u << 8,
                           0x212,
                           0,
                           4,
                           3u << 30 | 3u << 16 | 0x76u << 8,
                           0x207,
                           32,
                           1,
                           1,
                           3u << 30 | 3u << 16 | 0x15u << 8,
                           1,
                           1,
                           1,
                           0x8005};
    ring((const uint8_t *)dw + (size % 2 ? 0 : 20), sizeof(dw) - (size % 2 ? 0 : 20),
         false);
}

/* A frame of the scheduler and a descriptor. */
static void frames(const uint8_t *data, size_t size)
{
    static const uint8_t opcodes[] = {0, 1, 2, 3, 6, 7, 8, 9, 11, 14, 15, 19};
    uint32_t dw[64] = {0};
    uint64_t bell = 64;
    if (!size)
        return;
    uint32_t n = size < sizeof(dw) ? (uint32_t)size : sizeof(dw);
    memcpy(dw, data, n);
    dw[0] = 1u | (uint32_t)opcodes[data[0] % 12] << 4 | 64u << 12;
    dw[19] = (uint32_t)(FB + DESCRIPTOR); /* else it is hardly ever found */
    dw[20] = (uint32_t)((FB + DESCRIPTOR) >> 32);
    dw[36] &= data[0] & 16 ? UINT32_MAX : 0xfff;
    memcpy(vram + RING, dw, sizeof(dw));
    if (size > sizeof(dw))
        memcpy(vram + DESCRIPTOR + 512, data + sizeof(dw),
               size - sizeof(dw) < 512 ? size - sizeof(dw) : 512);
    start_queue();
    store(0x320b, 0);
    store(0xa900, 3u << 2);
    store(0x3211, (uint32_t)((FB + RING) >> 8));
    store(0x3212, (uint32_t)((FB + RING) >> 40));
    store(0x3214, (uint32_t)(FB + POINTERS));
    store(0x3215, (uint32_t)((FB + POINTERS) >> 32));
    store(0x3218, 1u << 30 | 22u << 2);
    store(0x321a, 13);
    store(0x320b, 1);
    pci_bar_write(board, PCI_BAR_DOORBELLS, 88, &bell, 8);
    settle();
}

static void *talk(void *fd)
{
    vfio_user_talk(vfio, board, *(int *)fd);
    close(*(int *)fd);
    return NULL;
}

static void *drain(void *fd)
{
    char buffer[4096];
    while (recv(*(int *)fd, buffer, sizeof(buffer), 0) > 0)
        ;
    return NULL;
}

/* Messages whose headers are nearly right. */
static void protocol(const uint8_t *data, size_t size)
{
    int pair[2];
    pthread_t threads[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        pthread_create(&threads[0], NULL, talk, &pair[1]) != 0 ||
        pthread_create(&threads[1], NULL, drain, &pair[0]) != 0)
        abort();
    while (size > 4) {
        uint32_t n = data[1] < size - 4 ? data[1] : (uint32_t)size - 4;
        uint32_t header[4] = {(uint32_t)(data[0] % 16) << 16, 16 + n, 0, 0};
        if (data[2] == 0xff)
            header[1] = word(data);
        if (send(pair[0], header, 16, MSG_NOSIGNAL) < 0 ||
            send(pair[0], data + 4, n, MSG_NOSIGNAL) < 0)
            break;
        data += 4 + n;
        size -= 4 + n;
    }
    shutdown(pair[0], SHUT_WR);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    close(pair[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    make();
    add_host();
    switch (FUZZ_KIND % 6) {
    case 0:
        registers(data + 1, size - 1);
        pci_reset(board);
        break;
    case 1:
    case 2:
        ring(data + 1, size - 1, FUZZ_KIND % 6 == 2);
        break;
    case 3:
        tables(data + 1, size - 1);
        break;
    case 4:
        frames(data + 1, size - 1);
        break;
    default:
        protocol(data + 1, size - 1);
    }
    (void)!pci_memory_remove(board, HOST_BUS, HOST);
    return 0;
}
