/* test_processes.c: queues of processes, by frames of the scheduler: address spaces,
 * what is unmapped inside a kernel, identities in interrupts, hostile tables.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "machine.h"

#define FRAME 64u

static struct machine m;
static struct machine_queue mes;
static uint64_t fences; /* of frames, in VRAM */
static uint32_t frames;

/* The scheduler's ring is a queue of me 3, pipe 0. */
static void setup(void)
{
    machine_create(&m);
    uint64_t ring = machine_alloc(&m, 65536), pointers = machine_alloc(&m, 64);
    fences = machine_alloc(&m, MACHINE_PAGE);
    frames = 0;
    mes = (struct machine_queue){.m = &m,
                                 .ring = machine_words(&m, ring),
                                 .dwords = 65536 / 4,
                                 .doorbell = 0x16};
    machine_write(&m, 0xa900, 3u << 2);
    machine_write(&m, 0x3211, LO((FB + ring) >> 8));
    machine_write(&m, 0x3212, HI((FB + ring) >> 8));
    machine_write(&m, 0x3214, LO(FB + pointers));
    machine_write(&m, 0x3215, HI(FB + pointers));
    machine_write(&m, 0x3218, 1u << 30 | 0x16u << 2);
    machine_write(&m, 0x321a, 13);
    machine_write(&m, 0x320b, 1);
    machine_write(&m, 0xa900, 0);
}

static void teardown(void)
{
    machine_destroy(&m);
}

/* Send a frame and wait for its fence, which is at dword status. */
static void frame(uint32_t dw[FRAME], unsigned op, unsigned status)
{
    dw[0] = 1u | op << 4 | FRAME << 12;
    dw[status] = LO(FB + fences);
    dw[status + 1] = HI(FB + fences);
    dw[status + 2] = ++frames;
    machine_submit(&mes, dw, FRAME);
    machine_wait(machine_words(&m, fences), frames);
}

struct process {
    uint64_t root, mqd, ring, pointers, data;
    uint32_t doorbell, pasid, put;
};

#define VA_RING 0x7f0000000000ull /* the same in all processes */
#define VA_REST 0x7f0000100000ull
#define VA_CODE 0x7f0000200000ull
#define VA_DATA 0x7f0000300000ull
#define RING    8192u

static void process(struct process *p, uint32_t doorbell, uint32_t pasid)
{
    uint64_t flags = PTE_VALID | PTE_RWX, code = machine_alloc(&m, MACHINE_PAGE);
    *p = (struct process){.root = machine_root(&m),
                          .mqd = machine_alloc(&m, MACHINE_PAGE),
                          .ring = machine_alloc(&m, RING),
                          .pointers = machine_alloc(&m, MACHINE_PAGE),
                          .data = machine_alloc(&m, MACHINE_PAGE),
                          .doorbell = doorbell,
                          .pasid = pasid};
    memcpy(m.vram + code, machine_store_lanes, MACHINE_STORE_BYTES);
    machine_map(&m, p->root, VA_RING, p->ring, RING, flags);
    machine_map(&m, p->root, VA_REST, p->pointers, MACHINE_PAGE, flags);
    machine_map(&m, p->root, VA_CODE, code, MACHINE_PAGE, flags);
    machine_map(&m, p->root, VA_DATA, p->data, MACHINE_PAGE, flags);
    uint32_t *d = machine_words(&m, p->mqd);
    d[136] = LO(VA_RING >> 8);
    d[137] = HI(VA_RING >> 8);
    d[139] = LO(VA_REST);
    d[140] = HI(VA_REST);
    d[141] = LO(VA_REST + 8);
    d[142] = HI(VA_REST + 8);
    d[145] = 10; /* 2^11 dwords */
}

static void add(const struct process *p)
{
    uint32_t dw[FRAME] = {0};
    dw[1] = p->pasid;
    dw[2] = LO(p->root | 1);
    dw[3] = HI(p->root);
    dw[18] = p->doorbell;
    dw[19] = LO(FB + p->mqd);
    dw[20] = HI(FB + p->mqd);
    dw[27] = 1;
    dw[36] = 1u << 9;
    frame(dw, 2, 37);
}

static void take_away(const struct process *p)
{
    uint32_t dw[FRAME] = {0};
    dw[1] = p->doorbell;
    frame(dw, 3, 5);
}

