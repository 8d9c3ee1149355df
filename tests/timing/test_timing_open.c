/* test_timing_open.c: runs to which launches come while they go on. Who is alone takes
 * the cycles of tm_run, who comes at once those of tm_run_several; each is told of
 * once, and one that faults, hangs or is cancelled leaves the others what they are.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <sys/mman.h>

#include "../suite.h"
#include "inspect.h"
#include "timing.h"

#define PAGE  4096u
#define MOST  64u
#define TRIPS 24u

enum what { WORK, FAULTS, STANDS, ENDLESS, TALKS, KINDS };

#define WORK_INSTS(trips) (2 + (trips) * 9)

/* Of each kind at a multiple of 256 bytes. s0: number of the workgroup. */
static const uint32_t code[KINDS][64] = {
    [WORK] = {0xb0080000 | TRIPS,     /* s_movk_i32 s8, TRIPS */
              0x06020300,             /* v_add_f32 v1, v0, v1 */
              0x10040301,             /* v_mul_f32 v2, v1, v1 */
              0x7e066702,             /* v_sqrt_f32 v3, v2 */
              0x06020303,             /* v_add_f32 v1, v3, v1 */
              0xd8340000, 0x00000100, /* ds_store_b32 v0, v1 */
              0xbfbd0000,             /* s_barrier */
              0x80888108,             /* s_sub_u32 s8, s8, 1 */
              0xbf078008,             /* s_cmp_lg_u32 s8, 0 */
              0xbfa2fff6,             /* s_cbranch_scc1 to the v_add_f32 */
              0xbfb00000},            /* s_endpgm */
    /* Workgroup 3 reads address 0, others meet at a barrier and go on for a while. */
    [FAULTS] = {0xb0080020,             /* s_movk_i32 s8, 32 */
                0x7e0a0280,             /* v_mov_b32 v5, 0 */
                0x7e0c0280,             /* v_mov_b32 v6, 0 */
                0xbf068300,             /* s_cmp_eq_u32 s0, 3 */
                0xbfa10003,             /* s_cbranch_scc0 over the load */
                0xdc520000, 0x077c0005, /* global_load_b32 v7, v[5:6], off */
                0xbf8903f7,             /* s_waitcnt vmcnt(0) */
                0x06020300,             /* v_add_f32 v1, v0, v1 */
                0xbfbd0000,             /* s_barrier */
                0x80888108,             /* s_sub_u32 s8, s8, 1 */
                0xbf078008,             /* s_cmp_lg_u32 s8, 0 */
                0xbfa2fffb,             /* s_cbranch_scc1 to the v_add_f32 */
                0xbfb00000},
    /* The first wave sleeps, for ever; the others wait for it. */
    [STANDS] = {0x7e120500,  /* v_readfirstlane_b32 s9, v0 */
                0xbf078009,  /* s_cmp_lg_u32 s9, 0 */
                0xbfa20002,  /* s_cbranch_scc1 to the s_barrier */
                0xbf83007f,  /* s_sleep 127 */
                0xbfa0fffe,  /* s_branch to it */
                0xbfbd0000,  /* s_barrier */
                0xbfb00000}, /* s_endpgm */
    [ENDLESS] = {0x06020300, 0xbfa0fffe, 0xbfb00000}, /* v_add_f32; s_branch to it */
    /* Atomics: from there on waves may talk to one another. s[4:5]: where to. */
    [TALKS] = {0xb0080010,             /* s_movk_i32 s8, 16 */
               0x7e0a0204, 0x7e0c0205, /* v_mov_b32 v5, s4; v_mov_b32 v6, s5 */
               0x7e0e0281,             /* v_mov_b32 v7, 1 */
               0xdcd60000, 0x007c0705, /* global_atomic_add_u32 v[5:6], v7, off */
               0x80888108, 0xbf078008, /* s_sub_u32 s8, s8, 1; s_cmp_lg_u32 s8, 0 */
               0xbfa2fffb,             /* s_cbranch_scc1 to the atomic */
               0xbfb00000},
};

struct chip {
    uint8_t *page; /* code, then data */
    struct emu *emu;
    bool watched;      /* by an observer */
    unsigned finished; /* observers have been told so of as many launches */
};

