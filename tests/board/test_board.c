/* test_board.c: the board as a driver finds it: identity, tables, firmware, queues.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "machine.h"

static struct machine m;

static void setup(void)
{
    machine_create(&m);
}

static void teardown(void)
{
    machine_destroy(&m);
}

static uint32_t config_read(uint32_t offset, uint32_t bytes)
{
    uint32_t v = 0;
    pci_config_read(m.board, offset, &v, bytes);
    return v;
}

static void config_write(uint32_t offset, uint32_t value, uint32_t bytes)
{
    pci_config_write(m.board, offset, &value, bytes);
}

START_TEST(identity)
{
    bool express = false, message = false, power = false;
    unsigned steps = 0;
    ck_assert_uint_eq(config_read(0, 4), 0x744c1002);
    ck_assert_uint_eq(config_read(8, 4) >> 24, 3);
    for (uint32_t at = config_read(0x34, 1); at; at = config_read(at + 1, 1)) {
        uint32_t id = config_read(at, 1);
        power = power || id == 1;
        message = message || id == 5;
        express = express || id == 0x10;
        ck_assert_uint_lt(steps++, 16);
    }
    ck_assert(express && message && power);
    config_write(4, 0xffff, 2);
    ck_assert_uint_eq(config_read(4, 2), 0x0547);
    config_write(0, 0, 4);
    ck_assert_uint_eq(config_read(0, 4), 0x744c1002);
    config_write(0x30, 0xfffff800, 4); /* how large is the ROM? */
    ck_assert_uint_eq(config_read(0x30, 4), 0xffff0000);
    ck_assert_uint_eq(config_read(4095, 4), 0xffffff00);
}
END_TEST

static unsigned sum(const uint8_t *p, unsigned n)
{
    unsigned s = 0;
    for (unsigned i = 0; i < n; i++)
        s += p[i];
    return s & 0xffff;
}