static void submit(struct process *p, const uint32_t *dw, unsigned n)
{
    uint32_t *ring = machine_words(&m, p->ring);
    for (unsigned i = 0; i < n; i++)
        ring[p->put++ % (RING / 4)] = dw[i];
    machine_doorbell(&m, p->doorbell, p->put);
}

static volatile uint32_t *data_of(const struct process *p)
{
    return machine_words(&m, p->data);
}

START_TEST(frames_and_registers)
{
    uint32_t dw[FRAME] = {0};
    dw[1] = 0; /* write a register */
    dw[6] = 0xc041;
    dw[7] = 0x777;
    frame(dw, 14, 2);
    ck_assert_uint_eq(machine_read(&m, 0xc041), 0x777);
    memset(dw, 0, sizeof(dw));
    dw[1] = 3; /* read it to memory */
    dw[6] = 0xc041;
    dw[7] = LO(FB + fences + 64);
    dw[8] = HI(FB + fences + 64);
    frame(dw, 14, 2);
    ck_assert_uint_eq(m.vram[fences + 64], 0x77);
    memset(dw, 0, sizeof(dw));
    frame(dw, 0, 50); /* resources */
    memset(dw, 0, sizeof(dw));
    frame(dw, 11, 2);
}
END_TEST

/* Zeros between frames are passed over; what is no frame is not answered, and nobody is
 * told: a driver knows no error interrupt of the scheduler. */
/* A kernel that has slept maps the scheduler's ring again, which it never unmapped: its
 * frames go to the new one. */
START_TEST(scheduler_again)
{
    struct machine_queue kiq;
    uint32_t dw[FRAME] = {0};
    uint64_t mqd = machine_alloc(&m, MACHINE_PAGE), ring = machine_alloc(&m, RING);
    uint64_t pointers = machine_alloc(&m, 64);
    uint32_t *d = machine_words(&m, mqd);
    const uint64_t places[] = {(FB + ring) >> 8, FB + pointers, FB + pointers + 8};
    const unsigned fields[] = {136, 139, 141};
    for (unsigned i = 0; i < 3; i++) {
        d[fields[i]] = LO(places[i]);
        d[fields[i] + 1] = HI(places[i]);
    }
    d[145] = 10;
    const uint32_t map[] = {PM4(0xa2, 6), 5u << 26, 0x16u << 2, LO(FB + mqd),
                            HI(FB + mqd), 0,        0};
    frame(dw, 11, 2);
    machine_queue(&m, &kiq, 0);
    machine_submit(&kiq, map, COUNT(map));
    for (unsigned i = 0; i < 60000 && *kiq.rptr < COUNT(map); i++)
        usleep(100);
    mes.ring = machine_words(&m, ring);
    mes.dwords = RING / 4;
    mes.put = 0;
    memset(dw, 0, sizeof(dw));
    frame(dw, 11, 2);
}
END_TEST

START_TEST(padding)
{
    uint32_t dw[FRAME] = {0};
    machine_submit(&mes, dw, 7);
    frame(dw, 11, 2);
    memset(dw, 0, sizeof(dw));
    for (unsigned i = 0; i < 3; i++)
        machine_submit(&mes, dw, FRAME);
    frame(dw, 11, 2);
    dw[0] = 9;
    machine_submit(&mes, dw, FRAME);
    for (unsigned i = 0; i < 10000 && !machine_said(&m, "frame"); i++)
        usleep(1000);
    ck_assert(machine_said(&m, "frame"));
    ck_assert_uint_eq(atomic_load(&m.interrupts), 0);
}
END_TEST

/* Two processes with the same addresses and other memory behind them. */
START_TEST(two_spaces)
{
    struct process p[2];
    uint32_t dw[64];
    for (unsigned i = 0; i < 2; i++) {
        process(&p[i], 0x1000 + 2 * i, 0x8001 + i);
        add(&p[i]);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 2; i++)
            memset(m.vram + p[i].data, 0xee, MACHINE_PAGE);
        unsigned i = round % 2,
                 n = machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512);
        submit(&p[i], dw, n);
        machine_wait(data_of(&p[i]) + 128, 1);
        for (uint32_t lane = 0; lane < 32; lane++) {
            ck_assert_uint_eq(data_of(&p[i])[lane], lane);
            ck_assert_uint_eq(data_of(&p[!i])[lane], 0xeeeeeeee);
        }
    }
    take_away(&p[0]);
    take_away(&p[1]);
}
END_TEST