/* A launch, and what became of it. */
struct guest {
    struct emu_dispatch d;
    struct tm_launch launch;
    uint64_t at;            /* joins once the run has come so far */
    int after;              /* ... once that one has ended; -1: never mind */
    uint64_t cancel;        /* is cancelled then; 0: not */
    uint64_t stands, until; /* stands still from then on, as long; 0: does not */
    uint64_t stops;         /* the whole run ends then; 0: goes on */
    bool joined, cancelled;
    unsigned number, told;
    struct tm_ended how;
    struct tm_launch_seen seen;
};

struct party {
    struct chip *chip;
    struct tm_engine *t;
    struct guest *guest;
    unsigned n, most; /* most: the highest number that any had */
    unsigned told;
};

static void create(struct chip *c)
{
    c->watched = false;
    c->finished = 0;
    c->page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);
    ck_assert_ptr_ne(c->page, MAP_FAILED);
    memcpy(c->page, code, sizeof code);
    ck_assert_int_eq(emu_create(&(struct emu_config){.threads = 1}, &c->emu), RD_OK);
    uint64_t at = (uint64_t)(uintptr_t)c->page;
    ck_assert_int_eq(emu_mem_add(c->emu, at, PAGE, EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                     RD_OK);
    ck_assert_int_eq(
        emu_mem_add(c->emu, at + PAGE, PAGE, EMU_MEM_READ | EMU_MEM_WRITE, "data"),
        RD_OK);
}

static void destroy(struct chip *c)
{
    emu_destroy(c->emu);
    munmap(c->page, 2 * PAGE);
}

static struct guest guest(const struct chip *c, enum what what, uint32_t groups,
                          unsigned queue)
{
    uint64_t data = (uint64_t)(uintptr_t)c->page + PAGE;
    struct guest g = {
        .d = {.entry = (uint64_t)(uintptr_t)c->page + what * sizeof code[0],
              .groups = {groups, 1, 1},
              .block = {128, 1, 1},
              .rsrc1 = 1u | 0xf0u << 12,
              .rsrc2 = 1u << 7,
              .lds_bytes = 1024},
        .launch = {.queue = queue},
        .after = -1};
    if (what == TALKS) {
        g.d.n_user_sgprs = 6;
        g.d.rsrc2 = 6u << 1;
        g.d.user_sgpr[4] = (uint32_t)data;
        g.d.user_sgpr[5] = (uint32_t)(data >> 32);
    }
    return g;
}

static void join(struct party *p, unsigned k)
{
    struct guest *g = &p->guest[k];
    struct emu_fault fault;
    g->joined = true;
    ck_assert_int_eq(tm_join(p->t, p->chip->emu, &g->launch, &g->number, &fault),
                     RD_OK);
    p->most = g->number > p->most ? g->number : p->most;
}

static bool poll(void *ctx, uint64_t cycles)
{
    struct party *p = ctx;
    bool goes_on = true;
    for (unsigned k = 1; k < p->n; k++)
        if (!p->guest[k].joined && p->guest[k].after < 0 && cycles >= p->guest[k].at)
            join(p, k);
    for (unsigned k = 0; k < p->n; k++) {
        struct guest *g = &p->guest[k];
        if (g->joined && g->cancel && cycles >= g->cancel && !g->cancelled &&
            !g->told) {
            g->cancelled = true;
            tm_cancel(p->t, g->number);
        }
        if (g->joined && g->stands && !g->told)
            tm_hold(p->t, g->number, cycles >= g->stands && cycles < g->until);
        goes_on = goes_on && !(g->stops && cycles >= g->stops);
    }
    return goes_on;
}

static void ended(void *ctx, unsigned number, const struct tm_ended *how)
{
    struct party *p = ctx;
    unsigned who = 0;
    while (who < p->n && !(p->guest[who].joined && p->guest[who].number == number &&
                           !p->guest[who].told))
        who++;
    ck_assert_uint_lt(who, p->n);
    struct guest *g = &p->guest[who];
    g->told++;
    g->how = *how;
    p->told++;
    ck_assert(!p->chip->watched || p->chip->finished == p->told);
    tm_launch_seen(p->t, number, &g->seen);
    for (unsigned k = 1; k < p->n; k++)
        if (!p->guest[k].joined && p->guest[k].after == (int)who && !how->over)
            join(p, k);
}

