/* test_trace.c: what is written comes back, and what is not ours is refused.
 * SPDX-License-Identifier: MIT
 */
#include "machine.h"

#include <stdio.h>

#include "trace.h"

static const char *path;

/* Record runs of the dispatch, and the same events beside it. */
static void record(unsigned lanes, bool values, unsigned runs, struct event_log *log)
{
    struct machine m;
    struct trace_writer *w;
    struct trace_error err;
    machine_create(&m, PROGRAM_MIX, lanes);
    ck_assert_int_eq(
        trace_create(path, &(struct trace_options){.values = values}, &w, &err), RD_OK);
    struct emu_observer mine =
        log_observer(log, EMU_WANT_ACCESS | (values ? EMU_WANT_VALUES : 0));
    struct emu_observer writer = trace_observer(w);
    ck_assert_int_eq(emu_add_observer(m.emu, &mine), RD_OK);
    ck_assert_int_eq(emu_add_observer(m.emu, &writer), RD_OK);
    for (unsigned i = 0; i < runs; i++) {
        machine_reset(&m);
        ck_assert_int_eq(emu_run(m.emu, &m.dispatch, NULL, NULL), RD_OK);
    }
    ck_assert_uint_eq(trace_events_written(w), log->n);
    ck_assert_int_eq(trace_close(w, &err), RD_OK);
    machine_destroy(&m);
}

/* Without timing, next_pc of ends is the only thing the reader makes up. */
static void compare(struct trace_reader *r, const struct event_log *log)
{
    const struct emu_event *e;
    uint64_t number;
    for (size_t i = 0; i < log->n; i++) {
        ck_assert_int_eq(trace_next(r, &number, &e), RD_OK);
        ck_assert_uint_eq(number, i);
        ck_assert_uint_eq(e->time, log->time[i]);
        ck_assert_msg(event_hash(e, log->code_base) == log->hash[i],
                      "event %zu (%s) differs", i, isa_op_name(e->inst->isa.op));
    }
    ck_assert_int_eq(trace_next(r, &number, &e), RD_E_NOT_FOUND);
    ck_assert_int_eq(trace_next(r, &number, &e), RD_E_NOT_FOUND);
}

START_TEST(events_come_back)
{
    for (unsigned i = 0; i < 4; i++) {
        struct event_log log = {0};
        struct trace_reader *r;
        struct trace_error err;
        unsigned lanes = i & 1 ? 64 : 32, runs = i == 0 ? 100 : 2;
        record(lanes, i >= 2, runs, &log);
        ck_assert_int_eq(trace_open(path, &r, &err), RD_OK);
        ck_assert_int_eq(trace_has_values(r), i >= 2);
        compare(r, &log);
        ck_assert_int_eq(trace_rewind(r), RD_OK);
        compare(r, &log);
        ck_assert(!trace_has_time(r));
        const struct trace_dispatch *d = trace_dispatch(r, runs - 1);
        ck_assert_ptr_nonnull(d);
        ck_assert(d->ended && d->status == RD_OK);
        ck_assert_uint_eq(d->number, runs - 1);
        ck_assert_uint_eq(d->lanes, lanes);
        ck_assert_uint_eq(d->n_groups, GROUPS);
        ck_assert_uint_eq(d->block[0], BLOCK);
        ck_assert_ptr_null(trace_dispatch(r, runs));
        if (i == 0) /* small even without compression, and more than one chunk */
            ck_assert_uint_lt(trace_file_bytes(r), 4 * log.n);
        trace_reader_close(r);
        log_free(&log);
    }
}
END_TEST

START_TEST(times_and_places_come_back)
{
    struct machine m;
    struct event_log log = {0};
    struct trace_writer *w;
    struct trace_reader *r;
    struct trace_error err;
    struct emu_stepper *s;
    uint64_t clock = 1;
    machine_create(&m, PROGRAM_MIX, 32);
    ck_assert_int_eq(trace_create(path, NULL, &w, &err), RD_OK);
    struct emu_observer mine = log_observer(&log, EMU_WANT_ACCESS);
    struct emu_observer writer = trace_observer(w);
    ck_assert_int_eq(emu_add_observer(m.emu, &mine), RD_OK);
    ck_assert_int_eq(emu_add_observer(m.emu, &writer), RD_OK);
    ck_assert_int_eq(emu_stepper_create(m.emu, &m.dispatch, &s, NULL), RD_OK);
    for (unsigned i = 0; i < GROUPS; i++) {
        const uint32_t place[4] = {i, i + 100, i + 200, UINT32_MAX - i};
        struct emu_group *g;
        ck_assert_int_eq(emu_group_start(s, i, place, &g), RD_OK);
        while (emu_group_live(g))
            for (unsigned k = 0; k < 4; k++) {
                const struct emu_event *e;
                struct emu_wave *wave = emu_group_wave(g, k);
                if (emu_wave_state(wave) == EMU_WAVE_READY)
                    ck_assert_int_eq(emu_wave_step(s, wave, clock += k * k * 1000, &e),
                                     RD_OK);
            }
        emu_group_end(s, g);
    }
    emu_stepper_destroy(s, NULL);
    ck_assert_int_eq(trace_close(w, &err), RD_OK);
    ck_assert_int_eq(trace_open(path, &r, &err), RD_OK);
    compare(r, &log);
    ck_assert(trace_has_time(r));
    trace_reader_close(r);
    log_free(&log);
    machine_destroy(&m);
}
END_TEST