/* What maps new pages need not flush: each dispatch looks. */
START_TEST(new_pages)
{
    struct process p;
    uint32_t dw[64];
    process(&p, 0x1000, 0x8001);
    add(&p);
    submit(&p, dw, machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512));
    machine_wait(data_of(&p) + 128, 1);
    machine_map(&m, p.root, VA_DATA + 0x5000, HOST_BUS, MACHINE_PAGE,
                PTE_VALID | PTE_SYSTEM | PTE_RWX);
    submit(&p, dw, machine_dispatch(dw, VA_CODE, VA_DATA + 0x5000, VA_DATA + 0x5200));
    void *fence = m.host + 512;
    machine_wait(fence, 1);
    ck_assert_uint_eq(m.host[4], 1);
}
END_TEST

/* loop: s_load_b32 s4, s[0:1]; counts at 32 behind it until it is not 0 (from
 * tests/driver) */
static const uint32_t spin[] = {0xf4000100, 0xf8000000, 0x7e000280, 0x7e020281,
                                0xdcd60020, 0x00000100, 0xbf89fc07, 0xbf068004,
                                0xbfa2fff7, 0xbfb00000, 0xbf9f0000};

static void wait_change(const volatile uint32_t *p)
{
    uint32_t before = *p;
    for (unsigned i = 0; i < 600000 && *p == before; i++)
        usleep(100);
    ck_assert_uint_ne(*p, before);
}

/* Wait until the queue of a process is inside a kernel that goes round until its data's
 * first word is 1. */