/* Run them; each must be told of once. Returns the cycles of all. */
static int64_t run(struct chip *c, struct guest *guests, unsigned n, rd_status expected)
{
    struct party p = {.chip = c, .guest = guests, .n = n};
    struct tm_config config = {.sclk_mhz = 2500,
                               .poll = poll,
                               .poll_ctx = &p,
                               .ended = ended,
                               .forget_waves = true};
    struct emu_fault fault;
    for (unsigned k = 0; k < n; k++) {
        guests[k].launch.dispatch = &guests[k].d;
        guests[k].told = guests[k].joined = guests[k].cancelled = false;
    }
    guests[0].joined = true;
    guests[0].number = 0;
    ck_assert_int_eq(tm_create(&config, &p.t), RD_OK);
    rd_status st = tm_run_several(p.t, c->emu, &guests[0].launch, 1, &fault, NULL);
    ck_assert_int_eq(st, expected);
    int64_t cycles = (int64_t)tm_span_cycles(p.t);
    ck_assert_int_eq(tm_is_shared(p.t), n > 1);
    ck_assert_int_eq(tm_join(p.t, c->emu, &guests[0].launch, &guests[0].number, &fault),
                     RD_E_BUSY);
    for (unsigned k = 0; k < n; k++)
        ck_assert_uint_eq(guests[k].told, guests[k].joined);
    ck_assert_uint_lt(p.most, 8);
    tm_destroy(p.t);
    return cycles;
}

static int64_t run_closed(struct chip *c, struct guest *guests, unsigned n)
{
    struct tm_launch launch[MOST];
    struct tm_engine *t;
    struct emu_fault fault;
    for (unsigned k = 0; k < n; k++) {
        launch[k] = guests[k].launch;
        launch[k].dispatch = &guests[k].d;
    }
    ck_assert_int_eq(tm_create(&(struct tm_config){.sclk_mhz = 2500}, &t), RD_OK);
    ck_assert_int_eq(tm_run_several(t, c->emu, launch, n, &fault, NULL), RD_OK);
    for (unsigned k = 0; k < n; k++)
        tm_launch_seen(t, k, &guests[k].seen);
    int64_t cycles = (int64_t)tm_span_cycles(t);
    tm_destroy(t);
    return cycles;
}

static void check_whole(const struct guest *g)
{
    ck_assert_int_eq(g->how.status, RD_OK);
    ck_assert_uint_eq(g->how.stats.instructions,
                      (uint64_t)g->d.groups[0] * 4 * WORK_INSTS(TRIPS));
    ck_assert_uint_eq(g->how.stats.workgroups, g->d.groups[0]);
}

static bool is_equal(const struct tm_launch_seen *a, const struct tm_launch_seen *b)
{
    return a->begun == b->begun && a->first == b->first && a->end == b->end &&
           a->groups == b->groups;
}

START_TEST(who_is_alone_takes_what_it_takes)
{
    struct chip c;
    create(&c);
    for (unsigned mode = 0; mode < 2; mode++) {
        struct guest g = guest(&c, WORK, 700, 0);
        g.d.rsrc1 |= mode << 29;
        int64_t cycles = run_closed(&c, &g, 1);
        ck_assert_int_eq(run(&c, &g, 1, RD_OK), cycles);
        check_whole(&g);
    }
    destroy(&c);
}
END_TEST

/* As those whom tm_run_several knows from the beginning, also with packets of a queue.
 */
START_TEST(who_comes_at_once_begins_at_once)
{
    struct chip c;
    create(&c);
    for (unsigned mode = 0; mode < 2; mode++) {
        struct guest g[3] = {guest(&c, WORK, 300, 7), guest(&c, WORK, 150, 1),
                             guest(&c, WORK, 80, 7)};
        for (unsigned k = 0; k < 3; k++)
            g[k].d.rsrc1 |= mode << 29;
        int64_t cycles = run_closed(&c, g, 3);
        struct tm_launch_seen seen[3] = {g[0].seen, g[1].seen, g[2].seen};
        ck_assert_int_eq(run(&c, g, 3, RD_OK), cycles);
        for (unsigned k = 0; k < 3; k++) {
            check_whole(&g[k]);
            ck_assert(is_equal(&g[k].seen, &seen[k]));
        }
    }
    destroy(&c);
}
END_TEST