static unsigned half(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

/* Through the index and data registers, as before the windows are known. */
START_TEST(discovery)
{
    static _Alignas(4) uint8_t table[10240];
    ck_assert_uint_eq(machine_read(&m, 0xde3), VRAM >> 20);
    for (uint32_t i = 0; i < sizeof(table); i += 4) {
        uint64_t at = VRAM - 65536 + i;
        machine_write(&m, 6, (uint32_t)(at >> 31));
        machine_write(&m, 0, (uint32_t)(at & 0x7fffffff) | 1u << 31);
        uint32_t v = machine_read(&m, 1);
        memcpy(table + i, &v, 4);
    }
    ck_assert_uint_eq(half(table) | half(table + 2) << 16, 0x28211407);
    ck_assert_uint_eq(half(table + 8), sum(table + 10, half(table + 10) - 10));
    for (unsigned i = 0; i < 3; i++) {
        const uint8_t *t = table + 12 + 8ul * i;
        ck_assert_uint_ne(half(t), 0);
        ck_assert_uint_eq(half(t + 2), sum(table + half(t), half(t + 4)));
    }
    const uint8_t *blocks = table + half(table + 12),
                  *graphics = table + half(table + 20);
    ck_assert_int_eq(memcmp(blocks, "IPDS", 4), 0);
    ck_assert_int_eq(memcmp(graphics, "GC\0\0", 4), 0);
    ck_assert_uint_eq(half(graphics + 12) * half(graphics + 16),
                      24); /* engines, pairs */
}
END_TEST

START_TEST(rom)
{
    static uint8_t image[65536];
    uint8_t total = 0;
    pci_bar_read(m.board, PCI_BAR_ROM, 0, image, sizeof(image));
    for (unsigned i = 0; i < sizeof(image); i++)
        total = (uint8_t)(total + image[i]);
    ck_assert_uint_eq(total, 0);
    ck_assert_uint_eq(half(image), 0xaa55);
    unsigned header = half(image + 0x48);
    ck_assert_int_eq(memcmp(image + header + 4, "ATOM", 4), 0);
    unsigned data = half(image + header + 0x20), firmware = half(image + data + 4 + 8);
    ck_assert_uint_eq(half(image + firmware + 24), 0x4c);
    unsigned commands = half(image + header + 0x1e), init = half(image + commands + 4);
    ck_assert_uint_eq(half(image + init + 2), 0x102); /* what a reset looks for */
    ck_assert_uint_eq(image[init + 6], 91);           /* nothing but its end */
}
END_TEST

/* Windows have ends; what lies beyond is ones and goes nowhere. */
START_TEST(windows)
{
    uint64_t v = 0;
    pci_bar_read(m.board, PCI_BAR_VRAM, VRAM - 4, &v, 8);
    ck_assert_uint_eq(v, UINT64_MAX);
    pci_bar_write(m.board, PCI_BAR_VRAM, UINT64_MAX - 3, &v, 8);
    pci_bar_read(m.board, 1, 0, &v, 8);
    ck_assert_uint_eq(v, UINT64_MAX);
    v = 0x1122334455667788;
    pci_bar_write(m.board, PCI_BAR_VRAM, 12345, &v, 8);
    ck_assert_int_eq(memcmp(m.vram + 12345, &v, 8), 0);
    machine_write(&m, 0x14, 0x141e900); /* beyond the window of registers */
    machine_write(&m, 0x15, 0x30000007);
    machine_write(&m, 0x14, 0x141e904);
    ck_assert_uint_eq(machine_read(&m, 0x15), 0);
    machine_write(&m, 0x14, 0x141e900);
    ck_assert_uint_eq(machine_read(&m, 0x15), 0x30000007);
    machine_write(&m, 0x14, 0x15 * 4); /* itself */
    ck_assert_uint_eq(machine_read(&m, 0x15), 0);
    machine_write(&m, 0x14, 0x1 * 4); /* each other */
    machine_write(&m, 0x0, 0x15 * 4);
    ck_assert_uint_eq(machine_read(&m, 0x15), 0);
    machine_write(&m, 0x15, 1);
    machine_write(&m, 0x1, 1);
}
END_TEST

/* A driver that goes through all registers by index finds some that are not there, and
 * those that are still work. */
START_TEST(many_registers)
{
    uint32_t kept = 0, i;
    for (i = 0; i < 1100; i++) {
        machine_write(&m, 0x14, 0x10000000 + i * 4096);
        machine_write(&m, 0x15, i + 1);
    }
    while (--i >= 1000) {
        machine_write(&m, 0x14, 0x10000000 + i * 4096);
        uint32_t value = machine_read(&m, 0x15);
        ck_assert(value == i + 1 || value == 0);
        kept += value != 0;
    }
    ck_assert_uint_gt(kept, 0);
    ck_assert_uint_le(kept, 24);
    machine_write(&m, 0xc041, 5);
    ck_assert_uint_eq(machine_read(&m, 0xc041), 5);
}
END_TEST

/* The boot loader, then a command in the ring whose fence comes. */
START_TEST(security_processor)
{
    uint64_t ring = machine_alloc(&m, 65536), command = machine_alloc(&m, 1024);
    uint64_t fence = machine_alloc(&m, 4);
    ck_assert_uint_eq(machine_read(&m, 0x16091), 0);
    machine_write(&m, 0x16063, 0x10000);
    ck_assert_uint_eq(machine_read(&m, 0x16091), 0);
    machine_write(&m, 0x16063, 0x20000);
    ck_assert_uint_eq(machine_read(&m, 0x16091), 0); /* drivers wait for a change */
    ck_assert_uint_ne(machine_read(&m, 0x16091), 0);
    ck_assert_uint_eq(machine_read(&m, 0x16063), 0x80000000);
    machine_write(&m, 0x16085, LO(FB + ring));
    machine_write(&m, 0x16086, HI(FB + ring));
    machine_write(&m, 0x16087, 65536);
    machine_write(&m, 0x16080, 2u << 16);
    uint32_t frame[16] = {LO(FB + command), HI(FB + command), 1024,
                          LO(FB + fence),   HI(FB + fence),   77};
    uint32_t id = 0x20;
    memcpy(m.vram + ring, frame, sizeof(frame));
    memcpy(m.vram + command + 8, &id, 4);
    memset(m.vram + command + 864, 0xff, 4);
    machine_write(&m, 0x16083, 16);
    uint32_t status, size, value;
    memcpy(&status, m.vram + command + 864, 4);
    memcpy(&size, m.vram + command + 880, 4);
    memcpy(&value, m.vram + fence, 4);
    ck_assert_uint_eq(status, 0);
    ck_assert_uint_eq(value, 77);
    ck_assert(size > 0 && size <= 0x1300000);
    ck_assert_uint_eq(machine_read(&m, 0x16083), 16);
    /* The scheduler's firmware gives its own version of itself, by pipe. */
    uint64_t image = machine_alloc(&m, 1024);
    const uint32_t load[] = {LO(FB + image), HI(FB + image), 1024, 81},
                   version = 0x3102;
    id = 6;
    memcpy(m.vram + image + 16, "$PS1", 4);
    memcpy(m.vram + image + 96, &version, 4);
    memcpy(m.vram + command + 8, &id, 4);
    memcpy(m.vram + command + 28, load, sizeof(load));
    memcpy(m.vram + ring + 64, frame, sizeof(frame));
    ck_assert_uint_eq(machine_read(&m, 0xc849), 0xe060);
    machine_write(&m, 0x16083, 32);
    ck_assert_uint_eq(machine_read(&m, 0xc849), 0xe060);
    machine_write(&m, 0xa900, 3u << 2 | 1);
    ck_assert_uint_eq(machine_read(&m, 0xc849), 0xe102);
    machine_write(&m, 0xa900, 0);
    machine_write(&m, 0x16083, 16);
    machine_write(&m, 0x16083, 0xfffffff0); /* beyond the ring: nothing */
    ck_assert_uint_eq(machine_read(&m, 0x16083), 0xfffffff0);
}
END_TEST

static uint32_t smu_response(uint32_t message, uint32_t argument)
{
    machine_write(&m, 0x1629a, 0);
    machine_write(&m, 0x16292, argument);
    machine_write(&m, 0x16282, message);
    return machine_read(&m, 0x1629a);
}

static uint32_t smu(uint32_t message, uint32_t argument)
{
    ck_assert_uint_eq(smu_response(message, argument), 1);
    return machine_read(&m, 0x16292);
}

START_TEST(system_management)
{
    ck_assert_uint_eq(machine_read(&m, 0x1629a), 1); /* else no driver asks */
    ck_assert_uint_ne(smu(2, 0), 0);
    ck_assert_uint_eq(smu(1, 41), 42);
    ck_assert_uint_eq(smu(0x1f, 0xff), 2 | 1u << 31); /* all from one to the other */
    ck_assert_uint_eq(smu(0x1f, 0), 500);
    ck_assert_uint_eq(smu(0x1f, 1), 2482);
    ck_assert_uint_eq(smu(0x1f, 2u << 16 | 0xff), 2); /* the memory's */
    ck_assert_uint_eq(smu(0x1f, 2u << 16), 96);
    ck_assert_uint_eq(smu(0x1f, 2u << 16 | 1), 1249);
    ck_assert_uint_eq(smu(0xc, 0), 0); /* features: none before they are switched on */
    ck_assert_uint_eq(smu(6, 0), 0);
    ck_assert_uint_eq(smu(0xc, 0), 0x4a);
    ck_assert_uint_eq(smu(0xd, 0), 0);
    uint64_t table = machine_alloc(&m, 4096); /* what it measures */
    smu(0xe, HI(FB + table));
    smu(0xf, LO(FB + table));
    smu(0x12, 5);
    uint16_t celsius, watts;
    uint32_t mhz;
    memcpy(&mhz, m.vram + table, 4);
    memcpy(&watts, m.vram + table + 116, 2);
    memcpy(&celsius, m.vram + table + 120, 2);
    ck_assert_uint_eq(mhz, 2482);
    ck_assert_uint_eq(watts, 20);
    ck_assert_uint_eq(celsius, 40);
    ck_assert_uint_eq(m.vram[table + 148], 4); /* the link's generation, width */
    ck_assert_uint_eq(m.vram[table + 149], 16);
    ck_assert_uint_eq(smu_response(0x12, 1), 1); /* the power table: left as it is */
    ck_assert_uint_eq(smu_response(0x12, 13), 0xff);
    smu(0xe, 0xffff); /* no memory there */
    ck_assert_uint_eq(smu_response(0x12, 5), 0xff);
    smu(0xe, HI(FB + table));
    ck_assert_uint_eq(smu(7, 0), 0);
    ck_assert_uint_eq(smu(0xc, 0), 0);
    machine_write(&m, 0xc047, 5);
    smu(0x12, 5);
    machine_write(&m, 0x1628b, 2);                  /* mode 1 reset */
    ck_assert_uint_eq(smu_response(0x12, 5), 0xff); /* no address */
    ck_assert_uint_eq(machine_read(&m, 0xc047), 0);
    ck_assert_uint_eq(machine_read(&m, 0x16091), 0);
}
END_TEST

/* Those of the next generation's unit, which some boards are given, lie elsewhere. */
START_TEST(metrics_of_others)
{
    struct pci_config config = {.vram_bytes = 256 << 20, .ctx = &m, .smu = {14, 0, 2}};
    struct pci_board *first = m.board;
    uint64_t table = 16 << 20;
    ck_assert_int_eq(pci_create(&config, &m.board), RD_OK);
    smu(0xe, HI(FB + table));
    smu(0xf, LO(FB + table));
    ck_assert_uint_eq(smu_response(0x12, 5), 0xff);
    pci_destroy(m.board);
    m.board = first;
}
END_TEST

/* ---- queues ------------------------------------------------------------------------
 */

START_TEST(packets)
{
    struct machine_queue q;
    uint64_t to = machine_alloc(&m, MACHINE_PAGE);
    const volatile uint32_t *p = machine_words(&m, to);
    machine_queue(&m, &q, 0);
    const uint32_t dw[] = {PM4(0x79, 2),
                           0x40,
                           0xcafe, /* SCRATCH_REG0 */
                           PM4(0x3c, 6),
                           1u << 6 | 3,
                           0xe26,
                           0xe27,
                           4,
                           4,
                           4,
                           PM4(0x37, 4),
                           5u << 8,
                           LO(FB + to),
                           HI(FB + to),
                           0x1234,
                           PM4(0x22, 4),
                           LO(FB + to + 64),
                           HI(FB + to + 64),
                           0,
                           5,
                           PM4(0x37, 4),
                           5u << 8,
                           LO(FB + to + 8),
                           HI(FB + to + 8),
                           1,
                           PM4(0x49, 7),
                           0x514,
                           1u << 29 | 2u << 24,
                           LO(FB + to + 4),
                           HI(FB + to + 4),
                           9,
                           0,
                           55};
    machine_submit(&q, dw, COUNT(dw));
    machine_wait(p + 1, 9);
    ck_assert_uint_eq(p[0], 0x1234);
    ck_assert_uint_eq(p[2], 0); /* left out by the condition */
    ck_assert_uint_eq(machine_read(&m, 0xc040), 0xcafe);
    machine_wait((const volatile uint32_t *)q.rptr, COUNT(dw));
    for (unsigned i = 0; i < 10000 && !atomic_load(&m.interrupts); i++)
        usleep(1000);
    ck_assert_uint_eq(atomic_load(&m.interrupts), 1);
    ck_assert_uint_eq(machine_read(&m, 0x1124), 32);
    uint64_t ring = (uint64_t)machine_read(&m, 0x1121) << 8 |
                    (uint64_t)machine_read(&m, 0x1122) << 40;
    const uint32_t *e = machine_words(&m, (ring - FB));
    ck_assert_uint_eq(e[0], 0x14 | 181u << 8 | (1u << 2) << 16);
    ck_assert_uint_eq(e[4], 55);
}
END_TEST

/* Kernels see what tables map: VRAM and host memory that lie anyhow, in one. */
START_TEST(kernel)
{
    struct machine_queue q;
    uint64_t va = 0x200000000000, root = machine_root(&m), dw_at = 0;
    uint64_t code = machine_alloc(&m, MACHINE_PAGE), fence = machine_alloc(&m, 4);
    uint64_t data = machine_alloc(&m, MACHINE_PAGE);
    uint32_t dw[64];
    memcpy(m.vram + code, machine_store_lanes, MACHINE_STORE_BYTES);
    machine_map(&m, root, va, code, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    /* the page in VRAM, behind it one of the host's */
    machine_map(&m, root, va + 0x10000, data, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_map(&m, root, va + 0x11000, HOST_BUS + 0x3000, MACHINE_PAGE,
                PTE_VALID | PTE_SYSTEM | PTE_RWX);
    machine_use_root(&m, root, va - (va & ((1ull << 48) - 1)));
    machine_queue(&m, &q, 1);
    unsigned n = machine_dispatch(dw, va, va + 0x11000 - 64, FB + fence);
    machine_submit(&q, dw, n);
    machine_wait(machine_words(&m, fence), 1);
    for (uint32_t lane = 0; lane < 32; lane++) {
        const uint8_t *p = lane < 16 ? m.vram + data + MACHINE_PAGE - 64 + 4ul * lane
                                     : m.host + 0x3000 + 4ul * (lane - 16);
        uint32_t v;
        memcpy(&v, p, 4);
        ck_assert_uint_eq(v, lane);
    }
    (void)dw_at;
    /* After a flush the same address is somewhere else. */
    uint64_t other = machine_alloc(&m, MACHINE_PAGE);
    machine_map(&m, root, va + 0x10000, other, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_flush(&m);
    memset(m.vram + data, 0xee, MACHINE_PAGE);
    n = machine_dispatch(dw, va, va + 0x10000, FB + fence);
    memset(m.vram + fence, 0, 4);
    machine_submit(&q, dw, n);
    machine_wait(machine_words(&m, fence), 1);
    ck_assert_uint_eq(m.vram[other + 4], 1);
    ck_assert_uint_eq(m.vram[data], 0xee);
}
END_TEST

/* A store where nothing is mapped: status registers, an interrupt, the queue stands. */
START_TEST(fault)
{
    struct machine_queue q;
    uint64_t va = 0x200000000000, root = machine_root(&m);
    uint64_t code = machine_alloc(&m, MACHINE_PAGE), fence = machine_alloc(&m, 4);
    uint32_t dw[64];
    memcpy(m.vram + code, machine_store_lanes, MACHINE_STORE_BYTES);
    machine_map(&m, root, va, code, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_use_root(&m, root, 0);
    machine_queue(&m, &q, 0);
    unsigned n = machine_dispatch(dw, va, va + 0x7000, FB + fence);
    machine_submit(&q, dw, n);
    for (unsigned i = 0; i < 60000 && !atomic_load(&m.interrupts); i++)
        usleep(1000);
    ck_assert_uint_eq(atomic_load(&m.interrupts), 1);
    ck_assert_uint_ne(machine_read(&m, 0x2828) & 1u << 18, 0); /* a write */
    ck_assert_uint_eq(machine_read(&m, 0x2829), LO((va + 0x7000) >> 12));
    machine_write(&m, 0x2824, 1);
    ck_assert_uint_eq(machine_read(&m, 0x2828), 0);
    /* Taken off and started again, it works. */
    machine_write(&m, 0xa900, 1u << 2);
    machine_write(&m, 0x3221, 2);
    ck_assert_uint_eq(machine_read(&m, 0x320b), 0);
    machine_map(&m, root, va + 0x7000, machine_alloc(&m, MACHINE_PAGE), MACHINE_PAGE,
                PTE_VALID | PTE_RWX);
    machine_flush(&m);
    machine_queue(&m, &q, 0);
    machine_submit(&q, dw, n);
    machine_wait(machine_words(&m, fence), 1);
    /* In an indirect buffer it is of the buffer's VMID, whose process a table names. */
    const uint32_t ib[] = {PM4(0x3f, 3), 0x5000, 0, 8 | 3u << 24};
    machine_write(&m, 0x10a3, 0x8042);
    machine_submit(&q, ib, COUNT(ib));
    for (unsigned i = 0; i < 60000 && atomic_load(&m.interrupts) < 2; i++)
        usleep(1000);
    ck_assert_uint_eq(machine_read(&m, 0x2828) >> 20 & 15, 3);
    uint64_t entries = (uint64_t)machine_read(&m, 0x1121) << 8 |
                       (uint64_t)machine_read(&m, 0x1122) << 40;
    ck_assert_uint_eq(machine_words(&m, entries - FB)[8 + 3], 0x8042);
}
END_TEST

/* Goes round while the first dword of its data is 0, then to the page behind its own.
 */
static const uint32_t around[] = {0xf4000100, 0xf8000000, 0x7e000280, 0x7e020281,
                                  0xdcd60020, 0x00000100, 0xbf89fc07, 0xbf068004,
                                  0xbfa2fff7, 0xbe824700, 0x8002ff02, 0x00001000 - 40,
                                  0x82038003, 0xbe804802, 0xbf9f0000};

/* Two queues of an address space whose tables change while the first one's kernel goes
 * round. What stays is there all the time, also where a run of pages grows; code that
 * has gone is not decoded. */
START_TEST(pages_under_a_kernel)
{
    struct machine_queue q, other;
    uint64_t va = 0x200000000000, root = machine_root(&m), flags = PTE_VALID | PTE_RWX;
    uint64_t code = machine_alloc(&m, 2 * MACHINE_PAGE);
    uint64_t data = machine_alloc(&m, 2 * MACHINE_PAGE);
    uint64_t fence = machine_alloc(&m, 8), store = machine_alloc(&m, MACHINE_PAGE);
    volatile uint32_t *words = machine_words(&m, data);
    uint32_t dw[64];
    memcpy(m.vram + code, around, sizeof(around));
    memcpy(m.vram + store, machine_store_lanes, MACHINE_STORE_BYTES);
    machine_map(&m, root, va, code, 2 * MACHINE_PAGE, flags);
    machine_map(&m, root, va + 0x8000, store, MACHINE_PAGE, flags);
    machine_map(&m, root, va + 0x10000, data, MACHINE_PAGE, flags);
    machine_use_root(&m, root, 0);
    machine_queue(&m, &q, 0);
    machine_queue(&m, &other, 1);
    unsigned n = machine_dispatch(dw, va, va + 0x10000, FB + fence);
    dw[7] = 2u << 1;
    machine_submit(&q, dw, n);
    for (unsigned i = 0; i < 60000 && !words[8]; i++)
        usleep(100);
    for (unsigned i = 1; i < 40; i++) {
        bool last = i == 39; /* and it goes to what is no more there */
        machine_map(&m, root, va + 0x11000, data + 0x1000, MACHINE_PAGE,
                    i % 2 ? flags : 0);
        if (last)
            machine_map(&m, root, va + 0x1000, code + 0x1000, MACHINE_PAGE, 0);
        machine_flush(&m);
        memset(m.vram + fence, 0, 8);
        n = machine_dispatch(dw, va + 0x8000, va + 0x10000 + 64, FB + fence + 4);
        machine_submit(&other, dw, n);
        machine_wait(machine_words(&m, fence + 4), 1);
        ck_assert_uint_eq(atomic_load(&m.interrupts), 0);
    }
    uint32_t was = words[8];
    for (unsigned i = 0; i < 60000 && words[8] == was; i++)
        usleep(100);
    ck_assert_uint_ne(words[8], was);
    words[0] = 1;
    for (unsigned i = 0; i < 60000 && !atomic_load(&m.interrupts); i++)
        usleep(1000);
    ck_assert_uint_eq(atomic_load(&m.interrupts), 1);
    ck_assert_uint_eq(machine_read(&m, 0x2829), LO((va + 0x1000) >> 12));
}
END_TEST

/* Goes round while the first dword of its data is 0, then stores what the page behind
 * its own begins with to the one behind that. */
static const uint32_t late[] = {
    0xf4004100, 0xf8000000, 0x7e000280, 0x7e020281, 0xdcd60020, 0x00000100,
    0xbf89fc07, 0xbf068004, 0xbfa2fff7, 0xf4000140, 0xf8001000, 0x7e0002ff,
    0x00002000, 0xbf89fc07, 0x7e020205, 0xdc6a0000, 0x00000100, 0xbfb00000};

/* Memory that is mapped while a kernel runs, which is told of it: a runtime's answer to
 * malloc in a kernel. Nothing else runs meanwhile. _i: it was there, what it
 * writes not for writing. */
START_TEST(mapped_under_a_kernel)
{
    struct machine_queue q;
    uint64_t va = 0x200000000000, root = machine_root(&m), flags = PTE_VALID | PTE_RWX;
    uint64_t code = machine_alloc(&m, MACHINE_PAGE);
    uint64_t data = machine_alloc(&m, 3ul * MACHINE_PAGE);
    uint64_t fence = machine_alloc(&m, 4);
    volatile uint32_t *words = machine_words(&m, data);
    uint32_t dw[64];
    memcpy(m.vram + code, late, sizeof(late));
    machine_map(&m, root, va, code, MACHINE_PAGE, flags);
    machine_map(&m, root, va + 0x10000, data, MACHINE_PAGE, flags);
    if (_i) {
        machine_map(&m, root, va + 0x11000, data + 0x1000, MACHINE_PAGE, flags);
        machine_map(&m, root, va + 0x12000, data + 0x2000, MACHINE_PAGE,
                    flags & ~PTE_WRITE);
    }
    machine_use_root(&m, root, 0);
    machine_queue(&m, &q, 0);
    unsigned n = machine_dispatch(dw, va, va + 0x10000, FB + fence);
    machine_submit(&q, dw, n);
    for (unsigned i = 0; i < 60000 && !words[8]; i++)
        usleep(100);
    words[0x1000 / 4] = 0x12345678;
    machine_map(&m, root, va + 0x11000, data + 0x1000, 2ul * MACHINE_PAGE, flags);
    machine_flush(&m);
    words[0] = 1;
    machine_wait(machine_words(&m, fence), 1);
    ck_assert_uint_eq(atomic_load(&m.interrupts), 0);
    ck_assert_uint_eq(words[0x2000 / 4], 0x12345678);
}
END_TEST

/* Goes round while the first dword of its data is not 0. */
static const uint32_t while_set[] = {0xf4004100, 0xf8000000, 0xbf89fc07,
                                     0xbf078004, 0xbfa2fffb, 0xbfb00000};

/* A page that only changes its permissions is there for a kernel all the time, while
 * another queue has tables looked at. */
START_TEST(permissions_under_a_kernel)
{
    struct machine_queue q, other;
    uint64_t va = 0x200000000000, root = machine_root(&m), flags = PTE_VALID | PTE_RWX;
    uint64_t code = machine_alloc(&m, MACHINE_PAGE);
    uint64_t data = machine_alloc(&m, 2ul * MACHINE_PAGE);
    uint64_t fence = machine_alloc(&m, 8), store = machine_alloc(&m, MACHINE_PAGE);
    volatile uint32_t *words = machine_words(&m, data);
    uint32_t dw[64];
    memcpy(m.vram + code, while_set, sizeof(while_set));
    memcpy(m.vram + store, machine_store_lanes, MACHINE_STORE_BYTES);
    machine_map(&m, root, va, code, MACHINE_PAGE, flags);
    machine_map(&m, root, va + 0x8000, store, MACHINE_PAGE, flags);
    machine_map(&m, root, va + 0x10000, data, 2 * MACHINE_PAGE, flags);
    machine_use_root(&m, root, 0);
    machine_queue(&m, &q, 0);
    machine_queue(&m, &other, 1);
    words[0] = 1;
    unsigned n = machine_dispatch(dw, va, va + 0x10000, FB + fence);
    machine_submit(&q, dw, n);
    for (unsigned i = 0; i < 200; i++) {
        machine_map(&m, root, va + 0x10000, data, MACHINE_PAGE,
                    i % 2 ? flags : flags & ~PTE_WRITE);
        machine_flush(&m);
        *machine_words(&m, fence + 4) = 0;
        n = machine_dispatch(dw, va + 0x8000, va + 0x11000, FB + fence + 4);
        machine_submit(&other, dw, n);
        machine_wait(machine_words(&m, fence + 4), 1);
        ck_assert_uint_eq(*machine_words(&m, fence), 0);
    }
    words[0] = 0;
    machine_wait(machine_words(&m, fence), 1);
    ck_assert_uint_eq(atomic_load(&m.interrupts), 0);
}
END_TEST

/* Waves that have halted, and those that never end, are killed by VMID: their queue
 * goes on, as drivers that recover a ring without a reset expect. */
START_TEST(waves_killed)
{
    enum { SQ_CMD = 0x237b, KILL = 3 | 1 << 4 | 1 << 7 };
    static const uint32_t codes[] = {0 /* v_illegal */,
                                     0xbfa0ffff /* s_branch to itself */};
    struct machine_queue q;
    uint64_t va = 0x200000000000, root = machine_root(&m);
    uint64_t code = machine_alloc(&m, MACHINE_PAGE), fence = machine_alloc(&m, 4);
    uint32_t dw[64];
    machine_map(&m, root, va, code, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_use_root(&m, root, 0);
    machine_queue(&m, &q, 0);
    for (unsigned i = 0; i < COUNT(codes); i++) {
        volatile uint32_t *done = machine_words(&m, fence);
        *done = 0;
        memcpy(m.vram + code, &codes[i], 4);
        machine_flush(&m);
        machine_submit(&q, dw, machine_dispatch(dw, va, va, FB + fence));
        for (unsigned n = 0; n < 60000 && !i && !machine_said(&m, "illegal"); n++)
            usleep(100);
        machine_write(&m, SQ_CMD, KILL | 5u << 28); /* others' */
        machine_write(&m, SQ_CMD, KILL & ~3);
        usleep(20000);
        ck_assert_uint_eq(*done, 0);
        for (unsigned n = 0; n < 600 && !*done; n++) {
            machine_write(&m, SQ_CMD, KILL);
            usleep(1000);
        }
        ck_assert_uint_eq(*done, 1);
    }
}
END_TEST

/* A compute queue that is mapped by a packet: where the packet says, as its interrupts
 * tell. */
START_TEST(mapped_by_packet)
{
    struct machine_queue kiq, q = {.m = &m, .dwords = 1024, .doorbell = 0x20};
    uint64_t mqd = machine_alloc(&m, MACHINE_PAGE), ring = machine_alloc(&m, 4096);
    uint64_t pointers = machine_alloc(&m, 64);
    uint32_t *d = machine_words(&m, mqd);
    d[136] = LO((FB + ring) >> 8);
    d[137] = HI((FB + ring) >> 8);
    d[139] = LO(FB + pointers);
    d[140] = HI(FB + pointers);
    d[141] = LO(FB + pointers + 8);
    d[142] = HI(FB + pointers + 8);
    d[145] = 9; /* 2^10 dwords */
    q.ring = machine_words(&m, ring);
    machine_queue(&m, &kiq, 0);
    const uint32_t map[] = {
        PM4(0xa2, 6),         1u << 29 | 1u << 18 | 2u << 16 | 3u << 13,
        0x20u << 2,           LO(FB + mqd),
        HI(FB + mqd),         LO(FB + pointers + 8),
        HI(FB + pointers + 8)};
    const uint32_t eop[] = {PM4(0x49, 7), 0x514, 2u << 24, 0, 0, 0, 0, 0};
    machine_submit(&kiq, map, COUNT(map));
    for (unsigned i = 0; i < 60000 && *kiq.rptr < COUNT(map); i++)
        usleep(100);
    machine_submit(&q, eop, COUNT(eop));
    for (unsigned i = 0; i < 60000 && !atomic_load(&m.interrupts); i++)
        usleep(100);
    uint64_t ih = (uint64_t)machine_read(&m, 0x1121) << 8 |
                  (uint64_t)machine_read(&m, 0x1122) << 40;
    const uint32_t *e = machine_words(&m, ih - FB);
    ck_assert_uint_eq(e[0] & 0xffff, 0x14 | 181u << 8);
    ck_assert_uint_eq(e[0] >> 16 & 0xff, 3u << 4 | 1u << 2 | 2u);
}
END_TEST

START_TEST(dma_engine)
{
    uint64_t ring = machine_alloc(&m, 4096), pointers = machine_alloc(&m, 64);
    uint64_t to = machine_alloc(&m, MACHINE_PAGE),
             table = machine_alloc(&m, MACHINE_PAGE);
    uint64_t root = machine_root(&m), va = 0x100000000000;
    machine_map(&m, root, va, HOST_BUS, HOST, PTE_VALID | PTE_SYSTEM | PTE_RWX);
    machine_use_root(&m, root, 0);
    memset(m.host + 100, 0x5a, 64);
    const uint32_t dw[] = {1,
                           63,
                           0,
                           LO(va + 100),
                           HI(va + 100),
                           LO(FB + to),
                           HI(FB + to),
                           12,
                           LO(FB + table),
                           HI(FB + table),
                           0x71,
                           0,
                           0x5000,
                           0,
                           0x1000,
                           0,
                           2, /* entries of a table */
                           5,
                           LO(FB + to + 256),
                           HI(FB + to + 256),
                           3};
    memcpy(m.vram + ring, dw, sizeof(dw));
    machine_write(&m, 0x12e1, LO((FB + ring) >> 8));
    machine_write(&m, 0x12e2, HI((FB + ring) >> 8));
    machine_write(&m, 0x12e8, HI(FB + pointers));
    machine_write(&m, 0x12e9, LO(FB + pointers));
    machine_write(&m, 0x130b, 0x800);
    machine_write(&m, 0x12e0, 1u | 10u << 1);
    machine_doorbell(&m, 0x200, sizeof(dw));
    machine_wait(machine_words(&m, to + 256), 3);
    ck_assert_int_eq(memcmp(m.vram + to, m.host + 100, 64), 0);
    const uint64_t *e = machine_entries(&m, table);
    for (uint64_t i = 0; i < 3; i++)
        ck_assert_uint_eq(e[i], 0x71 | (0x5000 + 0x1000 * i));
    machine_write(&m, 0x12e0, 0);
    machine_doorbell(&m, 0x200, 4096); /* nobody is there any more */
}
END_TEST

/* An engine's ring that waits for ever is reset, alone or with its engine, and enabled
 * once more behind what it has hung in, its control register read and changed. */
START_TEST(dma_ring_reset)
{
    enum { BYTES = 4096, STEP = 0x600, CNTL = 0x12e0 + STEP };
    uint64_t ring = machine_alloc(&m, BYTES), to = machine_alloc(&m, 64),
             pointers = machine_alloc(&m, 64);
    const uint32_t never[] = {8u | 1u << 31 | 3u << 28, LO(FB + to), HI(FB + to), 9,
                              ~0u};
    uint32_t *dw = machine_words(&m, ring), put = 0;
    machine_write(&m, CNTL + 1, LO((FB + ring) >> 8));
    machine_write(&m, CNTL + 2, HI((FB + ring) >> 8));
    machine_write(&m, CNTL + 8, HI(FB + pointers));
    machine_write(&m, CNTL + 9, LO(FB + pointers));
    machine_write(&m, CNTL + 0x2b, 0x800);
    machine_write(&m, CNTL, 1u | 10u << 1);
    for (uint32_t round = 1; round < 4; round++) {
        const uint32_t fence[] = {5, LO(FB + to + 16), HI(FB + to + 16), round};
        memcpy(dw + put, never, sizeof(never));
        put += COUNT(never);
        machine_doorbell(&m, 0x200, 4ul * put);
        if (round == 3) {
            machine_write(&m, 0x2008, 1u << 24);
        } else {
            machine_write(&m, 0x12db + STEP, 1);
            ck_assert_uint_eq(machine_read(&m, 0x12db + STEP), 0);
        }
        ck_assert_uint_eq(machine_read(&m, CNTL) & 1, 0);
        machine_write(&m, CNTL + 3, 4 * put);
        machine_write(&m, CNTL + 5, 4 * put);
        machine_write(&m, CNTL, machine_read(&m, CNTL) | 1);
        memcpy(dw + put, fence, sizeof(fence));
        put += COUNT(fence);
        machine_doorbell(&m, 0x200, 4ul * put);
        machine_wait(machine_words(&m, to + 16), round);
    }
}
END_TEST

/* Registers of several pages of the file, with and without a row in the table. */
START_TEST(reset)
{
    static const uint32_t regs[][2] = {{0x4c, 0},   {0x53, 0x200}, {0x1121, 0},
                                       {0x2953, 0}, {0x3a77, 0},   {0x1ff00, 0}};
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 6; i++)
            machine_write(&m, regs[i][0], 0x1234);
        for (unsigned i = 0; i < 6; i++)
            ck_assert_uint_eq(machine_read(&m, regs[i][0]), 0x1234);
        pci_reset(m.board);
        for (unsigned i = 0; i < 6; i++)
            ck_assert_uint_eq(machine_read(&m, regs[i][0]), regs[i][1]);
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("board");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, identity);
    tcase_add_test(t, discovery);
    tcase_add_test(t, rom);
    tcase_add_test(t, windows);
    tcase_add_test(t, many_registers);
    tcase_add_test(t, security_processor);
    tcase_add_test(t, system_management);
    tcase_add_test(t, metrics_of_others);
    tcase_add_test(t, packets);
    tcase_add_test(t, kernel);
    tcase_add_test(t, fault);
    tcase_add_test(t, pages_under_a_kernel);
    tcase_add_loop_test(t, mapped_under_a_kernel, 0, 2);
    tcase_add_test(t, permissions_under_a_kernel);
    tcase_add_test(t, waves_killed);
    tcase_add_test(t, mapped_by_packet);
    tcase_add_test(t, dma_engine);
    tcase_add_test(t, dma_ring_reset);
    tcase_add_test(t, reset);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return suite_run(suite());
}