static void start_spinning_in(struct process *p, uint32_t items)
{
    uint32_t dw[64];
    uint64_t code = machine_alloc(&m, MACHINE_PAGE);
    memcpy(m.vram + code, spin, sizeof(spin));
    machine_map(&m, p->root, VA_CODE + 0x1000, code, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_flush(&m);
    unsigned n = machine_dispatch(dw, VA_CODE + 0x1000, VA_DATA, VA_DATA + 512);
    dw[7] = 4u << 1; /* four user SGPRs: s4 is free */
    dw[14] = items;
    submit(p, dw, n);
    wait_change(data_of(p) + 8);
}

static void start_spinning(struct process *p)
{
    if (!p->put)
        add(p);
    start_spinning_in(p, 32);
}

/* Unmapped inside a kernel, a queue stands; mapped again, the kernel goes on. */
START_TEST(unmapped_inside)
{
    struct process p;
    process(&p, 0x1000, 0x8001);
    start_spinning(&p);
    take_away(&p);
    uint32_t stood = data_of(&p)[8];
    usleep(20000);
    ck_assert_uint_eq(data_of(&p)[8], stood);
    /* Its memory has moved meanwhile, as when a driver needs the room. */
    uint64_t moved = machine_alloc(&m, MACHINE_PAGE);
    memcpy(m.vram + moved, m.vram + p.data, MACHINE_PAGE);
    machine_map(&m, p.root, VA_DATA, moved, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    p.data = moved;
    add(&p);
    wait_change(data_of(&p) + 8);
    *data_of(&p) = 1;
    machine_wait(data_of(&p) + 128, 1);
    take_away(&p);
}
END_TEST

/* A process that is killed inside a kernel leaves its queue unmapped; the next one gets
 * its descriptor's place, its doorbell and its number, but not its waves. */
START_TEST(killed_inside)
{
    struct process p, other;
    uint32_t dw[64], first[MACHINE_PAGE / 4];
    process(&p, 0x1000, 0x8001);
    machine_words(&m, p.mqd)[174] = 0x3000; /* nothing saved: as large as the stack */
    machine_words(&m, p.mqd)[175] = 0x3000;
    memcpy(first, m.vram + p.mqd, sizeof(first));
    start_spinning(&p);
    take_away(&p);
    ck_assert_uint_lt(machine_words(&m, p.mqd)[174], 0x3000);
    ck_assert_uint_gt(machine_words(&m, p.mqd)[176], 0x3000);
    memcpy(m.vram + p.mqd, first, sizeof(first));
    p.put = 0;
    add(&p);
    unsigned n = machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512);
    submit(&p, dw, n);
    machine_wait(data_of(&p) + 128, 1);
    ck_assert_uint_eq(data_of(&p)[31], 31);
    start_spinning(&p);
    take_away(&p);
    /* The same doorbell in other tables. */
    process(&other, 0x1000, 0x8001);
    add(&other);
    submit(&other, dw, n);
    machine_wait(data_of(&other) + 128, 1);
    take_away(&other);
}
END_TEST

/* A kernel driver's handler: after a branch, a branch to what restores; SAVECTX stores
 * s0, s1, PC, EXEC where the wave is told to, anything else sends 0x805. */
static const uint32_t handler[] = {
    0xbfa00001, 0xbfa00017, 0xb8eef803, 0xbf0d8a6e, 0xbfa10020, 0xbef0007e, 0xbefe4d84,
    0xbf89fc07, 0xbef4007e, 0x8b75ff7f, 0x0000ffff, 0x8b6dff6d, 0x0000ffff, 0xbefe0081,
    0x7e040280, 0x7e060200, 0x7e080201, 0x7e0a026c, 0x7e0c026d, 0xdc760000, 0x00740302,
    0x7e060270, 0xdc6a0010, 0x00740302, 0xbfb00000, 0xbef4007e, 0x8b75ff7f, 0x0000ffff,
    0xf404003a, 0xf8000000, 0xf4041b3a, 0xf8000008, 0xf4001c3a, 0xf8000010, 0xbf89fc07,
    0xbefe0070, 0xbe804a6c, 0xbefd00ff, 0x00000805, 0xbfb60001, 0xbfb00000, 0xbf9f0000};

#define VA_HANDLER 0xffffffbf0000ull /* 48 bits, the uppermost set */
#define VA_SAVE    0x7f0000400000ull
#define CONTEXT    0x7f0000500000ull /* the scheduler's name for a process */
#define STACK      0x3000u
#define SAVE       0x8000u

/* A debugger's request: traps or not, launches halted, what is watched first. */
static void debug(bool trap, uint32_t launch, uint32_t watch)
{
    uint32_t dw[FRAME] = {0};
    dw[1] = 5;
    dw[6] = LO(CONTEXT);
    dw[7] = HI(CONTEXT);
    dw[9] = launch;
    dw[10] = watch;
    dw[14] = trap;
    frame(dw, 14, 2);
}

static void add_debugged(const struct process *p)
{
    uint32_t dw[FRAME] = {0};
    dw[1] = p->pasid;
    dw[2] = LO(p->root | 1);
    dw[3] = HI(p->root);
    dw[10] = LO(CONTEXT);
    dw[11] = HI(CONTEXT);
    dw[18] = p->doorbell;
    dw[19] = LO(FB + p->mqd);
    dw[20] = HI(FB + p->mqd);
    dw[27] = 1;
    dw[33] = LO(VA_HANDLER);
    dw[34] = HI(VA_HANDLER);
    dw[36] = 1u << 9 | 1u << 12;
    frame(dw, 2, 37);
}

/* A process with a handler and a save area, which it returns. */
static uint8_t *debugged(struct process *p)
{
    uint64_t code = machine_alloc(&m, MACHINE_PAGE), area = machine_alloc(&m, SAVE);
    process(p, 0x1000, 0x8001);
    memcpy(m.vram + code, handler, sizeof(handler));
    machine_map(&m, p->root, VA_HANDLER, code, MACHINE_PAGE, PTE_VALID | PTE_RWX);
    machine_map(&m, p->root, VA_SAVE, area, SAVE, PTE_VALID | PTE_RWX);
    uint32_t *d = machine_words(&m, p->mqd);
    d[171] = LO(VA_SAVE);
    d[172] = HI(VA_SAVE);
    d[174] = d[175] = d[176] = STACK;
    d[177] = SAVE;
    return m.vram + area;
}

static uint32_t word(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof(v));
    return v;
}

/* Unmapped inside a kernel, its waves leave by the handler and come back by it: with
 * what is in memory then; once the handler has gone, with a page fault. */