START_TEST(who_comes_later_begins_later)
{
    struct chip c;
    create(&c);
    struct guest alone = guest(&c, WORK, 40, 0);
    int64_t least = run_closed(&c, &alone, 1);
    for (unsigned mode = 0; mode < 4; mode++) {
        struct guest g[3] = {guest(&c, WORK, 600, 0), guest(&c, WORK, 40, 1),
                             guest(&c, WORK, 40, 2)};
        g[0].d.rsrc1 |= (mode & 1) << 29;
        g[1].d.rsrc1 |= mode >> 1 << 29;
        g[1].at = 2500;
        g[2].at = 500;
        g[2].launch.from = 4000;
        (void)run(&c, g, 3, RD_OK);
        struct tm_launch_seen seen = g[1].seen;
        for (unsigned k = 0; k < 3; k++)
            check_whole(&g[k]);
        ck_assert_int_ge(seen.begun, 2500);
        ck_assert_int_lt(seen.begun, 2500 + 20 * 64);
        ck_assert_int_ge(seen.end - seen.first, least * 9 / 10);
        ck_assert_int_eq(g[2].seen.begun, (4000 + 63) / 64 * 64);
        ck_assert_int_eq(g[0].seen.begun, 0);
        (void)run(&c, g, 3, RD_OK);
        ck_assert(is_equal(&g[1].seen, &seen));
    }
    destroy(&c);
}
END_TEST

/* One after the other beside one that takes long; numbers are given again. */
START_TEST(who_follows_begins_behind)
{
    struct chip c;
    create(&c);
    struct guest g[20] = {guest(&c, WORK, 3000, 0)};
    for (unsigned k = 1; k < 20; k++) {
        g[k] = guest(&c, k % 3 ? WORK : TALKS, 8, k);
        g[k].after = k > 1 ? (int)k - 1 : -1;
    }
    (void)run(&c, g, 20, RD_OK);
    check_whole(&g[0]);
    for (unsigned k = 2; k < 20; k++) {
        ck_assert_int_eq(g[k].how.status, RD_OK);
        ck_assert_int_gt(g[k].seen.begun, g[k - 1].seen.end);
        ck_assert_int_lt(g[k].seen.begun, g[k - 1].seen.end + 25 * 64);
    }
    uint32_t sum;
    memcpy(&sum, c.page + PAGE, sizeof sum);
    ck_assert_uint_eq(sum, 6 * 8 * 128 * 16);
    destroy(&c);
}
END_TEST

START_TEST(a_fault_is_one_launchs)
{
    struct chip c;
    create(&c);
    for (unsigned first = 0; first < 2; first++)
        for (unsigned at = 0; at < 3000; at += 1500) {
            struct guest g[3] = {guest(&c, first ? FAULTS : WORK, 200, 0),
                                 guest(&c, first ? WORK : FAULTS, 200, 1),
                                 guest(&c, WORK, 33, 2)};
            g[1].at = first ? 0 : at;
            g[2].after = first ? 0 : 1; /* it finds the places of those free */
            (void)run(&c, g, 3, RD_OK);
            check_whole(&g[first]);
            check_whole(&g[2]);
            ck_assert_int_eq(g[!first].how.status, RD_E_FAULT);
            ck_assert_int_eq(g[!first].how.fault.kind, EMU_FAULT_UNMAPPED);
            ck_assert_uint_eq(g[!first].how.fault.workgroup[0], 3);
            ck_assert_uint_le(g[!first].how.stats.workgroups, 200);
        }
    struct guest alone = guest(&c, FAULTS, 200, 0);
    (void)run(&c, &alone, 1, RD_E_FAULT);
    ck_assert_int_eq(alone.how.status, RD_E_FAULT);
    ck_assert_uint_eq(alone.how.fault.workgroup[0], 3);
    destroy(&c);
}
END_TEST