/* ---- damage ------------------------------------------------------------------------
 */

static uint8_t *read_file(size_t *n)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    uint8_t *p = malloc(1u << 20);
    ck_assert_ptr_nonnull(p);
    *n = fread(p, 1, 1u << 20, f);
    ck_assert_uint_lt(*n, 1u << 20);
    fclose(f);
    return p;
}

static void write_file(const char *name, const uint8_t *p, size_t n)
{
    FILE *f = fopen(name, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(p, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

/* Read to the end or the first error. */
static rd_status read_through(const char *name, struct trace_error *err, uint64_t *n)
{
    struct trace_reader *r;
    const struct emu_event *e;
    uint64_t number;
    err->text[0] = '\0';
    rd_status st = trace_open(name, &r, err);
    *n = 0;
    if (st != RD_OK)
        return st;
    while ((st = trace_next(r, &number, &e)) == RD_OK)
        ++*n;
    trace_reader_close(r);
    return st;
}

/* Every byte of the heads, samples of what is packed. */
static size_t step_at(size_t i, size_t n)
{
    return i < 64 || i + 64 > n ? 1 : 61;
}

START_TEST(damage_is_told)
{
    struct event_log log = {0};
    struct trace_error err;
    const char *bad = test_file("bad.trace");
    size_t n;
    uint64_t events;
    record(32, true, 1, &log);
    uint8_t *p = read_file(&n);
    for (size_t i = 0; i < n; i += step_at(i, n)) {
        write_file(bad, p, i);
        rd_status st = read_through(bad, &err, &events);
        ck_assert_msg(st == RD_E_TRUNCATED || (st == RD_E_FORMAT && i < 8),
                      "cut at %zu: %d", i, st);
        ck_assert_int_ne(err.text[0], '\0');
    }
    for (size_t i = 0; i < n; i += step_at(i, n)) {
        for (unsigned bit = 0; bit < 8; bit += 7) {
            p[i] ^= (uint8_t)(1u << bit);
            write_file(bad, p, n);
            rd_status st = read_through(bad, &err, &events);
            ck_assert_msg(st != RD_E_NOT_FOUND || events == log.n,
                          "byte %zu bit %u changed, and nobody saw", i, bit);
            ck_assert(st == RD_E_NOT_FOUND || err.text[0]);
            p[i] ^= (uint8_t)(1u << bit);
        }
    }
    free(p);
    log_free(&log);
}
END_TEST

START_TEST(bad_files_are_refused)
{
    struct trace_reader *r;
    struct trace_writer *w;
    struct trace_error err;
    ck_assert_int_eq(trace_open("/nonexistent/trace", &r, &err), RD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/trace"));
    ck_assert_int_eq(trace_open("/", &r, &err), RD_E_IO);
    ck_assert_int_eq(trace_open("/dev/null", &r, &err), RD_E_FORMAT);
    ck_assert_int_eq(trace_create("/nonexistent/trace", NULL, &w, &err), RD_E_IO);
}
END_TEST

/* A full disk shows when the trace is closed. */
START_TEST(write_errors_are_told)
{
    struct machine m;
    struct trace_writer *w;
    struct trace_error err = {""};
    if (trace_create("/dev/full", NULL, &w, &err) != RD_OK)
        return;
    machine_create(&m, PROGRAM_MIX, 32);
    struct emu_observer writer = trace_observer(w);
    ck_assert_int_eq(emu_add_observer(m.emu, &writer), RD_OK);
    ck_assert_int_eq(emu_run(m.emu, &m.dispatch, NULL, NULL), RD_OK);
    ck_assert_int_eq(trace_close(w, &err), RD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "/dev/full"));
    machine_destroy(&m);
}
END_TEST

int main(void)
{
    path = test_file("test.trace");
    Suite *suite = suite_create("trace");
    TCase *t = tcase_create("trace");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, events_come_back);
    tcase_add_test(t, times_and_places_come_back);
    tcase_add_test(t, damage_is_told);
    tcase_add_test(t, bad_files_are_refused);
    tcase_add_test(t, write_errors_are_told);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