START_TEST(saved_by_handler)
{
    struct process p;
    uint8_t *area = debugged(&p);
    const uint32_t *d = machine_words(&m, p.mqd);
    const uint32_t bytes = 8 * 32 * 4 + 512 + 128, stack = 6 * 4;
    debug(true, 0, 0);
    add_debugged(&p);
    p.put = 0;
    start_spinning_in(&p, 64);
    take_away(&p);
    ck_assert_uint_eq(d[174], STACK - stack);
    ck_assert_uint_eq(d[176], STACK + 2 * bytes);
    ck_assert_uint_eq(word(area + STACK - 16), 1u << 31 | 1u << 24); /* wave32 */
    ck_assert_uint_eq(word(area + STACK - 8), 1u << 12); /* the first wave */
    ck_assert_uint_eq(word(area + STACK - 4), 1u << 29); /* the last one */
    ck_assert_uint_eq(word(area + STACK), LO(VA_DATA));
    ck_assert_uint_eq(word(area + STACK + 4), HI(VA_DATA));
    ck_assert_uint_ge(word(area + STACK + 8), LO(VA_CODE + 0x1000));
    uint32_t other = LO(VA_DATA + 0x800), stood = data_of(&p)[8];
    memcpy(area + STACK, &other, sizeof(other));
    memcpy(area + STACK + bytes, &other, sizeof(other));
    add_debugged(&p);
    wait_change(data_of(&p) + 0x200 + 8);
    ck_assert_uint_eq(data_of(&p)[8], stood);
    data_of(&p)[0x200] = 1;
    machine_wait(data_of(&p) + 128, 1);
    start_spinning_in(&p, 32);
    take_away(&p);
    machine_map(&m, p.root, VA_HANDLER, 0, MACHINE_PAGE, 0);
    add_debugged(&p);
    machine_wait((const volatile uint32_t *)&m.interrupts, 1);
    ck_assert_uint_eq(machine_read(&m, 0x2829), LO(VA_HANDLER >> 12));
    take_away(&p);
}
END_TEST

/* An access to nothing leads into the handler, after the driver has been told. */
START_TEST(fault_in_handler)
{
    struct process p;
    uint32_t dw[64];
    (void)debugged(&p);
    debug(true, 0, 0);
    add_debugged(&p);
    unsigned n = machine_dispatch(dw, VA_CODE, VA_DATA + 0x90000, VA_DATA + 512);
    submit(&p, dw, n);
    machine_wait(data_of(&p) + 128, 1); /* the handler has ended the wave */
    ck_assert_uint_ge(atomic_load(&m.interrupts), 2);
    take_away(&p);
}
END_TEST

/* Waves that are launched halted wait for a debugger, in their save area too. */
START_TEST(launched_halted)
{
    struct process p;
    uint32_t dw[64];
    (void)debugged(&p);
    const uint32_t *d = machine_words(&m, p.mqd);
    debug(true, 1u << 1, 0);
    *data_of(&p) = 0xee;
    unsigned n = machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512);
    for (unsigned i = 0; i < 300 && d[174] != STACK - 20; i++) {
        add_debugged(&p);
        submit(&p, dw, i ? 0 : n);
        usleep(300 * (i % 7)); /* the wave may not be there yet: it is tried again */
        take_away(&p);
    }
    ck_assert_uint_eq(d[174], STACK - 20);
    ck_assert_uint_eq(*data_of(&p), 0xee);
    add_debugged(&p); /* this handler restores neither VGPRs nor that they are halted */
    machine_wait(data_of(&p) + 128, 1);
    ck_assert_uint_eq(*data_of(&p), 0);
    take_away(&p);
}
END_TEST

/* Unmapped with a dispatch set up and not begun: its registers are in the descriptor.
 */
START_TEST(registers_kept)
{
    struct process p;
    uint32_t dw[64], k = 0;
    process(&p, 0x1000, 0x8001);
    add(&p);
    unsigned n = machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512);
    while (k < n && (dw[k] >> 8 & 0xff) != 0x15) /* the dispatch itself */
        k += (dw[k] >> 16 & 0x3fff) + 2;
    ck_assert_uint_lt(k, n);
    volatile uint32_t *rptr = machine_words(&m, p.pointers);
    submit(&p, dw, k);
    machine_wait(rptr, k);
    take_away(&p);
    const uint32_t *d = machine_words(&m, p.mqd);
    ck_assert_uint_eq(d[13], LO(VA_CODE >> 8));
    ck_assert_uint_eq(d[65], LO(VA_DATA));
    ck_assert_uint_eq(d[138], k); /* where it reads, and where the ring ends */
    ck_assert_uint_eq(d[182], k);
    add(&p);
    usleep(2000);
    ck_assert_uint_eq(*rptr, k);
    submit(&p, dw + k, n - k);
    machine_wait(data_of(&p) + 128, 1);
    ck_assert_uint_eq(data_of(&p)[31], 31);
    take_away(&p);
}
END_TEST