START_TEST(one_is_cancelled)
{
    struct chip c;
    create(&c);
    const enum what kinds[] = {ENDLESS, STANDS, WORK, TALKS};
    for (unsigned k = 0; k < 4; k++)
        for (unsigned first = 0; first < 2; first++) {
            struct guest g[2] = {guest(&c, first ? kinds[k] : WORK, 4000, 0),
                                 guest(&c, first ? WORK : kinds[k], 4000, 1)};
            g[first].d.groups[0] = 600;
            g[!first].cancel = 700;
            (void)run(&c, g, 2, RD_OK);
            check_whole(&g[first]);
            ck_assert_int_eq(g[!first].how.status, RD_E_TIMEOUT);
            ck_assert_int_lt(g[!first].seen.end, 20000);
        }
    /* Before it has begun; and the run as a whole. */
    struct guest g[2] = {guest(&c, WORK, 600, 0), guest(&c, WORK, 600, 1)};
    g[1].launch.from = 1000000;
    g[1].cancel = 700;
    (void)run(&c, g, 2, RD_OK);
    check_whole(&g[0]);
    ck_assert_int_eq(g[1].how.status, RD_E_TIMEOUT);
    ck_assert_uint_eq(g[1].how.stats.workgroups, 0);
    destroy(&c);
}
END_TEST

/* Who stands still begins nothing and ends nothing; the others do. */
START_TEST(one_stands_still)
{
    struct chip c;
    create(&c);
    for (unsigned first = 0; first < 2; first++) {
        struct guest g[3] = {guest(&c, WORK, 900, 0), guest(&c, WORK, 900, 1),
                             guest(&c, WORK, 10, 2)};
        g[first].stands = 700;
        g[first].until = 60000;
        g[2].after = !first;
        (void)run(&c, g, 3, RD_OK);
        for (unsigned k = 0; k < 3; k++)
            check_whole(&g[k]);
        ck_assert_int_lt(g[!first].seen.end, 60000);
        ck_assert_int_gt(g[first].seen.end, 60000);
    }
    destroy(&c);
}
END_TEST

static void finished(void *ctx, const struct emu_launch *launch, rd_status status)
{
    struct chip *c = ctx;
    ck_assert_int_eq(status, RD_OK);
    ck_assert_uint_eq(launch->n_groups, 8);
    c->finished++;
}

/* What they are watched by is let go of as they end, not with the run. */
START_TEST(who_has_ended_is_let_go_of)
{
    struct chip c;
    create(&c);
    const struct emu_observer watch = {.ctx = &c, .dispatch_end = finished};
    struct guest g[20];
    for (unsigned k = 0; k < 20; k++) {
        g[k] = guest(&c, WORK, 8, k);
        g[k].after = k > 1 ? (int)k - 2 : -1;
    }
    c.watched = true;
    ck_assert_int_eq(emu_add_observer(c.emu, &watch), RD_OK);
    (void)run(&c, g, 20, RD_OK);
    ck_assert_uint_eq(c.finished, 20);
    emu_remove_observer(c.emu, &c);
    destroy(&c);
}
END_TEST

/* Of those that the run's end ends, each is told that none can come any more. */
START_TEST(the_end_lets_nobody_in)
{
    struct chip c;
    create(&c);
    struct guest g[4] = {guest(&c, ENDLESS, 50, 0), guest(&c, WORK, 10, 1),
                         guest(&c, ENDLESS, 50, 2), guest(&c, WORK, 10, 3)};
    g[0].stops = 20000;
    g[3].after = 0; /* which ends when the run does */
    (void)run(&c, g, 4, RD_E_TIMEOUT);
    check_whole(&g[1]);
    ck_assert(!g[1].how.over && !g[3].joined);
    for (unsigned k = 0; k < 4; k += 2) {
        ck_assert(g[k].how.over);
        ck_assert_int_eq(g[k].how.status, RD_E_TIMEOUT);
    }
    destroy(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timing_open");
    TCase *tests = tcase_create("open");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, who_is_alone_takes_what_it_takes);
    tcase_add_test(tests, who_comes_at_once_begins_at_once);
    tcase_add_test(tests, who_comes_later_begins_later);
    tcase_add_test(tests, who_follows_begins_behind);
    tcase_add_test(tests, a_fault_is_one_launchs);
    tcase_add_test(tests, one_is_cancelled);
    tcase_add_test(tests, one_stands_still);
    tcase_add_test(tests, who_has_ended_is_let_go_of);
    tcase_add_test(tests, the_end_lets_nobody_in);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
