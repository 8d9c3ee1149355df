/* test_order.c: the order of emu_run step by step, and back to snapshots.
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include "inspect.h"

/* Dispatches of one emulator have different numbers: not in these hashes. */
static void log_any(void *ctx, const struct emu_event *e)
{
    struct emu_wave_info wave = *e->wave;
    struct emu_event copy = *e;
    struct event_log one = {0};
    struct emu_observer o = log_observer(&one, 0);
    wave.dispatch = 0;
    copy.wave = &wave;
    o.step(&one, &copy);
    struct event_log *log = ctx;
    if (log->n == log->room) {
        log->room = log->room ? 2 * log->room : 1024;
        log->hash = realloc(log->hash, log->room * sizeof *log->hash);
        ck_assert_ptr_nonnull(log->hash);
    }
    log->hash[log->n++] = one.hash[0];
    log_free(&one);
}

/* All steps of the order, their events as an observer sees them. */
static uint64_t step_through(struct machine *m, struct event_log *log)
{
    struct emu_observer o = {.ctx = log, .want = EMU_WANT_ACCESS, .step = log_any};
    struct emu_stepper *s;
    const struct emu_event *e;
    uint64_t steps = 0;
    ck_assert_int_eq(emu_add_observer(m->emu, &o), RD_OK);
    ck_assert_int_eq(emu_stepper_create(m->emu, &m->dispatch, &s, NULL), RD_OK);
    rd_status st;
    while ((st = emu_order_step(s, &e)) == RD_OK)
        steps++;
    ck_assert_int_eq(st, RD_E_NOT_FOUND);
    ck_assert_uint_eq(emu_order_groups(s), 0);
    emu_stepper_destroy(s, NULL);
    emu_remove_observer(m->emu, o.ctx);
    return steps;
}

START_TEST(as_a_run)
{
    static uint32_t expected[ITEMS];
    for (unsigned i = 0; i < 4; i++) {
        struct machine m;
        struct event_log run = {0}, steps = {0};
        machine_create(&m, i & 1 ? PROGRAM_CLOCK : PROGRAM_MIX, i & 2 ? 64 : 32);
        struct emu_observer o = {.ctx = &run, .want = EMU_WANT_ACCESS, .step = log_any};
        ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_OK);
        ck_assert_int_eq(emu_run(m.emu, &m.dispatch, NULL, NULL), RD_OK);
        emu_remove_observer(m.emu, o.ctx);
        memcpy(expected, m.out, sizeof expected);
        machine_reset(&m);
        uint64_t n = step_through(&m, &steps);
        ck_assert_mem_eq(expected, m.out, sizeof expected);
        ck_assert_uint_eq(n, run.n);
        ck_assert_uint_eq(steps.n, run.n);
        ck_assert_mem_eq(steps.hash, run.hash, run.n * sizeof *run.hash);
        log_free(&run);
        log_free(&steps);
        machine_destroy(&m);
    }
}
END_TEST

/* All that a wave about to step has, as a number. */
static uint64_t state(struct emu_stepper *s)
{
    struct emu_wave *w;
    ck_assert_int_eq(emu_order_next(s, &w), RD_OK);
    if (!w)
        return 1;
    const struct emu_wave_info *info = emu_wave_info(w);
    struct emu_wave_view v;
    uint32_t lds = 0;
    emu_wave_look(info, &v);
    ck_assert(emu_wave_peek(info, EMU_SPACE_LDS, 0, 64, 4, &lds));
    return emu_wave_digest(info) * 31 + v.pc + v.instructions * 1009 +
           info->group * 7919 + info->wave * 104729 + lds;
}

START_TEST(back_and_again)
{
    enum { EVERY = 37, MAX = 64 };
    struct machine m;
    struct emu_stepper *s;
    struct emu_snapshot *snap[MAX];
    uint32_t *memory[MAX];
    uint64_t *seen = calloc(1u << 16, sizeof *seen);
    const struct emu_event *e;
    unsigned n = 0, steps = 0;
    machine_create(&m, PROGRAM_MIX, 32);
    ck_assert_ptr_nonnull(seen);
    ck_assert_int_eq(emu_stepper_create(m.emu, &m.dispatch, &s, NULL), RD_OK);
    do {
        seen[steps] = state(s);
        if (steps % EVERY == 0 && n < MAX) {
            ck_assert_int_eq(emu_stepper_save(s, &snap[n]), RD_OK);
            ck_assert_uint_gt(emu_snapshot_bytes(snap[n]), 0);
            memory[n] = malloc(2 * sizeof(uint32_t) * ITEMS);
            ck_assert_ptr_nonnull(memory[n]);
            memcpy(memory[n], m.in, sizeof(uint32_t) * ITEMS);
            memcpy(memory[n] + ITEMS, m.out, sizeof(uint32_t) * ITEMS);
            n++;
        }
        steps++;
        ck_assert_uint_lt(steps, 1u << 16);
    } while (emu_order_step(s, &e) == RD_OK);
    ck_assert_uint_gt(n, 10);
    for (unsigned k = n; k-- > 0;) {
        emu_stepper_restore(s, snap[k]);
        memcpy(m.in, memory[k], sizeof(uint32_t) * ITEMS);
        memcpy(m.out, memory[k] + ITEMS, sizeof(uint32_t) * ITEMS);
        for (unsigned i = k * EVERY; i < steps; i++) {
            ck_assert_uint_eq(state(s), seen[i]);
            ck_assert_int_eq(emu_order_step(s, &e),
                             i + 1 < steps ? RD_OK : RD_E_NOT_FOUND);
        }
        emu_snapshot_free(snap[k]);
        free(memory[k]);
    }
    emu_stepper_destroy(s, NULL);
    free(seen);
    machine_destroy(&m);
}
END_TEST

/* ---- what is left of a dispatch that faults ---- */

struct left {
    unsigned groups, faulted, waves, bad;
    uint32_t v0[64];
};

static void left_group(void *ctx, uint64_t group, unsigned n_waves,
                       const struct emu_fault *fault)
{
    struct left *l = ctx;
    (void)group;
    (void)n_waves;
    l->groups++;
    l->faulted += fault != NULL;
}

static void left_wave(void *ctx, const struct emu_wave_info *wave)
{
    struct left *l = ctx;
    struct emu_wave_view v;
    emu_wave_look(wave, &v);
    l->waves++;
    if (v.doing != EMU_DOING_FAULTED)
        return;
    l->bad++;
    for (unsigned i = 0; i < wave->lanes; i++)
        l->v0[i] = emu_wave_vgpr(wave, 0, i);
}

START_TEST(a_fault_leaves_its_waves)
{
    struct machine m;
    struct left l = {0};
    struct emu_inspector who = {&l, left_group, left_wave};
    machine_create(&m, PROGRAM_BAD, 32);
    m.dispatch.inspector = &who;
    ck_assert_int_eq(emu_run(m.emu, &m.dispatch, NULL, NULL), RD_E_FAULT);
    ck_assert_uint_ge(l.groups, 1);
    ck_assert_uint_ge(l.faulted, 1);
    ck_assert_uint_eq(l.waves, l.groups * BLOCK / 32);
    ck_assert_uint_eq(l.bad, l.faulted);
    ck_assert_uint_eq(l.v0[5] % 32, 5); /* the work-item id is still there */
    machine_destroy(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("order");
    TCase *t = tcase_create("order");
    tcase_add_test(t, as_a_run);
    tcase_add_test(t, back_and_again);
    tcase_add_test(t, a_fault_leaves_its_waves);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