/* What a process watches is its own, by the address in the registers. */
START_TEST(watched)
{
    struct process p;
    uint32_t dw[64];
    (void)debugged(&p);
    machine_write(&m, 0x32a8, HI(VA_DATA));
    machine_write(&m, 0x32a9, LO(VA_DATA));
    debug(true, 1u << 11, 1u << 31 | 3u << 29 | 0x7fffff);
    add_debugged(&p);
    unsigned n = machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512);
    submit(&p, dw, n);
    machine_wait(data_of(&p) + 128, 1);
    ck_assert_uint_eq(atomic_load(&m.interrupts), 1); /* the handler's message */
    ck_assert_uint_eq(data_of(&p)[1], 1);
    debug(true, 0, 0);
    data_of(&p)[128] = 0;
    submit(&p, dw, n);
    machine_wait(data_of(&p) + 128, 1);
    ck_assert_uint_eq(atomic_load(&m.interrupts), 1);
    take_away(&p);
}
END_TEST

/* A ring that waits for ever is reset: what is mapped in its place is new. */
START_TEST(ring_reset)
{
    const uint32_t never[] = {PM4(0x3c, 6), 3 | 1 << 4, LO(VA_DATA), HI(VA_DATA), 9,
                              ~0u,          4};
    struct process p;
    uint32_t dw[64] = {0};
    process(&p, 0x1000, 0x8001);
    add(&p);
    submit(&p, never, COUNT(never));
    dw[1] = 1;
    dw[4] = p.doorbell;
    frame(dw, 8, 24);
    p.put = 0;
    add(&p);
    submit(&p, dw, machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512));
    machine_wait(data_of(&p) + 128, 1);
    take_away(&p);
}
END_TEST

static void add_graphics(const struct process *p)
{
    uint32_t dw[FRAME] = {0};
    dw[18] = p->doorbell;
    dw[19] = LO(FB + p->mqd);
    dw[20] = HI(FB + p->mqd);
    dw[36] = 1u << 13;
    frame(dw, 2, 37);
}

/* A graphics ring goes on behind what it has hung in, or is mapped once more, as other
 * kernels do; unmapped and mapped it goes on where it was. */
START_TEST(graphics_reset)
{
    struct process p;
    uint32_t dw[FRAME] = {0};
    process(&p, 0x116, 0);
    const uint64_t at = FB + p.data, places[] = {(FB + p.ring) >> 8, FB + p.pointers,
                                                 FB + p.pointers + 8};
    const unsigned fields[] = {136, 139, 141};
    for (unsigned i = 0; i < 3; i++) {
        machine_words(&m, p.mqd)[fields[i]] = LO(places[i]);
        machine_words(&m, p.mqd)[fields[i] + 1] = HI(places[i]);
    }
    const uint32_t never[] = {PM4(0x3c, 6), 3 | 1 << 4, LO(at), HI(at), 9, ~0u, 4};
    add_graphics(&p);
    for (uint32_t round = 1; round < 3; round++) {
        const uint32_t store[] = {PM4(0x37, 4), 5u << 8, LO(at + 512), HI(at), round};
        submit(&p, never, COUNT(never));
        machine_words(&m, p.pointers)[2] = p.put;
        memset(dw, 0, sizeof(dw));
        dw[1] = 1u << 3;
        dw[11] = LO(FB + p.mqd);
        dw[12] = HI(FB + p.mqd);
        dw[13] = p.doorbell;
        dw[14] = LO(places[2]);
        dw[15] = HI(places[2]);
        frame(dw, 8, 24);
        if (round == 2) {
            p.put = 0;
            machine_words(&m, p.mqd)[138] = 0;
            add_graphics(&p);
        }
        submit(&p, store, COUNT(store));
        machine_wait(data_of(&p) + 128, round);
    }
    /* A short packet that nobody knows is told of, and the ring goes on behind it. */
    unsigned told = atomic_load(&m.interrupts);
    const uint32_t last[] = {PM4(0x37, 4), 5u << 8, LO(at + 512), HI(at), 9};
    const uint32_t unknown[] = {PM4(0xf2, 2), 0,      0, PM4(0x37, 4), 5u << 8,
                                LO(at + 512), HI(at), 8};
    submit(&p, unknown, COUNT(unknown));
    machine_wait(data_of(&p) + 128, 8);
    ck_assert_uint_eq(atomic_load(&m.interrupts), told + 1);
    take_away(&p);
    memset(machine_words(&m, p.ring), 0xee, 4ul * p.put);
    add_graphics(&p);
    submit(&p, last, COUNT(last));
    machine_wait(data_of(&p) + 128, 9);
}
END_TEST

