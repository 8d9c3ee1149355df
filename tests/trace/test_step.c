/* test_step.c: dispatches under the caller's schedule.
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

static uint64_t seed;

static uint32_t random32(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

/* Step random waves of all workgroups until none is left. Returns steps taken. */
static uint64_t step_all(struct emu_stepper *s, struct emu_group *const *group)
{
    uint64_t steps = 0, clock = 0;
    unsigned live = GROUPS;
    while (live) {
        struct emu_group *g = group[random32() % GROUPS];
        struct emu_wave *w = emu_group_wave(g, random32() % emu_group_waves(g));
        const struct emu_inst *next = emu_wave_next(w);
        const struct emu_event *e = NULL;
        enum emu_wave_state state = emu_wave_state(w);
        rd_status st = emu_wave_step(s, w, clock += 3, &e);
        if (state == EMU_WAVE_ENDED) {
            ck_assert_ptr_null(next);
            ck_assert_int_eq(st, RD_E_INVALID);
            continue;
        }
        if (state == EMU_WAVE_BARRIER) {
            ck_assert_int_eq(st, RD_E_BUSY);
            ck_assert_uint_lt(emu_group_waiting(g), emu_group_live(g));
            continue;
        }
        ck_assert_int_eq(st, RD_OK);
        ck_assert_ptr_eq(e->inst, next);
        ck_assert_uint_eq(e->time, clock);
        ck_assert_ptr_eq(e->wave, emu_wave_info(w));
        if (e->flags & EMU_EV_BARRIER_DONE)
            ck_assert_uint_eq(emu_group_waiting(g), 0);
        if ((e->flags & EMU_EV_ENDED) && emu_group_live(g) == 0)
            live--;
        steps++;
    }
    return steps;
}

START_TEST(any_order_gives_the_same)
{
    static uint32_t expected[ITEMS];
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct machine m;
        struct emu_stats want = {0};
        machine_create(&m, PROGRAM_MIX, lanes);
        ck_assert_int_eq(emu_run(m.emu, &m.dispatch, NULL, &want), RD_OK);
        memcpy(expected, m.out, sizeof expected);
        for (seed = 1; seed < 20;) {
            struct emu_group *group[GROUPS];
            struct emu_stepper *s;
            struct emu_stats got = {0};
            uint64_t this_seed = seed;
            machine_reset(&m);
            ck_assert_int_eq(emu_stepper_create(m.emu, &m.dispatch, &s, NULL), RD_OK);
            ck_assert_uint_eq(emu_stepper_launch(s)->n_groups, GROUPS);
            for (unsigned i = 0; i < GROUPS; i++) {
                ck_assert_uint_eq(emu_stepper_group_waves(s, i), BLOCK / lanes);
                ck_assert_int_eq(emu_group_start(s, GROUPS - 1 - i, NULL, &group[i]),
                                 RD_OK);
            }
            ck_assert_int_eq(emu_group_start(s, GROUPS, NULL, &group[0]), RD_E_RANGE);
            uint64_t steps = step_all(s, group);
            for (unsigned i = 0; i < GROUPS; i++)
                emu_group_end(s, group[i]);
            emu_stepper_destroy(s, &got);
            ck_assert_uint_eq(steps, want.instructions);
            ck_assert_uint_eq(got.instructions, want.instructions);
            ck_assert_uint_eq(got.waves, want.waves);
            ck_assert_mem_eq(m.out, expected, sizeof expected);
            seed = this_seed + 1;
        }
        machine_destroy(&m);
    }
}
END_TEST

/* Workgroups one after the other take the same slots and the same memory. */
START_TEST(slots_are_used_again)
{
    struct machine m;
    struct emu_stepper *s;
    machine_create(&m, PROGRAM_MIX, 32);
    ck_assert_int_eq(emu_stepper_create(m.emu, &m.dispatch, &s, NULL), RD_OK);
    for (unsigned i = 0; i < GROUPS; i++) {
        struct emu_group *g;
        ck_assert_int_eq(emu_group_start(s, i, NULL, &g), RD_OK);
        for (unsigned k = 0; k < emu_group_waves(g); k++)
            ck_assert_uint_eq(emu_wave_info(emu_group_wave(g, k))->slot, k);
        if (i != 2) /* one stays to the end */
            emu_group_end(s, g);
        else
            i = GROUPS;
    }
    emu_stepper_destroy(s, NULL);
    machine_destroy(&m);
}
END_TEST

START_TEST(the_clock_and_the_place_are_the_callers)
{
    struct machine m;
    struct emu_stepper *s;
    struct emu_group *g;
    const uint32_t place[1] = {0x1234};
    uint64_t clock = 1000;
    machine_create(&m, PROGRAM_CLOCK, 32);
    m.dispatch.groups[0] = 1;
    m.dispatch.block[0] = 32;
    ck_assert_int_eq(emu_stepper_create(m.emu, &m.dispatch, &s, NULL), RD_OK);
    ck_assert_int_eq(emu_group_start(s, 0, place, &g), RD_OK);
    struct emu_wave *w = emu_group_wave(g, 0);
    ck_assert_uint_eq(emu_wave_info(w)->place, 0x1234);
    while (emu_wave_state(w) == EMU_WAVE_READY) {
        const struct emu_event *e;
        bool sleeps = emu_wave_next(w)->kind == EMU_KIND_SLEEP;
        ck_assert_int_eq(emu_wave_step(s, w, clock, &e), RD_OK);
        clock += sleeps ? 64 : 1;
    }
    emu_stepper_destroy(s, NULL);
    ck_assert_uint_eq(m.out[0], 1000);
    ck_assert_uint_eq(m.out[32], 1065);
    ck_assert_uint_eq(m.out[64], 0x1234);
    machine_destroy(&m);
}
END_TEST