/* An interrupt and a fault say whose they are. */
START_TEST(identities)
{
    struct process p;
    process(&p, 0x1000, 0x8007);
    add(&p);
    const uint32_t eop[] = {PM4(0x49, 7), 0x514, 2u << 24, 0, 0, 0, 0, 99};
    const uint32_t bad[] = {PM4(0x37, 4), 5u << 8, 0x1000, 0, 1};
    submit(&p, eop, COUNT(eop));
    submit(&p, bad, COUNT(bad));
    for (unsigned i = 0; i < 600000 && atomic_load(&m.interrupts) < 2; i++)
        usleep(100);
    uint64_t ring = (uint64_t)machine_read(&m, 0x1121) << 8 |
                    (uint64_t)machine_read(&m, 0x1122) << 40;
    const uint32_t *e = machine_words(&m, (ring - FB));
    ck_assert_uint_eq(e[0] & 0xffff, 0x14 | 181u << 8);
    ck_assert_uint_ge(e[0] >> 24 & 15, 8);
    ck_assert_uint_eq(e[3], 0x8007);
    ck_assert_uint_eq(e[4], 99);
    /* by this number drivers know whose translations they flush */
    ck_assert_uint_eq(machine_read(&m, 0x10a0 + (e[0] >> 24 & 15)), 0x8007);
    ck_assert_uint_eq(e[8] & 0xffff, 0x0a);
    ck_assert_uint_eq(e[8 + 3], 0x8007);
    ck_assert_uint_eq(e[8 + 4], 1); /* the page */
    ck_assert_uint_eq(e[8 + 5], 1u << 5);
    ck_assert_uint_eq(machine_read(&m, 0x2829), 1);
}
END_TEST

/* A queue rings another one's doorbell, by an address that its tables map to the bus;
 * the rest of that window is no memory. */
START_TEST(doorbell_by_packet)
{
    const uint64_t bus = 0xd0000000, va = VA_DATA + 0x100000;
    struct process p, other;
    process(&p, 0x1000, 0x8001);
    process(&other, 0x1002, 0x8002);
    pci_config_write(m.board, 0x18, &bus, 8);
    machine_map(&m, p.root, va, bus + 0x4000, MACHINE_PAGE,
                PTE_VALID | PTE_SYSTEM | PTE_RWX);
    add(&p);
    add(&other);
    const uint32_t store[] = {PM4(0x37, 4), 5u << 8, LO(VA_DATA), HI(VA_DATA), 77};
    const uint32_t ring[] = {PM4(0x37, 5), 5u << 8,      LO(va + 0x1002 * 4 - 0x4000),
                             HI(va),       COUNT(store), 0};
    memcpy(machine_words(&m, other.ring), store, sizeof(store));
    submit(&p, ring, COUNT(ring));
    machine_wait(data_of(&other), 77);
    const uint32_t read[] = {PM4(0x40, 5), 1 | 5u << 8, LO(va),
                             HI(va),       LO(VA_DATA), HI(VA_DATA)};
    ck_assert_uint_eq(atomic_load(&m.interrupts), 0);
    submit(&p, read, COUNT(read));
    for (unsigned i = 0; i < 60000 && !atomic_load(&m.interrupts); i++)
        usleep(100);
    ck_assert_uint_eq(atomic_load(&m.interrupts), 1); /* a page fault */
}
END_TEST