START_TEST(a_fault_stops_only_its_wave)
{
    struct machine m;
    struct emu_stepper *s;
    struct emu_group *g;
    const struct emu_event *e;
    rd_status st = RD_OK;
    machine_create(&m, PROGRAM_BAD, 32);
    m.dispatch.groups[0] = 1;
    m.dispatch.block[0] = 64;
    ck_assert_int_eq(emu_stepper_create(m.emu, &m.dispatch, &s, NULL), RD_OK);
    ck_assert_int_eq(emu_group_start(s, 0, NULL, &g), RD_OK);
    struct emu_wave *bad = emu_group_wave(g, 0), *good = emu_group_wave(g, 1);
    for (unsigned i = 0; st == RD_OK; i++) {
        ck_assert_uint_lt(i, 100);
        st = emu_wave_step(s, bad, 0, &e);
    }
    ck_assert_int_eq(st, RD_E_FAULT);
    ck_assert_int_eq(emu_wave_state(bad), EMU_WAVE_FAULTED);
    ck_assert_ptr_null(emu_wave_next(bad));
    ck_assert_int_eq(emu_wave_step(s, bad, 0, &e), RD_E_FAULT);
    const struct emu_fault *f = emu_stepper_fault(s);
    ck_assert_int_eq(f->kind, EMU_FAULT_UNMAPPED);
    ck_assert_uint_eq(f->wave, 0);
    while (emu_wave_state(good) == EMU_WAVE_READY)
        ck_assert_int_eq(emu_wave_step(s, good, 0, &e), RD_OK);
    ck_assert_int_eq(emu_wave_state(good), EMU_WAVE_ENDED);
    emu_stepper_destroy(s, NULL);

    struct emu_fault fetch = {0};
    m.dispatch.entry += 1u << 20;
    ck_assert_int_eq(emu_stepper_create(m.emu, &m.dispatch, &s, &fetch), RD_E_FAULT);
    ck_assert_int_eq(fetch.kind, EMU_FAULT_FETCH);
    machine_destroy(&m);
}
END_TEST

/* What LDS accesses of active lanes say, in the order of the steps. */
struct lds_log {
    uint64_t sum, accesses, rows;
};

static void log_event(struct lds_log *log, const struct emu_event *e, unsigned lanes)
{
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (a->space != EMU_SPACE_LDS)
            continue;
        log->accesses++;
        log->rows += e->row != NULL;
        log->sum = 31 * log->sum + a->lanes + a->bytes + 2u * a->read + a->write;
        for (unsigned l = 0; l < lanes; l++) {
            uint64_t at = e->row ? (uint32_t)(a->address[0] + e->row[l] - e->row[0])
                                 : a->address[l];
            if (a->lanes >> l & 1u)
                log->sum = 31 * log->sum + at;
        }
    }
}

/* PROGRAM_MIX, one workgroup, wave after wave up to each barrier. */
static struct lds_log log_of(struct machine *m, unsigned want, unsigned lanes)
{
    struct lds_log log = {0};
    struct emu_stepper *s;
    struct emu_group *g;
    machine_reset(m);
    ck_assert_int_eq(emu_stepper_create(m->emu, &m->dispatch, &s, NULL), RD_OK);
    ck_assert_int_eq(emu_stepper_want(s, want), RD_OK);
    ck_assert_int_eq(emu_group_start(s, 0, NULL, &g), RD_OK);
    while (emu_group_live(g))
        for (unsigned k = 0; k < emu_group_waves(g); k++) {
            struct emu_wave *w = emu_group_wave(g, k);
            const struct emu_event *e;
            while (emu_wave_state(w) == EMU_WAVE_READY) {
                ck_assert_int_eq(emu_wave_step(s, w, 0, &e), RD_OK);
                log_event(&log, e, lanes);
            }
        }
    emu_stepper_destroy(s, NULL);
    return log;
}

/* Rows in place of addresses: the same places. */
START_TEST(rows_stand_for_addresses)
{
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct machine m;
        machine_create(&m, PROGRAM_MIX, lanes);
        struct lds_log whole = log_of(&m, EMU_WANT_ACCESS, lanes);
        struct lds_log rows = log_of(&m, EMU_WANT_ACCESS | EMU_WANT_ROWS, lanes);
        struct lds_log seen = log_of(&m, EMU_WANT_ROWS | EMU_WANT_VALUES, lanes);
        machine_destroy(&m);
        ck_assert_uint_gt(whole.accesses, 0);
        ck_assert_uint_eq(whole.rows, 0);
        ck_assert_uint_gt(rows.rows, 0);
        ck_assert_uint_eq(seen.rows, 0); /* values are wanted, too */
        ck_assert_uint_eq(rows.accesses, whole.accesses);
        ck_assert_uint_eq(rows.sum, whole.sum);
        ck_assert_uint_eq(seen.sum, whole.sum);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("step");
    TCase *t = tcase_create("step");
    tcase_add_test(t, any_order_gives_the_same);
    tcase_add_test(t, slots_are_used_again);
    tcase_add_test(t, the_clock_and_the_place_are_the_callers);
    tcase_add_test(t, a_fault_stops_only_its_wave);
    tcase_add_test(t, rows_stand_for_addresses);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