/* More processes than there are spaces at once: the oldest without a queue goes. */
START_TEST(many_processes)
{
    struct process p;
    uint32_t dw[64];
    for (unsigned i = 0; i < 150; i++) {
        process(&p, 0x1000, 0x8000 + i);
        add(&p);
        if (i % 25 == 0) {
            unsigned n = machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512);
            submit(&p, dw, n);
            machine_wait(data_of(&p) + 128, 1);
        }
        take_away(&p);
    }
}
END_TEST

/* More scattered pages than a program of the host may have mappings: kernels do not see
 * all of them, which is told, and there are some left for all else. */
START_TEST(scattered_pages)
{
    enum { PAGES = 12000, PROCESSES = 3 };
    struct process p[PROCESSES];
    uint32_t dw[64];
    unsigned lines = 0;
    for (unsigned i = 0; i < PROCESSES; i++) {
        process(&p[i], 0x1000 + 2 * i, 0x8001 + i);
        for (uint64_t k = 0; k < PAGES; k++)
            machine_map(&m, p[i].root, VA_DATA + (2 * k + 2) * MACHINE_PAGE, p[i].data,
                        MACHINE_PAGE, PTE_VALID | PTE_RWX);
        add(&p[i]);
        unsigned n = machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512);
        submit(&p[i], dw, n);
        machine_wait(data_of(&p[i]) + 128, 1);
    }
    FILE *maps = fopen("/proc/self/maps", "re");
    ck_assert_ptr_nonnull(maps);
    for (int c = getc(maps); c != EOF; c = getc(maps))
        lines += c == '\n';
    (void)fclose(maps);
    ck_assert_uint_lt(lines, 60000);
    ck_assert(machine_said(&m, "too scattered"));
}
END_TEST

/* Tables that lead in circles, and places that are not there. */
START_TEST(hostile_tables)
{
    struct process p;
    uint32_t dw[64];
    process(&p, 0x1000, 0x8001);
    uint64_t *root = machine_entries(&m, p.root);
    for (unsigned i = 0; i < 200; i++)
        root[i] = p.root | PTE_VALID;
    root[200] = 0xfffffffff000ull | PTE_VALID;
    root[201] = 0xfffffffff000ull | PTE_VALID | PTE_SYSTEM;
    root[202] = 0xffffffffff000ull | PTE_VALID | PTE_LEAF | PTE_RWX;
    root[203] = HOST_BUS | PTE_VALID | PTE_LEAF | PTE_RWX | PTE_SYSTEM;
    add(&p);
    unsigned n = machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512);
    submit(&p, dw, n);
    for (unsigned i = 0; i < 600000 && !atomic_load(&m.interrupts) && !data_of(&p)[128];
         i++)
        usleep(100);
    ck_assert(atomic_load(&m.interrupts) || data_of(&p)[128]);
    take_away(&p);
}
END_TEST

/* Large pages of memory that the bus has not cost no time. */
START_TEST(pages_of_nothing)
{
    struct process p;
    uint32_t dw[64];
    process(&p, 0x1000, 0x8001);
    uint64_t *root = machine_entries(&m, p.root);
    for (unsigned i = 0; i < 200; i++)
        root[i] = (HOST_BUS << 2) | PTE_VALID | PTE_LEAF | PTE_RWX | PTE_SYSTEM;
    add(&p);
    submit(&p, dw, machine_dispatch(dw, VA_CODE, VA_DATA, VA_DATA + 512));
    machine_wait(data_of(&p) + 128, 1);
    take_away(&p);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("board processes");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, frames_and_registers);
    tcase_add_test(t, padding);
    tcase_add_test(t, scheduler_again);
    tcase_add_test(t, two_spaces);
    tcase_add_test(t, new_pages);
    tcase_add_test(t, unmapped_inside);
    tcase_add_test(t, killed_inside);
    tcase_add_test(t, saved_by_handler);
    tcase_add_test(t, fault_in_handler);
    tcase_add_test(t, launched_halted);
    tcase_add_test(t, registers_kept);
    tcase_add_test(t, watched);
    tcase_add_test(t, ring_reset);
    tcase_add_test(t, graphics_reset);
    tcase_add_test(t, identities);
    tcase_add_test(t, doorbell_by_packet);
    tcase_add_test(t, many_processes);
    tcase_add_test(t, scattered_pages);
    tcase_add_test(t, hostile_tables);
    tcase_add_test(t, pages_of_nothing);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return suite_run(suite());
}
